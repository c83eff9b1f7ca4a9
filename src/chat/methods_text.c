/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of texts. Positions that templates see are in characters. */
#include <string.h>

#include "chat/render.h"
#include "chat/text.h"

#define METHOD(name_)                                                                              \
    static chat_value name_(chat_render *render, chat_value self, chat_arguments *arguments)

static bool is_given(chat_value value)
{
    return value.kind != CHAT_MISSING && value.kind != CHAT_NONE;
}

static chat_value piece(chat_render *render, const chat_string *string, size_t start, size_t end)
{
    return ls__chat_text_of(render, string->text + start, end - start);
}

/* --- case and kinds of characters ------------------------------------------------------------- */

METHOD(text_upper)
{
    (void)arguments;
    return ls__chat_change_case(render, self.string, CHAT_TO_UPPER);
}

METHOD(text_lower)
{
    (void)arguments;
    return ls__chat_change_case(render, self.string, CHAT_TO_LOWER);
}

METHOD(text_capitalize)
{
    (void)arguments;
    return ls__chat_capitalize(render, self.string);
}

METHOD(text_title)
{
    (void)arguments;
    return ls__chat_title(render, self.string);
}

static chat_value all(const chat_string *string, bool (*holds)(uint32_t code))
{
    for (size_t i = 0, length; i < string->bytes; i += length)
        if (!holds(ls__chat_utf8_decode(string->text + i, &length)))
            return ls__chat_bool(false);
    return ls__chat_bool(string->bytes > 0);
}

static bool is_space(uint32_t code)
{
    return ls__chat_has(code, CHAT_IS_SPACE);
}

static bool is_alpha(uint32_t code)
{
    return ls__chat_has(code, CHAT_IS_ALPHA);
}

static bool is_digit(uint32_t code)
{
    return ls__chat_has(code, CHAT_IS_DIGIT);
}

static bool is_numeric(uint32_t code)
{
    return ls__chat_has(code, CHAT_IS_NUMERIC);
}

static bool is_alnum(uint32_t code)
{
    return is_alpha(code) || is_digit(code) || is_numeric(code);
}

#define ASKING(name_, answer_)                                                                     \
    METHOD(name_)                                                                                  \
    {                                                                                              \
        (void)arguments;                                                                           \
        ls__chat_spend_bytes(render, self.string->bytes * 4);                                      \
        return answer_;                                                                            \
    }
ASKING(text_isspace, all(self.string, is_space))
ASKING(text_isalpha, all(self.string, is_alpha))
ASKING(text_isdigit, all(self.string, is_digit))
ASKING(text_isnumeric, all(self.string, is_numeric))
ASKING(text_isalnum, all(self.string, is_alnum))
ASKING(text_isupper, ls__chat_bool(ls__chat_is_case(self.string, CHAT_IS_UPPER)))
ASKING(text_islower, ls__chat_bool(ls__chat_is_case(self.string, CHAT_IS_LOWER)))
ASKING(text_isascii, ls__chat_bool(self.string->bytes == self.string->characters))

/* --- ends ------------------------------------------------------------------------------------- */

static chat_value strip(chat_render *render, chat_value self, const chat_arguments *arguments,
                        bool at_start, bool at_end)
{
    chat_value set = arguments->items[0];
    return ls__chat_strip(render, self.string,
                          is_given(set) ? ls__chat_want_text(render, set, "what is stripped")
                                        : NULL,
                          at_start, at_end);
}

METHOD(text_strip)
{
    return strip(render, self, arguments, true, true);
}

METHOD(text_lstrip)
{
    return strip(render, self, arguments, true, false);
}

METHOD(text_rstrip)
{
    return strip(render, self, arguments, false, true);
}

/* The part that start and end, in characters, leave of a text; false when start is beyond the end.
 */
static bool clip(chat_render *render, const chat_string *string, chat_value start, chat_value end,
                 size_t *first, size_t *last)
{
    int64_t length = (int64_t)string->characters;
    int64_t from = is_given(start) ? ls__chat_want_int(render, start, 0, "start") : 0;
    int64_t to = is_given(end) ? ls__chat_want_int(render, end, 0, "end") : length;
    from = from < 0 ? from + length : from;
    to = to < 0 ? to + length : to;
    from = from < 0 ? 0 : from;
    to = to < 0 ? 0 : to > length ? length : to;
    ls__chat_spend_bytes(render, string->bytes);
    if (from > to)
        return false;
    *first = ls__chat_utf8_offset(string->text, string->bytes, (size_t)from);
    *last = *first + ls__chat_utf8_offset(string->text + *first, string->bytes - *first,
                                          (size_t)(to - from));
    return true;
}

static bool has_end(chat_render *render, const char *text, size_t bytes, chat_value wanted,
                    bool at_start)
{
    const chat_string *end = ls__chat_want_text(render, wanted, "what is looked for");
    ls__chat_spend_bytes(render, end->bytes);
    return end->bytes <= bytes &&
           memcmp(at_start ? text : text + bytes - end->bytes, end->text, end->bytes) == 0;
}

static chat_value starts_or_ends(chat_render *render, chat_value self,
                                 const chat_arguments *arguments, bool at_start)
{
    chat_value wanted = arguments->items[0];
    size_t first = 0, last = self.string->bytes;
    if (arguments->items[1].kind != CHAT_MISSING &&
        !clip(render, self.string, arguments->items[1], arguments->items[2], &first, &last))
        return ls__chat_bool(false);
    const char *text = self.string->text + first;
    if (wanted.kind != CHAT_TUPLE)
        return ls__chat_bool(has_end(render, text, last - first, wanted, at_start));
    for (size_t i = 0; i < wanted.list->count; i++)
        if (has_end(render, text, last - first, wanted.list->items[i], at_start))
            return ls__chat_bool(true);
    return ls__chat_bool(false);
}

METHOD(text_startswith)
{
    return starts_or_ends(render, self, arguments, true);
}

METHOD(text_endswith)
{
    return starts_or_ends(render, self, arguments, false);
}

METHOD(text_removeprefix)
{
    const chat_string *string = self.string;
    bool found = has_end(render, string->text, string->bytes, arguments->items[0], true);
    return piece(render, string, found ? arguments->items[0].string->bytes : 0, string->bytes);
}

METHOD(text_removesuffix)
{
    const chat_string *string = self.string;
    bool found = has_end(render, string->text, string->bytes, arguments->items[0], false);
    return piece(render, string, 0,
                 string->bytes - (found ? arguments->items[0].string->bytes : 0));
}

/* --- searching -------------------------------------------------------------------------------- */

/* The last place of `wanted` in the text, as memmem for the first. */
static const char *find_last(chat_render *render, const char *text, size_t bytes,
                             const chat_string *wanted)
{
    if (wanted->bytes > bytes)
        return NULL;
    for (size_t i = bytes - wanted->bytes + 1; i > 0; i--) {
        if (wanted->bytes == 0 || text[i - 1] == wanted->text[0]) {
            ls__chat_spend(render, 1 + wanted->bytes / 64);
            if (memcmp(text + i - 1, wanted->text, wanted->bytes) == 0)
                return text + i - 1;
        }
    }
    return NULL;
}

static int64_t find(chat_render *render, chat_value self, const chat_arguments *arguments,
                    bool is_last)
{
    const chat_string *string = self.string;
    const chat_string *wanted =
        ls__chat_want_text(render, arguments->items[0], "what is looked for");
    size_t first, last;
    if (!clip(render, string, arguments->items[1], arguments->items[2], &first, &last))
        return -1;
    const char *text = string->text + first;
    const char *found = is_last ? find_last(render, text, last - first, wanted)
                                : memmem(text, last - first, wanted->text, wanted->bytes);
    return found ? (int64_t)ls__chat_utf8_count(string->text, (size_t)(found - string->text)) : -1;
}

METHOD(text_find)
{
    return ls__chat_int(find(render, self, arguments, false));
}

METHOD(text_rfind)
{
    return ls__chat_int(find(render, self, arguments, true));
}

static chat_value index_of(chat_render *render, chat_value self, const chat_arguments *arguments,
                           bool is_last)
{
    int64_t index = find(render, self, arguments, is_last);
    if (index < 0)
        ls__chat_fail(render, LS_E_FORMAT, "substring not found");
    return ls__chat_int(index);
}

METHOD(text_index)
{
    return index_of(render, self, arguments, false);
}

METHOD(text_rindex)
{
    return index_of(render, self, arguments, true);
}

METHOD(text_count)
{
    const chat_string *string = self.string;
    const chat_string *wanted = ls__chat_want_text(render, arguments->items[0], "what is counted");
    size_t at, last;
    if (!clip(render, string, arguments->items[1], arguments->items[2], &at, &last))
        return ls__chat_int(0);
    if (wanted->bytes == 0)
        return ls__chat_size(render, ls__chat_utf8_count(string->text + at, last - at) + 1);
    int64_t count = 0;
    const char *found;
    while ((found = memmem(string->text + at, last - at, wanted->text, wanted->bytes))) {
        count++;
        at = (size_t)(found - string->text) + wanted->bytes;
    }
    return ls__chat_int(count);
}

METHOD(text_replace)
{
    return ls__chat_replace(
        render, self.string, ls__chat_want_text(render, arguments->items[0], "what is replaced"),
        ls__chat_want_text(render, arguments->items[1], "the replacement"),
        ls__chat_want_int(render, arguments->items[2], -1, "the number of replacements"));
}

/* --- splitting and joining -------------------------------------------------------------------- */

/* Words between white space. At the limit the rest is one word, without the space before it. */
static void split_words(chat_render *render, chat_list *parts, const chat_string *string,
                        int64_t limit)
{
    size_t at = 0;
    for (;;) {
        at += ls__chat_space_before(string->text + at, string->bytes - at);
        if (at == string->bytes)
            return;
        size_t end = at, length;
        if (limit-- == 0)
            end = string->bytes;
        while (end < string->bytes && !is_space(ls__chat_utf8_decode(string->text + end, &length)))
            end += length;
        ls__chat_spend(render, 1);
        ls__chat_push(render, parts, piece(render, string, at, end));
        at = end;
    }
}

static void split_words_back(chat_render *render, chat_list *parts, const chat_string *string,
                             int64_t limit)
{
    size_t end = string->bytes, length;
    for (;;) {
        end -= ls__chat_space_behind(string->text, end);
        if (end == 0)
            return;
        size_t start = limit-- == 0 ? 0 : end;
        while (start > 0) {
            size_t before = start - 1;
            while (((unsigned char)string->text[before] & 0xc0) == 0x80)
                before--;
            if (is_space(ls__chat_utf8_decode(string->text + before, &length)))
                break;
            start = before;
        }
        ls__chat_spend(render, 1);
        ls__chat_push(render, parts, piece(render, string, start, end));
        end = start;
    }
}

static void split_at(chat_render *render, chat_list *parts, const chat_string *string,
                     const chat_string *separator, int64_t limit)
{
    size_t at = 0;
    for (; limit != 0; limit--) {
        const char *found =
            memmem(string->text + at, string->bytes - at, separator->text, separator->bytes);
        if (!found)
            break;
        ls__chat_spend(render, 1);
        ls__chat_push(render, parts, piece(render, string, at, (size_t)(found - string->text)));
        at = (size_t)(found - string->text) + separator->bytes;
    }
    ls__chat_push(render, parts, piece(render, string, at, string->bytes));
}

static void split_at_back(chat_render *render, chat_list *parts, const chat_string *string,
                          const chat_string *separator, int64_t limit)
{
    size_t end = string->bytes;
    for (; limit != 0; limit--) {
        const char *found = find_last(render, string->text, end, separator);
        if (!found)
            break;
        size_t start = (size_t)(found - string->text) + separator->bytes;
        ls__chat_spend(render, 1);
        ls__chat_push(render, parts, piece(render, string, start, end));
        end = (size_t)(found - string->text);
    }
    ls__chat_push(render, parts, piece(render, string, 0, end));
}

static void turn_around(chat_list *list)
{
    for (size_t i = 0; i < list->count / 2; i++) {
        chat_value other = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = other;
    }
}

static chat_value split(chat_render *render, chat_value self, const chat_arguments *arguments,
                        bool is_back)
{
    chat_value parts = ls__chat_list(render, CHAT_LIST, 0);
    int64_t limit = ls__chat_want_int(render, arguments->items[1], -1, "maxsplit");
    ls__chat_spend_bytes(render, self.string->bytes);
    if (!is_given(arguments->items[0])) {
        (is_back ? split_words_back : split_words)(render, parts.list, self.string, limit);
    } else {
        const chat_string *separator =
            ls__chat_want_text(render, arguments->items[0], "the separator");
        if (separator->bytes == 0)
            ls__chat_fail(render, LS_E_FORMAT, "empty separator");
        (is_back ? split_at_back : split_at)(render, parts.list, self.string, separator, limit);
    }
    if (is_back)
        turn_around(parts.list);
    return parts;
}

METHOD(text_split)
{
    return split(render, self, arguments, false);
}

METHOD(text_rsplit)
{
    return split(render, self, arguments, true);
}

METHOD(text_splitlines)
{
    return ls__chat_split_lines(render, self.string,
                                ls__chat_want_bool(arguments->items[0], false));
}

static chat_value partition(chat_render *render, chat_value self, const chat_arguments *arguments,
                            bool is_last)
{
    const chat_string *string = self.string;
    const chat_string *separator = ls__chat_want_text(render, arguments->items[0], "the separator");
    if (separator->bytes == 0)
        ls__chat_fail(render, LS_E_FORMAT, "empty separator");
    ls__chat_spend_bytes(render, string->bytes);
    const char *found =
        is_last ? find_last(render, string->text, string->bytes, separator)
                : memmem(string->text, string->bytes, separator->text, separator->bytes);
    size_t before = found ? (size_t)(found - string->text) : is_last ? 0 : string->bytes;
    size_t behind = found ? before + separator->bytes : before;
    chat_value tuple = ls__chat_list(render, CHAT_TUPLE, 3);
    ls__chat_push(render, tuple.list, piece(render, string, 0, before));
    ls__chat_push(render, tuple.list, piece(render, string, before, behind));
    ls__chat_push(render, tuple.list, piece(render, string, behind, string->bytes));
    return tuple;
}

METHOD(text_partition)
{
    return partition(render, self, arguments, false);
}

METHOD(text_rpartition)
{
    return partition(render, self, arguments, true);
}

METHOD(text_join)
{
    return ls__chat_join(render, self.string, arguments->items[0], true);
}

/* --- format ----------------------------------------------------------------------------------- */

static chat_value field_value(chat_render *render, ls__str name, size_t *automatic,
                              const chat_arguments *arguments)
{
    size_t index = 0;
    bool is_number = true;
    for (size_t i = 0; i < name.length; i++) {
        is_number &= name.text[i] >= '0' && name.text[i] <= '9' && i < 6;
        index = index * 10 + (size_t)(name.text[i] - '0');
    }
    if (name.length == 0)
        index = (*automatic)++;
    for (size_t i = 0; i < arguments->keyword_count && !is_number; i++) {
        const chat_string *key = arguments->keywords[i].name;
        if (ls__str_equal((ls__str){key->text, key->bytes}, name))
            return arguments->keywords[i].value;
    }
    if (!is_number)
        ls__chat_fail(render, LS_E_FORMAT, "format() is not given '%.*s'", LS__STR_ARG(name));
    if (index >= arguments->count)
        ls__chat_fail(render, LS_E_FORMAT,
                      "Replacement index %zu out of range for positional args tuple", index);
    return arguments->items[index];
}

METHOD(text_format)
{
    const chat_string *format = self.string;
    chat_buffer buffer = {0};
    size_t automatic = 0;
    for (size_t i = 0; i < format->bytes; i++) {
        char c = format->text[i];
        bool is_double = i + 1 < format->bytes && format->text[i + 1] == c;
        if ((c != '{' && c != '}') || is_double) {
            ls__chat_append(render, &buffer, &c, 1);
            i += c == '{' || c == '}';
            continue;
        }
        const char *end = memchr(format->text + i, '}', format->bytes - i);
        if (c == '}' || !end)
            ls__chat_fail(render, LS_E_FORMAT, "Single '%c' encountered in format string", c);
        ls__str name = {format->text + i + 1, (size_t)(end - format->text) - i - 1};
        for (size_t k = 0; k < name.length; k++)
            if (strchr("!:.[{", name.text[k]))
                ls__chat_fail(render, LS_E_UNSUPPORTED,
                              "of format(), only fields such as {}, {0} and {name} are supported");
        ls__chat_print(render, &buffer, field_value(render, name, &automatic, arguments));
        i = (size_t)(end - format->text);
    }
    return ls__chat_buffer_value(render, &buffer);
}

const chat_callable ls__chat_string_methods[] = {
    {"strip", text_strip, {"chars"}, 0},
    {"lstrip", text_lstrip, {"chars"}, 0},
    {"rstrip", text_rstrip, {"chars"}, 0},
    {"split", text_split, {"sep", "maxsplit"}, 0},
    {"rsplit", text_rsplit, {"sep", "maxsplit"}, 0},
    {"splitlines", text_splitlines, {"keepends"}, 0},
    {"partition", text_partition, {"sep"}, 1},
    {"rpartition", text_rpartition, {"sep"}, 1},
    {"join", text_join, {"iterable"}, 1},
    {"startswith", text_startswith, {"prefix", "start", "end"}, 1},
    {"endswith", text_endswith, {"suffix", "start", "end"}, 1},
    {"removeprefix", text_removeprefix, {"prefix"}, 1},
    {"removesuffix", text_removesuffix, {"suffix"}, 1},
    {"replace", text_replace, {"old", "new", "count"}, 2},
    {"find", text_find, {"sub", "start", "end"}, 1},
    {"rfind", text_rfind, {"sub", "start", "end"}, 1},
    {"index", text_index, {"sub", "start", "end"}, 1},
    {"rindex", text_rindex, {"sub", "start", "end"}, 1},
    {"count", text_count, {"sub", "start", "end"}, 1},
    {"upper", text_upper, {NULL}, 0},
    {"lower", text_lower, {NULL}, 0},
    {"title", text_title, {NULL}, 0},
    {"capitalize", text_capitalize, {NULL}, 0},
    {"format", text_format, {"*"}, 0},
    {"isspace", text_isspace, {NULL}, 0},
    {"isalpha", text_isalpha, {NULL}, 0},
    {"isdigit", text_isdigit, {NULL}, 0},
    {"isnumeric", text_isnumeric, {NULL}, 0},
    {"isalnum", text_isalnum, {NULL}, 0},
    {"isupper", text_isupper, {NULL}, 0},
    {"islower", text_islower, {NULL}, 0},
    {"isascii", text_isascii, {NULL}, 0},
    {"casefold", NULL, {NULL}, 0},
    {"center", NULL, {NULL}, 0},
    {"encode", NULL, {NULL}, 0},
    {"expandtabs", NULL, {NULL}, 0},
    {"format_map", NULL, {NULL}, 0},
    {"isdecimal", NULL, {NULL}, 0},
    {"isidentifier", NULL, {NULL}, 0},
    {"isprintable", NULL, {NULL}, 0},
    {"istitle", NULL, {NULL}, 0},
    {"ljust", NULL, {NULL}, 0},
    {"maketrans", NULL, {NULL}, 0},
    {"rjust", NULL, {NULL}, 0},
    {"swapcase", NULL, {NULL}, 0},
    {"translate", NULL, {NULL}, 0},
    {"zfill", NULL, {NULL}, 0},
    {NULL, NULL, {NULL}, 0},
};
