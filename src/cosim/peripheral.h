/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peripherals of a run as one Kernel C text: what docs/peripherals.md promises to a source, and the
 * functions through which the engine steps them.
 *
 * For peripheral number K of the list the text defines
 *
 *     static void ls_peripheral_K(u64 *pins, u32 *memory, const u8 *image, u64 *log, u64 edge,
 *                                 u32 instance)
 *
 * which steps it once, to be called by text behind it. Where places are constants, what it does at
 * a quiet edge is a few loads and comparisons without bounds checks. It reads and writes
 *
 * pins[j * LS_PIN_STRIDE]: pin j of its list `pins`; the macro is defined in front of the text. The
 * caller puts the values of the signals there, of the driven ones too; where the value of a driven
 * pin differs afterwards, the new one is to be applied to the signal at the next edge (peripherals
 * in order of the list, so the last one wins). Values of driven pins are cut to their widths; the
 * caller need not.
 *
 * memory[i]: its private words; an index beyond them reaches nothing.
 *
 * image[i]: all images one behind the other; where its own lies is in the text.
 *
 * log[i]: of this instance, of all its peripherals; LS__PERIPHERAL_LOG_* below.
 *
 * The caller leaves room for LS__PERIPHERAL_EVENTS records a peripheral before an edge, and empties
 * the log by setting both counts to 0.
 */
#ifndef LS_COSIM_PERIPHERAL_H
#define LS_COSIM_PERIPHERAL_H

#include "lockstep/cosim.h"
#include "lockstep/program.h"

enum {
    LS__PERIPHERAL_EVENTS = 4, /* of one peripheral at one edge, at most; more are dropped */
    /* Words of a log. */
    LS__PERIPHERAL_LOG_COUNT = 0,   /* records in the log */
    LS__PERIPHERAL_LOG_STAMPED = 1, /* the same between steps */
    LS__PERIPHERAL_LOG_DROPPED = 2, /* events beyond the 4, since the run began */
    LS__PERIPHERAL_LOG_RECORDS = 4, /* the first record */
    /* Words of a record. */
    LS__PERIPHERAL_RECORD_EDGE = 0,
    LS__PERIPHERAL_RECORD_KIND = 1, /* number of the peripheral << 32 | kind */
    LS__PERIPHERAL_RECORD_A = 2,
    LS__PERIPHERAL_RECORD_B = 3,
    LS__PERIPHERAL_RECORD_WORDS = 4
};

/* A pin that is connected to a signal. */
typedef struct ls__peripheral_pin {
    const char *name;
    ls_signal_ref signal;
    bool drives;
    uint64_t initial; /* drives: what the signal is given before the first edge */
} ls__peripheral_pin;

typedef struct ls__peripheral {
    const char *name, *type;
    const ls__peripheral_pin *pins; /* the connected ones, in the order of their words */
    uint32_t pin_count;
    uint32_t memory_words;
    const uint32_t *memory_init; /* NULL: zeros */
    uint64_t image_at, image_bytes;
} ls__peripheral;

typedef struct ls__peripherals {
    const ls__peripheral *items;
    uint32_t count;
    const uint8_t *image; /* of all; NULL when image_bytes is 0 */
    uint64_t image_bytes;
    const char *text; /* Kernel C, zero-terminated; to be compiled with the two below */
    size_t length;
} ls__peripherals;

/* Completes what was given by what built-in types declare, checks it, and writes the text. All is
 * copied. LS_E_NOT_FOUND, LS_E_INVALID_ARGUMENT: the peripheral, and what is wrong with it. */
ls_status ls__peripherals_create(const ls_peripheral *peripherals, uint32_t count,
                                 ls__peripherals **out, ls_error *error);
void ls__peripherals_destroy(ls__peripherals **peripherals);

/* For ls_compile_params: the path of the text and the reader of its includes (no context). */
extern const char ls__peripherals_path[];
bool ls__peripherals_include(void *context, const char *path, char **text, size_t *length);

#endif
