/* SPDX-License-Identifier: Apache-2.0 */
/* Entry of the command: global options, then one subcommand. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/wait.h"
#include "lockstep/ir.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", ls__cli_run},
    {"tune", ls__cli_tune},
    {"compile", ls__cli_compile},
    {"bundle", ls__cli_bundle},
    {"devices", ls__cli_devices},
    {"conform", ls__cli_conform},
    {"sim", ls__cli_sim},
    {"cosim", ls__cli_cosim},
    {"generate", ls__cli_generate},
    {"chat", ls__cli_chat},
    {"inspect", ls__cli_inspect},
    {"tokenize", ls__cli_tokenize},
    {"verify", ls__cli_verify},
    {"perplexity", ls__cli_perplexity},
    {"bench-llm", ls__cli_bench_llm},
};

struct choice {
    const struct command *command;
    int first; /* index in argv of its name */
    char title[32];
};

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "lockstep %s\nbit contract %u\nIR %u\n", ls_version(), ls_contract_version(),
            LS_IR_VERSION);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct choice *choice = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            if (strcmp(text, commands[i].name) == 0)
                choice->command = &commands[i];
        if (!choice->command)
            ls__cli_usage_error(
                state,
                "there is no command '%s', only run, tune, compile, bundle, devices, conform, "
                "sim, cosim, generate, chat, verify, perplexity, bench-llm, inspect and tokenize",
                text);
        choice->first = state->next - 1;
        snprintf(choice->title, sizeof choice->title, "lockstep %s", text);
        state->next = state->argc; /* the rest is the command's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state,
                   "a command is needed: run, tune, compile, bundle, devices, conform, sim, cosim, "
                   "generate, chat, verify, "
                   "perplexity, bench-llm, inspect or tokenize");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .parser = parse_option,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc = "Runs data-parallel programs, with the same bits on every backend.\n\n"
           "Commands (each has --help):\n"
           "  run        compile a kernel and run it on data\n"
           "  tune       find the workgroup sizes a device runs fastest\n"
           "  compile    show or save what a kernel compiles to\n"
           "  bundle     compile a kernel ahead, for programs in C\n"
           "  devices    list the devices and what they can do\n"
           "  conform    show that a device computes the same bits as the reference\n"
           "  sim        run a netlist with the inputs of a waveform\n"
           "  cosim      run a netlist with clocks, reset and peripherals\n"
           "  generate   go on with a text as a language model has it\n"
           "  chat       talk with a language model\n"
           "  verify     show that a model's logits are the same however they are computed\n"
           "  perplexity measure how well a model predicts a text\n"
           "  bench-llm  measure how fast a model is\n"
           "  inspect    show what is in a model file\n"
           "  tokenize   cut a text into the tokens of a model\n"
           "\nOptions:"
           "\v"
           "Examples:\n"
           "  lockstep devices\n"
           "  lockstep run saxpy.kc --global 8 n=8 a=2 x=iota:f32:8 y=fill:f32:8:1\n"
           "\nExit status: 0 good, 1 failed, 2 wrong command line, 130 stopped by Ctrl-C,\n"
           "141 the reader of standard output has left.\n",
};

/* A file opened later must not get the number of a standard stream that is closed: what is printed
 * would go into it. Opened the wrong way round, using the stream fails as it did. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(LS__EXIT_FAILED);
}

/* At exit, also where argp ends the program: what was printed must have arrived. */
static void check_output(void)
{
    if (!ls__cli_check_output())
        _exit(ls__cli_caught_signal() ? LS__EXIT_SIGNAL + ls__cli_caught_signal()
                                      : LS__EXIT_FAILED);
}

int main(int argc, char **argv)
{
    struct choice choice = {.title = "lockstep"};
    hold_standard_streams();
    ls__cli_catch_lost_bytes();
    atexit(check_output);
    argv[0] = choice.title; /* argp shows argv[0] in messages */
    argp_program_version_hook = print_version;
    argp_err_exit_status = LS__EXIT_USAGE;
    if (argp_parse(&arguments, argc, argv, ARGP_IN_ORDER, NULL, &choice) != 0 || !choice.command)
        return LS__EXIT_USAGE;
    argp_program_version_hook = NULL; /* subcommands have no version of their own */
    argv[choice.first] = choice.title;
    return choice.command->run(argc - choice.first, argv + choice.first);
}
