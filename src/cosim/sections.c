/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the table that both forms read (kernels/driver.kc): clocks and registers, write
 * ports, effects, what is reported, pins. All places are slots of the form.
 */
#include <string.h>

#include "cosim/engine.h"

static void push(ls__words *t, ls__arena *arena, uint32_t word)
{
    ls__vec_push(arena, t, word);
}

static void push_wide(ls__words *t, ls__arena *arena, uint64_t value)
{
    push(t, arena, (uint32_t)value);
    push(t, arena, (uint32_t)(value >> 32));
}

/* Domains: clock, active value, first register, end. Registers: own slot, next. */
static void write_domains(const ls_cosim *cosim, ls__form *form, ls__words *t, ls__arena *arena)
{
    const ls__graph *g = cosim->graph;
    uint32_t *first = LS__NEW_ARRAY(arena, uint32_t, g->domain_count + 2);
    uint32_t *order = LS__NEW_ARRAY(arena, uint32_t, g->reg_count + 1);
    for (uint32_t i = 0; i < g->reg_count; i++)
        first[g->regs[i].domain + 2]++;
    for (uint32_t d = 0; d < g->domain_count; d++)
        first[d + 2] += first[d + 1];
    for (uint32_t i = 0; i < g->reg_count; i++)
        order[first[g->regs[i].domain + 1]++] = i;
    form->sections.domains = t->count;
    for (uint32_t d = 0; d < g->domain_count; d++) {
        push(t, arena, form->places[g->domains[d].clock.index].slot);
        push(t, arena, g->domains[d].rising);
        push(t, arena, first[d]);
        push(t, arena, first[d + 1]);
    }
    form->sections.regs = t->count;
    for (uint32_t i = 0; i < g->reg_count; i++) {
        push(t, arena, form->places[g->regs[order[i]].node.index].slot);
        push(t, arena, form->places[g->regs[order[i]].next.index].slot);
    }
}

/* Writes: domain, address, place of word 0, words, limbs, list of (enable, data). */
static void write_writes(const ls_cosim *cosim, ls__form *form, ls__words *t, ls__arena *arena)
{
    const ls__graph *g = cosim->graph;
    uint32_t *lists = LS__NEW_ARRAY(arena, uint32_t, g->write_count + 1);
    for (uint32_t i = 0; i < g->write_count; i++) {
        lists[i] = t->count;
        for (uint32_t k = 0; k < g->memories[g->writes[i].memory].limbs; k++) {
            push(t, arena, form->places[g->writes[i].enables[k].index].slot);
            push(t, arena, form->places[g->writes[i].data[k].index].slot);
        }
    }
    form->sections.writes = t->count;
    for (uint32_t i = 0; i < g->write_count; i++) {
        const ls__graph_write *w = &g->writes[i];
        push(t, arena, w->domain);
        push(t, arena, form->places[w->address.index].slot);
        push(t, arena, (uint32_t)cosim->layout.memory_at[w->memory]);
        push(t, arena, g->memories[w->memory].depth);
        push(t, arena, g->memories[w->memory].limbs);
        push(t, arena, lists[i]);
    }
}

/* Effects: kind, enable, condition, domains and their list (without domains: whether it is of an
 * initial block), arguments and their list, place of what they were. */
static void write_effects(const ls_cosim *cosim, ls__form *form, ls__words *t, ls__arena *arena)
{
    const ls__graph *g = cosim->graph;
    uint32_t *lists = LS__NEW_ARRAY(arena, uint32_t, g->effect_count * (size_t)2 + 1);
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        lists[2 * i] = t->count;
        for (uint32_t k = 0; k < e->domain_count; k++)
            push(t, arena, e->domains[k]);
        lists[2 * i + 1] = t->count;
        for (uint32_t k = 0; k < e->argument_count; k++)
            push(t, arena, form->places[e->arguments[k].index].slot);
    }
    form->sections.effects = t->count;
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        bool has_condition = e->kind == 1 || e->kind == 2;
        push(t, arena, e->kind);
        push(t, arena, form->places[e->enable.index].slot);
        push(t, arena, form->places[has_condition ? e->condition.index : e->enable.index].slot);
        push(t, arena, e->domain_count);
        push(t, arena, e->domain_count ? lists[2 * i] : e->is_initial);
        push(t, arena, e->argument_count);
        push(t, arena, lists[2 * i + 1]);
        push(t, arena, cosim->layout.effect_previous_at[i]);
    }
}

static void write_reports(const ls_cosim *cosim, ls__form *form, ls__words *t, ls__arena *arena)
{
    const ls__layout *l = &cosim->layout;
    form->sections.outputs = t->count;
    for (uint32_t i = 0; i < l->observed_count; i++) {
        push(t, arena, form->places[l->observed[i].node.index].slot);
        push(t, arena, l->observed[i].lsb + form->places[l->observed[i].node.index].bit);
        push_wide(t, arena, l->observed[i].mask);
    }
    form->sections.traces = t->count;
    for (uint32_t i = 0; i < form->traces.count; i++) {
        push(t, arena, form->traces.slots[i]);
        push_wide(t, arena, form->traces.masks[i]);
    }
}

static void write_pins(const ls_cosim *cosim, ls__form *form, ls__words *t, ls__arena *arena)
{
    const ls__layout *l = &cosim->layout;
    form->sections.drives = t->count;
    for (uint32_t i = 0; i < l->drive_count; i++) {
        const ls__pin_drive *d = &l->drives[i];
        push(t, arena, d->pin);
        push(t, arena, d->part.input);
        push_wide(t, arena, d->part.mask);
        push(t, arena, d->part.left);
        push(t, arena, d->part.right);
    }
}

void ls__sections_write(const ls_cosim *cosim, ls__form *form, ls__words *t, ls__arena *arena)
{
    const ls__graph *g = cosim->graph;
    write_domains(cosim, form, t, arena);
    write_writes(cosim, form, t, arena);
    write_effects(cosim, form, t, arena);
    write_reports(cosim, form, t, arena);
    write_pins(cosim, form, t, arena);
    form->sections.loops = t->count;
    for (uint32_t n = 0; n < g->node_count; n++) {
        if (!(g->nodes[n].flags & LS__NODE_LOOP))
            continue;
        push(t, arena, form->places[n].slot);
        push(t, arena, n);
    }
    form->sections.inputs = t->count;
    for (uint32_t w = 0; w < (g->input_count + 63) / 64; w++)
        push_wide(t, arena, cosim->layout.input_active[w]);
}
