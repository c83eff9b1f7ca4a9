/* SPDX-License-Identifier: Apache-2.0 */
/* Contract: quick and optimised code, and what code is made for. A device without tiers has
 * optimised code from the start; all rules hold there too. */
#include "contract.h"

/* Work for both code generators: floats, a loop that diverges, shared memory. */
static const char mix_text[] = "kernel void mix(u32 n, f32 a, const f32 *x, f32 *y)\n"
                               "{\n"
                               "    shared f32 s[64];\n"
                               "    u32 i = global_id(0), l = local_id(0);\n"
                               "    s[l] = i < n ? x[i] : 0.0f;\n"
                               "    barrier();\n"
                               "    f32 sum = s[(l + 1u) % 64u];\n"
                               "    for (u32 k = 0; k < i % 5u; k++)\n"
                               "        sum = fma(sum, a, s[(l + k) % 64u]) / 3.0f;\n"
                               "    if (i < n)\n"
                               "        y[i] = sum + exp(-a * sum * sum);\n"
                               "}\n";
enum { LANES = 200 };

static ls_module *compile_mix(void)
{
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL;
    compile.text = mix_text;
    compile.length = strlen(mix_text);
    OK(ls_module_compile(&compile, &module, NULL, error));
    return module;
}

static ls_program *create(fixture *f, ls_tier tier)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_module *module = compile_mix();
    ls_program *program = NULL;
    params.tier = tier;
    OK(ls_program_create(f->device, module, &params, &program, error));
    ls_module_destroy(&module);
    return program;
}

static ls_tier_state state_of(const ls_program *program)
{
    ls_tier_info info = {.struct_size = sizeof info};
    ls_program_tier(program, &info);
    assert_true((info.state == LS_TIER_STATE_FAILED) == (info.reason[0] != 0));
    return info.state;
}

/* x[i] = i, y[i] = mix. The batch is the caller's. */
typedef struct scene {
    ls_buffer *x, *y;
    ls_batch *batch;
} scene;

static scene set_scene(fixture *f, ls_program *program)
{
    static float x[LANES];
    scene s = {contract_buffer(f, sizeof x, LS_MEM_F32), contract_buffer(f, sizeof x, LS_MEM_F32),
               NULL};
    for (int i = 0; i < LANES; i++)
        x[i] = (float)i * 0.37f - 20;
    OK(ls_buffer_write(s.x, 0, LS_MEM_F32, x, sizeof x, error));
    struct {
        uint32_t n;
        float a;
    } scalars = {LANES, 0.625f};
    ls_range buffers[2] = {WHOLE(s.x), WHOLE(s.y)};
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = contract_kernel(program, "mix");
    dispatch.global_size[0] = LANES;
    dispatch.buffers = buffers;
    dispatch.buffer_count = 2;
    dispatch.scalars = &scalars;
    dispatch.scalar_bytes = sizeof scalars;
    OK(ls_batch_create(f->device, &s.batch, error));
    OK(ls_batch_dispatch(s.batch, &dispatch, error));
    return s;
}

static void clear_scene(scene *s)
{
    ls_batch_destroy(&s->batch);
    ls_buffer_destroy(&s->x);
    ls_buffer_destroy(&s->y);
}

static void run(fixture *f, const scene *s, uint32_t out[LANES])
{
    OK(ls_buffer_write(s->y, 0, LS_MEM_F32, (float[LANES]){0}, LANES * 4, error));
    contract_run(f, s->batch);
    OK(ls_buffer_read(s->y, 0, LS_MEM_F32, out, LANES * 4, error));
}

static void quick_code_gives_the_same_bits(void **state)
{
    fixture *f = *state, other = contract_open(contract_device, NULL, 0);
    uint32_t quick[LANES], optimized[LANES];
    ls_program *programs[2] = {create(f, LS_TIER_QUICK), create(&other, LS_TIER_OPTIMIZED)};
    assert_int_equal(state_of(programs[1]), LS_TIER_STATE_OPTIMIZED);
    if (strcmp(contract_device, "cpu") == 0)
        assert_int_equal(state_of(programs[0]), LS_TIER_STATE_QUICK);
    scene scenes[2] = {set_scene(f, programs[0]), set_scene(&other, programs[1])};
    run(f, &scenes[0], quick);
    run(&other, &scenes[1], optimized);
    assert_memory_equal(quick, optimized, sizeof quick);
    for (int i = 0; i < 2; i++) {
        clear_scene(&scenes[i]);
        ls_program_destroy(&programs[i]);
    }
    contract_close(&other);
}

static void optimized_code_takes_over_between_submissions(void **state)
{
    fixture *f = *state;
    uint32_t first[LANES], later[LANES];
    ls_program *program = create(f, LS_TIER_QUICK);
    scene s = set_scene(f, program);
    ls_prepared *prepared = NULL;
    OK(ls_prepare(s.batch, &prepared, error));
    run(f, &s, first);
    OK(ls_program_optimize(program, error));
    OK(ls_program_optimize(program, error)); /* has begun, or is done: nothing more */
    bool ready = false;
    for (int more = 3; more; more -= ready) { /* and some rounds beyond */
        ls_fence *fence = NULL;
        ready = state_of(program) == LS_TIER_STATE_OPTIMIZED;
        assert_int_not_equal(state_of(program), LS_TIER_STATE_FAILED);
        OK(ls_submit_prepared(f->stream, prepared, NULL, &fence, error));
        OK(ls_fence_wait(fence, 60 * SECOND, NULL, error));
        ls_fence_destroy(&fence);
        OK(ls_buffer_read(s.y, 0, LS_MEM_F32, later, sizeof later, error));
        assert_memory_equal(first, later, sizeof first);
    }
    OK(ls_program_optimize(program, error));
    assert_int_equal(state_of(program), LS_TIER_STATE_OPTIMIZED);
    ls_prepared_destroy(&prepared);
    clear_scene(&s);
    ls_program_destroy(&program);
}

static void equal_programs_share_their_code(void **state)
{
    fixture *f = *state;
    ls_program *one = create(f, LS_TIER_QUICK), *two = create(f, LS_TIER_QUICK);
    OK(ls_program_optimize(one, error));
    ls_program *three = create(f, LS_TIER_OPTIMIZED); /* waits */
    assert_int_equal(state_of(one), LS_TIER_STATE_OPTIMIZED);
    assert_int_equal(state_of(two), LS_TIER_STATE_OPTIMIZED);
    assert_int_equal(state_of(three), LS_TIER_STATE_OPTIMIZED);
    ls_program_destroy(&one);
    ls_program_destroy(&two);
    ls_program_destroy(&three);
}

/* The fixture's device is closed right behind. */
static void a_program_may_go_while_it_is_optimized(void **state)
{
    fixture *f = *state;
    uint32_t out[LANES], again[LANES];
    ls_program *program = create(f, LS_TIER_QUICK);
    scene s = set_scene(f, program);
    run(f, &s, out);
    OK(ls_program_optimize(program, error));
    ls_program_destroy(&program);
    run(f, &s, again); /* the batch keeps the code */
    assert_memory_equal(out, again, sizeof out);
    clear_scene(&s);
    program = create(f, LS_TIER_QUICK);
    OK(ls_program_optimize(program, error));
    ls_program_destroy(&program);
}

static void bad_tiers_and_targets_are_refused(void **state)
{
    fixture *f = *state;
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    ls_module *module = compile_mix();
    ls_program *program = NULL;
    ls_device *device = NULL;
    params.tier = (ls_tier)7;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_program_create(f->device, module, &params, &program, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_program_optimize(NULL, error));
    ls_module_destroy(&module);
    device_params.name = contract_device;
    static const char *const targets[] = {
        "",    "+", "avx1024", "native+", "native+sideways", "native+scalar+vector", "native+quick",
        "none"};
    for (size_t i = 0; i < COUNT(targets); i++) {
        device_params.target = targets[i];
        REFUSED(LS_E_INVALID_ARGUMENT, ls_device_open(&device_params, &device, error));
        assert_null(device);
    }
}

const struct CMUnitTest contract_tier_tests[] = {
    TEST(quick_code_gives_the_same_bits),    TEST(optimized_code_takes_over_between_submissions),
    TEST(equal_programs_share_their_code),   TEST(a_program_may_go_while_it_is_optimized),
    TEST(bad_tiers_and_targets_are_refused),
};
const size_t contract_tier_count = COUNT(contract_tier_tests);
