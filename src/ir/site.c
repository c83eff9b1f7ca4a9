/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for the accesses whose being out of range is reported. */
#include "ir/ir.h"

typedef struct count {
    uint32_t sites;
    uint32_t wanted; /* stop at this one */
    const ls__ir_inst *found;
} count;

bool ls__ir_is_site(const ls__ir_inst *inst)
{
    return (inst->flags & (LS__IR_WATCHED | LS__IR_INBOUNDS)) == LS__IR_WATCHED;
}

static bool visit(ls__ir_inst *inst, void *context)
{
    count *c = context;
    if (!ls__ir_is_site(inst))
        return true;
    if (c->sites == c->wanted)
        c->found = inst;
    c->sites++;
    return !c->found;
}

uint32_t ls__ir_first_site(const ls__ir_module *module, uint32_t function)
{
    count c = {.wanted = UINT32_MAX};
    for (uint32_t i = 1; i < function; i++)
        ls__ir_walk(module->functions.items[i]->body, visit, &c);
    return c.sites;
}

uint32_t ls__ir_site_count(const ls__ir_module *module)
{
    return ls__ir_first_site(module, module->functions.count);
}

const ls__ir_inst *ls__ir_site(const ls__ir_module *module, uint32_t number,
                               const ls__ir_function **function)
{
    count c = {.wanted = number};
    for (uint32_t i = 1; i < module->functions.count && !c.found; i++) {
        *function = module->functions.items[i];
        ls__ir_walk((*function)->body, visit, &c);
    }
    return c.found;
}
