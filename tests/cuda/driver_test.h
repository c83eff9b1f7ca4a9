/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the emulated CUDA driver share: its functions, loaded as an application loads them,
 * and short ways to compile and launch PTX that stands in the test. */
#ifndef TESTS_CUDA_DRIVER_TEST_H
#define TESTS_CUDA_DRIVER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/abi.h"

#define DRIVER(X)                                                                                  \
    X(cuInit, (unsigned))                                                                          \
    X(cuDriverGetVersion, (int *))                                                                 \
    X(cuDeviceGetCount, (int *))                                                                   \
    X(cuDeviceGet, (CUdevice *, int))                                                              \
    X(cuDeviceGetName, (char *, int, CUdevice))                                                    \
    X(cuDeviceGetUuid, (CUuuid *, CUdevice))                                                       \
    X(cuDeviceGetAttribute, (int *, int, CUdevice))                                                \
    X(cuDeviceTotalMem_v2, (size_t *, CUdevice))                                                   \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                           \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                    \
    X(cuCtxPushCurrent_v2, (CUcontext))                                                            \
    X(cuCtxPopCurrent_v2, (CUcontext *))                                                           \
    X(cuCtxSynchronize, (void))                                                                    \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                      \
    X(cuMemFree_v2, (CUdeviceptr))                                                                 \
    X(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream))                                          \
    X(cuMemAllocFromPoolAsync, (CUdeviceptr *, size_t, CUmemoryPool, CUstream))                    \
    X(cuMemFreeAsync, (CUdeviceptr, CUstream))                                                     \
    X(cuMemPoolCreate, (CUmemoryPool *, const CUmemPoolProps *))                                   \
    X(cuMemPoolDestroy, (CUmemoryPool))                                                            \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                                       \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                 \
    X(cuMemFreeHost, (void *))                                                                     \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned))                                            \
    X(cuMemHostUnregister, (void *))                                                               \
    X(cuMemHostGetDevicePointer_v2, (CUdeviceptr *, void *, unsigned))                             \
    X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                        \
    X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                              \
    X(cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, size_t))                                         \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))                         \
    X(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))                               \
    X(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                             \
    X(cuMemsetD16Async, (CUdeviceptr, unsigned short, size_t, CUstream))                           \
    X(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream))                                 \
    X(cuStreamCreate, (CUstream *, unsigned))                                                      \
    X(cuStreamDestroy_v2, (CUstream))                                                              \
    X(cuStreamQuery, (CUstream))                                                                   \
    X(cuStreamSynchronize, (CUstream))                                                             \
    X(cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                            \
    X(cuEventCreate, (CUevent *, unsigned))                                                        \
    X(cuEventDestroy_v2, (CUevent))                                                                \
    X(cuEventRecord, (CUevent, CUstream))                                                          \
    X(cuEventQuery, (CUevent))                                                                     \
    X(cuEventSynchronize, (CUevent))                                                               \
    X(cuEventElapsedTime, (float *, CUevent, CUevent))                                             \
    X(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, int *, void **))                    \
    X(cuModuleUnload, (CUmodule))                                                                  \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                 \
    X(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *))                     \
    X(cuFuncGetAttribute, (int *, int, CUfunction))                                                \
    X(cuFuncSetAttribute, (CUfunction, int, int))                                                  \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t))               \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                       unsigned, CUstream, void **, void **))                                      \
    X(cuLaunchCooperativeKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,    \
                                  unsigned, unsigned, CUstream, void **))                          \
    X(cuLinkCreate_v2, (unsigned, int *, void **, CUlinkState *))                                  \
    X(cuLinkAddData_v2,                                                                            \
      (CUlinkState, int, void *, size_t, const char *, unsigned, int *, void **))                  \
    X(cuLinkComplete, (CUlinkState, void **, size_t *))                                            \
    X(cuLinkDestroy, (CUlinkState))                                                                \
    X(cuGetErrorName, (CUresult, const char **))                                                   \
    X(cuGetErrorString, (CUresult, const char **))                                                 \
    X(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *))                          \
    X(cuGraphCreate, (CUgraph *, unsigned))                                                        \
    X(cuGraphDestroy, (CUgraph))                                                                   \
    X(cuGraphAddKernelNode,                                                                        \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *))   \
    X(cuGraphKernelNodeSetAttribute, (CUgraphNode, int, const void *))                             \
    X(cuGraphAddMemcpyNode,                                                                        \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext))     \
    X(cuGraphAddMemsetNode, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,                  \
                             const CUDA_MEMSET_NODE_PARAMS *, CUcontext))                          \
    X(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long))                   \
    X(cuGraphExecDestroy, (CUgraphExec))                                                           \
    X(cuGraphExecKernelNodeSetParams,                                                              \
      (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *))                              \
    X(cuGraphExecMemcpyNodeSetParams,                                                              \
      (CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext))                                \
    X(cuGraphExecMemsetNodeSetParams,                                                              \
      (CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext))                      \
    X(cuGraphLaunch, (CUgraphExec, CUstream))

typedef struct driver_functions {
#define X(name, arguments) CUresult(*name) arguments;
    DRIVER(X)
#undef X
    void (*configure)(const char *settings);
    uint64_t (*count)(const char *name);
} driver_functions;
extern driver_functions cu;
extern CUcontext test_context;

#define good(call) assert_int_equal(call, CUDA_SUCCESS)
#define HEADER ".version 7.0\n.target sm_75\n.address_size 64\n"

/* Loads libcuda.so.1, which must be the emulated one; cuInit with `settings`, and a context that is
 * current. finish gives it back. For cmocka's setups and teardowns, with `*state` the settings. */
int driver_setup(void **state);
int driver_teardown(void **state);
/* Fails with the log when the text does not compile. */
CUmodule driver_compile(const char *ptx);
CUfunction driver_kernel(CUmodule module, const char *name);
/* The log of a text that must not compile; in static memory. */
const char *driver_refusal(const char *ptx);
/* One parameter, an address; waits for the end. */
CUresult driver_run(CUfunction kernel, unsigned blocks, unsigned threads, CUdeviceptr address);
CUdeviceptr driver_upload(const void *bytes, size_t size);
void driver_download(void *bytes, CUdeviceptr from, size_t size);

#endif
