/* SPDX-License-Identifier: Apache-2.0 */
/* The border to the operating system: time, machine size, waits, files. Only os.c, file.c, dir.c,
 * folder.c and mem.c call the OS. */
#ifndef LS_BASE_OS_H
#define LS_BASE_OS_H

#include <pthread.h>
#include <stdint.h>

#include "lockstep/base.h"

uint64_t ls__os_now_ns(void); /* monotonic */
void ls__os_sleep_ns(uint64_t ns);
uint64_t ls__os_memory_bytes(void); /* of the machine or of this process's cgroup, the smaller */
uint32_t ls__os_cpu_count(void);    /* that this process may use */

/* Waits on a condition with mutex held until `deadline_ns` of ls__os_now_ns (LS_FOREVER = no
 * limit). Returns false on time-out. The condition must have been made by ls__os_cond_init
 * (monotonic clock). */
int ls__os_cond_init(pthread_cond_t *cond);
bool ls__os_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline_ns);

/* A thread of the library. It blocks all signals, so that the program's handlers run on the
 * program's threads, but for those that the thread itself would cause (SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL): blocked, they would end the process before a crash handler can say anything. Returns
 * pthread_create's result. */
int ls__os_thread_create(pthread_t *thread, void *(*run)(void *), void *argument);

/* Between two looks of a thread that waits awake. */
static inline void ls__os_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Whole file into heap memory (ls__mem_free), zero-terminated beyond *size. Refuses directories;
 * over `limit_bytes` is LS_E_LIMIT, UINT64_MAX = no limit. */
ls_status ls__os_read_file(const char *path, uint64_t limit_bytes, void **bytes, size_t *size,
                           ls_error *error);

/* From here on a read, here or by an ls__os_reader, that waits while `*flag` is not 0 is
 * LS_E_CANCELLED. For the command, whose own copy of this library it concerns; to be called while
 * there is one thread. */
void ls__os_stop_reads(const volatile int *flag);

/* A file's bytes, read-only; the system reads them when they are looked at. Refuses what is no
 * regular file. The bytes of an empty file are NULL. */
typedef struct ls__os_mapping {
    const uint8_t *bytes;
    uint64_t size;
} ls__os_mapping;
ls_status ls__os_map(const char *path, ls__os_mapping *mapping, ls_error *error);
/* Lets go of the memory that these bytes take, but for parts of pages; a later look reads them
 * again. */
void ls__os_forget(const ls__os_mapping *mapping, uint64_t first, uint64_t bytes);
void ls__os_unmap(ls__os_mapping *mapping); /* accepts a zeroed one; zeroes it */

/* Atomic replace: bytes go to a temporary name in the same directory, are flushed, and renamed to
 * `path` at commit. abort (or a failure) removes the temporary file: no partial file is ever seen
 * under `path`. When `path` names something that is not a regular file (a device such as /dev/full
 * or a pipe), it is written in place. After a failed write only abort and commit may follow, and
 * commit fails. flush forces all so far to the disk, so that commit is left with the renaming: with
 * several files, flush all before the first commit. */
typedef struct ls__os_writer ls__os_writer;
ls_status ls__os_writer_open(const char *path, ls__os_writer **writer, ls_error *error);
ls_status ls__os_writer_write(ls__os_writer *writer, const void *bytes, size_t size,
                              ls_error *error);
ls_status ls__os_writer_flush(ls__os_writer *writer, ls_error *error);
ls_status ls__os_writer_commit(ls__os_writer **writer, ls_error *error); /* writes NULL */
void ls__os_writer_abort(ls__os_writer **writer);                        /* accepts NULL */
/* A whole file in this way; the second one writes a text and a line end behind it. */
ls_status ls__os_write_file(const char *path, const void *bytes, size_t size, ls_error *error);
ls_status ls__os_write_line(const char *path, const char *text, ls_error *error);

/* A file read from its start, piece by piece; pipes too. */
typedef struct ls__os_reader ls__os_reader;
ls_status ls__os_reader_open(const char *path, ls__os_reader **reader, ls_error *error);
/* At least one byte, or *count = 0 at the end. Blocks. */
ls_status ls__os_reader_read(ls__os_reader *reader, void *bytes, size_t capacity, size_t *count,
                             ls_error *error);
void ls__os_reader_close(ls__os_reader **reader); /* accepts NULL, writes NULL */

/* A file that is seen while it grows, such as a waveform: emptied at once, then written piece by
 * piece. When a piece fails, a regular file is cut behind the last whole one, or, unless `mark`
 * is 0, before the last line that begins with it; only close may follow. Unlike a writer it
 * replaces the contents even when it fails. */
typedef struct ls__os_appender ls__os_appender;
ls_status ls__os_appender_open(const char *path, char mark, ls__os_appender **appender,
                               ls_error *error);
ls_status ls__os_appender_write(ls__os_appender *appender, const void *bytes, size_t size,
                                ls_error *error);
ls_status ls__os_appender_close(ls__os_appender **appender, ls_error *error); /* writes NULL */

/* What opening a writer would say of the path now; makes no file and opens none. */
ls_status ls__os_check_writable(const char *path, ls_error *error);

/* Whether writers for the two paths replace the same file, which need not exist. */
bool ls__os_same_file(const char *a, const char *b);

/* The default floating-point environment for the time of a computation, whatever the caller has
 * set: round to nearest, subnormals kept, exceptions masked. `saved` is opaque. */
typedef struct ls__os_fenv {
    uint64_t opaque[8];
} ls__os_fenv;
void ls__os_fenv_enter(ls__os_fenv *saved);
void ls__os_fenv_leave(const ls__os_fenv *saved);

#endif
