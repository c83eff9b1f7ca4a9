/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a rendering share. Failures do not return: ls__chat_fail fills the error and
 * jumps to the entry point (chat.c), as the arena does when memory is out. So code in between owns
 * nothing but arena memory.
 */
#ifndef LS_CHAT_RENDER_H
#define LS_CHAT_RENDER_H

#include "base/arena.h"
#include "base/str.h"
#include "chat/tree.h"
#include "chat/value.h"
#include "lockstep/chat.h"

enum {
    CHAT_DEPTH_MAX = 800,       /* of nested evaluation: expressions, statements, macros */
    CHAT_VALUE_DEPTH_MAX = 200, /* of values that are printed or compared */
    CHAT_RANGE_MAX = 100000,
    CHAT_MEMORY_MAX = 256 << 20,
    CHAT_OUTPUT_MAX = 16 << 20,
    CHAT_STEPS_MAX = 20000000,
};

typedef struct chat_variable {
    const chat_string *name;
    chat_value value;
} chat_variable;

typedef struct chat_scope {
    struct chat_scope *parent;
    LS__VEC(chat_variable) variables;
    bool is_kept; /* a macro was defined in it or below */
} chat_scope;

struct chat_macro {
    const chat_node *node; /* MACRO or CALL_BLOCK */
    chat_scope *scope;     /* where it was defined */
};

/* `loop`. The items come from `source` one at a time, so that the filter sees what the body did. */
struct chat_loop {
    chat_iterator source;
    const chat_node *target, *filter; /* NULL: none */
    chat_scope *scope;                /* around the loop: where the filter is evaluated */
    chat_value before, current;
    chat_value after;   /* MISSING: not looked at yet */
    size_t index;       /* from 1 */
    size_t length;      /* SIZE_MAX: not known yet */
    chat_list *changed; /* arguments of the last loop.changed() */
};

/* Arguments. `items` are the positional ones; after binding to a signature, one for each parameter,
 * MISSING where none was given, and no keywords are left. */
typedef struct chat_arguments {
    chat_value *items;
    size_t count;
    chat_variable *keywords;
    size_t keyword_count;
} chat_arguments;

/* A filter, test, method or global function. `self` is what stands before the bar or the dot. */
enum { CHAT_PARAMETERS_MAX = 6 };
typedef chat_value chat_function(chat_render *render, chat_value self, chat_arguments *arguments);
typedef struct chat_callable {
    const char *name;
    chat_function *function; /* NULL: known to Jinja2, not supported */
    /* In order; those behind the first `required` may be left out. "*": takes anything as it is. */
    const char *parameters[CHAT_PARAMETERS_MAX];
    uint8_t required;
} chat_callable;

struct chat_native {
    const chat_callable *callable;
    chat_value self;
};

struct chat_render {
    chat_fault fault; /* first: what ls__chat_fail needs */
    ls__arena arena;
    const struct ls_chat_template *chat_template;
    const chat_node *at; /* for messages */
    uint64_t steps_left;
    uint32_t depth;
    uint64_t output_bytes_max;
    chat_buffer output; /* of the template */
    chat_buffer *out;   /* where text goes now: `output`, or that of a macro or block */
    chat_scope *scope;
    chat_buffer room;        /* of the last text that was extended */
    chat_value filter_input; /* of the next filter that stands behind nothing */
    int64_t unix_seconds;
    struct json_t *json; /* being read; freed at the end */
};

_Noreturn void ls__chat_fail(chat_render *render, ls_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Counts work; fails with LS_E_LIMIT when there was too much. */
void ls__chat_spend(chat_render *render, uint64_t steps);
void ls__chat_spend_bytes(chat_render *render, uint64_t bytes);
void ls__chat_enter(chat_render *render); /* one level deeper */
void ls__chat_leave(chat_render *render);

/* render.c, eval.c */
void ls__chat_run(chat_render *render, const chat_block *block);
chat_value ls__chat_eval(chat_render *render, const chat_node *node);
/* With room for one more keyword. */
void ls__chat_eval_arguments(chat_render *render, const chat_node *node, chat_arguments *arguments);
chat_value ls__chat_call_macro(chat_render *render, const chat_macro *macro,
                               chat_arguments *arguments);
chat_value ls__chat_call(chat_render *render, chat_value function, chat_arguments *arguments);
/* NULL when there is no variable of that name. */
const chat_value *ls__chat_find_variable(chat_render *render, const chat_string *name);
void ls__chat_set_variable(chat_render *render, chat_scope *scope, const chat_string *name,
                           chat_value value);
chat_value ls__chat_loop_attribute(chat_render *render, chat_loop *loop, const chat_string *name);

/* operators.c */
chat_value ls__chat_binary(chat_render *render, chat_operator operation, chat_value a,
                           chat_value b);
chat_value ls__chat_sign(chat_render *render, chat_value value, bool is_minus); /* +x, -x */
chat_value ls__chat_format_percent(chat_render *render, const chat_string *format,
                                   chat_value values);

/* access.c: value.name, value[key], value[start:stop:step] */
chat_value ls__chat_attribute(chat_render *render, chat_value value, const chat_string *name);
chat_value ls__chat_item(chat_render *render, chat_value value, chat_value key);
chat_value ls__chat_slice(chat_render *render, chat_value value, chat_value start, chat_value stop,
                          chat_value step);

/* callable.c: tables and binding */
const chat_callable *ls__chat_find_callable(const chat_callable *table, const char *name,
                                            size_t bytes);
chat_value ls__chat_invoke(chat_render *render, const chat_callable *callable, const char *what,
                           chat_value self, chat_arguments *arguments);
/* Each ends with a NULL name. */
extern const chat_callable ls__chat_filters[];
extern const chat_callable ls__chat_list_filters[]; /* the rest of the filters */
extern const chat_callable ls__chat_tests[];
extern const chat_callable ls__chat_functions[];
extern const chat_callable ls__chat_string_methods[];
extern const chat_callable ls__chat_list_methods[];
extern const chat_callable ls__chat_tuple_methods[];
extern const chat_callable ls__chat_dict_methods[];
extern const chat_callable ls__chat_loop_methods[];
const chat_callable *ls__chat_find_filter(const char *name, size_t bytes);
bool ls__chat_test(chat_render *render, const chat_callable *test, chat_value value,
                   chat_arguments *arguments);

/* Arguments after binding: of a kind, or what was not given. `what` names it in messages. */
const chat_string *ls__chat_want_text(chat_render *render, chat_value value, const char *what);
int64_t ls__chat_want_int(chat_render *render, chat_value value, int64_t missing, const char *what);
bool ls__chat_want_bool(chat_value value, bool missing);

#endif
