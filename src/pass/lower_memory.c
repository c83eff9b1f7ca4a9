/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_memory: 1- and 2-byte stores to buffers and shared memory as two atomics on the word around
 * them, for devices that can only store words.
 *
 * needs: lower_nan first when that is wanted (16-bit floats are stored as bits here). keeps:
 * everything: the neighbours in the word keep their bytes whatever other lanes do to them, since
 * each atomic changes no bit outside the element. breaks: nothing. Local objects are private and
 * stay.
 *
 * A range need not start or end at a multiple of 4 bytes: in buffers the atomics are `partial`,
 * they leave alone what lies beyond the range. Shared objects are padded here. Between the two
 * atomics the element reads as 0; only a race could see that.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

static void emit_atomic(at c, ls_atomic kind, ls_base base, val word, val value)
{
    ls__ir_inst *atomic = ls__ir_insert(c, LS_OP_ATOMIC, LS_TYPE_I32, (val[]){word, value}, 2);
    atomic->mem = LS_MEM_U32;
    atomic->base = base;
    atomic->imm = (uint64_t)kind;
    atomic->flags = LS__IR_INBOUNDS | (base.kind == LS_BASE_BUFFER ? LS__IR_PARTIAL : 0);
}

/* The bits to store: 16-bit floats with the one NaN, bools as 0 or 1. */
static val bits_of(at c, const ls__ir_inst *store)
{
    val value = store->args[1];
    ls_mem mem = (ls_mem)store->mem;
    if (mem == LS_MEM_BOOL)
        return b2i(c, value);
    if ((mem != LS_MEM_F16 && mem != LS_MEM_BF16) || (store->flags & LS__IR_RAW))
        return value;
    const ls__format *format = mem == LS_MEM_F16 ? &ls__format_f16 : &ls__format_bf16;
    val magnitude = and_k(c, value, ls__format_sign(format) - 1);
    val is_nan = ult(c, k(c, value, ls__format_infinity(format)), magnitude);
    return choose(c, is_nan, k(c, value, ls__format_nan(format)), value);
}

static void pad_object(ls__ir_function *function, ls_base base)
{
    if (base.kind != LS_BASE_SHARED)
        return;
    ls__ir_object *object = &function->shared.items[base.index];
    object->size = (object->size + 3) & ~3u;
    if (object->alignment < 4)
        object->alignment = 4;
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    bool *changed = context;
    val none = {0};
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    if (inst->op != LS_OP_STORE || bytes > 2 || inst->base.kind == LS_BASE_LOCAL)
        return none;
    val offset = inst->args[0], value = bits_of(c, inst);
    ls__ir_cursor inside = *c;
    if (!(inst->flags & LS__IR_INBOUNDS)) {
        ls__ir_inst *guard = ls__ir_if(c, ls__lower_in_range(c, inst->base, offset, bytes));
        inside = (ls__ir_cursor){c->function, guard->regions[0], NULL, inst->loc};
    }
    c = &inside;
    val word = and_k(c, offset, ~UINT64_C(3));
    val shift = shl_k(c, and_k(c, trunc_(c, offset), 3), 3);
    uint32_t mask = bytes == 1 ? 0xff : 0xffff;
    val hole = not_(c, shl(c, k32(c, mask), shift));
    emit_atomic(c, LS_ATOMIC_AND, inst->base, word, hole);
    emit_atomic(c, LS_ATOMIC_OR, inst->base, word, shl(c, and_k(c, value, mask), shift));
    pad_object(c->function, inst->base);
    ls__ir_remove(c->function, inst);
    *changed = true;
    return none;
}

bool ls__pass_lower_memory(ls__ir_function *function, ls__arena *scratch)
{
    bool changed = false;
    changed |= ls__lower_each(function, scratch, lower, &changed);
    return changed;
}
