/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions that lanes may disagree on but mostly do not: the `if (i < n)` around a kernel, or the
 * `if (i >= n) return;` before it. What depends on one is emitted twice, behind a test whether the
 * lanes of the strand agree: once without a mask, with plain loads and stores, and once as flow.c
 * does it. At the top level of a segment only once, and only when it is not long; elsewhere when it
 * is small and comparisons of scalars tell. There, checks of bounds are part of the test until
 * something has been changed: out of range, the masked code does it all anew, so that the code
 * without masks calls nothing and keeps its registers.
 *
 * The same for loops that most rounds are run by all lanes of: those that lanes leave at one place,
 * before anything is done in a round, by a comparison that changes once from lane to lane, such as
 * `for (i = global_id(0); i < n; i += count)`. While all lanes stay a round needs no mask; the
 * first one that some lanes leave begins anew with masks.
 */
#include "emit/llvm/build.h"

enum { MAX_DOUBLED = 400 }; /* instructions */

/* --- tests: sufficient, not necessary --------------------------------------------------------- */

typedef struct extent { /* an operand in the first and in the last lane, and it does not turn
                           between when `sound` (NULL: always) */
    lv first, last, sound;
    bool moves;
} extent;

static bool extent_of(unit *u, ls_value value, extent *out)
{
    val v = ls__llvm_value(u, value);
    lv same = ls__llvm_same(v);
    if (same) {
        *out = (extent){same, same, NULL, false};
        return true;
    }
    if (!v.base || v.stride < 0)
        return false;
    lv distance = mk_k(u, v.base, (uint64_t)v.stride * (u->width - 1));
    lv last = mk_add(u, v.base, distance);
    *out = (extent){v.base, last, v.valid, true};
    if (!v.no_wrap)
        out->sound = mk_both(u, v.valid, mk_icmp(u, LLVMIntUGE, last, v.base));
    return true;
}

/* Operands of a value that crosses segments need not cross with it. */
static bool are_known(const unit *u, const ls__ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (u->value_stamps[inst->args[i].id] != u->segment)
            return false;
    }
    return true;
}

static bool has_ends(unit *u, const ls__ir_inst *inst, extent *a, extent *b)
{
    return (inst->op == LS_OP_ULT || inst->op == LS_OP_ULE) && are_known(u, inst) &&
           extent_of(u, inst->args[0], a) && extent_of(u, inst->args[1], b) &&
           !(a->moves && b->moves);
}

/* Both ends of a comparison whose truth changes at most once from lane to lane. */
static bool ends_of(unit *u, const ls__ir_inst *inst, lv *first, lv *last, lv *sound)
{
    extent a, b;
    if (!has_ends(u, inst, &a, &b))
        return false;
    *sound = a.sound ? a.sound : b.sound;
    *first = ls__llvm_combine(u, (ls_op)inst->op, a.first, b.first);
    *last = ls__llvm_combine(u, (ls_op)inst->op, a.last, b.last);
    return true;
}

/* i1: the condition is `wanted` in all active lanes. */
static lv all_lanes(unit *u, ls_value condition, bool wanted, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, condition);
    val v = ls__llvm_value(u, condition);
    lv first, last, sound, same = ls__llvm_same(v);
    if (same)
        return wanted ? same : mk_not(u, same);
    if (inst->op == LS_OP_NOT && depth > 0 && are_known(u, inst))
        return all_lanes(u, inst->args[0], !wanted, depth - 1);
    if ((inst->op == LS_OP_AND || inst->op == LS_OP_OR) && depth > 0 && are_known(u, inst)) {
        lv a = all_lanes(u, inst->args[0], wanted, depth - 1);
        lv b = all_lanes(u, inst->args[1], wanted, depth - 1);
        return (inst->op == LS_OP_AND) == wanted ? mk_and(u, a, b) : mk_or(u, a, b);
    }
    if (ends_of(u, inst, &first, &last, &sound)) {
        lv all = wanted ? mk_and(u, first, last) : mk_not(u, mk_or(u, first, last));
        return sound ? mk_and(u, all, sound) : all;
    }
    lv other = wanted ? mk_not(u, v.vector) : v.vector;
    if (u->mask)
        other = mk_and(u, other, u->mask);
    return mk_not(u, ls__llvm_any(u, other));
}

enum { CONDITION_DEPTH = 4 };

/* Whether `all_lanes` compares scalars only. */
static bool is_scalar_test(unit *u, ls_value condition, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, condition);
    extent a, b;
    if (ls__llvm_same(ls__llvm_value(u, condition)))
        return true;
    if (inst->op == LS_OP_NOT && depth > 0 && are_known(u, inst))
        return is_scalar_test(u, inst->args[0], depth - 1);
    if (inst->op == LS_OP_AND || inst->op == LS_OP_OR)
        return depth > 0 && are_known(u, inst) && is_scalar_test(u, inst->args[0], depth - 1) &&
               is_scalar_test(u, inst->args[1], depth - 1);
    return has_ends(u, inst, &a, &b);
}

/* --- doubling --------------------------------------------------------------------------------- */

static bool count_inst(ls__ir_inst *inst, void *context)
{
    uint32_t *count = context;
    (void)inst;
    return ++*count <= MAX_DOUBLED;
}

static bool is_short(const ls__ir_inst *first, const ls__ir_inst *end)
{
    uint32_t count = 0;
    for (const ls__ir_inst *inst = first; inst != end; inst = inst->next) {
        count++;
        for (uint32_t i = 0; i < inst->region_count; i++)
            ls__ir_walk(inst->regions[i], count_inst, &count);
    }
    return count <= MAX_DOUBLED;
}

static bool is_jump_only(const ls__ir_region *region)
{
    const ls__ir_inst *inst = region->first;
    return inst && !inst->next && !inst->region_count && !inst->arg_count &&
           inst->op == LS_OP_RETURN;
}

/* Emits what all lanes do when they agree, up to `end`, and then goes to `after`. What finds an
 * access out of range before anything has been changed may go to `retreat` instead. */
static void emit_together(unit *u, ls__ir_inst *first, const ls__ir_inst *end, lb after, lb retreat)
{
    lv saved = u->mask;
    lb outside = u->empty;
    note *frame = u->frame;
    u->empty = after;
    u->retreat = retreat;
    ls__llvm_emit_run(u, first, end);
    if (!ls__llvm_is_terminated(u))
        mk_br(u, after);
    u->retreat = NULL;
    u->mask = saved;
    u->empty = outside;
    u->frame = frame;
}

enum { MAX_SMALL = 40 };

static bool is_small(const ls__ir_region *region)
{
    uint32_t count = 0;
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        if (inst->region_count || inst->op == LS_OP_BREAK || inst->op == LS_OP_CONTINUE ||
            inst->op == LS_OP_RETURN || inst->op == LS_OP_CALL || ++count > MAX_SMALL)
            return false;
    }
    return count > 0;
}

/* A small condition inside of other control flow, which all lanes have reached. */
static void begin_small(unit *u, const ls__ir_inst *inst, lb *after)
{
    const ls__ir_region *yes = inst->regions[0];
    if (u->mask || u->e->target.quick || !is_small(yes) ||
        !is_scalar_test(u, inst->args[0], CONDITION_DEPTH))
        return;
    lb fast = mk_block(u), slow = mk_block(u);
    ls__llvm_likely(u, all_lanes(u, inst->args[0], true, CONDITION_DEPTH), fast, slow);
    *after = mk_block(u);
    mk_begin(u, fast);
    emit_together(u, yes->first, NULL, *after, slow);
    mk_begin(u, slow);
}

void ls__llvm_begin_coherent(unit *u, const ls__ir_inst *inst, const ls__ir_inst *end, lb *after)
{
    *after = NULL;
    if (inst->op != LS_OP_IF || u->width == 1 || ls__llvm_is_uniform(u, inst->args[0]))
        return;
    if (u->is_doubled || u->is_cut || u->frame) {
        begin_small(u, inst, after);
        return;
    }
    const ls__ir_region *yes = inst->regions[0], *no = inst->regions[1];
    bool returns_yes = is_jump_only(yes) && !no->first,
         returns_no = is_jump_only(no) && !yes->first;
    bool is_guard = !no->first && !returns_yes && is_short(yes->first, NULL);
    if (!is_guard && !((returns_yes || returns_no) && is_short(inst->next, end)))
        return;
    bool wanted = is_guard || returns_no;
    lb fast = mk_block(u), slow = mk_block(u);
    mk_cond_br(u, all_lanes(u, inst->args[0], wanted, CONDITION_DEPTH), fast, slow);
    u->is_doubled = true;
    mk_begin(u, fast);
    if (is_guard) {
        *after = mk_block(u);
        emit_together(u, yes->first, NULL, *after, NULL);
    } else {
        emit_together(u, inst->next, end, u->segment_end, NULL);
    }
    mk_begin(u, slow);
}

/* --- loops ----------------------------------------------------------------------------------- */

enum { MAX_DOUBLED_ROUNDS = 1200 }; /* instructions of all loops together */

/* The `if` by which lanes leave, when nothing that does anything stands before it. */
static const ls__ir_inst *leading_exit(const ls__ir_inst *loop)
{
    for (const ls__ir_inst *inst = loop->regions[0]->first; inst; inst = inst->next) {
        if (inst->op == LS_OP_IF) {
            const ls__ir_inst *jump = inst->regions[0]->first;
            bool leaves = jump && jump->op == LS_OP_BREAK && !inst->regions[1]->first;
            return leaves ? inst : NULL;
        }
        if (inst->region_count || !inst->id.id || inst->op == LS_OP_ATOMIC ||
            inst->op == LS_OP_ATOMIC_CAS)
            return NULL;
    }
    return NULL;
}

typedef struct rounds {
    const unit *u;
    const note *loop;
    uint32_t count, exits;
} rounds;

static bool look_inside(ls__ir_inst *inst, void *context)
{
    rounds *r = context;
    const note *n = ls__llvm_note(r->u, inst);
    r->count++;
    r->exits += n && !inst->region_count && (!n->target || n->target->order <= r->loop->order);
    return r->count <= MAX_DOUBLED;
}

static bool is_even_exit(const unit *u, const ls__ir_inst *exit)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, exit->args[0]);
    while (inst->op == LS_OP_NOT)
        inst = ls__ir_def(u->function, inst->args[0]);
    if (inst->op != LS_OP_ULT && inst->op != LS_OP_ULE)
        return false;
    return ls__llvm_is_even(u, inst->args[0]) && ls__llvm_is_even(u, inst->args[1]);
}

void ls__llvm_begin_rounds(unit *u, const ls__ir_inst *loop, note *n)
{
    const ls__ir_inst *exit = leading_exit(loop);
    if (u->width == 1 || u->mask || !n->masked || n->outer || n->escapes || n->has_continue ||
        u->e->target.quick || !exit || !is_even_exit(u, exit))
        return;
    rounds r = {.u = u, .loop = n};
    for (uint32_t i = 0; i < loop->region_count; i++)
        ls__ir_walk(loop->regions[i], look_inside, &r);
    u->doubled_rounds += r.count;
    if (r.exits != 1 || r.count > MAX_DOUBLED || u->doubled_rounds > MAX_DOUBLED_ROUNDS)
        return;
    lb head = mk_block(u), round = mk_block(u), slow = mk_block(u), outside = u->empty;
    mk_br(u, head);
    mk_begin(u, head);
    ls__llvm_emit_run(u, loop->regions[0]->first, exit);
    mk_cond_br(u, all_lanes(u, exit->args[0], false, CONDITION_DEPTH), round, slow);
    mk_begin(u, round);
    u->empty = slow; /* never: no lane leaves */
    ls__llvm_emit_run(u, exit->next, NULL);
    ls__llvm_emit_run(u, loop->regions[1]->first, NULL);
    ls__llvm_poll(u, loop);
    mk_br(u, head);
    mk_begin(u, slow);
    u->empty = outside;
    u->frame = n;
}
