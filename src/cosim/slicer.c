/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, places and lists of the bit-sliced form (slicer.h). */
#include "cosim/slicer.h"

enum {
    FUNCTION_OPERATIONS = 150,
    ROWS_SETS = 3,
    MOST_CONDITIONAL = 32 /* islands; with more, all are evaluated always */
};

bool ls__slicer_is_island(const ls__graph *g, uint32_t node)
{
    const ls__node *n = &g->nodes[node];
    switch (n->op) {
    case LS__NODE_MEM:
    case LS__NODE_MULHI:
        return true;
    case LS__NODE_SHL:
    case LS__NODE_SHR:
    case LS__NODE_SAR:
        return n->width > 1 || g->nodes[n->operands[1].index].width > 1;
    case LS__NODE_MUL:
    case LS__NODE_UDIV:
    case LS__NODE_UMOD:
        return n->width > 1;
    default:
        return false;
    }
}

uint32_t ls__slicer_cost(const ls__graph *g, uint32_t node)
{
    const ls__node *n = &g->nodes[node];
    uint32_t a_width = ls__node_operand_count(n->op) ? g->nodes[n->operands[0].index].width : 1;
    uint32_t width = n->width > a_width ? n->width : a_width;
    if (ls__slicer_is_island(g, node))
        return 2000;
    return n->op == LS__NODE_ADD || n->op == LS__NODE_SUB ? width * 5 : width;
}

/* --- functions and places --------------------------------------------------------------------- */

static void divide(ls__slicer *s)
{
    uint32_t size = 0, islands = 0;
    bool alone = true;
    for (uint32_t i = 0; i < s->plan->order_count; i++)
        islands += ls__slicer_is_island(s->g, s->plan->order[i]);
    for (uint32_t i = 0; i < s->plan->order_count; i++) {
        uint32_t n = s->plan->order[i];
        bool island = ls__slicer_is_island(s->g, n);
        if (island || alone || i == s->plan->early_count || size > FUNCTION_OPERATIONS) {
            s->island_of[++s->functions] = LS__NO_SLOT;
            size = 0;
        }
        if (island && islands <= MOST_CONDITIONAL) {
            s->island_of[s->functions] = n;
            s->island[n] = ++s->islands;
        }
        s->function[n] = s->functions;
        if (i < s->plan->early_count)
            s->early_functions = s->functions;
        alone = island;
        size += ls__slicer_cost(s->g, n);
    }
}

static uint32_t take(ls__slicer *s, uint32_t count)
{
    uint32_t at = s->words;
    s->words += count;
    return at;
}

static void push(ls__slicer *s, ls__words *list, uint32_t word)
{
    ls__vec_push(s->arena, list, word);
}

static void push_entry(ls__slicer *s, ls__words *list, uint32_t at, uint32_t width, uint32_t slot,
                       uint32_t previous)
{
    push(s, list, ls__slicer_place(s, at));
    push(s, list, width);
    push(s, list, slot);
    push(s, list, ls__slicer_place(s, previous));
}

/* Gives a node words. */
static void keep(ls__slicer *s, uint32_t node)
{
    if (s->at[node] != LS__NO_SLOT)
        return;
    const ls__node *n = &s->g->nodes[node];
    s->at[node] = take(s, n->width);
    for (uint32_t b = 0; n->op == LS__NODE_CONST && b < n->width; b++) {
        push(s, &s->constants, ls__slicer_place(s, s->at[node] + b));
        push(s, &s->constants, (uint32_t)(n->imm >> b & 1));
    }
}

/* Gives a node words, and a slot in every instance. */
static void keep_slot(ls__slicer *s, uint32_t node)
{
    keep(s, node);
    ls__place *place = &s->form->places[node];
    if (place->slot != LS__NO_SLOT)
        return;
    place->slot = s->form->slot_count++;
    push_entry(s, &s->kept, s->at[node], ls__slicer_width(s, node), place->slot, 0);
}

static void keep_state(ls__slicer *s)
{
    const ls__graph *g = s->g;
    for (uint32_t i = 0; i < g->initial_count; i++) {
        uint32_t node = g->initials[i].node.index;
        keep_slot(s, node);
        push_entry(s, &s->packed, s->at[node], ls__slicer_width(s, node),
                   s->form->places[node].slot, 0);
    }
    for (uint32_t i = 0; i < g->input_count; i++) {
        uint32_t node = g->inputs[i].node.index;
        uint32_t slot = s->form->places[node].slot = s->cosim->layout.inputs + i;
        keep(s, node);
        push_entry(s, &s->packed, s->at[node], ls__slicer_width(s, node), slot, 0);
        push_entry(s, &s->kept, s->at[node], ls__slicer_width(s, node), slot, 0);
    }
    for (uint32_t i = 0; i < g->reg_count; i++)
        keep(s, g->regs[i].next.index);
    for (uint32_t i = 0; i < g->write_count; i++) {
        keep(s, g->writes[i].address.index);
        for (uint32_t k = 0; k < g->memories[g->writes[i].memory].limbs; k++) {
            keep(s, g->writes[i].enables[k].index);
            keep(s, g->writes[i].data[k].index);
        }
    }
}

/* What one function computes and another reads. */
static void keep_shared(ls__slicer *s)
{
    for (uint32_t i = 0; i < s->plan->order_count; i++) {
        uint32_t n = s->plan->order[i];
        const ls__node *node = &s->g->nodes[n];
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++) {
            uint32_t operand = node->operands[k].index;
            if (s->g->nodes[operand].op != LS__NODE_CONST &&
                (ls__slicer_is_island(s->g, n) || s->function[operand] != s->function[n] ||
                 (s->g->nodes[operand].flags & LS__NODE_LOOP)))
                keep(s, operand);
        }
        if (!ls__slicer_is_island(s->g, n))
            continue;
        keep(s, n);
        s->operands[n] = s->words;
        for (uint32_t k = 0; s->island[n] && k < ls__node_operand_count(node->op); k++)
            take(s, ls__slicer_width(s, node->operands[k].index));
    }
}

/* Gives what an effect reads a slot, which follows when the effect is due. */
static void keep_for_effect(ls__slicer *s, uint32_t node, bool is_free)
{
    keep_slot(s, node);
    push_entry(s, &s->effect_nodes, s->at[node], ls__slicer_width(s, node),
               s->form->places[node].slot, 0);
    for (uint32_t b = 0; is_free && b < ls__slicer_width(s, node); b++)
        push(s, &s->free_words, ls__slicer_place(s, s->at[node] + b));
    if (is_free)
        s->looked_at[node] = 1;
}

static void keep_effects(ls__slicer *s)
{
    const ls__graph *g = s->g;
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        bool is_free = e->domain_count == 0, has_condition = e->kind == 1 || e->kind == 2;
        keep_for_effect(s, e->enable.index, is_free);
        if (has_condition)
            keep_for_effect(s, e->condition.index, is_free);
        for (uint32_t k = 0; k < e->argument_count; k++)
            keep_for_effect(s, e->arguments[k].index, is_free);
        bool prevents = has_condition && ls__slicer_width(s, e->condition.index) == 1;
        push(s, &s->enables, ls__slicer_place(s, s->at[e->enable.index]));
        push(s, &s->enables,
             prevents ? ls__slicer_place(s, s->at[e->condition.index]) : UINT32_MAX);
    }
    s->free_previous = take(s, s->free_words.count);
}

/* Nodes at pins: their slots follow at every edge. */
static void keep_pin(ls__slicer *s, uint32_t node)
{
    uint32_t width = ls__slicer_width(s, node);
    if (s->g->nodes[node].op != LS__NODE_INPUT)
        keep_slot(s, node);
    if (s->previous[node])
        return;
    s->looked_at[node] = 1;
    s->previous[node] = take(s, width);
    push_entry(s, &s->mirrors, s->at[node], width, s->form->places[node].slot, s->previous[node]);
}

static void keep_pins(ls__slicer *s)
{
    const ls__layout *l = &s->cosim->layout;
    for (uint32_t i = 0; i < l->piece_count; i++)
        keep_pin(s, l->pieces[i].node.index);
    for (uint32_t i = 0; i < l->drive_count; i++)
        keep_pin(s, s->g->inputs[l->drives[i].part.input].node.index);
}

static void keep_observed(ls__slicer *s)
{
    const ls__graph *g = s->g;
    const ls__layout *l = &s->cosim->layout;
    for (uint32_t i = 0; i < l->observed_count; i++) {
        const ls__observed *o = &l->observed[i];
        uint32_t width = (uint32_t)__builtin_popcountll(o->mask);
        keep(s, o->node.index);
        s->looked_at[o->node.index] = 1;
        uint32_t previous = take(s, width);
        push_entry(s, &s->watched, s->at[o->node.index] + o->lsb, width, l->outputs + i, previous);
        push_entry(s, &s->packed, previous, width, l->outputs + i, 0);
        push_entry(s, &s->kept, previous, width, l->outputs + i, 0);
    }
    for (uint32_t i = 0; i < s->cosim->params.trace_count; i++) {
        const ls__graph_signal *signal = &g->signals[s->cosim->params.trace[i]];
        for (uint32_t k = 0; k < signal->piece_count; k++) {
            keep_slot(s, signal->pieces[k].node.index);
            s->looked_at[signal->pieces[k].node.index] = 1;
        }
    }
    for (uint32_t d = 0; d < g->domain_count; d++) {
        keep(s, g->domains[d].clock.index);
        push(s, &s->clocks, ls__slicer_place(s, s->at[g->domains[d].clock.index]));
        push(s, &s->clocks, g->domains[d].rising);
    }
}

static void list_inputs(ls__slicer *s)
{
    for (uint32_t i = 0; i < s->g->input_count; i++) {
        uint32_t node = s->g->inputs[i].node.index;
        bool is_read = s->cosim->layout.input_active[i / 64] >> (i % 64) & 1;
        push(s, &s->inputs, ls__slicer_place(s, s->at[node]));
        push(s, &s->inputs,
             (is_read ? LS__READ_BY_LOGIC : 0u) | (s->looked_at[node] ? LS__LOOKED_AT : 0u));
    }
}

/* What is traced, as slots in the order of form->traces: words, their number, the bits that count.
 */
void ls__slicer_list_traced(ls__slicer *s)
{
    const ls__traces *traces = &s->form->traces;
    uint32_t *of_slot = LS__NEW_ARRAY(s->arena, uint32_t, s->form->slot_count + 1);
    for (uint32_t n = 0; n < s->g->node_count; n++)
        if (s->form->places[n].slot != LS__NO_SLOT)
            of_slot[s->form->places[n].slot] = n;
    for (uint32_t i = 0; i < traces->count; i++) {
        uint32_t node = of_slot[traces->slots[i]];
        push(s, &s->traced, ls__slicer_place(s, s->at[node]));
        push(s, &s->traced, ls__slicer_width(s, node));
        push(s, &s->traced, (uint32_t)traces->masks[i]);
        push(s, &s->traced, (uint32_t)(traces->masks[i] >> 32));
    }
}

static void find_places(ls__slicer *s)
{
    for (uint32_t n = 0; n < s->g->node_count; n++) {
        s->at[n] = LS__NO_SLOT;
        s->form->places[n] = (ls__place){LS__NO_SLOT, 0};
    }
    s->form->slot_count = s->cosim->layout.common;
    s->changed = take(s, 1);
    s->need = take(s, 1);
    s->present = take(s, 1);
    s->halted = take(s, 1);
    s->evaluated = take(s, 1);
    s->stale = take(s, s->islands);
    s->rows = take(s, ROWS_SETS * 64);
    s->sums = take(s, 64);
    s->seen = take(s, s->g->domain_count);
    s->triggered = take(s, s->g->domain_count);
    keep_state(s);
    keep_shared(s);
    keep_effects(s);
    keep_pins(s);
    keep_observed(s);
    list_inputs(s);
    s->form->slice_words = s->words;
}

ls__slicer *ls__slicer_create(const ls_cosim *cosim, ls__form *form, ls__arena *arena)
{
    const ls__plan_params params = {.block_nodes = 64};
    size_t n = cosim->graph->node_count + 1;
    ls__slicer *s = LS__NEW(arena, ls__slicer);
    *s = (ls__slicer){.cosim = cosim,
                      .g = cosim->graph,
                      .form = form,
                      .plan = ls__cosim_cut_create(cosim, &params, form, arena),
                      .arena = arena,
                      .at = LS__NEW_ARRAY(arena, uint32_t, n),
                      .function = LS__NEW_ARRAY(arena, uint32_t, n),
                      .defined = LS__NEW_ARRAY(arena, uint32_t, n),
                      .loaded = LS__NEW_ARRAY(arena, uint32_t, n),
                      .previous = LS__NEW_ARRAY(arena, uint32_t, n),
                      .looked_at = LS__NEW_ARRAY(arena, uint8_t, n),
                      .island_of = LS__NEW_ARRAY(arena, uint32_t, n),
                      .island = LS__NEW_ARRAY(arena, uint32_t, n),
                      .operands = LS__NEW_ARRAY(arena, uint32_t, n),
                      .lanes = form->lanes};
    divide(s);
    find_places(s);
    return s;
}
