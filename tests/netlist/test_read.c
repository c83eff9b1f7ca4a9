/* SPDX-License-Identifier: Apache-2.0 */
/* Netlists written by hand: what becomes of modules, cells, registers, memories and names. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "netlist/netlist.h"

static char warning[512];

static void keep_warning(void *context, const char *message)
{
    (void)context;
    snprintf(warning, sizeof warning, "%s", message);
}

/* Single quotes stand for double ones. */
static ls__netlist *read_with(const char *text, const char *top)
{
    char copy[8192];
    size_t length = strlen(text);
    assert_true(length < sizeof copy);
    for (size_t i = 0; i <= length; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    ls__netlist *netlist = NULL;
    ls_error error = {0};
    ls__netlist_params params = {
        .path = "test", .text = copy, .length = length, .top = top, .warn = keep_warning};
    warning[0] = 0;
    if (ls__netlist_read(&params, &netlist, &error) != LS_OK)
        fail_msg("%s (%s)", error.message, error.where);
    return netlist;
}

static ls__netlist *read_text(const char *text)
{
    return read_with(text, NULL);
}

static const ls__signal *find(const ls__netlist *netlist, const char *name)
{
    for (uint32_t i = 0; i < netlist->signal_count; i++) {
        if (strcmp(netlist->signals[i].name, name) == 0)
            return &netlist->signals[i];
    }
    fail_msg("no signal %s", name);
    return NULL;
}

static void assert_same(ls__nets nets, const ls__signal *signal)
{
    assert_int_equal(nets.count, signal->nets.count);
    for (uint32_t i = 0; i < nets.count; i++)
        assert_int_equal(nets.items[i].index, signal->nets.items[i].index);
}

static void flat(void **state)
{
    ls__netlist *netlist = read_text(
        "{'creator': 'C', 'modules': {'m': {'attributes': {'top': 1},"
        " 'ports': {'b': {'direction': 'input', 'bits': [9, 3]},"
        "           'a': {'direction': 'output', 'offset': -2, 'upto': 1, 'bits': [4, '1']}},"
        " 'cells': {'g': {'type': '$_DFFE_PN0P_', 'attributes': {'src': 'f.v:3'},"
        "   'connections': {'C': [9], 'R': [3], 'E': ['1'], 'D': ['x'], 'Q': [4]}}},"
        " 'netnames': {'a': {'bits': [4, '1'], 'attributes': {'init': 'x1'}, 'offset': -2,"
        "                    'upto': 1, 'signed': 1},"
        "              'b': {'bits': [9, 3]}, 'c d': {'hide_name': 1, 'bits': [9]}}}}}");
    assert_string_equal(netlist->top, "m");
    assert_string_equal(netlist->creator, "C");
    assert_int_equal(netlist->port_count, 2);
    assert_int_equal(netlist->signal_count, 3);
    assert_string_equal(netlist->signals[0].name, "b"); /* in the order of the file */
    const ls__signal *a = &netlist->signals[1];
    assert_int_equal(a->direction, LS__DIRECTION_OUTPUT);
    assert_int_equal(a->offset, -2);
    assert_true(a->upto && a->is_signed && !a->hidden);
    assert_int_equal(a->nets.items[1].index, LS__NET_1);
    assert_int_equal(a->init.items[0], LS__BIT_1);
    assert_int_equal(a->init.items[1], LS__BIT_X);
    assert_true(find(netlist, "c_d")->hidden);
    assert_int_equal(netlist->register_count, 1);
    const ls__register *reg = &netlist->registers[0];
    assert_string_equal(reg->source, "f.v:3");
    assert_true(reg->clock_rising && !reg->arst_high && reg->enable_high);
    assert_int_equal(reg->arst_value.items[0], LS__BIT_0);
    assert_int_equal(reg->srst.count, 0);
    assert_int_equal(reg->d.items[0].index, LS__NET_X);
    assert_int_equal(reg->q.items[0].index, a->nets.items[0].index);
    assert_int_equal(netlist->net_count, LS__NET_FIRST + 3);
    ls__netlist_destroy(&netlist);
    assert_null(netlist);
}

#define SUB                                                                                        \
    "'sub': {'ports': {'i': {'direction': 'input', 'bits': [2]},"                                  \
    "                  'o': {'direction': 'output', 'bits': [2]},"                                 \
    "                  'k': {'direction': 'output', 'bits': ['1']}},"                              \
    " 'cells': {}, 'netnames': {'i': {'bits': [2]}, 'o': {'bits': [2]}, 'k': {'bits': ['1']}}}"

/* A module that passes its input through makes two nets one. */
static void hierarchy(void **state)
{
    ls__netlist *netlist =
        read_text("{'modules': {" SUB ", 'm': {"
                  " 'ports': {'a': {'direction': 'input', 'bits': [2]},"
                  "           'y': {'direction': 'output', 'bits': [3, 4, 5, 6]}},"
                  " 'cells': {'u': {'type': 'sub', 'connections': {'i': [2], 'o': [3], 'k': [4]}},"
                  "           'v': {'type': 'sub', 'connections': {'i': ['0'], 'o': [5]}},"
                  "           'w': {'type': 'sub', 'connections': {'i': ['x'], 'o': [6]}}},"
                  " 'netnames': {'u.i': {'bits': [6]}}}}}");
    assert_string_equal(netlist->top, "m");
    const ls__signal *y = find(netlist, "y");
    assert_same(find(netlist, "u.o")->nets, find(netlist, "a"));
    assert_int_equal(y->nets.items[0].index, find(netlist, "a")->nets.items[0].index);
    assert_int_equal(y->nets.items[1].index, LS__NET_1);
    assert_int_equal(y->nets.items[2].index, LS__NET_0);
    assert_int_equal(find(netlist, "v.o")->nets.items[0].index, LS__NET_0);
    assert_true(y->nets.items[3].index >= LS__NET_FIRST); /* undefined, but a net */
    assert_same(find(netlist, "w.i")->nets, find(netlist, "u.i"));
    find(netlist, "u.i$2"); /* two signals of one path */
    assert_int_equal(netlist->net_count, LS__NET_FIRST + 2);
    ls__netlist_destroy(&netlist);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat),
        cmocka_unit_test(hierarchy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
