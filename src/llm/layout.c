/* SPDX-License-Identifier: Apache-2.0 */
/* From the blocks of a file to panels, and the types that have them. */
#include "llm/layout.h"

#include <stddef.h>
#include <string.h>

#include "gguf/blocks.h"

#define BLOCK(name, elements, halves, words)                                                       \
    {                                                                                              \
        LS_GGUF_TYPE_##name, (elements), (halves), (words), 0, (halves)*2                          \
    }

static const ls__matrix_form forms[] = {
    BLOCK(Q4_0, 32, 1, 4),
    BLOCK(Q4_1, 32, 2, 4),
    BLOCK(Q8_0, 32, 1, 8),
    {LS_GGUF_TYPE_F32, 1, 0, 1, 0, 0},
    {LS_GGUF_TYPE_F16, 1, 1, 0, 0, 0},
};

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

static uint64_t panel_bytes(const ls__matrix_form *form, uint64_t columns)
{
    return columns / form->elements * (form->halves * 2 + form->words * 4) * LS__LANES;
}

uint64_t ls__matrix_bytes(const ls__matrix_form *form, uint64_t columns, uint64_t rows)
{
    return (rows + LS__LANES - 1) / LS__LANES * panel_bytes(form, columns);
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
        }
        out = words + count * form->words * 4 * LS__LANES;
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
        for (uint32_t lane = 0; lane < LS__LANES && row + lane < rows; lane++)
            lay_row(form, (const uint8_t *)data + (row + lane) * row_bytes, blocks, lane, panel);
    }
}
