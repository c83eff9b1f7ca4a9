/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs against the interpreter on all targets: by turns those of src/conform/generate.c
 * (one lane's arithmetic) and of cooperate.c. The first difference ends the run and prints its seed
 * and text.
 *
 * usage: fuzz_kernels [--programs N] [--seed S] [--target T]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/generate.h"
#include "base/mem.h"
#include "conform/cooperate.h"
#include "harness.h"

static int run_program(uint64_t seed, const char *target, unsigned *runs)
{
    ls__strbuf text = {0};
    uint8_t scalars[1024] = {0};
    bool cooperates = seed % 2 != 0;
    uint32_t n = 90 + (uint32_t)(seed % 7);
    if (cooperates)
        ls__cooperate(seed, &text);
    else
        ls__generate(seed, "k", true, &text);
    ls__ir_module *module = ls__compile_text(text.text, "generated");
    if (!module) {
        fprintf(stderr, "seed %llu:\n%s\n", (unsigned long long)seed, text.text);
        ls__strbuf_finish(&text);
        return 1;
    }
    ls__trial trial = {.module = module,
                       .kernel = ls__ir_function_find(module, ls__str_from("k")),
                       .scalars = scalars,
                       .global_size = {LS__GENERATE_LANES, 1, 1},
                       .split = 1 + (uint32_t)(seed % 3)};
    for (uint32_t i = 0; cooperates && i < trial.kernel->params.count; i++) {
        if (!trial.kernel->params.items[i].is_pointer)
            memcpy(scalars + trial.kernel->params.items[i].offset, &n, sizeof n);
    }
    if (cooperates)
        trial.global_size[0] = trial.kernel->workgroup[0] * 3;
    ls__trial_fill(&trial, seed, cooperates ? 200 : LS__GENERATE_LANES);
    int bad = ls__compare_all(&trial, 1, target, runs);
    if (bad)
        fprintf(stderr, "seed %llu:\n%s\n", (unsigned long long)seed, text.text);
    ls__trial_finish(&trial);
    ls__ir_module_destroy(&module);
    ls__strbuf_finish(&text);
    return bad;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, programs = 20;
    const char *target = NULL;
    unsigned runs = 0;
    int bad = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--programs") == 0)
            programs = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--target") == 0)
            target = argv[i + 1];
    }
    for (uint64_t i = 0; i < programs && !bad; i++)
        bad = run_program(seed + i, target, &runs);
    printf("%u comparisons with the interpreter\n", runs);
    return bad;
}
