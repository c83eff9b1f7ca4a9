/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simpler forms of nodes. A rule never needs more evaluated nodes than the form it replaces, and
 * looks at a few operands only, so that elaboration stays linear. Constants are folded
 * before (build.c).
 *
 * The nodes array may move whenever a node is made: nodes are copied, not pointed to.
 */
#include "cosim/elaborate/build.h"

typedef ls__node_id id;

static ls__node get(const ls__builder *builder, id at)
{
    return builder->nodes.items[at.index];
}

static bool is_op(const ls__builder *builder, id at, ls__node_op op)
{
    return builder->nodes.items[at.index].op == op;
}

static bool is_value(const ls__builder *builder, id at, uint64_t value)
{
    uint64_t constant;
    return ls__builder_constant(builder, at, &constant) && constant == value;
}

static bool is_zero(const ls__builder *builder, id at)
{
    return is_value(builder, at, 0);
}

static bool is_ones(const ls__builder *builder, id at)
{
    return is_value(builder, at, ls__node_mask((uint8_t)ls__builder_width(builder, at)));
}

static id zero(ls__builder *builder, uint32_t width)
{
    return ls__build_const(builder, width, 0);
}

static id ones(ls__builder *builder, uint32_t width)
{
    return ls__build_const(builder, width, UINT64_MAX);
}

/* Whether one is NOT of the other. */
static bool are_opposite(const ls__builder *builder, id a, id b)
{
    return (is_op(builder, a, LS__NODE_NOT) && get(builder, a).operands[0].index == b.index) ||
           (is_op(builder, b, LS__NODE_NOT) && get(builder, b).operands[0].index == a.index);
}

static id inner(const ls__builder *builder, id at)
{
    return get(builder, at).operands[0];
}

static id binary(ls__builder *builder, ls__node_op op, id a, id b)
{
    return ls__build_binary(builder, op, a, b);
}

/* Constants go to b, else the smaller index to a. */
static void order_operands(const ls__builder *builder, ls__node *node)
{
    id a = node->operands[0], b = node->operands[1];
    bool a_constant = is_op(builder, a, LS__NODE_CONST);
    bool b_constant = is_op(builder, b, LS__NODE_CONST);
    if (a_constant > b_constant || (a_constant == b_constant && a.index > b.index)) {
        node->operands[0] = b;
        node->operands[1] = a;
    }
}

static id simplify_not(ls__builder *builder, id a)
{
    ls__node node = get(builder, a);
    switch ((ls__node_op)node.op) {
    case LS__NODE_NOT:
        return node.operands[0];
    case LS__NODE_EQ:
        return binary(builder, LS__NODE_NE, node.operands[0], node.operands[1]);
    case LS__NODE_NE:
        return binary(builder, LS__NODE_EQ, node.operands[0], node.operands[1]);
    case LS__NODE_ULT:
        return binary(builder, LS__NODE_ULE, node.operands[1], node.operands[0]);
    case LS__NODE_ULE:
        return binary(builder, LS__NODE_ULT, node.operands[1], node.operands[0]);
    case LS__NODE_SLT:
        return binary(builder, LS__NODE_SLE, node.operands[1], node.operands[0]);
    case LS__NODE_SLE:
        return binary(builder, LS__NODE_SLT, node.operands[1], node.operands[0]);
    default:
        return LS__NO_NODE;
    }
}

static id simplify_and(ls__builder *builder, ls__node *node)
{
    order_operands(builder, node);
    id a = node->operands[0], b = node->operands[1];
    if (is_zero(builder, b) || are_opposite(builder, a, b))
        return zero(builder, node->width);
    if (is_ones(builder, b) || ls__node_same(a, b))
        return a;
    bool a_not = is_op(builder, a, LS__NODE_NOT), b_not = is_op(builder, b, LS__NODE_NOT);
    if (a_not && b_not)
        return ls__build_not(builder,
                             binary(builder, LS__NODE_OR, inner(builder, a), inner(builder, b)));
    if (b_not)
        return binary(builder, LS__NODE_ANDN, a, inner(builder, b));
    if (a_not)
        return binary(builder, LS__NODE_ANDN, b, inner(builder, a));
    return LS__NO_NODE;
}

static id simplify_or(ls__builder *builder, ls__node *node)
{
    order_operands(builder, node);
    id a = node->operands[0], b = node->operands[1];
    if (is_ones(builder, b) || are_opposite(builder, a, b))
        return ones(builder, node->width);
    if (is_zero(builder, b) || ls__node_same(a, b))
        return a;
    if (is_op(builder, a, LS__NODE_NOT) && is_op(builder, b, LS__NODE_NOT))
        return ls__build_not(builder,
                             binary(builder, LS__NODE_AND, inner(builder, a), inner(builder, b)));
    return LS__NO_NODE;
}

static id simplify_xor(ls__builder *builder, ls__node *node)
{
    order_operands(builder, node);
    id a = node->operands[0], b = node->operands[1];
    if (ls__node_same(a, b))
        return zero(builder, node->width);
    if (are_opposite(builder, a, b))
        return ones(builder, node->width);
    if (is_zero(builder, b))
        return a;
    if (is_ones(builder, b))
        return ls__build_not(builder, a);
    bool a_not = is_op(builder, a, LS__NODE_NOT), b_not = is_op(builder, b, LS__NODE_NOT);
    if (!a_not && !b_not)
        return LS__NO_NODE;
    id result =
        binary(builder, LS__NODE_XOR, a_not ? inner(builder, a) : a, b_not ? inner(builder, b) : b);
    return a_not && b_not ? result : ls__build_not(builder, result);
}

static id simplify_andn(ls__builder *builder, ls__node *node)
{
    id a = node->operands[0], b = node->operands[1];
    uint64_t value;
    if (ls__builder_constant(builder, b, &value))
        return binary(builder, LS__NODE_AND, a, ls__build_const(builder, node->width, ~value));
    if (is_zero(builder, a) || ls__node_same(a, b))
        return zero(builder, node->width);
    if (is_ones(builder, a))
        return ls__build_not(builder, b);
    if (are_opposite(builder, a, b))
        return a;
    if (is_op(builder, b, LS__NODE_NOT))
        return binary(builder, LS__NODE_AND, a, inner(builder, b));
    if (is_op(builder, a, LS__NODE_NOT))
        return ls__build_not(builder, binary(builder, LS__NODE_OR, inner(builder, a), b));
    return LS__NO_NODE;
}

/* A multiplexer of single bits with a constant, or the select, in an arm. */
static id simplify_mux_bit(ls__builder *builder, id select, id when_0, id when_1)
{
    if (is_zero(builder, when_0))
        return binary(builder, LS__NODE_AND, select, when_1);
    if (is_ones(builder, when_1))
        return binary(builder, LS__NODE_OR, select, when_0);
    if (is_zero(builder, when_1))
        return binary(builder, LS__NODE_ANDN, when_0, select);
    if (ls__node_same(select, when_0))
        return binary(builder, LS__NODE_AND, select, when_1);
    if (ls__node_same(select, when_1))
        return binary(builder, LS__NODE_OR, select, when_0);
    if (are_opposite(builder, when_0, when_1))
        return binary(builder, LS__NODE_XOR, select, when_0);
    return LS__NO_NODE;
}

static id simplify_mux(ls__builder *builder, ls__node *node)
{
    id select = node->operands[0], when_0 = node->operands[1], when_1 = node->operands[2];
    uint64_t value;
    if (ls__builder_constant(builder, select, &value))
        return value ? when_1 : when_0;
    if (ls__node_same(when_0, when_1))
        return when_0;
    if (is_op(builder, select, LS__NODE_NOT))
        return ls__build_mux(builder, inner(builder, select), when_1, when_0);
    ls__node arm = get(builder, when_0);
    if (arm.op == LS__NODE_MUX && ls__node_same(arm.operands[0], select))
        return ls__build_mux(builder, select, arm.operands[1], when_1);
    arm = get(builder, when_1);
    if (arm.op == LS__NODE_MUX && ls__node_same(arm.operands[0], select))
        return ls__build_mux(builder, select, when_0, arm.operands[2]);
    return node->width == 1 ? simplify_mux_bit(builder, select, when_0, when_1) : LS__NO_NODE;
}

static id simplify_slice(ls__builder *builder, const ls__node *node)
{
    id a = node->operands[0];
    ls__node of = get(builder, a);
    uint32_t lsb = (uint32_t)node->imm, end = lsb + node->width;
    if (node->width == of.width)
        return a;
    id low = of.operands[0];
    uint32_t low_width = of.op == LS__NODE_SLICE || of.op == LS__NODE_CONCAT ||
                                 of.op == LS__NODE_ZEXT || of.op == LS__NODE_SEXT
                             ? ls__builder_width(builder, low)
                             : 0;
    switch ((ls__node_op)of.op) {
    case LS__NODE_SLICE:
        return ls__build_slice(builder, low, lsb + (uint32_t)of.imm, node->width);
    case LS__NODE_CONCAT:
        if (end <= low_width)
            return ls__build_slice(builder, low, lsb, node->width);
        if (lsb >= low_width)
            return ls__build_slice(builder, of.operands[1], lsb - low_width, node->width);
        return LS__NO_NODE;
    case LS__NODE_ZEXT:
        if (lsb >= low_width)
            return zero(builder, node->width);
        if (end <= low_width)
            return ls__build_slice(builder, low, lsb, node->width);
        return ls__build_extend(builder, ls__build_slice(builder, low, lsb, low_width - lsb),
                                node->width, false);
    case LS__NODE_SEXT:
        if (end <= low_width)
            return ls__build_slice(builder, low, lsb, node->width);
        if (lsb >= low_width)
            lsb = low_width - 1;
        return ls__build_extend(builder, ls__build_slice(builder, low, lsb, low_width - lsb),
                                node->width, true);
    default:
        return LS__NO_NODE;
    }
}

/* The node that `at` is bits *lsb upwards of: itself, or what it is a slice of. */
static id whole_of(const ls__builder *builder, id at, uint32_t *lsb)
{
    ls__node node = get(builder, at);
    *lsb = node.op == LS__NODE_SLICE ? (uint32_t)node.imm : 0;
    return node.op == LS__NODE_SLICE ? node.operands[0] : at;
}

/* low and high as one slice, when they are adjacent bits of one node. */
static id join(ls__builder *builder, id low, id high)
{
    uint32_t low_lsb, high_lsb;
    id of = whole_of(builder, low, &low_lsb);
    uint32_t width = ls__builder_width(builder, low);
    if (!ls__node_same(of, whole_of(builder, high, &high_lsb)) || high_lsb != low_lsb + width)
        return LS__NO_NODE;
    return ls__build_slice(builder, of, low_lsb, width + ls__builder_width(builder, high));
}

/* Whether every bit of `high` is the top bit of `low`. */
static bool repeats_top(const ls__builder *builder, id low, id high)
{
    id bit = is_op(builder, high, LS__NODE_SEXT) ? inner(builder, high) : high;
    if (ls__builder_width(builder, bit) != 1)
        return false;
    uint32_t bit_lsb, low_lsb;
    id of = whole_of(builder, bit, &bit_lsb);
    return ls__node_same(of, whole_of(builder, low, &low_lsb)) &&
           bit_lsb == low_lsb + ls__builder_width(builder, low) - 1;
}

static id simplify_concat(ls__builder *builder, const ls__node *node)
{
    id low = node->operands[0], high = node->operands[1];
    ls__node l = get(builder, low), h = get(builder, high);
    if (is_zero(builder, high))
        return ls__build_extend(builder, low, node->width, false);
    if (h.op == LS__NODE_ZEXT)
        return ls__build_extend(builder, ls__build_concat(builder, low, h.operands[0]), node->width,
                                false);
    id joined = join(builder, low, high);
    if (!ls__node_same(joined, LS__NO_NODE))
        return joined;
    if (repeats_top(builder, low, high))
        return ls__build_extend(builder, low, node->width, true);
    if (h.op == LS__NODE_CONCAT) {
        joined = join(builder, low, h.operands[0]);
        if (!ls__node_same(joined, LS__NO_NODE))
            return ls__build_concat(builder, joined, h.operands[1]);
    }
    if (l.op == LS__NODE_CONCAT) {
        joined = join(builder, l.operands[1], high);
        if (!ls__node_same(joined, LS__NO_NODE))
            return ls__build_concat(builder, l.operands[0], joined);
    }
    return LS__NO_NODE;
}

static id simplify_extend(ls__builder *builder, const ls__node *node)
{
    ls__node of = get(builder, node->operands[0]);
    if (of.op == node->op || (node->op == LS__NODE_SEXT && of.op == LS__NODE_ZEXT))
        return ls__build_node(builder, (ls__node_op)of.op, node->width, 0, of.operands[0],
                              of.operands[0], of.operands[0]);
    return LS__NO_NODE;
}

static int log2_exact(uint64_t value)
{
    return value && !(value & (value - 1)) ? __builtin_ctzll(value) : -1;
}

static id simplify_arithmetic(ls__builder *builder, ls__node *node)
{
    ls__node_op op = (ls__node_op)node->op;
    if (op == LS__NODE_ADD || op == LS__NODE_MUL || op == LS__NODE_MULHI)
        order_operands(builder, node);
    id a = node->operands[0], b = node->operands[1];
    if (op == LS__NODE_SUB && ls__node_same(a, b))
        return zero(builder, node->width);
    if (is_zero(builder, b))
        return op == LS__NODE_ADD || op == LS__NODE_SUB ? a : b;
    if (is_zero(builder, a) && (op == LS__NODE_UDIV || op == LS__NODE_UMOD))
        return a;
    uint64_t value;
    int power = ls__builder_constant(builder, b, &value) ? log2_exact(value) : -1;
    if (power < 0 || op == LS__NODE_ADD || op == LS__NODE_SUB)
        return LS__NO_NODE;
    id count = ls__build_const(builder, 7, (uint64_t)power);
    switch (op) {
    case LS__NODE_MUL:
        return binary(builder, LS__NODE_SHL, a, count);
    case LS__NODE_MULHI:
        return binary(builder, LS__NODE_SHR, a, ls__build_const(builder, 7, 64 - (uint64_t)power));
    case LS__NODE_UDIV:
        return binary(builder, LS__NODE_SHR, a, count);
    default:
        return power ? ls__build_extend(builder, ls__build_slice(builder, a, 0, (uint32_t)power),
                                        node->width, false)
                     : zero(builder, node->width);
    }
}

/* A shift by a constant is a matter of wires. */
static id simplify_shift(ls__builder *builder, const ls__node *node)
{
    id a = node->operands[0];
    uint64_t count;
    if (is_zero(builder, a))
        return a;
    if (!ls__builder_constant(builder, node->operands[1], &count))
        return LS__NO_NODE;
    bool is_signed = node->op == LS__NODE_SAR;
    uint32_t width = node->width;
    if (count == 0)
        return a;
    if (count >= width) {
        if (!is_signed)
            return zero(builder, width);
        count = width - 1;
    }
    uint32_t left = width - (uint32_t)count;
    if (node->op == LS__NODE_SHL)
        return ls__build_concat(builder, zero(builder, (uint32_t)count),
                                ls__build_slice(builder, a, 0, left));
    return ls__build_extend(builder, ls__build_slice(builder, a, (uint32_t)count, left), width,
                            is_signed);
}

/* Parts of an operand, since a decoder compares the same one with many constants. */
enum { MOST_PARTS = 8 };

/* Whether `at` is put together of bits, constants and at most one other part: to compare these with
 * constants one by one takes no more nodes. */
static bool is_of_bits(const ls__builder *builder, id at, uint32_t *parts, uint32_t *words)
{
    ls__node node = get(builder, at);
    if (node.op == LS__NODE_CONCAT)
        return is_of_bits(builder, node.operands[0], parts, words) &&
               is_of_bits(builder, node.operands[1], parts, words);
    *words += node.width > 1 && node.op != LS__NODE_CONST;
    ++*parts;
    return *words <= 1;
}

/* `at` EQ or NE a value, part by part. */
static id compare_parts(ls__builder *builder, id at, uint64_t value, bool equal)
{
    ls__node node = get(builder, at);
    if (node.op != LS__NODE_CONCAT)
        return binary(builder, equal ? LS__NODE_EQ : LS__NODE_NE, at,
                      ls__build_const(builder, node.width, value));
    uint32_t width = ls__builder_width(builder, node.operands[0]);
    id low = compare_parts(builder, node.operands[0], value, equal);
    id high = compare_parts(builder, node.operands[1], value >> width, equal);
    return binary(builder, equal ? LS__NODE_AND : LS__NODE_OR, low, high);
}

static id simplify_parts(ls__builder *builder, id at, uint64_t value, bool equal)
{
    uint32_t parts = 0, words = 0;
    if (!is_op(builder, at, LS__NODE_CONCAT) || !is_of_bits(builder, at, &parts, &words))
        return LS__NO_NODE;
    bool is_reduction = equal ? value == ls__node_mask(get(builder, at).width) : value == 0;
    if (parts > MOST_PARTS && !is_reduction)
        return LS__NO_NODE;
    return compare_parts(builder, at, value, equal);
}

/* EQ and NE with a constant in b. */
static id simplify_equal_constant(ls__builder *builder, const ls__node *node, uint64_t value)
{
    id a = node->operands[0];
    bool equal = node->op == LS__NODE_EQ;
    ls__node of = get(builder, a);
    if (of.width == 1)
        return (value == 1) == equal ? a : ls__build_not(builder, a);
    if (value == 0 && !equal)
        return ls__build_reduce(builder, LS__NODE_REDOR, a);
    if (of.op == LS__NODE_ZEXT) {
        uint32_t width = ls__builder_width(builder, of.operands[0]);
        if (value >> width)
            return ls__build_const(builder, 1, !equal);
        return binary(builder, (ls__node_op)node->op, of.operands[0],
                      ls__build_const(builder, width, value));
    }
    return simplify_parts(builder, a, value, equal);
}

static id simplify_compare(ls__builder *builder, ls__node *node)
{
    ls__node_op op = (ls__node_op)node->op;
    if (op == LS__NODE_EQ || op == LS__NODE_NE)
        order_operands(builder, node);
    id a = node->operands[0], b = node->operands[1];
    if (ls__node_same(a, b))
        return ls__build_const(builder, 1,
                               op == LS__NODE_EQ || op == LS__NODE_ULE || op == LS__NODE_SLE);
    uint64_t value;
    switch (op) {
    case LS__NODE_EQ:
    case LS__NODE_NE:
        return ls__builder_constant(builder, b, &value)
                   ? simplify_equal_constant(builder, node, value)
                   : LS__NO_NODE;
    case LS__NODE_ULT:
        if (is_zero(builder, b) || is_ones(builder, a))
            return ls__build_const(builder, 1, 0);
        return is_zero(builder, a) ? binary(builder, LS__NODE_NE, b, a) : LS__NO_NODE;
    case LS__NODE_ULE:
        if (is_zero(builder, a) || is_ones(builder, b))
            return ls__build_const(builder, 1, 1);
        return is_zero(builder, b) ? binary(builder, LS__NODE_EQ, a, b) : LS__NO_NODE;
    default:
        return LS__NO_NODE;
    }
}

static id simplify_reduce(ls__builder *builder, const ls__node *node)
{
    id a = node->operands[0];
    ls__node of = get(builder, a);
    ls__node_op op = (ls__node_op)node->op;
    if (of.width == 1)
        return a;
    if (of.op == LS__NODE_ZEXT)
        return op == LS__NODE_REDAND ? ls__build_const(builder, 1, 0)
                                     : ls__build_reduce(builder, op, of.operands[0]);
    if (of.op == LS__NODE_SEXT && op != LS__NODE_REDXOR)
        return ls__build_reduce(builder, op, of.operands[0]);
    if (of.op == LS__NODE_NOT && op == LS__NODE_REDOR)
        return ls__build_not(builder, ls__build_reduce(builder, LS__NODE_REDAND, of.operands[0]));
    if (of.op == LS__NODE_NOT && op == LS__NODE_REDAND)
        return ls__build_not(builder, ls__build_reduce(builder, LS__NODE_REDOR, of.operands[0]));
    if (op == LS__NODE_REDXOR)
        return LS__NO_NODE;
    return simplify_parts(builder, a, op == LS__NODE_REDOR ? 0 : ls__node_mask(of.width),
                          op == LS__NODE_REDAND);
}

ls__node_id ls__simplify(ls__builder *builder, ls__node *node)
{
    switch ((ls__node_op)node->op) {
    case LS__NODE_NOT:
        return simplify_not(builder, node->operands[0]);
    case LS__NODE_AND:
        return simplify_and(builder, node);
    case LS__NODE_OR:
        return simplify_or(builder, node);
    case LS__NODE_XOR:
        return simplify_xor(builder, node);
    case LS__NODE_ANDN:
        return simplify_andn(builder, node);
    case LS__NODE_MUX:
        return simplify_mux(builder, node);
    case LS__NODE_ADD:
    case LS__NODE_SUB:
    case LS__NODE_MUL:
    case LS__NODE_MULHI:
    case LS__NODE_UDIV:
    case LS__NODE_UMOD:
        return simplify_arithmetic(builder, node);
    case LS__NODE_SHL:
    case LS__NODE_SHR:
    case LS__NODE_SAR:
        return simplify_shift(builder, node);
    case LS__NODE_EQ:
    case LS__NODE_NE:
    case LS__NODE_ULT:
    case LS__NODE_ULE:
    case LS__NODE_SLT:
    case LS__NODE_SLE:
        return simplify_compare(builder, node);
    case LS__NODE_REDAND:
    case LS__NODE_REDOR:
    case LS__NODE_REDXOR:
        return simplify_reduce(builder, node);
    case LS__NODE_SLICE:
        return simplify_slice(builder, node);
    case LS__NODE_CONCAT:
        return simplify_concat(builder, node);
    case LS__NODE_ZEXT:
    case LS__NODE_SEXT:
        return simplify_extend(builder, node);
    default:
        return LS__NO_NODE;
    }
}
