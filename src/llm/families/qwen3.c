/* SPDX-License-Identifier: Apache-2.0 */
/* Qwen 3 without experts. */
#include "llm/family.h"

const ls__family ls__family_qwen3 = {
    .architecture = "qwen3",
    .pairing = LS__PAIRS_HALVES,
    .gate = LS__SILU,
    .must = LS__HEAD_NORMS,
    .may = LS__INPUT_BIASES,
};
