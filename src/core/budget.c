/* SPDX-License-Identifier: Apache-2.0 */
/* The memory budget of a device: reservation is atomic and comes before any allocation. */
#include "core/core.h"

ls_status ls__budget_reserve(ls_device *device, uint64_t bytes, bool staging, const char *what,
                             ls_error *error)
{
    ls__budget *budget = &device->budget;
    uint64_t used = atomic_load(&budget->used);
    uint64_t wanted;
    do {
        if (bytes > budget->limit - used) {
            ls__fail(error, LS_E_OUT_OF_MEMORY,
                     "device '%s' has no room for %s of %llu bytes: %llu of %llu are in use, %llu "
                     "are left",
                     device->name, what, (unsigned long long)bytes, (unsigned long long)used,
                     (unsigned long long)budget->limit, (unsigned long long)(budget->limit - used));
            if (error)
                error->retryable = bytes <= budget->limit; /* once others have let go */
            return ls__fail_hint(
                error, LS_E_OUT_OF_MEMORY,
                "destroy what is not needed, or open the device with a larger budget_bytes");
        }
        wanted = used + bytes;
    } while (!atomic_compare_exchange_weak(&budget->used, &used, wanted));
    uint64_t peak = atomic_load(&budget->peak);
    while (wanted > peak && !atomic_compare_exchange_weak(&budget->peak, &peak, wanted))
        ;
    if (staging)
        atomic_fetch_add(&budget->staging, bytes);
    return LS_OK;
}

void ls__budget_release(ls_device *device, uint64_t bytes, bool staging)
{
    if (staging)
        atomic_fetch_sub(&device->budget.staging, bytes);
    atomic_fetch_sub(&device->budget.used, bytes);
}

void ls_device_memory(const ls_device *device, ls_memory_info *info)
{
    const ls__budget *budget = &device->budget;
    ls_memory_info result = {
        .limit_bytes = budget->limit,
        .used_bytes = atomic_load(&budget->used),
        .peak_bytes = atomic_load(&budget->peak),
        .staging_bytes = atomic_load(&budget->staging),
        .quarantined_bytes = atomic_load(&budget->quarantined),
    };
    ls__params_out(info, &result, sizeof result);
}
