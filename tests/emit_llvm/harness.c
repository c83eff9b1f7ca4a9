/* SPDX-License-Identifier: Apache-2.0 */
/* See harness.h. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "base/str.h"
#include "device/cpu/loader.h"
#include "emit/llvm/abi.h"
#include "emit/llvm/emit.h"
#include "interp/interp.h"
#include "kernels/math_sources.h"
#include "lang/lang.h"
#include "pass/pass.h"

enum { GUARD = 256, GUARD_BYTE = 0xa5 };

const char *const ls__all_targets[] = {"native",     "native+quick",       "native+scalar+quick",
                                       "avx2",       "avx2+avxvnni+quick", "sse2",
                                       "sse2+quick", "sse2+scalar",        NULL};

/* --- programs --------------------------------------------------------------------------------- */

ls__ir_module *ls__compile_text(const char *text, const char *path)
{
    ls__lang_library library = {ls__kernels_math, ls__kernels_math_count};
    ls__lang_options options = {.path = path, .library = &library};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module = NULL;
    ls_error error = {0};
    if (ls__lang_compile(text, strlen(text), &options, &module, &diagnostics, &error) != LS_OK) {
        ls__strbuf out = {0};
        ls__lang_diagnostics_print(&diagnostics, &out);
        fprintf(stderr, "%s\n%s\n", error.message, out.text ? out.text : "");
        ls__strbuf_finish(&out);
        module = NULL;
    }
    ls__lang_diagnostics_finish(&diagnostics);
    return module;
}

static ls__ir_module *lowered_copy(const ls__ir_module *module, const char *target, bool optimize)
{
    ls__oom oom;
    ls_error error = {0};
    if (setjmp(oom.jump))
        return NULL;
    ls__ir_module *copy = ls__ir_module_clone(module, &oom, 0);
    ls__pass_options options = {.lower =
                                    ls__llvm_lowering(target) & ~(uint32_t)LS__LOWER_GRID_BARRIER,
                                .optimize = optimize};
    if (ls__pass_run(copy, &options, &error) != LS_OK) {
        fprintf(stderr, "passes: %s\n", error.message);
        ls__ir_module_destroy(&copy);
    }
    return copy;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static uint64_t draw(ls__rng *rng, ls_mem mem)
{
    uint32_t way = ls__rng_below(rng, 8);
    uint64_t bits = ls__rng_u64(rng);
    if (mem == LS_MEM_BOOL)
        return bits & 1;
    if (way == 0)
        return bits;
    if (mem == LS_MEM_F32) {
        float value =
            (float)((int32_t)bits >> ls__rng_below(rng, 31)) / (float)(1 + ls__rng_below(rng, 999));
        uint32_t word;
        memcpy(&word, &value, 4);
        return way == 1 ? (word | 0x7f800000) : word;
    }
    if (mem == LS_MEM_F64) {
        double value =
            (double)((int64_t)bits >> ls__rng_below(rng, 62)) / (1 + ls__rng_below(rng, 999));
        memcpy(&bits, &value, 8);
        return bits;
    }
    return bits >> ls__rng_below(rng, 64);
}

void ls__trial_fill(ls__trial *trial, uint64_t seed, uint32_t elements)
{
    ls__rng rng = {seed};
    for (uint32_t i = 0; i < trial->kernel->params.count; i++) {
        const ls__ir_param *param = &trial->kernel->params.items[i];
        if (!param->is_pointer)
            continue;
        uint64_t size = (uint64_t)param->size * elements;
        uint8_t *bytes = ls__mem_alloc(size, 1);
        for (uint64_t at = 0; at < size;) {
            uint64_t bits = draw(&rng, (ls_mem)param->mem);
            uint32_t step = param->mem ? ls__ir_mem_bytes((ls_mem)param->mem) : 4;
            if (step > size - at)
                step = 1;
            memcpy(bytes + at, &bits, step);
            at += step;
        }
        trial->bytes[param->buffer] = bytes;
        trial->size[param->buffer] = size;
    }
}

void ls__trial_finish(ls__trial *trial)
{
    for (uint32_t i = 0; i < LS__MAX_BUFFERS; i++)
        ls__mem_free(trial->bytes[i]);
}

/* --- the two runs ----------------------------------------------------------------------------- */

struct ls__outcome {
    uint8_t *store[LS__MAX_BUFFERS]; /* guard, buffer, guard */
    uint8_t *bytes[LS__MAX_BUFFERS];
    bool trapped;
    uint32_t trap_code, trap_lane;
    uint64_t trap_workgroup;
};
typedef struct ls__outcome outcome;

static void begin_outcome(const ls__trial *trial, outcome *o)
{
    *o = (outcome){0};
    for (uint32_t i = 0; i < trial->kernel->buffer_count; i++) {
        o->store[i] = ls__mem_alloc(trial->size[i] + 2 * GUARD, 1);
        memset(o->store[i], GUARD_BYTE, trial->size[i] + 2 * GUARD);
        o->bytes[i] = o->store[i] + GUARD - 8; /* not aligned to vectors */
        memcpy(o->bytes[i], trial->bytes[i], trial->size[i]);
    }
}

static void end_outcome(outcome *o)
{
    for (uint32_t i = 0; i < LS__MAX_BUFFERS; i++)
        ls__mem_free(o->store[i]);
}

static bool guards_hold(const ls__trial *trial, const outcome *o)
{
    for (uint32_t i = 0; i < trial->kernel->buffer_count; i++) {
        const uint8_t *end = o->store[i] + trial->size[i] + 2 * GUARD;
        for (const uint8_t *p = o->store[i]; p < end; p++) {
            bool inside = p >= o->bytes[i] && p < o->bytes[i] + trial->size[i];
            if (!inside && *p != GUARD_BYTE)
                return false;
        }
    }
    return true;
}

static int interpret(const ls__trial *trial, outcome *o)
{
    ls__interp_binding bindings[LS__MAX_BUFFERS] = {{0}};
    ls__interp_result result = {0};
    ls_error error = {0};
    for (uint32_t i = 0; i < trial->kernel->buffer_count; i++)
        bindings[i] = (ls__interp_binding){o->bytes[i], trial->size[i], i + 1, 0, NULL};
    ls__interp_launch launch = {.module = trial->module,
                                .kernel = trial->kernel,
                                .bindings = bindings,
                                .scalars = trial->scalars,
                                .iteration = 5};
    memcpy(launch.global_size, trial->global_size, sizeof launch.global_size);
    if (ls__interp_run(&launch, &result, &error) != LS_OK) {
        fprintf(stderr, "interpreter: %s\n", error.message);
        return 1;
    }
    o->trapped = result.trapped;
    o->trap_code = result.trap_code;
    o->trap_lane = result.trap_lane;
    o->trap_workgroup = result.trap_workgroup;
    return 0;
}

ls__cpu_object *ls__compile_object(const ls__ir_module *original, const char *target, bool optimize)
{
    void *bytes = NULL;
    size_t size = 0;
    ls_error error = {0};
    ls__cpu_object *object = NULL;
    ls__ir_module *module = lowered_copy(original, target, optimize);
    if (!module)
        return NULL;
    ls_status status = ls__llvm_emit(module, target, false, &bytes, &size, &error);
    const char *dump = getenv("LS_TEST_DUMP");
    bool after_passes = dump && *dump == '2';
    char *text = NULL;
    if ((status != LS_OK || dump) &&
        ls__llvm_print(module, target, after_passes, &text, NULL) == LS_OK)
        fprintf(stderr, "%s\n", text);
    ls__mem_free(text);
    ls__ir_module_destroy(&module);
    if (status == LS_OK)
        status = ls__cpu_object_load(bytes, size, &object, &error);
    ls__mem_free(bytes);
    if (status != LS_OK)
        fprintf(stderr, "%s: %s\n", target, error.message);
    return status == LS_OK ? object : NULL;
}

static int call(const ls__trial *trial, const ls__cpu_object *object, outcome *o)
{
    char name[64];
    uint64_t ranges[LS__MAX_BUFFERS], groups = 1;
    ls__cpu_trap trap = {0};
    int cancel = 0;
    ls__cpu_args args = {.buffers = o->bytes,
                         .ranges = ranges,
                         .scalars = trial->scalars,
                         .cancel = &cancel,
                         .trap = &trap,
                         .iteration = 5};
    for (int d = 0; d < 3; d++) {
        uint32_t w = trial->kernel->workgroup[d];
        args.global_size[d] = trial->global_size[d];
        args.workgroup_count[d] = (trial->global_size[d] - 1) / w + 1;
        groups *= args.workgroup_count[d];
    }
    memcpy(ranges, trial->size, sizeof ranges);
    snprintf(name, sizeof name, LS__CPU_KERNEL_SYMBOL "%u", trial->kernel->id.id);
    ls__cpu_kernel *kernel = (ls__cpu_kernel *)ls__cpu_object_symbol(object, name, 1);
    snprintf(name, sizeof name, LS__CPU_INFO_SYMBOL "%u", trial->kernel->id.id);
    const ls__cpu_kernel_info *info = ls__cpu_object_symbol(object, name, sizeof *info);
    if (!kernel || !info) {
        fprintf(stderr, "the object has no such kernel\n");
        return 1;
    }
    uint8_t *scratch = NULL;
    if (posix_memalign((void **)&scratch, LS__CPU_SCRATCH_ALIGNMENT, info->scratch_bytes + 64) != 0)
        return 1;
    memset(scratch, 0xcd, info->scratch_bytes + 64);
    uint64_t step = trial->split ? trial->split : groups;
    for (uint64_t first = 0; first < groups; first += step)
        kernel(&args, first, groups - first < step ? groups - first : step, scratch);
    int bad = 0;
    for (uint32_t i = 0; i < 64; i++)
        bad |= scratch[info->scratch_bytes + i] != 0xcd;
    if (bad)
        fprintf(stderr, "scratch memory overrun\n");
    free(scratch);
    o->trapped = trap.trapped;
    o->trap_code = trap.code;
    o->trap_lane = trap.lane;
    o->trap_workgroup = trap.workgroup;
    return bad;
}

/* --- comparison ------------------------------------------------------------------------------- */

static int differ(const ls__trial *trial, const char *target, const outcome *want,
                  const outcome *got)
{
    for (uint32_t i = 0; i < trial->kernel->buffer_count; i++) {
        for (uint64_t k = 0; k < trial->size[i]; k++) {
            if (want->bytes[i][k] == got->bytes[i][k])
                continue;
            uint32_t a = 0, b = 0, n = trial->size[i] - (k & ~3u) < 4 ? 1 : 4;
            memcpy(&a, want->bytes[i] + (n == 4 ? k & ~UINT64_C(3) : k), n);
            memcpy(&b, got->bytes[i] + (n == 4 ? k & ~UINT64_C(3) : k), n);
            fprintf(stderr, "%s, %s: buffer %u byte %llu: %08x instead of %08x\n",
                    trial->kernel->name, target, i, (unsigned long long)k, b, a);
            return 1;
        }
    }
    if (want->trapped != got->trapped ||
        (want->trapped && (want->trap_code != got->trap_code || want->trap_lane != got->trap_lane ||
                           want->trap_workgroup != got->trap_workgroup))) {
        fprintf(stderr, "%s, %s: trap %d of lane %u, code %u, instead of %d, %u, %u\n",
                trial->kernel->name, target, got->trapped, got->trap_lane, got->trap_code,
                want->trapped, want->trap_lane, want->trap_code);
        return 1;
    }
    if (!guards_hold(trial, got)) {
        fprintf(stderr, "%s, %s: wrote outside of its buffers\n", trial->kernel->name, target);
        return 1;
    }
    return 0;
}

ls__outcome *ls__trial_interpret(const ls__trial *trial)
{
    outcome *o = ls__mem_alloc(1, sizeof *o);
    begin_outcome(trial, o);
    if (interpret(trial, o) == 0)
        return o;
    ls__outcome_free(o);
    return NULL;
}

void ls__outcome_free(ls__outcome *o)
{
    if (o)
        end_outcome(o);
    ls__mem_free(o);
}

int ls__trial_compare(const ls__trial *trial, const ls__outcome *want, const ls__cpu_object *object,
                      const char *target)
{
    outcome got;
    begin_outcome(trial, &got);
    int bad = call(trial, object, &got) || differ(trial, target, want, &got);
    end_outcome(&got);
    return bad;
}

static int compare_on(const ls__trial *trials, uint32_t count, ls__outcome *const *wants,
                      const char *target)
{
    int bad = 0;
    /* Our passes are on; and off as well where compiling is cheap. */
    for (int optimize = strstr(target, "quick") == NULL; optimize < 2 && !bad; optimize++) {
        ls__cpu_object *object = ls__compile_object(trials[0].module, target, optimize);
        if (!object)
            return 1;
        for (uint32_t i = 0; i < count; i++)
            bad |= ls__trial_compare(&trials[i], wants[i], object, target);
        ls__cpu_object_unload(&object);
    }
    return bad;
}

int ls__compare_all(const ls__trial *trials, uint32_t count, const char *only, unsigned *runs)
{
    int bad = 0;
    ls__outcome **wants = ls__mem_alloc(count, sizeof(ls__outcome *));
    for (uint32_t i = 0; i < count && !bad; i++)
        bad |= (wants[i] = ls__trial_interpret(&trials[i])) == NULL;
    for (uint32_t t = 0; ls__all_targets[t] && !bad && !only; t++) {
        if (!ls__llvm_target_runs(ls__all_targets[t]))
            continue;
        bad |= compare_on(trials, count, wants, ls__all_targets[t]);
        *runs += count;
    }
    if (only && !bad) {
        bad = compare_on(trials, count, wants, only);
        *runs += count;
    }
    for (uint32_t i = 0; i < count; i++)
        ls__outcome_free(wants[i]);
    ls__mem_free(wants);
    return bad;
}
