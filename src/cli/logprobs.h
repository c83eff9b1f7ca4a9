/* SPDX-License-Identifier: Apache-2.0 */
/* Log probabilities of tokens as JSON lines. */
#ifndef LS_CLI_LOGPROBS_H
#define LS_CLI_LOGPROBS_H

#include "base/str.h"
#include "cli/model.h"

enum { LS__LOGPROBS_MOST = 100 };

/* Appends a line: the token `id`, and the `best` tokens of the largest logits, best first. */
ls_status ls__cli_logprobs_add(ls__strbuf *lines, const ls__cli_model *model, const float *logits,
                               uint32_t id, uint32_t best, ls_error *error);

#endif
