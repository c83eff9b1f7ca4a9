/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and calls. A noinline function is one of PTX, so that no code generator sees too much
 * at once; a short one is put in place. It gets what the kernel knows of its launch, its buffers as
 * addresses and ranges, its scalars; results come back as a struct. A bool crosses as an i32.
 */
#include <string.h>

#include "emit/ptx/code.h"

enum { SHORT_FUNCTION = 48 }; /* instructions of the IR */

static lt crossing_type(const unit *u, ls_type type)
{
    return type == LS_TYPE_BOOL ? u->e->i32 : ls__llvm_type(u, type, false);
}

static lv to_crossing(unit *u, lv value)
{
    return u->l->TypeOf(value) == u->e->i1 ? mk_zext(u, value, u->e->i32) : value;
}

static lv from_crossing(unit *u, ls_type type, lv value)
{
    return type == LS_TYPE_BOOL ? mk_icmp(u, LLVMIntNE, value, mk_i32(u, 0)) : value;
}

static uint32_t scalar_count(const ls__ir_function *function)
{
    return function->params.count - function->buffer_count;
}

static lt result_type(unit *u, const ls__ir_function *function)
{
    uint32_t count = function->results.count;
    if (count == 0)
        return u->e->void_type;
    lt *types = LS__NEW_ARRAY(u->e->arena, lt, count);
    for (uint32_t i = 0; i < count; i++)
        types[i] = crossing_type(u, (ls_type)function->results.items[i]);
    return u->l->StructTypeInContext(u->e->context, types, count, 0);
}

static lt function_type(unit *u, const ls__ir_function *function, lt result)
{
    const emitter *e = u->e;
    lt pointer = e->l->PointerTypeInContext(e->context, SPACE_GLOBAL);
    uint32_t n = 0, count = GIVEN_COUNT + 2 * function->buffer_count + scalar_count(function);
    lt *types = LS__NEW_ARRAY(e->arena, lt, count);
    while (n < GIVEN_COUNT) {
        types[n] = n == GIVEN_STATUS ? pointer : e->i32;
        n++;
    }
    for (uint32_t i = 0; i < function->buffer_count; i++) {
        types[n++] = pointer;
        types[n++] = e->i64;
    }
    for (uint32_t i = 0; i < function->params.count; i++) {
        const ls__ir_param *param = &function->params.items[i];
        if (!param->is_pointer)
            types[n++] = crossing_type(u, ls__ir_mem_type((ls_mem)param->mem));
    }
    return e->l->FunctionType(result, types, count, 0);
}

static void take_params(code *c)
{
    unit *u = &c->u;
    const ls__ir_function *function = u->function;
    uint32_t n = 0, scalar = 0;
    while (n < GIVEN_COUNT) {
        c->given[n] = u->l->GetParam(u->code, n);
        n++;
    }
    for (uint32_t i = 0; i < function->buffer_count; i++) {
        u->buffers[i] = u->l->GetParam(u->code, n++);
        u->ranges[i] = u->l->GetParam(u->code, n++);
    }
    u->scalars = LS__NEW_ARRAY(u->e->arena, lv, scalar_count(function));
    for (uint32_t i = 0; i < function->params.count; i++) {
        const ls__ir_param *param = &function->params.items[i];
        if (!param->is_pointer)
            u->scalars[scalar++] =
                from_crossing(u, ls__ir_mem_type((ls_mem)param->mem), u->l->GetParam(u->code, n++));
    }
}

static void make_results(code *c)
{
    unit *u = &c->u;
    uint32_t count = u->function->results.count;
    u->results = LS__NEW_ARRAY(u->e->arena, lv, count);
    for (uint32_t i = 0; i < count; i++) {
        lt type = ls__llvm_type(u, (ls_type)u->function->results.items[i], false);
        u->results[i] = u->l->BuildAlloca(u->b, type, "");
        u->l->BuildStore(u->b, u->l->ConstNull(type), u->results[i]);
    }
}

static void give_results(code *c, lt result)
{
    unit *u = &c->u;
    uint32_t count = u->function->results.count;
    if (count == 0) {
        u->l->BuildRetVoid(u->b);
        return;
    }
    lv all = u->l->GetUndef(result);
    for (uint32_t i = 0; i < count; i++) {
        lt type = ls__llvm_type(u, (ls_type)u->function->results.items[i], false);
        lv value = u->l->BuildLoad2(u->b, type, u->results[i], "");
        all = u->l->BuildInsertValue(u->b, all, to_crossing(u, value), i, "");
    }
    u->l->BuildRet(u->b, all);
}

static bool count_inst(ls__ir_inst *inst, void *context)
{
    uint32_t *count = context;
    (void)inst;
    return ++*count <= SHORT_FUNCTION;
}

static bool is_short(const ls__ir_function *function)
{
    uint32_t count = 0;
    ls__ir_walk(function->body, count_inst, &count);
    return count <= SHORT_FUNCTION;
}

static bool find_atomic(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found |= inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS;
    return true;
}

static ptx_function emit_function(code *caller, const ls__ir_function *function)
{
    generator *g = caller->g;
    emitter *e = g->e;
    ptx_function out = {.function = function->id.id};
    code c = {.flags = 0};
    lb here = e->l->GetInsertBlock(e->b);
    bool has_atomic = false;
    memcpy(out.workgroup, caller->u.workgroup, sizeof out.workgroup);
    out.result = result_type(&caller->u, function);
    out.type = function_type(&caller->u, function, out.result);
    out.code = e->l->AddFunction(e->out, "", out.type);
    ls__llvm_add_attribute(e, out.code, is_short(function) ? "alwaysinline" : "noinline");
    ls__ptx_begin(&c, g, function, out.workgroup, out.code);
    take_params(&c);
    make_results(&c);
    lb start = mk_block(&c.u);
    mk_begin(&c.u, start);
    ls__ptx_body(&c);
    give_results(&c, out.result);
    mk_begin(&c.u, c.u.allocas);
    mk_br(&c.u, start);
    ls__ir_walk(function->body, find_atomic, &has_atomic);
    out.flags = c.flags | (has_atomic ? LS__PTX_ATOMICS : 0);
    mk_begin(&caller->u, here);
    return out;
}

static ptx_function find_function(code *caller, const ls__ir_function *function)
{
    generator *g = caller->g;
    for (uint32_t i = 0; i < g->functions.count; i++) {
        const ptx_function *f = &g->functions.items[i];
        if (f->function == function->id.id &&
            memcmp(f->workgroup, caller->u.workgroup, sizeof f->workgroup) == 0)
            return *f;
    }
    ptx_function f = emit_function(caller, function);
    ls__vec_push(g->e->arena, &g->functions, f);
    return f;
}

void ls__ptx_emit_call(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    const ls__ir_function *function = u->e->module->functions.items[inst->imm];
    ptx_function f = find_function(c, function);
    uint32_t n = GIVEN_COUNT;
    lv *args = LS__NEW_ARRAY(u->e->arena, lv, GIVEN_COUNT + 2 * inst->base_count + inst->arg_count);
    memcpy(args, c->given, sizeof c->given);
    for (uint32_t i = 0; i < inst->base_count; i++) {
        args[n++] = u->buffers[inst->bases[i].index];
        args[n++] = u->ranges[inst->bases[i].index];
    }
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[n++] = to_crossing(u, ls__ptx_value(c, inst->args[i]));
    lv all = u->l->BuildCall2(u->b, f.type, f.code, args, n, "");
    for (uint32_t i = 0; i < function->results.count; i++) {
        ls_type type = (ls_type)function->results.items[i];
        lv value = from_crossing(u, type, u->l->BuildExtractValue(u->b, all, i, ""));
        u->l->BuildStore(u->b, value, c->vars[inst->results[i].id]);
    }
    c->flags |= f.flags;
}
