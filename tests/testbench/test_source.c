/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of a source shows: assignments to pins, files that it includes. */
#include "../base/cmocka_all.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "testbench/source.h"

static void assignments_are_found(void **state)
{
    static const struct {
        const char *text;
        bool assigns;
    } cases[] = {
        {"pins->led = 1ul;", true},
        {"p . led=x", false}, /* no member as anybody writes it */
        {"p.led=x", true},
        {"pins->led\n  |= 2ul", true},
        {"pins->led <<= 1", true},
        {"pins->led++;", true},
        {"pins->led == 1ul", false},
        {"pins->led <= 1ul", false},
        {"pins->led < 1ul", false},
        {"pins->led << 1", false},
        {"pins->led + 1ul", false},
        {"pins->led2 = 1ul", false},
        {"pins->the_led = 1ul", false},
        {"led = 1ul", false},
        {"/* pins->led = 1 */ // pins->led = 1\n", false},
        {"pins->led /* on */", false},
        {"/* open", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(ls__source_assigns(cases[i].text, "led"), cases[i].assigns);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void note(void *context, const char *path)
{
    ls__strbuf_printf(context, "%s ", path);
}

static void expect(const char *root, const char *files)
{
    ls__strbuf out = {0};
    ls__source_visit_files(root, note, &out);
    assert_string_equal(out.text, files);
    ls__strbuf_finish(&out);
}

static void files_are_found(void **state)
{
    mkdir("source", 0777);
    write_file("source/a.kc",
               "#include \"b.kc\"\n#include <lockstep/kernel.h>\n#include \"none.kc\"\n");
    write_file("source/b.kc", "int x; // #include \"a.kc\"");
    write_file("source/t.sv",
               "`include \"source/u.vh\"\n$readmemh(\"v.hex\", m); $readmemb (\"w\"");
    write_file("source/u.vh", "`include \"u.vh\"");
    write_file("source/v.hex", "`include \"w\"");
    expect("source/a.kc", "source/a.kc source/b.kc ");
    expect("source/v.hex", "source/v.hex ");
    expect("none", "none ");
    /* One that includes itself ends at a depth of 16. */
    ls__strbuf out = {0};
    ls__strbuf_printf(&out, "source/t.sv ");
    for (int i = 0; i < 16; i++)
        ls__strbuf_printf(&out, "source/u.vh ");
    ls__strbuf_printf(&out, "source/v.hex ");
    expect("source/t.sv", out.text);
    ls__strbuf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(assignments_are_found),
                                       cmocka_unit_test(files_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
