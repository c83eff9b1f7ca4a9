/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of places: offsets, reading and writing of variables, memory and structs, and the homes
 * that variables of the program get. Structs are copied leaf by leaf, so padding is never written;
 * arrays of more than COPY_UNROLL elements are copied by a loop.
 */
#include "ir/limits.h"
#include "lang/lower.h"

enum { COPY_UNROLL = 16 };

/* --- offsets -------------------------------------------------------------------------- */
ls_value ls__lang_offset_value(lang_lower *l, lang_offset offset)
{
    return offset.is_known ? ls__ir_const_i64(&l->cursor, offset.known) : offset.value;
}

static lang_offset known(int64_t bytes)
{
    return (lang_offset){.is_known = true, .known = bytes};
}

static lang_offset offset_add(lang_lower *l, lang_offset offset, int64_t bytes)
{
    int64_t sum;
    if (bytes == 0 || (offset.is_known && offset.known == LS_NOWHERE))
        return offset;
    if (offset.is_known)
        return known(__builtin_add_overflow(offset.known, bytes, &sum) ? LS_NOWHERE : sum);
    ls_value one = ls__ir_const_i64(&l->cursor, 1);
    return (lang_offset){.value = ls__ir_index(&l->cursor, offset.value, one, (uint64_t)bytes, 0)};
}

lang_offset ls__lang_offset_index(lang_lower *l, lang_offset offset, ls_value index,
                                  uint32_t stride, uint32_t count)
{
    const ls__ir_inst *def = ls__ir_def(l->cursor.function, index);
    if (def->op == LS_OP_CONST) {
        int64_t i = (int64_t)def->imm, bytes;
        if (count != 0 && (i < 0 || i >= count))
            return known(LS_NOWHERE);
        if (offset.is_known && __builtin_mul_overflow(i, (int64_t)stride, &bytes))
            return known(LS_NOWHERE);
        if (offset.is_known)
            return offset_add(l, offset, bytes);
    }
    ls_value base = ls__lang_offset_value(l, offset);
    return (lang_offset){.value = ls__ir_index(&l->cursor, base, index, stride, count)};
}

/* An offset in a part as one in the whole. */
static lang_offset part_offset(lang_lower *l, const lang_bounded *part, lang_offset offset)
{
    int64_t bytes = (int64_t)part->count * part->stride;
    if (offset.is_known && (offset.known < 0 || offset.known >= bytes))
        return known(LS_NOWHERE);
    if (part->count == 0)
        return known(LS_NOWHERE);
    if (offset.is_known)
        return offset_add(l, part->start, offset.known);
    ls_value start = ls__lang_offset_value(l, part->start);
    const ls__ir_inst *def = ls__ir_def(l->cursor.function, offset.value);
    const ls__ir_inst *from =
        def->op == LS_OP_INDEX ? ls__ir_def(l->cursor.function, def->args[0]) : NULL;
    if (from && from->op == LS_OP_CONST && from->imm == 0 && def->imm == part->stride &&
        def->imm2 == 0) /* an element: its number is what is limited */
        return (lang_offset){
            .value = ls__ir_index(&l->cursor, start, def->args[1], part->stride, part->count)};
    return (lang_offset){.value =
                             ls__ir_index(&l->cursor, start, offset.value, 1, (uint64_t)bytes)};
}

ls_base ls__lang_reach(lang_lower *l, ls_base base, lang_offset offset, ls_value *value)
{
    while ((int)base.kind == LANG_BASE_PART) {
        const lang_bounded *part = &l->parts.items[base.index];
        offset = part_offset(l, part, offset);
        base = part->base;
    }
    *value = ls__lang_offset_value(l, offset);
    return base;
}

/* --- small values --------------------------------------------------------------------- */
lang_value ls__lang_scalar(const lang_type *type, ls_value value)
{
    return (lang_value){.kind = VALUE_SCALAR, .type = type, .scalar = value};
}

ls_value ls__lang_zero(lang_lower *l, const lang_type *type)
{
    return ls__ir_const(&l->cursor, ls__lang_value_type(type), 0);
}

lang_value ls__lang_zero_value(lang_lower *l, const lang_type *type)
{
    if (type->kind != TYPE_STRUCT)
        return ls__lang_scalar(type, ls__lang_zero(l, type));
    ls_value *leaves = LS__NEW_ARRAY(&l->context->arena, ls_value, type->leaf_count);
    uint32_t offset;
    for (uint32_t i = 0; i < type->leaf_count; i++)
        leaves[i] = ls__lang_zero(l, ls__lang_leaf(type, i, &offset));
    return (lang_value){.kind = VALUE_LEAVES, .type = type, .leaves = leaves};
}

/* --- memory to memory ----------------------------------------------------------------- */
typedef struct range { /* an object of some type in memory */
    ls_base base;
    lang_offset offset;
} range;

static void move(lang_lower *l, const lang_type *type, range to, const range *from);

static void move_element(lang_lower *l, const lang_type *array, range to, const range *from,
                         ls_value index)
{
    uint32_t stride = array->target->size;
    range element = from ? *from : to;
    to.offset = ls__lang_offset_index(l, to.offset, index, stride, 0);
    if (from)
        element.offset = ls__lang_offset_index(l, from->offset, index, stride, 0);
    move(l, array->target, to, from ? &element : NULL);
}

static void move_array(lang_lower *l, const lang_type *type, range to, const range *from)
{
    ls__ir_cursor *at = &l->cursor;
    if (type->count <= COPY_UNROLL) {
        for (uint32_t i = 0; i < type->count; i++)
            move_element(l, type, to, from, ls__ir_const_i64(at, i));
        return;
    }
    ls_var i = ls__ir_var_add(at->function, "i", LS_TYPE_I64);
    ls__ir_set(at, i, ls__ir_const_i64(at, 0));
    ls__ir_inst *loop = ls__ir_loop(at);
    lang_region outside = ls__lang_region_open(l, loop->regions[0]);
    ls_value index = ls__ir_get(at, i);
    ls_value is_end = ls__ir_emit2(at, LS_OP_SLE, ls__ir_const_i64(at, type->count), index);
    ls__ir_inst *leave = ls__ir_if(at, is_end);
    lang_region body = ls__lang_region_open(l, leave->regions[0]);
    ls__lang_jump(l, LS_OP_BREAK);
    ls__lang_region_close(l, body);
    move_element(l, type, to, from, index);
    ls__lang_region_close(l, outside);
    outside = ls__lang_region_open(l, loop->regions[1]);
    ls__ir_set(at, i, ls__ir_emit2(at, LS_OP_ADD, ls__ir_get(at, i), ls__ir_const_i64(at, 1)));
    ls__lang_region_close(l, outside);
}

static ls_value zero_or_load(lang_lower *l, const lang_type *type, const range *from)
{
    ls_value offset;
    if (!from)
        return ls__lang_zero(l, type);
    ls_base base = ls__lang_reach(l, from->base, from->offset, &offset);
    return ls__ir_load(&l->cursor, (ls_mem)type->mem, base, offset);
}

/* Copies an object, or sets it to zero when `from` is NULL. */
static void move(lang_lower *l, const lang_type *type, range to, const range *from)
{
    ls__ir_cursor *at = &l->cursor;
    if (type->kind == TYPE_ARRAY) {
        move_array(l, type, to, from);
    } else if (type->mem != LS_MEM_NONE) {
        ls_mem mem = (ls_mem)type->mem;
        ls_value offset, value = zero_or_load(l, type, from);
        ls_base base = ls__lang_reach(l, to.base, to.offset, &offset);
        ls__ir_inst *store = ls__ir_store(at, mem, base, offset, value);
        if (!from)
            store->flags = l->zero_flags;
    } else {
        for (uint32_t i = 0; i < type->member_count; i++) {
            const lang_member *member = &type->members[i];
            range inner_to = {to.base, offset_add(l, to.offset, member->offset)}, inner_from = {0};
            if (from)
                inner_from = (range){from->base, offset_add(l, from->offset, member->offset)};
            move(l, member->type, inner_to, from ? &inner_from : NULL);
        }
    }
}

/* --- load and store ------------------------------------------------------------------- */
static ls_value load_leaf(lang_lower *l, const lang_place *place, uint32_t index)
{
    if (place->home == HOME_VALUES)
        return place->values[index];
    if (place->home == HOME_VARS)
        return ls__ir_get(&l->cursor, place->vars[index]);
    uint32_t offset;
    const lang_type *leaf = ls__lang_leaf(place->type, index, &offset);
    lang_offset at = offset_add(l, place->offset, offset);
    ls_value reached;
    ls_base base = ls__lang_reach(l, place->base, at, &reached);
    return ls__ir_load(&l->cursor, (ls_mem)leaf->mem, base, reached);
}

static lang_value load_pointer(lang_lower *l, const lang_place *place)
{
    const lang_binding *binding = place->pointer;
    lang_value value = {.kind = VALUE_POINTER,
                        .type = place->type,
                        .base = binding->base,
                        .offset = binding->offset};
    if (binding->vars)
        value.offset = (lang_offset){.value = ls__ir_get(&l->cursor, binding->vars[0])};
    return value;
}

lang_value ls__lang_load(lang_lower *l, const lang_place *place)
{
    const lang_type *type = place->type;
    if (place->home == HOME_POINTER)
        return load_pointer(l, place);
    if (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY)
        return ls__lang_scalar(type, load_leaf(l, place, 0));
    if (!lang_is_small(type))
        return (lang_value){
            .kind = VALUE_MEMORY, .type = type, .base = place->base, .offset = place->offset};
    ls_value *leaves = LS__NEW_ARRAY(&l->context->arena, ls_value, type->leaf_count);
    for (uint32_t i = 0; i < type->leaf_count; i++)
        leaves[i] = load_leaf(l, place, i);
    return (lang_value){.kind = VALUE_LEAVES, .type = type, .leaves = leaves};
}

static const char *base_text(lang_lower *l, ls_base base)
{
    const ls__ir_function *f = l->cursor.function;
    const char *name = "?", *what = "memory";
    if ((int)base.kind == LANG_BASE_PART)
        return "a part of an object (ls_bounded)";
    if (base.kind == LS_BASE_BUFFER) {
        what = "buffer";
        for (uint32_t i = 0; i < f->params.count; i++) {
            if (f->params.items[i].is_pointer && f->params.items[i].buffer == base.index)
                name = f->params.items[i].name;
        }
    } else if (base.kind == LS_BASE_SHARED) {
        what = "shared";
        name = f->shared.items[base.index].name;
    } else if (base.kind == LS_BASE_LOCAL) {
        what = "local";
        name = f->locals.items[base.index].name;
    } else if (base.kind == LS_BASE_CONST) {
        what = "table";
        name = f->module->tables.items[base.index].name;
    }
    return ls__arena_printf(&l->context->arena, "%s '%s'", what, name ? name : "?");
}

static bool same_base(ls_base a, ls_base b)
{
    return a.kind == b.kind && a.index == b.index;
}

static void store_pointer(lang_lower *l, lang_binding *binding, const lang_value *value,
                          lang_pos pos)
{
    if (value->base.kind == LS_BASE_NONE)
        return; /* reported where it was read */
    if (binding->base.kind == LS_BASE_NONE)
        binding->base = value->base;
    else if (!same_base(binding->base, value->base))
        ls__lang_report(l->context, pos, D_POINTER_BASES, base_text(l, value->base),
                        base_text(l, binding->base));
    ls__ir_set(&l->cursor, binding->vars[0], ls__lang_offset_value(l, value->offset));
}

void ls__lang_store(lang_lower *l, const lang_place *place, const lang_value *value, lang_pos pos)
{
    if (place->home == HOME_POINTER) {
        store_pointer(l, place->pointer, value, pos);
        return;
    }
    if (value->kind == VALUE_MEMORY) {
        range to = {place->base, place->offset}, from = {value->base, value->offset};
        move(l, place->type, to, &from);
        return;
    }
    for (uint32_t i = 0; i < place->type->leaf_count; i++) {
        ls_value leaf = value->kind == VALUE_LEAVES ? value->leaves[i] : value->scalar;
        if (place->home == HOME_VARS) {
            ls__ir_set(&l->cursor, place->vars[i], leaf);
            continue;
        }
        uint32_t offset;
        const lang_type *type = ls__lang_leaf(place->type, i, &offset);
        lang_offset at = offset_add(l, place->offset, offset);
        ls_value reached;
        ls_base base = ls__lang_reach(l, place->base, at, &reached);
        ls__ir_store(&l->cursor, (ls_mem)type->mem, base, reached, leaf);
    }
}

void ls__lang_store_zero(lang_lower *l, const lang_place *place)
{
    if (place->home == HOME_MEMORY) {
        range to = {place->base, place->offset};
        move(l, place->type, to, NULL);
        return;
    }
    uint32_t offset;
    for (uint32_t i = 0; i < place->type->leaf_count; i++) {
        ls_value zero = ls__lang_zero(l, ls__lang_leaf(place->type, i, &offset));
        ls__ir_set(&l->cursor, place->vars[i], zero)->flags = l->zero_flags;
    }
}

void ls__lang_store_unset(lang_lower *l, const lang_place *place)
{
    l->zero_flags = LS__IR_UNSET;
    ls__lang_store_zero(l, place);
    l->zero_flags = 0;
}

/* --- parts ---------------------------------------------------------------------------- */
uint32_t ls__lang_leaf_at(const lang_type *type, uint32_t offset)
{
    uint32_t leaf = 0;
    while (type->kind == TYPE_STRUCT && type->mem == LS_MEM_NONE) {
        uint32_t i = type->member_count - 1;
        while (type->members[i].offset > offset)
            i--;
        leaf += type->members[i].first_leaf;
        offset -= type->members[i].offset;
        type = type->members[i].type;
    }
    return leaf;
}

lang_place ls__lang_part(lang_lower *l, const lang_place *place, const lang_type *type,
                         uint32_t offset)
{
    lang_place part = *place;
    part.type = type;
    if (place->home == HOME_MEMORY) {
        part.offset = offset_add(l, place->offset, offset);
        return part;
    }
    uint32_t leaf = ls__lang_leaf_at(place->type, offset);
    if (place->home == HOME_VARS)
        part.vars += leaf;
    else
        part.values += leaf;
    return part;
}

lang_place ls__lang_place_of_value(const lang_value *value)
{
    if (value->kind == VALUE_MEMORY)
        return (lang_place){
            .home = HOME_MEMORY, .type = value->type, .base = value->base, .offset = value->offset};
    const ls_value *values = value->kind == VALUE_LEAVES ? value->leaves : &value->scalar;
    return (lang_place){.home = HOME_VALUES, .type = value->type, .values = values};
}

/* --- homes ---------------------------------------------------------------------------- */
void ls__lang_check_bytes(lang_lower *l, uint64_t *total, uint64_t bytes, uint32_t limit,
                          const char *what, lang_pos pos)
{
    *total += bytes;
    if (*total > limit) {
        ls__lang_report(l->context, pos, D_MEMORY_LIMIT, (unsigned long long)*total, what,
                        (unsigned)limit);
        ls__lang_stop(l->context);
    }
}

lang_place ls__lang_new_place(lang_lower *l, const lang_type *type, const char *name,
                              bool in_memory, lang_pos pos)
{
    lang_place place = {.type = type};
    ls__ir_function *f = l->cursor.function;
    if (in_memory || type->kind == TYPE_ARRAY ||
        (type->kind == TYPE_STRUCT && !lang_is_small(type))) {
        ls__lang_check_bytes(l, &l->local_bytes, type->size, LS__IR_MAX_LOCAL_BYTES,
                             "bytes of local memory in a lane", pos);
        place.home = HOME_MEMORY;
        place.base = ls__ir_local_add(f, name, type->size, type->alignment);
        place.offset = known(0);
        return place;
    }
    ls_var *vars = LS__NEW_ARRAY(&l->context->arena, ls_var, type->leaf_count);
    uint32_t offset;
    for (uint32_t i = 0; i < type->leaf_count; i++)
        vars[i] = ls__ir_var_add(f, name, ls__lang_value_type(ls__lang_leaf(type, i, &offset)));
    place.home = HOME_VARS;
    place.vars = vars;
    return place;
}

void ls__lang_bind_place(lang_symbol *symbol, const lang_place *place)
{
    symbol->binding = (lang_binding){.home = place->home,
                                     .base = place->base,
                                     .offset = place->offset,
                                     .values = place->values,
                                     .vars = place->vars};
}

static const char *symbol_name(lang_lower *l, const lang_symbol *symbol)
{
    return ls__arena_strdup(&l->context->arena, symbol->name->text.text, symbol->name->text.length);
}

void ls__lang_bind_value(lang_lower *l, lang_symbol *symbol, const lang_value *value)
{
    const char *name = symbol_name(l, symbol);
    if (symbol->type->kind == TYPE_POINTER) {
        lang_binding binding = {.home = HOME_POINTER, .base = value->base, .offset = value->offset};
        if (symbol->is_assigned) {
            ls_var *var = LS__NEW(&l->context->arena, ls_var);
            *var = ls__ir_var_add(l->cursor.function, name, LS_TYPE_I64);
            binding.vars = var;
            ls__ir_set(&l->cursor, *var, ls__lang_offset_value(l, value->offset));
        }
        symbol->binding = binding;
        return;
    }
    bool is_immutable =
        !symbol->is_assigned && !symbol->is_address_taken && value->kind != VALUE_MEMORY;
    if (is_immutable) {
        ls_value *values = LS__NEW_ARRAY(&l->context->arena, ls_value, symbol->type->leaf_count);
        for (uint32_t i = 0; i < symbol->type->leaf_count; i++)
            values[i] = value->kind == VALUE_LEAVES ? value->leaves[i] : value->scalar;
        symbol->binding = (lang_binding){.home = HOME_VALUES, .values = values};
        return;
    }
    lang_place place =
        ls__lang_new_place(l, symbol->type, name, symbol->is_address_taken, symbol->pos);
    ls__lang_store(l, &place, value, symbol->pos);
    ls__lang_bind_place(symbol, &place);
}

lang_place ls__lang_symbol_place(lang_lower *l, lang_symbol *symbol)
{
    lang_binding *b = &symbol->binding;
    if (symbol->storage == STORAGE_TABLE && b->home == HOME_NONE) {
        ls__lang_check_bytes(l, &l->table_bytes, symbol->type->size, LS__IR_MAX_TABLE_BYTES,
                             "bytes of tables", symbol->pos);
        b->home = HOME_MEMORY;
        b->base = ls__ir_table_add(l->context->module, symbol_name(l, symbol), symbol->bytes,
                                   symbol->type->size, symbol->type->alignment);
        b->offset = known(0);
    }
    return (lang_place){.home = b->home,
                        .type = symbol->type,
                        .base = b->base,
                        .offset = b->offset,
                        .values = b->values,
                        .vars = b->vars,
                        .pointer = b};
}
