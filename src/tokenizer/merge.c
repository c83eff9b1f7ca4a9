/* SPDX-License-Identifier: Apache-2.0 */
/* A list of parts and a heap of pairs. A pair that is no longer there, because one of its parts has
 * been merged with another, stays in the heap and is dropped when it is taken out. */
#include "tokenizer/merge.h"

#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "tokenizer/utf8.h"

enum { LEAST_ROOM = 256 };

/* --- the heap --------------------------------------------------------------------------------- */

static void push(ls__merger *m, ls__candidate candidate)
{
    uint32_t at = m->heap_count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (m->heap[parent].order <= candidate.order)
            break;
        m->heap[at] = m->heap[parent];
        at = parent;
    }
    m->heap[at] = candidate;
}

static ls__candidate pop(ls__merger *m)
{
    ls__candidate best = m->heap[0], last = m->heap[--m->heap_count];
    uint32_t at = 0, count = m->heap_count;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && m->heap[child + 1].order < m->heap[child].order)
            child++;
        if (m->heap[child].order >= last.order)
            break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = last;
    return best;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* A number that is the smaller the larger the score; equal scores are equal. */
static uint32_t order_of_score(float score)
{
    uint32_t bits;
    score = score == 0 ? 0 : score; /* no -0 */
    memcpy(&bits, &score, sizeof bits);
    uint32_t ascending = bits >> 31 ? ~bits : bits | UINT32_C(0x80000000);
    return ~ascending;
}

/* Looks at the part at `place` and the one behind it. */
static void consider(ls__merger *m, uint32_t place)
{
    const ls__part *left = &m->parts[place];
    uint32_t behind = place + left->length;
    if (behind == m->length)
        return;
    const ls__part *right = &m->parts[behind];
    ls__candidate c = {.length = left->length + right->length};
    uint32_t rank;
    if (m->t->model == LS__TOKEN_BPE) {
        ls__token_merge merge = ls__token_merged(m->t, left->id, right->id);
        c.id = merge.id;
        rank = merge.rank;
    } else {
        c.id = ls__token_part(m->t, m->bytes + place, c.length);
        rank = c.id == LS_NO_TOKEN ? 0 : order_of_score(m->t->scores[c.id]);
    }
    if (c.id == LS_NO_TOKEN)
        return;
    c.order = (uint64_t)rank << 32 | place;
    push(m, c);
}

/* The part at c's place and the one behind it become one, if both are still what they were: parts
 * only grow, so their length says it. */
static void apply(ls__merger *m, const ls__candidate *c)
{
    uint32_t place = (uint32_t)c->order;
    ls__part *left = &m->parts[place];
    uint32_t behind = place + left->length;
    if (left->length == 0 || behind == m->length)
        return;
    ls__part *right = &m->parts[behind];
    if (left->length + right->length != c->length)
        return;
    right->length = 0;
    left->id = c->id;
    left->length = c->length;
    if (place + left->length != m->length)
        m->parts[place + left->length].previous = place;
    consider(m, place);
    if (place > 0)
        consider(m, left->previous);
}

/* --- words ------------------------------------------------------------------------------------ */

/* Bytes for BPE, characters for SentencePiece. */
static void first_parts(ls__merger *m)
{
    uint32_t previous = 0;
    for (uint32_t at = 0; at < m->length;) {
        uint32_t length = 1, id = LS_NO_TOKEN;
        if (m->t->model == LS__TOKEN_BPE) {
            id = m->t->byte_ids[m->bytes[at]];
        } else {
            size_t character = ls__utf8_length(m->bytes + at, m->length - at);
            if (character) { /* what is no UTF-8 is no part of a token */
                length = (uint32_t)character;
                id = ls__token_part(m->t, m->bytes + at, character);
            }
        }
        m->parts[at] = (ls__part){id, length, previous};
        for (uint32_t inside = 1; inside < length; inside++)
            m->parts[at + inside].length = 0;
        previous = at;
        at += length;
    }
}

static ls_status make_room(ls__merger *m, size_t length, ls_error *error)
{
    size_t room = m->room ? m->room : LEAST_ROOM;
    while (room < length)
        room *= 2;
    if (room == m->room)
        return LS_OK;
    ls__merge_finish(m);
    m->parts = ls__mem_alloc(room, sizeof *m->parts);
    m->heap = ls__mem_alloc(room, 2 * sizeof *m->heap);
    if (!m->parts || !m->heap) {
        ls__merge_finish(m);
        return ls__fail_oom(error, room * sizeof *m->parts);
    }
    m->room = room;
    return LS_OK;
}

ls_status ls__merge(ls__merger *m, const uint8_t *bytes, size_t length, ls_error *error)
{
    ls_status status = make_room(m, length, error);
    if (status != LS_OK)
        return status;
    m->bytes = bytes;
    m->length = (uint32_t)length;
    m->heap_count = 0;
    first_parts(m);
    for (uint32_t at = 0; at < m->length; at += m->parts[at].length)
        consider(m, at);
    while (m->heap_count) {
        ls__candidate best = pop(m);
        apply(m, &best);
    }
    return LS_OK;
}

void ls__merge_finish(ls__merger *m)
{
    ls__mem_free(m->parts);
    ls__mem_free(m->heap);
    m->parts = NULL;
    m->heap = NULL;
    m->room = 0;
}
