/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device contract in a reduced form: what a program sees of a device through the public calls,
 * written down as text. The text of two devices must be equal. It holds status names, outcomes and
 * downloaded values, and nothing that a device may choose (times, messages, capabilities).
 *
 * This is a sample that an installed command can carry, not the whole contract: that is
 * tests/contract.
 */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "conform/launch.h"

#define SECOND UINT64_C(1000000000)

static const char kernels[] = "kernel void add(u32 n, u32 k, const u32 *x, u32 *y)\n"
                              "{\n"
                              "    u32 i = global_id(0);\n"
                              "    if (i < n)\n"
                              "        y[i] = x[i] + k + 1000u * iteration();\n"
                              "}\n"
                              "kernel void fails(u32 first, u32 *y)\n"
                              "{\n"
                              "    u32 i = global_id(0);\n"
                              "    y[i] = i;\n"
                              "    if (i >= first)\n"
                              "        trap(100u + i);\n"
                              "}\n"
                              "kernel workgroup(1) void lengthy(u32 *y)\n"
                              "{\n"
                              "    u32 sum = global_id(0);\n"
                              "    for (u32 i = 0; i < 30000u; i++)\n"
                              "        sum = sum * 3u + y[1];\n"
                              "    if (global_id(0) == 0u)\n"
                              "        y[0] = sum;\n"
                              "}\n";

enum { ELEMENTS = 128 };

/* What every check starts with. */
typedef struct stage {
    ls_device *device;
    ls_program *program;
    ls_stream *stream;
    ls_batch *batch;
    ls_buffer *x, *y; /* ELEMENTS u32 each; x holds 0, 1, 2, ... */
    ls__strbuf *out;
    ls_error *error;
} stage;

static void note(stage *s, const char *what, ls_status status)
{
    ls__strbuf_printf(s->out, "%s: %s\n", what, ls_status_name(status));
}

static void note_values(stage *s, const char *what, ls_buffer *buffer, uint32_t first,
                        uint32_t count)
{
    uint32_t values[ELEMENTS];
    ls_status status = ls_buffer_read(buffer, 0, LS_MEM_U32, values, sizeof values, NULL);
    ls__strbuf_printf(s->out, "%s: %s", what, ls_status_name(status));
    for (uint32_t i = first; status == LS_OK && i < first + count; i++)
        ls__strbuf_printf(s->out, " %u", values[i]);
    ls__strbuf_printf(s->out, "\n");
}

static void note_stream(stage *s)
{
    static const char *const names[] = {"ready", "submitted", "failed"};
    ls__strbuf_printf(s->out, "stream: %s\n", names[ls_stream_query(s->stream, NULL)]);
}

static ls_range whole(ls_buffer *buffer)
{
    return (ls_range){buffer, 0, LS_WHOLE};
}

static void record_add(stage *s, uint32_t n, uint32_t k, ls_range x, ls_range y)
{
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    uint32_t scalars[2] = {n, k};
    ls_range ranges[2] = {x, y};
    ls_program_kernel(s->program, "add", &dispatch.kernel, NULL);
    dispatch.global_size[0] = n;
    dispatch.buffers = ranges;
    dispatch.buffer_count = 2;
    dispatch.scalars = scalars;
    dispatch.scalar_bytes = sizeof scalars;
    note(s, "record add", ls_batch_dispatch(s->batch, &dispatch, NULL));
}

static void record_one_buffer(stage *s, const char *name, uint32_t lanes, uint32_t scalar,
                              bool has_scalar)
{
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    ls_range range = whole(s->y);
    ls_program_kernel(s->program, name, &dispatch.kernel, NULL);
    dispatch.global_size[0] = lanes;
    dispatch.buffers = &range;
    dispatch.buffer_count = 1;
    dispatch.scalars = has_scalar ? &scalar : NULL;
    dispatch.scalar_bytes = has_scalar ? sizeof scalar : 0;
    note(s, name, ls_batch_dispatch(s->batch, &dispatch, NULL));
}

static void run(stage *s, const ls_submit_params *params, ls_receipt *receipt)
{
    static const char *const outcomes[] = {"pending", "succeeded", "failed", "indeterminate"};
    ls_receipt own = {.struct_size = sizeof own};
    ls_error error = {0};
    ls_fence *fence = NULL;
    note(s, "submit", ls_submit(s->stream, s->batch, params, &fence, &error));
    ls__strbuf_printf(s->out, "cause: %s\n", ls_status_name(error.cause));
    if (!fence)
        return;
    note(s, "wait", ls_fence_wait(fence, 120 * SECOND, &own, &error));
    ls__strbuf_printf(s->out, "outcome: %s, cause %s\n", outcomes[own.outcome],
                      ls_status_name(own.error.cause));
    ls_fence_destroy(&fence);
    if (receipt)
        *receipt = own;
}

/* --- the checks ------------------------------------------------------------------------------- */
static void check_order(stage *s)
{
    uint32_t pattern = 7, bytes[2] = {40, 50};
    note(s, "fill", ls_batch_fill(s->batch, whole(s->y), &pattern, 4, NULL, NULL));
    note(s, "upload",
         ls_batch_upload(s->batch, (ls_range){s->x, 8, 8}, LS_MEM_U32, bytes, NULL, NULL));
    record_add(s, 100, 5, whole(s->x), whole(s->y));
    note(s, "copy",
         ls_batch_copy(s->batch, (ls_range){s->x, 0, 400}, (ls_range){s->y, 4, 400}, NULL, NULL));
    record_add(s, 3, 1, (ls_range){s->x, 4, 12}, (ls_range){s->y, 480, 12});
    run(s, NULL, NULL);
    note_values(s, "x", s->x, 0, ELEMENTS);
    note_values(s, "y", s->y, 0, ELEMENTS);
}

static void check_bounds(stage *s)
{
    record_add(s, 50, 1, (ls_range){s->x, 0, 40}, (ls_range){s->y, 12, 80});
    run(s, NULL, NULL);
    note_values(s, "y", s->y, 0, 60);
    note(s, "beyond the end",
         ls_batch_copy(s->batch, (ls_range){s->x, 508, 8}, (ls_range){s->y, 0, 8}, NULL, NULL));
    note(s, "empty",
         ls_batch_copy(s->batch, (ls_range){s->x, 0, 0}, (ls_range){s->y, 0, 0}, NULL, NULL));
}

static void check_not_submitted(stage *s)
{
    run(s, NULL, NULL);
    note_stream(s);
    void *memory;
    record_add(s, 4, 1, whole(s->x), whole(s->y));
    note(s, "map", ls_buffer_map(s->y, 0, 4, LS_MAP_READ, &memory, NULL));
    run(s, NULL, NULL);
    note(s, "unmap", ls_buffer_unmap(s->y, NULL));
    note_values(s, "y", s->y, 0, 5);
    run(s, NULL, NULL);
    note_values(s, "y", s->y, 0, 5);
    note_stream(s);
}

static void check_trap(stage *s)
{
    ls_receipt receipt = {.struct_size = sizeof receipt};
    record_one_buffer(s, "fails", 120, 70, true);
    record_add(s, 1, 9, whole(s->y), whole(s->x));
    run(s, NULL, &receipt);
    ls__strbuf_printf(s->out, "trapped %d code %u workgroup %llu lane %u command %u\n",
                      receipt.trapped, receipt.trap_code,
                      (unsigned long long)receipt.trap_workgroup, receipt.trap_lane,
                      receipt.trap_command);
    note_stream(s);
    note_values(s, "y", s->y, 0, 120);
    note_values(s, "x", s->x, 0, 3);
    run(s, NULL, NULL); /* the stream stays failed */
}

static void check_repeat(stage *s)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    uint32_t rounds = 0;
    note(s, "repeat", ls_batch_repeat_begin(s->batch, 0, 1, NULL));
    record_add(s, 9, 2, whole(s->x), whole(s->y));
    note(s, "end", ls_batch_repeat_end(s->batch, NULL));
    params.parameters = &rounds;
    params.parameter_bytes = sizeof rounds;
    for (rounds = 0; rounds < 4; rounds += 3) {
        run(s, &params, NULL);
        note_values(s, "y", s->y, 0, 10);
    }
}

static void check_prepared(stage *s)
{
    ls_prepared *prepared = NULL;
    uint32_t uploads[2] = {11, 12}, got[2];
    note(s, "slot",
         ls_batch_upload_slot(s->batch, (ls_range){s->x, 0, 8}, LS_MEM_U32, 0, NULL, NULL));
    record_add(s, 2, 100, whole(s->x), whole(s->y));
    note(s, "slot",
         ls_batch_download_slot(s->batch, (ls_range){s->y, 0, 8}, LS_MEM_U32, 1, NULL, NULL));
    note(s, "prepare", ls_prepare(s->batch, &prepared, NULL));
    for (uint32_t round = 0; prepared && round < 3; round++) {
        ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
        ls_slot slots[2] = {{.upload = uploads}, {.download = got}};
        ls_fence *fence = NULL;
        params.slots = slots;
        params.slot_count = 2;
        uploads[0] = 20 * round;
        got[0] = got[1] = 0;
        note(s, "submit", ls_submit_prepared(s->stream, prepared, &params, &fence, NULL));
        if (fence)
            note(s, "wait", ls_fence_wait(fence, 120 * SECOND, NULL, NULL));
        ls_fence_destroy(&fence);
        ls__strbuf_printf(s->out, "got %u %u\n", got[0], got[1]);
    }
    ls_prepared_destroy(&prepared);
}

static void check_indirect(stage *s)
{
    static const uint32_t maximum[3] = {64, 1, 1};
    for (uint32_t size = 60; size < 70; size += 5) {
        ls_dispatch dispatch = LS_DISPATCH_INIT;
        uint32_t scalars[2] = {ELEMENTS, 3}, sizes[3] = {size, 1, 1};
        ls_range ranges[2] = {whole(s->x), whole(s->y)};
        ls_receipt receipt = {.struct_size = sizeof receipt};
        ls_batch_clear(s->batch);
        ls_buffer_write(s->x, 0, LS_MEM_U32, sizes, sizeof sizes, NULL);
        ls_program_kernel(s->program, "add", &dispatch.kernel, NULL);
        dispatch.buffers = ranges;
        dispatch.buffer_count = 2;
        dispatch.scalars = scalars;
        dispatch.scalar_bytes = sizeof scalars;
        note(s, "indirect",
             ls_batch_dispatch_indirect(s->batch, &dispatch, (ls_range){s->x, 0, 12}, maximum,
                                        NULL));
        run(s, NULL, &receipt);
        ls__strbuf_printf(s->out, "trapped %d code %u\n", receipt.trapped, receipt.trap_code);
        note_values(s, "y", s->y, 0, 64);
    }
}

/* No endless loop: some drivers end each at some time. */
static void check_time_limit(stage *s)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.time_limit_ns = SECOND / 20;
    record_one_buffer(s, "lengthy", UINT32_MAX, 0, false);
    run(s, &params, NULL);
    note_stream(s);
}

static void check_zeroed(stage *s)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    ls_buffer *again = NULL;
    record_add(s, ELEMENTS, 1, whole(s->x), whole(s->y));
    run(s, NULL, NULL);
    ls_batch_clear(s->batch);
    ls_buffer_destroy(&s->y);
    params.size_bytes = 4 * ELEMENTS;
    note(s, "create", ls_buffer_create(s->device, &params, &again, NULL));
    if (again)
        note_values(s, "new", again, 0, ELEMENTS);
    ls_buffer_destroy(&again);
}

static const struct {
    const char *name;
    void (*run)(stage *s);
} checks[] = {
    {"contract/order", check_order},
    {"contract/bounds", check_bounds},
    {"contract/outcomes", check_not_submitted},
    {"contract/trap", check_trap},
    {"contract/repeat", check_repeat},
    {"contract/prepared", check_prepared},
    {"contract/indirect", check_indirect},
    {"contract/time-limit", check_time_limit},
    {"contract/zeroed", check_zeroed},
};
const uint32_t ls__contract_count = sizeof checks / sizeof *checks;

const char *ls__contract_name(uint32_t index)
{
    return checks[index].name;
}

static ls_status make_stage(stage *s, const ls_program_params *program_params, ls_module **module)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_buffer_params size = LS_BUFFER_PARAMS_INIT;
    uint32_t values[ELEMENTS];
    for (uint32_t i = 0; i < ELEMENTS; i++)
        values[i] = i;
    params.text = kernels;
    params.length = strlen(kernels);
    params.path = "contract.kc";
    size.size_bytes = sizeof values;
    ls_status status = ls_module_compile(&params, module, NULL, s->error);
    if (status == LS_OK)
        status = ls_program_create(s->device, *module, program_params, &s->program, s->error);
    if (status == LS_OK)
        status = ls_stream_create(s->device, &s->stream, s->error);
    if (status == LS_OK)
        status = ls_batch_create(s->device, &s->batch, s->error);
    if (status == LS_OK)
        status = ls_buffer_create(s->device, &size, &s->x, s->error);
    if (status == LS_OK)
        status = ls_buffer_create(s->device, &size, &s->y, s->error);
    if (status == LS_OK)
        status = ls_buffer_write(s->x, 0, LS_MEM_U32, values, sizeof values, s->error);
    return status;
}

ls_status ls__contract_run(uint32_t index, ls_device *device, const ls_program_params *params,
                           ls__strbuf *transcript, ls_error *error)
{
    stage s = {.device = device, .out = transcript, .error = error};
    ls_module *module = NULL;
    if (checks[index].run == check_time_limit && !ls_device_caps(device)->cancel)
        return ls__fail(error, LS_E_UNSUPPORTED, "the device cannot stop a kernel");
    ls_status status = make_stage(&s, params, &module);
    if (status == LS_OK)
        checks[index].run(&s);
    ls_buffer_destroy(&s.x);
    ls_buffer_destroy(&s.y);
    ls_batch_destroy(&s.batch);
    ls_stream_destroy(&s.stream, NULL);
    ls_program_destroy(&s.program);
    ls_module_destroy(&module);
    if (status == LS_OK && transcript->failed)
        return ls__fail_oom(error, transcript->length);
    return status;
}
