/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a program besides its code, in the cache on disk: the digest of the IR that the
 * code is made of, which finds the code, how kernels were split, and what the probe must know.
 * Found by what the module was compiled from, the options, and what of the device decides how it is
 * lowered.
 */
#include <string.h>

#include "base/cursor.h"
#include "core/core.h"
#include "core/probe.h"

enum { LIMIT_KERNELS = 1 << 20 };

static void add_text(ls__digester *digester, const char *text)
{
    ls__digester_add(digester, text, strlen(text) + 1);
}

static ls__digest key_of(const ls__built *built)
{
    const ls_device *device = built->device;
    const ls__backend *backend = device->backend;
    const ls_caps *caps = &device->caps;
    const uint32_t numbers[] = {built->options.lower,
                                built->options.unchecked,
                                device->watches,
                                backend->optimize,
                                device->code_version,
                                caps->max_workgroup_lanes,
                                caps->max_shared_bytes,
                                caps->max_buffers,
                                caps->max_scalar_bytes,
                                caps->max_local_bytes,
                                caps->f64,
                                caps->atomics64};
    ls__digester digester;
    ls__digester_init(&digester);
    add_text(&digester, "built");
    ls__digester_add(&digester, &built->source->key, sizeof built->source->key);
    ls__digester_add(&digester, numbers, sizeof numbers);
    add_text(&digester, backend->family);
    add_text(&digester, device->compiler);
    add_text(&digester, backend->target ? backend->target(device->handle) : "");
    return ls__digester_finish(&digester);
}

/* --- writing ---------------------------------------------------------------------------------- */
static void put_u32(ls__strbuf *out, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};
    ls__strbuf_append(out, (const char *)bytes, sizeof bytes);
}

static void put_u64(ls__strbuf *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out, (uint32_t)(value >> 32));
}

static void keep_program(const ls__built *built)
{
    ls__strbuf out = {0};
    const ls__probe_set *probed = built->probed;
    ls_device *device = built->device;
    if (!built->source->has_key || !device->code_cache.dir)
        return;
    ls__strbuf_append(&out, (const char *)built->lowered.bytes, sizeof built->lowered.bytes);
    put_u32(&out, built->site_count);
    put_u32(&out, built->entry_count);
    for (uint32_t i = 0; i < built->entry_count; i++) {
        const ls__built_kernel *entry = &built->entries[i];
        put_u32(&out, entry->segment_count);
        put_u64(&out, entry->scratch_bytes_per_lane);
        put_u64(&out, entry->scratch_bytes_fixed);
        for (uint32_t k = 0; k < (entry->segment_count ? entry->segment_count : 1); k++) {
            const ls__backend_kernel *kernel = &built->kernels[entry->first + k];
            put_u32(&out, kernel->function);
            for (int d = 0; d < 3; d++)
                put_u32(&out, kernel->workgroup[d]);
            put_u32(&out, kernel->buffer_count);
            put_u32(&out, kernel->scalar_bytes);
        }
    }
    put_u32(&out, probed ? probed->count : 0);
    for (uint32_t i = 0; probed && i < probed->count; i++) {
        const ls__probe_key *key = &probed->keys[i];
        const uint8_t bytes[] = {key->op, key->type, key->result, key->bits};
        ls__strbuf_append(&out, (const char *)bytes, sizeof bytes);
    }
    ls__digest key = key_of(built);
    if (!out.failed)
        ls__kept_put(&device->code_cache, &key, out.text, out.length);
    ls__strbuf_finish(&out);
}

void ls__built_keep(const ls__built *built)
{
    const ls_module *source = built->source;
    if (source->entry && built->device->code_cache.dir)
        ls__kept_put(&built->device->code_cache, &source->entry_key, source->entry,
                           source->entry_size);
    if (!built->found)
        keep_program(built);
}

/* --- reading ---------------------------------------------------------------------------------- */
static ls__backend_kernel get_kernel(ls__cursor *in, const char *name)
{
    ls__backend_kernel kernel = {.name = name, .function = ls__cursor_u32(in)};
    for (int d = 0; d < 3; d++)
        kernel.workgroup[d] = ls__cursor_u32(in);
    kernel.buffer_count = ls__cursor_u32(in);
    kernel.scalar_bytes = ls__cursor_u32(in);
    return kernel;
}

/* Room for one more kernel. */
static bool grow(ls__built *built)
{
    uint32_t count = built->kernel_count;
    if (count & (count - 1)) /* doubled at powers of two */
        return true;
    ls__backend_kernel *more = ls__mem_alloc(count ? (size_t)count * 2 : 1, sizeof *more);
    if (!more)
        return false;
    if (count)
        memcpy(more, built->kernels, count * sizeof *more);
    ls__mem_free(built->kernels);
    built->kernels = more;
    return true;
}

static void get_kernels(ls__cursor *in, ls__built *built)
{
    const ls__ir_module *signature = built->source->signature;
    for (uint32_t i = 0; i < built->entry_count && !in->fault; i++) {
        ls__built_kernel *entry = &built->entries[i];
        const char *name = ls__module_kernel_at(signature, i)->name;
        entry->first = built->kernel_count;
        entry->segment_count = ls__cursor_u32(in);
        entry->scratch_bytes_per_lane = ls__cursor_u64(in);
        entry->scratch_bytes_fixed = ls__cursor_u64(in);
        uint32_t parts = entry->segment_count ? entry->segment_count : 1;
        for (uint32_t k = 0; k < parts && !in->fault; k++) {
            if (built->kernel_count >= LIMIT_KERNELS || !grow(built))
                ls__cursor_fail(in, "too many kernels");
            else
                built->kernels[built->kernel_count++] = get_kernel(in, name);
        }
    }
}

static void get_probed(ls__cursor *in, ls__built *built)
{
    ls__probe_set *set = built->probed;
    uint32_t count = ls__cursor_u32(in);
    if (count > LS__PROBE_MAX_ROWS)
        ls__cursor_fail(in, "too many operations");
    for (uint32_t i = 0; i < count && !in->fault; i++) {
        ls__probe_key key = {.op = ls__cursor_u8(in), .type = ls__cursor_u8(in)};
        key.result = ls__cursor_u8(in);
        key.bits = ls__cursor_u8(in);
        set->keys[set->count++] = key;
    }
}

bool ls__built_find(ls__built *built)
{
    ls_device *device = built->device;
    void *bytes;
    size_t size;
    ls__cursor in;
    if (!device->code_cache.dir)
        return false;
    ls__digest key = key_of(built);
    if (!ls__kept_get(&device->code_cache, &key, &bytes, &size))
        return false;
    ls__cursor_init(&in, bytes, size);
    const uint8_t *lowered = ls__cursor_bytes(&in, sizeof built->lowered.bytes);
    built->site_count = ls__cursor_u32(&in);
    built->entry_count = ls__cursor_u32(&in);
    built->entries = ls__mem_alloc(ls__module_kernel_count(built->source->signature) + 1,
                                   sizeof *built->entries);
    built->probed = ls__mem_alloc(1, sizeof *built->probed);
    bool good = lowered && built->entries && built->probed &&
                built->entry_count == ls__module_kernel_count(built->source->signature);
    if (good) {
        memcpy(built->lowered.bytes, lowered, sizeof built->lowered.bytes);
        get_kernels(&in, built);
        get_probed(&in, built);
    }
    ls__mem_free(bytes);
    built->found = good && !in.fault && ls__cursor_left(&in) == 0;
    return built->found;
}
