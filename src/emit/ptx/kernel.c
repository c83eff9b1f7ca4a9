/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points: what is read of the parameters, what a workgroup does before the kernel's own code
 * (clear shared memory, look whether it is to run at all), and the body.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "emit/ptx/code.h"

enum { MAX_LANES = 1024, OBJECT_ALIGNMENT = 8, SHARED_ALIGNMENT = 16, EXCHANGE_BYTES = 8 };

void ls__ptx_begin(code *c, generator *g, const ls__ir_function *function,
                   const uint32_t workgroup[3], lv llvm_function)
{
    emitter *e = g->e;
    unit *u = &c->u;
    *u = (unit){.e = e, .l = e->l, .b = e->b, .function = function, .width = 1};
    memcpy(u->workgroup, workgroup, sizeof u->workgroup);
    u->lane_count = workgroup[0] * workgroup[1] * workgroup[2];
    u->code = llvm_function;
    u->buffers = LS__NEW_ARRAY(e->arena, lv, function->buffer_count);
    u->ranges = LS__NEW_ARRAY(e->arena, lv, function->buffer_count);
    u->allocas = mk_block(u);
    c->g = g;
    c->uniformity = ls__ir_uniformity_of(function, e->arena);
    c->values = LS__NEW_ARRAY(e->arena, lv, function->values.count);
    c->vars = LS__NEW_ARRAY(e->arena, lv, function->vars.count);
    c->locals = LS__NEW_ARRAY(e->arena, lv, function->locals.count);
    c->limits = LS__NEW_ARRAY(e->arena, lv, LIMITS * (size_t)function->buffer_count);
    c->done = mk_block(u);
    mk_begin(u, u->allocas);
    c->local_index = ls__ptx_register(c, "tid.x");
    e->l->SetLinkage(llvm_function,
                     function->is_kernel ? LLVMExternalLinkage : LLVMInternalLinkage);
    ls__llvm_add_attribute(e, llvm_function, "nounwind");
}

/* LLVM clears less than 128 bytes at once by wide stores, more by a loop over single bytes. */
static void clear_local(code *c, lv place, uint32_t size, uint32_t alignment)
{
    enum { AT_ONCE = 64, MOST = 4096 };
    unit *u = &c->u;
    uint32_t step = size <= MOST ? AT_ONCE : size;
    for (uint32_t at = 0; at < size; at += step) {
        uint32_t bytes = size - at < step ? size - at : step;
        u->l->BuildMemSet(u->b, mk_at(u, place, mk_i64(u, at)), u->l->ConstInt(u->e->i8, 0, 0),
                          mk_i64(u, bytes), alignment);
    }
}

static void make_places(code *c)
{
    unit *u = &c->u;
    const ls__llvm *l = u->l;
    const ls__ir_function *f = u->function;
    lb here = ls__ptx_enter_entry(c);
    for (uint32_t i = 1; i < f->vars.count; i++) {
        lt type = ls__llvm_type(u, (ls_type)f->vars.items[i].type, false);
        c->vars[i] = l->BuildAlloca(u->b, type, "");
        l->BuildStore(u->b, l->ConstNull(type), c->vars[i]);
    }
    for (uint32_t i = 0; i < f->locals.count; i++) {
        const ls__ir_object *o = &f->locals.items[i];
        uint32_t alignment = o->alignment < OBJECT_ALIGNMENT ? OBJECT_ALIGNMENT : o->alignment;
        c->locals[i] = l->BuildAlloca(u->b, l->ArrayType2(u->e->i8, o->size), "");
        l->SetAlignment(c->locals[i], alignment);
        clear_local(c, c->locals[i], o->size, alignment);
    }
    ls__ptx_leave_entry(c, here);
}

void ls__ptx_body(code *c)
{
    make_places(c);
    ls__ptx_region(c, c->u.function->body);
    if (!ls__ptx_is_terminated(c))
        mk_br(&c->u, c->done);
    mk_begin(&c->u, c->done);
}

/* --- shared memory ---------------------------------------------------------------------------- */

static bool find_exchange(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found |= inst->op == LS_OP_WG_UNIFORM;
    return true;
}

static uint32_t align_up(uint32_t value, uint32_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

/* Objects one behind the other. 64-bit sums: they may be more than there can be. */
static uint64_t lay_out_shared(code *c)
{
    const ls__ir_function *kernel = c->u.function;
    uint64_t size = 0;
    bool exchanges = false;
    c->shared_offsets = LS__NEW_ARRAY(c->u.e->arena, uint32_t, kernel->shared.count);
    for (uint32_t i = 0; i < kernel->shared.count; i++) {
        const ls__ir_object *o = &kernel->shared.items[i];
        uint32_t alignment = o->alignment < OBJECT_ALIGNMENT ? OBJECT_ALIGNMENT : o->alignment;
        size = (size + alignment - 1) / alignment * alignment;
        c->shared_offsets[i] = (uint32_t)size;
        size += o->size;
    }
    ls__ir_walk(kernel->body, find_exchange, &exchanges);
    if (exchanges && c->u.lane_count > 1) {
        size = (size + EXCHANGE_BYTES - 1) / EXCHANGE_BYTES * EXCHANGE_BYTES;
        c->exchange_at = (uint32_t)size;
        size += EXCHANGE_BYTES;
    }
    return size;
}

static void add_shared(code *c)
{
    const ls__llvm *l = c->u.l;
    char name[48];
    lt type = l->ArrayType2(c->u.e->i8, c->shared_bytes);
    snprintf(name, sizeof name, "ls_shared_%u", c->u.function->id.id);
    c->shared = l->AddGlobalInAddressSpace(c->u.e->out, type, name, SPACE_SHARED);
    l->SetInitializer(c->shared, l->GetUndef(type));
    l->SetLinkage(c->shared, LLVMInternalLinkage);
    l->SetAlignment(c->shared, SHARED_ALIGNMENT);
}

/* The lanes clear it together, 16 bytes each at a time. */
static void clear_shared(code *c)
{
    unit *u = &c->u;
    lt four = u->l->VectorType(u->e->i32, SHARED_ALIGNMENT / 4);
    lb before = u->l->GetInsertBlock(u->b), head = mk_block(u), body = mk_block(u);
    lb after = mk_block(u);
    lv first = mk_shl(u, c->local_index, mk_i32(u, 4));
    mk_br(u, head);
    mk_begin(u, head);
    lv at = u->l->BuildPhi(u->b, u->e->i32, "");
    mk_cond_br(u, mk_icmp(u, LLVMIntULT, at, mk_i32(u, c->shared_bytes)), body, after);
    mk_begin(u, body);
    mk_store(u, u->l->ConstNull(four), mk_at(u, c->shared, mk_zext(u, at, u->e->i64)),
             SHARED_ALIGNMENT);
    lv next = mk_add(u, at, mk_i32(u, SHARED_ALIGNMENT * u->lane_count)), values[2] = {first, next};
    lb blocks[2] = {before, body};
    u->l->AddIncoming(at, values, blocks, 2);
    mk_br(u, head);
    mk_begin(u, after);
}

/* --- parameters ------------------------------------------------------------------------------- */

/* Read in the entry block, where LLVM spells it as a place in the parameter. */
static lv field(code *c, lt type, size_t offset)
{
    lb here = ls__ptx_enter_entry(c);
    lv value = mk_field(&c->u, type, c->parameters, offset);
    ls__ptx_leave_entry(c, here);
    return value;
}

static void take_call(code *c)
{
    static const char *const ids[3] = {"ctaid.x", "ctaid.y", "ctaid.z"};
    unit *u = &c->u;
    lt word = u->e->i32, address = u->e->i64;
    c->given[GIVEN_STATUS] = ls__ptx_global(c, field(c, address, offsetof(ls__ptx_call, status)));
    c->given[GIVEN_SEQUENCE] = field(c, word, offsetof(ls__ptx_call, sequence));
    c->given[GIVEN_ITERATION] = field(c, word, offsetof(ls__ptx_call, iteration));
    if (c->flags & LS__PTX_GRID_BARRIER)
        c->barrier = ls__ptx_global(c, field(c, address, offsetof(ls__ptx_call, barrier)));
    for (uint32_t d = 0; d < 3; d++) {
        lv base = field(c, word, offsetof(ls__ptx_call, workgroup_base) + 4 * d);
        c->given[GIVEN_WORKGROUP_ID + d] = mk_add(u, base, ls__ptx_register(c, ids[d]));
        c->given[GIVEN_GLOBAL_SIZE + d] =
            field(c, word, offsetof(ls__ptx_call, global_size) + 4 * d);
        c->given[GIVEN_WORKGROUP_COUNT + d] =
            field(c, word, offsetof(ls__ptx_call, workgroup_count) + 4 * d);
    }
    for (uint32_t i = 0; i < u->function->buffer_count; i++) {
        size_t at = sizeof(ls__ptx_call) + i * sizeof(ls__ptx_buffer);
        u->buffers[i] =
            ls__ptx_global(c, field(c, address, at + offsetof(ls__ptx_buffer, address)));
        u->ranges[i] = field(c, address, at + offsetof(ls__ptx_buffer, range));
    }
}

/* --- before the kernel's own code ------------------------------------------------------------- */

static void leave_if(code *c, lv condition)
{
    lb on = mk_block(&c->u);
    mk_cond_br(&c->u, condition, c->done, on);
    mk_begin(&c->u, on);
}

static void leave_when_cancelled(code *c)
{
    unit *u = &c->u;
    lb stop = mk_block(u), on = mk_block(u);
    lv cancelled = ls__ptx_cancelled(c);
    if (c->cooperates)
        cancelled = ls__ptx_workgroup_any(c, cancelled);
    else if (c->shared_bytes)
        ls__ptx_barrier(c);
    mk_cond_br(u, cancelled, stop, on);
    mk_begin(u, stop);
    ls__ptx_leave_stopped(c);
    mk_begin(u, on);
}

static void leave_after_trap(code *c)
{
    unit *u = &c->u;
    lv place = mk_at(u, c->given[GIVEN_STATUS], mk_i64(u, offsetof(ls__ptx_status, trap_sequence)));
    lv trapped = ls__ptx_volatile_load(c, u->e->i32, place);
    lv first = field(c, u->e->i32, offsetof(ls__ptx_call, first_sequence));
    lv is_before = mk_icmp(u, LLVMIntULT, trapped, first);
    leave_if(c, mk_and(u, is_before, mk_icmp(u, LLVMIntNE, trapped, mk_i32(u, 0))));
}

/* Sizes that lie in memory, where there are such; workgroups outside of them leave. */
static void take_sizes(code *c)
{
    enum { SIZES = sizeof(ls__ptx_sizes) / 4 };
    unit *u = &c->u;
    lv *sizes = &c->given[GIVEN_GLOBAL_SIZE], read[SIZES];
    lv address = field(c, u->e->i64, offsetof(ls__ptx_call, sizes));
    lb direct = u->l->GetInsertBlock(u->b), indirect = mk_block(u), on = mk_block(u);
    mk_cond_br(u, mk_icmp(u, LLVMIntEQ, address, mk_i64(u, 0)), on, indirect);
    mk_begin(u, indirect);
    lv place = ls__ptx_global(c, address), outside = NULL;
    for (uint32_t i = 0; i < SIZES; i++)
        read[i] = mk_load(u, u->e->i32, mk_at(u, place, mk_i64(u, 4 * (uint64_t)i)), 4);
    for (uint32_t d = 0; d < 3; d++)
        outside = mk_both(u, outside,
                          mk_icmp(u, LLVMIntULT, c->given[GIVEN_WORKGROUP_ID + d], read[3 + d]));
    mk_cond_br(u, outside, on, c->done);
    mk_begin(u, on);
    for (uint32_t i = 0; i < SIZES; i++) {
        lv phi = u->l->BuildPhi(u->b, u->e->i32, ""), values[2] = {sizes[i], read[i]};
        lb blocks[2] = {direct, indirect};
        u->l->AddIncoming(phi, values, blocks, 2);
        sizes[i] = phi;
    }
}

/* --- kernels ---------------------------------------------------------------------------------- */

static bool find_grid_barrier(ls__ir_inst *inst, void *context)
{
    uint32_t *flags = context;
    if (inst->op == LS_OP_GRID_BARRIER)
        *flags |= LS__PTX_GRID_BARRIER;
    if (inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS)
        *flags |= LS__PTX_ATOMICS;
    return true;
}

static ls_status check(const generator *g, const ls__ir_function *kernel, uint32_t flags,
                       ls_error *error)
{
    uint64_t lanes = (uint64_t)kernel->workgroup[0] * kernel->workgroup[1] * kernel->workgroup[2];
    uint64_t bytes = sizeof(ls__ptx_call) + (uint64_t)kernel->scalar_bytes +
                     (uint64_t)kernel->buffer_count * sizeof(ls__ptx_buffer);
    if ((flags & LS__PTX_GRID_BARRIER) && !g->target.grid)
        return ls__fail(error, LS_E_INTERNAL,
                        "kernel '%s' reaches the code generator with a grid barrier", kernel->name);
    if (lanes == 0 || lanes > MAX_LANES)
        return ls__fail(error, LS_E_LIMIT,
                        "kernel '%s' has workgroups of %llu lanes; PTX allows %d", kernel->name,
                        (unsigned long long)lanes, MAX_LANES);
    if (kernel->buffer_count > LS__PTX_MAX_BUFFERS)
        return ls__fail(error, LS_E_LIMIT, "kernel '%s' has %u buffers; for PTX at most %d",
                        kernel->name, kernel->buffer_count, LS__PTX_MAX_BUFFERS);
    if (bytes > LS__PTX_MAX_PARAMETER_BYTES)
        return ls__fail(error, LS_E_LIMIT,
                        "kernel '%s' has %llu bytes of parameters; PTX allows %d", kernel->name,
                        (unsigned long long)bytes, LS__PTX_MAX_PARAMETER_BYTES);
    return LS_OK;
}

static lv add_entry(generator *g, const ls__ir_function *kernel, uint32_t parameter_bytes)
{
    emitter *e = g->e;
    const ls__llvm *l = e->l;
    enum { KERNEL_CONVENTION = 71, PARAMETER_ALIGNMENT = 16 };
    char name[48];
    lt bytes = l->ArrayType2(e->i8, parameter_bytes);
    snprintf(name, sizeof name, LS__PTX_KERNEL_SYMBOL "%u", kernel->id.id);
    lv entry = l->AddFunction(e->out, name, l->FunctionType(e->void_type, &e->ptr, 1, 0));
    l->SetFunctionCallConv(entry, KERNEL_CONVENTION);
    static const char by_value[] = "byval";
    unsigned kind = l->GetEnumAttributeKindForName(by_value, sizeof by_value - 1);
    l->AddAttributeAtIndex(entry, 1, l->CreateTypeAttribute(e->context, kind, bytes));
    l->AddAttributeAtIndex(entry, 1, ls__llvm_attribute(e, "align", PARAMETER_ALIGNMENT));
    l->AddAttributeAtIndex(entry, 1, ls__llvm_attribute(e, "noalias", 0));
    l->AddAttributeAtIndex(entry, 1, ls__llvm_attribute(e, "readonly", 0));
    return entry;
}

/* ".reqntid lanes, 1, 1": so many registers at most that the workgroup runs. */
static void annotate(generator *g, lv entry, uint32_t lanes)
{
    static const char list[] = "nvvm.annotations", name[] = "reqntidx";
    emitter *e = g->e;
    const ls__llvm *l = e->l;
    LLVMMetadataRef parts[3] = {l->ValueAsMetadata(entry),
                                l->MDStringInContext2(e->context, name, sizeof name - 1),
                                l->ValueAsMetadata(l->ConstInt(e->i32, lanes, 0))};
    lv node = l->MetadataAsValue(e->context, l->MDNodeInContext2(e->context, parts, 3));
    l->AddNamedMetadataOperand(e->out, list, node);
}

ls_status ls__ptx_emit_kernel(generator *g, const ls__ir_function *kernel, ls__ptx_kernel *out,
                              ls_error *error)
{
    code c = {.flags = 0};
    unit *u = &c.u;
    ls__ir_walk(kernel->body, find_grid_barrier, &c.flags);
    ls_status status = check(g, kernel, c.flags, error);
    if (status != LS_OK)
        return status;
    uint32_t parameter_bytes =
        (uint32_t)(sizeof(ls__ptx_call) + kernel->buffer_count * sizeof(ls__ptx_buffer)) +
        kernel->scalar_bytes;
    lv entry = add_entry(g, kernel, parameter_bytes);
    ls__ptx_begin(&c, g, kernel, kernel->workgroup, entry);
    c.cooperates = u->lane_count > 1 && ls__ptx_cooperates(kernel);
    uint64_t shared = lay_out_shared(&c);
    if (shared > LS__PTX_MAX_SHARED_BYTES)
        return ls__fail(
            error, LS_E_LIMIT,
            "kernel '%s' needs %llu bytes of shared memory, PTX allows %d: %llu too few",
            kernel->name, (unsigned long long)shared, LS__PTX_MAX_SHARED_BYTES,
            (unsigned long long)(shared - LS__PTX_MAX_SHARED_BYTES));
    c.shared_bytes = align_up((uint32_t)shared, SHARED_ALIGNMENT);
    c.parameters = u->l->GetParam(entry, 0);
    annotate(g, entry, u->lane_count);
    take_call(&c);
    lb start = mk_block(u);
    mk_begin(u, start);
    if (c.shared_bytes) {
        add_shared(&c);
        clear_shared(&c);
    }
    leave_when_cancelled(&c);
    leave_after_trap(&c);
    take_sizes(&c);
    ls__ptx_body(&c);
    u->l->BuildRetVoid(u->b);
    mk_begin(u, u->allocas);
    mk_br(u, start);
    if (c.cooperates || (c.shared_bytes && u->lane_count > 1))
        c.flags |= LS__PTX_BARRIERS;
    *out = (ls__ptx_kernel){.function = kernel->id.id,
                            .flags = c.flags,
                            .shared_bytes = c.shared_bytes,
                            .buffer_count = kernel->buffer_count,
                            .scalar_bytes = kernel->scalar_bytes,
                            .parameter_bytes = parameter_bytes};
    memcpy(out->workgroup, kernel->workgroup, sizeof out->workgroup);
    return LS_OK;
}
