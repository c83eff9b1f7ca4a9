/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of value change dumps on any bytes: no crash, promises kept, and the pieces in which
 * they come make no difference. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "testbench/vcd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct pieces {
    const uint8_t *bytes;
    size_t size, position, step;
} pieces;

static void require(int good)
{
    if (!good)
        abort();
}

static ls_status give(void *context, void *bytes, size_t capacity, size_t *count, ls_error *error)
{
    pieces *p = context;
    size_t left = p->size - p->position;
    (void)error;
    *count = left < p->step ? left : p->step;
    *count = *count < capacity ? *count : capacity;
    if (*count)
        memcpy(bytes, p->bytes + p->position, *count);
    p->position += *count;
    return LS_OK;
}

/* A number made of all that is read. */
static uint64_t read_all(const uint8_t *data, size_t size, size_t step)
{
    pieces p = {data, size, 0, step};
    ls__vcd_source source = {give, &p, "fuzz"};
    ls__vcd_reader *reader;
    ls__vcd_item item = {0};
    uint64_t last = 0, sum = 0;
    uint32_t count;
    if (ls__vcd_reader_open(&source, NULL, NULL, &reader, NULL) != LS_OK)
        return 1;
    const ls__vcd_variable *variables = ls__vcd_reader_variables(reader, &count);
    for (uint32_t i = 0; i < count; i++) {
        require(variables[i].code < ls__vcd_reader_code_count(reader));
        sum = ls__hash64(variables[i].name, strlen(variables[i].name), sum);
    }
    while (ls__vcd_reader_next(reader, &item, NULL) == LS_OK && item.kind != LS__VCD_END) {
        if (item.kind == LS__VCD_TIME) {
            require(item.time >= last);
            last = item.time;
        } else {
            require(item.code < ls__vcd_reader_code_count(reader) && item.digit_count > 0);
            for (uint32_t i = 0; i < item.digit_count; i++)
                require(memchr("01xz", item.digits[i], 4) != NULL);
            sum = ls__hash64(item.digits, item.digit_count, sum + item.code);
        }
    }
    ls__vcd_reader_close(&reader);
    return sum + last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    require(read_all(copy, size, SIZE_MAX) == read_all(copy, size, 3));
    free(copy);
    return 0;
}
