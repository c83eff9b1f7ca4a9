/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of a template, made by the parser, in an arena. One struct for all nodes; the table says
 * what a node of each kind keeps where.
 */
#ifndef LS_CHAT_TREE_H
#define LS_CHAT_TREE_H

#include <stdarg.h>

#include "base/arena.h"
#include "chat/value.h"

/* What a failure needs to be shown at its place. The source is with "\n" for every line end. */
typedef struct chat_fault {
    ls__oom oom; /* the jump */
    ls_error *error;
    ls_status status; /* LS_OK: the arena jumped */
    const char *source;
    size_t source_bytes;
} chat_fault;

_Noreturn void ls__chat_fail_at(chat_fault *fault, size_t offset, ls_status status,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

typedef enum chat_operator {
    CHAT_ADD,
    CHAT_SUBTRACT,
    CHAT_MULTIPLY,
    CHAT_DIVIDE,
    CHAT_FLOOR_DIVIDE,
    CHAT_MODULO,
    CHAT_POWER,
    CHAT_NEGATE,
    CHAT_PLUS,
    CHAT_NOT,
    CHAT_AND,
    CHAT_OR,
    CHAT_EQUAL,
    CHAT_NOT_EQUAL,
    CHAT_LESS,
    CHAT_LESS_EQUAL,
    CHAT_GREATER,
    CHAT_GREATER_EQUAL,
    CHAT_IN,
    CHAT_NOT_IN,
} chat_operator;

typedef enum chat_node_kind {
    /* expressions */
    CHAT_CONSTANT,    /* value */
    CHAT_NAME,        /* name; as a target: is set */
    CHAT_NAME_FIELD,  /* target only, of a namespace: name, field */
    CHAT_MAKE_LIST,   /* items */
    CHAT_MAKE_TUPLE,  /* items; as a target: unpacks */
    CHAT_MAKE_DICT,   /* items: key, value, key, value, ... */
    CHAT_ATTRIBUTE,   /* a.name */
    CHAT_SUBSCRIPT,   /* a[b] */
    CHAT_CUT,         /* a[b:c:d], each but a may be NULL */
    CHAT_CALL,        /* a(items, keywords) */
    CHAT_FILTER,      /* a|callable(items, keywords); a is NULL in {% filter %} and {% set %} */
    CHAT_TEST,        /* a is callable(items, keywords); name: the callable's, which may be NULL */
    CHAT_UNARY,       /* operation a */
    CHAT_BINARY,      /* a operation b, AND and OR too */
    CHAT_CONCATENATE, /* items, joined */
    CHAT_COMPARE,     /* a operations[0] items[0] operations[1] items[1] ... */
    CHAT_CONDITION,   /* b if a else c; c may be NULL */
    /* statements */
    CHAT_DATA,         /* value */
    CHAT_OUTPUT,       /* a */
    CHAT_IF,           /* if a: body, else: c (the next CHAT_IF) or otherwise */
    CHAT_FOR,          /* for a in b if c: body, else: otherwise */
    CHAT_SET,          /* a = b */
    CHAT_SET_BLOCK,    /* a = body, through the filters b, which may be NULL */
    CHAT_MACRO_NODE,   /* name(parameters): body */
    CHAT_CALL_BLOCK,   /* a (a CALL), with the macro `caller`(parameters): body */
    CHAT_WITH,         /* items: target, value, target, value, ...: body */
    CHAT_FILTER_BLOCK, /* body through the filters b */
    CHAT_GENERATION,   /* body, in a scope of its own */
    CHAT_BREAK,
    CHAT_CONTINUE,
} chat_node_kind;

typedef struct chat_node chat_node;
typedef struct chat_block {
    chat_node **items;
    uint32_t count, capacity;
} chat_block;

typedef struct chat_keyword {
    const chat_string *name;
    chat_node *value; /* of a parameter: the default, NULL when there is none */
} chat_keyword;

struct chat_node {
    chat_node_kind kind;
    chat_operator operation;
    uint32_t offset;                             /* in the source */
    bool uses_varargs, uses_kwargs, uses_caller; /* of a macro */
    const chat_string *name, *field;
    const struct chat_callable *callable;
    chat_value value;
    chat_node *a, *b, *c, *d;
    chat_block items;
    chat_operator *operations;
    struct {
        chat_keyword *items;
        uint32_t count, capacity;
    } keywords; /* or parameters */
    chat_block body, otherwise;
};

#endif
