/* SPDX-License-Identifier: Apache-2.0 */
/* Files of logits (docs/measuring.md): windows of tokens, and for each token that is counted the
 * logits that it was predicted by. */
#ifndef LS_CLI_LOGITS_FILE_H
#define LS_CLI_LOGITS_FILE_H

#include "base/os.h"
#include "cli/model.h"

/* As it stands in the file, little-endian; the tokens, then the logits follow. */
typedef struct ls__logits_header {
    char magic[8]; /* "LSLOGITS" */
    uint32_t version, vocabulary;
    uint32_t window, window_count; /* tokens of a window; windows */
    uint8_t tokens_digest[32];     /* of the vocabulary's texts */
} ls__logits_header;
_Static_assert(sizeof(ls__logits_header) == 56, "the format");

/* Tokens of a window that are counted: those behind the first half and the one after it. */
uint32_t ls__logits_counted(uint32_t window);

/* What belongs to a model. */
void ls__logits_header_init(ls__logits_header *header, const ls__cli_model *model);

/* A file that was written. The pointers lead into it. */
typedef struct ls__logits_file {
    ls__os_mapping mapping;
    ls__logits_header header;
    const uint32_t *tokens; /* [window_count][window] */
    const float *logits;    /* [window_count][counted][vocabulary] */
} ls__logits_file;

/* LS_E_FORMAT when it is none, or is cut; LS_E_INVALID_ARGUMENT when it is of another vocabulary.
 */
ls_status ls__logits_open(const char *path, const ls__cli_model *model, ls__logits_file *file,
                          ls_error *error);
void ls__logits_close(ls__logits_file *file);

#endif
