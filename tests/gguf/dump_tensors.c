/* SPDX-License-Identifier: Apache-2.0 */
/* Writes all tensors of a model file to standard output as f32, one after another. */
#include <stdio.h>
#include <stdlib.h>

#include "lockstep/gguf.h"

int main(int argc, char **argv)
{
    ls_gguf *gguf = NULL;
    ls_error error;
    const ls_gguf_tensor *tensor;
    ls_status status = argc == 2 ? ls_gguf_open(argv[1], &gguf, &error) : LS_E_INVALID_ARGUMENT;
    for (uint32_t i = 0; status == LS_OK && (tensor = ls_gguf_tensor_at(gguf, i)); i++) {
        float *values = malloc(tensor->elements * sizeof *values);
        status = values ? ls_gguf_dequantize(tensor, 0, tensor->elements, values, &error)
                        : LS_E_OUT_OF_MEMORY;
        if (status == LS_OK)
            fwrite(values, sizeof *values, tensor->elements, stdout);
        free(values);
    }
    ls_gguf_destroy(&gguf);
    return status == LS_OK && fflush(stdout) == 0 ? 0 : 1;
}
