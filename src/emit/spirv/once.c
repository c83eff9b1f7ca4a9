/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that a function has from its start: push constants, launch geometry, addresses and ranges
 * of buffers, scalar parameters. Each is read at the function's entry, when it is first asked for,
 * so that it may be used anywhere.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

/* Returns what u->out was; put it back. */
static words *at_entry(unit *u)
{
    words *saved = u->out;
    u->out = &u->f.entry;
    return saved;
}

static void declare_push(unit *u)
{
    uint32_t members[PUSH_COUNT];
    ref word = ls__spirv_int(u, 32), wide = ls__spirv_int(u, 64);
    uint32_t offset = 0;
    for (uint32_t i = 0; i < PUSH_COUNT; i++)
        members[i] = i < PUSH_GLOBAL_SIZE ? wide : word;
    ref type = ls__spirv_new(u);
    uint32_t operands[PUSH_COUNT + 1] = {type};
    for (uint32_t i = 0; i < PUSH_COUNT; i++) {
        operands[1 + i] = members[i];
        put(u, &u->annotations, SpvOpMemberDecorate, type, i, SpvDecorationOffset, offset);
        offset += i < PUSH_GLOBAL_SIZE ? 8 : 4;
    }
    _Static_assert(sizeof(ls__spirv_push) ==
                       PUSH_GLOBAL_SIZE * 8 + (PUSH_COUNT - PUSH_GLOBAL_SIZE) * 4,
                   "no holes");
    ls__spirv_put(u, &u->globals, SpvOpTypeStruct, operands, PUSH_COUNT + 1);
    ls__spirv_decorate(u, type, SpvDecorationBlock);
    u->push = ls__spirv_global(u, SpvStorageClassPushConstant, type, 0);
    ls__spirv_name(u, u->push, "push");
}

ref ls__spirv_pushed(unit *u, push member)
{
    ref *known = &u->f.once[ONCE_PUSH + (int)member];
    if (*known)
        return *known;
    if (!u->push)
        declare_push(u);
    words *saved = at_entry(u);
    ref type = ls__spirv_int(u, member < PUSH_GLOBAL_SIZE ? 64 : 32);
    ref pointer = ls__spirv_pointer(u, SpvStorageClassPushConstant, type);
    ref index = ls__spirv_u32(u, (uint32_t)member);
    ref at = mk(u, SpvOpAccessChain, pointer, u->push, index);
    *known = mk(u, SpvOpLoad, type, at);
    u->out = saved;
    return *known;
}

/* --- addresses -------------------------------------------------------------------------------- */

static ref add_offset(unit *u, ref address, uint32_t offset)
{
    if (offset == 0)
        return address;
    ref by = ls__spirv_u64(u, offset);
    return mk(u, SpvOpIAdd, ls__spirv_int(u, 64), address, by);
}

static ref read_argument(unit *u, uint32_t offset)
{
    ref block = ls__spirv_pushed(u, PUSH_ARGUMENTS);
    words *saved = at_entry(u);
    ref address = add_offset(u, block, offset);
    ref result = ls__spirv_load_at(u, LS_MEM_U64, address);
    u->out = saved;
    return result;
}

/* Plain functions have both as parameters. */
ref ls__spirv_buffer_address(unit *u, uint32_t buffer)
{
    ref *known = &u->f.address[buffer];
    if (!*known)
        *known = read_argument(u, buffer * (uint32_t)sizeof(ls__spirv_buffer));
    return *known;
}

ref ls__spirv_buffer_range(unit *u, uint32_t buffer)
{
    ref *known = &u->f.range[buffer];
    if (!*known)
        *known = read_argument(u, buffer * (uint32_t)sizeof(ls__spirv_buffer) +
                                      (uint32_t)offsetof(ls__spirv_buffer, range));
    return *known;
}

ref ls__spirv_status_word(unit *u, uint32_t offset)
{
    ref block = ls__spirv_pushed(u, PUSH_STATUS);
    ref address = add_offset(u, block, offset), word = ls__spirv_int(u, 32);
    ref pointer = ls__spirv_pointer(u, SpvStorageClassPhysicalStorageBuffer, word);
    return mk(u, SpvOpConvertUToPtr, pointer, address);
}

/* --- parameters ------------------------------------------------------------------------------- */

/* What a load of this memory type makes of the value a caller gave. */
static ref extend(unit *u, ls_mem mem, ref value)
{
    uint32_t bits = ls__ir_mem_bytes(mem) * 8;
    if (ls__ir_mem_type(mem) != LS_TYPE_I32 || bits == 32)
        return value;
    return ls__spirv_extend(u, 32, bits, mem == LS_MEM_I8 || mem == LS_MEM_I16, value);
}

ref ls__spirv_param(unit *u, const ls__ir_inst *inst)
{
    const ls__ir_function *function = u->f.function;
    uint32_t offset = (uint32_t)inst->imm;
    words *saved;
    ref result;
    if (function->is_kernel) {
        offset += function->buffer_count * (uint32_t)sizeof(ls__spirv_buffer);
        ref block = ls__spirv_pushed(u, PUSH_ARGUMENTS);
        saved = at_entry(u);
        ref address = add_offset(u, block, offset);
        result = ls__spirv_load_at(u, (ls_mem)inst->mem, address);
    } else {
        ref value = u->f.scalars[offset];
        if (!value)
            ls__spirv_fail(u, LS_E_UNSUPPORTED,
                           "function '%s' reads a part of a scalar parameter, which the Vulkan "
                           "backend cannot",
                           function->name);
        saved = at_entry(u);
        result = extend(u, (ls_mem)inst->mem, value);
    }
    u->out = saved;
    return result;
}

/* --- launch geometry -------------------------------------------------------------------------- */

static ref declare_builtin(unit *u, ref type, SpvBuiltIn builtin)
{
    ref variable = ls__spirv_global(u, SpvStorageClassInput, type, 0);
    put(u, &u->annotations, SpvOpDecorate, variable, SpvDecorationBuiltIn, (uint32_t)builtin);
    return variable;
}

static ref vector3(unit *u)
{
    ref word = ls__spirv_int(u, 32);
    return mk_unique(u, SpvOpTypeVector, 0, word, 3);
}

/* One component of a three-vector the driver gives. */
static ref component(unit *u, ref *variable, SpvBuiltIn builtin, uint32_t dimension, ref *known)
{
    if (*known)
        return *known;
    if (!*variable)
        *variable = declare_builtin(u, vector3(u), builtin);
    words *saved = at_entry(u);
    ref word = ls__spirv_int(u, 32), index = ls__spirv_u32(u, dimension);
    ref pointer = ls__spirv_pointer(u, SpvStorageClassInput, word);
    ref at = mk(u, SpvOpAccessChain, pointer, *variable, index);
    *known = mk(u, SpvOpLoad, word, at);
    u->out = saved;
    return *known;
}

/* The push constant would do, but lavapipe compiles a shader anew for the values of push constants
 * that loops and branches depend on; it does not where they are mixed with anything else. */
ref ls__spirv_zero(unit *u, uint32_t bits)
{
    ref *known = &u->f.once[bits == 64 ? ONCE_ZERO64 : ONCE_ZERO];
    ref narrow = 0, group = 0;
    if (*known)
        return *known;
    if (bits == 64) {
        narrow = ls__spirv_zero(u, 32);
    } else {
        narrow = ls__spirv_pushed(u, PUSH_ZERO);
        group = component(u, &u->workgroup_id, SpvBuiltInWorkgroupId, 0, &group);
    }
    words *saved = at_entry(u);
    if (bits == 64)
        *known = mk(u, SpvOpUConvert, ls__spirv_int(u, 64), narrow);
    else
        *known = mk(u, SpvOpBitwiseAnd, ls__spirv_int(u, 32), narrow, group);
    u->out = saved;
    return *known;
}

ref ls__spirv_local_index(unit *u)
{
    ref *known = &u->f.once[ONCE_LOCAL_INDEX];
    ref word = ls__spirv_int(u, 32);
    if (*known)
        return *known;
    if (!u->local_index)
        u->local_index = declare_builtin(u, word, SpvBuiltInLocalInvocationIndex);
    words *saved = at_entry(u);
    *known = mk(u, SpvOpLoad, word, u->local_index);
    u->out = saved;
    return *known;
}

static ref local_id(unit *u, uint32_t dimension)
{
    return component(u, &u->local_id, SpvBuiltInLocalInvocationId, dimension,
                     &u->f.once[ONCE_LOCAL_ID + dimension]);
}

/* Dispatches are pieces of a launch. */
static ref workgroup_id(unit *u, uint32_t dimension)
{
    ref *known = &u->f.once[ONCE_WORKGROUP_ID + dimension];
    ref here = 0;
    if (*known)
        return *known;
    ref base = ls__spirv_pushed(u, PUSH_WORKGROUP_BASE + dimension);
    here = component(u, &u->workgroup_id, SpvBuiltInWorkgroupId, dimension, &here);
    words *saved = at_entry(u);
    *known = mk(u, SpvOpIAdd, ls__spirv_int(u, 32), base, here);
    u->out = saved;
    return *known;
}

ref ls__spirv_group_in_dispatch(unit *u)
{
    ref word = ls__spirv_int(u, 32), id[3] = {0}, size[3] = {0};
    for (uint32_t d = 0; d < 3; d++) {
        component(u, &u->workgroup_id, SpvBuiltInWorkgroupId, d, &id[d]);
        component(u, &u->num_workgroups, SpvBuiltInNumWorkgroups, d, &size[d]);
    }
    ref row = mk(u, SpvOpIMul, word, id[2], size[1]);
    row = mk(u, SpvOpIAdd, word, row, id[1]);
    row = mk(u, SpvOpIMul, word, row, size[0]);
    return mk(u, SpvOpIAdd, word, row, id[0]);
}

/* `which`: 0..2 global_size, 3..5 workgroup_count. From the push constants, or from memory for an
 * indirect dispatch. Memory is read either way, of the status block when there is nothing else. */
static ref launch_size(unit *u, uint32_t which)
{
    ref *known = &u->f.once[ONCE_SIZES + which];
    if (*known)
        return *known;
    ref given = ls__spirv_pushed(u, PUSH_GLOBAL_SIZE + which);
    ref sizes = ls__spirv_pushed(u, PUSH_SIZES), status = ls__spirv_pushed(u, PUSH_STATUS);
    words *saved = at_entry(u);
    ref wide = ls__spirv_int(u, 64), word = ls__spirv_int(u, 32), none = ls__spirv_u64(u, 0);
    ref is_indirect = mk(u, SpvOpINotEqual, ls__spirv_bool(u), sizes, none);
    ref block = mk(u, SpvOpSelect, wide, is_indirect, sizes, status);
    _Static_assert(sizeof(ls__spirv_status) >= sizeof(ls__spirv_sizes), "may be read instead");
    ref address = add_offset(u, block, which * 4);
    ref read = ls__spirv_load_at(u, LS_MEM_U32, address);
    *known = mk(u, SpvOpSelect, word, is_indirect, read, given);
    u->out = saved;
    return *known;
}

static ref global_id(unit *u, uint32_t dimension)
{
    ref group = workgroup_id(u, dimension), lane = local_id(u, dimension);
    ref size = ls__spirv_u32(u, u->kernel->workgroup[dimension]), word = ls__spirv_int(u, 32);
    ref first = mk(u, SpvOpIMul, word, group, size);
    return mk(u, SpvOpIAdd, word, first, lane);
}

ref ls__spirv_id(unit *u, ls_id which, uint32_t dimension)
{
    ref word = ls__spirv_int(u, 32), index;
    switch (which) {
    case LS_ID_GLOBAL_ID:
        return global_id(u, dimension);
    case LS_ID_LOCAL_ID:
        return local_id(u, dimension);
    case LS_ID_WORKGROUP_ID:
        return workgroup_id(u, dimension);
    case LS_ID_GLOBAL_SIZE:
        return launch_size(u, dimension);
    case LS_ID_WORKGROUP_SIZE:
        return ls__spirv_u32(u, u->kernel->workgroup[dimension]);
    case LS_ID_WORKGROUP_COUNT:
        return launch_size(u, 3 + dimension);
    case LS_ID_LOCAL_INDEX:
        return ls__spirv_local_index(u);
    case LS_ID_LANE:
        index = ls__spirv_local_index(u);
        return mk(u, SpvOpBitwiseAnd, word, index, ls__spirv_u32(u, 31));
    case LS_ID_SUBGROUP:
        index = ls__spirv_local_index(u);
        return mk(u, SpvOpShiftRightLogical, word, index, ls__spirv_u32(u, 5));
    default:
        return ls__spirv_pushed(u, PUSH_ITERATION);
    }
}
