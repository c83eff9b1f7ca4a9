/* SPDX-License-Identifier: Apache-2.0 */
/* A testbench in C: loads the netlist of examples/cosim/counter, gives it a clock, and holds its
 * counter to a model at every clock cycle, while `enable` comes and goes at random.
 *
 * usage: testbench COUNTER.json [DEVICE] */
#include <lockstep/cosim.h>

#include <stdio.h>

enum { CYCLES = 777, EDGES_PER_CYCLE = 2 };

/* What the bench talks to. */
typedef struct bench {
    ls_cosim *cosim;
    ls_signal_ref clock, reset, enable, count, last;
} bench;

static ls_status find_signals(bench *bench, const ls_design *design, ls_error *error)
{
    ls_status status = ls_design_find(design, "clk", &bench->clock, error);
    if (!status)
        status = ls_design_find(design, "reset", &bench->reset, error);
    if (!status)
        status = ls_design_find(design, "enable", &bench->enable, error);
    if (!status)
        status = ls_design_find(design, "count", &bench->count, error);
    if (!status)
        status = ls_design_find(design, "last", &bench->last, error);
    return status;
}

/* The clock is the device's business: it rises at even edges and falls at odd ones. */
static ls_status start_clock(const bench *bench, ls_error *error)
{
    const ls_edge_op ops[] = {{0, bench->clock, 1}, {1, bench->clock, 0}};
    return ls_cosim_schedule(bench->cosim, EDGES_PER_CYCLE, ops, 2, error);
}

/* One clock cycle with these inputs; they are there before the clock rises. */
static ls_status run_cycle(const bench *bench, uint64_t reset, uint64_t enable, ls_error *error)
{
    ls_status status = ls_cosim_set(bench->cosim, 0, bench->reset, &reset, error);
    if (!status)
        status = ls_cosim_set(bench->cosim, 0, bench->enable, &enable, error);
    if (!status)
        status = ls_cosim_run(bench->cosim, ls_cosim_edge(bench->cosim, 0) + EDGES_PER_CYCLE, NULL,
                              error);
    return status;
}

/* 0 when the counter counted as the model does, 1 when not, 2 after an error. */
static int check_counter(const bench *bench, ls_error *error)
{
    uint64_t model = 0, count, last;
    uint32_t random = 1;
    if (run_cycle(bench, 1, 0, error))
        return 2;
    for (uint32_t cycle = 0; cycle < CYCLES; cycle++) {
        random = random * 1664525u + 1013904223u;
        uint64_t enable = random >> 31;
        model = (model + enable) & 0xff;
        if (run_cycle(bench, 0, enable, error) ||
            ls_cosim_get(bench->cosim, 0, bench->count, &count, error) ||
            ls_cosim_get(bench->cosim, 0, bench->last, &last, error))
            return 2;
        if (count != model || last != (model == 0xff)) {
            fprintf(stderr, "cycle %u: count is %u, expected %u\n", cycle, (unsigned)count,
                    (unsigned)model);
            return 1;
        }
    }
    printf("%d cycles as the model has them, count = %u\n", CYCLES, (unsigned)model);
    return 0;
}

int main(int argc, char **argv)
{
    ls_error error = {0};
    ls_device *device = NULL;
    ls_design *design = NULL;
    bench bench = {0};
    int status = 2;
    if (argc < 2) {
        fprintf(stderr, "usage: testbench COUNTER.json [DEVICE]\n");
        return 2;
    }

    ls_design_params load = LS_DESIGN_PARAMS_INIT;
    load.path = argv[1];
    ls_device_params open = LS_DEVICE_PARAMS_INIT;
    open.name = argc > 2 ? argv[2] : NULL;
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    if (ls_design_load(&load, &design, &error) || ls_device_open(&open, &device, &error))
        goto end;
    params.device = device;
    if (ls_cosim_create(design, &params, &bench.cosim, &error) ||
        find_signals(&bench, design, &error) || start_clock(&bench, &error))
        goto end;
    status = check_counter(&bench, &error);

end:
    if (status == 2)
        fprintf(stderr, "%s: %s %s %s\n", ls_status_name(error.code), error.message, error.where,
                error.hint);
    ls_cosim_destroy(&bench.cosim);
    ls_design_destroy(&design);
    ls_device_destroy(&device, NULL);
    return status;
}
