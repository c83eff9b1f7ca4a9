/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `lockstep`: what its files share. It uses the library through the public headers and,
 * below them, src/base only. Messages for people go to standard error, one line each, as
 * "lockstep: what: where: what to do"; the exit status is one of those below. Whatever is printed
 * may hold names from files and arguments, so it goes through ls__cli_print_line, which takes the
 * control characters out.
 */
#ifndef LS_CLI_CLI_H
#define LS_CLI_CLI_H

#include <stdio.h>

#include "base/str.h"
#include "lockstep/base.h"
#include "lockstep/device.h"
#include "lockstep/ir.h"
#include "lockstep/program.h"

enum {
    LS__EXIT_OK = 0,
    LS__EXIT_FAILED = 1,  /* an error, a trap, or findings of the sanitizer */
    LS__EXIT_USAGE = 2,   /* the command line is wrong */
    LS__EXIT_SIGNAL = 128 /* plus the signal's number: 130 after Ctrl-C */
};

/* Subcommands: argv[0] is the name to show, "lockstep run". Return the exit status. */
int ls__cli_run(int argc, char **argv);
int ls__cli_tune(int argc, char **argv);
int ls__cli_compile(int argc, char **argv);
int ls__cli_bundle(int argc, char **argv);
int ls__cli_devices(int argc, char **argv);
int ls__cli_conform(int argc, char **argv);
int ls__cli_generate(int argc, char **argv);
int ls__cli_chat(int argc, char **argv);
int ls__cli_perplexity(int argc, char **argv);
int ls__cli_bench_llm(int argc, char **argv);
int ls__cli_verify(int argc, char **argv);
int ls__cli_inspect(int argc, char **argv);
int ls__cli_tokenize(int argc, char **argv);
int ls__cli_sim(int argc, char **argv);
int ls__cli_cosim(int argc, char **argv);

/* What --target means to all that open a device, as its help. */
#define LS__CLI_TARGET_HELP                                                                        \
    "What code is made for. cpu: native (default), sse2, avx2, ...; +scalar or +vector may "       \
    "follow. vulkan: vulkan1.2, then words for what of the device to use"

/* Of the cpu device. */
enum { LS__THREADS_MOST = 256 };

struct argp_state;

/* Prints one line; control characters in the text are shown as \xNN. */
void ls__cli_print_line(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a message of a design to standard output, each of its lines behind `who`. */
void ls__cli_print_message(const char *who, const char *text);

/* Ends the program because the command line is wrong: argp_error for text from outside. */
void ls__cli_usage_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether all that was printed on standard output has arrived there; flushes it. The first time
 * that it has not is said on standard error, or, when its reader has left, noted as the signal
 * SIGPIPE, so that the command ends quietly. */
bool ls__cli_check_output(void);

/* Prints the error on one line. */
void ls__cli_print_error(const ls_error *error);

/* How a subcommand ends: prints the error, if any but that a signal has stopped it, and gives the
 * exit status. */
int ls__cli_end(ls_status status, const ls_error *error);

/* The value of --threads. */
ls_status ls__cli_parse_threads(const char *text, uint32_t *threads, ls_error *error);

/* One -DNAME=VALUE; VALUE may be an integer, true or false, and is 1 when left out. `text` is cut
 * at '=' and stays owned by the caller. */
ls_status ls__cli_parse_define(char *text, ls_define *define, ls_error *error);

/* An integer in decimal or 0x form, with nothing behind it. `maximum` as magnitude of the largest
 * value; negative numbers go down to -`minimum`. */
ls_status ls__cli_parse_integer(const char *text, uint64_t minimum, uint64_t maximum,
                                int64_t *value, ls_error *error);

/* An operation of the IR by its name; else the command line is wrong. */
ls_op ls__cli_op_option(const struct argp_state *state, const char *text);

/* "quick" or "optimized". */
ls_status ls__cli_parse_tier(const char *text, ls_tier *tier, ls_error *error);

/* Loads a module from a file: *.ir (IR text), *.irb (IR binary), anything else is Kernel C.
 * Compile errors and warnings are printed to standard error. `cache` as in ls_compile_params. */
ls_status ls__cli_load_module(const char *path, const ls_define *defines, uint32_t define_count,
                              const char *cache, ls_module **module, ls_error *error);
/* The same for one that has been loaded: nothing is printed once more. */
ls_status ls__cli_load_again(const char *path, const ls_define *defines, uint32_t define_count,
                             const char *cache, ls_module **module, ls_error *error);

/* Appends the folder where devices keep compiled code when none is named: $XDG_CACHE_HOME/lockstep
 * or ~/.cache/lockstep. Nothing where there is no such place. */
void ls__cli_default_cache(ls__strbuf *path);
/* The same for what is kept of use: $XDG_STATE_HOME/lockstep or ~/.local/state/lockstep. */
void ls__cli_default_state(ls__strbuf *path);

/* Runs a program, found on the path, with input and output from these files; in = NULL: no input.
 * LS_E_UNSUPPORTED when it is not there, LS_E_IO when it fails. Blocks. */
ls_status ls__cli_spawn(char *const *arguments, FILE *in, FILE *out, ls_error *error);

/* What `program`, found on the path and without arguments, writes when it reads these bytes;
 * free(). LS_E_UNSUPPORTED when it is not there. */
ls_status ls__cli_filter(const char *program, const void *bytes, size_t size, char **text,
                         size_t *length, ls_error *error);

/* Whether a folder that was named can be used as such a cache; makes it. The library itself would
 * go on without it. */
ls_status ls__cli_check_cache(const char *path, ls_error *error);

/* Appends the folder for compiled code to `path`: none, the one that was named (--cache), or the
 * default. */
ls_status ls__cli_choose_cache(const char *named, bool none, ls__strbuf *path, ls_error *error);

/* Opens a device. Where none is named and none may be chosen unasked it is the reference, with a
 * note unless `quiet`. */
ls_status ls__cli_open_device(ls_device_params *params, bool quiet, ls_device **device,
                              ls_error *error);

#endif
