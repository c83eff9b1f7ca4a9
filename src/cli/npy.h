/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of NumPy's .npy files, versions 1.0, 2.0 and 3.0: read from untrusted bytes, and
 * written. The format is specified in NumPy's documentation ("numpy.lib.format"): a magic string, a
 * version, the length of the header, and a Python dictionary with the keys 'descr', 'fortran_order'
 * and 'shape', padded so that the data starts at a multiple of 64.
 *
 * Supported is what a kernel can take: C order, little-endian bool, integers, floats, void and
 * structured types without Python objects. Anything else is LS_E_UNSUPPORTED with a hint.
 */
#ifndef LS_CLI_NPY_H
#define LS_CLI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "lockstep/base.h"

#define LS__NPY_MAX_DIMENSIONS 32

typedef struct ls__npy {
    char kind;           /* 'b' bool, 'i', 'u', 'f', 'V': void or structured */
    uint32_t item_bytes; /* > 0 */
    ls__str descr;       /* the type as it stands in the header, with quotes or brackets */
    uint32_t dimensions; /* 0: a single value */
    uint64_t shape[LS__NPY_MAX_DIMENSIONS];
    uint64_t count; /* product of the shape; 1 without dimensions */
    size_t data_offset;
} ls__npy;

/* Reads the header of a whole file of `size` bytes. On success data_offset + count * item_bytes ==
 * size. `npy->descr` points into `bytes`. Never allocates. */
ls_status ls__npy_parse(const void *bytes, size_t size, ls__npy *npy, ls_error *error);

/* Appends magic and header for kind, item_bytes, descr (made from kind and item_bytes when empty),
 * dimensions and shape: version 1.0, or 3.0 when that is too short. */
void ls__npy_print(const ls__npy *npy, ls__strbuf *out);

#endif
