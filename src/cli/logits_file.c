/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files of logits; lockstep perplexity writes them. */
#include "cli/logits_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"

static const char magic[8] = {'L', 'S', 'L', 'O', 'G', 'I', 'T', 'S'};

uint32_t ls__logits_counted(uint32_t window)
{
    return window - window / 2 - 1;
}

void ls__logits_header_init(ls__logits_header *h, const ls__cli_model *m)
{
    ls__digester digester;
    ls__digester_init(&digester);
    for (uint32_t id = 0; id < m->vocabulary.token_count; id++) {
        ls_token token = {.bytes = ""};
        ls_tokenizer_token(m->tokenizer, id, &token, NULL);
        ls__digester_add(&digester, &token.length, sizeof token.length);
        ls__digester_add(&digester, token.bytes, token.length);
    }
    ls__digest digest = ls__digester_finish(&digester);
    *h = (ls__logits_header){.version = 1, .vocabulary = m->vocabulary.token_count};
    memcpy(h->magic, magic, sizeof magic);
    memcpy(h->tokens_digest, digest.bytes, sizeof h->tokens_digest);
}

/* Checks what the sizes are computed from, then the sizes. */
static ls_status check(const ls__logits_file *f, const ls__cli_model *m, ls_error *error)
{
    const ls__logits_header *h = &f->header;
    ls__logits_header own;
    ls__logits_header_init(&own, m);
    if (memcmp(h->magic, magic, sizeof magic) != 0 || h->version != 1)
        return ls__fail(error, LS_E_FORMAT, "no file of logits of version 1");
    if (h->vocabulary != own.vocabulary)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "the logits are of a model with %" PRIu32 " tokens, this one has %" PRIu32,
                        h->vocabulary, own.vocabulary);
    if (memcmp(h->tokens_digest, own.tokens_digest, sizeof own.tokens_digest) != 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "the logits are of a model with another vocabulary");
    if (h->window < 4 || h->window > (1u << 24) || !h->window_count)
        return ls__fail(error, LS_E_FORMAT, "this file of logits has no windows");
    uint64_t of_window = 4 * (h->window + (uint64_t)ls__logits_counted(h->window) * h->vocabulary);
    uint64_t rest = f->mapping.size - sizeof *h;
    if (rest % of_window || rest / of_window != h->window_count)
        return ls__fail(error, LS_E_FORMAT,
                        "this file of logits is cut, or longer than its %" PRIu32 " windows",
                        h->window_count);
    for (uint64_t i = 0; i < (uint64_t)h->window * h->window_count; i++)
        if (f->tokens[i] >= h->vocabulary)
            return ls__fail(error, LS_E_FORMAT,
                            "token %" PRIu64 " of this file of logits is beyond the vocabulary", i);
    return LS_OK;
}

ls_status ls__logits_open(const char *path, const ls__cli_model *m, ls__logits_file *f,
                          ls_error *error)
{
    *f = (ls__logits_file){0};
    ls_status status = ls__os_map(path, &f->mapping, error);
    if (status != LS_OK)
        return status;
    if (f->mapping.size < sizeof f->header) {
        status = ls__fail(error, LS_E_FORMAT, "no file of logits");
    } else {
        memcpy(&f->header, f->mapping.bytes, sizeof f->header);
        f->tokens = (const uint32_t *)(const void *)(f->mapping.bytes + sizeof f->header);
        f->logits = (const float *)(const void *)f->tokens +
                    (uint64_t)f->header.window * f->header.window_count;
        status = check(f, m, error);
    }
    if (status != LS_OK) {
        ls__fail_where(error, status, "%s", path);
        ls__logits_close(f);
    }
    return status;
}

void ls__logits_close(ls__logits_file *f)
{
    ls__os_unmap(&f->mapping);
}
