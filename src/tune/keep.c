/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices, kept in the device's cache folder, a file each: it is written whole, checked when it is
 * read, dropped when it is damaged and replaced by the next.
 *
 * The key covers the kernel's IR with the defaults, but not the paths of its files: the same kernel
 * may be called by another path. It covers the device as `lockstep devices` shows it, which names
 * its driver, and the library, whose next version may make other code.
 */
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/dir.h"
#include "base/kept.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "tune/tune.h"

enum { FORMAT = 1, LIMIT_BYTES = 1 << 20 };

/* --- the key ---------------------------------------------------------------------------------- */
static void add_text(ls__digester *digester, const char *text, size_t length)
{
    uint64_t size = length;
    ls__digester_add(digester, &size, sizeof size);
    ls__digester_add(digester, text, length);
}

/* The IR as text, without the lines that name files. */
static ls_status add_kernel(ls__digester *digester, const ls_module *module, const char *kernel,
                            ls_error *error)
{
    static const char file[] = "file ";
    ls_module *alone;
    char *text = NULL;
    ls_status status = ls_module_select(module, kernel, &alone, error);
    if (status == LS_OK)
        status = ls_module_print(alone, &text, NULL, error);
    for (const char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, file, sizeof file - 1) != 0)
            add_text(digester, line, length);
        line += length + (line[length] == '\n');
    }
    ls_text_destroy(&text);
    ls_module_destroy(&alone);
    return status;
}

ls_status ls__tune_key(ls_device *device, const ls_module *module, const char *kernel,
                       bool unchecked, const ls__tune_axes *axes, ls__digest *key, ls_error *error)
{
    const char *texts[] = {"lockstep tune", LS_VERSION_STRING, ls_device_name(device),
                           ls_device_description(device)};
    const uint32_t numbers[] = {FORMAT, LS_CONTRACT_VERSION, LS_IR_VERSION, unchecked, axes->count};
    ls__digester digester;
    ls__digester_init(&digester);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_text(&digester, texts[i], strlen(texts[i]));
    ls__digester_add(&digester, numbers, sizeof numbers);
    for (uint32_t i = 0; i < axes->count; i++)
        add_text(&digester, axes->items[i].name, strlen(axes->items[i].name));
    ls_status status = add_kernel(&digester, module, kernel, error);
    *key = ls__digester_finish(&digester);
    return status;
}

/* --- the entry: the values, 8 bytes each in order of the axes --------------------------------- */
static bool is_choice(const ls_spec_info *axis, int64_t value)
{
    bool found = value == axis->default_value;
    for (uint32_t i = 0; i < axis->choice_count; i++)
        found |= value == axis->choices[i];
    return found;
}

static ls__kept files_of(ls__dir *dir)
{
    return (ls__kept){dir, "LSTUNE01", ".lstune", LIMIT_BYTES};
}

bool ls__tune_find(const ls_device *device, const ls__digest *key, const ls__tune_axes *axes,
                   ls_define *values)
{
    const char *path = ls_device_cache_path(device);
    ls__dir *dir;
    ls__cursor in;
    void *bytes = NULL;
    size_t size = 0;
    if (!path || ls__dir_open_made(path, &dir, NULL) != LS_OK)
        return false;
    ls__kept files = files_of(dir);
    bool good = ls__kept_get(&files, key, &bytes, &size);
    ls__dir_close(&dir);
    ls__cursor_init(&in, bytes, size);
    for (uint32_t i = 0; good && i < axes->count; i++) {
        values[i] = (ls_define){axes->items[i].name, (int64_t)ls__cursor_u64(&in)};
        good = !in.fault && is_choice(&axes->items[i], values[i].value);
    }
    ls__mem_free(bytes);
    return good && ls__cursor_left(&in) == 0;
}

const char *ls__tune_keep(const ls_device *device, const ls__digest *key, const ls__tune_axes *axes,
                          const ls_define *values)
{
    const char *path = ls_device_cache_path(device);
    ls__dir *dir;
    ls__strbuf out = {0};
    void *bytes = NULL;
    size_t size = 0;
    if (!path)
        return "the device has no cache folder to keep it in";
    if (ls__dir_open(path, &dir, NULL) != LS_OK)
        return "the cache folder cannot be used";
    for (uint32_t i = 0; i < axes->count; i++) {
        uint64_t value = (uint64_t)values[i].value;
        char little[8];
        for (unsigned k = 0; k < sizeof little; k++)
            little[k] = (char)(value >> (8 * k));
        ls__strbuf_append(&out, little, sizeof little);
    }
    ls__kept files = files_of(dir);
    if (!out.failed)
        ls__kept_put(&files, key, out.text, out.length);
    bool is_there = ls__kept_get(&files, key, &bytes, &size);
    bool is_same =
        is_there && !out.failed && size == out.length && memcmp(bytes, out.text, size) == 0;
    ls__mem_free(bytes);
    ls__strbuf_finish(&out);
    ls__dir_close(&dir);
    return is_same ? NULL : "it could not be written to the cache folder";
}
