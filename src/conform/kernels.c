/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of our own kernels: each function of the math library over special and random values, and
 * the example kernels, whose sources are embedded, over shapes. The inputs of examples are of
 * moderate size, so that their sums do not all end as NaN.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "conform/case.h"
#include "lang/lang.h"

extern const ls__lang_source ls__conform_examples[];
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
/* One launch: scalars and elements of each buffer in the order of the kernel's parameters. */
typedef struct shape {
    const char *file, *kernel;
    uint32_t global[3];
    double scalars[6];
    uint32_t elements[6];
    bool quick; /* small enough for --quick */
} shape;

static const shape shapes[] = {
    {"saxpy.kc", "saxpy", {1}, {1, 0.5}, {1, 1}, true},
    {"saxpy.kc", "saxpy", {65}, {65, -3.25}, {65, 65}, true},
    {"saxpy.kc", "saxpy", {1000}, {1000, 0.1}, {1000, 900}, true},
    {"saxpy.kc", "saxpy", {100000}, {99991, 1e-3}, {100000, 100000}, false},
    {"mandelbrot.kc", "mandelbrot", {17, 5}, {17, 5}, {85}, true},
    {"mandelbrot.kc", "mandelbrot", {40, 30}, {40, 30}, {1200}, true},
    {"mandelbrot.kc", "mandelbrot", {320, 200}, {320, 200}, {64000}, false},
    {"matmul.kc", "matmul", {1, 1}, {1, 1, 1}, {1, 1, 1}, true},
    {"matmul.kc", "matmul", {16, 16}, {16, 16, 16}, {256, 256, 256}, true},
    {"matmul.kc", "matmul", {24, 40}, {40, 24, 50}, {2000, 1200, 960}, true},
    {"matmul.kc", "matmul", {130, 70}, {70, 130, 99}, {6930, 12870, 9100}, false},
    {"reduction.kc", "reduction", {256}, {1}, {1, 1}, true},
    {"reduction.kc", "reduction", {256}, {1000}, {1000, 1}, true},
    {"reduction.kc", "reduction", {1024}, {5000}, {5000, 4}, true},
    {"reduction.kc", "reduction", {4096}, {300000}, {300000, 16}, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

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
    return status;
}

/* Everything that is asked of one source file. */
static ls_status example(const ls__conform_plan *plan, const ls__lang_source *source,
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
