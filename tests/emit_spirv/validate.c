/* SPDX-License-Identifier: Apache-2.0 */
/* See validate.h. */
#include "validate.h"

#include <spirv-tools/libspirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "emit/spirv/abi.h"
#include "emit/spirv/emit.h"
#include "kernels/math_sources.h"
#include "lang/lang.h"
#include "pass/pass.h"

const char *const ls__spirv_targets[] = {
    "vulkan1.2", "vulkan1.2+szinp32+szinp64+rte32+rte64+i8+i16+div+sqrt+llvmpipe",
    "vulkan1.2+szinp32+szinp64+rte32+rte64+denorm32+denorm64+i8+i16+dot8+subgroup32+fma+div+sqrt",
    NULL};

ls__ir_module *ls__spirv_compile(const char *text, size_t size, const char *path)
{
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {.path = path, .library = &library};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module = NULL;
    ls_error error = {0};
    if (ls__str_ends_in(path, ".ir")) {
        if (ls__ir_read(text, size, &module, &error) != LS_OK)
            fprintf(stderr, "%s: %s\n", path, error.message);
        return module;
    }
    if (ls__lang_compile(text, size, &options, &module, &diagnostics, &error) != LS_OK) {
        ls__strbuf out = {0};
        ls__lang_diagnostics_print(&diagnostics, &out);
        fprintf(stderr, "%s: %s\n%s\n", path, error.message, out.text ? out.text : "");
        ls__strbuf_finish(&out);
        module = NULL;
    }
    ls__lang_diagnostics_finish(&diagnostics);
    return module;
}

static bool find_grid_barrier(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found = inst->op == LS_OP_GRID_BARRIER;
    return !*found;
}

static ls__ir_module *lowered_copy(const ls__ir_module *module, const ls__spirv_try *how)
{
    ls__oom oom;
    ls_error error = {0};
    ls__pass_split split;
    if (setjmp(oom.jump))
        return NULL;
    ls__ir_module *copy = ls__ir_module_clone(module, &oom, 0);
    uint32_t functions = copy->functions.count;
    ls__pass_options options = {.lower = ls__spirv_lowering(how->target),
                                .optimize = how->optimize,
                                .unchecked = how->unchecked};
    ls_status status = LS_OK;
    for (uint32_t i = 1; i < functions && status == LS_OK; i++) {
        bool found = false;
        ls__ir_walk(copy->functions.items[i]->body, find_grid_barrier, &found);
        if (found)
            status = ls__pass_split_grid(copy, i, &split, &error);
    }
    options.lower &= ~(uint32_t)LS__LOWER_GRID_BARRIER;
    if (status == LS_OK)
        status = ls__pass_run(copy, &options, &error);
    if (status != LS_OK) {
        fprintf(stderr, "passes: %s\n", error.message);
        ls__ir_module_destroy(&copy);
    }
    return copy;
}

void *ls__spirv_build(const ls__ir_module *module, const ls__spirv_try *how, size_t *size)
{
    ls_error error = {0};
    void *bytes = NULL;
    ls__ir_module *copy = lowered_copy(module, how);
    if (!copy)
        return NULL;
    if (ls__spirv_emit(copy, how->target, how->unchecked, &bytes, size, &error) != LS_OK) {
        fprintf(stderr, "%s: %s\n", how->target, error.message);
        bytes = NULL;
    }
    ls__ir_module_destroy(&copy);
    return bytes;
}

static void print_text(spv_context context, const uint32_t *words, size_t count)
{
    spv_text text = NULL;
    const uint32_t options =
        SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES;
    if (spvBinaryToText(context, words, count, options, &text, NULL) == SPV_SUCCESS)
        fprintf(stderr, "%s\n", text->str);
    spvTextDestroy(text);
}

static int validate(spv_context context, const ls__spirv_view *view, const void *bytes,
                    unsigned *accepted)
{
    int bad = 0;
    for (uint32_t i = 0; i < view->kernel_count && !bad; i++) {
        const ls__spirv_kernel *kernel = &view->kernels[i];
        spv_const_binary_t binary = {ls__spirv_words(bytes, kernel), kernel->word_count};
        spv_diagnostic diagnostic = NULL;
        if (spvValidate(context, &binary, &diagnostic) != SPV_SUCCESS) {
            if (getenv("LS_TEST_DUMP"))
                print_text(context, binary.code, binary.wordCount);
            fprintf(stderr, "function %u: %s\n", kernel->function, diagnostic->error);
            bad = 1;
        } else {
            ++*accepted;
        }
        spvDiagnosticDestroy(diagnostic);
    }
    return bad;
}

int ls__spirv_validate(const ls__ir_module *module, const ls__spirv_try *how, unsigned *accepted)
{
    size_t size = 0;
    ls_error error = {0};
    ls__spirv_view view;
    void *bytes = ls__spirv_build(module, how, &size);
    if (!bytes)
        return 1;
    if (ls__spirv_read(bytes, size, &view, &error) != LS_OK) {
        fprintf(stderr, "%s\n", error.message);
        ls__mem_free(bytes);
        return 1;
    }
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
    int bad = validate(context, &view, bytes, accepted);
    if (bad)
        fprintf(stderr, "target %s%s%s\n", how->target, how->optimize ? "" : ", not optimised",
                how->unchecked ? ", unchecked" : "");
    spvContextDestroy(context);
    ls__mem_free(bytes);
    return bad;
}
