/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the speed benchmark share. A problem is one row of the table: a kernel of
 * examples/kernels with data of a chosen size. It is solved by contenders: ours, the same loop in C
 * (c/), and the same kernel on PoCL. Each brings the same three functions.
 */
#ifndef SPEED_H
#define SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lockstep/launch.h>

#include "loop.h"

enum { MAX_BUFFERS = 6, MAX_SCALARS = 4 };

typedef struct data {
    ls_mem element;
    size_t bytes;
    void *initial; /* its contents before each run */
    bool restore;  /* the kernel changes what it reads: set to the initial contents before each run,
                      outside the measured time */
    bool compare;  /* a result: all contenders must leave the same bytes */
} data;

typedef struct problem {
    const char *name;
    const char *kernel; /* the name of the kernel, and of its files without the ending */
    uint32_t size;
    uint32_t global[3]; /* lanes */
    uint32_t rounds;
    loop_word scalars[MAX_SCALARS];
    uint32_t scalar_count;
    data buffers[MAX_BUFFERS]; /* in the order of the kernel's parameters */
    uint32_t buffer_count;
    double work; /* what `unit` counts, in a run; 0 = nothing worth showing */
    const char *unit;
    bool bandwidth; /* compare with reading the first buffer */
} problem;

/* A problem that is known, and how to make it. */
typedef struct problem_kind {
    const char *name, *kernel;
    uint32_t size, least, most; /* what it is when the caller names none, and what is possible */
    const char *size_means;
    void (*make)(problem *p);
} problem_kind;

extern const problem_kind problem_kinds[];
extern const unsigned problem_kind_count;
void problem_make(problem *p, const problem_kind *kind, uint32_t size);
void problem_free(problem *p);

/* Host memory, aligned to a cache line; ends the program when there is none. */
void *allocate(size_t bytes);
double seconds_now(void);
double median(double *values, unsigned count); /* sorts them */
char *read_text(const char *path);             /* malloc; NULL when it cannot be read */
/* "<folder>/<name><ending>", malloc */
char *path_of(const char *folder, const char *name, const char *ending);

/* Ends the program with the error when `status` is not LS_OK. */
void need(ls_status status, const ls_error *error, const char *what);

/* --- ours (ours.c) ---------------------------------------------------------------------------- */
typedef struct ours ours; /* one problem, ready to run on a device */

ls_device *open_device(const char *name, uint32_t threads);
ls_module *compile_text(const char *text, const char *path);
/* `kernels`: the folder of the .kc files. */
ours *ours_create(ls_device *device, const problem *p, const char *kernels, bool unchecked);
double ours_run(ours *subject);                               /* seconds */
void ours_read(ours *subject, uint32_t buffer, void *bytes); /* after a run */
void ours_destroy(ours *subject);

/* --- loops in C (native.c) -------------------------------------------------------------------- */
typedef struct native native;

bool native_load(const char *library, uint32_t threads);
native *native_create(const problem *p);
double native_run(native *subject);
const void *native_result(const native *subject, uint32_t buffer);
uint64_t native_read(const uint64_t *x, uint64_t n); /* sums n words: how fast memory is read */
void native_destroy(native *subject);

/* --- OpenCL (opencl.c) ------------------------------------------------------------------------ */
typedef struct opencl opencl;

/* False, with the reason in `about`, when there is no OpenCL for the CPU; else its name. */
bool opencl_load(uint32_t threads, char *about, size_t about_bytes);
/* `sources`: the folder of the .cl files. */
opencl *opencl_create(const problem *p, const char *kernels, const char *sources);
double opencl_run(opencl *subject);
void opencl_read(opencl *subject, uint32_t buffer, void *bytes);
void opencl_destroy(opencl *subject);

/* --- what is not a ratio (costs.c) ------------------------------------------------------------ */
void print_compile_times(const char *device, uint32_t threads, const char *kernels);
void print_nan_cost(const char *device, uint32_t threads, unsigned runs);
void print_dispatch_costs(const char *device, unsigned runs);

#endif
