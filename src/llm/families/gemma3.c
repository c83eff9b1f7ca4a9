/* SPDX-License-Identifier: Apache-2.0 */
/* Gemma 3: five layers with a window, then one without, which alone has scaled positions. */
#include "llm/family.h"

const ls__family ls__family_gemma3 = {
    .architecture = "gemma3",
    .pairing = LS__PAIRS_HALVES,
    .gate = LS__GELU,
    .must = LS__HEAD_NORMS | LS__POST_NORMS,
    .scaled_embedding = true,
    .window_period = 6,
    .window_rope_base = 10000,
    .other_scale_layers = 62, /* 27B */
};
