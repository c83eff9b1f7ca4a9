/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser: token stream, error recovery, statements and external declarations. Declarations and
 * types are in parse_decl.c, expressions in parse_expr.c. The result is a tree without types; the
 * only thing known about names is whether each is a typedef name in the current scope, without
 * which C cannot be parsed.
 */
#include "lang/parse.h"

const lang_token *ls__lang_peek(const lang_parser *p, uint32_t ahead)
{
    uint32_t last = p->unit->tokens.count - 1;
    uint32_t index = ahead > last - p->at ? last : p->at + ahead;
    return &p->unit->tokens.items[index];
}

bool ls__lang_at(const lang_parser *p, lang_token_kind kind)
{
    return ls__lang_peek(p, 0)->kind == kind;
}

bool ls__lang_accept(lang_parser *p, lang_token_kind kind)
{
    if (!ls__lang_at(p, kind))
        return false;
    if (kind != TOK_END)
        p->at++;
    return true;
}

const char *ls__lang_describe(const lang_parser *p, const lang_token *token)
{
    ls__arena *arena = &p->context->arena;
    if (token->kind == TOK_NAME)
        return ls__arena_printf(arena, "'%.*s'", LS__STR_ARG(token->u.name->text));
    if (token->kind == TOK_NUMBER || token->kind == TOK_CHARACTER)
        return ls__arena_printf(arena, "'%.*s'", LS__STR_ARG(token->u.text));
    if (token->kind == TOK_STRING || token->kind == TOK_END)
        return ls__lang_token_text((lang_token_kind)token->kind);
    return ls__arena_printf(arena, "'%s'", ls__lang_token_text((lang_token_kind)token->kind));
}

void ls__lang_panic(lang_parser *p, lang_pos pos, lang_diag_id id, const char *argument)
{
    if (!p->panic)
        ls__lang_report_one(p->context, pos, id, argument);
    p->panic = true;
}

void ls__lang_expected(lang_parser *p, const char *what)
{
    const lang_token *token = ls__lang_peek(p, 0);
    if (!p->panic)
        ls__lang_report(p->context, token->pos, D_EXPECTED, what, ls__lang_describe(p, token));
    p->panic = true;
}

bool ls__lang_expect(lang_parser *p, lang_token_kind kind)
{
    if (ls__lang_accept(p, kind))
        return true;
    const char *text = ls__lang_token_text(kind);
    if (kind != TOK_NAME)
        text = ls__arena_printf(&p->context->arena, "'%s'", text);
    /* A missing semicolon is best shown where it is missing: after the token before. */
    if (kind == TOK_SEMICOLON && !p->panic && p->at > 0) {
        lang_pos pos = p->unit->tokens.items[p->at - 1].pos;
        const lang_token *token = ls__lang_peek(p, 0);
        if (pos.line != token->pos.line && pos.file == token->pos.file) {
            pos.column = (uint16_t)(pos.column + pos.length < UINT16_MAX ? pos.column + pos.length
                                                                         : UINT16_MAX);
            pos.length = 1;
            ls__lang_report(p->context, pos, D_EXPECTED, text, ls__lang_describe(p, token));
            p->panic = true;
        }
    }
    ls__lang_expected(p, text);
    return false;
}

void ls__lang_enter(lang_parser *p)
{
    if (++p->depth > LANG_MAX_NESTING) {
        ls__lang_report(p->context, ls__lang_peek(p, 0)->pos, D_NESTING);
        ls__lang_stop(p->context);
    }
}

/* --- recovery ------------------------------------------------------------------------- */
static bool starts_statement(const lang_parser *p)
{
    switch (ls__lang_peek(p, 0)->kind) {
    case TOK_IF:
    case TOK_FOR:
    case TOK_WHILE:
    case TOK_DO:
    case TOK_SWITCH:
    case TOK_CASE:
    case TOK_DEFAULT:
    case TOK_BREAK:
    case TOK_CONTINUE:
    case TOK_RETURN:
        return true;
    default:
        return false;
    }
}

/* Skips to the end of the statement, or to a place where one begins. `start` is where the failed
 * statement began: at least one token is passed. */
static void recover(lang_parser *p, uint32_t start)
{
    uint32_t braces = 0;
    p->panic = false;
    for (;;) {
        const lang_token *token = ls__lang_peek(p, 0);
        bool moved = p->at > start;
        if (token->kind == TOK_END || (token->kind == TOK_RIGHT_BRACE && braces == 0))
            return;
        if (moved && braces == 0 && starts_statement(p))
            return;
        p->at++;
        if (token->kind == TOK_LEFT_BRACE)
            braces++;
        else if (token->kind == TOK_RIGHT_BRACE && --braces == 0)
            return;
        else if (token->kind == TOK_SEMICOLON && braces == 0)
            return;
    }
}

/* --- scopes of type names ------------------------------------------------------------- */
void ls__lang_declare_name(lang_parser *p, lang_name *name, bool is_type)
{
    lang_type_undo undo = {name, name->is_type, name->is_declared};
    ls__vec_push(&p->context->arena, &p->undo, undo);
    name->is_type = is_type;
    name->is_declared = true;
}

static void leave_scope(lang_parser *p, uint32_t mark)
{
    while (p->undo.count > mark) {
        lang_type_undo undo = p->undo.items[--p->undo.count];
        undo.name->is_type = undo.was_type;
        undo.name->is_declared = undo.was_declared;
    }
}

/* --- statements ----------------------------------------------------------------------- */
static lang_stmt *statement(lang_parser *p);
static lang_declaration *declaration(lang_parser *p, bool at_file_scope);

static lang_stmt *new_stmt(lang_parser *p, lang_stmt_kind kind)
{
    lang_stmt *stmt = LS__NEW(&p->context->arena, lang_stmt);
    stmt->kind = (uint8_t)kind;
    stmt->pos = ls__lang_peek(p, 0)->pos;
    return stmt;
}

static bool starts_declaration(const lang_parser *p)
{
    if (ls__lang_at(p, TOK_STATIC_ASSERT) || ls__lang_at(p, TOK_SPEC))
        return true;
    if (ls__lang_starts_type(p, 0))
        return true;
    /* "name name" is a declaration with an unknown type, which is reported there. */
    return ls__lang_at(p, TOK_NAME) && ls__lang_peek(p, 1)->kind == TOK_NAME;
}

static lang_stmt *block_item(lang_parser *p)
{
    uint32_t start = p->at;
    lang_stmt *stmt;
    if (starts_declaration(p)) {
        stmt = new_stmt(p, STMT_DECL);
        stmt->declaration = declaration(p, false);
    } else {
        stmt = statement(p);
    }
    if (p->panic)
        recover(p, start);
    return stmt;
}

static lang_stmt *block(lang_parser *p)
{
    lang_stmt *stmt = new_stmt(p, STMT_BLOCK);
    uint32_t mark = p->undo.count;
    if (!ls__lang_expect(p, TOK_LEFT_BRACE))
        return stmt;
    while (!ls__lang_at(p, TOK_RIGHT_BRACE) && !ls__lang_at(p, TOK_END)) {
        lang_stmt *item = block_item(p);
        ls__vec_push(&p->context->arena, &stmt->stmts, item);
    }
    ls__lang_expect(p, TOK_RIGHT_BRACE);
    leave_scope(p, mark);
    return stmt;
}

static lang_expr *condition(lang_parser *p)
{
    ls__lang_expect(p, TOK_LEFT_PAREN);
    lang_expr *value = ls__lang_parse_expr(p);
    ls__lang_expect(p, TOK_RIGHT_PAREN);
    return value;
}

static lang_stmt *if_statement(lang_parser *p)
{
    lang_stmt *stmt = new_stmt(p, STMT_IF);
    p->at++;
    stmt->value = condition(p);
    stmt->body = statement(p);
    if (ls__lang_accept(p, TOK_ELSE))
        stmt->other = statement(p);
    return stmt;
}

static lang_stmt *for_statement(lang_parser *p)
{
    lang_stmt *stmt = new_stmt(p, STMT_FOR);
    uint32_t mark = p->undo.count;
    p->at++;
    ls__lang_expect(p, TOK_LEFT_PAREN);
    if (starts_declaration(p)) {
        stmt->first = new_stmt(p, STMT_DECL);
        stmt->first->declaration = declaration(p, false);
    } else if (!ls__lang_accept(p, TOK_SEMICOLON)) {
        stmt->first = new_stmt(p, STMT_EXPR);
        stmt->first->value = ls__lang_parse_expr(p);
        ls__lang_expect(p, TOK_SEMICOLON);
    }
    if (!ls__lang_at(p, TOK_SEMICOLON))
        stmt->value = ls__lang_parse_expr(p);
    ls__lang_expect(p, TOK_SEMICOLON);
    if (!ls__lang_at(p, TOK_RIGHT_PAREN))
        stmt->step = ls__lang_parse_expr(p);
    ls__lang_expect(p, TOK_RIGHT_PAREN);
    stmt->body = statement(p);
    leave_scope(p, mark);
    return stmt;
}

static lang_stmt *do_statement(lang_parser *p)
{
    lang_stmt *stmt = new_stmt(p, STMT_DO);
    p->at++;
    stmt->body = statement(p);
    ls__lang_expect(p, TOK_WHILE);
    stmt->value = condition(p);
    ls__lang_expect(p, TOK_SEMICOLON);
    return stmt;
}

/* One "case x:" or "default:" into the group. */
static void label(lang_parser *p, lang_group *group)
{
    if (ls__lang_accept(p, TOK_DEFAULT)) {
        if (group->has_default && !p->panic)
            ls__lang_report(p->context, ls__lang_peek(p, 0)->pos, D_DEFAULT_TWICE);
        group->has_default = true;
    } else {
        p->at++;
        lang_expr *value = ls__lang_parse_conditional(p);
        ls__vec_push(&p->context->arena, &group->values, value);
    }
    ls__lang_expect(p, TOK_COLON);
}

static lang_stmt *switch_statement(lang_parser *p)
{
    lang_stmt *stmt = new_stmt(p, STMT_SWITCH);
    ls__arena *arena = &p->context->arena;
    p->at++;
    stmt->value = condition(p);
    if (p->panic)
        return stmt;
    if (!ls__lang_at(p, TOK_LEFT_BRACE)) {
        ls__lang_panic(p, ls__lang_peek(p, 0)->pos, D_SWITCH_BODY, "");
        return stmt;
    }
    p->at++;
    while (!ls__lang_at(p, TOK_RIGHT_BRACE) && !ls__lang_at(p, TOK_END)) {
        lang_group group = {.pos = ls__lang_peek(p, 0)->pos};
        uint32_t mark = p->undo.count, start = p->at;
        if (!ls__lang_at(p, TOK_CASE) && !ls__lang_at(p, TOK_DEFAULT))
            ls__lang_panic(p, group.pos, D_SWITCH_BODY, "");
        while (!p->panic && (ls__lang_at(p, TOK_CASE) || ls__lang_at(p, TOK_DEFAULT)))
            label(p, &group);
        if (p->panic)
            recover(p, start);
        while (!ls__lang_at(p, TOK_CASE) && !ls__lang_at(p, TOK_DEFAULT) &&
               !ls__lang_at(p, TOK_RIGHT_BRACE) && !ls__lang_at(p, TOK_END)) {
            lang_stmt *item = block_item(p);
            ls__vec_push(arena, &group.stmts, item);
        }
        leave_scope(p, mark);
        ls__vec_push(arena, &stmt->groups, group);
    }
    ls__lang_expect(p, TOK_RIGHT_BRACE);
    return stmt;
}

static lang_stmt *jump(lang_parser *p, lang_stmt_kind kind)
{
    lang_stmt *stmt = new_stmt(p, kind);
    p->at++;
    if (kind == STMT_RETURN && !ls__lang_at(p, TOK_SEMICOLON))
        stmt->value = ls__lang_parse_expr(p);
    ls__lang_expect(p, TOK_SEMICOLON);
    return stmt;
}

static lang_stmt *expression_statement(lang_parser *p)
{
    lang_stmt *stmt = new_stmt(p, STMT_EXPR);
    if (ls__lang_at(p, TOK_NAME) && ls__lang_peek(p, 1)->kind == TOK_COLON) {
        ls__lang_panic(p, stmt->pos, D_LABEL, "");
        return stmt;
    }
    stmt->value = ls__lang_parse_expr(p);
    ls__lang_expect(p, TOK_SEMICOLON);
    return stmt;
}

static lang_stmt *statement_inner(lang_parser *p)
{
    lang_pos pos = ls__lang_peek(p, 0)->pos;
    lang_token_kind kind = (lang_token_kind)ls__lang_peek(p, 0)->kind;
    switch (kind) {
    case TOK_LEFT_BRACE:
        return block(p);
    case TOK_IF:
        return if_statement(p);
    case TOK_FOR:
        return for_statement(p);
    case TOK_WHILE: {
        lang_stmt *stmt = new_stmt(p, STMT_WHILE);
        p->at++;
        stmt->value = condition(p);
        stmt->body = statement(p);
        return stmt;
    }
    case TOK_DO:
        return do_statement(p);
    case TOK_SWITCH:
        return switch_statement(p);
    case TOK_BREAK:
        return jump(p, STMT_BREAK);
    case TOK_CONTINUE:
        return jump(p, STMT_CONTINUE);
    case TOK_RETURN:
        return jump(p, STMT_RETURN);
    case TOK_SEMICOLON:
        p->at++;
        return new_stmt(p, STMT_EMPTY);
    case TOK_ELSE:
        ls__lang_panic(p, pos, D_STRAY_ELSE, "");
        return new_stmt(p, STMT_EMPTY);
    case TOK_CASE:
    case TOK_DEFAULT:
        ls__lang_panic(p, pos, D_STRAY_CASE, ls__lang_token_text(kind));
        p->at++;
        return new_stmt(p, STMT_EMPTY);
    case TOK_GOTO:
        ls__lang_panic(p, pos, D_NOT_IN_LANGUAGE, "goto");
        ls__lang_hint(p->context, "use loops, break and continue");
        return new_stmt(p, STMT_EMPTY);
    default:
        if (starts_declaration(p) && !p->panic) {
            ls__lang_expected(p, "a statement");
            ls__lang_hint(p->context, "put the declaration in braces { }");
        }
        return expression_statement(p);
    }
}

static lang_stmt *statement(lang_parser *p)
{
    ls__lang_enter(p);
    lang_stmt *stmt = statement_inner(p);
    p->depth--;
    return stmt;
}

/* --- declarations --------------------------------------------------------------------- */
static lang_declaration *spec_constant(lang_parser *p, lang_declaration *d)
{
    d->kind = DECL_SPEC;
    p->at++;
    ls__lang_expect(p, TOK_LEFT_PAREN);
    lang_declarator *declarator = NULL;
    d->spec = ls__lang_parse_type_name(p, &declarator);
    if (declarator->parts.count)
        ls__lang_panic(p, declarator->pos, D_SPEC_TYPE, "");
    ls__lang_expect(p, TOK_COMMA);
    const lang_token *token = ls__lang_peek(p, 0);
    if (ls__lang_expect(p, TOK_NAME)) {
        declarator->name = token->u.name;
        declarator->pos = token->pos;
        ls__lang_declare_name(p, token->u.name, false);
    }
    ls__lang_expect(p, TOK_COMMA);
    d->value = ls__lang_parse_conditional(p);
    while (!p->panic && ls__lang_accept(p, TOK_COMMA)) {
        lang_expr *choice = ls__lang_parse_conditional(p);
        ls__vec_push(&p->context->arena, &d->choices, choice);
    }
    ls__lang_expect(p, TOK_RIGHT_PAREN);
    ls__lang_expect(p, TOK_SEMICOLON);
    ls__vec_push(&p->context->arena, &d->declarators, declarator);
    return d;
}

static lang_declaration *static_assertion(lang_parser *p, lang_declaration *d)
{
    d->kind = DECL_ASSERT;
    p->at++;
    ls__lang_expect(p, TOK_LEFT_PAREN);
    d->value = ls__lang_parse_conditional(p);
    ls__lang_expect(p, TOK_COMMA);
    ls__lang_expect(p, TOK_STRING);
    ls__lang_expect(p, TOK_RIGHT_PAREN);
    ls__lang_expect(p, TOK_SEMICOLON);
    return d;
}

static bool is_function(const lang_declarator *d)
{
    return d->parts.count > 0 && d->parts.items[0].kind == PART_FUNCTION;
}

/* At the '{' of a function. Parameter names are declared inside the scope of the body. */
static void function_body(lang_parser *p, lang_declaration *d, const lang_declarator *declarator,
                          bool at_file_scope)
{
    d->kind = DECL_FUNCTION;
    if (!at_file_scope)
        ls__lang_panic(p, declarator->pos, D_NESTED_FUNCTION, "");
    uint32_t mark = p->undo.count;
    const lang_part *part = &declarator->parts.items[0];
    for (uint32_t i = 0; i < part->params.count; i++) {
        lang_name *name = part->params.items[i]->declarators.items[0]->name;
        if (name)
            ls__lang_declare_name(p, name, false);
    }
    d->body = block(p);
    d->end = p->unit->tokens.items[p->at ? p->at - 1 : 0].pos;
    leave_scope(p, mark);
}

static lang_declaration *declaration(lang_parser *p, bool at_file_scope)
{
    lang_declaration *d = LS__NEW(&p->context->arena, lang_declaration);
    d->pos = ls__lang_peek(p, 0)->pos;
    if (ls__lang_at(p, TOK_SPEC)) {
        if (!at_file_scope)
            ls__lang_panic(p, d->pos, D_MISPLACED_SPECIFIER, "SPEC");
        return spec_constant(p, d);
    }
    if (ls__lang_at(p, TOK_STATIC_ASSERT))
        return static_assertion(p, d);
    d->spec = ls__lang_parse_spec(p);
    if (p->panic || ls__lang_accept(p, TOK_SEMICOLON))
        return d;
    for (;;) {
        lang_declarator *declarator = ls__lang_parse_declarator(p);
        if (!declarator->name)
            ls__lang_expected(p, "a name");
        else
            ls__lang_declare_name(p, declarator->name, d->spec->is_typedef);
        ls__vec_push(&p->context->arena, &d->declarators, declarator);
        if (p->panic)
            return d;
        if (is_function(declarator) && ls__lang_at(p, TOK_LEFT_BRACE) &&
            d->declarators.count == 1) {
            function_body(p, d, declarator, at_file_scope);
            return d;
        }
        if (ls__lang_accept(p, TOK_ASSIGN))
            declarator->init = ls__lang_parse_initializer(p);
        if (!ls__lang_accept(p, TOK_COMMA))
            break;
    }
    ls__lang_expect(p, TOK_SEMICOLON);
    return d;
}

lang_declarations ls__lang_parse(lang_unit *unit, uint32_t first)
{
    lang_parser p = {.unit = unit, .context = unit->context, .at = first};
    lang_declarations list = {0};
    lang_token end = {.kind = TOK_END};
    if (unit->tokens.count > first)
        end.pos = unit->tokens.items[unit->tokens.count - 1].pos;
    else
        end.pos = (lang_pos){.line = 1, .column = 1, .length = 1};
    ls__vec_push(&unit->context->arena, &unit->tokens, end);
    while (!ls__lang_at(&p, TOK_END)) {
        uint32_t start = p.at;
        if (ls__lang_accept(&p, TOK_SEMICOLON))
            continue;
        if (ls__lang_at(&p, TOK_RIGHT_BRACE)) {
            ls__lang_expected(&p, "a declaration");
            p.at++;
            p.panic = false;
            continue;
        }
        lang_declaration *d = declaration(&p, true);
        if (p.panic)
            recover(&p, start);
        ls__vec_push(&unit->context->arena, &list, d);
    }
    return list;
}
