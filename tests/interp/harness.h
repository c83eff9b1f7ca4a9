/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the interpreter's tests share: reads IR text, binds host memory, runs, collects reports.
 *
 * Most kernels here are written as a body only: `load_kernel` puts a head before it in which
 *     %1 = global_id 0    %2 = %1 as i64    %3 = 0 as i64    %4 = byte offset of u32 element %1
 */
#ifndef LS_TESTS_INTERP_HARNESS_H
#define LS_TESTS_INTERP_HARNESS_H

#include <stdio.h>
#include <string.h>

#include "../base/cmocka_all.h"

#include "base/mem.h"
#include "base/str.h"
#include "interp/interp.h"

enum { MAX_REPORTS = 64, MAX_BINDINGS = 4 };

typedef struct fixture {
    ls__ir_module *module;
    ls__interp_launch launch;
    ls__interp_binding bindings[MAX_BINDINGS];
    ls__interp_result result;
    ls_error error;
    ls__interp_report reports[MAX_REPORTS];
    unsigned report_count;
} fixture;

static inline void collect(void *context, const ls__interp_report *report)
{
    fixture *f = context;
    if (f->report_count < MAX_REPORTS)
        f->reports[f->report_count] = *report;
    f->report_count++;
}

/* A whole module; the kernel is @k. */
static inline void load_module(fixture *f, const char *text)
{
    *f = (fixture){.launch = {.global_size = {1, 1, 1}}};
    ls_status status = ls__ir_read(text, strlen(text), &f->module, &f->error);
    if (status != LS_OK)
        fail_msg("%s (%s)\n%s", f->error.message, f->error.where, text);
    f->launch.module = f->module;
    f->launch.kernel = ls__ir_function_find(f->module, ls__str_from("k"));
    f->launch.bindings = f->bindings;
    f->launch.on_report = collect;
    f->launch.context = f;
    assert_non_null(f->launch.kernel);
}

/* `head`: attributes of the kernel, e.g. "workgroup(4, 1, 1)"; `declarations`: its parameters,
 * objects, variables; `rest`: functions that follow it. */
static inline void load_kernel_with(fixture *f, const char *head, const char *declarations,
                                    const char *body, const char *rest)
{
    ls__strbuf text = {0};
    ls__strbuf_printf(&text,
                      "lockstep ir 3\nfile \"k.kc\"\n%s\nkernel @k %s {\n%s"
                      "  %%1 = id global_id 0 : i32\n  %%2 = zext %%1 : i64\n"
                      "  %%3 = const 0 : i64\n"
                      "  %%4 = index %%3, %%2 stride 4 count 0 : i64\n%s}\n",
                      rest, head, declarations, body);
    load_module(f, text.text);
    ls__strbuf_finish(&text);
}

static inline void load_kernel(fixture *f, const char *head, const char *declarations,
                               const char *body)
{
    load_kernel_with(f, head, declarations, body, "");
}

static inline void bind(fixture *f, unsigned index, void *bytes, size_t size)
{
    f->bindings[index] = (ls__interp_binding){bytes, size, 100 + index, 0, NULL};
}

static inline ls_status try_run(fixture *f)
{
    f->report_count = 0;
    return ls__interp_run(&f->launch, &f->result, &f->error);
}

static inline void run(fixture *f)
{
    ls_status status = try_run(f);
    if (status != LS_OK)
        fail_msg("%s", f->error.message);
}

static inline void finish(fixture *f)
{
    ls__ir_module_destroy(&f->module);
}

#endif
