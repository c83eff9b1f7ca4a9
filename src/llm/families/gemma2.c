/* SPDX-License-Identifier: Apache-2.0 */
/* Gemma 2: layers with and without a window take turns. */
#include "llm/family.h"

const ls__family ls__family_gemma2 = {
    .architecture = "gemma2",
    .pairing = LS__PAIRS_HALVES,
    .gate = LS__GELU,
    .must = LS__POST_NORMS,
    .scaled_embedding = true,
    .score_cap = 50,
    .logit_cap = 30,
    .window = 4096,
    .window_period = 2,
    .other_scale_layers = 46, /* 27B */
};
