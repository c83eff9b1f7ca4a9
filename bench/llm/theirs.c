/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other contender of llm.py, requests as in ours.c: llama_decode alone, from a library that is
 * there already. Weights are mapped, as the library does by itself.
 *
 *   llm_theirs MODEL.gguf THREADS CONTEXT CHUNK FLASH       FLASH: 0 or 1
 */
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>

#include "contender.h"

typedef struct theirs {
    struct llama_context *context;
    struct llama_batch batch;
    uint32_t vocabulary, depth;
} theirs;

static void feed(void *context, uint32_t at, const uint32_t *tokens, uint32_t count)
{
    theirs *t = context;
    struct llama_batch *b = &t->batch;
    b->n_tokens = (int32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        b->token[i] = (llama_token)tokens[i];
        b->pos[i] = (llama_pos)(at + i);
        b->n_seq_id[i] = 1;
        b->seq_id[i][0] = 0;
        b->logits[i] = i + 1 == count;
    }
    if (llama_decode(t->context, *b) != 0 || !llama_get_logits_ith(t->context, (int)count - 1))
        exit(1);
}

static uint32_t prepare(void *context, uint32_t depth)
{
    theirs *t = context;
    uint32_t keep = t->depth < depth ? t->depth : depth;
    llama_memory_seq_rm(llama_get_memory(t->context), 0, (llama_pos)keep, -1);
    t->depth = depth;
    return keep;
}

static void quiet(enum ggml_log_level level, const char *text, void *data)
{
    (void)data;
    if (level == GGML_LOG_LEVEL_ERROR)
        fputs(text, stderr);
}

int main(int argc, char **argv)
{
    theirs t = {0};
    if (argc != 6)
        return 2;
    llama_log_set(quiet, NULL);
    llama_backend_init();
    struct llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
    struct llama_context_params params = llama_context_default_params();
    if (!model)
        return 1;
    params.n_ctx = (uint32_t)atoi(argv[3]);
    params.n_batch = params.n_ubatch = (uint32_t)atoi(argv[4]);
    params.n_threads = params.n_threads_batch = atoi(argv[2]);
    params.flash_attn_type =
        atoi(argv[5]) ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.no_perf = true;
    t.context = llama_init_from_model(model, params);
    if (!t.context)
        return 1;
    t.batch = llama_batch_init((int32_t)params.n_batch, 0, 1);
    t.vocabulary = (uint32_t)llama_vocab_n_tokens(llama_model_get_vocab(model));
    contender_serve(&(contender){prepare, feed, &t, t.vocabulary});
    llama_batch_free(t.batch);
    llama_free(t.context);
    llama_model_free(model);
    return 0;
}
