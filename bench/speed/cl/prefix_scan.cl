/* SPDX-License-Identifier: Apache-2.0 */
/* examples/kernels/prefix_scan.kc as two kernels; sums and scans go through local memory. */
enum { ROWS = 128, LANES = 32 };

/* The sum of x over the workgroup; `lanes` has LANES elements. */
static u32 sum_all(u32 x, __local u32 *lanes)
{
    u32 lane = local_index();
    barrier();
    lanes[lane] = x;
    barrier();
    for (u32 step = LANES / 2; step > 0; step /= 2) {
        if (lane < step)
            lanes[lane] += lanes[lane + step];
        barrier();
    }
    return lanes[0];
}

kernel workgroup(LANES) void prefix_scan_a(u32 n, __global const u32 *x, __global u32 *totals,
                                           __global u32 *y, u32 ls_iteration)
{
    shared u32 lanes[LANES];

    u32 first = workgroup_id(0) * ROWS * LANES + local_index();
    u32 sum = 0;
    for (u32 row = 0; row < ROWS; row++)
        sum += first + row * LANES < n ? x[first + row * LANES] : 0;
    sum = sum_all(sum, lanes);
    if (local_index() == 0)
        totals[workgroup_id(0)] = sum;
}

kernel workgroup(LANES) void prefix_scan_b(u32 n, __global const u32 *x, __global u32 *totals,
                                           __global u32 *y, u32 ls_iteration)
{
    shared u32 lanes[LANES];

    u32 lane = local_index();
    u32 first = workgroup_id(0) * ROWS * LANES + lane;
    u32 before = 0;
    for (u32 w = lane; w < workgroup_id(0); w += LANES)
        before += totals[w];
    u32 carry = sum_all(before, lanes);
    for (u32 row = 0; row < ROWS; row++) {
        u32 i = first + row * LANES;
        u32 sum = i < n ? x[i] : 0;
        barrier();
        lanes[lane] = sum;
        barrier();
        for (u32 distance = 1; distance < LANES; distance *= 2) {
            u32 left = lane >= distance ? lanes[lane - distance] : 0;
            barrier();
            sum += left;
            lanes[lane] = sum;
            barrier();
        }
        if (i < n)
            y[i] = carry + sum;
        carry += lanes[LANES - 1];
    }
}
