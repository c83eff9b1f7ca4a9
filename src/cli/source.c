/* SPDX-License-Identifier: Apache-2.0 */
/* From a file named on the command line to a module, whatever form the program is in. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"
#include "cli/cli.h"

#define MAX_PROGRAM_BYTES (UINT64_C(1) << 30)

static ls_status compile(const char *path, const char *text, size_t length,
                         const ls_define *defines, uint32_t define_count, const char *cache,
                         bool print, ls_module **module, ls_error *error)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_diagnostics *diagnostics = NULL;
    params.text = text;
    params.length = length;
    params.path = path;
    params.defines = defines;
    params.define_count = define_count;
    params.cache_path = cache;
    ls_status status = ls_module_compile(&params, module, &diagnostics, error);
    uint32_t count = ls_diagnostics_count(diagnostics);
    if (count && print)
        fputs(ls_diagnostics_text(diagnostics), stderr);
    if (status == LS_E_COMPILE && count && print) { /* they have just been shown */
        uint32_t errors = 0;
        for (uint32_t i = 0; i < count; i++) {
            ls_diagnostic diagnostic;
            ls_diagnostics_get(diagnostics, i, &diagnostic);
            errors += !diagnostic.is_warning;
        }
        ls__fail(error, status, "%s: %u error%s", path, errors, errors == 1 ? "" : "s");
    }
    ls_diagnostics_destroy(&diagnostics);
    return status;
}

static ls_status load(const char *path, const ls_define *defines, uint32_t define_count,
                      const char *cache, bool print, ls_module **module, ls_error *error)
{
    void *bytes;
    size_t size;
    *module = NULL;
    for (uint32_t i = 0; i < define_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(defines[i].name, defines[k].name) == 0)
                return ls__fail(error, LS_E_INVALID_ARGUMENT, "-D%s is given twice",
                                defines[i].name);
    bool is_text = ls__str_ends_in(path, ".ir"), is_binary = ls__str_ends_in(path, ".irb");
    if ((is_text || is_binary) && define_count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "-D%s: the constants of an IR file are fixed; compile the .kc file with -D",
                        defines[0].name);
    ls_status status = ls__os_read_file(path, MAX_PROGRAM_BYTES, &bytes, &size, error);
    if (status != LS_OK)
        return status;
    if (is_text)
        status = ls_module_read(bytes, size, module, error);
    else if (is_binary)
        status = ls_module_decode(bytes, size, module, error);
    else
        status = compile(path, bytes, size, defines, define_count, cache, print, module, error);
    if ((is_text || is_binary) && status != LS_OK) {
        char position[sizeof error->where]; /* in the file, where the reader knows one */
        memcpy(position, error->where, sizeof position);
        ls__fail_where(error, status, "%s%s%s", path, position[0] ? ": " : "", position);
    }
    ls__mem_free(bytes);
    return status;
}

ls_status ls__cli_load_module(const char *path, const ls_define *defines, uint32_t define_count,
                              const char *cache, ls_module **module, ls_error *error)
{
    return load(path, defines, define_count, cache, true, module, error);
}

ls_status ls__cli_load_again(const char *path, const ls_define *defines, uint32_t define_count,
                             const char *cache, ls_module **module, ls_error *error)
{
    return load(path, defines, define_count, cache, false, module, error);
}
