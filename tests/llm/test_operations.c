/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of language models on every device there is: what the model in plain C says, bit
 * for bit, and the golden digest. Shapes are odd on purpose: rows that fill no panel, blocks that
 * fill no slice, positions that fill no chunk, columns that fill no tile, pages out of order.
 *
 *   test_llm_operations GOLDEN [--write | --without-vulkan]
 *
 * --write adds the digests that GOLDEN lacks. Mesa takes minutes to compile these kernels in a
 * process that a sanitizer checks.
 */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "llm/attention.h"
#include "llm/matrix.h"
#include "kernels.h"
#include "model.h"

enum { TILE = 4 };
static const ls_gguf_type types[] = {
#define X(name, number, per_block, block) LS_GGUF_TYPE_##name,
    LS_GGUF_TYPE_TABLE(X)
#undef X
};
enum { TYPES = sizeof types / sizeof *types };
/* Heads that fill no 32 lanes, or more than a slice; sets that are full, and one that is not. */
static const ls__attention attentions[] = {
    {64, 3, false, "_64_3", false},   {40, 3, false, "_40_3", false},
    {264, 3, false, "_264_3", false}, {16, 3, false, "_16_3", false},
    {32, 3, false, "_32_3", false},   {64, 1, false, "_64_1", false},
    {24, 8, false, "_24_8", false},   {40, 4, true, "_40_4_f", false},
};
enum { ATTENTIONS = sizeof attentions / sizeof *attentions };

static const char *golden_path;
static bool write_golden, without_vulkan;

/* --- devices and programs --------------------------------------------------------------------- */

static void kernel_name(char name[32], const char *what, ls_gguf_type type, uint32_t tile)
{
    snprintf(name, 32, "%s_%s_%u", what, ls_gguf_type_name(type), tile);
}

static int open_devices(void **state)
{
    (void)state;
    ls__strbuf text = {0};
    for (uint32_t i = 0; i < ls__llm_kernels_count; i++)
        ls__strbuf_append(&text, ls__llm_kernels[i].text, ls__llm_kernels[i].length);
    for (int t = 0; t < TYPES; t++) {
        const ls__matrix_form *form = ls__matrix_form_of(types[t]);
        char name[32];
        for (uint32_t tile = 1; tile <= TILE; tile += TILE - 1) {
            kernel_name(name, "matrix", types[t], tile);
            ls__matrix_kernel(&text, form, name, tile);
        }
        kernel_name(name, "rows", types[t], 0);
        ls__embedding_kernel(&text, form, name);
    }
    for (int i = 0; i < ATTENTIONS; i++)
        ls__attention_kernels(&text, &attentions[i]);
    kernels_open(&text, without_vulkan);
    return 0;
}

/* --- data and digests ------------------------------------------------------------------------- */

static uint16_t random_half(ls__rng *rng) /* finite, to 4 in magnitude */
{
    return (uint16_t)(ls__rng_below(rng, 0x4400) | ls__rng_below(rng, 2) << 15);
}

/* Blocks of a file: random bytes, but finite scales. */
static uint8_t *random_matrix(ls__rng *rng, const ls__matrix_form *form, size_t elements)
{
    size_t block_bytes = form->file_bytes, blocks = elements / form->elements;
    if (form->type == LS_GGUF_TYPE_F32)
        return (uint8_t *)random_floats(rng, elements);
    uint8_t *bytes = allocate(blocks * block_bytes);
    for (size_t b = 0; b < blocks; b++) {
        uint8_t *block = bytes + b * block_bytes;
        for (size_t i = 0; i < block_bytes; i++)
            block[i] = (uint8_t)ls__rng_below(rng, 256);
        for (uint32_t h = 0; h < (form->minimum ? 2 : form->halves > 0); h++) {
            uint16_t half = random_half(rng);
            memcpy(block + form->scale_byte + 2 * h, &half, 2);
        }
    }
    return bytes;
}

/* Compares bytes, and their digest with the line "NAME DIGEST" of the golden file. */
static void assert_same(int d, const char *name, const void *got, const void *expected, size_t size)
{
    for (size_t i = 0; i < size / 4; i++)
        if (memcmp((const uint8_t *)got + 4 * i, (const uint8_t *)expected + 4 * i, 4) != 0)
            fail_msg("%s on %s: word %zu is %08x, not %08x", name, device_names[d], i,
                     ((const uint32_t *)got)[i], ((const uint32_t *)expected)[i]);
    char hex[65], line[160], wanted[160];
    bool found = false, once = strcmp(device_names[d], "reference") == 0;
    ls__digest_hex(ls__digest_of(got, size), hex);
    snprintf(wanted, sizeof wanted, "%s %s\n", name, hex);
    FILE *file = fopen(golden_path, write_golden && once ? "a+" : "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file))
        found = strcmp(line, wanted) == 0;
    if (!found && write_golden && once)
        found = fputs(wanted, file) >= 0;
    fclose(file);
    if (!found)
        fail_msg("not in %s: %s", golden_path, wanted);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void quantization_32(void **state)
{
    enum { BLOCKS = 41, ELEMENTS = BLOCKS * 32 };
    ls__rng rng = {1};
    float *x = random_floats(&rng, ELEMENTS);
    for (int i = 0; i < 32; i++) { /* nothing, too little, just enough */
        x[i] = 0;
        x[32 + i] = i % 2 ? -0x1p-101f : 0x1p-102f;
        x[64 + i] = (float)(i - 16) * 0x1p-104f;
    }
    struct {
        int8_t integers[ELEMENTS];
        float scales[BLOCKS], products[BLOCKS];
        int32_t sums[BLOCKS];
    } expected, got;
    model_quantize(32, ELEMENTS, x, expected.integers, expected.scales, expected.products,
                   expected.sums);
    for (int d = 0; d < DEVICES; d++) {
        if (!machines[d].device)
            continue;
        memset(&got, 0, sizeof got);
        argument arguments[] = {{x, ELEMENTS * 4, 0, false},
                                {got.integers, sizeof got.integers, 0, true},
                                {got.scales, sizeof got.scales, 0, true},
                                {got.sums, sizeof got.sums, 0, true},
                                {got.products, sizeof got.products, 0, true}};
        run(d, "quantize_32", (uint32_t[3]){ELEMENTS}, NULL, 0, arguments, 5);
        assert_same(d, "quantize_32", &got, &expected, sizeof got);
    }
    free(x);
}

static void quantization_256(void **state)
{
    enum { BLOCKS = 9, ELEMENTS = BLOCKS * 256 };
    ls__rng rng = {1};
    float *x = random_floats(&rng, ELEMENTS), products[BLOCKS];
    for (int i = 0; i < 256; i++) { /* nothing, too little, just enough */
        x[i] = 0;
        x[256 + i] = i % 2 ? -0x1p-101f : 0x1p-102f;
        x[512 + i] = (float)(i - 128) * 0x1p-107f;
    }
    struct {
        int8_t integers[ELEMENTS];
        float scales[BLOCKS];
        int32_t sums[BLOCKS * 16];
    } expected, got;
    model_quantize(256, ELEMENTS, x, expected.integers, expected.scales, products, expected.sums);
    for (int d = 0; d < DEVICES; d++) {
        if (!machines[d].device)
            continue;
        memset(&got, 0, sizeof got);
        argument arguments[] = {{x, ELEMENTS * 4, 0, false},
                                {got.integers, sizeof got.integers, 0, true},
                                {got.scales, sizeof got.scales, 0, true},
                                {got.sums, sizeof got.sums, 0, true}};
        run(d, "quantize_256", (uint32_t[3]){ELEMENTS / 8}, NULL, 0, arguments, 4);
        assert_same(d, "quantize_256", &got, &expected, sizeof got);
    }
    free(x);
}

/* `columns` inputs, whole tiles, as matrices of floats take them: from the kernel, which is held to
 * the order in which a panel has its elements. */
static float *tile_floats(int d, const float *x, uint32_t elements, uint32_t columns)
{
    size_t count = (size_t)columns * elements;
    float *tiled = allocate(count * 4);
    uint32_t scalars[] = {elements, TILE}, global[3] = {(elements + 255) / 256 * 32, columns, 1};
    memset(tiled, 0xff, count * 4);
    run(d, "tile_floats", global, scalars, sizeof scalars,
        (argument[]){{(void *)x, count * 4, 0, false}, {tiled, count * 4, 0, true}}, 2);
    size_t at = 0;
    for (uint32_t t = 0; t < columns; t += TILE)
        for (uint32_t first = 0; first < elements; first += 256)
            for (uint32_t a = 0; a < 8; a++)
                for (uint32_t k = first + a; k < first + 256 && k < elements; k += 8)
                    for (uint32_t c = t; c < t + TILE; c++)
                        if (memcmp(&tiled[at++], &x[(size_t)c * elements + k], 4) != 0)
                            fail_msg("tile_floats on %s: column %u, element %u", device_names[d], c,
                                     k);
    return tiled;
}

/* Rows of a matrix times columns, in tiles of `tile`. */
static void check_matrix(ls_gguf_type type, uint32_t elements, uint32_t rows, uint32_t columns,
                         uint32_t tile)
{
    const ls__matrix_form *form = ls__matrix_form_of(type);
    ls__rng rng = {elements + rows * 3 + columns};
    bool is_float = form->elements == 1;
    uint32_t block = is_float ? 32 : form->elements, blocks = elements / block;
    uint32_t padded = (columns + tile - 1) / tile * tile;
    size_t row_bytes = elements / form->elements * form->file_bytes;
    uint8_t *matrix = random_matrix(&rng, form, (size_t)rows * elements);
    float *x = random_floats(&rng, (size_t)padded * elements);
    size_t laid_bytes = ls__matrix_bytes(form, elements, rows),
           out_bytes = (size_t)columns * rows * 4;
    uint8_t *laid = allocate(laid_bytes);
    ls__matrix_lay(form, matrix, elements, rows, 0, (rows + 31) / 32, laid);
    int8_t *integers = allocate((size_t)padded * elements);
    float *scales = allocate((size_t)padded * blocks * 4 + 4);
    float *products = allocate((size_t)padded * blocks * 4 + 4);
    size_t sum_bytes = (size_t)padded * elements / (block == 32 ? 32 : 16) * 4;
    int32_t *sums = allocate(sum_bytes);
    if (!is_float)
        model_quantize(block, padded * elements, x, integers, scales, products, sums);
    float *expected = allocate(out_bytes), *got = allocate(out_bytes);
    for (uint32_t c = 0; c < columns; c++)
        for (uint32_t r = 0; r < rows; r++)
            expected[(size_t)c * rows + r] =
                model_row(type, elements, matrix + r * row_bytes, x + (size_t)c * elements);
    char name[32], label[80];
    kernel_name(name, "matrix", type, tile);
    snprintf(label, sizeof label, "%s:%ux%ux%u", name, elements, rows, columns);
    uint32_t scalars[] = {rows, elements, columns, 0};
    uint32_t global[3] = {padded / tile * 32, (rows + 31) / 32, 1};
    for (int d = 0; d < DEVICES; d++) {
        if (!machines[d].device)
            continue;
        argument floats[] = {{laid, laid_bytes, 0, false},
                             {x, (size_t)padded * elements * 4, 0, false},
                             {got, out_bytes, 0, true}};
        argument blocked[] = {{laid, laid_bytes, 0, false},
                              {NULL, laid_bytes, 1, false},
                              {integers, (size_t)padded * elements, 0, false},
                              {scales, (size_t)padded * blocks * 4, 0, false},
                              {sums, sum_bytes, 0, false},
                              {products, (size_t)padded * blocks * 4, 0, false},
                              {got, out_bytes, 0, true}};
        if (block == 256)
            blocked[5] = blocked[6];
        if (is_float && tile > 1)
            floats[1].bytes = tile_floats(d, x, elements, padded);
        memset(got, 0xff, out_bytes);
        run(d, name, global, scalars, sizeof scalars, is_float ? floats : blocked,
            is_float       ? 3
            : block == 256 ? 6
                           : 7);
        if (floats[1].bytes != x)
            free(floats[1].bytes);
        assert_same(d, label, got, expected, out_bytes);
    }
    free(matrix);
    free(x);
    free(laid);
    free(integers);
    free(scales);
    free(products);
    free(sums);
    free(expected);
    free(got);
}

/* Matrices take little more memory than in the file. */
static void sizes(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        const ls__matrix_form *form = ls__matrix_form_of(types[t]);
        uint32_t elements, bytes;
        ls_gguf_type_block(types[t], &elements, &bytes);
        assert_int_equal(form->elements, elements);
        assert_int_equal(form->file_bytes, bytes);
        uint64_t in_file = (uint64_t)512 / elements * bytes * 64;
        assert_in_range(ls__matrix_bytes(form, 512, 64), in_file, in_file * 105 / 100);
    }
}

static void matrices(void **state)
{
    for (int t = 0; t < TYPES; t++) {
        if (ls__matrix_form_of(types[t])->elements == 256) {
            check_matrix(types[t], 768, 45, 1, 1);
            check_matrix(types[t], 256, 64, 3, 1);
            check_matrix(types[t], 512, 70, 6, TILE);
            continue;
        }
        check_matrix(types[t], 576, 45, 1, 1);
        check_matrix(types[t], 32, 1, 1, 1);
        check_matrix(types[t], 256, 64, 3, 1);
        check_matrix(types[t], 288, 70, 4, TILE);
        check_matrix(types[t], 64, 33, 6, TILE);
        if (ls__matrix_form_of(types[t])->elements > 1)
            continue;
        check_matrix(types[t], 301, 33, 5, TILE); /* accumulators of unlike lengths, or of none */
        check_matrix(types[t], 515, 40, 2, 1);
        check_matrix(types[t], 515, 40, 6, TILE);
    }
}

static void embeddings(void **state)
{
    enum { MOST = 512, ROWS = 70, WANTED = 5 };
    uint32_t wanted[WANTED] = {0, 69, 31, 32, 31};
    float expected[WANTED * MOST], got[WANTED * MOST];
    for (int t = 0; t < TYPES; t++) {
        const ls__matrix_form *form = ls__matrix_form_of(types[t]);
        bool is_float = form->elements == 1;
        uint32_t elements = form->elements == 256 ? 512 : 288;
        ls__rng rng = {7};
        uint8_t *matrix = random_matrix(&rng, form, ROWS * elements);
        size_t laid_bytes = ls__matrix_bytes(form, elements, ROWS);
        uint8_t *laid = allocate(laid_bytes);
        ls__matrix_lay(form, matrix, elements, ROWS, 0, (ROWS + 31) / 32, laid);
        ls_gguf_tensor tensor = {
            .name = "t", .type = types[t], .elements = ROWS * elements, .data = matrix};
        for (int i = 0; i < WANTED; i++)
            OK(ls_gguf_dequantize(&tensor, (uint64_t)wanted[i] * elements, elements,
                                  expected + (uint32_t)i * elements, error));
        char name[32];
        kernel_name(name, "rows", types[t], 0);
        uint32_t scalars[] = {elements, 0, ROWS};
        for (int d = 0; d < DEVICES; d++) {
            if (!machines[d].device)
                continue;
            argument arguments[] = {{wanted, sizeof wanted, 0, false},
                                    {laid, laid_bytes, 0, false},
                                    {NULL, laid_bytes, 2, false},
                                    {got, WANTED * elements * 4, 0, true}};
            if (is_float)
                arguments[2] = arguments[3];
            run(d, name, (uint32_t[3]){is_float ? elements : elements / 4, WANTED, 1}, scalars,
                sizeof scalars, arguments, is_float ? 3 : 4);
            assert_same(d, name, got, expected, WANTED * elements * 4);
        }
        free(matrix);
        free(laid);
    }
}

static void norms(void **state)
{
    enum { COLUMNS = 3 };
    static const uint32_t sizes[] = {1, 31, 64, 577};
    for (int s = 0; s < 4; s++) {
        uint32_t elements = sizes[s];
        ls__rng rng = {elements};
        size_t bytes = (size_t)COLUMNS * elements * 4;
        float *x = random_floats(&rng, COLUMNS * elements),
              *weights = random_floats(&rng, elements);
        float *expected = allocate(bytes), *got = allocate(bytes);
        struct {
            uint32_t elements;
            float epsilon;
        } scalars = {elements, 1e-5f};
        for (uint32_t c = 0; c < COLUMNS; c++)
            model_rms_norm(elements, scalars.epsilon, x + c * elements, weights,
                           expected + c * elements);
        char label[40];
        snprintf(label, sizeof label, "rms_norm:%u", elements);
        for (int d = 0; d < DEVICES; d++) {
            if (!machines[d].device)
                continue;
            argument arguments[] = {{x, bytes, 0, false},
                                    {weights, (size_t)elements * 4, 0, false},
                                    {got, bytes, 0, true}};
            run(d, "rms_norm", (uint32_t[3]){32, COLUMNS, 1}, &scalars, sizeof scalars, arguments,
                3);
            assert_same(d, label, got, expected, bytes);
            uint32_t rows[] = {2, 0}; /* of some columns */
            argument some[] = {{rows, sizeof rows, 0, false},
                               {x, bytes, 0, false},
                               {weights, (size_t)elements * 4, 0, false},
                               {got, bytes / COLUMNS * 2, 0, true}};
            run(d, "rms_norm_of", (uint32_t[3]){32, 2, 1}, &scalars, sizeof scalars, some, 4);
            assert_memory_equal(got, expected + 2 * elements, elements * 4);
            assert_memory_equal(got + elements, expected, elements * 4);
        }
        free(x);
        free(weights);
        free(expected);
        free(got);
    }
}

static void norms_of_heads(void **state)
{
    enum { HEADS = 3, COLUMNS = 2, WIDTH = 40, COUNT = HEADS * COLUMNS * WIDTH };
    ls__rng rng = {3};
    float *x = random_floats(&rng, COUNT), *weights = random_floats(&rng, WIDTH);
    float expected[COUNT], got[COUNT];
    struct {
        uint32_t elements;
        float epsilon;
    } scalars = {WIDTH, 1e-6f};
    for (int h = 0; h < HEADS * COLUMNS; h++)
        model_rms_norm(WIDTH, scalars.epsilon, x + h * WIDTH, weights, expected + h * WIDTH);
    for (int d = 0; d < DEVICES; d++) {
        if (!machines[d].device)
            continue;
        memcpy(got, x, sizeof got);
        argument arguments[] = {{weights, WIDTH * 4, 0, false}, {got, sizeof got, 0, true}};
        run(d, "norm_heads", (uint32_t[3]){HEADS * 32, COLUMNS, 1}, &scalars, sizeof scalars,
            arguments, 2);
        assert_same(d, "norm_heads", got, expected, sizeof got);
    }
    free(x);
    free(weights);
}

/* Heads of `width` elements, of which 2 * pairs are rotated. */
static void check_rotation(const char *label, uint32_t width, uint32_t pairs, uint32_t apart)
{
    enum { HEADS = 3, COLUMNS = 4, POSITION = 5 };
    ls__rng rng = {apart};
    uint32_t count = COLUMNS * HEADS * width, table_bytes = (POSITION + COLUMNS) * pairs * 8;
    float *table = random_floats(&rng, table_bytes / 4), *angles = allocate(table_bytes);
    float *x = random_floats(&rng, count), *expected = allocate(count * 4),
          *got = allocate(count * 4);
    memcpy(expected, x, count * 4);
    for (uint32_t c = 0; c < COLUMNS; c++)
        for (uint32_t h = 0; h < HEADS; h++)
            model_rope(pairs, apart, table + (POSITION + c) * pairs * 2,
                       expected + (c * HEADS + h) * width);
    for (uint32_t i = 0; i < table_bytes / 4; i++) { /* as elements lie */
        uint32_t of = i % (pairs * 2), other = of / 2 + of % 2 * pairs;
        angles[i - of + (apart == 1 ? of : other)] = table[i];
    }
    uint32_t scalars[] = {width, pairs}, places[COLUMNS * 2] = {0};
    for (uint32_t c = 0; c < COLUMNS; c++)
        places[c * 2] = POSITION + c;
    for (int d = 0; d < DEVICES; d++) {
        if (!machines[d].device)
            continue;
        memcpy(got, x, count * 4);
        argument arguments[] = {{places, sizeof places, 0, false},
                                {angles, table_bytes, 0, false},
                                {got, count * 4, 0, true}};
        run(d, apart == 1 ? "rope_neighbours" : "rope_halves",
            (uint32_t[3]){HEADS * 32, COLUMNS, 1}, scalars, sizeof scalars, arguments, 3);
        assert_same(d, label, got, expected, count * 4);
    }
    free(table);
    free(angles);
    free(x);
    free(expected);
    free(got);
}

static void rotations(void **state)
{
    check_rotation("rope:neighbours", 24, 12, 1);
    check_rotation("rope:halves", 24, 12, 12);
    check_rotation("rope:neighbours_of_a_part", 40, 7, 1);
    check_rotation("rope:halves_of_a_part", 40, 16, 16);
}

/* Keys and values of `all` positions, the last `columns` of which ask. */
typedef struct attention_case {
    const ls__attention *shape;
    uint32_t kv, heads, all, columns, window;
    float scale, cap;
    float *keys, *values, *queries, *expected;
} attention_case;

enum { PAGES = 5, CAPACITY = 256 };

static void make_expected(attention_case *a)
{
    uint32_t width = a->shape->width, group = a->shape->group;
    float *key = allocate((size_t)a->all * width * 4),
          *value = allocate((size_t)a->all * width * 4);
    a->expected = allocate((size_t)a->columns * a->heads * width * 4);
    for (uint32_t c = 0; c < a->columns; c++)
        for (uint32_t h = 0; h < a->heads; h++) {
            for (uint32_t j = 0; j < a->all; j++) {
                size_t from = (j * a->kv + h / group) * width;
                memcpy(key + j * width, a->keys + from, width * 4);
                memcpy(value + j * width, a->values + from, width * 4);
            }
            uint32_t count = a->all - a->columns + c + 1,
                     oldest = a->window && count > a->window ? count - a->window : 0;
            model_attention(a->shape->floats, width, oldest, count, a->scale, a->cap,
                            a->queries + (c * a->heads + h) * width, key, value,
                            a->expected + (c * a->heads + h) * width);
        }
    free(key);
    free(value);
}

static void run_attention(int d, const char *what, const attention_case *a,
                          const uint32_t global[3], const void *scalars, uint32_t scalar_bytes,
                          argument *arguments, uint32_t count)
{
    char name[48];
    snprintf(name, sizeof name, "%s%s", what, a->shape->suffix);
    run(d, name, global, scalars, scalar_bytes, arguments, count);
}

/* Pages lie in any order, and the columns find them at different places of the table. */
static void attend(int d, const attention_case *a, bool in_parts, float *got)
{
    enum { FIRST = 1, SECOND = 8 };
    uint32_t pages[] = {4, 3, 0, 4, 1, 2, 4, 4, 3, 0, 4, 1, 2}, places[2 * CAPACITY];
    uint32_t width = a->shape->width, sets = a->kv * ls__attention_sets(a->shape->group);
    uint32_t blocks = (a->all + 31) / 32, heads = a->heads, first = a->all - a->columns;
    size_t cache_bytes = (size_t)PAGES * a->kv * width * 64 * (a->shape->floats ? 4 : 2),
           kv_bytes = (size_t)a->all * a->kv * width * 4,
           out_bytes = (size_t)a->columns * heads * width * 4,
           score_bytes = (size_t)a->columns * heads * CAPACITY * 4;
    void *keys = allocate(cache_bytes), *values = allocate(cache_bytes);
    float *scores = allocate(score_bytes), *tops = allocate(score_bytes / 32);
    float *sums = allocate(out_bytes * PAGES), *parts = allocate(out_bytes * PAGES / width);
    for (uint32_t c = 0; c < a->all; c++) {
        places[2 * c] = c;
        places[2 * c + 1] = c % 2 ? FIRST : SECOND;
    }
    argument table = {pages, sizeof pages, 0, false}, all = {places, a->all * 8, 0, false};
    argument asking = {places + 2 * first, a->columns * 8, 0, false};
    argument into[] = {all,
                       table,
                       {a->keys, kv_bytes, 0, false},
                       {a->values, kv_bytes, 0, false},
                       {keys, cache_bytes, 0, true},
                       {values, cache_bytes, 0, true}};
    uint32_t held[] = {a->kv, 0, a->kv}, window = a->window ? a->window : UINT32_MAX;
    run_attention(d, "append", a, (uint32_t[3]){a->kv * width, a->all, 1}, held, 12, into, 6);
    struct {
        uint32_t heads, first_head, held, window, capacity;
        float scale, cap;
    } ask = {heads, 0, a->kv, window, CAPACITY, a->scale, a->cap};
    uint32_t weigh_scalars[] = {heads, window, CAPACITY};
    argument score[] = {asking,
                        table,
                        {a->queries, out_bytes, 0, false},
                        {keys, cache_bytes, 0, false},
                        {scores, score_bytes, 0, true},
                        {tops, score_bytes / 32, 0, true}};
    run_attention(d, "attention_scores", a, (uint32_t[3]){a->columns * 32, blocks, sets}, &ask,
                  sizeof ask, score, 6);
    argument weigh[] = {asking, {tops, score_bytes / 32, 0, false}, {scores, score_bytes, 0, true}};
    run_attention(d, "attention_weights", a, (uint32_t[3]){a->columns * 32, blocks, heads},
                  weigh_scalars, 12, weigh, 3);
    argument sum[] = {asking,
                      table,
                      {scores, score_bytes, 0, false},
                      {values, cache_bytes, 0, false},
                      {in_parts ? sums : got, in_parts ? out_bytes * PAGES : out_bytes, 0, true},
                      {parts, out_bytes * PAGES / width, 0, true}};
    uint32_t across = in_parts ? (a->all + 63) / 64 : a->columns;
    run_attention(d, in_parts ? "attention_parts" : "attention_values", a,
                  (uint32_t[3]){across * 32, (width + 31) / 32, sets}, &ask, 20, sum,
                  in_parts ? 6 : 5);
    argument join[] = {asking,
                       {sums, out_bytes * PAGES, 0, false},
                       {parts, out_bytes * PAGES / width, 0, false},
                       {got, out_bytes, 0, true}};
    if (in_parts)
        run_attention(d, "attention_join", a, (uint32_t[3]){heads * width, 1, 1}, weigh_scalars, 8,
                      join, 4);
    free(keys);
    free(values);
    free(scores);
    free(tops);
    free(sums);
    free(parts);
}

static void check_shape(const ls__attention *shape, uint32_t kv, uint32_t position,
                        uint32_t columns, uint32_t window, float cap, const char *label)
{
    attention_case a = {.shape = shape,
                        .kv = kv,
                        .heads = kv * shape->group,
                        .all = position + columns,
                        .columns = columns,
                        .window = window,
                        .scale = 0.17f,
                        .cap = cap};
    ls__rng rng = {shape->width + a.all};
    size_t out_bytes = (size_t)columns * a.heads * shape->width * 4;
    a.keys = random_floats(&rng, a.all * kv * shape->width);
    a.values = random_floats(&rng, a.all * kv * shape->width);
    a.queries = random_floats(&rng, columns * a.heads * shape->width);
    make_expected(&a);
    float *got = allocate(out_bytes);
    for (int d = 0; d < DEVICES; d++)
        for (uint32_t parts = 0; machines[d].device && parts <= (columns == 1); parts++) {
            memset(got, 0, out_bytes);
            attend(d, &a, parts == 1, got);
            assert_same(d, label, got, a.expected, out_bytes);
        }
    free(a.keys);
    free(a.values);
    free(a.queries);
    free(a.expected);
    free(got);
}

static void check_attention(uint32_t width, uint32_t position, uint32_t columns, uint32_t window,
                            float cap)
{
    char label[60];
    const ls__attention *shape = attentions;
    for (; shape->width != width || shape->group != 3; shape++)
        assert_true(shape < attentions + ATTENTIONS - 1);
    int end = snprintf(label, sizeof label, "attention:%u:%u:%u", width, position, columns);
    if (window)
        snprintf(label + end, sizeof label - (size_t)end, ":window_%u:cap_%g", window, (double)cap);
    check_shape(shape, 2, position, columns, window, cap, label);
}

static void attention(void **state)
{
    check_attention(64, 0, 1, 0, 0);
    check_attention(64, 130, 3, 0, 0);
    check_attention(40, 60, 7, 0, 0);
    check_attention(264, 63, 1, 0, 0);
    check_shape(&attentions[5], 3, 200, 1, 0, 0, "attention:64:200:1:group_1");
    check_shape(&attentions[6], 1, 70, 2, 0, 0, "attention:24:70:2:group_8");
    check_shape(&attentions[6], 1, 127, 1, 100, 3, "attention:24:127:1:group_8:window_100:cap_3");
    check_shape(&attentions[7], 2, 65, 2, 0, 0, "attention:40:65:2:group_4:floats");
    check_shape(&attentions[7], 2, 150, 1, 0, 0, "attention:40:150:1:group_4:floats");
}

/* One key; the edges of a window within chunks and on their borders; more than there is. */
static void windows_and_caps(void **state)
{
    check_attention(16, 130, 3, 1, 0);
    check_attention(40, 126, 5, 64, 0.5f);
    check_attention(64, 197, 4, 70, 2);
    check_attention(32, 20, 3, 22, 50);
}

static void gates_and_sums(void **state)
{
    enum { ELEMENTS = 107, COLUMNS = 3, COUNT = ELEMENTS * COLUMNS };
    ls__rng rng = {9};
    float *gate = random_floats(&rng, COUNT), *up = random_floats(&rng, COUNT);
    gate[0] = -200;
    gate[1] = 200;
    enum { SILU, GELU, ADD, BIAS, SCALE, CAP, KERNELS };
    static const char *const names[KERNELS] = {"silu_gate", "gelu_gate", "add",
                                               "add_bias",  "scale",     "soft_cap"};
    float expected[KERNELS][COUNT], got[COUNT];
    struct {
        uint32_t elements;
        float factor;
    } scalars = {ELEMENTS, 2.5f};
    for (int i = 0; i < COUNT; i++) {
        expected[SILU][i] = model_silu_gate(gate[i], up[i]);
        expected[GELU][i] = model_gelu_gate(gate[i], up[i]);
        expected[ADD][i] = up[i] + gate[i];
        expected[BIAS][i] = up[i] + gate[i % ELEMENTS];
        expected[SCALE][i] = gate[i] * scalars.factor;
        expected[CAP][i] = model_soft_cap(gate[i], scalars.factor);
    }
    for (int d = 0; d < DEVICES * KERNELS; d++) {
        int device = d / KERNELS, kernel = d % KERNELS;
        if (!machines[device].device)
            continue;
        bool gates = kernel == SILU || kernel == GELU, alone = kernel >= SCALE;
        argument three[] = {
            {gate, sizeof got, 0, false}, {up, sizeof got, 0, false}, {got, sizeof got, 0, true}};
        argument two[] = {{gate, sizeof got, 0, false}, {got, sizeof got, 0, true}};
        memcpy(got, alone ? gate : up, sizeof got);
        run(device, names[kernel], (uint32_t[3]){ELEMENTS, COLUMNS, 1}, &scalars, alone ? 8 : 4,
            gates   ? three
            : alone ? two + 1
                    : two,
            gates   ? 3
            : alone ? 1
                    : 2);
        assert_same(device, names[kernel], got, expected[kernel], sizeof got);
    }
    free(gate);
    free(up);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantization_32),
        cmocka_unit_test(quantization_256),
        cmocka_unit_test(sizes),
        cmocka_unit_test(matrices),
        cmocka_unit_test(embeddings),
        cmocka_unit_test(norms),
        cmocka_unit_test(norms_of_heads),
        cmocka_unit_test(rotations),
        cmocka_unit_test(attention),
        cmocka_unit_test(windows_and_caps),
        cmocka_unit_test(gates_and_sums),
    };
    if (argc < 2)
        return 2;
    golden_path = argv[1];
    write_golden = argc == 3 && strcmp(argv[2], "--write") == 0;
    without_vulkan = argc == 3 && strcmp(argv[2], "--without-vulkan") == 0;
    return cmocka_run_group_tests(tests, open_devices, kernels_close);
}
