/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One contender of llm.py: reads requests from standard input, a line each, and answers each with a
 * line of numbers. Both contenders stay loaded, so that their turns can be interleaved.
 *
 *   prompt DEPTH N      computes N tokens together behind DEPTH others; seconds, processor seconds
 *   generate DEPTH N    N tokens one by one behind DEPTH others; the same
 *   memory              PSS, in bytes
 *
 *   llm_ours MODEL.gguf THREADS CONTEXT CHUNK CACHE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender.h"
#include "lockstep/llm.h"

typedef struct ours {
    ls_session *session;
    uint32_t vocabulary, depth;
} ours;

static void check(ls_status status, const ls_error *error)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "%s %s\n", error->message, error->where);
    exit(1);
}

static void feed(void *context, uint32_t at, const uint32_t *tokens, uint32_t count)
{
    ls_error error = {0};
    (void)at;
    check(ls_session_feed(((ours *)context)->session, tokens, count, &error), &error);
}

static uint32_t prepare(void *context, uint32_t depth)
{
    ours *o = context;
    ls_error error = {0};
    uint32_t keep = o->depth < depth ? o->depth : depth;
    check(ls_session_truncate(o->session, keep, &error), &error);
    o->depth = depth;
    return keep;
}

int main(int argc, char **argv)
{
    ours o = {0};
    ls_error error = {0};
    ls_device *device = NULL;
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    if (argc != 6)
        return 2;
    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    ls_model_params model_params = LS_MODEL_PARAMS_INIT;
    ls_session_params session_params = LS_SESSION_PARAMS_INIT;
    device_params.name = "cpu";
    device_params.threads = (uint32_t)atoi(argv[2]);
    device_params.cache_path = argv[5];
    check(ls_device_open(&device_params, &device, &error), &error);
    check(ls_gguf_open(argv[1], &gguf, &error), &error);
    model_params.device = device;
    model_params.gguf = gguf;
    check(ls_model_load(&model_params, &model, &error), &error);
    ls_gguf_destroy(&gguf);
    session_params.context = (uint32_t)atoi(argv[3]);
    session_params.chunk = (uint32_t)atoi(argv[4]);
    check(ls_session_create(model, &session_params, &o.session, &error), &error);
    ls_model_info info = {.struct_size = sizeof info};
    ls_model_describe(model, &info);
    o.vocabulary = info.vocabulary;
    contender_serve(&(contender){prepare, feed, &o, o.vocabulary});
    ls_session_destroy(&o.session);
    ls_model_destroy(&model);
    ls_device_destroy(&device, NULL);
    return 0;
}
