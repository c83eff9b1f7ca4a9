/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pointer parameter points to, as the command line describes it:
 *
 *     @FILE.npy                    a NumPy file; its dtype must be the parameter's
 *     @FILE.bin                    raw little-endian elements, one dimension
 *     zeros:TYPE:SHAPE             SHAPE is 1000 or 16x16, at least one element
 *     iota:TYPE:SHAPE              0, 1, 2, ... in the element order of the file
 *     fill:TYPE:SHAPE:VALUE
 *     random:TYPE:SHAPE:SEED       integers: all values; floats: [0, 1); the same on every machine
 *
 * The shape only matters when the array is saved: a kernel sees elements in C order.
 */
#ifndef LS_CLI_ARRAY_H
#define LS_CLI_ARRAY_H

#include "base/os.h"
#include "cli/npy.h"
#include "lockstep/program.h"

typedef enum ls__cli_content {
    LS__CONTENT_ZEROS,
    LS__CONTENT_IOTA,
    LS__CONTENT_FILL,
    LS__CONTENT_RANDOM,
    LS__CONTENT_FILE
} ls__cli_content;

typedef struct ls__cli_array {
    ls_mem mem;    /* LS_MEM_NONE: structs */
    ls__npy shape; /* kind, item_bytes, descr, shape and count as a .npy header would say them */
    ls__cli_content content;
    uint8_t value[8]; /* FILL: one element */
    uint64_t seed;    /* RANDOM */
    uint8_t *file;    /* FILE: all its bytes (owned); the elements start at shape.data_offset */
} ls__cli_array;

/* Reads the description (and the file, of at most `limit_bytes`) and checks it against the
 * parameter. `array` must be finished in every case. */
ls_status ls__cli_array_parse(const char *text, const ls_param_info *param, uint64_t limit_bytes,
                              ls__cli_array *array, ls_error *error);
void ls__cli_array_finish(ls__cli_array *array);

uint64_t ls__cli_array_bytes(const ls__cli_array *array);

/* Writes the elements to `memory`, ls__cli_array_bytes(array) long. */
void ls__cli_array_fill(const ls__cli_array *array, void *memory);

/* Whether the array can be saved under this name: .npy, .pgm (two-dimensional u8) or .bin. */
ls_status ls__cli_array_can_save(const ls__cli_array *array, const char *path, ls_error *error);

/* Writes `memory`, which has the array's type and shape, in the format that the name asks for. */
ls_status ls__cli_array_save(const ls__cli_array *array, const char *path, const void *memory,
                             ls__os_writer *writer, ls_error *error);

/* "f32 16x16" */
void ls__cli_array_describe(const ls__cli_array *array, char *text, size_t capacity);

#endif
