/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native check: one kernel text compiled twice, by our front end (run by the interpreter) and
 * by the system's C compiler with lockstep/kernel.h in front (run lane by lane), and compared bit
 * for bit over seeded inputs. The two share nothing but the text. The interpreter also runs the
 * program after the IR passes, optimised and with everything lowered; that must not change a bit.
 */
#ifndef LS_TESTS_NATIVE_CHECK_H
#define LS_TESTS_NATIVE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum ls__native_verdict {
    LS__NATIVE_EQUAL,
    LS__NATIVE_DIFFERS,       /* some output byte of an unflagged lane differs */
    LS__NATIVE_REJECTED,      /* our front end refuses what the C compiler accepts */
    LS__NATIVE_CC_FAILED,     /* the C compiler refuses it (or cannot be run) */
    LS__NATIVE_CRASHED,       /* the native run crashed or did not end */
    LS__NATIVE_INTERP_FAILED, /* the interpreter gave an error */
    LS__NATIVE_PASSES_FAILED,
    LS__NATIVE_PASSES_DIFFER, /* some byte differs when the IR passes have run */
    LS__NATIVE_NOT_APPLICABLE /* barriers or subgroup operations: cannot run lane by lane */
} ls__native_verdict;

const char *ls__native_verdict_name(ls__native_verdict verdict);

typedef struct ls__native_program {
    const char *path; /* of the text on disk; for #include and messages */
    const char *text;
    size_t length;
    /* results */
    ls__native_verdict verdict;
    char message[512];
    uint64_t lanes, flagged; /* lanes run by the interpreter; lanes it flagged as undefined in C */
} ls__native_program;

typedef struct ls__native_options {
    const char *compiler;    /* "cc" */
    const char *include_dir; /* where lockstep/kernel.h is */
    const char *work_dir;    /* scratch folder that exists */
    uint64_t seed;
    uint32_t rounds;         /* input sets a kernel */
    uint32_t lanes, elements; /* of a launch; of each buffer */
} ls__native_options;

/* Checks all kernels of all programs; one run of the C compiler for all of them. */
void ls__native_check(ls__native_program *programs, uint32_t count,
                      const ls__native_options *options);

/* Makes a failing program smaller while its verdict stays the same: removes lines and blocks, then
 * replaces parenthesised expressions by constants. The result is appended to `out`. */
void ls__native_reduce(const ls__native_program *program, const ls__native_options *options,
                       ls__strbuf *out);

#endif
