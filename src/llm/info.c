/* SPDX-License-Identifier: Apache-2.0 */
/* What a model file says of the model: numbers under the name of its architecture. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "llm/model.h"

typedef struct reader {
    const ls_gguf *gguf;
    const char *architecture;
    ls_error *error;
} reader;

/* "llama.block_count" for "block_count". */
static const ls_gguf_value *find(const reader *r, const char *name, char key[96])
{
    snprintf(key, 96, "%s.%s", r->architecture, name);
    return ls_gguf_find_value(r->gguf, key);
}

/* A number from 1 to `most`; `otherwise` where it is not there, 0 = it must be there. */
static ls_status read_count(const reader *r, const char *name, uint32_t most, uint32_t otherwise,
                            uint32_t *number)
{
    char key[96];
    uint64_t wide;
    const ls_gguf_value *value = find(r, name, key);
    *number = otherwise;
    if (!value && otherwise)
        return LS_OK;
    if (!value)
        return ls__fail(r->error, LS_E_NOT_FOUND, "the file has no value %s", key);
    if (value->is_list || !ls_gguf_unsigned(value, 0, &wide) || wide == 0 || wide > most)
        return ls__fail(r->error, LS_E_FORMAT, "%s is no number from 1 to %" PRIu32, key, most);
    *number = (uint32_t)wide;
    return LS_OK;
}

static ls_status read_real(const reader *r, const char *name, double least, double most,
                           double otherwise, double *number)
{
    char key[96];
    const ls_gguf_value *value = find(r, name, key);
    *number = otherwise;
    if (!value)
        return LS_OK;
    if (value->is_list || !ls_gguf_float(value, 0, number) || !(*number >= least) ||
        !(*number <= most))
        return ls__fail(r->error, LS_E_FORMAT, "%s is no number from %g to %g", key, least, most);
    return LS_OK;
}

static ls_status refuse_architecture(reader *r, const char *text, uint64_t length)
{
    char names[128] = "";
    size_t end = 0;
    const ls__family *family;
    for (uint32_t i = 0; (family = ls__family_at(i)) && end < sizeof names; i++)
        end += (size_t)snprintf(names + end, sizeof names - end, "%s%s", i ? ", " : "",
                                family->architecture);
    return ls__fail(r->error, LS_E_UNSUPPORTED,
                    "the architecture is %.*s; those that are supported: %s",
                    (int)(length < 40 ? length : 40), text, names);
}

static ls_status read_architecture(reader *r, ls_model *model)
{
    const char *text;
    uint64_t length;
    const ls_gguf_value *value = ls_gguf_find_value(r->gguf, "general.architecture");
    if (!value || !ls_gguf_text(value, 0, &text, &length))
        return ls__fail(r->error, LS_E_NOT_FOUND,
                        "the file has no text general.architecture: it is no language model");
    const ls__family *family = ls__family_find(text, length);
    if (!family)
        return refuse_architecture(r, text, length);
    model->family = family;
    r->architecture = family->architecture;
    snprintf(model->info.architecture, sizeof model->info.architecture, "%s", r->architecture);
    return LS_OK;
}

/* What changes the arithmetic in ways that are not there must not be passed over. */
static ls_status refuse_other_kinds(const reader *r)
{
    static const struct {
        const char *name;
        double harmless;
    } others[] = {
        {"expert_count", 0},
        {"attention.clamp_kqv", 0},
        {"logit_scale", 0},
        {"attention.max_alibi_bias", 0},
        {"residual_scale", 0},
        {"embedding_scale", 0},
        {"rope.scaling.attn_factor", 1},
        {"attention.causal", 1},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char key[96];
        double number = 0;
        const ls_gguf_value *value = find(r, others[i].name, key);
        if (value &&
            (value->is_list || !ls_gguf_float(value, 0, &number) || number != others[i].harmless))
            return ls__fail(r->error, LS_E_UNSUPPORTED, "models with %s are not supported", key);
    }
    return LS_OK;
}

/* --- positions -------------------------------------------------------------------------------- */

/* Linear scaling alone; Llama 3's comes as a tensor of factors. */
static ls_status read_rope_factor(const reader *r, double *factor)
{
    char key[96];
    const char *text = "linear";
    uint64_t length = 6;
    const ls_gguf_value *value = find(r, "rope.scaling.type", key);
    *factor = 1;
    if (value && !ls_gguf_text(value, 0, &text, &length))
        return ls__fail(r->error, LS_E_FORMAT, "%s is no text", key);
    if (length == 4 && memcmp(text, "none", 4) == 0)
        return LS_OK;
    if (length != 6 || memcmp(text, "linear", 6) != 0)
        return ls__fail(r->error, LS_E_UNSUPPORTED,
                        "%s is %.*s; those that are supported: none, linear", key,
                        (int)(length < 40 ? length : 40), text);
    const char *name =
        find(r, "rope.scaling.factor", key) ? "rope.scaling.factor" : "rope.scale_linear";
    ls_status status = read_real(r, name, 0, 1e6, 1, factor);
    if (*factor == 0)
        *factor = 1;
    return status;
}

static ls_status read_rope(const reader *r, ls_model *m)
{
    ls__rope *all = &m->ropes[0], *windowed = &m->ropes[1];
    double local = m->family->window_rope_base;
    uint32_t rotated = 0;
    ls_status status =
        read_count(r, "rope.dimension_count", m->info.head_width, m->info.head_width, &rotated);
    if (status == LS_OK && rotated % 2)
        status =
            ls__fail(r->error, LS_E_FORMAT, "%" PRIu32 " elements of a head are no pairs", rotated);
    if (status == LS_OK)
        status = read_real(r, "rope.freq_base", 1, 1e12, 10000, &all->base);
    if (status == LS_OK)
        status = read_rope_factor(r, &all->factor);
    all->pairs = rotated / 2;
    all->halves = m->family->pairing == LS__PAIRS_HALVES;
    m->rope_count = 1;
    if (status != LS_OK || local == 0)
        return status;
    *windowed = (ls__rope){.factor = 1, .pairs = all->pairs, .halves = all->halves};
    m->rope_count = 2;
    return read_real(r, "rope.freq_base_swa", 1, 1e12, local, &windowed->base);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Which layers have one: a list, or the n of "all but each n-th". */
static ls_status read_pattern(const reader *r, const ls_model *m, uint32_t layer, bool *windowed)
{
    char key[96];
    uint64_t period = m->family->window_period;
    const ls_gguf_value *value = find(r, "attention.sliding_window_pattern", key);
    bool list = value && value->is_list;
    if (value && (!ls_gguf_unsigned(value, list ? layer : 0, &period) || (!list && period == 0) ||
                  (list && (value->count != m->info.layers || period > 1))))
        return ls__fail(r->error, LS_E_FORMAT,
                        "%s is neither a number from 1 on nor a list of a bool for each layer",
                        key);
    *windowed = list ? period == 1 : period == LS__ALL_LAYERS || (layer + 1) % period != 0;
    return LS_OK;
}

static ls_status read_windows(const reader *r, ls_model *m)
{
    char key[96];
    uint64_t window = m->family->window;
    const ls_gguf_value *value = find(r, "attention.sliding_window", key);
    if (value && !ls_gguf_unsigned(value, 0, &window))
        return ls__fail(r->error, LS_E_FORMAT, "%s is no number", key);
    if (window >= m->info.context && m->family->window_rope_base == 0)
        window = 0; /* nothing is further back */
    if (window && m->family->window_period == LS__NO_WINDOWS)
        return ls__fail(r->error, LS_E_UNSUPPORTED, "models with %s are not supported", key);
    if (window > UINT32_MAX)
        window = UINT32_MAX;
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < m->info.layers; i++) {
        ls__layer *layer = &m->layers[i];
        bool windowed = false;
        if (window)
            status = read_pattern(r, m, i, &windowed);
        layer->window = windowed ? (uint32_t)window : UINT32_MAX;
        m->window = windowed ? (uint32_t)window : m->window;
        layer->rope = windowed ? m->rope_count - 1 : 0;
        layer->scale = 1;
    }
    return status;
}

/* --- the rest --------------------------------------------------------------------------------- */

static ls_status check_heads(const reader *r, const ls_model_info *info)
{
    const struct {
        const char *what;
        uint32_t number, unit;
    } sizes[] = {{"the width of a head (attention.key_length)", info->head_width, 8},
                 {"the width of a token (embedding_length)", info->width, 32},
                 {"the inner width (feed_forward_length)", info->inner_width, 32}};
    char key[96];
    uint64_t values_width = info->head_width;
    const ls_gguf_value *value = find(r, "attention.value_length", key);
    if (info->heads % info->kv_heads)
        return ls__fail(r->error, LS_E_FORMAT,
                        "%" PRIu32 " heads are no multiple of %" PRIu32 " heads of keys",
                        info->heads, info->kv_heads);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].number % sizes[i].unit)
            return ls__fail(r->error, LS_E_UNSUPPORTED,
                            "%s is %" PRIu32 ", which is no multiple of %" PRIu32, sizes[i].what,
                            sizes[i].number, sizes[i].unit);
    if (value && (!ls_gguf_unsigned(value, 0, &values_width) || values_width != info->head_width))
        return ls__fail(r->error, LS_E_UNSUPPORTED,
                        "%s is not the %" PRIu32 " of attention.key_length", key, info->head_width);
    return LS_OK;
}

static ls_status read_shape(const reader *r, ls_model_info *info)
{
    const struct {
        const char *name;
        uint32_t most;
        uint32_t *number;
    } counts[] = {
        {"block_count", 1024, &info->layers},
        {"embedding_length", 1 << 16, &info->width},
        {"feed_forward_length", 1 << 18, &info->inner_width},
        {"context_length", 1 << 24, &info->context},
        {"attention.head_count", 1024, &info->heads},
    };
    char key[96];
    ls_status status = LS_OK;
    for (size_t i = 0; status == LS_OK && i < sizeof counts / sizeof *counts; i++)
        status = read_count(r, counts[i].name, counts[i].most, 0, counts[i].number);
    if (status == LS_OK)
        status = read_count(r, "attention.head_count_kv", 1024, info->heads, &info->kv_heads);
    if (status == LS_OK && info->width % info->heads && !find(r, "attention.key_length", key))
        status = ls__fail(r->error, LS_E_FORMAT,
                          "%" PRIu32 " elements are not shared by %" PRIu32 " heads", info->width,
                          info->heads);
    if (status == LS_OK)
        status = read_count(r, "attention.key_length", 1024, info->width / info->heads,
                            &info->head_width);
    return status == LS_OK ? check_heads(r, info) : status;
}

static ls_status read_scales(const reader *r, ls_model *m)
{
    const ls__family *f = m->family;
    const ls_model_info *info = &m->info;
    double epsilon = 0, score_cap = 0, logit_cap = 0, scale = 0;
    bool other = f->other_scale_layers && info->layers == f->other_scale_layers;
    float head = other ? (float)info->width / (float)info->heads : (float)info->head_width;
    ls_status status = read_real(r, "attention.layer_norm_rms_epsilon", 0, 1, 1e-5, &epsilon);
    if (status == LS_OK)
        status = read_real(r, "attn_logit_softcapping", 0, 1e6, f->score_cap, &score_cap);
    if (status == LS_OK)
        status = read_real(r, "final_logit_softcapping", 0, 1e6, f->logit_cap, &logit_cap);
    if (status == LS_OK)
        status = read_real(r, "attention.scale", 0, 1e6, 0, &scale);
    m->epsilon = (float)epsilon;
    m->score_cap = (float)score_cap;
    m->logit_cap = (float)logit_cap;
    m->attention_scale = scale > 0 ? (float)scale : 1.0f / sqrtf(head);
    m->embedding_scale = f->scaled_embedding ? sqrtf((float)info->width) : 1.0f;
    return status;
}

ls_status ls__model_read_info(const ls_gguf *gguf, ls_model *model, ls_error *error)
{
    reader r = {gguf, NULL, error};
    ls_status status = read_architecture(&r, model);
    if (status == LS_OK)
        status = refuse_other_kinds(&r);
    if (status == LS_OK)
        status = read_shape(&r, &model->info);
    if (status == LS_OK)
        status = read_scales(&r, model);
    if (status == LS_OK)
        status = read_rope(&r, model);
    if (status != LS_OK)
        return status;
    model->layers = ls__mem_alloc(model->info.layers, sizeof *model->layers);
    if (!model->layers)
        return ls__fail_oom(error, model->info.layers * sizeof *model->layers);
    return read_windows(&r, model);
}
