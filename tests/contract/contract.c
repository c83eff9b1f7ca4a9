/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's fixture, and steps that several tests take. */
#include "contract.h"

const char *contract_device = "reference";

const char contract_add_text[] = "kernel void add(u32 n, u32 add, const u32 *x, u32 *y)\n"
                                 "{\n"
                                 "    u32 i = global_id(0);\n"
                                 "    if (i < n)\n"
                                 "        y[i] = x[i] + add;\n"
                                 "}\n";

const char contract_endless_text[] = "kernel void endless(u32 *y)\n"
                                     "{\n"
                                     "    for (;;)\n"
                                     "        y[0] = y[0] + 1;\n"
                                     "}\n";

const char contract_trap_text[] = "kernel void fails(u32 first, u32 code, u32 *y)\n"
                                  "{\n"
                                  "    u32 i = global_id(0);\n"
                                  "    if (i >= first)\n"
                                  "        trap(code + i);\n"
                                  "    y[i] = 7;\n"
                                  "}\n";

fixture contract_open(const char *name, const ls_fault_plan *plan, uint64_t budget_bytes)
{
    fixture f = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = name;
    params.fault = plan;
    params.budget_bytes = budget_bytes;
    OK(ls_device_open(&params, &f.device, error));
    OK(ls_stream_create(f.device, &f.stream, error));
    return f;
}

void contract_close(fixture *f)
{
    OK(ls_stream_destroy(&f->stream, error));
    ls_memory_info memory = {.struct_size = sizeof memory};
    ls_device_memory(f->device, &memory);
    assert_int_equal(memory.used_bytes, 0);
    OK(ls_device_destroy(&f->device, error));
    assert_null(f->device);
}

int contract_setup(void **state)
{
    static fixture f;
    f = contract_open(contract_device, NULL, 0);
    *state = &f;
    return 0;
}

int contract_teardown(void **state)
{
    contract_close(*state);
    return 0;
}

ls_buffer *contract_buffer(fixture *f, uint64_t size, ls_mem element)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = size;
    params.element = element;
    ls_buffer *buffer = NULL;
    OK(ls_buffer_create(f->device, &params, &buffer, error));
    return buffer;
}

ls_buffer *contract_buffer_u32(fixture *f, const uint32_t *values, uint32_t count)
{
    ls_buffer *buffer = contract_buffer(f, count * 4ull, LS_MEM_U32);
    if (values)
        OK(ls_buffer_write(buffer, 0, LS_MEM_U32, values, count * 4ull, error));
    return buffer;
}

void contract_expect_u32(ls_buffer *buffer, uint32_t index, uint32_t value)
{
    uint32_t found = ~value;
    OK(ls_buffer_read(buffer, index * 4ull, LS_MEM_U32, &found, 4, error));
    assert_int_equal(found, value);
}

ls_program *contract_program_lowered(fixture *f, const char *text, const char *lower)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    params.lower = lower;
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    compile.text = text;
    compile.length = strlen(text);
    compile.path = "contract.kc";
    ls_module *module = NULL;
    ls_program *program = NULL;
    OK(ls_module_compile(&compile, &module, NULL, error));
    OK(ls_program_create(f->device, module, &params, &program, error));
    ls_module_destroy(&module); /* a program does not need its module */
    return program;
}

ls_program *contract_program(fixture *f, const char *text)
{
    return contract_program_lowered(f, text, NULL);
}

const ls_kernel *contract_kernel(ls_program *program, const char *name)
{
    const ls_kernel *kernel = NULL;
    OK(ls_program_kernel(program, name, &kernel, error));
    return kernel;
}

ls_status contract_record_add(ls_batch *batch, const ls_kernel *kernel, ls_buffer *x, ls_buffer *y,
                              uint32_t n, uint32_t add, ls_error *error)
{
    uint32_t scalars[2] = {n, add};
    ls_range buffers[2] = {WHOLE(x), WHOLE(y)};
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    dispatch.global_size[0] = n;
    dispatch.buffers = buffers;
    dispatch.buffer_count = 2;
    dispatch.scalars = scalars;
    dispatch.scalar_bytes = sizeof scalars;
    return ls_batch_dispatch(batch, &dispatch, error);
}

void contract_run(fixture *f, ls_batch *batch)
{
    ls_fence *fence = NULL;
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
    ls_fence_destroy(&fence);
}
