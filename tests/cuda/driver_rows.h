/* SPDX-License-Identifier: Apache-2.0 */
/* Single instructions as rows of a table: the mnemonic, what its operands are (the result first: 1
 * a predicate, else the bytes; then text as it is), the inputs, and the result that NVIDIA's
 * description gives, written by hand. Each row runs twice: alone, and in a warp of which every
 * second lane has its guard off, and keeps what its register held. */
#ifndef TESTS_CUDA_DRIVER_ROWS_H
#define TESTS_CUDA_DRIVER_ROWS_H

#include "driver_test.h"

typedef struct row {
    const char *mnemonic, *widths;
    uint64_t in[4], out;
} row;

/* Writes the kernel of a row, named k. */
static inline void row_text(const row *r, char *text, size_t size)
{
    static const char *const names[9] = {[1] = "%p", [2] = "%h", [4] = "%r", [8] = "%d"};
    char operands[128] = "", loads[1024] = "";
    size_t used = 0, at = 0, count = strspn(r->widths, "1248");
    for (size_t i = 0; i < count; i++) {
        unsigned width = (unsigned)(r->widths[i] - '0');
        at += (size_t)snprintf(operands + at, sizeof operands - at, "%s %s%zu", i ? "," : "",
                               names[width], i);
        if (width == 1)
            used += (size_t)snprintf(loads + used, sizeof loads - used,
                                     "ld.global.u32 %%r9, [%%d9+%zu]; setp.ne.u32 %%p%zu, %%r9, 0;",
                                     i * 8, i);
        else
            used += (size_t)snprintf(loads + used, sizeof loads - used,
                                     "ld.global.b%u %s%zu, [%%d9+%zu];", width * 8, names[width], i,
                                     i * 8);
    }
    char width = r->widths[0];
    snprintf(text, size,
             ".version 7.8\n.target sm_90\n.address_size 64\n" /* for all instructions */
             ".visible .entry k(.param .u64 p) {\n"
             ".reg .pred %%p<10>; .reg .b16 %%h<10>; .reg .b32 %%r<10>; .reg .b64 %%d<11>;\n"
             "ld.param.u64 %%d9, [p]; mov.u32 %%r8, %%tid.x;\n"
             "and.b32 %%r9, %%r8, 1; setp.eq.u32 %%p9, %%r9, 0;\n"
             "%s\n@%%p9 %s %s%s;\n%s"
             "mul.wide.u32 %%d10, %%r8, 8; add.s64 %%d10, %%d10, %%d9;\n"
             "st.global.u64 [%%d10+64], %%d8; ret; }\n",
             loads, r->mnemonic, operands, r->widths + count,
             width == '1'   ? "selp.b64 %d8, 1, 0, %p0;\n"
             : width == '2' ? "cvt.u64.u16 %d8, %h0;\n"
             : width == '4' ? "cvt.u64.u32 %d8, %r0;\n"
                            : "mov.b64 %d8, %d0;\n");
}

static inline void check_row(const row *r)
{
    enum { KEPT = 0x5a };
    char text[4096];
    uint64_t memory[8 + 32] = {0};
    row_text(r, text, sizeof text);
    CUmodule module = driver_compile(text);
    unsigned width = (unsigned)(r->widths[0] - '0');
    uint64_t kept = width == 1 ? 1 : KEPT;
    memory[0] = kept;
    memcpy(memory + 1, r->in, sizeof r->in);
    CUdeviceptr address = driver_upload(memory, sizeof memory);
    for (unsigned threads = 1; threads <= 32; threads += 31) {
        good(driver_run(driver_kernel(module, "k"), 1, threads, address));
        driver_download(memory, address, sizeof memory);
        for (unsigned i = 0; i < threads; i++) {
            uint64_t expected = i & 1 ? kept : r->out, got = memory[8 + i];
            if (got != expected)
                fail_msg("%s of %#llx, %#llx, %#llx, %#llx, lane %u of %u: %#llx, not %#llx",
                         r->mnemonic, (unsigned long long)r->in[0], (unsigned long long)r->in[1],
                         (unsigned long long)r->in[2], (unsigned long long)r->in[3], i, threads,
                         (unsigned long long)got, (unsigned long long)expected);
        }
    }
    good(cu.cuMemFree_v2(address));
    good(cu.cuModuleUnload(module));
}

#define CHECK_ROWS(rows)                                                                           \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                     \
    check_row(&(rows)[i])

#endif
