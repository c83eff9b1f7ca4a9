/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: the public calls around the front end and the IR's readers and printers.
 *
 * Whatever computes floats (literals, folding) runs under the default floating-point environment,
 * so that a program does not depend on the caller's.
 */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/origin.h"
#include "ir/builder.h"
#include "kernels/math_sources.h"
#include "lang/lang.h"

enum { COPY_LIMIT_BYTES = 0 }; /* no limit of its own: the source has passed one */

/* --- handles ---------------------------------------------------------------------------------- */
ls_status ls__module_wrap(ls__ir_module *ir, ls_module **module, ls_error *error)
{
    *module = ls__mem_alloc(1, sizeof **module);
    if (!*module) {
        ls__ir_module_destroy(&ir);
        return ls__fail_oom(error, sizeof **module);
    }
    atomic_init(&(*module)->refs, 1);
    atomic_init(&(*module)->ir, ir);
    (*module)->signature = ir;
    return LS_OK;
}

ls_status ls__module_wrap_found(ls__ir_module *signature, ls__facts *facts, ls__origin *origin,
                                ls_module **module, ls_error *error)
{
    *module = ls__mem_alloc(1, sizeof **module);
    if (!*module)
        return ls__fail_oom(error, sizeof **module);
    atomic_init(&(*module)->refs, 1);
    atomic_init(&(*module)->ir, NULL);
    (*module)->signature = signature;
    (*module)->facts = facts;
    (*module)->origin = origin;
    return LS_OK;
}

void ls__module_retain(ls_module *module)
{
    atomic_fetch_add_explicit(&module->refs, 1, memory_order_relaxed);
}

void ls__module_release(ls_module *module)
{
    if (!module || atomic_fetch_sub(&module->refs, 1) != 1)
        return;
    ls__ir_module *ir = atomic_load(&module->ir);
    ls__ir_module *signature = (ls__ir_module *)module->signature;
    ls__ir_module_destroy(&ir);
    if (module->origin)
        ls__ir_module_destroy(&signature);
    ls__origin_free(module->origin);
    ls__mem_free(module->facts);
    ls__mem_free(module->entry);
    ls__mem_free(module);
}

void ls_module_destroy(ls_module **module)
{
    if (!module)
        return;
    ls__module_release(*module);
    *module = NULL;
}

static ls_status copy_ir(const ls__ir_module *from, ls__ir_module **ir, ls_error *error)
{
    ls__oom oom = {0};
    if (setjmp(oom.jump))
        return ls__oom_status(&oom, error);
    *ir = ls__ir_module_clone(from, &oom, COPY_LIMIT_BYTES);
    (*ir)->arena.oom = NULL; /* each user sets its own */
    return LS_OK;
}

ls_status ls__module_copy_ir(const ls_module *module, ls__ir_module **ir, ls_error *error)
{
    const ls__ir_module *from;
    *ir = NULL;
    ls_status status = ls__module_ir((ls_module *)module, &from, error);
    return status == LS_OK ? copy_ir(from, ir, error) : status;
}

static ls_status select_kernel(const ls__ir_module *from, const ls__ir_function *kernel,
                               ls__ir_module **ir, ls_error *error)
{
    ls__oom oom = {0};
    *ir = NULL;
    if (setjmp(oom.jump)) {
        ls__ir_module_destroy(ir);
        return ls__oom_status(&oom, error);
    }
    *ir = ls__ir_module_create(&oom, COPY_LIMIT_BYTES);
    for (uint32_t i = 0; i < from->specs.count; i++)
        ls__ir_spec_add(*ir, &from->specs.items[i]);
    ls__ir_function_clone(*ir, kernel, kernel->name);
    (*ir)->arena.oom = NULL;
    return LS_OK;
}

ls_status ls_module_select(const ls_module *module, const char *kernel, ls_module **result,
                           ls_error *error)
{
    const ls__ir_module *from = NULL;
    const ls__ir_function *found = NULL;
    ls__ir_module *ir = NULL;
    if (!result)
        return ls__fail_no_result(error, "ls_module_select");
    *result = NULL;
    if (!module || !kernel)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_module_select: no %s was given",
                        module ? "kernel" : "module");
    ls_status status = ls__module_ir((ls_module *)module, &from, error);
    if (status == LS_OK)
        status = ls__module_kernel_find(from, kernel, &found, error);
    if (status == LS_OK)
        status = select_kernel(from, found, &ir, error);
    if (status == LS_OK)
        status = ls__ir_verify(ir, error);
    if (status == LS_OK)
        return ls__module_wrap(ir, result, error);
    ls__ir_module_destroy(&ir);
    return status;
}

/* --- compilation ------------------------------------------------------------------------------ */
struct ls_diagnostics {
    ls__lang_diagnostics list;
    ls__strbuf text;
};

typedef struct include_context {
    const ls_compile_params *params;
    ls__origin *origin; /* notes what is read; may be NULL */
} include_context;

static bool include(void *context, const char *path, char **text, size_t *length)
{
    const include_context *c = context;
    return ls__origin_read(c->origin, c->params, path, text, length);
}

static ls_status compile(const ls_compile_params *params, ls__origin *origin, ls__ir_module **ir,
                         ls__lang_diagnostics *list, ls_error *error)
{
    ls__lang_define *defines = ls__mem_alloc(params->define_count, sizeof *defines);
    if (!defines)
        return ls__fail_oom(error, params->define_count * sizeof *defines);
    for (uint32_t i = 0; i < params->define_count; i++)
        defines[i] = (ls__lang_define){params->defines[i].name, params->defines[i].value};
    include_context context = {params, origin};
    const ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {
        .path = params->path,
        .defines = defines,
        .define_count = params->define_count,
        .include = include,
        .include_context = &context,
        .library = &library,
    };
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    ls_status status = ls__lang_compile(params->text, params->length, &options, ir, list, error);
    ls__os_fenv_leave(&saved);
    ls__mem_free(defines);
    return status;
}

/* When two threads come here at once both compile, and one result is kept. */
ls_status ls__module_ir(ls_module *module, const ls__ir_module **ir, ls_error *error)
{
    ls__ir_module *made = NULL, *before = NULL;
    ls__lang_diagnostics list = {0};
    *ir = atomic_load(&module->ir);
    if (*ir)
        return LS_OK;
    ls_compile_params params = module->origin->params;
    params.include = ls__origin_replay;
    params.include_context = module->origin;
    ls_status status = compile(&params, NULL, &made, &list, error);
    ls__lang_diagnostics_finish(&list);
    if (status != LS_OK)
        return status;
    if (!atomic_compare_exchange_strong(&module->ir, &before, made))
        ls__ir_module_destroy(&made);
    *ir = atomic_load(&module->ir);
    return LS_OK;
}

/* Hands the diagnostics out when there are any and somebody wants them; else frees them. */
static void hand_out(ls_diagnostics *made, ls_diagnostics **diagnostics)
{
    if (diagnostics && made->list.items.count) {
        ls__lang_diagnostics_print(&made->list, &made->text);
        *diagnostics = made;
    } else {
        ls_diagnostics_destroy(&made);
    }
}

ls_status ls_module_compile(const ls_compile_params *params, ls_module **module,
                            ls_diagnostics **diagnostics, ls_error *error)
{
    ls_compile_params given;
    ls__ir_module *ir = NULL;
    if (!module)
        return ls__fail_no_result(error, "ls_module_compile");
    *module = NULL;
    if (diagnostics)
        *diagnostics = NULL;
    ls_status status =
        ls__params_in(&given, sizeof given, params, false, "ls_module_compile", error);
    if (status != LS_OK)
        return status;
    if ((!given.text && given.length) || (given.define_count && !given.defines))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_module_compile: no text or no defines were given");
    if (!given.text)
        given.text = "";
    ls_diagnostics *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    ls__origin *origin = ls__origin_open(&given);
    if (origin && ls__origin_find(origin, module, &made->list)) {
        ls__origin_close(origin);
        hand_out(made, diagnostics);
        return LS_OK;
    }
    status = compile(&given, origin, &ir, &made->list, error);
    if (status == LS_OK)
        status = ls__module_wrap(ir, module, error);
    if (status == LS_OK && origin)
        ls__origin_keep(origin, *module, &made->list);
    ls__origin_free(origin);
    hand_out(made, diagnostics);
    return status;
}

uint32_t ls_diagnostics_count(const ls_diagnostics *diagnostics)
{
    return diagnostics ? diagnostics->list.items.count : 0;
}

void ls_diagnostics_get(const ls_diagnostics *diagnostics, uint32_t index, ls_diagnostic *out)
{
    const ls__lang_diagnostic *item = &diagnostics->list.items.items[index];
    *out = (ls_diagnostic){
        .id = item->id,
        .path = item->path,
        .line = item->line,
        .column = item->column,
        .length = item->length,
        .is_warning = item->is_warning,
        .message = item->message,
        .source_line = item->source_line,
        .hint = item->hint,
    };
}

const char *ls_diagnostics_text(const ls_diagnostics *diagnostics)
{
    return diagnostics && diagnostics->text.text ? diagnostics->text.text : "";
}

void ls_diagnostics_destroy(ls_diagnostics **diagnostics)
{
    if (!diagnostics || !*diagnostics)
        return;
    ls__lang_diagnostics_finish(&(*diagnostics)->list);
    ls__strbuf_finish(&(*diagnostics)->text);
    ls__mem_free(*diagnostics);
    *diagnostics = NULL;
}

static ls_status fail_no_module(ls_error *error, const char *call)
{
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: no module was given", call);
}

/* --- text, bytes, digest ---------------------------------------------------------------------- */
ls_status ls_module_read(const char *text, size_t length, ls_module **module, ls_error *error)
{
    ls__ir_module *ir = NULL;
    ls__os_fenv saved;
    if (!module)
        return ls__fail_no_result(error, "ls_module_read");
    *module = NULL;
    ls__os_fenv_enter(&saved);
    ls_status status = ls__ir_read(text ? text : "", text ? length : 0, &ir, error);
    ls__os_fenv_leave(&saved);
    return status == LS_OK ? ls__module_wrap(ir, module, error) : status;
}

ls_status ls_module_print(const ls_module *module, char **text, size_t *length, ls_error *error)
{
    ls__strbuf out = {0};
    ls__os_fenv saved;
    if (!text)
        return ls__fail_no_result(error, "ls_module_print");
    *text = NULL;
    if (length)
        *length = 0;
    if (!module)
        return fail_no_module(error, "ls_module_print");
    const ls__ir_module *ir;
    ls_status status = ls__module_ir((ls_module *)module, &ir, error);
    if (status != LS_OK)
        return status;
    ls__os_fenv_enter(&saved);
    ls__ir_print(ir, &out);
    ls__os_fenv_leave(&saved);
    if (out.failed || !out.text) {
        ls__strbuf_finish(&out);
        return ls__fail_oom(error, out.length);
    }
    *text = out.text;
    if (length)
        *length = out.length;
    return LS_OK;
}

ls_status ls_module_decode(const void *bytes, size_t size, ls_module **module, ls_error *error)
{
    ls__ir_module *ir = NULL;
    if (!module)
        return ls__fail_no_result(error, "ls_module_decode");
    *module = NULL;
    ls_status status = ls__ir_decode(bytes, size, &ir, error);
    return status == LS_OK ? ls__module_wrap(ir, module, error) : status;
}

ls_status ls_module_encode(const ls_module *module, void **bytes, size_t *size, ls_error *error)
{
    if (!bytes || !size)
        return ls__fail_no_result(error, "ls_module_encode");
    *bytes = NULL;
    *size = 0;
    const ls__ir_module *ir = NULL;
    ls_status status = module ? ls__module_ir((ls_module *)module, &ir, error)
                              : fail_no_module(error, "ls_module_encode");
    return status == LS_OK ? ls__ir_encode(ir, bytes, size, error) : status;
}

void ls_bytes_destroy(void **bytes)
{
    if (!bytes)
        return;
    ls__mem_free(*bytes);
    *bytes = NULL;
}

ls_status ls_module_digest(const ls_module *module, uint8_t digest[32], ls_error *error)
{
    ls__digest made;
    if (!digest)
        return ls__fail_no_result(error, "ls_module_digest");
    memset(digest, 0, sizeof made.bytes);
    if (!module)
        return fail_no_module(error, "ls_module_digest");
    const ls__ir_module *ir;
    ls_status status = ls__module_ir((ls_module *)module, &ir, error);
    if (status == LS_OK)
        status = ls__ir_digest(ir, &made, error);
    if (status == LS_OK)
        memcpy(digest, made.bytes, sizeof made.bytes);
    return status;
}

/* --- the builder's two calls that know ls_module ---------------------------------------------- */
ls_status ls_builder_finish(ls_builder **builder, ls_module **module, ls_error *error)
{
    ls__ir_module *ir = NULL;
    if (!module)
        return ls__fail_no_result(error, "ls_builder_finish");
    *module = NULL;
    ls_status status = ls__ir_builder_finish(builder, &ir, error);
    return status == LS_OK ? ls__module_wrap(ir, module, error) : status;
}

void ls_builder_link(ls_builder *builder, const ls_module *module)
{
    const ls__ir_module *ir = NULL; /* stays it when memory is short */
    if (module)
        ls__module_ir((ls_module *)module, &ir, NULL);
    ls__ir_builder_link(builder, ir);
}

/* --- kernels and parameters ------------------------------------------------------------------- */
uint32_t ls__module_kernel_count(const ls__ir_module *ir)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < ir->functions.count; i++)
        count += ir->functions.items[i]->is_kernel;
    return count;
}

const ls__ir_function *ls__module_kernel_at(const ls__ir_module *ir, uint32_t index)
{
    for (uint32_t i = 1; i < ir->functions.count; i++) {
        if (ir->functions.items[i]->is_kernel && index-- == 0)
            return ir->functions.items[i];
    }
    return NULL;
}

ls_status ls__module_kernel_find(const ls__ir_module *ir, const char *name,
                                 const ls__ir_function **kernel, ls_error *error)
{
    ls__strbuf names = {0};
    for (uint32_t i = 1; i < ir->functions.count; i++) {
        const ls__ir_function *function = ir->functions.items[i];
        if (!function->is_kernel)
            continue;
        if (strcmp(function->name, name) == 0) {
            *kernel = function;
            ls__strbuf_finish(&names);
            return LS_OK;
        }
        ls__strbuf_printf(&names, "%s%s", names.length ? ", " : "", function->name);
    }
    *kernel = NULL;
    ls__fail(error, LS_E_NOT_FOUND, "there is no kernel '%s'", name);
    ls__fail_hint(error, LS_E_NOT_FOUND,
                  names.length ? "the kernels are: %s" : "the module has no kernels%s",
                  names.length ? names.text : "");
    ls__strbuf_finish(&names);
    return LS_E_NOT_FOUND;
}

void ls__kernel_param(const ls__ir_param *param, ls_param_info *info)
{
    *info = (ls_param_info){
        .name = param->name,
        .type_name = param->type_name ? param->type_name : ls__ir_mem_name((ls_mem)param->mem),
        .mem = (ls_mem)param->mem,
        .is_pointer = param->is_pointer,
        .is_const = param->is_const,
        .size = param->size,
        .alignment = param->alignment,
        .offset = param->offset,
        .buffer = param->buffer,
        .min_elements = param->is_pointer && param->size ? param->min_bytes / param->size : 0,
    };
}

ls_status ls__kernel_describe(const ls_module *module, const ls__ir_function *kernel,
                              ls_kernel_info *info, ls_error *error)
{
    ls__facts facts;
    ls_status status = ls__module_facts(module, kernel, &facts, error);
    if (status != LS_OK)
        return status;
    *info = (ls_kernel_info){
        .name = kernel->name,
        .workgroup = {kernel->workgroup[0], kernel->workgroup[1], kernel->workgroup[2]},
        .param_count = kernel->params.count,
        .buffer_count = kernel->buffer_count,
        .scalar_bytes = kernel->scalar_bytes,
        .shared_bytes = facts.shared_bytes,
        .local_bytes = facts.local_bytes,
        .unordered = kernel->unordered,
    };
    return LS_OK;
}

uint32_t ls_module_kernel_count(const ls_module *module)
{
    return ls__module_kernel_count(module->signature);
}

ls_status ls_module_kernel(const ls_module *module, uint32_t index, ls_kernel_info *info,
                           ls_error *error)
{
    if (!info)
        return ls__fail_no_result(error, "ls_module_kernel");
    *info = (ls_kernel_info){0};
    if (!module)
        return fail_no_module(error, "ls_module_kernel");
    const ls__ir_function *kernel = ls__module_kernel_at(module->signature, index);
    if (!kernel)
        return ls__fail(error, LS_E_NOT_FOUND, "there is no kernel number %u: the module has %u",
                        index, ls__module_kernel_count(module->signature));
    return ls__kernel_describe(module, kernel, info, error);
}

ls_status ls_module_find_kernel(const ls_module *module, const char *name, ls_kernel_info *info,
                                ls_error *error)
{
    const ls__ir_function *kernel;
    if (!info)
        return ls__fail_no_result(error, "ls_module_find_kernel");
    *info = (ls_kernel_info){0};
    if (!module || !name)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_module_find_kernel: no %s was given",
                        module ? "name" : "module");
    ls_status status = ls__module_kernel_find(module->signature, name, &kernel, error);
    return status == LS_OK ? ls__kernel_describe(module, kernel, info, error) : status;
}

ls_status ls_module_param(const ls_module *module, const char *kernel, uint32_t index,
                          ls_param_info *info, ls_error *error)
{
    const ls__ir_function *function;
    if (!info)
        return ls__fail_no_result(error, "ls_module_param");
    *info = (ls_param_info){0};
    if (!module || !kernel)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_module_param: no %s was given",
                        module ? "kernel" : "module");
    ls_status status = ls__module_kernel_find(module->signature, kernel, &function, error);
    if (status != LS_OK)
        return status;
    if (index >= function->params.count)
        return ls__fail(error, LS_E_NOT_FOUND, "kernel '%s' has no parameter number %u: it has %u",
                        kernel, index, function->params.count);
    ls__kernel_param(&function->params.items[index], info);
    return LS_OK;
}

/* --- constants -------------------------------------------------------------------------------- */
uint32_t ls_module_spec_count(const ls_module *module)
{
    return module ? module->signature->specs.count : 0;
}

ls_status ls_module_spec(const ls_module *module, uint32_t index, ls_spec_info *info,
                         ls_error *error)
{
    if (!info)
        return ls__fail_no_result(error, "ls_module_spec");
    *info = (ls_spec_info){0};
    if (!module)
        return fail_no_module(error, "ls_module_spec");
    uint32_t count = module->signature->specs.count;
    if (index >= count)
        return ls__fail(error, LS_E_NOT_FOUND,
                        "there is no SPEC constant number %u: the module has %u", index, count);
    const ls__ir_spec *spec = &module->signature->specs.items[index];
    *info = (ls_spec_info){.name = spec->name,
                           .mem = (ls_mem)spec->mem,
                           .value = spec->value,
                           .default_value = spec->default_value,
                           .choices = spec->choices,
                           .choice_count = spec->choice_count};
    return LS_OK;
}
