/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small preprocessor: #define (object-like) and #undef, #include, #ifdef/#ifndef/#else/#endif,
 * #pragma once. It turns a file into tokens of its unit. Tokens of a macro's body get the position
 * where the macro was used, which is where a user looks first.
 *
 * Bounds: tokens, macro steps (bodies may be empty, so tokens alone do not bound the work), depths,
 * files opened.
 */
#include <string.h>

#include "base/mem.h"
#include "lang/internal.h"

typedef struct condition {
    lang_pos pos;
    const char *directive;
    bool is_taken, had_else;
} condition;

typedef struct source { /* a file being preprocessed */
    lang_lexer lexer;
    lang_token token; /* one ahead */
    LS__VEC(condition) conditions;
} source;

static void next(source *s)
{
    s->token = ls__lang_lex(&s->lexer);
}

static void push(lang_unit *unit, lang_token token)
{
    if (unit->tokens.count >= LANG_MAX_TOKENS) {
        ls__lang_report(unit->context, token.pos, D_TOO_MANY_TOKENS);
        ls__lang_stop(unit->context);
    }
    ls__vec_push(&unit->context->arena, &unit->tokens, token);
}

/* --- macros --------------------------------------------------------------------------- */
static void expand(lang_unit *unit, lang_token token, uint32_t depth)
{
    lang_context *context = unit->context;
    bool is_word = token.kind == TOK_NAME || token.kind >= TOK_BREAK;
    lang_macro *macro = is_word ? token.u.name->macro : NULL;
    if (++context->macro_steps > 4 * LANG_MAX_TOKENS) {
        ls__lang_report(context, token.pos, D_TOO_MANY_TOKENS);
        ls__lang_stop(context);
    }
    if (!macro || macro->active) {
        push(unit, token);
        return;
    }
    if (depth >= LANG_MAX_MACRO_DEPTH) {
        ls__lang_report(context, token.pos, D_MACRO_DEPTH);
        ls__lang_stop(context);
    }
    macro->active = true;
    for (uint32_t i = 0; i < macro->body.count; i++) {
        lang_token inner = macro->body.items[i];
        inner.pos = token.pos;
        expand(unit, inner, depth + 1);
    }
    macro->active = false;
}

static bool same_macro(const lang_macro *a, const lang_macro *b)
{
    if (a->body.count != b->body.count)
        return false;
    for (uint32_t i = 0; i < a->body.count; i++) {
        const lang_token *x = &a->body.items[i], *y = &b->body.items[i];
        if (x->kind != y->kind)
            return false;
        bool is_text = x->kind >= TOK_NUMBER && x->kind <= TOK_STRING;
        bool is_name = x->kind == TOK_NAME || x->kind >= TOK_BREAK;
        if ((is_text && !ls__str_equal(x->u.text, y->u.text)) ||
            (is_name && x->u.name != y->u.name))
            return false;
    }
    return true;
}

/* The rest of a directive's line is not wanted. */
static void skip_rest(source *s)
{
    while (s->token.kind != TOK_END && !s->token.starts_line)
        next(s);
}

static bool at_line_end(const source *s)
{
    return s->token.kind == TOK_END || s->token.starts_line;
}

static void expect_line_end(source *s, const char *directive)
{
    if (!at_line_end(s)) {
        ls__lang_report(s->lexer.unit->context, s->token.pos, D_BAD_DIRECTIVE, directive,
                        "the end of the line");
        skip_rest(s);
    }
}

/* The name after #define, #undef, #ifdef, #ifndef; NULL after a report. */
static lang_name *directive_name(source *s, const char *directive, lang_pos at, bool is_test)
{
    lang_context *context = s->lexer.unit->context;
    bool is_word = s->token.kind == TOK_NAME || s->token.kind >= TOK_BREAK;
    if (at_line_end(s) || !is_word) {
        ls__lang_report(context, at_line_end(s) ? at : s->token.pos, D_BAD_DIRECTIVE, directive,
                        "a name");
        skip_rest(s);
        return NULL;
    }
    lang_name *name = s->token.u.name;
    if (!is_test && (name->token != TOK_NAME || name->builtin >= 0)) {
        ls__lang_report(context, s->token.pos, D_MACRO_NAME, LS__STR_ARG(name->text));
        skip_rest(s);
        return NULL;
    }
    return name;
}

static void define(source *s, lang_pos at)
{
    lang_unit *unit = s->lexer.unit;
    lang_name *name = directive_name(s, "define", at, false);
    if (!name)
        return;
    lang_macro *macro = LS__NEW(&unit->context->arena, lang_macro);
    macro->pos = s->token.pos;
    next(s);
    if (!at_line_end(s) && s->token.kind == TOK_LEFT_PAREN && !s->token.after_space) {
        ls__lang_report(unit->context, macro->pos, D_FUNCTION_MACRO, LS__STR_ARG(name->text));
        skip_rest(s);
        return;
    }
    while (!at_line_end(s)) {
        if (s->token.kind == TOK_HASH) {
            ls__lang_report(unit->context, s->token.pos, D_BAD_DIRECTIVE, "define",
                            "no # in the body");
            skip_rest(s);
            return;
        }
        ls__vec_push(&unit->context->arena, &macro->body, s->token);
        next(s);
    }
    if (name->macro && !same_macro(name->macro, macro))
        ls__lang_report(unit->context, macro->pos, D_MACRO_REDEFINED, LS__STR_ARG(name->text));
    else
        name->macro = macro;
}

/* --- includes ------------------------------------------------------------------------- */
uint16_t ls__lang_file_add(lang_context *context, lang_pos at, const char *path, const char *text,
                           size_t length, char *owned)
{
    lang_file file = {.path = path, .text = text, .length = length, .owned = owned};
    ls__vec_push(&context->arena, &context->files, file);
    if (++context->include_count > LANG_MAX_INCLUDES) {
        ls__lang_report(context, at, D_INCLUDE_DEPTH);
        ls__lang_stop(context);
    }
    return (uint16_t)(context->files.count - 1);
}

/* `name` against the folder of `from`, with "." and "name/.." taken out. */
static const char *resolve(lang_context *context, const char *from, ls__str name)
{
    const char *slash = strrchr(from, '/');
    size_t folder = slash && name.text[0] != '/' ? (size_t)(slash - from) + 1 : 0;
    char *path =
        ls__arena_printf(&context->arena, "%.*s%.*s", (int)folder, from, LS__STR_ARG(name));
    char *out = path;
    for (const char *in = path; *in;) {
        size_t length = strcspn(in, "/");
        bool is_last = in[length] == 0;
        bool at_start = out == path;
        if (length == 1 && in[0] == '.' && !is_last) {
            in += 2;
            continue;
        }
        if (length == 2 && in[0] == '.' && in[1] == '.' && !at_start && !is_last) {
            char *before = out - 1; /* at the '/' that ends the last part */
            while (before > path && before[-1] != '/')
                before--;
            bool is_up = out - before == 3 && before[0] == '.' && before[1] == '.';
            if (!is_up && before != out - 1) {
                out = before;
                in += 3;
                continue;
            }
        }
        memmove(out, in, length + !is_last);
        out += length + !is_last;
        in += length + !is_last;
    }
    *out = 0;
    return path;
}

static bool already_once(const lang_context *context, const char *path)
{
    for (uint32_t i = 0; i < context->files.count; i++) {
        if (context->files.items[i].once && strcmp(context->files.items[i].path, path) == 0)
            return true;
    }
    return false;
}

static void open_include(lang_unit *unit, lang_pos pos, uint16_t from, ls__str name)
{
    lang_context *context = unit->context;
    const char *path, *text = NULL;
    char *owned = NULL;
    size_t length = 0;
    bool found;
    if (unit->is_library) {
        path = ls__arena_printf(&context->arena, "<math>/%.*s", LS__STR_ARG(name));
        found = ls__lang_library_source(context, name.text, name.length, &text, &length);
    } else {
        path = resolve(context, context->files.items[from].path, name);
        found = true;
    }
    if (already_once(context, path))
        return;
    if (unit->include_depth >= LANG_MAX_INCLUDE_DEPTH) {
        ls__lang_report(context, pos, D_INCLUDE_DEPTH);
        ls__lang_stop(context);
    }
    uint16_t file = ls__lang_file_add(context, pos, path, "", 0,
                                      NULL); /* first, so that `owned` has an owner */
    if (!unit->is_library) {
        const ls__lang_options *options = context->options;
        found =
            options->include && options->include(options->include_context, path, &owned, &length);
        text = owned;
        context->files.items[file].owned = owned;
    }
    if (!found) {
        ls__lang_report(context, pos, D_INCLUDE_NOT_FOUND, path);
        return;
    }
    context->files.items[file].text = text ? text : "";
    context->files.items[file].length = length;
    ls__lang_preprocess(unit, file);
}

/* #include: the lexer knows no strings, so the name is cut from the line here. */
static void include(source *s, lang_pos at)
{
    lang_unit *unit = s->lexer.unit;
    lang_context *context = unit->context;
    const char *text = s->lexer.at, *end = s->lexer.end;
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    char close = text < end && *text == '"' ? '"' : text < end && *text == '<' ? '>' : 0;
    const char *stop = close ? text + 1 : end;
    while (stop < end && *stop != close && *stop != '\n')
        stop++;
    if (!close || stop == end || *stop != close || stop == text + 1) {
        ls__lang_report(context, at, D_BAD_DIRECTIVE, "include", "\"file\"");
        ls__lang_skip_line(&s->lexer);
        next(s);
        return;
    }
    ls__str name = {text + 1, (size_t)(stop - text) - 1};
    lang_pos pos = at;
    size_t column = (size_t)(text - s->lexer.line_start) + 1;
    pos.column = column > UINT16_MAX ? UINT16_MAX : (uint16_t)column;
    pos.length = (uint32_t)name.length + 2;
    s->lexer.at = stop + 1;
    next(s);
    expect_line_end(s, "include");
    if (ls__str_is(name, "lockstep/kernel.h"))
        return; /* what it declares is built in */
    if (close == '>')
        ls__lang_report(context, pos, D_SYSTEM_INCLUDE,
                        ls__arena_strdup(&context->arena, name.text, name.length));
    else
        open_include(unit, pos, s->lexer.file, name);
}

/* --- conditions ----------------------------------------------------------------------- */
/* Skips to the #else or #endif that ends a group not taken; s->token is that word. False at the end
 * of the file. Goes line by line, since text that is skipped need not be made of tokens. */
static bool skip_group(source *s)
{
    uint32_t depth = 0;
    for (;;) {
        ls__lang_skip_space(&s->lexer);
        if (s->lexer.at == s->lexer.end)
            return false;
        if (*s->lexer.at != '#') {
            ls__lang_skip_line(&s->lexer);
            continue;
        }
        next(s);
        const char *after = s->lexer.at;
        while (after < s->lexer.end && (*after == ' ' || *after == '\t'))
            after++;
        if (after == s->lexer.end || *after < 'a' || *after > 'z') {
            ls__lang_skip_line(&s->lexer);
            continue;
        }
        next(s);
        ls__str word = s->token.u.name->text;
        if (ls__str_is(word, "ifdef") || ls__str_is(word, "ifndef") || ls__str_is(word, "if"))
            depth++;
        else if (ls__str_is(word, "endif") && depth-- == 0)
            return true;
        else if (ls__str_is(word, "else") && depth == 0)
            return true;
        else if (ls__str_is(word, "elif") && depth == 0)
            ls__lang_report(s->lexer.unit->context, s->token.pos, D_UNKNOWN_DIRECTIVE,
                            LS__STR_ARG(word));
        ls__lang_skip_line(&s->lexer);
    }
}

static bool group_is_skipped(const source *s)
{
    return s->conditions.count && !s->conditions.items[s->conditions.count - 1].is_taken;
}

/* The end of the line of a condition. What follows is not made tokens yet: it may be skipped. */
static void end_condition_line(source *s, const char *directive)
{
    ls__lang_skip_space(&s->lexer);
    if (s->lexer.at == s->lexer.end || s->lexer.starts_line)
        return;
    next(s);
    expect_line_end(s, directive);
    if (s->token.kind != TOK_END) { /* back to where the next line starts */
        s->lexer.at = s->lexer.token;
        s->lexer.starts_line = true;
    }
}

/* At #else or #endif. */
static void end_group(source *s)
{
    lang_context *context = s->lexer.unit->context;
    bool is_else = s->token.kind == TOK_ELSE;
    lang_pos at = s->token.pos;
    end_condition_line(s, is_else ? "else" : "endif");
    condition *c = s->conditions.count ? &s->conditions.items[s->conditions.count - 1] : NULL;
    if (!c || (is_else && c->had_else)) {
        ls__lang_report(context, at, D_UNBALANCED_CONDITION, is_else ? "else" : "endif");
        return;
    }
    if (!is_else) {
        s->conditions.count--;
        return;
    }
    c->had_else = true;
    c->is_taken = !c->is_taken;
}

/* Behind the line of a condition: goes on with the first token that is not skipped. */
static void skip_groups(source *s)
{
    while (group_is_skipped(s) && skip_group(s))
        end_group(s);
    next(s);
}

static void begin_group(source *s, lang_pos at, const char *directive, bool wanted)
{
    lang_name *name = directive_name(s, directive, at, true);
    condition c = {
        .pos = at, .directive = directive, .is_taken = !name || (name->macro != NULL) == wanted};
    ls__vec_push(&s->lexer.unit->context->arena, &s->conditions, c);
    if (name) {
        end_condition_line(s, directive);
        skip_groups(s);
    }
}

static void directive(source *s)
{
    lang_context *context = s->lexer.unit->context;
    next(s); /* # */
    if (at_line_end(s))
        return;
    lang_token word = s->token;
    bool is_word = word.kind == TOK_NAME || word.kind >= TOK_BREAK;
    ls__str text = is_word ? word.u.name->text : (ls__str){"", 0};
    if (ls__str_is(text, "include")) {
        include(s, word.pos);
        return;
    }
    if (ls__str_is(text, "else") || ls__str_is(text, "endif")) {
        end_group(s);
        skip_groups(s);
        return;
    }
    next(s);
    if (ls__str_is(text, "define")) {
        define(s, word.pos);
    } else if (ls__str_is(text, "undef")) {
        lang_name *name = directive_name(s, "undef", word.pos, false);
        if (name) {
            name->macro = NULL;
            next(s);
            expect_line_end(s, "undef");
        }
    } else if (ls__str_is(text, "ifdef")) {
        begin_group(s, word.pos, "ifdef", true);
    } else if (ls__str_is(text, "ifndef")) {
        begin_group(s, word.pos, "ifndef", false);
    } else if (ls__str_is(text, "pragma")) {
        bool is_once = !at_line_end(s) && s->token.kind == TOK_NAME &&
                       ls__str_is(s->token.u.name->text, "once");
        if (is_once) {
            context->files.items[s->lexer.file].once = true;
            next(s);
            expect_line_end(s, "pragma");
        } else {
            ls__lang_report(context, word.pos, D_BAD_DIRECTIVE, "pragma", "once");
            skip_rest(s);
        }
    } else {
        ls__lang_report(context, word.pos, D_UNKNOWN_DIRECTIVE, LS__STR_ARG(text));
        skip_rest(s);
    }
}

void ls__lang_preprocess(lang_unit *unit, uint16_t file)
{
    source s = {0};
    unit->include_depth++;
    ls__lang_lexer_init(&s.lexer, unit, file);
    next(&s);
    while (s.token.kind != TOK_END) {
        if (s.token.kind == TOK_HASH && s.token.starts_line) {
            directive(&s);
        } else {
            expand(unit, s.token, 0);
            next(&s);
        }
    }
    if (s.conditions.count) {
        const condition *c = &s.conditions.items[s.conditions.count - 1];
        ls__lang_report(unit->context, c->pos, D_OPEN_CONDITION, c->directive);
    }
    unit->include_depth--;
}
