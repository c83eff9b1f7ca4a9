/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code made ahead: what an emitter makes of a module for a target, without a device, with all that
 * is needed to run it where no compiler is. The bytes are
 *
 *     magic      "LSAOT01" and a 0
 *     u32        versions: bit contract, IR, code of the emitter
 *     text       version of the library
 *     text       family of the backend, "cpu"
 *     text       target
 *     u32        unchecked; LS__LOWER_* bits that it was lowered by
 *     digest     of the module's IR, and of the IR that the code is made of
 *     code       of the program
 *     u32        chunks of the probe, and the code of each
 *     digest     of all bytes before it
 *
 * Numbers are little-endian; a text is a u32 of its bytes, these, and a 0; code is a u64 of its
 * bytes, and these.
 *
 * The module is lowered anew when a program is created, by passes that need no compiler, and must
 * become the IR that the code is made of: so code never runs under another program's kernels. The
 * probe's programs are made ahead as well, so that a device is believed no more than elsewhere.
 */
#ifndef LS_CORE_PACKAGE_H
#define LS_CORE_PACKAGE_H

#include "core/probe.h"

enum { LS__PACKAGE_MAX_CHUNKS = LS__PROBE_MAX_ROWS / LS__PROBE_CHUNK };

typedef struct ls__package { /* points into bytes that must outlive it */
    const ls__registry_entry *entry;
    const char *family, *target, *library;
    uint32_t contract, ir_version, code_version, lower;
    bool unchecked;
    ls__digest source, lowered, whole;
    ls__code_bytes code;
    ls__code_bytes chunks[LS__PACKAGE_MAX_CHUNKS];
    uint32_t chunk_count;
} ls__package;

/* The first that is for this target, else the first that runs on the device. LS_E_UNSUPPORTED lists
 * what there is. */
ls_status ls__package_choose(const ls_device *device, const ls_code *codes, uint32_t count,
                             ls__package *package, ls_error *error);

#endif
