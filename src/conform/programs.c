/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of random Kernel C programs, one a program: "program/lanes/N" computes lane by lane (every
 * type, loops, structs, constants, functions), "program/groups/N" has lanes work together
 * (barriers, shared memory, subgroups, atomics, traps). N is the seed of the text: the plan's seed
 * + the program's place.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "conform/case.h"
#include "conform/cooperate.h"
#include "conform/generate.h"

enum { QUICK_PROGRAMS = 16, PROGRAMS = 200, COOPERATE_ELEMENTS = 200, WORKGROUPS = 3 };

static void fill(ls__case *c, uint64_t seed)
{
    for (uint32_t b = 0; b < c->buffer_count; b++) {
        ls__case_buffer *buffer = &c->buffers[b];
        ls__rng rng = ls__vectors_rng(seed + b, c->name);
        ls_type type = buffer->mem == LS_MEM_F32   ? LS_TYPE_F32
                       : buffer->mem == LS_MEM_F64 ? LS_TYPE_F64
                                                   : LS_TYPE_I64;
        for (uint64_t i = 0; i * buffer->element < buffer->size; i++) {
            uint64_t bits = ls__vectors_draw(&rng, type, UINT64_MAX);
            memcpy(buffer->bytes + i * buffer->element, &bits, buffer->element);
        }
    }
}

static ls_status make_case(ls__case *c, const ls_module *module, bool cooperates, uint64_t number,
                           uint64_t seed, ls_error *error)
{
    ls_kernel_info info;
    uint32_t counts[LS__CASE_BUFFERS];
    uint32_t elements = cooperates ? (uint32_t)COOPERATE_ELEMENTS : (uint32_t)LS__GENERATE_LANES;
    for (uint32_t i = 0; i < LS__CASE_BUFFERS; i++)
        counts[i] = elements;
    strcpy(c->kernel, "k");
    ls_status status = ls_module_find_kernel(module, "k", &info, error);
    if (status == LS_OK)
        status = ls__case_from_kernel(c, module, counts, LS__CASE_BUFFERS, error);
    if (status != LS_OK)
        return status;
    fill(c, seed);
    ls__rng rng = ls__vectors_rng(seed, c->name);
    for (uint32_t i = 0; i + 4 <= c->scalar_bytes; i += 4) {
        uint32_t bits = cooperates ? 90 + (uint32_t)(number % 7)
                                   : (uint32_t)ls__vectors_draw(&rng, LS_TYPE_F32, UINT64_MAX);
        memcpy(c->scalars + i, &bits, sizeof bits);
    }
    c->global[0] = cooperates ? info.workgroup[0] * WORKGROUPS : (uint32_t)LS__GENERATE_LANES;
    c->vectors = (uint64_t)c->global[0] * info.workgroup[1] * info.workgroup[2];
    return LS_OK;
}

static ls_status program(const ls__conform_plan *plan, bool cooperates, uint32_t place,
                         ls_error *error)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls__case c = {.unit = 0};
    ls__strbuf text = {0};
    ls_module *module = NULL;
    uint64_t number = plan->seed + place;
    snprintf(c.name, sizeof c.name, "program/%s/%llu", cooperates ? "groups" : "lanes",
             (unsigned long long)number);
    if (!plan->wanted(plan->context, c.name))
        return LS_OK;
    if (cooperates)
        ls__cooperate(number, &text);
    else
        ls__generate(number, "k", number % 2, &text);
    if (text.failed)
        return ls__fail_oom(error, text.length);
    params.text = text.text;
    params.length = text.length;
    params.path = c.name;
    ls_status status = ls_module_compile(&params, &module, NULL, error);
    if (status == LS_OK)
        status = make_case(&c, module, cooperates, number, plan->seed, error);
    ls__group group = {.module = module, .text = text.text, .cases = &c, .count = 1};
    if (status == LS_OK)
        status = plan->take(plan->context, &group, error);
    ls__case_finish(&c);
    ls_module_destroy(&module);
    ls__strbuf_finish(&text);
    return status;
}

ls_status ls__conform_programs(const ls__conform_plan *plan, ls_error *error)
{
    ls_status status = LS_OK;
    uint32_t count = plan->quick ? QUICK_PROGRAMS : PROGRAMS;
    for (uint32_t i = 0; i < 2 * count && status == LS_OK; i++)
        status = program(plan, i % 2 != 0, i / 2, error);
    return status;
}
