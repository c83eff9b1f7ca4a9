/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of our own kernels: each function of the math library over special and random values, and
 * the example kernels, whose sources are embedded, over shapes. The inputs of examples are of
 * moderate size, so that their sums do not all end as NaN.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/source_text.h"
#include "base/status.h"
#include "base/str.h"
#include "conform/case.h"

extern const ls__source_text ls__conform_examples[];
extern const uint32_t ls__conform_examples_count;

/* --- math ------------------------------------------------------------------------------------- */
enum { QUICK_VECTORS = 256, VECTORS = 16384 };

static const struct {
    const char *name;
    bool binary;
} functions[] = {{"exp", false}, {"exp2", false}, {"log", false},   {"log2", false}, {"sin", false},
                 {"cos", false}, {"tanh", false}, {"rsqrt", false}, {"pow", true}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void fill_floats(ls__case *c, uint64_t seed, uint32_t index)
{
    ls__rng rng = ls__vectors_rng(seed + index, c->name);
    uint64_t shift = index ? ls__vectors_specials(LS_TYPE_F32) : 0;
    for (uint64_t i = 0; i < c->vectors; i++) {
        uint32_t bits = (uint32_t)ls__vectors_draw(&rng, LS_TYPE_F32, i + shift);
        memcpy(c->buffers[index].bytes + 4 * i, &bits, sizeof bits);
    }
}

static ls_status compile(const char *text, size_t length, const char *path, ls_module **module,
                         ls_error *error)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    params.text = text;
    params.length = length;
    params.path = path;
    return ls_module_compile(&params, module, NULL, error);
}

static ls_status math(const ls__conform_plan *plan, ls_error *error)
{
    ls__case cases[FUNCTIONS] = {{.unit = 0}};
    ls__strbuf text = {0};
    ls_module *module = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        ls__case *c = &cases[count];
        const char *name = functions[i].name;
        snprintf(c->name, sizeof c->name, "math/%s", name);
        if (!plan->wanted(plan->context, c->name))
            continue;
        snprintf(c->kernel, sizeof c->kernel, "math_%s", name);
        snprintf(c->operation, sizeof c->operation, "%s", name);
        snprintf(c->type, sizeof c->type, "f32");
        c->unit = 1;
        c->vectors = plan->quick ? QUICK_VECTORS : VECTORS;
        c->global[0] = (uint32_t)c->vectors;
        ls__strbuf_printf(&text,
                          "kernel void math_%s(const u32 *x, const u32 *y, f32 *z)\n{\n"
                          "    u32 i = global_id(0);\n"
                          "    z[i] = %s(f32_from_bits(x[i])%s);\n}\n",
                          name, name, functions[i].binary ? ", f32_from_bits(y[i])" : "");
        count++;
    }
    if (!count)
        return LS_OK;
    ls_status status = text.failed ? ls__fail_oom(error, text.length)
                                   : compile(text.text, text.length, "math.kc", &module, error);
    for (uint32_t i = 0; i < count && status == LS_OK; i++) {
        const uint32_t elements[3] = {cases[i].global[0], cases[i].global[0], cases[i].global[0]};
        status = ls__case_from_kernel(&cases[i], module, elements, 3, error);
        for (uint32_t b = 0; b < 2 && status == LS_OK; b++)
            fill_floats(&cases[i], plan->seed, b);
    }
    ls__group group = {.module = module, .cases = cases, .count = count};
    if (status == LS_OK)
        status = plan->take(plan->context, &group, error);
    for (uint32_t i = 0; i < count; i++)
        ls__case_finish(&cases[i]);
    ls_module_destroy(&module);
    ls__strbuf_finish(&text);
    return status;
}

/* --- examples --------------------------------------------------------------------------------- */
/* Data that an example cannot do without, over the random elements of the case's buffers. */
static void make_bits(ls__case *c);
static void make_graph(ls__case *c);
static void make_strings(ls__case *c);

/* One launch: scalars and elements of each buffer in the order of the kernel's parameters. */
typedef struct shape {
    const char *file, *kernel;
    uint32_t global[3];
    double scalars[6];
    uint32_t elements[6];
    bool quick;      /* small enough for --quick */
    uint32_t rounds; /* 0: once */
    void (*make)(ls__case *c);
} shape;

static const shape shapes[] = {
    {"saxpy.kc", "saxpy", {1}, {1, 0.5}, {1, 1}, true, 0, NULL},
    {"saxpy.kc", "saxpy", {65}, {65, -3.25}, {65, 65}, true, 0, NULL},
    {"saxpy.kc", "saxpy", {1000}, {1000, 0.1}, {1000, 900}, true, 0, NULL},
    {"saxpy.kc", "saxpy", {100000}, {99991, 1e-3}, {100000, 100000}, false, 0, NULL},
    {"mandelbrot.kc", "mandelbrot", {17, 5}, {17, 5}, {85}, true, 0, NULL},
    {"mandelbrot.kc", "mandelbrot", {40, 30}, {40, 30}, {1200}, true, 0, NULL},
    {"mandelbrot.kc", "mandelbrot", {320, 200}, {320, 200}, {64000}, false, 0, NULL},
    {"matmul.kc", "matmul", {1, 1}, {1, 1, 1}, {1, 1, 1}, true, 0, NULL},
    {"matmul.kc", "matmul", {16, 16}, {16, 16, 16}, {256, 256, 256}, true, 0, NULL},
    {"matmul.kc", "matmul", {24, 40}, {40, 24, 50}, {2000, 1200, 960}, true, 0, NULL},
    {"matmul.kc", "matmul", {130, 70}, {70, 130, 99}, {6930, 12870, 9100}, false, 0, NULL},
    {"reduction.kc", "reduction", {256}, {1}, {1, 1}, true, 0, NULL},
    {"reduction.kc", "reduction", {256}, {1000}, {1000, 1}, true, 0, NULL},
    {"reduction.kc", "reduction", {1024}, {5000}, {5000, 4}, true, 0, NULL},
    {"reduction.kc", "reduction", {4096}, {300000}, {300000, 16}, false, 0, NULL},
    {"histogram.kc", "histogram", {1024}, {3000}, {3000, 256}, true, 0, NULL},
    {"histogram.kc", "histogram", {4096}, {200001}, {200001, 256}, false, 0, NULL},
    {"sha256.kc", "sha256", {5}, {5, 0}, {1, 160}, true, 0, NULL},
    {"sha256.kc", "sha256", {9}, {9, 119}, {1071, 288}, true, 0, NULL},
    {"sha256.kc", "sha256", {100}, {100, 200}, {20000, 3200}, false, 0, NULL},
    {"prefix_scan.kc", "prefix_scan", {64}, {5000}, {5000, 2, 5000}, true, 0, NULL},
    {"prefix_scan.kc", "prefix_scan", {800}, {100000}, {100000, 25, 100000}, false, 0, NULL},
    {"bitonic_sort.kc", "bitonic_sort", {512}, {1024}, {1024}, true, 8, NULL},
    {"bitonic_sort.kc", "bitonic_sort", {2048}, {4096}, {4096}, false, 10, NULL},
    {"gemv_int8.kc", "gemv_int8", {160}, {5, 19}, {95, 19, 5}, true, 0, NULL},
    {"gemv_int8.kc", "gemv_int8", {1600}, {50, 75}, {3750, 75, 50}, false, 0, NULL},
    {"nbody.kc", "nbody", {70}, {70, 0.01, 0.01}, {560, 210}, true, 2, NULL},
    {"nbody.kc", "nbody", {300}, {300, 0.01, 0.01}, {2400, 900}, false, 4, NULL},
    {"life.kc", "life", {24, 16}, {24, 16}, {768}, true, 3, make_bits},
    {"life.kc", "life", {64, 48}, {64, 48}, {6144}, false, 20, make_bits},
    {"bfs.kc", "bfs", {200}, {200}, {201, 600, 400, 200}, true, 8, make_graph},
    {"bfs.kc", "bfs", {3000}, {3000}, {3001, 9000, 6000, 3000}, false, 12, make_graph},
    {"regex_nfa.kc", "regex_nfa", {100}, {100}, {1282, 101, 1000, 100}, true, 0, make_strings},
    {"regex_nfa.kc", "regex_nfa", {999}, {999}, {1282, 1000, 9990, 999}, false, 0, make_strings},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void set_u32(ls__case_buffer *buffer, uint64_t index, uint32_t value)
{
    memcpy(buffer->bytes + 4 * index, &value, sizeof value);
}

/* Cells of the game of life: 0 or 1. */
static void make_bits(ls__case *c)
{
    for (uint64_t i = 0; i < c->buffers[0].size; i++)
        c->buffers[0].bytes[i] &= 1;
}

/* Three edges a vertex to random targets; nothing is marked or reached. */
static void make_graph(ls__case *c)
{
    uint32_t n = c->global[0];
    ls__rng rng = ls__vectors_rng(c->buffers[1].bytes[0], c->name);
    for (uint32_t v = 0; v <= n; v++)
        set_u32(&c->buffers[0], v, 3 * v);
    for (uint32_t e = 0; e < 3 * n; e++)
        set_u32(&c->buffers[1], e, ls__rng_below(&rng, n));
    memset(c->buffers[2].bytes, 0, c->buffers[2].size);
    memset(c->buffers[3].bytes, 0xff, c->buffers[3].size);
}

/* Strings of ten bytes; few of the states accept, so that most strings are read for a while. */
static void make_strings(ls__case *c)
{
    for (uint32_t i = 0; i <= c->global[0]; i++)
        set_u32(&c->buffers[1], i, 10 * i);
    set_u32(&c->buffers[0], 1281, 1);
}

static void put_scalar(uint8_t *at, ls_mem mem, double value)
{
    float single = (float)value;
    uint64_t bits = mem == LS_MEM_F32 || mem == LS_MEM_F64 ? 0 : (uint64_t)(int64_t)value;
    if (mem == LS_MEM_F64)
        memcpy(at, &value, sizeof value);
    else if (mem == LS_MEM_F32)
        memcpy(at, &single, sizeof single);
    else if (mem == LS_MEM_U64 || mem == LS_MEM_I64)
        memcpy(at, &bits, 8);
    else
        memcpy(at, &bits, 4);
}

static ls_status fill_shape(ls__case *c, const ls_module *module, const shape *s, uint64_t seed,
                            ls_error *error)
{
    ls_kernel_info info;
    ls_status status = ls__case_from_kernel(c, module, s->elements, 6, error);
    uint32_t scalar = 0;
    if (status == LS_OK)
        status = ls_module_find_kernel(module, s->kernel, &info, error);
    for (uint32_t i = 0; status == LS_OK && i < info.param_count; i++) {
        ls_param_info param;
        status = ls_module_param(module, s->kernel, i, &param, error);
        if (status == LS_OK && !param.is_pointer)
            put_scalar(c->scalars + param.offset, param.mem, s->scalars[scalar++]);
    }
    for (uint32_t b = 0; status == LS_OK && b < c->buffer_count; b++) {
        ls__rng rng = ls__vectors_rng(seed + b, c->name);
        ls__vectors_moderate(&rng, &c->buffers[b]);
    }
    if (status == LS_OK && s->make)
        s->make(c);
    return status;
}

/* Everything that is asked of one source file. */
static ls_status example(const ls__conform_plan *plan, const ls__source_text *source,
                         ls_error *error)
{
    ls__case cases[SHAPES] = {{.unit = 0}};
    ls_module *module = NULL;
    uint32_t count = 0;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < SHAPES && status == LS_OK; i++) {
        const shape *s = &shapes[i];
        ls__case *c = &cases[count];
        if (strcmp(s->file, source->name) != 0 || (plan->quick && !s->quick))
            continue;
        snprintf(c->name, sizeof c->name, "kernel/%s/%ux%u.%u", s->kernel, s->global[0],
                 s->global[1] ? s->global[1] : 1, s->elements[0]);
        if (!plan->wanted(plan->context, c->name))
            continue;
        snprintf(c->kernel, sizeof c->kernel, "%s", s->kernel);
        memcpy(c->global, s->global, sizeof c->global);
        c->rounds = s->rounds;
        c->vectors = (uint64_t)s->global[0] * (s->global[1] ? s->global[1] : 1);
        if (!module)
            status = compile(source->text, source->length, source->name, &module, error);
        if (status == LS_OK)
            status = fill_shape(c, module, s, plan->seed, error);
        count++;
    }
    ls__group group = {.module = module, .cases = cases, .count = count};
    if (status == LS_OK && count)
        status = plan->take(plan->context, &group, error);
    for (uint32_t i = 0; i < count; i++)
        ls__case_finish(&cases[i]);
    ls_module_destroy(&module);
    return status;
}

ls_status ls__conform_kernels(const ls__conform_plan *plan, ls_error *error)
{
    ls_status status = math(plan, error);
    for (uint32_t i = 0; i < ls__conform_examples_count && status == LS_OK; i++)
        status = example(plan, &ls__conform_examples[i], error);
    return status;
}
