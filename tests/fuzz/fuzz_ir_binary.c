/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IR binary form on any bytes, as they are and with size and digest made to fit, since no
 * mutation would get past the digest. What decodes encodes to the same digest, also by way of its
 * text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZE_AT = 16, DIGEST_AT = 24, BODY_AT = 56 };

static void require(int good)
{
    if (!good)
        abort();
}

static void check_module(const ls__ir_module *module)
{
    ls__digest a, b;
    ls__strbuf text = {0};
    ls__ir_module *again;
    void *bytes;
    size_t size;
    require(ls__ir_encode(module, &bytes, &size, NULL) == LS_OK);
    require(ls__ir_decode(bytes, size, &again, NULL) == LS_OK);
    require(ls__ir_digest(module, &a, NULL) == LS_OK && ls__ir_digest(again, &b, NULL) == LS_OK);
    require(memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0);
    ls__ir_module_destroy(&again);
    ls__mem_free(bytes);

    ls__ir_print(module, &text);
    require(ls__ir_read(text.text, text.length, &again, NULL) == LS_OK);
    require(ls__ir_digest(again, &b, NULL) == LS_OK);
    require(memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0);
    ls__ir_module_destroy(&again);
    ls__strbuf_finish(&text);
}

static void run(const uint8_t *bytes, size_t size)
{
    ls__ir_module *module;
    if (ls__ir_decode(bytes, size, &module, NULL) == LS_OK)
        check_module(module);
    ls__ir_module_destroy(&module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = calloc(size ? size : 1, 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    run(copy, size);
    if (size >= BODY_AT) {
        for (unsigned i = 0; i < 8; i++)
            copy[SIZE_AT + i] = (uint8_t)((uint64_t)(size - BODY_AT) >> (8 * i));
        ls__digest digest = ls__digest_of(copy + BODY_AT, size - BODY_AT);
        memcpy(copy + DIGEST_AT, digest.bytes, sizeof digest.bytes);
        run(copy, size);
    }
    free(copy);
    return 0;
}
