/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, their kernels and variables, and the linker, whose "cubin" is the PTX itself behind a
 * header with a checksum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

typedef struct binary_header {
    char magic[8];
    uint32_t arch, reserved;
    uint64_t size, checksum; /* of the text behind it */
} binary_header;

static const char binary_magic[8] = "EMUCUBIN";

static uint64_t checksum_of(const char *text, uint64_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

/* --- the log ------------------------------------------------------------------------------------
 */
/* Sizes come and go in the values. */
static void write_log(unsigned count, const int *options, void **values, int buffer_option,
                      int size_option, const char *text)
{
    char *buffer = NULL;
    void **size = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == buffer_option)
            buffer = values[i];
        if (options[i] == size_option)
            size = &values[i];
    }
    if (!buffer || !size)
        return;
    size_t room = (size_t)(unsigned)(uintptr_t)*size, length = strlen(text) + 1;
    if (room == 0)
        return;
    if (length > room)
        length = room;
    memcpy(buffer, text, length - 1);
    buffer[length - 1] = 0;
    *size = (void *)(uintptr_t)length;
}

/* --- loading ------------------------------------------------------------------------------------
 */
static CUresult check_target(const ptx_module *ptx, char *message, size_t size)
{
    uint32_t major = (uint32_t)setting.driver_version / 1000;
    uint32_t minor = (uint32_t)setting.driver_version / 10 % 100;
    uint32_t newest = (major < 12 ? 70 : major < 13 ? 80 : 90) + minor;
    if (ptx->target > (uint32_t)setting.arch) {
        snprintf(message, size, "emulated ptxas: the PTX is for sm_%u, the device is sm_%d",
                 ptx->target, setting.arch);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (ptx->version > newest) {
        snprintf(message, size, "emulated ptxas: PTX %u.%u is newer than the driver's, %u.%u",
                 ptx->version / 10, ptx->version % 10, newest / 10, newest % 10);
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    return CUDA_SUCCESS;
}

/* Registers as a compiler might need them; only occupancy depends on it. */
static unsigned estimate_registers(const ptx_program *program)
{
    unsigned registers = 16 + program->registers_32 / 16 / 8 * 8;
    return registers > 64 ? 64 : registers;
}

static bool link_kernels(module *m, char *message, size_t size)
{
    for (size_t i = 0; i < m->ptx->function_count; i++) {
        function *f = m->ptx->functions[i];
        if (!f->entry || !f->defined)
            continue;
        ptx_program *program = ptx_program_create(m->ptx, f, message, size);
        if (!program)
            return false;
        if (program->shared_bytes > SHARED_PER_BLOCK) {
            snprintf(message, size,
                     "emulated ptxas: entry %s uses too much shared memory: %llu bytes, of %d",
                     f->name, (unsigned long long)program->shared_bytes, SHARED_PER_BLOCK);
            ptx_program_destroy(program);
            return false;
        }
        kernel *k = &m->kernels[m->kernel_count++];
        *k = (kernel){m, f, program, SHARED_PER_BLOCK - (int)program->shared_bytes,
                      estimate_registers(program)};
    }
    return true;
}

/* With the lock held. */
static CUresult place_variables(module *m)
{
    CUresult result = CUDA_SUCCESS;
    if (m->ptx->const_bytes > 65536)
        return CUDA_ERROR_INVALID_PTX;
    if (m->ptx->global_bytes)
        result = memory_create(m->context, m->ptx->global_bytes, NULL, &m->global);
    if (result == CUDA_SUCCESS && m->ptx->const_bytes)
        result = memory_create(m->context, m->ptx->const_bytes, NULL, &m->constants);
    if (result != CUDA_SUCCESS)
        return result;
    m->ptx->global_start = m->global ? m->global->start : 0;
    m->ptx->const_start = m->constants ? m->constants->start : 0;
    bool good = ptx_module_fill(m->ptx, m->global ? m->global->bytes : NULL,
                                m->constants ? m->constants->bytes : NULL);
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

/* With the lock held. */
void module_release(module *m)
{
    if (--m->references)
        return;
    for (size_t i = 0; i < m->kernel_count; i++)
        ptx_program_destroy(m->kernels[i].program);
    free(m->kernels);
    ptx_module_destroy(m->ptx);
    free(m);
}

static void forget_variables(module *m)
{
    if (m->global)
        memory_forget(m->context, m->global);
    if (m->constants)
        memory_forget(m->context, m->constants);
    m->global = m->constants = NULL;
}

void module_unload(module *m)
{
    for (module **at = &m->context->modules; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    m->context->live_modules--;
    forget_variables(m);
    module_release(m);
}

static CUresult load_text(context *c, CUmodule *result, const char *text, size_t size,
                          char *message, size_t message_size)
{
    CUresult fault = fault_count(COUNT_jit);
    if (setting.dump)
        fprintf(stderr, "%.*s\n", (int)size, text);
    snprintf(message, message_size, "emulated ptxas: fails on request");
    if (fault != CUDA_SUCCESS)
        return fault;
    ptx_module *ptx = ptx_module_create(text, size, message, message_size);
    if (!ptx)
        return CUDA_ERROR_INVALID_PTX;
    CUresult status = check_target(ptx, message, message_size);
    if (status != CUDA_SUCCESS) {
        ptx_module_destroy(ptx);
        return status;
    }
    module *m = driver_need(calloc(1, sizeof *m));
    m->context = c;
    m->ptx = ptx;
    m->references = 1;
    m->kernels = driver_need(calloc(ptx->function_count + 1, sizeof *m->kernels));
    pthread_mutex_lock(&driver_lock);
    snprintf(message, message_size, "emulated ptxas: variables find no place");
    status = place_variables(m);
    if (status == CUDA_SUCCESS && !link_kernels(m, message, message_size))
        status = CUDA_ERROR_INVALID_PTX;
    if (status == CUDA_SUCCESS) {
        c->live_modules++;
        m->next = c->modules;
        c->modules = m;
        *result = m;
        snprintf(message, message_size, "emulated ptxas: %zu kernels for sm_%d", m->kernel_count,
                 setting.arch);
    } else {
        forget_variables(m);
        module_release(m);
    }
    pthread_mutex_unlock(&driver_lock);
    return status;
}

/* The text in a binary, or NULL. `size` 0: as large as it says. */
static CUresult open_binary(const char *image, size_t size, const char **text, size_t *text_size)
{
    binary_header header;
    if (size && size < sizeof header)
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&header, image, sizeof header);
    if ((size && header.size != size - sizeof header) || header.size > UINT32_MAX ||
        checksum_of(image + sizeof header, header.size) != header.checksum)
        return CUDA_ERROR_INVALID_IMAGE;
    /* Binaries run on their own generation only. */
    if (header.arch / 10 != (uint32_t)setting.arch / 10 || header.arch > (uint32_t)setting.arch)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    *text = image + sizeof header;
    *text_size = header.size;
    return CUDA_SUCCESS;
}

API cuModuleLoadDataEx(CUmodule *result, const void *image, unsigned count, int *options,
                       void **values)
{
    ENTER(c);
    if (!result || !image || (count && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    const char *text = image;
    size_t size;
    CUresult status = CUDA_SUCCESS;
    if (strncmp(text, binary_magic, sizeof binary_magic) == 0)
        status = open_binary(image, 0, &text, &size);
    else
        size = strlen(text);
    if (status != CUDA_SUCCESS)
        return status;
    char message[512] = "";
    status = load_text(c, result, text, size, message, sizeof message);
    bool good = status == CUDA_SUCCESS;
    write_log(count, options, values, JIT_INFO_LOG, JIT_INFO_LOG_SIZE, good ? message : "");
    write_log(count, options, values, JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE, good ? "" : message);
    return status;
}

API cuModuleLoadData(CUmodule *result, const void *image)
{
    return cuModuleLoadDataEx(result, image, 0, NULL, NULL);
}

API cuModuleUnload(CUmodule m)
{
    ENTER(c);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    stream_wait_all(c);
    pthread_mutex_lock(&driver_lock);
    module_unload(m);
    pthread_mutex_unlock(&driver_lock);
    return context_state(c);
}

API cuModuleGetFunction(CUfunction *result, CUmodule m, const char *name)
{
    ENTER(c);
    (void)c;
    if (!m || !name)
        return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].function->name, name) == 0) {
            *result = &m->kernels[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

API cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule m, const char *name)
{
    ENTER(c);
    (void)c;
    if (!m || !name)
        return CUDA_ERROR_INVALID_HANDLE;
    const variable *v = ptx_module_variable(m->ptx, name);
    if (!v || (v->space != SPACE_GLOBAL && v->space != SPACE_CONST))
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address =
            (v->space == SPACE_GLOBAL ? m->ptx->global_start : m->ptx->const_start) + v->offset;
    if (size)
        *size = v->size;
    return CUDA_SUCCESS;
}

/* --- kernels ------------------------------------------------------------------------------------
 */
static int most_threads(const kernel *k)
{
    int most = REGISTERS_PER_PROCESSOR / (int)k->registers;
    int wanted = k->function->max_threads ? (int)k->function->max_threads : 1024;
    int allowed = (int)setting.kernel_threads;
    most = most > allowed ? allowed : most / 32 * 32;
    return wanted < most ? wanted : most;
}

API cuFuncGetAttribute(int *value, int attribute, CUfunction k)
{
    ENTER(c);
    (void)c;
    if (!value || !k)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case FUNCTION_MAX_THREADS:
        *value = most_threads(k);
        break;
    case FUNCTION_SHARED_BYTES:
        *value = (int)k->program->shared_bytes;
        break;
    case FUNCTION_CONST_BYTES:
        *value = (int)k->module->ptx->const_bytes;
        break;
    case FUNCTION_LOCAL_BYTES:
        *value = (int)k->program->frame_bytes;
        break;
    case FUNCTION_REGISTERS:
        *value = (int)k->registers;
        break;
    case FUNCTION_PTX_VERSION:
        *value = (int)k->module->ptx->target;
        break;
    case FUNCTION_BINARY_VERSION:
        *value = setting.arch;
        break;
    case FUNCTION_MAX_DYNAMIC_SHARED:
        *value = k->dynamic_shared;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

API cuFuncSetAttribute(CUfunction k, int attribute, int value)
{
    ENTER(c);
    (void)c;
    if (!k || attribute != FUNCTION_MAX_DYNAMIC_SHARED || value < 0 ||
        value + (int)k->program->shared_bytes > SHARED_PER_PROCESSOR - 1024)
        return CUDA_ERROR_INVALID_VALUE;
    k->dynamic_shared = value;
    return CUDA_SUCCESS;
}

API cuFuncSetCacheConfig(CUfunction k, int config)
{
    (void)config;
    return k ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction k, int threads,
                                                size_t shared)
{
    ENTER(c);
    (void)c;
    if (!blocks || !k || threads < 1)
        return CUDA_ERROR_INVALID_VALUE;
    int rounded = (threads + 31) / 32 * 32, count = BLOCKS_PER_PROCESSOR;
    int by_threads = THREADS_PER_PROCESSOR / rounded;
    int by_registers = REGISTERS_PER_PROCESSOR / (rounded * (int)k->registers);
    size_t each = k->program->shared_bytes + shared + 1024;
    size_t by_shared = SHARED_PER_PROCESSOR / each;
    count = by_threads < count ? by_threads : count;
    count = by_registers < count ? by_registers : count;
    count = by_shared < (size_t)count ? (int)by_shared : count;
    *blocks = threads > most_threads(k) ? 0 : count;
    return CUDA_SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction k, int threads,
                                                         size_t shared, unsigned flags)
{
    (void)flags;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, k, threads, shared);
}

API cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction k, size_t (*shared_for)(int),
                                     size_t shared, int limit)
{
    int most = most_threads(k);
    if (limit > 0 && limit < most)
        most = limit;
    *block = most;
    CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessor(
        grid, k, most, shared_for ? shared_for(most) : shared);
    *grid *= PROCESSORS;
    return result;
}

/* --- linking ------------------------------------------------------------------------------------
 */
typedef struct linking {
    unsigned count;
    int *options;
    void **values;
    char *image;
    size_t size;
} linking;

API cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *result)
{
    ENTER(c);
    (void)c;
    linking *l = driver_need(calloc(1, sizeof *l));
    *l = (linking){count, options, values, NULL, 0};
    *result = l;
    return CUDA_SUCCESS;
}

/* One input. It is compiled to see whether it can be. */
API cuLinkAddData_v2(CUlinkState l, int kind, void *data, size_t size, const char *name,
                     unsigned count, int *options, void **values)
{
    ENTER(c);
    (void)name;
    if (!l || !data || kind != JIT_INPUT_PTX || l->image)
        return !l || !data ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    char message[512] = "";
    CUmodule m = NULL;
    const char *text = data;
    if (size && text[size - 1] == 0)
        size = strlen(text);
    CUresult result = load_text(c, &m, text, size, message, sizeof message);
    bool good = result == CUDA_SUCCESS;
    if (count == 0) {
        count = l->count;
        options = l->options;
        values = l->values;
    }
    write_log(count, options, values, JIT_INFO_LOG, JIT_INFO_LOG_SIZE, good ? message : "");
    write_log(count, options, values, JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE, good ? "" : message);
    if (!good)
        return result;
    cuModuleUnload(m);
    binary_header header = {
        .arch = (uint32_t)setting.arch, .size = size, .checksum = checksum_of(text, size)};
    memcpy(header.magic, binary_magic, sizeof header.magic);
    l->size = sizeof header + size;
    l->image = driver_need(malloc(l->size));
    memcpy(l->image, &header, sizeof header);
    memcpy(l->image + sizeof header, text, size);
    return CUDA_SUCCESS;
}

API cuLinkComplete(CUlinkState l, void **image, size_t *size)
{
    ENTER(c);
    (void)c;
    if (!l || !l->image)
        return CUDA_ERROR_INVALID_VALUE;
    *image = l->image;
    *size = l->size;
    return CUDA_SUCCESS;
}

API cuLinkDestroy(CUlinkState l)
{
    if (!l)
        return CUDA_ERROR_INVALID_VALUE;
    free(l->image);
    free(l);
    return CUDA_SUCCESS;
}
