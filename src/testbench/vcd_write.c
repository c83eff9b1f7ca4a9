/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of value change dumps. The caller's thread fills chunks with records of 32-bit words; the
 * writer's thread turns them into text. A bounded number of chunks goes round, so memory does not
 * depend on the length of the run. Text is written up to the last whole time step only.
 *
 * A record begins with a word whose low two bits say what it is: the value of a signal of one bit,
 * whose number is above; KIND_WIDE, the number of a signal whose value follows; or one of TAG_TIME,
 * behind which are two words of time, TAG_DUMPED and TAG_WHOLE, which says that the step is
 * complete.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"
#include "testbench/vcd.h"

enum { CHUNK_WORDS = 1 << 16, CHUNKS = 4, WRITE_BYTES = 1 << 18, ID_BYTES = 8 };
enum { KIND_WIDE = 2, KIND_TAG = 3, KINDS = 4 };
enum { TAG_TIME = KIND_TAG, TAG_DUMPED = KINDS + KIND_TAG, TAG_WHOLE = 2 * KINDS + KIND_TAG };

typedef struct chunk {
    uint32_t used, capacity; /* words */
    uint32_t *words;
} chunk;

typedef struct text_id {
    char text[ID_BYTES]; /* with the line's end */
    uint8_t length;
} text_id;

struct ls__vcd_writer {
    uint32_t signal_count;
    uint32_t *widths;
    uint64_t *single; /* signals of one bit: few bytes, which stay in the cache */
    bool is_flat;
    /* Owned by the caller's thread. */
    chunk *filling;
    /* Shared. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    chunk chunks[CHUNKS];
    chunk *full[CHUNKS], *empty[CHUNKS];
    uint32_t full_count, empty_count;
    bool stop, failed;
    ls_error error;
    /* Owned by the writer's thread while it runs. */
    pthread_t thread;
    bool has_thread;
    ls__os_appender *file;
    text_id *ids;         /* of signals; flat: of bits, see first_bit */
    uint32_t *first_bit;  /* flat: [signal_count], number of its highest bit */
    uint32_t *first_word; /* flat: [signal_count], place in `last` */
    uint32_t *last;       /* flat: values written last */
    char digits[256][8];  /* of a byte */
    bool first_time, flat_dump;
    uint64_t time; /* of the last step */
    ls__strbuf text;
    size_t whole; /* bytes of text that end a step */
};

/* --- the writer's thread ---------------------------------------------------------------------- */

static char *reserve(ls__vcd_writer *w, size_t bytes)
{
    ls__strbuf *t = &w->text;
    if (t->length + bytes + 1 > t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 2 * WRITE_BYTES;
        while (capacity < t->length + bytes + 1)
            capacity *= 2;
        char *grown = ls__mem_realloc(t->text, capacity, 1);
        if (!grown) {
            t->failed = true;
            return NULL;
        }
        t->text = grown;
        t->capacity = capacity;
    }
    return t->text + t->length;
}

static void put(ls__vcd_writer *w, const char *text)
{
    size_t length = strlen(text);
    char *out = reserve(w, length);
    if (out) {
        memcpy(out, text, length);
        w->text.length += length;
    }
}

static void put_time(ls__vcd_writer *w, uint64_t time)
{
    char digits[24];
    size_t length = 0;
    char *out = reserve(w, sizeof digits + 2);
    if (!out)
        return;
    do
        digits[length++] = (char)('0' + time % 10);
    while (time /= 10);
    *out++ = '#';
    for (size_t i = length; i > 0; i--)
        *out++ = digits[i - 1];
    *out = '\n';
    w->text.length += length + 2;
}

static void put_bit(ls__vcd_writer *w, uint32_t bit, const text_id *id)
{
    char *out = reserve(w, 1 + ID_BYTES);
    if (!out)
        return;
    out[0] = (char)('0' + bit);
    memcpy(out + 1, id->text, ID_BYTES);
    w->text.length += 1u + id->length;
}

/* 32 digits. */
static void put_word(const ls__vcd_writer *w, char *out, uint32_t word)
{
    for (int byte = 3; byte >= 0; byte--, out += 8)
        memcpy(out, w->digits[word >> (8 * byte) & 255], 8);
}

static void put_vector(ls__vcd_writer *w, const uint32_t *words, uint32_t width, const text_id *id)
{
    char first[32];
    char *out = reserve(w, 2 + (size_t)width + 32 + ID_BYTES), *start = out;
    uint32_t top = (width - 1) / 32;
    if (!out)
        return;
    while (top > 0 && words[top] == 0)
        top--;
    uint32_t count = words[top] ? 32 - (uint32_t)__builtin_clz(words[top]) : 1;
    *out++ = 'b';
    put_word(w, first, words[top]);
    memcpy(out, first + 32 - count, count);
    out += count;
    for (; top > 0; top--, out += 32)
        put_word(w, out, words[top - 1]);
    *out++ = ' ';
    memcpy(out, id->text, ID_BYTES);
    w->text.length += (size_t)(out - start) + id->length;
}

/* The bits that changed, the highest first; all in the first step. */
static void put_flat(ls__vcd_writer *w, uint32_t signal, const uint32_t *words)
{
    uint32_t *last = w->last + w->first_word[signal];
    uint32_t width = w->widths[signal];
    for (uint32_t i = 0; i < width; i++) {
        uint32_t bit = width - 1 - i, now = (words[bit / 32] >> (bit % 32)) & 1;
        if (w->flat_dump || now != ((last[bit / 32] >> (bit % 32)) & 1))
            put_bit(w, now, &w->ids[w->first_bit[signal] + i]);
    }
    memcpy(last, words, (width + 31) / 32 * sizeof *last);
}

static ls_status write_whole(ls__vcd_writer *w, ls_error *error)
{
    size_t rest = w->text.length - w->whole;
    ls_status status = LS_OK;
    if (w->text.failed)
        return ls__fail_oom(error, w->text.capacity);
    if (w->whole == 0)
        return LS_OK;
    status = ls__os_appender_write(w->file, w->text.text, w->whole, error);
    memmove(w->text.text, w->text.text + w->whole, rest);
    w->text.length = rest;
    w->whole = 0;
    return status;
}

static ls_status begin_step(ls__vcd_writer *w, uint64_t time, ls_error *error)
{
    ls_status status = LS_OK;
    if (!w->first_time && time == w->time)
        return LS_OK; /* the step goes on */
    w->time = time;
    w->whole = w->text.length;
    if (w->whole >= WRITE_BYTES)
        status = write_whole(w, error);
    if (w->first_time && w->is_flat)
        put(w, "$dumpvars\n");
    put_time(w, time);
    if (w->first_time && !w->is_flat)
        put(w, "$dumpvars\n");
    w->first_time = false;
    return status;
}

static ls_status format_chunk(ls__vcd_writer *w, const chunk *c, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < c->used;) {
        uint32_t tag = c->words[i++], signal = tag / KINDS, bit = tag % KINDS;
        if (bit <= 1) {
            if (w->is_flat)
                put_flat(w, signal, &bit);
            else
                put_bit(w, bit, &w->ids[signal]);
        } else if (bit == KIND_WIDE) {
            if (w->is_flat)
                put_flat(w, signal, c->words + i);
            else
                put_vector(w, c->words + i, w->widths[signal], &w->ids[signal]);
            i += (w->widths[signal] + 31) / 32;
        } else if (tag == TAG_TIME) {
            status = begin_step(w, c->words[i] | (uint64_t)c->words[i + 1] << 32, error);
            i += 2;
        } else if (tag == TAG_DUMPED) {
            if (!w->is_flat)
                put(w, "$end\n");
            w->flat_dump = false;
        } else {
            w->whole = w->text.length;
        }
    }
    return status;
}

static void *run_writer(void *context)
{
    ls__vcd_writer *w = context;
    ls_error error;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->full_count == 0 && !w->stop)
            ls__os_cond_wait(&w->changed, &w->lock, LS_FOREVER);
        if (w->full_count == 0)
            break;
        chunk *c = w->full[0];
        memmove(w->full, w->full + 1, --w->full_count * sizeof *w->full);
        bool is_last = w->full_count == 0, failed = w->failed;
        pthread_mutex_unlock(&w->lock);
        ls_status status = LS_OK;
        if (!failed)
            status = format_chunk(w, c, &error);
        if (!failed && status == LS_OK && is_last)
            status = write_whole(w, &error);
        pthread_mutex_lock(&w->lock);
        if (status != LS_OK) {
            w->failed = true;
            w->error = error;
        }
        w->empty[w->empty_count++] = c;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* --- the caller's thread ---------------------------------------------------------------------- */

static void hand_over(ls__vcd_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->full[w->full_count++] = w->filling;
    pthread_cond_broadcast(&w->changed);
    while (w->empty_count == 0)
        ls__os_cond_wait(&w->changed, &w->lock, LS_FOREVER);
    w->filling = w->empty[--w->empty_count];
    w->filling->used = 0;
    pthread_mutex_unlock(&w->lock);
}

static inline uint32_t *take(ls__vcd_writer *w, uint32_t count)
{
    if (w->filling->capacity - w->filling->used < count)
        hand_over(w);
    uint32_t *words = w->filling->words + w->filling->used;
    w->filling->used += count;
    return words;
}

static ls_status look_for_failure(ls__vcd_writer *w, ls_error *error)
{
    if (!__atomic_load_n(&w->failed, __ATOMIC_RELAXED))
        return LS_OK;
    pthread_mutex_lock(&w->lock);
    if (error)
        *error = w->error;
    ls_status status = w->error.code;
    pthread_mutex_unlock(&w->lock);
    return status;
}

ls_status ls__vcd_writer_time(ls__vcd_writer *w, uint64_t time, ls_error *error)
{
    uint32_t *words = take(w, 3);
    words[0] = TAG_TIME;
    words[1] = (uint32_t)time;
    words[2] = (uint32_t)(time >> 32);
    return look_for_failure(w, error);
}

void ls__vcd_writer_value(ls__vcd_writer *w, uint32_t signal, const uint64_t *value)
{
    if (w->single[signal / 64] >> signal % 64 & 1) {
        *take(w, 1) = signal * KINDS + (uint32_t)(*value & 1);
        return;
    }
    uint32_t count = (w->widths[signal] + 31) / 32;
    uint32_t *words = take(w, 1 + count);
    words[0] = signal * KINDS + KIND_WIDE;
    for (uint32_t i = 0; i < count; i++)
        words[1 + i] = (uint32_t)(value[i / 2] >> (i % 2 * 32));
}

void ls__vcd_writer_dumped(ls__vcd_writer *w)
{
    *take(w, 1) = TAG_DUMPED;
}

ls_status ls__vcd_writer_flush(ls__vcd_writer *w, ls_error *error)
{
    *take(w, 1) = TAG_WHOLE;
    hand_over(w);
    return look_for_failure(w, error);
}

/* --- the header ------------------------------------------------------------------------------- */

static void make_id(text_id *id, uint32_t number)
{
    char digits[ID_BYTES];
    uint32_t length = 0;
    do
        digits[length++] = (char)('!' + number % 94);
    while (number /= 94);
    for (uint32_t i = 0; i < length; i++)
        id->text[i] = digits[length - 1 - i];
    id->text[length] = '\n';
    id->length = (uint8_t)(length + 1);
}

/* Blanks would end the name. */
static void put_name(ls__strbuf *out, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool is_good = (unsigned char)name[i] > ' ' && name[i] != 127;
        ls__strbuf_append(out, is_good ? name + i : "_", 1);
    }
}

/* Bytes of the path in front of the name itself. Names that a synthesis made begin with '$' and
 * have dots of their own; no scope is without a name. */
static size_t scope_length(const char *name)
{
    size_t scope = 0;
    for (const char *part = name; *part && *part != '$' && *part != '.';) {
        const char *dot = strchr(part, '.');
        if (!dot || !dot[1])
            break;
        scope = (size_t)(dot - name);
        part = dot + 1;
    }
    return scope;
}

typedef struct placed {
    const char *name;
    size_t scope; /* bytes of the name that are its scope */
    uint32_t signal;
} placed;

/* By scope, one within another right behind it: '.' sorts below all; then by number. */
static int compare_placed(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    size_t shorter = x->scope < y->scope ? x->scope : y->scope;
    for (size_t i = 0; i < shorter; i++) {
        unsigned char p = (unsigned char)x->name[i], q = (unsigned char)y->name[i];
        if (p != q)
            return p == '.' ? -1 : q == '.' ? 1 : p < q ? -1 : 1;
    }
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    return x->signal < y->signal ? -1 : 1;
}

/* Leaves scopes until the rest contains `name`, and enters what is missing. */
static void change_scope(ls__strbuf *out, const char *from, size_t from_length, const char *to,
                         size_t to_length)
{
    size_t common = 0;
    for (size_t i = 0;; i++) {
        bool from_ends = i == from_length || (i < from_length && from[i] == '.');
        bool to_ends = i == to_length || (i < to_length && to[i] == '.');
        if (from_ends && to_ends)
            common = i;
        if (i >= from_length || i >= to_length || from[i] != to[i])
            break;
    }
    for (size_t i = common; i < from_length; i++)
        if (i == common || from[i] == '.')
            ls__strbuf_printf(out, "$upscope $end\n");
    size_t start = common ? common + 1 : 0;
    while (start < to_length) {
        const char *dot = memchr(to + start, '.', to_length - start);
        size_t end = dot ? (size_t)(dot - to) : to_length;
        ls__strbuf_printf(out, "$scope module ");
        put_name(out, to + start, end - start);
        ls__strbuf_printf(out, " $end\n");
        start = end + 1;
    }
}

static void put_variable(ls__strbuf *out, const ls__vcd_signal *s, const char *name,
                         const text_id *id)
{
    int64_t low = s->offset, high = low + s->width - 1;
    ls__strbuf_printf(out, "$var %s %u %.*s ", s->is_register ? "reg" : "wire", s->width,
                      id->length - 1, id->text);
    put_name(out, name, strlen(name));
    if (s->width > 1)
        ls__strbuf_printf(out, " [%lld:%lld]", (long long)(s->upto ? low : high),
                          (long long)(s->upto ? high : low));
    ls__strbuf_printf(out, " $end\n");
}

static ls_status put_tree(const ls__vcd_writer *w, const ls__vcd_writer_params *p, ls__strbuf *out,
                          ls_error *error)
{
    const char *name = "";
    size_t scope = 0;
    placed *order = ls__mem_alloc(p->signal_count, sizeof *order);
    if (!order)
        return ls__fail_oom(error, p->signal_count * sizeof *order);
    for (uint32_t i = 0; i < p->signal_count; i++)
        order[i] = (placed){p->signals[i].name, scope_length(p->signals[i].name), i};
    if (p->signal_count)
        qsort(order, p->signal_count, sizeof *order, compare_placed);
    for (uint32_t i = 0; i < p->signal_count; i++) {
        const placed *o = &order[i];
        change_scope(out, name, scope, o->name, o->scope);
        name = o->name;
        scope = o->scope;
        put_variable(out, &p->signals[o->signal], name + (scope ? scope + 1 : 0),
                     &w->ids[o->signal]);
    }
    change_scope(out, name, scope, "", 0);
    ls__mem_free(order);
    return LS_OK;
}

static void put_flat_variables(const ls__vcd_writer *w, const ls__vcd_writer_params *p,
                               ls__strbuf *out)
{
    for (uint32_t i = 0; i < p->signal_count; i++) {
        const ls__vcd_signal *s = &p->signals[i];
        for (uint32_t k = 0; k < s->width; k++) {
            const text_id *id = &w->ids[w->first_bit[i] + k];
            int64_t bit = s->upto ? s->offset + (int64_t)k : s->offset + (int64_t)s->width - 1 - k;
            ls__strbuf_printf(out, "$var wire 1 %.*s ", id->length - 1, id->text);
            put_name(out, s->name, strlen(s->name));
            if (s->width > 1)
                ls__strbuf_printf(out, "[%lld]", (long long)bit);
            ls__strbuf_printf(out, " $end\n");
        }
    }
}

/* The header is text like any other: that it cannot be written is seen when it is. */
static ls_status put_header(ls__vcd_writer *w, const ls__vcd_writer_params *p, ls_error *error)
{
    ls__strbuf *out = &w->text;
    ls_status status = LS_OK;
    ls__strbuf_printf(out, "$timescale %s $end\n$scope module ", p->timescale);
    put_name(out, p->scope, strlen(p->scope));
    ls__strbuf_printf(out, " $end\n");
    if (p->is_flat)
        put_flat_variables(w, p, out);
    else
        status = put_tree(w, p, out, error);
    ls__strbuf_printf(out, "$upscope $end\n$enddefinitions $end\n");
    if (status == LS_OK && out->failed)
        status = ls__fail_oom(error, out->capacity);
    w->whole = out->length;
    return status;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static ls_status allocate(ls__vcd_writer *w, const ls__vcd_writer_params *p, ls_error *error)
{
    uint64_t bits = 0, words = 0;
    uint32_t widest = 1;
    size_t count = p->signal_count;
    w->widths = ls__mem_alloc(count, sizeof *w->widths);
    w->single = ls__mem_alloc(count / 64 + 1, sizeof *w->single);
    w->first_bit = ls__mem_alloc(count, sizeof *w->first_bit);
    w->first_word = ls__mem_alloc(count, sizeof *w->first_word);
    if (!w->widths || !w->single || !w->first_bit || !w->first_word)
        return ls__fail_oom(error, count * sizeof *w->widths);
    for (uint32_t i = 0; i < count; i++) {
        w->widths[i] = p->signals[i].width;
        w->single[i / 64] |= (uint64_t)(w->widths[i] == 1) << i % 64;
        w->first_bit[i] = (uint32_t)bits;
        w->first_word[i] = (uint32_t)words;
        bits += w->widths[i];
        words += (w->widths[i] + 31) / 32;
        widest = w->widths[i] > widest ? w->widths[i] : widest;
    }
    if (bits > UINT32_MAX || count > UINT32_MAX / KINDS)
        return ls__fail(error, LS_E_LIMIT,
                        "a waveform of more than 4 billion bits or a billion signals");
    size_t id_count = p->is_flat ? bits : count;
    w->ids = ls__mem_alloc(id_count, sizeof *w->ids);
    w->last = ls__mem_alloc(p->is_flat ? words : 1, sizeof *w->last);
    if (!w->ids || !w->last)
        return ls__fail_oom(error, id_count * sizeof *w->ids);
    for (uint32_t i = 0; i < id_count; i++)
        make_id(&w->ids[i], i);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        w->chunks[i].capacity = CHUNK_WORDS + (widest + 31) / 32;
        w->chunks[i].words = ls__mem_alloc(w->chunks[i].capacity, sizeof(uint32_t));
        if (!w->chunks[i].words)
            return ls__fail_oom(error, w->chunks[i].capacity * sizeof(uint32_t));
        w->empty[i] = &w->chunks[i];
    }
    w->empty_count = CHUNKS - 1;
    w->filling = &w->chunks[CHUNKS - 1];
    return LS_OK;
}

ls_status ls__vcd_writer_open(const ls__vcd_writer_params *params, ls__vcd_writer **writer,
                              ls_error *error)
{
    *writer = NULL;
    ls__vcd_writer *w = ls__mem_alloc(1, sizeof *w);
    if (!w)
        return ls__fail_oom(error, sizeof *w);
    w->signal_count = params->signal_count;
    w->is_flat = w->flat_dump = params->is_flat;
    w->first_time = true;
    for (int byte = 0; byte < 256; byte++)
        for (int bit = 0; bit < 8; bit++)
            w->digits[byte][7 - bit] = (char)('0' + (byte >> bit & 1));
    pthread_mutex_init(&w->lock, NULL);
    int number = ls__os_cond_init(&w->changed);
    ls_status status = number ? ls__fail(error, LS_E_OUT_OF_MEMORY, "no condition variable")
                              : allocate(w, params, error);
    if (status == LS_OK)
        status = ls__os_appender_open(params->path, '#', &w->file, error);
    if (status == LS_OK)
        status = put_header(w, params, error);
    if (status == LS_OK) {
        w->has_thread = ls__os_thread_create(&w->thread, run_writer, w) == 0;
        if (!w->has_thread)
            status = ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot start a thread");
    }
    if (status != LS_OK)
        ls__vcd_writer_close(&w, NULL);
    *writer = w;
    return status;
}

ls_status ls__vcd_writer_close(ls__vcd_writer **writer, ls_error *error)
{
    ls__vcd_writer *w = *writer;
    *writer = NULL;
    if (!w)
        return LS_OK;
    ls_status status = LS_OK, closed;
    if (w->has_thread) {
        ls__vcd_writer_flush(w, NULL);
        pthread_mutex_lock(&w->lock);
        w->stop = true;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        if (w->failed) {
            status = w->error.code;
            if (error)
                *error = w->error;
        }
    }
    closed = ls__os_appender_close(&w->file, status == LS_OK ? error : NULL);
    status = status == LS_OK ? closed : status;
    for (uint32_t i = 0; i < CHUNKS; i++)
        ls__mem_free(w->chunks[i].words);
    ls__strbuf_finish(&w->text);
    ls__mem_free(w->last);
    ls__mem_free(w->ids);
    ls__mem_free(w->first_word);
    ls__mem_free(w->first_bit);
    ls__mem_free(w->single);
    ls__mem_free(w->widths);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    ls__mem_free(w);
    return status;
}
