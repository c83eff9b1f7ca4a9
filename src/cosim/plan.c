/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a graph into blocks, and finding places for what they keep (plan.h). */
#include "cosim/plan.h"

#include <string.h>

typedef struct planner {
    const ls_cosim *cosim;
    const ls__graph *g;
    const ls__plan_params *params;
    ls__form *form;
    ls__arena *arena;
    ls__cosim_cut *plan;
    uint8_t *visited;
    uint8_t *is_plain; /* by node: needs a slot of its own */
    uint8_t *is_kept;
    uint8_t *is_root; /* ends a cone */
    uint32_t *main_order;
    uint32_t main_count;
    LS__VEC(uint32_t) stack;
} planner;

static bool is_evaluated(const ls__node *node)
{
    return node->op != LS__NODE_CONST && node->op != LS__NODE_INPUT && node->op != LS__NODE_REG;
}

/* --- order ------------------------------------------------------------------------------------ */

static void append(planner *p, uint32_t node)
{
    if (p->g->nodes[node].flags & LS__NODE_EARLY)
        p->plan->order[p->plan->early_count++] = node;
    else
        p->main_order[p->main_count++] = node;
}

/* Appends what a node needs, then the node. LOOP nodes come at the end, by themselves. */
static void walk(planner *p, uint32_t root)
{
    ls__vec_push(p->arena, &p->stack, root);
    while (p->stack.count) {
        uint32_t n = p->stack.items[p->stack.count - 1];
        const ls__node *node = &p->g->nodes[n];
        bool is_leaf = !is_evaluated(node) || (node->flags & LS__NODE_LOOP);
        if (p->visited[n] == 2 || is_leaf) {
            p->stack.count--;
            if (node->flags & LS__NODE_LOOP)
                p->visited[n] = 2;
            continue;
        }
        if (p->visited[n] == 1) {
            p->visited[n] = 2;
            p->stack.count--;
            append(p, n);
            continue;
        }
        p->visited[n] = 1;
        for (uint32_t k = ls__node_operand_count(node->op); k-- > 0;)
            if (!p->visited[node->operands[k].index])
                ls__vec_push(p->arena, &p->stack, node->operands[k].index);
    }
    p->is_root[root] = 1;
}

static void require(planner *p, ls__node_id node)
{
    walk(p, node.index);
    p->is_kept[node.index] = 1;
}

static void require_plain(planner *p, ls__node_id node)
{
    require(p, node);
    p->is_plain[node.index] = 1;
}

static void walk_roots(planner *p)
{
    const ls__graph *g = p->g;
    for (uint32_t i = 0; i < g->reg_count; i++)
        walk(p, g->regs[i].next.index);
    for (uint32_t i = 0; i < g->initial_count; i++) /* registers and latches are always right */
        walk(p, g->initials[i].node.index);
    for (uint32_t i = 0; i < g->domain_count; i++)
        require_plain(p, g->domains[i].clock);
    for (uint32_t i = 0; i < g->write_count; i++) {
        require(p, g->writes[i].address);
        for (uint32_t k = 0; k < g->memories[g->writes[i].memory].limbs; k++) {
            require(p, g->writes[i].enables[k]);
            require(p, g->writes[i].data[k]);
        }
    }
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        require_plain(p, e->enable);
        if (e->kind == 1 || e->kind == 2)
            require_plain(p, e->condition);
        for (uint32_t k = 0; k < e->argument_count; k++)
            require_plain(p, e->arguments[k]);
    }
    for (uint32_t i = 0; i < p->cosim->layout.observed_count; i++)
        require(p, p->cosim->layout.observed[i].node);
    for (uint32_t i = 0; i < p->cosim->layout.piece_count; i++)
        require(p, p->cosim->layout.pieces[i].node);
    for (uint32_t i = 0; i < p->cosim->params.trace_count; i++) {
        const ls__graph_signal *s = &g->signals[p->cosim->params.trace[i]];
        for (uint32_t k = 0; k < s->piece_count; k++)
            require(p, s->pieces[k].node);
    }
}

/* LOOP nodes are evaluated last; what only they need comes before. */
static void append_loops(planner *p, bool early)
{
    const ls__graph *g = p->g;
    for (uint32_t n = 0; n < g->node_count; n++)
        if ((g->nodes[n].flags & LS__NODE_LOOP) &&
            early == ((g->nodes[n].flags & LS__NODE_EARLY) != 0)) {
            append(p, n);
            p->is_root[n] = 1;
            p->is_plain[n] = 1;
        }
}

static void find_order(planner *p)
{
    const ls__graph *g = p->g;
    walk_roots(p);
    for (uint32_t n = 0; n < g->node_count; n++)
        for (uint32_t k = 0; (g->nodes[n].flags & LS__NODE_LOOP) && k < 2; k++)
            walk(p, g->nodes[n].operands[k].index);
    append_loops(p, true);
    append_loops(p, false);
    memcpy(p->plan->order + p->plan->early_count, p->main_order,
           p->main_count * sizeof *p->main_order);
    p->plan->order_count = p->plan->early_count + p->main_count;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* What an operation adds to the length of a block, about: what few instructions do counts 1. */
static uint32_t cost_of_operation(ls__node_op op)
{
    switch (op) {
    case LS__NODE_MUX:
    case LS__NODE_SEXT:
    case LS__NODE_HOLD:
        return 2;
    case LS__NODE_SHL:
    case LS__NODE_SHR:
    case LS__NODE_SLT:
    case LS__NODE_SLE:
    case LS__NODE_UDIV:
    case LS__NODE_UMOD:
    case LS__NODE_MULHI:
        return 4;
    case LS__NODE_SAR:
    case LS__NODE_MEM:
        return 6;
    default:
        return 1;
    }
}

static uint32_t cost_of(const planner *p, uint32_t node)
{
    if (!p->params->cluster_nodes)
        return 1;
    uint32_t kept = p->is_root[node] ? 4 : 0;
    return kept + cost_of_operation((ls__node_op)p->g->nodes[node].op);
}

/* A block ends where a cone does once it is nearly full, and anyway when it is full. */
static void cut(planner *p)
{
    ls__cosim_cut *plan = p->plan;
    uint32_t limit = p->params->block_nodes, size = 0;
    uint32_t enough = p->params->cluster_nodes ? limit / 4 * 3 : limit / 2;
    ls__plan_block *block = NULL;
    for (uint32_t i = 0; i < plan->order_count; i++) {
        uint32_t n = plan->order[i], cost = cost_of(p, n);
        bool loop = p->g->nodes[n].flags & LS__NODE_LOOP;
        bool after_root = i && p->is_root[plan->order[i - 1]];
        if (!block || i == plan->early_count || loop || size + cost > limit ||
            (after_root && size >= enough)) {
            block = &plan->blocks[plan->block_count++];
            block->first = i;
            size = 0;
        }
        size += cost;
        if (i < plan->early_count)
            plan->early_blocks = plan->block_count;
        block->end = i + 1;
        plan->block_of[n] = plan->block_count - 1;
    }
}

/* Blocks of a cluster follow one another. */
static void find_clusters(planner *p)
{
    ls__cosim_cut *plan = p->plan;
    plan->cluster_of = LS__NEW_ARRAY(p->arena, uint32_t, plan->block_count + 1);
    uint32_t size = 0;
    for (uint32_t b = 0; b < plan->block_count; b++) {
        size += plan->blocks[b].end - plan->blocks[b].first;
        if (b == 0 || b == plan->early_blocks || size > p->params->cluster_nodes) {
            size = plan->blocks[b].end - plan->blocks[b].first;
            plan->cluster_count++;
        }
        plan->cluster_of[b] = plan->cluster_count - 1;
        if (b < plan->early_blocks)
            plan->early_clusters = plan->cluster_count;
    }
}

static void find_kept(planner *p)
{
    const ls__graph *g = p->g;
    for (uint32_t i = 0; i < p->plan->order_count; i++) {
        uint32_t n = p->plan->order[i];
        const ls__node *node = &g->nodes[n];
        if (node->op == LS__NODE_HOLD)
            p->is_kept[n] = p->is_plain[n] = 1;
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++) {
            uint32_t operand = node->operands[k].index;
            if (p->plan->block_of[operand] != p->plan->block_of[n])
                p->is_kept[operand] = 1;
        }
        if (node->op == LS__NODE_MEM) {
            ls__plan_block *block = &p->plan->blocks[p->plan->block_of[n]];
            uint32_t memory = (uint32_t)node->imm;
            bool known = false;
            for (uint32_t k = 0; k < block->memories.count; k++)
                known = known || block->memories.items[k] == memory;
            if (!known)
                ls__vec_push(p->arena, &block->memories, memory);
        }
    }
}

/* --- carriers --------------------------------------------------------------------------------- */

static uint32_t add_carrier(planner *p, ls__carrier_kind kind, uint32_t block)
{
    ls__carrier carrier = {.kind = kind, .block = block};
    ls__vec_push(p->arena, &p->plan->carriers, carrier);
    return p->plan->carriers.count - 1;
}

static void carry(planner *p, uint32_t carrier, uint32_t node)
{
    ls__carrier *c = &p->plan->carriers.items[carrier];
    p->form->places[node].bit = c->bits;
    p->plan->carrier_of[node] = carrier;
    ls__vec_push(p->arena, &c->nodes, node);
    c->bits += p->g->nodes[node].width;
}

static bool is_packed(const planner *p, uint32_t node)
{
    return p->g->nodes[node].width == 1 && !p->is_plain[node];
}

static void carry_blocks(planner *p)
{
    for (uint32_t b = 0; b < p->plan->block_count; b++) {
        ls__plan_block *block = &p->plan->blocks[b];
        uint32_t packed = UINT32_MAX;
        for (uint32_t i = block->first; i < block->end; i++) {
            uint32_t n = p->plan->order[i];
            if (!p->is_kept[n])
                continue;
            uint32_t carrier = packed;
            if (p->params->cluster_nodes || !is_packed(p, n)) {
                carrier = add_carrier(
                    p, p->g->nodes[n].op == LS__NODE_HOLD ? LS__CARRIER_HOLD : LS__CARRIER_OUT, b);
                ls__vec_push(p->arena, &block->carriers, carrier);
            } else if (packed == UINT32_MAX || p->plan->carriers.items[packed].bits == 64) {
                carrier = packed = add_carrier(p, LS__CARRIER_OUT, b);
                ls__vec_push(p->arena, &block->carriers, carrier);
            }
            carry(p, carrier, n);
        }
    }
    for (uint32_t n = 0; n < p->g->node_count; n++)
        if (p->g->nodes[n].op == LS__NODE_INPUT)
            carry(p, add_carrier(p, LS__CARRIER_REGISTER, LS__NO_BLOCK), n);
}

/* The group of registers with this clock and source block; `last` speeds up looking. */
static uint32_t find_group(planner *p, uint32_t *of_block, uint32_t domain, uint32_t block)
{
    uint32_t *known = &of_block[block == LS__NO_BLOCK ? p->plan->block_count : block];
    if (*known == UINT32_MAX) {
        ls__group group = {.block = block, .domain = domain};
        *known = p->plan->groups.count;
        ls__vec_push(p->arena, &p->plan->groups, group);
        if (block != LS__NO_BLOCK)
            ls__vec_push(p->arena, &p->plan->blocks[block].groups, *known);
    }
    return *known;
}

static void add_pair(planner *p, ls__group *group, uint32_t carrier, uint32_t source)
{
    ls__pair pair = {.carrier = carrier};
    ls__vec_push(p->arena, &pair.sources, source);
    ls__vec_push(p->arena, &group->pairs, pair);
}

static void group_register(planner *p, uint32_t *of_block, const ls__reg *reg)
{
    const ls__graph *g = p->g;
    uint32_t node = reg->node.index, next = reg->next.index;
    uint32_t number = find_group(p, of_block, reg->domain, p->plan->block_of[next]);
    ls__group *group = &p->plan->groups.items[number];
    if (g->nodes[node].op == LS__NODE_HOLD) {
        add_pair(p, group, p->plan->carrier_of[node], next);
        return;
    }
    ls__pair *last = NULL;
    for (uint32_t i = group->pairs.count; is_packed(p, node) && i-- > 0;) {
        ls__carrier *c = &p->plan->carriers.items[group->pairs.items[i].carrier];
        if (c->kind == LS__CARRIER_REGISTER && c->bits < 64 && is_packed(p, c->nodes.items[0])) {
            last = &group->pairs.items[i];
            break;
        }
    }
    if (last) {
        carry(p, last->carrier, node);
        ls__vec_push(p->arena, &last->sources, next);
        return;
    }
    uint32_t carrier = add_carrier(p, LS__CARRIER_REGISTER, LS__NO_BLOCK);
    carry(p, carrier, node);
    add_pair(p, group, carrier, next);
}

static void group_registers(planner *p)
{
    const ls__graph *g = p->g;
    ls__cosim_cut *plan = p->plan;
    uint32_t *of_block = LS__NEW_ARRAY(p->arena, uint32_t, plan->block_count + 1);
    plan->domain_groups = LS__NEW_ARRAY(p->arena, uint32_t, g->domain_count + 1);
    for (uint32_t d = 0; d < g->domain_count; d++) {
        plan->domain_groups[d] = plan->groups.count;
        memset(of_block, 0xff, (plan->block_count + 1) * sizeof *of_block);
        for (uint32_t i = 0; i < g->reg_count; i++)
            if (g->regs[i].domain == d)
                group_register(p, of_block, &g->regs[i]);
    }
    plan->domain_groups[g->domain_count] = plan->groups.count;
    /* REG nodes that nothing sets */
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].op == LS__NODE_REG && plan->carrier_of[n] == UINT32_MAX)
            carry(p, add_carrier(p, LS__CARRIER_REGISTER, LS__NO_BLOCK), n);
}

/* --- readers ---------------------------------------------------------------------------------- */

static bool is_in_cluster(const ls__cosim_cut *plan, uint32_t node, uint32_t block)
{
    uint32_t own = plan->block_of[node];
    return own != LS__NO_BLOCK && plan->cluster_of[own] == plan->cluster_of[block];
}

static void add_reader(planner *p, uint32_t node, uint32_t block)
{
    uint32_t number = p->plan->carrier_of[node];
    if (number == UINT32_MAX)
        return;
    ls__carrier *c = &p->plan->carriers.items[number];
    uint64_t need = ls__node_mask(p->g->nodes[node].width) << p->form->places[node].bit;
    if (c->readers.count && p->plan->cluster_of[c->readers.items[c->readers.count - 1].block] ==
                                p->plan->cluster_of[block]) {
        c->readers.items[c->readers.count - 1].need |= need;
        return;
    }
    ls__reader reader = {block, need};
    ls__vec_push(p->arena, &c->readers, reader);
}

static void find_readers(planner *p)
{
    for (uint32_t b = 0; b < p->plan->block_count; b++)
        for (uint32_t i = p->plan->blocks[b].first; i < p->plan->blocks[b].end; i++) {
            const ls__node *node = &p->g->nodes[p->plan->order[i]];
            for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++) {
                uint32_t operand = node->operands[k].index;
                if (!is_in_cluster(p->plan, operand, b) || operand == p->plan->order[i] ||
                    (p->g->nodes[operand].flags & LS__NODE_LOOP))
                    add_reader(p, operand, b);
            }
        }
}

static void observe(planner *p, ls__node_id node, uint64_t mask)
{
    uint32_t number = p->plan->carrier_of[node.index];
    if (number == UINT32_MAX)
        return;
    ls__carrier *c = &p->plan->carriers.items[number];
    if (!c->observed)
        c->observer = p->plan->observer_count++;
    c->observed |= mask << p->form->places[node.index].bit;
}

static void find_observed(planner *p)
{
    const ls__layout *l = &p->cosim->layout;
    for (uint32_t i = 0; i < l->observed_count; i++)
        observe(p, l->observed[i].node, l->observed[i].mask << l->observed[i].lsb);
    for (uint32_t i = 0; i < p->cosim->params.trace_count; i++) {
        const ls__graph_signal *s = &p->g->signals[p->cosim->params.trace[i]];
        for (uint32_t k = 0; k < s->piece_count; k++)
            observe(p, s->pieces[k].node, ls__node_mask(s->pieces[k].width) << s->pieces[k].lsb);
    }
}

/* What only blocks of a cluster read from memory. */
static void find_loose(planner *p)
{
    for (uint32_t i = 0; i < p->plan->carriers.count; i++) {
        ls__carrier *c = &p->plan->carriers.items[i];
        c->loose = c->kind == LS__CARRIER_OUT && c->bits == 1 && c->readers.count == 0 &&
                   !c->observed && !p->is_plain[c->nodes.items[0]];
    }
}

/* --- places ----------------------------------------------------------------------------------- */

static void place(planner *p)
{
    ls__cosim_cut *plan = p->plan;
    uint32_t next = p->cosim->layout.common;
    plan->dirty = next;
    uint32_t late = plan->cluster_count - plan->early_clusters;
    plan->dirty_words = (plan->early_clusters + LS__WORD_BLOCKS - 1) / LS__WORD_BLOCKS +
                        (late + LS__WORD_BLOCKS - 1) / LS__WORD_BLOCKS;
    next += plan->dirty_words;
    plan->pending = next;
    for (uint32_t d = 0; d < p->g->domain_count; d++) {
        uint32_t first = plan->domain_groups[d], count = plan->domain_groups[d + 1] - first;
        for (uint32_t i = 0; i < count; i++) {
            plan->groups.items[first + i].pending = next + i / 64;
            plan->groups.items[first + i].pending_bit = i % 64;
        }
        next += (count + 63) / 64;
    }
    plan->pending_words = next - plan->pending;
    plan->observers = next;
    plan->observer_words = (plan->observer_count + 63) / 64;
    next += plan->observer_words;
    for (uint32_t i = 0; i < plan->carriers.count; i++) {
        ls__carrier *c = &plan->carriers.items[i];
        const ls__node *first = &p->g->nodes[c->nodes.items[0]];
        c->slot =
            first->op == LS__NODE_INPUT ? p->cosim->layout.inputs + (uint32_t)first->imm : next++;
        for (uint32_t k = 0; k < c->nodes.count; k++)
            p->form->places[c->nodes.items[k]].slot = c->slot;
    }
    for (uint32_t i = 0; i < plan->groups.count; i++)
        for (uint32_t k = 0; k < plan->groups.items[i].pairs.count; k++)
            plan->groups.items[i].pairs.items[k].next = next++;
    /* Constants that someone reads from a slot. */
    for (uint32_t n = 0; n < p->g->node_count; n++)
        if (p->g->nodes[n].op == LS__NODE_CONST && p->is_kept[n])
            p->form->places[n] = (ls__place){next++, 0};
    p->form->slot_count = next;
}

ls__cosim_cut *ls__cosim_cut_create(const ls_cosim *cosim, const ls__plan_params *params,
                                    ls__form *form, ls__arena *arena)
{
    const ls__graph *g = cosim->graph;
    size_t n = g->node_count + 1;
    ls__cosim_cut *plan = LS__NEW(arena, ls__cosim_cut);
    planner p = {
        .cosim = cosim, .g = g, .params = params, .form = form, .arena = arena, .plan = plan};
    p.visited = LS__NEW_ARRAY(arena, uint8_t, n);
    p.is_plain = LS__NEW_ARRAY(arena, uint8_t, n);
    p.is_kept = LS__NEW_ARRAY(arena, uint8_t, n);
    p.is_root = LS__NEW_ARRAY(arena, uint8_t, n);
    p.main_order = LS__NEW_ARRAY(arena, uint32_t, n);
    plan->order = LS__NEW_ARRAY(arena, uint32_t, n);
    plan->block_of = LS__NEW_ARRAY(arena, uint32_t, n);
    plan->carrier_of = LS__NEW_ARRAY(arena, uint32_t, n);
    memset(plan->block_of, 0xff, n * sizeof(uint32_t));
    memset(plan->carrier_of, 0xff, n * sizeof(uint32_t));
    for (size_t i = 0; i < n; i++)
        form->places[i] = (ls__place){LS__NO_SLOT, 0};
    find_order(&p);
    plan->blocks = LS__NEW_ARRAY(arena, ls__plan_block, plan->order_count + 1);
    cut(&p);
    find_clusters(&p);
    find_kept(&p);
    carry_blocks(&p);
    group_registers(&p);
    find_readers(&p);
    find_observed(&p);
    find_loose(&p);
    place(&p);
    form->block_count = plan->block_count;
    return plan;
}
