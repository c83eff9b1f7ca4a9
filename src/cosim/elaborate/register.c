/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers and latches. What the clock does (enable, resets) is worked into `next`; what acts
 * without it (asynchronous set and reset, load, the gate of a latch) makes the node a HOLD, whose
 * mask and value come from layers, the strongest last.
 *
 * `next` has the asynchronous controls, too, as the values before the step count: a reset that is
 * released together with an edge of the clock still holds for it.
 */
#include "cosim/elaborate/elaboration.h"

ls__node_id ls__state_create(ls__elaboration *e, ls__nets q, bool holds, ls__bits given)
{
    ls__word word = ls__word_new(&e->builder, q.count);
    for (uint32_t i = 0; i < ls__word_limbs(q.count); i++) {
        uint32_t width = ls__word_limb_width(q.count, i);
        ls__initial initial = {
            .node = ls__build_own(&e->builder, holds ? LS__NODE_HOLD : LS__NODE_REG, width, 0)};
        for (uint32_t k = 0; k < width; k++) {
            uint32_t bit = 64 * i + k, net = q.items[bit].index;
            uint32_t known = e->init ? e->init[net] : 0; /* 1 + value */
            if (given.count)
                known =
                    bit < given.count && given.items[bit] <= LS__BIT_1 ? 1u + given.items[bit] : 0;
            initial.known |= (uint64_t)(known != 0) << k;
            initial.value |= (uint64_t)(known == 1 + LS__BIT_1) << k;
        }
        ls__vec_push(&e->graph->arena, &e->initials, initial);
        word.limbs[i] = initial.node;
    }
    ls__net_assign(e, q, word);
    return word.limbs[0];
}

/* The limbs of state follow each other. */
static ls__word state_word(ls__elaboration *e, ls__node_id first, uint32_t width)
{
    ls__word word = ls__word_new(&e->builder, width);
    for (uint32_t i = 0; i < ls__word_limbs(width); i++)
        word.limbs[i] = (ls__node_id){first.index + i};
    return word;
}

ls__layer ls__state_layer(ls__elaboration *e, ls__node_id select, ls__word value)
{
    return (ls__layer){select, ls__word_spread(&e->builder, select, value.width), value};
}

ls__word ls__state_apply(ls__elaboration *e, ls__word word, const ls__layer *layers, uint32_t count)
{
    ls__builder *builder = &e->builder;
    for (uint32_t i = 0; i < count; i++) {
        const ls__layer *layer = &layers[i];
        if (!ls__node_same(layer->select, LS__NO_NODE)) {
            word = ls__word_mux(builder, layer->select, word, layer->value);
            continue;
        }
        ls__word kept = ls__word_bitwise(builder, LS__NODE_ANDN, word, layer->mask);
        ls__word set = ls__word_bitwise(builder, LS__NODE_AND, layer->value, layer->mask);
        word = ls__word_bitwise(builder, LS__NODE_OR, kept, set);
    }
    return word;
}

void ls__state_hold(ls__elaboration *e, ls__node_id first, const ls__layer *layers, uint32_t count)
{
    ls__builder *builder = &e->builder;
    ls__word mask = layers[0].mask;
    ls__word value = ls__state_apply(e, layers[0].value, layers + 1, count - 1);
    for (uint32_t i = 1; i < count; i++)
        mask = ls__word_bitwise(builder, LS__NODE_OR, mask, layers[i].mask);
    for (uint32_t k = 0; k < ls__word_limbs(mask.width); k++) {
        ls__node *node = &builder->nodes.items[first.index + k];
        node->operands[0] = mask.limbs[k];
        node->operands[1] = value.limbs[k];
        uint64_t constant;
        if (ls__builder_constant(builder, mask.limbs[k], &constant) && constant == 0)
            *node = (ls__node){.op = LS__NODE_REG, .width = node->width};
    }
}

void ls__state_clock(ls__elaboration *e, ls__node_id first, ls__word next, uint32_t domain)
{
    for (uint32_t i = 0; domain != UINT32_MAX && i < ls__word_limbs(next.width); i++) {
        ls__reg reg = {{first.index + i}, next.limbs[i], domain};
        ls__vec_push(&e->graph->arena, &e->regs, reg);
    }
}

uint32_t ls__state_domain(ls__elaboration *e, ls__net clock, bool rising)
{
    ls__node_id node = ls__net_bit(e, clock);
    while (ls__builder_node(&e->builder, node)->op == LS__NODE_NOT) {
        node = ls__builder_node(&e->builder, node)->operands[0];
        rising = !rising;
    }
    uint64_t value;
    if (ls__builder_constant(&e->builder, node, &value))
        return UINT32_MAX;
    uint32_t at = node.index * 2 + rising;
    while (e->domain_table.count <= at)
        ls__vec_push(&e->arena, &e->domain_table, 0);
    if (e->domain_table.items[at] == 0) {
        ls__domain domain = {node, rising};
        ls__vec_push(&e->graph->arena, &e->domains, domain);
        e->domain_table.items[at] = e->domains.count;
    }
    return e->domain_table.items[at] - 1;
}

/* Whether a control can become active at all, by its net. */
static bool is_live(ls__nets control, bool active_high)
{
    for (uint32_t i = 0; i < control.count; i++) {
        uint32_t net = control.items[i].index;
        if (net >= LS__NET_FIRST || (net == LS__NET_1) == active_high)
            return true;
    }
    return false;
}

static bool holds(const ls__register *r)
{
    return r->kind != LS__REGISTER_CLOCKED || is_live(r->arst, r->arst_high) ||
           is_live(r->aload, r->aload_high) || is_live(r->set, r->set_high) ||
           is_live(r->clear, r->clear_high);
}

ls_status ls__elaborate_registers(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    e->register_nodes = LS__NEW_ARRAY(&e->arena, ls__node_id, netlist->register_count);
    for (uint32_t i = 0; i < netlist->register_count; i++) {
        const ls__register *r = &netlist->registers[i];
        if (r->q.count == 0)
            continue;
        ls_status status = ls__net_drive(e, r->q, (ls__vertex){LS__VERTEX_STATE, 0}, r->name);
        if (status != LS_OK)
            return status;
        e->register_nodes[i] = ls__state_create(e, r->q, holds(r), (ls__bits){0});
    }
    return LS_OK;
}

/* A control as active high. */
static ls__node_id control_bit(ls__elaboration *e, ls__nets nets, bool high)
{
    ls__node_id bit = ls__net_bit(e, nets.items[0]);
    return high ? bit : ls__build_not(&e->builder, bit);
}

/* A control with a bit for each bit of the register. */
static ls__layer bit_layer(ls__elaboration *e, ls__nets nets, bool high, ls__word value)
{
    if (value.width == 1)
        return ls__state_layer(e, control_bit(e, nets, high), value);
    ls__word mask = ls__net_extended(e, nets, value.width, false);
    return (ls__layer){LS__NO_NODE, high ? mask : ls__word_not(&e->builder, mask), value};
}

/* What acts without the clock, the weakest first; the number of layers. */
static uint32_t collect_layers(ls__elaboration *e, const ls__register *r, ls__layer layers[5])
{
    ls__builder *builder = &e->builder;
    uint32_t width = r->q.count, count = 0;
    if (r->kind == LS__REGISTER_LATCH) {
        ls__node_id gate = r->enable.count ? control_bit(e, r->enable, r->enable_high)
                                           : ls__build_const(builder, 1, 1);
        layers[count++] = ls__state_layer(e, gate, ls__net_extended(e, r->d, width, false));
    }
    if (is_live(r->aload, r->aload_high))
        layers[count++] = ls__state_layer(e, control_bit(e, r->aload, r->aload_high),
                                          ls__net_extended(e, r->ad, width, false));
    if (is_live(r->arst, r->arst_high))
        layers[count++] = ls__state_layer(e, control_bit(e, r->arst, r->arst_high),
                                          ls__bits_word(e, r->arst_value, width));
    ls__word zeros = ls__word_const(builder, width, 0);
    if (is_live(r->set, r->set_high))
        layers[count++] = bit_layer(e, r->set, r->set_high, ls__word_not(builder, zeros));
    if (is_live(r->clear, r->clear_high))
        layers[count++] = bit_layer(e, r->clear, r->clear_high, zeros);
    return count;
}

/* What the register takes at an edge: enable and resets worked in, the controls without a clock as
 * they were before the step, too. */
static ls__word clocked_value(ls__elaboration *e, const ls__register *r, ls__word q,
                              const ls__layer *layers, uint32_t layer_count)
{
    ls__builder *builder = &e->builder;
    ls__word next = ls__net_extended(e, r->d, q.width, false);
    ls__word reset = next;
    bool has_reset = is_live(r->srst, r->srst_high);
    ls__node_id on = has_reset ? control_bit(e, r->srst, r->srst_high) : LS__NO_NODE;
    if (has_reset)
        reset = ls__bits_word(e, r->srst_value, q.width);
    if (has_reset && r->srst_needs_enable)
        next = ls__word_mux(builder, on, next, reset);
    if (r->enable.count)
        next = ls__word_mux(builder, control_bit(e, r->enable, r->enable_high), q, next);
    if (has_reset && !r->srst_needs_enable)
        next = ls__word_mux(builder, on, next, reset);
    return ls__state_apply(e, next, layers, layer_count);
}

void ls__elaborate_register_inputs(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    for (uint32_t i = 0; i < netlist->register_count; i++) {
        const ls__register *r = &netlist->registers[i];
        if (r->q.count == 0)
            continue;
        ls__node_id first = e->register_nodes[i];
        ls__layer layers[5];
        uint32_t count = collect_layers(e, r, layers);
        ls__word next = {0};
        uint32_t domain = UINT32_MAX;
        if (r->kind == LS__REGISTER_CLOCKED && r->clock.count)
            domain = ls__state_domain(e, r->clock.items[0], r->clock_rising);
        if (domain != UINT32_MAX)
            next = clocked_value(e, r, state_word(e, first, r->q.count), layers, count);
        if (holds(r))
            ls__state_hold(e, first, layers, count);
        ls__state_clock(e, first, next, domain);
    }
}
