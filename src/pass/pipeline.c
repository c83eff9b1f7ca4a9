/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline: the one list of all passes in order, and what runs it.
 *
 * Optimisation comes first, on the program as it was written; then what the device lacks is
 * supplied, from the composite to the basic (a conversion needs no division, a division no NaN
 * rule, all of them integers), and a last round cleans up after that.
 */
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "pass/passes.h"
#include "pass/util.h"

/* clang-format off */
#define OPTIMIZE(name) {#name, ls__pass_##name, LS__PASS_OPTIMIZE, 0}
#define LOWER(name, bit) {#name, ls__pass_##name, LS__PASS_LOWER, LS__LOWER_##bit}

static const ls__pass passes[] = {
    /* the device reports accesses out of range: those of the kernel are marked */
    {"watch", ls__pass_watch, LS__PASS_WATCH, 0},
    OPTIMIZE(fold),                  /* constants, identities, decided control flow */
    OPTIMIZE(copy_propagate),        /* reads of variables become the values known to be in them */
    OPTIMIZE(fold),                  /* again, on what that uncovered */
    OPTIMIZE(promote_locals),        /* local objects at constant offsets become variables */
    OPTIMIZE(copy_propagate),        /* again, on the new variables */
    OPTIMIZE(fold),                  /* again */
    OPTIMIZE(cse),                   /* equal computations are done once */
    OPTIMIZE(dce),                   /* what nothing depends on is removed */
    OPTIMIZE(licm),                  /* what does not change in a loop moves in front of it */
    OPTIMIZE(strength),              /* cheaper operations than to multiply, divide by constants */
    OPTIMIZE(fold),                  /* again */
    OPTIMIZE(cse),                   /* again */
    OPTIMIZE(bounds),                /* what provably stays in range loses its checks */
    OPTIMIZE(dce),                   /* again */
    /* all checks are dropped: the caller vouches for the kernel */
    {"unchecked", ls__pass_unchecked, LS__PASS_UNCHECKED, 0},
    LOWER(lower_subgroup, SUBGROUP), /* subgroup operations through shared memory and barriers */
    LOWER(lower_fma, FMA),           /* fma by integer arithmetic */
    LOWER(lower_div, DIV),           /* float division by integer arithmetic */
    LOWER(lower_sqrt, SQRT),         /* square root by integer arithmetic */
    LOWER(lower_convert, CONVERT),   /* conversions between formats by integer arithmetic */
    LOWER(lower_minmax, MINMAX),     /* fmin and fmax by integer comparison */
    LOWER(lower_round, ROUND),       /* rounding to integral by integer arithmetic */
    LOWER(lower_nan, NAN),           /* the one NaN of stores and bit casts made explicit */
    LOWER(lower_dot4, DOT4),         /* dot4 by bytes */
    LOWER(lower_bounds, BOUNDS),     /* range checks made explicit */
    LOWER(lower_memory, MEMORY),     /* 1- and 2-byte stores as atomics on words */
    LOWER(lower_integer, INTEGER),   /* total and composite integer operations by basic ones */
    LOWER(lower_int64, INT64),       /* 64-bit arithmetic on pairs of words */
    OPTIMIZE(fold),                  /* again, after lowering */
    OPTIMIZE(cse),                   /* again */
    OPTIMIZE(dce),                   /* again */
};
/* clang-format on */

enum { PASS_COUNT = sizeof passes / sizeof *passes };

const ls__pass *ls__pass_table(uint32_t *count)
{
    *count = PASS_COUNT;
    return passes;
}

static bool is_wanted(const ls__pass *pass, const ls__pass_options *options)
{
    if (options->skip && strcmp(options->skip, pass->name) == 0)
        return false;
    switch (pass->kind) {
    case LS__PASS_OPTIMIZE:
        return options->optimize;
    case LS__PASS_UNCHECKED:
        return options->unchecked;
    case LS__PASS_WATCH:
        return options->watch;
    case LS__PASS_LOWER:
        return (options->lower & pass->lower) != 0;
    }
    return false;
}

static bool is_known(const char *name)
{
    for (uint32_t i = 0; i < PASS_COUNT; i++) {
        if (strcmp(passes[i].name, name) == 0)
            return true;
    }
    return false;
}

static ls_status verify_after(const ls__ir_module *module, const char *name, ls_error *error)
{
    ls_error inner = {0};
    ls_status status = ls__ir_verify(module, &inner);
    if (status == LS_OK)
        return LS_OK;
    if (status == LS_E_OUT_OF_MEMORY) /* says nothing about the module */
        return ls__fail(error, status, "%s", inner.message);
    return ls__fail(error, LS_E_INTERNAL, "pass %s left an invalid module: %s", name,
                    inner.message);
}

/* How deep structured instructions nest in a region. */
static uint32_t depth_of(const ls__ir_region *region)
{
    uint32_t deepest = 0;
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t i = 0; i < inst->region_count; i++) {
            uint32_t depth = 1 + depth_of(inst->regions[i]);
            deepest = depth > deepest ? depth : deepest;
        }
    }
    return deepest;
}

/* Lowering puts control flow where an operation was: what was near the limit may be beyond it. */
static ls_status check_depth(const ls__ir_function *function, const char *name, ls_error *error)
{
    uint32_t depth = depth_of(function->body);
    if (depth <= LS__IR_MAX_DEPTH)
        return LS_OK;
    return ls__fail(
        error, LS_E_LIMIT, "%s '%s' nests control flow %u deep after %s: at most %d is possible",
        function->is_kernel ? "kernel" : "function", function->name, depth, name, LS__IR_MAX_DEPTH);
}

/* Runs one pass over some functions; the scratch arena lasts for one function. */
static ls_status run_pass(ls__ir_module *module, const ls__pass *pass, uint32_t first,
                          uint32_t count, ls__arena *scratch, ls__oom *oom, ls_error *error)
{
    for (uint32_t i = first; i < first + count; i++) {
        ls__arena_finish(scratch);
        ls__arena_init(scratch, oom, 0);
        pass->run(module->functions.items[i], scratch);
        ls_status status = pass->kind == LS__PASS_LOWER
                               ? check_depth(module->functions.items[i], pass->name, error)
                               : LS_OK;
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static ls_status run_passes(ls__ir_module *module, const ls__pass_options *options, uint32_t first,
                            uint32_t count, ls__arena *scratch, ls__oom *oom, ls_error *error)
{
    for (uint32_t i = first; i < first + count; i++)
        ls__pass_drop_unset(module->functions.items[i]);
    for (uint32_t i = 0; i < PASS_COUNT; i++) {
        const ls__pass *pass = &passes[i];
        bool is_last = options->stop_after && strcmp(options->stop_after, pass->name) == 0;
        if (is_wanted(pass, options)) {
            ls_status status = run_pass(module, pass, first, count, scratch, oom, error);
            if (status == LS_OK && options->verify_each)
                status = verify_after(module, pass->name, error);
            if (status != LS_OK)
                return status;
        }
        if (is_last)
            break;
    }
    for (uint32_t i = first; i < first + count; i++)
        ls__ir_compact(module->functions.items[i]);
    return LS_OK;
}

/* Everything between the set-up of memory and floating point, and its end. A pass changes one
 * function, so each goes through all passes while it is in the caches; only where the module is
 * verified after each pass they go together. */
static ls_status run_all(ls__ir_module *module, const ls__pass_options *options, ls__arena *scratch,
                         ls__oom *oom, ls_error *error)
{
    uint32_t functions = module->functions.count;
    uint32_t together = options->verify_each ? functions - 1 : 1;
    ls_status status = LS_OK;
    for (uint32_t i = 1; i < functions && status == LS_OK; i += together)
        status = run_passes(module, options, i, together, scratch, oom, error);
    return status;
}

/* Names every pass there is, each once. */
static ls_status fail_unknown(const char *name, ls_error *error)
{
    char names[400] = "";
    for (uint32_t i = 0; i < PASS_COUNT; i++) {
        uint32_t first = 0;
        while (strcmp(passes[first].name, passes[i].name) != 0)
            first++;
        size_t used = strlen(names);
        if (first == i)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", passes[i].name);
    }
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no pass named '%s'; one of: %s", name,
                    names);
}

ls_status ls__pass_run(ls__ir_module *module, const ls__pass_options *options, ls_error *error)
{
    const char *const named[2] = {options->stop_after, options->skip};
    for (int i = 0; i < 2; i++) {
        if (named[i] && !is_known(named[i]))
            return fail_unknown(named[i], error);
    }
    ls__os_fenv fenv; /* folding computes floats */
    ls__os_fenv_enter(&fenv);
    ls__oom oom, *caller_oom = module->arena.oom;
    ls__arena scratch = {0};
    ls_status status;
    if (setjmp(oom.jump) == 0) {
        module->arena.oom = &oom;
        status = run_all(module, options, &scratch, &oom, error);
    } else {
        status = ls__oom_status(&oom, error);
    }
    module->arena.oom = caller_oom;
    ls__arena_finish(&scratch);
    ls__os_fenv_leave(&fenv);
    return status;
}
