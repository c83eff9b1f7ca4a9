/* SPDX-License-Identifier: Apache-2.0 */
/* Contract: attribution, timing, counters, the trace file, fallback, what a receipt says about a
 * program. */
#include "contract.h"

#include <jansson.h>
#include <unistd.h>

static void attribution_lists_what_ran_in_order(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(f, NULL, 8), *y = contract_buffer_u32(f, NULL, 8);
    uint32_t scalars[2] = {8, 1}, out[8];
    ls_range buffers[2] = {WHOLE(x), WHOLE(y)};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "add");
    d.global_size[0] = 8;
    d.buffers = buffers;
    d.buffer_count = 2;
    d.scalars = scalars;
    d.scalar_bytes = 8;
    d.tag = (ls_tag){LS_PHASE_COMPUTE, 42, "layer"};
    char label[] = "load";
    ls_tag load = {LS_PHASE_BINDING, 7, label};
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(x), &(uint32_t){1}, 4, &load, error));
    memset(label, 'x', 4); /* copied */
    OK(ls_batch_repeat_begin(batch, 2, 0, error));
    OK(ls_batch_dispatch(batch, &d, error));
    OK(ls_batch_repeat_end(batch, error));
    OK(ls_batch_download(batch, WHOLE(y), LS_MEM_U32, out, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.attribution = true;
    params.timing = true;
    OK(ls_submit(f->stream, batch, &params, &fence, error));
    ls_batch_destroy(&batch);
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_fence_wait(fence, 10 * SECOND, &r, error));
    assert_int_equal(r.attribution_count, 4);
    static const char *const operations[] = {"fill", "dispatch", "dispatch", "download"};
    uint32_t command = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const ls_attribution *row = &r.attribution[i];
        assert_string_equal(row->operation, operations[i]);
        assert_true(i == 0 || row->command >= command);
        command = row->command;
        assert_false(row->fallback);
        assert_true(row->timing.state != LS_TIMING_NOT_REQUESTED);
        assert_true((row->timing.state == LS_TIMING_UNAVAILABLE) ==
                    (row->timing.unavailable != NULL));
    }
    assert_int_equal(r.attribution[0].tag.node, 7);
    assert_string_equal(r.attribution[0].tag.label, "load");
    assert_int_equal(r.attribution[0].tag.phase, LS_PHASE_BINDING);
    assert_int_equal(r.attribution[0].bytes, 32);
    assert_string_equal(r.attribution[1].kernel, "add");
    assert_int_equal(r.attribution[1].iteration, 0);
    assert_int_equal(r.attribution[2].iteration, 1);
    assert_int_equal(r.attribution[1].command, r.attribution[2].command);
    assert_int_equal(r.attribution[1].lanes, 8);
    assert_null(r.attribution[3].kernel);
    ls_fence_destroy(&fence);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void timing_is_measured_or_says_why_not(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 8);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){1}, 4, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.timing = true;
    OK(ls_submit(f->stream, batch, &params, &fence, error));
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_fence_wait(fence, 10 * SECOND, &r, error)); /* a missing clock does not make a failure */
    const ls_caps *caps = ls_device_caps(f->device);
    assert_int_equal(r.timing.state, caps->timing ? LS_TIMING_MEASURED : LS_TIMING_UNAVAILABLE);
    if (!caps->timing) {
        assert_int_equal(r.timing.device_ns, 0);
        assert_string_equal(r.timing.unavailable, caps->timing_unavailable);
        ls_counters counters = {.struct_size = sizeof counters};
        ls_device_counters(f->device, &counters);
        assert_int_equal(counters.device_time_missing, 1);
        assert_int_equal(counters.device_ns, 0);
    }
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static void counters_count_and_reset(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(f, NULL, 100), *y = contract_buffer_u32(f, NULL, 100);
    ls_device_counters_reset(f->device);
    ls_batch *batch = NULL;
    ls_fence *none = NULL;
    uint32_t words[100] = {0};
    OK(ls_batch_create(f->device, &batch, error));
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(f->stream, batch, NULL, &none, error));
    OK(ls_batch_upload(batch, WHOLE(x), LS_MEM_U32, words, NULL, error));
    OK(ls_batch_copy(batch, WHOLE(y), WHOLE(x), NULL, error));
    OK(contract_record_add(batch, contract_kernel(program, "add"), x, y, 100, 5, error));
    OK(ls_batch_download(batch, (ls_range){y, 0, 40}, LS_MEM_U32, words, NULL, error));
    contract_run(f, batch);
    ls_counters c = {.struct_size = sizeof c};
    ls_device_counters(f->device, &c);
    assert_int_equal(c.submissions, 1);
    assert_int_equal(c.submissions_refused, 1);
    assert_int_equal(c.submissions_failed, 0);
    assert_int_equal(c.commands, 4);
    assert_int_equal(c.launches, 1);
    assert_int_equal(c.lanes_asked, 100);
    assert_int_equal(c.lanes_run, 128);
    assert_int_equal(c.bytes_uploaded, 400);
    assert_int_equal(c.bytes_copied, 400);
    assert_int_equal(c.bytes_downloaded, 40);
    assert_true(c.sync_points >= 1);
    assert_int_equal(c.fallback_programs, 0);
    ls_device_counters_reset(f->device);
    ls_device_counters(f->device, &c);
    assert_int_equal(c.commands, 0);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void programs_are_cached(void **state)
{
    fixture *f = *state;
    ls_program *a = contract_program(f, contract_add_text),
               *b = contract_program(f, contract_add_text);
    ls_counters c = {.struct_size = sizeof c};
    ls_device_counters(f->device, &c);
    assert_int_equal(c.programs_built, 1);
    assert_int_equal(c.cache_hits, 1);
    assert_int_equal(c.cache_misses, 1);
    ls_program_destroy(&a);
    ls_program_destroy(&b);
}

static void the_trace_is_a_file_that_viewers_open(void **state)
{
    fixture *f = *state;
    char path[] = "contract-trace-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    REFUSED(LS_E_STATE, ls_trace_end(f->device, path, error));
    OK(ls_trace_begin(f->device, error));
    REFUSED(LS_E_STATE, ls_trace_begin(f->device, error));
    ls_buffer *b = contract_buffer_u32(f, NULL, 8);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){1}, 4,
                     &(ls_tag){LS_PHASE_COMPUTE, 3, "quote \" here"}, error));
    contract_run(f, batch);
    REFUSED(LS_E_NOT_FOUND, ls_trace_end(f->device, "no-such-folder/trace.json", error));
    OK(ls_trace_begin(f->device, error));
    contract_run(f, batch);
    OK(ls_trace_end(f->device, path, error));
    json_error_t fault;
    json_t *root = json_load_file(path, 0, &fault);
    assert_non_null(root);
    json_t *events = json_object_get(root, "traceEvents");
    assert_true(json_is_array(events) && json_array_size(events) >= 2);
    bool labelled = false;
    size_t index;
    json_t *event;
    json_array_foreach(events, index, event)
    {
        assert_true(json_is_string(json_object_get(event, "ph")));
        assert_true(json_is_string(json_object_get(event, "name")));
        char *text = json_dumps(event, 0);
        labelled = labelled || strstr(text, "quote \\\" here");
        free(text);
    }
    assert_true(labelled);
    json_decref(root);
    unlink(path);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static void unchecked_and_unordered_show_in_the_receipt(void **state)
{
    fixture *f = *state;
    static const char text[] = "unordered kernel void race(u32 *y)\n"
                               "{\n"
                               "    u32 old = atomic_add(y, 1u);\n"
                               "    if (old == 3u)\n"
                               "        y[1] = global_id(0);\n"
                               "}\n";
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    compile.text = text;
    compile.length = strlen(text);
    ls_module *module = NULL;
    ls_program *program = NULL;
    OK(ls_module_compile(&compile, &module, NULL, error));
    ls_program_params how = LS_PROGRAM_PARAMS_INIT;
    how.unchecked = true;
    OK(ls_program_create(f->device, module, &how, &program, error));
    ls_module_destroy(&module);
    ls_buffer *y = contract_buffer_u32(f, NULL, 4);
    ls_range range = WHOLE(y);
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "race");
    d.global_size[0] = 64;
    d.buffers = &range;
    d.buffer_count = 1;
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_dispatch(batch, &d, error));
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_fence_wait(fence, 10 * SECOND, &r, error));
    assert_true(r.unordered);
    assert_true(r.unchecked);
    contract_expect_u32(y, 0, 64);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

/* A kernel beyond every limit, built with a fallback: decided when it is built, refused when the
 * fallback cannot either. */
static void unsupported_programs_name_the_limit(void **state)
{
    fixture *f = *state;
    const ls_caps *caps = ls_device_caps(f->device);
    ls_builder *builder = NULL;
    ls_module *module = NULL;
    OK(ls_builder_create(&builder, error));
    ls_function_desc desc = {.struct_size = sizeof desc, .name = "wide", .is_kernel = true};
    desc.workgroup[0] = caps->max_workgroup_lanes;
    ls_param_desc params[65];
    char names[65][8];
    uint32_t count = caps->max_buffers + 1 <= 64 ? caps->max_buffers + 1 : 0;
    if (!count)
        skip(); /* no kernel the IR allows is beyond this device */
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "p%u", i);
        params[i] = (ls_param_desc){.name = names[i], .mem = LS_MEM_U32, .is_pointer = true};
    }
    desc.params = params;
    desc.param_count = count;
    ls_builder_begin(builder, &desc);
    ls_builder_end(builder);
    OK(ls_builder_finish(&builder, &module, error));
    ls_program *program = NULL;
    ls_error e = {0};
    assert_int_equal(ls_program_create(f->device, module, NULL, &program, &e), LS_E_UNSUPPORTED);
    char needed[16];
    snprintf(needed, sizeof needed, "%u", count);
    assert_non_null(strstr(e.message, needed)); /* what it needs */
    assert_non_null(strstr(e.message, "wide")); /* which kernel */
    REFUSED(LS_E_UNSUPPORTED, ls_device_supports(f->device, module, "wide", error));
    REFUSED(LS_E_NOT_FOUND, ls_device_supports(f->device, module, "narrow", error));
    ls_module_destroy(&module);
}

const struct CMUnitTest contract_report_tests[] = {
    TEST(attribution_lists_what_ran_in_order),
    TEST(timing_is_measured_or_says_why_not),
    TEST(counters_count_and_reset),
    TEST(programs_are_cached),
    TEST(the_trace_is_a_file_that_viewers_open),
    TEST(unchecked_and_unordered_show_in_the_receipt),
    TEST(unsupported_programs_name_the_limit),
};
const size_t contract_report_count = COUNT(contract_report_tests);
