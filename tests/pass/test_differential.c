/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs before and after the passes: one at a time, the optimiser alone, each lowering
 * alone, everything at once. Outputs must be the same bytes.
 *
 *     test_pass_differential [first seed] [number of programs]
 */
#include "generate.h"
#include "harness.h"

enum { LANES = 128 };

static uint64_t first_seed = 1, program_count = 80;

typedef struct memory {
    uint32_t a[GENERATED_INPUTS];
    uint32_t b[GENERATED_INPUTS];
    uint64_t c[GENERATED_INPUTS];
    uint32_t out[LANES * GENERATED_WORDS];
    uint8_t bytes[LANES * GENERATED_BYTES];
} memory;

static void fill_inputs(memory *m, uint64_t seed)
{
    ls__rng rng = {seed};
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < GENERATED_INPUTS; i++) {
        m->a[i] = (uint32_t)draw_bits(&rng, 32);
        m->b[i] = (uint32_t)draw_bits(&rng, 32);
        m->c[i] = draw_bits(&rng, 64);
    }
}

static run_buffers buffers_of(memory *m)
{
    return (run_buffers){
        .bytes = {(uint8_t *)m->a, (uint8_t *)m->b, (uint8_t *)m->c, (uint8_t *)m->out, m->bytes},
        .size = {sizeof m->a, sizeof m->b, sizeof m->c, sizeof m->out, sizeof m->bytes},
        .count = 5};
}

static const uint32_t scalars[2] = {LANES - 3, 0x40490fdb};

static void run(const ls__ir_module *module, memory *m)
{
    run_buffers buffers = buffers_of(m);
    run_kernel(module, "k", LANES, &buffers, (const uint8_t *)scalars);
}

/* Some way of running the pipeline. */
typedef struct setting {
    const char *name, *stop_after;
    uint32_t lower;
    bool optimize;
} setting;

static void check(const ls__ir_module *module, const memory *before, uint64_t seed, setting how)
{
    static memory after;
    ls__ir_module *copy = copy_of(module);
    ls__pass_options options = {.lower = how.lower,
                                .optimize = how.optimize,
                                .stop_after = how.stop_after,
                                .verify_each = true};
    ls_error error = {0};
    ls_status status = ls__pass_run(copy, &options, &error);
    if (status != LS_OK) {
        print_module(module);
        print_module(copy);
        fail_msg("seed %llu, %s: %s (%s)", (unsigned long long)seed, how.name, error.message,
                 error.where);
    }
    fill_inputs(&after, seed);
    run(copy, &after);
    if (memcmp(before, &after, sizeof after) != 0) {
        print_module(module);
        print_module(copy);
        fail_msg("seed %llu: other results after %s", (unsigned long long)seed, how.name);
    }
    ls__ir_module_destroy(&copy);
}

static ls__ir_module *generate(uint64_t seed, generate_mode mode)
{
    ls__oom oom;
    ls__ir_module *volatile module = NULL;
    if (setjmp(oom.jump) == 0) {
        module = new_module(&oom);
        generate_program(module, seed, mode);
    }
    assert_non_null(module);
    ls_error error = {0};
    if (ls__ir_verify(module, &error) != LS_OK) {
        print_module(module);
        fail_msg("seed %llu: %s (%s)", (unsigned long long)seed, error.message, error.where);
    }
    return module;
}

static const struct {
    const char *name;
    uint32_t bit;
} lowerings[] = {
#define X(name, bit, text) {#name, LS__LOWER_##name},
    LS__LOWER_TABLE(X)
#undef X
};
enum { LOWERING_COUNT = sizeof lowerings / sizeof *lowerings };

static void check_program(uint64_t seed)
{
    static memory before;
    ls__ir_module *module = generate(seed, seed % 2 ? GENERATE_WORKGROUP : GENERATE_ALONE);
    fill_inputs(&before, seed);
    run(module, &before);
    uint32_t pass_count;
    const ls__pass *passes = ls__pass_table(&pass_count);
    for (uint32_t i = 0; i < pass_count; i++) {
        if (passes[i].kind == LS__PASS_OPTIMIZE)
            check(module, &before, seed, (setting){passes[i].name, passes[i].name, 0, true});
    }
    for (uint32_t i = 0; i < LOWERING_COUNT; i++)
        check(module, &before, seed, (setting){lowerings[i].name, NULL, lowerings[i].bit, false});
    check(module, &before, seed, (setting){"the optimiser", NULL, 0, true});
    check(module, &before, seed, (setting){"all lowerings", NULL, UINT32_MAX, false});
    check(module, &before, seed, (setting){"everything", NULL, UINT32_MAX, true});
    ls__ir_module_destroy(&module);
}

static void test_random_programs(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < program_count; i++)
        check_program(first_seed + i);
}

/* --- grid barriers --------------------------------------------------------------------------- */

/* Runs the segments as a host does: each says which is next. */
static void run_segments(const ls__ir_module *module, const ls__pass_split *split, memory *m)
{
    run_buffers buffers = buffers_of(m);
    uint64_t size = split->scratch_bytes_fixed + split->scratch_bytes_per_lane * LANES;
    uint8_t *scratch = ls__mem_alloc(1, size);
    assert_non_null(scratch);
    buffers.bytes[buffers.count] = scratch;
    buffers.size[buffers.count++] = size;
    for (uint32_t next = 0, runs = 0; next != split->segment_count; runs++) {
        assert_true(next < split->segment_count && runs < 1000);
        const ls__ir_function *kernel = module->functions.items[split->segments[next].function];
        run_kernel(module, kernel->name, LANES, &buffers, (const uint8_t *)scalars);
        memcpy(&next, scratch, sizeof next);
    }
    ls__mem_free(scratch);
}

static void check_split(uint64_t seed, bool with_passes)
{
    static memory before, after;
    ls__ir_module *module = generate(seed, GENERATE_GRID);
    fill_inputs(&before, seed);
    fill_inputs(&after, seed);
    run(module, &before);
    ls__pass_split split;
    ls_error error = {0};
    uint32_t kernel = ls__ir_function_find(module, ls__str_from("k"))->id.id;
    ls__ir_module *copy = copy_of(module);
    assert_int_equal(ls__pass_split_grid(copy, kernel, &split, &error), LS_OK);
    if (ls__ir_verify(copy, &error) != LS_OK) {
        print_module(module);
        print_module(copy);
        fail_msg("seed %llu: %s (%s)", (unsigned long long)seed, error.message, error.where);
    }
    if (with_passes)
        run_passes(copy, seed % 2 ? UINT32_MAX : 0, true);
    for (uint32_t i = 1; i < copy->functions.count; i++)
        assert_false(has_grid_barrier(copy->functions.items[i]));
    run_segments(copy, &split, &after);
    if (memcmp(&before, &after, sizeof after) != 0) {
        print_module(module);
        print_module(copy);
        fail_msg("seed %llu: other results in segments", (unsigned long long)seed);
    }
    ls__ir_module_destroy(&copy);
    ls__ir_module_destroy(&module);
}

static void test_split_programs(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < program_count; i++) {
        check_split(first_seed + i, false);
        check_split(first_seed + i, true);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        program_count = strtoull(argv[2], NULL, 10);
    printf("seeds %llu to %llu\n", (unsigned long long)first_seed,
           (unsigned long long)(first_seed + program_count - 1));
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs),
                                       cmocka_unit_test(test_split_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
