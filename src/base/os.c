/* SPDX-License-Identifier: Apache-2.0 */
/* Time, machine size, condition waits and the floating-point environment. Files are in file.c. */
#include "base/os.h"

#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

uint64_t ls__os_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with these arguments */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

int ls__os_thread_create(pthread_t *thread, void *(*run)(void *), void *argument)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before); /* a new thread inherits its maker's */
    int result = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

void ls__os_sleep_ns(uint64_t ns)
{
    struct timespec rest = timespec_of(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {
    }
}

/* The number in a one-line file; UINT64_MAX when there is none (also for "max"). */
static uint64_t number_in_file(const char *path)
{
    char line[64];
    uint64_t value = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return value;
    if (fgets(line, sizeof line, file) && line[0] >= '0' && line[0] <= '9')
        value = strtoull(line, NULL, 10);
    fclose(file);
    return value;
}

/* The smallest memory.max from the cgroup (version 2) of this process up to the root. */
static uint64_t cgroup_memory_bytes(void)
{
    static const char root[] = "/sys/fs/cgroup";
    char line[1024], path[1100];
    uint64_t least = number_in_file("/sys/fs/cgroup/memory/memory.limit_in_bytes"); /* version 1 */
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return least;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::/", 4) != 0)
            continue;
        char *group = line + 3;
        group[strcspn(group, "\n")] = 0;
        for (char *slash = group + strlen(group); slash; slash = strrchr(group, '/')) {
            *slash = 0;
            snprintf(path, sizeof path, "%s%s/memory.max", root, group);
            uint64_t limit = number_in_file(path);
            least = limit < least ? limit : least;
        }
    }
    fclose(file);
    return least;
}

uint64_t ls__os_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t machine =
        pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
    uint64_t group = cgroup_memory_bytes();
    return group < machine ? group : machine;
}

uint32_t ls__os_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (uint32_t)CPU_COUNT(&set);
    long count = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than a cpu_set_t holds */
    return count > 0 ? (uint32_t)count : 1;
}

int ls__os_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    int result = pthread_condattr_init(&attributes);
    if (result != 0)
        return result;
    result = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (result == 0)
        result = pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return result;
}

bool ls__os_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
    int result;
    if (deadline_ns == LS_FOREVER) {
        result = pthread_cond_wait(cond, mutex);
    } else {
        struct timespec deadline = timespec_of(deadline_ns);
        result = pthread_cond_timedwait(cond, mutex, &deadline);
    }
    assert(result == 0 || result == ETIMEDOUT);
    return result != ETIMEDOUT;
}

_Static_assert(sizeof(fenv_t) <= sizeof(ls__os_fenv),
               "ls__os_fenv holds the C library's environment");
_Static_assert(_Alignof(fenv_t) <= _Alignof(ls__os_fenv), "and is aligned for it");

/* FE_DFL_ENV also turns flush-to-zero and denormals-are-zero off, which is tested
 * (tests/base/test_os.c). */
static void enter_any(ls__os_fenv *saved)
{
    fenv_t environment;
    fegetenv(&environment);
    memcpy(saved->opaque, &environment, sizeof environment);
    fesetenv(FE_DFL_ENV);
}

static void leave_any(const ls__os_fenv *saved)
{
    fenv_t environment;
    memcpy(&environment, saved->opaque, sizeof environment);
    fesetenv(&environment);
}

#ifdef __x86_64__
/* Reading and writing the whole environment takes a third of a microsecond, mostly for the x87
 * unit, which nothing of ours uses; that one is left alone where it is as it should be. */
enum { MXCSR_DEFAULT = 0x1f80, X87_DEFAULT = 0x037f };
_Static_assert(sizeof(fenv_t) < sizeof(ls__os_fenv), "the last word is free");
#define ONLY_SSE(saved_) ((saved_)->opaque[sizeof(saved_)->opaque / sizeof(uint64_t) - 1])

void ls__os_fenv_enter(ls__os_fenv *saved)
{
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    ONLY_SSE(saved) = x87 == X87_DEFAULT;
    if (!ONLY_SSE(saved)) {
        enter_any(saved);
        return;
    }
    saved->opaque[0] = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
}

void ls__os_fenv_leave(const ls__os_fenv *saved)
{
    const uint16_t x87_default = X87_DEFAULT;
    uint16_t x87;
    if (!ONLY_SSE(saved)) {
        leave_any(saved);
        return;
    }
    __builtin_ia32_ldmxcsr((unsigned)saved->opaque[0]);
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    if (x87 != X87_DEFAULT) /* a function of the caller that was called inside has changed it */
        __asm__ volatile("fldcw %0" : : "m"(x87_default));
}
#else
void ls__os_fenv_enter(ls__os_fenv *saved)
{
    enter_any(saved);
}

void ls__os_fenv_leave(const ls__os_fenv *saved)
{
    leave_any(saved);
}
#endif
