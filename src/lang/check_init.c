/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of initialisers: C11's rules for lists, with braces left out of inner aggregates and
 * one-step designators. The result is flat: values for byte offsets, in order; a later one
 * overrides an earlier one.
 */
#include "lang/check.h"

typedef struct initializer {
    lang_checker *c;
    LS__VEC(lang_store) stores;
    uint64_t leaves;     /* scalars given a value */
    bool has_designator; /* then `leaves` may count some twice */
} initializer;

static void init_object(initializer *in, lang_type *type, uint32_t offset, lang_item *item);

static void add(initializer *in, lang_type *type, uint32_t offset, lang_expr *value)
{
    lang_store store = {offset, type, value};
    in->leaves += type->leaf_count;
    ls__vec_push(&in->c->context->arena, &in->stores, store);
}

static lang_expr *checked(initializer *in, lang_item *item)
{
    if (!item->is_checked)
        item->value = ls__lang_check_value(in->c, item->value);
    item->is_checked = true;
    return item->value;
}

static bool is_aggregate(const lang_type *type)
{
    return type->kind == TYPE_ARRAY || type->kind == TYPE_STRUCT;
}

static const char *type_text(initializer *in, const lang_type *type)
{
    return ls__lang_type_text(in->c->context, type, false);
}

/* Parts of an aggregate: elements or members; the index says which. */
static uint64_t part_count(const lang_type *type)
{
    if (type->kind == TYPE_STRUCT)
        return type->member_count;
    return type->is_complete ? type->count : UINT64_MAX;
}

static lang_type *part(const lang_type *type, uint64_t index, uint32_t *offset)
{
    if (type->kind == TYPE_STRUCT) {
        *offset += type->members[index].offset;
        return type->members[index].type;
    }
    *offset += (uint32_t)index * type->target->size;
    return type->target;
}

/* The part a designator names; false after a report. */
static bool designated(initializer *in, const lang_type *type, lang_item *item, uint64_t *index)
{
    lang_context *context = in->c->context;
    in->has_designator = true;
    if (item->member && type->kind == TYPE_STRUCT) {
        const lang_member *member = ls__lang_member_find(type, item->member);
        if (!member) {
            ls__lang_report(context, item->pos, D_NO_MEMBER, type_text(in, type),
                            LS__STR_ARG(item->member->text));
            return false;
        }
        *index = (uint64_t)(member - type->members);
        return true;
    }
    int64_t value = 0;
    if (item->index && type->kind == TYPE_ARRAY) {
        if (!ls__lang_check_constant(in->c, &item->index, &value))
            return false;
        if (value >= 0 && (uint64_t)value < part_count(type)) {
            *index = (uint64_t)value;
            return true;
        }
    }
    ls__lang_report(context, item->pos, D_INIT_DESIGNATOR, type_text(in, type));
    return false;
}

/* Takes values from `list` at *at for the parts of `type`. With `is_braced` the list belongs to
 * this object and must be used up; else its braces were left out and what is left over belongs to
 * the object around it. Gives the number of elements an array needs. */
static uint64_t init_parts(initializer *in, lang_type *type, uint32_t offset, lang_expr *list,
                           uint32_t *at, bool is_braced)
{
    uint64_t index = 0, used = 0;
    uint32_t start = *at;
    while (*at < list->items.count) {
        lang_item *item = &list->items.items[*at];
        bool has_designator = item->member || item->index;
        if (has_designator && !is_braced) { /* the first one led here; a later one is for the list */
            if (*at != start)
                break;
            has_designator = false;
        }
        if (has_designator && !designated(in, type, item, &index))
            return used;
        if (index >= part_count(type)) {
            if (is_braced)
                ls__lang_report(in->c->context, item->pos, D_INIT_TOO_MANY, type_text(in, type));
            return used;
        }
        uint64_t end = type->kind == TYPE_ARRAY ? (index + 1) * type->target->size : 0;
        if (end > LANG_MAX_OBJECT_BYTES) {
            ls__lang_report(in->c->context, item->pos, D_TYPE_TOO_LARGE);
            return used;
        }
        uint32_t part_offset = offset;
        lang_type *part_type = part(type, index, &part_offset);
        index++;
        used = index > used ? index : used;
        if (item->value->kind != EXPR_LIST && is_aggregate(part_type)) {
            const lang_expr *value = checked(in, item);
            if (value->type->kind != TYPE_ERROR && value->type != part_type) {
                init_parts(in, part_type, part_offset, list, at, false);
                continue;
            }
        }
        init_object(in, part_type, part_offset, item);
        (*at)++;
    }
    return used;
}

static void init_object(initializer *in, lang_type *type, uint32_t offset, lang_item *item)
{
    lang_expr *value = item->value;
    if (value->kind == EXPR_LIST) {
        if (is_aggregate(type)) {
            uint32_t at = 0;
            init_parts(in, type, offset, value, &at, true);
            return;
        }
        lang_item *inner = &value->items.items[0];
        if (value->items.count > 1 || inner->member || inner->index ||
            inner->value->kind == EXPR_LIST) {
            ls__lang_report(in->c->context, value->pos, D_INIT_TOO_MANY, type_text(in, type));
            return;
        }
        init_object(in, type, offset, inner);
        return;
    }
    value = checked(in, item);
    if (value->type->kind == TYPE_ERROR)
        return;
    if (type->kind == TYPE_ARRAY) {
        ls__lang_report(in->c->context, value->pos, D_INIT_BRACES, type_text(in, type));
        return;
    }
    item->value = ls__lang_assign_convert(in->c, value, type);
    add(in, type, offset, item->value);
}

lang_init *ls__lang_check_init(lang_checker *c, lang_type **type, lang_expr *expr)
{
    initializer in = {.c = c};
    lang_item item = {.value = expr, .pos = expr->pos};
    if (!(*type)->is_complete &&
        expr->kind == EXPR_LIST) { /* an array whose length the list gives */
        uint32_t at = 0;
        uint64_t used = init_parts(&in, *type, 0, expr, &at, true);
        lang_type *closed =
            used ? ls__lang_array_of(c->context, (*type)->target, (uint32_t)used) : NULL;
        *type = closed ? closed : TY(ERROR);
    } else {
        init_object(&in, *type, 0, &item);
    }
    lang_init *init = LS__NEW(&c->context->arena, lang_init);
    init->stores = in.stores.items;
    init->store_count = in.stores.count;
    init->is_complete = !in.has_designator && in.leaves >= (*type)->leaf_count;
    return init;
}
