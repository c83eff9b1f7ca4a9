/* SPDX-License-Identifier: Apache-2.0 */
/* How the commands of language models choose tokens: the options, and the sampler that they ask
 * for. */
#ifndef LS_CLI_SAMPLING_H
#define LS_CLI_SAMPLING_H

#include "cli/model.h"

enum { LS__BIASES = 64 };

typedef struct ls__cli_sampling {
    ls_sampler_params params;
    const char *biases[LS__BIASES]; /* TOKEN:VALUE */
    uint32_t bias_count;
} ls__cli_sampling;

/* Options for argp; the input is the ls__cli_sampling, which begins as ls__cli_sampling_default. */
extern const struct argp ls__cli_sampling_argp;
extern const ls__cli_sampling ls__cli_sampling_default;

/* A sampler for the tokens of this model that have a name. */
ls_status ls__cli_sampling_create(const ls__cli_sampling *sampling, const ls__cli_model *model,
                                  ls_sampler **sampler, ls_error *error);

#endif
