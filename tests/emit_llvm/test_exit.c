/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     emit_llvm_test_exit [repeats]
 *
 * A process may end, by exit() or by returning from main, while code is being made on a thread of a
 * device or of its own: it ends as it said, and none of libLLVM's destructors runs under a
 * compilation. The process under test is this program again:
 *
 *     emit_llvm_test_exit MODE DELAY_US
 *
 * in mode "background" with optimised code being made by the device, in mode "thread" with a thread
 * that makes programs without end; in mode "late" an exit handler, too, asks for code.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lockstep/device.h"
#include "lockstep/program.h"

enum { ENDS_WELL = 42, PROGRAMS = 6 };

static const char *self;
static unsigned repeats = 8;
static ls_device *device;
extern char **environ;

/* --- the process under test ------------------------------------------------------------------- */

/* Programs that differ, so that each is compiled. NULL: refused. */
static ls_program *make(unsigned number, ls_tier tier, ls_error *error)
{
    char text[2048];
    int length =
        snprintf(text, sizeof text,
                 "kernel void mix(u32 n, const f32 *x, f32 *y)\n"
                 "{\n"
                 "    u32 i = global_id(0);\n"
                 "    f32 sum = %u.0f;\n"
                 "    for (u32 k = 0; k < n; k++)\n"
                 "        sum = exp(sin(sum * x[i + k]) / cos(sum)) + log(pow(sum, 3.0f));\n"
                 "    for (u32 k = 0; k < i %% 5u; k++)\n"
                 "        sum = fma(sum, x[k], exp(sum)) / 3.0f;\n"
                 "    y[i] = sum;\n"
                 "}\n",
                 number);
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_module *module = NULL;
    ls_program *program = NULL;
    compile.text = text;
    compile.length = (size_t)length;
    params.tier = tier;
    if (ls_module_compile(&compile, &module, NULL, error) == LS_OK)
        (void)ls_program_create(device, module, &params, &program, error);
    ls_module_destroy(&module);
    return program;
}

static void *make_without_end(void *context)
{
    ls_error error;
    (void)context;
    for (unsigned i = 0;; i++) {
        ls_program *program = make(i, LS_TIER_OPTIMIZED, &error);
        if (!program)
            return NULL;
        ls_program_destroy(&program);
    }
}

/* Runs after the handler that the library has, since it was registered before. */
static void make_late(void)
{
    ls_error error = {0};
    ls_program *program = make(1000, LS_TIER_OPTIMIZED, &error);
    if (program || !strstr(error.message, "is ending")) {
        fprintf(stderr, "late: %s\n", program ? "made" : error.message);
        _exit(1);
    }
}

static int run_and_end(const char *mode, const char *delay)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_error error = {0};
    alarm(30);
    params.name = "cpu";
    if (strcmp(mode, "late") == 0)
        atexit(make_late);
    if (ls_device_open(&params, &device, &error) != LS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 77;
    }
    for (unsigned i = 0; i < PROGRAMS && strcmp(mode, "thread") != 0; i++) {
        ls_program *program = make(i, LS_TIER_QUICK, &error);
        if (!program || ls_program_optimize(program, &error) != LS_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
    }
    pthread_t thread;
    if (strcmp(mode, "thread") == 0 && pthread_create(&thread, NULL, make_without_end, NULL) != 0)
        return 1;
    usleep((useconds_t)atoi(delay));
    if (atoi(delay) % 2)
        exit(ENDS_WELL);
    return ENDS_WELL;
}

/* --- the test --------------------------------------------------------------------------------- */

static void expect_good_end(const char *mode, unsigned delay_us)
{
    char delay[16];
    snprintf(delay, sizeof delay, "%u", delay_us);
    char *arguments[] = {(char *)(uintptr_t)self, (char *)(uintptr_t)mode, delay, NULL};
    pid_t child;
    int status = 0;
    assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != ENDS_WELL)
        fail_msg("%s, ended after %u us: %s %d", mode, delay_us,
                 WIFSIGNALED(status) ? "signal" : "exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void sweep(const char *mode)
{
    for (unsigned i = 0; i < repeats; i++) /* odd: exit(), even: return from main */
        expect_good_end(mode, i * 60000 / repeats + i % 2);
}

static void while_the_device_optimizes(void **state)
{
    (void)state;
    sweep("background");
}

static void while_a_thread_compiles(void **state)
{
    (void)state;
    sweep("thread");
}

static void what_is_asked_for_later_is_refused(void **state)
{
    (void)state;
    expect_good_end("late", 0);
    expect_good_end("late", 20001);
}

int main(int count, char **arguments)
{
    self = arguments[0];
    if (count == 3)
        return run_and_end(arguments[1], arguments[2]);
    if (count == 2)
        repeats = (unsigned)atoi(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_the_device_optimizes),
        cmocka_unit_test(while_a_thread_compiles),
        cmocka_unit_test(what_is_asked_for_later_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
