/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and the functions they call.
 *
 * A kernel is two functions: the exported one of abi.h, which reads buffers and ranges from the
 * arguments, and its body, which gets them as parameters. Bound ranges never overlap if one is
 * written, so the body's are `noalias`.
 *
 * A noinline function is emitted once for each shape (strand width and workgroup) of the kernels
 * that call it, and apart for calls by all lanes, whose code needs no masks. It gets the geometry,
 * its part of scratch, its buffers, the mask of the lanes that call when not all do, its scalars by
 * lane, and pointers to where its results go.
 */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "emit/llvm/abi.h"
#include "emit/llvm/build.h"
#include "ir/uniform.h"

/* --- shape ------------------------------------------------------------------------------------ */

static bool find_subgroup_op(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found |= inst->op == LS_OP_SG_SHUFFLE || inst->op == LS_OP_SG_BROADCAST ||
              inst->op == LS_OP_SG_REDUCE || inst->op == LS_OP_SG_BALLOT;
    return true;
}

static bool find_grid_barrier(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found |= inst->op == LS_OP_GRID_BARRIER;
    return true;
}

enum { FEW_VARIABLES = 4 };

/* Whether values of 32 lanes, each of 4 registers of AVX2, leave room: of what lives long there is
 * little. */
static bool keeps_little(const emitter *e, const ls__ir_function *kernel)
{
    ls__ir_uniformity uniformity = ls__ir_uniformity_of(kernel, e->arena);
    uint32_t count = 0;
    for (uint32_t i = 1; i < kernel->vars.count; i++)
        count += uniformity.vars[i] > LS__IR_SUBGROUP;
    return count <= FEW_VARIABLES;
}

/* Lanes of a strand. A workgroup of one subgroup becomes one strand if it can: then memory is read
 * line after line, by two strands it would be every other line. Rows of a small power of two become
 * strands, so that lanes side by side lie side by side in memory. */
static uint32_t width_of(const emitter *e, const ls__ir_function *kernel, uint32_t lanes)
{
    bool has_subgroup_op = false;
    uint32_t width = e->target.width, row = kernel->workgroup[0];
    ls__ir_walk(kernel->body, find_subgroup_op, &has_subgroup_op);
    if (has_subgroup_op)
        return 32;
    if (e->target.mode == LS__LLVM_SCALAR || lanes == 1)
        return 1;
    if (lanes == 32 && width == 16 && keeps_little(e, kernel))
        return 32;
    while (width / 2 >= lanes)
        width /= 2;
    if (row % width != 0 && row >= 4 && row < width && (row & (row - 1)) == 0)
        width = row;
    return width;
}

/* --- units ------------------------------------------------------------------------------------ */

static unit begin_unit(emitter *e, const ls__ir_function *function, uint32_t width,
                       const uint32_t workgroup[3], ls_error *error)
{
    unit u = {.e = e, .l = e->l, .b = e->b, .function = function, .width = width, .error = error};
    memcpy(u.workgroup, workgroup, sizeof u.workgroup);
    u.lane_count = workgroup[0] * workgroup[1] * workgroup[2];
    u.strand_count = function->is_kernel ? (u.lane_count + width - 1) / width : 1;
    lv lanes[32];
    for (uint32_t i = 0; i < width; i++)
        lanes[i] = mk_i32(&u, i);
    u.is_generated_quickly =
        e->is_generated_quickly || ls__llvm_length(function, width == 1) > LONG_FUNCTION;
    u.lanes = width > 1 ? e->l->ConstVector(lanes, width) : lanes[0];
    u.buffers = LS__NEW_ARRAY(e->arena, lv, function->buffer_count);
    u.ranges = LS__NEW_ARRAY(e->arena, lv, function->buffer_count);
    return u;
}

static void add_function(unit *u, const char *name, lt type, LLVMLinkage linkage)
{
    u->code = u->l->AddFunction(u->e->out, name, type);
    if (u->is_generated_quickly && !u->e->is_generated_quickly)
        ls__llvm_mark_long(u->e, u->code);
    u->l->SetLinkage(u->code, linkage);
    ls__llvm_add_attribute(u->e, u->code, "nounwind");
}

/* Begins the code of a function whose first parameters are `args` and, at `scratch`, scratch
 * memory. */
static lb begin_code(unit *u, unsigned scratch)
{
    u->allocas = mk_block(u);
    lb start = mk_block(u);
    mk_begin(u, u->allocas);
    u->args = u->l->GetParam(u->code, 0);
    u->scratch = u->l->GetParam(u->code, scratch);
    u->cancel = mk_field(u, u->e->ptr, u->args, offsetof(ls__cpu_args, cancel));
    for (uint32_t d = 0; d < 3; d++)
        u->workgroup_count[d] =
            mk_field(u, u->e->i32, u->args, offsetof(ls__cpu_args, workgroup_count) + 4 * d);
    mk_begin(u, start);
    return start;
}

static void end_code(unit *u, lb start)
{
    mk_begin(u, u->allocas);
    mk_br(u, start);
}

/* --- cancellation ----------------------------------------------------------------------------- */

static lv goes_on(unit *u)
{
    lv flag = mk_load(u, u->e->i32, u->cancel, 4);
    u->l->SetOrdering(flag, LLVMAtomicOrderingUnordered);
    u->l->SetVolatile(flag, 1);
    return mk_icmp(u, LLVMIntEQ, flag, mk_i32(u, 0));
}

/* LLVM must know which way is taken: a loop that seems to end soon gets no registers. */
static void poll(unit *u)
{
    lb on = mk_block(u);
    ls__llvm_likely(u, goes_on(u), on, u->stop);
    mk_begin(u, on);
}

enum { SHORT_LOOP = 4096 };

void ls__llvm_poll(unit *u, const ls__ir_inst *loop)
{
    uint64_t bound = ls__ir_loop_bound(u->function, loop);
    if (bound != 0 && bound <= SHORT_LOOP)
        return;
    poll(u);
}

enum { MAX_BLOCK = 250, MAX_VECTOR_BLOCK = 1500, MAX_QUICK_BLOCK = 120 }; /* of the IR */

/* LLVM's code generators take time that grows with the square of a block, but for the quick one of
 * scalar code, which also makes worse code of many blocks: it keeps every address that two of them
 * use. A test for cancellation is a branch that LLVM cannot see through. */
void ls__llvm_split_block(unit *u)
{
    lb block = u->l->GetInsertBlock(u->b);
    if (block != u->block) {
        u->block = block;
        u->block_size = 0;
    }
    bool quick = u->is_generated_quickly;
    uint32_t most = quick ? MAX_QUICK_BLOCK : u->width > 1 ? MAX_VECTOR_BLOCK : MAX_BLOCK;
    if (++u->block_size > most && (u->width > 1 || !quick))
        poll(u);
}

/* --- the loop over workgroups ----------------------------------------------------------------- */

static lv phi_of(unit *u, lt type, lv first, lb from)
{
    lv phi = u->l->BuildPhi(u->b, type, "");
    u->l->AddIncoming(phi, &first, &from, 1);
    return phi;
}

static void first_ids(unit *u, lv linear, lv ids[3])
{
    lv x = mk_zext(u, u->workgroup_count[0], u->e->i64);
    lv y = mk_zext(u, u->workgroup_count[1], u->e->i64);
    lv row = u->l->BuildUDiv(u->b, linear, x, "");
    ids[0] = mk_trunc(u, u->l->BuildURem(u->b, linear, x, ""), u->e->i32);
    ids[1] = mk_trunc(u, u->l->BuildURem(u->b, row, y, ""), u->e->i32);
    ids[2] = mk_trunc(u, u->l->BuildUDiv(u->b, row, y, ""), u->e->i32);
}

static void next_ids(unit *u, lv next[3])
{
    lv one = mk_i32(u, 1), zero = mk_i32(u, 0), x = mk_add(u, u->workgroup_id[0], one);
    lv x_over = mk_icmp(u, LLVMIntEQ, x, u->workgroup_count[0]);
    lv y = mk_select(u, x_over, mk_add(u, u->workgroup_id[1], one), u->workgroup_id[1]);
    lv y_over = mk_icmp(u, LLVMIntEQ, y, u->workgroup_count[1]);
    next[0] = mk_select(u, x_over, zero, x);
    next[1] = mk_select(u, y_over, zero, y);
    next[2] = mk_select(u, y_over, mk_add(u, u->workgroup_id[2], one), u->workgroup_id[2]);
}

/* Parameters: args, first, count, scratch, then buffers and ranges by turns. */
static void emit_workgroups(unit *u, lb start)
{
    lv first = u->l->GetParam(u->code, 1), count = u->l->GetParam(u->code, 2);
    lv end = mk_add(u, first, count), ids[3], next[3];
    lb head = mk_block(u), run = mk_block(u), done = mk_block(u);
    u->stop = mk_block(u);
    first_ids(u, first, ids);
    mk_cond_br(u, mk_icmp(u, LLVMIntEQ, count, mk_i64(u, 0)), done, head);

    mk_begin(u, head);
    u->workgroup_linear = phi_of(u, u->e->i64, first, start);
    for (int d = 0; d < 3; d++)
        u->workgroup_id[d] = phi_of(u, u->e->i32, ids[d], start);
    ls__llvm_likely(u, goes_on(u), run, u->stop);
    mk_begin(u, run);
    ls__llvm_emit_body(u);
    next_ids(u, next);
    lv linear = mk_add(u, u->workgroup_linear, mk_i64(u, 1));
    lb from = u->l->GetInsertBlock(u->b);
    u->l->AddIncoming(u->workgroup_linear, &linear, &from, 1);
    for (int d = 0; d < 3; d++)
        u->l->AddIncoming(u->workgroup_id[d], &next[d], &from, 1);
    mk_cond_br(u, mk_icmp(u, LLVMIntEQ, linear, end), done, head);

    mk_begin(u, done);
    u->l->BuildRet(u->b, mk_i32(u, 0));
    mk_begin(u, u->stop);
    u->l->BuildRet(u->b, mk_i32(u, 1));
}

/* --- kernels ---------------------------------------------------------------------------------- */

enum { FIXED_PARAMS = 4 };

static lt body_type(unit *u)
{
    const emitter *e = u->e;
    uint32_t count = FIXED_PARAMS + 2 * u->function->buffer_count;
    lt *types = LS__NEW_ARRAY(e->arena, lt, count);
    types[0] = types[3] = e->ptr;
    types[1] = types[2] = e->i64;
    for (uint32_t i = 0; i < u->function->buffer_count; i++) {
        types[FIXED_PARAMS + 2 * i] = e->ptr;
        types[FIXED_PARAMS + 2 * i + 1] = e->i64;
    }
    return e->l->FunctionType(e->i32, types, count, 0);
}

static void emit_kernel_body(unit *u)
{
    LLVMAttributeRef no_alias = ls__llvm_attribute(u->e, "noalias", 0);
    add_function(u, "", body_type(u), LLVMPrivateLinkage);
    u->l->AddAttributeAtIndex(u->code, 4, no_alias); /* scratch; parameters count from 1 */
    for (uint32_t i = 0; i < u->function->buffer_count; i++) {
        u->buffers[i] = u->l->GetParam(u->code, FIXED_PARAMS + 2 * i);
        u->ranges[i] = u->l->GetParam(u->code, FIXED_PARAMS + 2 * i + 1);
        u->l->AddAttributeAtIndex(u->code, FIXED_PARAMS + 2 * i + 1, no_alias);
    }
    lb start = begin_code(u, 3);
    ls__llvm_plan(u);
    emit_workgroups(u, start);
    end_code(u, start);
}

/* The exported function: takes the arguments apart. */
static void emit_entry(unit *body)
{
    emitter *e = body->e;
    const ls__ir_function *kernel = body->function;
    unit entry = *body, *u = &entry;
    char name[48];
    lt types[FIXED_PARAMS] = {e->ptr, e->i64, e->i64, e->ptr};
    uint32_t count = FIXED_PARAMS + 2 * kernel->buffer_count;
    snprintf(name, sizeof name, LS__CPU_KERNEL_SYMBOL "%u", kernel->id.id);
    add_function(u, name, e->l->FunctionType(e->i32, types, FIXED_PARAMS, 0), LLVMExternalLinkage);
    mk_begin(u, mk_block(u));
    lv *args = LS__NEW_ARRAY(e->arena, lv, count);
    for (unsigned i = 0; i < FIXED_PARAMS; i++)
        args[i] = e->l->GetParam(u->code, i);
    lv buffers = mk_field(u, e->ptr, args[0], offsetof(ls__cpu_args, buffers));
    lv ranges = mk_field(u, e->ptr, args[0], offsetof(ls__cpu_args, ranges));
    for (uint32_t i = 0; i < kernel->buffer_count; i++) {
        args[FIXED_PARAMS + 2 * i] = mk_field(u, e->ptr, buffers, 8 * (size_t)i);
        args[FIXED_PARAMS + 2 * i + 1] = mk_field(u, e->i64, ranges, 8 * (size_t)i);
    }
    e->l->BuildRet(e->b, e->l->BuildCall2(e->b, e->l->GlobalGetValueType(body->code), body->code,
                                          args, count, ""));
}

static void emit_info(unit *u)
{
    emitter *e = u->e;
    char name[48];
    snprintf(name, sizeof name, LS__CPU_INFO_SYMBOL "%u", u->function->id.id);
    uint64_t hurried = e->is_generated_quickly && !e->target.quick;
    lv words[2] = {mk_i64(u, u->scratch_bytes + u->callee_scratch_bytes),
                   mk_i64(u, u->width | hurried << 32)};
    lv table = e->l->ConstArray2(e->i64, words, 2);
    lv global = e->l->AddGlobal(e->out, e->l->TypeOf(table), name);
    e->l->SetInitializer(global, table);
    e->l->SetGlobalConstant(global, 1);
    e->l->SetAlignment(global, 8);
}

ls_status ls__llvm_emit_kernel(emitter *e, const ls__ir_function *kernel, ls_error *error)
{
    uint64_t lanes = (uint64_t)kernel->workgroup[0] * kernel->workgroup[1] * kernel->workgroup[2];
    bool has_grid_barrier = false;
    ls__ir_walk(kernel->body, find_grid_barrier, &has_grid_barrier);
    if (has_grid_barrier)
        return ls__fail(error, LS_E_INTERNAL,
                        "kernel '%s' reaches the code generator with a grid barrier", kernel->name);
    if (lanes == 0 || lanes > 65536)
        return ls__fail(error, LS_E_LIMIT, "kernel '%s' has workgroups of %llu lanes", kernel->name,
                        (unsigned long long)lanes);
    unit u = begin_unit(e, kernel, width_of(e, kernel, (uint32_t)lanes), kernel->workgroup, error);
    emit_kernel_body(&u);
    if (u.status != LS_OK)
        return u.status;
    emit_entry(&u);
    emit_info(&u);
    return LS_OK;
}

/* --- functions -------------------------------------------------------------------------------- */

/* args, scratch, linear workgroup, its three ids, first lane, [mask,] then buffers, scalars,
 * results. */
enum { CALL_FIXED = 7 };

static uint32_t scalar_count(const ls__ir_function *function)
{
    return function->params.count - function->buffer_count;
}

static ls_type scalar_type(const ls__ir_function *function, uint32_t index)
{
    for (uint32_t i = 0; i < function->params.count; i++) {
        if (!function->params.items[i].is_pointer && index-- == 0)
            return ls__ir_mem_type((ls_mem)function->params.items[i].mem);
    }
    return LS_TYPE_VOID;
}

static lt function_type(unit *u, bool masked)
{
    const emitter *e = u->e;
    const ls__ir_function *function = u->function;
    uint32_t scalars = scalar_count(function), n = CALL_FIXED;
    lt *types = LS__NEW_ARRAY(e->arena, lt,
                              CALL_FIXED + 1 + 2 * function->buffer_count + scalars +
                                  function->results.count);
    types[0] = types[1] = e->ptr;
    types[2] = e->i64;
    types[3] = types[4] = types[5] = types[6] = e->i32;
    if (masked)
        types[n++] = e->i32;
    for (uint32_t i = 0; i < function->buffer_count; i++) {
        types[n++] = e->ptr;
        types[n++] = e->i64;
    }
    for (uint32_t i = 0; i < scalars; i++)
        types[n++] = ls__llvm_kept_type(u, ls__llvm_type(u, scalar_type(function, i), true));
    for (uint32_t i = 0; i < function->results.count; i++)
        types[n++] = e->ptr;
    return e->l->FunctionType(e->void_type, types, n, 0);
}

static lv take_scalar(unit *u, uint32_t index, lv param)
{
    lt type = ls__llvm_type(u, scalar_type(u->function, index), true);
    return ls__llvm_kept_type(u, type) == type ? param : ls__llvm_narrow(u, param);
}

static void take_params(unit *u, bool masked)
{
    const ls__ir_function *function = u->function;
    uint32_t n = 2;
    u->workgroup_linear = u->l->GetParam(u->code, n++);
    for (int d = 0; d < 3; d++)
        u->workgroup_id[d] = u->l->GetParam(u->code, n++);
    u->first_lane = u->l->GetParam(u->code, n++);
    u->strand = mk_i32(u, 0);
    if (masked)
        u->entry_mask = ls__llvm_mask_from_bits(u, u->l->GetParam(u->code, n++));
    for (uint32_t i = 0; i < function->buffer_count; i++) {
        u->buffers[i] = u->l->GetParam(u->code, n++);
        u->ranges[i] = u->l->GetParam(u->code, n++);
    }
    u->scalars = LS__NEW_ARRAY(u->e->arena, lv, scalar_count(function));
    for (uint32_t i = 0; i < scalar_count(function); i++)
        u->scalars[i] = take_scalar(u, i, u->l->GetParam(u->code, n++));
    u->results = LS__NEW_ARRAY(u->e->arena, lv, function->results.count);
    for (uint32_t i = 0; i < function->results.count; i++)
        u->results[i] = u->l->GetParam(u->code, n++);
}

static ls_status emit_function(emitter *e, const ls__ir_function *function, unit *caller,
                               callee *out)
{
    unit u = begin_unit(e, function, caller->width, caller->workgroup, caller->error);
    lb here = e->l->GetInsertBlock(e->b);
    bool masked = caller->mask != NULL;
    *out = (callee){.function = function->id.id,
                    .width = u.width,
                    .masked = masked,
                    .type = function_type(&u, masked)};
    memcpy(out->workgroup, u.workgroup, sizeof out->workgroup);
    add_function(&u, "", out->type, LLVMPrivateLinkage);
    ls__llvm_add_attribute(e, u.code, "noinline");
    out->code = u.code;
    lb start = begin_code(&u, 1);
    u.stop = mk_block(&u);
    take_params(&u, masked);
    ls__llvm_plan(&u);
    mk_begin(&u, start);
    ls__llvm_emit_body(&u);
    e->l->BuildRetVoid(e->b);
    mk_begin(&u, u.stop);
    e->l->BuildRetVoid(e->b);
    end_code(&u, start);
    out->scratch_bytes = u.scratch_bytes + u.callee_scratch_bytes;
    mk_begin(caller, here);
    return u.status;
}

static const callee *find_callee(unit *caller, const ls__ir_function *function)
{
    emitter *e = caller->e;
    for (uint32_t i = 0; i < e->callees.count; i++) {
        const callee *c = &e->callees.items[i];
        if (c->function == function->id.id && c->width == caller->width &&
            c->masked == (caller->mask != NULL) &&
            memcmp(c->workgroup, caller->workgroup, sizeof c->workgroup) == 0)
            return c;
    }
    callee c;
    ls_status status = emit_function(e, function, caller, &c);
    if (status != LS_OK)
        caller->status = status;
    ls__vec_push(e->arena, &e->callees, c);
    return &e->callees.items[e->callees.count - 1];
}

static lv kept_vector(unit *u, ls_value value)
{
    lv vector = ls__llvm_vector(u, value);
    return ls__llvm_is_mask(u, vector) ? ls__llvm_wide(u, vector) : vector;
}

void ls__llvm_emit_call(unit *u, ls__ir_inst *inst)
{
    emitter *e = u->e;
    const ls__ir_function *function = e->module->functions.items[inst->imm];
    const callee *c = find_callee(u, function);
    uint32_t n = CALL_FIXED, results = function->results.count;
    lv *args =
        LS__NEW_ARRAY(e->arena, lv, n + 1 + 2 * inst->base_count + inst->arg_count + results);
    lv places[64];
    if (c->scratch_bytes > u->callee_scratch_bytes)
        u->callee_scratch_bytes = c->scratch_bytes;
    args[0] = u->args;
    args[1] = mk_at(u, u->scratch, mk_i64(u, u->scratch_bytes));
    args[2] = u->workgroup_linear;
    for (int d = 0; d < 3; d++)
        args[3 + d] = u->workgroup_id[d];
    args[6] = u->first_lane;
    if (c->masked)
        args[n++] = ls__llvm_mask_bits(u, u->mask);
    for (uint32_t i = 0; i < inst->base_count; i++) {
        args[n++] = u->buffers[inst->bases[i].index];
        args[n++] = u->ranges[inst->bases[i].index];
    }
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[n++] = kept_vector(u, inst->args[i]);
    lv *result_places = results <= 64 ? places : LS__NEW_ARRAY(e->arena, lv, results);
    for (uint32_t i = 0; i < results; i++) {
        lt type = ls__llvm_type(u, (ls_type)function->results.items[i], true);
        result_places[i] = args[n++] = ls__llvm_alloca(u, type);
        mk_keep(u, e->l->ConstNull(type), result_places[i]);
    }
    e->l->BuildCall2(e->b, c->type, c->code, args, n, "");
    for (uint32_t i = 0; i < results; i++) {
        lt type = ls__llvm_type(u, (ls_type)function->results.items[i], true);
        lv value = mk_kept(u, type, result_places[i]);
        if (u->width == 1)
            ls__llvm_set_var(u, inst->results[i], value, NULL);
        else
            ls__llvm_set_var(u, inst->results[i], NULL, value);
    }
}
