/* SPDX-License-Identifier: Apache-2.0 */
/* Gemma, the first. Files of all Gemmas have 1 added to the weights of norms already. */
#include "llm/family.h"

const ls__family ls__family_gemma = {
    .architecture = "gemma",
    .pairing = LS__PAIRS_HALVES,
    .gate = LS__GELU,
    .scaled_embedding = true,
};
