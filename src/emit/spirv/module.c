/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a module as words: instructions, texts, types and constants, each once.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "emit/spirv/build.h"

/* --- words ------------------------------------------------------------------------------------ */

ref ls__spirv_new(unit *u)
{
    return u->next++;
}

static void push_words(unit *u, words *to, const uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ls__vec_push(u->arena, to, items[i]);
}

static uint32_t first_word(unit *u, SpvOp op, uint32_t count)
{
    if (count > 0xffff)
        ls__spirv_fail(u, LS_E_LIMIT, "an instruction of '%s' is too long for SPIR-V",
                       u->kernel->name);
    return count << SpvWordCountShift | (uint32_t)op;
}

void ls__spirv_put(unit *u, words *to, SpvOp op, const uint32_t *operands, uint32_t count)
{
    ls__vec_push(u->arena, to, first_word(u, op, count + 1));
    push_words(u, to, operands, count);
}

ref ls__spirv_make(unit *u, SpvOp op, ref type, const uint32_t *operands, uint32_t count)
{
    ref result = ls__spirv_new(u);
    ls__vec_push(u->arena, u->out, first_word(u, op, count + 3));
    ls__vec_push(u->arena, u->out, type);
    ls__vec_push(u->arena, u->out, result);
    push_words(u, u->out, operands, count);
    return result;
}

ref ls__spirv_glsl(unit *u, enum GLSLstd450 op, ref type, const uint32_t *operands, uint32_t count)
{
    uint32_t all[8] = {u->glsl, (uint32_t)op};
    memcpy(all + 2, operands, count * sizeof *operands);
    return ls__spirv_make(u, SpvOpExtInst, type, all, count + 2);
}

/* Little-endian in words, ended by at least one zero byte. */
static uint32_t text_words(const char *text)
{
    return (uint32_t)(strlen(text) / 4 + 1);
}

static void push_text(unit *u, words *to, const char *text)
{
    size_t length = strlen(text);
    for (uint32_t i = 0; i < text_words(text); i++) {
        uint32_t word = 0;
        for (uint32_t k = 0; k < 4 && i * 4 + k < length; k++)
            word |= (uint32_t)(uint8_t)text[i * 4 + k] << (8 * k);
        ls__vec_push(u->arena, to, word);
    }
}

void ls__spirv_put_text(unit *u, words *to, SpvOp op, const uint32_t *operands, uint32_t count,
                        const char *text, const uint32_t *more, uint32_t more_count)
{
    ls__vec_push(u->arena, to, first_word(u, op, 1 + count + text_words(text) + more_count));
    push_words(u, to, operands, count);
    push_text(u, to, text);
    push_words(u, to, more, more_count);
}

void ls__spirv_need(unit *u, SpvCapability capability)
{
    for (uint32_t i = 1; i < u->capabilities.count; i += 2) {
        if (u->capabilities.items[i] == (uint32_t)capability)
            return;
    }
    put(u, &u->capabilities, SpvOpCapability, (uint32_t)capability);
}

void ls__spirv_need_extension(unit *u, const char *name)
{
    if (u->extensions.count == 0) /* there is only one that is ever needed */
        ls__spirv_put_text(u, &u->extensions, SpvOpExtension, NULL, 0, name, NULL, 0);
}

void ls__spirv_decorate(unit *u, ref target, SpvDecoration decoration)
{
    put(u, &u->annotations, SpvOpDecorate, target, (uint32_t)decoration);
}

void ls__spirv_name(unit *u, ref target, const char *name)
{
    if (strlen(name) < 256)
        ls__spirv_put_text(u, &u->names, SpvOpName, &target, 1, name, NULL, 0);
}

void ls__spirv_fail(unit *u, ls_status code, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (u->status != LS_OK)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    u->status = ls__fail(u->error, code, "%s", text);
}

void ls__spirv_not_lowered(unit *u, const ls__ir_inst *inst)
{
    ls__spirv_fail(u, LS_E_INTERNAL, "'%s' should have been lowered for this device",
                   ls__ir_op((ls_op)inst->op)->name);
}

/* --- types and constants, each once ----------------------------------------------------------- */

struct unique {
    uint32_t at, length; /* in `globals`, the whole instruction */
    ref result;
};

/* An instruction of u->globals without its result. */
static uint32_t hash_of(const uint32_t *instruction, uint32_t length, uint32_t result_at)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < length; i++) {
        if (i != result_at)
            hash = (hash ^ instruction[i]) * 16777619u;
    }
    return hash ^ hash >> 15;
}

static bool equals(const unit *u, const struct unique *entry, const uint32_t *instruction,
                   uint32_t length, uint32_t result_at)
{
    const uint32_t *other = u->globals.items + entry->at;
    if (entry->length != length)
        return false;
    for (uint32_t i = 0; i < length; i++) {
        if (i != result_at && instruction[i] != other[i])
            return false;
    }
    return true;
}

static bool has_type(const uint32_t *instruction)
{
    switch (instruction[0] & SpvOpCodeMask) {
    case SpvOpConstant:
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
    case SpvOpConstantNull:
        return true;
    default:
        return false;
    }
}

static void grow_unique(unit *u)
{
    struct unique *old = u->unique;
    uint32_t old_capacity = u->unique_capacity;
    u->unique_capacity = old_capacity ? old_capacity * 2 : 64;
    u->unique = LS__NEW_ARRAY(u->arena, struct unique, u->unique_capacity);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (!old[i].result)
            continue;
        const uint32_t *instruction = u->globals.items + old[i].at;
        uint32_t at = hash_of(instruction, old[i].length, has_type(instruction) ? 2 : 1);
        while (u->unique[at & (u->unique_capacity - 1)].result)
            at++;
        u->unique[at & (u->unique_capacity - 1)] = old[i];
    }
}

ref ls__spirv_unique(unit *u, SpvOp op, ref type, const uint32_t *operands, uint32_t count)
{
    uint32_t start = u->globals.count, result_at = type ? 2 : 1;
    if (u->unique_count * 2 >= u->unique_capacity)
        grow_unique(u);
    ls__vec_push(u->arena, &u->globals, first_word(u, op, count + result_at + 1));
    if (type)
        ls__vec_push(u->arena, &u->globals, type);
    ls__vec_push(u->arena, &u->globals, u->next);
    push_words(u, &u->globals, operands, count);
    const uint32_t *instruction = u->globals.items + start;
    uint32_t length = u->globals.count - start;
    uint32_t at = hash_of(instruction, length, result_at);
    struct unique *entry;
    while ((entry = &u->unique[at & (u->unique_capacity - 1)])->result) {
        if (equals(u, entry, instruction, length, result_at)) {
            u->globals.count = start;
            return entry->result;
        }
        at++;
    }
    *entry = (struct unique){start, length, u->next};
    u->unique_count++;
    return u->next++;
}

ref ls__spirv_void(unit *u)
{
    return ls__spirv_unique(u, SpvOpTypeVoid, 0, NULL, 0);
}

ref ls__spirv_bool(unit *u)
{
    return ls__spirv_unique(u, SpvOpTypeBool, 0, NULL, 0);
}

/* Without a sign; operations have it. */
ref ls__spirv_int(unit *u, uint32_t bits)
{
    if (bits == 64)
        ls__spirv_need(u, SpvCapabilityInt64);
    return mk_unique(u, SpvOpTypeInt, 0, bits, 0);
}

ref ls__spirv_float(unit *u, uint32_t bits)
{
    if (bits == 64) {
        ls__spirv_need(u, SpvCapabilityFloat64);
        u->flags |= LS__SPIRV_F64;
    }
    return mk_unique(u, SpvOpTypeFloat, 0, bits);
}

ref ls__spirv_type(unit *u, ls_type type)
{
    switch (type) {
    case LS_TYPE_BOOL:
        return ls__spirv_bool(u);
    case LS_TYPE_I32:
    case LS_TYPE_I64:
        return ls__spirv_int(u, ls__spirv_bits(type));
    case LS_TYPE_F32:
    case LS_TYPE_F64:
        return ls__spirv_float(u, ls__spirv_bits(type));
    default:
        return ls__spirv_void(u);
    }
}

ref ls__spirv_pointer(unit *u, SpvStorageClass storage, ref type)
{
    return mk_unique(u, SpvOpTypePointer, 0, (uint32_t)storage, type);
}

ref ls__spirv_u32(unit *u, uint32_t value)
{
    ref type = ls__spirv_int(u, 32);
    return mk_unique(u, SpvOpConstant, type, value);
}

ref ls__spirv_u64(unit *u, uint64_t value)
{
    ref type = ls__spirv_int(u, 64);
    return mk_unique(u, SpvOpConstant, type, (uint32_t)value, (uint32_t)(value >> 32));
}

ref ls__spirv_int_const(unit *u, uint32_t bits, uint64_t value)
{
    return bits == 64 ? ls__spirv_u64(u, value) : ls__spirv_u32(u, (uint32_t)value);
}

ref ls__spirv_float_const(unit *u, uint32_t bits, uint64_t value)
{
    ref type = ls__spirv_float(u, bits);
    if (bits == 64)
        return mk_unique(u, SpvOpConstant, type, (uint32_t)value, (uint32_t)(value >> 32));
    return mk_unique(u, SpvOpConstant, type, (uint32_t)value);
}

ref ls__spirv_null(unit *u, ref type)
{
    return ls__spirv_unique(u, SpvOpConstantNull, type, NULL, 0);
}

ref ls__spirv_global(unit *u, SpvStorageClass storage, ref type, ref initializer)
{
    ref pointer = ls__spirv_pointer(u, storage, type), result = ls__spirv_new(u);
    if (initializer)
        put(u, &u->globals, SpvOpVariable, pointer, result, (uint32_t)storage, initializer);
    else
        put(u, &u->globals, SpvOpVariable, pointer, result, (uint32_t)storage);
    ls__vec_push(u->arena, &u->interface, result);
    return result;
}

ref ls__spirv_local(unit *u, ref type, ref initializer)
{
    ref pointer = ls__spirv_pointer(u, SpvStorageClassFunction, type), result = ls__spirv_new(u);
    uint32_t storage = (uint32_t)SpvStorageClassFunction;
    if (initializer)
        put(u, &u->f.variables, SpvOpVariable, pointer, result, storage, initializer);
    else
        put(u, &u->f.variables, SpvOpVariable, pointer, result, storage);
    return result;
}
