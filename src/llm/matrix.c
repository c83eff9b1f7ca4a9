/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of the kernels that read matrices: the loops around the functions of kernels/types.kc.
 * Everything that loops over the inputs of a tile is written out, so that sums live in registers.
 * What all lanes share, places and the input, is uniform: the lane is added last, which makes a
 * load of 32 neighbours of every read of the matrix.
 */
#include "llm/matrix.h"

#define PUT(...) ls__strbuf_printf(text, __VA_ARGS__)
#define EACH_COLUMN(c) for (uint32_t c = 0; c < tile; c++)

static bool is_float(const ls__matrix_form *form)
{
    return form->elements == 1;
}

static uint32_t block_words(const ls__matrix_form *form) /* of a panel */
{
    return (form->halves * 2 + form->words * 4) / 2 * LS__LANES / 2;
}

/* --- matrices of integers --------------------------------------------------------------------- */

/*
 * Names in these kernels, `c` a column of the tile: ac its block, xc its words, zc its sums; pG_c
 * the sum of products of group G of those that are computed together, ic that of the block, lc that
 * of its minima; sc the slice, tc the row. Unit u is 32 elements; blocks of 256 are walked through
 * in steps v of a few units, to which xc and zc belong.
 */
static uint32_t units_of_step(const ls__matrix_form *form)
{
    return form->type == LS_GGUF_TYPE_IQ4_XS ? 1 : 4;
}

/* Word `k` of half `half` of unit `unit`, times the inputs, for group `g`. */
static void put_word(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile, uint32_t g,
                     uint32_t unit, uint32_t half, const char *k)
{
    PUT("{\nu32 w = word_%s(words, block, lane, %s%u, %u, %s);\n", ls_gguf_type_name(form->type),
        form->group ? "v, " : "", unit, half, k);
    EACH_COLUMN(c)
    PUT("p%u_%u = %s(w, integers[x%u + %u + %s], p%u_%u);\n", g, c,
        form->is_signed ? "dot4" : "dot4_us", c, unit * 8 + half * 4, k, g, c);
    PUT("}\n");
}

static const char *const numbers[] = {"0", "1", "2", "3"};

/* The words of a unit, both halves of which are of the same words. */
static void put_shared_words(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile,
                             uint32_t unit)
{
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t half = 0; half < 2; half++)
            put_word(text, form, tile, 0, unit, half, numbers[k]);
}

/* The sums of group g begin with what the offset makes too much in halves from `half`. */
static void put_begin(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile, uint32_t g,
                      uint32_t unit, uint32_t half)
{
    EACH_COLUMN(c)
    {
        if (form->offset)
            PUT("i32 p%u_%u = -%d * sums[z%u + %u];\n", g, c, (int)form->offset, c,
                unit * 2 + half);
        else
            PUT("i32 p%u_%u = 0;\n", g, c);
    }
}

static void put_plain_block(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile)
{
    EACH_COLUMN(c) PUT("u64 x%u = (u64)a%u * 8, z%u = a%u;\n", c, c, c, c);
    put_begin(text, form, tile, 0, 0, 0);
    if (form->words < 8)
        put_shared_words(text, form, tile, 0);
    for (uint32_t i = 0; i < 8 && form->words == 8; i++)
        put_word(text, form, tile, 0, 0, i / 4, numbers[i % 4]);
    EACH_COLUMN(c)
    {
        PUT("s%u = s%u + ((d * scales[a%u]) * (f32)p0_%u", c, c, c, c);
        if (form->minimum == LS__MINIMUM)
            PUT(" + m * products[a%u]", c);
        PUT(");\n");
    }
}

/* One of 16 elements is half a unit. */
static void put_end(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile, uint32_t g,
                    uint32_t unit, uint32_t half)
{
    const char *type = ls_gguf_type_name(form->type);
    uint32_t per_unit = 32 / form->group, group = unit * per_unit + half;
    PUT("{\ni32 scale = scale_%s(words, block, lane, v, %u%s);\n", type, group,
        form->type == LS_GGUF_TYPE_IQ4_XS ? ", more" : "");
    if (form->minimum == LS__MINIMA)
        PUT("i32 least = least_%s(words, block, lane, v, %u);\n", type, group);
    EACH_COLUMN(c)
    {
        uint32_t sum = unit * 2 + half;
        PUT("i%u = i%u + scale * p%u_%u;\n", c, c, g, c);
        if (form->minimum == LS__MINIMA && per_unit == 2)
            PUT("l%u = l%u + least * sums[z%u + %u];\n", c, c, c, sum);
        if (form->minimum == LS__MINIMA && per_unit == 1)
            PUT("l%u = l%u + least * (sums[z%u + %u] + sums[z%u + %u]);\n", c, c, c, sum, c,
                sum + 1);
    }
    PUT("}\n");
}

/* Units whose elements lie in the same words. */
static uint32_t units_of_word(const ls__matrix_form *form)
{
    return form->type == LS_GGUF_TYPE_IQ4_XS ? 1 : form->group == 16 ? 4 : 2;
}

/* The groups of `together` units from `unit`, halves [first, end) of each, word by word. */
static void put_groups(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile, uint32_t unit,
                       uint32_t together, uint32_t first, uint32_t end)
{
    PUT("{\n");
    for (uint32_t g = 0; g < together; g++)
        put_begin(text, form, tile, g, unit + g, first);
    if (form->type == LS_GGUF_TYPE_IQ4_XS)
        put_shared_words(text, form, tile, unit);
    for (uint32_t i = 0; i < (end - first) * 4 && form->type != LS_GGUF_TYPE_IQ4_XS; i++)
        for (uint32_t g = 0; g < together; g++)
            put_word(text, form, tile, g, unit + g, first + i / 4, numbers[i % 4]);
    for (uint32_t g = 0; g < together; g++)
        put_end(text, form, tile, g, unit + g, first);
    PUT("}\n");
}

/* With one column, groups that share words are computed together, so that these are read once; with
 * more there would not be registers enough for the sums. */
static void put_grouped_block(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile)
{
    uint32_t together = tile == 1 ? units_of_word(form) : 1, step = units_of_step(form);
    EACH_COLUMN(c) PUT("i32 i%u = 0, l%u = 0;\n", c, c);
    PUT("for (u32 v = 0; v < %u; v++) {\n", 8 / step);
    EACH_COLUMN(c)
    PUT("u64 x%u = (u64)a%u * 64 + v * %u, z%u = (u64)a%u * 16 + v * %u;\n", c, c, step * 8, c, c,
        step * 2);
    for (uint32_t unit = 0; unit < step; unit += together)
        for (uint32_t half = 0; half < 32 / form->group; half++)
            put_groups(text, form, tile, unit, together, half, form->group == 16 ? half + 1 : 2);
    PUT("}\n");
    EACH_COLUMN(c)
    {
        PUT("s%u = s%u + ((d * scales[a%u]) * (f32)i%u", c, c, c, c);
        if (form->minimum == LS__MINIMA)
            PUT(" - (m * scales[a%u]) * (f32)l%u", c, c);
        PUT(");\n");
    }
}

/* `f32 d`, and `f32 m` or `u32 more`, of block b of a slice; lane `lane`. */
static void put_halves(ls__strbuf *text, const ls__matrix_form *form)
{
    PUT("f32 d = f16_to_f32(halves[place * 2 + b * %u + lane]);\n", form->halves * LS__LANES);
    if (form->halves == 2 && form->minimum == LS__NO_MINIMUM)
        PUT("u32 more = halves[place * 2 + b * 64 + 32 + lane].bits;\n");
    else if (form->halves == 2)
        PUT("f32 m = f16_to_f32(halves[place * 2 + b * 64 + 32 + lane]);\n");
}

static void put_integer_kernel(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile)
{
    uint32_t per_slice = LS__SLICE / form->elements;
    PUT("(u32 rows, u32 elements, u32 columns, u32 first_row, const f16 *halves,\n"
        "    const u32 *words, const u32 *integers, const f32 *scales, const i32 *sums, %sf32 *y)\n"
        "{\n"
        "u32 lane = lane_id(), blocks = elements / %u, column = workgroup_id(0) * %u;\n"
        "u64 place = (u64)workgroup_id(1) * blocks * %u;\n",
        form->elements == 32 ? "const f32 *products, " : "", form->elements, tile,
        block_words(form));
    EACH_COLUMN(c) PUT("f32 t%u = 0.0f;\nu32 block%u = (column + %u) * blocks;\n", c, c, c);
    PUT("for (u32 first = 0; first < blocks; first += %u) {\n"
        "u32 count = %s;\n"
        "u64 quants = place + count * %u;\n",
        per_slice, per_slice == 1 ? "1" : "min(8u, blocks - first)", form->halves * LS__LANES / 2);
    EACH_COLUMN(c) PUT("f32 s%u = 0.0f;\n", c);
    PUT("%s {\n"
        "u64 block = quants + b * %u;\n",
        form->group ? "const u32 b = 0;" : "for (u32 b = 0; b < count; b++)",
        form->words * LS__LANES);
    put_halves(text, form);
    EACH_COLUMN(c) PUT("u32 a%u = block%u + first + b;\n", c, c);
    if (form->group)
        put_grouped_block(text, form, tile);
    else
        put_plain_block(text, form, tile);
    PUT("}\n");
    EACH_COLUMN(c) PUT("t%u = t%u + s%u;\n", c, c, c);
    PUT("place = quants + count * %u;\n}\n", form->words * LS__LANES);
}

/* --- matrices of floats ----------------------------------------------------------------------- */

static const char *float_type(const ls__matrix_form *form)
{
    return form->type == LS_GGUF_TYPE_F16    ? "f16"
           : form->type == LS_GGUF_TYPE_BF16 ? "bf16"
                                             : "f32";
}

/* What makes it an f32. */
static const char *float_open(const ls__matrix_form *form)
{
    return form->type == LS_GGUF_TYPE_F16    ? "f16_to_f32("
           : form->type == LS_GGUF_TYPE_BF16 ? "bf16_to_f32("
                                             : "(";
}

/* The next element of all rows times the inputs of a tile, added to s_c; or, what s_c were waits in
 * memory at `a`, and they begin with it. */
static void put_float_step(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile,
                           bool begins)
{
    PUT("f32 w = %smatrix[place + lane]);\n", float_open(form));
    EACH_COLUMN(c)
    {
        if (begins)
            PUT("sums%u[a] = s%u;\n", c, c);
        if (tile == 1)
            PUT("s0 = fma(w, x[input + k], %s);\n", begins ? "0.0f" : "s0");
        else if (begins)
            PUT("s%u = fma(w, x[input + %u], 0.0f);\n", c, c);
        else
            PUT("s%u = fma(w, x[input + %u], s%u);\n", c, c, c);
    }
    PUT("place = place + 32;\n");
    if (tile > 1)
        PUT("input = input + %u;\n", tile);
}

/* The accumulators of a slice one after the other, each through all its elements, as they lie; what
 * they come to waits in memory, so that registers are left for the next one, with whose first
 * element it goes there column by column: many stores in a row take time that others do not. The
 * input of a tile lies as the matrix does (tensor.kc). */
static void put_float_kernel(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile)
{
    PUT("(u32 rows, u32 elements, u32 columns, u32 first_row, const %s *matrix,\n"
        "    const f32 *x, f32 *y)\n"
        "{\n"
        "u32 lane = lane_id(), column = workgroup_id(0) * %u;\n"
        "u64 place = (u64)workgroup_id(1) * elements * 32, input = (u64)column * elements;\n",
        float_type(form), tile);
    EACH_COLUMN(c) PUT("f32 t%u = 0.0f, s%u = 0.0f, sums%u[8];\n", c, c, c);
    PUT("for (u32 first = 0; first < elements; first += 256) {\n"
        "u32 count = min(256u, elements - first), a = 0;\n"
        "for (; a < min(8u, count); a++) {\n"
        "u32 k = a;\n");
    put_float_step(text, form, tile, true);
    PUT("for (k = a + 8; k < count; k += 8) {\n");
    put_float_step(text, form, tile, false);
    PUT("}\n}\n"
        "for (; a < 8; a++) {\n");
    EACH_COLUMN(c) PUT("sums%u[a] = s%u;\ns%u = 0.0f;\n", c, c, c);
    PUT("}\n");
    EACH_COLUMN(c)
    PUT("t%u = t%u + (((sums%u[1] + sums%u[2]) + (sums%u[3] + sums%u[4])) +\n"
        "    ((sums%u[5] + sums%u[6]) + (sums%u[7] + s%u)));\n",
        c, c, c, c, c, c, c, c, c, c);
    if (tile == 1)
        PUT("input = input + 256;\n");
    PUT("}\n");
}

void ls__matrix_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name,
                       uint32_t tile)
{
    PUT("kernel workgroup(32) void %s", name);
    if (is_float(form))
        put_float_kernel(text, form, tile);
    else
        put_integer_kernel(text, form, tile);
    PUT("    u32 row = first_row + workgroup_id(1) * 32 + lane;\n");
    for (uint32_t c = 0; c < tile; c++)
        PUT("    if (row < rows && column + %u < columns)\n"
            "        y[(u64)(column + %u) * rows + row] = t%u;\n",
            c, c, c);
    PUT("}\n\n");
}

/* --- rows ------------------------------------------------------------------------------------- */

/* A lane: four elements. */
static void put_integer_row(ls__strbuf *text, const ls__matrix_form *form)
{
    const char *type = ls_gguf_type_name(form->type);
    uint32_t per_slice = LS__SLICE / form->elements, step = units_of_step(form) * 32;
    PUT("(u32 elements, u32 first_row, u32 count, const u32 *rows, const f16 *halves,\n"
        "    const u32 *words, f32 *y)\n"
        "{\n"
        "u32 k = global_id(0) * 4, row = rows[global_id(1)] - first_row;\n"
        "if (k >= elements || row >= count)\n"
        "    return;\n"
        "u32 lane = row %% 32, blocks = elements / %u;\n"
        "u32 first = k / 256 * %u, per_slice = min(%uu, blocks - first);\n"
        "u32 b = k %% 256 / %u;\n"
        "u64 place = ((u64)(row / 32) * blocks + first) * %u;\n"
        "u64 block = place + per_slice * %u + b * %u;\n",
        form->elements, per_slice, per_slice, form->elements, block_words(form),
        form->halves * LS__LANES / 2, form->words * LS__LANES);
    put_halves(text, form);
    if (form->group)
        PUT("u32 v = k %% 256 / %u, u = k %% %u / 32, g = k %% %u / %u;\n"
            "d = d * (f32)scale_%s(words, block, lane, v, g%s);\n",
            step, step, step, form->group, type, form->type == LS_GGUF_TYPE_IQ4_XS ? ", more" : "");
    PUT("u32 word = word_%s(words, block, lane, %s, k %% 32 / 16, k %% 16 / 4);\n", type,
        form->group ? "v, u" : "0");
    if (form->minimum == LS__MINIMA)
        PUT("m = m * (f32)least_%s(words, block, lane, v, g);\n", type);
    PUT("for (u32 i = 0; i < 4; i++) {\n"
        "i32 q = %s - %u;\n"
        "y[(u64)global_id(1) * elements + k + i] = (f32)q * d%s;\n"
        "}\n",
        form->is_signed ? "(i32)(word << (24 - i * 8)) >> 24" : "(i32)(word >> i * 8 & 255)",
        form->offset,
        form->minimum == LS__MINIMA    ? " - m"
        : form->minimum == LS__MINIMUM ? " + m"
                                       : "");
}

void ls__embedding_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name)
{
    PUT("kernel void %s", name);
    if (is_float(form))
        PUT("(u32 elements, u32 first_row, u32 count, const u32 *rows, const %s *matrix,\n"
            "    f32 *y)\n"
            "{\n"
            "    u32 k = global_id(0), row = rows[global_id(1)] - first_row;\n"
            "    if (k >= elements || row >= count)\n"
            "        return;\n"
            "    u32 count_here = min(256u, elements - k / 256 * 256), a = k %% 8;\n"
            "    u32 in_turn = a * (count_here / 8) + min(a, count_here %% 8) + k %% 256 / 8;\n"
            "    u64 first = (u64)(row / 32) * elements + k / 256 * 256;\n"
            "    u64 place = (first + in_turn) * 32 + row %% 32;\n"
            "    y[(u64)global_id(1) * elements + k] = %smatrix[place]);\n",
            float_type(form), float_open(form));
    else
        put_integer_row(text, form);
    PUT("}\n\n");
}
