/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the kernels of language models: the same program on every device there is, and data.
 */
#ifndef LS_TESTS_LLM_KERNELS_H
#define LS_TESTS_LLM_KERNELS_H

#include "base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ok.h"
#include "base/rng.h"
#include "base/str.h"
#include "lockstep/launch.h"

enum { DEVICES = 3, MOST_BUFFERS = 12 };

/* No device: it is not there. */
typedef struct machine {
    ls_device *device;
    ls_program *program;
} machine;

extern const char *const device_names[DEVICES];
extern machine machines[DEVICES]; /* the first is the reference, with its sanitizer */

/* Builds the program on all devices; frees the text. */
void kernels_open(ls__strbuf *text, bool without_vulkan);
int kernels_close(void **state); /* -1: the sanitizer has found something, too */

typedef struct argument {
    void *bytes;
    size_t size;
    int again; /* 1 + the argument whose buffer this is, too */
    bool out;  /* read back */
} argument;

/* Runs a kernel on device d, in buffers of its own. */
void run(int d, const char *name, const uint32_t global[3], const void *scalars,
         uint32_t scalar_bytes, argument *arguments, uint32_t count);

void *allocate(size_t size);
float random_float(ls__rng *rng); /* between -4 and 4, now and then 0 or small */
float *random_floats(ls__rng *rng, size_t count);

#endif
