/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of accesses out of range, at the accesses that are sites (ls__ir_site). A strand with a
 * lane that is out of range is described in a record on the stack and handed to the caller's
 * function, which finds out which lanes they are: on a path apart, with as little code as possible,
 * so that an access in range costs a comparison and a branch that is never taken. The call keeps
 * the scalar registers (lanes.c says why no others).
 */
#include "emit/llvm/abi.h"
#include "emit/llvm/build.h"

/* --- sites of a function ---------------------------------------------------------------------- */

static bool count_site(ls__ir_inst *inst, void *context)
{
    uint32_t *count = context;
    *count += ls__ir_is_site(inst);
    return true;
}

static bool list_site(ls__ir_inst *inst, void *context)
{
    unit *u = context;
    if (ls__ir_is_site(inst))
        u->sites.items[u->sites.count++] = inst;
    return true;
}

static void list_sites(unit *u)
{
    uint32_t count = 0;
    ls__ir_walk(u->function->body, count_site, &count);
    u->sites.items = LS__NEW_ARRAY(u->e->arena, const ls__ir_inst *, count);
    ls__ir_walk(u->function->body, list_site, u);
    u->sites.first = ls__ir_first_site(u->e->module, u->function->id.id);
    u->sites.record =
        ls__llvm_alloca(u, u->l->ArrayType2(u->e->i64, sizeof(ls__cpu_outside) / sizeof(uint64_t)));
}

/* Mostly the one behind that of the last call: instructions are emitted in order. */
static uint32_t number_of(unit *u, const ls__ir_inst *inst)
{
    uint32_t at = u->sites.last;
    while (u->sites.items[at] != inst)
        at = (at + 1) % u->sites.count;
    u->sites.last = at;
    return u->sites.first + at;
}

/* --- the call --------------------------------------------------------------------------------- */

/* ModRefInfo of what arguments point to, and of memory that this module cannot see. */
enum { MEMORY_OF_OTHERS = 3 | 3 << 2 };

/* Not tried on NEON; and the fast instruction selection knows no such convention. */
static bool keeps_registers(const unit *u)
{
    return u->e->target.level != LS__LLVM_NEON && !u->e->target.quick;
}

static void put(unit *u, lv record, size_t at, lv value)
{
    mk_store(u, value, mk_at(u, record, mk_i64(u, at)), 4);
}

/* What the helper gets behind the arguments and the record, for the record. */
static const size_t filled[] = {
    offsetof(ls__cpu_outside, workgroup), offsetof(ls__cpu_outside, base),
    offsetof(ls__cpu_outside, limit),     offsetof(ls__cpu_outside, site),
    offsetof(ls__cpu_outside, lanes),     offsetof(ls__cpu_outside, first_lane),
};
enum { FILLED = sizeof filled / sizeof *filled };

/* Fills in the record and passes it on to args->on_outside. */
static void make_helper(unit *u)
{
    emitter *e = u->e;
    lt types[2 + FILLED] = {e->ptr, e->ptr, e->i64, e->ptr, e->i64, e->i32, e->i32, e->i32};
    lt type = e->l->FunctionType(e->void_type, types, 2 + FILLED, 0);
    lt passed_on = e->l->FunctionType(e->void_type, types, 2, 0);
    lb here = e->l->GetInsertBlock(e->b);
    lv helper = e->outside = e->l->AddFunction(e->out, "", type);
    e->l->SetLinkage(helper, LLVMPrivateLinkage);
    if (keeps_registers(u))
        e->l->SetFunctionCallConv(helper, LLVMPreserveMostCallConv);
    ls__llvm_add_attribute(e, helper, "noinline");
    ls__llvm_add_attribute(e, helper, "nounwind");
    ls__llvm_add_attribute(e, helper, "willreturn");
    ls__llvm_add_attribute(e, helper, "cold");
    e->l->AddAttributeAtIndex(helper, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                              ls__llvm_attribute(e, "memory", MEMORY_OF_OTHERS));
    mk_begin(u, e->l->AppendBasicBlockInContext(e->context, helper, ""));
    lv args[2] = {e->l->GetParam(helper, 0), e->l->GetParam(helper, 1)};
    for (unsigned i = 0; i < FILLED; i++)
        put(u, args[1], filled[i], e->l->GetParam(helper, 2 + i));
    lv target = mk_field(u, e->ptr, args[0], offsetof(ls__cpu_args, on_outside));
    e->l->BuildCall2(e->b, passed_on, target, args, 2, "");
    e->l->BuildRetVoid(e->b);
    mk_begin(u, here);
}

/* --- numbers by lane -------------------------------------------------------------------------- */

static bool is_linear(val v)
{
    return v.scalar || (v.base && !v.valid);
}

static void put_list(unit *u, size_t at, val v)
{
    if (!is_linear(v))
        put(u, u->sites.record, at + offsetof(ls__cpu_by_lane, list), v.vector);
}

static void put_by_lane(unit *u, size_t at, val v)
{
    int64_t step = !is_linear(v) ? LS__CPU_LISTED : v.scalar ? 0 : v.stride;
    put(u, u->sites.record, at + offsetof(ls__cpu_by_lane, step), mk_i64(u, (uint64_t)step));
    if (is_linear(v))
        put(u, u->sites.record, at + offsetof(ls__cpu_by_lane, first),
            v.scalar ? v.scalar : v.base);
}

static val nowhere(unit *u)
{
    return (val){.scalar = mk_i64(u, (uint64_t)LS_NOWHERE)};
}

/* While lanes run one after another (serial.c), only what they need is known of one lane. */
static bool is_known(const unit *u, ls_value value)
{
    return u->value_stamps[value.id] == u->segment &&
           (u->width > 1 || u->values[value.id].scalar != NULL);
}

/* The subscript for which the chain of `index` that made `offset` is nowhere: nowhere, not known,
 * where it would take a list and only numbers beyond 2^59 do that. */
static val subscript_of(unit *u, ls_value offset, bool is_rare)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, offset);
    if (inst->op != LS_OP_INDEX || !is_known(u, inst->args[0]) || !is_known(u, inst->args[1]))
        return nowhere(u);
    if (ls__ir_def(u->function, inst->args[0])->op == LS_OP_CONST) {
        val own = ls__llvm_value(u, inst->args[1]);
        return is_linear(own) || !is_rare ? own
                                          : (val){.vector = ls__llvm_rebuild(u, inst->args[1])};
    }
    val outer = subscript_of(u, inst->args[0], is_rare);
    lv before = ls__llvm_vector(u, inst->args[0]), own = ls__llvm_vector(u, inst->args[1]);
    lv first = outer.vector ? outer.vector : ls__llvm_splat(u, outer.scalar);
    lv is_nowhere = mk_icmp(u, LLVMIntEQ, before, mk_k(u, before, (uint64_t)LS_NOWHERE));
    lv chosen = mk_select(u, is_nowhere, first, own);
    return u->width == 1 ? (val){.scalar = chosen} : (val){.vector = chosen};
}

enum {
    OFFSET = offsetof(ls__cpu_outside, offset),
    SUBSCRIPT = offsetof(ls__cpu_outside, subscript)
};

/* What is long. Answers the subscript. */
static val put_lists(unit *u, const ls__ir_inst *inst, val offset, bool is_rare)
{
    val subscript = subscript_of(u, inst->args[0], is_rare);
    if (is_rare && !is_linear(offset))
        offset.vector = ls__llvm_rebuild(u, inst->args[0]);
    put_list(u, OFFSET, offset);
    put_list(u, SUBSCRIPT, subscript);
    return subscript;
}

static void report(unit *u, const ls__ir_inst *inst, lv base, lv limit, val offset, val subscript)
{
    lv lanes = mk_i32(u, 1);
    if (u->width > 1)
        lanes = ls__llvm_mask_bits(u, u->mask ? u->mask : ls__llvm_full_mask(u));
    if (!u->e->outside)
        make_helper(u);
    put_by_lane(u, OFFSET, offset);
    put_by_lane(u, SUBSCRIPT, subscript);
    lv args[2 + FILLED] = {u->args, u->sites.record, u->workgroup_linear,
                           base,    limit,           mk_i32(u, number_of(u, inst)),
                           lanes,   u->first_lane};
    lv call = u->l->BuildCall2(u->b, u->l->GlobalGetValueType(u->e->outside), u->e->outside, args,
                               2 + FILLED, "");
    if (keeps_registers(u))
        u->l->SetInstructionCallConv(call, LLVMPreserveMostCallConv);
}

/* --- the test --------------------------------------------------------------------------------- */

static lv below(unit *u, lv offset, lv limit)
{
    return mk_icmp(u, LLVMIntULT, offset, limit);
}

/* i1: offset + lane * step is below the limit in all active lanes. It is when it is in the first
 * and the last of them: limits are below 2^63, so there is no way round. */
static lv ends_inside(unit *u, lv offset, int64_t step, lv limit)
{
    lv first = mk_i64(u, 0), last = mk_i64(u, u->width - 1), no = u->l->ConstInt(u->e->i1, 0, 0);
    if (u->mask) {
        lv bits = ls__llvm_mask_bits(u, u->mask);
        lv low = mk_intrinsic(u, "llvm.cttz", bits, no, NULL);
        lv high = mk_intrinsic(u, "llvm.ctlz", bits, no, NULL);
        first = mk_zext(u, low, u->e->i64);
        last = mk_zext(u, mk_sub(u, mk_i32(u, 31), high), u->e->i64);
    }
    first = mk_add(u, offset, mk_mul(u, first, mk_i64(u, (uint64_t)step)));
    last = mk_add(u, offset, mk_mul(u, last, mk_i64(u, (uint64_t)step)));
    return mk_and(u, below(u, first, limit), below(u, last, limit));
}

/* i1: no active lane is out of range; sufficient, since who is called looks again. */
static lv all_inside(unit *u, lv limit, val offset)
{
    if (offset.scalar)
        return below(u, offset.scalar, limit);
    if (offset.base) {
        lv inside = ends_inside(u, offset.base, offset.stride, limit);
        return offset.valid ? mk_and(u, offset.valid, inside) : inside;
    }
    lv outside = mk_not(u, below(u, offset.vector, ls__llvm_splat(u, limit)));
    return mk_not(u, ls__llvm_any(u, u->mask ? mk_and(u, u->mask, outside) : outside));
}

/* On a slow path, lists are written here and not on the path apart: what makes them is used in one
 * block then, so LLVM does not compute it where every strand comes by. */
void ls__llvm_watch(unit *u, const ls__ir_inst *inst, lv base, lv limit, val offset, bool is_rare)
{
    if (!ls__ir_is_site(inst))
        return;
    if (!u->sites.items)
        list_sites(u);
    u->retreat = NULL; /* nothing is told twice */
    lb outside = mk_block(u), after = mk_block(u);
    val subscript = is_rare ? put_lists(u, inst, offset, true) : nowhere(u);
    mk_cond_br(u, all_inside(u, limit, offset), after, outside);
    mk_begin(u, outside);
    if (!is_rare)
        subscript = put_lists(u, inst, offset, false);
    report(u, inst, base, limit, offset, subscript);
    mk_br(u, after);
    mk_begin(u, after);
}
