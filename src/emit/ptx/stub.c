/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the code generator in builds without LLVM's headers. */
#include "base/status.h"
#include "emit/ptx/emit.h"

ls_status ls__ptx_emit(const ls__ir_module *module, const char *target, bool unchecked,
                       void **bytes, size_t *size, ls_error *error)
{
    (void)module, (void)target, (void)unchecked, (void)bytes, (void)size;
    ls__fail(error, LS_E_UNSUPPORTED, "this build has no code generator for PTX");
    return ls__fail_hint(error, LS_E_UNSUPPORTED, "build with LLVM 19's headers: -Dllvm=enabled");
}
