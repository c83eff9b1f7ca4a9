/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: regions become basic blocks as they stand. Lanes that part meet again where ptxas
 * finds that they must, which is what barriers and shuffles of the IR need: they stand where all
 * lanes of the workgroup come together. */
#include "emit/ptx/code.h"

bool ls__ptx_is_terminated(code *c)
{
    const unit *u = &c->u;
    return u->l->GetBasicBlockTerminator(u->l->GetInsertBlock(u->b)) != NULL;
}

static void go_to(code *c, lb block)
{
    if (!ls__ptx_is_terminated(c))
        mk_br(&c->u, block);
}

static void emit_if(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    lb side[2] = {mk_block(u), mk_block(u)}, merge = mk_block(u);
    bool reached = false;
    mk_cond_br(u, ls__ptx_value(c, inst->args[0]), side[0], side[1]);
    for (int i = 0; i < 2; i++) {
        mk_begin(u, side[i]);
        ls__ptx_region(c, inst->regions[i]);
        reached |= !ls__ptx_is_terminated(c);
        go_to(c, merge);
    }
    mk_begin(u, merge);
    if (!reached)
        u->l->BuildUnreachable(u->b);
}

static void emit_switch(code *c, const ls__ir_inst *inst, const frame *f)
{
    unit *u = &c->u;
    lv value = ls__ptx_value(c, inst->args[0]);
    lb otherwise = mk_block(u);
    uint32_t case_count = inst->region_count - 1, at = 0;
    lv chooser = u->l->BuildSwitch(u->b, value, otherwise, case_count);
    for (uint32_t i = 0; i <= case_count; i++) {
        lb block = i == case_count ? otherwise : mk_block(u);
        for (uint32_t k = 0; i < case_count && k < inst->case_sizes[i]; k++)
            u->l->AddCase(chooser, mk_k(u, value, (uint64_t)inst->case_values[at++]), block);
        mk_begin(u, block);
        ls__ptx_region(c, inst->regions[i]);
        go_to(c, f->exit);
    }
}

enum { SHORT_TRIPS = 64 }; /* may be unrolled, so that local arrays become registers */

static void emit_loop(code *c, const ls__ir_inst *inst, const frame *f)
{
    unit *u = &c->u;
    const ls__ir_inst *last = inst->regions[1]->last;
    lb head = mk_block(u), round = mk_block(u);
    uint64_t bound = ls__ir_loop_bound(u->function, inst);
    u->e->has_short_loops |= bound != 0 && bound <= SHORT_TRIPS;
    mk_br(u, head);
    mk_begin(u, head);
    ls__ptx_region(c, inst->regions[0]);
    go_to(c, f->next);
    mk_begin(u, f->next);
    ls__ptx_region(c, inst->regions[1]);
    if (!ls__ptx_is_terminated(c)) {
        if (last && last->op == LS_OP_WHILE)
            mk_cond_br(u, ls__ptx_value(c, last->args[0]), round, f->exit);
        else
            mk_br(u, round);
    }
    mk_begin(u, round);
    ls__ptx_poll(c, inst);
    mk_br(u, head);
}

static void emit_frame(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    frame f = {.parent = c->frame, .exit = mk_block(u)};
    c->frame = &f;
    if (inst->op == LS_OP_LOOP) {
        f.next = mk_block(u);
        emit_loop(c, inst, &f);
    } else if (inst->op == LS_OP_SWITCH) {
        emit_switch(c, inst, &f);
    } else {
        ls__ptx_region(c, inst->regions[0]);
        go_to(c, f.exit);
    }
    c->frame = f.parent;
    mk_begin(u, f.exit);
}

static void emit_jump(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    const frame *f = c->frame;
    if (inst->op == LS_OP_RETURN) {
        for (uint32_t i = 0; i < inst->arg_count; i++)
            u->l->BuildStore(u->b, ls__ptx_value(c, inst->args[i]), u->results[i]);
        mk_br(u, c->done);
        return;
    }
    if (inst->op == LS_OP_CONTINUE) {
        while (!f->next)
            f = f->parent;
        mk_br(u, f->next);
        return;
    }
    mk_br(u, f->exit);
}

enum { MAX_BLOCK = 250 }; /* instructions of the IR */

/* LLVM's code generator takes time that grows with the square of a block. A branch on what it
 * cannot know, and ptxas does, ends one. */
static void split_block(code *c)
{
    unit *u = &c->u;
    lb block = u->l->GetInsertBlock(u->b);
    if (block != c->block) {
        c->block = block;
        c->block_size = 0;
    }
    if (++c->block_size <= MAX_BLOCK)
        return;
    lb next = mk_block(u);
    lv zero = ls__ptx_asm(c, "mov.u32 $0, 0;", "=r", u->e->i32, NULL, 0, false);
    mk_cond_br(u, mk_icmp(u, LLVMIntEQ, zero, mk_i32(u, 0)), next, c->done);
    mk_begin(u, next);
}

void ls__ptx_region(code *c, const ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first; inst && !ls__ptx_is_terminated(c); inst = inst->next) {
        switch ((ls_op)inst->op) {
        case LS_OP_IF:
            emit_if(c, inst);
            break;
        case LS_OP_LOOP:
        case LS_OP_SWITCH:
        case LS_OP_BLOCK:
            emit_frame(c, inst);
            break;
        case LS_OP_BREAK:
        case LS_OP_CONTINUE:
        case LS_OP_RETURN:
            emit_jump(c, inst);
            break;
        case LS_OP_WHILE: /* emit_loop sees it */
            break;
        default:
            split_block(c);
            ls__ptx_inst(c, inst);
            break;
        }
    }
}
