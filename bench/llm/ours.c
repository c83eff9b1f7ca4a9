/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lockstep for llm.py, texts.py and compare_logits.py; requests are those of server.h.
 *
 *   llm_ours MODEL.gguf THREADS CONTEXT CHUNK CACHE [f32] [unfused] [rewind]
 *
 * f32: keys and values in f32; unfused: each operation is a command of its own; rewind: layers with
 * a window keep what going back takes.
 */
#include "lockstep/llm.h"
#include "lockstep/tokenizer.h"
#include "server.h"

typedef struct ours {
    ls_tokenizer *tokenizer;
    ls_session *session;
} ours;

static void check(ls_status status, const ls_error *error)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "%s %s\n", error->message, error->where);
    exit(1);
}

static uint32_t keep(void *context, uint32_t count)
{
    ours *o = context;
    ls_error error = {0};
    uint32_t there = ls_session_position(o->session), kept = there < count ? there : count;
    check(ls_session_truncate(o->session, kept, &error), &error);
    return kept;
}

static const float *feed(void *context, const uint32_t *tokens, uint32_t count)
{
    ours *o = context;
    ls_error error = {0};
    check(ls_session_feed(o->session, tokens, count, &error), &error);
    return ls_session_logits(o->session);
}

static uint32_t *tokens_of(void *context, const char *text, uint32_t *count)
{
    ours *o = context;
    ls_error error = {0};
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    uint64_t capacity = strlen(text) + 8, number = 0;
    uint32_t *ids = malloc(capacity * sizeof *ids);
    params.text = text;
    params.length = strlen(text);
    check(ls_tokenizer_encode(o->tokenizer, &params, ids, capacity, &number, &error), &error);
    *count = (uint32_t)number;
    return ids;
}

int main(int argc, char **argv)
{
    ours o = {0};
    ls_error error = {0};
    ls_device *device = NULL;
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    if (argc < 6)
        return 2;
    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    ls_model_params model_params = LS_MODEL_PARAMS_INIT;
    ls_session_params session_params = LS_SESSION_PARAMS_INIT;
    device_params.name = "cpu";
    device_params.threads = (uint32_t)atoi(argv[2]);
    device_params.cache_path = argv[5];
    check(ls_device_open(&device_params, &device, &error), &error);
    check(ls_gguf_open(argv[1], &gguf, &error), &error);
    check(ls_tokenizer_create(gguf, &o.tokenizer, &error), &error);
    model_params.device = device;
    model_params.gguf = gguf;
    check(ls_model_load(&model_params, &model, &error), &error);
    ls_gguf_destroy(&gguf);
    session_params.context = (uint32_t)atoi(argv[3]);
    session_params.chunk = (uint32_t)atoi(argv[4]);
    for (int i = 6; i < argc; i++) {
        if (strcmp(argv[i], "f32") == 0)
            session_params.cache_type = LS_CACHE_F32;
        session_params.unfused |= strcmp(argv[i], "unfused") == 0;
        if (strcmp(argv[i], "rewind") == 0)
            session_params.rewind = session_params.context;
    }
    check(ls_session_create(model, &session_params, &o.session, &error), &error);
    ls_model_info info = {.struct_size = sizeof info};
    ls_model_describe(model, &info);
    server_run(&(server){keep, feed, tokens_of, &o, info.vocabulary});
    ls_session_destroy(&o.session);
    ls_model_destroy(&model);
    ls_tokenizer_destroy(&o.tokenizer);
    ls_device_destroy(&device, NULL);
    return 0;
}
