/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of atom and red. */
#ifndef EMULATED_CUDA_ATOMIC_H
#define EMULATED_CUDA_ATOMIC_H

#include <stdbool.h>

enum {
    ATOMIC_ADD,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_COUNT
};
#define ATOMIC_NAMES "add", "and", "or", "xor", "exch", "cas", "min", "max", "inc", "dec"

bool atomic_exists(unsigned operation, unsigned type);

#endif
