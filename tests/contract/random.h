/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a device's own tests that are the same for all. */
#ifndef LS_TESTS_CONTRACT_RANDOM_H
#define LS_TESTS_CONTRACT_RANDOM_H

#include "contract.h"

/* So many random batches from the seed on, of all transfers at any place and size, each prepared
 * and started seven times; closes the fixture. Returns of how many timed starts the device says
 * that they took no time. */
uint64_t contract_random_batches(fixture f, const char *mode, uint64_t seed, uint64_t count);

/* A launch of so many workgroups, of which those from `first` on trap, then another: each lane runs
 * once, the lowest trap is reported, and nothing after it runs. */
void contract_cut_launch(fixture *f, const uint32_t groups[3], uint32_t first);

#endif
