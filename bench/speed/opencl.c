/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contender in OpenCL: the processor as PoCL drives it. libOpenCL is loaded when the program
 * runs, so neither it nor its headers are needed to build.
 *
 * Where a kernel uses nothing that OpenCL C lacks, its own .kc file is compiled, with cl/prelude.cl
 * in front and a few changes to the text (translate()); kernels with subgroup operations or grid
 * barriers have a version of their own in cl/. Every kernel gets one more argument, `ls_iteration`.
 */
#include "speed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The few declarations of the OpenCL interface that are needed (OpenCL 1.2, "cl.h"). */
typedef void *handle;
enum {
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_PLATFORM_NAME = 0x0902,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_COPY_HOST_PTR = 1 << 5,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11B1
};
#define OPENCL_FUNCTIONS(X)                                                                        \
    X(int32_t, clGetPlatformIDs, (uint32_t, handle *, uint32_t *))                                 \
    X(int32_t, clGetPlatformInfo, (handle, uint32_t, size_t, void *, size_t *))                    \
    X(int32_t, clGetDeviceIDs, (handle, uint64_t, uint32_t, handle *, uint32_t *))                 \
    X(int32_t, clGetDeviceInfo, (handle, uint32_t, size_t, void *, size_t *))                      \
    X(handle, clCreateContext, (const intptr_t *, uint32_t, const handle *, void *, void *,        \
                                int32_t *))                                                        \
    X(handle, clCreateCommandQueue, (handle, handle, uint64_t, int32_t *))                         \
    X(handle, clCreateProgramWithSource, (handle, uint32_t, const char **, const size_t *,         \
                                          int32_t *))                                              \
    X(int32_t, clBuildProgram, (handle, uint32_t, const handle *, const char *, void *, void *))   \
    X(int32_t, clGetProgramBuildInfo, (handle, handle, uint32_t, size_t, void *, size_t *))        \
    X(handle, clCreateKernel, (handle, const char *, int32_t *))                                   \
    X(int32_t, clGetKernelWorkGroupInfo, (handle, handle, uint32_t, size_t, void *, size_t *))     \
    X(int32_t, clSetKernelArg, (handle, uint32_t, size_t, const void *))                           \
    X(handle, clCreateBuffer, (handle, uint64_t, size_t, void *, int32_t *))                       \
    X(int32_t, clEnqueueWriteBuffer, (handle, handle, uint32_t, size_t, size_t, const void *,      \
                                      uint32_t, const handle *, handle *))                         \
    X(int32_t, clEnqueueReadBuffer, (handle, handle, uint32_t, size_t, size_t, void *, uint32_t,   \
                                     const handle *, handle *))                                    \
    X(int32_t, clEnqueueNDRangeKernel, (handle, handle, uint32_t, const size_t *, const size_t *,  \
                                        const size_t *, uint32_t, const handle *, handle *))       \
    X(int32_t, clFinish, (handle))                                                                 \
    X(int32_t, clReleaseMemObject, (handle))                                                       \
    X(int32_t, clReleaseKernel, (handle))                                                          \
    X(int32_t, clReleaseProgram, (handle))

#define X(result, name, parameters) static result(*name) parameters;
OPENCL_FUNCTIONS(X)
#undef X

enum { MAX_KERNELS = 2 };

struct opencl {
    const problem *p;
    handle program;
    handle kernels[MAX_KERNELS];
    uint32_t kernel_count;
    handle buffers[MAX_BUFFERS];
};

static handle device, context, queue;

static void good(int32_t status, const char *what)
{
    if (status) {
        fprintf(stderr, "speed: OpenCL: %s: error %d\n", what, status);
        exit(1);
    }
}

static bool find_device(char *about, size_t about_bytes)
{
    handle platforms[8];
    uint32_t count = 0;
    if (clGetPlatformIDs(8, platforms, &count))
        return false;
    for (uint32_t i = 0; i < count && i < 8; i++) {
        uint32_t devices = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, &devices) || !devices)
            continue;
        char platform[64] = "", name[96] = "", version[48] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
        clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
        clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL);
        snprintf(about, about_bytes, "%s %s, %s", platform, version, name);
        return true;
    }
    return false;
}

bool opencl_load(uint32_t threads, char *about, size_t about_bytes)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(about, about_bytes, "left out, not installed (Debian: pocl-opencl-icd)");
        return false;
    }
#define X(result, name, parameters) *(void **)&name = dlsym(library, #name);
    OPENCL_FUNCTIONS(X)
#undef X
#define X(result, name, parameters) && name
    bool complete = true OPENCL_FUNCTIONS(X);
#undef X
    char count[16];
    snprintf(count, sizeof count, "%u", threads);
    setenv("POCL_MAX_PTHREAD_COUNT", count, 1);
    if (!complete || !find_device(about, about_bytes)) {
        snprintf(about, about_bytes, "left out, no device for the CPU (Debian: pocl-opencl-icd)");
        return false;
    }
    int32_t status;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    good(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    good(status, "clCreateCommandQueue");
    return true;
}

/* --- sources ---------------------------------------------------------------------------------- */

/* Copies the parameters of a function, from the parenthesis on, and says of pointers that they
 * point to buffers: of a kernel all, else those to const, which is enough for our examples. Returns
 * where the text goes on. */
static const char *translate_parameters(const char *from, bool is_kernel, FILE *to)
{
    while (*from && *from != ')') {
        int length = 1 + (int)strcspn(from + 1, ",)");
        bool pointer = memchr(from, '*', (size_t)length) != NULL;
        if (!is_kernel)
            pointer = pointer && memmem(from, (size_t)length, "const", 5) != NULL;
        fprintf(to, "%c%s%.*s", *from, pointer ? " __global " : "", length - 1, from + 1);
        from += length;
    }
    if (is_kernel)
        fprintf(to, ", u32 ls_iteration");
    return from;
}

/* Kernel C to OpenCL C, as far as macros cannot do it. */
static char *translate(const char *text)
{
    char *result = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&result, &size);
    if (!to)
        return NULL;
    while (*text) {
        const char *end = text + strcspn(text, "\n");
        bool is_kernel = strncmp(text, "kernel ", 7) == 0;
        if (strncmp(text, "static const ", 13) == 0) {
            fprintf(to, "__constant ");
            text += 13;
        } else if (is_kernel || strncmp(text, "static ", 7) == 0) {
            const char *name = is_kernel ? strstr(text, "void ") : text;
            const char *parameters = name + strcspn(name, "(");
            fwrite(text, 1, (size_t)(parameters - text), to);
            text = translate_parameters(parameters, is_kernel, to);
            end = text + strcspn(text, "\n");
        }
        end += *end != '\0';
        fwrite(text, 1, (size_t)(end - text), to);
        text = end;
    }
    return fclose(to) == 0 ? result : NULL;
}

static void build(opencl *subject, const char *kernels, const char *sources)
{
    const problem *p = subject->p;
    char *own_path = path_of(sources, p->kernel, ".cl");
    char *kernel_path = path_of(kernels, p->kernel, ".kc");
    char *prelude_path = path_of(sources, "prelude", ".cl");
    char *prelude = read_text(prelude_path), *body = read_text(own_path);
    if (!body) {
        char *text = read_text(kernel_path);
        body = text ? translate(text) : NULL;
        free(text);
    }
    int32_t status = -1;
    const char *texts[2] = {prelude, body};
    if (prelude && body)
        subject->program = clCreateProgramWithSource(context, 2, texts, NULL, &status);
    good(status, "reading sources");
    const char *options = "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
    if (clBuildProgram(subject->program, 1, &device, options, NULL, NULL)) {
        static char log[16384];
        clGetProgramBuildInfo(subject->program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                              NULL);
        fprintf(stderr, "speed: OpenCL: %s: %s\n", p->kernel, log);
        exit(1);
    }
    free(own_path), free(kernel_path), free(prelude_path), free(prelude), free(body);
}

/* "<kernel>", or the two halves "<kernel>_a" and "<kernel>_b". */
static void find_kernels(opencl *subject)
{
    char name[64];
    int32_t status;
    handle kernel = clCreateKernel(subject->program, subject->p->kernel, &status);
    if (status == 0) {
        subject->kernels[subject->kernel_count++] = kernel;
        return;
    }
    for (const char *half = "ab"; *half; half++) {
        snprintf(name, sizeof name, "%s_%c", subject->p->kernel, *half);
        subject->kernels[subject->kernel_count++] = clCreateKernel(subject->program, name, &status);
        good(status, name);
    }
}

opencl *opencl_create(const problem *p, const char *kernels, const char *sources)
{
    opencl *subject = allocate(sizeof *subject);
    subject->p = p;
    build(subject, kernels, sources);
    find_kernels(subject);
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        int32_t status;
        subject->buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                             p->buffers[i].bytes, p->buffers[i].initial, &status);
        good(status, "clCreateBuffer");
    }
    for (uint32_t k = 0; k < subject->kernel_count; k++) {
        uint32_t argument = 0;
        for (uint32_t i = 0; i < p->scalar_count; i++)
            good(clSetKernelArg(subject->kernels[k], argument++, 4, &p->scalars[i]), p->name);
        for (uint32_t i = 0; i < p->buffer_count; i++)
            good(clSetKernelArg(subject->kernels[k], argument++, sizeof(handle),
                                &subject->buffers[i]), p->name);
    }
    return subject;
}

/* --- launches --------------------------------------------------------------------------------- */

static void launch(opencl *subject, uint32_t kernel, uint32_t iteration)
{
    const problem *p = subject->p;
    size_t local[3] = {0}, global[3];
    good(clGetKernelWorkGroupInfo(subject->kernels[kernel], device,
                                  CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof local, local, NULL),
         p->name);
    if (local[0] == 0)
        local[0] = 64, local[1] = local[2] = 1;
    for (int d = 0; d < 3; d++) {
        size_t lanes = p->global[d] ? p->global[d] : 1;
        global[d] = (lanes + local[d] - 1) / local[d] * local[d];
    }
    good(clSetKernelArg(subject->kernels[kernel], p->scalar_count + p->buffer_count, 4, &iteration),
         p->name);
    good(clEnqueueNDRangeKernel(queue, subject->kernels[kernel], 3, NULL, global, local, 0, NULL,
                                NULL), p->name);
}

/* The rounds of the sort: kernel a for steps through memory, b for those in a tile. */
static void launch_sort(opencl *subject)
{
    enum { TILE = 512 }; /* as in cl/bitonic_sort.cl */
    uint32_t n = subject->p->scalars[0].u;
    for (uint32_t log_size = 1; 1u << log_size <= n; log_size++) {
        uint32_t log_distance = log_size - 1;
        for (; 1u << log_distance >= TILE; log_distance--)
            launch(subject, 0, log_size << 8 | log_distance);
        launch(subject, 1, log_size << 8 | log_distance);
    }
}

double opencl_run(opencl *subject)
{
    const problem *p = subject->p;
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        if (p->buffers[i].restore)
            good(clEnqueueWriteBuffer(queue, subject->buffers[i], 1, 0, p->buffers[i].bytes,
                                      p->buffers[i].initial, 0, NULL, NULL), p->name);
    }
    double start = seconds_now();
    if (strcmp(p->kernel, "bitonic_sort") == 0) {
        launch_sort(subject);
    } else {
        for (uint32_t round = 0; round < p->rounds; round++)
            for (uint32_t k = 0; k < subject->kernel_count; k++)
                launch(subject, k, round);
    }
    good(clFinish(queue), p->name);
    return seconds_now() - start;
}

void opencl_read(opencl *subject, uint32_t buffer, void *bytes)
{
    good(clEnqueueReadBuffer(queue, subject->buffers[buffer], 1, 0,
                             subject->p->buffers[buffer].bytes, bytes, 0, NULL, NULL),
         subject->p->name);
}

void opencl_destroy(opencl *subject)
{
    if (!subject)
        return;
    for (uint32_t i = 0; i < subject->p->buffer_count; i++)
        clReleaseMemObject(subject->buffers[i]);
    for (uint32_t k = 0; k < subject->kernel_count; k++)
        clReleaseKernel(subject->kernels[k]);
    clReleaseProgram(subject->program);
    free(subject);
}
