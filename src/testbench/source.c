/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks through the text of sources, comments left out. A guess at what they mean: it decides what
 * is noted, and which files are not to be overwritten, never a value.
 */
#include "testbench/source.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"

enum { MAX_DEPTH = 16, MAX_FILES = 1024 };
#define MAX_SOURCE_BYTES (UINT64_C(1) << 28)

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* Behind a comment that begins here, else `text`. */
static const char *skip_comment(const char *text)
{
    if (text[0] != '/' || (text[1] != '/' && text[1] != '*'))
        return text;
    const char *end = strstr(text + 2, text[1] == '/' ? "\n" : "*/");
    return end ? end + (text[1] == '/' ? 1 : 2) : text + strlen(text);
}

char *ls__source_read(const char *path)
{
    struct stat info;
    void *text = NULL;
    size_t size;
    /* What is no file can be read once, and not here. */
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        ls__os_read_file(path, MAX_SOURCE_BYTES, &text, &size, NULL);
    return text;
}

/* --- assignments ------------------------------------------------------------------------------ */

/* Whether an operator that assigns stands here. */
static bool assigns(const char *text)
{
    text = skip_blanks(text);
    if ((text[0] == '+' || text[0] == '-') && text[1] == text[0])
        return true;
    if ((text[0] == '<' || text[0] == '>') && text[1] == text[0])
        return text[2] == '=';
    if (*text && strchr("+-*/%&|^", *text))
        return text[1] == '=';
    return text[0] == '=' && text[1] != '=';
}

bool ls__source_assigns(const char *text, const char *member)
{
    size_t length = strlen(member);
    for (const char *at = text; *at;) {
        const char *next = skip_comment(at);
        if (next != at) {
            at = next;
            continue;
        }
        bool is_member =
            at > text && (at[-1] == '.' || (at[-1] == '>' && at - text > 1 && at[-2] == '-'));
        if (is_member && strncmp(at, member, length) == 0 && !is_word(at[length]) &&
            assigns(at + length))
            return true;
        at++;
    }
    return false;
}

/* --- files ------------------------------------------------------------------------------------ */

typedef struct visitor {
    void (*visit)(void *context, const char *path);
    void *context;
    uint32_t count;
} visitor;

static void visit_path(visitor *v, const char *path, int depth);

/* `folder`, of which the first bytes count, and the name behind it. */
static void visit_named(visitor *v, ls__str folder, ls__str name, int depth)
{
    ls__strbuf path = {0};
    ls__strbuf_append(&path, folder.text, folder.length);
    ls__strbuf_append(&path, name.text, name.length);
    ls__strbuf_append(&path, "", 1);
    if (!path.failed && access(path.text, R_OK) == 0)
        visit_path(v, path.text, depth);
    ls__strbuf_finish(&path);
}

/* What a word says that names a file, in quotes behind it. */
typedef struct directive {
    const char *word;
    bool is_source;       /* the file may name others */
    bool is_working_path; /* the name also counts from the working folder */
} directive;

static const directive directives[] = {{"#include", true, false},
                                       {"`include", true, true},
                                       {"$readmemh", false, true},
                                       {"$readmemb", false, true}};

/* The directive that begins here, and the place of the quote; NULL: none. */
static const directive *find_directive(const char *text, const char **quote)
{
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        size_t length = strlen(directives[i].word);
        if (strncmp(text, directives[i].word, length) != 0 || is_word(text[length]))
            continue;
        text = skip_blanks(text + length);
        *quote = *text == '(' ? skip_blanks(text + 1) : text;
        return **quote == '"' ? &directives[i] : NULL;
    }
    return NULL;
}

static void scan(visitor *v, const char *path, const char *text, int depth)
{
    const char *slash = strrchr(path, '/');
    ls__str folder = {path, slash ? (size_t)(slash - path) + 1 : 0};
    for (const char *at = text, *quote; *at;) {
        const char *next = skip_comment(at);
        const directive *found = next == at ? find_directive(at, &quote) : NULL;
        if (!found) {
            at = next != at ? next : at + 1;
            continue;
        }
        ls__str name = {quote + 1, strcspn(quote + 1, "\"\n")};
        int below = found->is_source ? depth + 1 : MAX_DEPTH;
        bool is_below = folder.length && name.text[0] != '/';
        if (found->is_working_path || !is_below)
            visit_named(v, (ls__str){"", 0}, name, below);
        if (is_below)
            visit_named(v, folder, name, below);
        at = name.text + name.length;
    }
}

static void visit_path(visitor *v, const char *path, int depth)
{
    if (v->count++ >= MAX_FILES)
        return;
    v->visit(v->context, path);
    char *text = depth < MAX_DEPTH ? ls__source_read(path) : NULL;
    if (text)
        scan(v, path, text, depth);
    ls__mem_free(text);
}

void ls__source_visit_files(const char *path, void (*visit)(void *context, const char *path),
                            void *context)
{
    visitor v = {visit, context, 0};
    visit_path(&v, path, 0);
}
