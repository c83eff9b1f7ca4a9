/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel for each operation and type, each memory type in each kind of memory, each pair of
 * memory types in one shared or local object, each atomic, each operation between lanes: all become
 * valid modules on all targets. The table of opcodes says what there is, so a new operation is
 * tested without being named here.
 */
#include <stdio.h>
#include <string.h>

#include "validate.h"

static ls__ir_module *module;
static uint32_t kernel_count;

static ls_mem mem_of(ls_type type)
{
    static const uint8_t mems[LS_TYPE_COUNT] = {
        [LS_TYPE_BOOL] = LS_MEM_BOOL, [LS_TYPE_I32] = LS_MEM_U32, [LS_TYPE_I64] = LS_MEM_U64,
        [LS_TYPE_F32] = LS_MEM_F32,   [LS_TYPE_F64] = LS_MEM_F64,
    };
    return (ls_mem)mems[type];
}

static ls__ir_cursor begin(const char *what, bool unordered)
{
    char *name = ls__arena_printf(&module->arena, "%s.%u", what, kernel_count++);
    ls__ir_function *kernel = ls__ir_function_add(module, name, true);
    kernel->unordered = unordered;
    return (ls__ir_cursor){.function = kernel, .region = kernel->body};
}

static ls_base buffer(ls__ir_cursor *at, ls_mem mem)
{
    uint32_t bytes = ls__ir_mem_bytes(mem);
    ls__ir_param param = {.name = "p",
                          .type_name = "u32",
                          .mem = (uint8_t)mem,
                          .is_pointer = true,
                          .size = bytes,
                          .alignment = bytes};
    ls__ir_param_add(at->function, param);
    return (ls_base){LS_BASE_BUFFER, at->function->buffer_count - 1};
}

static ls_value lane_offset(ls__ir_cursor *at, ls_id which, ls_mem mem)
{
    ls__ir_inst *id = ls__ir_insert(at, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    id->imm = which;
    ls_value wide = ls__ir_emit1(at, LS_OP_ZEXT, id->id);
    return ls__ir_index(at, ls__ir_const_i64(at, 0), wide, ls__ir_mem_bytes(mem), 0);
}

static ls_value operand(ls__ir_cursor *at, ls_type type)
{
    ls_base base = buffer(at, mem_of(type));
    return ls__ir_load(at, mem_of(type), base, lane_offset(at, LS_ID_GLOBAL_ID, mem_of(type)));
}

static void result(ls__ir_cursor *at, ls_value value)
{
    ls_mem mem = mem_of(ls__ir_type_of(at->function, value));
    ls_base base = buffer(at, mem);
    ls__ir_store(at, mem, base, lane_offset(at, LS_ID_GLOBAL_ID, mem), value);
}

/* --- pure operations -------------------------------------------------------------------------- */

static bool is_wide(ls_type type)
{
    return type == LS_TYPE_I64 || type == LS_TYPE_F64;
}

static bool is_float(ls_type type)
{
    return type == LS_TYPE_F32 || type == LS_TYPE_F64;
}

static bool result_fits(ls_op op, ls_type type, ls_type r, uint64_t imm)
{
    switch (op) {
    case LS_OP_S2F:
    case LS_OP_U2F:
        return is_float(r);
    case LS_OP_F2S:
    case LS_OP_F2U:
        return !is_float(r) && (imm <= 32 || is_wide(r));
    case LS_OP_F2F:
        return is_float(r) && r != type;
    case LS_OP_F16_TO_F32:
    case LS_OP_BF16_TO_F32:
        return r == LS_TYPE_F32;
    case LS_OP_FBITS:
        return !is_float(r) && is_wide(r) == is_wide(type);
    case LS_OP_FFROM_BITS:
        return is_float(r) && is_wide(r) == is_wide(type);
    default:
        return r == LS_TYPE_I32;
    }
}

static void add_pure(ls_op op, ls_type type, ls_type explicit_type, uint64_t imm)
{
    const ls__ir_op_info *info = ls__ir_op(op);
    uint32_t count = (uint32_t)strlen(info->operands);
    ls_value args[3];
    ls__ir_cursor at = begin(info->name, false);
    for (uint32_t i = 0; i < count; i++) {
        char letter = info->operands[i];
        args[i] = operand(&at, letter == 'T' ? type : ls__ir_letter_type(letter, type));
    }
    ls_value value = ls__ir_emit(&at, op, explicit_type, args, count);
    ls__ir_def(at.function, value)->imm = imm;
    result(&at, value);
}

static void add_typed(ls_op op, ls_type type)
{
    bool sized = op == LS_OP_F2S || op == LS_OP_F2U;
    if (ls__ir_op(op)->result != 'r') {
        add_pure(op, type, LS_TYPE_VOID, op == LS_OP_INDEX ? 4 : 0);
        return;
    }
    for (int r = LS_TYPE_I32; r <= LS_TYPE_F64; r++) {
        for (uint64_t bits = sized ? 8 : 0; bits <= (sized ? 64 : 0); bits = bits ? bits * 2 : 1) {
            if (result_fits(op, type, (ls_type)r, bits))
                add_pure(op, type, (ls_type)r, bits);
        }
    }
}

static void add_all_pure(void)
{
    for (int o = LS_OP_NONE + 1; o < LS_OP_COUNT; o++) {
        const char *types = ls__ir_op((ls_op)o)->types;
        bool skip = o == LS_OP_CONST || o == LS_OP_PARAM || o == LS_OP_ID || o == LS_OP_RANGE ||
                    o == LS_OP_FRAWBITS;
        if (skip || !ls__ir_op_has((ls_op)o, 'P'))
            continue;
        if (!types[0])
            add_typed((ls_op)o, LS_TYPE_I32);
        for (const char *t = types; *t; t++) {
            bool narrow_only = o == LS_OP_F32_TO_F16 || o == LS_OP_F32_TO_BF16;
            add_typed((ls_op)o, *t == 'B' ? LS_TYPE_BOOL : *t == 'I' ? LS_TYPE_I32 : LS_TYPE_F32);
            if (*t != 'B' && !narrow_only)
                add_typed((ls_op)o, *t == 'I' ? LS_TYPE_I64 : LS_TYPE_F64);
        }
    }
}

/* --- constants, parameters, geometry, ranges -------------------------------------------------- */

static void add_constants(void)
{
    static const uint64_t bits[] = {0, 1, 0x80000000, UINT64_C(0x8000000000000000), 0x7fc00000};
    for (int type = LS_TYPE_BOOL; type <= LS_TYPE_F64; type++) {
        for (int i = 0; i < 5; i++) {
            uint64_t value = type == LS_TYPE_BOOL     ? bits[i] & 1
                             : is_wide((ls_type)type) ? bits[i]
                                                      : (uint32_t)bits[i];
            ls__ir_cursor at = begin("const", false);
            result(&at, ls__ir_const(&at, (ls_type)type, value));
        }
    }
}

static void add_ids(void)
{
    for (uint64_t which = 0; which < LS_ID_COUNT; which++) {
        for (uint64_t dimension = 0; dimension < 3; dimension++) {
            ls__ir_cursor at = begin("id", false);
            ls__ir_inst *id = ls__ir_insert(&at, LS_OP_ID, LS_TYPE_I32, NULL, 0);
            id->imm = which;
            id->imm2 = dimension;
            result(&at, id->id);
        }
    }
}

static void add_params(void)
{
    for (int m = LS_MEM_NONE + 1; m < LS_MEM_COUNT; m++) {
        ls__ir_cursor at = begin("param", false);
        uint32_t bytes = ls__ir_mem_bytes((ls_mem)m);
        ls__ir_param_add(at.function, (ls__ir_param){.name = "s",
                                                     .type_name = "u32",
                                                     .mem = (uint8_t)m,
                                                     .size = bytes,
                                                     .alignment = bytes});
        ls__ir_inst *param = ls__ir_insert(&at, LS_OP_PARAM, ls__ir_mem_type((ls_mem)m), NULL, 0);
        param->mem = (uint8_t)m;
        result(&at, param->id);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static ls_base object(ls__ir_cursor *at, ls_base_kind kind)
{
    static const uint8_t zeros[64];
    if (kind == LS_BASE_SHARED)
        return ls__ir_shared_add(at->function, "shared", 512, 8);
    if (kind == LS_BASE_LOCAL)
        return ls__ir_local_add(at->function, "local", 512, 8);
    return ls__ir_table_add(module, "table", zeros, sizeof zeros, 8);
}

/* Stored as one type and loaded as another; `kind` of what has no stores: only loaded. */
static void add_object(ls_base_kind kind, ls_mem stored, ls_mem loaded)
{
    ls__ir_cursor at = begin("object", false);
    ls_base base = object(&at, kind);
    if (kind != LS_BASE_CONST) {
        ls_value offset = lane_offset(&at, LS_ID_LOCAL_INDEX, LS_MEM_U64);
        ls__ir_store(&at, stored, base, offset, operand(&at, ls__ir_mem_type(stored)));
        if (kind == LS_BASE_SHARED)
            ls__ir_insert(&at, LS_OP_BARRIER, LS_TYPE_VOID, NULL, 0);
    }
    result(&at, ls__ir_load(&at, loaded, base, lane_offset(&at, LS_ID_LOCAL_INDEX, loaded)));
}

static void add_copy(ls_mem mem)
{
    ls__ir_cursor at = begin("copy", false);
    ls_base from = buffer(&at, mem), to = buffer(&at, mem);
    ls_value offset = lane_offset(&at, LS_ID_GLOBAL_ID, mem);
    ls__ir_store(&at, mem, to, offset, ls__ir_load(&at, mem, from, offset));
    ls__ir_inst *range = ls__ir_insert(&at, LS_OP_RANGE, LS_TYPE_I64, NULL, 0);
    range->base = from;
    result(&at, range->id);
}

static void add_atomic(ls_op op, uint64_t kind, ls_mem mem, ls_base_kind where, bool used)
{
    ls__ir_cursor at = begin("atomic", true);
    ls_type type = ls__ir_mem_type(mem);
    ls_base base = where == LS_BASE_BUFFER ? buffer(&at, mem) : object(&at, where);
    ls_value args[3] = {lane_offset(&at, LS_ID_LOCAL_INDEX, mem), operand(&at, type),
                        operand(&at, type)};
    ls__ir_inst *inst = ls__ir_insert(&at, op, type, args, op == LS_OP_ATOMIC ? 2 : 3);
    inst->imm = kind;
    inst->mem = (uint8_t)mem;
    inst->base = base;
    if (used)
        result(&at, inst->id);
}

static void add_atomics(ls_mem mem, ls_base_kind where)
{
    for (uint64_t kind = 0; kind < LS_ATOMIC_COUNT; kind++) {
        add_atomic(LS_OP_ATOMIC, kind, mem, where, false);
        add_atomic(LS_OP_ATOMIC, kind, mem, where, true);
    }
    add_atomic(LS_OP_ATOMIC_CAS, 0, mem, where, true);
}

static void add_memory(void)
{
    for (int m = LS_MEM_NONE + 1; m < LS_MEM_COUNT; m++) {
        add_copy((ls_mem)m);
        add_object(LS_BASE_CONST, LS_MEM_NONE, (ls_mem)m);
        for (int k = LS_MEM_NONE + 1; k < LS_MEM_COUNT; k++) {
            add_object(LS_BASE_SHARED, (ls_mem)m, (ls_mem)k);
            add_object(LS_BASE_LOCAL, (ls_mem)m, (ls_mem)k);
        }
    }
    for (int where = LS_BASE_BUFFER; where <= LS_BASE_SHARED; where++) {
        add_atomics(LS_MEM_I32, (ls_base_kind)where);
        add_atomics(LS_MEM_U64, (ls_base_kind)where);
    }
}

/* --- between lanes ---------------------------------------------------------------------------- */

static void add_between(ls_op op, ls_type type, uint64_t imm)
{
    bool has_lane = op == LS_OP_SG_SHUFFLE || op == LS_OP_SG_BROADCAST;
    ls__ir_cursor at = begin(ls__ir_op(op)->name, false);
    ls_value args[2] = {operand(&at, type), {0}};
    if (has_lane)
        args[1] = operand(&at, LS_TYPE_I32);
    ls_value value = ls__ir_emit(&at, op, LS_TYPE_VOID, args, has_lane ? 2 : 1);
    ls__ir_def(at.function, value)->imm = imm;
    result(&at, value);
}

static void add_cooperation(void)
{
    for (int type = LS_TYPE_BOOL; type <= LS_TYPE_F64; type++) {
        add_between(LS_OP_SG_SHUFFLE, (ls_type)type, 0);
        add_between(LS_OP_SG_BROADCAST, (ls_type)type, 0);
        add_between(LS_OP_WG_UNIFORM, (ls_type)type, 0);
        for (uint64_t kind = 0; kind < LS_REDUCE_COUNT; kind++) {
            bool of_floats = kind == LS_REDUCE_FMIN || kind == LS_REDUCE_FMAX;
            if (type != LS_TYPE_BOOL &&
                (kind == LS_REDUCE_ADD || of_floats == is_float((ls_type)type)))
                add_between(LS_OP_SG_REDUCE, (ls_type)type, kind);
        }
    }
    add_between(LS_OP_SG_BALLOT, LS_TYPE_BOOL, 0);
    ls__ir_cursor at = begin("trap", false);
    ls__ir_insert(&at, LS_OP_TRAP, LS_TYPE_VOID, (ls_value[]){operand(&at, LS_TYPE_I32)}, 1);
}

int main(void)
{
    ls__oom oom;
    ls_error error = {0};
    static unsigned accepted;
    static int bad;
    if (setjmp(oom.jump))
        return 1;
    module = ls__ir_module_create(&oom, 0);
    add_all_pure();
    add_constants();
    add_ids();
    add_params();
    add_memory();
    add_cooperation();
    if (ls__ir_verify(module, &error) != LS_OK) {
        fprintf(stderr, "%s (%s)\n", error.message, error.where);
        return 1;
    }
    for (int t = 0; ls__spirv_targets[t]; t++) {
        ls__spirv_try how = {.target = ls__spirv_targets[t]};
        bad |= ls__spirv_validate(module, &how, &accepted);
    }
    printf("%u kernels, %u modules are valid\n", kernel_count, accepted);
    ls__ir_module_destroy(&module);
    return bad || kernel_count < 600;
}
