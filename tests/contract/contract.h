/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device contract suite: what lockstep/device.h, program.h and launch.h promise, tested through
 * the public headers alone, for whichever device is named on the command line. Each rule is one
 * test; docs/runtime.md lists the rules.
 */
#ifndef LS_TESTS_CONTRACT_H
#define LS_TESTS_CONTRACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../base/ok.h"
#include "lockstep/device.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

#define SECOND 1000000000ull
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A device with one stream; made anew for each test. */
typedef struct fixture {
    ls_device *device;
    ls_stream *stream;
} fixture;

extern const char *contract_device; /* name of the device under test */

int contract_setup(void **state);
int contract_teardown(void **state); /* also checks that all memory is back */

#define TEST(function) cmocka_unit_test_setup_teardown(function, contract_setup, contract_teardown)

/* The call must fail with `code`, say so in the error, and give a message. */
#define REFUSED(code_, call)                                                                       \
    do {                                                                                           \
        ls_error error_ = {0};                                                                     \
        ls_error *error = &error_;                                                                 \
        ls_status status_ = (call);                                                                \
        if (status_ != (code_))                                                                    \
            fail_msg("%s: expected %s, got %s: %s", #call, ls_status_name(code_),                  \
                     ls_status_name(status_), error_.message);                                     \
        assert_int_equal(error_.code, (code_));                                                    \
        assert_true(error_.message[0] != 0);                                                       \
    } while (0)

/* ls_submit and friends: not submitted, for this cause. */
#define NOT_SUBMITTED(cause_, call)                                                                \
    do {                                                                                           \
        ls_error error_ = {0};                                                                     \
        ls_error *error = &error_;                                                                 \
        ls_status status_ = (call);                                                                \
        if (status_ != LS_E_NOT_SUBMITTED || error_.cause != (cause_))                             \
            fail_msg("%s: expected not submitted / %s, got %s / %s: %s", #call,                    \
                     ls_status_name(cause_), ls_status_name(status_),                              \
                     ls_status_name(error_.cause), error_.message);                                \
        assert_true(error_.message[0] != 0);                                                       \
    } while (0)

/* Why an endless kernel ended: for this cause, or because the driver ends every loop at some time.
 */
#define ENDED_BY(cause_, receipt_)                                                                 \
    do {                                                                                           \
        if ((receipt_).error.cause != LS_E_LIMIT)                                                  \
            assert_int_equal((receipt_).error.cause, (cause_));                                    \
    } while (0)

fixture contract_open(const char *name, const ls_fault_plan *plan, uint64_t budget_bytes);
void contract_close(fixture *f);

ls_buffer *contract_buffer(fixture *f, uint64_t size, ls_mem element);
ls_buffer *contract_buffer_u32(fixture *f, const uint32_t *values, uint32_t count); /* typed u32 */
void contract_expect_u32(ls_buffer *buffer, uint32_t index, uint32_t value);

/* Prepares for a mode of the command line; false: there is no such mode. Only in builds of the
 * suite for one device. */
bool contract_mode(const char *mode) __attribute__((weak));

/* Compiles one kernel; the program must be destroyed by the test. */
ls_program *contract_program(fixture *f, const char *text);
ls_program *contract_program_lowered(fixture *f, const char *text, const char *lower);
const ls_kernel *contract_kernel(ls_program *program, const char *name);

#define WHOLE(buffer_) ((ls_range){.buffer = (buffer_), .offset = 0, .size = LS_WHOLE})

/* y[i] = x[i] + add, for i < n */
extern const char contract_add_text[];
/* An endless loop: for (;;) that keeps storing to y[0]. */
extern const char contract_endless_text[];
/* trap(code) by lanes i >= first */
extern const char contract_trap_text[];

/* Records add(n, x, y, add). */
ls_status contract_record_add(ls_batch *batch, const ls_kernel *kernel, ls_buffer *x, ls_buffer *y,
                              uint32_t n, uint32_t add, ls_error *error);
/* Submits and waits for success, without a limit: this thread may run it. */
void contract_run(fixture *f, ls_batch *batch);

extern const struct CMUnitTest contract_memory_tests[], contract_batch_tests[],
    contract_outcome_tests[], contract_stream_tests[], contract_prepared_tests[],
    contract_report_tests[], contract_tier_tests[], contract_wait_tests[], contract_fault_tests[];
extern const size_t contract_memory_count, contract_batch_count, contract_outcome_count,
    contract_stream_count, contract_prepared_count, contract_report_count, contract_tier_count,
    contract_wait_count, contract_fault_count;

#endif
