/* SPDX-License-Identifier: Apache-2.0 */
/* What a module may contain before LLVM's passes and code generator see it; for tests, too. */
#ifndef LS_EMIT_PTX_CHECK_H
#define LS_EMIT_PTX_CHECK_H

#include "emit/llvm/unit.h"

ls_status ls__ptx_check(const emitter *e, ls_error *error);

#endif
