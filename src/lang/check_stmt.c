/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of statements and function bodies. `has_return` on a statement tells lowering whether
 * a return lies inside, which decides how an inlined function leaves its loops.
 */
#include <stdlib.h>

#include "lang/check.h"

static void check_stmt(lang_checker *c, lang_stmt *stmt);

/* A statement in a scope of its own, as the bodies of if and loops are. */
static void check_scoped(lang_checker *c, lang_stmt *stmt, lang_stmt *owner)
{
    if (!stmt)
        return;
    uint32_t mark = ls__lang_scope_enter(c);
    check_stmt(c, stmt);
    ls__lang_scope_leave(c, mark);
    owner->has_return |= stmt->has_return;
}

static void check_stmts(lang_checker *c, lang_stmt **stmts, uint32_t count, lang_stmt *owner)
{
    for (uint32_t i = 0; i < count; i++) {
        check_stmt(c, stmts[i]);
        owner->has_return |= stmts[i]->has_return;
    }
}

static void check_expression_statement(lang_checker *c, lang_stmt *stmt)
{
    stmt->value = ls__lang_check_expr(c, stmt->value);
    const lang_expr *e = stmt->value;
    bool has_effect = e->kind == EXPR_ASSIGN || e->kind == EXPR_STEP || e->kind == EXPR_CALL ||
                      e->kind == EXPR_COMMA || e->kind == EXPR_CHOICE ||
                      (e->kind == EXPR_CAST && e->type->kind == TYPE_VOID) ||
                      (e->kind == EXPR_BINARY && (e->op == TOK_AND_AND || e->op == TOK_OR_OR));
    if (!has_effect && e->type->kind != TYPE_ERROR) {
        ls__lang_report(c->context, e->pos, D_NO_EFFECT);
        if (e->kind == EXPR_BINARY && e->op == TOK_EQUAL)
            ls__lang_hint(c->context, "= assigns, == compares");
    }
}

static void check_return(lang_checker *c, lang_stmt *stmt)
{
    lang_function *f = c->function;
    stmt->has_return = true;
    f->return_count++;
    if (!stmt->value) {
        if (f->result->kind != TYPE_VOID && f->result->kind != TYPE_ERROR) {
            ls__lang_report(c->context, stmt->pos, D_RETURN_VALUE, "this function returns a value");
            ls__lang_hint(c->context, "expected return followed by a value of type %s",
                          ls__lang_type_text(c->context, f->result, false));
        }
        return;
    }
    if (f->result->kind == TYPE_VOID) {
        stmt->value = ls__lang_check_expr(c, stmt->value);
        ls__lang_report(c->context, stmt->value->pos, D_RETURN_VALUE, "this function returns void");
        ls__lang_hint(c->context, "%s",
                      f->is_kernel ? "kernels write results to buffers" : "give it a result type");
        return;
    }
    stmt->value = ls__lang_assign_convert(c, ls__lang_check_value(c, stmt->value), f->result);
}

/* Whether control cannot leave at the end of the statement. */
static bool ends_in_jump(const lang_stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_BREAK:
    case STMT_CONTINUE:
    case STMT_RETURN:
        return true;
    case STMT_BLOCK:
        return stmt->stmts.count > 0 && ends_in_jump(stmt->stmts.items[stmt->stmts.count - 1]);
    case STMT_IF:
        return stmt->other && ends_in_jump(stmt->body) && ends_in_jump(stmt->other);
    default:
        return false;
    }
}

typedef struct case_value {
    int64_t value;
    lang_pos pos;
} case_value;

static int compare_cases(const void *a, const void *b)
{
    const case_value *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->pos.line != y->pos.line ? (x->pos.line < y->pos.line ? -1 : 1)
                                      : (int)x->pos.column - (int)y->pos.column;
}

static void check_labels(lang_checker *c, lang_stmt *stmt)
{
    LS__VEC(case_value) values = {0};
    bool has_default = false;
    for (uint32_t i = 0; i < stmt->groups.count; i++) {
        lang_group *group = &stmt->groups.items[i];
        if (group->has_default && has_default)
            ls__lang_report(c->context, group->pos, D_DEFAULT_TWICE);
        has_default |= group->has_default;
        for (uint32_t k = 0; k < group->values.count; k++) {
            case_value v = {.pos = group->values.items[k]->pos};
            if (!ls__lang_check_constant(c, &group->values.items[k], &v.value))
                continue;
            group->values.items[k] = ls__lang_convert(c, group->values.items[k], stmt->value->type);
            if (stmt->value->type->kind != TYPE_ERROR)
                v.value = ls__lang_constant_value(group->values.items[k]);
            ls__vec_push(&c->context->arena, &values, v);
        }
    }
    if (values.count > 1)
        qsort(values.items, values.count, sizeof *values.items, compare_cases);
    for (uint32_t i = 1; i < values.count; i++) {
        if (values.items[i].value == values.items[i - 1].value)
            ls__lang_report(c->context, values.items[i].pos, D_CASE_TWICE,
                            (long long)values.items[i].value);
    }
}

static void check_switch(lang_checker *c, lang_stmt *stmt)
{
    stmt->value = ls__lang_check_value(c, stmt->value);
    const lang_type *type = stmt->value->type;
    if (type->kind != TYPE_ERROR && !lang_is_integer(type)) {
        ls__lang_report(c->context, stmt->value->pos, D_SWITCH_TYPE,
                        ls__lang_type_text(c->context, type, false));
        stmt->value->type = TY(ERROR);
    } else {
        stmt->value = ls__lang_convert(c, stmt->value, ls__lang_promote(stmt->value->type));
    }
    check_labels(c, stmt);
    c->switches++;
    for (uint32_t i = 0; i < stmt->groups.count; i++) {
        lang_group *group = &stmt->groups.items[i];
        uint32_t mark = ls__lang_scope_enter(c);
        check_stmts(c, group->stmts.items, group->stmts.count, stmt);
        ls__lang_scope_leave(c, mark);
        bool is_last = i + 1 == stmt->groups.count;
        if (!is_last &&
            !(group->stmts.count > 0 && ends_in_jump(group->stmts.items[group->stmts.count - 1])))
            ls__lang_report(c->context, stmt->groups.items[i + 1].pos, D_FALL_THROUGH);
    }
    c->switches--;
}

static void check_loop(lang_checker *c, lang_stmt *stmt)
{
    uint32_t mark = ls__lang_scope_enter(c);
    if (stmt->first)
        check_stmt(c, stmt->first);
    if (stmt->value && stmt->kind != STMT_DO)
        stmt->value = ls__lang_check_condition(c, stmt->value);
    if (stmt->step)
        stmt->step = ls__lang_check_expr(c, stmt->step);
    uint32_t switches = c->switches;
    c->loops++;
    c->switches = 0;
    check_scoped(c, stmt->body, stmt);
    c->switches = switches;
    c->loops--;
    if (stmt->kind == STMT_DO)
        stmt->value = ls__lang_check_condition(c, stmt->value);
    ls__lang_scope_leave(c, mark);
}

static void check_stmt(lang_checker *c, lang_stmt *stmt)
{
    switch ((lang_stmt_kind)stmt->kind) {
    case STMT_EMPTY:
        break;
    case STMT_EXPR:
        check_expression_statement(c, stmt);
        break;
    case STMT_DECL:
        ls__lang_check_declaration(c, stmt->declaration);
        break;
    case STMT_BLOCK: {
        uint32_t mark = ls__lang_scope_enter(c);
        check_stmts(c, stmt->stmts.items, stmt->stmts.count, stmt);
        ls__lang_scope_leave(c, mark);
        break;
    }
    case STMT_IF:
        stmt->value = ls__lang_check_condition(c, stmt->value);
        check_scoped(c, stmt->body, stmt);
        check_scoped(c, stmt->other, stmt);
        break;
    case STMT_FOR:
    case STMT_WHILE:
    case STMT_DO:
        check_loop(c, stmt);
        break;
    case STMT_SWITCH:
        check_switch(c, stmt);
        break;
    case STMT_BREAK:
        if (c->loops == 0 && c->switches == 0)
            ls__lang_report(c->context, stmt->pos, D_OUTSIDE_LOOP, "break", " or switch");
        break;
    case STMT_CONTINUE:
        if (c->loops == 0)
            ls__lang_report(c->context, stmt->pos, D_OUTSIDE_LOOP, "continue", "");
        break;
    case STMT_RETURN:
        check_return(c, stmt);
        break;
    }
}

void ls__lang_check_body(lang_checker *c, lang_function *function, lang_stmt *body)
{
    c->function = function;
    c->f64_count = 0;
    check_stmts(c, body->stmts.items, body->stmts.count, body);
    for (uint32_t i = 0; i < c->f64_count && !function->declares_f64; i++)
        ls__lang_report(c->context, c->f64_positions[i], D_F64_ARISES);
    c->function = NULL;
}
