/* SPDX-License-Identifier: Apache-2.0 */
#include <omp.h>

#include "loop.h"

uint64_t loop_read(const uint64_t *x, uint64_t n)
{
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (uint64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

void loop_set_threads(int count)
{
    omp_set_num_threads(count);
}
