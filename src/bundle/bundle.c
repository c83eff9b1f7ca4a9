/* SPDX-License-Identifier: Apache-2.0 */
/* Opening bundles: every file that is used is checked against the digest in the description. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/params.h"
#include "base/status.h"
#include "bundle/bundle.h"

struct ls_bundle {
    char *path;
    json_t *manifest;
    ls_module *module;
    bool unchecked;
};

/* A name that a file of a bundle may have. */
static bool is_file_name(const char *name)
{
    return name && name[0] && name[0] != '.' && !strchr(name, '/');
}

/* --- files ------------------------------------------------------------------------------------ */
static ls_status read_file(const char *folder, const char *name, uint64_t limit, void **bytes,
                           size_t *size, ls_error *error)
{
    ls__strbuf path = {0};
    ls__strbuf_printf(&path, "%s/%s", folder, name);
    ls_status status = path.failed ? ls__fail_oom(error, path.length)
                                   : ls__os_read_file(path.text, limit, bytes, size, error);
    ls__strbuf_finish(&path);
    return status;
}

static ls_status fail_format(const char *folder, const char *name, const char *what,
                             ls_error *error)
{
    return ls__fail(error, LS_E_FORMAT, "'%s/%s' %s", folder, name, what);
}

static bool has_digest(const void *bytes, size_t size, const char *expected)
{
    char hex[65];
    ls__digest_hex(ls__digest_of(bytes, size), hex);
    return expected && strcmp(hex, expected) == 0;
}

/* A file that the description lists, as it lists it. */
static ls_status read_listed(const ls_bundle *bundle, const char *name, void **bytes, size_t *size,
                             ls_error *error)
{
    const json_t *entry = json_object_get(json_object_get(bundle->manifest, "files"), name);
    const json_t *length = json_object_get(entry, "bytes");
    *bytes = NULL;
    if (!is_file_name(name) || !json_is_integer(length))
        return fail_format(bundle->path, LS__BUNDLE_MANIFEST, "does not list what it needs", error);
    ls_status status = read_file(bundle->path, name, LS__BUNDLE_MAX_FILE, bytes, size, error);
    if (status != LS_OK)
        return status;
    if ((json_int_t)*size == json_integer_value(length) &&
        has_digest(*bytes, *size, json_string_value(json_object_get(entry, "sha256"))))
        return LS_OK;
    ls__mem_free(*bytes);
    *bytes = NULL;
    fail_format(bundle->path, name, "is damaged, or from another bundle: its digest is another",
                error);
    return ls__fail_hint(error, LS_E_FORMAT, "make the bundle again");
}

/* --- the description -------------------------------------------------------------------------- */
static json_int_t number_of(const json_t *manifest, const char *key)
{
    return json_integer_value(json_object_get(manifest, key));
}

static ls_status check_format(const json_t *manifest, const char *path, ls_error *error)
{
    const char *format = json_string_value(json_object_get(manifest, "format"));
    if (format && strcmp(format, LS__BUNDLE_FORMAT) == 0)
        return LS_OK;
    return fail_format(path, LS__BUNDLE_MANIFEST, "is not the description of a bundle", error);
}

static ls_status check_versions(const json_t *manifest, const char *path, ls_error *error)
{
    static const char again[] = "make the bundle again with this library";
    if (number_of(manifest, "version") != LS__BUNDLE_VERSION) {
        ls__fail(error, LS_E_VERSION, "the bundle '%s' has format %lld, this library reads %d",
                 path, (long long)number_of(manifest, "version"), LS__BUNDLE_VERSION);
        return ls__fail_hint(error, LS_E_VERSION, again);
    }
    if (number_of(manifest, "contract") != LS_CONTRACT_VERSION) {
        ls__fail(error, LS_E_VERSION, "the bundle '%s' is of bit contract %lld, this library of %d",
                 path, (long long)number_of(manifest, "contract"), LS_CONTRACT_VERSION);
        return ls__fail_hint(error, LS_E_VERSION, again);
    }
    return LS_OK;
}

ls_status ls__bundle_read_manifest(const char *path, const char *digest, json_t **manifest,
                                   ls_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    json_error_t at;
    *manifest = NULL;
    ls_status status =
        read_file(path, LS__BUNDLE_MANIFEST, LS__BUNDLE_MAX_MANIFEST, &bytes, &size, error);
    if (status != LS_OK)
        return status;
    if (digest && !has_digest(bytes, size, digest)) {
        status =
            fail_format(path, LS__BUNDLE_MANIFEST,
                        "is damaged, or not the one that the launcher was written with", error);
        ls__fail_hint(error, status, "compile the launcher that lies beside it");
    } else {
        *manifest = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &at);
        if (!*manifest)
            status = ls__fail(error, LS_E_FORMAT, "'%s/%s' line %d: %s", path, LS__BUNDLE_MANIFEST,
                              at.line, at.text);
        else
            status = check_format(*manifest, path, error);
    }
    if (status != LS_OK) {
        json_decref(*manifest);
        *manifest = NULL;
    }
    ls__mem_free(bytes);
    return status;
}

/* --- opening ---------------------------------------------------------------------------------- */
static ls_status load_module(ls_bundle *bundle, ls_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    ls_status status = read_listed(bundle, LS__BUNDLE_MODULE, &bytes, &size, error);
    if (status == LS_OK) {
        status = ls_module_decode(bytes, size, &bundle->module, error);
        if (status != LS_OK)
            ls__fail_where(error, status, "%s/%s", bundle->path, LS__BUNDLE_MODULE);
    }
    ls__mem_free(bytes);
    return status;
}

static ls_status check_all(const ls_bundle *bundle, ls_error *error)
{
    const char *name;
    json_t *entry;
    json_object_foreach(json_object_get(bundle->manifest, "files"), name, entry)
    {
        void *bytes = NULL;
        size_t size;
        ls_status status = read_listed(bundle, name, &bytes, &size, error);
        ls__mem_free(bytes);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static ls_status read_params(const ls_bundle_params *params, ls_bundle_params *given,
                             ls_error *error)
{
    ls_status status = ls__params_in(given, sizeof *given, params, false, "ls_bundle_open", error);
    if (status != LS_OK)
        return status;
    if (!given->path)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_bundle_open: no path was given");
    return LS_OK;
}

ls_status ls_bundle_open(const ls_bundle_params *params, ls_bundle **bundle, ls_error *error)
{
    ls_bundle_params given;
    if (!bundle)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_bundle_open: nowhere to write the result was given");
    *bundle = NULL;
    ls_status status = read_params(params, &given, error);
    if (status != LS_OK)
        return status;
    ls_bundle *opened = ls__mem_alloc(1, sizeof *opened);
    if (!opened)
        return ls__fail_oom(error, sizeof *opened);
    opened->path = ls__mem_strdup(given.path);
    if (!opened->path)
        status = ls__fail_oom(error, strlen(given.path));
    if (status == LS_OK)
        status = ls__bundle_read_manifest(given.path, given.digest, &opened->manifest, error);
    if (status == LS_OK)
        status = check_versions(opened->manifest, given.path, error);
    if (status == LS_OK)
        status = load_module(opened, error);
    if (status == LS_OK && given.check_all)
        status = check_all(opened, error);
    if (status != LS_OK) {
        ls_bundle_destroy(&opened);
        return status;
    }
    opened->unchecked = json_is_true(json_object_get(opened->manifest, "unchecked"));
    *bundle = opened;
    return LS_OK;
}

void ls_bundle_destroy(ls_bundle **bundle)
{
    if (!bundle || !*bundle)
        return;
    json_decref((*bundle)->manifest);
    ls_module_destroy(&(*bundle)->module);
    ls__mem_free((*bundle)->path);
    ls__mem_free(*bundle);
    *bundle = NULL;
}

const ls_module *ls_bundle_module(const ls_bundle *bundle)
{
    return bundle->module;
}

/* --- programs --------------------------------------------------------------------------------- */
typedef struct loaded { /* code files that were read */
    ls_code codes[LS__BUNDLE_MAX_CODES];
    uint32_t count;
    ls__strbuf targets; /* of all, also of those that were not */
} loaded;

/* "cpu" of "cpu", "vulkan" of "vulkan:0". */
static bool is_of_family(const char *device, const char *family)
{
    size_t length = strcspn(device, ":");
    return strlen(family) == length && strncmp(device, family, length) == 0;
}

static ls_status load_codes(const ls_bundle *bundle, const char *device, loaded *l, ls_error *error)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(bundle->manifest, "code"), i, entry)
    {
        const char *family = json_string_value(json_object_get(entry, "family"));
        const char *target = json_string_value(json_object_get(entry, "target"));
        const char *file = json_string_value(json_object_get(entry, "file"));
        if (!family || !target || !file || l->count == LS__BUNDLE_MAX_CODES)
            return fail_format(bundle->path, LS__BUNDLE_MANIFEST,
                               "does not list its code as it should", error);
        ls__strbuf_printf(&l->targets, "%s%s", i ? ", " : "", target);
        if (!is_of_family(device, family))
            continue;
        void *bytes;
        ls_status status = read_listed(bundle, file, &bytes, &l->codes[l->count].size, error);
        if (status != LS_OK)
            return status;
        l->codes[l->count++].bytes = bytes;
    }
    return LS_OK;
}

static ls_status fail_no_code(const char *path, const char *device, const loaded *l,
                              ls_error *error)
{
    ls__fail(error, LS_E_UNSUPPORTED, "the bundle '%s' has no code for device '%s'", path, device);
    return ls__fail_hint(error, LS_E_UNSUPPORTED, "it has: %s; lockstep bundle --target makes more",
                         l->targets.text ? l->targets.text : "nothing");
}

ls_status ls_bundle_program(const ls_bundle *bundle, ls_device *device, ls_program **program,
                            ls_error *error)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_status status = LS_OK;
    if (program)
        *program = NULL;
    if (!bundle || !device || !program)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_bundle_program: no %s was given",
                        !bundle   ? "bundle"
                        : !device ? "device"
                                  : "result");
    const char *name = ls_device_name(device);
    loaded *l = ls__mem_alloc(1, sizeof *l);
    if (!l)
        return ls__fail_oom(error, sizeof *l);
    status = load_codes(bundle, name, l, error);
    params.codes = l->codes;
    params.code_count = l->count;
    params.unchecked = bundle->unchecked;
    if (status == LS_OK) {
        status = ls_program_create(device, bundle->module, &params, program, error);
        if (status == LS_E_UNSUPPORTED && !l->count)
            fail_no_code(bundle->path, name, l, error);
        else if (status != LS_OK && error && !error->where[0])
            ls__fail_where(error, status, "%s", bundle->path);
    }
    for (uint32_t i = 0; i < l->count; i++)
        ls__mem_free((void *)l->codes[i].bytes);
    ls__strbuf_finish(&l->targets);
    ls__mem_free(l);
    return status;
}
