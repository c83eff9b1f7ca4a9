/* SPDX-License-Identifier: Apache-2.0 */
/* Events of peripherals: their names and payloads, files of them, and a comparison with a file. */
#ifndef LS_TESTBENCH_EVENTS_H
#define LS_TESTBENCH_EVENTS_H

#include <jansson.h>

#include "lockstep/cosim.h"
#include "testbench/plan.h"

/* A new value; NULL without memory. */
json_t *ls__event_payload(const ls__model *model, uint32_t kind, uint64_t a, uint64_t b);
/* The other way round: what a payload in a file has as `a`, and which number the event has. False:
 * the model knows no such event. */
bool ls__event_find(const ls__model *model, const char *name, const json_t *payload, uint32_t *kind,
                    uint64_t *a);

typedef struct ls__events ls__events;

/* `time_of` as for waveforms, asked when an event comes. With compat the time in files is the first
 * edge of the batch of 1,024 that the event is in, counted from the end of reset. */
ls_status ls__events_create(const ls__plan *plan, uint32_t instances, bool compat,
                            uint64_t (*time_of)(void *context, uint64_t edge), void *context,
                            ls__events **events, ls_error *error);
void ls__events_destroy(ls__events **events); /* accepts NULL, writes NULL */

/* Batches of one edge until here, which compat has while it sends something. */
void ls__events_single_until(ls__events *events, uint64_t edge);
void ls__events_add(ls__events *events, const ls_cosim_event *event);
/* Of an instance or of LS_COSIM_ALL. */
uint64_t ls__events_count(const ls__events *events, uint32_t instance);

/* {"events": [{timestamp, peripheral, event, payload}]}. An instance, or all, with a member more.
 */
ls_status ls__events_write(const ls__events *events, const char *path, uint32_t instance,
                           ls_error *error);
/* The transfers on buses: tick,bus,protocol,dir,addr,data,resp,burst. */
ls_status ls__events_write_buses(const ls__events *events, const char *path, uint32_t instance,
                                 ls_error *error);
/* A file of events as it is written: *root, which the caller releases. LS_E_FORMAT: it is none. */
ls_status ls__events_read(const char *path, json_t **root, ls_error *error);
/* Whether the bytes that the events of such a file carry come in this order at the beginning, for
 * each peripheral and event on its own (compat: all together). *mismatch: what differs, for people;
 * empty when nothing does. */
ls_status ls__events_compare(const ls__events *events, const json_t *root, uint32_t instance,
                             char mismatch[256], ls_error *error);

#endif
