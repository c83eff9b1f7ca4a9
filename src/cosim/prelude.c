/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Kernel C in front of a form: numbers of this run as macros, kernels/driver.kc, the sources of
 * the peripherals, and the function that steps them.
 */
#include <inttypes.h>

#include "cosim/engine.h"

static void define(ls__strbuf *text, const char *name, uint64_t value, const char *suffix)
{
    ls__strbuf_printf(text, "#define %s %" PRIu64 "%s\n", name, value, suffix);
}

static void write_places(const ls_cosim *cosim, const ls__form *form, ls__strbuf *text)
{
    const ls__layout *l = &cosim->layout;
    const ls__sections *s = &form->sections;
    const struct {
        const char *name;
        uint32_t value;
    } places[] = {{"PINS", l->pins},
                  {"PENDING", l->pending},
                  {"SEEN", l->seen},
                  {"TRIGGERED", l->triggered},
                  {"INPUTS", l->inputs},
                  {"INPUT_DIRTY", l->input_dirty},
                  {"OUTPUT_PREVIOUS", l->outputs},
                  {"EFFECT_PREVIOUS", l->effect_previous},
                  {"LOOP_PREVIOUS", l->loop_previous},
                  {"INPUT_WORDS", (cosim->graph->input_count + 63) / 64},
                  {"LANES", form->lanes},
                  {"WORKGROUPS", form->workgroups},
                  {"DRIVES", l->drive_count},
                  {"OUTPUTS", l->observed_count},
                  {"TRACES", form->traces.count},
                  {"DOMAINS", cosim->graph->domain_count},
                  {"WRITES", cosim->graph->write_count},
                  {"EFFECTS", cosim->graph->effect_count},
                  {"LOOPS", l->loop_count},
                  {"PERIPHERALS", cosim->peripherals->count},
                  {"DERIVED", cosim->graph->has_derived},
                  {"COMPAT", cosim->params.compat},
                  {"UNGATED", cosim->params.ungated},
                  {"STOP_ON_ASSERT", cosim->params.stop_on_assert},
                  {"T_DRIVES", s->drives},
                  {"T_DOMAINS", s->domains},
                  {"T_REGS", s->regs},
                  {"T_WRITES", s->writes},
                  {"T_EFFECTS", s->effects},
                  {"T_OUTPUTS", s->outputs},
                  {"T_TRACES", s->traces},
                  {"T_LOOPS", s->loops},
                  {"T_INPUTS", s->inputs}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        define(text, places[i].name, places[i].value, "u");
    define(text, "STATE_WORDS", form->slot_count, "ul");
    uint32_t instances = ls__state_instances(cosim, form);
    define(text, "ALL_WORDS", ls__state_words(cosim, form), "ul");
    define(text, "INSTANCES", cosim->instances, "u");
    define(text, "SLICES", (uint64_t)form->slot_count * instances, "ul");
    uint64_t workgroups = 1;
    while (workgroups * form->lanes < form->groups)
        workgroups *= 2;
    define(text, "BLOCK_WORDS", (uint64_t)form->slice_words * form->lanes, "ul");
    define(text, "WORKGROUP_MASK", workgroups - 1, "ul");
    define(text, "INSTANCE_MASK", instances - 1, "ul");
    ls__strbuf_printf(text,
                      "#define STATE u64 state[static ALL_WORDS], u64 instance\n"
                      "#define SLOTS u64 *s = state%s;\n"
                      "#define MEMORY u64 *m = memory%s;\n",
                      cosim->instances == 1 ? "" : " + (instance & INSTANCE_MASK) * STATE_WORDS",
                      cosim->instances == 1 ? "" : " + (instance & INSTANCE_MASK) * MEMORY_WORDS");
    define(text, "MEMORY_WORDS", l->memory_step, "ul");
    define(text, "CONTROL_SLOTS", LS__CONTROL_SLOTS, "ul");
    define(text, "LS_PIN_STRIDE", 1, "ul");
    define(text, "TRACE_INSTANCE", cosim->params.trace_instance, "ul");
    define(text, "EFFECT_WORDS", cosim->effect_words, "ul");
    define(text, "EFFECT_RESERVE", l->effect_reserve, "ul");
    define(text, "CHANGE_WORDS", cosim->change_words, "ul");
    define(text, "LOG_RECORDS", cosim->log_records, "ul");
    define(text, "LOG_WORDS", (cosim->log_records + 1) * LS__PERIPHERAL_RECORD_WORDS, "ul");
}

/* Values of all pins: pieces of nodes. */
static void write_gather(const ls_cosim *cosim, const ls__form *form, ls__strbuf *text)
{
    const ls__layout *l = &cosim->layout;
    for (uint32_t i = 0; i < l->piece_count; i++) {
        const ls__pin_piece *p = &l->pieces[i];
        ls__strbuf_printf(
            text, "    s[%" PRIu32 "ul] %s (s[%" PRIu32 "ul] >> %u & %" PRIu64 "ul) << %u;\n",
            l->pins + p->pin, p->position ? "|=" : "=", form->places[p->node.index].slot,
            form->places[p->node.index].bit + p->lsb, p->mask, p->position);
    }
}

/* Marks the inputs that are to be changed at the next edge. */
static void write_pending(const ls_cosim *cosim, ls__strbuf *text)
{
    const ls__layout *l = &cosim->layout;
    for (uint32_t i = 0; i < l->drive_count; i++) {
        const ls__pin_drive *d = &l->drives[i];
        ls__strbuf_printf(text,
                          "    if (((s[%" PRIu32 "ul] >> %u << %u ^ s[%" PRIu32 "ul]) & %" PRIu64
                          "ul) != 0ul)\n"
                          "        s[%" PRIu32 "ul] |= %" PRIu64 "ul;\n",
                          l->pins + d->pin, d->part.right, d->part.left, l->inputs + d->part.input,
                          d->part.mask, l->pending + i / 64, UINT64_C(1) << (i % 64));
    }
}

static void write_peripherals(const ls_cosim *cosim, const ls__form *form, ls__strbuf *text)
{
    const ls__peripherals *all = cosim->peripherals;
    ls__strbuf_printf(text, "static void peripherals(u64 *s, u32 *private_memory, const u8 *image, "
                            "u64 *log, u64 instance, u64 edge)\n{\n");
    if (all->count) {
        ls__strbuf_printf(text, "    u64 before = log[instance * LOG_WORDS];\n");
        write_gather(cosim, form, text);
        uint32_t pin = 0;
        for (uint32_t i = 0; i < all->count; i++) {
            ls__strbuf_printf(text,
                              "    ls_peripheral_%" PRIu32 "(s + %" PRIu32
                              "ul, private_memory + (instance * %" PRIu32 "ul + %" PRIu32
                              "ul), image, log + instance * LOG_WORDS, edge, "
                              "(u32)instance);\n",
                              i, cosim->layout.pins + pin, cosim->layout.private_words,
                              cosim->layout.private_at[i]);
            pin += all->items[i].pin_count;
        }
        write_pending(cosim, text);
        ls__strbuf_printf(text, "    look_for_watched(s, log, instance, before);\n");
    }
    ls__strbuf_printf(text, "}\n");
}

void ls__prelude_write(const ls_cosim *cosim, const ls__form *form, ls__strbuf *text)
{
    write_places(cosim, form, text);
    ls__strbuf_printf(text, "#include \"lockstep:driver.kc\"\n");
    if (cosim->peripherals->count)
        ls__strbuf_append(text, cosim->peripherals->text, cosim->peripherals->length);
    write_peripherals(cosim, form, text);
}
