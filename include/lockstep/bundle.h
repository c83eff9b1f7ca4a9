/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/bundle.h - programs that are compiled ahead, in a folder of files.
 *
 *   ls_module --ls_bundle_write--> folder --ls_bundle_open--> ls_bundle --ls_bundle_program-->
 *   ls_program
 *
 * `lockstep bundle` writes one; docs/bundle.md describes the files. A program that opens a bundle
 * needs this library, but no compiler: what the devices run is in the folder, and goes through the
 * same checks as code that is made on the spot. The launcher in the folder (NAME.h, NAME.c) is C
 * with a function for each kernel, over these calls.
 */
#ifndef LOCKSTEP_BUNDLE_H
#define LOCKSTEP_BUNDLE_H

#include "lockstep/base.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open bundle. Owned by the caller; programs made from it stay valid without it.
 * Thread-safety: immutable, may be used from any thread. */
typedef struct ls_bundle ls_bundle;

typedef struct ls_bundle_params {
    size_t struct_size;
    const char *path;   /* the folder */
    const char *digest; /* SHA-256 of its bundle.json in hexadecimal, as launchers know it; another
                           is refused. NULL = any */
    bool check_all;     /* look at every file, not only at what is used */
} ls_bundle_params;
#define LS_BUNDLE_PARAMS_INIT LS_INIT(ls_bundle_params)

/* Reads the description and the IR, and checks them. LS_E_NOT_FOUND: a file is missing;
 * LS_E_FORMAT: one is damaged; LS_E_VERSION: it is of another bit contract or another library. The
 * error names the file. */
LS_API ls_status ls_bundle_open(const ls_bundle_params *params, ls_bundle **bundle,
                                ls_error *error);
LS_API void ls_bundle_destroy(ls_bundle **bundle);
/* Its kernels as data; belongs to the bundle. */
LS_API const ls_module *ls_bundle_module(const ls_bundle *bundle);
/* From the code in the bundle; nothing is compiled. Reads the code of the device's family and
 * checks it. LS_E_UNSUPPORTED: there is none that fits; the error lists what there is. */
LS_API ls_status ls_bundle_program(const ls_bundle *bundle, ls_device *device, ls_program **program,
                                   ls_error *error);

typedef struct ls_bundle_write_params {
    size_t struct_size;
    const char *path; /* the folder; it is written whole or not at all. One that is there must be
                         empty or a bundle, which is replaced */
    const ls_module *module;
    const char *name;           /* what functions of the launcher begin with: a C identifier */
    const char *source;         /* what it was compiled from, for readers; may be NULL */
    const ls_define *defines;   /* SPEC constants that were set, for readers */
    const char *const *targets; /* of ls_code_params; or a family, "cpu", for those it has in
                                   ls_code_targets. None: of all families, and what this machine
                                   cannot make code for is left out */
    uint32_t define_count, target_count;
    bool unchecked;    /* as in ls_program_params */
    const char *lower; /* the same */
} ls_bundle_write_params;
#define LS_BUNDLE_WRITE_PARAMS_INIT LS_INIT(ls_bundle_write_params)

/* *notes (optional; ls_text_destroy) has a line for each target that was left out, NULL when none
 * was. Blocks: compiles. */
LS_API ls_status ls_bundle_write(const ls_bundle_write_params *params, char **notes,
                                 ls_error *error);

#ifdef __cplusplus
}
#endif

#endif
