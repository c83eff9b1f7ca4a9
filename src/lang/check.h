/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the checker's files share. The checker walks the tree in program order, gives each
 * expression its type, inserts conversions as EXPR_CAST nodes, and folds constants. A function that
 * gives back an expression may give another one than it got. After an error the type is TYPE_ERROR,
 * about which nothing more is said.
 */
#ifndef LS_LANG_CHECK_H
#define LS_LANG_CHECK_H

#include "lang/internal.h"

enum { LANG_F64_POSITIONS = 8 };

typedef struct lang_checker {
    lang_unit *unit;
    lang_context *context;
    lang_function *function; /* whose body is checked, or NULL */
    uint32_t level;          /* of scopes; 0 = file */
    uint32_t loops, switches;
    const lang_symbol *initialised; /* whose initialiser is checked: it has no value yet */
    bool takes_address;             /* the subscript checked next is the operand of & */
    lang_pos f64_positions[LANG_F64_POSITIONS]; /* where f64 arises in this function */
    uint32_t f64_count;
} lang_checker;

/* check.c: scopes and names */
uint32_t ls__lang_scope_enter(lang_checker *c);
void ls__lang_scope_leave(lang_checker *c, uint32_t mark);
/* NULL after a report that the name is taken in this scope. */
lang_symbol *ls__lang_declare(lang_checker *c, lang_name *name, lang_pos pos, lang_symbol_kind kind,
                              lang_type *type);
void ls__lang_report_unknown(lang_checker *c, lang_pos pos, const lang_name *name);

/* check_type.c */
lang_type *ls__lang_resolve_spec(lang_checker *c, lang_spec *spec, bool *is_const);
/* The type of a declarator, its parts from `first` on applied to `type`; of a parameter (with
 * `min_count`) an array is a pointer, to the elements that `[static N]` promises, or 0. */
lang_type *ls__lang_declarator_type(lang_checker *c, const lang_declarator *d, uint32_t first,
                                    lang_type *type, bool *is_const, uint32_t *min_count);
lang_type *ls__lang_type_name(lang_checker *c, lang_spec *spec, const lang_declarator *d);
void ls__lang_no_specifiers(lang_checker *c,
                            const lang_spec *spec); /* where only a type may stand */

/* check_decl.c */
void ls__lang_check_declaration(lang_checker *c, lang_declaration *d);
void ls__lang_check_body(lang_checker *c, lang_function *function,
                         lang_stmt *body); /* check_stmt.c */

/* check_expr.c */
lang_expr *ls__lang_check_expr(lang_checker *c, lang_expr *expr); /* arrays stay arrays */
lang_expr *ls__lang_check_value(lang_checker *c,
                                lang_expr *expr); /* arrays become pointers; void is refused */
lang_expr *ls__lang_check_condition(lang_checker *c, lang_expr *expr);
lang_expr *ls__lang_convert(lang_checker *c, lang_expr *expr,
                            lang_type *type); /* arithmetic types */
/* Conversion as by assignment. */
lang_expr *ls__lang_assign_convert(lang_checker *c, lang_expr *expr, lang_type *type);
/* An integer constant expression; false after a report. */
bool ls__lang_check_constant(lang_checker *c, lang_expr **expr, int64_t *value);

/* check_builtin.c */
lang_expr *ls__lang_check_builtin(lang_checker *c, lang_expr *expr);

/* check_init.c: `type` may be an array of unknown length, and is then completed. */
lang_init *ls__lang_check_init(lang_checker *c, lang_type **type, lang_expr *init);

#endif
