/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a configuration. What is read anywhere by its name must be here. */
#include "testbench/config.h"

void ls__config_visit_files(const ls__config *c, void (*visit)(void *context, const char *name),
                            void *context)
{
    const char *single[] = {c->netlist_path, c->sram_elf, c->events_reference, c->input_commands,
                            c->jtag.replay};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (single[i])
            visit(context, single[i]);
    for (uint32_t i = 0; i < c->flash_count; i++)
        if (c->flashes[i].firmware)
            visit(context, c->flashes[i].firmware);
    for (uint32_t i = 0; i < c->memory_count; i++)
        visit(context, c->memories[i].file);
    for (uint32_t i = 0; i < c->peripheral_count; i++) {
        if (c->peripherals[i].source)
            visit(context, c->peripherals[i].source);
        if (c->peripherals[i].image)
            visit(context, c->peripherals[i].image);
    }
}
