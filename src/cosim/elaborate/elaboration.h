/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elaboration from inside: what its files share. In order of work (elaborate.c):
 *
 *   ports.c     inputs become INPUT nodes; tri-state nets are noted
 *   register.c  registers become REG or HOLD nodes, without what they take yet
 *   memory.c    the same for synchronous read ports
 *   walk.c     walks cells and asynchronous read ports so that operands come first;
 *                         finds combinational loops, takes cells apart that only seem to be in one
 *   cell.c, arithmetic.c   a cell becomes nodes
 *   then what registers and write ports take, effects, signals
 *   order.c               clocks, EARLY nodes, copies, the order of graph.h
 *
 * Each net is a bit of a node. Nets that nothing drives are 0.
 */
#ifndef LS_COSIM_ELABORATE_ELABORATION_H
#define LS_COSIM_ELABORATE_ELABORATION_H

#include "cosim/elaborate/elaborate.h"
#include "cosim/elaborate/words.h"

/* What drives a net: something that needs its operands first (a vertex), state or an input (no
 * operands), or nothing. */
typedef enum ls__vertex_kind {
    LS__VERTEX_NONE,
    LS__VERTEX_STATE,
    LS__VERTEX_CELL, /* index of the netlist's cells, then of parts */
    LS__VERTEX_READ, /* index of reads */
    LS__VERTEX_BUS   /* index of buses */
} ls__vertex_kind;

typedef struct ls__vertex {
    ls__vertex_kind kind;
    uint32_t index;
} ls__vertex;

/* An asynchronous read port. */
typedef struct ls__async_read {
    uint32_t memory;
    const ls__read_port *port;
} ls__async_read;

/* A net that tri-state buffers drive, or a bit of an inout. The other nets are made for it: what
 * comes from outside (NET_0 where nothing can), what the design puts out, and whether it does. */
typedef struct ls__bus {
    ls__net net, outside, out, enable;
    bool is_port;                   /* a bit of an output or inout of the top */
    LS__VEC(ls__net) data, enables; /* one a buffer */
} ls__bus;

/* An INPUT node: bits `lsb` upwards of a port of the netlist. */
typedef struct ls__input_limb {
    ls__node_id node;
    uint32_t port, lsb;
} ls__input_limb;

typedef struct ls__net_place {
    ls__node_id node;
    uint8_t bit;
} ls__net_place;

typedef struct ls__elaboration {
    const ls__netlist *netlist;
    const ls__elaborate_params *params;
    ls_error *error;
    ls__arena arena; /* scratch */
    ls__builder builder;
    ls__graph *graph; /* its arrays live in its own arena; ids are those of the builder */
    LS__VEC(ls__net_place) places; /* by net */
    LS__VEC(ls__vertex) drivers;   /* by net */
    LS__VEC(ls__cell) parts;       /* of cells taken apart, numbered after the netlist's cells */
    LS__VEC(ls__async_read) reads;
    LS__VEC(ls__bus) buses;
    uint32_t *bus_at; /* by net: bus + 1; NULL: there are no buses */
    LS__VEC(ls__input_limb) inputs;
    uint8_t *init;               /* by net: 0 not given, 1 + ls__bit; NULL: no net has an init */
    ls__node_id *register_nodes; /* first limb of each register, by index */
    ls__node_id *read_nodes;     /* the same for read ports, those of all memories in order */
    LS__VEC(ls__reg) regs;
    LS__VEC(ls__initial) initials;
    LS__VEC(ls__domain) domains;
    LS__VEC(uint32_t) domain_table; /* by clock node * 2 + rising: domain + 1 */
} ls__elaboration;

/* elaborate.c */
ls__node_id ls__net_bit(ls__elaboration *e, ls__net net);
ls__word ls__net_word(ls__elaboration *e, ls__nets nets);
/* Extended or cut to `width`; nets may be none: then 0. */
ls__word ls__net_extended(ls__elaboration *e, ls__nets nets, uint32_t width, bool is_signed);
/* Net i becomes bit i of the word; nets beyond its width become 0. */
void ls__net_assign(ls__elaboration *e, ls__nets nets, ls__word word);
ls__word ls__bits_word(ls__elaboration *e, ls__bits bits, uint32_t width); /* x is 0 */
ls__net ls__net_new(ls__elaboration *e);
/* Says that the vertex drives the nets; LS_E_UNSUPPORTED when something else does. */
ls_status ls__net_drive(ls__elaboration *e, ls__nets nets, ls__vertex vertex, const char *name);
const char *ls__net_name(ls__elaboration *e, ls__net net);
void ls__elaborate_warn(const ls__elaboration *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each file's part. */
ls_status ls__elaborate_ports(ls__elaboration *e);
ls_status ls__elaborate_bus_drivers(ls__elaboration *e); /* after all others are declared */
void ls__elaborate_bus(ls__elaboration *e, const ls__bus *bus);
ls_status ls__elaborate_registers(ls__elaboration *e);
void ls__elaborate_register_inputs(ls__elaboration *e);
ls_status ls__elaborate_memories(ls__elaboration *e);
void ls__elaborate_async_read(ls__elaboration *e, const ls__async_read *read);
ls_status ls__elaborate_memory_inputs(ls__elaboration *e);
ls_status ls__elaborate_cells(ls__elaboration *e);
void ls__elaborate_cell(ls__elaboration *e, const ls__cell *cell);
void ls__elaborate_arithmetic(ls__elaboration *e, const ls__cell *cell);
const ls__cell *ls__cell_at(const ls__elaboration *e, uint32_t index);
/* Replaces a cell by cells of one bit, which drive its nets; false for a kind whose bits all depend
 * on all, or that has one bit. */
bool ls__elaborate_split(ls__elaboration *e, const ls__cell *cell);
void ls__elaborate_effects(ls__elaboration *e);
void ls__elaborate_signals(ls__elaboration *e);

/* A state node (REG or HOLD) for each limb, mapped to `q`; the first. `given` are initial values of
 * bits, count 0 = those of the nets. */
ls__node_id ls__state_create(ls__elaboration *e, ls__nets q, bool holds, ls__bits given);
/* What state does beside its clock, from the weakest: each layer sets bits to `value` where `mask`
 * is 1. `select` is the bit that all of the mask are, or LS__NO_NODE where they differ. */
typedef struct ls__layer {
    ls__node_id select;
    ls__word mask, value;
} ls__layer;
void ls__state_hold(ls__elaboration *e, ls__node_id first, const ls__layer *layers, uint32_t count);
/* `word` with the layers on top. */
ls__word ls__state_apply(ls__elaboration *e, ls__word word, const ls__layer *layers,
                         uint32_t count);
ls__layer ls__state_layer(ls__elaboration *e, ls__node_id select, ls__word value);
void ls__state_clock(ls__elaboration *e, ls__node_id first, ls__word next, uint32_t domain);
/* The domain of a clock net; UINT32_MAX for a clock that never changes. */
uint32_t ls__state_domain(ls__elaboration *e, ls__net clock, bool rising);

#endif
