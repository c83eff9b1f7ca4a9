/* SPDX-License-Identifier: Apache-2.0 */
#include "driver_test.h"
#include <dlfcn.h>

driver_functions cu;
CUcontext test_context;

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fail_msg("the driver has no %s", name);
    return found;
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
#define X(name, arguments) *(void **)&cu.name = find(library, #name);
    DRIVER(X)
#undef X
    *(void **)&cu.configure = find(library, "emulated_cuda_configure");
    *(void **)&cu.count = find(library, "emulated_cuda_count");
}

int driver_setup(void **state)
{
    if (!cu.cuInit)
        load();
    cu.configure(*state ? *state : "");
    good(cu.cuInit(0));
    good(cu.cuDevicePrimaryCtxRetain(&test_context, 0));
    good(cu.cuCtxPushCurrent_v2(test_context));
    return 0;
}

int driver_teardown(void **state)
{
    good(cu.cuCtxPopCurrent_v2(NULL));
    good(cu.cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}

static CUresult compile(const char *ptx, CUmodule *module, char *text, size_t size)
{
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void *values[] = {text, (void *)(uintptr_t)size};
    text[0] = 0;
    CUresult result = cu.cuModuleLoadDataEx(module, ptx, 2, options, values);
    assert_int_equal((uintptr_t)values[1], strlen(text) + 1);
    return result;
}

CUmodule driver_compile(const char *ptx)
{
    char text[512];
    CUmodule module = NULL;
    CUresult result = compile(ptx, &module, text, sizeof text);
    if (result != CUDA_SUCCESS)
        fail_msg("%d: %s", (int)result, text);
    return module;
}

const char *driver_refusal(const char *ptx)
{
    static char text[512];
    CUmodule module = NULL;
    assert_int_not_equal(compile(ptx, &module, text, sizeof text), CUDA_SUCCESS);
    return text;
}

CUfunction driver_kernel(CUmodule module, const char *name)
{
    CUfunction kernel;
    good(cu.cuModuleGetFunction(&kernel, module, name));
    return kernel;
}

CUresult driver_run(CUfunction kernel, unsigned blocks, unsigned threads, CUdeviceptr address)
{
    void *parameters[] = {&address};
    CUresult result =
        cu.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL);
    return result == CUDA_SUCCESS ? cu.cuCtxSynchronize() : result;
}

CUdeviceptr driver_upload(const void *bytes, size_t size)
{
    CUdeviceptr address;
    good(cu.cuMemAlloc_v2(&address, size));
    good(cu.cuMemcpyHtoD_v2(address, bytes, size));
    return address;
}

void driver_download(void *bytes, CUdeviceptr from, size_t size)
{
    good(cu.cuMemcpyDtoH_v2(bytes, from, size));
}
