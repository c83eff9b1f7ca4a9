/* SPDX-License-Identifier: Apache-2.0 */
#include "cosim/emit_node.h"

#include <inttypes.h>

static void put(ls__emitter *e, const char *text)
{
    ls__strbuf_printf(e->text, "%s", text);
}

static bool is_local(const ls__emitter *e, uint32_t node)
{
    return e->defined[node] == e->block + 1;
}

void ls__emit_load(ls__emitter *e, uint32_t node)
{
    const ls__node *n = &e->g->nodes[node];
    if (n->op == LS__NODE_CONST || is_local(e, node) || e->loaded[node] == e->block + 1)
        return;
    e->loaded[node] = e->block + 1;
    if (e->depth)
        ls__vec_push(e->arena, &e->loads, node);
    ls__place place = e->form->places[node];
    uint32_t carrier = e->plan->carrier_of[node];
    const ls__carrier *c = &e->plan->carriers.items[carrier];
    e->loose[node] = n->width == 1 && (place.bit + 1 < c->bits || c->loose);
    if (place.bit)
        ls__strbuf_printf(e->text, "u64 v%" PRIu32 " = s[%" PRIu32 "] >> %" PRIu32 ";\n", node,
                          place.slot, place.bit);
    else
        ls__strbuf_printf(e->text, "u64 v%" PRIu32 " = s[%" PRIu32 "];\n", node, place.slot);
}

void ls__emit_value(ls__emitter *e, uint32_t node, bool strict)
{
    const ls__node *n = &e->g->nodes[node];
    if (n->op == LS__NODE_CONST) {
        ls__strbuf_printf(e->text, "%" PRIu64 "ul", n->imm);
        return;
    }
    bool mask = strict && n->width == 1 && e->loose[node];
    ls__strbuf_printf(e->text, mask ? "(%c%" PRIu32 " & 1ul)" : "%c%" PRIu32,
                      is_local(e, node) ? 'n' : 'v', node);
}

/* Writes a pattern: $a $b $c are operands, strict; @a @b @c loose ones; $A the width of a, $w of
 * the node, $m its mask, $i its number. */
static void pattern(ls__emitter *e, uint32_t index, const char *p)
{
    const ls__node *node = &e->g->nodes[index];
    for (; *p; p++) {
        if (*p != '$' && *p != '@') {
            ls__strbuf_append(e->text, p, 1);
            continue;
        }
        bool strict = *p++ == '$';
        switch (*p) {
        case 'A':
            ls__strbuf_printf(e->text, "%uu", e->g->nodes[node->operands[0].index].width);
            break;
        case 'w':
            ls__strbuf_printf(e->text, "%uu", node->width);
            break;
        case 'm':
            ls__strbuf_printf(e->text, "%" PRIu64 "ul", ls__node_mask(node->width));
            break;
        case 'i':
            ls__strbuf_printf(e->text, "%" PRIu64 "u", node->imm);
            break;
        default:
            ls__emit_value(e, node->operands[*p - 'a'].index, strict);
        }
    }
}

/* Operations on single bits, which work on loose values. Empty: by the general pattern. */
static const char *const bit_patterns[LS__NODE_OP_COUNT] = {
    [LS__NODE_COPY] = "@a",
    [LS__NODE_NOT] = "~@a",
    [LS__NODE_AND] = "@a & @b",
    [LS__NODE_OR] = "@a | @b",
    [LS__NODE_XOR] = "@a ^ @b",
    [LS__NODE_ANDN] = "@a & ~@b",
    [LS__NODE_MUX] = "@b ^ ((@b ^ @c) & @a)",
    [LS__NODE_ADD] = "@a ^ @b",
    [LS__NODE_SUB] = "@a ^ @b",
    [LS__NODE_MUL] = "@a & @b",
    [LS__NODE_UDIV] = "@a & @b",
    [LS__NODE_UMOD] = "0ul",
};

/* Comparisons and reductions of single bits. */
static const char *const bit_results[LS__NODE_OP_COUNT] = {
    [LS__NODE_EQ] = "~(@a ^ @b)", [LS__NODE_NE] = "@a ^ @b",   [LS__NODE_ULT] = "~@a & @b",
    [LS__NODE_ULE] = "~@a | @b",  [LS__NODE_SLT] = "@a & ~@b", [LS__NODE_SLE] = "@a | ~@b",
    [LS__NODE_REDAND] = "@a",     [LS__NODE_REDOR] = "@a",     [LS__NODE_REDXOR] = "@a",
};

static const char *const patterns[LS__NODE_OP_COUNT] = {
    [LS__NODE_COPY] = "$a",
    [LS__NODE_ZEXT] = "$a",
    [LS__NODE_NOT] = "$a ^ $m",
    [LS__NODE_AND] = "$a & $b",
    [LS__NODE_OR] = "$a | $b",
    [LS__NODE_XOR] = "$a ^ $b",
    [LS__NODE_ANDN] = "$a & ~$b",
    [LS__NODE_MUX] = "$a != 0ul ? $c : $b",
    [LS__NODE_ADD] = "$a + $b & $m",
    [LS__NODE_SUB] = "$a - $b & $m",
    [LS__NODE_MUL] = "$a * $b & $m",
    [LS__NODE_MULHI] = "mulhi($a, $b)",
    [LS__NODE_UDIV] = "$b == 0ul ? 0ul : $a / $b",
    [LS__NODE_UMOD] = "$a % $b",
    [LS__NODE_SHL] = "$b >= (u64)$w ? 0ul : $a << $b & $m",
    [LS__NODE_SHR] = "$b >= (u64)$w ? 0ul : $a >> $b",
    [LS__NODE_SAR] = "(u64)((i64)sign_extend($a, $w) >> ($b >= (u64)$w ? 63ul : $b)) & $m",
    [LS__NODE_EQ] = "(u64)($a == $b)",
    [LS__NODE_NE] = "(u64)($a != $b)",
    [LS__NODE_ULT] = "(u64)($a < $b)",
    [LS__NODE_ULE] = "(u64)($a <= $b)",
    [LS__NODE_SLT] = "(u64)((i64)sign_extend($a, $A) < (i64)sign_extend($b, $A))",
    [LS__NODE_SLE] = "(u64)((i64)sign_extend($a, $A) <= (i64)sign_extend($b, $A))",
    [LS__NODE_REDAND] = "(u64)($a == ~0ul >> (64u - $A))",
    [LS__NODE_REDOR] = "(u64)($a != 0ul)",
    [LS__NODE_REDXOR] = "(u64)(popcount($a) & 1u)",
    [LS__NODE_SLICE] = "$a >> $i & $m",
    [LS__NODE_CONCAT] = "$a | $b << $A",
    [LS__NODE_SEXT] = "sign_extend($a, $A) & $m",
};

static void emit_memory(ls__emitter *e, uint32_t index)
{
    const ls__node *node = &e->g->nodes[index];
    const ls__graph_memory *m = &e->g->memories[(uint32_t)node->imm];
    ls__strbuf_printf(e->text, "0ul;\nif (");
    ls__emit_value(e, node->operands[0].index, true);
    ls__strbuf_printf(e->text, " < %" PRIu32 "ul)\nn%" PRIu32 " = m[%" PRIu64 "ul + ", m->depth,
                      index, e->cosim->layout.memory_at[(uint32_t)node->imm] + (node->imm >> 32));
    ls__emit_value(e, node->operands[0].index, true);
    ls__strbuf_printf(e->text, " * %" PRIu32 "ul]", m->limbs);
}

void ls__emit_node(ls__emitter *e, uint32_t index)
{
    const ls__node *node = &e->g->nodes[index];
    uint8_t a_width = 0;
    if (e->role[index] == LS__ROLE_TREE) {
        ls__emit_tree(e, index);
        return;
    }
    for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++)
        ls__emit_load(e, node->operands[k].index);
    if (ls__node_operand_count(node->op))
        a_width = e->g->nodes[node->operands[0].index].width;
    ls__strbuf_printf(e->text, "u64 n%" PRIu32 " = ", index);
    e->loose[index] = 0;
    if (node->op == LS__NODE_MEM) {
        emit_memory(e, index);
    } else if (node->op == LS__NODE_HOLD) {
        uint32_t slot = e->form->places[index].slot;
        ls__strbuf_printf(e->text, "(s[%" PRIu32 "] & ~", slot);
        ls__emit_value(e, node->operands[0].index, true);
        put(e, ") | (");
        pattern(e, index, "$b & $a)");
    } else if (node->width == 1 && a_width == 1 && bit_patterns[node->op]) {
        pattern(e, index, bit_patterns[node->op]);
        e->loose[index] = 1;
    } else if (a_width == 1 && bit_results[node->op]) {
        pattern(e, index, bit_results[node->op]);
        e->loose[index] = 1;
    } else if (node->op == LS__NODE_SLICE && node->width == 1) {
        pattern(e, index, "$a >> $i");
        e->loose[index] = 1;
    } else if (patterns[node->op]) {
        pattern(e, index, patterns[node->op]);
    }
    put(e, ";\n");
    e->defined[index] = e->block + 1;
}
