/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON tokenizer (RFC 8259) over untrusted bytes that come in pieces. It holds one
 * token and the piece it is in, never the document. What it checks is the grammar, nesting of at
 * most LS__JSON_DEPTH, and the length of one token; after the first fault every call answers ERROR.
 *
 *     ls__json_init(&json, read, context);
 *     while (ls__json_next(&json) > LS__JSON_END) ...
 *     ls__json_finish(&json);
 */
#ifndef LS_NETLIST_JSON_H
#define LS_NETLIST_JSON_H

#include "base/str.h"
#include "lockstep/base.h"

enum { LS__JSON_DEPTH = 60 };

typedef enum ls__json_token {
    LS__JSON_ERROR, /* fault says what */
    LS__JSON_END,   /* the document is complete and nothing follows */
    LS__JSON_OBJECT,
    LS__JSON_OBJECT_END,
    LS__JSON_ARRAY,
    LS__JSON_ARRAY_END,
    LS__JSON_KEY,     /* text; its value follows */
    LS__JSON_TEXT,    /* text */
    LS__JSON_INTEGER, /* number; text is how it is written */
    LS__JSON_REAL,    /* any other number, and integers beyond 64 bits: text */
    LS__JSON_TRUE,
    LS__JSON_FALSE,
    LS__JSON_NULL
} ls__json_token;

/* Fills at most `capacity` bytes and sets *size, 0 at the end. A failure is passed on as it is. */
typedef ls_status (*ls__json_source)(void *context, void *bytes, size_t capacity, size_t *size,
                                     ls_error *error);

typedef struct ls__json {
    ls__json_source source;
    void *context;
    char *buffer;    /* ends in zeros at `end` */
    size_t capacity; /* without them */
    size_t start, at, end;
    uint64_t base;   /* offset of buffer[0] in the document */
    uint64_t line;   /* of `at`, from 1 */
    uint64_t arrays; /* bit i: the container at depth i + 1 is an array */
    uint32_t depth, state;
    bool at_end; /* the source has no more */

    ls__json_token token;
    ls__str text;   /* valid until the next call; escapes are decoded; may hold zeros */
    int64_t number; /* of INTEGER */

    const char *fault;   /* static text; NULL = none, or the source failed or memory ran out */
    ls_status status;    /* LS_E_FORMAT, LS_E_LIMIT, LS_E_OUT_OF_MEMORY or the source's */
    ls_error error;      /* of the source */
    uint64_t fault_base; /* offset of the fault */
} ls__json;

void ls__json_init(ls__json *json, ls__json_source source, void *context);
void ls__json_finish(ls__json *json); /* safe on a zeroed object, and twice */
ls__json_token ls__json_next(ls__json *json);
uint64_t ls__json_offset(const ls__json *json); /* of the current token */

#endif
