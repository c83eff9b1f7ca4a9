/* SPDX-License-Identifier: Apache-2.0 */
/* Heap allocation: checked products, zeroed memory, and the hook that makes allocations fail. */
#include "cmocka_all.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"

static void alloc_is_zeroed(void **state)
{
    unsigned char *bytes = ls__mem_alloc(1000, 3);
    assert_non_null(bytes);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    ls__mem_free(bytes);
}

static void data_is_aligned_and_zeroed(void **state)
{
    static const size_t sizes[] = {0, 1, 65, ((size_t)1 << 21) - 1, (size_t)1 << 21, 5000001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        unsigned char *data = ls__mem_alloc_data(bytes);
        assert_non_null(data);
        assert_int_equal((uintptr_t)data % 64, 0);
        for (size_t k = 0; k < bytes; k++)
            assert_true(data[k] == 0);
        memset(data, 0xff, bytes);
        ls__mem_free_data(data, bytes);
    }
    volatile size_t huge = SIZE_MAX;
    assert_null(ls__mem_alloc_data(huge));
    ls__mem_fail_after(1);
    assert_null(ls__mem_alloc_data(8));
    ls__mem_fail_after(0);
    ls__mem_free_data(NULL, 8);
}

static void zero_bytes_are_a_pointer(void **state)
{
    void *none = ls__mem_alloc(0, 8);
    assert_non_null(none);
    none = ls__mem_realloc(none, 0, 8);
    assert_non_null(none);
    ls__mem_free(none);
    ls__mem_free(NULL);
}

static void overflow_is_refused(void **state)
{
    volatile size_t huge = SIZE_MAX; /* volatile: the compiler would warn of the constant */
    assert_null(ls__mem_alloc(huge / 2 + 1, 2));
    char *old = ls__mem_alloc(4, 1);
    memcpy(old, "abc", 4);
    assert_null(ls__mem_realloc(old, huge / 4 + 1, 4));
    assert_string_equal(old, "abc");
    ls__mem_free(old);
}

static void realloc_keeps_bytes(void **state)
{
    char *text = ls__mem_strdup("kernel");
    text = ls__mem_realloc(text, 100, 100);
    assert_string_equal(text, "kernel");
    ls__mem_free(text);
}

static void nth_and_later_fail(void **state)
{
    ls__mem_fail_after(3);
    void *first = ls__mem_alloc(1, 1);
    char *second = ls__mem_strdup("x");
    assert_non_null(first);
    assert_non_null(second);
    assert_null(ls__mem_alloc(1, 1));
    assert_null(ls__mem_strdup("y"));
    assert_null(ls__mem_realloc(second, 100, 1));
    assert_string_equal(second, "x");
    ls__mem_fail_after(0);
    void *later = ls__mem_alloc(1, 1);
    assert_non_null(later);
    ls__mem_free(first);
    ls__mem_free(second);
    ls__mem_free(later);
}

static void *alloc_in_thread(void *unused)
{
    (void)unused;
    return ls__mem_alloc(1, 1);
}

static void hook_is_per_thread(void **state)
{
    pthread_t thread;
    void *memory = NULL;
    ls__mem_fail_after(1);
    int result = pthread_create(&thread, NULL, alloc_in_thread, NULL);
    assert_int_equal(result, 0);
    pthread_join(thread, &memory);
    assert_non_null(memory);
    assert_null(ls__mem_alloc(1, 1));
    ls__mem_fail_after(0);
    ls__mem_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_is_zeroed),          cmocka_unit_test(data_is_aligned_and_zeroed),
        cmocka_unit_test(zero_bytes_are_a_pointer), cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(realloc_keeps_bytes),      cmocka_unit_test(nth_and_later_fail),
        cmocka_unit_test(hook_is_per_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
