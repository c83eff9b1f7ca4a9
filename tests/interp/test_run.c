/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter on one lane at a time: geometry, control flow, calls, memory, traps, the
 * floating-point environment, cancellation. */
#include <fenv.h>
#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/os.h"
#include "harness.h"

static const char y_u32[] = "  buffer y : u32 size 4 align 4\n";

/* --- geometry --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned dimension;
} ids[] = {
    {"global_id", 0},       {"global_id", 1},       {"global_id", 2},      {"local_id", 0},
    {"local_id", 1},        {"local_id", 2},        {"workgroup_id", 0},   {"workgroup_id", 1},
    {"workgroup_id", 2},    {"global_size", 0},     {"global_size", 1},    {"global_size", 2},
    {"workgroup_size", 0},  {"workgroup_size", 1},  {"workgroup_size", 2}, {"workgroup_count", 0},
    {"workgroup_count", 1}, {"workgroup_count", 2}, {"local_index", 0},    {"lane", 0},
    {"subgroup", 0},        {"iteration", 0},
};
enum { ID_COUNT = sizeof ids / sizeof ids[0] };

/* Every lane of every (rounded up) workgroup writes all its ids into a row of its own. */
static void test_geometry(void **state)
{
    (void)state;
    enum { WX = 6, WY = 4, WZ = 2, GX = 13, GY = 7, GZ = 3, CX = 3, CY = 2, CZ = 2 };
    enum { LANES = WX * WY * WZ, GROUPS = CX * CY * CZ };
    static uint32_t rows[GROUPS * LANES][ID_COUNT];
    ls__strbuf body = {0};
    fixture f;

    ls__strbuf_printf(&body,
                      "lockstep ir 3\nkernel @k workgroup(6, 4, 2) {\n%s"
                      "  %%1 = id workgroup_id 0 : i32\n  %%2 = id workgroup_id 1 : i32\n"
                      "  %%3 = id workgroup_id 2 : i32\n  %%4 = id workgroup_count 0 : i32\n"
                      "  %%5 = id workgroup_count 1 : i32\n  %%6 = mul %%3, %%5 : i32\n"
                      "  %%7 = add %%6, %%2 : i32\n  %%8 = mul %%7, %%4 : i32\n"
                      "  %%9 = add %%8, %%1 : i32\n  %%10 = const 48 : i32\n"
                      "  %%11 = mul %%9, %%10 : i32\n  %%12 = id local_index 0 : i32\n"
                      "  %%13 = add %%11, %%12 : i32\n  %%14 = zext %%13 : i64\n"
                      "  %%15 = const 0 : i64\n"
                      "  %%16 = index %%15, %%14 stride %u count 0 : i64\n",
                      y_u32, ID_COUNT * 4);
    for (unsigned i = 0; i < ID_COUNT; i++)
        ls__strbuf_printf(&body,
                          "  %%%u = id %s %u : i32\n  %%%u = const %u : i64\n"
                          "  %%%u = index %%16, %%%u stride 4 count 0 : i64\n"
                          "  store u32 buffer 0 [%%%u], %%%u\n",
                          17 + 3 * i, ids[i].name, ids[i].dimension, 18 + 3 * i, i, 19 + 3 * i,
                          18 + 3 * i, 19 + 3 * i, 17 + 3 * i);
    ls__strbuf_printf(&body, "}\n");
    load_module(&f, body.text);
    ls__strbuf_finish(&body);
    memset(rows, 0xee, sizeof rows);
    bind(&f, 0, rows, sizeof rows);
    memcpy(f.launch.global_size, (uint32_t[]){GX, GY, GZ}, sizeof f.launch.global_size);
    f.launch.iteration = 9;
    run(&f);

    assert_int_equal(f.result.workgroups_run, GROUPS);
    assert_int_equal(f.result.lanes_run, GROUPS * LANES);
    for (uint32_t row = 0; row < GROUPS * LANES; row++) {
        uint32_t g = row / LANES, l = row % LANES;
        uint32_t gid[3] = {g % CX, g / CX % CY, g / CX / CY};
        uint32_t lid[3] = {l % WX, l / WX % WY, l / WX / WY};
        const uint32_t expected[ID_COUNT] = {gid[0] * WX + lid[0],
                                             gid[1] * WY + lid[1],
                                             gid[2] * WZ + lid[2],
                                             lid[0],
                                             lid[1],
                                             lid[2],
                                             gid[0],
                                             gid[1],
                                             gid[2],
                                             GX,
                                             GY,
                                             GZ,
                                             WX,
                                             WY,
                                             WZ,
                                             CX,
                                             CY,
                                             CZ,
                                             l,
                                             l % 32,
                                             l / 32,
                                             9};
        assert_memory_equal(rows[row], expected, sizeof expected);
    }
    finish(&f);
}

/* --- control flow ----------------------------------------------------------------------------- */

static const char control_body[] = "  %5 = const 0 : i32\n"
                                   "  %6 = const 1 : i32\n"
                                   "  set v1, %5\n"
                                   "  set v2, %5\n"
                                   "  loop {\n"
                                   "    %7 = get v2 : i32\n"
                                   "    %8 = const 10 : i32\n"
                                   "    %9 = sle %8, %7 : bool\n"
                                   "    if %9 {\n"
                                   "      break\n"
                                   "    }\n"
                                   "    %10 = xor %7, %1 : i32\n"
                                   "    %11 = const 7 : i32\n"
                                   "    %12 = and %10, %11 : i32\n"
                                   "    switch %12 {\n"
                                   "    case 0, 1 {\n"
                                   "      %13 = get v1 : i32\n"
                                   "      %14 = add %13, %6 : i32\n"
                                   "      set v1, %14\n"
                                   "    }\n"
                                   "    case 2 {\n"
                                   "      continue\n"
                                   "    }\n"
                                   "    case 3 {\n"
                                   "      if %9 {\n"
                                   "      } else {\n"
                                   "        break\n"
                                   "      }\n"
                                   "      set v1, %5\n"
                                   "    }\n"
                                   "    case 5 {\n"
                                   "      block {\n"
                                   "        %15 = get v1 : i32\n"
                                   "        %16 = const 40 : i32\n"
                                   "        %17 = slt %16, %15 : bool\n"
                                   "        if %17 {\n"
                                   "          break\n"
                                   "        }\n"
                                   "        %18 = const 100 : i32\n"
                                   "        %19 = add %15, %18 : i32\n"
                                   "        set v1, %19\n"
                                   "      }\n"
                                   "      %20 = get v1 : i32\n"
                                   "      %21 = const 3 : i32\n"
                                   "      %22 = add %20, %21 : i32\n"
                                   "      set v1, %22\n"
                                   "    }\n"
                                   "    case 6 {\n"
                                   "      set v3, %5\n"
                                   "      loop {\n"
                                   "        %23 = get v1 : i32\n"
                                   "        %24 = get v3 : i32\n"
                                   "        %25 = add %23, %24 : i32\n"
                                   "        set v1, %25\n"
                                   "      } step {\n"
                                   "        %26 = get v3 : i32\n"
                                   "        %27 = add %26, %6 : i32\n"
                                   "        set v3, %27\n"
                                   "        %28 = slt %27, %7 : bool\n"
                                   "        while %28\n"
                                   "      }\n"
                                   "    }\n"
                                   "    default {\n"
                                   "      %29 = get v1 : i32\n"
                                   "      %30 = const 500 : i32\n"
                                   "      %31 = slt %30, %29 : bool\n"
                                   "      if %31 {\n"
                                   "        store u32 buffer 0 [%4], %29\n"
                                   "        return\n"
                                   "      }\n"
                                   "      %32 = add %29, %8 : i32\n"
                                   "      set v1, %32\n"
                                   "    }\n"
                                   "    }\n"
                                   "    %33 = get v1 : i32\n"
                                   "    %34 = const 3 : i32\n"
                                   "    %35 = mul %33, %34 : i32\n"
                                   "    %36 = add %35, %7 : i32\n"
                                   "    set v1, %36\n"
                                   "  } step {\n"
                                   "    %37 = get v2 : i32\n"
                                   "    %38 = add %37, %6 : i32\n"
                                   "    set v2, %38\n"
                                   "  }\n"
                                   "  %39 = get v1 : i32\n"
                                   "  store u32 buffer 0 [%4], %39\n";

/* The same in C. */
static int32_t control_twin(int32_t lane)
{
    int32_t acc = 0;
    for (int32_t i = 0; i < 10; i++) {
        switch ((i ^ lane) & 7) {
        case 0:
        case 1:
            acc += 1;
            break;
        case 2:
            continue;
        case 3:
            break;
        case 5:
            if (acc <= 40)
                acc += 100;
            acc += 3;
            break;
        case 6: {
            int32_t j = 0;
            do
                acc += j;
            while (++j < i);
            break;
        }
        default:
            if (acc > 500)
                return acc;
            acc += 10;
            break;
        }
        acc = acc * 3 + i;
    }
    return acc;
}

static void test_control_flow(void **state)
{
    (void)state;
    int32_t y[16] = {0};
    fixture f;
    load_kernel(&f, "workgroup(4, 1, 1)",
                "  buffer y : u32 size 4 align 4\n"
                "  var v1 acc : i32\n  var v2 i : i32\n  var v3 j : i32\n",
                control_body);
    bind(&f, 0, y, sizeof y);
    f.launch.global_size[0] = 16;
    run(&f);
    for (int32_t i = 0; i < 16; i++)
        assert_int_equal(y[i], control_twin(i));
    finish(&f);
}

/* 40 times (block, if, loop) inside each other; each level counts on the way in and, unless the
 * lane left by `return`, on the way out. */
static void test_deep_nesting(void **state)
{
    (void)state;
    enum { LEVELS = 40 };
    uint32_t y[2] = {0};
    unsigned next = 7;
    ls__strbuf body = {0};
    fixture f;

    ls__strbuf_printf(&body, "  %%5 = const 1 : i32\n  %%6 = eq %%1, %%5 : bool\n");
    for (unsigned i = 0; i < LEVELS; i++, next += 3)
        ls__strbuf_printf(&body,
                          "  block {\n  %%%u = const true : bool\n  if %%%u {\n  loop {\n"
                          "  %%%u = get v1 : i32\n  %%%u = add %%%u, %%5 : i32\n  set v1, %%%u\n"
                          "  store u32 buffer 0 [%%4], %%%u\n",
                          next, next, next + 1, next + 2, next + 1, next + 2, next + 2);
    ls__strbuf_printf(&body, "  if %%6 {\n  return\n  }\n");
    for (unsigned i = 0; i < LEVELS; i++, next += 2)
        ls__strbuf_printf(&body,
                          "  break\n  }\n  %%%u = get v1 : i32\n  %%%u = add %%%u, %%5 : i32\n"
                          "  set v1, %%%u\n  store u32 buffer 0 [%%4], %%%u\n  break\n  }\n  }\n",
                          next, next + 1, next, next + 1, next + 1);
    load_kernel(&f, "workgroup(2, 1, 1)", "  buffer y : u32 size 4 align 4\n  var v1 n : i32\n",
                body.text);
    ls__strbuf_finish(&body);
    bind(&f, 0, y, sizeof y);
    f.launch.global_size[0] = 2;
    run(&f);
    assert_int_equal(y[0], 2 * LEVELS);
    assert_int_equal(y[1], LEVELS);
    finish(&f);
}

/* --- calls ------------------------------------------------------------------------------------ */

static const char callees[] = "function @inner -> i32 {\n"
                              "  scalar narrow : u8 size 1 align 1 at 0\n"
                              "  buffer z : u32 size 4 align 4\n"
                              "  local t size 4 align 4\n"
                              "  var v1 old : i32\n"
                              "  %1 = const 0 : i64\n"
                              "  %2 = load u32 local 0 [%1] : i32\n" /* 0 in every call */
                              "  %3 = param u8 0 : i32\n"
                              "  %4 = get v1 : i32\n" /* 0 in every call */
                              "  %5 = add %3, %2 : i32\n"
                              "  %6 = add %5, %4 : i32\n"
                              "  store u32 local 0 [%1], %6\n"
                              "  set v1, %6\n"
                              "  store u32 buffer 0 [%1], %6\n"
                              "  return %6\n"
                              "}\n"
                              "function @outer -> i32, i64 {\n"
                              "  scalar a : i32 size 4 align 4 at 0\n"
                              "  scalar b : i64 size 8 align 8 at 8\n"
                              "  buffer p : u32 size 4 align 4\n"
                              "  buffer q : u32 size 4 align 4\n"
                              "  var v1 r : i32\n"
                              "  %1 = param i32 0 : i32\n"
                              "  %2 = param i64 8 : i64\n"
                              "  call @inner (%1) [buffer 1] -> v1\n"
                              "  call @inner (%1) [buffer 1] -> v1\n"
                              "  %3 = get v1 : i32\n"
                              "  return %3, %2\n"
                              "}\n";

static void test_calls(void **state)
{
    (void)state;
    uint32_t y[1] = {0}, z[2] = {7, 7};
    uint64_t w[1] = {0};
    fixture f;
    load_kernel_with(&f, "workgroup(1, 1, 1)",
                     "  buffer y : u32 size 4 align 4\n  buffer z : u32 size 4 align 4\n"
                     "  buffer w : u64 size 8 align 8\n  var v1 r : i32\n  var v2 s : i64\n",
                     "  %5 = const 511 : i32\n  %6 = const -5 : i64\n"
                     "  call @outer (%5, %6) [buffer 0, buffer 1] -> v1, v2\n"
                     "  %7 = get v1 : i32\n  %8 = get v2 : i64\n"
                     "  store u32 buffer 0 [%4], %7\n  store u64 buffer 2 [%3], %8\n",
                     callees);
    bind(&f, 0, y, sizeof y);
    bind(&f, 1, z, sizeof z);
    bind(&f, 2, w, sizeof w);
    run(&f);
    assert_int_equal(y[0], 255); /* cut to u8, and no trace of the first call */
    assert_int_equal(z[0], 255); /* the kernel's second buffer, through two calls */
    assert_int_equal(z[1], 7);
    assert_true(w[0] == (uint64_t)-5);
    finish(&f);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void test_out_of_bounds(void **state)
{
    (void)state;
    uint32_t y[6] = {1, 2, 3, 4, 5, 6}; /* bound: 3 elements and 2 bytes; the rest is guard */
    uint32_t z[8];
    fixture f;
    /* z[i] = y[i]; then y[i] = 9, for i = 0..7, and also at -4 and at LS_NOWHERE. */
    load_kernel(&f, "workgroup(8, 1, 1)",
                "  buffer y : u32 size 4 align 4\n  buffer z : u32 size 4 align 4\n",
                "  %5 = load u32 buffer 0 [%4] : i32\n"
                "  store u32 buffer 1 [%4], %5\n"
                "  %6 = const 9 : i32\n"
                "  store u32 buffer 0 [%4], %6\n"
                "  %7 = const -4 : i64\n"
                "  store u32 buffer 0 [%7], %6\n"
                "  %8 = index %3, %7 stride 4 count 4 : i64\n"
                "  store u32 buffer 0 [%8], %6\n");
    memset(z, 0xee, sizeof z);
    bind(&f, 0, y, 14);
    bind(&f, 1, z, sizeof z);
    f.launch.global_size[0] = 8;
    run(&f);
    assert_memory_equal(z, ((uint32_t[]){1, 2, 3, 0, 0, 0, 0, 0}), sizeof z);
    assert_memory_equal(y, ((uint32_t[]){9, 9, 9, 4, 5, 6}), sizeof y);
    assert_int_equal(f.report_count, 0); /* nobody asked */
    finish(&f);
}

/* Every memory type: loaded, extended to its value type, stored; one byte more than the range. */
static void test_memory_types(void **state)
{
    (void)state;
    static const struct {
        const char *mem, *type;
        uint64_t bits, expected; /* expected: the loaded value as i64, sign-extended from i32 */
        unsigned bytes;
    } cases[] = {
        {"i8", "i32", 0x80, (uint64_t)-128, 1},
        {"u8", "i32", 0x80, 0x80, 1},
        {"i16", "i32", 0x8001, (uint64_t)-32767, 2},
        {"u16", "i32", 0x8001, 0x8001, 2},
        {"i32", "i32", 0x80000001, 0xffffffff80000001, 4},
        {"u32", "i32", 0x80000001, 0xffffffff80000001, 4},
        {"i64", "i64", 0x8000000000000001, 0x8000000000000001, 8},
        {"u64", "i64", 0x8000000000000001, 0x8000000000000001, 8},
        {"f16", "i32", 0x3c00, 0x3c00, 2},
        {"bf16", "i32", 0x3f80, 0x3f80, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char declarations[160], body[320];
        uint8_t source[9] = {0}, target[9];
        uint64_t wide = 0;
        fixture f;
        const char *mem = cases[i].mem;
        bool is_wide = strcmp(cases[i].type, "i64") == 0;
        snprintf(declarations, sizeof declarations,
                 "  buffer x : %s size %u align %u\n  buffer y : %s size %u align %u\n"
                 "  buffer w : u64 size 8 align 8\n",
                 mem, cases[i].bytes, cases[i].bytes, mem, cases[i].bytes, cases[i].bytes);
        snprintf(body, sizeof body,
                 "  %%5 = load %s buffer 0 [%%3] : %s\n  store %s buffer 1 [%%3], %%5\n%s"
                 "  store u64 buffer 2 [%%3], %s\n",
                 mem, cases[i].type, mem, is_wide ? "" : "  %6 = sext %5 : i64\n",
                 is_wide ? "%5" : "%6");
        load_kernel(&f, "workgroup(1, 1, 1)", declarations, body);
        memcpy(source, &cases[i].bits, 8);
        memset(target, 0xee, sizeof target);
        bind(&f, 0, source, cases[i].bytes);
        bind(&f, 1, target, cases[i].bytes);
        bind(&f, 2, &wide, sizeof wide);
        run(&f);
        assert_memory_equal(target, source, cases[i].bytes);
        assert_int_equal(target[cases[i].bytes], 0xee); /* the neighbour is not disturbed */
        assert_true(wide == cases[i].expected);
        finish(&f);
    }
}

/* A plain copy of floats stores the one NaN; the raw flag and integers move bits. */
static void test_nan_rule(void **state)
{
    (void)state;
    uint32_t x[2] = {0xffc12345, 0x7f800001}, y[2], z[2], w[2];
    uint16_t h[2] = {0xfe01, 0x7c01}, g[2];
    fixture f;
    load_kernel(&f, "workgroup(2, 1, 1)",
                "  buffer x : f32 size 4 align 4\n  buffer y : f32 size 4 align 4\n"
                "  buffer z : f32 size 4 align 4\n  buffer h : f16 size 2 align 2\n",
                "  %5 = load f32 buffer 0 [%4] : f32\n"
                "  store f32 buffer 1 [%4], %5\n"
                "  store f32 buffer 2 [%4], %5 raw\n"
                "  %6 = index %3, %2 stride 2 count 0 : i64\n"
                "  %7 = load f16 buffer 3 [%6] : i32\n"
                "  store f16 buffer 3 [%6], %7\n");
    memcpy(w, x, sizeof w);
    bind(&f, 0, x, sizeof x);
    bind(&f, 1, y, sizeof y);
    bind(&f, 2, z, sizeof z);
    bind(&f, 3, h, sizeof h);
    f.launch.global_size[0] = 2;
    run(&f);
    memcpy(g, h, sizeof g);
    assert_memory_equal(y, ((uint32_t[]){0x7fc00000, 0x7fc00000}), sizeof y);
    assert_memory_equal(z, w, sizeof z);
    assert_memory_equal(g, ((uint16_t[]){0x7e00, 0x7e00}), sizeof g);
    finish(&f);
}

static void test_atomics(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        uint32_t start, operand, expected; /* by two lanes, each with this operand */
    } cases[] = {
        {"add", 0xffffffff, 3, 5},
        {"smin", 1, 0xfffffffe, 0xfffffffe},
        {"smax", 0xfffffffe, 1, 1},
        {"umin", 0xfffffffe, 1, 1},
        {"umax", 1, 0xfffffffe, 0xfffffffe},
        {"and", 0xff, 0x3c, 0x3c},
        {"or", 0x01, 0x30, 0x31},
        {"xor", 5, 3, 5},
        {"xchg", 5, 3, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[200];
        uint32_t y[2] = {cases[i].start, 77};
        fixture f;
        snprintf(body, sizeof body,
                 "  %%5 = const %d : i32\n"
                 "  %%6 = atomic %s u32 buffer 0 [%%3], %%5 : i32\n"
                 "  %%7 = const 6 : i64\n" /* out of range: 0 and no effect */
                 "  %%8 = atomic %s u32 buffer 0 [%%7], %%5 : i32\n",
                 (int32_t)cases[i].operand, cases[i].kind, cases[i].kind);
        load_kernel(&f, "workgroup(2, 1, 1) unordered", y_u32, body);
        bind(&f, 0, y, sizeof y);
        f.launch.global_size[0] = 2;
        run(&f);
        assert_int_equal(y[0], cases[i].expected);
        assert_int_equal(y[1], 77);
        finish(&f);
    }
}

static void test_compare_exchange(void **state)
{
    (void)state;
    uint64_t y[3] = {10, 0, 0};
    fixture f;
    load_kernel(&f, "workgroup(1, 1, 1) unordered", "  buffer y : u64 size 8 align 8\n",
                "  %5 = const 10 : i64\n  %6 = const -1 : i64\n  %7 = const 8 : i64\n"
                "  %8 = const 16 : i64\n"
                "  %9 = atomic_cas u64 buffer 0 [%3], %5, %6 : i64\n"
                "  store u64 buffer 0 [%7], %9\n"
                "  %10 = atomic_cas u64 buffer 0 [%3], %5, %8 : i64\n"
                "  store u64 buffer 0 [%8], %10\n");
    bind(&f, 0, y, sizeof y);
    run(&f);
    assert_true(y[0] == UINT64_MAX && y[1] == 10 && y[2] == UINT64_MAX);
    finish(&f);
}

static void test_tables_and_ranges(void **state)
{
    (void)state;
    uint32_t y[4] = {0};
    fixture f;
    load_kernel_with(&f, "workgroup(4, 1, 1)",
                     "  buffer y : u32 size 4 align 4\n  shared s size 24 align 4\n"
                     "  local t size 12 align 4\n",
                     "  %5 = load u32 const 0 [%4] : i32\n"
                     "  %6 = range buffer 0 : i64\n  %7 = range shared 0 : i64\n"
                     "  %8 = range local 0 : i64\n  %9 = range const 0 : i64\n"
                     "  %10 = add %6, %7 : i64\n  %11 = add %10, %8 : i64\n"
                     "  %12 = add %11, %9 : i64\n  %13 = trunc %12 : i32\n"
                     "  %14 = add %13, %5 : i32\n"
                     "  store u32 buffer 0 [%4], %14\n",
                     "table t align 4 {\n  010000000200000003000000\n}\n");
    bind(&f, 0, y, sizeof y);
    f.launch.global_size[0] = 4;
    run(&f);
    assert_memory_equal(y, ((uint32_t[]){65, 66, 67, 64}), sizeof y); /* 16 + 24 + 12 + 12 + t[i] */
    finish(&f);
}

/* --- traps, environment, cancellation
 * ------------------------------------------------------------- */

/* Lanes 2, 3, 6 and 7 trap with 100 + id, then with 9; every lane goes on and stores. */
static void test_traps(void **state)
{
    (void)state;
    static const ls__interp_schedule schedules[] = {LS__INTERP_ASCENDING, LS__INTERP_REVERSE,
                                                    LS__INTERP_SEED};
    uint32_t y[8];
    fixture f;
    load_kernel(&f, "workgroup(4, 1, 1)", y_u32,
                "  %5 = const 2 : i32\n  %6 = and %1, %5 : i32\n  %7 = eq %6, %5 : bool\n"
                "  if %7 {\n    %8 = const 100 : i32\n    %9 = add %1, %8 : i32\n    trap %9\n"
                "    %10 = const 9 : i32\n    trap %10\n  }\n"
                "  store u32 buffer 0 [%4], %1\n");
    for (size_t i = 0; i < 3; i++) {
        memset(y, 0, sizeof y);
        bind(&f, 0, y, sizeof y);
        f.launch.global_size[0] = 8;
        f.launch.schedule = schedules[i];
        f.launch.seed = 5;
        run(&f);
        assert_true(f.result.trapped);
        assert_int_equal(f.result.trap_code, 102);
        assert_int_equal(f.result.trap_workgroup, 0);
        assert_int_equal(f.result.trap_lane, 2);
        assert_memory_equal(y, ((uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7}), sizeof y);
    }
    f.launch.global_size[0] = 1; /* still a whole workgroup */
    run(&f);
    assert_int_equal(f.result.trap_lane, 2);
    finish(&f);
}

/* y[i] = bits of: x / 3, x * x, x * 0.5 (f32), and f64 sum to f32, for awkward x. */
static const char awkward_body[] =
    "  %5 = load f32 buffer 0 [%4] : f32\n"
    "  %6 = const 3.0 : f32\n  %7 = fdiv %5, %6 : f32\n"
    "  %8 = const 0.5 : f32\n  %9 = fmul %5, %8 : f32\n"
    "  %10 = f2f %5 : f64\n  %11 = f2f %7 : f64\n  %12 = fadd %10, %11 : f64\n"
    "  %13 = f2f %12 : f32\n  %14 = fadd %9, %13 : f32\n"
    "  store f32 buffer 1 [%4], %7\n  store f32 buffer 2 [%4], %9\n"
    "  store f32 buffer 3 [%4], %14\n";

enum { AWKWARD = 6 };

static void run_awkward(fixture *f, uint32_t y[3][AWKWARD])
{
    static uint32_t x[AWKWARD] = {0x3f800000, 0x00000001, 0x007fffff,
                                  0x80800001, 0x7f7fffff, 0xbf99999a};
    bind(f, 0, x, sizeof x);
    for (unsigned i = 0; i < 3; i++)
        bind(f, 1 + i, y[i], sizeof y[i]);
    f->launch.global_size[0] = AWKWARD;
    run(f);
}

static void test_caller_environment(void **state)
{
    (void)state;
    uint32_t expected[3][AWKWARD] = {{0}}, got[3][AWKWARD] = {{0}};
    fixture f;
    load_kernel(&f, "workgroup(1, 1, 1)",
                "  buffer x : f32 size 4 align 4\n  buffer a : f32 size 4 align 4\n"
                "  buffer b : f32 size 4 align 4\n  buffer c : f32 size 4 align 4\n",
                awkward_body);
    run_awkward(&f, expected);
    assert_int_equal(expected[0][0], 0x3eaaaaab); /* 1/3 to nearest */
    assert_int_equal(expected[1][2], 0x00400000); /* half of a subnormal, tie to even */

    assert_int_equal(fesetround(FE_UPWARD), 0);
#if defined(__x86_64__)
    unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | 0x8040); /* flush to zero, denormals are zero */
#endif
    run_awkward(&f, got);
#if defined(__x86_64__)
    unsigned after = _mm_getcsr();
    _mm_setcsr(csr);
    assert_int_equal(after & 0xffc0, (csr | 0x8040) & 0xffc0);
#endif
    int rounding = fegetround();
    fesetround(FE_TONEAREST);
    assert_int_equal(rounding, FE_UPWARD);
    assert_memory_equal(got, expected, sizeof got);
    finish(&f);
}

static void *set_after_a_while(void *cancel)
{
    ls__os_sleep_ns(20 * 1000 * 1000);
    atomic_store((atomic_int *)cancel, 1);
    return NULL;
}

static void run_cancelled(const char *body)
{
    fixture f;
    pthread_t thread;
    atomic_int cancel = 0;
    load_kernel(&f, "workgroup(4, 1, 1)", y_u32, body);
    bind(&f, 0, NULL, 0);
    f.launch.cancel = &cancel;
    assert_int_equal(pthread_create(&thread, NULL, set_after_a_while, &cancel), 0);
    assert_int_equal(try_run(&f), LS_E_CANCELLED);
    pthread_join(thread, NULL);
    finish(&f);
}

static void test_cancel(void **state)
{
    (void)state;
    run_cancelled("  loop {\n  }\n");
    run_cancelled("  loop {\n    continue\n  }\n");
    run_cancelled("  loop {\n  } step {\n    %5 = const true : bool\n    while %5\n  }\n");
    run_cancelled("  loop {\n    barrier\n  }\n");
}

/* Cancelled before it begins: nothing runs. */
static void test_cancelled_at_start(void **state)
{
    (void)state;
    uint32_t y[1] = {5};
    atomic_int cancel = 1;
    fixture f;
    load_kernel(&f, "workgroup(1, 1, 1)", y_u32, "  store u32 buffer 0 [%4], %1\n");
    bind(&f, 0, y, sizeof y);
    f.launch.cancel = &cancel;
    assert_int_equal(try_run(&f), LS_E_CANCELLED);
    assert_int_equal(y[0], 5);
    assert_int_equal(f.result.workgroups_run, 0);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_control_flow),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_memory_types),
        cmocka_unit_test(test_nan_rule),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_compare_exchange),
        cmocka_unit_test(test_tables_and_ranges),
        cmocka_unit_test(test_traps),
        cmocka_unit_test(test_caller_environment),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancelled_at_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
