/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to make a Vulkan device worse than it is, so that one driver stands in for others:
 *
 *     staged       the host does not see device memory, as on most GPUs with memory of their own
 *     incoherent   caches must be flushed for the device to see what the host has written; the
 *                  validation layer judges how
 *     cut          segments and dispatches are tiny, so that everything is split
 *     staged-cut   both
 *     untimed      no timestamps
 */
#ifndef LS_TESTS_VULKAN_MODES_H
#define LS_TESTS_VULKAN_MODES_H

#include <stdbool.h>

/* For devices opened from now on; "plain" undoes all. False: there is no such mode. */
bool vulkan_mode(const char *mode);

#endif
