/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep compile`: Kernel C or IR in; IR out, before or after passes, or code. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/cli.h"

enum form { FORM_IR, FORM_IRB, FORM_SPIRV, FORM_SPIRV_TEXT, FORM_PTX, FORM_COUNT };
static const char *const form_names[FORM_COUNT] = {"ir", "irb", "spirv", "spirv-text", "ptx"};

struct options {
    const char *file, *after, *lower, *output, *kernel, *target;
    enum form form;
    ls_define *defines; /* [argc] */
    uint32_t define_count;
};

enum { KEY_EMIT = 256, KEY_AFTER, KEY_LOWER, KEY_TARGET };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    ls_error error;
    switch (key) {
    case KEY_EMIT:
        options->form = FORM_IR;
        while (options->form < FORM_COUNT && strcmp(text, form_names[options->form]) != 0)
            options->form++;
        if (options->form == FORM_COUNT)
            ls__cli_usage_error(state, "--emit takes ir, irb, spirv, spirv-text or ptx, not '%s'",
                                text);
        return 0;
    case KEY_TARGET:
        options->target = text;
        return 0;
    case 'k':
        options->kernel = text;
        return 0;
    case KEY_AFTER:
        options->after = text;
        return 0;
    case KEY_LOWER:
        options->lower = text;
        return 0;
    case 'o':
        options->output = text;
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
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which file?");
        return 0;
    case ARGP_KEY_END:
        if (options->form < FORM_SPIRV && options->kernel)
            ls__cli_usage_error(state, "--kernel is for --emit spirv and ptx");
        if (options->form < FORM_SPIRV && options->target)
            ls__cli_usage_error(state, "--target is for --emit spirv and ptx");
        if (options->form >= FORM_SPIRV && options->after)
            ls__cli_usage_error(state,
                                "code is made after all passes: --after does not go with it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_table[] = {
    {"emit", KEY_EMIT, "FORM", 0,
     "ir (default) or irb: the IR as text or in binary form; spirv or spirv-text: a kernel as a "
     "SPIR-V module, or as its text, for which the command spirv-dis is needed; ptx: PTX, which "
     "CUDA takes",
     0},
    {"kernel", 'k', "NAME", 0,
     "For SPIR-V: the kernel; may be left out when the file has only one. For PTX: this kernel "
     "alone instead of all",
     0},
    {"target", KEY_TARGET, "NAME", 0,
     "What the code is for. SPIR-V: `vulkan1.2' (default) and words for what the device has. PTX: "
     "the oldest architecture, `sm_75' (default), `sm_80' or `sm_90'; with `+grid' kernels keep "
     "their grid barriers",
     0},
    {"arch", 0, NULL, OPTION_ALIAS, NULL, 0},
    {"after", KEY_AFTER, "PASS", 0,
     "Run the passes up to and including PASS, or `all'; without it the IR is as the front end "
     "made it",
     0},
    {"lower", KEY_LOWER, "LIST", 0,
     "Also run these passes that supply what a device lacks: bounds, nan, fma, div, sqrt, ..., "
     "separated by commas, or `all'",
     0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"define", 'D', "NAME=VALUE", 0, "Set the SPEC constant NAME", 0},
    {0},
};

static const struct argp arguments = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FILE",
    .doc = "Compiles FILE (Kernel C; IR where it ends in .ir or .irb) and shows the IR or "
           "the code."
           "\v"
           "Examples:\n"
           "  lockstep compile saxpy.kc\n"
           "  lockstep compile saxpy.kc --after all\n"
           "  lockstep compile saxpy.kc --lower bounds,nan -o saxpy.ir\n"
           "  lockstep compile saxpy.kc --emit irb -o saxpy.irb\n"
           "  lockstep compile saxpy.kc --emit spirv-text --target vulkan1.2+szinp32+rte32\n"
           "  lockstep compile saxpy.kc --emit ptx --target sm_80 -o saxpy.ptx\n",
};

static ls_status write_output(const char *path, const void *bytes, size_t size, ls_error *error)
{
    if (!path) {
        fwrite(bytes, 1, size, stdout); /* failures show when main.c flushes */
        return LS_OK;
    }
    return ls__os_write_file(path, bytes, size, error);
}

/* The module through spirv-dis. */
static ls_status write_disassembly(const char *path, const void *bytes, size_t size,
                                   ls_error *error)
{
    char *text = NULL;
    size_t length = 0;
    ls_status status = ls__cli_filter("spirv-dis", bytes, size, &text, &length, error);
    if (status == LS_E_UNSUPPORTED)
        return ls__fail_hint(error, status,
                             "it comes with SPIRV-Tools (Debian: spirv-tools); --emit "
                             "spirv needs nothing");
    if (status == LS_OK)
        status = write_output(path, text, length, error);
    free(text);
    return status;
}

static ls_status emit_code(const ls_module *module, const struct options *options, ls_error *error)
{
    void *bytes = NULL;
    size_t size;
    ls_status status = ls_module_emit(module, options->form == FORM_PTX ? "ptx" : "spirv",
                                      options->target, options->kernel, &bytes, &size, error);
    if (status == LS_OK && options->form == FORM_SPIRV_TEXT)
        status = write_disassembly(options->output, bytes, size, error);
    else if (status == LS_OK)
        status = write_output(options->output, bytes, size, error);
    ls_bytes_destroy(&bytes);
    return status;
}

static ls_status emit_ir(const ls_module *module, const struct options *options, ls_error *error)
{
    char *text = NULL;
    void *bytes = NULL;
    size_t size;
    ls_status status;
    if (options->form == FORM_IRB) {
        status = ls_module_encode(module, &bytes, &size, error);
        if (status == LS_OK)
            status = write_output(options->output, bytes, size, error);
        ls_bytes_destroy(&bytes);
    } else {
        status = ls_module_print(module, &text, &size, error);
        if (status == LS_OK)
            status = write_output(options->output, text, size, error);
        ls_text_destroy(&text);
    }
    return status;
}

static ls_status emit(const ls_module *module, const struct options *options, ls_error *error)
{
    return options->form >= FORM_SPIRV ? emit_code(module, options, error)
                                       : emit_ir(module, options, error);
}

static ls_status compile(const struct options *options, ls_error *error)
{
    ls_module *module, *transformed = NULL;
    if (options->output && ls__os_same_file(options->output, options->file))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "--output names the program itself, '%s'",
                        options->file);
    ls_status status = ls__cli_load_module(options->file, options->defines, options->define_count,
                                           NULL, &module, error);
    if (status != LS_OK)
        return status;
    if (options->after || options->lower) {
        bool all = !options->after || strcmp(options->after, "all") == 0;
        status = ls_module_transform(module, all ? NULL : options->after, options->lower,
                                     &transformed, error);
    }
    if (status == LS_OK)
        status = emit(transformed ? transformed : module, options, error);
    ls_module_destroy(&transformed);
    ls_module_destroy(&module);
    return status;
}

int ls__cli_compile(int argc, char **argv)
{
    struct options options = {0};
    ls_error error;
    int result = LS__EXIT_USAGE;
    options.defines = ls__mem_alloc((size_t)argc, sizeof *options.defines);
    if (!options.defines)
        return ls__cli_end(ls__fail_oom(&error, (size_t)argc * sizeof *options.defines), &error);
    if (argp_parse(&arguments, argc, argv, 0, NULL, &options) == 0) {
        bool is_binary = options.form == FORM_IRB || options.form == FORM_SPIRV;
        if (is_binary && !options.output && isatty(STDOUT_FILENO))
            fputs("lockstep: the binary form does not suit a terminal; give -o FILE\n", stderr);
        else
            result = ls__cli_end(compile(&options, &error), &error);
    }
    ls__mem_free(options.defines);
    return result;
}
