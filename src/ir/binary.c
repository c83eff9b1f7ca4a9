/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary form (layout in docs/ir.md): a fixed header with a digest, then a body of varints.
 * Value numbers are not stored: values count in order of appearance, as after ls__ir_compact, so
 * equal functions give equal bytes whatever passes they have been through.
 *
 * The reader trusts nothing: bytes come through the cursor, counts are held against what is left,
 * nesting is limited, and the verifier judges the result. The digest guards against damage, not
 * against malice.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/status.h"
#include "ir/ir.h"
#include "ir/limits.h"

static const char magic[8] = {'L', 'S', 'I', 'R', '\r', '\n', 0x1a, '\n'};

/* magic, IR version (u32), contract version (u32), bytes of the body (u64), digest of the body */
enum { HEADER_BYTES = 8 + 4 + 4 + 8 + 32 };

/* Which parts of an instruction follow; the others are zero or empty. */
enum {
    HAS_LOC = 1,
    HAS_IMM = 2,
    HAS_IMM2 = 4,
    HAS_BASE = 8,
    HAS_ARGS = 16,
    HAS_REGIONS = 32,
    HAS_CALL = 64
};

enum { IS_KERNEL = 1, IS_UNORDERED = 2 };      /* functions */
enum { IS_POINTER = 1, IS_CONST_POINTER = 2 }; /* parameters */

/* The parts that mean something for an opcode. What others hold is left over from a pass and is not
 * written: it must not show in a digest. */
static unsigned allowed_parts(ls_op op)
{
    unsigned parts = HAS_LOC | HAS_ARGS | HAS_REGIONS;
    switch (op) {
    case LS_OP_CONST:
    case LS_OP_PARAM:
    case LS_OP_F2S:
    case LS_OP_F2U:
    case LS_OP_SG_REDUCE:
    case LS_OP_VAR_GET:
    case LS_OP_VAR_SET:
        return parts | HAS_IMM;
    case LS_OP_ID:
    case LS_OP_INDEX:
        return parts | HAS_IMM | HAS_IMM2;
    case LS_OP_ATOMIC:
        return parts | HAS_IMM | HAS_BASE;
    case LS_OP_RANGE:
    case LS_OP_LOAD:
    case LS_OP_STORE:
    case LS_OP_ATOMIC_CAS:
        return parts | HAS_BASE;
    case LS_OP_CALL:
        return parts | HAS_IMM | HAS_CALL;
    default:
        return parts;
    }
}

static bool has_mem(ls_op op)
{
    return op == LS_OP_PARAM || op == LS_OP_LOAD || op == LS_OP_STORE || op == LS_OP_ATOMIC ||
           op == LS_OP_ATOMIC_CAS;
}

/* --- writing ---------------------------------------------------------------------------------- */

typedef struct writer {
    ls__strbuf *out;
    uint32_t *numbers; /* of the function's values, by old number */
    uint32_t value_count;
} writer;

static void put_byte(writer *w, unsigned byte)
{
    ls__strbuf_append(w->out, &(char){(char)byte}, 1);
}

static void put_varint(writer *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(w, (unsigned)(value & 0x7f) | 0x80);
    put_byte(w, (unsigned)value);
}

/* Small numbers of either sign become small: 0 -1 1 -2 2 ... */
static void put_signed(writer *w, int64_t value)
{
    put_varint(w, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_text(writer *w, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    put_varint(w, length);
    ls__strbuf_append(w->out, text, length);
}

static void put_loc(writer *w, ls__ir_loc loc)
{
    put_varint(w, loc.line);
    if (loc.line == 0)
        return;
    put_varint(w, loc.column);
    put_varint(w, loc.file);
}

static void put_base(writer *w, ls_base base)
{
    put_byte(w, base.kind);
    put_varint(w, base.index);
}

static void put_region(writer *w, const ls__ir_region *region, unsigned depth);

static unsigned parts_of(const ls__ir_inst *inst)
{
    unsigned parts = 0;
    parts |= inst->loc.line ? HAS_LOC : 0;
    parts |= inst->imm ? HAS_IMM : 0;
    parts |= inst->imm2 ? HAS_IMM2 : 0;
    parts |= inst->base.kind ? HAS_BASE : 0;
    parts |= inst->arg_count ? HAS_ARGS : 0;
    parts |= inst->region_count ? HAS_REGIONS : 0;
    parts |= HAS_CALL;
    return parts & allowed_parts((ls_op)inst->op);
}

static void put_regions(writer *w, const ls__ir_inst *inst, unsigned depth)
{
    put_varint(w, inst->region_count);
    const int64_t *values = inst->case_values;
    for (uint32_t i = 0; i < inst->region_count; i++) {
        bool is_case = inst->op == LS_OP_SWITCH && i + 1 < inst->region_count;
        if (is_case) {
            put_varint(w, inst->case_sizes[i]);
            for (uint32_t k = 0; k < inst->case_sizes[i]; k++)
                put_signed(w, *values++);
        }
        put_region(w, inst->regions[i], depth + 1);
    }
}

static void put_inst(writer *w, const ls__ir_inst *inst, unsigned depth)
{
    unsigned parts = parts_of(inst);
    put_byte(w, inst->op);
    put_byte(w, inst->type);
    put_byte(w, has_mem((ls_op)inst->op) ? inst->mem : LS_MEM_NONE);
    put_byte(w, inst->flags);
    put_byte(w, parts);
    if (parts & HAS_LOC)
        put_loc(w, inst->loc);
    if (parts & HAS_IMM)
        put_varint(w, inst->imm);
    if (parts & HAS_IMM2)
        put_varint(w, inst->imm2);
    if (parts & HAS_BASE)
        put_base(w, inst->base);
    if (parts & HAS_ARGS) {
        put_varint(w, inst->arg_count);
        for (uint32_t i = 0; i < inst->arg_count; i++)
            put_varint(w, w->numbers[inst->args[i].id]);
    }
    if (inst->id.id)
        w->numbers[inst->id.id] = w->value_count++;
    if (parts & HAS_CALL) {
        put_varint(w, inst->base_count);
        for (uint32_t i = 0; i < inst->base_count; i++)
            put_base(w, inst->bases[i]);
        put_varint(w, inst->result_count);
        for (uint32_t i = 0; i < inst->result_count; i++)
            put_varint(w, inst->results[i].id);
    }
    if (parts & HAS_REGIONS)
        put_regions(w, inst, depth);
}

static void put_region(writer *w, const ls__ir_region *region, unsigned depth)
{
    uint64_t count = 0;
    for (const ls__ir_inst *inst = region->first; inst && depth <= LS__IR_WALK_DEPTH;
         inst = inst->next)
        count++;
    put_varint(w, count);
    for (const ls__ir_inst *inst = region->first; count; inst = inst->next, count--)
        put_inst(w, inst, depth);
}

static const char *usual_type_name(const ls__ir_param *param)
{
    return param->mem ? ls__ir_mem_name((ls_mem)param->mem) : "struct";
}

static void put_param(writer *w, const ls__ir_param *param)
{
    bool unusual = param->type_name && strcmp(param->type_name, usual_type_name(param)) != 0;
    put_text(w, param->name);
    put_text(w, unusual ? param->type_name : "");
    put_byte(w, param->mem);
    put_byte(w, (param->is_pointer ? IS_POINTER : 0u) | (param->is_const ? IS_CONST_POINTER : 0u));
    put_varint(w, param->size);
    put_varint(w, param->alignment);
    put_varint(w, param->min_bytes);
    put_varint(w, param->field_count);
    for (uint32_t i = 0; i < param->field_count; i++) {
        put_text(w, param->fields[i].path);
        put_byte(w, param->fields[i].mem);
        put_varint(w, param->fields[i].offset);
    }
}

static void put_objects(writer *w, const ls__ir_object *objects, uint32_t count)
{
    put_varint(w, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(w, objects[i].name);
        put_varint(w, objects[i].size);
        put_varint(w, objects[i].alignment);
        put_loc(w, objects[i].loc);
        if (objects[i].bytes)
            ls__strbuf_append(w->out, (const char *)objects[i].bytes, objects[i].size);
    }
}

static void put_function(writer *w, const ls__ir_function *f)
{
    put_text(w, f->name);
    put_byte(w, (f->is_kernel ? IS_KERNEL : 0u) | (f->unordered ? IS_UNORDERED : 0u));
    for (int d = 0; f->is_kernel && d < 3; d++)
        put_varint(w, f->workgroup[d]);
    put_loc(w, f->loc);
    put_varint(w, f->params.count);
    for (uint32_t i = 0; i < f->params.count; i++)
        put_param(w, &f->params.items[i]);
    put_varint(w, f->results.count);
    for (uint32_t i = 0; i < f->results.count; i++)
        put_byte(w, f->results.items[i]);
    put_varint(w, f->vars.count - 1);
    for (uint32_t i = 1; i < f->vars.count; i++) {
        put_text(w, f->vars.items[i].name);
        put_byte(w, f->vars.items[i].type);
    }
    put_objects(w, f->locals.items, f->locals.count);
    put_objects(w, f->shared.items, f->shared.count);
    w->value_count = 1;
    put_region(w, f->body, 0);
}

static void put_body(writer *w, const ls__ir_module *module, ls__arena *scratch)
{
    put_varint(w, module->files.count);
    for (uint32_t i = 0; i < module->files.count; i++)
        put_text(w, module->files.items[i]);
    put_varint(w, module->specs.count);
    for (uint32_t i = 0; i < module->specs.count; i++) {
        put_text(w, module->specs.items[i].name);
        put_byte(w, module->specs.items[i].mem);
        put_signed(w, module->specs.items[i].value);
        put_signed(w, module->specs.items[i].default_value);
        put_varint(w, module->specs.items[i].choice_count);
        for (uint32_t k = 0; k < module->specs.items[i].choice_count; k++)
            put_signed(w, module->specs.items[i].choices[k]);
    }
    put_objects(w, module->tables.items, module->tables.count);
    put_varint(w, module->functions.count - 1);

    uint32_t most_values =
        1; /* definitions come before uses, so numbers of old functions never show */
    for (uint32_t i = 1; i < module->functions.count; i++) {
        if (module->functions.items[i]->values.count > most_values)
            most_values = module->functions.items[i]->values.count;
    }
    w->numbers = LS__NEW_ARRAY(scratch, uint32_t, most_values);
    for (uint32_t i = 1; i < module->functions.count; i++)
        put_function(w, module->functions.items[i]);
}

static void write_little_endian(char *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (char)(value >> (8 * i));
}

/* Header and body into `out`; on failure `out` is empty. */
static ls_status encode(const ls__ir_module *module, ls__strbuf *out, ls__digest *digest,
                        ls_error *error)
{
    ls__oom oom;
    ls__arena scratch;
    ls__arena_init(&scratch, &oom, 0);
    if (setjmp(oom.jump)) {
        ls__arena_finish(&scratch);
        ls__strbuf_finish(out);
        return ls__oom_status(&oom, error);
    }
    ls__strbuf_append(out, (char[HEADER_BYTES]){0}, HEADER_BYTES);
    put_body(&(writer){.out = out}, module, &scratch);
    ls__arena_finish(&scratch);
    if (out->failed) {
        size_t asked = out->capacity;
        ls__strbuf_finish(out);
        return ls__fail_oom(error, asked * 2);
    }
    size_t body_bytes = out->length - HEADER_BYTES;
    *digest = ls__digest_of(out->text + HEADER_BYTES, body_bytes);
    memcpy(out->text, magic, 8);
    write_little_endian(out->text + 8, LS_IR_VERSION, 4);
    write_little_endian(out->text + 12, LS_CONTRACT_VERSION, 4);
    write_little_endian(out->text + 16, body_bytes, 8);
    memcpy(out->text + 24, digest->bytes, sizeof digest->bytes);
    return LS_OK;
}

ls_status ls__ir_encode(const ls__ir_module *module, void **bytes, size_t *size, ls_error *error)
{
    ls__strbuf out = {0};
    ls__digest digest;
    ls_status status = encode(module, &out, &digest, error);
    *bytes = out.text;
    *size = out.length;
    return status;
}

ls_status ls__ir_digest(const ls__ir_module *module, ls__digest *digest, ls_error *error)
{
    ls__strbuf out = {0};
    *digest = (ls__digest){{0}};
    ls_status status = encode(module, &out, digest, error);
    ls__strbuf_finish(&out);
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct reader {
    ls__cursor in;
    ls__ir_module *module;
    ls__arena *arena; /* the module's */
    ls__ir_function *function;
} reader;

static uint64_t get_varint(reader *r, uint64_t max)
{
    uint64_t value = ls__cursor_varint(&r->in);
    if (value <= max)
        return value;
    ls__cursor_fail(&r->in, "number out of range");
    return 0;
}

static uint32_t get_u32(reader *r)
{
    return (uint32_t)get_varint(r, UINT32_MAX);
}

static int64_t get_signed(reader *r)
{
    uint64_t value = ls__cursor_varint(&r->in);
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

static uint32_t get_count(reader *r, size_t item_bytes)
{
    return ls__cursor_count(&r->in, UINT32_MAX, item_bytes);
}

static const char *get_text(reader *r)
{
    uint32_t length = get_count(r, 1);
    const uint8_t *bytes = ls__cursor_bytes(&r->in, length);
    if (bytes && length && memchr(bytes, 0, length)) {
        ls__cursor_fail(&r->in, "a text has a zero byte");
        bytes = NULL;
    }
    return ls__arena_strdup(r->arena, (const char *)bytes, bytes ? length : 0);
}

static ls__ir_loc get_loc(reader *r)
{
    ls__ir_loc loc = {.line = get_u32(r)};
    if (loc.line == 0)
        return loc;
    loc.column = (uint16_t)get_varint(r, UINT16_MAX);
    loc.file = (uint16_t)get_varint(r, UINT16_MAX);
    return loc;
}

static ls_base get_base(reader *r)
{
    ls_base base;
    base.kind = (ls_base_kind)ls__cursor_u8(&r->in);
    base.index = get_u32(r);
    if (base.kind > LS_BASE_CONST) {
        ls__cursor_fail(&r->in, "unknown kind of base");
        base.kind = LS_BASE_NONE;
    }
    return base;
}

static void get_region(reader *r, ls__ir_region *region, unsigned depth);

static void get_regions(reader *r, ls__ir_inst *inst, unsigned depth)
{
    LS__VEC(int64_t) values = {0};
    uint32_t count = get_count(r, 1);
    inst->regions = LS__NEW_ARRAY(r->arena, ls__ir_region *, count);
    inst->case_sizes = LS__NEW_ARRAY(r->arena, uint32_t, inst->op == LS_OP_SWITCH ? count : 0);
    inst->region_count = count;
    for (uint32_t i = 0; i < count; i++) {
        inst->regions[i] = ls__ir_region_new(r->module, inst);
        if (r->in.fault)
            continue; /* every region exists, so that the half-made module can be walked */
        if (inst->op == LS_OP_SWITCH && i + 1 < count) {
            inst->case_sizes[i] = get_count(r, 1);
            for (uint32_t k = 0; k < inst->case_sizes[i]; k++)
                ls__vec_push(r->arena, &values, get_signed(r));
        }
        get_region(r, inst->regions[i], depth + 1);
    }
    inst->case_values = values.items;
}

static void get_call(reader *r, ls__ir_inst *inst)
{
    inst->base_count = get_count(r, 2);
    inst->bases = LS__NEW_ARRAY(r->arena, ls_base, inst->base_count);
    for (uint32_t i = 0; i < inst->base_count; i++)
        inst->bases[i] = get_base(r);
    inst->result_count = get_count(r, 1);
    inst->results = LS__NEW_ARRAY(r->arena, ls_var, inst->result_count);
    for (uint32_t i = 0; i < inst->result_count; i++)
        inst->results[i].id = get_u32(r);
}

static void get_inst(reader *r, ls__ir_region *region, unsigned depth)
{
    ls_op op = (ls_op)ls__cursor_u8(&r->in);
    ls_type type = (ls_type)ls__cursor_u8(&r->in);
    uint8_t mem = ls__cursor_u8(&r->in), flags = ls__cursor_u8(&r->in);
    unsigned parts = ls__cursor_u8(&r->in);
    if (op == LS_OP_NONE || op >= LS_OP_COUNT || type >= LS_TYPE_COUNT || mem >= LS_MEM_COUNT ||
        (mem != LS_MEM_NONE && !has_mem(op)) || (parts & ~allowed_parts(op)) != 0 ||
        (op == LS_OP_CALL && !(parts & HAS_CALL))) {
        ls__cursor_fail(&r->in, "unknown opcode, type or part of an instruction");
        return;
    }
    if (type != LS_TYPE_VOID && r->function->values.count >= LS__IR_MAX_VALUES) {
        ls__cursor_fail(&r->in, "too many values");
        return;
    }
    ls__ir_loc loc = {0};
    uint64_t imm = 0, imm2 = 0;
    ls_base base = {LS_BASE_NONE, 0};
    if (parts & HAS_LOC)
        loc = get_loc(r);
    if (parts & HAS_IMM)
        imm = get_varint(r, UINT64_MAX);
    if (parts & HAS_IMM2)
        imm2 = get_varint(r, UINT64_MAX);
    if (parts & HAS_BASE)
        base = get_base(r);
    uint32_t arg_count = parts & HAS_ARGS ? get_count(r, 1) : 0;
    ls_value *args = LS__NEW_ARRAY(r->arena, ls_value, arg_count);
    for (uint32_t i = 0; i < arg_count; i++)
        args[i].id = get_u32(r);

    ls__ir_cursor cursor = {.function = r->function, .region = region, .loc = loc};
    ls__ir_inst *inst = ls__ir_insert(&cursor, op, type, NULL, 0);
    inst->args = args;
    inst->arg_count = arg_count;
    inst->mem = mem;
    inst->flags = flags;
    inst->imm = imm;
    inst->imm2 = imm2;
    inst->base = base;
    if (parts & HAS_CALL)
        get_call(r, inst);
    if (parts & HAS_REGIONS)
        get_regions(r, inst, depth);
}

static void get_region(reader *r, ls__ir_region *region, unsigned depth)
{
    enum { INST_BYTES = 5 };
    if (depth > LS__IR_MAX_DEPTH) {
        ls__cursor_fail(&r->in, "structured instructions nest too deeply");
        return;
    }
    uint32_t count = get_count(r, INST_BYTES);
    for (uint32_t i = 0; i < count && !r->in.fault; i++)
        get_inst(r, region, depth);
}

static void get_param(reader *r)
{
    ls__ir_param param = {.name = get_text(r), .type_name = get_text(r)};
    param.mem = ls__cursor_u8(&r->in);
    uint8_t flags = ls__cursor_u8(&r->in);
    param.is_pointer = (flags & IS_POINTER) != 0;
    param.is_const = flags == (IS_POINTER | IS_CONST_POINTER);
    param.size = get_u32(r);
    param.alignment = get_u32(r);
    param.min_bytes = get_varint(r, UINT64_MAX);
    if (!param.type_name[0])
        param.type_name = usual_type_name(&param);
    param.field_count = get_count(r, 3);
    ls__ir_field *fields = LS__NEW_ARRAY(r->arena, ls__ir_field, param.field_count);
    for (uint32_t i = 0; i < param.field_count; i++) {
        fields[i].path = get_text(r);
        fields[i].mem = ls__cursor_u8(&r->in);
        fields[i].offset = get_u32(r);
    }
    param.fields = fields;
    ls__ir_param_add(r->function, param);
}

static ls__ir_object get_object(reader *r, bool has_bytes)
{
    ls__ir_object object = {.name = get_text(r)};
    object.size = get_u32(r);
    object.alignment = get_u32(r);
    object.loc = get_loc(r);
    if (has_bytes) {
        const uint8_t *bytes = ls__cursor_bytes(&r->in, object.size);
        object.size = bytes ? object.size : 0;
        object.bytes = (uint8_t *)ls__arena_strdup(r->arena, (const char *)bytes, object.size);
    }
    return object;
}

static void get_objects(reader *r)
{
    ls__ir_function *f = r->function;
    uint32_t count = get_count(r, 4);
    for (uint32_t i = 0; i < count; i++)
        ls__vec_push(r->arena, &f->locals, get_object(r, false));
    count = get_count(r, 4);
    for (uint32_t i = 0; i < count; i++)
        ls__vec_push(r->arena, &f->shared, get_object(r, false));
}

static void get_function(reader *r)
{
    const char *name = get_text(r);
    uint8_t flags = ls__cursor_u8(&r->in);
    ls__ir_function *f = ls__ir_function_add(r->module, name, (flags & IS_KERNEL) != 0);
    r->function = f;
    f->unordered = (flags & IS_UNORDERED) != 0;
    if (flags > (IS_KERNEL | IS_UNORDERED))
        ls__cursor_fail(&r->in, "unknown kind of function");
    for (int d = 0; f->is_kernel && d < 3; d++)
        f->workgroup[d] = get_u32(r);
    f->loc = get_loc(r);
    uint32_t count = get_count(r, 8);
    for (uint32_t i = 0; i < count; i++)
        get_param(r);
    count = get_count(r, 1);
    for (uint32_t i = 0; i < count; i++)
        ls__vec_push(r->arena, &f->results, ls__cursor_u8(&r->in));
    count = get_count(r, 2);
    for (uint32_t i = 0; i < count; i++) {
        const char *var_name = get_text(r);
        ls__ir_var_add(f, var_name, (ls_type)ls__cursor_u8(&r->in));
    }
    get_objects(r);
    get_region(r, f->body, 0);
}

static void get_spec(reader *r)
{
    ls__ir_spec spec = {.name = get_text(r), .mem = ls__cursor_u8(&r->in)};
    spec.value = get_signed(r);
    spec.default_value = get_signed(r);
    spec.choice_count = get_count(r, 1);
    int64_t *choices = LS__NEW_ARRAY(r->arena, int64_t, spec.choice_count);
    for (uint32_t k = 0; k < spec.choice_count && !r->in.fault; k++)
        choices[k] = get_signed(r);
    spec.choices = choices;
    ls__vec_push(r->arena, &r->module->specs, spec);
}

static void get_body(reader *r)
{
    uint32_t count = get_count(r, 1);
    for (uint32_t i = 0; i < count && !r->in.fault; i++)
        ls__vec_push(r->arena, &r->module->files, get_text(r));
    count = get_count(r, 5);
    for (uint32_t i = 0; i < count && !r->in.fault; i++)
        get_spec(r);
    count = get_count(r, 4);
    for (uint32_t i = 0; i < count && !r->in.fault; i++)
        ls__ir_table_append(r->module, get_object(r, true));
    count = get_count(r, 9);
    for (uint32_t i = 0; i < count && !r->in.fault; i++)
        get_function(r);
    if (!r->in.fault && ls__cursor_left(&r->in) != 0)
        ls__cursor_fail(&r->in, "data behind the last function");
}

static ls_status check_header(const void *bytes, size_t size, ls_error *error)
{
    ls__cursor in;
    ls__cursor_init(&in, bytes, size);
    const uint8_t *found = ls__cursor_bytes(&in, sizeof magic);
    uint32_t version = ls__cursor_u32(&in), contract = ls__cursor_u32(&in);
    if (!found || memcmp(found, magic, sizeof magic) != 0)
        return ls__fail(error, LS_E_FORMAT, "this is not a lockstep IR file");
    if (in.fault)
        return ls__fail(error, LS_E_FORMAT, "the IR file is cut short");
    if (version != LS_IR_VERSION)
        return ls__fail(error, LS_E_VERSION,
                        "the IR has version %" PRIu32 "; this library reads version %d", version,
                        LS_IR_VERSION);
    if (contract != LS_CONTRACT_VERSION)
        return ls__fail(error, LS_E_VERSION,
                        "the IR was made for bit contract %" PRIu32 "; this library has %d",
                        contract, LS_CONTRACT_VERSION);
    uint64_t body_bytes = ls__cursor_u64(&in);
    const uint8_t *digest = ls__cursor_bytes(&in, sizeof(ls__digest));
    if (!digest || body_bytes != ls__cursor_left(&in))
        return ls__fail(error, LS_E_FORMAT, "the IR file is cut short or too long");
    ls__digest actual = ls__digest_of((const uint8_t *)bytes + HEADER_BYTES, (size_t)body_bytes);
    if (memcmp(digest, actual.bytes, sizeof actual.bytes) != 0)
        return ls__fail(error, LS_E_FORMAT, "the IR file is damaged: its digest does not match");
    return LS_OK;
}

ls_status ls__ir_decode(const void *bytes, size_t size, ls__ir_module **module, ls_error *error)
{
    enum { FIXED_BYTES = 256 << 20, BYTES_PER_BYTE = 64 };
    ls__oom oom;
    ls__ir_module *volatile made = NULL;
    *module = NULL;
    ls_status status = check_header(bytes, size, error);
    if (status != LS_OK)
        return status;
    if (setjmp(oom.jump)) {
        ls__ir_module *half = made;
        ls__ir_module_destroy(&half);
        return ls__oom_status(&oom, error);
    }
    made = ls__ir_module_create(&oom, FIXED_BYTES + BYTES_PER_BYTE * size);
    reader r = {.module = made, .arena = &made->arena};
    ls__cursor_init(&r.in, (const uint8_t *)bytes + HEADER_BYTES, size - HEADER_BYTES);
    get_body(&r);
    ls_status result;
    if (r.in.fault)
        result = ls__fail(error, LS_E_FORMAT, "byte %zu: %s", r.in.fault_offset + HEADER_BYTES,
                          r.in.fault);
    else
        result = ls__ir_verify(made, error);
    ls__ir_module *done = made;
    done->arena.oom = NULL;
    if (result != LS_OK)
        ls__ir_module_destroy(&done);
    *module = done;
    return result;
}
