/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of the native check:
 *
 *     native_check [--seed S] [--programs N] [--batch B] [--rounds R] [--no-reduce] [file.kc ...]
 *
 * Checks the files given, then N generated programs. Prints every program that is not equal
 * (reduced), the share of flagged lanes, and ends with status 1 when any program failed or the
 * share is above one percent.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "check.h"
#include "conform/generate.h"

typedef struct arguments {
    uint64_t seed;
    uint32_t programs, batch, rounds;
    bool no_reduce, print;
    const char *compiler, *include_dir;
    const char *files[256];
    uint32_t file_count;
} arguments;

static const struct argp_option option_table[] = {
    {"seed", 's', "S", 0,
     "seed of the first generated program (default 1); program i has seed S + i", 0},
    {"programs", 'n', "N", 0, "how many programs to generate (default 0)", 0},
    {"batch", 'b', "B", 0, "programs a run of the C compiler (default 20)", 0},
    {"rounds", 'r', "R", 0, "input sets a kernel (default 2)", 0},
    {"compiler", 'c', "CC", 0, "the C compiler (default cc)", 0},
    {"include", 'I', "DIR", 0, "folder of lockstep/kernel.h (default include)", 0},
    {"no-reduce", 'R', NULL, 0, "print failing programs as they are", 0},
    {"print", 'p', NULL, 0, "print the generated programs and check nothing", 0},
    {0}};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 's':
        a->seed = strtoull(value, NULL, 0);
        break;
    case 'n':
        a->programs = (uint32_t)strtoul(value, NULL, 0);
        break;
    case 'b':
        a->batch = (uint32_t)strtoul(value, NULL, 0);
        break;
    case 'r':
        a->rounds = (uint32_t)strtoul(value, NULL, 0);
        break;
    case 'c':
        a->compiler = value;
        break;
    case 'I':
        a->include_dir = value;
        break;
    case 'R':
        a->no_reduce = true;
        break;
    case 'p':
        a->print = true;
        break;
    case ARGP_KEY_ARG:
        if (a->file_count == 256)
            argp_error(state, "at most 256 files");
        a->files[a->file_count++] = value;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

typedef struct totals {
    uint64_t equal, failed, not_applicable, lanes, flagged;
} totals;

static void account(const ls__native_program *p, const ls__native_options *options,
                    const arguments *a, totals *t)
{
    t->lanes += p->lanes;
    t->flagged += p->flagged;
    if (p->verdict == LS__NATIVE_EQUAL) {
        t->equal++;
        return;
    }
    if (p->verdict == LS__NATIVE_NOT_APPLICABLE) {
        t->not_applicable++;
        return;
    }
    t->failed++;
    printf("FAIL %s: %s: %s\n", p->path, ls__native_verdict_name(p->verdict), p->message);
    fflush(stdout); /* reducing takes minutes; who stops it has the verdict at least */
    ls__strbuf text = {0};
    if (a->no_reduce || p->verdict == LS__NATIVE_CC_FAILED)
        ls__strbuf_append(&text, p->text, p->length);
    else
        ls__native_reduce(p, options, &text);
    printf("%s\n", text.text ? text.text : "");
    fflush(stdout);
    ls__strbuf_finish(&text);
}

static void check_files(const arguments *a, const ls__native_options *options, totals *t)
{
    for (uint32_t i = 0; i < a->file_count; i++) {
        ls_error error = {0};
        void *bytes = NULL;
        size_t size = 0;
        char *path = realpath(a->files[i], NULL);
        if (!path || ls__os_read_file(path, 1u << 24, &bytes, &size, &error) != LS_OK) {
            printf("FAIL %s: cannot be read\n", a->files[i]);
            t->failed++;
            free(path);
            continue;
        }
        ls__native_program program = {.path = path, .text = bytes, .length = size};
        ls__native_check(&program, 1, options);
        printf("%s: %s, %llu of %llu lanes flagged\n", a->files[i],
               ls__native_verdict_name(program.verdict), (unsigned long long)program.flagged,
               (unsigned long long)program.lanes);
        account(&program, options, a, t);
        ls__mem_free(bytes);
        free(path);
    }
}

static void check_generated(const arguments *a, const ls__native_options *options, totals *t)
{
    ls__native_program *programs = ls__mem_alloc(a->batch, sizeof *programs);
    for (uint32_t done = 0; programs && done < a->programs;) {
        uint32_t count = a->programs - done < a->batch ? a->programs - done : a->batch;
        for (uint32_t i = 0; i < count; i++) {
            ls__strbuf text = {0};
            char path[4096];
            uint64_t seed = a->seed + done + i;
            snprintf(path, sizeof path, "%s/seed_%llu.kc", options->work_dir,
                     (unsigned long long)seed);
            ls__generate(seed, "generated", seed % 2, &text);
            if (a->print)
                printf("// seed %llu\n%s\n", (unsigned long long)seed, text.text ? text.text : "");
            FILE *file = fopen(path, "wb");
            if (file) {
                fwrite(text.text, 1, text.length, file);
                fclose(file);
            }
            programs[i] = (ls__native_program){
                .path = ls__mem_strdup(path), .text = text.text, .length = text.length};
        }
        if (!a->print)
            ls__native_check(programs, count, options);
        for (uint32_t i = 0; i < count; i++) {
            account(&programs[i], options, a, t);
            unlink(programs[i].path);
            ls__mem_free((void *)(uintptr_t)programs[i].path);
            ls__mem_free((void *)(uintptr_t)programs[i].text);
        }
        done += count;
    }
    ls__mem_free(programs);
}

int main(int argc, char **argv)
{
    arguments a = {.seed = 1, .batch = 20, .rounds = 2, .compiler = "cc", .include_dir = "include"};
    const struct argp parser = {
        option_table,
        parse_option,
        "[FILE.kc ...]",
        "Compares Kernel C as we run it with the same text built by a C compiler.",
        NULL,
        NULL,
        NULL};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    const char *temporary = getenv("TMPDIR");
    char work[4096];
    snprintf(work, sizeof work, "%s/lockstep-native-XXXXXX", temporary ? temporary : P_tmpdir);
    if (!mkdtemp(work) || !a.batch) {
        fprintf(stderr, "native_check: cannot make a scratch folder\n");
        return 2;
    }
    ls__native_options options = {.compiler = a.compiler,
                                  .include_dir = a.include_dir,
                                  .work_dir = work,
                                  .seed = a.seed,
                                  .rounds = a.rounds,
                                  .lanes = LS__GENERATE_LANES,
                                  .elements = 2 * LS__GENERATE_ELEMENTS};
    totals t = {0};
    check_files(&a, &options, &t);
    check_generated(&a, &options, &t);
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", work);
    if (system(command) != 0)
        fprintf(stderr, "native_check: %s was not removed\n", work);
    double share = t.lanes ? 100.0 * (double)t.flagged / (double)t.lanes : 0;
    printf("%llu equal, %llu failed, %llu not applicable; %.3f %% of %llu lanes flagged\n",
           (unsigned long long)t.equal, (unsigned long long)t.failed,
           (unsigned long long)t.not_applicable, share, (unsigned long long)t.lanes);
    return t.failed || (!a.file_count && share > 1.0);
}
