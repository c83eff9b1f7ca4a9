/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the emitter must know of a Vulkan device, as a text: "vulkan1.2", then words of the table,
 * joined by '+'. For example "vulkan1.2+szinp32+rte32+i8+i16".
 *
 * Every device has: 64-bit integers, 8- and 16-bit storage, buffer device addresses, the Vulkan
 * memory model. The words say what only some have; without a word the emitter does without. The
 * three that promise correct rounding are for drivers of which that is known; the probe of core
 * checks them all the same.
 */
#ifndef LS_EMIT_SPIRV_TARGET_H
#define LS_EMIT_SPIRV_TARGET_H

#include <stdbool.h>
#include <stdint.h>

/* X(word, text) */
#define LS__SPIRV_TARGET_TABLE(X)                                                                  \
    X(szinp32, "shaderSignedZeroInfNanPreserveFloat32")                                            \
    X(szinp64, "shaderSignedZeroInfNanPreserveFloat64")                                            \
    X(rte32, "shaderRoundingModeRTEFloat32")                                                       \
    X(rte64, "shaderRoundingModeRTEFloat64")                                                       \
    X(denorm32, "shaderDenormPreserveFloat32")                                                     \
    X(denorm64, "shaderDenormPreserveFloat64")                                                     \
    X(i8, "shaderInt8")                                                                            \
    X(i16, "shaderInt16")                                                                          \
    X(dot8, "shaderIntegerDotProduct")                                                             \
    X(subgroup32, "subgroups of 32 lanes in linear order, with shuffle and ballot")                \
    X(fma, "fma rounds once")                                                                      \
    X(div, "float division is correctly rounded")                                                  \
    X(sqrt, "square root is correctly rounded")                                                    \
    X(llvmpipe, "the driver is Mesa's llvmpipe: loops and branches have limits (llvmpipe.c)")

/* "szinp32 szinp64 ... " */
#define LS__SPIRV_TARGET_WORD(word, text) #word " "
#define LS__SPIRV_TARGET_WORDS LS__SPIRV_TARGET_TABLE(LS__SPIRV_TARGET_WORD)

enum { LS__SPIRV_TARGET_BYTES = 160 };

typedef struct ls__spirv_target {
#define X(word, text) bool word;
    LS__SPIRV_TARGET_TABLE(X)
#undef X
} ls__spirv_target;

/* False: malformed. "vulkan1.2" alone is the least a device may be. */
bool ls__spirv_target_parse(const char *text, ls__spirv_target *target);
/* The text that parses to `target`, its words in the table's order. */
void ls__spirv_target_print(const ls__spirv_target *target, char text[LS__SPIRV_TARGET_BYTES]);

/* Whether what is made for `wanted` runs where `device` describes what there is. */
bool ls__spirv_target_runs(const ls__spirv_target *wanted, const ls__spirv_target *device);

/* The same of texts; false when one is malformed. What a driver is wrong about must be known to the
 * code. */
bool ls__spirv_target_suits(const char *code, const char *device);

/* Those that code is made for ahead, best first: a usual GPU, any device, and llvmpipe. */
#define LS__SPIRV_TARGETS_AHEAD                                                                    \
    "vulkan1.2+szinp32+rte32+denorm32+i8+i16+dot8+subgroup32+fma "                                 \
    "vulkan1.2 "                                                                                   \
    "vulkan1.2+szinp32+szinp64+rte32+rte64+i8+i16+dot8+div+sqrt+llvmpipe"

/* LS__LOWER_* bits (ir/lowering.h): what a module must have been lowered by before it is emitted.
 */
uint32_t ls__spirv_lowering(const char *target);

#endif
