/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of model files on bytes that are put together here: what is right, and one fault at a
 * time, each with what must be said of it. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lockstep/gguf.h"

/* --- a file ----------------------------------------------------------------------------------- */
typedef struct file {
    _Alignas(64) uint8_t bytes[8192];
    size_t size;
} file;

static void put(file *f, const void *bytes, size_t size)
{
    assert_true(size <= sizeof f->bytes - f->size);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void put_u32(file *f, uint32_t number)
{
    put(f, &number, sizeof number);
}

static void put_u64(file *f, uint64_t number)
{
    put(f, &number, sizeof number);
}

static void put_text(file *f, const char *text)
{
    put_u64(f, strlen(text));
    put(f, text, strlen(text));
}

static void put_head(file *f, uint64_t tensors, uint64_t values)
{
    put(f, "GGUF", 4);
    put_u32(f, 3);
    put_u64(f, tensors);
    put_u64(f, values);
}

static void put_u32_value(file *f, const char *key, uint32_t number)
{
    put_text(f, key);
    put_u32(f, LS_GGUF_U32);
    put_u32(f, number);
}

static void put_tensor(file *f, const char *name, uint32_t type, uint64_t columns, uint64_t rows,
                       uint64_t place)
{
    put_text(f, name);
    put_u32(f, 2);
    put_u64(f, columns);
    put_u64(f, rows);
    put_u32(f, type);
    put_u64(f, place);
}

static void pad(file *f, size_t alignment, size_t more)
{
    f->size = (f->size + alignment - 1) / alignment * alignment + more;
    assert_true(f->size <= sizeof f->bytes);
}

/* --- what is right ---------------------------------------------------------------------------- */

static void make_good(file *f)
{
    static const int16_t numbers[] = {-3, 0, 32767};
    static const float real = -2.5f;
    memset(f, 0, sizeof *f);
    put_head(f, 2, 7);
    put_text(f, "general.architecture");
    put_u32(f, LS_GGUF_STRING);
    put_text(f, "test");
    put_text(f, "list");
    put_u32(f, LS_GGUF_ARRAY);
    put_u32(f, LS_GGUF_I16);
    put_u64(f, 3);
    put(f, numbers, sizeof numbers);
    put_text(f, "texts");
    put_u32(f, LS_GGUF_ARRAY);
    put_u32(f, LS_GGUF_STRING);
    put_u64(f, 2);
    put_text(f, "");
    put_text(f, "two");
    put_text(f, "real");
    put_u32(f, LS_GGUF_F32);
    put(f, &real, sizeof real);
    put_text(f, "yes");
    put_u32(f, LS_GGUF_BOOL);
    put(f, "\1", 1);
    put_text(f, "large");
    put_u32(f, LS_GGUF_U64);
    put_u64(f, UINT64_MAX);
    put_u32_value(f, "general.alignment", 64);
    put_tensor(f, "a", LS_GGUF_TYPE_Q8_0, 64, 2, 64);
    put_tensor(f, "b", LS_GGUF_TYPE_F32, 3, 1, 0);
    pad(f, 64, 64 + 4 * 34);
}

static ls_gguf *open_file(const file *f)
{
    ls_gguf *gguf = NULL;
    ls_error error = {0};
    if (ls_gguf_open_memory(f->bytes, f->size, "test.gguf", &gguf, &error) != LS_OK)
        fail_msg("%s: %s", error.where, error.message);
    return gguf;
}

static void values_are_read(void **state)
{
    file f;
    make_good(&f);
    ls_gguf *gguf = open_file(&f);
    ls_gguf_info info = {.struct_size = sizeof info};
    ls_gguf_describe(gguf, &info);
    assert_int_equal(info.version, 3);
    assert_int_equal(info.alignment, 64);
    assert_int_equal(info.value_count, 7);
    assert_int_equal(info.tensor_bytes, 4 * 34 + 12);
    const char *text;
    uint64_t length, number;
    int64_t negative;
    double real;
    assert_true(ls_gguf_text(ls_gguf_find_value(gguf, "general.architecture"), 0, &text, &length));
    assert_true(length == 4 && memcmp(text, "test", 4) == 0);
    const ls_gguf_value *list = ls_gguf_find_value(gguf, "list");
    assert_true(list->is_list && list->kind == LS_GGUF_I16 && list->count == 3);
    assert_true(ls_gguf_signed(list, 0, &negative) && negative == -3);
    assert_true(ls_gguf_unsigned(list, 2, &number) && number == 32767);
    assert_false(ls_gguf_unsigned(list, 0, &number));
    assert_false(ls_gguf_signed(list, 3, &negative));
    assert_true(ls_gguf_text(ls_gguf_find_value(gguf, "texts"), 1, &text, &length) && length == 3);
    assert_true(ls_gguf_float(ls_gguf_find_value(gguf, "real"), 0, &real) && real == -2.5);
    assert_false(ls_gguf_signed(ls_gguf_find_value(gguf, "real"), 0, &negative));
    assert_true(ls_gguf_unsigned(ls_gguf_find_value(gguf, "yes"), 0, &number) && number == 1);
    const ls_gguf_value *large = ls_gguf_find_value(gguf, "large");
    assert_true(ls_gguf_unsigned(large, 0, &number) && number == UINT64_MAX);
    assert_false(ls_gguf_signed(large, 0, &negative));
    assert_null(ls_gguf_find_value(gguf, "general"));
    assert_null(ls_gguf_value_at(gguf, 7));
    assert_false(ls_gguf_text(NULL, 0, &text, &length));
    ls_gguf_destroy(&gguf);
    assert_null(gguf);
}

static void tensors_are_placed(void **state)
{
    file f;
    make_good(&f);
    ls_gguf *gguf = open_file(&f);
    const ls_gguf_tensor *a = ls_gguf_find_tensor(gguf, "a"), *b = ls_gguf_tensor_at(gguf, 1);
    assert_ptr_equal((const uint8_t *)a->data, f.bytes + f.size - 4 * 34);
    assert_ptr_equal((const uint8_t *)b->data, f.bytes + f.size - 4 * 34 - 64);
    assert_int_equal(a->file_byte, f.size - 4 * 34);
    assert_int_equal(a->elements, 128);
    assert_int_equal(a->dimensions[2], 1);
    assert_int_equal(b->bytes, 12);
    assert_null(ls_gguf_find_tensor(gguf, "c"));
    assert_null(ls_gguf_tensor_at(gguf, 2));
    float values[64];
    ls_error error;
    assert_int_equal(ls_gguf_dequantize(a, 64, 64, values, &error), LS_OK);
    assert_int_equal(ls_gguf_dequantize(a, 16, 32, values, &error), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_gguf_dequantize(a, 128, 32, values, &error), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_gguf_dequantize(a, 96, UINT64_MAX - 31, values, &error),
                     LS_E_INVALID_ARGUMENT);
    ls_gguf_destroy(&gguf);
}

static void version_2_and_no_tensors(void **state)
{
    file f = {.size = 0};
    put(&f, "GGUF", 4);
    put_u32(&f, 2);
    put_u64(&f, 0);
    put_u64(&f, 0);
    ls_gguf *gguf = open_file(&f);
    assert_null(ls_gguf_find_value(gguf, "x"));
    assert_null(ls_gguf_find_tensor(gguf, "x"));
    ls_gguf_destroy(&gguf);
}

/* --- floats ----------------------------------------------------------------------------------- */

/* All halves by their definition, sign * fraction * 2^exponent. */
static void halves_are_exact(void **state)
{
    static uint16_t halves[65536];
    static float values[65536];
    for (uint32_t i = 0; i < 65536; i++)
        halves[i] = (uint16_t)i;
    ls_gguf_tensor tensor = {
        .name = "t", .type = LS_GGUF_TYPE_F16, .elements = 65536, .data = halves};
    ls_error error;
    assert_int_equal(ls_gguf_dequantize(&tensor, 0, 65536, values, &error), LS_OK);
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t exponent = i >> 10 & 31, fraction = i & 1023, bits;
        float expected = (float)(exponent ? fraction + 1024 : fraction) * 0x1p-24f;
        for (uint32_t e = 1; e < exponent; e++)
            expected *= 2;
        if (i >> 15)
            expected = -expected;
        memcpy(&bits, &values[i], 4);
        if (exponent == 31)
            assert_int_equal(bits, fraction ? 0x7fc00000 : 0x7f800000 | i >> 15 << 31);
        else
            assert_memory_equal(&values[i], &expected, 4);
    }
}

/* --- what is wrong ---------------------------------------------------------------------------- */

static void assert_fault(const file *f, ls_status status, const char *message)
{
    ls_gguf *gguf = NULL;
    ls_error error = {0};
    /* An exact copy, so that a sanitizer sees what reads beyond it. */
    uint8_t *copy = malloc(f->size ? f->size : 1);
    assert_non_null(copy);
    memcpy(copy, f->bytes, f->size);
    ls_status got = ls_gguf_open_memory(copy, f->size, "test.gguf", &gguf, &error);
    free(copy);
    if (got != status || !strstr(error.message, message))
        fail_msg("expected %s with '%s', got %s: %s", ls_status_name(status), message,
                 ls_status_name(got), got == LS_OK ? "" : error.message);
    assert_null(gguf);
    assert_non_null(strstr(error.where, "test.gguf"));
}

/* The good file, cut at every length. */
static void truncated_anywhere(void **state)
{
    file f;
    make_good(&f);
    size_t size = f.size;
    for (f.size = 0; f.size < size; f.size++)
        assert_fault(&f, LS_E_FORMAT, "");
}

static void faults_of_the_head(void **state)
{
    file f = {.size = 0};
    assert_fault(&f, LS_E_FORMAT, "empty");
    put(&f, "GGML\3\0\0\0", 8);
    assert_fault(&f, LS_E_FORMAT, "no GGUF file");
    f.size = 0;
    put(&f, "GGUF\1\0\0\0", 8);
    assert_fault(&f, LS_E_VERSION, "version 1");
    f.size = 0;
    put(&f, "GGUF\4\0\0\0", 8);
    assert_fault(&f, LS_E_VERSION, "version 4");
    f.size = 0;
    put(&f, "GGUF\0\0\0\3", 8);
    assert_fault(&f, LS_E_VERSION, "big-endian");
    f.size = 0;
    put_head(&f, UINT64_MAX, 0);
    assert_fault(&f, LS_E_LIMIT, "tensors");
    f.size = 0;
    put_head(&f, 0, 1000);
    assert_fault(&f, LS_E_FORMAT, "ends before");
}

static file one_value(void)
{
    file f = {.size = 0};
    put_head(&f, 0, 1);
    return f;
}

static void faults_of_values(void **state)
{
    file f = one_value();
    put_text(&f, "");
    put(&f, "\0\0\0\0\0\0\0\0", 8);
    assert_fault(&f, LS_E_FORMAT, "a key has 0 bytes");
    f = one_value();
    put_u64(&f, 3);
    put(&f, "a\0b\4\0\0\0\1\0\0\0", 11);
    assert_fault(&f, LS_E_FORMAT, "a zero byte");
    f = one_value();
    put_text(&f, "key");
    put_u32(&f, 13);
    put_u32(&f, 0);
    assert_fault(&f, LS_E_FORMAT, "key is of kind 13");
    f = one_value();
    put_text(&f, "key");
    put_u32(&f, LS_GGUF_BOOL);
    put(&f, "\2", 1);
    assert_fault(&f, LS_E_FORMAT, "a bool is 0 or 1");
    f = one_value();
    put_text(&f, "key");
    put_u32(&f, LS_GGUF_ARRAY);
    put_u32(&f, LS_GGUF_ARRAY);
    put_u64(&f, 0);
    assert_fault(&f, LS_E_UNSUPPORTED, "list of lists");
    f = one_value();
    put_text(&f, "key");
    put_u32(&f, LS_GGUF_ARRAY);
    put_u32(&f, LS_GGUF_F64);
    put_u64(&f, UINT64_MAX / 8 + 2);
    assert_fault(&f, LS_E_FORMAT, "within the values");
    f = one_value();
    put_text(&f, "key");
    put_u32(&f, LS_GGUF_ARRAY);
    put_u32(&f, LS_GGUF_STRING);
    put_u64(&f, UINT64_C(1) << 40);
    assert_fault(&f, LS_E_LIMIT, "texts");
    f = one_value();
    put_text(&f, "key");
    put_u32(&f, LS_GGUF_STRING);
    put_u64(&f, UINT64_MAX);
    assert_fault(&f, LS_E_FORMAT, "within a text");
    f.size = 0;
    put_head(&f, 0, 2);
    put_u32_value(&f, "key", 1);
    put_u32_value(&f, "key", 1);
    assert_fault(&f, LS_E_FORMAT, "two values named key");
    for (uint32_t alignment = 0; alignment < 50; alignment += 7) { /* none a power of two from 8 */
        f = one_value();
        put_u32_value(&f, "general.alignment", alignment == 0 ? 4 : alignment);
        assert_fault(&f, LS_E_FORMAT, "general.alignment");
    }
}

static void faults_of_tensors(void **state)
{
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t columns, rows, place;
        ls_status status;
        const char *message;
    } faults[] = {
        {"t", 0, 0, 1, 0, LS_E_FORMAT, "no elements along dimension 0"},
        {"t", 0, 1, 0, 0, LS_E_FORMAT, "no elements along dimension 1"},
        {"t", 0, UINT64_MAX, 3, 0, LS_E_FORMAT, "more elements than can be counted"},
        {"t", 0, UINT64_C(1) << 62, 1, 0, LS_E_FORMAT, "more elements than can be counted"},
        {"t", LS_GGUF_TYPE_Q4_0, 33, 32, 0, LS_E_FORMAT, "no whole blocks of Q4_0"},
        {"t", LS_GGUF_TYPE_Q4_K, 128, 2, 0, LS_E_FORMAT, "no whole blocks of Q4_K"},
        {"t", 16, 256, 1, 0, LS_E_UNSUPPORTED, "type IQ2_XXS, which is not read"},
        {"t\x1b[2J", 99, 256, 1, 0, LS_E_FORMAT, "t\\x1b[2J is of type 99"},
        {"t", 0, 1, 1, 16, LS_E_FORMAT, "no multiple of 32"},
        {"t", 0, 17, 1, 0, LS_E_FORMAT, "beyond the end of the file"},
        {"t", 0, 1, 1, 64, LS_E_FORMAT, "beyond the end of the file"},
        {"t", 0, 1, 1, UINT64_MAX - 31, LS_E_FORMAT, "beyond the end of the file"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        file f = {.size = 0};
        put_head(&f, 1, 0);
        put_tensor(&f, faults[i].name, faults[i].type, faults[i].columns, faults[i].rows,
                   faults[i].place);
        pad(&f, 32, 64);
        assert_fault(&f, faults[i].status, faults[i].message);
    }
    file f = {.size = 0};
    put_head(&f, 1, 0);
    put_text(&f, "t");
    put_u32(&f, 5);
    pad(&f, 1, 64);
    assert_fault(&f, LS_E_FORMAT, "5 dimensions");
    for (int same = 0; same < 2; same++) {
        f.size = 0;
        put_head(&f, 2, 0);
        put_tensor(&f, "t", 0, 16, 1, 0);
        put_tensor(&f, same ? "t" : "u", 0, 16, 1, same ? 64 : 32);
        pad(&f, 32, 128);
        assert_fault(&f, LS_E_FORMAT, same ? "two tensors named t" : "t and u share bytes");
    }
}

static void a_part_is_not_a_whole(void **state)
{
    file f = {.size = 0};
    put_head(&f, 0, 2);
    put_u32_value(&f, "split.no", 1);
    put_u32_value(&f, "split.count", 3);
    assert_fault(&f, LS_E_FORMAT, "this is part 2 of 3");
}

static void out_of_memory_anywhere(void **state)
{
    file f;
    make_good(&f);
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        ls_gguf *gguf = NULL;
        ls_error error;
        ls__mem_fail_after(n);
        status = ls_gguf_open_memory(f.bytes, f.size, "test.gguf", &gguf, &error);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK || (status == LS_E_OUT_OF_MEMORY && !gguf));
        assert_true(n < 1000);
        ls_gguf_destroy(&gguf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read),          cmocka_unit_test(tensors_are_placed),
        cmocka_unit_test(version_2_and_no_tensors), cmocka_unit_test(halves_are_exact),
        cmocka_unit_test(truncated_anywhere),       cmocka_unit_test(faults_of_the_head),
        cmocka_unit_test(faults_of_values),         cmocka_unit_test(faults_of_tensors),
        cmocka_unit_test(a_part_is_not_a_whole),    cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
