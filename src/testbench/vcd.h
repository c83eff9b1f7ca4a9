/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Value change dumps (IEEE 1364-2005, clause 18): a reader of untrusted bytes and a writer, both
 * streaming, so that a file of any length takes bounded memory.
 */
#ifndef LS_TESTBENCH_VCD_H
#define LS_TESTBENCH_VCD_H

#include "lockstep/base.h"

/* --- reading ---------------------------------------------------------------------------------- */
typedef struct ls__vcd_reader ls__vcd_reader;

/* Where the bytes come from: fills up to `capacity` of them, *count = 0 at the end. */
typedef struct ls__vcd_source {
    ls_status (*read)(void *context, void *bytes, size_t capacity, size_t *count, ls_error *error);
    void *context;
    const char *name; /* of the file, for messages; not copied */
} ls__vcd_source;

typedef struct ls__vcd_variable {
    const char *scope; /* path, '.' between; "" outside any */
    const char *text;  /* the name as it stands, with what looks like a range; no backslash */
    const char *name;  /* the name without it */
    uint32_t width;
    bool has_range;
    int32_t msb, lsb; /* of the range; "[3]" is both */
    bool is_ignored;  /* real, event, string: has no bits */
    uint32_t code;    /* variables with one code are one signal */
} ls__vcd_variable;

/* Reads the header. `warn` (may be NULL) hears of what is odd but no error. Errors are LS_E_FORMAT
 * with file and line. */
ls_status ls__vcd_reader_open(const ls__vcd_source *source,
                              void (*warn)(void *context, const char *message), void *context,
                              ls__vcd_reader **reader, ls_error *error);
void ls__vcd_reader_close(ls__vcd_reader **reader); /* accepts NULL, writes NULL */

const ls__vcd_variable *ls__vcd_reader_variables(const ls__vcd_reader *reader, uint32_t *count);
uint32_t ls__vcd_reader_code_count(const ls__vcd_reader *reader);
/* As in the file, "1 ns"; "1 ns" also when the file has none. */
const char *ls__vcd_reader_timescale(const ls__vcd_reader *reader);

typedef enum ls__vcd_kind { LS__VCD_END, LS__VCD_TIME, LS__VCD_VALUE } ls__vcd_kind;

typedef struct ls__vcd_item {
    ls__vcd_kind kind;
    uint64_t time;
    uint32_t code;
    const char *digits; /* 0 1 x z, the highest bit first; valid until the next call */
    uint32_t digit_count;
} ls__vcd_item;

/* Times ascend or stay. Values before the first time are of time 0. Values of ignored variables are
 * passed over. After an error only close may follow. */
ls_status ls__vcd_reader_next(ls__vcd_reader *reader, ls__vcd_item *item, ls_error *error);

/* The digits as `width` bits in words of 64, low bits first: extended as the standard says, x and z
 * as 0, which returns true. */
bool ls__vcd_bits(const char *digits, uint32_t digit_count, uint32_t width, uint64_t *words);

/* --- writing ---------------------------------------------------------------------------------- */
/*
 * Values are handed over in a compact form to a thread of the writer, which formats and writes
 * them; when it falls behind, calls block. The file grows in whole time steps: whatever ends the
 * run, it ends in a whole line of a whole step, but for a pipe whose reader leaves.
 */
typedef struct ls__vcd_writer ls__vcd_writer;

typedef struct ls__vcd_signal {
    const char *name; /* path, '.' between */
    uint32_t width;
    int32_t offset; /* index of the lowest bit */
    bool upto;
    bool is_register;
} ls__vcd_signal;

typedef struct ls__vcd_writer_params {
    const char *path;
    const char *timescale; /* "1 ps" */
    const char *scope;     /* of the whole */
    const ls__vcd_signal *signals;
    uint32_t signal_count;
    /* Every bit a wire of its own in one scope, the highest of a signal first, and the values of
     * the first time behind a $dumpvars that has no $end: the layout of --compat jacquard. */
    bool is_flat;
} ls__vcd_writer_params;

/* Opens the file. Copies what it needs. */
ls_status ls__vcd_writer_open(const ls__vcd_writer_params *params, ls__vcd_writer **writer,
                              ls_error *error);

/* Begins a time step: only when a value follows; one of the same time goes on with the former. The
 * first one must hold all signals, which end with ls__vcd_writer_dumped; only then may another
 * begin. An earlier write that failed is reported here. May block. */
ls_status ls__vcd_writer_time(ls__vcd_writer *writer, uint64_t time, ls_error *error);
void ls__vcd_writer_value(ls__vcd_writer *writer, uint32_t signal, const uint64_t *words);
void ls__vcd_writer_dumped(ls__vcd_writer *writer);

/* Between two time steps: what is there goes to the file soon. Reports as ls__vcd_writer_time. */
ls_status ls__vcd_writer_flush(ls__vcd_writer *writer, ls_error *error);

/* Writes the rest. Blocks. Writes NULL; accepts NULL. */
ls_status ls__vcd_writer_close(ls__vcd_writer **writer, ls_error *error);

#endif
