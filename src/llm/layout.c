/* SPDX-License-Identifier: Apache-2.0 */
/* From the blocks of a file to panels, and the types that have them. */
#include "llm/layout.h"

#include <stddef.h>
#include <string.h>

#include "gguf/blocks.h"

/* How many there are of what, and where in the file's block. */
#define SCALE_FIRST(name, elements, halves, words)                                                 \
    LS_GGUF_TYPE_##name, (elements), (halves), (words), (halves)*2 + (words)*4, 0, (halves)*2
#define SCALE_LAST(name, elements, halves, words, added)                                           \
    LS_GGUF_TYPE_##name, (elements), (halves), (words) + (added), (halves)*2 + (words)*4,          \
        (words)*4, 0

/* elements, halves, words of the file, and those that it lacks; group, offset, is_signed,
 * has_fifth_bits, minimum */
static const ls__matrix_form forms[] = {
    {SCALE_FIRST(F32, 1, 0, 1), 0, 0, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(F16, 1, 1, 0), 0, 0, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(BF16, 1, 1, 0), 0, 0, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(Q4_0, 32, 1, 4), 0, 8, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(Q4_1, 32, 2, 4), 0, 0, false, false, LS__MINIMUM},
    {SCALE_FIRST(Q5_0, 32, 1, 5), 0, 16, false, true, LS__NO_MINIMUM},
    {SCALE_FIRST(Q5_1, 32, 2, 5), 0, 0, false, true, LS__MINIMUM},
    {SCALE_FIRST(Q8_0, 32, 1, 8), 0, 0, true, false, LS__NO_MINIMUM},
    {SCALE_LAST(Q2_K, 256, 2, 20, 0), 16, 0, false, false, LS__MINIMA},
    {SCALE_LAST(Q3_K, 256, 1, 27, 1), 16, 4, false, false, LS__NO_MINIMUM},
    {SCALE_FIRST(Q4_K, 256, 2, 35), 32, 0, false, false, LS__MINIMA},
    {SCALE_FIRST(Q5_K, 256, 2, 43), 32, 0, false, false, LS__MINIMA},
    {SCALE_LAST(Q6_K, 256, 1, 52, 0), 16, 32, false, false, LS__NO_MINIMUM},
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

/* --- turning rows around ---------------------------------------------------------------------- */

/* `rows` are `lanes` rows, `row_bytes` apart; word or half k of lane l goes to [k][l] of a panel.
 */

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define TURNS_VECTORS 1
#endif
#endif

#ifdef TURNS_VECTORS
#define TAKE __builtin_shufflevector
typedef uint32_t quad __attribute__((vector_size(16)));
typedef uint16_t octet __attribute__((vector_size(16)));

/* Four words of four lanes. */
static void turn_quad(const uint8_t *rows, uint64_t row_bytes, uint32_t apart, uint8_t *out)
{
    quad a, b, c, d;
    memcpy(&a, rows, sizeof a);
    memcpy(&b, rows + row_bytes, sizeof b);
    memcpy(&c, rows + row_bytes * 2, sizeof c);
    memcpy(&d, rows + row_bytes * 3, sizeof d);
    quad ab = TAKE(a, b, 0, 4, 1, 5), cd = TAKE(c, d, 0, 4, 1, 5);
    quad more_ab = TAKE(a, b, 2, 6, 3, 7), more_cd = TAKE(c, d, 2, 6, 3, 7);
    a = TAKE(ab, cd, 0, 1, 4, 5);
    b = TAKE(ab, cd, 2, 3, 6, 7);
    c = TAKE(more_ab, more_cd, 0, 1, 4, 5);
    d = TAKE(more_ab, more_cd, 2, 3, 6, 7);
    memcpy(out, &a, sizeof a);
    memcpy(out + LS__LANES * 4 * apart, &b, sizeof b);
    memcpy(out + LS__LANES * 8 * apart, &c, sizeof c);
    memcpy(out + LS__LANES * 12 * apart, &d, sizeof d);
}

/* Eight halves of eight lanes. */
static void turn_octet(const uint8_t *rows, uint64_t row_bytes, uint32_t apart, uint8_t *out)
{
    octet from[8], to[8];
    for (int i = 0; i < 8; i++)
        memcpy(&from[i], rows + row_bytes * (uint64_t)i, sizeof from[i]);
    for (int round = 0; round < 3;
         round++) { /* each puts halves of lanes i and i + 4 side by side */
        for (int i = 0; i < 4; i++) {
            to[i * 2] = TAKE(from[i], from[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            to[i * 2 + 1] = TAKE(from[i], from[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(from, to, sizeof from);
    }
    for (int i = 0; i < 8; i++)
        memcpy(out + (uint32_t)i * apart * LS__LANES * 2, &from[i], sizeof from[i]);
}
#endif

/* Word k goes to [k * apart][l]. */
static void turn_words(const uint8_t *rows, uint64_t row_bytes, uint32_t lanes, uint64_t count,
                       uint32_t apart, uint8_t *out)
{
    uint64_t k = 0;
#ifdef TURNS_VECTORS
    for (; lanes == LS__LANES && k + 4 <= count; k += 4)
        for (uint32_t lane = 0; lane < LS__LANES; lane += 4)
            turn_quad(rows + lane * row_bytes + k * 4, row_bytes, apart,
                      out + (k * apart * LS__LANES + lane) * 4);
#endif
    for (; k < count; k++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            memcpy(out + (k * apart * LS__LANES + lane) * 4, rows + lane * row_bytes + k * 4, 4);
}

static void turn_halves(const uint8_t *rows, uint64_t row_bytes, uint32_t lanes, uint64_t count,
                        uint32_t apart, uint8_t *out)
{
    uint64_t k = 0;
#ifdef TURNS_VECTORS
    for (; lanes == LS__LANES && k + 8 <= count; k += 8)
        for (uint32_t lane = 0; lane < LS__LANES; lane += 8)
            turn_octet(rows + lane * row_bytes + k * 2, row_bytes, apart,
                       out + (k * apart * LS__LANES + lane) * 2);
#endif
    for (; k < count; k++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            memcpy(out + (k * apart * LS__LANES + lane) * 2, rows + lane * row_bytes + k * 2, 2);
}

/* Bits whose number has bit `high` clear and bit `low` set (`mask` are all of them) change places
 * with those that have them the other way around. */
static uint32_t swap_bits(uint32_t bits, uint32_t high, uint32_t low, uint32_t mask)
{
    uint32_t distance = (1u << high) - (1u << low), odd = (bits >> distance ^ bits) & mask;
    return bits ^ odd ^ odd << distance;
}

/* Of each 4 bits, bit j goes to byte j: bit kkkjj to bit jjkkk. */
static void spread(uint32_t words[LS__LANES])
{
    for (uint32_t lane = 0; lane < LS__LANES; lane++) {
        uint32_t bits = words[lane];
        bits = swap_bits(bits, 4, 1, 0x0000cccc);
        bits = swap_bits(bits, 3, 0, 0x00aa00aa);
        bits = swap_bits(bits, 2, 1, 0x0c0c0c0c);
        words[lane] = swap_bits(bits, 1, 0, 0x22222222);
    }
}

static void spread_fifth_bits(uint8_t *words)
{
    uint32_t copy[LS__LANES];
    memcpy(copy, words, sizeof copy);
    spread(copy);
    memcpy(words, copy, sizeof copy);
}

/* Of four units of a half: four bits of the first and the third in one word, of the others in the
 * next, two more of each in the last. Each of the first three is given a word of its own, and the
 * two bits that its bytes have left over to the fourth. */
static void pack_sixes(uint8_t *words)
{
    uint32_t w[3][LS__LANES];
    memcpy(w, words, sizeof w);
    for (uint32_t lane = 0; lane < LS__LANES; lane++) {
        uint32_t a = w[0][lane], b = w[1][lane], more = w[2][lane];
        w[0][lane] = (a & 0x0f0f0f0f) | (more & 0x03030303) << 4 | (b & 0x30303030) << 2;
        w[1][lane] = (b & 0xcfcfcfcf) | (more & 0x0c0c0c0c) << 2;
        w[2][lane] = (a >> 4 & 0x0f0f0f0f) | (more & 0xf0f0f0f0);
    }
    memcpy(words, w, sizeof w);
}

/* The words in the order they are used in: those with the scales; then of each half of 128
 * elements, first 16 and last 16 of its units, three by three. */
static void lay_q6_k(const uint8_t *rows, uint64_t row_bytes, uint32_t lanes, uint8_t *out)
{
    enum { HIGH = 32, SCALES = 48, WORD = 4 * LS__LANES };
    turn_words(rows + SCALES * 4, row_bytes, lanes, 4, 1, out);
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *low = rows + (i / 2 * 16 + i % 2 * 4) * 4;
        uint8_t *to = out + (4 + i * 12) * WORD;
        turn_words(low, row_bytes, lanes, 4, 3, to);
        turn_words(low + 8 * 4, row_bytes, lanes, 4, 3, to + WORD);
        turn_words(rows + (HIGH + i * 4) * 4, row_bytes, lanes, 4, 3, to + 2 * WORD);
        for (uint32_t k = 0; k < 4; k++)
            pack_sixes(to + k * 3 * WORD);
    }
}

/* Element e of unit u: byte e % 4 of word e / 4 of its own; of `low` shifted to the right for u, as
 * in the blocks of the file, of `high` so that its bit is that of u. */
typedef struct laid_words {
    uint32_t low[32][LS__LANES], high[8][LS__LANES];
} laid_words;

/* Units 4v to 4v + 3 of words i and i + 1, the units of a word side by side. */
static void take_parts(const laid_words *w, uint32_t bits, uint32_t v, uint32_t i,
                       uint32_t parts[8][LS__LANES])
{
    uint32_t per_word = 8 / bits, mask = ((1u << bits) - 1) * 0x01010101;
    for (uint32_t p = 0; p < 8; p++) {
        uint32_t u = v * 4 + p % 4, word = i + p / 4;
        const uint32_t *low = w->low[u / per_word * 8 + word], *high = w->high[word];
        for (uint32_t lane = 0; lane < LS__LANES; lane++)
            parts[p][lane] =
                (low[lane] >> u % per_word * bits & mask) | (high[lane] >> u & 0x01010101) << bits;
    }
}

static void lay_q5_k(const uint8_t *rows, uint64_t row_bytes, uint32_t lanes, uint8_t *out)
{
    enum { SCALES = 3, HIGH = 8, LOW = 32 };
    laid_words w = {0};
    turn_words(rows, row_bytes, lanes, SCALES, 1, out);
    turn_words(rows + SCALES * 4, row_bytes, lanes, HIGH, 1, (uint8_t *)w.high);
    turn_words(rows + (SCALES + HIGH) * 4, row_bytes, lanes, LOW, 1, (uint8_t *)w.low);
    out += sizeof(uint32_t[SCALES][LS__LANES]);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t p[8][LS__LANES], to[5][LS__LANES];
        take_parts(&w, 4, i / 4, i % 4 * 2, p);
        for (uint32_t lane = 0; lane < LS__LANES; lane++) {
            uint32_t a = p[5][lane], b = p[6][lane], c = p[7][lane];
            to[0][lane] = p[0][lane] | (a & 0x07070707) << 5;
            to[1][lane] = p[1][lane] | (a & 0x18181818) << 2 | (c & 0x08080808) << 4;
            to[2][lane] = p[2][lane] | (b & 0x07070707) << 5;
            to[3][lane] = p[3][lane] | (b & 0x18181818) << 2 | (c & 0x10101010) << 3;
            to[4][lane] = p[4][lane] | (c & 0x07070707) << 5;
        }
        memcpy(out, to, sizeof to);
        out += sizeof to;
    }
}

/* The scales become bytes. */
static void lay_q3_k(const uint8_t *rows, uint64_t row_bytes, uint32_t lanes, uint8_t *out)
{
    enum { HIGH = 8, LOW = 16, SCALES = 3 };
    laid_words w = {0};
    uint32_t packed[SCALES][LS__LANES] = {0}, scales[4][LS__LANES];
    turn_words(rows, row_bytes, lanes, HIGH, 1, (uint8_t *)w.high);
    turn_words(rows + HIGH * 4, row_bytes, lanes, LOW, 1, (uint8_t *)w.low);
    turn_words(rows + (HIGH + LOW) * 4, row_bytes, lanes, SCALES, 1, (uint8_t *)packed);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t lane = 0; lane < LS__LANES; lane++) {
            uint32_t low = packed[i % 2][lane] >> i / 2 * 4 & 0x0f0f0f0f;
            uint32_t more = low | (packed[2][lane] >> i * 2 & 0x03030303) << 4;
            scales[i][lane] = ((more | 0x80808080) - 0x20202020) ^ 0x80808080;
        }
    memcpy(out, scales, sizeof scales);
    out += sizeof scales;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t p[8][LS__LANES], to[3][LS__LANES];
        take_parts(&w, 2, i / 4, i % 4 * 2, p);
        for (uint32_t lane = 0; lane < LS__LANES; lane++) {
            uint32_t a = p[6][lane], b = p[7][lane];
            to[0][lane] = p[0][lane] | p[1][lane] << 3 | (a & 0x03030303) << 6;
            to[1][lane] =
                p[2][lane] | p[3][lane] << 3 | (a & 0x04040404) << 4 | (b & 0x04040404) << 5;
            to[2][lane] = p[4][lane] | p[5][lane] << 3 | (b & 0x03030303) << 6;
        }
        memcpy(out, to, sizeof to);
        out += sizeof to;
    }
}

static void lay_panel(const ls__matrix_form *form, const uint8_t *rows, uint64_t row_bytes,
                      uint32_t lanes, uint64_t blocks, uint8_t *out)
{
    uint32_t block_bytes = form->file_bytes;
    uint64_t per_slice = LS__SLICE / form->elements;
    for (uint64_t first = 0; first < blocks; first += per_slice) {
        uint64_t count = blocks - first < per_slice ? blocks - first : per_slice;
        uint8_t *words = out + count * form->halves * 2 * LS__LANES;
        for (uint64_t b = 0; b < count; b++, rows += block_bytes) {
            turn_halves(rows + form->scale_byte, row_bytes, lanes, form->halves, 1, out);
            if (form->type == LS_GGUF_TYPE_Q6_K)
                lay_q6_k(rows + form->integer_byte, row_bytes, lanes, words);
            else if (form->type == LS_GGUF_TYPE_Q5_K)
                lay_q5_k(rows + form->integer_byte, row_bytes, lanes, words);
            else if (form->type == LS_GGUF_TYPE_Q3_K)
                lay_q3_k(rows + form->integer_byte, row_bytes, lanes, words);
            else
                turn_words(rows + form->integer_byte, row_bytes, lanes, form->words, 1, words);
            if (form->has_fifth_bits)
                spread_fifth_bits(words);
            out += form->halves * 2 * LS__LANES;
            words += form->words * 4 * LS__LANES;
        }
        out = words;
    }
}

/* Of each slice, first the elements that accumulator 0 takes (docs/numerics-llm.md), then those of
 * the next. */
static void lay_floats(uint32_t size, const uint8_t *rows, uint64_t row_bytes, uint32_t lanes,
                       uint64_t columns, uint8_t *out)
{
    for (uint64_t first = 0; first < columns; first += LS__SLICE) {
        uint32_t count = columns - first < LS__SLICE ? (uint32_t)(columns - first) : LS__SLICE;
        uint32_t each = count / 8, more = count % 8;
        for (uint32_t k = 0; k < count; k += 8) {
            const uint8_t *from = rows + (first + k) * size;
            for (uint32_t a = 0, run; a < 8 && k + a < count; a += run) {
                run = more == 0 ? 8 : 1;
                uint64_t at = first + a * each + (a < more ? a : more) + k / 8;
                uint8_t *to = out + at * LS__LANES * size;
                if (size == 4)
                    turn_words(from + a * 4, row_bytes, lanes, run, each, to);
                else
                    turn_halves(from + a * 2, row_bytes, lanes, run, each, to);
            }
        }
    }
}

void ls__matrix_lay(const ls__matrix_form *form, const void *data, uint64_t columns, uint64_t rows,
                    uint64_t first, uint64_t count, void *out)
{
    uint64_t blocks = columns / form->elements;
    uint64_t row_bytes = blocks * form->file_bytes;
    uint64_t bytes = panel_bytes(form, columns);
    for (uint64_t p = 0; p < count; p++) {
        uint8_t *panel = (uint8_t *)out + p * bytes;
        uint64_t row = (first + p) * LS__LANES;
        uint32_t lanes = rows - row < LS__LANES ? (uint32_t)(rows - row) : LS__LANES;
        const uint8_t *from = (const uint8_t *)data + row * row_bytes;
        if (lanes < LS__LANES)
            memset(panel, 0, bytes);
        if (form->elements > 1)
            lay_panel(form, from, row_bytes, lanes, blocks, panel);
        else
            lay_floats(form->words ? 4 : 2, from, row_bytes, lanes, columns, panel);
    }
}
