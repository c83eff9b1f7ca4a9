/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel of the files named on the command line, on random buffers, over several sizes,
 * against the interpreter on all targets. --target T restricts it to one, --seed S changes the
 * buffers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "harness.h"

static const char *only_target;
static uint64_t seed = 1;
static unsigned runs;

/* Sizes that fill strands and workgroups and that do not; lanes beyond the elements are out of
 * range. */
static const struct {
    uint32_t size[3], elements;
} shapes[] = {{{96, 1, 1}, 96}, {{33, 3, 1}, 100}, {{1, 1, 1}, 7}, {{200, 2, 2}, 801}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void fill_scalars(const ls__ir_function *kernel, uint32_t elements, uint8_t scalars[1024])
{
    for (uint32_t i = 0; i < kernel->params.count;
         i++) { /* near the number of elements, or fractions */
        const ls__ir_param *p = &kernel->params.items[i];
        float f = 0.75f;
        uint32_t n = elements - (uint32_t)(seed % 3);
        if (!p->is_pointer && p->size <= 8)
            memcpy(scalars + p->offset, p->mem == LS_MEM_F32 ? (void *)&f : (void *)&n,
                   p->size < 4 ? p->size : 4);
    }
}

static int run_module(const ls__ir_module *module)
{
    uint32_t count = 0;
    ls__trial *trials = ls__mem_alloc(module->functions.count * SHAPES, sizeof *trials);
    uint8_t(*scalars)[1024] = ls__mem_alloc(module->functions.count * SHAPES, sizeof *scalars);
    for (uint32_t i = 1; i < module->functions.count; i++) {
        const ls__ir_function *kernel = module->functions.items[i];
        for (size_t s = 0; s < SHAPES && kernel->is_kernel; s++) {
            ls__trial *t = &trials[count];
            *t = (ls__trial){.module = module, .kernel = kernel, .split = s == 3 ? 2 : 0};
            memcpy(t->global_size, shapes[s].size, sizeof t->global_size);
            fill_scalars(kernel, shapes[s].elements, scalars[count]);
            t->scalars = scalars[count++];
            ls__trial_fill(t, seed + s, shapes[s].elements);
        }
    }
    int bad = ls__compare_all(trials, count, only_target, &runs);
    for (uint32_t i = 0; i < count; i++)
        ls__trial_finish(&trials[i]);
    ls__mem_free(scalars);
    ls__mem_free(trials);
    return bad;
}

static int run_file(const char *path)
{
    void *text;
    size_t length;
    ls_error error = {0};
    int bad = 0;
    if (ls__os_read_file(path, 1 << 20, &text, &length, &error) != LS_OK) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return 1;
    }
    ls__ir_module *module = NULL;
    if (strstr(path, ".ir"))
        ls__ir_read(text, length, &module, &error);
    else
        module = ls__compile_text(text, path);
    ls__mem_free(text);
    if (!module) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return 1;
    }
    bad = run_module(module);
    ls__ir_module_destroy(&module);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--target") == 0 && i + 1 < argc)
            only_target = argv[++i];
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 0);
        else
            bad |= run_file(argv[i]);
    }
    printf("%u comparisons with the interpreter\n", runs);
    return bad;
}
