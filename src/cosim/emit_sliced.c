/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bit-sliced form as Kernel C: bit i of a word belongs to instance i of a group of 64, a node
 * of w bits is w words, and lanes have groups side by side (kernels/sliced.kc). Gates, sums and
 * comparisons are bit operations in straight lines; products, quotients, shifts and memories are
 * islands: their operands are transposed, every instance computes its own, the results are
 * transposed back, all of it only when an operand has changed somewhere.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/slicer.h"

enum { COMMIT_WORDS = 200 }; /* of a function that takes next values into registers */

#define PUT(...) ls__strbuf_printf(s->text, __VA_ARGS__)

/* --- nodes ------------------------------------------------------------------------------------ */

static bool is_local(const ls__slicer *s, uint32_t node)
{
    return s->defined[node] == s->current;
}

/* Makes sure that an operand of one bit can be named. */
static void load(ls__slicer *s, uint32_t node)
{
    if (ls__slicer_width(s, node) > 1 || s->g->nodes[node].op == LS__NODE_CONST ||
        is_local(s, node) || s->loaded[node] == s->current)
        return;
    s->loaded[node] = s->current;
    PUT("u64 v%" PRIu32 " = x[%" PRIu32 "ul];\n", node, ls__slicer_place(s, s->at[node]));
}

static void bit(ls__slicer *s, uint32_t node, uint32_t b)
{
    const ls__node *n = &s->g->nodes[node];
    if (n->op == LS__NODE_CONST)
        PUT("%s", n->imm >> b & 1 ? "~0ul" : "0ul");
    else if (is_local(s, node))
        PUT("n%" PRIu32 "_%" PRIu32, node, b);
    else if (n->width == 1)
        PUT("v%" PRIu32, node);
    else
        PUT("x[%" PRIu32 "ul]", ls__slicer_place(s, s->at[node] + b));
}

/* What bit b of a node is: @a @b @c are the operands' bits, $a their lowest, # the carry into it.
 */
static void pattern(ls__slicer *s, uint32_t node, uint32_t b, const char *p)
{
    const ls__node *n = &s->g->nodes[node];
    for (; *p; p++) {
        if (*p == '#')
            PUT("c%" PRIu32 "_%" PRIu32, node, b);
        else if (*p == '@' || *p == '$') {
            bool lowest = *p++ == '$';
            bit(s, n->operands[*p - 'a'].index, lowest ? 0 : b);
        } else
            ls__strbuf_append(s->text, p, 1);
    }
}

static const char *const bit_patterns[LS__NODE_OP_COUNT] = {
    [LS__NODE_COPY] = "@a",
    [LS__NODE_NOT] = "~@a",
    [LS__NODE_AND] = "@a & @b",
    [LS__NODE_OR] = "@a | @b",
    [LS__NODE_XOR] = "@a ^ @b",
    [LS__NODE_ANDN] = "@a & ~@b",
    [LS__NODE_MUX] = "@b ^ ((@b ^ @c) & $a)",
    [LS__NODE_MUL] = "@a & @b",
    [LS__NODE_UDIV] = "@a & @b",
    [LS__NODE_UMOD] = "0ul",
    [LS__NODE_SHL] = "@a & ~@b",
    [LS__NODE_SHR] = "@a & ~@b",
    [LS__NODE_SAR] = "@a",
};

/* Bit by bit from the lowest: what the next carry is; the first is 0. */
static const char *const carries[LS__NODE_OP_COUNT] = {
    [LS__NODE_ADD] = "@a & @b | # & (@a ^ @b)",
    [LS__NODE_SUB] = "~@a & @b | # & ~(@a ^ @b)",
    [LS__NODE_EQ] = "# | @a ^ @b",
    [LS__NODE_NE] = "# | @a ^ @b",
    [LS__NODE_ULT] = "~@a & @b | # & ~(@a ^ @b)",
    [LS__NODE_ULE] = "~@b & @a | # & ~(@a ^ @b)",
    [LS__NODE_SLT] = "~@a & @b | # & ~(@a ^ @b)",
    [LS__NODE_SLE] = "~@b & @a | # & ~(@a ^ @b)",
    [LS__NODE_REDAND] = "# | ~@a",
    [LS__NODE_REDOR] = "# | @a",
    [LS__NODE_REDXOR] = "# ^ @a",
};

/* The last one of signed comparisons, where the top bits count the other way. */
static const char *const last_carries[LS__NODE_OP_COUNT] = {
    [LS__NODE_SLT] = "@a & ~@b | # & ~(@a ^ @b)",
    [LS__NODE_SLE] = "@b & ~@a | # & ~(@a ^ @b)",
};

static void define(ls__slicer *s, uint32_t node, uint32_t b)
{
    PUT("u64 n%" PRIu32 "_%" PRIu32 " = ", node, b);
}

/* Operations in which bits depend on those below. */
static void emit_carried(ls__slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    bool sum = n->op == LS__NODE_ADD || n->op == LS__NODE_SUB;
    bool inverted = n->op == LS__NODE_EQ || n->op == LS__NODE_ULE || n->op == LS__NODE_SLE ||
                    n->op == LS__NODE_REDAND;
    uint32_t width = ls__slicer_width(s, n->operands[0].index);
    PUT("u64 c%" PRIu32 "_0 = 0ul;\n", node);
    for (uint32_t b = 0; b < width; b++) {
        const char *p =
            b + 1 == width && last_carries[n->op] ? last_carries[n->op] : carries[n->op];
        if (sum) {
            define(s, node, b);
            pattern(s, node, b, "@a ^ @b ^ #;\n");
        }
        if (sum && b + 1 == width)
            return;
        PUT("u64 c%" PRIu32 "_%" PRIu32 " = ", node, b + 1);
        pattern(s, node, b, p);
        PUT(";\n");
    }
    define(s, node, 0);
    PUT("%sc%" PRIu32 "_%" PRIu32 ";\n", inverted ? "~" : "", node, width);
}

/* Operations that only move bits. */
static void emit_moved(ls__slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    uint32_t a = n->operands[0].index, a_width = ls__slicer_width(s, a);
    for (uint32_t b = 0; b < n->width; b++) {
        define(s, node, b);
        if (n->op == LS__NODE_SLICE)
            bit(s, a, b + (uint32_t)n->imm);
        else if (b < a_width)
            bit(s, a, b);
        else if (n->op == LS__NODE_CONCAT)
            bit(s, n->operands[1].index, b - a_width);
        else if (n->op == LS__NODE_SEXT)
            bit(s, a, a_width - 1);
        else
            PUT("0ul");
        PUT(";\n");
    }
}

static void emit_hold(ls__slicer *s, uint32_t node)
{
    for (uint32_t b = 0; b < ls__slicer_width(s, node); b++) {
        uint32_t at = ls__slicer_place(s, s->at[node] + b);
        define(s, node, b);
        PUT("x[%" PRIu32 "ul] & ~", at);
        pattern(s, node, b, "@a | @b & @a;\n");
        if (s->g->nodes[node].flags & LS__NODE_LOOP)
            PUT("x[CHANGED] |= x[%" PRIu32 "ul] ^ n%" PRIu32 "_%" PRIu32 ";\n", at, node, b);
    }
}

static void emit_node(ls__slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    for (uint32_t k = 0; k < ls__node_operand_count(n->op); k++)
        load(s, n->operands[k].index);
    if (n->op == LS__NODE_HOLD) {
        emit_hold(s, node);
    } else if (carries[n->op]) {
        emit_carried(s, node);
    } else if (bit_patterns[n->op]) {
        for (uint32_t b = 0; b < n->width; b++) {
            define(s, node, b);
            pattern(s, node, b, bit_patterns[n->op]);
            PUT(";\n");
        }
    } else {
        emit_moved(s, node);
    }
    s->defined[node] = s->current;
    for (uint32_t b = 0; s->at[node] != LS__NO_SLOT && b < n->width; b++)
        PUT("x[%" PRIu32 "ul] = n%" PRIu32 "_%" PRIu32 ";\n", ls__slicer_place(s, s->at[node] + b),
            node, b);
}

/* --- islands ---------------------------------------------------------------------------------- */

/* Values of a node by instance, in a set of rows. */
static void emit_rows(ls__slicer *s, uint32_t node, uint32_t set)
{
    if (s->g->nodes[node].op != LS__NODE_CONST)
        PUT("fill_rows(state, ROWS + %" PRIu32 "ul, %" PRIu32 "ul, %uu);\ntranspose_%" PRIu32
            "(state);\n",
            ls__slicer_place(s, set * 64), ls__slicer_place(s, s->at[node]),
            ls__slicer_width(s, node), set);
}

static void emit_row(ls__slicer *s, const char *name, uint32_t node, uint32_t set)
{
    if (s->g->nodes[node].op == LS__NODE_CONST)
        PUT("u64 %s = %" PRIu64 "ul;\n", name, s->g->nodes[node].imm);
    else
        PUT("u64 %s = x[ROWS + %" PRIu32 "ul + (u64)(i & 63u) * STEP];\n", name,
            ls__slicer_place(s, set * 64));
}

/* The memories of instance i of a group. */
static const char memory_of_instance[] =
    "u64 *m = memory + ((u64)global_id(0) * 64ul + (u64)i) * MEMORY_WORDS;\n";

/* Words of the instances that need it. */
static void emit_memory_read(ls__slicer *s, const ls__node *n)
{
    const ls__graph_memory *m = &s->g->memories[(uint32_t)n->imm];
    PUT("for (u64 rest = need; rest != 0ul; rest &= rest - 1ul) {\nu32 i = ctz(rest);\n%s",
        memory_of_instance);
    emit_row(s, "a", n->operands[0].index, 0);
    PUT("u64 r = 0ul;\nif (a < %" PRIu32 "ul)\nr = m[%" PRIu64 "ul + a * %" PRIu32 "ul];\n",
        m->depth, s->cosim->layout.memory_at[(uint32_t)n->imm] + (n->imm >> 32), m->limbs);
    PUT("x[ROWS + (u64)(i & 63u) * STEP] = r;\n}\n");
}

static void emit_values(ls__slicer *s, const ls__node *n)
{
    static const char *const values[LS__NODE_OP_COUNT] = {
        [LS__NODE_MUL] = "a * b",
        [LS__NODE_MULHI] = "mulhi(a, b)",
        [LS__NODE_UDIV] = "b == 0ul ? 0ul : a / b",
        [LS__NODE_UMOD] = "b == 0ul ? 0ul : a % b",
        [LS__NODE_SHL] = "b >= W ? 0ul : a << b",
        [LS__NODE_SHR] = "b >= W ? 0ul : a >> b",
        [LS__NODE_SAR] = "(u64)((i64)sign_extend(a, (u32)W) >> (b >= W ? 63ul : b))",
    };
    PUT("for (u32 i = 0u; i < 64u; i++) {\n");
    for (uint32_t k = 0; k < ls__node_operand_count(n->op); k++)
        emit_row(s, k ? "b" : "a", n->operands[k].index, k);
    PUT("u64 r = ");
    for (const char *value = values[n->op]; *value; value++) {
        if (*value == 'W')
            PUT("%uul", n->width);
        else
            ls__strbuf_append(s->text, value, 1);
    }
    PUT(";\nx[ROWS + (u64)(i & 63u) * STEP] = r;\n}\n");
}

static void emit_island(ls__slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    PUT("u64 need = %s;\n", s->island[node] ? "x[NEED] & x[PRESENT]" : "x[PRESENT]");
    for (uint32_t k = 0; k < ls__node_operand_count(n->op); k++)
        emit_rows(s, n->operands[k].index, k);
    if (n->op == LS__NODE_MEM)
        emit_memory_read(s, n);
    else
        emit_values(s, n);
    PUT("transpose_0(state);\nfor (u64 b = 0ul; b < %uul; b++)\nx[%" PRIu32
        "ul + b * STEP] = (x[%" PRIu32 "ul + b * STEP] & ~need) | (x[ROWS + b * STEP] & need);\n",
        n->width, ls__slicer_place(s, s->at[node]), ls__slicer_place(s, s->at[node]));
    s->defined[node] = s->current;
}

/* In which instances an operand of a conditional island has changed, or a word of its memory. */
static void emit_need(ls__slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    uint32_t previous = s->operands[node],
             stale = ls__slicer_place(s, s->stale + s->island[node] - 1);
    PUT("noinline u64 ls_need_%" PRIu32 "(SLICE)\n{\nWORDS\nu64 need = x[%" PRIu32
        "ul];\nx[%" PRIu32 "ul] = 0ul;\n",
        s->island[node], stale, stale);
    for (uint32_t k = 0; k < ls__node_operand_count(n->op); k++) {
        uint32_t operand = n->operands[k].index, width = ls__slicer_width(s, operand);
        if (s->g->nodes[operand].op == LS__NODE_CONST)
            continue;
        PUT("for (u64 b = 0ul; b < %" PRIu32 "ul; b++) {\nu64 now = x[%" PRIu32
            "ul + b * STEP];\nneed |= now ^ x[%" PRIu32 "ul + b * STEP];\nx[%" PRIu32
            "ul + b * STEP] = now;\n}\n",
            width, ls__slicer_place(s, s->at[operand]), ls__slicer_place(s, previous),
            ls__slicer_place(s, previous));
        previous += width;
    }
    PUT("x[NEED] = need;\nreturn need;\n}\n");
}

/* --- functions -------------------------------------------------------------------------------- */

static void emit_functions(ls__slicer *s)
{
    for (uint32_t i = 0; i < s->plan->order_count;) {
        uint32_t first = s->plan->order[i];
        s->current = s->function[first];
        if (s->island_of[s->current] != LS__NO_SLOT)
            emit_need(s, first);
        PUT("noinline void ls_slice_%" PRIu32 "(SLICE, u64 *memory)\n{\nWORDS\n", s->current);
        for (; i < s->plan->order_count && s->function[s->plan->order[i]] == s->current; i++) {
            if (ls__slicer_is_island(s->g, s->plan->order[i]))
                emit_island(s, s->plan->order[i]);
            else
                emit_node(s, s->plan->order[i]);
        }
        PUT("}\n");
    }
}

/* Calls of functions in a row that are always evaluated: from `first` up to what is returned. */
static uint32_t emit_part(ls__slicer *s, uint32_t first, uint32_t end)
{
    PUT("noinline void ls_part_%" PRIu32 "(SLICE, u64 *memory)\n{\n", first);
    for (; first <= end && s->island_of[first] == LS__NO_SLOT; first++)
        PUT("ls_slice_%" PRIu32 "(state, memory);\n", first);
    PUT("}\n");
    return first;
}

static void emit_evaluation(ls__slicer *s, const char *name, uint32_t first, uint32_t end)
{
    for (uint32_t f = first; f <= end;)
        f = s->island_of[f] == LS__NO_SLOT ? emit_part(s, f, end) : f + 1;
    PUT("static u32 %s(SLICE, u64 *votes, u64 *memory)\n{\nu32 functions = 0u;\n", name);
    for (uint32_t f = first; f <= end; f++) {
        if (s->island_of[f] != LS__NO_SLOT) {
            PUT("if (any(votes, ls_need_%" PRIu32 "(state)) != 0ul) {\nls_slice_%" PRIu32
                "(state, memory);\nfunctions++;\n}\n",
                s->island[s->island_of[f]], f);
            continue;
        }
        uint32_t part = f;
        while (f < end && s->island_of[f + 1] == LS__NO_SLOT)
            f++;
        PUT("ls_part_%" PRIu32 "(state, memory);\nfunctions += %" PRIu32 "u;\n", part,
            f - part + 1);
    }
    PUT("return functions;\n}\n");
}

/* --- what clocks do -----------------------------------------------------------------------------
 */

/* A write port: in which instances it writes, and writing. */
static void emit_write(ls__slicer *s, uint32_t number)
{
    const ls__graph_write *w = &s->g->writes[number];
    const ls__graph_memory *m = &s->g->memories[w->memory];
    PUT("noinline u64 ls_writes_%" PRIu32 "(SLICE)\n{\nWORDS\nu64 mask = 0ul;\n", number);
    for (uint32_t k = 0; k < m->limbs; k++)
        PUT("for (u64 b = 0ul; b < %uul; b++)\nmask |= x[%" PRIu32 "ul + b * STEP];\n",
            ls__slicer_width(s, w->enables[k].index),
            ls__slicer_place(s, s->at[w->enables[k].index]));
    PUT("return mask & x[TRIGGERED_WORDS + %" PRIu32 "ul];\n}\n", ls__slicer_place(s, w->domain));
    PUT("noinline void ls_write_%" PRIu32 "(SLICE, u64 *memory, u64 mask)\n{\nWORDS\n", number);
    emit_rows(s, w->address.index, 0);
    for (uint32_t k = 0; k < m->limbs; k++) {
        emit_rows(s, w->enables[k].index, 1);
        emit_rows(s, w->data[k].index, 2);
        PUT("for (u64 rest = mask; rest != 0ul; rest &= rest - 1ul) {\nu32 i = ctz(rest);\n%s",
            memory_of_instance);
        emit_row(s, "a", w->address.index, 0);
        emit_row(s, "e", w->enables[k].index, 1);
        emit_row(s, "d", w->data[k].index, 2);
        PUT("if (a < %" PRIu32 "ul && e != 0ul) {\nu64 at = %" PRIu64 "ul + a * %" PRIu32
            "ul;\nm[at] = (m[at] & ~e) | (d & e);\n}\n}\n",
            m->depth, s->cosim->layout.memory_at[w->memory] + k, m->limbs);
    }
    for (uint32_t i = 0; i < s->plan->order_count; i++) {
        uint32_t n = s->plan->order[i];
        if (s->island[n] && s->g->nodes[n].op == LS__NODE_MEM &&
            (uint32_t)s->g->nodes[n].imm == w->memory)
            PUT("x[STALE + %" PRIu32 "ul] |= mask;\n", ls__slicer_place(s, s->island[n] - 1));
    }
    PUT("}\n");
}

/* Functions that take next values into registers of a domain; their numbers go on from `count`. */
static uint32_t emit_registers(ls__slicer *s, uint32_t domain, uint32_t count)
{
    uint32_t words = 0;
    bool open = false;
    for (uint32_t i = 0; i < s->g->reg_count; i++) {
        const ls__reg *reg = &s->g->regs[i];
        if (reg->domain != domain)
            continue;
        if (open && words > COMMIT_WORDS) {
            PUT("}\n");
            open = false;
        }
        if (!open) {
            PUT("noinline void ls_commit_%" PRIu32 "(SLICE)\n{\nWORDS\nu64 t = x[TRIGGERED_WORDS + "
                "%" PRIu32 "ul];\n",
                count++, ls__slicer_place(s, domain));
            words = 0;
            open = true;
        }
        uint32_t to = s->at[reg->node.index], from = s->at[reg->next.index];
        for (uint32_t b = 0; b < ls__slicer_width(s, reg->node.index); b++, words++)
            PUT("x[%" PRIu32 "ul] ^= (x[%" PRIu32 "ul] ^ x[%" PRIu32 "ul]) & t;\n",
                ls__slicer_place(s, to + b), ls__slicer_place(s, to + b),
                ls__slicer_place(s, from + b));
    }
    if (open)
        PUT("}\n");
    return count;
}

static void emit_commit(ls__slicer *s)
{
    uint32_t domain_count = s->g->domain_count;
    uint32_t *ends = LS__NEW_ARRAY(s->arena, uint32_t, domain_count + 1);
    for (uint32_t i = 0; i < s->g->write_count; i++)
        emit_write(s, i);
    for (uint32_t d = 0; d < domain_count; d++)
        ends[d + 1] = emit_registers(s, d, ends[d]);
    PUT("static void commit(SLICE, u64 *votes, u64 *memory, u64 domains)\n{\n");
    for (uint32_t i = 0; i < s->g->write_count; i++)
        PUT("u64 mask_%" PRIu32 " = ls_writes_%" PRIu32 "(state);\nif (any(votes, mask_%" PRIu32
            ") != 0ul)\nls_write_%" PRIu32 "(state, memory, mask_%" PRIu32 ");\n",
            i, i, i, i, i);
    for (uint32_t d = 0; d < domain_count; d++) {
        if (ends[d] == ends[d + 1])
            continue;
        PUT("if ((domains >> %uu & 1ul) != 0ul) {\n", d < 63 ? d : 63);
        for (uint32_t i = ends[d]; i < ends[d + 1]; i++)
            PUT("ls_commit_%" PRIu32 "(state);\n", i);
        PUT("}\n");
    }
    PUT("}\n");
}

/* --- the form --------------------------------------------------------------------------------- */

/* Appends a list to the table and names its place and number of entries. */
static void write_list(ls__slicer *s, ls__words *t, const ls__words *list, const char *place,
                       const char *count, uint32_t entry)
{
    PUT("#define %s %" PRIu32 "u\n", place, t->count);
    if (count)
        PUT("#define %s %" PRIu32 "u\n", count, list->count / entry);
    for (uint32_t i = 0; i < list->count; i++)
        ls__vec_push(s->arena, t, list->items[i]);
}

static void write_lists(ls__slicer *s, ls__words *t)
{
    write_list(s, t, &s->constants, "T_CONSTANTS", "CONSTANTS", 2);
    write_list(s, t, &s->packed, "T_PACKED", "PACKED", 4);
    write_list(s, t, &s->kept, "T_KEPT", "KEPT", 4);
    write_list(s, t, &s->mirrors, "T_MIRRORS", "MIRRORS", 4);
    write_list(s, t, &s->watched, "T_WATCHED", NULL, 4);
    write_list(s, t, &s->inputs, "T_SLICED_INPUTS", NULL, 2);
    write_list(s, t, &s->clocks, "T_CLOCKS", NULL, 2);
    write_list(s, t, &s->enables, "T_ENABLES", NULL, 2);
    write_list(s, t, &s->free_words, "T_FREE_WORDS", "FREE_WORDS", 1);
    write_list(s, t, &s->effect_nodes, "T_EFFECT_NODES", "EFFECT_NODES", 4);
    write_list(s, t, &s->traced, "T_TRACED", NULL, 4);
    const struct {
        const char *name;
        uint32_t value;
    } places[] = {{"CHANGED", s->changed},
                  {"NEED", s->need},
                  {"PRESENT", s->present},
                  {"HALTED", s->halted},
                  {"EVALUATED_COUNT", s->evaluated},
                  {"STALE", s->stale},
                  {"ROWS", s->rows},
                  {"SUMS", s->sums},
                  {"SEEN_WORDS", s->seen},
                  {"TRIGGERED_WORDS", s->triggered},
                  {"FREE_PREVIOUS", s->free_previous},
                  {"STEP", 1}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        PUT("#define %s %" PRIu32 "ul\n", places[i].name, ls__slicer_place(s, places[i].value));
    PUT("#define ISLANDS %" PRIu32 "ul\n", s->islands);
}

static ls_status write_table(ls__slicer *s, ls__words *t, ls_error *error)
{
    ls__form *form = s->form;
    form->table_words = t->count ? t->count : 1;
    form->table = ls__mem_alloc(form->table_words, sizeof *form->table);
    if (!form->table)
        return ls__fail_oom(error, form->table_words * sizeof *form->table);
    if (t->count)
        memcpy(form->table, t->items, t->count * sizeof *form->table);
    return LS_OK;
}

static ls_status build(const ls_cosim *cosim, ls__form *form, ls__arena *arena, ls__strbuf *text,
                       ls_error *error)
{
    uint32_t groups = (cosim->instances + 63) / 64;
    form->sliced = true;
    form->groups = (groups + form->lanes - 1) / form->lanes * form->lanes;
    ls__slicer *s = ls__slicer_create(cosim, form, arena);
    s->text = text;
    form->block_count = s->functions;
    ls_status status = ls__traces_create(cosim, form, error);
    if (status != LS_OK)
        return status;
    ls__slicer_list_traced(s);
    ls__words t = {0};
    ls__sections_write(cosim, form, &t, arena);
    ls__prelude_write(cosim, form, text);
    write_lists(s, &t);
    PUT("#include \"lockstep:slices.kc\"\n");
    emit_functions(s);
    emit_evaluation(s, "evaluate_early", 1, s->early_functions);
    emit_evaluation(s, "evaluate_late", s->early_functions + 1, s->functions);
    emit_commit(s);
    PUT("#include \"lockstep:sliced.kc\"\n");
    return write_table(s, &t, error);
}

/* Lanes of the CPU's code make vectors of four words, the registers of AVX2; on other devices a
 * lane is enough work. */
static uint32_t lanes_of(const ls_cosim *cosim)
{
    uint32_t groups = (cosim->instances + 63) / 64;
    if (strcmp(ls_device_name(cosim->device), "cpu") != 0 || groups == 1)
        return 1;
    return groups == 2 ? 2 : 4;
}

ls_status ls__sliced_create(const ls_cosim *cosim, ls__form **out, ls_error *error)
{
    return ls__form_build(cosim, LS_COSIM_SLICED, lanes_of(cosim), build, out, error);
}

bool ls__sliced_suits(const ls_cosim *cosim)
{
    uint64_t cost = 0;
    for (uint32_t n = 0; n < cosim->graph->node_count; n++)
        cost += ls__slicer_cost(cosim->graph, n);
    return cosim->instances >= 32 && !cosim->params.ungated &&
           cost < (uint64_t)cosim->graph->node_count * 16;
}
