/* SPDX-License-Identifier: Apache-2.0 */
#include "modes.h"

#include <string.h>

#include "../contract/contract.h"
#include "device/cuda/device.h"

bool cuda_mode(const char *mode)
{
    ls__cuda_hooks *hooks = &ls__cuda_test_hooks;
    hooks->plain_memory = strcmp(mode, "memory") == 0;
    hooks->always_graphs = strcmp(mode, "graphs") == 0;
    hooks->never_graphs = strcmp(mode, "launches") == 0 || strcmp(mode, "beside") == 0;
    hooks->overlap_bytes = strcmp(mode, "beside") == 0 ? 1 : 0;
    hooks->max_grid = strcmp(mode, "cut") == 0 ? 3 : 0;
    hooks->staging_bytes = strcmp(mode, "cut") == 0 ? 8192 : 0;
    hooks->stuck_ns = 0;
    return hooks->plain_memory || hooks->always_graphs || hooks->never_graphs || hooks->max_grid ||
           strcmp(mode, "plain") == 0;
}

bool contract_mode(const char *mode)
{
    return cuda_mode(mode);
}
