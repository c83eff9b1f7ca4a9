/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights from a file to the device. All tensors are looked at before the first is laid out, which
 * may take minutes: what is missing, what has another shape, what has no place in such a model,
 * and whether there is memory. They lie one after another in few buffers, the stores.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "llm/model.h"
#include "llm/workers.h"

/* A tensor and where it goes. */
typedef struct move {
    const ls_gguf_tensor *tensor;
    ls__weight *weight;
} move;

typedef struct loader {
    const ls_gguf *gguf;
    ls_model *model;
    uint64_t max_shard_bytes;
    move *moves;
    uint32_t move_count;
    uint64_t shard_count; /* of all */
    ls__workers *workers;
    ls_error *error;
} loader;

/* --- what is there ---------------------------------------------------------------------------- */

static ls_status find_tensor(const loader *l, const char *name, uint64_t columns, uint64_t rows,
                             const ls_gguf_tensor **tensor)
{
    const ls_gguf_tensor *t = *tensor = ls_gguf_find_tensor(l->gguf, name);
    if (!t)
        return ls__fail(l->error, LS_E_NOT_FOUND, "the file has no tensor %s", name);
    if (t->dimensions[0] != columns || t->dimensions[1] != rows || t->elements != columns * rows)
        return ls__fail(l->error, LS_E_FORMAT,
                        "tensor %s is %" PRIu64 " x %" PRIu64 ", not %" PRIu64 " x %" PRIu64, name,
                        t->dimensions[0], t->dimensions[1], columns, rows);
    return LS_OK;
}

/* Such as a norm's weights. */
static ls_status find_vector(loader *l, const char *name, uint64_t elements, ls__weight *weight)
{
    const ls_gguf_tensor *tensor;
    ls_status status = find_tensor(l, name, elements, 1, &tensor);
    if (status == LS_OK && tensor->type != LS_GGUF_TYPE_F32 && tensor->type != LS_GGUF_TYPE_F16 &&
        tensor->type != LS_GGUF_TYPE_BF16)
        status = ls__fail(l->error, LS_E_UNSUPPORTED, "tensor %s is of type %s, not of floats",
                          name, ls_gguf_type_name(tensor->type));
    if (status != LS_OK)
        return status;
    weight->columns = (uint32_t)elements;
    weight->rows = weight->shard_rows = weight->shard_count = 1;
    l->moves[l->move_count++] = (move){tensor, weight};
    l->shard_count++;
    return LS_OK;
}

/* How many rows fit into a buffer. */
static ls_status find_shards(loader *l, const char *name, ls__weight *w)
{
    uint64_t panel_bytes = ls__matrix_bytes(w->form, w->columns, LS__LANES);
    uint64_t panels = l->max_shard_bytes / panel_bytes;
    if (!panels) {
        ls__fail(l->error, LS_E_LIMIT,
                 "tensor %s: %d rows have %" PRIu64 " bytes, where a kernel can be given %" PRIu64,
                 name, LS__LANES, panel_bytes, l->max_shard_bytes);
        return ls__fail_hint(l->error, LS_E_LIMIT, "another device may have a higher limit");
    }
    w->shard_rows = panels < (w->rows - 1) / LS__LANES + 1 ? (uint32_t)panels * LS__LANES : w->rows;
    w->shard_count = (w->rows - 1) / w->shard_rows + 1;
    l->shard_count += w->shard_count;
    return LS_OK;
}

static ls_status find_matrix(loader *l, const char *name, uint64_t columns, uint64_t rows,
                             ls__weight *weight)
{
    const ls_gguf_tensor *tensor;
    ls_status status = find_tensor(l, name, columns, rows, &tensor);
    if (status != LS_OK)
        return status;
    weight->form = ls__matrix_form_of(tensor->type);
    weight->columns = (uint32_t)columns;
    weight->rows = (uint32_t)rows;
    l->moves[l->move_count++] = (move){tensor, weight};
    return find_shards(l, name, weight);
}

enum { ONE, WIDTH, INNER, QUERIES, KEYS, HEAD };
static const struct {
    const char *name;
    int columns, rows;
} layer_tensors[] = {
#define X(name, file_name, columns, rows) {file_name, columns, rows},
    LS__LAYER_TENSORS(X)
#undef X
};

static ls_status find_layer(loader *l, uint32_t index, ls__layer *layer)
{
    const ls_model_info *i = &l->model->info;
    const ls__family *family = l->model->family;
    const uint64_t extents[] = {1,
                                i->width,
                                i->inner_width,
                                (uint64_t)i->heads * i->head_width,
                                (uint64_t)i->kv_heads * i->head_width,
                                i->head_width};
    ls_status status = LS_OK;
    for (int t = 0; status == LS_OK && t < LS__LAYER_TENSOR_COUNT; t++) {
        char name[64];
        uint64_t columns = extents[layer_tensors[t].columns], rows = extents[layer_tensors[t].rows];
        bool must = (LS__COMMON_PARTS | family->must) >> t & 1;
        snprintf(name, sizeof name, "blk.%" PRIu32 ".%s", index, layer_tensors[t].name);
        if (!must && !((family->may >> t & 1) && ls_gguf_find_tensor(l->gguf, name)))
            continue;
        status = layer_tensors[t].rows == ONE
                     ? find_vector(l, name, columns, &layer->weights[t])
                     : find_matrix(l, name, columns, rows, &layer->weights[t]);
    }
    return status;
}

/* Llama 3's scaling of positions. */
static ls_status load_rope_factors(const loader *l)
{
    ls_model *m = l->model;
    const ls_gguf_tensor *tensor;
    uint32_t pairs = m->ropes[0].pairs;
    if (!ls_gguf_find_tensor(l->gguf, "rope_freqs.weight"))
        return LS_OK;
    ls_status status = find_tensor(l, "rope_freqs.weight", pairs, 1, &tensor);
    if (status != LS_OK)
        return status;
    m->ropes[0].factors = m->rope_factors = ls__mem_alloc(pairs, sizeof *m->rope_factors);
    if (!m->rope_factors)
        return ls__fail_oom(l->error, pairs * sizeof *m->rope_factors);
    status = ls_gguf_dequantize(tensor, 0, pairs, m->rope_factors, l->error);
    for (uint32_t i = 0; status == LS_OK && i < pairs; i++)
        if (!(m->rope_factors[i] >= 1e-6f && m->rope_factors[i] <= 1e6f))
            status = ls__fail(l->error, LS_E_FORMAT,
                              "rope_freqs.weight[%" PRIu32 "] is %g, where 1e-6 to 1e6 can be", i,
                              (double)m->rope_factors[i]);
    return status;
}

static bool has_place(const ls_model *m, const char *name)
{
    static const char *const others[] = {"token_embd.weight", "output_norm.weight", "output.weight",
                                         "rope_freqs.weight"};
    char whole[64];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    uint32_t parts = LS__COMMON_PARTS | m->family->must | m->family->may;
    const char *end = strncmp(name, "blk.", 4) == 0 ? strchr(name + 4, '.') : NULL;
    for (uint32_t i = 0; end && i < m->info.layers; i++) {
        int length = snprintf(whole, sizeof whole, "blk.%" PRIu32 ".", i);
        if (strncmp(name, whole, (size_t)length) != 0)
            continue;
        for (int t = 0; t < LS__LAYER_TENSOR_COUNT; t++)
            if ((parts >> t & 1) && strcmp(end + 1, layer_tensors[t].name) == 0)
                return true;
    }
    return false;
}

/* A tensor that is not used would be a part of the model that is left out. */
static ls_status refuse_other_tensors(const loader *l)
{
    const ls_gguf_tensor *tensor;
    for (uint32_t i = 0; (tensor = ls_gguf_tensor_at(l->gguf, i)); i++)
        if (!has_place(l->model, tensor->name))
            return ls__fail(l->error, LS_E_UNSUPPORTED,
                            "tensor %s has no place in models of the architecture %s", tensor->name,
                            l->model->family->architecture);
    return LS_OK;
}

static ls_status find_weights(loader *l)
{
    ls_model *m = l->model;
    const ls_gguf_tensor *embedding = ls_gguf_find_tensor(l->gguf, "token_embd.weight");
    if (!embedding || !embedding->dimensions[1] || embedding->dimensions[1] > UINT32_MAX)
        return ls__fail(l->error, LS_E_NOT_FOUND, "the file has no tensor token_embd.weight");
    m->info.vocabulary = (uint32_t)embedding->dimensions[1];
    ls_status status =
        find_matrix(l, "token_embd.weight", m->info.width, m->info.vocabulary, &m->embedding);
    if (status == LS_OK)
        status = find_vector(l, "output_norm.weight", m->info.width, &m->output_norm);
    if (status == LS_OK && ls_gguf_find_tensor(l->gguf, "output.weight"))
        status = find_matrix(l, "output.weight", m->info.width, m->info.vocabulary, &m->output);
    if (status == LS_OK)
        status = load_rope_factors(l);
    for (uint32_t i = 0; status == LS_OK && i < m->info.layers; i++)
        status = find_layer(l, i, &m->layers[i]);
    return status == LS_OK ? refuse_other_tensors(l) : status;
}

/* --- where it goes ---------------------------------------------------------------------------- */

enum { PLACE_BYTES = 256 };                       /* where a range can begin */
static const uint64_t store_bytes = 256ull << 20; /* more only for one shard */

static uint64_t shard_bytes(const ls__weight *w, uint32_t shard)
{
    return w->form ? ls__matrix_bytes(w->form, w->columns, ls__weight_shard_rows(w, shard))
                   : (uint64_t)w->columns * 4;
}

/* A buffer for the ranges from `first` to before `end`. */
static ls_status make_store(ls_model *m, ls_range *first, const ls_range *end, uint64_t bytes,
                            ls_error *error)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    ls_buffer **store = &m->stores[m->store_count];
    params.size_bytes = bytes;
    params.label = "weights";
    ls_status status = ls_buffer_create(m->device, &params, store, error);
    m->store_count += status == LS_OK;
    for (; first < end; first++)
        first->buffer = *store;
    return status;
}

/* Gives every shard a range, and makes the stores. */
static ls_status make_places(const loader *l)
{
    ls_model *m = l->model;
    m->ranges = ls__mem_alloc(l->shard_count, sizeof *m->ranges);
    m->stores = ls__mem_alloc(l->shard_count, sizeof *m->stores);
    if (!m->ranges || !m->stores)
        return ls__fail_oom(l->error, l->shard_count * sizeof *m->ranges);
    ls_range *next = m->ranges, *first = next;
    uint64_t at = 0;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < l->move_count; i++) {
        ls__weight *w = l->moves[i].weight;
        w->shards = next;
        for (uint32_t k = 0; status == LS_OK && k < w->shard_count; k++, next++) {
            uint64_t bytes = shard_bytes(w, k);
            if (next > first && at + bytes > store_bytes) {
                status = make_store(m, first, next, at, l->error);
                first = next;
                at = 0;
            }
            *next = (ls_range){NULL, at, bytes};
            at += (bytes + PLACE_BYTES - 1) / PLACE_BYTES * PLACE_BYTES;
            m->info.weight_bytes += bytes;
        }
    }
    return status == LS_OK ? make_store(m, first, next, at, l->error) : status;
}

/* --- laying it out ---------------------------------------------------------------------------- */

static ls_status map(const loader *l, const ls_range *range, void **memory)
{
    return ls_buffer_map(range->buffer, range->offset, range->size, LS_MAP_WRITE, memory, l->error);
}

static ls_status load_vector(const loader *l, const move *move)
{
    void *memory;
    const ls__weight *w = move->weight;
    ls_status status = map(l, w->shards, &memory);
    if (status != LS_OK)
        return status;
    status = ls_gguf_dequantize(move->tensor, 0, w->columns, memory, l->error);
    ls_status unmapped = ls_buffer_unmap(w->shards->buffer, l->error);
    return status == LS_OK ? unmapped : status;
}

/* A shard on its way into a buffer, some panels at a time. */
typedef struct laying {
    const ls__weight *weight;
    const void *data;
    uint64_t first, panels; /* of the matrix */
    uint64_t step;          /* panels at a time */
    uint8_t *out;
} laying;

static void lay_some(void *context, uint64_t index)
{
    const laying *a = context;
    const ls__weight *w = a->weight;
    uint64_t first = index * a->step,
             count = a->panels - first < a->step ? a->panels - first : a->step;
    ls__matrix_lay(w->form, a->data, w->columns, w->rows, a->first + first, count,
                   a->out + first * ls__matrix_bytes(w->form, w->columns, LS__LANES));
}

static ls_status load_shard(const loader *l, const move *move, uint32_t index)
{
    enum { LEAST = 1 << 17 }; /* bytes that are worth handing over */
    const ls__weight *w = move->weight;
    const ls_range *shard = &w->shards[index];
    void *memory;
    ls_status status = map(l, shard, &memory);
    if (status != LS_OK)
        return status;
    uint64_t panel_bytes = ls__matrix_bytes(w->form, w->columns, LS__LANES);
    laying a = {.weight = w,
                .data = move->tensor->data,
                .first = (uint64_t)index * w->shard_rows / LS__LANES,
                .panels = shard->size / panel_bytes,
                .step = LEAST / panel_bytes + 1,
                .out = memory};
    ls__workers_run(l->workers, (a.panels + a.step - 1) / a.step, lay_some, &a);
    return ls_buffer_unmap(shard->buffer, l->error);
}

static ls_status load_matrix(const loader *l, const move *move)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < move->weight->shard_count; i++)
        status = load_shard(l, move, i);
    ls_gguf_forget(l->gguf, move->tensor); /* so that there is never much more than one copy */
    return status;
}

static ls_status read_layer_scales(const loader *l)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < l->model->info.layers; i++) {
        ls__layer *layer = &l->model->layers[i];
        const ls_range *range = layer->weights[LS__LAYER_SCALE].shards;
        if (range)
            status = ls_buffer_read(range->buffer, range->offset, LS_MEM_NONE, &layer->scale, 4,
                                    l->error);
    }
    return status;
}

static ls_status load_weights(const loader *l)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < l->move_count; i++)
        status =
            l->moves[i].weight->form ? load_matrix(l, &l->moves[i]) : load_vector(l, &l->moves[i]);
    return status == LS_OK ? read_layer_scales(l) : status;
}

ls_status ls__weights_load(ls_model *m, const ls_gguf *gguf, uint64_t max_shard_bytes,
                           ls_error *error)
{
    uint64_t range = ls_device_caps(m->device)->max_range_bytes;
    uint64_t most = (uint64_t)m->info.layers * LS__LAYER_TENSOR_COUNT + 3;
    loader l = {.gguf = gguf,
                .model = m,
                .max_shard_bytes =
                    max_shard_bytes && max_shard_bytes < range ? max_shard_bytes : range,
                .moves = ls__mem_alloc(most, sizeof *l.moves),
                .workers = ls__workers_create(),
                .error = error};
    ls_status status =
        l.moves && l.workers ? find_weights(&l) : ls__fail_oom(error, most * sizeof *l.moves);
    if (status == LS_OK)
        status = make_places(&l);
    if (status == LS_OK)
        status = load_weights(&l);
    ls__workers_destroy(&l.workers);
    ls__mem_free(l.moves);
    return status;
}

void ls__weights_destroy(ls_model *m)
{
    for (uint32_t i = 0; i < m->store_count; i++)
        ls_buffer_destroy(&m->stores[i]);
    ls__mem_free(m->stores);
    ls__mem_free(m->ranges);
}
