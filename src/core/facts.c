/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel needs of a device, found by walking the kernel and what it calls, and whether a
 * device has it. */
#include "core/core.h"

typedef struct scan {
    const ls__ir_module *module;
    ls__facts *facts;
    uint8_t *seen;    /* by function id: scanned already */
    uint64_t *locals; /* by function id: deepest stack of local objects, callees included */
    uint64_t callees; /* deepest callee of the function being walked */
} scan;

static void scan_function(scan *s, const ls__ir_function *function);

static void scan_types(ls__facts *facts, const ls__ir_inst *inst)
{
    facts->f64 |= inst->type == LS_TYPE_F64 || inst->mem == LS_MEM_F64;
    bool atomic = inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS;
    facts->atomics64 |= atomic && ls__ir_mem_bytes((ls_mem)inst->mem) == 8;
    facts->grid_barrier |= inst->op == LS_OP_GRID_BARRIER;
}

static bool visit(ls__ir_inst *inst, void *context)
{
    scan *s = context;
    scan_types(s->facts, inst);
    if (inst->op == LS_OP_CALL) {
        const ls__ir_function *callee = s->module->functions.items[inst->imm];
        uint64_t deepest = s->callees;
        scan_function(s, callee);
        s->callees = deepest > s->locals[inst->imm] ? deepest : s->locals[inst->imm];
    }
    return true;
}

static uint64_t object_bytes(const ls__ir_object *objects, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t alignment = objects[i].alignment ? objects[i].alignment : 1;
        bytes = (bytes + alignment - 1) / alignment * alignment + objects[i].size;
    }
    return bytes;
}

/* Recursion is bounded: the call graph has no cycles and at most 64 levels (verified). */
static void scan_function(scan *s, const ls__ir_function *function)
{
    if (s->seen[function->id.id])
        return;
    s->seen[function->id.id] = 1;
    for (uint32_t i = 0; i < function->params.count; i++)
        s->facts->f64 |= function->params.items[i].mem == LS_MEM_F64;
    s->callees = 0;
    ls__ir_walk(function->body, visit, s);
    s->locals[function->id.id] =
        object_bytes(function->locals.items, function->locals.count) + s->callees;
}

static uint32_t clamp32(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

ls_status ls__facts_of(const ls__ir_function *kernel, ls__facts *facts, ls_error *error)
{
    uint32_t functions = kernel->module->functions.count;
    scan s = {.module = kernel->module, .facts = facts};
    *facts = (ls__facts){0};
    s.seen = ls__mem_alloc(functions, sizeof *s.seen);
    s.locals = ls__mem_alloc(functions, sizeof *s.locals);
    ls_status status = LS_OK;
    if (!s.seen || !s.locals) {
        status = ls__fail_oom(error, functions * sizeof *s.locals);
    } else {
        scan_function(&s, kernel);
        facts->local_bytes = clamp32(s.locals[kernel->id.id]);
        facts->shared_bytes = clamp32(object_bytes(kernel->shared.items, kernel->shared.count));
        facts->lanes =
            clamp32((uint64_t)kernel->workgroup[0] * kernel->workgroup[1] * kernel->workgroup[2]);
        facts->buffers = kernel->buffer_count;
        facts->scalar_bytes = kernel->scalar_bytes;
    }
    ls__mem_free(s.seen);
    ls__mem_free(s.locals);
    return status;
}

static const char unsupported_hint[] =
    "use another device, or name one as the fallback in ls_program_params";

ls_status ls__module_facts(const ls_module *module, const ls__ir_function *kernel, ls__facts *facts,
                           ls_error *error)
{
    if (!module->facts)
        return ls__facts_of(kernel, facts, error);
    *facts = module->facts[kernel->id.id - 1]; /* it has kernels only */
    return LS_OK;
}

ls_status ls__facts_check(const ls_device *device, const char *kernel, const ls__facts *facts,
                          bool scratch, ls_error *error)
{
    const ls_caps *caps = &device->caps;
    const struct {
        const char *limit;
        uint32_t needed, available;
    } limits[] = {
        {"lanes in a workgroup", facts->lanes, caps->max_workgroup_lanes},
        {"bytes of shared memory", facts->shared_bytes, caps->max_shared_bytes},
        {"pointer parameters", facts->buffers, caps->max_buffers + scratch},
        {"bytes of scalar parameters", facts->scalar_bytes, caps->max_scalar_bytes},
        {"bytes of local arrays in a lane", facts->local_bytes, caps->max_local_bytes},
    };
    for (uint32_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].needed <= limits[i].available)
            continue;
        ls__fail(error, LS_E_UNSUPPORTED, "kernel '%s' needs %u %s, device '%s' has %u: %u too few",
                 kernel, limits[i].needed, limits[i].limit, device->name, limits[i].available,
                 limits[i].needed - limits[i].available);
        return ls__fail_hint(error, LS_E_UNSUPPORTED, unsupported_hint);
    }
    const char *feature = facts->f64 && !caps->f64               ? "f64 arithmetic"
                          : facts->atomics64 && !caps->atomics64 ? "64-bit atomics"
                                                                 : NULL;
    if (!feature)
        return LS_OK;
    ls__fail(error, LS_E_UNSUPPORTED, "kernel '%s' needs %s, which device '%s' does not have",
             kernel, feature, device->name);
    return ls__fail_hint(error, LS_E_UNSUPPORTED, unsupported_hint);
}

ls_status ls_device_supports(const ls_device *device, const ls_module *module, const char *kernel,
                             ls_error *error)
{
    const ls__ir_function *function;
    if (!device || !module || !kernel)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_device_supports: an argument is NULL");
    ls__facts facts;
    ls_status status = ls__module_kernel_find(module->signature, kernel, &function, error);
    if (status == LS_OK)
        status = ls__module_facts(module, function, &facts, error);
    return status == LS_OK ? ls__facts_check(device, kernel, &facts, false, error) : status;
}
