/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel of the files given, in one module: it becomes PTX that the lint finds nothing in,
 * unchecked and not optimised, too, and the same text each time. With --out it is made for all
 * targets and written to that folder, as TARGET.ptx, for an assembler to judge.
 *
 *     programs [--out FOLDER] [--random FIRST COUNT] file.kc|file.ir ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "conform/cooperate.h"
#include "conform/generate.h"
#include "core/core.h"
#include "emit/ptx/abi.h"
#include "emit/ptx/emit.h"
#include "kernels/math_sources.h"
#include "lang/lang.h"
#include "lint.h"
#include "pass/pass.h"

static const char *const targets[] = {"sm_75", "sm_80", "sm_90", "sm_90+grid"};
enum { TARGETS = sizeof targets / sizeof *targets };

static ls__oom oom;
static ls__ir_module *all; /* every kernel there is */
static unsigned files;
static ls_error error;

static int complain(const char *where)
{
    fprintf(stderr, "%s: %s %s\n", where, error.message, error.where);
    return 1;
}

/* --- reading ---------------------------------------------------------------------------------- */

static ls__ir_module *load(const char *text, size_t size, const char *path)
{
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {.path = path, .library = &library};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module = NULL;
    ls_status status;
    if (ls__str_ends_in(path, ".ir")) {
        status = ls__ir_read(text, size, &module, &error);
    } else {
        status = ls__lang_compile(text, size, &options, &module, &diagnostics, &error);
        ls__lang_diagnostics_finish(&diagnostics);
    }
    return status == LS_OK ? module : NULL;
}

/* Adds its functions to all others, under names of their own. */
static int add(const char *text, size_t size, const char *path)
{
    ls__ir_module *module = load(text, size, path);
    if (!module)
        return complain(path);
    for (uint32_t i = 1; i < module->functions.count; i++) {
        ls__ir_function *function = module->functions.items[i];
        size_t length = strlen(function->name) + 16;
        char *name = LS__NEW_ARRAY(&all->arena, char, length);
        snprintf(name, length, "f%u_%s", files, function->name);
        function->name = name;
    }
    ls__ir_module_link(all, module);
    ls__ir_module_destroy(&module);
    files++;
    return 0;
}

static int add_file(const char *path)
{
    void *text = NULL;
    size_t size = 0;
    if (ls__os_read_file(path, UINT64_MAX, &text, &size, &error) != LS_OK)
        return complain(path);
    int bad = add(text, size, path);
    ls__mem_free(text);
    return bad;
}

static int add_random(uint64_t seed)
{
    ls__strbuf text = {0};
    if (seed % 2)
        ls__cooperate(seed, &text);
    else
        ls__generate(seed, "k", true, &text);
    int bad = add(text.text, text.length, "generated");
    if (bad)
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    ls__strbuf_finish(&text);
    return bad;
}

/* --- emitting --------------------------------------------------------------------------------- */

static bool find_fma(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found |= inst->op == LS_OP_FMA;
    return !*found;
}

static bool has_fma(const ls__ir_module *module)
{
    bool found = false;
    for (uint32_t i = 1; i < module->functions.count && !found; i++)
        ls__ir_walk(module->functions.items[i]->body, find_fma, &found);
    return found;
}

/* The container of a copy that is lowered as the target needs (ls__mem_free), or NULL. */
static void *emit(const char *target, bool unchecked, bool optimize, size_t *size)
{
    ls__ir_module *copy = ls__ir_module_clone(all, &oom, 0);
    ls__pass_options options = {
        .lower = ls__ptx_lowering(target), .unchecked = unchecked, .optimize = optimize};
    ls__pass_split *splits =
        LS__NEW_ARRAY(&copy->arena, ls__pass_split, ls__module_kernel_count(copy));
    void *bytes = NULL;
    ls_status status = ls__lower_run(copy, &options, splits, &error);
    if (status == LS_OK)
        status = ls__ptx_emit(copy, target, unchecked, &bytes, size, &error);
    if (status != LS_OK)
        bytes = NULL;
    ls__ir_module_destroy(&copy);
    return bytes;
}

static int write_text(const char *folder, const char *target, const ls__ptx_view *view)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.ptx", folder, target);
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(view->text, 1, view->text_size, file) == view->text_size;
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "%s cannot be written\n", path);
    return !good;
}

static int check(const char *target, bool unchecked, bool optimize, const char *folder)
{
    size_t size;
    ls__ptx_view view;
    char line[256];
    void *bytes = emit(target, unchecked, optimize, &size);
    if (!bytes || ls__ptx_read(bytes, size, &view, &error) != LS_OK) {
        ls__mem_free(bytes);
        return complain(target);
    }
    int bad = 0;
    const char *wrong = ls__ptx_lint(view.text, has_fma(all), line, sizeof line);
    if (wrong) {
        fprintf(stderr, "%s: '%s' %s\n", target, line, wrong);
        bad = 1;
    }
    if (folder)
        bad |= write_text(folder, target, &view);
    ls__mem_free(bytes);
    return bad;
}

static int repeats(const char *target)
{
    size_t sizes[2] = {0};
    void *bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = emit(target, false, true, &sizes[i]);
    bool equal =
        bytes[0] && bytes[1] && sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0;
    for (int i = 0; i < 2; i++)
        ls__mem_free(bytes[i]);
    if (!equal)
        fprintf(stderr, "%s: not the same bytes twice\n", target);
    return !equal;
}

static int run(int argc, char **argv)
{
    int bad = 0;
    const char *folder = NULL;
    all = ls__ir_module_create(&oom, 0);
    for (int i = 1; i < argc && !bad; i++) {
        if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            folder = argv[++i];
        } else if (strcmp(argv[i], "--random") == 0 && i + 2 < argc) {
            uint64_t first = strtoull(argv[i + 1], NULL, 0), count = strtoull(argv[i + 2], NULL, 0);
            for (uint64_t k = 0; k < count && !bad; k++)
                bad = add_random(first + k);
            i += 2;
        } else {
            bad = add_file(argv[i]);
        }
    }
    if (files == 0)
        bad = 1;
    for (int i = 0; i < TARGETS && folder && !bad; i++)
        bad = check(targets[i], false, true, folder);
    if (!folder && !bad)
        bad = check("sm_75", true, true, NULL) || check("sm_90", false, false, NULL) ||
              repeats("sm_80");
    printf("%u files, %u functions\n", files, all->functions.count - 1);
    ls__ir_module_destroy(&all);
    return bad;
}

int main(int argc, char **argv)
{
    if (setjmp(oom.jump))
        return 1;
    return run(argc, argv);
}
