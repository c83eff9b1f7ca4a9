/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter where lanes meet: barriers, subgroup operations, workgroup_uniform, grid
 * barriers; equal bytes under every schedule; limits on what is kept in memory. */
#include "base/rng.h"
#include "harness.h"

static const char y_u32[] = "  buffer y : u32 size 4 align 4\n";

static const struct {
    ls__interp_schedule schedule;
    uint64_t seed;
} schedules[] = {{LS__INTERP_ASCENDING, 0},
                 {LS__INTERP_REVERSE, 0},
                 {LS__INTERP_SEED, 1},
                 {LS__INTERP_SEED, 2},
                 {LS__INTERP_SEED, 3}};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

static void use_schedule(fixture *f, size_t i)
{
    f->launch.schedule = schedules[i].schedule;
    f->launch.seed = schedules[i].seed;
}

/* --- barriers --------------------------------------------------------------------------------- */

/* Prefix sum in shared memory (Hillis and Steele, two arrays in turn): log2(32) barriers in a loop.
 * s[p][i] + (i >= d ? s[p][i-d] : 0) -> s[1-p][i]. An index below 0 reads 0. */
static const char prefix_body[] = "  %5 = id local_index 0 : i32\n"
                                  "  %6 = zext %5 : i64\n"
                                  "  %7 = index %3, %6 stride 4 count 0 : i64\n"
                                  "  %8 = load u32 buffer 0 [%4] : i32\n"
                                  "  store u32 shared 0 [%7], %8\n"
                                  "  %9 = const 1 : i64\n"
                                  "  set v1, %9\n"
                                  "  loop {\n"
                                  "    barrier\n"
                                  "    %10 = get v1 : i64\n"
                                  "    %11 = sub %6, %10 : i64\n"
                                  "    %12 = index %3, %11 stride 4 count 0 : i64\n"
                                  "    %13 = load u32 shared 0 [%7] : i32\n"
                                  "    %14 = load u32 shared 0 [%12] : i32\n"
                                  "    %15 = add %13, %14 : i32\n"
                                  "    barrier\n"
                                  "    store u32 shared 0 [%7], %15\n"
                                  "  } step {\n"
                                  "    %16 = get v1 : i64\n"
                                  "    %17 = add %16, %16 : i64\n"
                                  "    set v1, %17\n"
                                  "    %18 = const 32 : i64\n"
                                  "    %19 = slt %17, %18 : bool\n"
                                  "    while %19\n"
                                  "  }\n"
                                  "  %20 = load u32 shared 0 [%7] : i32\n"
                                  "  store u32 buffer 0 [%4], %20\n";

static void test_barriers_and_shared_memory(void **state)
{
    (void)state;
    fixture f;
    load_kernel(&f, "workgroup(32, 1, 1)",
                "  buffer y : u32 size 4 align 4\n  shared s size 128 align 4\n"
                "  var v1 d : i64\n",
                prefix_body);
    f.launch.global_size[0] = 96;
    f.launch.sanitize = true; /* clean, since two barriers stand between reads and writes */
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t y[96], sum = 0;
        for (uint32_t i = 0; i < 96; i++)
            y[i] = i * 7 + 1;
        bind(&f, 0, y, sizeof y);
        use_schedule(&f, s);
        run(&f);
        for (uint32_t i = 0; i < 96; i++) {
            sum = i % 32 == 0 ? 0 : sum;
            sum += i * 7 + 1;
            assert_int_equal(y[i], sum);
        }
        for (unsigned i = 0; i < f.report_count; i++) /* below the array for the first lanes */
            assert_int_equal(f.reports[i].kind, LS__INTERP_OUT_OF_BOUNDS_LOAD);
    }
    finish(&f);
}

/* Shared memory and locals are zero again in each workgroup. */
static void test_fresh_memory(void **state)
{
    (void)state;
    uint32_t y[4] = {9, 9, 9, 9};
    fixture f;
    load_kernel(&f, "workgroup(1, 1, 1)",
                "  buffer y : u32 size 4 align 4\n  shared s size 4 align 4\n"
                "  local t size 4 align 4\n  var v1 v : i32\n",
                "  %5 = load u32 shared 0 [%3] : i32\n  %6 = load u32 local 0 [%3] : i32\n"
                "  %7 = get v1 : i32\n  %8 = or %5, %6 : i32\n  %9 = or %7, %8 : i32\n"
                "  store u32 buffer 0 [%4], %9\n  %10 = const 1 : i32\n"
                "  store u32 shared 0 [%3], %10\n  store u32 local 0 [%3], %10\n"
                "  set v1, %10\n");
    bind(&f, 0, y, sizeof y);
    f.launch.global_size[0] = 4;
    run(&f);
    assert_memory_equal(y, ((uint32_t[]){0, 0, 0, 0}), sizeof y);
    finish(&f);
}

/* --- subgroups -------------------------------------------------------------------------------- */

/* Runs `body`, which makes %9 (u32 bits) of %5 = x[i]; checks it for three subgroups in a workgroup
 * of 64 and one half empty one under all schedules. */
static void check_subgroup(const char *body, uint32_t expect(const uint32_t x[32], uint32_t lane))
{
    ls__strbuf text = {0};
    ls__rng rng = {42};
    uint32_t x[128], y[128];
    fixture f;

    ls__strbuf_printf(&text,
                      "  %%5 = load u32 buffer 0 [%%4] : i32\n%s"
                      "  store u32 buffer 1 [%%4], %%9\n",
                      body);
    load_kernel(&f, "workgroup(64, 1, 1)",
                "  buffer x : u32 size 4 align 4\n  buffer y : u32 size 4 align 4\n", text.text);
    ls__strbuf_finish(&text);
    for (uint32_t i = 0; i < 128; i++)
        x[i] = (uint32_t)ls__rng_u64(&rng);
    bind(&f, 0, x, sizeof x);
    bind(&f, 1, y, sizeof y);
    f.launch.global_size[0] = 65;
    for (size_t s = 0; s < SCHEDULES; s++) {
        use_schedule(&f, s);
        memset(y, 0, sizeof y);
        run(&f);
        for (uint32_t i = 0; i < 128; i++)
            assert_int_equal(y[i], expect(x + i / 32 * 32, i % 32));
    }
    finish(&f);
}

static uint32_t expect_shuffle(const uint32_t x[32], uint32_t lane)
{
    return x[x[lane] % 32];
}

static uint32_t expect_broadcast(const uint32_t x[32], uint32_t lane)
{
    (void)lane;
    return x[x[0] % 32];
}

static uint32_t expect_ballot(const uint32_t x[32], uint32_t lane)
{
    uint32_t bits = 0;
    (void)lane;
    for (uint32_t i = 0; i < 32; i++)
        bits |= (uint32_t)((int32_t)x[i] < 0) << i;
    return bits;
}

static uint32_t expect_add(const uint32_t x[32], uint32_t lane)
{
    uint32_t sum = 0;
    (void)lane;
    for (uint32_t i = 0; i < 32; i++)
        sum += x[i];
    return sum;
}

static uint32_t expect_smin(const uint32_t x[32], uint32_t lane)
{
    int32_t least = INT32_MAX;
    (void)lane;
    for (uint32_t i = 0; i < 32; i++)
        least = (int32_t)x[i] < least ? (int32_t)x[i] : least;
    return (uint32_t)least;
}

static uint32_t expect_umax(const uint32_t x[32], uint32_t lane)
{
    uint32_t most = 0;
    (void)lane;
    for (uint32_t i = 0; i < 32; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

static uint32_t expect_xor(const uint32_t x[32], uint32_t lane)
{
    uint32_t bits = 0;
    (void)lane;
    for (uint32_t i = 0; i < 32; i++)
        bits ^= x[i];
    return bits;
}

/* Float addition in the order of the butterfly, written as the tree that it is. */
static uint32_t expect_fadd(const uint32_t x[32], uint32_t lane)
{
    float sums[32];
    uint32_t bits;
    (void)lane;
    for (uint32_t i = 0; i < 32; i++)
        sums[i] = (float)(int32_t)x[i];
    for (uint32_t half = 16; half > 0; half /= 2)
        for (uint32_t i = 0; i < half; i++)
            sums[i] = sums[i] + sums[i + half];
    memcpy(&bits, &sums[0], sizeof bits);
    return bits;
}

static void test_subgroup_operations(void **state)
{
    (void)state;
    check_subgroup("  %9 = sg_shuffle %5, %5 : i32\n", expect_shuffle);
    check_subgroup("  %9 = sg_broadcast %5, %5 : i32\n", expect_broadcast);
    check_subgroup("  %6 = const 0 : i32\n  %7 = slt %5, %6 : bool\n"
                   "  %9 = sg_ballot %7 : i32\n",
                   expect_ballot);
    check_subgroup("  %9 = sg_reduce add %5 : i32\n", expect_add);
    check_subgroup("  %9 = sg_reduce smin %5 : i32\n", expect_smin);
    check_subgroup("  %9 = sg_reduce umax %5 : i32\n", expect_umax);
    check_subgroup("  %9 = sg_reduce xor %5 : i32\n", expect_xor);
    check_subgroup("  %6 = s2f %5 : f32\n  %7 = sg_reduce add %6 : f32\n"
                   "  %9 = fbits %7 : i32\n",
                   expect_fadd);
}

/* A NaN in one lane: add gives the one NaN to all, fmax ignores it and orders -0 below +0. */
static void test_subgroup_float_edges(void **state)
{
    (void)state;
    uint32_t x[32], y[32], z[32];
    fixture f;
    load_kernel(&f, "workgroup(32, 1, 1)",
                "  buffer x : f32 size 4 align 4\n  buffer y : f32 size 4 align 4\n"
                "  buffer z : f32 size 4 align 4\n",
                "  %5 = load f32 buffer 0 [%4] : f32\n  %6 = sg_reduce add %5 : f32\n"
                "  %7 = sg_reduce fmax %5 : f32\n  store f32 buffer 1 [%4], %6\n"
                "  store f32 buffer 2 [%4], %7\n");
    for (uint32_t i = 0; i < 32; i++)
        x[i] = 0x80000000;
    x[7] = 0xffc00123;
    x[9] = 0;
    bind(&f, 0, x, sizeof x);
    bind(&f, 1, y, sizeof y);
    bind(&f, 2, z, sizeof z);
    f.launch.global_size[0] = 32;
    run(&f);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(y[i], 0x7fc00000);
        assert_int_equal(z[i], 0);
    }
    finish(&f);
}

static void test_workgroup_uniform(void **state)
{
    (void)state;
    uint32_t y[8] = {5, 5, 6, 5, 8, 8, 8, 8};
    fixture f;
    load_kernel(&f, "workgroup(4, 1, 1)", y_u32,
                "  %5 = load u32 buffer 0 [%4] : i32\n"
                "  %6 = wg_uniform %5 : i32 !7:5\n"
                "  store u32 buffer 0 [%4], %6\n");
    bind(&f, 0, y, sizeof y);
    f.launch.global_size[0] = 8;
    f.launch.report_all = true;
    run(&f);
    assert_memory_equal(y, ((uint32_t[]){5, 5, 5, 5, 8, 8, 8, 8}), sizeof y);
    assert_int_equal(f.report_count, 1);
    assert_int_equal(f.reports[0].kind, LS__INTERP_NOT_UNIFORM);
    assert_int_equal(f.reports[0].lane, 2);
    assert_int_equal(f.reports[0].workgroup[0], 0);
    assert_int_equal(f.reports[0].inst->loc.line, 7);
    finish(&f);
}

/* --- grid barriers ---------------------------------------------------------------------------- */

/* Three rounds of y[i] = y[i] + y[(i + 1) % n] over the whole grid, each round reading what the
 * last one wrote; the values carried over are variables and shared memory. */
static const char grid_body[] = "  %5 = const 1 : i32\n"
                                "  %6 = id global_size 0 : i32\n"
                                "  %7 = add %1, %5 : i32\n"
                                "  %8 = urem %7, %6 : i32\n"
                                "  %9 = zext %8 : i64\n"
                                "  %10 = index %3, %9 stride 4 count 0 : i64\n"
                                "  %11 = id local_index 0 : i32\n"
                                "  %12 = zext %11 : i64\n"
                                "  %13 = index %3, %12 stride 4 count 0 : i64\n"
                                "  %22 = const 0 : i32\n"
                                "  set v1, %22\n"
                                "  loop {\n"
                                "    %14 = load u32 buffer 0 [%4] : i32\n"
                                "    %15 = load u32 buffer 0 [%10] : i32\n"
                                "    %16 = add %14, %15 : i32\n"
                                "    store u32 shared 0 [%13], %16\n"
                                "    grid_barrier\n"
                                "    %17 = load u32 shared 0 [%13] : i32\n"
                                "    store u32 buffer 0 [%4], %17\n"
                                "    grid_barrier\n"
                                "  } step {\n"
                                "    %18 = get v1 : i32\n"
                                "    %19 = add %18, %5 : i32\n"
                                "    set v1, %19\n"
                                "    %20 = const 3 : i32\n"
                                "    %21 = slt %19, %20 : bool\n"
                                "    while %21\n"
                                "  }\n";

static void load_grid_kernel(fixture *f)
{
    load_kernel(f, "workgroup(4, 1, 1)",
                "  buffer y : u32 size 4 align 4\n  shared s size 16 align 4\n"
                "  var v1 round : i32\n",
                grid_body);
}

static void test_grid_barriers(void **state)
{
    (void)state;
    enum { N = 24 };
    fixture f;
    load_grid_kernel(&f);
    f.launch.global_size[0] = N;
    f.launch.sanitize = true;
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t y[N], expected[N], next[N];
        for (uint32_t i = 0; i < N; i++)
            y[i] = expected[i] = i * i;
        for (int round = 0; round < 3; round++) {
            for (uint32_t i = 0; i < N; i++)
                next[i] = expected[i] + expected[(i + 1) % N];
            memcpy(expected, next, sizeof next);
        }
        bind(&f, 0, y, sizeof y);
        use_schedule(&f, s);
        run(&f);
        assert_memory_equal(y, expected, sizeof y);
        assert_int_equal(f.report_count, 0);
        assert_int_equal(f.result.workgroups_run, N / 4);
    }
    finish(&f);
}

/* --- schedules -------------------------------------------------------------------------------- */

/* The order in which lanes ran, seen through an (unordered) counter. */
static void run_order(fixture *f, size_t schedule, uint32_t y[13])
{
    memset(y, 0, 13 * sizeof *y);
    bind(f, 0, y, 13 * sizeof *y);
    f->launch.global_size[0] = 12;
    use_schedule(f, schedule);
    run(f);
}

static void test_schedules_permute(void **state)
{
    (void)state;
    uint32_t orders[SCHEDULES][13], again[13];
    fixture f;
    /* y[1 + id] = y[0]++ */
    load_kernel(&f, "workgroup(3, 1, 1) unordered", y_u32,
                "  %5 = const 1 : i32\n  %6 = atomic add u32 buffer 0 [%3], %5 : i32\n"
                "  %7 = const 4 : i64\n  %8 = index %7, %2 stride 4 count 0 : i64\n"
                "  store u32 buffer 0 [%8], %6\n");
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t seen = 0;
        run_order(&f, s, orders[s]);
        run_order(&f, s, again);
        assert_memory_equal(again, orders[s], sizeof again);
        for (uint32_t i = 0; i < 12; i++)
            seen |= 1u << orders[s][1 + i];
        assert_int_equal(seen, 0xfff); /* a permutation */
        for (size_t other = 0; other < s; other++)
            assert_memory_not_equal(orders[s], orders[other], sizeof again);
    }
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(orders[0][1 + i], i);
        assert_int_equal(orders[1][1 + i], 11 - i);
    }
    finish(&f);
}

/* The seeded order of lanes is drawn anew at a barrier: y[id] and y[32 + id] are the places of lane
 * id in the order before and after it. */
static void test_order_changes_at_barriers(void **state)
{
    (void)state;
    uint32_t y[66];
    fixture f;
    load_kernel(&f, "workgroup(32, 1, 1) unordered", y_u32,
                "  %5 = const 1 : i32\n  %6 = const 256 : i64\n  %7 = const 260 : i64\n"
                "  %8 = atomic add u32 buffer 0 [%6], %5 : i32\n"
                "  store u32 buffer 0 [%4], %8\n  barrier\n"
                "  %9 = atomic add u32 buffer 0 [%7], %5 : i32\n"
                "  %10 = const 128 : i64\n  %11 = index %10, %2 stride 4 count 0 : i64\n"
                "  store u32 buffer 0 [%11], %9\n");
    for (size_t s = 0; s < SCHEDULES; s++) {
        memset(y, 0, sizeof y);
        bind(&f, 0, y, sizeof y);
        use_schedule(&f, s);
        run(&f);
        bool same = memcmp(y, y + 32, 128) == 0;
        assert_int_equal(same, schedules[s].schedule != LS__INTERP_SEED);
    }
    finish(&f);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void test_grid_memory_limit(void **state)
{
    (void)state;
    uint32_t y[4] = {1, 2, 3, 4};
    fixture f;
    load_grid_kernel(&f);
    bind(&f, 0, y, sizeof y);
    f.launch.global_size[0] = UINT32_MAX;
    f.launch.global_size[1] = UINT32_MAX;
    assert_int_equal(try_run(&f), LS_E_LIMIT);
    assert_non_null(strstr(f.error.message, "grid barrier"));
    assert_int_equal(y[0], 1); /* nothing ran */
    f.launch.global_size[1] = 1;
    f.launch.global_size[0] = 4000;
    f.launch.memory_limit_bytes = 100000;
    assert_int_equal(try_run(&f), LS_E_LIMIT);
    f.launch.global_size[0] = 16;
    assert_int_equal(try_run(&f), LS_OK);
    finish(&f);
}

static void test_memory_limits(void **state)
{
    (void)state;
    static uint32_t y[100000];
    fixture f;
    load_kernel(&f, "workgroup(256, 1, 1)",
                "  buffer y : u32 size 4 align 4\n  local t size 4096 align 4\n",
                "  barrier\n  store u32 buffer 0 [%4], %1\n");
    bind(&f, 0, y, sizeof y);
    f.launch.memory_limit_bytes = 500000; /* less than 256 lanes of 4 KiB */
    assert_int_equal(try_run(&f), LS_E_LIMIT);
    f.launch.memory_limit_bytes = 4000000;
    assert_int_equal(try_run(&f), LS_OK);
    f.launch.sanitize = true; /* shadow memory is charged too */
    assert_int_equal(try_run(&f), LS_E_LIMIT);
    f.launch.memory_limit_bytes = 0;
    assert_int_equal(try_run(&f), LS_OK);
    finish(&f);
}

static void test_too_many_workgroups(void **state)
{
    (void)state;
    fixture f;
    load_kernel(&f, "workgroup(1, 1, 1)", y_u32, "");
    bind(&f, 0, NULL, 0);
    for (unsigned d = 0; d < 3; d++)
        f.launch.global_size[d] = UINT32_MAX;
    assert_int_equal(try_run(&f), LS_E_LIMIT);
    finish(&f);
}

/* Each allocation of the run fails in turn: a clean error, then success. */
static void test_out_of_memory(void **state)
{
    (void)state;
    fixture f;
    ls_status status = LS_E_OUT_OF_MEMORY;
    uint64_t n = 0;
    load_grid_kernel(&f);
    f.launch.global_size[0] = 8;
    f.launch.sanitize = true;
    while (status == LS_E_OUT_OF_MEMORY) {
        uint32_t y[8] = {0};
        bind(&f, 0, y, sizeof y);
        ls__mem_fail_after(++n);
        status = try_run(&f);
        ls__mem_fail_after(0);
        assert_true(n < 1000);
    }
    assert_int_equal(status, LS_OK);
    assert_true(n > 1);
    finish(&f);
}

/* --- modules the verifier would refuse
 * ------------------------------------------------------------- */

/* A kernel whose only lane or workgroup of id 1 goes to `op`. */
static ls_status run_divergent(ls_op op, ls_id id, uint32_t lanes, fixture *f)
{
    ls__oom oom;
    if (setjmp(oom.jump))
        return LS_E_OUT_OF_MEMORY;
    *f = (fixture){.module = ls__ir_module_create(&oom, 0), .launch = {.global_size = {64, 1, 1}}};
    ls__ir_function *kernel = ls__ir_function_add(f->module, "k", true);
    ls__ir_cursor cursor = {.function = kernel, .region = kernel->body};
    memcpy(kernel->workgroup, (uint32_t[]){lanes, 1, 1}, sizeof kernel->workgroup);
    ls__ir_inst *value = ls__ir_insert(&cursor, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    value->imm = id;
    ls_value one = ls__ir_const_i32(&cursor, 1);
    ls__ir_inst *branch = ls__ir_if(&cursor, ls__ir_emit2(&cursor, LS_OP_EQ, value->id, one));
    cursor.region = branch->regions[0];
    if (op == LS_OP_SG_BALLOT)
        ls__ir_emit1(&cursor, op, ls__ir_const_bool(&cursor, true));
    else
        ls__ir_insert(&cursor, op, LS_TYPE_VOID, NULL, 0);
    f->launch.module = f->module;
    f->launch.kernel = kernel;
    return try_run(f);
}

static void test_divergent_barriers(void **state)
{
    (void)state;
    static const struct {
        ls_op op;
        ls_id id;
        uint32_t lanes;
    } cases[] = {{LS_OP_BARRIER, LS_ID_LOCAL_ID, 4},
                 {LS_OP_GRID_BARRIER, LS_ID_LOCAL_ID, 4},
                 {LS_OP_GRID_BARRIER, LS_ID_WORKGROUP_ID, 4},
                 {LS_OP_SG_BALLOT, LS_ID_LOCAL_ID, 32},
                 {LS_OP_SG_BALLOT, LS_ID_WORKGROUP_ID, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture f;
        assert_int_equal(run_divergent(cases[i].op, cases[i].id, cases[i].lanes, &f),
                         LS_E_INVALID_ARGUMENT);
        assert_non_null(strstr(f.error.message, "kernel 'k'"));
        finish(&f);
    }
    fixture f; /* uniform: fine */
    assert_int_equal(run_divergent(LS_OP_BARRIER, LS_ID_WORKGROUP_ID, 4, &f), LS_OK);
    finish(&f);
}

static void test_recursion(void **state)
{
    (void)state;
    ls__oom oom;
    fixture f;
    if (setjmp(oom.jump))
        fail();
    f = (fixture){.module = ls__ir_module_create(&oom, 0), .launch = {.global_size = {1, 1, 1}}};
    ls__ir_function *kernel = ls__ir_function_add(f.module, "k", true);
    ls__ir_function *function = ls__ir_function_add(f.module, "f", false);
    kernel->workgroup[0] = kernel->workgroup[1] = kernel->workgroup[2] = 1;
    ls__ir_cursor in_kernel = {.function = kernel, .region = kernel->body};
    ls__ir_cursor in_function = {.function = function, .region = function->body};
    ls__ir_insert(&in_kernel, LS_OP_CALL, LS_TYPE_VOID, NULL, 0)->imm = 2;
    ls__ir_insert(&in_function, LS_OP_CALL, LS_TYPE_VOID, NULL, 0)->imm = 2;
    f.launch.module = f.module;
    f.launch.kernel = kernel;
    assert_int_equal(try_run(&f), LS_E_INVALID_ARGUMENT);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barriers_and_shared_memory),
        cmocka_unit_test(test_fresh_memory),
        cmocka_unit_test(test_subgroup_operations),
        cmocka_unit_test(test_subgroup_float_edges),
        cmocka_unit_test(test_workgroup_uniform),
        cmocka_unit_test(test_grid_barriers),
        cmocka_unit_test(test_schedules_permute),
        cmocka_unit_test(test_order_changes_at_barriers),
        cmocka_unit_test(test_grid_memory_limit),
        cmocka_unit_test(test_memory_limits),
        cmocka_unit_test(test_too_many_workgroups),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_divergent_barriers),
        cmocka_unit_test(test_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
