/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ups in tables of 16 bytes. Kernels compute them by operations on bits, which all devices
 * have: each byte of an i32 as a function of one half of the same byte of another i32, the root.
 * That this is so is found by following the value back to the root, with all values that a byte of
 * the root can have; then its table is known, and AVX2 has an instruction for it.
 */
#include <string.h>

#include "emit/llvm/build.h"
#include "emit/llvm/lookup.h"

enum {
    BYTES = 256,     /* values of a byte */
    MAX_DEPTH = 32,  /* of operations */
    MAX_STEPS = 512, /* in all; a value that is used twice counts twice */
    MIN_STEPS = 12,  /* fewer are as fast as a look-up */
};

typedef struct search {
    const ls__ir_function *function;
    ls_value root;
    bool has_root;
    uint32_t steps;
} search;

/* What each byte is, by the byte of the root. */
typedef struct bytes {
    uint8_t of[BYTES];
} bytes;

static bool find_bytes(search *s, ls_value value, uint32_t depth, bytes *out);

static const ls__ir_inst *constant(const search *s, ls_value value)
{
    const ls__ir_inst *inst = ls__ir_def(s->function, value);
    return inst->op == LS_OP_CONST ? inst : NULL;
}

static bool find_constant(uint64_t bits, bytes *out)
{
    memset(out->of, (int)(bits & 255), sizeof out->of);
    return (uint32_t)bits == (bits & 255) * 0x01010101;
}

static bool find_root(search *s, ls_value value, bytes *out)
{
    if (s->has_root && s->root.id != value.id)
        return false;
    s->has_root = true;
    s->root = value;
    for (uint32_t i = 0; i < BYTES; i++)
        out->of[i] = (uint8_t)i;
    return true;
}

/* A shift to the right under a mask that keeps nothing of the next byte. */
static bool find_shifted(search *s, const ls__ir_inst *inst, uint32_t depth, bytes *out)
{
    const ls__ir_inst *mask = constant(s, inst->args[1]);
    const ls__ir_inst *shift = ls__ir_def(s->function, inst->args[0]);
    const ls__ir_inst *count = shift->op == LS_OP_LSHR ? constant(s, shift->args[1]) : NULL;
    bytes kept;
    if (!mask || !count || count->imm >= 8 || !find_constant(mask->imm, &kept) ||
        (unsigned)kept.of[0] << count->imm > 255 || !find_bytes(s, shift->args[0], depth + 1, out))
        return false;
    for (uint32_t i = 0; i < BYTES; i++)
        out->of[i] = (uint8_t)(out->of[i] >> count->imm & kept.of[0]);
    return true;
}

static void combine(ls_op op, const bytes *a, const bytes *b, bytes *out)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        unsigned x = a->of[i], y = b->of[i];
        out->of[i] = (uint8_t)(op == LS_OP_AND ? x & y : op == LS_OP_OR ? x | y : x ^ y);
    }
}

/* By a constant, as long as nothing is carried into the next byte. */
static bool scale(const bytes *a, uint64_t factor, bytes *out)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        if (factor > 255 || a->of[i] * factor > 255)
            return false;
        out->of[i] = (uint8_t)(a->of[i] * factor);
    }
    return true;
}

static bool find_bytes(search *s, ls_value value, uint32_t depth, bytes *out)
{
    const ls__ir_inst *inst = ls__ir_def(s->function, value), *factor;
    bytes a, b;
    if (depth == MAX_DEPTH || ++s->steps > MAX_STEPS)
        return false;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
        return find_constant(inst->imm, out);
    case LS_OP_AND:
        if (find_shifted(s, inst, depth, out))
            return true;
        /* fall through */
    case LS_OP_OR:
    case LS_OP_XOR:
        if (!find_bytes(s, inst->args[0], depth + 1, &a) ||
            !find_bytes(s, inst->args[1], depth + 1, &b))
            return false;
        combine((ls_op)inst->op, &a, &b, out);
        return true;
    case LS_OP_MUL:
        factor = constant(s, inst->args[1]);
        return factor && find_bytes(s, inst->args[0], depth + 1, &a) && scale(&a, factor->imm, out);
    default:
        return find_root(s, value, out);
    }
}

bool ls__llvm_find_look_up(const ls__ir_function *function, ls_value value, look_up *found)
{
    search s = {.function = function};
    bytes all;
    bool by_low = true, by_high = true;
    if (ls__ir_type_of(function, value) != LS_TYPE_I32 || !find_bytes(&s, value, 0, &all) ||
        !s.has_root || s.steps < MIN_STEPS)
        return false;
    for (uint32_t i = 0; i < BYTES; i++) {
        by_low &= all.of[i] == all.of[i & 15];
        by_high &= all.of[i] == all.of[i & 0xf0];
    }
    found->root = s.root;
    found->is_high = !by_low;
    for (uint32_t i = 0; i < 16; i++)
        found->table[i] = all.of[by_low ? i : i << 4];
    return by_low || by_high;
}

lv ls__llvm_look_up(unit *u, const look_up *found, lv root)
{
    enum { WORDS = 8 };
    lv words[WORDS], args[2];
    lt bytes_type = u->l->VectorType(u->e->i8, 4 * WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint8_t *from = found->table + i % 4 * 4;
        words[i] = mk_i32(u, from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
                                 (uint32_t)from[3] << 24);
    }
    if (found->is_high)
        root = mk_lshr(u, root, mk_k(u, root, 4));
    root = mk_and(u, root, mk_k(u, root, 0x0f0f0f0f));
    args[0] = u->l->BuildBitCast(u->b, u->l->ConstVector(words, WORDS), bytes_type, "");
    args[1] = u->l->BuildBitCast(u->b, root, bytes_type, "");
    return ls__llvm_intrinsic(u, "llvm.x86.avx2.pshuf.b", NULL, 0, args, 2);
}
