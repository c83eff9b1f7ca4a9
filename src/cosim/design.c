/* SPDX-License-Identifier: Apache-2.0 */
/* Designs: a graph that runs share, and finding its signals by name. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"
#include "netlist/netlist.h"

static int by_name(const void *a, const void *b, void *context)
{
    const ls__graph *graph = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(graph->signals[x].name, graph->signals[y].name);
    return order ? order : x < y ? -1 : x > y;
}

ls_status ls__design_from_graph(ls__graph *graph, ls_design **design, ls_error *error)
{
    ls_design *made = ls__mem_alloc(1, sizeof *made);
    uint32_t *names = ls__mem_alloc(graph->signal_count + 1, sizeof *names);
    if (!made || !names) {
        ls__mem_free(made);
        ls__mem_free(names);
        return ls__fail_oom(error, sizeof *made + graph->signal_count * sizeof *names);
    }
    for (uint32_t i = 0; i < graph->signal_count; i++)
        names[i] = i;
    qsort_r(names, graph->signal_count, sizeof *names, by_name, graph);
    made->graph = graph;
    made->by_name = names;
    atomic_store(&made->references, 1);
    *design = made;
    return LS_OK;
}

void ls__design_retain(ls_design *design)
{
    atomic_fetch_add(&design->references, 1);
}

void ls_design_destroy(ls_design **design)
{
    if (!design || !*design)
        return;
    ls_design *d = *design;
    *design = NULL;
    if (atomic_fetch_sub(&d->references, 1) != 1)
        return;
    ls__graph_destroy(&d->graph);
    ls__mem_free(d->by_name);
    ls__mem_free(d);
}

void ls_design_describe(const ls_design *design, ls_design_info *info)
{
    const ls__graph *g = design->graph;
    ls_design_info all = {.top = g->top,
                          .cell_count = g->cell_count,
                          .node_count = g->node_count,
                          .level_count = g->level_count,
                          .register_count = g->reg_count,
                          .memory_count = g->memory_count,
                          .signal_count = g->signal_count,
                          .port_count = g->port_count};
    memcpy(all.digest, g->digest, sizeof all.digest);
    size_t size = info->struct_size < sizeof all ? info->struct_size : sizeof all;
    all.struct_size = info->struct_size;
    memcpy(info, &all, size);
}

ls_status ls_design_signal(const ls_design *design, uint32_t index, ls_signal_info *info,
                           ls_error *error)
{
    if (!design || !info)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "design or info is NULL");
    if (index >= design->graph->signal_count)
        return ls__fail(error, LS_E_NOT_FOUND, "signal %" PRIu32 ": the design has %" PRIu32, index,
                        design->graph->signal_count);
    const ls__graph_signal *s = &design->graph->signals[index];
    *info = (ls_signal_info){.name = s->name,
                             .kind = s->direction == LS__DIRECTION_INPUT    ? LS_SIGNAL_INPUT
                                     : s->direction == LS__DIRECTION_OUTPUT ? LS_SIGNAL_OUTPUT
                                     : s->is_register                       ? LS_SIGNAL_REGISTER
                                                                            : LS_SIGNAL_WIRE,
                             .width = s->width,
                             .offset = s->offset,
                             .upto = s->upto,
                             .is_signed = s->is_signed,
                             .is_hidden = s->hidden,
                             .is_register = s->is_register,
                             .is_alias = s->is_alias};
    return LS_OK;
}

/* --- names ------------------------------------------------------------------------------------ */

/* The signal of that name, or UINT32_MAX. */
static uint32_t find_exact(const ls_design *design, const char *name, size_t length)
{
    const ls__graph *g = design->graph;
    uint32_t low = 0, high = g->signal_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *other = g->signals[design->by_name[middle]].name;
        int order = strncmp(other, name, length);
        if (order == 0 && other[length])
            order = 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->signal_count)
        return UINT32_MAX;
    const char *other = g->signals[design->by_name[low]].name;
    return strncmp(other, name, length) == 0 && !other[length] ? design->by_name[low] : UINT32_MAX;
}

static uint32_t find_name(const ls_design *design, const char *name, size_t length)
{
    uint32_t found = find_exact(design, name, length);
    size_t top = strlen(design->graph->top);
    if (found == UINT32_MAX && length > top + 1 && strncmp(name, design->graph->top, top) == 0 &&
        name[top] == '.')
        found = find_exact(design, name + top + 1, length - top - 1);
    return found;
}

/* Edits that lead from one name to the other, or `limit` when there are as many or more. */
static uint32_t distance(const char *a, const char *b, uint32_t limit)
{
    enum { MOST = 96 };
    size_t m = strlen(a), n = strlen(b);
    if (m >= MOST || n >= MOST || m + limit <= n || n + limit <= m)
        return limit;
    uint32_t row[MOST + 1];
    for (size_t j = 0; j <= n; j++)
        row[j] = (uint32_t)j;
    for (size_t i = 1; i <= m; i++) {
        uint32_t corner = row[0], least = row[0] = (uint32_t)i;
        for (size_t j = 1; j <= n; j++) {
            uint32_t edit = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            edit = edit < row[j] + 1 ? edit : row[j] + 1;
            edit = edit < row[j - 1] + 1 ? edit : row[j - 1] + 1;
            row[j] = edit;
            least = edit < least ? edit : least;
        }
        if (least >= limit)
            return limit;
    }
    return row[n] < limit ? row[n] : limit;
}

static ls_status fail_unknown(const ls_design *design, const char *name, ls_error *error)
{
    const ls__graph *g = design->graph;
    enum { SHOWN = 3 };
    const char *best[SHOWN] = {0};
    uint32_t scores[SHOWN];
    uint32_t limit = (uint32_t)strlen(name) / 3 + 2;
    for (uint32_t i = 0; i < SHOWN; i++)
        scores[i] = limit;
    for (uint32_t i = 0; i < g->signal_count; i++) {
        const char *other = g->signals[i].name, *last = strrchr(other, '.');
        uint32_t score =
            last && strcmp(last + 1, name) == 0 ? 0 : distance(name, other, scores[SHOWN - 1]);
        uint32_t at = SHOWN;
        while (at > 0 && score < scores[at - 1])
            at--;
        if (at == SHOWN)
            continue;
        for (uint32_t k = SHOWN - 1; k > at; k--) {
            best[k] = best[k - 1];
            scores[k] = scores[k - 1];
        }
        best[at] = other;
        scores[at] = score;
    }
    ls__fail(error, LS_E_NOT_FOUND, "the design '%s' has no signal '%s'", g->top, name);
    if (best[0])
        ls__fail_hint(error, LS_E_NOT_FOUND, "did you mean '%s'%s%s%s%s%s%s?", best[0],
                      best[1] ? ", '" : "", best[1] ? best[1] : "", best[1] ? "'" : "",
                      best[2] ? ", '" : "", best[2] ? best[2] : "", best[2] ? "'" : "");
    return LS_E_NOT_FOUND;
}

static bool parse_index(const char **text, long *value)
{
    char *end;
    *value = strtol(*text, &end, 10);
    bool read = end != *text;
    *text = end;
    return read;
}

/* Number of the bit that the source calls by this index, or -1. */
static int64_t bit_of_index(const ls__graph_signal *s, long index)
{
    int64_t bit = (int64_t)index - s->offset;
    if (bit < 0 || bit >= s->width)
        return -1;
    return s->upto ? s->width - 1 - bit : bit;
}

ls_status ls_design_find(const ls_design *design, const char *name, ls_signal_ref *ref,
                         ls_error *error)
{
    if (!design || !name || !ref)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "design, name or ref is NULL");
    *ref = (ls_signal_ref){0};
    uint32_t found = find_name(design, name, strlen(name));
    if (found != UINT32_MAX) {
        *ref = (ls_signal_ref){found, 0, design->graph->signals[found].width};
        return LS_OK;
    }
    const char *bracket = strrchr(name, '[');
    long first = 0, last = 0;
    const char *rest = bracket ? bracket + 1 : NULL;
    if (!bracket || !parse_index(&rest, &first))
        return fail_unknown(design, name, error);
    last = first;
    if (*rest == ':' && (rest++, !parse_index(&rest, &last)))
        return fail_unknown(design, name, error);
    found = strcmp(rest, "]") == 0 ? find_name(design, name, (size_t)(bracket - name)) : UINT32_MAX;
    if (found == UINT32_MAX)
        return fail_unknown(design, name, error);
    const ls__graph_signal *s = &design->graph->signals[found];
    int64_t a = bit_of_index(s, first), b = bit_of_index(s, last);
    if (a < 0 || b < 0)
        return ls__fail(error, LS_E_NOT_FOUND,
                        "'%s': the signal has the indices %" PRId32 " to %" PRId64, name, s->offset,
                        (int64_t)s->offset + s->width - 1);
    *ref =
        (ls_signal_ref){found, (uint32_t)(a < b ? a : b), (uint32_t)((a < b ? b - a : a - b) + 1)};
    return LS_OK;
}

ls_status ls_design_memory(const ls_design *design, uint32_t index, ls_design_memory_info *info,
                           ls_error *error)
{
    if (!design || !info)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "design or info is NULL");
    if (index >= design->graph->memory_count)
        return ls__fail(error, LS_E_NOT_FOUND, "memory %" PRIu32 ": the design has %" PRIu32, index,
                        design->graph->memory_count);
    const ls__graph_memory *m = &design->graph->memories[index];
    *info = (ls_design_memory_info){m->name, m->width, m->depth, m->start};
    return LS_OK;
}

ls_status ls_design_find_memory(const ls_design *design, const char *name, uint32_t *index,
                                ls_error *error)
{
    if (!design || !name || !index)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "design, name or index is NULL");
    *index = 0;
    const ls__graph *g = design->graph;
    size_t top = strlen(g->top);
    const char *inner = strncmp(name, g->top, top) == 0 && name[top] == '.' ? name + top + 1 : name;
    ls__strbuf list = {0};
    for (uint32_t i = 0; i < g->memory_count; i++) {
        if (strcmp(g->memories[i].name, name) == 0 || strcmp(g->memories[i].name, inner) == 0) {
            ls__strbuf_finish(&list);
            *index = i;
            return LS_OK;
        }
        if (list.length < 200)
            ls__strbuf_printf(&list, "%s%s", i ? ", " : "", g->memories[i].name);
    }
    ls__fail(error, LS_E_NOT_FOUND, "the design '%s' has no memory '%s'", g->top, name);
    ls__fail_hint(error, LS_E_NOT_FOUND, "its memories: %s", list.text ? list.text : "none");
    ls__strbuf_finish(&list);
    return LS_E_NOT_FOUND;
}

/* --- inputs ----------------------------------------------------------------------------------- */

ls_status ls__input_parts(const ls__graph *graph, ls_signal_ref ref, ls__input_part *parts,
                          uint32_t *count, ls_error *error)
{
    *count = 0;
    if (ref.signal >= graph->signal_count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no signal %" PRIu32, ref.signal);
    const ls__graph_signal *s = &graph->signals[ref.signal];
    if (ref.width == 0 || ref.width > 64 || ref.bit > s->width || ref.width > s->width - ref.bit)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "'%s': bits %" PRIu32 " to %" PRId64 " are not 1 to 64 of its %" PRIu32,
                        s->name, ref.bit, (int64_t)ref.bit + ref.width - 1, s->width);
    if (s->direction != LS__DIRECTION_INPUT)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "'%s' is not an input of the top", s->name);
    /* An input that nothing reads may have no node: no part is fine. */
    for (uint32_t i = 0; i < graph->input_count; i++) {
        const ls__graph_input *in = &graph->inputs[i];
        uint32_t width = graph->nodes[in->node.index].width;
        if (in->signal != ref.signal || in->lsb >= ref.bit + ref.width ||
            ref.bit >= in->lsb + width)
            continue;
        uint32_t low = in->lsb > ref.bit ? in->lsb : ref.bit;
        uint32_t high =
            in->lsb + width < ref.bit + ref.width ? in->lsb + width : ref.bit + ref.width;
        uint64_t mask = ls__node_mask((uint8_t)(high - low)) << (low - in->lsb);
        parts[(*count)++] =
            (ls__input_part){i, mask, (uint8_t)(low - in->lsb), (uint8_t)(low - ref.bit)};
    }
    return LS_OK;
}
