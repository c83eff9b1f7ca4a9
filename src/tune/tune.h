/* SPDX-License-Identifier: Apache-2.0 */
/* The tuner: what its files share. lockstep/tune.h says what it does. */
#ifndef LS_TUNE_TUNE_H
#define LS_TUNE_TUNE_H

#include "base/hash.h"
#include "lockstep/tune.h"

/* The constants of a module that name further values and are not fixed. */
typedef struct ls__tune_axes {
    ls_spec_info *items; /* owned; what they point to belongs to the module */
    uint32_t count;
} ls__tune_axes;
ls_status ls__tune_axes_of(const ls_module *module, const ls_define *defines, uint32_t define_count,
                           ls__tune_axes *axes, ls_error *error);
void ls__tune_axes_finish(ls__tune_axes *axes);
/* The name of the kernel, or of the only one where `kernel` is NULL. */
ls_status ls__tune_kernel(const ls_module *module, const char *kernel, ls_kernel_info *info,
                          ls_error *error);

/* Which of `count` candidates to take. The first is the default, and stays where it is as fast as
 * the best, but for noise; of equal ones the first is taken. UINT64_MAX: was left out. */
uint32_t ls__tune_choose(const uint64_t *times_ns, uint32_t count);

/* What a choice is kept under (keep.c). `module` has the defaults of all axes. */
ls_status ls__tune_key(ls_device *device, const ls_module *module, const char *kernel,
                       bool unchecked, const ls__tune_axes *axes, ls__digest *key, ls_error *error);
/* False when nothing is kept, or it does not belong to the axes. values: [axes->count]. */
bool ls__tune_find(const ls_device *device, const ls__digest *key, const ls__tune_axes *axes,
                   ls_define *values);
/* NULL, or why it could not be kept. */
const char *ls__tune_keep(const ls_device *device, const ls__digest *key, const ls__tune_axes *axes,
                          const ls_define *values);

#endif
