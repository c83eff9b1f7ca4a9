/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values between runs: signals, memories, the private memory of peripherals; saving and restoring
 * an instance.
 *
 * What an instance is made of: inputs, registers and HOLD nodes, memories, pins and private
 * memories of peripherals, what outputs were reported to be, edge and digest. The rest follows, so
 * after a change of these the instance is cold: its next submission evaluates everything first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"
#include "cosim/value.h"
#include "netlist/netlist.h"

static ls_status read_slot(ls_cosim *cosim, uint32_t slot, uint32_t instance, uint64_t *value,
                           ls_error *error)
{
    return ls_buffer_read(cosim->state, ls__state_word(cosim, slot, instance) * 8, LS_MEM_NONE,
                          value, 8, error);
}

static ls_status write_slot(ls_cosim *cosim, uint32_t slot, uint32_t instance, uint64_t value,
                            ls_error *error)
{
    if (slot < LS__CONTROL_SLOTS)
        cosim->control[ls__control_word(slot, instance)] = value;
    return ls_buffer_write(cosim->state, ls__state_word(cosim, slot, instance) * 8, LS_MEM_NONE,
                           &value, 8, error);
}

static ls_status make_cold(ls_cosim *cosim, uint32_t instance, ls_error *error)
{
    cosim->now_stale = true;
    if (cosim->cold && cosim->control[ls__control_word(LS__SLOT_COLD, instance)])
        return LS_OK;
    cosim->cold = true;
    return write_slot(cosim, LS__SLOT_COLD, instance, 1, error);
}

/* Before values are read or written: also brings the slots of the instances up to date. */
static ls_status check_instance(ls_cosim *cosim, uint32_t instance, const void *words,
                                ls_error *error)
{
    if (!cosim || !words)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "cosim or the place of values is NULL");
    if (instance >= cosim->instances)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "there is no instance %" PRIu32 ": there are %" PRIu32, instance,
                        cosim->instances);
    return ls__cosim_fetch(cosim, error);
}

static ls_status check_signal(const ls_cosim *cosim, ls_signal_ref ref, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    if (ref.signal >= g->signal_count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no signal %" PRIu32, ref.signal);
    if (ref.width == 0 || ref.bit > g->signals[ref.signal].width ||
        ref.width > g->signals[ref.signal].width - ref.bit)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "'%s' has no such bits",
                        g->signals[ref.signal].name);
    return LS_OK;
}

/* --- signals ---------------------------------------------------------------------------------- */

typedef struct reading {
    ls_cosim *cosim;
    uint32_t instance;
    const uint64_t *mirror; /* of the instance's state, or NULL */
} reading;

static ls_status read_kept(void *context, ls__node_id node, uint64_t *value, ls_error *error)
{
    reading *r = context;
    ls__place place = r->cosim->form->places[node.index];
    ls_status status = LS_OK;
    if (r->mirror)
        *value = r->mirror[place.slot];
    else
        status = read_slot(r->cosim, place.slot, r->instance, value, error);
    *value = *value >> place.bit & ls__node_mask(r->cosim->graph->nodes[node.index].width);
    return status;
}

static bool is_kept(void *context, ls__node_id node)
{
    reading *r = context;
    return r->cosim->form->places[node.index].slot != LS__NO_SLOT;
}

static ls_status read_memory_word(void *context, uint32_t memory, uint32_t limb, uint64_t word,
                                  uint64_t *value, ls_error *error)
{
    reading *r = context;
    const ls__graph_memory *m = &r->cosim->graph->memories[memory];
    *value = 0;
    if (word >= m->depth)
        return LS_OK;
    uint64_t at = r->cosim->layout.memory_at[memory] + word * m->limbs + limb;
    return ls_buffer_read(r->cosim->memory, (r->instance * r->cosim->layout.memory_step + at) * 8,
                          LS_MEM_NONE, value, 8, error);
}

/* Puts bits [0, width) of `value` at bit `at` of words. */
static void place_bits(uint64_t *words, uint32_t at, uint32_t width, uint64_t value)
{
    uint64_t mask = ls__node_mask((uint8_t)width);
    uint32_t shift = at % 64;
    words[at / 64] = (words[at / 64] & ~(mask << shift)) | (value & mask) << shift;
    if (shift + width > 64)
        words[at / 64 + 1] =
            (words[at / 64 + 1] & ~(mask >> (64 - shift))) | (value & mask) >> (64 - shift);
}

static uint64_t take_bits(const uint64_t *words, uint32_t at, uint32_t width)
{
    uint32_t shift = at % 64;
    uint64_t value = words[at / 64] >> shift;
    if (shift + width > 64)
        value |= words[at / 64 + 1] << (64 - shift);
    return value & ls__node_mask((uint8_t)width);
}

/* Bits of a signal, from a settled state. */
static ls_status read_signal(reading *r, ls_signal_ref ref, uint64_t *words, ls_error *error)
{
    const ls__graph *g = r->cosim->graph;
    const ls__graph_signal *s = &g->signals[ref.signal];
    memset(words, 0, (ref.width + 63) / 64 * sizeof *words);
    const ls__value_source source = {is_kept, read_kept, read_memory_word, r};
    uint32_t start = 0;
    for (uint32_t p = 0; p < s->piece_count && start < ref.bit + ref.width; p++) {
        const ls__piece *piece = &s->pieces[p];
        uint32_t low = start > ref.bit ? start : ref.bit;
        uint32_t end = start + piece->width;
        uint32_t high = end < ref.bit + ref.width ? end : ref.bit + ref.width;
        if (low < high) {
            uint64_t value;
            ls_status status = ls__value_find(g, &source, piece->node, &value, error);
            if (status != LS_OK)
                return status;
            place_bits(words, low - ref.bit, high - low, value >> (piece->lsb + (low - start)));
        }
        start = end;
    }
    return LS_OK;
}

ls_status ls_cosim_get(ls_cosim *cosim, uint32_t instance, ls_signal_ref ref, uint64_t *words,
                       ls_error *error)
{
    ls_status status = check_instance(cosim, instance, words, error);
    if (status == LS_OK)
        status = check_signal(cosim, ref, error);
    if (status == LS_OK)
        status = ls__cosim_settle(cosim, error);
    reading r = {cosim, instance, NULL};
    return status == LS_OK ? read_signal(&r, ref, words, error) : status;
}

/* Values of all traced signals, from one copy of the state. */
static ls_status read_traced(ls_cosim *cosim, uint64_t **values, ls_error *error)
{
    ls_status status = ls__cosim_settle(cosim, error);
    if (status != LS_OK)
        return status;
    uint64_t bytes = (uint64_t)cosim->form->slot_count * 8;
    uint64_t *mirror = ls__mem_alloc(bytes, 1);
    if (!mirror)
        return ls__fail_oom(error, bytes);
    uint32_t instance = cosim->params.trace_instance;
    status = ls_buffer_read(cosim->state, ls__state_word(cosim, 0, instance) * 8, LS_MEM_NONE,
                            mirror, bytes, error);
    reading r = {cosim, instance, mirror};
    for (uint32_t i = 0; status == LS_OK && i < cosim->params.trace_count; i++) {
        uint32_t signal = cosim->trace[i];
        ls_signal_ref ref = {signal, 0, cosim->graph->signals[signal].width};
        status = read_signal(&r, ref, values[i], error);
    }
    ls__mem_free(mirror);
    return status;
}

ls_status ls__traced_seed(ls_cosim *cosim, ls_error *error)
{
    if (cosim->seeded || cosim->params.trace_count == 0)
        return LS_OK;
    ls_status status = read_traced(cosim, cosim->traced, error);
    if (status == LS_OK)
        status = ls__traced_upload(cosim, error);
    cosim->seeded = status == LS_OK;
    return status;
}

static bool is_state(const ls__node *node)
{
    return node->op == LS__NODE_REG || node->op == LS__NODE_HOLD;
}

static ls_status check_register(const ls_cosim *cosim, ls_signal_ref ref, ls_error *error)
{
    const ls__graph_signal *s = &cosim->graph->signals[ref.signal];
    uint32_t start = 0;
    for (uint32_t p = 0; p < s->piece_count; start += s->pieces[p].width, p++)
        if (start < ref.bit + ref.width && ref.bit < start + s->pieces[p].width &&
            !is_state(&cosim->graph->nodes[s->pieces[p].node.index]))
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "'%s' cannot be set: it is no input, register or latch", s->name);
    return LS_OK;
}

static ls_status set_register(ls_cosim *cosim, uint32_t instance, ls_signal_ref ref,
                              const uint64_t *words, ls_error *error)
{
    const ls__graph_signal *s = &cosim->graph->signals[ref.signal];
    uint32_t start = 0;
    for (uint32_t p = 0; p < s->piece_count; start += s->pieces[p].width, p++) {
        const ls__piece *piece = &s->pieces[p];
        uint32_t low = start > ref.bit ? start : ref.bit;
        uint32_t end = start + piece->width;
        uint32_t high = end < ref.bit + ref.width ? end : ref.bit + ref.width;
        if (low >= high)
            continue;
        uint64_t mask = ls__node_mask((uint8_t)(high - low));
        uint32_t shift = piece->lsb + (low - start) + cosim->form->places[piece->node.index].bit;
        uint64_t value, part = take_bits(words, low - ref.bit, high - low);
        uint32_t slot = cosim->form->places[piece->node.index].slot;
        ls_status status = read_slot(cosim, slot, instance, &value, error);
        if (status == LS_OK)
            status = write_slot(cosim, slot, instance, (value & ~(mask << shift)) | part << shift,
                                error);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static ls_status set_input(ls_cosim *cosim, uint32_t instance, ls_signal_ref ref,
                           const uint64_t *words, ls_error *error)
{
    for (uint32_t done = 0; done < ref.width; done += 64) {
        ls_signal_ref part = {ref.signal, ref.bit + done,
                              ref.width - done < 64 ? ref.width - done : 64};
        ls__input_part parts[LS__INPUT_PARTS];
        uint32_t count = 0;
        ls_status status = ls__input_parts(cosim->graph, part, parts, &count, error);
        for (uint32_t i = 0; status == LS_OK && i < count; i++) {
            uint64_t value;
            uint32_t slot = cosim->layout.inputs + parts[i].input;
            status = read_slot(cosim, slot, instance, &value, error);
            value = (value & ~parts[i].mask) | ls__input_value(&parts[i], words[done / 64]);
            if (status == LS_OK)
                status = write_slot(cosim, slot, instance, value, error);
        }
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

ls_status ls_cosim_set(ls_cosim *cosim, uint32_t instance, ls_signal_ref ref, const uint64_t *words,
                       ls_error *error)
{
    ls_status status = check_instance(cosim, instance == LS_COSIM_ALL ? 0 : instance, words, error);
    if (status == LS_OK)
        status = check_signal(cosim, ref, error);
    bool is_input =
        status == LS_OK && cosim->graph->signals[ref.signal].direction == LS__DIRECTION_INPUT;
    if (status == LS_OK && !is_input)
        status = check_register(cosim, ref, error);
    for (uint32_t i = 0; status == LS_OK && i < cosim->instances; i++) {
        if (i != instance && instance != LS_COSIM_ALL)
            continue;
        status = is_input ? set_input(cosim, i, ref, words, error)
                          : set_register(cosim, i, ref, words, error);
        if (status == LS_OK)
            status = make_cold(cosim, i, error);
    }
    return status;
}

const uint64_t *ls_cosim_traced(const ls_cosim *cosim, uint32_t index)
{
    if (index >= cosim->params.trace_count)
        return NULL;
    ls_cosim *self = (ls_cosim *)cosim;
    if (!cosim->in_run && !cosim->failed && ls__traced_seed(self, NULL) == LS_OK &&
        cosim->now_stale) {
        if (read_traced(self, cosim->now, NULL) == LS_OK)
            return cosim->now[index];
    }
    return cosim->traced[index];
}

/* --- memories --------------------------------------------------------------------------------- */

static ls_status check_memory(const ls_cosim *cosim, uint32_t memory, uint32_t first,
                              uint32_t count, ls_error *error)
{
    if (memory >= cosim->graph->memory_count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no memory %" PRIu32, memory);
    const ls__graph_memory *m = &cosim->graph->memories[memory];
    if (first > m->depth || count > m->depth - first)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "'%s': words %" PRIu32 " to %" PRIu64 " of %" PRIu32, m->name, first,
                        (uint64_t)first + count, m->depth);
    return LS_OK;
}

static ls_status move_words(ls_buffer *buffer, uint64_t at, uint64_t count, uint64_t *words,
                            bool write, ls_error *error)
{
    if (count == 0)
        return LS_OK;
    return write ? ls_buffer_write(buffer, at * 8, LS_MEM_NONE, words, count * 8, error)
                 : ls_buffer_read(buffer, at * 8, LS_MEM_NONE, words, count * 8, error);
}

/* Place of a word of a memory. */
static uint64_t memory_word(const ls_cosim *cosim, uint32_t instance, uint32_t memory,
                            uint32_t word)
{
    return instance * cosim->layout.memory_step + cosim->layout.memory_at[memory] +
           (uint64_t)word * cosim->graph->memories[memory].limbs;
}

ls_status ls_cosim_memory_read(ls_cosim *cosim, uint32_t instance, uint32_t memory, uint32_t first,
                               uint32_t count, uint64_t *words, ls_error *error)
{
    ls_status status = check_instance(cosim, instance, words, error);
    if (status == LS_OK)
        status = check_memory(cosim, memory, first, count, error);
    if (status != LS_OK)
        return status;
    return move_words(cosim->memory, memory_word(cosim, instance, memory, first),
                      (uint64_t)count * cosim->graph->memories[memory].limbs, words, false, error);
}

ls_status ls_cosim_memory_write(ls_cosim *cosim, uint32_t instance, uint32_t memory, uint32_t first,
                                uint32_t count, const uint64_t *words, ls_error *error)
{
    ls_status status = check_instance(cosim, instance == LS_COSIM_ALL ? 0 : instance, words, error);
    if (status == LS_OK)
        status = check_memory(cosim, memory, first, count, error);
    if (status != LS_OK)
        return status;
    const ls__graph_memory *m = &cosim->graph->memories[memory];
    uint64_t total = (uint64_t)count * m->limbs;
    uint64_t *copy = ls__mem_alloc(total + 1, sizeof *copy);
    if (!copy)
        return ls__fail_oom(error, total * sizeof *copy);
    for (uint64_t k = 0; k < total; k++) {
        uint32_t limb = (uint32_t)(k % m->limbs);
        copy[k] =
            words[k] & ls__node_mask((uint8_t)(limb + 1 < m->limbs ? 64 : m->width - limb * 64));
    }
    for (uint32_t i = 0; status == LS_OK && i < cosim->instances; i++) {
        if (i != instance && instance != LS_COSIM_ALL)
            continue;
        status = move_words(cosim->memory, memory_word(cosim, i, memory, first), total, copy, true,
                            error);
        if (status == LS_OK)
            status = make_cold(cosim, i, error);
    }
    ls__mem_free(copy);
    return status;
}

static ls_status move_private(ls_cosim *cosim, uint32_t instance, uint32_t peripheral,
                              uint32_t first, uint32_t count, uint32_t *words, bool write,
                              ls_error *error)
{
    ls_status status = check_instance(cosim, instance, words, error);
    if (status != LS_OK)
        return status;
    if (peripheral >= cosim->peripherals->count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no peripheral %" PRIu32,
                        peripheral);
    const ls__peripheral *item = &cosim->peripherals->items[peripheral];
    if (first > item->memory_words || count > item->memory_words - first)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "peripheral '%s' has %" PRIu32 " words of memory", item->name,
                        item->memory_words);
    uint64_t at = (uint64_t)instance * cosim->layout.private_words +
                  cosim->layout.private_at[peripheral] + first;
    if (count == 0)
        return LS_OK;
    return write ? ls_buffer_write(cosim->private_memory, at * 4, LS_MEM_NONE, words,
                                   (uint64_t)count * 4, error)
                 : ls_buffer_read(cosim->private_memory, at * 4, LS_MEM_NONE, words,
                                  (uint64_t)count * 4, error);
}

ls_status ls_cosim_peripheral_read(ls_cosim *cosim, uint32_t instance, uint32_t peripheral,
                                   uint32_t first, uint32_t count, uint32_t *words, ls_error *error)
{
    return move_private(cosim, instance, peripheral, first, count, words, false, error);
}

ls_status ls_cosim_peripheral_write(ls_cosim *cosim, uint32_t instance, uint32_t peripheral,
                                    uint32_t first, uint32_t count, const uint32_t *words,
                                    ls_error *error)
{
    return move_private(cosim, instance, peripheral, first, count, (uint32_t *)words, true, error);
}

/* --- save and restore ------------------------------------------------------------------------- */

/* Saved instances: this header, then u64 words: edge, stop, digest, pins, outputs as reported,
 * inputs, registers, memories; then the private memories. */
typedef struct saved_header {
    char magic[8];
    uint8_t netlist[32];
    uint8_t peripherals[32]; /* of their text: places in the private memory depend on it */
    uint64_t words, private_words;
} saved_header;
_Static_assert(sizeof(saved_header) == 88, "saved instances are read back");

static saved_header make_header(const ls_cosim *cosim)
{
    const ls__layout *l = &cosim->layout;
    saved_header header = {.magic = "LSCOSIM1"};
    memcpy(header.netlist, cosim->graph->digest, sizeof header.netlist);
    ls__digest digest = ls__digest_of(cosim->peripherals->text ? cosim->peripherals->text : "",
                                      cosim->peripherals->text ? cosim->peripherals->length : 0);
    memcpy(header.peripherals, digest.bytes, sizeof header.peripherals);
    header.words = 3 + l->pin_count + (l->drive_count + 63) / 64 + l->observed_count +
                   cosim->graph->input_count + cosim->graph->initial_count + l->memory_words;
    header.private_words = l->private_words;
    return header;
}

/* Moves values of registers between the device and `words`. */
static ls_status move_registers(ls_cosim *cosim, uint32_t instance, uint64_t *words, bool write,
                                ls_error *error)
{
    const ls__graph *g = cosim->graph;
    uint64_t bytes = (uint64_t)cosim->form->slot_count * 8;
    uint64_t at = ls__state_word(cosim, 0, instance) * 8;
    uint64_t *mirror = ls__mem_alloc(bytes, 1);
    if (!mirror)
        return ls__fail_oom(error, bytes);
    ls_status status = ls_buffer_read(cosim->state, at, LS_MEM_NONE, mirror, bytes, error);
    for (uint32_t i = 0; i < g->initial_count; i++) {
        ls__place place = cosim->form->places[g->initials[i].node.index];
        uint64_t mask = ls__node_mask(g->nodes[g->initials[i].node.index].width);
        if (write)
            mirror[place.slot] = (mirror[place.slot] & ~(mask << place.bit)) | (words[i] & mask)
                                                                                   << place.bit;
        else
            words[i] = mirror[place.slot] >> place.bit & mask;
    }
    if (status == LS_OK && write)
        status = ls_buffer_write(cosim->state, at, LS_MEM_NONE, mirror, bytes, error);
    ls__mem_free(mirror);
    return status;
}

/* Moves an instance between the device and `words`. */
static ls_status move_instance(ls_cosim *cosim, uint32_t instance, uint64_t *words, bool write,
                               ls_error *error)
{
    const ls__graph *g = cosim->graph;
    const ls__layout *l = &cosim->layout;
    const struct {
        uint32_t slot, count;
    } ranges[] = {{LS__SLOT_EDGE, 3},
                  {l->pins, l->pin_count + (l->drive_count + 63) / 64}, /* and those that are due */
                  {l->outputs, l->observed_count},
                  {l->inputs, g->input_count}};
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < 4; i++) {
        status = move_words(cosim->state, ls__state_word(cosim, ranges[i].slot, instance),
                            ranges[i].count, words, write, error);
        words += ranges[i].count;
    }
    if (status == LS_OK)
        status = move_registers(cosim, instance, words, write, error);
    words += g->initial_count;
    if (status == LS_OK)
        status = move_words(cosim->memory, instance * l->memory_step, l->memory_words, words, write,
                            error);
    words += l->memory_words;
    uint64_t at = (uint64_t)instance * l->private_words * 4, bytes = (uint64_t)l->private_words * 4;
    if (status == LS_OK && bytes)
        status = write
                     ? ls_buffer_write(cosim->private_memory, at, LS_MEM_NONE, words, bytes, error)
                     : ls_buffer_read(cosim->private_memory, at, LS_MEM_NONE, words, bytes, error);
    return status;
}

ls_status ls_cosim_save(ls_cosim *cosim, uint32_t instance, void **bytes, size_t *size,
                        ls_error *error)
{
    if (bytes)
        *bytes = NULL;
    if (size)
        *size = 0;
    ls_status status = check_instance(cosim, instance, bytes, error);
    if (status == LS_OK && !size)
        status = ls__fail(error, LS_E_INVALID_ARGUMENT, "size is NULL");
    if (status == LS_OK)
        status = ls__cosim_settle(cosim, error); /* reports of the state before the first edge */
    if (status != LS_OK)
        return status;
    saved_header header = make_header(cosim);
    size_t total = sizeof header + header.words * 8 + header.private_words * 4;
    uint8_t *all = ls__mem_alloc(total, 1);
    if (!all)
        return ls__fail_oom(error, total);
    memcpy(all, &header, sizeof header);
    status =
        move_instance(cosim, instance, (uint64_t *)(void *)(all + sizeof header), false, error);
    if (status != LS_OK) {
        ls__mem_free(all);
        return status;
    }
    *bytes = all;
    *size = total;
    return LS_OK;
}

ls_status ls_cosim_restore(ls_cosim *cosim, uint32_t instance, const void *bytes, size_t size,
                           ls_error *error)
{
    ls_status status = check_instance(cosim, instance, bytes, error);
    if (status != LS_OK)
        return status;
    saved_header header = make_header(cosim), given;
    if (size < sizeof given)
        return ls__fail(error, LS_E_FORMAT, "these bytes are no saved instance");
    memcpy(&given, bytes, sizeof given);
    if (memcmp(given.magic, header.magic, sizeof header.magic) != 0)
        return ls__fail(error, LS_E_FORMAT, "these bytes are no saved instance");
    if (memcmp(&given, &header, sizeof header) != 0)
        return ls__fail(error, LS_E_VERSION,
                        "the saved instance is of another netlist or has other peripherals");
    if (size != sizeof header + header.words * 8 + header.private_words * 4)
        return ls__fail(error, LS_E_FORMAT, "the saved instance is cut short or too long");
    uint64_t *words = ls__mem_alloc(size - sizeof header, 1);
    if (!words)
        return ls__fail_oom(error, size);
    memcpy(words, (const uint8_t *)bytes + sizeof header, size - sizeof header);
    uint64_t edge = words[0], stop = words[1], digest = words[2];
    status = move_instance(cosim, instance, words, true, error);
    ls__mem_free(words);
    cosim->control[ls__control_word(LS__SLOT_EDGE, instance)] = edge;
    cosim->control[ls__control_word(LS__SLOT_STOP, instance)] = stop;
    cosim->control[ls__control_word(LS__SLOT_DIGEST, instance)] = digest;
    cosim->now_stale = true;
    cosim->cold = true;
    if (status == LS_OK)
        status = ls__queue_drop(cosim, instance, error);
    return status == LS_OK ? write_slot(cosim, LS__SLOT_COLD, instance, 1, error) : status;
}

ls_status ls_cosim_halt(ls_cosim *cosim, uint32_t instance, ls_error *error)
{
    ls_status status = check_instance(cosim, instance, cosim, error);
    return status == LS_OK ? write_slot(cosim, LS__SLOT_STOP, instance, LS__STOP_FINISH, error)
                           : status;
}

ls_status ls_cosim_digest(ls_cosim *cosim, uint32_t instance, uint64_t *digest, ls_error *error)
{
    ls_status status = check_instance(cosim, instance, digest, error);
    if (status == LS_OK)
        *digest = cosim->control[ls__control_word(LS__SLOT_DIGEST, instance)];
    return status;
}
