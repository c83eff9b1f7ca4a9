/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of .npy headers on any bytes: no crash, promises kept, and what we write reads back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

/* The header of `npy` printed, with the data of the first file behind it, means the same. */
static void check_round_trip(const ls__npy *npy, size_t data_bytes)
{
    ls__npy again;
    ls__strbuf out = {0};
    ls__npy_print(npy, &out);
    require(!out.failed && out.length % 64 == 0);
    uint8_t *file = calloc(1, out.length + data_bytes);
    require(file != NULL);
    memcpy(file, out.text, out.length);
    require(ls__npy_parse(file, out.length + data_bytes, &again, NULL) == LS_OK);
    require(again.kind == npy->kind && again.item_bytes == npy->item_bytes);
    require(again.dimensions == npy->dimensions && again.count == npy->count);
    require(memcmp(again.shape, npy->shape, sizeof again.shape) == 0);
    free(file);
    ls__strbuf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ls__npy npy;
    uint8_t *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    if (ls__npy_parse(copy, size, &npy, NULL) == LS_OK) {
        require(npy.data_offset <= size);
        require(npy.count * npy.item_bytes == size - npy.data_offset);
        check_round_trip(&npy, size - npy.data_offset);
    }
    free(copy);
    return 0;
}
