/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on two devices at once. After every piece, the changes of all traced signals and the
 * digests are compared; when they differ, the piece is run again in halves, from the saved state of
 * instance 0, until one edge is left, and then all signals are compared there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "lockstep/program.h"
#include "testbench/run_private.h"

static void drop_saved(ls__run *run)
{
    for (int i = 0; i < 2; i++) {
        ls_bytes_destroy(&run->sides[i].saved);
        run->sides[i].saved_bytes = 0;
    }
}

ls_status ls__check_begin(ls__run *run, ls_error *error)
{
    ls_status status = LS_OK;
    drop_saved(run);
    for (int i = 0; status == LS_OK && i < 2; i++) {
        run->sides[i].hash = 0;
        status = ls_cosim_save(run->sides[i].cosim, 0, &run->sides[i].saved,
                               &run->sides[i].saved_bytes, error);
    }
    return status;
}

static ls_status go_back(ls__run *run, uint64_t edge, ls_error *error)
{
    ls_status status = LS_OK;
    for (int i = 0; status == LS_OK && i < 2; i++) {
        ls__side *side = &run->sides[i];
        side->hash = 0;
        status = ls_cosim_restore(side->cosim, 0, side->saved, side->saved_bytes, error);
        if (status == LS_OK)
            status = ls__schedule_requeue(run->p.plan->schedule, side->cosim, edge, error);
    }
    return status;
}

static ls_status run_both(ls__run *run, uint64_t until, ls_error *error)
{
    ls_status status = ls_cosim_run(run->sides[0].cosim, until, run->p.cancel, error);
    if (status == LS_OK)
        status = ls_cosim_run(run->sides[1].cosim, until, run->p.cancel, error);
    return status;
}

static bool is_equal(const ls__run *run, uint32_t instance)
{
    uint64_t digests[2];
    for (int i = 0; i < 2; i++)
        if (ls_cosim_digest(run->sides[i].cosim, instance, &digests[i], NULL) != LS_OK)
            return false;
    return digests[0] == digests[1] && (instance || run->sides[0].hash == run->sides[1].hash) &&
           ls_cosim_edge(run->sides[0].cosim, instance) ==
               ls_cosim_edge(run->sides[1].cosim, instance);
}

static void append_value(ls__strbuf *out, const uint64_t *words, uint32_t width)
{
    ls__strbuf_printf(out, "%u'h", width);
    uint32_t limb = (width + 63) / 64;
    while (limb > 1 && words[limb - 1] == 0)
        limb--;
    ls__strbuf_printf(out, "%llx", (unsigned long long)words[limb - 1]);
    while (--limb > 0)
        ls__strbuf_printf(out, "%016llx", (unsigned long long)words[limb - 1]);
}

/* The first signal whose values differ now. */
static ls_status name_difference(ls__run *run, uint64_t edge, ls_error *error)
{
    ls_design_info design = {.struct_size = sizeof design};
    ls_status status = LS_OK;
    ls_design_describe(run->p.design, &design);
    for (uint32_t s = 0; status == LS_OK && s < design.signal_count; s++) {
        ls_signal_info info;
        status = ls_design_signal(run->p.design, s, &info, error);
        if (status != LS_OK || info.width == 0)
            continue;
        size_t limbs = (info.width + 63) / 64;
        uint64_t *words = ls__mem_alloc(limbs * 2, sizeof *words);
        if (!words)
            return ls__fail_oom(error, limbs * 2 * sizeof *words);
        ls_signal_ref ref = {s, 0, info.width};
        for (int i = 0; status == LS_OK && i < 2; i++)
            status = ls_cosim_get(run->sides[i].cosim, 0, ref, words + limbs * (size_t)i, error);
        if (status == LS_OK && memcmp(words, words + limbs, limbs * sizeof *words) != 0) {
            ls__strbuf text = {0};
            append_value(&text, words, info.width);
            ls__strbuf_printf(&text, ", and ");
            append_value(&text, words + limbs, info.width);
            status = ls__fail(error, LS_E_FAILED,
                              "the devices differ first at edge %llu (%llu ps) in %s: %s",
                              (unsigned long long)edge,
                              (unsigned long long)ls__schedule_time(run->p.plan->schedule, edge),
                              info.name, text.text ? text.text : "?");
            ls__strbuf_finish(&text);
        }
        ls__mem_free(words);
    }
    if (status == LS_OK)
        status = ls__fail(error, LS_E_FAILED,
                          "the devices differ first at edge %llu, in no signal that has a name",
                          (unsigned long long)edge);
    return status;
}

/* Equal before edge `low`, different before edge `high`. */
static ls_status bisect(ls__run *run, uint64_t low, uint64_t high, ls_error *error)
{
    uint64_t start = low;
    ls_status status = LS_OK;
    run->is_silent = true;
    while (status == LS_OK && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        status = go_back(run, start, error);
        if (status == LS_OK)
            status = run_both(run, middle, error);
        if (status == LS_OK && is_equal(run, 0))
            low = middle;
        else
            high = middle;
    }
    if (status == LS_OK)
        status = go_back(run, start, error);
    if (status == LS_OK)
        status = run_both(run, high, error);
    run->is_silent = false;
    return status == LS_OK ? name_difference(run, low, error) : status;
}

ls_status ls__check_piece(ls__run *run, uint64_t edge, uint64_t until, ls_error *error)
{
    ls_status status = ls_cosim_run(run->sides[1].cosim, until, run->p.cancel, error);
    if (status != LS_OK)
        return status;
    if (!is_equal(run, 0))
        return bisect(run, edge, ls_cosim_edge(run->sides[0].cosim, 0), error);
    for (uint32_t i = 1; i < run->instance_count; i++)
        if (!is_equal(run, i))
            return ls__fail(error, LS_E_FAILED,
                            "the devices differ in instance %u between edges %llu and %llu", i,
                            (unsigned long long)edge, (unsigned long long)until);
    return LS_OK;
}
