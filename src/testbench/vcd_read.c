/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of value change dumps. The file is a sequence of words between blanks; the longest word
 * kept is a value of a wide vector. Nothing of the file is trusted: words, nesting and the number
 * of variables have limits, codes must have been declared, times must not go back.
 */
#include "testbench/vcd.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"

enum {
    PIECE_BYTES = 65536,
    WORD_BYTES = 1 << 20,
    MAX_WIDTH = 1 << 19,
    MAX_DEPTH = 256,
    MAX_VARIABLES = 1 << 24,
    MAX_SCOPE_BYTES = 4096
};

typedef struct code_entry { /* of a hash table */
    const char *text;       /* NULL: free */
    uint32_t length, code;
} code_entry;

struct ls__vcd_reader {
    ls__vcd_source source;
    void (*warn)(void *context, const char *message);
    void *context;
    ls__arena arena;
    LS__VEC(ls__vcd_variable) variables;
    LS__VEC(bool) ignored; /* by code */
    code_entry *codes;
    uint32_t code_capacity; /* a power of two, or 0 */
    ls__strbuf scope, timescale;
    size_t scope_ends[MAX_DEPTH];
    uint32_t depth;
    bool warned_type, warned_extra;
    bool in_dump; /* between $dump... and $end */
    uint64_t time, line;
    size_t begin, end; /* of what is left in `piece` */
    bool at_end;       /* the source has no more */
    size_t word_length;
    char *word; /* [word_capacity], zero-terminated; at most WORD_BYTES */
    size_t word_capacity;
    char piece[PIECE_BYTES];
};

static ls_status fail(ls__vcd_reader *r, const char *what, ls_error *error)
{
    ls__strbuf shown = {0};
    ls__strbuf_visible(&shown, r->word, r->word_length < 40 ? r->word_length : 40);
    ls__fail(error, LS_E_FORMAT, "VCD: %s, at '%s'", what, shown.text ? shown.text : "");
    ls__strbuf_finish(&shown);
    return ls__fail_where(error, LS_E_FORMAT, "%s, line %llu", r->source.name,
                          (unsigned long long)r->line);
}

static ls_status fail_end(ls__vcd_reader *r, const char *inside, ls_error *error)
{
    ls__fail(error, LS_E_FORMAT, "VCD: the file ends in the middle of %s", inside);
    ls__fail_where(error, LS_E_FORMAT, "%s, line %llu", r->source.name,
                   (unsigned long long)r->line);
    return ls__fail_hint(error, LS_E_FORMAT, "it was probably cut");
}

static void warn(ls__vcd_reader *r, bool *once, const char *format, const char *name)
{
    ls__strbuf text = {0};
    if (*once || !r->warn)
        return;
    *once = true;
    ls__strbuf_printf(&text, "%s: ", r->source.name);
    ls__strbuf_printf(&text, format, name); /* formats are below, with one %s */
    if (text.text)
        r->warn(r->context, text.text);
    ls__strbuf_finish(&text);
}

/* --- words ------------------------------------------------------------------------------------ */

static ls_status refill(ls__vcd_reader *r, ls_error *error)
{
    r->begin = r->end = 0;
    if (r->at_end)
        return LS_OK;
    size_t count = 0;
    ls_status status = r->source.read(r->source.context, r->piece, PIECE_BYTES, &count, error);
    r->end = count;
    r->at_end = count == 0;
    return status;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static ls_status append(ls__vcd_reader *r, const char *text, size_t length, ls_error *error)
{
    size_t needed = r->word_length + length + 1;
    if (needed > WORD_BYTES)
        return fail(r, "a word of more than a million characters", error);
    if (needed > r->word_capacity) {
        size_t capacity = needed * 2;
        char *grown = ls__mem_realloc(r->word, capacity, 1);
        if (!grown)
            return ls__fail_oom(error, capacity);
        r->word = grown;
        r->word_capacity = capacity;
    }
    memcpy(r->word + r->word_length, text, length);
    r->word_length += length;
    r->word[r->word_length] = 0;
    return LS_OK;
}

/* The next word; empty at the end of the file. */
static ls_status next_word(ls__vcd_reader *r, ls_error *error)
{
    ls_status status = LS_OK;
    r->word_length = 0;
    r->word[0] = 0;
    for (;;) {
        while (r->begin < r->end && is_blank(r->piece[r->begin]))
            r->line += r->piece[r->begin++] == '\n';
        if (r->begin < r->end)
            break;
        if (r->at_end)
            return LS_OK;
        status = refill(r, error);
        if (status != LS_OK)
            return status;
    }
    for (;;) {
        size_t start = r->begin;
        while (r->begin < r->end && !is_blank(r->piece[r->begin]))
            r->begin++;
        status = append(r, r->piece + start, r->begin - start, error);
        if (status != LS_OK || r->begin < r->end || r->at_end)
            return status;
        status = refill(r, error);
        if (status != LS_OK)
            return status;
    }
}

static bool word_is(const ls__vcd_reader *r, const char *text)
{
    return strcmp(r->word, text) == 0;
}

/* A word that must be there, inside `what`. */
static ls_status need_word(ls__vcd_reader *r, const char *what, ls_error *error)
{
    ls_status status = next_word(r, error);
    if (status == LS_OK && r->word_length == 0)
        status = fail_end(r, what, error);
    return status;
}

static ls_status need_end(ls__vcd_reader *r, const char *what, ls_error *error)
{
    ls_status status = need_word(r, what, error);
    if (status == LS_OK && !word_is(r, "$end"))
        status = fail(r, "$end is missing", error);
    return status;
}

static ls_status skip_to_end(ls__vcd_reader *r, const char *what, ls_error *error)
{
    ls_status status;
    do
        status = need_word(r, what, error);
    while (status == LS_OK && !word_is(r, "$end"));
    return status;
}

/* --- codes ------------------------------------------------------------------------------------ */

static code_entry *find_code(const ls__vcd_reader *r, const char *text, size_t length)
{
    uint64_t slot = ls__hash64(text, length, 0);
    if (r->code_capacity == 0)
        return NULL;
    for (;; slot++) {
        code_entry *entry = &r->codes[slot & (r->code_capacity - 1)];
        if (!entry->text || (entry->length == length && memcmp(entry->text, text, length) == 0))
            return entry;
    }
}

static void grow_codes(ls__vcd_reader *r)
{
    uint32_t old_capacity = r->code_capacity;
    code_entry *old = r->codes;
    r->code_capacity = old_capacity ? old_capacity * 2 : 256;
    r->codes = LS__NEW_ARRAY(&r->arena, code_entry, r->code_capacity);
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].text)
            *find_code(r, old[i].text, old[i].length) = old[i];
}

/* The number of the code that the word is; a new one when it is not known. */
static uint32_t declare_code(ls__vcd_reader *r, bool is_ignored)
{
    if (r->ignored.count >= r->code_capacity / 2)
        grow_codes(r);
    code_entry *entry = find_code(r, r->word, r->word_length);
    if (entry->text) {
        r->ignored.items[entry->code] &= is_ignored;
        return entry->code;
    }
    entry->text = ls__arena_strdup(&r->arena, r->word, r->word_length);
    entry->length = (uint32_t)r->word_length;
    entry->code = r->ignored.count;
    ls__vec_push(&r->arena, &r->ignored, is_ignored);
    return entry->code;
}

/* --- the header ------------------------------------------------------------------------------- */

/* "10 ps" and the like; nothing at all is left to the default. */
static bool is_timescale(const char *text)
{
    static const char *const units[] = {"s", "ms", "us", "ns", "ps", "fs"};
    size_t digits = strspn(text, "0123456789");
    if (text[0] != '1' || digits > 3 || strspn(text + 1, "0") != digits - 1 || text[digits] != ' ')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text + digits + 1, units[i]) == 0)
            return true;
    return false;
}

static ls_status read_timescale(ls__vcd_reader *r, ls_error *error)
{
    ls_status status;
    while ((status = need_word(r, "$timescale", error)) == LS_OK && !word_is(r, "$end")) {
        if (r->timescale.length + r->word_length > 32)
            return fail(r, "the time scale is malformed", error);
        const char *unit = r->word + strspn(r->word, "0123456789");
        if (unit != r->word)
            ls__strbuf_append(&r->timescale, r->word, (size_t)(unit - r->word));
        if (*unit) {
            ls__strbuf_append(&r->timescale, " ", 1);
            ls__strbuf_append(&r->timescale, unit, strlen(unit));
        }
    }
    if (status == LS_OK && r->timescale.length && !is_timescale(r->timescale.text))
        return fail(r, "the time scale is not 1, 10 or 100 of s, ms, us, ns, ps or fs", error);
    return status;
}

static ls_status enter_scope(ls__vcd_reader *r, ls_error *error)
{
    ls_status status = need_word(r, "$scope", error); /* its type */
    if (status == LS_OK && !word_is(r, "$end"))
        status = need_word(r, "$scope", error);
    if (status != LS_OK)
        return status;
    if (word_is(r, "$end"))
        return fail(r, "a scope has no name", error);
    if (r->depth == MAX_DEPTH || r->scope.length + r->word_length > MAX_SCOPE_BYTES)
        return fail(r, "scopes are nested too deeply", error);
    r->scope_ends[r->depth++] = r->scope.length;
    if (r->scope.length)
        ls__strbuf_append(&r->scope, ".", 1);
    ls__strbuf_append(&r->scope, r->word, r->word_length);
    return need_end(r, "$scope", error);
}

static ls_status leave_scope(ls__vcd_reader *r, ls_error *error)
{
    if (r->depth == 0)
        return fail(r, "$upscope without a scope", error);
    r->scope.length = r->scope_ends[--r->depth];
    r->scope.text[r->scope.length] = 0;
    return need_end(r, "$upscope", error);
}

/* "[7:0]" or "[3]", and nothing behind. */
static bool parse_range(const char *text, int32_t *msb, int32_t *lsb)
{
    char *end;
    if (*text != '[')
        return false;
    long first = strtol(text + 1, &end, 10), second = first;
    if (end == text + 1)
        return false;
    if (*end == ':') {
        const char *start = end + 1;
        second = strtol(start, &end, 10);
        if (end == start)
            return false;
    }
    if (end[0] != ']' || end[1] || first != (int32_t)first || second != (int32_t)second)
        return false;
    *msb = (int32_t)first;
    *lsb = (int32_t)second;
    return true;
}

static void name_variable(ls__vcd_reader *r, ls__vcd_variable *v, const char *text, size_t length)
{
    if (length > 1 && text[0] == '\\') {
        text++;
        length--;
    }
    v->text = ls__arena_strdup(&r->arena, text, length);
    v->name = v->text;
    const char *bracket = strrchr(v->text, '[');
    if (bracket && bracket != v->text && parse_range(bracket, &v->msb, &v->lsb)) {
        v->has_range = true;
        v->name = ls__arena_strdup(&r->arena, v->text, (size_t)(bracket - v->text));
    }
}

/* type, width, code, name in one or more words, $end */
static ls_status read_variable(ls__vcd_reader *r, ls_error *error)
{
    static const char *const bitless[] = {"real", "realtime", "event", "string", "real_parameter"};
    ls__vcd_variable v = {0};
    ls__strbuf name = {0};
    char *end;
    ls_status status = need_word(r, "$var", error);
    for (size_t i = 0; i < sizeof bitless / sizeof *bitless; i++)
        v.is_ignored |= word_is(r, bitless[i]);
    if (status == LS_OK)
        status = need_word(r, "$var", error);
    if (status != LS_OK)
        return status;
    unsigned long width = strtoul(r->word, &end, 10);
    if (*end || r->word[0] < '0' || r->word[0] > '9' || width > MAX_WIDTH)
        return fail(r, "the width of a variable is not a number up to 524288", error);
    v.width = (uint32_t)width;
    v.is_ignored |= width == 0;
    status = need_word(r, "$var", error);
    if (status != LS_OK)
        return status;
    if (r->variables.count == MAX_VARIABLES)
        return fail(r, "more than 16 million variables", error);
    v.code = declare_code(r, v.is_ignored);
    while ((status = need_word(r, "$var", error)) == LS_OK && !word_is(r, "$end"))
        if (name.length + r->word_length < MAX_SCOPE_BYTES)
            ls__strbuf_append(&name, r->word, r->word_length);
    if (status == LS_OK && name.failed)
        status = ls__fail_oom(error, name.length);
    else if (status == LS_OK && name.length == 0)
        status = fail(r, "a variable has no name", error);
    if (status == LS_OK) {
        v.scope = ls__arena_strdup(&r->arena, r->scope.text ? r->scope.text : "", r->scope.length);
        name_variable(r, &v, name.text, name.length);
        if (v.is_ignored)
            warn(r, &r->warned_type, "'%s' and others of types without bits are passed over",
                 v.text);
        ls__vec_push(&r->arena, &r->variables, v);
    }
    ls__strbuf_finish(&name);
    return status;
}

static ls_status read_header(ls__vcd_reader *r, ls_error *error)
{
    ls_status status;
    while ((status = need_word(r, "the header (no $enddefinitions)", error)) == LS_OK) {
        if (word_is(r, "$enddefinitions"))
            return need_end(r, "$enddefinitions", error);
        if (word_is(r, "$var"))
            status = read_variable(r, error);
        else if (word_is(r, "$scope"))
            status = enter_scope(r, error);
        else if (word_is(r, "$upscope"))
            status = leave_scope(r, error);
        else if (word_is(r, "$timescale"))
            status = read_timescale(r, error);
        else if (r->word[0] == '$' && !word_is(r, "$end"))
            status = skip_to_end(r, "a section of the header", error);
        else
            status = fail(r, "this is no section of a header", error);
        if (status != LS_OK)
            return status;
        if (r->scope.failed || r->timescale.failed)
            return ls__fail_oom(error, MAX_SCOPE_BYTES);
    }
    return status;
}

ls_status ls__vcd_reader_open(const ls__vcd_source *source,
                              void (*warn_of)(void *context, const char *message), void *context,
                              ls__vcd_reader **reader, ls_error *error)
{
    ls__oom oom;
    *reader = NULL;
    ls__vcd_reader *r = ls__mem_alloc(1, sizeof *r);
    if (!r)
        return ls__fail_oom(error, sizeof *r);
    r->source = *source;
    r->warn = warn_of;
    r->context = context;
    r->line = 1;
    r->word_capacity = 256;
    r->word = ls__mem_alloc(r->word_capacity, 1);
    ls__arena_init(&r->arena, &oom, 0);
    ls_status status;
    if (setjmp(oom.jump))
        status = ls__oom_status(&oom, error);
    else if (!r->word)
        status = ls__fail_oom(error, r->word_capacity);
    else
        status = read_header(r, error);
    if (status != LS_OK)
        ls__vcd_reader_close(&r);
    *reader = r;
    return status;
}

void ls__vcd_reader_close(ls__vcd_reader **reader)
{
    ls__vcd_reader *r = *reader;
    *reader = NULL;
    if (!r)
        return;
    ls__strbuf_finish(&r->scope);
    ls__strbuf_finish(&r->timescale);
    ls__arena_finish(&r->arena);
    ls__mem_free(r->word);
    ls__mem_free(r);
}

const ls__vcd_variable *ls__vcd_reader_variables(const ls__vcd_reader *reader, uint32_t *count)
{
    *count = reader->variables.count;
    return reader->variables.items;
}

uint32_t ls__vcd_reader_code_count(const ls__vcd_reader *reader)
{
    return reader->ignored.count;
}

const char *ls__vcd_reader_timescale(const ls__vcd_reader *reader)
{
    return reader->timescale.length ? reader->timescale.text : "1 ns";
}

/* --- values ----------------------------------------------------------------------------------- */

static ls_status read_time(ls__vcd_reader *r, ls__vcd_item *item, ls_error *error)
{
    char *end;
    unsigned long long time = strtoull(r->word + 1, &end, 10);
    if (r->word[1] < '0' || r->word[1] > '9' || *end || r->word_length > 20)
        return fail(r, "this is no time", error);
    if (time < r->time)
        return fail(r, "time goes back", error);
    r->time = time;
    *item = (ls__vcd_item){.kind = LS__VCD_TIME, .time = time};
    return LS_OK;
}

static char digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        c = (char)(c - 'A' + 'a');
    return strchr("01xzuwlh-", c) && c ? (c == '0' || c == '1' ? c : c == 'z' ? 'z' : 'x') : 0;
}

/* A value of one bit has its code behind it, in the same word. */
static ls_status find_bits(ls__vcd_reader *r, const char *code, size_t length, ls__vcd_item *item,
                           bool *is_ignored, ls_error *error)
{
    const code_entry *entry = find_code(r, code, length);
    if (!entry || !entry->text)
        return fail(r, "no variable has this code", error);
    item->code = entry->code;
    *is_ignored = r->ignored.items[entry->code];
    return LS_OK;
}

static ls_status read_scalar(ls__vcd_reader *r, ls__vcd_item *item, bool *is_ignored,
                             ls_error *error)
{
    ls_status status = find_bits(r, r->word + 1, r->word_length - 1, item, is_ignored, error);
    r->word[0] = digit_of(r->word[0]);
    item->kind = LS__VCD_VALUE;
    item->digits = r->word;
    item->digit_count = 1;
    return status;
}

/* The digits, then the code as a word of its own. Both stay in `word`, which grows. */
static ls_status read_vector(ls__vcd_reader *r, ls__vcd_item *item, bool *is_ignored,
                             ls_error *error)
{
    bool is_bits = r->word[0] == 'b' || r->word[0] == 'B';
    size_t digit_count = r->word_length - 1;
    if (is_bits && (digit_count == 0 || digit_count > MAX_WIDTH))
        return fail(r, "a vector has no digits or too many", error);
    for (size_t i = 1; is_bits && i <= digit_count; i++) {
        r->word[i] = digit_of(r->word[i]);
        if (!r->word[i])
            return fail(r, "a digit is not 0, 1, x or z", error);
    }
    char *digits = r->word;
    size_t capacity = r->word_capacity;
    char *other = ls__mem_alloc(256, 1);
    if (!other)
        return ls__fail_oom(error, 256);
    r->word = other;
    r->word_capacity = 256;
    ls_status status = need_word(r, "a value", error);
    if (status == LS_OK)
        status = find_bits(r, r->word, r->word_length, item, is_ignored, error);
    ls__mem_free(r->word);
    r->word = digits;
    r->word_capacity = capacity;
    r->word_length = digit_count + 1;
    item->kind = LS__VCD_VALUE;
    item->digits = r->word + 1;
    item->digit_count = (uint32_t)digit_count;
    *is_ignored |= !is_bits;
    return status;
}

static ls_status read_section(ls__vcd_reader *r, ls_error *error)
{
    static const char *const dumps[] = {"$dumpvars", "$dumpall", "$dumpon", "$dumpoff"};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++)
        if (word_is(r, dumps[i])) {
            r->in_dump = true;
            return LS_OK;
        }
    if (word_is(r, "$end")) {
        bool was_in_dump = r->in_dump;
        r->in_dump = false;
        return was_in_dump ? LS_OK : fail(r, "$end without a section", error);
    }
    if (word_is(r, "$comment"))
        return skip_to_end(r, "$comment", error);
    warn(r, &r->warned_extra, "the section %s among the values is passed over", r->word);
    return skip_to_end(r, "a section", error);
}

static ls_status next_item(ls__vcd_reader *r, ls__vcd_item *item, ls_error *error)
{
    for (;;) {
        bool is_ignored = false;
        *item = (ls__vcd_item){.kind = LS__VCD_END};
        ls_status status = next_word(r, error);
        if (status != LS_OK || r->word_length == 0)
            return status;
        char first = r->word[0];
        if (first == '#')
            return read_time(r, item, error);
        if (first == '$')
            status = read_section(r, error);
        else if (strchr("bBrRsS", first))
            status = read_vector(r, item, &is_ignored, error);
        else if (digit_of(first))
            status = read_scalar(r, item, &is_ignored, error);
        else
            return fail(r, "this is neither a time nor a value", error);
        if (status != LS_OK || (item->kind == LS__VCD_VALUE && !is_ignored))
            return status;
    }
}

ls_status ls__vcd_reader_next(ls__vcd_reader *reader, ls__vcd_item *item, ls_error *error)
{
    return next_item(reader, item, error);
}

bool ls__vcd_bits(const char *digits, uint32_t digit_count, uint32_t width, uint64_t *words)
{
    bool has_unknown = false;
    memset(words, 0, (width + 63) / 64 * sizeof *words);
    if (digit_count > width) {
        digits += digit_count - width;
        digit_count = width;
    }
    for (uint32_t i = 0; i < digit_count; i++) {
        uint32_t bit = digit_count - 1 - i;
        if (digits[i] == '1')
            words[bit / 64] |= UINT64_C(1) << (bit % 64);
        else
            has_unknown |= digits[i] != '0';
    }
    return has_unknown;
}
