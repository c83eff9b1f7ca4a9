/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the code generator in builds without LLVM's headers. */
#include "base/status.h"
#include "emit/llvm/emit.h"

const char ls__llvm_version[] = "";

static ls_status refuse(ls_error *error)
{
    ls__fail(error, LS_E_UNSUPPORTED, "this build has no code generator for CPUs");
    return ls__fail_hint(error, LS_E_UNSUPPORTED, "build with LLVM 19's headers: -Dllvm=enabled");
}

ls_status ls__llvm_emit(const ls__ir_module *module, const char *target, bool unchecked,
                        void **bytes, size_t *size, ls_error *error)
{
    (void)module, (void)target, (void)unchecked, (void)bytes, (void)size;
    return refuse(error);
}

void ls__llvm_watch_thread(void)
{
}

ls_status ls__llvm_print(const ls__ir_module *module, const char *target, bool optimized,
                         char **text, ls_error *error)
{
    (void)module, (void)target, (void)optimized, (void)text;
    return refuse(error);
}
