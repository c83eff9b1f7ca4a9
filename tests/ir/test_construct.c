/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What text cannot show: rules that only IR in memory can break, changes to IR, copies between
 * modules, analyses that must stay quick on long and on hostile functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/os.h"
#include "ir/ir.h"

static ls__oom oom; /* memory does not run out in these tests: a jump ends the program */

static ls__ir_module *new_module(void)
{
    if (setjmp(oom.jump))
        fail_msg("out of memory");
    return ls__ir_module_create(&oom, 0);
}

static ls__ir_cursor at_end_of(ls__ir_function *function)
{
    return (ls__ir_cursor){.function = function, .region = function->body};
}

static void assert_breaks(const ls__ir_module *module, const char *id)
{
    ls_error error = {0};
    assert_int_equal(ls__ir_verify(module, &error), LS_E_COMPILE);
    if (strncmp(error.message, id, strlen(id)) != 0)
        fail_msg("%s instead of %s (%s)", error.message, id, error.where);
}

static void assert_text(const ls__ir_module *module, const char *expected)
{
    ls__strbuf out = {0};
    ls__ir_print(module, &out);
    assert_string_equal(out.text, expected);
    ls__strbuf_finish(&out);
}

/* --- rules ------------------------------------------------------------------------------------ */

/* A good function: v1 = 1; if (true) {} */
typedef struct sample {
    ls__ir_module *module;
    ls__ir_function *function;
    ls__ir_inst *constant, *set, *branch;
} sample;

static sample new_sample(void)
{
    sample s = {.module = new_module()};
    s.function = ls__ir_function_add(s.module, "f", false);
    ls_var var = ls__ir_var_add(s.function, "v", LS_TYPE_I32);
    ls__ir_cursor cursor = at_end_of(s.function);
    s.constant = ls__ir_def(s.function, ls__ir_const_i32(&cursor, 1));
    s.set = ls__ir_set(&cursor, var, s.constant->id);
    s.branch = ls__ir_if(&cursor, ls__ir_const_bool(&cursor, true));
    assert_int_equal(ls__ir_verify(s.module, NULL), LS_OK);
    return s;
}

static void break_opcode(sample *s)
{
    s->constant->op = LS_OP_COUNT;
}

static void break_flags(sample *s)
{
    s->set->flags = LS__IR_INBOUNDS;
}

static void break_next(sample *s)
{
    s->constant->next = s->branch;
}

static void break_last(sample *s)
{
    s->function->body->last = s->set;
}

static void break_parent(sample *s)
{
    s->set->parent = s->branch->regions[0];
}

static void break_owner(sample *s)
{
    s->branch->regions[1]->owner = NULL;
}

static void break_value_table(sample *s)
{
    s->function->values.items[s->constant->id.id] = s->branch;
}

static void break_unlisted_value(sample *s)
{
    s->constant->id.id = 0;
}

static void break_stale_value(sample *s)
{
    ls__vec_push(&s->module->arena, &s->function->values, s->constant);
}

static void break_const_bits(sample *s)
{
    s->constant->imm = UINT64_C(1) << 32;
}

static void break_bool_bits(sample *s)
{
    s->branch->prev->imm = 2;
}

static void break_operand_range(sample *s)
{
    s->set->args[0].id = 1000;
}

static void break_variable_range(sample *s)
{
    s->set->imm = 2;
}

static void break_region_count(sample *s)
{
    s->branch->region_count = 1;
}

static void break_regions_of_others(sample *s)
{
    s->set->regions = s->branch->regions;
    s->set->region_count = 2;
}

static void break_type_range(sample *s)
{
    s->function->vars.items[1].type = LS_TYPE_COUNT;
}

static void test_rules(void **state)
{
    (void)state;
    static const struct {
        void (*change)(sample *);
        const char *id;
    } cases[] = {
        {break_opcode, "IR0011"},
        {break_flags, "IR0011"},
        {break_next, "IR0010"},
        {break_last, "IR0010"},
        {break_parent, "IR0010"},
        {break_owner, "IR0010"},
        {break_value_table, "IR0010"},
        {break_unlisted_value, "IR0010"},
        {break_stale_value, "IR0010"},
        {break_const_bits, "IR0016"},
        {break_bool_bits, "IR0016"},
        {break_operand_range, "IR0013"},
        {break_variable_range, "IR0020"},
        {break_region_count, "IR0021"},
        {break_regions_of_others, "IR0021"},
        {break_type_range, "IR0006"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s = new_sample();
        cases[i].change(&s);
        assert_breaks(s.module, cases[i].id);
        ls__ir_module_destroy(&s.module);
    }
}

static void test_depth(void **state)
{
    (void)state;
    ls__ir_module *module = new_module();
    ls__ir_function *f = ls__ir_function_add(module, "f", false);
    ls__ir_cursor cursor = at_end_of(f);
    for (int i = 0; i < LS__IR_MAX_DEPTH; i++)
        cursor.region = ls__ir_block(&cursor)->regions[0];
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    ls__ir_block(&cursor);
    assert_breaks(module, "IR0022");
    ls__ir_module_destroy(&module);
}

static void test_where(void **state)
{
    (void)state;
    sample s = new_sample();
    ls_error error = {0};
    s.set->loc = (ls__ir_loc){ls__ir_file_add(s.module, "dir/a.kc"), 7, 12};
    s.set->imm = 9;
    assert_int_equal(ls__ir_verify(s.module, &error), LS_E_COMPILE);
    assert_string_equal(error.where, "function @f, set, dir/a.kc:12:7");
    ls__ir_module_destroy(&s.module);
}

/* --- changes ---------------------------------------------------------------------------------- */

static void test_changes(void **state)
{
    (void)state;
    ls__ir_module *module = new_module();
    ls__ir_function *f = ls__ir_function_add(module, "f", false);
    ls_var unused = ls__ir_var_add(f, "unused", LS_TYPE_F32);
    ls_var used = ls__ir_var_add(f, "used", LS_TYPE_I32);
    ls__ir_cursor cursor = at_end_of(f);
    ls_value one = ls__ir_const_i32(&cursor, 1);
    ls_value two = ls__ir_const_i32(&cursor, 2);
    ls_value sum = ls__ir_emit2(&cursor, LS_OP_ADD, one, two);
    ls__ir_inst *block = ls__ir_block(&cursor);
    ls__ir_cursor inside = {.function = f, .region = block->regions[0]};
    ls__ir_set(&inside, used, sum);
    ls__ir_const_f32(&inside, 2.0f);
    assert_int_equal(ls__ir_type_of(f, sum), LS_TYPE_I32);
    assert_int_equal(ls__ir_type_of(f, (ls_value){99}), LS_TYPE_VOID);
    (void)unused;

    /* sum goes, since its one use becomes one of `one`; two moves before one */
    ls__ir_inst *set = block->regions[0]->first;
    set->args[0] = one;
    ls__ir_remove(f, ls__ir_def(f, sum));
    assert_null(ls__ir_def(f, sum));
    ls__ir_move_before(ls__ir_def(f, two), ls__ir_def(f, one));
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    ls__ir_compact(f);
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    assert_text(module, "lockstep ir 3\n\n"
                        "function @f {\n"
                        "  var v1 used : i32\n"
                        "  %1 = const 2 : i32\n"
                        "  %2 = const 1 : i32\n"
                        "  block {\n"
                        "    set v1, %2\n"
                        "    %3 = const 2.0 : f32\n"
                        "  }\n"
                        "}\n");
    set->args[0] = (ls_value){1};
    ls__ir_remove(f, ls__ir_def(f, (ls_value){2}));
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    ls__ir_remove(f, f->body->last); /* with the constant in it */
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    ls__ir_compact(f);
    assert_text(module, "lockstep ir 3\n\nfunction @f {\n  %1 = const 2 : i32\n}\n");
    ls__ir_module_destroy(&module);
}

static void test_tables_and_files_are_shared(void **state)
{
    (void)state;
    ls__ir_module *module = new_module();
    const char bytes[4] = {1, 2, 3, 4};
    ls_base a = ls__ir_table_add(module, "a", bytes, 4, 4);
    ls_base b = ls__ir_table_add(module, "b", bytes, 3, 1);
    ls_base c = ls__ir_table_add(module, "c", bytes, 4, 4);
    assert_int_equal(a.index, c.index);
    assert_int_not_equal(a.index, b.index);
    assert_int_equal(ls__ir_file_add(module, "x"), 0);
    assert_int_equal(ls__ir_file_add(module, "y"), 1);
    assert_int_equal(ls__ir_file_add(module, "x"), 0);
    ls__ir_module_destroy(&module);
}

/* --- copies ----------------------------------------------------------------------------------- */

static const char source_text[] = "lockstep ir 3\n"
                                  "file \"s.kc\"\n"
                                  "table unused align 1 {\n  00\n}\n"
                                  "table used align 1 {\n  01\n}\n"
                                  "\n"
                                  "kernel @main workgroup(8, 1, 1) {\n"
                                  "  buffer b : u8 size 1 align 1\n"
                                  "  var v1 r : i32\n"
                                  "  call @helper () [buffer 0] -> v1 !2:1\n"
                                  "}\n"
                                  "\n"
                                  "function @helper -> i32 {\n"
                                  "  buffer b : u8 size 1 align 1\n"
                                  "  %1 = const 0 : i64\n"
                                  "  %2 = load u8 const 1 [%1] : i32\n"
                                  "  switch %2 {\n"
                                  "  case 1, 2 {\n"
                                  "    return %2\n"
                                  "  }\n"
                                  "  default {\n"
                                  "  }\n"
                                  "  }\n"
                                  "  return %2\n"
                                  "}\n";

static ls__ir_module *read_text(const char *text)
{
    ls__ir_module *module;
    ls_error error = {0};
    if (ls__ir_read(text, strlen(text), &module, &error) != LS_OK)
        fail_msg("%s (%s)", error.message, error.where);
    return module;
}

static void test_clone_into_another_module(void **state)
{
    (void)state;
    ls__ir_module *source = read_text(source_text);
    ls__ir_module *target = new_module();
    ls__ir_file_add(target, "first.kc");
    ls__ir_table_add(target, "first", "\2", 1, 1);
    const ls__ir_function *function = ls__ir_function_find(source, ls__str_from("main"));
    ls__ir_function *copy = ls__ir_function_clone(target, function, "copy");
    assert_string_equal(copy->name, "copy");
    assert_int_equal(ls__ir_verify(target, NULL), LS_OK);
    ls__ir_module_destroy(&source);            /* the copy holds nothing of it */
    assert_int_equal(target->tables.count, 2); /* only what is used came along */
    assert_int_equal(target->files.count, 2);
    assert_int_equal(copy->body->first->loc.file, 1);
    const ls__ir_function *helper = ls__ir_function_find(target, ls__str_from("helper"));
    assert_non_null(helper);
    assert_int_equal(copy->body->first->imm, helper->id.id);
    assert_int_equal(ls__ir_def(helper, (ls_value){2})->base.index, 1);

    /* Within a module, and again: the helper is found by name. */
    ls__ir_function_clone(target, copy, "again");
    assert_int_equal(ls__ir_verify(target, NULL), LS_OK);
    assert_int_equal(target->functions.count, 4);
    ls__ir_module_destroy(&target);
}

static void test_link(void **state)
{
    (void)state;
    ls__ir_module *source = read_text(source_text);
    ls__ir_module *target = new_module();
    ls__ir_module_link(target, source);
    assert_int_equal(ls__ir_verify(target, NULL), LS_OK);
    assert_int_equal(target->functions.count, 3);
    ls__ir_module_destroy(&target);
    ls__ir_module_destroy(&source);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Very generous, so that only what grows as the square of the length fails. */
static void assert_quick(uint64_t start_ns)
{
    assert_true(ls__os_now_ns() - start_ns < UINT64_C(20000000000));
}

static void test_long_block(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    ls__ir_module *module = new_module(), *back;
    ls__ir_function *f = ls__ir_function_add(module, "f", true);
    ls__ir_cursor cursor = at_end_of(f);
    uint64_t start = ls__os_now_ns();
    ls_value last = ls__ir_const_i32(&cursor, 1);
    for (int i = 0; i < LENGTH; i++)
        last = ls__ir_emit2(&cursor, LS_OP_ADD, last, last);
    ls__ir_insert(&cursor, LS_OP_BARRIER, LS_TYPE_VOID, NULL, 0);
    ls__ir_compact(f);
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    ls__strbuf text = {0};
    ls__ir_print(module, &text);
    assert_int_equal(ls__ir_read(text.text, text.length, &back, NULL), LS_OK);
    ls__strbuf_finish(&text);
    ls__ir_module_destroy(&back);
    void *bytes;
    size_t size;
    assert_int_equal(ls__ir_encode(module, &bytes, &size, NULL), LS_OK);
    assert_int_equal(ls__ir_decode(bytes, size, &back, NULL), LS_OK);
    ls__mem_free(bytes);
    ls__ir_module_destroy(&back);
    ls__ir_module_destroy(&module);
    assert_quick(start);
}

/* Divergence that arrives one variable further in each walk: the analysis gives up and says so. */
static void test_long_chain_of_variables(void **state)
{
    (void)state;
    enum { LENGTH = 20000 };
    ls__ir_module *module = new_module();
    ls__ir_function *f = ls__ir_function_add(module, "f", true);
    ls__ir_cursor cursor = at_end_of(f);
    ls__ir_inst *lane = ls__ir_insert(&cursor, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    lane->imm = LS_ID_LANE;
    cursor.region = ls__ir_loop(&cursor)->regions[0];
    uint64_t start = ls__os_now_ns();
    ls_var first = ls__ir_var_add(f, "v", LS_TYPE_I32), var = first;
    for (int i = 0; i < LENGTH; i++) {
        ls_var next = ls__ir_var_add(f, "v", LS_TYPE_I32);
        ls__ir_set(&cursor, var, ls__ir_get(&cursor, next));
        var = next;
    }
    ls__ir_set(&cursor, var, lane->id);
    ls__ir_insert(&cursor, LS_OP_BREAK, LS_TYPE_VOID, NULL, 0);
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    ls__ir_uniformity u = ls__ir_uniformity_of(f, &module->arena);
    assert_int_equal(u.vars[first.id], LS__IR_LANE);
    assert_quick(start);
    ls__ir_module_destroy(&module);
}

/* Each function calls the next twice: 2^60 paths, 61 functions. */
static void test_diamond_calls(void **state)
{
    (void)state;
    ls__ir_module *module = new_module();
    ls__ir_function *functions[61];
    uint64_t start = ls__os_now_ns();
    for (int i = 0; i < 61; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%d", i);
        functions[i] = ls__ir_function_add(module, name, i == 0);
    }
    for (int i = 0; i < 60; i++) {
        ls__ir_cursor cursor = at_end_of(functions[i]);
        for (int k = 0; k < 2; k++)
            ls__ir_insert(&cursor, LS_OP_CALL, LS_TYPE_VOID, NULL, 0)->imm =
                functions[i + 1]->id.id;
        if (i == 0)
            ls__ir_insert(&cursor, LS_OP_BARRIER, LS_TYPE_VOID, NULL, 0);
    }
    assert_int_equal(ls__ir_verify(module, NULL), LS_OK);
    assert_quick(start);
    ls__ir_module_destroy(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_tables_and_files_are_shared),
        cmocka_unit_test(test_clone_into_another_module),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_long_block),
        cmocka_unit_test(test_long_chain_of_variables),
        cmocka_unit_test(test_diamond_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
