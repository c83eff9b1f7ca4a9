/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that share work on the host while a model is loaded. */
#ifndef LS_LLM_WORKERS_H
#define LS_LLM_WORKERS_H

#include <stdint.h>

typedef struct ls__workers ls__workers;

/* As many as the process may use, the caller among them; fewer where the system gives no more.
 * NULL: out of memory. */
ls__workers *ls__workers_create(void);
void ls__workers_destroy(ls__workers **workers);
/* Calls do_item(context, i) for i below `count`, in any order, on all of them. Blocks until all is
 * done. */
void ls__workers_run(ls__workers *workers, uint64_t count,
                     void (*do_item)(void *context, uint64_t index), void *context);

#endif
