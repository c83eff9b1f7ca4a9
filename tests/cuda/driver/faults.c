/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings, counters, and faults on request. LOCKSTEP_EMULATED_CUDA, read by cuInit, or a text
 * given to emulated_cuda_configure, is a list with semicolons:
 *
 *     alloc:3=oom           the third allocation fails (WHAT:N=FAULT; the words are below)
 *     lost@5                the device is lost at the fifth submission of work
 *     late_event:20ms       events are 20 ms late
 *     devices=2 arch=75 driver=12020 memory=64M
 *     block_threads=512 block_shared=4K block_registers=1K grid=7    limits, less than they are
 *     kernel_threads=64     no kernel's code allows more threads in a block
 *     threads=2             of the host
 *     reverse               blocks, warps and lanes' atomics in descending order
 *     quiet                 no messages of kernels' faults
 *     report                counters, and what is left, are printed when the process ends
 *
 * emulated_cuda_count tells a counter by its name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "driver.h"

static const settings defaults = {
    .devices = 1,
    .arch = 90,
    .driver_version = 13000,
    .memory = UINT64_C(1) << 32,
    .host_threads = 2,
    .block_threads = 1024,
    .block_shared = SHARED_PER_BLOCK,
    .block_registers = REGISTERS_PER_PROCESSOR,
    .kernel_threads = 1024,
    .grid = {2147483647u, 65535, 65535},
};
settings setting;

static const char *const counter_names[] = {
#define X(name) #name,
    COUNTERS(X)
#undef X
};
static uint64_t counters[COUNT_COUNT];

static const struct {
    const char *name;
    CUresult result;
    bool late;
} faults[] = {
    {"oom", CUDA_ERROR_OUT_OF_MEMORY, false},
    {"invalid_value", CUDA_ERROR_INVALID_VALUE, false},
    {"not_supported", CUDA_ERROR_NOT_SUPPORTED, false},
    {"out_of_resources", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, false},
    {"update_failure", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, false},
    {"fail", CUDA_ERROR_INVALID_PTX, false},
    {"illegal_address", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {"misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, true},
    {"launch_failed", CUDA_ERROR_LAUNCH_FAILED, true},
    {"timeout", CUDA_ERROR_LAUNCH_TIMEOUT, true},
    {"ecc", CUDA_ERROR_ECC_UNCORRECTABLE, true},
    {"lost", CUDA_ERROR_UNKNOWN, true},
};

typedef struct plan {
    int what;
    uint64_t when;
    CUresult result;
} plan;
static plan plans[64];
static size_t plan_count;

bool fault_is_late(CUresult fault)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].result == fault)
            return faults[i].late;
    return false;
}

CUresult fault_count(int what)
{
    uint64_t now = __atomic_add_fetch(&counters[what], 1, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < plan_count; i++)
        if (plans[i].what == what && plans[i].when == now)
            return plans[i].result;
    return CUDA_SUCCESS;
}

static void bad_setting(const char *item)
{
    fprintf(stderr, "emulated CUDA: the setting '%s' is not understood\n", item);
    exit(2); /* of a test's own settings */
}

static bool parse_fault(const char *item)
{
    char what[32], result[32];
    unsigned long long when;
    plan p = {.what = -1, .result = CUDA_SUCCESS};
    if (sscanf(item, "lost@%llu", &when) == 1) {
        p.what = COUNT_submit;
        p.result = CUDA_ERROR_UNKNOWN;
    } else if (sscanf(item, "%31[a-z_]:%llu=%31[a-z_]", what, &when, result) == 3) {
        for (int i = 0; i < COUNT_COUNT; i++)
            if (strcmp(what, counter_names[i]) == 0)
                p.what = i;
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            if (strcmp(result, faults[i].name) == 0)
                p.result = faults[i].result;
    }
    if (p.what < 0 || p.result == CUDA_SUCCESS || plan_count == sizeof plans / sizeof *plans)
        return false;
    p.when = when;
    plans[plan_count++] = p;
    return true;
}

/* A limit of the device that can be less than it is. */
static unsigned *find_limit(const char *name)
{
    static const struct {
        const char *name;
        unsigned *limit;
    } limits[] = {
        {"block_threads", &setting.block_threads},
        {"block_shared", &setting.block_shared},
        {"block_registers", &setting.block_registers},
        {"kernel_threads", &setting.kernel_threads},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strcmp(name, limits[i].name) == 0)
            return limits[i].limit;
    return NULL;
}

static bool parse_number(const char *item)
{
    char name[32], unit = 0;
    unsigned long long value;
    if (sscanf(item, "late_event:%llums", &value) == 1) {
        setting.late_event_ns = value * 1000000;
        return true;
    }
    if (sscanf(item, "%31[a-z_]=%llu%c", name, &value, &unit) < 2)
        return false;
    value <<= unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    if (strcmp(name, "devices") == 0 && value <= MAX_DEVICES)
        setting.devices = (int)value;
    else if (strcmp(name, "arch") == 0)
        setting.arch = (int)value;
    else if (strcmp(name, "driver") == 0)
        setting.driver_version = (int)value;
    else if (strcmp(name, "memory") == 0)
        setting.memory = value;
    else if (strcmp(name, "threads") == 0)
        setting.host_threads = (uint32_t)value;
    else if (strcmp(name, "grid") == 0 && value && value <= 65535)
        setting.grid[0] = setting.grid[1] = setting.grid[2] = (unsigned)value;
    else if (find_limit(name) && value && value <= *find_limit(name))
        *find_limit(name) = (unsigned)value;
    else
        return false;
    return true;
}

void fault_configure(const char *text)
{
    memset(counters, 0, sizeof counters);
    plan_count = 0;
    setting = defaults;
    while (text && *text) {
        char item[80] = "";
        size_t length = strcspn(text, ";");
        if (length < sizeof item)
            memcpy(item, text, length);
        text += length + (text[length] == ';');
        if (strcmp(item, "reverse") == 0)
            setting.reverse = true;
        else if (strcmp(item, "quiet") == 0)
            setting.quiet = true;
        else if (strcmp(item, "report") == 0)
            setting.report = true;
        else if (strcmp(item, "dump") == 0)
            setting.dump = true;
        else if (length && !parse_number(item) && !parse_fault(item))
            bad_setting(item);
    }
}

uint64_t fault_counter(const char *name)
{
    for (int i = 0; i < COUNT_COUNT; i++)
        if (strcmp(name, counter_names[i]) == 0)
            return __atomic_load_n(&counters[i], __ATOMIC_SEQ_CST);
    return UINT64_MAX;
}

__attribute__((visibility("default"))) void emulated_cuda_configure(const char *text);
void emulated_cuda_configure(const char *text)
{
    fault_configure(text);
}

__attribute__((visibility("default"))) uint64_t emulated_cuda_count(const char *name);
uint64_t emulated_cuda_count(const char *name)
{
    return fault_counter(name);
}

__attribute__((destructor)) static void report(void)
{
    if (!setting.report)
        return;
    fprintf(stderr, "emulated CUDA:");
    for (int i = 0; i < COUNT_COUNT; i++)
        fprintf(stderr, " %s %llu", counter_names[i], (unsigned long long)counters[i]);
    fprintf(stderr, "\n");
}
