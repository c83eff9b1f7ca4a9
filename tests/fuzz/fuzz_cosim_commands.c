/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of input commands on any bytes, and what follows them: no crash, and they come to an
 * end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testbench/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

static ls__model models[] = {
    {.kind = LS__MODEL_UART_TX, .name = "uart"},
    {.kind = LS__MODEL_UART_RX, .name = "uart", .queue = 4, .frame_edges = 10},
    {.kind = LS__MODEL_GPIO, .name = "pins", .queue = 4, .pin_count = 3, .watched_count = 2},
    {.kind = LS__MODEL_BUS, .name = "bus", .protocol = "apb3"},
};

/* Gives the instance the events that it waits for until it waits no more. */
static void follow(ls__commands *commands, uint32_t instance)
{
    uint32_t source, kind;
    uint64_t a;
    uint32_t left = ls__commands_left(commands, instance);
    while (ls__commands_waits(commands, instance, &source, &kind, &a)) {
        ls_cosim_event event = {LS_EVENT_PERIPHERAL, instance, 0, source, kind, a, 0, ""};
        require(source < 4);
        if (!ls__commands_event(commands, &event))
            break; /* a payload that no event has */
        require(ls__commands_left(commands, instance) < left);
        left = ls__commands_left(commands, instance);
        while (ls__commands_action(commands, instance, &source, &a))
            require(source == 1 || source == 2);
    }
    ls__commands_stopped(commands, instance);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ls__plan plan = {.models = models, .peripheral_count = 4};
    ls__commands *commands;
    char *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    if (ls__commands_read(copy, size, "fuzz", &plan, 2, &commands, NULL) == LS_OK) {
        follow(commands, 0);
        follow(commands, 1);
    }
    ls__commands_destroy(&commands);
    free(copy);
    return 0;
}
