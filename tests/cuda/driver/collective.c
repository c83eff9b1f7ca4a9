/* SPDX-License-Identifier: Apache-2.0 */
/* What lanes of a warp do together. Each is run once for all lanes that the member mask names and
 * that have not ended; warp.c sees to it that they have all arrived. */
#include "warp.h"

enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, SHUFFLE_INDEX };

#define FOR_LANES(mask)                                                                            \
    for (int lane = 0; lane < LANES; lane++)                                                       \
        if ((mask) >> lane & 1)

/* A lane outside of its segment reads itself; one that does not take part gives anything. */
void run_shuffle(warp *w, const instruction *in, uint32_t mask)
{
    const uint32_t *b = source(w, in->b), *c = source(w, in->c);
    uint32_t values[LANES], d[LANES] = {0}, inside = 0;
    memcpy(values, source(w, in->a), sizeof values);
    FOR_LANES(mask)
    {
        int by = (int)(b[lane] & 31), clamp = (int)(c[lane] & 31);
        int segment = (int)(c[lane] >> 8 & 31);
        int last = (lane & segment) | (clamp & ~segment & 31), from;
        bool good;
        switch (in->operation) {
        case SHUFFLE_UP:
            from = lane - by;
            good = from >= last;
            break;
        case SHUFFLE_DOWN:
            from = lane + by;
            good = from <= last;
            break;
        case SHUFFLE_XOR:
            from = lane ^ by;
            good = from <= last;
            break;
        default:
            from = (lane & segment) | (by & ~segment & 31);
            good = from <= last;
        }
        if (!good)
            from = lane;
        d[lane] = mask >> from & 1 ? values[from] : 0xbadbad00u + (uint32_t)lane;
        inside |= (uint32_t)good << lane;
    }
    if (in->d.width)
        put32(w, in->d, mask, d);
    if (in->d2.width)
        put_predicate(w, in->d2, mask, inside);
}

void run_vote(warp *w, const instruction *in, uint32_t mask)
{
    enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
    uint32_t votes = predicate(w, in->a) & mask, d[LANES];
    bool yes = in->operation == VOTE_ALL   ? votes == mask
               : in->operation == VOTE_ANY ? votes != 0
                                           : votes == mask || votes == 0;
    for (int i = 0; i < LANES; i++)
        d[i] = votes;
    if (in->operation == VOTE_BALLOT)
        put32(w, in->d, mask, d);
    else
        put_predicate(w, in->d, mask, yes ? UINT32_MAX : 0);
}

void run_match(warp *w, const instruction *in, uint32_t mask)
{
    uint64_t values[LANES] = {0};
    uint32_t d[LANES] = {0}, all = 0;
    FOR_LANES(mask)
    values[lane] = get_lane(w, in->a, lane);
    FOR_LANES(mask)
    {
        for (int i = 0; i < LANES; i++)
            if (mask >> i & 1 && values[i] == values[lane])
                d[lane] |= 1u << i;
        all |= (uint32_t)(d[lane] == mask) << lane;
    }
    bool equal = all == mask;
    if (in->operation)
        for (int i = 0; i < LANES; i++)
            d[i] = equal ? mask : 0;
    put32(w, in->d, mask, d);
    if (in->d2.width)
        put_predicate(w, in->d2, mask, equal ? UINT32_MAX : 0);
}

void run_reduce(warp *w, const instruction *in, uint32_t mask)
{
    const uint32_t *a = source(w, in->a);
    uint32_t result = a[__builtin_ctz(mask)], d[LANES], flip = in->is_signed ? 0x80000000u : 0;
    uint32_t rest = mask & (mask - 1);
    FOR_LANES(rest)
    {
        uint32_t x = a[lane];
        switch (in->operation) {
        case 0:
            result += x;
            break;
        case 1:
            result = (x ^ flip) < (result ^ flip) ? x : result;
            break;
        case 2:
            result = (x ^ flip) > (result ^ flip) ? x : result;
            break;
        case 3:
            result &= x;
            break;
        case 4:
            result |= x;
            break;
        default:
            result ^= x;
        }
    }
    for (int i = 0; i < LANES; i++)
        d[i] = result;
    put32(w, in->d, mask, d);
}

void run_warp_barrier(warp *w, const instruction *in, uint32_t mask)
{
    run_fence(w, in, mask);
}

void run_active_mask(warp *w, const instruction *in, uint32_t mask)
{
    uint32_t d[LANES];
    for (int i = 0; i < LANES; i++)
        d[i] = mask;
    put32(w, in->d, mask, d);
}
