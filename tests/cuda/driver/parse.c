/* SPDX-License-Identifier: Apache-2.0 */
/* Directives of PTX text: variables, functions, registers, labels; statements go to decode.c. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "parser.h"

void *ptx_own(ptx_module *module, size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    void **owned = parser_push((void **)&module->owned, &module->owned_count,
                               &module->owned_capacity, sizeof *module->owned);
    if (!memory)
        abort();
    *owned = memory;
    return memory;
}

static void *own_copy(ptx_module *module, const void *items, size_t count, size_t size)
{
    void *copy = ptx_own(module, count, size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

/* Appends to an array of pointers of the module; these are short. */
static void append(ptx_module *module, void ***items, size_t *count, void *item)
{
    void **more = ptx_own(module, *count + 1, sizeof *more);
    if (*count)
        memcpy(more, *items, *count * sizeof *more);
    more[(*count)++] = item;
    *items = more;
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

/* --- variables ----------------------------------------------------------------------------------
 */
static uint64_t parse_align(parser *p)
{
    uint64_t align = parser_integer(p);
    if (align == 0 || align > 4096 || (align & (align - 1)) != 0)
        parser_fail(p, "%llu is no alignment", (unsigned long long)align);
    return align;
}

static void initial_value(parser *p, variable *v, unsigned element, uint64_t *at)
{
    if (parser_accept(p, "{")) {
        while (!token_is(&p->t, "}")) {
            initial_value(p, v, element, at);
            if (!parser_accept(p, ","))
                break;
        }
        parser_expect(p, "}");
        return;
    }
    if (*at + element > v->size)
        parser_fail(p, "%s has more initial values than elements", v->name);
    if (p->t.kind == TOKEN_WORD && !token_is(&p->t, "WARP_SZ")) {
        fixup *more = ptx_own(p->module, v->fixup_count + 1, sizeof *more);
        if (v->fixup_count)
            memcpy(more, v->fixups, v->fixup_count * sizeof *more);
        v->fixups = more;
        fixup *f = &more[v->fixup_count++];
        f->offset = *at;
        f->size = element;
        f->generic = parser_accept(p, "generic");
        if (f->generic)
            parser_expect(p, "(");
        f->name = parser_name(p);
        if (f->generic)
            parser_expect(p, ")");
        if (parser_accept(p, "+"))
            f->addend = (int64_t)parser_integer(p);
        const symbol *s = parser_find(p, f->name, strlen(f->name));
        if (!s || s->kind != SYMBOL_VARIABLE)
            parser_fail(p, "%s is no variable with an address", f->name);
        f->variable = s->variable;
    } else {
        uint64_t bits = number_value(parser_number(p), element, element == 8);
        memcpy(v->bytes + *at, &bits, element);
    }
    *at += element;
}

/* [.align N] [.ptr ...] .type name [dimensions] [= initial value] */
variable *parser_variable(parser *p, space where)
{
    variable *v = ptx_own(p->module, 1, sizeof *v);
    v->space = where;
    unsigned element = 0, vector = 1;
    while (p->t.kind == TOKEN_WORD && p->t.text[0] == '.') {
        if (parser_accept(p, ".align")) {
            v->align = parse_align(p);
        } else if (parser_accept(p, ".ptr")) {
            for (const char *const *name =
                     (const char *const[]){".global", ".const", ".shared", ".local", NULL};
                 *name; name++)
                parser_accept(p, *name);
            if (parser_accept(p, ".align"))
                parse_align(p);
        } else if (token_is(&p->t, ".v2") || token_is(&p->t, ".v4")) {
            vector = (unsigned)(p->t.text[2] - '0');
            parser_next(p);
        } else {
            type_kind type = type_named(p->t.text + 1, p->t.length - 1);
            if (type == TYPE_NONE || type == TYPE_PRED || element)
                parser_fail(p, "'%.*s' is not understood here", (int)p->t.length, p->t.text);
            element = type_size(type);
            parser_next(p);
        }
    }
    if (!element)
        parser_fail(p, "a variable without a type");
    if (!v->align)
        v->align = element * vector;
    v->name = parser_name(p);
    v->size = element * vector;
    bool open = false;
    while (parser_accept(p, "[")) {
        uint64_t count = token_is(&p->t, "]") ? 0 : parser_integer(p);
        open |= count == 0;
        if (count > UINT32_MAX || v->size * count > UINT32_MAX)
            parser_fail(p, "%s is too large", v->name);
        v->size *= count;
        parser_expect(p, "]");
    }
    parser_define(p, v->name, SYMBOL_VARIABLE)->variable = v;
    if (parser_accept(p, "=")) {
        if (where != SPACE_GLOBAL && where != SPACE_CONST)
            parser_fail(p, "%s cannot have an initial value", v->name);
        if (open)
            parser_fail(p, "%s has a value but no size", v->name);
        v->bytes = ptx_own(p->module, v->size, 1);
        uint64_t at = 0;
        initial_value(p, v, element, &at);
    }
    return v;
}

static void module_variable(parser *p, space where, bool external)
{
    variable *v = parser_variable(p, where);
    v->external = external;
    uint64_t *bytes = where == SPACE_GLOBAL  ? &p->module->global_bytes
                      : where == SPACE_CONST ? &p->module->const_bytes
                                             : NULL;
    if (external && bytes)
        parser_fail(p, "%s is defined in another module; there is only one", v->name);
    if (bytes) {
        v->offset = align_up(*bytes, v->align);
        *bytes = v->offset + v->size;
    }
    append(p->module, (void ***)&p->module->variables, &p->module->variable_count, v);
    parser_expect(p, ";");
}

/* --- functions ----------------------------------------------------------------------------------
 */
static void parameter_list(parser *p, variable ***list, size_t *count, bool entry)
{
    parser_expect(p, "(");
    while (!token_is(&p->t, ")")) {
        if (parser_accept(p, ".reg"))
            parser_fail(p, "parameters in registers are not emulated");
        parser_expect(p, ".param");
        append(p->module, (void ***)list, count,
               parser_variable(p, entry ? SPACE_PARAM : SPACE_FRAME));
        if (!parser_accept(p, ","))
            break;
    }
    parser_expect(p, ")");
}

static void lay_out(variable **list, size_t count, uint64_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        list[i]->offset = align_up(*bytes, list[i]->align);
        *bytes = list[i]->offset + list[i]->size;
    }
}

static void performance_directives(parser *p, function *f)
{
    for (;;) {
        bool most = token_is(&p->t, ".maxntid"), exact = token_is(&p->t, ".reqntid");
        if (most || exact) {
            uint64_t size[3] = {1, 1, 1};
            for (int i = 0; i < 3 && (i == 0 || token_is(&p->t, ",")); i++) {
                parser_next(p);
                size[i] = parser_integer(p);
            }
            if (size[0] > 1024 || size[1] > 1024 || size[2] > 1024)
                parser_fail(p, "more threads than a block has");
            f->max_threads = (uint32_t)(size[0] * size[1] * size[2]);
            for (int i = 0; exact && i < 3; i++)
                f->required[i] = (uint32_t)size[i];
        } else if (parser_accept(p, ".minnctapersm") || parser_accept(p, ".maxnreg")) {
            parser_integer(p);
        } else if (!parser_accept(p, ".noreturn")) {
            return;
        }
    }
}

static void declare_registers(parser *p)
{
    type_kind type = type_named(p->t.text + 1, p->t.length - 1);
    if (type == TYPE_NONE)
        parser_fail(p, "registers of '%.*s' are not emulated", (int)p->t.length, p->t.text);
    unsigned width = register_class(type);
    parser_next(p);
    do {
        char *name = parser_name(p);
        uint64_t count = 1;
        bool range = parser_accept(p, "<");
        if (range) {
            count = parser_integer(p);
            parser_expect(p, ">");
        }
        if (count > 4000000)
            parser_fail(p, "too many registers");
        for (uint64_t i = 0; i < count; i++) {
            char text[128];
            int length = snprintf(text, sizeof text, "%s%llu", name, (unsigned long long)i);
            char *full = range ? own_copy(p->module, text, (size_t)length + 1, 1) : name;
            symbol *s = parser_define(p, full, SYMBOL_REGISTER);
            s->place = (operand){p->function->register_bytes, BASE_REGISTERS, (uint8_t)width, 0};
            p->function->register_bytes += width == 1 ? 8 : width * LANES;
            p->function->register_count += width == 8 ? 2 : width != 1;
        }
    } while (parser_accept(p, ","));
    parser_expect(p, ";");
}

static void skip_line(parser *p)
{
    uint32_t line = p->t.line;
    while (p->t.kind != TOKEN_END && p->t.line == line)
        parser_next(p);
}

static bool at_label(parser *p)
{
    const char *c = p->cursor;
    while (c < p->end && (*c == ' ' || *c == '\t'))
        c++;
    return p->t.kind == TOKEN_WORD && c < p->end && *c == ':';
}

/* name: .branchtargets a, b; */
static void branch_targets(parser *p, const char *name)
{
    branch_table *table = PUSH(p, tables, table_count, table_capacity);
    table->name = name;
    do {
        parser_next(p);
        const char **more = ptx_own(p->module, table->count + 1, sizeof *more);
        if (table->count)
            memcpy(more, table->labels, table->count * sizeof *more);
        more[table->count++] = parser_name(p);
        table->labels = more;
    } while (token_is(&p->t, ","));
    parser_expect(p, ";");
}

static void define_label(parser *p)
{
    uint32_t line = p->t.line;
    char *name = parser_name(p);
    parser_expect(p, ":");
    if (token_is(&p->t, ".branchtargets")) {
        branch_targets(p, name);
        return;
    }
    label *l = PUSH(p, labels, label_count, label_capacity);
    *l = (label){name, (uint32_t)p->code_count, line};
}

static void block(parser *p);

static void body_statement(parser *p)
{
    if (token_is(&p->t, "{")) {
        block(p);
    } else if (parser_accept(p, ".reg")) {
        declare_registers(p);
    } else if (parser_accept(p, ".pragma")) {
        while (!token_is(&p->t, ";") && p->t.kind != TOKEN_END)
            parser_next(p);
        parser_expect(p, ";");
    } else if (token_is(&p->t, ".loc") || token_is(&p->t, ".file")) {
        skip_line(p);
    } else if (token_is(&p->t, ".local") || token_is(&p->t, ".shared") ||
               token_is(&p->t, ".param")) {
        space where = token_is(&p->t, ".local")    ? SPACE_LOCAL
                      : token_is(&p->t, ".shared") ? SPACE_SHARED
                                                   : SPACE_FRAME;
        parser_next(p);
        variable *v = parser_variable(p, where);
        *(variable **)PUSH(p, locals, local_count, local_capacity) = v;
        if (where != SPACE_SHARED)
            lay_out(&v, 1, &p->function->frame_bytes);
        parser_expect(p, ";");
    } else if (token_is(&p->t, ".global") || token_is(&p->t, ".const")) {
        space where = token_is(&p->t, ".global") ? SPACE_GLOBAL : SPACE_CONST;
        parser_next(p);
        module_variable(p, where, false);
    } else if (at_label(p)) {
        define_label(p);
    } else if (!parser_accept(p, ";")) {
        parser_instruction(p);
    }
}

static void block(parser *p)
{
    size_t mark = p->symbol_count;
    parser_expect(p, "{");
    while (!token_is(&p->t, "}")) {
        if (p->t.kind == TOKEN_END)
            parser_fail(p, "the text ends within a function");
        body_statement(p);
    }
    parser_next(p);
    parser_forget(p, mark);
}

static int compare_labels(const void *a, const void *b)
{
    return strcmp(((const label *)a)->name, ((const label *)b)->name);
}

static void fail_label(parser *p, const label *l, const char *what)
{
    p->t.line = l->line;
    parser_fail(p, "the label %s %s", l->name, what);
}

/* Uses of labels: an instruction's target; those of a table stand in its order. */
static void resolve_labels(parser *p)
{
    if (p->label_count)
        qsort(p->labels, p->label_count, sizeof *p->labels, compare_labels);
    for (size_t i = 1; i < p->label_count; i++)
        if (strcmp(p->labels[i - 1].name, p->labels[i].name) == 0)
            fail_label(p, &p->labels[i], "stands twice");
    for (size_t i = 0; i < p->use_count; i++) {
        const label *use = &p->uses[i], *found = NULL;
        if (p->label_count)
            found = bsearch(use, p->labels, p->label_count, sizeof *p->labels, compare_labels);
        if (!found)
            fail_label(p, use, "is not there");
        uint32_t target = found->index;
        instruction *in = &p->code[use->index];
        if (in->flow == FLOW_TABLE)
            in->targets[in->immediate++] = target;
        else
            in->target = target;
    }
}

static void finish_function(parser *p, function *f)
{
    /* What runs off the end returns. */
    instruction *last = PUSH(p, code, code_count, code_capacity);
    last->flow = f->entry ? FLOW_EXIT : FLOW_RETURN;
    last->line = p->t.line;
    resolve_labels(p);
    ptx_module *m = p->module;
    f->code = own_copy(m, p->code, p->code_count, sizeof *p->code);
    f->code_count = p->code_count;
    f->constants = own_copy(m, p->constants, p->constant_count, sizeof *p->constants);
    f->constant_count = p->constant_count;
    f->relocations = own_copy(m, p->relocations, p->relocation_count, sizeof *p->relocations);
    f->relocation_count = p->relocation_count;
    f->locals = own_copy(m, p->locals, p->local_count, sizeof *p->locals);
    f->local_count = p->local_count;
    p->code_count = p->constant_count = p->relocation_count = p->local_count = 0;
    p->label_count = p->use_count = p->table_count = 0;
    f->defined = true;
}

static void parse_function(parser *p, bool entry)
{
    variable **parameters = NULL, **results = NULL;
    size_t parameter_count = 0, result_count = 0, mark = p->symbol_count;
    performance_directives(p, &(function){0});
    if (!entry && token_is(&p->t, "("))
        parameter_list(p, &results, &result_count, false);
    char *name = parser_name(p);
    parser_forget(p, mark);
    symbol *s = parser_find(p, name, strlen(name));
    if (s && (s->kind != SYMBOL_FUNCTION || s->function->defined))
        parser_fail(p, "%s is defined twice", name);
    function *f = s ? s->function : ptx_own(p->module, 1, sizeof *f);
    if (!s) {
        f->name = name;
        f->entry = entry;
        parser_define(p, name, SYMBOL_FUNCTION)->function = f;
        append(p->module, (void ***)&p->module->functions, &p->module->function_count, f);
    }
    mark = p->symbol_count;
    for (size_t i = 0; i < result_count; i++)
        parser_define(p, results[i]->name, SYMBOL_VARIABLE)->variable = results[i];
    if (token_is(&p->t, "("))
        parameter_list(p, &parameters, &parameter_count, entry);
    f->parameters = parameters;
    f->parameter_count = parameter_count;
    f->results = results;
    f->result_count = result_count;
    f->parameter_bytes = f->frame_bytes = 0;
    lay_out(parameters, parameter_count, entry ? &f->parameter_bytes : &f->frame_bytes);
    lay_out(results, result_count, &f->frame_bytes);
    performance_directives(p, f);
    if (!parser_accept(p, ";")) {
        p->function = f;
        block(p);
        finish_function(p, f);
        p->function = NULL;
    }
    parser_forget(p, mark);
}

/* --- modules ------------------------------------------------------------------------------------
 */
static void header(parser *p)
{
    parser_expect(p, ".version");
    unsigned major = 0, minor = 0;
    if (sscanf(p->t.text, "%u.%u", &major, &minor) != 2 || major > 9 || minor > 9)
        parser_fail(p, "'%.*s' is no version of PTX", (int)p->t.length, p->t.text);
    p->module->version = major * 10 + minor;
    parser_next(p);
    parser_expect(p, ".target");
    if (p->t.length < 5 || memcmp(p->t.text, "sm_", 3) != 0)
        parser_fail(p, "'%.*s' is no target", (int)p->t.length, p->t.text);
    p->module->target = (uint32_t)strtoul(p->t.text + 3, NULL, 10);
    parser_next(p);
    while (parser_accept(p, ","))
        parser_next(p);
    parser_expect(p, ".address_size");
    if (parser_integer(p) != 64)
        parser_fail(p, "addresses have 64 bits");
}

/* What debuggers read: a name and a block. */
static void skip_section(parser *p)
{
    while (p->t.kind != TOKEN_END && !token_is(&p->t, "}"))
        parser_next(p);
    parser_expect(p, "}");
}

static void top_statement(parser *p)
{
    bool external = false;
    for (;;) {
        if (parser_accept(p, ".extern"))
            external = true;
        else if (!parser_accept(p, ".visible") && !parser_accept(p, ".weak") &&
                 !parser_accept(p, ".common"))
            break;
    }
    if (parser_accept(p, ".entry"))
        parse_function(p, true);
    else if (parser_accept(p, ".func"))
        parse_function(p, false);
    else if (parser_accept(p, ".global"))
        module_variable(p, SPACE_GLOBAL, external);
    else if (parser_accept(p, ".const"))
        module_variable(p, SPACE_CONST, external);
    else if (parser_accept(p, ".shared"))
        module_variable(p, SPACE_SHARED, external);
    else if (token_is(&p->t, ".file") || token_is(&p->t, ".loc"))
        skip_line(p);
    else if (parser_accept(p, ".pragma"))
        skip_line(p);
    else if (parser_accept(p, ".section"))
        skip_section(p);
    else
        parser_fail(p, "'%.*s' is not understood", (int)p->t.length, p->t.text);
}

static bool parse_module(parser *p)
{
    if (setjmp(p->out))
        return false;
    parser_next(p);
    header(p);
    while (p->t.kind != TOKEN_END)
        top_statement(p);
    if (p->cursor < p->end && *p->cursor != 0)
        parser_fail(p, "text behind the end");
    return true;
}

ptx_module *ptx_module_create(const char *text, size_t size, char *message, size_t message_size)
{
    parser *p = calloc(1, sizeof *p);
    ptx_module *module = calloc(1, sizeof *module);
    if (!p || !module)
        abort();
    p->module = module;
    p->cursor = text;
    p->end = text + size;
    p->line = 1;
    p->message = message;
    p->message_size = message_size;
    bool good = parse_module(p);
    if (!good)
        ptx_module_destroy(module);
    free(p->symbols);
    free(p->code);
    free(p->constants);
    free(p->relocations);
    free(p->labels);
    free(p->uses);
    free(p->locals);
    free(p->tables);
    free(p);
    return good ? module : NULL;
}

void ptx_module_destroy(ptx_module *module)
{
    if (!module)
        return;
    for (size_t i = 0; i < module->owned_count; i++)
        free(module->owned[i]);
    free(module->owned);
    free(module);
}

const variable *ptx_module_variable(const ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i]->name, name) == 0)
            return module->variables[i];
    return NULL;
}

bool ptx_module_fill(ptx_module *module, unsigned char *global, unsigned char *constants)
{
    for (size_t i = 0; i < module->variable_count; i++) {
        const variable *v = module->variables[i];
        if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
            continue;
        unsigned char *to = (v->space == SPACE_GLOBAL ? global : constants) + v->offset;
        if (v->size)
            memset(to, 0, v->size);
        if (v->bytes)
            memcpy(to, v->bytes, v->size);
        for (size_t k = 0; k < v->fixup_count; k++) {
            const fixup *f = &v->fixups[k];
            uint64_t address = f->variable->offset + (uint64_t)f->addend;
            if (f->variable->space == SPACE_GLOBAL)
                address += module->global_start;
            else if (f->variable->space == SPACE_CONST)
                address += f->generic ? module->const_start : FIRST_ADDRESS;
            else
                return false;
            memcpy(to + f->offset, &address, f->size);
        }
    }
    return true;
}
