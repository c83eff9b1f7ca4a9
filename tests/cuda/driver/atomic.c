/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red: lane by lane, each by compare and exchange, so that blocks on other threads and the
 * host see whole operations. Lanes go up, or down when the grid is to run in reverse: their order
 * is open in PTX. */
#include "atomic.h"
#include "parser.h"
#include "warp.h"

bool atomic_exists(unsigned operation, unsigned type)
{
    bool bits = type == TYPE_B32 || type == TYPE_B64;
    bool integer = type == TYPE_U32 || type == TYPE_S32 || type == TYPE_U64 || type == TYPE_S64;
    switch (operation) {
    case ATOMIC_ADD:
        return (integer && type != TYPE_S64) || type == TYPE_F32 || type == TYPE_F64;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        return integer;
    case ATOMIC_INC:
    case ATOMIC_DEC:
        return type == TYPE_U32;
    default:
        return bits;
    }
}

/* Sums in global memory take and give no subnormals; those in shared memory do. */
static uint64_t add_floats(uint64_t old, uint64_t value, bool flush)
{
    uint32_t bits[3] = {(uint32_t)old, (uint32_t)value, 0};
    float x, y;
    for (int i = 0; i < 2 && flush; i++)
        if ((bits[i] & 0x7f800000u) == 0)
            bits[i] &= 0x80000000u;
    memcpy(&x, &bits[0], 4);
    memcpy(&y, &bits[1], 4);
    float sum = x + y;
    memcpy(&bits[2], &sum, 4);
    if (flush && (bits[2] & 0x7f800000u) == 0)
        bits[2] &= 0x80000000u;
    return sum != sum ? 0x7fffffffu : bits[2];
}

static uint64_t add_doubles(uint64_t old, uint64_t value)
{
    double x, y;
    memcpy(&x, &old, 8);
    memcpy(&y, &value, 8);
    x += y;
    memcpy(&old, &x, 8);
    return old;
}

static bool less(uint64_t x, uint64_t y, unsigned type)
{
    switch (type) {
    case TYPE_S32:
        return (int32_t)x < (int32_t)y;
    case TYPE_S64:
        return (int64_t)x < (int64_t)y;
    default:
        return x < y; /* of 32 bits, too: the upper ones are 0 */
    }
}

static uint64_t changed(const instruction *in, uint64_t old, uint64_t b, uint64_t c, bool flush)
{
    switch (in->operation) {
    case ATOMIC_ADD:
        return in->type_a == TYPE_F32   ? add_floats(old, b, flush)
               : in->type_a == TYPE_F64 ? add_doubles(old, b)
                                        : old + b;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_EXCH:
        return b;
    case ATOMIC_CAS:
        return old == b ? c : old;
    case ATOMIC_MIN:
        return less(b, old, in->type_a) ? b : old;
    case ATOMIC_MAX:
        return less(old, b, in->type_a) ? b : old;
    case ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    default:
        return old == 0 || old > b ? b : old - 1;
    }
}

/* The word may reach beyond the memory of the host that was registered, in its page. */
__attribute__((no_sanitize("address"))) static uint64_t
change(const instruction *in, void *at, uint64_t b, uint64_t c, bool flush)
{
    if (in->size == 4) {
        uint32_t old = __atomic_load_n((uint32_t *)at, __ATOMIC_SEQ_CST);
        while (!__atomic_compare_exchange_n((uint32_t *)at, &old,
                                            (uint32_t)changed(in, old, b, c, flush), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
        return old;
    }
    uint64_t old = __atomic_load_n((uint64_t *)at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n((uint64_t *)at, &old, changed(in, old, b, c, flush), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return old;
}

void run_atomic(warp *w, const instruction *in, uint32_t mask)
{
    for (int i = 0; i < LANES; i++) {
        int lane = w->run->grid->reverse ? LANES - 1 - i : i;
        if (!(mask >> lane & 1))
            continue;
        uint64_t address = get_lane(w, in->a, lane) + (uint64_t)in->immediate;
        void *at = warp_address(w, in, lane, address, in->size);
        if (!at)
            return;
        bool shared = in->space == SPACE_SHARED ||
                      (in->space == SPACE_GENERIC && address - SHARED_WINDOW < WINDOW_SIZE);
        uint64_t c = in->operation == ATOMIC_CAS ? get_lane(w, in->c, lane) : 0;
        uint64_t old = change(in, at, get_lane(w, in->b, lane), c, !shared);
        if (in->d.width)
            put_lane(w, in->d, lane, old);
    }
}
