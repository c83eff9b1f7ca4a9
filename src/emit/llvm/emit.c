/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module from IR to object bytes: emission, our own check of what was emitted, LLVM's verifier,
 * LLVM's passes, code generation.
 *
 * LLVM reports what it cannot do by ending the process. So nothing reaches it that this file's list
 * does not name: intrinsics that every level has instructions for, and calls of the module's own
 * functions. What it gives up on all the same is an error (ls__llvm_guard) that costs some memory.
 */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "emit/llvm/build.h"
#include "emit/llvm/emit.h"
#include "emit/llvm/session.h"

const char ls__llvm_version[] = "LLVM " LLVM_VERSION_STRING;

/* --- what may be in a module ------------------------------------------------------------------ */

static const char *const allowed[] = {
    "llvm.ctpop",
    "llvm.ctlz",
    "llvm.cttz",
    "llvm.fshl",
    "llvm.smin",
    "llvm.smax",
    "llvm.umin",
    "llvm.umax",
    "llvm.sadd.sat",
    "llvm.uadd.sat",
    "llvm.ssub.sat",
    "llvm.usub.sat",
    "llvm.sqrt",
    "llvm.fabs",
    "llvm.fptosi.sat",
    "llvm.fptoui.sat",
    "llvm.fma",
    "llvm.floor",
    "llvm.ceil",
    "llvm.trunc",
    "llvm.roundeven",
    "llvm.memset",
    "llvm.smul.with.overflow",
    "llvm.sadd.with.overflow",
    "llvm.masked.store",
    "llvm.prefetch",
    "llvm.masked.gather",
    "llvm.masked.scatter",
    "llvm.x86.avx512.vpdpbusd.512",
    "llvm.x86.avx512.vpdpbusd.256",
    "llvm.x86.avx512.vpdpbusd.128",
    "llvm.x86.avx512.pmaddw.d.512",
    "llvm.x86.avx2.pmadd.wd",
    "llvm.x86.avx2.pmadd.ub.sw",
    "llvm.x86.avx2.pshuf.b",
    "llvm.x86.avx2.psign.b",
    "llvm.abs",
    "llvm.x86.sse2.pmadd.wd",
};

/* These would become calls of libm at the SSE2 level. */
static const char *const need_more_than_sse2[] = {"llvm.fma", "llvm.floor", "llvm.ceil",
                                                  "llvm.trunc", "llvm.roundeven"};

static bool is_allowed(const emitter *e, const char *name, size_t length)
{
    bool found = false;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        found |= ls__llvm_names(allowed[i], name, length);
    for (size_t i = 0; i < sizeof need_more_than_sse2 / sizeof *need_more_than_sse2; i++) {
        if (e->target.level == LS__LLVM_SSE2 &&
            ls__llvm_names(need_more_than_sse2[i], name, length))
            return false;
    }
    return found;
}

static ls_status check_module(const emitter *e, ls_error *error)
{
    const ls__llvm *l = e->l;
    for (lv f = l->GetFirstFunction(e->out); f; f = l->GetNextFunction(f)) {
        size_t length;
        const char *name = l->GetValueName2(f, &length);
        if (l->IsDeclaration(f) && !is_allowed(e, name, length))
            return ls__fail(error, LS_E_INTERNAL, "the code generator called '%.*s'", (int)length,
                            name);
    }
    return ls__llvm_verify(e, error);
}

/* --- the module ------------------------------------------------------------------------------- */

static ls_status emit_functions(emitter *e, ls_error *error)
{
    const ls__llvm *l = e->l;
    e->tables = LS__NEW_ARRAY(e->arena, lv, e->module->tables.count);
    lt zeros = l->ArrayType2(e->i8, ZEROS_BYTES);
    e->zeros = l->AddGlobal(e->out, zeros, "");
    l->SetInitializer(e->zeros, l->ConstNull(zeros));
    l->SetGlobalConstant(e->zeros, 1);
    l->SetLinkage(e->zeros, LLVMPrivateLinkage);
    l->SetAlignment(e->zeros, 64);
    for (uint32_t i = 1; i < e->module->functions.count; i++) {
        const ls__ir_function *function = e->module->functions.items[i];
        ls_status status = function->is_kernel ? ls__llvm_emit_kernel(e, function, error) : LS_OK;
        if (status != LS_OK)
            return status;
    }
    return check_module(e, error);
}

/* --- LLVM's passes and code generation -------------------------------------------------------- */

static bool count_inst(ls__ir_inst *inst, void *context)
{
    uint64_t *count = context;
    (void)inst;
    ++*count;
    return true;
}

uint64_t ls__llvm_length(const ls__ir_function *function, bool is_scalar)
{
    uint64_t count = 0;
    ls__ir_walk(function->body, count_inst, &count);
    return count * (is_scalar ? 1 : 2);
}

static bool has_huge_function(const emitter *e)
{
    for (uint32_t i = 1; i < e->module->functions.count; i++) {
        const ls__ir_function *f = e->module->functions.items[i];
        uint64_t lanes = (uint64_t)f->workgroup[0] * f->workgroup[1] * f->workgroup[2];
        bool is_scalar = e->target.mode == LS__LLVM_SCALAR || (f->is_kernel && lanes == 1);
        if (ls__llvm_length(f, is_scalar) > HUGE_FUNCTION)
            return true;
    }
    return false;
}

static LLVMTargetMachineRef create_machine(emitter *e, ls_error *error)
{
    bool quick = e->is_generated_quickly;
    ls__llvm_machine how = {.triple = e->target.triple,
                            .cpu = e->target.cpu,
                            .features = e->target.features,
                            .level = quick ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault};
    LLVMTargetMachineRef machine = ls__llvm_create_machine(e, &how, error);
    if (machine && quick) {
        /* GlobalISel, which is faster on vectors of one register, gives up on those of several. */
        e->l->SetTargetMachineGlobalISel(machine, 0);
        e->l->SetTargetMachineFastISel(machine, 1);
    }
    return machine;
}

/* Our own passes have folded, shared and moved what they could, so a few suffice: variables become
 * values, what the emitter has said in too many words is shortened. Loops are unrolled only where
 * scalar code has short ones: that of the strands would be, which gains nothing and takes most of
 * the time. Every function is handed what any may need; at last they lose what they do not use. */
#define BEFORE_UNROLLING                                                                           \
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                 \
    "loop-mssa(licm),"
#define UNROLLING "loop(loop-rotate,indvars,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,"
#define AFTER_UNROLLING "early-cse<memssa>,simplifycfg),deadargelim"

static ls_status run_passes(emitter *e, LLVMTargetMachineRef machine, ls_error *error)
{
    const char *pipeline = BEFORE_UNROLLING AFTER_UNROLLING;
    if (e->target.quick)
        pipeline = "function(mem2reg,early-cse,dce)";
    else if (e->has_short_loops)
        pipeline = BEFORE_UNROLLING UNROLLING AFTER_UNROLLING;
    return ls__llvm_run_passes(e, machine, pipeline, error);
}

/* --- entry points ----------------------------------------------------------------------------- */

typedef struct job {
    void **bytes;
    size_t *size;
    char **text;
    bool optimized;
} job;

static ls_status print(const emitter *e, char **text, ls_error *error)
{
    char *printed = e->l->PrintModuleToString(e->out);
    *text = ls__mem_strdup(printed);
    e->l->DisposeMessage(printed);
    return *text ? LS_OK : ls__fail_oom(error, 0);
}

static ls_status compile(emitter *e, void *context, ls_error *error)
{
    const job *j = context;
    e->is_generated_quickly = e->target.quick || has_huge_function(e);
    LLVMTargetMachineRef machine = create_machine(e, error);
    if (!machine)
        return LS_E_UNSUPPORTED;
    ls_status status = emit_functions(e, error);
    if (status == LS_OK && (j->bytes || j->optimized))
        status = run_passes(e, machine, error);
    ls__llvm_end_long(e);
    if (status == LS_OK && j->text)
        status = print(e, j->text, error);
    if (status == LS_OK && j->bytes)
        status = ls__llvm_generate(e, machine, LLVMObjectFile, j->bytes, j->size, error);
    e->l->DisposeTargetMachine(machine);
    return status;
}

static ls_status run(const ls__ir_module *module, const char *target, job *j, ls_error *error)
{
    emitter e = {.module = module};
    if (!ls__llvm_target_parse(target, &e.target))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no such code generator target: '%s'",
                        target);
    return ls__llvm_session(&e, compile, j, error);
}

ls_status ls__llvm_emit(const ls__ir_module *module, const char *target, bool unchecked,
                        void **bytes, size_t *size, ls_error *error)
{
    (void)unchecked;
    return run(module, target, &(job){.bytes = bytes, .size = size}, error);
}

ls_status ls__llvm_print(const ls__ir_module *module, const char *target, bool optimized,
                         char **text, ls_error *error)
{
    return run(module, target, &(job){.text = text, .optimized = optimized}, error);
}
