/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of netlists on any bytes: no crash, memory within its limit, promises kept. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../netlist/promises.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    ls_error error;
    ls__netlist *netlist = NULL;
    ls__netlist_params params = {
        .path = "fuzz", .text = copy, .length = size, .limit_bytes = 100 << 20};
    ls_status status = ls__netlist_read(&params, &netlist, &error);
    require((status == LS_OK) == (netlist != NULL), "a result or an error", "");
    require(status == LS_OK || (error.code == status && error.message[0]), "a message", "");
    if (netlist)
        check_promises(netlist);
    ls__netlist_destroy(&netlist);
    free(copy);
    return 0;
}
