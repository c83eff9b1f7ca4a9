/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the text form (grammar in docs/ir.md). The reader knows what words mean; whether they make
 * a sound module is left to the verifier, which runs at the end. Value numbers are kept as written,
 * so printing gives the same text again.
 *
 * After a fault the lexer yields only END, so loops end by themselves and errors are looked at
 * once, at the end.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "ir/lex.h"
#include "ir/limits.h"
#include "ir/text.h"

typedef struct pending_call { /* a callee may be defined further down */
    ls__ir_inst *inst;
    const char *name;
    ls__ir_token where;
} pending_call;

typedef struct reader {
    ls__ir_lexer lexer;
    ls__ir_module *module;
    ls__ir_function *function;
    ls__arena *arena; /* the module's */
    LS__VEC(pending_call) calls;
} reader;

static ls__ir_lexer *lex(reader *r)
{
    return &r->lexer;
}

/* --- words from tables ------------------------------------------------------------------------ */

typedef const char *name_of(uint64_t index);

static uint64_t read_word_of(reader *r, name_of *name, uint64_t count, const char *what)
{
    for (uint64_t i = 0; i < count; i++) {
        if (ls__ir_lex_accept_word(lex(r), name(i)))
            return i;
    }
    ls__ir_lex_expected(lex(r), what);
    return 0;
}

static const char *mem_name(uint64_t index)
{
    return ls__ir_mem_name((ls_mem)index);
}

static const char *type_name(uint64_t index)
{
    return ls__ir_type_name((ls_type)index);
}

static const char *base_name(uint64_t index)
{
    return ls__ir_base_name((ls_base_kind)index);
}

static ls_mem read_mem(reader *r)
{
    return (ls_mem)read_word_of(r, mem_name, LS_MEM_COUNT, "a memory type");
}

static ls_type read_type(reader *r)
{
    return (ls_type)read_word_of(r, type_name, LS_TYPE_COUNT, "a type");
}

static ls_base read_base(reader *r)
{
    ls_base base;
    base.kind = (ls_base_kind)read_word_of(r, base_name, LS_BASE_CONST + 1, "a base");
    base.index = (uint32_t)ls__ir_lex_u64(lex(r), UINT32_MAX);
    return base;
}

/* v7 */
static uint32_t read_var(reader *r)
{
    ls__str text = lex(r)->token.text;
    uint64_t id;
    if (lex(r)->token.kind != LS__IR_TOKEN_WORD || text.length < 2 || text.text[0] != 'v' ||
        text.text[1] == '0' || !ls__ir_number_u64((ls__str){text.text + 1, text.length - 1}, &id) ||
        id > UINT32_MAX) {
        ls__ir_lex_expected(lex(r), "a variable");
        return 0;
    }
    ls__ir_lex_next(lex(r));
    return (uint32_t)id;
}

static ls__ir_loc read_loc(reader *r)
{
    ls__ir_loc loc = {0};
    if (!ls__ir_lex_accept(lex(r), '!'))
        return loc;
    loc.line = (uint32_t)ls__ir_lex_u64(lex(r), UINT32_MAX);
    ls__ir_lex_want(lex(r), ':');
    loc.column = (uint16_t)ls__ir_lex_u64(lex(r), UINT16_MAX);
    if (ls__ir_lex_accept(lex(r), ':'))
        loc.file = (uint16_t)ls__ir_lex_u64(lex(r), UINT16_MAX);
    return loc;
}

static uint32_t read_u32_after(reader *r, const char *word)
{
    ls__ir_lex_want_word(lex(r), word);
    return (uint32_t)ls__ir_lex_u64(lex(r), UINT32_MAX);
}

/* --- operands of instructions ----------------------------------------------------------------- */

typedef LS__VEC(ls_value) value_list;

static void read_values(reader *r, value_list *list)
{
    if (lex(r)->token.kind != LS__IR_TOKEN_VALUE)
        return;
    do
        ls__vec_push(r->arena, list, ls__ir_lex_value(lex(r)));
    while (ls__ir_lex_accept(lex(r), ','));
}

static void read_memory_access(reader *r, ls__ir_inst *inst, value_list *args)
{
    inst->mem = (uint8_t)read_mem(r);
    inst->base = read_base(r);
    ls__ir_lex_want(lex(r), '[');
    ls__vec_push(r->arena, args, ls__ir_lex_value(lex(r)));
    ls__ir_lex_want(lex(r), ']');
    if (ls__ir_lex_accept(lex(r), ','))
        read_values(r, args);
}

static void read_call(reader *r, ls__ir_inst *inst, value_list *args)
{
    LS__VEC(ls_base) bases = {0};
    LS__VEC(ls_var) results = {0};
    ls__ir_lex_want(lex(r), '@');
    pending_call call = {.inst = inst, .where = lex(r)->token};
    call.name = ls__ir_lex_name(lex(r), r->arena);
    ls__vec_push(r->arena, &r->calls, call);
    ls__ir_lex_want(lex(r), '(');
    read_values(r, args);
    ls__ir_lex_want(lex(r), ')');
    ls__ir_lex_want(lex(r), '[');
    if (!ls__ir_lex_is(lex(r), ']')) {
        do
            ls__vec_push(r->arena, &bases, read_base(r));
        while (ls__ir_lex_accept(lex(r), ','));
    }
    ls__ir_lex_want(lex(r), ']');
    if (lex(r)->token.kind == LS__IR_TOKEN_ARROW) {
        do {
            ls__ir_lex_next(lex(r));
            ls__vec_push(r->arena, &results, (ls_var){read_var(r)});
        } while (ls__ir_lex_is(lex(r), ','));
    }
    inst->bases = bases.items;
    inst->base_count = bases.count;
    inst->results = results.items;
    inst->result_count = results.count;
}

/* The bits that a literal means in a type, once the type is known. */
static void set_const(reader *r, ls__ir_inst *inst, ls__ir_token literal)
{
    uint64_t bits = 0;
    int64_t number, fraction_scale = 1000000;
    bool good = false;
    ls__str text = literal.text;
    const char *point = memchr(text.text, '.', text.length);
    if (inst->type == LS_TYPE_BOOL) {
        good = ls__str_is(text, "true") || ls__str_is(text, "false");
        bits = ls__str_is(text, "true");
    } else if (literal.kind != LS__IR_TOKEN_NUMBER) {
        good = false;
    } else if (inst->type == LS_TYPE_I32 || inst->type == LS_TYPE_I64) {
        bool is_32 = inst->type == LS_TYPE_I32;
        good = ls__ir_number_i64(text, &number) &&
               (!is_32 || (number >= INT32_MIN && number <= INT32_MAX));
        bits = is_32 ? (uint32_t)number : (uint64_t)number;
    } else if (!point) { /* the bits of a float */
        good = text.length > 2 && text.text[1] == 'x' && ls__ir_number_u64(text, &bits) &&
               (inst->type == LS_TYPE_F64 || bits <= UINT32_MAX);
    } else {
        /* Digits without the point are a whole number; scaled up to millionths. */
        char digits[32];
        size_t before = (size_t)(point - text.text), after = text.length - before - 1;
        if (text.length < sizeof digits && after >= 1 && after <= 6) {
            memcpy(digits, text.text, before);
            memcpy(digits + before, point + 1, after);
            for (size_t i = 0; i < after; i++)
                fraction_scale /= 10;
            good = ls__ir_number_i64((ls__str){digits, before + after}, &number) &&
                   !__builtin_mul_overflow(number, fraction_scale, &number) &&
                   ls__ir_text_from_millionths((ls_type)inst->type, number, &bits);
        }
    }
    if (!good) {
        lex(r)->token = literal;
        ls__ir_lex_fail(lex(r), "'%.*s' is not exactly a value of type %s",
                        text.length < 40 ? (int)text.length : 40, text.text,
                        ls__ir_type_name((ls_type)inst->type));
    }
    inst->imm = bits;
}

/* What stands between the opcode and the type. A literal is kept for set_const. */
static void read_operands(reader *r, ls__ir_inst *inst, value_list *args, ls__ir_token *literal)
{
    switch (inst->op) {
    case LS_OP_CONST:
        *literal = lex(r)->token;
        ls__ir_lex_next(lex(r));
        return;
    case LS_OP_PARAM:
        inst->mem = (uint8_t)read_mem(r);
        inst->imm = ls__ir_lex_u64(lex(r), UINT64_MAX);
        return;
    case LS_OP_ID:
        inst->imm = read_word_of(r, ls__ir_id_name, LS_ID_COUNT, "a launch value");
        inst->imm2 = ls__ir_lex_u64(lex(r), UINT64_MAX);
        return;
    case LS_OP_RANGE:
        inst->base = read_base(r);
        return;
    case LS_OP_INDEX:
        read_values(r, args);
        ls__ir_lex_want_word(lex(r), "stride");
        inst->imm = ls__ir_lex_u64(lex(r), UINT64_MAX);
        ls__ir_lex_want_word(lex(r), "count");
        inst->imm2 = ls__ir_lex_u64(lex(r), UINT64_MAX);
        return;
    case LS_OP_ATOMIC:
        inst->imm = read_word_of(r, ls__ir_atomic_name, LS_ATOMIC_COUNT, "an atomic operation");
        read_memory_access(r, inst, args);
        return;
    case LS_OP_LOAD:
    case LS_OP_STORE:
    case LS_OP_ATOMIC_CAS:
        read_memory_access(r, inst, args);
        return;
    case LS_OP_VAR_GET:
        inst->imm = read_var(r);
        return;
    case LS_OP_VAR_SET:
        inst->imm = read_var(r);
        ls__ir_lex_want(lex(r), ',');
        break;
    case LS_OP_CALL:
        read_call(r, inst, args);
        return;
    case LS_OP_F2S:
    case LS_OP_F2U:
        inst->imm = ls__ir_lex_u64(lex(r), UINT64_MAX);
        break;
    case LS_OP_SG_REDUCE:
        inst->imm = read_word_of(r, ls__ir_reduce_name, LS_REDUCE_COUNT, "a reduction");
        break;
    default:
        break;
    }
    if (ls__ir_op((ls_op)inst->op)->operands[0]) /* else the next line's value would be taken */
        read_values(r, args);
}

/* --- instructions ----------------------------------------------------------------------------- */

static void read_region(reader *r, ls__ir_region *region, unsigned depth);

static ls__ir_region *read_braced_region(reader *r, ls__ir_inst *inst, unsigned depth)
{
    ls__ir_region *region = ls__ir_region_new(r->module, inst);
    ls__ir_lex_want(lex(r), '{');
    read_region(r, region, depth + 1);
    ls__ir_lex_want(lex(r), '}');
    return region;
}

static void read_switch_regions(reader *r, ls__ir_inst *inst, unsigned depth)
{
    LS__VEC(ls__ir_region *) regions = {0};
    LS__VEC(int64_t) values = {0};
    LS__VEC(uint32_t) sizes = {0};
    ls__ir_lex_want(lex(r), '{');
    while (ls__ir_lex_accept_word(lex(r), "case")) {
        uint32_t first = values.count;
        do
            ls__vec_push(r->arena, &values, ls__ir_lex_i64(lex(r)));
        while (ls__ir_lex_accept(lex(r), ','));
        ls__vec_push(r->arena, &sizes, values.count - first);
        ls__vec_push(r->arena, &regions, read_braced_region(r, inst, depth));
    }
    ls__ir_lex_want_word(lex(r), "default");
    ls__vec_push(r->arena, &regions, read_braced_region(r, inst, depth));
    ls__ir_lex_want(lex(r), '}');
    inst->regions = regions.items;
    inst->region_count = regions.count;
    inst->case_values = values.items;
    inst->case_sizes = sizes.items;
}

static void read_regions(reader *r, ls__ir_inst *inst, unsigned depth)
{
    uint32_t count = inst->op == LS_OP_BLOCK ? 1 : 2;
    if (inst->op == LS_OP_SWITCH) {
        read_switch_regions(r, inst, depth);
        return;
    }
    if (inst->op != LS_OP_IF && inst->op != LS_OP_LOOP && inst->op != LS_OP_BLOCK)
        return;
    inst->regions = LS__NEW_ARRAY(r->arena, ls__ir_region *, count);
    inst->region_count = count;
    inst->regions[0] = read_braced_region(r, inst, depth);
    if (count == 1)
        return;
    if (ls__ir_lex_accept_word(lex(r), inst->op == LS_OP_IF ? "else" : "step"))
        inst->regions[1] = read_braced_region(r, inst, depth);
    else
        inst->regions[1] = ls__ir_region_new(r->module, inst);
}

/* Gives the instruction the number that the text gives it. */
static void enter_value(reader *r, ls__ir_inst *inst, ls_value id)
{
    ls__ir_function *f = r->function;
    if (id.id >= LS__IR_MAX_VALUES) {
        ls__ir_lex_fail(lex(r), "value numbers are below %d", LS__IR_MAX_VALUES);
        return;
    }
    if (ls__ir_def(f, id)) {
        ls__ir_lex_fail(lex(r), "%%%" PRIu32 " is made twice", id.id);
        return;
    }
    if (id.id >= f->values.capacity) {
        uint32_t capacity = f->values.capacity * 2 > id.id ? f->values.capacity * 2 : id.id + 1;
        ls__ir_inst **items = LS__NEW_ARRAY(r->arena, ls__ir_inst *, capacity);
        memcpy(items, f->values.items, f->values.count * sizeof *items);
        f->values.items = items;
        f->values.capacity = capacity;
    }
    if (id.id >= f->values.count)
        f->values.count = id.id + 1;
    f->values.items[id.id] = inst;
    inst->id = id;
}

static uint8_t read_flags(reader *r)
{
    unsigned flags = 0;
    if (ls__ir_lex_accept_word(lex(r), "raw"))
        flags |= LS__IR_RAW;
    if (ls__ir_lex_accept_word(lex(r), "inbounds"))
        flags |= LS__IR_INBOUNDS;
    if (ls__ir_lex_accept_word(lex(r), "nowrap"))
        flags |= LS__IR_NOWRAP;
    if (ls__ir_lex_accept_word(lex(r), "uniform"))
        flags |= LS__IR_UNIFORM;
    if (ls__ir_lex_accept_word(lex(r), "unset"))
        flags |= LS__IR_UNSET;
    if (ls__ir_lex_accept_word(lex(r), "watched"))
        flags |= LS__IR_WATCHED;
    if (ls__ir_lex_accept_word(lex(r), "partial"))
        flags |= LS__IR_PARTIAL;
    return (uint8_t)flags;
}

static void read_inst(reader *r, ls__ir_region *region, unsigned depth)
{
    ls_value id = {0};
    if (lex(r)->token.kind == LS__IR_TOKEN_VALUE) {
        id = ls__ir_lex_value(lex(r));
        ls__ir_lex_want(lex(r), '=');
    }
    ls_op op = LS_OP_NONE;
    if (lex(r)->token.kind == LS__IR_TOKEN_WORD)
        op = ls__ir_op_by_name(lex(r)->token.text);
    if (op == LS_OP_NONE) {
        ls__ir_lex_expected(lex(r), "an instruction or '}'");
        return;
    }
    ls__ir_cursor cursor = {.function = r->function, .region = region};
    ls__ir_inst *inst = ls__ir_insert(&cursor, op, LS_TYPE_VOID, NULL, 0);
    if (id.id)
        enter_value(r, inst, id);
    ls__ir_lex_next(lex(r));

    value_list args = {0};
    ls__ir_token literal = {0};
    read_operands(r, inst, &args, &literal);
    inst->args = args.items;
    inst->arg_count = args.count;
    if (id.id) {
        ls__ir_lex_want(lex(r), ':');
        inst->type = (uint8_t)read_type(r);
    }
    if (op == LS_OP_CONST && !lex(r)->failed)
        set_const(r, inst, literal);
    inst->flags = read_flags(r);
    inst->loc = read_loc(r);
    read_regions(r, inst, depth);
}

static void read_region(reader *r, ls__ir_region *region, unsigned depth)
{
    if (depth > LS__IR_MAX_DEPTH) {
        ls__ir_lex_fail(lex(r), "structured instructions nest more than %d deep", LS__IR_MAX_DEPTH);
        return;
    }
    while (lex(r)->token.kind != LS__IR_TOKEN_END && !ls__ir_lex_is(lex(r), '}'))
        read_inst(r, region, depth);
}

/* --- functions -------------------------------------------------------------------------------- */

static void read_fields(reader *r, ls__ir_param *param)
{
    LS__VEC(ls__ir_field) fields = {0};
    while (ls__ir_lex_accept_word(lex(r), "field")) {
        ls__ir_field field = {.path = ls__ir_lex_name(lex(r), r->arena)};
        ls__ir_lex_want(lex(r), ':');
        field.mem = (uint8_t)read_mem(r);
        field.offset = read_u32_after(r, "at");
        ls__vec_push(r->arena, &fields, field);
    }
    ls__ir_lex_want(lex(r), '}');
    param->fields = fields.items;
    param->field_count = fields.count;
}

static void read_param(reader *r, bool is_pointer)
{
    ls__ir_param param = {.is_pointer = is_pointer};
    param.name = ls__ir_lex_name(lex(r), r->arena);
    ls__ir_lex_want(lex(r), ':');
    param.is_const = is_pointer && ls__ir_lex_accept_word(lex(r), "const");
    if (ls__ir_lex_accept_word(lex(r), "struct"))
        param.mem = LS_MEM_NONE;
    else
        param.mem = (uint8_t)read_mem(r);
    param.type_name = param.mem ? ls__ir_mem_name((ls_mem)param.mem) : "struct";
    param.size = read_u32_after(r, "size");
    param.alignment = read_u32_after(r, "align");
    uint32_t offset = is_pointer ? 0 : read_u32_after(r, "at");
    if (ls__ir_lex_accept_word(lex(r), "min"))
        param.min_bytes = ls__ir_lex_u64(lex(r), UINT64_MAX);
    if (ls__ir_lex_accept_word(lex(r), "type"))
        param.type_name = ls__ir_lex_name(lex(r), r->arena);
    if (ls__ir_lex_accept(lex(r), '{'))
        read_fields(r, &param);
    if (!lex(r)->failed)
        ls__ir_param_add(r->function, param)->offset = offset; /* the verifier compares */
}

static void read_object(reader *r, bool is_shared)
{
    ls__ir_function *f = r->function;
    const char *name = ls__ir_lex_name(lex(r), r->arena);
    uint32_t size = read_u32_after(r, "size");
    uint32_t alignment = read_u32_after(r, "align");
    ls__ir_loc loc = read_loc(r);
    if (is_shared) {
        ls__ir_shared_add(f, name, size, alignment);
        f->shared.items[f->shared.count - 1].loc = loc;
    } else {
        ls__ir_local_add(f, name, size, alignment);
        f->locals.items[f->locals.count - 1].loc = loc;
    }
}

static void read_variable(reader *r)
{
    ls__ir_token where = lex(r)->token;
    if (read_var(r) != r->function->vars.count) {
        lex(r)->token = lex(r)->failed ? lex(r)->token : where;
        ls__ir_lex_fail(lex(r), "variables are numbered v1, v2, ... in order");
        return;
    }
    const char *name = ls__ir_lex_name(lex(r), r->arena);
    ls__ir_lex_want(lex(r), ':');
    ls__ir_var_add(r->function, name, read_type(r));
}

static void read_function_head(reader *r)
{
    ls__ir_function *f = r->function;
    if (f->is_kernel) {
        ls__ir_lex_want_word(lex(r), "workgroup");
        for (int d = 0; d < 3; d++) {
            ls__ir_lex_want(lex(r), d ? ',' : '(');
            f->workgroup[d] = (uint32_t)ls__ir_lex_u64(lex(r), UINT32_MAX);
        }
        ls__ir_lex_want(lex(r), ')');
    }
    if (lex(r)->token.kind == LS__IR_TOKEN_ARROW) {
        do {
            ls__ir_lex_next(lex(r));
            ls__vec_push(r->arena, &f->results, (uint8_t)read_type(r));
        } while (ls__ir_lex_is(lex(r), ','));
    }
    f->unordered = ls__ir_lex_accept_word(lex(r), "unordered");
    f->loc = read_loc(r);
}

static void read_function(reader *r, bool is_kernel)
{
    ls__ir_lex_want(lex(r), '@');
    const char *name = ls__ir_lex_name(lex(r), r->arena);
    if (!name)
        return;
    r->function = ls__ir_function_add(r->module, name, is_kernel);
    read_function_head(r);
    ls__ir_lex_want(lex(r), '{');
    for (;;) {
        if (ls__ir_lex_accept_word(lex(r), "scalar"))
            read_param(r, false);
        else if (ls__ir_lex_accept_word(lex(r), "buffer"))
            read_param(r, true);
        else if (ls__ir_lex_accept_word(lex(r), "shared"))
            read_object(r, true);
        else if (ls__ir_lex_accept_word(lex(r), "local"))
            read_object(r, false);
        else if (ls__ir_lex_accept_word(lex(r), "var"))
            read_variable(r);
        else
            break;
    }
    read_region(r, r->function->body, 0);
    ls__ir_lex_want(lex(r), '}');
}

/* --- the module ------------------------------------------------------------------------------- */

static void read_file(reader *r)
{
    const char *path = ls__ir_lex_name(lex(r), r->arena);
    ls__vec_push(r->arena, &r->module->files, path);
}

static void read_spec(reader *r)
{
    ls__ir_spec spec = {.name = ls__ir_lex_name(lex(r), r->arena)};
    ls__ir_lex_want(lex(r), ':');
    spec.mem = (uint8_t)read_mem(r);
    ls__ir_lex_want(lex(r), '=');
    spec.value = ls__ir_lex_i64(lex(r));
    ls__ir_lex_want_word(lex(r), "default");
    spec.default_value = ls__ir_lex_i64(lex(r));
    LS__VEC(int64_t) choices = {0};
    if (ls__ir_lex_accept_word(lex(r), "try")) {
        do {
            int64_t choice = ls__ir_lex_i64(lex(r));
            ls__vec_push(r->arena, &choices, choice);
        } while (!lex(r)->failed && ls__ir_lex_accept(lex(r), ','));
    }
    spec.choices = choices.items;
    spec.choice_count = choices.count;
    ls__vec_push(r->arena, &r->module->specs, spec);
}

static void read_table(reader *r)
{
    ls__ir_object table = {.name = ls__ir_lex_name(lex(r), r->arena)};
    table.alignment = read_u32_after(r, "align");
    table.loc = read_loc(r);
    if (!ls__ir_lex_is(lex(r), '{')) {
        ls__ir_lex_expected(lex(r), "'{'");
        return;
    }
    size_t size = ls__ir_lex_hex(lex(r), NULL);
    if (size > LS__IR_MAX_TABLE_BYTES) {
        ls__ir_lex_fail(lex(r), "the table has more than %d bytes", LS__IR_MAX_TABLE_BYTES);
        return;
    }
    uint8_t *bytes = LS__NEW_ARRAY(r->arena, uint8_t, size);
    ls__ir_lex_hex(lex(r), bytes);
    ls__ir_lex_want(lex(r), '}');
    table.size = (uint32_t)size;
    table.bytes = bytes;
    ls__ir_table_append(r->module, table);
}

static void read_version(reader *r)
{
    ls__ir_lex_want_word(lex(r), "lockstep");
    ls__ir_lex_want_word(lex(r), "ir");
    ls__ir_token where = lex(r)->token;
    uint64_t version = ls__ir_lex_u64(lex(r), UINT64_MAX);
    if (lex(r)->failed || version == LS_IR_VERSION)
        return;
    lex(r)->token = where;
    ls__ir_lex_fail(lex(r), "this is version %" PRIu64 " of the IR; this library reads version %d",
                    version, LS_IR_VERSION);
    if (lex(r)->error)
        lex(r)->error->code = lex(r)->error->cause = LS_E_VERSION;
}

static int compare_names(const void *a, const void *b)
{
    const ls__ir_function *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static void resolve_calls(reader *r)
{
    uint32_t count = r->module->functions.count - 1;
    ls__ir_function **sorted = LS__NEW_ARRAY(r->arena, ls__ir_function *, count);
    memcpy(sorted, r->module->functions.items + 1, count * sizeof(ls__ir_function *));
    qsort(sorted, count, sizeof(ls__ir_function *), compare_names);
    for (uint32_t i = 0; i < r->calls.count; i++) {
        const pending_call *call = &r->calls.items[i];
        const ls__ir_function key = {.name = call->name}, *key_pointer = &key;
        ls__ir_function **found =
            bsearch(&key_pointer, sorted, count, sizeof(ls__ir_function *), compare_names);
        if (!found) {
            lex(r)->token = call->where;
            ls__ir_lex_fail(lex(r), "there is no function @%s", call->name);
            return;
        }
        call->inst->imm = (*found)->id.id;
    }
}

static void read_module(reader *r)
{
    read_version(r);
    while (lex(r)->token.kind != LS__IR_TOKEN_END) {
        if (ls__ir_lex_accept_word(lex(r), "file"))
            read_file(r);
        else if (ls__ir_lex_accept_word(lex(r), "spec"))
            read_spec(r);
        else if (ls__ir_lex_accept_word(lex(r), "table"))
            read_table(r);
        else if (ls__ir_lex_accept_word(lex(r), "kernel"))
            read_function(r, true);
        else if (ls__ir_lex_accept_word(lex(r), "function"))
            read_function(r, false);
        else
            ls__ir_lex_expected(lex(r), "file, spec, table, kernel or function");
    }
    if (!lex(r)->failed)
        resolve_calls(r);
}

ls_status ls__ir_read(const char *text, size_t length, ls__ir_module **module, ls_error *error)
{
    enum { FIXED_BYTES = 256 << 20, BYTES_PER_CHARACTER = 64 };
    ls__oom oom;
    ls_error kept = {0}; /* the status is read from here when the caller passes none */
    ls__ir_module *volatile made = NULL;
    ls__ir_module *result = NULL;
    ls_status status;
    *module = NULL;
    if (setjmp(oom.jump)) {
        status = ls__oom_status(&oom, error);
    } else {
        made = ls__ir_module_create(&oom, FIXED_BYTES + BYTES_PER_CHARACTER * length);
        reader r = {.module = made, .arena = &made->arena};
        ls__ir_lex_init(&r.lexer, text, length, &kept);
        read_module(&r);
        status = r.lexer.failed ? kept.code : ls__ir_verify(made, &kept);
        if (status != LS_OK && error)
            *error = kept;
    }
    result = made;
    if (status != LS_OK) {
        ls__ir_module_destroy(&result);
        return status;
    }
    result->arena.oom = NULL;
    *module = result;
    return LS_OK;
}
