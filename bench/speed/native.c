/* SPDX-License-Identifier: Apache-2.0 */
/* The contender in C: the loops of c/, built by gcc into a library of their own, so that its flags
 * are what they should be whatever this program is built with. */
#include "speed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct native {
    const problem *p;
    loop_function *loop;
    void *buffers[MAX_BUFFERS]; /* copies of what is written, else the problem's own */
};

static void *library;

static void *find(const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "speed: %s is not in the library of loops\n", name);
        exit(1);
    }
    return found;
}

bool native_load(const char *path, uint32_t threads)
{
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "speed: %s\n", dlerror());
        return false;
    }
    void (*set_threads)(int);
    *(void **)&set_threads = find("loop_set_threads");
    set_threads((int)threads);
    return true;
}

native *native_create(const problem *p)
{
    native *subject = allocate(sizeof *subject);
    char name[64];
    snprintf(name, sizeof name, "loop_%s", p->kernel);
    subject->p = p;
    *(void **)&subject->loop = find(name);
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        const data *buffer = &p->buffers[i];
        bool is_own = buffer->compare || buffer->restore;
        subject->buffers[i] = is_own ? allocate(buffer->bytes) : buffer->initial;
    }
    return subject;
}

double native_run(native *subject)
{
    const problem *p = subject->p;
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        if (p->buffers[i].restore)
            memcpy(subject->buffers[i], p->buffers[i].initial, p->buffers[i].bytes);
    }
    double start = seconds_now();
    subject->loop(subject->buffers, p->scalars, p->rounds);
    return seconds_now() - start;
}

const void *native_result(const native *subject, uint32_t buffer)
{
    return subject->buffers[buffer];
}

uint64_t native_read(const uint64_t *x, uint64_t n)
{
    uint64_t (*read)(const uint64_t *, uint64_t);
    *(void **)&read = find("loop_read");
    return read(x, n);
}

void native_destroy(native *subject)
{
    for (uint32_t i = 0; subject && i < subject->p->buffer_count; i++) {
        if (subject->buffers[i] != subject->p->buffers[i].initial)
            free(subject->buffers[i]);
    }
    free(subject);
}
