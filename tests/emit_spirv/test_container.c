/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as texts; containers whole, cut short, and with each word of their tables changed. */
#include <string.h>

#include "../base/cmocka_all.h"
#include "base/mem.h"
#include "emit/spirv/abi.h"
#include "emit/spirv/target.h"
#include "ir/lowering.h"
#include "validate.h"

static const char program[] = "static const u32 table[3] = {1, 2, 3};\n"
                              "kernel void a(u32 n, u32 *y) { y[global_id(0)] = table[n]; }\n"
                              "kernel workgroup(4, 2) void b(const f32 *x, u32 *y)\n"
                              "{\n"
                              "    if (x[0] > 1.0f)\n"
                              "        trap(3);\n"
                              "    y[0] = 1;\n"
                              "}\n";

static void targets_as_texts(void **state)
{
    static const char *const bad[] = {
        "",    "vulkan",        "vulkan1.2+",    "vulkan1.3", "vulkan1.2+avx2",  "vulkan1.2+i8+i8",
        "+i8", "vulkan1.2 +i8", "vulkan1.2+i8+", "i8",        "vulkan1.2+szinp", NULL};
    char text[LS__SPIRV_TARGET_BYTES];
    ls__spirv_target target, least, all;
    for (int i = 0; bad[i]; i++)
        assert_false(ls__spirv_target_parse(bad[i], &target));
    for (int i = 0; ls__spirv_targets[i]; i++) {
        assert_true(ls__spirv_target_parse(ls__spirv_targets[i], &target));
        ls__spirv_target_print(&target, text);
        assert_string_equal(text, ls__spirv_targets[i]);
    }
    assert_true(ls__spirv_target_parse("vulkan1.2", &least));
    memset(&all, 1, sizeof all);
    ls__spirv_target_print(&all, text);
    assert_true(ls__spirv_target_parse(text, &target));
    assert_memory_equal(&target, &all, sizeof all);
    assert_true(ls__spirv_target_runs(&least, &all));
    assert_false(ls__spirv_target_runs(&all, &least));
    assert_true(ls__spirv_lowering("vulkan1.2") & LS__LOWER_DIV);
    assert_false(ls__spirv_lowering(text) & LS__LOWER_DIV);
}

static uint8_t *build(size_t *size)
{
    ls__spirv_try how = {.target = "vulkan1.2", .optimize = true};
    ls__ir_module *module = ls__spirv_compile(program, strlen(program), "program.kc");
    assert_non_null(module);
    uint8_t *bytes = ls__spirv_build(module, &how, size);
    assert_non_null(bytes);
    ls__ir_module_destroy(&module);
    return bytes;
}

static void a_container_says_what_it_holds(void **state)
{
    size_t size;
    ls__spirv_view view;
    ls_error error = {0};
    uint8_t *bytes = build(&size);
    assert_int_equal(ls__spirv_read(bytes, size, &view, &error), LS_OK);
    assert_int_equal(view.kernel_count, 2);
    const ls__spirv_kernel *a = &view.kernels[0], *b = &view.kernels[1];
    assert_int_equal(a->flags, 0);
    assert_int_equal(a->workgroup[0], 64);
    assert_int_equal(a->buffer_count, 1);
    assert_int_equal(a->scalar_bytes, 4);
    assert_int_equal(a->shared_bytes, 0);
    assert_int_equal(b->flags, LS__SPIRV_MAY_TRAP | LS__SPIRV_BARRIERS);
    assert_int_equal(b->workgroup[1], 2);
    assert_int_equal(b->buffer_count, 2);
    assert_true(b->shared_bytes > 0);
    assert_true(view.table_size >= 12);
    assert_int_equal(view.tables[8], 3);
    ls__mem_free(bytes);
}

/* Bytes at the exact end of an allocation, so that a sanitizer sees reads behind it. */
static ls_status read_copy(const uint8_t *bytes, size_t size)
{
    ls__spirv_view view;
    uint8_t *copy = ls__mem_alloc(size, 1);
    memcpy(copy, bytes, size);
    ls_status status = ls__spirv_read(copy, size, &view, NULL);
    for (uint32_t i = 0; status == LS_OK && i < view.kernel_count; i++) {
        const uint32_t *words = ls__spirv_words(copy, &view.kernels[i]);
        assert_true(words[0] + words[view.kernels[i].word_count - 1] != 1);
    }
    ls__mem_free(copy);
    return status;
}

static void damage_is_refused(void **state)
{
    size_t size, head = sizeof(ls__spirv_header) + 2 * sizeof(ls__spirv_kernel);
    static const uint32_t changes[] = {1, 0x80000000, 0x10000, 0xffffffff};
    uint8_t *bytes = build(&size);
    assert_int_equal(read_copy(bytes, size), LS_OK);
    for (size_t cut = 0; cut < size; cut += cut < head ? 1 : 97)
        assert_int_equal(read_copy(bytes, cut), LS_E_FORMAT);
    for (size_t at = 0; at < head; at += 4) {
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
            uint32_t word, changed;
            memcpy(&word, bytes + at, 4);
            changed = word ^ changes[i];
            memcpy(bytes + at, &changed, 4);
            read_copy(bytes, size); /* what it does not refuse can be read */
            memcpy(bytes + at, &word, 4);
        }
    }
    bytes[0] ^= 1;
    assert_int_equal(read_copy(bytes, size), LS_E_FORMAT);
    ls__mem_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_as_texts),
        cmocka_unit_test(a_container_says_what_it_holds),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
