/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `lockstep perplexity`: how well a model predicts a text, and how far its predictions are from
 * those of another run (docs/measuring.md). All arithmetic is in one order, with the contract's exp
 * and log, so the numbers are the same on every device.
 */
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/exp.h"
#include "cli/logits_file.h"
#include "cli/wait.h"

enum { KEY_SAVE = 256, KEY_KL, KEY_WINDOWS, DEFAULT_WINDOW = 512, LEAST_WINDOW = 4 };
enum { LOGITS_BYTES = 1 << 24 }; /* that are computed together, where one token has fewer */

#define MOST_TEXT_BYTES (UINT64_C(1) << 30)

/* Sums of a number that each token counted has. */
typedef struct sums {
    double sum, squares;
} sums;

typedef struct measure {
    /* options */
    const char *text, *save, *kl;
    uint32_t windows_most;
    ls__cli_model model;
    /* the run */
    ls__cli_tokens tokens;
    uint32_t window, window_count; /* tokens of one; how many */
    const uint32_t *ids;           /* [window_count][window] */
    ls__logits_file other;         /* with --kl */
    ls__os_writer *writer;         /* with --save-logits */
    ls_session *session;
    uint32_t *ids_copy; /* of a window */
    uint32_t piece;     /* tokens whose logits are computed together */
    float *logits;      /* [piece][the model's vocabulary] */
    uint64_t counted;
    sums loss, other_loss;
    double *divergences; /* [counted in the end] */
    uint64_t same_best;
} measure;

/* --- the command line ------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"file", 'f', "FILE", 0, "The text; - is standard input", 1},
    {"windows", KEY_WINDOWS, "N", 0, "Only so many windows, from the beginning", 1},
    {"save-logits", KEY_SAVE, "FILE", 0, "Write the logits, to compare others with them", 1},
    {"kl", KEY_KL, "FILE", 0, "Compare with logits that were written; the text is that of the file",
     1},
    {0},
};

static const char description[] =
    "Measures how well a model predicts a text. The text's tokens are cut into windows of "
    "--context "
    "tokens (here 512 when it is not given); what is left at the end is dropped. In each window "
    "the "
    "tokens behind the first half are counted, so that each has at least half a window before it. "
    "With --kl it also measures how far the predictions are from those of another run, such as of "
    "the same model in another type."
    "\v"
    "The numbers are the same on every device. docs/measuring.md says what they are.\n\n"
    "Examples:\n"
    "  lockstep perplexity -m model.gguf -f saxpy.kc --context 64 --windows 2\n"
    "  lockstep perplexity -m model.gguf -f saxpy.kc --context 8 --save-logits a\n"
    "  lockstep perplexity -m model.gguf --kl a\n\n"
    "Exit status: 0 good, 1 failed, 2 wrong command line, 130 stopped by Ctrl-C.\n";

static void check_options(const struct argp_state *state, const measure *m)
{
    if (!m->text == !m->kl)
        ls__cli_usage_error(state, "%s",
                            m->text ? "--kl has a text of its own: leave --file out"
                                    : "a text is needed: -f FILE");
    if (m->kl && m->save)
        ls__cli_usage_error(state, "--save-logits is without --kl");
    if (!m->kl && m->model.context < LEAST_WINDOW)
        ls__cli_usage_error(state, "--context: windows of %d tokens at least", LEAST_WINDOW);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    measure *m = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &m->model;
        return 0;
    case 'f':
        m->text = text;
        return 0;
    case KEY_WINDOWS:
        m->windows_most = ls__cli_count_option(state, "--windows", text, UINT32_MAX);
        if (!m->windows_most)
            ls__cli_usage_error(state, "--windows: at least one");
        return 0;
    case KEY_SAVE:
        m->save = text;
        return 0;
    case KEY_KL:
        m->kl = text;
        return 0;
    case ARGP_KEY_ARG:
        ls__cli_usage_error(state, "'%s' is not expected here: a text is given with -f", text);
        return 0;
    case ARGP_KEY_END:
        check_options(state, m);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&ls__cli_model_argp, 0, NULL, 0}, {0}};
static const struct argp arguments = {
    .options = options, .parser = parse_option, .doc = description, .children = children};

/* --- the windows ------------------------------------------------------------------------------ */

static ls_status read_text(measure *m, ls_error *error)
{
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    void *bytes = NULL;
    size_t size = 0;
    const char *path = strcmp(m->text, "-") == 0 ? "/dev/stdin" : m->text;
    ls_status status = ls__os_read_file(path, MOST_TEXT_BYTES, &bytes, &size, error);
    params.text = bytes;
    params.length = size;
    if (status == LS_OK)
        status = ls__cli_model_encode(&m->model, &params, &m->tokens, error);
    ls__mem_free(bytes);
    if (status != LS_OK)
        return status;
    m->window = m->model.context;
    m->window_count = m->tokens.count / m->window;
    m->ids = m->tokens.ids;
    if (m->window_count)
        return LS_OK;
    ls__fail(error, LS_E_INVALID_ARGUMENT,
             "the text is too short: it has %" PRIu32 " tokens, and a window takes %" PRIu32,
             m->tokens.count, m->window);
    return ls__fail_hint(error, LS_E_INVALID_ARGUMENT,
                         "take a longer text, or a smaller --context");
}

static ls_status open_other(measure *m, ls_error *error)
{
    ls_status status = ls__logits_open(m->kl, &m->model, &m->other, error);
    if (status != LS_OK)
        return status;
    m->window = m->model.context = m->other.header.window;
    m->window_count = m->other.header.window_count;
    m->ids = m->other.tokens;
    return LS_OK;
}

static ls_status begin_saving(measure *m, ls_error *error)
{
    ls__logits_header header;
    ls__logits_header_init(&header, &m->model);
    header.window = m->window;
    header.window_count = m->window_count;
    ls_status status = ls__os_writer_open(m->save, &m->writer, error);
    if (status == LS_OK)
        status = ls__os_writer_write(m->writer, &header, sizeof header, error);
    if (status == LS_OK)
        status = ls__os_writer_write(m->writer, m->ids,
                                     (size_t)m->window * m->window_count * sizeof *m->ids, error);
    return status;
}

static ls_status prepare(measure *m, ls_error *error)
{
    ls_status status = ls__cli_model_open(&m->model, false, error);
    if (status == LS_OK)
        status = m->kl ? open_other(m, error) : read_text(m, error);
    if (status != LS_OK)
        return status;
    if (m->windows_most && m->windows_most < m->window_count)
        m->window_count = m->windows_most;
    uint64_t most = (uint64_t)m->window_count * ls__logits_counted(m->window);
    uint32_t fit = LOGITS_BYTES / sizeof *m->logits / m->model.info.vocabulary;
    m->piece = fit ? fit : 1;
    m->logits = ls__mem_alloc((uint64_t)m->piece * m->model.info.vocabulary, sizeof *m->logits);
    m->ids_copy = ls__mem_alloc(m->window, sizeof *m->ids_copy);
    m->divergences = ls__mem_alloc(m->kl ? most : 1, sizeof *m->divergences);
    if (!m->ids_copy || !m->divergences || !m->logits)
        return ls__fail_oom(error, most * sizeof *m->divergences + LOGITS_BYTES);
    status = ls__cli_model_session(&m->model, &m->session, error);
    if (status == LS_OK && m->save)
        status = begin_saving(m, error);
    return status;
}

/* --- counting --------------------------------------------------------------------------------- */

static void add(sums *s, double value)
{
    s->sum = s->sum + value;
    s->squares = s->squares + value * value;
}

/* What the logits say of the token that follows. */
static ls_status count_token(measure *m, const float *logits, uint32_t id, ls_error *error)
{
    uint32_t vocabulary = m->model.vocabulary.token_count;
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    double sum = ls_logits_log_sum(logits, vocabulary);
    add(&m->loss, sum - (double)logits[id]);
    if (m->kl) {
        const float *base = m->other.logits + m->counted * vocabulary;
        double base_sum = ls_logits_log_sum(base, vocabulary);
        add(&m->other_loss, base_sum - (double)base[id]);
        m->divergences[m->counted] = ls_logits_divergence(base, logits, vocabulary);
        m->same_best += ls_logits_best(base, vocabulary) == ls_logits_best(logits, vocabulary);
    }
    m->counted++;
    ls__os_fenv_leave(&saved);
    return m->save ? ls__os_writer_write(m->writer, logits, vocabulary * sizeof *logits, error)
                   : LS_OK;
}

static ls_status count_window(measure *m, uint32_t index, ls_error *error)
{
    uint32_t half = m->window / 2, *ids = m->ids_copy;
    memcpy(ids, m->ids + (uint64_t)index * m->window, m->window * sizeof *ids);
    if (m->model.vocabulary.adds_bos && m->model.vocabulary.bos != LS_NO_TOKEN)
        ids[0] = m->model.vocabulary.bos;
    ls_status status = ls_session_truncate(m->session, 0, error);
    if (status == LS_OK)
        status = ls__cli_model_feed(m->session, ids, half, error);
    for (uint32_t at = half, now; status == LS_OK && at + 1 < m->window; at += now) {
        if (ls__cli_caught_signal())
            return ls__fail(error, LS_E_CANCELLED, "stopped");
        now = m->window - 1 - at < m->piece ? m->window - 1 - at : m->piece;
        status = ls_session_feed_all(m->session, ids + at, now, 0, m->logits, error);
        for (uint32_t i = 0; status == LS_OK && i < now; i++)
            status = count_token(m, m->logits + (uint64_t)i * m->model.info.vocabulary,
                                 ids[at + i + 1], error);
    }
    return status;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Of the mean: the standard deviation of the numbers over the root of how many. */
static double spread(sums s, uint64_t count)
{
    double mean = s.sum / (double)count;
    double variance = (s.squares / (double)count - mean * mean);
    return count > 1 && variance > 0 ? sqrt(variance / (double)(count - 1)) : 0;
}

static void print_perplexity(const char *name, sums loss, uint64_t count)
{
    double mean = loss.sum / (double)count;
    double perplexity = ls__cli_exp(mean);
    printf("%s%.3f +- %.3f (cross-entropy %.5f)\n", name, perplexity,
           perplexity * spread(loss, count), mean);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest number that at least `part` in 1000 are not above. */
static double percentile(const measure *m, uint64_t part)
{
    uint64_t place = (m->counted * part + 999) / 1000;
    return m->divergences[place ? place - 1 : 0];
}

static void print_divergence(measure *m)
{
    sums all = {0}, same = {(double)m->same_best, (double)m->same_best};
    double part = (double)m->same_best / (double)m->counted;
    for (uint64_t i = 0; i < m->counted; i++)
        add(&all, m->divergences[i]);
    qsort(m->divergences, m->counted, sizeof *m->divergences, compare_numbers);
    print_perplexity("saved:           ", m->other_loss, m->counted);
    printf("KL divergence:   %.6f +- %.6f\n", all.sum / (double)m->counted,
           spread(all, m->counted));
    printf("  maximum        %.6f\n  99.9 %%         %.6f\n  99 %%           %.6f\n"
           "  95 %%           %.6f\n  90 %%           %.6f\n  median         %.6f\n",
           percentile(m, 1000), percentile(m, 999), percentile(m, 990), percentile(m, 950),
           percentile(m, 900), percentile(m, 500));
    printf("same best token: %.3f %% +- %.3f %%\n", 100 * part, 100 * spread(same, m->counted));
}

static void print_numbers(measure *m)
{
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    printf("windows:         %" PRIu32 " of %" PRIu32 " tokens, %" PRIu64 " tokens counted\n",
           m->window_count, m->window, m->counted);
    print_perplexity("perplexity:      ", m->loss, m->counted);
    if (m->kl)
        print_divergence(m);
    ls__os_fenv_leave(&saved);
}

static ls_status run(measure *m, ls_error *error)
{
    bool shows = isatty(STDERR_FILENO);
    ls_status status = prepare(m, error);
    for (uint32_t i = 0; status == LS_OK && i < m->window_count; i++) {
        if (shows)
            fprintf(stderr, "\r\033[Kwindow %" PRIu32 " of %" PRIu32, i + 1, m->window_count);
        status = count_window(m, i, error);
    }
    ls__cli_clear_progress();
    if (status == LS_OK && m->save)
        status = ls__os_writer_commit(&m->writer, error);
    if (status == LS_OK)
        print_numbers(m);
    return status;
}

int ls__cli_perplexity(int argc, char **argv)
{
    measure m = {.model = {.context = DEFAULT_WINDOW}};
    ls_error error;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &m) != 0)
        return LS__EXIT_USAGE;
    ls__cli_catch_signals();
    ls_status status = ls__cli_model_check_output(&m.model, m.text ? m.text : m.kl, m.save, &error);
    if (status == LS_OK)
        status = run(&m, &error);
    ls__os_writer_abort(&m.writer);
    ls_session_destroy(&m.session);
    ls__logits_close(&m.other);
    ls__cli_model_close(&m.model);
    ls__cli_tokens_finish(&m.tokens);
    ls__mem_free(m.ids_copy);
    ls__mem_free(m.divergences);
    ls__mem_free(m.logits);
    return ls__cli_end(status, &error);
}
