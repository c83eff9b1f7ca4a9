/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of expressions: precedence climbing for the binary operators, recursion for the rest.
 * Each node knows the depth of its tree, so that later stages may recurse.
 */
#include "lang/parse.h"

static lang_expr *parse_assignment(lang_parser *p);

static lang_expr *new_expr(lang_context *context, lang_expr_kind kind, lang_pos pos)
{
    lang_expr *expr = LS__NEW(&context->arena, lang_expr);
    expr->kind = (uint8_t)kind;
    expr->pos = pos;
    expr->builtin = -1;
    expr->depth = 1;
    expr->type = TY(ERROR);
    return expr;
}

/* From its children; refuses too deep trees. */
static void set_depth(lang_context *context, lang_expr *expr)
{
    uint16_t depth = 0;
    const lang_expr *children[3] = {expr->a, expr->b, expr->c};
    for (int i = 0; i < 3; i++) {
        if (children[i] && children[i]->depth > depth)
            depth = children[i]->depth;
    }
    for (uint32_t i = 0; i < expr->arg_count; i++)
        depth = expr->args[i]->depth > depth ? expr->args[i]->depth : depth;
    for (uint32_t i = 0; i < expr->items.count; i++)
        depth =
            expr->items.items[i].value->depth > depth ? expr->items.items[i].value->depth : depth;
    expr->depth = (uint16_t)(depth + 1);
    if (depth >= LANG_MAX_TREE_DEPTH) {
        ls__lang_report(context, expr->pos, D_NESTING);
        ls__lang_stop(context);
    }
}

static lang_expr *make(lang_parser *p, lang_expr_kind kind, lang_pos pos, uint8_t op, lang_expr *a,
                       lang_expr *b)
{
    lang_expr *expr = new_expr(p->context, kind, pos);
    expr->op = op;
    expr->a = a;
    expr->b = b;
    set_depth(p->context, expr);
    return expr;
}

static lang_expr *constant(lang_parser *p, lang_pos pos, lang_type *type, uint64_t bits)
{
    lang_expr *expr = new_expr(p->context, EXPR_CONST, pos);
    expr->type = type;
    expr->bits = bits;
    expr->is_constant = true;
    expr->is_integer_constant = lang_is_integer(type);
    return expr;
}

static lang_expr *bad_primary(lang_parser *p)
{
    const lang_token *token = ls__lang_peek(p, 0);
    if (token->kind == TOK_STRING)
        ls__lang_panic(p, token->pos, D_STRING, "");
    else if (token->kind >= TOK_AUTO && token->kind < TOK_COUNT)
        ls__lang_panic(p, token->pos, D_NOT_IN_LANGUAGE,
                       ls__lang_token_text((lang_token_kind)token->kind));
    else
        ls__lang_panic(p, token->pos, D_EXPECTED_EXPRESSION, ls__lang_describe(p, token));
    return new_expr(p->context, EXPR_CONST, token->pos);
}

static lang_expr *primary(lang_parser *p)
{
    const lang_token *token = ls__lang_peek(p, 0);
    lang_type *type;
    switch (token->kind) {
    case TOK_NAME: {
        p->at++;
        lang_expr *expr = new_expr(p->context, EXPR_NAME, token->pos);
        expr->name = token->u.name;
        return expr;
    }
    case TOK_NUMBER: {
        p->at++;
        uint64_t bits = ls__lang_number(p->context, token, &type);
        return constant(p, token->pos, type, bits);
    }
    case TOK_CHARACTER:
        p->at++;
        return constant(p, token->pos, TY(I32), (uint32_t)ls__lang_character(p->context, token));
    case TOK_TRUE:
    case TOK_FALSE: /* as macros of stdbool.h: of type int */
        p->at++;
        return constant(p, token->pos, TY(I32), token->kind == TOK_TRUE);
    case TOK_LEFT_PAREN: {
        p->at++;
        lang_expr *expr = ls__lang_parse_expr(p);
        ls__lang_expect(p, TOK_RIGHT_PAREN);
        return expr;
    }
    default:
        return bad_primary(p);
    }
}

static lang_expr *call(lang_parser *p, lang_expr *callee)
{
    LS__VEC(lang_expr *) args = {0};
    while (!ls__lang_at(p, TOK_RIGHT_PAREN) && !p->panic) {
        lang_expr *arg = parse_assignment(p);
        ls__vec_push(&p->context->arena, &args, arg);
        if (!ls__lang_accept(p, TOK_COMMA))
            break;
    }
    ls__lang_expect(p, TOK_RIGHT_PAREN);
    if (callee->kind != EXPR_NAME) {
        ls__lang_panic(p, callee->pos, D_CALLEE, "");
        return callee;
    }
    lang_expr *expr = new_expr(p->context, EXPR_CALL, callee->pos);
    expr->name = callee->name;
    expr->args = args.items;
    expr->arg_count = args.count;
    set_depth(p->context, expr);
    return expr;
}

static lang_expr *member(lang_parser *p, lang_expr *a, bool is_arrow)
{
    const lang_token *token = ls__lang_peek(p, 0);
    if (!ls__lang_expect(p, TOK_NAME))
        return a;
    lang_expr *expr = make(p, EXPR_MEMBER, token->pos, 0, a, NULL);
    expr->name = token->u.name;
    expr->is_arrow = is_arrow;
    return expr;
}

static lang_expr *postfix(lang_parser *p, lang_expr *expr)
{
    while (!p->panic) {
        lang_pos pos = ls__lang_peek(p, 0)->pos;
        if (ls__lang_accept(p, TOK_LEFT_BRACKET)) {
            lang_expr *index = ls__lang_parse_expr(p);
            ls__lang_expect(p, TOK_RIGHT_BRACKET);
            expr = make(p, EXPR_INDEX, pos, 0, expr, index);
        } else if (ls__lang_accept(p, TOK_LEFT_PAREN)) {
            expr = call(p, expr);
        } else if (ls__lang_accept(p, TOK_DOT)) {
            expr = member(p, expr, false);
        } else if (ls__lang_accept(p, TOK_ARROW)) {
            expr = member(p, expr, true);
        } else if (ls__lang_at(p, TOK_INCREMENT) || ls__lang_at(p, TOK_DECREMENT)) {
            expr = make(p, EXPR_STEP, pos, ls__lang_peek(p, 0)->kind, expr, NULL);
            expr->is_postfix = true;
            p->at++;
        } else {
            break;
        }
    }
    return expr;
}

static lang_expr *unary(lang_parser *p);

/* At '(' before a type: a cast, or a compound literal. */
static lang_expr *cast(lang_parser *p)
{
    lang_pos pos = ls__lang_peek(p, 0)->pos;
    p->at++;
    lang_declarator *declarator;
    lang_spec *spec = ls__lang_parse_type_name(p, &declarator);
    ls__lang_expect(p, TOK_RIGHT_PAREN);
    bool is_compound = ls__lang_at(p, TOK_LEFT_BRACE);
    lang_expr *inner = is_compound ? ls__lang_parse_initializer(p) : unary(p);
    lang_expr *expr = make(p, is_compound ? EXPR_COMPOUND : EXPR_CAST, pos, 0, inner, NULL);
    expr->spec = spec;
    expr->declarator = declarator;
    return is_compound ? postfix(p, expr) : expr;
}

static lang_expr *size_of(lang_parser *p)
{
    lang_expr *expr = new_expr(p->context, EXPR_SIZEOF, ls__lang_peek(p, 0)->pos);
    p->at++;
    if (ls__lang_at(p, TOK_LEFT_PAREN) && ls__lang_starts_type(p, 1)) {
        p->at++;
        expr->spec = ls__lang_parse_type_name(p, &expr->declarator);
        ls__lang_expect(p, TOK_RIGHT_PAREN);
    } else {
        expr->a = unary(p);
        set_depth(p->context, expr);
    }
    return expr;
}

static lang_expr *unary_inner(lang_parser *p)
{
    lang_pos pos = ls__lang_peek(p, 0)->pos;
    uint8_t kind = ls__lang_peek(p, 0)->kind;
    switch (kind) {
    case TOK_INCREMENT:
    case TOK_DECREMENT:
        p->at++;
        return make(p, EXPR_STEP, pos, kind, unary(p), NULL);
    case TOK_PLUS:
    case TOK_MINUS:
    case TOK_TILDE:
    case TOK_NOT:
    case TOK_STAR:
    case TOK_AND:
        p->at++;
        return make(p, EXPR_UNARY, pos, kind, unary(p), NULL);
    case TOK_SIZEOF:
        return size_of(p);
    case TOK_LEFT_PAREN:
        if (ls__lang_starts_type(p, 1))
            return cast(p);
        return postfix(p, primary(p));
    default:
        return postfix(p, primary(p));
    }
}

static lang_expr *unary(lang_parser *p)
{
    ls__lang_enter(p);
    lang_expr *expr = unary_inner(p);
    p->depth--;
    return expr;
}

static int precedence(uint8_t kind)
{
    switch (kind) {
    case TOK_STAR:
    case TOK_SLASH:
    case TOK_PERCENT:
        return 10;
    case TOK_PLUS:
    case TOK_MINUS:
        return 9;
    case TOK_SHL:
    case TOK_SHR:
        return 8;
    case TOK_LESS:
    case TOK_LESS_EQUAL:
    case TOK_GREATER:
    case TOK_GREATER_EQUAL:
        return 7;
    case TOK_EQUAL:
    case TOK_NOT_EQUAL:
        return 6;
    case TOK_AND:
        return 5;
    case TOK_XOR:
        return 4;
    case TOK_OR:
        return 3;
    case TOK_AND_AND:
        return 2;
    case TOK_OR_OR:
        return 1;
    default:
        return 0;
    }
}

/* Operators of at least `least`; recursion is at most one level per precedence. */
static lang_expr *binary(lang_parser *p, int least)
{
    lang_expr *expr = unary(p);
    for (;;) {
        const lang_token *token = ls__lang_peek(p, 0);
        int level = precedence(token->kind);
        if (level == 0 || level < least || p->panic)
            return expr;
        p->at++;
        lang_expr *right = binary(p, level + 1);
        expr = make(p, EXPR_BINARY, token->pos, token->kind, expr, right);
    }
}

lang_expr *ls__lang_parse_conditional(lang_parser *p)
{
    ls__lang_enter(p);
    lang_expr *expr = binary(p, 1);
    lang_pos pos = ls__lang_peek(p, 0)->pos;
    if (!p->panic && ls__lang_accept(p, TOK_QUESTION)) {
        lang_expr *yes = ls__lang_parse_expr(p);
        ls__lang_expect(p, TOK_COLON);
        lang_expr *no = ls__lang_parse_conditional(p);
        expr = make(p, EXPR_CHOICE, pos, TOK_QUESTION, expr, yes);
        expr->c = no;
        set_depth(p->context, expr);
    }
    p->depth--;
    return expr;
}

/* Without commas. */
static lang_expr *parse_assignment(lang_parser *p)
{
    ls__lang_enter(p);
    lang_expr *expr = ls__lang_parse_conditional(p);
    const lang_token *token = ls__lang_peek(p, 0);
    bool is_compound = token->kind == TOK_SHL_ASSIGN || token->kind == TOK_SHR_ASSIGN ||
                       (token->kind >= TOK_MUL_ASSIGN && token->kind <= TOK_OR_ASSIGN);
    if (!p->panic && (is_compound || token->kind == TOK_ASSIGN)) {
        p->at++;
        lang_expr *value = parse_assignment(p);
        expr = make(p, EXPR_ASSIGN, token->pos, token->kind, expr, value);
    }
    p->depth--;
    return expr;
}

lang_expr *ls__lang_parse_expr(lang_parser *p)
{
    lang_expr *expr = parse_assignment(p);
    while (!p->panic && ls__lang_at(p, TOK_COMMA)) {
        lang_pos pos = ls__lang_peek(p, 0)->pos;
        p->at++;
        expr = make(p, EXPR_COMMA, pos, TOK_COMMA, expr, parse_assignment(p));
    }
    return expr;
}

static lang_item list_item(lang_parser *p)
{
    lang_item item = {.pos = ls__lang_peek(p, 0)->pos};
    if (ls__lang_accept(p, TOK_DOT)) {
        const lang_token *token = ls__lang_peek(p, 0);
        if (ls__lang_expect(p, TOK_NAME))
            item.member = token->u.name;
    } else if (ls__lang_accept(p, TOK_LEFT_BRACKET)) {
        item.index = ls__lang_parse_conditional(p);
        ls__lang_expect(p, TOK_RIGHT_BRACKET);
    }
    if (item.member || item.index)
        ls__lang_expect(p,
                        TOK_ASSIGN); /* one designator: nested ones are written as nested braces */
    item.value = ls__lang_parse_initializer(p);
    return item;
}

lang_expr *ls__lang_parse_initializer(lang_parser *p)
{
    lang_pos pos = ls__lang_peek(p, 0)->pos;
    if (!ls__lang_accept(p, TOK_LEFT_BRACE))
        return parse_assignment(p);
    ls__lang_enter(p);
    lang_expr *list = new_expr(p->context, EXPR_LIST, pos);
    while (!ls__lang_at(p, TOK_RIGHT_BRACE) && !p->panic) {
        lang_item item = list_item(p);
        ls__vec_push(&p->context->arena, &list->items, item);
        if (!ls__lang_accept(p, TOK_COMMA))
            break;
    }
    if (list->items.count == 0)
        ls__lang_expected(p, "a value");
    ls__lang_expect(p, TOK_RIGHT_BRACE);
    set_depth(p->context, list);
    p->depth--;
    return list;
}
