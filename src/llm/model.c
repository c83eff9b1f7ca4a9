/* SPDX-License-Identifier: Apache-2.0 */
/* Models: their life, and the kernels for the types of their weights. */
#include "llm/model.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"
#include "llm/attention.h"
#include "llm/matrix.h"

typedef struct loader {
    ls_model *model;
    bool checked;
    ls_error *error;
} loader;

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
    bool halves = m->ropes[0].halves;
    ls__attention_kernels(text, &(ls__attention){m->info.head_width, group, false, "", halves});
    ls__attention_kernels(text, &(ls__attention){m->info.head_width, group, true, "_f32", halves});
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
        {"append", &set->append},           {"place", &set->place},
        {"attention_scores", &set->scores}, {"attention_weights", &set->weights},
        {"attention_values", &set->values}, {"attention_parts", &set->parts},
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
        {m->ropes[0].halves ? "rope_halves" : "rope_neighbours", &m->rope},
        {m->family->gate == LS__GELU ? "gelu_gate" : "silu_gate", &m->gate},
        {"add", &m->add},
        {"norm_heads", &m->norm_heads},
        {"add_bias", &m->add_bias},
        {"scale", &m->scale},
        {"soft_cap", &m->soft_cap},
        {"check_finite", &m->check},
        {"tile_floats", &m->tile_floats},
        {"begin_32", &m->begin[0]},
        {"begin_256", &m->begin[1]},
        {"begin_floats", &m->begin[LS__BLOCKINGS]},
        {"silu_gate_32", &m->fused_gate[0]},
        {"silu_gate_256", &m->fused_gate[1]},
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
    ls_model_params given;
    if (!model)
        return ls__fail_no_result(error, "ls_model_load");
    *model = NULL;
    ls_status status = ls__params_in(&given, sizeof given, params, false, "ls_model_load", error);
    if (status != LS_OK)
        return status;
    if (!given.device || !given.gguf)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "device or gguf is NULL");
    ls_model *m = ls__mem_alloc(1, sizeof *m);
    if (!m)
        return ls__fail_oom(error, sizeof *m);
    m->device = given.device;
    loader l = {m, given.checked, error};
    status = ls__model_read_info(given.gguf, m, error);
    if (status == LS_OK)
        status = ls__weights_load(m, given.gguf, given.max_shard_bytes, error);
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
    ls__weights_destroy(m);
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
