/* SPDX-License-Identifier: Apache-2.0 */
/* From configurations to the text: what is refused, defaults, a source of the user's own. SOURCES
 * is the folder of *.kc files here. */
#include "bench.h"

#include "base/mem.h"
#include "cosim/peripheral_types.h"

static ls_error refused(const ls_peripheral *list, uint32_t count, ls_status expected)
{
    ls_error error = {0};
    ls__peripherals *p = NULL;
    assert_int_equal(ls__peripherals_create(list, count, &p, &error), expected);
    assert_null(p);
    return error;
}

static void wrong_configurations_are_refused(void **state)
{
    (void)state;
    ls_peripheral one = {.name = "a", .type = "uart"};
    ls_error error = refused(&one, 1, LS_E_NOT_FOUND);
    assert_non_null(strstr(error.hint, "uart_tx"));

    one.type = "uart_tx"; /* bit_edges has no default */
    error = refused(&one, 1, LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "bit_edges"));

    ls_peripheral_parameter bad[] = {{"bit_edges", 8}, {"baud", 115200}};
    one.parameters = bad;
    one.parameter_count = 2;
    error = refused(&one, 1, LS_E_NOT_FOUND);
    assert_non_null(strstr(error.hint, "bit_edges, data_bits"));

    bad[1].name = "bit_edges";
    refused(&one, 1, LS_E_INVALID_ARGUMENT);
    one.parameter_count = 1;
    ls_pin pins[] = {DRIVEN("tx", 0), PIN("tx", 1)};
    one.pins = pins;
    one.pin_count = 1;
    refused(&one, 1, LS_E_INVALID_ARGUMENT); /* the wrong direction */
    pins[0].drives = false;
    one.pin_count = 2;
    refused(&one, 1, LS_E_INVALID_ARGUMENT); /* twice */
    one.pin_count = 1;
    pins[0].name = "rx";
    refused(&one, 1, LS_E_NOT_FOUND);
    pins[0].name = "tx";
    pins[0].signal.width = 65;
    refused(&one, 1, LS_E_INVALID_ARGUMENT);
    pins[0].signal.width = 1;

    ls_peripheral two[] = {one, one};
    refused(two, 2, LS_E_INVALID_ARGUMENT); /* one name */
    two[1].name = "b";
    two[1].path = "uart_tx.kc";
    refused(two, 2, LS_E_INVALID_ARGUMENT); /* one type, two sources */
    two[1].name = "b b";
    refused(two, 2, LS_E_INVALID_ARGUMENT);
    one.path = "a\"b.kc";
    refused(&one, 1, LS_E_INVALID_ARGUMENT);
}

/* All built-in types at once, everything at its default: the text compiles, and nothing happens. */
static void all_types_are_one_program(void **state)
{
    (void)state;
    ls_peripheral list[16] = {0};
    char names[16][8];
    ls_peripheral_parameter bit = {"bit_edges", 4};
    for (uint32_t i = 0; i < ls__peripheral_type_count; i++) {
        const ls__peripheral_type *type = &ls__peripheral_types[i];
        snprintf(names[i], sizeof names[i], "p%u", i);
        list[i].name = names[i];
        list[i].type = type->name;
        if (strncmp(type->name, "uart", 4) == 0) {
            list[i].parameters = &bit;
            list[i].parameter_count = 1;
        }
    }
    bench b;
    bench_init(&b, 20, 1);
    b.peripherals = list;
    b.peripheral_count = ls__peripheral_type_count;
    bench_run(&b);
    assert_int_equal(b.event_count, 1); /* the JTAG session without bytes ends at once */
    assert_int_equal(b.events[0].kind, 2);
    bench_finish(&b);
}

/* Driven values start as given and are cut; two peripherals of one type with other pins; more than
 * four events at one edge are dropped; an image each. */
static void own_sources_are_linked(void **state)
{
    (void)state;
    enum { A, B, HIGH, LOW, SIGNALS };
    ls_pin first[] = {{"count", {A, 0, 4}, 0xfd, true}, PIN("low", LOW), DRIVEN("high", HIGH)};
    ls_pin second[] = {WIDE("count", B, 64, true), {"other", {0, 0, 0}, 99, false}};
    ls_peripheral_parameter adds[] = {{"add", 1}, {"add", UINT64_MAX}, {"events", 5}};
    ls_peripheral list[] = {{.name = "one",
                             .type = "counter",
                             .path = SOURCES "/counter.kc",
                             .pins = first,
                             .pin_count = 3,
                             .parameters = adds,
                             .parameter_count = 1,
                             .image = "xyz",
                             .image_bytes = 3},
                            {.name = "two",
                             .type = "counter",
                             .path = SOURCES "/counter.kc",
                             .pins = second,
                             .pin_count = 2,
                             .parameters = adds + 1,
                             .parameter_count = 2,
                             .image = "abcde",
                             .image_bytes = 5}};
    bench b;
    bench_init(&b, 6, SIGNALS);
    bench_set(&b, 3, LOW, 1);
    b.peripherals = list;
    b.peripheral_count = 2;
    bench_run(&b);
    for (uint32_t e = 0; e < 6; e++) {
        assert_int_equal(bench_at(&b, 0, e, A), (13 + e) & 15);
        assert_int_equal(bench_at(&b, 0, e, B), 0 - (uint64_t)e);
        assert_int_equal(bench_at(&b, 0, e, HIGH), e > 3 ? (e - 3) & 1 : 0);
    }
    assert_int_equal(b.event_count, 24);
    assert_int_equal(b.dropped, 6);
    for (uint32_t i = 0; i < 24; i++) {
        assert_int_equal(b.events[i].source, 1);
        assert_int_equal(b.events[i].edge, i / 4);
        assert_int_equal(b.events[i].kind, 7 + i % 4);
        assert_int_equal(b.events[i].a, "abcde\0"[i / 4]);
        assert_int_equal(b.events[i].b, 99);
    }
    bench_finish(&b);
}

/* Each has its own words and no others, in every instance. */
static void memory_ends_at_its_last_word(void **state)
{
    (void)state;
    static const uint32_t init[] = {7, 7, 7, 7};
    ls_peripheral list[4];
    ls_peripheral_parameter fills[] = {{"fill", 1}, {"fill", 2}, {"fill", 3}};
    ls_pin pins[] = {{.name = "count"}, {.name = "low"}, {.name = "high"}, {.name = "other"}};
    ls_peripheral_parameter counts[] = {{"add", 0}, {"events", 0}};
    const uint32_t words[] = {4, 0, 3};
    for (uint32_t i = 0; i < 3; i++)
        list[i] = (ls_peripheral){.name = (const char *[]){"a", "b", "c"}[i],
                                  .type = "greedy",
                                  .path = SOURCES "/greedy.kc",
                                  .parameters = &fills[i],
                                  .parameter_count = 1,
                                  .memory_words = words[i]};
    list[3] = (ls_peripheral){.name = "d",
                              .type = "counter",
                              .path = SOURCES "/counter.kc",
                              .pins = pins,
                              .pin_count = 4,
                              .parameters = counts,
                              .parameter_count = 2,
                              .memory_words = 4,
                              .memory_init = init};
    bench b;
    bench_init(&b, 5, 1);
    b.peripherals = list;
    b.peripheral_count = 4;
    b.instances = 3;
    bench_run(&b);
    assert_int_equal(b.event_count, 3 * 5 * 3);
    for (uint32_t i = 0; i < b.event_count; i++) {
        uint32_t source = b.events[i].source;
        assert_int_equal(b.events[i].a, (source + 1) * words[source]);
        assert_int_equal(b.events[i].b, 0);
    }
    assert_int_equal(b.memory_words, 11);
    for (uint32_t i = 0; i < 3 * 11; i++)
        assert_int_equal(b.memory[i], i % 11 < 4 ? 1 : i % 11 < 7 ? 3 : 7);
    bench_finish(&b);
}

/* Wherever memory runs out, that is what is said, and nothing stays behind. */
static void memory_runs_out(void **state)
{
    (void)state;
    ls_pin pins[] = {DRIVEN("rx", 0)};
    ls_peripheral_parameter bit = {"bit_edges", 8};
    uint32_t memory[] = {1, 2, 3};
    ls_peripheral one = {.name = "a",
                         .type = "uart_rx",
                         .pins = pins,
                         .pin_count = 1,
                         .parameters = &bit,
                         .parameter_count = 1,
                         .memory_words = 3,
                         .memory_init = memory,
                         .image = "abc",
                         .image_bytes = 3};
    uint64_t n = 1;
    for (ls_status status = LS_E_OUT_OF_MEMORY; status != LS_OK; n++) {
        ls__peripherals *p = NULL;
        ls__mem_fail_after(n);
        status = ls__peripherals_create(&one, 1, &p, NULL);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK || status == LS_E_OUT_OF_MEMORY);
        assert_true((p != NULL) == (status == LS_OK));
        ls__peripherals_destroy(&p);
    }
    assert_true(n > 3);
}

/* Messages name the user's own file and line. */
static void errors_of_a_source_have_its_position(void **state)
{
    (void)state;
    ls_peripheral one = {.name = "a", .type = "wrong", .path = SOURCES "/wrong.kc"};
    ls__peripherals *p = NULL;
    assert_int_equal(ls__peripherals_create(&one, 1, &p, NULL), LS_OK);
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    compile.text = p->text;
    compile.length = p->length;
    compile.path = ls__peripherals_path;
    compile.include = ls__peripherals_include;
    ls_module *module = NULL;
    ls_diagnostics *diagnostics = NULL;
    assert_int_equal(ls_module_compile(&compile, &module, &diagnostics, NULL), LS_E_COMPILE);
    ls_diagnostic first;
    ls_diagnostics_get(diagnostics, 0, &first);
    assert_string_equal(first.path, SOURCES "/wrong.kc");
    assert_int_equal(first.line, 3);
    ls_diagnostics_destroy(&diagnostics);
    ls__peripherals_destroy(&p);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_configurations_are_refused),
        cmocka_unit_test(all_types_are_one_program),
        cmocka_unit_test(own_sources_are_linked),
        cmocka_unit_test(memory_ends_at_its_last_word),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(errors_of_a_source_have_its_position),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, run);
}
