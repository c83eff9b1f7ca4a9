/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to make a CUDA device other than it is, so that one driver stands in for others:
 *
 *     memory       no pools
 *     cut          grids and staging memory are tiny, so that everything is split
 *     graphs       prepared batches are always graphs
 *     launches     they are never
 *     beside       all uploads and downloads run beside kernels where they may; no graphs
 */
#ifndef LS_TESTS_CUDA_MODES_H
#define LS_TESTS_CUDA_MODES_H

#include <stdbool.h>

/* For devices opened from now on; "plain" undoes all. False: there is no such mode. */
bool cuda_mode(const char *mode);

#endif
