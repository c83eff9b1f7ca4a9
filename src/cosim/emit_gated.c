/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gated compiled form as Kernel C: blocks that run when they are marked, and mark others when
 * what they compute has changed (plan.h, kernels/gated.kc).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/emit_node.h"

enum {
    BLOCK_NODES = 48,
    WORD_BLOCK_NODES = 320,
    WORD_CLUSTER_NODES = 2000,
    FUNCTION_BLOCKS = 4, /* blocks a function: code generators are quadratic */
    FUNCTION_GROUPS = 8,
    FUNCTION_PAIRS = 64,
    MANY_READERS = 12,
};

#define PUT(...) ls__strbuf_printf(e->text, __VA_ARGS__)

/* Number of a block's mark: that of its cluster. Early ones and others share no word. */
static uint32_t mark_of(const ls__cosim_cut *plan, uint32_t block)
{
    uint32_t cluster = plan->cluster_of[block], early = plan->early_clusters;
    uint32_t words = (early + LS__WORD_BLOCKS - 1) / LS__WORD_BLOCKS;
    return cluster < early ? cluster : cluster - early + words * LS__WORD_BLOCKS;
}

/* Whether the next block belongs to the same cluster. */
static bool goes_on(const ls__cosim_cut *plan, uint32_t block)
{
    return block + 1 < plan->block_count && plan->cluster_of[block] == plan->cluster_of[block + 1];
}

static uint32_t word_of(const ls__cosim_cut *plan, uint32_t block)
{
    return plan->dirty + mark_of(plan, block) / LS__WORD_BLOCKS;
}

/* --- marking ---------------------------------------------------------------------------------- */

/* One mark: where, which bit, and which changed bits lead to it (0: any). */
typedef struct mark {
    uint32_t slot, bit;
    uint64_t need;
} mark;

typedef LS__VEC(mark) mark_list;

static void add_mark(ls__arena *arena, mark_list *list, uint32_t slot, uint32_t bit, uint64_t need)
{
    mark m = {slot, bit, need};
    ls__vec_push(arena, list, m);
}

static void add_block_mark(const ls__emitter *e, ls__arena *arena, mark_list *list, uint32_t block,
                           uint64_t need)
{
    add_mark(arena, list, word_of(e->plan, block), mark_of(e->plan, block) % LS__WORD_BLOCKS, need);
}

static void list_marks(const ls__emitter *e, ls__arena *arena, const ls__carrier *c,
                       mark_list *list)
{
    uint64_t all = ls__node_mask((uint8_t)c->bits);
    bool whole = c->nodes.count == 1;
    for (uint32_t i = 0; i < c->readers.count; i++) {
        uint64_t need = c->readers.items[i].need;
        add_block_mark(e, arena, list, c->readers.items[i].block, whole || need == all ? 0 : need);
    }
    if (c->observed)
        add_mark(arena, list, e->plan->observers + c->observer / 64, c->observer % 64,
                 whole || c->observed == all ? 0 : c->observed);
}

/* Sets the marks of the list for changed bits `d`. Marks of the slot `own` are in the variable w.
 */
static void emit_marks(ls__emitter *e, const mark_list *list, const char *d, uint32_t own)
{
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t slot = list->items[i].slot;
        bool first = true;
        for (uint32_t k = 0; k < i; k++)
            first = first && list->items[k].slot != slot;
        if (!first)
            continue;
        uint64_t always = 0;
        for (uint32_t k = i; k < list->count; k++)
            if (list->items[k].slot == slot && !list->items[k].need)
                always |= UINT64_C(1) << list->items[k].bit;
        if (slot == own)
            PUT("w |= %" PRIu64 "ul", always);
        else
            PUT("s[%" PRIu32 "] |= %" PRIu64 "ul", slot, always);
        for (uint32_t k = i; k < list->count; k++)
            if (list->items[k].slot == slot && list->items[k].need &&
                !(always >> list->items[k].bit & 1))
                PUT(" | (u64)((%s & %" PRIu64 "ul) != 0ul) << %" PRIu32, d, list->items[k].need,
                    list->items[k].bit);
        PUT(";\n");
    }
}

/* The readers of each bit of a carrier; bits with the same are one class. */
static void emit_marks_by_bit(ls__emitter *e, ls__arena *arena, const mark_list *list,
                              const char *d, uint64_t bits, uint32_t own)
{
    while (bits) {
        uint64_t bit = bits & -bits, same = 0;
        for (uint64_t rest = bits; rest; rest &= rest - 1) {
            uint64_t other = rest & -rest;
            bool equal = true;
            for (uint32_t k = 0; equal && k < list->count; k++)
                equal = !list->items[k].need ||
                        !(list->items[k].need & bit) == !(list->items[k].need & other);
            same |= equal ? other : 0;
        }
        bits &= ~same;
        mark_list its = {0};
        for (uint32_t k = 0; k < list->count; k++)
            if (list->items[k].need & bit)
                add_mark(arena, &its, list->items[k].slot, list->items[k].bit, 0);
        if (its.count == 0)
            continue;
        PUT("if ((%s & %" PRIu64 "ul) != 0ul) {\n", d, same);
        emit_marks(e, &its, d, own);
        PUT("}\n");
    }
}

/* Marks what changed bits `d` of a carrier lead to: reader by reader, or, where there are many, bit
 * by bit. */
static void emit_carrier_marks(ls__emitter *e, ls__arena *arena, const ls__carrier *c,
                               const mark_list *list, const char *d, uint32_t own)
{
    mark_list always = {0};
    uint32_t partial = 0;
    for (uint32_t k = 0; k < list->count; k++) {
        if (list->items[k].need)
            partial++;
        else
            add_mark(arena, &always, list->items[k].slot, list->items[k].bit, 0);
    }
    if (partial <= MANY_READERS) {
        emit_marks(e, list, d, own);
        return;
    }
    emit_marks(e, &always, d, own);
    emit_marks_by_bit(e, arena, list, d, ls__node_mask((uint8_t)c->bits), own);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Bits of nodes as one word. */
static void emit_packed(ls__emitter *e, const uint32_t *nodes, uint32_t count)
{
    uint32_t at = 0;
    for (uint32_t k = 0; k < count; k++) {
        PUT("%s", k ? " | " : "");
        ls__emit_value(e, nodes[k], true);
        if (at)
            PUT(" << %" PRIu32, at);
        at += e->g->nodes[nodes[k]].width;
    }
}

static void emit_carrier(ls__emitter *e, ls__arena *arena, uint32_t number)
{
    const ls__carrier *c = &e->plan->carriers.items[number];
    if (c->readers.count == 0 && !c->observed) {
        PUT("s[%" PRIu32 "] = ", c->slot);
        if (c->loose)
            ls__emit_value(e, c->nodes.items[0], false);
        else
            emit_packed(e, c->nodes.items, c->nodes.count);
        PUT(";\n");
        return;
    }
    char d[16];
    snprintf(d, sizeof d, "d%" PRIu32, number);
    PUT("u64 c%" PRIu32 " = ", number);
    emit_packed(e, c->nodes.items, c->nodes.count);
    PUT(";\nu64 %s = c%" PRIu32 " ^ s[%" PRIu32 "];\nif (%s != 0ul) {\ns[%" PRIu32 "] = c%" PRIu32
        ";\n",
        d, number, c->slot, d, c->slot, number);
    mark_list list = {0};
    list_marks(e, arena, c, &list);
    emit_carrier_marks(e, arena, c, &list, d, word_of(e->plan, e->block));
    PUT("}\n");
}

static void emit_group(ls__emitter *e, uint32_t number)
{
    const ls__group *group = &e->plan->groups.items[number];
    for (uint32_t i = 0; i < group->pairs.count; i++) {
        const ls__pair *pair = &group->pairs.items[i];
        for (uint32_t k = 0; k < pair->sources.count; k++)
            ls__emit_load(e, pair->sources.items[k]);
        PUT("u64 x%" PRIu32 " = ", pair->next);
        emit_packed(e, pair->sources.items, pair->sources.count);
        PUT(";\nif (x%" PRIu32 " != s[%" PRIu32 "]) {\ns[%" PRIu32 "] = x%" PRIu32 ";\ns[%" PRIu32
            "] |= %" PRIu64 "ul;\n}\n",
            pair->next, pair->next, pair->next, pair->next, group->pending,
            UINT64_C(1) << group->pending_bit);
    }
}

static void emit_block(ls__emitter *e, ls__arena *arena, uint32_t number)
{
    const ls__plan_block *block = &e->plan->blocks[number];
    uint64_t bit = UINT64_C(1) << (mark_of(e->plan, number) % LS__WORD_BLOCKS);
    e->block = number;
    PUT("if ((w & %" PRIu64 "ul) != 0ul) {\n", bit);
    if (e->g->has_loops)
        PUT("w ^= %" PRIu64 "ul;\n", bit);
    ls__emit_nodes(e, block->first, block->end);
    for (uint32_t i = 0; i < block->carriers.count; i++)
        emit_carrier(e, arena, block->carriers.items[i]);
    for (uint32_t i = 0; i < block->groups.count; i++)
        emit_group(e, block->groups.items[i]);
    PUT("}\n");
}

static bool is_alone(const ls__cosim_cut *plan, uint32_t block)
{
    return !goes_on(plan, block) && (block == 0 || !goes_on(plan, block - 1));
}

/* Blocks of one word that are one function: the end, and their marks. A block of a cluster has a
 * function of its own. */
static uint32_t function_end(const ls__cosim_cut *plan, uint32_t first, uint64_t *marks)
{
    uint32_t b = first;
    *marks = 0;
    do
        *marks |= UINT64_C(1) << (mark_of(plan, b) % LS__WORD_BLOCKS);
    while (++b < plan->block_count && is_alone(plan, first) && is_alone(plan, b) &&
           word_of(plan, b) == word_of(plan, first) && b < first + FUNCTION_BLOCKS);
    return b;
}

/* While a function runs, marks of its word are in the variable w. */
static void emit_functions(ls__emitter *e, ls__arena *arena)
{
    const ls__cosim_cut *plan = e->plan;
    for (uint32_t b = 0; b < plan->block_count;) {
        uint64_t marks;
        uint32_t first = b, word = word_of(plan, b), end = function_end(plan, b, &marks);
        PUT("noinline void ls_blocks_%" PRIu32 "(STATE, u64 *memory)\n{\nSLOTS MEMORY\n"
            "u64 w = s[%" PRIu32 "];\n",
            first, word);
        for (; b < end; b++)
            emit_block(e, arena, b);
        if (e->g->has_loops)
            PUT("s[%" PRIu32 "] = w;\n}\n", word);
        else
            PUT("s[EVALUATED] += (u64)popcount(w & %" PRIu64 "ul);\ns[%" PRIu32 "] = w & %" PRIu64
                "ul;\n}\n",
                marks, word, goes_on(plan, first) ? UINT64_MAX : ~marks);
    }
}

static void emit_call(ls__emitter *e, uint32_t block)
{
    PUT("ls_blocks_%" PRIu32 "(state, instance, memory);\n", block);
}

static void emit_evaluate(ls__emitter *e, const char *name, uint32_t first, uint32_t end)
{
    PUT("static bool %s(STATE, u64 *memory)\n{\nSLOTS MEMORY\n", name);
    for (uint32_t b = first; b < end;) {
        uint32_t word = word_of(e->plan, b);
        PUT("if (s[%" PRIu32 "] != 0ul) {\n", word);
        while (b < end && word_of(e->plan, b) == word) {
            uint64_t marks, rest;
            uint32_t next = function_end(e->plan, b, &marks);
            PUT("if ((s[%" PRIu32 "] & %" PRIu64 "ul) != 0ul) {\n", word, marks);
            emit_call(e, b);
            for (; next < end && goes_on(e->plan, next - 1);
                 next = function_end(e->plan, next, &rest))
                emit_call(e, next);
            PUT("}\n");
            b = next;
        }
        PUT("}\n");
    }
    PUT("return false");
    uint32_t last = UINT32_MAX;
    for (uint32_t b = first; e->g->has_loops && b < end; b++) {
        uint32_t word = word_of(e->plan, b);
        if (word != last)
            PUT(" || s[%" PRIu32 "] != 0ul", word);
        last = word;
    }
    PUT(";\n}\n");
}

/* --- inputs, commits -------------------------------------------------------------------------- */

static void emit_inputs(ls__emitter *e, ls__arena *arena)
{
    const ls__graph *g = e->g;
    PUT("static void mark_inputs(STATE)\n{\nSLOTS\n");
    for (uint32_t w = 0; w * 64 < g->input_count; w++) {
        uint32_t dirty = e->cosim->layout.input_dirty + w;
        PUT("u64 d%" PRIu32 " = s[%" PRIu32 "];\nif (d%" PRIu32 " != 0ul) {\ns[%" PRIu32
            "] = 0ul;\n",
            w, dirty, w, dirty);
        for (uint32_t i = w * 64; i < g->input_count && i < w * 64 + 64; i++) {
            const ls__carrier *c =
                &e->plan->carriers.items[e->plan->carrier_of[g->inputs[i].node.index]];
            mark_list list = {0};
            list_marks(e, arena, c, &list);
            if (list.count == 0)
                continue;
            PUT("if ((d%" PRIu32 " & %" PRIu64 "ul) != 0ul) {\n", w, UINT64_C(1) << (i % 64));
            emit_marks(e, &list, "0ul", UINT32_MAX);
            PUT("}\n");
        }
        PUT("}\n");
    }
    PUT("}\n");
}

static void emit_pair(ls__emitter *e, ls__arena *arena, const ls__pair *pair)
{
    const ls__carrier *c = &e->plan->carriers.items[pair->carrier];
    PUT("{\nu64 x = s[%" PRIu32 "];\nu64 d = x ^ s[%" PRIu32 "];\nif (d != 0ul) {\ns[%" PRIu32
        "] = x;\n",
        pair->next, c->slot, c->slot);
    mark_list list = {0};
    list_marks(e, arena, c, &list);
    if (c->kind == LS__CARRIER_HOLD)
        add_block_mark(e, arena, &list, c->block, 0);
    emit_carrier_marks(e, arena, c, &list, "d", UINT32_MAX);
    PUT("}\n}\n");
}

/* Whether a group is always pending: a latch may have changed since it took what it takes again. */
static bool is_sticky(const ls__cosim_cut *plan, const ls__group *group)
{
    for (uint32_t k = 0; k < group->pairs.count; k++)
        if (plan->carriers.items[group->pairs.items[k].carrier].kind == LS__CARRIER_HOLD)
            return true;
    return false;
}

/* Groups of one word that are one function: the end, and their bits. */
static uint32_t groups_end(const ls__cosim_cut *plan, uint32_t first, uint32_t end, uint64_t *bits)
{
    uint32_t i = first, pairs = 0;
    *bits = 0;
    for (; i < end && plan->groups.items[i].pending == plan->groups.items[first].pending; i++) {
        pairs += plan->groups.items[i].pairs.count;
        if (i > first && (i == first + FUNCTION_GROUPS || pairs > FUNCTION_PAIRS))
            break;
        *bits |= UINT64_C(1) << plan->groups.items[i].pending_bit;
    }
    return i;
}

/* Registers of a domain. */
static void emit_domain(ls__emitter *e, ls__arena *arena, uint32_t domain)
{
    const ls__cosim_cut *plan = e->plan;
    uint32_t end = plan->domain_groups[domain + 1];
    for (uint32_t i = plan->domain_groups[domain]; i < end;) {
        uint64_t bits, sticky = 0;
        uint32_t first = i, last = groups_end(plan, i, end, &bits);
        uint32_t word = plan->groups.items[i].pending;
        PUT("noinline void ls_commit_%" PRIu32 "(STATE)\n{\nSLOTS\nu64 p = s[%" PRIu32 "];\n",
            first, word);
        for (; i < last; i++) {
            const ls__group *group = &plan->groups.items[i];
            PUT("if ((p & %" PRIu64 "ul) != 0ul) {\n", UINT64_C(1) << group->pending_bit);
            for (uint32_t k = 0; k < group->pairs.count; k++)
                emit_pair(e, arena, &group->pairs.items[k]);
            PUT("}\n");
            if (is_sticky(plan, group))
                sticky |= UINT64_C(1) << group->pending_bit;
        }
        PUT("s[%" PRIu32 "] = p & %" PRIu64 "ul;\n}\n", word, ~bits | sticky);
    }
}

static void emit_triggered(ls__emitter *e, uint32_t domain)
{
    PUT("(s[%" PRIu32 "] & %" PRIu64 "ul) != 0ul", e->cosim->layout.triggered + domain / 64,
        UINT64_C(1) << (domain % 64));
}

static void emit_place(ls__emitter *e, uint32_t node)
{
    ls__place place = e->form->places[node];
    PUT("(s[%" PRIu32 "] >> %" PRIu32 " & %" PRIu64 "ul)", place.slot, place.bit,
        ls__node_mask(e->g->nodes[node].width));
}

/* Marks the blocks that read a memory. */
static void emit_memory_marks(ls__emitter *e, ls__arena *arena, uint32_t memory)
{
    mark_list list = {0};
    for (uint32_t b = 0; b < e->plan->block_count; b++)
        for (uint32_t k = 0; k < e->plan->blocks[b].memories.count; k++)
            if (e->plan->blocks[b].memories.items[k] == memory)
                add_block_mark(e, arena, &list, b, 0);
    emit_marks(e, &list, "0ul", UINT32_MAX);
}

static void emit_write(ls__emitter *e, ls__arena *arena, const ls__graph_write *write)
{
    const ls__graph_memory *m = &e->g->memories[write->memory];
    PUT("if (");
    emit_triggered(e, write->domain);
    PUT(") {\nu64 a = ");
    emit_place(e, write->address.index);
    PUT(";\nbool changed = false;\nif (a < %" PRIu32 "ul) {\n", m->depth);
    for (uint32_t k = 0; k < m->limbs; k++) {
        PUT("u64 e%" PRIu32 " = ", k);
        emit_place(e, write->enables[k].index);
        PUT(";\nif (e%" PRIu32 " != 0ul) {\nu64 at = %" PRIu64 "ul + a * %" PRIu32
            "ul;\nu64 old = m[at];\nu64 now = old & ~e%" PRIu32 " | ",
            k, e->cosim->layout.memory_at[write->memory] + k, m->limbs, k);
        emit_place(e, write->data[k].index);
        PUT(" & e%" PRIu32 ";\nif (now != old) {\nm[at] = now;\nchanged = true;\n}\n}\n", k);
    }
    PUT("}\nif (changed) {\n");
    emit_memory_marks(e, arena, write->memory);
    PUT("}\n}\n");
}

static void emit_commit(ls__emitter *e, ls__arena *arena)
{
    const ls__cosim_cut *plan = e->plan;
    for (uint32_t d = 0; d < e->g->domain_count; d++)
        emit_domain(e, arena, d);
    PUT("static void commit(STATE, u64 *memory)\n{\nSLOTS MEMORY\n");
    for (uint32_t i = 0; i < e->g->write_count; i++)
        emit_write(e, arena, &e->g->writes[i]);
    for (uint32_t d = 0; d < e->g->domain_count; d++) {
        if (plan->domain_groups[d] == plan->domain_groups[d + 1])
            continue;
        PUT("if (");
        emit_triggered(e, d);
        PUT(") {\n");
        for (uint32_t i = plan->domain_groups[d]; i < plan->domain_groups[d + 1];) {
            uint64_t bits;
            uint32_t next = groups_end(plan, i, plan->domain_groups[d + 1], &bits);
            PUT("if ((s[%" PRIu32 "] & %" PRIu64 "ul) != 0ul)\nls_commit_%" PRIu32
                "(state, instance);\n",
                plan->groups.items[i].pending, bits, i);
            i = next;
        }
        PUT("}\n");
    }
    PUT("}\n");
}

/* s[first + k] |= words[k] for those that are not 0. */
static void emit_all(ls__emitter *e, uint32_t first, const uint64_t *words, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (words[k])
            PUT("s[%" PRIu32 "] |= %" PRIu64 "ul;\n", first + k, words[k]);
}

/* Everything is marked; what registers take from constants is there. */
static void emit_mark_all(ls__emitter *e, ls__arena *arena)
{
    const ls__cosim_cut *plan = e->plan;
    uint64_t *dirty = LS__NEW_ARRAY(arena, uint64_t, plan->dirty_words + 1);
    uint64_t *pending = LS__NEW_ARRAY(arena, uint64_t, plan->pending_words + 1);
    uint64_t *observers = LS__NEW_ARRAY(arena, uint64_t, plan->observer_words + 1);
    PUT("noinline void mark_all(STATE)\n{\nSLOTS\n");
    for (uint32_t b = 0; b < plan->block_count; b++)
        dirty[word_of(plan, b) - plan->dirty] |= UINT64_C(1)
                                                 << (mark_of(plan, b) % LS__WORD_BLOCKS);
    for (uint32_t i = 0; i < plan->observer_count; i++)
        observers[i / 64] |= UINT64_C(1) << (i % 64);
    for (uint32_t i = 0; i < plan->groups.count; i++) {
        const ls__group *group = &plan->groups.items[i];
        pending[group->pending - plan->pending] |= UINT64_C(1) << group->pending_bit;
        for (uint32_t k = 0; group->block == LS__NO_BLOCK && k < group->pairs.count; k++) {
            const ls__pair *pair = &group->pairs.items[k];
            uint64_t value = 0;
            for (uint32_t j = 0; j < pair->sources.count; j++)
                value |= e->g->nodes[pair->sources.items[j]].imm << j;
            PUT("s[%" PRIu32 "] = %" PRIu64 "ul;\n", pair->next, value);
        }
    }
    emit_all(e, plan->dirty, dirty, plan->dirty_words);
    emit_all(e, plan->pending, pending, plan->pending_words);
    emit_all(e, plan->observers, observers, plan->observer_words);
    PUT("}\n");
}

/* --- the form --------------------------------------------------------------------------------- */

static void push(ls__words *t, ls__arena *arena, uint32_t word)
{
    ls__vec_push(arena, t, word);
}

/* By observer: its outputs (from, end), 1 + its traced slot. An output: number, slot, shift, mask.
 */
static uint32_t write_observers(const ls_cosim *cosim, const ls__cosim_cut *plan, ls__form *form,
                                ls__words *t, ls__arena *arena)
{
    const ls__layout *l = &cosim->layout;
    uint32_t *first = LS__NEW_ARRAY(arena, uint32_t, plan->observer_count + 2);
    uint32_t *order = LS__NEW_ARRAY(arena, uint32_t, l->observed_count + 1);
    uint32_t *trace = LS__NEW_ARRAY(arena, uint32_t, form->slot_count + 1);
    for (uint32_t i = 0; i < l->observed_count; i++) {
        uint32_t c = plan->carrier_of[l->observed[i].node.index];
        if (c != UINT32_MAX)
            first[plan->carriers.items[c].observer + 2]++;
    }
    for (uint32_t k = 0; k < plan->observer_count; k++)
        first[k + 2] += first[k + 1];
    for (uint32_t i = 0; i < l->observed_count; i++) {
        uint32_t c = plan->carrier_of[l->observed[i].node.index];
        if (c != UINT32_MAX)
            order[first[plan->carriers.items[c].observer + 1]++] = i;
    }
    for (uint32_t i = 0; i < form->traces.count; i++)
        trace[form->traces.slots[i]] = i + 1;
    uint32_t outputs = t->count;
    for (uint32_t i = 0; i < first[plan->observer_count]; i++) {
        const ls__observed *o = &l->observed[order[i]];
        ls__place place = form->places[o->node.index];
        const uint32_t entry[5] = {order[i], place.slot, place.bit + o->lsb, (uint32_t)o->mask,
                                   (uint32_t)(o->mask >> 32)};
        for (uint32_t k = 0; k < 5; k++)
            push(t, arena, entry[k]);
    }
    uint32_t observers = t->count;
    uint32_t *slot_of = LS__NEW_ARRAY(arena, uint32_t, plan->observer_count + 1);
    for (uint32_t i = 0; i < plan->carriers.count; i++)
        if (plan->carriers.items[i].observed)
            slot_of[plan->carriers.items[i].observer] = plan->carriers.items[i].slot;
    for (uint32_t k = 0; k < plan->observer_count; k++) {
        push(t, arena, outputs + first[k] * 5);
        push(t, arena, outputs + first[k + 1] * 5);
        push(t, arena, trace[slot_of[k]]);
    }
    return observers;
}

/* Whether a good part of the nodes are words. */
static bool is_wordy(const ls__graph *g)
{
    uint32_t words = 0;
    for (uint32_t n = 0; n < g->node_count; n++)
        words += g->nodes[n].width > 1 && g->nodes[n].op != LS__NODE_CONST;
    return !g->has_loops && words > g->node_count / 4;
}

static void prepare(ls__emitter *e)
{
    const ls__cosim_cut *plan = e->plan;
    size_t n = e->g->node_count + 1;
    e->loaded = LS__NEW_ARRAY(e->arena, uint32_t, n);
    e->defined = LS__NEW_ARRAY(e->arena, uint32_t, n);
    e->loose = LS__NEW_ARRAY(e->arena, uint8_t, n);
    e->place_of = LS__NEW_ARRAY(e->arena, uint32_t, n);
    e->is_result = LS__NEW_ARRAY(e->arena, uint8_t, n);
    e->role = LS__NEW_ARRAY(e->arena, uint8_t, n);
    e->uses = LS__NEW_ARRAY(e->arena, uint32_t, n);
    e->arms = ls__arms_create(plan, e->arena);
    for (uint32_t i = 0; i < plan->order_count; i++) {
        e->place_of[plan->order[i]] = i;
        e->is_result[plan->order[i]] = plan->carrier_of[plan->order[i]] != UINT32_MAX;
        const ls__node *node = &e->g->nodes[plan->order[i]];
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++)
            e->uses[node->operands[k].index]++;
    }
    for (uint32_t i = 0; i < e->g->reg_count; i++)
        e->is_result[e->g->regs[i].next.index] = 1;
}

static ls_status build(const ls_cosim *cosim, ls__form *form, ls__arena *arena, ls__strbuf *text,
                       ls_error *error)
{
    ls__plan_params params = {.block_nodes = BLOCK_NODES};
    if (is_wordy(cosim->graph)) {
        params.block_nodes = WORD_BLOCK_NODES;
        params.cluster_nodes = WORD_CLUSTER_NODES;
    }
    const ls__cosim_cut *plan = ls__cosim_cut_create(cosim, &params, form, arena);
    ls_status status = ls__traces_create(cosim, form, error);
    if (status != LS_OK)
        return status;
    ls__words t = {0};
    ls__sections_write(cosim, form, &t, arena);
    uint32_t observers = write_observers(cosim, plan, form, &t, arena);
    form->table_words = t.count ? t.count : 1;
    form->table = ls__mem_alloc(form->table_words, sizeof *form->table);
    if (!form->table)
        return ls__fail_oom(error, form->table_words * sizeof *form->table);
    if (t.count)
        memcpy(form->table, t.items, t.count * sizeof *form->table);
    ls__emitter emitter = {.cosim = cosim,
                           .g = cosim->graph,
                           .form = form,
                           .plan = plan,
                           .text = text,
                           .arena = arena};
    ls__emitter *e = &emitter;
    prepare(e);
    ls__prelude_write(cosim, form, text);
    PUT("#define OBSERVER_MARKS %" PRIu32 "u\n#define OBSERVER_WORDS %" PRIu32
        "u\n#define T_OBSERVERS %" PRIu32 "u\n",
        plan->observers, plan->observer_words, observers);
    emit_functions(e, arena);
    emit_evaluate(e, "evaluate_early", 0, plan->early_blocks);
    emit_evaluate(e, "evaluate_late", plan->early_blocks, plan->block_count);
    emit_inputs(e, arena);
    emit_commit(e, arena);
    emit_mark_all(e, arena);
    PUT("#include \"lockstep:gated.kc\"\n");
    return LS_OK;
}

ls_status ls__gated_create(const ls_cosim *cosim, ls__form **out, ls_error *error)
{
    return ls__form_build(cosim, LS_COSIM_COMPILED, 1, build, out, error);
}
