/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Value change dumps: what the reader understands, one file for each fault (vcd/FAULT.vcd, named by
 * what the message says), the bytes of the writer in both layouts, that what was written reads
 * back, and that a file is whole wherever it ends.
 */
#include "../base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "testbench/vcd.h"

static const char *corpus;

/* Bytes in pieces of `step`, as a slow pipe would give them. */
typedef struct pieces {
    const char *bytes;
    size_t size, position, step;
} pieces;

static ls_status give(void *context, void *bytes, size_t capacity, size_t *count, ls_error *error)
{
    pieces *p = context;
    size_t left = p->size - p->position;
    (void)error;
    *count = left < p->step ? left : p->step;
    if (*count > capacity)
        *count = capacity;
    memcpy(bytes, p->bytes + p->position, *count);
    p->position += *count;
    return LS_OK;
}

static void note(void *context, const char *message)
{
    ls__strbuf_printf(context, "%s\n", message);
}

/* All that is in the text, as text. */
static ls_status summarize(const char *text, size_t size, size_t step, ls__strbuf *out,
                           ls_error *error)
{
    pieces p = {text, size, 0, step};
    ls__vcd_source source = {give, &p, "in.vcd"};
    ls__vcd_reader *reader;
    ls_status status = ls__vcd_reader_open(&source, note, out, &reader, error);
    if (status != LS_OK)
        return status;
    uint32_t count;
    const ls__vcd_variable *v = ls__vcd_reader_variables(reader, &count);
    ls__strbuf_printf(out, "scale %s\n", ls__vcd_reader_timescale(reader));
    for (uint32_t i = 0; i < count; i++)
        ls__strbuf_printf(out, "%s/%s=%s w%u %d:%d c%u%s\n", v[i].scope, v[i].text, v[i].name,
                          v[i].width, v[i].msb, v[i].lsb, v[i].code,
                          v[i].is_ignored ? " ignored" : "");
    ls__vcd_item item;
    while ((status = ls__vcd_reader_next(reader, &item, error)) == LS_OK &&
           item.kind != LS__VCD_END) {
        if (item.kind == LS__VCD_TIME)
            ls__strbuf_printf(out, "#%llu\n", (unsigned long long)item.time);
        else
            ls__strbuf_printf(out, "%u=%.*s\n", item.code, (int)item.digit_count, item.digits);
    }
    ls__vcd_reader_close(&reader);
    return status;
}

static void reads_all_forms(void **state)
{
    static const char text[] =
        "$date today $end\n$version any $end\n$timescale\n  10ps\n$end\n"
        "$scope module top $end\n"
        "$var wire 1 ! clk $end\n"
        "$scope begin inner $end\n"
        "$var reg 8 \" data [7:0] $end\n"
        "$var wire 4 # nibble[3:0] $end\n"
        "$var wire 1 $ bit [2] $end\n"
        "$var wire 1 ! alias $end\n"
        "$var wire 1 abc \\odd[name] $end\n"
        "$upscope $end\n"
        "$var real 64 r temperature $end\n"
        "$var event 1 e tick $end\n"
        "$upscope $end\n$enddefinitions $end\n"
        "$dumpvars\n0!\nbxz01 \"\nx$\nr1.5 r\n1e\n$end\n"
        "#10\nB1010 #\n1!\n$comment 0! $end\n$dumpoff\nx!\n$end\n#10\n#2000\n0!";
    static const char expected[] =
        "in.vcd: 'temperature' and others of types without bits are passed over\n"
        "scale 10 ps\n"
        "top/clk=clk w1 0:0 c0\n"
        "top.inner/data[7:0]=data w8 7:0 c1\n"
        "top.inner/nibble[3:0]=nibble w4 3:0 c2\n"
        "top.inner/bit[2]=bit w1 2:2 c3\n"
        "top.inner/alias=alias w1 0:0 c0\n"
        "top.inner/odd[name]=odd[name] w1 0:0 c4\n"
        "top/temperature=temperature w64 0:0 c5 ignored\n"
        "top/tick=tick w1 0:0 c6 ignored\n"
        "0=0\n1=xz01\n3=x\n"
        "#10\n2=1010\n0=1\n0=x\n#10\n#2000\n0=0\n";
    for (size_t step = 1; step < sizeof text; step = step * 3 + 1) {
        ls__strbuf out = {0};
        ls_error error = {0};
        assert_int_equal(summarize(text, sizeof text - 1, step, &out, &error), LS_OK);
        assert_string_equal(out.text, expected);
        ls__strbuf_finish(&out);
    }
}

static void bits_are_extended(void **state)
{
    uint64_t words[2];
    assert_false(ls__vcd_bits("1", 1, 70, words));
    assert_int_equal(words[0], 1);
    assert_int_equal(words[1], 0);
    assert_true(ls__vcd_bits("1x0z", 4, 4, words));
    assert_int_equal(words[0], 8);
    assert_false(ls__vcd_bits("1101", 4, 2, words)); /* too many digits: the low ones */
    assert_int_equal(words[0], 1);
    char digits[66];
    memset(digits, '1', sizeof digits);
    assert_false(ls__vcd_bits(digits, 66, 66, words));
    assert_int_equal(words[0], UINT64_MAX);
    assert_int_equal(words[1], 3);
}

/* Each fault's file is named by words of its message, '-' between. */
static void faults_are_named(void **state)
{
    static const char *const faults[] = {
        "the-file-ends-in-the-middle-of-the-header",
        "the-file-ends-in-the-middle-of-$var",
        "the-file-ends-in-the-middle-of-a-value",
        "the-file-ends-in-the-middle-of-$comment",
        "the-width-of-a-variable-is-not-a-number",
        "a-variable-has-no-name",
        "a-scope-has-no-name",
        "$upscope-without-a-scope",
        "scopes-are-nested-too-deeply",
        "this-is-no-section-of-a-header",
        "the-time-scale-is-not-1,-10-or-100",
        "no-variable-has-this-code",
        "this-is-no-time",
        "time-goes-back",
        "a-digit-is-not-0,-1,-x-or-z",
        "a-vector-has-no-digits",
        "this-is-neither-a-time-nor-a-value",
        "$end-without-a-section",
        "$end-is-missing",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char path[512], words[128];
        void *bytes;
        size_t size;
        ls_error error = {0};
        ls__strbuf out = {0};
        snprintf(path, sizeof path, "%s/%s.vcd", corpus, faults[i]);
        snprintf(words, sizeof words, "%s", faults[i]);
        for (char *c = words; *c; c++)
            *c = *c == '-' ? ' ' : *c;
        assert_int_equal(ls__os_read_file(path, 1 << 20, &bytes, &size, &error), LS_OK);
        assert_int_equal(summarize(bytes, size, 7, &out, &error), LS_E_FORMAT);
        if (!strstr(error.message, words))
            fail_msg("%s: %s", path, error.message);
        assert_non_null(strstr(error.where, "in.vcd, line "));
        ls__strbuf_finish(&out);
        ls__mem_free(bytes);
    }
}

static void memory_runs_out(void **state)
{
    static const char text[] = "$scope module t $end $var wire 9 ! a $end $upscope $end "
                               "$enddefinitions $end #1 b10101010 !";
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        pieces p = {text, sizeof text - 1, 0, 5};
        ls__vcd_source source = {give, &p, "in.vcd"};
        ls__vcd_reader *reader;
        ls__vcd_item item = {.kind = LS__VCD_TIME};
        ls_error error = {0};
        ls__mem_fail_after(n);
        status = ls__vcd_reader_open(&source, NULL, NULL, &reader, &error);
        while (status == LS_OK && item.kind != LS__VCD_END)
            status = ls__vcd_reader_next(reader, &item, &error);
        ls__mem_fail_after(0);
        ls__vcd_reader_close(&reader);
        assert_true(status == LS_OK || status == LS_E_OUT_OF_MEMORY);
        assert_true(n < 100);
    }
}

/* --- writing ---------------------------------------------------------------------------------- */

static const ls__vcd_signal some_signals[] = {
    {"clk", 1, 0, false, false},      {"cpu.alu.sum", 40, 0, false, false},
    {"count", 3, 0, false, true},     {"cpu.pc", 8, 4, false, true},
    {"cpu-b.x y", 2, 0, true, false}, {"cpu.alu.carry", 1, 0, false, false},
};

static ls__vcd_writer *open_writer(const char *path, bool is_flat)
{
    ls__vcd_writer_params params = {.path = path,
                                    .timescale = "1 ps",
                                    .scope = "top",
                                    .signals = some_signals,
                                    .signal_count = 6,
                                    .is_flat = is_flat};
    ls__vcd_writer *writer;
    ls_error error = {0};
    if (ls__vcd_writer_open(&params, &writer, &error) != LS_OK)
        fail_msg("%s", error.message);
    return writer;
}

static void write_some(ls__vcd_writer *writer)
{
    static const uint64_t values[] = {0, UINT64_C(0x8000000001), 5, 0, 2, 1};
    static const uint64_t later[] = {1, 0, 4};
    ls_error error = {0};
    assert_int_equal(ls__vcd_writer_time(writer, 0, &error), LS_OK);
    for (uint32_t i = 0; i < 6; i++)
        ls__vcd_writer_value(writer, i, &values[i]);
    ls__vcd_writer_dumped(writer);
    assert_int_equal(ls__vcd_writer_time(writer, UINT64_C(20000000000), &error), LS_OK);
    for (uint32_t i = 0; i < 3; i++)
        ls__vcd_writer_value(writer, i, &later[i]);
}

static void assert_file(const char *path, const char *expected)
{
    void *bytes;
    size_t size;
    assert_int_equal(ls__os_read_file(path, UINT64_MAX, &bytes, &size, NULL), LS_OK);
    assert_string_equal((char *)bytes, expected);
    ls__mem_free(bytes);
}

static void tree_to_the_byte(void **state)
{
    ls_error error = {0};
    ls__vcd_writer *writer = open_writer("tree.vcd", false);
    write_some(writer);
    assert_int_equal(ls__vcd_writer_close(&writer, &error), LS_OK);
    assert_file("tree.vcd", "$timescale 1 ps $end\n"
                            "$scope module top $end\n"
                            "$var wire 1 ! clk $end\n"
                            "$var reg 3 # count [2:0] $end\n"
                            "$scope module cpu $end\n"
                            "$var reg 8 $ pc [11:4] $end\n"
                            "$scope module alu $end\n"
                            "$var wire 40 \" sum [39:0] $end\n"
                            "$var wire 1 & carry $end\n"
                            "$upscope $end\n"
                            "$upscope $end\n"
                            "$scope module cpu-b $end\n"
                            "$var wire 2 % x_y [0:1] $end\n"
                            "$upscope $end\n"
                            "$upscope $end\n"
                            "$enddefinitions $end\n"
                            "#0\n$dumpvars\n"
                            "0!\nb1000000000000000000000000000000000000001 \"\nb101 #\nb0 $\n"
                            "b10 %\n1&\n$end\n"
                            "#20000000000\n1!\nb0 \"\nb100 #\n");
}

/* Dots inside names are not scopes. */
static void names_with_dots(void **state)
{
    static const ls__vcd_signal signals[] = {{"$add$a.v:1$2", 1, 0, false, false},
                                             {"u.$mux$b.v:3.Y", 1, 0, false, false},
                                             {"a..b", 1, 0, false, false},
                                             {".c", 1, 0, false, false},
                                             {"d.", 1, 0, false, false}};
    ls__vcd_writer_params params = {.path = "dots.vcd",
                                    .timescale = "1 ps",
                                    .scope = "top",
                                    .signals = signals,
                                    .signal_count = 5};
    ls__vcd_writer *writer;
    ls_error error = {0};
    assert_int_equal(ls__vcd_writer_open(&params, &writer, &error), LS_OK);
    assert_int_equal(ls__vcd_writer_close(&writer, &error), LS_OK);
    assert_file("dots.vcd", "$timescale 1 ps $end\n"
                            "$scope module top $end\n"
                            "$var wire 1 ! $add$a.v:1$2 $end\n"
                            "$var wire 1 $ .c $end\n"
                            "$var wire 1 % d. $end\n"
                            "$scope module a $end\n"
                            "$var wire 1 # .b $end\n"
                            "$upscope $end\n"
                            "$scope module u $end\n"
                            "$var wire 1 \" $mux$b.v:3.Y $end\n"
                            "$upscope $end\n"
                            "$upscope $end\n"
                            "$enddefinitions $end\n");
}

static void flat_to_the_byte(void **state)
{
    static const ls__vcd_signal signals[] = {{"sck", 1, 0, false, false},
                                             {"data", 3, 0, false, false}};
    ls__vcd_writer_params params = {.path = "flat.vcd",
                                    .timescale = "1 ps",
                                    .scope = "top",
                                    .signals = signals,
                                    .signal_count = 2,
                                    .is_flat = true};
    uint64_t value = 1;
    ls__vcd_writer *writer;
    ls_error error = {0};
    assert_int_equal(ls__vcd_writer_open(&params, &writer, &error), LS_OK);
    ls__vcd_writer_time(writer, 0, &error);
    ls__vcd_writer_value(writer, 0, &value);
    value = 6;
    ls__vcd_writer_value(writer, 1, &value);
    ls__vcd_writer_dumped(writer);
    ls__vcd_writer_time(writer, 40000, &error);
    value = 5;
    ls__vcd_writer_value(writer, 1, &value);
    assert_int_equal(ls__vcd_writer_close(&writer, &error), LS_OK);
    assert_file("flat.vcd", "$timescale 1 ps $end\n"
                            "$scope module top $end\n"
                            "$var wire 1 ! sck $end\n"
                            "$var wire 1 \" data[2] $end\n"
                            "$var wire 1 # data[1] $end\n"
                            "$var wire 1 $ data[0] $end\n"
                            "$upscope $end\n"
                            "$enddefinitions $end\n"
                            "$dumpvars\n"
                            "#0\n1!\n1\"\n1#\n0$\n"
                            "#40000\n0#\n1$\n");
}

/* More than goes into the chunks, with steps that are cut between them. */
static void many_steps(ls__vcd_writer *writer, ls_status *status, ls_error *error)
{
    *status = LS_OK;
    for (uint64_t t = 1; t < 60000 && *status == LS_OK; t++) {
        *status = ls__vcd_writer_time(writer, UINT64_C(20000000000) + t, error);
        for (uint32_t i = 0; i < 6; i++) {
            uint64_t value = (t * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - some_signals[i].width);
            ls__vcd_writer_value(writer, i, &value);
        }
    }
}

static void long_files_read_back(void **state)
{
    ls_error error = {0};
    ls_status status;
    void *bytes;
    size_t size;
    ls__vcd_writer *writer = open_writer("long.vcd", false);
    write_some(writer);
    many_steps(writer, &status, &error);
    assert_int_equal(status, LS_OK);
    assert_int_equal(ls__vcd_writer_close(&writer, &error), LS_OK);
    assert_int_equal(ls__os_read_file("long.vcd", UINT64_MAX, &bytes, &size, NULL), LS_OK);
    pieces p = {bytes, size, 0, 100000};
    ls__vcd_source source = {give, &p, "long.vcd"};
    ls__vcd_reader *reader;
    ls__vcd_item item;
    assert_int_equal(ls__vcd_reader_open(&source, NULL, NULL, &reader, &error), LS_OK);
    uint64_t time = 0, count = 0;
    while (ls__vcd_reader_next(reader, &item, &error) == LS_OK && item.kind != LS__VCD_END) {
        if (item.kind == LS__VCD_TIME) {
            time = item.time;
            continue;
        }
        count++;
        if (time <= UINT64_C(20000000000))
            continue;
        static const uint32_t signals[] = {0, 2, 3, 1, 5, 4}; /* by place in the header */
        uint64_t value, t = time - UINT64_C(20000000000);
        uint32_t width = some_signals[signals[item.code]].width;
        assert_false(ls__vcd_bits(item.digits, item.digit_count, width, &value));
        assert_int_equal(value, (t * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - width));
    }
    assert_int_equal(count, 6 + 3 + 59999 * 6);
    assert_int_equal(time, UINT64_C(20000000000) + 59999);
    ls__vcd_reader_close(&reader);
    ls__mem_free(bytes);
}

/* The disk is full in the middle: the error is reported, the file ends in a whole step. */
static void full_disk(void **state)
{
    ls_error error = {0};
    ls_status status, closed;
    struct rlimit old, small;
    void *bytes;
    size_t size;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 300001;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    ls__vcd_writer *writer = open_writer("full.vcd", false);
    write_some(writer);
    many_steps(writer, &status, &error);
    closed = ls__vcd_writer_close(&writer, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(closed, LS_E_IO);
    assert_non_null(strstr(error.message, "cannot write 'full.vcd'"));
    assert_int_equal(ls__os_read_file("full.vcd", UINT64_MAX, &bytes, &size, NULL), LS_OK);
    assert_true(size > 299900 && size <= 300001);
    /* Whole steps: every value of the last one is there, and the last line is whole. */
    ls__strbuf out = {0};
    assert_int_equal(summarize(bytes, size, 100000, &out, &error), LS_OK);
    assert_int_equal(((char *)bytes)[size - 1], '\n');
    char *last = strrchr(out.text, '#');
    uint32_t lines = 0;
    for (char *c = last; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 7);
    ls__strbuf_finish(&out);
    ls__mem_free(bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_forms),  cmocka_unit_test(bits_are_extended),
        cmocka_unit_test(faults_are_named), cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(tree_to_the_byte), cmocka_unit_test(names_with_dots),
        cmocka_unit_test(flat_to_the_byte), cmocka_unit_test(long_files_read_back),
        cmocka_unit_test(full_disk),
    };
    corpus = argc > 1 ? argv[1] : "vcd";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
