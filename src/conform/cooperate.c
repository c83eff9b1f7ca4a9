/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator. `uniform` says that all lanes of the workgroup are known to be here together, so
 * that a barrier may follow; `closed` that a lane may have returned alone, after which no barrier
 * may come.
 */
#include "conform/cooperate.h"

#include <stdbool.h>

#include "base/rng.h"

typedef struct generator {
    ls__rng rng;
    ls__strbuf *out;
    unsigned indent, next_name, left;
    unsigned loops;    /* open loops that may be left by lanes one by one */
    unsigned rounds;   /* open loops that all lanes go round together */
    unsigned uniforms; /* names u0 .. in scope, the same for the workgroup */
    bool closed, subgroups, in_function, has_function;
    unsigned lanes;
} generator;

static unsigned pick(generator *g, unsigned n)
{
    return ls__rng_below(&g->rng, n);
}

static bool chance(generator *g, unsigned percent)
{
    return pick(g, 100) < percent;
}

static void margin(generator *g)
{
    for (unsigned i = 0; i < g->indent; i++)
        ls__strbuf_printf(g->out, "    ");
}

#define PUT(...) ls__strbuf_printf(g->out, __VA_ARGS__)
#define LINE(...)                                                                                  \
    (margin(g), ls__strbuf_printf(g->out, __VA_ARGS__), ls__strbuf_printf(g->out, "\n"))

/* --- expressions
 * ------------------------------------------------------------------------------------- */

static void number(generator *g, unsigned depth);

static void real(generator *g, unsigned depth)
{
    if (depth == 0 || chance(g, 25)) {
        if (chance(g, 70))
            PUT("g%u", pick(g, 2));
        else
            PUT("%u.5f", pick(g, 40));
        return;
    }
    switch (pick(g, g->in_function ? 5 : 6)) {
    case 0:
        PUT("(f32)(");
        number(g, depth - 1);
        PUT(")");
        return;
    case 1:
        PUT("fmin(");
        real(g, depth - 1);
        PUT(", ");
        real(g, depth - 1);
        PUT(")");
        return;
    case 2:
        PUT("sqrt(fabs(");
        real(g, depth - 1);
        PUT("))");
        return;
    case 5:
        PUT("f[");
        number(g, depth - 1);
        PUT(chance(g, 80) ? " & 63]" : "]");
        return;
    default:
        PUT("(");
        real(g, depth - 1);
        PUT(" %c ", "+-*/"[pick(g, 4)]);
        real(g, depth - 1);
        PUT(")");
        return;
    }
}

static void leaf(generator *g)
{
    static const char *const own[] = {"global_id(0)", "local_index()",   "lane_id()",
                                      "local_id(1)",  "workgroup_id(0)", "subgroup_id()",
                                      "iteration()"};
    unsigned way = pick(g, 10);
    if (way < 5)
        PUT("x%u", pick(g, 4));
    else if (way < 7)
        PUT("%uu", pick(g, 2) ? pick(g, 9) : (unsigned)ls__rng_u64(&g->rng));
    else if (way == 7 && !g->in_function)
        PUT("n");
    else
        PUT("%s", own[pick(g, 7)]);
}

static void binary(generator *g, unsigned depth)
{
    static const char *const operators[] = {"+", "-", "*", "&", "|", "^", "/", "%"};
    PUT("(");
    number(g, depth - 1);
    PUT(" %s ", operators[pick(g, 8)]);
    number(g, depth - 1);
    PUT(")");
}

static void indexed(generator *g, unsigned depth)
{
    static const char *const places[] = {
        "a[gid]",         "b[gid]",   "a[gid + 3]",        "b[gid * 2]",
        "a[n - 1 - gid]", "a[n / 2]", "b[workgroup_id(0)]"};
    if (g->in_function || chance(g, 50)) {
        PUT("%s[", g->in_function || chance(g, 50) ? "a" : "b");
        number(g, depth - 1);
        PUT(chance(g, 80) ? " & 63]" : "]");
        return;
    }
    PUT("%s", places[pick(g, 7)]);
}

static void number(generator *g, unsigned depth)
{
    if (depth == 0 || chance(g, 20)) {
        leaf(g);
        return;
    }
    switch (pick(g, 9)) {
    case 0:
        PUT("(u32)(i32)(");
        real(g, depth - 1);
        PUT(")");
        return;
    case 1:
        indexed(g, depth);
        return;
    case 2:
        PUT("(u32)((u64)(");
        number(g, depth - 1);
        PUT(") * 40503u >> 7)");
        return;
    case 3:
        PUT("(u32)min((i32)(");
        number(g, depth - 1);
        PUT("), (i32)(");
        number(g, depth - 1);
        PUT("))");
        return;
    case 4:
        if (!g->in_function) {
            PUT("arr[");
            number(g, depth - 1);
            PUT(" & 7]");
            return;
        }
        /* fall through */
    default:
        binary(g, depth);
        return;
    }
}

static void condition(generator *g)
{
    static const char *const relations[] = {"<", "==", "!=", ">="};
    if (chance(g, 25)) {
        real(g, 1);
        PUT(" < ");
        real(g, 2);
        return;
    }
    if (chance(g, 60)) {
        PUT("(");
        number(g, 1);
        PUT(") %% %uu %s %uu", 2 + pick(g, 4), relations[pick(g, 4)], pick(g, 3));
        return;
    }
    number(g, 1);
    PUT(" %s ", relations[pick(g, 4)]);
    number(g, 1);
}

static void uniform_number(generator *g)
{
    if (g->uniforms && chance(g, 60))
        PUT("u%u", pick(g, g->uniforms));
    else
        PUT("%s", chance(g, 50) ? "n" : "workgroup_id(0)");
}

/* --- statements
 * ------------------------------------------------------------------------------------------ */

static void block(generator *g, unsigned depth, bool uniform);

static void open(generator *g)
{
    PUT(" {\n");
    g->indent++;
}

static void shut(generator *g)
{
    g->indent--;
    LINE("}");
}

static void assign(generator *g)
{
    margin(g);
    if (chance(g, 30)) {
        PUT("g%u = ", pick(g, 2));
        real(g, 2);
    } else {
        PUT("x%u = ", pick(g, 4));
        number(g, 3);
    }
    PUT(";\n");
}

static void store(generator *g)
{
    static const char *const places[] = {"out[gid]", "bytes[gid]", "out[gid]", "arr[x0 & 7]"};
    margin(g);
    if (chance(g, 30)) {
        PUT("fout[gid] = ");
        real(g, 2);
    } else {
        unsigned place = pick(g, 4);
        PUT("%s = %s", places[place], place == 1 ? "(u8)(" : "(u32)(");
        number(g, 2);
        PUT(")");
    }
    PUT(";\n");
}

static void branch(generator *g, unsigned depth, bool uniform)
{
    bool agree = uniform && chance(g, 50);
    margin(g);
    PUT("if (");
    if (agree) {
        uniform_number(g);
        PUT(" %% %uu == %uu", 2 + pick(g, 2), pick(g, 2));
    } else {
        condition(g);
    }
    PUT(")");
    open(g);
    block(g, depth - 1, agree);
    g->indent--;
    margin(g);
    PUT("}");
    if (chance(g, 50)) {
        PUT(" else");
        open(g);
        block(g, depth - 1, agree);
        shut(g);
    } else {
        PUT("\n");
    }
}

static void choose(generator *g, unsigned depth, bool uniform)
{
    bool agree = uniform && chance(g, 50);
    margin(g);
    PUT("switch (");
    if (agree)
        uniform_number(g);
    else
        number(g, 1);
    PUT(" & 3)");
    open(g);
    for (unsigned i = 0; i < 3; i++) {
        if (i == 2 && chance(g, 50))
            LINE("default: {");
        else
            LINE("case %u: {", i);
        g->indent++;
        unsigned loops = g->loops;
        g->loops = 0; /* `continue` only, and not here */
        block(g, depth - 1, agree);
        g->loops = loops;
        LINE("break;");
        shut(g);
    }
    shut(g);
}

static void loop(generator *g, unsigned depth, bool uniform)
{
    unsigned name = g->next_name++;
    bool agree = uniform && chance(g, 60);
    margin(g);
    if (agree)
        PUT("for (u32 j%u = 0; j%u < %uu; j%u++)", name, name, 1 + pick(g, 3), name);
    else if (chance(g, 50))
        PUT("for (u32 j%u = x%u & 7; j%u != 0; j%u--)", name, pick(g, 4), name, name);
    else
        PUT("for (u32 j%u = 0; j%u < %uu; j%u++)", name, name, 1 + pick(g, 6), name);
    open(g);
    unsigned loops = g->loops;
    g->loops = agree ? 0 : loops + 1;
    g->rounds += agree;
    block(g, depth - 1, agree);
    g->rounds -= agree;
    g->loops = loops;
    if (agree && chance(g, 30)) { /* lanes that skip the rest are back for the next round */
        margin(g);
        PUT("if (");
        condition(g);
        PUT(")\n");
        g->indent++;
        LINE("continue;");
        g->indent--;
        assign(g);
    } else if (agree && chance(g, 30)) {
        margin(g);
        PUT("if (");
        uniform_number(g);
        PUT(" %% 3u == 1u)\n");
        g->indent++;
        LINE("break;");
        g->indent--;
    }
    shut(g);
}

/* Variables that lanes leave behind in a loop, read after it or not. */
static void left_behind(generator *g)
{
    unsigned name = g->next_name++;
    bool set_first = chance(g, 50), one_side = chance(g, 40);
    LINE("for (u32 j%u = 0; j%u < 3; j%u++) {", name, name, name);
    g->indent++;
    if (set_first)
        LINE("u32 t%u = x%u + j%u;", name, pick(g, 4), name);
    else
        LINE("u32 t%u;", name);
    if (!set_first)
        LINE("t%u = x%u;", name, pick(g, 4));
    if (one_side) {
        margin(g);
        PUT("if (");
        condition(g);
        PUT(") {\n");
        g->indent++;
        LINE("t%u ^= %uu;", name, 1 + pick(g, 9));
        g->indent--;
        LINE("} else {");
        g->indent++;
    }
    LINE("for (u32 m%u = 0; m%u < %uu; m%u++) {", name, name, 2 + pick(g, 4), name);
    g->indent++;
    LINE("t%u = t%u * 3 + x%u;", name, name, pick(g, 4));
    LINE("if (t%u %% %uu == 1)", name, 2 + pick(g, 4));
    g->indent++;
    LINE("%s;", chance(g, 70) ? "break" : "continue");
    g->indent--;
    LINE("x%u ^= t%u;", pick(g, 4), name);
    g->indent--;
    LINE("}");
    if (one_side) {
        g->indent--;
        LINE("}");
    }
    if (chance(g, 50))
        LINE("x%u += t%u;", pick(g, 4), name);
    g->indent--;
    LINE("}");
}

static void leave(generator *g, bool uniform)
{
    if (g->in_function)
        return;
    if (!uniform && g->loops == 0 && (g->rounds > 0 || (!g->closed && g->left > 4)))
        return;
    margin(g);
    PUT("if (");
    if (uniform && !g->loops)
        PUT("workgroup_id(0) == %uu && n %% 2 == %uu", pick(g, 4), pick(g, 2));
    else
        condition(g);
    PUT(")\n");
    g->indent++;
    if (g->loops)
        LINE("%s;", chance(g, 60) ? "break" : "continue");
    else
        LINE("return;");
    g->indent--;
    if (!uniform && !g->loops)
        g->closed = true;
}

static void cooperate(generator *g)
{
    static const char *const reductions[] = {"add", "min", "max", "xor", "or"};
    unsigned name;
    switch (pick(g, g->subgroups ? 7 : 3)) {
    case 0:
        LINE("s[local_index()] = x%u;", pick(g, 4));
        LINE("barrier();");
        LINE("x%u += s[(local_index() + %uu) %% %uu];", pick(g, 4), 1 + pick(g, g->lanes),
             g->lanes);
        LINE("barrier();");
        return;
    case 1:
        name = g->uniforms;
        if (name < 4 && g->indent == 1) {
            LINE("u32 u%u = workgroup_uniform(x%u);", name, pick(g, 4));
            g->uniforms++;
        } else {
            LINE("x%u = workgroup_uniform(x%u);", pick(g, 4), pick(g, 4));
        }
        return;
    case 2:
        LINE("barrier();");
        return;
    case 3:
        LINE("x%u = subgroup_%s(x%u);", pick(g, 4), reductions[pick(g, 5)], pick(g, 4));
        return;
    case 4:
        LINE("g%u = subgroup_%s(g%u);", pick(g, 2), reductions[pick(g, 3)], pick(g, 2));
        return;
    case 5:
        LINE("x%u = subgroup_shuffle(x%u, %s);", pick(g, 4), pick(g, 4),
             chance(g, 50) ? "lane_id() ^ 4" : "x1");
        return;
    default:
        LINE("x%u = subgroup_ballot(x%u %% 3 == 1);", pick(g, 4), pick(g, 4));
        return;
    }
}

static void statement(generator *g, unsigned depth, bool uniform)
{
    unsigned way = pick(g, 20);
    if (g->left > 0)
        g->left--;
    if (uniform && !g->closed && !g->in_function && chance(g, 30)) {
        cooperate(g);
        return;
    }
    if (depth > 0 && g->left > 0) {
        if (way < 4) {
            branch(g, depth, uniform && !g->closed);
            return;
        }
        if (way < 7) {
            loop(g, depth, uniform && !g->closed);
            return;
        }
        if (way == 7) {
            choose(g, depth, uniform && !g->closed);
            return;
        }
    }
    if (way == 8) {
        leave(g, uniform);
    } else if (way == 9 && !g->in_function) {
        LINE("atomic_%s(&hist[x%u & 15], x%u);", (const char *[]){"add", "max", "xor"}[0],
             pick(g, 4), pick(g, 4));
    } else if (way == 10 && g->has_function && !g->in_function) {
        LINE("x%u = helper(x%u, g%u, a);", pick(g, 4), pick(g, 4), pick(g, 2));
    } else if (way == 12) {
        left_behind(g);
    } else if (way == 11 && !g->in_function && chance(g, 10)) {
        LINE("trap(x%u);", pick(g, 4));
    } else if (way < 15 && !g->in_function) {
        store(g);
    } else {
        assign(g);
    }
}

static void block(generator *g, unsigned depth, bool uniform)
{
    unsigned count = 1 + pick(g, 4);
    for (unsigned i = 0; i < count; i++)
        statement(g, depth, uniform);
}

/* --- the file
 * -------------------------------------------------------------------------------------------------
 */

static void function(generator *g)
{
    PUT("noinline u32 helper(u32 x0, f32 g0, const u32 *a)\n{\n");
    g->indent = 1;
    g->in_function = true;
    LINE("u32 x1 = x0 * 3;");
    LINE("u32 x2 = 7;");
    LINE("u32 x3 = a[x0 & 63];");
    LINE("f32 g1 = 0.25f;");
    LINE("if (x3 %% 5 == 1)");
    LINE("    return x0;");
    g->left = 8;
    block(g, 2, false);
    LINE("return x0 + x1 * 31 + x2 + x3 + f32_bits(g1 + g0);");
    PUT("}\n\n");
    g->in_function = false;
}

void ls__cooperate(uint64_t seed, ls__strbuf *out)
{
    static const unsigned shapes[][3] = {
        {64, 1, 1}, {32, 1, 1}, {96, 1, 1}, {128, 1, 1}, {8, 8, 1}, {16, 4, 1}, {4, 4, 1},
        {33, 1, 1}, {5, 1, 1},  {1, 1, 1},  {16, 16, 1}, {2, 3, 4}, {40, 1, 1}, {64, 2, 1}};
    generator generator = {.rng = {seed * 7919 + 1}, .out = out}, *g = &generator;
    const unsigned *shape = shapes[pick(g, sizeof shapes / sizeof *shapes)];
    g->lanes = shape[0] * shape[1] * shape[2];
    g->subgroups = g->lanes % 32 == 0 && chance(g, 60);
    g->has_function = chance(g, 50);
    PUT("// SPDX-License-Identifier: Apache-2.0\n");
    if (g->has_function)
        function(g);
    PUT("kernel workgroup(%u, %u, %u) void k(u32 n, const u32 *a, const f32 *f, const u8 *b, u32 "
        "*out, "
        "f32 *fout, u8 *bytes, u32 *hist)\n{\n",
        shape[0], shape[1], shape[2]);
    g->indent = 1;
    LINE("shared u32 s[%u];", g->lanes);
    LINE("u32 gid = workgroup_id(0) * %uu + local_index();", g->lanes);
    LINE("u32 arr[8];");
    LINE("for (u32 i = 0; i < 8; i++)");
    LINE("    arr[i] = i * gid;");
    LINE("u32 x0 = a[gid];");
    LINE("u32 x1 = gid;");
    LINE("u32 x2 = n;");
    LINE("u32 x3 = b[gid];");
    LINE("f32 g0 = f[gid];");
    LINE("f32 g1 = (f32)gid;");
    g->left = 12 + pick(g, 20);
    while (g->left > 0)
        statement(g, 3, true);
    LINE("out[gid] = x0 + 3 * x1 + 5 * x2 + 7 * x3 + arr[x0 & 7];");
    LINE("fout[gid] = g0 + g1;");
    PUT("}\n");
}
