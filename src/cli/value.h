/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values: between text, numbers and the bytes of a memory type. The host is little-endian,
 * like the devices and the files.
 */
#ifndef LS_CLI_VALUE_H
#define LS_CLI_VALUE_H

#include "lockstep/base.h"
#include "lockstep/ir.h"

/* What .npy files and messages need to know of a memory type. */
typedef struct ls__cli_type {
    const char *name; /* as in Kernel C */
    uint32_t bytes;   /* 0 for LS_MEM_NONE */
    char npy_kind;    /* 'b', 'i', 'u', 'f'; 'V' for LS_MEM_NONE. bf16 travels as 'u', its bits. */
    const char *numpy_name;
    bool is_float;
} ls__cli_type;
const ls__cli_type *ls__cli_type_of(ls_mem mem);

/* LS_MEM_NONE when there is no such type. */
ls_mem ls__cli_type_find(const char *name, size_t length);

/* Text to bytes. Integers in decimal or 0x form must fit the type; bool is true, false, 1 or 0;
 * floats are what strtod reads, rounded to nearest even, and refused when they overflow. */
ls_status ls__cli_value_parse(ls_mem mem, const char *text, void *out, ls_error *error);

/* Numbers to bytes: an integer wraps, a float type rounds it to nearest even. */
void ls__cli_value_from_integer(ls_mem mem, uint64_t value, void *out);

/* 64 random bits to bytes: all values of an integer type, or a float in [0, 1). */
void ls__cli_value_from_random(ls_mem mem, uint64_t bits, void *out);

#endif
