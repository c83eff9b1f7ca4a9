/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cells compute, written from Yosys' cell library (simlib.v, `yosys -p "help -cells"`) and
 * from docs/cosim.md a second time, on arrays of bits with the simplest of algorithms: adding is
 * ripple carry, multiplying is adding, dividing is subtracting.
 */
#ifndef TESTS_COSIM_CELL_MODEL_H
#define TESTS_COSIM_CELL_MODEL_H

#include "netlist/netlist.h"

enum { MODEL_LIMIT = 1200 };

typedef struct bits {
    uint32_t width;
    uint8_t bit[MODEL_LIMIT];
} bits;

typedef struct model_ports {
    bits a, b, s, bi;
} model_ports;

/* y, x, co of their nets' widths. */
void model_cell(const ls__cell *cell, const model_ports *in, bits *y, bits *x, bits *co);

#endif
