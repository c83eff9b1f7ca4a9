/* SPDX-License-Identifier: Apache-2.0 */
#include "modes.h"

#include <string.h>

#include "../contract/contract.h"
#include "device/vulkan/driver.h"

bool vulkan_mode(const char *mode)
{
    ls__vulkan_hooks *hooks = &ls__vulkan_test_hooks;
    hooks->staged = hooks->incoherent = hooks->untimed = false;
    hooks->stuck_ns = 0;
    hooks->max_groups = 0;
    hooks->segment_ns = hooks->segment_bytes = 0;
    if (strcmp(mode, "staged") == 0) {
        hooks->staged = true;
    } else if (strcmp(mode, "incoherent") == 0) {
        hooks->incoherent = true;
    } else if (strcmp(mode, "cut") == 0) {
        hooks->max_groups = 3;
        hooks->segment_ns = 20000;
        hooks->segment_bytes = 8192;
    } else if (strcmp(mode, "staged-cut") == 0) {
        vulkan_mode("cut");
        hooks->staged = true;
    } else if (strcmp(mode, "untimed") == 0) {
        hooks->untimed = true;
    } else {
        return strcmp(mode, "plain") == 0;
    }
    return true;
}

bool contract_mode(const char *mode)
{
    return vulkan_mode(mode);
}
