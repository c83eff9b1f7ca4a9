/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_nan: the one NaN of float stores, fbits and fcanon, by integer comparison.
 *
 * needs: nothing. keeps: everything. breaks: nothing; float stores become RAW, fbits becomes
 * frawbits.
 *
 * Where a value cannot be a NaN with other bits nothing is emitted: constants, integers converted
 * to float, results of fcanon, sign changes and choices of such.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

static val canonical_bits(at c, const ls__format *format, val bits)
{
    val magnitude = and_k(c, bits, ls__format_sign(format) - 1);
    val is_nan = ult(c, k(c, bits, ls__format_infinity(format)), magnitude);
    return choose(c, is_nan, k(c, bits, ls__format_nan(format)), bits);
}

static bool is_canonical_const(const ls__format *format, uint64_t bits)
{
    uint64_t magnitude = bits & (ls__format_sign(format) - 1);
    return magnitude <= ls__format_infinity(format) || bits == ls__format_nan(format);
}

enum { MAX_LOOK = 4 }; /* how far back to look */

static bool is_clean(const ls__ir_function *function, ls_value value, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(function, value);
    if (depth == MAX_LOOK)
        return false;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
        return is_canonical_const(ls__format_of((ls_type)inst->type), inst->imm);
    case LS_OP_S2F:
    case LS_OP_U2F:
    case LS_OP_FCANON:
        return true;
    case LS_OP_FFROM_BITS: { /* made by this pass, or of an integer that is no NaN */
        const ls__ir_inst *bits = ls__ir_def(function, inst->args[0]);
        return bits->op == LS_OP_CONST &&
               is_canonical_const(ls__format_of((ls_type)inst->type), bits->imm);
    }
    case LS_OP_SELECT:
        return is_clean(function, inst->args[1], depth + 1) &&
               is_clean(function, inst->args[2], depth + 1);
    default:
        return false;
    }
}

/* Values of 16-bit formats are integers; those that conversions make are canonical. */
static bool is_clean_16(const ls__ir_function *function, ls_value value, ls_mem mem)
{
    const ls__ir_inst *inst = ls__ir_def(function, value);
    const ls__format *format = mem == LS_MEM_F16 ? &ls__format_f16 : &ls__format_bf16;
    if (inst->op == LS_OP_CONST)
        return is_canonical_const(format, inst->imm & 0xffff);
    return inst->op == (mem == LS_MEM_F16 ? LS_OP_F32_TO_F16 : LS_OP_F32_TO_BF16);
}

static val canonical(at c, val value)
{
    ls_type type = ls__ir_type_of(c->function, value);
    const ls__format *format = ls__format_of(type);
    val bits = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, value);
    return ls__ir_convert(c, LS_OP_FFROM_BITS, type, canonical_bits(c, format, bits));
}

static void lower_store(at c, ls__ir_inst *inst)
{
    val value = inst->args[1];
    ls_mem mem = (ls_mem)inst->mem;
    if (mem == LS_MEM_F16 || mem == LS_MEM_BF16) {
        const ls__format *format = mem == LS_MEM_F16 ? &ls__format_f16 : &ls__format_bf16;
        if (!is_clean_16(c->function, value, mem))
            inst->args[1] = canonical_bits(c, format, value);
    } else if (!is_clean(c->function, value, 0)) {
        inst->args[1] = canonical(c, value);
    }
    inst->flags |= LS__IR_RAW;
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    bool *changed = context;
    switch ((ls_op)inst->op) {
    case LS_OP_STORE:
        if (!ls__ir_mem_is_float((ls_mem)inst->mem) || (inst->flags & LS__IR_RAW))
            return (val){0};
        lower_store(c, inst);
        *changed = true;
        return (val){0};
    case LS_OP_FBITS: {
        val value = inst->args[0];
        const ls__format *format = ls__format_of(ls__ir_type_of(c->function, value));
        val bits = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, value);
        return is_clean(c->function, value, 0) ? bits : canonical_bits(c, format, bits);
    }
    case LS_OP_FCANON:
        return is_clean(c->function, inst->args[0], 0) ? inst->args[0]
                                                       : canonical(c, inst->args[0]);
    default:
        return (val){0};
    }
}

bool ls__pass_lower_nan(ls__ir_function *function, ls__arena *scratch)
{
    bool changed = false;
    changed |= ls__lower_each(function, scratch, lower, &changed);
    return changed;
}
