/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_grid_barrier: a kernel with grid barriers becomes segments, each a kernel of its own that
 * ends where the next barrier is reached; the host runs one dispatch after another.
 *
 * needs: a verified kernel (grid barriers stand in the body or in bodies of loops, in grid-uniform
 * control flow). keeps: everything. breaks: the kernel, which becomes segment 0, takes one more
 * buffer,
 * "__scratch".
 *
 * 1. Values that live across a barrier go into variables. The kernel's spine is its body and the
 * bodies of loops around barriers; barriers and such loops cut it into chunks, and a value made in
 * one chunk and used in another goes through a variable (constants, ids and short arithmetic on
 * them are made anew instead).
 * 2. Segment k resumes behind barrier k. Of each region around the barrier what lies before it is
 * cut off; a loop around it gets the body `if (first) { first = false; rest } else { whole }`, so
 * that `break` and `continue` in the rest of the interrupted trip mean what they did.
 * 3. Barriers that a segment reaches save the state to the scratch buffer and return. State is:
 * variables that may be live, local objects, shared memory.
 *
 * Scratch: 16 bytes whose first word is the number of the segment to run next (the segment count =
 * done), then for each workgroup its variables, each for all lanes, then the local objects of its
 * lanes one after the other, then its shared memory. A variable that was uniform is restored
 * through workgroup_uniform, else nothing could show it uniform again.
 */
#include "base/status.h"
#include "pass/grid_state.h"
#include "pass/passes.h"

typedef struct splitter {
    ls__ir_module *module;
    ls__ir_function *function;
    ls__arena *scratch;
    uint32_t barrier_count;
    uint32_t *chunk_of; /* by value; spine-level values only, else 0 */
    uint32_t *var_of;   /* by value: the variable that carries it, 0 = none */
    uint32_t value_count, chunk;
    ls__grid_state state;
} splitter;

/* --- the spine ------------------------------------------------------------------------------- */

static bool holds_barrier(const ls__ir_region *region)
{
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == LS_OP_GRID_BARRIER ||
            (inst->op == LS_OP_LOOP && holds_barrier(inst->regions[0])))
            return true;
    }
    return false;
}

static bool is_spine_loop(const ls__ir_inst *inst)
{
    return inst->op == LS_OP_LOOP && holds_barrier(inst->regions[0]);
}

enum { CHEAP_DEPTH = 4 };

/* Made anew in each chunk: what needs nothing of memory and little work. */
static bool is_cheap(const splitter *s, const ls__ir_inst *inst, int depth)
{
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
    case LS_OP_PARAM:
    case LS_OP_ID:
    case LS_OP_RANGE:
        return true;
    case LS_OP_ADD:
    case LS_OP_SUB:
    case LS_OP_MUL:
    case LS_OP_SHL:
    case LS_OP_LSHR:
    case LS_OP_AND:
    case LS_OP_OR:
    case LS_OP_SEXT:
    case LS_OP_ZEXT:
    case LS_OP_TRUNC:
    case LS_OP_INDEX:
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (depth == 0 || !is_cheap(s, ls__ir_def(s->function, inst->args[i]), depth - 1))
            return false;
    }
    return true;
}

static ls_value make_anew(splitter *s, ls__ir_cursor *at, const ls__ir_inst *def)
{
    ls_value args[3];
    for (uint32_t i = 0; i < def->arg_count; i++)
        args[i] = make_anew(s, at, ls__ir_def(s->function, def->args[i]));
    ls__ir_inst *copy = ls__ir_insert(at, (ls_op)def->op, (ls_type)def->type, args, def->arg_count);
    copy->mem = def->mem;
    copy->imm = def->imm;
    copy->imm2 = def->imm2;
    copy->base = def->base;
    copy->flags = def->flags;
    return copy->id;
}

/* Numbers chunks and barriers (their imm), and notes where values and variables belong. */
static void survey(splitter *s, ls__ir_region *region);

static bool survey_nested(ls__ir_inst *inst, void *context)
{
    splitter *s = context;
    ls__grid_note_use(&s->state, inst, s->chunk, false);
    return true;
}

static void survey(splitter *s, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        ls__grid_note_use(&s->state, inst, s->chunk, true);
        if (inst->id.id)
            s->chunk_of[inst->id.id] = s->chunk;
        if (inst->op == LS_OP_GRID_BARRIER) {
            inst->imm = ++s->barrier_count;
            s->chunk++;
        } else if (is_spine_loop(inst)) {
            s->chunk++;
            survey(s, inst->regions[0]);
            s->chunk++;
            survey(s, inst->regions[1]);
            s->chunk++;
        } else {
            for (uint32_t i = 0; i < inst->region_count; i++)
                ls__ir_walk(inst->regions[i], survey_nested, s);
        }
    }
}

/* Gives an instruction of the current chunk operands that are made in this chunk. */
static void localize_operands(splitter *s, ls__ir_inst *inst)
{
    ls__ir_cursor before = ls__pass_before(s->function, inst);
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        uint32_t id = inst->args[i].id;
        if (id >= s->value_count || s->chunk_of[id] == 0 || s->chunk_of[id] == s->chunk)
            continue;
        const ls__ir_inst *def = ls__ir_def(s->function, inst->args[i]);
        if (is_cheap(s, def, CHEAP_DEPTH)) {
            inst->args[i] = make_anew(s, &before, def);
            continue;
        }
        if (!s->var_of[id])
            s->var_of[id] = ls__ir_var_add(s->function, "carried", (ls_type)def->type).id;
        inst->args[i] = ls__ir_get(&before, (ls_var){s->var_of[id]});
    }
}

static bool localize_nested(ls__ir_inst *inst, void *context)
{
    localize_operands(context, inst);
    return true;
}

static void localize(splitter *s, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        localize_operands(s, inst);
        if (inst->op == LS_OP_GRID_BARRIER) {
            s->chunk++;
        } else if (is_spine_loop(inst)) {
            s->chunk++;
            localize(s, inst->regions[0]);
            s->chunk++;
            localize(s, inst->regions[1]);
            s->chunk++;
        } else {
            for (uint32_t i = 0; i < inst->region_count; i++)
                ls__ir_walk(inst->regions[i], localize_nested, s);
        }
    }
}

/* A `set` behind the definition of each value that is carried. */
static void store_carried(splitter *s)
{
    for (uint32_t id = 1; id < s->value_count; id++) {
        ls__ir_inst *def = ls__ir_def(s->function, (ls_value){id});
        if (!s->var_of[id])
            continue;
        ls__ir_cursor after = {s->function, def->parent, def->next, def->loc};
        ls__ir_set(&after, (ls_var){s->var_of[id]}, def->id);
    }
}

/* --- copying inside a function --------------------------------------------------------------- */

typedef struct duplicate {
    ls__ir_function *function;
    ls_value *map; /* by old value */
    uint32_t count;
} duplicate;

static void duplicate_region(duplicate *d, const ls__ir_region *from, ls__ir_region *to)
{
    ls__ir_module *module = d->function->module;
    for (const ls__ir_inst *inst = from->first; inst; inst = inst->next) {
        ls__ir_cursor at = {d->function, to, NULL, inst->loc};
        ls__ir_inst *copy =
            ls__ir_insert(&at, (ls_op)inst->op, (ls_type)inst->type, inst->args, inst->arg_count);
        ls__ir_inst made = *copy;
        *copy = *inst; /* shares the lists nobody changes: cases and bases */
        copy->id = made.id;
        copy->args = made.args;
        copy->prev = made.prev;
        copy->next = made.next;
        copy->parent = made.parent;
        for (uint32_t i = 0; i < copy->arg_count; i++) {
            if (d->map[copy->args[i].id].id)
                copy->args[i] = d->map[copy->args[i].id];
        }
        if (inst->id.id)
            d->map[inst->id.id] = copy->id;
        copy->results = LS__NEW_ARRAY(&module->arena, ls_var, inst->result_count);
        for (uint32_t i = 0; i < inst->result_count; i++)
            copy->results[i] = inst->results[i];
        copy->regions = LS__NEW_ARRAY(&module->arena, ls__ir_region *, inst->region_count);
        for (uint32_t i = 0; i < inst->region_count; i++) {
            copy->regions[i] = ls__ir_region_new(module, copy);
            duplicate_region(d, inst->regions[i], copy->regions[i]);
        }
    }
}

static void duplicate_into(splitter *s, ls__ir_function *function, const ls__ir_region *from,
                           ls__ir_region *to)
{
    duplicate d = {function, LS__NEW_ARRAY(s->scratch, ls_value, function->values.count),
                   function->values.count};
    duplicate_region(&d, from, to);
}

/* --- one segment ----------------------------------------------------------------------------- */

static void cut_before(ls__ir_function *function, ls__ir_inst *inst)
{
    /* Backwards: uses go before definitions. */
    while (inst->prev)
        ls__ir_remove(function, inst->prev);
}

struct find_barrier {
    uint64_t number;
    ls__ir_inst *found;
};

static bool find_barrier(ls__ir_inst *inst, void *context)
{
    struct find_barrier *find = context;
    if (inst->op == LS_OP_GRID_BARRIER && inst->imm == find->number && !find->found)
        find->found = inst;
    return !find->found;
}

/* The body of `loop`, whose trip is resumed at `from`: the rest first, then whole trips. */
static void resume_loop(splitter *s, ls__ir_function *function, ls__ir_inst *loop,
                        ls__ir_inst *from, ls_var first)
{
    ls__ir_region *body = loop->regions[0];
    ls__ir_region *whole = ls__ir_region_new(s->module, NULL);
    duplicate_into(s, function, body, whole);
    cut_before(function, from);

    ls__ir_region *rest = ls__ir_region_new(s->module, NULL);
    ls__pass_move_tail(from, rest);
    ls__ir_cursor at = {function, body, NULL, loop->loc};
    ls__ir_inst *choice = ls__ir_if(&at, ls__ir_get(&at, first));
    ls__ir_cursor then = {function, choice->regions[0], NULL, loop->loc};
    ls__ir_set(&then, first, ls__ir_const_bool(&then, false));
    ls__pass_move_tail(rest->first, choice->regions[0]);
    if (whole->first)
        ls__pass_move_tail(whole->first, choice->regions[1]);
}

/* Cuts the function down to what follows barrier `number`. New `first` variables are set at
 * `start`. */
static void resume_behind(splitter *s, ls__ir_function *function, uint32_t number)
{
    struct find_barrier find = {number, NULL};
    ls__ir_walk(function->body, find_barrier, &find);
    ls__ir_inst *barrier = find.found, *path[LS__IR_MAX_DEPTH];
    uint32_t depth = 0; /* path: the barrier, then the loops around it outwards */
    for (ls__ir_inst *inst = barrier; inst; inst = inst->parent->owner)
        path[depth++] = inst;

    /* Outermost loop first, since its whole trips need the inner loops as they were. */
    ls_var first[LS__IR_MAX_DEPTH];
    for (uint32_t i = depth - 1; i > 0; i--) {
        first[i] = ls__ir_var_add(function, "first", LS_TYPE_BOOL);
        resume_loop(s, function, path[i], path[i - 1], first[i]);
    }
    cut_before(function, path[depth - 1]);
    ls__ir_cursor start = ls__pass_before(function, function->body->first);
    for (uint32_t i = depth - 1; i > 0; i--)
        ls__ir_set(&start, first[i], ls__ir_const_bool(&start, true));
    ls__ir_remove(function, barrier);
}

/* What is left of the barriers: save, say which segment is next, return. */
static void end_at_barriers(splitter *s, ls__ir_function *function, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t i = 0; i < inst->region_count; i++)
            end_at_barriers(s, function, inst->regions[i]);
        if (inst->op != LS_OP_GRID_BARRIER)
            continue;
        ls__pass_cut_after(function, inst);
        ls__ir_cursor at = ls__pass_before(function, inst);
        ls__grid_save(&s->state, &at);
        ls__grid_store_next(&s->state, &at, (uint32_t)inst->imm);
        ls__ir_insert(&at, LS_OP_RETURN, LS_TYPE_VOID, NULL, 0);
        ls__ir_remove(function, inst);
        return;
    }
}

static void make_segment(splitter *s, ls__ir_function *function, uint32_t number)
{
    if (number > 0)
        resume_behind(s, function, number);
    ls__ir_param_add(function, (ls__ir_param){.name = "__scratch",
                                              .type_name = "u64",
                                              .mem = LS_MEM_U64,
                                              .is_pointer = true,
                                              .size = 8,
                                              .alignment = 8});
    end_at_barriers(s, function, function->body);
    ls__ir_cursor start = {function, function->body, function->body->first, function->loc};
    ls__grid_store_next(&s->state, &start, s->barrier_count + 1);
    if (number > 0)
        ls__grid_restore(&s->state, &start);
    ls__ir_compact(function);
}

static void split(splitter *s, ls__pass_split *result)
{
    ls__ir_function *function = s->function;
    ls__pass_drop_unset(function);
    s->value_count = function->values.count;
    s->chunk_of = LS__NEW_ARRAY(s->scratch, uint32_t, s->value_count);
    s->var_of = LS__NEW_ARRAY(s->scratch, uint32_t, s->value_count);
    ls__grid_state_init(&s->state, function, s->scratch);
    s->chunk = 1;
    survey(s, function->body);
    s->chunk = 1;
    localize(s, function->body);
    store_carried(s);
    ls__grid_state_lay_out(&s->state, s->scratch);

    uint32_t count = s->barrier_count + 1;
    result->segment_count = count;
    result->segments = LS__NEW_ARRAY(&s->module->arena, ls__pass_segment, count);
    result->scratch_bytes_per_lane = s->state.lane_bytes + s->state.shared_bytes;
    result->scratch_bytes_fixed = LS__GRID_HEADER_BYTES;
    result->segments[0].function = function->id.id;
    for (uint32_t i = 1; i < count; i++) {
        char *name = ls__arena_printf(&s->module->arena, "__%s_%u", function->name, i);
        result->segments[i].function = ls__ir_function_clone(s->module, function, name)->id.id;
    }
    for (uint32_t i = 0; i < count; i++)
        make_segment(s, s->module->functions.items[result->segments[i].function], i);
}

ls_status ls__pass_split_grid(ls__ir_module *module, uint32_t kernel, ls__pass_split *result,
                              ls_error *error)
{
    ls__oom oom, *caller_oom = module->arena.oom;
    ls__arena scratch = {0};
    volatile ls_status status = LS_OK;
    if (setjmp(oom.jump) == 0) {
        module->arena.oom = &oom;
        ls__arena_init(&scratch, &oom, 0);
        splitter s = {
            .module = module, .function = module->functions.items[kernel], .scratch = &scratch};
        split(&s, result);
    } else {
        status = ls__oom_status(&oom, error);
    }
    module->arena.oom = caller_oom;
    ls__arena_finish(&scratch);
    return status;
}
