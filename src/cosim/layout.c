/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in the state that do not depend on the form, and what is looked at after each edge: parts
 * of outputs, traced nodes, pins of peripherals.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"
#include "netlist/netlist.h"

/* Calls `each` for the parts of bits [bit, bit + width) of a signal: `lsb` is in the node, `at`
 * counts from `bit`. */
typedef void piece_visitor(void *context, ls__node_id node, uint8_t lsb, uint8_t width,
                           uint32_t at);
static void visit_pieces(const ls__graph_signal *s, uint32_t bit, uint32_t width,
                         piece_visitor *each, void *context)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < s->piece_count; i++) {
        const ls__piece *p = &s->pieces[i];
        uint32_t low = start > bit ? start : bit;
        uint32_t high = start + p->width < bit + width ? start + p->width : bit + width;
        if (low < high)
            each(context, p->node, (uint8_t)(p->lsb + (low - start)), (uint8_t)(high - low),
                 low - bit);
        start += p->width;
    }
}

/* --- outputs -------------------------------------------------------------------------------- */

static ls_status observe_outputs(const ls__graph *g, ls__layout *l, ls_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->port_count; i++)
        if (g->signals[i].direction == LS__DIRECTION_OUTPUT)
            count += g->signals[i].piece_count;
    l->observed = ls__mem_alloc(count + 1, sizeof *l->observed);
    if (!l->observed)
        return ls__fail_oom(error, count * sizeof *l->observed);
    for (uint32_t i = 0; i < g->port_count; i++) {
        const ls__graph_signal *s = &g->signals[i];
        for (uint32_t p = 0; s->direction == LS__DIRECTION_OUTPUT && p < s->piece_count; p++)
            l->observed[l->observed_count++] = (ls__observed){s->pieces[p].node, s->pieces[p].lsb,
                                                              ls__node_mask(s->pieces[p].width)};
    }
    return LS_OK;
}

/* --- peripherals ------------------------------------------------------------------------------ */

typedef struct pin_context {
    ls__layout *layout;
    uint32_t pin;
} pin_context;

static void add_pin_piece(void *context, ls__node_id node, uint8_t lsb, uint8_t width, uint32_t at)
{
    pin_context *c = context;
    c->layout->pieces[c->layout->piece_count++] =
        (ls__pin_piece){c->pin, node, lsb, (uint8_t)at, ls__node_mask(width)};
}

static ls_status add_pin(ls_cosim *cosim, const ls__peripheral *owner,
                         const ls__peripheral_pin *pin, uint32_t number, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    ls__layout *l = &cosim->layout;
    ls_signal_ref ref = pin->signal;
    if (ref.signal >= g->signal_count || ref.bit > g->signals[ref.signal].width ||
        ref.width > g->signals[ref.signal].width - ref.bit)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "peripheral '%s': pin '%s' is connected to bits that no signal has",
                        owner->name, pin->name);
    pin_context context = {l, number};
    visit_pieces(&g->signals[ref.signal], ref.bit, ref.width, add_pin_piece, &context);
    if (!pin->drives)
        return LS_OK;
    ls__input_part parts[LS__INPUT_PARTS];
    uint32_t count = 0;
    ls_status status = ls__input_parts(g, ref, parts, &count, error);
    if (status != LS_OK)
        return ls__fail(error, status,
                        "peripheral '%s': pin '%s' drives '%s', which is not an input of the top",
                        owner->name, pin->name, g->signals[ref.signal].name);
    for (uint32_t i = 0; i < count; i++)
        l->drives[l->drive_count++] = (ls__pin_drive){number, parts[i]};
    return LS_OK;
}

static ls_status place_peripherals(ls_cosim *cosim, ls_error *error)
{
    const ls__peripherals *all = cosim->peripherals;
    ls__layout *l = &cosim->layout;
    for (uint32_t i = 0; i < all->count; i++)
        l->pin_count += all->items[i].pin_count;
    l->pieces = ls__mem_alloc((size_t)l->pin_count * 64 + 1, sizeof *l->pieces);
    l->drives = ls__mem_alloc((size_t)l->pin_count * 64 + 1, sizeof *l->drives);
    l->private_at = ls__mem_alloc(all->count + 1, sizeof *l->private_at);
    if (!l->pieces || !l->drives || !l->private_at)
        return ls__fail_oom(error, (size_t)l->pin_count * 64 * sizeof *l->pieces);
    uint32_t number = 0;
    uint64_t words = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const ls__peripheral *item = &all->items[i];
        for (uint32_t j = 0; j < item->pin_count; j++, number++) {
            ls_status status = add_pin(cosim, item, &item->pins[j], number, error);
            if (status != LS_OK)
                return status;
        }
        l->private_at[i] = (uint32_t)words;
        words += item->memory_words;
        if (words > UINT32_MAX / 4)
            return ls__fail(error, LS_E_LIMIT, "the memory of all peripherals is 4 GiB or more");
    }
    l->private_words = (uint32_t)words;
    return LS_OK;
}

/* --- places ----------------------------------------------------------------------------------- */

/* Inputs that only clocks read need no evaluation when they change. */
static void find_active_inputs(const ls__graph *g, ls__layout *l)
{
    for (uint32_t n = 0; n < g->node_count; n++) {
        const ls__node *node = &g->nodes[n];
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++) {
            const ls__node *operand = &g->nodes[node->operands[k].index];
            if (operand->op == LS__NODE_INPUT)
                l->input_active[operand->imm / 64] |= UINT64_C(1) << (operand->imm % 64);
        }
    }
}

/* Instances often read words of one number together: an odd number of cache lines between them
 * spreads these over the sets of a cache. */
static uint64_t step_of(uint64_t words)
{
    enum { LINE = 8 };
    return words < 64 ? words : ((words + LINE - 1) / LINE | 1) * LINE;
}

static uint32_t take(uint32_t *next, uint32_t count)
{
    uint32_t at = *next;
    *next += count;
    return at;
}

static void place_effects(const ls__graph *g, ls__layout *l)
{
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        l->effect_reserve += (2 + e->argument_count) * (g->has_derived ? 3 : 1) +
                             (e->domain_count ? 0 : 2 + e->argument_count);
        l->effect_previous_at[i] = l->effect_previous_count;
        if (e->domain_count == 0)
            l->effect_previous_count += 2 + e->argument_count;
    }
}

ls_status ls__layout_create(ls_cosim *cosim, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    ls__layout *l = &cosim->layout;
    l->effect_previous_at = ls__mem_alloc(g->effect_count + 1, sizeof(uint32_t));
    l->memory_at = ls__mem_alloc(g->memory_count + 1, sizeof(uint64_t));
    l->input_active = ls__mem_alloc(g->input_count / 64 + 1, sizeof(uint64_t));
    if (!l->effect_previous_at || !l->memory_at || !l->input_active)
        return ls__fail_oom(error, g->memory_count * sizeof(uint64_t));
    ls_status status = observe_outputs(g, l, error);
    if (status == LS_OK)
        status = place_peripherals(cosim, error);
    if (status != LS_OK)
        return status;
    find_active_inputs(g, l);
    place_effects(g, l);
    for (uint32_t i = 0; i < g->memory_count; i++) {
        l->memory_at[i] = l->memory_words;
        l->memory_words += (uint64_t)g->memories[i].depth * g->memories[i].limbs;
    }
    l->memory_step = step_of(l->memory_words);
    if (l->memory_words > UINT32_MAX)
        return ls__fail(error, LS_E_LIMIT, "memories of the design have more than 2^32 words");
    for (uint32_t n = 0; n < g->node_count; n++)
        l->loop_count += (g->nodes[n].flags & LS__NODE_LOOP) != 0;
    uint32_t next = LS__CONTROL_SLOTS;
    l->pins = take(&next, l->pin_count);
    l->pending = take(&next, (l->drive_count + 63) / 64);
    l->seen = take(&next, g->domain_count);
    l->triggered = take(&next, (g->domain_count + 63) / 64);
    l->input_dirty = take(&next, (g->input_count + 63) / 64);
    l->outputs = take(&next, l->observed_count);
    l->effect_previous = take(&next, l->effect_previous_count);
    l->loop_previous = take(&next, l->loop_count);
    l->inputs = take(&next, g->input_count);
    l->common = next;
    return LS_OK;
}

void ls__layout_destroy(ls__layout *l)
{
    ls__mem_free(l->observed);
    ls__mem_free(l->drives);
    ls__mem_free(l->pieces);
    ls__mem_free(l->effect_previous_at);
    ls__mem_free(l->memory_at);
    ls__mem_free(l->private_at);
    ls__mem_free(l->input_active);
    *l = (ls__layout){0};
}
