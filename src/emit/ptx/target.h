/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets of PTX, as texts: an architecture, "sm_75", "sm_80" or "sm_90", then perhaps "+grid".
 *
 * A module runs on devices of its architecture and later ones; what is newer than sm_90 takes
 * sm_90's. With "+grid" a kernel keeps its grid barriers and waits at them itself
 * (LS__PTX_GRID_BARRIER), which needs a launch whose workgroups all run at once; without, such
 * kernels have been split (LS__LOWER_GRID_BARRIER). Needs no LLVM; device/cuda uses it too.
 */
#ifndef LS_EMIT_PTX_TARGET_H
#define LS_EMIT_PTX_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#define LS__PTX_TARGETS "sm_75, sm_80, sm_90, each also with +grid"

typedef struct ls__ptx_target {
    uint32_t architecture; /* 75, 80, 90 */
    bool grid;             /* grid barriers stay */
} ls__ptx_target;

/* False: malformed. */
bool ls__ptx_target_parse(const char *text, ls__ptx_target *target);

/* The text for a device of compute capability `major`.`minor` (static), or NULL below 7.5. */
const char *ls__ptx_target_for(uint32_t major, uint32_t minor, bool grid);

/* Whether code made for `code` runs on a device of the target `device`. */
bool ls__ptx_target_suits(const char *code, const char *device);

/* Those that code is made for ahead, best first. */
#define LS__PTX_TARGETS_AHEAD "sm_90 sm_80 sm_75"

/* LS__LOWER_* bits (ir/lowering.h): what a module must have been lowered by before it is emitted.
 */
uint32_t ls__ptx_lowering(const char *target);

#endif
