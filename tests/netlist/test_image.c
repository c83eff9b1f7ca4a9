/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of memories from text, ELF and binary files, as words and as bytes. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "netlist/image.h"

enum { DEPTH = 3000 };

typedef struct target {
    uint64_t words[DEPTH][2];
    bool given[DEPTH];
    uint32_t width, calls;
} target;

static target got;
static ls_error error;

static ls_status put(void *context, uint32_t first, uint32_t count, const uint64_t *words,
                     ls_error *unused)
{
    target *to = context;
    uint32_t each = (to->width + 63) / 64;
    (void)unused;
    to->calls++;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(first + i < DEPTH);
        to->given[first + i] = true;
        for (uint32_t j = 0; j < each; j++)
            to->words[first + i][j] = words[i * each + j];
    }
    return LS_OK;
}

static ls_status load(const void *file, size_t size, ls_image_params params, uint32_t width,
                      uint32_t depth, uint32_t start)
{
    ls__image_memory memory = {"ram", width, depth, start};
    memset(&got, 0, sizeof got);
    memset(&error, 0, sizeof error);
    got.width = width;
    if (!params.path)
        params.path = "file";
    uint8_t *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    memcpy(copy, file, size);
    ls_status status = ls__image_words_of(copy, size, &params, &memory, put, &got, &error);
    free(copy);
    return status;
}

static ls_status load_text(const char *text, ls_image_format format, uint32_t width, uint32_t depth,
                           uint32_t start)
{
    return load(text, strlen(text), (ls_image_params){.format = format}, width, depth, start);
}

static void text(void **state)
{
    const char *words = "// first\n12 /* a\n comment */ 3_4\n@6 xF\n\n?z Ab/**/5";
    assert_int_equal(load_text(words, LS_IMAGE_READMEMH, 8, 8, 2), LS_OK);
    const uint64_t expected[] = {0x12, 0x34, 0, 0, 0x0f, 0, 0xab, 5};
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(got.words[i][0], expected[i]);
        assert_int_equal(got.given[i], i != 2 && i != 3);
    }
    assert_int_equal(got.calls, 2);
    assert_int_equal(load_text("1 @1 10110_x1", LS_IMAGE_READMEMB, 7, 2, 0), LS_OK);
    assert_int_equal(got.words[1][0], 0x59);
    assert_int_equal(load_text("", LS_IMAGE_READMEMH, 8, 1, 0), LS_OK);
    /* Wide words, and leading zeros beyond the width. */
    assert_int_equal(load_text("0002_fedcba9876543210_0", LS_IMAGE_READMEMH, 70, 1, 0), LS_OK);
    assert_true(got.words[0][0] == UINT64_C(0xedcba98765432100) && got.words[0][1] == 0x2f);
    /* Where the first word goes. */
    ls_image_params params = {.format = LS_IMAGE_READMEMH, .address = 5};
    assert_int_equal(load("7", 1, params, 8, 8, 100), LS_OK);
    assert_true(got.given[5]);
}

static void long_text(void **state)
{
    static char words[DEPTH * 5 + 1];
    for (uint32_t i = 0; i < DEPTH; i++)
        snprintf(words + i * 5, 6, "%04x\n", i);
    assert_int_equal(load_text(words, LS_IMAGE_READMEMH, 16, DEPTH, 0), LS_OK);
    for (uint32_t i = 0; i < DEPTH; i++)
        assert_true(got.given[i] && got.words[i][0] == i);
    assert_int_equal(got.calls, 3);
}

static void text_faults(void **state)
{
    static const struct {
        const char *text, *message, *where;
    } faults[] = {
        {"12\n1g", "no digit", "file:2"},
        {"1\n2\n3", "not in memory 'ram' (0x4 to 0x5)", "file:3"},
        {"@3 1", "not in memory", "file:1"},
        {"@ 1", "a number is missing", "file:1"},
        {"@x 1", "undefined", "file:1"},
        {"@11111111111111111 1", "too large", "file:1"},
        {"/* \n", "does not end", "file:2"},
        {"\n100", "does not fit in the 8 bits", "file:2"},
        {":10010000214601360121470136007EFE09D2190140", "Intel HEX", "file:1"},
        {"1 / 2", "a number is missing", "file:1"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(load_text(faults[i].text, LS_IMAGE_READMEMH, 8, 2, 4), LS_E_FORMAT);
        if (!strstr(error.message, faults[i].message))
            fail_msg("%s: %s", faults[i].text, error.message);
        assert_string_equal(error.where, faults[i].where);
    }
}

static void binary(void **state)
{
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6};
    ls_image_params params = {.format = LS_IMAGE_BINARY};
    assert_int_equal(load(bytes, 6, params, 32, 2, 7), LS_OK);
    assert_int_equal(got.words[0][0], 0x04030201);
    assert_int_equal(got.words[1][0], 0x0605);
    params.address = 1; /* every second byte from the second on */
    params.stride_bytes = 2;
    assert_int_equal(load(bytes, 6, params, 8, 4, 0), LS_OK);
    assert_true(got.words[0][0] == 2 && got.words[1][0] == 4 && got.words[2][0] == 6);
    assert_false(got.given[3]);
    params = (ls_image_params){.format = LS_IMAGE_BINARY};
    assert_int_equal(load(bytes, 6, params, 8, 5, 0), LS_E_FORMAT);
    assert_non_null(strstr(error.message, "6 bytes do not fit in the 5"));
    assert_int_equal(load(bytes, 6, params, 12, 5, 0), LS_E_UNSUPPORTED);
    params.stride_bytes = 1;
    assert_int_equal(load(bytes, 6, params, 16, 5, 0), LS_E_INVALID_ARGUMENT);
    params = (ls_image_params){.format = LS_IMAGE_BINARY, .address = 6};
    assert_int_equal(load(bytes, 6, params, 8, 8, 0), LS_E_FORMAT);
}

/* --- ELF -------------------------------------------------------------------------------------- */

static void put_number(uint8_t *to, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> (8 * i));
}

enum { SEGMENTS = 3 };
typedef struct elf {
    uint8_t bytes[512];
    size_t size;
} elf;

/* Segments of these bytes at these addresses. */
static elf make_elf(bool wide, const uint64_t addresses[SEGMENTS], const char *const data[SEGMENTS])
{
    elf file = {.size = wide ? 64 + SEGMENTS * 56 : 52 + SEGMENTS * 32};
    unsigned word = wide ? 8 : 4;
    size_t table = wide ? 64 : 52, entry = wide ? 56 : 32;
    memcpy(file.bytes, "\177ELF", 4);
    file.bytes[4] = wide ? 2 : 1;
    file.bytes[5] = 1;
    put_number(file.bytes + 24 + word, table, word);
    put_number(file.bytes + (wide ? 54 : 42), entry, 2);
    put_number(file.bytes + (wide ? 56 : 44), SEGMENTS, 2);
    for (unsigned i = 0; i < SEGMENTS; i++) {
        uint8_t *at = file.bytes + table + i * entry;
        size_t count = strlen(data[i]);
        put_number(at, 1, 4);
        at += wide ? 8 : 4;
        put_number(at, file.size, word);
        put_number(at + word, 0x7000, word);
        put_number(at + 2 * word, addresses[i], word);
        put_number(at + 3 * word, count, word);
        put_number(at + 4 * word, count + 5, word); /* .bss: left alone */
        memcpy(file.bytes + file.size, data[i], count);
        file.size += count;
    }
    return file;
}

static const uint64_t addresses[SEGMENTS] = {0x1006, 0xffe, 0x9000};
static const char *const data[SEGMENTS] = {"hijk", "abcdefg", "zz"};

static void elf_words(void **state)
{
    for (int wide = 0; wide < 2; wide++) {
        elf file = make_elf(wide, addresses, data);
        ls_image_params params = {.address = 0x1000};
        assert_int_equal(load(file.bytes, file.size, params, 32, 16, 0), LS_OK);
        assert_memory_equal(&got.words[0][0], "cdef", 4);
        assert_memory_equal(&got.words[1][0], "g\0hi", 4); /* two segments in one word */
        assert_memory_equal(&got.words[2][0], "jk\0\0", 4);
        assert_false(got.given[3]);
        /* Byte lanes. */
        params.address = 0x1001;
        params.stride_bytes = 4;
        assert_int_equal(load(file.bytes, file.size, params, 8, 16, 0), LS_OK);
        assert_true(got.given[0] && got.words[0][0] == 'd');
        assert_true(got.given[2] && got.words[2][0] == 'k');
        assert_false(got.given[1] || got.given[3]); /* the gap between the segments */
        /* Too small a memory takes what is its own. */
        params = (ls_image_params){.address = 0x1006};
        assert_int_equal(load(file.bytes, file.size, params, 8, 2, 0), LS_OK);
        assert_true(got.words[1][0] == 'i');
        params.address = 0x4000;
        assert_int_equal(load(file.bytes, file.size, params, 8, 2, 0), LS_E_FORMAT);
        assert_non_null(strstr(error.message, "no segment"));
    }
}

static void elf_bytes(void **state)
{
    elf file = make_elf(false, addresses, data);
    ls_image_params params = {.path = "f", .address = 0x1003, .fill = 0xff};
    void *bytes;
    uint64_t size;
    assert_int_equal(ls__image_bytes_of(file.bytes, file.size, &params, &bytes, &size, &error),
                     LS_OK);
    assert_int_equal(size, 0x9002 - 0x1003);
    assert_memory_equal(bytes, "fg\377hijk\377", 8);
    ls__mem_free(bytes);
    params.limit_bytes = 100;
    assert_int_equal(ls__image_bytes_of(file.bytes, file.size, &params, &bytes, &size, &error),
                     LS_E_LIMIT);
    assert_null(bytes);
    params.address = 0xa000;
    assert_int_equal(ls__image_bytes_of(file.bytes, file.size, &params, &bytes, &size, &error),
                     LS_E_FORMAT);
}

static void elf_faults(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *message;
    } faults[] = {
        {0, 'E', "no ELF file"},
        {4, 3, "unknown class"},
        {5, 2, "little-endian"},
        {44, 0, "no segments"},
        {42, 31, "too short"},
        {30, 1, "beyond the end"}, /* the table's offset */
        {58, 1, "segment is beyond"},
        {52 + 20, 0, "impossible sizes"},
        {52 + 18, 1, "segment is beyond"},
    };
    elf good = make_elf(false, addresses, data);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        elf file = good;
        file.bytes[faults[i].at] = faults[i].byte;
        assert_int_equal(
            load(file.bytes, file.size, (ls_image_params){.format = LS_IMAGE_ELF}, 8, 8, 0),
            LS_E_FORMAT);
        if (!strstr(error.message, faults[i].message))
            fail_msg("%zu: %s", faults[i].at, error.message);
    }
    for (size_t size = 0; size < 52 + SEGMENTS * 32; size++)
        assert_int_equal(load(good.bytes, size, (ls_image_params){.format = LS_IMAGE_ELF}, 8, 8, 0),
                         LS_E_FORMAT);
}

/* --- files ------------------------------------------------------------------------------------ */

static void files(void **state)
{
    void *bytes;
    uint64_t size;
    FILE *file = fopen("image.hex", "w");
    assert_non_null(file);
    fputs("@2 41 42", file);
    fclose(file);
    ls_image_params params = LS_IMAGE_PARAMS_INIT;
    params.path = "image.hex";
    params.fill = '.';
    assert_int_equal(ls_image_load(&params, &bytes, &size, &error), LS_OK);
    assert_int_equal(size, 4);
    assert_memory_equal(bytes, "..AB", 4);
    ls__mem_free(bytes);
    params.format = LS_IMAGE_BINARY;
    assert_int_equal(ls_image_load(&params, &bytes, &size, &error), LS_OK);
    assert_int_equal(size, 8);
    ls__mem_free(bytes);
    remove("image.hex");
    assert_int_equal(ls_image_load(&params, &bytes, &size, &error), LS_E_NOT_FOUND);
    params.path = NULL;
    assert_int_equal(ls_image_load(&params, &bytes, &size, &error), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_image_load(NULL, &bytes, &size, &error), LS_E_INVALID_ARGUMENT);
    params.struct_size = 0;
    assert_int_equal(ls_image_load(&params, &bytes, &size, &error), LS_E_VERSION);
}

static void out_of_memory(void **state)
{
    elf file = make_elf(true, addresses, data);
    ls__image_memory memory = {"ram", 32, 16, 0};
    ls_image_params params = {.path = "f", .address = 0x1000};
    uint64_t count, n = 0, size;
    ls_status status;
    do {
        memset(&got, 0, sizeof got);
        got.width = 32;
        ls__mem_fail_after(++n);
        status = ls__image_words_of(file.bytes, file.size, &params, &memory, put, &got, &error);
        assert_true(status == LS_OK || status == LS_E_OUT_OF_MEMORY);
    } while (status != LS_OK);
    assert_true(n > 2);
    count = n;
    void *bytes;
    for (n = 1; n < count; n++) {
        ls__mem_fail_after(n);
        status = ls__image_bytes_of(file.bytes, file.size, &params, &bytes, &size, &error);
        if (status == LS_OK)
            ls__mem_free(bytes);
        else
            assert_int_equal(status, LS_E_OUT_OF_MEMORY);
    }
    ls__mem_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),       cmocka_unit_test(long_text), cmocka_unit_test(text_faults),
        cmocka_unit_test(binary),     cmocka_unit_test(elf_words), cmocka_unit_test(elf_bytes),
        cmocka_unit_test(elf_faults), cmocka_unit_test(files),     cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
