/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as texts, and what they lack. */
#include <string.h>

#include "emit/spirv/target.h"
#include "ir/lowering.h"

static const char first_word[] = "vulkan1.2";

static const char *const words[] = {
#define X(word, text) #word,
    LS__SPIRV_TARGET_TABLE(X)
#undef X
};
enum { WORD_COUNT = sizeof words / sizeof *words };

#define X(word, text) +1 + sizeof #word
_Static_assert(LS__SPIRV_TARGET_BYTES >= sizeof first_word LS__SPIRV_TARGET_TABLE(X),
               "all words fit");
#undef X
_Static_assert(sizeof(ls__spirv_target) == WORD_COUNT, "an array of bools, in the table's order");

static bool *flag_of(ls__spirv_target *target, uint32_t word)
{
    return (bool *)target + word;
}

static bool set_word(ls__spirv_target *target, const char *text, size_t length)
{
    for (uint32_t i = 0; i < WORD_COUNT; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) {
            bool is_new = !*flag_of(target, i);
            *flag_of(target, i) = true;
            return is_new;
        }
    }
    return false;
}

bool ls__spirv_target_parse(const char *text, ls__spirv_target *target)
{
    size_t length = strcspn(text, "+");
    *target = (ls__spirv_target){0};
    if (length != strlen(first_word) || memcmp(text, first_word, length) != 0)
        return false;
    text += length;
    while (*text == '+') {
        text++;
        length = strcspn(text, "+");
        if (!set_word(target, text, length))
            return false;
        text += length;
    }
    return true;
}

void ls__spirv_target_print(const ls__spirv_target *target, char text[LS__SPIRV_TARGET_BYTES])
{
    ls__spirv_target copy = *target;
    strcpy(text, first_word);
    for (uint32_t i = 0; i < WORD_COUNT; i++) {
        if (*flag_of(&copy, i)) {
            strcat(text, "+");
            strcat(text, words[i]);
        }
    }
}

bool ls__spirv_target_runs(const ls__spirv_target *wanted, const ls__spirv_target *device)
{
    ls__spirv_target want = *wanted, have = *device;
    for (uint32_t i = 0; i < WORD_COUNT; i++) {
        if (*flag_of(&want, i) && !*flag_of(&have, i))
            return false;
    }
    return true;
}

bool ls__spirv_target_suits(const char *code, const char *device)
{
    ls__spirv_target made, have;
    return ls__spirv_target_parse(code, &made) && ls__spirv_target_parse(device, &have) &&
           made.llvmpipe == have.llvmpipe && ls__spirv_target_runs(&made, &have);
}

uint32_t ls__spirv_lowering(const char *text)
{
    ls__spirv_target target;
    if (!ls__spirv_target_parse(text, &target))
        return 0;
    /* Bounds, the one NaN, minimum and maximum are not left to drivers. */
    uint32_t lower = LS__LOWER_GRID_BARRIER | LS__LOWER_BOUNDS | LS__LOWER_NAN | LS__LOWER_MINMAX;
    if (!target.subgroup32)
        lower |= LS__LOWER_SUBGROUP;
    if (!target.fma)
        lower |= LS__LOWER_FMA;
    if (!target.div)
        lower |= LS__LOWER_DIV;
    if (!target.sqrt)
        lower |= LS__LOWER_SQRT;
    if (!target.szinp32) /* signed zeros and infinities */
        lower |= LS__LOWER_ROUND;
    if (!target.dot8)
        lower |= LS__LOWER_DOT4;
    return lower;
}
