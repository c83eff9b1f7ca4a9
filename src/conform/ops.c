/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row for each operation and type: what is pure, by the opcode table, so that a new operation is
 * tested without being named here; loads and stores of each memory type, in and out of bounds;
 * atomics; operations between lanes; the launch geometry. Floats go in and out as integers, so that
 * the bits of NaNs arrive as they are.
 *
 * Kernels that need a capability (f64, 64-bit atomics) are kept in groups of their own: a device
 * without it refuses whole programs.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "conform/case.h"

enum { GROUP = 32, QUICK_LANES = 256, LANES = 4096, CELLS = 37 };

typedef enum need { NEED_NOTHING, NEED_F64, NEED_ATOMICS64, NEED_COUNT } need;

typedef struct op_info {
    const char *name, *types, *operands, *flags;
    char result;
} op_info;

static const op_info infos[LS_OP_COUNT] = {
#define LS_OP(name, text, types, operands, result, flags, doc)                                     \
    [LS_OP_##name] = {text, types, operands, flags, result},
#include "lockstep/ops.def"
#undef LS_OP
};

static const char *const type_names[] = {
#define X(name, text, bytes) text,
    LS_TYPE_TABLE(X)
#undef X
};

static const char *const mem_names[] = {
#define X(name, text, bytes, type) text,
    LS_MEM_TABLE(X)
#undef X
};

static const uint32_t mem_bytes[] = {
#define X(name, text, bytes, type) bytes,
    LS_MEM_TABLE(X)
#undef X
};

static const ls_type mem_types[] = {
#define X(name, text, bytes, type) LS_TYPE_##type,
    LS_MEM_TABLE(X)
#undef X
};

typedef struct maker {
    const ls__conform_plan *plan;
    need need; /* which kernels are being made now */
    ls_builder *builder;
    ls__case cases[GROUP];
    uint32_t count;
    uint64_t lanes;
    ls__case *current;
    ls_status status;
    ls_error *error;
} maker;

/* --- groups ----------------------------------------------------------------------------------- */
static void flush(maker *m)
{
    ls_module *module = NULL;
    if (m->builder && m->status == LS_OK) {
        m->status = ls_builder_finish(&m->builder, &module, m->error);
        ls__group group = {.module = module, .cases = m->cases, .count = m->count};
        if (m->status == LS_OK)
            m->status = m->plan->take(m->plan->context, &group, m->error);
    }
    ls_builder_destroy(&m->builder);
    ls_module_destroy(&module);
    for (uint32_t i = 0; i < m->count; i++)
        ls__case_finish(&m->cases[i]);
    m->count = 0;
}

/* Begins the kernel of a row whose buffers have these element types, all of m->lanes elements. The
 * last `outputs` of them are downloaded. False: the row is not wanted, or not now. */
static bool begin(maker *m, const ls__case *row, need needs, const ls_mem *mems, uint32_t count,
                  uint32_t outputs, bool unordered)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    ls_param_desc params[4] = {{0}};
    if (m->status != LS_OK || needs != m->need || !m->plan->wanted(m->plan->context, row->name))
        return false;
    if (m->count == GROUP)
        flush(m);
    if (m->status == LS_OK && !m->builder)
        m->status = ls_builder_create(&m->builder, m->error);
    if (m->status != LS_OK)
        return false;
    ls__case *c = m->current = &m->cases[m->count++];
    *c = *row;
    snprintf(c->kernel, sizeof c->kernel, "k%u", m->count - 1);
    c->global[0] = (uint32_t)m->lanes;
    c->vectors = m->lanes;
    c->sorted = unordered;
    for (uint32_t i = 0; i < count && m->status == LS_OK; i++) {
        params[i] = (ls_param_desc){.name = names[i], .mem = mems[i], .is_pointer = true};
        m->status = ls__case_add_buffer(c, mems[i], mem_bytes[mems[i]], m->lanes,
                                        i >= count - outputs, m->error);
    }
    ls_function_desc desc = {.struct_size = sizeof desc,
                             .name = c->kernel,
                             .is_kernel = true,
                             .unordered = unordered,
                             .params = params,
                             .param_count = count};
    ls_builder_begin(m->builder, &desc);
    return m->status == LS_OK;
}

static void put(ls__case_buffer *buffer, uint64_t index, uint64_t bits)
{
    for (uint32_t i = 0; i < buffer->element; i++)
        buffer->bytes[index * buffer->element + i] = (uint8_t)(bits >> (8 * i));
}

/* The operand in buffer `index` is a value of `type`. Only the first one runs through the special
 * values in order; the others meet them at random. */
static void fill(maker *m, uint32_t index, ls_type type)
{
    ls__case *c = m->current;
    ls__rng rng = ls__vectors_rng(m->plan->seed + index, c->name);
    uint64_t shift = index ? ls__vectors_specials(type) : 0;
    for (uint64_t i = 0; i < m->lanes; i++)
        put(&c->buffers[index], i, ls__vectors_draw(&rng, type, i + shift));
}

/* --- pieces of kernels ------------------------------------------------------------------------ */
static bool is_float(ls_type type)
{
    return type == LS_TYPE_F32 || type == LS_TYPE_F64;
}

static bool is_wide(ls_type type)
{
    return type == LS_TYPE_I64 || type == LS_TYPE_F64;
}

static ls_mem bits_mem(ls_type type)
{
    return type == LS_TYPE_BOOL ? LS_MEM_BOOL : is_wide(type) ? LS_MEM_U64 : LS_MEM_U32;
}

static ls_base buffer(uint32_t index)
{
    return (ls_base){LS_BASE_BUFFER, index};
}

static ls_value op1(maker *m, ls_op op, ls_type result, ls_value a)
{
    return ls_builder_op(m->builder, op, result, &a, 1);
}

static ls_value op2(maker *m, ls_op op, ls_value a, ls_value b)
{
    ls_value args[2] = {a, b};
    return ls_builder_op(m->builder, op, LS_TYPE_VOID, args, 2);
}

static ls_value lane(maker *m)
{
    return ls_builder_id(m->builder, LS_ID_GLOBAL_ID, 0);
}

static ls_value i32(maker *m, uint32_t value)
{
    return ls_builder_const(m->builder, LS_TYPE_I32, value);
}

static ls_value offset_of(maker *m, ls_value index, ls_mem mem)
{
    ls_value zero = ls_builder_const(m->builder, LS_TYPE_I64, 0);
    ls_value wide = op1(m, LS_OP_ZEXT, LS_TYPE_VOID, index);
    return ls_builder_index(m->builder, zero, wide, mem_bytes[mem], 0);
}

/* This lane's element of a buffer, as a value of `type`. */
static ls_value operand(maker *m, uint32_t index, ls_type type)
{
    ls_mem mem = bits_mem(type);
    ls_value value = ls_builder_load(m->builder, mem, buffer(index), offset_of(m, lane(m), mem));
    return is_float(type) ? op1(m, LS_OP_FFROM_BITS, type, value) : value;
}

static void result(maker *m, uint32_t index, ls_type type, ls_value value)
{
    ls_mem mem = bits_mem(type);
    if (is_float(type))
        value = op1(m, LS_OP_FBITS, is_wide(type) ? LS_TYPE_I64 : LS_TYPE_I32, value);
    ls_builder_store(m->builder, mem, buffer(index), offset_of(m, lane(m), mem), value);
}

/* --- pure operations -------------------------------------------------------------------------- */
static ls_type type_of_letter(char letter, ls_type type)
{
    return letter == 'b'   ? LS_TYPE_BOOL
           : letter == 'w' ? LS_TYPE_I32
           : letter == 'q' ? LS_TYPE_I64
                           : type;
}

/* Whether an operation whose result type is explicit may have this one. */
static bool result_fits(ls_op op, ls_type type, ls_type result_type, uint32_t bits)
{
    switch (op) {
    case LS_OP_S2F:
    case LS_OP_U2F:
        return is_float(result_type);
    case LS_OP_F2S:
    case LS_OP_F2U:
        return !is_float(result_type) && (bits <= 32 || is_wide(result_type));
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

/* f16 and bf16 come as the low half of an i32: go through their whole range evenly. */
static void fill_halves(maker *m)
{
    ls__rng rng = ls__vectors_rng(m->plan->seed, m->current->name);
    uint64_t step = 65536 / m->lanes;
    for (uint64_t i = 0; i < m->lanes; i++)
        put(&m->current->buffers[0], i,
            (ls__rng_u64(&rng) << 16 & 0xffff0000) | (i * step + ls__rng_u64(&rng) % step));
}

static void add_pure(maker *m, ls_op op, ls_type type, ls_type explicit_type, uint32_t bits)
{
    const op_info *info = &infos[op];
    uint32_t count = (uint32_t)strlen(info->operands);
    ls_type result_type = info->result == 'r' ? explicit_type : type_of_letter(info->result, type);
    bool wide_float = result_type == LS_TYPE_F64;
    ls_type types[3];
    ls_mem mems[4];
    ls_value args[3], value;
    ls__case row = {.unit = 1};
    for (uint32_t i = 0; i < count; i++) {
        types[i] = type_of_letter(info->operands[i], type);
        mems[i] = bits_mem(types[i]);
        wide_float |= types[i] == LS_TYPE_F64;
    }
    mems[count] = bits_mem(result_type);
    ls_type shown = info->types[0] ? type : types[0];
    if (bits)
        snprintf(row.operation, sizeof row.operation, "%s %u", info->name, bits);
    else
        snprintf(row.operation, sizeof row.operation, "%s", info->name);
    if (info->result == 'r')
        snprintf(row.type, sizeof row.type, "%s-%s", type_names[shown], type_names[result_type]);
    else
        snprintf(row.type, sizeof row.type, "%s", type_names[shown]);
    if (bits)
        snprintf(row.name, sizeof row.name, "op/%s.%u/%s", info->name, bits, row.type);
    else
        snprintf(row.name, sizeof row.name, "op/%s/%s", info->name, row.type);
    if (!begin(m, &row, wide_float ? NEED_F64 : NEED_NOTHING, mems, count + 1, 1, false))
        return;
    for (uint32_t i = 0; i < count; i++) {
        fill(m, i, types[i]);
        args[i] = operand(m, i, types[i]);
    }
    if (op == LS_OP_F16_TO_F32 || op == LS_OP_BF16_TO_F32)
        fill_halves(m);
    if (bits)
        value = ls_builder_float_to_int(m->builder, op, explicit_type, bits, args[0]);
    else
        value = ls_builder_op(m->builder, op, explicit_type, args, count);
    result(m, count, result_type, value);
    ls_builder_end(m->builder);
}

static void add_typed(maker *m, ls_op op, ls_type type)
{
    static const uint32_t widths[] = {8, 16, 32, 64};
    if (infos[op].result != 'r') {
        add_pure(m, op, type, LS_TYPE_VOID, 0);
        return;
    }
    bool sized = op == LS_OP_F2S || op == LS_OP_F2U;
    for (int r = LS_TYPE_I32; r <= LS_TYPE_F64; r++) {
        for (int w = 0; w < (sized ? 4 : 1); w++) {
            uint32_t bits = sized ? widths[w] : 0;
            if (result_fits(op, type, (ls_type)r, bits))
                add_pure(m, op, type, (ls_type)r, bits);
        }
    }
}

static bool is_tested_here(ls_op op)
{
    bool elsewhere = op == LS_OP_CONST || op == LS_OP_PARAM || op == LS_OP_ID ||
                     op == LS_OP_RANGE || op == LS_OP_INDEX || op == LS_OP_FRAWBITS;
    return strchr(infos[op].flags, 'P') && !elsewhere;
}

static void add_all_pure(maker *m)
{
    for (int o = LS_OP_NONE + 1; o < LS_OP_COUNT; o++) {
        ls_op op = (ls_op)o;
        bool narrow_only = op == LS_OP_F32_TO_F16 || op == LS_OP_F32_TO_BF16;
        if (!is_tested_here(op))
            continue;
        if (!infos[op].types[0])
            add_typed(m, op, LS_TYPE_I32);
        for (const char *t = infos[op].types; *t; t++) {
            add_typed(m, op, *t == 'B' ? LS_TYPE_BOOL : *t == 'I' ? LS_TYPE_I32 : LS_TYPE_F32);
            if (*t != 'B' && !narrow_only)
                add_typed(m, op, *t == 'I' ? LS_TYPE_I64 : LS_TYPE_F64);
        }
    }
}

static void add_indices(maker *m)
{
    static const uint64_t strides[] = {0, 1, 4, 12, INT64_MAX, UINT64_C(1) << 63};
    static const uint64_t counts[] = {0, 1, 64};
    static const ls_mem mems[] = {LS_MEM_U64, LS_MEM_U64, LS_MEM_U64};
    for (uint32_t i = 0; i < 18; i++) {
        uint64_t stride = strides[i / 3], count = counts[i % 3];
        ls__case row = {.operation = "index", .type = "i64", .unit = 1};
        snprintf(row.name, sizeof row.name, "op/index/%llu.%llu", (unsigned long long)stride,
                 (unsigned long long)count);
        if (!begin(m, &row, NEED_NOTHING, mems, 3, 1, false))
            continue;
        fill(m, 0, LS_TYPE_I64);
        fill(m, 1, LS_TYPE_I64);
        ls_value base = operand(m, 0, LS_TYPE_I64), index = operand(m, 1, LS_TYPE_I64);
        result(m, 2, LS_TYPE_I64, ls_builder_index(m->builder, base, index, stride, count));
        ls_builder_end(m->builder);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */
static void fill_memory(maker *m, uint32_t index, ls_mem mem)
{
    fill(m, index, mem == LS_MEM_F32 ? LS_TYPE_F32 : mem == LS_MEM_F64 ? LS_TYPE_F64 : LS_TYPE_I64);
}

/* b[i] = a[i] in the element's own type. */
static void add_copy(maker *m, ls_mem mem)
{
    ls_mem mems[2] = {mem, mem};
    ls__case row = {.operation = "load, store", .unit = 1};
    snprintf(row.type, sizeof row.type, "%s", mem_names[mem]);
    snprintf(row.name, sizeof row.name, "memory/copy/%s", mem_names[mem]);
    if (!begin(m, &row, mem == LS_MEM_F64 ? NEED_F64 : NEED_NOTHING, mems, 2, 1, false))
        return;
    fill_memory(m, 0, mem);
    ls_value at = offset_of(m, lane(m), mem);
    ls_builder_store(m->builder, mem, buffer(1), at,
                     ls_builder_load(m->builder, mem, buffer(0), at));
    ls_builder_end(m->builder);
}

/* c[i or far away] = a[b[i]] with subscripts in and out of bounds. */
static void add_bounds(maker *m, ls_mem mem)
{
    ls_mem mems[3] = {mem, LS_MEM_U32, mem};
    ls__case row = {.operation = "load, store"};
    snprintf(row.type, sizeof row.type, "%s", mem_names[mem]);
    snprintf(row.name, sizeof row.name, "memory/bounds/%s", mem_names[mem]);
    if (!begin(m, &row, mem == LS_MEM_F64 ? NEED_F64 : NEED_NOTHING, mems, 3, 1, false))
        return;
    ls__rng rng = ls__vectors_rng(m->plan->seed + 9, row.name);
    fill_memory(m, 0, mem);
    fill_memory(m, 2, mem);
    for (uint64_t i = 0; i < m->lanes; i++)
        put(&m->current->buffers[1], i,
            ls__rng_below(&rng, 4) ? ls__rng_below(&rng, (uint32_t)m->lanes + 3)
                                   : ls__rng_u64(&rng));
    ls_value from = operand(m, 1, LS_TYPE_I32);
    ls_value value = ls_builder_load(m->builder, mem, buffer(0), offset_of(m, from, mem));
    ls_value far = op2(m, LS_OP_SHL, op2(m, LS_OP_AND, from, i32(m, 1)), i32(m, 31));
    ls_value to = op2(m, LS_OP_OR, lane(m), far);
    ls_builder_store(m->builder, mem, buffer(2), offset_of(m, to, mem), value);
    ls_builder_end(m->builder);
}

static const char *const atomic_names[] = {
#define X(name, text) text,
    LS_ATOMIC_TABLE(X)
#undef X
};

static void add_atomic(maker *m, ls_atomic kind, ls_mem mem)
{
    ls_mem mems[2] = {mem, mem};
    ls__case row = {0};
    snprintf(row.operation, sizeof row.operation, "atomic %s", atomic_names[kind]);
    snprintf(row.type, sizeof row.type, "%s", mem_names[mem]);
    snprintf(row.name, sizeof row.name, "atomic/%s/%s", atomic_names[kind], mem_names[mem]);
    if (!begin(m, &row, mem_bytes[mem] == 8 ? NEED_ATOMICS64 : NEED_NOTHING, mems, 2, 1, false))
        return;
    fill(m, 0, mem_types[mem]);
    fill(m, 1, mem_types[mem]);
    ls_value place = op2(m, LS_OP_UREM, lane(m), i32(m, CELLS));
    ls_builder_atomic(m->builder, kind, mem, buffer(1), offset_of(m, place, mem),
                      operand(m, 0, mem_types[mem]));
    ls_builder_end(m->builder);
}

/* Atomics whose returned value is used: in what order the lanes come is open, but what all of them
 * together got is not. Element 0 is the cell they meet at; lane i writes element i + 1. */
static void add_returned(maker *m, ls_mem mem, ls_atomic kind)
{
    bool swaps = kind == LS_ATOMIC_COUNT; /* compare and exchange */
    const char *which = swaps ? "cas" : atomic_names[kind];
    ls__case row = {0};
    snprintf(row.operation, sizeof row.operation, "atomic %s, returned", which);
    snprintf(row.type, sizeof row.type, "%s", mem_names[mem]);
    snprintf(row.name, sizeof row.name, "atomic/%s-returned/%s", which, mem_names[mem]);
    if (!begin(m, &row, mem_bytes[mem] == 8 ? NEED_ATOMICS64 : NEED_NOTHING, &mem, 1, 1, true))
        return;
    ls_type type = mem_types[mem];
    ls_value next = op2(m, LS_OP_ADD, lane(m), i32(m, 1));
    ls_value own = type == LS_TYPE_I64 ? op1(m, LS_OP_ZEXT, LS_TYPE_VOID, next) : next;
    ls_value cell = ls_builder_const(m->builder, LS_TYPE_I64, 0);
    ls_value zero = ls_builder_const(m->builder, type, 0);
    ls_value one = ls_builder_const(m->builder, type, 1), got;
    ls_builder_begin_if(m->builder, op2(m, LS_OP_ULT, next, i32(m, (uint32_t)m->lanes)));
    if (swaps) /* 1 for the one lane that came first */
        got = op2(m, LS_OP_XOR, one,
                  ls_builder_atomic_cas(m->builder, mem, buffer(0), cell, zero, one));
    else
        got = ls_builder_atomic(m->builder, kind, mem, buffer(0), cell,
                                kind == LS_ATOMIC_ADD ? one : own);
    ls_builder_store(m->builder, mem, buffer(0), offset_of(m, next, mem), got);
    ls_builder_close(m->builder);
    ls_builder_end(m->builder);
}

static void add_memory(maker *m)
{
    static const ls_mem cells[] = {LS_MEM_U32, LS_MEM_U64};
    for (int mem = LS_MEM_NONE + 1; mem < LS_MEM_COUNT; mem++) {
        add_copy(m, (ls_mem)mem);
        add_bounds(m, (ls_mem)mem);
    }
    for (uint32_t i = 0; i < 2; i++) {
        for (int kind = 0; kind < LS_ATOMIC_XCHG; kind++)
            add_atomic(m, (ls_atomic)kind, cells[i]);
        add_returned(m, cells[i], LS_ATOMIC_ADD);
        add_returned(m, cells[i], LS_ATOMIC_XCHG);
        add_returned(m, cells[i], LS_ATOMIC_COUNT);
    }
}

/* --- between lanes ---------------------------------------------------------------------------- */
static const char *const reduce_names[] = {
#define X(name, text) text,
    LS_REDUCE_TABLE(X)
#undef X
};

static void add_between(maker *m, ls_op op, ls_type type, int kind)
{
    bool takes_lane = op == LS_OP_SG_SHUFFLE || op == LS_OP_SG_BROADCAST;
    ls_type result_type = op == LS_OP_SG_BALLOT ? LS_TYPE_I32 : type;
    ls_mem mems[3] = {bits_mem(type), LS_MEM_U32, bits_mem(result_type)};
    ls__case row = {.unit = 64};
    snprintf(row.operation, sizeof row.operation, "%s%s%s", infos[op].name, kind < 0 ? "" : " ",
             kind < 0 ? "" : reduce_names[kind]);
    snprintf(row.type, sizeof row.type, "%s", type_names[type]);
    snprintf(row.name, sizeof row.name, "subgroup/%s%s%s/%s", infos[op].name, kind < 0 ? "" : ".",
             kind < 0 ? "" : reduce_names[kind], type_names[type]);
    if (!begin(m, &row, type == LS_TYPE_F64 ? NEED_F64 : NEED_NOTHING, mems, 3, 1, false))
        return;
    fill(m, 0, type);
    fill(m, 1, LS_TYPE_I32);
    ls_value value, args[2] = {operand(m, 0, type)};
    if (takes_lane)
        args[1] = operand(m, 1, LS_TYPE_I32);
    if (kind >= 0)
        value = ls_builder_reduce(m->builder, (ls_reduce)kind, args[0]);
    else
        value = ls_builder_op(m->builder, op, LS_TYPE_VOID, args, takes_lane ? 2 : 1);
    result(m, 2, result_type, value);
    ls_builder_end(m->builder);
}

static void add_cooperation(maker *m)
{
    for (int t = LS_TYPE_BOOL; t <= LS_TYPE_F64; t++) {
        ls_type type = (ls_type)t;
        add_between(m, LS_OP_SG_SHUFFLE, type, -1);
        add_between(m, LS_OP_SG_BROADCAST, type, -1);
        add_between(m, LS_OP_WG_UNIFORM, type, -1);
        for (int kind = 0; kind < LS_REDUCE_COUNT && type != LS_TYPE_BOOL; kind++) {
            bool of_floats = kind == LS_REDUCE_FMIN || kind == LS_REDUCE_FMAX;
            if (kind == LS_REDUCE_ADD || of_floats == is_float(type))
                add_between(m, LS_OP_SG_REDUCE, type, kind);
        }
    }
    add_between(m, LS_OP_SG_BALLOT, LS_TYPE_BOOL, -1);
}

/* --- geometry --------------------------------------------------------------------------------- */
static const char *const id_names[] = {
#define X(name, text) text,
    LS_ID_TABLE(X)
#undef X
};

static void add_id(maker *m, ls_id id, uint32_t dimension)
{
    static const ls_mem mem = LS_MEM_U32;
    ls__case row = {.type = "i32"};
    snprintf(row.operation, sizeof row.operation, "id %s %u", id_names[id], dimension);
    snprintf(row.name, sizeof row.name, "id/%s/%u", id_names[id], dimension);
    if (!begin(m, &row, NEED_NOTHING, &mem, 1, 1, false))
        return;
    ls__case *c = m->current;
    c->global[0] = 70;
    c->global[1] = 3;
    c->global[2] = 2;
    c->vectors = 128 * 3 * 2;
    ls_value x = lane(m), y = ls_builder_id(m->builder, LS_ID_GLOBAL_ID, 1),
             z = ls_builder_id(m->builder, LS_ID_GLOBAL_ID, 2);
    ls_value row_of = op2(m, LS_OP_ADD, y, op2(m, LS_OP_MUL, z, i32(m, 3)));
    ls_value at = op2(m, LS_OP_ADD, x, op2(m, LS_OP_MUL, row_of, i32(m, 128)));
    ls_builder_store(m->builder, mem, buffer(0), offset_of(m, at, mem),
                     ls_builder_id(m->builder, id, dimension));
    ls_builder_end(m->builder);
}

static void add_geometry(maker *m)
{
    uint64_t lanes = m->lanes;
    m->lanes = 128 * 3 * 2;
    for (int id = 0; id < LS_ID_COUNT; id++)
        for (uint32_t d = 0; d < (id <= LS_ID_WORKGROUP_COUNT ? 3u : 1u); d++)
            add_id(m, (ls_id)id, d);
    m->lanes = lanes;
}

ls_status ls__conform_ops(const ls__conform_plan *plan, ls_error *error)
{
    maker *m = ls__mem_alloc(1, sizeof *m);
    if (!m)
        return ls__fail_oom(error, sizeof *m);
    m->plan = plan;
    m->error = error;
    m->lanes = plan->quick ? QUICK_LANES : LANES;
    for (int need = 0; need < NEED_COUNT; need++) {
        m->need = (enum need)need;
        add_all_pure(m);
        add_indices(m);
        add_memory(m);
        add_cooperation(m);
        add_geometry(m);
        flush(m);
    }
    ls_status status = m->status;
    ls__mem_free(m);
    return status;
}
