/* SPDX-License-Identifier: Apache-2.0 */
/* The network of examples/kernels/bitonic_sort.kc without subgroups: a compares in memory, b in a
 * tile in local memory. The iteration holds the logarithms of size and distance. */
enum { LANES = 256, TILE = 2 * LANES };

static u32 lower_index(u32 p, u32 distance) { return 2 * p - (p & (distance - 1)); }

kernel workgroup(LANES) void bitonic_sort_a(u32 n, __global u32 *x, u32 ls_iteration)
{
    u32 size = 1u << (ls_iteration >> 8);
    u32 distance = 1u << (ls_iteration & 255);
    u32 i = lower_index(global_id(0), distance);
    u32 a = x[i];
    u32 b = x[i + distance];
    bool ascending = (i & size) == 0;
    x[i] = ascending ? min(a, b) : max(a, b);
    x[i + distance] = ascending ? max(a, b) : min(a, b);
}

kernel workgroup(LANES) void bitonic_sort_b(u32 n, __global u32 *x, u32 ls_iteration)
{
    shared u32 tile[TILE];

    u32 size = 1u << (ls_iteration >> 8);
    u32 lane = local_id(0);
    u32 first = workgroup_id(0) * TILE;
    tile[lane] = x[first + lane];
    tile[lane + LANES] = x[first + lane + LANES];
    barrier();
    for (u32 distance = 1u << (ls_iteration & 255); distance > 0; distance /= 2) {
        u32 i = lower_index(lane, distance);
        u32 a = tile[i];
        u32 b = tile[i + distance];
        bool ascending = ((first + i) & size) == 0;
        tile[i] = ascending ? min(a, b) : max(a, b);
        tile[i + distance] = ascending ? max(a, b) : min(a, b);
        barrier();
    }
    x[first + lane] = tile[lane];
    x[first + lane + LANES] = tile[lane + LANES];
}
