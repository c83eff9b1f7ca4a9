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

/* flatten keeps the path in `hdlname`; escaped names may hold anything. */
static void names(void **state)
{
    ls__netlist *netlist = read_text(
        "{'modules': {'m': {'cells': {"
        " '$flatten\\\\cpu.$mem': {'type': '$mem_v2', 'attributes': {'hdlname': 'cpu ram'},"
        "   'parameters': {'MEMID': '\\\\cpu.ram', 'WIDTH': 1, 'SIZE': 2, 'ABITS': 1}},"
        " 'n': {'type': '$mem_v2',"
        "   'parameters': {'MEMID': '\\\\other', 'WIDTH': 1, 'SIZE': 2, 'ABITS': 1}}},"
        " 'netnames': {'cpu.alu.sum': {'bits': [2], 'attributes': {'hdlname': 'cpu alu sum'}},"
        "              'x': {'bits': [3], 'attributes': {'hdlname': 'cpu alu sum'}},"
        "              'a\\u000ab\\tc.d[3]': {'bits': [4]}, '\\u00e9': {'bits': []}}}}}");
    find(netlist, "cpu.alu.sum");
    find(netlist, "cpu.alu.sum$2");
    find(netlist, "a_b_c.d[3]");
    assert_int_equal(find(netlist, "\u00e9")->nets.count, 0);
    assert_string_equal(netlist->memories[0].name, "cpu.ram");
    assert_string_equal(netlist->memories[1].name, "other");
    ls__netlist_destroy(&netlist);
}

/* Numbers have no width: it comes from the ports. Texts that look like bits end in a blank. */
static void parameters(void **state)
{
    ls__netlist *netlist = read_text(
        "{'modules': {'m': {'cells': {"
        " 'l': {'type': '$lut', 'parameters': {'WIDTH': 2, 'LUT': -2},"
        "       'connections': {'A': [2, 3], 'Y': [4]}},"
        " 'r': {'type': '$sdff', 'parameters': {'SRST_VALUE': 5, 'CLK_POLARITY': '0'},"
        "       'connections': {'CLK': [2], 'SRST': [3], 'D': [4, 4, 4], 'Q': [5, 6, 7]}},"
        " 'n': {'type': '$neg', 'parameters': {'A_SIGNED': '00000000000000000000000000000001'},"
        "       'connections': {'A': [2, 3], 'Y': [8]}},"
        " 'p': {'type': '$print', 'parameters': {'FORMAT': '01  ', 'PRIORITY': -1, 'ARGS_WIDTH': 1,"
        "       'TRG_ENABLE': 0}, 'connections': {'EN': ['1'], 'ARGS': [2]}},"
        " 'q': {'type': '$print', 'parameters': {'FORMAT': ' ', 'TRG_ENABLE': 1}}}}}}");
    const ls__cell *lut = &netlist->cells[0];
    assert_int_equal(lut->type, LS__CELL_LUT);
    assert_int_equal(lut->table.count, 4);
    assert_true(lut->table.items[0] == LS__BIT_0 && lut->table.items[3] == LS__BIT_1);
    assert_true(netlist->cells[1].a_signed && !netlist->cells[1].b_signed);
    const ls__register *reg = &netlist->registers[0];
    assert_int_equal(reg->srst_value.count, 3);
    assert_true(reg->srst_value.items[0] == LS__BIT_1 && reg->srst_value.items[1] == LS__BIT_0);
    assert_true(!reg->clock_rising && reg->srst_high && !reg->srst_needs_enable);
    assert_string_equal(netlist->effects[0].format, "01 ");
    assert_int_equal(netlist->effects[0].priority, -1);
    assert_false(netlist->effects[0].initial);
    assert_string_equal(netlist->effects[1].format, "");
    assert_true(netlist->effects[1].initial);
    assert_int_equal(netlist->effects[1].enable.items[0].index, LS__NET_X);
    ls__netlist_destroy(&netlist);
}

/* What is not connected has its width all the same. */
static void not_connected(void **state)
{
    ls__netlist *netlist = read_text(
        "{'modules': {'m': {'cells': {"
        " 'a': {'type': '$alu', 'parameters': {'A_WIDTH': 2, 'B_WIDTH': 3, 'Y_WIDTH': 2},"
        "       'connections': {'A': [2, 3], 'Y': [4, 'x'], 'CO': []}},"
        " 'd': {'type': '$dffe', 'parameters': {'WIDTH': 2}, 'connections': {'D': [2, 3]}}}}}}");
    const ls__cell *alu = &netlist->cells[0];
    assert_int_equal(alu->b.count, 3);
    assert_int_equal(alu->b.items[2].index, LS__NET_X);
    assert_int_equal(alu->bi.count, 1);
    assert_true(alu->y.items[1].index >= LS__NET_FIRST);
    assert_int_equal(alu->co.count, 2);
    assert_int_not_equal(alu->co.items[0].index, alu->x.items[0].index);
    assert_int_equal(netlist->registers[0].q.count, 2);
    assert_int_equal(netlist->registers[0].clock.count, 1);
    ls__netlist_destroy(&netlist);
}

static uint32_t number_of(ls__bits bits, uint32_t first, uint32_t count)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < count; i++)
        number |= (uint32_t)(bits.items[first + i] == LS__BIT_1) << i;
    return number;
}

/* -a * b + c, both factors signed, as a $macc: the fields of its CONFIG. */
static void macc_v2(void **state)
{
    ls__netlist *netlist = read_text(
        "{'modules': {'m': {'cells': {'m': {'type': '$macc_v2', 'parameters': {"
        " 'NPRODUCTS': 1, 'NADDENDS': 2, 'A_WIDTHS': 2, 'B_WIDTHS': 3,"
        " 'C_WIDTHS': '00000000000000010000000000000000', 'Y_WIDTH': 4, 'PRODUCT_NEGATED': '1',"
        " 'ADDEND_NEGATED': '00', 'A_SIGNED': '1', 'B_SIGNED': '1', 'C_SIGNED': '10'},"
        " 'connections': {'A': [2, 3], 'B': [4, 5, 6], 'C': [7], 'Y': [8, 9, 10, 11]}}}}}}");
    const ls__cell *macc = &netlist->cells[0];
    static const uint32_t expected[3][4] = {{1, 1, 2, 3}, {0, 0, 0, 0}, {1, 0, 1, 0}};
    uint32_t bits = number_of(macc->table, 0, 4);
    assert_int_equal(macc->type, LS__CELL_MACC);
    assert_int_equal(macc->table.count, 4 + 3 * (2 + 2 * bits));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t at = 4 + i * (2 + 2 * bits);
        assert_int_equal(number_of(macc->table, at, 1), expected[i][0]);
        assert_int_equal(number_of(macc->table, at + 1, 1), expected[i][1]);
        assert_int_equal(number_of(macc->table, at + 2, bits), expected[i][2]);
        assert_int_equal(number_of(macc->table, at + 2 + bits, bits), expected[i][3]);
    }
    assert_int_equal(macc->a.count, 6);
    for (uint32_t i = 0; i + 1 < 6; i++) /* numbered as they were met */
        assert_int_equal(macc->a.items[i + 1].index, macc->a.items[i].index + 1);
    assert_int_equal(macc->b.count, 0);
    assert_int_equal(macc->y.count, 4);
    ls__netlist_destroy(&netlist);
}

static void connect(void **state)
{
    ls__netlist *netlist =
        read_text("{'modules': {'m': {'cells': {"
                  " 'c': {'type': '$connect', 'parameters': {'WIDTH': 2},"
                  "       'connections': {'A': [2, 3], 'B': [4, '1']}},"
                  " 'g': {'type': '$_BUF_', 'connections': {'A': [3], 'Y': [4]}}},"
                  " 'netnames': {'a': {'bits': [2, 3]}, 'b': {'bits': [4]}}}}}");
    const ls__signal *a = find(netlist, "a");
    assert_int_equal(a->nets.items[0].index, find(netlist, "b")->nets.items[0].index);
    assert_int_equal(a->nets.items[1].index, LS__NET_1);
    assert_int_equal(netlist->cells[0].a.items[0].index, LS__NET_1);
    ls__netlist_destroy(&netlist);
}

static void left_out(void **state)
{
    ls__netlist *netlist =
        read_text("{'modules': {'m': {'cells': {"
                  " 'l': {'type': '$live', 'connections': {'A': [2], 'EN': ['1']}},"
                  " 'f': {'type': '$check', 'parameters': {'FLAVOR': 'fair'},"
                  "       'connections': {'A': [2], 'EN': ['1']}},"
                  " 'c': {'type': '$check', 'parameters': {'FLAVOR': 'cover'},"
                  "       'connections': {'A': [2], 'EN': ['1']}},"
                  " 's': {'type': '$specify2', 'connections': {'SRC': [2]}},"
                  " 'i': {'type': '$scopeinfo', 'parameters': {'TYPE': 'module'}}}}}}");
    assert_int_equal(netlist->cell_count + netlist->effect_count, 0);
    assert_non_null(strstr(warning, "2 liveness and fairness properties"));
    ls__netlist_destroy(&netlist);
    netlist = read_text("{'modules': {'m': {'cells': {'b': {'type': 'box', 'connections':"
                        " {'a': ['x']}}}}, 'box': {'attributes': {'blackbox': 1}}}}");
    assert_non_null(strstr(warning, "'b' of type box is a black box and not connected"));
    ls__netlist_destroy(&netlist);
}

/* A white box has contents. */
static void white_box(void **state)
{
    ls__netlist *netlist =
        read_text("{'modules': {'m': {'cells': {'u': {'type': 'w', 'connections': {'a': [2]}}}},"
                  " 'w': {'attributes': {'whitebox': 1}, 'ports': {'a': {'direction': 'output',"
                  " 'bits': [2]}}, 'cells': {'n': {'type': '$_NOT_', 'connections': {'A': [3], "
                  "'Y': [2]}}}}}}");
    assert_int_equal(netlist->cell_count, 1);
    assert_string_equal(netlist->cells[0].name, "u.n");
    ls__netlist_destroy(&netlist);
}

/* Several tri-state buffers may drive one net, across modules. */
static void tri_states(void **state)
{
    ls__netlist *netlist = read_text(
        "{'modules': {'m': {'ports': {'p': {'direction': 'inout', 'bits': [2]}}, 'cells': {"
        " 't': {'type': '$_TBUF_', 'connections': {'A': [3], 'E': [4], 'Y': [2]}},"
        " 'u': {'type': 's', 'connections': {'q': [2]}}}},"
        " 's': {'ports': {'q': {'direction': 'inout', 'bits': [2]}}, 'cells': {"
        " 't': {'type': '$tribuf', 'connections': {'A': [3], 'EN': [4], 'Y': [2]}}}}}}");
    assert_int_equal(netlist->cell_count, 2);
    for (int i = 0; i < 2; i++)
        assert_same(netlist->cells[i].y, find(netlist, "p"));
    assert_string_equal(netlist->cells[1].name, "u.t");
    assert_int_equal(find(netlist, "p")->direction, LS__DIRECTION_INOUT);
    ls__netlist_destroy(&netlist);
}

/* Numbers of nets may be any, and have gaps. */
static void sparse_numbers(void **state)
{
    static char text[1 << 20];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{\"modules\":{\"m\":{\"netnames\":{\"a\":{"
                                   "\"bits\":[2147483647");
    enum { COUNT = 60000 };
    for (uint32_t i = 0; i < COUNT; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ",%u", i * 32768 + 5);
    used += (size_t)snprintf(text + used, sizeof text - used, "]}}}}}");
    ls__netlist *netlist;
    ls_error error;
    ls__netlist_params params = {.path = "n", .text = text, .length = used};
    assert_int_equal(ls__netlist_read(&params, &netlist, &error), LS_OK);
    assert_int_equal(netlist->net_count, LS__NET_FIRST + 1 + COUNT);
    ls__netlist_destroy(&netlist);
}

static const char everything[] =
    "{'creator': 'x', 'modules': {" SUB ", 'm': {"
    " 'ports': {'a': {'direction': 'input', 'bits': [2]}},"
    " 'cells': {'u': {'type': 'sub', 'connections': {'i': [2], 'o': [3], 'k': [4]}},"
    "   'g': {'type': '$_MUX4_', 'attributes': {'src': 'f:1'}, 'connections': {'A': [2], 'B': [3],"
    "     'C': [2], 'D': [3], 'S': [2], 'T': [3], 'Y': [5]}},"
    "   'd': {'type': '$dff', 'parameters': {'WIDTH': 1}, 'connections': {'CLK': [2], 'D': [5],"
    "     'Q': [6]}},"
    "   'w': {'type': '$memwr_v2', 'parameters': {'MEMID': '\\\\r', 'WIDTH': 2, 'ABITS': 1,"
    "     'CLK_ENABLE': 1}, 'connections': {'CLK': [2], 'EN': [2, 2], 'ADDR': [2],"
    "     'DATA': [2, 2]}},"
    "   'r': {'type': '$memrd_v2', 'parameters': {'MEMID': '\\\\r', 'WIDTH': 1, 'ABITS': 1},"
    "     'connections': {'ADDR': [2], 'DATA': [7]}},"
    "   'i': {'type': '$meminit', 'parameters': {'MEMID': '\\\\r', 'WIDTH': 1, 'ABITS': 1,"
    "     'WORDS': 2}, 'connections': {'ADDR': ['0'], 'DATA': ['1', '0']}},"
    "   'p': {'type': '$print', 'parameters': {'FORMAT': 'hello'}}},"
    " 'memories': {'r': {'width': 1, 'size': 2, 'attributes': {'hdlname': 'a r'}}},"
    " 'netnames': {'n': {'bits': [6], 'attributes': {'init': '1', 'hdlname': 'a n'}}}}}}";

/* Each allocation fails once. */
static void out_of_memory(void **state)
{
    ls__netlist *netlist = NULL;
    char text[sizeof everything];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = everything[i] == '\'' ? '"' : everything[i];
    ls__netlist_params params = {.path = "n", .text = text, .length = sizeof text - 1};
    ls_status status = LS_OK;
    uint64_t n = 0;
    do {
        ls_error error = {0};
        ls__mem_fail_after(++n);
        status = ls__netlist_read(&params, &netlist, &error);
        ls__mem_fail_after(0);
        if (status != LS_OK) {
            if (status != LS_E_OUT_OF_MEMORY)
                fail_msg("%s", error.message);
            assert_int_equal(error.code, LS_E_OUT_OF_MEMORY);
            assert_null(netlist);
        }
    } while (status != LS_OK);
    assert_true(n > 8);
    assert_int_equal(netlist->memories[0].init.count, 2);
    assert_int_equal(netlist->memories[0].write_count, 2);
    assert_string_equal(netlist->memories[0].name, "a.r");
    ls__netlist_destroy(&netlist);
    ls__netlist_destroy(&netlist);
    /* A limit is told as one. */
    params.limit_bytes = 20000;
    ls_error error;
    assert_int_equal(ls__netlist_read(&params, &netlist, &error), LS_E_LIMIT);
}

/* The same from a file, also where pieces of it end. */
static void file(void **state)
{
    char text[sizeof everything];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = everything[i] == '\'' ? '"' : everything[i];
    FILE *out = fopen("netlist.json", "w");
    assert_non_null(out);
    for (int i = 0; i < 20000; i++)
        fputs("                              \n", out); /* the document crosses a piece */
    fputs(text, out);
    fclose(out);
    ls__netlist *netlist;
    ls_error error;
    ls__netlist_params params = {.path = "netlist.json"};
    if (ls__netlist_read(&params, &netlist, &error) != LS_OK)
        fail_msg("%s", error.message);
    assert_int_equal(netlist->cell_count, 1);
    assert_int_equal(netlist->cells[0].a.count, 4);
    assert_int_equal(netlist->cells[0].s.count, 2);
    ls__netlist_destroy(&netlist);
    remove("netlist.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat),           cmocka_unit_test(hierarchy),
        cmocka_unit_test(names),          cmocka_unit_test(parameters),
        cmocka_unit_test(not_connected),  cmocka_unit_test(macc_v2),
        cmocka_unit_test(connect),        cmocka_unit_test(left_out),
        cmocka_unit_test(white_box),      cmocka_unit_test(tri_states),
        cmocka_unit_test(sparse_numbers), cmocka_unit_test(out_of_memory),
        cmocka_unit_test(file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
