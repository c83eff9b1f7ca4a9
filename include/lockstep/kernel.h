/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/kernel.h: compiles a Kernel C file (*.kc) with an ordinary C compiler.
 *
 * Kernel C is a strict subset of C11. With this header in front,
 *
 *     cc -std=c11 -fwrapv -fno-strict-aliasing -ffp-contract=off \
 *        -include lockstep/kernel.h -x c f.kc
 *
 * a kernel becomes a plain C function that computes ONE lane: the one described by the thread-local
 * variable `ls_native`. A native driver sets `ls_native`, calls the kernel, and goes on to the next
 * lane (ls_native_set_lane does the arithmetic):
 *
 *     ls_native_set_launch(global, workgroup);          // u32[3] each
 *     for (u64 i = 0; i < ls_native_lane_count(); i++) {
 *         ls_native_set_lane(i);                        // workgroup by workgroup, x first
 *         saxpy(n, a, x, y);
 *     }
 *
 * This is a check of Lockstep's front end that shares no code with it, and a way to debug a kernel
 * with ordinary tools. It is not a backend.
 *
 * The same:       types, qualifiers, SPEC, launch geometry, and every built-in function, bit for
 *                 bit, also where C would leave the result open (clz(0), abs(INT_MIN), the order of
 *                 -0 and +0, ...). Atomics are plain read-modify-writes: lanes run one by one.
 * As C has it:    operators and casts. Where C leaves x/0, a shift by too much, or a cast out of
 *                 range undefined, Kernel C defines a result and a native build may differ.
 *                 Accesses are not bounds-checked; a stored NaN keeps its bits; locals without an
 *                 initialiser are not zero.
 * Not available:  barrier(), grid_barrier(), subgroup operations: a lane cannot wait for others.
 *                 A call is an error when the file is compiled (with gcc and clang >= 14), or when
 *                 it is linked. -DLS_NATIVE_TRAP makes it end the program when reached instead, so
 *                 that the other kernels of the file can be used.
 *
 * Preconditions: gcc or clang for a target whose long has 64 bits; link with -lm. Standard headers
 * must be included before this one: it defines macros with plain names such as min, exp, shared.
 * Compiles as C11 and C++17. In C the operand types of a two-operand built-in are not compared: the
 * first one decides. Lockstep itself rejects operands of different types.
 *
 * Thread-safety: `ls_native` is per thread; each thread may run lanes of its own.
 */
#ifndef LOCKSTEP_KERNEL_H
#define LOCKSTEP_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* Macros of <math.h>. */
#undef isfinite
#undef isinf
#undef isnan
#undef signbit

#ifdef __cplusplus
#define LS_NATIVE_THREAD_LOCAL thread_local
#define LS_NATIVE_STATIC_ASSERT static_assert
#define _Static_assert static_assert
#else
#define LS_NATIVE_THREAD_LOCAL _Thread_local
#define LS_NATIVE_STATIC_ASSERT _Static_assert
#endif

/* ---- types ------------------------------------------------------------------------------- */

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

/* Storage types without operators: f16_to_f32(h), f32_to_f16(x), and the same for bf16. */
typedef struct {
    u16 bits;
} f16;
typedef struct {
    u16 bits;
} bf16;

LS_NATIVE_STATIC_ASSERT(sizeof(long) == 8, "Kernel C literals with the suffix L have 64 bits");
LS_NATIVE_STATIC_ASSERT(sizeof(f32) == 4 && sizeof(f64) == 8, "IEEE 754 binary32 and binary64");

/* ---- qualifiers -------------------------------------------------------------------------- */

#define kernel
#define unordered
#define workgroup(...)
#define noinline __attribute__((__noinline__))

/* Shared memory of a lane on its own: kept from lane to lane, never cleared. */
#define shared static LS_NATIVE_THREAD_LOCAL

/* A constant fixed when Lockstep builds the program; natively it has its default, the first value.
 * The others are for tuners. */
#define LS_NATIVE_FIRST(first, ...) first
#define SPEC(type, name, ...) enum { name = (type)(LS_NATIVE_FIRST(__VA_ARGS__, 0)) }

/* ---- launch geometry --------------------------------------------------------------------- */

/* The lane being computed; index 0 is x. Set by the driver, read by the built-ins below. */
struct ls_native {
    u32 global_id[3];
    u32 local_id[3];
    u32 workgroup_id[3];
    u32 global_size[3]; /* lanes asked for, before rounding up to whole workgroups */
    u32 workgroup_size[3];
    u32 workgroup_count[3];
    u32 iteration;  /* of a repeated dispatch */
    u32 trap_count; /* calls of trap() so far; the driver clears it */
    u32 trap_code;  /* of the first one */
};

/* Weak: one variable per program, although every file that includes this header defines it. */
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((__weak__)) LS_NATIVE_THREAD_LOCAL struct ls_native ls_native;
#ifdef __cplusplus
}
#endif

#define global_id(d) (ls_native.global_id[(d)])
#define local_id(d) (ls_native.local_id[(d)])
#define workgroup_id(d) (ls_native.workgroup_id[(d)])
#define global_size(d) (ls_native.global_size[(d)])
#define workgroup_size(d) (ls_native.workgroup_size[(d)])
#define workgroup_count(d) (ls_native.workgroup_count[(d)])
#define iteration() (ls_native.iteration)
#define local_index() ls_native_local_index()
#define lane_id() (ls_native_local_index() % 32u)
#define subgroup_id() (ls_native_local_index() / 32u)

static inline u32 ls_native_local_index(void)
{
    const struct ls_native *n = &ls_native;
    return (n->local_id[2] * n->workgroup_size[1] + n->local_id[1]) * n->workgroup_size[0] +
           n->local_id[0];
}

/* Describes a launch of `lanes` lanes in workgroups of `group` lanes; no size may be 0 in group. */
static inline void ls_native_set_launch(const u32 lanes[3], const u32 group[3])
{
    for (int d = 0; d < 3; d++) {
        ls_native.global_size[d] = lanes[d];
        ls_native.workgroup_size[d] = group[d];
        ls_native.workgroup_count[d] = lanes[d] / group[d] + (lanes[d] % group[d] != 0);
    }
}

/* Lanes that run: whole workgroups. */
static inline u64 ls_native_lane_count(void)
{
    u64 count = 1;
    for (int d = 0; d < 3; d++)
        count *= (u64)ls_native.workgroup_count[d] * ls_native.workgroup_size[d];
    return count;
}

/* Makes lane `index` the current one: workgroups in order, lanes in order inside each, x first. */
static inline void ls_native_set_lane(u64 index)
{
    struct ls_native *n = &ls_native;
    for (int d = 0; d < 3; d++) {
        n->local_id[d] = (u32)(index % n->workgroup_size[d]);
        index /= n->workgroup_size[d];
    }
    for (int d = 0; d < 3; d++) {
        n->workgroup_id[d] = (u32)(index % n->workgroup_count[d]);
        index /= n->workgroup_count[d];
        n->global_id[d] = n->workgroup_id[d] * n->workgroup_size[d] + n->local_id[d];
    }
}

/* ---- choosing a function by operand type ------------------------------------------------- */

/*
 * LS_NATIVE_NAME(f, type) is the name under which f is defined for a type: f_i32 in C, where
 * _Generic picks one, and plain f in C++, where overloading does. Integer operands are promoted
 * first, so there are four types; long and long long are both i64.
 */
#ifdef __cplusplus
#define LS_NATIVE_NAME(f, type) f
#define LS_NATIVE_INT(f, x) f
#define LS_NATIVE_FLOAT(f, x) f
#define LS_NATIVE_POINTER(f, p) f
static inline i32 ls_native_promote(int x) { return x; }
static inline u32 ls_native_promote(unsigned x) { return x; }
static inline i64 ls_native_promote(long x) { return x; }
static inline u64 ls_native_promote(unsigned long x) { return x; }
static inline i64 ls_native_promote(long long x) { return x; }
static inline u64 ls_native_promote(unsigned long long x) { return x; }
#else
#define LS_NATIVE_NAME(f, type) f##_##type
#define LS_NATIVE_INT(f, x) _Generic(+(x), \
    int: f##_i32, unsigned: f##_u32, long: f##_i64, unsigned long: f##_u64, \
    long long: f##_i64, unsigned long long: f##_u64)
#define LS_NATIVE_FLOAT(f, x) _Generic((x), f32: f##_f32, f64: f##_f64)
#define LS_NATIVE_POINTER(f, p) _Generic((p), \
    i32 *: f##_i32, u32 *: f##_u32, i64 *: f##_i64, u64 *: f##_u64)
#define ls_native_promote(x) (x)
#endif

/* ---- integers ---------------------------------------------------------------------------- */

/* mulhi: the upper half of the double-width product. */
static inline u32 LS_NATIVE_NAME(ls_native_mulhi, u32)(u32 a, u32 b)
{
    return (u32)(((u64)a * b) >> 32);
}

static inline i32 LS_NATIVE_NAME(ls_native_mulhi, i32)(i32 a, i32 b)
{
    return (i32)(((i64)a * b) >> 32);
}

static inline u64 LS_NATIVE_NAME(ls_native_mulhi, u64)(u64 a, u64 b)
{
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 mid = a1 * b0 + ((a0 * b0) >> 32);
    u64 mid2 = a0 * b1 + (u32)mid;
    return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

static inline i64 LS_NATIVE_NAME(ls_native_mulhi, i64)(i64 a, i64 b)
{
    u64 high = LS_NATIVE_NAME(ls_native_mulhi, u64)((u64)a, (u64)b);
    /* Read as unsigned, a negative operand is 2^64 too large. */
    return (i64)(high - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0));
}

/* For T with as many bits as the unsigned type U; LOW and HIGH are the ends of its range. */
#define LS_NATIVE_DEFINE_INT(T, U, BITS, LOW, HIGH, POPCOUNT, CLZ, CTZ) \
    static inline T LS_NATIVE_NAME(ls_native_min, T)(T a, T b) { return b < a ? b : a; } \
    static inline T LS_NATIVE_NAME(ls_native_max, T)(T a, T b) { return a < b ? b : a; } \
    static inline u32 LS_NATIVE_NAME(ls_native_popcount, T)(T x) { return (u32)POPCOUNT((U)x); } \
    static inline u32 LS_NATIVE_NAME(ls_native_clz, T)(T x) \
    { \
        return x == 0 ? BITS : (u32)CLZ((U)x); \
    } \
    static inline u32 LS_NATIVE_NAME(ls_native_ctz, T)(T x) \
    { \
        return x == 0 ? BITS : (u32)CTZ((U)x); \
    } \
    static inline T LS_NATIVE_NAME(ls_native_rotl, T)(T x, u32 n) \
    { \
        return (T)((U)x << (n % BITS) | (U)x >> ((0u - n) % BITS)); \
    } \
    static inline T LS_NATIVE_NAME(ls_native_rotr, T)(T x, u32 n) \
    { \
        return (T)((U)x >> (n % BITS) | (U)x << ((0u - n) % BITS)); \
    } \
    static inline T LS_NATIVE_NAME(ls_native_add_sat, T)(T a, T b) \
    { \
        T sum; \
        return !__builtin_add_overflow(a, b, &sum) ? sum : b < 1 ? LOW : HIGH; \
    } \
    static inline T LS_NATIVE_NAME(ls_native_sub_sat, T)(T a, T b) \
    { \
        T difference; \
        return !__builtin_sub_overflow(a, b, &difference) ? difference : a < b ? LOW : HIGH; \
    }

LS_NATIVE_DEFINE_INT(i32, u32, 32u, INT32_MIN, INT32_MAX, __builtin_popcount, __builtin_clz,
                     __builtin_ctz)
LS_NATIVE_DEFINE_INT(u32, u32, 32u, 0u, UINT32_MAX, __builtin_popcount, __builtin_clz,
                     __builtin_ctz)
LS_NATIVE_DEFINE_INT(i64, u64, 64u, INT64_MIN, INT64_MAX, __builtin_popcountll, __builtin_clzll,
                     __builtin_ctzll)
LS_NATIVE_DEFINE_INT(u64, u64, 64u, 0u, UINT64_MAX, __builtin_popcountll, __builtin_clzll,
                     __builtin_ctzll)

static inline i32 LS_NATIVE_NAME(ls_native_abs, i32)(i32 x)
{
    return x < 0 ? (i32)(0u - (u32)x) : x;
}
static inline i64 LS_NATIVE_NAME(ls_native_abs, i64)(i64 x)
{
    return x < 0 ? (i64)(0u - (u64)x) : x;
}
static inline u32 LS_NATIVE_NAME(ls_native_abs, u32)(u32 x) { return x; }
static inline u64 LS_NATIVE_NAME(ls_native_abs, u64)(u64 x) { return x; }

#define LS_NATIVE_INT1(f, x) LS_NATIVE_INT(f, x)(ls_native_promote(x))
#define LS_NATIVE_INT2(f, a, b) LS_NATIVE_INT(f, a)(ls_native_promote(a), ls_native_promote(b))
#define min(a, b) LS_NATIVE_INT2(ls_native_min, a, b)
#define max(a, b) LS_NATIVE_INT2(ls_native_max, a, b)
#define abs(x) LS_NATIVE_INT1(ls_native_abs, x)
#define popcount(x) LS_NATIVE_INT1(ls_native_popcount, x)
#define clz(x) LS_NATIVE_INT1(ls_native_clz, x)
#define ctz(x) LS_NATIVE_INT1(ls_native_ctz, x)
#define rotl(x, n) LS_NATIVE_INT(ls_native_rotl, x)(ls_native_promote(x), (u32)(n))
#define rotr(x, n) LS_NATIVE_INT(ls_native_rotr, x)(ls_native_promote(x), (u32)(n))
#define mulhi(a, b) LS_NATIVE_INT2(ls_native_mulhi, a, b)
#define add_sat(a, b) LS_NATIVE_INT2(ls_native_add_sat, a, b)
#define sub_sat(a, b) LS_NATIVE_INT2(ls_native_sub_sat, a, b)

/* Four bytes times four bytes, added to c; wraps. dot4: all signed. dot4_us: a unsigned. */
static inline i32 dot4(u32 a, u32 b, i32 c)
{
    for (u32 s = 0; s < 32; s += 8)
        c = (i32)((u32)c + (u32)((i8)(u8)(a >> s) * (i8)(u8)(b >> s)));
    return c;
}

static inline i32 dot4_us(u32 a, u32 b, i32 c)
{
    for (u32 s = 0; s < 32; s += 8)
        c = (i32)((u32)c + (u32)((i32)(u8)(a >> s) * (i8)(u8)(b >> s)));
    return c;
}

/* ---- floats ------------------------------------------------------------------------------ */

/*
 * fmin and fmax give the number when one side is NaN, and order -0 below +0. copysign and signbit
 * see a NaN as the one Kernel C has, which is positive; so does NAME_bits.
 */
#define LS_NATIVE_DEFINE_FLOAT(T, U, S, CANONICAL_NAN) \
    static inline bool LS_NATIVE_NAME(ls_native_isnan, T)(T x) { return x != x; } \
    static inline bool LS_NATIVE_NAME(ls_native_isfinite, T)(T x) { return x - x == 0; } \
    static inline bool LS_NATIVE_NAME(ls_native_isinf, T)(T x) { return x == x && x - x != 0; } \
    static inline T LS_NATIVE_NAME(ls_native_fabs, T)(T x) { return __builtin_fabs##S(x); } \
    static inline T LS_NATIVE_NAME(ls_native_sqrt, T)(T x) { return __builtin_sqrt##S(x); } \
    static inline T LS_NATIVE_NAME(ls_native_floor, T)(T x) { return __builtin_floor##S(x); } \
    static inline T LS_NATIVE_NAME(ls_native_ceil, T)(T x) { return __builtin_ceil##S(x); } \
    static inline T LS_NATIVE_NAME(ls_native_trunc, T)(T x) { return __builtin_trunc##S(x); } \
    static inline T LS_NATIVE_NAME(ls_native_rint, T)(T x) { return __builtin_rint##S(x); } \
    static inline T LS_NATIVE_NAME(ls_native_fma, T)(T a, T b, T c) \
    { \
        return __builtin_fma##S(a, b, c); \
    } \
    static inline bool LS_NATIVE_NAME(ls_native_signbit, T)(T x) \
    { \
        return x == x && __builtin_signbit(x) != 0; \
    } \
    static inline T LS_NATIVE_NAME(ls_native_copysign, T)(T x, T y) \
    { \
        return __builtin_copysign##S(x, y == y ? y : 0); \
    } \
    static inline T LS_NATIVE_NAME(ls_native_fmin, T)(T a, T b) \
    { \
        return a < b ? a : b < a ? b : a != a ? b : b != b ? a : __builtin_signbit(a) ? a : b; \
    } \
    static inline T LS_NATIVE_NAME(ls_native_fmax, T)(T a, T b) \
    { \
        return a < b ? b : b < a ? a : a != a ? b : b != b ? a : __builtin_signbit(a) ? b : a; \
    } \
    static inline U T##_bits(T x) \
    { \
        U bits; \
        __builtin_memcpy(&bits, &x, sizeof(bits)); \
        return x == x ? bits : CANONICAL_NAN; \
    } \
    static inline T T##_from_bits(U bits) \
    { \
        T x; \
        __builtin_memcpy(&x, &bits, sizeof(x)); \
        return x; \
    }

LS_NATIVE_DEFINE_FLOAT(f32, u32, f, 0x7fc00000u)
LS_NATIVE_DEFINE_FLOAT(f64, u64, , 0x7ff8000000000000u)

#define isnan(x) LS_NATIVE_FLOAT(ls_native_isnan, x)(x)
#define isinf(x) LS_NATIVE_FLOAT(ls_native_isinf, x)(x)
#define isfinite(x) LS_NATIVE_FLOAT(ls_native_isfinite, x)(x)
#define signbit(x) LS_NATIVE_FLOAT(ls_native_signbit, x)(x)
#define fabs(x) LS_NATIVE_FLOAT(ls_native_fabs, x)(x)
#define sqrt(x) LS_NATIVE_FLOAT(ls_native_sqrt, x)(x)
#define floor(x) LS_NATIVE_FLOAT(ls_native_floor, x)(x)
#define ceil(x) LS_NATIVE_FLOAT(ls_native_ceil, x)(x)
#define trunc(x) LS_NATIVE_FLOAT(ls_native_trunc, x)(x)
#define rint(x) LS_NATIVE_FLOAT(ls_native_rint, x)(x)
#define fmin(a, b) LS_NATIVE_FLOAT(ls_native_fmin, a)(a, b)
#define fmax(a, b) LS_NATIVE_FLOAT(ls_native_fmax, a)(a, b)
#define copysign(x, y) LS_NATIVE_FLOAT(ls_native_copysign, x)(x, y)
#define fma(a, b, c) LS_NATIVE_FLOAT(ls_native_fma, a)(a, b, c)

static inline f32 f16_to_f32(f16 h)
{
    u32 sign = (u32)(h.bits & 0x8000) << 16;
    u32 magnitude = h.bits & 0x7fffu;
    if (magnitude > 0x7c00)
        return f32_from_bits(0x7fc00000u);
    if (magnitude == 0x7c00)
        return f32_from_bits(sign | 0x7f800000u);
    if (magnitude < 0x0400) { /* subnormal, a multiple of 2^-24 */
        f32 x = (f32)magnitude * 0x1p-24f;
        return sign != 0 ? -x : x;
    }
    return f32_from_bits(sign | ((magnitude << 13) + ((127u - 15u) << 23)));
}

static inline f16 f32_to_f16(f32 x)
{
    u32 bits = f32_bits(x);
    u32 sign = (bits >> 16) & 0x8000u;
    u32 magnitude = bits & 0x7fffffffu;
    u32 result;
    if (magnitude > 0x7f800000u) {
        result = 0x7e00;
    } else if (magnitude >= 0x47800000u) { /* 65536 and more; 65520 rounds up to infinity below */
        result = sign | 0x7c00;
    } else if (magnitude >= 0x38800000u) { /* 2^-14: normal; half to even by adding 0xfff + odd */
        u32 odd = (magnitude >> 13) & 1;
        result = sign | ((magnitude - ((127u - 15u) << 23) + 0xfffu + odd) >> 13);
    } else { /* subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits */
        result = sign | (f32_bits(f32_from_bits(magnitude) + 0.5f) - 0x3f000000u);
    }
    f16 h = {(u16)result};
    return h;
}

static inline f32 bf16_to_f32(bf16 h) { return f32_from_bits((u32)h.bits << 16); }

static inline bf16 f32_to_bf16(f32 x)
{
    u32 bits = f32_bits(x);
    bf16 h = {(u16)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16)};
    if (x != x)
        h.bits = 0x7fc0;
    return h;
}

/* ---- atomics: lanes run one after the other ---------------------------------------------- */

#define LS_NATIVE_DEFINE_ATOMIC(T, NAME, NEW) \
    static inline T LS_NATIVE_NAME(ls_native_atomic_##NAME, T)(T *p, T v) \
    { \
        T old = *p; \
        *p = NEW; \
        return old; \
    }
#define LS_NATIVE_DEFINE_ATOMICS(T, U) \
    LS_NATIVE_DEFINE_ATOMIC(T, add, (T)((U)old + (U)v)) \
    LS_NATIVE_DEFINE_ATOMIC(T, min, v < old ? v : old) \
    LS_NATIVE_DEFINE_ATOMIC(T, max, old < v ? v : old) \
    LS_NATIVE_DEFINE_ATOMIC(T, and, old & v) \
    LS_NATIVE_DEFINE_ATOMIC(T, or, old | v) \
    LS_NATIVE_DEFINE_ATOMIC(T, xor, old ^ v) \
    LS_NATIVE_DEFINE_ATOMIC(T, exchange, v) \
    static inline T LS_NATIVE_NAME(ls_native_atomic_cas, T)(T *p, T expected, T desired) \
    { \
        T old = *p; \
        *p = old == expected ? desired : old; \
        return old; \
    }

LS_NATIVE_DEFINE_ATOMICS(i32, u32)
LS_NATIVE_DEFINE_ATOMICS(u32, u32)
LS_NATIVE_DEFINE_ATOMICS(i64, u64)
LS_NATIVE_DEFINE_ATOMICS(u64, u64)

#define atomic_add(p, v) LS_NATIVE_POINTER(ls_native_atomic_add, p)(p, v)
#define atomic_min(p, v) LS_NATIVE_POINTER(ls_native_atomic_min, p)(p, v)
#define atomic_max(p, v) LS_NATIVE_POINTER(ls_native_atomic_max, p)(p, v)
#define atomic_and(p, v) LS_NATIVE_POINTER(ls_native_atomic_and, p)(p, v)
#define atomic_or(p, v) LS_NATIVE_POINTER(ls_native_atomic_or, p)(p, v)
#define atomic_xor(p, v) LS_NATIVE_POINTER(ls_native_atomic_xor, p)(p, v)
#define atomic_exchange(p, v) LS_NATIVE_POINTER(ls_native_atomic_exchange, p)(p, v)
#define atomic_compare_exchange(p, expected, desired) \
    LS_NATIVE_POINTER(ls_native_atomic_cas, p)(p, expected, desired)

/* A native build checks no bounds. */
#define ls_bounded(p, n) (p)

/* ---- cooperation ------------------------------------------------------------------------- */

/* Lane 0's value; a kernel the reference device finds clean has the same in every lane. */
#define workgroup_uniform(x) (x)

#ifdef LS_NATIVE_TRAP
static inline void ls_native_needs_other_lanes(void) { __builtin_trap(); }
#else
#if defined(__clang__) && __clang_major__ < 14
#define LS_NATIVE_ERROR(text)
#else
#define LS_NATIVE_ERROR(text) __attribute__((__error__(text)))
#endif
void ls_native_needs_other_lanes(void)
    LS_NATIVE_ERROR("barriers and subgroup operations have no native form: a native build runs "
                    "one lane at a time (see lockstep/kernel.h, LS_NATIVE_TRAP)");
#endif

#define barrier() ls_native_needs_other_lanes()
#define grid_barrier() ls_native_needs_other_lanes()
#define subgroup_shuffle(x, lane) (ls_native_needs_other_lanes(), (void)(lane), (x))
#define subgroup_broadcast(x, lane) (ls_native_needs_other_lanes(), (void)(lane), (x))
#define subgroup_add(x) (ls_native_needs_other_lanes(), (x))
#define subgroup_min(x) (ls_native_needs_other_lanes(), (x))
#define subgroup_max(x) (ls_native_needs_other_lanes(), (x))
#define subgroup_and(x) (ls_native_needs_other_lanes(), (x))
#define subgroup_or(x) (ls_native_needs_other_lanes(), (x))
#define subgroup_xor(x) (ls_native_needs_other_lanes(), (x))
#define subgroup_ballot(x) (ls_native_needs_other_lanes(), (u32)(x))

/* ---- trap -------------------------------------------------------------------------------- */

/* Records the code; the lane goes on. */
static inline void trap(u32 code)
{
    if (ls_native.trap_count++ == 0)
        ls_native.trap_code = code;
}

/* ---- the math library -------------------------------------------------------------------- */

/*
 * The same Kernel C sources that Lockstep links into programs: beside this header when installed,
 * in src/ in the source tree. Accuracy: docs/numerics-math.md.
 */
#if __has_include("math/all.kc")
#include "math/all.kc"
#else
#include "../../src/kernels/math/all.kc"
#endif

#define exp(x) ls_exp(x)
#define exp2(x) ls_exp2(x)
#define log(x) ls_log(x)
#define log2(x) ls_log2(x)
#define sin(x) ls_sin(x)
#define cos(x) ls_cos(x)
#define tanh(x) ls_tanh(x)
#define pow(x, y) ls_pow(x, y)
#define rsqrt(x) ls_rsqrt(x)

#endif
