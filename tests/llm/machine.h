/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of models: a model on a device, a session of it, and model files with changes. */
#ifndef LS_TESTS_LLM_MACHINE_H
#define LS_TESTS_LLM_MACHINE_H

#include "base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ok.h"
#include "lockstep/llm.h"

typedef struct machine {
    ls_device *device; /* NULL, and so are the others: there is no such device, which is printed */
    ls_model *model;
    ls_session *session; /* NULL: none was asked for */
} machine;

extern bool without_vulkan; /* as if there were none */

ls_device *open_device(const char *name, uint32_t threads); /* NULL: as above */
/* `model` NULL: as by default; `session` NULL: none. */
machine start(const char *device, uint32_t threads, const ls_gguf *gguf,
              const ls_model_params *model, const ls_session_params *session);
machine start_file(const char *device, uint32_t threads, const char *path,
                   const ls_model_params *model, const ls_session_params *session);
void stop(machine *m);

/* The bytes of a file, to be changed and opened again; until the next call. */
uint8_t *read_bytes(const char *path, size_t *size);

#endif
