/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on two devices that differ: the first edge and net are named. The second device is the
 * reference too, but whenever its run passes the edge WRONG_EDGE a register is set to something
 * else there, as a wrong device would always do.
 */
#include "../base/cmocka_all.h"

#include <dlfcn.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "testbench/run_private.h"

enum { WRONG_EDGE = 137 };

static const char *netlist;
static ls_cosim *wrong_one; /* NULL: both are right */
static uint64_t wrong_value;

/* Stands in front of the library's. */
ls_status ls_cosim_run(ls_cosim *cosim, uint64_t until, const volatile int *cancel, ls_error *error)
{
    ls_status (*real)(ls_cosim *, uint64_t, const volatile int *, ls_error *);
    *(void **)&real = dlsym(RTLD_NEXT, "ls_cosim_run");
    assert_non_null(real);
    if (cosim != wrong_one || ls_cosim_edge(cosim, 0) > WRONG_EDGE || until <= WRONG_EDGE)
        return real(cosim, until, cancel, error);
    ls_status status = real(cosim, WRONG_EDGE + 1, cancel, error);
    ls_signal_ref count = {3, 0, 8}; /* of the counter's ports the fourth */
    if (status == LS_OK)
        status = ls_cosim_set(cosim, 0, count, &wrong_value, error);
    return status == LS_OK ? real(cosim, until, cancel, error) : status;
}

static uint64_t time_of(void *context, uint64_t edge)
{
    const ls__plan *plan = context;
    return ls__schedule_time(plan->schedule, edge);
}

typedef struct parts {
    ls_device *device;
    ls_design *design;
    ls__config_file *config;
    ls__plan *plan;
    ls__waves *waves;
    ls__events *events;
} parts;

#define GOOD(call)                                                                                 \
    do {                                                                                           \
        if ((call) != LS_OK)                                                                       \
            fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)

static void open_parts(parts *p)
{
    static const char text[] = "{\"clock\": \"clk\", \"clock_period_ps\": 40000, \"reset\": "
                               "\"reset\", \"reset_active_high\": true, \"reset_cycles\": 2,"
                               " \"constant_ports\": {\"enable\": 1}}";
    ls_error error = {0};
    ls_device_params device = LS_DEVICE_PARAMS_INIT;
    ls_design_params design = LS_DESIGN_PARAMS_INIT;
    device.name = "reference";
    design.path = netlist;
    GOOD(ls_device_open(&device, &p->device, &error));
    GOOD(ls_design_load(&design, &p->design, &error));
    GOOD(ls__config_read(text, sizeof text - 1, "c.json", NULL, NULL, &p->config, &error));
    ls__plan_params plan = {.design = p->design,
                            .config = ls__config_of(p->config),
                            .config_path = "c.json",
                            .instances = 1};
    GOOD(ls__plan_create(&plan, &p->plan, &error));
    GOOD(ls__waves_create(p->design, time_of, p->plan, &p->waves, &error));
    ls__waves_trace_all(p->waves);
    GOOD(ls__events_create(p->plan, 1, false, time_of, p->plan, &p->events, &error));
}

static void close_parts(parts *p)
{
    ls__events_destroy(&p->events);
    ls__waves_close(&p->waves, NULL);
    ls__plan_destroy(&p->plan);
    ls__config_destroy(&p->config);
    ls_design_destroy(&p->design);
    ls_device_destroy(&p->device, NULL);
}

static ls_status run(parts *p, bool is_wrong, uint64_t batch, ls_error *error)
{
    ls_cosim_params cosim = LS_COSIM_PARAMS_INIT;
    ls__run *run;
    cosim.device = p->device;
    ls__run_params params = {.design = p->design,
                             .plan = p->plan,
                             .cosim = &cosim,
                             .check = p->device,
                             .waves = p->waves,
                             .events = p->events,
                             .batch = batch,
                             .max_edges = 200,
                             .live_source = UINT32_MAX};
    ls_status status = ls__run_create(&params, &run, error);
    if (status != LS_OK)
        return status;
    wrong_one = is_wrong ? run->sides[1].cosim : NULL;
    status = ls__run_all(run, error);
    wrong_one = NULL;
    ls__run_destroy(&run);
    return status;
}

/* In a batch of any length, also one that holds the end of reset, which is queued anew. */
static void first_difference_is_found(void **state)
{
    for (uint64_t batch = 1; batch <= 1000; batch = batch * 7 + 3) {
        parts p = {0};
        ls_error error = {0};
        open_parts(&p);
        wrong_value = 0xa5;
        assert_int_equal(run(&p, true, batch, &error), LS_E_FAILED);
        /* What was set behind edge 137 is seen at the next. */
        assert_string_equal(error.message, "the devices differ first at edge 138 (2760000 ps) in "
                                           "count: 8'h43, and 8'ha5");
        close_parts(&p);
    }
}

static void equal_devices_pass(void **state)
{
    for (uint64_t batch = 1; batch <= 1000; batch = batch * 30 + 3) {
        parts p = {0};
        ls_error error = {0};
        open_parts(&p);
        if (run(&p, false, batch, &error) != LS_OK)
            fail_msg("%s", error.message);
        close_parts(&p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_difference_is_found),
        cmocka_unit_test(equal_devices_pass),
    };
    netlist = argc > 1 ? argv[1] : "counter.json";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
