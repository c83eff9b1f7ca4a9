/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic, comparison and choice. What SPIR-V leaves undefined is made total here: counts of
 * shifts are masked, divisors that may not be used are replaced by 1, which gives just the values
 * that the contract wants.
 *
 * Every float operation is decorated NoContraction, and no zero of a float type is a constant: it
 * is made from a push constant that drivers cannot fold. With a literal zero some of them turn x +
 * 0 into x and x * 0 into 0.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

uint32_t ls__spirv_bits(ls_type type)
{
    return type == LS_TYPE_I64 || type == LS_TYPE_F64 ? 64 : 32;
}

ref ls__spirv_exact(unit *u, ref value)
{
    ls__spirv_decorate(u, value, SpvDecorationNoContraction);
    return value;
}

/* --- constants -------------------------------------------------------------------------------- */

ref ls__spirv_float_value(unit *u, uint32_t bits, uint64_t value)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    if (bits == 32)
        value = (uint32_t)value;
    if ((value & ~sign) != 0)
        return ls__spirv_float_const(u, bits, value);
    ref zero = ls__spirv_zero(u, bits), type = ls__spirv_float(u, bits);
    if (value != 0) {
        ref with = ls__spirv_int_const(u, bits, sign);
        zero = mk(u, SpvOpBitwiseOr, ls__spirv_int(u, bits), zero, with);
    }
    return mk(u, SpvOpBitcast, type, zero);
}

static ref constant(unit *u, const ls__ir_inst *inst)
{
    uint32_t bits = ls__spirv_bits((ls_type)inst->type);
    ref type;
    switch ((ls_type)inst->type) {
    case LS_TYPE_BOOL:
        type = ls__spirv_bool(u);
        return ls__spirv_unique(u, inst->imm ? SpvOpConstantTrue : SpvOpConstantFalse, type, NULL,
                                0);
    case LS_TYPE_F32:
    case LS_TYPE_F64:
        return ls__spirv_float_value(u, bits, inst->imm);
    default:
        return ls__spirv_int_const(u, bits, inst->imm);
    }
}

ref ls__spirv_value(unit *u, ls_value value)
{
    return u->f.values[value.id];
}

static const ls__ir_inst *constant_of(const unit *u, ls_value value)
{
    const ls__ir_inst *inst = ls__ir_def(u->f.function, value);
    return inst->op == LS_OP_CONST ? inst : NULL;
}

/* --- what drivers must not know --------------------------------------------------------------- */

ref ls__spirv_hidden(unit *u, ls_type type, ref value)
{
    uint32_t bits = ls__spirv_bits(type);
    ref integer = ls__spirv_int(u, bits), zero = ls__spirv_zero(u, bits);
    bool is_float = type == LS_TYPE_F32 || type == LS_TYPE_F64;
    if (is_float)
        value = mk(u, SpvOpBitcast, integer, value);
    value = mk(u, SpvOpBitwiseOr, integer, value, zero);
    return is_float ? mk(u, SpvOpBitcast, ls__spirv_type(u, type), value) : value;
}

bool ls__spirv_is_loaded(const unit *u, ls_value value)
{
    const ls__ir_inst *inst = ls__ir_def(u->f.function, value);
    return inst->op == LS_OP_LOAD && inst->base.kind != LS_BASE_LOCAL &&
           inst->base.kind != LS_BASE_SHARED;
}

/* An operand of float arithmetic. llvmpipe takes x + 0 for x, x * 0 for 0 and x / 0 for anything
 * when it finds out that an operand is 0, so there it must not find out. What came from memory, and
 * results of arithmetic on hidden operands, it cannot know. */
static ref float_operand(unit *u, ls_type type, ls_value value)
{
    const ls__ir_inst *inst = ls__ir_def(u->f.function, value);
    ref plain = ls__spirv_value(u, value);
    if (!u->target.llvmpipe || ls__spirv_is_loaded(u, value))
        return plain;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST: /* zeros are hidden as they are made */
    case LS_OP_FADD:
    case LS_OP_FSUB:
    case LS_OP_FMUL:
    case LS_OP_FDIV:
    case LS_OP_FFROM_BITS: /* hidden there */
        return plain;
    default:
        return ls__spirv_hidden(u, type, plain);
    }
}

/* An operand of a signed comparison of 64 bits. Mesa 22 gets wrong the comparison of a widened
 * value with a constant. */
static ref wide_operand(unit *u, ls_value value)
{
    ref plain = ls__spirv_value(u, value);
    if (!u->target.llvmpipe && ls__ir_def(u->f.function, value)->op != LS_OP_CONST)
        return plain;
    return ls__spirv_is_loaded(u, value) ? plain : ls__spirv_hidden(u, LS_TYPE_I64, plain);
}

/* --- integers: the operation at hand ---------------------------------------------------------- */

typedef struct op { /* an operation of `bits` on operands a, b, c */
    const ls__ir_inst *inst;
    uint32_t bits;
    ref type, boolean;
    ref a, b, c;
} op;

static ref int_const(unit *u, const op *o, uint64_t value)
{
    return ls__spirv_int_const(u, o->bits, value);
}

static ref choose(unit *u, ref type, ref condition, ref yes, ref no)
{
    return mk(u, SpvOpSelect, type, condition, yes, no);
}

/* The count, below the width. */
static ref shift_count(unit *u, const op *o, ref count)
{
    const ls__ir_inst *known = constant_of(u, o->inst->args[1]);
    if (known)
        return int_const(u, o, known->imm & (o->bits - 1));
    ref mask = int_const(u, o, o->bits - 1);
    return mk(u, SpvOpBitwiseAnd, o->type, count, mask);
}

static ref rotate(unit *u, const op *o)
{
    ref width = int_const(u, o, o->bits), mask = int_const(u, o, o->bits - 1);
    ref left = shift_count(u, o, o->b);
    ref rest = mk(u, SpvOpISub, o->type, width, left);
    ref right = mk(u, SpvOpBitwiseAnd, o->type, rest, mask);
    ref high = mk(u, SpvOpShiftLeftLogical, o->type, o->a, left);
    ref low = mk(u, SpvOpShiftRightLogical, o->type, o->a, right);
    return mk(u, SpvOpBitwiseOr, o->type, high, low);
}

static ref safe_divisor(unit *u, const op *o, bool is_signed)
{
    const ls__ir_inst *known = constant_of(u, o->inst->args[1]);
    uint64_t ones = o->bits == 64 ? UINT64_MAX : UINT32_MAX;
    if (known && (known->imm & ones) != 0 && !(is_signed && (known->imm & ones) == ones))
        return o->b;
    ref unsafe = mk(u, SpvOpIEqual, o->boolean, o->b, int_const(u, o, 0));
    if (is_signed) {
        ref is_minus_one = mk(u, SpvOpIEqual, o->boolean, o->b, int_const(u, o, ones));
        ref smallest = int_const(u, o, UINT64_C(1) << (o->bits - 1));
        ref is_smallest = mk(u, SpvOpIEqual, o->boolean, o->a, smallest);
        ref overflows = mk(u, SpvOpLogicalAnd, o->boolean, is_minus_one, is_smallest);
        unsafe = mk(u, SpvOpLogicalOr, o->boolean, unsafe, overflows);
    }
    return choose(u, o->type, unsafe, int_const(u, o, 1), o->b);
}

/* OpSRem is undefined for negative operands in Vulkan, so the remainder is what is left over. */
static ref divide(unit *u, const op *o)
{
    bool is_signed = o->inst->op == LS_OP_SDIV || o->inst->op == LS_OP_SREM;
    ref divisor = safe_divisor(u, o, is_signed);
    if (o->inst->op == LS_OP_UREM)
        return mk(u, SpvOpUMod, o->type, o->a, divisor);
    ref quotient = mk(u, is_signed ? SpvOpSDiv : SpvOpUDiv, o->type, o->a, divisor);
    if (o->inst->op != LS_OP_SREM)
        return quotient;
    ref whole = mk(u, SpvOpIMul, o->type, quotient, divisor);
    return mk(u, SpvOpISub, o->type, o->a, whole);
}

static ref minmax(unit *u, const op *o)
{
    static const struct {
        ls_op op;
        enum GLSLstd450 glsl;
        SpvOp less;
    } table[] = {
        {LS_OP_SMIN, GLSLstd450SMin, SpvOpSLessThan},
        {LS_OP_SMAX, GLSLstd450SMax, SpvOpSGreaterThan},
        {LS_OP_UMIN, GLSLstd450UMin, SpvOpULessThan},
        {LS_OP_UMAX, GLSLstd450UMax, SpvOpUGreaterThan},
    };
    uint32_t i = 0;
    while (table[i].op != (ls_op)o->inst->op)
        i++;
    if (o->bits == 32)
        return mk_glsl(u, table[i].glsl, o->type, o->a, o->b);
    ref a = wide_operand(u, o->inst->args[0]), b = wide_operand(u, o->inst->args[1]);
    ref is_first = mk(u, table[i].less, o->boolean, a, b);
    return choose(u, o->type, is_first, o->a, o->b);
}

/* --- high halves and saturation --------------------------------------------------------------- */

static ref mulhi_32(unit *u, const op *o, bool is_signed)
{
    ref pair = mk_unique(u, SpvOpTypeStruct, 0, o->type, o->type);
    ref both = mk(u, is_signed ? SpvOpSMulExtended : SpvOpUMulExtended, pair, o->a, o->b);
    return mk(u, SpvOpCompositeExtract, o->type, both, 1);
}

/* Schoolbook multiplication on halves; no partial sum exceeds 64 bits. */
static ref mulhi_u64(unit *u, const op *o)
{
    ref t = o->type, low_mask = int_const(u, o, UINT32_MAX), half = int_const(u, o, 32);
    ref al = mk(u, SpvOpBitwiseAnd, t, o->a, low_mask);
    ref ah = mk(u, SpvOpShiftRightLogical, t, o->a, half);
    ref bl = mk(u, SpvOpBitwiseAnd, t, o->b, low_mask);
    ref bh = mk(u, SpvOpShiftRightLogical, t, o->b, half);
    ref low = mk(u, SpvOpIMul, t, al, bl);
    ref carry = mk(u, SpvOpShiftRightLogical, t, low, half);
    ref middle = mk(u, SpvOpIMul, t, ah, bl);
    middle = mk(u, SpvOpIAdd, t, middle, carry);
    ref middle_low = mk(u, SpvOpBitwiseAnd, t, middle, low_mask);
    ref cross = mk(u, SpvOpIMul, t, al, bh);
    cross = mk(u, SpvOpIAdd, t, cross, middle_low);
    ref high = mk(u, SpvOpIMul, t, ah, bh);
    ref first = mk(u, SpvOpShiftRightLogical, t, middle, half);
    ref second = mk(u, SpvOpShiftRightLogical, t, cross, half);
    high = mk(u, SpvOpIAdd, t, high, first);
    return mk(u, SpvOpIAdd, t, high, second);
}

static ref mulhi(unit *u, const op *o)
{
    bool is_signed = o->inst->op == LS_OP_MULHI_S;
    if (o->bits == 32)
        return mulhi_32(u, o, is_signed);
    ref high = mulhi_u64(u, o);
    if (!is_signed)
        return high;
    /* A negative operand counts as 2^64 more than it is. */
    ref sign = int_const(u, o, 63);
    ref a_mask = mk(u, SpvOpShiftRightArithmetic, o->type, o->a, sign);
    ref b_mask = mk(u, SpvOpShiftRightArithmetic, o->type, o->b, sign);
    ref from_a = mk(u, SpvOpBitwiseAnd, o->type, a_mask, o->b);
    ref from_b = mk(u, SpvOpBitwiseAnd, o->type, b_mask, o->a);
    high = mk(u, SpvOpISub, o->type, high, from_a);
    return mk(u, SpvOpISub, o->type, high, from_b);
}

static ref saturate_unsigned(unit *u, const op *o)
{
    bool adds = o->inst->op == LS_OP_ADD_SAT_U;
    ref plain = mk(u, adds ? SpvOpIAdd : SpvOpISub, o->type, o->a, o->b);
    ref wraps = mk(u, SpvOpULessThan, o->boolean, adds ? plain : o->a, adds ? o->a : o->b);
    return choose(u, o->type, wraps, int_const(u, o, adds ? UINT64_MAX : 0), plain);
}

/* The sum overflows when its sign differs from that of both operands; the difference, when the
 * operands' signs differ and the result's is not the first one's. */
static ref saturate_signed(unit *u, const op *o)
{
    bool adds = o->inst->op == LS_OP_ADD_SAT_S;
    ref plain = mk(u, adds ? SpvOpIAdd : SpvOpISub, o->type, o->a, o->b);
    ref changed = mk(u, SpvOpBitwiseXor, o->type, o->a, plain);
    ref other = mk(u, SpvOpBitwiseXor, o->type, o->b, adds ? plain : o->a);
    ref sign = mk(u, SpvOpBitwiseAnd, o->type, changed, other);
    ref overflows = mk(u, SpvOpSLessThan, o->boolean, sign, int_const(u, o, 0));
    uint64_t largest = (UINT64_C(1) << (o->bits - 1)) - 1;
    ref spread = mk(u, SpvOpShiftRightArithmetic, o->type, o->a, int_const(u, o, o->bits - 1));
    ref limit = mk(u, SpvOpBitwiseXor, o->type, spread, int_const(u, o, largest));
    return choose(u, o->type, overflows, limit, plain);
}

/* --- counting bits: Vulkan has it for 32 of them -----------------------------------------------
 */

static ref count_32(unit *u, ls_op which, ref value)
{
    ref word = ls__spirv_int(u, 32), at;
    if (which == LS_OP_POPCOUNT)
        return mk(u, SpvOpBitCount, word, value);
    if (which == LS_OP_CLZ) { /* all ones for 0 */
        at = mk_glsl(u, GLSLstd450FindUMsb, word, value);
        return mk(u, SpvOpISub, word, ls__spirv_u32(u, 31), at);
    }
    at = mk_glsl(u, GLSLstd450FindILsb, word, value);
    ref is_zero = mk(u, SpvOpIEqual, ls__spirv_bool(u), value, ls__spirv_u32(u, 0));
    return choose(u, word, is_zero, ls__spirv_u32(u, 32), at);
}

static ref count(unit *u, const op *o)
{
    ls_op which = (ls_op)o->inst->op;
    ref word = ls__spirv_int(u, 32), total;
    if (o->bits == 32)
        return count_32(u, which, o->a);
    ref low = mk(u, SpvOpUConvert, word, o->a);
    ref shifted = mk(u, SpvOpShiftRightLogical, o->type, o->a, int_const(u, o, 32));
    ref high = mk(u, SpvOpUConvert, word, shifted);
    ref of_low = count_32(u, which, low), of_high = count_32(u, which, high);
    if (which == LS_OP_POPCOUNT) {
        total = mk(u, SpvOpIAdd, word, of_low, of_high);
    } else { /* first the one half; the other only when that is 0 */
        bool leading = which == LS_OP_CLZ;
        ref first = leading ? high : low;
        ref is_zero = mk(u, SpvOpIEqual, o->boolean, first, ls__spirv_u32(u, 0));
        ref behind = mk(u, SpvOpIAdd, word, leading ? of_low : of_high, ls__spirv_u32(u, 32));
        total = choose(u, word, is_zero, behind, leading ? of_high : of_low);
    }
    return mk(u, SpvOpUConvert, o->type, total);
}

/* --- others ------------------------------------------------------------------------------------
 */

ref ls__spirv_extend(unit *u, uint32_t bits, uint32_t low, bool is_signed, ref value)
{
    ref type = ls__spirv_int(u, bits);
    if (!is_signed) {
        ref mask = ls__spirv_int_const(u, bits, (UINT64_C(1) << low) - 1);
        return mk(u, SpvOpBitwiseAnd, type, value, mask);
    }
    ref by = ls__spirv_int_const(u, bits, bits - low);
    ref high = mk(u, SpvOpShiftLeftLogical, type, value, by);
    return mk(u, SpvOpShiftRightArithmetic, type, high, by);
}

static ref extend_low(unit *u, const op *o)
{
    bool is_8 = o->inst->op == LS_OP_SEXT8 || o->inst->op == LS_OP_ZEXT8;
    bool is_signed = o->inst->op == LS_OP_SEXT8 || o->inst->op == LS_OP_SEXT16;
    return ls__spirv_extend(u, o->bits, is_8 ? 8 : 16, is_signed, o->a);
}

/* Four bytes in a word each; an instruction of an extension that is core from Vulkan 1.3 on. */
static ref dot4(unit *u, const op *o)
{
    ls__spirv_need(u, SpvCapabilityDotProductKHR);
    ls__spirv_need(u, SpvCapabilityDotProductInput4x8BitPackedKHR);
    ls__spirv_need_extension(u, "SPV_KHR_integer_dot_product");
    uint32_t packed = (uint32_t)SpvPackedVectorFormatPackedVectorFormat4x8BitKHR;
    ref dot;
    if (o->inst->op == LS_OP_DOT4_SS)
        dot = mk(u, SpvOpSDotKHR, o->type, o->a, o->b, packed);
    else /* the signed side comes first */
        dot = mk(u, SpvOpSUDotKHR, o->type, o->b, o->a, packed);
    return mk(u, SpvOpIAdd, o->type, dot, o->c);
}

/* --- floats ------------------------------------------------------------------------------------
 */

static ref as_bits(unit *u, uint32_t bits, ref value)
{
    return mk(u, SpvOpBitcast, ls__spirv_int(u, bits), value);
}

ref ls__spirv_is_nan(unit *u, uint32_t bits, ref value)
{
    uint64_t infinity = bits == 64 ? UINT64_C(0x7ff0000000000000) : 0x7f800000;
    ref type = ls__spirv_int(u, bits), raw = as_bits(u, bits, value);
    ref mask = ls__spirv_int_const(u, bits, (UINT64_C(1) << (bits - 1)) - 1);
    ref magnitude = mk(u, SpvOpBitwiseAnd, type, raw, mask);
    ref limit = ls__spirv_int_const(u, bits, infinity);
    return mk(u, SpvOpUGreaterThan, ls__spirv_bool(u), magnitude, limit);
}

static bool keeps_nan(const unit *u, uint32_t bits)
{
    return bits == 64 ? u->target.szinp64 : u->target.szinp32;
}

ref ls__spirv_compare(unit *u, ls_op which, uint32_t bits, ref a, ref b)
{
    ref boolean = ls__spirv_bool(u);
    if (which == LS_OP_FNE) {
        if (keeps_nan(u, bits))
            return mk(u, SpvOpFUnordNotEqual, boolean, a, b);
        ref equal = ls__spirv_compare(u, LS_OP_FEQ, bits, a, b);
        return mk(u, SpvOpLogicalNot, boolean, equal);
    }
    SpvOp ordered = which == LS_OP_FEQ   ? SpvOpFOrdEqual
                    : which == LS_OP_FLT ? SpvOpFOrdLessThan
                                         : SpvOpFOrdLessThanEqual;
    ref holds = mk(u, ordered, boolean, a, b);
    if (keeps_nan(u, bits))
        return holds;
    ref a_is = ls__spirv_is_nan(u, bits, a), b_is = ls__spirv_is_nan(u, bits, b);
    ref any = mk(u, SpvOpLogicalOr, boolean, a_is, b_is);
    ref none = mk(u, SpvOpLogicalNot, boolean, any);
    return mk(u, SpvOpLogicalAnd, boolean, holds, none);
}

/* fneg and fabs on the bits: also of NaNs and subnormals. */
static ref change_sign(unit *u, const op *o)
{
    uint64_t sign = UINT64_C(1) << (o->bits - 1);
    ref integer = ls__spirv_int(u, o->bits), raw = as_bits(u, o->bits, o->a);
    if (o->inst->op == LS_OP_FNEG)
        raw = mk(u, SpvOpBitwiseXor, integer, raw, int_const(u, o, sign));
    else
        raw = mk(u, SpvOpBitwiseAnd, integer, raw, int_const(u, o, sign - 1));
    return mk(u, SpvOpBitcast, o->type, raw);
}

/* The operations that llvmpipe folds. */
static ref arithmetic(unit *u, const op *o, SpvOp which)
{
    ls_type type = (ls_type)o->inst->type;
    ref a = float_operand(u, type, o->inst->args[0]), b = float_operand(u, type, o->inst->args[1]);
    return ls__spirv_exact(u, mk(u, which, o->type, a, b));
}

static ref float_op(unit *u, const op *o)
{
    switch ((ls_op)o->inst->op) {
    case LS_OP_FADD:
        return arithmetic(u, o, SpvOpFAdd);
    case LS_OP_FSUB:
        return arithmetic(u, o, SpvOpFSub);
    case LS_OP_FMUL:
        return arithmetic(u, o, SpvOpFMul);
    case LS_OP_FDIV:
        return arithmetic(u, o, SpvOpFDiv);
    case LS_OP_FMA:
        return ls__spirv_exact(u, mk_glsl(u, GLSLstd450Fma, o->type, o->a, o->b, o->c));
    case LS_OP_FSQRT:
        return ls__spirv_exact(u, mk_glsl(u, GLSLstd450Sqrt, o->type, o->a));
    case LS_OP_FFLOOR:
        return ls__spirv_exact(u, mk_glsl(u, GLSLstd450Floor, o->type, o->a));
    case LS_OP_FCEIL:
        return ls__spirv_exact(u, mk_glsl(u, GLSLstd450Ceil, o->type, o->a));
    case LS_OP_FTRUNC:
        return ls__spirv_exact(u, mk_glsl(u, GLSLstd450Trunc, o->type, o->a));
    default:
        return ls__spirv_exact(u, mk_glsl(u, GLSLstd450RoundEven, o->type, o->a));
    }
}

/* --- the switch --------------------------------------------------------------------------------
 */

static SpvOp plain_op(ls_op which)
{
    switch (which) {
    case LS_OP_ADD:
        return SpvOpIAdd;
    case LS_OP_SUB:
        return SpvOpISub;
    case LS_OP_MUL:
        return SpvOpIMul;
    case LS_OP_AND:
        return SpvOpBitwiseAnd;
    case LS_OP_OR:
        return SpvOpBitwiseOr;
    case LS_OP_XOR:
        return SpvOpBitwiseXor;
    case LS_OP_EQ:
        return SpvOpIEqual;
    case LS_OP_NE:
        return SpvOpINotEqual;
    case LS_OP_SLT:
        return SpvOpSLessThan;
    case LS_OP_SLE:
        return SpvOpSLessThanEqual;
    case LS_OP_ULT:
        return SpvOpULessThan;
    case LS_OP_ULE:
        return SpvOpULessThanEqual;
    default:
        return SpvOpNop;
    }
}

static ref bool_op(unit *u, const op *o)
{
    switch ((ls_op)o->inst->op) {
    case LS_OP_AND:
        return mk(u, SpvOpLogicalAnd, o->boolean, o->a, o->b);
    case LS_OP_OR:
        return mk(u, SpvOpLogicalOr, o->boolean, o->a, o->b);
    case LS_OP_EQ:
        return mk(u, SpvOpLogicalEqual, o->boolean, o->a, o->b);
    default: /* xor, ne */
        return mk(u, SpvOpLogicalNotEqual, o->boolean, o->a, o->b);
    }
}

static ref integer_op(unit *u, const op *o)
{
    switch ((ls_op)o->inst->op) {
    case LS_OP_SHL:
        return mk(u, SpvOpShiftLeftLogical, o->type, o->a, shift_count(u, o, o->b));
    case LS_OP_LSHR:
        return mk(u, SpvOpShiftRightLogical, o->type, o->a, shift_count(u, o, o->b));
    case LS_OP_ASHR:
        return mk(u, SpvOpShiftRightArithmetic, o->type, o->a, shift_count(u, o, o->b));
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
        return divide(u, o);
    case LS_OP_ROTL:
        return rotate(u, o);
    case LS_OP_SMIN:
    case LS_OP_SMAX:
    case LS_OP_UMIN:
    case LS_OP_UMAX:
        return minmax(u, o);
    case LS_OP_MULHI_S:
    case LS_OP_MULHI_U:
        return mulhi(u, o);
    case LS_OP_ADD_SAT_U:
    case LS_OP_SUB_SAT_U:
        return saturate_unsigned(u, o);
    case LS_OP_ADD_SAT_S:
    case LS_OP_SUB_SAT_S:
        return saturate_signed(u, o);
    case LS_OP_POPCOUNT:
    case LS_OP_CLZ:
    case LS_OP_CTZ:
        return count(u, o);
    case LS_OP_DOT4_SS:
    case LS_OP_DOT4_US:
        return dot4(u, o);
    case LS_OP_SEXT8:
    case LS_OP_SEXT16:
    case LS_OP_ZEXT8:
    case LS_OP_ZEXT16:
        return extend_low(u, o);
    default:
        return mk(u, plain_op((ls_op)o->inst->op), o->type, o->a, o->b);
    }
}

ref ls__spirv_pure(unit *u, const ls__ir_inst *inst)
{
    ls_type operand = ls__ir_operand_type(u->f.function, inst);
    op o = {.inst = inst, .bits = ls__spirv_bits(operand), .boolean = ls__spirv_bool(u)};
    o.type = ls__spirv_type(u, operand);
    o.a = inst->arg_count > 0 ? ls__spirv_value(u, inst->args[0]) : 0;
    o.b = inst->arg_count > 1 ? ls__spirv_value(u, inst->args[1]) : 0;
    o.c = inst->arg_count > 2 ? ls__spirv_value(u, inst->args[2]) : 0;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
        return constant(u, inst);
    case LS_OP_PARAM:
        return ls__spirv_param(u, inst);
    case LS_OP_ID:
        return ls__spirv_id(u, (ls_id)inst->imm, (uint32_t)inst->imm2);
    case LS_OP_SELECT:
        return choose(u, o.type, o.a, o.b, o.c);
    case LS_OP_NOT:
        return operand == LS_TYPE_BOOL ? mk(u, SpvOpLogicalNot, o.boolean, o.a)
                                       : mk(u, SpvOpNot, o.type, o.a);
    case LS_OP_SLT:
    case LS_OP_SLE:
        if (operand == LS_TYPE_I64) {
            o.a = wide_operand(u, inst->args[0]);
            o.b = wide_operand(u, inst->args[1]);
        }
        return mk(u, plain_op((ls_op)inst->op), o.boolean, o.a, o.b);
    case LS_OP_EQ:
    case LS_OP_NE:
    case LS_OP_ULT:
    case LS_OP_ULE:
        if (operand != LS_TYPE_BOOL)
            return mk(u, plain_op((ls_op)inst->op), o.boolean, o.a, o.b);
        return bool_op(u, &o);
    case LS_OP_AND:
    case LS_OP_OR:
    case LS_OP_XOR:
        return operand == LS_TYPE_BOOL ? bool_op(u, &o) : integer_op(u, &o);
    case LS_OP_FEQ:
    case LS_OP_FNE:
    case LS_OP_FLT:
    case LS_OP_FLE:
        return ls__spirv_compare(u, (ls_op)inst->op, o.bits, o.a, o.b);
    case LS_OP_FNEG:
    case LS_OP_FABS:
        return change_sign(u, &o);
    case LS_OP_FMIN:
    case LS_OP_FMAX:
    case LS_OP_FCANON:
    case LS_OP_FBITS:
    case LS_OP_INDEX:
        ls__spirv_not_lowered(u, inst);
        return o.a;
    default:
        if (operand == LS_TYPE_F32 || operand == LS_TYPE_F64)
            return float_op(u, &o);
        return integer_op(u, &o);
    }
}
