/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text tests of the passes. A file holds cases; a case is
 *
 *     == name: passes            runs these passes in this order on every function
 *     lockstep ir 3 ...          the module before
 *     == expect                  either the whole module after,
 *     lockstep ir 3 ...
 *     == has: text               or lines that must, or must not, occur in it (any number, any
 * order)
 *     == lacks: text
 *
 *     test_pass_text FILE...                checks
 *     test_pass_text --update FILE...       writes what came out into the `expect` sections
 */
#include "harness.h"

#include "base/os.h"

enum { MAX_CLAIMS = 16 };

typedef struct test_case {
    ls__str title, passes, input, expected;
    const char *expected_at; /* NULL: no such section */
    struct claim {
        ls__str text;
        bool has;
    } claims[MAX_CLAIMS];
    uint32_t claim_count;
} test_case;

static const char *path; /* of the file at hand, for messages */
static bool update;
static unsigned failures;

static ls__str line_at(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return (ls__str){at, (size_t)((stop ? stop : end) - at)};
}

static bool starts_with(ls__str line, const char *prefix)
{
    return line.length >= strlen(prefix) && memcmp(line.text, prefix, strlen(prefix)) == 0;
}

static ls__str after(ls__str line, const char *prefix)
{
    size_t length = strlen(prefix);
    return (ls__str){line.text + length, line.length - length};
}

/* Reads one case that starts at `at`; answers where the next starts. */
static const char *read_case(const char *at, const char *end, test_case *t)
{
    *t = (test_case){.title = line_at(at, end)};
    const char *colon = memchr(at, ':', t->title.length);
    t->passes = (ls__str){colon + 1, (size_t)(t->title.text + t->title.length - colon - 1)};
    ls__str *body = &t->input;
    bool is_first = true;
    for (at += t->title.length + 1; at < end;) {
        ls__str line = line_at(at, end);
        if (starts_with(line, "== expect")) {
            body = &t->expected;
            t->expected_at = body->text = at + line.length + 1;
        } else if (starts_with(line, "== has: ") || starts_with(line, "== lacks: ")) {
            bool has = starts_with(line, "== has: ");
            assert_true(t->claim_count < MAX_CLAIMS);
            t->claims[t->claim_count++] =
                (struct claim){after(line, has ? "== has: " : "== lacks: "), has};
            body = NULL;
        } else if (starts_with(line, "== ")) {
            break;
        } else if (body) {
            if (!body->text)
                body->text = at;
            body->length = (size_t)(line.text + line.length + 1 - body->text);
        }
        is_first = false;
        at += line.length + 1;
    }
    assert_false(is_first);
    return at < end ? at : end;
}

static void run_named(ls__ir_module *module, ls__str name)
{
    uint32_t count;
    const ls__pass *table = ls__pass_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (!ls__str_is(name, table[i].name))
            continue;
        for (uint32_t f = 1; f < module->functions.count; f++) {
            ls__arena scratch;
            ls__arena_init(&scratch, module->arena.oom, 0);
            table[i].run(module->functions.items[f], &scratch);
            ls__arena_finish(&scratch);
        }
        return;
    }
    fail_msg("%s: no pass named %.*s", path, LS__STR_ARG(name));
}

static void run_listed(ls__ir_module *module, ls__str passes)
{
    const char *at = passes.text, *end = passes.text + passes.length;
    while (at < end) {
        size_t length = 0;
        at += strspn(at, " ");
        while (at + length < end && at[length] != ' ')
            length++;
        run_named(module, (ls__str){at, length});
        at += length;
    }
    for (uint32_t f = 1; f < module->functions.count; f++)
        ls__ir_compact(module->functions.items[f]);
}

static bool contains(const char *text, ls__str part)
{
    return memmem(text, strlen(text), part.text, part.length) != NULL;
}

static void check_case(const test_case *t, const char *output)
{
    bool good = true;
    for (uint32_t i = 0; i < t->claim_count; i++) {
        if (contains(output, t->claims[i].text) == t->claims[i].has)
            continue;
        good = false;
        fprintf(stderr, "%s: %.*s: it %s \"%.*s\"\n", path, LS__STR_ARG(t->title),
                t->claims[i].has ? "lacks" : "has", LS__STR_ARG(t->claims[i].text));
    }
    ls__str got = ls__str_from(output);
    if (t->expected_at && !update && !ls__str_equal(got, t->expected)) {
        good = false;
        fprintf(stderr, "%s: %.*s: came out differently:\n", path, LS__STR_ARG(t->title));
    }
    if (!good) {
        fprintf(stderr, "%s", output);
        failures++;
    }
}

static void run_case(const test_case *t, ls__strbuf *rewritten)
{
    ls__ir_module *module = NULL;
    ls_error error = {0};
    if (ls__ir_read(t->input.text, t->input.length, &module, &error) != LS_OK)
        fail_msg("%s: %.*s: %s (%s)", path, LS__STR_ARG(t->title), error.message, error.where);
    ls__oom oom;
    if (setjmp(oom.jump))
        fail_msg("out of memory");
    module->arena.oom = &oom;
    run_listed(module, t->passes);
    if (ls__ir_verify(module, &error) != LS_OK) {
        print_module(module);
        fail_msg("%s: %.*s: %s (%s)", path, LS__STR_ARG(t->title), error.message, error.where);
    }
    ls__strbuf output = {0};
    ls__ir_print(module, &output);
    check_case(t, output.text);
    if (t->expected_at) {
        ls__strbuf_append(rewritten, t->title.text, (size_t)(t->expected_at - t->title.text));
        ls__strbuf_append(rewritten, output.text, output.length);
    }
    ls__strbuf_finish(&output);
    ls__ir_module_destroy(&module);
}

static void write_file(const ls__strbuf *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text->text, 1, text->length, file);
    fclose(file);
}

static void run_file(void **state)
{
    path = *state;
    void *bytes = NULL;
    size_t size = 0;
    ls_error error = {0};
    if (ls__os_read_file(path, UINT64_MAX, &bytes, &size, &error) != LS_OK)
        fail_msg("%s: %s", path, error.message);
    const char *text = bytes, *end = text + size, *at = text;
    while (at < end && !starts_with(line_at(at, end), "== ")) /* the file's own comment */
        at += line_at(at, end).length + 1;
    ls__strbuf rewritten = {0};
    ls__strbuf_append(&rewritten, text, (size_t)(at - text));
    unsigned before = failures, count = 0;
    while (at < end) {
        test_case t;
        const char *start = at;
        at = read_case(at, end, &t);
        run_case(&t, &rewritten);
        if (!t.expected_at)
            ls__strbuf_append(&rewritten, start, (size_t)(at - start));
        count++;
    }
    if (update)
        write_file(&rewritten);
    ls__strbuf_finish(&rewritten);
    ls__mem_free(bytes);
    assert_true(count > 0);
    assert_int_equal(failures, before);
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[64];
    size_t count = 0;
    for (int i = 1; i < argc && count < 64; i++) {
        if (strcmp(argv[i], "--update") == 0) {
            update = true;
            continue;
        }
        const char *name = strrchr(argv[i], '/');
        tests[count++] = (struct CMUnitTest){
            .name = name ? name + 1 : argv[i], .test_func = run_file, .initial_state = argv[i]};
    }
    return _cmocka_run_group_tests("pass text", tests, count, NULL, NULL);
}
