/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of memories from files (ls_image_params of lockstep/cosim.h): the words for one memory.
 * The bytes for peripherals are the public call ls_image_load, which is in image.c too.
 */
#ifndef LS_NETLIST_IMAGE_H
#define LS_NETLIST_IMAGE_H

#include "lockstep/cosim.h"

typedef struct ls__image_memory {
    const char *name; /* for messages */
    uint32_t width, depth, start;
} ls__image_memory;

/* Takes words [first, first + count), counted from 0, of (width + 63) / 64 words of 64 bits each.
 * May be called several times for one word: the last counts. */
typedef ls_status (*ls__image_put)(void *context, uint32_t first, uint32_t count,
                                   const uint64_t *words, ls_error *error);

ls_status ls__image_words(const ls_image_params *params, const ls__image_memory *memory,
                          ls__image_put put, void *context, ls_error *error);

/* The same of a file that is in memory; params->path is for messages. */
ls_status ls__image_words_of(const void *file, size_t size, const ls_image_params *params,
                             const ls__image_memory *memory, ls__image_put put, void *context,
                             ls_error *error);
ls_status ls__image_bytes_of(const void *file, size_t size, const ls_image_params *params,
                             void **bytes, uint64_t *count, ls_error *error);

#endif
