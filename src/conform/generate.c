/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator of random Kernel C programs. It keeps a list of the variables in scope and makes
 * typed expressions from them; whatever C leaves undefined is avoided by a guard written into the
 * text: divisors are tested, shift counts and indices masked, float-to-integer casts range-checked,
 * loops counted by variables nothing else may write.
 *
 * An operand may always be wrapped in a cast to the wanted type, so every type meets every other in
 * the usual arithmetic conversions; those are what the native check is best at finding wrong.
 */
#include "conform/generate.h"

#include <string.h>

#include "base/rng.h"

typedef enum kind { BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, KIND_COUNT } kind;

static const char *const kind_names[KIND_COUNT] = {"bool", "i8",  "u8",  "i16", "u16", "i32",
                                                   "u32",  "i64", "u64", "f32", "f64"};

enum { MAX_VARS = 64, MAX_FUNCTIONS = 4, MAX_DEPTH = 4, ARRAY = 8, TABLE = 16 };

typedef struct variable {
    char name[16];
    kind type;
    bool writable;
} variable;

typedef struct function {
    kind result, args[3];
    uint32_t arg_count;
} function;

typedef struct generator {
    ls__rng rng;
    ls__strbuf *out;
    bool floats64, in_kernel;
    uint32_t indent, next_name, loop_depth, statements_left;
    variable vars[MAX_VARS];
    uint32_t var_count;
    function functions[MAX_FUNCTIONS];
    uint32_t function_count;
    kind inputs[LS__GENERATE_INPUTS], outputs[LS__GENERATE_OUTPUTS], table, array, field[3];
    bool has_array, has_struct;
} generator;

static void expression(generator *g, kind type, uint32_t depth);
static void block(generator *g, uint32_t depth, uint32_t count);

static uint32_t pick(generator *g, uint32_t n)
{
    return ls__rng_below(&g->rng, n);
}

static bool chance(generator *g, uint32_t percent)
{
    return pick(g, 100) < percent;
}

static void put(generator *g, const char *text)
{
    ls__strbuf_append(g->out, text, strlen(text));
}

static void line(generator *g)
{
    for (uint32_t i = 0; i < g->indent; i++)
        put(g, "    ");
}

static bool is_float(kind type)
{
    return type == F32 || type == F64;
}

static kind any_kind(generator *g)
{
    return (kind)pick(g, g->floats64 ? KIND_COUNT : F64);
}

static kind any_integer(generator *g)
{
    return (kind)(I8 + pick(g, F32 - I8));
}

/* The integer types that arithmetic happens in, after promotion. */
static kind any_wide(generator *g)
{
    return (kind)(I32 + pick(g, 4));
}

static bool is_signed(kind type)
{
    return type == I8 || type == I16 || type == I32 || type == I64;
}

static void literal(generator *g, kind type)
{
    static const char *const i32s[] = {"0",
                                       "1",
                                       "2",
                                       "3",
                                       "7",
                                       "31",
                                       "255",
                                       "65535",
                                       "2147483647",
                                       "(-1)",
                                       "(-2147483647 - 1)",
                                       "1000003"};
    static const char *const u32s[] = {"0u",   "1u",          "5u",          "32u",
                                       "127u", "4294967295u", "2147483648u", "40503u"};
    static const char *const i64s[] = {"0ll",
                                       "1ll",
                                       "(-1ll)",
                                       "4294967296ll",
                                       "(-9223372036854775807ll - 1)",
                                       "9223372036854775807ll",
                                       "123456789012345ll"};
    static const char *const u64s[] = {"0ull", "1ull", "18446744073709551615ull",
                                       "9223372036854775808ull", "63ull"};
    static const char *const f32s[] = {"0.0f",        "1.0f",          "(-0.0f)",        "0.5f",
                                       "(-1.5f)",     "1e10f",         "1e-40f",         "3.14159f",
                                       "16777217.0f", "3.4028235e38f", "1.17549435e-38f"};
    static const char *const f64s[] = {"0.0",    "1.0",   "(-0.0)",   "0.1",
                                       "(-2.5)", "1e300", "4.9e-324", "9007199254740993.0"};
#define ONE_OF(list) put(g, (list)[pick(g, sizeof(list) / sizeof *(list))])
    switch (type) {
    case BOOL:
        put(g, chance(g, 50) ? "true" : "false");
        break;
    case U32:
        ONE_OF(u32s);
        break;
    case I64:
        ONE_OF(i64s);
        break;
    case U64:
        ONE_OF(u64s);
        break;
    case F32:
        ONE_OF(f32s);
        break;
    case F64:
        ONE_OF(f64s);
        break;
    case I32:
        ONE_OF(i32s);
        break;
    default:
        ls__strbuf_printf(g->out, "(%s)%u", kind_names[type], pick(g, 300));
        break;
    }
#undef ONE_OF
}

/* An index below `count` (a power of two). */
static void index_expression(generator *g, uint32_t count, uint32_t depth)
{
    put(g, "(");
    expression(g, chance(g, 70) ? U32 : any_wide(g), depth + 1);
    ls__strbuf_printf(g->out, " & %u)", count - 1);
}

/* A leaf of any type: a variable, an element, an identity; wrapped in a cast when its type is not
 * `type`. */
static void leaf(generator *g, kind type, uint32_t depth)
{
    uint32_t choice = pick(g, 10);
    if (choice < 2 || (!g->var_count && choice < 6)) {
        literal(g, type);
        return;
    }
    if (choice < 6) {
        const variable *v = &g->vars[pick(g, g->var_count)];
        if (v->type != type && is_float(v->type) && !is_float(type)) {
            literal(g, type); /* float to integer needs a guard: see convert() */
            return;
        }
        if (v->type != type)
            ls__strbuf_printf(g->out, "(%s)", kind_names[type]);
        put(g, v->name);
        return;
    }
    kind from;
    char text[32];
    if (choice == 6 && g->has_array) {
        from = g->array;
        strcpy(text, "arr[");
    } else if (choice == 7 && g->has_struct) {
        uint32_t f = pick(g, 3);
        from = g->field[f];
        strcpy(text, f == 0 ? "st.a" : f == 1 ? "st.b" : "st.c[");
    } else if (choice == 8 || !g->in_kernel) {
        from = g->table;
        strcpy(text, "table[");
    } else {
        uint32_t b = pick(g, LS__GENERATE_INPUTS);
        from = g->inputs[b];
        strcpy(text, "in0[");
        text[2] = (char)('0' + b);
    }
    if (is_float(from) && !is_float(type)) {
        literal(g, type);
        return;
    }
    if (from != type)
        ls__strbuf_printf(g->out, "(%s)", kind_names[type]);
    put(g, text);
    if (text[strlen(text) - 1] == '[') {
        uint32_t count = text[0] == 'a'   ? ARRAY
                         : text[0] == 's' ? 4
                         : text[0] == 't' ? TABLE
                                          : LS__GENERATE_ELEMENTS;
        index_expression(g, count, depth + 1);
        put(g, "]");
    }
}

static void binary(generator *g, const char *op, kind a, kind b, uint32_t depth)
{
    put(g, "(");
    expression(g, a, depth + 1);
    ls__strbuf_printf(g->out, " %s ", op);
    expression(g, b, depth + 1);
    put(g, ")");
}

static void call1(generator *g, const char *name, kind a, uint32_t depth)
{
    ls__strbuf_printf(g->out, "%s(", name);
    expression(g, a, depth + 1);
    put(g, ")");
}

static void call2(generator *g, const char *name, kind a, kind b, uint32_t depth)
{
    ls__strbuf_printf(g->out, "%s(", name);
    expression(g, a, depth + 1);
    put(g, ", ");
    expression(g, b, depth + 1);
    put(g, ")");
}

/* Division without undefined steps: through a helper the preamble defines for each type. */
static void division(generator *g, kind type, uint32_t depth)
{
    char name[16];
    strcpy(name, chance(g, 50) ? "div_" : "rem_");
    strcat(name, kind_names[type]);
    call2(g, name, type, type, depth);
}

static void boolean(generator *g, uint32_t depth)
{
    static const char *const compares[] = {"<", "<=", ">", ">=", "==", "!="};
    switch (pick(g, 8)) {
    case 0:
        binary(g, "&&", BOOL, BOOL, depth);
        break;
    case 1:
        binary(g, "||", BOOL, BOOL, depth);
        break;
    case 2:
        put(g, "!");
        expression(g, BOOL, depth + 1);
        break;
    case 3:
        call1(g, chance(g, 50) ? "isnan" : "signbit", F32, depth);
        break;
    case 4:
        put(g, "(");
        expression(g, any_kind(g), depth + 1);
        put(g, " ? true : false)");
        break;
    default:
        binary(g, compares[pick(g, 6)], any_kind(g), any_kind(g), depth);
        break;
    }
}

static void integer(generator *g, kind type, uint32_t depth)
{
    static const char *const ops[] = {"+", "-", "*", "&", "|", "^"};
    bool wide = type >= I32;
    switch (pick(g, wide ? 14 : 5)) {
    case 0:
    case 1:
        ls__strbuf_printf(g->out, "(%s)", kind_names[type]);
        binary(g, ops[pick(g, 6)], any_integer(g), any_integer(g), depth);
        break;
    case 2: { /* a shift keeps the type of its left side */
        kind left = any_integer(g);
        ls__strbuf_printf(g->out, "(%s)(", kind_names[type]);
        expression(g, left, depth + 1);
        put(g, chance(g, 50) ? " << " : " >> ");
        index_expression(g, left >= I64 ? 64 : 32, depth);
        put(g, ")");
        break;
    }
    case 3:
        ls__strbuf_printf(g->out, "(%s)(", kind_names[type]);
        put(g, chance(g, 50) ? "-" : "~");
        expression(g, any_wide(g), depth + 1);
        put(g, ")");
        break;
    case 4: /* float to integer, guarded: see the preamble */
        ls__strbuf_printf(g->out, "(%s)", kind_names[type]);
        call1(g, "to_i32", F32, depth);
        break;
    case 5:
        division(g, type, depth);
        break;
    case 6:
        call2(g, chance(g, 50) ? "min" : "max", type, type, depth);
        break;
    case 7: /* these give u32 */
        ls__strbuf_printf(g->out, "(%s)", kind_names[type]);
        call1(g, chance(g, 40) ? "popcount" : chance(g, 50) ? "clz" : "ctz", type, depth);
        break;
    case 8:
        call2(g, chance(g, 50) ? "rotl" : "rotr", type, U32, depth);
        break;
    case 9:
        call2(g,
              chance(g, 33)   ? "mulhi"
              : chance(g, 50) ? "add_sat"
                              : "sub_sat",
              type, type, depth);
        break;
    case 10:
        if (type == U32)
            call1(g, "f32_bits", F32, depth);
        else if (is_signed(type))
            call1(g, "abs", type, depth);
        else
            literal(g, type);
        break;
    case 11:
        if (type == I32) {
            put(g, chance(g, 50) ? "dot4(" : "dot4_us(");
            expression(g, U32, depth + 1);
            put(g, ", ");
            expression(g, U32, depth + 1);
            put(g, ", ");
            expression(g, I32, depth + 1);
            put(g, ")");
        } else {
            binary(g, ops[pick(g, 6)], type, type, depth);
        }
        break;
    case 12:
        put(g, "(");
        expression(g, BOOL, depth + 1);
        put(g, " ? ");
        expression(g, type, depth + 1);
        put(g, " : ");
        expression(g, type, depth + 1);
        put(g, ")");
        break;
    default:
        binary(g, ops[pick(g, 6)], type, type, depth);
        break;
    }
}

static void floating(generator *g, kind type, uint32_t depth)
{
    static const char *const ops[] = {"+", "-", "*", "/"};
    static const char *const unary[] = {"sqrt", "fabs", "floor", "ceil", "trunc", "rint"};
    switch (pick(g, 10)) {
    case 0:
        call1(g, unary[pick(g, 6)], type, depth);
        break;
    case 1:
        call2(g, chance(g, 50) ? "fmin" : "fmax", type, type, depth);
        break;
    case 2:
        put(g, "fma(");
        for (int i = 0; i < 3; i++) {
            expression(g, type, depth + 1);
            put(g, i < 2 ? ", " : ")");
        }
        break;
    case 3:
        ls__strbuf_printf(g->out, "(%s)", kind_names[type]);
        expression(g, any_kind(g), depth + 1);
        break;
    case 4:
        put(g, "(-");
        expression(g, type, depth + 1);
        put(g, ")");
        break;
    case 5:
        call2(g, "copysign", type, type, depth);
        break;
    case 6:
        ls__strbuf_printf(g->out, "(%s)", kind_names[type]);
        put(g, chance(g, 50) ? "f16_to_f32(f32_to_f16(" : "bf16_to_f32(f32_to_bf16(");
        expression(g, F32, depth + 1);
        put(g, "))");
        break;
    default:
        binary(g, ops[pick(g, 4)], type, type, depth);
        break;
    }
}

static void expression(generator *g, kind type, uint32_t depth)
{
    if (depth >= MAX_DEPTH || chance(g, 15 + depth * 10)) {
        leaf(g, type, depth);
        return;
    }
    if (g->function_count && chance(g, 6)) {
        uint32_t index = pick(g, g->function_count);
        const function *f = &g->functions[index];
        if (f->result == type) {
            ls__strbuf_printf(g->out, "f%u(", index);
            for (uint32_t i = 0; i < f->arg_count; i++) {
                if (i)
                    put(g, ", ");
                expression(g, f->args[i], depth + 1);
            }
            put(g, ")");
            return;
        }
    }
    if (type == BOOL)
        boolean(g, depth);
    else if (is_float(type))
        floating(g, type, depth);
    else
        integer(g, type, depth);
}

static void declare(generator *g, kind type, const char *name, bool writable)
{
    if (g->var_count == MAX_VARS)
        return;
    variable *v = &g->vars[g->var_count++];
    strcpy(v->name, name);
    v->type = type;
    v->writable = writable;
}

static void declaration(generator *g)
{
    kind type = any_kind(g);
    char name[16] = "v";
    uint32_t number = g->next_name++, length = 1;
    char digits[8];
    uint32_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        name[length++] = digits[--count];
    line(g);
    ls__strbuf_printf(g->out, "%s %s = ", kind_names[type], name);
    expression(g, type, 0);
    put(g, ";\n");
    declare(g, type, name, true);
}

static const variable *writable(generator *g)
{
    for (uint32_t tries = 0; tries < 8 && g->var_count; tries++) {
        const variable *v = &g->vars[pick(g, g->var_count)];
        if (v->writable)
            return v;
    }
    return NULL;
}

static void assignment(generator *g)
{
    static const char *const compound[] = {"+=", "-=", "*=", "&=", "|=", "^="};
    uint32_t choice = pick(g, 10);
    line(g);
    if (choice == 0 && g->has_array) {
        put(g, "arr[");
        index_expression(g, ARRAY, 1);
        put(g, "] = ");
        expression(g, g->array, 0);
        put(g, ";\n");
        return;
    }
    if (choice == 1 && g->has_struct) {
        uint32_t f = pick(g, 3);
        put(g, f == 0 ? "st.a = " : f == 1 ? "st.b = " : "st.c[");
        if (f == 2) {
            index_expression(g, 4, 1);
            put(g, "] = ");
        }
        expression(g, g->field[f], 0);
        put(g, ";\n");
        return;
    }
    const variable *v = writable(g);
    if (!v) {
        put(g, ";\n");
        return;
    }
    bool plain = v->type == BOOL || is_float(v->type) || chance(g, 50);
    if (!plain && chance(g, 25)) {
        ls__strbuf_printf(g->out, chance(g, 50) ? "%s++;\n" : "--%s;\n", v->name);
        return;
    }
    /* a compound operator's right side is an integer, so nothing is cast from float unguarded */
    ls__strbuf_printf(g->out, "%s %s ", v->name, plain ? "=" : compound[pick(g, 6)]);
    expression(g, plain ? v->type : any_integer(g), 0);
    put(g, ";\n");
}

static void nested(generator *g, uint32_t depth)
{
    uint32_t scope = g->var_count;
    g->indent++;
    block(g, depth + 1, 1 + pick(g, 3));
    g->indent--;
    g->var_count = scope;
}

static void conditional(generator *g, uint32_t depth)
{
    line(g);
    put(g, "if (");
    expression(g, BOOL, 1);
    put(g, ") {\n");
    nested(g, depth);
    line(g);
    if (chance(g, 40)) {
        put(g, "} else {\n");
        nested(g, depth);
        line(g);
    }
    put(g, "}\n");
}

static void selection(generator *g, uint32_t depth)
{
    line(g);
    put(g, "switch (");
    expression(g, chance(g, 50) ? I32 : any_integer(g), 1);
    put(g, chance(g, 50) ? " & 3) {\n" : " % 5) {\n");
    uint32_t cases = 1 + pick(g, 3);
    for (uint32_t i = 0; i < cases; i++) {
        line(g);
        ls__strbuf_printf(g->out, "case %u:\n", i * 2);
        if (chance(g, 30)) {
            line(g);
            ls__strbuf_printf(g->out, "case %u:\n", i * 2 + 1);
        }
        g->indent++;
        line(g);
        put(g, "{\n");
        nested(g, depth);
        line(g);
        put(g, "}\n");
        line(g);
        put(g, "break;\n");
        g->indent--;
    }
    if (chance(g, 60)) {
        line(g);
        put(g, "default:\n");
        g->indent++;
        line(g);
        put(g, "{\n");
        nested(g, depth);
        line(g);
        put(g, "}\n");
        line(g);
        put(g, "break;\n");
        g->indent--;
    }
    line(g);
    put(g, "}\n");
}

static void loop(generator *g, uint32_t depth)
{
    uint32_t number = g->next_name++, form = pick(g, 3), scope = g->var_count,
             limit = 1 + pick(g, 6);
    char name[16] = "n";
    ls__strbuf digits = {0};
    ls__strbuf_printf(&digits, "n%u", number);
    if (digits.text && digits.length < sizeof name)
        strcpy(name, digits.text);
    ls__strbuf_finish(&digits);
    line(g);
    if (form == 0) {
        ls__strbuf_printf(g->out, "for (u32 %s = 0u; %s < %uu; %s++) {\n", name, name, limit, name);
    } else {
        ls__strbuf_printf(g->out, "u32 %s = 0u;\n", name);
        line(g);
        if (form == 1)
            ls__strbuf_printf(g->out, "while (%s < %uu) {\n", name, limit);
        else
            put(g, "do {\n");
        g->indent++;
        line(g);
        ls__strbuf_printf(g->out, "%s = %s + 1u;\n", name, name);
        g->indent--;
    }
    declare(g, U32, name, false);
    g->loop_depth++;
    nested(g, depth);
    g->loop_depth--;
    line(g);
    if (form == 2)
        ls__strbuf_printf(g->out, "} while (%s < %uu);\n", name, limit);
    else
        put(g, "}\n");
    g->var_count = scope;
}

static void pointer(generator *g)
{
    if (!g->in_kernel) {
        assignment(g);
        return;
    }
    uint32_t b = pick(g, LS__GENERATE_INPUTS), number = g->next_name++;
    line(g);
    ls__strbuf_printf(g->out, "const %s *p%u = in%u + ", kind_names[g->inputs[b]], number, b);
    index_expression(g, LS__GENERATE_ELEMENTS / 2, 1);
    put(g, ";\n");
    if (chance(g, 40)) {
        line(g);
        ls__strbuf_printf(g->out, chance(g, 50) ? "p%u++;\n" : "p%u += 2;\n", number);
    }
    char name[16];
    ls__strbuf text = {0};
    ls__strbuf_printf(&text, "v%u", g->next_name++);
    strcpy(name, text.text && text.length < sizeof name ? text.text : "v");
    ls__strbuf_finish(&text);
    line(g);
    ls__strbuf_printf(g->out, chance(g, 50) ? "%s %s = *p%u;\n" : "%s %s = p%u[3];\n",
                      kind_names[g->inputs[b]], name, number);
    declare(g, g->inputs[b], name, true);
}

static void statement(generator *g, uint32_t depth)
{
    if (g->statements_left)
        g->statements_left--;
    uint32_t choice = pick(g, 100);
    bool deep = depth >= 3 || !g->statements_left;
    if (choice < 25)
        declaration(g);
    else if (choice < 55 || (deep && choice < 88))
        assignment(g);
    else if (choice < 70)
        conditional(g, depth);
    else if (choice < 82)
        loop(g, depth);
    else if (choice < 88)
        selection(g, depth);
    else if (choice < 93)
        pointer(g);
    else if (g->loop_depth && choice < 97) {
        line(g);
        put(g, "if (");
        expression(g, BOOL, 1);
        put(g, chance(g, 50) ? ") break;\n" : ") continue;\n");
    } else
        assignment(g);
}

static void block(generator *g, uint32_t depth, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        statement(g, depth);
}

static void preamble(generator *g)
{
    put(g, "SPEC(i32, SPEC_A, 3);\nenum { ENUM_A = 5, ENUM_B = SPEC_A + 4, ENUM_C };\n");
    for (kind k = I32; k <= U64; k = (kind)(k + 1)) {
        const char *n = kind_names[k];
        const char *guard = k == I32   ? "b == 0 || (b == -1 && a == -2147483647 - 1)"
                            : k == I64 ? "b == 0 || (b == -1 && a == -9223372036854775807ll - 1)"
                                       : "b == 0";
        ls__strbuf_printf(g->out,
                          "static %s div_%s(%s a, %s b)\n{\n    return %s ? a : a / b;\n}\n", n, n,
                          n, n, guard);
        ls__strbuf_printf(g->out,
                          "static %s rem_%s(%s a, %s b)\n{\n    return %s ? (%s)0 : a %% b;\n}\n",
                          n, n, n, n, guard, n);
    }
    put(g, "static i32 to_i32(f32 x)\n{\n    return x > -2147483000.0f && x < 2147483000.0f ? "
           "(i32)x : 7;\n}\n");
    ls__strbuf_printf(g->out, "static const %s table[%d] = {", kind_names[g->table], TABLE);
    for (uint32_t i = 0; i < TABLE; i++) {
        put(g, i ? ", " : "");
        literal(g, g->table);
    }
    put(g, "};\n");
    ls__strbuf_printf(g->out, "struct pack {\n    %s a;\n    %s b;\n    %s c[4];\n};\n",
                      kind_names[g->field[0]], kind_names[g->field[1]], kind_names[g->field[2]]);
}

/* Every function that may meet f64 declares one, so that f64 literals in it are meant. */
static void declare_f64(generator *g)
{
    if (!g->floats64)
        return;
    put(g, "    f64 d0 = 0.5;\n");
    declare(g, F64, "d0", true);
}

/* A helper with an early return inside a loop: the hardest case of inlining. */
static void helper(generator *g)
{
    function *f = &g->functions[g->function_count];
    f->result = any_kind(g);
    f->arg_count = 1 + pick(g, 3);
    g->var_count = 0;
    ls__strbuf_printf(g->out, "%s %s f%u(", chance(g, 30) ? "static noinline" : "static",
                      kind_names[f->result], g->function_count);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        char name[3] = {'a', (char)('0' + i), 0};
        f->args[i] = any_kind(g);
        ls__strbuf_printf(g->out, "%s%s %s", i ? ", " : "", kind_names[f->args[i]], name);
        declare(g, f->args[i], name, true);
    }
    put(g, ")\n{\n");
    declare_f64(g);
    g->indent = 1;
    g->statements_left = 5;
    block(g, 1, 1 + pick(g, 3));
    if (chance(g, 60)) {
        put(g, "    for (u32 r = 0u; r < 3u; r++) {\n        if (");
        expression(g, BOOL, 1);
        put(g, ") {\n            return ");
        expression(g, f->result, 1);
        put(g, ";\n        }\n");
        uint32_t scope = g->var_count;
        g->indent = 2;
        block(g, 2, 1);
        g->var_count = scope;
        put(g, "    }\n");
        g->indent = 1;
    }
    put(g, "    return ");
    expression(g, f->result, 1);
    put(g, ";\n}\n");
    g->function_count++;
    g->var_count = 0;
}

void ls__generate(uint64_t seed, const char *name, bool floats64, ls__strbuf *out)
{
    generator g = {.rng = {seed}, .out = out, .floats64 = floats64};
    g.table = any_kind(&g);
    for (uint32_t i = 0; i < 3; i++)
        g.field[i] = any_kind(&g);
    for (uint32_t i = 0; i < LS__GENERATE_INPUTS; i++)
        g.inputs[i] = any_kind(&g);
    for (uint32_t i = 0; i < LS__GENERATE_OUTPUTS; i++)
        g.outputs[i] = any_kind(&g);
    preamble(&g);
    for (uint32_t count = pick(&g, MAX_FUNCTIONS); count; count--)
        helper(&g);
    ls__strbuf_printf(out, "kernel void %s(u32 s0, i32 s1, f32 s2", name);
    for (uint32_t i = 0; i < LS__GENERATE_INPUTS; i++)
        ls__strbuf_printf(out, ", const %s *in%u", kind_names[g.inputs[i]], i);
    for (uint32_t i = 0; i < LS__GENERATE_OUTPUTS; i++)
        ls__strbuf_printf(out, ", %s *out%u", kind_names[g.outputs[i]], i);
    put(&g, ")\n{\n    u32 gid = global_id(0);\n    if (gid >= global_size(0)) return;\n");
    g.in_kernel = true;
    g.indent = 1;
    declare(&g, U32, "s0", false);
    declare(&g, I32, "s1", true);
    declare(&g, F32, "s2", true);
    declare(&g, U32, "gid", false);
    declare_f64(&g);
    declare(&g, I32, "SPEC_A", false);
    declare(&g, I32, "ENUM_C", false);
    for (uint32_t i = 0; i < LS__GENERATE_INPUTS; i++) {
        char local[3] = {'x', (char)('0' + i), 0};
        ls__strbuf_printf(out, "    %s %s = in%u[gid & %u];\n", kind_names[g.inputs[i]], local, i,
                          LS__GENERATE_ELEMENTS - 1);
        declare(&g, g.inputs[i], local, true);
    }
    if (chance(&g, 50)) {
        g.array = any_kind(&g);
        ls__strbuf_printf(out, "    %s arr[%d] = {0};\n", kind_names[g.array], ARRAY);
        g.has_array = true;
    }
    if (chance(&g, 50)) {
        put(&g, "    struct pack st = {0};\n");
        g.has_struct = true;
    }
    g.statements_left = 30;
    block(&g, 0, 4 + pick(&g, 12));
    for (uint32_t i = 0; i < LS__GENERATE_OUTPUTS; i++) {
        ls__strbuf_printf(out, "    out%u[gid] = ", i);
        expression(&g, g.outputs[i], 0);
        put(&g, ";\n");
    }
    put(&g, "}\n");
}
