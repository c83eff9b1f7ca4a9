/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads libLLVM once in a process and keeps it: unloading it would cost more than it gives, since
 * its targets are registered for good. RTLD_LOCAL, because a Vulkan driver may bring another LLVM.
 *
 * The process-wide state is this file's alone: the table below, and LLVM's own options and
 * handlers.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "emit/llvm/api.h"

static const char *const library_names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};

/* Targets that a libLLVM was built without are left out. */
static const char *const initializers[] = {
    "LLVMInitializeX86TargetInfo",     "LLVMInitializeX86Target",
    "LLVMInitializeX86TargetMC",       "LLVMInitializeX86AsmPrinter",
    "LLVMInitializeAArch64TargetInfo", "LLVMInitializeAArch64Target",
    "LLVMInitializeAArch64TargetMC",   "LLVMInitializeAArch64AsmPrinter",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ls__llvm table;
static ls_status load_status;
static char load_message[256];

static void fail(const char *what, const char *detail)
{
    load_status = LS_E_UNSUPPORTED;
    snprintf(load_message, sizeof load_message, "%s: %s", what, detail ? detail : "unknown reason");
}

/* LLVM calls this where it would end the process, holding none of its locks. A jump over its frames
 * leaves some memory behind, no more (200 of 200 such failures in one process were followed by good
 * compilations); it is for faults that the checks before LLVM let through. */
typedef struct guard {
    jmp_buf jump;
    char reason[256];
} guard;

static _Thread_local guard *guarded;

static void fatal(const char *reason)
{
    guard *g = guarded;
    if (!g)
        return;
    guarded = NULL;
    snprintf(g->reason, sizeof g->reason, "%.*s", (int)strcspn(reason, "\n"), reason);
    longjmp(g->jump, 1);
}

ls_status ls__llvm_guard(void (*run)(void *), void *context, ls_error *error)
{
    guard g;
    if (setjmp(g.jump))
        return ls__fail(error, LS_E_INTERNAL, "LLVM gives up: %s", g.reason);
    guarded = &g;
    run(context);
    guarded = NULL;
    return LS_OK;
}

static void resolve(void *library)
{
#define LS_LLVM(name)                                                                              \
    table.name = (__typeof__(table.name))dlsym(library, "LLVM" #name);                             \
    if (!table.name) {                                                                             \
        fail("libLLVM lacks a function", "LLVM" #name);                                            \
        return;                                                                                    \
    }
#include "emit/llvm/functions.def"
#undef LS_LLVM
    for (size_t i = 0; i < sizeof initializers / sizeof *initializers; i++) {
        void (*initialize)(void) = (void (*)(void))dlsym(library, initializers[i]);
        if (initialize)
            initialize();
    }
    unsigned major = 0;
    table.GetVersion(&major, NULL, NULL);
    if (major != 19) {
        fail("libLLVM", "is not version 19");
        return;
    }
    /* The pass is quadratic in the size of a block, and gains nothing here. */
    static const char *const options[] = {"lockstep", "-disable-x86-domain-reassignment"};
    table.ParseCommandLineOptions(2, options, NULL);
    table.InstallFatalErrorHandler(fatal);
}

static void load(void)
{
    void *library = NULL;
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names && !library; i++)
        library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
    if (library)
        resolve(library);
    else
        fail("libLLVM 19 cannot be loaded", dlerror());
}

ls_status ls__llvm_load(const ls__llvm **llvm, ls_error *error)
{
    pthread_once(&once, load);
    if (load_status != LS_OK)
        return ls__fail(error, load_status, "%s", load_message);
    *llvm = &table;
    return LS_OK;
}
