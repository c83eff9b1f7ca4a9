/* SPDX-License-Identifier: Apache-2.0 */
/* The NAME=VALUE arguments of `lockstep run`, matched with the parameters of a kernel. */
#ifndef LS_CLI_BIND_H
#define LS_CLI_BIND_H

#include "cli/array.h"
#include "lockstep/program.h"

typedef struct ls__cli_binding {
    ls_kernel_info kernel;
    ls_param_info *params; /* [kernel.param_count] */
    ls__cli_array *arrays; /* [kernel.buffer_count], by buffer index */
    uint8_t *scalars;      /* [kernel.scalar_bytes], the kernel's scalar block */
} ls__cli_binding;

/* Finds the kernel (NULL: the only one there is) and gives every parameter its value; each must be
 * given once. A file with contents of a buffer may have `file_limit_bytes`. `binding` must be
 * finished in every case. */
ls_status ls__cli_bind(const ls_module *module, const char *kernel, char *const *arguments,
                       uint32_t argument_count, uint64_t file_limit_bytes,
                       ls__cli_binding *binding, ls_error *error);
void ls__cli_bind_finish(ls__cli_binding *binding);

/* The array of the pointer parameter called `name`. */
ls_status ls__cli_bind_find(ls__cli_binding *binding, const char *name, uint32_t *buffer,
                            ls_error *error);

#endif
