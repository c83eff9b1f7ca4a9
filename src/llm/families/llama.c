/* SPDX-License-Identifier: Apache-2.0 */
/* Llama 2 and 3, Mistral (with a window, in old ones), SmolLM2. */
#include "llm/family.h"

const ls__family ls__family_llama = {
    .architecture = "llama",
    .pairing = LS__PAIRS_NEIGHBOURS,
    .gate = LS__SILU,
    .may = LS__INPUT_BIASES | LS__OTHER_BIASES | LS__PART(LAYER_SCALE),
    .window_period = LS__ALL_LAYERS,
};
