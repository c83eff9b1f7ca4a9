/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a device as all commands do: where compiled code is kept between runs, and what happens
 * when no device is named. The library makes the cache's folder and never insists on it; only a
 * folder that somebody has named must be good. */
#include <stdlib.h>

#include "base/dir.h"
#include "cli/cli.h"

/* A variable that is unset or not an absolute path counts for nothing. */
static const char *absolute(const char *variable)
{
    const char *path = getenv(variable);
    return path && path[0] == '/' ? path : NULL;
}

void ls__cli_default_cache(ls__strbuf *path)
{
    const char *cache = absolute("XDG_CACHE_HOME"), *home = absolute("HOME");
    if (cache)
        ls__strbuf_printf(path, "%s/lockstep", cache);
    else if (home)
        ls__strbuf_printf(path, "%s/.cache/lockstep", home);
}

void ls__cli_default_state(ls__strbuf *path)
{
    const char *state = absolute("XDG_STATE_HOME"), *home = absolute("HOME");
    if (state)
        ls__strbuf_printf(path, "%s/lockstep", state);
    else if (home)
        ls__strbuf_printf(path, "%s/.local/state/lockstep", home);
}

ls_status ls__cli_check_cache(const char *path, ls_error *error)
{
    ls__dir *dir;
    ls_status status = ls__dir_open(path, &dir, error);
    ls__dir_close(&dir);
    return status;
}

ls_status ls__cli_choose_cache(const char *named, bool none, ls__strbuf *path, ls_error *error)
{
    if (none)
        return LS_OK;
    if (!named) {
        ls__cli_default_cache(path);
        return LS_OK;
    }
    ls__strbuf_printf(path, "%s", named);
    return ls__cli_check_cache(named, error);
}

ls_status ls__cli_open_device(ls_device_params *params, bool quiet, ls_device **device,
                              ls_error *error)
{
    ls_status status = ls_device_open(params, device, error);
    if (status == LS_E_STATE && !params->name) { /* none may be chosen unasked: somebody asks now */
        if (!quiet)
            ls__cli_print_line(stderr, "lockstep: note: on the reference, which is slow: %s",
                               error->message);
        params->name = "reference";
        status = ls_device_open(params, device, error);
    }
    return status;
}
