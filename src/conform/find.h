/* SPDX-License-Identifier: Apache-2.0 */
/* From a row that differs to the smallest thing that shows it. */
#ifndef LS_CONFORM_FIND_H
#define LS_CONFORM_FIND_H

#include <jansson.h>

#include "conform/launch.h"

/* A program on the device under test and on the one it is compared with. */
typedef struct ls__pair {
    ls_device *device, *against;
    ls_program *program, *expected;
    ls_program_params params; /* of `program` */
} ls__pair;

/* An entry of the certificate's "failures" for a case whose outputs differ. NULL: out of memory. */
json_t *ls__find(const ls__pair *pair, const ls__group *group, const ls__case *c,
                 const ls__outputs *got, const ls__outputs *expected);

#endif
