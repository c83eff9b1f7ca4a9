/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/base.h - what every other header relies on: versions, status codes, errors.
 *
 * Rules for all calls of the library
 *
 * - Symbols are `ls_<module>_<verb>`. `create`/`open` allocates and hands the caller an owning
 *   handle; `destroy` takes the address of that handle, writes NULL, and accepts NULL or the
 *   address of NULL.
 * - A fallible call returns `ls_status`: LS_OK (0) or a negative code. Its last parameter is an
 *   optional `ls_error *`, filled on failure only; on failure all out parameters are NULL or zero,
 *   and nothing the caller passed has changed owner.
 * - A fallible call that needs a handle, an array or a place for its result and is given NULL
 *   answers LS_E_INVALID_ARGUMENT. Queries that cannot fail need a live handle and, where they fill
 *   a struct, that struct.
 * - Text is UTF-8. Strings that the library returns are zero-terminated and live as long as the
 *   object they were asked of, unless a call says otherwise.
 * - A params struct starts with `size_t struct_size`; set it with the struct's `_INIT` macro or to
 *   `sizeof(struct)`. New fields are only ever added at the end, and zero is always the default.
 * - Sizes and offsets are `uint64_t` bytes unless the name says otherwise; times are nanoseconds
 *   (`_ns`); 0 as a time limit means "do not wait", LS_FOREVER means "no limit".
 * - Unless a function says "Blocks:", it returns promptly (it may take short internal locks).
 * - Thread-safety: different objects may be used from different threads at once. What one object
 *   allows stands at its type, in a line "Thread-safety:".
 * - The library never exits, aborts, prints, or reads the environment. It may be called with any
 *   floating-point environment; that environment is never changed for the caller.
 * - Devices have threads of their own. After fork(), the child must not use what the parent opened.
 */
#ifndef LOCKSTEP_BASE_H
#define LOCKSTEP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LS_VERSION_MAJOR 0
#define LS_VERSION_MINOR 1
#define LS_VERSION_PATCH 0
#define LS_VERSION_STRING "0.1.0"

/* The version of the bit contract (docs/numerics.md). Any change of a result bit raises it. */
#define LS_CONTRACT_VERSION 1

/* The version of the IR, of its text form and of its binary form (docs/ir.md). */
#define LS_IR_VERSION 3

#define LS_FOREVER UINT64_MAX

/* What the `_INIT` macros are made of: the size set, everything else zero. */
#ifdef __cplusplus
#define LS_INIT(type) { sizeof(type) }
#else
#define LS_INIT(type) { .struct_size = sizeof(type) }
#endif

#if defined(__GNUC__)
#define LS_API __attribute__((visibility("default")))
#else
#define LS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Status codes: X(name, value, what it means). Three of them are the bad outcomes of a submission
 * (lockstep/launch.h): NOT_SUBMITTED, FAILED, INDETERMINATE; the reason is in the `ls_error`.
 */
#define LS_STATUS_TABLE(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(E_INVALID_ARGUMENT, -1, "an argument breaks the call's preconditions")                       \
    X(E_OUT_OF_MEMORY, -2, "host memory or a device's budget is exhausted")                        \
    X(E_LIMIT, -3, "a documented limit is exceeded")                                               \
    X(E_UNSUPPORTED, -4, "this device or build cannot do this")                                    \
    X(E_NOT_FOUND, -5, "no such device, kernel, function, parameter or file")                      \
    X(E_IO, -6, "the operating system reported a read or write error")                             \
    X(E_FORMAT, -7, "malformed input data")                                                        \
    X(E_VERSION, -8, "data or struct of another version")                                          \
    X(E_COMPILE, -9, "the kernel text or IR has errors (see the diagnostics)")                     \
    X(E_FOREIGN, -10, "a handle belongs to another device instance")                               \
    X(E_BUSY, -11, "a pending submission still uses the object")                                   \
    X(E_TIMEOUT, -12, "the time limit ran out; nothing changed")                                   \
    X(E_CANCELLED, -13, "cancelled by the caller")                                                 \
    X(E_NOT_SUBMITTED, -14, "nothing ran; safe to retry once the cause is mended")                 \
    X(E_FAILED, -15, "something ran and failed; the device is idle; do not retry")                 \
    X(E_INDETERMINATE, -16, "the device is lost or hung; its memory is quarantined")               \
    X(E_TRAP, -17, "a kernel called trap()")                                                       \
    X(E_STATE, -18, "the object is in the wrong state for this call")                              \
    X(E_INTERNAL, -19, "a fault of lockstep itself; please report it")

typedef enum ls_status {
#define X(name, value, text) LS_##name = (value),
    LS_STATUS_TABLE(X)
#undef X
} ls_status;

/* What went wrong, for people. `message` says what, `where` in which object, file or position (may
 * be empty), `hint` what to do about it (may be empty). Caller-owned, plain data. `cause` is the
 * underlying code where `code` is one of the three submission outcomes, else equal to `code`. */
typedef struct ls_error {
    ls_status code;
    ls_status cause;
    bool retryable; /* the same call may succeed later without a change by the caller */
    char message[512];
    char where[256];
    char hint[256];
} ls_error;

/* "LS_E_FORMAT" style name of a code, "LS_E_UNKNOWN" for a value outside the table. Static. */
LS_API const char *ls_status_name(ls_status status);

/* The sentence of the table above. Static. */
LS_API const char *ls_status_text(ls_status status);

/* The version of the library that is running, which may be newer than the headers: "0.1.0". */
LS_API const char *ls_version(void);

/* Releases text that a call handed over (where it says so). Writes NULL, accepts NULL. */
LS_API void ls_text_destroy(char **text);

/* The bit-contract version of the library that is running. */
LS_API uint32_t ls_contract_version(void);

#ifdef __cplusplus
}
#endif

#endif
