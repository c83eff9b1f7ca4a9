/* SPDX-License-Identifier: Apache-2.0 */
/* Running another program; bytes through one, whose input and output are unnamed files. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/status.h"
#include "cli/cli.h"

extern char **environ;

ls_status ls__cli_spawn(char *const *arguments, FILE *in, FILE *out, ls_error *error)
{
    posix_spawn_file_actions_t actions;
    const char *program = arguments[0];
    pid_t child;
    int failure = posix_spawn_file_actions_init(&actions), status = 0;
    if (failure == 0) {
        if (in)
            posix_spawn_file_actions_adddup2(&actions, fileno(in), 0);
        else
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
        failure = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (failure != 0)
        return ls__fail(error, LS_E_UNSUPPORTED, "cannot run '%s': %s", program, strerror(failure));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return ls__fail(error, LS_E_IO, "'%s' failed", program);
    return LS_OK;
}

static ls_status read_all(FILE *file, char **text, size_t *length, ls_error *error)
{
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (end < 0)
        return ls__fail(error, LS_E_IO, "cannot read what was written: %s", strerror(errno));
    rewind(file);
    *length = (size_t)end;
    *text = malloc(*length + 1);
    if (!*text)
        return ls__fail_oom(error, *length + 1);
    if (fread(*text, 1, *length, file) != *length) {
        free(*text);
        *text = NULL;
        return ls__fail(error, LS_E_IO, "cannot read what was written: %s", strerror(errno));
    }
    return LS_OK;
}

ls_status ls__cli_filter(const char *program, const void *bytes, size_t size, char **text,
                         size_t *length, ls_error *error)
{
    char *name = (char *)(uintptr_t)program, *arguments[] = {name, NULL};
    FILE *in = tmpfile(), *out = tmpfile();
    ls_status status = LS_OK;
    if (!in || !out || fwrite(bytes, 1, size, in) != size || fflush(in) != 0)
        status = ls__fail(error, LS_E_IO, "cannot write a temporary file: %s", strerror(errno));
    if (status == LS_OK) {
        rewind(in);
        status = ls__cli_spawn(arguments, in, out, error);
    }
    if (status == LS_OK)
        status = read_all(out, text, length, error);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    return status;
}
