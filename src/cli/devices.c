/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep devices`: what this build knows, what can be used, and the capability tables. */
#include <argp.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "lockstep/device.h"

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    bool *verbose = state->input;
    switch (key) {
    case 'v':
        *verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        ls__cli_usage_error(state, "'%s' is not expected here", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"verbose", 'v', NULL, 0, "Show limits and features of each usable device", 0},
    {0},
};

static const struct argp arguments = {
    .options = options,
    .parser = parse_option,
    .doc = "Lists the devices of this build, the most preferred first."
           "\v"
           "What is used when none is named is the first one that is usable: cpu, if the build "
           "can compile for it. Vulkan devices, the reference and devices of the kind `test' "
           "must be named; `lockstep run' takes the reference by itself where cpu is not "
           "usable.\n\n"
           "Examples:\n"
           "  lockstep devices\n"
           "  lockstep devices --verbose\n",
};

static const char *kind_name(ls_device_kind kind)
{
    static const char *const names[] = {"reference", "cpu", "gpu", "test"};
    return names[kind];
}

static const char *yes_no(bool value)
{
    return value ? "yes" : "no";
}

static void print_caps(const ls_caps *caps)
{
    printf("    lanes of a workgroup     %u\n"
           "    shared memory            %u bytes a workgroup\n"
           "    local memory             %u bytes a lane\n"
           "    pointer parameters       %u\n"
           "    scalar parameters        %u bytes\n"
           "    range of a parameter     %llu bytes\n",
           caps->max_workgroup_lanes, caps->max_shared_bytes, caps->max_local_bytes,
           caps->max_buffers, caps->max_scalar_bytes, (unsigned long long)caps->max_range_bytes);
    if (caps->subgroup_native_lanes)
        printf("    subgroup in hardware     %u lanes\n", caps->subgroup_native_lanes);
    else
        printf("    subgroup in hardware     no, emulated\n");
    printf("    f64                      %s\n"
           "    64-bit atomics           %s\n"
           "    grid_barrier in hardware %s\n"
           "    prepared batches         %s\n"
           "    cancel                   %s\n",
           yes_no(caps->f64), yes_no(caps->atomics64), yes_no(caps->grid_barrier_native),
           caps->prepared_native ? "native" : "resolved list", yes_no(caps->cancel));
    if (caps->timing)
        printf("    device time              yes\n");
    else
        printf("    device time              no: %s\n",
               caps->timing_unavailable ? caps->timing_unavailable : "unknown reason");
}

/* What the bring-up probe says: the number of operations, and those that are not right. */
static ls_status print_probe(ls_device *device, ls_error *error)
{
    uint32_t capacity, count, native = 0;
    ls_status status = ls_device_probe(device, NULL, 0, &capacity, error);
    if (status != LS_OK || !capacity)
        return status;
    ls_probe_info *infos = ls__mem_alloc(capacity, sizeof *infos);
    if (!infos)
        return ls__fail_oom(error, capacity * sizeof *infos);
    status = ls_device_probe(device, infos, capacity, &count, error);
    for (uint32_t i = 0; status == LS_OK && i < capacity; i++)
        native += infos[i].state == LS_PROBE_NATIVE;
    if (status == LS_OK)
        printf("    operations found right   %u of %u\n", native, capacity);
    for (uint32_t i = 0; status == LS_OK && i < capacity; i++)
        if (infos[i].state != LS_PROBE_NATIVE)
            printf("    %-24s wrong, %s\n", infos[i].operation,
                   infos[i].state == LS_PROBE_LOWERED ? "replaced" : "programs are refused");
    ls__mem_free(infos);
    return status;
}

static ls_status show_caps(const char *name, ls_error *error)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls__strbuf cache = {0};
    ls_device *device;
    ls__cli_default_cache(&cache);
    params.name = name;
    params.cache_path = cache.text;
    ls_status status = ls_device_open(&params, &device, error);
    ls__strbuf_finish(&cache);
    if (status != LS_OK)
        return status;
    print_caps(ls_device_caps(device));
    status = print_probe(device, error);
    ls_device_destroy(&device, NULL);
    return status;
}

static ls_status list(bool verbose, ls_error *error)
{
    uint32_t count, capacity;
    ls_status status = ls_device_list(NULL, 0, &capacity, error);
    if (status != LS_OK)
        return status;
    ls_device_info *infos = ls__mem_alloc(capacity, sizeof *infos);
    if (!infos)
        return ls__fail_oom(error, capacity * sizeof *infos);
    status = ls_device_list(infos, capacity, &count, error);
    for (uint32_t i = 0; status == LS_OK && i < count && i < capacity; i++) {
        printf("%-12s %-10s %s\n", infos[i].name, kind_name(infos[i].kind), infos[i].description);
        if (!infos[i].usable)
            printf("    not usable: %s\n", infos[i].reason);
        else if (verbose)
            status = show_caps(infos[i].name, error);
    }
    ls__mem_free(infos);
    return status;
}

int ls__cli_devices(int argc, char **argv)
{
    bool verbose = false;
    ls_error error;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &verbose) != 0)
        return LS__EXIT_USAGE;
    return ls__cli_end(list(verbose, &error), &error);
}
