/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: who runs what, and when; what threads of the library leave alone. A thread that waits
 * without a limit may run the work itself, so all of it is tried with and without one. */
#include "contract.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long milliseconds)
{
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0)
        ;
}

typedef struct bench {
    ls_program *program;
    ls_buffer *y;
    ls_batch *fill, *endless;
} bench;

static bench bench_open(fixture *f)
{
    bench b = {.program = contract_program(f, contract_endless_text),
               .y = contract_buffer_u32(f, NULL, 1)};
    ls_range range = WHOLE(b.y);
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(b.program, "endless");
    d.global_size[0] = 1;
    d.buffers = &range;
    d.buffer_count = 1;
    OK(ls_batch_create(f->device, &b.fill, error));
    OK(ls_batch_create(f->device, &b.endless, error));
    OK(ls_batch_fill(b.fill, range, &(uint32_t){3}, 4, NULL, error));
    OK(ls_batch_dispatch(b.endless, &d, error));
    return b;
}

static void bench_close(bench *b)
{
    ls_batch_destroy(&b->fill);
    ls_batch_destroy(&b->endless);
    ls_buffer_destroy(&b->y);
    ls_program_destroy(&b->program);
}

static void run_many(fixture *f, const bench *b, int count)
{
    for (int i = 0; i < count; i++)
        contract_run(f, b->fill);
}

/* Right after submissions that were waited for, and after a rest, which are told apart inside. */
static void nobody_needs_to_wait(void **state)
{
    fixture *f = *state;
    bench b = bench_open(f);
    for (int round = 0; round < 10; round++) {
        ls_fence *fence = NULL;
        int tries = 0;
        if (round % 2)
            run_many(f, &b, 50);
        else
            sleep_ms(5);
        OK(ls_submit(f->stream, b.fill, NULL, &fence, error));
        while (ls_fence_query(fence, NULL) == LS_PENDING && tries++ < 10000)
            sleep_ms(1);
        assert_int_equal(ls_fence_query(fence, NULL), LS_SUCCEEDED);
        ls_fence_destroy(&fence);
    }
    bench_close(&b);
}

static void *cancel_soon(void *argument)
{
    sleep_ms(20);
    OK(ls_fence_cancel(argument, 10 * SECOND, error));
    return NULL;
}

static void what_a_thread_waits_for_can_be_cancelled(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    bench b = bench_open(f);
    pthread_t thread;
    ls_fence *fence = NULL;
    ls_receipt receipt = {.struct_size = sizeof receipt};
    OK(ls_submit(f->stream, b.endless, NULL, &fence, error));
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, fence), 0);
    REFUSED(LS_E_FAILED, ls_fence_wait(fence, LS_FOREVER, &receipt, error));
    pthread_join(thread, NULL);
    assert_int_equal(receipt.outcome, LS_FAILED_QUIESCENT);
    ENDED_BY(LS_E_CANCELLED, receipt);
    ls_fence_destroy(&fence);
    bench_close(&b);
}

static void what_a_thread_waits_for_ends_at_its_time_limit(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    bench b = bench_open(f);
    for (int round = 0; round < 3; round++) { /* from rest, and in the middle of others */
        ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
        ls_receipt receipt = {.struct_size = sizeof receipt};
        ls_stream *stream = NULL;
        ls_fence *fence = NULL;
        params.time_limit_ns = SECOND / 50;
        if (round)
            run_many(f, &b, 50);
        OK(ls_stream_create(f->device, &stream, error));
        OK(ls_submit(stream, b.endless, &params, &fence, error));
        REFUSED(LS_E_FAILED, ls_fence_wait(fence, LS_FOREVER, &receipt, error));
        ENDED_BY(LS_E_TIMEOUT, receipt);
        if (receipt.error.cause == LS_E_TIMEOUT)
            assert_true(receipt.execution_host_ns >= params.time_limit_ns);
        ls_fence_destroy(&fence);
        OK(ls_stream_destroy(&stream, error));
    }
    bench_close(&b);
}

static void *wait_forever(void *argument)
{
    OK(ls_fence_wait(argument, LS_FOREVER, NULL, error));
    return NULL;
}

static void several_threads_wait_for_one_fence(void **state)
{
    fixture *f = *state;
    bench b = bench_open(f);
    for (int round = 0; round < 20; round++) {
        pthread_t threads[3];
        ls_fence *fence = NULL;
        for (int i = 0; i < 5; i++)
            OK(ls_submit(f->stream, b.fill, NULL, NULL, error));
        OK(ls_submit(f->stream, b.fill, NULL, &fence, error));
        for (size_t i = 0; i < COUNT(threads); i++)
            assert_int_equal(pthread_create(&threads[i], NULL, wait_forever, fence), 0);
        OK(ls_stream_wait(f->stream, LS_FOREVER, error));
        assert_int_equal(ls_fence_query(fence, NULL), LS_SUCCEEDED);
        for (size_t i = 0; i < COUNT(threads); i++)
            pthread_join(threads[i], NULL);
        ls_fence_destroy(&fence);
    }
    bench_close(&b);
}

static double cpu_seconds(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

/* The bounds leave room for the thread sanitizer's own thread. */
static void an_idle_device_uses_no_time(void **state)
{
    fixture *f = *state;
    bench b = bench_open(f);
    struct rusage before, after;
    run_many(f, &b, 200);
    sleep_ms(20);
    getrusage(RUSAGE_SELF, &before);
    sleep_ms(250);
    getrusage(RUSAGE_SELF, &after);
    assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 0, 20);
    assert_true(cpu_seconds(&after) - cpu_seconds(&before) < 0.01);
    bench_close(&b);
}

/* A signal that the program's only thread has blocked stays pending. */
static void signals_are_left_to_the_program(void **state)
{
    fixture *f = *state;
    bench b = bench_open(f);
    sigset_t one, before, pending;
    int taken;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    run_many(f, &b, 3);
    kill(getpid(), SIGUSR1); /* whoever has not blocked it would die of it */
    run_many(f, &b, 3);
    sleep_ms(5);
    sigpending(&pending);
    assert_true(sigismember(&pending, SIGUSR1));
    assert_int_equal(sigwait(&one, &taken), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    bench_close(&b);
}

static atomic_int handled;
static void on_signal(int number)
{
    atomic_store(&handled, number);
}

/* Signals the thread that waits, and cancels what it waits for once its handler has run. */
typedef struct interruption {
    pthread_t waiter;
    ls_fence *fence;
    bool handled_in_time;
} interruption;

static void *interrupt_soon(void *argument)
{
    interruption *i = argument;
    sleep_ms(50);
    pthread_kill(i->waiter, SIGUSR2);
    for (int tries = 0; tries < 2000 && !atomic_load(&handled); tries++)
        sleep_ms(5);
    i->handled_in_time = atomic_load(&handled) != 0;
    OK(ls_fence_cancel(i->fence, 10 * SECOND, error));
    return NULL;
}

/* The thread sanitizer keeps a signal from its handler until the thread calls a function that the
 * sanitizer watches, and compiled kernels call none. */
#if defined(__SANITIZE_THREAD__)
static const bool handlers_are_held_back = true;
#elif defined(__has_feature)
static const bool handlers_are_held_back = __has_feature(thread_sanitizer);
#else
static const bool handlers_are_held_back = false;
#endif

static void handlers_run_while_a_thread_waits(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel || handlers_are_held_back)
        skip();
    bench b = bench_open(f);
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_signal}, before;
    interruption i = {.waiter = pthread_self()};
    atomic_store(&handled, 0);
    run_many(f, &b, 3); /* so that the thread that waits runs the next itself */
    sigaction(SIGUSR2, &action, &before);
    OK(ls_submit(f->stream, b.endless, NULL, &i.fence, error));
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, &i), 0);
    REFUSED(LS_E_FAILED, ls_fence_wait(i.fence, LS_FOREVER, NULL, error));
    pthread_join(thread, NULL);
    sigaction(SIGUSR2, &before, NULL);
    assert_true(i.handled_in_time);
    ls_fence_destroy(&i.fence);
    bench_close(&b);
}

const struct CMUnitTest contract_wait_tests[] = {
    TEST(nobody_needs_to_wait),
    TEST(what_a_thread_waits_for_can_be_cancelled),
    TEST(what_a_thread_waits_for_ends_at_its_time_limit),
    TEST(several_threads_wait_for_one_fence),
    TEST(an_idle_device_uses_no_time),
    TEST(signals_are_left_to_the_program),
    TEST(handlers_run_while_a_thread_waits),
};
const size_t contract_wait_count = COUNT(contract_wait_tests);
