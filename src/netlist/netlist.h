/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flat netlist, as read from Yosys JSON (read.c): bits (nets), cells, registers and memories with
 * their parameters as plain values, and the names of everything. It is what elaboration
 * (src/cosim/elaborate/elaborate.h) starts from; nothing here knows how it will be run.
 *
 * What reading has already done: the hierarchy is flattened (names are paths with '.'), aliases are
 * one net, gate-level cells are written as their word-level kin ($_AND_ is an LS__CELL_AND of width
 * 1, $_DFFE_PN0P_ a register with an enable and an asynchronous reset), $mem, $mem_v2 and loose
 * $memrd/$memwr/$meminit cells are memories with ports, cells without meaning for simulation
 * ($specify*, $scopeinfo, $cover, $live, $fair) are gone, and cells that are not known have been
 * refused. $macc_v2 is written as an LS__CELL_MACC.
 *
 * What holds of every netlist that has been read:
 * - Each port that a cell, register or memory port of its type has is there, as wide as its
 *   parameters say, whether it was connected or not: an input that was not is X, an output that was
 *   not, or only to a constant x or z, has nets of its own. Tables and values have the size that
 * the widths ask for. Only ports that the type does not have, and ports of no width, have count 0.
 * - A net has at most one driver (a cell's or memory's output, a register, an input of the top),
 *   except that it may have several of LS__CELL_TRIBUF. A net without a driver is undefined. 0 and
 * 1 are not driven.
 * - Names of signals differ. Names hold no blanks or control characters (they became '_'); all else
 *   that an escaped name may hold, '.' and '[' too, stands as it is. What flatten wrote down as
 *   `hdlname` is the name, with '.' between its parts.
 *
 * Format: https://yosyshq.readthedocs.io, write_json and the cell library.
 */
#ifndef LS_NETLIST_NETLIST_H
#define LS_NETLIST_NETLIST_H

#include "base/arena.h"
#include "lockstep/base.h"

/* A net is one bit. The constants come first. */
typedef struct ls__net {
    uint32_t index;
} ls__net;
enum { LS__NET_0, LS__NET_1, LS__NET_X, LS__NET_Z, LS__NET_FIRST };

typedef struct ls__nets { /* bit 0 first; count 0 where a port is not connected or not there */
    const ls__net *items;
    uint32_t count;
} ls__nets;

/* A constant, bit by bit, as in parameters and initial values. */
typedef enum ls__bit { LS__BIT_0, LS__BIT_1, LS__BIT_X, LS__BIT_Z } ls__bit;
typedef struct ls__bits {
    const uint8_t *items; /* of ls__bit, bit 0 first */
    uint32_t count;
} ls__bits;

/* Combinational cells: X(name, Yosys type). Ports a, b, s (select, also carry-in ci of $alu), y;
 * `bi` of $alu and `x`, `co` have places of their own. Widths are those of the ports; a_signed,
 * b_signed are the parameters. */
#define LS__CELL_TABLE(X)                                                                          \
    X(BUF, "$buf") /* also $pos, without extension */                                              \
    X(POS, "$pos")                                                                                 \
    X(NOT, "$not")                                                                                 \
    X(NEG, "$neg")                                                                                 \
    X(REDUCE_AND, "$reduce_and")                                                                   \
    X(REDUCE_OR, "$reduce_or")                                                                     \
    X(REDUCE_XOR, "$reduce_xor")                                                                   \
    X(REDUCE_XNOR, "$reduce_xnor")                                                                 \
    X(REDUCE_BOOL, "$reduce_bool")                                                                 \
    X(LOGIC_NOT, "$logic_not")                                                                     \
    X(AND, "$and")                                                                                 \
    X(OR, "$or")                                                                                   \
    X(XOR, "$xor")                                                                                 \
    X(XNOR, "$xnor")                                                                               \
    X(NAND, "$_NAND_")                                                                             \
    X(NOR, "$_NOR_")                                                                               \
    X(ANDNOT, "$_ANDNOT_")                                                                         \
    X(ORNOT, "$_ORNOT_")                                                                           \
    X(SHL, "$shl")                                                                                 \
    X(SHR, "$shr")                                                                                 \
    X(SSHL, "$sshl")                                                                               \
    X(SSHR, "$sshr")                                                                               \
    X(SHIFT, "$shift")                                                                             \
    X(SHIFTX, "$shiftx")                                                                           \
    X(LT, "$lt")                                                                                   \
    X(LE, "$le")                                                                                   \
    X(EQ, "$eq")                                                                                   \
    X(NE, "$ne")                                                                                   \
    X(EQX, "$eqx")                                                                                 \
    X(NEX, "$nex")                                                                                 \
    X(GE, "$ge")                                                                                   \
    X(GT, "$gt")                                                                                   \
    X(ADD, "$add")                                                                                 \
    X(SUB, "$sub")                                                                                 \
    X(MUL, "$mul")                                                                                 \
    X(DIV, "$div")                                                                                 \
    X(MOD, "$mod")                                                                                 \
    X(DIVFLOOR, "$divfloor")                                                                       \
    X(MODFLOOR, "$modfloor")                                                                       \
    X(POW, "$pow")                                                                                 \
    X(LOGIC_AND, "$logic_and")                                                                     \
    X(LOGIC_OR, "$logic_or")                                                                       \
    X(SLICE, "$slice") /* `offset` */                                                              \
    X(CONCAT, "$concat")                                                                           \
    X(MUX, "$mux")                                                                                 \
    X(NMUX, "$_NMUX_")                                                                             \
    X(PMUX, "$pmux")                                                                               \
    X(BMUX, "$bmux") /* also $_MUX4_, $_MUX8_, $_MUX16_ */                                         \
    X(DEMUX, "$demux")                                                                             \
    X(BWMUX, "$bwmux")                                                                             \
    X(BWEQX, "$bweqx")                                                                             \
    X(LUT, "$lut")     /* `table` */                                                               \
    X(SOP, "$sop")     /* `table`; b_signed unused; `depth` */                                     \
    X(AOI3, "$_AOI3_") /* ports a, b, s = C */                                                     \
    X(OAI3, "$_OAI3_")                                                                             \
    X(AOI4, "$_AOI4_") /* ports a, b, s = C, bi = D */                                             \
    X(OAI4, "$_OAI4_")                                                                             \
    X(FA, "$fa")         /* a, b, s = C; y, x */                                                   \
    X(LCU, "$lcu")       /* a = P, b = G, s = CI; y = CO */                                        \
    X(ALU, "$alu")       /* a, b, s = CI, bi = BI; y, x, co */                                     \
    X(MACC, "$macc")     /* a, b; `table` = CONFIG */                                              \
    X(TRIBUF, "$tribuf") /* a, s = EN; y */

typedef enum ls__cell_type {
#define X(name, text) LS__CELL_##name,
    LS__CELL_TABLE(X)
#undef X
        LS__CELL_TYPE_COUNT
} ls__cell_type;

typedef struct ls__cell {
    ls__cell_type type;
    bool a_signed, b_signed;
    uint32_t offset, depth; /* SLICE; SOP */
    ls__nets a, b, s, bi, y, x, co;
    ls__bits table;
    const char *name;      /* path; never NULL, may be invented by Yosys */
    const char *source;    /* "file:line" of the attribute src, or "" */
    const char *type_name; /* as written in the file: for messages */
} ls__cell;

/* A flip-flop or latch of any kind, all bits with common controls. Controls that the kind does not
 * have are not connected (count 0). Each has a polarity: true = active high / rising. */
typedef enum ls__register_kind {
    LS__REGISTER_CLOCKED, /* $dff and all with a clock */
    LS__REGISTER_LATCH,   /* $dlatch, $adlatch, $dlatchsr: enable is the gate */
    LS__REGISTER_SR       /* $sr: set and clear only */
} ls__register_kind;

typedef struct ls__register {
    ls__register_kind kind;
    ls__nets d, q;
    ls__nets clock, enable;     /* 1 bit; of a latch, `enable` is its gate */
    ls__nets srst, arst, aload; /* 1 bit */
    ls__nets set, clear;        /* as wide as q, each bit for itself; clear wins */
    ls__nets ad;                /* data of aload */
    bool clock_rising, enable_high, srst_high, arst_high, aload_high, set_high, clear_high;
    bool srst_needs_enable; /* $sdffce: the reset counts only while enabled */
    ls__bits srst_value, arst_value;
    const char *name, *source, *type_name;
} ls__register;

typedef struct ls__read_port {
    /* enable, arst, srst: 1 bit, active high; of asynchronous ports 1, 0, 0. */
    ls__nets enable, address, data, arst, srst;
    ls__nets clock;                       /* count 0: asynchronous */
    bool clock_rising, srst_needs_enable; /* CE_OVER_SRST */
    ls__bits transparent; /* bit i: sees what write port i writes at the same edge */
    ls__bits collision_x; /* bit i: undefined then; treated as without transparency */
    ls__bits arst_value, srst_value, init_value;
} ls__read_port;

typedef struct ls__write_port {
    ls__nets enable, address, data; /* enable: one bit a data bit, active high */
    ls__nets clock;                 /* count 0: no clock, refused by elaboration */
    bool clock_rising;
    ls__bits priority; /* bit i: wins over port i < own; ascending order of ports does that */
} ls__write_port;

typedef struct ls__memory {
    const char *name, *source;    /* path of the memory as the source names it where known */
    uint32_t width, depth, start; /* words `start` to `start + depth - 1` */
    ls__bits init; /* of the first init.count bits of width * depth; the rest, maybe all, is X */
    const ls__read_port *reads;
    const ls__write_port *writes;
    uint32_t read_count, write_count;
} ls__memory;

/* $print, $check, $assert, $assume, $live and the like. */
typedef enum ls__effect_kind {
    LS__EFFECT_PRINT,
    LS__EFFECT_ASSERT,
    LS__EFFECT_ASSUME,
    LS__EFFECT_FINISH /* $finish, where a producer has it */
} ls__effect_kind;

typedef struct ls__effect {
    ls__effect_kind kind;
    ls__nets enable, condition; /* 1 bit; condition: what must hold, count 0 for PRINT */
    ls__nets triggers;          /* clocks; count 0: whenever the values change */
    const bool *trigger_rising; /* one a trigger */
    bool initial;               /* of an initial block: once, at the start; no triggers */
    ls__nets arguments;         /* one after another, as the format says */
    const char *format;         /* Yosys' format string, "" when there is none */
    int32_t priority;           /* of effects at one instant: higher first */
    const char *name, *source;
} ls__effect;

typedef enum ls__direction {
    LS__DIRECTION_NONE,
    LS__DIRECTION_INPUT,
    LS__DIRECTION_OUTPUT,
    LS__DIRECTION_INOUT
} ls__direction;

/* A name. Several may have the same nets. */
typedef struct ls__signal {
    const char *name; /* path from the top, without the top's own name: "cpu.alu.sum" */
    ls__nets nets;
    int32_t offset; /* lowest index as declared; with `upto` it is the highest bit's */
    bool upto, is_signed, hidden; /* hidden: the name was made by Yosys ("hide_name") */
    ls__direction direction;      /* of ports of the top */
    ls__bits init;                /* attribute init, count 0 = none */
} ls__signal;

typedef struct ls__netlist {
    ls__arena arena;
    const char *top;     /* name of the top module */
    const char *creator; /* "Yosys 0.23 ..." */
    uint32_t net_count;  /* including the constants */
    const ls__cell *cells;
    const ls__register *registers;
    const ls__memory *memories;
    const ls__effect *effects;
    const ls__signal *signals; /* ports of the top first, in the order of the file */
    uint32_t cell_count, register_count, memory_count, effect_count, signal_count, port_count;
    uint8_t digest[32]; /* SHA-256 of the file */
} ls__netlist;

typedef struct ls__netlist_params {
    const char *path; /* file, or name for messages when text is given */
    const char *text; /* NULL: the file is read in pieces */
    size_t length;
    const char *top; /* NULL: the module with attribute top, else the only one that nobody uses */
    size_t limit_bytes; /* of memory, about twice this in all; 0 = none; beyond it LS_E_LIMIT */
    /* Called with what is odd but no error; may be NULL. */
    void (*warn)(void *context, const char *message);
    void *context;
} ls__netlist_params;

/* Errors: LS_E_FORMAT (what, module, cell, byte offset), LS_E_UNSUPPORTED (unknown cell types, by
 * name and count), LS_E_NOT_FOUND (file, top). Memory used is at most about 3 times the file. */
ls_status ls__netlist_read(const ls__netlist_params *params, ls__netlist **netlist,
                           ls_error *error);
void ls__netlist_destroy(ls__netlist **netlist);

#endif
