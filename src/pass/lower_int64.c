/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_int64: 64-bit integer arithmetic on pairs of 32-bit words.
 *
 * needs: lower_bounds, lower_integer and lower_convert before it: they turn indices, the composite
 * operations and conversions into what is handled here. keeps: everything. breaks: nothing.
 *
 * Lowered are + - *, division and remainder, logic, shifts, comparisons, choices, minima and
 * extensions. An i64 value stays one where memory, parameters, variables, calls or offsets want it:
 * there it is put together as zext(low) | zext(high) << 32 and taken apart by trunc and a shift by
 * 32, which are all the 64-bit operations left. A value made here is known in words too, so chains
 * of arithmetic never join.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

typedef struct words {
    val low, high;
} words;

typedef struct splitting {
    words *known; /* by value; low.id 0 = not known in words */
    uint32_t capacity;
    ls__arena *scratch;
} splitting;

static void remember(splitting *s, val value, words w)
{
    if (value.id >= s->capacity) {
        uint32_t capacity = value.id + value.id / 2 + 64;
        words *grown = LS__NEW_ARRAY(s->scratch, words, capacity);
        for (uint32_t i = 0; i < s->capacity; i++)
            grown[i] = s->known[i];
        s->known = grown;
        s->capacity = capacity;
    }
    s->known[value.id] = w;
}

static val join(at c, splitting *s, words w)
{
    val value = or_(c, zext(c, w.low), shl_k(c, zext(c, w.high), 32));
    remember(s, value, w);
    return value;
}

static words constant(at c, uint64_t bits)
{
    return (words){k32(c, (uint32_t)bits), k32(c, (uint32_t)(bits >> 32))};
}

static words words_of(at c, const splitting *s, val value)
{
    uint64_t bits;
    if (value.id < s->capacity && s->known[value.id].low.id)
        return s->known[value.id];
    if (ls__pass_const(c->function, value, &bits))
        return constant(c, bits);
    return (words){trunc_(c, value), trunc_(c, lshr_k(c, value, 32))};
}

/* --- arithmetic on words --------------------------------------------------------------------- */

static words choose_words(at c, val condition, words yes, words no)
{
    return (words){choose(c, condition, yes.low, no.low), choose(c, condition, yes.high, no.high)};
}

static words add_words(at c, words a, words b)
{
    val low = add(c, a.low, b.low);
    val carry = b2i(c, ult(c, low, a.low));
    return (words){low, add(c, add(c, a.high, b.high), carry)};
}

static words sub_words(at c, words a, words b)
{
    val borrow = b2i(c, ult(c, a.low, b.low));
    return (words){sub(c, a.low, b.low), sub(c, sub(c, a.high, b.high), borrow)};
}

/* The whole product of two words, from products of 16 bits each. */
static words multiply_word(at c, val a, val b)
{
    val al = and_k(c, a, 0xffff), ah = lshr_k(c, a, 16);
    val bl = and_k(c, b, 0xffff), bh = lshr_k(c, b, 16);
    val middle = add(c, mul(c, ah, bl), lshr_k(c, mul(c, al, bl), 16));
    val cross = add(c, mul(c, al, bh), and_k(c, middle, 0xffff));
    val high = add(c, mul(c, ah, bh), add(c, lshr_k(c, middle, 16), lshr_k(c, cross, 16)));
    return (words){mul(c, a, b), high};
}

static words mul_words(at c, words a, words b)
{
    words product = multiply_word(c, a.low, b.low);
    val cross = add(c, mul(c, a.low, b.high), mul(c, a.high, b.low));
    return (words){product.low, add(c, product.high, cross)};
}

static val equal_words(at c, words a, words b)
{
    val differ = or_(c, xor_(c, a.low, b.low), xor_(c, a.high, b.high));
    return eq(c, differ, k32(c, 0));
}

static val less_words(at c, words a, words b, bool is_signed)
{
    val high = is_signed ? slt(c, a.high, b.high) : ult(c, a.high, b.high);
    return or_(c, high, and_(c, eq(c, a.high, b.high), ult(c, a.low, b.low)));
}

static words shift_words(at c, ls_op op, words a, val count)
{
    val within = and_k(c, count, 31), rest = sub(c, k32(c, 31), within);
    val is_word = ne(c, and_k(c, count, 32), k32(c, 0));
    if (op == LS_OP_SHL) { /* what crosses goes by 1 + (31 - within), which also serves 0 */
        val carried = lshr(c, lshr_k(c, a.low, 1), rest);
        val low = shl(c, a.low, within), high = or_(c, shl(c, a.high, within), carried);
        return (words){choose(c, is_word, k32(c, 0), low), choose(c, is_word, low, high)};
    }
    bool is_signed = op == LS_OP_ASHR;
    val carried = shl(c, shl_k(c, a.high, 1), rest);
    val low = or_(c, lshr(c, a.low, within), carried);
    val high = is_signed ? ashr(c, a.high, within) : lshr(c, a.high, within);
    val fill = is_signed ? ashr(c, a.high, k32(c, 31)) : k32(c, 0);
    return (words){choose(c, is_word, high, low), choose(c, is_word, fill, high)};
}

/* --- division -------------------------------------------------------------------------------- */

typedef struct pair_var {
    ls_var low, high;
} pair_var;

static pair_var new_pair(at c, const char *name, words value)
{
    pair_var var = {ls__ir_var_add(c->function, name, LS_TYPE_I32),
                    ls__ir_var_add(c->function, name, LS_TYPE_I32)};
    ls__ir_set(c, var.low, value.low);
    ls__ir_set(c, var.high, value.high);
    return var;
}

static words get_pair(at c, pair_var var)
{
    return (words){ls__ir_get(c, var.low), ls__ir_get(c, var.high)};
}

static void set_pair(at c, pair_var var, words value)
{
    ls__ir_set(c, var.low, value.low);
    ls__ir_set(c, var.high, value.high);
}

/* Bit by bit; `d` is not 0. The dividend's bits leave at the top, the quotient's come in below. */
static void divide_magnitudes(at c, words n, words d, words *quotient, words *rest)
{
    pair_var number = new_pair(c, "divide.number", n);
    pair_var left = new_pair(c, "divide.rest", constant(c, 0));
    ls_var trip = ls__ir_var_add(c->function, "divide.trip", LS_TYPE_I32);
    ls__ir_set(c, trip, k32(c, 0));

    ls__ir_inst *loop = ls__ir_loop(c);
    ls__ir_cursor body = {c->function, loop->regions[0], NULL, c->loc};
    ls__ir_cursor step = {c->function, loop->regions[1], NULL, c->loc};
    at b = &body;
    words from = get_pair(b, number), r = get_pair(b, left);
    val overflows = slt(b, r.high, k32(b, 0)); /* the shift would lose the top bit: r exceeds d */
    words next = {or_(b, shl_k(b, r.low, 1), lshr_k(b, from.high, 31)),
                  or_(b, shl_k(b, r.high, 1), lshr_k(b, r.low, 31))};
    val goes = or_(b, overflows, not_(b, less_words(b, next, d, false)));
    set_pair(b, left, choose_words(b, goes, sub_words(b, next, d), next));
    words shifted = {or_(b, shl_k(b, from.low, 1), b2i(b, goes)),
                     or_(b, shl_k(b, from.high, 1), lshr_k(b, from.low, 31))};
    set_pair(b, number, shifted);
    val done = add_k(&step, ls__ir_get(&step, trip), 1);
    ls__ir_set(&step, trip, done);
    ls__ir_insert(&step, LS_OP_WHILE, LS_TYPE_VOID, (val[]){ult(&step, done, k32(&step, 64))}, 1);

    *quotient = get_pair(c, number);
    *rest = get_pair(c, left);
}

static words negate_if(at c, val condition, words a)
{
    return choose_words(c, condition, sub_words(c, constant(c, 0), a), a);
}

static words divide_words(at c, ls_op op, words a, words b)
{
    bool is_signed = op == LS_OP_SDIV || op == LS_OP_SREM;
    words zero = constant(c, 0), one = constant(c, 1);
    val by_zero = equal_words(c, b, zero);
    /* x / 1 = x and x % 1 = 0 are what division by zero gives. */
    words divisor = choose_words(c, by_zero, one, b), dividend = a, quotient, rest;
    val a_negative = slt(c, a.high, k32(c, 0));
    val b_negative = slt(c, divisor.high, k32(c, 0));
    if (is_signed) {
        dividend = negate_if(c, a_negative, dividend);
        divisor = negate_if(c, b_negative, divisor);
    }
    divide_magnitudes(c, dividend, divisor, &quotient, &rest);
    if (is_signed) {
        quotient = negate_if(c, xor_(c, a_negative, b_negative), quotient);
        rest = negate_if(c, a_negative, rest);
    }
    return op == LS_OP_SDIV || op == LS_OP_UDIV ? quotient : rest;
}

/* --- instructions ---------------------------------------------------------------------------- */

static bool binary_words(at c, ls_op op, words a, words b, words *result)
{
    switch (op) {
    case LS_OP_ADD:
        *result = add_words(c, a, b);
        return true;
    case LS_OP_SUB:
        *result = sub_words(c, a, b);
        return true;
    case LS_OP_MUL:
        *result = mul_words(c, a, b);
        return true;
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
        *result = divide_words(c, op, a, b);
        return true;
    case LS_OP_AND:
    case LS_OP_OR:
    case LS_OP_XOR:
        *result = (words){ls__ir_emit2(c, op, a.low, b.low), ls__ir_emit2(c, op, a.high, b.high)};
        return true;
    case LS_OP_SHL:
    case LS_OP_LSHR:
    case LS_OP_ASHR:
        *result = shift_words(c, op, a, b.low);
        return true;
    case LS_OP_SMIN:
    case LS_OP_UMIN:
        *result = choose_words(c, less_words(c, a, b, op == LS_OP_SMIN), a, b);
        return true;
    case LS_OP_SMAX:
    case LS_OP_UMAX:
        *result = choose_words(c, less_words(c, a, b, op == LS_OP_SMAX), b, a);
        return true;
    default:
        return false;
    }
}

static val compare(at c, ls_op op, words a, words b)
{
    switch (op) {
    case LS_OP_EQ:
        return equal_words(c, a, b);
    case LS_OP_NE:
        return not_(c, equal_words(c, a, b));
    case LS_OP_SLT:
    case LS_OP_ULT:
        return less_words(c, a, b, op == LS_OP_SLT);
    case LS_OP_SLE:
    case LS_OP_ULE:
        return not_(c, less_words(c, b, a, op == LS_OP_SLE));
    default:
        return (val){0};
    }
}

static val lower_unary(at c, splitting *s, const ls__ir_inst *inst)
{
    val a = inst->args[0];
    switch ((ls_op)inst->op) {
    case LS_OP_SEXT:
        return join(c, s, (words){a, ashr(c, a, k32(c, 31))});
    case LS_OP_ZEXT: /* stays, but is known in words */
        remember(s, inst->id, (words){a, k32(c, 0)});
        return (val){0};
    case LS_OP_TRUNC:
        return words_of(c, s, a).low;
    case LS_OP_NOT: {
        words w = words_of(c, s, a);
        return join(c, s, (words){not_(c, w.low), not_(c, w.high)});
    }
    case LS_OP_SEXT8:
    case LS_OP_SEXT16: {
        val low = ls__ir_emit1(c, (ls_op)inst->op, words_of(c, s, a).low);
        return join(c, s, (words){low, ashr(c, low, k32(c, 31))});
    }
    case LS_OP_ZEXT8:
    case LS_OP_ZEXT16: {
        val low = ls__ir_emit1(c, (ls_op)inst->op, words_of(c, s, a).low);
        return join(c, s, (words){low, k32(c, 0)});
    }
    default:
        return (val){0};
    }
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    splitting *s = context;
    val none = {0};
    if (!inst->id.id || inst->arg_count == 0 || !ls__ir_op_has((ls_op)inst->op, 'P'))
        return none;
    if (inst->op == LS_OP_SELECT && inst->type == LS_TYPE_I64) {
        words yes = words_of(c, s, inst->args[1]), no = words_of(c, s, inst->args[2]);
        return join(c, s, choose_words(c, inst->args[0], yes, no));
    }
    bool wide = ls__ir_type_of(c->function, inst->args[0]) == LS_TYPE_I64;
    if (inst->arg_count == 1)
        return wide || inst->type == LS_TYPE_I64 ? lower_unary(c, s, inst) : none;
    if (!wide || inst->arg_count != 2 || inst->op == LS_OP_INDEX)
        return none;
    words a = words_of(c, s, inst->args[0]), b = words_of(c, s, inst->args[1]), result;
    if (inst->type == LS_TYPE_BOOL)
        return compare(c, (ls_op)inst->op, a, b);
    return binary_words(c, (ls_op)inst->op, a, b, &result) ? join(c, s, result) : none;
}

bool ls__pass_lower_int64(ls__ir_function *function, ls__arena *scratch)
{
    splitting s = {.scratch = scratch};
    return ls__lower_each(function, scratch, lower, &s);
}
