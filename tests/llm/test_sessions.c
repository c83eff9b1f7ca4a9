/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two small models with matrices of every type between them, one of blocks of 32 alone: their
 * logits are the golden ones on every device, however the tokens are cut into calls and chunks,
 * wherever the cache lies, in how many buffers matrices do, with any number of threads, checked or
 * not. A model of floats alone is
 * compared with docs/numerics-llm.md in double precision.
 *
 *   test_llm_sessions MIXED.gguf GROUPED.gguf FLOATS.gguf BLOCKS.gguf [--without-vulkan]
 */
#include "machine.h"

#include <math.h>

#include "base/hash.h"
#include "base/mem.h"

enum { TOKENS = 150, VOCABULARY = 266, CUTS = 5 };
static const char *mixed_path, *grouped_path, *floats_path, *blocks_path;
static uint32_t tokens[TOKENS];

/* Digests of the logits behind tokens 1, 2, 20, 70 and 150 of the models of seed 1. */
static const uint32_t marks[CUTS] = {1, 2, 20, 70, 150};
static const char *const golden =
    "14c83c1beac85c966366ec8912093b8fc54826a1f4b38516c8f7853ac9bb6eee";
static const char *const grouped_golden =
    "33893cf8f982ac2e1909e0592f7cb0fda541de2945a1974372de28fbd2063f28";

typedef struct setting {
    const char *device;
    uint32_t threads, chunk, step; /* step: tokens a call, at most */
    uint64_t page_seed;
    bool checked;
    uint64_t shard_bytes;
} setting;

/* Feeds the tokens up to marks[count - 1]; the digest of the logits at the marks. */
static void digest_of(const char *path, setting s, uint32_t count, char hex[65])
{
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    ls_session_params asked = LS_SESSION_PARAMS_INIT;
    params.checked = s.checked;
    params.max_shard_bytes = s.shard_bytes;
    asked.chunk = s.chunk;
    asked.page_seed = s.page_seed;
    machine m = start_file(s.device, s.threads, path, &params, &asked);
    hex[0] = 0;
    if (!m.device)
        return;
    ls__digester digester;
    ls__digester_init(&digester);
    for (uint32_t at = 0, mark = 0; mark < count; mark++) {
        for (uint32_t now; at < marks[mark]; at += now) {
            now = marks[mark] - at < s.step ? marks[mark] - at : s.step;
            OK(ls_session_feed(m.session, tokens + at, now, error));
        }
        ls__digester_add(&digester, ls_session_logits(m.session), VOCABULARY * sizeof(float));
    }
    ls__digest_hex(ls__digester_finish(&digester), hex);
    stop(&m);
}

static void the_bits_are_the_same(void **state)
{
    static const setting settings[] = {
        {"cpu", 1, 64, 64, 0, false, 0},    {"cpu", 2, 1, 1, 0, false, 0},
        {"cpu", 3, 7, 100, 5, true, 0},     {"cpu", 2, 128, 33, 9, false, 0},
        {"vulkan", 2, 32, 50, 3, false, 0},
    };
    char hex[65];
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        digest_of(mixed_path, settings[i], CUTS, hex);
        if (hex[0] && strcmp(hex, golden) != 0)
            fail_msg("setting %zu: %s", i, hex);
        digest_of(grouped_path, settings[i], CUTS, hex);
        if (hex[0] && strcmp(hex, grouped_golden) != 0)
            fail_msg("setting %zu, grouped: %s", i, hex);
    }
}

/* Two buffers for the largest matrices, many for all, and a row of panels each. */
static void shards_do_not_show(void **state)
{
    static const setting settings[] = {
        {"cpu", 2, 64, 64, 0, false, 40000},
        {"cpu", 1, 1, 1, 0, false, 20000},
        {"vulkan", 2, 32, 50, 3, false, 20000},
        {"cpu", 2, 64, 64, 0, true, 16384},
    };
    char hex[65], other[65];
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        digest_of(mixed_path, settings[i], CUTS, hex);
        if (hex[0] && strcmp(hex, golden) != 0)
            fail_msg("setting %zu: %s", i, hex);
        digest_of(grouped_path, settings[i], CUTS, hex);
        if (hex[0] && strcmp(hex, grouped_golden) != 0)
            fail_msg("setting %zu, grouped: %s", i, hex);
    }
    digest_of(mixed_path, (setting){"reference", 1, 64, 64, 7, true, 20000}, 2, hex);
    digest_of(mixed_path, (setting){"reference", 1, 64, 64, 7, true, 0}, 2, other);
    assert_string_equal(hex, other);
}

/* It is slow, so it gets the first tokens only. */
static void and_on_the_reference(void **state)
{
    for (int i = 0; i < 2; i++) {
        const char *path = i ? grouped_path : mixed_path;
        char one[65], other[65];
        digest_of(path, (setting){"reference", 1, 64, 64, 7, true, 0}, 2, one);
        digest_of(path, (setting){"cpu", 1, 64, 1, 0, false, 0}, 2, other);
        assert_true(one[0] != 0);
        if (other[0])
            assert_string_equal(one, other);
    }
}

/* --- in double precision ---------------------------------------------------------------------- */

static const float *weights(const ls_gguf *gguf, const char *name, int layer)
{
    char whole[64];
    if (layer < 0)
        snprintf(whole, sizeof whole, "%s.weight", name);
    else
        snprintf(whole, sizeof whole, "blk.%d.%s.weight", layer, name);
    const ls_gguf_tensor *tensor = ls_gguf_find_tensor(gguf, whole);
    assert_non_null(tensor);
    assert_int_equal(tensor->type, LS_GGUF_TYPE_F32);
    return tensor->data;
}

static void multiply(const float *w, int columns, int rows, const double *x, double *y)
{
    for (int r = 0; r < rows; r++) {
        y[r] = 0;
        for (int k = 0; k < columns; k++)
            y[r] += (double)w[r * columns + k] * x[k];
    }
}

enum { WIDTH = 64, INNER = 96, HEADS = 4, KV = 2, HEAD = WIDTH / HEADS, LAYERS = 2 };

static void norm(const float *w, const double *x, double *y)
{
    double sum = 0;
    for (int k = 0; k < WIDTH; k++)
        sum += x[k] * x[k];
    for (int k = 0; k < WIDTH; k++)
        y[k] = x[k] / sqrt(sum / WIDTH + 1e-5) * (double)w[k];
}

static void rotate(double *head, int position)
{
    for (int i = 0; i < HEAD / 2; i++) {
        double angle = position * pow(10000, -2.0 * i / HEAD), a = head[2 * i], b = head[2 * i + 1];
        head[2 * i] = a * cos(angle) - b * sin(angle);
        head[2 * i + 1] = a * sin(angle) + b * cos(angle);
    }
}

static double keys[LAYERS][TOKENS][KV * HEAD], values[LAYERS][TOKENS][KV * HEAD];

static void attend(int layer, int position, const double *query, double *out)
{
    for (int h = 0; h < HEADS; h++) {
        double scores[TOKENS], top = -INFINITY, sum = 0;
        const double *q = query + h * HEAD;
        int at = h / (HEADS / KV) * HEAD;
        for (int j = 0; j <= position; j++) {
            scores[j] = 0;
            for (int k = 0; k < HEAD; k++)
                scores[j] += q[k] * keys[layer][j][at + k] / sqrt(HEAD);
            top = fmax(top, scores[j]);
        }
        for (int k = 0; k < HEAD; k++)
            out[h * HEAD + k] = 0;
        for (int j = 0; j <= position; j++) {
            sum += scores[j] = exp(scores[j] - top);
            for (int k = 0; k < HEAD; k++)
                out[h * HEAD + k] += scores[j] * values[layer][j][at + k];
        }
        for (int k = 0; k < HEAD; k++)
            out[h * HEAD + k] /= sum;
    }
}

/* One token; logits. */
static void step(const ls_gguf *g, uint32_t token, int position, double *logits)
{
    double x[WIDTH], y[WIDTH], query[WIDTH], mixed[WIDTH], gate[INNER], up[INNER];
    for (int k = 0; k < WIDTH; k++)
        x[k] = (double)weights(g, "token_embd", -1)[token * WIDTH + (uint32_t)k];
    for (int l = 0; l < LAYERS; l++) {
        norm(weights(g, "attn_norm", l), x, y);
        multiply(weights(g, "attn_q", l), WIDTH, WIDTH, y, query);
        multiply(weights(g, "attn_k", l), WIDTH, KV * HEAD, y, keys[l][position]);
        multiply(weights(g, "attn_v", l), WIDTH, KV * HEAD, y, values[l][position]);
        for (int h = 0; h < HEADS; h++)
            rotate(query + h * HEAD, position);
        for (int h = 0; h < KV; h++)
            rotate(keys[l][position] + h * HEAD, position);
        attend(l, position, query, mixed);
        multiply(weights(g, "attn_output", l), WIDTH, WIDTH, mixed, y);
        for (int k = 0; k < WIDTH; k++)
            x[k] += y[k];
        norm(weights(g, "ffn_norm", l), x, y);
        multiply(weights(g, "ffn_gate", l), WIDTH, INNER, y, gate);
        multiply(weights(g, "ffn_up", l), WIDTH, INNER, y, up);
        for (int k = 0; k < INNER; k++)
            gate[k] = gate[k] / (1 + exp(-gate[k])) * up[k];
        multiply(weights(g, "ffn_down", l), INNER, WIDTH, gate, y);
        for (int k = 0; k < WIDTH; k++)
            x[k] += y[k];
    }
    norm(weights(g, "output_norm", -1), x, y);
    multiply(weights(g, "output", -1), WIDTH, VOCABULARY, y, logits);
}

/* Every logit within a thousandth of the standard deviation of all of a token. */
static void floats_are_near_double_precision(void **state)
{
    ls_gguf *gguf = NULL;
    ls_session_params asked = LS_SESSION_PARAMS_INIT;
    asked.cache_type = LS_CACHE_F32;
    OK(ls_gguf_open(floats_path, &gguf, error));
    machine m = start("cpu", 1, gguf, NULL, &asked);
    for (int t = 0; m.session && t < 100; t++) {
        double logits[VOCABULARY], mean = 0, variance = 0;
        step(gguf, tokens[t], t, logits);
        OK(ls_session_feed(m.session, tokens + t, 1, error));
        const float *got = ls_session_logits(m.session);
        for (int i = 0; i < VOCABULARY; i++)
            mean += logits[i] / VOCABULARY;
        for (int i = 0; i < VOCABULARY; i++)
            variance += (logits[i] - mean) * (logits[i] - mean) / VOCABULARY;
        for (int i = 0; i < VOCABULARY; i++)
            if (fabs((double)got[i] - logits[i]) > 1e-3 * sqrt(variance))
                fail_msg("token %d, logit %d: %g, not %g (deviation %g)", t, i, (double)got[i],
                         logits[i], sqrt(variance));
    }
    ls_gguf_destroy(&gguf);
    stop(&m);
}

/* --- sessions --------------------------------------------------------------------------------- */

static void sessions_say_what_they_cannot(void **state)
{
    ls_session *session = NULL, *other = NULL;
    ls_error error = {0};
    machine m = start_file("cpu", 1, mixed_path, NULL, NULL);
    if (!m.device)
        return;
    ls_session_params asked = LS_SESSION_PARAMS_INIT;
    ls_model_info info = {.struct_size = sizeof info};
    ls_model_describe(m.model, &info);
    assert_string_equal(info.architecture, "llama");
    assert_int_equal(info.vocabulary, VOCABULARY);
    assert_int_equal(info.head_width, HEAD);
    asked.context = 257;
    assert_int_equal(ls_session_create(m.model, &asked, &session, &error), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "257 positions"));
    asked.context = 100;
    OK(ls_session_create(m.model, &asked, &session, error));
    OK(ls_session_create(m.model, &asked, &other, error)); /* two at a time */
    assert_null(ls_session_logits(session));
    assert_int_equal(ls_session_feed(session, tokens, 101, &error), LS_E_LIMIT);
    assert_non_null(strstr(error.message, "the context of 100"));
    assert_int_equal(ls_session_position(session), 0);
    uint32_t wrong = VOCABULARY;
    assert_int_equal(ls_session_feed(session, &wrong, 1, &error), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_session_feed(session, tokens, 0, &error), LS_E_INVALID_ARGUMENT);
    OK(ls_session_feed(session, tokens, 100, error));
    OK(ls_session_feed(other, tokens, 30, error));
    float logits[VOCABULARY];
    memcpy(logits, ls_session_logits(other), sizeof logits);
    /* Going back to 30 tokens is the same as having fed 30. */
    assert_int_equal(ls_session_truncate(session, 101, &error), LS_E_INVALID_ARGUMENT);
    OK(ls_session_truncate(session, 29, error));
    assert_null(ls_session_logits(session));
    OK(ls_session_feed(session, tokens + 29, 1, error));
    assert_memory_equal(ls_session_logits(session), logits, sizeof logits);
    assert_int_equal(ls_logits_best((float[]){1, 3, 3, 2}, 4), 1);
    ls_session_destroy(&session);
    ls_session_destroy(&other);
    stop(&m);
}

/* The bytes of the file with a part replaced. */
static void assert_refused(const char *from, const void *to, size_t length, size_t skip,
                           ls_status status, const char *message)
{
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    ls_error error = {0};
    size_t size;
    uint8_t *bytes = read_bytes(mixed_path, &size), *at = memmem(bytes, size, from, strlen(from));
    assert_non_null(at);
    memcpy(at + skip, to, length);
    OK(ls_gguf_open_memory(bytes, size, "changed", &gguf, error));
    ls_device *device = open_device("reference", 1);
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    params.device = device;
    params.gguf = gguf;
    ls_status got = ls_model_load(&params, &model, &error);
    if (got != status || !strstr(error.message, message))
        fail_msg("expected '%s', got %s: %s", message, ls_status_name(got), error.message);
    assert_null(model);
    ls_gguf_destroy(&gguf);
    OK(ls_device_destroy(&device, error));
}

static void models_that_cannot_be(void **state)
{
    uint32_t number = 3;
    size_t value = 4; /* behind the key stands the kind */
    assert_refused("llama", "lamas", 5, 0, LS_E_UNSUPPORTED, "the architecture is lamas");
    assert_refused("llama.block_count", "x", 1, 16, LS_E_NOT_FOUND, "no value llama.block_count");
    assert_refused("llama.block_count", &number, 4, 17 + value, LS_E_NOT_FOUND,
                   "no tensor blk.2.attn_norm.weight");
    assert_refused("llama.attention.head_count", &number, 4, 26 + value, LS_E_FORMAT, "3 heads");
    assert_refused("llama.feed_forward_length", &number, 4, 25 + value, LS_E_UNSUPPORTED,
                   "(feed_forward_length) is 3, which is no multiple of 32");
    number = 128;
    assert_refused("llama.feed_forward_length", &number, 4, 25 + value, LS_E_FORMAT,
                   "tensor blk.0.ffn_gate.weight is 64 x 96, not 64 x 128");
    number = 7;
    assert_refused("llama.rope.dimension_count", &number, 4, 26 + value, LS_E_FORMAT,
                   "7 elements of a head are no pairs");
    number = LS_GGUF_TYPE_Q8_0;
    assert_refused("blk.1.ffn_norm.weight", &number, 4, 21 + 4 + 8, LS_E_UNSUPPORTED,
                   "tensor blk.1.ffn_norm.weight is of type Q8_0, not of floats");
    assert_refused("blk.1.ffn_up", "q", 1, 11, LS_E_NOT_FOUND, "no tensor blk.1.ffn_up.weight");
}

/* What is there is looked at before anything is laid out. */
static void shards_have_whole_panels(void **state)
{
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    ls_error error = {0};
    ls_memory_info memory = {.struct_size = sizeof memory};
    ls_device *device = open_device("reference", 1);
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    OK(ls_gguf_open(floats_path, &gguf, error));
    params.device = device;
    params.gguf = gguf;
    params.max_shard_bytes = 32 * WIDTH * 4 - 1;
    assert_int_equal(ls_model_load(&params, &model, &error), LS_E_LIMIT);
    assert_string_equal(error.message, "tensor token_embd.weight: 32 rows have 8192 bytes, where a "
                                       "kernel can be given 8191");
    ls_device_memory(device, &memory);
    assert_int_equal(memory.peak_bytes, 0);
    ls_gguf_destroy(&gguf);
    OK(ls_device_destroy(&device, error));
}

static ls_device *open_with_budget(uint64_t bytes)
{
    ls_device *device = NULL;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = "cpu";
    params.threads = 1;
    params.cache_path = "llm-sessions-cache";
    params.budget_bytes = bytes;
    OK(ls_device_open(&params, &device, error));
    return device;
}

/* What does not fit says how many bytes it has, and leaves nothing behind. */
static void memory_that_is_not_there(void **state)
{
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    ls_session *session = NULL;
    ls_error error = {0};
    ls_model_info info = {.struct_size = sizeof info};
    ls_memory_info memory = {.struct_size = sizeof memory};
    ls_device *device = open_device("cpu", 1);
    if (!device)
        return;
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    ls_session_params asked = LS_SESSION_PARAMS_INIT;
    OK(ls_gguf_open(mixed_path, &gguf, error));
    params.gguf = gguf;
    params.device = device;
    OK(ls_model_load(&params, &model, error));
    ls_model_describe(model, &info);
    ls_device_memory(device, &memory);
    uint64_t needed = memory.used_bytes;
    ls_model_destroy(&model);
    OK(ls_device_destroy(&device, error));
    assert_true(needed >= info.weight_bytes);

    params.device = device = open_with_budget(needed / 2);
    assert_int_equal(ls_model_load(&params, &model, &error), LS_E_OUT_OF_MEMORY);
    assert_null(model);
    assert_non_null(strstr(error.message, " bytes: 0 of "));
    ls_device_memory(device, &memory);
    assert_int_equal(memory.used_bytes, 0);
    OK(ls_device_destroy(&device, error));

    params.device = device = open_with_budget(needed + (1 << 20));
    OK(ls_model_load(&params, &model, error));
    asked.context = 256;
    asked.chunk = 256;
    assert_int_equal(ls_session_create(model, &asked, &session, &error), LS_E_OUT_OF_MEMORY);
    assert_null(session);
    assert_non_null(strstr(error.message, " are left"));
    ls_device_memory(device, &memory);
    assert_int_equal(memory.used_bytes, needed);
    asked.chunk = 4;
    OK(ls_session_create(model, &asked, &session, error)); /* a smaller one fits */
    ls_session_destroy(&session);
    ls_model_destroy(&model);
    ls_gguf_destroy(&gguf);
    OK(ls_device_destroy(&device, error));
}

/* Two bytes of a file's tensor that make a number infinite. */
typedef struct fault {
    const char *path, *tensor;
    uint64_t byte;
    uint16_t bits;
    const char *where;
} fault;

static void check_not_finite(ls_device *device, const fault *f, bool unfused)
{
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    ls_session *session = NULL;
    ls_error error = {0};
    size_t size;
    uint8_t *bytes = read_bytes(f->path, &size);
    OK(ls_gguf_open_memory(bytes, size, "changed", &gguf, error));
    const ls_gguf_tensor *tensor = ls_gguf_find_tensor(gguf, f->tensor);
    assert_non_null(tensor);
    memcpy(bytes + tensor->file_byte + f->byte, &f->bits, 2);
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    ls_session_params asked = LS_SESSION_PARAMS_INIT;
    params.device = device;
    params.gguf = gguf;
    asked.unfused = unfused;
    OK(ls_model_load(&params, &model, error));
    OK(ls_session_create(model, &asked, &session, error));
    assert_int_equal(ls_session_feed(session, tokens, 3, &error), LS_E_FAILED);
    assert_string_equal(error.where, f->where);
    assert_int_equal(ls_session_feed(session, tokens, 3, &error), LS_E_STATE);
    ls_session_destroy(&session);
    ls_model_destroy(&model);
    ls_gguf_destroy(&gguf);
}

/* A weight that is not finite is found where it acts, with its place: by those that make integers
 * of blocks of 32 and 256, one or several of a token, and for matrices of floats. */
static void not_finite_is_located(void **state)
{
    enum { BLOCKS_ROW = 2 * 144, FLOAT_ROW = WIDTH * 4 };
    const fault faults[] = {
        {mixed_path, "blk.1.ffn_norm.weight", 42, 0x7f80, "inner input, layer 1, position 0"},
        {grouped_path, "blk.1.attn_norm.weight", 42, 0x7f80,
         "attention input, layer 1, position 0"},
        {blocks_path, "token_embd.weight", 0, 0x7c00, "attention input, layer 0, position 2"},
        {floats_path, "token_embd.weight", 6, 0x7f80, "attention input, layer 0, position 2"},
        {floats_path, "blk.0.ffn_up.weight", 6, 0x7f80, "inner result, layer 0, position 0"},
        {floats_path, "blk.1.attn_v.weight", 6, 0x7f80, "attention result, layer 1, position 0"},
        {floats_path, "output_norm.weight", 6, 0x7f80, "output input, layer 2, position 2"},
    };
    ls_device *device = open_device("cpu", 1);
    for (size_t i = 0; device && i < sizeof faults / sizeof *faults; i++) {
        fault f = faults[i];
        if (strcmp(f.tensor, "token_embd.weight") == 0) /* of the third token */
            f.byte += (uint64_t)tokens[2] * (f.path == blocks_path ? BLOCKS_ROW : FLOAT_ROW);
        check_not_finite(device, &f, false);
        check_not_finite(device, &f, true);
    }
    OK(ls_device_destroy(&device, error));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_the_same),
        cmocka_unit_test(shards_do_not_show),
        cmocka_unit_test(and_on_the_reference),
        cmocka_unit_test(floats_are_near_double_precision),
        cmocka_unit_test(sessions_say_what_they_cannot),
        cmocka_unit_test(models_that_cannot_be),
        cmocka_unit_test(shards_have_whole_panels),
        cmocka_unit_test(memory_that_is_not_there),
        cmocka_unit_test(not_finite_is_located),
    };
    if (argc < 5)
        return 2;
    without_vulkan = argc == 6 && strcmp(argv[5], "--without-vulkan") == 0;
    mixed_path = argv[1];
    grouped_path = argv[2];
    floats_path = argv[3];
    blocks_path = argv[4];
    for (uint32_t i = 0; i < TOKENS; i++)
        tokens[i] = i * i * 7 % VOCABULARY;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
