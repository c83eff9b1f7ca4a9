/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sanitizer and the C-undefined flags: for every kind of report a kernel that has the fault,
 * with everything the report must say, and beside it one that is clean.
 */
#include "harness.h"

#define U32_BUFFER(name) "  buffer " name " : u32 size 4 align 4\n"
#define SHARED "  shared s size 64 align 4\n"
/* %5 = local index l; %6, %7 = offsets of the u32 elements l and l ^ 1; %8 = 1; %9 = (l == 0); each
 * element of s that a lane will look at has been written, and a barrier passed. */
#define PARTNERS                                                                                   \
    "  %5 = id local_index 0 : i32\n  %8 = const 1 : i32\n  %10 = zext %5 : i64\n"                 \
    "  %11 = xor %5, %8 : i32\n  %12 = zext %11 : i64\n  %13 = const 0 : i32\n"                    \
    "  %6 = index %3, %10 stride 4 count 0 : i64\n  %7 = index %3, %12 stride 4 count 0 : i64\n"   \
    "  %9 = eq %5, %13 : bool\n  store u32 shared 0 [%6], %8\n  barrier\n"

typedef struct expected {
    ls__interp_report_kind kind;
    uint32_t line, workgroup, lane;
    const char *object;
    int64_t offset, index;
    const char *detail;
    uint32_t other_workgroup, other_lane, other_line; /* races */
} expected;

static void check_report(const fixture *f, unsigned i, expected e)
{
    const ls__interp_report *report = &f->reports[i];
    assert_true(i < f->report_count);
    assert_int_equal(report->kind, e.kind);
    assert_string_equal(report->kernel->name, "k");
    assert_int_equal(report->inst->loc.line, e.line);
    assert_memory_equal(report->workgroup, ((uint32_t[]){e.workgroup, 0, 0}), 12);
    assert_int_equal(report->lane, e.lane);
    assert_string_equal(report->object, e.object);
    assert_true(report->offset == e.offset);
    assert_true(report->index == e.index);
    assert_string_equal(report->detail, e.detail);
    assert_memory_equal(report->other_workgroup, ((uint32_t[]){e.other_workgroup, 0, 0}), 12);
    assert_int_equal(report->other_lane, e.other_lane);
    assert_int_equal(report->other_loc.line, e.other_line);
}

/* Loads, runs on two workgroups of four lanes under the sanitizer with two zeroed buffers of 32
 * bytes, all written. */
static void run_sanitized(fixture *f, const char *head, const char *declarations, const char *body)
{
    static uint8_t memory[2][32];
    load_kernel(f, head, declarations, body);
    memset(memory, 0, sizeof memory);
    bind(f, 0, memory[0], sizeof memory[0]);
    bind(f, 1, memory[1], sizeof memory[1]);
    f->launch.global_size[0] = 8;
    f->launch.sanitize = true;
    run(f);
    assert_int_equal(f->result.report_count, f->report_count);
}

static void expect_clean(const char *head, const char *declarations, const char *body)
{
    fixture f;
    run_sanitized(&f, head, declarations, body);
    if (f.report_count)
        fail_msg("line %u: %s, %s", f.reports[0].inst->loc.line, f.reports[0].object,
                 f.reports[0].detail);
    finish(&f);
}

static void expect_one(const char *head, const char *declarations, const char *body, expected e)
{
    fixture f;
    run_sanitized(&f, head, declarations, body);
    check_report(&f, 0, e);
    assert_int_equal(f.report_count, 1);
    finish(&f);
}

/* --- bounds ----------------------------------------------------------------------------------- */

static void test_out_of_bounds(void **state)
{
    (void)state;
    static const char head[] = "workgroup(4, 1, 1)";
    /* 32 bytes are 8 elements: y[id + 2] fails first for id 6. */
    expect_one(head, U32_BUFFER("x") U32_BUFFER("y"),
               "  %5 = const 2 : i64\n  %6 = add %2, %5 : i64\n"
               "  %7 = index %3, %6 stride 4 count 0 : i64\n"
               "  %8 = load u32 buffer 1 [%7] : i32 !11:2\n",
               (expected){LS__INTERP_OUT_OF_BOUNDS_LOAD, 11, 1, 2, "y", 32, 8,
                          "access out of bounds", 0, 0, 0});
    expect_one(head, U32_BUFFER("x") U32_BUFFER("y"),
               "  %5 = const 1 : i64\n  %6 = sub %2, %5 : i64\n"
               "  %7 = index %3, %6 stride 4 count 0 : i64\n"
               "  store u32 buffer 0 [%7], %1 !12:3\n",
               (expected){LS__INTERP_OUT_OF_BOUNDS_STORE, 12, 0, 0, "x", -4, -1,
                          "access out of bounds", 0, 0, 0});
    /* The last byte but one of the range. */
    expect_one(head, U32_BUFFER("x"),
               "  %5 = const 29 : i64\n  %6 = atomic add u32 buffer 0 [%5], %1 : i32 !13:3\n",
               (expected){LS__INTERP_OUT_OF_BOUNDS_STORE, 13, 0, 0, "x", 29, 7,
                          "access out of bounds", 0, 0, 0});
    expect_clean(head, U32_BUFFER("x"),
                 "  %5 = load u32 buffer 0 [%4] : i32\n  store u32 buffer 0 [%4], %5\n");
}

/* A subscript beyond its own array's length is reported as that subscript. */
static void test_subscript_of_array(void **state)
{
    (void)state;
    expect_one("workgroup(4, 1, 1)", U32_BUFFER("x") "  local t size 64 align 4\n",
               "  %5 = index %3, %2 stride 16 count 4 : i64\n" /* t[id][0] of u32 t[4][4] */
               "  %6 = index %5, %3 stride 4 count 4 : i64\n"
               "  store u32 local 0 [%6], %1 !8:1\n",
               (expected){LS__INTERP_OUT_OF_BOUNDS_STORE, 8, 1, 0, "t", LS_NOWHERE, 4,
                          "access out of bounds", 0, 0, 0});
    expect_clean("workgroup(4, 1, 1)", U32_BUFFER("x") "  local t size 128 align 4\n",
                 "  %5 = index %3, %2 stride 16 count 8 : i64\n"
                 "  store u32 local 0 [%5], %1 !8:1\n");
}

/* The index is in elements of the buffer, here structs of 12 bytes. */
static void test_index_of_struct(void **state)
{
    (void)state;
    expect_one("workgroup(4, 1, 1)", "  buffer x : struct size 12 align 4 type \"struct v\"\n",
               "  %5 = index %3, %2 stride 12 count 0 : i64\n  %6 = const 8 : i64\n"
               "  %7 = add %5, %6 : i64\n  %8 = load f32 buffer 0 [%7] : f32 !3:3\n",
               (expected){LS__INTERP_OUT_OF_BOUNDS_LOAD, 3, 0, 2, "x", 32, 2,
                          "access out of bounds", 0, 0, 0});
}

/* A kernel with a race as well: only the access out of bounds is reported. */
static void test_check_bounds_alone(void **state)
{
    (void)state;
    uint8_t memory[32] = {0};
    fixture f;
    load_kernel(&f, "workgroup(4, 1, 1)", U32_BUFFER("x"),
                "  %5 = const 8 : i64\n  %6 = index %3, %5 stride 4 count 0 : i64\n"
                "  %7 = const 1 : i32\n  store u32 buffer 0 [%3], %7 !4:5\n"
                "  store u32 buffer 0 [%6], %7 !5:5\n");
    bind(&f, 0, memory, sizeof memory);
    f.launch.global_size[0] = 8;
    run(&f);
    assert_int_equal(f.report_count, 0);
    f.launch.check_bounds = true;
    run(&f);
    assert_int_equal(f.report_count, 1);
    check_report(&f, 0,
                 (expected){LS__INTERP_OUT_OF_BOUNDS_STORE, 5, 0, 0, "x", 32, 8,
                            "access out of bounds", 0, 0, 0});
    assert_int_equal(f.reports[0].object_count, 8);
    finish(&f);
}

/* --- races between lanes
 * --------------------------------------------------------------------------- */

static const char four[] = "workgroup(4, 1, 1)";
static const char objects[] = U32_BUFFER("x") U32_BUFFER("y") SHARED;

static void expect_two(const char *body, expected first, expected second)
{
    fixture f;
    run_sanitized(&f, four, objects, body);
    check_report(&f, 0, first);
    check_report(&f, 1, second);
    assert_int_equal(f.report_count, 2);
    finish(&f);
}

static void test_writes_of_one_value(void **state)
{
    (void)state;
    expect_one(four, objects, "  %5 = const 1 : i32\n  store u32 shared 0 [%3], %5 !4:5\n",
               (expected){LS__INTERP_RACE_LANES, 4, 0, 1, "s", 0, 0, "write after write", 0, 0, 4});
    expect_two(
        "  %5 = const 1 : i32\n  store u32 buffer 1 [%3], %5 !4:5\n",
        (expected){LS__INTERP_RACE_LANES, 4, 0, 1, "y", 0, 0, "write after write", 0, 0, 4},
        (expected){LS__INTERP_RACE_WORKGROUPS, 4, 1, 0, "y", 0, 0, "write after write", 0, 0, 4});
    expect_clean(four, objects, PARTNERS "  if %9 {\n    store u32 shared 0 [%3], %8\n  }\n");
}

static void test_missing_barrier(void **state)
{
    (void)state;
    expect_two(PARTNERS "  store u32 shared 0 [%6], %8 !5:1\n"
                        "  %14 = load u32 shared 0 [%7] : i32 !6:1\n",
               (expected){LS__INTERP_RACE_LANES, 5, 0, 1, "s", 4, 1, "write after read", 0, 0, 6},
               (expected){LS__INTERP_RACE_LANES, 6, 0, 1, "s", 0, 0, "read after write", 0, 0, 5});
    expect_clean(four, objects,
                 PARTNERS "  store u32 shared 0 [%6], %8\n  barrier\n"
                          "  %14 = load u32 shared 0 [%7] : i32\n");
}

/* Subgroup operations and workgroup_uniform() let lanes wait for each other, but order no
 * memory. */
static void test_exchange_orders_no_memory(void **state)
{
    (void)state;
    static const char head[] = "workgroup(32, 1, 1)";
    static const char large[] = U32_BUFFER("x") "  shared s size 128 align 4\n";
    expect_one(head, large,
               PARTNERS "  store u32 shared 0 [%6], %8 !5:1\n  %14 = sg_ballot %9 : i32\n"
                        "  %15 = load u32 shared 0 [%7] : i32 !7:1\n",
               (expected){LS__INTERP_RACE_LANES, 7, 0, 0, "s", 4, 1, "read after write", 0, 1, 5});
    expect_one(four, objects,
               PARTNERS "  store u32 shared 0 [%6], %8 !5:1\n  %14 = wg_uniform %8 : i32\n"
                        "  %15 = load u32 shared 0 [%7] : i32 !7:1\n",
               (expected){LS__INTERP_RACE_LANES, 7, 0, 0, "s", 4, 1, "read after write", 0, 1, 5});
    expect_clean(head, large,
                 PARTNERS "  store u32 shared 0 [%6], %8\n  barrier\n  %14 = sg_ballot %9 : i32\n"
                          "  %15 = load u32 shared 0 [%7] : i32\n");
}

/* The writer was the first of several readers; the race is with another of them. */
static void test_write_after_reads_of_several(void **state)
{
    (void)state;
    expect_one(four, objects,
               PARTNERS "  %14 = load u32 shared 0 [%3] : i32 !5:1\n"
                        "  %15 = wg_uniform %8 : i32\n"
                        "  if %9 {\n    store u32 shared 0 [%3], %8 !6:1\n  }\n",
               (expected){LS__INTERP_RACE_LANES, 6, 0, 0, "s", 0, 0, "write after read", 0, 1, 5});
}

static void test_atomics_race_with_plain(void **state)
{
    (void)state;
    expect_two(PARTNERS "  %14 = atomic add u32 shared 0 [%3], %8 : i32 !5:1\n"
                        "  %15 = load u32 shared 0 [%3] : i32 !6:1\n",
               (expected){LS__INTERP_RACE_LANES, 5, 0, 1, "s", 0, 0, "atomic after read", 0, 0, 6},
               (expected){LS__INTERP_RACE_LANES, 6, 0, 1, "s", 0, 0, "read after atomic", 0, 0, 5});
    expect_two(
        PARTNERS "  store u32 shared 0 [%3], %8 !5:1\n"
                 "  %14 = atomic add u32 shared 0 [%3], %8 : i32 !6:1\n",
        (expected){LS__INTERP_RACE_LANES, 5, 0, 1, "s", 0, 0, "write after write", 0, 0, 5},
        (expected){LS__INTERP_RACE_LANES, 6, 0, 1, "s", 0, 0, "atomic after write", 0, 0, 5});
    expect_clean(four, objects,
                 PARTNERS "  %14 = atomic add u32 shared 0 [%3], %8 : i32\n  barrier\n"
                          "  %15 = load u32 shared 0 [%3] : i32\n");
    /* Between workgroups as well; y is one counter for all. */
    expect_clean(four, objects, "  %5 = atomic add u32 buffer 1 [%3], %1 : i32\n");
}

/* Races are of bytes: neighbours in a word are none, an overlap of one byte is. */
static void test_races_of_bytes(void **state)
{
    (void)state;
    expect_clean(four, objects, "  store u8 buffer 0 [%2], %1\n");
    expect_two(
        "  store u16 buffer 0 [%2], %1 !3:1\n",
        (expected){LS__INTERP_RACE_LANES, 3, 0, 1, "x", 1, 0, "write after write", 0, 0, 3},
        (expected){LS__INTERP_RACE_WORKGROUPS, 3, 1, 0, "x", 4, 1, "write after write", 0, 3, 3});
}

/* --- races between workgroups
 * ----------------------------------------------------------------------- */

/* %6 = lane 0 of workgroup 0, %7 = lane 0 of workgroup 1 */
#define LEADERS                                                                                    \
    "  %8 = const 0 : i32\n  %6 = eq %1, %8 : bool\n  %9 = const 4 : i32\n"                        \
    "  %7 = eq %1, %9 : bool\n"

static void test_race_between_workgroups(void **state)
{
    (void)state;
    static const char racy[] = LEADERS "  if %6 {\n    store u32 buffer 1 [%3], %9 !5:1\n  }\n"
                                       "  barrier\n"
                                       "  if %7 {\n    store u32 buffer 1 [%3], %9 !6:1\n  }\n";
    fixture f;
    expect_one(
        four, objects, racy,
        (expected){LS__INTERP_RACE_WORKGROUPS, 6, 1, 0, "y", 0, 0, "write after write", 0, 0, 5});
    expect_clean(four, objects,
                 LEADERS "  if %6 {\n    store u32 buffer 1 [%3], %9\n  }\n  grid_barrier\n"
                         "  if %7 {\n    store u32 buffer 1 [%3], %9\n  }\n");
    run_sanitized(&f, four, objects, racy);
    f.launch.schedule = LS__INTERP_REVERSE;
    run(&f);
    check_report(
        &f, 0,
        (expected){LS__INTERP_RACE_WORKGROUPS, 5, 0, 0, "y", 0, 0, "write after write", 1, 0, 6});
    finish(&f);
}

/* y[id] is read and y[id ^ 4], of the other workgroup, written. */
static void test_reads_of_other_workgroup(void **state)
{
    (void)state;
    expect_two(
        "  %5 = const 4 : i64\n  %6 = xor %2, %5 : i64\n"
        "  %7 = index %3, %6 stride 4 count 0 : i64\n"
        "  %8 = load u32 buffer 1 [%4] : i32 !5:1\n"
        "  store u32 buffer 1 [%7], %8 !6:1\n",
        (expected){LS__INTERP_RACE_WORKGROUPS, 5, 1, 0, "y", 16, 4, "read after write", 0, 0, 6},
        (expected){LS__INTERP_RACE_WORKGROUPS, 6, 1, 0, "y", 0, 0, "write after read", 0, 0, 5});
    expect_clean(four, objects,
                 "  %5 = load u32 buffer 1 [%3] : i32\n"
                 "  store u32 buffer 0 [%4], %5\n");
}

/* Two parameters bound to overlapping ranges of one buffer. */
static void test_race_across_parameters(void **state)
{
    (void)state;
    uint8_t memory[48] = {0};
    fixture f;
    load_kernel(&f, four, U32_BUFFER("x") U32_BUFFER("y"),
                "  %5 = load u32 buffer 1 [%4] : i32 !5:1\n"
                "  store u32 buffer 0 [%4], %5 !6:1\n");
    f.bindings[0] = (ls__interp_binding){memory + 4, 32, 5, 4, NULL};
    f.bindings[1] = (ls__interp_binding){memory, 16, 5, 0, NULL};
    f.launch.global_size[0] = 4;
    f.launch.sanitize = true;
    run(&f); /* lane i writes byte 4i + 4, which lane i + 1 reads after it */
    assert_int_equal(f.report_count, 1);
    check_report(
        &f, 0, (expected){LS__INTERP_RACE_LANES, 5, 0, 1, "y", 4, 1, "read after write", 0, 0, 6});
    f.bindings[1].identity = 6; /* another buffer: no race */
    run(&f);
    assert_int_equal(f.report_count, 0);
    f.bindings[0].offset = 32; /* the same buffer, apart */
    f.bindings[1].identity = 5;
    run(&f);
    assert_int_equal(f.report_count, 0);
    finish(&f);
}

/* Inside a noinline function the report names the kernel and the kernel's buffer. */
static void test_report_in_callee(void **state)
{
    (void)state;
    uint8_t memory[2][32] = {{0}};
    fixture f;
    load_kernel_with(&f, four, U32_BUFFER("x") U32_BUFFER("y"), "  call @f () [buffer 1]\n",
                     "function @f {\n  buffer p : u32 size 4 align 4\n  %1 = const 12 : i64\n"
                     "  %2 = const 1 : i32\n  store u32 buffer 0 [%1], %2 !30:4\n}\n");
    bind(&f, 0, memory[0], sizeof memory[0]);
    bind(&f, 1, memory[1], sizeof memory[1]);
    f.launch.global_size[0] = 4;
    f.launch.sanitize = true;
    run(&f);
    assert_int_equal(f.report_count, 1);
    check_report(
        &f, 0,
        (expected){LS__INTERP_RACE_LANES, 30, 0, 1, "y", 12, 3, "write after write", 0, 0, 30});
    finish(&f);
}

/* --- unwritten memory
 * --------------------------------------------------------------------------------- */

static void test_unwritten_buffer(void **state)
{
    (void)state;
    uint8_t memory[32] = {0}, written[32] = {0};
    fixture f;
    load_kernel(&f, four, U32_BUFFER("x"),
                "  %5 = load u32 buffer 0 [%4] : i32 !5:1\n  store u32 buffer 0 [%4], %5\n"
                "  %6 = load u32 buffer 0 [%4] : i32 !7:1\n");
    bind(&f, 0, memory, sizeof memory);
    f.bindings[0].written = written;
    memset(written, 1, 10); /* two elements and half of the third */
    f.launch.global_size[0] = 8;
    f.launch.sanitize = true;
    run(&f);
    assert_int_equal(f.report_count, 1);
    check_report(&f, 0,
                 (expected){LS__INTERP_UNWRITTEN_READ, 5, 0, 2, "x", 8, 2, "read before any write",
                            0, 0, 0});
    assert_null(memchr(written, 0, sizeof written)); /* the kernel has written all of it */
    run(&f);
    assert_int_equal(f.report_count, 0);
    memset(written, 0, sizeof written);
    f.launch.sanitize = false; /* writes are noted all the same */
    run(&f);
    assert_int_equal(f.report_count, 0);
    assert_null(memchr(written, 0, sizeof written));
    finish(&f);
}

static void test_unwritten_shared_and_local(void **state)
{
    (void)state;
    static const char with_local[] = U32_BUFFER("x") SHARED "  local t size 16 align 4\n"
                                                            "  var v1 v : i32\n";
    expect_one(four, with_local, "  %5 = load u32 shared 0 [%3] : i32 !5:1\n",
               (expected){LS__INTERP_UNWRITTEN_READ, 5, 0, 0, "s", 0, 0, "read before any write", 0,
                          0, 0});
    expect_one(four, with_local, "  %5 = atomic add u32 shared 0 [%3], %1 : i32 !5:1\n",
               (expected){LS__INTERP_UNWRITTEN_READ, 5, 0, 0, "s", 0, 0, "read before any write", 0,
                          0, 0});
    expect_one(four, with_local,
               "  %5 = const 4 : i64\n  store u8 local 0 [%5], %1\n"
               "  %6 = load u32 local 0 [%5] : i32 !6:1\n",
               (expected){LS__INTERP_UNWRITTEN_READ, 6, 0, 0, "t", 4, 1,
                          "a local is read before it is set", 0, 0, 0});
    expect_one(four, with_local, "  %5 = get v1 : i32 !5:1\n",
               (expected){LS__INTERP_UNWRITTEN_READ, 5, 0, 0, "v", 0, 0,
                          "a local is read before it is set", 0, 0, 0});
    expect_one(four, with_local, 
               "  %5 = const 0 : i32\n  set v1, %1\n  set v1, %5 unset\n"
               "  %6 = get v1 : i32 !6:1\n",
               (expected){LS__INTERP_UNWRITTEN_READ, 6, 0, 0, "v", 0, 0,
                          "a local is read before it is set", 0, 0, 0});
    expect_one(four, with_local,
               "  %5 = const 0 : i32\n  store u32 local 0 [%3], %1\n"
               "  store u32 local 0 [%3], %5 unset\n  %6 = load u32 local 0 [%3] : i32 !7:1\n",
               (expected){LS__INTERP_UNWRITTEN_READ, 7, 0, 0, "t", 0, 0,
                          "a local is read before it is set", 0, 0, 0});
    expect_clean(four, with_local,
                 "  set v1, %1\n  %5 = get v1 : i32\n  store u32 local 0 [%3], %1\n"
                 "  %6 = load u32 local 0 [%3] : i32\n");
}

/* --- what C leaves undefined
 * --------------------------------------------------------------------------- */

/* `lines`: %5.. = operands; the flagged instruction is at line 9. */
static void expect_flag(const char *lines, const char *detail)
{
    fixture f;
    uint8_t memory[32] = {0};
    load_kernel(&f, four, U32_BUFFER("x") "  local t size 16 align 4\n  var v1 v : i32\n", lines);
    bind(&f, 0, memory, sizeof memory);
    f.launch.flag_undefined_c = true;
    run(&f);
    if (!detail) {
        if (f.report_count)
            fail_msg("%s: %s", lines, f.reports[0].detail);
    } else {
        assert_int_equal(f.report_count, 1);
        assert_int_equal(f.reports[0].kind, LS__INTERP_UNDEFINED_IN_C);
        assert_string_equal(f.reports[0].detail, detail);
        assert_int_equal(f.reports[0].inst->loc.line, 9);
        assert_int_equal(f.reports[0].lane, 0);
    }
    f.launch.flag_undefined_c = false;
    run(&f);
    assert_int_equal(f.report_count, 0);
    finish(&f);
}

static void test_undefined_integer_operations(void **state)
{
    (void)state;
    static const char zero[] = "division by zero", overflow[] = "division overflow",
                      count[] = "shift count out of range";
    static const struct {
        const char *op, *type, *a, *b, *detail;
    } cases[] = {
        {"sdiv", "i32", "7", "0", zero},
        {"udiv", "i64", "7", "0", zero},
        {"srem", "i64", "7", "0", zero},
        {"urem", "i32", "7", "0", zero},
        {"sdiv", "i32", "-2147483648", "-1", overflow},
        {"srem", "i64", "-9223372036854775808", "-1", overflow},
        {"sdiv", "i64", "-2147483648", "-1", NULL},
        {"udiv", "i32", "-2147483648", "-1", NULL},
        {"sdiv", "i32", "-7", "2", NULL},
        {"shl", "i32", "1", "32", count},
        {"shl", "i32", "1", "-1", count},
        {"lshr", "i64", "1", "64", count},
        {"ashr", "i64", "1", "63", NULL},
        {"ashr", "i32", "1", "40", count},
        {"shl", "i32", "-1", "31", NULL},
        {"add", "i32", "2147483647", "1", NULL}, /* -fwrapv */
        {"mul", "i32", "2147483647", "3", NULL},
        {"rotl", "i32", "1", "40", NULL}, /* a built-in, total */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        const char *type = cases[i].type;
        snprintf(text, sizeof text,
                 "  %%5 = const %s : %s\n  %%6 = const %s : %s\n  %%7 = %s %%5, %%6 : %s !9:1\n",
                 cases[i].a, type, cases[i].b, type, cases[i].op, type);
        expect_flag(text, cases[i].detail);
    }
}

static void test_undefined_conversions(void **state)
{
    (void)state;
    static const char range[] = "float to integer conversion out of range";
    static const struct {
        const char *value, *op, *result, *detail;
    } cases[] = {
        {"127.5", "f2s 8", "i32", NULL},        {"128.0", "f2s 8", "i32", range},
        {"-128.5", "f2s 8", "i32", NULL},       {"-129.0", "f2s 8", "i32", range},
        {"255.5", "f2u 8", "i32", NULL},        {"256.0", "f2u 8", "i32", range},
        {"-0.5", "f2u 32", "i32", NULL},        {"-1.0", "f2u 32", "i32", range},
        {"0x4f000000", "f2s 32", "i32", range},                                         /* 2^31 */
        {"0xcf000000", "f2s 32", "i32", NULL},                                          /* -2^31 */
        {"0x4effffff", "f2s 32", "i32", NULL},  {"0x5f800000", "f2u 64", "i64", range}, /* 2^64 */
        {"0x5f7fffff", "f2u 64", "i64", NULL},  {"0x7fc00000", "f2s 64", "i64", range},
        {"0x7f800000", "f2u 16", "i32", range},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "  %%5 = const %s : f32\n  %%6 = %s %%5 : %s !9:1\n",
                 cases[i].value, cases[i].op, cases[i].result);
        expect_flag(text, cases[i].detail);
    }
}

static void test_undefined_memory(void **state)
{
    (void)state;
    expect_flag("  %5 = const 32 : i64\n  %6 = load u32 buffer 0 [%5] : i32 !9:1\n",
                "access out of bounds");
    expect_flag("  %5 = const -4 : i64\n  store u32 local 0 [%5], %1 !9:1\n",
                "access out of bounds");
    expect_flag("  %5 = load u32 local 0 [%3] : i32 !9:1\n", "a local is read before it is set");
    expect_flag("  %5 = get v1 : i32 !9:1\n", "a local is read before it is set");
    expect_flag("  %5 = load u32 buffer 0 [%3] : i32\n", NULL); /* a new buffer reads as 0 */
    expect_flag("  %5 = const 0 : i32\n  %6 = clz %5 : i32\n  %7 = ctz %5 : i32\n", NULL);
}

/* --- de-duplication
 * -------------------------------------------------------------------------------------- */

static void test_report_all(void **state)
{
    (void)state;
    fixture f;
    load_kernel(&f, four, U32_BUFFER("x"), "  store u32 buffer 0 [%4], %1\n");
    bind(&f, 0, NULL, 0);
    f.launch.global_size[0] = 8;
    f.launch.sanitize = true;
    run(&f);
    assert_int_equal(f.report_count, 1);
    f.launch.report_all = true;
    run(&f);
    assert_int_equal(f.report_count, 8);
    for (unsigned i = 0; i < 8; i++)
        check_report(&f, i,
                     (expected){LS__INTERP_OUT_OF_BOUNDS_STORE, 0, i / 4, i % 4, "x", 4 * i, i,
                                "access out of bounds", 0, 0, 0});
    f.launch.on_report = NULL; /* counted all the same */
    run(&f);
    assert_int_equal(f.result.report_count, 8);
    finish(&f);
}

/* One instruction of a function called with two buffers: a report for each. */
static void test_report_per_object(void **state)
{
    (void)state;
    fixture f;
    load_kernel_with(&f, four, U32_BUFFER("x") U32_BUFFER("y"),
                     "  call @f () [buffer 0]\n  call @f () [buffer 1]\n",
                     "function @f {\n  buffer p : u32 size 4 align 4\n  %1 = const 0 : i64\n"
                     "  %2 = load u32 buffer 0 [%1] : i32\n}\n");
    bind(&f, 0, NULL, 0);
    bind(&f, 1, NULL, 0);
    f.launch.sanitize = true;
    run(&f);
    assert_int_equal(f.report_count, 2);
    assert_string_equal(f.reports[0].object, "x");
    assert_string_equal(f.reports[1].object, "y");
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_subscript_of_array),
        cmocka_unit_test(test_check_bounds_alone),
        cmocka_unit_test(test_index_of_struct),
        cmocka_unit_test(test_writes_of_one_value),
        cmocka_unit_test(test_missing_barrier),
        cmocka_unit_test(test_exchange_orders_no_memory),
        cmocka_unit_test(test_write_after_reads_of_several),
        cmocka_unit_test(test_atomics_race_with_plain),
        cmocka_unit_test(test_races_of_bytes),
        cmocka_unit_test(test_race_between_workgroups),
        cmocka_unit_test(test_reads_of_other_workgroup),
        cmocka_unit_test(test_race_across_parameters),
        cmocka_unit_test(test_report_in_callee),
        cmocka_unit_test(test_unwritten_buffer),
        cmocka_unit_test(test_unwritten_shared_and_local),
        cmocka_unit_test(test_undefined_integer_operations),
        cmocka_unit_test(test_undefined_conversions),
        cmocka_unit_test(test_undefined_memory),
        cmocka_unit_test(test_report_all),
        cmocka_unit_test(test_report_per_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
