/* SPDX-License-Identifier: Apache-2.0 */
/* An entry and all functions that it calls, as one program: callees before their callers, each with
 * its own registers and frame, so there is no recursion; and the addresses of all variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx.h"

typedef struct linker {
    ptx_module *module;
    ptx_program *program;
    function **order;
    size_t count, site_count;
    size_t operand_count;
    uint32_t slots;
    char *message;
    size_t message_size;
} linker;

enum { MARK_NONE, MARK_ACTIVE, MARK_DONE };

static void *need(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

/* Callees first. */
static bool visit(linker *l, function *f)
{
    if (f->link_mark == MARK_DONE)
        return true;
    if (f->link_mark == MARK_ACTIVE || !f->defined) {
        snprintf(l->message, l->message_size, "emulated ptxas: %s %s", f->name,
                 f->defined ? "calls itself, which is not emulated" : "is not defined");
        return false;
    }
    f->link_mark = MARK_ACTIVE;
    for (size_t i = 0; i < f->code_count; i++)
        if (f->code[i].flow == FLOW_CALL && !visit(l, f->code[i].call->callee))
            return false;
    f->link_mark = MARK_DONE;
    f->link_first = l->program->code_count;
    f->link_registers = l->program->register_bytes;
    f->link_constants = l->program->constant_bytes;
    f->link_frame = l->program->frame_bytes;
    l->program->code_count += (uint32_t)f->code_count;
    l->program->register_bytes += f->register_bytes;
    l->program->constant_bytes += f->constant_bytes;
    l->program->frame_bytes = align_up(f->link_frame + f->frame_bytes, 64);
    l->program->registers_32 += (uint32_t)f->register_count;
    l->order = need(realloc(l->order, (l->count + 1) * sizeof *l->order));
    l->order[l->count++] = f;
    return true;
}

/* Shared variables that are used, the dynamic ones behind all others. */
static void place_shared(linker *l, bool external)
{
    uint64_t bytes = l->program->shared_bytes;
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < l->order[i]->relocation_count; k++) {
            variable *v = l->order[i]->relocations[k].variable;
            if (v->space != SPACE_SHARED || v->external != external || v->link_mark)
                continue;
            v->link_mark = 1;
            if (external) {
                v->link_offset = align_up(l->program->shared_bytes, 16);
            } else {
                v->link_offset = align_up(bytes, v->align);
                bytes = v->link_offset + v->size;
            }
        }
    l->program->shared_bytes = bytes;
}

static uint64_t address_of(const linker *l, const function *f, const variable *v)
{
    switch (v->space) {
    case SPACE_GLOBAL:
        return l->module->global_start + v->offset;
    case SPACE_SHARED:
        return FIRST_ADDRESS + v->link_offset;
    case SPACE_LOCAL:
    case SPACE_FRAME:
        return FIRST_ADDRESS + f->link_frame + v->offset;
    default:
        return FIRST_ADDRESS + v->offset;
    }
}

static void fill_constant(unsigned char *to, const constant *c, uint64_t value)
{
    uint32_t mask = value ? UINT32_MAX : 0;
    if (c->width == 1)
        memcpy(to, &mask, sizeof mask);
    else
        for (int i = 0; i < LANES; i++)
            memcpy(to + i * c->width, &value, c->width);
}

static void fill_constants(const linker *l, const function *f)
{
    unsigned char *bank = l->program->constants + f->link_constants;
    for (size_t i = 0; i < f->constant_count; i++)
        fill_constant(bank + f->constants[i].offset, &f->constants[i], f->constants[i].value);
    for (size_t i = 0; i < f->relocation_count; i++) {
        const relocation *r = &f->relocations[i];
        const constant *c = &f->constants[r->constant];
        fill_constant(bank + c->offset, c, address_of(l, f, r->variable) + (uint64_t)r->addend);
    }
}

static void move_operand(const function *f, operand *o)
{
    if (!o->width)
        return;
    if (o->base == BASE_REGISTERS)
        o->offset += f->link_registers;
    else if (o->base == BASE_CONSTANTS)
        o->offset += f->link_constants;
}

static uint64_t *offsets(variable *const *list, size_t count, uint64_t frame)
{
    uint64_t *result = need(calloc(count + 1, sizeof *result));
    for (size_t i = 0; i < count; i++)
        result[i] = frame + list[i]->offset;
    return result;
}

static call_site *link_call(linker *l, const function *f, const call_site *from)
{
    call_site *site = need(malloc(sizeof *site));
    const function *callee = from->callee;
    *site = *from;
    site->first = callee->link_first;
    site->argument_from = offsets(from->arguments, from->argument_count, f->link_frame);
    site->argument_to = offsets(callee->parameters, from->argument_count, callee->link_frame);
    site->result_from = offsets(callee->results, from->result_count, callee->link_frame);
    site->result_to = offsets(from->results, from->result_count, f->link_frame);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->order[i] == callee)
            site->callee_index = i;
    l->program->sites[l->program->site_count++] = site;
    return site;
}

static void link_instruction(linker *l, const function *f, uint32_t index, instruction *in)
{
    operand *places[] = {&in->d, &in->d2, &in->a, &in->b, &in->c, &in->e, &in->guard};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        move_operand(f, places[i]);
    if (in->more) {
        operand *copy = l->program->operands + l->operand_count;
        l->operand_count += in->more_count;
        for (uint32_t i = 0; i < in->more_count; i++) {
            copy[i] = in->more[i];
            move_operand(f, &copy[i]);
        }
        in->more = copy;
    }
    if (in->space)
        in->slot = l->slots++;
    if (in->flow == FLOW_BRANCH)
        in->target += f->link_first;
    else if (in->flow == FLOW_RETURN)
        in->target = index;
    else if (in->flow == FLOW_CALL)
        in->call = link_call(l, f, in->call);
}

/* Tables of targets are the module's; copies of them belong to the program's operands' owner. */
static void link_code(linker *l)
{
    size_t operands = 1, sites = 1;
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < l->order[i]->code_count; k++) {
            const instruction *in = &l->order[i]->code[k];
            operands += in->more ? in->more_count : 0;
            sites += in->flow == FLOW_CALL;
        }
    l->program->operands = need(calloc(operands, sizeof *l->program->operands));
    l->program->sites = need(calloc(sites, sizeof *l->program->sites));
    for (uint32_t i = 0; i < l->count; i++) {
        const function *f = l->order[i];
        for (size_t k = 0; k < f->code_count; k++) {
            instruction *in = &l->program->code[f->link_first + k];
            *in = f->code[k];
            if (in->flow == FLOW_TABLE)
                in->immediate = f->link_first; /* added to its targets */
            link_instruction(l, f, i, in);
        }
        fill_constants(l, f);
    }
}

ptx_program *ptx_program_create(ptx_module *module, function *entry, char *message,
                                size_t message_size)
{
    linker l = {.module = module, .message = message, .message_size = message_size};
    ptx_program *program = l.program = need(calloc(1, sizeof *program));
    for (size_t i = 0; i < module->function_count; i++)
        module->functions[i]->link_mark = MARK_NONE;
    for (size_t i = 0; i < module->function_count; i++)
        for (size_t k = 0; k < module->functions[i]->relocation_count; k++)
            module->functions[i]->relocations[k].variable->link_mark = 0;
    program->module = module;
    program->entry = entry;
    bool good = visit(&l, entry);
    if (good) {
        /* What instructions read that have fewer operands: anything, but it must be there. */
        program->register_bytes += 8 * LANES;
        program->constants = need(calloc(program->constant_bytes + 8 * LANES, 1));
        program->code = need(calloc(program->code_count, sizeof *program->code));
        place_shared(&l, false);
        place_shared(&l, true);
        link_code(&l);
        program->first = entry->link_first;
        program->function_count = (uint32_t)l.count;
        program->slot_count = l.slots;
    } else {
        ptx_program_destroy(program);
        program = NULL;
    }
    free(l.order);
    return program;
}

void ptx_program_destroy(ptx_program *program)
{
    if (!program)
        return;
    for (size_t i = 0; i < program->site_count; i++) {
        free(program->sites[i]->argument_from);
        free(program->sites[i]->argument_to);
        free(program->sites[i]->result_from);
        free(program->sites[i]->result_to);
        free(program->sites[i]);
    }
    free(program->sites);
    free(program->operands);
    free(program->constants);
    free(program->code);
    free(program);
}
