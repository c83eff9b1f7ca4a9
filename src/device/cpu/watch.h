/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compiled kernels find out of range: of each site the lowest (workgroup, lane) and, of its
 * accesses there, the first. So what is reported does not depend on threads.
 */
#ifndef LS_DEVICE_CPU_WATCH_H
#define LS_DEVICE_CPU_WATCH_H

#include "core/backend.h"
#include "emit/llvm/abi.h"

typedef struct ls__cpu_watch ls__cpu_watch;

/* For one program; used by one dispatch at a time. */
ls_status ls__cpu_watch_create(uint32_t site_count, ls__cpu_watch **watch, ls_error *error);
void ls__cpu_watch_destroy(ls__cpu_watch **watch); /* accepts NULL */

/* Before a dispatch. The arrays are the dispatch's, by buffer index. */
void ls__cpu_watch_begin(ls__cpu_watch *watch, uint8_t *const *buffers, const uint64_t *ranges,
                         uint32_t buffer_count);

/* The ls__cpu_on_outside; args->context is the watch. */
void ls__cpu_watch_note(const ls__cpu_args *args, const ls__cpu_outside *outside);

/* After a dispatch: how many sites found something, and what, in order of (workgroup, lane, site).
 * Valid until the next ls__cpu_watch_begin. */
uint32_t ls__cpu_watch_end(ls__cpu_watch *watch, const ls__outside **found);

#endif
