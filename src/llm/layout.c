/* SPDX-License-Identifier: Apache-2.0 */
/* From the blocks of a file to panels, and the types that have them. */
#include "llm/layout.h"

#include <stddef.h>
#include <string.h>

#include "gguf/blocks.h"

/* How many there are of what, and where in the file's block. */
#define SCALE_FIRST(name, elements, halves, words)                                                 \
    LS_GGUF_TYPE_##name, (elements), (halves), (words), 0, (halves)*2
#define SCALE_LAST(name, elements, halves, words)                                                  \
    LS_GGUF_TYPE_##name, (elements), (halves), (words), (words)*4, 0

/* elements, halves, words; group, offset, is_signed, has_fifth_bits, minimum */
static const ls__matrix_form forms[] = {
    {SCALE_FIRST(F32, 1, 0, 1), 0, 0, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(F16, 1, 1, 0), 0, 0, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(BF16, 1, 1, 0), 0, 0, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(Q4_0, 32, 1, 4), 0, 8, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(Q4_1, 32, 2, 4), 0, 0, false, false, LS__MINIMUM},
    {SCALE_FIRST(Q5_0, 32, 1, 5), 0, 16, false, true, LS__NO_MINIMUM},
    {SCALE_FIRST(Q5_1, 32, 2, 5), 0, 0, false, true, LS__MINIMUM},
    {SCALE_FIRST(Q8_0, 32, 1, 8), 0, 0, true, false, LS__NO_MINIMUM},
    {SCALE_LAST(Q2_K, 256, 2, 20), 16, 0, false, false, LS__MINIMA},
    {SCALE_LAST(Q3_K, 256, 1, 27), 16, 4, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(Q4_K, 256, 2, 35), 32, 0, false, false, LS__MINIMA},
    {SCALE_FIRST(Q5_K, 256, 2, 43), 32, 0, false, false, LS__MINIMA},
    {SCALE_LAST(Q6_K, 256, 1, 52), 16, 32, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(IQ4_NL, 32, 1, 4), 0, 0, true, false, LS__NO_MINIMUM},
    {SCALE_FIRST(IQ4_XS, 256, 2, 33), 32, 0, true, false, LS__NO_MINIMUM},
};

_Static_assert(sizeof forms / sizeof *forms == LS__FORMS, "as many as in the header");

const ls__matrix_form *ls__matrix_form_of(ls_gguf_type type)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].type == type)
            return &forms[i];
    return NULL;
}

const ls__matrix_form *ls__matrix_form_at(uint32_t index)
{
    return index < sizeof forms / sizeof *forms ? &forms[index] : NULL;
}

uint32_t ls__matrix_form_index(const ls__matrix_form *form)
{
    return (uint32_t)(form - forms);
}

int ls__matrix_blocking(const ls__matrix_form *form)
{
    return form->elements == 256 ? 1 : form->elements == 32 ? 0 : -1;
}

static uint64_t panel_bytes(const ls__matrix_form *form, uint64_t columns)
{
    return columns / form->elements * (form->halves * 2 + form->words * 4) * LS__LANES;
}

uint64_t ls__matrix_bytes(const ls__matrix_form *form, uint64_t columns, uint64_t rows)
{
    return (rows + LS__LANES - 1) / LS__LANES * panel_bytes(form, columns);
}

/* Of each 4 bits, bit j goes to byte j. */
static uint32_t spread(uint32_t bits)
{
    uint32_t spread = 0;
    for (uint32_t k = 0; k < 8; k++)
        spread |= ((bits >> 4 * k & 15) * UINT32_C(0x00204081) & UINT32_C(0x01010101)) << k;
    return spread;
}

static void lay_fifth_bits(const uint8_t *from, uint8_t *to)
{
    uint32_t bits;
    memcpy(&bits, from, sizeof bits);
    bits = spread(bits);
    memcpy(to, &bits, sizeof bits);
}

/* One row of a panel: its blocks go to the places of `lane`. */
static void lay_row(const ls__matrix_form *form, const uint8_t *row, uint64_t blocks, uint32_t lane,
                    uint8_t *out)
{
    uint32_t block_bytes = form->halves * 2 + form->words * 4;
    uint64_t per_slice = LS__SLICE / form->elements;
    for (uint64_t first = 0; first < blocks; first += per_slice) {
        uint64_t count = blocks - first < per_slice ? blocks - first : per_slice;
        uint8_t *words = out + count * form->halves * 2 * LS__LANES;
        for (uint64_t b = 0; b < count; b++, row += block_bytes) {
            for (uint32_t h = 0; h < form->halves; h++)
                memcpy(out + ((b * form->halves + h) * LS__LANES + lane) * 2,
                       row + form->scale_byte + h * 2, 2);
            for (uint32_t w = 0; w < form->words; w++)
                memcpy(words + ((b * form->words + w) * LS__LANES + lane) * 4,
                       row + form->integer_byte + w * 4, 4);
            if (form->has_fifth_bits)
                lay_fifth_bits(row + form->integer_byte,
                               words + (b * form->words * LS__LANES + lane) * 4);
        }
        out = words + count * form->words * 4 * LS__LANES;
    }
}

/* A panel of a matrix without blocks, whose elements have `size` bytes: it is turned around. Some
 * elements of each row at a time, so that what is written stays near. */
static void lay_elements(uint32_t size, const uint8_t *rows, uint64_t columns, uint32_t lanes,
                         uint8_t *out)
{
    enum { AT_A_TIME = 32 };
    for (uint64_t first = 0; first < columns; first += AT_A_TIME) {
        uint64_t end = columns - first < AT_A_TIME ? columns : first + AT_A_TIME;
        for (uint32_t lane = 0; lane < lanes; lane++) {
            const uint8_t *row = rows + lane * columns * size;
            if (size == 2)
                for (uint64_t k = first; k < end; k++)
                    memcpy(out + (k * LS__LANES + lane) * 2, row + k * 2, 2);
            else
                for (uint64_t k = first; k < end; k++)
                    memcpy(out + (k * LS__LANES + lane) * 4, row + k * 4, 4);
        }
    }
}

void ls__matrix_lay(const ls__matrix_form *form, const void *data, uint64_t columns, uint64_t rows,
                    uint64_t first, uint64_t count, void *out)
{
    uint64_t blocks = columns / form->elements;
    uint64_t row_bytes = blocks * (form->halves * 2 + form->words * 4);
    uint64_t bytes = panel_bytes(form, columns);
    for (uint64_t p = 0; p < count; p++) {
        uint8_t *panel = (uint8_t *)out + p * bytes;
        uint64_t row = (first + p) * LS__LANES;
        if (row + LS__LANES > rows)
            memset(panel, 0, bytes);
        if (form->elements == 1) {
            uint64_t lanes = rows - row < LS__LANES ? rows - row : LS__LANES;
            lay_elements(form->halves * 2 + form->words * 4,
                         (const uint8_t *)data + row * row_bytes, columns, (uint32_t)lanes, panel);
            continue;
        }
        for (uint32_t lane = 0; lane < LS__LANES && row + lane < rows; lane++)
            lay_row(form, (const uint8_t *)data + (row + lane) * row_bytes, blocks, lane, panel);
    }
}
