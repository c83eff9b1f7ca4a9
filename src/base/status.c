/* SPDX-License-Identifier: Apache-2.0 */
/* Status names, the library's versions, and the filling of ls_error. Text that is too long is cut
 * between two UTF-8 characters and ends in "...". */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ls_status_name(ls_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case LS_##name:                                                                                \
        return "LS_" #name;
        LS_STATUS_TABLE(X)
#undef X
    }
    return "LS_E_UNKNOWN";
}

const char *ls_status_text(ls_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case LS_##name:                                                                                \
        return text;
        LS_STATUS_TABLE(X)
#undef X
    }
    return "an unknown status code";
}

const char *ls_version(void)
{
    return LS_VERSION_STRING;
}

uint32_t ls_contract_version(void)
{
    return LS_CONTRACT_VERSION;
}

__attribute__((format(printf, 3, 0))) static void format_cut(char *out, size_t size,
                                                             const char *format, va_list arguments)
{
    int length = vsnprintf(out, size, format, arguments);
    if (length < 0)
        out[0] = 0;
    if (length < 0 || (size_t)length < size)
        return;
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)out[end] & 0xc0) == 0x80)
        end--;
    memcpy(out + end, "...", 4);
}

ls_status ls__fail(ls_error *error, ls_status code, const char *format, ...)
{
    if (!error)
        return code;
    /* Formatted apart first: the arguments may be texts of this same error. */
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    format_cut(message, sizeof message, format, arguments);
    va_end(arguments);

    *error = (ls_error){
        .code = code,
        .cause = code,
        .retryable = code == LS_E_BUSY || code == LS_E_TIMEOUT,
    };
    memcpy(error->message, message, strlen(message) + 1);
    return code;
}

ls_status ls__fail_where(ls_error *error, ls_status code, const char *format, ...)
{
    if (!error)
        return code;
    va_list arguments;
    va_start(arguments, format);
    format_cut(error->where, sizeof error->where, format, arguments);
    va_end(arguments);
    return error->code;
}

ls_status ls__fail_hint(ls_error *error, ls_status code, const char *format, ...)
{
    if (!error)
        return code;
    va_list arguments;
    va_start(arguments, format);
    format_cut(error->hint, sizeof error->hint, format, arguments);
    va_end(arguments);
    return error->code;
}

ls_status ls__fail_as(ls_error *error, ls_status outcome)
{
    if (!error)
        return outcome;
    error->cause = error->code;
    error->code = outcome;
    if (outcome != LS_E_NOT_SUBMITTED)
        error->retryable = false; /* something ran */
    return outcome;
}

ls_status ls__fail_oom(ls_error *error, size_t requested_bytes)
{
    if (requested_bytes == SIZE_MAX)
        return ls__fail(error, LS_E_OUT_OF_MEMORY,
                        "out of memory: a request larger than the address space");
    return ls__fail(error, LS_E_OUT_OF_MEMORY, "out of memory: %zu bytes were asked for",
                    requested_bytes);
}
