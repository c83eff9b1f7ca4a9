/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host and its peripherals through the public calls: bytes queued between runs, a run that stops
 * at the edge of an event, state saved in the middle of a frame. The design is a wire.
 * SOURCES is the folder of *.kc files here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../base/ok.h"
#include "lockstep/cosim.h"
#include "lockstep/program.h"

enum { BIT = 10, FRAME = 10 * BIT, HEARD = 9 * BIT + BIT / 2, MAX_EVENTS = 64 };

static const char *device_name = "reference";

static const char wire[] =
    "{\"modules\": {\"wire\": {\"attributes\": {\"top\": \"1\"}, \"ports\": {"
    "\"rx\": {\"direction\": \"input\", \"bits\": [2]},"
    "\"tx\": {\"direction\": \"output\", \"bits\": [2]}},"
    "\"cells\": {}, \"netnames\": {\"rx\": {\"bits\": [2], \"attributes\": {}},"
    "\"tx\": {\"bits\": [2], \"attributes\": {}}}}}}";

typedef struct rig {
    ls_device *device;
    ls_design *design;
    ls_cosim *cosim;
    ls_cosim_event events[MAX_EVENTS];
    uint32_t event_count;
} rig;

enum { KEYBOARD, CONSOLE };

static void take_event(void *context, const ls_cosim_event *event)
{
    rig *r = context;
    assert_true(r->event_count < MAX_EVENTS);
    r->events[r->event_count++] = *event;
}

static void open_rig(rig *r, const char *device, uint32_t instances)
{
    *r = (rig){0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = device;
    OK(ls_device_open(&params, &r->device, error));
    ls_design_params design = LS_DESIGN_PARAMS_INIT;
    design.path = "wire.json";
    design.text = wire;
    design.length = sizeof wire - 1;
    OK(ls_design_load(&design, &r->design, error));
    ls_pin rx = {.name = "rx", .drives = true}, tx = {.name = "tx"};
    OK(ls_design_find(r->design, "rx", &rx.signal, error));
    OK(ls_design_find(r->design, "tx", &tx.signal, error));
    ls_peripheral_parameter parameters[] = {{"bit_edges", BIT}, {"queue", 8}};
    ls_peripheral peripherals[] = {{.name = "keyboard",
                                    .type = "uart_rx",
                                    .pins = &rx,
                                    .pin_count = 1,
                                    .parameters = parameters,
                                    .parameter_count = 2},
                                   {.name = "console",
                                    .type = "uart_tx",
                                    .pins = &tx,
                                    .pin_count = 1,
                                    .parameters = parameters,
                                    .parameter_count = 1}};
    ls_cosim_params cosim = LS_COSIM_PARAMS_INIT;
    cosim.device = r->device;
    cosim.instances = instances;
    cosim.peripherals = peripherals;
    cosim.peripheral_count = 2;
    cosim.sink.event = take_event;
    cosim.sink.context = r;
    OK(ls_cosim_create(r->design, &cosim, &r->cosim, error));
}

static void close_rig(rig *r)
{
    ls_cosim_destroy(&r->cosim);
    ls_design_destroy(&r->design);
    OK(ls_device_destroy(&r->device, error));
}

/* As docs/peripherals.md says. */
static void type(rig *r, uint32_t instance, uint32_t byte, uint64_t edge)
{
    uint32_t written = 0;
    OK(ls_cosim_peripheral_read(r->cosim, instance, KEYBOARD, 0, 1, &written, error));
    uint32_t entry[] = {(uint32_t)edge, (uint32_t)(edge >> 32), byte, 0};
    OK(ls_cosim_peripheral_write(r->cosim, instance, KEYBOARD, 8 + 4 * (written % 8), 4, entry,
                                 error));
    written++;
    OK(ls_cosim_peripheral_write(r->cosim, instance, KEYBOARD, 0, 1, &written, error));
}

static uint32_t heard(const rig *r, uint32_t instance, uint64_t *edges, char *text)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->event_count; i++) {
        const ls_cosim_event *e = &r->events[i];
        if (e->source != CONSOLE || e->instance != instance)
            continue;
        assert_int_equal(e->type, LS_EVENT_PERIPHERAL);
        assert_int_equal(e->kind, 1);
        edges[count] = e->edge;
        text[count++] = (char)e->a;
    }
    text[count] = 0;
    return count;
}

static void bytes_go_through_a_design(void **state)
{
    rig r;
    uint64_t edges[MAX_EVENTS];
    char text[MAX_EVENTS + 1];
    (void)state;
    open_rig(&r, device_name, 2);
    type(&r, 0, 'a', 0);
    type(&r, 1, 'x', 7);
    type(&r, 0, 'b', 0);
    OK(ls_cosim_run(r.cosim, 350, NULL, error));
    type(&r, 1, 'y', 0);
    OK(ls_cosim_run(r.cosim, 600, NULL, error));
    assert_int_equal(heard(&r, 0, edges, text), 2);
    assert_string_equal(text, "ab");
    assert_int_equal(edges[0], 1 + HEARD);
    assert_int_equal(edges[1], 1 + FRAME + HEARD);
    assert_int_equal(heard(&r, 1, edges, text), 2);
    assert_string_equal(text, "xy");
    assert_int_equal(edges[0], 8 + HEARD);
    assert_int_equal(edges[1], 351 + HEARD);
    uint64_t digests[2];
    OK(ls_cosim_digest(r.cosim, 0, &digests[0], error));
    OK(ls_cosim_digest(r.cosim, 1, &digests[1], error));
    assert_true(digests[0] != digests[1]);
    close_rig(&r);
}

static void runs_stop_at_an_event(void **state)
{
    rig r;
    (void)state;
    open_rig(&r, device_name, 2);
    for (uint32_t i = 0; i < 2; i++) {
        type(&r, i, 'o', 0);
        type(&r, i, 'k', 0);
    }
    OK(ls_cosim_watch(r.cosim, 0, CONSOLE, 1, 'k', error));
    OK(ls_cosim_run(r.cosim, 1000, NULL, error));
    assert_int_equal(ls_cosim_stop(r.cosim, 0), LS_STOP_WATCH);
    assert_int_equal(ls_cosim_edge(r.cosim, 0), 1 + FRAME + HEARD + 1);
    assert_int_equal(ls_cosim_edge(r.cosim, 1), 1000);
    /* What is typed now begins at this very edge. */
    type(&r, 0, '!', 0);
    OK(ls_cosim_run(r.cosim, 1000, NULL, error));
    uint64_t edges[MAX_EVENTS];
    char text[MAX_EVENTS + 1];
    assert_int_equal(heard(&r, 0, edges, text), 3);
    assert_string_equal(text, "ok!");
    /* The line was busy to the end of the frame. */
    assert_int_equal(edges[2], 1 + 2 * FRAME + HEARD);
    close_rig(&r);
}

/* Saved in the middle of a frame on one device, gone on with on another. */
static void saved_in_the_middle_of_a_frame(void **state)
{
    rig whole, first, second;
    void *bytes = NULL;
    size_t size = 0;
    (void)state;
    open_rig(&whole, "reference", 1);
    open_rig(&first, device_name, 2);
    open_rig(&second, "reference", 1);
    type(&whole, 0, 'q', 0);
    type(&whole, 0, 'r', 0);
    type(&first, 1, 'q', 0);
    type(&first, 1, 'r', 0);
    OK(ls_cosim_run(whole.cosim, 400, NULL, error));
    OK(ls_cosim_run(first.cosim, 55, NULL, error));
    OK(ls_cosim_save(first.cosim, 1, &bytes, &size, error));
    OK(ls_cosim_restore(second.cosim, 0, bytes, size, error));
    assert_int_equal(ls_cosim_edge(second.cosim, 0), 55);
    OK(ls_cosim_run(second.cosim, 400, NULL, error));
    uint64_t edges[2][MAX_EVENTS], digests[2];
    char text[2][MAX_EVENTS + 1];
    assert_int_equal(heard(&whole, 0, edges[0], text[0]), 2);
    assert_int_equal(heard(&second, 0, edges[1], text[1]), 2);
    assert_string_equal(text[1], "qr");
    assert_memory_equal(edges[0], edges[1], 2 * sizeof edges[0][0]);
    OK(ls_cosim_digest(whole.cosim, 0, &digests[0], error));
    OK(ls_cosim_digest(second.cosim, 0, &digests[1], error));
    assert_true(digests[0] == digests[1]);
    ls_bytes_destroy(&bytes);
    close_rig(&whole);
    close_rig(&first);
    close_rig(&second);
}

static void take_note(void *context, const char *message)
{
    *(uint32_t *)context += strstr(message, "more than 4 events") != NULL;
}

/* What is dropped is told, once. */
static void too_many_events(void **state)
{
    (void)state;
    rig r;
    uint32_t notes = 0;
    open_rig(&r, device_name, 1);
    ls_cosim_destroy(&r.cosim);
    ls_peripheral_parameter events = {"events", 5}, add = {"add", 0};
    ls_peripheral_parameter parameters[] = {events, add};
    ls_pin pins[] = {{.name = "count"}, {.name = "high"}, {.name = "low"}, {.name = "other"}};
    ls_peripheral counter = {.name = "counter",
                             .type = "counter",
                             .path = SOURCES "/counter.kc",
                             .pins = pins,
                             .pin_count = 4,
                             .parameters = parameters,
                             .parameter_count = 2};
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    params.device = r.device;
    params.peripherals = &counter;
    params.peripheral_count = 1;
    params.sink.event = take_event;
    params.sink.context = &r;
    params.log = take_note;
    params.log_context = &notes;
    OK(ls_cosim_create(r.design, &params, &r.cosim, error));
    OK(ls_cosim_run(r.cosim, 3, NULL, error));
    OK(ls_cosim_run(r.cosim, 6, NULL, error));
    assert_int_equal(r.event_count, 24);
    assert_int_equal(notes, 1);
    close_rig(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_go_through_a_design)};
    const struct CMUnitTest more[] = {
        cmocka_unit_test(runs_stop_at_an_event),
        cmocka_unit_test(saved_in_the_middle_of_a_frame),
        cmocka_unit_test(too_many_events),
    };
    if (argc > 1)
        device_name = argv[1];
    int failed = cmocka_run_group_tests_name("host", tests, NULL, NULL);
    /* A software device takes seconds to build each program. */
    if (strcmp(device_name, "vulkan") != 0)
        failed += cmocka_run_group_tests_name("host, more", more, NULL, NULL);
    return failed;
}
