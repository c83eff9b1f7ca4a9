/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conjunctions and disjunctions of bits as comparisons of words. Where several bits that a tree of
 * gates joins lie in one slot, one comparison under a mask stands for them:
 *
 *   a & ~b & c    ((s[7] & 0b1101) ^ 0b1001) == 0        ~(...) by De Morgan
 *   a | ~b | c    ((s[7] & 0b1101) ^ 0b0100) != 0
 *
 * The gates inside a tree have one user, in their block, and are not computed by themselves.
 */
#include <inttypes.h>

#include "cosim/emit_node.h"

enum {
    MOST_LEAVES = 64,
    LEAST_BITS = 6 /* with fewer a test more costs as much as it saves */
};

typedef struct leaf {
    uint32_t node;
    bool inverted;
} leaf;

/* Bits of a slot in a tree. */
typedef struct bits {
    uint32_t slot;
    uint64_t mask, value;
} bits;

typedef struct tree {
    bool is_or;
    leaf leaves[MOST_LEAVES];
    uint32_t leaf_count;
    uint32_t inner[2 * MOST_LEAVES];
    uint32_t inner_count;
} tree;

static bool is_gate(const ls__node *node)
{
    return node->width == 1 && (node->op == LS__NODE_AND || node->op == LS__NODE_OR ||
                                node->op == LS__NODE_ANDN || node->op == LS__NODE_NOT);
}

/* Whether the node has one user, which is in its block, which is being written. */
static bool is_inner(const ls__emitter *e, uint32_t node)
{
    return e->plan->block_of[node] == e->block && !e->is_result[node] && e->uses[node] == 1;
}

static void collect(const ls__emitter *e, uint32_t index, bool inverted, tree *t);

/* Adds what the gate joins; false when it does not join like the tree. */
static bool join(const ls__emitter *e, uint32_t index, bool inverted, tree *t)
{
    const ls__node *node = &e->g->nodes[index];
    if (!is_gate(node))
        return false;
    if (node->op != LS__NODE_NOT && (node->op == LS__NODE_OR) == (t->is_or == inverted))
        return false;
    collect(e, node->operands[0].index, inverted != (node->op == LS__NODE_NOT), t);
    if (node->op != LS__NODE_NOT)
        collect(e, node->operands[1].index, inverted != (node->op == LS__NODE_ANDN), t);
    return true;
}

static void collect(const ls__emitter *e, uint32_t index, bool inverted, tree *t)
{
    if (is_inner(e, index) && t->inner_count < MOST_LEAVES) {
        uint32_t number = t->inner_count++;
        if (join(e, index, inverted, t)) {
            t->inner[number] = index;
            return;
        }
        t->inner_count--;
    }
    if (t->leaf_count < MOST_LEAVES)
        t->leaves[t->leaf_count] = (leaf){index, inverted};
    t->leaf_count++;
}

/* The tree whose last gate is `root`, when it is one that can be written. */
static bool find_tree(const ls__emitter *e, uint32_t root, tree *t)
{
    *t = (tree){.is_or = e->g->nodes[root].op == LS__NODE_OR};
    return e->g->nodes[root].op != LS__NODE_NOT && join(e, root, false, t) &&
           t->leaf_count <= MOST_LEAVES;
}

/* --- bits of one slot ------------------------------------------------------------------------- */

/* The slot of a bit that lies among others, and is read from there. */
static bool is_in_word(const ls__emitter *e, uint32_t node, ls__place *place)
{
    uint32_t carrier = e->plan->carrier_of[node];
    if (e->plan->block_of[node] == e->block || carrier == UINT32_MAX ||
        e->plan->carriers.items[carrier].nodes.count == 1)
        return false;
    *place = e->form->places[node];
    return true;
}

/* Gathers the bits of leaf `first` and those behind it that are in the same slot; takes these from
 * the list when they are many. */
static bool gather(const ls__emitter *e, tree *t, uint32_t first, bits *b)
{
    ls__place place, other;
    uint8_t taken[MOST_LEAVES] = {0};
    uint32_t count = 0, kept = 0;
    *b = (bits){0};
    if (!is_in_word(e, t->leaves[first].node, &place))
        return false;
    b->slot = place.slot;
    for (uint32_t i = first; i < t->leaf_count; i++) {
        if (!is_in_word(e, t->leaves[i].node, &other) || other.slot != place.slot)
            continue;
        uint64_t bit = UINT64_C(1) << other.bit;
        uint64_t value = t->leaves[i].inverted == t->is_or ? bit : 0;
        if ((b->mask & bit) && (b->value & bit) != value)
            continue;
        count += !(b->mask & bit);
        b->mask |= bit;
        b->value |= value;
        taken[i] = 1;
    }
    if (count < LEAST_BITS)
        return false;
    for (uint32_t i = first; i < t->leaf_count; i++)
        if (!taken[i])
            t->leaves[first + kept++] = t->leaves[i];
    t->leaf_count = first + kept;
    return true;
}

void ls__find_trees(ls__emitter *e, uint32_t first, uint32_t end)
{
    for (uint32_t i = end; i-- > first;) {
        uint32_t root = e->plan->order[i];
        tree t;
        bits b;
        if (e->role[root] != LS__ROLE_NONE || !is_gate(&e->g->nodes[root]) ||
            !find_tree(e, root, &t))
            continue;
        for (uint32_t k = 0; k < t.leaf_count && e->role[root] == LS__ROLE_NONE; k++)
            if (gather(e, &t, k, &b))
                e->role[root] = LS__ROLE_TREE;
        for (uint32_t k = 0; k < t.inner_count && e->role[root] == LS__ROLE_TREE; k++)
            e->role[t.inner[k]] = LS__ROLE_INNER;
    }
}

void ls__emit_tree(ls__emitter *e, uint32_t root)
{
    tree t;
    bits b, found[MOST_LEAVES];
    uint32_t count = 0;
    find_tree(e, root, &t);
    for (uint32_t k = 0; k < t.leaf_count;) {
        if (gather(e, &t, k, &b))
            found[count++] = b;
        else
            k++;
    }
    for (uint32_t k = 0; k < t.leaf_count; k++)
        ls__emit_load(e, t.leaves[k].node);
    /* One comparison: several would become branches, and badly predicted ones. */
    const char *between = "";
    ls__strbuf_printf(e->text, "u64 n%" PRIu32 " = (u64)((", root);
    for (uint32_t k = 0; k < count; k++, between = " | ")
        ls__strbuf_printf(e->text, "%s((s[%" PRIu32 "] & %" PRIu64 "ul) ^ %" PRIu64 "ul)", between,
                          found[k].slot, found[k].mask, found[k].value);
    for (uint32_t k = 0; k < t.leaf_count; k++, between = " | ") {
        const char *open = k == 0 ? "(" : "", *invert = t.leaves[k].inverted == t.is_or ? "~" : "";
        ls__strbuf_printf(e->text, "%s%s%s", between, open, invert);
        ls__emit_value(e, t.leaves[k].node, false);
    }
    ls__strbuf_printf(e->text, "%s) %s 0ul);\n", t.leaf_count ? ") & 1ul" : "",
                      t.is_or ? "!=" : "==");
    e->loose[root] = 0;
    e->defined[root] = e->block + 1;
}
