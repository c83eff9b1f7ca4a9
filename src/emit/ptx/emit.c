/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module from IR to a container of PTX: emission, our own check of what was emitted, LLVM's
 * passes, code generation, packing.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "emit/llvm/session.h"
#include "emit/ptx/check.h"
#include "emit/ptx/code.h"
#include "emit/ptx/emit.h"

/* Our own passes have folded, shared and moved what they could, so a few suffice: variables become
 * values, what the emitter has said in too many words is shortened. None of them contracts or
 * reassociates floats, or takes a loop without a bound for one that ends. */
#define BEFORE_UNROLLING                                                                           \
    "always-inline,function(sroa,early-cse<memssa>,simplifycfg,"                                   \
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),"
#define UNROLLING "loop(loop-rotate,indvars,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,"
#define AFTER_UNROLLING "early-cse<memssa>,simplifycfg),deadargelim,globaldce"

typedef struct job {
    generator g;
    ls__ptx_kernel *kernels; /* arena */
    uint32_t kernel_count;
    void **bytes;
    size_t *size;
} job;

static ls_status emit_kernels(job *j, ls_error *error)
{
    const ls__ir_module *module = j->g.e->module;
    j->kernels = LS__NEW_ARRAY(j->g.e->arena, ls__ptx_kernel, module->functions.count);
    j->g.tables = LS__NEW_ARRAY(j->g.e->arena, lv, module->tables.count);
    for (uint32_t i = 1; i < module->functions.count; i++) {
        const ls__ir_function *function = module->functions.items[i];
        if (!function->is_kernel)
            continue;
        ls_status status =
            ls__ptx_emit_kernel(&j->g, function, &j->kernels[j->kernel_count++], error);
        if (status != LS_OK)
            return status;
    }
    return ls__ptx_check(j->g.e, error);
}

static ls_status pack(const job *j, const char *text, size_t text_size, ls_error *error)
{
    size_t head = sizeof(ls__ptx_header) + j->kernel_count * sizeof(ls__ptx_kernel);
    ls__ptx_header header = {.magic = LS__PTX_MAGIC,
                             .version = LS__PTX_ABI_VERSION,
                             .kernel_count = j->kernel_count,
                             .architecture = j->g.target.architecture,
                             .size = head + text_size + 1,
                             .text_offset = head,
                             .text_size = text_size};
    uint8_t *bytes = ls__mem_alloc(header.size, 1);
    if (!bytes)
        return ls__fail_oom(error, header.size);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, j->kernels, head - sizeof header);
    memcpy(bytes + head, text, text_size);
    bytes[head + text_size] = 0;
    *j->bytes = bytes;
    *j->size = header.size;
    return LS_OK;
}

/* LLVM counts the calls of the process, in comments. Without them equal modules are equal texts. */
static size_t drop_call_numbers(char *text, size_t size)
{
    static const char comment[] = " // callseq ";
    size_t kept = 0, length = sizeof comment - 1;
    for (size_t i = 0; i < size; i++) {
        if (size - i >= length && memcmp(text + i, comment, length) == 0) {
            while (i < size && text[i] != '\n')
                i++;
        }
        if (i < size)
            text[kept++] = text[i];
    }
    return kept;
}

static ls_status generate(job *j, LLVMTargetMachineRef machine, ls_error *error)
{
    emitter *e = j->g.e;
    const char *pipeline = e->has_short_loops ? BEFORE_UNROLLING UNROLLING AFTER_UNROLLING
                                              : BEFORE_UNROLLING AFTER_UNROLLING;
    void *text = NULL;
    size_t text_size = 0;
    ls_status status = ls__llvm_run_passes(e, machine, pipeline, error);
    if (status == LS_OK)
        status = ls__llvm_generate(e, machine, LLVMAssemblyFile, &text, &text_size, error);
    if (status == LS_OK)
        status = pack(j, text, drop_call_numbers(text, text_size), error);
    ls__mem_free(text);
    return status;
}

static ls_status compile(emitter *e, void *context, ls_error *error)
{
    job *j = context;
    char cpu[16];
    snprintf(cpu, sizeof cpu, "sm_%u", j->g.target.architecture);
    ls__llvm_machine how = {.triple = "nvptx64-nvidia-cuda",
                            .cpu = cpu,
                            .features = "",
                            .level = LLVMCodeGenLevelDefault};
    LLVMTargetMachineRef machine = ls__llvm_create_machine(e, &how, error);
    if (!machine)
        return LS_E_UNSUPPORTED;
    j->g.e = e;
    ls_status status = emit_kernels(j, error);
    if (status == LS_OK)
        status = generate(j, machine, error);
    e->l->DisposeTargetMachine(machine);
    return status;
}

ls_status ls__ptx_emit(const ls__ir_module *module, const char *target, bool unchecked,
                       void **bytes, size_t *size, ls_error *error)
{
    emitter e = {.module = module};
    job j = {.g.unchecked = unchecked, .bytes = bytes, .size = size};
    if (!ls__ptx_target_parse(target, &j.g.target))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no such target of PTX: '%s'", target);
    *bytes = NULL;
    return ls__llvm_session(&e, compile, &j, error);
}
