/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in types of peripherals: what a configuration may leave out. */
#ifndef LS_COSIM_PERIPHERAL_TYPES_H
#define LS_COSIM_PERIPHERAL_TYPES_H

#include "base/source_text.h"
#include "lockstep/base.h"

typedef struct ls__type_pin {
    const char *name;
    bool drives;
    uint64_t value;        /* read when not connected; drives: the value at first, */
    const char *parameter; /* or that of this parameter */
} ls__type_pin;

typedef struct ls__type_parameter {
    const char *name;
    uint64_t value; /* when not given */
} ls__type_parameter;

typedef struct ls__peripheral_type {
    const char *name;
    const ls__type_pin *pins;
    uint32_t pin_count;
    const ls__type_parameter *parameters;
    uint32_t parameter_count;
    /* Values in the order of `parameters`. NULL when they are good, else what is wrong. */
    const char *(*check)(const uint64_t *parameters);
    uint64_t (*memory_words)(const uint64_t *parameters); /* that it needs */
} ls__peripheral_type;

extern const ls__peripheral_type ls__peripheral_types[];
extern const uint32_t ls__peripheral_type_count;

/* Sources, by tools/embed.py: "uart_tx.kc" and so on. */
extern const ls__source_text ls__peripheral_sources[];
extern const uint32_t ls__peripheral_sources_count;

#endif
