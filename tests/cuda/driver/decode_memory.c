/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that move values: mov, ld, st, atom, red, cvta, fences. */
#include "parser.h"
#include "warp.h"
#include "atomic.h"

/* What says how a value is cached changes nothing. */
static bool skip_hint(statement *s)
{
    static const char *const hints[] = {"weak",
                                        "ca",
                                        "cg",
                                        "cs",
                                        "lu",
                                        "cv",
                                        "wb",
                                        "wt",
                                        "nc",
                                        "cta",
                                        "gpu",
                                        "sys",
                                        "cluster",
                                        "L1::evict_normal",
                                        "L1::evict_unchanged",
                                        "L1::evict_first",
                                        "L1::evict_last",
                                        "L1::no_allocate",
                                        "L2::64B",
                                        "L2::128B",
                                        "L2::256B",
                                        NULL};
    for (unsigned i = 0; hints[i]; i++)
        if (statement_part(s, hints[i]))
            return true;
    return false;
}

static space space_part(statement *s)
{
    return statement_part(s, "global")                                       ? SPACE_GLOBAL
           : statement_part(s, "shared") || statement_part(s, "shared::cta") ? SPACE_SHARED
           : statement_part(s, "const")                                      ? SPACE_CONST
           : statement_part(s, "local")                                      ? SPACE_LOCAL
           : statement_part(s, "param") || statement_part(s, "param::entry") ||
                   statement_part(s, "param::func")
               ? SPACE_PARAM
               : SPACE_NONE;
}

/* .volatile, .relaxed, ..., the space, .v2, in the order in which they come; the type is left. */
static void access_parts(parser *p, statement *s)
{
    instruction *in = s->in;
    in->space = SPACE_GENERIC;
    in->count = 1;
    for (;;) {
        space where = space_part(s);
        if (where)
            in->space = (uint8_t)where;
        else if (statement_part(s, "acquire"))
            in->acquire = true;
        else if (statement_part(s, "release"))
            in->release = true;
        else if (statement_part(s, "v2"))
            in->count = 2;
        else if (statement_part(s, "v4"))
            in->count = 4;
        else if (!statement_part(s, "volatile") && !statement_part(s, "relaxed") && !skip_hint(s))
            break;
    }
    in->type_a = (uint8_t)statement_type(p, s);
    in->size = (uint8_t)type_size(in->type_a);
    in->is_signed = type_signed(in->type_a);
    statement_end(p, s);
}

/* Into `a` and `immediate`. A variable settles the space. */
static void access_address(parser *p, statement *s, const argument *a)
{
    instruction *in = s->in;
    if (a->kind != ARGUMENT_ADDRESS)
        parser_fail(p, "'%s' needs an address in brackets", s->mnemonic);
    in->immediate = a->addend;
    variable *v = a->inner == ARGUMENT_VARIABLE ? a->variable : NULL;
    if (a->inner == ARGUMENT_VARIABLE && !v)
        parser_fail(p, "'%s' is no variable", a->name);
    if (in->space == SPACE_PARAM && v)
        in->space = (uint8_t)(v->space == SPACE_FRAME ? SPACE_FRAME : SPACE_PARAM);
    else if (in->space == SPACE_PARAM && p->function && !p->function->entry)
        in->space = SPACE_FRAME;
    if (v && in->space == SPACE_GENERIC && v->space == SPACE_GLOBAL)
        in->space = SPACE_GLOBAL;
    if (v && (space)in->space != v->space)
        parser_fail(p, "'%s' is in another state space", a->name);
    if (v)
        in->a = parser_address(p, 8, v, 0);
    else if (a->inner == ARGUMENT_REGISTER)
        in->a = a->place;
    else
        in->a = parser_constant(p, 8, 0);
    if (in->a.width < 4)
        parser_fail(p, "an address has 32 or 64 bits");
}

/* The registers of a value, into `more` or `first`. Immediates may be stored. */
static void access_value(parser *p, statement *s, const argument *a, operand *first, bool store)
{
    instruction *in = s->in;
    in->more_count = in->count;
    in->more = ptx_own(p->module, in->count, sizeof *in->more);
    if (a->kind == ARGUMENT_VECTOR) {
        if (a->item_count != in->count)
            parser_fail(p, "'%s' has %u elements", s->mnemonic, a->item_count);
        memcpy(in->more, a->items, in->count * sizeof *in->more);
    } else if (in->count > 1) {
        parser_fail(p, "'%s' needs a vector", s->mnemonic);
    } else if (a->kind == ARGUMENT_REGISTER) {
        in->more[0] = a->place;
    } else if (store) {
        in->more[0] = argument_operand(p, a, in->size < 2 ? 2 : in->size, type_float(in->type_a));
    } else if (a->kind != ARGUMENT_SINK) {
        parser_fail(p, "'%s' has no register", s->mnemonic);
    }
    for (unsigned i = 0; i < in->count; i++)
        if (in->more[i].width && (in->more[i].width < in->size || in->more[i].width == 1))
            parser_fail(p, "'%s' has a register that is too small", s->mnemonic);
    *first = in->more[0];
}

static bool decode_load(parser *p, statement *s)
{
    instruction *in = s->in;
    bool store = strcmp(s->parts[0], "st") == 0, load = strcmp(s->parts[0], "ld") == 0;
    if (strcmp(s->parts[0], "ldu") != 0 && !store && !load)
        return false;
    access_parts(p, s);
    statement_count(p, s, 2, 2);
    access_address(p, s, &s->arguments[!store]);
    access_value(p, s, &s->arguments[store], store ? &in->b : &in->d, store);
    if (store && (in->space == SPACE_CONST || in->space == SPACE_PARAM))
        parser_fail(p, "'%s' cannot be written", s->mnemonic);
    bool same = in->count == 1 && in->more[0].width == in->size;
    if (in->space == SPACE_PARAM && in->a.base == BASE_CONSTANTS && !store)
        in->run = run_load_param;
    else if (same && in->size == 4)
        in->run = store ? run_store_4 : run_load_4;
    else if (same && in->size == 8)
        in->run = store ? run_store_8 : run_load_8;
    else
        in->run = store ? run_store : run_load;
    return true;
}

static bool decode_atomic(parser *p, statement *s)
{
    static const char *const names[] = {ATOMIC_NAMES};
    instruction *in = s->in;
    bool red = strcmp(s->parts[0], "red") == 0;
    if (!red && strcmp(s->parts[0], "atom") != 0)
        return false;
    in->space = SPACE_GENERIC;
    for (;;) {
        space where = space_part(s);
        if (where)
            in->space = (uint8_t)where;
        else if (!statement_part(s, "acquire") && !statement_part(s, "release") &&
                 !statement_part(s, "acq_rel") && !statement_part(s, "relaxed") && !skip_hint(s))
            break;
    }
    for (in->operation = 0; in->operation < ATOMIC_COUNT; in->operation++)
        if (statement_part(s, names[in->operation]))
            break;
    in->type_a = (uint8_t)statement_type(p, s);
    in->size = (uint8_t)type_size(in->type_a);
    in->count = 1;
    statement_end(p, s);
    if (in->operation == ATOMIC_COUNT || !atomic_exists(in->operation, in->type_a) ||
        (in->space != SPACE_GENERIC && in->space != SPACE_GLOBAL && in->space != SPACE_SHARED))
        parser_fail(p, "there is no '%s', or it is not emulated", s->mnemonic);
    unsigned count = (in->operation == ATOMIC_CAS ? 3u : 2u) + !red;
    statement_count(p, s, count, count);
    const argument *a = s->arguments;
    bool is_float = type_float(in->type_a);
    if (!red && a->kind == ARGUMENT_REGISTER)
        in->d = argument_operand(p, a, in->size, false);
    else if (!red && a->kind != ARGUMENT_SINK)
        parser_fail(p, "a result goes into a register");
    a += !red;
    access_address(p, s, &a[0]);
    in->b = argument_operand(p, &a[1], in->size, is_float);
    if (in->operation == ATOMIC_CAS)
        in->c = argument_operand(p, &a[2], in->size, is_float);
    in->run = run_atomic;
    return true;
}

static operand vector_part(parser *p, const statement *s, const argument *a, unsigned width)
{
    instruction *in = s->in;
    in->more_count = a->item_count;
    in->more = ptx_own(p->module, a->item_count, sizeof *in->more);
    memcpy(in->more, a->items, a->item_count * sizeof *in->more);
    for (unsigned i = 0; i < a->item_count; i++)
        if (in->more[i].width && in->more[i].width * a->item_count != width)
            parser_fail(p, "'%s' has parts of another size", s->mnemonic);
    return (operand){0};
}

static bool decode_move(parser *p, statement *s)
{
    instruction *in = s->in;
    if (strcmp(s->parts[0], "mov") != 0)
        return false;
    type_kind type = statement_type(p, s);
    unsigned width = register_class(type);
    statement_end(p, s);
    statement_count(p, s, 2, 2);
    const argument *to = &s->arguments[0], *from = &s->arguments[1];
    if (type_size(type) < 2)
        parser_fail(p, "there is no '%s'", s->mnemonic);
    if (to->kind == ARGUMENT_VECTOR) {
        vector_part(p, s, to, width);
        in->a = argument_operand(p, from, width, type_float(type));
        in->run = run_unpack;
        return true;
    }
    if (to->kind != ARGUMENT_REGISTER)
        parser_fail(p, "a result goes into a register");
    in->d = argument_operand(p, to, width, false);
    if (from->kind == ARGUMENT_VECTOR) {
        vector_part(p, s, from, width);
        in->run = run_pack;
        return true;
    }
    in->a = argument_operand(p, from, width, type_float(type));
    bool clock = in->a.base == BASE_SPECIALS && in->a.offset >= special_offset(SPECIAL_CLOCK);
    in->run = clock ? run_clock : move_executor(width);
    return true;
}

static bool decode_address(parser *p, statement *s)
{
    instruction *in = s->in;
    bool test = strcmp(s->parts[0], "isspacep") == 0;
    if (!test && strcmp(s->parts[0], "cvta") != 0)
        return false;
    in->operation = statement_part(s, "to");
    space where = space_part(s);
    unsigned width = 8;
    if (!test) {
        type_kind type = statement_type(p, s);
        if (type != TYPE_U64)
            parser_fail(p, "addresses have 64 bits");
    }
    statement_end(p, s);
    statement_count(p, s, 2, 2);
    in->space = (uint8_t)where;
    if (where == SPACE_NONE || (where == SPACE_PARAM && p->function && !p->function->entry))
        parser_fail(p, "'%s' is not emulated", s->mnemonic);
    in->d = argument_operand(p, &s->arguments[0], test ? 1 : width, false);
    in->a = argument_operand(p, &s->arguments[1], width, false);
    in->run = test ? run_is_space : run_convert_address;
    return true;
}

static bool decode_fence(parser *p, statement *s)
{
    bool membar = strcmp(s->parts[0], "membar") == 0;
    if (!membar && strcmp(s->parts[0], "fence") != 0)
        return false;
    if (!membar && !statement_part(s, "sc"))
        statement_part(s, "acq_rel");
    if (!statement_part(s, "cta") && !statement_part(s, membar ? "gl" : "gpu"))
        statement_part(s, "sys");
    statement_end(p, s);
    statement_count(p, s, 0, 0);
    s->in->run = run_fence;
    return true;
}

bool decode_memory(parser *p, statement *s)
{
    return decode_move(p, s) || decode_load(p, s) || decode_atomic(p, s) || decode_address(p, s) ||
           decode_fence(p, s);
}
