/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of the kernels for attention (docs/numerics-llm.md). Heads of a set are written out, so
 * that their sums live in registers and each element of the cache is read and converted once for
 * all of them. Each of the 8 accumulators of a score runs through all its elements before the next
 * one begins, and then waits in memory: so few live at a time.
 */
#include "llm/attention.h"

#include <stdio.h>

#define PUT(...) ls__strbuf_printf(text, __VA_ARGS__)

enum { MOST_ROWS = 3, CHUNK = 64, LANES = 32 };

uint32_t ls__attention_sets(uint32_t group)
{
    return (group + MOST_ROWS - 1) / MOST_ROWS;
}

static uint32_t rows_of(const ls__attention *a)
{
    uint32_t sets = ls__attention_sets(a->group);
    return (a->group + sets - 1) / sets;
}

static const char *type_of(const ls__attention *a)
{
    return a->floats ? "f32" : "f16";
}

static const char *opening(const ls__attention *a)
{
    return a->floats ? "(" : "f16_to_f32(";
}

/* What a column is, and which of its positions it sees: first to position. */
static void put_column(ls__strbuf *text, const char *column)
{
    PUT("    u32 column = %s, position = places[column * 2];\n"
        "    u32 first = position >= window ? position - window + 1 : 0;\n",
        column);
}

/* The heads of the set: row r is at row_r in all heads. A last one that is not there is a double of
 * the group's last, and not stored. */
static void put_rows(ls__strbuf *text, const ls__attention *a)
{
    uint32_t rows = rows_of(a), sets = ls__attention_sets(a->group);
    PUT("    u32 kv = workgroup_id(2) / %u, member = workgroup_id(2) %% %u * %u;\n", sets, sets,
        rows);
    for (uint32_t r = 0; r < rows; r++)
        PUT("    u32 row%u = column * heads + (first_head + kv) * %u + min(member + %u, %uu);\n", r,
            a->group, r, a->group - 1);
}

static void put_condition(ls__strbuf *text, const ls__attention *a, uint32_t r)
{
    if (rows_of(a) * ls__attention_sets(a->group) == a->group)
        PUT("    ");
    else
        PUT("    if (member + %u < %u)\n        ", r, a->group);
}

/* Elements of the part of 32 that begins with element `part`. */
static const char *part_width_of(char text[32], const ls__attention *a)
{
    if (a->width % LANES)
        snprintf(text, 32, "min(32u, %u - part)", a->width);
    else
        snprintf(text, 32, "32");
    return text;
}

/* Key and value of `element`, at `from` of what is new, go to the page at `place`. */
static void put_store(ls__strbuf *text, const ls__attention *a)
{
    const char *close = a->floats ? "(" : "f32_to_f16(";
    char part_width[32];
    PUT("    u32 in_turn = element %% 8 * %u + element / 8, part = element / 32 * 32;\n"
        "    keys[place + at %% 64 / 32 * %u + in_turn * 32 + at %% 32] = %snew_keys[from]);\n"
        "    values[place + part * 64 + at %% 64 * %s + element %% 32] = %snew_values[from]);\n",
        a->width / 8, a->width * LANES, close, part_width_of(part_width, a), close);
}

static void put_append(ls__strbuf *text, const ls__attention *a)
{
    PUT("kernel void append%s(u32 heads, u32 first_head, u32 held, const u32 *places,\n"
        "    const u32 *pages, const f32 *new_keys, const f32 *new_values, %s *keys, %s *values)\n"
        "{\n"
        "    u32 lane = global_id(0), column = global_id(1);\n"
        "    if (lane >= held * %u)\n"
        "        return;\n"
        "    u32 at = places[column * 2], head = lane / %u, element = lane %% %u;\n"
        "    u64 place = ((u64)pages[places[column * 2 + 1] + at / 64] * held + head) * %u;\n"
        "    u64 from = ((u64)column * heads + first_head) * %u + lane;\n",
        a->suffix, type_of(a), type_of(a), a->width, a->width, a->width, a->width * CHUNK,
        a->width);
    put_store(text, a);
    PUT("}\n\n");
}

/* A lane that reads what others have turned waits for them. */
static void put_place(ls__strbuf *text, const ls__attention *a)
{
    const char *rotate = a->halves ? "rotate_halves" : "rotate_neighbours";
    PUT("kernel workgroup(32) void place%s(u32 heads, u32 turned, u32 cache_heads,\n"
        "    u32 first_head, u32 held, u32 pairs, u32 norms, f32 epsilon,\n"
        "    const u32 *places, const u32 *pages, const f32 *table,\n"
        "    const f32 *query_weights, const f32 *key_weights, f32 *queries, f32 *new_keys,\n"
        "    const f32 *new_values, %s *keys, %s *values)\n"
        "{\n"
        "    u32 head = workgroup_id(0), column = workgroup_id(1), at = places[column * 2];\n"
        "    u64 angles = (u64)at * pairs * 2;\n"
        "    if (head < turned) {\n"
        "        u64 from = ((u64)column * heads + head) * %u;\n"
        "        if (norms)\n"
        "            norm_column(%u, epsilon, from, from, queries, query_weights, queries);\n"
        "        barrier();\n"
        "        %s(pairs, from, angles, table, queries);\n"
        "        return;\n"
        "    }\n",
        a->suffix, type_of(a), type_of(a), a->width, a->width, rotate);
    PUT("    head = head - turned;\n"
        "    u64 first = ((u64)column * cache_heads + first_head + head) * %u;\n"
        "    u64 place = ((u64)pages[places[column * 2 + 1] + at / 64] * held + head) * %u;\n"
        "    if (norms)\n"
        "        norm_column(%u, epsilon, first, first, new_keys, key_weights, new_keys);\n"
        "    barrier();\n"
        "    %s(pairs, first, angles, table, new_keys);\n"
        "    barrier();\n"
        "    for (u32 element = lane_id(); element < %u; element += 32) {\n"
        "    u64 from = first + element;\n",
        a->width, a->width * CHUNK, a->width, rotate, a->width);
    put_store(text, a);
    PUT("    }\n}\n\n");
}

/* --- scores ----------------------------------------------------------------------------------- */

/* One slice of the products of 32 keys with the queries, added to total_r. */
static void put_slice(ls__strbuf *text, const ls__attention *a, uint32_t first)
{
    uint32_t rows = rows_of(a), end = first + 256 < a->width ? first + 256 : a->width;
    PUT("    for (u32 i = 0; i < 8; i++) {\n");
    for (uint32_t r = 0; r < rows; r++)
        PUT("        f32 s%u = 0.0f;\n", r);
    PUT("        for (u32 k = %u; k < %u; k++) {\n"
        "            f32 key = %skeys[place + (u64)(i * %u + k) * 32 + lane_id()]);\n",
        first / 8, end / 8, opening(a), a->width / 8);
    for (uint32_t r = 0; r < rows; r++)
        PUT("            s%u = fma(queries[query%u + k * 8 + i], key, s%u);\n", r, r, r);
    PUT("        }\n");
    for (uint32_t r = 0; r < rows; r++)
        PUT("        sums%u[i] = s%u;\n", r, r);
    PUT("    }\n");
    for (uint32_t r = 0; r < rows; r++)
        PUT("    total%u = total%u + (((sums%u[0] + sums%u[1]) + (sums%u[2] + sums%u[3])) +\n"
            "        ((sums%u[4] + sums%u[5]) + (sums%u[6] + sums%u[7])));\n",
            r, r, r, r, r, r, r, r, r, r);
}

static void put_scores(ls__strbuf *text, const ls__attention *a)
{
    uint32_t rows = rows_of(a);
    PUT("kernel workgroup(32) void attention_scores%s(u32 heads, u32 first_head, u32 held,\n"
        "    u32 window, u32 capacity, f32 scale, f32 cap, const u32 *places, const u32 *pages,\n"
        "    const f32 *queries, const %s *keys, f32 *scores, f32 *tops)\n"
        "{\n",
        a->suffix, type_of(a));
    put_column(text, "workgroup_id(0)");
    PUT("    u32 block = workgroup_id(1), at = block * 32 + lane_id();\n"
        "    if (block * 32 > position || block * 32 + 31 < first)\n"
        "        return;\n");
    put_rows(text, a);
    PUT("    u64 page = pages[places[column * 2 + 1] + block / 2];\n"
        "    u64 place = (page * held + kv) * %u + block %% 2 * %u;\n"
        "    bool seen = at <= position && at >= first;\n",
        a->width * CHUNK, a->width * LANES);
    for (uint32_t r = 0; r < rows; r++)
        PUT("    u64 query%u = (u64)row%u * %u;\n    f32 total%u = 0.0f, sums%u[8];\n", r, r,
            a->width, r, r);
    for (uint32_t start = 0; start < a->width; start += 256)
        put_slice(text, a, start);
    for (uint32_t r = 0; r < rows; r++) {
        PUT("    total%u = total%u * scale;\n"
            "    if (cap > 0.0f)\n        total%u = soft(total%u, cap);\n"
            "    f32 top%u = subgroup_max(seen ? total%u : -0x1.fffffep+127f);\n",
            r, r, r, r, r, r);
        put_condition(text, a, r);
        PUT("{\n        scores[(u64)row%u * capacity + at] = total%u;\n"
            "        if (lane_id() == 0)\n"
            "            tops[(u64)row%u * (capacity / 32) + block] = top%u;\n    }\n",
            r, r, r, r);
    }
    PUT("}\n\n");
}

static void put_weights(ls__strbuf *text, const ls__attention *a)
{
    PUT("kernel workgroup(32) void attention_weights%s(u32 heads, u32 window, u32 capacity,\n"
        "    const u32 *places, const f32 *tops, f32 *scores)\n"
        "{\n",
        a->suffix);
    put_column(text, "workgroup_id(0)");
    PUT("    u32 block = workgroup_id(1), at = block * 32 + lane_id();\n"
        "    if (block * 32 > position || block * 32 + 31 < first)\n"
        "        return;\n"
        "    u64 row = (u64)column * heads + workgroup_id(2);\n"
        "    f32 top = -0x1.fffffep+127f;\n"
        "    for (u32 b = first / 32 + lane_id(); b <= position / 32; b += 32)\n"
        "        top = fmax(top, tops[row * (capacity / 32) + b]);\n"
        "    top = subgroup_max(top);\n"
        "    if (at <= position && at >= first)\n"
        "        scores[row * capacity + at] = exp(scores[row * capacity + at] - top);\n"
        "}\n\n");
}

/* --- values ----------------------------------------------------------------------------------- */

/* The sums of chunk `start / 64`: sum_r and part_r. */
static void put_chunk(ls__strbuf *text, const ls__attention *a)
{
    uint32_t rows = rows_of(a);
    char part_width[32];
    PUT("        u32 begin = max(first, start), end = min(position + 1, start + 64);\n"
        "        u64 page = pages[places[column * 2 + 1] + start / 64];\n"
        "        u64 place = (page * held + kv) * %u + part * 64;\n",
        a->width * CHUNK);
    for (uint32_t r = 0; r < rows; r++)
        PUT("        f32 sum%u = 0.0f, part%u = 0.0f;\n", r, r);
    PUT("        for (u32 at = begin; at < end; at++) {\n"
        "            f32 value = %svalues[place + (at - start) * %s + element]);\n",
        opening(a), part_width_of(part_width, a));
    for (uint32_t r = 0; r < rows; r++)
        PUT("            f32 weight%u = scores[(u64)row%u * capacity + at];\n"
            "            part%u = part%u + weight%u;\n"
            "            sum%u = fma(weight%u, value, sum%u);\n",
            r, r, r, r, r, r, r, r);
    PUT("        }\n");
}

/* Lanes behind the last element read the last one. */
static void put_element(ls__strbuf *text, const ls__attention *a)
{
    PUT("    u32 part = workgroup_id(1) * 32;\n");
    if (a->width % LANES)
        PUT("    u32 element = min(lane_id(), %u - part);\n", a->width - 1);
    else
        PUT("    u32 element = lane_id();\n");
}

static void put_values(ls__strbuf *text, const ls__attention *a)
{
    uint32_t rows = rows_of(a);
    PUT("kernel workgroup(32) void attention_values%s(u32 heads, u32 first_head, u32 held,\n"
        "    u32 window, u32 capacity, const u32 *places, const u32 *pages, const f32 *scores,\n"
        "    const %s *values, f32 *y)\n"
        "{\n",
        a->suffix, type_of(a));
    put_column(text, "workgroup_id(0)");
    put_rows(text, a);
    put_element(text, a);
    for (uint32_t r = 0; r < rows; r++)
        PUT("    f32 total%u = 0.0f, all%u = 0.0f;\n", r, r);
    PUT("    for (u32 start = first / 64 * 64; start <= position; start += 64) {\n");
    put_chunk(text, a);
    for (uint32_t r = 0; r < rows; r++)
        PUT("        total%u = total%u + sum%u;\n        all%u = all%u + part%u;\n", r, r, r, r, r,
            r);
    PUT("    }\n    if (workgroup_id(1) * 32 + lane_id() >= %u)\n        return;\n", a->width);
    for (uint32_t r = 0; r < rows; r++) {
        put_condition(text, a, r);
        PUT("y[(u64)row%u * %u + workgroup_id(1) * 32 + lane_id()] = total%u / all%u;\n", r,
            a->width, r, r);
    }
    PUT("}\n\n");
}

static void put_parts(ls__strbuf *text, const ls__attention *a)
{
    uint32_t rows = rows_of(a);
    PUT("kernel workgroup(32) void attention_parts%s(u32 heads, u32 first_head, u32 held,\n"
        "    u32 window, u32 capacity, const u32 *places, const u32 *pages, const f32 *scores,\n"
        "    const %s *values, f32 *sums, f32 *parts)\n"
        "{\n",
        a->suffix, type_of(a));
    put_column(text, "0");
    PUT("    u32 chunk = workgroup_id(0), start = chunk * 64;\n"
        "    if (start > position || start + 63 < first)\n"
        "        return;\n");
    put_rows(text, a);
    put_element(text, a);
    put_chunk(text, a);
    PUT("    if (workgroup_id(1) * 32 + lane_id() >= %u)\n        return;\n", a->width);
    for (uint32_t r = 0; r < rows; r++) {
        put_condition(text, a, r);
        PUT("{\n        u64 to = (u64)chunk * heads + row%u;\n"
            "        sums[to * %u + workgroup_id(1) * 32 + lane_id()] = sum%u;\n"
            "        if (workgroup_id(1) == 0 && lane_id() == 0)\n"
            "            parts[to] = part%u;\n    }\n",
            r, a->width, r, r);
    }
    PUT("}\n\n"
        "kernel void attention_join%s(u32 heads, u32 window, const u32 *places, const f32 *sums,\n"
        "    const f32 *parts, f32 *y)\n"
        "{\n"
        "    u32 element = global_id(0), head = element / %u;\n",
        a->suffix, a->width);
    put_column(text, "0");
    PUT("    f32 total = 0.0f, all = 0.0f;\n"
        "    if (element >= heads * %u)\n"
        "        return;\n"
        "    for (u32 chunk = first / 64; chunk <= position / 64; chunk++) {\n"
        "        total = total + sums[(u64)chunk * heads * %u + element];\n"
        "        all = all + parts[chunk * heads + head];\n"
        "    }\n"
        "    y[element] = total / all;\n"
        "}\n\n",
        a->width, a->width);
}

void ls__attention_kernels(ls__strbuf *text, const ls__attention *attention)
{
    put_append(text, attention);
    put_place(text, attention);
    put_scores(text, attention);
    put_weights(text, attention);
    put_values(text, attention);
    put_parts(text, attention);
}
