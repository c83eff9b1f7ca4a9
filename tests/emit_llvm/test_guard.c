/* SPDX-License-Identifier: Apache-2.0 */
/* What LLVM gives up on, by ending the process if it is let, is an error; the next compilation is
 * as good as if nothing had been. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "emit/llvm/api.h"
#include "emit/llvm/emit.h"
#include "harness.h"

/* A function that needs an instruction which its target does not have. */
static void cannot_be_selected(void *context)
{
    const ls__llvm *l = context;
    static const char triple[] = "x86_64-unknown-linux-gnu",
                      name[] = "llvm.x86.avx512.vpdpbusd.512";
    LLVMContextRef c = l->ContextCreate();
    LLVMModuleRef module = l->ModuleCreateWithNameInContext("bad", c);
    LLVMTypeRef vector = l->VectorType(l->IntTypeInContext(c, 32), 16);
    LLVMTypeRef types[3] = {vector, vector, vector};
    LLVMValueRef f = l->AddFunction(module, "f", l->FunctionType(vector, types, 3, 0)), args[3];
    LLVMBuilderRef b = l->CreateBuilderInContext(c);
    l->PositionBuilderAtEnd(b, l->AppendBasicBlockInContext(c, f, ""));
    for (unsigned i = 0; i < 3; i++)
        args[i] = l->GetParam(f, i);
    LLVMValueRef dot =
        l->GetIntrinsicDeclaration(module, l->LookupIntrinsicID(name, strlen(name)), NULL, 0);
    l->BuildRet(b, l->BuildCall2(b, l->GlobalGetValueType(dot), dot, args, 3, ""));
    LLVMTargetRef target;
    char *message;
    assert_int_equal(l->GetTargetFromTriple(triple, &target, &message), 0);
    LLVMTargetMachineOptionsRef options = l->CreateTargetMachineOptions();
    l->TargetMachineOptionsSetCPU(options, "x86-64");
    LLVMTargetMachineRef machine = l->CreateTargetMachineWithOptions(target, triple, options);
    LLVMMemoryBufferRef buffer;
    l->SetTarget(module, triple);
    l->TargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &buffer);
}

static void compiles(const char *target)
{
    static const char text[] = "kernel void k(const u32 *x, u32 *y)\n"
                               "{ y[global_id(0)] = x[global_id(0)] * 3; }\n";
    void *bytes;
    size_t size;
    ls_error error = {0};
    ls__ir_module *module = ls__compile_text(text, "k.kc");
    assert_non_null(module);
    assert_int_equal(ls__llvm_emit(module, target, false, &bytes, &size, &error), LS_OK);
    ls__mem_free(bytes);
    ls__ir_module_destroy(&module);
}

static void test_guard(void **state)
{
    (void)state;
    const ls__llvm *llvm;
    ls_error error = {0};
    if (ls__llvm_load(&llvm, &error) != LS_OK)
        skip();
    for (int i = 0; i < 3; i++) {
        memset(&error, 0, sizeof error);
        assert_int_equal(ls__llvm_guard(cannot_be_selected, (void *)(uintptr_t)llvm, &error),
                         LS_E_INTERNAL);
        assert_non_null(strstr(error.message, "LLVM gives up: "));
        compiles("sse2");
        compiles("sse2+quick");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_guard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
