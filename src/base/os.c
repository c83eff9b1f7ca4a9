/* SPDX-License-Identifier: Apache-2.0 */
/* Time, machine size, condition waits and the floating-point environment. Files are in file.c. */
#include "base/os.h"

#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <sched.h>
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
void ls__os_fenv_enter(ls__os_fenv *saved)
{
    fenv_t environment;
    fegetenv(&environment);
    memcpy(saved->opaque, &environment, sizeof environment);
    fesetenv(FE_DFL_ENV);
}

void ls__os_fenv_leave(const ls__os_fenv *saved)
{
    fenv_t environment;
    memcpy(&environment, saved->opaque, sizeof environment);
    fesetenv(&environment);
}
