/* SPDX-License-Identifier: Apache-2.0 */
/* What lanes, warps and blocks do together on the emulated driver: branches, loops, calls,
 * barriers, shuffles, votes, atomics, memory of each kind, grids whose blocks wait for each other;
 * and that what is wrong is an error. */
#include "driver_test.h"

/* A kernel k of one address, and each thread's number and place of 4 bytes in %r0 and %d1. */
#define KERNEL(registers, body)                                                                    \
    HEADER ".visible .entry k(.param .u64 p) {\n"                                                  \
           ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %d<16>;\n"              \
           ".reg .f32 %f<4>;\n" registers                                                          \
           "ld.param.u64 %d0, [p]; mov.u32 %r30, %ctaid.x; mov.u32 %r31, %ntid.x;\n"               \
           "mov.u32 %r0, %tid.x; mad.lo.u32 %r29, %r30, %r31, %r0;\n"                              \
           "mul.wide.u32 %d1, %r29, 4; add.s64 %d1, %d1, %d0;\n" body "ret; }\n"

enum { MOST = 1024 };
static uint32_t words[MOST];

/* Runs k; `words` go in and come out. */
static CUresult run_words(const char *ptx, unsigned blocks, unsigned threads)
{
    CUmodule module = driver_compile(ptx);
    CUdeviceptr address = driver_upload(words, sizeof words);
    CUresult result = driver_run(driver_kernel(module, "k"), blocks, threads, address);
    if (result == CUDA_SUCCESS) {
        driver_download(words, address, sizeof words);
        good(cu.cuMemFree_v2(address));
        good(cu.cuModuleUnload(module));
    }
    return result;
}

static void expect_words(const char *ptx, unsigned blocks, unsigned threads,
                         uint32_t (*expected)(uint32_t))
{
    memset(words, 0, sizeof words);
    good(run_words(ptx, blocks, threads));
    for (uint32_t i = 0; i < blocks * threads; i++)
        if (words[i] != expected(i))
            fail_msg("thread %u: %#x, not %#x", i, words[i], expected(i));
}

/* Breaks the context, so that it must be made anew. */
static void expect_fault(const char *ptx, unsigned threads, CUresult how)
{
    memset(words, 0, sizeof words);
    assert_int_equal(run_words(ptx, 1, threads), how);
    CUdeviceptr address;
    assert_int_equal(cu.cuMemAlloc_v2(&address, 4), how); /* it stays */
    good(cu.cuCtxPopCurrent_v2(NULL));
    good(cu.cuDevicePrimaryCtxRelease_v2(0));
    good(cu.cuDevicePrimaryCtxRetain(&test_context, 0));
    good(cu.cuCtxPushCurrent_v2(test_context));
}

/* --- branches -----------------------------------------------------------------------------------
 */
static uint32_t collatz(uint32_t i)
{
    uint32_t steps = 0;
    for (uint32_t x = i + 1; x != 1; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    return steps;
}

static void test_divergent_loop(void **state)
{
    expect_words(KERNEL("", "add.u32 %r1, %r29, 1; mov.u32 %r2, 0;\n"
                            "LOOP: setp.eq.u32 %p0, %r1, 1; @%p0 bra DONE;\n"
                            "and.b32 %r3, %r1, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra ODD;\n"
                            "shr.u32 %r1, %r1, 1; bra.uni NEXT;\n"
                            "ODD: mad.lo.u32 %r1, %r1, 3, 1;\n"
                            "NEXT: add.u32 %r2, %r2, 1; bra LOOP;\n"
                            "DONE: st.global.u32 [%d1], %r2;\n"),
                 4, 100, collatz);
}

static uint32_t all_lanes(uint32_t i)
{
    return i / 32 == 3 ? 0xf : 0xffffffff;
}

/* After a branch the lanes come together again before what follows it. */
static void test_reconvergence(void **state)
{
    expect_words(KERNEL("", "and.b32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 0; @%p0 bra A;\n"
                            "setp.eq.u32 %p0, %r1, 1; @%p0 bra B; add.u32 %r2, %r0, 1; bra.uni C;\n"
                            "A: add.u32 %r2, %r0, 2; bra.uni C;\nB: add.u32 %r2, %r0, 3;\n"
                            "C: activemask.b32 %r3; st.global.u32 [%d1], %r3;\n"),
                 1, 100, all_lanes);
}

static uint32_t table_value(uint32_t i)
{
    static const uint32_t values[] = {7, 20, 7, 40};
    return values[i & 3];
}

static void test_branch_table(void **state)
{
    expect_words(KERNEL("", "and.b32 %r1, %r0, 3;\nTABLE: .branchtargets A, B, A, C;\n"
                            "brx.idx %r1, TABLE;\n"
                            "A: mov.u32 %r2, 7; bra.uni END;\nB: mov.u32 %r2, 20; bra.uni END;\n"
                            "C: mov.u32 %r2, 40;\nEND: st.global.u32 [%d1], %r2;\n"),
                 2, 64, table_value);
    expect_fault(KERNEL("", "TABLE: .branchtargets A;\nbrx.idx %r0, TABLE;\nA: mov.u32 %r2, 7;\n"),
                 2, CUDA_ERROR_LAUNCH_FAILED);
}

/* A lock that lanes of one warp take from each other; who waits must not keep the others. */
static uint32_t all_96(uint32_t i)
{
    return i ? 0 : 96;
}

static void test_lock(void **state)
{
    expect_words(KERNEL("", "LOCK: atom.global.cas.b32 %r1, [%d0+512], 0, 1;\n"
                            "setp.ne.u32 %p0, %r1, 0; @%p0 bra LOCK;\n"
                            "ld.volatile.global.u32 %r2, [%d0]; add.u32 %r2, %r2, 1;\n"
                            "st.volatile.global.u32 [%d0], %r2; membar.gl;\n"
                            "atom.global.exch.b32 %r3, [%d0+512], 0;\n"),
                 1, 96, all_96);
}

/* --- calls --------------------------------------------------------------------------------------
 */
static uint32_t call_value(uint32_t i)
{
    uint32_t x = i & 1 ? i * 3 : i + 100;
    return (i & 1 ? x + 1 : x + 2) * 10;
}

static const char calls[] =
    HEADER ".func (.param .b32 out) tenfold(.param .b32 in) {\n"
           ".reg .b32 %r<3>; ld.param.u32 %r0, [in]; mul.lo.u32 %r1, %r0, 10;\n"
           "st.param.b32 [out+0], %r1; ret; }\n"
           ".func (.param .align 8 .b8 out[16]) pair(.param .b32 a, .param .b64 b) {\n"
           ".reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p<2>;\n"
           "ld.param.u32 %r0, [a]; ld.param.u64 %d0, [b]; and.b32 %r1, %r0, 1;\n"
           "setp.eq.u32 %p0, %r1, 0; @%p0 bra EVEN;\n"
           "mul.lo.u32 %r2, %r0, 3; add.u64 %d0, %d0, 1; bra.uni END;\n"
           "EVEN: add.u32 %r2, %r0, 100; add.u64 %d0, %d0, 2;\n"
           "END: st.param.b32 [out], %r2; st.param.b64 [out+8], %d0; ret; }\n"
           ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<9>; .reg .b64 %d<9>;\n"
           "mov.u32 %r0, %tid.x; ld.param.u64 %d0, [p]; mul.wide.u32 %d1, %r0, 4;\n"
           "add.s64 %d1, %d1, %d0;\n"
           "{ .param .b32 a; st.param.b32 [a], %r0; .param .b64 b; st.param.b64 [b+0], 0;\n"
           ".param .align 8 .b8 r[16]; call.uni (r), pair, (a, b);\n"
           "ld.param.b32 %r1, [r]; ld.param.b64 %d2, [r+8]; }\n"
           "cvt.u32.u64 %r2, %d2; add.u32 %r1, %r1, %r2;\n"
           "{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 r;\n"
           "call (r), tenfold, (a); ld.param.b32 %r3, [r]; }\n"
           "st.global.u32 [%d1], %r3; ret; }\n";

static void test_calls(void **state)
{
    expect_words(calls, 1, 70, call_value);
    const char *text =
        driver_refusal(HEADER ".func f() { call f; ret; }\n.entry k() { call f; ret; }\n");
    assert_non_null(strstr(text, "calls itself"));
}

/* --- carries ------------------------------------------------------------------------------------
 */
static uint32_t carried(uint32_t i)
{
    uint64_t x = UINT64_C(0xffffffff) * (i + 1), y = UINT64_C(0x180000001) * i;
    return (uint32_t)((x + y) >> 32) ^ (uint32_t)((y - x) >> 32) ^
           (uint32_t)(((uint64_t)(i + 7) * 0xfffffff1u + x) >> 32);
}

/* The carry is a lane's own, and stays where the guard is off. */
static void test_carries(void **state)
{
    expect_words(
        KERNEL("", "mov.u64 %d2, 0xffffffff; cvt.u64.u32 %d3, %r0; add.u64 %d4, %d3, 1;\n"
                   "mul.lo.u64 %d2, %d2, %d4; mul.lo.u64 %d3, %d3, 0x180000001;\n"
                   "mov.b64 {%r1, %r2}, %d2; mov.b64 {%r3, %r4}, %d3;\n"
                   "setp.lt.u32 %p0, %r0, 99; @!%p0 sub.cc.u32 %r5, 0, 1;\n"
                   "add.cc.u32 %r5, %r1, %r3; @!%p0 add.cc.u32 %r5, -1, 1;\n"
                   "addc.u32 %r6, %r2, %r4; sub.cc.s32 %r5, %r3, %r1; subc.s32 %r7, %r4, %r2;\n"
                   "add.u32 %r8, %r0, 7; mad.lo.cc.u32 %r5, %r8, 0xfffffff1, %r1;\n"
                   "madc.hi.u32 %r9, %r8, 0xfffffff1, %r2; xor.b32 %r6, %r6, %r7;\n"
                   "xor.b32 %r6, %r6, %r9; st.global.u32 [%d1], %r6;\n"),
        1, 60, carried);
    /* A carry that goes through a word of ones; a borrow through a zero. */
    good(run_words(KERNEL("", "mov.u32 %r1, -1; add.cc.u32 %r2, %r1, 1; addc.cc.u32 %r2, %r1, 0;\n"
                              "addc.u32 %r2, 5, 0; st.global.u32 [%d0], %r2;\n"
                              "sub.cc.u32 %r2, 0, 1; subc.cc.u32 %r2, 0, 0; subc.u32 %r2, 5, 0;\n"
                              "st.global.u32 [%d0+4], %r2; mov.u64 %d2, -1;\n"
                              "add.cc.u64 %d3, %d2, 2; addc.u64 %d3, 7, 0;\n"
                              "cvt.u32.u64 %r2, %d3; st.global.u32 [%d0+8], %r2;\n"),
                   1, 1));
    assert_int_equal(words[0], 6);
    assert_int_equal(words[1], 4);
    assert_int_equal(words[2], 8);
}

/* --- barriers -----------------------------------------------------------------------------------
 */
static uint32_t reversed_128(uint32_t i)
{
    return i / 128 * 128 + 127 - i % 128;
}

static const char shared_reverse[] =
    KERNEL(".shared .align 4 .b8 s[512];\n",
           "mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2;\n"
           "st.shared.u32 [%r3], %r29; bar.sync 0; mov.u32 %r4, 508; sub.u32 %r4, %r4, %r2;\n"
           "add.u32 %r4, %r4, %r1; ld.shared.u32 %r5, [%r4]; st.global.u32 [%d1], %r5;\n");

static uint32_t block_votes(uint32_t i)
{
    return i % 100 == 0 ? 25 : i % 100 == 1 ? 0 : 1;
}

static void test_barriers(void **state)
{
    expect_words(shared_reverse, 3, 128, reversed_128);
    expect_words(KERNEL("", "and.b32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 0;\n"
                            "bar.red.popc.u32 %r2, 0, %p0; bar.red.and.pred %p1, 0, %p0;\n"
                            "bar.red.or.pred %p2, 0, %p0; selp.u32 %r3, 1, 0, %p2;\n"
                            "setp.eq.u32 %p3, %r0, 0; selp.u32 %r3, %r2, %r3, %p3;\n"
                            "setp.eq.u32 %p3, %r0, 1; @%p3 selp.u32 %r3, 1, 0, %p1;\n"
                            "st.global.u32 [%d1], %r3;\n"),
                 2, 100, block_votes);
    /* A warp that has ended is not waited for; one that goes elsewhere is. */
    expect_words(KERNEL("", "setp.gt.u32 %p0, %r0, 31; @%p0 ret; bar.sync 0;\n"
                            "mov.u32 %r1, 127; sub.u32 %r1, %r1, %r0; st.global.u32 [%d1], %r1;\n"),
                 1, 32, reversed_128);
    expect_fault(
        KERNEL("", "setp.gt.u32 %p0, %r0, 31; @%p0 bra B; bar.sync 0; ret;\nB: bar.sync 1;\n"), 64,
        CUDA_ERROR_LAUNCH_FAILED);
    expect_fault(
        KERNEL("", "setp.gt.u32 %p0, %r0, 15; @%p0 bra B; bar.sync 0; ret;\nB: bar.sync 0;\n"), 32,
        CUDA_ERROR_LAUNCH_FAILED);
}

/* --- warp-wide operations -----------------------------------------------------------------------
 */
static uint32_t shuffled(uint32_t i)
{
    uint32_t lane = i % 32, sum = i ^ 5;
    sum += lane < 3 ? i : i - 3;
    sum += lane > 28 ? i : i + 3;
    sum += i / 8 * 8 + 2; /* segments of 8 */
    return sum + 1000 * (uint32_t)(lane >= 3);
}

static void test_shuffles(void **state)
{
    expect_words(KERNEL("", "shfl.sync.bfly.b32 %r1, %r29, 5, 31, -1;\n"
                            "shfl.sync.up.b32 %r2|%p0, %r29, 3, 0, 0xffffffff;\n"
                            "shfl.sync.down.b32 %r3, %r29, 3, 31, -1;\n"
                            "shfl.sync.idx.b32 %r4, %r29, 2, 0x181f, -1;\n"
                            "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n"
                            "@%p0 add.u32 %r1, %r1, 1000; st.global.u32 [%d1], %r1;\n"),
                 2, 64, shuffled);
}

static uint32_t votes(uint32_t i)
{
    return (i % 32 < 16 ? 0x00005555u : 0x0000aaaau << 16) ^ 0x80;
}

/* Halves of a warp vote apart, each under its own mask, and wait for their own only. */
static void test_votes(void **state)
{
    expect_words(KERNEL("",
                        "setp.lt.u32 %p0, %r0, 16; selp.b32 %r1, 0x0000ffff, 0xffff0000, %p0;\n"
                        "and.b32 %r2, %r0, 1; @%p0 bra LOW;\n"
                        "setp.ne.u32 %p1, %r2, 0; vote.sync.ballot.b32 %r3, %p1, %r1; bra.uni C;\n"
                        "LOW: setp.eq.u32 %p1, %r2, 0; vote.sync.ballot.b32 %r3, %p1, %r1;\n"
                        "C: vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1;\n"
                        "@%p2 xor.b32 %r3, %r3, 0x80; @%p3 mov.u32 %r3, 0;\n"
                        "st.global.u32 [%d1], %r3;\n"),
                 1, 32, votes);
}

/* Lanes that come to the same vote by different ways wait there for each other. */
static uint32_t all_ones(uint32_t i)
{
    return 0xffffffff;
}

static void test_late_lanes(void **state)
{
    expect_words(KERNEL("",
                        "setp.lt.u32 %p0, %r0, 7; @%p0 bra FAR; bra.uni VOTE;\n"
                        "BACK: mov.u32 %r4, 1;\nVOTE: vote.sync.ballot.b32 %r3, 1, -1;\n"
                        "st.global.u32 [%d1], %r3; ret;\n"
                        "FAR: mov.u32 %r5, 100;\nL: sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
                        "@%p1 bra L; bra.uni BACK;\n"),
                 1, 32, all_ones);
    /* A lane that never comes, and one that is not in its own mask. */
    expect_fault(KERNEL("", "setp.eq.u32 %p0, %r0, 3; @%p0 bra AWAY;\n"
                            "vote.sync.ballot.b32 %r3, 1, 0xffff; ret;\n"
                            "AWAY: bar.sync 0;\n"),
                 16, CUDA_ERROR_LAUNCH_FAILED);
    expect_fault(KERNEL("", "vote.sync.ballot.b32 %r3, 1, 0xfffe;\n"), 16,
                 CUDA_ERROR_LAUNCH_FAILED);
}

static uint32_t matched(uint32_t i)
{
    return 0x11111111u << i % 4;
}

static void test_match(void **state)
{
    expect_words(KERNEL("", "and.b32 %r1, %r0, 3; match.any.sync.b32 %r2, %r1, -1;\n"
                            "match.all.sync.b32 %r3|%p0, %r1, -1; @%p0 mov.u32 %r2, 0;\n"
                            "match.all.sync.b32 %r3|%p0, %r31, -1; @!%p0 mov.u32 %r2, 1;\n"
                            "st.global.u32 [%d1], %r2;\n"),
                 1, 32, matched);
}

/* --- atomics ------------------------------------------------------------------------------------
 */
static void test_atomics(void **state)
{
    /* inc: 384 steps through 0 to 9; dec: 15 steps, from 0 to 6 and down to 0 */
    static const uint32_t expected[] = {384 + 5, 0x80000000u, 127, 0xffffff80u, 4, 6, 0x3f, 0, 1};
    memset(words, 0, sizeof words);
    words[0] = 5;
    words[1] = 0x80000000u;
    words[3] = 0xffffffffu;
    words[6] = 0x20;
    words[7] = 0xff;
    good(run_words(
        KERNEL("", "red.global.add.u32 [%d0], 1; atom.global.max.u32 %r1, [%d0+4], %r0;\n"
                   "atom.global.max.s32 %r1, [%d0+8], %r0; not.b32 %r2, %r0;\n"
                   "red.global.min.s32 [%d0+12], %r2; atom.global.inc.u32 %r3, [%d0+16], 9;\n"
                   "setp.lt.u32 %p0, %r0, 5; @%p0 atom.global.dec.u32 %r3, [%d0+20], 6;\n"
                   "red.global.or.b32 [%d0+24], 31; red.relaxed.gpu.global.and.b32 [%d0+28],"
                   " 0xffffff00; atom.global.exch.b32 %r4, [%d0+32], 1;\n"),
        3, 128));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(words[i], expected[i]);
}

/* Sums of floats in global memory take subnormals for zeros; those in shared memory do not. */
static void test_atomic_floats(void **state)
{
    memset(words, 0, sizeof words);
    words[0] = 0x3f800000;
    words[1] = 1;
    good(run_words(
        KERNEL(".shared .align 8 .b8 s[16];\n",
               "atom.global.add.f32 %f0, [%d0], 0f3F800000;\n"
               "atom.global.add.f32 %f1, [%d0+4], 0f00000001;\n"
               "mov.u32 %r1, 1; st.shared.u32 [s], %r1;\n"
               "atom.shared.add.f32 %f2, [s], 0f00000001; ld.shared.u32 %r2, [s];\n"
               "st.global.u32 [%d0+8], %r2; st.global.f32 [%d0+12], %f0;\n"
               "mov.u64 %d2, 0; st.shared.u64 [s+8], %d2;\n"
               "atom.shared.add.u64 %d3, [s+8], -1; atom.shared.cas.b64 %d3, [s+8], -1, 77;\n"
               "ld.shared.u32 %r2, [s+8]; st.global.u32 [%d0+16], %r2;\n"),
        1, 1));
    assert_int_equal(words[0], 0x40000000);
    assert_int_equal(words[1], 0);
    assert_int_equal(words[2], 2);
    assert_int_equal(words[3], 0x3f800000);
    assert_int_equal(words[4], 77);
}

/* --- memory -------------------------------------------------------------------------------------
 */
static uint32_t widths_value(uint32_t i)
{
    uint32_t x = i * 0x01010181u;
    uint32_t byte = x & 0xff, half = x & 0xffff;
    return (byte ^ 0x80) - 0x80 + half + ((half ^ 0x8000) - 0x8000) + byte;
}

static void test_widths(void **state)
{
    expect_words(
        KERNEL(".local .align 16 .b8 l[32];\n",
               "mul.lo.u32 %r1, %r29, 0x01010181; mov.u64 %d2, l; st.local.u32 [%d2], %r1;\n"
               "cvta.local.u64 %d3, %d2; isspacep.local %p0, %d3; ld.s8 %r2, [%d3];\n"
               "ld.local.u16 %h0, [l]; cvt.u32.u16 %r3, %h0; ld.local.s16 %r4, [l];\n"
               "ld.local.u8 %r5, [%d2]; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;\n"
               "add.u32 %r2, %r2, %r5; @!%p0 mov.u32 %r2, 0; st.global.u32 [%d1], %r2;\n"),
        1, 50, widths_value);
}

static uint32_t vector_value(uint32_t i)
{
    return i == 0 ? 3 : i == 1 ? 2 : i == 2 ? 1 : i == 3 ? 0 : i == 4 ? 0x00020001 : 0;
}

static void test_vectors(void **state)
{
    expect_words(
        KERNEL("", "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r0, 0;\n"
                   "st.global.v4.u32 [%d0], {%r0, %r1, %r2, %r3};\n"
                   "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d0];\n"
                   "st.global.v2.u32 [%d0], {%r13, %r12}; st.global.v2.b32 [%d0+8], {%r11, %r10};\n"
                   "cvt.u16.u32 %h0, %r1; cvt.u16.u32 %h1, %r2; mov.b32 %r4, {%h0, %h1};\n"
                   "st.global.u32 [%d0+16], %r4; mov.b64 %d2, {%r1, %r2};\n"
                   "mov.b64 {%r5, %r6}, %d2; setp.ne.u32 %p0, %r6, 2; selp.u32 %r7, 1, 0, %p0;\n"
                   "st.global.u32 [%d0+20], %r7;\n"),
        1, 1, vector_value);
}

static uint32_t variable_value(uint32_t i)
{
    static const uint32_t values[] = {10, 20, 30, 40};
    return values[i % 4] + (i % 4 == 1 ? 5 : 0) + 7;
}

static void test_variables(void **state)
{
    expect_words(HEADER ".const .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
                        ".global .align 4 .b8 bytes[8] = {7, 0, 0, 0, 5};\n"
                        ".global .u64 place = generic(bytes)+4;\n"
                        ".visible .entry k(.param .u64 p) {\n"
                        ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<2>;\n"
                        "mov.u32 %r0, %tid.x; ld.param.u64 %d0, [p]; mul.wide.u32 %d1, %r0, 4;\n"
                        "add.s64 %d0, %d0, %d1; and.b32 %r1, %r0, 3; mul.wide.u32 %d2, %r1, 4;\n"
                        "mov.u64 %d3, table; add.s64 %d3, %d3, %d2; ld.const.u32 %r2, [%d3];\n"
                        "cvta.const.u64 %d4, %d3; ld.u32 %r3, [%d4];\n"
                        "setp.ne.u32 %p0, %r2, %r3; @%p0 trap; ld.global.u64 %d5, [place];\n"
                        "setp.eq.u32 %p1, %r1, 1; ld.u8 %r4, [%d5];\n"
                        "@%p1 add.u32 %r2, %r2, %r4; ld.global.u32 %r5, [bytes];\n"
                        "add.u32 %r2, %r2, %r5; st.global.u32 [%d0], %r2; ret; }\n",
                 1, 40, variable_value);
}

/* Nobody gets zeros that were not written. */
static void test_unwritten(void **state)
{
    good(run_words(KERNEL(".shared .align 4 .b8 s[4]; .local .align 4 .b8 l[4];\n",
                          "ld.shared.u32 %r1, [s]; ld.local.u32 %r2, [l];\n"
                          "st.global.u32 [%d0], %r1; st.global.u32 [%d0+4], %r2;\n"
                          "st.global.u32 [%d0+8], %r3;\n"),
                   1, 1));
    for (int i = 0; i < 3; i++)
        assert_int_equal(words[i], 0xcbcbcbcbu);
}

static void test_memory_faults(void **state)
{
    /* The second lane's 8 bytes reach beyond the 12 that there are, where the first one's did not.
     */
    CUfunction kernel =
        driver_kernel(driver_compile(KERNEL("", "add.s64 %d1, %d1, %d1; sub.s64 %d1, %d1, %d0;\n"
                                                "ld.global.u64 %d2, [%d1];\n")),
                      "k");
    CUdeviceptr small = driver_upload(words, 12);
    good(driver_run(kernel, 1, 1, small));
    assert_int_equal(driver_run(kernel, 1, 2, small), CUDA_ERROR_ILLEGAL_ADDRESS);
    good(cu.cuCtxPopCurrent_v2(NULL));
    good(cu.cuDevicePrimaryCtxRelease_v2(0));
    good(cu.cuDevicePrimaryCtxRetain(&test_context, 0));
    good(cu.cuCtxPushCurrent_v2(test_context));
    expect_fault(KERNEL("", "ld.global.u32 %r1, [%d0+4096];\n"), 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault(KERNEL("", "st.global.u32 [%d0+-4], %r0;\n"), 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault(KERNEL("", "ld.global.u64 %d2, [%d0+4092];\n"), 1, CUDA_ERROR_MISALIGNED_ADDRESS);
    expect_fault(KERNEL("", "ld.global.v2.u32 {%r1, %r2}, [%d0+4];\n"), 1,
                 CUDA_ERROR_MISALIGNED_ADDRESS);
    expect_fault(KERNEL(".shared .align 4 .b8 s[64];\n", "ld.shared.u32 %r1, [s+64];\n"), 1,
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault(KERNEL(".local .align 4 .b8 l[64];\n", "ld.local.u32 %r1, [l+64];\n"), 1,
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault(KERNEL("", "mov.u64 %d2, 0; ld.u32 %r1, [%d2];\n"), 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault(KERNEL("", "setp.eq.u32 %p0, %r0, 5; @%p0 trap;\n"), 8, CUDA_ERROR_LAUNCH_FAILED);
}

/* --- grids that wait ----------------------------------------------------------------------------
 */
static const char grid_barrier[] =
    KERNEL("", "bar.sync 0; setp.ne.u32 %p0, %r0, 0; @%p0 bra WAITED; membar.gl;\n"
               "atom.global.add.u32 %r1, [%d0+2048], 1; mov.u32 %r2, %nctaid.x;\n"
               "SPIN: ld.volatile.global.u32 %r3, [%d0+2048]; setp.lt.u32 %p1, %r3, %r2;\n"
               "@%p1 bra SPIN; membar.gl;\nWAITED: bar.sync 0;\n"
               "ld.global.u32 %r4, [%d0+2048]; st.global.u32 [%d1], %r4;\n");

static void test_cooperative(void **state)
{
    memset(words, 0, sizeof words);
    CUmodule module = driver_compile(grid_barrier);
    CUdeviceptr address = driver_upload(words, sizeof words);
    void *parameters[] = {&address};
    CUfunction kernel = driver_kernel(module, "k");
    good(cu.cuLaunchCooperativeKernel(kernel, 8, 1, 1, 64, 1, 1, 0, NULL, parameters));
    good(cu.cuCtxSynchronize());
    driver_download(words, address, sizeof words);
    for (int i = 0; i < 512; i++)
        assert_int_equal(words[i], 8);
    int each = 0, processors = 0;
    good(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, 64, 0));
    good(cu.cuDeviceGetAttribute(&processors, 16, 0));
    assert_true(each > 0);
    assert_int_equal(cu.cuLaunchCooperativeKernel(kernel, (unsigned)(each * processors + 1), 1, 1,
                                                  64, 1, 1, 0, NULL, parameters),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

/* Blocks and lanes in the other order give the same where the program is right. */
static void test_reverse(void **state)
{
    cu.configure("reverse;threads=1;quiet");
    memset(words, 0, sizeof words);
    good(run_words(KERNEL("", "atom.global.add.u32 %r1, [%d0], 1; st.global.u32 [%d1+4], %r1;\n"),
                   2, 32));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(words[i + 1], 63 - i);
    cu.configure("quiet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergent_loop), cmocka_unit_test(test_reconvergence),
        cmocka_unit_test(test_branch_table),   cmocka_unit_test(test_lock),
        cmocka_unit_test(test_calls),          cmocka_unit_test(test_carries),
        cmocka_unit_test(test_barriers),       cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_votes),          cmocka_unit_test(test_late_lanes),
        cmocka_unit_test(test_match),          cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_atomic_floats),  cmocka_unit_test(test_widths),
        cmocka_unit_test(test_vectors),        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_unwritten),      cmocka_unit_test(test_memory_faults),
        cmocka_unit_test(test_cooperative),    cmocka_unit_test(test_reverse),
    };
    return cmocka_run_group_tests(tests, driver_setup, driver_teardown);
}
