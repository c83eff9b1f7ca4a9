/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include "../base/ok.h"
#include "base/str.h"
#include "lockstep/launch.h"

static const char *device_name = "reference";

void bench_init(bench *b, uint32_t edges, uint32_t signal_count)
{
    *b = (bench){.edges = edges, .instances = 1, .signal_count = signal_count};
    b->values = calloc((size_t)edges * signal_count, sizeof *b->values);
    assert_non_null(b->values);
}

void bench_set(bench *b, uint32_t edge, uint32_t signal, uint64_t value)
{
    for (uint32_t e = edge; e < b->edges; e++)
        b->values[(size_t)e * b->signal_count + signal] = value;
}

uint64_t bench_at(const bench *b, uint32_t instance, uint32_t edge, uint32_t signal)
{
    assert_true(edge < b->edges && signal < b->signal_count);
    return b->trace[((size_t)instance * b->edges + edge) * b->signal_count + signal];
}

void bench_finish(bench *b)
{
    free(b->values);
    free(b->trace);
    free(b->memory);
    free(b->events);
    *b = (bench){0};
}

/* --- the kernel ------------------------------------------------------------------------------- */

/* Steps all peripherals at one edge and notes what they drive. */
static void write_steps(ls__strbuf *text, const ls__peripherals *p, uint64_t log_words)
{
    uint64_t memory_at = 0, memory_words = 0;
    for (uint32_t i = 0; i < p->count; i++)
        memory_words += p->items[i].memory_words;
    for (uint32_t i = 0; i < p->count; i++) {
        const ls__peripheral *item = &p->items[i];
        ls__strbuf_printf(text, "        at = (u64)lane * 64ul;\n");
        for (uint32_t j = 0; j < item->pin_count; j++)
            ls__strbuf_printf(text, "        pins[at + %uul] = signals[s + %uul];\n", j,
                              item->pins[j].signal.signal);
        ls__strbuf_printf(text,
                          "        ls_peripheral_%u(pins + at, memory + ((u64)lane * %lluul +"
                          " %lluul), image, log + (u64)lane * %lluul, first + e, lane);\n",
                          i, (unsigned long long)memory_words, (unsigned long long)memory_at,
                          (unsigned long long)log_words);
        for (uint32_t j = 0; j < item->pin_count; j++)
            if (item->pins[j].drives)
                ls__strbuf_printf(text,
                                  "        if (pins[at + %uul] != signals[s + %uul])\n"
                                  "            pending[s + %uul] = pins[at + %uul];\n",
                                  j, item->pins[j].signal.signal, item->pins[j].signal.signal, j);
        memory_at += item->memory_words;
    }
}

static char *write_kernel(const bench *b, const ls__peripherals *p, uint64_t log_words)
{
    ls__strbuf text = {0};
    ls__strbuf_printf(&text, "#define LS_PIN_STRIDE 1ul\n");
    ls__strbuf_append(&text, p->text, p->length);
    ls__strbuf_printf(&text,
                      "kernel workgroup(1) void bench(u64 first, u64 edges, u64 all, u32 instances,"
                      " const u64 *values, u64 *trace, u64 *signals, u64 *pending, u64 *pins,"
                      " u32 *memory, const u8 *image, u64 *log)\n{\n"
                      "    u32 lane = global_id(0);\n    u64 at = 0ul, s = (u64)lane * %uul;\n"
                      "    if (lane >= instances)\n        return;\n"
                      "    for (u64 e = 0ul; e < edges; e++) {\n",
                      b->signal_count);
    bool driven[MAX_SIGNALS] = {0};
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->items[i].pin_count; j++)
            driven[p->items[i].pins[j].signal.signal] |= p->items[i].pins[j].drives;
    for (uint32_t i = 0; i < b->signal_count; i++) {
        if (driven[i])
            ls__strbuf_printf(&text, "        signals[s + %uul] = pending[s + %uul];\n", i, i);
        else
            ls__strbuf_printf(&text,
                              "        signals[s + %uul] = values[(first + e) * %uul + %uul];\n", i,
                              b->signal_count, i);
        ls__strbuf_printf(&text,
                          "        trace[((u64)lane * all + first + e) * %uul + %uul] ="
                          " signals[s + %uul];\n",
                          b->signal_count, i, i);
    }
    write_steps(&text, p, log_words);
    ls__strbuf_printf(&text, "    }\n}\n");
    assert_false(text.failed);
    return text.text;
}

/* --- one device ------------------------------------------------------------------------------- */

enum { VALUES, TRACE, SIGNALS, PENDING, PINS, MEMORY, IMAGE, LOG, BUFFERS };

static ls_mem element_of(int which)
{
    return which == MEMORY ? LS_MEM_U32 : which == IMAGE ? LS_MEM_U8 : LS_MEM_U64;
}

typedef struct rig {
    ls_device *device;
    ls_stream *stream;
    ls_module *module;
    ls_program *program;
    const ls_kernel *kernel;
    ls_buffer *buffers[BUFFERS];
    uint64_t sizes[BUFFERS];
} rig;

static void submit(rig *r, ls_batch **batch)
{
    ls_fence *fence = NULL;
    OK(ls_submit(r->stream, *batch, NULL, &fence, error));
    OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
    ls_fence_destroy(&fence);
    ls_batch_destroy(batch);
}

static void copy(rig *r, int which, void *down, const void *up)
{
    ls_batch *batch = NULL;
    ls_range range = {r->buffers[which], 0, LS_WHOLE};
    OK(ls_batch_create(r->device, &batch, error));
    if (up)
        OK(ls_batch_upload(batch, range, element_of(which), up, NULL, error));
    else
        OK(ls_batch_download(batch, range, element_of(which), down, NULL, error));
    submit(r, &batch);
}

static void run_edges(rig *r, const bench *b, uint64_t first, uint64_t edges)
{
    struct {
        uint64_t first, edges, all;
        uint32_t instances;
    } scalars = {first, edges, b->edges, b->instances};
    ls_range ranges[BUFFERS];
    ls_batch *batch = NULL;
    for (int i = 0; i < BUFFERS; i++)
        ranges[i] = (ls_range){r->buffers[i], 0, LS_WHOLE};
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = r->kernel;
    dispatch.global_size[0] = b->instances;
    dispatch.buffers = ranges;
    dispatch.buffer_count = BUFFERS;
    dispatch.scalars = &scalars;
    dispatch.scalar_bytes = 28;
    OK(ls_batch_create(r->device, &batch, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    submit(r, &batch);
}

static void read_events(bench *b, const uint64_t *log, uint64_t log_words)
{
    for (uint32_t i = 0; i < b->instances; i++) {
        const uint64_t *own = log + i * log_words;
        assert_int_equal(own[LS__PERIPHERAL_LOG_COUNT], own[LS__PERIPHERAL_LOG_STAMPED]);
        b->dropped += own[LS__PERIPHERAL_LOG_DROPPED];
        for (uint64_t j = 0; j < own[LS__PERIPHERAL_LOG_COUNT]; j++) {
            const uint64_t *record =
                own + LS__PERIPHERAL_LOG_RECORDS + j * LS__PERIPHERAL_RECORD_WORDS;
            b->events = realloc(b->events, (b->event_count + 1) * sizeof *b->events);
            assert_non_null(b->events);
            b->events[b->event_count++] =
                (ls_cosim_event){.instance = i,
                                 .edge = record[LS__PERIPHERAL_RECORD_EDGE],
                                 .source = (uint32_t)(record[LS__PERIPHERAL_RECORD_KIND] >> 32),
                                 .kind = (uint32_t)record[LS__PERIPHERAL_RECORD_KIND],
                                 .a = record[LS__PERIPHERAL_RECORD_A],
                                 .b = record[LS__PERIPHERAL_RECORD_B]};
        }
    }
}

/* What memory holds at first and what driven signals are. */
static void initial_state(rig *r, const bench *b, const ls__peripherals *p, uint32_t memory_words)
{
    uint32_t *memory = calloc(r->sizes[MEMORY], 1);
    uint64_t *pending = calloc(r->sizes[PENDING], 1);
    assert_true(memory && pending);
    for (uint32_t i = 0; i < b->instances; i++) {
        uint32_t at = i * memory_words;
        for (uint32_t k = 0; k < p->count; k++) {
            const ls__peripheral *item = &p->items[k];
            if (item->memory_init)
                memcpy(memory + at, item->memory_init, item->memory_words * 4);
            at += item->memory_words;
            for (uint32_t j = 0; j < item->pin_count; j++)
                if (item->pins[j].drives)
                    pending[i * b->signal_count + item->pins[j].signal.signal] =
                        item->pins[j].initial;
        }
    }
    copy(r, MEMORY, NULL, memory);
    copy(r, PENDING, NULL, pending);
    if (p->image_bytes)
        copy(r, IMAGE, NULL, p->image);
    copy(r, VALUES, NULL, b->values);
    free(memory);
    free(pending);
}

static void open_rig(rig *r, const char *name, const bench *b, const ls__peripherals *p,
                     uint64_t log_words)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = name;
    OK(ls_device_open(&params, &r->device, error));
    OK(ls_stream_create(r->device, &r->stream, error));
    char *text = write_kernel(b, p, log_words);
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    compile.text = text;
    compile.length = strlen(text);
    compile.path = ls__peripherals_path;
    compile.include = ls__peripherals_include;
    ls_diagnostics *diagnostics = NULL;
    ls_error error = {0};
    if (ls_module_compile(&compile, &r->module, &diagnostics, &error))
        fail_msg("%s", ls_diagnostics_text(diagnostics));
    ls_diagnostics_destroy(&diagnostics);
    free(text);
    OK(ls_program_create(r->device, r->module, NULL, &r->program, error));
    OK(ls_program_kernel(r->program, "bench", &r->kernel, error));
    for (int i = 0; i < BUFFERS; i++) {
        ls_buffer_params buffer = LS_BUFFER_PARAMS_INIT;
        buffer.size_bytes = r->sizes[i];
        buffer.element = element_of(i);
        OK(ls_buffer_create(r->device, &buffer, &r->buffers[i], error));
    }
}

static void close_rig(rig *r)
{
    for (int i = 0; i < BUFFERS; i++)
        ls_buffer_destroy(&r->buffers[i]);
    ls_program_destroy(&r->program);
    ls_module_destroy(&r->module);
    OK(ls_stream_destroy(&r->stream, error));
    OK(ls_device_destroy(&r->device, error));
}

/* Fills trace, memory and events. */
static void run_on(const char *name, bench *b, const ls__peripherals *p)
{
    rig r = {0};
    uint64_t log_words = LS__PERIPHERAL_LOG_RECORDS + LS__PERIPHERAL_RECORD_WORDS *
                                                          LS__PERIPHERAL_EVENTS *
                                                          (uint64_t)p->count * b->edges;
    b->memory_words = 0;
    for (uint32_t i = 0; i < p->count; i++)
        b->memory_words += p->items[i].memory_words;
    r.sizes[VALUES] = (uint64_t)b->edges * b->signal_count * 8;
    r.sizes[TRACE] = r.sizes[VALUES] * b->instances;
    r.sizes[SIGNALS] = r.sizes[PENDING] = (uint64_t)b->signal_count * b->instances * 8;
    r.sizes[PINS] = 64 * 8 * (uint64_t)b->instances;
    r.sizes[MEMORY] = (uint64_t)b->memory_words * b->instances * 4 + 4;
    r.sizes[IMAGE] = p->image_bytes ? p->image_bytes : 16;
    r.sizes[LOG] = log_words * b->instances * 8;

    open_rig(&r, name, b, p, log_words);
    initial_state(&r, b, p, b->memory_words);
    b->trace = malloc(r.sizes[TRACE]);
    b->memory = malloc(r.sizes[MEMORY]);
    uint64_t *log = malloc(r.sizes[LOG]);
    assert_true(b->trace && b->memory && log);
    run_edges(&r, b, 0, b->patch_edge ? b->patch_edge : b->edges);
    if (b->patch_edge) {
        copy(&r, MEMORY, b->memory, NULL);
        for (uint32_t i = 0; b->patch && i < b->instances; i++)
            b->patch(i, b->memory + i * b->memory_words);
        copy(&r, MEMORY, NULL, b->memory);
        run_edges(&r, b, b->patch_edge, b->edges - b->patch_edge);
    }
    copy(&r, TRACE, b->trace, NULL);
    copy(&r, MEMORY, b->memory, NULL);
    copy(&r, LOG, log, NULL);
    read_events(b, log, log_words);
    free(log);
    close_rig(&r);
}

void bench_run(bench *b)
{
    ls__peripherals *p = NULL;
    assert_true(b->signal_count <= MAX_SIGNALS && b->instances <= MAX_INSTANCES);
    OK(ls__peripherals_create(b->peripherals, b->peripheral_count, &p, error));
    run_on("reference", b, p);
    if (bench_effort() > 0) {
        bench other = *b;
        other.events = NULL;
        other.event_count = 0;
        other.dropped = 0;
        run_on(device_name, &other, p);
        assert_memory_equal(other.trace, b->trace,
                            (size_t)b->edges * b->signal_count * b->instances * 8);
        assert_memory_equal(other.memory, b->memory, (size_t)b->memory_words * b->instances * 4);
        assert_int_equal(other.event_count, b->event_count);
        for (uint32_t i = 0; i < b->event_count; i++)
            assert_memory_equal(&other.events[i], &b->events[i], sizeof *b->events);
        other.values = NULL;
        bench_finish(&other);
    }
    ls__peripherals_destroy(&p);
}

int bench_effort(void)
{
    return strcmp(device_name, "reference") == 0 ? 0 : strcmp(device_name, "cpu") == 0 ? 1 : 2;
}

int bench_main(int argc, char **argv, int (*run)(void))
{
    if (argc > 1)
        device_name = argv[1];
    return run();
}
