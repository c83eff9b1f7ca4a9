/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/cosim.h - run a synthesised netlist with its peripherals on any device.
 *
 *   Yosys JSON --ls_design_load--> ls_design --ls_cosim_create--> ls_cosim (instances on a device)
 *
 * A design is immutable and belongs to no device. A cosim is one or many instances of it, with
 * their peripherals, on one device. Time is counted in edges: edge e is the e-th instant at which
 * inputs (clocks among them) may change; what real time that is, the caller knows. All changes of
 * one edge are applied together, then the design settles, flip-flops whose clock changed take the
 * values from before, and so on: docs/cosim.md defines an edge, to the bit. Values are two-valued.
 *
 * The device runs many edges in one submission. What happens in it, it does by itself: the periodic
 * schedule, the queue of timed stimulus, the peripherals (Kernel C, docs/peripherals.md). It stops
 * at the very edge where an event that was asked for happens, whatever the length of the run.
 *
 * The bytes that come out (values, changes, events, digests) are the same on every device, for any
 * number of threads, in both forms (compiled, table-driven), and however the edges are cut into
 * runs.
 */
#ifndef LOCKSTEP_COSIM_H
#define LOCKSTEP_COSIM_H

#include "lockstep/base.h"
#include "lockstep/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- designs ---------------------------------------------------------------------------------- */
/* A netlist, ready to run. Thread-safety: immutable. */
typedef struct ls_design ls_design;

typedef struct ls_design_params {
    size_t struct_size;
    const char *path; /* Yosys JSON (write_json); with `text`, a name for messages */
    const char *text; /* NULL: `path` is read */
    size_t length;    /* bytes of text */
    const char *top;  /* NULL: the module marked as top, else the only one that no other uses */
    void (*warn)(void *context, const char *message); /* what is odd but no error; NULL = ignore */
    void *context;
} ls_design_params;
#define LS_DESIGN_PARAMS_INIT LS_INIT(ls_design_params)

/* LS_E_NOT_FOUND (file, top), LS_E_FORMAT (module, cell, byte), LS_E_UNSUPPORTED (unknown cells by
 * name and count; combinational loops as a path; clockless memory writes). Blocks: about a second
 * for 200,000 cells. */
LS_API ls_status ls_design_load(const ls_design_params *params, ls_design **design,
                                ls_error *error);
LS_API void ls_design_destroy(ls_design **design);

typedef struct ls_design_info {
    size_t struct_size;
    const char *top;
    uint32_t cell_count;     /* of the netlist, flattened */
    uint32_t node_count;     /* words of at most 64 bits that are computed */
    uint32_t level_count;    /* of the longest path through them */
    uint32_t register_count; /* words of kept state */
    uint32_t memory_count, signal_count;
    uint32_t port_count; /* signals 0 to port_count - 1 are the ports of the top */
    uint8_t digest[32];  /* SHA-256 of the netlist's bytes */
} ls_design_info;
LS_API void ls_design_describe(const ls_design *design, ls_design_info *info);

typedef enum ls_signal_kind {
    LS_SIGNAL_WIRE,
    LS_SIGNAL_REGISTER,
    LS_SIGNAL_INPUT, /* ports of the top; an inout p is three: p__in, p__out, p__oe */
    LS_SIGNAL_OUTPUT
} ls_signal_kind;

typedef struct ls_signal_info {
    const char *name; /* path from the top, '.' between: "cpu.alu.sum"; no name of the top */
    ls_signal_kind kind;
    uint32_t width; /* bits */
    int32_t offset; /* index of its lowest bit as declared: [offset + width - 1 : offset] */
    bool upto;      /* declared [low : high] */
    bool is_signed, is_hidden; /* hidden: the name was made by the synthesis */
    bool is_register;          /* all its bits are of registers, also where it is an output */
    bool is_alias; /* a register whose bits have a name before: in signals with a smaller
                      index, or, where this one is hidden, in any that is not */
} ls_signal_info;
LS_API ls_status ls_design_signal(const ls_design *design, uint32_t index, ls_signal_info *info,
                                  ls_error *error);

enum { LS_CLOCK_RISING = 1, LS_CLOCK_FALLING = 2 };
/* Which ports are clocks: for each ([port_count] of ls_design_info) at which of its edges registers
 * or memories change, also through gates and multiplexers, but not through registers, which make
 * clocks of their own. What only enables a clock in a gate counts as one. */
LS_API ls_status ls_design_clocks(const ls_design *design, uint8_t *edges, ls_error *error);

/* Bits of a signal; bit 0 is the lowest, whatever its index in the source. */
typedef struct ls_signal_ref {
    uint32_t signal, bit, width;
} ls_signal_ref;

/* "name", "name[3]", "name[7:4]" (indices as declared). Also a name with the top's name in front.
 * LS_E_NOT_FOUND suggests names that are close. */
LS_API ls_status ls_design_find(const ls_design *design, const char *name, ls_signal_ref *ref,
                                ls_error *error);

typedef struct ls_design_memory_info {
    const char *name; /* path */
    uint32_t width;   /* bits of a word */
    uint32_t depth;   /* words */
    uint32_t start;   /* address of the first */
} ls_design_memory_info;
LS_API ls_status ls_design_memory(const ls_design *design, uint32_t index,
                                  ls_design_memory_info *info, ls_error *error);
LS_API ls_status ls_design_find_memory(const ls_design *design, const char *name, uint32_t *index,
                                       ls_error *error);

/* --- files with contents of memories ---------------------------------------------------------- */
typedef enum ls_image_format {
    /* ELF by its first bytes; $readmemh by the name (.hex, .mem, .vmem, .vh); else binary. */
    LS_IMAGE_AUTO,
    LS_IMAGE_READMEMH, /* text for $readmemh: hexadecimal words, @addresses, comments, x and z (0)
                        */
    LS_IMAGE_READMEMB, /* the same in binary */
    LS_IMAGE_ELF,      /* little-endian, 32 or 64 bits: what the PT_LOAD segments hold in the file,
                          at their physical addresses */
    LS_IMAGE_BINARY    /* bytes */
} ls_image_format;

#define LS_IMAGE_LOWEST UINT64_MAX

typedef struct ls_image_params {
    size_t struct_size;
    const char *path;
    ls_image_format format;
    /* What the first byte of the memory, or of the image, is in the file. ELF: an address, or
     * LS_IMAGE_LOWEST for the lowest one with contents; what
     * lies before it, or behind the end of the memory, is for others and left out, but something
     * must be left. Binary: so many bytes of the file are passed over. Text: the first word that is
     * filled, counted from the memory's first, until an @ in the file says otherwise, which is an
     * address as declared. Binary and text must not reach beyond the memory. */
    uint64_t address;
    /* Memories of ELF and binary files, whose words are then of whole bytes, low bytes first: from
     * word to word so many bytes; 0 = the bytes of a word. A RAM of 32 bits that is four memories
     * of 8 bits loads each with 4, at address, address + 1, address + 2 and address + 3. */
    uint32_t stride_bytes;
    /* ls_image_load: bytes that nothing fills, between the parts of the file. */
    uint8_t fill;
    uint64_t limit_bytes; /* ls_image_load: a larger image is LS_E_LIMIT; 0 = 1 GiB */
} ls_image_params;
#define LS_IMAGE_PARAMS_INIT LS_INIT(ls_image_params)

/* A file as bytes, for ls_peripheral.image; words of text are bytes then. Released with
 * ls_bytes_destroy (lockstep/program.h). LS_E_NOT_FOUND, LS_E_FORMAT with line or byte, LS_E_LIMIT:
 * most often `address` is not given for an ELF file. */
LS_API ls_status ls_image_load(const ls_image_params *params, void **bytes, uint64_t *size,
                               ls_error *error);

/* --- peripherals ------------------------------------------------------------------------------ */
/* A model in Kernel C that is stepped once an edge, after the design has settled; what it drives is
 * applied together with everything else at the next edge. docs/peripherals.md is the contract of
 * the source. All arrays and texts are copied. */
typedef struct ls_pin {
    const char *name;     /* member of the peripheral's struct of pins */
    ls_signal_ref signal; /* at most 64 bits; width 0: not connected, reads `constant` */
    uint64_t constant; /* drives: the value before the first edge; built-in types have their own */
    bool drives;       /* the peripheral drives it: the signal must be an input of the top */
} ls_pin;

typedef struct ls_peripheral_parameter {
    const char *name;
    uint64_t value;
} ls_peripheral_parameter;

typedef struct ls_peripheral {
    const char *name; /* of this instance: a C identifier, unique */
    const char *type; /* of the source: function TYPE_step, struct TYPE_pins; a C identifier */
    const char *path; /* the source file; NULL: built in ("uart_tx", "uart_rx", "spi_flash", ...),
                         where pins, parameters and memory that are not given have defaults */
    const ls_pin *pins;
    uint32_t pin_count;
    const ls_peripheral_parameter *parameters;
    uint32_t parameter_count;
    uint32_t memory_words;       /* private memory of each instance, 32-bit words */
    const uint32_t *memory_init; /* NULL: zeros */
    const void *image;           /* read-only bytes that all instances share; NULL = none */
    uint64_t image_bytes;
} ls_peripheral;

/* --- runs ------------------------------------------------------------------------------------- */
/* Instances of a design on a device. Thread-safety: one thread at a time. */
typedef struct ls_cosim ls_cosim;

/* Which code is made of the netlist and its peripherals. */
typedef enum ls_cosim_tier {
    LS_COSIM_TIER_BOTH,     /* quick code at once, and optimised code when it is ready */
    LS_COSIM_TIER_QUICK,    /* quick code only */
    LS_COSIM_TIER_OPTIMIZED /* no code is run but optimised code, which is waited for */
} ls_cosim_tier;

typedef enum ls_cosim_form {
    LS_COSIM_AUTO, /* compiled, but table-driven until the code is there and where it is too large;
                      on a GPU compiled only where it is small. The log says which and why */
    LS_COSIM_COMPILED, /* the netlist becomes code; quick code first, then optimised code */
    LS_COSIM_TABLE,    /* the netlist is data for one kernel: starts at once */
    LS_COSIM_SLICED    /* compiled with 64 instances in a word; LS_COSIM_COMPILED chooses it too,
                          for many instances of gates */
} ls_cosim_form;

#define LS_COSIM_ALL UINT32_MAX /* an instance number: all of them */

typedef enum ls_event_kind {
    LS_EVENT_PERIPHERAL, /* source: index of the peripheral; kind, a, b are its own */
    LS_EVENT_PRINT,      /* `text` is the message */
    LS_EVENT_ASSERT,     /* a failed assertion or check; `text` says which */
    LS_EVENT_ASSUME,
    LS_EVENT_FINISH
} ls_event_kind;

typedef struct ls_cosim_event {
    ls_event_kind type;
    uint32_t instance;
    uint64_t edge;
    uint32_t source, kind;
    uint64_t a, b;
    const char *text; /* "" for peripherals; valid during the call */
} ls_cosim_event;

/* Called on the thread that calls ls_cosim_run, in order of edges for each instance; of one edge,
 * changes before events. Neither may call the library with this cosim, but for ls_cosim_traced. */
typedef struct ls_cosim_sink {
    /* Traced signals that changed at `edge`, ascending numbers in the list `trace`. */
    void (*changes)(void *context, uint64_t edge, const uint32_t *traced, uint32_t count);
    void (*event)(void *context, const ls_cosim_event *event);
    void *context;
} ls_cosim_sink;

typedef struct ls_cosim_params {
    size_t struct_size;
    ls_device *device;
    uint32_t instances; /* 0 = 1 */
    ls_cosim_form form;
    bool ungated; /* evaluate everything at every edge, also what cannot have changed */
    /* Registers, latches and memory words without an initial value: 0, or, with `randomize`, bits
     * that depend on (seed, instance, the signal's name) only. */
    bool randomize;
    uint64_t seed;
    /* Outputs and traced signals are seen, and peripherals are stepped, before the flip-flops of an
     * edge change, with the inputs of that edge; flip-flops take what follows from those inputs.
     * docs/cosim.md, "--compat jacquard". */
    bool compat;
    const ls_peripheral *peripherals;
    uint32_t peripheral_count;
    const uint32_t *trace; /* signals whose changes are reported */
    uint32_t trace_count;
    uint32_t trace_instance;
    ls_cosim_sink sink;
    bool stop_on_assert; /* a failed assertion stops the instance at its edge */
    void (*log)(void *context, const char *message); /* form chosen, code built; NULL = ignore */
    void *log_context;
    ls_cosim_tier tier;
    /* Table-driven: workgroups that share an instance, at most 1024, and 1,048,576 with those of
     * all instances (LS_E_LIMIT). 0 = 1, or more where the device has grid barriers of its own
     * (ls_caps.grid_barrier_native) and the netlist is wide. A number above 1 chooses the
     * table-driven form, and no other may be asked for then. Results do not depend on it. */
    uint32_t workgroups;
} ls_cosim_params;
#define LS_COSIM_PARAMS_INIT LS_INIT(ls_cosim_params)

/* The device must outlive the cosim; the design may go. Errors of a peripheral's source are
 * LS_E_COMPILE with file and line. Blocks: compiles. */
LS_API ls_status ls_cosim_create(const ls_design *design, const ls_cosim_params *params,
                                 ls_cosim **cosim, ls_error *error);
LS_API void ls_cosim_destroy(ls_cosim **cosim);

/* One input changes at an edge. */
typedef struct ls_edge_op {
    uint32_t edge;        /* of the period, < period_edges; ascending in a list */
    ls_signal_ref signal; /* an input, at most 64 bits */
    uint64_t value;
} ls_edge_op;

/* The periodic schedule, kept on the device: at edge e the operations of e modulo `period_edges`.
 * Replaces the former one. */
LS_API ls_status ls_cosim_schedule(ls_cosim *cosim, uint32_t period_edges, const ls_edge_op *ops,
                                   uint32_t op_count, ls_error *error);
/* Replaces the operations of one edge of the period; only these are uploaded, at the next run. */
LS_API ls_status ls_cosim_patch(ls_cosim *cosim, uint32_t edge, const ls_edge_op *ops,
                                uint32_t op_count, ls_error *error);

/* One input changes at one edge, after the schedule's operations of that edge. */
typedef struct ls_timed_op {
    uint64_t edge; /* ascending; not before the next edge of the instance */
    ls_signal_ref signal;
    uint64_t value;
} ls_timed_op;
/* Appends to the queue of an instance, or of all (LS_COSIM_ALL). What is behind the last queued
 * operation need not be there before the edge it is for is run. */
LS_API ls_status ls_cosim_stimulus(ls_cosim *cosim, uint32_t instance, const ls_timed_op *ops,
                                   uint64_t op_count, ls_error *error);

/* The instance stops after the edge at which a peripheral reports this event; until the next call
 * for it. `source` UINT32_MAX: none any more. */
LS_API ls_status ls_cosim_watch(ls_cosim *cosim, uint32_t instance, uint32_t source, uint32_t kind,
                                uint64_t a, ls_error *error);

typedef enum ls_stop {
    LS_STOP_EDGE,   /* the edge that was asked for is reached */
    LS_STOP_WATCH,  /* the watched event happened */
    LS_STOP_ASSERT, /* an assertion failed (stop_on_assert) */
    LS_STOP_FINISH  /* $finish; no cell of Yosys 0.70 or earlier asks for it */
} ls_stop;

/* Runs every instance that has not finished up to `until_edge` (edges 0 to until_edge - 1 are done
 * then), or until it stops. Calls the sink. LS_E_FAILED: clocks that never settle, by name; a trap.
 * Blocks; `cancel`, if given, is looked at between submissions of at most some milliseconds:
 * LS_E_CANCELLED with everything up to the last edge delivered. */
LS_API ls_status ls_cosim_run(ls_cosim *cosim, uint64_t until_edge, const volatile int *cancel,
                              ls_error *error);
/* The next edge of an instance, and why it stopped last. */
LS_API uint64_t ls_cosim_edge(const ls_cosim *cosim, uint32_t instance);
LS_API ls_stop ls_cosim_stop(const ls_cosim *cosim, uint32_t instance);
/* From now on the instance stands still where it is, as after $finish, while others go on. */
LS_API ls_status ls_cosim_halt(ls_cosim *cosim, uint32_t instance, ls_error *error);

/* --- state, between runs ---------------------------------------------------------------------- */
/* Words of 64 bits, low bits first, (width + 63) / 64 of them. get: any signal. set: an input takes
 * the value at once (the next edge sees it as there before); another signal must be a register,
 * whose value is replaced. Both for one instance or, set, for LS_COSIM_ALL. */
LS_API ls_status ls_cosim_get(ls_cosim *cosim, uint32_t instance, ls_signal_ref signal,
                              uint64_t *words, ls_error *error);
LS_API ls_status ls_cosim_set(ls_cosim *cosim, uint32_t instance, ls_signal_ref signal,
                              const uint64_t *words, ls_error *error);
/* The value of the i-th traced signal at the edge that is being reported, or now. */
LS_API const uint64_t *ls_cosim_traced(const ls_cosim *cosim, uint32_t index);

/* Words [first, first + count) of a memory, counted from 0, (width + 63) / 64 words of 64 bits
 * each. */
LS_API ls_status ls_cosim_memory_read(ls_cosim *cosim, uint32_t instance, uint32_t memory,
                                      uint32_t first, uint32_t count, uint64_t *words,
                                      ls_error *error);
LS_API ls_status ls_cosim_memory_write(ls_cosim *cosim, uint32_t instance, uint32_t memory,
                                       uint32_t first, uint32_t count, const uint64_t *words,
                                       ls_error *error);

/* Fills a memory from a file, in one instance or in all (LS_COSIM_ALL). Words without contents in
 * the file stay as they are. */
LS_API ls_status ls_cosim_memory_load(ls_cosim *cosim, uint32_t instance, uint32_t memory,
                                      const ls_image_params *params, ls_error *error);

/* 32-bit words of a peripheral's private memory: how a host talks to it (a UART's queue of bytes).
 */
LS_API ls_status ls_cosim_peripheral_read(ls_cosim *cosim, uint32_t instance, uint32_t peripheral,
                                          uint32_t first, uint32_t count, uint32_t *words,
                                          ls_error *error);
LS_API ls_status ls_cosim_peripheral_write(ls_cosim *cosim, uint32_t instance, uint32_t peripheral,
                                           uint32_t first, uint32_t count, const uint32_t *words,
                                           ls_error *error);

/* Everything an instance is made of: values, memories, peripherals, its edge; not queued stimulus.
 * Restores into any cosim of the same design and peripherals, on any device; what the queue of this
 * instance alone held is dropped then, so that what is to come can be queued again. Released with
 * ls_bytes_destroy (lockstep/program.h). */
LS_API ls_status ls_cosim_save(ls_cosim *cosim, uint32_t instance, void **bytes, size_t *size,
                               ls_error *error);
LS_API ls_status ls_cosim_restore(ls_cosim *cosim, uint32_t instance, const void *bytes,
                                  size_t size, ls_error *error);

/* A number made of the values of all outputs of the top after every edge so far: equal for equal
 * runs. */
LS_API ls_status ls_cosim_digest(ls_cosim *cosim, uint32_t instance, uint64_t *digest,
                                 ls_error *error);

typedef struct ls_cosim_counters {
    size_t struct_size;
    ls_cosim_form form;                      /* in use now */
    bool optimized;                          /* optimised code is in use */
    uint64_t edges, submissions;             /* edges: of all instances */
    uint64_t blocks_evaluated, blocks_total; /* compiled: blocks of the netlist's code that were
                                                evaluated, and that there are, summed over edges */
    uint64_t device_ns, drain_ns;            /* waiting for the device; delivering to the sink */
} ls_cosim_counters;
LS_API void ls_cosim_count(const ls_cosim *cosim, ls_cosim_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
