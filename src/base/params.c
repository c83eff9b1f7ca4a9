/* SPDX-License-Identifier: Apache-2.0 */
#include "base/params.h"

#include <string.h>

#include "base/status.h"

ls_status ls__params_in(void *out, size_t size, const void *in, bool optional, const char *what,
                        ls_error *error)
{
    memset(out, 0, size);
    if (!in) {
        if (optional)
            return LS_OK;
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: no params struct was given", what);
    }
    size_t given;
    memcpy(&given, in, sizeof given);
    if (given < sizeof given || given > 65536) {
        ls__fail(error, LS_E_VERSION, "%s: struct_size of the params struct is not set", what);
        return ls__fail_hint(error, LS_E_VERSION, "start from the struct's _INIT macro");
    }
    const uint8_t *bytes = in;
    for (size_t i = size; i < given; i++) {
        if (bytes[i])
            return ls__fail(error, LS_E_VERSION,
                            "%s: the params struct sets a field that this version "
                            "of the library does not know",
                            what);
    }
    memcpy(out, in, given < size ? given : size);
    return LS_OK;
}

void ls__params_out(void *out, const void *in, size_t size)
{
    size_t given;
    memcpy(&given, out, sizeof given);
    size_t copied = given == 0 || given > size ? size : given;
    if (copied > sizeof given)
        memcpy((uint8_t *)out + sizeof given, (const uint8_t *)in + sizeof given,
               copied - sizeof given);
    if (given == 0)
        memcpy(out, &size, sizeof size);
}

ls_status ls__fail_no_result(ls_error *error, const char *call)
{
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: nowhere to write the result was given",
                    call);
}
