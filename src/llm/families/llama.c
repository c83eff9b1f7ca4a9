/* SPDX-License-Identifier: Apache-2.0 */
/* Llama 2 and 3, Mistral, SmolLM2. */
#include "llm/family.h"

const ls__family ls__family_llama = {
    .architecture = "llama",
    .pairing = LS__PAIRS_NEIGHBOURS,
};
