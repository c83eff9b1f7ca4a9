/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling by its definition, docs/sampling.md. */
#include "base/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "lockstep/llm.h"

enum { VOCABULARY = 50, DRAWS = 20000 };

static ls_sampler *create(ls_sampler_params params)
{
    ls_sampler *sampler = NULL;
    ls_error error = {0};
    params.struct_size = sizeof params;
    params.vocabulary = VOCABULARY;
    if (ls_sampler_create(&params, &sampler, &error) != LS_OK)
        fail_msg("%s", error.message);
    return sampler;
}

static void make_logits(float *logits)
{
    ls__rng rng = {3};
    for (int i = 0; i < VOCABULARY; i++)
        logits[i] = (float)ls__rng_below(&rng, 64) / 8; /* some are equal */
}

/* How often each token is drawn behind texts of lengths 0, 1, ... */
static void count_draws(ls_sampler_params params, const float *logits, uint32_t *counts)
{
    static uint32_t history[DRAWS];
    ls_sampler *sampler = create(params);
    memset(counts, 0, VOCABULARY * sizeof *counts);
    for (uint32_t n = 0; n < DRAWS; n++)
        counts[ls_sampler_choose(sampler, logits, history, n)]++;
    ls_sampler_destroy(&sampler);
}

/* The known answers of Philox4x32-10 show in the first draws: 24 bits of the first word. With equal
 * logits the token is that part of the vocabulary. */
static void chance_is_philox(void **state)
{
    static const struct {
        uint64_t seed;
        uint32_t position, word;
    } known[] = {{0, 0, 0x6627e8d5u}}; /* Random123, kat_vectors: philox4x32 10, all zero */
    float logits[VOCABULARY] = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ls_sampler *sampler = create((ls_sampler_params){.temperature = 1, .seed = known[i].seed});
        uint32_t expected = (uint32_t)((uint64_t)(known[i].word >> 8) * VOCABULARY >> 24);
        assert_int_equal(ls_sampler_choose(sampler, logits, NULL, known[i].position), expected);
        ls_sampler_destroy(&sampler);
    }
}

static void temperature_0_is_the_best(void **state)
{
    float logits[VOCABULARY] = {[7] = 2, [9] = 2};
    uint32_t history[3] = {7, 7, 3};
    ls_sampler *sampler = create((ls_sampler_params){.top_k = 5, .seed = 9});
    assert_int_equal(ls_sampler_choose(sampler, logits, history, 3), 7);
    ls_sampler_destroy(&sampler);
    sampler = create((ls_sampler_params){.presence_penalty = 0.5f});
    assert_int_equal(ls_sampler_choose(sampler, logits, history, 3), 9);
    assert_int_equal(ls_sampler_choose(sampler, logits, history + 2, 1), 7);
    ls_sampler_destroy(&sampler);
    sampler = create((ls_sampler_params){.repetition_penalty = 1.1f, .window = 1});
    assert_int_equal(ls_sampler_choose(sampler, logits, history, 3), 7); /* only 3 is looked at */
    assert_int_equal(ls_sampler_choose(sampler, logits, history, 2), 9);
    ls_sampler_destroy(&sampler);
    uint32_t beyond[4] = {VOCABULARY, 7, UINT32_MAX, 1 << 30};
    sampler = create((ls_sampler_params){.repetition_penalty = 1.1f});
    assert_int_equal(ls_sampler_choose(sampler, logits, beyond, 4), 9);
    ls_sampler_destroy(&sampler);
}

static void draws_follow_the_probabilities(void **state)
{
    float logits[VOCABULARY];
    uint32_t counts[VOCABULARY];
    double sum = 0;
    make_logits(logits);
    count_draws((ls_sampler_params){.temperature = 2, .seed = 5}, logits, counts);
    for (int i = 0; i < VOCABULARY; i++)
        sum += exp((double)logits[i] / 2);
    for (int i = 0; i < VOCABULARY; i++) {
        double p = exp((double)logits[i] / 2) / sum, expected = p * DRAWS;
        assert_true(fabs(counts[i] - expected) < 5 * sqrt(expected * (1 - p)) + 1);
    }
}

/* Which tokens come at all. */
static void limits_keep_the_best(void **state)
{
    float logits[VOCABULARY], sorted[VOCABULARY];
    uint32_t counts[VOCABULARY], order[VOCABULARY];
    make_logits(logits);
    for (uint32_t i = 0; i < VOCABULARY; i++) { /* insertion: stable, so the lowest id first */
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] < logits[i]; at--) {
            sorted[at] = sorted[at - 1];
            order[at] = order[at - 1];
        }
        sorted[at] = logits[i];
        order[at] = i;
    }
    double all = 0, sum = 0;
    for (int i = 0; i < VOCABULARY; i++)
        all += exp((double)(sorted[i] - sorted[0]));
    uint32_t nucleus = 0, close = 0;
    while (sum < 0.8 * all)
        sum += exp((double)(sorted[nucleus++] - sorted[0]));
    while (exp((double)(sorted[close] - sorted[0])) >= 0.1)
        close++;
    const struct {
        ls_sampler_params params;
        uint32_t kept;
    } cases[] = {{{.temperature = 4, .top_k = 6}, 6},
                 {{.temperature = 4, .top_p = 0.8f}, nucleus},
                 {{.temperature = 4, .min_p = 0.1f}, close},
                 {{.temperature = 4, .min_p = 1, .seed = UINT64_MAX}, 0},
                 {{.temperature = 4, .top_k = 4, .top_p = 0.8f, .min_p = 0.1f}, 4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t kept = cases[c].kept;
        while (kept < VOCABULARY && c == 3 && sorted[kept] == sorted[0])
            kept++; /* min_p 1: all that are as good as the best */
        count_draws(cases[c].params, logits, counts);
        for (uint32_t i = 0; i < VOCABULARY; i++)
            if ((counts[order[i]] > 0) != (i < kept))
                fail_msg("case %zu: token %u, place %u of %u, is drawn %u times", c, order[i], i,
                         kept, counts[order[i]]);
    }
}

/* Tokens of probability 1/2, 1/4, 1/8 and 1/8 have the surprises 1, 2, 3 and 3 times log 2, in the
 * mean 1.75: the second is the most typical, then the first, then the third; of the last two, which
 * are equal, the one with the lower id. */
static void typical_tokens(void **state)
{
    float logits[VOCABULARY];
    const ls_logit_bias never = {1, -INFINITY};
    const struct {
        ls_sampler_params params;
        uint32_t kept; /* a bit for each of the four */
    } cases[] = {
        {{.typical_p = 0.2f}, 2},
        {{.typical_p = 0.3f}, 3},
        {{.typical_p = 0.8f}, 7},
        {{.typical_p = 0.9f}, 15},
        /* Of the two best the parts are 2/3 and 1/3, the surprises 0.41 and 1.10, in the mean 0.64.
         */
        {{.typical_p = 0.5f, .top_k = 2}, 1},
        {{.typical_p = 0.8f, .top_k = 2}, 3},
        /* What is left is limited as ever: to 0.6 of the best one's, to 0.4 of all. */
        {{.typical_p = 0.3f, .min_p = 0.6f}, 1},
        {{.typical_p = 0.8f, .top_p = 0.4f}, 1},
        {{.typical_p = 0.8f, .top_p = 0.6f}, 3},
        {{.typical_p = 0.2f, .min_p = 0.9f}, 2}, /* one stays in any case */
        /* Without the second: 2/3, 1/6, 1/6; 0.41, 1.79, 1.79, in the mean 0.87. */
        {{.typical_p = 0.5f, .biases = &never, .bias_count = 1}, 1},
        {{.typical_p = 0.7f, .biases = &never, .bias_count = 1}, 5},
    };
    for (int i = 0; i < VOCABULARY; i++)
        logits[i] = i < 4 ? -0.69314718f * (float)(i < 3 ? i : 2) : -1000;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t counts[VOCABULARY], kept = 0;
        ls_sampler_params params = cases[c].params;
        params.temperature = 1;
        count_draws(params, logits, counts);
        for (uint32_t i = 0; i < VOCABULARY; i++)
            kept |= (uint32_t)(counts[i] > 0) << (i < 31 ? i : 31);
        if (kept != cases[c].kept)
            fail_msg("case %zu: %x is kept, not %x", c, kept, cases[c].kept);
    }
}

/* Biases come before penalties: a bias lifts the logit above 0, which then is divided. */
static void biases(void **state)
{
    const float logits[VOCABULARY] = {[7] = 2, [9] = 1, [11] = -1};
    const uint32_t history[1] = {11};
    const ls_logit_bias up[2] = {{11, 2.5f}, {11, 2.0f}}; /* to 3.5 */
    ls_sampler *sampler = create((ls_sampler_params){.biases = up, .bias_count = 2});
    assert_int_equal(ls_sampler_choose(sampler, logits, NULL, 0), 11);
    ls_sampler_destroy(&sampler);
    sampler =
        create((ls_sampler_params){.biases = up, .bias_count = 2, .repetition_penalty = 1.7f});
    assert_int_equal(ls_sampler_choose(sampler, logits, history, 1), 11); /* 3.5 / 1.7 > 2 */
    ls_sampler_destroy(&sampler);
    sampler =
        create((ls_sampler_params){.biases = up, .bias_count = 2, .repetition_penalty = 1.8f});
    assert_int_equal(ls_sampler_choose(sampler, logits, history, 1), 7); /* 3.5 / 1.8 < 2 */
    ls_sampler_destroy(&sampler);
    const ls_logit_bias down = {7, -INFINITY};
    sampler = create((ls_sampler_params){.biases = &down, .bias_count = 1});
    assert_int_equal(ls_sampler_choose(sampler, logits, NULL, 0), 9);
    ls_sampler_destroy(&sampler);
}

/* What was chosen by 64 seeds, fixed: the same text on every machine, for good. */
static void draws_are_fixed(void **state)
{
    float logits[VOCABULARY];
    uint32_t history[8] = {1, 2, 3, 1, 1, 2, 40, 41}, hash = 0;
    make_logits(logits);
    for (uint64_t seed = 0; seed < 64; seed++) {
        ls_sampler *sampler = create((ls_sampler_params){.temperature = 1.5f,
                                                         .top_p = 0.9f,
                                                         .min_p = 0.01f,
                                                         .seed = seed * 0x123456789abcdefu,
                                                         .repetition_penalty = 1.2f,
                                                         .frequency_penalty = 0.3f,
                                                         .presence_penalty = 0.1f});
        for (uint32_t n = 0; n <= 8; n++)
            hash = hash * 31 + ls_sampler_choose(sampler, logits, history, n);
        ls_sampler_destroy(&sampler);
    }
    assert_int_equal(hash, 0x6b973575);
}

/* log(1 + e^-1 + e^-2) + 3, and one token alone. */
static void log_sums(void **state)
{
    const float logits[3] = {2, 3, 1};
    assert_true(fabs(ls_logits_log_sum(logits, 3) - 3.4076059644) < 2e-7);
    assert_true(ls_logits_log_sum(logits, 1) == 2);
    /* 1/2, 1/4, 1/4 against 1/4, 1/4, 1/2: (1/2) log 2 - (1/4) log 2. */
    const float half[3] = {0.6931472f, 0, 0}, other[3] = {5, 5, 5.6931472f};
    assert_true(fabs(ls_logits_divergence(half, other, 3) - 0.25 * 0.69314718) < 1e-6);
    assert_true(ls_logits_divergence(half, half, 3) == 0);
}

static void parameters_are_checked(void **state)
{
    ls_sampler *sampler = NULL;
    ls_error error = {0};
    ls_sampler_params params = LS_SAMPLER_PARAMS_INIT;
    assert_int_equal(ls_sampler_create(&params, &sampler, &error), LS_E_INVALID_ARGUMENT);
    params.vocabulary = VOCABULARY;
    params.top_p = 1.5f;
    assert_int_equal(ls_sampler_create(&params, &sampler, &error), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "top_p is 1.5, not from 0 to 1"));
    params.top_p = 0;
    params.temperature = 0;
    const ls_logit_bias wrong[3] = {{VOCABULARY, 1}, {0, NAN}, {0, INFINITY}};
    params.bias_count = 1;
    for (int i = 0; i < 3; i++) {
        params.biases = &wrong[i];
        assert_int_equal(ls_sampler_create(&params, &sampler, &error), LS_E_INVALID_ARGUMENT);
        assert_non_null(strstr(error.message, "a bias of"));
    }
    params.bias_count = 0;
    params.temperature = NAN;
    assert_int_equal(ls_sampler_create(&params, &sampler, &error), LS_E_INVALID_ARGUMENT);
    params.temperature = 0;
    params.bias_count = 2;
    params.biases = NULL;
    assert_int_equal(ls_sampler_create(&params, &sampler, &error), LS_E_INVALID_ARGUMENT);
    params.bias_count = 0;
    /* Of a program that knows less, no more is read; one that says nothing is refused. */
    params.typical_p = 99;
    params.struct_size = offsetof(ls_sampler_params, typical_p);
    assert_int_equal(ls_sampler_create(&params, &sampler, &error), LS_OK);
    ls_sampler_destroy(&sampler);
    params.struct_size = 0;
    assert_int_equal(ls_sampler_create(&params, &sampler, &error), LS_E_VERSION);
    params.struct_size = sizeof params;
    params.typical_p = 0;
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        ls__mem_fail_after(n);
        status = ls_sampler_create(&params, &sampler, &error);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK || (status == LS_E_OUT_OF_MEMORY && !sampler));
    }
    ls_sampler_destroy(&sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance_is_philox),
        cmocka_unit_test(temperature_0_is_the_best),
        cmocka_unit_test(draws_follow_the_probabilities),
        cmocka_unit_test(limits_keep_the_best),
        cmocka_unit_test(typical_tokens),
        cmocka_unit_test(biases),
        cmocka_unit_test(draws_are_fixed),
        cmocka_unit_test(log_sums),
        cmocka_unit_test(parameters_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
