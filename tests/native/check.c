/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ways of running a kernel, and their comparison. The native side is a shared object made
 * by the system's C compiler: the text, included behind lockstep/kernel.h, and a small driver that
 * unpacks the scalar block. It runs in a child process on shared memory, so that a crash or an
 * endless loop there is a verdict and not the end of the check: one child for all input sets of a
 * kernel, since a fork takes milliseconds under a sanitizer.
 *
 * Lanes that the interpreter flags (x/0, a shift count, a cast out of range, ...) are not run
 * natively. Where some lanes are flagged, outputs are compared element by element for the other
 * lanes only: element i belongs to lane i. Padding of structures is not compared: Kernel C never
 * writes it, C may copy anything there.
 */
#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "interp/interp.h"
#include "kernels/math_sources.h"
#include "lang/lang.h"
#include "pass/pass.h"

enum { PASSED = 2 }; /* variants after the passes: optimised; optimised and lowered */

typedef void drive(void *const *buffers, const unsigned char *scalars, const uint32_t *lanes,
                   const uint32_t *group, const unsigned char *skip);

const char *ls__native_verdict_name(ls__native_verdict verdict)
{
    static const char *const names[] = {"equal",
                                        "differs",
                                        "rejected by our front end",
                                        "refused by the C compiler",
                                        "native crash",
                                        "interpreter failed",
                                        "a pass failed",
                                        "differs after passes",
                                        "not applicable"};
    return names[verdict];
}

/* --- front end -------------------------------------------------------------------------------- */
static bool include_file(void *context, const char *path, char **text, size_t *length)
{
    (void)context;
    void *bytes = NULL;
    if (ls__os_read_file(path, 1u << 24, &bytes, length, NULL) != LS_OK)
        return false;
    *text = bytes;
    return true;
}

static ls__ir_module *front_end(ls__native_program *program)
{
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {
        .path = program->path, .include = include_file, .library = &library};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module = NULL;
    ls_error error = {0};
    if (ls__lang_compile(program->text, program->length, &options, &module, &diagnostics, &error) !=
        LS_OK) {
        program->verdict = LS__NATIVE_REJECTED;
        snprintf(program->message, sizeof program->message, "%s", error.message);
        if (diagnostics.items.count) {
            const ls__lang_diagnostic *d = &diagnostics.items.items[0];
            snprintf(program->message, sizeof program->message, "%u:%u: %s: %s", d->line, d->column,
                     d->id, d->message);
        }
        module = NULL;
    }
    ls__lang_diagnostics_finish(&diagnostics);
    return module;
}

static bool find_synchronisation(ls__ir_inst *inst, void *context)
{
    if (ls__ir_op_has((ls_op)inst->op, 'S'))
        *(bool *)context = true;
    return true;
}

static bool runs_lane_by_lane(const ls__ir_function *kernel)
{
    bool synchronises = false;
    ls__ir_walk(kernel->body, find_synchronisation, &synchronises);
    return !synchronises && !kernel->shared.count;
}

/* The same module after the passes: optimised, and with everything lowered that can be. NULL with
 * the verdict set when a pass fails. */
static ls__ir_module *after_passes(ls__native_program *program, const ls__ir_module *module,
                                   uint32_t lower)
{
    ls_error error = {0};
    ls__oom oom;
    if (setjmp(oom.jump)) {
        ls__oom_status(&oom, &error);
    } else {
        ls__ir_module *copy = ls__ir_module_clone(module, &oom, 0);
        ls__pass_options options = {.optimize = true, .lower = lower, .verify_each = true};
        if (ls__pass_run(copy, &options, &error) == LS_OK)
            return copy;
        ls__ir_module_destroy(&copy);
    }
    program->verdict = LS__NATIVE_PASSES_FAILED;
    snprintf(program->message, sizeof program->message, "%s: %.480s",
             lower ? "lowered" : "optimised", error.message);
    return NULL;
}

/* --- native side ------------------------------------------------------------------------------ */
static void write_driver(ls__strbuf *out, const ls__native_program *program,
                         const ls__ir_module *module, uint32_t index)
{
    /* Static, since the kernels of all programs are linked together. */
    ls__strbuf_printf(out,
                      "#include \"lockstep/kernel.h\"\n#undef kernel\n#define kernel static\n"
                      "#include \"%s\"\n",
                      program->path);
    for (uint32_t i = 1; i < module->functions.count; i++) {
        const ls__ir_function *f = module->functions.items[i];
        if (!f->is_kernel || !runs_lane_by_lane(f))
            continue;
        ls__strbuf_printf(out,
                          "void drive_%u_%u(void *const *b, const unsigned char *s, const u32 "
                          "*lanes, const u32 *group, "
                          "const unsigned char *skip)\n{\n    (void)b; (void)s;\n    "
                          "ls_native_set_launch(lanes, group);\n"
                          "    for (u64 i = 0; i < ls_native_lane_count(); i++) {\n        if "
                          "(skip[i]) continue;\n"
                          "        ls_native_set_lane(i);\n        %s(",
                          index, i, f->name);
        for (uint32_t p = 0; p < f->params.count; p++) {
            const ls__ir_param *param = &f->params.items[p];
            if (param->is_pointer)
                ls__strbuf_printf(out, "%s(%s *)b[%u]", p ? ", " : "", param->type_name,
                                  param->buffer);
            else
                ls__strbuf_printf(out, "%s*(const %s *)(const void *)(s + %u)", p ? ", " : "",
                                  param->type_name, param->offset);
        }
        ls__strbuf_printf(out, ");\n    }\n}\n");
    }
}

static bool write_text(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool good = fwrite(text, 1, length, file) == length;
    return fclose(file) == 0 && good;
}

static int run_compiler(const ls__native_options *options, char *const *sources, uint32_t count,
                        const char *object)
{
    static const char *const flags[] = {
        "-std=c11", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fPIC",
        "-shared",  "-w",  "-o"};
    enum { FLAGS = sizeof flags / sizeof *flags };
    char include[4096], log[4096];
    snprintf(include, sizeof include, "-I%s", options->include_dir);
    snprintf(log, sizeof log, "%s/cc.log", options->work_dir);
    const char **argv = ls__mem_alloc(count + FLAGS + 5, sizeof *argv);
    if (!argv)
        return -1;
    uint32_t n = 0;
    argv[n++] = options->compiler;
    for (uint32_t i = 0; i < FLAGS; i++)
        argv[n++] = flags[i];
    argv[n++] = object;
    argv[n++] = include;
    for (uint32_t i = 0; i < count; i++)
        argv[n++] = sources[i];
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(log, "w", stderr) || !freopen("/dev/null", "r", stdin))
            _exit(126);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    ls__mem_free(argv);
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return status;
}

/* --- inputs ----------------------------------------------------------------------------------- */
static uint64_t edge_or_random(ls__rng *rng, ls_mem mem)
{
    static const uint32_t f32s[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 1,
                                    0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
                                    0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00001, 0xffc12345,
                                    0x4f000000, 0xcf000000, 0x4effffff, 0x3f000000, 0x3effffff};
    static const uint64_t f64s[] = {0,
                                    1ull << 63,
                                    0x3ff0000000000000,
                                    1,
                                    0x000fffffffffffff,
                                    0x0010000000000000,
                                    0x7fefffffffffffff,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff8000000000000,
                                    0x7ff0000000000001,
                                    0x41dfffffffc00000,
                                    0xc1e0000000000000,
                                    0x36a0000000000000};
    static const uint64_t ints[] = {0,
                                    1,
                                    2,
                                    3,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    127,
                                    128,
                                    255,
                                    256,
                                    32767,
                                    32768,
                                    65535,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x100000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    ~0ull,
                                    ~1ull,
                                    0xffffffff80000000};
#define FROM(list) (list)[ls__rng_below(rng, sizeof(list) / sizeof *(list))]
    uint32_t choice = ls__rng_below(rng, 4);
    switch (mem) {
    case LS_MEM_BOOL:
        return ls__rng_below(rng, 2); /* other bytes are undefined in C */
    case LS_MEM_F32: {
        if (choice == 0)
            return FROM(f32s);
        if (choice == 1)
            return (uint32_t)ls__rng_u64(rng);
        float f = (float)((int32_t)ls__rng_u64(rng) >> ls__rng_below(rng, 32)) /
                  (float)(1 + ls__rng_below(rng, 1000));
        uint32_t bits;
        memcpy(&bits, &f, 4);
        return bits;
    }
    case LS_MEM_F64: {
        if (choice == 0)
            return FROM(f64s);
        if (choice == 1)
            return ls__rng_u64(rng);
        double d = (double)((int64_t)ls__rng_u64(rng) >> ls__rng_below(rng, 64)) /
                   (double)(1 + ls__rng_below(rng, 1000));
        uint64_t bits;
        memcpy(&bits, &d, 8);
        return bits;
    }
    default:
        if (choice == 0)
            return FROM(ints);
        return ls__rng_u64(rng) >> (choice == 1 ? 0 : ls__rng_below(rng, 64));
    }
#undef FROM
}

static void fill(ls__rng *rng, const ls__ir_param *param, uint8_t *bytes, uint32_t elements)
{
    for (uint32_t e = 0; e < elements; e++) {
        uint8_t *at = bytes + (size_t)e * param->size;
        if (param->mem != LS_MEM_NONE) {
            uint64_t bits = edge_or_random(rng, (ls_mem)param->mem);
            memcpy(at, &bits, param->size);
        }
        for (uint32_t f = 0; f < param->field_count; f++) {
            uint64_t bits = edge_or_random(rng, (ls_mem)param->fields[f].mem);
            memcpy(at + param->fields[f].offset, &bits,
                   ls__ir_mem_bytes((ls_mem)param->fields[f].mem));
        }
    }
}

/* NaNs of float outputs made canonical, on both sides alike: loading and storing back applies the
 * NaN rule. */
static void canonical(const ls__ir_param *param, uint8_t *bytes, uint32_t elements)
{
    for (uint32_t e = 0; e < elements; e++) {
        uint8_t *at = bytes + (size_t)e * param->size;
        if (ls__ir_mem_is_float((ls_mem)param->mem))
            ls__ir_store_bits((ls_mem)param->mem, at, ls__ir_load_bits((ls_mem)param->mem, at),
                              false);
        for (uint32_t f = 0; f < param->field_count; f++)
            if (ls__ir_mem_is_float((ls_mem)param->fields[f].mem))
                ls__ir_store_bits(
                    (ls_mem)param->fields[f].mem, at + param->fields[f].offset,
                    ls__ir_load_bits((ls_mem)param->fields[f].mem, at + param->fields[f].offset),
                    false);
    }
}

/* --- one kernel, both ways -------------------------------------------------------------------- */
typedef struct launch {
    ls__native_program *program;
    const ls__native_options *options;
    const ls__ir_module *module, *const *passed; /* as the front end made it; after the passes */
    const ls__ir_function *kernel;
    drive *native;
    uint32_t group_lanes, total_lanes; /* total: rounded up to whole workgroups */
    uint32_t round;                    /* the current input set */
    size_t round_bytes;                /* of `shared` for one input set */
    uint8_t *shared;                   /* memory shared with the child: for each input set its skip
                                          flags, the scalar block and the native buffers; behind
                                          them the number of sets done */
    uint8_t *ours, *again;             /* as one set of `shared`: interpreted; after passes */
    uint8_t *skip;                     /* of the current input set */
} launch;

enum { SCALARS = 4096, BUFFERS = 64 };

/* Where the scalar block is in one input set, and the buffers behind it. */
static size_t scalars_at(const launch *l)
{
    return (l->total_lanes + 15u) & ~(size_t)15u;
}

static size_t list_buffers(const launch *l, uint8_t *set, uint8_t **list)
{
    size_t at = scalars_at(l) + SCALARS;
    for (uint32_t p = 0; p < l->kernel->params.count; p++) {
        const ls__ir_param *param = &l->kernel->params.items[p];
        if (!param->is_pointer)
            continue;
        if (list)
            list[param->buffer] = set + at;
        at = (at + (size_t)param->size * l->options->elements + 15u) & ~(size_t)15u;
    }
    return at;
}

static uint8_t *native_set(const launch *l)
{
    return l->shared + l->round * l->round_bytes;
}

static void on_report(void *context, const ls__interp_report *report)
{
    launch *l = context;
    uint32_t lane = report->workgroup[0] * l->group_lanes + report->lane;
    if (lane < l->total_lanes && !l->skip[lane]) {
        l->skip[lane] = 1;
        l->program->flagged++;
    }
}

/* Interprets the kernel of `module` on the buffers of `set`. */
static bool interpret(launch *l, const ls__ir_module *module, uint8_t *set)
{
    ls__interp_binding bindings[BUFFERS] = {0};
    uint8_t *buffers[BUFFERS];
    list_buffers(l, set, buffers);
    bool flag = module == l->module;
    for (uint32_t p = 0; p < l->kernel->params.count; p++) {
        const ls__ir_param *param = &l->kernel->params.items[p];
        if (param->is_pointer)
            bindings[param->buffer] =
                (ls__interp_binding){.bytes = buffers[param->buffer],
                                     .size = (uint64_t)l->options->elements * param->size,
                                     .identity = param->buffer + 1};
    }
    ls__interp_launch launch = {.module = module,
                                .kernel =
                                    ls__ir_function_find(module, ls__str_from(l->kernel->name)),
                                .bindings = bindings,
                                .scalars = set + scalars_at(l),
                                .global_size = {l->options->lanes, 1, 1},
                                .flag_undefined_c = flag,
                                .sanitize = flag, /* reads and writes out of range are undefined in
                                                     C too */
                                .report_all = true,
                                .on_report = flag ? on_report : NULL,
                                .context = l};
    ls__interp_result result = {0};
    ls_error error = {0};
    if (ls__interp_run(&launch, &result, &error) != LS_OK) {
        l->program->verdict = LS__NATIVE_INTERP_FAILED;
        snprintf(l->program->message, sizeof l->program->message, "%s", error.message);
        return false;
    }
    if (flag)
        l->program->lanes += l->total_lanes;
    return true;
}

/* All input sets, in one child. */
static bool run_native(launch *l)
{
    uint32_t lanes[3] = {l->options->lanes, 1, 1};
    volatile uint32_t *done = (void *)(l->shared + l->options->rounds * l->round_bytes);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        for (l->round = 0; l->round < l->options->rounds; l->round++, ++*done) {
            uint8_t *set = native_set(l), *buffers[BUFFERS];
            list_buffers(l, set, buffers);
            l->native((void *const *)buffers, set + scalars_at(l), lanes, l->kernel->workgroup,
                      set);
        }
        _exit(0);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && *done == l->options->rounds)
        return true;
    l->program->verdict = LS__NATIVE_CRASHED;
    snprintf(l->program->message, sizeof l->program->message,
             "kernel %s, inputs %u: native run ended with status %d", l->kernel->name, *done,
             status);
    return false;
}

/* Passes change no bit, not even of lanes that C leaves undefined, nor of padding. */
static bool compare_passed(launch *l, uint32_t which)
{
    uint8_t *ours[BUFFERS], *again[BUFFERS];
    list_buffers(l, l->ours, ours);
    list_buffers(l, l->again, again);
    for (uint32_t p = 0; p < l->kernel->params.count; p++) {
        const ls__ir_param *param = &l->kernel->params.items[p];
        if (!param->is_pointer || !memcmp(ours[param->buffer], again[param->buffer],
                                          (size_t)param->size * l->options->elements))
            continue;
        l->program->verdict = LS__NATIVE_PASSES_DIFFER;
        snprintf(l->program->message, sizeof l->program->message,
                 "kernel %s, inputs %u: %s differs %s", l->kernel->name, l->round, param->name,
                 which ? "lowered" : "optimised");
        return false;
    }
    return true;
}

/* One scalar of element `element`: the element itself, or one field of it. */
static bool compare_scalar(launch *l, const ls__ir_param *param, uint32_t element,
                           const char *field, ls_mem mem, const uint8_t *ours,
                           const uint8_t *theirs)
{
    if (memcmp(ours, theirs, ls__ir_mem_bytes(mem)) == 0)
        return true;
    uint64_t x = 0, y = 0;
    memcpy(&x, ours, ls__ir_mem_bytes(mem));
    memcpy(&y, theirs, ls__ir_mem_bytes(mem));
    l->program->verdict = LS__NATIVE_DIFFERS;
    snprintf(l->program->message, sizeof l->program->message,
             "kernel %s, inputs %u: %s[%u]%s%s is %#llx interpreted, %#llx native", l->kernel->name,
             l->round, param->name, element, *field ? "." : "", field, (unsigned long long)x,
             (unsigned long long)y);
    return false;
}

static bool compare(launch *l)
{
    uint8_t *set = native_set(l), *ours[BUFFERS], *theirs[BUFFERS];
    bool flagged = memchr(set, 1, l->total_lanes) != NULL;
    list_buffers(l, l->ours, ours);
    list_buffers(l, set, theirs);
    for (uint32_t p = 0; p < l->kernel->params.count; p++) {
        const ls__ir_param *param = &l->kernel->params.items[p];
        if (!param->is_pointer || param->is_const)
            continue;
        uint32_t elements = l->options->elements;
        canonical(param, ours[param->buffer], elements);
        canonical(param, theirs[param->buffer], elements);
        for (uint32_t e = 0; e < elements; e++) {
            if (flagged && (e >= l->total_lanes || set[e]))
                continue;
            const uint8_t *a = ours[param->buffer] + (size_t)e * param->size;
            const uint8_t *b = theirs[param->buffer] + (size_t)e * param->size;
            if (param->mem != LS_MEM_NONE &&
                !compare_scalar(l, param, e, "", (ls_mem)param->mem, a, b))
                return false;
            for (uint32_t f = 0; f < param->field_count; f++) {
                const ls__ir_field *field = &param->fields[f];
                if (!compare_scalar(l, param, e, field->path, (ls_mem)field->mem, a + field->offset,
                                    b + field->offset))
                    return false;
            }
        }
    }
    return true;
}

/* Interprets input set l->round: on `ours`, and after each set of passes on `again`. */
static bool interpret_round(launch *l)
{
    uint8_t *set = native_set(l), *buffers[BUFFERS];
    ls__rng rng = {l->options->seed * 1000003u + l->round};
    list_buffers(l, set, buffers);
    l->skip = set;
    for (uint32_t p = 0; p < l->kernel->params.count; p++) {
        const ls__ir_param *param = &l->kernel->params.items[p];
        if (param->is_pointer)
            fill(&rng, param, buffers[param->buffer], l->options->elements);
        else
            fill(&rng, param, set + scalars_at(l) + param->offset, 1);
    }
    memcpy(l->ours, set, l->round_bytes);
    bool good = interpret(l, l->module, l->ours);
    for (uint32_t w = 0; good && w < PASSED; w++) {
        memcpy(l->again, set, l->round_bytes);
        good = interpret(l, l->passed[w], l->again) && compare_passed(l, w);
    }
    return good;
}

static void check_kernel(ls__native_program *program, const ls__native_options *options,
                         const ls__ir_module *module, const ls__ir_module *const *passed,
                         const ls__ir_function *kernel, drive *native)
{
    launch l = {.program = program,
                .options = options,
                .module = module,
                .passed = passed,
                .kernel = kernel,
                .native = native};
    l.group_lanes = kernel->workgroup[0] * kernel->workgroup[1] * kernel->workgroup[2];
    uint32_t groups = (options->lanes + kernel->workgroup[0] - 1) / kernel->workgroup[0];
    l.total_lanes = groups * l.group_lanes;
    l.round_bytes = list_buffers(&l, NULL, NULL);
    size_t shared_bytes = options->rounds * l.round_bytes + sizeof(uint32_t);
    uint8_t *ours = ls__mem_alloc(options->rounds, l.round_bytes);
    l.again = ls__mem_alloc(1, l.round_bytes);
    l.shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = ours && l.again && l.shared != MAP_FAILED && kernel->buffer_count <= BUFFERS &&
                kernel->scalar_bytes <= SCALARS;
    if (!good) {
        program->verdict = LS__NATIVE_INTERP_FAILED;
        snprintf(program->message, sizeof program->message,
                 "kernel %s: out of memory, or more parameters than the check takes", kernel->name);
    }
    for (l.round = 0; good && l.round < options->rounds; l.round++) {
        l.ours = ours + l.round * l.round_bytes;
        good = interpret_round(&l);
    }
    good = good && run_native(&l);
    for (l.round = 0; good && l.round < options->rounds; l.round++) {
        l.ours = ours + l.round * l.round_bytes;
        good = compare(&l);
    }
    if (l.shared != MAP_FAILED)
        munmap(l.shared, shared_bytes);
    ls__mem_free(ours);
    ls__mem_free(l.again);
}

/* The C compiler's first error, or what hindered loading what it made. */
static void first_error(const ls__native_options *options, char *message, size_t size)
{
    char path[4096], line[512];
    const char *reason = dlerror();
    snprintf(message, size, "%s", reason ? reason : "");
    snprintf(path, sizeof path, "%s/cc.log", options->work_dir);
    FILE *log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log))
        if (strstr(line, "error")) {
            snprintf(message, size, "%s", line);
            break;
        }
    if (log)
        fclose(log);
}

/* --- all programs ----------------------------------------------------------------------------- */
static bool build(ls__native_program *programs, ls__ir_module **modules, uint32_t count,
                  const ls__native_options *options, const char *object)
{
    char **sources = ls__mem_alloc(count, sizeof *sources);
    uint32_t source_count = 0;
    bool good = sources != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        if (!modules[i])
            continue;
        ls__strbuf driver = {0};
        char path[4096];
        snprintf(path, sizeof path, "%s/drive_%u.c", options->work_dir, i);
        write_driver(&driver, &programs[i], modules[i], i);
        good = driver.text && !driver.failed && write_text(path, driver.text, driver.length);
        ls__strbuf_finish(&driver);
        sources[source_count++] = ls__mem_strdup(path);
    }
    good = good && (source_count == 0 || run_compiler(options, sources, source_count, object) == 0);
    for (uint32_t i = 0; i < source_count; i++)
        ls__mem_free(sources[i]);
    ls__mem_free(sources);
    return good;
}

void ls__native_check(ls__native_program *programs, uint32_t count,
                      const ls__native_options *options)
{
    char object[4096];
    snprintf(object, sizeof object, "%s/native_%llu.so", options->work_dir,
             (unsigned long long)ls__os_now_ns());
    ls__ir_module **modules = ls__mem_alloc(count, sizeof *modules);
    if (!modules)
        return;
    for (uint32_t i = 0; i < count; i++) {
        programs[i].verdict = LS__NATIVE_EQUAL;
        programs[i].message[0] = 0;
        modules[i] = front_end(&programs[i]);
    }
    bool built = build(programs, modules, count, options, object);
    void *library = built ? dlopen(object, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(object);
    if (!library && count > 1) { /* find the culprit: one by one */
        bool refused = false;
        for (uint32_t i = 0; i < count; i++) {
            ls__ir_module_destroy(&modules[i]);
            ls__native_check(&programs[i], 1, options);
            refused |= programs[i].verdict == LS__NATIVE_CC_FAILED;
        }
        if (!refused)
            fprintf(stderr, "native_check: a batch was refused of which every program compiles\n");
        ls__mem_free(modules);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t applicable = 0;
        ls__ir_module *passed[PASSED] = {0};
        if (modules[i])
            passed[0] = after_passes(&programs[i], modules[i], 0);
        if (passed[0])
            passed[1] = after_passes(&programs[i], modules[i], ~(uint32_t)LS__LOWER_GRID_BARRIER);
        for (uint32_t f = 1; passed[1] && f < modules[i]->functions.count; f++) {
            const ls__ir_function *kernel = modules[i]->functions.items[f];
            if (!kernel->is_kernel || !runs_lane_by_lane(kernel))
                continue;
            applicable++;
            char name[64];
            snprintf(name, sizeof name, "drive_%u_%u", i, f);
            drive *native = NULL;
            void *symbol = library ? dlsym(library, name) : NULL;
            /* an object pointer to a function pointer, as POSIX allows */
            memcpy(&native, &symbol, sizeof native);
            if (!native) {
                programs[i].verdict = LS__NATIVE_CC_FAILED;
                first_error(options, programs[i].message, sizeof programs[i].message);
                break;
            }
            check_kernel(&programs[i], options, modules[i], (const ls__ir_module *const *)passed,
                         kernel, native);
            if (programs[i].verdict != LS__NATIVE_EQUAL)
                break;
        }
        if (passed[1] && !applicable)
            programs[i].verdict = LS__NATIVE_NOT_APPLICABLE;
        for (uint32_t w = 0; w < PASSED; w++)
            ls__ir_module_destroy(&passed[w]);
        if (modules[i])
            ls__ir_module_destroy(&modules[i]);
    }
    if (library)
        dlclose(library);
    ls__mem_free(modules);
}
