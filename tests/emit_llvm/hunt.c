/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hunts for programs that the code generator cannot stand: compiles random and awkward ones for
 * every level (also those that this machine does not run), mode and tier, and runs none. A crash
 * ends it; so do a refusal, a compilation of more than the allowed processor time, and memory that
 * grows from round to round.
 *
 * usage: hunt [--programs N] [--seed S] [--seconds LIMIT]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "conform/cooperate.h"
#include "conform/generate.h"
#include "emit/llvm/emit.h"
#include "harness.h"
#include "ir/lowering.h"
#include "pass/pass.h"

static const char *const targets[] = {
    "sse2",   "sse2+quick",   "sse2+scalar",       "sse2+scalar+quick",
    "avx2",   "avx2+quick",   "avx2+avxvnni",      "avx2+scalar",
    "avx512", "avx512+quick", "avx512+avx512vnni", "avx512+scalar",
    "neon",   "neon+quick",   "neon+scalar"};

static double limit = 2.0, slowest;
static unsigned compilations;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Allocated now: a leaked LLVM context shows, which resident pages hide. 0 where a sanitizer
 * replaces malloc. */
static double megabytes(void)
{
    return (double)mallinfo2().uordblks / 1048576;
}

static int compile(const ls__ir_module *original, const char *name, const char *target)
{
    ls__oom oom;
    ls_error error = {0};
    void *bytes = NULL;
    size_t size;
    if (setjmp(oom.jump))
        return 1;
    ls__ir_module *module = ls__ir_module_clone(original, &oom, 0);
    ls__pass_options options = {
        .lower = ls__llvm_lowering(target) & ~(uint32_t)LS__LOWER_GRID_BARRIER, .optimize = true};
    ls_status status = ls__pass_run(module, &options, &error);
    double start = seconds();
    if (status == LS_OK)
        status = ls__llvm_emit(module, target, false, &bytes, &size, &error);
    double took = seconds() - start;
    ls__mem_free(bytes);
    ls__ir_module_destroy(&module);
    compilations++;
    slowest = took > slowest ? took : slowest;
    if (status != LS_OK)
        fprintf(stderr, "%s for %s: %s\n", name, target, error.message);
    else if (took > limit)
        fprintf(stderr, "%s for %s: %.2f s\n", name, target, took);
    return status != LS_OK || took > limit;
}

static int compile_all(const char *text, const char *name)
{
    ls__ir_module *module = ls__compile_text(text, name);
    int bad = module == NULL;
    for (size_t i = 0; i < sizeof targets / sizeof *targets && module; i++)
        bad |= compile(module, name, targets[i]);
    ls__ir_module_destroy(&module);
    return bad;
}

/* --- awkward programs ------------------------------------------------------------------------- */

static void begin(ls__strbuf *text, const char *attributes)
{
    ls__strbuf_printf(text, "kernel %s void k(const u32 *a, const u8 *b, u32 *y)\n{\n", attributes);
    ls__strbuf_printf(text, "    u32 i = global_id(0);\n    u32 x = a[i];\n");
}

static void write_long(ls__strbuf *text, const char *attributes, int count)
{
    begin(text, attributes);
    for (int k = 0; k < count; k++)
        ls__strbuf_printf(text, "    u32 t%d = %s%d ^ (x + a[i + %d]) * %du;\n", k, k ? "t" : "",
                          k ? k - 1 : 7, k % 64, k * 2 + 1);
    ls__strbuf_printf(text, "    y[i] = t%d;\n}\n", count - 1);
}

static void write_long_vector(ls__strbuf *text)
{
    write_long(text, "", 700);
}

static void write_long_scalar(ls__strbuf *text)
{
    write_long(text, "workgroup(1)", 2500);
}

static void write_nest(ls__strbuf *text)
{
    enum { DEPTH = 14 };
    begin(text, "");
    for (int k = 0; k < DEPTH; k++)
        ls__strbuf_printf(
            text, k % 2 ? "if (a[x + %d] > i) {\n" : "for (u32 c%d = b[x]; c%d < 9; c%d++) {\n", k,
            k, k);
    ls__strbuf_printf(text, "x = x * 3 + b[x];\nif (x %% 7 == 2) break;\n");
    for (int k = 0; k < DEPTH; k++)
        ls__strbuf_printf(text, "x++;\n}\n");
    ls__strbuf_printf(text, "    y[i] = x;\n}\n");
}

static void write_switch(ls__strbuf *text)
{
    begin(text, "");
    ls__strbuf_printf(text, "    switch (x) {\n");
    for (int k = 0; k < 150; k++)
        ls__strbuf_printf(text, "    case %d: x = x * %d + b[i]; break;\n", k * 3, k);
    ls__strbuf_printf(text, "    default: x = 1;\n    }\n    y[i] = x;\n}\n");
}

static void write_atomics(ls__strbuf *text)
{
    begin(text, "");
    ls__strbuf_printf(text, "    shared u32 s[64];\n");
    for (int k = 0; k < 60; k++)
        ls__strbuf_printf(
            text, "    atomic_add(&s[b[x + %d] & 63], x);\n    atomic_max(&y[b[i] + %d], x);\n", k,
            k);
    ls__strbuf_printf(text, "}\n");
}

static void write_loops(ls__strbuf *text)
{
    begin(text, "");
    for (int k = 0; k < 40; k++)
        ls__strbuf_printf(text,
                          "    for (u32 e = b[i]; e < b[i + %d]; e++)\n        x ^= a[b[e] + x];\n"
                          "    for (u32 e = i; e < 500; e += 64)\n        x += a[e];\n",
                          k);
    ls__strbuf_printf(text, "    y[i] = x;\n}\n");
}

static const struct {
    const char *name;
    void (*write)(ls__strbuf *text);
} awkward[] = {{"long block of vectors", write_long_vector},
               {"long block of scalars", write_long_scalar},
               {"nest", write_nest},
               {"switch", write_switch},
               {"atomics", write_atomics},
               {"loops", write_loops}};

static int run_awkward(void)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++) {
        ls__strbuf text = {0};
        awkward[i].write(&text);
        bad |= compile_all(text.text, awkward[i].name);
        ls__strbuf_finish(&text);
    }
    return bad;
}

/* --- random programs -------------------------------------------------------------------------- */

static int run_random(uint64_t seed)
{
    ls__strbuf text = {0};
    char name[32];
    if (seed % 2)
        ls__cooperate(seed, &text);
    else
        ls__generate(seed, "k", true, &text);
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    int bad = compile_all(text.text, name);
    ls__strbuf_finish(&text);
    return bad;
}

static const double allowed_growth = 1; /* MB, of a run of any length */

int main(int argc, char **argv)
{
    uint64_t seed = 1, programs = 20;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--programs") == 0)
            programs = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            limit = strtod(argv[i + 1], NULL);
    }
    int bad = run_awkward();
    double before = megabytes(); /* the awkward ones need more than the others */
    for (uint64_t i = 0; i < programs && !bad; i++)
        bad = run_random(seed + i);
    double growth = megabytes() - before;
    printf("%u compilations, the slowest %.2f s, memory grew by %.1f MB\n", compilations, slowest,
           growth);
    if (growth > allowed_growth)
        fprintf(stderr, "memory grows\n");
    return bad || growth > allowed_growth;
}
