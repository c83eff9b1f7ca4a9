/* SPDX-License-Identifier: Apache-2.0 */
/* Filling an ls_error. All accept error == NULL and return the code, so that `return ls__fail(...)`
 * reads well. */
#ifndef LS_BASE_STATUS_H
#define LS_BASE_STATUS_H

#include "lockstep/base.h"

/* Sets code = cause = code, the message, and `retryable` for BUSY and TIMEOUT; clears where and
 * hint. Too long text is cut and ends in "...". */
ls_status ls__fail(ls_error *error, ls_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds to an error already filled; each returns error->code, or `code` when error is NULL. */
ls_status ls__fail_where(ls_error *error, ls_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
ls_status ls__fail_hint(ls_error *error, ls_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Wraps: keeps the text, moves the code to `cause`, sets `outcome` (NOT_SUBMITTED, FAILED,
 * INDETERMINATE); retryable survives only NOT_SUBMITTED. Returns `outcome`. */
ls_status ls__fail_as(ls_error *error, ls_status outcome);
ls_status ls__fail_oom(ls_error *error, size_t requested_bytes);

#endif
