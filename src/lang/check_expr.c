/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of expressions: C11's rules for types, conversions and lvalues, without those Kernel
 * C leaves out.
 */
#include "lang/check.h"

static lang_expr *failed(lang_expr *expr)
{
    expr->type = TY(ERROR);
    expr->is_constant = expr->is_integer_constant = false;
    return expr;
}

static bool is_error(const lang_expr *expr)
{
    return expr->type->kind == TYPE_ERROR;
}

static const char *text_of(lang_checker *c, const lang_expr *expr)
{
    return ls__lang_type_text(c->context, expr->type, expr->is_lvalue && expr->is_const);
}

static const char *operator_text(uint8_t op)
{
    return ls__lang_token_text((lang_token_kind)op);
}

static void f64_arises(lang_checker *c, const lang_expr *expr)
{
    if (c->function && expr->type->kind == TYPE_F64 && c->f64_count < LANG_F64_POSITIONS)
        c->f64_positions[c->f64_count++] = expr->pos;
}

/* The variable an lvalue is part of, not through a pointer; or NULL. */
static lang_symbol *root(const lang_expr *expr)
{
    while (expr->kind == EXPR_MEMBER ||
           (expr->kind == EXPR_INDEX && expr->a->type->kind == TYPE_ARRAY))
        expr = expr->a;
    return expr->kind == EXPR_VAR ? expr->symbol : NULL;
}

/* --- conversions ---------------------------------------------------------------------- */
lang_expr *ls__lang_convert(lang_checker *c, lang_expr *expr, lang_type *type)
{
    if (is_error(expr) || type->kind == TYPE_ERROR || expr->type->kind == type->kind)
        return expr;
    lang_expr *cast = LS__NEW(&c->context->arena, lang_expr);
    *cast = (lang_expr){
        .kind = EXPR_CAST,
        .pos = expr->pos,
        .a = expr,
        .type = type,
        .builtin = -1,
        .depth = expr->depth}; /* implicit ones do not count as nesting: at most one a node */
    ls__lang_fold(cast);
    cast->is_integer_constant =
        cast->is_constant && expr->is_integer_constant && lang_is_integer(type);
    return cast;
}

static lang_expr *decay(lang_checker *c, lang_expr *expr)
{
    if (expr->type->kind != TYPE_ARRAY)
        return expr;
    lang_expr *pointer = LS__NEW(&c->context->arena, lang_expr);
    *pointer = (lang_expr){
        .kind = EXPR_DECAY, .pos = expr->pos, .a = expr, .builtin = -1, .depth = expr->depth};
    pointer->type = ls__lang_pointer_to(c->context, expr->type->target, expr->is_const);
    return pointer;
}

lang_expr *ls__lang_check_value(lang_checker *c, lang_expr *expr)
{
    expr = ls__lang_check_expr(c, expr);
    if (expr->type->kind == TYPE_VOID) {
        ls__lang_report(c->context, expr->pos, D_VOID_VALUE);
        return failed(expr);
    }
    return decay(c, expr);
}

lang_expr *ls__lang_check_condition(lang_checker *c, lang_expr *expr)
{
    expr = ls__lang_check_value(c, expr);
    if (!is_error(expr) && !lang_is_arithmetic(expr->type)) {
        ls__lang_report(c->context, expr->pos, D_CONDITION, text_of(c, expr));
        return failed(expr);
    }
    return expr;
}

lang_expr *ls__lang_assign_convert(lang_checker *c, lang_expr *expr, lang_type *type)
{
    if (is_error(expr) || type->kind == TYPE_ERROR)
        return expr;
    if (lang_is_arithmetic(expr->type) && lang_is_arithmetic(type))
        return ls__lang_convert(c, expr, type);
    if (expr->type->kind == TYPE_POINTER && type->kind == TYPE_POINTER &&
        ls__lang_type_equal(expr->type->target, type->target)) {
        if (expr->type->target_const && !type->target_const)
            ls__lang_report(c->context, expr->pos, D_DISCARDS_CONST);
        return expr;
    }
    if (type->kind == TYPE_STRUCT && type == expr->type)
        return expr;
    const char *from = ls__lang_type_text(c->context, expr->type, false);
    ls__lang_report(c->context, expr->pos, D_CONVERT, from,
                    ls__lang_type_text(c->context, type, false));
    if (type == &ls__lang_type_f16 || type == &ls__lang_type_bf16)
        ls__lang_hint(c->context, "use f32_to_%s(x)", type->name);
    else if (expr->type == &ls__lang_type_f16 || expr->type == &ls__lang_type_bf16)
        ls__lang_hint(c->context, "use %s_to_f32(h)", expr->type->name);
    else if (expr->type->kind == TYPE_POINTER && lang_is_arithmetic(type))
        ls__lang_hint(c->context, "read an element: p[i] or *p");
    return failed(expr);
}

bool ls__lang_check_constant(lang_checker *c, lang_expr **expr, int64_t *value)
{
    *expr = ls__lang_check_value(c, *expr);
    if (is_error(*expr))
        return false;
    if (!(*expr)->is_integer_constant || !(*expr)->is_constant) {
        ls__lang_report(c->context, (*expr)->pos, D_NOT_CONSTANT);
        return false;
    }
    *value = ls__lang_constant_value(*expr);
    return true;
}

/* --- names ---------------------------------------------------------------------------- */
static lang_expr *check_name(lang_checker *c, lang_expr *expr)
{
    lang_symbol *symbol = expr->name->symbol;
    if (!symbol && expr->name->builtin >= 0) {
        ls__lang_report(c->context, expr->pos, D_FUNCTION_VALUE);
        return failed(expr);
    }
    if (!symbol) {
        ls__lang_report_unknown(c, expr->pos, expr->name);
        return failed(expr);
    }
    switch (symbol->kind) {
    case SYM_CONST:
        expr->kind = EXPR_CONST;
        expr->type = symbol->type;
        expr->bits = symbol->bits;
        expr->is_constant = expr->is_integer_constant = true;
        return expr;
    case SYM_VAR:
        if (symbol == c->initialised) {
            ls__lang_report(c->context, expr->pos, D_SELF_INIT, LS__STR_ARG(expr->name->text));
            return failed(expr);
        }
        expr->kind = EXPR_VAR;
        expr->symbol = symbol;
        expr->type = symbol->type;
        expr->is_lvalue = true;
        expr->is_const = symbol->is_const;
        f64_arises(c, expr);
        return expr;
    case SYM_FUNCTION:
        ls__lang_report(c->context, expr->pos, D_FUNCTION_VALUE);
        return failed(expr);
    default:
        ls__lang_report(c->context, expr->pos, D_EXPECTED_EXPRESSION, "a type");
        return failed(expr);
    }
}

/* --- unary ---------------------------------------------------------------------------- */
static lang_expr *bad_operand(lang_checker *c, lang_expr *expr, const lang_expr *operand)
{
    if (!is_error(operand)) {
        ls__lang_report(c->context, expr->pos, D_OPERANDS, operator_text(expr->op),
                        text_of(c, operand));
        if (operand->type == &ls__lang_type_f16 || operand->type == &ls__lang_type_bf16)
            ls__lang_hint(c->context, "%s has no operators: convert with %s_to_f32(x)",
                          operand->type->name, operand->type->name);
    }
    return failed(expr);
}

static lang_expr *check_address(lang_checker *c, lang_expr *expr)
{
    c->takes_address = expr->a->kind == EXPR_INDEX;
    lang_expr *a = expr->a = ls__lang_check_expr(c, expr->a);
    if (is_error(a))
        return failed(expr);
    if (!a->is_lvalue) {
        ls__lang_report(c->context, expr->pos, D_ADDRESS);
        return failed(expr);
    }
    if (a->type->kind == TYPE_POINTER) {
        ls__lang_report(c->context, expr->pos, D_POINTER_IN_MEMORY);
        return failed(expr);
    }
    lang_symbol *symbol = root(a);
    if (symbol)
        symbol->is_address_taken = symbol->is_assigned = true;
    expr->type = ls__lang_pointer_to(c->context, a->type, a->is_const);
    return expr;
}

static lang_expr *check_unary(lang_checker *c, lang_expr *expr)
{
    if (expr->op == TOK_AND)
        return check_address(c, expr);
    lang_expr *a = expr->a = expr->op == TOK_NOT ? ls__lang_check_condition(c, expr->a)
                                                 : ls__lang_check_value(c, expr->a);
    if (is_error(a))
        return failed(expr);
    if (expr->op == TOK_STAR) {
        if (a->type->kind != TYPE_POINTER)
            return bad_operand(c, expr, a);
        expr->type = a->type->target;
        expr->is_lvalue = true;
        expr->is_const = a->type->target_const;
        return expr;
    }
    if (expr->op == TOK_NOT) {
        expr->type = TY(I32);
    } else {
        if (!lang_is_arithmetic(a->type) || (expr->op == TOK_TILDE && !lang_is_integer(a->type)))
            return bad_operand(c, expr, a);
        expr->a = a = ls__lang_convert(c, a, ls__lang_promote(a->type));
        expr->type = a->type;
    }
    ls__lang_fold(expr);
    expr->is_integer_constant = expr->is_constant && a->is_integer_constant;
    return expr;
}

/* --- assignment ----------------------------------------------------------------------- */
/* False after a report. Marks the variable as assigned. */
static bool check_target(lang_checker *c, const lang_expr *target, lang_pos pos)
{
    if (is_error(target))
        return false;
    if (!target->is_lvalue || target->type->kind == TYPE_ARRAY) {
        ls__lang_report(c->context, pos, D_NOT_LVALUE);
        if (target->type->kind == TYPE_ARRAY)
            ls__lang_hint(c->context,
                          "arrays are not assigned as a whole: copy the elements in a loop");
        return false;
    }
    if (target->is_const || (target->type->kind == TYPE_STRUCT && target->type->has_const_member)) {
        ls__lang_report(c->context, pos, D_ASSIGN_CONST);
        return false;
    }
    lang_symbol *symbol = root(target);
    if (symbol)
        symbol->is_assigned = true;
    return true;
}

static bool integers_only(uint8_t op)
{
    return op == TOK_PERCENT || op == TOK_AND || op == TOK_OR || op == TOK_XOR || op == TOK_SHL ||
           op == TOK_SHR;
}

static void warn_division(lang_checker *c, uint8_t op, const lang_expr *b, lang_pos pos)
{
    bool is_division = op == TOK_SLASH || op == TOK_PERCENT;
    if (is_division && b->is_constant && lang_is_integer(b->type) &&
        ls__lang_constant_value(b) == 0)
        ls__lang_report(c->context, pos, D_INTEGER_DIVIDE);
}

static lang_expr *check_assign(lang_checker *c, lang_expr *expr)
{
    lang_expr *a = expr->a = ls__lang_check_expr(c, expr->a);
    lang_expr *b = expr->b = ls__lang_check_value(c, expr->b);
    bool is_good = check_target(c, a, expr->pos);
    if (!is_good || is_error(b))
        return failed(expr);
    expr->type = a->type;
    if (expr->op == TOK_ASSIGN) {
        expr->b = ls__lang_assign_convert(c, b, a->type);
        return is_error(expr->b) ? failed(expr) : expr;
    }
    uint8_t op = ls__lang_plain_operator(expr->op);
    bool is_sum = op == TOK_PLUS || op == TOK_MINUS;
    if (a->type->kind == TYPE_POINTER && is_sum && lang_is_integer(b->type))
        return expr;
    if (!lang_is_arithmetic(a->type) || !lang_is_arithmetic(b->type) ||
        (integers_only(op) && (!lang_is_integer(a->type) || !lang_is_integer(b->type)))) {
        ls__lang_report(c->context, expr->pos, D_OPERANDS2, operator_text(expr->op), text_of(c, a),
                        text_of(c, b));
        return failed(expr);
    }
    bool is_shift = op == TOK_SHL || op == TOK_SHR;
    expr->convert = is_shift ? ls__lang_promote(a->type) : ls__lang_common(a->type, b->type);
    expr->b = ls__lang_convert(c, b, is_shift ? ls__lang_promote(b->type) : expr->convert);
    warn_division(c, op, expr->b, expr->pos);
    return expr;
}

static lang_expr *check_step(lang_checker *c, lang_expr *expr)
{
    lang_expr *a = expr->a = ls__lang_check_expr(c, expr->a);
    if (!check_target(c, a, expr->pos))
        return failed(expr);
    if (a->type->kind != TYPE_POINTER && !lang_is_arithmetic(a->type))
        return bad_operand(c, expr, a);
    expr->type = a->type;
    expr->convert = lang_is_arithmetic(a->type) ? ls__lang_common(a->type, TY(I32)) : a->type;
    return expr;
}

/* --- binary --------------------------------------------------------------------------- */
static bool is_comparison(uint8_t op)
{
    return op == TOK_EQUAL || op == TOK_NOT_EQUAL || op == TOK_LESS || op == TOK_LESS_EQUAL ||
           op == TOK_GREATER || op == TOK_GREATER_EQUAL;
}

/* Sums, differences and comparisons of pointers; false when the operands do not fit. */
static bool check_pointers(lang_expr *expr)
{
    const lang_type *a = expr->a->type, *b = expr->b->type;
    bool both = a->kind == TYPE_POINTER && b->kind == TYPE_POINTER &&
                ls__lang_type_equal(a->target, b->target);
    if (expr->op == TOK_PLUS && lang_is_integer(a) && b->kind == TYPE_POINTER) {
        lang_expr *pointer = expr->b;
        expr->b = expr->a;
        expr->a = pointer;
        expr->type = pointer->type;
        return true;
    }
    if ((expr->op == TOK_PLUS || expr->op == TOK_MINUS) && a->kind == TYPE_POINTER &&
        lang_is_integer(b)) {
        expr->type = expr->a->type;
        return true;
    }
    if (both && expr->op == TOK_MINUS)
        expr->type = TY(I64);
    else if (both && is_comparison(expr->op))
        expr->type = TY(I32);
    else
        return false;
    return true;
}

static lang_expr *check_binary(lang_checker *c, lang_expr *expr)
{
    bool is_logical = expr->op == TOK_AND_AND || expr->op == TOK_OR_OR;
    lang_expr *a = expr->a =
        is_logical ? ls__lang_check_condition(c, expr->a) : ls__lang_check_value(c, expr->a);
    lang_expr *b = expr->b =
        is_logical ? ls__lang_check_condition(c, expr->b) : ls__lang_check_value(c, expr->b);
    if (is_error(a) || is_error(b))
        return failed(expr);
    bool is_integer_constant = a->is_integer_constant && b->is_integer_constant;
    if (is_logical) {
        expr->type = TY(I32);
    } else if (a->type->kind == TYPE_POINTER || b->type->kind == TYPE_POINTER) {
        if (!check_pointers(expr)) {
            ls__lang_report(c->context, expr->pos, D_OPERANDS2, operator_text(expr->op),
                            text_of(c, a), text_of(c, b));
            return failed(expr);
        }
        return expr;
    } else if (!lang_is_arithmetic(a->type) || !lang_is_arithmetic(b->type) ||
               (integers_only(expr->op) &&
                (!lang_is_integer(a->type) || !lang_is_integer(b->type)))) {
        if (!lang_is_arithmetic(a->type) && a->type->kind == TYPE_STRUCT)
            return bad_operand(c, expr, a);
        ls__lang_report(c->context, expr->pos, D_OPERANDS2, operator_text(expr->op), text_of(c, a),
                        text_of(c, b));
        if (expr->op == TOK_PERCENT)
            ls__lang_hint(c->context, "for floats write x - y * trunc(x / y)");
        return failed(expr);
    } else if (expr->op == TOK_SHL || expr->op == TOK_SHR) {
        expr->a = ls__lang_convert(c, a, ls__lang_promote(a->type));
        expr->b = ls__lang_convert(c, b, ls__lang_promote(b->type));
        expr->type = expr->a->type;
    } else {
        lang_type *common = ls__lang_common(a->type, b->type);
        expr->a = ls__lang_convert(c, a, common);
        expr->b = ls__lang_convert(c, b, common);
        expr->type = is_comparison(expr->op) ? TY(I32) : common;
        warn_division(c, expr->op, expr->b, expr->pos);
    }
    ls__lang_fold(expr);
    expr->is_integer_constant = expr->is_constant && is_integer_constant;
    return expr;
}

static lang_expr *check_choice(lang_checker *c, lang_expr *expr)
{
    expr->a = ls__lang_check_condition(c, expr->a);
    lang_expr *b = expr->b = decay(c, ls__lang_check_expr(c, expr->b));
    lang_expr *n = expr->c = decay(c, ls__lang_check_expr(c, expr->c));
    if (is_error(expr->a) || is_error(b) || is_error(n))
        return failed(expr);
    bool is_integer_constant =
        expr->a->is_integer_constant && b->is_integer_constant && n->is_integer_constant;
    if (lang_is_arithmetic(b->type) && lang_is_arithmetic(n->type)) {
        lang_type *common = ls__lang_common(b->type, n->type);
        expr->b = ls__lang_convert(c, b, common);
        expr->c = ls__lang_convert(c, n, common);
        expr->type = common;
    } else if (b->type->kind == TYPE_POINTER && n->type->kind == TYPE_POINTER &&
               ls__lang_type_equal(b->type->target, n->type->target)) {
        expr->type = b->type->target_const ? b->type : n->type;
    } else if (b->type == n->type && (b->type->kind == TYPE_STRUCT || b->type->kind == TYPE_VOID)) {
        expr->type = b->type;
    } else {
        ls__lang_report(c->context, expr->pos, D_CHOICE_TYPES, text_of(c, b), text_of(c, n));
        return failed(expr);
    }
    ls__lang_fold(expr);
    expr->is_integer_constant = expr->is_constant && is_integer_constant;
    return expr;
}

/* --- postfix -------------------------------------------------------------------------- */
static lang_expr *check_index(lang_checker *c, lang_expr *expr)
{
    bool takes_address = c->takes_address;
    c->takes_address = false;
    lang_expr *a = expr->a = ls__lang_check_expr(c, expr->a);
    lang_expr *b = expr->b = ls__lang_check_value(c, expr->b);
    if (is_error(a) || is_error(b))
        return failed(expr);
    if (a->type->kind != TYPE_ARRAY && a->type->kind != TYPE_POINTER) {
        ls__lang_report(c->context, expr->pos, D_NOT_INDEXABLE, text_of(c, a));
        return failed(expr);
    }
    if (!lang_is_integer(b->type)) {
        ls__lang_report(c->context, b->pos, D_INDEX_TYPE, text_of(c, b));
        return failed(expr);
    }
    expr->b = ls__lang_convert(c, b, ls__lang_promote(b->type));
    expr->type = a->type->target;
    expr->is_lvalue = a->type->kind == TYPE_POINTER || a->is_lvalue;
    expr->is_const = a->type->kind == TYPE_POINTER ? a->type->target_const : a->is_const;
    if (a->type->kind == TYPE_ARRAY && expr->b->is_constant) {
        int64_t index = ls__lang_constant_value(expr->b);
        if (index < 0 ||
            index >= (int64_t)a->type->count + takes_address) /* &a[count] is the end */
            ls__lang_report(c->context, expr->b->pos, D_SUBSCRIPT_RANGE, (long long)index,
                            a->type->count);
    }
    return expr;
}

static lang_expr *check_member(lang_checker *c, lang_expr *expr)
{
    lang_expr *a = ls__lang_check_expr(c, expr->a);
    if (expr->is_arrow && !is_error(a)) {
        a = decay(c, a);
        if (a->type->kind != TYPE_POINTER) {
            ls__lang_report(c->context, expr->pos, D_NOT_STRUCT, text_of(c, a));
            ls__lang_hint(c->context,
                          "-> follows a pointer to a struct; use . for a struct itself");
            return failed(expr);
        }
        lang_expr *target = LS__NEW(&c->context->arena, lang_expr);
        *target = (lang_expr){.kind = EXPR_UNARY,
                              .op = TOK_STAR,
                              .pos = a->pos,
                              .a = a,
                              .type = a->type->target,
                              .is_lvalue = true,
                              .is_const = a->type->target_const,
                              .builtin = -1,
                              .depth = a->depth};
        a = target;
        expr->is_arrow = false;
    }
    expr->a = a;
    if (is_error(a))
        return failed(expr);
    if (a->type->kind == TYPE_POINTER) {
        ls__lang_report(c->context, expr->pos, D_USE_ARROW, text_of(c, a));
        return failed(expr);
    }
    if (a->type->kind != TYPE_STRUCT || !a->type->is_complete) {
        ls__lang_report(c->context, expr->pos, D_NOT_STRUCT, text_of(c, a));
        return failed(expr);
    }
    expr->member = ls__lang_member_find(a->type, expr->name);
    if (!expr->member) {
        const char *type = ls__lang_type_text(c->context, a->type, false);
        ls__lang_report(c->context, expr->pos, D_NO_MEMBER, type, LS__STR_ARG(expr->name->text));
        return failed(expr);
    }
    expr->type = expr->member->type;
    expr->is_lvalue = a->is_lvalue;
    expr->is_const = a->is_const || expr->member->is_const;
    return expr;
}

static lang_expr *check_call(lang_checker *c, lang_expr *expr)
{
    ls__str name = expr->name->text;
    if (expr->name->builtin >= 0)
        return ls__lang_check_builtin(c, expr);
    for (uint32_t i = 0; i < expr->arg_count; i++)
        expr->args[i] = ls__lang_check_value(c, expr->args[i]);
    lang_symbol *symbol = expr->name->symbol;
    if (!symbol) {
        ls__lang_report_unknown(c, expr->pos, expr->name);
        return failed(expr);
    }
    if (symbol->kind != SYM_FUNCTION) {
        ls__lang_report(c->context, expr->pos, D_NOT_FUNCTION, LS__STR_ARG(name));
        return failed(expr);
    }
    lang_function *f = expr->function = symbol->function;
    if (f->is_kernel) {
        ls__lang_report(c->context, expr->pos, D_CALL_KERNEL);
        return failed(expr);
    }
    if (f->params.count != expr->arg_count) {
        ls__lang_report(c->context, expr->pos, D_ARG_COUNT, LS__STR_ARG(name), f->params.count,
                        f->params.count == 1 ? "" : "s", expr->arg_count);
        return failed(expr);
    }
    for (uint32_t i = 0; i < expr->arg_count; i++)
        expr->args[i] = ls__lang_assign_convert(c, expr->args[i], f->params.items[i]->type);
    if (c->function) {
        lang_call call = {f, expr->pos};
        ls__vec_push(&c->context->arena, &c->function->calls, call);
    }
    expr->type = f->result;
    f64_arises(c, expr);
    return expr;
}

/* --- the rest ------------------------------------------------------------------------- */
static lang_expr *check_cast(lang_checker *c, lang_expr *expr)
{
    lang_type *type = ls__lang_type_name(c, expr->spec, expr->declarator);
    lang_expr *a = expr->a = decay(c, ls__lang_check_expr(c, expr->a));
    expr->type = type;
    if (is_error(a) || type->kind == TYPE_ERROR)
        return failed(expr);
    if (type->kind == TYPE_VOID)
        return expr;
    if (a->type->kind == TYPE_VOID) {
        ls__lang_report(c->context, a->pos, D_VOID_VALUE);
        return failed(expr);
    }
    if (type->kind == TYPE_POINTER && a->type->kind == TYPE_POINTER) {
        if (ls__lang_type_equal(type->target, a->type->target) &&
            (type->target_const || !a->type->target_const))
            return expr;
        ls__lang_report(c->context, expr->pos, D_POINTER_CAST, text_of(c, a),
                        ls__lang_type_text(c->context, type, false));
        return failed(expr);
    }
    if (!lang_is_arithmetic(type) || !lang_is_arithmetic(a->type)) {
        lang_pos pos = expr->pos;
        ls__lang_report(c->context, pos, D_CONVERT, text_of(c, a),
                        ls__lang_type_text(c->context, type, false));
        return failed(expr);
    }
    ls__lang_fold(expr);
    /* C lets a float literal stand directly under the cast. */
    bool is_float_literal = a->kind == EXPR_CONST && lang_is_float(a->type);
    expr->is_integer_constant =
        expr->is_constant && lang_is_integer(type) && (a->is_integer_constant || is_float_literal);
    if (expr->type->kind == a->type->kind && a->is_constant) {
        expr->is_constant = true;
        expr->bits = a->bits;
    }
    return expr;
}

static lang_expr *check_sizeof(lang_checker *c, lang_expr *expr)
{
    lang_type *type;
    if (expr->spec) {
        type = ls__lang_type_name(c, expr->spec, expr->declarator);
    } else {
        /* The operand is not evaluated: no f64 arises, and a variable may name itself in its
         * initialiser. */
        uint32_t f64_count = c->f64_count;
        const lang_symbol *initialised = c->initialised;
        c->initialised = NULL;
        expr->a = ls__lang_check_expr(c, expr->a);
        c->initialised = initialised;
        c->f64_count = f64_count;
        type = expr->a->type;
    }
    if (type->kind == TYPE_ERROR)
        return failed(expr);
    if (!type->is_complete) {
        ls__lang_report(c->context, expr->pos, D_SIZEOF_TYPE,
                        ls__lang_type_text(c->context, type, false));
        return failed(expr);
    }
    expr->kind = EXPR_CONST;
    expr->a = NULL;
    expr->bits = type->size;
    expr->type = TY(U64);
    expr->is_constant = expr->is_integer_constant = true;
    return expr;
}

static lang_expr *check_compound(lang_checker *c, lang_expr *expr)
{
    lang_type *type = ls__lang_type_name(c, expr->spec, expr->declarator);
    if (type->kind == TYPE_ERROR)
        return failed(expr);
    if (type->kind != TYPE_STRUCT && !lang_is_arithmetic(type)) {
        ls__lang_report(c->context, expr->pos, D_INIT_BRACES,
                        ls__lang_type_text(c->context, type, false));
        ls__lang_hint(c->context, "declare a variable and initialise that");
        return failed(expr);
    }
    if (!type->is_complete) {
        ls__lang_report(c->context, expr->pos, D_INCOMPLETE_TYPE,
                        ls__lang_type_text(c->context, type, false));
        return failed(expr);
    }
    expr->init = ls__lang_check_init(c, &type, expr->a);
    expr->type = type;
    return expr;
}

lang_expr *ls__lang_check_expr(lang_checker *c, lang_expr *expr)
{
    switch ((lang_expr_kind)expr->kind) {
    case EXPR_NAME:
        return check_name(c, expr);
    case EXPR_CONST:
        f64_arises(c, expr);
        return expr;
    case EXPR_VAR:
    case EXPR_DECAY:
        return expr;
    case EXPR_UNARY:
        return check_unary(c, expr);
    case EXPR_STEP:
        return check_step(c, expr);
    case EXPR_BINARY:
        return check_binary(c, expr);
    case EXPR_ASSIGN:
        return check_assign(c, expr);
    case EXPR_CHOICE:
        return check_choice(c, expr);
    case EXPR_COMMA:
        expr->a = ls__lang_check_expr(c, expr->a);
        expr->b = decay(c, ls__lang_check_expr(c, expr->b));
        expr->type = expr->b->type;
        return expr;
    case EXPR_CALL:
        return check_call(c, expr);
    case EXPR_INDEX:
        return check_index(c, expr);
    case EXPR_MEMBER:
        return check_member(c, expr);
    case EXPR_CAST:
        return check_cast(c, expr);
    case EXPR_SIZEOF:
        return check_sizeof(c, expr);
    case EXPR_COMPOUND:
        return check_compound(c, expr);
    case EXPR_LIST:
        ls__lang_report(c->context, expr->pos, D_EXPECTED_EXPRESSION, "'{'");
        return failed(expr);
    }
    return failed(expr);
}
