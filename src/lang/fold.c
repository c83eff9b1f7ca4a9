/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns the mapping from operators and conversions to IR operations, and constant folding, which
 * asks the IR's own evaluator, so that a folded expression and a computed one cannot differ. What C
 * leaves undefined or forbids in a constant (x / 0, shift counts) is not folded.
 */
#include <string.h>

#include "lang/internal.h"

static void step(lang_conversion *c, ls_op op, ls_type result, uint64_t imm)
{
    c->steps[c->count].op = op;
    c->steps[c->count].result = result;
    c->steps[c->count].imm = imm;
    c->count++;
}

/* i32 bits to the range of a type of 8 or 16 bits. */
static void narrow(lang_conversion *c, const lang_type *from, const lang_type *to)
{
    bool is_wider = from->kind > TYPE_U16 || from->size > to->size;
    bool changes_sign = from->size == to->size && lang_is_signed(from) != lang_is_signed(to);
    bool loses_sign = lang_is_signed(from) && !lang_is_signed(to);
    if (to->size >= 4 || from->kind == TYPE_BOOL || !(is_wider || changes_sign || loses_sign))
        return;
    ls_op op = lang_is_signed(to) ? (to->size == 1 ? LS_OP_SEXT8 : LS_OP_SEXT16)
                                  : (to->size == 1 ? LS_OP_ZEXT8 : LS_OP_ZEXT16);
    step(c, op, LS_TYPE_I32, 0);
}

static void integer_to_integer(lang_conversion *c, const lang_type *from, const lang_type *to)
{
    if (from->kind == TYPE_BOOL)
        step(c, LS_OP_B2I, LS_TYPE_I32, 0);
    if (from->size == 8 && to->size < 8)
        step(c, LS_OP_TRUNC, LS_TYPE_I32, 0);
    else if (from->size < 8 && to->size == 8)
        step(c, lang_is_signed(from) ? LS_OP_SEXT : LS_OP_ZEXT, LS_TYPE_I64, 0);
    narrow(c, from, to);
}

lang_conversion ls__lang_conversion(const lang_type *from, const lang_type *to)
{
    lang_conversion c = {0};
    if (from->kind == to->kind)
        return c;
    ls_type result = ls__lang_value_type(to);
    if (to->kind == TYPE_BOOL) {
        c.to_bool = true;
    } else if (lang_is_float(from) && lang_is_float(to)) {
        step(&c, LS_OP_F2F, result, 0);
    } else if (lang_is_float(from)) {
        step(&c, lang_is_signed(to) ? LS_OP_F2S : LS_OP_F2U, result, to->size * 8u);
    } else if (lang_is_float(to)) {
        if (from->kind == TYPE_BOOL)
            step(&c, LS_OP_B2I, LS_TYPE_I32, 0);
        step(&c, lang_is_signed(from) ? LS_OP_S2F : LS_OP_U2F, result, 0);
    } else {
        integer_to_integer(&c, from, to);
    }
    return c;
}

/* Signed, unsigned and float form of an operator. */
typedef struct forms {
    uint8_t token;
    bool swap;
    ls_op s, u, f;
} forms;
static const forms operators[] = {
    {TOK_PLUS, false, LS_OP_ADD, LS_OP_ADD, LS_OP_FADD},
    {TOK_MINUS, false, LS_OP_SUB, LS_OP_SUB, LS_OP_FSUB},
    {TOK_STAR, false, LS_OP_MUL, LS_OP_MUL, LS_OP_FMUL},
    {TOK_SLASH, false, LS_OP_SDIV, LS_OP_UDIV, LS_OP_FDIV},
    {TOK_PERCENT, false, LS_OP_SREM, LS_OP_UREM, LS_OP_NONE},
    {TOK_AND, false, LS_OP_AND, LS_OP_AND, LS_OP_NONE},
    {TOK_OR, false, LS_OP_OR, LS_OP_OR, LS_OP_NONE},
    {TOK_XOR, false, LS_OP_XOR, LS_OP_XOR, LS_OP_NONE},
    {TOK_SHL, false, LS_OP_SHL, LS_OP_SHL, LS_OP_NONE},
    {TOK_SHR, false, LS_OP_ASHR, LS_OP_LSHR, LS_OP_NONE},
    {TOK_EQUAL, false, LS_OP_EQ, LS_OP_EQ, LS_OP_FEQ},
    {TOK_NOT_EQUAL, false, LS_OP_NE, LS_OP_NE, LS_OP_FNE},
    {TOK_LESS, false, LS_OP_SLT, LS_OP_ULT, LS_OP_FLT},
    {TOK_LESS_EQUAL, false, LS_OP_SLE, LS_OP_ULE, LS_OP_FLE},
    {TOK_GREATER, true, LS_OP_SLT, LS_OP_ULT, LS_OP_FLT},
    {TOK_GREATER_EQUAL, true, LS_OP_SLE, LS_OP_ULE, LS_OP_FLE},
};

ls_op ls__lang_binary_op(uint8_t op, const lang_type *operand, bool *swap)
{
    *swap = false;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (operators[i].token == op) {
            *swap = operators[i].swap;
            return lang_is_float(operand)    ? operators[i].f
                   : lang_is_signed(operand) ? operators[i].s
                                             : operators[i].u;
        }
    }
    return LS_OP_NONE;
}

/* --- folding -------------------------------------------------------------------------- */
static uint64_t evaluate(ls_op op, ls_type result, uint64_t imm, ls_type arg_type,
                         const uint64_t *args)
{
    ls__ir_inst inst = {.op = (uint16_t)op, .type = (uint8_t)result, .imm = imm};
    inst.arg_count = (uint32_t)strlen(ls__ir_op(op)->operands);
    return ls__ir_eval(&inst, arg_type, args);
}

static void set(lang_expr *expr, uint64_t bits)
{
    expr->is_constant = true;
    expr->bits = bits;
}

static uint64_t nonzero(const lang_expr *a)
{
    uint64_t args[2] = {a->bits, 0};
    ls_type type = ls__lang_value_type(a->type);
    return evaluate(lang_is_float(a->type) ? LS_OP_FNE : LS_OP_NE, LS_TYPE_BOOL, 0, type, args);
}

static void fold_cast(lang_expr *expr)
{
    const lang_type *from = expr->a->type;
    if (!expr->a->is_constant || !lang_is_arithmetic(from) || !lang_is_arithmetic(expr->type))
        return;
    lang_conversion c = ls__lang_conversion(from, expr->type);
    if (c.to_bool) {
        set(expr, nonzero(expr->a));
        return;
    }
    uint64_t bits = expr->a->bits;
    ls_type type = ls__lang_value_type(from);
    for (uint32_t i = 0; i < c.count; i++) {
        bits = evaluate(c.steps[i].op, c.steps[i].result, c.steps[i].imm, type, &bits);
        type = c.steps[i].result;
    }
    set(expr, bits);
}

static void fold_unary(lang_expr *expr)
{
    const lang_expr *a = expr->a;
    if (!a->is_constant)
        return;
    ls_type type = ls__lang_value_type(a->type);
    uint64_t args[2] = {0, a->bits};
    if (expr->op == TOK_PLUS)
        set(expr, a->bits);
    else if (expr->op == TOK_NOT)
        set(expr, !nonzero(a));
    else if (expr->op == TOK_TILDE)
        set(expr, evaluate(LS_OP_NOT, type, 0, type, &args[1]));
    else if (expr->op == TOK_MINUS && lang_is_float(a->type))
        set(expr, evaluate(LS_OP_FNEG, type, 0, type, &args[1]));
    else if (expr->op == TOK_MINUS)
        set(expr, evaluate(LS_OP_SUB, type, 0, type, args));
}

static void fold_logical(lang_expr *expr)
{
    const lang_expr *a = expr->a, *b = expr->b;
    if (a->is_constant && nonzero(a) == (expr->op == TOK_OR_OR))
        set(expr, expr->op == TOK_OR_OR);
    else if (a->is_constant && b->is_constant)
        set(expr, nonzero(b));
}

static void fold_binary(lang_expr *expr)
{
    const lang_expr *a = expr->a, *b = expr->b;
    if (expr->op == TOK_AND_AND || expr->op == TOK_OR_OR) {
        fold_logical(expr);
        return;
    }
    if (!a->is_constant || !b->is_constant || !lang_is_arithmetic(a->type) ||
        !lang_is_arithmetic(b->type))
        return;
    bool is_division = expr->op == TOK_SLASH || expr->op == TOK_PERCENT;
    if (is_division && lang_is_integer(b->type) && ls__lang_constant_value(b) == 0)
        return;
    uint64_t count = b->bits;
    if (expr->op == TOK_SHL || expr->op == TOK_SHR) {
        int64_t value = ls__lang_constant_value(b);
        if (value < 0 || value >= 8 * (int64_t)a->type->size)
            return;
        count = (uint64_t)value; /* its type may differ from a's */
    }
    bool swap;
    ls_op op = ls__lang_binary_op(expr->op, a->type, &swap);
    bool is_comparison = expr->type == TY(I32) && op >= LS_OP_EQ && op <= LS_OP_FLE;
    ls_type type = ls__lang_value_type(a->type);
    uint64_t args[2] = {swap ? count : a->bits, swap ? a->bits : count};
    set(expr, evaluate(op, is_comparison ? LS_TYPE_BOOL : type, 0, type, args));
}

void ls__lang_fold(lang_expr *expr)
{
    switch (expr->kind) {
    case EXPR_CAST:
        fold_cast(expr);
        break;
    case EXPR_UNARY:
        fold_unary(expr);
        break;
    case EXPR_BINARY:
        fold_binary(expr);
        break;
    case EXPR_CHOICE:
        if (expr->a->is_constant) {
            const lang_expr *side = nonzero(expr->a) ? expr->b : expr->c;
            if (side->is_constant)
                set(expr, side->bits);
        }
        break;
    default:
        break;
    }
}

int64_t ls__lang_constant_value(const lang_expr *expr)
{
    if (expr->type->size == 8)
        return (int64_t)expr->bits;
    if (lang_is_signed(expr->type))
        return (int32_t)expr->bits;
    return (int64_t)(expr->bits & UINT32_MAX);
}

bool ls__lang_constant_truth(const lang_expr *expr)
{
    return nonzero(expr) != 0;
}

uint8_t ls__lang_plain_operator(uint8_t op)
{
    static const uint8_t plain[TOK_COUNT] = {
        [TOK_SHL_ASSIGN] = TOK_SHL,   [TOK_SHR_ASSIGN] = TOK_SHR,     [TOK_MUL_ASSIGN] = TOK_STAR,
        [TOK_DIV_ASSIGN] = TOK_SLASH, [TOK_REM_ASSIGN] = TOK_PERCENT, [TOK_ADD_ASSIGN] = TOK_PLUS,
        [TOK_SUB_ASSIGN] = TOK_MINUS, [TOK_AND_ASSIGN] = TOK_AND,     [TOK_XOR_ASSIGN] = TOK_XOR,
        [TOK_OR_ASSIGN] = TOK_OR,
    };
    return plain[op];
}
