/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the products with matrices of one type are: with one column, where the matrix comes from
 * memory, and with many, where it is arithmetic that counts. The best of a number of rounds;
 * processor time, so that other processes disturb less: with one thread, the default, it is the
 * time that passes.
 *
 *   products [--device D] [--threads N] [--rows N] [--elements N] [--columns N] [--rounds N]
 *            [--cache PATH] TYPE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "llm/matrix.h"
#include "lockstep/launch.h"

enum { TILE = 4 }; /* LS__TILE */

static struct {
    const char *device, *cache;
    uint32_t threads, rows, elements, columns, rounds;
} options = {"cpu", "products-cache", 1, 16384, 2048, 64, 7};

static ls_device *device;
static ls_error error;

static void need(ls_status status)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "products: %s\n", error.message);
    exit(1);
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static ls_program *build(const ls__matrix_form *form)
{
    ls__strbuf text = {0};
    for (uint32_t i = 0; i < ls__llm_kernels_count; i++)
        ls__strbuf_append(&text, ls__llm_kernels[i].text, ls__llm_kernels[i].length);
    ls__matrix_kernel(&text, form, "one", 1);
    ls__matrix_kernel(&text, form, "tile", TILE);
    ls_module *module = NULL;
    ls_program *program = NULL;
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    compile.text = text.text;
    compile.length = text.length;
    compile.path = "products";
    params.unchecked = true;
    need(ls_module_compile(&compile, &module, NULL, &error));
    need(ls_program_create(device, module, &params, &program, &error));
    ls__strbuf_finish(&text);
    ls_module_destroy(&module);
    return program;
}

static ls_buffer *buffer(uint64_t bytes, int fill)
{
    ls_buffer *made = NULL;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    void *memory;
    params.size_bytes = bytes;
    need(ls_buffer_create(device, &params, &made, &error));
    need(ls_buffer_map(made, 0, bytes, LS_MAP_WRITE, &memory, &error));
    memset(memory, fill, bytes);
    need(ls_buffer_unmap(made, &error));
    return made;
}

/* The best time of a round of `columns` columns. */
static double measure(ls_program *program, const char *name, uint32_t columns, uint32_t tile,
                      ls_buffer *const *buffers, uint32_t count)
{
    const ls_kernel *kernel = NULL;
    ls_range ranges[8];
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    ls_batch *batch = NULL;
    ls_stream *stream = NULL;
    double best = 0;
    uint32_t scalars[] = {options.rows, options.elements, columns, 0};
    need(ls_program_kernel(program, name, &kernel, &error));
    for (uint32_t i = 0; i < count; i++)
        ranges[i] = (ls_range){buffers[i], 0, LS_WHOLE};
    dispatch.kernel = kernel;
    dispatch.global_size[0] = columns / tile * 32;
    dispatch.global_size[1] = (options.rows + 31) / 32;
    dispatch.buffers = ranges;
    dispatch.buffer_count = count;
    dispatch.scalars = scalars;
    dispatch.scalar_bytes = sizeof scalars;
    need(ls_batch_create(device, &batch, &error));
    need(ls_batch_dispatch(batch, &dispatch, &error));
    need(ls_stream_create(device, &stream, &error));
    for (uint32_t i = 0; i <= options.rounds; i++) {
        ls_fence *fence = NULL;
        ls_submit_params submit = LS_SUBMIT_PARAMS_INIT;
        double start = processor_seconds();
        need(ls_submit(stream, batch, &submit, &fence, &error));
        need(ls_fence_wait(fence, LS_FOREVER, NULL, &error));
        double seconds = processor_seconds() - start;
        ls_fence_destroy(&fence);
        if (i == 1 || (i && seconds < best))
            best = seconds;
    }
    need(ls_stream_destroy(&stream, &error));
    ls_batch_destroy(&batch);
    return best;
}

static void measure_type(const ls__matrix_form *form)
{
    uint64_t inputs = (uint64_t)options.columns * options.elements;
    uint64_t bytes = ls__matrix_bytes(form, options.elements, options.rows);
    ls_program *program = build(form);
    ls_buffer *matrix = buffer(bytes, 0x11), *integers = buffer(inputs, 3),
              *floats = buffer(inputs * 4, 0),
              *y = buffer((uint64_t)options.rows * options.columns * 4, 0);
    ls_buffer *buffers[8] = {matrix, matrix, integers, floats, floats, floats, y};
    uint32_t count = 7;
    if (form->elements == 1) {
        buffers[1] = floats;
        buffers[2] = y;
        count = 3;
    } else if (form->elements == 256) {
        buffers[5] = y;
        count = 6;
    }
    double one = measure(program, "one", 1, 1, buffers, count);
    double tile = measure(program, "tile", options.columns, TILE, buffers, count);
    printf("%-7s one column %6.2f GB/s %6.1f GMAC/s   %u columns %6.1f GMAC/s\n",
           ls_gguf_type_name(form->type), (double)bytes * 1e-9 / one,
           (double)options.rows * options.elements * 1e-9 / one, options.columns,
           (double)options.rows * options.elements * options.columns * 1e-9 / tile);
    ls_buffer_destroy(&matrix);
    ls_buffer_destroy(&integers);
    ls_buffer_destroy(&floats);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static int read_options(int argc, char **argv)
{
    int at = 1;
    const struct {
        const char *name;
        uint32_t *number;
        const char **text;
    } known[] = {
        {"--device", NULL, &options.device},     {"--cache", NULL, &options.cache},
        {"--threads", &options.threads, NULL},   {"--rows", &options.rows, NULL},
        {"--elements", &options.elements, NULL}, {"--columns", &options.columns, NULL},
        {"--rounds", &options.rounds, NULL},
    };
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strcmp(argv[at], known[i].name) != 0)
                continue;
            found = true;
            if (known[i].text)
                *known[i].text = argv[at + 1];
            else
                *known[i].number = (uint32_t)strtoul(argv[at + 1], NULL, 10);
        }
        if (!found)
            return argc;
    }
    return at;
}

int main(int argc, char **argv)
{
    int at = read_options(argc, argv);
    if (at == argc) {
        fprintf(stderr, "usage: products [--device D] [--threads N] [--rows N] [--elements N] "
                        "[--columns N] [--rounds N] [--cache PATH] TYPE...\n");
        return 2;
    }
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = options.device;
    params.threads = options.threads;
    params.cache_path = options.cache;
    need(ls_device_open(&params, &device, &error));
    for (; at < argc; at++) {
        const ls__matrix_form *form;
        bool found = false;
        for (uint32_t i = 0; (form = ls__matrix_form_at(i)); i++)
            if (strcmp(ls_gguf_type_name(form->type), argv[at]) == 0) {
                measure_type(form);
                found = true;
            }
        if (!found)
            fprintf(stderr, "products: there is no type %s\n", argv[at]);
    }
    need(ls_device_destroy(&device, &error));
    return 0;
}
