/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that run lane after lane, as scalar code, inside of vector code: those that lanes leave one
 * by one and that spend their time in loads, stores and atomics at places of each lane's own.
 * Vector code would do these one by one too, at the cost of taking vectors apart and putting them
 * together, and all of it until the last lane has left; the edges of a vertex in a graph and the
 * characters of a string are of this kind.
 *
 * The loop is emitted by a copy of the unit whose width is 1. Values from outside of it are taken
 * out of their vectors for each lane, variables lie in a scalar while a lane runs. Lanes do not see
 * each other's work between barriers, so their order does not matter.
 */
#include <string.h>

#include "emit/llvm/build.h"

/* --- what is even ---------------------------------------------------------------------------- */

/* Uniform, or base + lane * stride: a guess that costs are estimated by, no more. */
static bool is_even(const unit *u, ls_value value, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, value);
    if (ls__llvm_is_uniform(u, value))
        return true;
    if (depth == 0)
        return false;
    switch ((ls_op)inst->op) {
    case LS_OP_ID:
        return inst->imm2 == 0;
    case LS_OP_VAR_GET:
        return u->vars[inst->imm].is_even;
    case LS_OP_ADD:
    case LS_OP_SUB:
    case LS_OP_MUL:
    case LS_OP_SHL:
    case LS_OP_ZEXT:
    case LS_OP_SEXT:
    case LS_OP_TRUNC:
    case LS_OP_INDEX:
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (!is_even(u, inst->args[i], depth - 1))
            return false;
    }
    return true;
}

enum { EVEN_DEPTH = 8 };

bool ls__llvm_is_even(const unit *u, ls_value value)
{
    return is_even(u, value, EVEN_DEPTH);
}

typedef struct sets {
    unit *u;
    bool changed;
} sets;

static bool check_set(ls__ir_inst *inst, void *context)
{
    sets *s = context;
    variable *v = inst->op == LS_OP_VAR_SET ? &s->u->vars[inst->imm] : NULL;
    if (v && v->is_even && !ls__llvm_is_even(s->u, inst->args[0])) {
        v->is_even = false;
        s->changed = true;
    }
    for (uint32_t i = 0; i < inst->result_count; i++)
        s->u->vars[inst->results[i].id].is_even = false;
    return true;
}

enum { MAX_WALKS = 8 };

void ls__llvm_find_even(unit *u)
{
    sets s = {.u = u, .changed = u->width > 1};
    for (uint32_t i = 1; i < u->function->vars.count; i++)
        u->vars[i].is_even = true;
    for (int i = 0; i < MAX_WALKS && s.changed; i++) {
        s.changed = false;
        ls__ir_walk(u->function->body, check_set, &s);
    }
}

/* --- which loops ----------------------------------------------------------------------------- */

enum { INNER_ROUNDS = 4 }; /* rounds of an inner loop, for want of knowing */

typedef struct estimate { /* instructions of the machine */
    const unit *u;
    const note *loop;
    bool possible, is_ragged; /* some lanes leave long before others */
    uint64_t vector, scalar;  /* a round of the strand; of one lane */
    uint64_t rounds;          /* of the loops around, inside the one in question */
} estimate;

/* Of one operation on all lanes. */
static uint32_t vector_cost(const unit *u, ls_type type)
{
    uint32_t bytes = u->e->target.level == LS__LLVM_AVX512 ? 64
                     : u->e->target.level == LS__LLVM_AVX2 ? 32
                                                           : 16;
    uint32_t size = type == LS_TYPE_I64 || type == LS_TYPE_F64 ? 8 : 4;
    uint32_t registers = u->width * size / bytes;
    return registers ? registers : 1;
}

/* Of an access of one lane, in vector code. */
static uint32_t lane_cost(const unit *u, const ls__ir_inst *inst)
{
    bool is_small = ls__ir_mem_bytes((ls_mem)inst->mem) < 4;
    if (inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS)
        return 7;
    if (u->e->target.level == LS__LLVM_AVX512 && !is_small && !u->e->target.quick)
        return 2;
    return is_small ? 8 : 6;
}

static void add_cost(estimate *e, const ls__ir_inst *inst)
{
    const unit *u = e->u;
    bool is_memory = false, is_store = false;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
    case LS_OP_PARAM:
    case LS_OP_VAR_GET:
    case LS_OP_VAR_SET:
    case LS_OP_BREAK:
    case LS_OP_CONTINUE:
        return;
    case LS_OP_BARRIER:
    case LS_OP_GRID_BARRIER:
    case LS_OP_WG_UNIFORM:
    case LS_OP_SG_SHUFFLE:
    case LS_OP_SG_BROADCAST:
    case LS_OP_SG_REDUCE:
    case LS_OP_SG_BALLOT:
    case LS_OP_CALL:
    case LS_OP_RETURN:
        e->possible = false;
        return;
    case LS_OP_STORE:
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
        is_store = true; /* also of one value at one place */
        is_memory = true;
        break;
    case LS_OP_LOAD:
        is_memory = true;
        break;
    default:
        break;
    }
    if (is_memory && inst->base.kind == LS_BASE_LOCAL)
        e->possible = false;
    e->scalar += e->rounds * (is_memory ? 2 : 1);
    if (is_memory && !ls__llvm_is_even(u, inst->args[0]))
        e->vector += e->rounds * u->width * lane_cost(u, inst);
    else if (is_store || (inst->id.id && !ls__llvm_is_uniform(u, inst->id)))
        e->vector += e->rounds * vector_cost(u, (ls_type)inst->type);
    else
        e->vector += e->rounds;
}

/* Whether lanes leave the loop by a comparison that changes once from lane to lane. */
static void look_at_exit(estimate *e, ls_value condition)
{
    const ls__ir_inst *inst = ls__ir_def(e->u->function, condition);
    while (inst->op == LS_OP_NOT)
        inst = ls__ir_def(e->u->function, inst->args[0]);
    for (uint32_t i = 0; i < inst->arg_count; i++)
        e->is_ragged |= !ls__llvm_is_even(e->u, inst->args[i]);
}

static void estimate_region(estimate *e, const ls__ir_region *region)
{
    for (const ls__ir_inst *inst = region->first; inst && e->possible; inst = inst->next) {
        const note *n = ls__llvm_note(e->u, inst);
        add_cost(e, inst);
        if (inst->op == LS_OP_WHILE && n->target == e->loop)
            look_at_exit(e, inst->args[0]);
        if (n && !inst->region_count && (!n->target || n->target->order < e->loop->order))
            e->possible = false; /* leaves more than this loop */
        if (n && inst->op == LS_OP_BREAK && n->target == e->loop) {
            for (const note *f = n->parent; f != e->loop; f = f->parent) {
                if (f->inst->arg_count)
                    look_at_exit(e, f->inst->args[0]);
            }
        }
        uint64_t rounds = e->rounds;
        if (inst->op == LS_OP_LOOP && rounds < UINT32_MAX)
            e->rounds *= INNER_ROUNDS;
        for (uint32_t i = 0; i < inst->region_count; i++)
            estimate_region(e, inst->regions[i]);
        e->rounds = rounds;
    }
}

bool ls__llvm_is_serial(const unit *u, const note *n)
{
    if (u->width == 1 || !n->masked || n->outer || n->escapes)
        return false;
    estimate e = {.u = u, .loop = n, .possible = true, .rounds = 1};
    for (uint32_t i = 0; i < n->inst->region_count; i++)
        estimate_region(&e, n->inst->regions[i]);
    /* Where lanes leave one by one, half of them are gone on average. */
    uint64_t lanes = e.is_ragged ? u->width / 2 : u->width;
    return e.possible && e.scalar * lanes < e.vector;
}

/* --- what lanes take along ------------------------------------------------------------------- */

typedef struct crossing { /* a value of, or a variable in, the loop */
    uint32_t id;
    val value; /* as the strand has it */
    lv place;  /* by lane, or that of the strand's variable */
    lv array;  /* by lane, or NULL */
    lt type;   /* of an element of it */
    bool comes, goes;
} crossing;

struct ls__llvm_serial {
    unit *u, lane;
    LS__VEC(crossing) values, vars;
    note *saved;
    uint32_t first_note, note_count;
    lane_walk walk;
};

static bool is_inside(const ls__ir_region *region, const ls__ir_inst *loop)
{
    for (; region && region->owner; region = region->owner->parent) {
        if (region->owner == loop)
            return true;
    }
    return false;
}

static lt array_type(const unit *u, ls_type type)
{
    return type == LS_TYPE_BOOL ? u->e->i32 : ls__llvm_type(u, type, false);
}

static lv to_array(unit *u, ls_type type, lv vector)
{
    lt element = array_type(u, type);
    lv array = ls__llvm_alloca(u, mk_by_lane(u, element));
    u->l->BuildStore(u->b, type == LS_TYPE_BOOL ? mk_zext(u, vector, element) : vector, array);
    return array;
}

static lv from_bits(unit *u, ls_type type, lv bits)
{
    return type == LS_TYPE_BOOL ? mk_icmp(u, LLVMIntNE, bits, mk_k(u, bits, 0)) : bits;
}

static void add_value(ls__llvm_serial *s, ls_value value, const ls__ir_inst *loop)
{
    unit *u = s->u;
    const ls__ir_inst *inst = ls__ir_def(u->function, value);
    if (is_inside(inst->parent, loop) || ls__llvm_value(u, value).scalar)
        return;
    for (uint32_t i = 0; i < s->values.count; i++) {
        if (s->values.items[i].id == value.id)
            return;
    }
    crossing c = {.id = value.id, .value = ls__llvm_value(u, value)};
    if (!c.value.base || c.value.valid)
        c.array = to_array(u, (ls_type)inst->type, c.value.vector);
    ls__vec_push(u->e->arena, &s->values, c);
}

static void add_var(ls__llvm_serial *s, uint32_t id, const note *n)
{
    unit *u = s->u;
    const variable *v = &u->vars[id];
    for (uint32_t i = 0; i < s->vars.count; i++) {
        if (s->vars.items[i].id == id)
            return;
    }
    bool is_own = is_inside(v->home_region, n->inst) && v->first_use->op == LS_OP_VAR_SET &&
                  v->first_use->parent == v->home_region;
    crossing c = {.id = id,
                  .place = v->place,
                  .comes = !is_own,
                  .goes = !is_own && !ls__llvm_is_dead_after(v, n->inst, n->end)};
    ls_type type = (ls_type)u->function->vars.items[id].type;
    bool is_uniform = ls__llvm_is_uniform_var(u, (ls_var){id});
    if (c.comes && v->base)
        c.value = (val){.base = u->l->BuildLoad2(u->b, ls__llvm_type(u, type, false), v->base, ""),
                        .stride = v->stride};
    else if (c.comes && !is_uniform)
        c.array = to_array(u, type, mk_kept(u, ls__llvm_type(u, type, true), c.place));
    else if (c.comes)
        c.value.scalar = u->l->BuildLoad2(u->b, ls__llvm_type(u, type, false), c.place, "");
    ls__vec_push(u->e->arena, &s->vars, c);
}

typedef struct collection {
    ls__llvm_serial *s;
    const note *loop;
} collection;

static bool collect(ls__ir_inst *inst, void *context)
{
    collection *c = context;
    for (uint32_t i = 0; i < inst->arg_count; i++)
        add_value(c->s, inst->args[i], c->loop->inst);
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        add_var(c->s, (uint32_t)inst->imm, c->loop);
    return true;
}

/* --- lanes ----------------------------------------------------------------------------------- */

static lv value_of_lane(ls__llvm_serial *s, const crossing *c, ls_type type)
{
    unit *u = s->u;
    if (c->value.scalar)
        return c->value.scalar;
    if (c->array)
        return from_bits(u, type, mk_load_element(u, c->array, array_type(u, type), s->walk.lane));
    lv number = s->walk.lane;
    if (type == LS_TYPE_I64)
        number = mk_zext(u, number, u->e->i64);
    return c->value.stride == 0
               ? c->value.base
               : mk_add(u, c->value.base,
                        mk_mul(u, number, mk_k(u, number, (uint64_t)c->value.stride)));
}

static void begin_lane(ls__llvm_serial *s)
{
    unit *u = s->u;
    for (uint32_t i = 0; i < s->values.count; i++) {
        const crossing *c = &s->values.items[i];
        ls_type type = (ls_type)ls__ir_def(u->function, (ls_value){c->id})->type;
        u->values[c->id] = (val){.scalar = value_of_lane(s, c, type)};
    }
    for (uint32_t i = 0; i < s->vars.count; i++) {
        crossing *c = &s->vars.items[i];
        ls_type type = (ls_type)u->function->vars.items[c->id].type;
        lv place = ls__llvm_alloca(u, ls__llvm_type(u, type, false));
        if (c->comes)
            u->l->BuildStore(u->b, value_of_lane(s, c, type), place);
        u->vars[c->id].place = place;
    }
}

static void end_lane(ls__llvm_serial *s)
{
    unit *u = s->u;
    for (uint32_t i = 0; i < s->vars.count; i++) {
        const crossing *c = &s->vars.items[i];
        ls_type type = (ls_type)u->function->vars.items[c->id].type;
        if (!c->goes)
            continue;
        lv value = u->l->BuildLoad2(u->b, ls__llvm_type(u, type, false), u->vars[c->id].place, "");
        if (!c->array) /* the same for all lanes that read it again */
            u->l->BuildStore(u->b, value, c->place);
        else
            u->l->BuildStore(u->b, type == LS_TYPE_BOOL ? mk_zext(u, value, u->e->i32) : value,
                             mk_element_of(u, c->array, array_type(u, type), s->walk.lane));
    }
}

/* Nothing is masked while a lane runs. */
static void unmask_notes(ls__llvm_serial *s, const note *n)
{
    unit *u = s->u;
    s->first_note = (uint32_t)(n - u->notes);
    while (s->first_note + s->note_count < u->note_count &&
           u->notes[s->first_note + s->note_count].order <= n->end)
        s->note_count++;
    s->saved = LS__NEW_ARRAY(u->e->arena, note, s->note_count);
    memcpy(s->saved, n, s->note_count * sizeof *n);
    for (uint32_t i = 0; i < s->note_count; i++) {
        note *inner = &u->notes[s->first_note + i];
        inner->masked = inner->escapes = inner->has_break = inner->has_continue = false;
    }
}

unit *ls__llvm_begin_serial(unit *u, const note *n, ls__llvm_serial **out)
{
    ls__llvm_serial *s = *out = LS__NEW(u->e->arena, ls__llvm_serial);
    s->u = u;
    collection c = {s, n};
    for (uint32_t i = 0; i < n->inst->region_count; i++)
        ls__ir_walk(n->inst->regions[i], collect, &c);
    unmask_notes(s, n);
    lv bits = ls__llvm_mask_bits(u, u->mask ? u->mask : ls__llvm_full_mask(u));
    s->walk = ls__llvm_begin_walk(u, bits, false); /* there is an active lane */
    begin_lane(s);
    s->lane = *u;
    s->lane.width = 1;
    s->lane.mask = NULL;
    s->lane.lanes = mk_i32(u, 0);
    s->lane.first_lane = mk_add(u, u->first_lane, s->walk.lane);
    return &s->lane;
}

void ls__llvm_end_serial(ls__llvm_serial *s)
{
    unit *u = s->u;
    u->frame = s->lane.frame;
    end_lane(s);
    ls__llvm_end_walk(u, &s->walk);
    memcpy(&u->notes[s->first_note], s->saved, s->note_count * sizeof *s->saved);
    for (uint32_t i = 0; i < s->values.count; i++)
        u->values[s->values.items[i].id] = s->values.items[i].value;
    for (uint32_t i = 0; i < s->vars.count; i++) {
        const crossing *c = &s->vars.items[i];
        ls_type type = (ls_type)u->function->vars.items[c->id].type;
        u->vars[c->id].place = c->place;
        if (!c->goes || !c->array)
            continue;
        lv vector = u->l->BuildLoad2(u->b, mk_by_lane(u, array_type(u, type)), c->array, "");
        mk_keep(u, from_bits(u, type, vector), c->place);
    }
}
