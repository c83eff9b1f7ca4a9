/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep run`: its command line. session.c does the work. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/session.h"

enum {
    KEY_SAVE = 256,
    KEY_DEVICE,
    KEY_SCHEDULE,
    KEY_SANITIZE,
    KEY_OUT_OF_BOUNDS,
    KEY_UNCHECKED,
    KEY_LOWER,
    KEY_TIME_LIMIT,
    KEY_BUDGET,
    KEY_TRACE,
    KEY_REPEAT,
    KEY_THREADS,
    KEY_TARGET,
    KEY_TIER,
    KEY_CACHE,
    KEY_NO_CACHE
};

static const struct argp_option option_table[] = {
    {"kernel", 'k', "NAME", 0, "The kernel to run; may be left out when the file has only one", 1},
    {"global", 'g', "X[,Y,Z]", 0, "Number of lanes in each dimension", 1},
    {"define", 'D', "NAME=VALUE", 0, "Set the SPEC constant NAME", 1},
    {"save", KEY_SAVE, "NAME=FILE", 0,
     "Save buffer NAME afterwards: FILE.npy, FILE.pgm (u8, HEIGHTxWIDTH) or FILE.bin; may be "
     "repeated",
     1},
    {"repeat", KEY_REPEAT, "N", 0, "Run the kernel N times; it sees the round as iteration()", 1},
    {"device", KEY_DEVICE, "NAME", 0,
     "Run on this device (see lockstep devices; default: cpu, where it can be used)", 2},
    {"time-limit", KEY_TIME_LIMIT, "SECONDS", 0, "Stop the kernel when it runs longer", 2},
    {"budget", KEY_BUDGET, "BYTES", 0, "Device memory to use at most; K, M, G may follow", 2},
    {"threads", KEY_THREADS, "N", 0, "Threads of the cpu device (default: one a core)", 2},
    {"target", KEY_TARGET, "NAME", 0, LS__CLI_TARGET_HELP, 2},
    {"tier", KEY_TIER, "TIER", 0, "Compile fast (quick) or for speed (optimized, the default)", 2},
    {"cache", KEY_CACHE, "DIR", 0,
     "Keep compiled code in DIR (default: $XDG_CACHE_HOME/lockstep or ~/.cache/lockstep)", 2},
    {"no-cache", KEY_NO_CACHE, NULL, 0, "Compile anew and keep nothing", 2},
    {"out-of-bounds", KEY_OUT_OF_BOUNDS, NULL, 0,
     "Allow accesses out of bounds: loads give 0, stores are dropped. Without it they are an "
     "error, on devices that see them (cpu, reference)",
     2},
    {"unchecked", KEY_UNCHECKED, NULL, 0,
     "Leave out bounds checks; only for kernels that --sanitize has shown clean", 2},
    {"lower", KEY_LOWER, "LIST", 0,
     "Replace operations as for a device that lacks them: bounds, nan, fma, ..., or `all'", 2},
    {"sanitize", KEY_SANITIZE, NULL, 0,
     "Report races, accesses out of bounds and reads of unwritten memory (on the reference)", 3},
    {"schedule", KEY_SCHEDULE, "ORDER", 0,
     "Order of workgroups and lanes: ascending, reverse, seed:N (on the reference)", 3},
    {"trace", KEY_TRACE, "FILE", 0, "Write a trace that Perfetto and chrome://tracing open", 3},
    {"quiet", 'q', NULL, 0, "Print nothing when all went well", 3},
    {0},
};

static const char help[] =
    "Compiles FILE (Kernel C; IR where it ends in .ir or .irb), runs one of its kernels, and saves "
    "buffers. Every parameter of the kernel is given as NAME=VALUE.\n\nOptions:"
    "\v"
    "VALUE of a scalar is a number that fits its type; of a struct, hex:BYTES. "
    "VALUE of a pointer says what the buffer holds:\n"
    "  @FILE.npy                NumPy array; its dtype must be the parameter's\n"
    "  @FILE.bin                raw little-endian elements\n"
    "  zeros:TYPE:SHAPE         SHAPE is 1000 or 16x16\n"
    "  iota:TYPE:SHAPE          0, 1, 2, ...\n"
    "  fill:TYPE:SHAPE:VALUE\n"
    "  random:TYPE:SHAPE:SEED   integers: all values; floats: from 0 to below 1\n"
    "f16 is float16 in NumPy; bf16 is kept as its bits in uint16; a struct is a structured dtype "
    "or void of the same size.\n\n"
    "Examples:\n"
    "  lockstep run saxpy.kc --global 8 n=8 a=2 x=iota:f32:8 y=fill:f32:8:1\n"
    "  lockstep run saxpy.kc --kernel saxpy --global 1000 n=1000 a=0.5 \\\n"
    "      x=random:f32:1000:1 y=zeros:f32:1000 --save y=out.npy\n"
    "  lockstep run saxpy.kc --global 1000 n=1000 a=2 \\\n"
    "      x=@out.npy y=@out.npy --save y=out2.npy --sanitize\n"
    "  lockstep run mandelbrot.kc --global 320,200 -DLIMIT=100 \\\n"
    "      width=320 height=200 image=zeros:u8:200x320 --save image=out.pgm\n";

/* --- values of options ----------------------------------------------------------------------- */

static ls_status parse_global(const char *text, uint32_t global[3], ls_error *error)
{
    char part[16];
    for (unsigned d = 0; d < 3; d++) {
        size_t length = strcspn(text, ",");
        int64_t value = 0;
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        if (length == 0 || length >= sizeof part ||
            ls__cli_parse_integer(part, 0, UINT32_MAX, &value, NULL) != LS_OK)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "--global takes up to three numbers of lanes: X, X,Y or X,Y,Z");
        global[d] = (uint32_t)value;
        text += length;
        if (!*text)
            return LS_OK;
        text++;
    }
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "--global takes at most three numbers");
}

static ls_status parse_schedule(const char *text, ls__cli_job *job, ls_error *error)
{
    int64_t seed = 0;
    if (strcmp(text, "ascending") == 0)
        job->schedule = LS_SCHEDULE_ASCENDING;
    else if (strcmp(text, "reverse") == 0)
        job->schedule = LS_SCHEDULE_REVERSE;
    else if (strncmp(text, "seed:", 5) == 0 &&
             ls__cli_parse_integer(text + 5, 0, UINT64_MAX, &seed, NULL) == LS_OK)
        job->schedule = LS_SCHEDULE_SEED;
    else
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "--schedule takes ascending, reverse or seed:N, not '%s'", text);
    job->seed = (uint64_t)seed;
    return LS_OK;
}

static ls_status parse_time_limit(const char *text, uint64_t *limit_ns, ls_error *error)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0) || seconds > 1e9)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "--time-limit takes a positive number of seconds, not '%s'", text);
    *limit_ns = (uint64_t)ceil(seconds * 1e9);
    return LS_OK;
}

static ls_status parse_budget(const char *text, uint64_t *bytes, ls_error *error)
{
    char number[32];
    int64_t value = 0;
    size_t length = strlen(text);
    unsigned shift = 0;
    if (length && strchr("KMG", text[length - 1])) {
        shift = text[length - 1] == 'K' ? 10 : text[length - 1] == 'M' ? 20 : 30;
        length--;
    }
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    if (length >= sizeof number ||
        ls__cli_parse_integer(number, 0, (uint64_t)INT64_MAX >> shift, &value, NULL) != LS_OK ||
        value == 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "--budget takes a number of bytes such as 65536, 64K or 2G, not '%s'",
                        text);
    *bytes = (uint64_t)value << shift;
    return LS_OK;
}

static ls_status parse_repeat(const char *text, uint32_t *repeat, ls_error *error)
{
    int64_t value = 0;
    if (ls__cli_parse_integer(text, 0, UINT32_MAX, &value, NULL) != LS_OK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "--repeat takes a number of rounds, not '%s'",
                        text);
    *repeat = (uint32_t)value;
    return LS_OK;
}

static ls_status parse_threads(const char *text, uint32_t *threads, ls_error *error)
{
    int64_t value = 0;
    if (ls__cli_parse_integer(text, 0, UINT32_MAX, &value, NULL) != LS_OK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "--threads takes a number, not '%s'", text);
    *threads = (uint32_t)value;
    return LS_OK;
}

/* --- the command line ------------------------------------------------------------------------ */

static ls_status parse_valued(int key, char *text, ls__cli_job *job, ls_error *error)
{
    switch (key) {
    case 'g':
        job->has_global = true;
        return parse_global(text, job->global, error);
    case 'D':
        return ls__cli_parse_define(text, &job->defines[job->define_count++], error);
    case KEY_SCHEDULE:
        return parse_schedule(text, job, error);
    case KEY_TIME_LIMIT:
        return parse_time_limit(text, &job->time_limit_ns, error);
    case KEY_BUDGET:
        return parse_budget(text, &job->budget_bytes, error);
    case KEY_THREADS:
        return parse_threads(text, &job->threads, error);
    case KEY_TIER:
        return ls__cli_parse_tier(text, &job->tier, error);
    default:
        return parse_repeat(text, &job->repeat, error);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    ls__cli_job *job = state->input;
    ls_error error;
    switch (key) {
    case 'k':
        job->kernel = text;
        return 0;
    case 'q':
        job->quiet = true;
        return 0;
    case KEY_SAVE:
        job->saves[job->save_count++] = text;
        return 0;
    case KEY_DEVICE:
        job->device = text;
        return 0;
    case KEY_SANITIZE:
        job->sanitize = true;
        return 0;
    case KEY_OUT_OF_BOUNDS:
        job->out_of_bounds = true;
        return 0;
    case KEY_UNCHECKED:
        job->unchecked = true;
        return 0;
    case KEY_LOWER:
        job->lower = text;
        return 0;
    case KEY_TARGET:
        job->target = text;
        return 0;
    case KEY_CACHE: /* of this and --no-cache the last counts */
        job->cache = text;
        job->no_cache = false;
        return 0;
    case KEY_NO_CACHE:
        job->no_cache = true;
        return 0;
    case KEY_TRACE:
        job->trace = text;
        return 0;
    case 'g':
    case 'D':
    case KEY_SCHEDULE:
    case KEY_TIME_LIMIT:
    case KEY_BUDGET:
    case KEY_REPEAT:
    case KEY_THREADS:
    case KEY_TIER:
        if (parse_valued(key, text, job, &error) != LS_OK)
            ls__cli_usage_error(state, "%s%s%s", error.message, error.where[0] ? ": " : "",
                                error.where);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            job->file = text;
        else
            job->arguments[job->argument_count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (!job->file)
            argp_error(state, "which file?");
        else if (!job->has_global)
            argp_error(state, "how many lanes? give --global X[,Y,Z]");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FILE [NAME=VALUE...]",
    .doc = help,
};

int ls__cli_run(int argc, char **argv)
{
    ls__cli_job job = {.repeat = 1};
    size_t limit = (size_t)argc; /* no list can be longer */
    int result = LS__EXIT_USAGE;
    job.arguments = ls__mem_alloc(limit, sizeof *job.arguments);
    job.saves = ls__mem_alloc(limit, sizeof *job.saves);
    job.defines = ls__mem_alloc(limit, sizeof *job.defines);
    if (!job.arguments || !job.saves || !job.defines) {
        fputs("lockstep: out of memory\n", stderr);
        result = LS__EXIT_FAILED;
    } else if (argp_parse(&arguments, argc, argv, 0, NULL, &job) == 0) {
        result = ls__cli_run_job(&job);
    }
    ls__mem_free(job.defines);
    ls__mem_free(job.saves);
    ls__mem_free(job.arguments);
    return result;
}
