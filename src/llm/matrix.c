/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of the kernels that read matrices. Everything that loops over the inputs of a tile is
 * written out, so that sums live in registers. What all lanes share, places and the input, is
 * uniform: the lane is added last, which makes a load of 32 neighbours of every read of the matrix.
 */
#include "llm/matrix.h"

#define PUT(...) ls__strbuf_printf(text, __VA_ARGS__)

static bool is_float(const ls__matrix_form *form)
{
    return form->elements == 1;
}

/* --- matrices of integers --------------------------------------------------------------------- */

/* The products of one word of the matrix with the words of one input. */
static void put_products(ls__strbuf *text, const ls__matrix_form *form, uint32_t word, uint32_t c)
{
    if (form->type == LS_GGUF_TYPE_Q8_0) {
        PUT("            p%u = dot4(w%u, integers[x%u + %u], p%u);\n", c, word, c, word, c);
        return;
    }
    PUT("            p%u = dot4_us(w%u & 0x0f0f0f0fu, integers[x%u + %u], p%u);\n", c, word, c,
        word, c);
    PUT("            p%u = dot4_us(w%u >> 4 & 0x0f0f0f0fu, integers[x%u + %u], p%u);\n", c, word, c,
        word + 4, c);
}

static void put_term(ls__strbuf *text, const ls__matrix_form *form, uint32_t c)
{
    PUT("            s%u = s%u + ((d * scales[q%u]) * (f32)p%u", c, c, c, c);
    PUT(form->halves == 2 ? " + m * products[q%u]);\n" : ");\n", c);
}

static void put_block(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile)
{
    PUT("        for (u32 b = 0; b < count; b++) {\n"
        "            f32 d = f16_to_f32(halves[place * 2 + b * %u + lane]);\n",
        form->halves * LS__LANES);
    if (form->halves == 2)
        PUT("            f32 m = f16_to_f32(halves[place * 2 + b * 64 + 32 + lane]);\n");
    for (uint32_t c = 0; c < tile; c++)
        PUT("            u32 q%u = block%u + first + b, x%u = q%u * 8;\n", c, c, c, c);
    for (uint32_t c = 0; c < tile; c++)
        PUT(form->type == LS_GGUF_TYPE_Q4_0 ? "            i32 p%u = -8 * sums[q%u];\n"
                                            : "            i32 p%u = 0;\n",
            c, c);
    for (uint32_t w = 0; w < form->words; w++) {
        PUT("            u32 w%u = words[quants + b * %u + %u + lane];\n", w,
            form->words * LS__LANES, w * LS__LANES);
        for (uint32_t c = 0; c < tile; c++)
            put_products(text, form, w, c);
    }
    for (uint32_t c = 0; c < tile; c++)
        put_term(text, form, c);
    PUT("        }\n");
}

static void put_integer_kernel(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile)
{
    PUT("(u32 rows, u32 elements, u32 columns, const f16 *halves, const u32 *words,\n"
        "    const u32 *integers, const f32 *scales, const f32 *products, const i32 *sums, f32 "
        "*y)\n"
        "{\n"
        "    u32 lane = lane_id(), blocks = elements / 32, column = workgroup_id(1) * %u;\n"
        "    u64 place = (u64)workgroup_id(0) * blocks * %u;\n",
        tile, (form->halves * 2 + form->words * 4) * LS__LANES / 4);
    for (uint32_t c = 0; c < tile; c++)
        PUT("    f32 t%u = 0.0f;\n    u32 block%u = (column + %u) * blocks;\n", c, c, c);
    PUT("    for (u32 first = 0; first < blocks; first += 8) {\n"
        "        u32 count = min(8u, blocks - first);\n"
        "        u64 quants = place + count * %u;\n",
        form->halves * LS__LANES / 2);
    for (uint32_t c = 0; c < tile; c++)
        PUT("        f32 s%u = 0.0f;\n", c);
    put_block(text, form, tile);
    for (uint32_t c = 0; c < tile; c++)
        PUT("        t%u = t%u + s%u;\n", c, c, c);
    PUT("        place = quants + count * %u;\n    }\n", form->words * LS__LANES);
}

/* --- matrices of floats ----------------------------------------------------------------------- */

static void put_float_kernel(ls__strbuf *text, const ls__matrix_form *form, uint32_t tile)
{
    const char *type = form->type == LS_GGUF_TYPE_F16 ? "f16" : "f32";
    const char *open = form->type == LS_GGUF_TYPE_F16 ? "f16_to_f32(" : "(";
    PUT("(u32 rows, u32 elements, u32 columns, const %s *matrix, const f32 *x, f32 *y)\n"
        "{\n"
        "    u32 lane = lane_id(), column = workgroup_id(1) * %u;\n"
        "    u64 place = (u64)workgroup_id(0) * elements * 32;\n",
        type, tile);
    for (uint32_t c = 0; c < tile; c++)
        PUT("    f32 t%u = 0.0f;\n    u64 input%u = (u64)(column + %u) * elements;\n", c, c, c);
    PUT("    for (u32 first = 0; first < elements; first += 256) {\n"
        "        u32 end = min(elements, first + 256);\n");
    for (uint32_t c = 0; c < tile; c++)
        for (uint32_t a = 0; a < 8; a++)
            PUT("        f32 s%u_%u = 0.0f;\n", c, a);
    PUT("        for (u32 k = first; k < end; k += 8) {\n");
    for (uint32_t a = 0; a < 8; a++) { /* the last round may be shorter: its loads give 0 there */
        PUT("            f32 w%u = k + %u < end ? %smatrix[place + (u64)(k + %u) * 32 + lane]) : "
            "0.0f;\n",
            a, a, open, a);
        for (uint32_t c = 0; c < tile; c++)
            PUT("            if (k + %u < end)\n"
                "                s%u_%u = fma(w%u, x[input%u + k + %u], s%u_%u);\n",
                a, c, a, a, c, a, c, a);
    }
    PUT("        }\n");
    for (uint32_t c = 0; c < tile; c++)
        PUT("        t%u = t%u + (((s%u_0 + s%u_1) + (s%u_2 + s%u_3)) + ((s%u_4 + s%u_5) + (s%u_6 "
            "+ "
            "s%u_7)));\n",
            c, c, c, c, c, c, c, c, c, c);
    PUT("    }\n");
}

void ls__matrix_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name,
                       uint32_t tile)
{
    PUT("kernel workgroup(32) void %s", name);
    if (is_float(form))
        put_float_kernel(text, form, tile);
    else
        put_integer_kernel(text, form, tile);
    PUT("    u32 row = workgroup_id(0) * 32 + lane;\n");
    for (uint32_t c = 0; c < tile; c++)
        PUT("    if (row < rows && column + %u < columns)\n"
            "        y[(u64)(column + %u) * rows + row] = t%u;\n",
            c, c, c);
    PUT("}\n\n");
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put_integer_row(ls__strbuf *text, const ls__matrix_form *form)
{
    PUT("(u32 elements, const u32 *rows, const f16 *halves, const u32 *words, f32 *y)\n"
        "{\n"
        "    u32 k = global_id(0);\n"
        "    if (k >= elements)\n"
        "        return;\n"
        "    u32 row = rows[global_id(1)], lane = row %% 32, blocks = elements / 32;\n"
        "    u32 first = k / 256 * 8, count = min(8u, blocks - first), b = k / 32 - first, e = k "
        "%% 32;\n"
        "    u64 place = ((u64)(row / 32) * blocks + first) * %u;\n"
        "    u64 quants = place + count * %u + b * %u + lane;\n"
        "    f32 d = f16_to_f32(halves[place * 2 + b * %u + lane]);\n",
        (form->halves * 2 + form->words * 4) * LS__LANES / 4, form->halves * LS__LANES / 2,
        form->words * LS__LANES, form->halves * LS__LANES);
    if (form->type == LS_GGUF_TYPE_Q8_0)
        PUT("    i32 q = (i32)(words[quants + e / 4 * 32] << (24 - e %% 4 * 8)) >> 24;\n"
            "    y[(u64)global_id(1) * elements + k] = (f32)q * d;\n");
    else
        PUT("    i32 q = (i32)(words[quants + e %% 16 / 4 * 32] >> (e %% 4 * 8 + e / 16 * 4) & "
            "15);\n");
    if (form->type == LS_GGUF_TYPE_Q4_0)
        PUT("    y[(u64)global_id(1) * elements + k] = (f32)(q - 8) * d;\n");
    if (form->type == LS_GGUF_TYPE_Q4_1)
        PUT("    f32 m = f16_to_f32(halves[place * 2 + b * 64 + 32 + lane]);\n"
            "    y[(u64)global_id(1) * elements + k] = (f32)q * d + m;\n");
}

void ls__embedding_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name)
{
    PUT("kernel void %s", name);
    if (is_float(form)) {
        bool half = form->type == LS_GGUF_TYPE_F16;
        PUT("(u32 elements, const u32 *rows, const %s *matrix, f32 *y)\n"
            "{\n"
            "    u32 k = global_id(0);\n"
            "    if (k >= elements)\n"
            "        return;\n"
            "    u32 row = rows[global_id(1)];\n"
            "    u64 place = ((u64)(row / 32) * elements + k) * 32 + row %% 32;\n"
            "    y[(u64)global_id(1) * elements + k] = %smatrix[place]%s;\n",
            half ? "f16" : "f32", half ? "f16_to_f32(" : "", half ? ")" : "");
    } else {
        put_integer_row(text, form);
    }
    PUT("}\n\n");
}
