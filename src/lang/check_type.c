/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of types: specifiers with structs and enums, and declarators. What memory cannot hold
 * (pointers, void) is refused where a type is formed, so no other stage meets it.
 */
#include "lang/check.h"

void ls__lang_no_specifiers(lang_checker *c, const lang_spec *spec)
{
    const char *word = spec->is_kernel       ? "kernel"
                       : spec->is_noinline   ? "noinline"
                       : spec->is_unordered  ? "unordered"
                       : spec->has_workgroup ? "workgroup"
                       : spec->is_shared     ? "shared"
                       : spec->is_static     ? "static"
                       : spec->is_inline     ? "inline"
                       : spec->is_typedef    ? "typedef"
                                             : NULL;
    if (word)
        ls__lang_report(c->context, spec->pos, D_MISPLACED_SPECIFIER, word);
}

/* --- tags ----------------------------------------------------------------------------- */
static lang_symbol *declare_tag(lang_checker *c, lang_name *name, lang_pos pos, lang_type *type)
{
    lang_symbol *symbol = LS__NEW(&c->context->arena, lang_symbol);
    *symbol = (lang_symbol){.kind = SYM_TYPE,
                            .is_tag = true,
                            .level = (uint16_t)c->level,
                            .name = name,
                            .pos = pos,
                            .type = type};
    lang_undo undo = {.name = name, .symbol = name->tag, .is_tag = true};
    ls__vec_push(&c->context->arena, &c->unit->undo, undo);
    name->tag = symbol;
    return symbol;
}

/* The tag of spec when it may be used for this kind of type; NULL when there is none (or after a
 * report). */
static lang_symbol *find_tag(lang_checker *c, const lang_spec *spec, bool is_struct)
{
    lang_symbol *tag = spec->name ? spec->name->tag : NULL;
    if (tag && (tag->type->kind == TYPE_STRUCT) != is_struct) {
        if (spec->has_body && tag->level != c->level)
            return NULL;
        ls__lang_report(c->context, spec->pos, D_TAG_KIND, LS__STR_ARG(spec->name->text),
                        tag->pos.line);
        return NULL;
    }
    return tag;
}

/* --- structs -------------------------------------------------------------------------- */
static bool can_be_stored(lang_checker *c, lang_pos pos, const lang_type *type,
                          const lang_name *name)
{
    if (type->kind == TYPE_ERROR)
        return false;
    if (type->kind == TYPE_VOID) {
        ls__str text = name ? name->text : (ls__str){"this", 4};
        ls__lang_report(c->context, pos, D_VOID_OBJECT, LS__STR_ARG(text));
        return false;
    }
    if (type->kind == TYPE_POINTER) {
        ls__lang_report(c->context, pos, D_POINTER_IN_MEMORY);
        return false;
    }
    if (!type->is_complete) {
        ls__lang_report(c->context, pos, D_INCOMPLETE_TYPE,
                        ls__lang_type_text(c->context, type, false));
        return false;
    }
    return true;
}

static void add_members(lang_checker *c, lang_declaration *d, lang_type *type, uint32_t capacity)
{
    bool spec_const;
    ls__lang_no_specifiers(c, d->spec);
    lang_type *base = ls__lang_resolve_spec(c, d->spec, &spec_const);
    for (uint32_t i = 0; i < d->declarators.count && type->member_count < capacity; i++) {
        const lang_declarator *declarator = d->declarators.items[i];
        bool is_const = spec_const;
        lang_type *member_type = ls__lang_declarator_type(c, declarator, 0, base, &is_const, NULL);
        if (!can_be_stored(c, declarator->pos, member_type, declarator->name))
            member_type = TY(I32);
        for (uint32_t k = 0; k < type->member_count; k++) {
            if (type->members[k].name == declarator->name)
                ls__lang_report(c->context, declarator->pos, D_MEMBER_TWICE,
                                LS__STR_ARG(declarator->name->text));
        }
        lang_member *member = &type->members[type->member_count++];
        *member =
            (lang_member){.name = declarator->name, .type = member_type, .is_const = is_const};
    }
}

static void define_struct(lang_checker *c, lang_spec *spec, lang_type *type)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->members.count; i++)
        count += spec->members.items[i]->declarators.count;
    if (count == 0 || count > LANG_MAX_MEMBERS) {
        ls__lang_report(c->context, spec->pos, D_EMPTY_STRUCT);
        count = count ? LANG_MAX_MEMBERS : 0;
    }
    type->members = LS__NEW_ARRAY(&c->context->arena, lang_member, count + 1);
    for (uint32_t i = 0; i < spec->members.count; i++)
        add_members(c, spec->members.items[i], type, count);
    if (type->member_count == 0) /* after a report: later stages expect a member */
        type->members[type->member_count++] = (lang_member){.name = NULL, .type = TY(I32)};
    ls__lang_struct_layout(type);
    if (type->size == UINT32_MAX || type->depth > LANG_MAX_TYPE_DEPTH) {
        ls__lang_report(c->context, spec->pos, D_TYPE_TOO_LARGE);
        ls__lang_stop(c->context);
    }
}

static lang_type *resolve_struct(lang_checker *c, lang_spec *spec)
{
    ls__arena *arena = &c->context->arena;
    lang_symbol *tag = find_tag(c, spec, true);
    if (tag && spec->has_body && tag->level == c->level && tag->type->is_complete) {
        ls__lang_report(c->context, spec->pos, D_REDECLARED, LS__STR_ARG(spec->name->text),
                        tag->pos.line);
        return tag->type;
    }
    lang_type *type = tag && (!spec->has_body || tag->level == c->level) ? tag->type : NULL;
    if (!type) {
        type = LS__NEW(arena, lang_type);
        type->kind = TYPE_STRUCT;
        type->alignment = 1;
        type->name = spec->name
                         ? ls__arena_printf(arena, "struct %.*s", LS__STR_ARG(spec->name->text))
                         : "struct";
        if (spec->name)
            declare_tag(c, spec->name, spec->pos, type);
    }
    if (spec->has_body)
        define_struct(c, spec, type);
    return type;
}

/* --- enums ---------------------------------------------------------------------------- */
static lang_type *resolve_enum(lang_checker *c, lang_spec *spec)
{
    lang_symbol *tag = find_tag(c, spec, false);
    if (!spec->has_body) {
        if (tag || spec->name->tag)
            return tag ? tag->type : TY(I32); /* another kind of tag was reported */
        ls__str text = spec->name->text;
        ls__lang_report(c->context, spec->pos, D_INCOMPLETE_TYPE,
                        ls__arena_printf(&c->context->arena, "enum %.*s", LS__STR_ARG(text)));
        return TY(I32);
    }
    if (tag && tag->level == c->level)
        ls__lang_report(c->context, spec->pos, D_REDECLARED, LS__STR_ARG(spec->name->text),
                        tag->pos.line);
    int64_t next = 0;
    bool is_negative = false;
    for (uint32_t i = 0; i < spec->enumerators.count; i++) {
        lang_enumerator *e = &spec->enumerators.items[i];
        if (e->value)
            ls__lang_check_constant(c, &e->value, &next);
        if (next < INT32_MIN || next > INT32_MAX) {
            ls__lang_report(c->context, e->pos, D_ENUM_RANGE);
            next = 0;
        }
        is_negative |= next < 0;
        lang_symbol *symbol = ls__lang_declare(c, e->name, e->pos, SYM_CONST, TY(I32));
        if (symbol)
            symbol->bits = (uint32_t)next;
        next++;
    }
    /* The constants are i32; a variable of the type is unsigned unless a constant is negative, as
     * gcc and clang do. */
    lang_type *type = is_negative ? TY(I32) : TY(U32);
    if (spec->name && !(tag && tag->level == c->level))
        declare_tag(c, spec->name, spec->pos, type);
    return type;
}

lang_type *ls__lang_resolve_spec(lang_checker *c, lang_spec *spec, bool *is_const)
{
    *is_const = spec->is_const;
    if (!spec->type) {
        switch (spec->kind) {
        case SPEC_NAME:
            /* The parser saw a typedef name; after an error its symbol may be missing. */
            spec->type = spec->name->symbol && spec->name->symbol->kind == SYM_TYPE
                             ? spec->name->symbol->type
                             : TY(ERROR);
            if (spec->type != TY(ERROR))
                spec->is_const |= spec->name->symbol->is_const;
            break;
        case SPEC_STRUCT:
            spec->type = resolve_struct(c, spec);
            break;
        case SPEC_ENUM:
            spec->type = resolve_enum(c, spec);
            break;
        default:
            spec->type = spec->basic ? spec->basic : TY(ERROR);
            break;
        }
        *is_const = spec->is_const;
    }
    if (c->function && spec->type->has_f64)
        c->function->declares_f64 = true;
    return spec->type;
}

/* --- declarators ---------------------------------------------------------------------- */
static lang_type *array_part(lang_checker *c, const lang_part *part, const lang_name *name,
                             lang_type *type, bool may_be_open)
{
    if (!can_be_stored(c, part->pos, type, name))
        return TY(ERROR);
    int64_t count = 0;
    if (part->count) {
        lang_expr *expr = part->count;
        bool is_known = ls__lang_check_constant(c, &expr, &count);
        if (!is_known)
            return TY(ERROR);
        if (count <= 0) {
            ls__lang_report(c->context, part->pos, D_ARRAY_COUNT);
            return TY(ERROR);
        }
    } else if (!may_be_open) {
        ls__lang_report(c->context, part->pos, D_ARRAY_COUNT);
        return TY(ERROR);
    }
    lang_type *array =
        count > UINT32_MAX ? NULL : ls__lang_array_of(c->context, type, (uint32_t)count);
    if (!array) {
        ls__lang_report(c->context, part->pos, D_TYPE_TOO_LARGE);
        return TY(ERROR);
    }
    array->is_complete = part->count != NULL;
    return array;
}

static lang_type *pointer_part(lang_checker *c, const lang_part *part, lang_type *type,
                               bool *is_const)
{
    lang_type *pointer = TY(ERROR);
    bool is_stored = type->kind == TYPE_STRUCT || can_be_stored(c, part->pos, type, NULL);
    if (type->kind == TYPE_VOID)
        ls__lang_hint(c->context, "Kernel C has no void pointers: name the type of the elements");
    if (is_stored)
        pointer = ls__lang_pointer_to(c->context, type, *is_const);
    *is_const = part->is_const;
    return pointer;
}

lang_type *ls__lang_declarator_type(lang_checker *c, const lang_declarator *d, uint32_t first,
                                    lang_type *type, bool *is_const, uint32_t *min_count)
{
    if (min_count)
        *min_count = 0;
    for (uint32_t i = d->parts.count; i > first; i--) {
        const lang_part *part = &d->parts.items[i - 1];
        if (type->kind == TYPE_ERROR)
            return type;
        if (part->kind == PART_FUNCTION) {
            ls__lang_report(c->context, part->pos, D_FUNCTION_POINTER);
            return TY(ERROR);
        }
        bool is_pointer = min_count && i - 1 == first;
        if (part->is_minimum && !is_pointer) {
            ls__lang_report(c->context, part->pos, D_STATIC_COUNT);
            return TY(ERROR);
        }
        if (part->kind == PART_ARRAY && !is_pointer) {
            type = array_part(c, part, d->name, type, i - 1 == first);
        } else if (part->kind == PART_ARRAY) {
            lang_type *array = array_part(c, part, d->name, type, true);
            if (array->kind == TYPE_ERROR)
                return array;
            if (part->is_minimum)
                *min_count = array->count;
            lang_part as_pointer = {.kind = PART_POINTER, .pos = part->pos};
            type = pointer_part(c, &as_pointer, type, is_const);
        } else {
            type = pointer_part(c, part, type, is_const);
        }
    }
    return type;
}

lang_type *ls__lang_type_name(lang_checker *c, lang_spec *spec, const lang_declarator *d)
{
    bool is_const;
    ls__lang_no_specifiers(c, spec);
    lang_type *type = ls__lang_resolve_spec(c, spec, &is_const);
    return ls__lang_declarator_type(c, d, 0, type, &is_const, NULL);
}
