/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns types: the basic ones, making pointers and arrays, struct layout (as C lays structs out),
 * equality, the integer promotions and the usual arithmetic conversions, and their text in
 * messages.
 */
#include "lang/internal.h"

#define BASIC(kind_, mem_, bytes, text)                                                            \
    [TYPE_##kind_] = {.kind = TYPE_##kind_,                                                        \
                      .mem = LS_MEM_##mem_,                                                        \
                      .is_complete = (bytes) > 0,                                                  \
                      .has_f64 = TYPE_##kind_ == TYPE_F64,                                         \
                      .size = (bytes),                                                             \
                      .alignment = (bytes) ? (bytes) : 1,                                          \
                      .leaf_count = (bytes) > 0,                                                   \
                      .name = (text)}

lang_type ls__lang_types[TYPE_F64 + 1] = {
    BASIC(ERROR, NONE, 0, "?"), BASIC(VOID, NONE, 0, "void"), BASIC(BOOL, BOOL, 1, "bool"),
    BASIC(I8, I8, 1, "i8"),     BASIC(U8, U8, 1, "u8"),       BASIC(I16, I16, 2, "i16"),
    BASIC(U16, U16, 2, "u16"),  BASIC(I32, I32, 4, "i32"),    BASIC(U32, U32, 4, "u32"),
    BASIC(I64, I64, 8, "i64"),  BASIC(U64, U64, 8, "u64"),    BASIC(F32, F32, 4, "f32"),
    BASIC(F64, F64, 8, "f64"),
};

/* Their one member `bits` is described without a name: it is found by comparing the text
 * (member_find). */
static lang_member f16_member = {.type = &ls__lang_types[TYPE_U16]};
lang_type ls__lang_type_f16 = {.kind = TYPE_STRUCT,
                               .mem = LS_MEM_F16,
                               .is_complete = true,
                               .depth = 1,
                               .size = 2,
                               .alignment = 2,
                               .leaf_count = 1,
                               .name = "f16",
                               .members = &f16_member,
                               .member_count = 1};
lang_type ls__lang_type_bf16 = {.kind = TYPE_STRUCT,
                                .mem = LS_MEM_BF16,
                                .is_complete = true,
                                .depth = 1,
                                .size = 2,
                                .alignment = 2,
                                .leaf_count = 1,
                                .name = "bf16",
                                .members = &f16_member,
                                .member_count = 1};

lang_type *ls__lang_pointer_to(lang_context *context, lang_type *target, bool target_const)
{
    lang_type *type = LS__NEW(&context->arena, lang_type);
    *type = (lang_type){
        .kind = TYPE_POINTER,
        .is_complete = true,
        .size = 8,
        .alignment = 8,
        .depth = (uint16_t)(target->depth + 1),
        .has_f64 = target->has_f64,
        .leaf_count = 1,
        .target = target,
        .target_const = target_const,
    };
    return type;
}

static uint32_t multiply_saturating(uint32_t a, uint32_t b)
{
    uint32_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT32_MAX : product;
}

lang_type *ls__lang_array_of(lang_context *context, lang_type *element, uint32_t count)
{
    uint32_t size;
    if (__builtin_mul_overflow(element->size, count, &size) || size > LANG_MAX_OBJECT_BYTES ||
        element->depth >= LANG_MAX_TYPE_DEPTH)
        return NULL;
    lang_type *type = LS__NEW(&context->arena, lang_type);
    *type = (lang_type){
        .kind = TYPE_ARRAY,
        .is_complete = true,
        .has_f64 = element->has_f64,
        .has_array = true,
        .has_const_member = element->has_const_member,
        .depth = (uint16_t)(element->depth + 1),
        .size = size,
        .alignment = element->alignment,
        .leaf_count = multiply_saturating(element->leaf_count, count),
        .target = element,
        .count = count,
    };
    return type;
}

void ls__lang_struct_layout(lang_type *type)
{
    uint64_t offset = 0, leaves = 0;
    uint32_t alignment = 1;
    uint16_t depth = 0;
    for (uint32_t i = 0; i < type->member_count; i++) {
        lang_member *member = &type->members[i];
        const lang_type *t = member->type;
        offset = (offset + t->alignment - 1) / t->alignment * t->alignment;
        member->offset = offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset;
        member->first_leaf = leaves > UINT32_MAX ? UINT32_MAX : (uint32_t)leaves;
        offset += t->size;
        leaves += t->leaf_count;
        alignment = t->alignment > alignment ? t->alignment : alignment;
        depth = t->depth > depth ? t->depth : depth;
        type->has_f64 |= t->has_f64;
        type->has_array |= t->has_array;
        type->has_const_member |= member->is_const || t->has_const_member;
    }
    uint64_t size = (offset + alignment - 1) / alignment * alignment;
    type->size = size > LANG_MAX_OBJECT_BYTES ? UINT32_MAX : (uint32_t)size;
    type->alignment = alignment;
    type->depth = (uint16_t)(depth + 1);
    type->leaf_count = leaves > UINT32_MAX ? UINT32_MAX : (uint32_t)leaves;
    type->is_complete = true;
}

bool ls__lang_type_equal(const lang_type *a, const lang_type *b)
{
    while (a != b) {
        if (a->kind != b->kind)
            return false;
        if (a->kind == TYPE_POINTER ? a->target_const != b->target_const
                                    : a->kind != TYPE_ARRAY || a->count != b->count)
            return false;
        a = a->target;
        b = b->target;
    }
    return true;
}

const char *ls__lang_type_text(lang_context *context, const lang_type *type, bool is_const)
{
    ls__arena *arena = &context->arena;
    const char *prefix = is_const ? "const " : "";
    if (type->kind == TYPE_POINTER) {
        const lang_type *target = type->target;
        const char *inner = ls__lang_type_text(context, target, type->target_const);
        return ls__arena_printf(arena, target->kind == TYPE_ARRAY ? "pointer to %s" : "%s *",
                                inner);
    }
    if (type->kind == TYPE_ARRAY) {
        char *counts = ls__arena_printf(arena, "[%u]", type->count);
        const lang_type *element = type->target;
        for (; element->kind == TYPE_ARRAY; element = element->target)
            counts = ls__arena_printf(arena, "%s[%u]", counts, element->count);
        return ls__arena_printf(arena, "%s%s", ls__lang_type_text(context, element, is_const),
                                counts);
    }
    return ls__arena_printf(arena, "%s%s", prefix, type->name ? type->name : "struct");
}

ls_type ls__lang_value_type(const lang_type *type)
{
    switch (type->kind) {
    case TYPE_VOID:
        return LS_TYPE_VOID;
    case TYPE_BOOL:
        return LS_TYPE_BOOL;
    case TYPE_I64:
    case TYPE_U64:
    case TYPE_POINTER:
        return LS_TYPE_I64;
    case TYPE_F32:
        return LS_TYPE_F32;
    case TYPE_F64:
        return LS_TYPE_F64;
    default:
        return LS_TYPE_I32;
    }
}

lang_type *ls__lang_promote(lang_type *type)
{
    return lang_is_integer(type) && type->kind < TYPE_I32 ? TY(I32) : type;
}

lang_type *ls__lang_common(lang_type *a, lang_type *b)
{
    if (lang_is_float(a) || lang_is_float(b))
        return a->kind == TYPE_F64 || b->kind == TYPE_F64 ? TY(F64) : TY(F32);
    a = ls__lang_promote(a);
    b = ls__lang_promote(b);
    return a->kind > b->kind ? a : b; /* by rank; of one rank, the unsigned one */
}

const lang_member *ls__lang_member_find(const lang_type *type, const lang_name *name)
{
    for (uint32_t i = 0; i < type->member_count; i++) {
        if (type->members[i].name == name ||
            (!type->members[i].name && ls__str_is(name->text, "bits")))
            return &type->members[i];
    }
    return NULL;
}

const lang_type *ls__lang_leaf(const lang_type *type, uint32_t index, uint32_t *offset)
{
    *offset = 0;
    while (type->kind == TYPE_STRUCT && type->mem == LS_MEM_NONE) {
        uint32_t i = type->member_count - 1;
        while (type->members[i].first_leaf > index)
            i--;
        index -= type->members[i].first_leaf;
        *offset += type->members[i].offset;
        type = type->members[i].type;
    }
    return type;
}
