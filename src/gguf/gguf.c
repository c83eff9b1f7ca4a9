/* SPDX-License-Identifier: Apache-2.0 */
/* Open model files: the parts of a split one, and names. */
#include "lockstep/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "gguf/reader.h"

enum { MOST_PARTS = 99999 };

/* --- names ------------------------------------------------------------------------------------ */

static const char *name_at(const char *const *first, size_t stride, uint32_t index)
{
    return *(const char *const *)((const char *)first + stride * index);
}

static uint32_t *find_slot(const ls__gguf_names *names, const char *const *first, size_t stride,
                           const char *name)
{
    uint32_t mask = names->slot_count - 1;
    uint32_t at = (uint32_t)ls__hash64(name, strlen(name), 0) & mask;
    while (names->slots[at] && strcmp(name_at(first, stride, names->slots[at] - 1), name) != 0)
        at = (at + 1) & mask;
    return &names->slots[at];
}

/* `names[i]` of `count` items that lie `stride` bytes apart. Returns the index of the first that is
 * there twice, or UINT32_MAX. */
static uint32_t index_list(ls__arena *arena, ls__gguf_names *names, const char *const *first,
                           uint32_t count, size_t stride)
{
    names->slot_count = 16;
    while (names->slot_count / 2 < count)
        names->slot_count *= 2;
    names->slots = LS__NEW_ARRAY(arena, uint32_t, names->slot_count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *slot = find_slot(names, first, stride, name_at(first, stride, i));
        if (*slot)
            return i;
        *slot = i + 1;
    }
    return UINT32_MAX;
}

/* UINT32_MAX: not there. */
static uint32_t find_name(const ls__gguf_names *names, const char *const *first, size_t stride,
                          const char *name)
{
    return names->slot_count ? *find_slot(names, first, stride, name) - 1 : UINT32_MAX;
}

static ls_status index_names(ls_gguf *g, const char *path, ls_error *error)
{
    const ls__gguf_values *v = &g->values;
    const ls__gguf_tensors *t = &g->tensors;
    uint32_t twice = UINT32_MAX;
    const char *what = "values", *name = NULL;
    if (v->count)
        twice = index_list(&g->arena, &g->value_names, &v->items->key, v->count, sizeof *v->items);
    if (twice != UINT32_MAX) {
        name = v->items[twice].key;
    } else if (t->count) {
        what = "tensors";
        twice =
            index_list(&g->arena, &g->tensor_names, &t->items->name, t->count, sizeof *t->items);
        name = twice != UINT32_MAX ? t->items[twice].name : NULL;
    }
    if (!name)
        return LS_OK;
    ls__strbuf shown = {0};
    ls__strbuf_visible(&shown, name, strlen(name));
    ls__fail(error, LS_E_FORMAT, "two %s named %s", what, shown.text ? shown.text : "");
    ls__strbuf_finish(&shown);
    return ls__fail_where(error, LS_E_FORMAT, "%s", path);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* "split.no" and the like; `otherwise` where it is not there. */
static ls_status split_number(const ls__gguf_head *head, const char *key, uint64_t otherwise,
                              uint64_t *number, ls_error *error)
{
    *number = otherwise;
    for (uint32_t i = 0; i < head->values.count; i++)
        if (strcmp(head->values.items[i].key, key) == 0 &&
            !ls_gguf_unsigned(&head->values.items[i], 0, number)) {
            ls__fail(error, LS_E_FORMAT, "%s is no count", key);
            return ls__fail_where(error, LS_E_FORMAT, "%s", head->path);
        }
    return LS_OK;
}

/* Checks that the head is part `number` of `count`. */
static ls_status check_part(const ls__gguf_head *head, uint64_t number, uint64_t count,
                            ls_error *error)
{
    uint64_t its_number, its_count;
    ls_status status = split_number(head, "split.no", 0, &its_number, error);
    if (status == LS_OK)
        status = split_number(head, "split.count", 1, &its_count, error);
    if (status != LS_OK || (its_number == number && its_count == count))
        return status;
    ls__fail(error, LS_E_FORMAT,
             "this is part %" PRIu64 " of %" PRIu64 ", not %" PRIu64 " of %" PRIu64, its_number + 1,
             its_count, number + 1, count);
    ls__fail_where(error, LS_E_FORMAT, "%s", head->path);
    return number == 0 ? ls__fail_hint(error, LS_E_FORMAT, "name the first part of a split model")
                       : LS_E_FORMAT;
}

/* NAME-00001-of-00003.gguf, for another part. NULL when `path` is not of that form. */
static const char *part_path(ls__arena *arena, const char *path, uint64_t number, uint64_t count)
{
    char suffix[48];
    snprintf(suffix, sizeof suffix, "-00001-of-%05" PRIu64 ".gguf", count);
    if (!ls__str_ends_in(path, suffix))
        return NULL;
    return ls__arena_printf(arena, "%.*s-%05" PRIu64 "-of-%05" PRIu64 ".gguf",
                            (int)(strlen(path) - strlen(suffix)), path, number + 1, count);
}

static ls_status read_part(ls_gguf *g, const char *path, ls__gguf_head *head, ls_error *error)
{
    ls__os_mapping *map = &g->maps[g->file_count];
    ls_status status = ls__os_map(path, map, error);
    if (status != LS_OK)
        return status;
    *head = (ls__gguf_head){.bytes = map->bytes, .size = map->size, .path = path};
    head->file = g->file_count++;
    g->file_bytes += map->size;
    return ls__gguf_read_head(&g->arena, head, &g->tensors, error);
}

static ls_status read_other_parts(ls_gguf *g, const ls__gguf_head *first, uint64_t count,
                                  ls_error *error)
{
    if (count > MOST_PARTS || !part_path(&g->arena, first->path, 0, count)) {
        ls__fail(error, LS_E_FORMAT,
                 "the first of %" PRIu64 " parts must be named "
                 "NAME-00001-of-%05" PRIu64 ".gguf",
                 count, count);
        return ls__fail_where(error, LS_E_FORMAT, "%s", first->path);
    }
    ls__os_mapping *maps = LS__NEW_ARRAY(&g->arena, ls__os_mapping, count);
    maps[0] = g->maps[0];
    g->maps = maps;
    ls_status status = LS_OK;
    for (uint64_t i = 1; status == LS_OK && i < count; i++) {
        ls__gguf_head head;
        status = read_part(g, part_path(&g->arena, first->path, i, count), &head, error);
        if (status == LS_OK)
            status = check_part(&head, i, count, error);
    }
    uint64_t all;
    if (status == LS_OK)
        status = split_number(first, "split.tensors.count", g->tensors.count, &all, error);
    if (status == LS_OK && all != g->tensors.count) {
        ls__fail(error, LS_E_FORMAT,
                 "the parts have %" PRIu32 " tensors, not the %" PRIu64
                 " that split.tensors.count says",
                 g->tensors.count, all);
        status = ls__fail_where(error, LS_E_FORMAT, "%s", first->path);
    }
    return status;
}

/* Takes over what the first part says of the whole. */
static ls_status finish(ls_gguf *g, const ls__gguf_head *head, ls_error *error)
{
    g->version = head->version;
    g->alignment = head->alignment;
    g->values = head->values;
    return index_names(g, head->path, error);
}

/* --- the public calls ------------------------------------------------------------------------- */

static void release(ls_gguf *g)
{
    for (uint32_t i = 0; g->maps && i < g->file_count; i++)
        ls__os_unmap(&g->maps[i]);
    ls__arena_finish(&g->arena);
    ls__mem_free(g);
}

static ls_status open_files(ls_gguf *g, const char *path, ls_error *error)
{
    ls__gguf_head head;
    uint64_t count = 1;
    g->maps = LS__NEW(&g->arena, ls__os_mapping);
    ls_status status = read_part(g, path, &head, error);
    if (status == LS_OK)
        status = split_number(&head, "split.count", 1, &count, error);
    if (status == LS_OK)
        status = check_part(&head, 0, count, error);
    if (status == LS_OK && count > 1)
        status = read_other_parts(g, &head, count, error);
    return status == LS_OK ? finish(g, &head, error) : status;
}

static ls_status open_bytes(ls_gguf *g, const void *bytes, uint64_t size, const char *name,
                            ls_error *error)
{
    ls__gguf_head head = {.bytes = bytes, .size = size, .path = name};
    g->file_count = 1;
    g->file_bytes = size;
    ls_status status = ls__gguf_read_head(&g->arena, &head, &g->tensors, error);
    if (status == LS_OK)
        status = check_part(&head, 0, 1, error);
    return status == LS_OK ? finish(g, &head, error) : status;
}

/* `bytes` NULL: the files at `path`. */
static ls_status open_either(const char *path, const void *bytes, uint64_t size, ls_gguf **gguf,
                             ls_error *error)
{
    ls__oom oom;
    ls_gguf *g = ls__mem_alloc(1, sizeof *g);
    if (!g)
        return ls__fail_oom(error, sizeof *g);
    ls__arena_init(&g->arena, &oom, 0);
    if (setjmp(oom.jump)) {
        release(g);
        return ls__oom_status(&oom, error);
    }
    ls_status status = bytes ? open_bytes(g, bytes, size, path, error) : open_files(g, path, error);
    g->arena.oom = NULL;
    if (status != LS_OK) {
        release(g);
        return status;
    }
    *gguf = g;
    return LS_OK;
}

ls_status ls_gguf_open(const char *path, ls_gguf **gguf, ls_error *error)
{
    if (!path || !gguf)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "path or gguf is NULL");
    *gguf = NULL;
    return open_either(path, NULL, 0, gguf, error);
}

ls_status ls_gguf_open_memory(const void *bytes, uint64_t size, const char *name, ls_gguf **gguf,
                              ls_error *error)
{
    if (!bytes || !name || !gguf)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "bytes, name or gguf is NULL");
    *gguf = NULL;
    if ((uintptr_t)bytes % 8)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the bytes must be aligned to 8");
    return open_either(name, bytes, size, gguf, error);
}

void ls_gguf_destroy(ls_gguf **gguf)
{
    if (!gguf || !*gguf)
        return;
    release(*gguf);
    *gguf = NULL;
}

void ls_gguf_describe(const ls_gguf *g, ls_gguf_info *info)
{
    ls_gguf_info all = {
        .version = g->version,
        .alignment = g->alignment,
        .file_count = g->file_count,
        .value_count = g->values.count,
        .tensor_count = g->tensors.count,
        .file_bytes = g->file_bytes,
    };
    for (uint32_t i = 0; i < g->tensors.count; i++)
        all.tensor_bytes += g->tensors.items[i].bytes;
    size_t size = info->struct_size < sizeof all ? info->struct_size : sizeof all;
    all.struct_size = info->struct_size;
    memcpy(info, &all, size);
}

const ls_gguf_value *ls_gguf_value_at(const ls_gguf *g, uint32_t index)
{
    return index < g->values.count ? &g->values.items[index] : NULL;
}

const ls_gguf_value *ls_gguf_find_value(const ls_gguf *g, const char *key)
{
    if (!g->values.count)
        return NULL;
    return ls_gguf_value_at(
        g, find_name(&g->value_names, &g->values.items->key, sizeof *g->values.items, key));
}

const ls_gguf_tensor *ls_gguf_tensor_at(const ls_gguf *g, uint32_t index)
{
    return index < g->tensors.count ? &g->tensors.items[index] : NULL;
}

void ls_gguf_forget(const ls_gguf *g, const ls_gguf_tensor *tensor)
{
    if (g->maps && tensor->file < g->file_count)
        ls__os_forget(&g->maps[tensor->file], tensor->file_byte, tensor->bytes);
}

const ls_gguf_tensor *ls_gguf_find_tensor(const ls_gguf *g, const char *name)
{
    if (!g->tensors.count)
        return NULL;
    return ls_gguf_tensor_at(
        g, find_name(&g->tensor_names, &g->tensors.items->name, sizeof *g->tensors.items, name));
}
