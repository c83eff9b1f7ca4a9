/* SPDX-License-Identifier: Apache-2.0 */
/* .npy headers: what NumPy writes, every kind of damage, and that what we write reads back. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/npy.h"

/* A file with this dictionary and `data` bytes behind it, in memory of exactly that size. */
static uint8_t *file_of(unsigned major, const char *dictionary, size_t data, size_t *size)
{
    size_t length = strlen(dictionary), prefix = major == 1 ? 10 : 12;
    *size = prefix + length + data;
    uint8_t *bytes = calloc(1, *size);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (uint8_t)major;
    bytes[8] = (uint8_t)length;
    bytes[9] = (uint8_t)(length >> 8);
    memcpy(bytes + prefix, dictionary, length);
    return bytes;
}

static ls_status parse(const char *dictionary, size_t data, ls__npy *npy, ls_error *error)
{
    size_t size;
    uint8_t *bytes = file_of(1, dictionary, data, &size);
    ls_status status = ls__npy_parse(bytes, size, npy, error);
    npy->descr = (ls__str){"", 0}; /* it points into what is freed now */
    free(bytes);
    return status;
}

static void reads_headers(void **state)
{
    static const struct {
        const char *dictionary;
        char kind;
        uint32_t item_bytes, dimensions;
        uint64_t count;
    } good[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }      \n", 'f', 4, 2, 12},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }\n", 'b', 1, 1, 5},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", 'u', 1, 0, 1},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }\n", 'i', 8, 1, 0},
        {"{'shape': (2L, 1L), 'fortran_order': False, 'descr': '<f2'}", 'f', 2, 2, 2},
        {"{\"descr\":\"|V12\",\"fortran_order\":False,\"shape\":(2,)}", 'V', 12, 1, 2},
        {"{'descr': [('x', '<f4'), ('', '|V4'), ('y', '<f8')], 'fortran_order': False, "
         "'shape': (2,), }",
         'V', 16, 1, 2},
        {"{'descr': [('m', '<f4', (2, 3)), ('s', [('a', '|u1'), ('b', '|i1')])], "
         "'fortran_order': False, 'shape': (1,), }",
         'V', 26, 1, 1},
        {"{'descr': [(('title', 'x'), '<u2')], 'fortran_order': False, 'shape': (1,), }", 'V', 2, 1,
         1},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (18446744073709551615, 0), }", 'u', 4,
         2, 0},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ls__npy npy;
        ls_error error = {0};
        size_t data = (size_t)good[i].count * good[i].item_bytes;
        ls_status status = parse(good[i].dictionary, data, &npy, &error);
        if (status != LS_OK)
            fail_msg("%s: %s", good[i].dictionary, error.message);
        assert_int_equal(npy.kind, good[i].kind);
        assert_int_equal(npy.item_bytes, good[i].item_bytes);
        assert_int_equal(npy.dimensions, good[i].dimensions);
        assert_int_equal(npy.count, good[i].count);
    }
}

static void reads_all_versions(void **state)
{
    static const char dictionary[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n";
    for (unsigned major = 1; major <= 3; major++) {
        ls__npy npy;
        size_t size;
        uint8_t *bytes = file_of(major, dictionary, 8, &size);
        assert_int_equal(ls__npy_parse(bytes, size, &npy, NULL), LS_OK);
        assert_int_equal(npy.data_offset, size - 8);
        assert_int_equal(npy.descr.length, 5);
        assert_memory_equal(npy.descr.text, "'<i4'", 5);
        bytes[7] = 1;
        assert_int_equal(ls__npy_parse(bytes, size, &npy, NULL), LS_E_VERSION);
        bytes[6] = 4;
        assert_int_equal(ls__npy_parse(bytes, size, &npy, NULL), LS_E_VERSION);
        free(bytes);
    }
}

#define REST ", 'fortran_order': False, 'shape': (1,), }"

/* Each one has a single fault and, but for it, 4 bytes of data. `says` is part of the message. */
static const struct {
    const char *dictionary, *says;
    ls_status status;
} bad[] = {
    {"", "not a dictionary", LS_E_FORMAT},
    {"{", "quoted string", LS_E_FORMAT},
    {"['descr']", "not a dictionary", LS_E_FORMAT},
    {"{'descr': '<f4'" REST " x", "after the dictionary", LS_E_FORMAT},
    {"{'descr': '<f4', 'descr': '<f4'" REST, "twice", LS_E_FORMAT},
    {"{'descr': '<f4', 'extra': 1" REST, "key is none", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, }", "missing", LS_E_FORMAT},
    {"{'descr' '<f4'" REST, "':'", LS_E_FORMAT},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "','", LS_E_FORMAT},
    {"{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "bad size", LS_E_FORMAT},
    {"{'descr': '<f4", "does not end", LS_E_FORMAT},
    {"{'descr': '<f\\x34'" REST, "escape", LS_E_UNSUPPORTED},
    {"{'descr': '>f4'" REST, "big-endian", LS_E_UNSUPPORTED},
    {"{'descr': '=f4'" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': '|O'" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': '|O8'" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': '<c8'" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': '<M8[ns]'" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': '<U1'" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': '<f'" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': ''" REST, "data type", LS_E_UNSUPPORTED},
    {"{'descr': '<f4x'" REST, "bad size", LS_E_FORMAT},
    {"{'descr': '<f16'" REST, "of this size", LS_E_UNSUPPORTED},
    {"{'descr': '<f3'" REST, "of this size", LS_E_UNSUPPORTED},
    {"{'descr': '<i16'" REST, "of this size", LS_E_UNSUPPORTED},
    {"{'descr': '|b2'" REST, "of this size", LS_E_UNSUPPORTED},
    {"{'descr': '|V0'" REST, "of this size", LS_E_UNSUPPORTED},
    {"{'descr': '|V9999999'" REST, "of this size", LS_E_UNSUPPORTED},
    {"{'descr': 7" REST, "quoted string", LS_E_FORMAT},
    {"{'descr': []" REST, "without bytes", LS_E_UNSUPPORTED},
    {"{'descr': [('x', '<f4', (0,))]" REST, "without bytes", LS_E_UNSUPPORTED},
    {"{'descr': ['<f4']" REST, "field", LS_E_FORMAT},
    {"{'descr': [('x', '<f4']" REST, "')'", LS_E_FORMAT},
    {"{'descr': [('x', '<f4')" REST, "field", LS_E_FORMAT},
    {"{'descr': [('x', '<f4', (1000, 1000, 1000))]" REST, "too large", LS_E_UNSUPPORTED},
    {"{'descr': [('x', '|V900000'), ('y', '|V900000')]" REST, "too large", LS_E_UNSUPPORTED},
    {"{'descr': [('a',[('a',[('a',[('a',[('a',[('a',[('a',[('a',[('a',[('a','<f4')])])])])])])])]"
     ")])]" REST,
     "nested too deeply", LS_E_UNSUPPORTED},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "Fortran order", LS_E_UNSUPPORTED},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", "True or False", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': Fals", "True or False", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': [1], }", "tuple", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "number", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }", "','", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "number", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,), }", "too large",
     LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
     "more elements", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,), }", "more elements",
     LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': "
     "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }",
     "too many dimensions", LS_E_UNSUPPORTED},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "promises 8", LS_E_FORMAT},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "promises 3", LS_E_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", "promises 0", LS_E_FORMAT},
};

static void refuses_damage(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ls__npy npy;
        ls_error error = {0};
        ls_status status = parse(bad[i].dictionary, 4, &npy, &error);
        if (status != bad[i].status || !strstr(error.message, bad[i].says))
            fail_msg("%s: %s: %s", bad[i].dictionary, ls_status_name(status), error.message);
    }
}

/* Every shorter file is refused, and read within its bounds (seen by the address sanitizer). */
static void refuses_every_truncation(void **state)
{
    size_t size;
    uint8_t *whole = file_of(
        1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1, 2), }\n", 8, &size);
    for (size_t cut = 0; cut < size; cut++) {
        ls__npy npy;
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, whole, cut);
        assert_int_not_equal(ls__npy_parse(part, cut, &npy, NULL), LS_OK);
        free(part);
    }
    free(whole);
}

static void check_round_trip(const ls__npy *npy)
{
    ls__npy again;
    ls_error error = {0};
    ls__strbuf out = {0};
    ls__npy_print(npy, &out);
    assert_false(out.failed);
    assert_int_equal(out.length % 64, 0);
    size_t data = (size_t)npy->count * npy->item_bytes;
    uint8_t *bytes = calloc(1, out.length + data);
    memcpy(bytes, out.text, out.length);
    if (ls__npy_parse(bytes, out.length + data, &again, &error) != LS_OK)
        fail_msg("%s", error.message);
    assert_int_equal(again.data_offset, out.length);
    assert_int_equal(again.kind, npy->kind);
    assert_int_equal(again.item_bytes, npy->item_bytes);
    assert_int_equal(again.dimensions, npy->dimensions);
    assert_memory_equal(again.shape, npy->shape, sizeof npy->shape);
    free(bytes);
    ls__strbuf_finish(&out);
}

static void written_headers_read_back(void **state)
{
    static const ls__str structured = {"[('x', '<f4'), ('y', '<i4')]", 28};
    check_round_trip(&(ls__npy){.kind = 'f', .item_bytes = 4, .count = 1});
    check_round_trip(
        &(ls__npy){.kind = 'u', .item_bytes = 1, .dimensions = 1, .shape = {7}, .count = 7});
    check_round_trip(
        &(ls__npy){.kind = 'V', .item_bytes = 12, .dimensions = 2, .shape = {2, 3}, .count = 6});
    check_round_trip(&(ls__npy){.kind = 'V',
                                .item_bytes = 8,
                                .descr = structured,
                                .dimensions = 3,
                                .shape = {1, 2, 3},
                                .count = 6});
}

/* A structured type whose description does not fit version 1.0. */
static void long_headers_are_version_3(void **state)
{
    ls__strbuf descr = {0};
    for (unsigned i = 0; i < 7000; i++)
        ls__strbuf_printf(&descr, "%s('f%04u','<f4')", i ? "," : "[", i);
    ls__strbuf_printf(&descr, "]");
    ls__npy npy = {.kind = 'V',
                   .item_bytes = 28000,
                   .descr = {descr.text, descr.length},
                   .dimensions = 1,
                   .shape = {2},
                   .count = 2};
    ls__strbuf out = {0};
    ls__npy_print(&npy, &out);
    assert_int_equal(out.text[6], 3);
    ls__strbuf_finish(&out);
    check_round_trip(&npy);
    ls__strbuf_finish(&descr);
}

static void out_of_memory_is_noted(void **state)
{
    ls__npy npy = {.kind = 'f', .item_bytes = 4, .dimensions = 1, .shape = {7}, .count = 7};
    for (uint64_t n = 1;; n++) {
        ls__strbuf out = {0};
        ls__mem_fail_after(n);
        ls__npy_print(&npy, &out);
        ls__mem_fail_after(0);
        bool failed = out.failed;
        ls__strbuf_finish(&out);
        if (!failed) {
            assert_true(n > 2);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_headers),
        cmocka_unit_test(reads_all_versions),
        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(written_headers_read_back),
        cmocka_unit_test(long_headers_are_version_3),
        cmocka_unit_test(out_of_memory_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
