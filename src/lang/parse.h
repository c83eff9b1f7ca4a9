/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parser's files share: the token stream with its panic mode, and the entry of each part
 * of the grammar.
 *
 * Panic mode: after a syntax error nothing more is reported until the parser has skipped to a place
 * where a statement or declaration may begin. Parse functions always give a node, so callers need
 * no tests.
 */
#ifndef LS_LANG_PARSE_H
#define LS_LANG_PARSE_H

#include "lang/internal.h"

typedef struct lang_type_undo {
    lang_name *name;
    bool was_type, was_declared;
} lang_type_undo;

typedef struct lang_parser {
    lang_unit *unit;
    lang_context *context;
    uint32_t at;    /* index of the current token; the last is TOK_END */
    uint32_t depth; /* of nested constructs */
    bool panic;
    LS__VEC(lang_type_undo) undo; /* names whose meaning as a type ends with the scope */
} lang_parser;

/* parse.c */
const lang_token *ls__lang_peek(const lang_parser *p, uint32_t ahead);
bool ls__lang_at(const lang_parser *p, lang_token_kind kind);
bool ls__lang_accept(lang_parser *p, lang_token_kind kind);
bool ls__lang_expect(lang_parser *p,
                     lang_token_kind kind); /* reports and panics when it is not there */
void ls__lang_expected(lang_parser *p,
                       const char *what); /* "expected WHAT before TOKEN", and panics */
void ls__lang_panic(lang_parser *p, lang_pos pos, lang_diag_id id, const char *argument);
const char *ls__lang_describe(const lang_parser *p,
                              const lang_token *token); /* "'+'", "the name 'x'" */
void ls__lang_enter(lang_parser *p); /* one level deeper; leave with p->depth-- */

/* parse_decl.c */
bool ls__lang_starts_type(const lang_parser *p, uint32_t ahead);
lang_spec *ls__lang_parse_spec(lang_parser *p);
lang_declarator *ls__lang_parse_declarator(lang_parser *p);
lang_spec *ls__lang_parse_type_name(lang_parser *p, lang_declarator **declarator);
void ls__lang_declare_name(lang_parser *p, lang_name *name, bool is_type);

/* parse_expr.c */
lang_expr *ls__lang_parse_expr(lang_parser *p);        /* with commas */
lang_expr *ls__lang_parse_conditional(lang_parser *p); /* without assignment: constants */
lang_expr *ls__lang_parse_initializer(lang_parser *p); /* expression or list in braces */

#endif
