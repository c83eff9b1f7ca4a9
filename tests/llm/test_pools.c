/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that are computed together get the bits that each gets alone, whatever the others are
 * fed, in whatever order, wherever their pages lie. What a pool cannot do it says, and a session
 * that fails leaves the others as they were.
 *
 *   test_llm_pools MIXED.gguf [--without-vulkan]
 */
#include "machine.h"

#include "base/rng.h"

enum { SESSIONS = 5, TOKENS = 140, VOCABULARY = 266 };
enum { HEAD_BYTES = 16 * 2 }; /* of a head's keys */
static const char *mixed_path;
static uint32_t tokens[SESSIONS][TOKENS];
static float alone[SESSIONS][TOKENS][VOCABULARY]; /* the logits behind each token */

static ls_session *make_session(machine m, ls_session_pool *pool)
{
    ls_session *session = NULL;
    ls_session_params params = LS_SESSION_PARAMS_INIT;
    params.pool = pool;
    params.context = pool ? 0 : 150;
    OK(ls_session_create(m.model, &params, &session, error));
    return session;
}

static ls_session_pool *make_pool(machine m, uint32_t sessions, uint32_t positions, uint32_t chunk,
                                  uint64_t seed)
{
    ls_session_pool *pool = NULL;
    ls_session_pool_params params = LS_SESSION_POOL_PARAMS_INIT;
    params.sessions = sessions;
    params.context = 150;
    params.positions = positions;
    params.chunk = chunk;
    params.page_seed = seed;
    OK(ls_session_pool_create(m.model, &params, &pool, error));
    return pool;
}

static int compute_alone(void **state)
{
    (void)state;
    machine m = start_file("cpu", 1, mixed_path, NULL, NULL);
    for (int s = 0; m.model && s < SESSIONS; s++) {
        ls_session *session = make_session(m, NULL);
        for (int t = 0; t < TOKENS; t++) {
            OK(ls_session_feed(session, &tokens[s][t], 1, error));
            memcpy(alone[s][t], ls_session_logits(session), sizeof alone[s][t]);
        }
        ls_session_destroy(&session);
    }
    if (m.device)
        stop(&m);
    return 0;
}

static void assert_logits(const ls_session *session, int s)
{
    const float *logits = ls_session_logits(session);
    uint32_t position = ls_session_position(session);
    assert_non_null(logits);
    for (int i = 0; i < VOCABULARY; i++)
        if (memcmp(&logits[i], &alone[s][position - 1][i], 4) != 0)
            fail_msg("session %d, position %u, logit %d: %a, not %a", s, position, i,
                     (double)logits[i], (double)alone[s][position - 1][i]);
}

/* Until all tokens are fed, some sessions in some order get some tokens each. */
static void feed_all(ls_session *sessions[SESSIONS], uint64_t seed)
{
    ls__rng rng = {seed};
    for (uint32_t left = SESSIONS; left;) {
        ls_session_input inputs[SESSIONS];
        int order[SESSIONS], who[SESSIONS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < SESSIONS; i++) {
            uint32_t other = ls__rng_below(&rng, i + 1);
            order[i] = order[other];
            order[other] = (int)i;
        }
        for (int i = 0; i < SESSIONS; i++) {
            int s = order[i];
            uint32_t at = ls_session_position(sessions[s]), rest = TOKENS - at;
            uint32_t most = ls__rng_below(&rng, 2) ? 1 : 40, now = 1 + ls__rng_below(&rng, most);
            now = now < rest ? now : rest;
            if (!now || ls__rng_below(&rng, 4) == 0)
                continue;
            who[count] = s;
            inputs[count++] = (ls_session_input){sessions[s], tokens[s] + at, now};
        }
        if (!count)
            continue;
        OK(ls_sessions_feed(inputs, count, error));
        for (uint32_t i = 0; i < count; i++)
            assert_logits(sessions[who[i]], who[i]);
        left = 0;
        for (int s = 0; s < SESSIONS; s++)
            left += ls_session_position(sessions[s]) < TOKENS;
    }
}

static void neighbours_do_not_matter(void **state)
{
    static const struct {
        const char *device;
        uint32_t threads, chunk;
        uint64_t seed;
    } settings[] = {{"cpu", 1, 64, 0}, {"cpu", 2, 7, 5}, {"cpu", 3, 200, 6}, {"vulkan", 2, 32, 7}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        machine m = start_file(settings[i].device, settings[i].threads, mixed_path, NULL, NULL);
        if (!m.model)
            continue;
        ls_session_pool *pool = make_pool(m, SESSIONS, 0, settings[i].chunk, settings[i].seed);
        uint32_t all = ls_session_pool_free(pool);
        ls_session *sessions[SESSIONS];
        for (int s = 0; s < SESSIONS; s++)
            sessions[s] = make_session(m, pool);
        feed_all(sessions, i + 1);
        for (int s = 0; s < SESSIONS; s++) /* pages are used again */
            OK(ls_session_truncate(sessions[s], 11, error));
        feed_all(sessions, i + 100);
        for (int s = 0; s < SESSIONS; s++)
            ls_session_destroy(&sessions[s]);
        assert_int_equal(ls_session_pool_free(pool), all);
        ls_session_pool_destroy(&pool);
        stop(&m);
    }
}

static void pools_say_what_they_cannot(void **state)
{
    machine m = start_file("cpu", 1, mixed_path, NULL, NULL);
    ls_error error = {0};
    if (!m.model)
        return;
    ls_session_pool *pool = make_pool(m, 2, 256, 64, 0), *other = make_pool(m, 2, 64, 64, 0);
    ls_session *a = make_session(m, pool), *b = make_session(m, pool), *c = make_session(m, pool);
    ls_session *foreign = make_session(m, other);
    ls_session_input twice[] = {{a, tokens[0], 1}, {a, tokens[0], 1}};
    assert_int_equal(ls_sessions_feed(twice, 2, &error), LS_E_INVALID_ARGUMENT);
    ls_session_input mixed[] = {{a, tokens[0], 1}, {foreign, tokens[0], 1}};
    assert_int_equal(ls_sessions_feed(mixed, 2, &error), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "sessions 0 and 1"));
    ls_session_input three[] = {{a, tokens[0], 1}, {b, tokens[1], 1}, {c, tokens[2], 1}};
    assert_int_equal(ls_sessions_feed(three, 3, &error), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "feeds 2 together"));
    assert_int_equal(ls_sessions_feed(three, 0, &error), LS_E_INVALID_ARGUMENT);
    /* Four pages: a takes three of them, b needs two. */
    OK(ls_session_feed(a, tokens[0], TOKENS, error));
    assert_int_equal(ls_session_pool_free(pool), 64);
    assert_int_equal(ls_session_feed(b, tokens[1], 65, &error), LS_E_LIMIT);
    assert_non_null(strstr(error.message, "64 positions left, where 128 more"));
    assert_int_equal(ls_session_position(b), 0);
    OK(ls_session_feed(b, tokens[1], 64, error));
    assert_logits(a, 0); /* still there */
    assert_logits(b, 1);
    OK(ls_session_truncate(a, 64, error));
    OK(ls_session_feed(b, tokens[1] + 64, 1, error));
    assert_logits(b, 1);
    ls_session_params larger = LS_SESSION_PARAMS_INIT;
    ls_session *none = NULL;
    larger.pool = pool;
    larger.context = 151; /* a page has room for it */
    assert_int_equal(ls_session_create(m.model, &larger, &none, &error), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "151 positions, where the pool has 150"));
    assert_null(none);
    assert_int_equal(ls_session_context(c), 150);
    assert_int_equal(ls_session_feed(c, tokens[0], UINT32_MAX, &error), LS_E_LIMIT);
    ls_session_pool_params huge = LS_SESSION_POOL_PARAMS_INIT;
    ls_session_pool *too_large = NULL;
    huge.positions = UINT32_MAX;
    assert_int_equal(ls_session_pool_create(m.model, &huge, &too_large, &error),
                     LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "more than 4294967232 positions"));
    larger.struct_size = huge.struct_size = 0;
    assert_int_equal(ls_session_create(m.model, &larger, &none, &error), LS_E_VERSION);
    assert_int_equal(ls_session_pool_create(m.model, &huge, &too_large, &error), LS_E_VERSION);
    ls_session_destroy(&a);
    ls_session_destroy(&b);
    ls_session_destroy(&c);
    ls_session_destroy(&foreign);
    ls_session_pool_destroy(&pool);
    ls_session_pool_destroy(&other);
    stop(&m);
}

/* Each head of keys in a buffer of its own, as many operations in one go as can be, or each alone.
 */
static void where_heads_lie_does_not_matter(void **state)
{
    static const struct {
        const char *device;
        bool unfused;
        uint32_t count;
    } settings[] = {{"cpu", false, TOKENS},
                    {"cpu", true, TOKENS},
                    {"vulkan", false, 70},
                    {"reference", false, 2}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        machine m = start_file(settings[i].device, 2, mixed_path, NULL, NULL);
        ls_session_pool *pool = NULL;
        ls_session_pool_params params = LS_SESSION_POOL_PARAMS_INIT;
        ls_error error = {0};
        if (!m.model)
            continue;
        params.sessions = 2;
        params.context = 192;
        params.unfused = settings[i].unfused;
        params.max_shard_bytes = HEAD_BYTES * 192 * 2 - 1;
        assert_int_equal(ls_session_pool_create(m.model, &params, &pool, &error), LS_E_LIMIT);
        params.max_shard_bytes++;
        OK(ls_session_pool_create(m.model, &params, &pool, error));
        ls_session *a = make_session(m, pool), *b = make_session(m, pool);
        OK(ls_session_feed(a, tokens[0], 1, error));
        assert_logits(a, 0);
        ls_session_input inputs[] = {{b, tokens[1], settings[i].count},
                                     {a, tokens[0] + 1, settings[i].count - 1}};
        OK(ls_sessions_feed(inputs, 2, error));
        assert_logits(a, 0);
        assert_logits(b, 1);
        ls_session_destroy(&a);
        ls_session_destroy(&b);
        ls_session_pool_destroy(&pool);
        stop(&m);
    }
}

/* Positions of 32 bytes of keys in a head: 2^32 bytes fit, and one page more does not. */
static void caches_have_a_limit(void **state)
{
    machine m = start_file("fault", 1, mixed_path, NULL, NULL);
    ls_session_pool *pool = NULL;
    ls_error error = {0};
    ls_session_pool_params params = LS_SESSION_POOL_PARAMS_INIT;
    assert_non_null(m.model);
    params.positions = (1u << 27) + 64;
    assert_int_equal(HEAD_BYTES, 32);
    assert_int_equal(ls_session_pool_create(m.model, &params, &pool, &error), LS_E_LIMIT);
    assert_string_equal(error.message, "the keys of a layer have 4294969344 bytes for each head, "
                                       "where the device can give a kernel 4294967296");
    assert_null(pool);
    stop(&m);
}

/* One token's embedding is not finite: who is fed it fails, nobody else. */
static void one_fails_alone(void **state)
{
    enum { BAD = 200 };
    ls_error error = {0};
    ls_gguf *gguf = NULL;
    size_t size;
    uint8_t *bytes = read_bytes(mixed_path, &size);
    OK(ls_gguf_open_memory(bytes, size, "changed", &gguf, error));
    const ls_gguf_tensor *rows = ls_gguf_find_tensor(gguf, "token_embd.weight");
    assert_int_equal(rows->type, LS_GGUF_TYPE_Q4_1); /* a block begins with its scale */
    memcpy(bytes + rows->file_byte + BAD * rows->dimensions[0] / 32 * 20, &(uint16_t){0x7c00}, 2);
    machine m = start("cpu", 2, gguf, NULL, NULL);
    ls_gguf_destroy(&gguf);
    if (!m.model)
        return;
    ls_session_pool *pool = make_pool(m, 3, 0, 64, 0);
    ls_session *a = make_session(m, pool), *b = make_session(m, pool), *c = make_session(m, pool);
    static const uint32_t good[] = {1, 2, 3, 4, 5, 6}, bad[] = {7, 8, BAD, 9};
    float expected[VOCABULARY];
    OK(ls_session_feed(c, good, 6, error));
    memcpy(expected, ls_session_logits(c), sizeof expected);
    OK(ls_session_feed(a, good, 4, error));
    ls_session_input inputs[] = {{a, good + 4, 2}, {b, bad, 4}};
    assert_int_equal(ls_sessions_feed(inputs, 2, &error), LS_E_FAILED);
    assert_non_null(strstr(error.where, "position 2"));
    assert_int_equal(ls_session_position(a), 4);
    assert_null(ls_session_logits(a));
    assert_int_equal(ls_session_feed(b, good, 1, &error), LS_E_STATE);
    OK(ls_session_feed(a, good + 4, 2, error));
    assert_memory_equal(ls_session_logits(a), expected, sizeof expected);
    ls_session_destroy(&a);
    ls_session_destroy(&b);
    ls_session_destroy(&c);
    ls_session_pool_destroy(&pool);
    stop(&m);
}

/* A cache of f32 is another profile; it has the same bits everywhere, too. */
static void caches_of_floats(void **state)
{
    static const char *const names[] = {"cpu", "vulkan", "reference"};
    static float first[VOCABULARY], many[VOCABULARY];
    for (int d = 0; d < 3; d++) {
        machine m = start_file(names[d], 2, mixed_path, NULL, NULL);
        ls_session *session = NULL;
        ls_session_params params = LS_SESSION_PARAMS_INIT;
        uint32_t count = d == 2 ? 2 : 100;
        if (!m.model)
            continue;
        params.cache_type = LS_CACHE_F32;
        params.chunk = d ? 33 : 1;
        OK(ls_session_create(m.model, &params, &session, error));
        OK(ls_session_feed(session, tokens[0], 2, error));
        if (d == 0)
            memcpy(first, ls_session_logits(session), sizeof first);
        assert_memory_equal(ls_session_logits(session), first, sizeof first);
        assert_memory_not_equal(first, alone[0][1], sizeof first);
        if (count > 2)
            OK(ls_session_feed(session, tokens[0] + 2, count - 2, error));
        if (d == 0)
            memcpy(many, ls_session_logits(session), sizeof many);
        if (count > 2)
            assert_memory_equal(ls_session_logits(session), many, sizeof many);
        ls_session_destroy(&session);
        stop(&m);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_do_not_matter),
        cmocka_unit_test(pools_say_what_they_cannot),
        cmocka_unit_test(where_heads_lie_does_not_matter),
        cmocka_unit_test(caches_have_a_limit),
        cmocka_unit_test(one_fails_alone),
        cmocka_unit_test(caches_of_floats),
    };
    if (argc < 2)
        return 2;
    without_vulkan = argc == 3 && strcmp(argv[2], "--without-vulkan") == 0;
    mixed_path = argv[1];
    for (uint32_t s = 0; s < SESSIONS; s++)
        for (uint32_t i = 0; i < TOKENS; i++)
            tokens[s][i] = (i * i * 7 + s * 31 + s * i) % VOCABULARY;
    return cmocka_run_group_tests(tests, compute_alone, NULL);
}
