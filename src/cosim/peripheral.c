/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the peripherals of a configuration to one Kernel C text: declarations that a source needs,
 * the sources by #include (so that messages name the user's own file and line), and a function a
 * peripheral that carries values between the engine's buffers and the source's structs. Parameters
 * and pins that are not connected are constants of the text, so code for what is not used goes
 * away.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"
#include "cosim/peripheral.h"
#include "cosim/peripheral_types.h"

const char ls__peripherals_path[] = "<peripherals>";

/* In front of the name of a built-in source in an #include. */
static const char built_in[] = "<built-in>/";

enum {
    MAX_PINS = 1024,      /* of a type; the same for parameters */
    MAX_SOURCE = 1 << 24, /* bytes of a source file */
    MAX_MEMORY = 1 << 28, /* words */
};

/* Names of one struct, in order, each once. */
typedef LS__VEC(const char *) name_list;

typedef struct source {
    const char *type, *path; /* path NULL: built in */
    const ls__peripheral_type *built_in;
    name_list pins, parameters;
} source;

typedef struct holder {
    ls__peripherals result; /* first: what is handed out */
    ls__arena arena;
    ls__oom oom;
    const ls_peripheral *given;
    uint32_t count;
    LS__VEC(source) sources;
    uint32_t *source_of; /* of each peripheral */
    ls__strbuf text;
} holder;

/* --- checking --------------------------------------------------------------------------------- */

static bool is_identifier(const char *name)
{
    if (!name || !*name || strlen(name) > 64 || (*name >= '0' && *name <= '9'))
        return false;
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_'))
            return false;
    return true;
}

static const ls__peripheral_type *find_type(const char *name)
{
    for (uint32_t i = 0; i < ls__peripheral_type_count; i++)
        if (strcmp(ls__peripheral_types[i].name, name) == 0)
            return &ls__peripheral_types[i];
    return NULL;
}

static const ls__type_pin *find_type_pin(const ls__peripheral_type *type, const char *name)
{
    for (uint32_t i = 0; type && i < type->pin_count; i++)
        if (strcmp(type->pins[i].name, name) == 0)
            return &type->pins[i];
    return NULL;
}

static const ls__type_parameter *find_type_parameter(const ls__peripheral_type *type,
                                                     const char *name)
{
    for (uint32_t i = 0; type && i < type->parameter_count; i++)
        if (strcmp(type->parameters[i].name, name) == 0)
            return &type->parameters[i];
    return NULL;
}

/* "spi_flash has the pins clk, csn, ...": the hint where a name is not one of a built-in type. */
static ls_status fail_member(const char *peripheral, const ls__peripheral_type *type,
                             const char *what, const char *name, ls_error *error)
{
    bool pin = strcmp(what, "pin") == 0;
    ls__strbuf list = {0};
    for (uint32_t i = 0; i < (pin ? type->pin_count : type->parameter_count); i++)
        ls__strbuf_printf(&list, "%s%s", i ? ", " : "",
                          pin ? type->pins[i].name : type->parameters[i].name);
    ls__fail(error, LS_E_NOT_FOUND, "peripheral '%s': the type %s has no %s '%s'", peripheral,
             type->name, what, name);
    ls__fail_hint(error, LS_E_NOT_FOUND, "%s has: %s", type->name, list.text ? list.text : "none");
    ls__strbuf_finish(&list);
    return LS_E_NOT_FOUND;
}

static ls_status fail_type(const ls_peripheral *given, ls_error *error)
{
    ls__strbuf list = {0};
    for (uint32_t i = 0; i < ls__peripheral_type_count; i++)
        ls__strbuf_printf(&list, "%s%s", i ? ", " : "", ls__peripheral_types[i].name);
    ls__fail(error, LS_E_NOT_FOUND, "peripheral '%s': there is no built-in type '%s'", given->name,
             given->type);
    ls__fail_hint(error, LS_E_NOT_FOUND, "name its source file, or one of: %s",
                  list.text ? list.text : "");
    ls__strbuf_finish(&list);
    return LS_E_NOT_FOUND;
}

#define FAIL(...) return ls__fail(error, LS_E_INVALID_ARGUMENT, __VA_ARGS__)

static ls_status check_pins(const ls_peripheral *given, const ls__peripheral_type *type,
                            ls_error *error)
{
    const char *name = given->name;
    if (given->pin_count > MAX_PINS || given->parameter_count > MAX_PINS)
        FAIL("peripheral '%s': more than %d pins or parameters", name, MAX_PINS);
    for (uint32_t i = 0; i < given->pin_count; i++) {
        const ls_pin *pin = &given->pins[i];
        if (!is_identifier(pin->name))
            FAIL("peripheral '%s': the name of pin %" PRIu32 " is no C identifier", name, i);
        const ls__type_pin *known = find_type_pin(type, pin->name);
        if (type && !known)
            return fail_member(name, type, "pin", pin->name, error);
        if (pin->signal.width > 64)
            FAIL("peripheral '%s': pin '%s' has %" PRIu32 " bits, more than 64", name, pin->name,
                 pin->signal.width);
        if (known && known->drives != pin->drives)
            FAIL("peripheral '%s': pin '%s' of the type %s is driven by the %s", name, pin->name,
                 type->name, known->drives ? "peripheral" : "design");
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(given->pins[j].name, pin->name) == 0)
                FAIL("peripheral '%s': pin '%s' is given twice", name, pin->name);
    }
    for (uint32_t i = 0; i < given->parameter_count; i++) {
        const char *parameter = given->parameters[i].name;
        if (!is_identifier(parameter))
            FAIL("peripheral '%s': the name of parameter %" PRIu32 " is no C identifier", name, i);
        if (type && !find_type_parameter(type, parameter))
            return fail_member(name, type, "parameter", parameter, error);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(given->parameters[j].name, parameter) == 0)
                FAIL("peripheral '%s': parameter '%s' is given twice", name, parameter);
    }
    return LS_OK;
}

static ls_status check_one(const holder *h, uint32_t index, ls_error *error)
{
    const ls_peripheral *given = &h->given[index];
    if (!is_identifier(given->name) || !is_identifier(given->type))
        FAIL("peripheral %" PRIu32 ": its name and type must be C identifiers", index);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(h->given[i].name, given->name) == 0)
            FAIL("two peripherals have the name '%s'", given->name);
    if (given->path && strpbrk(given->path, "\"\n\r"))
        FAIL("peripheral '%s': the path of its source has a quote or line end in it", given->name);
    if (given->memory_words > MAX_MEMORY)
        FAIL("peripheral '%s': more than %d words of memory", given->name, MAX_MEMORY);
    if (given->image_bytes && !given->image)
        FAIL("peripheral '%s': image is NULL", given->name);
    const ls__peripheral_type *type = given->path ? NULL : find_type(given->type);
    if (!given->path && !type)
        return fail_type(given, error);
    return check_pins(given, type, error);
}

/* --- what the types are made of --------------------------------------------------------------- */

static void add_name(holder *h, name_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return;
    ls__vec_push(&h->arena, list, ls__arena_strdup(&h->arena, name, strlen(name)));
}

/* The source of a peripheral; the struct of a type has the members of all that use it. */
static ls_status add_source(holder *h, uint32_t index, ls_error *error)
{
    const ls_peripheral *given = &h->given[index];
    uint32_t at = 0;
    while (at < h->sources.count && strcmp(h->sources.items[at].type, given->type) != 0)
        at++;
    if (at == h->sources.count) {
        source made = {
            ls__arena_strdup(&h->arena, given->type, strlen(given->type)), NULL, NULL, {0}, {0}};
        if (given->path)
            made.path = ls__arena_strdup(&h->arena, given->path, strlen(given->path));
        else
            made.built_in = find_type(given->type);
        ls__vec_push(&h->arena, &h->sources, made);
    }
    source *s = &h->sources.items[at];
    if (!s->path != !given->path || (s->path && strcmp(s->path, given->path) != 0))
        FAIL("peripheral '%s': the type %s has another source, '%s'", given->name, given->type,
             s->path ? s->path : "built in");
    h->source_of[index] = at;
    for (uint32_t i = 0; s->built_in && i < s->built_in->pin_count; i++)
        add_name(h, &s->pins, s->built_in->pins[i].name);
    for (uint32_t i = 0; s->built_in && i < s->built_in->parameter_count; i++)
        add_name(h, &s->parameters, s->built_in->parameters[i].name);
    for (uint32_t i = 0; i < given->pin_count; i++)
        add_name(h, &s->pins, given->pins[i].name);
    for (uint32_t i = 0; i < given->parameter_count; i++)
        add_name(h, &s->parameters, given->parameters[i].name);
    return LS_OK;
}

static uint64_t parameter_value(const ls_peripheral *given, const ls__peripheral_type *type,
                                const char *name)
{
    for (uint32_t i = 0; i < given->parameter_count; i++)
        if (strcmp(given->parameters[i].name, name) == 0)
            return given->parameters[i].value;
    const ls__type_parameter *known = find_type_parameter(type, name);
    return known ? known->value : 0;
}

/* Memory and image of a peripheral, and the checks of its type. */
static ls_status add_storage(holder *h, uint32_t index, ls__peripheral *item, ls_error *error)
{
    const ls_peripheral *given = &h->given[index];
    const ls__peripheral_type *type = h->sources.items[h->source_of[index]].built_in;
    uint64_t words = given->memory_words;
    if (type) {
        uint64_t *values = LS__NEW_ARRAY(&h->arena, uint64_t, type->parameter_count + 1);
        for (uint32_t i = 0; i < type->parameter_count; i++)
            values[i] = parameter_value(given, type, type->parameters[i].name);
        const char *wrong = type->check ? type->check(values) : NULL;
        if (wrong)
            FAIL("peripheral '%s' (%s): %s", given->name, type->name, wrong);
        uint64_t needed = type->memory_words(values);
        words = needed > words ? needed : words;
        if (words > MAX_MEMORY)
            FAIL("peripheral '%s' (%s): needs more than %d words of memory", given->name,
                 type->name, MAX_MEMORY);
    }
    item->memory_words = (uint32_t)words;
    if (given->memory_init && given->memory_words) {
        uint32_t *init = LS__NEW_ARRAY(&h->arena, uint32_t, words);
        memcpy(init, given->memory_init, given->memory_words * sizeof *init);
        item->memory_init = init;
    }
    item->image_at = h->result.image_bytes;
    item->image_bytes = given->image_bytes;
    h->result.image_bytes += (given->image_bytes + 15) / 16 * 16;
    return LS_OK;
}

static void add_pins(holder *h, uint32_t index, ls__peripheral *item)
{
    const ls_peripheral *given = &h->given[index];
    const ls__peripheral_type *type = h->sources.items[h->source_of[index]].built_in;
    ls__peripheral_pin *pins = LS__NEW_ARRAY(&h->arena, ls__peripheral_pin, given->pin_count + 1);
    for (uint32_t i = 0; i < given->pin_count; i++) {
        const ls_pin *pin = &given->pins[i];
        if (pin->signal.width == 0)
            continue;
        const ls__type_pin *known = find_type_pin(type, pin->name);
        uint64_t initial = !known             ? pin->constant
                           : known->parameter ? parameter_value(given, type, known->parameter)
                                              : known->value;
        uint64_t mask =
            pin->signal.width == 64 ? UINT64_MAX : (UINT64_C(1) << pin->signal.width) - 1;
        pins[item->pin_count++] =
            (ls__peripheral_pin){ls__arena_strdup(&h->arena, pin->name, strlen(pin->name)),
                                 pin->signal, pin->drives, pin->drives ? initial & mask : 0};
    }
    item->pins = pins;
}

/* --- the text --------------------------------------------------------------------------------- */

static const char prelude[] = "struct step {\n"
                              "    u64 edge;\n"
                              "    u32 instance;\n"
                              "};\n"
                              "static void emit_event(u64 *events, u32 kind, u64 a, u64 b)\n"
                              "{\n"
                              "    u64 count = events[0];\n"
                              "    if (count - events[1] >= 4ul) {\n"
                              "        events[2] += 1ul;\n"
                              "        return;\n"
                              "    }\n"
                              "    u64 at = 4ul + count * 4ul;\n"
                              "    events[at + 1ul] = (u64)kind;\n"
                              "    events[at + 2ul] = a;\n"
                              "    events[at + 3ul] = b;\n"
                              "    events[0] = count + 1ul;\n"
                              "}\n"
                              "static u32 image_byte(const u8 *image, u64 image_bytes, u64 at)\n"
                              "{\n"
                              "    if (at < image_bytes)\n"
                              "        return (u32)image[at];\n"
                              "    return 0u;\n"
                              "}\n"
                              /* Says when and by whom the events of a step were reported. */
                              "static void ls_stamp(u64 *log, u64 edge, u64 peripheral)\n"
                              "{\n"
                              "    for (u64 i = log[1]; i < log[0]; i++) {\n"
                              "        log[4ul + i * 4ul] = edge;\n"
                              "        log[5ul + i * 4ul] |= peripheral << 32;\n"
                              "    }\n"
                              "    log[1] = log[0];\n"
                              "}\n";

static void write_struct(ls__strbuf *out, const char *type, const char *suffix,
                         const name_list *members)
{
    ls__strbuf_printf(out, "struct %s_%s {\n", type, suffix);
    for (uint32_t i = 0; i < members->count; i++)
        ls__strbuf_printf(out, "    u64 %s;\n", members->items[i]);
    if (members->count == 0)
        ls__strbuf_printf(out, "    u64 none;\n");
    ls__strbuf_printf(out, "};\n");
}

static const ls_pin *find_pin(const ls_peripheral *given, const char *name)
{
    for (uint32_t i = 0; i < given->pin_count; i++)
        if (strcmp(given->pins[i].name, name) == 0)
            return &given->pins[i];
    return NULL;
}

/* What a pin that is not connected reads. */
static uint64_t pin_constant(const ls_peripheral *given, const ls__peripheral_type *type,
                             const char *name)
{
    const ls_pin *pin = find_pin(given, name);
    const ls__type_pin *known = find_type_pin(type, name);
    return pin ? pin->constant : known ? known->value : 0;
}

static uint32_t pin_word(const ls__peripheral *item, const char *name)
{
    for (uint32_t i = 0; i < item->pin_count; i++)
        if (strcmp(item->pins[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

static void write_call(holder *h, uint32_t index, const ls__peripheral *item)
{
    ls__strbuf *out = &h->text;
    const ls_peripheral *given = &h->given[index];
    const source *s = &h->sources.items[h->source_of[index]];
    ls__strbuf_printf(out,
                      "static void ls_peripheral_%" PRIu32 "(u64 *pins, u32 *memory,"
                      " const u8 *image, u64 *log,\n    u64 edge, u32 instance)\n{\n"
                      "    struct %s_pins p;\n    struct %s_parameters q;\n",
                      index, s->type, s->type);
    for (uint32_t i = 0; i < s->pins.count; i++) {
        uint32_t word = pin_word(item, s->pins.items[i]);
        if (word != UINT32_MAX)
            ls__strbuf_printf(out, "    p.%s = pins[%" PRIu32 "ul * LS_PIN_STRIDE];\n",
                              s->pins.items[i], word);
        else
            ls__strbuf_printf(out, "    p.%s = %" PRIu64 "ul;\n", s->pins.items[i],
                              pin_constant(given, s->built_in, s->pins.items[i]));
    }
    for (uint32_t i = 0; i < s->parameters.count; i++)
        ls__strbuf_printf(out, "    q.%s = %" PRIu64 "ul;\n", s->parameters.items[i],
                          parameter_value(given, s->built_in, s->parameters.items[i]));
    ls__strbuf_printf(out,
                      "    struct step s;\n    s.edge = edge;\n    s.instance = instance;\n"
                      "    %s_step(&p, &q, &s, ls_bounded(memory, %" PRIu32 "), image + %" PRIu64
                      "ul, %" PRIu64 "ul, log);\n",
                      s->type, item->memory_words, item->image_at, item->image_bytes);
    for (uint32_t i = 0; i < item->pin_count; i++) {
        const ls__peripheral_pin *pin = &item->pins[i];
        if (pin->drives)
            ls__strbuf_printf(
                out, "    pins[%" PRIu32 "ul * LS_PIN_STRIDE] = p.%s & %" PRIu64 "ul;\n", i,
                pin->name,
                pin->signal.width == 64 ? UINT64_MAX : (UINT64_C(1) << pin->signal.width) - 1);
    }
    ls__strbuf_printf(out,
                      "    if (log[0] != log[1])\n"
                      "        ls_stamp(log, edge, %" PRIu32 "ul);\n}\n",
                      index);
}

static void write_text(holder *h)
{
    ls__strbuf_append(&h->text, prelude, sizeof prelude - 1);
    for (uint32_t i = 0; i < h->sources.count; i++) {
        const source *s = &h->sources.items[i];
        write_struct(&h->text, s->type, "pins", &s->pins);
        write_struct(&h->text, s->type, "parameters", &s->parameters);
        if (s->path)
            ls__strbuf_printf(&h->text, "#include \"%s\"\n", s->path);
        else
            ls__strbuf_printf(&h->text, "#include \"%s%s.kc\"\n", built_in, s->type);
    }
    for (uint32_t i = 0; i < h->count; i++)
        write_call(h, i, &h->result.items[i]);
}

/* --- public to the engine --------------------------------------------------------------------- */

static ls_status fill(holder *h, ls_error *error)
{
    ls__peripheral *items = LS__NEW_ARRAY(&h->arena, ls__peripheral, h->count + 1);
    ls_status status = LS_OK;
    h->source_of = LS__NEW_ARRAY(&h->arena, uint32_t, h->count + 1);
    h->result.items = items;
    h->result.count = h->count;
    for (uint32_t i = 0; i < h->count && status == LS_OK; i++) {
        const ls_peripheral *given = &h->given[i];
        status = check_one(h, i, error);
        if (status == LS_OK)
            status = add_source(h, i, error);
        if (status == LS_OK)
            status = add_storage(h, i, &items[i], error);
        if (status != LS_OK)
            break;
        items[i].name = ls__arena_strdup(&h->arena, given->name, strlen(given->name));
        items[i].type = h->sources.items[h->source_of[i]].type;
        add_pins(h, i, &items[i]);
    }
    if (status != LS_OK)
        return status;
    if (h->result.image_bytes) {
        uint8_t *image = ls__arena_alloc(&h->arena, h->result.image_bytes, 1);
        for (uint32_t i = 0; i < h->count; i++)
            if (h->given[i].image_bytes)
                memcpy(image + items[i].image_at, h->given[i].image, h->given[i].image_bytes);
        h->result.image = image;
    }
    write_text(h);
    if (h->text.failed)
        return ls__fail_oom(error, h->text.capacity);
    h->result.text = h->text.text;
    h->result.length = h->text.length;
    return LS_OK;
}

ls_status ls__peripherals_create(const ls_peripheral *peripherals, uint32_t count,
                                 ls__peripherals **out, ls_error *error)
{
    *out = NULL;
    holder *h = ls__mem_alloc(1, sizeof *h);
    if (!h)
        return ls__fail_oom(error, sizeof *h);
    ls__peripherals *result = &h->result;
    h->given = peripherals;
    h->count = count;
    ls__arena_init(&h->arena, &h->oom, 0);
    ls_status status;
    if (setjmp(h->oom.jump))
        status = ls__oom_status(&h->oom, error);
    else
        status = fill(h, error);
    h->given = NULL;
    if (status != LS_OK)
        ls__peripherals_destroy(&result);
    *out = result;
    return status;
}

void ls__peripherals_destroy(ls__peripherals **peripherals)
{
    holder *h = (holder *)*peripherals;
    *peripherals = NULL;
    if (!h)
        return;
    ls__strbuf_finish(&h->text);
    ls__arena_finish(&h->arena);
    ls__mem_free(h);
}

bool ls__peripherals_include(void *context, const char *path, char **text, size_t *length)
{
    (void)context;
    size_t prefix = sizeof built_in - 1;
    const char *bytes = NULL;
    void *owned = NULL;
    *length = 0;
    if (strncmp(path, built_in, prefix) == 0) {
        for (uint32_t i = 0; i < ls__peripheral_sources_count && !bytes; i++)
            if (strcmp(ls__peripheral_sources[i].name, path + prefix) == 0) {
                bytes = ls__peripheral_sources[i].text;
                *length = ls__peripheral_sources[i].length;
            }
    } else if (ls__os_read_file(path, MAX_SOURCE, &owned, length, NULL) == LS_OK) {
        bytes = owned;
    }
    /* The caller frees with free(). */
    *text = bytes ? malloc(*length + 1) : NULL;
    if (*text) {
        memcpy(*text, bytes, *length);
        (*text)[*length] = 0;
    }
    ls__mem_free(owned);
    return *text != NULL;
}
