/* SPDX-License-Identifier: Apache-2.0 */
/* Weights from a file to the device, and the kernels for their types. */
#include "llm/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "llm/attention.h"
#include "llm/matrix.h"
#include "llm/workers.h"

typedef struct loader {
    const ls_gguf *gguf;
    ls_model *model;
    ls__workers *workers;
    bool checked;
    ls_error *error;
} loader;

/* --- weights ---------------------------------------------------------------------------------- */

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

static ls_status make_buffer(const loader *l, const char *name, uint64_t bytes, ls__weight *weight)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = bytes;
    params.label = name;
    l->model->info.weight_bytes += bytes;
    return ls_buffer_create(l->model->device, &params, &weight->buffer, l->error);
}

/* A norm's weights. */
static ls_status load_vector(const loader *l, const char *name, uint32_t elements,
                             ls__weight *weight)
{
    const ls_gguf_tensor *tensor;
    void *memory;
    weight->columns = elements;
    weight->rows = 1;
    ls_status status = find_tensor(l, name, elements, 1, &tensor);
    if (status == LS_OK && tensor->type != LS_GGUF_TYPE_F32 && tensor->type != LS_GGUF_TYPE_F16 &&
        tensor->type != LS_GGUF_TYPE_BF16)
        status = ls__fail(l->error, LS_E_UNSUPPORTED, "tensor %s is of type %s, not of floats",
                          name, ls_gguf_type_name(tensor->type));
    if (status == LS_OK)
        status = make_buffer(l, name, (uint64_t)elements * 4, weight);
    if (status == LS_OK)
        status = ls_buffer_map(weight->buffer, 0, (uint64_t)elements * 4, LS_MAP_WRITE, &memory,
                               l->error);
    if (status != LS_OK)
        return status;
    status = ls_gguf_dequantize(tensor, 0, elements, memory, l->error);
    ls_status unmapped = ls_buffer_unmap(weight->buffer, l->error);
    return status == LS_OK ? unmapped : status;
}

/* A matrix on its way into a buffer, some panels at a time. */
typedef struct laying {
    const ls__matrix_form *form;
    const void *data;
    uint64_t columns, rows, panels;
    uint64_t step; /* panels at a time */
    uint8_t *out;
} laying;

static void lay_some(void *context, uint64_t index)
{
    const laying *a = context;
    uint64_t first = index * a->step,
             count = a->panels - first < a->step ? a->panels - first : a->step;
    ls__matrix_lay(a->form, a->data, a->columns, a->rows, first, count,
                   a->out + first * ls__matrix_bytes(a->form, a->columns, LS__LANES));
}

static void lay(const loader *l, laying *a)
{
    enum { LEAST = 1 << 17 }; /* bytes that are worth handing over */
    a->panels = (a->rows + LS__LANES - 1) / LS__LANES;
    a->step = LEAST / ls__matrix_bytes(a->form, a->columns, LS__LANES) + 1;
    ls__workers_run(l->workers, (a->panels + a->step - 1) / a->step, lay_some, a);
}

static ls_status load_matrix(const loader *l, const char *name, uint64_t columns, uint64_t rows,
                             ls__weight *weight)
{
    const ls_gguf_tensor *tensor;
    void *memory;
    ls_status status = find_tensor(l, name, columns, rows, &tensor);
    if (status != LS_OK)
        return status;
    weight->form = ls__matrix_form_of(tensor->type);
    weight->columns = (uint32_t)columns;
    weight->rows = (uint32_t)rows;
    uint64_t bytes = ls__matrix_bytes(weight->form, columns, rows);
    status = make_buffer(l, name, bytes, weight);
    if (status == LS_OK)
        status = ls_buffer_map(weight->buffer, 0, bytes, LS_MAP_WRITE, &memory, l->error);
    if (status != LS_OK)
        return status;
    lay(l, &(laying){.form = weight->form,
                     .data = tensor->data,
                     .columns = columns,
                     .rows = rows,
                     .out = memory});
    ls_gguf_forget(l->gguf, tensor); /* so that there is never much more than one copy */
    return ls_buffer_unmap(weight->buffer, l->error);
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

static ls_status load_layer(const loader *l, uint32_t index, ls__layer *layer)
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
                     ? load_vector(l, name, (uint32_t)columns, &layer->weights[t])
                     : load_matrix(l, name, columns, rows, &layer->weights[t]);
    }
    if (status == LS_OK && layer->weights[LS__LAYER_SCALE].buffer)
        status = ls_buffer_read(layer->weights[LS__LAYER_SCALE].buffer, 0, LS_MEM_NONE,
                                &layer->scale, 4, l->error);
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

static ls_status load_weights(const loader *l)
{
    ls_model *m = l->model;
    const ls_gguf_tensor *embedding = ls_gguf_find_tensor(l->gguf, "token_embd.weight");
    if (!embedding || embedding->dimensions[1] > UINT32_MAX)
        return ls__fail(l->error, LS_E_NOT_FOUND, "the file has no tensor token_embd.weight");
    m->info.vocabulary = (uint32_t)embedding->dimensions[1];
    ls_status status =
        load_matrix(l, "token_embd.weight", m->info.width, m->info.vocabulary, &m->embedding);
    if (status == LS_OK)
        status = load_vector(l, "output_norm.weight", m->info.width, &m->output_norm);
    if (status == LS_OK && ls_gguf_find_tensor(l->gguf, "output.weight"))
        status = load_matrix(l, "output.weight", m->info.width, m->info.vocabulary, &m->output);
    if (status == LS_OK)
        status = load_rope_factors(l);
    for (uint32_t i = 0; status == LS_OK && i < m->info.layers; i++)
        status = load_layer(l, i, &m->layers[i]);
    return status == LS_OK ? refuse_other_tensors(l) : status;
}

/* --- kernels ---------------------------------------------------------------------------------- */

static bool has_form(const ls_model *m, const ls__matrix_form *form)
{
    bool has = m->embedding.form == form || m->output.form == form;
    for (uint32_t i = 0; i < m->info.layers; i++)
        for (int t = 0; t < LS__LAYER_TENSOR_COUNT; t++)
            has = has || m->layers[i].weights[t].form == form;
    return has;
}

static void put_kernels(const ls_model *m, ls__strbuf *text)
{
    const ls__matrix_form *form;
    for (uint32_t i = 0; i < ls__llm_kernels_count; i++)
        ls__strbuf_append(text, ls__llm_kernels[i].text, ls__llm_kernels[i].length);
    uint32_t group = m->info.heads / m->info.kv_heads;
    ls__attention_kernels(text, &(ls__attention){m->info.head_width, group, false, ""});
    ls__attention_kernels(text, &(ls__attention){m->info.head_width, group, true, "_f32"});
    for (uint32_t i = 0; (form = ls__matrix_form_at(i)); i++) {
        char name[40];
        if (!has_form(m, form))
            continue;
        snprintf(name, sizeof name, "matrix_%s", ls_gguf_type_name(form->type));
        ls__matrix_kernel(text, form, name, 1);
        snprintf(name, sizeof name, "matrix_%s_tile", ls_gguf_type_name(form->type));
        ls__matrix_kernel(text, form, name, LS__TILE);
        if (m->embedding.form != form)
            continue;
        snprintf(name, sizeof name, "rows_%s", ls_gguf_type_name(form->type));
        ls__embedding_kernel(text, form, name);
    }
}

static ls_status build_program(const loader *l)
{
    ls__strbuf text = {0};
    ls_module *module = NULL;
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    put_kernels(l->model, &text);
    if (text.failed) {
        ls__strbuf_finish(&text);
        return ls__fail_oom(l->error, text.length);
    }
    compile.text = text.text;
    compile.length = text.length;
    compile.path = "llm";
    params.unchecked = !l->checked;
    ls_status status = ls_module_compile(&compile, &module, NULL, l->error);
    ls__strbuf_finish(&text);
    if (status == LS_OK)
        status = ls_program_create(l->model->device, module, &params, &l->model->program, l->error);
    ls_module_destroy(&module);
    return status;
}

static ls_status find_attention(const loader *l, const char *suffix, ls__attention_kernel_set *set)
{
    const struct {
        const char *name;
        const ls_kernel **kernel;
    } kernels[] = {
        {"append", &set->append},
        {"attention_scores", &set->scores},
        {"attention_weights", &set->weights},
        {"attention_values", &set->values},
        {"attention_parts", &set->parts},
        {"attention_join", &set->join},
    };
    ls_status status = LS_OK;
    for (size_t i = 0; status == LS_OK && i < sizeof kernels / sizeof *kernels; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", kernels[i].name, suffix);
        status = ls_program_kernel(l->model->program, name, kernels[i].kernel, l->error);
    }
    return status;
}

static ls_status find_kernels(const loader *l)
{
    ls_model *m = l->model;
    const struct {
        const char *name;
        const ls_kernel **kernel;
    } kernels[] = {
        {"rms_norm", &m->rms_norm},
        {"rms_norm_of", &m->rms_norm_of},
        {"quantize_32", &m->quantize[0]},
        {"quantize_256", &m->quantize[1]},
        {"rope", &m->rope},
        {m->family->gate == LS__GELU ? "gelu_gate" : "silu_gate", &m->gate},
        {"add", &m->add},
        {"norm_heads", &m->norm_heads},
        {"add_bias", &m->add_bias},
        {"scale", &m->scale},
        {"soft_cap", &m->soft_cap},
    };
    ls_status status = LS_OK;
    const ls__matrix_form *form;
    for (size_t i = 0; status == LS_OK && i < sizeof kernels / sizeof *kernels; i++)
        status = ls_program_kernel(m->program, kernels[i].name, kernels[i].kernel, l->error);
    for (uint32_t i = 0; status == LS_OK && (form = ls__matrix_form_at(i)); i++) {
        char name[40];
        if (!has_form(m, form))
            continue;
        snprintf(name, sizeof name, "matrix_%s", ls_gguf_type_name(form->type));
        status = ls_program_kernel(m->program, name, &m->matrices[i].one, l->error);
        snprintf(name, sizeof name, "matrix_%s_tile", ls_gguf_type_name(form->type));
        if (status == LS_OK)
            status = ls_program_kernel(m->program, name, &m->matrices[i].tile, l->error);
        snprintf(name, sizeof name, "rows_%s", ls_gguf_type_name(form->type));
        if (status == LS_OK && m->embedding.form == form)
            status = ls_program_kernel(m->program, name, &m->matrices[i].rows, l->error);
    }
    if (status == LS_OK)
        status = find_attention(l, "", &m->attention[0]);
    if (status == LS_OK)
        status = find_attention(l, "_f32", &m->attention[1]);
    return status;
}

/* --- the public calls ------------------------------------------------------------------------- */

ls_status ls_model_load(const ls_model_params *params, ls_model **model, ls_error *error)
{
    if (!params || !params->device || !params->gguf || !model)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "params, device, gguf or model is NULL");
    *model = NULL;
    ls_model *m = ls__mem_alloc(1, sizeof *m);
    if (!m)
        return ls__fail_oom(error, sizeof *m);
    m->device = params->device;
    loader l = {params->gguf, m, ls__workers_create(), params->checked, error};
    ls_status status =
        l.workers ? ls__model_read_info(params->gguf, m, error) : ls__fail_oom(error, sizeof l);
    if (status == LS_OK)
        status = load_weights(&l);
    ls__workers_destroy(&l.workers);
    if (status == LS_OK)
        status = build_program(&l);
    if (status == LS_OK)
        status = find_kernels(&l);
    if (status != LS_OK) {
        ls_model_destroy(&m);
        return status;
    }
    *model = m;
    return LS_OK;
}

void ls_model_destroy(ls_model **model)
{
    ls_model *m = model ? *model : NULL;
    if (!m)
        return;
    for (uint32_t i = 0; m->layers && i < m->info.layers; i++)
        for (int t = 0; t < LS__LAYER_TENSOR_COUNT; t++)
            ls_buffer_destroy(&m->layers[i].weights[t].buffer);
    ls_buffer_destroy(&m->embedding.buffer);
    ls_buffer_destroy(&m->output_norm.buffer);
    ls_buffer_destroy(&m->output.buffer);
    ls_program_destroy(&m->program);
    ls__mem_free(m->layers);
    ls__mem_free(m->rope_factors);
    ls__mem_free(m);
    *model = NULL;
}

void ls_model_describe(const ls_model *model, ls_model_info *info)
{
    size_t size = info->struct_size < sizeof *info ? info->struct_size : sizeof *info;
    ls_model_info all = model->info;
    all.struct_size = info->struct_size;
    memcpy(info, &all, size);
}
