/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the emulated driver: devices, memory, streams, events, modules, graphs, and faults
 * on request. */
#include <time.h>
#include "driver_test.h"

/* Adds %add to each of n words. */
static const char adder[] =
    HEADER ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 add) {\n"
           ".reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<2>;\n"
           "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n"
           "mad.lo.u32 %r0, %r1, %r2, %r0; ld.param.u32 %r3, [n]; setp.ge.u32 %p0, %r0, %r3;\n"
           "@%p0 ret; ld.param.u64 %d0, [p]; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;\n"
           "ld.param.u32 %r4, [add]; ld.global.u32 %r5, [%d0]; add.u32 %r5, %r5, %r4;\n"
           "st.global.u32 [%d0], %r5; ret; }\n";

/* Waits until the word at p is not 0. */
static const char waiter[] =
    HEADER ".visible .entry k(.param .u64 p) {\n"
           ".reg .b32 %r<2>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
           "ld.param.u64 %d0, [p];\nL: ld.volatile.global.u32 %r0, [%d0];\n"
           "setp.eq.u32 %p0, %r0, 0; @%p0 bra L; ret; }\n";

/* Starts again with `settings`. */
static void restart(const char *settings)
{
    void *state = (void *)(uintptr_t)settings;
    driver_teardown(&state);
    driver_setup(&state);
}

static CUresult add(CUfunction kernel, CUstream stream, CUdeviceptr address, uint32_t count,
                    uint32_t value)
{
    void *parameters[] = {&address, &count, &value};
    return cu.cuLaunchKernel(kernel, (count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, parameters,
                             NULL);
}

static void test_devices(void **state)
{
    int count = 0, value = 0;
    char name[64];
    CUdevice device;
    CUuuid uuid[2];
    size_t bytes = 0;
    restart("devices=2;arch=75;memory=64M;driver=12020");
    good(cu.cuDeviceGetCount(&count));
    assert_int_equal(count, 2);
    assert_int_equal(cu.cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
    good(cu.cuDeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "emulated CUDA device (sm_75)");
    good(cu.cuDeviceGetUuid(&uuid[0], 0));
    good(cu.cuDeviceGetUuid(&uuid[1], 1));
    assert_memory_not_equal(&uuid[0], &uuid[1], sizeof uuid[0]);
    good(cu.cuDeviceTotalMem_v2(&bytes, 0));
    assert_int_equal(bytes, 64 << 20);
    good(cu.cuDeviceGetAttribute(&value, 75, 0));
    assert_int_equal(value, 7);
    good(cu.cuDeviceGetAttribute(&value, 76, 0));
    assert_int_equal(value, 5);
    good(cu.cuDriverGetVersion(&value));
    assert_int_equal(value, 12020);
    /* PTX for a later device, or a later driver, is refused. */
    CUmodule module;
    assert_int_equal(cu.cuModuleLoadDataEx(
                         &module, ".version 7.0\n.target sm_80\n.address_size 64\n", 0, NULL, NULL),
                     CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_int_equal(cu.cuModuleLoadDataEx(
                         &module, ".version 8.3\n.target sm_75\n.address_size 64\n", 0, NULL, NULL),
                     CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    restart("");
}

static void test_memory(void **state)
{
    uint32_t words[4] = {1, 2, 3, 4}, back[4] = {0};
    CUdeviceptr a = driver_upload(words, sizeof words), b;
    good(cu.cuMemAlloc_v2(&b, sizeof words));
    good(cu.cuMemcpyDtoD_v2(b + 4, a, 12));
    good(cu.cuMemsetD32Async(b, 9, 1, NULL));
    driver_download(back, b, sizeof back);
    assert_memory_equal(back, ((uint32_t[]){9, 1, 2, 3}), sizeof back);
    good(cu.cuMemsetD8Async(b, 0xab, 3, NULL));
    good(cu.cuMemsetD16Async(b + 4, 0x1234, 3, NULL));
    driver_download(back, b, sizeof back);
    assert_memory_equal(back, ((uint32_t[]){0x00ababab, 0x12341234, 0x00001234, 3}), sizeof back);
    /* Outside of an allocation, freed, never allocated: refused. */
    assert_int_equal(cu.cuMemcpyDtoH_v2(back, b + 4, sizeof back), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu.cuMemsetD16Async(b + 1, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    good(cu.cuMemFree_v2(b));
    assert_int_equal(cu.cuMemFree_v2(b), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu.cuMemcpyDtoH_v2(back, b, 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu.cuMemFree_v2(a + 4), CUDA_ERROR_INVALID_VALUE);
    good(cu.cuMemFree_v2(a));
    restart("memory=1M");
    good(cu.cuMemAlloc_v2(&a, 1 << 19));
    assert_int_equal(cu.cuMemAlloc_v2(&b, (1 << 19) + 1), CUDA_ERROR_OUT_OF_MEMORY);
    good(cu.cuMemFree_v2(a));
    good(cu.cuMemAlloc_v2(&b, (1 << 19) + 1));
    restart("");
}

static void test_pools(void **state)
{
    CUmemPoolProps properties = {.allocType = 1, .location = {1, 0}};
    CUmemoryPool pool;
    CUstream stream;
    CUdeviceptr a;
    uint32_t word = 0;
    good(cu.cuMemPoolCreate(&pool, &properties));
    good(cu.cuStreamCreate(&stream, STREAM_NON_BLOCKING));
    good(cu.cuMemAllocFromPoolAsync(&a, 64, pool, stream));
    good(cu.cuMemsetD32Async(a, 77, 16, stream));
    good(cu.cuMemcpyDtoHAsync_v2(&word, a + 60, 4, stream));
    good(cu.cuMemFreeAsync(a, stream));
    assert_int_equal(cu.cuMemFreeAsync(a, stream), CUDA_ERROR_INVALID_VALUE);
    good(cu.cuStreamSynchronize(stream));
    assert_int_equal(word, 77);
    assert_int_equal(cu.cuMemsetD32Async(a, 1, 1, stream), CUDA_ERROR_INVALID_VALUE);
    good(cu.cuMemPoolDestroy(pool));
    good(cu.cuStreamDestroy_v2(stream));
}

/* Kernels see the host's memory where it is pinned or registered, and nothing else of it. */
static void test_host_memory(void **state)
{
    CUmodule module = driver_compile(adder);
    CUfunction kernel = driver_kernel(module, "k");
    uint32_t *pinned, *own = calloc(16, 4);
    CUdeviceptr address;
    good(cu.cuMemHostAlloc((void **)&pinned, 64, 0));
    memset(pinned, 0, 64);
    good(cu.cuMemHostGetDevicePointer_v2(&address, pinned, 0));
    good(add(kernel, NULL, address, 16, 5));
    good(cu.cuCtxSynchronize());
    assert_int_equal(pinned[15], 5);
    assert_int_equal(cu.cuMemHostGetDevicePointer_v2(&address, own, 0), CUDA_ERROR_INVALID_VALUE);
    good(cu.cuMemHostRegister_v2(own, 64, 2));
    assert_int_equal(cu.cuMemHostRegister_v2(own + 8, 4, 2),
                     CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    good(cu.cuMemHostGetDevicePointer_v2(&address, own, 0));
    good(add(kernel, NULL, address, 16, 6));
    good(cu.cuMemHostUnregister(own));
    assert_int_equal(own[3], 6); /* unregistering waits */
    assert_int_equal(cu.cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    good(cu.cuMemFreeHost(pinned));
    good(add(kernel, NULL, address, 16, 6));
    assert_int_equal(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    free(own);
    restart("quiet");
}

/* --- order --------------------------------------------------------------------------------------
 */
/* Work of one stream waits while a kernel of another runs; the host goes on, and a copy in a third
 * stream ends the wait. */
static void test_streams(void **state)
{
    CUfunction wait = driver_kernel(driver_compile(waiter), "k");
    CUfunction plus = driver_kernel(driver_compile(adder), "k");
    CUstream first, second, third;
    CUevent event;
    uint32_t zero[16] = {0}, one = 1, *pinned;
    CUdeviceptr flag = driver_upload(zero, 4), data = driver_upload(zero, sizeof zero);
    good(cu.cuStreamCreate(&first, STREAM_NON_BLOCKING));
    good(cu.cuStreamCreate(&second, STREAM_NON_BLOCKING));
    good(cu.cuStreamCreate(&third, STREAM_NON_BLOCKING));
    good(cu.cuEventCreate(&event, EVENT_DISABLE_TIMING));
    good(cu.cuMemHostAlloc((void **)&pinned, 64, 0));
    good(cu.cuEventQuery(event)); /* never recorded: over */
    void *parameters[] = {&flag};
    good(cu.cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, first, parameters, NULL));
    good(cu.cuEventRecord(event, first));
    good(cu.cuStreamWaitEvent(second, event, 0));
    good(add(plus, second, data, 16, 3));
    pinned[0] = 0;
    good(cu.cuMemcpyDtoHAsync_v2(pinned, data, 64, second));
    assert_int_equal(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    assert_int_equal(cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
    assert_int_equal(pinned[0], 0);
    good(cu.cuMemcpyHtoDAsync_v2(flag, &one, 4, third));
    good(cu.cuStreamSynchronize(second));
    assert_int_equal(pinned[15], 3);
    good(cu.cuEventQuery(event));
    good(cu.cuStreamSynchronize(first));
    /* What is pageable is taken at once; what is pinned, when its turn comes. */
    good(cu.cuMemsetD32Async(flag, 0, 1, first));
    good(cu.cuStreamSynchronize(first));
    good(cu.cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, first, parameters, NULL));
    uint32_t pageable = 10;
    pinned[0] = 20;
    good(cu.cuMemcpyHtoDAsync_v2(data, &pageable, 4, first));
    good(cu.cuMemcpyHtoDAsync_v2(data + 4, pinned, 4, first));
    pageable = 11;
    pinned[0] = 21;
    good(cu.cuMemcpyHtoDAsync_v2(flag, &one, 4, third));
    good(cu.cuStreamSynchronize(first));
    driver_download(zero, data, 8);
    assert_int_equal(zero[0], 10);
    assert_int_equal(zero[1], 21);
    good(cu.cuStreamDestroy_v2(first));
    good(cu.cuStreamDestroy_v2(second));
    good(cu.cuStreamDestroy_v2(third));
    good(cu.cuEventDestroy_v2(event));
}

/* The default stream comes after the work of blocking streams, and before what they get later. */
static void test_default_stream(void **state)
{
    CUfunction wait = driver_kernel(driver_compile(waiter), "k");
    uint32_t zero = 0, one = 1, back = 0;
    CUdeviceptr flag = driver_upload(&zero, 4), data = driver_upload(&zero, 4);
    CUstream blocking, apart;
    good(cu.cuStreamCreate(&blocking, 0));
    good(cu.cuStreamCreate(&apart, STREAM_NON_BLOCKING));
    void *parameters[] = {&flag};
    good(cu.cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, blocking, parameters, NULL));
    good(cu.cuMemsetD32Async(data, 5, 1, NULL));
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    assert_int_equal(cu.cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    good(cu.cuMemcpyHtoDAsync_v2(flag, &one, 4, apart));
    good(cu.cuStreamSynchronize(NULL));
    good(cu.cuMemsetD32Async(flag, 0, 1, NULL));
    good(cu.cuStreamSynchronize(NULL));
    good(cu.cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    good(cu.cuMemsetD32Async(data, 6, 1, blocking));
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    assert_int_equal(cu.cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    good(cu.cuMemcpyHtoDAsync_v2(flag, &one, 4, apart));
    good(cu.cuStreamSynchronize(blocking));
    driver_download(&back, data, 4);
    assert_int_equal(back, 6);
    good(cu.cuStreamDestroy_v2(blocking));
    good(cu.cuStreamDestroy_v2(apart));
}

static void test_events(void **state)
{
    CUevent begin, end, untimed;
    float milliseconds = 0;
    restart("late_event:200ms");
    good(cu.cuEventCreate(&begin, 0));
    good(cu.cuEventCreate(&end, 0));
    good(cu.cuEventCreate(&untimed, EVENT_DISABLE_TIMING));
    assert_int_equal(cu.cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_INVALID_HANDLE);
    good(cu.cuEventRecord(begin, NULL));
    good(cu.cuEventRecord(end, NULL));
    assert_int_equal(cu.cuEventQuery(end), CUDA_ERROR_NOT_READY);
    good(cu.cuEventSynchronize(end));
    good(cu.cuEventElapsedTime(&milliseconds, begin, end));
    assert_true(milliseconds >= 199.0f);
    good(cu.cuEventRecord(untimed, NULL));
    assert_int_equal(cu.cuEventElapsedTime(&milliseconds, begin, untimed),
                     CUDA_ERROR_INVALID_HANDLE);
    good(cu.cuEventDestroy_v2(begin));
    good(cu.cuEventDestroy_v2(end));
    good(cu.cuEventDestroy_v2(untimed));
    restart("");
}

/* --- modules ------------------------------------------------------------------------------------
 */
static void test_log(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {HEADER ".entry k() {\n.reg .b32 %r<2>;\nfrob.u32 %r0, %r1;\nret; }\n",
         "line 6: unknown instruction 'frob.u32'"},
        {HEADER ".entry k() {\n.reg .b32 %r<2>;\nadd.u32 %r0, %r2, 1; ret; }\n",
         "line 6: there is no register %r2"},
        {HEADER ".entry k() {\n.reg .b64 %d<2>; .reg .b32 %r<2>;\nadd.u32 %r0, %d1, 1; ret; }\n",
         "line 6: an operand has 64 bits, and its instruction 32"},
        {HEADER ".entry k() {\nbra NOWHERE; ret; }\n", "line 5: the label NOWHERE is not there"},
        {HEADER ".entry k() {\nL: ret;\nL: ret; }\n", "line 6: the label L stands twice"},
        {HEADER ".entry k() { ret; }\n.entry k() { ret; }\n", "k is defined twice"},
        {HEADER ".entry k() {\n.reg .f32 %f<2>;\nadd.rn.ftz.f32 %f0, %f0, %f1; ret; }\n",
         "unknown instruction 'add.rn.ftz.f32'"},
        {HEADER ".entry k() {\n.reg .f32 %f<2>; .reg .b32 %r<2>;\ncvt.u32.f32 %r0, %f1; ret; }\n",
         "there is no 'cvt.u32.f32'"},
        {HEADER ".entry k() {\n.reg .b32 %r<2>;\nld.global.u32 %r0, [%r1; ret; }\n",
         "expected ']' before ';'"},
        {HEADER ".entry k() {\n.shared .b8 s[50000]; .reg .b32 %r<2>; mov.u32 %r0, s; ret; }\n",
         "too much shared memory"},
        {HEADER ".entry k() {\n", "the text ends within a function"},
        {".version 7.0\n.target sm_75\n.address_size 32\n", "addresses have 64 bits"},
        {"hello", "expected '.version' before 'hello'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *text = driver_refusal(wrong[i].text);
        if (!strstr(text, wrong[i].says))
            fail_msg("\"%s\" does not say \"%s\"", text, wrong[i].says);
    }
}

static void test_modules(void **state)
{
    CUmodule module = driver_compile(
        HEADER ".global .u32 counter = 7; .const .u32 c = 9;\n"
               ".entry first() .maxntid 64, 1, 1 { .reg .b32 %r<2>; .shared .align 16 .b8 s[48];\n"
               "mov.u32 %r0, s; ret; }\n.entry second() { ret; }\n");
    CUdeviceptr address;
    CUfunction kernel;
    size_t size = 0;
    int value = 0;
    uint32_t word = 0;
    good(cu.cuModuleGetGlobal_v2(&address, &size, module, "counter"));
    assert_int_equal(size, 4);
    driver_download(&word, address, 4);
    assert_int_equal(word, 7);
    good(cu.cuModuleGetGlobal_v2(&address, NULL, module, "c"));
    driver_download(&word, address, 4);
    assert_int_equal(word, 9);
    assert_int_equal(cu.cuModuleGetGlobal_v2(&address, &size, module, "no"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cu.cuModuleGetFunction(&kernel, module, "third"), CUDA_ERROR_NOT_FOUND);
    kernel = driver_kernel(module, "first");
    good(cu.cuFuncGetAttribute(&value, FUNCTION_MAX_THREADS, kernel));
    assert_int_equal(value, 64);
    good(cu.cuFuncGetAttribute(&value, FUNCTION_SHARED_BYTES, kernel));
    assert_int_equal(value, 48);
    assert_int_equal(cu.cuLaunchKernel(kernel, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu.cuLaunchKernel(kernel, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 49152, NULL, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    good(cu.cuFuncSetAttribute(kernel, FUNCTION_MAX_DYNAMIC_SHARED, 60000));
    good(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 60000, NULL, NULL, NULL));
    good(cu.cuModuleUnload(module));
    void *function = NULL;
    int status = 1;
    good(cu.cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status));
    assert_ptr_equal(function, *(void **)&cu.cuMemAlloc_v2);
    assert_int_equal(cu.cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status),
                     CUDA_ERROR_NOT_FOUND);
}

/* A binary is what was compiled, for the device's generation; one byte changed, and it is refused.
 */
static void test_linking(void **state)
{
    CUlinkState link;
    CUmodule module;
    void *image;
    size_t size;
    char text[sizeof adder];
    memcpy(text, adder, sizeof adder);
    good(cu.cuLinkCreate_v2(0, NULL, NULL, &link));
    good(cu.cuLinkAddData_v2(link, JIT_INPUT_PTX, text, sizeof text, "adder", 0, NULL, NULL));
    good(cu.cuLinkComplete(link, &image, &size));
    char *copy = malloc(size);
    memcpy(copy, image, size);
    good(cu.cuLinkDestroy(link));
    good(cu.cuModuleLoadDataEx(&module, copy, 0, NULL, NULL));
    uint32_t word = 1;
    CUdeviceptr address = driver_upload(&word, 4);
    good(add(driver_kernel(module, "k"), NULL, address, 1, 41));
    driver_download(&word, address, 4);
    assert_int_equal(word, 42);
    copy[size - 2] ^= 1;
    assert_int_equal(cu.cuModuleLoadDataEx(&module, copy, 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
    copy[size - 2] ^= 1;
    restart("arch=80");
    assert_int_equal(cu.cuModuleLoadDataEx(&module, copy, 0, NULL, NULL),
                     CUDA_ERROR_NO_BINARY_FOR_GPU);
    restart("");
    free(copy);
}

/* --- graphs -------------------------------------------------------------------------------------
 */
static void test_graphs(void **state)
{
    CUfunction kernel = driver_kernel(driver_compile(adder), "k");
    uint32_t *pinned, count = 16, value = 3;
    CUdeviceptr data;
    CUgraph graph;
    CUgraphNode set_node, kernel_node, copy_node;
    CUgraphExec exec;
    good(cu.cuMemHostAlloc((void **)&pinned, 64, 0));
    good(cu.cuMemAlloc_v2(&data, 64));
    good(cu.cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS set = {data, 0, 100, 4, 16, 1};
    void *parameters[] = {&data, &count, &value};
    CUDA_KERNEL_NODE_PARAMS_v1 launch = {kernel, 1, 1, 1, 64, 1, 1, 0, parameters, NULL};
    CUDA_MEMCPY3D copy = {.srcMemoryType = MEMORY_TYPE_DEVICE,
                          .srcDevice = data,
                          .dstMemoryType = MEMORY_TYPE_HOST,
                          .dstHost = pinned,
                          .WidthInBytes = 64,
                          .Height = 1,
                          .Depth = 1};
    good(cu.cuGraphAddMemsetNode(&set_node, graph, NULL, 0, &set, test_context));
    good(cu.cuGraphAddKernelNode(&kernel_node, graph, &set_node, 1, &launch));
    good(cu.cuGraphAddMemcpyNode(&copy_node, graph, &kernel_node, 1, &copy, test_context));
    value = 1000; /* parameters were taken */
    good(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    good(cu.cuGraphLaunch(exec, NULL));
    good(cu.cuCtxSynchronize());
    assert_int_equal(pinned[15], 103);
    /* Changes count from the next launch on; not what is fixed. */
    value = 7;
    good(cu.cuGraphExecKernelNodeSetParams(exec, kernel_node, &launch));
    set.value = 200;
    good(cu.cuGraphExecMemsetNodeSetParams(exec, set_node, &set, test_context));
    copy.dstHost = pinned + 8;
    copy.WidthInBytes = 4;
    good(cu.cuGraphExecMemcpyNodeSetParams(exec, copy_node, &copy, test_context));
    good(cu.cuGraphLaunch(exec, NULL));
    good(cu.cuCtxSynchronize());
    assert_int_equal(pinned[8], 207);
    assert_int_equal(pinned[15], 103);
    copy.dstMemoryType = MEMORY_TYPE_DEVICE;
    copy.dstDevice = data;
    assert_int_equal(cu.cuGraphExecMemcpyNodeSetParams(exec, copy_node, &copy, test_context),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu.cuGraphExecKernelNodeSetParams(exec, copy_node, &launch),
                     CUDA_ERROR_INVALID_VALUE);
    good(cu.cuGraphDestroy(graph));
    good(cu.cuGraphLaunch(exec, NULL));
    good(cu.cuCtxSynchronize());
    good(cu.cuGraphExecDestroy(exec));
    assert_int_equal(cu.count("graph"), 3);
}

/* A node whose blocks run at once has no more of them than fit, from the first or after a change.
 */
static void test_cooperative_nodes(void **state)
{
    CUfunction kernel = driver_kernel(driver_compile(adder), "k");
    uint32_t count = 16, value = 3;
    int yes = 1;
    CUdeviceptr data;
    CUgraph graph;
    CUgraphNode node, set_node;
    CUgraphExec exec;
    good(cu.cuMemAlloc_v2(&data, 64));
    good(cu.cuGraphCreate(&graph, 0));
    void *parameters[] = {&data, &count, &value};
    CUDA_MEMSET_NODE_PARAMS set = {data, 0, 100, 4, 16, 1};
    CUDA_KERNEL_NODE_PARAMS_v1 launch = {kernel, 4096, 1, 1, 64, 1, 1, 0, parameters, NULL};
    good(cu.cuGraphAddMemsetNode(&set_node, graph, NULL, 0, &set, test_context));
    good(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &launch));
    assert_int_equal(cu.cuGraphKernelNodeSetAttribute(node, 99, &yes), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cu.cuGraphKernelNodeSetAttribute(set_node, NODE_ATTRIBUTE_COOPERATIVE, &yes),
                     CUDA_ERROR_INVALID_VALUE);
    good(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    good(cu.cuGraphExecDestroy(exec));
    good(cu.cuGraphKernelNodeSetAttribute(node, NODE_ATTRIBUTE_COOPERATIVE, &yes));
    assert_int_equal(cu.cuGraphInstantiateWithFlags(&exec, graph, 0),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    good(cu.cuGraphDestroy(graph));
    good(cu.cuGraphCreate(&graph, 0));
    launch.gridDimX = 2;
    good(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &launch));
    good(cu.cuGraphKernelNodeSetAttribute(node, NODE_ATTRIBUTE_COOPERATIVE, &yes));
    good(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch.gridDimX = 4096;
    assert_int_equal(cu.cuGraphExecKernelNodeSetParams(exec, node, &launch),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    good(cu.cuGraphLaunch(exec, NULL));
    good(cu.cuCtxSynchronize());
    good(cu.cuGraphExecDestroy(exec));
    good(cu.cuGraphDestroy(graph));
}

/* --- faults -------------------------------------------------------------------------------------
 */
static void test_requested_faults(void **state)
{
    CUdeviceptr data;
    CUmodule module;
    restart("quiet;alloc:2=oom;launch:1=invalid_value;launch:2=illegal_address;jit:2=fail");
    good(cu.cuMemAlloc_v2(&data, 64));
    CUdeviceptr none;
    assert_int_equal(cu.cuMemAlloc_v2(&none, 64), CUDA_ERROR_OUT_OF_MEMORY);
    good(cu.cuMemAlloc_v2(&none, 64));
    CUfunction kernel = driver_kernel(driver_compile(adder), "k");
    assert_int_equal(cu.cuModuleLoadDataEx(&module, adder, 0, NULL, NULL), CUDA_ERROR_INVALID_PTX);
    assert_int_equal(add(kernel, NULL, data, 1, 1), CUDA_ERROR_INVALID_VALUE);
    good(add(kernel, NULL, data, 1, 1)); /* fails when it runs */
    assert_int_equal(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cu.cuMemAlloc_v2(&none, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cu.cuStreamSynchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cu.count("launch"), 2);
    restart("quiet");
}

/* A lost device stays lost, for new contexts as well; so this is the last test. */
static void test_lost_device(void **state)
{
    CUdeviceptr data;
    CUcontext context;
    restart("quiet;lost@2;devices=2");
    good(cu.cuMemAlloc_v2(&data, 64));
    good(cu.cuMemsetD32Async(data, 1, 1, NULL));
    good(cu.cuMemsetD32Async(data, 2, 1, NULL));
    assert_int_equal(cu.cuCtxSynchronize(), CUDA_ERROR_UNKNOWN);
    assert_int_equal(cu.cuMemsetD32Async(data, 2, 1, NULL), CUDA_ERROR_UNKNOWN);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_DEVICE_UNAVAILABLE);
    good(cu.cuDevicePrimaryCtxRetain(&context, 1));
    good(cu.cuDevicePrimaryCtxRelease_v2(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_default_stream),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_linking),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_cooperative_nodes),
        cmocka_unit_test(test_requested_faults),
        cmocka_unit_test(test_lost_device),
    };
    return cmocka_run_group_tests(tests, driver_setup, driver_teardown);
}
