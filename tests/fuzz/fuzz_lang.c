/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel C on any bytes: no crash, no unbounded time; errors have a place, and what compiles
 * verifies. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/math_sources.h"
#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {.library = &library};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module;
    ls_error error = {0};
    char *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    ls_status status = ls__lang_compile(copy, size, &options, &module, &diagnostics, &error);
    if (status == LS_OK) {
        require(ls__ir_verify(module, &error) == LS_OK);
    } else {
        require(module == NULL && error.message[0] != 0);
        if (status == LS_E_COMPILE) {
            require(diagnostics.items.count > 0);
            /* LS0512: a rule of the IR was broken that the front end should have checked. */
            for (uint32_t i = 0; i < diagnostics.items.count; i++)
                require(strcmp(diagnostics.items.items[i].id, "LS0512") != 0);
        }
    }
    ls__strbuf out = {0};
    ls__lang_diagnostics_print(&diagnostics, &out);
    ls__strbuf_finish(&out);
    ls__ir_module_destroy(&module);
    ls__lang_diagnostics_finish(&diagnostics);
    free(copy);
    return 0;
}
