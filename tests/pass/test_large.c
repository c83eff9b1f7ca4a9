/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large functions, as a netlist compiler makes them: the passes must not be quadratic. Twice the
 * size may take at most about twice the time; the bound below is generous, since machines are
 * shared.
 */
#include "harness.h"

#include <time.h>

/* Straight-line logic, variables, branches and loops in turn; `count` is the number of rounds. */
static void build(ls__ir_module *module, uint32_t count, bool nested)
{
    ls__ir_function *function = ls__ir_function_add(module, "k", true);
    ls__ir_param_add(function, (ls__ir_param){.name = "out",
                                              .type_name = "u32",
                                              .mem = LS_MEM_U32,
                                              .is_pointer = true,
                                              .size = 4,
                                              .alignment = 4});
    ls__ir_cursor at = {.function = function, .region = function->body};
    ls_value zero = ls__ir_const_i64(&at, 0);
    ls_value x = ls__ir_load(&at, LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 0}, zero);
    ls__rng rng = {1};
    for (uint32_t i = 0; i < count; i++) {
        ls_var var = ls__ir_var_add(function, "v", LS_TYPE_I32);
        ls_value y = ls__ir_const_i32(&at, (int32_t)ls__rng_below(&rng, 1000) + 2);
        static const ls_op ops[] = {LS_OP_ADD, LS_OP_XOR, LS_OP_AND, LS_OP_UDIV, LS_OP_MUL};
        for (uint32_t k = 0; k < 5; k++)
            x = ls__ir_emit2(&at, ops[ls__rng_below(&rng, 5)], x, y);
        ls__ir_set(&at, var, x);
        ls__ir_inst *branch = ls__ir_if(&at, ls__ir_emit2(&at, LS_OP_ULT, x, y));
        ls__ir_cursor inside = {function, branch->regions[0], NULL, {0}};
        ls_value old = ls__ir_get(&inside, var);
        ls__ir_set(&inside, var, ls__ir_emit2(&inside, LS_OP_ADD, old, y));
        x = ls__ir_get(&at, var);
        ls_value offset = ls__ir_index(&at, zero, ls__ir_emit1(&at, LS_OP_ZEXT, x), 4, 0);
        ls__ir_store(&at, LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 0}, offset, x);
        if (nested && i % 64 == 0) {
            ls__ir_inst *loop = ls__ir_loop(&at);
            ls__ir_cursor body = {function, loop->regions[0], NULL, {0}};
            ls__ir_set(&body, var, ls__ir_emit2(&body, LS_OP_ADD, x, ls__ir_get(&body, var)));
            ls__ir_insert(&body, LS_OP_BREAK, LS_TYPE_VOID, NULL, 0);
        }
    }
}

/* Of this process: other load on the machine does not count. */
static uint64_t cpu_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t time_pipeline(uint32_t count, bool nested)
{
    ls__oom oom;
    ls__ir_module *volatile module = NULL;
    if (setjmp(oom.jump) == 0) {
        module = new_module(&oom);
        build(module, count, nested);
    }
    assert_non_null(module);
    ls__pass_options options = {.lower = UINT32_MAX, .optimize = true};
    ls_error error = {0};
    uint64_t start = cpu_time_ns();
    assert_int_equal(ls__pass_run(module, &options, &error), LS_OK);
    uint64_t end = cpu_time_ns();
    ls_status status = ls__ir_verify(module, &error);
    if (status != LS_OK)
        fail_msg("%s (%s)", error.message, error.where);
    ls__ir_module *whole = module;
    ls__ir_module_destroy(&whole);
    return end - start;
}

static void test_grows_linearly(void **state)
{
    (void)state;
    for (int nested = 0; nested < 2; nested++) {
        uint64_t small = time_pipeline(2000, nested), large = time_pipeline(8000, nested);
        printf("2000 rounds: %.3f s, 8000 rounds: %.3f s\n", (double)small * 1e-9,
               (double)large * 1e-9);
        assert_true(large < 10 * small + 200000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grows_linearly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
