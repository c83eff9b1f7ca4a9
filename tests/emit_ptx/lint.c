/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lint reads lines, as LLVM writes them: one instruction each. ptxas contracts, and may
 * replace, what carries no rounding; so every operation on floats that rounds has to.
 */
#include "lint.h"

#include <stdio.h>
#include <string.h>

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool has(const char *op, const char *part)
{
    return strstr(op, part) != NULL;
}

static bool is_float(const char *op)
{
    return has(op, ".f32") || has(op, ".f64") || has(op, ".f16") || has(op, ".bf16");
}

/* `op`: the opcode with all that is joined to it by dots. */
static const char *judge(const char *op, bool has_fma)
{
    static const char *const rounding[] = {"add.", "sub.", "mul.", "div.", "sqrt.", "rcp.", "fma."};
    static const char *const inexact[] = {"ex2.",  "lg2.",   "sin.",  "cos.",
                                          "tanh.", "rsqrt.", "mad.f", "mad.rn.f"};
    if (has(op, ".ftz"))
        return "flushes subnormals";
    if (has(op, ".approx") || has(op, ".full"))
        return "is an approximation";
    for (size_t i = 0; i < sizeof inexact / sizeof *inexact; i++) {
        if (starts(op, inexact[i]))
            return "is not exact";
    }
    if (starts(op, "fma.") && !has_fma)
        return "is fused, which nobody has asked for";
    for (size_t i = 0; i < sizeof rounding / sizeof *rounding; i++) {
        if (starts(op, rounding[i]) && is_float(op) && !starts(op + strlen(rounding[i]), "rn."))
            return "has no rounding of its own";
    }
    bool narrows = starts(op, "cvt.") && is_float(op) && !starts(op, "cvt.f64.f32") &&
                   !starts(op, "cvt.f32.f16") && !starts(op, "cvt.f64.f16");
    if (narrows && !starts(op, "cvt.rn.") && !starts(op, "cvt.rzi.") && !starts(op, "cvt.rmi.") &&
        !starts(op, "cvt.rpi.") && !starts(op, "cvt.rni."))
        return "has no rounding of its own";
    if (starts(op, "fence") || starts(op, "membar.sys") || has(op, ".acquire") ||
        has(op, ".release") || has(op, ".acq_rel"))
        return "orders memory otherwise than the emitter does";
    return NULL;
}

const char *ls__ptx_lint(const char *text, bool has_fma, char *line, size_t size)
{
    while (*text) {
        size_t length = strcspn(text, "\n"), skip;
        const char *at = text, *wrong = NULL;
        char op[64];
        snprintf(line, size, "%.*s", (int)length, text);
        text += length + (text[length] == '\n');
        at += strspn(at, " \t{");
        if (*at == '@') /* a predicate */
            at += strcspn(at, " \t\n");
        at += strspn(at, " \t");
        skip = strcspn(at, " \t\n;,");
        snprintf(op, sizeof op, "%.*s", (int)skip, at);
        if (starts(op, "//"))
            continue;
        if (starts(op, ".extern"))
            wrong = "is not in the module";
        else
            wrong = judge(op, has_fma);
        if (wrong)
            return wrong;
    }
    return NULL;
}
