/* SPDX-License-Identifier: Apache-2.0 */
/* Kept bytes: found under their key alone, not when any byte of the file differs, and trimmed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"

#include "base/kept.h"
#include "base/mem.h"

static char root[] = "ls-test-kept-XXXXXX";
static ls__kept kept = {.magic = "TESTFILE", .suffix = ".kept", .limit_bytes = 1000};
static const char text[] = "forty-two bytes of what takes long to make";

static int open_folder(void **state)
{
    (void)state;
    return mkdtemp(root) && ls__dir_open(root, &kept.dir, NULL) == LS_OK ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[80];
    (void)state;
    ls__dir_close(&kept.dir);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static ls__digest key_of(const char *name)
{
    return ls__digest_of(name, strlen(name));
}

static bool is_there(const ls__kept *kind, const char *name)
{
    ls__digest key = key_of(name);
    void *bytes = NULL;
    size_t size = 0;
    if (!ls__kept_get(kind, &key, &bytes, &size))
        return false;
    assert_int_equal(size, sizeof text);
    assert_memory_equal(bytes, text, sizeof text);
    ls__mem_free(bytes);
    return true;
}

static void put(const char *name)
{
    ls__digest key = key_of(name);
    ls__kept_put(&kept, &key, text, sizeof text);
}

static void found_under_their_key(void **state)
{
    (void)state;
    ls__kept other = kept;
    assert_false(is_there(&kept, "a"));
    put("a");
    assert_true(is_there(&kept, "a"));
    assert_false(is_there(&kept, "b"));
    other.suffix = ".other";
    assert_false(is_there(&other, "a"));
    other = kept;
    other.magic = "TESTFIL2"; /* of another version: it goes */
    assert_false(is_there(&other, "a"));
    assert_false(is_there(&kept, "a"));
}

static void damaged_files_go(void **state)
{
    (void)state;
    char name[80], hex[65];
    void *bytes;
    size_t size;
    ls__digest_hex(key_of("a"), hex);
    snprintf(name, sizeof name, "%s.kept", hex);
    put("a");
    assert_int_equal(ls__dir_read(kept.dir, name, 1000, &bytes, &size, NULL), LS_OK);
    assert_int_equal(size, 80 + sizeof text);
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] ^= 4;
        assert_int_equal(ls__dir_write(kept.dir, name, bytes, size, NULL), LS_OK);
        assert_false(is_there(&kept, "a"));
        assert_int_not_equal(
            ls__dir_read(kept.dir, name, 1000, &(void *){NULL}, &(size_t){0}, NULL), LS_OK);
        ((uint8_t *)bytes)[i] ^= 4;
    }
    for (size_t cut = 0; cut < size; cut += 40) {
        assert_int_equal(ls__dir_write(kept.dir, name, bytes, cut, NULL), LS_OK);
        assert_false(is_there(&kept, "a"));
    }
    assert_int_equal(ls__dir_write(kept.dir, name, bytes, size, NULL), LS_OK);
    assert_true(is_there(&kept, "a"));
    ls__mem_free(bytes);
}

static void there_is_a_limit(void **state)
{
    (void)state;
    unsigned there = 0;
    for (char name[] = "a"; name[0] <= 'z'; name[0]++)
        put(name);
    for (char name[] = "a"; name[0] <= 'z'; name[0]++)
        there += is_there(&kept, name);
    assert_int_equal(there, kept.limit_bytes / (80 + sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_under_their_key),
        cmocka_unit_test(damaged_files_go),
        cmocka_unit_test(there_is_a_limit),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
