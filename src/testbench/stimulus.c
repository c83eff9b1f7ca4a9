/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the variables of a waveform to the inputs of a design. A port may be one variable, or one
 * variable for every bit. What is read becomes timed operations, of at most 64 bits each.
 */
#include "testbench/stimulus.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"
#include "testbench/vcd.h"

enum { MAX_OPS = 1 << 17 };
#define NONE UINT32_MAX

typedef struct port {
    uint32_t signal;
    const char *name;
    uint32_t width;
    int32_t offset;
    bool upto, is_late;
    uint8_t clock, level; /* edges that matter; the lowest bit now */
    uint64_t *found;      /* bits that have a variable */
} port;

typedef struct link { /* a variable drives bits of a port */
    uint32_t code, port, bit, width;
    uint32_t next; /* with the same code, or NONE */
} link;

struct ls__stimulus {
    ls__os_reader *file;
    ls__vcd_reader *reader;
    ls__arena arena;
    ls__stimulus_params params;
    const ls_design *design;
    port *ports;
    uint32_t port_count;
    LS__VEC(link) links;
    uint32_t *first_link; /* [codes] */
    uint64_t *words;      /* of one value */
    bool has_late, warned_unknown;
    bool has_item; /* `item` is read but not used */
    ls__vcd_item item;
    uint64_t next_edge, base_edge;
    uint64_t *times; /* of edges from base_edge on */
    uint8_t *active; /* the same */
    bool is_active;  /* the step that is read */
    uint32_t active_capacity;
    uint32_t time_count, time_capacity;
    ls_timed_op *ops, *late_ops;
    uint32_t op_count, late_count, op_capacity, late_capacity;
};

static ls_status read_file(void *context, void *bytes, size_t capacity, size_t *count,
                           ls_error *error)
{
    return ls__os_reader_read(context, bytes, capacity, count, error);
}

/* --- which variables -------------------------------------------------------------------------- */

/* The bits of the port that the variable is; false where it is another's. */
static bool match(const port *p, const ls__vcd_variable *v, uint32_t *bit, uint32_t *width)
{
    *bit = 0;
    if (strcmp(v->text, p->name) == 0 && v->width == p->width) {
        *width = p->width;
        return true;
    }
    if (strcmp(v->name, p->name) != 0 || v->is_ignored)
        return false;
    *width = v->width;
    if (v->width == p->width)
        return true;
    if (!v->has_range)
        return false;
    int64_t low = v->msb < v->lsb ? v->msb : v->lsb;
    int64_t high = v->msb < v->lsb ? v->lsb : v->msb;
    if (low < p->offset || high - p->offset >= p->width || high - low + 1 != v->width)
        return false;
    *bit = (uint32_t)(p->upto ? p->offset + (int64_t)p->width - 1 - high : low - p->offset);
    return true;
}

static bool in_scope(const ls__vcd_variable *v, const char *scope)
{
    for (const char *s = v->scope; *s || *scope; s++, scope++)
        if (*s != *scope && !(*s == '.' && *scope == '/'))
            return false;
    return true;
}

/* How many input bits have a variable in the scope; links them when `st` is to keep them. */
static uint64_t count_found(ls__stimulus *st, const char *scope, bool keep)
{
    uint32_t count;
    uint64_t found = 0;
    const ls__vcd_variable *variables = ls__vcd_reader_variables(st->reader, &count);
    for (uint32_t i = 0; i < st->port_count; i++)
        memset(st->ports[i].found, 0, (st->ports[i].width + 63) / 64 * sizeof(uint64_t));
    for (uint32_t k = 0; k < count; k++) {
        if (!in_scope(&variables[k], scope))
            continue;
        for (uint32_t i = 0; i < st->port_count; i++) {
            uint32_t bit, width;
            if (!match(&st->ports[i], &variables[k], &bit, &width))
                continue;
            for (uint32_t b = bit; b < bit + width; b++) {
                uint64_t mask = UINT64_C(1) << (b % 64);
                found += !(st->ports[i].found[b / 64] & mask);
                st->ports[i].found[b / 64] |= mask;
            }
            if (keep)
                ls__vec_push(&st->arena, &st->links,
                             ((link){variables[k].code, i, bit, width, NONE}));
        }
    }
    return found;
}

static uint64_t all_bits(const ls__stimulus *st)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < st->port_count; i++)
        bits += st->ports[i].width;
    return bits;
}

/* The scope of that name, or the shortest one whose last part it is. */
static const char *scope_named(const ls__stimulus *st, const char *name)
{
    uint32_t count;
    const char *best = NULL;
    const ls__vcd_variable *variables = ls__vcd_reader_variables(st->reader, &count);
    for (uint32_t k = 0; k < count; k++) {
        const char *scope = variables[k].scope, *dot = strrchr(scope, '.');
        if (strcmp(dot ? dot + 1 : scope, name) == 0 && (!best || strlen(scope) < strlen(best)))
            best = scope;
    }
    return best;
}

static const char *detect_scope(ls__stimulus *st)
{
    static const char *const usual[] = {"dut", "uut", "DUT", "UUT", "top"};
    uint32_t count;
    uint64_t needed = all_bits(st), best_found = 0;
    const char *best = "", *last = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const char *scope = scope_named(st, usual[i]);
        if (scope && count_found(st, scope, false) == needed)
            return scope;
    }
    const ls__vcd_variable *variables = ls__vcd_reader_variables(st->reader, &count);
    for (uint32_t k = 0; k < count; k++) {
        if (last && strcmp(variables[k].scope, last) == 0)
            continue;
        last = variables[k].scope;
        uint64_t found = count_found(st, last, false);
        if (found > best_found || best_found == 0) {
            best = last;
            best_found = found;
        }
        if (found == needed)
            break;
    }
    return best;
}

static ls_status report_missing(const ls__stimulus *st, const char *scope, ls_error *error)
{
    ls__strbuf names = {0};
    uint32_t missing = 0;
    for (uint32_t i = 0; i < st->port_count; i++) {
        const port *p = &st->ports[i];
        bool whole = true;
        for (uint32_t b = 0; b < p->width; b++)
            whole &= (p->found[b / 64] >> (b % 64)) & 1;
        if (whole)
            continue;
        if (missing++ < 8)
            ls__strbuf_printf(&names, "%s%s", missing > 1 ? ", " : "", p->name);
    }
    if (missing > 8)
        ls__strbuf_printf(&names, " and %u more", missing - 8);
    ls__fail(error, LS_E_NOT_FOUND, "the stimulus lacks inputs in scope '%s': %s", scope,
             names.text ? names.text : "");
    ls__fail_where(error, LS_E_NOT_FOUND, "%s", st->params.path);
    ls__strbuf_finish(&names);
    return ls__fail_hint(error, LS_E_NOT_FOUND,
                         "name the scope of the design with --input-vcd-scope");
}

static ls_status find_ports(ls__stimulus *st, ls_error *error)
{
    ls_design_info info = {.struct_size = sizeof info};
    ls_design_describe(st->design, &info);
    st->ports = LS__NEW_ARRAY(&st->arena, port, info.port_count + (size_t)1);
    for (uint32_t i = 0; i < info.port_count; i++) {
        ls_signal_info s;
        ls_status status = ls_design_signal(st->design, i, &s, error);
        if (status != LS_OK)
            return status;
        if (s.kind != LS_SIGNAL_INPUT)
            continue;
        port *p = &st->ports[st->port_count++];
        *p = (port){.signal = i,
                    .name = s.name,
                    .width = s.width,
                    .offset = s.offset,
                    .upto = s.upto,
                    .clock = st->params.clocks ? st->params.clocks[i] : 0};
        p->found = LS__NEW_ARRAY(&st->arena, uint64_t, (s.width + 63) / 64 + (size_t)1);
    }
    for (uint32_t k = 0; k < st->params.late_count; k++) {
        ls_signal_ref ref;
        ls_status status = ls_design_find(st->design, st->params.late[k], &ref, error);
        if (status != LS_OK)
            return status;
        for (uint32_t i = 0; i < st->port_count; i++)
            st->ports[i].is_late |= st->ports[i].signal == ref.signal;
        st->has_late = true;
    }
    return LS_OK;
}

static ls_status connect(ls__stimulus *st, ls_error *error)
{
    ls_status status = find_ports(st, error);
    if (status != LS_OK)
        return status;
    const char *scope = st->params.scope ? st->params.scope : detect_scope(st);
    if (count_found(st, scope, true) != all_bits(st))
        return report_missing(st, scope, error);
    uint32_t codes = ls__vcd_reader_code_count(st->reader), widest = 1, count;
    const ls__vcd_variable *variables = ls__vcd_reader_variables(st->reader, &count);
    for (uint32_t k = 0; k < count; k++)
        widest = variables[k].width > widest ? variables[k].width : widest;
    st->words = LS__NEW_ARRAY(&st->arena, uint64_t, (widest + 63) / 64);
    st->first_link = LS__NEW_ARRAY(&st->arena, uint32_t, codes + (size_t)1);
    for (uint32_t k = 0; k < codes; k++)
        st->first_link[k] = NONE;
    for (uint32_t k = st->links.count; k-- > 0;) {
        link *l = &st->links.items[k];
        l->next = st->first_link[l->code];
        st->first_link[l->code] = k;
    }
    return LS_OK;
}

ls_status ls__stimulus_open(const ls_design *design, const ls__stimulus_params *params,
                            ls__stimulus **stimulus, ls_error *error)
{
    ls__oom oom;
    *stimulus = NULL;
    ls__stimulus *st = ls__mem_alloc(1, sizeof *st);
    if (!st)
        return ls__fail_oom(error, sizeof *st);
    st->design = design;
    st->params = *params;
    ls__arena_init(&st->arena, &oom, 0);
    ls_status status = ls__os_reader_open(params->path, &st->file, error);
    ls__vcd_source source = {read_file, st->file, params->path};
    if (status == LS_OK)
        status = ls__vcd_reader_open(&source, params->warn, params->context, &st->reader, error);
    if (status == LS_OK)
        status = setjmp(oom.jump) ? ls__oom_status(&oom, error) : connect(st, error);
    if (status != LS_OK)
        ls__stimulus_close(&st);
    *stimulus = st;
    return status;
}

void ls__stimulus_close(ls__stimulus **stimulus)
{
    ls__stimulus *st = *stimulus;
    *stimulus = NULL;
    if (!st)
        return;
    ls__vcd_reader_close(&st->reader);
    ls__os_reader_close(&st->file);
    ls__arena_finish(&st->arena);
    ls__mem_free(st->active);
    ls__mem_free(st->times);
    ls__mem_free(st->ops);
    ls__mem_free(st->late_ops);
    ls__mem_free(st);
}

const char *ls__stimulus_timescale(const ls__stimulus *stimulus)
{
    return ls__vcd_reader_timescale(stimulus->reader);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool grow(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t more = *capacity ? *capacity * 2 : 1024;
    void *grown = ls__mem_realloc(*items, more, size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

/* Notes the edges of clocks. */
static void look_at_clock(ls__stimulus *st, port *p, uint64_t value)
{
    uint8_t level = value & 1;
    if (level != p->level)
        st->is_active |= (p->clock & (level ? LS_CLOCK_RISING : LS_CLOCK_FALLING)) != 0;
    p->level = level;
}

static bool add_op(ls__stimulus *st, port *p, uint32_t bit, uint32_t width, uint64_t value)
{
    if (p->clock && bit == 0)
        look_at_clock(st, p, value);
    bool is_late = p->is_late;
    ls_timed_op op = {st->next_edge + (is_late ? 1 : 0), {p->signal, bit, width}, value};
    if (is_late) {
        if (!grow((void **)&st->late_ops, st->late_count, &st->late_capacity, sizeof op))
            return false;
        st->late_ops[st->late_count++] = op;
        return true;
    }
    if (!grow((void **)&st->ops, st->op_count, &st->op_capacity, sizeof op))
        return false;
    st->ops[st->op_count++] = op;
    return true;
}

static ls_status apply_value(ls__stimulus *st, const ls__vcd_item *item, ls_error *error)
{
    for (uint32_t k = st->first_link[item->code]; k != NONE; k = st->links.items[k].next) {
        const link *l = &st->links.items[k];
        bool unknown = ls__vcd_bits(item->digits, item->digit_count, l->width, st->words);
        if (unknown && !st->warned_unknown && st->params.warn) {
            st->warned_unknown = true;
            st->params.warn(st->params.context,
                            "the stimulus has bits that are x or z: they are taken as 0");
        }
        for (uint32_t first = 0; first < l->width; first += 64) {
            uint32_t width = l->width - first < 64 ? l->width - first : 64;
            if (!add_op(st, &st->ports[l->port], l->bit + first, width, st->words[first / 64]))
                return ls__fail_oom(error, st->op_capacity * sizeof *st->ops);
        }
    }
    return LS_OK;
}

static ls_status add_time(ls__stimulus *st, uint64_t time, ls_error *error)
{
    if (!grow((void **)&st->times, st->time_count, &st->time_capacity, sizeof *st->times))
        return ls__fail_oom(error, st->time_capacity * sizeof *st->times);
    if (!grow((void **)&st->active, st->time_count, &st->active_capacity, 1))
        return ls__fail_oom(error, st->active_capacity);
    st->active[st->time_count] = 0;
    st->times[st->time_count++] = time;
    return LS_OK;
}

/* The end of a time stamp: late operations follow as an edge of their own, where there are any. */
static ls_status end_step(ls__stimulus *st, ls_error *error)
{
    ls_status status = LS_OK;
    uint32_t late_count = st->late_count;
    st->active[st->time_count - 1] = st->is_active;
    st->is_active = false;
    st->next_edge++;
    if (!st->has_late)
        return LS_OK;
    status = add_time(st, st->times[st->time_count - 1], error);
    st->next_edge++;
    for (uint32_t i = 0; status == LS_OK && i < late_count; i++) {
        if (!grow((void **)&st->ops, st->op_count, &st->op_capacity, sizeof *st->ops))
            return ls__fail_oom(error, st->op_capacity * sizeof *st->ops);
        st->ops[st->op_count++] = st->late_ops[i];
    }
    st->late_count = 0;
    return status;
}

/* One time stamp: its time is known, its values are read until the next time. */
static ls_status read_step(ls__stimulus *st, ls_error *error)
{
    uint64_t time = st->item.kind == LS__VCD_TIME ? st->item.time : 0;
    ls_status status = add_time(st, time, error);
    if (status == LS_OK && st->item.kind == LS__VCD_VALUE)
        status = apply_value(st, &st->item, error);
    while (status == LS_OK) {
        status = ls__vcd_reader_next(st->reader, &st->item, error);
        if (status != LS_OK || st->item.kind == LS__VCD_END ||
            (st->item.kind == LS__VCD_TIME && st->item.time != time))
            break;
        if (st->item.kind == LS__VCD_VALUE)
            status = apply_value(st, &st->item, error);
    }
    if (status == LS_OK)
        status = end_step(st, error);
    return status;
}

ls_status ls__stimulus_read(ls__stimulus *st, ls_cosim *cosim, uint32_t edge_limit,
                            uint64_t time_limit, uint64_t *next_edge, ls_error *error)
{
    ls_status status = LS_OK;
    st->base_edge = st->next_edge;
    st->time_count = st->op_count = 0;
    if (!st->has_item) {
        status = ls__vcd_reader_next(st->reader, &st->item, error);
        st->has_item = true;
    }
    while (status == LS_OK && st->item.kind != LS__VCD_END && st->item.time < time_limit &&
           st->time_count < edge_limit && st->op_count < MAX_OPS)
        status = read_step(st, error);
    if (status == LS_OK && st->op_count)
        status = ls_cosim_stimulus(cosim, LS_COSIM_ALL, st->ops, st->op_count, error);
    *next_edge = st->next_edge;
    return status;
}

uint64_t ls__stimulus_time(const ls__stimulus *st, uint64_t edge)
{
    uint64_t place = edge < st->base_edge ? 0 : edge - st->base_edge;
    if (st->time_count == 0)
        return 0;
    return st->times[place < st->time_count ? place : st->time_count - 1];
}

bool ls__stimulus_is_active(const ls__stimulus *st, uint64_t edge)
{
    return edge >= st->base_edge && edge - st->base_edge < st->time_count &&
           st->active[edge - st->base_edge];
}
