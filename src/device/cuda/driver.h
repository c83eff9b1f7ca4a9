/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's driver: libcuda.so.1, loaded when it is first asked for and kept, and the devices it
 * knows. Nothing of CUDA is needed to build: the types and numbers that are used stand here. They
 * are facts of the driver's ABI; tests/cuda/test_facts.c compares them with cuda.h where that is
 * installed.
 *
 * Drivers start threads, which inherit the signal mask and the floating-point environment of the
 * thread that makes them, so every call into the driver stands between ls__cuda_enter and
 * ls__cuda_leave or comes from a thread of ours.
 */
#ifndef LS_DEVICE_CUDA_DRIVER_H
#define LS_DEVICE_CUDA_DRIVER_H

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os.h"
#include "lockstep/base.h"

/* --- types ------------------------------------------------------------------------------------ */
typedef int ls__cu_result;
typedef int ls__cu_device; /* ordinal */
typedef unsigned long long ls__cu_address;
typedef struct ls__cu_context_object *ls__cu_context;
typedef struct ls__cu_stream_object *ls__cu_stream;
typedef struct ls__cu_event_object *ls__cu_event;
typedef struct ls__cu_module_object *ls__cu_module;
typedef struct ls__cu_function_object *ls__cu_function;
typedef struct ls__cu_link_object *ls__cu_link;
typedef struct ls__cu_pool_object *ls__cu_pool;
typedef struct ls__cu_graph_object *ls__cu_graph;
typedef struct ls__cu_node_object *ls__cu_node;
typedef struct ls__cu_executable_object *ls__cu_executable;

typedef struct ls__cu_uuid {
    char bytes[16];
} ls__cu_uuid;

typedef struct ls__cu_pool_params { /* CUmemPoolProps */
    int allocation_type;            /* LS__CU_ALLOCATION_PINNED */
    int handle_types;               /* 0 */
    int location_type;              /* LS__CU_LOCATION_DEVICE */
    int location;                   /* the device */
    void *reserved_pointer;
    size_t max_bytes; /* 0: as the system likes */
    unsigned char reserved[56];
} ls__cu_pool_params;

typedef struct ls__cu_kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v1 */
    ls__cu_function function;
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    void **parameters;
    void **extra;
} ls__cu_kernel_node;

typedef struct ls__cu_copy_side {
    size_t x_bytes, y, z, level;
    int memory_type; /* LS__CU_MEMORY_* */
    void *host;
    ls__cu_address device;
    void *array;
    void *reserved;
    size_t pitch, height;
} ls__cu_copy_side;

typedef struct ls__cu_copy_node { /* CUDA_MEMCPY3D_v2 */
    ls__cu_copy_side source, target;
    size_t width_bytes, height, depth;
} ls__cu_copy_node;

typedef struct ls__cu_set_node { /* CUDA_MEMSET_NODE_PARAMS_v1 */
    ls__cu_address target;
    size_t pitch;
    unsigned value, element_bytes; /* 1, 2 or 4 */
    size_t width, height;          /* elements, rows */
} ls__cu_set_node;

typedef union ls__cu_node_attribute { /* CUkernelNodeAttrValue, which has grown to this */
    int cooperative;
    char room[64];
} ls__cu_node_attribute;

/* --- numbers ---------------------------------------------------------------------------------- */
enum { /* CUresult */
       LS__CU_SUCCESS = 0,
       LS__CU_INVALID_VALUE = 1,
       LS__CU_OUT_OF_MEMORY = 2,
       LS__CU_STUB_LIBRARY = 34,
       LS__CU_NO_DEVICE = 100,
       LS__CU_INVALID_IMAGE = 200,
       LS__CU_NO_BINARY = 209,
       LS__CU_INVALID_PTX = 218,
       LS__CU_NO_JIT_COMPILER = 221,
       LS__CU_UNSUPPORTED_PTX_VERSION = 222,
       LS__CU_JIT_DISABLED = 223,
       LS__CU_NOT_FOUND = 500,
       LS__CU_NOT_READY = 600,
       LS__CU_ILLEGAL_ADDRESS = 700,
       LS__CU_LAUNCH_OUT_OF_RESOURCES = 701,
       LS__CU_ALREADY_REGISTERED = 712,
       LS__CU_LAUNCH_FAILED = 719,
       LS__CU_COOPERATIVE_TOO_LARGE = 720,
       LS__CU_NOT_PERMITTED = 800,
       LS__CU_NOT_SUPPORTED = 801,
       LS__CU_GRAPH_UPDATE_FAILED = 910,
       LS__CU_UNKNOWN = 999
};

enum { /* CUdevice_attribute */
       LS__CU_MAX_THREADS_PER_BLOCK = 1,
       LS__CU_MAX_GRID_X = 5,
       LS__CU_MAX_GRID_Y = 6,
       LS__CU_MAX_GRID_Z = 7,
       LS__CU_MAX_SHARED_PER_BLOCK = 8,
       LS__CU_WARP_SIZE = 10,
       LS__CU_MAX_REGISTERS_PER_BLOCK = 12,
       LS__CU_MULTIPROCESSORS = 16,
       LS__CU_INTEGRATED = 18,
       LS__CU_COMPUTE_MODE = 20,
       LS__CU_UNIFIED_ADDRESSING = 41,
       LS__CU_CAPABILITY_MAJOR = 75,
       LS__CU_CAPABILITY_MINOR = 76,
       LS__CU_COOPERATIVE_LAUNCH = 95,
       LS__CU_HOST_REGISTER = 99,
       LS__CU_MEMORY_POOLS = 115
};

enum {
    LS__CU_COMPUTE_MODE_PROHIBITED = 2,

    LS__CU_FUNCTION_MAX_THREADS = 0, /* CUfunction_attribute */
    LS__CU_FUNCTION_SHARED_BYTES = 1,
    LS__CU_FUNCTION_LOCAL_BYTES = 3,
    LS__CU_FUNCTION_REGISTERS = 4,

    LS__CU_JIT_INFO_LOG = 3, /* CUjit_option */
    LS__CU_JIT_INFO_LOG_BYTES = 4,
    LS__CU_JIT_ERROR_LOG = 5,
    LS__CU_JIT_ERROR_LOG_BYTES = 6,
    LS__CU_JIT_INPUT_PTX = 1, /* CUjitInputType */

    LS__CU_STREAM_NON_BLOCKING = 1,
    LS__CU_EVENT_DEFAULT = 0,
    LS__CU_EVENT_NO_TIMING = 2,

    LS__CU_HOST_ALLOC_PORTABLE = 1,
    LS__CU_HOST_REGISTER_PORTABLE = 1,
    LS__CU_HOST_REGISTER_DEVICE_MAP = 2,

    LS__CU_ALLOCATION_PINNED = 1,
    LS__CU_LOCATION_DEVICE = 1,
    LS__CU_POOL_RELEASE_THRESHOLD = 4, /* a uint64_t */

    LS__CU_MEMORY_HOST = 1,
    LS__CU_MEMORY_DEVICE = 2,

    LS__CU_NODE_COOPERATIVE = 2 /* CUkernelNodeAttrID */
};

/* --- the driver ------------------------------------------------------------------------------- */
typedef struct ls__cuda_functions {
#define LS_CUDA(member, exported, arguments) ls__cu_result(*member) arguments;
#include "device/cuda/functions.def"
} ls__cuda_functions;

enum { LS__CUDA_MAX_DEVICES = 64, LS__CUDA_LEAST_CAPABILITY = 75, LS__CUDA_LEAST_VERSION = 11040 };

typedef struct ls__cuda_physical {
    ls__cu_device handle;
    char description[128];
    char missing[256];   /* what it lacks, for people; empty: usable */
    uint32_t capability; /* 75: compute capability 7.5 */
    uint8_t uuid[16];
    uint64_t memory_bytes;
    uint32_t max_threads, max_shared_bytes, max_registers, multiprocessors;
    uint32_t max_grid[3];
    bool software;    /* named "emulated..." */
    bool pools;       /* memory in the order of streams */
    bool import_host; /* memory of the host can be registered */
    bool cooperative; /* grids whose workgroups wait for each other */
    bool integrated;  /* its memory is the host's */
} ls__cuda_physical;

typedef struct ls__cuda_driver {
    ls__cuda_functions cu;
    int version; /* 11040: for CUDA 11.4 */
    ls__cuda_physical physical[LS__CUDA_MAX_DEVICES];
    uint32_t physical_count;
} ls__cuda_driver;

/* Loads libcuda and looks at the devices, once; constant from then on. LS_E_UNSUPPORTED says why
 * there is none; the next call tries again. */
ls_status ls__cuda_driver_get(const ls__cuda_driver **driver, ls_error *error);

/* Looks at physical->handle: fills in the rest (physical.c). */
void ls__cuda_inspect(const ls__cuda_functions *cu, ls__cuda_physical *physical);

/* --- calls ------------------------------------------------------------------------------------ */
typedef struct ls__cuda_guard {
    ls__os_fenv environment;
    sigset_t signals;
} ls__cuda_guard;
/* The default floating-point environment, and no signals, until `leave`. */
void ls__cuda_enter(ls__cuda_guard *guard);
void ls__cuda_leave(const ls__cuda_guard *guard);
/* Takes the signals that have come since `enter`, for who waits between calls. */
void ls__cuda_take_signals(const ls__cuda_guard *guard);

/* Whether after this result the context goes on as if the call had not been made. All others stand
 * for a device whose state nobody knows. */
bool ls__cuda_is_refusal(ls__cu_result result);
/* The status that a result stands for, with `what` failed. */
ls_status ls__cuda_fail(const ls__cuda_functions *cu, ls_error *error, ls__cu_result result,
                        const char *what);
/* "what 16 bytes". */
ls_status ls__cuda_fail_bytes(const ls__cuda_functions *cu, ls_error *error, ls__cu_result result,
                              const char *what, uint64_t bytes);

#endif
