// SPDX-License-Identifier: Apache-2.0
// What test_driver_compiled.py gives to NVIDIA's compiler: the functions of driver_compiled.h, and
// blocks that share memory, vote and count. test_driver_compiled.c knows what must come out.
#define FUNCTION __device__ static
#define NOINLINE __device__ static __noinline__
#define CONSTANT __constant__ static const
#include "driver_compiled.h"

extern "C" __global__ void k_integers(const uint32_t *in, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = integers(i, in);
}

extern "C" __global__ void k_floats(const uint32_t *in, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = floats(i, in);
}

extern "C" __global__ void k_flow(const uint32_t *in, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = flow(i, in);
}

__device__ uint32_t total;

// A sum over the block by shuffles and shared memory; the number of odd words of the warp.
extern "C" __global__ void k_block(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t sums[32];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, sum = in[i];
    uint32_t odd = (uint32_t)__popc(__ballot_sync(0xffffffffu, sum & 1));
    for (int k = 16; k; k >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (uint32_t k = 0; k < blockDim.x / 32; k++)
        sum += sums[k];
    if (threadIdx.x == 0)
        atomicAdd(&total, sum);
    out[i] = sum ^ odd << 24;
}
