/* SPDX-License-Identifier: Apache-2.0 */
/* The order of examples/kernels/reduction.kc without subgroups: the butterfly in local memory. */
kernel workgroup(256) void reduction(u32 n, __global const f32 *x, __global f32 *sums,
                                     u32 ls_iteration)
{
    shared f32 lanes[256];

    u32 lane = local_index();
    u32 rows = n / 32, subgroups = workgroup_count(0) * 8;
    u32 each = rows / subgroups + (rows % subgroups != 0);
    u32 subgroup = workgroup_id(0) * 8 + lane / 32;
    f32 sum = 0.0f;
    u64 first = (u64)subgroup * each, end = first + each < rows ? first + each : rows;
    for (u64 row = first; row < end; row++)
        sum += x[row * 32 + lane % 32];
    if (subgroup == subgroups - 1 && rows * 32 + lane % 32 < n)
        sum += x[rows * 32 + lane % 32];
    lanes[lane] = sum;
    barrier();
    for (u32 step = 16; step > 0; step /= 2) {
        if ((lane & 31) < step)
            lanes[lane] += lanes[lane + step];
        barrier();
    }
    if (lane == 0) {
        f32 total = lanes[0];
        for (u32 s = 1; s < 8; s++)
            total += lanes[32 * s];
        sums[workgroup_id(0)] = total;
    }
}
