/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of model files on any bytes: a result or an error, all that it gives lies in the file,
 * and any tensor can be dequantised. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

static void look_at_values(const ls_gguf *gguf, uint32_t count)
{
    const char *text;
    uint64_t length, number;
    int64_t negative;
    double real;
    for (uint32_t i = 0; i < count; i++) {
        const ls_gguf_value *value = ls_gguf_value_at(gguf, i);
        require(ls_gguf_find_value(gguf, value->key) == value);
        for (uint64_t k = 0; k <= value->count; k++) {
            bool there = k < value->count;
            bool is_text = ls_gguf_text(value, k, &text, &length);
            require(is_text == (there && value->kind == LS_GGUF_STRING));
            require(ls_gguf_float(value, k, &real) == (there && !is_text));
            ls_gguf_unsigned(value, k, &number);
            ls_gguf_signed(value, k, &negative);
            uint64_t sum = 0; /* each byte is read */
            for (uint64_t b = 0; b < length; b++)
                sum += (uint8_t)text[b];
            require(sum <= 255 * length);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    ls_gguf *gguf = NULL;
    ls_error error;
    float values[256];
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    ls_status status = ls_gguf_open_memory(copy, size, "fuzz", &gguf, &error);
    require((status == LS_OK) == (gguf != NULL));
    require(status == LS_OK || (error.code == status && error.message[0]));
    if (gguf) {
        ls_gguf_info info = {.struct_size = sizeof info};
        ls_gguf_describe(gguf, &info);
        look_at_values(gguf, info.value_count);
        for (uint32_t i = 0; i < info.tensor_count; i++) {
            const ls_gguf_tensor *tensor = ls_gguf_tensor_at(gguf, i);
            require(ls_gguf_find_tensor(gguf, tensor->name) == tensor);
            uint32_t elements, bytes;
            ls_gguf_type_block(tensor->type, &elements, &bytes);
            for (uint64_t at = 0; at < tensor->elements; at += elements)
                require(ls_gguf_dequantize(tensor, at, elements, values, &error) == LS_OK);
        }
    }
    ls_gguf_destroy(&gguf);
    free(copy);
    return 0;
}
