/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of statements. Nothing is emitted behind a jump in the same region. A return inside
 * loops or switches of an inlined function sets a variable and leaves them one by one.
 */
#include "lang/lower.h"

static void lower_stmt(lang_lower *l, lang_stmt *stmt);

/* --- declarations --------------------------------------------------------------------- */
static const char *name_of(lang_lower *l, const lang_symbol *symbol)
{
    return ls__arena_strdup(&l->context->arena, symbol->name->text.text, symbol->name->text.length);
}

static void declare_shared(lang_lower *l, lang_symbol *symbol)
{
    ls__lang_check_bytes(l, &l->shared_bytes, symbol->type->size, 64u << 10,
                         "bytes of shared memory", symbol->pos);
    ls_base base = ls__ir_shared_add(l->cursor.function, name_of(l, symbol), symbol->type->size,
                                     symbol->type->alignment);
    symbol->binding =
        (lang_binding){.home = HOME_MEMORY, .base = base, .offset = {.is_known = true}};
}

static void declare_pointer(lang_lower *l, lang_symbol *symbol, const lang_declarator *d)
{
    if (d->checked && d->checked->store_count == 1) {
        lang_value value = ls__lang_lower_value(l, d->checked->stores[0].value);
        ls__lang_bind_value(l, symbol, &value);
        return;
    }
    ls_var *var = LS__NEW(&l->context->arena, ls_var);
    *var = ls__ir_var_add(l->cursor.function, name_of(l, symbol), LS_TYPE_I64);
    symbol->binding = (lang_binding){.home = HOME_POINTER, .vars = var};
}

static void declare_local(lang_lower *l, lang_symbol *symbol, const lang_declarator *d)
{
    const lang_init *init = d->checked;
    if (symbol->type->kind == TYPE_POINTER) {
        declare_pointer(l, symbol, d);
        return;
    }
    /* One value for the whole: `f32 x = ...;` or `struct s a = b;` */
    if (init && init->store_count == 1 && init->stores[0].type == symbol->type) {
        lang_value value = ls__lang_lower_value(l, init->stores[0].value);
        ls__lang_at_pos(l, symbol->pos);
        ls__lang_bind_value(l, symbol, &value);
        return;
    }
    if (init && lang_is_small(symbol->type)) {
        lang_value value = ls__lang_init_value(l, symbol->type, init);
        ls__lang_at_pos(l, symbol->pos);
        ls__lang_bind_value(l, symbol, &value);
        return;
    }
    lang_place place = ls__lang_new_place(l, symbol->type, name_of(l, symbol),
                                          symbol->is_address_taken, symbol->pos);
    ls__lang_bind_place(symbol, &place);
    if (init)
        ls__lang_lower_init(l, &place, init);
    else if (l->loops >
             0) /* a new variable is 0, also the next time around; elsewhere it is 0 already */
        ls__lang_store_unset(l, &place);
}

static void lower_declaration(lang_lower *l, const lang_declaration *d)
{
    for (uint32_t i = 0; i < d->declarators.count; i++) {
        lang_symbol *symbol = d->declarators.items[i]->symbol;
        if (!symbol)
            continue;
        ls__lang_at_pos(l, symbol->pos);
        if (symbol->storage == STORAGE_SHARED)
            declare_shared(l, symbol);
        else if (symbol->storage == STORAGE_LOCAL)
            declare_local(l, symbol, d->declarators.items[i]);
    }
}

/* --- branches ------------------------------------------------------------------------- */
static void lower_if(lang_lower *l, lang_stmt *stmt)
{
    if (stmt->value->is_constant) {
        lang_stmt *taken = ls__lang_constant_truth(stmt->value) ? stmt->body : stmt->other;
        if (taken)
            lower_stmt(l, taken);
        return;
    }
    ls_value condition = ls__lang_lower_condition(l, stmt->value);
    ls__lang_at_pos(l, stmt->pos);
    ls__ir_inst *branch = ls__ir_if(&l->cursor, condition);
    lang_stmt *sides[2] = {stmt->body, stmt->other};
    bool are_dead = true;
    for (int i = 0; i < 2; i++) {
        lang_region outside = ls__lang_region_open(l, branch->regions[i]);
        if (sides[i])
            lower_stmt(l, sides[i]);
        are_dead &= l->is_dead;
        ls__lang_region_close(l, outside);
    }
    l->is_dead = are_dead;
}

/* Behind a loop or switch of an inlined function that a return may have left: goes on leaving. */
static void leave_when_returned(lang_lower *l, const lang_stmt *stmt)
{
    const lang_frame *frame = l->frame;
    if (!frame->is_inlined || frame->is_simple || !stmt->has_return || l->is_dead)
        return;
    ls__ir_inst *branch = ls__ir_if(&l->cursor, ls__ir_get(&l->cursor, frame->returned));
    lang_region outside = ls__lang_region_open(l, branch->regions[0]);
    ls__lang_jump(l, LS_OP_BREAK);
    ls__lang_region_close(l, outside);
}

/* --- loops ---------------------------------------------------------------------------- */
static void leave_unless(lang_lower *l, lang_expr *condition)
{
    ls_value value = ls__lang_lower_condition(l, condition);
    ls__lang_at_pos(l, condition->pos);
    ls__ir_inst *branch = ls__ir_if(&l->cursor, ls__ir_emit1(&l->cursor, LS_OP_NOT, value));
    lang_region outside = ls__lang_region_open(l, branch->regions[0]);
    ls__lang_jump(l, LS_OP_BREAK);
    ls__lang_region_close(l, outside);
}

static void lower_step_region(lang_lower *l, lang_stmt *stmt)
{
    if (stmt->step)
        ls__lang_lower_discard(l, stmt->step);
    if (stmt->kind == STMT_DO &&
        !(stmt->value->is_constant && ls__lang_constant_truth(stmt->value))) {
        ls_value again = ls__lang_lower_condition(l, stmt->value);
        ls__lang_at_pos(l, stmt->value->pos);
        ls__ir_insert(&l->cursor, LS_OP_WHILE, LS_TYPE_VOID, &again, 1);
    }
}

static void lower_loop(lang_lower *l, lang_stmt *stmt)
{
    lang_expr *condition = stmt->kind == STMT_DO ? NULL : stmt->value;
    if (stmt->first)
        lower_stmt(l, stmt->first);
    if (condition && condition->is_constant) {
        if (!ls__lang_constant_truth(condition))
            return;
        condition = NULL;
    }
    ls__lang_at_pos(l, stmt->pos);
    ls__ir_inst *loop = ls__ir_loop(&l->cursor);
    l->frame->nest++;
    l->loops++;
    lang_region outside = ls__lang_region_open(l, loop->regions[0]);
    if (condition)
        leave_unless(l, condition);
    lower_stmt(l, stmt->body);
    ls__lang_region_close(l, outside);
    outside = ls__lang_region_open(l, loop->regions[1]);
    lower_step_region(l, stmt);
    ls__lang_region_close(l, outside);
    l->loops--;
    l->frame->nest--;
    leave_when_returned(l, stmt);
}

/* --- switch --------------------------------------------------------------------------- */
static void lower_group(lang_lower *l, const lang_group *group, ls__ir_region *region)
{
    lang_region outside = ls__lang_region_open(l, region);
    uint32_t count = group->stmts.count;
    if (count > 0 && group->stmts.items[count - 1]->kind == STMT_BREAK)
        count--; /* the end of the region leaves the switch as well */
    ls__lang_lower_stmts(l, group->stmts.items, count);
    ls__lang_region_close(l, outside);
}

static void lower_switch(lang_lower *l, lang_stmt *stmt)
{
    ls__arena *arena = &l->context->arena;
    LS__VEC(int64_t) values = {0};
    LS__VEC(uint32_t) sizes = {0};
    ls_value value = ls__lang_lower_scalar(l, stmt->value);
    for (uint32_t i = 0; i < stmt->groups.count; i++) {
        const lang_group *group = &stmt->groups.items[i];
        if (group->has_default)
            continue; /* its other labels go to the default as well */
        for (uint32_t k = 0; k < group->values.count; k++) {
            uint64_t bits = group->values.items[k]->bits;
            int64_t v = stmt->value->type->size == 8 ? (int64_t)bits : (int32_t)bits;
            ls__vec_push(arena, &values, v);
        }
        ls__vec_push(arena, &sizes, group->values.count);
    }
    ls__lang_at_pos(l, stmt->pos);
    ls__ir_inst *inst = ls__ir_switch(&l->cursor, value, values.items, sizes.items, sizes.count);
    l->frame->nest++;
    uint32_t next = 0;
    for (uint32_t i = 0; i < stmt->groups.count; i++) {
        const lang_group *group = &stmt->groups.items[i];
        lower_group(l, group, inst->regions[group->has_default ? sizes.count : next++]);
    }
    l->frame->nest--;
    leave_when_returned(l, stmt);
}

/* --- return --------------------------------------------------------------------------- */
/* Of a kernel or noinline function: the lane or the call ends. */
static void lower_outer_return(lang_lower *l, lang_stmt *stmt)
{
    ls_value results[LANG_SMALL_LEAVES];
    uint32_t count = 0;
    if (stmt->value) {
        lang_value value = ls__lang_lower_value(l, stmt->value);
        for (; count < value.type->leaf_count; count++)
            results[count] = value.kind == VALUE_LEAVES ? value.leaves[count] : value.scalar;
    }
    ls__lang_at_pos(l, stmt->pos);
    ls__ir_insert(&l->cursor, LS_OP_RETURN, LS_TYPE_VOID, results, count);
    l->is_dead = true;
}

static void lower_return(lang_lower *l, lang_stmt *stmt)
{
    lang_frame *frame = l->frame;
    if (!frame->is_inlined) {
        lower_outer_return(l, stmt);
        return;
    }
    lang_value value = {0};
    if (stmt->value)
        value = ls__lang_lower_value(l, stmt->value);
    ls__lang_at_pos(l, stmt->pos);
    bool is_stored = stmt->value && (!frame->is_simple || frame->result.home != HOME_NONE);
    if (is_stored)
        ls__lang_store(l, &frame->result, &value, stmt->pos);
    if (frame->is_simple) {
        frame->simple_result = value;
        frame->has_result = true;
        l->is_dead = true; /* it was the last statement */
        return;
    }
    if (frame->nest > 0)
        ls__ir_set(&l->cursor, frame->returned, ls__ir_const_bool(&l->cursor, true));
    if (l->cursor.region == frame->body)
        l->is_dead = true; /* the end of the block is where the break would go */
    else
        ls__lang_jump(l, LS_OP_BREAK);
}

/* --- all ------------------------------------------------------------------------------ */
static void lower_stmt(lang_lower *l, lang_stmt *stmt)
{
    if (l->is_dead)
        return;
    ls__lang_at_pos(l, stmt->pos);
    switch ((lang_stmt_kind)stmt->kind) {
    case STMT_EMPTY:
        break;
    case STMT_EXPR:
        ls__lang_lower_discard(l, stmt->value);
        break;
    case STMT_DECL:
        lower_declaration(l, stmt->declaration);
        break;
    case STMT_BLOCK:
        ls__lang_lower_stmts(l, stmt->stmts.items, stmt->stmts.count);
        break;
    case STMT_IF:
        lower_if(l, stmt);
        break;
    case STMT_FOR:
    case STMT_WHILE:
    case STMT_DO:
        lower_loop(l, stmt);
        break;
    case STMT_SWITCH:
        lower_switch(l, stmt);
        break;
    case STMT_BREAK:
        ls__lang_jump(l, LS_OP_BREAK);
        break;
    case STMT_CONTINUE:
        ls__lang_jump(l, LS_OP_CONTINUE);
        break;
    case STMT_RETURN:
        lower_return(l, stmt);
        break;
    }
}

void ls__lang_lower_stmts(lang_lower *l, lang_stmt **stmts, uint32_t count)
{
    for (uint32_t i = 0; i < count && !l->is_dead; i++)
        lower_stmt(l, stmts[i]);
}
