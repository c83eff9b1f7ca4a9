/* SPDX-License-Identifier: Apache-2.0 */
/* Random batches and launches of all shapes, against a model of them; for devices that cut, replay
 * and reorder what they are given. */
#include "random.h"

#include "base/rng.h"

/* --- random batches --------------------------------------------------------------------------- */
enum { BUFFERS = 3, COMMANDS = 14, BYTES = 40000, STARTS = 7 };

static const char kernels[] = "kernel void add(u32 n, u32 k, const u32 *x, u32 *y)\n"
                              "{\n"
                              "    u32 i = global_id(0);\n"
                              "    if (i < n && i < global_size(0))\n"
                              "        y[i] = x[i] + k + iteration();\n"
                              "}\n";

typedef struct world {
    fixture f;
    ls_program *program;
    ls_buffer *buffers[BUFFERS];
    ls_batch *batch;
    uint8_t model[BUFFERS][BYTES];
    uint8_t found[COMMANDS][BYTES], expected[COMMANDS][BYTES], upload[COMMANDS][BYTES];
    ls_slot slots[COMMANDS];
    uint64_t without_time;                 /* batches that took no time: some have nothing to do */
    uint32_t parameters[2 * COMMANDS + 1]; /* k and n of each command, then rounds */
} world;

static uint32_t pick_size(ls__rng *rng, uint32_t most)
{
    uint32_t limit = ls__rng_below(rng, 3) ? 40 : most;
    return 1 + ls__rng_below(rng, limit < most ? limit : most);
}

/* Recorded once; else applied to the model. All choices come from the seed. */
static void command(world *w, uint64_t seed, uint32_t slot, bool record, uint32_t iteration)
{
    ls__rng rng = {seed};
    uint32_t a = ls__rng_below(&rng, BUFFERS), b = (a + 1) % BUFFERS;
    uint32_t kind = ls__rng_below(&rng, 6), unit = 1u << ls__rng_below(&rng, 4);
    uint32_t at = ls__rng_below(&rng, BYTES - 8), size = pick_size(&rng, BYTES - at);
    uint8_t *to = w->model[a];
    if (kind == 0)
        size = size < unit ? unit : size / unit * unit;
    ls_range target = {w->buffers[a], at, size};
    switch (kind) {
    case 0: { /* fill */
        uint64_t pattern = ls__rng_u64(&rng);
        if (record)
            OK(ls_batch_fill(w->batch, target, &pattern, unit, NULL, error));
        for (uint32_t i = 0; i < size && !record; i++)
            to[at + i] = ((uint8_t *)&pattern)[i % unit];
        break;
    }
    case 1: { /* copy, within the buffer or between two */
        bool same = ls__rng_below(&rng, 2);
        uint32_t from = ls__rng_below(&rng, BYTES - size + 1);
        ls_range source = {w->buffers[same ? a : b], from, size};
        if (record)
            OK(ls_batch_copy(w->batch, target, source, NULL, error));
        else
            memmove(to + at, w->model[same ? a : b] + from, size);
        break;
    }
    case 2:
        if (record)
            OK(ls_batch_upload_slot(w->batch, target, LS_MEM_NONE, slot, NULL, error));
        else
            memcpy(to + at, w->upload[slot], size);
        break;
    case 3:
        if (record)
            OK(ls_batch_download_slot(w->batch, target, LS_MEM_NONE, slot, NULL, error));
        else
            memcpy(w->expected[slot], to + at, size);
        break;
    default: { /* y = x + k */
        uint32_t scalars[2] = {0, 0};
        ls_scalar_link links[2] = {{4, slot * 8, 4}, {0, slot * 8 + 4, 4}};
        ls_range whole[2] = {WHOLE(w->buffers[a]), WHOLE(w->buffers[b])};
        ls_dispatch d = LS_DISPATCH_INIT;
        d.kernel = contract_kernel(w->program, "add");
        d.global_size_parameter[0] = 1 + slot * 8 + 4;
        d.buffers = whole;
        d.buffer_count = 2;
        d.scalars = scalars;
        d.scalar_bytes = sizeof scalars;
        d.links = links;
        d.link_count = 2;
        if (record)
            OK(ls_batch_dispatch(w->batch, &d, error));
        for (uint32_t i = 0; i < w->parameters[2 * slot + 1] && !record; i++) {
            uint32_t word;
            memcpy(&word, to + 4 * i, 4);
            word += w->parameters[2 * slot] + iteration;
            memcpy(w->model[b] + 4 * i, &word, 4);
        }
    }
    }
}

static void apply(world *w, uint64_t base, uint32_t count, uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t rounds = i == first && end > first ? w->parameters[2 * COMMANDS] : 1;
        uint32_t last = i == first && end > first ? end : i + 1;
        for (uint32_t round = 0; round < rounds; round++)
            for (uint32_t k = i; k < last; k++)
                command(w, base + k, k, false, i == first && end > first ? round : 0);
        i = last;
    }
}

static void check(const world *w, uint64_t seed, const char *mode)
{
    if (memcmp(w->found, w->expected, sizeof w->found) != 0)
        fail_msg("%s, seed %llu: the downloads differ", mode, (unsigned long long)seed);
    for (uint32_t b = 0; b < BUFFERS; b++) {
        static uint8_t bytes[BYTES];
        OK(ls_buffer_read(w->buffers[b], 0, LS_MEM_NONE, bytes, sizeof bytes, error));
        if (memcmp(bytes, w->model[b], sizeof bytes) != 0)
            fail_msg("%s, seed %llu: buffer %u differs", mode, (unsigned long long)seed, b);
    }
}

static void one_batch(world *w, uint64_t seed, const char *mode)
{
    ls__rng rng = {seed};
    uint32_t count = 1 + ls__rng_below(&rng, COMMANDS), first = ls__rng_below(&rng, count);
    uint32_t end = first + ls__rng_below(&rng, count - first + 1);
    uint64_t base = ls__rng_u64(&rng);
    bool same_sizes = ls__rng_below(&rng, 2), attribution = !ls__rng_below(&rng, 4);
    for (uint32_t i = 0; i <= count; i++) {
        if (i == first)
            OK(ls_batch_repeat_begin(w->batch, 0, 1 + 8 * COMMANDS, error));
        if (i == end)
            OK(ls_batch_repeat_end(w->batch, error));
        if (i < count)
            command(w, base + i, i, true, 0);
    }
    ls_prepared *prepared = NULL;
    OK(ls_prepare(w->batch, &prepared, error));
    ls_batch_clear(w->batch);
    for (uint32_t start = 0; start < STARTS; start++) {
        memset(w->found, 0, sizeof w->found);
        memset(w->expected, 0, sizeof w->expected);
        for (uint32_t i = 0; i < COMMANDS; i++) {
            w->slots[i] = (ls_slot){w->upload[i], w->found[i]};
            w->parameters[2 * i] = (uint32_t)ls__rng_u64(&rng);
            if (!start || !same_sizes)
                w->parameters[2 * i + 1] = ls__rng_below(&rng, BYTES / 4);
            for (uint32_t k = 0; k < BYTES; k += 8)
                memcpy(w->upload[i] + k, &(uint64_t){ls__rng_u64(&rng)}, 8);
        }
        if (!start || !same_sizes)
            w->parameters[2 * COMMANDS] = ls__rng_below(&rng, 4);
        apply(w, base, count, first, end);
        ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
        params.parameters = w->parameters;
        params.parameter_bytes = sizeof w->parameters;
        params.slots = w->slots;
        params.slot_count = COMMANDS;
        params.attribution = attribution;
        params.timing = start == 5;
        ls_fence *fence = NULL;
        OK(ls_submit_prepared(w->f.stream, prepared, &params, &fence, error));
        ls_receipt r = {.struct_size = sizeof r};
        OK(ls_fence_wait(fence, 60 * SECOND, &r, error));
        ls_fence_destroy(&fence);
        check(w, seed, mode);
        bool measured = ls_device_caps(w->f.device)->timing && params.timing;
        assert_int_equal(r.timing.state == LS_TIMING_MEASURED, measured);
        w->without_time += measured && r.timing.device_ns == 0;
    }
    ls_prepared_destroy(&prepared);
}

uint64_t contract_random_batches(fixture f, const char *mode, uint64_t seed, uint64_t count)
{
    static world w;
    memset(&w, 0, sizeof w);
    w.f = f;
    w.program = contract_program(&w.f, kernels);
    OK(ls_batch_create(w.f.device, &w.batch, error));
    for (uint32_t b = 0; b < BUFFERS; b++)
        w.buffers[b] = contract_buffer(&w.f, BYTES, LS_MEM_NONE);
    for (uint64_t i = 0; i < count; i++)
        one_batch(&w, seed + i, mode);
    for (uint32_t b = 0; b < BUFFERS; b++)
        ls_buffer_destroy(&w.buffers[b]);
    ls_batch_destroy(&w.batch);
    ls_program_destroy(&w.program);
    contract_close(&w.f);
    return w.without_time;
}

/* --- launches --------------------------------------------------------------------------------- */
static const char geometry[] =
    "kernel workgroup(4, 2, 2) void mark(u32 first, u32 w, u32 h, u32 *y)\n"
    "{\n"
    "    u32 group = workgroup_id(0) + workgroup_count(0) * (workgroup_id(1) + workgroup_count(1) "
    "* workgroup_id(2));\n"
    "    u32 at = global_id(0) + w * (global_id(1) + h * global_id(2));\n"
    "    y[at] = y[at] + group + 1;\n"
    "    if (group >= first)\n"
    "        trap(group);\n"
    "}\n"
    "kernel void later(u32 *y)\n"
    "{\n"
    "    y[global_id(0)] = 0;\n"
    "}\n";

/* A launch that is cut everywhere covers each lane once, and of its traps the lowest is reported;
 * what follows does not run. */
void contract_cut_launch(fixture *f, const uint32_t groups[3], uint32_t first)
{
    uint32_t size[3] = {4 * groups[0], 2 * groups[1], 2 * groups[2]};
    uint32_t lanes = size[0] * size[1] * size[2], count = groups[0] * groups[1] * groups[2];
    uint32_t scalars[3] = {first, size[0], size[1]};
    ls_program *program = contract_program(f, geometry);
    ls_buffer *y = contract_buffer_u32(f, NULL, lanes);
    ls_range range = WHOLE(y);
    ls_dispatch d = LS_DISPATCH_INIT;
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    d.kernel = contract_kernel(program, "mark");
    memcpy(d.global_size, size, sizeof size);
    d.buffers = &range;
    d.buffer_count = 1;
    d.scalars = scalars;
    d.scalar_bytes = sizeof scalars;
    OK(ls_batch_dispatch(batch, &d, error));
    d = (ls_dispatch)LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "later");
    d.global_size[0] = lanes;
    d.buffers = &range;
    d.buffer_count = 1;
    if (first < count)
        OK(ls_batch_dispatch(batch, &d, error));
    ls_fence *fence = NULL;
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_receipt r = {.struct_size = sizeof r};
    ls_fence_wait(fence, 30 * SECOND, &r, NULL);
    assert_int_equal(r.trapped, first < count);
    if (r.trapped) {
        assert_int_equal(r.trap_code, first);
        assert_int_equal(r.trap_workgroup, first);
        assert_int_equal(r.trap_lane, 0);
        assert_int_equal(r.trap_command, 0);
    }
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t column = i % size[0] / 4, row = i / size[0] % size[1] / 2,
                 layer = i / size[0] / size[1] / 2;
        contract_expect_u32(y, i, column + groups[0] * (row + groups[1] * layer) + 1);
    }
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}
