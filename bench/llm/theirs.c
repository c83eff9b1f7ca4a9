/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama.cpp for llm.py, texts.py and compare_logits.py, by llama_decode of a library that is there
 * already; requests are those of server.h. Weights are mapped, as the library does by itself.
 *
 *   llm_theirs MODEL.gguf THREADS CONTEXT CHUNK FLASH [TYPE]     FLASH: 0 or 1. TYPE of keys and
 *       values, f16 or f32: layers with a window keep all positions then, so that any can be kept
 */
#include <llama.h>

#include "server.h"

typedef struct theirs {
    struct llama_context *context;
    const struct llama_vocab *vocabulary;
    struct llama_batch batch;
    uint32_t position;
} theirs;

static uint32_t keep(void *context, uint32_t count)
{
    theirs *t = context;
    llama_memory_t memory = llama_get_memory(t->context);
    if (count < t->position) {
        bool kept = llama_memory_seq_rm(memory, 0, (llama_pos)count, -1);
        if (!kept)
            llama_memory_clear(memory, false);
        t->position = kept ? count : 0;
    }
    return t->position;
}

static const float *feed(void *context, const uint32_t *tokens, uint32_t count)
{
    theirs *t = context;
    struct llama_batch *b = &t->batch;
    b->n_tokens = (int32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        b->token[i] = (llama_token)tokens[i];
        b->pos[i] = (llama_pos)(t->position + i);
        b->n_seq_id[i] = 1;
        b->seq_id[i][0] = 0;
        b->logits[i] = i + 1 == count;
    }
    t->position += count;
    const float *logits = llama_decode(t->context, *b) == 0
                              ? llama_get_logits_ith(t->context, (int)count - 1)
                              : NULL;
    if (!logits)
        exit(1);
    return logits;
}

static uint32_t *tokens_of(void *context, const char *text, uint32_t *count)
{
    theirs *t = context;
    int32_t length = (int32_t)strlen(text);
    uint32_t *ids = malloc((size_t)(length + 8) * sizeof *ids);
    int32_t number = ids ? llama_tokenize(t->vocabulary, text, length, (llama_token *)ids,
                                          length + 8, true, false)
                         : -1;
    if (number < 0)
        exit(1);
    *count = (uint32_t)number;
    return ids;
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
    if (argc < 6)
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
    params.swa_full = argc > 6;
    if (argc > 6 && strcmp(argv[6], "f32") == 0)
        params.type_k = params.type_v = GGML_TYPE_F32;
    t.context = llama_init_from_model(model, params);
    if (!t.context)
        return 1;
    t.batch = llama_batch_init((int32_t)params.n_batch, 0, 1);
    t.vocabulary = llama_model_get_vocab(model);
    server_run(&(server){keep, feed, tokens_of, &t, (uint32_t)llama_vocab_n_tokens(t.vocabulary)});
    llama_batch_free(t.batch);
    llama_free(t.context);
    llama_model_free(model);
    return 0;
}
