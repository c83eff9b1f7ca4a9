/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runner of tests/lang with compiled code: every launch of the corpus in vector code and one
 * lane at a time, for the best level this machine has and the least one, against the interpreter.
 * What is optimised is left to tests of fewer kernels, since compiling is what takes the time. Grid
 * barriers are core's matter, which splits kernels there: see tests/contract.
 */
#include <stdio.h>
#include <string.h>

#include "../lang/runner.h"
#include "device/cpu/loader.h"
#include "emit/llvm/target.h"
#include "harness.h"

static const char *const targets[] = {"native+vector+quick", "native+scalar+quick",
                                      "sse2+vector+quick", "sse2+scalar+quick"};

static bool is_grid_barrier(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found |= inst->op == LS_OP_GRID_BARRIER;
    return !*found;
}

static bool has_grid_barrier(const ls__ir_module *module)
{
    bool found = false;
    for (uint32_t i = 1; i < module->functions.count; i++)
        ls__ir_walk(module->functions.items[i]->body, is_grid_barrier, &found);
    return found;
}

static int compare(const ls__trial *trial)
{
    ls__outcome *want = ls__trial_interpret(trial);
    int bad = want == NULL;
    for (size_t i = 0; i < sizeof targets / sizeof *targets && !bad; i++) {
        if (!ls__llvm_target_runs(targets[i]))
            continue;
        ls__cpu_object *object = ls__compile_object(trial->module, targets[i], true);
        bad = !object || ls__trial_compare(trial, want, object, targets[i]);
        ls__cpu_object_unload(&object);
    }
    ls__outcome_free(want);
    return bad;
}

ls_status run_launch(ls__interp_launch *launch, ls__interp_result *result, ls_error *error)
{
    ls__trial trial = {
        .module = launch->module, .kernel = launch->kernel, .scalars = launch->scalars};
    memcpy(trial.global_size, launch->global_size, sizeof trial.global_size);
    for (uint32_t i = 0; i < launch->kernel->buffer_count; i++) {
        trial.bytes[i] = launch->bindings[i].bytes;
        trial.size[i] = launch->bindings[i].size;
    }
    if (!has_grid_barrier(launch->module) && compare(&trial)) {
        snprintf(error->message, sizeof error->message, "compiled code differs, see above");
        return LS_E_FAILED;
    }
    return ls__interp_run(launch, result, error);
}
