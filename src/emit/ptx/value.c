/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction: dispatch, launch geometry, parameters, variables; and what PTX has an
 * instruction for that LLVM does not know. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "emit/ptx/code.h"

lv ls__ptx_value(code *c, ls_value value)
{
    assert(c->values[value.id] && "defined before its use (verifier)");
    return c->values[value.id];
}

static void define(code *c, const ls__ir_inst *inst, lv value)
{
    c->values[inst->id.id] = value;
}

lb ls__ptx_enter_entry(code *c)
{
    lb here = c->u.l->GetInsertBlock(c->u.b);
    mk_begin(&c->u, c->u.allocas);
    return here;
}

void ls__ptx_leave_entry(code *c, lb from)
{
    mk_begin(&c->u, from);
}

/* --- instructions of PTX ---------------------------------------------------------------------- */

enum { MAX_ASM_ARGS = 4 };

lv ls__ptx_asm(code *c, const char *text, const char *constraints, lt result, const lv *args,
               unsigned count, bool has_effects)
{
    const ls__llvm *l = c->u.l;
    lt types[MAX_ASM_ARGS];
    lv copies[MAX_ASM_ARGS];
    assert(count <= MAX_ASM_ARGS);
    for (unsigned i = 0; i < count; i++) {
        types[i] = l->TypeOf(args[i]);
        copies[i] = args[i];
    }
    lt type = l->FunctionType(result, types, count, 0);
    lv code = l->GetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                              has_effects, 0, LLVMInlineAsmDialectATT, 0);
    lv call = l->BuildCall2(c->u.b, type, code, copies, count, "");
    LLVMAttributeIndex function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    if (has_effects)
        l->AddCallSiteAttribute(call, function, ls__llvm_attribute(c->u.e, "convergent", 0));
    else
        l->AddCallSiteAttribute(call, function, ls__llvm_attribute(c->u.e, "memory", 0));
    return call;
}

lv ls__ptx_register(code *c, const char *name)
{
    char intrinsic[64];
    snprintf(intrinsic, sizeof intrinsic, "llvm.nvvm.read.ptx.sreg.%s", name);
    return ls__llvm_intrinsic(&c->u, intrinsic, NULL, 0, NULL, 0);
}

static lv dot4(code *c, bool a_signed, const lv *args)
{
    return ls__ptx_asm(c,
                       a_signed ? "dp4a.s32.s32 $0, $1, $2, $3;" : "dp4a.u32.s32 $0, $1, $2, $3;",
                       "=r,r,r,r", c->u.e->i32, args, 3, false);
}

/* PTX's are the contract's: of a number and a NaN the number, -0 below +0. LLVM's leave zeros open,
 * so it does not get to see them. */
lv ls__ptx_min_max(code *c, bool is_max, lv a, lv b)
{
    lv args[2] = {a, b};
    lt type = c->u.l->TypeOf(a);
    if (type == c->u.e->f64)
        return ls__ptx_asm(c, is_max ? "max.f64 $0, $1, $2;" : "min.f64 $0, $1, $2;", "=d,d,d",
                           type, args, 2, false);
    return ls__ptx_asm(c, is_max ? "max.f32 $0, $1, $2;" : "min.f32 $0, $1, $2;", "=f,f,f", type,
                       args, 2, false);
}

static lv pure(code *c, const ls__ir_inst *inst)
{
    lv args[3];
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[i] = ls__ptx_value(c, inst->args[i]);
    switch ((ls_op)inst->op) {
    case LS_OP_DOT4_SS:
    case LS_OP_DOT4_US:
        return dot4(c, inst->op == LS_OP_DOT4_SS, args);
    case LS_OP_FMIN:
    case LS_OP_FMAX:
        return ls__ptx_min_max(c, inst->op == LS_OP_FMAX, args[0], args[1]);
    default:
        return ls__llvm_arith(&c->u, inst, args);
    }
}

/* --- geometry --------------------------------------------------------------------------------- */

static lv geometry(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    uint32_t d = (uint32_t)inst->imm2;
    switch ((ls_id)inst->imm) {
    case LS_ID_GLOBAL_ID: {
        lv first = mk_mul(u, c->given[GIVEN_WORKGROUP_ID + d], mk_i32(u, u->workgroup[d]));
        return u->workgroup[d] == 1 ? first
                                    : mk_add(u, first, ls__llvm_coordinate(u, c->local_index, d));
    }
    case LS_ID_LOCAL_ID:
        return u->workgroup[d] == 1 ? mk_i32(u, 0) : ls__llvm_coordinate(u, c->local_index, d);
    case LS_ID_WORKGROUP_ID:
        return c->given[GIVEN_WORKGROUP_ID + d];
    case LS_ID_GLOBAL_SIZE:
        return c->given[GIVEN_GLOBAL_SIZE + d];
    case LS_ID_WORKGROUP_SIZE:
        return mk_i32(u, u->workgroup[d]);
    case LS_ID_WORKGROUP_COUNT:
        return c->given[GIVEN_WORKGROUP_COUNT + d];
    case LS_ID_LOCAL_INDEX:
        return c->local_index;
    case LS_ID_LANE:
        return mk_and(u, c->local_index, mk_i32(u, 31));
    case LS_ID_SUBGROUP:
        return mk_lshr(u, c->local_index, mk_i32(u, 5));
    case LS_ID_ITERATION:
        return c->given[GIVEN_ITERATION];
    case LS_ID_COUNT:
        break;
    }
    assert(false && "a known id (verifier)");
    return mk_i32(u, 0);
}

/* --- parameters, variables -------------------------------------------------------------------- */

static lv param(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    if (!u->function->is_kernel)
        return ls__llvm_function_param(u, inst);
    lb here = ls__ptx_enter_entry(c);
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    uint64_t at = sizeof(ls__ptx_call) + u->function->buffer_count * sizeof(ls__ptx_buffer);
    lt type = u->l->IntTypeInContext(u->e->context, 8 * bytes);
    lv bits = mk_load(u, type, mk_at(u, c->parameters, mk_i64(u, at + inst->imm)), bytes);
    lv value = ls__llvm_from_memory(u, (ls_mem)inst->mem, bits);
    ls__ptx_leave_entry(c, here);
    return value;
}

static lv get_var(code *c, const ls__ir_inst *inst)
{
    lt type = ls__llvm_type(&c->u, (ls_type)inst->type, false);
    return c->u.l->BuildLoad2(c->u.b, type, c->vars[inst->imm], "");
}

/* --- dispatch --------------------------------------------------------------------------------- */

void ls__ptx_inst(code *c, ls__ir_inst *inst)
{
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
        define(c, inst, ls__llvm_constant(&c->u, inst));
        break;
    case LS_OP_PARAM:
        define(c, inst, param(c, inst));
        break;
    case LS_OP_ID:
        define(c, inst, geometry(c, inst));
        break;
    case LS_OP_RANGE:
        define(c, inst, ls__llvm_range_of(&c->u, inst->base));
        break;
    case LS_OP_VAR_GET:
        define(c, inst, get_var(c, inst));
        break;
    case LS_OP_VAR_SET:
        c->u.l->BuildStore(c->u.b, ls__ptx_value(c, inst->args[0]), c->vars[inst->imm]);
        break;
    case LS_OP_LOAD:
        ls__ptx_load(c, inst);
        break;
    case LS_OP_STORE:
        ls__ptx_store(c, inst);
        break;
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
        ls__ptx_atomic(c, inst);
        break;
    case LS_OP_SG_SHUFFLE:
    case LS_OP_SG_BROADCAST:
    case LS_OP_SG_REDUCE:
    case LS_OP_SG_BALLOT:
    case LS_OP_WG_UNIFORM:
        ls__ptx_between_lanes(c, inst);
        break;
    case LS_OP_BARRIER:
        ls__ptx_barrier(c);
        break;
    case LS_OP_GRID_BARRIER:
        ls__ptx_grid_barrier(c);
        break;
    case LS_OP_TRAP:
        ls__ptx_trap(c, inst);
        break;
    case LS_OP_CALL:
        ls__ptx_emit_call(c, inst);
        break;
    default:
        define(c, inst, pure(c, inst));
        break;
    }
}
