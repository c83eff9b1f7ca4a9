/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the text corpora beside this file; the folder is the first argument.
 *
 *   good/     printing what was read gives the file again; so do a copy of the module, and its
 * binary form read back (up to numbering); with every allocation failing in turn, reading fails
 *             cleanly
 *   bad/      "# expect IR0013": reading fails with this id
 *   uniform/  lines "# value @f %1 lane", "# var @f v1 grid", "# control @f %1 workgroup" and
 *             "# bound @f 10" state what the analyses say
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/os.h"
#include "ir/ir.h"

static const char *corpus;
static char current[512]; /* the file at work, for messages */

typedef void check_file(char *text, size_t length);

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void for_each_file(const char *folder, check_file *check)
{
    char path[400];
    char *names[400];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", corpus, folder);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strstr(entry->d_name, ".ir"))
            continue;
        assert_true(count < 400);
        names[count++] = strdup(entry->d_name);
    }
    closedir(directory);
    assert_true(count > 0);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        void *text;
        size_t length;
        snprintf(current, sizeof current, "%.200s/%.200s", path, names[i]);
        assert_int_equal(ls__os_read_file(current, 1 << 20, &text, &length, NULL), LS_OK);
        /* An exact-size copy, so that a read beyond the end is seen. */
        char *exact = malloc(length ? length : 1);
        memcpy(exact, text, length);
        ls__mem_free(text);
        check(exact, length);
        free(exact);
        free(names[i]);
    }
}

static ls__ir_module *read_good(const char *text, size_t length)
{
    ls__ir_module *module;
    ls_error error = {0};
    if (ls__ir_read(text, length, &module, &error) != LS_OK)
        fail_msg("%s: %s (%s)", current, error.message, error.where);
    return module;
}

static void assert_prints(const ls__ir_module *module, const char *text, size_t length)
{
    ls__strbuf out = {0};
    ls__ir_print(module, &out);
    if (out.length != length || memcmp(out.text, text, length) != 0)
        fail_msg("%s prints as\n%s", current, out.text);
    ls__strbuf_finish(&out);
}

/* --- good ------------------------------------------------------------------------------------- */

static void check_binary(ls__ir_module *module)
{
    void *bytes;
    size_t size;
    ls_error error = {0};
    ls__ir_module *back;
    ls__digest before, after;
    ls__strbuf text = {0};
    assert_int_equal(ls__ir_encode(module, &bytes, &size, NULL), LS_OK);
    if (ls__ir_decode(bytes, size, &back, &error) != LS_OK)
        fail_msg("%s: %s (%s)", current, error.message, error.where);
    assert_int_equal(ls__ir_digest(module, &before, NULL), LS_OK);
    assert_int_equal(ls__ir_digest(back, &after, NULL), LS_OK);
    assert_memory_equal(before.bytes, after.bytes, sizeof before.bytes);
    assert_memory_equal(before.bytes, (char *)bytes + 24, sizeof before.bytes);

    /* The binary form numbers values in order of appearance, as compaction does. */
    ls__oom oom;
    if (setjmp(oom.jump))
        fail_msg("out of memory");
    module->arena.oom = &oom;
    for (uint32_t i = 1; i < module->functions.count; i++) {
        ls__ir_function *f = module->functions.items[i];
        uint32_t vars = f->vars.count;
        ls__ir_compact(f);
        assert_int_equal(f->vars.count, vars);
    }
    module->arena.oom = NULL;
    ls__ir_print(module, &text);
    assert_prints(back, text.text, text.length);
    ls__strbuf_finish(&text);
    ls__ir_module_destroy(&back);
    ls__mem_free(bytes);
}

static void check_good(char *text, size_t length)
{
    ls__oom oom;
    ls__ir_module *module = read_good(text, length);
    assert_prints(module, text, length);
    if (setjmp(oom.jump))
        fail_msg("out of memory");
    ls__ir_module *copy = ls__ir_module_clone(module, &oom, 0);
    assert_int_equal(ls__ir_verify(copy, NULL), LS_OK);
    assert_prints(copy, text, length);
    ls__ir_module_destroy(&copy);
    check_binary(module);
    ls__ir_module_destroy(&module);
}

static void test_good(void **state)
{
    (void)state;
    for_each_file("good", check_good);
}

/* Runs `attempt` with the first, second, ... allocation failing until it succeeds. */
typedef ls_status attempt(void *context);
static void sweep(attempt *run, void *context)
{
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        assert_int_equal(status, LS_E_OUT_OF_MEMORY);
        assert_true(n < 10000);
        ls__mem_fail_after(n);
        status = run(context);
        ls__mem_fail_after(0);
    }
}

typedef struct sweep_input {
    const void *text;
    size_t length;
    const ls__ir_module *module;
} sweep_input;

static ls_status try_read(void *context)
{
    sweep_input *in = context;
    ls__ir_module *module;
    ls_status status = ls__ir_read(in->text, in->length, &module, NULL);
    assert_true((module != NULL) == (status == LS_OK));
    ls__ir_module_destroy(&module);
    return status;
}

static ls_status try_decode(void *context)
{
    sweep_input *in = context;
    ls__ir_module *module;
    ls_status status = ls__ir_decode(in->text, in->length, &module, NULL);
    assert_true((module != NULL) == (status == LS_OK));
    ls__ir_module_destroy(&module);
    return status;
}

static ls_status try_encode(void *context)
{
    void *bytes;
    size_t size;
    ls_status status = ls__ir_encode(((sweep_input *)context)->module, &bytes, &size, NULL);
    assert_true((bytes != NULL) == (status == LS_OK));
    ls__mem_free(bytes);
    return status;
}

static ls_status try_clone(void *context)
{
    ls__oom oom;
    if (setjmp(oom.jump))
        return ls__oom_status(&oom, NULL);
    ls__ir_module *copy = ls__ir_module_clone(((sweep_input *)context)->module, &oom, 0);
    ls__ir_module_destroy(&copy);
    return LS_OK;
}

static void check_memory(char *text, size_t length)
{
    sweep_input in = {text, length, NULL};
    sweep(try_read, &in);
    ls__ir_module *module = read_good(text, length);
    in.module = module;
    sweep(try_encode, &in);
    sweep(try_clone, &in);
    void *bytes;
    size_t size;
    assert_int_equal(ls__ir_encode(module, &bytes, &size, NULL), LS_OK);
    sweep(try_decode, &(sweep_input){bytes, size, NULL});
    ls__mem_free(bytes);
    ls__ir_module_destroy(&module);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for_each_file("good", check_memory);
}

/* --- bad -------------------------------------------------------------------------------------- */

static void check_bad(char *text, size_t length)
{
    char id[8] = "";
    ls__ir_module *module;
    ls_error error = {0};
    assert_int_equal(sscanf(text, "# expect %7s", id), 1);
    ls_status status = ls__ir_read(text, length, &module, &error);
    if (status == LS_OK || strncmp(error.message, id, strlen(id)) != 0)
        fail_msg("%s: %s (%s)", current, error.message, error.where);
    assert_null(module);
    assert_int_equal(status, strstr(current, "/version_") ? LS_E_VERSION : LS_E_COMPILE);
    assert_int_equal(status, ls__ir_read(text, length, &module, NULL)); /* without an error too */
}

static void test_bad(void **state)
{
    (void)state;
    for_each_file("bad", check_bad);
}

/* Every beginning of a good file is refused or read, but never read beyond. */
static void check_beginnings(char *text, size_t length)
{
    for (size_t n = 0; n < length; n += 1 + n / 200) {
        char *cut = malloc(n ? n : 1);
        memcpy(cut, text, n);
        ls__ir_module *module;
        ls__ir_read(cut, n, &module, NULL);
        ls__ir_module_destroy(&module);
        free(cut);
    }
}

static void test_beginnings(void **state)
{
    (void)state;
    for_each_file("good", check_beginnings);
}

/* --- uniform ---------------------------------------------------------------------------------- */

static const char *const scope_names[] = {"grid", "workgroup", "subgroup", "lane"};

static void expect_scope(const char *line, ls__ir_scope scope, const char *expected)
{
    if (strcmp(scope_names[scope], expected) != 0)
        fail_msg("%s: %.60s: is %s", current, line, scope_names[scope]);
}

static const ls__ir_inst *first_loop(const ls__ir_function *function)
{
    for (const ls__ir_inst *inst = function->body->first; inst; inst = inst->next) {
        if (inst->op == LS_OP_LOOP)
            return inst;
    }
    fail_msg("%s: no loop", current);
    return NULL;
}

static bool check_claim(const ls__ir_module *module, const char *line, ls__arena *arena)
{
    char what[16], name[32], scope[16] = "";
    uint32_t id;
    uint64_t bound;
    if (sscanf(line, "# bound @%31s %" SCNu64, name, &bound) == 2) {
        const ls__ir_function *f = ls__ir_function_find(module, ls__str_from(name));
        uint64_t actual = ls__ir_loop_bound(f, first_loop(f));
        if (actual != bound)
            fail_msg("%s: bound is %" PRIu64, current, actual);
        return true;
    }
    if (sscanf(line, "# %15s @%31s %*[%%v]%" SCNu32 " %15s", what, name, &id, scope) != 4)
        return false;
    const ls__ir_function *f = ls__ir_function_find(module, ls__str_from(name));
    assert_non_null(f);
    ls__ir_uniformity u = ls__ir_uniformity_of(f, arena);
    if (strcmp(what, "var") == 0) {
        assert_true(id < f->vars.count);
        expect_scope(line, (ls__ir_scope)u.vars[id], scope);
        return true;
    }
    const ls__ir_inst *inst = ls__ir_def(f, (ls_value){id});
    assert_non_null(inst);
    if (strcmp(what, "control") == 0)
        expect_scope(line, ls__ir_control_scope(f, &u, inst), scope);
    else
        expect_scope(line, (ls__ir_scope)u.values[id], scope);
    return true;
}

static void check_uniform(char *text, size_t length)
{
    ls__oom oom;
    ls__arena arena;
    ls__ir_module *module = read_good(text, length);
    unsigned claims = 0;
    ls__arena_init(&arena, &oom, 0);
    if (setjmp(oom.jump))
        fail_msg("out of memory");
    char *copy = strndup(text, length);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
        claims += check_claim(module, line, &arena);
    assert_true(claims > 0);
    free(copy);
    ls__arena_finish(&arena);
    ls__ir_module_destroy(&module);
}

static void test_uniform(void **state)
{
    (void)state;
    for_each_file("uniform", check_uniform);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    corpus = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_bad),     cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
