/* SPDX-License-Identifier: Apache-2.0 */
/* What a model file says of the model: numbers under the name of its architecture. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    static const char *const names[] = {"rope.scaling.type", "expert_count",
                                        "attention.sliding_window"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char key[96];
        uint64_t number, length;
        const char *text;
        const ls_gguf_value *value = find(r, names[i], key);
        bool none =
            !value || (ls_gguf_unsigned(value, 0, &number) && number == 0) ||
            (ls_gguf_text(value, 0, &text, &length) && length == 4 && memcmp(text, "none", 4) == 0);
        if (!none)
            return ls__fail(r->error, LS_E_UNSUPPORTED, "models with %s are not supported", key);
    }
    return LS_OK;
}

static ls_status check_heads(const reader *r, const ls_model *model)
{
    const ls_model_info *info = &model->info;
    if (info->heads % info->kv_heads)
        return ls__fail(r->error, LS_E_FORMAT,
                        "%" PRIu32 " heads are no multiple of %" PRIu32 " heads of keys",
                        info->heads, info->kv_heads);
    if (info->head_width % 8 || info->width % 32 || info->inner_width % 32)
        return ls__fail(r->error, LS_E_UNSUPPORTED,
                        "heads of %" PRIu32 " elements, or %" PRIu32 " or %" PRIu32
                        " elements of a token, are no multiples of 8 and 32",
                        info->head_width, info->width, info->inner_width);
    if (model->rope_pairs * 2 != info->head_width)
        return ls__fail(r->error, LS_E_UNSUPPORTED,
                        "%" PRIu32 " of %" PRIu32 " elements of a head are rotated, not all",
                        model->rope_pairs * 2, info->head_width);
    return LS_OK;
}

ls_status ls__model_read_info(const ls_gguf *gguf, ls_model *model, ls_error *error)
{
    reader r = {gguf, NULL, error};
    ls_model_info *info = &model->info;
    double epsilon = 0;
    uint32_t rotated = 0;
    ls_status status = read_architecture(&r, model);
    if (status == LS_OK)
        status = refuse_other_kinds(&r);
    if (status == LS_OK)
        status = read_count(&r, "block_count", 1024, 0, &info->layers);
    if (status == LS_OK)
        status = read_count(&r, "embedding_length", 1 << 16, 0, &info->width);
    if (status == LS_OK)
        status = read_count(&r, "feed_forward_length", 1 << 18, 0, &info->inner_width);
    if (status == LS_OK)
        status = read_count(&r, "attention.head_count", 1024, 0, &info->heads);
    if (status == LS_OK)
        status = read_count(&r, "attention.head_count_kv", 1024, info->heads, &info->kv_heads);
    if (status == LS_OK)
        status = read_count(&r, "context_length", 1 << 24, 0, &info->context);
    if (status == LS_OK && info->width % info->heads)
        status =
            ls__fail(error, LS_E_FORMAT, "%" PRIu32 " elements are not shared by %" PRIu32 " heads",
                     info->width, info->heads);
    if (status == LS_OK)
        status = read_count(&r, "attention.key_length", 1024, info->width / info->heads,
                            &info->head_width);
    if (status == LS_OK)
        status = read_count(&r, "rope.dimension_count", 1024, info->head_width, &rotated);
    if (status == LS_OK)
        status = read_real(&r, "rope.freq_base", 1, 1e12, 10000, &model->rope_base);
    if (status == LS_OK)
        status = read_real(&r, "attention.layer_norm_rms_epsilon", 0, 1, 1e-5, &epsilon);
    model->rope_pairs = rotated / 2;
    model->rope_apart =
        model->family && model->family->pairing == LS__PAIRS_HALVES ? model->rope_pairs : 1;
    model->epsilon = (float)epsilon;
    model->attention_scale = 1.0f / sqrtf((float)(info->head_width ? info->head_width : 1));
    if (status == LS_OK)
        status = check_heads(&r, model);
    return status;
}
