/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --run-params: the seed of what a run draws, kept so that it can be run again. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/cosim.h"

static ls_status read_seed(const char *path, uint64_t *seed, ls_error *error)
{
    void *text;
    size_t size;
    json_error_t fault;
    ls_status status = ls__os_read_file(path, 1 << 20, &text, &size, error);
    if (status != LS_OK)
        return status;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
    const json_t *number = json_object_get(root, "master_seed");
    *seed = (uint64_t)json_integer_value(number);
    if (!json_is_integer(number) || json_integer_value(number) < 0)
        status = ls__fail(error, LS_E_FORMAT, "%s: %s", path,
                          root ? ".master_seed: must be a number, not negative" : fault.text);
    json_decref(root);
    ls__mem_free(text);
    return status;
}

/* A number that JSON of any reader holds exactly. */
static ls_status draw_seed(const char *path, uint64_t *seed, ls_error *error)
{
    char text[64];
    if (getrandom(seed, sizeof *seed, 0) != sizeof *seed)
        return ls__fail(error, LS_E_IO, "no random number for '%s': %s", path, strerror(errno));
    *seed >>= 11;
    int length = snprintf(text, sizeof text, "{\n  \"master_seed\": %" PRIu64 "\n}\n", *seed);
    return ls__os_write_file(path, text, (size_t)length, error);
}

ls_status ls__cli_run_params(const char *path, uint64_t *seed, ls_error *error)
{
    return access(path, F_OK) == 0 ? read_seed(path, seed, error) : draw_seed(path, seed, error);
}
