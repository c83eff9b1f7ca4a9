/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mesa's llvmpipe, under the Vulkan driver lavapipe, has two limits of which it says nothing and
 * beyond which it computes something else:
 *
 *   - all loops of a shader together run 65,535 rounds (of a vector of lanes); from then on every
 *     loop ends after one round, whatever its condition says;
 *   - branches nest 80 deep; what is deeper runs for all lanes. A `return` makes all that follows
 * it another level, since the driver puts it into the other branch.
 *
 * And one more, in the last vector of a workgroup that does not fill it: the lanes that are not
 * there take part in branches, with what they make of loads that give 0. Where they stay longer in
 * a loop with a barrier than the others do, the driver never comes back to that vector. So what is
 * the same for the workgroup is taken from a lane that is there.
 *
 * The first cannot be avoided, but seen: at the end of a kernel stands a loop of a few rounds,
 * which has fewer when the limit was reached. The driver cannot fold it. The second is estimated
 * from the IR, and kernels that may come near are refused.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

/* --- branches --------------------------------------------------------------------------------- */

enum { MAX_DEPTH = 72, AROUND = 4 /* main's own */ };

typedef struct search {
    const unit *u;
    const ls__ir_function *function;
    bool leaves;
} search;

/* Whether lanes may go from inside the instruction to the function's end, or out of a switch or
 * block around it. */
static bool find_leaving(ls__ir_inst *inst, void *context)
{
    search *s = context;
    if (inst->op == LS_OP_RETURN || inst->op == LS_OP_BREAK)
        s->leaves = true;
    if (inst->op == LS_OP_LOOP && ls__spirv_loop_polls(s->function, inst))
        s->leaves = true;
    if (inst->op == LS_OP_CALL && s->u->function_polls[inst->imm])
        s->leaves = true;
    return !s->leaves;
}

static uint32_t depth_of(const unit *u, const ls__ir_function *function,
                         const ls__ir_region *region)
{
    uint32_t around = 0, deepest = 0;
    for (ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        uint32_t depth = around;
        search s = {u, function, false};
        if (inst->op == LS_OP_CALL) {
            const ls__ir_function *callee = u->module->functions.items[inst->imm];
            depth += 1 + depth_of(u, callee, callee->body);
            find_leaving(inst, &s);
        }
        for (uint32_t i = 0; i < inst->region_count; i++) {
            uint32_t inner =
                around + 1 + (inst->op == LS_OP_SWITCH) + depth_of(u, function, inst->regions[i]);
            depth = inner > depth ? inner : depth;
            ls__ir_walk(inst->regions[i], find_leaving, &s);
        }
        if (inst->op == LS_OP_LOOP)
            find_leaving(inst, &s);
        deepest = depth > deepest ? depth : deepest;
        around += s.leaves;
    }
    return deepest;
}

void ls__spirv_check_depth(unit *u)
{
    uint32_t depth = AROUND + depth_of(u, u->kernel, u->kernel->body);
    if (u->target.llvmpipe && depth > MAX_DEPTH)
        ls__spirv_fail(u, LS_E_UNSUPPORTED,
                       "kernel '%s' branches about %u deep, what follows a return counted as "
                       "inside; above %d this driver's results are wrong",
                       u->kernel->name, depth, MAX_DEPTH);
}

/* --- loops ------------------------------------------------------------------------------------ */

enum {
    FEW_ROUNDS = 16384, /* no need to look; main itself has loops that clear shared memory */
    LAST_ROUNDS = 8     /* of the loop that looks; the driver may peel one or two */
};

/* Rounds of all loops of the region, at most; UINT32_MAX: many, or nobody knows. A loop that no
 * lane comes to has one round. */
static uint32_t rounds_of(const unit *u, const ls__ir_function *function,
                          const ls__ir_region *region)
{
    uint64_t total = 0;
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        uint64_t inner = 0, times = 1;
        for (uint32_t i = 0; i < inst->region_count; i++)
            inner += rounds_of(u, function, inst->regions[i]);
        if (inst->op == LS_OP_CALL) {
            const ls__ir_function *callee = u->module->functions.items[inst->imm];
            inner = rounds_of(u, callee, callee->body);
        }
        if (inst->op == LS_OP_LOOP) {
            times = ls__ir_loop_bound(function, inst);
            times = times == 0 || times > UINT32_MAX ? UINT32_MAX : times + 1;
            inner++;
        }
        total += times * (inner > UINT32_MAX ? UINT32_MAX : inner);
        if (total >= UINT32_MAX)
            return UINT32_MAX;
    }
    return (uint32_t)total;
}

static ref emit_last_loop(unit *u, ref end)
{
    ref word = ls__spirv_int(u, 32), zero = ls__spirv_u32(u, 0), one = ls__spirv_u32(u, 1);
    ref head = ls__spirv_new(u), run = ls__spirv_new(u), next = ls__spirv_new(u);
    ref merge = ls__spirv_new(u), rounds = ls__spirv_local(u, word, 0);
    put(u, u->out, SpvOpStore, rounds, zero);
    ls__spirv_branch(u, head);
    ls__spirv_begin(u, head);
    put(u, u->out, SpvOpLoopMerge, merge, next, SpvLoopControlDontUnrollMask);
    ls__spirv_branch(u, run);
    ls__spirv_begin(u, run);
    ref count = mk(u, SpvOpLoad, word, rounds);
    count = mk(u, SpvOpIAdd, word, count, one);
    put(u, u->out, SpvOpStore, rounds, count);
    ls__spirv_branch(u, next);
    ls__spirv_begin(u, next);
    ref again = mk(u, SpvOpULessThan, ls__spirv_bool(u), count, end);
    put(u, u->out, SpvOpBranchConditional, again, head, merge);
    ls__spirv_begin(u, merge);
    return mk(u, SpvOpLoad, word, rounds);
}

void ls__spirv_check_loops(unit *u)
{
    if (!u->target.llvmpipe || rounds_of(u, u->kernel, u->kernel->body) < FEW_ROUNDS)
        return;
    ref word = ls__spirv_int(u, 32), hidden = ls__spirv_zero(u, 32);
    ref k = ls__spirv_u32(u, LAST_ROUNDS), end = mk(u, SpvOpIAdd, word, hidden, k);
    ref ran = emit_last_loop(u, end);
    /* Another form of the same number: of `end` the driver knows what the loop's condition says. */
    ref wanted = mk(u, SpvOpBitwiseOr, word, hidden, k);
    ref ended = mk(u, SpvOpINotEqual, ls__spirv_bool(u), ran, wanted);
    ref merge = ls__spirv_begin_if(u, ended);
    ls__spirv_set_stopped(u, LS__SPIRV_STOPPED_LOOPS);
    ls__spirv_end_if(u, merge);
}

/* --- lanes that are not there ------------------------------------------------------------------
 */

ref ls__spirv_decided(unit *u, ls_value value)
{
    enum { WIDEST_VECTOR = 32 };
    const uint32_t *size = u->kernel->workgroup;
    ref plain = ls__spirv_value(u, value);
    if (!u->target.llvmpipe || !u->f.uniformity ||
        size[0] * size[1] * size[2] % WIDEST_VECTOR == 0 ||
        u->f.uniformity->values[value.id] > LS__IR_WORKGROUP)
        return plain;
    ls__spirv_need(u, SpvCapabilityGroupNonUniform);
    ls__spirv_need(u, SpvCapabilityGroupNonUniformBallot);
    ref type = ls__spirv_type(u, ls__ir_type_of(u->f.function, value));
    ref scope = ls__spirv_u32(u, SpvScopeSubgroup);
    return mk(u, SpvOpGroupNonUniformBroadcastFirst, type, scope, plain);
}
