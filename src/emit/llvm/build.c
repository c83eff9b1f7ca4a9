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
    lv place = u->l->BuildAlloca(u->b, type, "");
    u->l->PositionBuilderAtEnd(u->b, here);
    return place;
}

/* --- masks ------------------------------------------------------------------------------------ */

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

lv ls__llvm_mask_bits(unit *u, lv mask)
{
    lv bits = u->l->BuildBitCast(u->b, mask, u->l->IntTypeInContext(u->e->context, u->width), "");
    return u->width == 32 ? bits : mk_zext(u, bits, u->e->i32);
}

lv ls__llvm_any(unit *u, lv mask)
{
    if (u->width == 1)
        return mask;
    lv bits = u->l->BuildBitCast(u->b, mask, u->l->IntTypeInContext(u->e->context, u->width), "");
    return mk_icmp(u, LLVMIntNE, bits, mk_k(u, bits, 0));
}

/* --- intrinsics ------------------------------------------------------------------------------- */

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
