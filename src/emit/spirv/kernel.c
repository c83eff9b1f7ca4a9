/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, and the module around a kernel.
 *
 * The kernel is a function like others, so that a lane may return from anywhere in it. `main` goes
 * around: it decides whether the workgroup runs at all, clears shared memory, calls the kernel, and
 * reports traps.
 */
#include <string.h>

#include "base/status.h"
#include "emit/spirv/build.h"

/* --- functions -------------------------------------------------------------------------------- */

body ls__spirv_open(unit *u, const ls__ir_function *function)
{
    body saved = u->f;
    saved.saved_out = u->out;
    u->f = (body){.function = function, .result_type = ls__spirv_void(u)};
    u->out = &u->f.code;
    return saved;
}

static void append_to(unit *u, words *to, const words *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        ls__vec_push(u->arena, to, from->items[i]);
}

/* `parameters`: their types and names, which alternate; NULL = none. */
ref ls__spirv_close(unit *u, const body *saved, ref result_type, const words *parameters,
                    const char *name)
{
    words operands = {0};
    ref id = ls__spirv_new(u), label = ls__spirv_new(u);
    if (!u->f.terminated)
        ls__spirv_put(u, u->out, SpvOpReturn, NULL, 0);
    ls__vec_push(u->arena, &operands, result_type);
    for (uint32_t i = 0; parameters && i < parameters->count; i += 2)
        ls__vec_push(u->arena, &operands, parameters->items[i]);
    ref type = ls__spirv_unique(u, SpvOpTypeFunction, 0, operands.items, operands.count);
    put(u, &u->functions, SpvOpFunction, result_type, id, SpvFunctionControlMaskNone, type);
    for (uint32_t i = 0; parameters && i < parameters->count; i += 2)
        put(u, &u->functions, SpvOpFunctionParameter, parameters->items[i],
            parameters->items[i + 1]);
    put(u, &u->functions, SpvOpLabel, label);
    append_to(u, &u->functions, &u->f.variables);
    append_to(u, &u->functions, &u->f.entry);
    append_to(u, &u->functions, &u->f.code);
    ls__spirv_put(u, &u->functions, SpvOpFunctionEnd, NULL, 0);
    ls__spirv_name(u, id, name);
    u->f = *saved;
    u->out = saved->saved_out;
    return id;
}

static ref add_parameter(unit *u, words *parameters, ref type)
{
    ref id = ls__spirv_new(u);
    ls__vec_push(u->arena, parameters, type);
    ls__vec_push(u->arena, parameters, id);
    return id;
}

static words parameters_of(unit *u, const ls__ir_function *function)
{
    enum { MAX_PARAMETERS = 255 };
    words result = {0};
    ref wide = ls__spirv_int(u, 64);
    for (uint32_t i = 0; i < function->params.count; i++) {
        const ls__ir_param *p = &function->params.items[i];
        if (p->is_pointer) {
            u->f.address[p->buffer] = add_parameter(u, &result, wide);
            u->f.range[p->buffer] = add_parameter(u, &result, wide);
        } else {
            ref type = ls__spirv_type(u, ls__ir_mem_type((ls_mem)p->mem));
            u->f.scalars[p->offset] = add_parameter(u, &result, type);
        }
    }
    if (result.count / 2 > MAX_PARAMETERS)
        ls__spirv_fail(u, LS_E_LIMIT,
                       "function '%s' has more parameters than SPIR-V can pass (%u words, at most "
                       "%d; a buffer takes 2)",
                       function->name, result.count / 2, MAX_PARAMETERS);
    return result;
}

/* Variables start as 0; floats as a zero that drivers do not know. */
static void declare_variables(unit *u)
{
    const ls__ir_function *function = u->f.function;
    for (uint32_t i = 1; i < function->vars.count; i++) {
        const ls__ir_variable *v = &function->vars.items[i];
        ref type = ls__spirv_type(u, (ls_type)v->type);
        bool is_float = v->type == LS_TYPE_F32 || v->type == LS_TYPE_F64;
        u->f.variable[i] = ls__spirv_local(u, type, is_float ? 0 : ls__spirv_null(u, type));
        if (is_float) {
            ref zero = ls__spirv_float_value(u, ls__spirv_bits((ls_type)v->type), 0);
            put(u, u->out, SpvOpStore, u->f.variable[i], zero);
        }
    }
}

static void emit_function(unit *u, const ls__ir_function *function)
{
    body saved = ls__spirv_open(u, function);
    ls__ir_uniformity uniformity;
    words parameters = {0};
    u->f.values = LS__NEW_ARRAY(u->arena, ref, function->values.count);
    u->f.variable = LS__NEW_ARRAY(u->arena, ref, function->vars.count + 1);
    u->f.address = LS__NEW_ARRAY(u->arena, ref, function->buffer_count + 1);
    u->f.range = LS__NEW_ARRAY(u->arena, ref, function->buffer_count + 1);
    u->f.scalars = LS__NEW_ARRAY(u->arena, ref, function->scalar_bytes + 1);
    u->f.locals = LS__NEW_ARRAY(u->arena, object, function->locals.count + 1);
    u->f.result_type = ls__spirv_result_type(u, function);
    if (!function->is_kernel)
        parameters = parameters_of(u, function);
    if (function->is_kernel && u->has_barriers) {
        uniformity = ls__ir_uniformity_of(function, u->arena);
        u->f.uniformity = &uniformity;
    }
    ls__spirv_plan_objects(u, function, u->f.locals, u->shared);
    for (uint32_t i = 0; i < function->locals.count; i++)
        ls__spirv_declare_object(u, &u->f.locals[i], function->locals.items[i].name);
    for (uint32_t i = 0; function->is_kernel && i < function->shared.count; i++)
        ls__spirv_declare_object(u, &u->shared[i], function->shared.items[i].name);
    declare_variables(u);
    ls__spirv_clear_locals(u);
    ls__spirv_region(u, function->body);
    u->function[function->id.id] =
        ls__spirv_close(u, &saved, u->f.result_type, &parameters, function->name);
}

/* --- what is called ----------------------------------------------------------------------------
 */

typedef struct survey { /* of one function's instructions */
    unit *u;
    const ls__ir_function *function;
    bool polls, waits;
} survey;

static void emit_with_callees(unit *u, const ls__ir_function *function);

static bool look_at(ls__ir_inst *inst, void *context)
{
    survey *s = context;
    if (inst->op == LS_OP_CALL) {
        const ls__ir_function *callee = s->u->module->functions.items[inst->imm];
        if (!s->u->function[callee->id.id])
            emit_with_callees(s->u, callee);
        s->polls |= s->u->function_polls[callee->id.id];
    }
    if (inst->op == LS_OP_LOOP)
        s->polls |= ls__spirv_loop_polls(s->function, inst);
    return true;
}

static void emit_with_callees(unit *u, const ls__ir_function *function)
{
    survey s = {.u = u, .function = function};
    ls__ir_walk(function->body, look_at, &s);
    u->function_polls[function->id.id] = s.polls && !(u->has_barriers && u->unchecked);
    emit_function(u, function);
}

static bool find_waiting(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    if (ls__ir_op_has((ls_op)inst->op, 'S'))
        *found = true;
    return !*found;
}

/* --- main --------------------------------------------------------------------------------------
 */

static void return_if(unit *u, ref condition)
{
    ref merge = ls__spirv_begin_if(u, condition);
    ls__spirv_put(u, u->out, SpvOpReturn, NULL, 0);
    u->f.terminated = true;
    ls__spirv_end_if(u, merge);
}

/* Nothing runs after a launch that trapped. */
static void leave_after_trap(unit *u)
{
    ref scope = ls__spirv_u32(u, SpvScopeQueueFamily), relaxed = ls__spirv_u32(u, 0);
    ref first = ls__spirv_pushed(u, PUSH_FIRST_SEQUENCE);
    ref at = ls__spirv_status_word(u, offsetof(ls__spirv_status, trap_sequence));
    ref sequence = mk(u, SpvOpAtomicLoad, ls__spirv_int(u, 32), at, scope, relaxed);
    return_if(u, mk(u, SpvOpULessThan, ls__spirv_bool(u), sequence, first));
}

/* The workgroup starts together: lane 0 looks whether it shall, all clear shared memory. */
static void start_together(unit *u)
{
    ref zero = ls__spirv_u32(u, 0), index = ls__spirv_local_index(u);
    ref is_first = mk(u, SpvOpIEqual, ls__spirv_bool(u), index, zero);
    ref merge = ls__spirv_begin_if(u, is_first);
    ls__spirv_set_stop_flag(u);
    if (u->trap_lane) {
        ref none = ls__spirv_u32(u, UINT32_MAX);
        put(u, u->out, SpvOpStore, u->trap_lane, none, SpvMemoryAccessNonPrivatePointerMask);
    }
    ls__spirv_end_if(u, merge);
    for (uint32_t i = 0; i < u->kernel->shared.count; i++)
        ls__spirv_clear_shared(u, &u->shared[i]);
    ls__spirv_barrier(u);
    return_if(u, ls__spirv_stop_flag(u));
}

/* The lane's trap, which is the lowest of its workgroup's, counts unless an earlier dispatch
 * trapped; then the lowest workgroup does. */
static void record_trap(unit *u, ref index, ref code)
{
    ref word = ls__spirv_int(u, 32), wide = ls__spirv_int(u, 64);
    ref scope = ls__spirv_u32(u, SpvScopeQueueFamily), relaxed = ls__spirv_u32(u, 0);
    ref sequence = ls__spirv_pushed(u, PUSH_SEQUENCE);
    ref at = ls__spirv_status_word(u, offsetof(ls__spirv_status, trap_sequence));
    ref earliest = mk(u, SpvOpAtomicUMin, word, at, scope, relaxed, sequence);
    ref counts = mk(u, SpvOpUGreaterThanEqual, ls__spirv_bool(u), earliest, sequence);
    ref merge = ls__spirv_begin_if(u, counts);
    ref group = ls__spirv_group_in_dispatch(u);
    at = ls__spirv_status_word(u, offsetof(ls__spirv_status, trap_group));
    mk(u, SpvOpAtomicUMin, word, at, scope, relaxed, group);
    ref status = ls__spirv_pushed(u, PUSH_STATUS);
    ref by = ls__spirv_u64(u, offsetof(ls__spirv_status, trap_slots));
    ref slots = ls__spirv_load_at(u, LS_MEM_U64, mk(u, SpvOpIAdd, wide, status, by));
    ref size = ls__spirv_u64(u, sizeof(ls__spirv_trap_slot));
    ref offset = mk(u, SpvOpIMul, wide, mk(u, SpvOpUConvert, wide, group), size);
    ref slot = mk(u, SpvOpIAdd, wide, slots, offset);
    by = ls__spirv_u64(u, offsetof(ls__spirv_trap_slot, code));
    _Static_assert(offsetof(ls__spirv_trap_slot, lane) == 0, "stored first");
    ls__spirv_store_at(u, LS_MEM_U32, slot, index);
    ls__spirv_store_at(u, LS_MEM_U32, mk(u, SpvOpIAdd, wide, slot, by), code);
    ls__spirv_end_if(u, merge);
}

static void report_traps(unit *u)
{
    ref word = ls__spirv_int(u, 32), boolean = ls__spirv_bool(u);
    ref scope = ls__spirv_u32(u, SpvScopeWorkgroup), relaxed = ls__spirv_u32(u, 0);
    ref index = ls__spirv_local_index(u);
    ref trapped = mk(u, SpvOpLoad, boolean, u->trapped);
    ref merge = ls__spirv_begin_if(u, trapped);
    mk(u, SpvOpAtomicUMin, word, u->trap_lane, scope, relaxed, index);
    ls__spirv_end_if(u, merge);
    ls__spirv_barrier(u);
    ref lowest = mk(u, SpvOpLoad, word, u->trap_lane, SpvMemoryAccessNonPrivatePointerMask);
    ref is_lowest = mk(u, SpvOpIEqual, boolean, lowest, index);
    ref counts = mk(u, SpvOpLogicalAnd, boolean, trapped, is_lowest);
    merge = ls__spirv_begin_if(u, counts);
    record_trap(u, index, mk(u, SpvOpLoad, word, u->trap_code));
    ls__spirv_end_if(u, merge);
}

static ref emit_main(unit *u)
{
    bool traps = (u->flags & LS__SPIRV_MAY_TRAP) != 0;
    body saved = ls__spirv_open(u, NULL);
    if (traps) {
        u->trap_lane = ls__spirv_global(u, SpvStorageClassWorkgroup, ls__spirv_int(u, 32), 0);
        u->shared_bytes += 4;
    }
    leave_after_trap(u);
    if (traps || u->has_barriers || u->kernel->shared.count) {
        u->flags |= LS__SPIRV_BARRIERS;
        start_together(u);
    } else {
        return_if(u, ls__spirv_cancelled(u));
    }
    mk(u, SpvOpFunctionCall, ls__spirv_void(u), u->function[u->kernel->id.id]);
    if (traps)
        report_traps(u);
    ls__spirv_check_loops(u);
    return ls__spirv_close(u, &saved, ls__spirv_void(u), NULL, "main");
}

/* --- the module --------------------------------------------------------------------------------
 */

static void float_mode(unit *u, ref main, bool has, SpvCapability capability, SpvExecutionMode mode,
                       uint32_t bits)
{
    if (!has || (bits == 64 && !(u->flags & LS__SPIRV_F64)))
        return;
    ls__spirv_need(u, capability);
    put(u, &u->modes, SpvOpExecutionMode, main, (uint32_t)mode, bits);
}

static void put_modes(unit *u, ref main)
{
    const ls__spirv_target *t = &u->target;
    const uint32_t *size = u->kernel->workgroup;
    put(u, &u->modes, SpvOpExecutionMode, main, SpvExecutionModeLocalSize, size[0], size[1],
        size[2]);
    float_mode(u, main, t->szinp32, SpvCapabilitySignedZeroInfNanPreserve,
               SpvExecutionModeSignedZeroInfNanPreserve, 32);
    float_mode(u, main, t->szinp64, SpvCapabilitySignedZeroInfNanPreserve,
               SpvExecutionModeSignedZeroInfNanPreserve, 64);
    float_mode(u, main, t->rte32, SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE,
               32);
    float_mode(u, main, t->rte64, SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE,
               64);
    float_mode(u, main, t->denorm32, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve,
               32);
    float_mode(u, main, t->denorm64, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve,
               64);
}

static words assemble(unit *u, ref main)
{
    enum { VERSION_1_5 = 0x00010500 };
    const uint32_t header[] = {SpvMagicNumber, VERSION_1_5, 0, u->next, 0};
    words all = {0};
    for (uint32_t i = 0; i < sizeof header / sizeof *header; i++)
        ls__vec_push(u->arena, &all, header[i]);
    append_to(u, &all, &u->capabilities);
    append_to(u, &all, &u->extensions);
    ls__spirv_put_text(u, &all, SpvOpExtInstImport, &u->glsl, 1, "GLSL.std.450", NULL, 0);
    put(u, &all, SpvOpMemoryModel, SpvAddressingModelPhysicalStorageBuffer64, SpvMemoryModelVulkan);
    const uint32_t entry[] = {SpvExecutionModelGLCompute, main};
    ls__spirv_put_text(u, &all, SpvOpEntryPoint, entry, 2, "main", u->interface.items,
                       u->interface.count);
    append_to(u, &all, &u->modes);
    append_to(u, &all, &u->names);
    append_to(u, &all, &u->annotations);
    append_to(u, &all, &u->globals);
    append_to(u, &all, &u->functions);
    return all;
}

words ls__spirv_module(unit *u)
{
    u->next = 1;
    u->glsl = ls__spirv_new(u);
    u->function = LS__NEW_ARRAY(u->arena, ref, u->module->functions.count);
    u->function_polls = LS__NEW_ARRAY(u->arena, uint8_t, u->module->functions.count);
    u->shared = LS__NEW_ARRAY(u->arena, object, u->kernel->shared.count + 1);
    ls__spirv_need(u, SpvCapabilityShader);
    ls__spirv_need(u, SpvCapabilityPhysicalStorageBufferAddresses);
    ls__spirv_need(u, SpvCapabilityVulkanMemoryModel);
    /* Used everywhere: declared now, so that asking for them emits nothing. */
    ls__spirv_void(u);
    ls__spirv_bool(u);
    ls__spirv_int(u, 32);
    ls__spirv_int(u, 64);
    ls__ir_walk(u->kernel->body, find_waiting, &u->has_barriers);
    emit_with_callees(u, u->kernel);
    ls__spirv_check_depth(u);
    ref main = emit_main(u);
    put_modes(u, main);
    return assemble(u, main);
}
