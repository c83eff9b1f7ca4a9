/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form; docs/ir.md has its grammar and read.c reads it back. Also prints modules that
 * break the rules (to show what is wrong with them), so nothing here trusts an index. Numbers are
 * printed without the C library's float formatting, which depends on the locale.
 */
#include <inttypes.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/text.h"

typedef struct printer {
    ls__strbuf *out;
    const ls__ir_module *module;
} printer;

/* --- words ------------------------------------------------------------------------------------ */

static void put(printer *p, const char *text)
{
    ls__strbuf_append(p->out, text, strlen(text));
}

static void put_quoted(printer *p, const char *text)
{
    put(p, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            ls__strbuf_printf(p->out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            ls__strbuf_printf(p->out, "\\x%02x", c);
        else
            ls__strbuf_append(p->out, text, 1);
    }
    put(p, "\"");
}

static void put_name(printer *p, const char *name)
{
    name = name ? name : "";
    bool plain = ls__ir_text_starts_word(name[0]);
    for (const char *c = name; *c; c++)
        plain = plain && ls__ir_text_in_word(*c);
    if (plain)
        put(p, name);
    else
        put_quoted(p, name);
}

static void put_loc(printer *p, ls__ir_loc loc)
{
    if (loc.line == 0)
        return;
    ls__strbuf_printf(p->out, " !%" PRIu32 ":%u", loc.line, loc.column);
    if (loc.file != 0)
        ls__strbuf_printf(p->out, ":%u", loc.file);
}

/* A float is written as a decimal when six digits say it exactly, else as its bits. */
static void put_float(printer *p, ls_type type, uint64_t bits)
{
    int64_t millionths;
    if (!ls__ir_text_millionths(type, bits, &millionths)) {
        ls__strbuf_printf(p->out, "0x%0*" PRIx64, type == LS_TYPE_F32 ? 8 : 16, bits);
        return;
    }
    if (millionths < 0)
        put(p, "-");
    uint64_t magnitude = millionths < 0 ? 0 - (uint64_t)millionths : (uint64_t)millionths;
    char fraction[8];
    fraction[6] = 0;
    uint64_t rest = magnitude % 1000000;
    for (int i = 5; i >= 0; i--, rest /= 10)
        fraction[i] = (char)('0' + rest % 10);
    for (int i = 5; i > 0 && fraction[i] == '0'; i--)
        fraction[i] = 0;
    ls__strbuf_printf(p->out, "%" PRIu64 ".%s", magnitude / 1000000, fraction);
}

static void put_const(printer *p, ls_type type, uint64_t bits)
{
    if (type == LS_TYPE_BOOL)
        put(p, bits ? "true" : "false");
    else if (type == LS_TYPE_I32)
        ls__strbuf_printf(p->out, "%" PRId32, (int32_t)bits);
    else if (type == LS_TYPE_I64)
        ls__strbuf_printf(p->out, "%" PRId64, (int64_t)bits);
    else
        put_float(p, type, bits);
}

static void put_values(printer *p, const ls_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ls__strbuf_printf(p->out, "%s%%%" PRIu32, i ? ", " : "", values[i].id);
}

static void put_base(printer *p, ls_base base)
{
    ls__strbuf_printf(p->out, "%s %" PRIu32, ls__ir_base_name(base.kind), base.index);
}

/* --- instructions ----------------------------------------------------------------------------- */

static void put_memory_access(printer *p, const ls__ir_inst *inst)
{
    ls__strbuf_printf(p->out, " %s ", ls__ir_mem_name((ls_mem)inst->mem));
    put_base(p, inst->base);
    put(p, " [");
    put_values(p, inst->args, inst->arg_count ? 1 : 0);
    put(p, "]");
    if (inst->arg_count > 1) {
        put(p, ", ");
        put_values(p, inst->args + 1, inst->arg_count - 1);
    }
}

static void put_call(printer *p, const ls__ir_inst *inst)
{
    const char *name = "?";
    if (inst->imm > 0 && inst->imm < p->module->functions.count)
        name = p->module->functions.items[inst->imm]->name;
    put(p, " @");
    put_name(p, name);
    put(p, " (");
    put_values(p, inst->args, inst->arg_count);
    put(p, ") [");
    for (uint32_t i = 0; i < inst->base_count; i++) {
        put(p, i ? ", " : "");
        put_base(p, inst->bases[i]);
    }
    put(p, "]");
    for (uint32_t i = 0; i < inst->result_count; i++)
        ls__strbuf_printf(p->out, "%sv%" PRIu32, i ? ", " : " -> ", inst->results[i].id);
}

/* What stands between an instruction's name and its type. */
static void put_operands(printer *p, const ls__ir_inst *inst)
{
    switch (inst->op) {
    case LS_OP_CONST:
        put(p, " ");
        put_const(p, (ls_type)inst->type, inst->imm);
        return;
    case LS_OP_PARAM:
        ls__strbuf_printf(p->out, " %s %" PRIu64, ls__ir_mem_name((ls_mem)inst->mem), inst->imm);
        return;
    case LS_OP_ID:
        ls__strbuf_printf(p->out, " %s %" PRIu64, ls__ir_id_name(inst->imm), inst->imm2);
        return;
    case LS_OP_RANGE:
        put(p, " ");
        put_base(p, inst->base);
        return;
    case LS_OP_INDEX:
        put(p, " ");
        put_values(p, inst->args, inst->arg_count);
        ls__strbuf_printf(p->out, " stride %" PRIu64 " count %" PRIu64, inst->imm, inst->imm2);
        return;
    case LS_OP_ATOMIC:
        ls__strbuf_printf(p->out, " %s", ls__ir_atomic_name(inst->imm));
        put_memory_access(p, inst);
        return;
    case LS_OP_LOAD:
    case LS_OP_STORE:
    case LS_OP_ATOMIC_CAS:
        put_memory_access(p, inst);
        return;
    case LS_OP_VAR_GET:
        ls__strbuf_printf(p->out, " v%" PRIu64, inst->imm);
        return;
    case LS_OP_VAR_SET:
        ls__strbuf_printf(p->out, " v%" PRIu64 ", ", inst->imm);
        put_values(p, inst->args, inst->arg_count);
        return;
    case LS_OP_CALL:
        put_call(p, inst);
        return;
    case LS_OP_F2S:
    case LS_OP_F2U:
        ls__strbuf_printf(p->out, " %" PRIu64, inst->imm);
        break;
    case LS_OP_SG_REDUCE:
        ls__strbuf_printf(p->out, " %s", ls__ir_reduce_name(inst->imm));
        break;
    default:
        break;
    }
    if (inst->arg_count) {
        put(p, " ");
        put_values(p, inst->args, inst->arg_count);
    }
}

static void put_indent(printer *p, unsigned depth)
{
    for (unsigned i = 0; i <= depth; i++)
        put(p, "  ");
}

static void put_region(printer *p, const ls__ir_region *region, unsigned depth);

static void put_switch_regions(printer *p, const ls__ir_inst *inst, unsigned depth)
{
    put(p, " {\n");
    const int64_t *values = inst->case_values;
    for (uint32_t i = 0; i < inst->region_count; i++) {
        put_indent(p, depth);
        bool is_case = i + 1 < inst->region_count;
        put(p, is_case ? "case " : "default");
        for (uint32_t k = 0; is_case && k < inst->case_sizes[i]; k++)
            ls__strbuf_printf(p->out, "%s%" PRId64, k ? ", " : "", *values++);
        put(p, " {\n");
        put_region(p, inst->regions[i], depth + 1);
        put_indent(p, depth);
        put(p, "}\n");
    }
    put_indent(p, depth);
    put(p, "}");
}

/* A second region (else, step) is left out when it is empty. */
static void put_regions(printer *p, const ls__ir_inst *inst, unsigned depth)
{
    put(p, " {\n");
    put_region(p, inst->regions[0], depth + 1);
    put_indent(p, depth);
    put(p, "}");
    if (inst->region_count < 2 || !inst->regions[1]->first)
        return;
    put(p, inst->op == LS_OP_IF ? " else {\n" : " step {\n");
    put_region(p, inst->regions[1], depth + 1);
    put_indent(p, depth);
    put(p, "}");
}

static void put_inst(printer *p, const ls__ir_inst *inst, unsigned depth)
{
    put_indent(p, depth);
    if (inst->id.id)
        ls__strbuf_printf(p->out, "%%%" PRIu32 " = ", inst->id.id);
    put(p, ls__ir_op((ls_op)inst->op)->name);
    put_operands(p, inst);
    if (inst->type != LS_TYPE_VOID)
        ls__strbuf_printf(p->out, " : %s", ls__ir_type_name((ls_type)inst->type));
    if (inst->flags & LS__IR_RAW)
        put(p, " raw");
    if (inst->flags & LS__IR_INBOUNDS)
        put(p, " inbounds");
    if (inst->flags & LS__IR_NOWRAP)
        put(p, " nowrap");
    if (inst->flags & LS__IR_UNIFORM)
        put(p, " uniform");
    if (inst->flags & LS__IR_UNSET)
        put(p, " unset");
    if (inst->flags & LS__IR_WATCHED)
        put(p, " watched");
    if (inst->flags & LS__IR_PARTIAL)
        put(p, " partial");
    put_loc(p, inst->loc);
    if (inst->op == LS_OP_SWITCH)
        put_switch_regions(p, inst, depth);
    else if (inst->region_count)
        put_regions(p, inst, depth);
    put(p, "\n");
}

static void put_region(printer *p, const ls__ir_region *region, unsigned depth)
{
    if (depth > LS__IR_WALK_DEPTH) {
        put(p, "# nested too deeply\n");
        return;
    }
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next)
        put_inst(p, inst, depth);
}

/* --- functions and the module ----------------------------------------------------------------- */

static void put_param(printer *p, const ls__ir_param *param)
{
    const char *mem_name = param->mem ? ls__ir_mem_name((ls_mem)param->mem) : "struct";
    put(p, param->is_pointer ? "  buffer " : "  scalar ");
    put_name(p, param->name);
    ls__strbuf_printf(p->out, " : %s%s", param->is_pointer && param->is_const ? "const " : "",
                      mem_name);
    ls__strbuf_printf(p->out, " size %" PRIu32 " align %" PRIu32, param->size, param->alignment);
    if (!param->is_pointer)
        ls__strbuf_printf(p->out, " at %" PRIu32, param->offset);
    if (param->min_bytes)
        ls__strbuf_printf(p->out, " min %" PRIu64, param->min_bytes);
    if (param->type_name && strcmp(param->type_name, mem_name) != 0) {
        put(p, " type ");
        put_quoted(p, param->type_name);
    }
    put(p, param->field_count ? " {\n" : "\n");
    for (uint32_t i = 0; i < param->field_count; i++) {
        put(p, "    field ");
        put_name(p, param->fields[i].path);
        ls__strbuf_printf(p->out, " : %s at %" PRIu32 "\n",
                          ls__ir_mem_name((ls_mem)param->fields[i].mem), param->fields[i].offset);
    }
    if (param->field_count)
        put(p, "  }\n");
}

static void put_object(printer *p, const char *what, const ls__ir_object *object)
{
    ls__strbuf_printf(p->out, "  %s ", what);
    put_name(p, object->name);
    ls__strbuf_printf(p->out, " size %" PRIu32 " align %" PRIu32, object->size, object->alignment);
    put_loc(p, object->loc);
    put(p, "\n");
}

static void put_function_head(printer *p, const ls__ir_function *function)
{
    put(p, function->is_kernel ? "\nkernel @" : "\nfunction @");
    put_name(p, function->name);
    if (function->is_kernel)
        ls__strbuf_printf(p->out, " workgroup(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")",
                          function->workgroup[0], function->workgroup[1], function->workgroup[2]);
    for (uint32_t i = 0; i < function->results.count; i++) {
        put(p, i ? ", " : " -> ");
        put(p, ls__ir_type_name((ls_type)function->results.items[i]));
    }
    if (function->unordered)
        put(p, " unordered");
    put_loc(p, function->loc);
    put(p, " {\n");
}

static void put_function(printer *p, const ls__ir_function *function)
{
    put_function_head(p, function);
    for (uint32_t i = 0; i < function->params.count; i++)
        put_param(p, &function->params.items[i]);
    for (uint32_t i = 0; i < function->shared.count; i++)
        put_object(p, "shared", &function->shared.items[i]);
    for (uint32_t i = 0; i < function->locals.count; i++)
        put_object(p, "local", &function->locals.items[i]);
    for (uint32_t i = 1; i < function->vars.count; i++) {
        ls__strbuf_printf(p->out, "  var v%" PRIu32 " ", i);
        put_name(p, function->vars.items[i].name);
        ls__strbuf_printf(p->out, " : %s\n",
                          ls__ir_type_name((ls_type)function->vars.items[i].type));
    }
    put_region(p, function->body, 0);
    put(p, "}\n");
}

static void put_table(printer *p, const ls__ir_object *table)
{
    static const char digits[] = "0123456789abcdef";
    put(p, "table ");
    put_name(p, table->name);
    ls__strbuf_printf(p->out, " align %" PRIu32, table->alignment);
    put_loc(p, table->loc);
    put(p, " {");
    for (uint32_t i = 0; i < table->size; i++) {
        if (i % 32 == 0)
            put(p, "\n  ");
        char pair[2] = {digits[table->bytes[i] >> 4], digits[table->bytes[i] & 15]};
        ls__strbuf_append(p->out, pair, 2);
    }
    put(p, "\n}\n");
}

void ls__ir_print(const ls__ir_module *module, ls__strbuf *out)
{
    printer p = {.out = out, .module = module};
    ls__strbuf_printf(out, "lockstep ir %d\n", LS_IR_VERSION);
    for (uint32_t i = 0; i < module->files.count; i++) {
        put(&p, "file ");
        put_quoted(&p, module->files.items[i]);
        put(&p, "\n");
    }
    for (uint32_t i = 0; i < module->specs.count; i++) {
        const ls__ir_spec *spec = &module->specs.items[i];
        put(&p, "spec ");
        put_name(&p, spec->name);
        ls__strbuf_printf(out, " : %s = %" PRId64 " default %" PRId64,
                          ls__ir_mem_name((ls_mem)spec->mem), spec->value, spec->default_value);
        for (uint32_t k = 0; k < spec->choice_count; k++)
            ls__strbuf_printf(out, "%s%" PRId64, k ? ", " : " try ", spec->choices[k]);
        put(&p, "\n");
    }
    for (uint32_t i = 0; i < module->tables.count; i++)
        put_table(&p, &module->tables.items[i]);
    for (uint32_t i = 1; i < module->functions.count; i++)
        put_function(&p, module->functions.items[i]);
}
