/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/tune.h - which values of a kernel's SPEC constants are fastest on a device.
 *
 * A SPEC constant of Kernel C may name further values beside its default:
 *
 *     SPEC(u32, GROUP, 64, 32, 128, 256);
 *     kernel workgroup(GROUP) void scale(u32 n, f32 a, f32 *x) { ... }
 *
 * ls_tune builds the kernel with each combination of them, measures one launch, and keeps what it
 * chose in the device's cache folder; ls_tuned_specs finds it there. Its values are given to
 * ls_module_compile as defines.
 *
 * Tuning changes no result: a combination that writes other bits than the defaults do is an error.
 * docs/tuning.md says more.
 */
#ifndef LOCKSTEP_TUNE_H
#define LOCKSTEP_TUNE_H

#include "lockstep/base.h"
#include "lockstep/device.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was measured. Owned by the caller. Thread-safety: immutable. */
typedef struct ls_tuning ls_tuning;

enum {
    LS_TUNE_MAX_CANDIDATES = 64, /* combinations that are tried at most */
    LS_TUNE_DEFAULT_ROUNDS = 10,
    LS_TUNE_NOISE_PERCENT = 3 /* defaults that are so close to the best stay */
};

/* What a buffer of the launch holds before it. */
typedef struct ls_tune_buffer {
    const void *bytes;
    uint64_t size; /* > 0 */
} ls_tune_buffer;

typedef struct ls_tune_params {
    size_t struct_size;
    /* What is compiled. Constants in its `defines` have these values and are not tuned. */
    const ls_compile_params *source;
    const char *kernel;            /* NULL = the only one there is */
    uint32_t global_size[3];       /* lanes, as in ls_dispatch */
    const ls_tune_buffer *buffers; /* one a pointer parameter, in order; read only */
    uint32_t buffer_count;
    const void *scalars; /* the scalar block, as in ls_dispatch */
    uint32_t scalar_bytes;
    bool unchecked;         /* as in ls_program_params; results of its own are kept */
    uint32_t rounds;        /* launches measured of each candidate; 0 = 10 */
    uint64_t time_limit_ns; /* of one launch; 0 = none */
    /* In place of global_size, for kernels that have a workgroup a row, say: so many workgroups,
     * whatever size a candidate gives them. 0 in y or z means 1; all zero: global_size counts. */
    uint32_t workgroup_count[3];
    /* Called in front of each step, from 1 to `all`, in the caller's thread: a candidate is built,
     * is run to compare what it writes, or is measured once. NULL = not called. */
    void (*progress)(void *context, uint64_t step, uint64_t all);
    void *progress_context;
} ls_tune_params;
#define LS_TUNE_PARAMS_INIT LS_INIT(ls_tune_params)

/* Tries every combination of the values of the constants that name several. Each runs once on the
 * given contents, and all it writes must be what the defaults write, bit for bit; else LS_E_FAILED
 * names the combination, the buffer and its first element that differs. Then all are measured in
 * turn, round after round, each on fresh contents; the least time of a candidate counts.
 *
 * A candidate that does not compile, that the device cannot run (a limit), or whose parameters have
 * another layout is left out, with the reason in ls_tune_candidate; the defaults must do.
 * LS_E_INVALID_ARGUMENT when there is nothing to tune, LS_E_LIMIT for too many combinations,
 * LS_E_UNSUPPORTED for a kernel that is `unordered`: nothing shows that candidates of it agree.
 *
 * The choice is kept when the device has a cache folder (ls_device_params.cache_path), and replaces
 * what was kept before for the kernel. Blocks: compiles and runs all candidates. */
LS_API ls_status ls_tune(ls_device *device, const ls_tune_params *params, ls_tuning **tuning,
                         ls_error *error);
LS_API void ls_tuning_destroy(ls_tuning **tuning);

typedef struct ls_tuning_info {
    size_t struct_size;
    uint32_t candidate_count; /* the first are the defaults */
    uint32_t value_count;     /* constants that were tuned */
    uint32_t chosen;          /* index of a candidate */
    uint32_t rounds;
    bool device_time;             /* measured by the device; else by the host */
    const char *time_unavailable; /* then why */
    const char *not_kept;         /* why the choice was not kept; NULL = it was */
} ls_tuning_info;
LS_API void ls_tuning_describe(const ls_tuning *tuning, ls_tuning_info *info);

typedef struct ls_tune_candidate {
    size_t struct_size;
    const ls_define *values; /* [value_count], in order of declaration */
    uint64_t time_ns;        /* the least of all rounds; 0 when it was left out */
    const char *left_out;    /* why it was; NULL = it was measured */
} ls_tune_candidate;
/* index < candidate_count */
LS_API void ls_tuning_candidate(const ls_tuning *tuning, uint32_t index,
                                ls_tune_candidate *candidate);

typedef struct ls_tuned_params {
    size_t struct_size;
    const ls_module *module; /* compiled with `defines` alone */
    const char *kernel;      /* NULL = the only one there is */
    const ls_define *defines;
    uint32_t define_count;
    bool unchecked; /* what the program will be */
} ls_tuned_params;
#define LS_TUNED_PARAMS_INIT LS_INIT(ls_tuned_params)

/* The values that are kept for a kernel on this device: as ls_tune chose them, of the same kernel
 * (its IR and the values a tuner may try), with the same constants fixed by `defines`, on a device
 * of the same name and description, by the same version of the library. Writes at most `capacity`
 * and their number to *count: 0 when nothing is kept. Names belong to the module. Blocks: may
 * compile, reads a file. */
LS_API ls_status ls_tuned_specs(ls_device *device, const ls_tuned_params *params, ls_define *values,
                                uint32_t capacity, uint32_t *count, ls_error *error);

#ifdef __cplusplus
}
#endif

#endif
