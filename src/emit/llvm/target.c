/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature levels. "x86-64-v3" and "x86-64-v4" are the psABI's levels, which LLVM knows as CPU
 * names: v3 has AVX2, FMA, F16C, BMI; v4 adds AVX-512 F, BW, CD, DQ, VL.
 */
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "emit/llvm/target.h"
#include "ir/lowering.h"

static bool take_word(const char **text, char word[16])
{
    size_t length = strcspn(*text, "+");
    if (length == 0 || length >= 16)
        return false;
    memcpy(word, *text, length);
    word[length] = 0;
    *text += length;
    if (**text == '+')
        (*text)++;
    return true;
}

static const struct {
    const char *name, *triple, *cpu;
    ls__llvm_level level;
    uint32_t width;
} levels[] = {
    {"sse2", "x86_64-unknown-linux-gnu", "x86-64", LS__LLVM_SSE2, 8},
    {"avx2", "x86_64-unknown-linux-gnu", "x86-64-v3", LS__LLVM_AVX2, 16},
    {"avx512", "x86_64-unknown-linux-gnu", "x86-64-v4", LS__LLVM_AVX512, 32},
    {"neon", "aarch64-unknown-linux-gnu", "generic", LS__LLVM_NEON, 8},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static bool set_level(ls__llvm_target *target, const char *word)
{
    for (size_t i = 0; i < LEVELS; i++) {
        if (strcmp(word, levels[i].name) == 0) {
            target->level = levels[i].level;
            target->triple = levels[i].triple;
            target->cpu = levels[i].cpu;
            target->width = levels[i].width;
            return true;
        }
    }
    return false;
}

static bool set_option(ls__llvm_target *target, const char *word)
{
    bool *flag = NULL;
    if (strcmp(word, "avx512vnni") == 0 && target->level == LS__LLVM_AVX512)
        flag = &target->avx512vnni;
    else if (strcmp(word, "avxvnni") == 0 && target->level == LS__LLVM_AVX2)
        flag = &target->avxvnni;
    if (flag) {
        *flag = true;
        strcat(target->features, target->features[0] ? ",+" : "+");
        strcat(target->features, word);
        return true;
    }
    if (strcmp(word, "quick") == 0)
        return target->quick = true;
    if (target->mode != LS__LLVM_AUTO)
        return false;
    if (strcmp(word, "scalar") == 0)
        target->mode = LS__LLVM_SCALAR;
    else if (strcmp(word, "vector") == 0)
        target->mode = LS__LLVM_VECTOR;
    return target->mode != LS__LLVM_AUTO;
}

bool ls__llvm_target_parse(const char *text, ls__llvm_target *target)
{
    char word[16], native[LS__LLVM_TARGET_BYTES], level[16];
    *target = (ls__llvm_target){0};
    if (strlen(text) >= LS__LLVM_TARGET_BYTES || !take_word(&text, word))
        return false;
    if (strcmp(word, "native") == 0) {
        ls__llvm_native_target(native);
        const char *rest = native;
        if (!take_word(&rest, level) || !set_level(target, level))
            return false;
        while (*rest) {
            if (!take_word(&rest, word) || !set_option(target, word))
                return false;
        }
    } else if (!set_level(target, word)) {
        return false;
    }
    unsigned count = 0;
    while (*text) {
        if (++count > 4 || !take_word(&text, word) || !set_option(target, word))
            return false;
    }
    return true;
}

#if defined(__x86_64__)
static bool has_f16c(void) /* clang 14's __builtin_cpu_supports does not know it */
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

void ls__llvm_native_target(char target[LS__LLVM_TARGET_BYTES])
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2") && has_f16c();
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    strcpy(target, v4 ? "avx512" : v3 ? "avx2" : "sse2");
    if (v4 && __builtin_cpu_supports("avx512vnni"))
        strcat(target, "+avx512vnni");
#else
    strcpy(target, "neon");
#endif
}

bool ls__llvm_target_runs(const char *text)
{
    ls__llvm_target wanted, native;
    if (!ls__llvm_target_parse(text, &wanted) || !ls__llvm_target_parse("native", &native))
        return false;
    if ((wanted.level == LS__LLVM_NEON) != (native.level == LS__LLVM_NEON))
        return false;
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12
    if (wanted.avxvnni && !__builtin_cpu_supports("avxvnni"))
        return false;
#else
    if (wanted.avxvnni)
        return false;
#endif
    return wanted.level <= native.level && (!wanted.avx512vnni || native.avx512vnni);
}

bool ls__llvm_target_suits(const char *code, const char *device)
{
    ls__llvm_target made, have;
    if (strncmp(code, "native", 6) == 0 || !ls__llvm_target_parse(code, &made) || made.quick ||
        !ls__llvm_target_parse(device, &have))
        return false;
    return (made.level == LS__LLVM_NEON) == (have.level == LS__LLVM_NEON) &&
           made.level <= have.level && made.avx512vnni <= have.avx512vnni &&
           made.avxvnni <= have.avxvnni;
}

bool ls__llvm_target_resolve(const char *text, char target[LS__LLVM_TARGET_BYTES])
{
    static const char native_word[] = "native";
    ls__llvm_target parsed;
    char native[LS__LLVM_TARGET_BYTES];
    size_t length = strlen(native_word);
    if (!ls__llvm_target_parse(text, &parsed))
        return false;
    ls__llvm_native_target(native);
    bool is_native = strncmp(text, native_word, length) == 0;
    int written = snprintf(target, LS__LLVM_TARGET_BYTES, "%s%s", is_native ? native : "",
                           is_native ? text + length : text);
    return written > 0 && written < LS__LLVM_TARGET_BYTES;
}

void ls__llvm_target_list(char *text, size_t size)
{
    static const char *const options[] = {"avx512+avx512vnni", "avx2+avxvnni"};
    char levels_here[64] = "", options_here[64] = "";
    for (size_t i = 0; i < LEVELS; i++) {
        size_t used = strlen(levels_here);
        if (ls__llvm_target_runs(levels[i].name))
            snprintf(levels_here + used, sizeof levels_here - used, ", %s", levels[i].name);
    }
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t used = strlen(options_here);
        if (ls__llvm_target_runs(options[i]))
            snprintf(options_here + used, sizeof options_here - used, ", %s", options[i]);
    }
    snprintf(text, size, "native%s%s, each also with +scalar or +vector", levels_here,
             options_here);
}

uint32_t ls__llvm_lowering(const char *text)
{
    ls__llvm_target target;
    if (!ls__llvm_target_parse(text, &target))
        return 0;
    uint32_t lower = LS__LOWER_GRID_BARRIER;
    if (target.level ==
        LS__LLVM_SSE2) /* no fma, roundps (SSE4.1) or vcvtph2ps: LLVM would call libm */
        lower |= LS__LOWER_FMA | LS__LOWER_ROUND | LS__LOWER_CONVERT;
    return lower;
}
