/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about opcodes and types, all read off lockstep/ops.def and the tables of lockstep/ir.h. */
#include <string.h>

#include "ir/ir.h"

static const ls__ir_op_info op_table[LS_OP_COUNT] = {
    [LS_OP_NONE] = {"none", "", "", "", "no operation", 'v'},
#define LS_OP(name, text, types, operands, result, flags, doc)                                     \
    [LS_OP_##name] = {text, types, operands, flags, doc, result},
#include "lockstep/ops.def"
#undef LS_OP
};

const ls__ir_op_info *ls__ir_op(ls_op op)
{
    return &op_table[(unsigned)op < LS_OP_COUNT ? op : LS_OP_NONE];
}

bool ls__ir_op_has(ls_op op, char flag)
{
    return strchr(ls__ir_op(op)->flags, flag) != NULL;
}

/* A hundred names: a scan is quick enough for the one reader that asks, once a line. */
ls_op ls__ir_op_by_name(ls__str name)
{
    for (unsigned op = LS_OP_NONE + 1; op < LS_OP_COUNT; op++) {
        if (ls__str_is(name, op_table[op].name))
            return (ls_op)op;
    }
    return LS_OP_NONE;
}

ls_type ls__ir_letter_type(char letter, ls_type variable)
{
    switch (letter) {
    case 'b':
        return LS_TYPE_BOOL;
    case 'w':
        return LS_TYPE_I32;
    case 'q':
        return LS_TYPE_I64;
    case 'T':
        return variable;
    default:
        return LS_TYPE_VOID;
    }
}

const char *ls__ir_type_name(ls_type type)
{
    static const char *const names[LS_TYPE_COUNT] = {
#define X(name, text, bytes) text,
        LS_TYPE_TABLE(X)
#undef X
    };
    return (unsigned)type < LS_TYPE_COUNT ? names[type] : "?";
}

static const struct mem_info {
    const char *name;
    uint32_t bytes;
    ls_type type;
} mem_table[LS_MEM_COUNT] = {
#define X(name, text, bytes, type) {text, bytes, LS_TYPE_##type},
    LS_MEM_TABLE(X)
#undef X
};

static const struct mem_info *mem_info(ls_mem mem)
{
    return &mem_table[(unsigned)mem < LS_MEM_COUNT ? mem : LS_MEM_NONE];
}

const char *ls__ir_mem_name(ls_mem mem)
{
    return mem_info(mem)->name;
}

uint32_t ls__ir_mem_bytes(ls_mem mem)
{
    return mem_info(mem)->bytes;
}

ls_type ls__ir_mem_type(ls_mem mem)
{
    return mem_info(mem)->type;
}

bool ls__ir_mem_is_float(ls_mem mem)
{
    return mem == LS_MEM_F16 || mem == LS_MEM_BF16 || mem == LS_MEM_F32 || mem == LS_MEM_F64;
}
