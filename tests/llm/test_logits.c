/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ls_session_feed_all: the logits of many tokens at a time are those of one token after another, on
 * every device, however they are cut into calls and chunks, and where the vocabulary is so large
 * that a chunk is computed in parts.
 *
 *   test_llm_logits MIXED.gguf WIDE.gguf [--without-vulkan]
 */
#include "machine.h"

enum { TOKENS = 130, VOCABULARY = 266, WIDE = 70000, WIDE_TOKENS = 64, FEW = 9 };
static const char *mixed_path, *wide_path;
static uint32_t tokens[TOKENS];
static float expected[TOKENS][VOCABULARY], got[TOKENS][VOCABULARY];

static machine start_chunk(const char *name, uint32_t chunk, const char *path)
{
    ls_session_params params = LS_SESSION_PARAMS_INIT;
    params.chunk = chunk;
    return start_file(name, 2, path, NULL, &params);
}

static int compute_one_by_one(void **state)
{
    machine m = start_chunk("cpu", 1, mixed_path);
    for (uint32_t i = 0; i < TOKENS; i++)
        tokens[i] = i * i * 7 % VOCABULARY;
    for (uint32_t i = 0; m.session && i < TOKENS; i++) {
        OK(ls_session_feed(m.session, tokens + i, 1, error));
        memcpy(expected[i], ls_session_logits(m.session), sizeof expected[i]);
    }
    stop(&m);
    return 0;
}

/* The logits of tokens from `first` on are right, and so is what the session shows. */
static void assert_logits(const machine *m, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (memcmp(got[i - first], expected[i], sizeof expected[i]) != 0)
            fail_msg("token %u of %u to %u", i, first, end);
    assert_memory_equal(ls_session_logits(m->session), expected[end - 1], sizeof *expected);
    assert_int_equal(ls_session_position(m->session), end);
}

static void they_are_those_of_single_tokens(void **state)
{
    static const struct {
        const char *device;
        uint32_t chunk;
    } settings[] = {{"cpu", 64}, {"cpu", 7}, {"cpu", 1}, {"vulkan", 32}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        machine m = start_chunk(settings[i].device, settings[i].chunk, mixed_path);
        if (!m.session)
            continue;
        OK(ls_session_feed(m.session, tokens, 10, error));
        OK(ls_session_feed_all(m.session, tokens + 10, 90, 21, got[0], error));
        assert_logits(&m, 31, 100);
        OK(ls_session_feed(m.session, tokens + 100, 1, error));
        assert_memory_equal(ls_session_logits(m.session), expected[100], sizeof *expected);
        OK(ls_session_feed_all(m.session, tokens + 101, 1, 0, got[0], error));
        assert_logits(&m, 101, 102);
        OK(ls_session_feed_all(m.session, tokens + 102, 28, 27, got[0], error));
        assert_logits(&m, 129, 130);
        OK(ls_session_truncate(m.session, 64, error));
        OK(ls_session_feed_all(m.session, tokens + 64, 66, 0, got[0], error));
        assert_logits(&m, 64, 130);
        stop(&m);
    }
}

/* It is slow, so it gets the first tokens only. */
static void and_on_the_reference(void **state)
{
    machine cpu = start_chunk("cpu", 1, mixed_path), m = start_chunk("reference", 4, mixed_path);
    assert_non_null(m.session);
    OK(ls_session_feed_all(m.session, tokens, 2, 0, got[0], error));
    if (cpu.session)
        assert_logits(&m, 0, 2);
    stop(&cpu);
    stop(&m);
}

/* 64 rows of logits are more than what is computed together. */
static void large_vocabularies_take_turns(void **state)
{
    machine m = start_chunk("cpu", 64, wide_path);
    if (!m.session)
        return;
    float *all = malloc(sizeof(float) * WIDE_TOKENS * WIDE);
    assert_non_null(all);
    OK(ls_session_feed_all(m.session, tokens, WIDE_TOKENS, 0, all, error));
    OK(ls_session_truncate(m.session, 0, error));
    for (size_t i = 0; i < WIDE_TOKENS; i++) {
        OK(ls_session_feed(m.session, tokens + i, 1, error));
        if (memcmp(all + i * WIDE, ls_session_logits(m.session), WIDE * sizeof *all) != 0)
            fail_msg("token %zu", i);
    }
    free(all);
    stop(&m);
}

typedef struct seen {
    uint32_t count, position;
    float logits[VOCABULARY];
} seen;

static void see(void *context, const ls_operation_result *result)
{
    seen *s = context;
    if (strcmp(result->operation, "output") != 0)
        return;
    s->count++;
    s->position = result->position;
    assert_int_equal(result->count, VOCABULARY);
    memcpy(s->logits, result->values, sizeof s->logits);
}

static void traces_show_each_of_them(void **state)
{
    seen s = {0};
    ls_session_params params = LS_SESSION_PARAMS_INIT;
    params.trace = see;
    params.trace_context = &s;
    machine m = start_file("cpu", 2, mixed_path, NULL, &params);
    if (!m.session)
        return;
    OK(ls_session_feed_all(m.session, tokens, FEW, 3, got[0], error));
    assert_int_equal(s.count, FEW - 3);
    assert_int_equal(s.position, FEW - 1);
    assert_memory_equal(s.logits, expected[FEW - 1], sizeof s.logits);
    stop(&m);
}

static void it_says_what_it_cannot(void **state)
{
    ls_error error = {0};
    uint32_t wrong = VOCABULARY;
    machine m = start_chunk("cpu", 0, mixed_path);
    if (!m.session)
        return;
    assert_int_equal(ls_session_feed_all(m.session, tokens, 5, 5, got[0], &error),
                     LS_E_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the logits from token 5 of 5 on");
    assert_int_equal(ls_session_feed_all(m.session, tokens, 5, 0, NULL, &error),
                     LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_session_feed_all(m.session, &wrong, 1, 0, got[0], &error),
                     LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_session_position(m.session), 0);
    OK(ls_session_feed_all(m.session, tokens, 5, 4, got[0], error));
    assert_logits(&m, 4, 5);
    stop(&m);
}

/* A session on a device whose n-th allocation fails; without a session when that was on the way. */
static machine start_with_fault(uint64_t n, const ls_gguf *gguf)
{
    machine m = {0};
    ls_error error = {0};
    ls_fault_plan plan = LS_FAULT_PLAN_INIT;
    ls_device_params device = LS_DEVICE_PARAMS_INIT;
    ls_model_params model = LS_MODEL_PARAMS_INIT;
    ls_session_params params = LS_SESSION_PARAMS_INIT;
    plan.fail_allocation = n;
    device.name = "fault";
    device.fault = &plan;
    OK(ls_device_open(&device, &m.device, error));
    model.device = m.device;
    model.gguf = gguf;
    params.context = 64;
    if (ls_model_load(&model, &m.model, &error) == LS_OK)
        (void)ls_session_create(m.model, &params, &m.session, &error);
    return m;
}

/* Without memory for it nothing happens, and it can be tried again. */
static void memory_may_come_later(void **state)
{
    enum { MOST = 256 };
    ls_gguf *gguf = NULL;
    ls_error error = {0};
    uint64_t needed = 0; /* allocations of a session */
    OK(ls_gguf_open(mixed_path, &gguf, error));
    for (uint64_t step = MOST / 2; step; step /= 2) {
        machine m = start_with_fault(needed + step, gguf);
        needed += m.session ? 0 : step;
        stop(&m);
    }
    assert_in_range(needed, 10, MOST - 2);
    for (uint64_t more = 1; more <= 3; more++) {
        machine m = start_with_fault(needed + more, gguf);
        assert_non_null(m.session);
        assert_int_equal(ls_session_feed_all(m.session, tokens, 1, 0, got[0], &error),
                         LS_E_OUT_OF_MEMORY);
        assert_int_equal(ls_session_position(m.session), 0);
        OK(ls_session_feed_all(m.session, tokens, 1, 0, got[0], error));
        assert_int_equal(ls_session_position(m.session), 1);
        stop(&m);
    }
    ls_gguf_destroy(&gguf);
}

/* One token's embedding is not finite: no token of the call is appended. */
static void not_finite_fails(void **state)
{
    enum { BAD = 200 };
    static const uint32_t bad[] = {1, 2, BAD, 3};
    ls_error error = {0};
    ls_gguf *gguf = NULL;
    size_t size;
    uint8_t *bytes = read_bytes(mixed_path, &size);
    OK(ls_gguf_open_memory(bytes, size, "changed", &gguf, error));
    const ls_gguf_tensor *rows = ls_gguf_find_tensor(gguf, "token_embd.weight");
    assert_int_equal(rows->type, LS_GGUF_TYPE_Q4_1); /* a block begins with its scale */
    memcpy(bytes + rows->file_byte + BAD * rows->dimensions[0] / 32 * 20, &(uint16_t){0x7c00}, 2);
    machine m = start("cpu", 2, gguf, NULL, &(ls_session_params)LS_SESSION_PARAMS_INIT);
    ls_gguf_destroy(&gguf);
    if (!m.session)
        return;
    OK(ls_session_feed_all(m.session, tokens, 2, 0, got[0], error));
    assert_int_equal(ls_session_feed_all(m.session, bad, 4, 0, got[0], &error), LS_E_FAILED);
    assert_string_equal(error.where, "attention input, layer 0, position 4");
    assert_int_equal(ls_session_position(m.session), 2);
    assert_null(ls_session_logits(m.session));
    assert_int_equal(ls_session_feed_all(m.session, tokens, 1, 0, got[0], &error), LS_E_STATE);
    stop(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_those_of_single_tokens),
        cmocka_unit_test(and_on_the_reference),
        cmocka_unit_test(large_vocabularies_take_turns),
        cmocka_unit_test(traces_show_each_of_them),
        cmocka_unit_test(it_says_what_it_cannot),
        cmocka_unit_test(memory_may_come_later),
        cmocka_unit_test(not_finite_fails),
    };
    if (argc < 3)
        return 2;
    without_vulkan = argc == 4 && strcmp(argv[3], "--without-vulkan") == 0;
    mixed_path = argv[1];
    wide_path = argv[2];
    return cmocka_run_group_tests(tests, compute_one_by_one, NULL);
}
