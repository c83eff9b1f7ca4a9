/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses out of bounds, as the cpu device reports them with check_bounds, against what the
 * reference reports: by kernels each written for one way of going out of bounds, and by random
 * programs whose buffers are too small. Everything but the order of reports is compared.
 *
 * Equal accesses are done once in compiled code. So a report of the reference may be missing when
 * another one of the object, of the same lane or a lower one, is there.
 *
 *     test_bounds [first seed, number of random programs]
 */
#include "../core/kit.h"

#include "conform/cooperate.h"
#include "conform/generate.h"

enum { MAX_REPORTS = 400, MAX_BUFFERS = 12 };

typedef struct finding {
    char kind[32], kernel[24], object[24];
    uint32_t line, column, workgroup[3], lane;
    int64_t index, byte_offset;
    uint64_t object_count;
} finding;

typedef struct findings {
    finding items[MAX_REPORTS];
    uint32_t count, all;
} findings;

static void on_report(void *context, const ls_sanitizer_report *r)
{
    findings *f = context;
    f->all++;
    if (f->count == MAX_REPORTS || strncmp(r->kind, "out-of-bounds", 13) != 0)
        return;
    finding *to = &f->items[f->count];
    memset(to, 0, sizeof *to);
    snprintf(to->kind, sizeof to->kind, "%s", r->kind);
    snprintf(to->kernel, sizeof to->kernel, "%s", r->kernel);
    snprintf(to->object, sizeof to->object, "%s", r->object);
    to->line = r->line;
    to->column = r->column;
    memcpy(to->workgroup, r->workgroup, sizeof to->workgroup);
    to->lane = r->lane;
    to->index = r->index;
    to->byte_offset = r->byte_offset;
    to->object_count = r->object_count;
    f->count++;
}

/* --- running ---------------------------------------------------------------------------------- */

typedef struct subject {
    const char *text;
    uint32_t global[3];
    uint32_t bytes[MAX_BUFFERS]; /* of each buffer; 0: `every` */
    uint32_t every;
    uint32_t number; /* all scalar parameters of 4 bytes */
} subject;

typedef struct way {
    const char *device, *target;
    uint32_t threads;
    ls_tier tier;
} way;

static ls_module *compile(const char *text)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL;
    params.text = text;
    params.length = strlen(text);
    params.path = "test.kc";
    OK(ls_module_compile(&params, &module, NULL, error));
    return module;
}

static ls_device *open_way(const way *w, findings *found)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    params.name = w->device;
    params.threads = w->threads;
    params.target = w->target;
    params.check_bounds = true;
    params.unprobed = true;
    params.on_report = on_report;
    params.report_context = found;
    OK(ls_device_open(&params, &device, error));
    return device;
}

/* Answers a digest of the buffers after the run. */
static uint64_t run(const subject *s, const ls_module *module, const way *w, findings *found)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_kernel_info info;
    ls_program *program = NULL;
    ls_buffer *buffers[MAX_BUFFERS];
    ls_range ranges[MAX_BUFFERS];
    uint8_t scalars[256] = {0};
    uint64_t digest = 1469598103934665603u;
    memset(found, 0, sizeof *found);
    ls_device *device = open_way(w, found);
    params.tier = w->tier;
    OK(ls_program_create(device, module, &params, &program, error));
    OK(ls_module_kernel(module, 0, &info, error));
    assert_true(info.buffer_count <= MAX_BUFFERS && info.scalar_bytes <= sizeof scalars);
    for (uint32_t at = 0; at + 4 <= info.scalar_bytes; at += 4)
        memcpy(scalars + at, &s->number, 4);
    for (uint32_t i = 0; i < info.buffer_count; i++) {
        uint32_t size = s->bytes[i] ? s->bytes[i] : s->every;
        void *bytes;
        buffers[i] = kit_buffer(device, size, LS_MEM_NONE);
        ranges[i] = WHOLE(buffers[i]);
        OK(ls_buffer_map(buffers[i], 0, LS_WHOLE, LS_MAP_WRITE, &bytes, error));
        for (uint32_t k = 0; k < size; k++)
            ((uint8_t *)bytes)[k] = (uint8_t)(k * 37 + i * 11 + (k >> 3));
        OK(ls_buffer_unmap(buffers[i], error));
    }
    ls_stream *stream = kit_stream(device);
    ls_batch *batch = kit_batch(device);
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, info.name), 0, ranges,
                                        info.buffer_count, scalars, info.scalar_bytes);
    memcpy(dispatch.global_size, s->global, sizeof dispatch.global_size);
    OK(ls_batch_dispatch(batch, &dispatch, error));
    ls_fence *fence = NULL;
    OK(ls_submit(stream, batch, NULL, &fence, error));
    ls_error trap = {0};
    assert_true(ls_fence_wait(fence, 60 * SECOND, NULL, &trap) == LS_OK || trap.cause == LS_E_TRAP);
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(device, &counters);
    assert_int_equal(counters.sanitizer_reports, found->all);
    for (uint32_t i = 0; i < info.buffer_count; i++) {
        uint64_t size = ls_buffer_size(buffers[i]);
        uint8_t *bytes;
        OK(ls_buffer_map(buffers[i], 0, LS_WHOLE, LS_MAP_READ, (void **)&bytes, error));
        for (uint64_t k = 0; k < size; k++)
            digest = (digest ^ bytes[k]) * 1099511628211u;
        OK(ls_buffer_unmap(buffers[i], error));
        ls_buffer_destroy(&buffers[i]);
    }
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_stream_destroy(&stream, NULL);
    ls_program_destroy(&program);
    OK(ls_device_destroy(&device, error));
    return digest;
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool same_place(const finding *a, const finding *b)
{
    return a->line == b->line && a->column == b->column && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->object, b->object) == 0 && strcmp(a->kernel, b->kernel) == 0;
}

/* By (workgroup, lane). */
static bool is_before(const finding *a, const finding *b)
{
    for (int d = 2; d >= 0; d--) {
        if (a->workgroup[d] != b->workgroup[d])
            return a->workgroup[d] < b->workgroup[d];
    }
    return a->lane < b->lane;
}

static bool same_access(const finding *a, const finding *b)
{
    /* Of an offset that does not exist the device may not know why. */
    bool is_unknown =
        a->byte_offset == INT64_MIN && (a->index == INT64_MIN || b->index == INT64_MIN);
    return !is_before(a, b) && !is_before(b, a) && (is_unknown || a->index == b->index) &&
           a->byte_offset == b->byte_offset && a->object_count == b->object_count;
}

static void print_findings(const char *who, const findings *f)
{
    fprintf(stderr, "%s:\n", who);
    for (uint32_t i = 0; i < f->count; i++) {
        const finding *r = &f->items[i];
        fprintf(stderr, "  %u:%u %s %s[%lld] of %llu, byte %lld, workgroup %u,%u,%u lane %u\n",
                r->line, r->column, r->kind, r->object, (long long)r->index,
                (unsigned long long)r->object_count, (long long)r->byte_offset, r->workgroup[0],
                r->workgroup[1], r->workgroup[2], r->lane);
    }
}

static bool agree(const findings *want, const findings *got, bool exact)
{
    for (uint32_t i = 0; i < got->count; i++) { /* nothing else is reported */
        const finding *r = &got->items[i];
        bool found = false;
        for (uint32_t k = 0; k < want->count && !found; k++)
            found = same_place(r, &want->items[k]) && (!exact || same_access(r, &want->items[k]));
        if (!found)
            return false;
    }
    for (uint32_t i = 0; i < want->count; i++) { /* nothing is left out */
        const finding *r = &want->items[i];
        bool found = false;
        for (uint32_t k = 0; k < got->count && !found; k++)
            found =
                same_place(r, &got->items[k]) || (strcmp(r->object, got->items[k].object) == 0 &&
                                                  strcmp(r->kind, got->items[k].kind) == 0 &&
                                                  (!exact || !is_before(r, &got->items[k])));
        if (!found)
            return false;
    }
    for (uint32_t i = 1; i < got->count; i++) { /* and in order */
        if (is_before(&got->items[i], &got->items[i - 1]))
            return false;
    }
    return true;
}

static const way ways[] = {
    {"cpu", "native", 1, LS_TIER_OPTIMIZED},
    {"cpu", "native", 7, LS_TIER_QUICK},
    {"cpu", "native+scalar", 2, LS_TIER_QUICK},
    {"cpu", "sse2", 2, LS_TIER_QUICK},
};

/* Answers how many reports the reference has. */
static uint32_t check(const subject *s, bool exact)
{
    static findings want, got;
    ls_module *module = compile(s->text);
    uint64_t digest = run(s, module, &(way){.device = "reference"}, &want);
    for (size_t i = 0; i < COUNT(ways); i++) {
        uint64_t other = run(s, module, &ways[i], &got);
        if (digest == other && agree(&want, &got, exact))
            continue;
        print_findings("reference", &want);
        print_findings(ways[i].target, &got);
        fail_msg("%s, tier %d%s:\n%s", ways[i].target, ways[i].tier,
                 digest == other ? "" : ": other bytes", s->text);
    }
    ls_module_destroy(&module);
    return want.count;
}

/* --- one way a kernel ------------------------------------------------------------------------- */

#define BEYOND 128, 1, 1
static const subject subjects[] = {
    /* contiguous: load, store, of 1 to 8 bytes; an element that is cut by the end */
    {"kernel void k(const f32 *x, f32 *y)\n{ u32 i = global_id(0);\n y[i] = x[i]; }",
     {BEYOND},
     {398, 404},
     0,
     0},
    {"kernel void k(const u8 *x, u8 *y)\n{ u32 i = global_id(0);\n y[i + 1] = x[i]; }",
     {BEYOND},
     {100, 101},
     0,
     0},
    {"kernel void k(const u16 *x, u16 *y)\n{ u32 i = global_id(0);\n y[i] = x[i + 3]; }",
     {BEYOND},
     {200, 202},
     0,
     0},
    {"kernel void k(const u64 *x, u64 *y)\n{ u32 i = global_id(0);\n y[i] = x[i]; }",
     {BEYOND},
     {796, 1024},
     0,
     0},
    /* strided, backwards, scattered, behind the end of 32 bits, far away */
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n y[i * 3] = x[i * 2]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n y[100 - (i32)i] = x[(i32)i - "
     "5]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u8 *x, u8 *y)\n{ u32 i = global_id(0);\n y[i * i] = x[i * 77 % 130]; }",
     {BEYOND},
     {},
     128,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n y[i] = x[i + 0xffffffc0u]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ u64 i = global_id(0);\n y[i] = x[i << 61]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ u64 i = global_id(0);\n y[i] = x[i << 56]; }",
     {BEYOND},
     {},
     512,
     0},
    /* one place for all lanes, of uniform and other conditions */
    {"kernel void k(u32 n, const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n y[i] = x[n]; if (i == "
     "n) y[n + 100] = 1u; }",
     {BEYOND},
     {160, 512},
     0,
     40},
    {"kernel void k(u32 n, const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n if (i > 33) y[i] = "
     "x[n]; }",
     {BEYOND},
     {160, 512},
     0,
     40},
    /* nothing is run that the kernel does not run */
    {"kernel void k(u32 n, const u32 *x, u32 *y)\n{ u32 s = 0; for (u32 j = 0; j < n; j++) s += "
     "x[1000];\n y[global_id(0)] = s; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(u32 n, const u32 *x, u32 *y)\n{ u32 s = 0; for (u32 j = 0; j < n; j++) s += "
     "x[1000];\n y[global_id(0)] = s; }",
     {BEYOND},
     {},
     512,
     2},
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n if (i * 2 < 128) y[i] = x[i * "
     "2]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0), s = 0;\n for (u32 j = 0; j < i; "
     "j++) { if (j % 3 == 2) continue; if (j > 90) break; s += x[i + j]; }\n y[i] = s; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n y[i] = i < 100 ? 0u : x[i + "
     "60]; }",
     {BEYOND},
     {},
     512,
     0},
    /* whose value nobody needs; constants */
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0); u32 unused = x[i + 100];\n y[i] "
     "= 1u; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ y[global_id(0)] = x[128]; y[200] = 1u; }",
     {BEYOND},
     {},
     512,
     0},
    /* atomics */
    {"kernel void k(u32 *x)\n{ atomic_add(&x[global_id(0) * 2], 1u); }", {BEYOND}, {}, 512, 0},
    {"kernel void k(u32 n, u32 *x)\n{ atomic_add(&x[n], global_id(0)); }", {BEYOND}, {}, 512, 128},
    {"kernel void k(u32 n, u32 *x)\n{ if (global_id(0) % 5 == 3) atomic_max(&x[n], global_id(0)); "
     "}",
     {BEYOND},
     {},
     512,
     128},
    {"kernel void k(u64 *x)\n{ atomic_or(&x[global_id(0) % 70], (u64)1); }", {BEYOND}, {}, 512, 0},
    /* shared, local, tables; inner arrays */
    {"kernel void k(u32 *y)\n{ shared u32 t[50]; u32 i = local_index();\n t[i] = i; barrier();\n "
     "y[global_id(0)] = t[63 - i]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(u32 *y)\n{ shared u32 t[4][8]; u32 i = local_index();\n t[i / 8][i % 8] = i; "
     "t[i % 4][i / 7] = 1u; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(u32 *y)\n{ shared u32 t[9]; atomic_add(&t[local_index() / 7], 1u); barrier(); "
     "if (local_index() < 9) y[local_index()] = t[local_index()]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(u32 *y)\n{ u32 t[7]; u32 i = global_id(0); for (u32 j = 0; j < 8; j++)\n t[j] "
     "= i + j;\n y[i] = t[i % 9]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 t[7]; u32 i = global_id(0);\n t[x[i] & 15u] = 1u; "
     "y[i] = t[x[i] % 7u]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(u32 n, u32 *y)\n{ u32 t[7]; u32 i = global_id(0);\n t[n] = i; y[i] = t[n]; }",
     {BEYOND},
     {},
     512,
     7},
    {"static const u32 t[3] = {4, 5, 6};\nkernel void k(u32 *y)\n{ u32 i = global_id(0); y[i] = "
     "t[i / 40]; }",
     {BEYOND},
     {},
     512,
     0},
    {"struct p { u32 a; u16 b[3]; };\nkernel void k(struct p *p)\n{ u32 i = global_id(0); p[i].b[i "
     "% 4] = 1; p[i].a = 2u; }",
     {BEYOND},
     {},
     512,
     0},
    /* loops that run lane after lane */
    {"kernel void k(const u32 *x, u32 *y)\n{ u32 i = global_id(0);\n"
     " for (u32 j = 0; j < x[i] % 50u; j++) atomic_add(&y[x[(i * 7 + j) % 140] & 255u], x[i + j]); "
     "}",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(const u32 *x, u32 *y)\n{ shared u32 t[9][3]; u32 i = global_id(0);\n"
     " for (u32 j = 0; j < x[i] % 50u; j++) atomic_add(&t[i][x[i + j] % 3u], x[i] + j); }",
     {BEYOND},
     {},
     512,
     0},
    /* functions that are called: the buffers are the caller's */
    {"noinline u32 get(const u32 *a, u32 i)\n{ return a[i + 3]; }\nkernel void k(const u32 *x, "
     "const u32 *z, u32 *y)\n{ u32 i = global_id(0); y[i] = get(z, i); if (i > 9) y[i] = get(z, i "
     "+ 1); }",
     {BEYOND},
     {4, 512, 512},
     0,
     0},
    {"noinline u32 own(u32 i)\n{ u32 t[5] = {1, 2, 3, 4, 5};\n return t[i % 6]; }\nkernel void "
     "k(u32 *y)\n{ u32 i = global_id(0); y[i] = own(i); }",
     {BEYOND},
     {},
     512,
     0},
    /* shapes: one lane, odd, planes; a grid barrier; a trap */
    {"kernel workgroup(1) void k(u32 *y)\n{ y[workgroup_id(0) * 3] += 1u; }", {7, 1, 1}, {}, 40, 0},
    {"kernel workgroup(7) void k(u32 *y)\n{ y[global_id(0) + 1] = 1u; }", {50, 1, 1}, {}, 200, 0},
    {"kernel workgroup(3, 5, 2) void k(u32 *y)\n{ u32 i = global_id(0) + 9 * (global_id(1) + 10 * "
     "global_id(2));\n y[i] = i; }",
     {9, 10, 4},
     {},
     1000,
     0},
    {"kernel void k(u32 *x, u32 *y)\n{ u32 i = global_id(0); x[i] = i; grid_barrier();\n y[i] = "
     "x[i + 1]; }",
     {BEYOND},
     {},
     512,
     0},
    {"kernel void k(u32 *y)\n{ u32 i = global_id(0); if (y[i + 70] == 0u) trap(3);\n y[i] = 1u; }",
     {BEYOND},
     {},
     512,
     0},
};

static void kernels(void **state)
{
    uint32_t reports = 0, none = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(subjects); i++) {
        uint32_t count = check(&subjects[i], true);
        reports += count;
        none += count == 0;
    }
    assert_int_equal(none, 2); /* those that only might */
    assert_true(reports > COUNT(subjects));
}

/* --- random programs -------------------------------------------------------------------------- */

static uint64_t first_seed = 1;
static unsigned programs = 12;

static void random_programs(void **state)
{
    uint32_t reports = 0;
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + programs; seed++) {
        ls__strbuf text = {0};
        bool cooperates = seed % 2 != 0;
        subject s = {.global = {LS__GENERATE_LANES, 1, 1}, .every = 64 + (uint32_t)(seed % 5) * 24};
        if (cooperates)
            ls__cooperate(seed, &text);
        else
            ls__generate(seed, "k", true, &text);
        s.text = text.text;
        s.number = 90;
        if (cooperates)
            s.every = 400; /* else values read as 0 make a program end at once */
        reports += check(&s, !cooperates);
        ls__strbuf_finish(&text);
    }
    print_message("%u programs, %u reports\n", programs, reports);
    assert_true(reports > 0);
}

/* --- what is not asked for -------------------------------------------------------------------- */

static void silent_unless_asked(void **state)
{
    (void)state;
    findings found = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    params.name = "cpu";
    params.on_report = on_report;
    params.report_context = &found;
    OK(ls_device_open(&params, &device, error));
    ls_program *program = kit_program(device, basic_ir, NULL, NULL);
    ls_buffer *x = kit_buffer(device, 40, LS_MEM_U32), *y = kit_buffer(device, 40, LS_MEM_U32);
    ls_range ranges[2] = {WHOLE(x), WHOLE(y)};
    ls_dispatch dispatch =
        kit_dispatch(kit_kernel(program, "add"), 64, ranges, 2, (uint32_t[]){64, 5}, 8);
    ls_batch *batch = kit_batch(device);
    ls_stream *stream = kit_stream(device);
    OK(ls_batch_dispatch(batch, &dispatch, error));
    kit_run(stream, batch, NULL);
    assert_int_equal(kit_u32(y, 9), 5);
    assert_int_equal(found.all, 0);
    ls_batch_destroy(&batch);
    ls_stream_destroy(&stream, NULL);
    ls_program_destroy(&program);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    OK(ls_device_destroy(&device, error));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(silent_unless_asked),
    };
    if (argc > 2) {
        first_seed = strtoull(argv[1], NULL, 0);
        programs = (unsigned)strtoul(argv[2], NULL, 0);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
