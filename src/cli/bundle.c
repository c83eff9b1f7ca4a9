/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep bundle`: a program compiled ahead, as a folder with a launcher in C. */
#include <argp.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "lockstep/bundle.h"

struct options {
    const char *file, *output, *check, *name, *lower, *kernel;
    const char **targets; /* into a copy of what was given */
    char *target_text;
    uint32_t target_count;
    bool unchecked;
    ls_define *defines; /* [argc] */
    uint32_t define_count;
};

enum { KEY_TARGET = 256, KEY_CHECK, KEY_NAME, KEY_LOWER, KEY_UNCHECKED };

/* Cuts the list at its commas. */
static void set_targets(struct options *options, const char *list, struct argp_state *state)
{
    size_t count = 1;
    for (const char *c = list; *c; c++)
        count += *c == ',';
    if (options->targets)
        argp_error(state, "--target is a list: name all targets in one, separated by commas");
    options->target_text = ls__mem_strdup(list);
    options->targets = ls__mem_alloc(count, sizeof *options->targets);
    if (!options->target_text || !options->targets)
        argp_failure(state, LS__EXIT_FAILED, 0, "out of memory");
    char *rest = options->target_text;
    while (rest)
        options->targets[options->target_count++] = strsep(&rest, ",");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    ls_error error;
    switch (key) {
    case 'o':
        options->output = text;
        return 0;
    case KEY_TARGET:
        set_targets(options, text, state);
        return 0;
    case 'k':
        options->kernel = text;
        return 0;
    case KEY_CHECK:
        options->check = text;
        return 0;
    case KEY_NAME:
        options->name = text;
        return 0;
    case KEY_LOWER:
        options->lower = text;
        return 0;
    case KEY_UNCHECKED:
        options->unchecked = true;
        return 0;
    case 'D':
        if (ls__cli_parse_define(text, &options->defines[options->define_count], &error) != LS_OK)
            ls__cli_usage_error(state, "%s%s%s", error.message, error.where[0] ? ": " : "",
                                error.where);
        options->define_count++;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file)
            ls__cli_usage_error(state, "one file at a time: '%s' is too much", text);
        options->file = text;
        return 0;
    case ARGP_KEY_END:
        if (options->check && (options->file || options->output))
            argp_error(state, "--check looks at a bundle that is there: name no other file");
        if (!options->check && !options->file)
            argp_error(state, "which file?");
        if (!options->check && !options->output)
            argp_error(state, "where to? Give -o DIR");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_table[] = {
    {"output", 'o', "DIR", 0,
     "The folder to write, whole or not at all. One that is there must be empty or a bundle", 0},
    {"kernel", 'k', "NAME", 0, "Only this kernel of the file", 0},
    {"define", 'D', "NAME=VALUE", 0, "Set the SPEC constant NAME", 0},
    {"target", KEY_TARGET, "LIST", 0,
     "What code is made for, separated by commas: a family (cpu, vulkan, cuda) or a target (avx2, "
     "vulkan1.2+i8, sm_80, ...). Without it all families, and what cannot be made here is left out",
     0},
    {"arch", 0, NULL, OPTION_ALIAS, NULL, 0},
    {"name", KEY_NAME, "NAME", 0,
     "What functions of the launcher begin with; without it the name of FILE", 0},
    {"lower", KEY_LOWER, "LIST", 0, "Force lower_* passes, as in `lockstep run'", 0},
    {"unchecked", KEY_UNCHECKED, NULL, 0,
     "No bounds checks: only for kernels that the sanitizer has shown clean", 0},
    {"check", KEY_CHECK, "DIR", 0, "Look at every file of the bundle in DIR instead", 0},
    {0},
};

static const struct argp arguments = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FILE -o DIR\n--check DIR",
    .doc =
        "Compiles FILE (Kernel C; IR where it ends in .ir or .irb) ahead: a folder with its code "
        "for devices of several kinds, its IR, a description, and a launcher in C, with which a "
        "program runs the kernels where no compiler is."
        "\v"
        "Examples:\n"
        "  lockstep bundle saxpy.kc -o saxpy.bundle\n"
        "  lockstep bundle gemv_int8.kc -o gemv.bundle --name gemv\n"
        "  lockstep bundle --check saxpy.bundle\n",
};

/* The file's name without folder and ending, as a C identifier. */
static void default_name(const char *file, ls__strbuf *name)
{
    const char *slash = strrchr(file, '/');
    const char *start = slash ? slash + 1 : file;
    if (isdigit((unsigned char)*start))
        ls__strbuf_append(name, "_", 1);
    for (const char *c = start; *c && *c != '.'; c++)
        ls__strbuf_append(name, isalnum((unsigned char)*c) ? c : "_", 1);
    if (!name->length)
        ls__strbuf_append(name, "program", 7);
}

static ls_status check(const char *path, ls_error *error)
{
    ls_bundle_params params = LS_BUNDLE_PARAMS_INIT;
    ls_bundle *bundle = NULL;
    params.path = path;
    params.check_all = true;
    ls_status status = ls_bundle_open(&params, &bundle, error);
    if (status == LS_OK)
        ls__cli_print_line(stdout,
                           "%s: all files are as they were written (the launcher's source is not "
                           "looked at)",
                           path);
    ls_bundle_destroy(&bundle);
    return status;
}

static void print_notes(char *notes)
{
    char *rest = notes;
    while (rest && *rest)
        ls__cli_print_line(stderr, "lockstep: %s", strsep(&rest, "\n"));
}

static ls_status write_bundle(const struct options *options, ls_error *error)
{
    ls_bundle_write_params params = LS_BUNDLE_WRITE_PARAMS_INIT;
    const char *slash = strrchr(options->file, '/');
    ls_module *module = NULL;
    ls__strbuf name = {0};
    char *notes = NULL;
    ls_status status = ls__cli_load_module(options->file, options->defines, options->define_count,
                                           NULL, &module, error);
    if (status != LS_OK)
        return status;
    if (options->kernel) {
        ls_module *all = module;
        status = ls_module_select(all, options->kernel, &module, error);
        ls_module_destroy(&all);
        if (status != LS_OK)
            return status;
    }
    default_name(options->file, &name);
    params.path = options->output;
    params.module = module;
    params.name = options->name ? options->name : name.text;
    params.source = slash ? slash + 1 : options->file; /* where it lay is nobody's business */
    params.defines = options->defines;
    params.define_count = options->define_count;
    params.targets = options->targets;
    params.target_count = options->target_count;
    params.unchecked = options->unchecked;
    params.lower = options->lower;
    status = ls_bundle_write(&params, &notes, error);
    print_notes(notes);
    ls_text_destroy(&notes);
    ls__strbuf_finish(&name);
    ls_module_destroy(&module);
    return status;
}

int ls__cli_bundle(int argc, char **argv)
{
    struct options options = {0};
    ls_error error;
    int result = LS__EXIT_USAGE;
    options.defines = ls__mem_alloc((size_t)argc, sizeof *options.defines);
    if (!options.defines)
        return ls__cli_end(ls__fail_oom(&error, (size_t)argc * sizeof *options.defines), &error);
    if (argp_parse(&arguments, argc, argv, 0, NULL, &options) == 0) {
        ls_status status =
            options.check ? check(options.check, &error) : write_bundle(&options, &error);
        result = ls__cli_end(status, &error);
    }
    ls__mem_free(options.targets);
    ls__mem_free(options.target_text);
    ls__mem_free(options.defines);
    return result;
}
