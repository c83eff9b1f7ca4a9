/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a GGUF file: counts, metadata, descriptions of tensors. All numbers come through a
 * cursor; a count is believed only as far as bytes for so many items are left. What is wrong is
 * said with the byte at which it stands.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "gguf/reader.h"

enum {
    MOST_KEY_BYTES = 65535, /* of the specification */
    MOST_NAME_BYTES = 255,
    MOST_SHOWN_BYTES = 64, /* of a name, in messages */
    MOST_VALUES = 1 << 16,
    MOST_TENSORS = 1 << 20,
    MOST_TEXTS = 1 << 24, /* of a list: a vocabulary */
    LEAST_ALIGNMENT = 8,
    MOST_ALIGNMENT = 1 << 16,
    DEFAULT_ALIGNMENT = 32,
    LEAST_VALUE_BYTES = 8 + 1 + 4 + 1, /* a key of one byte, a value of one byte */
    LEAST_TENSOR_BYTES = 8 + 1 + 4 + 8 + 4 + 8
};

#define MAGIC UINT32_C(0x46554747) /* "GGUF" */

typedef struct reader {
    ls__arena *arena;
    ls__gguf_head *head;
    ls__gguf_tensors *tensors;
    ls__cursor cursor;
    ls_error *error;
} reader;

/* Fails, with the place of the fault. */
__attribute__((format(printf, 5, 6))) static ls_status
fail_at(ls_error *error, const char *path, uint64_t byte, ls_status code, const char *format, ...)
{
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    ls__fail(error, code, "%s", message);
    return ls__fail_where(error, code, "%s: byte %llu", path, (unsigned long long)byte);
}

#define FAIL(r, at, ...) fail_at((r)->error, (r)->head->path, (at), LS_E_FORMAT, __VA_ARGS__)

static ls_status fail_cursor(const reader *r)
{
    const ls__cursor *c = &r->cursor;
    ls_status status = FAIL(r, c->fault_offset, "%s", c->fault);
    if (c->fault_offset >= c->size)
        ls__fail_hint(r->error, status, "the file is cut short: fetch it again");
    return status;
}

/* A text of the arena for a name from the file, control characters shown. */
static const char *visible(const reader *r, const char *text, size_t length)
{
    char copy[4 * MOST_SHOWN_BYTES + 1]; /* the arena may jump away: nothing on the heap then */
    ls__strbuf shown = {0};
    ls__strbuf_visible(&shown, text, length < MOST_SHOWN_BYTES ? length : MOST_SHOWN_BYTES);
    snprintf(copy, sizeof copy, "%s", shown.text ? shown.text : "");
    ls__strbuf_finish(&shown);
    return ls__arena_strdup(r->arena, copy, strlen(copy));
}

/* A name, zero-terminated; NULL after a failure. */
static const char *read_name(reader *r, size_t limit, const char *what)
{
    size_t at = r->cursor.position;
    uint64_t length = ls__cursor_u64(&r->cursor);
    if (!r->cursor.fault && (length == 0 || length > limit)) {
        FAIL(r, at, "%s has %llu bytes where 1 to %zu are allowed", what,
             (unsigned long long)length, limit);
        return NULL;
    }
    const uint8_t *bytes = ls__cursor_bytes(&r->cursor, (size_t)length);
    if (!bytes) {
        fail_cursor(r);
        return NULL;
    }
    if (memchr(bytes, 0, (size_t)length)) {
        FAIL(r, at + 8, "%s has a zero byte in it", what);
        return NULL;
    }
    return ls__arena_strdup(r->arena, (const char *)bytes, (size_t)length);
}

/* --- metadata --------------------------------------------------------------------------------- */

/* The items of a list of texts, or one text. */
static ls_status read_texts(reader *r, ls_gguf_value *value)
{
    size_t at = r->cursor.position;
    if (value->count > MOST_TEXTS)
        return fail_at(r->error, r->head->path, at, LS_E_LIMIT, "%s has %llu texts, more than %d",
                       value->key, (unsigned long long)value->count, MOST_TEXTS);
    if (value->count > ls__cursor_left(&r->cursor) / 8) {
        ls__cursor_fail(&r->cursor, "the file ends within a list of texts");
        return fail_cursor(r);
    }
    uint64_t *places = LS__NEW_ARRAY(r->arena, uint64_t, value->count + 1);
    value->bytes = r->cursor.bytes + at;
    for (uint64_t i = 0; i < value->count; i++) {
        places[i] = r->cursor.position - at;
        uint64_t length = ls__cursor_u64(&r->cursor);
        if (length > ls__cursor_left(&r->cursor))
            ls__cursor_fail(&r->cursor, "the file ends within a text");
        ls__cursor_bytes(&r->cursor, (size_t)length);
        if (r->cursor.fault)
            return fail_cursor(r);
    }
    value->places = places;
    return LS_OK;
}

static ls_status read_items(reader *r, ls_gguf_value *value)
{
    if (value->kind == LS_GGUF_STRING)
        return read_texts(r, value);
    size_t at = r->cursor.position, size = ls__gguf_kind_bytes(value->kind);
    if (value->count > ls__cursor_left(&r->cursor) / size)
        ls__cursor_fail(&r->cursor, "the file ends within the values of a list");
    else
        value->bytes = ls__cursor_bytes(&r->cursor, (size_t)value->count * size);
    if (r->cursor.fault)
        return fail_cursor(r);
    for (uint64_t i = 0; value->kind == LS_GGUF_BOOL && i < value->count; i++)
        if (((const uint8_t *)value->bytes)[i] > 1)
            return FAIL(r, at + i, "%s: a bool is 0 or 1, not %d", value->key,
                        ((const uint8_t *)value->bytes)[i]);
    return LS_OK;
}

static ls_status read_value(reader *r)
{
    ls_gguf_value value = {.count = 1};
    value.key = read_name(r, MOST_KEY_BYTES, "a key");
    if (!value.key)
        return LS_E_FORMAT;
    size_t at = r->cursor.position;
    uint32_t kind = ls__cursor_u32(&r->cursor);
    if (kind == LS_GGUF_ARRAY) {
        value.is_list = true;
        at = r->cursor.position;
        kind = ls__cursor_u32(&r->cursor);
        value.count = ls__cursor_u64(&r->cursor);
    }
    if (r->cursor.fault)
        return fail_cursor(r);
    const char *key = visible(r, value.key, strlen(value.key));
    if (kind == LS_GGUF_ARRAY)
        return fail_at(r->error, r->head->path, at, LS_E_UNSUPPORTED,
                       "%s is a list of lists, which is not read", key);
    if (kind > LS_GGUF_F64)
        return FAIL(r, at, "%s is of kind %u, which GGUF does not have", key, kind);
    value.kind = (ls_gguf_kind)kind;
    ls_status status = read_items(r, &value);
    if (status == LS_OK)
        ls__vec_push(r->arena, &r->head->values, value);
    return status;
}

static ls_status read_alignment(reader *r)
{
    const ls__gguf_values *values = &r->head->values;
    r->head->alignment = DEFAULT_ALIGNMENT;
    for (uint32_t i = 0; i < values->count; i++) {
        uint64_t number;
        if (strcmp(values->items[i].key, "general.alignment") != 0)
            continue;
        if (!ls_gguf_unsigned(&values->items[i], 0, &number) || number < LEAST_ALIGNMENT ||
            number > MOST_ALIGNMENT || (number & (number - 1)))
            return FAIL(r, r->cursor.position, "general.alignment is no power of two from %d to %d",
                        LEAST_ALIGNMENT, MOST_ALIGNMENT);
        r->head->alignment = (uint32_t)number;
    }
    return LS_OK;
}

/* --- tensors ---------------------------------------------------------------------------------- */

static ls_status read_shape(reader *r, ls_gguf_tensor *tensor, const char *name)
{
    size_t at = r->cursor.position;
    tensor->dimension_count = ls__cursor_u32(&r->cursor);
    if (!r->cursor.fault &&
        (tensor->dimension_count == 0 || tensor->dimension_count > LS_GGUF_DIMENSIONS))
        return FAIL(r, at, "tensor %s has %u dimensions where 1 to %d are allowed", name,
                    tensor->dimension_count, LS_GGUF_DIMENSIONS);
    tensor->elements = 1;
    for (uint32_t i = 0; i < LS_GGUF_DIMENSIONS; i++) {
        at = r->cursor.position;
        uint64_t extent = i < tensor->dimension_count ? ls__cursor_u64(&r->cursor) : 1;
        if (r->cursor.fault)
            return fail_cursor(r);
        if (extent == 0)
            return FAIL(r, at, "tensor %s has no elements along dimension %u", name, i);
        if (__builtin_mul_overflow(tensor->elements, extent, &tensor->elements) ||
            tensor->elements > UINT64_C(1) << 60)
            return FAIL(r, at, "tensor %s has more elements than can be counted", name);
        tensor->dimensions[i] = extent;
    }
    return LS_OK;
}

static ls_status read_type(reader *r, ls_gguf_tensor *tensor, const char *name)
{
    size_t at = r->cursor.position;
    uint32_t type = ls__cursor_u32(&r->cursor), elements, bytes;
    const char *type_name;
    if (r->cursor.fault)
        return fail_cursor(r);
    if (!ls__gguf_type_known(type, &type_name)) {
        if (type_name)
            return fail_at(r->error, r->head->path, at, LS_E_UNSUPPORTED,
                           "tensor %s is of type %s, which is not read", name, type_name);
        return FAIL(r, at, "tensor %s is of type %u, which is not known", name, type);
    }
    tensor->type = (ls_gguf_type)type;
    ls_gguf_type_block(tensor->type, &elements, &bytes);
    if (tensor->dimensions[0] % elements)
        return FAIL(r, at,
                    "tensor %s: rows of %llu elements are no whole blocks of %s, which have %u",
                    name, (unsigned long long)tensor->dimensions[0], type_name, elements);
    tensor->bytes = tensor->elements / elements * bytes;
    return LS_OK;
}

static ls_status read_tensor(reader *r)
{
    ls_gguf_tensor tensor = {.file = r->head->file};
    tensor.name = read_name(r, MOST_NAME_BYTES, "the name of a tensor");
    if (!tensor.name)
        return LS_E_FORMAT;
    const char *name = visible(r, tensor.name, strlen(tensor.name));
    ls_status status = read_shape(r, &tensor, name);
    if (status == LS_OK)
        status = read_type(r, &tensor, name);
    if (status != LS_OK)
        return status;
    size_t at = r->cursor.position;
    tensor.file_byte = ls__cursor_u64(&r->cursor); /* from the start of the data, so far */
    if (r->cursor.fault)
        return fail_cursor(r);
    if (tensor.file_byte % r->head->alignment)
        return FAIL(r, at, "tensor %s starts at byte %llu of the data, no multiple of %u", name,
                    (unsigned long long)tensor.file_byte, r->head->alignment);
    ls__vec_push(r->arena, r->tensors, tensor);
    return LS_OK;
}

static int by_place(const void *a, const void *b)
{
    const ls_gguf_tensor *x = *(ls_gguf_tensor *const *)a, *y = *(ls_gguf_tensor *const *)b;
    return x->file_byte < y->file_byte ? -1 : x->file_byte > y->file_byte;
}

/* Where each tensor's data is: within the file, and no other's. */
static ls_status place_tensors(reader *r, uint32_t first)
{
    uint64_t alignment = r->head->alignment, size = r->head->size;
    uint64_t start = (r->cursor.position + alignment - 1) / alignment * alignment;
    uint32_t count = r->tensors->count - first;
    ls_gguf_tensor **sorted = LS__NEW_ARRAY(r->arena, ls_gguf_tensor *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        ls_gguf_tensor *tensor = sorted[i] = &r->tensors->items[first + i];
        uint64_t room = start < size ? size - start : 0;
        if (tensor->file_byte > room || tensor->bytes > room - tensor->file_byte) {
            ls_status status =
                FAIL(r, size, "the data of tensor %s lies beyond the end of the file",
                     visible(r, tensor->name, strlen(tensor->name)));
            return ls__fail_hint(r->error, status, "the file is cut short: fetch it again");
        }
        tensor->file_byte += start;
        tensor->data = r->head->bytes + tensor->file_byte;
    }
    qsort(sorted, count, sizeof *sorted, by_place);
    for (uint32_t i = 1; i < count; i++)
        if (sorted[i]->file_byte < sorted[i - 1]->file_byte + sorted[i - 1]->bytes)
            return FAIL(r, sorted[i]->file_byte, "tensors %s and %s share bytes",
                        visible(r, sorted[i - 1]->name, strlen(sorted[i - 1]->name)),
                        visible(r, sorted[i]->name, strlen(sorted[i]->name)));
    return LS_OK;
}

/* --- the head --------------------------------------------------------------------------------- */

static ls_status read_version(reader *r)
{
    if (r->head->size == 0)
        return FAIL(r, 0, "the file is empty");
    uint32_t magic = ls__cursor_u32(&r->cursor);
    if (r->cursor.fault || magic != MAGIC)
        return FAIL(r, 0, "this is no GGUF file: it does not begin with 'GGUF'");
    uint32_t version = r->head->version = ls__cursor_u32(&r->cursor);
    if (r->cursor.fault)
        return fail_cursor(r);
    if (version == 2 || version == 3)
        return LS_OK;
    bool swapped = __builtin_bswap32(version) <= 3;
    fail_at(r->error, r->head->path, 4, LS_E_VERSION,
            swapped ? "a big-endian GGUF file%.0u" : "GGUF version %u, where 2 and 3 are read",
            version);
    return ls__fail_hint(r->error, LS_E_VERSION, "convert the model again with a current tool");
}

ls_status ls__gguf_read_head(ls__arena *arena, ls__gguf_head *head, ls__gguf_tensors *tensors,
                             ls_error *error)
{
    reader r = {arena, head, tensors, {0}, error};
    uint32_t first = tensors->count;
    ls__cursor_init(&r.cursor, head->bytes, head->size);
    ls_status status = read_version(&r);
    if (status != LS_OK)
        return status;
    uint64_t tensor_count = ls__cursor_u64(&r.cursor), value_count = ls__cursor_u64(&r.cursor);
    if (r.cursor.fault)
        return fail_cursor(&r);
    if (value_count > MOST_VALUES || tensor_count > MOST_TENSORS)
        return fail_at(error, head->path, 8, LS_E_LIMIT,
                       "%llu tensors and %llu values, where %d and %d are allowed",
                       (unsigned long long)tensor_count, (unsigned long long)value_count,
                       MOST_TENSORS, MOST_VALUES);
    uint64_t least = value_count * LEAST_VALUE_BYTES + tensor_count * LEAST_TENSOR_BYTES;
    if (least > ls__cursor_left(&r.cursor)) {
        status = FAIL(&r, head->size, "the file ends before its %llu tensors are described",
                      (unsigned long long)tensor_count);
        return ls__fail_hint(error, status, "the file is cut short: fetch it again");
    }
    for (uint64_t i = 0; status == LS_OK && i < value_count; i++)
        status = read_value(&r);
    if (status == LS_OK)
        status = read_alignment(&r);
    for (uint64_t i = 0; status == LS_OK && i < tensor_count; i++)
        status = read_tensor(&r);
    if (status == LS_OK)
        status = place_tensors(&r, first);
    return status;
}
