/* SPDX-License-Identifier: Apache-2.0 */
/* docs/numerics.md names every operation that has a result of its own, and the contract's version.
 * The document's path is the first argument. */
#include <stdio.h>
#include <string.h>

#include "../base/cmocka_all.h"

#include "base/mem.h"
#include "base/os.h"
#include "ir/ir.h"

static const char *path;

static void test_names_every_operation(void **state)
{
    (void)state;
    void *bytes;
    size_t size;
    ls_error error;
    char word[64];

    if (ls__os_read_file(path, 1 << 20, &bytes, &size, &error) != LS_OK)
        fail_msg("%s", error.message);
    for (unsigned op = LS_OP_NONE + 1; op < LS_OP_COUNT; op++) {
        if (ls__ir_op_has((ls_op)op, 'X') || op == LS_OP_CALL)
            continue;
        snprintf(word, sizeof word, "`%s`", ls__ir_op((ls_op)op)->name);
        if (!strstr(bytes, word))
            fail_msg("%s does not name %s", path, word);
    }
    snprintf(word, sizeof word, "Contract version **%d**", LS_CONTRACT_VERSION);
    assert_non_null(strstr(bytes, word));
    ls__mem_free(bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_every_operation)};
    if (argc < 2)
        return 2;
    path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
