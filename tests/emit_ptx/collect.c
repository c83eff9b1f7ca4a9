/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to be loaded before a command: it stands in front of ls_program_create, and every
 * module that a program is made of is also written as text to the folder LS_TEST_MODULES, named by
 * its digest.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "lockstep/program.h"

static void write_module(const char *folder, const ls_module *module)
{
    char path[4096], *text = NULL;
    size_t length = 0;
    uint8_t digest[32];
    if (ls_module_digest(module, digest, NULL) != LS_OK ||
        ls_module_print(module, &text, &length, NULL) != LS_OK)
        exit(99);
    snprintf(path, sizeof path, "%s/%02x%02x%02x%02x.ir", folder, digest[0], digest[1], digest[2],
             digest[3]);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0)
        exit(99);
    ls_text_destroy(&text);
}

__attribute__((visibility("default"))) ls_status
ls_program_create(ls_device *device, const ls_module *module, const ls_program_params *params,
                  ls_program **program, ls_error *error)
{
    const char *folder = getenv("LS_TEST_MODULES");
    __typeof__(ls_program_create) *next =
        (__typeof__(ls_program_create) *)dlsym(RTLD_NEXT, "ls_program_create");
    if (!next || !folder)
        exit(99);
    write_module(folder, module);
    return next(device, module, params, program, error);
}
