/* SPDX-License-Identifier: Apache-2.0 */
/* Between verify.c (modules, functions, structure) and verify_op.c (single instructions). */
#ifndef LS_IR_VERIFY_H
#define LS_IR_VERIFY_H

#include "ir/ir.h"

typedef enum ls__ir_rule {
#define LS_IR_RULE(number, name, text) LS__IR_RULE_##name,
#include "ir/rules.def"
#undef LS_IR_RULE
    LS__IR_RULE_COUNT
} ls__ir_rule;

typedef struct ls__ir_verifier {
    const ls__ir_module *module;
    const ls__ir_function *function; /* under test, or NULL */
    const ls__ir_inst *inst;         /* under test, or NULL */
    ls_error *error;
    ls__arena scratch;
    uint8_t *visible;     /* by value id: made in this or an enclosing region, before this point */
    bool has_cooperation; /* the function has instructions that need uniform control flow */
} ls__ir_verifier;

/* Reports a violation at v->function, v->inst; returns false. */
bool ls__ir_violates(ls__ir_verifier *v, ls__ir_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Everything about one instruction but its place and regions. */
bool ls__ir_verify_op(ls__ir_verifier *v, const ls__ir_inst *inst);

#endif
