/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of calls of built-in functions: argument types by the kind in builtins.def.
 */
#include "lang/check.h"

/* Types of the FIXED kind: parameters and result. */
typedef struct fixed {
    lang_builtin id;
    lang_type *params[3];
    lang_type *result;
} fixed;
static const fixed fixed_types[] = {
    {FN_F32_BITS, {TY(F32)}, TY(U32)},
    {FN_F32_FROM_BITS, {TY(U32)}, TY(F32)},
    {FN_F64_BITS, {TY(F64)}, TY(U64)},
    {FN_F64_FROM_BITS, {TY(U64)}, TY(F64)},
    {FN_F16_TO_F32, {&ls__lang_type_f16}, TY(F32)},
    {FN_F32_TO_F16, {TY(F32)}, &ls__lang_type_f16},
    {FN_BF16_TO_F32, {&ls__lang_type_bf16}, TY(F32)},
    {FN_F32_TO_BF16, {TY(F32)}, &ls__lang_type_bf16},
    {FN_DOT4, {TY(U32), TY(U32), TY(I32)}, TY(I32)},
    {FN_DOT4_US, {TY(U32), TY(U32), TY(I32)}, TY(I32)},
    {FN_BARRIER, {NULL}, TY(VOID)},
    {FN_GRID_BARRIER, {NULL}, TY(VOID)},
    {FN_SUBGROUP_BALLOT, {TY(BOOL)}, TY(U32)},
    {FN_TRAP, {TY(U32)}, TY(VOID)},
};

static lang_expr *failed(lang_expr *expr)
{
    expr->type = TY(ERROR);
    return expr;
}

static bool wrong_argument(lang_checker *c, const lang_expr *expr, uint32_t index,
                           const char *wanted)
{
    const lang_expr *arg = expr->args[index];
    ls__lang_report(c->context, arg->pos, D_ARG_TYPE, index + 1,
                    ls__lang_builtins[expr->builtin].name, wanted,
                    ls__lang_type_text(c->context, arg->type, false));
    return false;
}

/* Promotes argument `index` when it is an integer. */
static void promote(lang_checker *c, lang_expr *expr, uint32_t index)
{
    lang_expr *arg = expr->args[index];
    expr->args[index] = ls__lang_convert(c, arg, ls__lang_promote(arg->type));
}

static bool all_integers(lang_checker *c, lang_expr *expr, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!lang_is_integer(expr->args[i]->type)) {
            wrong_argument(c, expr, i, "an integer");
            if (lang_is_float(expr->args[i]->type) &&
                (expr->builtin == FN_MIN || expr->builtin == FN_MAX))
                ls__lang_hint(c->context, "use f%s for floats",
                              ls__lang_builtins[expr->builtin].name);
            else if (lang_is_float(expr->args[i]->type) && expr->builtin == FN_ABS)
                ls__lang_hint(c->context, "use fabs for floats");
            return false;
        }
        promote(c, expr, i);
    }
    return true;
}

static bool all_floats(lang_checker *c, const lang_expr *expr, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!lang_is_float(expr->args[i]->type)) {
            wrong_argument(c, expr, i, "f32 or f64");
            if (lang_is_integer(expr->args[i]->type))
                ls__lang_hint(c->context,
                              "cast it, as in (f32)x, or write a float literal such as 1.0f");
            return false;
        }
    }
    return true;
}

static bool same_types(lang_checker *c, const lang_expr *expr, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (expr->args[i]->type->kind != expr->args[0]->type->kind) {
            const char *first = ls__lang_type_text(c->context, expr->args[0]->type, false);
            ls__lang_report(c->context, expr->args[i]->pos, D_SAME_TYPE,
                            ls__lang_builtins[expr->builtin].name, first,
                            ls__lang_type_text(c->context, expr->args[i]->type, false));
            ls__lang_hint(c->context, "cast one of them, as in (%s)x", first);
            return false;
        }
    }
    return true;
}

static lang_expr *check_fixed(lang_checker *c, lang_expr *expr)
{
    for (size_t i = 0; i < sizeof fixed_types / sizeof fixed_types[0]; i++) {
        const fixed *f = &fixed_types[i];
        if ((int)f->id != expr->builtin)
            continue;
        for (uint32_t k = 0; k < expr->arg_count; k++)
            expr->args[k] = ls__lang_assign_convert(c, expr->args[k], f->params[k]);
        expr->type = f->result;
        if (f->result->kind == TYPE_F64 && c->function && c->f64_count < LANG_F64_POSITIONS)
            c->f64_positions[c->f64_count++] = expr->pos;
    }
    return expr;
}

static lang_expr *check_dimension(lang_checker *c, lang_expr *expr)
{
    int64_t dimension;
    if (!ls__lang_check_constant(c, &expr->args[0], &dimension))
        return failed(expr);
    if (dimension < 0 || dimension > 2) {
        ls__lang_report(c->context, expr->args[0]->pos, D_DIMENSION);
        return failed(expr);
    }
    expr->bits = (uint64_t)dimension;
    expr->type = TY(U32);
    return expr;
}

static lang_expr *check_math(lang_checker *c, lang_expr *expr)
{
    const char *name = ls__lang_builtins[expr->builtin].name;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (expr->args[i]->type->kind != TYPE_F32) {
            wrong_argument(c, expr, i, "f32");
            ls__lang_hint(c->context,
                          lang_is_arithmetic(expr->args[i]->type)
                              ? "the math library has f32 only: cast the argument, as in (f32)x"
                              : "");
            return failed(expr);
        }
    }
    if (c->unit->is_library) { /* its sources include each other and call ls_exp() and its kin */
        ls__lang_report(c->context, expr->pos, D_NO_LIBRARY, name);
        return failed(expr);
    }
    expr->function = ls__lang_library_function(c->context, expr->pos, name);
    if (!expr->function)
        return failed(expr);
    if (c->function) {
        lang_call call = {expr->function, expr->pos};
        ls__vec_push(&c->context->arena, &c->function->calls, call);
    }
    expr->type = TY(F32);
    return expr;
}

static lang_expr *check_atomic(lang_checker *c, lang_expr *expr)
{
    const lang_type *pointer = expr->args[0]->type;
    const lang_type *target = pointer->kind == TYPE_POINTER ? pointer->target : TY(ERROR);
    if (target->kind < TYPE_I32 || target->kind > TYPE_U64) {
        wrong_argument(c, expr, 0, "a pointer to i32, u32, i64 or u64");
        if (lang_is_integer(pointer))
            ls__lang_hint(c->context, "take the address: &x[i]");
        return failed(expr);
    }
    if (pointer->target_const) {
        ls__lang_report(c->context, expr->args[0]->pos, D_ASSIGN_CONST);
        return failed(expr);
    }
    for (uint32_t i = 1; i < expr->arg_count; i++)
        expr->args[i] = ls__lang_assign_convert(c, expr->args[i], pointer->target);
    expr->type = pointer->target;
    return expr;
}

static lang_expr *check_bounded(lang_checker *c, lang_expr *expr)
{
    int64_t count;
    if (expr->args[0]->type->kind != TYPE_POINTER) {
        wrong_argument(c, expr, 0, "a pointer");
        return failed(expr);
    }
    if (!ls__lang_check_constant(c, &expr->args[1], &count))
        return failed(expr);
    if (count < 0 || count > INT32_MAX) {
        wrong_argument(c, expr, 1, "a count from 0 to 2147483647");
        return failed(expr);
    }
    expr->bits = (uint64_t)count;
    expr->type = expr->args[0]->type;
    return expr;
}

/* Kinds of one operand type T, whose result is T. */
static lang_expr *check_uniform_kind(lang_checker *c, lang_expr *expr, uint8_t kind)
{
    const lang_type *first = expr->args[0]->type;
    bool is_good;
    if (kind == BUILTIN_SG_INT)
        is_good = all_integers(c, expr, 1);
    else
        is_good = lang_is_arithmetic(first) || wrong_argument(c, expr, 0, "a number");
    if (!is_good)
        return failed(expr);
    if (kind != BUILTIN_VALUE)
        promote(c, expr, 0);
    if (kind == BUILTIN_SG_LANE)
        expr->args[1] = ls__lang_assign_convert(c, expr->args[1], TY(U32));
    expr->type = expr->args[0]->type;
    return expr;
}

static lang_expr *check_numeric(lang_checker *c, lang_expr *expr, uint8_t kind)
{
    uint32_t count = expr->arg_count;
    bool is_integer = kind == BUILTIN_INT1 || kind == BUILTIN_INT_U32 || kind == BUILTIN_INT2 ||
                      kind == BUILTIN_ROTATE;
    bool is_good = is_integer ? all_integers(c, expr, count) : all_floats(c, expr, count);
    if (!is_good || (kind != BUILTIN_ROTATE && !same_types(c, expr, count)))
        return failed(expr);
    if (kind == BUILTIN_ROTATE)
        expr->args[1] = ls__lang_convert(c, expr->args[1], TY(U32));
    expr->type = kind == BUILTIN_INT_U32 ? TY(U32)
                 : kind == BUILTIN_FTEST ? TY(BOOL)
                                         : expr->args[0]->type;
    return expr;
}

lang_expr *ls__lang_check_builtin(lang_checker *c, lang_expr *expr)
{
    expr->builtin = expr->name->builtin;
    const lang_builtin_info *info = &ls__lang_builtins[expr->builtin];
    bool has_error = false;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        expr->args[i] = ls__lang_check_value(c, expr->args[i]);
        has_error |= expr->args[i]->type->kind == TYPE_ERROR;
    }
    if (expr->arg_count != info->args) {
        ls__lang_report(c->context, expr->pos, D_ARG_COUNT, LS__STR_ARG(expr->name->text),
                        (unsigned)info->args, info->args == 1 ? "" : "s", expr->arg_count);
        return failed(expr);
    }
    if (has_error)
        return failed(expr);
    switch ((lang_builtin_kind)info->kind) {
    case BUILTIN_ID_DIM:
        return check_dimension(c, expr);
    case BUILTIN_ID:
        expr->type = TY(U32);
        return expr;
    case BUILTIN_INT1:
    case BUILTIN_INT_U32:
    case BUILTIN_INT2:
    case BUILTIN_ROTATE:
    case BUILTIN_FLOAT1:
    case BUILTIN_FLOAT2:
    case BUILTIN_FLOAT3:
    case BUILTIN_FTEST:
        return check_numeric(c, expr, info->kind);
    case BUILTIN_MATH1:
    case BUILTIN_MATH2:
        return check_math(c, expr);
    case BUILTIN_FIXED:
        return check_fixed(c, expr);
    case BUILTIN_VALUE:
    case BUILTIN_SG_NUM:
    case BUILTIN_SG_INT:
    case BUILTIN_SG_LANE:
        return check_uniform_kind(c, expr, info->kind);
    case BUILTIN_ATOMIC:
    case BUILTIN_CAS:
        return check_atomic(c, expr);
    case BUILTIN_BOUNDED:
        return check_bounded(c, expr);
    }
    return failed(expr);
}
