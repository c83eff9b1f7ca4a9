/* SPDX-License-Identifier: Apache-2.0 */
/* Options of sampling (docs/sampling.md). */
#include "cli/sampling.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/cli.h"

enum {
    KEY_TEMPERATURE = 0x2000,
    KEY_TOP_K,
    KEY_TOP_P,
    KEY_MIN_P,
    KEY_TYPICAL,
    KEY_BIAS,
    KEY_SEED,
    KEY_REPEAT_PENALTY,
    KEY_FREQUENCY_PENALTY,
    KEY_PRESENCE_PENALTY,
    KEY_PENALTY_WINDOW
};

const ls__cli_sampling ls__cli_sampling_default = {
    .params = {.struct_size = sizeof(ls_sampler_params), .top_k = 40, .top_p = 0.95f}};

static const struct argp_option options[] = {
    {"temperature", KEY_TEMPERATURE, "T", 0,
     "0: always the best token (default of generate; of chat: 0.8)", 20},
    {"top-k", KEY_TOP_K, "N", 0, "Only from the N best; 0: from all (default: 40)", 20},
    {"top-p", KEY_TOP_P, "P", 0, "Only from the best of probability P together (default: 0.95)",
     20},
    {"min-p", KEY_MIN_P, "P", 0, "Only from those of P times the best's probability", 20},
    {"typical", KEY_TYPICAL, "P", 0, "Only from the most typical of probability P together", 20},
    {"logit-bias", KEY_BIAS, "TOKEN:X", 0,
     "Add X to the logit of a token, an id or its text; -inf: never; may be repeated", 20},
    {"seed", KEY_SEED, "N", 0, "The same seed gives the same text (default: 0)", 20},
    {"repeat-penalty", KEY_REPEAT_PENALTY, "X", 0, "Divide logits of late tokens (default: 1)", 20},
    {"frequency-penalty", KEY_FREQUENCY_PENALTY, "X", 0, "Subtract for each time a token came", 20},
    {"presence-penalty", KEY_PRESENCE_PENALTY, "X", 0, "Subtract when a token came", 20},
    {"penalty-window", KEY_PENALTY_WINDOW, "N", 0, "Tokens that count as late (default: 64)", 20},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    ls__cli_sampling *s = state->input;
    ls_sampler_params *p = &s->params;
    int64_t seed;
    ls_error error;
    switch (key) {
    case KEY_TEMPERATURE:
        p->temperature = ls__cli_float_option(state, "--temperature", text, 0, 100);
        return 0;
    case KEY_TOP_K:
        p->top_k = ls__cli_count_option(state, "--top-k", text, UINT32_MAX);
        return 0;
    case KEY_TOP_P:
        p->top_p = ls__cli_float_option(state, "--top-p", text, 0, 1);
        return 0;
    case KEY_MIN_P:
        p->min_p = ls__cli_float_option(state, "--min-p", text, 0, 1);
        return 0;
    case KEY_TYPICAL:
        p->typical_p = ls__cli_float_option(state, "--typical", text, 0, 1);
        return 0;
    case KEY_BIAS:
        if (s->bias_count == LS__BIASES || !strrchr(text, ':') || strrchr(text, ':') == text)
            ls__cli_usage_error(state, "--logit-bias: TOKEN:VALUE, %d times at most", LS__BIASES);
        ls__cli_float_option(state, "--logit-bias", strrchr(text, ':') + 1, -HUGE_VALF, FLT_MAX);
        s->biases[s->bias_count++] = text;
        return 0;
    case KEY_SEED:
        if (ls__cli_parse_integer(text, 0, UINT64_MAX, &seed, &error) != LS_OK)
            ls__cli_usage_error(state, "--seed: %s", error.message);
        p->seed = (uint64_t)seed;
        return 0;
    case KEY_REPEAT_PENALTY:
        p->repetition_penalty = ls__cli_float_option(state, "--repeat-penalty", text, 0, 100);
        return 0;
    case KEY_FREQUENCY_PENALTY:
        p->frequency_penalty = ls__cli_float_option(state, "--frequency-penalty", text, -100, 100);
        return 0;
    case KEY_PRESENCE_PENALTY:
        p->presence_penalty = ls__cli_float_option(state, "--presence-penalty", text, -100, 100);
        return 0;
    case KEY_PENALTY_WINDOW:
        p->window = ls__cli_count_option(state, "--penalty-window", text, UINT32_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp ls__cli_sampling_argp = {.options = options, .parser = parse_option};

/* An id, or the text of one token. */
static ls_status find_token(const ls__cli_model *model, const char *text, size_t length,
                            uint32_t *id, ls_error *error)
{
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    uint64_t count = 0, number = 0;
    uint32_t ids[1];
    if (strspn(text, "0123456789") == length) {
        for (size_t i = 0; i < length && number <= UINT32_MAX; i++)
            number = number * 10 + (uint64_t)(text[i] - '0');
        *id = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
        return LS_OK; /* the sampler says when there is none */
    }
    params.text = text;
    params.length = length;
    params.special = params.bare = true;
    ls_status status = ls_tokenizer_encode(model->tokenizer, &params, ids, 1, &count, error);
    if (status == LS_OK && count != 1)
        status =
            ls__fail(error, LS_E_INVALID_ARGUMENT,
                     "--logit-bias: '%.*s' is %" PRIu64 " tokens; lockstep tokenize shows them",
                     (int)length, text, count);
    *id = ids[0];
    return status;
}

ls_status ls__cli_sampling_create(const ls__cli_sampling *sampling, const ls__cli_model *model,
                                  ls_sampler **sampler, ls_error *error)
{
    ls_sampler_params all = sampling->params;
    ls_logit_bias biases[LS__BIASES];
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < sampling->bias_count; i++) {
        const char *text = sampling->biases[i], *colon = strrchr(text, ':');
        biases[i].value = strtof(colon + 1, NULL);
        status = find_token(model, text, (size_t)(colon - text), &biases[i].id, error);
    }
    all.vocabulary = model->vocabulary.token_count;
    all.biases = biases;
    all.bias_count = sampling->bias_count;
    return status == LS_OK ? ls_sampler_create(&all, sampler, error) : status;
}
