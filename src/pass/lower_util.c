/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowerings share; see lower_util.h. */
#include "pass/lower_util.h"

const ls__format ls__format_f16 = {LS_TYPE_I32, 32, 10, 5};
const ls__format ls__format_bf16 = {LS_TYPE_I32, 32, 7, 8};
const ls__format ls__format_f32 = {LS_TYPE_I32, 32, 23, 8};
const ls__format ls__format_f64 = {LS_TYPE_I64, 64, 52, 11};

const ls__format *ls__format_of(ls_type type)
{
    return type == LS_TYPE_F64 ? &ls__format_f64 : &ls__format_f32;
}

uint64_t ls__format_sign(const ls__format *format)
{
    return UINT64_C(1) << (format->mantissa + format->exponent);
}

uint64_t ls__format_infinity(const ls__format *format)
{
    return ls__format_sign(format) - (UINT64_C(1) << format->mantissa);
}

uint64_t ls__format_nan(const ls__format *format)
{
    return ls__format_infinity(format) | UINT64_C(1) << (format->mantissa - 1);
}

int32_t ls__format_bias(const ls__format *format)
{
    return (1 << (format->exponent - 1)) - 1;
}

ls__parts ls__lower_unpack(at c, const ls__format *format, val bits)
{
    uint64_t hidden = UINT64_C(1) << format->mantissa;
    ls__parts p = {.bits = bits};
    p.magnitude = and_k(c, bits, ls__format_sign(format) - 1);
    p.sign = and_k(c, bits, ls__format_sign(format));
    val infinity = k(c, bits, ls__format_infinity(format));
    p.is_zero = eq(c, p.magnitude, k(c, bits, 0));
    p.is_infinite = eq(c, p.magnitude, infinity);
    p.is_nan = ult(c, infinity, p.magnitude);

    val field = lshr_k(c, p.magnitude, format->mantissa);
    val is_subnormal = eq(c, field, k(c, bits, 0));
    val fraction = and_k(c, bits, hidden - 1);
    val raw = choose(c, is_subnormal, fraction, or_(c, fraction, k(c, bits, hidden)));
    /* Leading zeros of a normal significand: none of this concerns it. */
    val shift = add_k(c, clz(c, raw), 0 - (uint64_t)(format->word_bits - 1 - format->mantissa));
    p.significand = shl(c, raw, shift);
    val stored = choose(c, is_subnormal, k(c, bits, 1), field);
    p.exponent = sub(c, add_k(c, stored, 0 - (uint64_t)ls__format_bias(format)), shift);
    return p;
}

/* value >> count for 0 <= count < the width, with the lowest bit set when any one bit fell out. */
static val shift_sticky(at c, val value, val count)
{
    val kept = lshr(c, value, count);
    val lost = ne(c, shl(c, kept, count), value);
    return or_(c, kept, flag(c, value, lost));
}

val ls__lower_pack(at c, const ls__format *format, val sign, val exponent, val significand)
{
    int64_t bias = ls__format_bias(format);
    uint32_t below = format->word_bits - 1 - format->mantissa; /* bits to round away */
    uint64_t half = UINT64_C(1) << (below - 1);

    /* Below the smallest normal exponent the significand moves down instead. */
    val smallest = k(c, exponent, (uint64_t)(1 - bias));
    val deficit = smax(c, sub(c, smallest, exponent), k(c, exponent, 0));
    val shift = smin(c, deficit, k(c, exponent, format->word_bits - 1));
    val placed = shift_sticky(c, significand, shift);
    val field = smax(c, add_k(c, exponent, (uint64_t)(bias - 1)), k(c, exponent, 0));

    /* The leading bit adds one to the exponent field, and so may the carry of rounding. */
    val kept = lshr_k(c, placed, below);
    val rest = and_k(c, placed, half * 2 - 1);
    val above_half = ult(c, k(c, rest, half), rest);
    val is_tie = eq(c, rest, k(c, rest, half));
    val is_odd = ne(c, and_k(c, kept, 1), k(c, kept, 0));
    val up = or_(c, above_half, and_(c, is_tie, is_odd));
    val packed = add(c, add(c, shl_k(c, field, format->mantissa), kept), flag(c, kept, up));

    val too_large = slt(c, k(c, exponent, (uint64_t)bias), exponent);
    val magnitude = choose(c, too_large, k(c, packed, ls__format_infinity(format)), packed);
    return or_(c, magnitude, sign);
}

/* --- walking --------------------------------------------------------------------------------- */

static bool lower_region(ls__ir_function *function, ls__pass_map *map, ls__ir_region *region,
                         ls__lower_one *lower, void *context)
{
    bool changed = false;
    for (ls__ir_inst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        ls__pass_map_args(map, inst);
        for (uint32_t i = 0; i < inst->region_count; i++)
            changed |= lower_region(function, map, inst->regions[i], lower, context);
        ls__ir_cursor cursor = ls__pass_before(function, inst);
        ls_value id = inst->id;
        val value = lower(&cursor, inst, context);
        if (!value.id)
            continue;
        changed = true;
        if (ls__ir_def(function, id) == inst)
            ls__pass_replace(map, function, inst, value);
    }
    return changed;
}

bool ls__lower_each(ls__ir_function *function, ls__arena *scratch, ls__lower_one *lower,
                    void *context)
{
    ls__pass_map map;
    ls__pass_map_init(&map, function, scratch);
    return lower_region(function, &map, function->body, lower, context);
}

val ls__lower_in_range(at c, ls_base base, val offset, uint32_t bytes)
{
    uint64_t size = ls__pass_object_size(c->function, base);
    if (base.kind != LS_BASE_BUFFER) {
        if (size < bytes)
            return ls__ir_const_bool(c, false);
        return ule(c, offset, k64(c, size - bytes));
    }
    ls__ir_inst *range = ls__ir_insert(c, LS_OP_RANGE, LS_TYPE_I64, NULL, 0);
    range->base = base;
    /* The first comparison is of uniform values; without it the subtraction could wrap. LS_NOWHERE
     * is larger, as an unsigned number, than any range. */
    val fits = ule(c, k64(c, bytes), range->id);
    val last = sub(c, range->id, k64(c, bytes));
    return and_(c, fits, ule(c, offset, last));
}
