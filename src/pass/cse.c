/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cse: of two equal pure instructions, of which one dominates the other, the first serves both.
 *
 * needs: nothing. keeps: everything. breaks: nothing.
 *
 * One walk in program order over a hash table that is scoped like the regions: entries of a region
 * are taken out again when the walk leaves it. Loads that nothing in the function can change (see
 * ls__pass_is_invariant_load) count as pure. Facts in flags stay with the instruction that is kept;
 * a load that is kept without INBOUNDS is merely checked once more.
 */
#include "base/hash.h"
#include "pass/passes.h"
#include "pass/util.h"

typedef struct entry {
    ls__ir_inst *inst;
    uint64_t hash;
    uint32_t next; /* of the same bucket; 0 = none */
} entry;

typedef struct merging {
    ls__ir_function *function;
    ls__arena *scratch;
    ls__pass_map map;
    ls__pass_writes writes;
    LS__VEC(entry) entries; /* a stack; item 0 is unused */
    uint32_t *buckets;
    uint32_t mask;
    bool changed;
} merging;

static bool is_candidate(const merging *m, const ls__ir_inst *inst)
{
    return inst->id.id && inst->arg_count <= 3 && !inst->region_count &&
           (ls__ir_op_has((ls_op)inst->op, 'P') || ls__pass_is_invariant_load(&m->writes, inst));
}

/* Commutative operands are compared in order of their ids. */
static void operands(const ls__ir_inst *inst, uint32_t ids[3])
{
    for (uint32_t i = 0; i < 3; i++)
        ids[i] = i < inst->arg_count ? inst->args[i].id : 0;
    if (ls__ir_op_has((ls_op)inst->op, 'C') && ids[0] > ids[1]) {
        uint32_t swap = ids[0];
        ids[0] = ids[1];
        ids[1] = swap;
    }
}

static uint64_t hash_of(const ls__ir_inst *inst)
{
    uint32_t ids[3];
    operands(inst, ids);
    uint64_t kinds = (uint64_t)inst->op | (uint64_t)inst->type << 16 | (uint64_t)inst->mem << 24 |
                     (uint64_t)inst->base.kind << 32;
    uint64_t pair = ids[0] | (uint64_t)ids[1] << 32,
             rest = ids[2] | (uint64_t)inst->base.index << 32;
    uint64_t key[] = {kinds, inst->imm, inst->imm2, pair, rest};
    return ls__hash64(key, sizeof key, 0);
}

static bool equal(const ls__ir_inst *a, const ls__ir_inst *b)
{
    if (a->op != b->op || a->type != b->type || a->mem != b->mem || a->imm != b->imm ||
        a->imm2 != b->imm2 || a->base.kind != b->base.kind || a->base.index != b->base.index)
        return false;
    uint32_t left[3], right[3];
    operands(a, left);
    operands(b, right);
    return left[0] == right[0] && left[1] == right[1] && left[2] == right[2];
}

static void visit(merging *m, ls__ir_inst *inst)
{
    uint64_t hash = hash_of(inst);
    uint32_t *bucket = &m->buckets[hash & m->mask];
    for (uint32_t i = *bucket; i; i = m->entries.items[i].next) {
        if (m->entries.items[i].hash == hash && equal(m->entries.items[i].inst, inst)) {
            ls__pass_replace(&m->map, m->function, inst, m->entries.items[i].inst->id);
            m->changed = true;
            return;
        }
    }
    entry entry = {inst, hash, *bucket};
    *bucket = m->entries.count;
    ls__vec_push(m->scratch, &m->entries, entry);
}

static void walk(merging *m, ls__ir_region *region)
{
    uint32_t mark = m->entries.count;
    for (ls__ir_inst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        ls__pass_map_args(&m->map, inst);
        for (uint32_t i = 0; i < inst->region_count; i++)
            walk(m, inst->regions[i]);
        if (is_candidate(m, inst))
            visit(m, inst);
    }
    while (m->entries.count > mark) {
        entry last = m->entries.items[--m->entries.count];
        m->buckets[last.hash & m->mask] = last.next;
    }
}

bool ls__pass_cse(ls__ir_function *function, ls__arena *scratch)
{
    merging m = {.function = function, .scratch = scratch, .mask = 63};
    while (m.mask < function->values.count)
        m.mask = m.mask * 2 + 1;
    m.buckets = LS__NEW_ARRAY(scratch, uint32_t, m.mask + 1);
    m.writes = ls__pass_writes_of(function, scratch);
    ls__pass_map_init(&m.map, function, scratch);
    ls__vec_push(scratch, &m.entries, (entry){0});
    walk(&m, function->body);
    return m.changed;
}
