/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The netlist program: what elaboration makes of a netlist and what both forms of execution
 * (table-driven and compiled) run. A graph of nodes, each a word of 1 to 64 bits held in the low
 * bits of 64, the others zero. Both forms give the same values at the end of every step.
 *
 * Order. Nodes are evaluated by ascending index: operands come before users. Exceptions are REG and
 * HOLD nodes, whose value is kept state, and users of HOLD nodes marked LOOP: these are evaluated
 * last, after all other nodes (among EARLY nodes: after all other EARLY nodes), so nodes that come
 * before them see their value of the sweep before.
 *
 * One step (docs/cosim.md, "An instant"):
 *   1. new values of inputs are stored in INPUT nodes
 *   2. EARLY nodes are evaluated: all that clocks depend on, and nothing else; again while an EARLY
 *      LOOP node changes
 *   3. for each domain: has its clock node changed in the active direction since step 3 last saw
 *      it? Registers of triggered domains take `next`, write ports of triggered domains write (in
 *      the order of the list), effects of triggered domains happen. What they read (next, enables,
 *      addresses, data) are nodes that are neither EARLY nor INPUT, REG or HOLD (elaboration puts
 *      COPY nodes in between), so they still have the values from before the step.
 *   4. all nodes are evaluated; again while a LOOP node changes, at most 100 times
 *   5. where `has_derived`: back to 3 while a clock changed since it was last seen, at most 100
 *      rounds, then an error that names the nets
 *
 * Before the first step: registers, HOLD nodes and memories have their initial values, inputs are
 * 0, all nodes are evaluated, and the clock values seen are those of that state.
 */
#ifndef LS_COSIM_GRAPH_H
#define LS_COSIM_GRAPH_H

#include "base/arena.h"
#include "base/str.h"
#include "lockstep/base.h"

/*
 * X(name, operands, meaning). w is the node's width, results are cut to it. Operands a, b, c are
 * nodes, `imm` is a number. Widths of operands are w unless said otherwise.
 */
#define LS__NODE_TABLE(X)                                                                          \
    X(CONST, 0, "imm")                                                                             \
    X(INPUT, 0, "input number imm")                                                                \
    X(REG, 0, "kept state, written by step 3 only")                                                \
    X(HOLD, 2, "kept state: bits where mask a is 1 are those of b, others stay; also step 3")      \
    X(COPY, 1, "a")                                                                                \
    X(NOT, 1, "~a")                                                                                \
    X(AND, 2, "a & b")                                                                             \
    X(OR, 2, "a | b")                                                                              \
    X(XOR, 2, "a ^ b")                                                                             \
    X(ANDN, 2, "a & ~b")                                                                           \
    X(MUX, 3, "a ? c : b; a has 1 bit")                                                            \
    X(ADD, 2, "a + b")                                                                             \
    X(SUB, 2, "a - b")                                                                             \
    X(MUL, 2, "a * b")                                                                             \
    X(MULHI, 2, "bits 64 to 127 of a * b; w = 64")                                                 \
    X(UDIV, 2, "a / b unsigned; 0 when b is 0")                                                    \
    X(UMOD, 2, "a % b unsigned; 0 when b is 0")                                                    \
    X(SHL, 2, "a << b; b any width; 0 when b >= w")                                                \
    X(SHR, 2, "a >> b, zeros come in; b any width; 0 when b >= w")                                 \
    X(SAR, 2, "a >> b, bit w-1 comes in; b any width; all sign when b >= w")                       \
    X(EQ, 2, "a == b, 1 bit; operands of one width")                                               \
    X(NE, 2, "a != b, 1 bit")                                                                      \
    X(ULT, 2, "a < b unsigned, 1 bit")                                                             \
    X(ULE, 2, "a <= b unsigned, 1 bit")                                                            \
    X(SLT, 2, "a < b signed, 1 bit; operands of one width")                                        \
    X(SLE, 2, "a <= b signed, 1 bit")                                                              \
    X(REDAND, 1, "all bits of a, 1 bit; a any width")                                              \
    X(REDOR, 1, "any bit of a, 1 bit")                                                             \
    X(REDXOR, 1, "parity of a, 1 bit")                                                             \
    X(SLICE, 1, "bits imm to imm + w - 1 of a; a any width >= imm + w")                            \
    X(CONCAT, 2, "a in the low bits, b above; w = their sum")                                      \
    X(ZEXT, 1, "a, narrower than w")                                                               \
    X(SEXT, 1, "a, narrower than w, its top bit repeated")                                         \
    X(MEM, 1,                                                                                      \
      "word a, limb imm >> 32 of memory number imm & 0xffffffff; 0 out of range; a any width")

typedef enum ls__node_op {
#define X(name, operands, text) LS__NODE_##name,
    LS__NODE_TABLE(X)
#undef X
        LS__NODE_OP_COUNT
} ls__node_op;

typedef struct ls__node_id {
    uint32_t index;
} ls__node_id;

enum {
    LS__NODE_EARLY = 1, /* clocks depend on it: evaluated in step 2 and again in step 4 */
    LS__NODE_LOOP = 2   /* a HOLD that is used before its place in the order; see above */
};

typedef struct ls__node {
    uint8_t op, width, flags;
    ls__node_id operands[3];
    uint64_t imm;
    uint32_t level; /* 0 for CONST, INPUT and REG, which are never evaluated. Else above the level
                       of operands with a lower index, and of users with a lower index (of LOOP
                       nodes): evaluating level by level gives what evaluating by index gives. */
} ls__node;

/* A register (flip-flop), or the clocked part of a HOLD. */
typedef struct ls__reg {
    ls__node_id node; /* REG or HOLD */
    ls__node_id next; /* value it takes when its domain triggers, all enables worked in */
    uint32_t domain;
} ls__reg;

/* Initial value of a REG or HOLD node. */
typedef struct ls__initial {
    ls__node_id node;
    uint64_t value, known; /* known: mask of bits that are given; others 0, or seeded */
} ls__initial;

typedef struct ls__domain {
    ls__node_id clock; /* 1 bit; INPUT, REG, HOLD or EARLY */
    bool rising;
} ls__domain;

typedef struct ls__graph_memory {
    const char *name;
    uint32_t width, depth, start, limbs; /* limbs = 64-bit words a word: (width + 63) / 64 */
    const uint64_t *init, *init_known;   /* depth * limbs each; NULL: nothing is given */
} ls__graph_memory;

typedef struct ls__graph_write {
    uint32_t memory, domain;
    ls__node_id address;               /* of the word, counted from 0; no effect when >= depth */
    const ls__node_id *enables, *data; /* one a limb; enables are bit masks */
} ls__graph_write;

typedef struct ls__graph_effect {
    uint32_t kind; /* ls__effect_kind of netlist.h */
    const uint32_t *domains;
    uint32_t domain_count; /* 0: after step 5 of any step in which enable or an argument changed */
    bool is_initial;       /* without domains: after the first step, and never again */
    ls__node_id enable, condition; /* 1 bit; happens when enable && !condition (PRINT: enable) */
    const ls__node_id *arguments;  /* words that make up the arguments' bits, bit 0 first */
    uint32_t argument_count, argument_bits;
    const char *format, *name, *source;
} ls__graph_effect;

/* Where bits of a signal are: bit 0 upwards, pieces one after another. */
typedef struct ls__piece {
    ls__node_id node;
    uint8_t lsb, width; /* bits lsb to lsb + width - 1 of the node */
} ls__piece;

typedef struct ls__graph_signal {
    const char *name; /* path from the top, '.' between */
    const ls__piece *pieces;
    uint32_t piece_count, width;
    int32_t offset;
    bool upto, is_signed, hidden, is_register, is_alias;
    uint8_t direction; /* ls__direction of netlist.h; INOUT is gone: p__in, p__out, p__oe */
} ls__graph_signal;

typedef struct ls__graph_input {
    ls__node_id node;
    uint32_t signal, lsb; /* bits lsb upwards of this signal */
} ls__graph_input;

typedef struct ls__graph {
    ls__arena arena;
    const char *top;
    ls__node *nodes;
    ls__graph_input *inputs;
    ls__reg *regs;
    ls__initial *initials; /* one for every REG and HOLD node */
    ls__domain *domains;
    ls__graph_memory *memories;
    ls__graph_write *writes;
    ls__graph_effect *effects;
    ls__graph_signal *signals; /* ports of the top first */
    uint32_t node_count, input_count, reg_count, initial_count, domain_count, memory_count,
        write_count, effect_count, signal_count, port_count;
    uint32_t early_end; /* evaluated nodes below this index are EARLY, those from it on are not */
    uint32_t level_count;
    bool has_derived;    /* a clock depends on a register or a memory that is written */
    bool has_loops;      /* some node is LOOP */
    uint32_t cell_count; /* of the netlist, for reports */
    uint8_t digest[32];  /* of the netlist */
} ls__graph;

/* Value of a combinational node (not REG, HOLD, INPUT, MEM) from its operands: the definition that
 * folding, both forms and the tests are held to (eval.c). `a_width` is that of operand a. */
uint64_t ls__node_eval(ls__node_op op, uint8_t width, uint64_t imm, uint64_t a, uint64_t b,
                       uint64_t c, uint8_t a_width);
const char *ls__node_op_name(ls__node_op op);
uint32_t ls__node_operand_count(ls__node_op op);
static inline uint64_t ls__node_mask(uint8_t width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Checks what this header promises; NULL, or static text saying what is wrong (tests, debug). */
const char *ls__graph_verify(const ls__graph *graph, uint32_t *node);
/* One line a node, register, write port, effect and signal: for people. */
void ls__graph_dump(const ls__graph *graph, ls__strbuf *text);
void ls__graph_destroy(ls__graph **graph);

#endif
