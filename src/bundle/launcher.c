/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher: a struct for the open bundle, functions to open and close it, and two for each
 * kernel, typed as its parameters are. What a caller can get wrong beyond types (ranges, elements,
 * devices) is checked where batches are recorded.
 */
#include <ctype.h>
#include <string.h>

#include "base/status.h"
#include "bundle/bundle.h"

typedef struct launcher {
    const ls_module *module;
    const char *name; /* of the bundle */
    ls__strbuf *out;
} launcher;

bool ls__bundle_is_identifier(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return true;
}

static const char *c_type(ls_mem mem)
{
    static const char *const names[] = {
        [LS_MEM_BOOL] = "bool",    [LS_MEM_I8] = "int8_t",     [LS_MEM_U8] = "uint8_t",
        [LS_MEM_I16] = "int16_t",  [LS_MEM_U16] = "uint16_t",  [LS_MEM_I32] = "int32_t",
        [LS_MEM_U32] = "uint32_t", [LS_MEM_I64] = "int64_t",   [LS_MEM_U64] = "uint64_t",
        [LS_MEM_F16] = "uint16_t", [LS_MEM_BF16] = "uint16_t", [LS_MEM_F32] = "float",
        [LS_MEM_F64] = "double",
    };
    return mem < sizeof names / sizeof *names ? names[mem] : NULL;
}

static ls_status check_kernel(const launcher *l, const ls_kernel_info *kernel, ls_error *error)
{
    const char *bad = ls__bundle_is_identifier(kernel->name) ? NULL : kernel->name;
    for (uint32_t i = 0; i < kernel->param_count && !bad; i++) {
        ls_param_info param;
        ls_status status = ls_module_param(l->module, kernel->name, i, &param, error);
        if (status != LS_OK)
            return status;
        if (!ls__bundle_is_identifier(param.name))
            bad = param.name;
    }
    if (!bad)
        return LS_OK;
    return ls__fail(error, LS_E_UNSUPPORTED,
                    "kernel '%s': '%s' is no name in C, so it has no launcher", kernel->name, bad);
}

/* "uint32_t n_, float a_, ls_range x_" and the error behind it. Names end in '_', so that none is
 * one of the launcher's own, or a keyword. */
static void put_parameters(const launcher *l, const ls_kernel_info *kernel)
{
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        ls_param_info param;
        if (ls_module_param(l->module, kernel->name, i, &param, NULL) != LS_OK)
            continue;
        const char *type = c_type(param.mem);
        if (param.is_pointer)
            ls__strbuf_printf(l->out, "ls_range %s_, ", param.name);
        else if (type)
            ls__strbuf_printf(l->out, "%s %s_, ", type, param.name);
        else
            ls__strbuf_printf(l->out, "const void *%s_ /* %u bytes */, ", param.name, param.size);
    }
}

static void put_record(const launcher *l, const ls_kernel_info *kernel)
{
    ls__strbuf_printf(l->out,
                      "ls_status %s_record_%s(const %s_bundle *bundle, ls_batch *batch, "
                      "const uint32_t lanes[3],\n        ",
                      l->name, kernel->name, l->name);
    put_parameters(l, kernel);
    ls__strbuf_printf(l->out, "ls_error *error)");
}

static void put_launch(const launcher *l, const ls_kernel_info *kernel)
{
    ls__strbuf_printf(l->out,
                      "ls_status %s_launch_%s(const %s_bundle *bundle, ls_stream *stream, "
                      "const uint32_t lanes[3],\n        ",
                      l->name, kernel->name, l->name);
    put_parameters(l, kernel);
    ls__strbuf_printf(l->out, "ls_error *error)");
}

static void put_signature(const launcher *l, const ls_kernel_info *kernel)
{
    ls__strbuf_printf(l->out, "/* kernel void %s(", kernel->name);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        ls_param_info param;
        if (ls_module_param(l->module, kernel->name, i, &param, NULL) == LS_OK)
            ls__strbuf_printf(l->out, "%s%s%s %s%s", i ? ", " : "", param.is_const ? "const " : "",
                              param.type_name, param.is_pointer ? "*" : "", param.name);
    }
    ls__strbuf_printf(l->out, "), workgroup(%u, %u, %u) */\n", kernel->workgroup[0],
                      kernel->workgroup[1], kernel->workgroup[2]);
}

static const char header_text[] =
    "/* Written by `lockstep bundle`, for the folder it lies in. */\n"
    "#ifndef %1$s_BUNDLE_H\n"
    "#define %1$s_BUNDLE_H\n"
    "\n"
    "#include <lockstep/bundle.h>\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n"
    "/* An open bundle on a device. */\n"
    "typedef struct %1$s_bundle {\n"
    "    ls_device *device;\n"
    "    ls_bundle *bundle;\n"
    "    ls_program *program;\n"
    "    const ls_kernel *kernels[%2$u];\n"
    "} %1$s_bundle;\n"
    "\n"
    "/* `path`: the folder. Nothing stays open when it fails. */\n"
    "ls_status %1$s_open(const char *path, ls_device *device, %1$s_bundle *bundle, "
    "ls_error *error);\n"
    "void %1$s_close(%1$s_bundle *bundle);\n"
    "\n"
    "/* For each kernel: record adds a dispatch of so many lanes to a batch; launch runs one and "
    "waits\n"
    " * until it has ended. */\n";

ls_status ls__bundle_launcher_header(const ls_module *module, const char *name, ls__strbuf *out,
                                     ls_error *error)
{
    launcher l = {module, name, out};
    uint32_t count = ls_module_kernel_count(module);
    ls__strbuf_printf(out, header_text, name, count);
    for (uint32_t i = 0; i < count; i++) {
        ls_kernel_info kernel;
        ls_status status = ls_module_kernel(module, i, &kernel, error);
        if (status == LS_OK)
            status = check_kernel(&l, &kernel, error);
        if (status != LS_OK)
            return status;
        ls__strbuf_printf(out, "\n");
        put_signature(&l, &kernel);
        put_record(&l, &kernel);
        ls__strbuf_printf(out, ";\n");
        put_launch(&l, &kernel);
        ls__strbuf_printf(out, ";\n");
    }
    ls__strbuf_printf(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    return LS_OK;
}

/* --- the source ------------------------------------------------------------------------------- */
static const char source_text[] =
    "/* Written by `lockstep bundle`, for the folder it lies in. */\n"
    "#include \"%1$s.h\"\n"
    "\n"
    "#include <string.h>\n"
    "\n"
    "/* SHA-256 of the bundle.json that this belongs to. */\n"
    "static const char digest[] = \"%2$s\";\n"
    "\n"
    "void %1$s_close(%1$s_bundle *bundle)\n"
    "{\n"
    "    ls_program_destroy(&bundle->program);\n"
    "    ls_bundle_destroy(&bundle->bundle);\n"
    "    memset(bundle, 0, sizeof *bundle);\n"
    "}\n"
    "\n"
    "ls_status %1$s_open(const char *path, ls_device *device, %1$s_bundle *bundle, "
    "ls_error *error)\n"
    "{\n"
    "    static const char *const names[] = {%3$s};\n"
    "    ls_bundle_params params = LS_BUNDLE_PARAMS_INIT;\n"
    "    memset(bundle, 0, sizeof *bundle);\n"
    "    params.path = path;\n"
    "    params.digest = digest;\n"
    "    bundle->device = device;\n"
    "    ls_status status = ls_bundle_open(&params, &bundle->bundle, error);\n"
    "    if (status == LS_OK)\n"
    "        status = ls_bundle_program(bundle->bundle, device, &bundle->program, error);\n"
    "    for (size_t i = 0; status == LS_OK && i < sizeof names / sizeof *names; i++)\n"
    "        status = ls_program_kernel(bundle->program, names[i], &bundle->kernels[i], error);\n"
    "    if (status != LS_OK)\n"
    "        %1$s_close(bundle);\n"
    "    return status;\n"
    "}\n"
    "\n"
    "static ls_status run(ls_stream *stream, const ls_batch *batch, ls_error *error)\n"
    "{\n"
    "    ls_fence *fence = NULL;\n"
    "    ls_status status = ls_submit(stream, batch, NULL, &fence, error);\n"
    "    if (status == LS_OK)\n"
    "        status = ls_fence_wait(fence, LS_FOREVER, NULL, error);\n"
    "    ls_fence_destroy(&fence);\n"
    "    return status;\n"
    "}\n";

static void put_call(const launcher *l, const ls_kernel_info *kernel)
{
    ls__strbuf_printf(l->out, "%s_record_%s(bundle, batch, lanes, ", l->name, kernel->name);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        ls_param_info param;
        if (ls_module_param(l->module, kernel->name, i, &param, NULL) == LS_OK)
            ls__strbuf_printf(l->out, "%s_, ", param.name);
    }
    ls__strbuf_printf(l->out, "error)");
}

static void put_arguments(const launcher *l, const ls_kernel_info *kernel)
{
    if (kernel->buffer_count)
        ls__strbuf_printf(l->out, "    ls_range buffers[%u];\n", kernel->buffer_count);
    if (kernel->scalar_bytes)
        ls__strbuf_printf(l->out, "    unsigned char scalars[%u] = {0};\n", kernel->scalar_bytes);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        ls_param_info param;
        if (ls_module_param(l->module, kernel->name, i, &param, NULL) != LS_OK)
            continue;
        if (param.is_pointer)
            ls__strbuf_printf(l->out, "    buffers[%u] = %s_;\n", param.buffer, param.name);
        else
            ls__strbuf_printf(l->out, "    memcpy(scalars + %u, %s%s_, %u);\n", param.offset,
                              c_type(param.mem) ? "&" : "", param.name, param.size);
    }
    if (kernel->buffer_count)
        ls__strbuf_printf(l->out,
                          "    dispatch.buffers = buffers;\n    dispatch.buffer_count = %u;\n",
                          kernel->buffer_count);
    if (kernel->scalar_bytes)
        ls__strbuf_printf(l->out,
                          "    dispatch.scalars = scalars;\n    dispatch.scalar_bytes = %u;\n",
                          kernel->scalar_bytes);
}

static void put_functions(const launcher *l, const ls_kernel_info *kernel, uint32_t index)
{
    ls__strbuf_printf(l->out, "\n");
    put_record(l, kernel);
    ls__strbuf_printf(l->out, "\n{\n    ls_dispatch dispatch = LS_DISPATCH_INIT;\n");
    ls__strbuf_printf(l->out,
                      "    dispatch.kernel = bundle->kernels[%u];\n"
                      "    memcpy(dispatch.global_size, lanes, sizeof dispatch.global_size);\n",
                      index);
    put_arguments(l, kernel);
    ls__strbuf_printf(l->out, "    return ls_batch_dispatch(batch, &dispatch, error);\n}\n\n");
    put_launch(l, kernel);
    ls__strbuf_printf(l->out,
                      "\n{\n"
                      "    ls_batch *batch = NULL;\n"
                      "    ls_status status = ls_batch_create(bundle->device, &batch, error);\n"
                      "    if (status == LS_OK)\n"
                      "        status = ");
    put_call(l, kernel);
    ls__strbuf_printf(l->out, ";\n"
                              "    if (status == LS_OK)\n"
                              "        status = run(stream, batch, error);\n"
                              "    ls_batch_destroy(&batch);\n"
                              "    return status;\n"
                              "}\n");
}

ls_status ls__bundle_launcher_source(const ls_module *module, const char *name, const char *digest,
                                     ls__strbuf *out, ls_error *error)
{
    launcher l = {module, name, out};
    ls__strbuf names = {0};
    uint32_t count = ls_module_kernel_count(module);
    ls_kernel_info kernel;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < count && status == LS_OK; i++) {
        status = ls_module_kernel(module, i, &kernel, error);
        ls__strbuf_printf(&names, "%s\"%s\"", i ? ", " : "", kernel.name);
    }
    if (status == LS_OK && !names.failed)
        ls__strbuf_printf(out, source_text, name, digest, names.text ? names.text : "");
    out->failed = out->failed || names.failed;
    ls__strbuf_finish(&names);
    for (uint32_t i = 0; i < count && status == LS_OK; i++) {
        status = ls_module_kernel(module, i, &kernel, error);
        if (status == LS_OK)
            put_functions(&l, &kernel, i);
    }
    return status;
}
