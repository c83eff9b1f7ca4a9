/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the table: sizes, data, launches. All data comes from one generator with a fixed
 * seed, so that every run measures the same work.
 */
#include "speed.h"

#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

static uint32_t random_u32(void) /* splitmix64 */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

static void *words(uint64_t count)
{
    uint32_t *result = allocate(count * sizeof *result);
    for (uint64_t i = 0; i < count; i++)
        result[i] = random_u32();
    return result;
}

static void *floats(uint64_t count) /* from 0 to below 1 */
{
    float *result = allocate(count * sizeof *result);
    for (uint64_t i = 0; i < count; i++)
        result[i] = (float)(random_u32() >> 8) * 0x1p-24f;
    return result;
}

static data *add(problem *p, ls_mem element, uint64_t bytes, void *initial)
{
    data *buffer = &p->buffers[p->buffer_count++];
    *buffer = (data){.element = element, .bytes = bytes,
                     .initial = initial ? initial : allocate(bytes)};
    return buffer;
}

static void input(problem *p, ls_mem element, uint64_t bytes, void *initial)
{
    add(p, element, bytes, initial);
}

static void output(problem *p, ls_mem element, uint64_t bytes)
{
    add(p, element, bytes, NULL)->compare = true;
}

static void in_place(problem *p, ls_mem element, uint64_t bytes, void *initial)
{
    data *buffer = add(p, element, bytes, initial);
    buffer->compare = true;
    buffer->restore = true;
}

static void scalar(problem *p, uint32_t value)
{
    p->scalars[p->scalar_count++].u = value;
}

static void scalar_f32(problem *p, float value)
{
    p->scalars[p->scalar_count++].f = value;
}

static void make_saxpy(problem *p)
{
    uint64_t n = p->size;
    p->global[0] = p->size;
    scalar(p, p->size);
    scalar_f32(p, 1.5f);
    input(p, LS_MEM_F32, 4 * n, floats(n));
    in_place(p, LS_MEM_F32, 4 * n, floats(n));
    p->work = 12.0 * (double)n;
    p->unit = "GB/s";
}

static void make_reduction(problem *p)
{
    enum { GROUPS = 64 }; /* as in c/reduction.c */
    uint64_t n = p->size;
    p->global[0] = GROUPS * 256;
    scalar(p, p->size);
    input(p, LS_MEM_F32, 4 * n, floats(n));
    output(p, LS_MEM_F32, 4 * GROUPS);
    p->work = 4.0 * (double)n;
    p->unit = "GB/s";
}

static void make_matmul(problem *p)
{
    uint64_t n = p->size;
    p->global[0] = p->global[1] = p->size;
    scalar(p, p->size);
    scalar(p, p->size);
    scalar(p, p->size);
    input(p, LS_MEM_F32, 4 * n * n, floats(n * n));
    input(p, LS_MEM_F32, 4 * n * n, floats(n * n));
    output(p, LS_MEM_F32, 4 * n * n);
    p->work = 2.0 * (double)(n * n * n);
    p->unit = "Gflop/s";
}

static void make_mandelbrot(problem *p)
{
    p->global[0] = p->global[1] = p->size;
    scalar(p, p->size);
    scalar(p, p->size);
    output(p, LS_MEM_U8, (uint64_t)p->size * p->size);
}

static void make_prefix_scan(problem *p)
{
    enum { BLOCK = 4096 }; /* as in c/prefix_scan.c */
    uint64_t n = p->size, groups = (n + BLOCK - 1) / BLOCK;
    p->global[0] = (uint32_t)(groups * 32);
    scalar(p, p->size);
    input(p, LS_MEM_U32, 4 * n, words(n));
    output(p, LS_MEM_U32, 4 * groups);
    output(p, LS_MEM_U32, 4 * n);
    p->work = 12.0 * (double)n; /* x is read twice */
    p->unit = "GB/s";
}

static void make_histogram(problem *p)
{
    uint64_t n = p->size;
    p->global[0] = 64 * 256;
    scalar(p, p->size);
    input(p, LS_MEM_U8, n, words((n + 3) / 4));
    in_place(p, LS_MEM_U32, 256 * 4, NULL);
    p->work = (double)n;
    p->unit = "GB/s";
}

static void make_life(problem *p)
{
    uint64_t cells = (uint64_t)p->size * p->size;
    p->global[0] = p->global[1] = p->size;
    p->rounds = 4;
    scalar(p, p->size);
    scalar(p, p->size);
    in_place(p, LS_MEM_U8, 2 * cells, words((2 * cells + 3) / 4));
    p->work = (double)p->rounds * (double)cells;
    p->unit = "Gcell/s";
}

static void make_sha256(problem *p)
{
    enum { LENGTH = 256 };
    uint64_t count = p->size;
    p->global[0] = p->size;
    scalar(p, p->size);
    scalar(p, LENGTH);
    input(p, LS_MEM_U8, count * LENGTH, words(count * LENGTH / 4));
    output(p, LS_MEM_U8, count * 32);
    p->work = (double)(count * LENGTH);
    p->unit = "GB/s";
}

static void make_bitonic_sort(problem *p) /* 2^size keys */
{
    uint32_t n = 1u << p->size, k = p->size - 9;
    p->global[0] = n / 2;
    p->rounds = k * (k + 3) / 2 + 1;
    scalar(p, n);
    in_place(p, LS_MEM_U32, 4 * (uint64_t)n, words(n));
    p->work = (double)n;
    p->unit = "Gkey/s";
}

static void make_bfs(problem *p)
{
    enum { DEGREE = 8 }; /* on average */
    uint32_t n = p->size;
    uint32_t *offsets = allocate(4 * ((uint64_t)n + 1));
    for (uint32_t v = 0; v < n; v++)
        offsets[v + 1] = offsets[v] + (v == 0 ? DEGREE : random_u32() % (2 * DEGREE + 1));
    uint32_t *targets = allocate(4 * (uint64_t)offsets[n]);
    for (uint32_t e = 0; e < offsets[n]; e++)
        targets[e] = random_u32() % n;
    uint32_t *distance = allocate(4 * (uint64_t)n);
    memset(distance, 0xff, 4 * (uint64_t)n);
    p->global[0] = n;
    p->rounds = 10;
    scalar(p, n);
    input(p, LS_MEM_U32, 4 * ((uint64_t)n + 1), offsets);
    input(p, LS_MEM_U32, 4 * (uint64_t)offsets[n], targets);
    add(p, LS_MEM_U32, 8 * (uint64_t)n, NULL)->restore = true; /* marks */
    in_place(p, LS_MEM_U32, 4 * (uint64_t)n, distance);
    p->work = (double)offsets[n];
    p->unit = "Gedge/s";
}

/* Glushkov's automaton of (ab|c)+d?[e-h]*x; examples/kernels/regex_nfa.kc describes the table. */
static uint32_t *regex_table(void)
{
    static const char *const enter[6] = {"a", "b", "c", "d", "efgh", "x"};
    static const uint32_t follow[6] = {0x02, 0x3d, 0x3d, 0x30, 0x30, 0};
    uint32_t *table = allocate(1282 * sizeof *table);
    for (uint32_t state = 0; state < 6; state++) {
        for (const char *c = enter[state]; *c; c++)
            table[(unsigned char)*c] |= 1u << state;
        for (uint32_t set = 0; set < 256; set++)
            table[256 + set] |= set >> state & 1 ? follow[state] : 0;
    }
    table[1280] = 0x05;
    table[1281] = 0x20;
    return table;
}

static void make_regex_nfa(problem *p)
{
    enum { LONGEST = 200 };
    uint64_t count = p->size;
    uint32_t *starts = allocate(4 * (count + 1));
    for (uint64_t i = 0; i < count; i++)
        starts[i + 1] = starts[i] + random_u32() % (LONGEST + 1);
    uint8_t *text = allocate(starts[count] + 1u);
    for (uint32_t i = 0; i < starts[count]; i++)
        text[i] = (uint8_t)('a' + random_u32() % 26);
    p->global[0] = p->size;
    scalar(p, p->size);
    input(p, LS_MEM_U32, 1282 * 4, regex_table());
    input(p, LS_MEM_U32, 4 * (count + 1), starts);
    input(p, LS_MEM_U8, starts[count] + 1u, text);
    output(p, LS_MEM_U32, 4 * count);
    p->work = (double)starts[count];
    p->unit = "GB/s";
}

static void make_nbody(problem *p)
{
    uint64_t n = p->size;
    p->global[0] = p->size;
    p->rounds = 2;
    scalar(p, p->size);
    scalar_f32(p, 0.01f);
    scalar_f32(p, 0.01f);
    in_place(p, LS_MEM_F32, 2 * n * 16, floats(2 * n * 4));
    in_place(p, LS_MEM_F32, n * 12, NULL);
    p->work = (double)p->rounds * (double)(n * n);
    p->unit = "Gpair/s";
}

static void make_gemv(problem *p)
{
    uint64_t rows = p->size, words_a_row = (rows + 3) / 4;
    p->global[0] = p->size * 32;
    scalar(p, p->size);
    scalar(p, (uint32_t)words_a_row);
    input(p, LS_MEM_U32, rows * words_a_row * 4, words(rows * words_a_row));
    input(p, LS_MEM_U32, words_a_row * 4, words(words_a_row));
    output(p, LS_MEM_I32, rows * 4);
    p->work = (double)p->rounds * (double)(rows * words_a_row * 4);
    p->unit = "Gmac/s"; /* and GB/s: a byte of weights is one multiplication */
    p->bandwidth = p->rounds == 1;
}

static void make_gemv_cached(problem *p)
{
    p->rounds = 200;
    make_gemv(p);
}

const problem_kind problem_kinds[] = {
    {"saxpy", "saxpy", 4000000, 1, 1000000000, "elements", make_saxpy},
    {"reduction", "reduction", 8000000, 1, 1000000000, "elements", make_reduction},
    {"matmul", "matmul", 384, 1, 8192, "rows, columns and depth", make_matmul},
    {"mandelbrot", "mandelbrot", 384, 1, 16384, "width and height", make_mandelbrot},
    {"prefix_scan", "prefix_scan", 4000000, 1, 1000000000, "elements", make_prefix_scan},
    {"histogram", "histogram", 8000000, 1, 1000000000, "bytes", make_histogram},
    {"life", "life", 1024, 1, 16384, "width and height, 4 rounds", make_life},
    {"sha256", "sha256", 8192, 1, 10000000, "messages of 256 bytes", make_sha256},
    {"bitonic_sort", "bitonic_sort", 17, 9, 28, "log2 of the number of keys", make_bitonic_sort},
    {"bfs", "bfs", 200000, 1, 50000000, "vertices, 8 edges each", make_bfs},
    {"regex_nfa", "regex_nfa", 20000, 1, 10000000, "strings of up to 200 bytes", make_regex_nfa},
    {"nbody", "nbody", 1024, 1, 1000000, "bodies, 2 rounds", make_nbody},
    {"gemv_int8", "gemv_int8", 8192, 1, 32768, "rows and columns", make_gemv},
    {"gemv_cached", "gemv_int8", 512, 1, 32768, "rows and columns, 200 times", make_gemv_cached},
};
const unsigned problem_kind_count = sizeof problem_kinds / sizeof problem_kinds[0];

void problem_make(problem *p, const problem_kind *kind, uint32_t size)
{
    *p = (problem){.name = kind->name, .kernel = kind->kernel, .size = size, .rounds = 1,
                   .global = {1, 1, 1}};
    random_state = 1;
    kind->make(p);
}

void problem_free(problem *p)
{
    for (uint32_t i = 0; i < p->buffer_count; i++)
        free(p->buffers[i].initial);
}
