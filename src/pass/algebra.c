/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of single instructions, each exact for all operands. Integer ones hold because
 * arithmetic wraps and is total. Float ones are few: x + 0 is not x for -0, x * 0 is not 0 for NaN
 * and infinity, x - x is not 0 either. What is left may change which NaN comes out, never whether
 * one does.
 */
#include "pass/algebra.h"

#include "pass/util.h"

typedef struct simplify {
    ls__ir_function *function;
    ls__ir_inst *inst;
    ls_value *same;
    ls_type type; /* of the first T operand */
    bool left_const, right_const;
    uint64_t left, right; /* their bits */
    uint64_t ones;        /* all bits of the type */
    bool changed;
} simplify;

static void set_const(simplify *s, uint64_t bits)
{
    ls__pass_become_const(s->inst, bits & s->ones);
    s->changed = true;
}

static void set_op(simplify *s, ls_op op, ls_value a, ls_value b)
{
    s->inst->op = (uint16_t)op;
    s->inst->args[0] = a;
    if (s->inst->arg_count > 1)
        s->inst->args[1] = b;
    s->changed = true;
}

/* A one-operand operation in place of a wider one. */
static void set_unary(simplify *s, ls_op op, ls_value a)
{
    s->inst->arg_count = 1;
    set_op(s, op, a, a);
}

static ls_value constant(simplify *s, uint64_t bits)
{
    ls__ir_cursor at = ls__pass_before(s->function, s->inst);
    return ls__ir_const(&at, s->type, bits & s->ones);
}

/* op(op(x, c), d) = op(x, c op d) for the associative ones. */
static bool reassociate(simplify *s)
{
    ls_op op = (ls_op)s->inst->op;
    const ls__ir_inst *inner = ls__ir_def(s->function, s->inst->args[0]);
    uint64_t c;
    if (!s->right_const || !inner || inner->op != op ||
        !ls__pass_const(s->function, inner->args[1], &c))
        return false;
    uint64_t both = op == LS_OP_ADD   ? c + s->right
                    : op == LS_OP_MUL ? c * s->right
                    : op == LS_OP_AND ? (c & s->right)
                    : op == LS_OP_OR  ? (c | s->right)
                                      : (c ^ s->right);
    set_op(s, op, inner->args[0], constant(s, both));
    return true;
}

static void simplify_bitwise(simplify *s)
{
    ls_value *args = s->inst->args;
    bool equal = args[0].id == args[1].id;
    switch ((ls_op)s->inst->op) {
    case LS_OP_AND:
        if (equal || (s->right_const && s->right == s->ones))
            *s->same = args[0];
        else if (s->right_const && s->right == 0)
            *s->same = args[1];
        else
            reassociate(s);
        break;
    case LS_OP_OR:
        if (equal || (s->right_const && s->right == 0))
            *s->same = args[0];
        else if (s->right_const && s->right == s->ones)
            *s->same = args[1];
        else
            reassociate(s);
        break;
    default: /* XOR */
        if (equal)
            set_const(s, 0);
        else if (s->right_const && s->right == 0)
            *s->same = args[0];
        else if (s->right_const && s->right == s->ones)
            set_unary(s, LS_OP_NOT, args[0]);
        else
            reassociate(s);
        break;
    }
}

static void simplify_arithmetic(simplify *s)
{
    ls_value *args = s->inst->args;
    bool equal = args[0].id == args[1].id;
    bool is_zero = s->right_const && s->right == 0, is_one = s->right_const && s->right == 1;
    switch ((ls_op)s->inst->op) {
    case LS_OP_ADD:
        if (is_zero)
            *s->same = args[0];
        else
            reassociate(s);
        break;
    case LS_OP_SUB:
        if (is_zero)
            *s->same = args[0];
        else if (equal)
            set_const(s, 0);
        else if (s->right_const)
            set_op(s, LS_OP_ADD, args[0], constant(s, 0 - s->right));
        break;
    case LS_OP_MUL:
        if (is_one)
            *s->same = args[0];
        else if (is_zero)
            *s->same = args[1];
        else
            reassociate(s);
        break;
    case LS_OP_SDIV:
    case LS_OP_UDIV:
        if (is_zero || is_one) /* x / 0 = x */
            *s->same = args[0];
        break;
    case LS_OP_SREM:
    case LS_OP_UREM: /* x % 0 = x % 1 = 0 */
        if (is_zero || is_one ||
            (s->inst->op == LS_OP_SREM && s->right_const && s->right == s->ones))
            set_const(s, 0);
        break;
    case LS_OP_SHL:
    case LS_OP_LSHR:
    case LS_OP_ASHR:
    case LS_OP_ROTL:
        if (s->right_const && (s->right & (ls__pass_bits(s->type) - 1)) == 0)
            *s->same = args[0];
        else if (s->left_const && s->left == 0)
            *s->same = args[0];
        break;
    default: /* SMIN, SMAX, UMIN, UMAX */
        if (equal)
            *s->same = args[0];
        break;
    }
}

static void simplify_compare(simplify *s)
{
    const ls_value *args = s->inst->args;
    const ls__ir_inst *left = ls__ir_def(s->function, args[0]);
    bool equal = args[0].id == args[1].id;
    s->ones = 1; /* the result is a bool */
    switch ((ls_op)s->inst->op) {
    case LS_OP_EQ:
    case LS_OP_NE: {
        bool is_ne = s->inst->op == LS_OP_NE;
        if (equal) {
            set_const(s, !is_ne);
        } else if (s->right_const && s->right <= 1 &&
                   (s->type == LS_TYPE_BOOL || left->op == LS_OP_B2I)) {
            /* b == true, b2i(b) != 0: b itself, or its opposite */
            ls_value b = left->op == LS_OP_B2I ? left->args[0] : args[0];
            if (is_ne == (s->right == 0))
                *s->same = b;
            else
                set_unary(s, LS_OP_NOT, b);
        }
        break;
    }
    case LS_OP_SLT:
    case LS_OP_ULT:
        if (equal || (s->inst->op == LS_OP_ULT && s->right_const && s->right == 0))
            set_const(s, 0);
        break;
    default: /* SLE, ULE */
        if (equal || (s->inst->op == LS_OP_ULE && s->left_const && s->left == 0))
            set_const(s, 1);
        break;
    }
}

/* The comparison that is true exactly when `op` is not; operands change sides when `swap`. */
static ls_op opposite(ls_op op, bool *swap)
{
    *swap = op == LS_OP_SLT || op == LS_OP_SLE || op == LS_OP_ULT || op == LS_OP_ULE;
    switch (op) {
    case LS_OP_EQ:
        return LS_OP_NE;
    case LS_OP_NE:
        return LS_OP_EQ;
    case LS_OP_SLT:
        return LS_OP_SLE;
    case LS_OP_SLE:
        return LS_OP_SLT;
    case LS_OP_ULT:
        return LS_OP_ULE;
    case LS_OP_ULE:
        return LS_OP_ULT;
    case LS_OP_FEQ:
        return LS_OP_FNE;
    case LS_OP_FNE:
        return LS_OP_FEQ;
    default:
        return LS_OP_NONE; /* !(a < b) is not b <= a for NaN */
    }
}

static void simplify_not(simplify *s)
{
    const ls__ir_inst *inner = ls__ir_def(s->function, s->inst->args[0]);
    if (inner->op == LS_OP_NOT) {
        *s->same = inner->args[0];
        return;
    }
    bool swap;
    ls_op op = opposite((ls_op)inner->op, &swap);
    if (s->type != LS_TYPE_BOOL || op == LS_OP_NONE)
        return;
    s->inst->args = LS__NEW_ARRAY(&s->function->module->arena, ls_value, 2);
    s->inst->arg_count = 2;
    set_op(s, op, inner->args[swap ? 1 : 0], inner->args[swap ? 0 : 1]);
}

static void simplify_select(simplify *s)
{
    ls_value *args = s->inst->args;
    const ls__ir_inst *condition = ls__ir_def(s->function, args[0]);
    uint64_t bits, yes, no;
    if (ls__pass_const(s->function, args[0], &bits)) {
        *s->same = args[bits ? 1 : 2];
    } else if (args[1].id == args[2].id) {
        *s->same = args[1];
    } else if (condition->op == LS_OP_NOT) {
        ls_value swap = args[1];
        args[0] = condition->args[0];
        args[1] = args[2];
        args[2] = swap;
        s->changed = true;
    } else if (s->inst->type == LS_TYPE_BOOL && ls__pass_const(s->function, args[1], &yes) &&
               ls__pass_const(s->function, args[2], &no)) {
        if (yes == no)
            *s->same = args[1];
        else if (yes)
            *s->same = args[0];
        else
            set_unary(s, LS_OP_NOT, args[0]);
    }
}

/* --- floats ---------------------------------------------------------------------------------- */

/* 1/x for a power of two whose reciprocal is one too (and normal, as x is). */
static bool exact_reciprocal(ls_type type, uint64_t bits, uint64_t *reciprocal)
{
    uint32_t mantissa = type == LS_TYPE_F64 ? 52 : 23;
    uint64_t twice_bias = type == LS_TYPE_F64 ? 2046 : 254;
    uint64_t sign = UINT64_C(1) << (ls__pass_bits(type) - 1);
    uint64_t field = (bits & (sign - 1)) >> mantissa;
    if ((bits & ((UINT64_C(1) << mantissa) - 1)) != 0 || field == 0 || field >= twice_bias)
        return false;
    *reciprocal = (bits & sign) | (twice_bias - field) << mantissa;
    return true;
}

static void simplify_float(simplify *s)
{
    ls_value *args = s->inst->args;
    bool is_f64 = s->type == LS_TYPE_F64;
    uint64_t one = is_f64 ? UINT64_C(0x3ff0000000000000) : 0x3f800000;
    uint64_t minus_zero = is_f64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    uint64_t reciprocal;
    if (!s->right_const)
        return;
    switch ((ls_op)s->inst->op) {
    case LS_OP_FADD:
        if (s->right == minus_zero)
            *s->same = args[0];
        break;
    case LS_OP_FSUB:
        if (s->right == 0)
            *s->same = args[0];
        break;
    case LS_OP_FMUL:
        if (s->right == one)
            *s->same = args[0];
        break;
    default: /* FDIV */
        if (s->right == one)
            *s->same = args[0];
        else if (exact_reciprocal(s->type, s->right, &reciprocal))
            set_op(s, LS_OP_FMUL, args[0], constant(s, reciprocal));
        break;
    }
}

static void simplify_unary(simplify *s)
{
    ls_op op = (ls_op)s->inst->op;
    const ls__ir_inst *inner = ls__ir_def(s->function, s->inst->args[0]);
    bool same_op = inner->op == op;
    switch (op) {
    case LS_OP_FNEG:
        if (same_op)
            *s->same = inner->args[0];
        break;
    case LS_OP_FABS:
        if (same_op)
            *s->same = inner->id;
        else if (inner->op == LS_OP_FNEG)
            set_op(s, op, inner->args[0], inner->args[0]);
        break;
    case LS_OP_TRUNC:
        if (inner->op == LS_OP_SEXT || inner->op == LS_OP_ZEXT)
            *s->same = inner->args[0];
        break;
    case LS_OP_SEXT8:
    case LS_OP_ZEXT8:
    case LS_OP_SEXT16:
    case LS_OP_ZEXT16:
        if (same_op || (op == LS_OP_ZEXT16 && inner->op == LS_OP_ZEXT8) ||
            (op == LS_OP_SEXT16 && (inner->op == LS_OP_SEXT8 || inner->op == LS_OP_ZEXT8)) ||
            inner->op == LS_OP_B2I)
            *s->same = inner->id;
        break;
    default: /* the roundings and FCANON repeat without effect */
        if (same_op)
            *s->same = inner->id;
        break;
    }
}

/* --- addresses ------------------------------------------------------------------------------- */

static void simplify_index(simplify *s)
{
    ls_value *args = s->inst->args;
    const ls__ir_inst *inner = ls__ir_def(s->function, args[0]);
    uint64_t count = s->inst->imm2, inner_index;
    bool holds = s->right_const && (count == 0 || s->right < count);
    if (s->left_const && s->left == (uint64_t)LS_NOWHERE) {
        *s->same = args[0];
    } else if (s->right_const && !holds) {
        set_const(s, (uint64_t)LS_NOWHERE);
    } else if (holds && (s->right == 0 || s->inst->imm == 0)) {
        *s->same = args[0];
    } else if (s->left_const && s->left == 0 && s->inst->imm == 1 && count == 0) {
        *s->same = args[1];
    } else if (holds && inner->op == LS_OP_INDEX &&
               ls__pass_const(s->function, inner->args[1], &inner_index) &&
               (inner->imm2 == 0 || inner_index < inner->imm2)) {
        /* x + a + b = x + (a + b) when a and b are not negative: then no partial sum leaves i64
         * unless the whole does. */
        uint64_t a, b, both;
        if ((int64_t)inner_index < 0 || (int64_t)s->right < 0 ||
            __builtin_mul_overflow(inner_index, inner->imm, &a) ||
            __builtin_mul_overflow(s->right, s->inst->imm, &b) ||
            __builtin_add_overflow(a, b, &both) || both > INT64_MAX)
            return;
        s->inst->imm = 1;
        s->inst->imm2 = 0;
        s->inst->flags &= inner->flags;
        set_op(s, LS_OP_INDEX, inner->args[0], constant(s, both));
    }
}

/* Constants go right, so that the rules look there only. */
static void put_constant_right(simplify *s)
{
    if (!ls__ir_op_has((ls_op)s->inst->op, 'C') || !s->left_const || s->right_const)
        return;
    ls_value swap = s->inst->args[0];
    s->inst->args[0] = s->inst->args[1];
    s->inst->args[1] = swap;
    s->right_const = true;
    s->right = s->left;
    s->left_const = false;
    s->changed = true;
}

static void dispatch(simplify *s)
{
    switch ((ls_op)s->inst->op) {
    case LS_OP_ADD:
    case LS_OP_SUB:
    case LS_OP_MUL:
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
    case LS_OP_SHL:
    case LS_OP_LSHR:
    case LS_OP_ASHR:
    case LS_OP_ROTL:
    case LS_OP_SMIN:
    case LS_OP_SMAX:
    case LS_OP_UMIN:
    case LS_OP_UMAX:
        simplify_arithmetic(s);
        break;
    case LS_OP_AND:
    case LS_OP_OR:
    case LS_OP_XOR:
        simplify_bitwise(s);
        break;
    case LS_OP_EQ:
    case LS_OP_NE:
    case LS_OP_SLT:
    case LS_OP_SLE:
    case LS_OP_ULT:
    case LS_OP_ULE:
        simplify_compare(s);
        break;
    case LS_OP_NOT:
        simplify_not(s);
        break;
    case LS_OP_SELECT:
        simplify_select(s);
        break;
    case LS_OP_FADD:
    case LS_OP_FSUB:
    case LS_OP_FMUL:
    case LS_OP_FDIV:
        simplify_float(s);
        break;
    case LS_OP_FNEG:
    case LS_OP_FABS:
    case LS_OP_FFLOOR:
    case LS_OP_FCEIL:
    case LS_OP_FTRUNC:
    case LS_OP_FRINT:
    case LS_OP_FCANON:
    case LS_OP_TRUNC:
    case LS_OP_SEXT8:
    case LS_OP_ZEXT8:
    case LS_OP_SEXT16:
    case LS_OP_ZEXT16:
        simplify_unary(s);
        break;
    case LS_OP_INDEX:
        simplify_index(s);
        break;
    default:
        break;
    }
}

bool ls__pass_simplify(ls__ir_function *function, ls__ir_inst *inst, ls_value *same)
{
    if (inst->arg_count == 0 || !ls__ir_op_has((ls_op)inst->op, 'P'))
        return false;
    simplify s = {.function = function, .inst = inst, .same = same};
    s.type = ls__ir_type_of(function, inst->args[0]);
    s.ones = UINT64_MAX >> (64 - ls__pass_bits(s.type));
    s.left_const = ls__pass_const(function, inst->args[0], &s.left);
    s.right_const = inst->arg_count > 1 && ls__pass_const(function, inst->args[1], &s.right);
    put_constant_right(&s);
    dispatch(&s);
    return s.changed;
}
