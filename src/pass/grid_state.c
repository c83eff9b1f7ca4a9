/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and restoring a kernel's state around grid barriers; see grid_state.h and
 * lower_grid_barrier.c. */
#include "pass/grid_state.h"

/* --- what is live ---------------------------------------------------------------------------- */

void ls__grid_state_init(ls__grid_state *state, const ls__ir_function *function, ls__arena *scratch)
{
    state->function = function;
    state->var_count = function->vars.count;
    state->vars = LS__NEW_ARRAY(scratch, ls__grid_var, state->var_count);
    state->lanes = function->workgroup[0] * function->workgroup[1] * function->workgroup[2];
}

static bool is_inside(const ls__ir_inst *inst, const ls__ir_region *region)
{
    for (; inst; inst = inst->parent->owner) {
        if (inst->parent == region)
            return true;
    }
    return false;
}

/* A variable carries nothing across a barrier when all its uses lie in one chunk, the first sets
 * it, and the others stand in that set's region or deeper: no way leads to them that does not pass
 * the set. */
static void note_var(ls__grid_state *state, uint32_t id, const ls__ir_inst *inst, uint32_t chunk,
                     bool on_spine)
{
    ls__grid_var *var = &state->vars[id];
    if (!var->home) {
        var->home = inst->parent;
        var->chunk = chunk;
        var->is_live = inst->op == LS_OP_VAR_GET;
    }
    if (var->chunk != chunk)
        var->is_live = var->is_on_spine = true;
    if (!is_inside(inst, var->home))
        var->is_live = true;
    var->is_on_spine |= on_spine;
}

void ls__grid_note_use(ls__grid_state *state, const ls__ir_inst *inst, uint32_t chunk,
                       bool on_spine)
{
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        note_var(state, (uint32_t)inst->imm, inst, chunk, on_spine);
    for (uint32_t i = 0; i < inst->result_count; i++)
        note_var(state, inst->results[i].id, inst, chunk, on_spine);
}

/* --- layout ---------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

void ls__grid_state_lay_out(ls__grid_state *state, ls__arena *scratch)
{
    const ls__ir_function *function = state->function;
    ls__ir_uniformity uniformity = ls__ir_uniformity_of(function, scratch);
    uint32_t count = function->vars.count, offset = 0;
    ls__grid_var *vars = LS__NEW_ARRAY(scratch, ls__grid_var, count);
    for (uint32_t i = 1; i < count; i++) {
        vars[i] = i < state->var_count ? state->vars[i]
                                       : (ls__grid_var){.is_live = true, .is_on_spine = true};
        vars[i].is_uniform = vars[i].is_on_spine && uniformity.vars[i] <= LS__IR_WORKGROUP;
        vars[i].offset = offset;
        offset += vars[i].is_live ? 8 : 0;
    }
    state->vars = vars;
    state->var_count = count;

    state->local_offsets = LS__NEW_ARRAY(scratch, uint32_t, function->locals.count);
    for (uint32_t i = 0; i < function->locals.count; i++) {
        state->local_offsets[i] = offset;
        offset += (uint32_t)round_up(function->locals.items[i].size, 8);
    }
    state->lane_bytes = offset;

    uint64_t shared = 0;
    state->shared_offsets = LS__NEW_ARRAY(scratch, uint64_t, function->shared.count);
    for (uint32_t i = 0; i < function->shared.count; i++) {
        state->shared_offsets[i] = shared;
        shared += round_up(function->shared.items[i].size, 8);
    }
    state->shared_bytes = round_up(round_up(shared, state->lanes) / state->lanes, 8);
}

/* --- addresses ------------------------------------------------------------------------------- */

static val id_of(at c, ls_id id, uint32_t dimension)
{
    ls__ir_inst *inst = ls__ir_insert(c, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    inst->imm = (uint64_t)id;
    inst->imm2 = dimension;
    return inst->id;
}

static val wide_id(at c, ls_id id, uint32_t dimension)
{
    return zext(c, id_of(c, id, dimension));
}

/* Number of the workgroup, x fastest. */
static val workgroup_number(at c)
{
    val y = mul(c, wide_id(c, LS_ID_WORKGROUP_ID, 2), wide_id(c, LS_ID_WORKGROUP_COUNT, 1));
    val row = add(c, y, wide_id(c, LS_ID_WORKGROUP_ID, 1));
    val rows = mul(c, row, wide_id(c, LS_ID_WORKGROUP_COUNT, 0));
    return add(c, rows, wide_id(c, LS_ID_WORKGROUP_ID, 0));
}

typedef struct address { /* byte offsets in the scratch buffer */
    ls_base scratch;
    val lane, shared;
} address;

static ls_base scratch_buffer(const ls__ir_function *function)
{
    return (ls_base){LS_BASE_BUFFER, function->buffer_count - 1};
}

static address address_of(const ls__grid_state *state, at c)
{
    uint64_t workgroup_bytes = (state->lane_bytes + state->shared_bytes) * state->lanes;
    val block = mul(c, workgroup_number(c), k64(c, workgroup_bytes));
    block = add_k(c, block, LS__GRID_HEADER_BYTES);
    val own = mul(c, wide_id(c, LS_ID_LOCAL_INDEX, 0), k64(c, state->lane_bytes));
    return (address){scratch_buffer(c->function), add(c, block, own),
                     add_k(c, block, state->lane_bytes * state->lanes)};
}

void ls__grid_store_next(const ls__grid_state *state, at c, uint32_t segment)
{
    (void)state;
    val lane = or_(c, workgroup_number(c), wide_id(c, LS_ID_LOCAL_INDEX, 0));
    ls__ir_inst *guard = ls__ir_if(c, eq(c, lane, k64(c, 0)));
    ls__ir_cursor inside = {c->function, guard->regions[0], NULL, c->loc};
    val zero = k64(&inside, 0);
    ls__ir_inst *store =
        ls__ir_store(&inside, LS_MEM_U32, scratch_buffer(c->function), zero, k32(&inside, segment));
    store->flags = LS__IR_INBOUNDS;
}

/* --- variables ------------------------------------------------------------------------------- */

static ls_mem var_mem(ls_type type)
{
    switch (type) {
    case LS_TYPE_I64:
        return LS_MEM_U64;
    case LS_TYPE_F32:
        return LS_MEM_F32;
    case LS_TYPE_F64:
        return LS_MEM_F64;
    default:
        return LS_MEM_U32; /* bools as 0 or 1 */
    }
}

static void save_var(at c, address to, const ls__grid_var *var, ls_var id)
{
    ls_type type = (ls_type)c->function->vars.items[id.id].type;
    ls_mem mem = var_mem(type);
    val value = ls__ir_get(c, id);
    if (type == LS_TYPE_BOOL)
        value = b2i(c, value);
    ls__ir_inst *store = ls__ir_store(c, mem, to.scratch, add_k(c, to.lane, var->offset), value);
    store->flags = LS__IR_INBOUNDS | (ls__ir_mem_is_float(mem) ? LS__IR_RAW : 0);
}

static void restore_var(at c, address from, const ls__grid_var *var, ls_var id)
{
    ls_type type = (ls_type)c->function->vars.items[id.id].type;
    val value = ls__ir_load(c, var_mem(type), from.scratch, add_k(c, from.lane, var->offset));
    ls__ir_def(c->function, value)->flags = LS__IR_INBOUNDS;
    if (type == LS_TYPE_BOOL)
        value = ne(c, value, k32(c, 0));
    if (var->is_uniform)
        value = ls__ir_emit1(c, LS_OP_WG_UNIFORM, value);
    ls__ir_set(c, id, value);
}

/* --- objects --------------------------------------------------------------------------------- */

typedef struct copying {
    ls_base from, to;
    val from_offset, to_offset;
    uint32_t bytes;
    val first;       /* i32: the first unit to copy */
    uint32_t stride; /* units from one to the next */
} copying;

/* for (i = first; i < count; i += stride) to[i] = from[i], in the largest units that fit the
 * size. */
static void emit_copy(at c, copying copy)
{
    ls_mem mem = copy.bytes % 4 == 0 ? LS_MEM_U32 : copy.bytes % 2 == 0 ? LS_MEM_U16 : LS_MEM_U8;
    uint32_t unit = ls__ir_mem_bytes(mem);
    ls_var counter = ls__ir_var_add(c->function, "copy.i", LS_TYPE_I32);
    ls__ir_set(c, counter, copy.first);
    ls__ir_inst *loop = ls__ir_loop(c);
    ls__ir_cursor body = {c->function, loop->regions[0], NULL, c->loc}, step = body;
    step.region = loop->regions[1];
    val i = ls__ir_get(&body, counter);
    ls__ir_inst *guard = ls__ir_if(&body, ult(&body, i, k32(&body, copy.bytes / unit)));
    ls__ir_cursor leave = {c->function, guard->regions[1], NULL, c->loc};
    ls__ir_insert(&leave, LS_OP_BREAK, LS_TYPE_VOID, NULL, 0);
    val offset = mul(&body, zext(&body, i), k64(&body, unit));
    val unit_value = ls__ir_load(&body, mem, copy.from, add(&body, copy.from_offset, offset));
    ls__ir_def(c->function, unit_value)->flags = LS__IR_INBOUNDS;
    ls__ir_store(&body, mem, copy.to, add(&body, copy.to_offset, offset), unit_value)->flags =
        LS__IR_INBOUNDS;
    ls__ir_set(&step, counter, add_k(&step, ls__ir_get(&step, counter), copy.stride));
}

static void copy_object(at c, copying out, bool is_save)
{
    copying in = out;
    in.from = out.to;
    in.from_offset = out.to_offset;
    in.to = out.from;
    in.to_offset = out.from_offset;
    emit_copy(c, is_save ? out : in);
}

static void copy_objects(const ls__grid_state *state, at c, address scratch, bool is_save)
{
    const ls__ir_function *function = c->function;
    for (uint32_t i = 0; i < function->locals.count; i++) {
        copying copy = {.from = {LS_BASE_LOCAL, i}, .to = scratch.scratch};
        copy.from_offset = k64(c, 0);
        copy.to_offset = add_k(c, scratch.lane, state->local_offsets[i]);
        copy.bytes = function->locals.items[i].size;
        copy.first = k32(c, 0);
        copy.stride = 1;
        copy_object(c, copy, is_save);
    }
    for (uint32_t i = 0; i < function->shared.count; i++) {
        copying copy = {.from = {LS_BASE_SHARED, i}, .to = scratch.scratch};
        copy.from_offset = k64(c, 0);
        copy.to_offset = add_k(c, scratch.shared, state->shared_offsets[i]);
        copy.bytes = function->shared.items[i].size;
        copy.first = id_of(c, LS_ID_LOCAL_INDEX, 0);
        copy.stride = state->lanes;
        copy_object(c, copy, is_save);
    }
}

static void barrier(at c)
{
    ls__ir_insert(c, LS_OP_BARRIER, LS_TYPE_VOID, NULL, 0);
}

void ls__grid_save(const ls__grid_state *state, at c)
{
    address to = address_of(state, c);
    for (uint32_t i = 1; i < state->var_count; i++) {
        if (state->vars[i].is_live)
            save_var(c, to, &state->vars[i], (ls_var){i});
    }
    if (c->function->shared.count)
        barrier(c); /* what other lanes wrote is complete */
    copy_objects(state, c, to, true);
}

void ls__grid_restore(const ls__grid_state *state, at c)
{
    address from = address_of(state, c);
    for (uint32_t i = 1; i < state->var_count; i++) {
        if (state->vars[i].is_live)
            restore_var(c, from, &state->vars[i], (ls_var){i});
    }
    copy_objects(state, c, from, false);
    if (c->function->shared.count)
        barrier(c);
}
