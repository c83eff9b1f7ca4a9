/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning from C: which workgroup is fastest for a kernel on a device, kept in a folder, found there
 * the next time, and given to the compiler.
 *
 *     tune DEVICE FOLDER
 */
#include <lockstep/tune.h>

#include <stdio.h>
#include <string.h>

static const char text[] = "SPEC(u32, GROUP, 64, 32, 128, 256);\n"
                           "kernel workgroup(GROUP) void scale(u32 n, f32 a, f32 *x)\n"
                           "{\n"
                           "    u32 i = global_id(0);\n"
                           "    if (i < n)\n"
                           "        x[i] = a * x[i];\n"
                           "}\n";

enum { N = 1000, MOST = 4 };

static int failed(const ls_error *error)
{
    fprintf(stderr, "%s: %s %s %s\n", ls_status_name(error->code), error->message, error->where,
            error->hint);
    return 1;
}

/* The source, as all calls here are given it. */
static ls_compile_params source(void)
{
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    compile.text = text;
    compile.length = strlen(text);
    return compile;
}

/* Measures one launch with each workgroup. What the launch does with its buffers is forgotten. */
static ls_status measure(ls_device *device, ls_error *error)
{
    static float x[N];
    const struct { /* the kernel's scalar parameters, in C layout */
        uint32_t n;
        float a;
    } scalars = {N, 0.5f};
    const ls_tune_buffer buffers[] = {{x, sizeof x}};
    const ls_compile_params compile = source();
    ls_tune_params params = LS_TUNE_PARAMS_INIT;
    ls_tuning *tuning = NULL;
    params.source = &compile;
    params.global_size[0] = N;
    params.buffers = buffers;
    params.buffer_count = 1;
    params.scalars = &scalars;
    params.scalar_bytes = sizeof scalars;
    ls_status status = ls_tune(device, &params, &tuning, error);
    if (status != LS_OK)
        return status;
    ls_tuning_info info = {.struct_size = sizeof info};
    ls_tuning_describe(tuning, &info);
    for (uint32_t i = 0; i < info.candidate_count; i++) {
        ls_tune_candidate candidate = {.struct_size = sizeof candidate};
        ls_tuning_candidate(tuning, i, &candidate);
        printf("%s=%lld: %s\n", candidate.values[0].name, (long long)candidate.values[0].value,
               candidate.left_out ? candidate.left_out : "measured");
    }
    printf("%s\n", info.not_kept ? info.not_kept : "kept");
    ls_tuning_destroy(&tuning);
    return LS_OK;
}

int main(int argc, char **argv)
{
    ls_error error = {0};
    ls_device *device = NULL;
    ls_module *module = NULL, *tuned = NULL;
    ls_kernel_info kernel;
    int status = 1;

    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    device_params.name = argc > 1 ? argv[1] : NULL;
    device_params.cache_path = argc > 2 ? argv[2] : NULL;
    ls_compile_params compile = source();
    if (ls_device_open(&device_params, &device, &error) ||
        ls_module_compile(&compile, &module, NULL, &error))
        goto end;

    /* 1. What is kept for this kernel and device? Nothing: measure, and ask again. */
    ls_define values[MOST];
    uint32_t count = 0;
    ls_tuned_params params = LS_TUNED_PARAMS_INIT;
    params.module = module;
    if (ls_tuned_specs(device, &params, values, MOST, &count, &error))
        goto end;
    if (count == 0 &&
        (measure(device, &error) || ls_tuned_specs(device, &params, values, MOST, &count, &error)))
        goto end;

    /* 2. The program is compiled with it; with no value at all it has the defaults. */
    compile.defines = values;
    compile.define_count = count;
    if (ls_module_compile(&compile, &tuned, NULL, &error) ||
        ls_module_find_kernel(tuned, "scale", &kernel, &error))
        goto end;
    printf("%u of %u constants tuned, a workgroup has %u lanes\n", count,
           ls_module_spec_count(module), kernel.workgroup[0]);
    status = 0;

end:
    if (status)
        failed(&error);
    ls_module_destroy(&tuned);
    ls_module_destroy(&module);
    if (ls_device_destroy(&device, &error))
        status = failed(&error);
    return status;
}
