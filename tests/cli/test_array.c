/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of buffer contents: forms, checks against the parameter, and the bytes made. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "cli/array.h"

static const ls_param_info f32_param = {
    .name = "x", .type_name = "f32", .mem = LS_MEM_F32, .is_pointer = true, .size = 4};
static const ls_param_info u8_param = {
    .name = "x", .type_name = "byte", .mem = LS_MEM_U8, .is_pointer = true, .size = 1};
static const ls_param_info struct_param = {
    .name = "x", .type_name = "point", .mem = LS_MEM_NONE, .is_pointer = true, .size = 12};

static void make(const ls_param_info *param, const char *text, ls__cli_array *array)
{
    ls_error error = {0};
    if (ls__cli_array_parse(text, param, UINT64_MAX, array, &error) != LS_OK)
        fail_msg("%s: %s", text, error.message);
}

static void refuse(const ls_param_info *param, const char *text, const char *says)
{
    ls__cli_array array;
    ls_error error = {0};
    ls_status status = ls__cli_array_parse(text, param, UINT64_MAX, &array, &error);
    if (status == LS_OK || !strstr(error.message, says))
        fail_msg("%s: %s: %s", text, ls_status_name(status), error.message);
    ls__cli_array_finish(&array);
}

static void generators(void **state)
{
    ls__cli_array array;
    float values[6];
    make(&f32_param, "iota:f32:2x3", &array);
    assert_int_equal(array.shape.dimensions, 2);
    assert_int_equal(ls__cli_array_bytes(&array), 24);
    ls__cli_array_fill(&array, values);
    for (int i = 0; i < 6; i++)
        assert_true(values[i] == (float)i);

    make(&f32_param, "fill:f32:6:-0.5", &array);
    ls__cli_array_fill(&array, values);
    assert_true(values[0] == -0.5f && values[5] == -0.5f);

    make(&f32_param, "zeros:f32:6", &array);
    ls__cli_array_fill(&array, values);
    assert_true(values[0] == 0 && values[5] == 0);

    uint8_t bytes[24];
    make(&struct_param, "zeros:point:2", &array);
    assert_int_equal(ls__cli_array_bytes(&array), 24);
    ls__cli_array_fill(&array, bytes);
    assert_int_equal(bytes[23], 0);

    make(&u8_param, "iota:u8:3", &array);
    make(&u8_param, "iota:byte:3", &array); /* the type as the kernel calls it */
}

/* The same numbers on every machine and in every version. */
static void random_is_fixed(void **state)
{
    ls__cli_array array;
    uint8_t bytes[4];
    make(&u8_param, "random:u8:4:0", &array);
    ls__cli_array_fill(&array, bytes);
    static const uint8_t expected[4] = {0xe2, 0x6e, 0x06, 0xf8};
    assert_memory_equal(bytes, expected, 4);
}

static void mistakes(void **state)
{
    refuse(&f32_param, "", "not its contents");
    refuse(&f32_param, "1.5", "not its contents");
    refuse(&f32_param, "ones:f32:3", "not its contents");
    refuse(&f32_param, "zeros", "form is zeros:TYPE:SHAPE");
    refuse(&f32_param, "zeros:f32", "form is zeros:TYPE:SHAPE");
    refuse(&f32_param, "zeros:f32:3:1", "form is zeros:TYPE:SHAPE");
    refuse(&f32_param, "fill:f32:3", "form is fill:TYPE:SHAPE:VALUE");
    refuse(&f32_param, "zeros:f64:3", "'x' points to f32");
    refuse(&f32_param, "zeros:f3:3", "'x' points to f32");
    refuse(&f32_param, "zeros:f32:", "not a shape");
    refuse(&f32_param, "zeros:f32:3x", "not a shape");
    refuse(&f32_param, "zeros:f32:x3", "not a shape");
    refuse(&f32_param, "zeros:f32:3,3", "not a shape");
    refuse(&f32_param, "zeros:f32:-3", "not a shape");
    refuse(&f32_param, "zeros:f32:0", "at least one element");
    refuse(&f32_param, "zeros:f32:3x0", "at least one element");
    refuse(&f32_param, "zeros:f32:4611686018427387904", "more than a buffer");
    refuse(&f32_param, "zeros:f32:99999999999999999999", "more than a buffer");
    refuse(&f32_param, "zeros:f32:4294967296x4294967296", "more than a buffer");
    refuse(&f32_param, "fill:f32:3:abc", "not a number");
    refuse(&u8_param, "fill:u8:3:256", "out of range");
    refuse(&u8_param, "random:u8:3:-1", "out of range");
    refuse(&struct_param, "iota:point:3", "not from iota");
    refuse(&f32_param, "@missing.txt", "ends in .npy or .bin");
    refuse(&f32_param, "@missing.npy", "cannot open 'missing.npy'");
    refuse(&f32_param, "@", "ends in .npy or .bin");
}

static void names_of_saved_files(void **state)
{
    ls__cli_array picture, line, floats;
    make(&u8_param, "zeros:u8:2x3", &picture);
    make(&u8_param, "zeros:u8:6", &line);
    make(&f32_param, "zeros:f32:2x3", &floats);
    assert_int_equal(ls__cli_array_can_save(&picture, "a.pgm", NULL), LS_OK);
    assert_int_equal(ls__cli_array_can_save(&line, "a.npy", NULL), LS_OK);
    assert_int_equal(ls__cli_array_can_save(&floats, "a.bin", NULL), LS_OK);
    assert_int_not_equal(ls__cli_array_can_save(&line, "a.pgm", NULL), LS_OK);
    assert_int_not_equal(ls__cli_array_can_save(&floats, "a.pgm", NULL), LS_OK);
    assert_int_not_equal(ls__cli_array_can_save(&floats, "a.txt", NULL), LS_OK);
    assert_int_not_equal(ls__cli_array_can_save(&floats, ".npy", NULL), LS_OK);
    char text[64];
    ls__cli_array_describe(&picture, text, sizeof text);
    assert_string_equal(text, "u8 2x3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generators),
        cmocka_unit_test(random_is_fixed),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(names_of_saved_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
