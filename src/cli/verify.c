/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `lockstep verify`: shows that a model's logits are the same however they are computed. The first
 * run is what the options ask for, each of the others differs from it in one thing. All feed the
 * same tokens in the same way: a few at once, which even the reference can do in reasonable time,
 * then half of the rest as one prompt, then one by one; after each the logits are looked at. A
 * cache of f32 has other logits, so ways with one have a first of their own.
 *
 * Where a run differs both are repeated, with the results of all operations noted, and the first of
 * these that differs is what is to blame.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/wait.h"

enum { MOST_SESSIONS = 3, MOST_LOGITS = 16, SHARD_BYTES = 4 << 20, OTHER_CHUNK = 7 };
enum { KEY_TOKENS = 'n', KEY_SLOW = 256, KEY_SEED, KEY_WRONG, MOST_RUNS = 32, MOST_TOKENS = 4096 };

/* How a run is done. */
typedef struct way {
    ls__cli_model model; /* options; closed */
    uint64_t page_seed;
    bool unprepared, unfused, slow, neighbours;
    bool all;       /* logits of some tokens together, not of the last alone */
    bool floats;    /* cache of f32 */
    bool apart;     /* each head of the cache in a buffer of its own */
    char what[160]; /* for people: what is other than in the first */
} way;

typedef struct verify {
    ls__cli_model options;
    ls_fault_plan fault;
    uint32_t tokens, slow_tokens;
    uint64_t seed;
    way ways[MOST_RUNS];
    uint32_t way_count;
    /* the run */
    ls__cli_model open; /* for the last way */
    uint32_t *ids;
    ls__digest *expected[2]; /* [tokens]: of the first run, of that with a cache of f32; of each
                                piece one */
    uint32_t first[2];       /* which ways these are */
    float *logits;           /* [MOST_LOGITS][vocabulary] */
    uint32_t equal, different, not_run;
} verify;

/* --- the command line ------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"tokens", KEY_TOKENS, "N", 0, "Tokens to feed (default: 24)", 1},
    {"slow-tokens", KEY_SLOW, "N", 0,
     "Tokens that the reference is to compute as well; 0: leave it out (default: 2)", 1},
    {"seed", KEY_SEED, "N", 0, "Which tokens these are (default: 1)", 1},
    {"wrong-op", KEY_WRONG, "OP", OPTION_HIDDEN, "A run on the fault device, with this wrong", 1},
    {0},
};

static const char description[] =
    "Computes the logits of some tokens in many ways, and shows that they are the same to the bit: "
    "on each device there is, with other numbers of threads, other chunks of the prompt, other "
    "places in memory for the cache, weights in pieces, logits of several tokens together, other "
    "sessions beside it, commands prepared or not, operations fused or one by one, kernels with "
    "bounds checks or not, code for other processors. Prints a digest, and another one for a cache "
    "of f32, or where a way first differs: layer, operation, "
    "position and element."
    "\v"
    "The first way is what the options ask for; each of the others differs from it in one "
    "thing.\n\n"
    "Examples:\n"
    "  lockstep verify -m model.gguf\n"
    "  lockstep verify -m model.gguf --tokens 8 --slow-tokens 1\n\n"
    "Exit status: 0 all ways that were run are equal, 1 one differs or failed, or there was none "
    "to "
    "compare with, 2 wrong command line.\n";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    verify *v = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &v->options;
        return 0;
    case KEY_TOKENS:
        v->tokens = ls__cli_count_option(state, "--tokens", text, MOST_TOKENS);
        if (!v->tokens)
            ls__cli_usage_error(state, "--tokens: at least one");
        return 0;
    case KEY_SLOW:
        v->slow_tokens = ls__cli_count_option(state, "--slow-tokens", text, MOST_TOKENS);
        return 0;
    case KEY_SEED:
        v->seed = ls__cli_count_option(state, "--seed", text, UINT32_MAX);
        return 0;
    case KEY_WRONG:
        v->fault.wrong_op = ls__cli_op_option(state, text);
        return 0;
    case ARGP_KEY_ARG:
        ls__cli_usage_error(state, "'%s' is not expected here", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&ls__cli_model_argp, 0, NULL, 0}, {0}};
static const struct argp arguments = {
    .options = options, .parser = parse_option, .doc = description, .children = children};

/* --- ways ------------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static way *add_way(verify *v, const char *what)
{
    way *w = &v->ways[v->way_count++];
    w->model = v->options;
    snprintf(w->what, sizeof w->what, "%s", what);
    return w;
}

/* Those of one device side by side, so that models need not be loaded again. */
static void list_ways(verify *v, const char *device)
{
    static const char *const targets[] = {"sse2", "avx2", "avx512", "neon"};
    static const char *const devices[] = {"cpu", "vulkan", "cuda", "reference"};
    static const uint32_t chunks[] = {1, OTHER_CHUNK};
    char text[64];
    way *w;
    snprintf(text, sizeof text, "device %s", device);
    add_way(v, text);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        snprintf(text, sizeof text, "chunk %" PRIu32, chunks[i]);
        add_way(v, text)->model.chunk = chunks[i];
    }
    add_way(v, "pages of the cache in disorder")->page_seed = 7;
    add_way(v, "heads of the cache apart")->apart = true;
    add_way(v, "other sessions beside it")->neighbours = true;
    add_way(v, "logits of several tokens together")->all = true;
    add_way(v, "commands not prepared")->unprepared = true;
    add_way(v, "operations one by one")->unfused = true;
    add_way(v, "weights in pieces of 4 MiB")->model.max_shard_bytes = SHARD_BYTES;
    add_way(v, "kernels with bounds checks")->model.checked = true;
    for (uint32_t threads = 1; strcmp(device, "cpu") == 0 && threads <= 3; threads += 2) {
        snprintf(text, sizeof text, "threads %" PRIu32, threads);
        add_way(v, text)->model.threads = threads;
    }
    for (size_t i = 0; strcmp(device, "cpu") == 0 && i < sizeof targets / sizeof *targets; i++) {
        snprintf(text, sizeof text, "target %s", targets[i]);
        add_way(v, text)->model.target = targets[i];
    }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        bool slow = strcmp(devices[i], "reference") == 0;
        if (strcmp(devices[i], device) == 0 || (slow && !v->slow_tokens))
            continue;
        snprintf(text, sizeof text, "device %s", devices[i]);
        w = add_way(v, text);
        w->model.device_name = devices[i];
        w->model.target = NULL;
        w->slow = slow;
    }
    if (v->fault.wrong_op != LS_OP_NONE) {
        w = add_way(v, "device fault");
        w->model.device_name = "fault";
        w->model.fault = &v->fault;
        w->slow = true;
    }
}

/* Again, with a cache of f32: what the first does, another chunk, and other devices. */
static void list_float_ways(verify *v)
{
    uint32_t count = v->way_count;
    v->first[1] = count;
    for (uint32_t i = 0; i < count; i++) {
        const way *old = &v->ways[i];
        bool other_device = !is_same_text(old->model.device_name, v->options.device_name);
        if (i && old->model.chunk != OTHER_CHUNK && (!other_device || old->model.fault))
            continue;
        way *w = &v->ways[v->way_count++];
        *w = *old;
        w->floats = true;
        snprintf(w->what, sizeof w->what, "%.100s, cache of f32", old->what);
    }
}

/* The model as the way wants it; what is open stays when it is that. */
static ls_status open_model(verify *v, const way *w, ls_error *error)
{
    const ls__cli_model *wanted = &w->model, *open = &v->open;
    if (open->model && is_same_text(wanted->device_name, open->device_name) &&
        is_same_text(wanted->target, open->target) && wanted->threads == open->threads &&
        wanted->checked == open->checked && wanted->max_shard_bytes == open->max_shard_bytes)
        return LS_OK;
    ls__cli_model_close(&v->open);
    v->open = *wanted;
    return ls__cli_model_open(&v->open, false, error);
}

/* The session that is looked at, and the others that are computed together with it. */
typedef struct sessions {
    ls_session_pool *pool;
    ls_session *items[MOST_SESSIONS];
    uint32_t count;
} sessions;

static void close_sessions(sessions *s)
{
    for (uint32_t i = 0; i < MOST_SESSIONS; i++)
        ls_session_destroy(&s->items[i]);
    ls_session_pool_destroy(&s->pool);
}

static ls_status open_sessions(const verify *v, const way *w, ls_session_trace trace, void *context,
                               sessions *s, ls_error *error)
{
    ls_session_pool_params pool = LS_SESSION_POOL_PARAMS_INIT;
    ls_session_params params = LS_SESSION_PARAMS_INIT;
    ls_status status;
    s->count = w->neighbours ? MOST_SESSIONS : 1;
    pool.sessions = s->count;
    pool.context = v->tokens;
    pool.chunk = w->model.chunk;
    pool.page_seed = w->page_seed;
    pool.unprepared = w->unprepared;
    pool.unfused = w->unfused;
    pool.cache_type = w->floats ? LS_CACHE_F32 : LS_CACHE_F16;
    if (w->apart) /* as many bytes as one has */
        pool.max_shard_bytes = (v->tokens + 63ull) / 64 * 64 * s->count * v->open.info.head_width *
                               (w->floats ? 4 : 2);
    pool.trace = trace;
    pool.trace_context = context;
    status = ls_session_pool_create(v->open.model, &pool, &s->pool, error);
    params.pool = s->pool;
    for (uint32_t i = 0; status == LS_OK && i < s->count; i++)
        status = ls_session_create(v->open.model, &params, &s->items[i], error);
    return status;
}

/* --- feeding ---------------------------------------------------------------------------------- */

/* Tokens of the piece that begins at `done`. */
static uint32_t piece(const verify *v, uint32_t done)
{
    uint32_t slow = v->slow_tokens < v->tokens ? v->slow_tokens : v->tokens;
    if (done < slow)
        return slow;
    return done == slow && (v->tokens - done) / 2 > 1 ? (v->tokens - done) / 2 : 1;
}

/* Feeds a piece; the others get tokens from elsewhere, the last of them none of the first piece, so
 * that it is at another place in its text. */
static ls_status feed_piece(const verify *v, const way *w, const sessions *s, uint32_t done,
                            uint32_t now, ls_error *error)
{
    uint32_t first = now > MOST_LOGITS ? now - MOST_LOGITS : 0;
    if (w->all)
        return ls_session_feed_all(s->items[0], v->ids + done, now, first, v->logits, error);
    ls_session_input inputs[MOST_SESSIONS];
    uint32_t count = s->count > 1 && !done ? s->count - 1 : s->count;
    for (uint32_t i = 0; i < count; i++)
        inputs[i] =
            (ls_session_input){s->items[i], v->ids + (i ? v->tokens - done - now : done), now};
    return ls_sessions_feed(inputs, count, error);
}

/* Feeds all, or what is for slow devices; digests[i] is of the logits behind piece i. */
static ls_status feed(const verify *v, const way *w, const sessions *s, ls__digest *digests,
                      uint32_t *count, ls_error *error)
{
    ls_status status = LS_OK;
    uint32_t most = w->slow && v->slow_tokens < v->tokens ? v->slow_tokens : v->tokens;
    *count = 0;
    for (uint32_t done = 0; status == LS_OK && done < most && !ls__cli_caught_signal();) {
        uint32_t now = piece(v, done);
        status = feed_piece(v, w, s, done, now, error);
        if (status == LS_OK)
            digests[(*count)++] = ls__digest_of(ls_session_logits(s->items[0]),
                                                v->open.info.vocabulary * sizeof(float));
        done += now;
    }
    return status;
}

static ls_status run_way(verify *v, const way *w, ls__digest *digests, uint32_t *count,
                         ls_error *error)
{
    sessions s = {0};
    ls_status status = open_model(v, w, error);
    if (status == LS_OK)
        status = open_sessions(v, w, NULL, NULL, &s, error);
    if (status == LS_OK)
        status = feed(v, w, &s, digests, count, error);
    close_sessions(&s);
    return status;
}

/* --- the first difference --------------------------------------------------------------------- */

/* Results of operations, by position, in their order there. */
typedef struct noted {
    const char *operation;
    uint32_t layer, position, count;
    float *values;
} noted;

typedef struct notes {
    noted *items;
    uint32_t count, capacity;
    bool failed;
} notes;

/* Whether the operation's result for this position was noted: this one is of a neighbour. */
static bool is_noted(const notes *n, const ls_operation_result *result)
{
    for (uint32_t i = n->count; i-- > 0;) {
        const noted *item = &n->items[i];
        if (item->layer != result->layer || strcmp(item->operation, result->operation) != 0)
            return false;
        if (item->position == result->position)
            return true;
    }
    return false;
}

static void note(void *context, const ls_operation_result *result)
{
    notes *n = context;
    if (n->failed || is_noted(n, result))
        return;
    if (n->count == n->capacity) {
        uint32_t capacity = n->capacity ? n->capacity * 2 : 1024;
        noted *items = ls__mem_realloc(n->items, capacity, sizeof *items);
        n->failed = !items;
        if (!items)
            return;
        n->items = items;
        n->capacity = capacity;
    }
    noted *item = &n->items[n->count];
    *item = (noted){result->operation, result->layer, result->position, result->count, NULL};
    item->values = ls__mem_alloc(result->count, sizeof *item->values);
    n->failed = !item->values;
    if (item->values) {
        memcpy(item->values, result->values, result->count * sizeof *item->values);
        n->count++;
    }
}

static void free_notes(notes *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        ls__mem_free(n->items[i].values);
    ls__mem_free(n->items);
}

/* The next result of a position, from place `at` on; `like`: of the same operation. */
static const noted *next_of(const notes *n, uint32_t position, const noted *like, uint32_t *at)
{
    for (uint32_t i = *at; i < n->count; i++) {
        const noted *item = &n->items[i];
        if (item->position == position &&
            (!like ||
             (item->layer == like->layer && strcmp(item->operation, like->operation) == 0))) {
            *at = i + 1;
            return item;
        }
    }
    return NULL;
}

static bool print_difference(const noted *a, const noted *b, uint32_t layers)
{
    uint32_t count = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t expected, got;
        memcpy(&expected, &a->values[i], sizeof expected);
        memcpy(&got, &b->values[i], sizeof got);
        if (expected == got)
            continue;
        if (a->layer < layers)
            printf("  layer %" PRIu32 ", ", a->layer);
        else
            printf("  behind the layers, ");
        printf("%s, position %" PRIu32 ", element %" PRIu32 ": expected %.9g (0x%08" PRIx32
               "), got %.9g (0x%08" PRIx32 ")\n",
               a->operation, a->position, i, (double)a->values[i], expected, (double)b->values[i],
               got);
        return true;
    }
    return false;
}

/* Positions do not see later ones, so the first difference of the first position that has one is
 * what the others come from. Not all operations are in both lists: those that are done in one go
 * have one result, and those of the last token of a submission may be in one alone. */
static bool compare_notes(const verify *v, const notes *a, const notes *b)
{
    for (uint32_t position = 0; position < v->tokens; position++) {
        uint32_t at_a = 0, at_b = 0;
        const noted *x, *y;
        while ((x = next_of(a, position, NULL, &at_a)))
            if ((y = next_of(b, position, x, &at_b)) && print_difference(x, y, v->open.info.layers))
                return true;
    }
    return false;
}

static ls_status take_notes(verify *v, const way *w, bool slow, notes *n, ls_error *error)
{
    sessions s = {0};
    way short_way = *w;
    uint32_t count;
    ls__digest *digests = ls__mem_alloc(v->tokens, sizeof *digests);
    ls_status status = digests ? open_model(v, w, error) : ls__fail_oom(error, v->tokens);
    short_way.slow = slow;
    if (status == LS_OK)
        status = open_sessions(v, w, note, n, &s, error);
    if (status == LS_OK)
        status = feed(v, &short_way, &s, digests, &count, error);
    if (status == LS_OK && n->failed)
        status = ls__fail_oom(error, n->count * sizeof *n->items);
    close_sessions(&s);
    ls__mem_free(digests);
    return status;
}

static ls_status find_difference(verify *v, const way *w, ls_error *error)
{
    notes a = {0}, b = {0};
    ls_status status = take_notes(v, &v->ways[v->first[w->floats]], w->slow, &a, error);
    if (status == LS_OK)
        status = take_notes(v, w, w->slow, &b, error);
    if (status == LS_OK && !compare_notes(v, &a, &b))
        printf(
            "  with all results noted there is no difference: it depends on timing, or lies in the "
            "transfer of logits\n");
    free_notes(&a);
    free_notes(&b);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Whether a device's absence is what failed. */
static bool cannot_run(const verify *v, ls_status status)
{
    return !v->open.device &&
           (status == LS_E_UNSUPPORTED || status == LS_E_NOT_FOUND || status == LS_E_STATE);
}

static void print_digest(const char *what, const ls__digest *digests, uint32_t count)
{
    char hex[65];
    ls__digest_hex(ls__digest_of(digests, count * sizeof *digests), hex);
    printf("%s%s\n", what, hex);
}

static ls_status check_way(verify *v, uint32_t index, ls__digest *digests, ls_error *error)
{
    const way *w = &v->ways[index];
    uint32_t count = 0;
    bool first = index == v->first[w->floats];
    ls__digest *expected = v->expected[w->floats];
    ls_status status = run_way(v, w, first ? expected : digests, &count, error);
    if (!first && status != LS_OK && cannot_run(v, status)) {
        ls__cli_print_line(stdout, "not run  %s: %s", w->what, error->message);
        v->not_run++;
        return LS_OK;
    }
    if (status != LS_OK) {
        ls__cli_print_line(stdout, "FAILED   %s", w->what);
        return status;
    }
    if (ls__cli_caught_signal())
        return LS_OK;
    if (first || memcmp(digests, expected, count * sizeof *digests) == 0) {
        printf("%s  %s%s\n", first ? "first  " : "equal  ", w->what,
               w->slow ? " (the first tokens)" : "");
        v->equal += !first;
        return LS_OK;
    }
    printf("DIFFERS  %s\n", w->what);
    v->different++;
    return find_difference(v, w, error);
}

static ls_status check_ways(verify *v, ls_error *error)
{
    ls__digest *digests = ls__mem_alloc(v->tokens, sizeof *digests);
    for (int i = 0; i < 2; i++)
        v->expected[i] = ls__mem_alloc(v->tokens, sizeof *v->expected[i]);
    v->ids = ls__mem_alloc(v->tokens, sizeof *v->ids);
    ls_status status = LS_OK;
    if (!digests || !v->expected[0] || !v->expected[1] || !v->ids)
        status = ls__fail_oom(error, v->tokens * sizeof *digests);
    if (status == LS_OK) {
        v->open = v->options;
        status = ls__cli_model_open(&v->open, false, error);
    }
    if (status == LS_OK && v->tokens > v->open.info.context) {
        ls__fail(error, LS_E_LIMIT,
                 "--tokens %" PRIu32 " is more than the model's context of %" PRIu32, v->tokens,
                 v->open.info.context);
        status = ls__cli_model_fail(error, LS_E_LIMIT, v->open.path);
    }
    ls__rng rng = {v->seed};
    for (uint32_t i = 0; status == LS_OK && i < v->tokens; i++)
        v->ids[i] = ls__rng_below(&rng, v->open.vocabulary.token_count);
    if (status == LS_OK) {
        list_ways(v, ls_device_name(v->open.device));
        list_float_ways(v);
        v->logits =
            ls__mem_alloc((uint64_t)MOST_LOGITS * v->open.info.vocabulary, sizeof *v->logits);
        if (!v->logits)
            status = ls__fail_oom(error, MOST_LOGITS * sizeof *v->logits);
    }
    for (uint32_t i = 0; status == LS_OK && i < v->way_count && !ls__cli_caught_signal(); i++) {
        status = check_way(v, i, digests, error);
        fflush(stdout);
    }
    uint32_t pieces = 0;
    for (uint32_t done = 0; done < v->tokens; done += piece(v, done))
        pieces++;
    if (status == LS_OK && !ls__cli_caught_signal()) {
        printf("%" PRIu32 " ways equal to the first, %" PRIu32 " different, %" PRIu32 " not run\n",
               v->equal, v->different, v->not_run);
        if (!v->different) {
            print_digest("digest ", v->expected[0], pieces);
            print_digest("digest with a cache of f32 ", v->expected[1], pieces);
        }
    }
    ls__mem_free(digests);
    return status;
}

int ls__cli_verify(int argc, char **argv)
{
    verify v = {.tokens = 24, .slow_tokens = 2, .seed = 1, .fault = LS_FAULT_PLAN_INIT};
    ls_error error;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &v) != 0)
        return LS__EXIT_USAGE;
    ls__cli_catch_signals();
    ls_status status = check_ways(&v, &error);
    ls__cli_model_close(&v.open);
    ls__mem_free(v.expected[0]);
    ls__mem_free(v.expected[1]);
    ls__mem_free(v.logits);
    ls__mem_free(v.ids);
    int result = ls__cli_end(status, &error);
    return result == LS__EXIT_OK && (v.different || !v.equal) ? LS__EXIT_FAILED : result;
}
