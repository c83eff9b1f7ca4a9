/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logits and tokens of llama.cpp for texts.py, by llama_decode of a library that is there already.
 *
 *   logits_theirs MODEL.gguf THREADS TYPE        of keys and values: f32, without flash attention,
 *                                                or f16, as the library chooses by itself
 */
#include <llama.h>

#include "logits.h"

typedef struct theirs {
    struct llama_context *context;
    const struct llama_vocab *vocabulary;
    struct llama_batch batch;
} theirs;

static const float *feed(void *context, uint32_t keep, const uint32_t *tokens, uint32_t count)
{
    theirs *t = context;
    struct llama_batch *b = &t->batch;
    if (!llama_memory_seq_rm(llama_get_memory(t->context), 0, (llama_pos)keep, -1))
        return NULL;
    b->n_tokens = (int32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        b->token[i] = (llama_token)tokens[i];
        b->pos[i] = (llama_pos)(keep + i);
        b->n_seq_id[i] = 1;
        b->seq_id[i][0] = 0;
        b->logits[i] = i + 1 == count;
    }
    if (llama_decode(t->context, *b) != 0)
        return NULL;
    return llama_get_logits_ith(t->context, (int)count - 1);
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
    if (argc != 4)
        return 2;
    llama_log_set(quiet, NULL);
    llama_backend_init();
    struct llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
    struct llama_context_params params = llama_context_default_params();
    if (!model)
        return 1;
    params.n_ctx = params.n_batch = params.n_ubatch = 1024;
    params.n_threads = params.n_threads_batch = atoi(argv[2]);
    params.swa_full = true; /* or a window forgets what a request keeps */
    if (strcmp(argv[3], "f32") == 0) {
        params.type_k = params.type_v = GGML_TYPE_F32;
        params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    }
    t.context = llama_init_from_model(model, params);
    if (!t.context)
        return 1;
    t.batch = llama_batch_init((int32_t)params.n_batch, 0, 1);
    t.vocabulary = llama_model_get_vocab(model);
    server_run(&(server){feed, tokens_of, &t, (uint32_t)llama_vocab_n_tokens(t.vocabulary)});
    llama_batch_free(t.batch);
    llama_free(t.context);
    llama_model_free(model);
    return 0;
}
