/* SPDX-License-Identifier: Apache-2.0 */
/* Results of operations on their way to whoever asked to see them (ls_session_pool_params). */
#ifndef LS_LLM_TRACE_H
#define LS_LLM_TRACE_H

#include "llm/pool.h"

/* Records, behind the operation `of` of `batch` that left its result in `buffer`, that it is
 * downloaded; *noted says whether it is a command more. Integers, scores and the cache are not:
 * what is made of them is. */
ls_status ls__trace_record(const ls_session_pool *pool, ls_batch *commands, ls__token_batch *batch,
                           const ls__step *of, ls_buffer *buffer, bool many, bool *noted,
                           ls_error *error);
/* After recording: memory for what comes. */
ls_status ls__trace_prepare(ls__token_batch *batch, ls_error *error);
/* After a submission of the pool's round: tells it all. */
void ls__trace_report(const ls_session_pool *pool, const ls__token_batch *batch);
void ls__trace_finish(ls__token_batch *batch);

#endif
