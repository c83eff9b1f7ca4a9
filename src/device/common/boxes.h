/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that are cut into pieces: boxes of workgroups, ascending in linear order (x fastest). */
#ifndef LS_DEVICE_COMMON_BOXES_H
#define LS_DEVICE_COMMON_BOXES_H

#include <stdbool.h>
#include <stdint.h>

/* The next box from `base` on, of at most `most` workgroups and `limits` in each dimension. */
void ls__next_box(const uint32_t count[3], const uint32_t base[3], const uint32_t limits[3],
                  uint64_t most, uint32_t box[3]);
/* Moves `base` behind the box. False at the end. */
bool ls__advance_box(const uint32_t count[3], const uint32_t box[3], uint32_t base[3]);

#endif
