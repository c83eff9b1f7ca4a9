/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules for single instructions: operands and result against ops.def, attributes, bases, memory
 * types, calls. Order matters: indices are checked before they are followed.
 */
#include <inttypes.h>
#include <string.h>

#include "ir/verify.h"

#define CHECK(condition, rule, ...)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return ls__ir_violates(v, LS__IR_RULE_##rule, __VA_ARGS__);                            \
    } while (0)

static bool accesses_memory(unsigned op)
{
    return op == LS_OP_LOAD || op == LS_OP_STORE || op == LS_OP_ATOMIC || op == LS_OP_ATOMIC_CAS;
}

static bool check_flags(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    unsigned allowed = 0;
    if (accesses_memory(inst->op))
        allowed |= LS__IR_INBOUNDS | LS__IR_WATCHED;
    if (inst->op == LS_OP_STORE && ls__ir_mem_is_float((ls_mem)inst->mem))
        allowed |= LS__IR_RAW;
    if (inst->op == LS_OP_INDEX)
        allowed |= LS__IR_NOWRAP;
    if (inst->op == LS_OP_LOAD)
        allowed |= LS__IR_UNIFORM;
    if (inst->op == LS_OP_VAR_SET || (inst->op == LS_OP_STORE && inst->base.kind == LS_BASE_LOCAL))
        allowed |= LS__IR_UNSET;
    if (inst->op == LS_OP_ATOMIC && inst->base.kind == LS_BASE_BUFFER && inst->mem == LS_MEM_U32 &&
        (inst->imm == LS_ATOMIC_AND || inst->imm == LS_ATOMIC_OR))
        allowed |= LS__IR_PARTIAL;
    CHECK((inst->flags & ~allowed) == 0, OPCODE, "flags %u", inst->flags);
    return true;
}

/* The operands are checked. */
static bool check_unset(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    if (!(inst->flags & LS__IR_UNSET))
        return true;
    const ls__ir_inst *value = ls__ir_def(v->function, inst->args[inst->arg_count - 1]);
    CHECK(value->op == LS_OP_CONST && value->imm == 0, OPCODE, "unset of another value than 0");
    return true;
}

/* --- operands and result ---------------------------------------------------------------------- */

static bool letter_allows(const char *types, ls_type type)
{
    switch (type) {
    case LS_TYPE_BOOL:
        return strchr(types, 'B') != NULL;
    case LS_TYPE_I32:
    case LS_TYPE_I64:
        return strchr(types, 'I') != NULL;
    case LS_TYPE_F32:
    case LS_TYPE_F64:
        return strchr(types, 'F') != NULL;
    case LS_TYPE_VOID:
    case LS_TYPE_COUNT:
        break;
    }
    return false;
}

static bool check_operands(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    const ls__ir_op_info *info = ls__ir_op((ls_op)inst->op);
    bool variadic = info->operands[0] == '*';
    size_t wanted = strlen(info->operands);
    CHECK(variadic || inst->arg_count == wanted, OPERAND_COUNT, "%" PRIu32 " instead of %zu",
          inst->arg_count, wanted);
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        uint32_t id = inst->args[i].id;
        CHECK(id < v->function->values.count && v->visible[id], DOMINANCE, "%%%" PRIu32, id);
    }
    if (variadic)
        return true;
    ls_type type = ls__ir_operand_type(v->function, inst);
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        ls_type actual = ls__ir_type_of(v->function, inst->args[i]);
        ls_type expected = ls__ir_letter_type(info->operands[i], type);
        CHECK(actual == expected, OPERAND_TYPE, "%%%" PRIu32 " is %s instead of %s",
              inst->args[i].id, ls__ir_type_name(actual), ls__ir_type_name(expected));
        CHECK(info->operands[i] != 'T' || letter_allows(info->types, type), OPERAND_TYPE,
              "%%%" PRIu32 " is %s", inst->args[i].id, ls__ir_type_name(actual));
    }
    return true;
}

static bool is_int(ls_type type)
{
    return type == LS_TYPE_I32 || type == LS_TYPE_I64;
}

static bool is_float(ls_type type)
{
    return type == LS_TYPE_F32 || type == LS_TYPE_F64;
}

static bool is_wide(ls_type type)
{
    return type == LS_TYPE_I64 || type == LS_TYPE_F64;
}

/* Ops whose result column is 'r'. `source` is the type of the operand. */
static bool explicit_result_fits(const ls__ir_inst *inst, ls_type source)
{
    ls_type type = (ls_type)inst->type;
    switch (inst->op) {
    case LS_OP_CONST:
        return type != LS_TYPE_VOID;
    case LS_OP_PARAM:
    case LS_OP_LOAD:
        return type == ls__ir_mem_type((ls_mem)inst->mem) && type != LS_TYPE_VOID;
    case LS_OP_S2F:
    case LS_OP_U2F:
        return is_float(type);
    case LS_OP_F2S:
    case LS_OP_F2U:
        return is_int(type) && (inst->imm <= 32 || is_wide(type));
    case LS_OP_F2F:
        return is_float(type) && type != source;
    case LS_OP_F16_TO_F32:
    case LS_OP_BF16_TO_F32:
        return type == LS_TYPE_F32;
    case LS_OP_FBITS:
    case LS_OP_FRAWBITS:
        return is_int(type) && is_wide(type) == is_wide(source);
    case LS_OP_FFROM_BITS:
        return is_float(type) && is_wide(type) == is_wide(source);
    case LS_OP_VAR_GET: /* against the variable, in check_variable */
        return true;
    default:
        return false;
    }
}

static bool check_result(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    const ls__ir_op_info *info = ls__ir_op((ls_op)inst->op);
    ls_type type = (ls_type)inst->type;
    bool fits;
    if (info->result == 'r')
        fits = explicit_result_fits(
            inst, inst->arg_count ? ls__ir_type_of(v->function, inst->args[0]) : LS_TYPE_VOID);
    else
        fits = type == ls__ir_letter_type(info->result, ls__ir_operand_type(v->function, inst));
    CHECK(fits, RESULT_TYPE, "%s", ls__ir_type_name(type));
    if (inst->op == LS_OP_F32_TO_F16 || inst->op == LS_OP_F32_TO_BF16)
        CHECK(ls__ir_type_of(v->function, inst->args[0]) == LS_TYPE_F32, OPERAND_TYPE,
              "f64 instead of f32");
    return true;
}

/* --- attributes ------------------------------------------------------------------------------- */

static bool reduce_fits(uint64_t reduce, ls_type type)
{
    if (reduce == LS_REDUCE_ADD)
        return true;
    bool of_floats = reduce == LS_REDUCE_FMIN || reduce == LS_REDUCE_FMAX;
    return reduce < LS_REDUCE_COUNT && of_floats == is_float(type);
}

static bool check_attributes(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    uint64_t imm = inst->imm;
    switch (inst->op) {
    case LS_OP_CONST:
        CHECK(inst->type != LS_TYPE_BOOL || imm <= 1, ATTRIBUTE, "bool %" PRIu64, imm);
        CHECK(is_wide((ls_type)inst->type) || imm <= UINT32_MAX, ATTRIBUTE, "more than 32 bits");
        return true;
    case LS_OP_ID:
        CHECK(imm < LS_ID_COUNT && inst->imm2 < 3, ATTRIBUTE, "id %" PRIu64 ", %" PRIu64, imm,
              inst->imm2);
        return true;
    case LS_OP_F2S:
    case LS_OP_F2U:
        CHECK(imm == 8 || imm == 16 || imm == 32 || imm == 64, ATTRIBUTE, "%" PRIu64 " bits", imm);
        return true;
    case LS_OP_ATOMIC:
        CHECK(imm < LS_ATOMIC_COUNT, ATTRIBUTE, "atomic %" PRIu64, imm);
        return true;
    case LS_OP_SG_REDUCE:
        CHECK(reduce_fits(imm, (ls_type)inst->type), ATTRIBUTE, "reduction %" PRIu64, imm);
        return true;
    case LS_OP_PARAM: {
        uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem), end = v->function->scalar_bytes;
        CHECK(bytes != 0 && imm % bytes == 0 && imm < end && bytes <= end - imm, PARAM_RANGE,
              "%s at %" PRIu64 " of %" PRIu32, ls__ir_mem_name((ls_mem)inst->mem), imm, end);
        return true;
    }
    default:
        return true;
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static uint32_t base_limit(const ls__ir_verifier *v, ls_base_kind kind)
{
    switch (kind) {
    case LS_BASE_BUFFER:
        return v->function->buffer_count;
    case LS_BASE_SHARED:
        return v->function->shared.count;
    case LS_BASE_LOCAL:
        return v->function->locals.count;
    case LS_BASE_CONST:
        return v->module->tables.count;
    case LS_BASE_NONE:
        break;
    }
    return 0;
}

static bool check_writable(ls__ir_verifier *v, ls_base base)
{
    CHECK(base.kind != LS_BASE_CONST, READ_ONLY, "table %" PRIu32, base.index);
    if (base.kind == LS_BASE_BUFFER)
        CHECK(!ls__ir_buffer_param(v->function, base.index)->is_const, READ_ONLY, "buffer %" PRIu32,
              base.index);
    return true;
}

static bool check_atomic(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    bool is_exchange = inst->op == LS_OP_ATOMIC_CAS || inst->imm == LS_ATOMIC_XCHG;
    CHECK(inst->base.kind == LS_BASE_BUFFER || inst->base.kind == LS_BASE_SHARED, ATOMIC,
          "on a local object");
    CHECK(inst->mem == LS_MEM_I32 || inst->mem == LS_MEM_U32 || inst->mem == LS_MEM_I64 ||
              inst->mem == LS_MEM_U64,
          ATOMIC, "on %s", ls__ir_mem_name((ls_mem)inst->mem));
    CHECK(!is_exchange || v->function->unordered, UNORDERED, "an exchange");
    return true;
}

static bool check_memory(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    unsigned op = inst->op;
    if (!accesses_memory(op) && op != LS_OP_RANGE)
        return true;
    CHECK(inst->base.index < base_limit(v, inst->base.kind), BASE, "kind %u, index %" PRIu32,
          (unsigned)inst->base.kind, inst->base.index);
    if (op == LS_OP_RANGE)
        return true;
    CHECK(inst->mem > LS_MEM_NONE && inst->mem < LS_MEM_COUNT, MEMORY_TYPE, "%u", inst->mem);
    if (op == LS_OP_LOAD)
        return true;
    ls_type type = ls__ir_type_of(v->function, inst->args[1]);
    CHECK(ls__ir_mem_type((ls_mem)inst->mem) == type, MEMORY_TYPE, "%s for a value of type %s",
          ls__ir_mem_name((ls_mem)inst->mem), ls__ir_type_name(type));
    if (!check_writable(v, inst->base))
        return false;
    return op == LS_OP_STORE || check_atomic(v, inst);
}

/* A returned value that something looks at makes the order of atomics visible. */
static bool check_atomic_uses(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->arg_count && !v->function->unordered; i++) {
        unsigned def = ls__ir_def(v->function, inst->args[i])->op;
        CHECK(def != LS_OP_ATOMIC, UNORDERED, "%%%" PRIu32 " is used", inst->args[i].id);
    }
    return true;
}

/* --- variables, calls, returns ---------------------------------------------------------------- */

static bool check_variable(ls__ir_verifier *v, uint64_t var, ls_type type)
{
    CHECK(var > 0 && var < v->function->vars.count, VARIABLE, "v%" PRIu64, var);
    ls_type actual = (ls_type)v->function->vars.items[var].type;
    CHECK(actual == type, VARIABLE, "v%" PRIu64 " is %s, the value is %s", var,
          ls__ir_type_name(actual), ls__ir_type_name(type));
    return true;
}

static bool check_call_params(ls__ir_verifier *v, const ls__ir_inst *inst,
                              const ls__ir_function *callee)
{
    uint32_t scalar = 0, buffer = 0;
    for (uint32_t i = 0; i < callee->params.count; i++) {
        const ls__ir_param *param = &callee->params.items[i];
        if (param->is_pointer) {
            CHECK(buffer < inst->base_count, CALL, "%" PRIu32 " buffers", inst->base_count);
            ls_base base = inst->bases[buffer++];
            CHECK(base.kind == LS_BASE_BUFFER, CALL, "only whole buffers can be passed");
            CHECK(base.index < v->function->buffer_count, BASE, "buffer %" PRIu32, base.index);
            if (!param->is_const && !check_writable(v, base))
                return false;
            uint64_t known = ls__ir_buffer_param(v->function, base.index)->min_bytes;
            CHECK(known >= param->min_bytes, CALL,
                  "buffer %" PRIu32 " has at least %" PRIu64 " bytes, %s needs %" PRIu64,
                  base.index, known, param->name, param->min_bytes);
        } else {
            CHECK(scalar < inst->arg_count, CALL, "%" PRIu32 " scalars", inst->arg_count);
            ls_value arg = inst->args[scalar++];
            CHECK(ls__ir_type_of(v->function, arg) == ls__ir_mem_type((ls_mem)param->mem), CALL,
                  "%%%" PRIu32 " is %s", arg.id,
                  ls__ir_type_name(ls__ir_type_of(v->function, arg)));
        }
    }
    CHECK(buffer == inst->base_count && scalar == inst->arg_count, CALL,
          "%" PRIu32 " scalars and %" PRIu32 " buffers", inst->arg_count, inst->base_count);
    return true;
}

static bool check_call(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    CHECK(inst->imm > 0 && inst->imm < v->module->functions.count, CALL, "function %" PRIu64,
          inst->imm);
    const ls__ir_function *callee = v->module->functions.items[inst->imm];
    CHECK(!callee->is_kernel, CALL, "@%s is a kernel", callee->name);
    CHECK(!callee->unordered || v->function->unordered, UNORDERED, "@%s", callee->name);
    if (!check_call_params(v, inst, callee))
        return false;
    CHECK(inst->result_count == callee->results.count, CALL, "%" PRIu32 " results",
          inst->result_count);
    for (uint32_t i = 0; i < inst->result_count; i++) {
        if (!check_variable(v, inst->results[i].id, (ls_type)callee->results.items[i]))
            return false;
    }
    return true;
}

static bool check_return(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    const ls__ir_function *function = v->function;
    CHECK(inst->arg_count == function->results.count, RETURN, "%" PRIu32 " results",
          inst->arg_count);
    for (uint32_t i = 0; i < inst->arg_count; i++)
        CHECK(ls__ir_type_of(function, inst->args[i]) == (ls_type)function->results.items[i],
              RETURN, "result %" PRIu32 " is %s", i,
              ls__ir_type_name(ls__ir_type_of(function, inst->args[i])));
    return true;
}

static bool check_cooperation(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    if (!ls__ir_op_has((ls_op)inst->op, 'S'))
        return true;
    const ls__ir_function *function = v->function;
    CHECK(function->is_kernel, COOPERATION, "in function @%s", function->name);
    v->has_cooperation = true;
    bool of_subgroup = inst->op == LS_OP_SG_SHUFFLE || inst->op == LS_OP_SG_BROADCAST ||
                       inst->op == LS_OP_SG_REDUCE || inst->op == LS_OP_SG_BALLOT;
    uint32_t lanes = function->workgroup[0] * function->workgroup[1] * function->workgroup[2];
    CHECK(!of_subgroup || lanes % 32 == 0, SUBGROUPS, "%" PRIu32 " lanes", lanes);
    return true;
}

bool ls__ir_verify_op(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    CHECK(inst->op > LS_OP_NONE && inst->op < LS_OP_COUNT, OPCODE, "%u", inst->op);
    if (!check_flags(v, inst) || !check_operands(v, inst) || !check_unset(v, inst) ||
        !check_result(v, inst) || !check_attributes(v, inst) || !check_memory(v, inst) ||
        !check_atomic_uses(v, inst) || !check_cooperation(v, inst))
        return false;
    switch (inst->op) {
    case LS_OP_VAR_GET:
        return check_variable(v, inst->imm, (ls_type)inst->type);
    case LS_OP_VAR_SET:
        return check_variable(v, inst->imm, ls__ir_type_of(v->function, inst->args[0]));
    case LS_OP_CALL:
        return check_call(v, inst);
    case LS_OP_RETURN:
        return check_return(v, inst);
    default:
        return true;
    }
}
