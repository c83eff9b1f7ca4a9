/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker's scopes and names, its walk over a unit, and the rules on the call graph: no
 * recursion, bounded depth, every called function has a body.
 */
#include "lang/check.h"

/* --- scopes --------------------------------------------------------------------------- */
uint32_t ls__lang_scope_enter(lang_checker *c)
{
    c->level++;
    return c->unit->undo.count;
}

void ls__lang_scope_leave(lang_checker *c, uint32_t mark)
{
    c->level--;
    while (c->unit->undo.count > mark) {
        lang_undo undo = c->unit->undo.items[--c->unit->undo.count];
        if (undo.is_tag)
            undo.name->tag = undo.symbol;
        else
            undo.name->symbol = undo.symbol;
    }
}

lang_symbol *ls__lang_declare(lang_checker *c, lang_name *name, lang_pos pos, lang_symbol_kind kind,
                              lang_type *type)
{
    lang_symbol *before = name->symbol;
    if (before && before->level == c->level) {
        ls__lang_report(c->context, pos, D_REDECLARED, LS__STR_ARG(name->text), before->pos.line);
        return NULL;
    }
    if (name->builtin >= 0 && (kind == SYM_FUNCTION || kind == SYM_TYPE)) {
        ls__lang_report(c->context, pos, D_BUILTIN_NAME, LS__STR_ARG(name->text));
        return NULL;
    }
    lang_symbol *symbol = LS__NEW(&c->context->arena, lang_symbol);
    symbol->kind = (uint8_t)kind;
    symbol->level = (uint16_t)c->level;
    symbol->name = name;
    symbol->pos = pos;
    symbol->type = type;
    lang_undo undo = {.name = name, .symbol = before};
    ls__vec_push(&c->context->arena, &c->unit->undo, undo);
    name->symbol = symbol;
    return symbol;
}

/* --- the nearest name ----------------------------------------------------------------- */
enum { NEAR_LENGTH = 40 };

static uint32_t edit_distance(ls__str a, ls__str b)
{
    uint32_t row[NEAR_LENGTH + 1];
    for (uint32_t j = 0; j <= b.length; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= a.length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b.length; j++) {
            uint32_t change = diagonal + (a.text[i - 1] != b.text[j - 1]);
            diagonal = row[j];
            uint32_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < best ? change : best;
        }
    }
    return row[b.length];
}

void ls__lang_report_unknown(lang_checker *c, lang_pos pos, const lang_name *name)
{
    ls__lang_report(c->context, pos, D_UNKNOWN_NAME, LS__STR_ARG(name->text));
    if (name->text.length > NEAR_LENGTH)
        return;
    const lang_name *best = NULL;
    uint32_t best_distance = name->text.length < 3 ? 2 : name->text.length < 6 ? 3 : 4;
    for (uint32_t i = 0; i < c->unit->bucket_count; i++) {
        for (const lang_name *n = c->unit->buckets[i]; n; n = n->next) {
            if ((!n->symbol && n->builtin < 0) || n->text.length > NEAR_LENGTH)
                continue;
            uint32_t distance = edit_distance(name->text, n->text);
            bool is_better = distance < best_distance ||
                             (distance == best_distance && best && n->hash < best->hash);
            if (is_better) { /* the hash only makes the choice between equals a fixed one */
                best = n;
                best_distance = distance;
            }
        }
    }
    if (best)
        ls__lang_hint(c->context, "did you mean '%.*s'?", LS__STR_ARG(best->text));
}

/* --- the call graph ------------------------------------------------------------------- */
enum { UNSEEN, ON_PATH, DONE };

static void visit_calls(lang_context *context, lang_function *f, uint32_t depth)
{
    f->visit = ON_PATH;
    for (uint32_t i = 0; i < f->calls.count; i++) {
        lang_function *callee = f->calls.items[i].callee;
        lang_pos pos = f->calls.items[i].pos;
        ls__str name = callee->symbol->name->text;
        if (!callee->is_defined) {
            ls__lang_report(context, pos, D_FUNCTION_UNDEFINED, LS__STR_ARG(name));
            callee->is_defined = true; /* once is enough */
        }
        if (callee->visit == ON_PATH) {
            ls__lang_report(context, pos, D_RECURSION, LS__STR_ARG(name));
            continue;
        }
        if (callee->visit == UNSEEN && depth < LANG_MAX_CALL_DEPTH)
            visit_calls(context, callee, depth + 1);
        uint32_t below = callee->call_depth + 1;
        if (depth >= LANG_MAX_CALL_DEPTH || below > LANG_MAX_CALL_DEPTH) {
            ls__lang_report(context, pos, D_CALL_DEPTH);
            ls__lang_stop(context);
        }
        f->call_depth = below > f->call_depth ? below : f->call_depth;
    }
    f->visit = DONE;
}

void ls__lang_check(lang_unit *unit, const lang_declarations *declarations)
{
    lang_checker c = {.unit = unit, .context = unit->context};
    for (uint32_t i = 0; i < declarations->count; i++)
        ls__lang_check_declaration(&c, declarations->items[i]);
    if (unit->is_library)
        return; /* its functions are visited from the user's */
    for (uint32_t i = 0; i < unit->context->functions.count; i++) {
        if (unit->context->functions.items[i]->visit == UNSEEN)
            visit_calls(unit->context, unit->context->functions.items[i], 0);
    }
}
