/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a module was compiled from, and what the cache on disk knows of it: so much that its kernels
 * can be described and its programs found there without being compiled. Only who asks for the IR
 * itself has it compiled again, from texts that are kept for that.
 *
 * What is kept is found by the text, its name, the constants, and the library's own sources; it
 * lists the files that were looked for and what was in them, and holds only while they are the
 * same.
 */
#ifndef LS_CORE_ORIGIN_H
#define LS_CORE_ORIGIN_H

#include "core/core.h"
#include "lang/lang.h"

typedef struct ls__lookup { /* of an included file */
    char *path, *text;      /* text NULL: there is none */
    size_t length;
    ls__digest digest;
} ls__lookup;

typedef struct ls__origin {
    ls_compile_params params; /* `include` is the caller's and only for the call */
    ls__lookup *lookups;      /* in their order */
    uint32_t count, capacity;
    bool failed; /* it cannot be kept: memory was short, or a file changed on the way */
    ls__digest base;
    ls__kept cache;
} ls__origin;

/* NULL when there is to be no cache, or no memory. Copies what must outlive the call. */
ls__origin *ls__origin_open(const ls_compile_params *params);
/* After the call: only the texts stay. */
void ls__origin_close(ls__origin *origin);
void ls__origin_free(ls__origin *origin); /* accepts NULL */

/* Reads a file as the caller says; the front end's memory. Noted in `origin`, which may be NULL. */
bool ls__origin_read(ls__origin *origin, const ls_compile_params *params, const char *path,
                     char **text, size_t *length);

/* The module from the cache, without IR: it holds `origin` then, and the list has its warnings. */
bool ls__origin_find(ls__origin *origin, ls_module **module, ls__lang_diagnostics *list);
/* Gives a module that was just compiled its key, and what is to be kept of it: once a program of it
 * is, so that what fails leaves nothing behind. */
void ls__origin_keep(ls__origin *origin, ls_module *module, const ls__lang_diagnostics *list);

/* For compiling it again: answers with the texts that were read. */
bool ls__origin_replay(void *origin, const char *path, char **text, size_t *length);

#endif
