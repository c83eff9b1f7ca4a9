/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of lockstep/gguf.h as data, and the names of the types that are not read. */
#include <string.h>

#include "gguf/blocks.h"
#include "gguf/reader.h"

static const struct {
    uint32_t number, elements, bytes;
    const char *name;
} types[] = {
#define X(name, number, elements, block) {(number), (elements), sizeof(ls__block_##block), #name},
    LS_GGUF_TYPE_TABLE(X)
#undef X
};

enum { TYPES = sizeof types / sizeof *types };

/* Of the specification, but not of ours: kinds of integers, few bits, and formats that are gone. */
static const struct {
    uint32_t number;
    const char *name;
} others[] = {{4, "Q4_2"},    {5, "Q4_3"},      {9, "Q8_1"},      {15, "Q8_K"},     {16, "IQ2_XXS"},
              {17, "IQ2_XS"}, {18, "IQ3_XXS"},  {19, "IQ1_S"},    {21, "IQ3_S"},    {22, "IQ2_S"},
              {24, "I8"},     {25, "I16"},      {26, "I32"},      {27, "I64"},      {28, "F64"},
              {29, "IQ1_M"},  {31, "Q4_0_4_4"}, {32, "Q4_0_4_8"}, {33, "Q4_0_8_8"}, {34, "TQ1_0"},
              {35, "TQ2_0"},  {39, "MXFP4"}};

bool ls__gguf_type_known(uint32_t number, const char **name)
{
    *name = NULL;
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].number == number) {
            *name = types[i].name;
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].number == number)
            *name = others[i].name;
    return false;
}

const char *ls_gguf_type_name(ls_gguf_type type)
{
    const char *name;
    ls__gguf_type_known((uint32_t)type, &name);
    return name ? name : "unknown";
}

void ls_gguf_type_block(ls_gguf_type type, uint32_t *elements, uint32_t *bytes)
{
    *elements = *bytes = 0;
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].number == (uint32_t)type) {
            *elements = types[i].elements;
            *bytes = types[i].bytes;
        }
}

static const struct {
    const char *name;
    uint32_t bytes;
} kinds[] = {
#define X(name, number, text, bytes) [number] = {text, bytes},
    LS_GGUF_KIND_TABLE(X)
#undef X
};

const char *ls_gguf_kind_name(ls_gguf_kind kind)
{
    return (uint32_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind].name : "unknown";
}

uint32_t ls__gguf_kind_bytes(ls_gguf_kind kind)
{
    return (uint32_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind].bytes : 0;
}
