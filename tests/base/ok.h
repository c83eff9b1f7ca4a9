/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that must succeed; cmocka is included before. */
#ifndef LS_TESTS_OK_H
#define LS_TESTS_OK_H

#include "lockstep/base.h"

/* Fails the test with the error's text, which the call gets by the name `error`. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        ls_error error_ = {0}, *error = &error_;                                                   \
        ls_status status_ = (call);                                                                \
        if (status_ != LS_OK)                                                                      \
            fail_msg("%s: %s: %s (%s) %s", #call, ls_status_name(status_), error_.message,         \
                     error_.where, error_.hint);                                                   \
    } while (0)

#endif
