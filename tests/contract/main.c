/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's main: `contract DEVICE [hostile|MODE]`. `hostile` sets flush-to-zero,
 * denormals-are-zero and round-up in the calling thread before anything is opened: nothing may
 * change, and it must still be set at the end. Other modes are those of a device's own build of the
 * suite, which brings a contract_mode along. */
#include <fenv.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "contract.h"

static void set_hostile(void)
{
    fesetround(FE_UPWARD);
#if defined(__SSE2__)
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _mm_setcsr(_mm_getcsr() | 0x0040); /* denormals are zero */
#endif
}

static int still_hostile(void)
{
#if defined(__SSE2__)
    if ((_mm_getcsr() & 0x8040) != 0x8040)
        return 0;
#endif
    return fegetround() == FE_UPWARD;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        contract_device = argv[1];
    int hostile = argc > 2 && strcmp(argv[2], "hostile") == 0, failures = 0;
    if (hostile)
        set_hostile();
    else if (argc > 2 && (!contract_mode || !contract_mode(argv[2]))) {
        fprintf(stderr, "there is no mode '%s'\n", argv[2]);
        return 2;
    }
    ls_device *probe = NULL;
    ls_error reason = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = contract_device;
    ls_status status = ls_device_open(&params, &probe, &reason);
    if (status == LS_E_UNSUPPORTED) {
        printf("SKIP: %s: %s\n", contract_device, reason.message);
        return 77;
    }
    OK(ls_device_destroy(&probe, error));
    failures +=
        _cmocka_run_group_tests("memory", contract_memory_tests, contract_memory_count, NULL, NULL);
    failures +=
        _cmocka_run_group_tests("batches", contract_batch_tests, contract_batch_count, NULL, NULL);
    failures += _cmocka_run_group_tests("outcomes", contract_outcome_tests, contract_outcome_count,
                                        NULL, NULL);
    failures += _cmocka_run_group_tests("streams", contract_stream_tests, contract_stream_count,
                                        NULL, NULL);
    failures +=
        _cmocka_run_group_tests("waits", contract_wait_tests, contract_wait_count, NULL, NULL);
    failures += _cmocka_run_group_tests("prepared", contract_prepared_tests,
                                        contract_prepared_count, NULL, NULL);
    failures += _cmocka_run_group_tests("reports", contract_report_tests, contract_report_count,
                                        NULL, NULL);
    failures +=
        _cmocka_run_group_tests("tiers", contract_tier_tests, contract_tier_count, NULL, NULL);
    if (strcmp(contract_device, "fault") == 0)
        failures += _cmocka_run_group_tests("faults", contract_fault_tests, contract_fault_count,
                                            NULL, NULL);
    if (hostile && !still_hostile()) {
        fprintf(stderr, "the caller's floating-point environment was changed\n");
        failures++;
    }
    return failures != 0;
}
