/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object loader on what is not a good object: every prefix of one, and one with bytes changed,
 * from heap copies of the exact size, so that a sanitizer sees a read beyond. What still loads is
 * not run.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "../base/cmocka_all.h"

#include "base/mem.h"
#include "base/rng.h"
#include "device/cpu/loader.h"
#include "emit/llvm/abi.h"
#include "emit/llvm/emit.h"
#include "harness.h"

static uint8_t *object;
static size_t object_size;

static const char source[] = "static const u32 table[4] = {1, 2, 3, 4};\n"
                             "noinline u32 f(u32 x) { return x * table[x & 3]; }\n"
                             "kernel void k(u32 *y)\n{\n"
                             "    u32 big[64];\n    big[global_id(0) & 63] = 1;\n"
                             "    y[global_id(0)] = f(global_id(0)) + big[3];\n}\n";

static ls_status load(const void *bytes, size_t size, ls__cpu_object **loaded)
{
    ls_error error = {0};
    uint8_t *copy = ls__mem_alloc(size, 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    ls_status status = ls__cpu_object_load(copy, size, loaded, &error);
    ls__mem_free(copy);
    assert_int_equal(status != LS_OK, *loaded == NULL);
    assert_int_equal(status != LS_OK, error.message[0] != 0);
    return status;
}

static void test_good(void **state)
{
    (void)state;
    ls__cpu_object *loaded;
    assert_int_equal(load(object, object_size, &loaded), LS_OK);
    assert_non_null(ls__cpu_object_symbol(loaded, LS__CPU_INFO_SYMBOL "2", 16));
    assert_null(ls__cpu_object_symbol(loaded, LS__CPU_INFO_SYMBOL "2", 17));
    assert_non_null(ls__cpu_object_symbol(loaded, LS__CPU_KERNEL_SYMBOL "2", 1));
    assert_null(ls__cpu_object_symbol(loaded, LS__CPU_KERNEL_SYMBOL "9", 1));
    ls__cpu_object_unload(&loaded);
    assert_null(loaded);
    ls__cpu_object_unload(&loaded);
}

static void test_prefixes(void **state)
{
    (void)state;
    for (size_t size = 0; size < object_size; size += size < 128 ? 1 : 37) {
        ls__cpu_object *loaded;
        assert_int_equal(load(object, size, &loaded), LS_E_FORMAT);
    }
}

static void test_changed_bytes(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    ls__rng rng = {7};
    unsigned refused = 0;
    for (int i = 0; i < 4000; i++) {
        ls__cpu_object *loaded;
        uint8_t *changed = ls__mem_alloc(object_size, 1);
        memcpy(changed, object, object_size);
        for (uint32_t k = 0; k <= ls__rng_below(&rng, 3); k++) {
            /* Half of the changes go to the headers and tables, which stand at both ends. */
            uint32_t at = ls__rng_below(&rng, (uint32_t)object_size);
            if (k == 0 && i % 2)
                at = i % 4 == 1 ? ls__rng_below(&rng, 64)
                                : (uint32_t)object_size - 1 - ls__rng_below(&rng, 700);
            changed[at] = values[ls__rng_below(&rng, sizeof values)];
        }
        refused += load(changed, object_size, &loaded) != LS_OK;
        ls__cpu_object_unload(&loaded);
        ls__mem_free(changed);
    }
    assert_true(refused > 200);
}

/* Whatever a section's type is, it is in the file, or is refused. */
static void test_sections_beyond_the_file(void **state)
{
    (void)state;
    Elf64_Ehdr header;
    memcpy(&header, object, sizeof header);
    for (uint32_t i = 1; i < header.e_shnum; i++) {
        for (uint32_t type = SHT_NULL; type < SHT_NOBITS; type++) {
            ls__cpu_object *loaded;
            Elf64_Shdr section;
            uint8_t *changed = ls__mem_alloc(object_size, 1);
            uint8_t *place = changed + header.e_shoff + i * sizeof section;
            memcpy(changed, object, object_size);
            memcpy(&section, place, sizeof section);
            section.sh_type = type;
            section.sh_flags |= SHF_ALLOC;
            section.sh_size = object_size + 1;
            memcpy(place, &section, sizeof section);
            assert_int_equal(load(changed, object_size, &loaded), LS_E_FORMAT);
            ls__mem_free(changed);
        }
    }
}

/* A call of something else than the three functions. */
static void test_outside_function(void **state)
{
    (void)state;
    ls__cpu_object *loaded;
    uint8_t *changed = ls__mem_alloc(object_size, 1);
    memcpy(changed, object, object_size);
    bool found = false;
    for (size_t i = 0; i + 7 < object_size; i++) {
        if (memcmp(changed + i, "memset", 7) == 0) {
            memcpy(changed + i, "system", 7);
            found = true;
        }
    }
    assert_true(found);
    assert_int_equal(load(changed, object_size, &loaded), LS_E_FORMAT);
    ls__mem_free(changed);
}

int main(void)
{
    ls_error error = {0};
    void *bytes;
    ls__ir_module *module = ls__compile_text(source, "loader.kc");
    if (!module || ls__llvm_emit(module, "native", false, &bytes, &object_size, &error) != LS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    ls__ir_module_destroy(&module);
    object = bytes;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_sections_beyond_the_file),
        cmocka_unit_test(test_outside_function),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ls__mem_free(object);
    return failed;
}
