/* SPDX-License-Identifier: Apache-2.0 */
/* Qwen 2 and 2.5. */
#include "llm/family.h"

const ls__family ls__family_qwen2 = {
    .architecture = "qwen2",
    .pairing = LS__PAIRS_HALVES,
    .gate = LS__SILU,
    .must = LS__INPUT_BIASES,
};
