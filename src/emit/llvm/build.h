/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short spellings of LLVM's instructions, at the builder's place. All work on scalars and, element
 * by element, on vectors. Constants are made in the type of a value that is at hand.
 */
#ifndef LS_EMIT_LLVM_BUILD_H
#define LS_EMIT_LLVM_BUILD_H

#include "emit/llvm/unit.h"

#define LS__MK2(name, function)                                                                    \
    static inline lv mk_##name(unit *u, lv a, lv b)                                                \
    {                                                                                              \
        return u->l->Build##function(u->b, a, b, "");                                              \
    }
LS__MK2(add, Add)
LS__MK2(sub, Sub)
LS__MK2(mul, Mul)
LS__MK2(shl, Shl)
LS__MK2(lshr, LShr)
LS__MK2(ashr, AShr)
#undef LS__MK2

/* Of masks too: see "masks" below. */
lv mk_and(unit *u, lv a, lv b);
lv mk_or(unit *u, lv a, lv b);
lv mk_xor(unit *u, lv a, lv b);
lv mk_not(unit *u, lv a);
lv mk_both(unit *u, lv a, lv b); /* a and b; NULL for what holds always */

lv mk_icmp(unit *u, LLVMIntPredicate predicate, lv a, lv b);
lv mk_select(unit *u, lv condition, lv a, lv b);

static inline lv mk_fcmp(unit *u, LLVMRealPredicate predicate, lv a, lv b)
{
    return u->l->BuildFCmp(u->b, predicate, a, b, "");
}

/* --- types ------------------------------------------------------------------------------------ */

static inline bool mk_is_vector(const unit *u, lv value)
{
    return u->l->GetTypeKind(u->l->TypeOf(value)) == LLVMVectorTypeKind;
}

/* The type with elements of `element` and as many of them as `value` has. */
static inline lt mk_type_like(const unit *u, lv value, lt element)
{
    lt type = u->l->TypeOf(value);
    if (u->l->GetTypeKind(type) != LLVMVectorTypeKind)
        return element;
    return u->l->VectorType(element, u->l->GetVectorSize(type));
}

static inline lt mk_element(const unit *u, lv value)
{
    lt type = u->l->TypeOf(value);
    return u->l->GetTypeKind(type) == LLVMVectorTypeKind ? u->l->GetElementType(type) : type;
}

static inline uint32_t mk_int_bits(const unit *u, lv value)
{
    return u->l->GetIntTypeWidth(mk_element(u, value));
}

/* The LLVM type of an IR type; by lane when `is_vector`. */
lt ls__llvm_type(const unit *u, ls_type type, bool is_vector);

static inline lt mk_by_lane(const unit *u, lt element)
{
    return u->width == 1 ? element : u->l->VectorType(element, u->width);
}

/* --- constants -------------------------------------------------------------------------------- */

lv ls__llvm_splat_const(const unit *u, lt type,
                        uint64_t bits); /* type: integer, or vector of such */

/* An integer constant of the type of `like`. */
static inline lv mk_k(const unit *u, lv like, uint64_t bits)
{
    return ls__llvm_splat_const(u, u->l->TypeOf(like), bits);
}

static inline lv mk_i32(const unit *u, uint64_t value)
{
    return u->l->ConstInt(u->e->i32, value, 0);
}

static inline lv mk_i64(const unit *u, uint64_t value)
{
    return u->l->ConstInt(u->e->i64, value, 0);
}

/* --- conversions ------------------------------------------------------------------------------ */

static inline lv mk_zext(unit *u, lv a, lt element)
{
    return u->l->BuildZExt(u->b, a, mk_type_like(u, a, element), "");
}

static inline lv mk_sext(unit *u, lv a, lt element)
{
    return u->l->BuildSExt(u->b, a, mk_type_like(u, a, element), "");
}

static inline lv mk_trunc(unit *u, lv a, lt element)
{
    return u->l->BuildTrunc(u->b, a, mk_type_like(u, a, element), "");
}

static inline lv mk_bitcast(unit *u, lv a, lt element)
{
    return u->l->BuildBitCast(u->b, a, mk_type_like(u, a, element), "");
}

/* --- memory, vectors -------------------------------------------------------------------------- */

static inline lv mk_at(unit *u, lv pointer, lv offset) /* bytes */
{
    return u->l->BuildGEP2(u->b, u->e->i8, pointer, &offset, 1, "");
}

static inline lv mk_load(unit *u, lt type, lv pointer, uint32_t alignment)
{
    lv value = u->l->BuildLoad2(u->b, type, pointer, "");
    u->l->SetAlignment(value, alignment);
    return value;
}

static inline lv mk_store(unit *u, lv value, lv pointer, uint32_t alignment)
{
    lv store = u->l->BuildStore(u->b, value, pointer);
    u->l->SetAlignment(store, alignment);
    return store;
}

static inline lv mk_element_of(unit *u, lv array, lt type, lv index)
{
    return u->l->BuildGEP2(u->b, type, array, &index, 1, "");
}

static inline lv mk_load_element(unit *u, lv array, lt type, lv index)
{
    return u->l->BuildLoad2(u->b, type, mk_element_of(u, array, type, index), "");
}

/* Field of ls__cpu_args and the like. */
static inline lv mk_field(unit *u, lt type, lv pointer, size_t offset)
{
    return u->l->BuildLoad2(u->b, type, mk_at(u, pointer, mk_i64(u, offset)), "");
}

lv ls__llvm_splat(unit *u, lv scalar); /* to all lanes; with width 1 the scalar itself */
lv ls__llvm_alloca(unit *u, lt type);  /* in the entry block */
/* Elements [from, from + count) of a vector. */
lv ls__llvm_take_lanes(unit *u, lv vector, uint32_t from, uint32_t count);

/* --- masks ------------------------------------------------------------------------------------ */

/* A mask, a bool by lane, is a vector of i1. Where the level has no mask registers LLVM would pack
 * the lanes of one that lives longer than a block into bytes, at the cost of several instructions
 * for each block that makes or uses it. There a mask is kept as 32 bits a lane, of which the
 * highest counts (`wide`), combined in that form, and an i1 only where it is tested: `wide < 0`. */
bool ls__llvm_is_mask(const unit *u, lv value); /* that is kept wide */
lv ls__llvm_wide(unit *u, lv mask);
lv ls__llvm_narrow(unit *u, lv wide);
lt ls__llvm_kept_type(const unit *u, lt type); /* what values of `type` lie in memory as */
lv mk_keep(unit *u, lv value, lv place);       /* stores it so */
lv mk_kept(unit *u, lt type, lv place);        /* loads it back */

lv ls__llvm_mask_type_zero(unit *u); /* no lane */
lt ls__llvm_mask_type(const unit *u);
lv ls__llvm_full_mask(unit *u);               /* constant: all lanes */
lv ls__llvm_any(unit *u, lv mask);            /* i1: whether a lane is set */
lv ls__llvm_mask_bits(unit *u, lv mask);      /* i32: bit l is lane l; width > 1 */
lv ls__llvm_mask_from_bits(unit *u, lv bits); /* of an i32 */

static inline lv mk_extract(unit *u, lv vector, lv lane)
{
    return u->l->BuildExtractElement(u->b, vector, lane, "");
}

/* --- blocks, calls ---------------------------------------------------------------------------- */

static inline lb mk_block(unit *u)
{
    return u->l->AppendBasicBlockInContext(u->e->context, u->code, "");
}

static inline void mk_begin(unit *u, lb block)
{
    u->l->PositionBuilderAtEnd(u->b, block);
}

static inline void mk_br(unit *u, lb to)
{
    u->l->BuildBr(u->b, to);
}

static inline void mk_cond_br(unit *u, lv condition, lb then_block, lb else_block)
{
    u->l->BuildCondBr(u->b, condition, then_block, else_block);
}

/* The same; `then_block` is what nearly always comes. */
void ls__llvm_likely(unit *u, lv condition, lb then_block, lb else_block);

LLVMAttributeRef ls__llvm_attribute(const emitter *e, const char *name, uint64_t value);
/* Without a value, of the function as a whole. */
void ls__llvm_add_attribute(const emitter *e, lv function, const char *name);
/* A function that the better code generator would take too long for is marked; behind the passes,
 * which would leave it alone, too, all that are marked become functions that are not optimised. */
void ls__llvm_mark_long(const emitter *e, lv function);
void ls__llvm_end_long(const emitter *e);

/* Calls the intrinsic `name` overloaded by the types of `overloads`. */
lv ls__llvm_intrinsic(unit *u, const char *name, const lt *overloads, unsigned overload_count,
                      const lv *args, unsigned arg_count);

/* An intrinsic with one overloaded type, that of its first operand. */
static inline lv mk_intrinsic(unit *u, const char *name, lv a, lv b, lv c)
{
    lt type = u->l->TypeOf(a);
    lv args[3] = {a, b, c};
    return ls__llvm_intrinsic(u, name, &type, 1, args, c ? 3 : b ? 2 : 1);
}

#endif
