// SPDX-License-Identifier: Apache-2.0
//
// Firmware of the SoC: a greeting, a checksum of its own image as it lies in RAM, then a prompt. What
// is typed comes back in upper case, and each line is answered by a new prompt. The pins show the
// number of lines.

#include <stdint.h>

#define UART_DATA (*(volatile uint32_t *)0x10000000)
#define UART_STATUS (*(volatile uint32_t *)0x10000004)
#define GPIO (*(volatile uint32_t *)0x20000000)

enum { SENDING = 1, RECEIVED = 2 };

extern const uint32_t _start[], image_end[];

static void put_char(char c)
{
    while (UART_STATUS & SENDING)
        ;
    UART_DATA = (uint8_t)c;
}

static void put_text(const char *text)
{
    while (*text)
        put_char(*text++);
}

static void put_hex(uint32_t value)
{
    for (int shift = 28; shift >= 0; shift -= 4)
        put_char("0123456789abcdef"[value >> shift & 15]);
}

static char get_char(void)
{
    while (!(UART_STATUS & RECEIVED))
        ;
    return (char)UART_DATA;
}

// Every word moves all that came before it by five bits, so order counts.
static uint32_t checksum(const uint32_t *word, const uint32_t *end)
{
    uint32_t sum = 0;

    for (; word < end; word++)
        sum = (sum << 5 | sum >> 27) + *word;
    return sum;
}

int main(void)
{
    uint32_t lines = 0;

    put_text("Lockstep SoC ready\r\nchecksum ");
    put_hex(checksum(_start, image_end));
    put_text("\r\n> ");
    for (;;) {
        char c = get_char();

        if (c == '\r' || c == '\n') {
            GPIO = ++lines;
            put_text("\r\n> ");
        } else {
            put_char(c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
        }
    }
}
