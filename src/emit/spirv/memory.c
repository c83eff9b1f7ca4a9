/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads, stores and atomics.
 *
 * Buffers and constant tables are addresses: one is computed in 64 bits, made a pointer to the
 * element and used at once. Shared and local objects are arrays of one scalar type, since SPIR-V
 * has no view of their bytes: of the accesses' type when all have one size, else of words. A narrow
 * access to a word cuts its bytes out; a narrow store to a shared word is two atomics, which leave
 * the neighbours' bytes alone whatever other lanes do to them.
 *
 * Everything here is in range: lower_bounds has seen to it. It may read 8 bytes at offset 0 of
 * anything, so objects have room for that.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

/* --- how objects lie ---------------------------------------------------------------------------
 */

typedef struct usage {
    uint32_t sizes; /* of accesses, ORed: 1, 2, 4, 8 */
    uint32_t stored;
    uint32_t atomic;
    bool has_int, has_float;
} usage;

typedef struct planning {
    usage *locals, *shared;
} planning;

static bool note_access(ls__ir_inst *inst, void *context)
{
    planning *p = context;
    bool is_access = inst->op == LS_OP_LOAD || inst->op == LS_OP_STORE ||
                     inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS;
    if (!is_access || (inst->base.kind != LS_BASE_LOCAL && inst->base.kind != LS_BASE_SHARED))
        return true;
    usage *use = (inst->base.kind == LS_BASE_LOCAL ? p->locals : p->shared) + inst->base.index;
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    use->sizes |= bytes;
    if (inst->op == LS_OP_STORE)
        use->stored |= bytes;
    else if (inst->op != LS_OP_LOAD)
        use->atomic |= bytes;
    if (inst->mem == LS_MEM_F32 || inst->mem == LS_MEM_F64)
        use->has_float = true;
    else
        use->has_int = true;
    return true;
}

static object plan(unit *u, const ls__ir_object *o, const usage *use, bool is_shared)
{
    object result = {.unit = 4, .is_shared = is_shared};
    uint32_t bytes = o->size < 8 ? 8 : o->size;
    bool one_size = (use->sizes & (use->sizes - 1)) == 0 && use->sizes != 0;
    if (one_size && (use->sizes != 1 || u->target.i8) && (use->sizes != 2 || u->target.i16))
        result.unit = use->sizes;
    if (use->atomic & 8)
        result.unit = 8;
    if (use->atomic & use->atomic >> 1 & 4)
        ls__spirv_fail(u, LS_E_UNSUPPORTED,
                       "shared memory '%s' has atomics on 32 and on 64 bits, which the Vulkan "
                       "backend cannot mix",
                       o->name);
    result.is_float = one_size && use->has_float && !use->has_int;
    result.is_shared_word = is_shared && (use->stored & (result.unit - 1)) != 0;
    result.count = (bytes + result.unit - 1) / result.unit;
    return result;
}

void ls__spirv_plan_objects(unit *u, const ls__ir_function *function, object *locals,
                            object *shared)
{
    planning p = {LS__NEW_ARRAY(u->arena, usage, function->locals.count + 1),
                  LS__NEW_ARRAY(u->arena, usage, function->shared.count + 1)};
    ls__ir_walk(function->body, note_access, &p);
    for (uint32_t i = 0; i < function->locals.count; i++)
        locals[i] = plan(u, &function->locals.items[i], &p.locals[i], false);
    for (uint32_t i = 0; i < function->shared.count; i++)
        shared[i] = plan(u, &function->shared.items[i], &p.shared[i], true);
}

static ref element_type(unit *u, const object *o)
{
    return o->is_float ? ls__spirv_float(u, o->unit * 8) : ls__spirv_int(u, o->unit * 8);
}

void ls__spirv_declare_object(unit *u, object *o, const char *name)
{
    if (o->unit == 1)
        ls__spirv_need(u, SpvCapabilityInt8);
    if (o->unit == 2)
        ls__spirv_need(u, SpvCapabilityInt16);
    ref element = element_type(u, o), count = ls__spirv_u32(u, o->count);
    ref array = mk_unique(u, SpvOpTypeArray, 0, element, count);
    if (o->is_shared) {
        o->variable = ls__spirv_global(u, SpvStorageClassWorkgroup, array, 0);
        u->shared_bytes += o->count * o->unit;
    } else {
        /* Floats get zeros that drivers do not know. */
        o->variable = ls__spirv_local(u, array, o->is_float ? 0 : ls__spirv_null(u, array));
    }
    ls__spirv_name(u, o->variable, name);
}

/* --- elements ----------------------------------------------------------------------------------
 */

static ref element_at(unit *u, const object *o, ref index)
{
    SpvStorageClass storage = o->is_shared ? SpvStorageClassWorkgroup : SpvStorageClassFunction;
    ref pointer = ls__spirv_pointer(u, storage, element_type(u, o));
    return mk(u, SpvOpAccessChain, pointer, o->variable, index);
}

static ref load_element(unit *u, const object *o, ref index)
{
    ref at = element_at(u, o, index), type = element_type(u, o);
    if (o->is_shared_word) {
        ref scope = ls__spirv_u32(u, SpvScopeWorkgroup), relaxed = ls__spirv_u32(u, 0);
        return mk(u, SpvOpAtomicLoad, type, at, scope, relaxed);
    }
    if (o->is_shared)
        return mk(u, SpvOpLoad, type, at, SpvMemoryAccessNonPrivatePointerMask);
    return mk(u, SpvOpLoad, type, at);
}

static void store_element(unit *u, const object *o, ref index, ref value)
{
    ref at = element_at(u, o, index);
    if (o->is_shared)
        put(u, u->out, SpvOpStore, at, value, SpvMemoryAccessNonPrivatePointerMask);
    else
        put(u, u->out, SpvOpStore, at, value);
}

static uint32_t log2_of(uint32_t unit)
{
    return unit == 8 ? 3 : unit >> 1; /* 1, 2, 4: 0, 1, 2 */
}

/* The byte offset in 32 bits: objects are small. */
static ref short_offset(unit *u, ls_value offset)
{
    const ls__ir_inst *known = ls__ir_def(u->f.function, offset);
    if (known->op == LS_OP_CONST)
        return ls__spirv_u32(u, (uint32_t)known->imm);
    if (known->op == LS_OP_ZEXT)
        return ls__spirv_value(u, known->args[0]);
    ref value = ls__spirv_value(u, offset);
    return mk(u, SpvOpUConvert, ls__spirv_int(u, 32), value);
}

static ref index_of(unit *u, const object *o, ls_value offset)
{
    const ls__ir_inst *known = ls__ir_def(u->f.function, offset);
    if (known->op == LS_OP_CONST)
        return ls__spirv_u32(u, (uint32_t)known->imm / o->unit);
    ref bytes = short_offset(u, offset);
    if (o->unit == 1)
        return bytes;
    ref by = ls__spirv_u32(u, log2_of(o->unit));
    return mk(u, SpvOpShiftRightLogical, ls__spirv_int(u, 32), bytes, by);
}

/* How far the bytes at `offset` lie from the low end of their element, in bits; of the element's
 * type. */
static ref shift_of(unit *u, const object *o, ls_value offset)
{
    ref word = ls__spirv_int(u, 32), bytes = short_offset(u, offset);
    ref mask = ls__spirv_u32(u, o->unit - 1);
    ref inside = mk(u, SpvOpBitwiseAnd, word, bytes, mask);
    ref three = ls__spirv_u32(u, 3);
    ref bits = mk(u, SpvOpShiftLeftLogical, word, inside, three);
    return o->unit == 8 ? mk(u, SpvOpUConvert, element_type(u, o), bits) : bits;
}

/* --- zeros -------------------------------------------------------------------------------------
 */

static ref zero_element(unit *u, const object *o)
{
    ref zero = ls__spirv_zero(u, o->unit == 8 ? 64 : 32), type = element_type(u, o);
    if (o->is_float)
        return mk(u, SpvOpBitcast, type, zero);
    return o->unit < 4 ? mk(u, SpvOpUConvert, type, zero) : zero;
}

/* Elements first, first + step, ... become 0. */
static void clear(unit *u, const object *o, ref first, uint32_t step)
{
    ref word = ls__spirv_int(u, 32), boolean = ls__spirv_bool(u), zero = zero_element(u, o);
    ref count = ls__spirv_u32(u, o->count), by = ls__spirv_u32(u, step);
    if (o->count <= step) {
        ref inside = mk(u, SpvOpULessThan, boolean, first, count);
        ref merge = ls__spirv_begin_if(u, inside);
        store_element(u, o, first, zero);
        ls__spirv_end_if(u, merge);
        return;
    }
    ref head = ls__spirv_new(u), test = ls__spirv_new(u), run = ls__spirv_new(u);
    ref next = ls__spirv_new(u), merge = ls__spirv_new(u);
    ref counter = ls__spirv_local(u, word, 0);
    put(u, u->out, SpvOpStore, counter, first);
    ls__spirv_branch(u, head);
    ls__spirv_begin(u, head);
    put(u, u->out, SpvOpLoopMerge, merge, next, SpvLoopControlMaskNone);
    ls__spirv_branch(u, test);
    ls__spirv_begin(u, test);
    ref index = mk(u, SpvOpLoad, word, counter);
    ref goes_on = mk(u, SpvOpULessThan, boolean, index, count);
    put(u, u->out, SpvOpBranchConditional, goes_on, run, merge);
    ls__spirv_begin(u, run);
    store_element(u, o, index, zero);
    ref later = mk(u, SpvOpIAdd, word, index, by);
    put(u, u->out, SpvOpStore, counter, later);
    ls__spirv_branch(u, next);
    ls__spirv_begin(u, next);
    ls__spirv_branch(u, head);
    ls__spirv_begin(u, merge);
}

void ls__spirv_clear_shared(unit *u, object *o)
{
    uint32_t lanes = u->kernel->workgroup[0] * u->kernel->workgroup[1] * u->kernel->workgroup[2];
    ref first = ls__spirv_local_index(u);
    clear(u, o, first, lanes);
}

void ls__spirv_clear_locals(unit *u)
{
    enum { STRAIGHT = 16 };
    for (uint32_t i = 0; i < u->f.function->locals.count; i++) {
        const object *o = &u->f.locals[i];
        if (!o->is_float)
            continue;
        if (o->count > STRAIGHT) {
            clear(u, o, ls__spirv_u32(u, 0), 1);
            continue;
        }
        ref zero = zero_element(u, o);
        for (uint32_t k = 0; k < o->count; k++)
            store_element(u, o, ls__spirv_u32(u, k), zero);
    }
}

/* --- memory types and values --------------------------------------------------------------------
 */

/* The value of the low bytes of `bits`, an integer of 32 or more bits that may hold others above.
 */
static ref widen(unit *u, ls_mem mem, ref bits, uint32_t have)
{
    ref word = ls__spirv_int(u, 32);
    uint32_t size = ls__ir_mem_bytes(mem) * 8;
    if (size <= 32 && have == 64)
        bits = mk(u, SpvOpUConvert, word, bits);
    switch (mem) {
    case LS_MEM_I8:
    case LS_MEM_I16:
        return ls__spirv_extend(u, 32, size, true, bits);
    case LS_MEM_BOOL:
    case LS_MEM_U8:
    case LS_MEM_U16:
    case LS_MEM_F16:
    case LS_MEM_BF16: {
        bits = ls__spirv_extend(u, 32, size, false, bits);
        ref zero = ls__spirv_u32(u, 0);
        return mem == LS_MEM_BOOL ? mk(u, SpvOpINotEqual, ls__spirv_bool(u), bits, zero) : bits;
    }
    case LS_MEM_F32:
    case LS_MEM_F64:
        bits = ls__spirv_hidden(u, size == 64 ? LS_TYPE_I64 : LS_TYPE_I32, bits);
        return mk(u, SpvOpBitcast, ls__spirv_float(u, size), bits);
    default:
        return bits;
    }
}

/* The value of an element of just this memory type: an integer of its size, or a float. */
static ref from_element(unit *u, ls_mem mem, ref element)
{
    ref word = ls__spirv_int(u, 32);
    switch (mem) {
    case LS_MEM_I8:
    case LS_MEM_I16:
        return mk(u, SpvOpSConvert, word, element);
    case LS_MEM_U8:
    case LS_MEM_U16:
    case LS_MEM_F16:
    case LS_MEM_BF16:
        return mk(u, SpvOpUConvert, word, element);
    case LS_MEM_BOOL: {
        ref value = mk(u, SpvOpUConvert, word, element), zero = ls__spirv_u32(u, 0);
        return mk(u, SpvOpINotEqual, ls__spirv_bool(u), value, zero);
    }
    default:
        return element;
    }
}

/* A value's bits, 32 or 64 of them. */
static ref bits_of(unit *u, ls_mem mem, ref value)
{
    uint32_t size = ls__ir_mem_bytes(mem) * 8;
    if (mem == LS_MEM_F32 || mem == LS_MEM_F64)
        return mk(u, SpvOpBitcast, ls__spirv_int(u, size), value);
    if (mem != LS_MEM_BOOL)
        return value;
    ref one = ls__spirv_u32(u, 1), zero = ls__spirv_u32(u, 0);
    return mk(u, SpvOpSelect, ls__spirv_int(u, 32), value, one, zero);
}

/* --- buffers ------------------------------------------------------------------------------------
 */

static ref memory_type(unit *u, ls_mem mem)
{
    uint32_t bits = ls__ir_mem_bytes(mem) * 8;
    if (bits == 8)
        ls__spirv_need(u, SpvCapabilityStorageBuffer8BitAccess);
    if (bits == 16)
        ls__spirv_need(u, SpvCapabilityStorageBuffer16BitAccess);
    return mem == LS_MEM_F32 || mem == LS_MEM_F64 ? ls__spirv_float(u, bits)
                                                  : ls__spirv_int(u, bits);
}

static ref pointer_at(unit *u, ref type, ref address)
{
    ref pointer = ls__spirv_pointer(u, SpvStorageClassPhysicalStorageBuffer, type);
    return mk(u, SpvOpConvertUToPtr, pointer, address);
}

enum { BUFFER_ACCESS = SpvMemoryAccessAlignedMask | SpvMemoryAccessNonPrivatePointerMask };

ref ls__spirv_load_at(unit *u, ls_mem mem, ref address)
{
    ref type = memory_type(u, mem), at = pointer_at(u, type, address);
    return from_element(u, mem, mk(u, SpvOpLoad, type, at, BUFFER_ACCESS, ls__ir_mem_bytes(mem)));
}

void ls__spirv_store_at(unit *u, ls_mem mem, ref address, ref value)
{
    ref type = memory_type(u, mem), at = pointer_at(u, type, address);
    uint32_t bytes = ls__ir_mem_bytes(mem);
    if (mem == LS_MEM_BOOL)
        value = bits_of(u, mem, value);
    if (bytes < 4)
        value = mk(u, SpvOpUConvert, type, value);
    put(u, u->out, SpvOpStore, at, value, BUFFER_ACCESS, bytes);
}

static ref address_of(unit *u, const ls__ir_inst *inst)
{
    ref wide = ls__spirv_int(u, 64), base;
    if (inst->base.kind == LS_BASE_BUFFER) {
        base = ls__spirv_buffer_address(u, inst->base.index);
    } else {
        base = ls__spirv_pushed(u, PUSH_TABLES);
        ref offset = ls__spirv_u64(u, u->table_offset[inst->base.index]);
        base = mk(u, SpvOpIAdd, wide, base, offset);
    }
    ref offset = ls__spirv_value(u, inst->args[0]);
    return mk(u, SpvOpIAdd, wide, base, offset);
}

/* A float made of an integer, as lower_nan does it, is stored as that. */
static void store_buffer(unit *u, const ls__ir_inst *inst)
{
    const ls__ir_inst *made = ls__ir_def(u->f.function, inst->args[1]);
    ls_mem mem = (ls_mem)inst->mem;
    ls_value value = inst->args[1];
    if (made->op == LS_OP_FFROM_BITS && (mem == LS_MEM_F32 || mem == LS_MEM_F64)) {
        value = made->args[0];
        mem = mem == LS_MEM_F32 ? LS_MEM_U32 : LS_MEM_U64;
    }
    ref address = address_of(u, inst);
    ls__spirv_store_at(u, mem, address, ls__spirv_value(u, value));
}

/* --- objects ------------------------------------------------------------------------------------
 */

static const object *object_of(const unit *u, ls_base base)
{
    return base.kind == LS_BASE_LOCAL ? &u->f.locals[base.index] : &u->shared[base.index];
}

static ref next_index(unit *u, ref index)
{
    ref one = ls__spirv_u32(u, 1);
    return mk(u, SpvOpIAdd, ls__spirv_int(u, 32), index, one);
}

static ref load_object(unit *u, const object *o, const ls__ir_inst *inst)
{
    ls_mem mem = (ls_mem)inst->mem;
    uint32_t bytes = ls__ir_mem_bytes(mem);
    ref index = index_of(u, o, inst->args[0]), wide;
    ref element = load_element(u, o, index);
    if (o->is_float)
        return element;
    if (bytes == o->unit)
        return bytes < 4 ? from_element(u, mem, element) : widen(u, mem, element, bytes * 8);
    if (bytes > o->unit) {
        wide = ls__spirv_int(u, 64);
        ref low = mk(u, SpvOpUConvert, wide, element);
        ref above = load_element(u, o, next_index(u, index));
        ref high = mk(u, SpvOpUConvert, wide, above), by = ls__spirv_u64(u, 32);
        high = mk(u, SpvOpShiftLeftLogical, wide, high, by);
        return widen(u, mem, mk(u, SpvOpBitwiseOr, wide, high, low), 64);
    }
    ref shift = shift_of(u, o, inst->args[0]);
    element = mk(u, SpvOpShiftRightLogical, element_type(u, o), element, shift);
    return widen(u, mem, element, o->unit * 8);
}

/* Some bytes of an element. */
static void store_part(unit *u, const object *o, const ls__ir_inst *inst, ref index, ref bits)
{
    uint32_t part = ls__ir_mem_bytes((ls_mem)inst->mem) * 8, whole = o->unit * 8;
    ref type = element_type(u, o), shift = shift_of(u, o, inst->args[0]);
    ref mask = ls__spirv_int_const(u, whole, (UINT64_C(1) << part) - 1);
    if (whole == 64)
        bits = mk(u, SpvOpUConvert, type, bits);
    bits = mk(u, SpvOpBitwiseAnd, type, bits, mask);
    bits = mk(u, SpvOpShiftLeftLogical, type, bits, shift);
    ref moved = mk(u, SpvOpShiftLeftLogical, type, mask, shift);
    ref kept = mk(u, SpvOpNot, type, moved);
    if (!o->is_shared) {
        ref old = load_element(u, o, index);
        old = mk(u, SpvOpBitwiseAnd, type, old, kept);
        store_element(u, o, index, mk(u, SpvOpBitwiseOr, type, old, bits));
        return;
    }
    if (whole == 64) {
        ls__spirv_need(u, SpvCapabilityInt64Atomics);
        u->flags |= LS__SPIRV_SHARED_ATOMICS64;
    }
    ref at = element_at(u, o, index);
    ref scope = ls__spirv_u32(u, SpvScopeWorkgroup), relaxed = ls__spirv_u32(u, 0);
    mk(u, SpvOpAtomicAnd, type, at, scope, relaxed, kept);
    mk(u, SpvOpAtomicOr, type, at, scope, relaxed, bits);
}

static void store_object(unit *u, const object *o, const ls__ir_inst *inst)
{
    ls_mem mem = (ls_mem)inst->mem;
    uint32_t bytes = ls__ir_mem_bytes(mem);
    ref index = index_of(u, o, inst->args[0]), value = ls__spirv_value(u, inst->args[1]);
    ref word = ls__spirv_int(u, 32);
    if (o->is_float) {
        store_element(u, o, index, value);
        return;
    }
    ref bits = bits_of(u, mem, value);
    if (bytes == o->unit) {
        if (bytes < 4)
            bits = mk(u, SpvOpUConvert, element_type(u, o), bits);
        store_element(u, o, index, bits);
    } else if (bytes > o->unit) {
        ref low = mk(u, SpvOpUConvert, word, bits), by = ls__spirv_u64(u, 32);
        ref shifted = mk(u, SpvOpShiftRightLogical, ls__spirv_int(u, 64), bits, by);
        ref high = mk(u, SpvOpUConvert, word, shifted);
        store_element(u, o, index, low);
        store_element(u, o, next_index(u, index), high);
    } else {
        store_part(u, o, inst, index, bits);
    }
}

/* --- atomics ------------------------------------------------------------------------------------
 */

static SpvOp atomic_op(ls_atomic kind)
{
    switch (kind) {
    case LS_ATOMIC_ADD:
        return SpvOpAtomicIAdd;
    case LS_ATOMIC_SMIN:
        return SpvOpAtomicSMin;
    case LS_ATOMIC_SMAX:
        return SpvOpAtomicSMax;
    case LS_ATOMIC_UMIN:
        return SpvOpAtomicUMin;
    case LS_ATOMIC_UMAX:
        return SpvOpAtomicUMax;
    case LS_ATOMIC_AND:
        return SpvOpAtomicAnd;
    case LS_ATOMIC_OR:
        return SpvOpAtomicOr;
    case LS_ATOMIC_XOR:
        return SpvOpAtomicXor;
    default:
        return SpvOpAtomicExchange;
    }
}

/* Of a word that may start anywhere and of which a part may lie beyond the range: `change`, the
 * bits it sets or clears, is split over the aligned words around it, and a word without any of them
 * is left out. Memory is made of whole aligned words. */
static ref partial_atomic(unit *u, const ls__ir_inst *inst)
{
    ref word = ls__spirv_int(u, 32), wide = ls__spirv_int(u, 64), flag = ls__spirv_bool(u);
    ref zero = ls__spirv_u32(u, 0), change = ls__spirv_value(u, inst->args[1]);
    bool clears = inst->imm == LS_ATOMIC_AND;
    if (clears)
        change = mk(u, SpvOpNot, word, change);
    ref address = address_of(u, inst);
    ref first = mk(u, SpvOpBitwiseAnd, wide, address, ls__spirv_u64(u, ~UINT64_C(3)));
    ref start = mk(u, SpvOpUConvert, word, mk(u, SpvOpISub, wide, address, first));
    ref shift = mk(u, SpvOpIMul, word, start, ls__spirv_u32(u, 8));
    ref back = mk(u, SpvOpISub, word, ls__spirv_u32(u, 31), shift);
    ref half = mk(u, SpvOpShiftRightLogical, word, change, ls__spirv_u32(u, 1));
    ref parts[2] = {mk(u, SpvOpShiftLeftLogical, word, change, shift),
                    mk(u, SpvOpShiftRightLogical, word, half, back)};
    for (uint32_t i = 0; i < 2; i++) {
        ref changes = mk(u, SpvOpINotEqual, flag, parts[i], zero);
        ref after = ls__spirv_begin_if(u, changes);
        ref place = mk(u, SpvOpIAdd, wide, first, ls__spirv_u64(u, 4 * i));
        ref value = clears ? mk(u, SpvOpNot, word, parts[i]) : parts[i];
        ref at = pointer_at(u, word, place), scope = ls__spirv_u32(u, SpvScopeQueueFamily);
        mk(u, atomic_op((ls_atomic)inst->imm), word, at, scope, zero, value);
        ls__spirv_end_if(u, after);
    }
    return zero;
}

/* The scope of buffers is the queue family: the device's scope is a feature of its own, and all
 * that a program touches runs on one queue. */
static ref atomic(unit *u, const ls__ir_inst *inst)
{
    bool is_shared = inst->base.kind == LS_BASE_SHARED;
    uint32_t bits = ls__ir_mem_bytes((ls_mem)inst->mem) * 8;
    ref type = ls__spirv_int(u, bits), at;
    u->flags |= LS__SPIRV_ATOMICS;
    if (inst->flags & LS__IR_PARTIAL)
        return partial_atomic(u, inst);
    if (bits == 64) {
        ls__spirv_need(u, SpvCapabilityInt64Atomics);
        u->flags |= is_shared ? LS__SPIRV_SHARED_ATOMICS64 : LS__SPIRV_ATOMICS64;
    }
    if (is_shared) {
        const object *o = object_of(u, inst->base);
        at = element_at(u, o, index_of(u, o, inst->args[0]));
    } else {
        at = pointer_at(u, type, address_of(u, inst));
    }
    ref scope = ls__spirv_u32(u, is_shared ? SpvScopeWorkgroup : SpvScopeQueueFamily);
    ref relaxed = ls__spirv_u32(u, 0), value = ls__spirv_value(u, inst->args[1]);
    if (inst->op == LS_OP_ATOMIC)
        return mk(u, atomic_op((ls_atomic)inst->imm), type, at, scope, relaxed, value);
    ref desired = ls__spirv_value(u, inst->args[2]);
    return mk(u, SpvOpAtomicCompareExchange, type, at, scope, relaxed, relaxed, desired, value);
}

/* --- the entry ----------------------------------------------------------------------------------
 */

ref ls__spirv_memory(unit *u, const ls__ir_inst *inst)
{
    ls_mem mem = (ls_mem)inst->mem;
    bool is_object = inst->base.kind == LS_BASE_LOCAL || inst->base.kind == LS_BASE_SHARED;
    bool is_raw =
        inst->op != LS_OP_STORE || !ls__ir_mem_is_float(mem) || (inst->flags & LS__IR_RAW) != 0;
    if (!(inst->flags & LS__IR_INBOUNDS) || !is_raw)
        ls__spirv_not_lowered(u, inst);
    switch ((ls_op)inst->op) {
    case LS_OP_LOAD:
        if (is_object)
            return load_object(u, object_of(u, inst->base), inst);
        return ls__spirv_load_at(u, mem, address_of(u, inst));
    case LS_OP_STORE:
        if (is_object)
            store_object(u, object_of(u, inst->base), inst);
        else
            store_buffer(u, inst);
        return 0;
    default:
        return atomic(u, inst);
    }
}
