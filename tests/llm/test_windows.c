/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers with a window keep only the pages that they still see, which does not show: logits are
 * those of a cache that keeps everything, behind texts that are many windows long, on every device,
 * in chunks of any size, for sessions side by side, and after going back, near and far. The cache
 * has the bytes that docs/models.md says.
 *
 *   test_llm_windows SOME.gguf ALL.gguf [--without-vulkan]
 *
 * in which some layers, and all layers, have a window of 20 positions.
 */
#include "machine.h"

#include "base/rng.h"

enum { SESSIONS = 3, TOKENS = 900, CONTEXT = 1024, VOCABULARY = 266, BAD = 200 };
enum { SOME, ALL, MODELS };
/* Of the models: floats of keys of a position and layer, layers with and without a window. */
static const uint64_t key_floats[MODELS] = {96, 64};
enum { HEAD_FLOATS = 32 };
static const uint64_t windowed_layers[MODELS] = {2, 2}, other_layers[MODELS] = {1, 0};
static const char *paths[MODELS];
static uint32_t tokens[SESSIONS][TOKENS];
/* Behind each token, with a cache that keeps all; sessions after the first for SOME alone. */
static float whole[MODELS][SESSIONS][TOKENS][VOCABULARY];

static machine start_model(const char *device, uint32_t threads, bool checked, int model)
{
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    params.checked = checked;
    return start_file(device, threads, paths[model], &params, NULL);
}

static ls_session_pool *make_pool(machine m, uint32_t sessions, uint32_t chunk, uint32_t rewind,
                                  uint64_t seed, uint64_t shard_bytes)
{
    ls_session_pool *pool = NULL;
    ls_session_pool_params params = LS_SESSION_POOL_PARAMS_INIT;
    params.sessions = sessions;
    params.context = CONTEXT;
    params.chunk = chunk;
    params.rewind = rewind;
    params.page_seed = seed;
    params.max_shard_bytes = shard_bytes;
    OK(ls_session_pool_create(m.model, &params, &pool, error));
    return pool;
}

static ls_session *make_session(machine m, ls_session_pool *pool)
{
    ls_session *session = NULL;
    ls_session_params params = LS_SESSION_PARAMS_INIT;
    params.pool = pool;
    OK(ls_session_create(m.model, &params, &session, error));
    return session;
}

static int compute_whole(void **state)
{
    (void)state;
    for (int i = 0; i < MODELS; i++) {
        machine m = start_model("cpu", 2, false, i);
        if (!m.model)
            m = start_model("reference", 1, false, i);
        ls_session_pool *pool = make_pool(m, 1, 64, CONTEXT, 0, 0);
        for (int s = 0; s < (i == SOME ? SESSIONS : 1); s++) {
            ls_session *session = make_session(m, pool);
            uint64_t all = (windowed_layers[i] + other_layers[i]) * CONTEXT * key_floats[i] * 2 * 2;
            assert_int_equal(ls_session_cache_bytes(session), all);
            OK(ls_session_feed_all(session, tokens[s], TOKENS, 0, whole[i][s][0], error));
            ls_session_destroy(&session);
        }
        ls_session_pool_destroy(&pool);
        stop(&m);
    }
    return 0;
}

static void check_logits(const char *what, const ls_session *session, int model, int s)
{
    const float *logits = ls_session_logits(session);
    uint32_t position = ls_session_position(session);
    assert_non_null(logits);
    if (memcmp(logits, whole[model][s][position - 1], sizeof whole[0][0][0]) != 0)
        fail_msg("%s, model %d, session %d: other logits behind %u tokens", what, model, s,
                 position);
}

/* docs/models.md: pages of a session in layers with a window. */
static uint64_t pages_seen(uint32_t chunk)
{
    uint64_t pages = (chunk + 20 - 1 + 63) / 64;
    return pages < CONTEXT / 64 ? pages : CONTEXT / 64;
}

/* --- one session ------------------------------------------------------------------------------ */

static void feed_up_to(ls_session *session, int s, uint32_t end, uint32_t step)
{
    uint32_t at = ls_session_position(session);
    for (uint32_t now; at < end; at += now) {
        now = end - at < step ? end - at : step;
        OK(ls_session_feed(session, tokens[s] + at, now, error));
    }
}

static void chunks_do_not_matter(void **state)
{
    static const struct {
        const char *device;
        uint32_t threads, chunk, step, count;
        uint64_t seed;
        bool checked;
        int models;
        uint64_t heads; /* in a buffer of the longest caches; 0: all */
    } settings[] = {
        {"cpu", 1, 1, 1, TOKENS, 0, false, MODELS, 0},
        {"cpu", 2, 7, TOKENS, TOKENS, 3, true, MODELS, 2},
        {"cpu", 2, 64, TOKENS, TOKENS, 4, false, MODELS, 0},
        {"cpu", 3, 512, TOKENS, TOKENS, 5, false, MODELS, 1},
        {"vulkan", 2, 64, 90, 511, 6, false, 1, 2}, /* its compiler is slow */
        {"reference", 1, 64, 70, 140, 7, true, 1, 2},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int model = 0; model < settings[i].models; model++) {
            static const uint32_t marks[] = {1, 19, 20, 21, 64, 70, 130, 140, 511, 700, TOKENS};
            machine m =
                start_model(settings[i].device, settings[i].threads, settings[i].checked, model);
            if (!m.model)
                continue;
            uint64_t pages = other_layers[model] ? CONTEXT / 64 : pages_seen(settings[i].chunk);
            uint64_t bytes = settings[i].heads * pages * 64 * HEAD_FLOATS * 2;
            ls_session_pool *pool = make_pool(m, 1, settings[i].chunk, 0, settings[i].seed, bytes);
            ls_session *session = make_session(m, pool);
            for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
                if (marks[k] > settings[i].count)
                    break;
                feed_up_to(session, 0, marks[k], settings[i].step);
                check_logits(settings[i].device, session, model, 0);
            }
            ls_session_destroy(&session);
            ls_session_pool_destroy(&pool);
            stop(&m);
        }
}

/* How far it goes back, or whether it goes on then token by token, does not matter. */
static void going_back_does_not_show(void **state)
{
    static const uint32_t backs[] = {1, 63, 64, 65, 128, 200, 300, 599, 600};
    for (int model = 0; model < MODELS; model++)
        for (uint32_t chunk = 4; chunk <= 64; chunk += 60) {
            machine m = start_model("cpu", 2, false, model);
            if (!m.model)
                return;
            ls_session_pool *pool = make_pool(m, 1, chunk, 0, chunk, 0);
            ls_session *session = make_session(m, pool);
            uint32_t all = ls_session_pool_free(pool);
            for (size_t i = 0; i < sizeof backs / sizeof *backs; i++) {
                feed_up_to(session, 0, 600 + (uint32_t)i, 100);
                uint32_t to = ls_session_position(session) - backs[i];
                OK(ls_session_truncate(session, to, error));
                assert_null(ls_session_logits(session));
                assert_int_equal(ls_session_position(session), to);
                assert_int_equal(ls_session_pool_free(pool), all - (to + 63) / 64 * 64);
                if (i % 2)
                    OK(ls_session_truncate(session, to / 2, error));
                feed_up_to(session, 0, ls_session_position(session) + 1, 1);
                check_logits("back", session, model, 0);
                feed_up_to(session, 0, 530, 530);
                check_logits("back and on", session, model, 0);
            }
            feed_up_to(session, 0, 600, 64); /* what was further on stays written over */
            OK(ls_session_truncate(session, 560, error));
            OK(ls_session_truncate(session, 460, error));
            feed_up_to(session, 0, 461, 1);
            check_logits("back twice", session, model, 0);
            static float logits[130][VOCABULARY];
            OK(ls_session_truncate(session, 300, error));
            OK(ls_session_feed_all(session, tokens[0] + 300, 180, 50, logits[0], error));
            assert_memory_equal(logits, whole[model][0][350], sizeof logits);
            ls_session_destroy(&session);
            assert_int_equal(ls_session_pool_free(pool), all);
            ls_session_pool_destroy(&pool);
            stop(&m);
        }
}

/* The positions whose keys and values are computed: those that the trace tells of. */
static void note_first(void *context, const ls_operation_result *result)
{
    uint32_t *first = context;
    *first = result->position < *first ? result->position : *first;
}

/* Going back by `rewind` positions, or by a chunk, computes nothing again; by more it does. */
static void what_is_kept_is_not_computed_again(void **state)
{
    static const struct {
        uint32_t chunk, rewind, back;
        bool again;
    } cases[] = {{4, 0, 4, false},     {64, 0, 64, false}, {4, 200, 200, false},
                 {64, 64, 300, true},  {4, 0, 200, true},  {64, 300, 300, false},
                 {4, 2000, 576, false}};
    machine m = start_model("cpu", 2, false, SOME);
    if (!m.model)
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t end = 576; end <= 640; end += 16) {
            uint32_t first = UINT32_MAX;
            ls_session *session = NULL;
            ls_session_params params = LS_SESSION_PARAMS_INIT;
            params.context = CONTEXT;
            params.chunk = cases[i].chunk;
            params.rewind = cases[i].rewind;
            params.trace = note_first;
            params.trace_context = &first;
            OK(ls_session_create(m.model, &params, &session, error));
            feed_up_to(session, 0, end, end);
            assert_int_equal(first, 0);
            first = UINT32_MAX;
            OK(ls_session_truncate(session, end - cases[i].back, error));
            feed_up_to(session, 0, end - cases[i].back + 1, 1);
            assert_int_equal(first, cases[i].again ? 0 : end - cases[i].back);
            check_logits("kept", session, SOME, 0);
            ls_session_destroy(&session);
        }
    stop(&m);
}

/* --- several ---------------------------------------------------------------------------------- */

/* Until `end` tokens are fed, some sessions get some tokens each, and now and then one goes back.
 */
static void feed_mixed(ls_session *sessions[SESSIONS], uint32_t end, uint64_t seed)
{
    ls__rng rng = {seed};
    for (uint32_t left = SESSIONS; left;) {
        ls_session_input inputs[SESSIONS];
        int who[SESSIONS];
        uint32_t count = 0, first = ls__rng_below(&rng, SESSIONS);
        for (uint32_t i = 0; i < SESSIONS; i++) {
            int s = (int)((i + first) % SESSIONS);
            uint32_t at = ls_session_position(sessions[s]);
            if (ls__rng_below(&rng, 12) == 0) {
                at -= ls__rng_below(&rng, at / 4 + 1);
                OK(ls_session_truncate(sessions[s], at, error));
            }
            uint32_t most = ls__rng_below(&rng, 2) ? 2 : 200, now = 1 + ls__rng_below(&rng, most);
            now = now < end - at ? now : end - at;
            if (!now || ls__rng_below(&rng, 4) == 0)
                continue;
            who[count] = s;
            inputs[count++] = (ls_session_input){sessions[s], tokens[s] + at, now};
        }
        if (count)
            OK(ls_sessions_feed(inputs, count, error));
        for (uint32_t i = 0; i < count; i++)
            check_logits("side by side", sessions[who[i]], SOME, who[i]);
        left = 0;
        for (int s = 0; s < SESSIONS; s++)
            left += ls_session_position(sessions[s]) < end;
    }
}

static void neighbours_do_not_matter(void **state)
{
    static const struct {
        const char *device;
        uint32_t threads, chunk, end;
        uint64_t seed;
    } settings[] = {{"cpu", 2, 64, TOKENS, 0}, {"cpu", 1, 7, TOKENS, 5}, {"vulkan", 2, 64, 250, 7}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        machine m = start_model(settings[i].device, settings[i].threads, false, SOME);
        if (!m.model)
            continue;
        ls_session_pool *pool = make_pool(m, SESSIONS, settings[i].chunk, 0, settings[i].seed, 0);
        uint32_t all = ls_session_pool_free(pool);
        ls_session *sessions[SESSIONS];
        for (int s = 0; s < SESSIONS; s++)
            sessions[s] = make_session(m, pool);
        feed_mixed(sessions, settings[i].end, i + 1);
        /* All pages come back, and go out again in another order. */
        OK(ls_session_truncate(sessions[1], 0, error));
        ls_session_destroy(&sessions[0]);
        sessions[0] = make_session(m, pool);
        OK(ls_session_truncate(sessions[2], 0, error));
        assert_int_equal(ls_session_pool_free(pool), all);
        feed_mixed(sessions, settings[i].end, i + 100);
        for (int s = 0; s < SESSIONS; s++)
            ls_session_destroy(&sessions[s]);
        ls_session_pool_destroy(&pool);
        stop(&m);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static void the_cache_has_these_bytes(void **state)
{
    static const uint32_t chunks[] = {4, 44, 48, 64, 108, 112, 512, CONTEXT};
    for (int model = 0; model < MODELS; model++) {
        machine m = start_model("reference", 1, false, model);
        for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
            for (uint32_t sessions = 1; sessions <= 3; sessions += 2) {
                ls_session_pool *pool = make_pool(m, sessions, chunks[i], 0, 0, 0);
                ls_session *session = make_session(m, pool);
                uint64_t pages = windowed_layers[model] * pages_seen(chunks[i]) +
                                 other_layers[model] * (CONTEXT / 64);
                assert_int_equal(ls_session_cache_bytes(session),
                                 sessions * pages * 64 * key_floats[model] * 2 * 2);
                ls_session_destroy(&session);
                ls_session_pool_destroy(&pool);
            }
        stop(&m);
    }
}

/* A pool for one session keeps the last pages of one alone: two of 64 positions. */
static void pools_say_what_they_cannot(void **state)
{
    machine m = start_model("cpu", 2, false, SOME);
    ls_error error = {0};
    if (!m.model)
        return;
    ls_session_pool *pool = make_pool(m, 1, 64, 0, 0, 0);
    ls_session *a = make_session(m, pool), *b = make_session(m, pool);
    OK(ls_session_feed(a, tokens[0], 64, error));
    OK(ls_session_feed(b, tokens[1], 64, error));
    assert_int_equal(ls_session_feed(a, tokens[0] + 64, 1, &error), LS_E_LIMIT);
    assert_string_equal(error.message, "the pool has 0 positions left in layers with a window, "
                                       "where 64 more are needed");
    assert_int_equal(ls_session_position(a), 64);
    check_logits("still there", a, SOME, 0);
    ls_session_destroy(&b);
    OK(ls_session_feed(a, tokens[0] + 64, 400, error));
    check_logits("alone", a, SOME, 0);
    ls_session_destroy(&a);
    ls_session_pool_destroy(&pool);
    stop(&m);
}

/* When a neighbour fails after the pages behind a text were used again for what follows it, the
 * text can go on nevertheless. */
static void a_failure_loses_nothing(void **state)
{
    ls_error error = {0};
    ls_gguf *gguf = NULL;
    size_t size;
    uint8_t *bytes = read_bytes(paths[SOME], &size);
    OK(ls_gguf_open_memory(bytes, size, "changed", &gguf, error));
    const ls_gguf_tensor *rows = ls_gguf_find_tensor(gguf, "token_embd.weight");
    assert_int_equal(rows->type, LS_GGUF_TYPE_Q8_0); /* a block begins with its scale */
    memcpy(bytes + rows->file_byte + BAD * rows->dimensions[0] / 32 * 34, &(uint16_t){0x7c00}, 2);
    machine m = start("cpu", 2, gguf, NULL, NULL);
    ls_gguf_destroy(&gguf);
    if (!m.model)
        return;
    ls_session_pool *pool = make_pool(m, 2, 64, 0, 0, 0);
    ls_session *a = make_session(m, pool), *b = make_session(m, pool);
    static float expected[TOKENS][VOCABULARY];
    static uint32_t good[TOKENS], bad[] = {7, 8, BAD, 9};
    for (int i = 0; i < TOKENS; i++)
        good[i] = tokens[0][i] == BAD ? 1 : tokens[0][i];
    OK(ls_session_feed_all(b, good, TOKENS, 0, expected[0], error));
    OK(ls_session_truncate(b, 0, error));
    OK(ls_session_feed(a, good, 300, error));
    ls_session_input inputs[] = {{a, good + 300, 400}, {b, bad, 4}};
    assert_int_equal(ls_sessions_feed(inputs, 2, &error), LS_E_FAILED);
    assert_non_null(strstr(error.where, "position 2"));
    assert_int_equal(ls_session_position(a), 300);
    assert_null(ls_session_logits(a));
    OK(ls_session_feed(a, good + 300, 1, error));
    assert_memory_equal(ls_session_logits(a), expected[300], sizeof *expected);
    OK(ls_session_feed(a, good + 301, 500, error));
    assert_memory_equal(ls_session_logits(a), expected[800], sizeof *expected);
    ls_session_destroy(&a);
    ls_session_destroy(&b);
    ls_session_pool_destroy(&pool);
    stop(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_do_not_matter),
        cmocka_unit_test(going_back_does_not_show),
        cmocka_unit_test(what_is_kept_is_not_computed_again),
        cmocka_unit_test(neighbours_do_not_matter),
        cmocka_unit_test(the_cache_has_these_bytes),
        cmocka_unit_test(pools_say_what_they_cannot),
        cmocka_unit_test(a_failure_loses_nothing),
    };
    if (argc < 3)
        return 2;
    without_vulkan = argc == 4 && strcmp(argv[3], "--without-vulkan") == 0;
    paths[SOME] = argv[1];
    paths[ALL] = argv[2];
    for (uint32_t s = 0; s < SESSIONS; s++)
        for (uint32_t i = 0; i < TOKENS; i++)
            tokens[s][i] = (i * i * 7 + s * 31 + s * i + i / 3) % VOCABULARY;
    return cmocka_run_group_tests(tests, compute_whole, NULL);
}
