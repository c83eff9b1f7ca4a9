/* SPDX-License-Identifier: Apache-2.0 */
/* The longer of the spellings that build.h declares: types, constants, masks, intrinsics. */
#include <string.h>

#include "emit/llvm/build.h"

lt ls__llvm_type(const unit *u, ls_type type, bool is_vector)
{
    const emitter *e = u->e;
    lt element = e->void_type;
    switch (type) {
    case LS_TYPE_BOOL:
        element = e->i1;
        break;
    case LS_TYPE_I32:
        element = e->i32;
        break;
    case LS_TYPE_I64:
        element = e->i64;
        break;
    case LS_TYPE_F32:
        element = e->f32;
        break;
    case LS_TYPE_F64:
        element = e->f64;
        break;
    case LS_TYPE_VOID:
    case LS_TYPE_COUNT:
        return e->void_type;
    }
    return is_vector ? mk_by_lane(u, element) : element;
}

static bool has_wide_masks(const unit *u)
{
    return u->width > 1 && u->e->target.level != LS__LLVM_AVX512;
}

lv ls__llvm_splat_const(const unit *u, lt type, uint64_t bits)
{
    const ls__llvm *l = u->l;
    if (l->GetTypeKind(type) != LLVMVectorTypeKind)
        return l->ConstInt(type, bits, 0);
    uint32_t count = l->GetVectorSize(type);
    lv items[64], item = l->ConstInt(l->GetElementType(type), bits, 0);
    for (uint32_t i = 0; i < count && i < 64; i++)
        items[i] = item;
    return l->ConstVector(items, count);
}

lv ls__llvm_splat(unit *u, lv scalar)
{
    if (u->width == 1)
        return scalar;
    const ls__llvm *l = u->l;
    if (l->TypeOf(scalar) == u->e->i1 && has_wide_masks(u))
        return ls__llvm_narrow(u, ls__llvm_splat(u, mk_sext(u, scalar, u->e->i32)));
    lt type = l->VectorType(l->TypeOf(scalar), u->width);
    lv none = l->ConstNull(type);
    lv first = l->BuildInsertElement(u->b, none, scalar, mk_i32(u, 0), "");
    return l->BuildShuffleVector(u->b, first, none,
                                 l->ConstNull(l->VectorType(u->e->i32, u->width)), "");
}

lv ls__llvm_alloca(unit *u, lt type)
{
    lb here = u->l->GetInsertBlock(u->b);
    u->l->PositionBuilderAtEnd(u->b, u->allocas);
    lv place = u->l->BuildAlloca(u->b, ls__llvm_kept_type(u, type), "");
    u->l->PositionBuilderAtEnd(u->b, here);
    return place;
}

lv ls__llvm_take_lanes(unit *u, lv vector, uint32_t from, uint32_t count)
{
    lv indices[64];
    if (count == u->l->GetVectorSize(u->l->TypeOf(vector)))
        return vector;
    for (uint32_t i = 0; i < count; i++)
        indices[i] = mk_i32(u, from + i);
    return u->l->BuildShuffleVector(u->b, vector, vector, u->l->ConstVector(indices, count), "");
}

/* --- masks ------------------------------------------------------------------------------------ */

bool ls__llvm_is_mask(const unit *u, lv value)
{
    return has_wide_masks(u) && mk_is_vector(u, value) && mk_element(u, value) == u->e->i1;
}

/* `wide < 0` gives `wide` back, which is why only the highest bits count. */
lv ls__llvm_wide(unit *u, lv mask)
{
    const ls__llvm *l = u->l;
    if (l->IsAICmpInst(mask) && l->GetICmpPredicate(mask) == LLVMIntSLT) {
        lv a = l->GetOperand(mask, 0);
        if (mk_element(u, a) == u->e->i32 && l->IsNull(l->GetOperand(mask, 1)))
            return a;
    }
    return mk_sext(u, mask, u->e->i32);
}

lv ls__llvm_narrow(unit *u, lv wide)
{
    return mk_icmp(u, LLVMIntSLT, wide, mk_k(u, wide, 0));
}

typedef lv build2(LLVMBuilderRef b, lv left, lv right, const char *name);

static lv logic(unit *u, build2 *build, lv a, lv b)
{
    if (!ls__llvm_is_mask(u, a))
        return build(u->b, a, b, "");
    return ls__llvm_narrow(u, build(u->b, ls__llvm_wide(u, a), ls__llvm_wide(u, b), ""));
}

lv mk_and(unit *u, lv a, lv b)
{
    return logic(u, u->l->BuildAnd, a, b);
}

lv mk_or(unit *u, lv a, lv b)
{
    return logic(u, u->l->BuildOr, a, b);
}

lv mk_xor(unit *u, lv a, lv b)
{
    return logic(u, u->l->BuildXor, a, b);
}

lv mk_not(unit *u, lv a)
{
    if (!ls__llvm_is_mask(u, a))
        return u->l->BuildNot(u->b, a, "");
    return ls__llvm_narrow(u, u->l->BuildNot(u->b, ls__llvm_wide(u, a), ""));
}

lv mk_both(unit *u, lv a, lv b)
{
    return a && b ? mk_and(u, a, b) : a ? a : b;
}

lv mk_icmp(unit *u, LLVMIntPredicate predicate, lv a, lv b)
{
    if (predicate == LLVMIntNE && ls__llvm_is_mask(u, a))
        return mk_xor(u, a, b);
    if (predicate == LLVMIntEQ && ls__llvm_is_mask(u, a))
        return mk_not(u, mk_xor(u, a, b));
    return u->l->BuildICmp(u->b, predicate, a, b, "");
}

lv mk_select(unit *u, lv condition, lv a, lv b)
{
    if (!ls__llvm_is_mask(u, a))
        return u->l->BuildSelect(u->b, condition, a, b, "");
    a = ls__llvm_wide(u, a);
    b = ls__llvm_wide(u, b);
    return ls__llvm_narrow(u, u->l->BuildSelect(u->b, condition, a, b, ""));
}

lt ls__llvm_kept_type(const unit *u, lt type)
{
    if (has_wide_masks(u) && type == ls__llvm_mask_type(u))
        return mk_by_lane(u, u->e->i32);
    return type;
}

lv mk_keep(unit *u, lv value, lv place)
{
    if (ls__llvm_is_mask(u, value))
        value = ls__llvm_wide(u, value);
    return u->l->BuildStore(u->b, value, place);
}

lv mk_kept(unit *u, lt type, lv place)
{
    lt kept = ls__llvm_kept_type(u, type);
    lv value = u->l->BuildLoad2(u->b, kept, place, "");
    return kept == type ? value : ls__llvm_narrow(u, value);
}

lt ls__llvm_mask_type(const unit *u)
{
    return mk_by_lane(u, u->e->i1);
}

lv ls__llvm_mask_type_zero(unit *u)
{
    return u->l->ConstNull(ls__llvm_mask_type(u));
}

lv ls__llvm_full_mask(unit *u)
{
    return ls__llvm_splat_const(u, ls__llvm_mask_type(u), 1);
}

static lv as_bits(unit *u, lv mask, uint32_t lanes)
{
    return u->l->BuildBitCast(u->b, mask, u->l->IntTypeInContext(u->e->context, lanes), "");
}

/* 32-bit lanes of a register, at most the strand's. */
static uint32_t register_lanes(const unit *u)
{
    uint32_t lanes = u->e->target.level == LS__LLVM_AVX2 ? 8 : 4;
    return lanes < u->width ? lanes : u->width;
}

lv ls__llvm_mask_bits(unit *u, lv mask)
{
    if (!has_wide_masks(u))
        return u->width == 32 ? as_bits(u, mask, 32)
                              : mk_zext(u, as_bits(u, mask, u->width), u->e->i32);
    lv wide = ls__llvm_wide(u, mask), all = NULL;
    uint32_t lanes = register_lanes(u);
    for (uint32_t i = 0; i < u->width; i += lanes) {
        lv part = ls__llvm_take_lanes(u, wide, i, lanes);
        lv bits = mk_zext(u, as_bits(u, ls__llvm_narrow(u, part), lanes), u->e->i32);
        bits = i == 0 ? bits : mk_shl(u, bits, mk_i32(u, i));
        all = all ? mk_or(u, all, bits) : bits;
    }
    return all;
}

lv ls__llvm_mask_from_bits(unit *u, lv bits)
{
    if (has_wide_masks(u)) { /* bit l of lane l becomes its sign */
        lv places = mk_sub(u, mk_k(u, u->lanes, 31), u->lanes);
        return ls__llvm_narrow(u, mk_shl(u, ls__llvm_splat(u, bits), places));
    }
    if (u->width < 32)
        bits = mk_trunc(u, bits, u->l->IntTypeInContext(u->e->context, u->width));
    return u->l->BuildBitCast(u->b, bits, ls__llvm_mask_type(u), "");
}

lv ls__llvm_any(unit *u, lv mask)
{
    uint32_t lanes = u->width;
    if (lanes == 1)
        return mask;
    if (has_wide_masks(u)) { /* first the registers of it are made one */
        lv wide = ls__llvm_wide(u, mask);
        for (; lanes > register_lanes(u); lanes /= 2)
            wide = mk_or(u, ls__llvm_take_lanes(u, wide, 0, lanes / 2),
                         ls__llvm_take_lanes(u, wide, lanes / 2, lanes / 2));
        mask = ls__llvm_narrow(u, wide);
    }
    lv bits = as_bits(u, mask, lanes);
    return mk_icmp(u, LLVMIntNE, bits, mk_k(u, bits, 0));
}

/* --- attributes, intrinsics ------------------------------------------------------------------- */

LLVMAttributeRef ls__llvm_attribute(const emitter *e, const char *name, uint64_t value)
{
    unsigned kind = e->l->GetEnumAttributeKindForName(name, strlen(name));
    return e->l->CreateEnumAttribute(e->context, kind, value);
}

void ls__llvm_add_attribute(const emitter *e, lv function, const char *name)
{
    e->l->AddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                              ls__llvm_attribute(e, name, 0));
}

/* A pass may put another function in the place of one, with the same attributes: so the mark is an
 * attribute, of a name that LLVM does not know. */
static const char long_mark[] = "lockstep-long";

void ls__llvm_mark_long(const emitter *e, lv function)
{
    ls__llvm_add_attribute(e, function, "noinline");
    e->l->AddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        e->l->CreateStringAttribute(e->context, long_mark, sizeof long_mark - 1, "", 0));
}

void ls__llvm_end_long(const emitter *e)
{
    const ls__llvm *l = e->l;
    for (lv f = l->GetFirstFunction(e->out); f; f = l->GetNextFunction(f))
        if (l->GetStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         long_mark, sizeof long_mark - 1))
            ls__llvm_add_attribute(e, f, "optnone");
}

void ls__llvm_likely(unit *u, lv condition, lb then_block, lb else_block)
{
    static const char kind[] = "prof", name[] = "branch_weights";
    enum { OFTEN = 2000 };
    const ls__llvm *l = u->l;
    LLVMMetadataRef parts[3] = {l->MDStringInContext2(u->e->context, name, sizeof name - 1),
                                l->ValueAsMetadata(mk_i32(u, OFTEN)),
                                l->ValueAsMetadata(mk_i32(u, 1))};
    LLVMMetadataRef node = l->MDNodeInContext2(u->e->context, parts, 3);
    l->SetMetadata(l->BuildCondBr(u->b, condition, then_block, else_block),
                   l->GetMDKindIDInContext(u->e->context, kind, sizeof kind - 1),
                   l->MetadataAsValue(u->e->context, node));
}

lv ls__llvm_intrinsic(unit *u, const char *name, const lt *overloads, unsigned overload_count,
                      const lv *args, unsigned arg_count)
{
    const ls__llvm *l = u->l;
    lv copies[8];
    unsigned id = l->LookupIntrinsicID(name, strlen(name));
    lv function =
        l->GetIntrinsicDeclaration(u->e->out, id, (lt *)(uintptr_t)overloads, overload_count);
    for (unsigned i = 0; i < arg_count; i++)
        copies[i] = args[i];
    return l->BuildCall2(u->b, l->GlobalGetValueType(function), function, copies, arg_count, "");
}
