/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared batches: a job's steps as a graph of the driver's, a node after the other. Each start
 * walks through the commands again and updates the nodes whose parameters have changed; where the
 * steps are others than before, the graph is made anew.
 *
 * The first start runs as any job does. From then on both ways take turns until each has been
 * measured, and the faster one stays. What no graph can do (sizes that a kernel computes, waits for
 * traps, very many commands, rows of a report) always runs as any job does.
 */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/cuda/choice.h"
#include "device/cuda/jobs.h"

enum { MOST_COMMANDS = 1 << 15, MOST_FAILURES = 4, FILL_BYTES = 8192 };
static const uint64_t most_staging = 4 << 20;

typedef struct node {
    ls__cu_node handle;
    ls__cuda_step step;
    uint64_t parameters; /* where they begin in prepared->parameters */
} node;

struct ls__cuda_prepared {
    ls__cuda_segment segment;
    ls__cu_graph graph;
    ls__cu_executable executable; /* NULL: the walk makes the graph */
    node *nodes;
    uint32_t count, capacity, next; /* next: in the walk */
    uint8_t *parameters;            /* of all launches, as they are in the graph */
    uint64_t parameter_bytes, parameter_capacity;
    bool started;
    uint32_t failures;
    ls__cu_result refused; /* by the driver, while a graph was made or updated */
    ls__cuda_choice choice;
};

/* --- creation --------------------------------------------------------------------------------- */
ls_status ls__cuda_prepare(ls__cuda_device *device, const ls__job *job,
                           ls__cuda_prepared **prepared, ls_error *error)
{
    (void)device, (void)job; /* all is made when it is first needed */
    *prepared = ls__mem_alloc(1, sizeof **prepared);
    return *prepared ? LS_OK : ls__fail_oom(error, sizeof **prepared);
}

static void drop_graph(const ls__cuda_functions *cu, ls__cuda_prepared *p)
{
    if (p->executable)
        cu->GraphExecDestroy(p->executable);
    if (p->graph)
        cu->GraphDestroy(p->graph);
    p->executable = NULL;
    p->graph = NULL;
    p->count = 0;
    p->parameter_bytes = 0;
}

void ls__cuda_unprepare(ls__cuda_device *device, ls__cuda_prepared *p)
{
    drop_graph(device->cu, p);
    ls__cuda_segment_finish(device, &p->segment);
    ls__mem_free(p->nodes);
    ls__mem_free(p->parameters);
    ls__mem_free(p);
}

/* --- nodes ------------------------------------------------------------------------------------ */
static ls__cu_kernel_node kernel_node(const ls__cuda_step *s, void *parameters[1])
{
    parameters[0] = (void *)(uintptr_t)s->parameters;
    return (ls__cu_kernel_node){.function = s->function,
                                .grid = {s->grid[0], s->grid[1], s->grid[2]},
                                .block = {s->lanes, 1, 1},
                                .parameters = parameters};
}

static ls__cu_set_node set_node(const ls__cuda_step *s)
{
    return (ls__cu_set_node){.target = s->target,
                             .value = s->value,
                             .element_bytes = s->element_bytes,
                             .width = s->bytes / s->element_bytes,
                             .height = 1};
}

static ls__cu_copy_side copy_side(uint8_t *host, ls__cu_address address, uint64_t bytes)
{
    return (ls__cu_copy_side){.memory_type = host ? LS__CU_MEMORY_HOST : LS__CU_MEMORY_DEVICE,
                              .host = host,
                              .device = address,
                              .pitch = bytes,
                              .height = 1};
}

static ls__cu_copy_node copy_node(const ls__cuda_step *s)
{
    bool in = s->kind == LS__STEP_IN, out = s->kind == LS__STEP_OUT;
    return (ls__cu_copy_node){.source = copy_side(in ? s->host : NULL, s->source, s->bytes),
                              .target = copy_side(out ? s->host : NULL, s->target, s->bytes),
                              .width_bytes = s->bytes,
                              .height = 1,
                              .depth = 1};
}

static ls__cu_result add_node(const ls__cuda_device *device, ls__cuda_prepared *p, node *n)
{
    const ls__cuda_functions *cu = device->cu;
    const ls__cu_node *before = p->count ? &p->nodes[p->count - 1].handle : NULL;
    size_t count = p->count ? 1 : 0;
    void *parameters[1];
    if (n->step.kind == LS__STEP_LAUNCH) {
        ls__cu_kernel_node kernel = kernel_node(&n->step, parameters);
        const ls__cu_node_attribute together = {.cooperative = 1};
        ls__cu_result result = cu->GraphAddKernelNode(&n->handle, p->graph, before, count, &kernel);
        if (result == LS__CU_SUCCESS && n->step.together)
            result = cu->GraphKernelNodeSetAttribute(n->handle, LS__CU_NODE_COOPERATIVE, &together);
        return result;
    }
    if (n->step.kind == LS__STEP_SET) {
        ls__cu_set_node set = set_node(&n->step);
        return cu->GraphAddMemsetNode(&n->handle, p->graph, before, count, &set, device->context);
    }
    ls__cu_copy_node copy = copy_node(&n->step);
    return cu->GraphAddMemcpyNode(&n->handle, p->graph, before, count, &copy, device->context);
}

static ls__cu_result update_node(const ls__cuda_device *device, const ls__cuda_prepared *p,
                                 const node *n, const ls__cuda_step *step)
{
    const ls__cuda_functions *cu = device->cu;
    void *parameters[1];
    atomic_fetch_add(&ls__cuda_test_hooks.graph_updates, 1);
    if (step->kind == LS__STEP_LAUNCH) {
        ls__cu_kernel_node kernel = kernel_node(step, parameters);
        return cu->GraphExecKernelNodeSetParams(p->executable, n->handle, &kernel);
    }
    if (step->kind == LS__STEP_SET) {
        ls__cu_set_node set = set_node(step);
        return cu->GraphExecMemsetNodeSetParams(p->executable, n->handle, &set, device->context);
    }
    ls__cu_copy_node copy = copy_node(step);
    return cu->GraphExecMemcpyNodeSetParams(p->executable, n->handle, &copy, device->context);
}

static bool same_step(const ls__cuda_step *a, const ls__cuda_step *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 && a->target == b->target &&
           a->source == b->source && a->host == b->host && a->bytes == b->bytes &&
           a->value == b->value && a->element_bytes == b->element_bytes;
}

/* Whether an updated node can become the step. */
static bool same_shape(const ls__cuda_step *a, const ls__cuda_step *b)
{
    return a->kind == b->kind && a->function == b->function && a->lanes == b->lanes &&
           a->together == b->together && a->parameter_bytes == b->parameter_bytes &&
           a->element_bytes == b->element_bytes;
}

static bool grow(ls__cuda_prepared *p, uint32_t parameter_bytes)
{
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity ? 2 * p->capacity : 16;
        node *more = ls__mem_realloc(p->nodes, capacity, sizeof *more);
        if (!more)
            return false;
        p->nodes = more;
        p->capacity = capacity;
    }
    if (p->parameter_bytes + parameter_bytes > p->parameter_capacity) {
        uint64_t capacity = 2 * p->parameter_capacity + LS__PTX_MAX_PARAMETER_BYTES;
        uint8_t *more = ls__mem_realloc(p->parameters, capacity, 1);
        if (!more)
            return false;
        p->parameters = more;
        p->parameter_capacity = capacity;
    }
    return true;
}

static ls__cuda_end make(ls__cuda_recorder *r, ls__cuda_prepared *p, const ls__cuda_step *step)
{
    if (!grow(p, step->parameter_bytes))
        return LS__CUDA_UNPREPARED;
    node *n = &p->nodes[p->count];
    *n = (node){.step = *step, .parameters = p->parameter_bytes};
    p->refused = add_node(r->device, p, n);
    if (p->refused != LS__CU_SUCCESS)
        return LS__CUDA_UNPREPARED;
    if (step->parameter_bytes)
        memcpy(p->parameters + n->parameters, step->parameters, step->parameter_bytes);
    n->step.parameters = NULL; /* they move */
    p->parameter_bytes += step->parameter_bytes;
    p->count++;
    return LS__CUDA_GOES_ON;
}

ls__cuda_end ls__cuda_put_node(ls__cuda_recorder *r, const ls__cuda_step *step)
{
    ls__cuda_prepared *p = r->prepared;
    if (!p->executable)
        return make(r, p, step);
    node *n = &p->nodes[p->next];
    if (p->next++ >= p->count || !same_shape(&n->step, step))
        return LS__CUDA_UNPREPARED;
    uint8_t *kept = step->parameter_bytes ? p->parameters + n->parameters : NULL;
    if (same_step(&n->step, step) &&
        (!step->parameter_bytes || memcmp(kept, step->parameters, step->parameter_bytes) == 0))
        return LS__CUDA_GOES_ON;
    p->refused = update_node(r->device, p, n, step);
    if (p->refused != LS__CU_SUCCESS)
        return LS__CUDA_UNPREPARED;
    n->step = *step;
    n->step.parameters = NULL;
    if (step->parameter_bytes)
        memcpy(kept, step->parameters, step->parameter_bytes);
    return LS__CUDA_GOES_ON;
}

/* --- the graph -------------------------------------------------------------------------------- */
/* How much staging memory the job's commands take; false: too much, or too many commands. */
static bool measure(const ls__job *job, uint64_t *staging)
{
    uint64_t count = 0;
    uint32_t repeat = 0;
    *staging = 64;
    for (uint32_t i = 0; i < job->command_count; i++) {
        const ls__command *command = &job->commands[i];
        while (repeat < job->repeat_count && job->repeats[repeat].end <= i)
            repeat++;
        bool inside = repeat < job->repeat_count && job->repeats[repeat].first <= i;
        uint64_t rounds = inside ? job->repeats[repeat].rounds : 1, bytes = 0;
        if (command->kind == LS__COMMAND_FILL)
            bytes = FILL_BYTES;
        else if (command->kind == LS__COMMAND_UPLOAD || command->kind == LS__COMMAND_COPY)
            bytes = command->target.size + 16;
        else if (command->kind == LS__COMMAND_DOWNLOAD)
            bytes = command->source.size + 16;
        count += rounds;
        if (count > MOST_COMMANDS || (bytes && rounds > most_staging / bytes))
            return false;
        *staging += bytes * rounds;
        if (*staging > most_staging)
            return false;
    }
    return true;
}

static bool make_room(ls__cuda_recorder *r, ls__cuda_prepared *p)
{
    uint64_t staging;
    if (!measure(r->job, &staging))
        return false;
    if (p->segment.host && p->segment.size >= staging + 64)
        return true;
    drop_graph(r->cu, p); /* it knows the old place */
    ls__cuda_segment_finish(r->device, &p->segment);
    memset(&p->segment, 0, sizeof p->segment);
    p->refused = ls__cuda_segment_init(r->device, &p->segment, staging);
    return p->refused == LS__CU_SUCCESS;
}

/* Walks through the job: makes the nodes, or updates them. */
static bool walk(ls__cuda_recorder *r, ls__cuda_prepared *p)
{
    p->next = 0;
    p->refused = LS__CU_SUCCESS;
    ls__cuda_segment_reset(&p->segment);
    r->job->result = (ls__job_result){.failed_command = UINT32_MAX};
    r->totals = &r->job->result;
    r->segment = &p->segment;
    r->prepared = p;
    r->idle = true;
    r->may_trap = false;
    r->sequence = 0;
    ls__cuda_end end = ls__cuda_record(r);
    r->prepared = NULL;
    return end == LS__CUDA_GOES_ON && (!p->executable || p->next == p->count);
}

static bool make_graph(ls__cuda_recorder *r, ls__cuda_prepared *p)
{
    drop_graph(r->cu, p);
    p->refused = r->cu->GraphCreate(&p->graph, 0);
    if (p->refused != LS__CU_SUCCESS || !walk(r, p) || p->count == 0)
        return false;
    p->refused = r->cu->GraphInstantiate(&p->executable, p->graph, 0);
    if (p->refused != LS__CU_SUCCESS)
        p->executable = NULL;
    atomic_fetch_add(&ls__cuda_test_hooks.graphs_made, 1);
    return p->executable != NULL;
}

static ls__cuda_end run(ls__cuda_recorder *r, ls__cuda_prepared *p)
{
    ls__cuda_executor *executor = r->executor;
    ls__cuda_end end = ls__cuda_check(r, ls__cuda_segment_begin(executor, &p->segment, r->timed),
                                      "record an event");
    if (end == LS__CUDA_GOES_ON) {
        p->refused = r->cu->GraphLaunch(p->executable, executor->stream);
        end = ls__cuda_check(r, p->refused, "launch a graph");
    }
    if (end == LS__CUDA_REFUSED) /* nothing has run */
        return LS__CUDA_UNPREPARED;
    if (end != LS__CUDA_GOES_ON)
        return end;
    r->job->result.graph_launches++;
    atomic_fetch_add(&ls__cuda_test_hooks.graph_launches, 1);
    ls__cu_result sent = ls__cuda_segment_send(executor, &p->segment), result = sent;
    if (sent == LS__CU_SUCCESS || ls__cuda_is_refusal(sent))
        result = ls__cuda_segment_complete(executor, &p->segment, r->job);
    executor->drains++;
    if (ls__cuda_check(r, result, "run commands") != LS__CUDA_GOES_ON)
        return LS__CUDA_LOST;
    if (ls__cuda_check(r, sent, "run commands") != LS__CUDA_GOES_ON)
        return LS__CUDA_REFUSED;
    if (executor->trapped)
        return LS__CUDA_TRAPPED;
    return executor->stopped ? LS__CUDA_CANCELLED : LS__CUDA_GOES_ON;
}

/* --- the choice ------------------------------------------------------------------------------- */
static bool prefers_graph(const ls__cuda_prepared *p)
{
    if (ls__cuda_test_hooks.always_graphs)
        return true;
    if (ls__cuda_test_hooks.never_graphs)
        return false;
    return ls__cuda_chooses_graph(&p->choice);
}

void ls__cuda_replayed_plain(ls__cuda_prepared *p, uint64_t ns)
{
    if (p->started)
        ls__cuda_way_took(&p->choice.plain, ns);
    p->started = true;
}

/* After a graph could not be made, updated or launched: whether the job runs without. */
static bool give_up(ls__cuda_recorder *r, ls__cuda_prepared *p, ls__cuda_end *end)
{
    drop_graph(r->cu, p);
    p->failures++;
    r->job->result = (ls__job_result){.failed_command = UINT32_MAX};
    r->sequence = 0;
    r->idle = true;
    r->may_trap = false;
    if (p->refused == LS__CU_SUCCESS || ls__cuda_is_refusal(p->refused))
        return true;
    *end = ls__cuda_check(r, p->refused, "make a graph");
    return false;
}

bool ls__cuda_replay(ls__cuda_recorder *r, ls__cuda_prepared *p, ls__cuda_end *end)
{
    if (!p->started || r->job->rows || p->failures >= MOST_FAILURES || !prefers_graph(p))
        return false;
    uint64_t begun = ls__os_now_ns();
    p->refused = LS__CU_SUCCESS;
    bool again = p->executable != NULL; /* the first graph is made once, and not measured */
    bool made = make_room(r, p) && p->executable && walk(r, p);
    if (!made && p->refused == LS__CU_SUCCESS)
        made = p->segment.host && make_graph(r, p);
    if (!made)
        return !give_up(r, p, end);
    *end = run(r, p);
    if (*end == LS__CUDA_UNPREPARED)
        return !give_up(r, p, end);
    if (*end == LS__CUDA_GOES_ON && again)
        ls__cuda_way_took(&p->choice.graph, ls__os_now_ns() - begun);
    return true;
}
