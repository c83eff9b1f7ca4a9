/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     test_pass_lowering [seed [results]]
 *
 * Every lowering of a single operation against the operation itself: a kernel applies it to vectors
 * of special and random operands, as it is and lowered; the outputs must be the same bytes. The
 * native operation must be gone. And a lowering with one constant changed must fail this very
 * comparison, else it proves nothing about that constant; that part, the longer one, is left out with
 * "results".
 */
#include "harness.h"

static uint64_t seed = 1000;

typedef struct subject {
    ls_op op;
    ls_type type, result; /* of the first T operand; of the result */
    uint64_t imm;
    uint32_t lower;
    bool stays; /* the operation is still there afterwards, with safe operands */
} subject;

/* clang-format off */
#define ONE(op, from, to, imm, lower) \
    {LS_OP_##op, LS_TYPE_##from, LS_TYPE_##to, imm, LS__LOWER_##lower, false}
#define DIVISION(op, type) {LS_OP_##op, LS_TYPE_##type, LS_TYPE_##type, 0, LS__LOWER_INTEGER, true}
#define BOTH(op) ONE(op, I32, I32, 0, INTEGER), ONE(op, I64, I64, 0, INTEGER)
#define FLOAT(op, lower) ONE(op, F32, F32, 0, lower), ONE(op, F64, F64, 0, lower)
#define CONVERT(op, from, to, imm) ONE(op, from, to, imm, CONVERT)
#define TO_INT(op, from) \
    CONVERT(op, from, I32, 8), CONVERT(op, from, I32, 16), CONVERT(op, from, I32, 32), \
    CONVERT(op, from, I64, 64)
#define FROM_INT(op, to) CONVERT(op, I32, to, 0), CONVERT(op, I64, to, 0)
#define WIDE(op) ONE(op, I64, I64, 0, INT64)
#define COMPARE(op) ONE(op, I64, BOOL, 0, INT64)
/* clang-format on */

static const subject subjects[] = {
    DIVISION(SDIV, I32),
    DIVISION(SDIV, I64),
    DIVISION(UDIV, I32),
    DIVISION(UDIV, I64),
    DIVISION(SREM, I32),
    DIVISION(SREM, I64),
    DIVISION(UREM, I32),
    DIVISION(UREM, I64),
    BOTH(MULHI_S),
    BOTH(MULHI_U),
    BOTH(ADD_SAT_S),
    BOTH(ADD_SAT_U),
    BOTH(SUB_SAT_S),
    BOTH(SUB_SAT_U),
    BOTH(POPCOUNT),
    BOTH(CLZ),
    BOTH(CTZ),
    BOTH(ROTL),
    ONE(DOT4_SS, I32, I32, 0, DOT4),
    ONE(DOT4_US, I32, I32, 0, DOT4),
    FLOAT(FMA, FMA),
    FLOAT(FDIV, DIV),
    FLOAT(FSQRT, SQRT),
    FLOAT(FMIN, MINMAX),
    FLOAT(FMAX, MINMAX),
    FLOAT(FFLOOR, ROUND),
    FLOAT(FCEIL, ROUND),
    FLOAT(FTRUNC, ROUND),
    FLOAT(FRINT, ROUND),
    FLOAT(FCANON, NAN),
    ONE(FBITS, F32, I32, 0, NAN),
    ONE(FBITS, F64, I64, 0, NAN),
    FROM_INT(S2F, F32), FROM_INT(S2F, F64), FROM_INT(U2F, F32), FROM_INT(U2F, F64),
    TO_INT(F2S, F32),
    TO_INT(F2S, F64),
    TO_INT(F2U, F32),
    TO_INT(F2U, F64),
    CONVERT(F2F, F32, F64, 0),
    CONVERT(F2F, F64, F32, 0),
    CONVERT(F16_TO_F32, I32, F32, 0),
    CONVERT(BF16_TO_F32, I32, F32, 0),
    CONVERT(F32_TO_F16, F32, I32, 0),
    CONVERT(F32_TO_BF16, F32, I32, 0),
    WIDE(SDIV),
    WIDE(UDIV),
    WIDE(SREM),
    WIDE(UREM),
    WIDE(AND),
    WIDE(XOR),
    WIDE(NOT),
    WIDE(ASHR),
    WIDE(SMIN),
    WIDE(SMAX),
    WIDE(UMIN),
    WIDE(UMAX),
    WIDE(ADD),
    WIDE(SUB),
    WIDE(MUL),
    WIDE(SEXT8),
    WIDE(ZEXT8),
    WIDE(SEXT16),
    WIDE(ZEXT16),
    COMPARE(EQ),
    COMPARE(NE),
    COMPARE(SLT),
    COMPARE(SLE),
    COMPARE(ULT),
    COMPARE(ULE),
    ONE(SEXT, I32, I64, 0, INT64),
};
enum { SUBJECT_COUNT = sizeof subjects / sizeof *subjects };

static bool is_float(ls_type type)
{
    return type == LS_TYPE_F32 || type == LS_TYPE_F64;
}

static uint32_t bytes_of(ls_type type)
{
    return type == LS_TYPE_I64 || type == LS_TYPE_F64 ? 8 : 4;
}

static ls_mem int_mem(ls_type type)
{
    return bytes_of(type) == 8 ? LS_MEM_U64 : LS_MEM_U32;
}

static ls_type int_type(ls_type type)
{
    return bytes_of(type) == 8 ? LS_TYPE_I64 : LS_TYPE_I32;
}

static uint32_t operand_count(const subject *s)
{
    return (uint32_t)strlen(ls__ir_op(s->op)->operands);
}

static void add_buffer(ls__ir_function *function, ls_type type, bool is_const)
{
    uint32_t bytes = bytes_of(type);
    ls__ir_param_add(function, (ls__ir_param){.name = "p",
                                              .type_name = bytes == 8 ? "u64" : "u32",
                                              .mem = (uint8_t)int_mem(type),
                                              .is_pointer = true,
                                              .is_const = is_const,
                                              .size = bytes,
                                              .alignment = bytes});
}

/* out[i] = op(a[i], b[i], c[i]); floats travel as bits, results as bits with the one NaN. */
static ls__ir_module *build(const subject *s, ls__oom *oom)
{
    ls__ir_module *module = new_module(oom);
    ls__ir_function *function = ls__ir_function_add(module, "k", true);
    uint32_t count = operand_count(s);
    for (uint32_t i = 0; i < count; i++)
        add_buffer(function, s->type, true);
    add_buffer(function, s->result, false);

    ls__ir_cursor at = {.function = function, .region = function->body};
    ls__ir_inst *id = ls__ir_insert(&at, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    ls_value lane = ls__ir_emit1(&at, LS_OP_ZEXT, id->id);
    ls_value zero = ls__ir_const_i64(&at, 0);
    ls_value args[3];
    for (uint32_t i = 0; i < count; i++) {
        ls_value offset = ls__ir_index(&at, zero, lane, bytes_of(s->type), 0);
        args[i] = ls__ir_load(&at, int_mem(s->type), (ls_base){LS_BASE_BUFFER, i}, offset);
        if (is_float(s->type))
            args[i] = ls__ir_convert(&at, LS_OP_FFROM_BITS, s->type, args[i]);
    }
    ls_value result = ls__ir_emit(&at, s->op, s->result, args, count);
    ls__ir_def(function, result)->imm = s->imm;
    if (s->result == LS_TYPE_BOOL)
        result = ls__ir_emit1(&at, LS_OP_B2I, result);
    if (is_float(s->result)) /* FCANON is looked at as it is */
        result = ls__ir_convert(&at, s->op == LS_OP_FCANON ? LS_OP_FRAWBITS : LS_OP_FBITS,
                                int_type(s->result), result);
    ls_value offset = ls__ir_index(&at, zero, lane, bytes_of(s->result), 0);
    ls__ir_store(&at, int_mem(s->result), (ls_base){LS_BASE_BUFFER, count}, offset, result);
    return module;
}

/* --- running --------------------------------------------------------------------------------- */

enum { LANES = 8192, MUTATION_LANES = 2048 };

typedef struct vectors {
    uint64_t input[3][LANES];
    uint64_t before[LANES], after[LANES];
} vectors;

static uint64_t element(const uint64_t *array, ls_type type, uint32_t lane)
{
    return bytes_of(type) == 8 ? array[lane] : ((const uint32_t *)array)[lane];
}

/* One operand in four differs from the first in one bit, so that comparisons have something to
 * decide. */
static void draw_inputs(vectors *v, const subject *s, uint64_t state)
{
    ls__rng rng = {state};
    uint32_t width = 8 * bytes_of(s->type);
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t bits = draw_bits(&rng, width);
            if (k > 0 && lane % 4 == k)
                bits = element(v->input[0], s->type, lane) ^ UINT64_C(1)
                                                                 << ls__rng_below(&rng, width);
            if (width == 32)
                ((uint32_t *)v->input[k])[lane] = (uint32_t)bits;
            else
                v->input[k][lane] = bits;
        }
    }
}

static uint64_t run(const ls__ir_module *module, const subject *s, vectors *v, uint64_t *out,
                    uint32_t lanes)
{
    run_buffers buffers = {.count = operand_count(s) + 1};
    for (uint32_t i = 0; i + 1 < buffers.count; i++) {
        buffers.bytes[i] = (uint8_t *)v->input[i];
        buffers.size[i] = (uint64_t)lanes * bytes_of(s->type);
    }
    memset(out, 0, lanes * sizeof *out);
    buffers.bytes[buffers.count - 1] = (uint8_t *)out;
    buffers.size[buffers.count - 1] = (uint64_t)lanes * bytes_of(s->result);
    return run_kernel(module, "k", lanes, &buffers, NULL);
}

static void report_difference(const subject *s, const vectors *v)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t before = element(v->before, s->result, lane);
        uint64_t after = element(v->after, s->result, lane);
        if (before == after)
            continue;
        for (uint32_t i = 0; i < operand_count(s); i++)
            fprintf(stderr, " %#llx", (unsigned long long)element(v->input[i], s->type, lane));
        fprintf(stderr, ": %#llx, lowered %#llx\n", (unsigned long long)before,
                (unsigned long long)after);
        return;
    }
}

struct op_search {
    const ls__ir_function *function;
    ls_op op;
    ls_type type; /* of the first T operand */
    bool found;
};

static bool find_op(ls__ir_inst *inst, void *context)
{
    struct op_search *search = context;
    search->found |=
        inst->op == search->op && ls__ir_type_of(search->function, inst->args[0]) == search->type;
    return true;
}

static void check_subject(const subject *s, vectors *v, bool optimize)
{
    ls__oom oom;
    ls__ir_module *module = setjmp(oom.jump) ? NULL : build(s, &oom);
    assert_non_null(module);
    ls__ir_module *lowered = copy_of(module);
    run_passes(lowered, s->lower, optimize);
    const ls__ir_function *function = lowered->functions.items[1];
    struct op_search search = {function, s->op, s->type, false};
    ls__ir_walk(function->body, find_op, &search);
    const char *name = ls__ir_op(s->op)->name, *type = ls__ir_type_name(s->type);
    if (!s->stays && search.found)
        fail_msg("%s.%s is still there", name, type);
    uint64_t undefined_before = run(module, s, v, v->before, LANES);
    uint64_t undefined_after = run(lowered, s, v, v->after, LANES);
    if (s->stays && (undefined_before == 0 || undefined_after != 0))
        fail_msg("%s.%s: %d undefined steps before, %d after", name, type, (int)undefined_before,
                 (int)undefined_after);
    if (memcmp(v->before, v->after, (size_t)LANES * bytes_of(s->result)) != 0) {
        report_difference(s, v);
        fail_msg("%s.%s -> %s differs when lowered", name, type, ls__ir_type_name(s->result));
    }
    ls__ir_module_destroy(&lowered);
    ls__ir_module_destroy(&module);
}

static void test_same_results(void **state)
{
    vectors *v = *state;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        draw_inputs(v, &subjects[i], seed + i);
        check_subject(&subjects[i], v, false);
        check_subject(&subjects[i], v, true);
    }
}

/* --- mutation -------------------------------------------------------------------------------- */

typedef struct constants {
    ls__ir_inst *items[1024];
    uint32_t count;
} constants;

static bool collect_constant(ls__ir_inst *inst, void *context)
{
    constants *all = context;
    if (inst->op == LS_OP_CONST && inst->type == LS_TYPE_I32 && all->count < 1024)
        all->items[all->count++] = inst;
    if (inst->op == LS_OP_CONST && inst->type == LS_TYPE_I64 && all->count < 1024 && inst->imm)
        all->items[all->count++] = inst;
    return true;
}

/* Flips the lowest bit of each constant in turn; answers how many of these changes show. */
static uint32_t count_detected(const subject *s, vectors *v, uint32_t *total)
{
    ls__oom oom;
    ls__ir_module *module = setjmp(oom.jump) ? NULL : build(s, &oom);
    assert_non_null(module);
    run(module, s, v, v->before, MUTATION_LANES);
    run_passes(module, s->lower, true);
    constants all = {.count = 0};
    ls__ir_walk(module->functions.items[1]->body, collect_constant, &all);
    uint32_t detected = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        all.items[i]->imm ^= 1;
        set_time_limit(300);
        uint64_t undefined = run(module, s, v, v->after, MUTATION_LANES);
        set_time_limit(0);
        if ((s->stays && undefined) ||
            memcmp(v->before, v->after, (size_t)MUTATION_LANES * bytes_of(s->result)) != 0)
            detected++;
        else if (getenv("LS_TEST_VERBOSE"))
            fprintf(stderr, "    %%%u = %#llx\n", all.items[i]->id.id,
                    (unsigned long long)all.items[i]->imm ^ 1);
        all.items[i]->imm ^= 1;
    }
    if (detected < all.count && getenv("LS_TEST_VERBOSE"))
        print_module(module);
    ls__ir_module_destroy(&module);
    *total = all.count;
    return detected;
}

static void test_changed_constants_show(void **state)
{
    vectors *v = *state;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        uint32_t total;
        draw_inputs(v, &subjects[i], seed + i);
        uint32_t detected = count_detected(&subjects[i], v, &total);
        printf("%-12s %s -> %s: %u of %u changed constants show\n", ls__ir_op(subjects[i].op)->name,
               ls__ir_type_name(subjects[i].type), ls__ir_type_name(subjects[i].result), detected,
               total);
        /* The rest: bits that are masked away, NaN bits that are made the one NaN anyway, clamps of
         * values that are not used in the end. */
        assert_true(total == 0 || (detected > 0 && detected * 3 >= total));
    }
}

static int set_up(void **state)
{
    *state = ls__mem_alloc(1, sizeof(vectors));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    ls__mem_free(*state);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_results),
        cmocka_unit_test(test_changed_constants_show),
    };
    if (argc > 2 && strcmp(argv[2], "results") == 0)
        cmocka_set_test_filter("test_same_results");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
