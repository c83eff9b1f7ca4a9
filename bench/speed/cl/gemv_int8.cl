/* SPDX-License-Identifier: Apache-2.0 */
/* examples/kernels/gemv_int8.kc; vectors of four bytes instead of dot4. */
kernel workgroup(32) void gemv_int8(u32 rows, u32 words, __global const char4 *weights,
                                    __global const char4 *x, __global i32 *y, u32 ls_iteration)
{
    shared i32 lanes[32];

    u32 lane = local_id(0);
    u32 row = workgroup_id(0);
    u64 first = (u64)row * words;
    i32 sum = 0;
    for (u32 k = lane; k < words; k += 32) {
        int4 products = convert_int4(weights[first + k]) * convert_int4(x[k]);
        sum += products.x + products.y + products.z + products.w;
    }
    lanes[lane] = sum;
    barrier();
    if (row < rows && lane == 0) {
        for (u32 i = 1; i < 32; i++)
            sum += lanes[i];
        y[row] = sum;
    }
}
