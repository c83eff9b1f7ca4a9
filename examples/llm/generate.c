/* SPDX-License-Identifier: Apache-2.0 */
/* A language model from C: a text goes on until the model ends it. The same file and text give the
 * same answer on every device.
 *
 *   cc generate.c $(pkg-config --cflags --libs lockstep) && ./a.out MODEL.gguf "Once upon a time"
 */
#include <lockstep/llm.h>
#include <lockstep/tokenizer.h>

#include <stdio.h>
#include <string.h>

enum { MOST_TOKENS = 64, CONTEXT = 256 };

/* What everything hangs on; begins as zeros. */
typedef struct engine {
    ls_gguf *gguf;
    ls_tokenizer *tokenizer;
    ls_device *device;
    ls_model *model;
    ls_session *session;
    ls_sampler *sampler;
} engine;

static ls_status open_engine(engine *e, const char *path, const char *device, ls_error *error)
{
    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    ls_model_params model_params = LS_MODEL_PARAMS_INIT;
    ls_session_params session_params = LS_SESSION_PARAMS_INIT;
    ls_sampler_params sampler_params = LS_SAMPLER_PARAMS_INIT;
    ls_tokenizer_info info = {.struct_size = sizeof info};
    ls_status status = ls_gguf_open(path, &e->gguf, error);
    if (status == LS_OK)
        status = ls_tokenizer_create(e->gguf, &e->tokenizer, error);
    device_params.name = device; /* NULL: the most preferred one that can be used */
    if (status == LS_OK)
        status = ls_device_open(&device_params, &e->device, error);
    model_params.device = e->device;
    model_params.gguf = e->gguf;
    if (status == LS_OK)
        status = ls_model_load(&model_params, &e->model, error);
    session_params.context = CONTEXT;
    if (status == LS_OK)
        status = ls_session_create(e->model, &session_params, &e->session, error);
    if (status != LS_OK)
        return status;
    ls_tokenizer_describe(e->tokenizer, &info);
    sampler_params.vocabulary = info.token_count;
    sampler_params.temperature = 0.8f;
    sampler_params.top_k = 40;
    sampler_params.seed = 1;
    return ls_sampler_create(&sampler_params, &e->sampler, error);
}

static void close_engine(engine *e) /* what uses others goes first */
{
    ls_sampler_destroy(&e->sampler);
    ls_session_destroy(&e->session);
    ls_model_destroy(&e->model);
    ls_device_destroy(&e->device, NULL);
    ls_tokenizer_destroy(&e->tokenizer);
    ls_gguf_destroy(&e->gguf);
}

static ls_status go_on(engine *e, const char *text, ls_error *error)
{
    uint32_t tokens[CONTEXT];
    uint64_t count = 0;
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    params.text = text;
    params.length = strlen(text);
    ls_status status = ls_tokenizer_encode(e->tokenizer, &params, tokens, CONTEXT, &count, error);
    if (count > CONTEXT) {
        snprintf(error->message, sizeof error->message, "the text has more than %d tokens",
                 CONTEXT);
        return error->code = LS_E_LIMIT;
    }
    if (status == LS_OK)
        status = ls_session_feed(e->session, tokens, (uint32_t)count, error);
    for (int i = 0; status == LS_OK && i < MOST_TOKENS && count < CONTEXT; i++) {
        ls_token token;
        uint32_t id =
            ls_sampler_choose(e->sampler, ls_session_logits(e->session), tokens, (uint32_t)count);
        status = ls_tokenizer_token(e->tokenizer, id, &token, error);
        if (status != LS_OK || token.ends_text)
            break;
        fwrite(token.bytes, 1, token.length, stdout); /* may be a part of a character */
        tokens[count++] = id;
        status = ls_session_feed(e->session, &id, 1, error);
    }
    printf("\n");
    return status;
}

int main(int argc, char **argv)
{
    engine e = {0};
    ls_error error = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: %s MODEL.gguf TEXT [DEVICE]\n", argv[0]);
        return 2;
    }
    ls_status status = open_engine(&e, argv[1], argc > 3 ? argv[3] : NULL, &error);
    if (status == LS_OK)
        status = go_on(&e, argv[2], &error);
    if (status != LS_OK)
        fprintf(stderr, "%s %s %s\n", error.message, error.where, error.hint);
    close_engine(&e);
    return status == LS_OK ? 0 : 1;
}
