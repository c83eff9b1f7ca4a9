/* SPDX-License-Identifier: Apache-2.0 */
/* Random batches against a model of a few lines: whatever the mix of transfers, dispatches, repeat
 * blocks and conducted dispatches, commands behave as if run one after another. The first seed may
 * be given as an argument; a failure names its own. */
#include "kit.h"

#include "base/rng.h"

enum { WORDS = 32, BUFFERS = 3, COMMANDS = 12, BATCHES = 300 };

typedef struct world {
    ls_device *device;
    ls_stream *stream;
    ls_program *basic, *mirror;
    ls_buffer *buffers[BUFFERS];
    ls_batch *batch;
    uint32_t model[BUFFERS][WORDS];
    uint32_t found[COMMANDS][WORDS], expected[COMMANDS][WORDS]; /* downloads */
    uint32_t upload[COMMANDS][WORDS];                           /* slots */
    ls_slot slots[COMMANDS];
    uint32_t parameters[COMMANDS];
} world;

static uint64_t first_seed = 1;

/* One command, recorded once, and applied to the model once a round. All its choices come from its
 * own seed. */
static void command(world *w, uint64_t seed, uint32_t slot, bool record, uint32_t iteration)
{
    ls__rng rng = {seed};
    uint32_t a = ls__rng_below(&rng, BUFFERS),
             b = (a + 1 + ls__rng_below(&rng, BUFFERS - 1)) % BUFFERS;
    uint32_t at = ls__rng_below(&rng, WORDS), count = 1 + ls__rng_below(&rng, WORDS - at);
    uint32_t from = ls__rng_below(&rng, WORDS - count + 1), value = (uint32_t)ls__rng_u64(&rng);
    uint32_t *to = w->model[a], *other = w->model[b];
    ls_range target = {w->buffers[a], at * 4, count * 4},
             whole[2] = {WHOLE(w->buffers[a]), WHOLE(w->buffers[b])};
    switch (ls__rng_below(&rng, 7)) {
    case 0: /* fill */
        if (record)
            OK(ls_batch_fill(w->batch, target, &value, 4, NULL, error));
        for (uint32_t i = 0; i < count && !record; i++)
            to[at + i] = value;
        break;
    case 1: { /* copy, within the buffer or between two */
        bool same = value % 2;
        ls_range source = {w->buffers[same ? a : b], from * 4, count * 4};
        if (record)
            OK(ls_batch_copy(w->batch, target, source, NULL, error));
        else
            memmove(to + at, (same ? to : other) + from, count * 4);
        break;
    }
    case 2: /* upload, now or with the submission */
        for (uint32_t i = 0; i < count; i++)
            w->upload[slot][i] = value + i;
        if (record && value % 2)
            OK(ls_batch_upload(w->batch, target, LS_MEM_U32, w->upload[slot], NULL, error));
        else if (record)
            OK(ls_batch_upload_slot(w->batch, target, LS_MEM_U32, slot, NULL, error));
        else
            memcpy(to + at, w->upload[slot], count * 4);
        break;
    case 3: /* download */
        if (record && value % 2)
            OK(ls_batch_download(w->batch, target, LS_MEM_U32, w->found[slot], NULL, error));
        else if (record)
            OK(ls_batch_download_slot(w->batch, target, LS_MEM_U32, slot, NULL, error));
        else
            memcpy(w->expected[slot], to + at, count * 4);
        break;
    case 4: { /* b[i] = a[i] + parameter */
        uint32_t scalars[2] = {count, 0};
        ls_scalar_link link = {4, slot * 4, 4};
        ls_dispatch d = kit_dispatch(kit_kernel(w->basic, "add"), count, whole, 2, scalars, 8);
        d.links = &link;
        d.link_count = 1;
        if (record)
            OK(ls_batch_dispatch(w->batch, &d, error));
        for (uint32_t i = 0; i < count && !record; i++)
            other[i] = to[i] + w->parameters[slot];
        break;
    }
    case 5: { /* a[iteration] = value */
        ls_dispatch d = kit_dispatch(kit_kernel(w->basic, "rounds"), 1, whole, 1, &value, 4);
        if (record)
            OK(ls_batch_dispatch(w->batch, &d, error));
        else
            to[iteration] = value;
        break;
    }
    case 6: { /* split at its grid barrier where the device has none; whole workgroups of 4 */
        uint32_t lanes = (count + 3) / 4 * 4, scalars[2] = {lanes, value};
        ls_dispatch d = kit_dispatch(kit_kernel(w->mirror, "mirror"), lanes, whole, 2, scalars, 8);
        if (record)
            OK(ls_batch_dispatch(w->batch, &d, error));
        for (uint32_t i = 0; i < lanes && !record; i++) {
            to[i] = value + i;
            other[i] = (value + lanes - 1 - i) + (value + i);
        }
        break;
    }
    }
}

static void one_batch(world *w, uint64_t seed)
{
    ls__rng rng = {seed};
    uint32_t count = 1 + ls__rng_below(&rng, COMMANDS), first = ls__rng_below(&rng, count);
    uint32_t end = first + ls__rng_below(&rng, count - first + 1), rounds = ls__rng_below(&rng, 4);
    memset(w->found, 0, sizeof w->found);
    memset(w->expected, 0, sizeof w->expected);
    for (uint32_t i = 0; i < COMMANDS; i++) {
        w->parameters[i] = (uint32_t)ls__rng_u64(&rng);
        w->slots[i] = (ls_slot){w->upload[i], w->found[i]};
    }
    uint64_t base = ls__rng_u64(&rng);
    for (uint32_t i = 0; i <= count; i++) {
        if (i == first)
            OK(ls_batch_repeat_begin(w->batch, rounds, 0, error));
        if (i == end)
            OK(ls_batch_repeat_end(w->batch, error));
        if (i < count)
            command(w, base + i, i, true, 0);
    }
    uint32_t i = 0;
    while (i < count) {
        if (i == first && end > first) {
            for (uint32_t round = 0; round < rounds; round++)
                for (uint32_t k = first; k < end; k++)
                    command(w, base + k, k, false, round);
            i = end;
        } else {
            command(w, base + i, i, false, 0);
            i++;
        }
    }
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    ls_prepared *prepared = NULL;
    params.parameters = w->parameters;
    params.parameter_bytes = sizeof w->parameters;
    params.slots = w->slots;
    params.slot_count = COMMANDS;
    params.attribution = true;
    if (seed % 2) {
        OK(ls_prepare(w->batch, &prepared, error));
        OK(ls_submit_prepared(w->stream, prepared, &params, &fence, error));
        ls_prepared_destroy(&prepared);
    } else {
        OK(ls_submit(w->stream, w->batch, &params, &fence, error));
    }
    ls_batch_clear(w->batch);
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_fence_wait(fence, 60 * SECOND, &r, error));
    assert_int_equal(r.attribution_count, count + (end - first) * rounds - (end - first));
    ls_fence_destroy(&fence);
    if (memcmp(w->found, w->expected, sizeof w->found) != 0)
        fail_msg("seed %llu: the downloads differ", (unsigned long long)seed);
    for (uint32_t b = 0; b < BUFFERS; b++) {
        uint32_t words[WORDS];
        OK(ls_buffer_read(w->buffers[b], 0, LS_MEM_U32, words, sizeof words, error));
        if (memcmp(words, w->model[b], sizeof words) != 0)
            fail_msg("seed %llu: buffer %u differs", (unsigned long long)seed, b);
    }
}

static void check_device(const char *name)
{
    static world w;
    memset(&w, 0, sizeof w);
    w.device = kit_open(name, NULL);
    w.stream = kit_stream(w.device);
    w.basic = kit_program(w.device, basic_ir, NULL, NULL);
    w.mirror = kit_program(w.device, mirror_ir, NULL, NULL);
    w.batch = kit_batch(w.device);
    for (uint32_t b = 0; b < BUFFERS; b++)
        w.buffers[b] = kit_buffer(w.device, WORDS * 4, LS_MEM_U32);
    for (uint64_t i = 0; i < BATCHES; i++)
        one_batch(&w, first_seed + i);
    for (uint32_t b = 0; b < BUFFERS; b++)
        ls_buffer_destroy(&w.buffers[b]);
    ls_batch_destroy(&w.batch);
    ls_program_destroy(&w.basic);
    ls_program_destroy(&w.mirror);
    OK(ls_stream_destroy(&w.stream, error));
    assert_int_equal(kit_used(w.device), 0);
    OK(ls_device_destroy(&w.device, error));
}

static void batches_match_the_model_on_the_reference(void **state)
{
    (void)state;
    check_device("reference");
}

static void batches_match_the_model_on_the_fault_device(void **state)
{
    (void)state;
    check_device("fault");
}

int main(int argument_count, char **arguments)
{
    if (argument_count > 1)
        first_seed = strtoull(arguments[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_match_the_model_on_the_reference),
        cmocka_unit_test(batches_match_the_model_on_the_fault_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
