/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as texts; containers whole, cut at every length, and with each word changed. */
#include <string.h>

#include "../base/cmocka_all.h"
#include "base/mem.h"
#include "emit/ptx/abi.h"
#include "emit/ptx/target.h"
#include "ir/lowering.h"

static void targets_as_texts(void **state)
{
    static const char *const bad[] = {"",           "sm_70",     "sm_100",     "sm_75+",
                                      "sm_80+fast", "sm_80+gri", "compute_80", "sm_80+grid+grid",
                                      "80",         NULL};
    ls__ptx_target target;
    for (int i = 0; bad[i]; i++)
        assert_false(ls__ptx_target_parse(bad[i], &target));
    assert_true(ls__ptx_target_parse("sm_80", &target));
    assert_int_equal(target.architecture, 80);
    assert_false(target.grid);
    assert_true(ls__ptx_target_parse("sm_90+grid", &target));
    assert_int_equal(target.architecture, 90);
    assert_true(target.grid);
    assert_int_equal(ls__ptx_lowering("sm_75"), LS__LOWER_GRID_BARRIER);
    assert_int_equal(ls__ptx_lowering("sm_75+grid"), 0);
}

static void a_device_has_a_target(void **state)
{
    assert_null(ls__ptx_target_for(7, 0, false));
    assert_null(ls__ptx_target_for(6, 9, true));
    assert_string_equal(ls__ptx_target_for(7, 5, false), "sm_75");
    assert_string_equal(ls__ptx_target_for(8, 0, false), "sm_80");
    assert_string_equal(ls__ptx_target_for(8, 9, true), "sm_80+grid");
    assert_string_equal(ls__ptx_target_for(9, 0, false), "sm_90");
    assert_string_equal(ls__ptx_target_for(10, 0, false), "sm_90");
    assert_string_equal(ls__ptx_target_for(12, 1, true), "sm_90+grid");
}

/* --- containers ------------------------------------------------------------------------------- */

static const char text[] = ".version 6.3\n.target sm_75\n.address_size 64\n";
enum { TEXT = sizeof text - 1 };

typedef struct container {
    ls__ptx_header header;
    ls__ptx_kernel kernels[2];
    char text[TEXT + 1];
} container;

enum { SIZE = offsetof(container, text) + TEXT + 1 };

static container make(void)
{
    container c = {
        .header = {.magic = LS__PTX_MAGIC,
                   .version = LS__PTX_ABI_VERSION,
                   .kernel_count = 2,
                   .architecture = 75,
                   .size = SIZE,
                   .text_offset = offsetof(container, text),
                   .text_size = TEXT},
        .kernels = {{.function = 1,
                     .workgroup = {64, 1, 1},
                     .flags = LS__PTX_POLLS,
                     .buffer_count = 2,
                     .scalar_bytes = 8,
                     .parameter_bytes = sizeof(ls__ptx_call) + 2 * sizeof(ls__ptx_buffer) + 8},
                    {.function = 3,
                     .workgroup = {8, 8, 16},
                     .flags = LS__PTX_FLAGS,
                     .shared_bytes = 1024,
                     .parameter_bytes = sizeof(ls__ptx_call)}},
    };
    memcpy(c.text, text, sizeof text);
    return c;
}

/* Bytes at the exact end of an allocation, so that a sanitizer sees reads behind it. */
static ls_status read_copy(const container *c, size_t size)
{
    ls__ptx_view view;
    char *copy = ls__mem_alloc(size ? size : 1, 1);
    assert_non_null(copy);
    if (size)
        memcpy(copy, c, size);
    ls_status status = ls__ptx_read(copy, size, &view, NULL);
    if (status == LS_OK) {
        assert_int_equal(strlen(view.text), view.text_size);
        for (uint32_t i = 0; i < view.kernel_count; i++)
            assert_true(view.kernels[i].parameter_bytes <= LS__PTX_MAX_PARAMETER_BYTES);
    }
    ls__mem_free(copy);
    return status;
}

static void a_container_says_what_it_holds(void **state)
{
    container c = make();
    ls__ptx_view view;
    assert_int_equal(ls__ptx_read(&c, SIZE, &view, NULL), LS_OK);
    assert_int_equal(view.kernel_count, 2);
    assert_int_equal(view.architecture, 75);
    assert_int_equal(view.kernels[1].function, 3);
    assert_int_equal(view.kernels[1].workgroup[2], 16);
    assert_string_equal(view.text, text);
    assert_int_equal(view.text_size, TEXT);
}

static void every_length_but_its_own_is_refused(void **state)
{
    container c = make();
    assert_int_equal(read_copy(&c, SIZE), LS_OK);
    for (size_t cut = 0; cut < SIZE; cut++)
        assert_int_equal(read_copy(&c, cut), LS_E_FORMAT);
    for (size_t cut = 0; cut < SIZE; cut++) { /* also when the header agrees */
        c.header.size = cut;
        assert_int_equal(read_copy(&c, cut), LS_E_FORMAT);
    }
}

typedef void damage(container *c);

#define DAMAGE(name, what)                                                                         \
    static void name(container *c)                                                                 \
    {                                                                                              \
        what;                                                                                      \
    }
DAMAGE(other_magic, c->header.magic++)
DAMAGE(other_version, c->header.version++)
DAMAGE(too_many_kernels, c->header.kernel_count = 1000)
DAMAGE(countless_kernels, c->header.kernel_count = UINT32_MAX)
DAMAGE(text_behind_the_end, c->header.text_offset = SIZE)
DAMAGE(text_far_away, c->header.text_offset = UINT64_MAX - 8)
DAMAGE(text_too_long, c->header.text_size++)
DAMAGE(text_of_any_size, c->header.text_size = UINT64_MAX)
DAMAGE(text_cut, c->header.text_size--)
DAMAGE(text_with_a_hole, c->text[5] = 0)
DAMAGE(text_without_end, c->text[TEXT] = 'x')
DAMAGE(workgroup_of_nothing, c->kernels[0].workgroup[1] = 0)
DAMAGE(workgroup_too_large, c->kernels[0].workgroup[0] = 1025)
DAMAGE(workgroup_too_many, c->kernels[1].workgroup[2] = 17)
DAMAGE(unknown_flag, c->kernels[0].flags = LS__PTX_FLAGS + 1)
DAMAGE(too_many_buffers, c->kernels[0].buffer_count = LS__PTX_MAX_BUFFERS + 1)
DAMAGE(other_buffers, c->kernels[0].buffer_count++)
DAMAGE(other_scalars, c->kernels[0].scalar_bytes += 4)
DAMAGE(parameters_too_large, c->kernels[0].scalar_bytes += 4096;
       c->kernels[0].parameter_bytes += 4096)
DAMAGE(parameters_wrap, c->kernels[0].scalar_bytes = UINT32_MAX;
       c->kernels[0].parameter_bytes = 96 + 32 - 1)
DAMAGE(no_function, c->kernels[0].function = 0)

static void damage_is_refused(void **state)
{
    static damage *const damages[] = {
        other_magic,          other_version,       too_many_kernels,
        countless_kernels,    text_behind_the_end, text_far_away,
        text_too_long,        text_of_any_size,    text_cut,
        text_with_a_hole,     text_without_end,    workgroup_of_nothing,
        workgroup_too_large,  workgroup_too_many,  unknown_flag,
        too_many_buffers,     other_buffers,       other_scalars,
        parameters_too_large, parameters_wrap,     no_function};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        container c = make();
        damages[i](&c);
        if (read_copy(&c, SIZE) != LS_E_FORMAT)
            fail_msg("damage %zu was not refused", i);
    }
}

static void any_word_may_change(void **state)
{
    static const uint32_t changes[] = {1, 0x80000000, 0x10000, 0xffffffff};
    for (size_t at = 0; at < offsetof(container, text); at += 4) {
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
            container c = make();
            uint32_t word;
            memcpy(&word, (char *)&c + at, 4);
            word ^= changes[i];
            memcpy((char *)&c + at, &word, 4);
            read_copy(&c, SIZE); /* what it does not refuse can be read */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_as_texts),
        cmocka_unit_test(a_device_has_a_target),
        cmocka_unit_test(a_container_says_what_it_holds),
        cmocka_unit_test(every_length_but_its_own_is_refused),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(any_word_may_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
