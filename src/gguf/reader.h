/* SPDX-License-Identifier: Apache-2.0 */
/* An open GGUF file inside: what read.c makes of one file's head, gguf.c of all parts. */
#ifndef LS_GGUF_READER_H
#define LS_GGUF_READER_H

#include "base/arena.h"
#include "base/os.h"
#include "lockstep/gguf.h"

typedef LS__VEC(ls_gguf_value) ls__gguf_values;
typedef LS__VEC(ls_gguf_tensor) ls__gguf_tensors;

/* Names to indices, open addressing; index + 1 in a slot, 0 = free. */
typedef struct ls__gguf_names {
    uint32_t *slots;
    uint32_t slot_count; /* power of two, over twice the names; 0 while there are none */
} ls__gguf_names;

struct ls_gguf {
    ls__arena arena;
    ls__os_mapping *maps; /* [file_count]; none for bytes in memory */
    uint32_t file_count;
    uint32_t version, alignment; /* of the first file */
    uint64_t file_bytes;
    ls__gguf_values values;
    ls__gguf_tensors tensors; /* of all files, one after another */
    ls__gguf_names value_names, tensor_names;
};

/* Reads the head of one file: appends its tensors, which point into `bytes`; `values` gets its
 * metadata. `path` is for messages. Sets version and alignment of `head`. */
typedef struct ls__gguf_head {
    const uint8_t *bytes;
    uint64_t size;
    const char *path;
    uint32_t file; /* its number */
    uint32_t version, alignment;
    ls__gguf_values values;
} ls__gguf_head;
ls_status ls__gguf_read_head(ls__arena *arena, ls__gguf_head *head, ls__gguf_tensors *tensors,
                             ls_error *error);

/* A type by its number in files; false when it is not read, with its name if it has one. */
bool ls__gguf_type_known(uint32_t number, const char **name);
uint32_t ls__gguf_kind_bytes(ls_gguf_kind kind); /* 0 = variable */

#endif
