/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: alignment, zeroed memory, its limit, and the jump on out of memory at each
 * allocation. */
#include "cmocka_all.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

typedef LS__VEC(uint32_t) u32_vec;

/* What an entry point of the compiler looks like: some allocations of each kind. */
static ls_status build(size_t limit_bytes, uint32_t count, uint64_t *sum, ls_error *error)
{
    ls__oom oom;
    ls__arena arena;
    ls__arena_init(&arena, &oom, limit_bytes);
    if (setjmp(oom.jump)) {
        ls__arena_finish(&arena);
        return ls__oom_status(&oom, error);
    }
    u32_vec *vec = LS__NEW(&arena, u32_vec);
    for (uint32_t i = 0; i < count; i++) {
        ls__vec_push(&arena, vec, i);
        char *name = ls__arena_printf(&arena, "value %u", i);
        assert_string_equal(ls__arena_strdup(&arena, name, 5), "value");
    }
    *sum = 0;
    for (uint32_t i = 0; i < vec->count; i++)
        *sum += vec->items[i];
    ls__arena_finish(&arena);
    return LS_OK;
}

static void memory_is_zeroed_and_aligned(void **state)
{
    ls__oom oom;
    ls__arena arena;
    ls__arena_init(&arena, &oom, 0);
    for (size_t size = 0; size < 9000; size = size * 2 + 1) {
        unsigned char *bytes = ls__arena_alloc(&arena, 1, size);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(bytes[i], 0);
        memset(bytes, 0xff, size);
    }
    assert_true(arena.used_bytes >= 8191);
    ls__arena_finish(&arena);
    ls__arena_finish(&arena);
}

/* Takes blocks from `spare` before it asks for memory, which it does not get when it may not. */
static void use_and_give_back(struct ls__arena_block **spare, bool may_ask)
{
    ls__oom oom;
    ls__arena arena;
    ls__arena_init(&arena, &oom, 0);
    arena.spare = spare;
    assert_int_equal(setjmp(oom.jump), 0);
    if (!may_ask)
        ls__mem_fail_after(1);
    for (size_t size = 1; size < 3000000; size = size * 3 + 1) {
        unsigned char *bytes = ls__arena_alloc(&arena, 1, size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(bytes[i], 0);
        memset(bytes, 0xff, size);
    }
    ls__mem_fail_after(0);
    ls__arena_alloc(&arena, 5, 1 << 20);
    ls__arena_finish(&arena);
}

/* What one arena gives back serves the next one, zeroed, but for a very large piece. */
static void blocks_are_kept(void **state)
{
    struct ls__arena_block *spare = NULL;
    for (int round = 0; round < 3; round++) {
        use_and_give_back(&spare, round == 0);
        assert_non_null(spare);
    }
    ls__arena_free_spare(&spare);
    assert_null(spare);
}

static void finish_accepts_zeroed(void **state)
{
    ls__arena arena = {0};
    ls__arena_finish(&arena);
    assert_null(arena.blocks);
}

static void vector_keeps_its_items(void **state)
{
    uint64_t sum = 0;
    assert_int_equal(build(0, 10000, &sum, NULL), LS_OK);
    assert_int_equal(sum, UINT64_C(10000) * 9999 / 2);
}

static void limit_is_kept(void **state)
{
    uint64_t sum = 0;
    ls_error error;
    assert_int_equal(build(100000, 100000, &sum, &error), LS_E_LIMIT);
    assert_int_equal(error.code, LS_E_LIMIT);
    assert_int_equal(build(100000, 10, &sum, &error), LS_OK);
}

static void every_failing_allocation_is_clean(void **state)
{
    uint64_t sum = 0;
    uint64_t n = 1;
    for (;; n++) {
        ls_error error = {0};
        ls__mem_fail_after(n);
        ls_status status = build(0, 2000, &sum, &error);
        ls__mem_fail_after(0);
        if (status == LS_OK)
            break;
        assert_int_equal(status, LS_E_OUT_OF_MEMORY);
        assert_int_equal(error.code, LS_E_OUT_OF_MEMORY);
    }
    assert_true(n > 2);
}

static void overflow_is_out_of_memory(void **state)
{
    ls__oom oom;
    ls__arena arena;
    volatile size_t huge = SIZE_MAX;
    volatile int jumps = 0;
    ls__arena_init(&arena, &oom, 0);
    if (setjmp(oom.jump))
        jumps++;
    if (jumps == 0)
        ls__arena_alloc(&arena, huge / 2, 3);
    if (jumps == 1)
        ls__arena_alloc(&arena, huge - 20, 1);
    if (jumps == 2)
        ls__arena_strdup(&arena, "", huge);
    assert_int_equal(jumps, 3);
    assert_int_equal(ls__oom_status(&oom, NULL), LS_E_OUT_OF_MEMORY);
    ls__arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(blocks_are_kept),
        cmocka_unit_test(finish_accepts_zeroed),
        cmocka_unit_test(vector_keeps_its_items),
        cmocka_unit_test(limit_is_kept),
        cmocka_unit_test(every_failing_allocation_is_clean),
        cmocka_unit_test(overflow_is_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
