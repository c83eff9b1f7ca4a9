/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments to parameters. Every message shows the kernel's parameters when a name is wrong. */
#include "cli/bind.h"

#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "cli/value.h"

/* "u32 n, f32 a, const f32 *x" */
static void print_params(const ls__cli_binding *binding, ls__strbuf *out)
{
    for (uint32_t i = 0; i < binding->kernel.param_count; i++) {
        const ls_param_info *p = &binding->params[i];
        ls__strbuf_printf(out, "%s%s%s %s%s", i ? ", " : "",
                          p->is_pointer && p->is_const ? "const " : "", p->type_name,
                          p->is_pointer ? "*" : "", p->name);
    }
}

static ls_status fail_with_params(const ls__cli_binding *binding, const char *format,
                                  const char *name, ls_error *error)
{
    ls__strbuf params = {0};
    print_params(binding, &params);
    ls__fail(error, LS_E_INVALID_ARGUMENT, format, name);
    ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "the kernel is %s(%s)", binding->kernel.name,
                  params.text ? params.text : "");
    ls__strbuf_finish(&params);
    return LS_E_INVALID_ARGUMENT;
}

static ls_status find_kernel(const ls_module *module, const char *name, ls_kernel_info *info,
                             ls_error *error)
{
    if (name)
        return ls_module_find_kernel(module, name, info, error);
    uint32_t count = ls_module_kernel_count(module);
    if (count == 1)
        return ls_module_kernel(module, 0, info, error);
    if (count == 0)
        return ls__fail(error, LS_E_NOT_FOUND, "the file has no kernel");
    ls__strbuf names = {0};
    for (uint32_t i = 0; i < count && ls_module_kernel(module, i, info, error) == LS_OK; i++)
        ls__strbuf_printf(&names, "%s%s", i ? ", " : "", info->name);
    ls__fail(error, LS_E_INVALID_ARGUMENT, "the file has %u kernels; choose one with --kernel",
             count);
    ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "there are %s", names.text ? names.text : "");
    ls__strbuf_finish(&names);
    return LS_E_INVALID_ARGUMENT;
}

static ls_status describe(const ls_module *module, const char *kernel, ls__cli_binding *binding,
                          ls_error *error)
{
    ls_status status = find_kernel(module, kernel, &binding->kernel, error);
    if (status != LS_OK)
        return status;
    const ls_kernel_info *info = &binding->kernel;
    binding->params = ls__mem_alloc(info->param_count, sizeof *binding->params);
    binding->arrays = ls__mem_alloc(info->buffer_count, sizeof *binding->arrays);
    binding->scalars = ls__mem_alloc(info->scalar_bytes, 1);
    if (!binding->params || !binding->arrays || !binding->scalars)
        return ls__fail_oom(error, info->param_count * sizeof *binding->params);
    for (uint32_t i = 0; status == LS_OK && i < info->param_count; i++)
        status = ls_module_param(module, info->name, i, &binding->params[i], error);
    return status;
}

/* A struct passed by value: the hexadecimal digits of its bytes. */
static ls_status parse_struct(const char *text, const ls_param_info *param, uint8_t *out,
                              ls_error *error)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = strlen(text);
    if (strncmp(text, "hex:", 4) != 0 || length - 4 != 2 * (size_t)param->size ||
        strspn(text + 4, digits) != length - 4)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "'%s' is a struct of %u bytes: give hex: and %u lower-case digits",
                        param->name, param->size, 2 * param->size);
    for (size_t i = 0; i < param->size; i++) {
        size_t high = (size_t)(strchr(digits, text[4 + 2 * i]) - digits);
        size_t low = (size_t)(strchr(digits, text[5 + 2 * i]) - digits);
        out[i] = (uint8_t)(high << 4 | low);
    }
    return LS_OK;
}

static ls_status bind_one(ls__cli_binding *binding, const char *argument, uint64_t file_limit_bytes,
                          bool *bound, ls_error *error)
{
    const char *equals = strchr(argument, '=');
    if (!equals)
        return fail_with_params(binding, "'%s' is not NAME=VALUE", argument, error);
    ls__str name = {argument, (size_t)(equals - argument)};
    const char *value = equals + 1;
    uint32_t i = 0;
    while (i < binding->kernel.param_count && !ls__str_is(name, binding->params[i].name))
        i++;
    if (i == binding->kernel.param_count)
        return fail_with_params(binding, "'%s' gives a value to no parameter", argument, error);
    const ls_param_info *param = &binding->params[i];
    if (bound[i])
        return fail_with_params(binding, "'%s' is given twice", param->name, error);
    bound[i] = true;

    ls_status status;
    if (param->is_pointer)
        status = ls__cli_array_parse(value, param, file_limit_bytes,
                                     &binding->arrays[param->buffer], error);
    else if (param->mem == LS_MEM_NONE)
        status = parse_struct(value, param, binding->scalars + param->offset, error);
    else
        status = ls__cli_value_parse(param->mem, value, binding->scalars + param->offset, error);
    if (status != LS_OK && !error->where[0]) {
        if (param->is_pointer)
            ls__fail_where(error, status, "%s", argument);
        else
            ls__fail_where(error, status, "%s=%s is %s", param->name, value, param->type_name);
    }
    return status;
}

ls_status ls__cli_bind(const ls_module *module, const char *kernel, char *const *arguments,
                       uint32_t argument_count, uint64_t file_limit_bytes,
                       ls__cli_binding *binding, ls_error *error)
{
    memset(binding, 0, sizeof *binding);
    ls_status status = describe(module, kernel, binding, error);
    if (status != LS_OK)
        return status;
    bool *bound = ls__mem_alloc(binding->kernel.param_count, sizeof *bound);
    if (!bound)
        return ls__fail_oom(error, binding->kernel.param_count * sizeof *bound);
    for (uint32_t i = 0; status == LS_OK && i < argument_count; i++)
        status = bind_one(binding, arguments[i], file_limit_bytes, bound, error);
    for (uint32_t i = 0; status == LS_OK && i < binding->kernel.param_count; i++)
        if (!bound[i])
            status = fail_with_params(binding, "no value is given for '%s'",
                                      binding->params[i].name, error);
    ls__mem_free(bound);
    return status;
}

void ls__cli_bind_finish(ls__cli_binding *binding)
{
    for (uint32_t i = 0; binding->arrays && i < binding->kernel.buffer_count; i++)
        ls__cli_array_finish(&binding->arrays[i]);
    ls__mem_free(binding->arrays);
    ls__mem_free(binding->params);
    ls__mem_free(binding->scalars);
    memset(binding, 0, sizeof *binding);
}

ls_status ls__cli_bind_find(ls__cli_binding *binding, const char *name, uint32_t *buffer,
                            ls_error *error)
{
    for (uint32_t i = 0; i < binding->kernel.param_count; i++)
        if (binding->params[i].is_pointer && strcmp(binding->params[i].name, name) == 0) {
            *buffer = binding->params[i].buffer;
            return LS_OK;
        }
    return fail_with_params(binding, "'%s' is no buffer of the kernel, so it cannot be saved", name,
                            error);
}
