/* SPDX-License-Identifier: Apache-2.0 */
/* Code made ahead: making it, reading it, and choosing what fits a device. */
#include "core/package.h"

#include <string.h>

#include "base/cursor.h"
#include "base/str.h"
#include "pass/pass.h"

static const char magic[8] = "LSAOT01";
enum { MAX_TEXT_BYTES = 1 << 12 };

/* --- writing ---------------------------------------------------------------------------------- */
static void put_u32(ls__strbuf *out, uint32_t value)
{
    const char bytes[4] = {(char)value, (char)(value >> 8), (char)(value >> 16),
                           (char)(value >> 24)};
    ls__strbuf_append(out, bytes, sizeof bytes);
}

static void put_text(ls__strbuf *out, const char *text)
{
    put_u32(out, (uint32_t)strlen(text));
    ls__strbuf_append(out, text, strlen(text) + 1);
}

static void put_digest(ls__strbuf *out, const ls__digest *digest)
{
    ls__strbuf_append(out, (const char *)digest->bytes, sizeof digest->bytes);
}

static void put_code(ls__strbuf *out, const void *bytes, size_t size)
{
    put_u32(out, (uint32_t)size);
    put_u32(out, (uint32_t)((uint64_t)size >> 32));
    ls__strbuf_append(out, bytes, size);
}

/* --- making ----------------------------------------------------------------------------------- */
typedef struct making {
    const ls__registry_entry *entry;
    const char *target;
    uint32_t lower;
    bool unchecked;
    ls__strbuf out;
} making;

static const ls__registry_entry *entry_of(const char *target)
{
    for (uint32_t i = 0; i < ls__registry_count; i++)
        if (ls__registry[i].suits && ls__registry[i].suits(target, target))
            return &ls__registry[i];
    return NULL;
}

static ls_status fail_target(const char *target, ls_error *error)
{
    ls_code_target_info infos[16];
    ls__strbuf names = {0};
    uint32_t count = ls_code_targets(infos, 16);
    for (uint32_t i = 0; i < count && i < 16; i++)
        ls__strbuf_printf(&names, "%s%s", i ? ", " : "", infos[i].target);
    ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no target '%s' to make code for", target);
    ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "such as: %s", names.text ? names.text : "");
    ls__strbuf_finish(&names);
    return LS_E_INVALID_ARGUMENT;
}

static ls_status put_emitted(making *m, const ls__ir_module *ir, bool unchecked, ls_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    ls_status status = m->entry->emit(ir, m->target, unchecked, &bytes, &size, error);
    if (status == LS_OK)
        put_code(&m->out, bytes, size);
    ls__mem_free(bytes);
    return status;
}

static ls_status put_probe(making *m, const ls__ir_module *source, const ls__ir_module *lowered,
                           ls_error *error)
{
    ls__probe_set *set = NULL;
    ls_status status = ls__probe_collect(NULL, source, lowered, m->lower, &set, error);
    if (status != LS_OK)
        return status;
    put_u32(&m->out, (set->count + LS__PROBE_CHUNK - 1) / LS__PROBE_CHUNK);
    for (uint32_t i = 0; i < set->count && status == LS_OK; i += LS__PROBE_CHUNK) {
        ls__ir_module *probe = NULL;
        uint32_t left = set->count - i;
        status = ls__probe_module(set->keys + i, left < LS__PROBE_CHUNK ? left : LS__PROBE_CHUNK,
                                  m->lower, m->entry->backend->optimize, &probe, error);
        if (status == LS_OK)
            status = put_emitted(m, probe, false, error);
        ls__ir_module_destroy(&probe);
    }
    ls__mem_free(set);
    return status;
}

static ls_status lower(const making *m, ls__ir_module *ir, ls_error *error)
{
    ls__pass_options passes = {
        .lower = m->lower,
        .unchecked = m->unchecked,
        .optimize = m->entry->backend->optimize,
#ifndef NDEBUG
        .verify_each = true,
#endif
    };
    size_t kernels = ls__module_kernel_count(ir);
    ls__pass_split *splits = ls__mem_alloc(kernels, sizeof *splits);
    if (!splits)
        return ls__fail_oom(error, kernels * sizeof *splits);
    ls_status status = ls__lower_run(ir, &passes, splits, error);
    ls__mem_free(splits);
    return status;
}

static ls_status put_all(making *m, const ls_module *module, ls__ir_module *ir, ls_error *error)
{
    const ls__ir_module *source = NULL;
    ls__digest of_source, of_lowered;
    ls_status status = ls__module_ir((ls_module *)module, &source, error);
    if (status == LS_OK)
        status = ls__ir_digest(source, &of_source, error);
    if (status == LS_OK)
        status = lower(m, ir, error);
    if (status == LS_OK)
        status = ls__ir_digest(ir, &of_lowered, error);
    if (status != LS_OK)
        return status;
    ls__strbuf_append(&m->out, magic, sizeof magic);
    put_u32(&m->out, LS_CONTRACT_VERSION);
    put_u32(&m->out, LS_IR_VERSION);
    put_u32(&m->out, m->entry->code_version);
    put_text(&m->out, LS_VERSION_STRING);
    put_text(&m->out, m->entry->backend->family);
    put_text(&m->out, m->target);
    put_u32(&m->out, m->unchecked);
    put_u32(&m->out, m->lower);
    put_digest(&m->out, &of_source);
    put_digest(&m->out, &of_lowered);
    status = put_emitted(m, ir, m->unchecked, error);
    if (status == LS_OK)
        status = put_probe(m, source, ir, error);
    ls__digest whole = ls__digest_of(m->out.text, m->out.length);
    put_digest(&m->out, &whole);
    return status == LS_OK && m->out.failed ? ls__fail_oom(error, m->out.length) : status;
}

ls_status ls_code_make(const ls_module *module, const ls_code_params *params, void **bytes,
                       size_t *size, ls_error *error)
{
    ls_code_params given;
    making m = {0};
    ls__ir_module *ir = NULL;
    if (!bytes || !size)
        return ls__fail_no_result(error, "ls_code_make");
    *bytes = NULL;
    *size = 0;
    ls_status status = ls__params_in(&given, sizeof given, params, false, "ls_code_make", error);
    if (status != LS_OK)
        return status;
    if (!module || !given.target)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_code_make: no %s was given",
                        module ? "target" : "module");
    m.target = given.target;
    m.unchecked = given.unchecked;
    m.entry = entry_of(given.target);
    if (!m.entry)
        return fail_target(given.target, error);
    status = ls__lower_parse(given.lower, &m.lower, error);
    m.lower |= m.entry->lowering(given.target);
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    if (status == LS_OK)
        status = ls__module_copy_ir(module, &ir, error);
    if (status == LS_OK)
        status = put_all(&m, module, ir, error);
    ls__os_fenv_leave(&saved);
    ls__ir_module_destroy(&ir);
    if (status != LS_OK) {
        ls__strbuf_finish(&m.out);
        return status;
    }
    *bytes = m.out.text;
    *size = m.out.length;
    return LS_OK;
}

/* Vulkan stands in the registry twice. */
static bool is_first(uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (ls__registry[i].emit == ls__registry[index].emit && ls__registry[i].ahead)
            return strcmp(ls__registry[i].backend->family, ls__registry[index].backend->family);
    return true;
}

uint32_t ls_code_targets(ls_code_target_info *infos, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ls__registry_count; i++) {
        const char *text = is_first(i) ? ls__registry[i].ahead : NULL;
        while (text && *text) {
            size_t length = strcspn(text, " ");
            if (count < capacity) {
                infos[count] = (ls_code_target_info){.family = ls__registry[i].backend->family};
                memcpy(infos[count].target, text, length);
            }
            count++;
            text += length + strspn(text + length, " ");
        }
    }
    return count;
}

/* --- reading ---------------------------------------------------------------------------------- */
static const char *get_text(ls__cursor *in)
{
    uint32_t length = ls__cursor_u32(in);
    if (length > MAX_TEXT_BYTES) {
        ls__cursor_fail(in, "a text is too long");
        return "";
    }
    const char *text = (const char *)ls__cursor_bytes(in, (size_t)length + 1);
    if (text && strnlen(text, (size_t)length + 1) != length)
        ls__cursor_fail(in, "a text does not end where it should");
    return in->fault ? "" : text;
}

static ls__digest get_digest(ls__cursor *in)
{
    ls__digest digest = {{0}};
    const uint8_t *bytes = ls__cursor_bytes(in, sizeof digest.bytes);
    if (bytes)
        memcpy(digest.bytes, bytes, sizeof digest.bytes);
    return digest;
}

static ls__code_bytes get_code(ls__cursor *in)
{
    uint64_t size = ls__cursor_u64(in);
    if (size > ls__cursor_left(in))
        ls__cursor_fail(in, "unexpected end of data");
    return (ls__code_bytes){ls__cursor_bytes(in, in->fault ? 0 : (size_t)size), (size_t)size};
}

/* What other versions have as well comes first, so that they can be named. */
static void get_versions(ls__cursor *in, ls__package *package)
{
    const uint8_t *start = ls__cursor_bytes(in, sizeof magic);
    if (start && memcmp(start, magic, sizeof magic) != 0)
        ls__cursor_fail(in, "it is no code that was made ahead");
    package->contract = ls__cursor_u32(in);
    package->ir_version = ls__cursor_u32(in);
    package->code_version = ls__cursor_u32(in);
    package->library = get_text(in);
    package->family = get_text(in);
    package->target = get_text(in);
}

static void get_rest(ls__cursor *in, ls__package *package)
{
    package->unchecked = ls__cursor_u32(in) != 0;
    package->lower = ls__cursor_u32(in);
    package->source = get_digest(in);
    package->lowered = get_digest(in);
    package->code = get_code(in);
    package->chunk_count = ls__cursor_u32(in);
    if (package->chunk_count > LS__PACKAGE_MAX_CHUNKS)
        ls__cursor_fail(in, "too many chunks of the probe");
    for (uint32_t i = 0; i < package->chunk_count && !in->fault; i++)
        package->chunks[i] = get_code(in);
    if (ls__cursor_left(in))
        ls__cursor_fail(in, "there is something behind the end");
}

static ls_status check_versions(ls__package *package, ls_error *error)
{
    static const char again[] = "make it again with this library";
    if (package->contract != LS_CONTRACT_VERSION) {
        ls__fail(error, LS_E_VERSION, "the code is of bit contract %u, this library of %u",
                 package->contract, LS_CONTRACT_VERSION);
        return ls__fail_hint(error, LS_E_VERSION, again);
    }
    package->entry = entry_of(package->target);
    if (package->entry && strcmp(package->entry->backend->family, package->family) != 0)
        package->entry = NULL;
    if (package->ir_version != LS_IR_VERSION || strcmp(package->library, LS_VERSION_STRING) != 0 ||
        (package->entry && package->code_version != package->entry->code_version)) {
        ls__fail(error, LS_E_VERSION,
                 "the code for '%s' was made by lockstep %s (IR %u, code %u), this is %s",
                 package->target, package->library, package->ir_version, package->code_version,
                 LS_VERSION_STRING);
        return ls__fail_hint(error, LS_E_VERSION, again);
    }
    return LS_OK;
}

static ls_status fail_format(const ls__cursor *in, ls_error *error)
{
    return ls__fail(error, LS_E_FORMAT, "the code is damaged: %s, at byte %zu", in->fault,
                    in->fault_offset);
}

/* LS_E_FORMAT: damaged; LS_E_VERSION says which version differs. */
static ls_status open_package(const ls_code *code, ls__package *package, ls_error *error)
{
    ls__cursor in;
    *package = (ls__package){0};
    size_t size = code->bytes ? code->size : 0;
    if (size < sizeof magic + sizeof(ls__digest))
        return ls__fail(error, LS_E_FORMAT, "the code is damaged: it has %zu bytes", size);
    size -= sizeof(ls__digest);
    ls__cursor_init(&in, code->bytes, size);
    get_versions(&in, package);
    if (in.fault)
        return fail_format(&in, error);
    package->whole = ls__digest_of(code->bytes, size);
    if (memcmp((const uint8_t *)code->bytes + size, &package->whole, sizeof package->whole) != 0)
        return ls__fail(error, LS_E_FORMAT, "the code is damaged: its digest is another");
    ls_status status = check_versions(package, error);
    if (status != LS_OK)
        return status;
    get_rest(&in, package);
    return in.fault ? fail_format(&in, error) : LS_OK;
}

ls_status ls_code_describe(const void *bytes, size_t size, ls_code_info *info, ls_error *error)
{
    ls__package package;
    ls_code_info made = {0};
    if (!info)
        return ls__fail_no_result(error, "ls_code_describe");
    ls_status status = open_package(&(ls_code){bytes, size}, &package, error);
    if (status != LS_OK)
        return status;
    made.family = package.family;
    made.target = package.target;
    made.unchecked = package.unchecked;
    made.code = package.code.bytes;
    made.code_size = package.code.size;
    memcpy(made.module_digest, package.source.bytes, sizeof made.module_digest);
    ls__params_out(info, &made, sizeof made);
    return LS_OK;
}

/* --- choosing --------------------------------------------------------------------------------- */
static ls_status fail_none(const ls_device *device, const char *device_target,
                           const ls__strbuf *targets, ls_error *error)
{
    ls__fail(error, LS_E_UNSUPPORTED, "there is no code for device '%s' (target %s)", device->name,
             device_target);
    return ls__fail_hint(error, LS_E_UNSUPPORTED,
                         "there is code for: %s; make more for this target",
                         targets->text ? targets->text : "nothing");
}

ls_status ls__package_choose(const ls_device *device, const ls_code *codes, uint32_t count,
                             ls__package *package, ls_error *error)
{
    const ls__backend *backend = device->backend;
    const char *target = backend->target ? backend->target(device->handle) : "";
    ls__strbuf targets = {0};
    uint32_t found = UINT32_MAX;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < count && status == LS_OK; i++) {
        status = open_package(&codes[i], package, error);
        if (status != LS_OK)
            break;
        ls__strbuf_printf(&targets, "%s%s", i ? ", " : "", package->target);
        if (!package->entry || strcmp(package->family, backend->family) != 0 ||
            !package->entry->suits(package->target, target))
            continue;
        if (found == UINT32_MAX || strcmp(package->target, target) == 0)
            found = i;
        if (strcmp(package->target, target) == 0)
            break;
    }
    if (status == LS_OK && found == UINT32_MAX)
        status = fail_none(device, target, &targets, error);
    else if (status == LS_OK)
        status = open_package(&codes[found], package, error);
    ls__strbuf_finish(&targets);
    return status;
}
