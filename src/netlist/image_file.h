/* SPDX-License-Identifier: Apache-2.0 */
/* The two readers behind image.c. Both answer with calls of a function, in the order of the file.
 */
#ifndef LS_NETLIST_IMAGE_FILE_H
#define LS_NETLIST_IMAGE_FILE_H

#include "lockstep/base.h"

/* Bytes that lie at an address. */
typedef ls_status (*ls__segment_visitor)(void *context, uint64_t address, const uint8_t *bytes,
                                         uint64_t count, ls_error *error);
ls_status ls__elf_visit(const void *file, size_t size, const char *path, ls__segment_visitor visit,
                        void *context, ls_error *error);

/* One word: its digits, highest first, without underscores; a fault of its value is told with the
 * line. */
typedef ls_status (*ls__word_visitor)(void *context, uint64_t address, const char *digits,
                                      size_t count, uint64_t line, ls_error *error);
/* `first`: the address of the first word. digit_bits: 4 or 1. */
ls_status ls__readmem_visit(const char *text, size_t size, const char *path, unsigned digit_bits,
                            uint64_t first, ls__word_visitor visit, void *context, ls_error *error);

#endif
