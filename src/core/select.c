/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which device a name means, and which one is taken when there is none.
 *
 * A backend's list may load drivers, so only backends of the name's family are asked, or those that
 * may be chosen unasked.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/core.h"

typedef enum match { MATCH_NOT, MATCH_PARTLY, MATCH_EXACTLY } match;

static bool in_family(const char *name, const char *family)
{
    size_t length = strlen(family);
    return strncmp(name, family, length) == 0 && (name[length] == 0 || name[length] == ':');
}

static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        size_t same = 0;
        while (same < length &&
               tolower((unsigned char)text[same]) == tolower((unsigned char)part[same]))
            same++;
        if (same == length)
            return true;
    }
    return false;
}

/* "vulkan" is any device of the family, "vulkan:radeon" any that says so of itself. One that is
 * called "vulkan" stands for there being none, and says why. */
static match match_name(const char *name, const char *family, const ls_device_info *info)
{
    if (strcmp(name, info->name) == 0)
        return MATCH_EXACTLY;
    const char *part = name + strlen(family);
    if (*part == 0 || strcmp(info->name, family) == 0)
        return MATCH_PARTLY;
    part++;
    bool is_number = part[strspn(part, "0123456789")] == 0;
    return !is_number && contains(info->description, part) ? MATCH_PARTLY : MATCH_NOT;
}

/* Looks through one backend. True: *info is the one; else it may have become what is taken when no
 * better is found, and *found is set. */
static bool look(const ls__backend *backend, const char *name, const ls_device_info *infos,
                 uint32_t count, ls_device_info *info, bool *found)
{
    for (uint32_t i = 0; i < count; i++) {
        match how = name ? match_name(name, backend->family, &infos[i]) : MATCH_PARTLY;
        if (how == MATCH_NOT || (!name && !infos[i].usable))
            continue;
        bool best = how == MATCH_EXACTLY || infos[i].usable;
        if (best || !*found)
            *info = infos[i];
        *found = true;
        if (best)
            return true;
    }
    return false;
}

static ls_status list(const ls__backend *backend, ls_device_info **infos, uint32_t *count,
                      ls_error *error)
{
    uint32_t room = backend->list(NULL, 0);
    *infos = ls__mem_alloc(room, sizeof **infos);
    if (!*infos)
        return ls__fail_oom(error, room * sizeof **infos);
    *count = backend->list(*infos, room);
    if (*count > room)
        *count = room;
    return LS_OK;
}

/* Of all devices the names; why those cannot be used that may be chosen unasked. */
static ls_status fail_none(const char *name, ls_error *error)
{
    ls__strbuf names = {0}, reasons = {0};
    for (uint32_t i = 0; i < ls__registry_count; i++) {
        const ls__backend *backend = ls__registry[i].backend;
        ls_device_info *infos = NULL;
        uint32_t count = 0;
        if (list(backend, &infos, &count, NULL) != LS_OK)
            continue;
        for (uint32_t k = 0; k < count; k++) {
            ls__strbuf_printf(&names, "%s%s", names.length ? ", " : "", infos[k].name);
            if (!backend->only_by_name)
                ls__strbuf_printf(&reasons, "; %s cannot be used: %s", infos[k].name,
                                  infos[k].reason);
        }
        ls__mem_free(infos);
    }
    ls_status status = name ? LS_E_NOT_FOUND : LS_E_STATE;
    if (name)
        ls__fail(error, status, "there is no device '%s'", name);
    else
        ls__fail(error, status, "no device may be chosen unasked%s",
                 reasons.text ? reasons.text : "");
    ls__fail_hint(error, status, "name one of: %s", names.text ? names.text : "");
    ls__strbuf_finish(&names);
    ls__strbuf_finish(&reasons);
    return status;
}

ls_status ls__device_choose(const char *name, const ls__registry_entry **entry,
                            ls_device_info *info, ls_error *error)
{
    bool found = false, best = false;
    for (uint32_t i = 0; i < ls__registry_count && !best; i++) {
        const ls__backend *backend = ls__registry[i].backend;
        ls_device_info *infos = NULL;
        uint32_t count = 0;
        if (name ? !in_family(name, backend->family) : backend->only_by_name)
            continue;
        ls_status status = list(backend, &infos, &count, error);
        if (status != LS_OK)
            return status;
        bool before = found;
        best = look(backend, name, infos, count, info, &found);
        if (best || found != before)
            *entry = &ls__registry[i];
        ls__mem_free(infos);
    }
    return found ? LS_OK : fail_none(name, error);
}
