/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tuner on one device, which is named on the command line. Which candidate is fastest is never
 * looked at: a choice is one of the candidates, and right whichever it is.
 */
#include "../core/kit.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tune/tune.h"

enum { LANES = 300 };

static const char *device_name;
static char folder[64]; /* of the device's cache */
static ls_device *device;
static float x[LANES], y[LANES];

/* Its barrier gives the group size a meaning; y changes in place, so each launch needs it fresh. */
static const char good_source[] =
    "SPEC(u32, GROUP, 64, 32, 128);\n"
    "SPEC(u32, ONCE, 7);\n"
    "kernel workgroup(GROUP) void blend(u32 n, f32 a, const f32 *x, f32 *y)\n"
    "{\n"
    "    shared f32 tile[GROUP];\n"
    "    u32 i = global_id(0), k = local_id(0);\n"
    "    if (i < n) tile[k] = x[i];\n"
    "    barrier();\n"
    "    if (i < n) y[i] = y[i] * a + tile[k];\n"
    "}\n";

static ls_device *open_device(const char *cache)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *opened = NULL;
    params.name = device_name;
    params.cache_path = cache;
    params.threads = 2;
    OK(ls_device_open(&params, &opened, error));
    return opened;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "tune.XXXXXX");
    assert_non_null(mkdtemp(folder));
    device = open_device(folder);
    for (uint32_t i = 0; i < LANES; i++) {
        x[i] = (float)i * 0.25f;
        y[i] = 100.0f - (float)i;
    }
    return 0;
}

/* Calls `each`, where it is given, with every file of the cache, and removes them. */
static uint32_t empty_folder(void (*each)(const char *path), bool remove)
{
    uint32_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (each)
            each(path);
        if (remove)
            unlink(path);
    }
    if (dir)
        closedir(dir);
    return count;
}

/* The tuner gives everything back. */
static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(kit_used(device), 0);
    OK(ls_device_destroy(&device, error));
    empty_folder(NULL, true);
    rmdir(folder);
    return 0;
}

/* --- what the tests call ---------------------------------------------------------------------- */
typedef struct launch {
    ls_compile_params source;
    ls_tune_params params;
    ls_tune_buffer buffers[2];
    struct {
        uint32_t n;
        float a;
    } scalars;
} launch;

static launch *make(launch *l, const char *text)
{
    *l = (launch){.source = LS_COMPILE_PARAMS_INIT, .params = LS_TUNE_PARAMS_INIT};
    l->source.text = text;
    l->source.length = strlen(text);
    l->buffers[0] = (ls_tune_buffer){x, sizeof x};
    l->buffers[1] = (ls_tune_buffer){y, sizeof y};
    l->scalars.n = LANES;
    l->scalars.a = 0.5f;
    l->params.source = &l->source;
    l->params.global_size[0] = LANES;
    l->params.buffers = l->buffers;
    l->params.buffer_count = 2;
    l->params.scalars = &l->scalars;
    l->params.scalar_bytes = sizeof l->scalars;
    l->params.rounds = 2;
    return l;
}

/* A kernel with the buffer y alone. */
static launch *make_small(launch *l, const char *text)
{
    make(l, text);
    l->buffers[0] = l->buffers[1];
    l->params.buffer_count = 1;
    l->params.scalar_bytes = 0;
    return l;
}

static ls_tuning *tune(const launch *l, ls_tuning_info *info)
{
    ls_tuning *tuning = NULL;
    *info = (ls_tuning_info){.struct_size = sizeof *info};
    OK(ls_tune(device, &l->params, &tuning, error));
    ls_tuning_describe(tuning, info);
    assert_true(info->chosen < info->candidate_count);
    return tuning;
}

static ls_tune_candidate candidate_of(const ls_tuning *tuning, uint32_t index)
{
    ls_tune_candidate candidate = {.struct_size = sizeof candidate};
    ls_tuning_candidate(tuning, index, &candidate);
    return candidate;
}

static void refused(const launch *l, ls_status code, const char *says, const char *also)
{
    ls_tuning *tuning = (ls_tuning *)&tuning;
    ls_error error = {0};
    ls_status status = ls_tune(device, &l->params, &tuning, &error);
    char text[sizeof error.message + sizeof error.where];
    snprintf(text, sizeof text, "%s|%s", error.message, error.where);
    if (status != code || error.code != code || !strstr(text, says) || !strstr(text, also))
        fail_msg("expected %s, '%s' and '%s', got %s: %s (%s)", ls_status_name(code), says, also,
                 ls_status_name(status), text, error.hint);
    assert_null(tuning);
}

static ls_module *compile(const launch *l, const ls_define *defines, uint32_t count)
{
    ls_compile_params params = l->source;
    ls_module *module = NULL;
    params.defines = defines;
    params.define_count = count;
    OK(ls_module_compile(&params, &module, NULL, error));
    return module;
}

/* How many values are kept for the source of `l`, compiled anew. */
static uint32_t kept(const launch *l, bool unchecked, ls_define *value)
{
    ls_tuned_params params = LS_TUNED_PARAMS_INIT;
    ls_module *module = compile(l, l->source.defines, l->source.define_count);
    ls_define values[4];
    uint32_t count = 99;
    params.module = module;
    params.defines = l->source.defines;
    params.define_count = l->source.define_count;
    params.unchecked = unchecked;
    OK(ls_tuned_specs(device, &params, values, 4, &count, error));
    if (count && value) {
        assert_string_equal(values[0].name, "GROUP");
        *value = (ls_define){"GROUP", values[0].value};
    }
    ls_module_destroy(&module);
    return count;
}

/* 1 where the device keeps anything; the reference does not. */
static uint32_t keeps(void)
{
    return ls_device_cache_path(device) != NULL;
}

/* What the kernel makes of y when it is built with these constants, without the tuner. */
static void launch_once(const launch *l, const ls_define *defines, uint32_t count, float *out)
{
    ls_module *module = compile(l, defines, count);
    ls_program *program = NULL;
    ls_stream *stream = kit_stream(device);
    ls_batch *batch = kit_batch(device);
    ls_buffer *buffers[2] = {kit_buffer(device, sizeof x, LS_MEM_F32),
                             kit_buffer(device, sizeof y, LS_MEM_F32)};
    OK(ls_program_create(device, module, NULL, &program, error));
    OK(ls_buffer_write(buffers[0], 0, LS_MEM_F32, x, sizeof x, error));
    OK(ls_buffer_write(buffers[1], 0, LS_MEM_F32, y, sizeof y, error));
    ls_range ranges[] = {WHOLE(buffers[0]), WHOLE(buffers[1])};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "blend"), LANES, ranges, 2, &l->scalars,
                                        sizeof l->scalars);
    OK(ls_batch_dispatch(batch, &dispatch, error));
    kit_run(stream, batch, NULL);
    OK(ls_buffer_read(buffers[1], 0, LS_MEM_F32, out, sizeof y, error));
    ls_batch_destroy(&batch);
    OK(ls_stream_destroy(&stream, error));
    ls_buffer_destroy(&buffers[0]);
    ls_buffer_destroy(&buffers[1]);
    ls_program_destroy(&program);
    ls_module_destroy(&module);
}

/* --- tests ------------------------------------------------------------------------------------ */
static void a_choice_is_a_candidate_and_changes_no_bit(void **state)
{
    (void)state;
    static const int64_t groups[] = {64, 32, 128};
    launch l;
    ls_tuning_info info;
    ls_define value = {0};
    float plain[LANES], tuned[LANES];
    ls_tuning *tuning = tune(make(&l, good_source), &info);
    assert_int_equal(info.candidate_count, 3);
    assert_int_equal(info.value_count, 1);
    assert_int_equal(info.rounds, 2);
    assert_int_equal(info.not_kept == NULL, keeps());
    assert_true(info.device_time || info.time_unavailable);
    for (uint32_t i = 0; i < 3; i++) {
        ls_tune_candidate c = candidate_of(tuning, i);
        assert_null(c.left_out);
        assert_string_equal(c.values[0].name, "GROUP");
        assert_int_equal(c.values[0].value, groups[i]);
    }
    assert_int_equal(kept(&l, false, &value), keeps());
    if (keeps())
        assert_int_equal(value.value, groups[info.chosen]);
    value = (ls_define){"GROUP", groups[info.chosen]};
    launch_once(&l, NULL, 0, plain);
    launch_once(&l, &value, 1, tuned);
    assert_memory_equal(plain, tuned, sizeof plain);
    assert_true(plain[299] == 299 * 0.25f + -199 * 0.5f);
    ls_tuning_destroy(&tuning);
    assert_null(tuning);
}

static void products_of_two_constants(void **state)
{
    (void)state;
    launch l;
    ls_tuning_info info;
    ls_define fixed = {"B", 5};
    make_small(&l, "SPEC(u32, A, 1, 2);\nSPEC(i32, B, 0, -1, 1);\nSPEC(i32, C, 1);\n"
                   "kernel workgroup(32, A) void k(f32 *y)\n"
                   "{\n    if (local_id(1) == 0) y[global_id(0)] = (f32)C;\n"
                   "    if (B > 1) y[0] = 9.0f;\n}\n");
    ls_tuning *tuning = tune(&l, &info);
    static const int64_t expected[][2] = {{1, 0}, {1, -1}, {1, 1}, {2, 0}, {2, -1}, {2, 1}};
    assert_int_equal(info.candidate_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        ls_tune_candidate c = candidate_of(tuning, i);
        assert_int_equal(c.values[0].value, expected[i][0]);
        assert_int_equal(c.values[1].value, expected[i][1]);
    }
    ls_tuning_destroy(&tuning);
    l.source.defines = &fixed; /* one that is fixed is not tuned, whatever its value */
    l.source.define_count = 1;
    tuning = tune(&l, &info);
    assert_int_equal(info.candidate_count, 2);
    assert_int_equal(info.value_count, 1);
    ls_tuning_destroy(&tuning);
}

static void results_that_depend_on_the_choice_are_refused(void **state)
{
    (void)state;
    launch l;
    refused(make_small(&l, "SPEC(u32, GROUP, 64, 64 + 32, 128);\n"
                           "kernel workgroup(GROUP) void k(f32 *y)\n"
                           "{\n    if (global_id(0) == 70)\n"
                           "        y[37] = (f32)workgroup_size(0);\n}\n"),
            LS_E_FAILED, "with GROUP=96 than with GROUP=64", "y[37]");
    refused(make_small(&l, "SPEC(u32, GROUP, 64, 32);\n"
                           "kernel workgroup(GROUP) void k(f32 *y)\n"
                           "{\n    if (GROUP == 32) trap(7);\n    y[0] = 1.0f;\n}\n"),
            LS_E_TRAP, "trapped with code 7", "GROUP=32");
    assert_int_equal(kept(&l, false, NULL), 0);
}

typedef struct steps {
    uint64_t count, all;
} steps;

static void count_step(void *context, uint64_t step, uint64_t all)
{
    steps *s = context;
    assert_int_equal(step, ++s->count);
    assert_true(s->count == 1 || s->all == all);
    s->all = all;
}

static void steps_are_announced(void **state)
{
    (void)state;
    launch l;
    ls_tuning_info info;
    steps s = {0};
    make(&l, good_source);
    l.params.progress = count_step;
    l.params.progress_context = &s;
    ls_tuning *tuning = tune(&l, &info);
    assert_int_equal(s.count, info.candidate_count * (2 + info.rounds));
    assert_int_equal(s.all, s.count);
    ls_tuning_destroy(&tuning);
    s = (steps){0};
    l.params.struct_size = offsetof(ls_tune_params, progress); /* of a header without it */
    tuning = tune(&l, &info);
    assert_int_equal(s.count, 0);
    ls_tuning_destroy(&tuning);
}

static void candidates_the_device_cannot_run_are_left_out(void **state)
{
    (void)state;
    launch l;
    ls_tuning_info info;
    uint32_t limit = ls_device_caps(device)->max_workgroup_lanes;
    make_small(&l, "SPEC(u32, GROUP, 64, 1024, 2048);\n"
                   "kernel workgroup(GROUP) void k(f32 *y)\n"
                   "{\n    y[global_id(0)] = 1.0f;\n}\n");
    ls_tuning *tuning = tune(&l, &info);
    ls_tune_candidate large = candidate_of(tuning, 1), huge = candidate_of(tuning, 2);
    char lanes[16];
    snprintf(lanes, sizeof lanes, "%u", limit);
    if (limit < 1024) {
        assert_non_null(large.left_out);
        assert_non_null(strstr(large.left_out, "1024"));
        assert_non_null(strstr(large.left_out, lanes));
        assert_int_equal(info.chosen, 0);
    } else {
        assert_null(large.left_out);
    }
    assert_non_null(huge.left_out);
    assert_non_null(strstr(huge.left_out, "LS0217"));
    assert_int_equal(huge.time_ns, 0);
    assert_true(info.chosen != 2);
    ls_tuning_destroy(&tuning);
}

static void other_layouts_are_left_out(void **state)
{
    (void)state;
    launch l;
    ls_tuning_info info;
    make_small(&l, "SPEC(u32, N, 1, 2, 400);\nstruct s { f32 v[N < 3 ? N : 1]; };\n"
                   "kernel void k(struct s y[static N]) { y[0].v[0] = 1.0f; }\n");
    ls_tuning *tuning = tune(&l, &info);
    assert_non_null(strstr(candidate_of(tuning, 1).left_out, "layout"));
    assert_non_null(strstr(candidate_of(tuning, 2).left_out, "400")); /* y has 300 elements */
    assert_int_equal(info.chosen, 0);
    ls_tuning_destroy(&tuning);
}

/* A row of 8 elements is added up by a workgroup, by as many of its lanes as there are. */
static void launches_that_count_workgroups(void **state)
{
    (void)state;
    launch l;
    ls_tuning_info info;
    make_small(&l,
               "SPEC(u32, GROUP, 32, 64, 4);\n"
               "kernel workgroup(GROUP) void k(u32 *y)\n"
               "{\n    shared u32 sum[1];\n    u32 row = workgroup_id(0);\n"
               "    for (u32 i = local_id(0); i < 8; i += GROUP)\n"
               "        atomic_add(&sum[0], y[100 + row * 8 + i]);\n"
               "    barrier();\n"
               "    if (local_id(0) == 0) y[row] = sum[0] + workgroup_count(0) * 1000000;\n}\n");
    refused(&l, LS_E_FAILED, "with GROUP=64 than with GROUP=32", "y[");
    l.params.global_size[0] = 0;
    l.params.workgroup_count[0] = 20;
    ls_tuning *tuning = tune(&l, &info);
    for (uint32_t i = 0; i < 3; i++)
        assert_null(candidate_of(tuning, i).left_out);
    ls_tuning_destroy(&tuning);
    l.params.workgroup_count[0] = 0x04000000; /* times 64 there are 2^32 */
    l.params.workgroup_count[1] = 1;
    l.params.global_size[0] = 1;
    refused(&l, LS_E_INVALID_ARGUMENT, "both", "");
}

static void what_cannot_be_tuned(void **state)
{
    (void)state;
    launch l;
    const ls_define unknown = {"NOPE", 1}, group = {"GROUP", 64};
    make(&l, good_source);
    l.source.defines = &unknown;
    l.source.define_count = 1;
    refused(&l, LS_E_COMPILE, "LS0227", "NOPE");
    l.source.defines = &group;
    refused(&l, LS_E_INVALID_ARGUMENT, "nothing to tune", "not fixed");
    refused(make_small(&l, "SPEC(u32, N, 1);\nkernel void k(f32 *y) { y[0] = (f32)N; }\n"),
            LS_E_INVALID_ARGUMENT, "nothing to tune", "further values");
    refused(make_small(&l, "SPEC(u32, N, 1, 2);\n"
                           "unordered kernel void k(f32 *y) { y[0] = (f32)N; }\n"),
            LS_E_UNSUPPORTED, "'k' is unordered", "");
    refused(make_small(&l, "SPEC(u32, A, 0, 1, 2, 3);\nSPEC(u32, B, 0, 1, 2, 3);\n"
                           "SPEC(u32, C, 0, 1, 2, 3);\nSPEC(u32, D, 0, 1);\n"
                           "kernel void k(f32 *y) { y[0] = 1.0f; }\n"),
            LS_E_LIMIT, "64 combinations", "4 SPEC");
    make_small(&l, good_source);
    refused(&l, LS_E_INVALID_ARGUMENT, "2 buffers", "contents of 1");
    make(&l, good_source);
    l.params.kernel = "nope";
    refused(&l, LS_E_NOT_FOUND, "nope", "");
    make(&l, good_source);
    l.buffers[1].bytes = NULL;
    refused(&l, LS_E_INVALID_ARGUMENT, "'y' has no contents", "");
    make(&l, good_source);
    l.params.scalar_bytes = 4;
    refused(&l, LS_E_INVALID_ARGUMENT, "", "");
    l.params.struct_size = 3;
    refused(&l, LS_E_VERSION, "struct_size", "");
    make(&l, good_source);
    l.params.source = NULL;
    refused(&l, LS_E_INVALID_ARGUMENT, "source", "");
    FAILS(LS_E_INVALID_ARGUMENT, ls_tune(device, &l.params, NULL, error));
}

static void kept_for_the_same_kernel_only(void **state)
{
    (void)state;
    launch l, other;
    ls_tuning_info info;
    const ls_define seven = {"ONCE", 7}, eight = {"ONCE", 8}, group = {"GROUP", 64};
    char text[1000];
    ls_tuning *tuning = tune(make(&l, good_source), &info);
    ls_tuning_destroy(&tuning);
    assert_int_equal(kept(&l, false, NULL), keeps());
    assert_int_equal(kept(&l, true, NULL), 0); /* unchecked code is other code */
    l.source.path = "some/where/else.kc";
    assert_int_equal(kept(&l, false, NULL), keeps());
    l.source.define_count = 1;
    l.source.defines = &seven; /* says what holds anyway */
    assert_int_equal(kept(&l, false, NULL), keeps());
    l.source.defines = &eight;
    assert_int_equal(kept(&l, false, NULL), 0);
    l.source.defines = &group; /* the caller has chosen */
    assert_int_equal(kept(&l, false, NULL), 0);
    snprintf(text, sizeof text, "%s", good_source);
    memcpy(strstr(text, "* a"), "+ a", 3);
    assert_int_equal(kept(make(&other, text), false, NULL), 0);
    snprintf(text, sizeof text, "%s\nkernel void another(f32 *y) { y[0] = 1.0f; }\n", good_source);
    make(&other, text);
    ls_tuned_params params = LS_TUNED_PARAMS_INIT;
    ls_module *module = compile(&other, NULL, 0);
    uint32_t count = 0;
    params.module = module;
    FAILS(LS_E_INVALID_ARGUMENT, ls_tuned_specs(device, &params, NULL, 0, &count, error));
    params.kernel = "blend"; /* the same beside another kernel */
    OK(ls_tuned_specs(device, &params, NULL, 0, &count, error));
    assert_int_equal(count, keeps());
    params.kernel = "another";
    OK(ls_tuned_specs(device, &params, NULL, 0, &count, error));
    assert_int_equal(count, 0);
    FAILS(LS_E_INVALID_ARGUMENT, ls_tuned_specs(device, &params, NULL, 1, &count, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_tuned_specs(device, NULL, NULL, 0, &count, error));
    ls_module_destroy(&module);
}

static void damage(const char *path)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, -1, SEEK_END);
    int last = fgetc(file);
    fseek(file, -1, SEEK_END);
    fputc(last ^ 1, file);
    fclose(file);
}

static void cut(const char *path)
{
    assert_int_equal(truncate(path, 40), 0);
}

static void damaged_files_are_ignored_and_replaced(void **state)
{
    (void)state;
    void (*const faults[])(const char *) = {damage, cut};
    launch l;
    ls_tuning_info info;
    make(&l, good_source);
    for (uint32_t i = 0; i < COUNT(faults); i++) {
        ls_tuning *tuning = tune(&l, &info);
        ls_tuning_destroy(&tuning);
        assert_int_equal(kept(&l, false, NULL), keeps());
        assert_true(empty_folder(faults[i], false) >= keeps());
        assert_int_equal(kept(&l, false, NULL), 0);
    }
    ls_tuning *tuning = tune(&l, &info);
    assert_int_equal(info.not_kept == NULL, keeps());
    ls_tuning_destroy(&tuning);
    assert_int_equal(kept(&l, false, NULL), keeps());
}

static void without_a_folder_nothing_is_kept(void **state)
{
    (void)state;
    ls_device *with_folder = device;
    launch l;
    ls_tuning_info info;
    device = open_device(NULL);
    ls_tuning *tuning = tune(make(&l, good_source), &info);
    assert_non_null(strstr(info.not_kept, "no cache folder"));
    assert_null(candidate_of(tuning, info.chosen).left_out);
    ls_tuning_destroy(&tuning);
    assert_int_equal(kept(&l, false, NULL), 0);
    OK(ls_device_destroy(&device, error));
    device = with_folder;
    assert_int_equal(kept(&l, false, NULL), 0);
}

static ls__digest key_of(const char *name, const launch *l)
{
    ls_device *opened = kit_open(name, NULL);
    ls_module *module = compile(l, NULL, 0);
    ls__tune_axes axes;
    ls__digest key;
    OK(ls__tune_axes_of(module, NULL, 0, &axes, error));
    OK(ls__tune_key(opened, module, "blend", false, &axes, &key, error));
    ls__tune_axes_finish(&axes);
    ls_module_destroy(&module);
    OK(ls_device_destroy(&opened, error));
    return key;
}

static void each_device_has_its_own(void **state)
{
    (void)state;
    launch l;
    make(&l, good_source);
    ls__digest key = key_of("reference", &l), again = key_of("reference", &l);
    ls__digest other = key_of("fault", &l);
    assert_memory_equal(&key, &again, sizeof key);
    assert_memory_not_equal(&key, &other, sizeof key);
}

/* Wherever memory is out, it is an error, and nothing stays behind. */
static void without_memory(void **state)
{
    (void)state;
    launch l;
    ls_tuning *tuning = NULL;
    ls_status status = LS_E_OUT_OF_MEMORY;
    if (strcmp(device_name, "reference") != 0)
        skip(); /* what compilers of devices do is not looked at here */
    make(&l, good_source);
    l.params.rounds = 1;
    for (uint64_t n = 1; status != LS_OK; n += n / 16 + 1) {
        ls_error error = {0};
        ls__mem_fail_after(n);
        status = ls_tune(device, &l.params, &tuning, &error);
        ls__mem_fail_after(0);
        if (status != LS_OK && error.cause != LS_E_OUT_OF_MEMORY)
            fail_msg("allocation %llu: %s: %s", (unsigned long long)n, ls_status_name(status),
                     error.message);
        assert_true((tuning != NULL) == (status == LS_OK));
        assert_int_equal(kit_used(device), 0);
    }
    ls_tuning_destroy(&tuning);
}

/* Which candidate it was is said, whether it was looked at or measured. */
static void a_launch_that_fails(void **state)
{
    (void)state;
    ls_device *other = device;
    launch l;
    if (strcmp(device_name, "fault") != 0)
        skip();
    for (uint64_t n = 1; n < 9; n++) {
        const ls_fault_plan plan = {.struct_size = sizeof plan, .fail_command = n};
        device = kit_open("fault", &plan);
        refused(make(&l, good_source), LS_E_FAILED, "kernel blend with GROUP=", "");
        assert_int_equal(kit_used(device), 0);
        OK(ls_device_destroy(&device, error));
    }
    device = other;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_choice_is_a_candidate_and_changes_no_bit),
        TEST(products_of_two_constants),
        TEST(results_that_depend_on_the_choice_are_refused),
        TEST(steps_are_announced),
        TEST(candidates_the_device_cannot_run_are_left_out),
        TEST(other_layouts_are_left_out),
        TEST(launches_that_count_workgroups),
        TEST(what_cannot_be_tuned),
        TEST(kept_for_the_same_kernel_only),
        TEST(damaged_files_are_ignored_and_replaced),
        TEST(without_a_folder_nothing_is_kept),
        TEST(each_device_has_its_own),
        TEST(without_memory),
        TEST(a_launch_that_fails),
    };
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_error reason;
    device_name = params.name = argc > 1 ? argv[1] : "reference";
    if (ls_device_open(&params, &device, &reason) != LS_OK) {
        printf("SKIP: %s: %s\n", device_name, reason.message);
        return 77;
    }
    ls_device_destroy(&device, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
