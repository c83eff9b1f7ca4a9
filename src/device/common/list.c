/* SPDX-License-Identifier: Apache-2.0 */
/* See list.h. */
#include "device/common/list.h"

#include <stdio.h>

/* Where the next device goes; NULL: there is no room, and it only counts. */
static ls_device_info *next(ls__device_list *list)
{
    uint32_t at = list->count++;
    return at < list->capacity ? &list->infos[at] : NULL;
}

void ls__list_device(ls__device_list *list, uint32_t index, bool software, const char *description,
                     const char *missing)
{
    ls_device_info *info = next(list);
    if (!info)
        return;
    *info = (ls_device_info){
        .kind = software ? LS_DEVICE_CPU : LS_DEVICE_GPU,
        .usable = !missing[0],
    };
    snprintf(info->name, sizeof info->name, "%s:%u", list->family, index);
    snprintf(info->description, sizeof info->description, "%s", description);
    if (!info->usable)
        snprintf(info->reason, sizeof info->reason, "it lacks %.240s", missing);
}

void ls__list_missing(ls__device_list *list, const char *description, const char *reason)
{
    ls_device_info *info = next(list);
    if (!info)
        return;
    *info = (ls_device_info){.kind = LS_DEVICE_GPU};
    snprintf(info->name, sizeof info->name, "%s", list->family);
    snprintf(info->description, sizeof info->description, "%s", description);
    snprintf(info->reason, sizeof info->reason, "%.255s", reason);
}
