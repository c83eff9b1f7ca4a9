/* SPDX-License-Identifier: Apache-2.0 */
/* What Kernel C has and OpenCL C calls by other names. */
#pragma OPENCL FP_CONTRACT OFF

typedef char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef float f32;

#define SPEC(type, name, value) enum { name = value }
#define shared __local
#define workgroup(...) WORKGROUP(__VA_ARGS__, 1, 1, 1)
#define WORKGROUP(x, y, z, ...) __attribute__((reqd_work_group_size(x, y, z)))

#define global_id(d) ((u32)get_global_id(d))
#define local_id(d) ((u32)get_local_id(d))
#define local_index()                                                                              \
    (local_id(0) + workgroup_size(0) * (local_id(1) + workgroup_size(1) * local_id(2)))
#define workgroup_id(d) ((u32)get_group_id(d))
#define workgroup_size(d) ((u32)get_local_size(d))
#define workgroup_count(d) ((u32)get_num_groups(d))
#define iteration() ls_iteration
#define barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#define rotr(x, n) rotate(x, 32u - (n))
#define f32_bits(x) as_uint(x)
#define f32_from_bits(n) as_float(n)

/* The library's rsqrt, as in src/kernels/math/rsqrt.kc for normal positive numbers: the same
 * operations for everyone. */
static f32 ls_high(f32 x)
{
    return f32_from_bits(f32_bits(x) & 0xfffff000u);
}

static f32 ls_rsqrt(f32 x)
{
    u32 bits = f32_bits(x) - 0x3f800000u;
    i32 k = (i32)bits >> 24;
    f32 m = f32_from_bits((bits & 0x00ffffffu) + 0x3f800000u);
    f32 s = sqrt(m);
    f32 y = 1.0f / s;
    f32 s_h = ls_high(s);
    f32 s_l = s - s_h;
    f32 y_h = ls_high(y);
    f32 y_l = y - y_h;
    f32 root_error = ((m - s_h * s_h) - 2.0f * s_h * s_l) - s_l * s_l;
    f32 inverse_error = ((1.0f - s_h * y_h) - (s_h * y_l + s_l * y_h)) - s_l * y_l;
    y = y + y * (inverse_error - 0.5f * root_error * (y * y));
    return y * f32_from_bits((u32)(127 - k) << 23);
}
#undef rsqrt
#define rsqrt(x) ls_rsqrt(x)
