/* SPDX-License-Identifier: Apache-2.0 */
/* See boxes.h. */
#include "device/common/boxes.h"

static uint32_t least(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t ab = a < b ? a : b;
    return (uint32_t)(ab < c ? ab : c);
}

void ls__next_box(const uint32_t count[3], const uint32_t base[3], const uint32_t limits[3],
                  uint64_t most, uint32_t box[3])
{
    uint64_t row = count[0], layer = row * count[1];
    bool whole_rows = base[0] == 0 && row <= limits[0] && row <= most;
    bool whole_layers = whole_rows && base[1] == 0 && count[1] <= limits[1] && layer <= most;
    box[0] = least(count[0] - base[0], limits[0], most);
    box[1] = whole_rows ? least(count[1] - base[1], limits[1], most / row) : 1;
    box[2] = whole_layers ? least(count[2] - base[2], limits[2], most / layer) : 1;
}

bool ls__advance_box(const uint32_t count[3], const uint32_t box[3], uint32_t base[3])
{
    base[0] += box[0];
    if (base[0] < count[0])
        return true;
    base[0] = 0;
    base[1] += box[1];
    if (base[1] < count[1])
        return true;
    base[1] = 0;
    base[2] += box[2];
    return base[2] < count[2];
}
