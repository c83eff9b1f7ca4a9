/* SPDX-License-Identifier: Apache-2.0 */
/* Which buffers hold floats, how many a token has in each, and the callback. */
#include "llm/trace.h"

#include "base/mem.h"
#include "base/status.h"

/* Floats of a token in the buffer; 0: it is none of those that are shown. `rows`: of the
 * tokens that give logits alone. */
static uint32_t floats_of(const ls_session_pool *s, const ls__outputs *outputs,
                          const ls_buffer *buffer, bool *rows)
{
    const ls_model_info *i = &s->model->info;
    const struct {
        const ls_buffer *buffer;
        uint32_t floats;
        bool rows;
    } known[] = {
        {s->residual, i->width, false},
        {s->normed, i->width, false},
        {s->query, i->heads * i->head_width, false},
        {s->key, i->kv_heads * i->head_width, false},
        {s->value, i->kv_heads * i->head_width, false},
        {s->gate, i->inner_width, false},
        {s->up, i->inner_width, false},
        {s->inner, i->inner_width, false},
        {outputs->last, i->width, true},
        {outputs->made, i->vocabulary, true},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].buffer == buffer) {
            *rows = known[k].rows;
            return known[k].floats;
        }
    return 0;
}

ls_status ls__trace_record(const ls_session_pool *s, ls_batch *commands, ls__token_batch *batch,
                           const ls__step *of, ls_buffer *buffer, bool many, bool *noted,
                           ls_error *error)
{
    bool rows = false;
    uint32_t floats = floats_of(s, batch->outputs, buffer, &rows);
    *noted = floats != 0;
    if (!floats)
        return LS_OK;
    if (batch->point_count == batch->point_capacity) {
        uint32_t capacity = batch->point_capacity ? batch->point_capacity * 2 : 256;
        ls__trace_point *points = ls__mem_realloc(batch->points, capacity, sizeof *points);
        if (!points)
            return ls__fail_oom(error, capacity * sizeof *points);
        batch->points = points;
        batch->point_capacity = capacity;
    }
    uint64_t columns = rows ? batch->outputs->most : many ? s->chunk : 1;
    batch->points[batch->point_count] =
        (ls__trace_point){.of = *of, .floats = floats, .first = batch->traced, .rows = rows};
    batch->traced += columns * floats;
    return ls_batch_download_slot(commands, (ls_range){buffer, 0, columns * floats * 4},
                                  LS_MEM_NONE, LS__SLOTS + batch->point_count++, NULL, error);
}

ls_status ls__trace_prepare(ls__token_batch *batch, ls_error *error)
{
    batch->values = ls__mem_alloc(batch->traced, sizeof *batch->values);
    batch->slots = ls__mem_alloc(LS__SLOTS + (size_t)batch->point_count, sizeof *batch->slots);
    if (!batch->values || !batch->slots)
        return ls__fail_oom(error, batch->traced * sizeof *batch->values);
    for (uint32_t i = 0; i < batch->point_count; i++)
        batch->slots[LS__SLOTS + i].download = batch->values + batch->points[i].first;
    return LS_OK;
}

void ls__trace_report(const ls_session_pool *s, const ls__token_batch *batch)
{
    const ls__round *round = &s->round;
    for (uint32_t i = 0; i < batch->point_count; i++) {
        const ls__trace_point *point = &batch->points[i];
        const ls__step *step = &point->of;
        uint32_t count = point->rows ? round->row_count : round->count;
        for (uint32_t t = 0; t < count; t++) {
            uint32_t column = point->rows ? round->rows[t] : t;
            ls_operation_result result = {
                step->operation, step->layer, round->places[2 * column],
                batch->values + point->first + (uint64_t)t * point->floats, point->floats};
            s->trace(s->trace_context, &result);
        }
    }
}

void ls__trace_finish(ls__token_batch *batch)
{
    ls__mem_free(batch->points);
    ls__mem_free(batch->values);
    ls__mem_free(batch->slots);
}
