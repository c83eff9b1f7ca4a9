/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of PTX to decoded instructions: operands, and the mnemonics that a table knows. Those
 * that touch memory or the order of execution are in decode_memory.c and decode_flow.c. */
#include <stdio.h>
#include "parser.h"
#include "warp.h"

unsigned register_class(type_kind type)
{
    return type == TYPE_PRED ? 1 : type_size(type) == 1 ? 2 : type_size(type);
}

/* --- operands -----------------------------------------------------------------------------------
 */
static operand new_constant(parser *p, unsigned width, uint64_t value)
{
    constant *c = PUSH(p, constants, constant_count, constant_capacity);
    *c = (constant){value, p->function->constant_bytes, (uint8_t)width};
    p->function->constant_bytes += width * LANES;
    return (operand){c->offset, BASE_CONSTANTS, (uint8_t)width, false};
}

operand parser_constant(parser *p, unsigned width, uint64_t value)
{
    size_t first = p->constant_count > 64 ? p->constant_count - 64 : 0;
    for (size_t i = first; i < p->constant_count; i++) {
        const constant *c = &p->constants[i];
        bool moved = p->relocation_count && p->relocations[p->relocation_count - 1].constant >= i;
        if (c->width == width && c->value == value && !moved)
            return (operand){c->offset, BASE_CONSTANTS, (uint8_t)width, false};
    }
    return new_constant(p, width, value);
}

operand parser_address(parser *p, unsigned width, variable *v, int64_t addend)
{
    relocation *r = PUSH(p, relocations, relocation_count, relocation_capacity);
    *r = (relocation){(uint32_t)p->constant_count, v, addend};
    return new_constant(p, width, 0);
}

static operand special_register(parser *p, const char *name, size_t length)
{
    static const char *const names[] = {
#define X(id, text) text,
        SPECIALS(X)
#undef X
    };
    for (uint32_t i = 0; i < SPECIAL_COUNT; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return (operand){special_offset(i), BASE_SPECIALS, i >= SPECIAL_WIDE ? 8 : 4, false};
    parser_fail(p, "there is no register %.*s", (int)length, name);
}

static operand register_named(parser *p)
{
    symbol *s = parser_find(p, p->t.text, p->t.length);
    operand place;
    if (s && s->kind == SYMBOL_REGISTER)
        place = s->place;
    else if (p->t.text[0] == '%')
        place = special_register(p, p->t.text, p->t.length);
    else
        parser_fail(p, "'%.*s' is no register", (int)p->t.length, p->t.text);
    parser_next(p);
    return place;
}

static void simple_argument(parser *p, argument *a)
{
    if (p->t.kind == TOKEN_NUMBER || p->t.kind == TOKEN_MARK || token_is(&p->t, "WARP_SZ")) {
        a->kind = ARGUMENT_NUMBER;
        a->number = parser_number(p);
        return;
    }
    if (parser_accept(p, "_")) {
        a->kind = ARGUMENT_SINK;
        return;
    }
    symbol *s = parser_find(p, p->t.text, p->t.length);
    if ((s && s->kind == SYMBOL_REGISTER) || p->t.text[0] == '%') {
        a->kind = ARGUMENT_REGISTER;
        a->place = register_named(p);
        return;
    }
    a->kind = ARGUMENT_VARIABLE;
    a->variable = s && s->kind == SYMBOL_VARIABLE ? s->variable : NULL;
    a->name_length = p->t.length;
    a->name = parser_name(p);
}

static void addend(parser *p, argument *a)
{
    bool minus = token_is(&p->t, "-");
    if (minus || token_is(&p->t, "+")) {
        parser_next(p);
        uint64_t value = parser_integer(p);
        a->addend = (int64_t)(minus ? 0 - value : value);
    }
}

static void parse_argument(parser *p, argument *a)
{
    if (parser_accept(p, "[")) {
        simple_argument(p, a);
        a->inner = a->kind;
        a->kind = ARGUMENT_ADDRESS;
        if (a->inner == ARGUMENT_NUMBER)
            a->addend = (int64_t)a->number.bits;
        else
            addend(p, a);
        parser_expect(p, "]");
    } else if (parser_accept(p, "{")) {
        a->kind = ARGUMENT_VECTOR;
        do {
            argument item = {0};
            if (a->item_count == 8)
                parser_fail(p, "a vector of more than 8");
            simple_argument(p, &item);
            if (item.kind == ARGUMENT_NUMBER) /* its width is that of the others */
                item.place = parser_constant(p, 4, item.number.bits & UINT32_MAX);
            else if (item.kind == ARGUMENT_VARIABLE)
                parser_fail(p, "'%s' is no register", item.name);
            a->items[a->item_count++] = item.place;
        } while (parser_accept(p, ","));
        parser_expect(p, "}");
    } else if (parser_accept(p, "!")) {
        a->kind = ARGUMENT_REGISTER;
        a->place = register_named(p);
        a->place.negated = true;
        if (a->place.width != 1)
            parser_fail(p, "only a predicate can be negated");
    } else {
        simple_argument(p, a);
        if (a->kind == ARGUMENT_VARIABLE)
            addend(p, a);
        if (parser_accept(p, "|"))
            a->second = register_named(p);
    }
}

operand argument_operand(parser *p, const argument *a, unsigned width, bool is_float)
{
    switch (a->kind) {
    case ARGUMENT_REGISTER:
        if (a->place.width != width)
            parser_fail(p, "an operand has %u bits, and its instruction %u",
                        a->place.width == 1 ? 1 : a->place.width * 8, width == 1 ? 1 : width * 8);
        return a->place;
    case ARGUMENT_NUMBER:
        if (width == 1)
            return parser_constant(p, 1, a->number.bits != 0);
        if (a->number.kind != NUMBER_INTEGER && width == 2)
            parser_fail(p, "a float of 16 bits as a number");
        return parser_constant(p, width, number_value(a->number, width, is_float));
    case ARGUMENT_VARIABLE:
        if (!a->variable)
            parser_fail(p, "'%s' has no address", a->name);
        if (width < 4)
            parser_fail(p, "an address does not fit");
        return parser_address(p, width, a->variable, a->addend);
    default:
        parser_fail(p, "an operand of another kind is expected");
    }
}

/* --- mnemonics ----------------------------------------------------------------------------------
 */
static void split(parser *p, statement *s)
{
    if (p->t.kind != TOKEN_WORD || p->t.length >= sizeof s->mnemonic)
        parser_fail(p, "expected an instruction before '%.*s'", (int)p->t.length, p->t.text);
    memcpy(s->mnemonic, p->t.text, p->t.length);
    const char *from = s->mnemonic;
    while (*from) {
        size_t length = strcspn(from, ".");
        if (s->part_count == MAX_PARTS || length >= sizeof s->parts[0])
            parser_fail(p, "unknown instruction '%s'", s->mnemonic);
        memcpy(s->parts[s->part_count++], from, length);
        from += length + (from[length] == '.');
    }
    s->part = 1;
    parser_next(p);
}

bool statement_part(statement *s, const char *text)
{
    if (s->part >= s->part_count || strcmp(s->parts[s->part], text) != 0)
        return false;
    s->part++;
    return true;
}

type_kind statement_type(parser *p, statement *s)
{
    type_kind type = TYPE_NONE;
    if (s->part < s->part_count)
        type = type_named(s->parts[s->part], strlen(s->parts[s->part]));
    if (type == TYPE_NONE)
        parser_fail(p, "'%s' is not emulated", s->mnemonic);
    s->part++;
    return type;
}

void statement_end(parser *p, const statement *s)
{
    if (s->part != s->part_count)
        parser_fail(p, "'%s' is not emulated: .%s", s->mnemonic, s->parts[s->part]);
}

void statement_count(parser *p, const statement *s, unsigned least, unsigned most)
{
    if (s->argument_count < least || s->argument_count > most)
        parser_fail(p, "'%s' has %u operands", s->mnemonic, s->argument_count);
}

static const form *find_form(const char *mnemonic)
{
    static const form *const tables[] = {integer_forms, carry_forms, bit_forms, float_forms,
                                         rounded_forms};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const form *f = tables[i]; f->mnemonic; f++)
            if (strcmp(f->mnemonic, mnemonic) == 0)
                return f;
    return NULL;
}

static bool decode_form(parser *p, statement *s)
{
    const form *f = find_form(s->mnemonic);
    if (!f)
        return false;
    unsigned count = (unsigned)strlen(f->widths);
    statement_count(p, s, count, count);
    instruction *in = s->in;
    operand *places[] = {&in->d, &in->a, &in->b, &in->c, &in->e};
    bool is_float = strstr(s->mnemonic, ".f") != NULL;
    for (unsigned i = 0; i < count; i++) {
        if (i == 0 && s->arguments[0].kind != ARGUMENT_REGISTER)
            parser_fail(p, "a result goes into a register");
        *places[i] =
            argument_operand(p, &s->arguments[i], (unsigned)(f->widths[i] - '0'), is_float);
    }
    in->run = f->run;
    return true;
}

/* --- setp, set, selp's kin ----------------------------------------------------------------------
 */
static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

static void parse_comparison(parser *p, statement *s)
{
    static const char *const unsigned_names[] = {"lo", "ls", "hi", "hs"};
    for (unsigned i = 0; i < 14; i++)
        if (statement_part(s, comparisons[i])) {
            s->in->compare = (uint8_t)i;
            return;
        }
    for (unsigned i = 0; i < 4; i++)
        if (statement_part(s, unsigned_names[i])) {
            s->in->compare = (uint8_t)(COMPARE_LT + i);
            return;
        }
    parser_fail(p, "'%s' has no comparison", s->mnemonic);
}

static bool decode_compare(parser *p, statement *s)
{
    bool to_predicate = strcmp(s->parts[0], "setp") == 0;
    if (!to_predicate && strcmp(s->parts[0], "set") != 0)
        return false;
    instruction *in = s->in;
    parse_comparison(p, s);
    in->combine = statement_part(s, "and")   ? 1
                  : statement_part(s, "or")  ? 2
                  : statement_part(s, "xor") ? 3
                                             : 0;
    if (!to_predicate)
        in->type_d = (uint8_t)statement_type(p, s);
    type_kind type = statement_type(p, s);
    statement_end(p, s);
    unsigned width = register_class(type), count = in->combine ? 4 : 3;
    statement_count(p, s, count, count);
    if ((!type_float(type) && in->compare >= COMPARE_EQU) ||
        (in->compare > COMPARE_NE && (type == TYPE_B16 || type == TYPE_B32 || type == TYPE_B64)))
        parser_fail(p, "'%s' compares what its type has not", s->mnemonic);
    in->type_a = (uint8_t)type;
    in->run = to_predicate ? setp_executor(type) : set_executor(type);
    if (!in->run || (!to_predicate && type_size(in->type_d) != 4))
        parser_fail(p, "'%s' is not emulated", s->mnemonic);
    in->d = argument_operand(p, &s->arguments[0], to_predicate ? 1 : 4, false);
    in->d2 = s->arguments[0].second;
    in->a = argument_operand(p, &s->arguments[1], width, type_float(type));
    in->b = argument_operand(p, &s->arguments[2], width, type_float(type));
    if (in->combine)
        in->c = argument_operand(p, &s->arguments[3], 1, false);
    return true;
}

/* --- statements ---------------------------------------------------------------------------------
 */
void parser_instruction(parser *p)
{
    statement s = {0};
    instruction in = {.line = p->t.line, .run = run_nothing};
    s.in = &in;
    p->statement_line = in.line;
    if (parser_accept(p, "@")) {
        bool negated = parser_accept(p, "!");
        in.guard = register_named(p);
        in.guard.negated = negated;
        if (in.guard.width != 1)
            parser_fail(p, "the guard is no predicate");
    }
    split(p, &s);
    /* A call has lists of its own. */
    bool call = strcmp(s.parts[0], "call") == 0;
    while (!call && !token_is(&p->t, ";")) {
        if (s.argument_count == MAX_ARGUMENTS)
            parser_fail(p, "too many operands");
        parse_argument(p, &s.arguments[s.argument_count++]);
        if (!parser_accept(p, ","))
            break;
    }
    if (!decode_form(p, &s) && !decode_compare(p, &s) && !decode_memory(p, &s) &&
        !decode_flow(p, &s) && !decode_convert(p, &s))
        parser_fail(p, "unknown instruction '%s'", s.mnemonic);
    parser_expect(p, ";");
    instruction *to = PUSH(p, code, code_count, code_capacity);
    *to = in;
    p->statement_line = 0;
}
