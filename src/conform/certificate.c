/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates as files, and the comparison of two of them. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "conform/conform.h"

enum { MAX_BYTES = 1 << 26 };

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

ls_status ls__certificate_seal(json_t *certificate, ls_error *error)
{
    ls__strbuf all = {0};
    size_t index;
    json_t *row;
    char digest[65];
    json_array_foreach(json_object_get(certificate, "rows"), index, row)
    {
        ls__strbuf_printf(&all, "%s %s\n", text_of(row, "name"), text_of(row, "digest"));
    }
    bool failed = all.failed;
    ls__digest_hex(ls__digest_of(all.text, all.length), digest);
    ls__strbuf_finish(&all);
    if (failed || json_object_set_new(certificate, "digest", json_string(digest)) != 0)
        return ls__fail_oom(error, sizeof digest);
    return LS_OK;
}

ls_status ls__certificate_write(const json_t *certificate, const char *path, ls_error *error)
{
    char *text = json_dumps(certificate, JSON_INDENT(1));
    if (!text)
        return ls__fail_oom(error, 1);
    ls_status status = ls__os_write_line(path, text, error);
    free(text); /* jansson's, by malloc */
    return status;
}

/* Enough of docs/certificate.schema.json for what follows to rely on. */
static bool is_certificate(const json_t *json)
{
    size_t index;
    json_t *row;
    if (!json_is_array(json_object_get(json, "rows")) ||
        !json_is_array(json_object_get(json, "not_run")) ||
        !json_is_integer(json_object_get(json, "contract")) ||
        !json_is_integer(json_object_get(json, "seed")))
        return false;
    json_array_foreach(json_object_get(json, "rows"), index, row)
    {
        if (!text_of(row, "name")[0] || strlen(text_of(row, "digest")) != 64)
            return false;
    }
    return true;
}

ls_status ls__certificate_read(const char *path, json_t **certificate, ls_error *error)
{
    void *bytes;
    size_t size;
    json_error_t why;
    *certificate = NULL;
    ls_status status = ls__os_read_file(path, MAX_BYTES, &bytes, &size, error);
    if (status != LS_OK)
        return status;
    json_t *json = json_loadb(bytes, size, 0, &why);
    ls__mem_free(bytes);
    if (!json) {
        ls__fail(error, LS_E_FORMAT, "not JSON: %s", why.text);
        return ls__fail_where(error, LS_E_FORMAT, "%s:%d:%d", path, why.line, why.column);
    }
    if (!is_certificate(json)) {
        json_decref(json);
        ls__fail(error, LS_E_FORMAT, "not a certificate of lockstep conform");
        return ls__fail_where(error, LS_E_FORMAT, "%s", path);
    }
    *certificate = json;
    return LS_OK;
}

static const json_t *find(const json_t *certificate, const char *list, const char *name)
{
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(certificate, list), index, row)
    {
        if (strcmp(text_of(row, "name"), name) == 0)
            return row;
    }
    return NULL;
}

static void missing(const json_t *in, const char *name, const char *which,
                    ls__certificate_comparison *result)
{
    const json_t *row = find(in, "not_run", name);
    result->only_one++;
    ls__strbuf_printf(&result->text, "%s: not run in %s: %s\n", name, which,
                      row ? text_of(row, "reason") : "not asked for");
}

ls_status ls__certificate_compare(const json_t *a, const json_t *b,
                                  ls__certificate_comparison *result, ls_error *error)
{
    static const char *const keys[] = {"contract", "seed", "quick"};
    size_t index;
    json_t *row;
    *result = (ls__certificate_comparison){0};
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "the certificates differ in '%s', so their rows are not comparable",
                            keys[i]);
    json_array_foreach(json_object_get(a, "rows"), index, row)
    {
        const char *name = text_of(row, "name");
        const json_t *other = find(b, "rows", name);
        if (!other) {
            missing(b, name, "the second", result);
        } else if (strcmp(text_of(row, "digest"), text_of(other, "digest")) == 0) {
            result->equal++;
        } else {
            result->different++;
            ls__strbuf_printf(&result->text, "%s: different\n", name);
        }
    }
    json_array_foreach(json_object_get(b, "rows"), index, row)
    {
        if (!find(a, "rows", text_of(row, "name")))
            missing(a, text_of(row, "name"), "the first", result);
    }
    return result->text.failed ? ls__fail_oom(error, result->text.length) : LS_OK;
}
