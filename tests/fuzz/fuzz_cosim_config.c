/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of configurations on any bytes: no crash, and counts that are true. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testbench/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

static void ignore(void *context, const char *message)
{
    (void)context;
    require(message != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ls__config_file *file;
    char *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    if (ls__config_read(copy, size, "fuzz", ignore, NULL, &file, NULL) == LS_OK) {
        const ls__config *c = ls__config_of(file);
        require(c->clock_count > 0 || c->clock.signal || c->clock.gpio >= 0);
        for (uint32_t i = 0; i < c->uart_count; i++)
            require(c->uarts[i].name && (c->uarts[i].baud_rate || c->uarts[i].cycles_per_bit));
        for (uint32_t i = 0; i < c->clock_count; i++)
            require(c->clocks[i].high_ps < c->clocks[i].period_ps);
        for (uint32_t i = 0; i < c->peripheral_count; i++)
            for (uint32_t k = 0; k < c->peripherals[i].pin_count; k++)
                require(c->peripherals[i].pins[k].pin != NULL);
        for (uint32_t i = 0; i < c->gpio_count; i++)
            require(c->gpios[i].pin_count <= 32);
        ls__config_destroy(&file);
    }
    require(file == NULL);
    free(copy);
    return 0;
}
