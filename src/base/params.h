/* SPDX-License-Identifier: Apache-2.0 */
/* Params and result structs of callers that were compiled against another version of the
 * headers. */
#ifndef LS_BASE_PARAMS_H
#define LS_BASE_PARAMS_H

#include "lockstep/base.h"

/* Copies a caller's params struct into *out (`size` bytes, zeroed first): fields the caller does
 * not know are zero; fields this library does not know must be zero. NULL `in` counts as all zero
 * when `optional`. */
ls_status ls__params_in(void *out, size_t size, const void *in, bool optional, const char *what,
                        ls_error *error);
/* Copies a result into the caller's struct as far as the caller knows it; a struct_size of 0 counts
 * as `size`. */
void ls__params_out(void *out, const void *in, size_t size);
/* LS_E_INVALID_ARGUMENT: the call was given nowhere to write its result. */
ls_status ls__fail_no_result(ls_error *error, const char *call);

#endif
