/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locating and reducing a difference. Where lanes are independent, the launch is cut down to one
 * unit of lanes (one lane, or one workgroup), then the operands' bits are cleared one by one while
 * the difference stays. A generated program is reduced as text; the sanitizer of the reference
 * refuses what the reducer turns into a race, which would differ for another reason.
 */
#include "conform/find.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "conform/reduce.h"

enum { TRIALS = 400 };

/* Runs the case on both. LS_OK when both ran, equal or not. */
static ls_status run_pair(const ls__pair *pair, const ls__case *c, ls__outputs *got,
                          ls__outputs *expected, ls_error *error)
{
    *expected = (ls__outputs){0};
    ls_status status = ls__launch_case(pair->device, pair->program, c, got, error);
    if (status == LS_OK)
        status = ls__launch_case(pair->against, pair->expected, c, expected, error);
    return status;
}

static bool differs(const ls__pair *pair, const ls__case *c)
{
    ls__outputs got, expected;
    ls_status status = run_pair(pair, c, &got, &expected, NULL);
    bool different = status == LS_OK && !ls__outputs_equal(&got, &expected);
    ls__outputs_finish(&got);
    ls__outputs_finish(&expected);
    return different;
}

/* --- cutting a launch down -------------------------------------------------------------------- */
/* Units [first, first + count) of a case; its bytes stay the case's. */
static ls__case slice(const ls__case *c, uint64_t first, uint64_t count)
{
    ls__case part = *c;
    part.global[0] = (uint32_t)(count * c->unit);
    part.vectors = part.global[0];
    for (uint32_t i = 0; i < part.buffer_count; i++) {
        ls__case_buffer *buffer = &part.buffers[i];
        uint64_t lane_bytes = (uint64_t)buffer->element * c->unit;
        buffer->bytes += first * lane_bytes;
        buffer->size = count * lane_bytes;
    }
    return part;
}

/* The first unit in whose elements the outputs differ. */
static uint64_t first_unit(const ls__case *c, const ls__outputs *got, const ls__outputs *expected)
{
    const uint8_t *a = got->bytes + got->head, *b = expected->bytes + expected->head;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const ls__case_buffer *buffer = &c->buffers[i];
        if (!buffer->output)
            continue;
        for (uint64_t k = 0; k < buffer->size; k++) {
            uint64_t unit = k / buffer->element / c->unit;
            if (a[k] != b[k] && unit < first)
                first = unit;
        }
        a += buffer->size;
        b += buffer->size;
    }
    return first;
}

/* Halves the launch while a half still differs; for a difference that a single unit does not
 * show. */
static ls__case bisect(const ls__pair *pair, ls__case part, uint64_t count)
{
    while (count > 1) {
        uint64_t half = count / 2;
        ls__case low = slice(&part, 0, half), high = slice(&part, half, count - half);
        if (differs(pair, &low)) {
            part = low;
            count = half;
        } else if (differs(pair, &high)) {
            part = high;
            count -= half;
        } else {
            break;
        }
    }
    return part;
}

/* Clears bits of the operands, highest first, while the difference stays. Works on the case's own
 * bytes, which the row has been made from already. */
static void simplify(const ls__pair *pair, ls__case *part)
{
    uint32_t trials = 0;
    for (uint32_t i = 0; i < part->buffer_count; i++) {
        ls__case_buffer *buffer = &part->buffers[i];
        for (uint64_t bit = buffer->size * 8; bit-- && trials < TRIALS && !buffer->output;) {
            uint8_t *byte = &buffer->bytes[bit / 8], old = *byte;
            *byte &= (uint8_t) ~(1u << bit % 8);
            if (*byte == old)
                continue;
            trials++;
            if (!differs(pair, part))
                *byte = old;
        }
    }
}

/* --- programs --------------------------------------------------------------------------------- */
typedef struct text_trial {
    const ls__pair *pair;
    const ls__case *c;
    ls_device *sanitizer; /* NULL: not to be had */
    uint32_t reports;
} text_trial;

static void count_report(void *context, const ls_sanitizer_report *report)
{
    text_trial *trial = context;
    if (strncmp(report->kind, "race", 4) == 0)
        trial->reports++;
}

static bool is_clean(text_trial *trial, const ls_module *module)
{
    ls_program *program = NULL;
    ls__outputs out = {0};
    trial->reports = 0;
    ls_status status = ls_program_create(trial->sanitizer, module, NULL, &program, NULL);
    if (status == LS_OK)
        status = ls__launch_case(trial->sanitizer, program, trial->c, &out, NULL);
    ls__outputs_finish(&out);
    ls_program_destroy(&program);
    return status == LS_OK && trial->reports == 0;
}

static bool text_differs(void *context, const char *text)
{
    text_trial *trial = context;
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls__pair pair = *trial->pair;
    ls_module *module = NULL;
    params.text = text;
    params.length = strlen(text);
    pair.program = pair.expected = NULL;
    ls_status status = ls_module_compile(&params, &module, NULL, NULL);
    if (status == LS_OK)
        status = ls_program_create(pair.device, module, &pair.params, &pair.program, NULL);
    if (status == LS_OK)
        status = ls_program_create(pair.against, module, NULL, &pair.expected, NULL);
    bool fails = status == LS_OK && differs(&pair, trial->c) &&
                 (!trial->sanitizer || is_clean(trial, module));
    ls_program_destroy(&pair.program);
    ls_program_destroy(&pair.expected);
    ls_module_destroy(&module);
    return fails;
}

static void reduce_text(const ls__pair *pair, const ls__case *c, const char *text, json_t *failure)
{
    text_trial trial = {.pair = pair, .c = c};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls__strbuf out = {0};
    params.name = "reference";
    params.sanitize = true;
    params.on_report = count_report;
    params.report_context = &trial;
    ls_device_open(&params, &trial.sanitizer, NULL);
    ls__reduce(text, TRIALS, text_differs, &trial, &out);
    if (out.text)
        json_object_set_new(failure, "program", json_string(out.text));
    ls__strbuf_finish(&out);
    ls_device_destroy(&trial.sanitizer, NULL);
}

/* --- report ----------------------------------------------------------------------------------- */
static json_t *hex(const uint8_t *bytes, uint32_t size)
{
    char text[2 + 2 * 8 + 1] = "0x";
    for (uint32_t i = 0; i < size && i < 8; i++)
        snprintf(text + 2 + 2 * i, 3, "%02x", bytes[size - 1 - i]);
    return json_string(text);
}

/* Where the outputs first differ, and what is there. */
static void report_place(json_t *failure, const ls__case *c, const ls__outputs *got,
                         const ls__outputs *expected)
{
    if (got->head != expected->head || memcmp(got->bytes, expected->bytes, got->head) != 0) {
        json_object_set_new(failure, "what", json_string("traps differ"));
        return;
    }
    uint64_t at = got->head;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const ls__case_buffer *buffer = &c->buffers[i];
        for (uint64_t k = 0; buffer->output && k < buffer->size; k += buffer->element) {
            const uint8_t *a = got->bytes + at + k, *b = expected->bytes + at + k;
            if (memcmp(a, b, buffer->element) == 0)
                continue;
            json_object_set_new(failure, "buffer", json_integer(i));
            json_object_set_new(failure, "element",
                                json_integer((json_int_t)(k / buffer->element)));
            json_object_set_new(failure, "expected", hex(b, buffer->element));
            json_object_set_new(failure, "got", hex(a, buffer->element));
            return;
        }
        at += buffer->output ? buffer->size : 0;
    }
}

static void report_inputs(json_t *failure, const ls__case *part)
{
    json_t *inputs = json_array();
    for (uint32_t i = 0; i < part->buffer_count; i++)
        if (!part->buffers[i].output)
            json_array_append_new(inputs, hex(part->buffers[i].bytes, part->buffers[i].element));
    json_object_set_new(failure, "inputs", inputs);
}

json_t *ls__find(const ls__pair *pair, const ls__group *group, const ls__case *c,
                 const ls__outputs *got, const ls__outputs *expected)
{
    json_t *failure = json_pack("{s:s, s:s, s:s, s:s}", "row", c->name, "what", "bits differ",
                                "operation", c->operation, "type", c->type);
    if (!failure)
        return NULL;
    if (!c->unit) {
        report_place(failure, c, got, expected);
        if (group->text)
            reduce_text(pair, c, group->text, failure);
        return failure;
    }
    ls__case part = slice(c, first_unit(c, got, expected), 1);
    if (!differs(pair, &part))
        part = bisect(pair, *c, c->global[0] / c->unit);
    simplify(pair, &part);
    ls__outputs small, right;
    if (run_pair(pair, &part, &small, &right, NULL) == LS_OK)
        report_place(failure, &part, &small, &right);
    json_object_set_new(failure, "lanes", json_integer(part.global[0]));
    if (part.global[0] == 1)
        report_inputs(failure, &part);
    ls__outputs_finish(&small);
    ls__outputs_finish(&right);
    return failure;
}
