/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bit-sliced form as Kernel C: bit i of a word belongs to instance i of a group of 64, and a
 * node of w bits is w words (kernels/sliced.kc). Gates, sums and comparisons are bit operations in
 * straight lines; products, quotients, shifts and memories are islands: their operands are
 * transposed, every instance computes its own, the results are transposed back.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/plan.h"

enum { FUNCTION_OPERATIONS = 400, COMMIT_WORDS = 256, ROWS_SETS = 3 };

typedef struct slicer {
    const ls_cosim *cosim;
    const ls__graph *g;
    ls__form *form;
    const ls__cosim_cut *plan;
    ls__arena *arena;
    ls__strbuf *text;
    uint32_t *at;       /* by node: its first word, or LS__NO_SLOT */
    uint32_t *function; /* by node: 1 + the function that evaluates it */
    uint32_t *defined;  /* by node: as `function`, once it is written */
    uint32_t *loaded;   /* by node of one bit: 1 + the function that has loaded it */
    uint32_t *previous; /* by node: words of what it was, for pins */
    uint32_t words, functions, early_functions, current;
    uint32_t changed, rows, seen, triggered, free_previous;
    ls__words constants, packed, kept, mirrors, watched, inputs, clocks, enables, free_words;
} slicer;

#define PUT(...) ls__strbuf_printf(s->text, __VA_ARGS__)

static uint8_t width_of(const slicer *s, uint32_t node)
{
    return s->g->nodes[node].width;
}

/* Whether each instance computes it. */
static bool is_island(const slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    switch (n->op) {
    case LS__NODE_MEM:
    case LS__NODE_MULHI:
    case LS__NODE_SHL:
    case LS__NODE_SHR:
    case LS__NODE_SAR:
        return true;
    case LS__NODE_MUL:
    case LS__NODE_UDIV:
    case LS__NODE_UMOD:
        return n->width > 1;
    default:
        return false;
    }
}

/* Operations on words that a node takes, about. */
static uint32_t cost_of(const slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    uint32_t a_width = ls__node_operand_count(n->op) ? width_of(s, n->operands[0].index) : 1;
    uint32_t width = n->width > a_width ? n->width : a_width;
    if (is_island(s, node))
        return 2000;
    return n->op == LS__NODE_ADD || n->op == LS__NODE_SUB ? width * 5 : width;
}

/* --- functions and places --------------------------------------------------------------------- */

static void divide(slicer *s)
{
    uint32_t size = 0;
    bool alone = true;
    for (uint32_t i = 0; i < s->plan->order_count; i++) {
        uint32_t n = s->plan->order[i];
        bool island = is_island(s, n);
        if (island || alone || i == s->plan->early_count || size > FUNCTION_OPERATIONS) {
            s->functions++;
            size = 0;
        }
        s->function[n] = s->functions;
        if (i < s->plan->early_count)
            s->early_functions = s->functions;
        alone = island;
        size += cost_of(s, n);
    }
}

static uint32_t take(slicer *s, uint32_t count)
{
    uint32_t at = s->words;
    s->words += count;
    return at;
}

static void push(slicer *s, ls__words *list, uint32_t word)
{
    ls__vec_push(s->arena, list, word);
}

static void push_entry(slicer *s, ls__words *list, uint32_t at, uint32_t width, uint32_t slot,
                       uint32_t previous)
{
    push(s, list, at);
    push(s, list, width);
    push(s, list, slot);
    push(s, list, previous);
}

/* Gives a node words. */
static void keep(slicer *s, uint32_t node)
{
    if (s->at[node] != LS__NO_SLOT)
        return;
    const ls__node *n = &s->g->nodes[node];
    s->at[node] = take(s, n->width);
    for (uint32_t b = 0; n->op == LS__NODE_CONST && b < n->width; b++) {
        push(s, &s->constants, s->at[node] + b);
        push(s, &s->constants, (uint32_t)(n->imm >> b & 1));
    }
}

/* Gives a node words, and a slot in every instance. */
static void keep_slot(slicer *s, uint32_t node)
{
    keep(s, node);
    ls__place *place = &s->form->places[node];
    if (place->slot != LS__NO_SLOT)
        return;
    place->slot = s->form->slot_count++;
    push_entry(s, &s->kept, s->at[node], width_of(s, node), place->slot, 0);
}

static void keep_state(slicer *s)
{
    const ls__graph *g = s->g;
    for (uint32_t i = 0; i < g->initial_count; i++) {
        uint32_t node = g->initials[i].node.index;
        keep_slot(s, node);
        push_entry(s, &s->packed, s->at[node], width_of(s, node), s->form->places[node].slot, 0);
    }
    for (uint32_t i = 0; i < g->input_count; i++) {
        uint32_t node = g->inputs[i].node.index;
        s->form->places[node].slot = s->cosim->layout.inputs + i;
        keep(s, node);
        push(s, &s->inputs, s->at[node]);
        push(s, &s->inputs, width_of(s, node));
        push_entry(s, &s->packed, s->at[node], width_of(s, node), s->form->places[node].slot, 0);
    }
    for (uint32_t i = 0; i < g->reg_count; i++)
        keep(s, g->regs[i].next.index);
    for (uint32_t i = 0; i < g->write_count; i++) {
        keep(s, g->writes[i].address.index);
        for (uint32_t k = 0; k < g->memories[g->writes[i].memory].limbs; k++) {
            keep(s, g->writes[i].enables[k].index);
            keep(s, g->writes[i].data[k].index);
        }
    }
}

/* What one function computes and another reads. */
static void keep_shared(slicer *s)
{
    for (uint32_t i = 0; i < s->plan->order_count; i++) {
        uint32_t n = s->plan->order[i];
        const ls__node *node = &s->g->nodes[n];
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++) {
            uint32_t operand = node->operands[k].index;
            if (s->g->nodes[operand].op != LS__NODE_CONST &&
                (is_island(s, n) || s->function[operand] != s->function[n] ||
                 (s->g->nodes[operand].flags & LS__NODE_LOOP)))
                keep(s, operand);
        }
        if (is_island(s, n))
            keep(s, n);
    }
}

static void keep_effects(slicer *s)
{
    const ls__graph *g = s->g;
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        keep_slot(s, e->enable.index);
        push(s, &s->enables, s->at[e->enable.index]);
        bool has_condition = e->kind == 1 || e->kind == 2;
        if (has_condition)
            keep_slot(s, e->condition.index);
        for (uint32_t k = 0; k < e->argument_count; k++)
            keep_slot(s, e->arguments[k].index);
        if (e->domain_count)
            continue;
        push(s, &s->free_words, s->at[e->enable.index]);
        if (has_condition)
            push(s, &s->free_words, s->at[e->condition.index]);
        for (uint32_t k = 0; k < e->argument_count; k++)
            for (uint32_t b = 0; b < width_of(s, e->arguments[k].index); b++)
                push(s, &s->free_words, s->at[e->arguments[k].index] + b);
    }
    s->free_previous = take(s, s->free_words.count);
}

static void keep_observed(slicer *s)
{
    const ls__graph *g = s->g;
    const ls__layout *l = &s->cosim->layout;
    for (uint32_t i = 0; i < l->observed_count; i++) {
        const ls__observed *o = &l->observed[i];
        uint32_t width = (uint32_t)__builtin_popcountll(o->mask);
        keep(s, o->node.index);
        uint32_t previous = take(s, width);
        push_entry(s, &s->watched, s->at[o->node.index] + o->lsb, width, l->outputs + i, previous);
        push_entry(s, &s->packed, previous, width, l->outputs + i, 0);
        push_entry(s, &s->kept, previous, width, l->outputs + i, 0);
    }
    for (uint32_t i = 0; i < l->piece_count; i++) {
        uint32_t node = l->pieces[i].node.index, width = width_of(s, node);
        if (s->g->nodes[node].op != LS__NODE_INPUT)
            keep_slot(s, node);
        if (s->g->nodes[node].op == LS__NODE_INPUT || s->previous[node])
            continue;
        s->previous[node] = take(s, width);
        push_entry(s, &s->mirrors, s->at[node], width, s->form->places[node].slot,
                   s->previous[node]);
    }
    for (uint32_t i = 0; i < s->cosim->params.trace_count; i++) {
        const ls__graph_signal *signal = &g->signals[s->cosim->params.trace[i]];
        for (uint32_t k = 0; k < signal->piece_count; k++)
            keep_slot(s, signal->pieces[k].node.index);
    }
    for (uint32_t d = 0; d < g->domain_count; d++) {
        keep(s, g->domains[d].clock.index);
        push(s, &s->clocks, s->at[g->domains[d].clock.index]);
        push(s, &s->clocks, g->domains[d].rising);
    }
}

static void find_places(slicer *s)
{
    for (uint32_t n = 0; n < s->g->node_count; n++) {
        s->at[n] = LS__NO_SLOT;
        s->form->places[n] = (ls__place){LS__NO_SLOT, 0};
    }
    s->form->slot_count = s->cosim->layout.common;
    s->changed = take(s, 1);
    s->rows = take(s, ROWS_SETS * 64);
    s->seen = take(s, s->g->domain_count);
    s->triggered = take(s, s->g->domain_count);
    keep_state(s);
    keep_shared(s);
    keep_effects(s);
    keep_observed(s);
    s->form->slice_words = s->words;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static bool is_local(const slicer *s, uint32_t node)
{
    return s->defined[node] == s->current;
}

/* Makes sure that an operand of one bit can be named. */
static void load(slicer *s, uint32_t node)
{
    if (width_of(s, node) > 1 || s->g->nodes[node].op == LS__NODE_CONST || is_local(s, node) ||
        s->loaded[node] == s->current)
        return;
    s->loaded[node] = s->current;
    PUT("u64 v%" PRIu32 " = x[%" PRIu32 "ul];\n", node, s->at[node]);
}

static void bit(slicer *s, uint32_t node, uint32_t b)
{
    const ls__node *n = &s->g->nodes[node];
    if (n->op == LS__NODE_CONST)
        PUT("%s", n->imm >> b & 1 ? "~0ul" : "0ul");
    else if (is_local(s, node))
        PUT("n%" PRIu32 "_%" PRIu32, node, b);
    else if (n->width == 1)
        PUT("v%" PRIu32, node);
    else
        PUT("x[%" PRIu32 "ul]", s->at[node] + b);
}

/* What bit b of a node is: @a @b @c are the operands' bits, $a their lowest, # the carry into it.
 */
static void pattern(slicer *s, uint32_t node, uint32_t b, const char *p)
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

static void define(slicer *s, uint32_t node, uint32_t b)
{
    PUT("u64 n%" PRIu32 "_%" PRIu32 " = ", node, b);
}

/* Operations in which bits depend on those below. */
static void emit_carried(slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    bool sum = n->op == LS__NODE_ADD || n->op == LS__NODE_SUB;
    bool inverted = n->op == LS__NODE_EQ || n->op == LS__NODE_ULE || n->op == LS__NODE_SLE ||
                    n->op == LS__NODE_REDAND;
    uint32_t width = width_of(s, n->operands[0].index);
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
static void emit_moved(slicer *s, uint32_t node)
{
    const ls__node *n = &s->g->nodes[node];
    uint32_t a = n->operands[0].index, a_width = width_of(s, a);
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

static void emit_hold(slicer *s, uint32_t node)
{
    for (uint32_t b = 0; b < width_of(s, node); b++) {
        uint32_t at = s->at[node] + b;
        define(s, node, b);
        PUT("x[%" PRIu32 "ul] & ~", at);
        pattern(s, node, b, "@a | @b & @a;\n");
        if (s->g->nodes[node].flags & LS__NODE_LOOP)
            PUT("x[%" PRIu32 "ul] |= x[%" PRIu32 "ul] ^ n%" PRIu32 "_%" PRIu32 ";\n", s->changed,
                at, node, b);
    }
}

static void emit_node(slicer *s, uint32_t node)
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
        PUT("x[%" PRIu32 "ul] = n%" PRIu32 "_%" PRIu32 ";\n", s->at[node] + b, node, b);
}

/* --- islands ---------------------------------------------------------------------------------- */

/* Values of a node by instance, in a set of rows. */
static void emit_rows(slicer *s, uint32_t node, uint32_t set)
{
    if (s->g->nodes[node].op != LS__NODE_CONST)
        PUT("to_rows(state, group, %" PRIu32 "ul, %uu, ROWS + %" PRIu32 "ul);\n", s->at[node],
            width_of(s, node), set * 64);
}

static void emit_row(slicer *s, const char *name, uint32_t node, uint32_t set)
{
    if (s->g->nodes[node].op == LS__NODE_CONST)
        PUT("u64 %s = %" PRIu64 "ul;\n", name, s->g->nodes[node].imm);
    else
        PUT("u64 %s = x[ROWS + %" PRIu32 "ul + (u64)(i & 63u)];\n", name, set * 64);
}

static void emit_island(slicer *s, uint32_t node)
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
    const ls__node *n = &s->g->nodes[node];
    uint32_t operands = ls__node_operand_count(n->op);
    for (uint32_t k = 0; k < operands; k++)
        emit_rows(s, n->operands[k].index, k);
    PUT("for (u32 i = 0u; i < min(64u, INSTANCES - (u32)group * 64u); i++) {\n");
    for (uint32_t k = 0; k < operands; k++)
        emit_row(s, k ? "b" : "a", n->operands[k].index, k);
    if (n->op == LS__NODE_MEM) {
        const ls__graph_memory *m = &s->g->memories[(uint32_t)n->imm];
        PUT("u64 *m = memory + (group * 64ul + (u64)i) * MEMORY_WORDS;\nu64 r = 0ul;\nif (a < "
            "%" PRIu32 "ul)\nr = m[%" PRIu64 "ul + a * %" PRIu32 "ul];\n",
            m->depth, s->cosim->layout.memory_at[(uint32_t)n->imm] + (n->imm >> 32), m->limbs);
    } else {
        const char *value = values[n->op];
        PUT("u64 r = ");
        for (; *value; value++) {
            if (*value == 'W')
                PUT("%uul", n->width);
            else
                ls__strbuf_append(s->text, value, 1);
        }
        PUT(";\n");
    }
    PUT("x[ROWS + (u64)(i & 63u)] = r;\n}\n");
    PUT("from_rows(state, group, ROWS, %uu, %" PRIu32 "ul);\n", n->width, s->at[node]);
    s->defined[node] = s->current;
}

/* --- functions -------------------------------------------------------------------------------- */

static void emit_functions(slicer *s)
{
    for (uint32_t i = 0; i < s->plan->order_count;) {
        s->current = s->function[s->plan->order[i]];
        PUT("noinline void ls_slice_%" PRIu32 "(SLICE, u64 *memory)\n{\nWORDS\n", s->current);
        for (; i < s->plan->order_count && s->function[s->plan->order[i]] == s->current; i++) {
            if (is_island(s, s->plan->order[i]))
                emit_island(s, s->plan->order[i]);
            else
                emit_node(s, s->plan->order[i]);
        }
        PUT("}\n");
    }
}

static void emit_calls(slicer *s, const char *name, uint32_t first, uint32_t end)
{
    PUT("noinline void %s(SLICE, u64 *memory)\n{\n", name);
    for (uint32_t f = first; f <= end; f++)
        PUT("ls_slice_%" PRIu32 "(state, group, memory);\n", f);
    PUT("}\n");
}

static void emit_write(slicer *s, uint32_t number)
{
    const ls__graph_write *w = &s->g->writes[number];
    const ls__graph_memory *m = &s->g->memories[w->memory];
    PUT("noinline void ls_write_%" PRIu32 "(SLICE, u64 *memory)\n{\nWORDS\nu64 mask = 0ul", number);
    for (uint32_t k = 0; k < m->limbs; k++)
        for (uint32_t b = 0; b < width_of(s, w->enables[k].index); b++)
            PUT(" | x[%" PRIu32 "ul]", s->at[w->enables[k].index] + b);
    PUT(";\nmask &= x[TRIGGERED_WORDS + %" PRIu32 "ul];\nif (mask == 0ul)\nreturn;\n", w->domain);
    emit_rows(s, w->address.index, 0);
    for (uint32_t k = 0; k < m->limbs; k++) {
        emit_rows(s, w->enables[k].index, 1);
        emit_rows(s, w->data[k].index, 2);
        PUT("for (u64 rest = mask; rest != 0ul; rest &= rest - 1ul) {\nu32 i = ctz(rest);\nu64 *m "
            "= memory + (group * 64ul + (u64)i) * MEMORY_WORDS;\n");
        emit_row(s, "a", w->address.index, 0);
        emit_row(s, "e", w->enables[k].index, 1);
        emit_row(s, "d", w->data[k].index, 2);
        PUT("if (a < %" PRIu32 "ul && e != 0ul) {\nu64 at = %" PRIu64 "ul + a * %" PRIu32
            "ul;\nm[at] = (m[at] & ~e) | (d & e);\n}\n}\n",
            m->depth, s->cosim->layout.memory_at[w->memory] + k, m->limbs);
    }
    PUT("}\n");
}

/* Functions that take next values into registers; how many. */
static uint32_t emit_registers(slicer *s)
{
    uint32_t count = 0, words = 0;
    for (uint32_t d = 0; d < s->g->domain_count; d++) {
        bool open = false;
        for (uint32_t i = 0; i < s->g->reg_count; i++) {
            const ls__reg *reg = &s->g->regs[i];
            if (reg->domain != d)
                continue;
            if (open && words > COMMIT_WORDS) {
                PUT("}\n");
                open = false;
            }
            if (!open) {
                PUT("noinline void ls_commit_%" PRIu32 "(SLICE)\n{\nWORDS\n"
                    "u64 t = x[TRIGGERED_WORDS + %" PRIu32 "ul];\nif (t == 0ul)\nreturn;\n",
                    count++, d);
                words = 0;
                open = true;
            }
            uint32_t to = s->at[reg->node.index], from = s->at[reg->next.index];
            for (uint32_t b = 0; b < width_of(s, reg->node.index); b++, words++)
                PUT("x[%" PRIu32 "ul] ^= (x[%" PRIu32 "ul] ^ x[%" PRIu32 "ul]) & t;\n", to + b,
                    to + b, from + b);
        }
        if (open)
            PUT("}\n");
    }
    return count;
}

static void emit_commit(slicer *s)
{
    for (uint32_t i = 0; i < s->g->write_count; i++)
        emit_write(s, i);
    uint32_t count = emit_registers(s);
    PUT("static void commit(SLICE, u64 *memory)\n{\n");
    for (uint32_t i = 0; i < s->g->write_count; i++)
        PUT("ls_write_%" PRIu32 "(state, group, memory);\n", i);
    for (uint32_t i = 0; i < count; i++)
        PUT("ls_commit_%" PRIu32 "(state, group);\n", i);
    PUT("}\n");
}

/* --- the form --------------------------------------------------------------------------------- */

/* Appends a list to the table and names its place and number of entries. */
static void write_list(slicer *s, ls__words *t, const ls__words *list, const char *place,
                       const char *count, uint32_t entry)
{
    PUT("#define %s %" PRIu32 "u\n", place, t->count);
    if (count)
        PUT("#define %s %" PRIu32 "u\n", count, list->count / entry);
    for (uint32_t i = 0; i < list->count; i++)
        push(s, t, list->items[i]);
}

static void write_lists(slicer *s, ls__words *t)
{
    write_list(s, t, &s->constants, "T_CONSTANTS", "CONSTANTS", 2);
    write_list(s, t, &s->packed, "T_PACKED", "PACKED", 4);
    write_list(s, t, &s->kept, "T_KEPT", "KEPT", 4);
    write_list(s, t, &s->mirrors, "T_MIRRORS", "MIRRORS", 4);
    write_list(s, t, &s->watched, "T_WATCHED", NULL, 4);
    write_list(s, t, &s->inputs, "T_SLICED_INPUTS", NULL, 2);
    write_list(s, t, &s->clocks, "T_CLOCKS", NULL, 2);
    write_list(s, t, &s->enables, "T_ENABLES", NULL, 1);
    write_list(s, t, &s->free_words, "T_FREE_WORDS", "FREE_WORDS", 1);
    const struct {
        const char *name;
        uint32_t value;
    } places[] = {{"CHANGED", s->changed},
                  {"ROWS", s->rows},
                  {"SEEN_WORDS", s->seen},
                  {"TRIGGERED_WORDS", s->triggered},
                  {"FREE_PREVIOUS", s->free_previous}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        PUT("#define %s %" PRIu32 "ul\n", places[i].name, places[i].value);
}

static ls_status write_table(slicer *s, ls__words *t, ls_error *error)
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
    const ls__plan_params params = {.block_nodes = 64};
    size_t n = cosim->graph->node_count + 1;
    slicer slicer = {.cosim = cosim,
                     .g = cosim->graph,
                     .form = form,
                     .plan = ls__cosim_cut_create(cosim, &params, form, arena),
                     .arena = arena,
                     .text = text,
                     .at = LS__NEW_ARRAY(arena, uint32_t, n),
                     .function = LS__NEW_ARRAY(arena, uint32_t, n),
                     .defined = LS__NEW_ARRAY(arena, uint32_t, n),
                     .loaded = LS__NEW_ARRAY(arena, uint32_t, n),
                     .previous = LS__NEW_ARRAY(arena, uint32_t, n)};
    struct slicer *const s = &slicer;
    form->sliced = true;
    form->groups = (cosim->instances + 63) / 64;
    divide(s);
    find_places(s);
    form->block_count = s->functions;
    ls_status status = ls__traces_create(cosim, form, error);
    if (status != LS_OK)
        return status;
    ls__words t = {0};
    ls__sections_write(cosim, form, &t, arena);
    ls__prelude_write(cosim, form, text);
    write_lists(s, &t);
    PUT("#include \"lockstep:slices.kc\"\n");
    emit_functions(s);
    emit_calls(s, "evaluate_early", 1, s->early_functions);
    emit_calls(s, "evaluate_late", s->early_functions + 1, s->functions);
    emit_commit(s);
    PUT("#include \"lockstep:sliced.kc\"\n");
    return write_table(s, &t, error);
}

ls_status ls__sliced_create(const ls_cosim *cosim, ls__form **out, ls_error *error)
{
    return ls__form_build(cosim, LS_COSIM_SLICED, 1, build, out, error);
}

bool ls__sliced_suits(const ls_cosim *cosim)
{
    const slicer s = {.g = cosim->graph};
    uint64_t cost = 0;
    for (uint32_t n = 0; n < cosim->graph->node_count; n++)
        cost += cost_of(&s, n);
    return cosim->instances >= 32 && !cosim->params.ungated &&
           cost < (uint64_t)cosim->graph->node_count * 16;
}
