/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores. Every access is looked up: in the ranges that the grid was given, the block's
 * shared memory, the lane's frame, the entry's parameters. Elements are read and written whole,
 * since the host and other blocks may look at the same time. */
#include "warp.h"

static const char *const space_names[] = {
    [SPACE_GENERIC] = "generic", [SPACE_GLOBAL] = "global", [SPACE_CONST] = "constant",
    [SPACE_SHARED] = "shared",   [SPACE_LOCAL] = "local",   [SPACE_PARAM] = "parameter",
    [SPACE_FRAME] = "parameter",
};

static unsigned char *outside(warp *w, const instruction *in, int lane, uint64_t address,
                              unsigned size)
{
    warp_fault(w, PTX_ILLEGAL_ADDRESS, "lane %d accesses %u bytes at %#llx: not %s memory", lane,
               size, (unsigned long long)address, space_names[in->space]);
    return NULL;
}

static unsigned char *global_address(warp *w, const instruction *in, int lane, uint64_t address,
                                     unsigned size)
{
    const ptx_range *r = w->hints[in->slot];
    uint64_t offset = address - r->start;
    if (offset < r->size && size <= r->size - offset)
        return r->bytes + offset;
    const ptx_grid *grid = w->run->grid;
    size_t low = 0, high = grid->range_count;
    while (low < high) { /* the first that ends behind the address */
        size_t middle = (low + high) / 2;
        r = &grid->ranges[middle];
        if (r->start + r->size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == grid->range_count)
        return outside(w, in, lane, address, size);
    r = &grid->ranges[low];
    offset = address - r->start;
    if (address < r->start || size > r->size - offset)
        return outside(w, in, lane, address, size);
    w->hints[in->slot] = r;
    return r->bytes + offset;
}

/* Bytes of a bank whose addresses begin at FIRST_ADDRESS, or NULL. */
static unsigned char *banked(unsigned char *bytes, uint64_t bank_size, uint64_t address,
                             unsigned size)
{
    uint64_t offset = address - FIRST_ADDRESS;
    return offset < bank_size && size <= bank_size - offset ? bytes + offset : NULL;
}

unsigned char *warp_address(warp *w, const instruction *in, int lane, uint64_t address,
                            unsigned size)
{
    space where = in->space;
    uint64_t inner = address;
    unsigned char *at = NULL;
    if (in->a.width == 4)
        inner = address = (uint32_t)address;
    if (address & (size - 1)) { /* sizes are powers of two */
        warp_fault(w, PTX_MISALIGNED, "lane %d accesses %u bytes at %#llx: not aligned", lane, size,
                   (unsigned long long)address);
        return NULL;
    }
    if (where == SPACE_GLOBAL)
        return global_address(w, in, lane, address, size);
    if (where == SPACE_GENERIC) {
        where = address - SHARED_WINDOW < WINDOW_SIZE  ? SPACE_SHARED
                : address - LOCAL_WINDOW < WINDOW_SIZE ? SPACE_LOCAL
                : address - PARAM_WINDOW < WINDOW_SIZE ? SPACE_PARAM
                                                       : SPACE_GLOBAL;
        if (where == SPACE_GLOBAL)
            return global_address(w, in, lane, address, size);
        inner = address % WINDOW_SIZE;
    }
    switch (where) {
    case SPACE_CONST:
        if (inner - FIRST_ADDRESS < w->run->program->module->const_bytes)
            return global_address(
                w, in, lane, w->run->program->module->const_start + inner - FIRST_ADDRESS, size);
        break;
    case SPACE_SHARED:
        at = banked(w->block->shared, w->block->shared_bytes, inner, size);
        break;
    case SPACE_PARAM:
        at = banked((unsigned char *)(uintptr_t)w->run->grid->parameters,
                    w->run->program->entry->parameter_bytes, inner, size);
        break;
    default:
        at = banked(w->frames + (uint64_t)lane * w->frame_bytes, w->frame_bytes, inner, size);
    }
    return at ? at : outside(w, in, lane, address, size);
}

static uint64_t lane_address(const warp *w, const instruction *in, int lane)
{
    return get_lane(w, in->a, lane) + (uint64_t)in->immediate;
}

#define FOR_LANES(mask)                                                                            \
    for (int lane = 0; lane < LANES; lane++)                                                       \
        if ((mask) >> lane & 1)

#define DEFINE_ACCESS(bits, bytes)                                                                 \
    void run_load_##bytes(warp *w, const instruction *in, uint32_t mask)                           \
    {                                                                                              \
        uint##bits##_t *d = source(w, in->d);                                                      \
        FOR_LANES(mask)                                                                            \
        {                                                                                          \
            void *at = warp_address(w, in, lane, lane_address(w, in, lane), bytes);                \
            if (!at)                                                                               \
                return;                                                                            \
            d[lane] = __atomic_load_n((uint##bits##_t *)at, __ATOMIC_ACQUIRE);                     \
        }                                                                                          \
    }                                                                                              \
    void run_store_##bytes(warp *w, const instruction *in, uint32_t mask)                          \
    {                                                                                              \
        const uint##bits##_t *b = source(w, in->b);                                                \
        FOR_LANES(mask)                                                                            \
        {                                                                                          \
            void *at = warp_address(w, in, lane, lane_address(w, in, lane), bytes);                \
            if (!at)                                                                               \
                return;                                                                            \
            __atomic_store_n((uint##bits##_t *)at, b[lane], __ATOMIC_RELEASE);                     \
        }                                                                                          \
    }
DEFINE_ACCESS(32, 4)
DEFINE_ACCESS(64, 8)

static uint64_t load_element(void *at, unsigned size, bool is_signed)
{
    switch (size) {
    case 1: {
        uint8_t value = __atomic_load_n((uint8_t *)at, __ATOMIC_ACQUIRE);
        return is_signed ? (uint64_t)(int64_t)(int8_t)value : value;
    }
    case 2: {
        uint16_t value = __atomic_load_n((uint16_t *)at, __ATOMIC_ACQUIRE);
        return is_signed ? (uint64_t)(int64_t)(int16_t)value : value;
    }
    case 4: {
        uint32_t value = __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
        return is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
    }
    default:
        return __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE);
    }
}

static void store_element(void *at, unsigned size, uint64_t value)
{
    switch (size) {
    case 1:
        __atomic_store_n((uint8_t *)at, (uint8_t)value, __ATOMIC_RELEASE);
        break;
    case 2:
        __atomic_store_n((uint16_t *)at, (uint16_t)value, __ATOMIC_RELEASE);
        break;
    case 4:
        __atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELEASE);
        break;
    default:
        __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELEASE);
    }
}

/* The address is looked at whole, before a register changes that it may lie in. */
void run_load(warp *w, const instruction *in, uint32_t mask)
{
    FOR_LANES(mask)
    {
        unsigned char *at =
            warp_address(w, in, lane, lane_address(w, in, lane), (unsigned)in->size * in->count);
        if (!at)
            return;
        for (unsigned k = 0; k < in->count; k++)
            put_lane(w, in->more[k], lane,
                     load_element(at + (size_t)k * in->size, in->size, in->is_signed));
    }
}

void run_store(warp *w, const instruction *in, uint32_t mask)
{
    FOR_LANES(mask)
    {
        unsigned char *at =
            warp_address(w, in, lane, lane_address(w, in, lane), (unsigned)in->size * in->count);
        if (!at)
            return;
        for (unsigned k = 0; k < in->count; k++)
            store_element(at + (size_t)k * in->size, in->size, get_lane(w, in->more[k], lane));
    }
}

/* All lanes read the same. */
void run_load_param(warp *w, const instruction *in, uint32_t mask)
{
    unsigned char *at =
        warp_address(w, in, 0, lane_address(w, in, 0), (unsigned)in->size * in->count);
    if (!at)
        return;
    for (unsigned k = 0; k < in->count; k++) {
        uint64_t value = load_element(at + (size_t)k * in->size, in->size, in->is_signed);
        FOR_LANES(mask)
        put_lane(w, in->more[k], lane, value);
    }
}

/* --- addresses ----------------------------------------------------------------------------------
 */
static uint64_t window_of(unsigned where, const warp *w)
{
    switch (where) {
    case SPACE_SHARED:
        return SHARED_WINDOW;
    case SPACE_LOCAL:
        return LOCAL_WINDOW;
    case SPACE_PARAM:
        return PARAM_WINDOW;
    case SPACE_CONST:
        return w->run->program->module->const_start - FIRST_ADDRESS;
    default:
        return 0;
    }
}

void run_convert_address(warp *w, const instruction *in, uint32_t mask)
{
    const uint64_t *a = source(w, in->a);
    uint64_t d[LANES], window = window_of(in->space, w);
    for (int i = 0; i < LANES; i++)
        d[i] = in->operation ? a[i] - window : a[i] + window;
    put64(w, in->d, mask, d);
}

void run_is_space(warp *w, const instruction *in, uint32_t mask)
{
    const uint64_t *a = source(w, in->a);
    uint64_t start = window_of(in->space, w), size = WINDOW_SIZE;
    uint32_t result = 0;
    if (in->space == SPACE_CONST) {
        start = w->run->program->module->const_start;
        size = w->run->program->module->const_bytes;
    }
    for (int i = 0; i < LANES; i++) {
        bool yes = in->space == SPACE_GLOBAL
                       ? a[i] - SHARED_WINDOW >= 3 * (LOCAL_WINDOW - SHARED_WINDOW)
                       : a[i] - start < size;
        result |= (uint32_t)yes << i;
    }
    put_predicate(w, in->d, mask, result);
}

void run_fence(warp *w, const instruction *in, uint32_t mask)
{
    (void)w, (void)in, (void)mask;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* --- registers ----------------------------------------------------------------------------------
 */
static void run_move_2(warp *w, const instruction *in, uint32_t mask)
{
    put16(w, in->d, mask, source(w, in->a));
}

static void run_move_4(warp *w, const instruction *in, uint32_t mask)
{
    put32(w, in->d, mask, source(w, in->a));
}

static void run_move_8(warp *w, const instruction *in, uint32_t mask)
{
    put64(w, in->d, mask, source(w, in->a));
}

executor move_executor(unsigned width)
{
    return width == 2 ? run_move_2 : width == 4 ? run_move_4 : run_move_8;
}

/* The first element is the lowest. */
void run_pack(warp *w, const instruction *in, uint32_t mask)
{
    FOR_LANES(mask)
    {
        uint64_t value = 0;
        for (unsigned k = 0; k < in->more_count; k++)
            value |= get_lane(w, in->more[k], lane) << (8 * in->d.width / in->more_count * k);
        put_lane(w, in->d, lane, value);
    }
}

void run_unpack(warp *w, const instruction *in, uint32_t mask)
{
    FOR_LANES(mask)
    {
        uint64_t value = get_lane(w, in->a, lane);
        for (unsigned k = 0; k < in->more_count; k++)
            put_lane(w, in->more[k], lane, value >> (8 * in->a.width / in->more_count * k));
    }
}

/* Counters of time: instructions of the warp, and nanoseconds are not told from them. */
void run_clock(warp *w, const instruction *in, uint32_t mask)
{
    FOR_LANES(mask)
    put_lane(w, in->d, lane, w->lane_instructions);
}

void run_nothing(warp *w, const instruction *in, uint32_t mask)
{
    (void)w, (void)in, (void)mask;
}

void run_trap(warp *w, const instruction *in, uint32_t mask)
{
    (void)in;
    warp_fault(w, PTX_FAILED, "trap in lane %d", __builtin_ctz(mask));
}
