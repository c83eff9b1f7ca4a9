/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code made ahead, alone and in bundles: it gives the bytes that a program built on the device
 * gives, on every device there is, and is refused by name when it is damaged, of another version,
 * of another program, or for another device.
 *
 * usage: test_bundle SCRATCH
 */
#include "../core/kit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/os.h"
#include "lockstep/bundle.h"

enum { N = 1000, MAX_DEVICES = 16 };
static const char *scratch;

/* Floats that need all of what devices lack, lanes that talk to each other, a grid barrier, stores
 * out of bounds, a trap. */
static const char text[] = "SPEC(u32, ROUNDS, 3);\n"
                           "kernel void mix(u32 n, f32 a, const f32 *x, f32 *y)\n"
                           "{\n"
                           "    u32 i = global_id(0);\n"
                           "    f32 v = x[i];\n"
                           "    for (u32 r = 0; r < ROUNDS; r++)\n"
                           "        v = fma(v, a, sqrt(fabs(v))) / (1.5f + exp(-fabs(v)));\n"
                           "    y[i] = v + subgroup_add(v);\n"
                           "    y[i + n] = 1.0f;\n"
                           "}\n"
                           "kernel workgroup(32) void turn(u32 n, const f32 *x, f32 *a, f32 *y)\n"
                           "{\n"
                           "    u32 i = global_id(0);\n"
                           "    a[i] = x[i] * 3.0f;\n"
                           "    grid_barrier();\n"
                           "    if (i < n)\n"
                           "        y[i] = a[n - 1 - i];\n"
                           "}\n"
                           "kernel void stop(u32 k, f32 *y)\n"
                           "{\n"
                           "    u32 i = global_id(0);\n"
                           "    if (i == k)\n"
                           "        trap(7);\n"
                           "    y[i] = 2.0f;\n"
                           "}\n";

static ls_module *compile(const char *source)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL;
    params.text = source;
    params.length = strlen(source);
    OK(ls_module_compile(&params, &module, NULL, error));
    return module;
}

static const char *path_of(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static ls_status write_bundle_for(const ls_module *module, const char *path,
                                  const char *const *targets, uint32_t count, ls_error *error)
{
    ls_bundle_write_params params = LS_BUNDLE_WRITE_PARAMS_INIT;
    params.path = path;
    params.module = module;
    params.name = "mixed";
    params.source = "test";
    params.targets = targets;
    params.target_count = count;
    return ls_bundle_write(&params, NULL, error);
}

static ls_status open_bundle(const char *path, bool check_all, ls_bundle **bundle, ls_error *error)
{
    ls_bundle_params params = LS_BUNDLE_PARAMS_INIT;
    params.path = path;
    params.check_all = check_all;
    return ls_bundle_open(&params, bundle, error);
}

/* --- the same bytes --------------------------------------------------------------------------- */
typedef struct results {
    float mixed[N], turned[N], stopped[N];
    ls_receipt trap;
} results;

static void run_all(ls_device *device, ls_program *program, results *r)
{
    struct {
        uint32_t n;
        float a;
    } scalars = {N, 0.75f};
    float in[N];
    ls_stream *stream = kit_stream(device);
    ls_buffer *x = kit_buffer(device, sizeof in, LS_MEM_F32);
    ls_buffer *a = kit_buffer(device, sizeof in, LS_MEM_F32);
    ls_buffer *y = kit_buffer(device, sizeof in, LS_MEM_F32);
    ls_range ranges[] = {{x, 0, LS_WHOLE}, {y, 0, LS_WHOLE}};
    ls_range turned[] = {{x, 0, LS_WHOLE}, {a, 0, LS_WHOLE}, {y, 0, LS_WHOLE}};
    ls_batch *batch = kit_batch(device);
    ls_fence *fence = NULL;
    for (int i = 0; i < N; i++)
        in[i] = (float)(i - 500) / 7.0f;
    OK(ls_buffer_write(x, 0, LS_MEM_F32, in, sizeof in, error));
    ls_dispatch mix = kit_dispatch(kit_kernel(program, "mix"), N, ranges, 2, &scalars, 8);
    ls_dispatch turn = kit_dispatch(kit_kernel(program, "turn"), N, turned, 3, &scalars.n, 4);
    OK(ls_batch_dispatch(batch, &mix, error));
    OK(ls_batch_download(batch, ranges[1], LS_MEM_F32, r->mixed, NULL, error));
    OK(ls_batch_dispatch(batch, &turn, error));
    OK(ls_batch_download(batch, ranges[1], LS_MEM_F32, r->turned, NULL, error));
    OK(ls_submit(stream, batch, NULL, &fence, error));
    OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
    ls_fence_destroy(&fence);
    ls_batch_clear(batch);
    uint32_t lane = 130;
    ls_dispatch stop = kit_dispatch(kit_kernel(program, "stop"), N, &ranges[1], 1, &lane, 4);
    OK(ls_batch_dispatch(batch, &stop, error));
    OK(ls_submit(stream, batch, NULL, &fence, error));
    r->trap = (ls_receipt){.struct_size = sizeof r->trap};
    FAILS(LS_E_FAILED, ls_fence_wait(fence, LS_FOREVER, &r->trap, error));
    OK(ls_buffer_read(y, 0, LS_MEM_F32, r->stopped, sizeof r->stopped, error));
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&a);
    ls_buffer_destroy(&y);
    OK(ls_stream_destroy(&stream, error));
}

static void expect_same(const results *a, const results *b)
{
    assert_memory_equal(a->mixed, b->mixed, sizeof a->mixed);
    assert_memory_equal(a->turned, b->turned, sizeof a->turned);
    assert_memory_equal(a->stopped, b->stopped, sizeof a->stopped);
    assert_true(a->trap.trapped && b->trap.trapped);
    assert_int_equal(a->trap.trap_code, b->trap.trap_code);
    assert_int_equal(a->trap.trap_lane, b->trap.trap_lane);
    assert_int_equal(a->trap.trap_workgroup, b->trap.trap_workgroup);
}

static void every_device_gives_the_bytes_of_a_program_built_there(void **state)
{
    static ls_device_info infos[MAX_DEVICES];
    static results expected, found;
    uint32_t count = 0, ran = 0;
    ls_module *module = compile(text);
    ls_bundle *bundle = NULL;
    OK(write_bundle_for(module, path_of("devices"), NULL, 0, error));
    OK(open_bundle(path_of("devices"), true, &bundle, error));
    OK(ls_device_list(infos, MAX_DEVICES, &count, error));
    for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++) {
        ls_program *built = NULL, *ahead = NULL;
        if (!infos[i].usable)
            continue;
        ls_device *device = kit_open(infos[i].name, NULL);
        OK(ls_bundle_program(bundle, device, &ahead, error));
        run_all(device, ahead, &found);
        OK(ls_program_create(device, module, NULL, &built, error));
        run_all(device, built, &expected);
        expect_same(&expected, &found);
        ls_program_destroy(&built);
        ls_program_destroy(&ahead);
        OK(ls_device_destroy(&device, error));
        print_message("%s\n", infos[i].name);
        ran++;
    }
    assert_true(ran >= 2);
    ls_bundle_destroy(&bundle);
    ls_module_destroy(&module);
}

/* Each level of the CPU that this machine runs, also below what the device has. */
static void lower_targets_run_too(void **state)
{
    static const char *const targets[] = {"sse2", "avx2", "avx512"};
    static results expected, found;
    ls_module *module = compile(text);
    ls_device *reference = kit_open("reference", NULL);
    ls_program *program = NULL;
    OK(ls_program_create(reference, module, NULL, &program, error));
    run_all(reference, program, &expected);
    ls_program_destroy(&program);
    OK(ls_device_destroy(&reference, error));
    for (size_t i = 0; i < COUNT(targets); i++) {
        ls_code_params make = LS_CODE_PARAMS_INIT;
        ls_program_params params = LS_PROGRAM_PARAMS_INIT;
        ls_code code;
        ls_error why;
        void *bytes = NULL;
        make.target = targets[i];
        ls_status status = ls_code_make(module, &make, &bytes, &code.size, &why);
        if (status == LS_E_UNSUPPORTED || status == LS_E_INVALID_ARGUMENT)
            continue; /* a build without the generator */
        assert_int_equal(status, LS_OK);
        code.bytes = bytes;
        params.codes = &code;
        params.code_count = 1;
        ls_device *device = kit_open("cpu", NULL);
        status = ls_program_create(device, module, &params, &program, &why);
        if (status == LS_E_UNSUPPORTED) {
            assert_non_null(strstr(why.hint, targets[i]));
        } else {
            assert_int_equal(status, LS_OK);
            run_all(device, program, &found);
            expect_same(&expected, &found);
        }
        ls_program_destroy(&program);
        OK(ls_device_destroy(&device, error));
        ls_bytes_destroy(&bytes);
    }
    ls_module_destroy(&module);
}

/* --- code that must not run ------------------------------------------------------------------- */
typedef struct made {
    ls_module *module;
    ls_device *device;
    uint8_t *bytes;
    size_t size;
} made;

/* False: this build has no generator. */
static bool make(made *m, const char *source)
{
    ls_code_params params = LS_CODE_PARAMS_INIT;
    void *bytes = NULL;
    m->module = compile(source);
    m->device = kit_open("cpu", NULL);
    params.target = "sse2";
    ls_status status = ls_code_make(m->module, &params, &bytes, &m->size, NULL);
    m->bytes = bytes;
    if (status != LS_OK) {
        ls_module_destroy(&m->module);
        OK(ls_device_destroy(&m->device, error));
        print_message("not tried: no code for sse2 here\n");
        return false;
    }
    return true;
}

static void made_free(made *m)
{
    void *bytes = m->bytes;
    ls_bytes_destroy(&bytes);
    ls_module_destroy(&m->module);
    OK(ls_device_destroy(&m->device, error));
}

static ls_status create(const made *m, const void *bytes, size_t size, ls_error *error)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_program *program = NULL;
    ls_code code = {bytes, size};
    params.codes = &code;
    params.code_count = 1;
    ls_status status = ls_program_create(m->device, m->module, &params, &program, error);
    ls_program_destroy(&program);
    return status;
}

static void sign(uint8_t *bytes, size_t size)
{
    ls__digest digest = ls__digest_of(bytes, size - sizeof digest);
    memcpy(bytes + size - sizeof digest, &digest, sizeof digest);
}

static void damage_is_found_wherever_it_is(void **state)
{
    made m;
    if (!make(&m, text))
        skip();
    OK(create(&m, m.bytes, m.size, error));
    for (size_t at = 0; at < m.size; at += 1 + m.size / 97) {
        ls_error why = {0};
        m.bytes[at] ^= 0x10;
        ls_status status = create(&m, m.bytes, m.size, &why);
        m.bytes[at] ^= 0x10;
        assert_true(status == LS_E_FORMAT || status == LS_E_VERSION);
        assert_true(why.message[0] != 0);
    }
    for (size_t size = 0; size < m.size; size += 1 + m.size / 97)
        FAILS(LS_E_FORMAT, create(&m, m.bytes, size, error));
    made_free(&m);
}

/* With a digest that is right: what is inside is not believed either. */
static void what_was_signed_again_is_checked_as_well(void **state)
{
    made m;
    if (!make(&m, text))
        skip();
    for (size_t at = 8; at < 20; at += 4) { /* contract, IR, code */
        m.bytes[at] ^= 1;
        sign(m.bytes, m.size);
        FAILS(LS_E_VERSION, create(&m, m.bytes, m.size, error));
        m.bytes[at] ^= 1;
    }
    sign(m.bytes, m.size);
    for (size_t at = 0; at < m.size - 32; at += 1 + m.size / 61) {
        m.bytes[at] ^= 0x80;
        sign(m.bytes, m.size);
        ls_code_info info = {.struct_size = sizeof info};
        ls_code_describe(m.bytes, m.size, &info, NULL); /* survives it */
        m.bytes[at] ^= 0x80;
    }
    made_free(&m);
}

static void another_module_is_refused(void **state)
{
    made a, b;
    if (!make(&a, text))
        skip();
    make(&b, "kernel void one(u32 *y)\n{\n    y[0] = 1;\n}\n");
    FAILS(LS_E_INVALID_ARGUMENT, create(&a, b.bytes, b.size, error));
    made_free(&a);
    made_free(&b);
}

/* The probe's code in the place of another operation's: the device "computes wrongly". */
static void wrong_operations_are_found(void **state)
{
    static const char add[] = "kernel void f(u32 *y)\n{\n    y[0] = y[0] + y[1];\n}\n";
    static const char sub[] = "kernel void f(u32 *y)\n{\n    y[0] = y[0] - y[1];\n}\n";
    made a, b;
    ls_code_info of_a = {.struct_size = sizeof of_a}, of_b = of_a;
    if (!make(&a, add))
        skip();
    make(&b, sub);
    OK(ls_code_describe(a.bytes, a.size, &of_a, error));
    OK(ls_code_describe(b.bytes, b.size, &of_b, error));
    size_t end_of_a = (size_t)((const uint8_t *)of_a.code - a.bytes) + of_a.code_size;
    size_t end_of_b = (size_t)((const uint8_t *)of_b.code - b.bytes) + of_b.code_size;
    size_t size = end_of_a + (b.size - end_of_b);
    uint8_t *mixed = malloc(size);
    memcpy(mixed, a.bytes, end_of_a);
    memcpy(mixed + end_of_a, b.bytes + end_of_b, b.size - end_of_b);
    sign(mixed, size);
    ls_error why = {0};
    assert_int_equal(create(&a, mixed, size, &why), LS_E_UNSUPPORTED);
    assert_non_null(strstr(why.message, "'add i32' wrongly"));
    free(mixed);
    made_free(&a);
    made_free(&b);
}

static void arguments(void **state)
{
    made m;
    void *bytes = NULL;
    size_t size;
    ls_error why = {0};
    ls_code_params params = LS_CODE_PARAMS_INIT;
    ls_module *module = compile(text);
    static const char *const bad[] = {"native", "sse2+quick", "", "vulkan1.2+nothing", "avx2+avx2"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        params.target = bad[i];
        FAILS(LS_E_INVALID_ARGUMENT, ls_code_make(module, &params, &bytes, &size, error));
    }
    params.target = NULL;
    FAILS(LS_E_INVALID_ARGUMENT, ls_code_make(module, &params, &bytes, &size, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_code_make(NULL, &params, &bytes, &size, error));
    ls_module_destroy(&module);
    if (!make(&m, text))
        skip();
    ls_program_params program_params = LS_PROGRAM_PARAMS_INIT;
    ls_program *program = NULL;
    ls_code code = {m.bytes, m.size};
    program_params.codes = &code;
    program_params.code_count = 1;
    program_params.unchecked = true;
    FAILS(LS_E_INVALID_ARGUMENT,
          ls_program_create(m.device, m.module, &program_params, &program, error));
    program_params.unchecked = false;
    program_params.lower = "fma";
    FAILS(LS_E_INVALID_ARGUMENT,
          ls_program_create(m.device, m.module, &program_params, &program, error));
    program_params.lower = NULL;
    program_params.code_count = 0;
    assert_int_equal(ls_program_create(m.device, m.module, &program_params, &program, &why),
                     LS_E_UNSUPPORTED);
    assert_non_null(strstr(why.hint, "nothing"));
    made_free(&m);
}

/* --- bundles ---------------------------------------------------------------------------------- */
/* Reads a file, changes it, and puts it back. */
typedef enum change { FLIP, CUT, REMOVE } change;

static void with_change(const char *folder, const char *name, change how, ls_status expected)
{
    char path[600];
    void *bytes = NULL;
    size_t size = 0;
    ls_error why = {0};
    ls_bundle *bundle = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    OK(ls__os_read_file(path, UINT64_MAX, &bytes, &size, error));
    ((char *)bytes)[size / 2] ^= how == FLIP;
    if (how == REMOVE) {
        unlink(path);
    } else {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(bytes, 1, how == CUT ? size / 2 : size, file);
        fclose(file);
    }
    ls_status status = open_bundle(folder, true, &bundle, &why);
    if (status != expected || !strstr(why.message, name))
        fail_msg("%s changed (%d): %s: %s", name, how, ls_status_name(status), why.message);
    ((char *)bytes)[size / 2] ^= how == FLIP;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
    ls__mem_free(bytes);
}

static void changed_files_are_named(void **state)
{
    static const char *const targets[] = {"vulkan1.2"};
    static const char *const names[] = {"program.irb", "program.ir", "vulkan1.2.lscode", "mix.spv",
                                        "mixed.h"};
    const char *folder = path_of("changed");
    ls_module *module = compile(text);
    ls_bundle *bundle = NULL;
    OK(write_bundle_for(module, folder, targets, 1, error));
    OK(open_bundle(folder, true, &bundle, error));
    ls_bundle_destroy(&bundle);
    for (size_t i = 0; i < COUNT(names); i++) {
        with_change(folder, names[i], FLIP, LS_E_FORMAT);
        with_change(folder, names[i], CUT, LS_E_FORMAT);
        with_change(folder, names[i], REMOVE, LS_E_NOT_FOUND);
    }
    with_change(folder, "bundle.json", CUT, LS_E_FORMAT);
    with_change(folder, "bundle.json", REMOVE, LS_E_NOT_FOUND);
    /* A launcher knows the description it was written with. */
    ls_bundle_params params = LS_BUNDLE_PARAMS_INIT;
    params.path = folder;
    params.digest = "00";
    FAILS(LS_E_FORMAT, ls_bundle_open(&params, &bundle, error));
    params.struct_size = offsetof(ls_bundle_params, digest); /* of a header without it */
    OK(ls_bundle_open(&params, &bundle, error));
    ls_bundle_destroy(&bundle);
    ls_module_destroy(&module);
}

static void replace_in(const char *folder, const char *from, const char *to)
{
    char path[600];
    void *bytes = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/bundle.json", folder);
    OK(ls__os_read_file(path, UINT64_MAX, &bytes, &size, error));
    char *at = strstr(bytes, from);
    assert_non_null(at);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, (size_t)(at - (char *)bytes), file);
    fwrite(to, 1, strlen(to), file);
    fwrite(at + strlen(from), 1, strlen(at + strlen(from)), file);
    fclose(file);
    ls__mem_free(bytes);
}

static void other_versions_and_descriptions_are_refused(void **state)
{
    static const char *const targets[] = {"vulkan1.2"};
    static const struct {
        const char *from, *to;
        ls_status status;
    } cases[] = {
        {"\"contract\": 1", "\"contract\": 99", LS_E_VERSION},
        {"\"version\": 1", "\"version\": 2", LS_E_VERSION},
        {"\"lockstep bundle\"", "\"a bundle\"", LS_E_FORMAT},
        {"\"program.irb\"", "\"program.irc\"", LS_E_FORMAT},
        {"\"sha256\": \"", "\"sha256\": \"0", LS_E_FORMAT},
        {"\"format\"", "\"format\"\"", LS_E_FORMAT},
    };
    const char *folder = path_of("versions");
    ls_module *module = compile(text);
    for (size_t i = 0; i < COUNT(cases); i++) {
        ls_bundle *bundle = NULL;
        OK(write_bundle_for(module, folder, targets, 1, error));
        replace_in(folder, cases[i].from, cases[i].to);
        ls_error why = {0};
        ls_status status = open_bundle(folder, true, &bundle, &why);
        if (status != cases[i].status || !strstr(why.message, "versions"))
            fail_msg("%s: %s: %s", cases[i].to, ls_status_name(status), why.message);
        if (i >= 2) { /* no longer a bundle, or not one that says what is in it */
            char command[600];
            snprintf(command, sizeof command, "rm -rf '%s'", folder);
            assert_int_equal(system(command), 0);
        }
    }
    ls_module_destroy(&module);
}

static void a_device_without_code_is_told_what_there_is(void **state)
{
    static const char *const targets[] = {"vulkan1.2"};
    ls_module *module = compile(text);
    ls_bundle *bundle = NULL;
    ls_program *program = NULL;
    ls_error why = {0};
    OK(write_bundle_for(module, path_of("vulkan only"), targets, 1, error));
    OK(open_bundle(path_of("vulkan only"), false, &bundle, error));
    ls_device *device = kit_open("cpu", NULL);
    assert_int_equal(ls_bundle_program(bundle, device, &program, &why), LS_E_UNSUPPORTED);
    assert_non_null(strstr(why.message, "vulkan only"));
    assert_non_null(strstr(why.message, "'cpu'"));
    assert_non_null(strstr(why.hint, "vulkan1.2"));
    assert_non_null(strstr(why.hint, "--target"));
    assert_null(program);
    OK(ls_device_destroy(&device, error));
    ls_device *reference = kit_open("reference", NULL); /* takes the IR */
    OK(ls_bundle_program(bundle, reference, &program, error));
    ls_bundle_destroy(&bundle); /* programs stay valid */
    static results found;
    run_all(reference, program, &found);
    ls_program_destroy(&program);
    OK(ls_device_destroy(&reference, error));
    ls_module_destroy(&module);
}

static void folders_of_others_are_left_alone(void **state)
{
    static const char *const targets[] = {"vulkan1.2"};
    const char *folder = path_of("mine");
    char path[600];
    ls_module *module = compile(text);
    OK(write_bundle_for(module, folder, targets, 1, error));
    OK(write_bundle_for(module, folder, targets, 1, error)); /* a bundle is replaced */
    snprintf(path, sizeof path, "%s/notes.txt", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
    FAILS(LS_E_INVALID_ARGUMENT, write_bundle_for(module, folder, targets, 1, error));
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    OK(write_bundle_for(module, folder, targets, 1, error));
    /* Nothing is there after a failure. */
    static const char *const wrong[] = {"vulkan1.2", "vulkan1.3"};
    FAILS(LS_E_INVALID_ARGUMENT, write_bundle_for(module, path_of("none"), wrong, 2, error));
    assert_int_not_equal(access(path_of("none"), F_OK), 0);
    FAILS(LS_E_NOT_FOUND, write_bundle_for(module, path_of("no/such"), targets, 1, error));
    ls_module_destroy(&module);
}

/* Each allocation fails once, near the start, and some later. */
static void memory_that_is_short_is_said_to_be(void **state)
{
    ls_module *module = compile("kernel void f(u32 *y)\n{\n    y[0] = y[0] * 3 + 1;\n}\n");
    static const char *const targets[] = {"vulkan1.2"};
    const char *folder = path_of("short");
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n += 1 + n / 16) {
        ls__mem_fail_after(n);
        status = write_bundle_for(module, folder, targets, 1, NULL);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK || status == LS_E_OUT_OF_MEMORY);
        assert_true((access(folder, F_OK) == 0) == (status == LS_OK));
    }
    status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        ls_bundle *bundle = NULL;
        ls__mem_fail_after(n);
        status = open_bundle(folder, true, &bundle, NULL);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK || status == LS_E_OUT_OF_MEMORY);
        assert_true((bundle != NULL) == (status == LS_OK));
        ls_bundle_destroy(&bundle);
    }
    ls_module_destroy(&module);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_gives_the_bytes_of_a_program_built_there),
        cmocka_unit_test(lower_targets_run_too),
        cmocka_unit_test(damage_is_found_wherever_it_is),
        cmocka_unit_test(what_was_signed_again_is_checked_as_well),
        cmocka_unit_test(another_module_is_refused),
        cmocka_unit_test(wrong_operations_are_found),
        cmocka_unit_test(arguments),
        cmocka_unit_test(changed_files_are_named),
        cmocka_unit_test(other_versions_and_descriptions_are_refused),
        cmocka_unit_test(a_device_without_code_is_told_what_there_is),
        cmocka_unit_test(folders_of_others_are_left_alone),
        cmocka_unit_test(memory_that_is_short_is_said_to_be),
    };
    char command[600];
    scratch = argc > 1 ? argv[1] : "bundle_scratch";
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", scratch, scratch);
    if (system(command) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
