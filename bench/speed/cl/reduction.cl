/* SPDX-License-Identifier: Apache-2.0 */
/* The order of examples/kernels/reduction.kc without subgroups: the butterfly in local memory. */
kernel workgroup(256) void reduction(u32 n, __global const f32 *x, __global f32 *sums,
                                     u32 ls_iteration)
{
    shared f32 lanes[256];

    u32 lane = local_index();
    f32 sum = 0.0f;
    u32 stride = workgroup_count(0) * workgroup_size(0);
    for (u64 i = global_id(0); i < n; i += stride)
        sum += x[i];
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
