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
#include "emit/llvm/emit.h"

static const char *const library_names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};

/* Targets that a libLLVM was built without are left out. */
static const char *const initializers[] = {
    "LLVMInitializeX86TargetInfo",     "LLVMInitializeX86Target",
    "LLVMInitializeX86TargetMC",       "LLVMInitializeX86AsmPrinter",
    "LLVMInitializeAArch64TargetInfo", "LLVMInitializeAArch64Target",
    "LLVMInitializeAArch64TargetMC",   "LLVMInitializeAArch64AsmPrinter",
    "LLVMInitializeNVPTXTargetInfo",   "LLVMInitializeNVPTXTarget",
    "LLVMInitializeNVPTXTargetMC",     "LLVMInitializeNVPTXAsmPrinter",
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

/* --- the end of the process ------------------------------------------------------------------- */

/* exit() runs libLLVM's destructors, and a compilation under which they run crashes or never ends.
 * Handlers run in reverse order of their registration, so ours must be registered after all that
 * the library registers: when it is loaded, and, for the objects that its functions make on first
 * use, again when the thread that calls exit() ends its thread-local storage, which is before any
 * handler runs. (A thread that never met the library has only the first.) Running twice does no
 * harm. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned running;
    bool ends;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void on_exit_of_process(void)
{
    pthread_mutex_lock(&process.lock);
    process.ends = true;
    while (process.running > 0)
        pthread_cond_wait(&process.changed, &process.lock);
    pthread_mutex_unlock(&process.lock);
}

/* A child has none of the threads that compile, and the lock as they left it. */
static void on_fork(void)
{
    pthread_mutex_init(&process.lock, NULL);
    pthread_cond_init(&process.changed, NULL);
    process.running = 0;
}

/* Of the C library; not every one has it. */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *object)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void on_end_of_thread(void *unused)
{
    (void)unused;
    atexit(on_exit_of_process); /* without memory for it, the first one must do */
}

void ls__llvm_watch_thread(void)
{
    static _Thread_local bool watched;
    if (!watched && __cxa_thread_atexit_impl)
        __cxa_thread_atexit_impl(on_end_of_thread, NULL, &__dso_handle);
    watched = true;
}

ls_status ls__llvm_begin(const ls__llvm **llvm, ls_error *error)
{
    ls__llvm_watch_thread();
    pthread_mutex_lock(&process.lock);
    bool ends = process.ends;
    process.running += !ends;
    pthread_mutex_unlock(&process.lock);
    if (ends)
        return ls__fail(error, LS_E_UNSUPPORTED, "no code is made: the process is ending");
    ls_status status = ls__llvm_load(llvm, error);
    if (status != LS_OK)
        ls__llvm_end();
    return status;
}

void ls__llvm_end(void)
{
    pthread_mutex_lock(&process.lock);
    process.running--;
    pthread_cond_broadcast(&process.changed);
    pthread_mutex_unlock(&process.lock);
}

/* --- loading ---------------------------------------------------------------------------------- */

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
    if (load_status == LS_OK &&
        (atexit(on_exit_of_process) != 0 || pthread_atfork(NULL, NULL, on_fork) != 0))
        fail("libLLVM", "no memory for a handler of the end of the process");
}

ls_status ls__llvm_load(const ls__llvm **llvm, ls_error *error)
{
    pthread_once(&once, load);
    if (load_status != LS_OK) {
        ls__fail(error, load_status, "%s", load_message);
        return ls__fail_hint(error, load_status,
                             "install it (Debian: libllvm19), or use another device: the reference "
                             "needs nothing");
    }
    *llvm = &table;
    return LS_OK;
}
