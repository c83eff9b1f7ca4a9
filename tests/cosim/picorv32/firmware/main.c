// SPDX-License-Identifier: Apache-2.0
//
// What PicoRV32 runs, over and over with other data: a checksum (CRC-32, bit by bit), a sort, and a
// product of matrices. Each round writes three words to the output; after 1,000 rounds it ends.

#include <stdint.h>

#define OUTPUT (*(volatile uint32_t *)0x10000000)
#define DONE (*(volatile uint32_t *)0x10000004)

enum { BYTES = 64, NUMBERS = 32, SIDE = 6, ROUNDS = 1000 };

static uint32_t state = 1;

static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static uint32_t crc32(void)
{
    static uint8_t data[BYTES];
    uint32_t crc = 0xffffffff;

    for (int i = 0; i < BYTES; i++)
        data[i] = (uint8_t)next_random();
    for (int i = 0; i < BYTES; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static uint32_t sort(void)
{
    static int32_t numbers[NUMBERS];
    uint32_t sum = 0;

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (int32_t)next_random() >> 8;
    for (int i = 1; i < NUMBERS; i++) {
        int32_t value = numbers[i];
        int place = i;

        for (; place > 0 && numbers[place - 1] > value; place--)
            numbers[place] = numbers[place - 1];
        numbers[place] = value;
    }
    for (int i = 0; i < NUMBERS; i++)
        sum = sum * 31 + (uint32_t)(numbers[i] / (i + 1));
    return sum;
}

static uint32_t product(void)
{
    static int32_t a[SIDE][SIDE], b[SIDE][SIDE];
    uint32_t sum = 0;

    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i / SIDE][i % SIDE] = (int16_t)next_random();
        b[i / SIDE][i % SIDE] = (int16_t)next_random();
    }
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column < SIDE; column++) {
            int32_t dot = 0;

            for (int i = 0; i < SIDE; i++)
                dot += a[row][i] * b[i][column];
            sum = sum * 17 ^ (uint32_t)dot;
        }
    }
    return sum;
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        OUTPUT = crc32();
        OUTPUT = sort();
        OUTPUT = product();
    }
    DONE = 1;
    return 0;
}
