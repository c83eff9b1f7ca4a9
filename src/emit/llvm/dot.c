/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dot4: four bytes of a, signed or not, times four signed bytes of b, added to c. AVX2 multiplies
 * bytes and adds neighbours in 16 bits, where the sum saturates: exact only for an `a` whose bytes
 * are known to be small. Chains of such products, c of one being another, are added up in 16 bits
 * for as long as they surely fit, and are widened once. Signed bytes of `a` from a table without
 * -128 take the signs of those of b, whose magnitudes are unsigned bytes: two such products fit.
 */
#include "emit/llvm/build.h"
#include "emit/llvm/lookup.h"

/* `count` vectors of `lanes` lanes each, one behind the other. */
static lv join_lanes(unit *u, lv *parts, uint32_t count, uint32_t lanes)
{
    while (count > 1) {
        lv indices[64];
        for (uint32_t i = 0; i < 2 * lanes; i++)
            indices[i] = mk_i32(u, i);
        for (uint32_t i = 0; i < count / 2; i++)
            parts[i] = u->l->BuildShuffleVector(u->b, parts[2 * i], parts[2 * i + 1],
                                                u->l->ConstVector(indices, 2 * lanes), "");
        count /= 2;
        lanes *= 2;
    }
    return parts[0];
}

/* A machine instruction on `lanes` lanes of i32: (c,) a, b -> i32. */
static lv by_instruction(unit *u, const char *name, uint32_t lanes, lv c, lv a, lv b, bool is_words)
{
    lv parts[16];
    uint32_t count = u->width / lanes;
    lt words = u->l->VectorType(u->e->i16, 2 * lanes);
    for (uint32_t i = 0; i < count; i++) {
        lv args[3], *next = args;
        if (c)
            *next++ = ls__llvm_take_lanes(u, c, i * lanes, lanes);
        *next++ = ls__llvm_take_lanes(u, a, i * lanes, lanes);
        *next++ = ls__llvm_take_lanes(u, b, i * lanes, lanes);
        for (lv *arg = args; is_words && arg < next; arg++)
            *arg = u->l->BuildBitCast(u->b, *arg, words, "");
        parts[i] = ls__llvm_intrinsic(u, name, NULL, 0, args, (unsigned)(next - args));
    }
    return join_lanes(u, parts, count, lanes);
}

/* c + bytes of a, unsigned, times bytes of b, signed; NULL when the level has no instruction. */
static lv dot4_instruction(unit *u, lv c, lv a, lv b)
{
    if (u->e->target.avx512vnni && u->width >= 4) {
        uint32_t lanes = u->width < 16 ? u->width : 16;
        const char *name = lanes == 16  ? "llvm.x86.avx512.vpdpbusd.512"
                           : lanes == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                                        : "llvm.x86.avx512.vpdpbusd.128";
        return by_instruction(u, name, lanes, c, a, b, false);
    }
    if (u->e->target.avxvnni && u->width >= 8)
        return by_instruction(u, "llvm.x86.avx512.vpdpbusd.256", 8, c, a, b, false);
    return NULL;
}

/* Bytes in pairs as 16-bit integers, whose products are summed in pairs without loss. */
static lv dot4_words(unit *u, bool a_signed, lv c, lv a, lv b)
{
    const char *name = "llvm.x86.sse2.pmadd.wd";
    uint32_t lanes = 4;
    if (u->e->target.level == LS__LLVM_AVX512 && u->width >= 16) {
        name = "llvm.x86.avx512.pmaddw.d.512";
        lanes = 16;
    } else if (u->e->target.level >= LS__LLVM_AVX2 && u->width >= 8) {
        name = "llvm.x86.avx2.pmadd.wd";
        lanes = 8;
    }
    lt words = u->l->VectorType(u->e->i16, 2 * u->width);
    lv sum = c, aw = u->l->BuildBitCast(u->b, a, words, ""),
       bw = u->l->BuildBitCast(u->b, b, words, "");
    lv eight = mk_k(u, aw, 8);
    for (int odd = 0; odd < 2; odd++) {
        lv left = odd ? aw : mk_shl(u, aw, eight), right = odd ? bw : mk_shl(u, bw, eight);
        left = a_signed ? mk_ashr(u, left, eight) : mk_lshr(u, left, eight);
        right = mk_ashr(u, right, eight);
        lt lanes_type = u->l->TypeOf(a);
        left = u->l->BuildBitCast(u->b, left, lanes_type, "");
        right = u->l->BuildBitCast(u->b, right, lanes_type, "");
        sum = mk_add(u, sum, by_instruction(u, name, lanes, NULL, left, right, true));
    }
    return sum;
}

static lv multiply_add(unit *u, const char *name, lv a, lv b, lt type)
{
    lv args[2] = {u->l->BuildBitCast(u->b, a, type, ""), u->l->BuildBitCast(u->b, b, type, "")};
    return ls__llvm_intrinsic(u, name, NULL, 0, args, 2);
}

enum { DOT_LANES = 8 }; /* of AVX2 */
#define BY_BYTES "llvm.x86.avx2.pmadd.ub.sw"
#define BY_WORDS "llvm.x86.avx2.pmadd.wd"

/* The bits of a below each byte's highest and those: the sums of two products of either with bytes
 * of b fit into 16 bits. So does, for signed a, their difference, which is the negative of what is
 * wanted: -32768 .. 32512. */
static lv dot4_bytes(unit *u, bool a_signed, lv c, lv a, lv b)
{
    lt bytes = u->l->VectorType(u->e->i8, 4 * DOT_LANES);
    lt words = u->l->VectorType(u->e->i16, 2 * DOT_LANES);
    lv low = multiply_add(u, BY_BYTES, mk_and(u, a, mk_k(u, a, 0x7f7f7f7f)), b, bytes);
    lv high = multiply_add(u, BY_BYTES, mk_and(u, a, mk_k(u, a, 0x80808080)), b, bytes);
    if (a_signed)
        return mk_add(
            u, c, multiply_add(u, BY_WORDS, mk_sub(u, high, low), mk_k(u, a, UINT32_MAX), words));
    lv one = mk_k(u, low, 1);
    c = mk_add(u, c, multiply_add(u, BY_WORDS, low, one, words));
    return mk_add(u, c, multiply_add(u, BY_WORDS, high, one, words));
}

/* One register after the other, so that few are needed. */
static lv dot4_parts(unit *u, bool a_signed, lv c, lv a, lv b)
{
    lv parts[4];
    uint32_t count = u->width / DOT_LANES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = i * DOT_LANES;
        parts[i] = dot4_bytes(u, a_signed, ls__llvm_take_lanes(u, c, first, DOT_LANES),
                              ls__llvm_take_lanes(u, a, first, DOT_LANES),
                              ls__llvm_take_lanes(u, b, first, DOT_LANES));
    }
    return join_lanes(u, parts, count, DOT_LANES);
}

/* --- small bytes ------------------------------------------------------------------------------ */

enum { MAX_DEPTH = 8 };

/* The bits of an i32 that may be set. */
static uint32_t possible_bits(const unit *u, ls_value value, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, value), *count;
    if (depth == MAX_DEPTH)
        return UINT32_MAX;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
        return (uint32_t)inst->imm;
    case LS_OP_AND:
        return possible_bits(u, inst->args[0], depth + 1) &
               possible_bits(u, inst->args[1], depth + 1);
    case LS_OP_OR:
    case LS_OP_XOR:
        return possible_bits(u, inst->args[0], depth + 1) |
               possible_bits(u, inst->args[1], depth + 1);
    case LS_OP_SHL:
    case LS_OP_LSHR:
        count = ls__ir_def(u->function, inst->args[1]);
        if (count->op != LS_OP_CONST)
            return UINT32_MAX;
        uint32_t bits = possible_bits(u, inst->args[0], depth + 1), by = (uint32_t)count->imm % 32;
        return inst->op == LS_OP_SHL ? bits << by : bits >> by;
    default:
        return UINT32_MAX;
    }
}

/* The most that either sum of two products, of bytes of a and any of b, can be away from 0. */
static uint32_t most_of_pair(uint32_t bits)
{
    uint32_t low = (bits & 255) + (bits >> 8 & 255), high = (bits >> 16 & 255) + (bits >> 24);
    return (low > high ? low : high) * 128;
}

/* Sums lie between -most and most / 128 * 127, so this one still fits. */
enum { MOST_IN_WORD = 32768, MAX_LINKS = 8 };

static bool is_here(const unit *u, ls_value value)
{
    return u->value_stamps[value.id] == u->segment;
}

/* The products that end in `inst` and fit into 16 bits together, the last one first. */
static uint32_t find_links(const unit *u, const ls__ir_inst *inst,
                           const ls__ir_inst *links[MAX_LINKS])
{
    uint32_t count = 0, most = 0;
    while (count < MAX_LINKS && inst->op == LS_OP_DOT4_US) {
        most += most_of_pair(possible_bits(u, inst->args[0], 0));
        if (most > MOST_IN_WORD || !is_here(u, inst->args[0]) || !is_here(u, inst->args[1]) ||
            !is_here(u, inst->args[2]))
            break;
        links[count++] = inst;
        inst = ls__ir_def(u->function, inst->args[2]);
    }
    return count;
}

static lv take_part(unit *u, lv vector, uint32_t part)
{
    return ls__llvm_take_lanes(u, vector, part * DOT_LANES, DOT_LANES);
}

static lv dot4_links(unit *u, const ls__ir_inst *const *links, uint32_t count)
{
    lv parts[4], c = ls__llvm_vector(u, links[count - 1]->args[2]), a[MAX_LINKS], b[MAX_LINKS];
    lt bytes = u->l->VectorType(u->e->i8, 4 * DOT_LANES);
    lt words = u->l->VectorType(u->e->i16, 2 * DOT_LANES);
    for (uint32_t i = 0; i < count; i++) {
        a[i] = ls__llvm_vector(u, links[i]->args[0]);
        b[i] = ls__llvm_vector(u, links[i]->args[1]);
    }
    for (uint32_t part = 0; part < u->width / DOT_LANES; part++) {
        lv sum = NULL;
        for (uint32_t i = count; i-- > 0;) { /* begins as the chain before this link has */
            lv product = multiply_add(u, BY_BYTES, take_part(u, a[i], part),
                                      take_part(u, b[i], part), bytes);
            sum = sum ? mk_add(u, sum, product) : product;
        }
        lv wide = multiply_add(u, BY_WORDS, sum, mk_k(u, sum, 1), words);
        parts[part] = mk_add(u, take_part(u, c, part), wide);
    }
    return join_lanes(u, parts, u->width / DOT_LANES, DOT_LANES);
}

/* --- bytes of a table ------------------------------------------------------------------------- */

static bool is_looked_up(const unit *u, const ls__ir_inst *inst, look_up *found)
{
    bool has_instruction =
        u->e->target.level == LS__LLVM_AVX2 || u->e->target.level == LS__LLVM_AVX512;
    return has_instruction && u->width >= DOT_LANES && inst->op == LS_OP_DOT4_SS &&
           ls__llvm_find_look_up(u->function, inst->args[0], found) && is_here(u, found->root);
}

/* The bytes of all lanes. */
static lv look_up_words(unit *u, const look_up *found)
{
    lv parts[4], root = ls__llvm_vector(u, found->root);
    lt words = u->l->VectorType(u->e->i32, DOT_LANES);
    for (uint32_t part = 0; part < u->width / DOT_LANES; part++)
        parts[part] = u->l->BuildBitCast(u->b, ls__llvm_look_up(u, found, take_part(u, root, part)),
                                         words, "");
    return join_lanes(u, parts, u->width / DOT_LANES, DOT_LANES);
}

/* Whether signs can be taken, and there is nothing better. */
static bool takes_signs(const unit *u, const look_up *found)
{
    bool takes = u->e->target.level == LS__LLVM_AVX2 && !u->e->target.avxvnni;
    for (uint32_t i = 0; i < 16; i++)
        takes &= found->table[i] != 0x80;
    return takes;
}

static lv dot4_looked_up(unit *u, const look_up *found, lv c, lv b)
{
    lv parts[4], root = ls__llvm_vector(u, found->root);
    lt bytes = u->l->VectorType(u->e->i8, 4 * DOT_LANES);
    lt words = u->l->VectorType(u->e->i16, 2 * DOT_LANES);
    for (uint32_t part = 0; part < u->width / DOT_LANES; part++) {
        lv a = ls__llvm_look_up(u, found, take_part(u, root, part));
        lv of_b = u->l->BuildBitCast(u->b, take_part(u, b, part), bytes, "");
        lv signs[2] = {a, of_b}, size[2] = {of_b, u->l->ConstInt(u->e->i1, 0, 0)};
        lv with_signs = ls__llvm_intrinsic(u, "llvm.x86.avx2.psign.b", NULL, 0, signs, 2);
        lv sizes = ls__llvm_intrinsic(u, "llvm.abs", &bytes, 1, size, 2);
        lv sum = multiply_add(u, BY_BYTES, sizes, with_signs, bytes);
        lv wide = multiply_add(u, BY_WORDS, sum, mk_k(u, sum, 1), words);
        parts[part] = mk_add(u, take_part(u, c, part), wide);
    }
    return join_lanes(u, parts, u->width / DOT_LANES, DOT_LANES);
}

/* --- all -------------------------------------------------------------------------------------- */

static lv byte_of(unit *u, lv a, uint32_t byte, bool is_signed)
{
    lv high = mk_shl(u, a, mk_k(u, a, 24 - 8 * byte)), shift = mk_k(u, a, 24);
    return is_signed ? mk_ashr(u, high, shift) : mk_lshr(u, high, shift);
}

lv ls__llvm_dot4(unit *u, const ls__ir_inst *inst, const lv *args)
{
    bool x86 = u->e->target.level != LS__LLVM_NEON, a_signed = inst->op == LS_OP_DOT4_SS;
    lv a = args[0], b = args[1], c = args[2];
    if (mk_is_vector(u, a) && x86 && u->width >= 4) {
        look_up found;
        if (is_looked_up(u, inst, &found)) {
            if (takes_signs(u, &found))
                return dot4_looked_up(u, &found, c, b);
            a = look_up_words(u, &found);
        }
        lv bias = mk_k(u, a, 0x80808080);
        lv sum = dot4_instruction(u, c, a_signed ? mk_xor(u, a, bias) : a, b);
        if (!sum && u->e->target.level == LS__LLVM_AVX2 && u->width >= 8) {
            const ls__ir_inst *links[MAX_LINKS];
            uint32_t count = find_links(u, inst, links);
            return count ? dot4_links(u, links, count) : dot4_parts(u, a_signed, c, a, b);
        }
        if (!sum)
            return dot4_words(u, a_signed, c, a, b);
        /* (a + 128) b = a b + 128 b */
        return a_signed ? mk_sub(u, sum, dot4_instruction(u, mk_k(u, c, 0), bias, b)) : sum;
    }
    for (uint32_t i = 0; i < 4; i++)
        c = mk_add(u, c, mk_mul(u, byte_of(u, a, i, a_signed), byte_of(u, b, i, true)));
    return c;
}
