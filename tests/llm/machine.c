/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

bool without_vulkan;

ls_device *open_device(const char *name, uint32_t threads)
{
    ls_device *device = NULL;
    ls_error error = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = name;
    params.threads = threads;
    params.cache_path = "llm-sessions-cache";
    if (without_vulkan && strcmp(name, "vulkan") == 0)
        printf("without vulkan: as was asked for\n");
    else if (ls_device_open(&params, &device, &error) != LS_OK)
        printf("without %s: %s\n", name, error.message);
    return device;
}

machine start(const char *device, uint32_t threads, const ls_gguf *gguf,
              const ls_model_params *model, const ls_session_params *session)
{
    machine m = {.device = open_device(device, threads)};
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    if (!m.device)
        return m;
    if (model)
        params = *model;
    params.device = m.device;
    params.gguf = gguf;
    OK(ls_model_load(&params, &m.model, error));
    if (session)
        OK(ls_session_create(m.model, session, &m.session, error));
    return m;
}

machine start_file(const char *device, uint32_t threads, const char *path,
                   const ls_model_params *model, const ls_session_params *session)
{
    ls_gguf *gguf = NULL;
    OK(ls_gguf_open(path, &gguf, error));
    machine m = start(device, threads, gguf, model, session);
    ls_gguf_destroy(&gguf);
    return m;
}

void stop(machine *m)
{
    ls_session_destroy(&m->session);
    ls_model_destroy(&m->model);
    OK(ls_device_destroy(&m->device, error));
}

uint8_t *read_bytes(const char *path, size_t *size)
{
    static _Alignas(64) uint8_t bytes[4 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(*size < sizeof bytes);
    return bytes;
}
