/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .npy headers. The dictionary is read by a small recursive-descent parser that knows only what
 * NumPy writes: the three keys in any order, strings without escapes, True and False, tuples and
 * lists. Depth, number of dimensions and products are limited; every step goes through `peek` and
 * `next`, which stop at the end of the header.
 */
#include "cli/npy.h"

#include <string.h>

#include "base/cursor.h"
#include "base/status.h"

#define MAX_TYPE_DEPTH 8
#define MAX_ITEM_BYTES (1u << 20)

static const char magic[6] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The text of the dictionary. After the first failure everything reads as the end. */
typedef struct reader {
    const char *text, *end, *start; /* start: of the file, for offsets in messages */
    ls_status status;
    ls_error *error;
} reader;

static void fail(reader *r, ls_status status, const char *what, const char *hint)
{
    if (r->status != LS_OK)
        return;
    r->status = ls__fail(r->error, status, "%s (at byte %zu of the header)", what,
                         (size_t)(r->text - r->start));
    if (hint)
        ls__fail_hint(r->error, status, "%s", hint);
    r->text = r->end;
}

static char peek(reader *r)
{
    while (r->text < r->end && (*r->text == ' ' || *r->text == '\n' || *r->text == '\t'))
        r->text++;
    return r->text < r->end ? *r->text : 0;
}

static bool accept(reader *r, char c)
{
    if (peek(r) != c || r->text == r->end)
        return false;
    r->text++;
    return true;
}

static void expect(reader *r, char c, const char *what)
{
    if (!accept(r, c))
        fail(r, LS_E_FORMAT, what, NULL);
}

/* 'text' or "text". Escapes are refused: the names and types we accept have none. */
static ls__str read_string(reader *r)
{
    char quote = peek(r);
    if (quote != '\'' && quote != '"') {
        fail(r, LS_E_FORMAT, "a quoted string is expected", NULL);
        return (ls__str){"", 0};
    }
    const char *begin = ++r->text;
    while (r->text < r->end && *r->text != quote) {
        if (*r->text == '\\' || *r->text == '\n') {
            fail(r, LS_E_UNSUPPORTED, "a name with an escape sequence",
                 "rename the field of the structured type");
            return (ls__str){"", 0};
        }
        r->text++;
    }
    ls__str string = {begin, (size_t)(r->text - begin)};
    expect(r, quote, "a string does not end");
    return string;
}

static uint64_t read_number(reader *r)
{
    uint64_t value = 0;
    if (peek(r) < '0' || peek(r) > '9') {
        fail(r, LS_E_FORMAT, "a number is expected", NULL);
        return 0;
    }
    while (r->text < r->end && *r->text >= '0' && *r->text <= '9') {
        uint64_t digit = (uint64_t)(*r->text - '0');
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            fail(r, LS_E_FORMAT, "a number is too large", NULL);
            return 0;
        }
        r->text++;
    }
    if (r->text < r->end && *r->text == 'L') /* Python 2 */
        r->text++;
    return value;
}

static bool read_bool(reader *r)
{
    peek(r);
    size_t left = (size_t)(r->end - r->text);
    if (left >= 4 && memcmp(r->text, "True", 4) == 0) {
        r->text += 4;
        return true;
    }
    if (left >= 5 && memcmp(r->text, "False", 5) == 0)
        r->text += 5;
    else
        fail(r, LS_E_FORMAT, "True or False is expected", NULL);
    return false;
}

/* "(3, 4)", "(3,)", "()"; writes at most `limit` numbers and returns how many there are. */
static uint32_t read_tuple(reader *r, uint64_t *numbers, uint32_t limit)
{
    uint32_t count = 0;
    expect(r, '(', "a tuple of numbers is expected");
    while (r->status == LS_OK && peek(r) != ')') {
        if (count == limit) {
            fail(r, LS_E_UNSUPPORTED, "too many dimensions", NULL);
            return 0;
        }
        numbers[count++] = read_number(r);
        if (peek(r) != ')')
            expect(r, ',', "',' or ')' is expected");
    }
    expect(r, ')', "')' is expected");
    return count;
}

/* "<f4": byte order, kind, size. */
static uint32_t read_simple_type(reader *r, char *kind)
{
    ls__str s = read_string(r);
    uint32_t bytes = 0;
    if (r->status != LS_OK)
        return 0;
    if (s.length > 1 && s.text[0] == '>') {
        fail(r, LS_E_UNSUPPORTED, "big-endian data",
             "save it little-endian: a.astype(a.dtype.newbyteorder('<'))");
        return 0;
    }
    if (s.length < 3 || s.length > 9 || (s.text[0] != '<' && s.text[0] != '|') ||
        !memchr("biufV", s.text[1], 5)) {
        fail(r, LS_E_UNSUPPORTED, "a data type that kernels do not have",
             "convert it with a.astype(...) to bool, an integer or a float type");
        return 0;
    }
    for (size_t i = 2; i < s.length; i++) {
        if (s.text[i] < '0' || s.text[i] > '9') {
            fail(r, LS_E_FORMAT, "a data type with a bad size", NULL);
            return 0;
        }
        bytes = bytes * 10 + (uint32_t)(s.text[i] - '0');
    }
    *kind = s.text[1];
    bool power = bytes && (bytes & (bytes - 1)) == 0;
    bool good = *kind == 'V'   ? bytes > 0 && bytes <= MAX_ITEM_BYTES
                : *kind == 'b' ? bytes == 1
                : *kind == 'f' ? power && bytes >= 2 && bytes <= 8
                               : power && bytes <= 8;
    if (!good) {
        fail(r, LS_E_UNSUPPORTED, "a data type of this size",
             "convert it with a.astype(...), to float64 for example");
        return 0;
    }
    return bytes;
}

static uint32_t read_type(reader *r, char *kind, unsigned depth);

/* "('name', type)" or "('name', type, (shape))"; a name may also be a pair ('title', 'name'). */
static uint32_t read_field(reader *r, unsigned depth)
{
    uint64_t shape[LS__NPY_MAX_DIMENSIONS];
    uint32_t dimensions = 0;
    char kind = 0;
    expect(r, '(', "a field of a structured type is expected");
    if (accept(r, '(')) {
        read_string(r);
        expect(r, ',', "',' is expected");
        read_string(r);
        expect(r, ')', "')' is expected");
    } else {
        read_string(r);
    }
    expect(r, ',', "',' is expected");
    uint64_t bytes = read_type(r, &kind, depth + 1);
    if (accept(r, ',') && peek(r) != ')')
        dimensions = read_tuple(r, shape, LS__NPY_MAX_DIMENSIONS);
    expect(r, ')', "')' is expected");
    for (uint32_t i = 0; i < dimensions; i++)
        if (__builtin_mul_overflow(bytes, shape[i], &bytes) || bytes > MAX_ITEM_BYTES) {
            fail(r, LS_E_UNSUPPORTED, "a structured type that is too large", NULL);
            return 0;
        }
    return (uint32_t)bytes;
}

/* A simple type, or "[field, ...]". Returns the bytes of one element. */
static uint32_t read_type(reader *r, char *kind, unsigned depth)
{
    uint32_t total = 0;
    if (depth > MAX_TYPE_DEPTH) {
        fail(r, LS_E_UNSUPPORTED, "a structured type that is nested too deeply", NULL);
        return 0;
    }
    if (!accept(r, '['))
        return read_simple_type(r, kind);
    *kind = 'V';
    while (r->status == LS_OK && peek(r) != ']') {
        total += read_field(r, depth);
        if (total > MAX_ITEM_BYTES)
            fail(r, LS_E_UNSUPPORTED, "a structured type that is too large", NULL);
        if (peek(r) != ']')
            expect(r, ',', "',' or ']' is expected");
    }
    expect(r, ']', "']' is expected");
    if (r->status == LS_OK && total == 0)
        fail(r, LS_E_UNSUPPORTED, "elements without bytes", NULL);
    return total;
}

static void read_entry(reader *r, ls__npy *npy, unsigned *seen)
{
    ls__str key = read_string(r);
    unsigned bit = ls__str_is(key, "descr") ? 1 : ls__str_is(key, "fortran_order") ? 2 : 4;
    if (r->status == LS_OK && bit == 4 && !ls__str_is(key, "shape"))
        fail(r, LS_E_FORMAT, "the key is none of descr, fortran_order, shape", NULL);
    if (r->status == LS_OK && (*seen & bit))
        fail(r, LS_E_FORMAT, "a key stands twice", NULL);
    *seen |= bit;
    expect(r, ':', "':' is expected");
    peek(r);
    if (bit == 1) {
        npy->descr.text = r->text;
        npy->item_bytes = read_type(r, &npy->kind, 0);
        npy->descr.length = (size_t)(r->text - npy->descr.text);
    } else if (bit == 2) {
        if (read_bool(r))
            fail(r, LS_E_UNSUPPORTED, "the array is in Fortran order",
                 "save it in C order: np.ascontiguousarray(a)");
    } else {
        npy->dimensions = read_tuple(r, npy->shape, LS__NPY_MAX_DIMENSIONS);
    }
}

static void read_dictionary(reader *r, ls__npy *npy)
{
    unsigned seen = 0;
    expect(r, '{', "the header is not a dictionary");
    while (r->status == LS_OK && peek(r) != '}') {
        read_entry(r, npy, &seen);
        if (peek(r) != '}')
            expect(r, ',', "',' or '}' is expected");
    }
    expect(r, '}', "'}' is expected");
    if (r->status == LS_OK && seen != 7)
        fail(r, LS_E_FORMAT, "one of the keys descr, fortran_order, shape is missing", NULL);
    peek(r);
    if (r->status == LS_OK && r->text != r->end)
        fail(r, LS_E_FORMAT, "there is text after the dictionary", NULL);
}

static ls_status check_size(const ls__npy *npy, size_t size, uint64_t *count, ls_error *error)
{
    uint64_t bytes = npy->item_bytes;
    bool empty = false;
    *count = 1;
    for (uint32_t i = 0; i < npy->dimensions; i++)
        empty = empty || npy->shape[i] == 0;
    if (empty)
        *count = bytes = 0;
    for (uint32_t i = 0; !empty && i < npy->dimensions; i++) {
        *count *= npy->shape[i]; /* at most `bytes`, which is checked */
        if (__builtin_mul_overflow(bytes, npy->shape[i], &bytes))
            return ls__fail(error, LS_E_FORMAT, "the shape has more elements than a file can hold");
    }
    if (bytes == size - npy->data_offset)
        return LS_OK;
    return ls__fail(error, LS_E_FORMAT, "the file has %zu bytes of data, its header promises %llu",
                    size - npy->data_offset, (unsigned long long)bytes);
}

ls_status ls__npy_parse(const void *bytes, size_t size, ls__npy *npy, ls_error *error)
{
    ls__cursor cursor;
    memset(npy, 0, sizeof *npy);
    ls__cursor_init(&cursor, bytes, size);
    const uint8_t *found = ls__cursor_bytes(&cursor, sizeof magic);
    if (!found || memcmp(found, magic, sizeof magic) != 0)
        return ls__fail(error, LS_E_FORMAT, "not a .npy file");
    uint8_t major = ls__cursor_u8(&cursor), minor = ls__cursor_u8(&cursor);
    if (!cursor.fault && (major < 1 || major > 3 || minor != 0))
        return ls__fail(error, LS_E_VERSION, ".npy version %u.%u is not known, only 1.0 to 3.0",
                        major, minor);
    size_t length = major == 1 ? ls__cursor_u16(&cursor) : ls__cursor_u32(&cursor);
    const char *text = (const char *)ls__cursor_bytes(&cursor, length);
    if (cursor.fault)
        return ls__fail(error, LS_E_FORMAT, "the header is cut off");

    reader r = {.text = text, .end = text + length, .start = bytes, .error = error};
    read_dictionary(&r, npy);
    if (r.status != LS_OK)
        return r.status;
    npy->data_offset = cursor.position;
    return check_size(npy, size, &npy->count, error);
}

void ls__npy_print(const ls__npy *npy, ls__strbuf *out)
{
    ls__strbuf dictionary = {0};
    ls__strbuf_printf(&dictionary, "{'descr': ");
    if (npy->descr.length)
        ls__strbuf_append(&dictionary, npy->descr.text, npy->descr.length);
    else
        ls__strbuf_printf(&dictionary, "'%c%c%u'",
                          npy->item_bytes == 1 || npy->kind == 'V' ? '|' : '<', npy->kind,
                          npy->item_bytes);
    ls__strbuf_printf(&dictionary, ", 'fortran_order': False, 'shape': (");
    for (uint32_t i = 0; i < npy->dimensions; i++)
        ls__strbuf_printf(&dictionary, "%s%llu", i ? ", " : "", (unsigned long long)npy->shape[i]);
    ls__strbuf_printf(&dictionary, "%s), }", npy->dimensions == 1 ? "," : "");

    bool is_long = dictionary.length > 65535 - 64;
    size_t prefix = sizeof magic + 2 + (is_long ? 4 : 2);
    size_t padded = (prefix + dictionary.length + 1 + 63) / 64 * 64 - prefix;
    char start[12] = {0};
    memcpy(start, magic, sizeof magic);
    start[6] = is_long ? 3 : 1;
    for (size_t i = 8; i < prefix; i++)
        start[i] = (char)(padded >> 8 * (i - 8) & 0xff);
    ls__strbuf_append(out, start, prefix);
    ls__strbuf_append(out, dictionary.text ? dictionary.text : "", dictionary.length);
    for (size_t i = dictionary.length; i + 1 < padded; i++)
        ls__strbuf_append(out, " ", 1);
    ls__strbuf_append(out, "\n", 1);
    out->failed = out->failed || dictionary.failed;
    ls__strbuf_finish(&dictionary);
}
