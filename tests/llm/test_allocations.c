/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Once a few tokens are there, the loop that makes more of them allocates nothing: every call of
 * the C library's allocator is counted, in all threads of the process, while tokens are fed and
 * chosen. On devices that run on the host; a driver does as it likes.
 *
 *   test_llm_allocations MODEL.gguf ...
 */
#include "machine.h"

#include <errno.h>
#include <stdatomic.h>

/* --- counting --------------------------------------------------------------------------------- */

static atomic_bool counting;
static atomic_uint counted;

static void count(void)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOOKED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOOKED 1
#endif

#ifdef HOOKED
/* A sanitizer's allocator tells of itself. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    count();
}

static void on_free(const volatile void *memory)
{
    (void)memory;
}

static void install(void)
{
    assert_true(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free));
}
#elif defined(__GLIBC__)
/* The whole process calls these in place of the library's. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t items, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

#pragma GCC visibility push(default)

void *malloc(size_t bytes)
{
    count();
    return __libc_malloc(bytes);
}

void *calloc(size_t items, size_t bytes)
{
    count();
    return __libc_calloc(items, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    count();
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    count();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    count();
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

#pragma GCC visibility pop

static void install(void)
{
}
#else
#define CANNOT_COUNT 1
static void install(void)
{
}
#endif

/* That counting works is seen from an allocation of the library. */
static void counts(void **state)
{
    (void)state;
    ls_sampler *sampler = NULL;
    ls_sampler_params params = LS_SAMPLER_PARAMS_INIT;
    params.vocabulary = 10;
    atomic_store(&counted, 0);
    atomic_store(&counting, true);
    OK(ls_sampler_create(&params, &sampler, error));
    atomic_store(&counting, false);
    assert_true(atomic_load(&counted) >= 3);
    ls_sampler_destroy(&sampler);
}

/* --- loops ------------------------------------------------------------------------------------ */

enum { SESSIONS = 3, PROMPT = 5, WARM = 2, MOST = 150 };

typedef struct loop {
    ls_session *sessions[SESSIONS];
    uint32_t count, vocabulary;
    ls_sampler *sampler;
    uint32_t history[SESSIONS][MOST], length; /* the last one is not fed yet */
} loop;

static void feed(loop *l, uint32_t tokens)
{
    ls_session_input inputs[SESSIONS];
    for (uint32_t i = 0; i < l->count; i++)
        inputs[i] = (ls_session_input){l->sessions[i], l->history[i] + l->length - tokens, tokens};
    OK(ls_sessions_feed(inputs, l->count, error));
    for (uint32_t i = 0; i < l->count; i++)
        l->history[i][l->length] = ls_sampler_choose(l->sampler, ls_session_logits(l->sessions[i]),
                                                     l->history[i], l->length);
    l->length++;
}

static void run_loop(loop *l, uint32_t tokens)
{
    l->length = PROMPT;
    for (uint32_t i = 0; i < SESSIONS; i++)
        for (uint32_t t = 0; t < PROMPT; t++)
            l->history[i][t] = (i * 31 + t * 7) % l->vocabulary;
    feed(l, PROMPT);
    for (uint32_t i = 0; i < WARM; i++)
        feed(l, 1);
    atomic_store(&counted, 0);
    atomic_store(&counting, true);
    for (uint32_t i = 0; i < tokens; i++)
        feed(l, 1);
    atomic_store(&counting, false);
}

static ls_sampler *make_sampler(uint32_t vocabulary)
{
    ls_sampler *sampler = NULL;
    ls_sampler_params params = LS_SAMPLER_PARAMS_INIT;
    params.vocabulary = vocabulary;
    params.temperature = 0.9f; /* and all that choosing can do */
    params.top_k = 100;
    params.top_p = 0.95f;
    params.min_p = 0.01f;
    params.typical_p = 0.98f;
    params.repetition_penalty = 1.1f;
    params.frequency_penalty = 0.1f;
    params.presence_penalty = 0.1f;
    OK(ls_sampler_create(&params, &sampler, error));
    return sampler;
}

static void check_model(ls_model *model, const char *what, uint32_t sessions, bool unprepared,
                        uint32_t tokens)
{
    loop l = {.count = sessions};
    ls_session_pool *pool = NULL;
    ls_model_info info = {.struct_size = sizeof info};
    ls_session_pool_params params = LS_SESSION_POOL_PARAMS_INIT;
    ls_session_params session = LS_SESSION_PARAMS_INIT;
    ls_model_describe(model, &info);
    l.vocabulary = info.vocabulary;
    l.sampler = make_sampler(info.vocabulary);
    params.sessions = sessions;
    params.context = MOST;
    params.unprepared = unprepared;
    OK(ls_session_pool_create(model, &params, &pool, error));
    session.pool = pool;
    for (uint32_t i = 0; i < sessions; i++)
        OK(ls_session_create(model, &session, &l.sessions[i], error));
    run_loop(&l, tokens);
    for (uint32_t i = 0; i < sessions; i++)
        ls_session_destroy(&l.sessions[i]);
    ls_session_pool_destroy(&pool);
    ls_sampler_destroy(&l.sampler);
    uint32_t allocations = atomic_load(&counted);
    printf("%s, %u sessions: %u allocations for %u tokens\n", what, (unsigned)sessions,
           (unsigned)allocations, (unsigned)tokens);
    /* What is not prepared is resolved anew, and may allocate: that is seen, too. */
    assert_true(unprepared ? allocations > 0 : allocations == 0);
}

static ls_gguf *file;

static void check_device(const char *name, uint32_t threads, uint32_t tokens)
{
    machine m = start(name, threads, file, NULL, NULL);
    if (!m.model)
        return;
    check_model(m.model, name, 1, false, tokens);
    check_model(m.model, name, SESSIONS, false, tokens);
    check_model(m.model, name, 1, true, 2);
    stop(&m);
}

/* Long enough to come to another page of the cache, where the device is fast enough for it. */
static void on_cpu(void **state)
{
    (void)state;
    check_device("cpu", 1, 130);
    check_device("cpu", 3, 130);
}

static void on_reference(void **state)
{
    (void)state;
    check_device("reference", 1, 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(on_cpu),
                                       cmocka_unit_test(on_reference)};
#ifdef CANNOT_COUNT
    puts("skipped: only glibc's allocator, or a sanitizer's, can be looked at");
    return 77;
#endif
    install();
    for (int i = 1; i < argc; i++) {
        ls_error error = {0};
        if (ls_gguf_open(argv[i], &file, &error) != LS_OK) {
            printf("%s\n", error.message);
            return 1;
        }
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        ls_gguf_destroy(&file);
        if (failed)
            return failed;
    }
    return argc < 2 ? 2 : 0;
}
