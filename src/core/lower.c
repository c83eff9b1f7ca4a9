/* SPDX-License-Identifier: Apache-2.0 */
/* What core asks of the passes: the names of lowerings, and running the pipeline with kernels split
 * at grid barriers. */
#include <ctype.h>
#include <string.h>

#include "core/core.h"
#include "pass/pass.h"

static const struct {
    const char *name;
    uint32_t bit;
} lowerings[] = {
#define X(name, bit, text) {#name, LS__LOWER_##name},
    LS__LOWER_TABLE(X)
#undef X
};
enum { LOWERING_COUNT = sizeof lowerings / sizeof *lowerings };

static bool equal_ignoring_case(ls__str text, const char *name)
{
    if (text.length != strlen(name))
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (toupper((unsigned char)text.text[i]) != toupper((unsigned char)name[i]))
            return false;
    }
    return true;
}

/* The bits of one name; 0 when it is unknown. */
static uint32_t bits_of(ls__str name)
{
    static const char prefix[] = "lower_";
    uint32_t all = 0;
    if (name.length > strlen(prefix) && strncmp(name.text, prefix, strlen(prefix)) == 0)
        name = (ls__str){name.text + strlen(prefix), name.length - strlen(prefix)};
    for (uint32_t i = 0; i < LOWERING_COUNT; i++) {
        if (equal_ignoring_case(name, lowerings[i].name))
            return lowerings[i].bit;
        all |= lowerings[i].bit;
    }
    return equal_ignoring_case(name, "all") ? all : 0;
}

ls_status ls__lower_parse(const char *names, uint32_t *mask, ls_error *error)
{
    *mask = 0;
    while (names && *names) {
        size_t length = strcspn(names, ",");
        ls__str name = {names, length};
        uint32_t bits = bits_of(name);
        if (!bits) {
            ls__strbuf known = {0};
            for (uint32_t i = 0; i < LOWERING_COUNT; i++) {
                for (const char *c = lowerings[i].name; *c; c++)
                    ls__strbuf_printf(&known, "%c", tolower((unsigned char)*c));
                ls__strbuf_printf(&known, ", ");
            }
            ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no lowering '%.*s'", (int)length,
                     names);
            ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "one of: %sall",
                          known.text ? known.text : "");
            ls__strbuf_finish(&known);
            return LS_E_INVALID_ARGUMENT;
        }
        *mask |= bits;
        names += length;
        if (*names == ',')
            names++;
    }
    return LS_OK;
}

/* A module may come from anywhere, and what its flags claim of bounds no verifier can check. The
 * passes prove them anew, so that checked kernels cannot fault. */
static bool distrust(ls__ir_inst *inst, void *context)
{
    (void)context;
    inst->flags &= (uint8_t) ~(LS__IR_INBOUNDS | LS__IR_NOWRAP | LS__IR_WATCHED);
    return true;
}

static bool find_grid_barrier(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found = inst->op == LS_OP_GRID_BARRIER;
    return !*found;
}

static ls_status split_kernels(ls__ir_module *ir, ls__pass_split *splits, ls_error *error)
{
    uint32_t functions = ir->functions.count; /* segments are added behind */
    uint32_t kernel = 0;
    for (uint32_t i = 1; i < functions; i++) {
        const ls__ir_function *function = ir->functions.items[i];
        bool found = false;
        if (!function->is_kernel)
            continue;
        ls__ir_walk(function->body, find_grid_barrier,
                    &found); /* noinline functions have none (verified) */
        if (found) {
            ls_status status = ls__pass_split_grid(ir, i, &splits[kernel], error);
            if (status != LS_OK)
                return status;
        }
        kernel++;
    }
    return LS_OK;
}

ls_status ls__lower_run(ls__ir_module *ir, const ls__pass_options *options, ls__pass_split *splits,
                        ls_error *error)
{
    ls_status status = LS_OK;
    memset(splits, 0, ls__module_kernel_count(ir) * sizeof *splits);
    for (uint32_t i = 1; i < ir->functions.count; i++)
        ls__ir_walk(ir->functions.items[i]->body, distrust, NULL);
    if (options->lower & LS__LOWER_GRID_BARRIER)
        status = split_kernels(ir, splits, error);
    return status == LS_OK ? ls__pass_run(ir, options, error) : status;
}

ls_status ls_module_transform(const ls_module *module, const char *stop_after, const char *lower,
                              ls_module **result, ls_error *error)
{
    ls__pass_options options = {.optimize = true, .stop_after = stop_after, .verify_each = true};
    ls__ir_module *ir = NULL;
    if (!result)
        return ls__fail_no_result(error, "ls_module_transform");
    *result = NULL;
    if (!module)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_module_transform: no module was given");
    ls_status status = ls__lower_parse(lower, &options.lower, error);
    if (status != LS_OK)
        return status;
    size_t kernels = ls__module_kernel_count(module->signature);
    ls__pass_split *splits = ls__mem_alloc(kernels, sizeof *splits);
    if (!splits)
        return ls__fail_oom(error, kernels * sizeof *splits);
    status = ls__module_copy_ir(module, &ir, error);
    if (status == LS_OK)
        status = ls__lower_run(ir, &options, splits, error);
    ls__mem_free(splits);
    if (status != LS_OK) {
        ls__ir_module_destroy(&ir);
        return status;
    }
    return ls__module_wrap(ir, result, error);
}
