/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel of the files given, on random buffers, over several sizes, on a device and on the
 * reference: all buffers must be the same bytes, and traps the same.
 *
 *     run_kernels [--device NAME] [--target NAME] [--seed N] [--unchecked] [--may-refuse] file.kc
 * ...
 *
 * Without a name it is the first Vulkan device; skipped when there is none. --may-refuse: where the
 * device refuses a kernel, or says that a launch came to a limit, nothing is compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "lockstep/launch.h"

enum { MAX_BUFFERS = 16, MAX_SCALARS = 1024 };

typedef struct shape { /* lanes beyond the elements are out of range; several have one global_id(0)
                        */
    uint32_t size[3], elements;
} shape;

static const shape shapes[] = {
    {{96, 1, 1}, 96}, {{33, 3, 1}, 100}, {{1, 1, 1}, 7}, {{200, 2, 2}, 801}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct side { /* a device, and what it made of a launch */
    const char *name;
    ls_device *device;
    ls_stream *stream;
    ls_program *program;
    uint8_t *bytes[MAX_BUFFERS];
    bool trapped, refused;
    uint32_t code, lane;
    uint64_t workgroup;
} side;

static const char *target;
static side sides[2] = {{.name = "reference"}, {.name = NULL}};
static ls_error error;
static uint64_t seed = 1;
static bool unchecked, may_refuse;
static unsigned runs, refusals;

static void check(ls_status status, const char *what)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "%s: %s: %s %s %s\n", what, ls_status_name(status), error.message, error.where,
            error.hint);
    exit(1);
}

/* --- inputs ----------------------------------------------------------------------------------- */

static uint64_t draw(ls__rng *rng, ls_mem mem)
{
    uint32_t way = ls__rng_below(rng, 8), word;
    uint64_t bits = ls__rng_u64(rng);
    float value = (float)((int32_t)bits >> ls__rng_below(rng, 31)) / 17.0f;
    if (mem == LS_MEM_BOOL)
        return bits & 1;
    if (mem == LS_MEM_F32 && way > 1) {
        memcpy(&word, &value, 4);
        return way == 2 ? (word | 0x7f800000) : way == 3 ? word & 0x80000000 : word;
    }
    return way == 0 ? bits : bits >> ls__rng_below(rng, 64);
}

static void fill(uint8_t *bytes, const ls_param_info *p, uint32_t elements, ls__rng *rng)
{
    static const uint8_t sizes[LS_MEM_COUNT] = {
#define X(name, text, bytes, type) [LS_MEM_##name] = bytes,
        LS_MEM_TABLE(X)
#undef X
    };
    uint64_t size = (uint64_t)p->size * elements;
    for (uint64_t at = 0; at < size;) {
        uint64_t bits = draw(rng, p->mem), step = p->mem ? sizes[p->mem] : 4;
        step = step > size - at ? 1 : step;
        memcpy(bytes + at, &bits, step);
        at += step;
    }
}

static void fill_scalar(uint8_t *at, const ls_param_info *p, uint32_t elements)
{
    float fraction = 0.75f;
    uint32_t count = elements - (uint32_t)(seed % 3);
    if (p->size <= 8)
        memcpy(at, p->mem == LS_MEM_F32 ? (void *)&fraction : (void *)&count,
               p->size < 4 ? p->size : 4);
}

/* --- a launch --------------------------------------------------------------------------------- */

typedef struct launch {
    ls_kernel_info kernel;
    const shape *shape;
    uint8_t scalars[MAX_SCALARS];
    uint8_t *bytes[MAX_BUFFERS];
    uint64_t size[MAX_BUFFERS];
    ls_mem element[MAX_BUFFERS];
} launch;

static void prepare(launch *l, const ls_module *module, uint32_t index, const shape *s)
{
    ls__rng rng = {seed + s->elements};
    *l = (launch){.shape = s};
    check(ls_module_kernel(module, index, &l->kernel, &error), "kernel");
    for (uint32_t i = 0; i < l->kernel.param_count; i++) {
        ls_param_info p;
        check(ls_module_param(module, l->kernel.name, i, &p, &error), "parameter");
        if (!p.is_pointer) {
            fill_scalar(l->scalars + p.offset, &p, s->elements);
            continue;
        }
        l->size[p.buffer] = (uint64_t)p.size * s->elements;
        l->element[p.buffer] = p.mem;
        l->bytes[p.buffer] = ls__mem_alloc(l->size[p.buffer], 1);
        fill(l->bytes[p.buffer], &p, s->elements, &rng);
    }
}

static void record(ls_batch *batch, const launch *l, const ls_kernel *kernel, ls_range *ranges)
{
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    memcpy(dispatch.global_size, l->shape->size, sizeof dispatch.global_size);
    dispatch.buffers = ranges;
    dispatch.buffer_count = l->kernel.buffer_count;
    dispatch.scalars = l->scalars;
    dispatch.scalar_bytes = l->kernel.scalar_bytes;
    for (uint32_t i = 0; i < l->kernel.buffer_count; i++)
        check(ls_batch_upload(batch, ranges[i], l->element[i], l->bytes[i], NULL, &error),
              "upload");
    check(ls_batch_dispatch(batch, &dispatch, &error), l->kernel.name);
}

static void submit(side *s, ls_batch *batch, const char *name)
{
    ls_fence *fence = NULL;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_receipt receipt = {.struct_size = sizeof receipt};
    check(ls_submit(s->stream, batch, &params, &fence, &error), name);
    ls_status status = ls_fence_wait(fence, LS_FOREVER, &receipt, &error);
    s->trapped = receipt.trapped;
    s->code = receipt.trap_code;
    s->lane = receipt.trap_lane;
    s->workgroup = receipt.trap_workgroup;
    ls_fence_destroy(&fence);
    s->refused = may_refuse && status == LS_E_FAILED && receipt.error.cause == LS_E_LIMIT;
    if (s->trapped || s->refused) { /* a failed stream takes nothing more */
        check(ls_stream_destroy(&s->stream, &error), "stream");
        check(ls_stream_create(s->device, &s->stream, &error), "stream");
    } else {
        check(status, name);
    }
}

static void run(side *s, const launch *l)
{
    ls_buffer *buffers[MAX_BUFFERS] = {NULL};
    ls_range ranges[MAX_BUFFERS];
    const ls_kernel *kernel = NULL;
    ls_batch *batch = NULL;
    check(ls_program_kernel(s->program, l->kernel.name, &kernel, &error), "kernel");
    check(ls_batch_create(s->device, &batch, &error), "batch");
    for (uint32_t i = 0; i < l->kernel.buffer_count; i++) {
        ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
        params.size_bytes = l->size[i];
        params.element = l->element[i];
        check(ls_buffer_create(s->device, &params, &buffers[i], &error), "buffer");
        ranges[i] = (ls_range){buffers[i], 0, LS_WHOLE};
    }
    record(batch, l, kernel, ranges);
    submit(s, batch, l->kernel.name);
    for (uint32_t i = 0; i < l->kernel.buffer_count; i++) {
        s->bytes[i] = ls__mem_alloc(l->size[i], 1);
        check(ls_buffer_read(buffers[i], 0, l->element[i], s->bytes[i], l->size[i], &error),
              "read");
    }
    ls_batch_destroy(&batch);
    for (uint32_t i = 0; i < MAX_BUFFERS; i++)
        ls_buffer_destroy(&buffers[i]);
}

static int compare(const launch *l)
{
    const side *a = &sides[0], *b = &sides[1];
    if (b->refused) {
        refusals++;
        return 0;
    }
    for (uint32_t i = 0; i < l->kernel.buffer_count; i++) {
        for (uint64_t at = 0; at < l->size[i]; at++) {
            if (a->bytes[i][at] == b->bytes[i][at])
                continue;
            fprintf(stderr, "%s, %u elements: buffer %u, byte %llu: %02x, but the reference %02x\n",
                    l->kernel.name, l->shape->elements, i, (unsigned long long)at, b->bytes[i][at],
                    a->bytes[i][at]);
            return 1;
        }
    }
    if (a->trapped == b->trapped &&
        (!a->trapped || (a->code == b->code && a->lane == b->lane && a->workgroup == b->workgroup)))
        return 0;
    fprintf(stderr,
            "%s: trap %d of code %u, lane %u, workgroup %llu, but the reference %d %u %u %llu\n",
            l->kernel.name, b->trapped, b->code, b->lane, (unsigned long long)b->workgroup,
            a->trapped, a->code, a->lane, (unsigned long long)a->workgroup);
    return 1;
}

/* --- files ------------------------------------------------------------------------------------ */

static ls_module *compile(const char *path)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL;
    void *text = NULL;
    check(ls__os_read_file(path, UINT64_MAX, &text, &params.length, &error), path);
    params.text = text;
    params.path = path;
    check(ls_module_compile(&params, &module, NULL, &error), path);
    ls__mem_free(text);
    return module;
}

static int run_kernel(const ls_module *module, uint32_t index)
{
    ls_kernel_info info;
    int bad = 0;
    check(ls_module_kernel(module, index, &info, &error), "kernel");
    if (info.unordered) /* promises nothing */
        return 0;
    for (int k = 0; k < SHAPES && !bad; k++) {
        launch l;
        prepare(&l, module, index, &shapes[k]);
        for (int i = 0; i < 2; i++)
            run(&sides[i], &l);
        bad = compare(&l);
        runs += !sides[1].refused;
        for (uint32_t i = 0; i < MAX_BUFFERS; i++) {
            ls__mem_free(l.bytes[i]);
            for (int s = 0; s < 2; s++) {
                ls__mem_free(sides[s].bytes[i]);
                sides[s].bytes[i] = NULL;
            }
        }
    }
    return bad;
}

static int run_file(const char *path)
{
    ls_module *module = compile(path);
    bool refused = false;
    int bad = 0;
    for (int i = 0; i < 2; i++) {
        ls_program_params params = LS_PROGRAM_PARAMS_INIT;
        params.unchecked = unchecked && i == 1;
        ls_status status =
            ls_program_create(sides[i].device, module, &params, &sides[i].program, &error);
        refused = may_refuse && i == 1 && status == LS_E_UNSUPPORTED;
        if (!refused)
            check(status, path);
    }
    refusals += refused;
    for (uint32_t k = 0; k < ls_module_kernel_count(module) && !refused; k++)
        bad |= run_kernel(module, k);
    for (int i = 0; i < 2; i++)
        ls_program_destroy(&sides[i].program);
    ls_module_destroy(&module);
    return bad;
}

/* The first usable device of Vulkan; NULL when there is none. */
static const char *find_vulkan(void)
{
    static ls_device_info infos[32];
    uint32_t count = 0;
    check(ls_device_list(infos, 32, &count, &error), "devices");
    for (uint32_t i = 0; i < count && i < 32; i++) {
        if (strncmp(infos[i].name, "vulkan", 6) == 0 && infos[i].usable)
            return infos[i].name;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int bad = 0, first = 1;
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        if (strcmp(argv[first], "--unchecked") == 0)
            unchecked = true;
        else if (strcmp(argv[first], "--may-refuse") == 0)
            may_refuse = true;
        else if (strcmp(argv[first], "--device") == 0 && first + 1 < argc)
            sides[1].name = argv[++first];
        else if (strcmp(argv[first], "--target") == 0 && first + 1 < argc)
            target = argv[++first];
        else if (strcmp(argv[first], "--seed") == 0 && first + 1 < argc)
            seed = strtoull(argv[++first], NULL, 0);
    }
    if (!sides[1].name && !(sides[1].name = find_vulkan())) {
        printf("SKIP: no Vulkan device\n");
        return 77;
    }
    for (int i = 0; i < 2; i++) {
        ls_device_params params = LS_DEVICE_PARAMS_INIT;
        params.name = sides[i].name;
        params.target = i == 1 ? target : NULL;
        check(ls_device_open(&params, &sides[i].device, &error), sides[i].name);
        check(ls_stream_create(sides[i].device, &sides[i].stream, &error), "stream");
    }
    for (int i = first; i < argc; i++)
        bad |= run_file(argv[i]);
    for (int i = 0; i < 2; i++) {
        check(ls_stream_destroy(&sides[i].stream, &error), "stream");
        check(ls_device_destroy(&sides[i].device, &error), "device");
    }
    printf("%u comparisons with the reference, %u refused\n", runs, refusals);
    return bad || runs + refusals == 0;
}
