/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "llm/family.h"

static const ls__family *const families[] = {
    &ls__family_llama, &ls__family_qwen2,  &ls__family_qwen3,
    &ls__family_gemma, &ls__family_gemma2, &ls__family_gemma3,
};

const ls__family *ls__family_at(uint32_t index)
{
    return index < sizeof families / sizeof *families ? families[index] : NULL;
}

const ls__family *ls__family_find(const char *architecture, size_t length)
{
    const ls__family *family;
    for (uint32_t i = 0; (family = ls__family_at(i)); i++)
        if (strlen(family->architecture) == length &&
            memcmp(family->architecture, architecture, length) == 0)
            return family;
    return NULL;
}
