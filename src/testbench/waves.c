/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing signals, and the changes of a run into waveforms. The first step of a waveform holds all
 * its signals. When the first edge of its window changes nothing, that step is written when the
 * first later change comes, from values saved before.
 */
#include "testbench/waves.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/status.h"
#include "testbench/names.h"
#include "testbench/vcd.h"

#define NONE UINT32_MAX

typedef struct wave {
    ls__wave_params params;
    ls__vcd_writer *writer; /* NULL before ls__waves_open */
    uint32_t *signals;      /* of the design, ascending; [count] */
    uint32_t count;
    uint32_t *of_trace; /* [trace_count]: number in `signals` or NONE */
    uint32_t *traces;   /* [count]: number in the trace */
    uint64_t from_edge, to_edge;
    uint64_t from_time;       /* once is_saved */
    uint64_t *saved, *places; /* values before from_edge; places: [count + 1], first words */
    uint8_t *dirty;           /* [count]: taken, not yet written */
    bool is_saved, has_begun;
    ls_error error; /* code LS_OK: none; with one, nothing more is written */
    struct wave *next;
} wave;

struct ls__waves {
    const ls_design *design;
    uint64_t (*time_of)(void *context, uint64_t edge);
    void *context;
    wave *first;
    uint8_t *marked; /* [signal_count]: in some waveform */
    uint32_t signal_count;
    uint32_t *trace, trace_count;
};

ls_status ls__waves_create(const ls_design *design,
                           uint64_t (*time_of)(void *context, uint64_t edge), void *context,
                           ls__waves **waves, ls_error *error)
{
    ls_design_info info = {.struct_size = sizeof info};
    *waves = NULL;
    ls__waves *w = ls__mem_alloc(1, sizeof *w);
    if (!w)
        return ls__fail_oom(error, sizeof *w);
    ls_design_describe(design, &info);
    w->design = design;
    w->time_of = time_of;
    w->context = context;
    w->signal_count = info.signal_count;
    w->marked = ls__mem_alloc(info.signal_count, 1);
    if (!w->marked) {
        ls__mem_free(w);
        return ls__fail_oom(error, info.signal_count);
    }
    *waves = w;
    return LS_OK;
}

/* --- which signals ---------------------------------------------------------------------------- */

static bool is_chosen(ls__trace_choice choice, const ls_signal_info *s)
{
    bool is_input = s->kind == LS_SIGNAL_INPUT, is_output = s->kind == LS_SIGNAL_OUTPUT;
    switch (choice) {
    case LS__TRACE_ALL:
        return true;
    case LS__TRACE_PORTS:
        return is_input || is_output;
    case LS__TRACE_OUTPUTS:
        return is_output;
    case LS__TRACE_INPUTS:
        return is_input;
    default:
        return !s->is_hidden;
    }
}

/* Marks what the lines of the text name. */
static ls_status mark_names(const ls__waves *w, const ls__wave_params *p, uint8_t *chosen,
                            ls_error *error)
{
    const char *text = p->names;
    for (uint32_t line = 1; text && *text; line++) {
        size_t length = strcspn(text, "\n"), end = length;
        const char *comment = memchr(text, '#', length);
        if (comment)
            end = (size_t)(comment - text);
        ls__str pattern = {text, end};
        ls_status status = ls__names_mark(w->design, pattern, chosen, error);
        if (status != LS_OK)
            return ls__fail_where(error, status, "%s, line %u", p->names_path, line);
        text += length + (text[length] == '\n');
    }
    return LS_OK;
}

static ls_status choose(const ls__waves *w, const ls__wave_params *p, wave *made, ls_error *error)
{
    ls_signal_info info;
    uint8_t *chosen = ls__mem_alloc(w->signal_count, 1);
    made->signals = ls__mem_alloc(w->signal_count, sizeof *made->signals);
    if (!chosen || !made->signals) {
        ls__mem_free(chosen);
        return ls__fail_oom(error, w->signal_count * sizeof *made->signals);
    }
    ls_status status = mark_names(w, p, chosen, error);
    for (uint32_t i = 0; status == LS_OK && i < w->signal_count; i++) {
        status = ls_design_signal(w->design, i, &info, error);
        if (status == LS_OK && info.width > 0 && (chosen[i] || is_chosen(p->choice, &info))) {
            made->signals[made->count++] = i;
            w->marked[i] = 1;
        }
    }
    ls__mem_free(chosen);
    return status;
}

static ls_status open_file(const ls__waves *w, wave *made, ls_error *error)
{
    const ls__wave_params *p = &made->params;
    ls_status status = LS_OK;
    ls__vcd_signal *signals = ls__mem_alloc(made->count, sizeof *signals);
    if (!signals)
        return ls__fail_oom(error, made->count * sizeof *signals);
    for (uint32_t i = 0; status == LS_OK && i < made->count; i++) {
        ls_signal_info info;
        status = ls_design_signal(w->design, made->signals[i], &info, error);
        if (status == LS_OK)
            signals[i] = (ls__vcd_signal){info.name, info.width, info.offset, info.upto,
                                          info.kind == LS_SIGNAL_REGISTER};
    }
    ls__vcd_writer_params params = {.path = p->path,
                                    .timescale = p->timescale,
                                    .scope = p->scope,
                                    .signals = signals,
                                    .signal_count = made->count,
                                    .is_flat = p->is_flat};
    if (status == LS_OK)
        status = ls__vcd_writer_open(&params, &made->writer, error);
    ls__mem_free(signals);
    return status;
}

static ls_status destroy_wave(wave *v, ls_error *error)
{
    ls_status status = ls__vcd_writer_close(&v->writer, error);
    ls__mem_free(v->dirty);
    ls__mem_free(v->saved);
    ls__mem_free(v->places);
    ls__mem_free(v->traces);
    ls__mem_free(v->of_trace);
    ls__mem_free(v->signals);
    ls__mem_free(v);
    return status;
}

ls_status ls__waves_add(ls__waves *w, const ls__wave_params *params, ls_error *error)
{
    wave *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->params = *params;
    made->from_edge = params->from_edge;
    made->to_edge = params->to_edge;
    ls_status status = choose(w, params, made, error);
    if (status != LS_OK) {
        destroy_wave(made, NULL);
        return status;
    }
    made->next = w->first;
    w->first = made;
    return LS_OK;
}

ls_status ls__waves_open(ls__waves *w, ls_error *error)
{
    ls_status status = LS_OK;
    for (wave *v = w->first; v && status == LS_OK; v = v->next)
        status = open_file(w, v, error);
    return status;
}

/* --- the trace -------------------------------------------------------------------------------- */

static bool place_wave(const ls__waves *w, const uint32_t *trace_of_signal, wave *v)
{
    uint64_t words = 0;
    v->of_trace = ls__mem_alloc(w->trace_count, sizeof *v->of_trace);
    v->traces = ls__mem_alloc(v->count, sizeof *v->traces);
    v->places = ls__mem_alloc(v->count + (size_t)1, sizeof *v->places);
    if (!v->of_trace || !v->traces || !v->places)
        return false;
    memset(v->of_trace, 0xff, w->trace_count * sizeof *v->of_trace);
    for (uint32_t i = 0; i < v->count; i++) {
        ls_signal_info info;
        v->traces[i] = trace_of_signal[v->signals[i]];
        v->of_trace[v->traces[i]] = i;
        v->places[i] = words;
        ls_design_signal(w->design, v->signals[i], &info, NULL);
        words += (info.width + 63) / 64;
    }
    v->places[v->count] = words;
    v->saved = ls__mem_alloc(words, sizeof *v->saved);
    v->dirty = ls__mem_alloc(v->count, 1);
    return v->saved && v->dirty;
}

void ls__waves_trace_all(ls__waves *w)
{
    for (uint32_t i = 0; i < w->signal_count; i++) {
        ls_signal_info info;
        w->marked[i] = ls_design_signal(w->design, i, &info, NULL) == LS_OK && info.width > 0;
    }
}

ls_status ls__waves_trace(ls__waves *w, const uint32_t **trace, uint32_t *count, ls_error *error)
{
    uint32_t *of_signal = ls__mem_alloc(w->signal_count, sizeof *of_signal);
    bool good = of_signal != NULL;
    w->trace = ls__mem_alloc(w->signal_count, sizeof *w->trace);
    good = good && w->trace;
    for (uint32_t i = 0; good && i < w->signal_count; i++)
        if (w->marked[i]) {
            of_signal[i] = w->trace_count;
            w->trace[w->trace_count++] = i;
        }
    for (wave *v = w->first; good && v; v = v->next)
        good = place_wave(w, of_signal, v);
    ls__mem_free(of_signal);
    *count = w->trace_count;
    *trace = w->trace;
    return good ? LS_OK : ls__fail_oom(error, w->signal_count * sizeof *of_signal);
}

/* --- the run ---------------------------------------------------------------------------------- */

ls_status ls__waves_failed(const ls__waves *w, ls_error *error)
{
    const wave *v = w->first;
    while (v && v->error.code == LS_OK)
        v = v->next;
    if (error && v)
        *error = v->error;
    return v ? v->error.code : LS_OK;
}

void ls__waves_window(ls__waves *w, uint64_t from_edge, uint64_t to_edge)
{
    for (wave *v = w->first; v; v = v->next) {
        v->from_edge = from_edge;
        v->to_edge = to_edge;
    }
}

void ls__waves_prepare(ls__waves *w, const ls_cosim *cosim, uint64_t edge, uint64_t *until_edge)
{
    for (wave *v = w->first; v; v = v->next) {
        if (v->from_edge > edge && v->from_edge < *until_edge)
            *until_edge = v->from_edge;
        if (v->from_edge != edge || v->is_saved)
            continue;
        for (uint32_t i = 0; i < v->count; i++)
            memcpy(v->saved + v->places[i], ls_cosim_traced(cosim, v->traces[i]),
                   (v->places[i + 1] - v->places[i]) * sizeof *v->saved);
        v->from_time = w->time_of(w->context, edge);
        v->is_saved = true;
    }
}

/* The first step of a waveform; `cosim` NULL: from what was saved. */
static void begin(const ls_cosim *cosim, wave *v)
{
    ls__vcd_writer_time(v->writer, v->from_time, &v->error);
    for (uint32_t i = 0; i < v->count; i++)
        ls__vcd_writer_value(
            v->writer, i, cosim ? ls_cosim_traced(cosim, v->traces[i]) : v->saved + v->places[i]);
    ls__vcd_writer_dumped(v->writer);
    v->has_begun = true;
}

static void change(const ls__waves *w, const ls_cosim *cosim, wave *v, uint64_t edge,
                   const uint32_t *traced, uint32_t count)
{
    bool has_time = false;
    if (!v->has_begun) {
        begin(edge == v->from_edge ? cosim : NULL, v);
        if (edge == v->from_edge)
            return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t signal = v->of_trace[traced[i]];
        if (signal == NONE)
            continue;
        if (!has_time)
            ls__vcd_writer_time(v->writer, w->time_of(w->context, edge), &v->error);
        has_time = true;
        ls__vcd_writer_value(v->writer, signal, ls_cosim_traced(cosim, traced[i]));
    }
}

void ls__waves_changes(ls__waves *w, const ls_cosim *cosim, uint64_t edge, const uint32_t *traced,
                       uint32_t count)
{
    for (wave *v = w->first; v; v = v->next)
        if (v->error.code == LS_OK && v->is_saved && edge >= v->from_edge && edge < v->to_edge)
            change(w, cosim, v, edge, traced, count);
}

void ls__waves_collect(ls__waves *w, const ls_cosim *cosim, const uint32_t *traced, uint32_t count)
{
    for (wave *v = w->first; v; v = v->next)
        for (uint32_t i = 0; v->is_saved && i < count; i++) {
            uint32_t signal = v->of_trace[traced[i]];
            if (signal == NONE)
                continue;
            memcpy(v->saved + v->places[signal], ls_cosim_traced(cosim, traced[i]),
                   (v->places[signal + 1] - v->places[signal]) * sizeof *v->saved);
            v->dirty[signal] = 1;
        }
}

static void write_row(wave *v, uint64_t time)
{
    bool has_time = false;
    if (!v->has_begun) {
        v->from_time = time;
        begin(NULL, v);
        memset(v->dirty, 0, v->count);
    }
    for (uint32_t i = 0; i < v->count && v->error.code == LS_OK; i++) {
        if (!v->dirty[i])
            continue;
        if (!has_time)
            ls__vcd_writer_time(v->writer, time, &v->error);
        has_time = true;
        ls__vcd_writer_value(v->writer, i, v->saved + v->places[i]);
        v->dirty[i] = 0;
    }
}

void ls__waves_row(ls__waves *w, uint64_t time)
{
    for (wave *v = w->first; v; v = v->next)
        if (v->is_saved && v->error.code == LS_OK)
            write_row(v, time);
}

ls_status ls__waves_flush(ls__waves *w, ls_error *error)
{
    for (wave *v = w->first; v; v = v->next)
        if (v->error.code == LS_OK)
            ls__vcd_writer_flush(v->writer, &v->error);
    return ls__waves_failed(w, error);
}

ls_status ls__waves_close(ls__waves **waves, ls_error *error)
{
    ls__waves *w = *waves;
    *waves = NULL;
    if (!w)
        return LS_OK;
    ls_status status = ls__waves_failed(w, error);
    while (w->first) {
        wave *v = w->first;
        w->first = v->next;
        if (v->is_saved && !v->has_begun)
            begin(NULL, v);
        ls_status closed = destroy_wave(v, status == LS_OK ? error : NULL);
        status = status == LS_OK ? closed : status;
    }
    ls__mem_free(w->trace);
    ls__mem_free(w->marked);
    ls__mem_free(w);
    return status;
}
