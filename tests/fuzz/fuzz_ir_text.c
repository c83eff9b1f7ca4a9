/* SPDX-License-Identifier: Apache-2.0 */
/* The IR text on any bytes: no crash, and what is read prints, reads back and encodes to the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

static void check_module(const ls__ir_module *module)
{
    ls__strbuf first = {0}, second = {0};
    ls__ir_module *again;
    ls__digest a, b;
    ls__ir_print(module, &first);
    require(ls__ir_read(first.text, first.length, &again, NULL) == LS_OK);
    ls__ir_print(again, &second);
    require(first.length == second.length && memcmp(first.text, second.text, first.length) == 0);
    require(ls__ir_digest(module, &a, NULL) == LS_OK && ls__ir_digest(again, &b, NULL) == LS_OK);
    require(memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0);
    ls__ir_module_destroy(&again);
    ls__strbuf_finish(&first);
    ls__strbuf_finish(&second);

    void *bytes;
    size_t size;
    require(ls__ir_encode(module, &bytes, &size, NULL) == LS_OK);
    require(ls__ir_decode(bytes, size, &again, NULL) == LS_OK);
    ls__ir_module_destroy(&again);
    ls__mem_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ls__ir_module *module;
    ls_error error = {0};
    char *copy = calloc(size ? size : 1, 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    if (ls__ir_read(copy, size, &module, &error) == LS_OK)
        check_module(module);
    else
        require(error.code != LS_OK && error.message[0] != 0);
    ls__ir_module_destroy(&module);
    free(copy);
    return 0;
}
