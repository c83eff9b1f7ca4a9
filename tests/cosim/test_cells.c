/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of cell at many widths and both signs, with corner and random operands, against the
 * model of cell_model.c. Operands are inputs, or constants in one case of four so that folding is
 * tried, too. Each graph is checked against the rules of graph.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "cell_model.h"
#include "cosim/elaborate/elaborate.h"
#include "host_eval.h"
#include "make_netlist.h"

static const char *const type_names[] = {
#define X(name, text) text,
    LS__CELL_TABLE(X)
#undef X
};

static const uint32_t widths[] = {1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 130};
enum { WIDTHS = sizeof widths / sizeof *widths, VECTORS = 12, SHAPES = 2 };

static uint32_t any_width(ls__rng *rng)
{
    return widths[ls__rng_below(rng, WIDTHS)];
}

static bool is_any(ls__cell_type type, const ls__cell_type *list)
{
    for (; *list != LS__CELL_TYPE_COUNT; list++) {
        if (*list == type)
            return true;
    }
    return false;
}
#define IS_ANY(type, ...) is_any(type, (const ls__cell_type[]){__VA_ARGS__, LS__CELL_TYPE_COUNT})

/* Widths of ports for a cell of the type whose first operand has width `w`. */
typedef struct shape {
    uint32_t a, b, s, bi, y, x, co;
} shape;

static shape shape_of(ls__cell_type type, uint32_t w, ls__rng *rng)
{
    if (IS_ANY(type, LS__CELL_NAND, LS__CELL_NOR, LS__CELL_ANDNOT, LS__CELL_ORNOT))
        return (shape){.a = 1, .b = 1, .y = 1};
    if (IS_ANY(type, LS__CELL_AOI3, LS__CELL_OAI3, LS__CELL_AOI4, LS__CELL_OAI4))
        return (shape){.a = 1, .b = 1, .s = 1, .bi = 1, .y = 1};
    if (IS_ANY(type, LS__CELL_BUF))
        return (shape){.a = w, .y = w};
    if (type <= LS__CELL_LOGIC_NOT)
        return (shape){.a = w, .y = any_width(rng)};
    if (IS_ANY(type, LS__CELL_SHL, LS__CELL_SHR, LS__CELL_SSHL, LS__CELL_SSHR, LS__CELL_SHIFT,
               LS__CELL_SHIFTX)) {
        static const uint32_t counts[] = {1, 3, 6, 7, 8, 9, 32, 65};
        return (shape){.a = w, .b = counts[ls__rng_below(rng, 8)], .y = any_width(rng)};
    }
    if (type == LS__CELL_POW)
        return (shape){.a = w, .b = 1 + ls__rng_below(rng, w > 64 ? 3 : 6), .y = any_width(rng)};
    if (type == LS__CELL_SLICE)
        return (shape){.a = w, .y = 1 + ls__rng_below(rng, w)};
    if (type == LS__CELL_CONCAT) {
        uint32_t b = any_width(rng);
        return (shape){.a = w, .b = b, .y = w + b};
    }
    if (IS_ANY(type, LS__CELL_MUX, LS__CELL_NMUX))
        return (shape){.a = w, .b = w, .s = 1, .y = w};
    if (type == LS__CELL_PMUX) {
        uint32_t s = 1 + ls__rng_below(rng, 6);
        return (shape){.a = w, .b = w * s, .s = s, .y = w};
    }
    if (type == LS__CELL_BMUX || type == LS__CELL_DEMUX) {
        uint32_t s = 1 + ls__rng_below(rng, 3), wide = w << s;
        bool is_demux = type == LS__CELL_DEMUX;
        return (shape){.a = is_demux ? w : wide, .s = s, .y = is_demux ? wide : w};
    }
    if (type == LS__CELL_BWMUX)
        return (shape){.a = w, .b = w, .s = w, .y = w};
    if (type == LS__CELL_BWEQX)
        return (shape){.a = w, .b = w, .y = w};
    if (type == LS__CELL_LUT || type == LS__CELL_SOP)
        return (shape){.a = 1 + w % 8, .y = 1};
    if (type == LS__CELL_FA)
        return (shape){.a = w, .b = w, .s = w, .y = w, .x = w};
    if (type == LS__CELL_LCU)
        return (shape){.a = w, .b = w, .s = 1, .y = w};
    if (type == LS__CELL_ALU) {
        uint32_t y = any_width(rng);
        return (shape){.a = w, .b = any_width(rng), .s = 1, .bi = 1, .y = y, .x = y, .co = y};
    }
    if (type == LS__CELL_MACC)
        return (shape){.b = ls__rng_below(rng, 4), .y = w};
    return (shape){.a = w, .b = any_width(rng), .y = any_width(rng)};
}

static ls__bits random_table(make_netlist *make, uint32_t count, ls__rng *rng)
{
    ls__bits table = make_bits(make, count, 0);
    for (uint32_t i = 0; i < count; i++)
        ((uint8_t *)(uintptr_t)table.items)[i] = ls__rng_below(rng, 3) == 0;
    return table;
}

/* CONFIG of $macc; the width of port a. */
static uint32_t macc_table(make_netlist *make, ls__cell *cell, ls__rng *rng)
{
    uint8_t bits_of[256];
    uint32_t count = 0, total = 0, size = 7, terms = 1 + ls__rng_below(rng, 3);
    for (uint32_t i = 0; i < 4; i++)
        bits_of[count++] = size >> i & 1;
    for (uint32_t t = 0; t < terms; t++) {
        uint32_t factors[2] = {1 + ls__rng_below(rng, 70), ls__rng_below(rng, 3) * 20};
        bits_of[count++] = (uint8_t)ls__rng_below(rng, 2);
        bits_of[count++] = (uint8_t)ls__rng_below(rng, 2);
        for (uint32_t f = 0; f < 2; f++) {
            for (uint32_t i = 0; i < size; i++)
                bits_of[count++] = factors[f] >> i & 1;
            total += factors[f];
        }
    }
    cell->table = make_bits(make, count, 0);
    memcpy((uint8_t *)(uintptr_t)cell->table.items, bits_of, count);
    return total;
}

static uint64_t random_word(ls__rng *rng, uint32_t kind)
{
    uint64_t word = ls__rng_u64(rng);
    switch (kind % 6) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return word & 7;
    case 3:
        return UINT64_MAX << (word % 64);
    default:
        return word;
    }
}

static bits random_bits(uint32_t width, ls__rng *rng, uint32_t kind)
{
    bits r = {.width = width};
    for (uint32_t i = 0; i < width; i += 64) {
        uint64_t word = random_word(rng, i && kind == 2 ? 0 : kind);
        for (uint32_t k = 0; k < 64 && i + k < width; k++)
            r.bit[i + k] = word >> k & 1;
    }
    if (kind == 6 && width) { /* the most negative number */
        memset(r.bit, 0, width);
        r.bit[width - 1] = 1;
    }
    return r;
}

/* Inputs, or constants of what `value` says. */
static ls__nets operand(make_netlist *make, const char *name, const bits *value, bool constant)
{
    if (value->width == 0)
        return (ls__nets){0};
    if (!constant)
        return make_input(make, name, value->width);
    ls__nets nets = make_constant(make, value->width, 0);
    for (uint32_t i = 0; i < value->width; i++)
        ((ls__net *)(uintptr_t)nets.items)[i].index = value->bit[i] ? LS__NET_1 : LS__NET_0;
    return nets;
}

static void set_input(host_eval *run, const char *name, const bits *value)
{
    uint64_t words[MODEL_LIMIT / 64 + 1] = {0};
    for (uint32_t i = 0; i < value->width; i++)
        words[i / 64] |= (uint64_t)value->bit[i] << (i % 64);
    host_eval_set(run, name, words);
}

static void expect(const host_eval *run, const char *name, const bits *want, const ls__cell *cell,
                   const char *shape_text)
{
    if (want->width == 0)
        return;
    uint64_t words[MODEL_LIMIT / 64 + 1] = {0};
    host_eval_get(run, name, words);
    for (uint32_t i = 0; i < want->width; i++) {
        if ((words[i / 64] >> (i % 64) & 1) != want->bit[i])
            fail_msg("%s %s: bit %u of %s is not %u", type_names[cell->type], shape_text, i, name,
                     want->bit[i]);
    }
}

/* One netlist with a cell of the type, several vectors. `constants`: bit 0 is a, bit 1 b, bit 2 s.
 */
static void check_cell(ls__cell_type type, uint32_t w, bool a_signed, bool b_signed, ls__rng *rng)
{
    make_netlist *make = make_netlist_create();
    shape sh = shape_of(type, w, rng);
    ls__cell cell = {.type = type, .a_signed = a_signed, .b_signed = b_signed};
    if (type == LS__CELL_LUT)
        cell.table = random_table(make, UINT32_C(1) << sh.a, rng);
    if (type == LS__CELL_SOP) {
        cell.depth = 1 + ls__rng_below(rng, 4);
        cell.table = random_table(make, cell.depth * sh.a * 2, rng);
    }
    if (type == LS__CELL_SLICE)
        cell.offset = ls__rng_below(rng, sh.a - sh.y + 1);
    if (type == LS__CELL_MACC)
        sh.a = macc_table(make, &cell, rng);
    char text[160];
    snprintf(text, sizeof text, "a %u%s b %u%s s %u y %u", sh.a, a_signed ? " signed" : "", sh.b,
             b_signed ? " signed" : "", sh.s, sh.y);

    uint32_t constants = ls__rng_below(rng, 4) ? 0 : ls__rng_below(rng, 7);
    model_ports in;
    in.a = random_bits(sh.a, rng, ls__rng_below(rng, 7));
    in.b = random_bits(sh.b, rng, ls__rng_below(rng, 7));
    in.s = random_bits(sh.s, rng, ls__rng_below(rng, 7));
    in.bi = random_bits(sh.bi, rng, 5);
    ls__cell *made = make_cell(make, type, operand(make, "a", &in.a, constants & 1),
                               operand(make, "b", &in.b, constants & 2));
    cell.a = made->a;
    cell.b = made->b;
    cell.s = operand(make, "s", &in.s, constants & 4);
    cell.bi = operand(make, "bi", &in.bi, false);
    cell.y = make_nets(make, sh.y);
    cell.x = make_nets(make, sh.x);
    cell.co = make_nets(make, sh.co);
    cell.name = made->name;
    cell.source = made->source;
    cell.type_name = type_names[type];
    *made = cell;
    make_signal(make, "y", cell.y, LS__DIRECTION_OUTPUT);
    make_signal(make, "x", cell.x, LS__DIRECTION_OUTPUT);
    make_signal(make, "co", cell.co, LS__DIRECTION_OUTPUT);

    ls__graph *graph = NULL;
    ls_error error;
    uint32_t node = 0;
    if (ls__elaborate(&make->netlist, NULL, &graph, &error) != LS_OK)
        fail_msg("%s %s: %s", type_names[type], text, error.message);
    const char *fault = ls__graph_verify(graph, &node);
    if (fault)
        fail_msg("%s %s: node %u: %s", type_names[type], text, node, fault);
    host_eval *run = host_eval_create(graph, false);
    for (uint32_t v = 0; v < VECTORS; v++) {
        if (!(constants & 1))
            in.a = random_bits(sh.a, rng, v < 7 ? v : ls__rng_below(rng, 7));
        if (!(constants & 2))
            in.b = random_bits(sh.b, rng, ls__rng_below(rng, 7));
        if (!(constants & 4))
            in.s = random_bits(sh.s, rng, ls__rng_below(rng, 7));
        in.bi = random_bits(sh.bi, rng, 5);
        const struct {
            const char *name;
            const bits *value;
            bool skip;
        } inputs[] = {{"a", &in.a, constants & 1},
                      {"b", &in.b, constants & 2},
                      {"s", &in.s, constants & 4},
                      {"bi", &in.bi, false}};
        for (uint32_t i = 0; i < 4; i++) {
            if (!inputs[i].skip && inputs[i].value->width)
                set_input(run, inputs[i].name, inputs[i].value);
        }
        assert_true(host_eval_step(run));
        bits y = {0}, x = {0}, co = {0};
        model_cell(&cell, &in, &y, &x, &co);
        expect(run, "y", &y, &cell, text);
        if (sh.x)
            expect(run, "x", &x, &cell, text);
        if (sh.co)
            expect(run, "co", &co, &cell, text);
    }
    host_eval_destroy(&run);
    ls__graph_destroy(&graph);
    make_netlist_destroy(&make);
}

static void every_cell_is_its_model(void **state)
{
    ls__rng rng = {20260729};
    for (ls__cell_type type = 0; type < LS__CELL_TYPE_COUNT; type++) {
        if (type == LS__CELL_TRIBUF) /* test_elaborate.c */
            continue;
        for (uint32_t w = 0; w < WIDTHS; w++) {
            for (uint32_t k = 0; k < 4 * SHAPES; k++)
                check_cell(type, widths[w], k & 1, k & 2, &rng);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cell_is_its_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
