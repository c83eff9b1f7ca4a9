/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Kernel C front end: text in, IR and diagnostics out. docs/lang.md is the specification of the
 * language.
 *
 * lex.c (tokens and preprocessor) -> parse.c (syntax tree) -> check.c (names and types) -> lower.c
 * (IR). Bounded on any input: nesting, tokens, include depth, memory (a limit on the arena) and
 * errors per run (20).
 */
#ifndef LS_LANG_LANG_H
#define LS_LANG_LANG_H

#include "base/source_text.h"
#include "ir/ir.h"

typedef struct ls__lang_define { /* -DNAME=VALUE: overrides a SPEC constant of that name */
    const char *name;
    int64_t value;
} ls__lang_define;

/* Reads an included file: returns false when there is none. `text` is heap memory the front end
 * frees with ls__mem_free. `path` is already resolved against the including file's folder. */
typedef bool ls__lang_include(void *context, const char *path, char **text, size_t *length);

/* Kernel C sources that programs may call into: the math library, given by whoever knows
 * src/kernels. A call of exp() loads "exp.kc", which must define ls_exp; sources include each other
 * by name. */
typedef struct ls__lang_library {
    const ls__source_text *sources;
    uint32_t count;
} ls__lang_library;

typedef struct ls__lang_options {
    const char *path; /* for messages and for resolving #include "..."; NULL = "<kernel>" */
    const ls__lang_define *defines;
    uint32_t define_count;
    ls__lang_include *include; /* NULL: no includes */
    void *include_context;
    const ls__lang_library *library; /* NULL: math functions are an error */
} ls__lang_options;

/* One diagnostic. Text is owned by the list. `id` is stable: "LS0123". */
typedef struct ls__lang_diagnostic {
    const char *id;
    const char *path;
    uint32_t line, column,
        length; /* 1-based; length of the underlined span in bytes of that line, at least 1 */
    bool is_warning;
    const char *message;
    const char *source_line; /* without line end; may be cut around the span when very long */
    const char *hint;        /* what was expected or what to do; may be empty */
    uint32_t shown_column;   /* column of source_line's first byte: 1 unless the line was cut */
} ls__lang_diagnostic;

typedef struct ls__lang_diagnostics {
    ls__arena arena;
    LS__VEC(ls__lang_diagnostic) items;
} ls__lang_diagnostics;

void ls__lang_diagnostics_finish(ls__lang_diagnostics *diagnostics);
/* "path:line:col: error: LS0123: message", the line, a caret line, the hint; for terminals and
 * logs. */
void ls__lang_diagnostics_print(const ls__lang_diagnostics *diagnostics, ls__strbuf *out);

/* Compiles one text. LS_E_COMPILE with at least one error in `diagnostics`, or LS_OK with a
 * verified module (warnings possible). `diagnostics` must be zeroed by the caller and finished in
 * every case. */
ls_status ls__lang_compile(const char *text, size_t length, const ls__lang_options *options,
                           ls__ir_module **module, ls__lang_diagnostics *diagnostics,
                           ls_error *error);

#endif
