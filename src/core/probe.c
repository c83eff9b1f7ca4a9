/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations a device gets right. Those a program needs and nobody has asked about yet go
 * into kernels of up to CHUNK operations; each lane computes all of them on operands of its own.
 *
 * The probed kernel is lowered as the device's programs are, so it is the operation as users get it
 * that is judged: a device that needs guards around its division is probed with them. Operations
 * that a lowering brings in by itself are probed as well, but for those it has put guards around.
 *
 * Two threads may probe the same operation at once; both find the same.
 */
#include "core/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "pass/pass.h"

enum { CHUNK = LS__PROBE_CHUNK, LANES = 512, SPECIALS = 16, OPERANDS = 3, IN_TYPES = 5 };

/* --- operations ------------------------------------------------------------------------------- */
static bool is_float(ls_type type)
{
    return type == LS_TYPE_F32 || type == LS_TYPE_F64;
}

static bool is_probed(ls_op op)
{
    switch (op) {
    case LS_OP_CONST:
    case LS_OP_PARAM:
    case LS_OP_ID:
    case LS_OP_RANGE:
    case LS_OP_INDEX:    /* all accesses of the probe itself need it */
    case LS_OP_FRAWBITS: /* made by lowerings, and shows a NaN's bits, which are open */
        return false;
    default:
        return ls__ir_op_has(op, 'P');
    }
}

/* Lowerings that replace the operation: its own, and that of its type. 0 = there is none. */
static uint32_t own_lowering(ls_op op)
{
    switch (op) {
    case LS_OP_FMA:
        return LS__LOWER_FMA;
    case LS_OP_FDIV:
        return LS__LOWER_DIV;
    case LS_OP_FSQRT:
        return LS__LOWER_SQRT;
    case LS_OP_S2F:
    case LS_OP_U2F:
    case LS_OP_F2S:
    case LS_OP_F2U:
    case LS_OP_F2F:
    case LS_OP_F16_TO_F32:
    case LS_OP_BF16_TO_F32:
    case LS_OP_F32_TO_F16:
    case LS_OP_F32_TO_BF16:
        return LS__LOWER_CONVERT;
    case LS_OP_FMIN:
    case LS_OP_FMAX:
        return LS__LOWER_MINMAX;
    case LS_OP_FFLOOR:
    case LS_OP_FCEIL:
    case LS_OP_FTRUNC:
    case LS_OP_FRINT:
        return LS__LOWER_ROUND;
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
    case LS_OP_MULHI_S:
    case LS_OP_MULHI_U:
    case LS_OP_ADD_SAT_S:
    case LS_OP_ADD_SAT_U:
    case LS_OP_SUB_SAT_S:
    case LS_OP_SUB_SAT_U:
    case LS_OP_POPCOUNT:
    case LS_OP_CLZ:
    case LS_OP_CTZ:
    case LS_OP_ROTL:
        return LS__LOWER_INTEGER;
    case LS_OP_DOT4_SS:
    case LS_OP_DOT4_US:
        return LS__LOWER_DOT4;
    case LS_OP_FCANON:
    case LS_OP_FBITS:
        return LS__LOWER_NAN;
    default:
        return 0;
    }
}

static uint32_t lowerings_of(ls__probe_key key)
{
    uint32_t wide = key.type == LS_TYPE_I64 ? LS__LOWER_INT64 : 0;
    return own_lowering((ls_op)key.op) | wide;
}

static ls_mem mem_of(ls_type type)
{
    static const uint8_t mems[LS_TYPE_COUNT] = {
        [LS_TYPE_BOOL] = LS_MEM_BOOL, [LS_TYPE_I32] = LS_MEM_U32, [LS_TYPE_I64] = LS_MEM_U64,
        [LS_TYPE_F32] = LS_MEM_F32,   [LS_TYPE_F64] = LS_MEM_F64,
    };
    return (ls_mem)mems[type];
}

static ls_type operand_type(ls__probe_key key, uint32_t index)
{
    char letter = ls__ir_op((ls_op)key.op)->operands[index];
    return letter == 'T' ? (ls_type)key.type : ls__ir_letter_type(letter, (ls_type)key.type);
}

/* --- the set to probe ------------------------------------------------------------------------- */
typedef struct wanted {
    ls_device *device;
    const ls__ir_function *function; /* being walked */
    uint32_t skip;                   /* LS__LOWER_*: operations these have put guards around */
    ls__probe_key keys[LS__PROBE_MAX_ROWS];
    uint32_t count;
} wanted;

static bool same_key(ls__probe_key a, ls__probe_key b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void want(wanted *w, ls__probe_key key)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (same_key(w->keys[i], key))
            return;
    if (w->count < LS__PROBE_MAX_ROWS)
        w->keys[w->count++] = key;
}

static bool visit(ls__ir_inst *inst, void *context)
{
    wanted *w = context;
    ls__probe_key key = {.op = (uint8_t)inst->op, .result = inst->type};
    if (!is_probed((ls_op)inst->op))
        return true;
    key.type = (uint8_t)ls__ir_operand_type(w->function, inst);
    if (inst->op == LS_OP_F2S || inst->op == LS_OP_F2U)
        key.bits = (uint8_t)inst->imm;
    if (!(lowerings_of(key) & w->skip))
        want(w, key);
    return true;
}

static void collect(wanted *w, const ls__ir_module *module, uint32_t skip)
{
    w->skip = skip;
    for (uint32_t i = 1; i < module->functions.count; i++) {
        w->function = module->functions.items[i];
        ls__ir_walk(w->function->body, visit, w);
    }
}

/* --- the kernel ------------------------------------------------------------------------------- */
/* Buffer 0 has a region for each operand and type, buffer 1 one for each operation; a region has
 * room for LANES elements of 8 bytes. */
static uint64_t region(uint32_t index)
{
    return (uint64_t)index * LANES * 8;
}

static uint32_t in_region(uint32_t operand, ls_type type)
{
    return operand * IN_TYPES + (uint32_t)type - LS_TYPE_BOOL;
}

static ls_value place(ls__ir_cursor *at, ls_value lane, uint32_t index, ls_mem mem)
{
    return ls__ir_index(at, ls__ir_const_i64(at, (int64_t)region(index)), lane,
                        ls__ir_mem_bytes(mem), 0);
}

static void add_buffer(ls__ir_function *kernel, const char *name, bool is_const)
{
    ls__ir_param_add(kernel, (ls__ir_param){.name = name,
                                            .type_name = "u64",
                                            .mem = LS_MEM_U64,
                                            .is_pointer = true,
                                            .is_const = is_const,
                                            .size = 8,
                                            .alignment = 8});
}

static void fill_kernel(ls__ir_module *module, const ls__probe_key *keys, uint32_t count)
{
    ls__ir_function *kernel = ls__ir_function_add(module, "probe", true);
    ls_value operands[OPERANDS * IN_TYPES] = {{0}};
    ls__ir_cursor at = {.function = kernel, .region = kernel->body};
    add_buffer(kernel, "in", true);
    add_buffer(kernel, "out", false);
    ls_value id = ls__ir_insert(&at, LS_OP_ID, LS_TYPE_I32, NULL, 0)->id;
    ls_value lane = ls__ir_emit1(&at, LS_OP_ZEXT, id);
    for (uint32_t i = 0; i < count; i++) {
        ls_value args[OPERANDS];
        uint32_t arg_count = (uint32_t)strlen(ls__ir_op((ls_op)keys[i].op)->operands);
        for (uint32_t k = 0; k < arg_count; k++) {
            ls_type type = operand_type(keys[i], k);
            uint32_t from = in_region(k, type);
            if (!operands[from].id)
                operands[from] = ls__ir_load(&at, mem_of(type), (ls_base){LS_BASE_BUFFER, 0},
                                             place(&at, lane, from, mem_of(type)));
            args[k] = operands[from];
        }
        ls__ir_inst *inst =
            ls__ir_insert(&at, (ls_op)keys[i].op, (ls_type)keys[i].result, args, arg_count);
        inst->imm = keys[i].bits;
        ls_mem mem = mem_of((ls_type)keys[i].result);
        ls__ir_store(&at, mem, (ls_base){LS_BASE_BUFFER, 1}, place(&at, lane, i, mem), inst->id);
    }
}

ls_status ls__probe_module(const ls__probe_key *keys, uint32_t count, uint32_t lower, bool optimize,
                           ls__ir_module **module, ls_error *error)
{
    ls__oom oom = {0};
    ls__pass_split splits[1];
    ls__pass_options passes = {.lower = lower, .optimize = optimize};
    *module = NULL;
    if (setjmp(oom.jump)) {
        ls__ir_module_destroy(module);
        return ls__oom_status(&oom, error);
    }
    *module = ls__ir_module_create(&oom, 0);
    fill_kernel(*module, keys, count);
    (*module)->arena.oom = NULL;
    ls_status status = ls__ir_verify(*module, error);
    if (status == LS_OK)
        status = ls__lower_run(*module, &passes, splits, error);
    if (status != LS_OK)
        ls__ir_module_destroy(module);
    return status;
}

/* --- operands and results --------------------------------------------------------------------- */
static const uint64_t special_ints[SPECIALS] = {
    0,          1,          UINT64_MAX,         2,         7,          31,         32,         0xff,
    0x80000000, 0x7fffffff, 0x8000000000000000, INT64_MAX, 0x80ff7f01, 0xffff8000, 0x7c017bff, 63};
static const uint64_t special_f32[SPECIALS] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x3effffff, 0x40200000, 0x00000001, 0x807fffff,
    0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x4f000000, 0x477ff000};
static const uint64_t special_f64[SPECIALS] = {0,
                                               0x8000000000000000,
                                               0x3ff0000000000000,
                                               0xbff0000000000000,
                                               0x3fdfffffffffffff,
                                               0x4004000000000000,
                                               0x0000000000000001,
                                               0x800fffffffffffff,
                                               0x0010000000000000,
                                               0x7fefffffffffffff,
                                               0x7ff0000000000000,
                                               0xfff0000000000000,
                                               0x7ff8000000000000,
                                               0xfff8123456789abc,
                                               0x41e0000000000000,
                                               0x47effffff0000000};

/* Lanes below SPECIALS^2 pair the special values of the first two operands with each other. */
static uint64_t draw(ls__rng *rng, ls_type type, uint32_t operand, uint32_t lane)
{
    const uint64_t *list = type == LS_TYPE_F32   ? special_f32
                           : type == LS_TYPE_F64 ? special_f64
                                                 : special_ints;
    uint64_t random = ls__rng_u64(rng);
    if (lane < SPECIALS * SPECIALS)
        return list[operand == 0   ? lane % SPECIALS
                    : operand == 1 ? lane / SPECIALS
                                   : random % SPECIALS];
    if (random % 4 == 0) /* near an edge */
        return list[random / 4 % SPECIALS] ^ UINT64_C(1) << (random / 64 % 32);
    if (is_float(type) && random % 4 == 1) { /* of moderate size */
        uint64_t sign_and_fraction = ls__rng_u64(rng);
        return type == LS_TYPE_F32
                   ? (sign_and_fraction & 0x807fffff) | (115 + random / 4 % 25) << 23
                   : (sign_and_fraction & 0x800fffffffffffff) | (1007 + random / 4 % 33) << 52;
    }
    return ls__rng_u64(rng) >> (is_float(type) ? 0 : random / 4 % 64);
}

static void fill_operands(uint8_t *in)
{
    ls__rng rng = {1};
    for (uint32_t operand = 0; operand < OPERANDS; operand++) {
        for (ls_type type = LS_TYPE_BOOL; type <= LS_TYPE_F64; type++) {
            ls_mem mem = mem_of(type);
            uint32_t size = ls__ir_mem_bytes(mem);
            uint8_t *to = in + region(in_region(operand, type));
            for (uint32_t lane = 0; lane < LANES; lane++) {
                uint64_t bits = draw(&rng, type, operand, lane);
                if (type == LS_TYPE_BOOL)
                    bits = bits >> operand & 1;
                memcpy(to + (size_t)lane * size, &bits, size);
            }
        }
    }
}

static bool is_right(ls__probe_key key, const uint8_t *in, const uint8_t *out)
{
    ls__ir_inst inst = {.op = key.op, .type = key.result, .imm = key.bits};
    ls_mem mem = mem_of((ls_type)key.result);
    uint32_t size = ls__ir_mem_bytes(mem);
    inst.arg_count = (uint32_t)strlen(ls__ir_op((ls_op)key.op)->operands);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t args[OPERANDS] = {0};
        uint8_t expected[8];
        for (uint32_t k = 0; k < inst.arg_count; k++) {
            ls_mem from = mem_of(operand_type(key, k));
            const uint8_t *at = in + region(in_region(k, operand_type(key, k)));
            args[k] = ls__ir_load_bits(from, at + (size_t)lane * ls__ir_mem_bytes(from));
        }
        ls__ir_store_bits(mem, expected, ls__ir_eval(&inst, (ls_type)key.type, args), false);
        if (memcmp(expected, out + (size_t)lane * size, size) != 0)
            return false;
    }
    return true;
}

/* Marks in `wrong` which of up to CHUNK operations the device gets wrong. `made` as in
 * ls__probe_run. */
static ls_status judge(ls_device *device, const ls__probe_key *keys, uint32_t count, uint32_t lower,
                       const ls__code_bytes *made, bool *wrong, ls_error *error)
{
    ls__ir_module *module = NULL;
    uint64_t in_size = region(OPERANDS * IN_TYPES), out_size = region(count);
    uint8_t *in = ls__mem_alloc(in_size, 1), *out = ls__mem_alloc(out_size, 1);
    ls_status status = in && out ? LS_OK : ls__fail_oom(error, in_size + out_size);
    if (status == LS_OK)
        status = ls__probe_module(keys, count, lower, device->backend->optimize, &module, error);
    if (status == LS_OK) {
        fill_operands(in);
        status = ls__probe_run(device, module, keys->quick, made, LANES, in, in_size, out, out_size,
                               error);
    }
    for (uint32_t i = 0; i < count && status == LS_OK; i++)
        wrong[i] = !is_right(keys[i], in, out + region(i));
    /* A job that did not end still uses the module. */
    if (status != LS_E_TIMEOUT)
        ls__ir_module_destroy(&module);
    ls__mem_free(in);
    ls__mem_free(out);
    return status;
}

/* --- verdicts --------------------------------------------------------------------------------- */
static const ls__probe_row *find_row(const ls__probe *probe, ls__probe_key key)
{
    for (uint32_t i = 0; probe && i < probe->count; i++)
        if (same_key(probe->rows[i].key, key))
            return &probe->rows[i];
    return NULL;
}

void ls__probe_record(ls_device *device, ls__probe_key key, ls__probe_verdict verdict)
{
    pthread_mutex_lock(&device->build_lock);
    if (!find_row(device->probe, key) && device->probe->count < LS__PROBE_MAX_ROWS)
        device->probe->rows[device->probe->count++] = (ls__probe_row){key, (uint8_t)verdict};
    pthread_mutex_unlock(&device->build_lock);
}

/* Probes operations of one chunk; what is wrong is tried again with its lowering, and then with
 * that of its type. */
static ls_status settle(ls_device *device, const ls__probe_key *keys, uint32_t count,
                        uint32_t device_lower, ls_error *error)
{
    ls__probe_key left[CHUNK];
    bool wrong[CHUNK] = {false};
    uint32_t tried = device_lower | atomic_load(&device->probe->lower);
    bool first = true;
    memcpy(left, keys, count * sizeof *keys);
    while (count) {
        ls_status status = judge(device, left, count, tried, NULL, wrong, error);
        if (status != LS_OK)
            return status;
        uint32_t more = 0, kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t options = lowerings_of(left[i]) & ~tried;
            uint32_t own = own_lowering((ls_op)left[i].op) & options;
            if (wrong[i] && options) {
                more |= own ? own : options;
                left[kept++] = left[i];
            } else {
                ls__probe_record(device, left[i],
                                 wrong[i] ? LS__PROBE_WRONG
                                 : first  ? LS__PROBE_RIGHT
                                          : LS__PROBE_LOWERED);
            }
        }
        atomic_fetch_or(&device->probe->lower, more);
        tried |= more;
        count = kept;
        first = false;
    }
    return LS_OK;
}

static void spell(ls__probe_key key, char *text, size_t size)
{
    const char *type = ls__ir_type_name((ls_type)key.type);
    const ls__ir_op_info *info = ls__ir_op((ls_op)key.op);
    const char *code = key.quick ? " in quick code" : "";
    if (info->result == 'r')
        snprintf(text, size, "%s %s-%s%s", info->name, type, ls__ir_type_name((ls_type)key.result),
                 code);
    else
        snprintf(text, size, "%s %s%s", info->name, type, code);
}

/* Drops what is known from the wanted ones, and refuses what is known to be wrong. */
static ls_status keep_unknown(wanted *w, ls_error *error)
{
    ls_device *device = w->device;
    uint32_t kept = 0;
    ls_status status = LS_OK;
    pthread_mutex_lock(&device->build_lock);
    for (uint32_t i = 0; i < w->count && status == LS_OK; i++) {
        const ls__probe_row *row = find_row(device->probe, w->keys[i]);
        if (!row) {
            w->keys[kept++] = w->keys[i];
        } else if (row->verdict == LS__PROBE_WRONG) {
            char name[64];
            spell(row->key, name, sizeof name);
            status = ls__fail(error, LS_E_UNSUPPORTED,
                              "device '%s' computes '%s' wrongly, and no lowering mends it",
                              device->name, name);
        }
    }
    pthread_mutex_unlock(&device->build_lock);
    w->count = kept;
    return status;
}

static uint32_t lowering_of_device(const ls_device *device)
{
    return device->backend->lowering ? device->backend->lowering(device->handle) : 0;
}

static ls_status probe_all(wanted *w, ls_error *error)
{
    ls_status status = keep_unknown(w, error);
    for (uint32_t i = 0; i < w->count && status == LS_OK; i += CHUNK) {
        uint32_t count = w->count - i < CHUNK ? w->count - i : CHUNK;
        status = settle(w->device, w->keys + i, count, lowering_of_device(w->device), error);
    }
    if (status == LS_OK && w->count) {
        ls__probe_save(w->device);
        status = keep_unknown(w, error);
    }
    return status;
}

ls_status ls__probe_collect(const ls_device *device, const ls__ir_module *source,
                            const ls__ir_module *lowered, uint32_t lower, ls__probe_set **set,
                            ls_error *error)
{
    *set = NULL;
    if (device && !device->probe)
        return LS_OK;
    wanted *w = ls__mem_alloc(1, sizeof *w);
    *set = ls__mem_alloc(1, sizeof **set);
    if (!w || !*set) {
        ls__mem_free(w);
        ls__mem_free(*set);
        *set = NULL;
        return ls__fail_oom(error, sizeof *w);
    }
    collect(w, source, 0);
    if (lowered)
        collect(w, lowered, lower);
    (*set)->count = w->count;
    memcpy((*set)->keys, w->keys, w->count * sizeof *w->keys);
    ls__mem_free(w);
    return LS_OK;
}

static wanted *want_set(ls_device *device, const ls__probe_set *set, bool quick)
{
    wanted *w = ls__mem_alloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->device = device;
    for (w->count = 0; w->count < set->count; w->count++) {
        w->keys[w->count] = set->keys[w->count];
        w->keys[w->count].quick = quick;
    }
    return w;
}

ls_status ls__probe_program(ls_device *device, const ls__probe_set *set, bool quick,
                            ls_error *error)
{
    if (!device->probe)
        return LS_OK;
    wanted *w = want_set(device, set, quick);
    if (!w)
        return ls__fail_oom(error, sizeof *w);
    ls_status status = probe_all(w, error);
    ls__mem_free(w);
    return status;
}

static ls_status refuse_made(ls_device *device, ls__probe_key key, ls_error *error)
{
    char name[64];
    spell(key, name, sizeof name);
    ls__fail(error, LS_E_UNSUPPORTED,
             "device '%s' computes '%s' wrongly with code that was made ahead", device->name, name);
    return ls__fail_hint(error, LS_E_UNSUPPORTED,
                         "build the program on the device, or make the code again with a lowering "
                         "for it");
}

ls_status ls__probe_made(ls_device *device, const ls__probe_set *set, uint32_t lower,
                         const ls__code_bytes *chunks, bool own, ls_error *error)
{
    ls_status status = LS_OK;
    if (!device->probe || (own && ls__probe_knows(device, set, lower, false)))
        return LS_OK;
    for (uint32_t i = 0; i < set->count && status == LS_OK; i += CHUNK) {
        bool wrong[CHUNK] = {false};
        uint32_t count = set->count - i < CHUNK ? set->count - i : CHUNK;
        status = judge(device, set->keys + i, count, lower, chunks + i / CHUNK, wrong, error);
        for (uint32_t k = 0; k < count && status == LS_OK; k++) {
            if (wrong[k])
                status = refuse_made(device, set->keys[i + k], error);
            else if (own)
                ls__probe_record(device, set->keys[i + k], LS__PROBE_RIGHT);
        }
    }
    return status;
}

bool ls__probe_knows(ls_device *device, const ls__probe_set *set, uint32_t lower, bool quick)
{
    if (!device->probe)
        return true;
    if (ls__probe_lowering(device) & ~lower)
        return false;
    wanted *w = want_set(device, set, quick);
    bool known = w && keep_unknown(w, NULL) == LS_OK && w->count == 0;
    ls__mem_free(w);
    return known;
}

/* --- the public question ---------------------------------------------------------------------- */
static bool has_result(ls_op op, ls_type type, ls_type result, uint32_t bits)
{
    switch (op) {
    case LS_OP_F2S:
    case LS_OP_F2U:
        return !is_float(result) && result != LS_TYPE_BOOL && (bits < 64 || result == LS_TYPE_I64);
    case LS_OP_S2F:
    case LS_OP_U2F:
        return is_float(result);
    case LS_OP_F2F:
        return is_float(result) && result != type;
    case LS_OP_F16_TO_F32:
    case LS_OP_BF16_TO_F32:
        return result == LS_TYPE_F32;
    case LS_OP_FBITS:
        return result == (type == LS_TYPE_F64 ? LS_TYPE_I64 : LS_TYPE_I32);
    case LS_OP_FFROM_BITS:
        return result == (type == LS_TYPE_I64 ? LS_TYPE_F64 : LS_TYPE_F32);
    default:
        return result == ls__ir_letter_type(ls__ir_op(op)->result, type);
    }
}

static bool takes_type(ls_op op, ls_type type)
{
    const ls__ir_op_info *info = ls__ir_op(op);
    char letter = type == LS_TYPE_BOOL ? 'B' : is_float(type) ? 'F' : 'I';
    if (!info->types[0])
        return type == ls__ir_letter_type(info->operands[0], type);
    if ((op == LS_OP_F32_TO_F16 || op == LS_OP_F32_TO_BF16) && type != LS_TYPE_F32)
        return false;
    return strchr(info->types, letter) != NULL;
}

static void want_all(wanted *w)
{
    static const uint8_t widths[] = {8, 16, 32, 64};
    for (int op = 1; op < LS_OP_COUNT; op++) {
        bool sized = op == LS_OP_F2S || op == LS_OP_F2U;
        for (int i = 0; i < 25 * (sized ? 4 : 1) && is_probed((ls_op)op); i++) {
            ls_type type = LS_TYPE_BOOL + (ls_type)(i % 5);
            ls_type result = LS_TYPE_BOOL + (ls_type)(i / 5 % 5);
            uint8_t bits = sized ? widths[i / 25] : 0;
            bool doubles = type == LS_TYPE_F64 || result == LS_TYPE_F64;
            if (takes_type((ls_op)op, type) && has_result((ls_op)op, type, result, bits) &&
                (!doubles || w->device->caps.f64))
                want(w, (ls__probe_key){(uint8_t)op, (uint8_t)type, (uint8_t)result, bits, false});
        }
    }
}

static void describe(ls_probe_info *info, const ls__probe_row *row)
{
    static const ls_probe_state states[] = {LS_PROBE_NATIVE, LS_PROBE_LOWERED, LS_PROBE_REFUSED};
    *info = (ls_probe_info){.state = states[row->verdict]};
    spell(row->key, info->operation, sizeof info->operation);
}

ls_status ls_device_probe(ls_device *device, ls_probe_info *infos, uint32_t capacity,
                          uint32_t *count, ls_error *error)
{
    if (!device || !count || (capacity && !infos))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_device_probe: an argument is NULL");
    *count = 0;
    if (!device->probe)
        return LS_OK;
    wanted *w = ls__mem_alloc(1, sizeof *w);
    if (!w)
        return ls__fail_oom(error, sizeof *w);
    w->device = device;
    want_all(w);
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    ls_status status = ls__device_check(device, error);
    if (status == LS_OK)
        status = probe_all(w, error);
    ls__os_fenv_leave(&saved);
    ls__mem_free(w);
    if (status != LS_OK && status != LS_E_UNSUPPORTED) /* a wrong one is what was asked for */
        return status;
    pthread_mutex_lock(&device->build_lock);
    for (uint32_t i = 0; i < device->probe->count; i++) {
        const ls__probe_row *row = &device->probe->rows[i];
        if (row->key.quick && row->verdict == LS__PROBE_RIGHT) /* known of some operations only */
            continue;
        if (*count < capacity)
            describe(&infos[*count], row);
        (*count)++;
    }
    pthread_mutex_unlock(&device->build_lock);
    return LS_OK;
}
