/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of expressions. Operands are evaluated from left to right; of an assignment, the
 * target's address comes first. Conditions are lowered as bool values of their own, so that
 * comparisons do not go through i32.
 */
#include "lang/lower.h"

static lang_place lower_place(lang_lower *l, lang_expr *expr);

static lang_value none(const lang_type *type)
{
    return (lang_value){.kind = VALUE_NONE, .type = type};
}

/* --- conversions ---------------------------------------------------------------------- */
static ls_value nonzero(lang_lower *l, ls_value value, const lang_type *type)
{
    ls_op op = lang_is_float(type) ? LS_OP_FNE : LS_OP_NE;
    return ls__ir_emit2(&l->cursor, op, value, ls__lang_zero(l, type));
}

ls_value ls__lang_lower_conversion(lang_lower *l, ls_value value, const lang_type *from,
                                   const lang_type *to)
{
    lang_conversion c = ls__lang_conversion(from, to);
    if (c.to_bool)
        return nonzero(l, value, from);
    for (uint32_t i = 0; i < c.count; i++) {
        bool is_sized = c.steps[i].op == LS_OP_F2S || c.steps[i].op == LS_OP_F2U;
        ls__ir_inst *inst = ls__ir_insert(&l->cursor, c.steps[i].op, c.steps[i].result, &value, 1);
        inst->imm = is_sized ? c.steps[i].imm : 0;
        value = inst->id;
    }
    return value;
}

/* --- conditions ----------------------------------------------------------------------- */
static bool is_comparison(const lang_expr *e)
{
    return e->kind == EXPR_BINARY &&
           (e->op == TOK_EQUAL || e->op == TOK_NOT_EQUAL || e->op == TOK_LESS ||
            e->op == TOK_LESS_EQUAL || e->op == TOK_GREATER || e->op == TOK_GREATER_EQUAL);
}

static bool is_logical(const lang_expr *e)
{
    return e->kind == EXPR_BINARY && (e->op == TOK_AND_AND || e->op == TOK_OR_OR);
}

/* An integer that is 0 or 1 and is best computed as a bool. */
static bool is_truth(const lang_expr *e)
{
    while (e->kind == EXPR_CAST && lang_is_integer(e->type))
        e = e->a;
    return e->type->kind == TYPE_BOOL || is_comparison(e) || is_logical(e) ||
           (e->kind == EXPR_UNARY && e->op == TOK_NOT);
}

/* Whether it may be computed when its value is not needed. */
static bool is_cheap(const lang_expr *e)
{
    if (e->is_constant)
        return true;
    switch ((lang_expr_kind)e->kind) {
    case EXPR_VAR:
        return lang_is_arithmetic(e->type) && e->symbol->storage != STORAGE_SHARED &&
               !e->symbol->is_address_taken;
    case EXPR_UNARY:
        return e->op != TOK_STAR && e->op != TOK_AND && is_cheap(e->a);
    case EXPR_CAST:
        return lang_is_arithmetic(e->type) && lang_is_arithmetic(e->a->type) &&
               (!lang_is_float(e->a->type) || !lang_is_integer(e->type)) && is_cheap(e->a);
    case EXPR_BINARY:
        /* Not: divisions are slow, and x / 0 and a shift by too much are reported by the sanitizer.
         */
        if (e->op == TOK_SLASH || e->op == TOK_PERCENT || !lang_is_arithmetic(e->a->type) ||
            ((e->op == TOK_SHL || e->op == TOK_SHR) && !e->b->is_constant))
            return false;
        return is_cheap(e->a) && is_cheap(e->b);
    case EXPR_CHOICE:
        return lang_is_arithmetic(e->type) && is_cheap(e->a) && is_cheap(e->b) && is_cheap(e->c);
    case EXPR_CALL: {
        if (e->builtin < 0 || e->builtin == FN_SQRT)
            return false;
        uint8_t kind = ls__lang_builtins[e->builtin].kind;
        bool is_bits = e->builtin >= FN_F32_BITS && e->builtin <= FN_F64_FROM_BITS;
        bool is_pure = kind <= BUILTIN_FLOAT2 || kind == BUILTIN_FTEST || is_bits;
        for (uint32_t i = 0; i < e->arg_count && is_pure; i++)
            is_pure = is_cheap(e->args[i]);
        return is_pure;
    }
    default:
        return false;
    }
}

static ls_value lower_logical(lang_lower *l, lang_expr *expr)
{
    ls__ir_cursor *at = &l->cursor;
    bool is_and = expr->op == TOK_AND_AND;
    if (expr->a->is_constant) /* decides nothing by itself, else expr would be constant */
        return ls__lang_lower_condition(l, expr->b);
    ls_value a = ls__lang_lower_condition(l, expr->a);
    if (is_cheap(expr->b)) {
        ls_value b = ls__lang_lower_condition(l, expr->b);
        ls__lang_at_pos(l, expr->pos);
        return ls__ir_emit2(at, is_and ? LS_OP_AND : LS_OP_OR, a, b);
    }
    ls__lang_at_pos(l, expr->pos);
    ls_var result = ls__ir_var_add(at->function, is_and ? "and" : "or", LS_TYPE_BOOL);
    ls__ir_set(at, result, a);
    ls__ir_inst *branch = ls__ir_if(at, a);
    lang_region outside = ls__lang_region_open(l, branch->regions[is_and ? 0 : 1]);
    ls__ir_set(at, result, ls__lang_lower_condition(l, expr->b));
    ls__lang_region_close(l, outside);
    return ls__ir_get(at, result);
}

/* Both pointers; reports when their bases differ or are unset. */
static bool same_objects(lang_lower *l, const lang_expr *expr, const lang_value *a,
                         const lang_value *b)
{
    if (a->base.kind == LS_BASE_NONE || b->base.kind == LS_BASE_NONE)
        return false;
    if (a->base.kind == b->base.kind && a->base.index == b->base.index)
        return true;
    ls__lang_report(l->context, expr->pos, D_OPERANDS2,
                    ls__lang_token_text((lang_token_kind)expr->op), "a pointer",
                    "one into another object");
    return false;
}

static ls_value lower_comparison(lang_lower *l, lang_expr *expr)
{
    ls_value a, b;
    const lang_type *type = expr->a->type;
    if (type->kind == TYPE_POINTER) {
        lang_value p = ls__lang_lower_value(l, expr->a), q = ls__lang_lower_value(l, expr->b);
        same_objects(l, expr, &p, &q);
        a = ls__lang_offset_value(l, p.offset);
        b = ls__lang_offset_value(l, q.offset);
        type = TY(I64);
    } else if ((expr->op == TOK_EQUAL || expr->op == TOK_NOT_EQUAL) && is_truth(expr->a) &&
               is_truth(expr->b)) {
        a = ls__lang_lower_condition(l, expr->a);
        b = ls__lang_lower_condition(l, expr->b);
        type = TY(BOOL);
    } else {
        a = ls__lang_lower_scalar(l, expr->a);
        b = ls__lang_lower_scalar(l, expr->b);
    }
    bool swap;
    ls_op op = ls__lang_binary_op(expr->op, type, &swap);
    ls__lang_at_pos(l, expr->pos);
    return ls__ir_emit2(&l->cursor, op, swap ? b : a, swap ? a : b);
}

ls_value ls__lang_lower_condition(lang_lower *l, lang_expr *expr)
{
    while (expr->kind == EXPR_CAST && !expr->is_constant &&
           (expr->type->kind == TYPE_BOOL || (lang_is_integer(expr->type) && is_truth(expr->a))))
        expr = expr->a; /* x and (bool)x are true alike */
    ls__lang_at_pos(l, expr->pos);
    if (expr->is_constant) {
        return ls__ir_const_bool(&l->cursor, ls__lang_constant_truth(expr));
    }
    if (is_logical(expr))
        return lower_logical(l, expr);
    if (is_comparison(expr))
        return lower_comparison(l, expr);
    if (expr->kind == EXPR_UNARY && expr->op == TOK_NOT)
        return ls__ir_emit1(&l->cursor, LS_OP_NOT, ls__lang_lower_condition(l, expr->a));
    bool is_bitwise = expr->kind == EXPR_BINARY &&
                      (expr->op == TOK_AND || expr->op == TOK_OR || expr->op == TOK_XOR);
    if (is_bitwise && is_truth(expr->a) && is_truth(expr->b)) {
        ls_value a = ls__lang_lower_condition(l, expr->a), b = ls__lang_lower_condition(l, expr->b);
        bool swap;
        ls__lang_at_pos(l, expr->pos);
        return ls__ir_emit2(&l->cursor, ls__lang_binary_op(expr->op, TY(I32), &swap), a, b);
    }
    ls_value value = ls__lang_lower_scalar(l, expr);
    if (expr->type->kind == TYPE_BOOL)
        return value;
    ls__lang_at_pos(l, expr->pos);
    return nonzero(l, value, expr->type);
}

/* --- arithmetic ----------------------------------------------------------------------- */
/* An integer as i64, for pointer arithmetic. */
static ls_value lower_index_value(lang_lower *l, lang_expr *expr)
{
    if (expr->is_constant)
        return ls__ir_const_i64(&l->cursor, ls__lang_constant_value(expr));
    ls_value value = ls__lang_lower_scalar(l, expr);
    return ls__lang_lower_conversion(l, value, expr->type, TY(I64));
}

static lang_value pointer_plus(lang_lower *l, lang_value pointer, ls_value index, bool is_minus)
{
    if (is_minus) {
        const ls__ir_inst *def = ls__ir_def(l->cursor.function, index);
        if (def->op == LS_OP_CONST)
            index = ls__ir_const_i64(&l->cursor, (int64_t)(0 - def->imm));
        else
            index = ls__ir_emit2(&l->cursor, LS_OP_SUB, ls__ir_const_i64(&l->cursor, 0), index);
    }
    pointer.offset = ls__lang_offset_index(l, pointer.offset, index, pointer.type->target->size, 0);
    return pointer;
}

/* a op b on operands of `type`; the count of a shift may have another integer type. */
static ls_value arithmetic(lang_lower *l, uint8_t op, const lang_type *type, ls_value a, ls_value b,
                           const lang_type *b_type)
{
    bool swap;
    if (op == TOK_SHL || op == TOK_SHR) {
        /* Only the low bits of the count matter. */
        b = ls__lang_lower_conversion(l, b, b_type, type->size == 8 ? TY(I64) : TY(I32));
    }
    return ls__ir_emit2(&l->cursor, ls__lang_binary_op(op, type, &swap), a, b);
}

static lang_value lower_binary(lang_lower *l, lang_expr *expr)
{
    if (is_comparison(expr) || is_logical(expr)) {
        ls_value truth = ls__lang_lower_condition(l, expr);
        return ls__lang_scalar(expr->type, ls__ir_emit1(&l->cursor, LS_OP_B2I, truth));
    }
    if (expr->type->kind == TYPE_POINTER) {
        lang_value pointer = ls__lang_lower_value(l, expr->a);
        ls_value index = lower_index_value(l, expr->b);
        ls__lang_at_pos(l, expr->pos);
        pointer = pointer_plus(l, pointer, index, expr->op == TOK_MINUS);
        pointer.type = expr->type;
        return pointer;
    }
    if (expr->a->type->kind == TYPE_POINTER) { /* difference */
        lang_value p = ls__lang_lower_value(l, expr->a), q = ls__lang_lower_value(l, expr->b);
        same_objects(l, expr, &p, &q);
        ls_value bytes = ls__ir_emit2(&l->cursor, LS_OP_SUB, ls__lang_offset_value(l, p.offset),
                                      ls__lang_offset_value(l, q.offset));
        ls_value size = ls__ir_const_i64(&l->cursor, expr->a->type->target->size);
        return ls__lang_scalar(expr->type, ls__ir_emit2(&l->cursor, LS_OP_SDIV, bytes, size));
    }
    ls_value a = ls__lang_lower_scalar(l, expr->a);
    ls_value b = ls__lang_lower_scalar(l, expr->b);
    ls__lang_at_pos(l, expr->pos);
    return ls__lang_scalar(expr->type, arithmetic(l, expr->op, expr->type, a, b, expr->b->type));
}

static lang_value lower_unary(lang_lower *l, lang_expr *expr)
{
    if (expr->op == TOK_AND) {
        /* &a[i] is a + i: the subscript is not one that reads or writes. */
        if (expr->a->kind == EXPR_INDEX) {
            lang_expr *index = expr->a;
            lang_value pointer;
            if (index->a->type->kind == TYPE_ARRAY) {
                lang_place place = lower_place(l, index->a);
                pointer = (lang_value){.base = place.base, .offset = place.offset};
            } else {
                pointer = ls__lang_lower_value(l, index->a);
            }
            pointer.kind = VALUE_POINTER;
            pointer.type = expr->type;
            ls_value i = lower_index_value(l, index->b);
            ls__lang_at_pos(l, expr->pos);
            return pointer_plus(l, pointer, i, false);
        }
        lang_place place = lower_place(l, expr->a);
        return (lang_value){
            .kind = VALUE_POINTER, .type = expr->type, .base = place.base, .offset = place.offset};
    }
    if (expr->op == TOK_STAR) {
        lang_place place = lower_place(l, expr);
        return ls__lang_load(l, &place);
    }
    if (expr->op == TOK_NOT) {
        ls_value truth = ls__lang_lower_condition(l, expr);
        return ls__lang_scalar(expr->type, ls__ir_emit1(&l->cursor, LS_OP_B2I, truth));
    }
    ls_value a = ls__lang_lower_scalar(l, expr->a);
    ls__lang_at_pos(l, expr->pos);
    if (expr->op == TOK_TILDE)
        a = ls__ir_emit1(&l->cursor, LS_OP_NOT, a);
    else if (expr->op == TOK_MINUS && lang_is_float(expr->type))
        a = ls__ir_emit1(&l->cursor, LS_OP_FNEG, a);
    else if (expr->op == TOK_MINUS)
        a = ls__ir_emit2(&l->cursor, LS_OP_SUB, ls__lang_zero(l, expr->type), a);
    return ls__lang_scalar(expr->type, a);
}

/* --- assignment ----------------------------------------------------------------------- */
static lang_value lower_assign(lang_lower *l, lang_expr *expr)
{
    lang_place place = lower_place(l, expr->a);
    if (expr->op == TOK_ASSIGN) {
        lang_value value = ls__lang_lower_value(l, expr->b);
        ls__lang_at_pos(l, expr->pos);
        ls__lang_store(l, &place, &value, expr->pos);
        return value;
    }
    lang_value old = ls__lang_load(l, &place), result;
    if (place.home == HOME_POINTER) {
        ls_value index = lower_index_value(l, expr->b);
        ls__lang_at_pos(l, expr->pos);
        result = pointer_plus(l, old, index, expr->op == TOK_SUB_ASSIGN);
    } else {
        ls_value a = ls__lang_lower_conversion(l, old.scalar, expr->type, expr->convert);
        ls_value b = ls__lang_lower_scalar(l, expr->b);
        ls__lang_at_pos(l, expr->pos);
        a = arithmetic(l, ls__lang_plain_operator(expr->op), expr->convert, a, b, expr->b->type);
        result =
            ls__lang_scalar(expr->type, ls__lang_lower_conversion(l, a, expr->convert, expr->type));
    }
    ls__lang_store(l, &place, &result, expr->pos);
    return result;
}

static lang_value lower_step(lang_lower *l, lang_expr *expr)
{
    lang_place place = lower_place(l, expr->a);
    lang_value old = ls__lang_load(l, &place), result;
    bool is_minus = expr->op == TOK_DECREMENT;
    ls__lang_at_pos(l, expr->pos);
    if (place.home == HOME_POINTER) {
        result = pointer_plus(l, old, ls__ir_const_i64(&l->cursor, 1), is_minus);
    } else {
        const lang_type *type = expr->convert;
        ls_value a = ls__lang_lower_conversion(l, old.scalar, expr->type, type);
        ls_value one = type->kind == TYPE_F32 ? ls__ir_const_f32(&l->cursor, 1)
                       : type->kind == TYPE_F64
                           ? ls__ir_const(&l->cursor, LS_TYPE_F64, UINT64_C(0x3ff0000000000000))
                           : ls__ir_const(&l->cursor, ls__lang_value_type(type), 1);
        a = arithmetic(l, is_minus ? TOK_MINUS : TOK_PLUS, type, a, one, type);
        result = ls__lang_scalar(expr->type, ls__lang_lower_conversion(l, a, type, expr->type));
    }
    ls__lang_store(l, &place, &result, expr->pos);
    return expr->is_postfix ? old : result;
}

/* --- choice --------------------------------------------------------------------------- */
static lang_value choose_pointer(lang_lower *l, lang_expr *expr, ls_value condition)
{
    lang_binding binding = {.home = HOME_POINTER};
    ls_var var = ls__ir_var_add(l->cursor.function, "pointer", LS_TYPE_I64);
    binding.vars = &var;
    lang_place place = {.home = HOME_POINTER, .type = expr->type, .pointer = &binding};
    ls__ir_inst *branch = ls__ir_if(&l->cursor, condition);
    lang_expr *sides[2] = {expr->b, expr->c};
    for (int i = 0; i < 2; i++) {
        lang_region outside = ls__lang_region_open(l, branch->regions[i]);
        lang_value value = ls__lang_lower_value(l, sides[i]);
        ls__lang_store(l, &place, &value, sides[i]->pos);
        ls__lang_region_close(l, outside);
    }
    return ls__lang_load(l, &place);
}

static lang_value lower_choice(lang_lower *l, lang_expr *expr, bool is_used)
{
    if (expr->a->is_constant) {
        lang_expr *side = ls__lang_constant_truth(expr->a) ? expr->b : expr->c;
        if (is_used)
            return ls__lang_lower_value(l, side);
        ls__lang_lower_discard(l, side);
        return none(expr->type);
    }
    ls_value condition = ls__lang_lower_condition(l, expr->a);
    ls__lang_at_pos(l, expr->pos);
    if (is_used && expr->type->kind == TYPE_POINTER)
        return choose_pointer(l, expr, condition);
    if (is_used && lang_is_arithmetic(expr->type) && is_cheap(expr->b) && is_cheap(expr->c)) {
        ls_value b = ls__lang_lower_scalar(l, expr->b), c = ls__lang_lower_scalar(l, expr->c);
        ls__lang_at_pos(l, expr->pos);
        return ls__lang_scalar(expr->type, ls__ir_emit3(&l->cursor, LS_OP_SELECT, condition, b, c));
    }
    bool has_value = is_used && expr->type->kind != TYPE_VOID;
    lang_place place = {0};
    if (has_value)
        place = ls__lang_new_place(l, expr->type, "choice", false, expr->pos);
    ls__ir_inst *branch = ls__ir_if(&l->cursor, condition);
    lang_expr *sides[2] = {expr->b, expr->c};
    for (int i = 0; i < 2; i++) {
        lang_region outside = ls__lang_region_open(l, branch->regions[i]);
        if (has_value) {
            lang_value value = ls__lang_lower_value(l, sides[i]);
            ls__lang_store(l, &place, &value, sides[i]->pos);
        } else {
            ls__lang_lower_discard(l, sides[i]);
        }
        ls__lang_region_close(l, outside);
    }
    return has_value ? ls__lang_load(l, &place) : none(expr->type);
}

/* --- calls, initialisers -------------------------------------------------------------- */
static lang_value lower_call(lang_lower *l, lang_expr *expr, bool is_used)
{
    if (expr->builtin >= 0 && !expr->function)
        return ls__lang_lower_builtin(l, expr, is_used);
    lang_value *args = LS__NEW_ARRAY(&l->context->arena, lang_value, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++)
        args[i] = ls__lang_lower_value(l, expr->args[i]);
    ls__lang_at_pos(l, expr->pos);
    if (expr->function->is_noinline)
        return ls__lang_noinline_call(l, expr->function, args, expr->pos);
    return ls__lang_inline_call(l, expr->function, args, expr->pos);
}

void ls__lang_lower_init(lang_lower *l, const lang_place *place, const lang_init *init)
{
    if (!init->is_complete)
        ls__lang_store_zero(l, place);
    for (uint32_t i = 0; i < init->store_count; i++) {
        const lang_store *store = &init->stores[i];
        lang_value value = ls__lang_lower_value(l, store->value);
        lang_place part = ls__lang_part(l, place, store->type, store->offset);
        ls__lang_store(l, &part, &value, store->value->pos);
    }
}

lang_value ls__lang_init_value(lang_lower *l, const lang_type *type, const lang_init *init)
{
    ls_value *leaves = LS__NEW_ARRAY(&l->context->arena, ls_value, type->leaf_count);
    uint32_t offset;
    for (uint32_t i = 0; i < init->store_count; i++) {
        const lang_store *store = &init->stores[i];
        lang_value value = ls__lang_lower_value(l, store->value);
        uint32_t first = ls__lang_leaf_at(type, store->offset);
        for (uint32_t k = 0; k < store->type->leaf_count; k++)
            leaves[first + k] = value.kind == VALUE_LEAVES ? value.leaves[k] : value.scalar;
    }
    for (uint32_t i = 0; i < type->leaf_count; i++) {
        if (leaves[i].id == 0)
            leaves[i] = ls__lang_zero(l, ls__lang_leaf(type, i, &offset));
    }
    return (lang_value){.kind = VALUE_LEAVES, .type = type, .leaves = leaves};
}

/* A compound literal; the checker does not let anybody write to it or take its address. */
static lang_place lower_compound(lang_lower *l, lang_expr *expr)
{
    ls__lang_at_pos(l, expr->pos);
    if (lang_is_small(expr->type)) {
        lang_value value = ls__lang_init_value(l, expr->type, expr->init);
        return ls__lang_place_of_value(&value);
    }
    lang_place place = ls__lang_new_place(l, expr->type, "literal", false, expr->pos);
    ls__lang_lower_init(l, &place, expr->init);
    return place;
}

/* --- places --------------------------------------------------------------------------- */
static lang_place memory_place(const lang_type *type, ls_base base, lang_offset offset)
{
    return (lang_place){.home = HOME_MEMORY, .type = type, .base = base, .offset = offset};
}

static lang_place lower_index(lang_lower *l, lang_expr *expr)
{
    lang_expr *a = expr->a;
    ls_base base;
    lang_offset offset;
    uint32_t count = 0;
    if (a->type->kind == TYPE_ARRAY) {
        lang_place array = lower_place(l, a);
        base = array.base;
        offset = array.offset;
        count = a->type->count;
    } else {
        lang_value pointer = ls__lang_lower_value(l, a);
        base = pointer.base;
        offset = pointer.offset;
    }
    ls_value index = lower_index_value(l, expr->b);
    ls__lang_at_pos(l, expr->pos);
    return memory_place(expr->type, base,
                        ls__lang_offset_index(l, offset, index, expr->type->size, count));
}

static lang_place lower_place(lang_lower *l, lang_expr *expr)
{
    ls__lang_at_pos(l, expr->pos);
    switch ((lang_expr_kind)expr->kind) {
    case EXPR_VAR:
        return ls__lang_symbol_place(l, expr->symbol);
    case EXPR_INDEX:
        return lower_index(l, expr);
    case EXPR_MEMBER: {
        lang_place whole = lower_place(l, expr->a);
        ls__lang_at_pos(l, expr->pos);
        return ls__lang_part(l, &whole, expr->type, expr->member->offset);
    }
    case EXPR_COMPOUND:
        return lower_compound(l, expr);
    case EXPR_UNARY:
        if (expr->op == TOK_STAR) {
            lang_value pointer = ls__lang_lower_value(l, expr->a);
            return memory_place(expr->type, pointer.base, pointer.offset);
        }
        break;
    default:
        break;
    }
    lang_value *value = LS__NEW(&l->context->arena, lang_value); /* the place may point into it */
    *value = ls__lang_lower_value(l, expr);
    return ls__lang_place_of_value(value);
}

/* --- all ------------------------------------------------------------------------------ */
static lang_value lower_cast(lang_lower *l, lang_expr *expr)
{
    if (expr->type->kind == TYPE_VOID) {
        ls__lang_lower_discard(l, expr->a);
        return none(expr->type);
    }
    if (!lang_is_arithmetic(expr->type)) {
        lang_value value = ls__lang_lower_value(l, expr->a);
        value.type = expr->type;
        return value;
    }
    if (expr->type->kind == TYPE_BOOL)
        return ls__lang_scalar(expr->type, ls__lang_lower_condition(l, expr->a));
    ls_value value = ls__lang_lower_scalar(l, expr->a);
    ls__lang_at_pos(l, expr->pos);
    return ls__lang_scalar(expr->type,
                           ls__lang_lower_conversion(l, value, expr->a->type, expr->type));
}

static lang_value lower_var(lang_lower *l, lang_expr *expr)
{
    lang_symbol *symbol = expr->symbol;
    bool is_scalar_table = symbol->storage == STORAGE_TABLE && lang_is_arithmetic(symbol->type);
    if (is_scalar_table) { /* a named constant */
        uint64_t bits = ls__ir_load_bits((ls_mem)symbol->type->mem, symbol->bytes);
        return ls__lang_scalar(symbol->type,
                               ls__ir_const(&l->cursor, ls__lang_value_type(symbol->type), bits));
    }
    lang_place place = ls__lang_symbol_place(l, symbol);
    lang_value value = ls__lang_load(l, &place);
    if (value.kind == VALUE_POINTER && value.base.kind == LS_BASE_NONE)
        ls__lang_report(l->context, expr->pos, D_POINTER_UNSET);
    return value;
}

static lang_value lower_inner(lang_lower *l, lang_expr *expr, bool is_used)
{
    switch ((lang_expr_kind)expr->kind) {
    case EXPR_VAR:
        return lower_var(l, expr);
    case EXPR_UNARY:
        return lower_unary(l, expr);
    case EXPR_STEP:
        return lower_step(l, expr);
    case EXPR_BINARY:
        return lower_binary(l, expr);
    case EXPR_ASSIGN:
        return lower_assign(l, expr);
    case EXPR_CHOICE:
        return lower_choice(l, expr, is_used);
    case EXPR_COMMA:
        ls__lang_lower_discard(l, expr->a);
        return ls__lang_lower_value(l, expr->b);
    case EXPR_CALL:
        return lower_call(l, expr, is_used);
    case EXPR_CAST:
        return lower_cast(l, expr);
    case EXPR_DECAY: {
        lang_place place = lower_place(l, expr->a);
        return (lang_value){
            .kind = VALUE_POINTER, .type = expr->type, .base = place.base, .offset = place.offset};
    }
    case EXPR_INDEX:
    case EXPR_MEMBER:
    case EXPR_COMPOUND: {
        lang_place place = lower_place(l, expr);
        return ls__lang_load(l, &place);
    }
    default: /* names, lists and sizeof do not outlive the checker; constants are handled before */
        return none(expr->type);
    }
}

lang_value ls__lang_lower_value(lang_lower *l, lang_expr *expr)
{
    ls__lang_at_pos(l, expr->pos);
    if (expr->is_constant && lang_is_arithmetic(expr->type))
        return ls__lang_scalar(
            expr->type, ls__ir_const(&l->cursor, ls__lang_value_type(expr->type), expr->bits));
    return lower_inner(l, expr, true);
}

ls_value ls__lang_lower_scalar(lang_lower *l, lang_expr *expr)
{
    return ls__lang_lower_value(l, expr).scalar;
}

void ls__lang_lower_discard(lang_lower *l, lang_expr *expr)
{
    ls__lang_at_pos(l, expr->pos);
    if (expr->is_constant)
        return;
    if (expr->kind == EXPR_COMMA) {
        ls__lang_lower_discard(l, expr->a);
        ls__lang_lower_discard(l, expr->b);
    } else if (expr->kind == EXPR_CAST) {
        ls__lang_lower_discard(l, expr->a);
    } else {
        lower_inner(l, expr, false);
    }
}
