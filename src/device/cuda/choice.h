/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a prepared batch runs as a graph or as any batch does, by the time that either took. */
#ifndef LS_DEVICE_CUDA_CHOICE_H
#define LS_DEVICE_CUDA_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ls__cuda_way {
    uint64_t least_ns; /* of its tries; meaningful once there are some */
    uint32_t tries;
} ls__cuda_way;

/* All zero: nothing is known. */
typedef struct ls__cuda_choice {
    ls__cuda_way graph, plain;
} ls__cuda_choice;

enum { LS__CUDA_TRIES = 4 };

/* Both take turns until each was tried so often; then the faster one stays, of equals the graph. */
bool ls__cuda_chooses_graph(const ls__cuda_choice *choice);
/* It took so long; no more than LS__CUDA_TRIES of a way count. */
void ls__cuda_way_took(ls__cuda_way *way, uint64_t ns);

#endif
