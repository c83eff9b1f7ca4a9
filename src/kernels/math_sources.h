/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The math library's Kernel C sources, embedded by tools/embed.py, in the form in which the front
 * end takes them:
 *
 *     ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
 *
 * Each function NAME of the language (exp, sin, ...) is `static inline f32 ls_NAME(...)` in
 * NAME.kc. All other identifiers there start with ls_math_ or LS_MATH_. Texts are zero-terminated;
 * the length does not count the zero.
 */
#ifndef LS_KERNELS_MATH_SOURCES_H
#define LS_KERNELS_MATH_SOURCES_H

#include "base/source_text.h"

extern const ls__source_text ls__kernels_math[];
extern const uint32_t ls__kernels_math_count;

#endif
