/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, contexts, errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t driver_changed = PTHREAD_COND_INITIALIZER;

static int initialised;       /* atomic */
static int lost[MAX_DEVICES]; /* atomic */
static context *primaries[MAX_DEVICES];

enum { STACK = 16 };
static _Thread_local context *stack[STACK];
static _Thread_local int depth;

void *driver_need(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

CUresult context_state(const context *c)
{
    return __atomic_load_n(&c->broken, __ATOMIC_SEQ_CST);
}

CUresult context_enter(context **c)
{
    if (!__atomic_load_n(&initialised, __ATOMIC_SEQ_CST))
        return CUDA_ERROR_NOT_INITIALIZED;
    *c = depth ? stack[depth - 1] : NULL;
    return *c ? context_state(*c) : CUDA_ERROR_INVALID_CONTEXT;
}

/* The first cause stays. */
void context_break(context *c, CUresult how, const char *message)
{
    CUresult none = CUDA_SUCCESS;
    if (__atomic_compare_exchange_n(&c->broken, &none, how, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST) &&
        message && !setting.quiet)
        fprintf(stderr, "emulated CUDA: %s\n", message);
    __atomic_store_n(&c->stop, 1, __ATOMIC_SEQ_CST);
}

void device_lose(context *c)
{
    __atomic_store_n(&lost[c->device], 1, __ATOMIC_SEQ_CST);
    context_break(c, CUDA_ERROR_UNKNOWN, "the device is lost");
}

/* --- devices ------------------------------------------------------------------------------------
 */
static CUresult check_device(CUdevice device)
{
    if (!__atomic_load_n(&initialised, __ATOMIC_SEQ_CST))
        return CUDA_ERROR_NOT_INITIALIZED;
    return device >= 0 && device < setting.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API cuInit(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (!initialised) {
        if (setting.devices == 0)
            fault_configure(getenv("LOCKSTEP_EMULATED_CUDA"));
        __atomic_store_n(&initialised, 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&driver_lock);
    return setting.devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

API cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = setting.driver_version ? setting.driver_version : 13000;
    return CUDA_SUCCESS;
}

API cuDeviceGetCount(int *count)
{
    if (!__atomic_load_n(&initialised, __ATOMIC_SEQ_CST))
        return CUDA_ERROR_NOT_INITIALIZED;
    *count = setting.devices;
    return CUDA_SUCCESS;
}

API cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = check_device(ordinal);
    *device = ordinal;
    return result;
}

API cuDeviceGetName(char *name, int length, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name || length < 1)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)length, "emulated CUDA device (sm_%d)", setting.arch);
    return CUDA_SUCCESS;
}

static void fill_uuid(CUuuid *uuid, CUdevice device)
{
    static const char text[16] = "emulated CUDA.";
    memcpy(uuid->bytes, text, sizeof text);
    uuid->bytes[14] = (char)setting.arch;
    uuid->bytes[15] = (char)device;
}

API cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    fill_uuid(uuid, device);
    return check_device(device);
}

API cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid(uuid, device);
}

API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    *bytes = setting.memory;
    return check_device(device);
}

API cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    CUresult result = check_device(device);
    int arch = setting.arch;
    if (result != CUDA_SUCCESS)
        return result;
    switch (attribute) {
#define X(name, number, is)                                                                        \
    case number:                                                                                   \
        *value = is;                                                                               \
        return CUDA_SUCCESS;
        ATTRIBUTES(X)
#undef X
    default:
        *value = 0;
        return attribute > 0 && attribute < 148 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
}

API cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    *major = setting.arch / 10;
    *minor = setting.arch % 10;
    return check_device(device);
}

/* --- contexts -----------------------------------------------------------------------------------
 */
static context *context_create(CUdevice device, bool primary)
{
    context *c = driver_need(calloc(1, sizeof *c));
    c->device = device;
    c->primary = primary;
    c->legacy.context = c;
    c->pool.context = c;
    return c;
}

/* Work ends first; kernels of a broken context give up. */
static void context_destroy(context *c)
{
    stream_wait_all(c);
    while (c->streams) {
        stream *s = c->streams;
        c->streams = s->next;
        stream_finish(s);
        free(s);
    }
    stream_finish(&c->legacy);
    if (setting.report)
        fprintf(stderr,
                "emulated CUDA: context ends with %zu allocations, %u streams, %u events, "
                "%u modules, %u graphs, %u executables, %u pools\n",
                c->allocation_count, c->live_streams, c->live_events, c->live_modules,
                c->live_graphs, c->live_execs, c->live_pools);
    pthread_mutex_lock(&driver_lock);
    while (c->modules)
        module_unload(c->modules);
    memory_destroy_all(c);
    pthread_mutex_unlock(&driver_lock);
    free(c);
}

API cuDevicePrimaryCtxRetain(CUcontext *result, CUdevice device)
{
    CUresult checked = check_device(device);
    if (checked != CUDA_SUCCESS)
        return checked;
    if (__atomic_load_n(&lost[device], __ATOMIC_SEQ_CST))
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    pthread_mutex_lock(&driver_lock);
    if (!primaries[device])
        primaries[device] = context_create(device, true);
    primaries[device]->retained++;
    *result = primaries[device];
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult checked = check_device(device);
    if (checked != CUDA_SUCCESS)
        return checked;
    pthread_mutex_lock(&driver_lock);
    context *c = primaries[device];
    bool last = c && --c->retained == 0;
    if (last)
        primaries[device] = NULL;
    pthread_mutex_unlock(&driver_lock);
    if (last)
        context_destroy(c);
    return c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

API cuDevicePrimaryCtxRelease(CUdevice device)
{
    return cuDevicePrimaryCtxRelease_v2(device);
}

API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUresult checked = check_device(device);
    if (checked != CUDA_SUCCESS)
        return checked;
    *flags = 0;
    *active = primaries[device] != NULL;
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    (void)flags;
    return check_device(device);
}

API cuCtxPushCurrent_v2(CUcontext c)
{
    if (!c)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == STACK)
        return CUDA_ERROR_UNKNOWN;
    stack[depth++] = c;
    return CUDA_SUCCESS;
}

API cuCtxPopCurrent_v2(CUcontext *c)
{
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (c)
        *c = stack[depth];
    return CUDA_SUCCESS;
}

API cuCtxSetCurrent(CUcontext c)
{
    if (depth)
        depth--;
    return c ? cuCtxPushCurrent_v2(c) : CUDA_SUCCESS;
}

API cuCtxGetCurrent(CUcontext *c)
{
    *c = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

API cuCtxGetDevice(CUdevice *device)
{
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = stack[depth - 1]->device;
    return CUDA_SUCCESS;
}

API cuCtxSynchronize(void)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_sync);
    if (fault != CUDA_SUCCESS)
        return fault;
    stream_wait_all(c);
    return context_state(c);
}

API cuCtxCreate_v2(CUcontext *result, unsigned flags, CUdevice device)
{
    (void)flags;
    CUresult checked = check_device(device);
    if (checked != CUDA_SUCCESS)
        return checked;
    if (__atomic_load_n(&lost[device], __ATOMIC_SEQ_CST))
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    *result = context_create(device, false);
    return cuCtxPushCurrent_v2(*result);
}

API cuCtxDestroy_v2(CUcontext c)
{
    if (!c || c->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth && stack[depth - 1] == c)
        depth--;
    context_destroy(c);
    return CUDA_SUCCESS;
}

/* --- errors -------------------------------------------------------------------------------------
 */
API cuGetErrorName(CUresult result, const char **text)
{
    switch (result) {
#define X(name, value, words)                                                                      \
    case CUDA_##name:                                                                              \
        *text = "CUDA_" #name;                                                                     \
        return CUDA_SUCCESS;
        RESULTS(X)
#undef X
    default:
        *text = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}

API cuGetErrorString(CUresult result, const char **text)
{
    switch (result) {
#define X(name, value, words)                                                                      \
    case CUDA_##name:                                                                              \
        *text = words " (emulated)";                                                               \
        return CUDA_SUCCESS;
        RESULTS(X)
#undef X
    default:
        *text = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}
