/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated driver through NVIDIA's own header, where that is installed: names, structures and
 * numbers are those of a real driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>

#define good(call) assert_int_equal(call, CUDA_SUCCESS)

static const char adder[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u32 add) {\n"
    ".reg .b32 %r<4>; .reg .b64 %d<3>; mov.u32 %r0, %tid.x; ld.param.u64 %d0, [p];\n"
    "ld.param.u32 %r1, [add]; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;\n"
    "ld.global.u32 %r2, [%d0]; add.u32 %r2, %r2, %r1; st.global.u32 [%d0], %r2; ret; }\n";

static CUcontext context;
static CUdevice device;

static int attribute(CUdevice_attribute which)
{
    int value = -1;
    good(cuDeviceGetAttribute(&value, which, device));
    return value;
}

static void test_device(void **state)
{
    CUuuid uuid;
    size_t bytes = 0;
    good(cuDeviceGetUuid(&uuid, device));
    good(cuDeviceTotalMem(&bytes, device));
    assert_true(bytes > 0);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), INT32_MAX);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH), 1);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED), 1);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED), 0);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE), CU_COMPUTEMODE_DEFAULT);
    assert_true(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) > 0);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK), 65536);
}

static void test_error_names(void **state)
{
    static const struct {
        CUresult result;
        const char *name;
    } names[] = {
#define X(name) {name, #name}
        X(CUDA_SUCCESS),
        X(CUDA_ERROR_INVALID_VALUE),
        X(CUDA_ERROR_OUT_OF_MEMORY),
        X(CUDA_ERROR_NOT_INITIALIZED),
        X(CUDA_ERROR_DEVICE_UNAVAILABLE),
        X(CUDA_ERROR_NO_DEVICE),
        X(CUDA_ERROR_INVALID_DEVICE),
        X(CUDA_ERROR_INVALID_IMAGE),
        X(CUDA_ERROR_INVALID_CONTEXT),
        X(CUDA_ERROR_NO_BINARY_FOR_GPU),
        X(CUDA_ERROR_ECC_UNCORRECTABLE),
        X(CUDA_ERROR_INVALID_PTX),
        X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND),
        X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
        X(CUDA_ERROR_INVALID_HANDLE),
        X(CUDA_ERROR_NOT_FOUND),
        X(CUDA_ERROR_NOT_READY),
        X(CUDA_ERROR_ILLEGAL_ADDRESS),
        X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
        X(CUDA_ERROR_LAUNCH_TIMEOUT),
        X(CUDA_ERROR_CONTEXT_IS_DESTROYED),
        X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
        X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
        X(CUDA_ERROR_ILLEGAL_INSTRUCTION),
        X(CUDA_ERROR_MISALIGNED_ADDRESS),
        X(CUDA_ERROR_LAUNCH_FAILED),
        X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE),
        X(CUDA_ERROR_NOT_SUPPORTED),
        X(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE),
        X(CUDA_ERROR_UNKNOWN)
#undef X
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = NULL;
        good(cuGetErrorName(names[i].result, &name));
        assert_string_equal(name, names[i].name);
    }
}

static void test_log(void **state)
{
    char errors[256] = "", infos[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)sizeof errors, infos, (void *)sizeof infos};
    CUmodule module;
    assert_int_equal(cuModuleLoadDataEx(&module, "no PTX", 4, options, values),
                     CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(errors, "line 1"));
    assert_int_equal((uintptr_t)values[1], strlen(errors) + 1);
}

/* Nodes of each kind, by the structures of this header; then all three changed. */
static void test_graph(void **state)
{
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr data;
    CUmemoryPool pool;
    CUstream stream;
    CUgraph graph;
    CUgraphNode nodes[3];
    CUgraphExec exec;
    uint32_t *host, value = 5;
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    good(cuModuleLoadData(&module, adder));
    good(cuModuleGetFunction(&kernel, module, "k"));
    good(cuMemPoolCreate(&pool, &properties));
    good(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    good(cuMemAllocFromPoolAsync(&data, 64, pool, stream));
    good(cuMemHostAlloc((void **)&host, 64, CU_MEMHOSTALLOC_PORTABLE));
    void *parameters[] = {&data, &value};
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = data, .elementSize = 4, .value = 10, .width = 16, .height = 1};
    CUDA_KERNEL_NODE_PARAMS launch = {.func = kernel,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 16,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = parameters};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = data,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .WidthInBytes = 64,
                          .Height = 1,
                          .Depth = 1};
    good(cuGraphCreate(&graph, 0));
    good(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &set, context));
    good(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &launch));
    good(cuGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &copy, context));
    good(cuGraphInstantiate(&exec, graph, 0));
    good(cuGraphLaunch(exec, stream));
    good(cuStreamSynchronize(stream));
    assert_int_equal(host[15], 15);
    value = 7;
    set.value = 20;
    copy.dstXInBytes = 4;
    copy.WidthInBytes = 4;
    good(cuGraphExecKernelNodeSetParams(exec, nodes[1], &launch));
    good(cuGraphExecMemsetNodeSetParams(exec, nodes[0], &set, context));
    good(cuGraphExecMemcpyNodeSetParams(exec, nodes[2], &copy, context));
    good(cuGraphLaunch(exec, stream));
    good(cuStreamSynchronize(stream));
    assert_int_equal(host[1], 27);
    assert_int_equal(host[2], 15);
    good(cuGraphExecDestroy(exec));
    good(cuGraphDestroy(graph));
    good(cuMemFreeAsync(data, stream));
    good(cuStreamDestroy(stream));
    good(cuMemPoolDestroy(pool));
}

static int setup(void **state)
{
    good(cuInit(0));
    good(cuDeviceGet(&device, 0));
    good(cuDevicePrimaryCtxRetain(&context, device));
    good(cuCtxPushCurrent(context));
    return 0;
}

static int teardown(void **state)
{
    good(cuCtxPopCurrent(NULL));
    good(cuDevicePrimaryCtxRelease(device));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_error_names),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
