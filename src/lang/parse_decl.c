/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of declaration specifiers, structs, enums and declarators. Words of C that Kernel C
 * leaves out are met here, with what to write instead.
 */
#include <stdio.h>
#include <string.h>

#include "lang/parse.h"

/* Common names of C types, to be answered with the one to use. */
static const struct {
    const char *name, *type;
} c_types[] = {
    {"int8_t", "i8"},   {"int16_t", "i16"},   {"int32_t", "i32"},   {"int64_t", "i64"},
    {"uint8_t", "u8"},  {"uint16_t", "u16"},  {"uint32_t", "u32"},  {"uint64_t", "u64"},
    {"size_t", "u64"},  {"ptrdiff_t", "i64"}, {"uintptr_t", "u64"}, {"intptr_t", "i64"},
    {"uint", "u32"},    {"uchar", "u8"},      {"ushort", "u16"},    {"ulong", "u64"},
    {"half", "f16"},    {"float32_t", "f32"}, {"float64_t", "f64"}, {"bfloat16", "bf16"},
    {"ssize_t", "i64"},
};

static const char *c_type_hint(ls__str name)
{
    for (size_t i = 0; i < sizeof c_types / sizeof c_types[0]; i++) {
        if (ls__str_is(name, c_types[i].name))
            return c_types[i].type;
    }
    return NULL;
}

static lang_type *basic_by_name(const char *name)
{
    for (uint32_t kind = TYPE_VOID; kind <= TYPE_F64; kind++) {
        if (strcmp(ls__lang_types[kind].name, name) == 0)
            return &ls__lang_types[kind];
    }
    return strcmp(name, "f16") == 0 ? &ls__lang_type_f16 : &ls__lang_type_bf16;
}

/* The type a word of Kernel C names, or NULL. */
static lang_type *basic_of(uint8_t kind)
{
    if (kind == TOK_C_BOOL)
        return TY(BOOL);
    if (kind < TOK_VOID || kind > TOK_BF16)
        return NULL;
    return basic_by_name(ls__lang_token_text((lang_token_kind)kind));
}

static bool is_c_type_word(uint8_t kind)
{
    return kind >= TOK_CHAR && kind <= TOK_DOUBLE;
}

bool ls__lang_starts_type(const lang_parser *p, uint32_t ahead)
{
    const lang_token *token = ls__lang_peek(p, ahead);
    if (token->kind == TOK_NAME)
        return token->u.name->is_type ||
               (c_type_hint(token->u.name->text) && !token->u.name->is_declared);
    switch (token->kind) {
    case TOK_CONST:
    case TOK_ENUM:
    case TOK_INLINE:
    case TOK_STATIC:
    case TOK_STRUCT:
    case TOK_TYPEDEF:
    case TOK_KERNEL:
    case TOK_NOINLINE:
    case TOK_UNORDERED:
    case TOK_WORKGROUP:
    case TOK_SHARED:
    case TOK_RESTRICT:
        return true;
    case TOK_GOTO:
    case TOK_ALIGNOF:
    case TOK_GENERIC:
        return false;
    default:
        return token->kind >= TOK_VOID && token->kind < TOK_COUNT;
    }
}

/* A run of words such as "unsigned long int": reports it once, with what to write, and gives that
 * type. */
static lang_type *c_type(lang_parser *p)
{
    lang_pos pos = ls__lang_peek(p, 0)->pos;
    char words[128] = "";
    size_t used = 0;
    uint32_t longs = 0;
    bool seen[TOK_COUNT] = {false};
    while (is_c_type_word(ls__lang_peek(p, 0)->kind)) {
        uint8_t kind = ls__lang_peek(p, 0)->kind;
        seen[kind] = true;
        longs += kind == TOK_LONG;
        const char *text = ls__lang_token_text((lang_token_kind)kind);
        if (used + strlen(text) + 2 < sizeof words)
            used +=
                (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? " " : "", text);
        p->at++;
    }
    bool is_unsigned = seen[TOK_UNSIGNED];
    const char *use = seen[TOK_DOUBLE]  ? "f64"
                      : seen[TOK_FLOAT] ? "f32"
                      : seen[TOK_CHAR]  ? (is_unsigned ? "u8" : "i8")
                      : seen[TOK_SHORT] ? (is_unsigned ? "u16" : "i16")
                      : longs > 0       ? (is_unsigned ? "u64" : "i64")
                      : is_unsigned     ? "u32"
                                        : "i32";
    if (!p->panic) {
        ls__lang_report(p->context, pos, D_C_TYPE, words);
        ls__lang_hint(p->context, "write %s", use);
    }
    return basic_by_name(use);
}

static const char *refused_hint(uint8_t kind)
{
    switch (kind) {
    case TOK_UNION:
        return "use a struct, or f32_bits() and f32_from_bits() to look at bits";
    case TOK_VOLATILE:
        return "order accesses of lanes with barrier() and atomics";
    case TOK_ATOMIC:
        return "use atomic_add() and its kin";
    case TOK_EXTERN:
        return "include the file that defines it";
    default:
        return "remove it";
    }
}

/* --- structs and enums ---------------------------------------------------------------- */
/* After an error: to the next member, or the end of the struct. */
static void skip_member(lang_parser *p)
{
    p->panic = false;
    while (!ls__lang_at(p, TOK_RIGHT_BRACE) && !ls__lang_at(p, TOK_END)) {
        if (ls__lang_accept(p, TOK_SEMICOLON))
            return;
        p->at++;
    }
}

static void struct_body(lang_parser *p, lang_spec *spec)
{
    ls__arena *arena = &p->context->arena;
    spec->has_body = true;
    while (!ls__lang_at(p, TOK_RIGHT_BRACE) && !ls__lang_at(p, TOK_END)) {
        lang_declaration *member = LS__NEW(arena, lang_declaration);
        member->pos = ls__lang_peek(p, 0)->pos;
        member->spec = ls__lang_parse_spec(p);
        do {
            lang_declarator *declarator = ls__lang_parse_declarator(p);
            if (!declarator->name)
                ls__lang_expected(p, "the name of a member");
            if (ls__lang_at(p, TOK_COLON)) {
                ls__lang_panic(p, ls__lang_peek(p, 0)->pos, D_NOT_IN_LANGUAGE, "a bit-field");
                ls__lang_hint(p->context, "use shifts and masks on a u32");
            }
            ls__vec_push(arena, &member->declarators, declarator);
        } while (!p->panic && ls__lang_accept(p, TOK_COMMA));
        ls__lang_expect(p, TOK_SEMICOLON);
        ls__vec_push(arena, &spec->members, member);
        if (p->panic)
            skip_member(p);
    }
    ls__lang_expect(p, TOK_RIGHT_BRACE);
}

static void enum_body(lang_parser *p, lang_spec *spec)
{
    spec->has_body = true;
    do {
        if (ls__lang_at(p, TOK_RIGHT_BRACE) && spec->enumerators.count)
            break; /* a comma after the last */
        const lang_token *token = ls__lang_peek(p, 0);
        if (!ls__lang_expect(p, TOK_NAME))
            break;
        lang_enumerator e = {.name = token->u.name, .pos = token->pos};
        if (ls__lang_accept(p, TOK_ASSIGN))
            e.value = ls__lang_parse_conditional(p);
        ls__lang_declare_name(p, e.name, false);
        ls__vec_push(&p->context->arena, &spec->enumerators, e);
    } while (ls__lang_accept(p, TOK_COMMA));
    ls__lang_expect(p, TOK_RIGHT_BRACE);
}

static void tagged_type(lang_parser *p, lang_spec *spec)
{
    bool is_struct = ls__lang_at(p, TOK_STRUCT);
    ls__lang_enter(p);
    p->at++;
    spec->kind = is_struct ? SPEC_STRUCT : SPEC_ENUM;
    const lang_token *token = ls__lang_peek(p, 0);
    if (ls__lang_accept(p, TOK_NAME))
        spec->name = token->u.name;
    if (ls__lang_accept(p, TOK_LEFT_BRACE)) {
        if (is_struct)
            struct_body(p, spec);
        else
            enum_body(p, spec);
    } else if (!spec->name) {
        ls__lang_expected(p, "a tag or '{'");
    }
    p->depth--;
}

/* --- specifiers ----------------------------------------------------------------------- */
static void workgroup(lang_parser *p, lang_spec *spec)
{
    spec->has_workgroup = true;
    spec->workgroup_pos = ls__lang_peek(p, 0)->pos;
    p->at++;
    ls__lang_expect(p, TOK_LEFT_PAREN);
    uint32_t count = 0;
    do {
        lang_expr *value = ls__lang_parse_conditional(p);
        if (count < 3)
            spec->workgroup[count++] = value;
        else
            ls__lang_report(p->context, spec->workgroup_pos, D_WORKGROUP);
    } while (!p->panic && ls__lang_accept(p, TOK_COMMA));
    ls__lang_expect(p, TOK_RIGHT_PAREN);
}

/* Flags of a declaration; false when the token is none. */
static bool flag(lang_parser *p, lang_spec *spec)
{
    bool *field;
    switch (ls__lang_peek(p, 0)->kind) {
    case TOK_CONST:
        field = &spec->is_const;
        break;
    case TOK_STATIC:
        field = &spec->is_static;
        break;
    case TOK_INLINE:
        field = &spec->is_inline;
        break;
    case TOK_TYPEDEF:
        field = &spec->is_typedef;
        break;
    case TOK_KERNEL:
        field = &spec->is_kernel;
        break;
    case TOK_NOINLINE:
        field = &spec->is_noinline;
        break;
    case TOK_UNORDERED:
        field = &spec->is_unordered;
        break;
    case TOK_SHARED:
        field = &spec->is_shared;
        break;
    case TOK_WORKGROUP:
        workgroup(p, spec);
        return true;
    default:
        return false;
    }
    *field = true;
    p->at++;
    return true;
}

/* A type specifier; false when the token is none. */
static bool type_specifier(lang_parser *p, lang_spec *spec)
{
    const lang_token *token = ls__lang_peek(p, 0);
    uint8_t kind = token->kind;
    bool has_type = spec->kind != SPEC_NONE;
    if (kind == TOK_NAME && (has_type || p->panic))
        return false;
    if (kind == TOK_NAME && !token->u.name->is_type && ls__lang_peek(p, 1)->kind == TOK_LEFT_PAREN)
        return false; /* a function without a result type */
    bool is_type = kind == TOK_NAME || kind == TOK_STRUCT || kind == TOK_ENUM || basic_of(kind) ||
                   is_c_type_word(kind);
    if (!is_type)
        return false;
    if (has_type)
        ls__lang_panic(p, token->pos, D_TYPE_TWICE, "");
    if (kind == TOK_STRUCT || kind == TOK_ENUM) {
        tagged_type(p, spec);
    } else if (kind == TOK_NAME && token->u.name->is_type) {
        spec->kind = SPEC_NAME;
        spec->name = token->u.name;
        p->at++;
    } else if (kind == TOK_NAME) {
        const char *use = c_type_hint(token->u.name->text);
        ls__lang_report(p->context, token->pos, D_UNKNOWN_TYPE, LS__STR_ARG(token->u.name->text));
        if (use)
            ls__lang_hint(p->context, "write %s", use);
        else
            ls__lang_hint(p->context, "expected a type such as f32 or u32, or one declared before");
        spec->kind = SPEC_BASIC;
        spec->basic = use ? basic_by_name(use) : TY(ERROR);
        p->at++;
    } else {
        spec->kind = SPEC_BASIC;
        spec->basic = is_c_type_word(kind) ? c_type(p) : basic_of(kind);
        if (!is_c_type_word(kind))
            p->at++;
    }
    return true;
}

lang_spec *ls__lang_parse_spec(lang_parser *p)
{
    lang_spec *spec = LS__NEW(&p->context->arena, lang_spec);
    spec->pos = ls__lang_peek(p, 0)->pos;
    for (;;) {
        uint8_t kind = ls__lang_peek(p, 0)->kind;
        if (p->panic)
            return spec;
        if (flag(p, spec) || type_specifier(p, spec))
            continue;
        if (kind >= TOK_AUTO && kind < TOK_COUNT) {
            const char *text = ls__lang_token_text((lang_token_kind)kind);
            ls__lang_panic(p, ls__lang_peek(p, 0)->pos, D_NOT_IN_LANGUAGE, text);
            ls__lang_hint(p->context, "%s", refused_hint(kind));
            return spec;
        }
        break;
    }
    if (spec->kind == SPEC_NONE) {
        const lang_token *token = ls__lang_peek(p, 0);
        ls__lang_panic(p, token->pos, D_EXPECTED_TYPE, ls__lang_describe(p, token));
    }
    return spec;
}

/* --- declarators ---------------------------------------------------------------------- */
static void parameters(lang_parser *p, lang_part *part)
{
    ls__arena *arena = &p->context->arena;
    bool is_void = ls__lang_at(p, TOK_VOID) && ls__lang_peek(p, 1)->kind == TOK_RIGHT_PAREN;
    if (is_void)
        p->at++;
    while (!ls__lang_at(p, TOK_RIGHT_PAREN) && !p->panic) {
        if (ls__lang_at(p, TOK_ELLIPSIS)) {
            ls__lang_panic(p, ls__lang_peek(p, 0)->pos, D_VARARGS, "");
            return;
        }
        lang_declaration *param = LS__NEW(arena, lang_declaration);
        param->pos = ls__lang_peek(p, 0)->pos;
        param->spec = ls__lang_parse_spec(p);
        lang_declarator *declarator = ls__lang_parse_declarator(p);
        ls__vec_push(arena, &param->declarators, declarator);
        ls__vec_push(arena, &part->params, param);
        if (!ls__lang_accept(p, TOK_COMMA))
            break;
    }
    ls__lang_expect(p, TOK_RIGHT_PAREN);
}

static void suffixes(lang_parser *p, lang_declarator *d)
{
    ls__arena *arena = &p->context->arena;
    while (!p->panic) {
        lang_part part = {.pos = ls__lang_peek(p, 0)->pos};
        if (ls__lang_accept(p, TOK_LEFT_BRACKET)) {
            part.kind = PART_ARRAY;
            part.is_minimum = ls__lang_accept(p, TOK_STATIC);
            if (part.is_minimum || !ls__lang_at(p, TOK_RIGHT_BRACKET))
                part.count = ls__lang_parse_conditional(p);
            ls__lang_expect(p, TOK_RIGHT_BRACKET);
        } else if (ls__lang_accept(p, TOK_LEFT_PAREN)) {
            part.kind = PART_FUNCTION;
            parameters(p, &part);
        } else {
            return;
        }
        ls__vec_push(arena, &d->parts, part);
    }
}

static void declarator_into(lang_parser *p, lang_declarator *d)
{
    LS__VEC(lang_part) pointers = {0};
    ls__arena *arena = &p->context->arena;
    ls__lang_enter(p);
    while (ls__lang_at(p, TOK_STAR)) {
        lang_part part = {.kind = PART_POINTER, .pos = ls__lang_peek(p, 0)->pos};
        p->at++;
        while (ls__lang_at(p, TOK_CONST) || ls__lang_at(p, TOK_RESTRICT)) {
            part.is_const |= ls__lang_at(p, TOK_CONST);
            p->at++;
        }
        ls__vec_push(arena, &pointers, part);
    }
    const lang_token *token = ls__lang_peek(p, 0);
    const lang_token *after = ls__lang_peek(p, 1);
    bool is_nested = token->kind == TOK_LEFT_PAREN &&
                     (after->kind == TOK_STAR || after->kind == TOK_LEFT_PAREN ||
                      (after->kind == TOK_NAME && !after->u.name->is_type));
    if (is_nested) {
        p->at++;
        declarator_into(p, d);
        ls__lang_expect(p, TOK_RIGHT_PAREN);
    } else if (ls__lang_accept(p, TOK_NAME)) {
        d->name = token->u.name;
        d->pos = token->pos;
    }
    suffixes(p, d);
    while (pointers.count > 0)
        ls__vec_push(arena, &d->parts, pointers.items[--pointers.count]);
    p->depth--;
}

lang_declarator *ls__lang_parse_declarator(lang_parser *p)
{
    lang_declarator *d = LS__NEW(&p->context->arena, lang_declarator);
    d->pos = ls__lang_peek(p, 0)->pos;
    declarator_into(p, d);
    return d;
}

lang_spec *ls__lang_parse_type_name(lang_parser *p, lang_declarator **declarator)
{
    lang_spec *spec = ls__lang_parse_spec(p);
    *declarator = ls__lang_parse_declarator(p);
    if ((*declarator)->name)
        ls__lang_panic(p, (*declarator)->pos, D_EXPECTED, "')'");
    return spec;
}
