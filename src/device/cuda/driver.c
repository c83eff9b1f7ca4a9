/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads libcuda. It stays for good: it cannot be unloaded. RTLD_LOCAL, because a driver may bring
 * another LLVM than ours.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "device/cuda/driver.h"

static const char library_name[] = "libcuda.so.1";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool found; /* under the lock; `driver` is constant once it is set */
static ls__cuda_driver driver;

/* --- calls ------------------------------------------------------------------------------------ */
void ls__cuda_enter(ls__cuda_guard *guard)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &guard->signals);
    ls__os_fenv_enter(&guard->environment);
}

void ls__cuda_leave(const ls__cuda_guard *guard)
{
    ls__os_fenv_leave(&guard->environment);
    pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
}

void ls__cuda_take_signals(const ls__cuda_guard *guard)
{
    sigset_t all;
    pthread_sigmask(SIG_SETMASK, &guard->signals, &all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

bool ls__cuda_is_refusal(ls__cu_result result)
{
    switch (result) {
    case LS__CU_INVALID_VALUE:
    case LS__CU_OUT_OF_MEMORY:
    case LS__CU_INVALID_IMAGE:
    case LS__CU_NO_BINARY:
    case LS__CU_INVALID_PTX:
    case LS__CU_NO_JIT_COMPILER:
    case LS__CU_UNSUPPORTED_PTX_VERSION:
    case LS__CU_JIT_DISABLED:
    case LS__CU_NOT_FOUND:
    case LS__CU_LAUNCH_OUT_OF_RESOURCES:
    case LS__CU_ALREADY_REGISTERED:
    case LS__CU_COOPERATIVE_TOO_LARGE:
    case LS__CU_NOT_PERMITTED:
    case LS__CU_NOT_SUPPORTED:
    case LS__CU_GRAPH_UPDATE_FAILED:
        return true;
    default:
        return false;
    }
}

static ls_status status_of(ls__cu_result result)
{
    switch (result) {
    case LS__CU_OUT_OF_MEMORY:
        return LS_E_OUT_OF_MEMORY;
    case LS__CU_LAUNCH_OUT_OF_RESOURCES:
    case LS__CU_COOPERATIVE_TOO_LARGE:
        return LS_E_LIMIT;
    case LS__CU_NO_JIT_COMPILER:
    case LS__CU_UNSUPPORTED_PTX_VERSION:
    case LS__CU_JIT_DISABLED:
    case LS__CU_NO_BINARY:
    case LS__CU_NOT_SUPPORTED:
        return LS_E_UNSUPPORTED;
    default:
        return ls__cuda_is_refusal(result) ? LS_E_INTERNAL : LS_E_INDETERMINATE;
    }
}

ls_status ls__cuda_fail(const ls__cuda_functions *cu, ls_error *error, ls__cu_result result,
                        const char *what)
{
    const char *name = NULL, *text = NULL;
    if (cu->GetErrorName(result, &name) != LS__CU_SUCCESS || !name)
        name = "CUresult";
    if (cu->GetErrorString(result, &text) != LS__CU_SUCCESS || !text)
        text = "error";
    return ls__fail(error, status_of(result), "CUDA cannot %s: %s (%s, %d)", what, text, name,
                    result);
}

ls_status ls__cuda_fail_bytes(const ls__cuda_functions *cu, ls_error *error, ls__cu_result result,
                              const char *what, uint64_t bytes)
{
    char text[96];
    snprintf(text, sizeof text, "%s %" PRIu64 " bytes", what, bytes);
    return ls__cuda_fail(cu, error, result, text);
}

/* --- loading ---------------------------------------------------------------------------------- */
static ls_status load_library(ls__cuda_functions *cu, ls_error *error)
{
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return ls__fail(error, LS_E_UNSUPPORTED, "the NVIDIA driver is not there: %s", dlerror());
#define LS_CUDA(member, exported, arguments)                                                       \
    *(void **)&cu->member = dlsym(library, exported);                                              \
    if (!cu->member)                                                                               \
        return ls__fail(error, LS_E_UNSUPPORTED,                                                   \
                        "the NVIDIA driver is too old: it has no " exported                        \
                        "; drivers for CUDA 11.4 and later do");
#include "device/cuda/functions.def"
    return LS_OK;
}

static ls_status start(ls__cuda_driver *made, ls_error *error)
{
    ls__cu_result result = made->cu.Init(0);
    if (result == LS__CU_NO_DEVICE)
        return ls__fail(error, LS_E_UNSUPPORTED, "the NVIDIA driver has found no device");
    if (result == LS__CU_STUB_LIBRARY)
        return ls__fail(error, LS_E_UNSUPPORTED, "%s is the stub of the CUDA toolkit, not a driver",
                        library_name);
    if (result == LS__CU_SUCCESS)
        result = made->cu.DriverGetVersion(&made->version);
    if (result != LS__CU_SUCCESS) {
        ls__cuda_fail(&made->cu, error, result, "start");
        if (error)
            error->code = error->cause = LS_E_UNSUPPORTED;
        return LS_E_UNSUPPORTED;
    }
    if (made->version < LS__CUDA_LEAST_VERSION)
        return ls__fail(error, LS_E_UNSUPPORTED,
                        "the NVIDIA driver is for CUDA %d.%d, one for 11.4 or later is needed",
                        made->version / 1000, made->version % 1000 / 10);
    return LS_OK;
}

static ls_status list_devices(ls__cuda_driver *made, ls_error *error)
{
    int count = 0;
    ls__cu_result result = made->cu.DeviceGetCount(&count);
    for (int i = 0; i < count && i < LS__CUDA_MAX_DEVICES && result == LS__CU_SUCCESS; i++) {
        ls__cuda_physical *physical = &made->physical[i];
        result = made->cu.DeviceGet(&physical->handle, i);
        if (result == LS__CU_SUCCESS)
            ls__cuda_inspect(&made->cu, physical);
        made->physical_count++;
    }
    if (result != LS__CU_SUCCESS)
        return ls__cuda_fail(&made->cu, error, result, "list devices");
    if (count == 0)
        return ls__fail(error, LS_E_UNSUPPORTED, "the NVIDIA driver has found no device");
    return LS_OK;
}

static ls_status find(ls_error *error)
{
    static ls__cuda_driver made; /* large; under the lock */
    memset(&made, 0, sizeof made);
    ls_status status = load_library(&made.cu, error);
    if (status == LS_OK)
        status = start(&made, error);
    if (status == LS_OK)
        status = list_devices(&made, error);
    if (status == LS_OK)
        driver = made;
    return status;
}

ls_status ls__cuda_driver_get(const ls__cuda_driver **result, ls_error *error)
{
    ls__cuda_guard guard;
    ls_status status = LS_OK;
    pthread_mutex_lock(&lock);
    if (!found) {
        ls__cuda_enter(&guard);
        status = find(error);
        ls__cuda_leave(&guard);
        found = status == LS_OK;
    }
    pthread_mutex_unlock(&lock);
    *result = &driver;
    return status;
}
