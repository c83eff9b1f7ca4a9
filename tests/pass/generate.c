/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random IR programs. Every program is inside the contract by construction: lanes write only their
 * own elements of the outputs, shared memory is written and read across barriers, loops are
 * counted, and what synchronises stands at top level or in loops whose count is constant.
 * Out-of-range accesses are welcome: they have a meaning.
 */
#include "generate.h"

#include "base/rng.h"

enum { POOL = 256, VARS = 6, LANES = 128, SHARED_WORDS = 64, LOCAL_BYTES = 32 };

typedef struct pool {
    ls_value items[LS_TYPE_COUNT][POOL];
    uint32_t count[LS_TYPE_COUNT];
} pool;

typedef struct generator {
    ls__rng rng;
    ls__ir_cursor at;
    ls__ir_module *module;
    pool values;
    ls_var vars[VARS];
    ls_base shared, local, table;
    ls_value lane;   /* i64: global lane */
    uint32_t budget; /* instructions still to be made, roughly */
    uint32_t depth, loop_depth, breakable;
    generate_mode mode;
    bool uniform; /* here barriers may stand */
    uint32_t callee;
} generator;

static const ls_type value_types[] = {LS_TYPE_BOOL, LS_TYPE_I32, LS_TYPE_I64, LS_TYPE_F32};
static const ls_type var_types[VARS] = {LS_TYPE_I32, LS_TYPE_I32, LS_TYPE_I64,
                                        LS_TYPE_F32, LS_TYPE_F32, LS_TYPE_BOOL};

static uint32_t below(generator *g, uint32_t bound)
{
    return ls__rng_below(&g->rng, bound);
}

static void keep(generator *g, ls_value value)
{
    ls_type type = ls__ir_type_of(g->at.function, value);
    if (type != LS_TYPE_VOID && g->values.count[type] < POOL)
        g->values.items[type][g->values.count[type]++] = value;
}

static ls_value constant(generator *g, ls_type type)
{
    static const uint64_t words[] = {0,   1,    2,          3,          5,          7,
                                     8,   10,   16,         31,         32,         33,
                                     255, 1000, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8};
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000,
                                      0x40000000, 0x3f000000, 0x7f800000, 0x7fc00000,
                                      0x00000001, 0x4b000000, 0x3dcccccd, 0x41200000};
    uint64_t bits = words[below(g, sizeof words / sizeof *words)];
    if (type == LS_TYPE_BOOL)
        bits &= 1;
    if (type == LS_TYPE_F32)
        bits = floats[below(g, sizeof floats / sizeof *floats)];
    if (type == LS_TYPE_I64 && below(g, 2))
        bits = (uint64_t)(int64_t)(int32_t)(uint32_t)bits;
    return ls__ir_const(&g->at, type, bits);
}

static ls_value pick(generator *g, ls_type type)
{
    uint32_t count = g->values.count[type];
    if (count == 0 || below(g, 6) == 0)
        return constant(g, type);
    /* Recent values more often, so that long chains arise. */
    uint32_t window = below(g, 2) && count > 8 ? 8 : count;
    return g->values.items[type][count - 1 - below(g, window)];
}

/* --- pure operations ------------------------------------------------------------------------- */

static ls_value typed_operand(generator *g, char letter, ls_type type)
{
    switch (letter) {
    case 'b':
        return pick(g, LS_TYPE_BOOL);
    case 'w':
        return pick(g, LS_TYPE_I32);
    case 'q':
        return pick(g, LS_TYPE_I64);
    default:
        return pick(g, type);
    }
}

/* Of operations whose type stands in the instruction. */
static ls_type result_of(ls_op op)
{
    return op == LS_OP_FBITS || op == LS_OP_F2S || op == LS_OP_F2U ? LS_TYPE_I32 : LS_TYPE_F32;
}

static void pure_operation(generator *g)
{
    for (;;) {
        ls_op op = (ls_op)(LS_OP_ADD + below(g, LS_OP_FFROM_BITS - LS_OP_ADD + 1));
        const ls__ir_op_info *info = ls__ir_op(op);
        ls_type type = value_types[below(g, 4)];
        char class = type == LS_TYPE_BOOL ? 'B' : type == LS_TYPE_F32 ? 'F' : 'I';
        bool fits = false;
        for (const char *t = info->types; *t; t++)
            fits |= *t == class;
        if ((*info->types && !fits) || op == LS_OP_FRAWBITS || op == LS_OP_F2F)
            continue;
        if (op == LS_OP_FFROM_BITS && type != LS_TYPE_I32)
            continue;
        ls_value args[3];
        uint32_t count = 0;
        for (const char *letter = info->operands; *letter; letter++)
            args[count++] = typed_operand(g, *letter, type);
        ls_value value = ls__ir_emit(&g->at, op, result_of(op), args, count);
        if (op == LS_OP_F2S || op == LS_OP_F2U)
            ls__ir_def(g->at.function, value)->imm = 8u << below(g, 3);
        keep(g, value);
        return;
    }
}

/* --- memory ---------------------------------------------------------------------------------- */

static ls_value masked_index(generator *g, uint32_t count)
{
    ls_value index = pick(g, LS_TYPE_I32);
    if (below(g, 3)) /* provably in range, mostly */
        index =
            ls__ir_emit2(&g->at, LS_OP_AND, index, ls__ir_const_i32(&g->at, (int32_t)count - 1));
    return ls__ir_emit1(&g->at, below(g, 2) ? LS_OP_ZEXT : LS_OP_SEXT, index);
}

static void load_input(generator *g)
{
    static const ls_mem mems[3] = {LS_MEM_U32, LS_MEM_F32, LS_MEM_U64};
    uint32_t buffer = below(g, 3);
    ls_value zero = ls__ir_const_i64(&g->at, 0);
    ls_value offset =
        ls__ir_index(&g->at, zero, masked_index(g, GENERATED_INPUTS),
                     ls__ir_mem_bytes(mems[buffer]), below(g, 2) ? GENERATED_INPUTS : 0);
    keep(g, ls__ir_load(&g->at, mems[buffer], (ls_base){LS_BASE_BUFFER, buffer}, offset));
}

static void load_table(generator *g)
{
    ls_value zero = ls__ir_const_i64(&g->at, 0);
    ls_value offset = ls__ir_index(&g->at, zero, masked_index(g, 16), 2, 0);
    keep(g, ls__ir_load(&g->at, below(g, 2) ? LS_MEM_U16 : LS_MEM_I8, g->table, offset));
}

static ls_value own_offset(generator *g, uint32_t stride)
{
    return ls__ir_index(&g->at, ls__ir_const_i64(&g->at, 0), g->lane, stride, 0);
}

static void store_word(generator *g)
{
    ls_value index = below(g, 2) ? ls__ir_const_i64(&g->at, below(g, GENERATED_WORDS + 2))
                                 : masked_index(g, GENERATED_WORDS);
    ls_value offset =
        ls__ir_index(&g->at, own_offset(g, 4 * GENERATED_WORDS), index, 4, GENERATED_WORDS);
    bool is_float = below(g, 2);
    ls__ir_store(&g->at, is_float ? LS_MEM_F32 : LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 3}, offset,
                 pick(g, is_float ? LS_TYPE_F32 : LS_TYPE_I32));
}

static void store_bytes(generator *g)
{
    static const ls_mem mems[] = {LS_MEM_BOOL, LS_MEM_I8,  LS_MEM_U8,
                                  LS_MEM_I16,  LS_MEM_F16, LS_MEM_BF16};
    ls_mem mem = mems[below(g, 6)];
    uint32_t bytes = ls__ir_mem_bytes(mem), count = GENERATED_BYTES / bytes;
    ls_value offset =
        ls__ir_index(&g->at, own_offset(g, GENERATED_BYTES), masked_index(g, count), bytes, count);
    ls__ir_store(&g->at, mem, (ls_base){LS_BASE_BUFFER, 4}, offset,
                 pick(g, mem == LS_MEM_BOOL ? LS_TYPE_BOOL : LS_TYPE_I32));
}

/* On an element of the lane's own, or outside the buffer; nobody reads the old value. */
static void atomic_update(generator *g)
{
    ls_value index = ls__ir_const_i64(&g->at, below(g, GENERATED_WORDS + 2));
    ls_value offset =
        ls__ir_index(&g->at, own_offset(g, 4 * GENERATED_WORDS), index, 4, GENERATED_WORDS);
    ls_value args[2] = {offset, pick(g, LS_TYPE_I32)};
    ls__ir_inst *inst = ls__ir_insert(&g->at, LS_OP_ATOMIC, LS_TYPE_I32, args, 2);
    inst->mem = LS_MEM_U32;
    inst->base = (ls_base){LS_BASE_BUFFER, 3};
    inst->imm = below(g, LS_ATOMIC_XCHG);
}

/* Local memory: a few fixed cells, so that promotion finds work, and now and then a moving one. */
static void local_access(generator *g)
{
    static const ls_mem mems[] = {LS_MEM_U32, LS_MEM_F32, LS_MEM_U16, LS_MEM_I8,
                                  LS_MEM_F16, LS_MEM_U64, LS_MEM_BOOL};
    uint32_t cell = below(g, 7);
    ls_mem mem = mems[cell];
    ls_value offset = ls__ir_const_i64(&g->at, cell * 4);
    if (cell == 6)
        offset = ls__ir_const_i64(&g->at, 28);
    if (cell < 2 && g->local.index == 1) /* this object has moving accesses */
        offset = ls__ir_index(&g->at, ls__ir_const_i64(&g->at, 0), masked_index(g, 8), 4,
                              below(g, 2) ? 8 : 0);
    if (below(g, 2))
        keep(g, ls__ir_load(&g->at, mem, g->local, offset));
    else
        ls__ir_store(&g->at, mem, g->local, offset, pick(g, ls__ir_mem_type(mem)));
}

static void variable(generator *g)
{
    uint32_t i = below(g, VARS);
    if (below(g, 2))
        keep(g, ls__ir_get(&g->at, g->vars[i]));
    else
        ls__ir_set(&g->at, g->vars[i], pick(g, var_types[i]));
}

/* --- between lanes --------------------------------------------------------------------------- */

static void barrier(generator *g)
{
    ls__ir_insert(&g->at, LS_OP_BARRIER, LS_TYPE_VOID, NULL, 0);
}

static ls_value local_index(generator *g)
{
    ls__ir_inst *id = ls__ir_insert(&g->at, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    id->imm = LS_ID_LOCAL_INDEX;
    return id->id;
}

static void exchange(generator *g)
{
    ls_value zero = ls__ir_const_i64(&g->at, 0);
    ls_value own = ls__ir_index(&g->at, zero, ls__ir_emit1(&g->at, LS_OP_ZEXT, local_index(g)), 4,
                                SHARED_WORDS);
    ls__ir_store(&g->at, LS_MEM_U32, g->shared, own, pick(g, LS_TYPE_I32));
    barrier(g);
    ls_value other = ls__ir_index(&g->at, zero, masked_index(g, SHARED_WORDS), 4, SHARED_WORDS);
    keep(g, ls__ir_load(&g->at, LS_MEM_U32, g->shared, other));
    barrier(g);
}

/* Reads what any lane of the grid has stored. */
static void grid_exchange(generator *g)
{
    ls__ir_insert(&g->at, LS_OP_GRID_BARRIER, LS_TYPE_VOID, NULL, 0);
    if (below(g, 3) == 0)
        return;
    ls_value zero = ls__ir_const_i64(&g->at, 0);
    ls_value any = ls__ir_index(&g->at, zero, masked_index(g, LANES * GENERATED_WORDS), 4, 0);
    keep(g, ls__ir_load(&g->at, LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 3}, any));
    ls__ir_insert(&g->at, LS_OP_GRID_BARRIER, LS_TYPE_VOID, NULL, 0);
}

static void subgroup(generator *g)
{
    ls_type type = value_types[1 + below(g, 3)];
    ls_value value = pick(g, type);
    ls__ir_inst *inst;
    switch (below(g, 5)) {
    case 0:
        inst = ls__ir_insert(&g->at, LS_OP_SG_SHUFFLE, type,
                             (ls_value[]){value, pick(g, LS_TYPE_I32)}, 2);
        break;
    case 1:
        inst = ls__ir_insert(&g->at, LS_OP_SG_BROADCAST, type,
                             (ls_value[]){value, pick(g, LS_TYPE_I32)}, 2);
        break;
    case 2:
        value = pick(g, LS_TYPE_BOOL);
        inst = ls__ir_insert(&g->at, LS_OP_SG_BALLOT, LS_TYPE_I32, &value, 1);
        break;
    case 3: {
        static const ls_reduce floats[] = {LS_REDUCE_ADD, LS_REDUCE_FMIN, LS_REDUCE_FMAX};
        static const ls_reduce ints[] = {LS_REDUCE_ADD,  LS_REDUCE_SMIN, LS_REDUCE_SMAX,
                                         LS_REDUCE_UMIN, LS_REDUCE_UMAX, LS_REDUCE_AND,
                                         LS_REDUCE_OR,   LS_REDUCE_XOR};
        inst = ls__ir_insert(&g->at, LS_OP_SG_REDUCE, type, &value, 1);
        inst->imm = (uint64_t)(type == LS_TYPE_F32 ? floats[below(g, 3)] : ints[below(g, 8)]);
        break;
    }
    default:
        inst = ls__ir_insert(&g->at, LS_OP_WG_UNIFORM, type, &value, 1);
        break;
    }
    keep(g, inst->id);
}

/* --- control --------------------------------------------------------------------------------- */

static void statements(generator *g, uint32_t count);

/* Fills a region; what is made in it is unknown outside. */
static void fill(generator *g, ls__ir_region *region, uint32_t count, bool may_jump)
{
    ls__ir_cursor outside = g->at;
    uint32_t counts[LS_TYPE_COUNT];
    for (int i = 0; i < LS_TYPE_COUNT; i++)
        counts[i] = g->values.count[i];
    g->at = (ls__ir_cursor){outside.function, region, NULL, {0}};
    g->depth++;
    statements(g, count);
    g->depth--;
    if (may_jump && g->loop_depth && below(g, 4) == 0)
        ls__ir_insert(&g->at, below(g, 2) ? LS_OP_BREAK : LS_OP_CONTINUE, LS_TYPE_VOID, NULL, 0);
    else if (may_jump && g->breakable && below(g, 4) == 0)
        ls__ir_insert(&g->at, LS_OP_BREAK, LS_TYPE_VOID, NULL, 0);
    for (int i = 0; i < LS_TYPE_COUNT; i++)
        g->values.count[i] = counts[i];
    g->at = outside;
}

/* condition ? a : b, the way a front end writes it. */
static void make_choice(generator *g)
{
    uint32_t i = below(g, VARS);
    ls__ir_inst *inst = ls__ir_if(&g->at, pick(g, LS_TYPE_BOOL));
    for (uint32_t side = 0; side < 2; side++) {
        ls__ir_cursor inside = {g->at.function, inst->regions[side], NULL, {0}}, outside = g->at;
        if (below(g, 8) == 0)
            continue;
        g->at = inside;
        ls__ir_set(&g->at, g->vars[i], pick(g, var_types[i]));
        g->at = outside;
    }
    keep(g, ls__ir_get(&g->at, g->vars[i]));
}

static void make_if(generator *g)
{
    bool uniform = g->uniform;
    g->uniform = false;
    ls__ir_inst *inst = ls__ir_if(&g->at, pick(g, LS_TYPE_BOOL));
    fill(g, inst->regions[0], 1 + below(g, 5), true);
    fill(g, inst->regions[1], below(g, 4), true);
    g->uniform = uniform;
}

/* for (i = 0; i < n; i++) with n constant, or of the kernel's input but small. */
static void make_loop(generator *g)
{
    bool uniform = g->uniform;
    uint32_t loop_depth = g->loop_depth, breakable = g->breakable;
    bool is_steady = uniform && g->mode != GENERATE_ALONE && below(g, 2); /* no lane leaves early */
    bool is_constant = is_steady || below(g, 2);
    ls_var counter = ls__ir_var_add(g->at.function, "i", LS_TYPE_I32);
    ls_value limit = is_constant ? ls__ir_const_i32(&g->at, 1 + (int32_t)below(g, 5))
                                 : ls__ir_emit2(&g->at, LS_OP_AND, pick(g, LS_TYPE_I32),
                                                ls__ir_const_i32(&g->at, 7));
    ls__ir_set(&g->at, counter, ls__ir_const_i32(&g->at, 0));
    ls__ir_inst *loop = ls__ir_loop(&g->at);
    ls__ir_cursor body = {g->at.function, loop->regions[0], NULL, {0}};
    ls__ir_cursor step = {g->at.function, loop->regions[1], NULL, {0}};
    ls_value i = ls__ir_get(&body, counter);
    ls__ir_inst *guard =
        ls__ir_if(&body, ls__ir_emit2(&body, below(g, 2) ? LS_OP_SLT : LS_OP_ULT, i, limit));
    ls__ir_cursor leave = {g->at.function, guard->regions[1], NULL, {0}};
    ls__ir_insert(&leave, LS_OP_BREAK, LS_TYPE_VOID, NULL, 0);
    g->loop_depth = g->breakable = !is_steady;
    g->uniform = is_steady;
    keep(g, i);
    fill(g, loop->regions[0], 2 + below(g, 6), false);
    g->values.count[LS_TYPE_I32]--;
    g->loop_depth = loop_depth;
    g->breakable = breakable;
    g->uniform = uniform;
    ls_value next =
        ls__ir_emit2(&step, LS_OP_ADD, ls__ir_get(&step, counter), ls__ir_const_i32(&step, 1));
    ls__ir_set(&step, counter, next);
}

static void make_switch(generator *g)
{
    bool uniform = g->uniform;
    uint32_t breakable = g->breakable, loop_depth = g->loop_depth;
    g->uniform = false;
    ls__ir_inst *inst = ls__ir_switch(&g->at, pick(g, LS_TYPE_I32), (int64_t[]){0, 1, 5, -8},
                                      (uint32_t[]){1, 2, 1}, 3);
    g->breakable = 1;
    g->loop_depth = 0; /* a continue out of a switch is legal, but then not always a break */
    for (uint32_t i = 0; i < inst->region_count; i++)
        fill(g, inst->regions[i], below(g, 4), true);
    g->breakable = breakable;
    g->loop_depth = loop_depth;
    g->uniform = uniform;
}

static void make_block(generator *g)
{
    bool uniform = g->uniform;
    uint32_t breakable = g->breakable, loop_depth = g->loop_depth;
    g->uniform = false;
    g->breakable = 1;
    g->loop_depth = 0;
    fill(g, ls__ir_block(&g->at)->regions[0], 1 + below(g, 5), below(g, 2));
    g->breakable = breakable;
    g->loop_depth = loop_depth;
    g->uniform = uniform;
}

static void make_call(generator *g)
{
    ls__ir_inst *call = ls__ir_insert(&g->at, LS_OP_CALL, LS_TYPE_VOID,
                                      (ls_value[]){pick(g, LS_TYPE_I32), pick(g, LS_TYPE_F32)}, 2);
    ls__arena *arena = &g->module->arena;
    call->imm = g->callee;
    call->bases = LS__NEW(arena, ls_base);
    call->bases[0] = (ls_base){LS_BASE_BUFFER, 0};
    call->base_count = 1;
    call->results = LS__NEW_ARRAY(arena, ls_var, 2);
    call->results[0] = g->vars[0];
    call->results[1] = g->vars[3];
    call->result_count = 2;
}

static void cooperation(generator *g)
{
    uint32_t way = below(g, g->mode == GENERATE_GRID ? 5 : 2);
    if (way == 0)
        exchange(g);
    else if (way == 1)
        subgroup(g);
    else
        grid_exchange(g);
}

static void statement(generator *g)
{
    uint32_t way = below(g, 44);
    if (g->budget)
        g->budget--;
    if (way >= 40) {
        way < 42 ? variable(g) : make_choice(g);
        return;
    }
    if (way >= 34 && (g->depth >= 4 || !g->budget))
        way = 0;
    if (way < 18)
        pure_operation(g);
    else if (way < 20)
        load_input(g);
    else if (way < 21)
        load_table(g);
    else if (way < 22)
        atomic_update(g);
    else if (way < 24)
        store_word(g);
    else if (way < 26)
        store_bytes(g);
    else if (way < 28)
        local_access(g);
    else if (way < 31)
        variable(g);
    else if (way < 32)
        make_call(g);
    else if (way < 34 && g->mode != GENERATE_ALONE && g->uniform)
        cooperation(g);
    else if (way < 36)
        make_if(g);
    else if (way < 38)
        make_loop(g);
    else if (way < 39)
        make_switch(g);
    else
        make_block(g);
}

static void statements(generator *g, uint32_t count)
{
    while (count-- > 0)
        statement(g);
}

/* --- the whole ------------------------------------------------------------------------------- */

static void add_param(ls__ir_function *function, const char *name, ls_mem mem, bool is_pointer,
                      bool is_const)
{
    uint32_t bytes = ls__ir_mem_bytes(mem);
    ls__ir_param_add(function, (ls__ir_param){.name = name,
                                              .type_name = ls__ir_mem_name(mem),
                                              .mem = (uint8_t)mem,
                                              .is_pointer = is_pointer,
                                              .is_const = is_const,
                                              .size = bytes,
                                              .alignment = bytes});
}

static ls_value param(generator *g, ls_mem mem, uint64_t offset)
{
    ls__ir_inst *inst = ls__ir_insert(&g->at, LS_OP_PARAM, ls__ir_mem_type(mem), NULL, 0);
    inst->mem = (uint8_t)mem;
    inst->imm = offset;
    return inst->id;
}

/* A function of an integer, a float and a buffer that returns an integer and a float. */
static uint32_t make_callee(ls__ir_module *module)
{
    ls__ir_function *function = ls__ir_function_add(module, "f", false);
    add_param(function, "x", LS_MEM_U32, false, false);
    add_param(function, "y", LS_MEM_F32, false, false);
    add_param(function, "p", LS_MEM_U32, true, true);
    ls__vec_push(&module->arena, &function->results, LS_TYPE_I32);
    ls__vec_push(&module->arena, &function->results, LS_TYPE_F32);
    generator g = {.at = {.function = function, .region = function->body}};
    ls_value x = param(&g, LS_MEM_U32, 0), y = param(&g, LS_MEM_F32, 4);
    ls_value wide = ls__ir_emit1(&g.at, LS_OP_SEXT, x);
    ls_value offset = ls__ir_index(&g.at, ls__ir_const_i64(&g.at, 0), wide, 4, 0);
    ls_value loaded = ls__ir_load(&g.at, LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 0}, offset);
    ls__ir_inst *inst = ls__ir_if(&g.at, ls__ir_emit2(&g.at, LS_OP_SLT, x, loaded));
    ls__ir_cursor inside = {function, inst->regions[0], NULL, {0}};
    ls_value early[2] = {ls__ir_emit2(&inside, LS_OP_SREM, x, loaded),
                         ls__ir_emit2(&inside, LS_OP_FDIV, y, y)};
    ls__ir_insert(&inside, LS_OP_RETURN, LS_TYPE_VOID, early, 2);
    ls_value late[2] = {ls__ir_emit2(&g.at, LS_OP_XOR, x, loaded),
                        ls__ir_emit3(&g.at, LS_OP_FMA, y, y, y)};
    ls__ir_insert(&g.at, LS_OP_RETURN, LS_TYPE_VOID, late, 2);
    return function->id.id;
}

static ls_value as_word(generator *g, ls_value value)
{
    switch (ls__ir_type_of(g->at.function, value)) {
    case LS_TYPE_BOOL:
        return ls__ir_emit1(&g->at, LS_OP_B2I, value);
    case LS_TYPE_I64: {
        ls_value shift = ls__ir_const_i64(&g->at, 29);
        ls_value mixed = ls__ir_emit2(&g->at, LS_OP_ROTL, value, shift);
        return ls__ir_emit1(&g->at, LS_OP_TRUNC, ls__ir_emit2(&g->at, LS_OP_ADD, value, mixed));
    }
    case LS_TYPE_F32:
        return ls__ir_convert(&g->at, LS_OP_FBITS, LS_TYPE_I32, value);
    default:
        return value;
    }
}

static ls_value mix(generator *g, ls_value sum, ls_value value)
{
    ls_value scaled = ls__ir_emit2(&g->at, LS_OP_MUL, sum, ls__ir_const_i32(&g->at, 31));
    return ls__ir_emit2(&g->at, LS_OP_XOR, scaled, as_word(g, value));
}

/* One word in which every variable, and maybe every value at hand, leaves a trace. */
static void store_checksum(generator *g, bool with_values)
{
    ls_value sum = ls__ir_const_i32(&g->at, 7);
    for (uint32_t i = 0; i < VARS; i++)
        sum = mix(g, sum, ls__ir_get(&g->at, g->vars[i]));
    for (int type = 0; with_values && type < LS_TYPE_COUNT; type++) {
        for (uint32_t i = 0; i < g->values.count[type]; i++)
            sum = mix(g, sum, g->values.items[type][i]);
    }
    ls_value offset = own_offset(g, 4 * GENERATED_WORDS);
    ls__ir_store(&g->at, LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 3}, offset, sum);
}

static void store_all(generator *g)
{
    store_checksum(g, below(g, 2));
    for (uint32_t i = 1; i < GENERATED_WORDS; i++) {
        ls_value offset = ls__ir_index(&g->at, own_offset(g, 4 * GENERATED_WORDS),
                                       ls__ir_const_i64(&g->at, i), 4, 0);
        bool is_float = i % 2;
        if (below(g, 2))
            ls__ir_store(&g->at, is_float ? LS_MEM_F32 : LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 3},
                         offset, pick(g, is_float ? LS_TYPE_F32 : LS_TYPE_I32));
    }
}

void generate_program(ls__ir_module *module, uint64_t seed, generate_mode mode)
{
    generator g = {.rng = {seed}, .module = module, .budget = 60, .mode = mode};
    static const uint8_t bytes[40] = {1, 2, 3, 0xff, 0x80, 0x7f, 9, 200, 17, 3, 1, 1, 0xc0, 0x7f};
    g.callee = make_callee(module);
    ls__ir_function *function = ls__ir_function_add(module, "k", true);
    g.at = (ls__ir_cursor){.function = function, .region = function->body};
    g.uniform = true;
    add_param(function, "a", LS_MEM_U32, true, true);
    add_param(function, "b", LS_MEM_F32, true, true);
    add_param(function, "c", LS_MEM_U64, true, true);
    add_param(function, "out", LS_MEM_U32, true, false);
    add_param(function, "bytes", LS_MEM_U8, true, false);
    add_param(function, "n", LS_MEM_U32, false, false);
    add_param(function, "x", LS_MEM_F32, false, false);
    g.table = ls__ir_table_add(module, "table", bytes, sizeof bytes, 4);
    ls__ir_local_add(function, "cells", LOCAL_BYTES, 8);
    ls__ir_local_add(function, "moving", LOCAL_BYTES, 8);
    g.local = (ls_base){LS_BASE_LOCAL, below(&g, 2)};
    if (mode != GENERATE_ALONE)
        g.shared = ls__ir_shared_add(function, "tile", 4 * SHARED_WORDS, 4);
    for (uint32_t i = 0; i < VARS; i++)
        g.vars[i] = ls__ir_var_add(function, "v", var_types[i]);

    ls__ir_inst *id = ls__ir_insert(&g.at, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    g.lane = ls__ir_emit1(&g.at, LS_OP_ZEXT, id->id);
    keep(&g, id->id);
    keep(&g, param(&g, LS_MEM_U32, 0));
    keep(&g, param(&g, LS_MEM_F32, 4));
    for (int i = 0; i < 4; i++)
        load_input(&g);
    statements(&g, 20 + below(&g, 30));
    store_all(&g);
}
