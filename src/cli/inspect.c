/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep inspect`: what a model file says of itself, and its tensors. */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "lockstep/gguf.h"

enum { KEY_JSON = 256, KEY_FULL, SHOWN_ITEMS = 6, SHOWN_BYTES = 100 };

typedef struct request {
    const char *path;
    bool json, full;
} request;

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case KEY_JSON:
        r->json = true;
        return 0;
    case KEY_FULL:
        r->full = true;
        return 0;
    case ARGP_KEY_ARG:
        if (r->path)
            ls__cli_usage_error(state, "'%s' is not expected here: one file is inspected", text);
        r->path = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a model file is needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"full", KEY_FULL, NULL, 0, "Show lists and long texts whole", 0},
    {"json", KEY_JSON, NULL, 0, "Print all of it as JSON; texts that are not UTF-8 as null", 0},
    {0},
};

static const struct argp arguments = {
    .options = options,
    .parser = parse_option,
    .args_doc = "MODEL.gguf",
    .doc = "Shows the metadata and the tensors of a model file (GGUF, versions 2 and 3)."
           "\v"
           "Of a split model name the first part, NAME-00001-of-0000N.gguf. The file is checked as "
           "far as its head goes: counts, names, types, shapes and places of tensors.\n\n"
           "Examples:\n"
           "  lockstep inspect model.gguf\n"
           "  lockstep inspect --json model.gguf\n",
};

/* --- text ------------------------------------------------------------------------------------- */

static void append_item(ls__strbuf *line, const ls_gguf_value *value, uint64_t index, bool full)
{
    const char *text;
    uint64_t length, number;
    int64_t negative;
    double real;
    if (ls_gguf_text(value, index, &text, &length)) {
        bool cut = !full && length > SHOWN_BYTES;
        ls__strbuf_printf(line, "\"");
        ls__strbuf_visible(line, text, cut ? SHOWN_BYTES : (size_t)length);
        ls__strbuf_printf(line, cut ? "...\" (%" PRIu64 " bytes)" : "\"", length);
    } else if (value->kind == LS_GGUF_BOOL && ls_gguf_unsigned(value, index, &number)) {
        ls__strbuf_printf(line, "%s", number ? "true" : "false");
    } else if (ls_gguf_unsigned(value, index, &number)) {
        ls__strbuf_printf(line, "%" PRIu64, number);
    } else if (ls_gguf_signed(value, index, &negative)) {
        ls__strbuf_printf(line, "%" PRId64, negative);
    } else if (ls_gguf_float(value, index, &real)) {
        ls__strbuf_printf(line, value->kind == LS_GGUF_F32 ? "%.9g" : "%.17g", real);
    }
}

static void print_value(const ls_gguf_value *value, bool full)
{
    ls__strbuf line = {0};
    ls__strbuf_printf(&line, "  %s = ", value->key);
    if (value->is_list)
        ls__strbuf_printf(&line, "%" PRIu64 " x %s [", value->count,
                          ls_gguf_kind_name(value->kind));
    uint64_t shown = !full && value->count > SHOWN_ITEMS ? SHOWN_ITEMS : value->count;
    for (uint64_t i = 0; i < shown; i++) {
        if (i)
            ls__strbuf_printf(&line, ", ");
        append_item(&line, value, i, full);
    }
    if (value->is_list)
        ls__strbuf_printf(&line, shown < value->count ? ", ...]" : "]");
    ls__cli_print_line(stdout, "%s", line.text ? line.text : "");
    ls__strbuf_finish(&line);
}

static void print_tensor(const ls_gguf_tensor *tensor)
{
    char shape[100];
    int length = 0;
    for (uint32_t i = 0; i < tensor->dimension_count; i++)
        length += snprintf(shape + length, sizeof shape - (size_t)length, "%s%" PRIu64,
                           i ? " x " : "", tensor->dimensions[i]);
    ls__cli_print_line(stdout, "  %-32s %-7s %-20s %14" PRIu64 " bytes", tensor->name,
                       ls_gguf_type_name(tensor->type), shape, tensor->bytes);
}

static void print_types(const ls_gguf *gguf)
{
    static const ls_gguf_type types[] = {
#define X(name, number, elements, block) LS_GGUF_TYPE_##name,
        LS_GGUF_TYPE_TABLE(X)
#undef X
    };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        uint64_t bytes = 0;
        uint32_t count = 0;
        const ls_gguf_tensor *tensor;
        for (uint32_t i = 0; (tensor = ls_gguf_tensor_at(gguf, i)); i++)
            if (tensor->type == types[t]) {
                count++;
                bytes += tensor->bytes;
            }
        if (count)
            printf("  %-7s %6" PRIu32 " tensor%s %16" PRIu64 " bytes\n",
                   ls_gguf_type_name(types[t]), count, count == 1 ? " " : "s", bytes);
    }
}

static void print_text(const ls_gguf *gguf, const request *r)
{
    ls_gguf_info info = {.struct_size = sizeof info};
    ls_gguf_describe(gguf, &info);
    ls__cli_print_line(stdout, "%s: GGUF version %u, %" PRIu64 " bytes in %u file%s", r->path,
                       info.version, info.file_bytes, info.file_count,
                       info.file_count == 1 ? "" : "s");
    printf("\nmetadata: %u values\n", info.value_count);
    for (uint32_t i = 0; i < info.value_count; i++)
        print_value(ls_gguf_value_at(gguf, i), r->full);
    printf("\ntensors: %u, %" PRIu64 " bytes, at multiples of %u\n", info.tensor_count,
           info.tensor_bytes, info.alignment);
    print_types(gguf);
    printf("\n");
    for (uint32_t i = 0; i < info.tensor_count; i++)
        print_tensor(ls_gguf_tensor_at(gguf, i));
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* Numbers that JSON does not have, infinities and NaN, are texts. */
static json_t *json_number(double real)
{
    if (real - real == 0)
        return json_real(real);
    return json_string(real > 0 ? "inf" : real < 0 ? "-inf" : "nan");
}

static json_t *json_item(const ls_gguf_value *value, uint64_t index)
{
    const char *text;
    uint64_t length, number;
    int64_t negative;
    double real;
    if (ls_gguf_text(value, index, &text, &length)) {
        json_t *string = json_stringn(text, (size_t)length);
        return string ? string : json_null();
    }
    if (value->kind == LS_GGUF_BOOL && ls_gguf_unsigned(value, index, &number))
        return json_boolean(number);
    if (ls_gguf_signed(value, index, &negative))
        return json_integer(negative);
    if (ls_gguf_unsigned(value, index, &number)) { /* beyond what JSON readers take for sure */
        char decimal[24];
        snprintf(decimal, sizeof decimal, "%" PRIu64, number);
        return json_string(decimal);
    }
    ls_gguf_float(value, index, &real);
    return json_number(real);
}

static json_t *json_values(const ls_gguf *gguf)
{
    json_t *all = json_object();
    const ls_gguf_value *value;
    for (uint32_t i = 0; (value = ls_gguf_value_at(gguf, i)); i++) {
        json_t *item = value->is_list ? json_array() : json_item(value, 0);
        for (uint64_t k = 0; value->is_list && k < value->count; k++)
            json_array_append_new(item, json_item(value, k));
        json_object_set_new(all, value->key,
                            json_pack("{s:s, s:b, s:o}", "kind", ls_gguf_kind_name(value->kind),
                                      "list", value->is_list, "value", item));
    }
    return all;
}

static json_t *json_tensors(const ls_gguf *gguf)
{
    json_t *all = json_array();
    const ls_gguf_tensor *tensor;
    for (uint32_t i = 0; (tensor = ls_gguf_tensor_at(gguf, i)); i++) {
        json_t *shape = json_array();
        for (uint32_t k = 0; k < tensor->dimension_count; k++)
            json_array_append_new(shape, json_integer((json_int_t)tensor->dimensions[k]));
        json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:I, s:I, s:I}", "name", tensor->name,
                                             "type", ls_gguf_type_name(tensor->type), "dimensions",
                                             shape, "bytes", (json_int_t)tensor->bytes, "file",
                                             (json_int_t)tensor->file, "file_byte",
                                             (json_int_t)tensor->file_byte));
    }
    return all;
}

static ls_status print_json(const ls_gguf *gguf, ls_error *error)
{
    ls_gguf_info info = {.struct_size = sizeof info};
    ls_gguf_describe(gguf, &info);
    json_t *all = json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "version", (json_int_t)info.version,
                            "alignment", (json_int_t)info.alignment, "files",
                            (json_int_t)info.file_count, "file_bytes", (json_int_t)info.file_bytes,
                            "metadata", json_values(gguf), "tensors", json_tensors(gguf));
    bool written = all && json_dumpf(all, stdout, JSON_INDENT(1)) == 0;
    json_decref(all);
    if (!written) /* what cannot be written is told at the end of the process */
        return ferror(stdout) ? LS_OK : ls__fail_oom(error, 0);
    printf("\n");
    return LS_OK;
}

int ls__cli_inspect(int argc, char **argv)
{
    request r = {0};
    ls_error error;
    ls_gguf *gguf = NULL;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &r) != 0)
        return LS__EXIT_USAGE;
    ls_status status = ls_gguf_open(r.path, &gguf, &error);
    if (status == LS_OK && r.json)
        status = print_json(gguf, &error);
    else if (status == LS_OK)
        print_text(gguf, &r);
    ls_gguf_destroy(&gguf);
    return ls__cli_end(status, &error);
}
