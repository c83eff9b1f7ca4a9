/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep run`: its command line. session.c does the work. */
#include <string.h>

#include "base/status.h"
#include "cli/cli.h"
#include "cli/launch_options.h"

enum {
    KEY_SAVE = 256,
    KEY_SCHEDULE,
    KEY_SANITIZE,
    KEY_OUT_OF_BOUNDS,
    KEY_LOWER,
    KEY_TRACE,
    KEY_REPEAT,
    KEY_TIER,
    KEY_UNTUNED
};

static const struct argp_option option_table[] = {
    LS__CLI_LAUNCH_OPTIONS,
    {"save", KEY_SAVE, "NAME=FILE", 0,
     "Save buffer NAME afterwards: FILE.npy, FILE.pgm (u8, HEIGHTxWIDTH) or FILE.bin; may be "
     "repeated",
     1},
    {"repeat", KEY_REPEAT, "N", 0, "Run the kernel N times; it sees the round as iteration()", 1},
    {"untuned", KEY_UNTUNED, NULL, 0,
     "Take the defaults of SPEC constants, not what the command tune has kept", 1},
    {"tier", KEY_TIER, "TIER", 0, "Compile fast (quick) or for speed (optimized, the default)", 2},
    {"out-of-bounds", KEY_OUT_OF_BOUNDS, NULL, 0,
     "Allow accesses out of bounds: loads give 0, stores are dropped. Without it they are an "
     "error, on devices that see them (cpu, reference)",
     2},
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

/* --- the command line ------------------------------------------------------------------------ */

static ls_status parse_valued(int key, char *text, ls__cli_job *job, ls_error *error)
{
    switch (key) {
    case KEY_SCHEDULE:
        return parse_schedule(text, job, error);
    case KEY_TIER:
        return ls__cli_parse_tier(text, &job->tier, error);
    default:
        return ls__cli_parse_count("--repeat takes a number of rounds", text, &job->repeat, error);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    ls__cli_job *job = state->input;
    ls_error error;
    switch (key) {
    case 'q':
        job->quiet = true;
        return 0;
    case KEY_SAVE:
        job->saves[job->save_count++] = text;
        return 0;
    case KEY_UNTUNED:
        job->untuned = true;
        return 0;
    case KEY_SANITIZE:
        job->sanitize = true;
        return 0;
    case KEY_OUT_OF_BOUNDS:
        job->out_of_bounds = true;
        return 0;
    case KEY_LOWER:
        job->lower = text;
        return 0;
    case KEY_TRACE:
        job->trace = text;
        return 0;
    case KEY_SCHEDULE:
    case KEY_REPEAT:
    case KEY_TIER:
        if (parse_valued(key, text, job, &error) != LS_OK)
            ls__cli_usage_error(state, "%s%s%s", error.message, error.where[0] ? ": " : "",
                                error.where);
        return 0;
    default:
        return ls__cli_launch_option(key, text, job, state) ? 0 : ARGP_ERR_UNKNOWN;
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
    int result = LS__EXIT_FAILED;
    if (ls__cli_job_begin(&job, argc))
        result = argp_parse(&arguments, argc, argv, 0, NULL, &job) == 0 ? ls__cli_run_job(&job)
                                                                        : LS__EXIT_USAGE;
    ls__cli_job_end(&job);
    return result;
}
