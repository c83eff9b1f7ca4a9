/* SPDX-License-Identifier: Apache-2.0 */
/* setp and set: comparisons, each with what an unordered pair gives, and the predicate that is
 * combined with them. */
#include "parser.h"
#include "warp.h"

/* Sets `result`, a mask over the lanes. */
#define COMPARE_LANES(test)                                                                        \
    for (int i = 0; i < LANES; i++)                                                                \
        result |= (uint32_t)(test) << i;                                                           \
    break

#define DEFINE_ORDER(id, T)                                                                        \
    static uint32_t order_##id(unsigned compare, const T *x, const T *y)                           \
    {                                                                                              \
        uint32_t result = 0;                                                                       \
        switch (compare) {                                                                         \
        case COMPARE_EQ:                                                                           \
            COMPARE_LANES(x[i] == y[i]);                                                           \
        case COMPARE_NE:                                                                           \
            COMPARE_LANES(x[i]<y[i] || x[i]> y[i]);                                                \
        case COMPARE_LT:                                                                           \
            COMPARE_LANES(x[i] < y[i]);                                                            \
        case COMPARE_LE:                                                                           \
            COMPARE_LANES(x[i] <= y[i]);                                                           \
        case COMPARE_GT:                                                                           \
            COMPARE_LANES(x[i] > y[i]);                                                            \
        case COMPARE_GE:                                                                           \
            COMPARE_LANES(x[i] >= y[i]);                                                           \
        case COMPARE_EQU:                                                                          \
            COMPARE_LANES(!(x[i] < y[i] || x[i] > y[i]));                                          \
        case COMPARE_NEU:                                                                          \
            COMPARE_LANES(!(x[i] == y[i]));                                                        \
        case COMPARE_LTU:                                                                          \
            COMPARE_LANES(!(x[i] >= y[i]));                                                        \
        case COMPARE_LEU:                                                                          \
            COMPARE_LANES(!(x[i] > y[i]));                                                         \
        case COMPARE_GTU:                                                                          \
            COMPARE_LANES(!(x[i] <= y[i]));                                                        \
        case COMPARE_GEU:                                                                          \
            COMPARE_LANES(!(x[i] < y[i]));                                                         \
        case COMPARE_NUM:                                                                          \
            COMPARE_LANES(x[i] == x[i] && y[i] == y[i]);                                           \
        default:                                                                                   \
            COMPARE_LANES(x[i] != x[i] || y[i] != y[i]);                                           \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    static uint32_t compare_##id(const warp *w, const instruction *in)                             \
    {                                                                                              \
        return order_##id(in->compare, source(w, in->a), source(w, in->b));                        \
    }                                                                                              \
    static void run_setp_##id(warp *w, const instruction *in, uint32_t mask)                       \
    {                                                                                              \
        set_predicates(w, in, mask, compare_##id(w, in));                                          \
    }                                                                                              \
    static void run_set_##id(warp *w, const instruction *in, uint32_t mask)                        \
    {                                                                                              \
        set_values(w, in, mask, compare_##id(w, in));                                              \
    }

/* `result` with the predicate c, by .and, .or, .xor */
static uint32_t combined(const warp *w, const instruction *in, uint32_t result)
{
    uint32_t with = in->combine ? predicate(w, in->c) : 0;
    return in->combine == 1 ? result & with : in->combine == 2 ? result | with : result ^ with;
}

/* d|q: q is of the comparison's opposite. */
static void set_predicates(warp *w, const instruction *in, uint32_t mask, uint32_t result)
{
    uint32_t first = combined(w, in, result), second = combined(w, in, ~result);
    put_predicate(w, in->d, mask, first);
    if (in->d2.width)
        put_predicate(w, in->d2, mask, second);
}

/* All ones, or 1.0 */
static void set_values(warp *w, const instruction *in, uint32_t mask, uint32_t result)
{
    uint32_t d[LANES], yes = in->type_d == TYPE_F32 ? 0x3f800000u : UINT32_MAX;
    result = combined(w, in, result);
    for (int i = 0; i < LANES; i++)
        d[i] = result >> i & 1 ? yes : 0;
    put32(w, in->d, mask, d);
}

#define TYPES(X)                                                                                   \
    X(u16, uint16_t)                                                                               \
    X(s16, int16_t)                                                                                \
    X(u32, uint32_t)                                                                               \
    X(s32, int32_t)                                                                                \
    X(u64, uint64_t)                                                                               \
    X(s64, int64_t)                                                                                \
    X(f32, float)                                                                                  \
    X(f64, double)
#define X(id, T) DEFINE_ORDER(id, T)
TYPES(X)
#undef X

/* Halves and bfloats are compared as what they are in 32 bits. */
static void run_setp_small(warp *w, const instruction *in, uint32_t mask)
{
    float x[LANES], y[LANES];
    for (int i = 0; i < LANES; i++) {
        x[i] = small_to_float(get_lane(w, in->a, i), in->type_a);
        y[i] = small_to_float(get_lane(w, in->b, i), in->type_a);
    }
    set_predicates(w, in, mask, order_f32(in->compare, x, y));
}

executor setp_executor(unsigned type)
{
    static const executor by_type[TYPE_PRED + 1] = {
        [TYPE_B16] = run_setp_u16,    [TYPE_U16] = run_setp_u16, [TYPE_S16] = run_setp_s16,
        [TYPE_B32] = run_setp_u32,    [TYPE_U32] = run_setp_u32, [TYPE_S32] = run_setp_s32,
        [TYPE_B64] = run_setp_u64,    [TYPE_U64] = run_setp_u64, [TYPE_S64] = run_setp_s64,
        [TYPE_F32] = run_setp_f32,    [TYPE_F64] = run_setp_f64, [TYPE_F16] = run_setp_small,
        [TYPE_BF16] = run_setp_small,
    };
    return by_type[type];
}

executor set_executor(unsigned type)
{
    static const executor by_type[TYPE_PRED + 1] = {
        [TYPE_B16] = run_set_u16, [TYPE_U16] = run_set_u16, [TYPE_S16] = run_set_s16,
        [TYPE_B32] = run_set_u32, [TYPE_U32] = run_set_u32, [TYPE_S32] = run_set_s32,
        [TYPE_B64] = run_set_u64, [TYPE_U64] = run_set_u64, [TYPE_S64] = run_set_s64,
        [TYPE_F32] = run_set_f32, [TYPE_F64] = run_set_f64,
    };
    return by_type[type];
}
