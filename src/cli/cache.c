/* SPDX-License-Identifier: Apache-2.0 */
/* Where compiled code is kept between runs. The library makes the folder and never insists on it;
 * only a folder that somebody has named must be good. */
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

ls_status ls__cli_check_cache(const char *path, ls_error *error)
{
    ls__dir *dir;
    ls_status status = ls__dir_open(path, &dir, error);
    ls__dir_close(&dir);
    return status;
}
