/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlists by hand, for tests: nets, ports and cells are added to growing arrays, and
 * make_netlist_finish gives the netlist that points to them. Everything lives until
 * make_netlist_destroy.
 */
#ifndef TESTS_COSIM_MAKE_NETLIST_H
#define TESTS_COSIM_MAKE_NETLIST_H

#include "netlist/netlist.h"

enum { MAKE_LIMIT = 64 };

typedef struct make_netlist {
    ls__netlist netlist;
    ls__oom oom;
    ls__cell cells[MAKE_LIMIT];
    ls__register registers[MAKE_LIMIT];
    ls__memory memories[8];
    ls__effect effects[8];
    ls__signal signals[MAKE_LIMIT];
} make_netlist;

make_netlist *make_netlist_create(void);
void make_netlist_destroy(make_netlist **make);

ls__nets make_nets(make_netlist *make, uint32_t count); /* new ones */
ls__nets make_constant(make_netlist *make, uint32_t count, uint64_t value);
ls__nets make_slice(ls__nets nets, uint32_t lsb, uint32_t count);
ls__nets make_concat(make_netlist *make, ls__nets low, ls__nets high);
/* Bits of a number, for parameters. */
ls__bits make_bits(make_netlist *make, uint32_t count, uint64_t value);

/* Ports before other signals. */
ls__signal *make_signal(make_netlist *make, const char *name, ls__nets nets,
                        ls__direction direction);
ls__nets make_input(make_netlist *make, const char *name, uint32_t count);

/* With names of their own and y of a's width; the rest is left to the caller. */
ls__cell *make_cell(make_netlist *make, ls__cell_type type, ls__nets a, ls__nets b);
ls__nets make_gate(make_netlist *make, ls__cell_type type, ls__nets a, ls__nets b);
/* All polarities high, q of d's width. */
ls__register *make_register(make_netlist *make, ls__register_kind kind, ls__nets clock, ls__nets d);
ls__memory *make_memory(make_netlist *make, uint32_t width, uint32_t depth);

#endif
