/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes compute: the definition for folding, for both forms of execution and for tests. */
#include <assert.h>

#include "cosim/graph.h"

static const struct {
    const char *name;
    uint8_t operands;
} op_table[LS__NODE_OP_COUNT] = {
#define X(name, operands, text) {#name, operands},
    LS__NODE_TABLE(X)
#undef X
};

const char *ls__node_op_name(ls__node_op op)
{
    return (unsigned)op < LS__NODE_OP_COUNT ? op_table[op].name : "?";
}

uint32_t ls__node_operand_count(ls__node_op op)
{
    return (unsigned)op < LS__NODE_OP_COUNT ? op_table[op].operands : 0;
}

static int64_t sign_extend(uint64_t value, uint8_t width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((value ^ sign) - sign);
}

static uint64_t shift_arithmetic(uint64_t a, uint64_t count, uint8_t width)
{
    uint64_t extended = (uint64_t)sign_extend(a, width);
    uint64_t ones = extended >> 63 ? UINT64_MAX : 0;
    if (count >= width)
        return ones;
    return count ? extended >> count | ones << (64 - count) : extended;
}

/* The result before it is cut to the node's width. */
static uint64_t evaluate(ls__node_op op, uint8_t width, uint64_t imm, uint64_t a, uint64_t b,
                         uint64_t c, uint8_t a_width)
{
    switch (op) {
    case LS__NODE_CONST:
        return imm;
    case LS__NODE_COPY:
    case LS__NODE_ZEXT:
        return a;
    case LS__NODE_NOT:
        return ~a;
    case LS__NODE_AND:
        return a & b;
    case LS__NODE_OR:
        return a | b;
    case LS__NODE_XOR:
        return a ^ b;
    case LS__NODE_ANDN:
        return a & ~b;
    case LS__NODE_MUX:
        return a ? c : b;
    case LS__NODE_ADD:
        return a + b;
    case LS__NODE_SUB:
        return a - b;
    case LS__NODE_MUL:
        return a * b;
    case LS__NODE_MULHI:
        return (uint64_t)(((unsigned __int128)a * b) >> 64);
    case LS__NODE_UDIV:
        return b ? a / b : 0;
    case LS__NODE_UMOD:
        return b ? a % b : 0;
    case LS__NODE_SHL:
        return b < width ? a << b : 0;
    case LS__NODE_SHR:
        return b < width ? a >> b : 0;
    case LS__NODE_SAR:
        return shift_arithmetic(a, b, width);
    case LS__NODE_EQ:
        return a == b;
    case LS__NODE_NE:
        return a != b;
    case LS__NODE_ULT:
        return a < b;
    case LS__NODE_ULE:
        return a <= b;
    case LS__NODE_SLT:
        return sign_extend(a, a_width) < sign_extend(b, a_width);
    case LS__NODE_SLE:
        return sign_extend(a, a_width) <= sign_extend(b, a_width);
    case LS__NODE_REDAND:
        return a == ls__node_mask(a_width);
    case LS__NODE_REDOR:
        return a != 0;
    case LS__NODE_REDXOR:
        return (uint64_t)__builtin_parityll(a);
    case LS__NODE_SLICE:
        return a >> imm;
    case LS__NODE_CONCAT:
        return a | b << a_width;
    case LS__NODE_SEXT:
        return (uint64_t)sign_extend(a, a_width);
    case LS__NODE_INPUT:
    case LS__NODE_REG:
    case LS__NODE_HOLD:
    case LS__NODE_MEM:
    case LS__NODE_OP_COUNT:
        break;
    }
    assert(false && "not a combinational node");
    return 0;
}

uint64_t ls__node_eval(ls__node_op op, uint8_t width, uint64_t imm, uint64_t a, uint64_t b,
                       uint64_t c, uint8_t a_width)
{
    return evaluate(op, width, imm, a, b, c, a_width) & ls__node_mask(width);
}
