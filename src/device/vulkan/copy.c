/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording transfers.
 *
 * What the host sees is moved by the host where nothing of the job is running: uploads at its
 * start, downloads at its end. Everything else goes through the segment's arena.
 */
#include <string.h>

#include "device/vulkan/jobs.h"

/* Bytes that a transfer moves at once, so that a segment can end between two, and what they take at
 * a guess (4 bytes a nanosecond). */
static const uint64_t piece_bytes = 64 << 20;
enum { BYTES_A_NS = 4, ARENA_RESERVE = 1024, PATTERN_BYTES = 4096 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t arena_most(const ls__vulkan_recorder *r)
{
    return smaller(r->segment->staging.size - ARENA_RESERVE, piece_bytes);
}

/* Room, a barrier, and one more transfer of `bytes` counted. */
static ls__vulkan_end begin_transfer(ls__vulkan_recorder *r, uint64_t arena, uint64_t bytes)
{
    uint64_t ns = bytes / BYTES_A_NS;
    ls__vulkan_end end = ls__vulkan_room(r, 0, arena, ns);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    if (!r->prepared && atomic_load(&r->job->cancel))
        return LS__VULKAN_CANCELLED;
    ls__vulkan_order(r);
    r->segment->records++;
    r->segment->estimated_ns += ns;
    r->segment->copied_ns += ns;
    return LS__VULKAN_GOES_ON;
}

static void copy_bytes(ls__vulkan_recorder *r, VkBuffer source, uint64_t from, VkBuffer target,
                       uint64_t to, uint64_t size)
{
    VkBufferCopy region = {from, to, size};
    r->device->vk.CmdCopyBuffer(r->segment->commands, source, target, 1, &region);
}

/* --- copies ----------------------------------------------------------------------------------- */
/* What the bytes lie in, and where: two imports may be of the same memory of the host. */
static const void *space_of(const ls__vulkan_memory *memory, uint64_t offset, uint64_t *place)
{
    bool imported = memory->block->heap == NULL;
    *place =
        imported ? (uintptr_t)ls__vulkan_host(memory, offset) : ls__vulkan_place(memory, offset);
    return imported ? NULL : memory->block;
}

/* Through the arena, in the order in which nothing is overwritten before it is read. */
static ls__vulkan_end copy_overlapping(ls__vulkan_recorder *r, const ls__command *command,
                                       bool backwards)
{
    const ls__vulkan_memory *to = ls__vulkan_memory_of(&command->target),
                            *from = ls__vulkan_memory_of(&command->source);
    uint64_t size = command->target.size, done = 0;
    while (done < size) {
        uint64_t bytes = smaller(size - done, arena_most(r));
        uint64_t at = backwards ? size - done - bytes : done;
        ls__vulkan_end end = begin_transfer(r, bytes, 2 * bytes);
        if (end != LS__VULKAN_GOES_ON)
            return end;
        ls__vulkan_arena *staging = &r->segment->staging;
        VkBuffer arena = staging->memory->block->buffer;
        uint64_t place = ls__vulkan_place(staging->memory, ls__vulkan_take_bytes(staging, bytes));
        copy_bytes(r, from->block->buffer, ls__vulkan_place(from, command->source.offset + at),
                   arena, place, bytes);
        ls__vulkan_order(r);
        copy_bytes(r, arena, place, to->block->buffer,
                   ls__vulkan_place(to, command->target.offset + at), bytes);
        done += bytes;
    }
    return LS__VULKAN_GOES_ON;
}

ls__vulkan_end ls__vulkan_record_copy(ls__vulkan_recorder *r, const ls__command *command)
{
    ls__vulkan_memory *to = ls__vulkan_memory_of(&command->target),
                      *from = ls__vulkan_memory_of(&command->source);
    uint64_t size = command->target.size, to_place, from_place;
    ls__vulkan_end end = ls__vulkan_clean(r, to);
    if (end == LS__VULKAN_GOES_ON)
        end = ls__vulkan_clean(r, from);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    bool same = space_of(to, command->target.offset, &to_place) ==
                space_of(from, command->source.offset, &from_place);
    if (same && to_place == from_place)
        return LS__VULKAN_GOES_ON;
    if (same && to_place < from_place + size && from_place < to_place + size)
        return copy_overlapping(r, command, to_place > from_place);
    for (uint64_t done = 0; done < size && end == LS__VULKAN_GOES_ON; done += piece_bytes) {
        uint64_t bytes = smaller(size - done, piece_bytes);
        end = begin_transfer(r, 0, bytes);
        if (end == LS__VULKAN_GOES_ON)
            copy_bytes(r, from->block->buffer,
                       ls__vulkan_place(from, command->source.offset + done), to->block->buffer,
                       ls__vulkan_place(to, command->target.offset + done), bytes);
    }
    return end;
}

/* --- fills ------------------------------------------------------------------------------------ */
typedef struct fill {
    ls__vulkan_memory *memory;
    uint64_t begin, end; /* in the block */
    uint64_t origin;     /* where the pattern starts */
    const uint8_t *pattern;
    uint32_t period;
} fill;

static void spell(const fill *f, uint64_t at, uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = f->pattern[(at - f->origin + i) % f->period];
}

/* Bytes [begin, end) from the arena; few of them. */
static ls__vulkan_end fill_from_arena(ls__vulkan_recorder *r, const fill *f, uint64_t begin,
                                      uint64_t end_place)
{
    uint64_t bytes = end_place - begin;
    ls__vulkan_end end = begin_transfer(r, bytes, bytes);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    ls__vulkan_memory *arena = r->segment->staging.memory;
    uint64_t place = ls__vulkan_take_bytes(&r->segment->staging, bytes);
    spell(f, begin, ls__vulkan_host(arena, place), bytes);
    copy_bytes(r, arena->block->buffer, ls__vulkan_place(arena, place), f->memory->block->buffer,
               begin, bytes);
    return LS__VULKAN_GOES_ON;
}

/* Whole words by Vulkan's own fill, the rest from the arena. */
static ls__vulkan_end fill_words(ls__vulkan_recorder *r, const fill *f)
{
    uint64_t first = (f->begin + 3) / 4 * 4, last = f->end / 4 * 4, at;
    uint32_t word;
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    if (first >= last)
        return fill_from_arena(r, f, f->begin, f->end);
    if (f->begin < first)
        end = fill_from_arena(r, f, f->begin, first);
    spell(f, first, (uint8_t *)&word, sizeof word);
    for (at = first; at < last && end == LS__VULKAN_GOES_ON; at += piece_bytes) {
        uint64_t bytes = smaller(last - at, piece_bytes);
        end = begin_transfer(r, 0, bytes);
        if (end == LS__VULKAN_GOES_ON)
            r->device->vk.CmdFillBuffer(r->segment->commands, f->memory->block->buffer, at, bytes,
                                        word);
    }
    if (end == LS__VULKAN_GOES_ON && last < f->end)
        end = fill_from_arena(r, f, last, f->end);
    return end;
}

/* Some from the arena, which is then doubled again and again. */
static ls__vulkan_end fill_doubling(ls__vulkan_recorder *r, const fill *f)
{
    uint64_t size = f->end - f->begin, done = smaller(size, PATTERN_BYTES);
    VkBuffer buffer = f->memory->block->buffer;
    ls__vulkan_end end = fill_from_arena(r, f, f->begin, f->begin + done);
    while (done < size && end == LS__VULKAN_GOES_ON) {
        uint64_t bytes = smaller(smaller(done, size - done), piece_bytes);
        end = begin_transfer(r, 0, bytes);
        if (end == LS__VULKAN_GOES_ON)
            copy_bytes(r, buffer, f->begin, buffer, f->begin + done, bytes);
        done += bytes;
    }
    return end;
}

ls__vulkan_end ls__vulkan_record_fill(ls__vulkan_recorder *r, const ls__command *command)
{
    ls__vulkan_memory *memory = ls__vulkan_memory_of(&command->target);
    uint64_t begin = ls__vulkan_place(memory, command->target.offset);
    fill f = {.memory = memory,
              .begin = begin,
              .end = begin + command->target.size,
              .origin = begin,
              .pattern = command->fill.pattern,
              .period = command->fill.bytes};
    ls__vulkan_end end = ls__vulkan_clean(r, memory);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    bool words = f.period <= 4 || memcmp(f.pattern, f.pattern + 4, 4) == 0;
    return words ? fill_words(r, &f) : fill_doubling(r, &f);
}

/* --- host bytes ------------------------------------------------------------------------------- */
/* Room for the next piece of a move, whose bytes from `done` to `size` are left, and its place in
 * the arena. */
static ls__vulkan_end begin_piece(ls__vulkan_recorder *r, ls__vulkan_move *move, uint64_t done,
                                  uint64_t size)
{
    move->size = smaller(size - done, arena_most(r));
    ls__vulkan_end end = begin_transfer(r, move->size, move->size);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    move->host_place = done;
    move->memory = r->segment->staging.memory;
    move->place = ls__vulkan_take_bytes(&r->segment->staging, move->size);
    return LS__VULKAN_GOES_ON;
}

/* A move by the host between two segments; only while nothing runs. */
static ls__vulkan_end move_directly(ls__vulkan_recorder *r, const ls__vulkan_move *move)
{
    ls__vulkan_segment *s = r->segment;
    if (!r->prepared)
        ls__vulkan_move_bytes(r->device, move, r->job);
    else if (s->before_count == LS__VULKAN_BEFORE)
        return LS__VULKAN_UNPREPARED;
    else
        s->before[s->before_count++] = *move;
    return LS__VULKAN_GOES_ON;
}

ls__vulkan_end ls__vulkan_record_upload(ls__vulkan_recorder *r, uint32_t index)
{
    const ls__span *target = &r->job->commands[index].target;
    ls__vulkan_memory *memory = ls__vulkan_memory_of(target);
    ls__vulkan_move move = {.kind = LS__MOVE_UPLOAD,
                            .command = index,
                            .size = target->size,
                            .memory = memory,
                            .place = target->offset};
    if (r->idle && memory->block->host)
        return move_directly(r, &move);
    ls__vulkan_end end = ls__vulkan_clean(r, memory);
    for (uint64_t done = 0; done < target->size && end == LS__VULKAN_GOES_ON; done += move.size) {
        end = begin_piece(r, &move, done, target->size);
        if (end != LS__VULKAN_GOES_ON)
            break;
        if (r->prepared)
            r->segment->before[r->segment->before_count++] = move;
        else
            ls__vulkan_move_bytes(r->device, &move, r->job);
        copy_bytes(r, move.memory->block->buffer, ls__vulkan_place(move.memory, move.place),
                   memory->block->buffer, ls__vulkan_place(memory, target->offset + done),
                   move.size);
    }
    return end;
}

ls__vulkan_end ls__vulkan_record_download(ls__vulkan_recorder *r, uint32_t index)
{
    const ls__span *source = &r->job->commands[index].source;
    ls__vulkan_memory *memory = ls__vulkan_memory_of(source);
    ls__vulkan_move move = {.kind = LS__MOVE_DOWNLOAD,
                            .command = index,
                            .size = source->size,
                            .memory = memory,
                            .place = source->offset};
    bool direct = memory->block->host != NULL;
    if (direct && r->idle)
        return move_directly(r, &move);
    ls__vulkan_end end = ls__vulkan_clean(r, memory);
    if (direct && index >= r->tail) {
        end = ls__vulkan_room(r, 0, 0, 0);
        if (end == LS__VULKAN_GOES_ON)
            r->segment->after[r->segment->after_count++] = move;
        return end;
    }
    for (uint64_t done = 0; done < source->size && end == LS__VULKAN_GOES_ON; done += move.size) {
        end = begin_piece(r, &move, done, source->size);
        if (end != LS__VULKAN_GOES_ON)
            break;
        r->segment->after[r->segment->after_count++] = move;
        copy_bytes(r, memory->block->buffer, ls__vulkan_place(memory, source->offset + done),
                   move.memory->block->buffer, ls__vulkan_place(move.memory, move.place),
                   move.size);
    }
    return end;
}
