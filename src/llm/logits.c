/* SPDX-License-Identifier: Apache-2.0 */
/* What logits say of probabilities (docs/sampling.md). */
#include "base/os.h"
#include "lockstep/llm.h"

#include "lockstep/kernel.h" /* last: its macros have plain names */

double ls_logits_log_sum(const float *logits, uint32_t count)
{
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    float top = logits[ls_logits_best(logits, count)];
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum = sum + (double)exp(logits[i] - top);
    double result = (double)top + (double)log((float)sum);
    ls__os_fenv_leave(&saved);
    return result;
}

double ls_logits_divergence(const float *base, const float *logits, uint32_t count)
{
    double base_sum = ls_logits_log_sum(base, count), sum = ls_logits_log_sum(logits, count);
    double result = 0;
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    for (uint32_t i = 0; i < count; i++) {
        double expected = (double)base[i] - base_sum, got = (double)logits[i] - sum;
        result = result + (double)exp((float)expected) * (expected - got);
    }
    ls__os_fenv_leave(&saved);
    return result > 0 ? result : 0; /* what rounding leaves of 0 */
}
