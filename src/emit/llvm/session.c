/* SPDX-License-Identifier: Apache-2.0 */
/* From the library to a module of LLVM, and from that to bytes. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/status.h"
#include "emit/llvm/session.h"

/* --- steps ------------------------------------------------------------------------------------ */

LLVMTargetMachineRef ls__llvm_create_machine(emitter *e, const ls__llvm_machine *how,
                                             ls_error *error)
{
    const ls__llvm *l = e->l;
    LLVMTargetRef target;
    char *message = NULL;
    if (l->GetTargetFromTriple(how->triple, &target, &message)) {
        ls__fail(error, LS_E_UNSUPPORTED, "libLLVM: %s", message);
        l->DisposeMessage(message);
        return NULL;
    }
    LLVMTargetMachineOptionsRef options = l->CreateTargetMachineOptions();
    l->TargetMachineOptionsSetCPU(options, how->cpu);
    l->TargetMachineOptionsSetFeatures(options, how->features);
    l->TargetMachineOptionsSetCodeGenOptLevel(options, how->level);
    l->TargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
    l->TargetMachineOptionsSetCodeModel(options, LLVMCodeModelSmall);
    LLVMTargetMachineRef machine = l->CreateTargetMachineWithOptions(target, how->triple, options);
    l->DisposeTargetMachineOptions(options);
    if (!machine) {
        ls__fail(error, LS_E_UNSUPPORTED, "libLLVM cannot generate code for %s", how->triple);
        return NULL;
    }
    LLVMTargetDataRef layout = l->CreateTargetDataLayout(machine);
    l->SetModuleDataLayout(e->out, layout);
    l->DisposeTargetData(layout);
    l->SetTarget(e->out, how->triple);
    return machine;
}

ls_status ls__llvm_run_passes(emitter *e, LLVMTargetMachineRef machine, const char *pipeline,
                              ls_error *error)
{
    const ls__llvm *l = e->l;
    LLVMPassBuilderOptionsRef options = l->CreatePassBuilderOptions();
    l->PassBuilderOptionsSetLoopVectorization(options, 0);
    l->PassBuilderOptionsSetSLPVectorization(options, 0);
    LLVMErrorRef failure = l->RunPasses(e->out, pipeline, machine, options);
    l->DisposePassBuilderOptions(options);
    if (!failure)
        return LS_OK;
    char *message = l->GetErrorMessage(failure);
    ls__fail(error, LS_E_INTERNAL, "LLVM's passes: %s", message);
    return LS_E_INTERNAL;
}

bool ls__llvm_names(const char *entry, const char *name, size_t length)
{
    size_t n = strlen(entry);
    return length >= n && memcmp(entry, name, n) == 0 && (length == n || name[n] == '.');
}

ls_status ls__llvm_verify(const emitter *e, ls_error *error)
{
    char *message = NULL;
    LLVMBool bad = e->l->VerifyModule(e->out, LLVMReturnStatusAction, &message);
    if (bad)
        ls__fail(error, LS_E_INTERNAL, "LLVM refuses the code: %s", message);
    e->l->DisposeMessage(message);
    return bad ? LS_E_INTERNAL : LS_OK;
}

ls_status ls__llvm_generate(emitter *e, LLVMTargetMachineRef machine, LLVMCodeGenFileType type,
                            void **bytes, size_t *size, ls_error *error)
{
    const ls__llvm *l = e->l;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (l->TargetMachineEmitToMemoryBuffer(machine, e->out, type, &message, &buffer)) {
        ls__fail(error, LS_E_INTERNAL, "LLVM's code generator: %s", message);
        l->DisposeMessage(message);
        return LS_E_INTERNAL;
    }
    ls_status status = LS_OK;
    *size = l->GetBufferSize(buffer);
    *bytes = NULL;
    if (e->diagnosis->failed) /* and it has called that a success */
        status = ls__fail(error, LS_E_INTERNAL, "LLVM's code generator: %s", e->diagnosis->text);
    else if (!(*bytes = ls__mem_alloc(*size, 1)))
        status = ls__fail_oom(error, *size);
    else
        memcpy(*bytes, l->GetBufferStart(buffer), *size);
    l->DisposeMemoryBuffer(buffer);
    return status;
}

/* --- the session ------------------------------------------------------------------------------ */

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
    ls__llvm_diagnosis *d = context;
    if (d->l->GetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = d->l->GetDiagInfoDescription(info);
    d->failed = true;
    snprintf(d->text, sizeof d->text, "%s", text);
    d->l->DisposeMessage(text);
}

static void init_types(emitter *e)
{
    const ls__llvm *l = e->l;
    e->i1 = l->IntTypeInContext(e->context, 1);
    e->i8 = l->IntTypeInContext(e->context, 8);
    e->i16 = l->IntTypeInContext(e->context, 16);
    e->i32 = l->IntTypeInContext(e->context, 32);
    e->i64 = l->IntTypeInContext(e->context, 64);
    e->f16 = l->HalfTypeInContext(e->context);
    e->f32 = l->FloatTypeInContext(e->context);
    e->f64 = l->DoubleTypeInContext(e->context);
    e->ptr = l->PointerTypeInContext(e->context, 0);
    e->void_type = l->VoidTypeInContext(e->context);
}

typedef struct session {
    emitter *e;
    ls__llvm_work *work;
    void *context;
    ls_status status;
    ls_error *error;
    ls__oom oom;
} session;

static void guarded(void *context)
{
    session *s = context;
    if (setjmp(s->oom.jump))
        s->status = ls__oom_status(&s->oom, s->error);
    else
        s->status = s->work(s->e, s->context, s->error);
}

ls_status ls__llvm_session(emitter *e, ls__llvm_work *work, void *context, ls_error *error)
{
    ls__arena arena;
    ls__llvm_diagnosis diagnosis = {0};
    session s = {.e = e, .work = work, .context = context, .error = error};
    ls_status status = ls__llvm_begin(&e->l, error);
    if (status != LS_OK)
        return status;
    ls__arena_init(&arena, &s.oom, 0);
    e->arena = &arena;
    e->diagnosis = &diagnosis;
    diagnosis.l = e->l;
    e->context = e->l->ContextCreate();
    e->l->ContextSetDiagnosticHandler(e->context, on_diagnostic, &diagnosis);
    e->l->ContextSetDiscardValueNames(e->context, 1);
    e->out = e->l->ModuleCreateWithNameInContext("lockstep", e->context);
    e->b = e->l->CreateBuilderInContext(e->context);
    init_types(e);
    status = ls__llvm_guard(guarded, &s, error);
    if (status == LS_OK) { /* else LLVM's part is lost */
        status = s.status;
        e->l->DisposeBuilder(e->b);
        e->l->DisposeModule(e->out);
        e->l->ContextDispose(e->context);
    }
    ls__llvm_end();
    ls__arena_finish(&arena);
    return status;
}
