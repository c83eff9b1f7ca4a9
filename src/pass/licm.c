/* SPDX-License-Identifier: Apache-2.0 */
/*
 * licm: pure instructions whose operands do not change in a loop move in front of it.
 *
 * needs: no proofs yet (it runs before bounds: INBOUNDS and NOWRAP may hold only under the
 * conditions of the place they stand at, so what carries them stays). keeps: everything. breaks:
 * nothing.
 *
 * One walk: an instruction may live at the depth of its deepest operand, so it moves in front of
 * the loop one deeper than that. Pure operations are total, hence may run when the loop would not
 * have run them; expensive ones move only from the body's own level, not from a branch in it. Loads
 * that nothing changes are checked and move likewise, unless being out of range is reported. A
 * `get` moves out of loops that do not set its variable.
 */
#include "pass/passes.h"
#include "pass/util.h"

typedef struct span { /* positions of the instructions inside a loop: begin <= p < end */
    uint32_t begin, end;
} span;

typedef LS__VEC(uint32_t) positions;

typedef struct motion {
    ls__ir_function *function;
    ls__arena *scratch;
    ls__pass_writes writes;
    LS__VEC(span) spans;          /* of all loops, in order of their beginnings */
    positions *sets;              /* by variable: where it is set, ascending */
    uint32_t *level;              /* by value: number of loops around it */
    LS__VEC(ls__ir_inst *) loops; /* around the walk's position, outermost first */
    LS__VEC(uint32_t) numbers;    /* their places in spans */
    uint32_t position, next_loop;
    bool changed;
} motion;

/* --- where variables are set ----------------------------------------------------------------- */

static void survey(motion *m, const ls__ir_region *region)
{
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        uint32_t position = m->position++, number = m->spans.count;
        if (inst->op == LS_OP_VAR_SET)
            ls__vec_push(m->scratch, &m->sets[inst->imm], position);
        for (uint32_t i = 0; i < inst->result_count; i++)
            ls__vec_push(m->scratch, &m->sets[inst->results[i].id], position);
        if (inst->op == LS_OP_LOOP)
            ls__vec_push(m->scratch, &m->spans, ((span){position, 0}));
        for (uint32_t i = 0; i < inst->region_count; i++)
            survey(m, inst->regions[i]);
        if (inst->op == LS_OP_LOOP)
            m->spans.items[number].end = m->position;
    }
}

static bool is_set_in(const motion *m, uint64_t var, span loop)
{
    const positions *sets = &m->sets[var];
    uint32_t low = 0, high = sets->count; /* the first position that is not before the loop */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sets->items[middle] < loop.begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sets->count && sets->items[low] < loop.end;
}

/* --- motion ---------------------------------------------------------------------------------- */

static bool is_expensive(const ls__ir_inst *inst)
{
    switch ((ls_op)inst->op) {
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
    case LS_OP_FDIV:
    case LS_OP_FSQRT:
    case LS_OP_FMA:
    case LS_OP_LOAD:
        return true;
    default:
        return false;
    }
}

static bool may_move(const motion *m, const ls__ir_inst *inst)
{
    if (!inst->id.id || inst->region_count || (inst->flags & (LS__IR_INBOUNDS | LS__IR_NOWRAP)) ||
        ls__ir_is_site(inst))
        return false;
    return ls__ir_op_has((ls_op)inst->op, 'P') || inst->op == LS_OP_VAR_GET ||
           ls__pass_is_invariant_load(&m->writes, inst);
}

/* The fewest loops that must stay around `inst`. */
static uint32_t lowest_level(const motion *m, const ls__ir_inst *inst)
{
    uint32_t level = 0;
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        uint32_t of_operand = m->level[inst->args[i].id];
        level = of_operand > level ? of_operand : level;
    }
    if (inst->op == LS_OP_VAR_GET) {
        uint32_t depth = m->loops.count;
        while (depth > level &&
               !is_set_in(m, inst->imm, m->spans.items[m->numbers.items[depth - 1]]))
            depth--;
        level = depth;
    }
    return level;
}

static void visit(motion *m, ls__ir_inst *inst)
{
    uint32_t depth = m->loops.count;
    m->level[inst->id.id] = depth;
    if (depth == 0 || !may_move(m, inst))
        return;
    uint32_t lowest = lowest_level(m, inst);
    const ls__ir_region *region = inst->parent;
    uint32_t target = depth;
    while (target > lowest) {
        const ls__ir_inst *loop = m->loops.items[target - 1];
        if (is_expensive(inst) && region != loop->regions[0])
            break;
        region = loop->parent;
        target--;
    }
    if (target == depth)
        return;
    ls__ir_move_before(inst, m->loops.items[target]);
    m->level[inst->id.id] = target;
    m->changed = true;
}

static void walk(motion *m, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        bool is_loop = inst->op == LS_OP_LOOP;
        if (is_loop) {
            ls__vec_push(m->scratch, &m->loops, inst);
            ls__vec_push(m->scratch, &m->numbers, m->next_loop++);
        }
        for (uint32_t i = 0; i < inst->region_count; i++)
            walk(m, inst->regions[i]);
        if (is_loop) {
            m->loops.count--;
            m->numbers.count--;
        }
        if (inst->id.id)
            visit(m, inst);
    }
}

bool ls__pass_licm(ls__ir_function *function, ls__arena *scratch)
{
    motion m = {.function = function, .scratch = scratch};
    m.sets = LS__NEW_ARRAY(scratch, positions, function->vars.count);
    m.level = LS__NEW_ARRAY(scratch, uint32_t, function->values.count);
    m.writes = ls__pass_writes_of(function, scratch);
    survey(&m, function->body);
    if (m.spans.count)
        walk(&m, function->body);
    return m.changed;
}
