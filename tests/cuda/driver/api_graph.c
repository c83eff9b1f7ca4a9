/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of explicit nodes. An executable holds its nodes in an order that their dependencies
 * allow, and what they were given; each launch takes a copy of that. */
#include <stdlib.h>
#include <string.h>
#include "driver.h"

typedef struct graph_node {
    work work;
    struct graph_node **before;
    size_t before_count;
    struct graph_node *next;
    struct graph *graph;
    bool placed; /* while an executable is made */
} graph_node;

typedef struct graph {
    context *context;
    graph_node *first, *last;
    size_t count;
} graph;

typedef struct graph_exec {
    context *context;
    work *nodes;
    graph_node **origins; /* compared, never followed */
    size_t count;
} graph_exec;

API cuGraphCreate(CUgraph *result, unsigned flags)
{
    ENTER(c);
    if (!result || flags)
        return CUDA_ERROR_INVALID_VALUE;
    graph *g = driver_need(calloc(1, sizeof *g));
    g->context = c;
    pthread_mutex_lock(&driver_lock);
    c->live_graphs++;
    pthread_mutex_unlock(&driver_lock);
    *result = g;
    return CUDA_SUCCESS;
}

static void clear(work *w)
{
    pthread_mutex_lock(&driver_lock);
    work_clear(w);
    pthread_mutex_unlock(&driver_lock);
}

API cuGraphDestroy(CUgraph g)
{
    if (!g)
        return CUDA_ERROR_INVALID_VALUE;
    while (g->first) {
        graph_node *node = g->first;
        g->first = node->next;
        clear(&node->work);
        free(node->before);
        free(node);
    }
    pthread_mutex_lock(&driver_lock);
    g->context->live_graphs--;
    pthread_mutex_unlock(&driver_lock);
    free(g);
    return CUDA_SUCCESS;
}

/* Takes the work over, even when it fails. */
static CUresult add_node(CUgraphNode *result, graph *g, const CUgraphNode *before, size_t count,
                         work *w)
{
    for (size_t i = 0; i < count; i++)
        if (!before[i] || before[i]->graph != g) {
            clear(w);
            return CUDA_ERROR_INVALID_VALUE;
        }
    graph_node *node = driver_need(calloc(1, sizeof *node));
    node->work = *w;
    node->graph = g;
    node->before = driver_need(calloc(count + 1, sizeof *node->before));
    if (count)
        memcpy(node->before, before, count * sizeof *before);
    node->before_count = count;
    if (g->last)
        g->last->next = node;
    else
        g->first = node;
    g->last = node;
    g->count++;
    *result = node;
    return CUDA_SUCCESS;
}

/* --- what nodes do ------------------------------------------------------------------------------
 */
static CUresult kernel_work(context *c, work *w, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned grid[] = {p->gridDimX, p->gridDimY, p->gridDimZ};
    unsigned block[] = {p->blockDimX, p->blockDimY, p->blockDimZ};
    *w = (work){.kind = WORK_KERNEL};
    CUresult result =
        launch_prepare(c, w, p->func, grid, block, p->sharedMemBytes, p->kernelParams, p->extra);
    if (result != CUDA_SUCCESS)
        clear(w);
    return result;
}

static bool known_type(int type)
{
    return type == MEMORY_TYPE_HOST || type == MEMORY_TYPE_DEVICE;
}

static CUresult copy_work(work *w, const CUDA_MEMCPY3D *p)
{
    if (!p || p->WidthInBytes == 0 || p->Height == 0 || p->Depth == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!known_type(p->srcMemoryType) || !known_type(p->dstMemoryType))
        return CUDA_ERROR_NOT_SUPPORTED;
    *w = (work){.kind = WORK_COPY, .copy = *p};
    if (p->srcMemoryType == MEMORY_TYPE_DEVICE)
        w->copy.srcHost = NULL;
    if (p->dstMemoryType == MEMORY_TYPE_DEVICE)
        w->copy.dstHost = NULL;
    return CUDA_SUCCESS;
}

static CUresult set_work(work *w, const CUDA_MEMSET_NODE_PARAMS *p)
{
    if (!p || p->width == 0 || p->height == 0 ||
        (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
        p->dst % p->elementSize != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *w = (work){.kind = WORK_SET, .set = *p};
    return CUDA_SUCCESS;
}

API cuGraphAddKernelNode(CUgraphNode *result, CUgraph g, const CUgraphNode *before, size_t count,
                         const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    ENTER(c);
    work w;
    CUresult status = g ? kernel_work(c, &w, p) : CUDA_ERROR_INVALID_VALUE;
    return status == CUDA_SUCCESS ? add_node(result, g, before, count, &w) : status;
}

API cuGraphAddKernelNode_v2(CUgraphNode *result, CUgraph g, const CUgraphNode *before, size_t count,
                            const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    return cuGraphAddKernelNode(result, g, before, count, p ? &p->first : NULL);
}

/* Only whether all its blocks run at once. */
API cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute, const void *value)
{
    if (!node || node->work.kind != WORK_KERNEL || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute != NODE_ATTRIBUTE_COOPERATIVE)
        return CUDA_ERROR_NOT_SUPPORTED;
    node->work.cooperative = *(const int *)value != 0;
    return CUDA_SUCCESS;
}

API cuGraphAddMemcpyNode(CUgraphNode *result, CUgraph g, const CUgraphNode *before, size_t count,
                         const CUDA_MEMCPY3D *p, CUcontext of)
{
    ENTER(c);
    work w;
    CUresult status = g && of == c ? copy_work(&w, p) : CUDA_ERROR_INVALID_VALUE;
    return status == CUDA_SUCCESS ? add_node(result, g, before, count, &w) : status;
}

API cuGraphAddMemsetNode(CUgraphNode *result, CUgraph g, const CUgraphNode *before, size_t count,
                         const CUDA_MEMSET_NODE_PARAMS *p, CUcontext of)
{
    ENTER(c);
    work w;
    CUresult status = g && of == c ? set_work(&w, p) : CUDA_ERROR_INVALID_VALUE;
    return status == CUDA_SUCCESS ? add_node(result, g, before, count, &w) : status;
}

API cuGraphAddEmptyNode(CUgraphNode *result, CUgraph g, const CUgraphNode *before, size_t count)
{
    ENTER(c);
    (void)c;
    work w = {.kind = WORK_EMPTY};
    return g ? add_node(result, g, before, count, &w) : CUDA_ERROR_INVALID_VALUE;
}

/* --- executables --------------------------------------------------------------------------------
 */
static bool is_ready(const graph_node *node)
{
    for (size_t i = 0; i < node->before_count; i++)
        if (!node->before[i]->placed)
            return false;
    return !node->placed;
}

/* Of those that may run, the first that was added, or the last in reverse. */
static graph_node *next_node(const graph *g)
{
    graph_node *found = NULL;
    for (graph_node *node = g->first; node; node = node->next)
        if (is_ready(node)) {
            found = node;
            if (!setting.reverse)
                break;
        }
    return found;
}

API cuGraphInstantiateWithFlags(CUgraphExec *result, CUgraph g, unsigned long long flags)
{
    ENTER(c);
    if (!result || !g || flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (const graph_node *node = g->first; node; node = node->next)
        if (node->work.cooperative && !launch_fits(&node->work))
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    graph_exec *e = driver_need(calloc(1, sizeof *e));
    e->context = c;
    e->nodes = driver_need(calloc(g->count + 1, sizeof *e->nodes));
    e->origins = driver_need(calloc(g->count + 1, sizeof *e->origins));
    for (graph_node *node = g->first; node; node = node->next)
        node->placed = false;
    pthread_mutex_lock(&driver_lock);
    for (graph_node *node; (node = next_node(g));) {
        node->placed = true;
        e->nodes[e->count] = work_copy(&node->work);
        e->origins[e->count++] = node;
    }
    c->live_execs++;
    pthread_mutex_unlock(&driver_lock);
    *result = e;
    return CUDA_SUCCESS;
}

API cuGraphExecDestroy(CUgraphExec e)
{
    if (!e)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < e->count; i++)
        clear(&e->nodes[i]);
    pthread_mutex_lock(&driver_lock);
    e->context->live_execs--;
    pthread_mutex_unlock(&driver_lock);
    free(e->nodes);
    free(e->origins);
    free(e);
    return CUDA_SUCCESS;
}

static work *find_node(const graph_exec *e, const graph_node *node, work_kind kind)
{
    for (size_t i = 0; e && i < e->count; i++)
        if (e->origins[i] == node)
            return e->nodes[i].kind == kind ? &e->nodes[i] : NULL;
    return NULL;
}

static CUresult replace(work *to, work *with)
{
    CUresult fault = fault_count(COUNT_graph_update);
    if (fault != CUDA_SUCCESS) {
        clear(with);
        return fault;
    }
    clear(to);
    *to = *with;
    return CUDA_SUCCESS;
}

API cuGraphExecKernelNodeSetParams(CUgraphExec e, CUgraphNode node,
                                   const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    ENTER(c);
    work w, *to = find_node(e, node, WORK_KERNEL);
    CUresult status = to ? kernel_work(c, &w, p) : CUDA_ERROR_INVALID_VALUE;
    if (status != CUDA_SUCCESS)
        return status;
    w.cooperative = to->cooperative;
    if (w.cooperative && !launch_fits(&w)) {
        clear(&w);
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return replace(to, &w);
}

API cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode node,
                                      const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    return cuGraphExecKernelNodeSetParams(e, node, p ? &p->first : NULL);
}

/* Only rows can be changed, and not from which kind of memory to which. */
API cuGraphExecMemcpyNodeSetParams(CUgraphExec e, CUgraphNode node, const CUDA_MEMCPY3D *p,
                                   CUcontext of)
{
    ENTER(c);
    work w, *to = find_node(e, node, WORK_COPY);
    CUresult status = to && of == c ? copy_work(&w, p) : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS &&
        (p->Height != 1 || p->Depth != 1 || to->copy.Height != 1 || to->copy.Depth != 1 ||
         to->copy.srcMemoryType != p->srcMemoryType || to->copy.dstMemoryType != p->dstMemoryType))
        return CUDA_ERROR_INVALID_VALUE;
    return status == CUDA_SUCCESS ? replace(to, &w) : status;
}

API cuGraphExecMemsetNodeSetParams(CUgraphExec e, CUgraphNode node,
                                   const CUDA_MEMSET_NODE_PARAMS *p, CUcontext of)
{
    ENTER(c);
    work w, *to = find_node(e, node, WORK_SET);
    CUresult status = to && of == c ? set_work(&w, p) : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS && (p->height != 1 || to->set.height != 1))
        return CUDA_ERROR_INVALID_VALUE;
    return status == CUDA_SUCCESS ? replace(to, &w) : status;
}

API cuGraphLaunch(CUgraphExec e, CUstream s)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_graph);
    if (fault != CUDA_SUCCESS && !fault_is_late(fault))
        return fault;
    if (!e)
        return CUDA_ERROR_INVALID_VALUE;
    work *w = work_create(WORK_GRAPH);
    w->fault = fault;
    w->nodes = driver_need(calloc(e->count + 1, sizeof *w->nodes));
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; i < e->count; i++)
        w->nodes[i] = work_copy(&e->nodes[i]);
    w->node_count = e->count;
    pthread_mutex_unlock(&driver_lock);
    return stream_submit(stream_of(c, s), w);
}

API cuGraphUpload(CUgraphExec e, CUstream s)
{
    (void)s;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
