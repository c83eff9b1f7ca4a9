/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conformance: what a device computes, row by row, as a certificate. docs/conformance.md says what
 * a certificate means, docs/certificate.schema.json what it looks like. This folder uses the
 * library through its public headers alone, as the command does, so a certificate is of what users
 * get.
 *
 * Rows come from ops.c, kernels.c, programs.c (cases: case.h) and contract.c; launch.c runs a case
 * on a device; run.c makes rows of them; find.c makes a failing one small; certificate.c writes,
 * reads and compares.
 */
#ifndef LS_CONFORM_CONFORM_H
#define LS_CONFORM_CONFORM_H

#include <jansson.h>

#include "base/str.h"
#include "lockstep/device.h"
#include "lockstep/program.h"

typedef struct ls__conform_options {
    const char *device;
    const char *against; /* device whose bytes must be equal, NULL = none: only digests */
    const char *filter;  /* part of a row's name, or a pattern with * ? [; NULL = all rows */
    const char *lower;   /* as in ls_program_params, for the device; the tier too */
    ls_tier tier;
    const char *target; /* as in ls_device_params */
    uint64_t seed;
    uint32_t threads;
    const char *cache; /* folder for compiled code, as in ls_device_params; NULL = none */
    bool quick;    /* fewer vectors, shapes and programs */
    bool unprobed; /* no bring-up probe: shows what it would have caught */
    const ls_fault_plan *fault;
    /* Called before each row; false stops with LS_E_CANCELLED. */
    bool (*progress)(void *context, const char *row, uint32_t done);
    void *context;
} ls__conform_options;

/* Runs everything that is asked for. LS_OK also when rows failed or none could be run: see "failures"
 * and "rows" in the certificate, which the caller releases (json_decref). LS_E_INVALID_ARGUMENT when no
 * row fits the filter. Blocks: seconds to minutes. */
ls_status ls__conform_run(const ls__conform_options *options, json_t **certificate,
                          ls_error *error);

/* --- certificates (certificate.c) ------------------------------------------------------------- */
/* Sets "digest": of all rows' names and digests, in order. */
ls_status ls__certificate_seal(json_t *certificate, ls_error *error);
ls_status ls__certificate_write(const json_t *certificate, const char *path, ls_error *error);
ls_status ls__certificate_read(const char *path, json_t **certificate, ls_error *error);

typedef struct ls__certificate_comparison {
    uint32_t equal, different, only_one; /* rows */
    ls__strbuf text;                     /* a line for each row that is not equal */
} ls__certificate_comparison;
/* LS_E_INVALID_ARGUMENT when they are not comparable: another contract version, seed or size. */
ls_status ls__certificate_compare(const json_t *a, const json_t *b,
                                  ls__certificate_comparison *result, ls_error *error);

#endif
