/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of buffers: descriptions from the command line, files, generators. */
#include "cli/array.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/value.h"

/* --- parsing --------------------------------------------------------------------------------- */

static const struct generator {
    const char *name, *form;
    ls__cli_content content;
    unsigned fields;
} generators[] = {
    {"zeros", "zeros:TYPE:SHAPE", LS__CONTENT_ZEROS, 3},
    {"iota", "iota:TYPE:SHAPE", LS__CONTENT_IOTA, 3},
    {"fill", "fill:TYPE:SHAPE:VALUE", LS__CONTENT_FILL, 4},
    {"random", "random:TYPE:SHAPE:SEED", LS__CONTENT_RANDOM, 4},
};

/* "1000" or "16x16". */
static ls_status parse_shape(ls__str text, ls__npy *shape, ls_error *error)
{
    uint64_t bytes = shape->item_bytes;
    shape->count = 1;
    for (size_t i = 0; i <= text.length; i++) {
        uint64_t size = 0;
        size_t digits = 0;
        bool overflow = false;
        for (; i < text.length && text.text[i] >= '0' && text.text[i] <= '9'; i++, digits++)
            overflow |= __builtin_mul_overflow(size, 10, &size) ||
                        __builtin_add_overflow(size, (uint64_t)(text.text[i] - '0'), &size);
        if (digits == 0 || (i < text.length && text.text[i] != 'x') ||
            shape->dimensions == LS__NPY_MAX_DIMENSIONS)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "'%.*s' is not a shape such as 1000 or 16x16, of at most %d numbers",
                            LS__STR_ARG(text), LS__NPY_MAX_DIMENSIONS);
        if (size == 0)
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "a buffer needs at least one element");
        if (overflow || __builtin_mul_overflow(bytes, size, &bytes) || bytes > INT64_MAX)
            return ls__fail(error, LS_E_LIMIT, "%.*s elements are more than a buffer can hold",
                            LS__STR_ARG(text));
        shape->shape[shape->dimensions++] = size;
        shape->count *= size;
    }
    return LS_OK;
}

static ls_status check_type(ls__str type, const ls_param_info *param, ls_error *error)
{
    bool known = ls__str_is(type, param->type_name);
    if (param->mem != LS_MEM_NONE)
        known = known || ls__cli_type_find(type.text, type.length) == param->mem;
    else /* "struct point" or, without quotes in the shell, "point" */
        known = known || (strncmp(param->type_name, "struct ", 7) == 0 &&
                          ls__str_is(type, param->type_name + 7));
    if (known)
        return LS_OK;
    const char *wanted = param->mem ? ls__cli_type_of(param->mem)->name : param->type_name;
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "the elements are '%.*s', but '%s' points to %s",
                    LS__STR_ARG(type), param->name, wanted);
}

/* Cuts at ':' into at most `limit` fields (the last takes the rest); returns how many. */
static unsigned split(const char *text, ls__str *fields, unsigned limit)
{
    unsigned count = 0;
    for (;;) {
        const char *colon = count + 1 < limit ? strchr(text, ':') : NULL;
        fields[count++] = colon ? (ls__str){text, (size_t)(colon - text)} : ls__str_from(text);
        if (!colon)
            return count;
        text = colon + 1;
    }
}

static ls_status parse_generator(const char *text, const ls_param_info *param, ls__cli_array *array,
                                 ls_error *error)
{
    ls__str fields[4];
    const struct generator *g = NULL;
    unsigned count = split(text, fields, 4);
    for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
        if (ls__str_is(fields[0], generators[i].name))
            g = &generators[i];
    if (!g) {
        ls__fail(error, LS_E_INVALID_ARGUMENT, "'%s' is a buffer, and this is not its contents",
                 param->name);
        return ls__fail_hint(error, LS_E_INVALID_ARGUMENT,
                             "use @FILE.npy, @FILE.bin, zeros:TYPE:SHAPE, iota:TYPE:SHAPE, "
                             "fill:TYPE:SHAPE:VALUE or random:TYPE:SHAPE:SEED");
    }
    if (count != g->fields)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the form is %s", g->form);
    ls_status status = check_type(fields[1], param, error);
    if (status == LS_OK)
        status = parse_shape(fields[2], &array->shape, error);
    if (status != LS_OK)
        return status;
    array->content = g->content;
    if (g->content != LS__CONTENT_ZEROS && param->mem == LS_MEM_NONE)
        return ls__fail(error, LS_E_UNSUPPORTED,
                        "structs can be zeros or come from a .npy or .bin file, not from %s",
                        g->name);
    if (g->content == LS__CONTENT_FILL)
        return ls__cli_value_parse(param->mem, fields[3].text, array->value, error);
    if (g->content == LS__CONTENT_RANDOM)
        return ls__cli_value_parse(LS_MEM_U64, fields[3].text, &array->seed, error);
    return LS_OK;
}

static ls_status check_dtype(const char *path, const ls__npy *npy, const ls_param_info *param,
                             ls_error *error)
{
    const ls__cli_type *type = ls__cli_type_of(param->mem);
    if (npy->kind == type->npy_kind && npy->item_bytes == param->size)
        return LS_OK;
    if (param->mem == LS_MEM_NONE)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%s has dtype %.*s, but '%s' needs a structured dtype of %u bytes", path,
                        LS__STR_ARG(npy->descr), param->name, param->size);
    ls__fail(error, LS_E_INVALID_ARGUMENT, "%s has dtype %.*s, but '%s' points to %s, which is %s",
             path, LS__STR_ARG(npy->descr), param->name, type->name, type->numpy_name);
    if (param->mem == LS_MEM_BF16)
        return ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "bf16 is kept as its bits in uint16");
    return ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "convert it with a.astype('%s')",
                         type->numpy_name);
}

static ls_status read_array(const char *path, const ls_param_info *param, uint64_t limit_bytes,
                            ls__cli_array *array, ls_error *error)
{
    void *bytes;
    size_t size;
    bool is_npy = ls__str_ends_in(path, ".npy");
    if (!is_npy && !ls__str_ends_in(path, ".bin"))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "the name of a file with buffer contents ends in .npy or .bin");
    ls_status status = ls__os_read_file(path, limit_bytes, &bytes, &size, error);
    if (status == LS_E_LIMIT)
        ls__fail_hint(error, status, "it does not fit into the memory for buffers; see --budget");
    if (status != LS_OK)
        return status;
    array->file = bytes;
    array->content = LS__CONTENT_FILE;
    if (is_npy) {
        status = ls__npy_parse(bytes, size, &array->shape, error);
        if (status != LS_OK)
            return ls__fail_where(error, status, "%s", path);
        status = check_dtype(path, &array->shape, param, error);
    } else {
        array->shape.count = array->shape.shape[0] = size / param->size;
        array->shape.dimensions = 1;
        if (size % param->size)
            status = ls__fail(error, LS_E_FORMAT, "%s has %zu bytes, not a multiple of %u", path,
                              size, param->size);
    }
    if (status == LS_OK && array->shape.count == 0)
        status = ls__fail(error, LS_E_INVALID_ARGUMENT, "%s has no elements", path);
    return status;
}

ls_status ls__cli_array_parse(const char *text, const ls_param_info *param, uint64_t limit_bytes,
                              ls__cli_array *array, ls_error *error)
{
    memset(array, 0, sizeof *array);
    array->mem = param->mem;
    array->shape.kind = ls__cli_type_of(param->mem)->npy_kind;
    array->shape.item_bytes = param->size;
    if (text[0] == '@')
        return read_array(text + 1, param, limit_bytes, array, error);
    return parse_generator(text, param, array, error);
}

void ls__cli_array_finish(ls__cli_array *array)
{
    ls__mem_free(array->file);
    array->file = NULL;
}

/* --- contents -------------------------------------------------------------------------------- */

uint64_t ls__cli_array_bytes(const ls__cli_array *array)
{
    return array->shape.count * array->shape.item_bytes; /* checked when it was parsed */
}

void ls__cli_array_fill(const ls__cli_array *array, void *memory)
{
    uint8_t *out = memory;
    uint32_t step = array->shape.item_bytes;
    ls__rng rng = {array->seed};
    switch (array->content) {
    case LS__CONTENT_ZEROS:
        memset(out, 0, ls__cli_array_bytes(array));
        break;
    case LS__CONTENT_FILE:
        memcpy(out, array->file + array->shape.data_offset, ls__cli_array_bytes(array));
        break;
    case LS__CONTENT_IOTA:
        for (uint64_t i = 0; i < array->shape.count; i++)
            ls__cli_value_from_integer(array->mem, i, out + i * step);
        break;
    case LS__CONTENT_FILL:
        for (uint64_t i = 0; i < array->shape.count; i++)
            memcpy(out + i * step, array->value, step);
        break;
    case LS__CONTENT_RANDOM:
        for (uint64_t i = 0; i < array->shape.count; i++)
            ls__cli_value_from_random(array->mem, ls__rng_u64(&rng), out + i * step);
        break;
    }
}

/* --- saving ---------------------------------------------------------------------------------- */

ls_status ls__cli_array_can_save(const ls__cli_array *array, const char *path, ls_error *error)
{
    if (ls__str_ends_in(path, ".npy") || ls__str_ends_in(path, ".bin"))
        return LS_OK;
    if (!ls__str_ends_in(path, ".pgm"))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "the name of a saved file ends in .npy, .pgm or .bin, not as '%s' does",
                        path);
    if (array->mem == LS_MEM_U8 && array->shape.dimensions == 2)
        return LS_OK;
    return ls__fail(error, LS_E_INVALID_ARGUMENT,
                    "a .pgm picture needs a buffer of u8 with a shape HEIGHTxWIDTH");
}

ls_status ls__cli_array_save(const ls__cli_array *array, const char *path, const void *memory,
                             ls__os_writer *writer, ls_error *error)
{
    ls__strbuf header = {0};
    if (ls__str_ends_in(path, ".npy"))
        ls__npy_print(&array->shape, &header);
    else if (ls__str_ends_in(path, ".pgm"))
        ls__strbuf_printf(&header, "P5\n%llu %llu\n255\n",
                          (unsigned long long)array->shape.shape[1],
                          (unsigned long long)array->shape.shape[0]);
    ls_status status = LS_OK;
    if (header.failed)
        status = ls__fail_oom(error, 0);
    else if (header.length)
        status = ls__os_writer_write(writer, header.text, header.length, error);
    if (status == LS_OK)
        status = ls__os_writer_write(writer, memory, ls__cli_array_bytes(array), error);
    ls__strbuf_finish(&header);
    return status;
}

void ls__cli_array_describe(const ls__cli_array *array, char *text, size_t capacity)
{
    int used = snprintf(text, capacity, "%s", ls__cli_type_of(array->mem)->name);
    for (uint32_t i = 0; i < array->shape.dimensions && (size_t)used < capacity; i++)
        used += snprintf(text + used, capacity - (size_t)used, "%c%llu", i ? 'x' : ' ',
                         (unsigned long long)array->shape.shape[i]);
}
