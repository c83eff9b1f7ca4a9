/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokenizer. The buffer holds a piece of the document and ends in a 0, at which all loops stop
 * by themselves: a 0 at `end` means that more must be read, a 0 before it is a fault. Reading more
 * moves the token that is being read to the start of the buffer, so positions in it are kept
 * relative to `start`. Escapes are decoded in place: no escape is shorter than what it stands for.
 */
#include "netlist/json.h"

#include <string.h>

#include "base/mem.h"
#include "base/status.h"

enum { PIECE_BYTES = 1 << 18, END_BYTES = 8 };
static const char blanks[] = "        "; /* most of what Yosys writes; eight at a time */
static const size_t token_bytes_most = (size_t)1 << 30;

/* What may come next. */
enum { VALUE, FIRST_VALUE, FIRST_KEY, KEY, COLON, SEPARATOR, DONE };

void ls__json_init(ls__json *json, ls__json_source source, void *context)
{
    *json = (ls__json){.source = source, .context = context, .line = 1, .state = VALUE};
}

void ls__json_finish(ls__json *json)
{
    ls__mem_free(json->buffer);
    json->buffer = NULL;
    json->capacity = json->start = json->at = json->end = 0;
}

uint64_t ls__json_offset(const ls__json *json)
{
    return json->status != LS_OK ? json->fault_base : json->base + json->start;
}

static ls__json_token fail_status(ls__json *json, ls_status status, const char *fault)
{
    if (json->status == LS_OK) {
        json->fault_base = json->base + json->at;
        json->status = status;
        json->fault = fault;
    }
    json->text = (ls__str){0};
    return json->token = LS__JSON_ERROR;
}

static ls__json_token fail(ls__json *json, const char *fault)
{
    return fail_status(json, LS_E_FORMAT, fault);
}

/* More bytes behind `end`, false when there are none or on failure. What lies before `start` goes,
 * and start, at, end are moved. */
static bool refill(ls__json *json)
{
    if (json->at_end || json->status != LS_OK)
        return false;
    if (json->start > 0) {
        memmove(json->buffer, json->buffer + json->start, json->end - json->start);
        json->base += json->start;
        json->at -= json->start;
        json->end -= json->start;
        json->start = 0;
    }
    if (json->end == json->capacity) {
        size_t grown = json->capacity ? json->capacity * 2 : PIECE_BYTES;
        if (json->capacity >= token_bytes_most) {
            fail_status(json, LS_E_LIMIT, "a text or number is longer than 1 GiB");
            return false;
        }
        char *more = ls__mem_realloc(json->buffer, grown + END_BYTES, 1);
        if (!more) {
            fail_status(json, LS_E_OUT_OF_MEMORY, NULL);
            return false;
        }
        json->buffer = more;
        json->capacity = grown;
    }
    size_t size = 0;
    ls_status status = json->source(json->context, json->buffer + json->end,
                                    json->capacity - json->end, &size, &json->error);
    if (status != LS_OK) {
        fail_status(json, status, NULL);
        return false;
    }
    json->at_end = size == 0;
    json->end += size;
    memset(json->buffer + json->end, 0, END_BYTES);
    return size > 0;
}

/* The byte at `at`, 0 at the end of the document (or where a 0 is). */
static char peek(ls__json *json)
{
    if (json->at == json->end && !refill(json))
        return 0;
    return json->buffer[json->at];
}

static char skip_blanks(ls__json *json)
{
    for (;;) {
        const char *at = json->buffer ? json->buffer + json->at : "";
        while (json->buffer && memcmp(at, blanks, 8) == 0)
            at += 8;
        for (; *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'; at++)
            json->line += *at == '\n';
        if (json->buffer)
            json->at = (size_t)(at - json->buffer);
        if (*at || json->at < json->end)
            return *at;
        json->start = json->at; /* nothing to keep */
        if (!refill(json))
            return 0;
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Four hexadecimal digits at `at`, or -1. */
static int32_t hex4(ls__json *json)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = peek(json);
        int digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (c | 32) - 'a' + 10;
        else
            return -1;
        value = value * 16 + digit;
        json->at++;
    }
    return value;
}

static size_t put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 63));
        to[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 63));
    to[2] = (char)(0x80 | (code >> 6 & 63));
    to[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* Behind "\u"; -1 on a fault. A surrogate that has no partner becomes U+FFFD. */
static int64_t unicode_escape(ls__json *json)
{
    int64_t code = hex4(json);
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code > 0xdbff || peek(json) != '\\')
        return 0xfffd;
    /* A partner must follow; what else follows is read again as it stands. */
    size_t back = json->at - json->start;
    json->at++;
    if (peek(json) == 'u') {
        json->at++;
        int32_t low = hex4(json);
        if (low >= 0xdc00 && low <= 0xdfff)
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    json->at = json->start + back;
    return 0xfffd;
}

/* Behind a backslash: appends what is meant at start + used. */
static bool escape(ls__json *json, size_t *used)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = peek(json);
    const char *name = c ? strchr(names, c) : NULL;
    if (name) {
        json->at++;
        json->buffer[json->start + *used] = meanings[name - names];
        *used += 1;
        return true;
    }
    if (c != 'u') {
        fail(json, "an escape that JSON does not have");
        return false;
    }
    json->at++;
    int64_t code = unicode_escape(json);
    if (code < 0) {
        fail(json, "\\u must be followed by four hexadecimal digits");
        return false;
    }
    *used += put_utf8(json->buffer + json->start + *used, (uint32_t)code);
    return true;
}

/* `at` is behind the opening quote, which is at `start`. */
static ls__json_token text(ls__json *json, ls__json_token token)
{
    size_t used = 1; /* bytes of the decoded text, counted from `start` */
    for (;;) {
        char *from = json->buffer + json->at, *c = from;
        while ((unsigned char)*c >= 0x20 && *c != '"' && *c != '\\')
            c++;
        size_t count = (size_t)(c - from);
        if (json->at != json->start + used)
            memmove(json->buffer + json->start + used, from, count);
        used += count;
        json->at += count;
        if (*c == '"') {
            json->text = (ls__str){json->buffer + json->start + 1, used - 1};
            json->at++;
            return json->token = token;
        }
        if (*c == '\\') {
            json->at++;
            if (!escape(json, &used))
                return LS__JSON_ERROR;
        } else if (json->at < json->end) {
            return fail(json, "a control character within a text");
        } else if (!refill(json)) {
            return fail(json, "the file ends within a text");
        }
    }
}

/* --- numbers, words --------------------------------------------------------------------------- */

static ls__json_token number(ls__json *json)
{
    uint64_t value = 0;
    bool negative = false, integer = true;
    char c = peek(json);
    if (c == '-') {
        negative = true;
        json->at++;
        c = peek(json);
    }
    if (c < '0' || c > '9')
        return fail(json, "a value must stand here");
    bool zero = c == '0';
    for (uint32_t digits = 0; c >= '0' && c <= '9'; digits++) {
        if (zero && digits > 0)
            return fail(json, "a number must not begin with 0");
        integer = integer && !__builtin_mul_overflow(value, (uint64_t)10, &value) &&
                  !__builtin_add_overflow(value, (uint64_t)(c - '0'), &value);
        json->at++;
        c = peek(json);
    }
    while (c && strchr("+-.eE0123456789", c)) { /* of reals only the letters are checked */
        integer = false;
        json->at++;
        c = peek(json);
    }
    json->text = (ls__str){json->buffer + json->start, json->at - json->start};
    if (!integer || value > (uint64_t)INT64_MAX)
        return json->token = LS__JSON_REAL;
    json->number = negative ? -(int64_t)value : (int64_t)value;
    return json->token = LS__JSON_INTEGER;
}

static ls__json_token word(ls__json *json, const char *name, ls__json_token token)
{
    for (const char *c = name; *c; c++) {
        if (peek(json) != *c)
            return fail(json, "a value must stand here");
        json->at++;
    }
    return json->token = token;
}

/* --- structure -------------------------------------------------------------------------------- */

static ls__json_token open(ls__json *json, bool array)
{
    if (json->depth == LS__JSON_DEPTH)
        return fail_status(json, LS_E_LIMIT, "values are nested too deep");
    uint64_t bit = (uint64_t)1 << json->depth++;
    json->arrays = array ? json->arrays | bit : json->arrays & ~bit;
    json->state = array ? FIRST_VALUE : FIRST_KEY;
    json->at++;
    return json->token = array ? LS__JSON_ARRAY : LS__JSON_OBJECT;
}

static bool in_array(const ls__json *json)
{
    return json->arrays >> (json->depth - 1) & 1;
}

static ls__json_token close(ls__json *json)
{
    bool array = in_array(json);
    if (json->buffer[json->at] != (array ? ']' : '}'))
        return fail(json, array ? "an array must end in ']'" : "an object must end in '}'");
    json->at++;
    json->depth--;
    json->state = json->depth ? SEPARATOR : DONE;
    return json->token = array ? LS__JSON_ARRAY_END : LS__JSON_OBJECT_END;
}

static ls__json_token value(ls__json *json, char c)
{
    json->state = json->depth ? SEPARATOR : DONE;
    switch (c) {
    case '"':
        json->at++;
        return text(json, LS__JSON_TEXT);
    case '{':
        return open(json, false);
    case '[':
        return open(json, true);
    case 't':
        return word(json, "true", LS__JSON_TRUE);
    case 'f':
        return word(json, "false", LS__JSON_FALSE);
    case 'n':
        return word(json, "null", LS__JSON_NULL);
    default:
        return number(json);
    }
}

static ls__json_token key(ls__json *json, char c)
{
    if (c != '"')
        return fail(json, "a name in quotes must stand here");
    json->state = COLON;
    json->at++;
    return text(json, LS__JSON_KEY);
}

ls__json_token ls__json_next(ls__json *json)
{
    if (json->status != LS_OK)
        return json->token = LS__JSON_ERROR;
    char c = skip_blanks(json);
    if (json->state == SEPARATOR && c == ',') {
        json->at++;
        json->state = in_array(json) ? VALUE : KEY;
        c = skip_blanks(json);
    } else if (json->state == COLON && c == ':') {
        json->at++;
        json->state = VALUE;
        c = skip_blanks(json);
    }
    json->start = json->at;
    if (json->status != LS_OK)
        return json->token = LS__JSON_ERROR;
    if (c == 0 && json->at == json->end) {
        if (json->state == DONE)
            return json->token = LS__JSON_END;
        return fail(json, json->base + json->at == 0 ? "the file is empty" : "the file ends early");
    }
    switch (json->state) {
    case VALUE:
        return value(json, c);
    case FIRST_VALUE:
        return c == ']' ? close(json) : value(json, c);
    case KEY:
        return key(json, c);
    case FIRST_KEY:
        return c == '}' ? close(json) : key(json, c);
    case COLON:
        return fail(json, "':' must stand here");
    case SEPARATOR:
        if (c == ']' || c == '}')
            return close(json);
        return fail(json, "',' or the end of the object or array must stand here");
    default:
        return fail(json, "something follows the end of the document");
    }
}
