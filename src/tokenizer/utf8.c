/* SPDX-License-Identifier: Apache-2.0 */
/* Well-formed UTF-8. */
#include "tokenizer/utf8.h"

#include <stdbool.h>
#include <string.h>

#include "lockstep/tokenizer.h"

/* What the first byte says: how many bytes there are, and between what the second must lie. */
typedef struct lead {
    uint8_t length, low, high;
} lead;

static lead lead_of(uint8_t first)
{
    if (first < 0x80)
        return (lead){1, 0, 0};
    if (first >= 0xc2 && first <= 0xdf)
        return (lead){2, 0x80, 0xbf};
    if (first >= 0xe0 && first <= 0xef)
        return (lead){3, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf};
    if (first >= 0xf0 && first <= 0xf4)
        return (lead){4, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf};
    return (lead){0, 0, 0};
}

/* How many of the bytes fit a character that begins with the first of them. */
static size_t fitting(const uint8_t *at, size_t left, lead l)
{
    if (l.length < 2 || left < 2 || at[1] < l.low || at[1] > l.high)
        return l.length ? 1 : 0;
    size_t count = 2;
    while (count < l.length && count < left && (at[count] & 0xc0) == 0x80)
        count++;
    return count;
}

size_t ls__utf8_length(const uint8_t *at, size_t left)
{
    if (!left)
        return 0;
    lead l = lead_of(*at);
    return fitting(at, left, l) == l.length ? l.length : 0;
}

size_t ls__utf8_run(const uint8_t *at, size_t left)
{
    size_t done = 0, length;
    for (;;) {
        uint64_t eight;
        while (left - done >= sizeof eight) { /* of ASCII */
            memcpy(&eight, at + done, sizeof eight);
            if (eight & UINT64_C(0x8080808080808080))
                break;
            done += sizeof eight;
        }
        length = ls__utf8_length(at + done, left - done);
        if (!length)
            return done;
        done += length;
    }
}

uint64_t ls_utf8_whole(const char *text, uint64_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;
    for (uint64_t back = 1; back <= 3 && back <= length; back++) {
        const uint8_t *at = bytes + (length - back);
        if ((*at & 0xc0) == 0x80)
            continue; /* it may belong to a byte before it */
        lead l = lead_of(*at);
        bool incomplete = l.length > back && fitting(at, (size_t)back, l) == back;
        return incomplete ? length - back : length;
    }
    return length;
}
