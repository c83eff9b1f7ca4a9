/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probe has found, kept in the device's cache folder: one entry of the code cache for each
 * device, target, compiler and version, so it is written whole, checked when it is read and dropped
 * when it is damaged, as code is. An operation that nothing helped is not kept: it is tried again.
 *
 * Several processes may find out different things at once; each adds what it knows to what is
 * there, and what is lost when they do so in the same moment is probed once more.
 */
#include <stdio.h>
#include <string.h>

#include "core/probe.h"
#include "pass/pass.h"

enum { FORMAT = 1 };

typedef struct head {
    uint32_t lower, count; /* rows follow */
} head;

_Static_assert(sizeof(head) == 8 && sizeof(ls__probe_row) == 6, "this is a file format");

/* Two long targets may differ at their ends only. */
static ls__digest digest_of_text(const char *text)
{
    return ls__digest_of(text, strlen(text));
}

static ls__digest key_of(const ls_device *device)
{
    const ls__backend *backend = device->backend;
    struct {
        char what[16], device[64], description[128];
        ls__digest target, quick_target;
        char library[32], compiler[32];
        uint32_t format, contract, ir_version, code_version, op_count;
    } parts;
    memset(&parts, 0, sizeof parts);
    strncpy(parts.what, "lockstep probe", sizeof parts.what - 1);
    snprintf(parts.device, sizeof parts.device, "%s", device->name);
    snprintf(parts.description, sizeof parts.description, "%s", device->description);
    if (backend->target)
        parts.target = digest_of_text(backend->target(device->handle));
    if (backend->quick_target)
        parts.quick_target = digest_of_text(backend->quick_target(device->handle));
    strncpy(parts.library, LS_VERSION_STRING, sizeof parts.library - 1);
    strncpy(parts.compiler, device->compiler, sizeof parts.compiler - 1);
    parts.format = FORMAT;
    parts.contract = LS_CONTRACT_VERSION;
    parts.ir_version = LS_IR_VERSION;
    parts.code_version = device->code_version;
    parts.op_count = LS_OP_COUNT;
    return ls__digest_of(&parts, sizeof parts);
}

static bool is_row(const ls__probe_row *row)
{
    return row->key.op < LS_OP_COUNT && row->key.type < LS_TYPE_COUNT &&
           row->key.result < LS_TYPE_COUNT && row->key.quick <= 1 &&
           row->verdict <= LS__PROBE_LOWERED;
}

void ls__probe_load(ls_device *device)
{
    ls__digest key;
    void *bytes;
    size_t size;
    head h;
    if (!device->probe || !device->code_cache.dir)
        return;
    key = key_of(device);
    if (!ls__kept_get(&device->code_cache, &key, &bytes, &size))
        return;
    if (size >= sizeof h) {
        memcpy(&h, bytes, sizeof h);
        const uint8_t *at = (const uint8_t *)bytes + sizeof h;
        bool good =
            h.count <= LS__PROBE_MAX_ROWS && size == sizeof h + h.count * sizeof(ls__probe_row);
        if (good)
            atomic_fetch_or(&device->probe->lower, h.lower);
        for (uint32_t i = 0; good && i < h.count; i++) {
            ls__probe_row row;
            memcpy(&row, at + i * sizeof row, sizeof row);
            if (is_row(&row))
                ls__probe_record(device, row.key, (ls__probe_verdict)row.verdict);
        }
    }
    ls__mem_free(bytes);
}

void ls__probe_save(ls_device *device)
{
    uint8_t *bytes = NULL;
    head h = {0};
    if (!device->probe || !device->code_cache.dir)
        return;
    ls__probe_load(device);
    bytes = ls__mem_alloc(sizeof h + LS__PROBE_MAX_ROWS * sizeof(ls__probe_row), 1);
    if (!bytes)
        return;
    pthread_mutex_lock(&device->build_lock);
    for (uint32_t i = 0; i < device->probe->count; i++) {
        const ls__probe_row *row = &device->probe->rows[i];
        if (row->verdict == LS__PROBE_WRONG)
            continue;
        memcpy(bytes + sizeof h + h.count * sizeof *row, row, sizeof *row);
        h.count++;
    }
    pthread_mutex_unlock(&device->build_lock);
    h.lower = atomic_load(&device->probe->lower);
    memcpy(bytes, &h, sizeof h);
    ls__digest key = key_of(device);
    ls__kept_put(&device->code_cache, &key, bytes,
                       sizeof h + h.count * sizeof(ls__probe_row));
    ls__mem_free(bytes);
}
