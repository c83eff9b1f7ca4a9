/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of memory contents on any bytes. The first bytes choose the format and the memory,
 * the rest is the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "netlist/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

/* The sum of all words, so that each is read, and that they lie in the memory. */
static ls_status put(void *context, uint32_t first, uint32_t count, const uint64_t *words,
                     ls_error *error)
{
    const ls__image_memory *memory = context;
    uint32_t each = (memory->width + 63) / 64;
    (void)error;
    require(count > 0 && first < memory->depth && count <= memory->depth - first);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t last = words[(size_t)i * each + each - 1];
        require(memory->width % 64 == 0 || last >> (memory->width % 64) == 0);
    }
    return LS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    ls_image_params params = {.path = "fuzz",
                              .format = (ls_image_format)(data[0] % 5),
                              .address = data[1],
                              .stride_bytes = data[2] >> 5,
                              .limit_bytes = 1 << 20};
    ls__image_memory memory = {"m", (uint32_t)(data[3] % 140) + 1,
                               (uint32_t)(data[2] & 31) * 40 + 1, data[0] >> 6};
    uint8_t *copy = malloc(size - 4 ? size - 4 : 1);
    void *bytes;
    uint64_t count;
    ls_error error;
    require(copy != NULL);
    memcpy(copy, data + 4, size - 4);
    ls_status status = ls__image_words_of(copy, size - 4, &params, &memory, put, &memory, &error);
    require(status == LS_OK || (error.code == status && error.message[0]));
    status = ls__image_bytes_of(copy, size - 4, &params, &bytes, &count, &error);
    require((status == LS_OK) == (bytes != NULL) && count <= params.limit_bytes);
    ls__mem_free(bytes);
    free(copy);
    return 0;
}
