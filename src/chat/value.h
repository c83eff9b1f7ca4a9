/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of templates, which are those of Python: numbers, texts, lists, dicts, and what stands for
 * functions and for iterators that are used up by looking at them. All memory is of one arena and
 * lives as long as the rendering. Values do not change, but for namespaces and iterators.
 *
 * Invariants: texts are UTF-8; integers have 64 bits, and what would need more is refused.
 */
#ifndef LS_CHAT_VALUE_H
#define LS_CHAT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct chat_render chat_render;
typedef struct chat_value chat_value;

typedef enum chat_kind {
    CHAT_MISSING, /* no value: an argument that was not given; templates never see it */
    CHAT_UNDEFINED,
    CHAT_NONE,
    CHAT_BOOL,
    CHAT_INT,
    CHAT_FLOAT,
    CHAT_STRING,
    CHAT_LIST,
    CHAT_TUPLE,
    CHAT_DICT,
    CHAT_RANGE,
    CHAT_VIEW,     /* d.keys(), d.values(), d.items() */
    CHAT_ITERATOR, /* what `map`, `select`, `reverse`, ... give */
    CHAT_NAMESPACE,
    CHAT_LOOP,   /* `loop` */
    CHAT_MACRO,  /* {% macro %}, or `caller` */
    CHAT_NATIVE, /* a function or method of ours */
} chat_kind;

typedef struct chat_string {
    const char *text;
    size_t bytes, characters;
    bool is_markup; /* made by `safe` or `escape`: adding text to it escapes that text */
} chat_string;

typedef struct chat_list {
    chat_value *items;
    size_t count, capacity;
    size_t position; /* of iterators: how many were taken */
} chat_list;

typedef struct chat_dict chat_dict;
typedef struct chat_undefined chat_undefined;
typedef struct chat_range {
    int64_t start, step, stop;
    size_t count;
} chat_range;
typedef enum chat_view_kind { CHAT_KEYS, CHAT_VALUES, CHAT_ITEMS } chat_view_kind;
typedef struct chat_view {
    const chat_dict *dict;
    chat_view_kind kind;
} chat_view;
typedef struct chat_loop chat_loop;
typedef struct chat_macro chat_macro;
typedef struct chat_native chat_native;

struct chat_value {
    chat_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double real;
        const chat_string *string;
        chat_list *list; /* LIST, TUPLE, ITERATOR */
        chat_dict *dict; /* DICT, NAMESPACE */
        const chat_range *range;
        const chat_view *view;
        chat_loop *loop;
        const chat_macro *macro;
        const chat_native *native;
        const chat_undefined *undefined;
    };
};

typedef struct chat_pair {
    chat_value key, value;
} chat_pair;

struct chat_dict { /* in the order of insertion */
    chat_pair *items;
    size_t count, capacity;
};

/* Why: `hint`, or that `owner` has no `key`, or, without an owner, that no variable is named so. */
struct chat_undefined {
    const char *hint;
    const char *owner; /* "dict object" */
    chat_value key;
};

/* --- making ----------------------------------------------------------------------------------- */
chat_value ls__chat_none(void);
chat_value ls__chat_bool(bool value);
chat_value ls__chat_int(int64_t value);
chat_value ls__chat_size(chat_render *render, size_t value);
chat_value ls__chat_float(double value);
/* Copies; the bytes are UTF-8. */
chat_value ls__chat_text(chat_render *render, const char *text, size_t bytes);
/* The bytes stay with the caller, who keeps them as long as the arena. */
chat_value ls__chat_text_of(chat_render *render, const char *text, size_t bytes);
chat_value ls__chat_list(chat_render *render, chat_kind kind, size_t capacity);
void ls__chat_push(chat_render *render, chat_list *list, chat_value item);
chat_value ls__chat_tuple2(chat_render *render, chat_value first, chat_value second);
chat_value ls__chat_dict(chat_render *render, size_t capacity);
void ls__chat_put(chat_render *render, chat_dict *dict, chat_value key, chat_value value);
chat_value ls__chat_undefined(chat_render *render, const char *hint);
chat_value ls__chat_undefined_key(chat_render *render, const char *owner, chat_value key);

/* --- asking ----------------------------------------------------------------------------------- */
/* NULL when the key is not there. Fails on keys that Python cannot hash. */
const chat_value *ls__chat_get(chat_render *render, const chat_dict *dict, chat_value key);
const chat_value *ls__chat_get_name(const chat_dict *dict, const chat_string *name);
bool ls__chat_is_hashable(chat_render *render, chat_value key);
bool ls__chat_truth(chat_value value);
/* "str", "dict", "jinja2.utils.Namespace": the name of the type, and that of messages. */
const char *ls__chat_type(chat_value value);
bool ls__chat_is_number(chat_value value); /* bools too */
bool ls__chat_is_text(chat_value value, const char *text);
/* Integers and bools. */
bool ls__chat_to_int(chat_value value, int64_t *integer);
double ls__chat_to_float(chat_value number);
bool ls__chat_has_length(chat_value value, size_t *length);
bool ls__chat_equal(chat_render *render, chat_value a, chat_value b);
/* -1, 0, 1; fails, in Python's words, where there is no order. `operation` is for the message. */
int ls__chat_compare(chat_render *render, chat_value a, chat_value b, const char *operation);
bool ls__chat_contains(chat_render *render, chat_value container, chat_value item);
_Noreturn void ls__chat_fail_undefined(chat_render *render, chat_value undefined);

/* --- going through ---------------------------------------------------------------------------- */
typedef struct chat_iterator {
    chat_value over;
    size_t position; /* bytes of texts, else items */
} chat_iterator;
/* Fails on what is not iterable. */
chat_iterator ls__chat_iterate(chat_render *render, chat_value over);
bool ls__chat_next(chat_render *render, chat_iterator *iterator, chat_value *item);
bool ls__chat_is_iterable(chat_value value);
chat_list *ls__chat_to_list(chat_render *render, chat_value over); /* a copy */

/* --- as text ---------------------------------------------------------------------------------- */
typedef struct chat_buffer {
    char *text;
    size_t length, capacity;
} chat_buffer;
void ls__chat_append(chat_render *render, chat_buffer *buffer, const char *text, size_t bytes);
void ls__chat_append_text(chat_render *render, chat_buffer *buffer, const char *zero_terminated);
chat_value ls__chat_buffer_value(chat_render *render, const chat_buffer *buffer);
/* Python's str() and repr(). */
void ls__chat_print(chat_render *render, chat_buffer *buffer, chat_value value);
void ls__chat_repr(chat_render *render, chat_buffer *buffer, chat_value value);
const chat_string *ls__chat_str(chat_render *render, chat_value value);

/* --- JSON ------------------------------------------------------------------------------------- */
/* Fails with LS_E_INVALID_ARGUMENT; `name` is of the argument. `kind` is LIST or DICT. */
chat_value ls__chat_from_json(chat_render *render, const char *text, const char *name,
                              chat_kind kind);
/* json.loads. */
chat_value ls__chat_parse_json(chat_render *render, const chat_string *text);
/* json.dumps. `indent` NULL: on one line. */
typedef struct chat_json_style {
    const chat_string *indent;
    const chat_string *item_separator, *key_separator; /* NULL: the default */
    bool ascii_only, sort_keys;
} chat_json_style;
void ls__chat_to_json(chat_render *render, chat_buffer *buffer, chat_value value,
                      const chat_json_style *style);

#endif
