/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads, stores and atomics: finds the bytes, checks the range (always, also where an instruction
 * is marked in bounds), and when the run is observed hands the access to the checks for ranges,
 * unwritten memory and races. An access out of range touches nothing.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "interp/machine.h"

typedef struct place { /* what an ls_base stands for at this moment */
    uint8_t *bytes;
    uint64_t size;
    uint8_t *written;      /* a byte per byte; NULL = all count as written */
    ls__interp_cell *race; /* shadow of bytes[0]; NULL = no race is possible */
    uint32_t object;       /* 1 + buffer index of the kernel, or 0: for ls__interp_report_send */
} place;

static place place_of(const ls__interp_machine *machine, const ls__interp_group *group,
                      const ls__interp_frame *frame, ls_base base)
{
    const ls__interp_launch *launch = machine->launch;
    const ls__ir_object *object;
    uint32_t at;

    switch (base.kind) {
    case LS_BASE_BUFFER: {
        uint32_t index = frame->buffers[base.index];
        const ls__interp_binding *binding = &launch->bindings[index];
        return (place){binding->bytes, binding->size, binding->written,
                       machine->buffer_cells[index], 1 + index};
    }
    case LS_BASE_SHARED:
        object = &launch->kernel->shared.items[base.index];
        at = machine->shared_offsets[base.index];
        return (place){group->shared + at, object->size,
                       group->shared_set ? group->shared_set + at : NULL,
                       machine->shared_cells ? machine->shared_cells + at : NULL, 0};
    case LS_BASE_LOCAL:
        object = &frame->code->function->locals.items[base.index];
        at = frame->code->local_offsets[base.index];
        return (place){frame->locals + at, object->size,
                       frame->local_set ? frame->local_set + at : NULL, NULL, 0};
    case LS_BASE_CONST:
        /* Nothing stores to a table (verifier); the cast only lets one struct serve all. */
        object = &launch->module->tables.items[base.index];
        return (place){(uint8_t *)(uintptr_t)object->bytes, object->size, NULL, NULL, 0};
    case LS_BASE_NONE:
        break;
    }
    assert(false && "an access has a base (verifier)");
    return (place){0};
}

uint64_t ls__interp_range(const ls__interp_machine *machine, const ls__interp_frame *frame,
                          ls_base base)
{
    const ls__interp_group *group = &machine->groups[0]; /* sizes are the same in all */
    return place_of(machine, group, frame, base).size;
}

/* Name and element size of the object behind a base, for reports. */
static const char *object_name(const ls__interp_machine *machine, const ls__interp_frame *frame,
                               ls_base base, uint32_t *element_bytes)
{
    const ls__ir_function *kernel = machine->launch->kernel;
    const char *name = NULL;
    if (base.kind == LS_BASE_BUFFER) {
        const ls__ir_param *param = ls__ir_buffer_param(kernel, frame->buffers[base.index]);
        if (param) {
            name = param->name;
            *element_bytes = param->size ? param->size : *element_bytes;
        }
    } else if (base.kind == LS_BASE_SHARED) {
        name = kernel->shared.items[base.index].name;
    } else if (base.kind == LS_BASE_LOCAL) {
        name = frame->code->function->locals.items[base.index].name;
    } else if (base.kind == LS_BASE_CONST) {
        name = machine->launch->module->tables.items[base.index].name;
    }
    return name ? name : "";
}

/* The element index of an access. When the offset does not exist, it is the subscript for which it
 * does not: the first `index` of the chain that gave LS_NOWHERE. */
static int64_t element_index(const ls__interp_frame *frame, ls_value offset_value,
                             uint32_t element_bytes)
{
    const uint64_t *values = frame->values;
    int64_t offset = (int64_t)values[offset_value.id];
    if (offset == LS_NOWHERE) {
        const ls__ir_inst *inst = ls__ir_def(frame->code->function, offset_value);
        while (inst && inst->op == LS_OP_INDEX) {
            if ((int64_t)values[inst->args[0].id] != LS_NOWHERE)
                return (int64_t)values[inst->args[1].id];
            inst = ls__ir_def(frame->code->function, inst->args[0]);
        }
    }
    int64_t size = element_bytes;
    return offset / size - (offset % size < 0);
}

typedef struct access {
    ls__interp_machine *machine;
    ls__interp_group *group;
    ls__interp_lane *lane;
    const ls__ir_inst *inst;
    uint32_t pc;
    ls__interp_access kind;
    uint32_t size;
    int64_t offset;
    place place;
} access;

static ls__interp_report report_of(const access *a, ls__interp_report_kind kind, const char *detail)
{
    const ls__interp_frame *frame = a->lane->frame;
    uint32_t element_bytes = a->size;
    ls__interp_report report = ls__interp_report_at(a->machine, a->group, a->lane, a->pc, kind);
    report.object = object_name(a->machine, frame, a->inst->base, &element_bytes);
    report.object_count = a->place.size / element_bytes;
    report.offset = a->offset;
    report.index = element_index(frame, a->inst->args[0], element_bytes);
    report.detail = detail;
    return report;
}

/* `found`: the run asks for this kind; `undefined`: C leaves it undefined. */
static void send(const access *a, ls__interp_report *report, bool found, bool undefined)
{
    if (found)
        ls__interp_report_send(a->machine, a->pc, a->place.object, report);
    if (undefined && a->machine->launch->flag_undefined_c) {
        report->kind = LS__INTERP_UNDEFINED_IN_C;
        ls__interp_report_send(a->machine, a->pc, a->place.object, report);
    }
}

static void check_race(const access *a)
{
    ls__interp_race race;
    bool is_shared = a->inst->base.kind == LS_BASE_SHARED;
    if (!a->place.race ||
        !ls__interp_shadow_access(a->machine, a->place.race + a->offset, a->size, is_shared,
                                  a->kind, a->lane->index, a->pc, &race))
        return;
    ls__interp_report report = report_of(
        a, race.same_group ? LS__INTERP_RACE_LANES : LS__INTERP_RACE_WORKGROUPS, race.detail);
    report.other_lane = race.lane;
    report.other_loc = a->machine->steps.items[race.pc].inst->loc;
    ls__interp_group_id(a->machine, race.group, report.other_workgroup);
    send(a, &report, a->machine->launch->sanitize, false);
}

static void report_out_of_bounds(const access *a)
{
    const ls__interp_launch *launch = a->machine->launch;
    ls__interp_report report = report_of(
        a,
        a->kind == LS__INTERP_READ ? LS__INTERP_OUT_OF_BOUNDS_LOAD : LS__INTERP_OUT_OF_BOUNDS_STORE,
        "access out of bounds");
    send(a, &report, launch->sanitize || launch->check_bounds, true);
}

/* An access in range. */
static void observe(const access *a)
{
    if (a->kind != LS__INTERP_WRITE && a->place.written &&
        memchr(a->place.written + a->offset, 0, a->size)) {
        bool is_local = a->inst->base.kind == LS_BASE_LOCAL;
        ls__interp_report report =
            report_of(a, LS__INTERP_UNWRITTEN_READ,
                      is_local ? "a local is read before it is set" : "read before any write");
        send(a, &report, a->machine->launch->sanitize, is_local);
    }
    check_race(a);
}

/* How many bytes of an access lie in its range: of a partial one as many as there are. */
static uint32_t bytes_inside(const access *a)
{
    uint64_t rest = a->offset >= 0 && (uint64_t)a->offset < a->place.size
                        ? a->place.size - (uint64_t)a->offset
                        : 0;
    if (rest >= a->size)
        return a->size;
    return a->inst->flags & LS__IR_PARTIAL ? (uint32_t)rest : 0;
}

/* Readies an access and says whether it is in range. */
static bool begin(access *a, ls__interp_machine *machine, ls__interp_group *group,
                  ls__interp_lane *lane, uint32_t pc, ls__interp_access kind)
{
    const ls__ir_inst *inst = machine->steps.items[pc].inst;
    *a = (access){machine,
                  group,
                  lane,
                  inst,
                  pc,
                  kind,
                  ls__ir_mem_bytes((ls_mem)inst->mem),
                  (int64_t)lane->frame->values[inst->args[0].id],
                  place_of(machine, group, lane->frame, inst->base)};
    uint32_t bytes = bytes_inside(a);
    bool inside = bytes > 0;
    if (inside)
        a->size = bytes;
    if (!inside && (machine->observing || machine->launch->check_bounds))
        report_out_of_bounds(a);
    else if (inside && machine->observing)
        observe(a);
    if (inside && kind != LS__INTERP_READ && a->place.written)
        memset(a->place.written + a->offset, !(inst->flags & LS__IR_UNSET), a->size);
    return inside;
}

uint64_t ls__interp_load(ls__interp_machine *machine, ls__interp_group *group,
                         ls__interp_lane *lane, uint32_t pc)
{
    access a;
    if (!begin(&a, machine, group, lane, pc, LS__INTERP_READ))
        return 0;
    return ls__ir_load_bits((ls_mem)a.inst->mem, a.place.bytes + a.offset);
}

void ls__interp_store(ls__interp_machine *machine, ls__interp_group *group, ls__interp_lane *lane,
                      uint32_t pc)
{
    access a;
    if (begin(&a, machine, group, lane, pc, LS__INTERP_WRITE))
        ls__ir_store_bits((ls_mem)a.inst->mem, a.place.bytes + a.offset,
                          lane->frame->values[a.inst->args[1].id],
                          (a.inst->flags & LS__IR_RAW) != 0);
}

/* The new value of a read-modify-write. */
static uint64_t combine(const access *a, uint64_t old, uint64_t operand)
{
    static const ls_op ops[LS_ATOMIC_COUNT] = {
        [LS_ATOMIC_ADD] = LS_OP_ADD,   [LS_ATOMIC_SMIN] = LS_OP_SMIN, [LS_ATOMIC_SMAX] = LS_OP_SMAX,
        [LS_ATOMIC_UMIN] = LS_OP_UMIN, [LS_ATOMIC_UMAX] = LS_OP_UMAX, [LS_ATOMIC_AND] = LS_OP_AND,
        [LS_ATOMIC_OR] = LS_OP_OR,     [LS_ATOMIC_XOR] = LS_OP_XOR,   [LS_ATOMIC_XCHG] = LS_OP_NONE,
    };
    ls_op op = ops[a->inst->imm];
    if (op == LS_OP_NONE)
        return operand;
    ls_type type = ls__ir_mem_type((ls_mem)a->inst->mem);
    ls__ir_inst inst = {.op = (uint16_t)op, .type = (uint8_t)type, .arg_count = 2};
    return ls__ir_eval(&inst, type, (uint64_t[]){old, operand});
}

/* Of a word of which the range holds a part, or all. */
static void partial_atomic(const access *a, uint64_t operand)
{
    uint8_t word[4] = {0}, *bytes = a->place.bytes + a->offset;
    memcpy(word, bytes, a->size);
    uint64_t old = ls__ir_load_bits(LS_MEM_U32, word);
    ls__ir_store_bits(LS_MEM_U32, word, combine(a, old, operand), true);
    memcpy(bytes, word, a->size);
}

uint64_t ls__interp_atomic(ls__interp_machine *machine, ls__interp_group *group,
                           ls__interp_lane *lane, uint32_t pc)
{
    access a;
    const uint64_t *values = lane->frame->values;
    if (!begin(&a, machine, group, lane, pc, LS__INTERP_ATOMIC))
        return 0;
    if (a.inst->flags & LS__IR_PARTIAL) {
        partial_atomic(&a, values[a.inst->args[1].id]);
        return 0;
    }
    ls_mem mem = (ls_mem)a.inst->mem;
    uint8_t *bytes = a.place.bytes + a.offset;
    uint64_t old = ls__ir_load_bits(mem, bytes);
    if (a.inst->op == LS_OP_ATOMIC)
        ls__ir_store_bits(mem, bytes, combine(&a, old, values[a.inst->args[1].id]), true);
    else if (old == values[a.inst->args[1].id])
        ls__ir_store_bits(mem, bytes, values[a.inst->args[2].id], true);
    return old;
}
