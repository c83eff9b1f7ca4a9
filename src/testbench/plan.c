/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, reset, constants and contents; files. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"
#include "testbench/plan_private.h"

#define DEFAULT_PERIOD_PS 40000
#define MAX_FILE_BYTES (UINT64_C(1) << 30) /* as of other images */

/* --- what planners share ---------------------------------------------------------------------- */

void ls__planner_fail(ls__planner *p, ls_status code, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (p->status != LS_OK)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    p->status = ls__fail(p->error, code, "%s", text);
    ls__fail_where(p->error, code, "%s", p->params.config_path);
}

void ls__planner_warn(ls__planner *p, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (p->params.warn)
        p->params.warn(p->params.context, text);
}

void ls__planner_place(ls_error *error, const char *place)
{
    char message[sizeof error->message];
    size_t length = strlen(place);
    if (!error || length > sizeof message / 2)
        return;
    memcpy(message, error->message, sizeof message);
    snprintf(error->message, sizeof error->message, "%s: %.*s", place,
             (int)(sizeof message - length - 3), message);
}

static bool find(ls__planner *p, const char *name, bool is_needed, ls_signal_ref *ref,
                 const char *place)
{
    ls_error error = {0};
    *ref = (ls_signal_ref){0};
    if (p->status != LS_OK)
        return false;
    if (ls_design_find(p->params.design, name, ref, &error) == LS_OK)
        return true;
    *ref = (ls_signal_ref){0};
    if (is_needed) {
        ls__planner_fail(p, error.code, "%s: %s", place, error.message);
        ls__fail_hint(p->error, p->status, "%s", error.hint);
    }
    return false;
}

bool ls__planner_find(ls__planner *p, const char *name, bool is_needed, ls_signal_ref *ref,
                      const char *format, ...)
{
    char place[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place, sizeof place, format, arguments);
    va_end(arguments);
    return find(p, name, is_needed, ref, place);
}

bool ls__planner_pin(ls__planner *p, const ls__config_pin *pin, bool is_input, bool is_needed,
                     ls_signal_ref *ref, const char *format, ...)
{
    char place[128], name[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place, sizeof place, format, arguments);
    va_end(arguments);
    *ref = (ls_signal_ref){0};
    if (pin->signal)
        return find(p, pin->signal, true, ref, place);
    if (pin->gpio < 0)
        return false;
    const ls__config_map *map = is_input ? p->config->inputs : p->config->outputs;
    uint32_t count = is_input ? p->config->input_count : p->config->output_count;
    for (uint32_t i = 0; i < count; i++)
        if (map[i].gpio == pin->gpio)
            return find(p, map[i].port, true, ref, place);
    snprintf(name, sizeof name, "gpio_%s[%lld]", is_input ? "in" : "out", (long long)pin->gpio);
    if (find(p, name, false, ref, place))
        return true;
    snprintf(name, sizeof name, "gpio_%s:%lld", is_input ? "in" : "out", (long long)pin->gpio);
    if (find(p, name, false, ref, place))
        return true;
    if (is_needed)
        ls__planner_fail(p, LS_E_NOT_FOUND, "%s: port_mapping.%s has no gpio %lld", place,
                         is_input ? "inputs" : "outputs", (long long)pin->gpio);
    return false;
}

char *ls__plan_path(const char *config_path, const char *name, uint32_t instance)
{
    static const char mark[] = "{instance}";
    ls__strbuf path = {0}, file = {0};
    const char *slash = config_path ? strrchr(config_path, '/') : NULL;
    for (const char *at; (at = strstr(name, mark)); name = at + sizeof mark - 1) {
        ls__strbuf_append(&file, name, (size_t)(at - name));
        ls__strbuf_printf(&file, "%u", instance);
    }
    ls__strbuf_append(&file, name, strlen(name) + 1);
    if (slash && file.text && file.text[0] != '/') {
        ls__strbuf_append(&path, config_path, (size_t)(slash - config_path) + 1);
        ls__strbuf_append(&path, file.text, file.length);
    }
    bool is_relative = path.text && access(path.text, F_OK) == 0;
    char *result =
        file.failed || path.failed ? NULL : ls__mem_strdup(is_relative ? path.text : file.text);
    ls__strbuf_finish(&path);
    ls__strbuf_finish(&file);
    return result;
}

const void *ls__planner_file(ls__planner *p, const char *name, uint32_t instance, size_t *size)
{
    void *bytes = NULL;
    *size = 0;
    if (p->status != LS_OK)
        return NULL;
    char *path = ls__plan_path(p->params.config_path, name, instance);
    if (!path)
        p->status = ls__fail_oom(p->error, strlen(name));
    else
        p->status = ls__os_read_file(path, MAX_FILE_BYTES, &bytes, size, p->error);
    ls__mem_free(path);
    if (bytes)
        ls__vec_push(&p->arena, &p->files, bytes);
    return bytes;
}

const void *ls__planner_image(ls__planner *p, const char *name, uint32_t instance, size_t *size)
{
    ls_image_params params = LS_IMAGE_PARAMS_INIT;
    void *bytes = NULL;
    uint64_t count = 0;
    *size = 0;
    if (p->status != LS_OK)
        return NULL;
    char *path = ls__plan_path(p->params.config_path, name, instance);
    params.path = path;
    params.address = LS_IMAGE_LOWEST;
    params.fill = 0xff;
    p->status = path ? ls_image_load(&params, &bytes, &count, p->error)
                     : ls__fail_oom(p->error, strlen(name));
    ls__mem_free(path);
    *size = (size_t)count;
    if (bytes)
        ls__vec_push(&p->arena, &p->files, bytes);
    return bytes;
}

uint64_t ls__planner_edges(const ls__planner *p, uint64_t cycles)
{
    uint64_t edges, time_ps;
    ls__schedule_rate(p->plan.schedule, &edges, &time_ps);
    __extension__ unsigned __int128 product =
        (unsigned __int128)cycles * p->plan.clock_period_ps * edges + time_ps / 2;
    product /= time_ps;
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* --- clocks ----------------------------------------------------------------------------------- */

static bool same_signal(ls_signal_ref a, ls_signal_ref b)
{
    return a.signal == b.signal && a.bit == b.bit && a.width == b.width;
}

/* What JTAG replays drives its clock itself. */
static ls_signal_ref jtag_clock(ls__planner *p)
{
    ls_signal_ref ref = {0};
    const ls__config_jtag *j = &p->config->jtag;
    if (j->is_given && (p->params.jtag_replay || j->replay))
        ls__planner_pin(p, &j->tck, true, true, &ref, ".jtag.tck");
    return ref;
}

static uint64_t system_period(const ls__config *c)
{
    if (c->clock_period_ps)
        return c->clock_period_ps;
    for (uint32_t i = 0; i < c->clock_count; i++)
        if (c->clocks[i].pin.gpio == c->clock.gpio && !c->clocks[i].pin.signal == !c->clock.signal)
            return c->clocks[i].period_ps;
    return c->clock_count ? c->clocks[0].period_ps : DEFAULT_PERIOD_PS;
}

static void plan_jitter(ls__planner *p)
{
    const ls__config *c = p->config;
    uint64_t most = ls__schedule_most_jitter(p->plan.schedule);
    for (uint32_t i = 0; i < c->clock_count; i++) {
        const ls__config_clock *from = &c->clocks[i];
        const char *name = from->name         ? from->name
                           : from->pin.signal ? from->pin.signal
                                              : from->place;
        ls__schedule_set_jitter(p->plan.schedule, i, from->jitter_ps,
                                ls__hash64(name, strlen(name), p->params.master_seed));
        if (from->jitter_ps > most)
            ls__planner_warn(p, "%s: %s.jitter_ps: cut to %llu ps, so that edges stay in order",
                             p->params.config_path, from->place, (unsigned long long)most);
    }
}

static void plan_clocks(ls__planner *p)
{
    const ls__config *c = p->config;
    uint32_t count = c->clock_count ? c->clock_count : 1;
    ls__clock *clocks = LS__NEW_ARRAY(&p->arena, ls__clock, count);
    ls_signal_ref tck = jtag_clock(p);
    p->plan.clock_period_ps = system_period(c);
    for (uint32_t i = 0; i < c->clock_count; i++) {
        const ls__config_clock *from = &c->clocks[i];
        clocks[i] = (ls__clock){{0}, from->period_ps, from->phase_ps, from->high_ps};
        ls__planner_pin(p, &from->pin, true, true, &clocks[i].signal, "%s", from->place);
        ls__planner_claim(
            p,
            (ls__claim){.kind = LS__CLAIM_CLOCK, .signal = clocks[i].signal, .place = from->place});
    }
    if (c->clock_count == 0) {
        const char *place = c->clock.signal ? ".clock" : ".clock_gpio";
        clocks[0] = (ls__clock){.period_ps = p->plan.clock_period_ps};
        ls__planner_pin(p, &c->clock, true, true, &clocks[0].signal, "%s", place);
        ls__planner_claim(
            p, (ls__claim){.kind = LS__CLAIM_CLOCK, .signal = clocks[0].signal, .place = place});
    }
    for (uint32_t i = 0; i < count; i++) {
        if (p->status == LS_OK && clocks[i].signal.width != 1)
            ls__planner_fail(p, LS_E_FORMAT, "%s: a clock must be one bit",
                             c->clock_count ? c->clocks[i].place : ".clock");
        if (tck.width && same_signal(tck, clocks[i].signal))
            clocks[i].signal.width = 0;
    }
    if (p->status == LS_OK)
        p->status =
            ls__schedule_create(clocks, count, p->params.compat, &p->plan.schedule, p->error);
    if (p->status == LS_OK)
        plan_jitter(p);
}

/* --- constants and reset ---------------------------------------------------------------------- */

static void add_op(ls__planner *p, uint64_t edge, ls_signal_ref signal, uint64_t value)
{
    ls__vec_push(&p->arena, &p->ops, ((ls_timed_op){edge, signal, value}));
}

/* The first edge at so many periods of the system clock. */
static uint64_t edge_of_cycle(const ls__planner *p, uint64_t cycles)
{
    bool is_far = cycles > (UINT64_C(1) << 62) / p->plan.clock_period_ps;
    bool is_slow = ls__schedule_is_streamed(p->plan.schedule) && cycles > 1000000;
    if (p->params.compat || is_far || is_slow)
        return ls__planner_edges(p, cycles);
    return ls__schedule_edge(p->plan.schedule, cycles * p->plan.clock_period_ps);
}

static void plan_levels(ls__planner *p)
{
    const ls__config *c = p->config;
    ls_signal_ref ref;
    for (uint32_t i = 0; i < c->constant_count; i++) {
        const ls__config_constant *k = &c->constants[i];
        if (!ls__planner_pin(p, &k->pin, true, true, &ref, "%s", k->place))
            continue;
        if (ref.width > 64)
            ls__planner_fail(p, LS_E_FORMAT, "%s: more than 64 bits", k->place);
        else if (ref.width < 64 && k->value >> ref.width)
            ls__planner_fail(p, LS_E_FORMAT, "%s: %llu does not fit in %u bits", k->place,
                             (unsigned long long)k->value, ref.width);
        ls__planner_claim(
            p, (ls__claim){.kind = LS__CLAIM_CONSTANT, .signal = ref, .place = k->place});
        add_op(p, 0, ref, k->value);
    }
    const char *place = c->reset.signal ? ".reset" : ".reset_gpio";
    if (!ls__planner_pin(p, &c->reset, true, c->reset.signal || c->reset.gpio >= 0, &ref, "%s",
                         place))
        return;
    ls__planner_claim(p, (ls__claim){.kind = LS__CLAIM_RESET, .signal = ref, .place = place});
    p->plan.reset_edges = edge_of_cycle(p, c->reset_cycles);
    if (p->plan.reset_edges)
        add_op(p, 0, ref, c->reset_active_high);
    add_op(p, p->plan.reset_edges, ref, !c->reset_active_high);
}

uint64_t ls__plan_edges(const ls__plan *plan, uint64_t cycles)
{
    return edge_of_cycle((const ls__planner *)plan, cycles);
}

/* --- contents --------------------------------------------------------------------------------- */

static void add_contents(ls__planner *p, const ls__config_memory *m, const char *place,
                         uint32_t memory, uint32_t instance)
{
    static const struct {
        const char *name;
        ls_image_format format;
    } formats[] = {{"hex", LS_IMAGE_READMEMH},
                   {"bits", LS_IMAGE_READMEMB},
                   {"raw", LS_IMAGE_BINARY},
                   {"elf", LS_IMAGE_ELF}};
    ls__plan_memory made = {
        .place = place, .memory = memory, .instance = instance, .image = LS_IMAGE_PARAMS_INIT};
    char *path = ls__plan_path(p->params.config_path, m->file, instance);
    if (!path) {
        p->status = ls__fail_oom(p->error, strlen(m->file));
        return;
    }
    made.image.path = ls__arena_strdup(&p->arena, path, strlen(path));
    ls__mem_free(path);
    made.image.address = m->address;
    made.image.stride_bytes = (uint32_t)m->stride_bytes;
    for (size_t i = 0; m->format && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(m->format, formats[i].name) == 0)
            made.image.format = formats[i].format;
    ls__vec_push(&p->arena, &p->memories, made);
}

static void plan_contents(ls__planner *p, const ls__config_memory *m, const char *place,
                          uint32_t memory)
{
    if (!strstr(m->file, "{instance}")) {
        add_contents(p, m, place, memory, LS_COSIM_ALL);
        return;
    }
    for (uint32_t i = 0; i < p->params.instances && p->status == LS_OK; i++)
        add_contents(p, m, place, memory, i);
}

static void plan_memories(ls__planner *p)
{
    const ls__config *c = p->config;
    ls_design_info info = {.struct_size = sizeof info};
    ls_design_describe(p->params.design, &info);
    for (uint32_t i = 0; i < c->memory_count && p->status == LS_OK; i++) {
        uint32_t memory;
        p->status = ls_design_find_memory(p->params.design, c->memories[i].name, &memory, p->error);
        if (p->status == LS_OK)
            plan_contents(p, &c->memories[i], ls__arena_printf(&p->arena, ".memories[%u].file", i),
                          memory);
    }
    if (c->sram_elf) {
        ls__config_memory elf = {.file = c->sram_elf, .format = "elf", .address = LS_IMAGE_LOWEST};
        if (info.memory_count != 1)
            ls__planner_fail(p, LS_E_FORMAT,
                             ".sram_init: the design has %u memories, not one; use memories",
                             info.memory_count);
        else
            plan_contents(p, &elf, ".sram_init.elf_path", 0);
    }
    for (uint32_t i = 0; i < c->register_count; i++) {
        ls__plan_memory r = {
            .instance = LS_COSIM_ALL, .is_register = true, .value = c->registers[i].value};
        if (!ls__planner_find(p, c->registers[i].name, true, &r.reg, ".reg_init[%u].name", i))
            return;
        if (r.reg.width > 64)
            r.reg.width = 64;
        ls__vec_push(&p->arena, &p->memories, r);
    }
}

/* --- the plan --------------------------------------------------------------------------------- */

static void make(ls__planner *p)
{
    const ls__config *c = p->config;
    plan_clocks(p);
    if (p->status == LS_OK)
        plan_levels(p);
    if (p->status == LS_OK)
        ls__planner_peripherals(p);
    if (p->status == LS_OK)
        plan_memories(p);
    if (p->status != LS_OK)
        return;
    p->plan.max_edges = c->num_cycles ? edge_of_cycle(p, c->num_cycles) : UINT64_MAX;
    p->plan.ops = p->ops.items;
    p->plan.op_count = p->ops.count;
    p->plan.peripherals = p->peripherals.items;
    p->plan.models = p->models.items;
    p->plan.peripheral_count = p->peripherals.count;
}

ls_status ls__plan_create(const ls__plan_params *params, ls__plan **plan, ls_error *error)
{
    ls__oom oom;
    *plan = NULL;
    ls__planner *p = ls__mem_alloc(1, sizeof *p);
    if (!p)
        return ls__fail_oom(error, sizeof *p);
    p->params = *params;
    p->config = params->config;
    p->error = error;
    ls__arena_init(&p->arena, &oom, 0);
    if (setjmp(oom.jump))
        p->status = ls__oom_status(&oom, error);
    else
        make(p);
    ls_status status = p->status;
    *plan = &p->plan;
    if (status != LS_OK)
        ls__plan_destroy(plan);
    return status;
}

void ls__plan_destroy(ls__plan **plan)
{
    ls__planner *p = (ls__planner *)*plan;
    *plan = NULL;
    if (!p)
        return;
    ls__schedule_destroy(&p->plan.schedule);
    for (uint32_t i = 0; i < p->files.count; i++)
        ls__mem_free(p->files.items[i]);
    ls__arena_finish(&p->arena);
    ls__mem_free(p);
}

ls_status ls__plan_apply(const ls__plan *plan, ls_cosim *cosim, ls_error *error)
{
    const ls__planner *p = (const ls__planner *)plan;
    ls_status status = ls__schedule_apply(plan->schedule, cosim, error);
    for (uint32_t i = 0; status == LS_OK && i < p->memories.count; i++) {
        const ls__plan_memory *m = &p->memories.items[i];
        if (m->is_register)
            status = ls_cosim_set(cosim, LS_COSIM_ALL, m->reg, &m->value, error);
        else
            status = ls_cosim_memory_load(cosim, m->instance, m->memory, &m->image, error);
        if (status != LS_OK && !m->is_register)
            ls__planner_place(error, m->place);
    }
    return status;
}
