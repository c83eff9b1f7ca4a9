/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public builder: every call once in a program that verifies and prints as expected; every
 * mistake is kept and named; out of memory at any allocation is reported and leaks nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ir/builder.h"

static const ls_param_desc helper_params[] = {
    {.name = "x", .mem = LS_MEM_F32},
    {.name = "out", .mem = LS_MEM_U32, .is_pointer = true, .min_elements = 2},
};

static const ls_param_desc main_params[] = {
    {.name = "n", .mem = LS_MEM_U32},
    {.name = "a", .mem = LS_MEM_F64},
    {.name = "in", .mem = LS_MEM_F32, .is_pointer = true, .is_const = true},
    {.name = "out", .mem = LS_MEM_U32, .is_pointer = true, .min_elements = 3},
    {.name = "pairs", .size = 8, .alignment = 4, .is_pointer = true},
};

static void build_helper(ls_builder *b)
{
    ls_function f = ls_builder_begin(b, &(ls_function_desc){.struct_size = sizeof(ls_function_desc),
                                                            .name = "helper",
                                                            .params = helper_params,
                                                            .param_count = 2,
                                                            .results = (ls_type[]){LS_TYPE_I32},
                                                            .result_count = 1});
    (void)f;
    ls_value x = ls_builder_param(b, 0);
    ls_value whole = ls_builder_float_to_int(b, LS_OP_F2S, LS_TYPE_I32, 16, x);
    ls_builder_return(b, &whole, 1);
    ls_builder_end(b);
}

static void build_control(ls_builder *b, ls_value n, ls_var i)
{
    ls_value yes = ls_builder_const(b, LS_TYPE_BOOL, 1);
    ls_builder_begin_if(b, yes);
    ls_builder_set(b, i, n);
    ls_builder_else(b);
    ls_builder_begin_block(b);
    ls_builder_break(b);
    ls_builder_close(b);
    ls_builder_close(b);

    ls_builder_begin_loop(b);
    ls_builder_begin_switch(b, ls_builder_get(b, i));
    ls_builder_case(b, (int64_t[]){1, 2}, 2);
    ls_builder_continue(b);
    ls_builder_case(b, (int64_t[]){-1}, 1);
    ls_builder_return(b, NULL, 0);
    ls_builder_default(b);
    ls_builder_close(b);
    ls_builder_step(b);
    ls_builder_while(b, yes);
    ls_builder_close(b);
}

static void build_main(ls_builder *b)
{
    ls_base table = ls_builder_table(b, "t", "\1\2\3\4", 4, 4);
    ls_builder_begin(b, &(ls_function_desc){.struct_size = sizeof(ls_function_desc),
                                            .name = "main",
                                            .is_kernel = true,
                                            .unordered = true,
                                            .params = main_params,
                                            .param_count = 5});
    ls_base local = ls_builder_local(b, "l", 16, 4);
    ls_base shared = ls_builder_shared(b, "s", 32, 8);
    ls_var i = ls_builder_var(b, "i", LS_TYPE_I32);
    ls_base in = {LS_BASE_BUFFER, 0}, out = {LS_BASE_BUFFER, 1};

    ls_builder_line(b, 12);
    ls_value n = ls_builder_param(b, 0);
    ls_builder_line(b, 0);
    ls_value id = ls_builder_id(b, LS_ID_GLOBAL_ID, 1);
    ls_value sum = ls_builder_op(b, LS_OP_ADD, LS_TYPE_VOID, (ls_value[]){n, id}, 2);
    ls_value zero = ls_builder_const(b, LS_TYPE_I64, 0);
    ls_value wide = ls_builder_op(b, LS_OP_SEXT, LS_TYPE_VOID, &sum, 1);
    ls_value at = ls_builder_index(b, zero, wide, 4, 8);
    ls_value x = ls_builder_load(b, LS_MEM_F32, in, at);
    ls_value as_double = ls_builder_op(b, LS_OP_F2F, LS_TYPE_F64, &x, 1);
    ls_builder_op(b, LS_OP_FADD, LS_TYPE_VOID, (ls_value[]){as_double, ls_builder_param(b, 1)}, 2);
    ls_builder_store(b, LS_MEM_U8, local, zero, ls_builder_load(b, LS_MEM_U8, table, zero));
    ls_builder_range(b, shared);
    ls_value total = ls_builder_reduce(b, LS_REDUCE_SMAX, n);
    ls_builder_op(b, LS_OP_BARRIER, LS_TYPE_VOID, NULL, 0);
    ls_value old = ls_builder_atomic(b, LS_ATOMIC_UMAX, LS_MEM_U32, out, zero, total);
    ls_builder_atomic_cas(b, LS_MEM_U32, shared, zero, old, total);
    ls_builder_call(b, ls_builder_find(b, "helper"), &x, 1, &out, 1, &i, 1);
    build_control(b, n, i);
    ls_builder_end(b);
}

static const char expected[] = "lockstep ir 3\n"
                               "table t align 4 {\n  01020304\n}\n"
                               "\n"
                               "function @helper -> i32 {\n"
                               "  scalar x : f32 size 4 align 4 at 0\n"
                               "  buffer out : u32 size 4 align 4 min 8\n"
                               "  %1 = param f32 0 : f32\n"
                               "  %2 = f2s 16 %1 : i32\n"
                               "  return %2\n"
                               "}\n"
                               "\n"
                               "kernel @main workgroup(64, 1, 1) unordered {\n"
                               "  scalar n : u32 size 4 align 4 at 0\n"
                               "  scalar a : f64 size 8 align 8 at 8\n"
                               "  buffer in : const f32 size 4 align 4\n"
                               "  buffer out : u32 size 4 align 4 min 12\n"
                               "  buffer pairs : struct size 8 align 4\n"
                               "  shared s size 32 align 8\n"
                               "  local l size 16 align 4\n"
                               "  var v1 i : i32\n"
                               "  %1 = param u32 0 : i32 !12:0\n"
                               "  %2 = id global_id 1 : i32\n"
                               "  %3 = add %1, %2 : i32\n"
                               "  %4 = const 0 : i64\n"
                               "  %5 = sext %3 : i64\n"
                               "  %6 = index %4, %5 stride 4 count 8 : i64\n"
                               "  %7 = load f32 buffer 0 [%6] : f32\n"
                               "  %8 = f2f %7 : f64\n"
                               "  %9 = param f64 8 : f64\n"
                               "  %10 = fadd %8, %9 : f64\n"
                               "  %11 = load u8 const 0 [%4] : i32\n"
                               "  store u8 local 0 [%4], %11\n"
                               "  %12 = range shared 0 : i64\n"
                               "  %13 = sg_reduce smax %1 : i32\n"
                               "  barrier\n"
                               "  %14 = atomic umax u32 buffer 1 [%4], %13 : i32\n"
                               "  %15 = atomic_cas u32 shared 0 [%4], %14, %13 : i32\n"
                               "  call @helper (%7) [buffer 1] -> v1\n"
                               "  %16 = const true : bool\n"
                               "  if %16 {\n"
                               "    set v1, %1\n"
                               "  } else {\n"
                               "    block {\n"
                               "      break\n"
                               "    }\n"
                               "  }\n"
                               "  loop {\n"
                               "    %17 = get v1 : i32\n"
                               "    switch %17 {\n"
                               "    case 1, 2 {\n"
                               "      continue\n"
                               "    }\n"
                               "    case -1 {\n"
                               "      return\n"
                               "    }\n"
                               "    default {\n"
                               "    }\n"
                               "    }\n"
                               "  } step {\n"
                               "    while %16\n"
                               "  }\n"
                               "}\n";

static void test_all_calls(void **state)
{
    (void)state;
    ls_builder *b;
    ls__ir_module *module;
    ls_error error = {0};
    ls__strbuf text = {0};
    assert_int_equal(ls_builder_create(&b, NULL), LS_OK);
    assert_int_equal(ls_builder_find(b, "helper").id, 0);
    build_helper(b);
    assert_int_equal(ls_builder_find(b, "helper").id, 1);
    build_main(b);
    if (ls__ir_builder_finish(&b, &module, &error) != LS_OK)
        fail_msg("%s (%s)", error.message, error.where);
    assert_null(b);
    ls__ir_print(module, &text);
    assert_string_equal(text.text, expected);
    ls__strbuf_finish(&text);
    ls__ir_module_destroy(&module);
}

static void test_link(void **state)
{
    (void)state;
    ls_builder *b;
    ls__ir_module *library, *module;
    ls_error error = {0};
    assert_int_equal(ls_builder_create(&b, NULL), LS_OK);
    build_helper(b);
    assert_int_equal(ls__ir_builder_finish(&b, &library, NULL), LS_OK);

    assert_int_equal(ls_builder_create(&b, NULL), LS_OK);
    ls__ir_builder_link(b, library);
    build_main(b);
    assert_int_equal(ls__ir_builder_finish(&b, &module, NULL), LS_OK);
    assert_int_equal(module->functions.count, 3);
    ls__ir_module_destroy(&module);

    assert_int_equal(ls_builder_create(&b, NULL), LS_OK);
    ls__ir_builder_link(b, library);
    ls__ir_builder_link(b, library);
    assert_int_equal(ls__ir_builder_finish(&b, &module, &error), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "ls_builder_link"));
    assert_null(module);
    ls__ir_module_destroy(&library);
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void begin_plain(ls_builder *b)
{
    ls_builder_begin(b, &(ls_function_desc){.struct_size = sizeof(ls_function_desc), .name = "f"});
}

static void mistake_no_function(ls_builder *b)
{
    ls_builder_const(b, LS_TYPE_I32, 1);
}

static void mistake_no_name(ls_builder *b)
{
    ls_builder_begin(b, &(ls_function_desc){.struct_size = sizeof(ls_function_desc)});
}

static void mistake_no_size(ls_builder *b)
{
    ls_builder_begin(b, &(ls_function_desc){.name = "f"});
}

static void mistake_not_ended(ls_builder *b)
{
    begin_plain(b);
}

static void mistake_begun_twice(ls_builder *b)
{
    begin_plain(b);
    begin_plain(b);
}

static void mistake_not_closed(ls_builder *b)
{
    begin_plain(b);
    ls_builder_begin_block(b);
    ls_builder_end(b);
}

static void mistake_closed_too_often(ls_builder *b)
{
    begin_plain(b);
    ls_builder_close(b);
}

static void mistake_else_in_loop(ls_builder *b)
{
    begin_plain(b);
    ls_builder_begin_loop(b);
    ls_builder_else(b);
}

static void mistake_two_steps(ls_builder *b)
{
    begin_plain(b);
    ls_builder_begin_loop(b);
    ls_builder_step(b);
    ls_builder_step(b);
}

static void mistake_before_case(ls_builder *b)
{
    begin_plain(b);
    ls_builder_begin_switch(b, ls_builder_const(b, LS_TYPE_I32, 1));
    ls_builder_break(b);
}

static void mistake_case_after_default(ls_builder *b)
{
    begin_plain(b);
    ls_builder_begin_switch(b, ls_builder_const(b, LS_TYPE_I32, 1));
    ls_builder_default(b);
    ls_builder_case(b, (int64_t[]){1}, 1);
}

static void mistake_no_value(ls_builder *b)
{
    begin_plain(b);
    ls_builder_reduce(b, LS_REDUCE_ADD, (ls_value){7});
}

static void mistake_no_variable(ls_builder *b)
{
    begin_plain(b);
    ls_builder_get(b, (ls_var){1});
}

static void mistake_own_call(ls_builder *b)
{
    begin_plain(b);
    ls_builder_op(b, LS_OP_LOOP, LS_TYPE_VOID, NULL, 0);
}

static void mistake_unknown_op(ls_builder *b)
{
    begin_plain(b);
    ls_builder_op(b, (ls_op)1000, LS_TYPE_VOID, NULL, 0);
}

static void mistake_operand_count(ls_builder *b)
{
    begin_plain(b);
    ls_builder_op(b, LS_OP_ADD, LS_TYPE_VOID, (ls_value[]){ls_builder_const(b, LS_TYPE_I32, 1)}, 1);
}

static void mistake_no_operands(ls_builder *b)
{
    begin_plain(b);
    ls_builder_op(b, LS_OP_ADD, LS_TYPE_VOID, NULL, 2);
}

static void mistake_unknown_mem(ls_builder *b)
{
    begin_plain(b);
    ls_builder_load(b, LS_MEM_NONE, (ls_base){LS_BASE_BUFFER, 0},
                    ls_builder_const(b, LS_TYPE_I64, 0));
}

static void mistake_no_callee(ls_builder *b)
{
    begin_plain(b);
    ls_builder_call(b, (ls_function){9}, NULL, 0, NULL, 0, NULL, 0);
}

static void mistake_pointer_as_scalar(ls_builder *b)
{
    ls_builder_begin(b, &(ls_function_desc){.struct_size = sizeof(ls_function_desc),
                                            .name = "f",
                                            .params = helper_params,
                                            .param_count = 2});
    ls_builder_param(b, 1);
}

static void mistake_too_many_elements(ls_builder *b)
{
    const ls_param_desc many = {
        .name = "x", .mem = LS_MEM_U64, .is_pointer = true, .min_elements = UINT64_MAX / 8};
    ls_builder_begin(b, &(ls_function_desc){.struct_size = sizeof(ls_function_desc),
                                            .name = "f",
                                            .params = &many,
                                            .param_count = 1});
}

static void mistake_depth(ls_builder *b)
{
    begin_plain(b);
    for (int i = 0; i <= LS__IR_MAX_DEPTH; i++)
        ls_builder_begin_block(b);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        void (*make)(ls_builder *);
        const char *call; /* that the message names */
    } cases[] = {
        {mistake_no_function, "ls_builder_const"},
        {mistake_no_name, "ls_builder_begin"},
        {mistake_no_size, "ls_builder_begin"},
        {mistake_not_ended, "ls_builder_finish"},
        {mistake_begun_twice, "ls_builder_begin"},
        {mistake_not_closed, "ls_builder_end"},
        {mistake_closed_too_often, "ls_builder_close"},
        {mistake_else_in_loop, "ls_builder_else"},
        {mistake_two_steps, "ls_builder_step"},
        {mistake_before_case, "ls_builder_break"},
        {mistake_case_after_default, "ls_builder_case"},
        {mistake_no_value, "ls_builder_reduce"},
        {mistake_no_variable, "ls_builder_get"},
        {mistake_own_call, "ls_builder_op"},
        {mistake_unknown_op, "ls_builder_op"},
        {mistake_operand_count, "ls_builder_op"},
        {mistake_no_operands, "ls_builder_op"},
        {mistake_unknown_mem, "ls_builder_load"},
        {mistake_no_callee, "ls_builder_call"},
        {mistake_pointer_as_scalar, "ls_builder_param"},
        {mistake_too_many_elements, "ls_builder_begin"},
        {mistake_depth, "ls_builder_begin_block"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls_builder *b;
        ls__ir_module *module;
        ls_error error = {0};
        assert_int_equal(ls_builder_create(&b, NULL), LS_OK);
        cases[i].make(b);
        if (strcmp(cases[i].call, "ls_builder_finish") != 0) {
            /* Whatever follows does nothing, and the first mistake stays. */
            assert_int_equal(ls_builder_const(b, LS_TYPE_I32, 1).id, 0);
            ls_builder_close(b);
        }
        assert_int_equal(ls__ir_builder_finish(&b, &module, &error), LS_E_INVALID_ARGUMENT);
        size_t length = strlen(cases[i].call);
        if (strncmp(error.message, cases[i].call, length) != 0 || error.message[length] != ':')
            fail_msg("case %zu: %s", i, error.message);
        assert_null(module);
        assert_null(b);
    }
}

/* Of a header without results, which lie behind what it knows. */
static void test_older_description(void **state)
{
    (void)state;
    ls_builder *b;
    ls__ir_module *module;
    assert_int_equal(ls_builder_create(&b, NULL), LS_OK);
    ls_builder_begin(b, &(ls_function_desc){.struct_size = offsetof(ls_function_desc, results),
                                            .name = "f",
                                            .result_count = 1});
    ls_builder_end(b);
    assert_int_equal(ls__ir_builder_finish(&b, &module, NULL), LS_OK);
    ls__ir_module_destroy(&module);
}

static void test_verified(void **state)
{
    (void)state;
    ls_builder *b;
    ls__ir_module *module;
    ls_error error = {0};
    assert_int_equal(ls_builder_create(&b, NULL), LS_OK);
    begin_plain(b);
    ls_builder_break(b);
    ls_builder_end(b);
    assert_int_equal(ls__ir_builder_finish(&b, &module, &error), LS_E_COMPILE);
    assert_int_equal(strncmp(error.message, "IR0024", 6), 0);
    assert_null(module);
}

static void test_null_is_accepted(void **state)
{
    (void)state;
    ls_builder *none = NULL;
    assert_int_equal(ls_builder_create(NULL, NULL), LS_E_INVALID_ARGUMENT);
    ls_builder_destroy(NULL);
    ls_builder_destroy(&none);
    assert_int_equal(ls_builder_const(NULL, LS_TYPE_I32, 1).id, 0);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        ls_builder *b;
        ls__ir_module *module = NULL;
        assert_int_equal(status, LS_E_OUT_OF_MEMORY);
        assert_true(n < 1000);
        ls__mem_fail_after(n);
        status = ls_builder_create(&b, NULL);
        if (status == LS_OK) {
            build_helper(b);
            build_main(b);
            status = ls__ir_builder_finish(&b, &module, NULL);
        }
        ls__mem_fail_after(0);
        assert_null(b);
        assert_true((module != NULL) == (status == LS_OK));
        ls__ir_module_destroy(&module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_calls),     cmocka_unit_test(test_link),
        cmocka_unit_test(test_mistakes),      cmocka_unit_test(test_older_description),
        cmocka_unit_test(test_verified),      cmocka_unit_test(test_null_is_accepted),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
