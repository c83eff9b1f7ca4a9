/* SPDX-License-Identifier: Apache-2.0 */
/* Writing bundles: all files are made in memory, then the folder is written. */
#include <stdio.h>
#include <string.h>

#include "base/folder.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"
#include "bundle/bundle.h"

typedef struct file {
    char name[256];
    void *bytes; /* of the heap */
    size_t size;
} file;

typedef struct writing {
    const ls_bundle_write_params *params;
    file *files;
    uint32_t count, capacity;
    json_t *codes, *left_out;
    ls__strbuf notes;
} writing;

/* --- files ------------------------------------------------------------------------------------ */
/* Takes the bytes over, also on failure. */
static ls_status add_file(writing *w, const char *name, void *bytes, size_t size, ls_error *error)
{
    if (w->count == w->capacity) {
        uint32_t capacity = w->capacity ? w->capacity * 2 : 16;
        file *files = ls__mem_realloc(w->files, capacity, sizeof *files);
        if (!files) {
            ls__mem_free(bytes);
            return ls__fail_oom(error, capacity * sizeof *files);
        }
        w->files = files;
        w->capacity = capacity;
    }
    file *added = &w->files[w->count++];
    added->bytes = bytes;
    added->size = size;
    int length = snprintf(added->name, sizeof added->name, "%s", name);
    return length < (int)sizeof added->name
               ? LS_OK
               : ls__fail(error, LS_E_LIMIT, "the name '%s' is too long for a file", name);
}

static ls_status add_text(writing *w, const char *name, ls__strbuf *text, ls_error *error)
{
    if (text->failed || !text->text) {
        ls__strbuf_finish(text);
        return ls__fail_oom(error, text->length);
    }
    return add_file(w, name, text->text, text->length, error);
}

static ls_status add_module(writing *w, ls_error *error)
{
    void *bytes = NULL;
    char *text = NULL;
    size_t size;
    ls_status status = ls_module_encode(w->params->module, &bytes, &size, error);
    if (status == LS_OK)
        status = add_file(w, LS__BUNDLE_MODULE, bytes, size, error);
    if (status == LS_OK)
        status = ls_module_print(w->params->module, &text, &size, error);
    return status == LS_OK ? add_file(w, LS__BUNDLE_TEXT, text, size, error) : status;
}

/* --- code ------------------------------------------------------------------------------------- */
static bool has_file(const writing *w, const char *name)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (strcmp(w->files[i].name, name) == 0)
            return true;
    return false;
}

/* PTX as a file of its own, for other tools. */
static ls_status add_ptx(writing *w, const char *target, ls_error *error)
{
    char name[256];
    void *bytes = NULL;
    size_t size;
    ls_status status = ls_module_emit(w->params->module, "ptx", target, NULL, &bytes, &size, error);
    if (status != LS_OK)
        return status;
    snprintf(name, sizeof name, "%.240s.ptx", target);
    return add_file(w, name, bytes, size, error);
}

static ls_status add_code(writing *w, const char *target, ls_error *error)
{
    ls_code_params params = LS_CODE_PARAMS_INIT;
    ls_code_info info = {.struct_size = sizeof info};
    char name[256];
    void *bytes = NULL;
    size_t size;
    params.target = target;
    params.unchecked = w->params->unchecked;
    params.lower = w->params->lower;
    ls_status status = ls_code_make(w->params->module, &params, &bytes, &size, error);
    if (status == LS_OK)
        status = ls_code_describe(bytes, size, &info, error);
    if (status != LS_OK) {
        ls_bytes_destroy(&bytes);
        return status;
    }
    snprintf(name, sizeof name, "%.240s" LS__BUNDLE_CODE_SUFFIX, target);
    if (has_file(w, name)) { /* named twice */
        ls_bytes_destroy(&bytes);
        return LS_OK;
    }
    json_array_append_new(w->codes, json_pack("{s:s, s:s, s:s}", "family", info.family, "target",
                                              info.target, "file", name));
    bool is_ptx = strcmp(info.family, "cuda") == 0;
    status = add_file(w, name, bytes, size, error);
    return status == LS_OK && is_ptx ? add_ptx(w, target, error) : status;
}

/* Those of a family, or of all (NULL). What cannot be made is left out when `optional`. */
static ls_status add_family(writing *w, const char *family, bool optional, bool *known,
                            ls_error *error)
{
    ls_code_target_info infos[64];
    uint32_t count = ls_code_targets(infos, 64);
    ls_status status = LS_OK;
    *known = false;
    for (uint32_t i = 0; i < count && i < 64 && status == LS_OK; i++) {
        ls_error why = {0};
        if (family && strcmp(infos[i].family, family) != 0)
            continue;
        *known = true;
        status = add_code(w, infos[i].target, &why);
        if (status == LS_E_UNSUPPORTED && optional) {
            json_array_append_new(w->left_out, json_pack("{s:s, s:s}", "target", infos[i].target,
                                                         "reason", why.message));
            ls__strbuf_printf(&w->notes, "no code for %s: %s\n", infos[i].target, why.message);
            status = LS_OK;
        } else if (status != LS_OK && error) {
            *error = why;
        }
    }
    return status;
}

static ls_status add_codes(writing *w, ls_error *error)
{
    bool known;
    ls_status status = LS_OK;
    if (!w->params->target_count)
        return add_family(w, NULL, true, &known, error);
    for (uint32_t i = 0; i < w->params->target_count && status == LS_OK; i++) {
        const char *target = w->params->targets[i];
        status = add_family(w, target, false, &known, error);
        if (status == LS_OK && !known)
            status = add_code(w, target, error);
    }
    return status;
}

/* SPIR-V modules as files of their own, for other tools. */
static ls_status add_spirv(writing *w, ls_error *error)
{
    uint32_t count = ls_module_kernel_count(w->params->module);
    for (uint32_t i = 0; i < count; i++) {
        ls_kernel_info kernel;
        char name[256];
        void *bytes = NULL;
        size_t size;
        ls_error why;
        ls_status status = ls_module_kernel(w->params->module, i, &kernel, error);
        if (status != LS_OK)
            return status;
        status = ls_module_emit(w->params->module, "spirv", NULL, kernel.name, &bytes, &size, &why);
        if (status == LS_E_UNSUPPORTED) /* what it needs, not every Vulkan device has */
            continue;
        if (status != LS_OK) {
            if (error)
                *error = why;
            return status;
        }
        snprintf(name, sizeof name, "%.240s.spv", kernel.name);
        status = add_file(w, name, bytes, size, error);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* --- the description -------------------------------------------------------------------------- */
static json_t *describe_param(const ls_param_info *p)
{
    if (p->is_pointer)
        return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I}", "name", p->name, "kind",
                         "buffer", "access", p->is_const ? "read" : "read and write", "type",
                         p->type_name, "buffer", (int)p->buffer, "element_bytes", (int)p->size,
                         "alignment", (int)p->alignment, "min_elements",
                         (json_int_t)p->min_elements);
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i}", "name", p->name, "kind", "scalar", "type",
                     p->type_name, "offset", (int)p->offset, "bytes", (int)p->size, "alignment",
                     (int)p->alignment);
}

static json_t *describe_kernel(const ls_module *module, const ls_kernel_info *k)
{
    json_t *params = json_array();
    for (uint32_t i = 0; i < k->param_count; i++) {
        ls_param_info param;
        if (ls_module_param(module, k->name, i, &param, NULL) == LS_OK)
            json_array_append_new(params, describe_param(&param));
    }
    return json_pack("{s:s, s:[i, i, i], s:b, s:i, s:i, s:i, s:i, s:o}", "name", k->name,
                     "workgroup", (int)k->workgroup[0], (int)k->workgroup[1], (int)k->workgroup[2],
                     "unordered", k->unordered, "buffers", (int)k->buffer_count, "scalar_bytes",
                     (int)k->scalar_bytes, "shared_bytes", (int)k->shared_bytes, "local_bytes",
                     (int)k->local_bytes, "parameters", params);
}

static json_t *describe_files(const writing *w)
{
    json_t *files = json_object();
    for (uint32_t i = 0; i < w->count; i++) {
        char hex[65];
        ls__digest_hex(ls__digest_of(w->files[i].bytes, w->files[i].size), hex);
        json_object_set_new(
            files, w->files[i].name,
            json_pack("{s:I, s:s}", "bytes", (json_int_t)w->files[i].size, "sha256", hex));
    }
    return files;
}

static json_t *describe(const writing *w, const char *module_digest)
{
    const ls_bundle_write_params *p = w->params;
    json_t *kernels = json_array(), *spec = json_object();
    for (uint32_t i = 0; i < ls_module_kernel_count(p->module); i++) {
        ls_kernel_info kernel;
        if (ls_module_kernel(p->module, i, &kernel, NULL) == LS_OK)
            json_array_append_new(kernels, describe_kernel(p->module, &kernel));
    }
    for (uint32_t i = 0; i < p->define_count; i++)
        json_object_set_new(spec, p->defines[i].name, json_integer(p->defines[i].value));
    return json_pack("{s:s, s:i, s:s, s:i, s:i, s:s, s:s*, s:b, s:o, s:s, s:o, s:O, s:O, s:o}",
                     "format", LS__BUNDLE_FORMAT, "version", LS__BUNDLE_VERSION, "lockstep",
                     ls_version(), "contract", (int)LS_CONTRACT_VERSION, "ir", (int)LS_IR_VERSION,
                     "name", p->name, "source", p->source, "unchecked", p->unchecked, "spec", spec,
                     "module_sha256", module_digest, "kernels", kernels, "code", w->codes,
                     "left_out", w->left_out, "files", describe_files(w));
}

/* The description, and last the launcher's source, which knows its digest. */
static ls_status add_description(writing *w, ls_error *error)
{
    ls__digest digest;
    char hex[65], name[256];
    ls__strbuf text = {0}, source = {0};
    ls_status status = ls_module_digest(w->params->module, digest.bytes, error);
    if (status != LS_OK)
        return status;
    ls__digest_hex(digest, hex);
    json_t *manifest = describe(w, hex);
    char *dump = manifest ? json_dumps(manifest, JSON_INDENT(2)) : NULL;
    json_decref(manifest);
    if (!dump)
        return ls__fail_oom(error, 0);
    ls__strbuf_printf(&text, "%s\n", dump);
    free(dump);
    ls__digest_hex(ls__digest_of(text.text ? text.text : "", text.length), hex);
    status = add_text(w, LS__BUNDLE_MANIFEST, &text, error);
    if (status != LS_OK)
        return status;
    status = ls__bundle_launcher_source(w->params->module, w->params->name, hex, &source, error);
    if (status != LS_OK) {
        ls__strbuf_finish(&source);
        return status;
    }
    snprintf(name, sizeof name, "%.200s.c", w->params->name);
    return add_text(w, name, &source, error);
}

static ls_status add_header(writing *w, ls_error *error)
{
    char name[256];
    ls__strbuf header = {0};
    ls_status status =
        ls__bundle_launcher_header(w->params->module, w->params->name, &header, error);
    if (status != LS_OK) {
        ls__strbuf_finish(&header);
        return status;
    }
    snprintf(name, sizeof name, "%.200s.h", w->params->name);
    return add_text(w, name, &header, error);
}

/* --- the folder ------------------------------------------------------------------------------- */
/* Names of the files of the bundle that is there, if one is. */
static uint32_t list_known(const json_t *manifest, const char *launcher, const char **known)
{
    const char *name;
    const json_t *entry;
    uint32_t count = 0;
    json_object_foreach(json_object_get(manifest, "files"), name, entry) known[count++] = name;
    if (manifest) {
        known[count++] = LS__BUNDLE_MANIFEST;
        known[count++] = launcher;
    }
    return count;
}

static ls_status write_folder(const writing *w, ls_error *error)
{
    json_t *manifest = NULL;
    ls__folder *folder = NULL;
    char launcher[256];
    const char *path = w->params->path;
    ls__bundle_read_manifest(path, NULL, &manifest, NULL);
    const char *old_name = json_string_value(json_object_get(manifest, "name"));
    snprintf(launcher, sizeof launcher, "%.200s.c", old_name ? old_name : "");
    const char **known =
        ls__mem_alloc(json_object_size(json_object_get(manifest, "files")) + 2, sizeof *known);
    ls_status status =
        known ? ls__folder_open(path, known, list_known(manifest, launcher, known), &folder, error)
              : ls__fail_oom(error, sizeof *known);
    for (uint32_t i = 0; i < w->count && status == LS_OK; i++)
        status =
            ls__folder_write(folder, w->files[i].name, w->files[i].bytes, w->files[i].size, error);
    if (status == LS_OK)
        status = ls__folder_commit(&folder, error);
    ls__folder_abort(&folder);
    ls__mem_free(known);
    json_decref(manifest);
    return status;
}

static ls_status check_params(const ls_bundle_write_params *params, ls_error *error)
{
    const char *missing = !params->path ? "path" : !params->module ? "module" : "name";
    if (!params->path || !params->module || !params->name)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_bundle_write: no %s was given", missing);
    if ((params->target_count && !params->targets) || (params->define_count && !params->defines))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_bundle_write: no targets or no defines were given");
    if (!ls__bundle_is_identifier(params->name) || strlen(params->name) > 200)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "'%s' is no name that C functions can begin with", params->name);
    if (!ls_module_kernel_count(params->module))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the module has no kernels to bundle");
    return LS_OK;
}

static void finish(writing *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        ls__mem_free(w->files[i].bytes);
    ls__mem_free(w->files);
    json_decref(w->codes);
    json_decref(w->left_out);
}

ls_status ls_bundle_write(const ls_bundle_write_params *params, char **notes, ls_error *error)
{
    ls_bundle_write_params given;
    writing w = {.params = &given};
    if (notes)
        *notes = NULL;
    ls_status status = ls__params_in(&given, sizeof given, params, false, "ls_bundle_write", error);
    if (status != LS_OK)
        return status;
    status = check_params(&given, error);
    w.codes = json_array();
    w.left_out = json_array();
    if (status == LS_OK)
        status = add_header(&w, error);
    if (status == LS_OK)
        status = add_module(&w, error);
    if (status == LS_OK)
        status = add_codes(&w, error);
    if (status == LS_OK)
        status = add_spirv(&w, error);
    if (status == LS_OK)
        status = add_description(&w, error);
    if (status == LS_OK)
        status = write_folder(&w, error);
    finish(&w);
    if (status == LS_OK && notes)
        *notes = w.notes.text;
    else
        ls__strbuf_finish(&w.notes);
    return status;
}
