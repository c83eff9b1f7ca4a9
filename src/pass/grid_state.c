/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and restoring a kernel's state around grid barriers; see grid_state.h and
 * lower_grid_barrier.c. */
#include <string.h>

#include "pass/grid_state.h"

/* --- what is live ---------------------------------------------------------------------------- */

void ls__grid_state_init(ls__grid_state *state, const ls__ir_function *function, ls__arena *scratch)
{
    state->function = function;
    state->var_count = function->vars.count;
    state->vars = LS__NEW_ARRAY(scratch, ls__grid_var, state->var_count);
    state->lanes = function->workgroup[0] * function->workgroup[1] * function->workgroup[2];
}

/* Variables that carry something across a barrier: those that may be read behind it before they are
 * set again. `set` are the ones that surely are by now. */
typedef struct search {
    ls__grid_state *state;
    ls__arena *scratch;
    bool *set;
} search;

static void search_region(search *s, const ls__ir_inst *from);

static bool *copy_of(const search *s, const bool *set)
{
    bool *copy = LS__NEW_ARRAY(s->scratch, bool, s->state->var_count);
    memcpy(copy, set, s->state->var_count * sizeof *copy);
    return copy;
}

/* What a choice has set on both sides is set behind it. Loops, and what jumps may leave early, are
 * taken to have set nothing. */
static void search_inside(search *s, const ls__ir_inst *inst)
{
    bool *before = s->set, *behind = NULL;
    for (uint32_t i = 0; i < inst->region_count; i++) {
        s->set = inst->op == LS_OP_LOOP && i > 0 ? s->set : copy_of(s, before);
        search_region(s, inst->regions[i]->first);
        if (inst->op != LS_OP_IF || ls__pass_ends_in_jump(inst->regions[i]))
            continue;
        for (uint32_t v = 0; behind && v < s->state->var_count; v++)
            behind[v] = behind[v] && s->set[v];
        behind = behind ? behind : s->set;
    }
    s->set = behind ? behind : before;
}

static void search_region(search *s, const ls__ir_inst *from)
{
    for (const ls__ir_inst *inst = from; inst; inst = inst->next) {
        if (inst->op == LS_OP_VAR_GET && !s->set[inst->imm])
            s->state->vars[inst->imm].is_live = true;
        if (inst->op == LS_OP_VAR_SET)
            s->set[inst->imm] = true;
        for (uint32_t i = 0; i < inst->result_count; i++)
            s->set[inst->results[i].id] = true;
        if (inst->region_count)
            search_inside(s, inst);
    }
}

/* From a barrier to the end of its region, and so outwards; a loop around it comes once more. */
static void search_behind(search *s, const ls__ir_inst *barrier)
{
    s->set = LS__NEW_ARRAY(s->scratch, bool, s->state->var_count);
    for (const ls__ir_inst *inst = barrier; inst; inst = inst->parent->owner) {
        if (inst->op == LS_OP_LOOP) {
            search_region(s, inst->regions[1]->first);
            search_inside(s, inst);
            s->set = LS__NEW_ARRAY(s->scratch, bool, s->state->var_count);
        }
        search_region(s, inst->next);
    }
}

static bool search_barrier(ls__ir_inst *inst, void *context)
{
    if (inst->op == LS_OP_GRID_BARRIER)
        search_behind(context, inst);
    return true;
}

static void note_var(ls__grid_var *var, uint32_t chunk, bool on_spine)
{
    var->is_on_spine |= on_spine || (var->chunk != 0 && var->chunk != chunk);
    var->chunk = var->chunk ? var->chunk : chunk;
}

void ls__grid_note_use(ls__grid_state *state, const ls__ir_inst *inst, uint32_t chunk,
                       bool on_spine)
{
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        note_var(&state->vars[inst->imm], chunk, on_spine);
    for (uint32_t i = 0; i < inst->result_count; i++)
        note_var(&state->vars[inst->results[i].id], chunk, on_spine);
}

/* --- layout ---------------------------------------------------------------------------------- */

enum { VAR_BYTES = 8 };

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
    for (uint32_t i = 1; i < count; i++)
        vars[i] = i < state->var_count ? state->vars[i] : (ls__grid_var){.is_on_spine = true};
    state->vars = vars;
    state->var_count = count;
    search s = {.state = state, .scratch = scratch};
    ls__ir_walk(function->body, search_barrier, &s);
    for (uint32_t i = 1; i < count; i++) {
        vars[i].is_uniform = vars[i].is_on_spine && uniformity.vars[i] <= LS__IR_WORKGROUP;
        vars[i].offset = offset;
        offset += vars[i].is_live ? VAR_BYTES : 0;
    }
    state->var_bytes = offset;

    state->local_offsets = LS__NEW_ARRAY(scratch, uint32_t, function->locals.count);
    for (uint32_t i = 0; i < function->locals.count; i++) {
        state->local_offsets[i] = offset - state->var_bytes;
        offset += (uint32_t)round_up(function->locals.items[i].size, 8);
    }
    state->object_bytes = offset - state->var_bytes;
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
    val vars, objects, shared; /* `objects`: of the lane */
    uint32_t lanes;
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
    val own = mul(c, wide_id(c, LS_ID_LOCAL_INDEX, 0), k64(c, state->object_bytes));
    val objects = add_k(c, block, (uint64_t)state->var_bytes * state->lanes);
    return (address){scratch_buffer(c->function), block, add(c, objects, own),
                     add_k(c, block, state->lane_bytes * state->lanes), state->lanes};
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

/* A variable's values lie side by side, lane by lane. */
static val var_place(at c, address a, const ls__grid_var *var, ls_mem mem)
{
    val lane = mul(c, wide_id(c, LS_ID_LOCAL_INDEX, 0), k64(c, ls__ir_mem_bytes(mem)));
    return add(c, add_k(c, a.vars, (uint64_t)var->offset * a.lanes), lane);
}

static void save_var(at c, address to, const ls__grid_var *var, ls_var id)
{
    ls_type type = (ls_type)c->function->vars.items[id.id].type;
    ls_mem mem = var_mem(type);
    val value = ls__ir_get(c, id);
    if (type == LS_TYPE_BOOL)
        value = b2i(c, value);
    ls__ir_inst *store = ls__ir_store(c, mem, to.scratch, var_place(c, to, var, mem), value);
    store->flags = LS__IR_INBOUNDS | (ls__ir_mem_is_float(mem) ? LS__IR_RAW : 0);
}

static void restore_var(at c, address from, const ls__grid_var *var, ls_var id)
{
    ls_type type = (ls_type)c->function->vars.items[id.id].type;
    ls_mem mem = var_mem(type);
    val value = ls__ir_load(c, mem, from.scratch, var_place(c, from, var, mem));
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
        copy.to_offset = add_k(c, scratch.objects, state->local_offsets[i]);
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
