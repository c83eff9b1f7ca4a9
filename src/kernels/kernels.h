/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel C sources that are part of the library, embedded by tools/embed.py as zero-terminated text
 * whose _size does not count the zero. */
#ifndef LS_KERNELS_KERNELS_H
#define LS_KERNELS_KERNELS_H

#include <stddef.h>

/* The math library: the files of src/kernels/math in dependency order, one text. Each function NAME of the
 * language (exp, sin, ...) is `static inline f32 ls_NAME(...)` there. It has no #include, and all
 * its other identifiers start with ls_math_ or LS_MATH_. */
extern const char ls__kernels_math_source[];
extern const size_t ls__kernels_math_source_size;

#endif
