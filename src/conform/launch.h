/* SPDX-License-Identifier: Apache-2.0 */
/* Running a case on a device, and what came of it as bytes. */
#ifndef LS_CONFORM_LAUNCH_H
#define LS_CONFORM_LAUNCH_H

#include "base/str.h"
#include "conform/case.h"

/* What a device made of a case: a trap record when a lane trapped, then the output buffers, one
 * after another. These are the bytes a digest is of. */
typedef struct ls__outputs {
    uint8_t *bytes;
    uint64_t size;
    uint64_t head; /* bytes of the trap record, 0 or 16 */
} ls__outputs;

/* Fails when the launch does, other than by a trap. `out` is to be finished in any case. */
ls_status ls__launch_case(ls_device *device, ls_program *program, const ls__case *c,
                          ls__outputs *out, ls_error *error);
bool ls__outputs_equal(const ls__outputs *a, const ls__outputs *b);
void ls__outputs_finish(ls__outputs *out);

/* --- the device contract, reduced (contract.c) ------------------------------------------------ */
extern const uint32_t ls__contract_count;
const char *ls__contract_name(uint32_t index); /* of the row */
/* Appends what the public calls answered on this device, and bytes they brought, as text. `params`
 * of the program that is run. */
ls_status ls__contract_run(uint32_t index, ls_device *device, const ls_program_params *params,
                           ls__strbuf *transcript, ls_error *error);

#endif
