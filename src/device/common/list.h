/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver's devices are in the list of devices: "family:0", "family:1" ... */
#ifndef LS_DEVICE_COMMON_LIST_H
#define LS_DEVICE_COMMON_LIST_H

#include "lockstep/device.h"

typedef struct ls__device_list {
    const char *family;
    ls_device_info *infos; /* of `capacity` */
    uint32_t capacity, count;
} ls__device_list;

/* Adds the driver's device `index`. `missing` is what it lacks, for people; empty: usable. */
void ls__list_device(ls__device_list *list, uint32_t index, bool software, const char *description,
                     const char *missing);
/* Adds what stands for a driver that is not there. */
void ls__list_missing(ls__device_list *list, const char *description, const char *reason);

#endif
