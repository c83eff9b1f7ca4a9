/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the passes share: copies of modules, runs on the interpreter, values worth
 * trying. A program means the same before and after the passes when equal inputs give equal output
 * bytes.
 */
#ifndef LS_TESTS_PASS_HARNESS_H
#define LS_TESTS_PASS_HARNESS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "../base/cmocka_all.h"

#include "base/mem.h"
#include "base/rng.h"
#include "interp/interp.h"
#include "ir/ir.h"
#include "pass/pass.h"

/* Enough to build modules: running out of memory ends the test. */
static inline ls__ir_module *new_module(ls__oom *oom)
{
    return ls__ir_module_create(oom, 0);
}

static inline ls__ir_module *copy_of(const ls__ir_module *module)
{
    ls__oom oom;
    if (setjmp(oom.jump)) {
        fail_msg("out of memory");
        return NULL;
    }
    return ls__ir_module_clone(module, &oom, 0);
}

static inline void print_module(const ls__ir_module *module)
{
    ls__strbuf text = {0};
    ls__ir_print(module, &text);
    fputs(text.text, stderr);
    ls__strbuf_finish(&text);
}

static inline void run_passes(ls__ir_module *module, uint32_t lower, bool optimize)
{
    ls__pass_options options = {.lower = lower, .optimize = optimize, .verify_each = true};
    ls_error error = {0};
    if (ls__pass_run(module, &options, &error) != LS_OK) {
        print_module(module);
        fail_msg("%s (%s)", error.message, error.where);
    }
}

static inline bool note_grid_barrier(ls__ir_inst *inst, void *context)
{
    *(bool *)context |= inst->op == LS_OP_GRID_BARRIER;
    return true;
}

static inline bool has_grid_barrier(const ls__ir_function *function)
{
    bool found = false;
    ls__ir_walk(function->body, note_grid_barrier, &found);
    return found;
}

enum { MAX_BUFFERS = 8 };

typedef struct run_buffers {
    uint8_t *bytes[MAX_BUFFERS];
    uint64_t size[MAX_BUFFERS];
    uint32_t count;
} run_buffers;

/* A program that was changed on purpose may never end: set_time_limit stops the run after a
 * while. */
static atomic_int stop_run;

static inline void on_alarm(int signal)
{
    (void)signal;
    atomic_store(&stop_run, 1);
}

static inline void set_time_limit(unsigned milliseconds) /* 0: none */
{
    signal(SIGALRM, on_alarm);
    atomic_store(&stop_run, 0);
    struct itimerval timer = {.it_value = {0, (suseconds_t)milliseconds * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Runs a kernel over `lanes` lanes. Answers how many steps C leaves undefined. */
static inline uint64_t run_kernel(const ls__ir_module *module, const char *name, uint32_t lanes,
                                  const run_buffers *buffers, const uint8_t *scalars)
{
    ls__interp_binding bindings[MAX_BUFFERS] = {{0}};
    for (uint32_t i = 0; i < buffers->count; i++)
        bindings[i] = (ls__interp_binding){buffers->bytes[i], buffers->size[i], i + 1, 0, NULL};
    ls__interp_launch launch = {.module = module,
                                .kernel = ls__ir_function_find(module, ls__str_from(name)),
                                .bindings = bindings,
                                .scalars = scalars,
                                .global_size = {lanes, 1, 1},
                                .flag_undefined_c = true,
                                .cancel = &stop_run};
    ls__interp_result result;
    ls_error error = {0};
    ls_status status = ls__interp_run(&launch, &result, &error);
    if (status != LS_OK && status != LS_E_CANCELLED) {
        print_module(module);
        fail_msg("%s (%s)", error.message, error.where);
    }
    return result.report_count;
}

/* --- inputs ---------------------------------------------------------------------------------- */

static const uint64_t special_32[] = {
    0,          1,          2,          3,          0x7f,       0x80,       0xff,       0x100,
    0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
    0xfffffffe, 0x3f800000, 0xbf800000, 0x3f000000, 0x3effffff, 0x3f000001, 0xbf000000, 0x3fc00000,
    0x40200000, 0x4b000000, 0x4b000001, 0x4a800001, 0x4affffff, 0x00800000, 0x007fffff, 0x807fffff,
    0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345,
    0x4f000000, 0x4effffff, 0xcf000000, 0x4f800000, 0x5f000000, 0x477fe000, 0x477ff000, 0x33000000,
    0x387fc000, 0x38800000, 0x33800001, 0x7c00,     0x7c01,     0x7e00,     0x03ff,     0x0400,
    0x7f80,     0x7f81,     0xff81,     0x3f7fffff, 0x3f800001, 0x34000000, 0x25800000, 0x5a800000};
static const uint64_t special_64[] = {
    0,
    1,
    2,
    UINT64_MAX,
    INT64_MAX,
    UINT64_C(1) << 63,
    (UINT64_C(1) << 63) + 1,
    UINT32_MAX,
    UINT64_C(1) << 32,
    INT32_MAX,
    UINT64_C(0xffffffff80000000),
    UINT64_C(0x3ff0000000000000),
    UINT64_C(0xbff0000000000000),
    UINT64_C(0x3fe0000000000000),
    UINT64_C(0xbfe0000000000000),
    UINT64_C(0x3fdfffffffffffff),
    UINT64_C(0x3fe0000000000001),
    UINT64_C(0x3ff8000000000000),
    UINT64_C(0x4004000000000000),
    UINT64_C(0x4330000000000000),
    UINT64_C(0x4330000000000001),
    UINT64_C(0x432fffffffffffff),
    UINT64_C(0x0010000000000000),
    UINT64_C(0x000fffffffffffff),
    UINT64_C(0x800fffffffffffff),
    UINT64_C(0x7fefffffffffffff),
    UINT64_C(0xffefffffffffffff),
    UINT64_C(0x7ff0000000000000),
    UINT64_C(0xfff0000000000000),
    UINT64_C(0x7ff8000000000000),
    UINT64_C(0x7ff0000000000001),
    UINT64_C(0xfff8123456789abc),
    UINT64_C(0x41e0000000000000),
    UINT64_C(0x41dfffffffc00000),
    UINT64_C(0xc1e0000000000000),
    UINT64_C(0x43e0000000000000),
    UINT64_C(0xc3e0000000000000),
    UINT64_C(0x43f0000000000000),
    UINT64_C(0x47efffffe0000000),
    UINT64_C(0x47effffff0000000),
    UINT64_C(0x36a0000000000000),
    UINT64_C(0x3690000000000000),
    UINT64_C(0x3690000000000001),
    UINT64_C(0x380fffffe0000000),
    UINT64_C(0x3810000000000000),
    UINT64_C(0x3ca0000000000000),
};

/* Mostly special values and their neighbours, floats of near exponents, else random bits. */
static inline uint64_t draw_bits(ls__rng *rng, uint32_t width)
{
    uint64_t bits;
    uint32_t way = ls__rng_below(rng, 8);
    if (width == 32)
        bits = special_32[ls__rng_below(rng, sizeof special_32 / sizeof *special_32)];
    else
        bits = special_64[ls__rng_below(rng, sizeof special_64 / sizeof *special_64)];
    if (way == 0)
        bits ^= UINT64_C(1) << ls__rng_below(rng, width);
    else if (way == 1)
        bits += ls__rng_u64(rng) % 5 - 2;
    else if (way == 2)
        bits = ls__rng_u64(rng);
    else if (way == 3)
        bits = ls__rng_u64(rng) >> ls__rng_below(rng, 64); /* small integers */
    else if (way >= 5) { /* floats around 1, so that sums cancel and products stay finite */
        uint64_t field = width == 32 ? 127 : 1023;
        uint32_t mantissa = width == 32 ? 23 : 52;
        field += ls__rng_below(rng, way == 5 ? 3 : 60);
        bits = (field - (way == 5 ? 1 : 30)) << mantissa;
        bits |= ls__rng_u64(rng) & ((UINT64_C(1) << mantissa) - 1);
        if (way == 7) /* few mantissa bits: ties and exact results */
            bits &= ~((UINT64_C(1) << (mantissa - 4)) - 1);
        bits |= (uint64_t)ls__rng_below(rng, 2) << (width - 1);
    }
    return width == 32 ? (uint32_t)bits : bits;
}

#endif
