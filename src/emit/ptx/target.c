/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as texts, and what they lack. */
#include <string.h>

#include "emit/ptx/target.h"
#include "ir/lowering.h"

static const struct {
    const char *text, *grid_text;
    uint32_t architecture;
} targets[] = {
    {"sm_75", "sm_75+grid", 75},
    {"sm_80", "sm_80+grid", 80},
    {"sm_90", "sm_90+grid", 90},
};
enum { TARGETS = sizeof targets / sizeof *targets };

bool ls__ptx_target_parse(const char *text, ls__ptx_target *target)
{
    *target = (ls__ptx_target){0};
    for (size_t i = 0; i < TARGETS; i++) {
        bool grid = strcmp(text, targets[i].grid_text) == 0;
        if (grid || strcmp(text, targets[i].text) == 0)
            *target = (ls__ptx_target){targets[i].architecture, grid};
    }
    return target->architecture != 0;
}

const char *ls__ptx_target_for(uint32_t major, uint32_t minor, bool grid)
{
    const char *text = NULL;
    for (size_t i = 0; i < TARGETS; i++) {
        uint32_t least = targets[i].architecture;
        if (major > least / 10 || (major == least / 10 && minor >= least % 10))
            text = grid ? targets[i].grid_text : targets[i].text;
    }
    return text;
}

/* A GPU has the rest: correctly rounded division and square root, fma, 64-bit integers, dp4a, warps
 * of 32 lanes. Bounds and the one NaN are a comparison each where they are met. */
bool ls__ptx_target_suits(const char *code, const char *device)
{
    ls__ptx_target made, have;
    return ls__ptx_target_parse(code, &made) && ls__ptx_target_parse(device, &have) &&
           made.architecture <= have.architecture && made.grid <= have.grid;
}

uint32_t ls__ptx_lowering(const char *text)
{
    ls__ptx_target target;
    if (!ls__ptx_target_parse(text, &target) || target.grid)
        return 0;
    return LS__LOWER_GRID_BARRIER;
}
