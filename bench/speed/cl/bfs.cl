/* SPDX-License-Identifier: Apache-2.0 */
/* examples/kernels/bfs.kc without its grid barrier: the plain load races with the atomics, which is
 * right in practice. */
kernel void bfs(u32 n, __global const u32 *offsets, __global const u32 *targets,
                __global u32 *distance, u32 ls_iteration)
{
    u32 v = global_id(0);
    if (ls_iteration == 0 && v == 0)
        distance[0] = 0;
    if (v < n && (ls_iteration == 0 ? v == 0 : distance[v] == ls_iteration)) {
        u32 end = offsets[v + 1];
        for (u32 e = offsets[v]; e < end; e++)
            atomic_min(&distance[targets[e]], ls_iteration + 1);
    }
}
