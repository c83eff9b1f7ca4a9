/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel C programs before and after the passes, and under other schedules: every kernel of the
 * files given, over special and random buffers and scalars; all buffers must be the same bytes
 * afterwards. Kernels that the sanitizer finds racing with these inputs, and unordered ones,
 * promise nothing and are left out.
 *
 *     test_pass_programs [--random FIRST COUNT] [file.kc ...]
 *
 * --random takes programs from the generator whose lanes work together; none of them may race. In
 * odd ones the barriers are those of the grid, where the language allows it.
 */
#include "harness.h"

#include "base/os.h"
#include "conform/cooperate.h"
#include "kernels/math_sources.h"
#include "lang/lang.h"

enum { BUFFER_BYTES = 4096, SCALAR_BYTES = 1024, MAX_PARAMS = 24 };

typedef struct memory {
    uint8_t bytes[MAX_PARAMS + 1][BUFFER_BYTES];
    uint8_t scalars[SCALAR_BYTES];
    uint8_t *scratch;
    uint64_t scratch_bytes;
} memory;

static unsigned kernels_run, kernels_left_out, grids_run;

/* NULL when the program is wrong and may be. */
static ls__ir_module *compile(const char *path, const char *text, size_t size, bool may_be_wrong)
{
    ls_error error = {0};
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {.path = path, .library = &library};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module = NULL;
    ls_status status = ls__lang_compile(text, size, &options, &module, &diagnostics, &error);
    if (status != LS_OK && !may_be_wrong)
        fail_msg("%s: %s", path,
                 diagnostics.items.count ? diagnostics.items.items[0].message : error.message);
    ls__lang_diagnostics_finish(&diagnostics);
    return module;
}

static ls__ir_module *compile_file(const char *path)
{
    void *text = NULL;
    size_t size = 0;
    ls_error error = {0};
    if (ls__os_read_file(path, UINT64_MAX, &text, &size, &error) != LS_OK)
        fail_msg("%s: %s", path, error.message);
    ls__ir_module *module = compile(path, text, size, false);
    ls__mem_free(text);
    return module;
}

static void fill(memory *m, const ls__ir_function *kernel, uint64_t seed)
{
    ls__rng rng = {seed};
    for (uint32_t i = 0; i < MAX_PARAMS; i++) {
        for (uint32_t k = 0; k < BUFFER_BYTES; k += 4) {
            uint32_t bits = (uint32_t)draw_bits(&rng, 32);
            memcpy(m->bytes[i] + k, &bits, sizeof bits);
        }
    }
    memset(m->scalars, 0, sizeof m->scalars);
    for (uint32_t i = 0; i < kernel->params.count; i++) {
        const ls__ir_param *param = &kernel->params.items[i];
        if (param->is_pointer || param->offset + 8 > SCALAR_BYTES)
            continue;
        uint64_t bits = ls__rng_below(&rng, 40); /* numbers of things, mostly */
        if (param->mem == LS_MEM_F32 || param->mem == LS_MEM_F64)
            bits = draw_bits(&rng, param->mem == LS_MEM_F32 ? 32 : 64);
        memcpy(m->scalars + param->offset, &bits, param->size < 8 ? param->size : 8);
    }
}

struct race {
    bool found;
};

static void on_report(void *context, const ls__interp_report *report)
{
    struct race *race = context;
    race->found |=
        report->kind == LS__INTERP_RACE_LANES || report->kind == LS__INTERP_RACE_WORKGROUPS;
}

/* Two workgroups in x. Answers whether lanes raced. */
static bool run(const ls__ir_module *module, const ls__ir_function *kernel, memory *m,
                bool sanitize, ls__interp_schedule schedule)
{
    ls__interp_binding bindings[MAX_PARAMS + 1] = {{0}};
    for (uint32_t i = 0; i < MAX_PARAMS; i++)
        bindings[i] = (ls__interp_binding){m->bytes[i], BUFFER_BYTES, i + 1, 0, NULL};
    if (m->scratch)
        bindings[kernel->buffer_count - 1] =
            (ls__interp_binding){m->scratch, m->scratch_bytes, 100, 0, NULL};
    struct race race = {false};
    const uint32_t *group = kernel->workgroup;
    ls__interp_launch launch = {.module = module,
                                .kernel = kernel,
                                .bindings = bindings,
                                .scalars = m->scalars,
                                .global_size = {2 * group[0], group[1], group[2]},
                                .schedule = schedule,
                                .seed = 5,
                                .sanitize = sanitize,
                                .on_report = on_report,
                                .context = &race};
    ls__interp_result result;
    ls_error error = {0};
    if (ls__interp_run(&launch, &result, &error) != LS_OK) {
        print_module(module);
        fail_msg("%s: %s (%s)", kernel->name, error.message, error.where);
    }
    return race.found;
}

static void run_split(const ls__ir_module *module, const ls__pass_split *split, memory *m)
{
    for (uint32_t next = 0, runs = 0; next != split->segment_count; runs++) {
        assert_true(next < split->segment_count && runs < 1000);
        run(module, module->functions.items[split->segments[next].function], m, false,
            LS__INTERP_ASCENDING);
        memcpy(&next, m->scratch, sizeof next);
    }
}

static void check_variant(const ls__ir_module *module, const ls__ir_function *kernel,
                          const memory *before, uint32_t lower, uint64_t seed)
{
    static memory after;
    ls__ir_module *copy = copy_of(module);
    ls__pass_split split = {0};
    ls_error error = {0};
    fill(&after, kernel, seed);
    after.scratch = NULL;
    if (lower && has_grid_barrier(kernel)) {
        assert_int_equal(ls__pass_split_grid(copy, kernel->id.id, &split, &error), LS_OK);
        uint64_t lanes =
            2 * (uint64_t)kernel->workgroup[0] * kernel->workgroup[1] * kernel->workgroup[2];
        after.scratch_bytes = split.scratch_bytes_fixed + lanes * split.scratch_bytes_per_lane;
        after.scratch = ls__mem_alloc(1, after.scratch_bytes);
        assert_non_null(after.scratch);
    }
    run_passes(copy, lower, true);
    if (after.scratch)
        run_split(copy, &split, &after);
    else
        run(copy, copy->functions.items[kernel->id.id], &after, false, LS__INTERP_ASCENDING);
    if (memcmp(before->bytes, after.bytes, sizeof after.bytes) != 0) {
        print_module(module);
        print_module(copy);
        fail_msg("%s: other results after the passes (lower %#x, seed %d)", kernel->name, lower,
                 (int)seed);
    }
    ls__mem_free(after.scratch);
    ls__ir_module_destroy(&copy);
}

static void check_schedule(const ls__ir_module *module, const ls__ir_function *kernel,
                           const memory *before, ls__interp_schedule schedule, uint64_t seed)
{
    static memory after;
    fill(&after, kernel, seed);
    run(module, kernel, &after, false, schedule);
    if (memcmp(before->bytes, after.bytes, sizeof after.bytes) != 0) {
        print_module(module);
        fail_msg("%s: other results under schedule %d", kernel->name, (int)schedule);
    }
}

static void check_kernel(const ls__ir_module *module, const ls__ir_function *kernel)
{
    static memory before;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        before.scratch = NULL;
        fill(&before, kernel, seed);
        if (kernel->buffer_count > MAX_PARAMS || kernel->scalar_bytes > SCALAR_BYTES ||
            kernel->unordered || 
            run(module, kernel, &before, true, LS__INTERP_ASCENDING)) {
            kernels_left_out++;
            return;
        }
        check_schedule(module, kernel, &before, LS__INTERP_REVERSE, seed);
        check_schedule(module, kernel, &before, LS__INTERP_SEED, seed);
        check_variant(module, kernel, &before, 0, seed);
        check_variant(module, kernel, &before, UINT32_MAX, seed);
    }
    kernels_run++;
    grids_run += has_grid_barrier(kernel);
}

static void check_module(const ls__ir_module *module)
{
    for (uint32_t i = 1; i < module->functions.count; i++) {
        if (module->functions.items[i]->is_kernel)
            check_kernel(module, module->functions.items[i]);
    }
}

static void test_file(void **state)
{
    ls__ir_module *module = compile_file(*state);
    check_module(module);
    ls__ir_module_destroy(&module);
}

/* The program with every barrier made one of the grid, NULL when it may have none there. */
static ls__ir_module *compile_for_grid(const char *text)
{
    ls__strbuf grid = {0};
    for (const char *barrier; (barrier = strstr(text, "barrier();")); text = barrier + 1) {
        ls__strbuf_append(&grid, text, (size_t)(barrier - text));
        ls__strbuf_printf(&grid, "grid_b");
    }
    ls__strbuf_printf(&grid, "%s", text);
    ls__ir_module *module = compile("grid", grid.text, grid.length, true);
    ls__strbuf_finish(&grid);
    return module;
}

static uint64_t first_seed, program_count;

static void test_random(void **state)
{
    (void)state;
    unsigned left_out = kernels_left_out;
    for (uint64_t seed = first_seed; seed < first_seed + program_count; seed++) {
        ls__strbuf text = {0};
        ls__cooperate(seed, &text);
        ls__ir_module *module = seed % 2 ? compile_for_grid(text.text) : NULL;
        if (!module)
            module = compile("random", text.text, text.length, false);
        check_module(module);
        if (kernels_left_out != left_out)
            fail_msg("program %llu races:\n%s", (unsigned long long)seed, text.text);
        ls__ir_module_destroy(&module);
        ls__strbuf_finish(&text);
    }
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[64];
    size_t count = 0;
    int i = 1;
    if (argc > 3 && strcmp(argv[1], "--random") == 0) {
        first_seed = strtoull(argv[2], NULL, 10);
        program_count = strtoull(argv[3], NULL, 10);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_random);
        i = 4;
    }
    for (; i < argc && count < 64; i++)
        tests[count++] =
            (struct CMUnitTest){.name = argv[i], .test_func = test_file, .initial_state = argv[i]};
    int failed = _cmocka_run_group_tests("pass programs", tests, count, NULL, NULL);
    printf("%u kernels run, %u of them with grid barriers, %u left out\n", kernels_run, grids_run,
           kernels_left_out);
    return failed || kernels_run == 0;
}
