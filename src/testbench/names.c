/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/names.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

/* The last star is tried again with one more character when what is behind it does not match; a
 * "**" also takes dots. Only the last of each kind needs to be tried again. */
static bool fits(ls__str pattern, const char *name)
{
    const char *p = pattern.text, *end = p + pattern.length;
    const char *star = NULL, *star_name = NULL, *deep = NULL, *deep_name = NULL;
    for (;;) {
        if (p < end && *p == '*') {
            bool is_deep = p + 1 < end && p[1] == '*';
            p += is_deep ? 2 : 1;
            star = is_deep ? NULL : p;
            star_name = name;
            if (is_deep) {
                deep = p;
                deep_name = name;
            }
        } else if (p < end && *name && ((*p == '?' && *name != '.') || *p == *name)) {
            p++;
            name++;
        } else if (p == end && !*name) {
            return true;
        } else if (star && *star_name && *star_name != '.') {
            p = star;
            name = ++star_name;
        } else if (deep && *deep_name) {
            p = deep;
            name = ++deep_name;
            star = NULL;
        } else {
            return false;
        }
    }
}

static ls_status mark_matches(const ls_design *design, ls__str pattern, uint8_t *marked,
                              ls_error *error)
{
    bool found = false;
    ls_design_info info = {.struct_size = sizeof info};
    ls_design_describe(design, &info);
    for (uint32_t i = 0; i < info.signal_count; i++) {
        ls_signal_info signal;
        ls_status status = ls_design_signal(design, i, &signal, error);
        if (status != LS_OK)
            return status;
        if (fits(pattern, signal.name)) {
            marked[i] = 1;
            found = true;
        }
    }
    return found
               ? LS_OK
               : ls__fail(error, LS_E_NOT_FOUND, "no signal matches '%.*s'", LS__STR_ARG(pattern));
}

ls_status ls__names_mark(const ls_design *design, ls__str pattern, uint8_t *marked, ls_error *error)
{
    ls_signal_ref ref;
    while (pattern.length && isspace((unsigned char)pattern.text[0])) {
        pattern.text++;
        pattern.length--;
    }
    while (pattern.length && isspace((unsigned char)pattern.text[pattern.length - 1]))
        pattern.length--;
    if (pattern.length == 0)
        return LS_OK;
    if (memchr(pattern.text, '*', pattern.length) || memchr(pattern.text, '?', pattern.length))
        return mark_matches(design, pattern, marked, error);
    char *name = ls__mem_alloc(pattern.length + 1, 1);
    if (!name)
        return ls__fail_oom(error, pattern.length + 1);
    memcpy(name, pattern.text, pattern.length);
    ls_status status = ls_design_find(design, name, &ref, error);
    if (status == LS_OK)
        marked[ref.signal] = 1;
    ls__mem_free(name);
    return status;
}
