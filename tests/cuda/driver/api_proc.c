/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress: functions of this library by their names, in the version that cuda.h would
 * name. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "driver.h"

static void *find(void *library, const char *name, int version)
{
    char text[128];
    /* The kernel nodes of CUDA 12 have more members. */
    bool newer = strstr(name, "KernelNode") == NULL || version >= 12000;
    snprintf(text, sizeof text, "%s_v2", name);
    void *found = newer ? dlsym(library, text) : NULL;
    return found ? found : dlsym(library, name);
}

API cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *status);
API cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    Dl_info info;
    (void)flags;
    if (!name || !function || !dladdr((void *)(uintptr_t)cuGetProcAddress_v2, &info))
        return CUDA_ERROR_INVALID_VALUE;
    void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return CUDA_ERROR_UNKNOWN;
    *function = strncmp(name, "cu", 2) == 0 ? find(library, name, version) : NULL;
    dlclose(library);
    if (status)
        *status = *function ? 0 : 1;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
