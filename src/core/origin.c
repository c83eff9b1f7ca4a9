/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of the cache: lookups, kernels as a module without bodies in the binary form of the IR,
 * facts of each, warnings. The cache has checked the bytes; what is read here is checked once more
 * for sizes, as any file.
 */
#include "core/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "core/source_digest.h"

enum { LIMIT_BYTES = 1 << 24, LIMIT_ITEMS = 1 << 16 };

/* --- texts ------------------------------------------------------------------------------------ */
static void add_text(ls__digester *digester, const char *text, size_t length)
{
    uint64_t size = length;
    ls__digester_add(digester, &size, sizeof size);
    ls__digester_add(digester, text, length);
}

static ls__digest base_of(const ls_compile_params *params)
{
    ls__digester digester;
    const char *path = params->path ? params->path : "";
    ls__digester_init(&digester);
    add_text(&digester, "source " LS__SOURCE_DIGEST, sizeof LS__SOURCE_DIGEST);
    add_text(&digester, path, strlen(path));
    for (uint32_t i = 0; i < params->define_count; i++) {
        const ls_define *define = &params->defines[i];
        const char *name = define->name ? define->name : "";
        add_text(&digester, name, strlen(name));
        ls__digester_add(&digester, &define->value, sizeof define->value);
    }
    add_text(&digester, params->text, params->length);
    return ls__digester_finish(&digester);
}

static char *copy(const char *text, size_t length)
{
    char *made = ls__mem_alloc(length + 1, 1);
    if (made)
        memcpy(made, text, length);
    return made;
}

ls__origin *ls__origin_open(const ls_compile_params *params)
{
    ls__origin *s = params->cache_path ? ls__mem_alloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->params = *params;
    s->params.path = params->path ? ls__mem_strdup(params->path) : NULL;
    s->params.text = copy(params->text, params->length);
    ls_define *defines = ls__mem_alloc(params->define_count, sizeof *defines);
    s->params.defines = defines;
    s->params.define_count = 0;
    bool good = s->params.text && defines && (s->params.path || !params->path);
    for (uint32_t i = 0; good && i < params->define_count; i++) {
        const ls_define *from = &params->defines[i];
        defines[i] = (ls_define){ls__mem_strdup(from->name ? from->name : ""), from->value};
        good = defines[i].name;
        s->params.define_count += good;
    }
    if (!good) {
        ls__origin_free(s);
        return NULL;
    }
    s->base = base_of(params);
    ls__dir *dir = NULL;
    ls__dir_open_made(params->cache_path, &dir, NULL); /* what is not there holds nothing */
    s->cache = ls__code_cache_of(dir, 0);
    return s;
}

static void drop_lookups(ls__origin *origin)
{
    for (uint32_t i = 0; i < origin->count; i++) {
        ls__mem_free(origin->lookups[i].path);
        ls__mem_free(origin->lookups[i].text);
    }
    origin->count = 0;
}

void ls__origin_close(ls__origin *origin)
{
    ls__dir_close(&origin->cache.dir);
    origin->params.include = NULL;
    origin->params.cache_path = NULL;
}

void ls__origin_free(ls__origin *origin)
{
    if (!origin)
        return;
    ls__origin_close(origin);
    drop_lookups(origin);
    ls__mem_free(origin->lookups);
    for (uint32_t i = 0; i < origin->params.define_count; i++)
        ls__mem_free((char *)origin->params.defines[i].name);
    ls__mem_free((ls_define *)origin->params.defines);
    ls__mem_free((char *)origin->params.text);
    ls__mem_free((char *)origin->params.path);
    ls__mem_free(origin);
}

/* --- included files --------------------------------------------------------------------------- */
static bool include_from_disk(const char *path, char **text, size_t *length)
{
    void *bytes;
    if (ls__os_read_file(path, 16 << 20, &bytes, length, NULL) != LS_OK)
        return false;
    *text = bytes;
    return true;
}

/* The caller's text is malloc'ed; the front end wants memory of ours. */
static bool include_from_caller(const ls_compile_params *params, const char *path, char **text,
                                size_t *length)
{
    char *given = NULL;
    ls__os_fenv ours; /* whatever the caller's function does to it */
    ls__os_fenv_enter(&ours);
    bool found = params->include(params->include_context, path, &given, length);
    ls__os_fenv_leave(&ours);
    if (!found || !given)
        return false;
    *text = copy(given, *length);
    free(given);
    return *text != NULL;
}

static ls__digest digest_of(const char *text, size_t length)
{
    return text ? ls__digest_of(text, length) : (ls__digest){{0}};
}

/* A file that is looked for twice must be the same both times. */
static void note(ls__origin *origin, const char *path, const char *text, size_t length)
{
    ls__lookup made = {.length = text ? length : 0, .digest = digest_of(text, length)};
    for (uint32_t i = 0; i < origin->count; i++)
        if (strcmp(origin->lookups[i].path, path) == 0) {
            origin->failed |= memcmp(&origin->lookups[i].digest, &made.digest, 32) != 0;
            return;
        }
    if (origin->count == origin->capacity) {
        uint32_t capacity = origin->capacity ? origin->capacity * 2 : 8;
        ls__lookup *more = ls__mem_alloc(capacity, sizeof *more);
        if (!more) {
            origin->failed = true;
            return;
        }
        if (origin->count)
            memcpy(more, origin->lookups, origin->count * sizeof *more);
        ls__mem_free(origin->lookups);
        origin->lookups = more;
        origin->capacity = capacity;
    }
    made.path = ls__mem_strdup(path);
    made.text = text ? copy(text, length) : NULL;
    if (!made.path || (text && !made.text)) {
        ls__mem_free(made.path);
        origin->failed = true;
        return;
    }
    origin->lookups[origin->count++] = made;
}

bool ls__origin_read(ls__origin *origin, const ls_compile_params *params, const char *path,
                     char **text, size_t *length)
{
    *text = NULL;
    bool found = params->include ? include_from_caller(params, path, text, length)
                                 : include_from_disk(path, text, length);
    if (origin)
        note(origin, path, found ? *text : NULL, found ? *length : 0);
    return found;
}

bool ls__origin_replay(void *origin, const char *path, char **text, size_t *length)
{
    const ls__origin *s = origin;
    for (uint32_t i = 0; i < s->count; i++) {
        const ls__lookup *lookup = &s->lookups[i];
        if (strcmp(lookup->path, path) != 0)
            continue;
        *length = lookup->length;
        *text = lookup->text ? malloc(lookup->length + 1) : NULL;
        if (*text)
            memcpy(*text, lookup->text, lookup->length + 1);
        return *text != NULL;
    }
    return false;
}

static ls__digest key_of(const ls__origin *origin)
{
    ls__digester digester;
    ls__digester_init(&digester);
    ls__digester_add(&digester, &origin->base, sizeof origin->base);
    for (uint32_t i = 0; i < origin->count; i++) {
        add_text(&digester, origin->lookups[i].path, strlen(origin->lookups[i].path));
        ls__digester_add(&digester, &origin->lookups[i].digest, sizeof(ls__digest));
    }
    return ls__digester_finish(&digester);
}

/* --- writing ---------------------------------------------------------------------------------- */
static void put(ls__strbuf *out, const void *bytes, size_t size)
{
    ls__strbuf_append(out, bytes, size);
}

static void put_u32(ls__strbuf *out, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};
    put(out, bytes, sizeof bytes);
}

static void put_text(ls__strbuf *out, const char *text)
{
    size_t length = strlen(text ? text : "");
    put_u32(out, (uint32_t)length);
    put(out, text ? text : "", length);
}

/* SPEC constants, kernels and their parameters, without bodies. */
static ls_status make_outline(const ls__ir_module *ir, ls__ir_module **outline, ls_error *error)
{
    ls__oom oom = {0};
    *outline = NULL;
    if (setjmp(oom.jump)) {
        ls__ir_module_destroy(outline);
        return ls__oom_status(&oom, error);
    }
    *outline = ls__ir_module_create(&oom, 0);
    for (uint32_t i = 0; i < ir->specs.count; i++)
        ls__ir_spec_add(*outline, &ir->specs.items[i]);
    for (uint32_t i = 0; i < ls__module_kernel_count(ir); i++) {
        const ls__ir_function *from = ls__module_kernel_at(ir, i);
        ls__ir_function *to = ls__ir_function_add(*outline, from->name, true);
        memcpy(to->workgroup, from->workgroup, sizeof to->workgroup);
        to->unordered = from->unordered;
        for (uint32_t k = 0; k < from->params.count; k++)
            ls__ir_param_add(to, from->params.items[k]);
    }
    (*outline)->arena.oom = NULL;
    return LS_OK;
}

static ls_status put_kernels(ls__strbuf *out, const ls__ir_module *ir)
{
    ls__ir_module *outline = NULL;
    void *bytes = NULL;
    size_t size = 0;
    ls_status status = make_outline(ir, &outline, NULL);
    if (status == LS_OK)
        status = ls__ir_encode(outline, &bytes, &size, NULL);
    ls__ir_module_destroy(&outline);
    put_u32(out, (uint32_t)size);
    if (size)
        put(out, bytes, size);
    ls__mem_free(bytes);
    for (uint32_t i = 0; status == LS_OK && i < ls__module_kernel_count(ir); i++) {
        ls__facts f;
        status = ls__facts_of(ls__module_kernel_at(ir, i), &f, NULL);
        uint32_t all[] = {f.lanes,       f.shared_bytes, f.buffers,   f.scalar_bytes,
                          f.local_bytes, f.f64,          f.atomics64, f.grid_barrier};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            put_u32(out, all[k]);
    }
    return status;
}

static void put_warnings(ls__strbuf *out, const ls__lang_diagnostics *list)
{
    put_u32(out, list->items.count);
    for (uint32_t i = 0; i < list->items.count; i++) {
        const ls__lang_diagnostic *d = &list->items.items[i];
        const char *texts[] = {d->id, d->path, d->message, d->source_line, d->hint};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            put_text(out, texts[k]);
        put_u32(out, d->line);
        put_u32(out, d->column);
        put_u32(out, d->length);
        put_u32(out, d->shown_column);
        put_u32(out, d->is_warning);
    }
}

void ls__origin_keep(ls__origin *origin, ls_module *module, const ls__lang_diagnostics *list)
{
    ls__strbuf out = {0};
    if (origin->failed)
        return;
    put_u32(&out, origin->count);
    for (uint32_t i = 0; i < origin->count; i++) {
        put_text(&out, origin->lookups[i].path);
        put_u32(&out, origin->lookups[i].text != NULL);
        put(&out, &origin->lookups[i].digest, sizeof(ls__digest));
    }
    bool good = put_kernels(&out, module->signature) == LS_OK;
    put_warnings(&out, list);
    if (!good || out.failed || out.length > LIMIT_BYTES) {
        ls__strbuf_finish(&out);
        return;
    }
    module->entry = out.text;
    module->entry_size = out.length;
    module->entry_key = origin->base;
    module->key = key_of(origin);
    module->has_key = true;
}

/* --- reading ---------------------------------------------------------------------------------- */
static uint32_t get_count(ls__cursor *in)
{
    uint32_t count = ls__cursor_u32(in);
    if (count > LIMIT_ITEMS)
        ls__cursor_fail(in, "too many");
    return in->fault ? 0 : count;
}

/* Into the arena, ended by a zero; never NULL. */
static const char *get_text(ls__cursor *in, ls__arena *arena)
{
    uint32_t length = ls__cursor_u32(in);
    const uint8_t *bytes = ls__cursor_bytes(in, length);
    if (!bytes)
        return "";
    char *text = ls__arena_alloc(arena, (size_t)length + 1, 1);
    memcpy(text, bytes, length);
    return text;
}

/* Whether every file that was looked for is what it was. */
static bool find_lookups(ls__cursor *in, ls__origin *origin)
{
    uint32_t count = get_count(in);
    for (uint32_t i = 0; i < count && !in->fault && !origin->failed; i++) {
        char *text = NULL;
        size_t length = 0;
        uint32_t size = ls__cursor_u32(in);
        const uint8_t *bytes = ls__cursor_bytes(in, size);
        char *path = bytes ? copy((const char *)bytes, size) : NULL;
        bool found = ls__cursor_u32(in) != 0;
        const uint8_t *digest = ls__cursor_bytes(in, sizeof(ls__digest));
        bool same = path && digest &&
                    ls__origin_read(origin, &origin->params, path, &text, &length) == found &&
                    origin->count == i + 1 &&
                    memcmp(&origin->lookups[i].digest, digest, sizeof(ls__digest)) == 0;
        ls__mem_free(text);
        ls__mem_free(path);
        if (!same)
            return false;
    }
    return !in->fault && !origin->failed;
}

static bool find_kernels(ls__cursor *in, ls__ir_module **outline, ls__facts **facts)
{
    uint32_t size = ls__cursor_u32(in);
    const uint8_t *bytes = ls__cursor_bytes(in, size);
    if (!bytes || ls__ir_decode(bytes, size, outline, NULL) != LS_OK)
        return false;
    uint32_t count = ls__module_kernel_count(*outline);
    *facts = ls__mem_alloc(count, sizeof **facts);
    for (uint32_t i = 0; *facts && i < count; i++) {
        ls__facts *f = &(*facts)[i];
        uint32_t *const numbers[] = {&f->lanes, &f->shared_bytes, &f->buffers, &f->scalar_bytes,
                                     &f->local_bytes};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            *numbers[k] = ls__cursor_u32(in);
        f->f64 = ls__cursor_u32(in);
        f->atomics64 = ls__cursor_u32(in);
        f->grid_barrier = ls__cursor_u32(in);
    }
    return *facts && !in->fault;
}

static bool find_warnings(ls__cursor *in, ls__lang_diagnostics *list)
{
    ls__oom oom = {0};
    if (setjmp(oom.jump))
        return false;
    ls__arena_init(&list->arena, &oom, 0);
    uint32_t count = get_count(in);
    for (uint32_t i = 0; i < count && !in->fault; i++) {
        ls__lang_diagnostic d = {.id = get_text(in, &list->arena)};
        d.path = get_text(in, &list->arena);
        d.message = get_text(in, &list->arena);
        d.source_line = get_text(in, &list->arena);
        d.hint = get_text(in, &list->arena);
        d.line = ls__cursor_u32(in);
        d.column = ls__cursor_u32(in);
        d.length = ls__cursor_u32(in);
        d.shown_column = ls__cursor_u32(in);
        d.is_warning = ls__cursor_u32(in);
        ls__vec_push(&list->arena, &list->items, d);
    }
    list->arena.oom = NULL;
    return !in->fault && ls__cursor_left(in) == 0;
}

bool ls__origin_find(ls__origin *origin, ls_module **module, ls__lang_diagnostics *list)
{
    void *bytes;
    size_t size;
    ls__cursor in;
    ls__ir_module *outline = NULL;
    ls__facts *facts = NULL;
    if (!origin->cache.dir || !ls__kept_get(&origin->cache, &origin->base, &bytes, &size))
        return false;
    ls__cursor_init(&in, bytes, size);
    bool good = find_lookups(&in, origin) && find_kernels(&in, &outline, &facts) &&
                find_warnings(&in, list) &&
                ls__module_wrap_found(outline, facts, origin, module, NULL) == LS_OK;
    ls__mem_free(bytes);
    if (good) {
        (*module)->key = key_of(origin);
        (*module)->has_key = true;
        return true;
    }
    ls__ir_module_destroy(&outline);
    ls__mem_free(facts);
    ls__lang_diagnostics_finish(list);
    memset(list, 0, sizeof *list);
    drop_lookups(origin);
    origin->failed = false;
    return false;
}
