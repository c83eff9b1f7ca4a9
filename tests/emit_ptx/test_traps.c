/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVPTX does badly or dies of, one test each: our own list of what a module may contain
 * refuses it before LLVM sees it, and where LLVM gives up all the same that is an error. The
 * modules are made by hand, since the emitter does not make them.
 */
#include <stdio.h>
#include <string.h>

#include "../base/cmocka_all.h"
#include "base/mem.h"
#include "emit/llvm/session.h"
#include "emit/ptx/abi.h"
#include "emit/ptx/check.h"
#include "emit/ptx/emit.h"
#include "lang/lang.h"
#include "lint.h"
#include "pass/pass.h"

/* --- modules by hand -------------------------------------------------------------------------- */

typedef void fill(emitter *e, lv function);

typedef struct trial {
    fill *fill;
    bool unlisted; /* our list is not asked */
    ls_status status;
} trial;

static ls_status try(emitter *e, void *context, ls_error *error)
{
    trial *t = context;
    const ls__llvm *l = e->l;
    ls__llvm_machine how = {.triple = "nvptx64-nvidia-cuda",
                            .cpu = "sm_80",
                            .features = "",
                            .level = LLVMCodeGenLevelDefault};
    LLVMTargetMachineRef machine = ls__llvm_create_machine(e, &how, error);
    if (!machine)
        return LS_E_UNSUPPORTED;
    lt global = l->PointerTypeInContext(e->context, 1);
    lt types[3] = {global, e->f32, e->f32};
    lv f = l->AddFunction(e->out, "f", l->FunctionType(e->void_type, types, 3, 0));
    l->PositionBuilderAtEnd(e->b, l->AppendBasicBlockInContext(e->context, f, ""));
    t->fill(e, f);
    l->BuildRetVoid(e->b);
    void *bytes = NULL;
    size_t size;
    ls_status status = t->unlisted ? LS_OK : ls__ptx_check(e, error);
    if (status == LS_OK)
        status = ls__llvm_generate(e, machine, LLVMAssemblyFile, &bytes, &size, error);
    ls__mem_free(bytes);
    l->DisposeTargetMachine(machine);
    return status;
}

static ls_status outcome(fill *fill, bool unlisted, ls_error *error)
{
    emitter e = {.module = NULL};
    trial t = {.fill = fill, .unlisted = unlisted};
    return ls__llvm_session(&e, try, &t, error);
}

static void refused(fill *fill, const char *says)
{
    ls_error error = {0};
    assert_int_equal(outcome(fill, false, &error), LS_E_INTERNAL);
    if (!strstr(error.message, says))
        fail_msg("'%s' does not say '%s'", error.message, says);
}

static lv param(emitter *e, lv f, unsigned i)
{
    (void)e;
    return e->l->GetParam(f, i);
}

static void put(emitter *e, lv f, lv value)
{
    e->l->BuildStore(e->b, value, param(e, f, 0));
}

static lv call(emitter *e, const char *name, lt overload, lv *args, unsigned count)
{
    unsigned id = e->l->LookupIntrinsicID(name, strlen(name));
    lv callee = e->l->GetIntrinsicDeclaration(e->out, id, &overload, 1);
    return e->l->BuildCall2(e->b, e->l->GlobalGetValueType(callee), callee, args, count, "");
}

static void make_product(emitter *e, lv f)
{
    put(e, f, e->l->BuildFMul(e->b, param(e, f, 1), param(e, f, 2), ""));
}

static void what_is_listed_is_made(void **state)
{
    ls_error error = {0};
    if (outcome(make_product, false, &error) != LS_OK)
        fail_msg("%s", error.message);
}

static void make_remainder(emitter *e, lv f)
{
    put(e, f, e->l->BuildFRem(e->b, param(e, f, 1), param(e, f, 2), ""));
}

static void no_float_remainder(void **state)
{
    refused(make_remainder, "frem");
}

static void make_rounded_down(emitter *e, lv f)
{
    static const char rounding[] = "round.towardzero", except[] = "fpexcept.ignore";
    lv args[4] = {param(e, f, 1), param(e, f, 2)};
    args[2] = e->l->MetadataAsValue(
        e->context, e->l->MDStringInContext2(e->context, rounding, sizeof rounding - 1));
    args[3] = e->l->MetadataAsValue(
        e->context, e->l->MDStringInContext2(e->context, except, sizeof except - 1));
    put(e, f, call(e, "llvm.experimental.constrained.fadd", e->f32, args, 4));
}

static void no_constrained_floats(void **state)
{
    refused(make_rounded_down, "llvm.experimental.constrained.fadd");
}

static void make_ordered_atomic(emitter *e, lv f)
{
    e->l->BuildAtomicRMW(e->b, LLVMAtomicRMWBinOpAdd, param(e, f, 0), e->l->ConstInt(e->i32, 1, 0),
                         LLVMAtomicOrderingSequentiallyConsistent, 0);
}

static void no_ordered_atomics(void **state)
{
    refused(make_ordered_atomic, "ordered atomic");
}

static void make_acquire(emitter *e, lv f)
{
    lv value = e->l->BuildLoad2(e->b, e->i32, param(e, f, 0), "");
    e->l->SetOrdering(value, LLVMAtomicOrderingAcquire);
    e->l->SetAlignment(value, 4);
}

static void no_acquiring_loads(void **state)
{
    refused(make_acquire, "ordered atomic");
}

static void make_fence(emitter *e, lv f)
{
    (void)f;
    e->l->BuildFence(e->b, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
}

static void no_fences(void **state)
{
    refused(make_fence, "fence");
}

static void make_sine(emitter *e, lv f)
{
    lv x = param(e, f, 1);
    put(e, f, call(e, "llvm.sin", e->f32, &x, 1));
}

static void make_power(emitter *e, lv f)
{
    lv args[2] = {param(e, f, 1), param(e, f, 2)};
    put(e, f, call(e, "llvm.pow", e->f32, args, 2));
}

static void make_exponential(emitter *e, lv f)
{
    lv x = param(e, f, 1);
    put(e, f, call(e, "llvm.exp", e->f32, &x, 1));
}

static void no_library_functions(void **state)
{
    refused(make_sine, "llvm.sin");
    refused(make_power, "llvm.pow");
    refused(make_exponential, "llvm.exp");
}

static void make_unsaturated(emitter *e, lv f)
{
    put(e, f, e->l->BuildFPToSI(e->b, param(e, f, 1), e->i32, ""));
}

static void no_conversion_that_may_be_poison(void **state)
{
    refused(make_unsaturated, "instruction");
}

static void make_assembly(emitter *e, lv f)
{
    static const char text[] = "ex2.approx.f32 $0, $1;", constraints[] = "=f,f";
    lt type = e->l->FunctionType(e->f32, &e->f32, 1, 0);
    lv code = e->l->GetInlineAsm(type, text, sizeof text - 1, constraints, sizeof constraints - 1,
                                 0, 0, LLVMInlineAsmDialectATT, 0);
    lv x = param(e, f, 1);
    put(e, f, e->l->BuildCall2(e->b, type, code, &x, 1, ""));
}

static void no_other_assembly(void **state)
{
    refused(make_assembly, "ex2.approx");
}

/* The process goes on, and so does the next module. */
static void what_llvm_reports_is_an_error(void **state)
{
    ls_error error = {0};
    assert_int_equal(outcome(make_exponential, true, &error), LS_E_INTERNAL);
    what_is_listed_is_made(state);
}

static void what_llvm_dies_of_is_an_error(void **state)
{
    ls_error error = {0};
    assert_int_equal(outcome(make_fence, true, &error), LS_E_INTERNAL);
    assert_int_equal(outcome(make_sine, true, &error), LS_E_INTERNAL);
    what_is_listed_is_made(state);
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* The PTX of a text in Kernel C; ls__mem_free. */
static char *text_of(const char *source, const char *target, ls_status expected)
{
    ls__lang_options options = {.path = "test.kc"};
    ls__lang_diagnostics diagnostics = {0};
    ls__ir_module *module = NULL;
    ls__pass_options passes = {.optimize = true};
    ls__ptx_view view = {0};
    ls_error error = {0};
    void *bytes = NULL;
    size_t size;
    if (ls__lang_compile(source, strlen(source), &options, &module, &diagnostics, &error) != LS_OK)
        fail_msg("%s %s", error.message, error.where);
    ls__lang_diagnostics_finish(&diagnostics);
    assert_int_equal(ls__pass_run(module, &passes, &error), LS_OK);
    ls_status status = ls__ptx_emit(module, target, false, &bytes, &size, &error);
    if (status != expected)
        fail_msg("%s", error.message);
    char *text = NULL;
    if (status == LS_OK) {
        assert_int_equal(ls__ptx_read(bytes, size, &view, &error), LS_OK);
        text = ls__mem_strdup(view.text);
    }
    ls__mem_free(bytes);
    ls__ir_module_destroy(&module);
    return text;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void nothing_is_contracted(void **state)
{
    char *text = text_of("kernel void k(f32 a, f32 b, f32 *y)\n"
                         "{ y[0] = a * b + y[1]; y[2] = fma(a, b, y[3]); }\n",
                         "sm_80", LS_OK);
    assert_int_equal(count(text, "mul.rn.f32"), 1);
    assert_int_equal(count(text, "add.rn.f32"), 1);
    assert_int_equal(count(text, "fma.rn.f32"), 1);
    ls__mem_free(text);
}

static void division_and_root_round(void **state)
{
    char *text = text_of("kernel void k(f32 a, f64 d, f32 *y, f64 *z)\n"
                         "{ y[0] = a / y[1]; y[2] = sqrt(a); z[0] = d / z[1]; z[2] = sqrt(d); }\n",
                         "sm_75", LS_OK);
    assert_int_equal(count(text, "div.rn.f32"), 1);
    assert_int_equal(count(text, "sqrt.rn.f32"), 1);
    assert_int_equal(count(text, "div.rn.f64"), 1);
    assert_int_equal(count(text, "sqrt.rn.f64"), 1);
    ls__mem_free(text);
}

static void products_of_bytes_are_one_instruction(void **state)
{
    char *text = text_of("kernel void k(u32 a, u32 b, i32 *y)\n"
                         "{ y[0] = dot4(a, b, y[0]); y[1] = dot4_us(a, b, y[1]); }\n",
                         "sm_75", LS_OK);
    assert_int_equal(count(text, "dp4a.s32.s32"), 1);
    assert_int_equal(count(text, "dp4a.u32.s32"), 1);
    ls__mem_free(text);
}

/* The number of an element is compared, in one go, not an offset that may not exist. */
static void elements_are_compared_not_offsets(void **state)
{
    char *text = text_of("kernel void k(u32 n, const u32 *x, u32 *y)\n"
                         "{ u32 s = 0; for (u32 i = 0; i < n; i++) s += x[(u64)n * i + s];\n"
                         "  y[0] = s; }\n",
                         "sm_80", LS_OK);
    assert_int_equal(count(text, "ld.global.nc.u32"), 1);
    assert_int_equal(count(text, "bfe.s64"), 0);
    assert_int_equal(count(text, "mul.hi.u64"), 0);
    assert_int_equal(count(text, "-9223372036854775808"), 0); /* nowhere */
    ls__mem_free(text);
}

/* A store through what LLVM takes for read-only memory would be dropped. */
static void stores_stay(void **state)
{
    char *text = text_of("kernel void k(const u32 *x, u32 *y) { y[0] = x[0]; y[1] = y[2]; }\n",
                         "sm_75", LS_OK);
    assert_int_equal(count(text, "st.global.u32"), 2);
    assert_int_equal(count(text, "ld.global.nc.u32"), 1);
    assert_int_equal(count(text, "ld.global.u32"), 4); /* three sizes of indirect launches */
    ls__mem_free(text);
}

/* LLVM may take a loop without effect for one that ends, and drop it. */
static void endless_loops_stay_and_look(void **state)
{
    char *text = text_of("kernel void k(u32 n, u32 *y)\n"
                         "{ u32 i = n; while (i != 5u) { i = i * 3u + 1u; } y[0] = 1u; }\n",
                         "sm_75", LS_OK);
    assert_true(count(text, "mad.lo.s32") + count(text, "mul.lo.s32") > 0);
    assert_int_equal(count(text, "ld.volatile.global.u32"), 3); /* two of them at the start */
    ls__mem_free(text);
}

/* Else some would wait for others that have left, or go on with what those have not computed. */
static void lanes_that_wait_for_each_other_stop_together(void **state)
{
    char *text =
        text_of("kernel void k(u32 n, u32 *y)\n"
                "{ shared u32 t[64]; for (u32 i = 0u; i < n; i++)\n"
                "  { t[local_index()] += i; barrier(); y[0] = t[i & 63u]; barrier(); } }\n",
                "sm_75", LS_OK);
    assert_int_equal(count(text, "bar.red.or.pred"), 2); /* at the start, in the loop */
    assert_int_equal(count(text, "bar.sync"), 2);
    assert_int_equal(count(text, "st.shared.v4"), 1);
    ls__mem_free(text);
    text = text_of("kernel void k(u32 n, u32 *y)\n"
                   "{ u32 i = n; while (i != y[0]) { i = i * 3u + global_id(0); }\n"
                   "  barrier(); y[global_id(0)] = i; }\n",
                   "sm_75", LS_OK);
    assert_int_equal(count(text, "bar.red.or.pred"), 1); /* each leaves this loop alone */
    assert_int_equal(count(text, "ld.volatile.global.u32"), 3);
    ls__mem_free(text);
}

/* The first trap of a lane counts, so the key of one that has trapped is not lowered again. */
static void traps_go_through_one_function(void **state)
{
    char *text = text_of("kernel void k(u32 n, u32 *y)\n"
                         "{ if (y[0] == n) trap(1u); if (y[1] == n) trap(2u); y[2] = 1u; }\n",
                         "sm_75", LS_OK);
    assert_int_equal(count(text, "atom.global.min.u64"), 1);
    assert_int_equal(count(text, "atom.global.cas.b32"), 1);
    assert_int_equal(count(text, "call.uni"), 2);
    ls__mem_free(text);
}

static void short_loops_keep_arrays_in_registers(void **state)
{
    char *text = text_of("kernel void k(u32 n, const f32 *x, f32 *y)\n"
                         "{ f32 sums[8]; for (u32 j = 0u; j < 8u; j++) sums[j] = 0.0f;\n"
                         "  for (u32 i = 0u; i < n; i++) for (u32 j = 0u; j < 8u; j++)\n"
                         "    sums[j] = sums[j] + x[i * 8u + j];\n"
                         "  for (u32 j = 0u; j < 8u; j++) y[j] = sums[j]; }\n",
                         "sm_75", LS_OK);
    assert_int_equal(count(text, ".local"), 0);
    assert_int_equal(count(text, "add.rn.f32"), 8);
    ls__mem_free(text);
}

static void grid_barriers_need_a_target(void **state)
{
    static const char source[] = "kernel void k(u32 *y)\n"
                                 "{ y[global_id(0)] += 1u; grid_barrier(); y[0] = y[99]; }\n";
    text_of(source, "sm_75", LS_E_INTERNAL);
    char *text = text_of(source, "sm_75+grid", LS_OK);
    assert_int_equal(count(text, "membar.gl"), 2);
    assert_int_equal(count(text, "atom.global.add.u32"), 1);
    ls__mem_free(text);
}

static void too_much_shared_memory_is_an_error(void **state)
{
    text_of("kernel void k(u32 *y) { shared u32 t[12289]; t[y[1]] = y[0]; barrier();"
            " y[0] = t[5]; }\n",
            "sm_75", LS_E_LIMIT);
}

/* --- the lint --------------------------------------------------------------------------------- */

static void the_lint_sees(void **state)
{
    static const char *const bad[] = {
        "add.f32 %f1, %f2, %f3;",    "\tmul.f64 %fd1, %fd2, %fd3;", "add.rn.ftz.f32 %f1, %f2, %f3;",
        "div.approx.f32 %f1, %f2;",  "div.full.f32 %f1, %f2, %f3;", "sqrt.approx.f32 %f1, %f2;",
        "fma.rn.f32 %f1, %f2, %f3;", "mad.rn.f32 %f1, %f2, %f3;",   "@%p1 sub.f32 %f1, %f2, %f3;",
        "ex2.approx.f32 %f1, %f2;",  "cvt.f32.f64 %f1, %fd1;",      "cvt.rz.f32.f64 %f1, %fd1;",
        ".extern .func sinf",        "fence.acq_rel.gpu;",          "rcp.approx.f32 %f1, %f2;",
        "add.rz.f32 %f1, %f2, %f3;", "ld.acquire.gpu.u32 %r1, [x];"};
    static const char good[] = "\tadd.rn.f32 \t%f1, %f2, %f3;\n\tadd.s32 %r1, %r2, %r3;\n"
                               "// add.f32\n\tcvt.f64.f32 %fd1, %f1;\n\t@%p1 bra L;\n"
                               "\tcvt.rn.f32.f64 %f1, %fd1;\n\tmad.lo.s32 %r1, %r2, %r3, %r4;\n";
    char line[128];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!ls__ptx_lint(bad[i], false, line, sizeof line))
            fail_msg("nothing is found in '%s'", bad[i]);
    }
    const char *wrong = ls__ptx_lint(good, false, line, sizeof line);
    if (wrong)
        fail_msg("'%s' %s", line, wrong);
    assert_null(ls__ptx_lint("fma.rn.f32 %f1, %f2, %f3, %f4;", true, line, sizeof line));
}

int main(void)
{
    const ls__llvm *llvm;
    ls_error error = {0};
    if (ls__llvm_load(&llvm, &error) != LS_OK) {
        printf("SKIP: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_listed_is_made),
        cmocka_unit_test(no_float_remainder),
        cmocka_unit_test(no_constrained_floats),
        cmocka_unit_test(no_ordered_atomics),
        cmocka_unit_test(no_acquiring_loads),
        cmocka_unit_test(no_fences),
        cmocka_unit_test(no_library_functions),
        cmocka_unit_test(no_conversion_that_may_be_poison),
        cmocka_unit_test(no_other_assembly),
        cmocka_unit_test(what_llvm_reports_is_an_error),
        cmocka_unit_test(what_llvm_dies_of_is_an_error),
        cmocka_unit_test(nothing_is_contracted),
        cmocka_unit_test(division_and_root_round),
        cmocka_unit_test(products_of_bytes_are_one_instruction),
        cmocka_unit_test(elements_are_compared_not_offsets),
        cmocka_unit_test(stores_stay),
        cmocka_unit_test(endless_loops_stay_and_look),
        cmocka_unit_test(lanes_that_wait_for_each_other_stop_together),
        cmocka_unit_test(traps_go_through_one_function),
        cmocka_unit_test(short_loops_keep_arrays_in_registers),
        cmocka_unit_test(grid_barriers_need_a_target),
        cmocka_unit_test(too_much_shared_memory_is_an_error),
        cmocka_unit_test(the_lint_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
