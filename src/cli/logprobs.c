/* SPDX-License-Identifier: Apache-2.0 */
/* {"id": 4, "text": "a", "hex": "61", "logprob": -0.5, "top": [{"id": ..., ...}, ...]}. Tokens are
 * as `lockstep tokenize --json` has them. */
#include "cli/logprobs.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/status.h"

static json_t *describe(const ls__cli_model *m, const float *logits, double log_sum, uint32_t id)
{
    ls_token token = {.bytes = ""};
    ls__strbuf hex = {0};
    ls_tokenizer_token(m->tokenizer, id, &token, NULL);
    for (uint32_t b = 0; b < token.length; b++)
        ls__strbuf_printf(&hex, "%02x", (uint8_t)token.bytes[b]);
    json_t *text = json_stringn(token.bytes, token.length); /* NULL where it is no UTF-8 */
    json_t *object =
        json_pack("{s:I, s:o, s:s, s:f}", "id", (json_int_t)id, "text", text ? text : json_null(),
                  "hex", hex.text ? hex.text : "", "logprob", (double)logits[id] - log_sum);
    ls__strbuf_finish(&hex);
    return object;
}

/* The ids of the `most` largest of `count` logits, of equal ones the lowest id first. */
static uint32_t find_best(const float *logits, uint32_t count, uint32_t most, uint32_t *ids)
{
    uint32_t found = 0;
    for (uint32_t id = 0; most && id < count; id++) {
        if (found == most && logits[id] <= logits[ids[found - 1]])
            continue;
        uint32_t at = found < most ? found++ : found - 1;
        for (; at > 0 && logits[id] > logits[ids[at - 1]]; at--)
            ids[at] = ids[at - 1];
        ids[at] = id;
    }
    return found;
}

ls_status ls__cli_logprobs_add(ls__strbuf *lines, const ls__cli_model *m, const float *logits,
                               uint32_t id, uint32_t best, ls_error *error)
{
    uint32_t ids[LS__LOGPROBS_MOST], count = m->vocabulary.token_count;
    double log_sum = ls_logits_log_sum(logits, count);
    json_t *object = describe(m, logits, log_sum, id), *top = json_array();
    uint32_t found = find_best(logits, count, best, ids);
    for (uint32_t i = 0; i < found; i++)
        json_array_append_new(top, describe(m, logits, log_sum, ids[i]));
    if (best)
        json_object_set(object, "top", top);
    char *line = json_dumps(object, JSON_REAL_PRECISION(9));
    if (line)
        ls__strbuf_printf(lines, "%s\n", line);
    bool failed = !line || lines->failed;
    free(line);
    json_decref(top);
    json_decref(object);
    return failed ? ls__fail_oom(error, lines->length) : LS_OK;
}
