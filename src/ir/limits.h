/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the IR can hold at most. Generous on purpose: they bound what a reader and a verifier do
 * with untrusted input. What a device can run is less and is checked against its capabilities.
 */
#ifndef LS_IR_LIMITS_H
#define LS_IR_LIMITS_H

enum {
    LS__IR_MAX_LANES = 1024,            /* of a workgroup */
    LS__IR_MAX_SHARED_BYTES = 64 << 10, /* of a kernel */
    LS__IR_MAX_LOCAL_BYTES = 64 << 10,  /* of a lane, in one function */
    LS__IR_MAX_SCALAR_BYTES = 4096,
    LS__IR_MAX_BUFFERS = 64, /* pointer parameters */
    LS__IR_MAX_ELEMENT_BYTES = 1 << 20,
    LS__IR_MAX_TABLE_BYTES = 64 << 20, /* of a module, all tables */
    LS__IR_MAX_VALUES = 1 << 22,       /* of a function, holes counted */
    LS__IR_MAX_FUNCTIONS = 1 << 20,
    LS__IR_MAX_CHOICES = 15 /* of a SPEC constant, beside its default */
};

#endif
