/* SPDX-License-Identifier: Apache-2.0 */
/* Each file of faults/ has one fault and is named by it; the table says what must be answered. */
#include "base/cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "netlist/netlist.h"

static const char *folder;

static const struct {
    const char *name;
    ls_status status;
    const char *message; /* a part of it */
} faults[] = {
    {"empty", LS_E_FORMAT, "the file is empty"},
    {"truncated", LS_E_FORMAT, "ends within a text"},
    {"ends_early", LS_E_FORMAT, "ends early"},
    {"bad_nesting", LS_E_FORMAT, "a name in quotes"},
    {"closed_by_the_wrong_bracket", LS_E_FORMAT, "an array must end in"},
    {"nested_too_deep", LS_E_LIMIT, "nested too deep"},
    {"comma_at_the_end", LS_E_FORMAT, "a name in quotes"},
    {"comma_missing", LS_E_FORMAT, "',' or the end"},
    {"colon_missing", LS_E_FORMAT, "':' must stand here"},
    {"something_behind_the_end", LS_E_FORMAT, "follows the end"},
    {"no_object", LS_E_FORMAT, "a netlist is an object"},
    {"no_modules_section", LS_E_FORMAT, "no section"},
    {"no_modules", LS_E_FORMAT, "no modules"},
    {"modules_twice", LS_E_FORMAT, "two sections"},
    {"module_twice", LS_E_FORMAT, "two modules named 'm'"},
    {"section_twice", LS_E_FORMAT, "two sections"},
    {"cell_twice", LS_E_FORMAT, "two cells named 'a'"},
    {"net_twice", LS_E_FORMAT, "two nets named 'a'"},
    {"port_twice", LS_E_FORMAT, "two ports named 'a'"},
    {"port_connected_twice", LS_E_FORMAT, "port A is connected twice"},
    {"port_without_direction", LS_E_FORMAT, "no direction"},
    {"unknown_direction", LS_E_FORMAT, "input, output or inout"},
    {"cell_without_type", LS_E_FORMAT, "has no type"},
    {"cell_is_no_object", LS_E_FORMAT, "a cell must be an object"},
    {"unknown_cell", LS_E_UNSUPPORTED, "LUT6 (2), $anyconst (1)"},
    {"black_box", LS_E_UNSUPPORTED, "ram (1, a black box)"},
    {"black_box_on_top", LS_E_UNSUPPORTED, "the top 'm' is a black box"},
    {"unknown_port", LS_E_FORMAT, "have no port Z"},
    {"width_of_a_port", LS_E_FORMAT, "port Y has 2 bits where 3"},
    {"width_is_negative", LS_E_FORMAT, "Y_WIDTH is negative"},
    {"width_is_huge", LS_E_LIMIT, "Y_WIDTH is too large"},
    {"width_is_huge_and_not_connected", LS_E_LIMIT, "is not connected"},
    {"width_is_a_text", LS_E_FORMAT, "a text where bits"},
    {"width_is_undefined", LS_E_FORMAT, "undefined bits"},
    {"shift_of_widths", LS_E_LIMIT, "too wide"},
    {"parameter_is_a_real", LS_E_FORMAT, "a text or an integer"},
    {"slice_beyond_its_port", LS_E_FORMAT, "do not lie in"},
    {"concat_of_other_width", LS_E_FORMAT, "A and B together 2"},
    {"table_too_large", LS_E_LIMIT, "a table of 25 inputs"},
    {"table_with_more_ones_than_rows", LS_E_FORMAT, "a 1 beyond the 4"},
    {"table_too_short", LS_E_FORMAT, "TABLE has 4 bits where 8"},
    {"config_of_macc", LS_E_FORMAT, "CONFIG does not describe"},
    {"bits_of_macc", LS_E_FORMAT, "describes 1 bits of port A, which has 2"},
    {"output_on_a_constant", LS_E_FORMAT, "connected to the constant 1"},
    {"two_drivers", LS_E_FORMAT,
     "bit 1 of net 'sum' is driven by cell 'g' ($_NOT_) and by cell 'r' ($_DFF_P_)"},
    {"input_that_is_driven", LS_E_FORMAT, "driven by input 'a' and by cell 'g'"},
    {"driver_beside_a_tri_state", LS_E_FORMAT, "driven by cell 'g'"},
    {"module_drives_a_constant", LS_E_FORMAT, "'u' connects the constants 0 and 1"},
    {"driven_and_tied", LS_E_FORMAT, "tied to the constant 0"},
    {"instance_of_itself", LS_E_FORMAT, "'m' contains itself"},
    {"several_tops", LS_E_NOT_FOUND, "name one of these: a, b"},
    {"several_marked_tops", LS_E_NOT_FOUND, "name one of these: a, b"},
    {"instance_with_parameters", LS_E_FORMAT, "instance 'u' in module 'm' has parameters"},
    {"no_port_of_that_name", LS_E_FORMAT, "module 's' has no port 'q'"},
    {"port_of_another_width", LS_E_FORMAT, "has 1 bits, but 2"},
    {"too_large_when_flat", LS_E_LIMIT, "too large"},
    {"bit_is_negative", LS_E_FORMAT, "a bit must be"},
    {"bit_is_a_word", LS_E_FORMAT, "a bit must be"},
    {"bits_are_no_array", LS_E_FORMAT, "an array of bits"},
    {"offset_is_huge", LS_E_FORMAT, "integer of 32 bits"},
    {"init_is_a_text", LS_E_FORMAT, "init must be bits"},
    {"unknown_escape", LS_E_FORMAT, "an escape"},
    {"short_unicode_escape", LS_E_FORMAT, "four hexadecimal"},
    {"line_break_in_a_name", LS_E_FORMAT, "control character"},
    {"number_with_leading_zero", LS_E_FORMAT, "must not begin with 0"},
    {"no_value", LS_E_FORMAT, "a value must stand here"},
    {"memory_of_no_width", LS_E_FORMAT, "words of 0 bits"},
    {"memory_too_large", LS_E_LIMIT, "is too large"},
    {"memory_of_no_size", LS_E_FORMAT, "SIZE is negative or missing"},
    {"memory_with_too_many_ports", LS_E_LIMIT, "too many ports"},
    {"memory_port_of_another_width", LS_E_FORMAT, "port RD_DATA has 2 bits where 4"},
    {"port_of_no_memory", LS_E_FORMAT, "a memory 'm' that is not"},
    {"port_of_part_of_a_word", LS_E_FORMAT, "no power of two"},
    {"initial_value_is_not_constant", LS_E_FORMAT, "ADDR of an initial value is not constant"},
    {"initial_value_reaches_too_far", LS_E_LIMIT, "reach too far"},
    {"unknown_flavor_of_check", LS_E_UNSUPPORTED, "FLAVOR is 'guess'"},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static void each_is_told(void **state)
{
    for (size_t i = 0; i < FAULTS; i++) {
        char path[4096];
        ls__netlist *netlist = (ls__netlist *)&faults;
        ls_error error = {0};
        snprintf(path, sizeof path, "%s/faults/%s.json", folder, faults[i].name);
        ls__netlist_params params = {.path = path, .limit_bytes = 64 << 20};
        ls_status status = ls__netlist_read(&params, &netlist, &error);
        if (status != faults[i].status || error.code != status ||
            !strstr(error.message, faults[i].message))
            fail_msg("%s: %s, %s", faults[i].name, ls_status_name(status), error.message);
        if (!strstr(error.where, faults[i].name))
            fail_msg("%s: where is '%s'", faults[i].name, error.where);
        assert_null(netlist);
    }
}

static void each_file_is_in_the_table(void **state)
{
    char path[4096];
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s/faults", folder);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    assert_int_equal(count, FAULTS);
}

/* The place: module, cell, line and byte. */
static void place(void **state)
{
    const char text[] = "{\"modules\": {\"m\": {\"cells\": {\n\"g\": {\"type\": \"$_BUF_\",\n"
                        " \"connections\": {\"A\": [2, 3]}}}}}}";
    ls__netlist *netlist;
    ls_error error;
    ls__netlist_params params = {.path = "n", .text = text, .length = sizeof text - 1};
    assert_int_equal(ls__netlist_read(&params, &netlist, &error), LS_E_FORMAT);
    assert_string_equal(error.message,
                        "module 'm', cell 'g' ($_BUF_): port A has 2 bits where 1 are expected");
    assert_string_equal(error.where, "n: line 3, byte 83");
    assert_int_equal(text[83], '}');
    /* No error wanted, no file, a folder. */
    assert_int_equal(ls__netlist_read(&params, &netlist, NULL), LS_E_FORMAT);
    params = (ls__netlist_params){.path = "no such file"};
    assert_int_equal(ls__netlist_read(&params, &netlist, &error), LS_E_NOT_FOUND);
    params.path = ".";
    assert_int_equal(ls__netlist_read(&params, &netlist, &error), LS_E_IO);
    assert_null(netlist);
}

static void wanted_top(void **state)
{
    const char text[] = "{\"modules\": {\"a\": {}, \"b\": {}}}";
    ls__netlist *netlist;
    ls_error error;
    ls__netlist_params params = {.path = "n", .text = text, .length = sizeof text - 1, .top = "c"};
    assert_int_equal(ls__netlist_read(&params, &netlist, &error), LS_E_NOT_FOUND);
    assert_string_equal(error.message, "there is no module 'c'; there are: a, b");
    params.top = "b";
    assert_int_equal(ls__netlist_read(&params, &netlist, &error), LS_OK);
    assert_string_equal(netlist->top, "b");
    ls__netlist_destroy(&netlist);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told),
        cmocka_unit_test(each_file_is_in_the_table),
        cmocka_unit_test(place),
        cmocka_unit_test(wanted_top),
    };
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
