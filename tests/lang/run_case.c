/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one kernel of a case on the reference interpreter:
 *
 *     // run: KERNEL global=X[,Y,Z] NAME=VALUE... NAME=TYPE:V,V,... -> NAME=TYPE:V,V,...
 * [trap=CODE]
 *
 * Scalars are given by value, buffers as a list of numbers of a memory type (any type: a buffer of
 * structs may be given as u32). A value "V*N" stands for N times V. f32 and f64 are decimal,
 * hexadecimal, inf, nan, or bits as 0x...b. What stands behind the arrow is compared byte for byte;
 * a float NaN is compared as the one NaN.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

enum { MAX_BYTES = 1 << 16, MAX_BUFFERS = 16 };

typedef struct buffer {
    uint8_t bytes[MAX_BYTES];
    size_t size;
} buffer;

static ls_mem mem_by_name(const char *name, size_t length)
{
    for (int mem = LS_MEM_BOOL; mem < LS_MEM_COUNT; mem++) {
        const char *text = ls__ir_mem_name((ls_mem)mem);
        if (strlen(text) == length && memcmp(text, name, length) == 0)
            return (ls_mem)mem;
    }
    return LS_MEM_NONE;
}

/* Value bits of a number as memory of type mem. */
static uint64_t parse_value(ls_mem mem, const char *text, char **end)
{
    if (mem != LS_MEM_F32 && mem != LS_MEM_F64) {
        bool is_negative = text[0] == '-';
        return is_negative ? (uint64_t)strtoll(text, end, 0) : strtoull(text, end, 0);
    }
    uint64_t bits = strtoull(text, end, 0);
    if (**end == 'b') {
        (*end)++;
        return bits;
    }
    if (strncmp(text, "nan", 3) == 0) {
        *end = (char *)(uintptr_t)text + 3;
        return mem == LS_MEM_F32 ? 0x7fc00000u : UINT64_C(0x7ff8000000000000);
    }
    bits = 0;
    if (mem == LS_MEM_F32) {
        float f = strtof(text, end);
        memcpy(&bits, &f, sizeof f);
    } else {
        double d = strtod(text, end);
        memcpy(&bits, &d, sizeof d);
    }
    return bits;
}

/* "TYPE:V,V*3,..." into bytes; false when malformed. */
static bool parse_buffer(const char *text, buffer *out, ls_mem *mem)
{
    const char *colon = strchr(text, ':');
    *mem = colon ? mem_by_name(text, (size_t)(colon - text)) : LS_MEM_NONE;
    size_t step = ls__ir_mem_bytes(*mem);
    out->size = 0;
    if (*mem == LS_MEM_NONE)
        return false;
    for (const char *at = colon + 1; *at;) {
        char *end;
        uint64_t bits = parse_value(*mem, at, &end);
        unsigned long count = 1;
        if (end == at)
            return false;
        if (*end == '*')
            count = strtoul(end + 1, &end, 10);
        for (unsigned long i = 0; i < count && out->size + step <= MAX_BYTES; i++) {
            ls__ir_store_bits(*mem, out->bytes + out->size, bits, true);
            out->size += step;
        }
        if (*end != ',' && *end != 0)
            return false;
        at = *end ? end + 1 : end;
    }
    return true;
}

static const ls__ir_param *find_param(const ls__ir_function *kernel, const char *name,
                                      size_t length)
{
    for (uint32_t i = 0; i < kernel->params.count; i++) {
        const ls__ir_param *param = &kernel->params.items[i];
        if (strlen(param->name) == length && memcmp(param->name, name, length) == 0)
            return param;
    }
    return NULL;
}

typedef struct run {
    const ls__ir_function *kernel;
    ls__interp_launch launch;
    ls__interp_binding bindings[MAX_BUFFERS];
    buffer *buffers; /* MAX_BUFFERS of them, and one to compare with */
    uint8_t scalars[4096];
} run;

static bool parse_argument(run *r, const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        return false;
    if (strncmp(word, "global=", 7) == 0)
        return sscanf(word + 7, "%u,%u,%u", &r->launch.global_size[0], &r->launch.global_size[1],
                      &r->launch.global_size[2]) >= 1;
    const ls__ir_param *param = find_param(r->kernel, word, (size_t)(equals - word));
    if (!param)
        return false;
    ls_mem mem;
    if (param->is_pointer) {
        buffer *b = &r->buffers[param->buffer];
        if (!parse_buffer(equals + 1, b, &mem))
            return false;
        r->bindings[param->buffer] =
            (ls__interp_binding){.bytes = b->bytes,
                                 .size = b->size / param->size * param->size,
                                 .identity = param->buffer + 1u};
        return true;
    }
    if (param->mem == LS_MEM_NONE) { /* a struct: given like a buffer */
        buffer *b = &r->buffers[MAX_BUFFERS];
        if (!parse_buffer(equals + 1, b, &mem))
            return false;
        memcpy(r->scalars + param->offset, b->bytes, param->size);
        return true;
    }
    char *end;
    ls__ir_store_bits((ls_mem)param->mem, r->scalars + param->offset,
                      parse_value((ls_mem)param->mem, equals + 1, &end), true);
    return *end == 0;
}

static bool check_output(run *r, const char *path, const char *word,
                         const ls__interp_result *result)
{
    const char *equals = strchr(word, '=');
    if (strncmp(word, "trap=", 5) == 0) {
        if (result->trapped && result->trap_code == strtoul(word + 5, NULL, 0))
            return true;
        printf("%s: expected %s, got %s %u\n", path, word, result->trapped ? "trap" : "no trap",
               result->trap_code);
        return false;
    }
    const ls__ir_param *param =
        equals ? find_param(r->kernel, word, (size_t)(equals - word)) : NULL;
    buffer *expected = &r->buffers[MAX_BUFFERS];
    ls_mem mem;
    if (!param || !param->is_pointer || !parse_buffer(equals + 1, expected, &mem)) {
        printf("%s: malformed output '%s'\n", path, word);
        return false;
    }
    const buffer *got = &r->buffers[param->buffer];
    if (got->size == expected->size && memcmp(got->bytes, expected->bytes, got->size) == 0)
        return true;
    printf("%s: expected %s\n  got:", path, word);
    for (size_t i = 0; i < got->size; i += ls__ir_mem_bytes(mem)) {
        uint64_t bits = ls__ir_load_bits(mem, got->bytes + i);
        if (mem == LS_MEM_F32) {
            float f;
            memcpy(&f, &bits, sizeof f);
            printf(" %.9g", (double)f);
        } else if (ls__ir_mem_type(mem) == LS_TYPE_I32) {
            printf(" %d", (int32_t)bits);
        } else {
            printf(" 0x%llx", (unsigned long long)bits);
        }
    }
    printf("\n");
    return false;
}

static bool run_words(run *r, const char *path, const ls__ir_module *module, char *line)
{
    char *save, *word = strtok_r(line, " ", &save);
    r->kernel = ls__ir_function_find(module, ls__str_from(word));
    if (!r->kernel || r->kernel->buffer_count > MAX_BUFFERS) {
        printf("%s: cannot run '%s'\n", path, word);
        return false;
    }
    while ((word = strtok_r(NULL, " ", &save)) && strcmp(word, "->") != 0) {
        if (!parse_argument(r, word)) {
            printf("%s: malformed argument '%s'\n", path, word);
            return false;
        }
    }
    r->launch.module = module;
    r->launch.kernel = r->kernel;
    r->launch.bindings = r->bindings;
    r->launch.scalars = r->scalars;
    ls__interp_result result = {0};
    ls_error error = {0};
    if (run_launch(&r->launch, &result, &error) != LS_OK) {
        printf("%s: %s\n", path, error.message);
        return false;
    }
    bool good = true;
    while ((word = strtok_r(NULL, " ", &save)))
        good &= check_output(r, path, word, &result);
    return good;
}

bool run_case(const char *path, const ls__ir_module *module, char *line)
{
    run *r = calloc(1, sizeof *r);
    buffer *buffers = calloc(MAX_BUFFERS + 1, sizeof *buffers);
    if (!r || !buffers)
        abort();
    r->buffers = buffers;
    for (int d = 0; d < 3; d++)
        r->launch.global_size[d] = 1;
    bool good = run_words(r, path, module, line);
    free(buffers);
    free(r);
    return good;
}
