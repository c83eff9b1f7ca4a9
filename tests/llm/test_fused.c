/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done in one go leaves the bits that its operations one by one leave, in all buffers, on
 * every device there is. Data is random, with zeros, very small and very large numbers, and where
 * nothing looks at it infinities and NaN.
 *
 *   test_llm_fused [--without-vulkan]
 */
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "llm/attention.h"
#include "llm/matrix.h"

enum { BLOCK_32, BLOCK_256, FLOATS };
static const char *const begins[] = {"begin_32", "begin_256", "begin_floats"};
static const char *const quantizes[] = {"quantize_32", "quantize_256", "check_finite"};
static const char *const gates[] = {"silu_gate_32", "silu_gate_256"};
/* Heads of which all or a part is turned; that fill no 32 lanes; pairs of both kinds. */
static const ls__attention heads[] = {
    {64, 3, false, "_64", false}, {40, 1, true, "_40", false},     {64, 2, false, "_64_h", true},
    {40, 4, true, "_40_h", true}, {264, 1, false, "_264_h", true},
};
enum { HEADS = sizeof heads / sizeof *heads };
static bool without_vulkan;

static int open_devices(void **state)
{
    (void)state;
    ls__strbuf text = {0};
    for (uint32_t i = 0; i < ls__llm_kernels_count; i++)
        ls__strbuf_append(&text, ls__llm_kernels[i].text, ls__llm_kernels[i].length);
    for (int i = 0; i < HEADS; i++)
        ls__attention_kernels(&text, &heads[i]);
    kernels_open(&text, without_vulkan);
    return 0;
}

/* Buffers of two ways to the same; both begin with the same. */
typedef struct both {
    void *fused, *single;
    size_t size;
    const char *name;
} both;

static both make_both(const char *name, size_t size, const void *first)
{
    both b = {allocate(size), allocate(size), size, name};
    if (first) {
        memcpy(b.fused, first, size);
        memcpy(b.single, first, size);
    }
    return b;
}

static void check_both(int d, const char *what, both *b)
{
    for (size_t i = 0; i + 4 <= b->size; i += 4)
        if (memcmp((uint8_t *)b->fused + i, (uint8_t *)b->single + i, 4) != 0)
            fail_msg("%s on %s: %s differs in word %zu", what, device_names[d], b->name, i / 4);
    free(b->fused);
    free(b->single);
}

static float *floats_with_extremes(ls__rng *rng, size_t count)
{
    static const float extremes[] = {-0.0f, 0x1p-149f, -0x1p-110f, 0x1p-101f, 3e15f, -2e16f};
    float *x = random_floats(rng, count);
    for (size_t i = 0; i < count; i += 1 + ls__rng_below(rng, 60))
        x[i] = extremes[ls__rng_below(rng, 6)];
    return x;
}

/* Integers of an input, as quantize_32 and quantize_256 leave them. */
enum { INTEGERS, SCALES, SUMS, PRODUCTS, QUANTIZED };
static const char *const quantized_names[] = {"integers", "scales", "sums", "products"};

static void make_quantized(both made[QUANTIZED], uint32_t elements)
{
    const size_t sizes[] = {elements, elements / 32 * 4, elements / 16 * 4, elements / 32 * 4};
    for (int i = 0; i < QUANTIZED; i++)
        made[i] = make_both(quantized_names[i], sizes[i] + 4, NULL);
}

/* Adds them to arguments; how many there are then. */
static uint32_t add_quantized(argument *arguments, uint32_t count, const both made[QUANTIZED],
                              int blocking, bool fused)
{
    uint32_t added = blocking == BLOCK_32 ? 4 : blocking == BLOCK_256 ? 3 : 0;
    for (uint32_t i = 0; i < added; i++)
        arguments[count + i] =
            (argument){fused ? made[i].fused : made[i].single, made[i].size, 0, true};
    return count + added;
}

/* --- beginnings of parts of a layer ----------------------------------------------------------- */

typedef struct begin_case {
    uint32_t elements, columns, ends;
    int blocking;
    float *end_weights, *weights;
    both x, y, quantized[QUANTIZED];
} begin_case;

typedef struct norm_scalars {
    uint32_t elements;
    float epsilon;
    uint32_t ends;
} norm_scalars;

static void begin_singly(int d, const begin_case *c)
{
    norm_scalars scalars = {c->elements, 1e-5f, 0};
    size_t weight_bytes = (size_t)c->elements * 4;
    argument x = {c->x.single, c->x.size, 0, true}, y = {c->y.single, c->y.size, 0, true};
    uint32_t by_column[3] = {32, c->columns, 1}, by_element[3] = {c->elements, c->columns, 1};
    if (c->ends == 2)
        run(d, "norm_heads", by_column, &scalars, 8,
            (argument[]){{c->end_weights, weight_bytes, 0, false}, y}, 2);
    if (c->ends)
        run(d, "add", by_element, &scalars, 4, (argument[]){y, x}, 2);
    run(d, "rms_norm", by_column, &scalars, 8,
        (argument[]){x, {c->weights, weight_bytes, 0, false}, y}, 3);
    argument quantize[6] = {y};
    uint32_t count = add_quantized(quantize, 1, c->quantized, c->blocking, false);
    uint32_t by_block[3] = {c->elements / (c->blocking == BLOCK_256 ? 8 : 1), c->columns, 1};
    run(d, quantizes[c->blocking], c->blocking == FLOATS ? by_column : by_block, &scalars,
        c->blocking == FLOATS ? 4 : 0, quantize, count);
}

static void begin_fused(int d, const begin_case *c)
{
    norm_scalars scalars = {c->elements, 1e-5f, c->ends};
    size_t weight_bytes = (size_t)c->elements * 4;
    argument arguments[8] = {{c->end_weights, weight_bytes, 0, false},
                             {c->weights, weight_bytes, 0, false},
                             {c->x.fused, c->x.size, 0, true},
                             {c->y.fused, c->y.size, 0, true}};
    uint32_t count = add_quantized(arguments, 4, c->quantized, c->blocking, true);
    run(d, begins[c->blocking], (uint32_t[3]){32, c->columns, 1}, &scalars, sizeof scalars,
        arguments, count);
}

static void check_begin(int blocking, uint32_t elements, uint32_t columns)
{
    for (uint32_t ends = 0; ends < 3; ends++)
        for (int d = 0; d < DEVICES; d++) {
            ls__rng rng = {elements + ends};
            uint32_t all = elements * columns;
            begin_case c = {.elements = elements, .columns = columns, .ends = ends};
            char what[60];
            if (!machines[d].device)
                continue;
            snprintf(what, sizeof what, "%s:%u:%u:%u", begins[blocking], (unsigned)elements,
                     (unsigned)columns, (unsigned)ends);
            float *x = floats_with_extremes(&rng, all), *y = floats_with_extremes(&rng, all);
            c.blocking = blocking;
            c.end_weights = random_floats(&rng, elements);
            c.weights = random_floats(&rng, elements);
            c.x = make_both("x", all * 4, x);
            c.y = make_both("y", all * 4, y);
            make_quantized(c.quantized, all);
            begin_singly(d, &c);
            begin_fused(d, &c);
            check_both(d, what, &c.x);
            check_both(d, what, &c.y);
            for (int i = 0; i < QUANTIZED; i++)
                check_both(d, what, &c.quantized[i]);
            free(x);
            free(y);
            free(c.end_weights);
            free(c.weights);
        }
}

static void beginnings(void **state)
{
    (void)state;
    check_begin(BLOCK_32, 32, 1);
    check_begin(BLOCK_32, 96, 3);
    check_begin(BLOCK_32, 576, 2);
    check_begin(BLOCK_256, 256, 1);
    check_begin(BLOCK_256, 768, 3);
    check_begin(FLOATS, 7, 1);
    check_begin(FLOATS, 577, 3);
}

/* --- gates ------------------------------------------------------------------------------------ */

static void check_gate(int blocking, uint32_t elements, uint32_t columns)
{
    for (int d = 0; d < DEVICES; d++) {
        ls__rng rng = {elements};
        uint32_t all = elements * columns, lanes = elements / (blocking == BLOCK_256 ? 8 : 1);
        both y = make_both("y", all * 4, NULL), quantized[QUANTIZED];
        float *gate = random_floats(&rng, all), *up = floats_with_extremes(&rng, all);
        gate[0] = -200;
        gate[1] = 200;
        make_quantized(quantized, all);
        argument single[] = {
            {gate, y.size, 0, false}, {up, y.size, 0, false}, {y.single, y.size, 0, true}};
        argument fused[8] = {single[0], single[1], {y.fused, y.size, 0, true}};
        argument quantize[6] = {single[2]};
        uint32_t count = add_quantized(fused, 3, quantized, blocking, true);
        if (machines[d].device) {
            run(d, gates[blocking], (uint32_t[3]){lanes, columns, 1}, NULL, 0, fused, count);
            run(d, "silu_gate", (uint32_t[3]){elements, columns, 1}, &elements, 4, single, 3);
            count = add_quantized(quantize, 1, quantized, blocking, false);
            run(d, quantizes[blocking], (uint32_t[3]){lanes, columns, 1}, NULL, 0, quantize, count);
        }
        check_both(d, gates[blocking], &y);
        for (int i = 0; i < QUANTIZED; i++)
            check_both(d, gates[blocking], &quantized[i]);
        free(gate);
        free(up);
    }
}

static void gates_with_integers(void **state)
{
    (void)state;
    check_gate(BLOCK_32, 32, 1);
    check_gate(BLOCK_32, 160, 3);
    check_gate(BLOCK_256, 256, 1);
    check_gate(BLOCK_256, 768, 2);
}

/* --- places of keys and values ---------------------------------------------------------------- */

enum { CACHE_HEADS = 2, COLUMNS = 3, PAGES = 4, LAST = 130 };

typedef struct place_case {
    const ls__attention *shape;
    uint32_t pairs;
    bool norms;
    float *angles, *weights[2], *new_values;
    both queries, new_keys, keys, values;
} place_case;

static const uint32_t pages[] = {9, 3, 0, 2}, places[COLUMNS * 2] = {LAST, 1, 63, 1, 64, 1};

static void place_singly(int d, const place_case *c)
{
    const ls__attention *a = c->shape;
    char append[32];
    const char *rope = a->halves ? "rope_halves" : "rope_neighbours";
    uint32_t rope_scalars[] = {a->width, c->pairs}, held[] = {CACHE_HEADS, 0, CACHE_HEADS};
    norm_scalars norm = {a->width, 1e-6f, 0};
    argument tables[] = {{(void *)places, sizeof places, 0, false},
                         {c->angles, (size_t)(LAST + 1) * c->pairs * 8, 0, false}};
    for (int keys = 0; keys < 2; keys++) {
        const both *b = keys ? &c->new_keys : &c->queries;
        argument x = {b->single, b->size, 0, true};
        uint32_t global[3] = {CACHE_HEADS * (keys ? 1 : a->group) * 32, COLUMNS, 1};
        if (c->norms)
            run(d, "norm_heads", global, &norm, 8,
                (argument[]){{c->weights[keys], a->width * 4, 0, false}, x}, 2);
        run(d, rope, global, rope_scalars, 8, (argument[]){tables[0], tables[1], x}, 3);
    }
    snprintf(append, sizeof append, "append%s", a->suffix);
    argument into[] = {tables[0],
                       {(void *)pages, sizeof pages, 0, false},
                       {c->new_keys.single, c->new_keys.size, 0, false},
                       {c->new_values, c->new_keys.size, 0, false},
                       {c->keys.single, c->keys.size, 0, true},
                       {c->values.single, c->values.size, 0, true}};
    run(d, append, (uint32_t[3]){CACHE_HEADS * a->width, COLUMNS, 1}, held, 12, into, 6);
}

static void place_fused(int d, const place_case *c)
{
    const ls__attention *a = c->shape;
    char name[32];
    struct {
        uint32_t heads, turned, cache_heads, first_head, held, pairs, norms;
        float epsilon;
    } scalars = {CACHE_HEADS * a->group,
                 CACHE_HEADS * a->group,
                 CACHE_HEADS,
                 0,
                 CACHE_HEADS,
                 c->pairs,
                 c->norms,
                 1e-6f};
    argument arguments[] = {{(void *)places, sizeof places, 0, false},
                            {(void *)pages, sizeof pages, 0, false},
                            {c->angles, (size_t)(LAST + 1) * c->pairs * 8, 0, false},
                            {c->weights[0], a->width * 4, 0, false},
                            {c->weights[1], a->width * 4, 0, false},
                            {c->queries.fused, c->queries.size, 0, true},
                            {c->new_keys.fused, c->new_keys.size, 0, true},
                            {c->new_values, c->new_keys.size, 0, false},
                            {c->keys.fused, c->keys.size, 0, true},
                            {c->values.fused, c->values.size, 0, true}};
    snprintf(name, sizeof name, "place%s", a->suffix);
    run(d, name, (uint32_t[3]){(CACHE_HEADS * a->group + CACHE_HEADS) * 32, COLUMNS, 1}, &scalars,
        sizeof scalars, arguments, 10);
}

static void check_place(const ls__attention *shape, uint32_t pairs, bool norms)
{
    for (int d = 0; d < DEVICES; d++) {
        ls__rng rng = {shape->width + pairs};
        uint32_t width = shape->width, kv = COLUMNS * CACHE_HEADS * width;
        size_t cache_bytes = (size_t)PAGES * CACHE_HEADS * width * 64 * (shape->floats ? 4 : 2);
        char what[60];
        if (!machines[d].device)
            continue;
        snprintf(what, sizeof what, "place%s:%u:%d", shape->suffix, (unsigned)pairs, (int)norms);
        float *queries = floats_with_extremes(&rng, kv * shape->group),
              *keys = floats_with_extremes(&rng, kv);
        place_case c = {.shape = shape, .pairs = pairs, .norms = norms};
        c.new_values = floats_with_extremes(&rng, kv);
        queries[3] = keys[width - 1] = c.new_values[5] = NAN;
        queries[width + 1] = keys[kv - width] = c.new_values[0] = -INFINITY;
        c.angles = random_floats(&rng, (LAST + 1) * pairs * 2);
        c.weights[0] = random_floats(&rng, width);
        c.weights[1] = random_floats(&rng, width);
        c.queries = make_both("queries", kv * shape->group * 4, queries);
        c.new_keys = make_both("new keys", kv * 4, keys);
        c.keys = make_both("keys", cache_bytes, NULL);
        c.values = make_both("values", cache_bytes, NULL);
        place_singly(d, &c);
        place_fused(d, &c);
        check_both(d, what, &c.queries);
        check_both(d, what, &c.new_keys);
        check_both(d, what, &c.keys);
        check_both(d, what, &c.values);
        void *made[] = {queries, keys, c.new_values, c.angles, c.weights[0], c.weights[1]};
        for (size_t i = 0; i < sizeof made / sizeof *made; i++)
            free(made[i]);
    }
}

static void keys_and_values(void **state)
{
    (void)state;
    for (int i = 0; i < HEADS; i++)
        for (int norms = 0; norms < 2; norms++) {
            check_place(&heads[i], heads[i].width / 2, norms);
            check_place(&heads[i], 7, norms);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beginnings),
        cmocka_unit_test(gates_with_integers),
        cmocka_unit_test(keys_and_values),
    };
    without_vulkan = argc == 2 && strcmp(argv[1], "--without-vulkan") == 0;
    return cmocka_run_group_tests(tests, open_devices, kernels_close);
}
