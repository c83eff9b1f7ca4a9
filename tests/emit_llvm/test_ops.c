/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel for each operation and type, over special and random operands, against the interpreter
 * on all targets: what is pure, loads and stores of each memory type (also past the end, also
 * narrow ones), atomics, operations between lanes. All are functions of one module, so that it is
 * compiled once a target. The table of opcodes says what there is, so a new operation is tested
 * without being named here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "emit/llvm/target.h"
#include "harness.h"

enum { LANES = 2048, MAX_TRIALS = 512 };

static ls__ir_module *module;
static ls__trial trials[MAX_TRIALS];
static uint32_t trial_count;

/* --- inputs ----------------------------------------------------------------------------------- */

static const uint64_t specials[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    8,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    127,
                                    128,
                                    255,
                                    256,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x7fffffff,
                                    0x80000000,
                                    0x80000001,
                                    0xffffffff,
                                    0xfffffffe,
                                    0xffffffffffffffff,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0x100000000,
                                    0xffffffff80000000,
                                    0x3f800000,
                                    0xbf800000,
                                    0x3f000000,
                                    0x3effffff,
                                    0x3fc00000,
                                    0x40200000,
                                    0x4b000001,
                                    0x4affffff,
                                    0x00800000,
                                    0x007fffff,
                                    0x807fffff,
                                    0x7f7fffff,
                                    0x7f800000,
                                    0xff800000,
                                    0x7fc00000,
                                    0x7f800001,
                                    0xffc12345,
                                    0x4f000000,
                                    0x4effffff,
                                    0xcf000000,
                                    0x4f800000,
                                    0x5f000000,
                                    0x477fe000,
                                    0x477ff000,
                                    0x33000000,
                                    0x387fc000,
                                    0x7c00,
                                    0x7c01,
                                    0x03ff,
                                    0x7f81,
                                    0x3ff0000000000000,
                                    0xbff0000000000000,
                                    0x3fdfffffffffffff,
                                    0x4330000000000001,
                                    0x432fffffffffffff,
                                    0x0010000000000000,
                                    0x000fffffffffffff,
                                    0x7fefffffffffffff,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff8000000000000,
                                    0x7ff0000000000001,
                                    0xfff8123456789abc,
                                    0x41e0000000000000,
                                    0xc1e0000000000000,
                                    0x43e0000000000000,
                                    0xc3e0000000000000,
                                    0x43f0000000000000,
                                    0x47efffffe0000000,
                                    0x47effffff0000000,
                                    0x36a0000000000000,
                                    0x3690000000000000,
                                    0x380fffffe0000000};

static uint64_t draw(ls__rng *rng)
{
    uint64_t bits = specials[ls__rng_below(rng, sizeof specials / sizeof *specials)];
    switch (ls__rng_below(rng, 8)) {
    case 0:
        return ls__rng_u64(rng);
    case 1:
        return bits ^ UINT64_C(1) << ls__rng_below(rng, 64);
    case 2:
        return bits + ls__rng_u64(rng) % 5 - 2;
    case 3: /* floats of near exponents, in both formats */
        return (UINT64_C(0x3ff) << 52 | (ls__rng_u64(rng) >> 12)) ^ (UINT64_C(0x3f8) << 20);
    default:
        return bits;
    }
}

/* --- kernels ---------------------------------------------------------------------------------- */

static bool is_float(ls_type type)
{
    return type == LS_TYPE_F32 || type == LS_TYPE_F64;
}

static bool is_wide(ls_type type)
{
    return type == LS_TYPE_I64 || type == LS_TYPE_F64;
}

static ls_mem int_mem(ls_type type)
{
    return type == LS_TYPE_BOOL ? LS_MEM_BOOL : is_wide(type) ? LS_MEM_U64 : LS_MEM_U32;
}

static ls__ir_cursor begin_kernel(const char *name, const ls_mem *mems, uint32_t count,
                                  bool unordered)
{
    ls__ir_function *kernel = ls__ir_function_add(module, name, true);
    kernel->unordered = unordered;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = ls__ir_mem_bytes(mems[i]);
        ls__ir_param_add(kernel, (ls__ir_param){.name = "p",
                                                .type_name = "u32",
                                                .mem = (uint8_t)mems[i],
                                                .is_pointer = true,
                                                .size = bytes,
                                                .alignment = bytes});
    }
    return (ls__ir_cursor){.function = kernel, .region = kernel->body};
}

static ls_value id(ls__ir_cursor *at, ls_id which)
{
    ls__ir_inst *inst = ls__ir_insert(at, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    inst->imm = which;
    return inst->id;
}

static ls_value offset_of(ls__ir_cursor *at, ls_value index, uint64_t stride)
{
    return ls__ir_index(at, ls__ir_const_i64(at, 0), ls__ir_emit1(at, LS_OP_ZEXT, index), stride,
                        0);
}

/* Element of this lane in buffer `index`, as a value of `type`. */
static ls_value operand(ls__ir_cursor *at, uint32_t index, ls_type type)
{
    ls_mem mem = int_mem(type);
    ls_value offset = offset_of(at, id(at, LS_ID_GLOBAL_ID), ls__ir_mem_bytes(mem));
    ls_value value = ls__ir_load(at, mem, (ls_base){LS_BASE_BUFFER, index}, offset);
    return is_float(type) ? ls__ir_convert(at, LS_OP_FFROM_BITS, type, value) : value;
}

static void result(ls__ir_cursor *at, uint32_t index, ls_value value)
{
    ls_type type = ls__ir_type_of(at->function, value);
    if (is_float(type))
        value =
            ls__ir_convert(at, LS_OP_FBITS, type == LS_TYPE_F64 ? LS_TYPE_I64 : LS_TYPE_I32, value);
    ls_value offset = offset_of(at, id(at, LS_ID_GLOBAL_ID), ls__ir_mem_bytes(int_mem(type)));
    ls__ir_store(at, int_mem(type), (ls_base){LS_BASE_BUFFER, index}, offset, value);
}

/* Buffers of the kernel just made, of `elements` each; launched over LANES lanes, or one less. */
static void add_trial(const ls__ir_function *kernel, uint64_t seed, uint32_t elements)
{
    static const uint8_t scalars[8];
    ls__rng rng = {seed};
    if (trial_count == MAX_TRIALS)
        abort();
    ls__trial *t = &trials[trial_count++];
    *t = (ls__trial){
        .module = module, .kernel = kernel, .scalars = scalars, .global_size = {LANES, 1, 1}};
    for (uint32_t i = 0; i < kernel->params.count; i++) {
        uint32_t bytes = kernel->params.items[i].size;
        t->size[i] = (uint64_t)bytes * elements;
        t->bytes[i] = ls__mem_alloc(t->size[i], 1);
        for (uint64_t k = 0; k < elements; k++) {
            uint64_t bits = draw(&rng);
            memcpy(t->bytes[i] + k * bytes, &bits, bytes);
        }
    }
}

/* --- pure operations -------------------------------------------------------------------------- */

static ls_type type_of_letter(char letter, ls_type type)
{
    return letter == 'b'   ? LS_TYPE_BOOL
           : letter == 'w' ? LS_TYPE_I32
           : letter == 'q' ? LS_TYPE_I64
                           : type;
}

/* Result types of an operation whose result is explicit, for operands of `type`. */
static bool result_fits(ls_op op, ls_type type, ls_type result_type, uint64_t imm)
{
    switch (op) {
    case LS_OP_S2F:
    case LS_OP_U2F:
        return is_float(result_type);
    case LS_OP_F2S:
    case LS_OP_F2U:
        return !is_float(result_type) && result_type != LS_TYPE_BOOL &&
               (imm <= 32 || is_wide(result_type));
    case LS_OP_F2F:
        return is_float(result_type) && type != result_type;
    case LS_OP_F16_TO_F32:
    case LS_OP_BF16_TO_F32:
        return result_type == LS_TYPE_F32;
    case LS_OP_FBITS:
        return result_type == (type == LS_TYPE_F64 ? LS_TYPE_I64 : LS_TYPE_I32);
    case LS_OP_FFROM_BITS:
        return is_float(result_type) && is_wide(result_type) == is_wide(type);
    default:
        return false;
    }
}

static void add_pure(ls_op op, ls_type type, ls_type explicit_type, uint64_t imm, uint64_t imm2)
{
    const ls__ir_op_info *info = ls__ir_op(op);
    uint32_t count = (uint32_t)strlen(info->operands);
    ls_mem mems[4];
    ls_value args[3];
    char *name = ls__arena_printf(&module->arena, "%s.%u.%u.%llu.%llu", info->name, type,
                                  explicit_type, (unsigned long long)imm, (unsigned long long)imm2);
    for (uint32_t i = 0; i < count; i++)
        mems[i] = int_mem(type_of_letter(info->operands[i], type));
    ls_type result_type = info->result == 'r' ? explicit_type : type_of_letter(info->result, type);
    mems[count] = int_mem(result_type);
    ls__ir_cursor at = begin_kernel(name, mems, count + 1, false);
    for (uint32_t i = 0; i < count; i++)
        args[i] = operand(&at, i, type_of_letter(info->operands[i], type));
    ls_value value = ls__ir_emit(&at, op, explicit_type, args, count);
    ls__ir_def(at.function, value)->imm = imm;
    ls__ir_def(at.function, value)->imm2 = imm2;
    result(&at, count, value);
    add_trial(at.function, 100 + trial_count, LANES - trial_count % 3);
}

static void add_typed(ls_op op, ls_type type)
{
    static const uint64_t bits[] = {8, 16, 32, 64};
    if (ls__ir_op(op)->result != 'r') {
        add_pure(op, type, LS_TYPE_VOID, 0, 0);
        return;
    }
    bool sized = op == LS_OP_F2S || op == LS_OP_F2U;
    for (int r = LS_TYPE_I32; r <= LS_TYPE_F64; r++) {
        for (int b = 0; b < (sized ? 4 : 1); b++) {
            uint64_t imm = sized ? bits[b] : 0;
            if (result_fits(op, type, (ls_type)r, imm))
                add_pure(op, type, (ls_type)r, imm, 0);
        }
    }
}

static void add_indices(void)
{
    static const uint64_t strides[] = {0, 1, 4, 12, INT64_MAX, UINT64_C(1) << 63},
                          counts[] = {0, 1, 64};
    for (int s = 0; s < 6; s++) {
        for (int c = 0; c < 3; c++)
            add_pure(LS_OP_INDEX, LS_TYPE_VOID, LS_TYPE_VOID, strides[s], counts[c]);
    }
}

static void add_all_pure(void)
{
    for (int o = LS_OP_NONE + 1; o < LS_OP_COUNT; o++) {
        const ls__ir_op_info *info = ls__ir_op((ls_op)o);
        bool skip = o == LS_OP_CONST || o == LS_OP_PARAM || o == LS_OP_ID || o == LS_OP_RANGE ||
                    o == LS_OP_INDEX || o == LS_OP_FRAWBITS;
        if (skip || !ls__ir_op_has((ls_op)o, 'P'))
            continue;
        if (info->types[0] == 0) {
            add_typed((ls_op)o, LS_TYPE_I32);
            continue;
        }
        for (const char *t = info->types; *t; t++) {
            bool narrow_only = o == LS_OP_F32_TO_F16 || o == LS_OP_F32_TO_BF16;
            ls_type first = *t == 'B' ? LS_TYPE_BOOL : *t == 'I' ? LS_TYPE_I32 : LS_TYPE_F32;
            add_typed((ls_op)o, first);
            if (*t != 'B' && !narrow_only)
                add_typed((ls_op)o, *t == 'I' ? LS_TYPE_I64 : LS_TYPE_F64);
        }
    }
    add_indices();
}

/* --- memory ----------------------------------------------------------------------------------- */

/* out[i] = in[i + distance], in the element's own type; some lanes are out of range. */
static void add_copy(ls_mem mem, uint64_t stride_factor, bool divergent)
{
    uint32_t bytes = ls__ir_mem_bytes(mem);
    ls_mem mems[2] = {mem, mem};
    char *name = ls__arena_printf(&module->arena, "copy.%s.%llu.%d", ls__ir_mem_name(mem),
                                  (unsigned long long)stride_factor, divergent);
    ls__ir_cursor at = begin_kernel(name, mems, 2, false);
    ls_value lane = id(&at, LS_ID_GLOBAL_ID);
    ls_value from = ls__ir_emit2(&at, LS_OP_ADD, lane, ls__ir_const_i32(&at, 3));
    if (divergent) {
        ls_value odd = ls__ir_emit2(&at, LS_OP_AND, lane, ls__ir_const_i32(&at, 5));
        ls__ir_inst *inst =
            ls__ir_if(&at, ls__ir_emit2(&at, LS_OP_EQ, odd, ls__ir_const_i32(&at, 1)));
        at.region = inst->regions[0];
    }
    ls_value value = ls__ir_load(&at, mem, (ls_base){LS_BASE_BUFFER, 0},
                                 offset_of(&at, from, bytes * stride_factor));
    ls__ir_store(&at, mem, (ls_base){LS_BASE_BUFFER, 1}, offset_of(&at, lane, bytes), value);
    add_trial(at.function, 100 + trial_count, LANES - 5);
}

static void add_atomic(ls_atomic kind, ls_mem mem)
{
    ls_mem mems[2] = {mem, mem};
    char *name = ls__arena_printf(&module->arena, "atomic.%u.%s", kind, ls__ir_mem_name(mem));
    ls__ir_cursor at = begin_kernel(name, mems, 2, false);
    ls_type type = ls__ir_mem_type(mem);
    ls_value place =
        ls__ir_emit2(&at, LS_OP_UREM, id(&at, LS_ID_GLOBAL_ID), ls__ir_const_i32(&at, 37));
    ls_value args[2] = {offset_of(&at, place, ls__ir_mem_bytes(mem)), operand(&at, 0, type)};
    ls__ir_inst *inst = ls__ir_insert(&at, LS_OP_ATOMIC, type, args, 2);
    inst->imm = kind;
    inst->mem = (uint8_t)mem;
    inst->base = (ls_base){LS_BASE_BUFFER, 1};
    add_trial(at.function, 100 + trial_count, 35);
}

static void add_memory(void)
{
    for (int m = LS_MEM_NONE + 1; m < LS_MEM_COUNT; m++) {
        add_copy((ls_mem)m, 1, false);
        add_copy((ls_mem)m, 1, true);
        add_copy((ls_mem)m, 3, false);
    }
    for (int kind = 0; kind < LS_ATOMIC_XCHG; kind++) {
        add_atomic((ls_atomic)kind, LS_MEM_U32);
        add_atomic((ls_atomic)kind, LS_MEM_I64);
    }
}

/* --- between lanes ---------------------------------------------------------------------------- */

static void add_between(ls_op op, ls_type type, uint64_t imm)
{
    bool has_lane = op == LS_OP_SG_SHUFFLE || op == LS_OP_SG_BROADCAST;
    ls_type result_type = op == LS_OP_SG_BALLOT ? LS_TYPE_I32 : type;
    ls_mem mems[3] = {int_mem(type), LS_MEM_U32, int_mem(result_type)};
    char *name = ls__arena_printf(&module->arena, "%s.%u.%llu", ls__ir_op(op)->name, type,
                                  (unsigned long long)imm);
    ls__ir_cursor at = begin_kernel(name, mems, 3, false);
    ls_value args[2] = {operand(&at, 0, type),
                        has_lane ? operand(&at, 1, LS_TYPE_I32) : (ls_value){0}};
    ls_value value = ls__ir_emit(&at, op, LS_TYPE_VOID, args, has_lane ? 2 : 1);
    ls__ir_def(at.function, value)->imm = imm;
    result(&at, 2, value);
    add_trial(at.function, 100 + trial_count, LANES);
}

static void add_cooperation(void)
{
    static const ls_type types[] = {LS_TYPE_BOOL, LS_TYPE_I32, LS_TYPE_I64, LS_TYPE_F32,
                                    LS_TYPE_F64};
    for (int t = 0; t < 5; t++) {
        add_between(LS_OP_SG_SHUFFLE, types[t], 0);
        add_between(LS_OP_SG_BROADCAST, types[t], 0);
        add_between(LS_OP_WG_UNIFORM, types[t], 0);
        for (uint64_t kind = 0; kind < LS_REDUCE_COUNT; kind++) {
            bool of_floats = kind == LS_REDUCE_FMIN || kind == LS_REDUCE_FMAX;
            if (types[t] != LS_TYPE_BOOL &&
                (kind == LS_REDUCE_ADD || of_floats == is_float(types[t])))
                add_between(LS_OP_SG_REDUCE, types[t], kind);
        }
    }
    add_between(LS_OP_SG_BALLOT, LS_TYPE_BOOL, 0);
}

int main(int argc, char **argv)
{
    const char *target = argc > 1 ? argv[1] : NULL;
    ls__oom oom;
    ls_error error = {0};
    unsigned runs = 0;
    if (target && !ls__llvm_target_runs(target)) {
        printf("SKIP: this machine cannot run %s\n", target);
        return 77;
    }
    if (setjmp(oom.jump))
        return 1;
    module = ls__ir_module_create(&oom, 0);
    add_all_pure();
    add_memory();
    add_cooperation();
    if (ls__ir_verify(module, &error) != LS_OK) {
        fprintf(stderr, "%s (%s)\n", error.message, error.where);
        return 1;
    }
    int bad = ls__compare_all(trials, trial_count, target, &runs);
    printf("%u kernels, %u comparisons with the interpreter\n", trial_count, runs);
    for (uint32_t i = 0; i < trial_count; i++)
        ls__trial_finish(&trials[i]);
    ls__ir_module_destroy(&module);
    return bad || trial_count < 100;
}
