/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs. Special values are where formats and operations have their edges: zeros, the ends of each
 * integer width, subnormals, infinities, NaNs with payloads, ties of rounding, limits of
 * conversions. Random values keep near them, because random bits alone hardly ever meet an edge.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/status.h"
#include "conform/case.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const uint64_t integers[] = {0,
                                    1,
                                    UINT64_MAX,
                                    UINT64_MAX - 1,
                                    2,
                                    3,
                                    7,
                                    8,
                                    15,
                                    16,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    127,
                                    128,
                                    255,
                                    256,
                                    0x7f80,
                                    0x7fff,
                                    0x8000,
                                    0x8001,
                                    0xffff,
                                    0x10000,
                                    0x7fffffff,
                                    0x80000000,
                                    0x80000001,
                                    0xffffffff,
                                    0x100000000,
                                    0xffffffff80000000,
                                    0xffffffff7fffffff,
                                    INT64_MAX,
                                    0x8000000000000000,
                                    0x8000000000000001,
                                    0x80808080,
                                    0x7f7f7f7f,
                                    0x01ff0180,
                                    0x0102040810204080,
                                    0xdeadbeefcafef00d};

static const uint64_t floats32[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x3effffff, 0x3f000001, 0x3fc00000,
    0x40200000, 0xc0200000, 0x4b000001, 0x4affffff, 0x4b7fffff, 0x4b800001, 0x00000001, 0x80000001,
    0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x7f7fffff, 0xff7fffff, 0x7f7ffffe,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffc12345, 0x4f000000, 0x4effffff,
    0xcf000000, 0xcf000001, 0x4f800000, 0x4f7fffff, 0x5f000000, 0xdf000000, 0x5f800000, 0x477fe000,
    0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x33800000, 0x387fc000, 0x387fe000, 0x38800000,
    0x7f7f8000, 0x7f7f7fff, 0x3f808000, 0x3f818000, 0x3f801000, 0x3f803000, 0x42fe0000, 0x43000000,
    0xc3000000, 0xc3008000, 0x437f0000, 0x47000000, 0x40490fdb, 0x3f317218};

static const uint64_t floats64[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x3fe0000000000000, 0x3fdfffffffffffff, 0x4330000000000001, 0x432fffffffffffff,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
    0x7ff8000000000000, 0xfff8123456789abc, 0x7ff0000000000001, 0x41dfffffffc00000,
    0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000200000, 0x43e0000000000000,
    0xc3e0000000000000, 0x43f0000000000000, 0x43efffffffffffff, 0x47efffffe0000000,
    0x47efffffefffffff, 0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000,
    0x3690000000000001, 0x380fffffe0000000, 0x380ffffff0000000, 0x3ff0000010000000,
    0x3ff0000030000000, 0x3ff0000010000001, 0x4004000000000000, 0x400921fb54442d18};

ls__rng ls__vectors_rng(uint64_t seed, const char *name)
{
    return (ls__rng){ls__hash64(name, strlen(name), seed)};
}

static const uint64_t *specials(ls_type type, uint32_t *count)
{
    *count = type == LS_TYPE_F32   ? COUNT(floats32)
             : type == LS_TYPE_F64 ? COUNT(floats64)
                                   : COUNT(integers);
    return type == LS_TYPE_F32 ? floats32 : type == LS_TYPE_F64 ? floats64 : integers;
}

uint64_t ls__vectors_specials(ls_type type)
{
    uint32_t count;
    specials(type, &count);
    return count;
}

/* A float32 that lies at or next to a tie of the conversion to f16 or bf16. */
static uint64_t near_half(ls__rng *rng)
{
    static const uint32_t tails[] = {0, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001};
    uint32_t random = (uint32_t)ls__rng_u64(rng);
    uint32_t exponent = 98 + ls__rng_below(rng, 48);
    return (random & 0x807f0000) | exponent << 23 | tails[ls__rng_below(rng, COUNT(tails))];
}

/* Random mantissas with exponents near that of 1, so that sums and products stay in range. */
static uint64_t ordinary_float(ls__rng *rng, ls_type type)
{
    uint64_t random = ls__rng_u64(rng);
    if (type == LS_TYPE_F64)
        return (random & 0x800fffffffffffff) | (1023 - 16 + random % 33) << 52;
    return (random & 0x807fffff) | (127 - 12 + (random >> 32) % 25) << 23;
}

uint64_t ls__vectors_draw(ls__rng *rng, ls_type type, uint64_t vector)
{
    uint32_t count;
    const uint64_t *list = specials(type, &count);
    bool is_float = type == LS_TYPE_F32 || type == LS_TYPE_F64;
    uint64_t bits = list[vector < count ? (uint32_t)vector : ls__rng_below(rng, count)];
    if (vector < count)
        return bits;
    switch (ls__rng_below(rng, 8)) {
    case 0:
        return ls__rng_u64(rng);
    case 1:
        return bits ^ UINT64_C(1) << ls__rng_below(rng, 64);
    case 2:
        return bits + ls__rng_below(rng, 5) - 2;
    case 3:
    case 4:
        return is_float ? ordinary_float(rng, type) : ls__rng_u64(rng) >> ls__rng_below(rng, 64);
    case 5:
        return type == LS_TYPE_F32 ? near_half(rng) : bits;
    default:
        return bits;
    }
}

void ls__vectors_moderate(ls__rng *rng, ls__case_buffer *buffer)
{
    for (uint64_t at = 0; at + buffer->element <= buffer->size; at += buffer->element) {
        uint64_t bits = ls__rng_u64(rng);
        if (buffer->mem == LS_MEM_F32)
            bits = ordinary_float(rng, LS_TYPE_F32);
        else if (buffer->mem == LS_MEM_F64)
            bits = ordinary_float(rng, LS_TYPE_F64);
        for (uint32_t i = 0; i < buffer->element; i++) /* structs: random bytes */
            buffer->bytes[at + i] = (uint8_t)(i < 8 ? bits >> (8 * i) : ls__rng_u64(rng));
    }
}

ls_status ls__case_add_buffer(ls__case *c, ls_mem mem, uint32_t element, uint64_t count,
                              bool output, ls_error *error)
{
    if (c->buffer_count == LS__CASE_BUFFERS)
        return ls__fail(error, LS_E_INTERNAL, "row %s has too many buffers", c->name);
    ls__case_buffer *buffer = &c->buffers[c->buffer_count];
    *buffer = (ls__case_buffer){
        .size = element * count, .element = element, .mem = mem, .output = output};
    buffer->bytes = ls__mem_alloc(count, element);
    if (!buffer->bytes)
        return ls__fail_oom(error, element * count);
    c->buffer_count++;
    return LS_OK;
}

ls_status ls__case_from_kernel(ls__case *c, const ls_module *module, const uint32_t *counts,
                               uint32_t count, ls_error *error)
{
    ls_kernel_info info;
    ls_status status = ls_module_find_kernel(module, c->kernel, &info, error);
    if (status != LS_OK)
        return status;
    if (info.buffer_count > count || info.scalar_bytes > LS__CASE_SCALARS)
        return ls__fail(error, LS_E_INTERNAL, "row %s does not fit its kernel", c->name);
    c->scalar_bytes = info.scalar_bytes;
    for (uint32_t i = 0; i < info.param_count && status == LS_OK; i++) {
        ls_param_info param;
        status = ls_module_param(module, c->kernel, i, &param, error);
        if (status == LS_OK && param.is_pointer)
            status = ls__case_add_buffer(c, param.mem, param.size, counts[param.buffer],
                                         !param.is_const, error);
    }
    return status;
}

void ls__case_finish(ls__case *c)
{
    for (uint32_t i = 0; i < c->buffer_count; i++)
        ls__mem_free(c->buffers[i].bytes);
    *c = (ls__case){0};
}
