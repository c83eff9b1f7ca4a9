/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a relocatable ELF object (what src/emit/llvm makes) into memory and finds its symbols.
 * Needs no LLVM. The bytes may come from a cache on disk, so nothing in them is trusted: every
 * offset, size and index is checked, and code may only call itself, memcpy, memset and memmove.
 * (What the code then does is another matter: the cache's owner is trusted with that.)
 *
 * Memory is writable while it is filled in and never writable and executable at once.
 */
#ifndef LS_DEVICE_CPU_LOADER_H
#define LS_DEVICE_CPU_LOADER_H

#include "lockstep/base.h"

typedef struct ls__cpu_object ls__cpu_object;

/* `bytes` are not needed afterwards. LS_E_FORMAT for what is not such an object. */
ls_status ls__cpu_object_load(const void *bytes, size_t size, ls__cpu_object **object,
                              ls_error *error);
void ls__cpu_object_unload(ls__cpu_object **object); /* accepts NULL, writes NULL */

/* Address of a global symbol with at least `bytes` bytes behind it, NULL when there is none. */
void *ls__cpu_object_symbol(const ls__cpu_object *object, const char *name, size_t bytes);

#endif
