/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores. In order of preference: one place for the strand (a scalar access), contiguous
 * (a vector access when all of it is in range, which one comparison of scalars tells), and lane by
 * lane (lanes.c). An offset is in range when it is below `size - bytes + 1`, computed so that it is
 * 0 for objects that are too small; LS_NOWHERE and all negative offsets are above as unsigned
 * numbers.
 */
#include "emit/llvm/build.h"

typedef struct place {
    lv base;    /* pointer */
    lv size;    /* bytes, i64 */
    bool mine;  /* no other thread sees it, so inactive lanes may be written back */
    bool known; /* in range: no check of active lanes is needed */
    uint32_t bytes;
    lt type; /* what memory holds: an integer type */
} place;

static lv table_of(unit *u, uint32_t index)
{
    emitter *e = u->e;
    if (e->tables[index])
        return e->tables[index];
    const ls__ir_object *object = &e->module->tables.items[index];
    lv bytes =
        e->l->ConstStringInContext2(e->context, (const char *)object->bytes, object->size, 1);
    lv global = e->l->AddGlobal(e->out, e->l->TypeOf(bytes), "");
    e->l->SetInitializer(global, bytes);
    e->l->SetGlobalConstant(global, 1);
    e->l->SetLinkage(global, LLVMPrivateLinkage);
    e->l->SetAlignment(global, object->alignment);
    return e->tables[index] = global;
}

static place place_of(unit *u, const ls__ir_inst *inst)
{
    ls_base base = inst->base;
    place p = {.size = ls__llvm_range_of(u, base),
               .bytes = ls__ir_mem_bytes((ls_mem)inst->mem),
               .known = (inst->flags & LS__IR_INBOUNDS) != 0};
    p.type = u->l->IntTypeInContext(u->e->context, 8 * p.bytes);
    switch (base.kind) {
    case LS_BASE_BUFFER:
        p.base = u->buffers[base.index];
        break;
    case LS_BASE_SHARED:
        p.base = mk_at(u, u->scratch, mk_i64(u, u->shared_offsets[base.index]));
        p.mine = true;
        break;
    case LS_BASE_LOCAL:
        p.base = u->locals[base.index].place;
        if (!p.base) {
            const local *l = &u->locals[base.index];
            slot s = {SLOT_SCRATCH, NULL, l->offset, l->step};
            p.base = ls__llvm_slot_address(u, &s);
        }
        p.mine = true;
        break;
    default:
        p.base = table_of(u, base.index);
        break;
    }
    return p;
}

/* Offsets below this have `bytes` bytes behind them in the object. */
static lv limit_of(unit *u, const place *p, uint64_t bytes)
{
    return mk_intrinsic(u, "llvm.usub.sat", p->size, mk_i64(u, bytes - 1), NULL);
}

/* --- bits and values -------------------------------------------------------------------------- */

lv ls__llvm_from_memory(unit *u, ls_mem mem, lv bits)
{
    switch (mem) {
    case LS_MEM_BOOL:
        return mk_icmp(u, LLVMIntNE, bits, mk_k(u, bits, 0));
    case LS_MEM_I8:
    case LS_MEM_I16:
        return mk_sext(u, bits, u->e->i32);
    case LS_MEM_U8:
    case LS_MEM_U16:
    case LS_MEM_F16:
    case LS_MEM_BF16:
        return mk_zext(u, bits, u->e->i32);
    case LS_MEM_F32:
        return mk_bitcast(u, bits, u->e->f32);
    case LS_MEM_F64:
        return mk_bitcast(u, bits, u->e->f64);
    default:
        return bits;
    }
}

static lv canonical_16(unit *u, lv bits, uint64_t infinity, uint64_t nan)
{
    lv magnitude = mk_and(u, bits, mk_k(u, bits, 0x7fff));
    return mk_select(u, mk_icmp(u, LLVMIntUGT, magnitude, mk_k(u, bits, infinity)),
                     mk_k(u, bits, nan), bits);
}

/* Where floats alone are read, it does not show which NaN lies there. (PTX has its own locals.) */
static bool is_float_local(const unit *u, const ls__ir_inst *inst)
{
    return u->locals && inst->base.kind == LS_BASE_LOCAL && u->locals[inst->base.index].is_float;
}

lv ls__llvm_to_memory(unit *u, const ls__ir_inst *inst, lv value)
{
    ls_mem mem = (ls_mem)inst->mem;
    bool raw = (inst->flags & LS__IR_RAW) != 0;
    switch (mem) {
    case LS_MEM_BOOL:
        return mk_zext(u, value, u->e->i8);
    case LS_MEM_I8:
    case LS_MEM_U8:
        return mk_trunc(u, value, u->e->i8);
    case LS_MEM_F16:
        value = raw ? value : canonical_16(u, value, 0x7c00, 0x7e00);
        return mk_trunc(u, value, u->e->i16);
    case LS_MEM_BF16:
        value = raw ? value : canonical_16(u, value, 0x7f80, 0x7fc0);
        return mk_trunc(u, value, u->e->i16);
    case LS_MEM_I16:
    case LS_MEM_U16:
        return mk_trunc(u, value, u->e->i16);
    case LS_MEM_F32:
    case LS_MEM_F64:
        if (!raw && !is_float_local(u, inst) && !ls__llvm_is_clean(u, inst->args[1], 0))
            return ls__llvm_canonical(u, ls__ir_mem_type(mem), value, true);
        return mk_bitcast(u, value, mem == LS_MEM_F32 ? u->e->i32 : u->e->i64);
    default:
        return value;
    }
}

/* --- one place for the strand ----------------------------------------------------------------- */

static void watch(unit *u, const ls__ir_inst *inst, const place *p, lv offset)
{
    ls__llvm_watch(u, inst, p->base, limit_of(u, p, p->bytes), (val){.scalar = offset}, false);
}

/* Behind the access, so that what the two share is used in one block, and LLVM computes it there
 * and not where every strand comes by. */
static void watch_lanes(unit *u, const ls__ir_inst *inst, const place *p, bool is_rare)
{
    ls__llvm_watch(u, inst, p->base, limit_of(u, p, p->bytes), ls__llvm_value(u, inst->args[0]),
                   is_rare);
}

/* A branch, which is foreseen, takes the check out of the way from one load to the next. */
static lv load_behind_branch(unit *u, const place *p, lv offset, lv inside)
{
    lb before = u->l->GetInsertBlock(u->b), load = mk_block(u), after = mk_block(u);
    mk_cond_br(u, inside, load, after);
    mk_begin(u, load);
    lv value = mk_load(u, p->type, mk_at(u, p->base, offset), 1);
    mk_br(u, after);
    mk_begin(u, after);
    lv phi = u->l->BuildPhi(u->b, p->type, "");
    lv values[2] = {u->l->ConstNull(p->type), value};
    lb blocks[2] = {before, load};
    u->l->AddIncoming(phi, values, blocks, 2);
    return phi;
}

static lv load_scalar(unit *u, const ls__ir_inst *inst, const place *p, lv offset)
{
    lv pointer = mk_at(u, p->base, offset);
    if (!p->known) {
        lv inside = mk_icmp(u, LLVMIntULT, offset, limit_of(u, p, p->bytes));
        watch(u, inst, p, offset);
        if (u->width == 1 && !u->e->target.quick)
            return load_behind_branch(u, p, offset, inside);
        pointer = mk_select(u, inside, pointer, u->e->zeros);
    }
    return mk_load(u, p->type, pointer, 1);
}

static void store_scalar(unit *u, const ls__ir_inst *inst, const place *p, lv offset, lv bits)
{
    if (p->known) {
        mk_store(u, bits, mk_at(u, p->base, offset), 1);
        return;
    }
    watch(u, inst, p, offset);
    lb inside = mk_block(u), after = mk_block(u);
    mk_cond_br(u, mk_icmp(u, LLVMIntULT, offset, limit_of(u, p, p->bytes)), inside, after);
    mk_begin(u, inside);
    mk_store(u, bits, mk_at(u, p->base, offset), 1);
    mk_br(u, after);
    mk_begin(u, after);
}

/* An element of the vector that an active lane holds (the highest one's): which, is the kernel's
 * race. */
static lv of_an_active_lane(unit *u, lv vector)
{
    if (!u->mask)
        return mk_extract(u, vector, mk_i32(u, u->width - 1));
    lv zeros = mk_intrinsic(u, "llvm.ctlz", ls__llvm_mask_bits(u, u->mask),
                            u->l->ConstInt(u->e->i1, 0, 0), NULL);
    lv lane = mk_and(u, mk_sub(u, mk_i32(u, 31), zeros), mk_i32(u, u->width - 1));
    return mk_extract(u, vector, lane);
}

/* --- lane by lane ----------------------------------------------------------------------------- */

/* Where what one lane sees at `offsets` lies in the memory of all lanes. */
static lv local_offsets(unit *u, const ls__ir_inst *inst, place *p, lv offsets)
{
    lv inside = mk_icmp(u, LLVMIntULT, offsets, ls__llvm_splat(u, limit_of(u, p, p->bytes)));
    uint32_t size = u->function->locals.items[inst->base.index].size;
    uint32_t element = u->locals[inst->base.index].element;
    lv lanes = mk_zext(u, u->lanes, u->e->i64);
    lv starts = mk_mul(u, lanes, mk_k(u, offsets, element ? element : size));
    if (element)
        offsets = mk_mul(u, offsets, mk_k(u, offsets, u->width));
    p->size = mk_i64(u, (uint64_t)size * u->width);
    return mk_select(u, inside, mk_add(u, offsets, starts), mk_k(u, offsets, (uint64_t)LS_NOWHERE));
}

enum { REBUILD_DEPTH = 8 };

/* A vector that the fast path does without is made here, of scalars as far as it goes: LLVM would
 * compute what several slow paths use before all of them. */
static lv rebuild(unit *u, ls_value value, int depth)
{
    val v = ls__llvm_value(u, value);
    const ls__ir_inst *inst = ls__ir_def(u->function, value);
    if (v.scalar)
        return ls__llvm_splat(u, v.scalar);
    if (v.base && !v.valid)
        return ls__llvm_spread(u, v.base, v.stride);
    bool is_known = v.base && depth > 0;
    for (uint32_t i = 0; i < inst->arg_count; i++)
        is_known = is_known && u->value_stamps[inst->args[i].id] == u->segment;
    if (!is_known)
        return v.vector;
    lv args[2];
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[i] = rebuild(u, inst->args[i], depth - 1);
    return ls__llvm_arith(u, inst, args);
}

lv ls__llvm_rebuild(unit *u, ls_value value)
{
    return rebuild(u, value, REBUILD_DEPTH);
}

/* Offsets for lanes.c. */
static lv lane_offsets(unit *u, const ls__ir_inst *inst, place *p, bool is_rare)
{
    lv offsets = is_rare ? ls__llvm_rebuild(u, inst->args[0]) : ls__llvm_vector(u, inst->args[0]);
    return inst->base.kind == LS_BASE_LOCAL ? local_offsets(u, inst, p, offsets) : offsets;
}

static access access_of(unit *u, const place *p, bool is_rare)
{
    return (access){p->base, limit_of(u, p, p->bytes), p->bytes, is_rare};
}

static lv load_lanes(unit *u, const ls__ir_inst *inst, const place *p, bool is_rare)
{
    place lanes = *p;
    lv offsets = lane_offsets(u, inst, &lanes, is_rare);
    access a = access_of(u, &lanes, is_rare);
    lv loaded = ls__llvm_gather(u, &a, offsets);
    watch_lanes(u, inst, p, is_rare);
    return loaded;
}

static void store_lanes(unit *u, const ls__ir_inst *inst, const place *p, lv bits, bool is_rare)
{
    place lanes = *p;
    lv offsets = lane_offsets(u, inst, &lanes, is_rare);
    access a = access_of(u, &lanes, is_rare);
    ls__llvm_scatter(u, &a, offsets, bits);
    watch_lanes(u, inst, p, is_rare);
}

/* --- contiguous ------------------------------------------------------------------------------- */

typedef struct contiguous {
    lv pointer;
    lv fast;  /* i1, or NULL: always */
    lv first; /* offset of lane 0 when the others follow it in any case, or NULL */
} contiguous;

/* Element l of the vector at `pointer` is lane l's, when `fast`. */
static bool find_contiguous(unit *u, const ls__ir_inst *inst, const place *p, contiguous *out)
{
    val offset = ls__llvm_value(u, inst->args[0]);
    bool is_local = inst->base.kind == LS_BASE_LOCAL;
    if (is_local || !offset.base || offset.stride != (int64_t)p->bytes)
        return false;
    out->pointer = mk_at(u, p->base, offset.base);
    out->fast = offset.valid;
    out->first = offset.valid ? NULL : offset.base;
    if (!p->known || u->mask) {
        lv limit = limit_of(u, p, (uint64_t)p->bytes * u->width);
        lv inside = mk_icmp(u, LLVMIntULT, offset.base, limit);
        out->fast = out->fast ? mk_and(u, out->fast, inside) : inside;
    }
    return true;
}

static lv load_rarely(unit *u, const ls__ir_inst *inst, const place *p, const contiguous *c)
{
    access a = access_of(u, p, true);
    if (!c->first)
        return load_lanes(u, inst, p, true);
    lv loaded = ls__llvm_load_row(u, &a, c->first);
    watch_lanes(u, inst, p, true);
    return loaded;
}

static void store_rarely(unit *u, const ls__ir_inst *inst, const place *p, const contiguous *c,
                         lv bits)
{
    access a = access_of(u, p, true);
    if (!c->first) {
        store_lanes(u, inst, p, bits, true);
        return;
    }
    ls__llvm_store_row(u, &a, c->first, bits);
    watch_lanes(u, inst, p, true);
}

/* How far a core looks ahead, in instructions, and what the emitter makes of one of the IR. */
enum { WINDOW = 256, VECTOR_LANES = 8 };

static bool in_long_loop(const unit *u)
{
    const note *frame = u->frame;
    while (frame && frame->inst->op != LS_OP_LOOP)
        frame = frame->parent;
    return frame && (frame->end - frame->order) * (u->width / VECTOR_LANES) > WINDOW;
}

/* A loop that reads rows of whole lines one behind the other, but computes so much on each that a
 * core does not see the next round: memory would answer one request after the other, so lines are
 * asked for 2 KB before they are used. What is read in every round alike has been taken out of
 * the loop where the kernel does not write there, so only such buffers are looked at. What lies
 * behind the end of a buffer may be asked for. */
static void ask_ahead(unit *u, const ls__ir_inst *inst, const place *p, const contiguous *c)
{
    enum { AHEAD = 2048, LINE = 64, READ = 0, ALL_CACHES = 3, DATA = 1 };
    uint32_t bytes = p->bytes * u->width;
    if (u->is_generated_quickly || bytes % LINE != 0 || inst->base.kind != LS_BASE_BUFFER ||
        !ls__ir_buffer_param(u->function, inst->base.index)->is_const || !in_long_loop(u))
        return;
    for (uint32_t at = 0; at < bytes; at += LINE) {
        lv args[] = {mk_at(u, c->pointer, mk_i64(u, AHEAD + at)), mk_i32(u, READ),
                     mk_i32(u, ALL_CACHES), mk_i32(u, DATA)};
        ls__llvm_intrinsic(u, "llvm.prefetch", &u->e->ptr, 1, args, 4);
    }
}

static lv load_contiguous(unit *u, const ls__ir_inst *inst, const place *p, const contiguous *c)
{
    lt type = mk_by_lane(u, p->type);
    ask_ahead(u, inst, p, c);
    if (!c->fast)
        return mk_load(u, type, c->pointer, 1);
    lb fast = mk_block(u), slow = u->retreat, after = NULL;
    if (slow) {
        ls__llvm_likely(u, c->fast, fast, slow);
        mk_begin(u, fast);
        return mk_load(u, type, c->pointer, 1);
    }
    slow = mk_block(u), after = mk_block(u);
    mk_cond_br(u, c->fast, fast, slow);
    mk_begin(u, fast);
    lv loaded = mk_load(u, type, c->pointer, 1);
    mk_br(u, after);
    mk_begin(u, slow);
    lv gathered = load_rarely(u, inst, p, c);
    lb slow_end = u->l->GetInsertBlock(u->b);
    mk_br(u, after);
    mk_begin(u, after);
    lv phi = u->l->BuildPhi(u->b, type, "");
    lv values[2] = {loaded, gathered};
    lb blocks[2] = {fast, slow_end};
    u->l->AddIncoming(phi, values, blocks, 2);
    return phi;
}

/* Whether the level stores elements of this size under a mask. */
static bool has_masked_store(const unit *u, uint32_t bytes)
{
    return u->e->target.level == LS__LLVM_AVX512 ||
           (u->e->target.level == LS__LLVM_AVX2 && bytes >= 4);
}

static void store_masked(unit *u, lv bits, lv pointer, bool mine)
{
    if (mine) {
        lv old = mk_load(u, u->l->TypeOf(bits), pointer, 1);
        mk_store(u, mk_select(u, u->mask, bits, old), pointer, 1);
        return;
    }
    lt overloads[2] = {u->l->TypeOf(bits), u->e->ptr};
    lv args[4] = {bits, pointer, mk_i32(u, 1), u->mask};
    ls__llvm_intrinsic(u, "llvm.masked.store", overloads, 2, args, 4);
}

static void store_contiguous(unit *u, const ls__ir_inst *inst, const place *p, const contiguous *c,
                             lv bits)
{
    bool masked = u->mask && (p->mine || has_masked_store(u, p->bytes));
    lv condition = c->fast;
    if (u->mask && !masked) { /* only when all lanes are active */
        lv off = mk_not(u, ls__llvm_any(u, mk_not(u, u->mask)));
        condition = condition ? mk_and(u, condition, off) : off;
    }
    lb fast = mk_block(u), slow = NULL, after = mk_block(u);
    if (condition && u->retreat) {
        ls__llvm_likely(u, condition, fast, u->retreat);
    } else if (condition) {
        slow = mk_block(u);
        mk_cond_br(u, condition, fast, slow);
    } else {
        mk_br(u, fast);
    }
    mk_begin(u, fast);
    if (masked)
        store_masked(u, bits, c->pointer, p->mine);
    else
        mk_store(u, bits, c->pointer, 1);
    mk_br(u, after);
    if (slow) {
        mk_begin(u, slow);
        store_rarely(u, inst, p, c, bits);
        mk_br(u, after);
    }
    mk_begin(u, after);
}

/* --- local objects ---------------------------------------------------------------------------- */

static bool is_multiple(const unit *u, ls_value offset, uint32_t bytes, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, offset);
    if (inst->op == LS_OP_CONST)
        return inst->imm % bytes == 0;
    if (depth == 0)
        return false;
    if (inst->op == LS_OP_INDEX)
        return inst->imm % bytes == 0 && is_multiple(u, inst->args[0], bytes, depth - 1);
    if (inst->op == LS_OP_ADD)
        return is_multiple(u, inst->args[0], bytes, depth - 1) &&
               is_multiple(u, inst->args[1], bytes, depth - 1);
    return false;
}

typedef struct element_search {
    const unit *u;
    uint32_t index, bytes;
    bool differ, has_others; /* than floats */
} element_search;

static bool find_element(ls__ir_inst *inst, void *context)
{
    enum { DEPTH = 8 };
    element_search *s = context;
    if ((inst->op != LS_OP_LOAD && inst->op != LS_OP_STORE) || inst->base.kind != LS_BASE_LOCAL ||
        inst->base.index != s->index)
        return true;
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    s->differ |= s->bytes != 0 && s->bytes != bytes;
    s->differ |= !is_multiple(s->u, inst->args[0], bytes, DEPTH);
    s->has_others |= inst->mem != LS_MEM_F32 && inst->mem != LS_MEM_F64;
    s->bytes = bytes;
    return true;
}

void ls__llvm_survey_local(const unit *u, uint32_t index, local *found)
{
    element_search s = {.u = u, .index = index};
    ls__ir_walk(u->function->body, find_element, &s);
    if (s.differ || s.bytes == 0 || u->function->locals.items[index].size % s.bytes != 0)
        return;
    found->element = s.bytes;
    found->is_float = !s.has_others;
}

/* The offset in a local object that all lanes have, whose elements lie side by side. NULL: not so.
 */
static lv common_offset(unit *u, const ls__ir_inst *inst)
{
    val offset = ls__llvm_value(u, inst->args[0]);
    if (inst->base.kind != LS_BASE_LOCAL || u->width == 1 || !u->locals[inst->base.index].element)
        return NULL;
    return ls__llvm_same(offset);
}

static lv load_common(unit *u, const ls__ir_inst *inst, const place *p, lv offset)
{
    lv pointer = mk_at(u, p->base, mk_mul(u, offset, mk_i64(u, u->width)));
    watch(u, inst, p, offset);
    if (!p->known) {
        lv inside = mk_icmp(u, LLVMIntULT, offset, limit_of(u, p, p->bytes));
        pointer = mk_select(u, inside, pointer, u->e->zeros);
    }
    return mk_load(u, mk_by_lane(u, p->type), pointer, p->bytes);
}

static void store_common(unit *u, const ls__ir_inst *inst, const place *p, lv offset, lv bits)
{
    lv pointer = mk_at(u, p->base, mk_mul(u, offset, mk_i64(u, u->width)));
    watch(u, inst, p, offset);
    lb inside = NULL, after = NULL;
    if (!p->known) {
        inside = mk_block(u), after = mk_block(u);
        mk_cond_br(u, mk_icmp(u, LLVMIntULT, offset, limit_of(u, p, p->bytes)), inside, after);
        mk_begin(u, inside);
    }
    if (u->mask)
        bits = mk_select(u, u->mask, bits, mk_load(u, u->l->TypeOf(bits), pointer, p->bytes));
    mk_store(u, bits, pointer, p->bytes);
    if (after) {
        mk_br(u, after);
        mk_begin(u, after);
    }
}

/* --- the instructions ------------------------------------------------------------------------- */

void ls__llvm_emit_load(unit *u, const ls__ir_inst *inst)
{
    ls_mem mem = (ls_mem)inst->mem;
    place p = place_of(u, inst);
    val offset = ls__llvm_value(u, inst->args[0]);
    bool of_lane = inst->base.kind == LS_BASE_LOCAL && u->width > 1;
    bool uniform = ls__llvm_is_uniform(u, inst->id);
    contiguous c;

    if (uniform && !offset.scalar) /* all active lanes have the same */
        offset.scalar = of_an_active_lane(u, offset.vector);
    lv one = of_lane ? NULL : ls__llvm_same(offset);
    if (one) {
        lv value = ls__llvm_from_memory(u, mem, load_scalar(u, inst, &p, one));
        ls__llvm_define(u, inst, (val){.scalar = value});
        return;
    }
    lv common = common_offset(u, inst), bits;
    if (common)
        bits = load_common(u, inst, &p, common);
    else if (find_contiguous(u, inst, &p, &c))
        bits = load_contiguous(u, inst, &p, &c);
    else
        bits = load_lanes(u, inst, &p, false);
    ls__llvm_define(u, inst, (val){.vector = ls__llvm_from_memory(u, mem, bits)});
}

void ls__llvm_emit_store(unit *u, const ls__ir_inst *inst)
{
    place p = place_of(u, inst);
    val offset = ls__llvm_value(u, inst->args[0]), value = ls__llvm_value(u, inst->args[1]);
    bool of_lane = inst->base.kind == LS_BASE_LOCAL && u->width > 1;
    contiguous c;

    if (!of_lane && offset.scalar) {
        lv one = value.scalar ? value.scalar : of_an_active_lane(u, value.vector);
        store_scalar(u, inst, &p, offset.scalar, ls__llvm_to_memory(u, inst, one));
        return;
    }
    lv bits = ls__llvm_to_memory(u, inst, ls__llvm_vector(u, inst->args[1]));
    lv common = common_offset(u, inst);
    if (common)
        store_common(u, inst, &p, common, bits);
    else if (find_contiguous(u, inst, &p, &c))
        store_contiguous(u, inst, &p, &c, bits);
    else
        store_lanes(u, inst, &p, bits, false);
}
