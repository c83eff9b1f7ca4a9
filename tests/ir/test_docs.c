/* SPDX-License-Identifier: Apache-2.0 */
/* docs/ir.md (the argument) has a row for every operation and every rule, as the tables state them,
 * the names of all attributes, and an example that reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/os.h"
#include "ir/ir.h"

static const char *path;
static char *document;

static int read_document(void **state)
{
    (void)state;
    void *bytes;
    size_t size;
    if (ls__os_read_file(path, 1 << 20, &bytes, &size, NULL) != LS_OK)
        return -1;
    document = bytes;
    return 0;
}

static int free_document(void **state)
{
    (void)state;
    ls__mem_free(document);
    return 0;
}

static void expect_text(const char *text)
{
    if (!strstr(document, text))
        fail_msg("%s lacks: %s", path, text);
}

static void test_operations(void **state)
{
    (void)state;
    for (unsigned op = LS_OP_NONE + 1; op < LS_OP_COUNT; op++) {
        const ls__ir_op_info *info = ls__ir_op((ls_op)op);
        char row[600];
        snprintf(row, sizeof row, "| `%s` | %s | %s | %c | %s | %s |\n", info->name, info->types,
                 info->operands, info->result, info->flags, info->doc);
        expect_text(row);
    }
}

static void test_rules(void **state)
{
    (void)state;
    static const char *const rows[] = {
#define LS_IR_RULE(number, name, text) "| IR" #number " | " text " |\n",
#include "ir/rules.def"
#undef LS_IR_RULE
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_text(rows[i]);
}

static void test_attributes(void **state)
{
    (void)state;
#define X(name, text) expect_text("`" text "`");
    LS_ID_TABLE(X)
    LS_ATOMIC_TABLE(X)
    LS_REDUCE_TABLE(X)
#undef X
#define X(name, text, bytes) expect_text("`" text "`");
    LS_TYPE_TABLE(X)
#undef X
}

static void test_example(void **state)
{
    (void)state;
    const char *start = strstr(document, "```ir\n");
    assert_non_null(start);
    start += strlen("```ir\n");
    const char *end = strstr(start, "```");
    assert_non_null(end);
    ls__ir_module *module;
    ls_error error = {0};
    if (ls__ir_read(start, (size_t)(end - start), &module, &error) != LS_OK)
        fail_msg("%s (%s)", error.message, error.where);
    ls__ir_module_destroy(&module);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s IR.MD\n", argv[0]);
        return 2;
    }
    path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_example),
    };
    return cmocka_run_group_tests(tests, read_document, free_document);
}
