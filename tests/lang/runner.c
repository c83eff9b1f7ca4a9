/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the corpus of Kernel C cases. The comment lines at the top of a case:
 *
 *     // error: LS0123 @ 5:9      a diagnostic that must appear there (warning: likewise); all must
 * be listed
 *     // at: file.kc              the next error lines are about this included file
 *     // ir: TEXT                 a line of the printed IR, without positions, that must appear;
 * lines in this order
 *     // not-ir: TEXT             text that must not appear in the IR
 *     // define: NAME=VALUE       a SPEC override
 *     // library: none            compile without the math library
 *     // generate: N PREFIX|BODY|SUFFIX   appends a text to the source: BODY N times, between the
 * others
 *     // run: KERNEL ...          see run_case.c
 *
 * A case without an error line must compile. Files it includes are in the folder "include" beside
 * it. The run also fails when a diagnostic of src/lang/diagnostics.def has no case. With --docs
 * FILE it compiles each ```c block of a document instead; "```c LS0123" names the error a block
 * must give.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "kernels/math_sources.h"
#include "lang/lang.h"
#include "runner.h"

enum { MAX_LINES = 64, MAX_SEEN = 512 };

typedef struct expectations {
    char *diagnostics[MAX_LINES]; /* "error: LS0123 @ 5:9" or with " @ file:5:9" */
    unsigned diagnostic_count;
    char *ir[MAX_LINES], *not_ir[MAX_LINES], *runs[MAX_LINES];
    unsigned ir_count, not_ir_count, run_count;
    ls__lang_define defines[8];
    unsigned define_count;
    bool no_library;
    char *generate;
} expectations;

static char *seen[MAX_SEEN]; /* ids that cases expect */
static unsigned seen_count;

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = must(malloc(length + 1));
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

/* --- expectations --------------------------------------------------------------------- */
static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void read_expectation(expectations *e, const char *line, char **file)
{
    if (starts_with(line, "error: ") || starts_with(line, "warning: ")) {
        char text[512], *at = strstr(line, " @ ");
        if (*file && at)
            snprintf(text, sizeof text, "%.*s @ %s:%s", (int)(at - line), line, *file, at + 3);
        else
            snprintf(text, sizeof text, "%s", line);
        e->diagnostics[e->diagnostic_count++] = copy_text(text, strlen(text));
        const char *id = strstr(line, "LS");
        if (id && seen_count < MAX_SEEN)
            seen[seen_count++] = copy_text(id, 6);
    } else if (starts_with(line, "at: ")) {
        free(*file);
        *file = copy_text(line + 4, strlen(line + 4));
    } else if (starts_with(line, "ir: ")) {
        e->ir[e->ir_count++] = copy_text(line + 4, strlen(line + 4));
    } else if (starts_with(line, "not-ir: ")) {
        e->not_ir[e->not_ir_count++] = copy_text(line + 8, strlen(line + 8));
    } else if (starts_with(line, "run: ")) {
        e->runs[e->run_count++] = copy_text(line + 5, strlen(line + 5));
    } else if (starts_with(line, "define: ")) {
        const char *equals = strchr(line, '=');
        ls__lang_define *define = &e->defines[e->define_count++];
        define->name = copy_text(line + 8, (size_t)(equals - line) - 8);
        define->value = strtoll(equals + 1, NULL, 0);
    } else if (starts_with(line, "library: none")) {
        e->no_library = true;
    } else if (starts_with(line, "generate: ")) {
        e->generate = copy_text(line + 10, strlen(line + 10));
    }
}

static void read_expectations(expectations *e, const char *text)
{
    char *file = NULL;
    while (starts_with(text, "//") && e->diagnostic_count < MAX_LINES && e->ir_count < MAX_LINES) {
        const char *start = text + 2, *end = strchr(text, '\n');
        if (*start == ' ')
            start++;
        size_t length = end ? (size_t)(end - start) : strlen(start);
        char *line = copy_text(start, length);
        read_expectation(e, line, &file);
        free(line);
        if (!end)
            break;
        text = end + 1;
    }
    free(file);
}

static void free_lines(char **lines, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        free(lines[i]);
}

static void free_expectations(expectations *e)
{
    free_lines(e->diagnostics, e->diagnostic_count);
    free_lines(e->ir, e->ir_count);
    free_lines(e->not_ir, e->not_ir_count);
    free_lines(e->runs, e->run_count);
    for (unsigned i = 0; i < e->define_count; i++)
        free((char *)(uintptr_t)e->defines[i].name);
    free(e->generate);
}

/* The source with the text of "generate:" appended, \n in it being a line end. */
static char *generated(const char *text, const char *generate)
{
    ls__strbuf out = {0};
    ls__strbuf_append(&out, text, strlen(text));
    char *rest, *parts[3];
    unsigned long count = strtoul(generate, &rest, 10);
    parts[0] = copy_text(rest + 1, strlen(rest + 1));
    parts[1] = strchr(parts[0], '|');
    *parts[1]++ = 0;
    parts[2] = strchr(parts[1], '|');
    *parts[2]++ = 0;
    for (int part = 0; part < 3; part++) {
        for (unsigned long i = 0; i < (part == 1 ? count : 1); i++) {
            for (const char *c = parts[part]; *c; c++) {
                if (c[0] == '\\' && c[1] == 'n') {
                    ls__strbuf_append(&out, "\n", 1);
                    c++;
                } else if (c[0] == '$') { /* the number of the copy, $ + 1 as $$ */
                    ls__strbuf_printf(&out, "%lu", c[1] == '$' ? i + 1 : i);
                    c += c[1] == '$';
                } else {
                    ls__strbuf_append(&out, c, 1);
                }
            }
        }
    }
    free(parts[0]);
    return must(out.text);
}

/* --- comparing ------------------------------------------------------------------------ */
static bool check_diagnostics(const char *path, const expectations *e,
                              const ls__lang_diagnostics *list)
{
    bool good = list->items.count == e->diagnostic_count;
    for (unsigned i = 0; i < list->items.count && good; i++) {
        const ls__lang_diagnostic *d = &list->items.items[i];
        char text[512];
        const char *name = strrchr(d->path, '/') ? strrchr(d->path, '/') + 1 : d->path;
        const char *kind = d->is_warning ? "warning" : "error";
        bool is_other = strcmp(d->path, path) != 0;
        if (d->line == 0)
            snprintf(text, sizeof text, "%s: %s", kind, d->id);
        else if (is_other)
            snprintf(text, sizeof text, "%s: %s @ %s:%u:%u", kind, d->id, name, d->line, d->column);
        else
            snprintf(text, sizeof text, "%s: %s @ %u:%u", kind, d->id, d->line, d->column);
        good = strcmp(text, e->diagnostics[i]) == 0;
    }
    if (good)
        return true;
    printf("%s: expected\n", path);
    for (unsigned i = 0; i < e->diagnostic_count; i++)
        printf("    %s\n", e->diagnostics[i]);
    ls__strbuf out = {0};
    ls__lang_diagnostics_print(list, &out);
    printf("  but got %u:\n%s", list->items.count, out.text ? out.text : "    nothing\n");
    ls__strbuf_finish(&out);
    return false;
}

/* Drops " !line:col" at the ends of lines. */
static void strip_positions(char *text)
{
    char *out = text;
    for (char *in = text; *in; in++) {
        if (in[0] == ' ' && in[1] == '!' && in[2] >= '0' && in[2] <= '9') {
            in += 1 + strspn(in + 1, "!0123456789:");
            in--;
        } else {
            *out++ = *in;
        }
    }
    *out = 0;
}

static bool check_ir(const char *path, const expectations *e, const ls__ir_module *module)
{
    ls__strbuf out = {0};
    bool good = true;
    ls__ir_print(module, &out);
    strip_positions(out.text);
    const char *at = out.text;
    for (unsigned i = 0; i < e->ir_count && good; i++) {
        const char *found = strstr(at, e->ir[i]);
        if (!found)
            printf("%s: the IR lacks (in order) '%s'\n", path, e->ir[i]);
        good = found != NULL;
        at = found ? found + strlen(e->ir[i]) : at;
    }
    for (unsigned i = 0; i < e->not_ir_count; i++) {
        if (strstr(out.text, e->not_ir[i])) {
            printf("%s: the IR must not have '%s'\n", path, e->not_ir[i]);
            good = false;
        }
    }
    if (!good)
        printf("%s", out.text);
    ls__strbuf_finish(&out);
    return good;
}

static bool read_include(void *context, const char *path, char **text, size_t *length)
{
    (void)context;
    void *bytes;
    if (ls__os_read_file(path, 1 << 20, &bytes, length, NULL) != LS_OK)
        return false;
    *text = bytes;
    return true;
}

static bool check_text(const char *path, const char *text, size_t length, const expectations *e)
{
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {
        .path = path,
        .defines = e->defines,
        .define_count = e->define_count,
        .include = read_include,
        .library = e->no_library ? NULL : &library,
    };
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module;
    ls_error error = {0};
    ls_status status = ls__lang_compile(text, length, &options, &module, &diagnostics, &error);
    bool good = check_diagnostics(path, e, &diagnostics);
    if (status != LS_OK && status != LS_E_COMPILE) {
        printf("%s: %s\n", path, error.message);
        good = false;
    }
    if (status == LS_OK && good)
        good = check_ir(path, e, module);
    for (unsigned i = 0; i < e->run_count && good && status == LS_OK; i++)
        good = run_case(path, module, e->runs[i]);
    ls__ir_module_destroy(&module);
    ls__lang_diagnostics_finish(&diagnostics);
    return good;
}

static bool check_file(const char *path)
{
    void *text;
    size_t length;
    ls_error error = {0};
    expectations e = {0};
    if (ls__os_read_file(path, 1 << 20, &text, &length, &error) != LS_OK) {
        printf("%s\n", error.message);
        return false;
    }
    read_expectations(&e, text);
    bool good;
    if (e.generate) {
        char *all = generated(text, e.generate);
        good = check_text(path, all, strlen(all), &e);
        ls__mem_free(all);
    } else {
        good = check_text(path, text, length, &e);
    }
    free_expectations(&e);
    ls__mem_free(text);
    return good;
}

/* --- the corpus ----------------------------------------------------------------------- */
static bool all_ids_seen(void)
{
    /* LS0512 is a fault of ours when it happens: the verifier of the IR found what the front end
     * should have. */
    static const unsigned ids[] = {
#define DIAG(number, name, severity, text, hint) number,
#include "lang/diagnostics.def"
#undef DIAG
    };
    bool good = true;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        char id[16];
        bool found = ids[i] == 512;
        snprintf(id, sizeof id, "LS%04u", ids[i]);
        for (unsigned k = 0; k < seen_count; k++)
            found |= strcmp(seen[k], id) == 0;
        if (!found)
            printf("no case expects %s\n", id);
        good &= found;
    }
    return good;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int run_corpus(const char *folder)
{
    char *names[1024], path[4096];
    unsigned count = 0, failed = 0;
    DIR *listing = opendir(folder);
    struct dirent *entry;
    if (!listing) {
        perror(folder);
        return 1;
    }
    while ((entry = readdir(listing)) && count < 1024) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".kc") == 0)
            names[count++] = copy_text(entry->d_name, strlen(entry->d_name));
    }
    closedir(listing);
    qsort(names, count, sizeof names[0], compare_names);
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        failed += !check_file(path);
        free(names[i]);
    }
    bool complete = all_ids_seen();
    for (unsigned i = 0; i < seen_count; i++)
        free(seen[i]);
    printf("%u cases, %u failed\n", count, failed);
    return failed || count == 0 || !complete;
}

/* --- documents ------------------------------------------------------------------------ */
/* One block; `info` is what follows the c on the opening line, perhaps an error id. */
static bool check_block(const char *path, unsigned line, const char *info, const char *text,
                        size_t length)
{
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {.path = path, .library = &library};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module;
    ls_error error = {0};
    ls_status status = ls__lang_compile(text, length, &options, &module, &diagnostics, &error);
    const char *id = diagnostics.items.count ? diagnostics.items.items[0].id : "";
    bool good =
        info[0] ? strncmp(info, id, 6) == 0 : status == LS_OK && diagnostics.items.count == 0;
    if (!good) {
        ls__strbuf out = {0};
        ls__lang_diagnostics_print(&diagnostics, &out);
        printf("%s:%u: this block %s\n%s", path, line,
               info[0] ? "should give an error" : "should compile", out.text ? out.text : "");
        ls__strbuf_finish(&out);
    }
    ls__ir_module_destroy(&module);
    ls__lang_diagnostics_finish(&diagnostics);
    return good;
}

/* The start of a diagnostic's row in the document's table: arguments are "...", and | is written
 * \\|. */
static void diagnostic_row(unsigned id, const char *text, char *row, size_t size)
{
    size_t used = (size_t)snprintf(row, size, "| LS%04u | ", id);
    for (const char *c = text; *c && used + 8 < size; c++) {
        if (*c == '%') {
            c += strcspn(c, "sdu");
            used += (size_t)snprintf(row + used, size - used, "...");
        } else {
            if (*c == '|')
                row[used++] = '\\';
            row[used++] = *c;
        }
    }
    snprintf(row + used, size - used, " |");
}

/* Every built-in function and every diagnostic stands in the document. */
static bool check_lists(const char *path, const char *text)
{
    static const char *const words[] = {
#define BUILTIN(name, id, args, kind) "`" name "(",
#include "lang/builtins.def"
#undef BUILTIN
    };
    static const struct {
        unsigned id;
        const char *text;
    } diagnostics[] = {
#define DIAG(number, name, severity, text, hint) {number, text},
#include "lang/diagnostics.def"
#undef DIAG
    };
    bool good = true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!strstr(text, words[i])) {
            printf("%s: does not describe %s)`\n", path, words[i]);
            good = false;
        }
    }
    for (size_t i = 0; i < sizeof diagnostics / sizeof diagnostics[0]; i++) {
        char row[512];
        diagnostic_row(diagnostics[i].id, diagnostics[i].text, row, sizeof row);
        if (!strstr(text, row)) {
            printf("%s: lacks the row\n%s\n", path, row);
            good = false;
        }
    }
    return good;
}

static int check_document(const char *path)
{
    void *bytes;
    size_t length;
    ls_error error = {0};
    unsigned line = 1, blocks = 0, failed = 0;
    if (ls__os_read_file(path, 1 << 22, &bytes, &length, &error) != LS_OK) {
        printf("%s\n", error.message);
        return 1;
    }
    char *text = bytes;
    failed += !check_lists(path, text);
    for (char *at = text; at && *at; line++) {
        char *end = strchr(at, '\n');
        if (starts_with(at, "```c\n") || starts_with(at, "```c ")) {
            char info[16] = "";
            if (at[4] == ' ')
                snprintf(info, sizeof info, "%.6s", at + 5);
            char *close = strstr(end, "\n```\n");
            failed += !check_block(path, line + 1, info, end + 1, (size_t)(close + 1 - end) - 1);
            blocks++;
            for (char *c = end; c < close; c++)
                line += *c == '\n';
            end = close;
        }
        at = end ? end + 1 : NULL;
    }
    printf("%u blocks, %u failures\n", blocks, failed);
    ls__mem_free(bytes);
    return failed || blocks == 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--docs") == 0)
        return check_document(argv[2]);
    if (argc == 2)
        return run_corpus(argv[1]);
    fprintf(stderr, "usage: runner FOLDER | runner --docs FILE\n");
    return 2;
}
