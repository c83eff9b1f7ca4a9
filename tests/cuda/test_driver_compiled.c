/* SPDX-License-Identifier: Apache-2.0 */
/* PTX by NVIDIA's compiler on the emulated driver, against what the host computes:
 * test_driver_compiled FILE.ptx... (test_driver_compiled.py makes them) */
#include "driver_compiled.h"
#include "driver_test.h"

enum { BLOCKS = 10, THREADS = 128, COUNT = BLOCKS * THREADS, INPUTS = COUNT + 256 };

static char **files;
static uint32_t in[INPUTS], out[COUNT];

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 22);
    if (!file || !text || fread(text, 1, (1 << 22) - 1, file) == 0)
        fail_msg("%s cannot be read", path);
    fclose(file);
    return text;
}

static void run_kernel(CUmodule module, const char *name, CUdeviceptr from, CUdeviceptr to)
{
    void *parameters[] = {&from, &to};
    good(cu.cuLaunchKernel(driver_kernel(module, name), BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL,
                           parameters, NULL));
    driver_download(out, to, sizeof out);
}

static void check_each(CUmodule module, const char *name, CUdeviceptr from, CUdeviceptr to,
                       uint32_t (*reference)(uint32_t, const uint32_t *))
{
    run_kernel(module, name, from, to);
    for (uint32_t i = 0; i < COUNT; i++)
        if (out[i] != reference(i, in))
            fail_msg("%s, thread %u: %#x, not %#x", name, i, out[i], reference(i, in));
}

static void check_block(CUmodule module, CUdeviceptr from, CUdeviceptr to)
{
    CUdeviceptr address;
    uint32_t total = 0, expected = 0;
    run_kernel(module, "k_block", from, to);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t sum = 0, odd = 0;
        for (uint32_t k = 0; k < THREADS; k++)
            sum += in[i / THREADS * THREADS + k];
        for (uint32_t k = 0; k < 32; k++)
            odd += in[i / 32 * 32 + k] & 1;
        assert_int_equal(out[i], sum ^ odd << 24);
        expected += in[i];
    }
    good(cu.cuModuleGetGlobal_v2(&address, NULL, module, "total"));
    driver_download(&total, address, sizeof total);
    assert_int_equal(total, expected);
}

static void test_compiled(void **state)
{
    uint32_t seed = 12345;
    for (int i = 0; i < INPUTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        in[i] = seed ^ seed >> 13;
    }
    CUdeviceptr from = driver_upload(in, sizeof in), to = driver_upload(out, sizeof out);
    for (char **file = files; *file; file++) {
        printf("%s\n", *file);
        char *text = read_text(*file);
        CUmodule module = driver_compile(text);
        free(text);
        check_each(module, "k_integers", from, to, integers);
        check_each(module, "k_floats", from, to, floats);
        check_each(module, "k_flow", from, to, flow);
        check_block(module, from, to);
        good(cu.cuModuleUnload(module));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compiled)};
    files = argv + 1;
    return argc < 2 ? 1 : cmocka_run_group_tests(tests, driver_setup, driver_teardown);
}
