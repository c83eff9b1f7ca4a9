/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the CUDA driver's binary interface that the emulated driver has: types, numbers,
 * structures. Facts of that interface, in declarations of our own; handles are objects of the
 * emulated driver. ../test_driver_header.c calls it through NVIDIA's header where that is
 * installed.
 */
#ifndef EMULATED_CUDA_ABI_H
#define EMULATED_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

#define RESULTS(X)                                                                                 \
    X(SUCCESS, 0, "no error")                                                                      \
    X(ERROR_INVALID_VALUE, 1, "invalid argument")                                                  \
    X(ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                     \
    X(ERROR_NOT_INITIALIZED, 3, "cuInit was not called")                                           \
    X(ERROR_DEVICE_UNAVAILABLE, 46, "the device is not available")                                 \
    X(ERROR_NO_DEVICE, 100, "there is no device")                                                  \
    X(ERROR_INVALID_DEVICE, 101, "no such device")                                                 \
    X(ERROR_INVALID_IMAGE, 200, "the image of the module is not valid")                            \
    X(ERROR_INVALID_CONTEXT, 201, "no valid context")                                              \
    X(ERROR_NO_BINARY_FOR_GPU, 209, "the module is for another architecture")                      \
    X(ERROR_ECC_UNCORRECTABLE, 214, "memory error that cannot be corrected")                       \
    X(ERROR_INVALID_PTX, 218, "the PTX does not compile")                                          \
    X(ERROR_JIT_COMPILER_NOT_FOUND, 221, "there is no PTX compiler")                               \
    X(ERROR_UNSUPPORTED_PTX_VERSION, 222, "the PTX is newer than the driver")                      \
    X(ERROR_INVALID_HANDLE, 400, "invalid handle")                                                 \
    X(ERROR_NOT_FOUND, 500, "no such name")                                                        \
    X(ERROR_NOT_READY, 600, "not ready")                                                           \
    X(ERROR_ILLEGAL_ADDRESS, 700, "a kernel accessed an illegal address")                          \
    X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources for a launch")                       \
    X(ERROR_LAUNCH_TIMEOUT, 702, "a kernel ran for too long")                                      \
    X(ERROR_CONTEXT_IS_DESTROYED, 709, "the context is destroyed")                                 \
    X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "host memory is registered already")              \
    X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "host memory is not registered")                      \
    X(ERROR_ILLEGAL_INSTRUCTION, 715, "a kernel ran an illegal instruction")                       \
    X(ERROR_MISALIGNED_ADDRESS, 716, "a kernel accessed a misaligned address")                     \
    X(ERROR_LAUNCH_FAILED, 719, "a kernel failed")                                                 \
    X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks for a cooperative launch")         \
    X(ERROR_NOT_SUPPORTED, 801, "not supported")                                                   \
    X(ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, "the graph cannot be updated so")                      \
    X(ERROR_UNKNOWN, 999, "unknown error")

typedef enum CUresult {
#define X(name, value, text) CUDA_##name = value,
    RESULTS(X)
#undef X
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct context *CUcontext;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct module *CUmodule;
typedef struct kernel *CUfunction;
typedef struct linking *CUlinkState;
typedef struct pool *CUmemoryPool;
typedef struct graph *CUgraph;
typedef struct graph_node *CUgraphNode;
typedef struct graph_exec *CUgraphExec;
typedef void (*CUhostFn)(void *);

typedef struct CUuuid {
    char bytes[16];
} CUuuid;

typedef struct CUmemLocation {
    int type, id;
} CUmemLocation;

typedef struct CUmemPoolProps {
    int allocType, handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

typedef struct CUDA_KERNEL_NODE_PARAMS_v1 {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUDA_KERNEL_NODE_PARAMS_v2 {
    CUDA_KERNEL_NODE_PARAMS_v1 first;
    void *kern;
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;

typedef struct CUDA_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray, *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray, *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct CUDA_MEMSET_NODE_PARAMS {
    CUdeviceptr dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;

enum { MEMORY_TYPE_HOST = 1, MEMORY_TYPE_DEVICE = 2, MEMORY_TYPE_UNIFIED = 4 };
enum { JIT_INFO_LOG = 3, JIT_INFO_LOG_SIZE = 4, JIT_ERROR_LOG = 5, JIT_ERROR_LOG_SIZE = 6 };
enum { JIT_INPUT_CUBIN = 0, JIT_INPUT_PTX = 1 };
enum { STREAM_NON_BLOCKING = 1 };
enum { EVENT_DISABLE_TIMING = 2 };
enum { LAUNCH_PARAM_END = 0, LAUNCH_PARAM_BUFFER_POINTER = 1, LAUNCH_PARAM_BUFFER_SIZE = 2 };
enum { POOL_RELEASE_THRESHOLD = 4, POOL_RESERVED_CURRENT = 5, POOL_USED_CURRENT = 7 };

/* CUfunction_attribute */
enum {
    FUNCTION_MAX_THREADS = 0,
    FUNCTION_SHARED_BYTES = 1,
    FUNCTION_CONST_BYTES = 2,
    FUNCTION_LOCAL_BYTES = 3,
    FUNCTION_REGISTERS = 4,
    FUNCTION_PTX_VERSION = 5,
    FUNCTION_BINARY_VERSION = 6,
    FUNCTION_MAX_DYNAMIC_SHARED = 8
};

enum { NODE_ATTRIBUTE_COOPERATIVE = 2 }; /* CUkernelNodeAttrID */

/* CUdevice_attribute: number, value; `arch` is of the device, `setting` as in driver.h */
#define ATTRIBUTES(X)                                                                              \
    X(MAX_THREADS_PER_BLOCK, 1, (int)setting.block_threads)                                        \
    X(MAX_BLOCK_DIM_X, 2, 1024)                                                                    \
    X(MAX_BLOCK_DIM_Y, 3, 1024)                                                                    \
    X(MAX_BLOCK_DIM_Z, 4, 64)                                                                      \
    X(MAX_GRID_DIM_X, 5, (int)setting.grid[0])                                                     \
    X(MAX_GRID_DIM_Y, 6, (int)setting.grid[1])                                                     \
    X(MAX_GRID_DIM_Z, 7, (int)setting.grid[2])                                                     \
    X(MAX_SHARED_MEMORY_PER_BLOCK, 8, (int)setting.block_shared)                                   \
    X(TOTAL_CONSTANT_MEMORY, 9, 65536)                                                             \
    X(WARP_SIZE, 10, 32)                                                                           \
    X(MAX_PITCH, 11, 2147483647)                                                                   \
    X(MAX_REGISTERS_PER_BLOCK, 12, (int)setting.block_registers)                                   \
    X(CLOCK_RATE, 13, 1000)                                                                        \
    X(GPU_OVERLAP, 15, 1)                                                                          \
    X(MULTIPROCESSOR_COUNT, 16, PROCESSORS)                                                        \
    X(KERNEL_EXEC_TIMEOUT, 17, 0)                                                                  \
    X(INTEGRATED, 18, 0)                                                                           \
    X(CAN_MAP_HOST_MEMORY, 19, 1)                                                                  \
    X(COMPUTE_MODE, 20, 0)                                                                         \
    X(CONCURRENT_KERNELS, 31, 1)                                                                   \
    X(ECC_ENABLED, 32, 0)                                                                          \
    X(PCI_BUS_ID, 33, 0)                                                                           \
    X(PCI_DEVICE_ID, 34, 0)                                                                        \
    X(MEMORY_CLOCK_RATE, 36, 1000)                                                                 \
    X(GLOBAL_MEMORY_BUS_WIDTH, 37, 64)                                                             \
    X(L2_CACHE_SIZE, 38, 1048576)                                                                  \
    X(MAX_THREADS_PER_MULTIPROCESSOR, 39, THREADS_PER_PROCESSOR)                                   \
    X(ASYNC_ENGINE_COUNT, 40, 2)                                                                   \
    X(UNIFIED_ADDRESSING, 41, 1)                                                                   \
    X(PCI_DOMAIN_ID, 50, 0)                                                                        \
    X(COMPUTE_CAPABILITY_MAJOR, 75, arch / 10)                                                     \
    X(COMPUTE_CAPABILITY_MINOR, 76, arch % 10)                                                     \
    X(STREAM_PRIORITIES_SUPPORTED, 78, 0)                                                          \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81, SHARED_PER_PROCESSOR)                              \
    X(MAX_REGISTERS_PER_MULTIPROCESSOR, 82, REGISTERS_PER_PROCESSOR)                               \
    X(MANAGED_MEMORY, 83, 0)                                                                       \
    X(HOST_NATIVE_ATOMIC_SUPPORTED, 86, 1)                                                         \
    X(PAGEABLE_MEMORY_ACCESS, 88, 0)                                                               \
    X(CONCURRENT_MANAGED_ACCESS, 89, 0)                                                            \
    X(COMPUTE_PREEMPTION_SUPPORTED, 90, 1)                                                         \
    X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91, 1)                                              \
    X(COOPERATIVE_LAUNCH, 95, 1)                                                                   \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97, SHARED_PER_PROCESSOR - 1024)                          \
    X(HOST_REGISTER_SUPPORTED, 99, 1)                                                              \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR, 106, BLOCKS_PER_PROCESSOR)                                    \
    X(RESERVED_SHARED_MEMORY_PER_BLOCK, 111, 1024)                                                 \
    X(MEMORY_POOLS_SUPPORTED, 115, 1)

enum {
    PROCESSORS = 4,
    THREADS_PER_PROCESSOR = 1024,
    BLOCKS_PER_PROCESSOR = 16,
    REGISTERS_PER_PROCESSOR = 65536,
    SHARED_PER_BLOCK = 49152,
    SHARED_PER_PROCESSOR = 65536
};

#endif
