/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a file to the words of a memory, or to bytes. ELF and binary files are bytes at addresses,
 * of which a memory takes `width / 8` every `stride` bytes; text has words of its own. Words are
 * handed on a few at a time.
 */
#include "netlist/image.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/params.h"
#include "base/status.h"
#include "base/str.h"
#include "netlist/image_file.h"

static const uint64_t file_bytes_most = (uint64_t)1 << 30;
enum { CHUNK_WORDS = 1024 };

static ls_status where(const ls_image_params *params, ls_status status, ls_error *error)
{
    return ls__fail_where(error, status, "%s", params->path);
}

static ls_image_format format_of(const ls_image_params *params, const void *file, size_t size)
{
    static const char *const suffixes[] = {".hex", ".mem", ".vmem", ".vh"};
    if (params->format != LS_IMAGE_AUTO)
        return params->format;
    if (size >= 4 && memcmp(file, "\177ELF", 4) == 0)
        return LS_IMAGE_ELF;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (ls__str_ends_in(params->path, suffixes[i]))
            return LS_IMAGE_READMEMH;
    }
    return LS_IMAGE_BINARY;
}

/* The digits as a number of `width` bits; false when it does not fit. x and z are 0. */
static bool word_of(const char *digits, size_t count, unsigned digit_bits, uint32_t width,
                    uint64_t *words)
{
    memset(words, 0, ((size_t)width + 63) / 64 * sizeof *words);
    for (size_t i = 0; i < count; i++) {
        char c = digits[count - 1 - i];
        unsigned value = 0;
        if (c >= '0' && c <= '9')
            value = (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            value = (unsigned)((c | 32) - 'a') + 10;
        for (unsigned bit = 0; bit < digit_bits; bit++) {
            size_t at = i * digit_bits + bit;
            if (!(value >> bit & 1))
                continue;
            if (at >= width)
                return false;
            words[at / 64] |= (uint64_t)1 << (at % 64);
        }
    }
    return true;
}

/* --- bytes from several places ---------------------------------------------------------------- */
/* Two passes: the first finds the size, the second fills. */

typedef struct collector {
    const ls_image_params *params;
    uint64_t limit, size;
    unsigned digit_bits;
    uint8_t *bytes; /* NULL: the first pass */
    /* For a memory: what is beyond the limit is left out, and words that get a byte are marked. */
    bool clip;
    uint8_t *taken;
    uint32_t stride, word_bytes;
} collector;

static void mark_words(collector *collector, uint64_t offset, uint64_t count)
{
    uint64_t first = offset / collector->stride;
    if (offset % collector->stride >= collector->word_bytes)
        first++; /* it begins behind the bytes of that word */
    for (uint64_t i = first; i * collector->stride < offset + count; i++)
        collector->taken[i] = 1;
}

static ls_status collect(collector *collector, uint64_t offset, const uint8_t *bytes,
                         uint64_t count, ls_error *error)
{
    if (collector->clip && offset >= collector->limit)
        return LS_OK;
    if (collector->clip && count > collector->limit - offset)
        count = collector->limit - offset;
    if (collector->taken)
        mark_words(collector, offset, count);
    if (collector->bytes) {
        memcpy(collector->bytes + offset, bytes, (size_t)count);
        return LS_OK;
    }
    if (offset > collector->limit || count > collector->limit - offset) {
        ls_status status =
            ls__fail(error, LS_E_LIMIT,
                     "the image reaches %llu bytes behind address 0x%llx, more "
                     "than %llu",
                     (unsigned long long)offset, (unsigned long long)collector->params->address,
                     (unsigned long long)collector->limit);
        ls__fail_hint(error, status, "give the address of its first byte");
        return where(collector->params, status, error);
    }
    if (offset + count > collector->size)
        collector->size = offset + count;
    return LS_OK;
}

static ls_status collect_segment(void *context, uint64_t address, const uint8_t *bytes,
                                 uint64_t count, ls_error *error)
{
    collector *collector = context;
    uint64_t base = collector->params->address;
    if (address >= base)
        return collect(collector, address - base, bytes, count, error);
    uint64_t before = base - address;
    if (before >= count)
        return LS_OK;
    return collect(collector, 0, bytes + before, count - before, error);
}

/* --- words ------------------------------------------------------------------------------------ */

typedef struct writer {
    const ls_image_params *params;
    const ls__image_memory *memory;
    ls__image_put put;
    void *context;
    uint32_t stride, word_bytes; /* of ELF and binary */
    uint32_t words64;            /* a word of the memory */
    unsigned digit_bits;
    uint64_t *chunk;
    uint32_t first, count; /* of the memory's words in the chunk */
    bool taken;            /* something lay in the memory */
} writer;

static ls_status flush(writer *writer, ls_error *error)
{
    uint32_t count = writer->count;
    writer->count = 0;
    return count ? writer->put(writer->context, writer->first, count, writer->chunk, error) : LS_OK;
}

/* A place for word `index`: its words of 64 bits. */
static ls_status next_word(writer *writer, uint32_t index, uint64_t **words, ls_error *error)
{
    if (writer->count == CHUNK_WORDS || index != writer->first + writer->count) {
        ls_status status = flush(writer, error);
        if (status != LS_OK)
            return status;
        writer->first = index;
    }
    writer->taken = true;
    *words = writer->chunk + (size_t)writer->count++ * writer->words64;
    return LS_OK;
}

static ls_status put_text_word(void *context, uint64_t address, const char *digits, size_t count,
                               uint64_t line, ls_error *error)
{
    writer *writer = context;
    const ls__image_memory *memory = writer->memory;
    uint64_t *words;
    if (address < memory->start || address - memory->start >= memory->depth) {
        ls__fail(error, LS_E_FORMAT, "address 0x%llx is not in memory '%s' (0x%x to 0x%llx)",
                 (unsigned long long)address, memory->name, memory->start,
                 (unsigned long long)memory->start + memory->depth - 1);
        return ls__fail_where(error, LS_E_FORMAT, "%s:%llu", writer->params->path,
                              (unsigned long long)line);
    }
    ls_status status = next_word(writer, (uint32_t)(address - memory->start), &words, error);
    if (status != LS_OK)
        return status;
    if (!word_of(digits, count, writer->digit_bits, memory->width, words)) {
        ls__fail(error, LS_E_FORMAT, "a word does not fit in the %u bits of memory '%s'",
                 memory->width, memory->name);
        return ls__fail_where(error, LS_E_FORMAT, "%s:%llu", writer->params->path,
                              (unsigned long long)line);
    }
    return LS_OK;
}

/* Word `index` of bytes that begin with the memory's first; bytes beyond their end are 0. */
static ls_status put_word_of_bytes(writer *writer, uint32_t index, const uint8_t *bytes,
                                   uint64_t count, ls_error *error)
{
    uint64_t at = (uint64_t)index * writer->stride, *words;
    ls_status status = next_word(writer, index, &words, error);
    if (status != LS_OK)
        return status;
    memset(words, 0, writer->words64 * sizeof *words);
    for (uint32_t i = 0; i < writer->word_bytes && at + i < count; i++)
        words[i / 8] |= (uint64_t)bytes[at + i] << (i % 8 * 8);
    return LS_OK;
}

static ls_status put_binary(writer *writer, const uint8_t *bytes, size_t size, ls_error *error)
{
    uint64_t skipped = writer->params->address;
    if (skipped >= size)
        return ls__fail(error, LS_E_FORMAT, "the file has %zu bytes, and %llu are passed over",
                        size, (unsigned long long)skipped);
    uint64_t room = (uint64_t)writer->memory->depth * writer->stride;
    if (size - skipped > room)
        return ls__fail(error, LS_E_FORMAT, "%llu bytes do not fit in the %llu of memory '%s'",
                        (unsigned long long)(size - skipped), (unsigned long long)room,
                        writer->memory->name);
    ls_status status = LS_OK;
    size -= (size_t)skipped;
    for (uint32_t i = 0; status == LS_OK && (uint64_t)i * writer->stride < size; i++)
        status = put_word_of_bytes(writer, i, bytes + skipped, size, error);
    return status;
}

/* Segments may share a word, so they are gathered first. */
static ls_status put_elf(writer *writer, const void *file, size_t size, ls_error *error)
{
    const ls__image_memory *memory = writer->memory;
    const char *path = writer->params->path;
    collector collector = {.params = writer->params,
                           .limit = (uint64_t)memory->depth * writer->stride,
                           .clip = true,
                           .stride = writer->stride,
                           .word_bytes = writer->word_bytes};
    ls_status status = ls__elf_visit(file, size, path, collect_segment, &collector, error);
    if (status != LS_OK || collector.size == 0)
        return status;
    uint8_t *bytes = ls__mem_alloc((size_t)collector.size, 1);
    uint8_t *taken = ls__mem_alloc((size_t)(collector.size / writer->stride) + 1, 1);
    if (bytes && taken) {
        collector.bytes = bytes;
        collector.taken = taken;
        status = ls__elf_visit(file, size, path, collect_segment, &collector, error);
        for (uint32_t i = 0; status == LS_OK && (uint64_t)i * writer->stride < collector.size; i++)
            if (taken[i])
                status = put_word_of_bytes(writer, i, bytes, collector.size, error);
    } else {
        status = ls__fail_oom(error, (size_t)collector.size);
    }
    ls__mem_free(bytes);
    ls__mem_free(taken);
    return status;
}

static ls_status prepare(writer *writer, ls_image_format format, ls_error *error)
{
    const ls__image_memory *memory = writer->memory;
    writer->words64 = (uint32_t)(((uint64_t)memory->width + 63) / 64);
    writer->digit_bits = format == LS_IMAGE_READMEMB ? 1 : 4;
    if (format == LS_IMAGE_ELF || format == LS_IMAGE_BINARY) {
        if (memory->width % 8 != 0)
            return ls__fail(error, LS_E_UNSUPPORTED,
                            "memory '%s' has words of %u bits, which are no whole bytes: use text "
                            "for $readmemh",
                            memory->name, memory->width);
        writer->word_bytes = memory->width / 8;
        writer->stride =
            writer->params->stride_bytes ? writer->params->stride_bytes : writer->word_bytes;
        if (writer->stride < writer->word_bytes)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "a stride of %u bytes is less than a word of memory '%s'",
                            writer->stride, memory->name);
    }
    writer->chunk = ls__mem_alloc(CHUNK_WORDS, writer->words64 * sizeof(uint64_t));
    return writer->chunk ? LS_OK : ls__fail_oom(error, CHUNK_WORDS * sizeof(uint64_t));
}

static ls_status lower(void *context, uint64_t address, const uint8_t *bytes, uint64_t count,
                       ls_error *error)
{
    uint64_t *lowest = context;
    (void)bytes;
    (void)count;
    (void)error;
    *lowest = address < *lowest ? address : *lowest;
    return LS_OK;
}

/* `found` is the params with the address that LS_IMAGE_LOWEST stands for. */
static ls_status find_lowest(const ls_image_params *params, ls_image_format format,
                             const void *file, size_t size, ls_image_params *found, ls_error *error)
{
    *found = *params;
    if (params->address != LS_IMAGE_LOWEST)
        return LS_OK;
    if (format != LS_IMAGE_ELF)
        found->address = 0;
    return format == LS_IMAGE_ELF
               ? ls__elf_visit(file, size, params->path, lower, &found->address, error)
               : LS_OK;
}

ls_status ls__image_words_of(const void *file, size_t size, const ls_image_params *params,
                             const ls__image_memory *memory, ls__image_put put, void *context,
                             ls_error *error)
{
    ls_image_params found;
    ls_image_format format = format_of(params, file, size);
    ls_status status = find_lowest(params, format, file, size, &found, error);
    if (status != LS_OK)
        return status;
    params = &found;
    writer writer = {.params = params, .memory = memory, .put = put, .context = context};
    status = prepare(&writer, format, error);
    if (status != LS_OK)
        return where(params, status, error);
    if (format == LS_IMAGE_ELF) {
        status = put_elf(&writer, file, size, error);
        if (status == LS_OK && !writer.taken) {
            status = ls__fail(error, LS_E_FORMAT,
                              "no segment has bytes for memory '%s' at address 0x%llx",
                              memory->name, (unsigned long long)params->address);
            where(params, status, error);
        }
    } else if (format == LS_IMAGE_BINARY) {
        status = put_binary(&writer, file, size, error);
        if (status != LS_OK)
            where(params, status, error);
    } else {
        status = ls__readmem_visit(file, size, params->path, writer.digit_bits,
                                   memory->start + params->address, put_text_word, &writer, error);
    }
    if (status == LS_OK)
        status = flush(&writer, error);
    ls__mem_free(writer.chunk);
    return status;
}

ls_status ls__image_words(const ls_image_params *params, const ls__image_memory *memory,
                          ls__image_put put, void *context, ls_error *error)
{
    void *file;
    size_t size;
    ls_status status = ls__os_read_file(params->path, file_bytes_most, &file, &size, error);
    if (status != LS_OK)
        return status;
    status = ls__image_words_of(file, size, params, memory, put, context, error);
    ls__mem_free(file);
    return status;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static ls_status collect_word(void *context, uint64_t address, const char *digits, size_t count,
                              uint64_t line, ls_error *error)
{
    collector *collector = context;
    uint64_t word;
    if (!word_of(digits, count, collector->digit_bits, 8, &word)) {
        ls__fail(error, LS_E_FORMAT, "a word is larger than a byte");
        return ls__fail_where(error, LS_E_FORMAT, "%s:%llu", collector->params->path,
                              (unsigned long long)line);
    }
    uint8_t byte = (uint8_t)word;
    return collect(collector, address, &byte, 1, error);
}

static ls_status collect_all(collector *collector, ls_image_format format, const void *file,
                             size_t size, ls_error *error)
{
    const ls_image_params *params = collector->params;
    if (format == LS_IMAGE_ELF)
        return ls__elf_visit(file, size, params->path, collect_segment, collector, error);
    if (format != LS_IMAGE_BINARY)
        return ls__readmem_visit(file, size, params->path, collector->digit_bits, params->address,
                                 collect_word, collector, error);
    uint64_t skipped = params->address < size ? params->address : size;
    return collect(collector, 0, (const uint8_t *)file + skipped, size - skipped, error);
}

ls_status ls__image_bytes_of(const void *file, size_t size, const ls_image_params *params,
                             void **bytes, uint64_t *count, ls_error *error)
{
    ls_image_params found;
    ls_image_format format = format_of(params, file, size);
    *bytes = NULL;
    *count = 0;
    ls_status status = find_lowest(params, format, file, size, &found, error);
    if (status != LS_OK)
        return status;
    params = &found;
    collector collector = {.params = params,
                           .limit = params->limit_bytes ? params->limit_bytes : file_bytes_most,
                           .digit_bits = format == LS_IMAGE_READMEMB ? 1 : 4};
    status = collect_all(&collector, format, file, size, error);
    if (status != LS_OK)
        return status;
    if (collector.size == 0)
        return where(params,
                     ls__fail(error, LS_E_FORMAT, "the file has no bytes from address 0x%llx on",
                              (unsigned long long)params->address),
                     error);
    uint8_t *image = ls__mem_alloc((size_t)collector.size, 1);
    if (!image)
        return ls__fail_oom(error, (size_t)collector.size);
    memset(image, params->fill, (size_t)collector.size);
    collector.bytes = image;
    status = collect_all(&collector, format, file, size, error);
    if (status != LS_OK) {
        ls__mem_free(image);
        return status;
    }
    *bytes = image;
    *count = collector.size;
    return LS_OK;
}

ls_status ls_image_load(const ls_image_params *params, void **bytes, uint64_t *size,
                        ls_error *error)
{
    ls_image_params given;
    void *file;
    size_t file_size;
    if (!bytes || !size)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the place for the result is missing");
    *bytes = NULL;
    *size = 0;
    ls_status status = ls__params_in(&given, sizeof given, params, false, "ls_image_load", error);
    if (status != LS_OK)
        return status;
    if (!given.path)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the path of the image is missing");
    status = ls__os_read_file(given.path, file_bytes_most, &file, &file_size, error);
    if (status != LS_OK)
        return status;
    status = ls__image_bytes_of(file, file_size, &given, bytes, size, error);
    ls__mem_free(file);
    return status;
}
