/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small model of each family: its logits are the golden ones on every device, however the tokens
 * are cut, and with weights of floats they are near those of docs/numerics-llm.md in double
 * precision, which is written out here family by family. What families lack is refused by name.
 *
 *   test_llm_families [--without-vulkan] FOLDER    where NAME.gguf and NAME_floats.gguf are
 */
#include "machine.h"

#include <math.h>

#include "base/hash.h"

/* As tests/llm/meson.build has them made; the digest of the logits behind each of the MARKS. */
static const struct {
    const char *name, *golden;
    bool vulkan; /* there, too: its compiler is slow */
} families[] = {
    {"mistral", "73aa399ca470595dd84d5ec9615eff087dd3fa54bbdb5168dd638b00c7040280", false},
    {"llama3", "7a298821f8ee08fdc386d19ee32655533f1acfb75242311aa3bacd2aa10130f5", true},
    {"qwen2", "ebe47716d9d3cdafed05c335f797807eb037a5c45bb236019e9b0595b739e89f", false},
    {"qwen3", "0f14d2b1de5f05238ecf8946c1b96ee07f4cf2632d5f2c6efa600e48f86479fc", true},
    {"gemma", "b07ed3216cc76b8084de81b82d8ce15db53c1b6934b02c1a810b913888e8a9f5", false},
    {"gemma2", "ecf8e1a5d6780fc11e48d1f008e784eb724faaaffa1bdf03c3cf85e7d034f25c", true},
    {"gemma3", "6b581413e3a3b263df88f0df694df5ef782917d4afed7c94f41832478c88aafe", true},
};
enum { FAMILIES = sizeof families / sizeof *families };
/* Only with weights of floats: a scale of the file, and which layers have a window; a number of
 * layers that tells of another scale. */
static const char *const variants[] = {"mistral_scaled", "gemma2_27b", "gemma3_listed"};
enum { VARIANTS = sizeof variants / sizeof *variants };
enum { TOKENS = 150, VOCABULARY = 266, CUTS = 4 };
static const uint32_t marks[CUTS] = {1, 2, 50, 150};
static uint32_t tokens[TOKENS];
static const char *folder;

static const char *path_of(const char *name, const char *kind)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s%s.gguf", folder, name, kind);
    return path;
}

static machine start_family(const char *path, const char *device, uint32_t threads, uint32_t chunk,
                            uint64_t page_seed, bool checked, ls_cache_type cache)
{
    ls_model_params model = LS_MODEL_PARAMS_INIT;
    ls_session_params session = LS_SESSION_PARAMS_INIT;
    model.checked = checked;
    session.chunk = chunk;
    session.page_seed = page_seed;
    session.cache_type = cache;
    return start_file(device, threads, path, &model, &session);
}

/* The digest of the logits at the first `count` marks, fed `step` tokens a call at most. */
static void digest_of(machine *m, uint32_t count, uint32_t step, char hex[65])
{
    ls__digester digester;
    ls__digester_init(&digester);
    for (uint32_t at = 0, mark = 0; mark < count; mark++) {
        for (uint32_t now; at < marks[mark]; at += now) {
            now = marks[mark] - at < step ? marks[mark] - at : step;
            OK(ls_session_feed(m->session, tokens + at, now, error));
        }
        ls__digester_add(&digester, ls_session_logits(m->session), VOCABULARY * sizeof(float));
    }
    ls__digest_hex(ls__digester_finish(&digester), hex);
}

static void the_bits_are_the_same(void **state)
{
    static const struct {
        const char *device;
        uint32_t threads, chunk, step;
        uint64_t page_seed;
        bool checked;
    } settings[] = {
        {"cpu", 1, 64, 64, 0, false},
        {"cpu", 2, 1, 1, 0, false},
        {"cpu", 3, 7, 100, 5, true},
        {"vulkan", 2, 32, 50, 3, false},
    };
    int wrong = 0;
    for (int f = 0; f < FAMILIES; f++)
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            char hex[65];
            bool vulkan = strcmp(settings[i].device, "vulkan") == 0;
            if (vulkan && (without_vulkan || !families[f].vulkan))
                continue;
            machine m = start_family(path_of(families[f].name, ""), settings[i].device,
                                     settings[i].threads, settings[i].chunk, settings[i].page_seed,
                                     settings[i].checked, LS_CACHE_F16);
            if (!m.device)
                continue;
            digest_of(&m, CUTS, settings[i].step, hex);
            stop(&m);
            if (strcmp(hex, families[f].golden) != 0)
                printf("%s, setting %zu: %s\n", families[f].name, i, hex), wrong++;
        }
    assert_int_equal(wrong, 0);
}

/* It is slow, so it gets the first tokens only. */
static void and_on_the_reference(void **state)
{
    for (int f = 0; f < FAMILIES; f++) {
        char one[65], other[65];
        machine slow =
            start_family(path_of(families[f].name, ""), "reference", 1, 64, 7, true, LS_CACHE_F16);
        machine fast =
            start_family(path_of(families[f].name, ""), "cpu", 1, 64, 0, false, LS_CACHE_F16);
        assert_non_null(slow.device);
        digest_of(&slow, 2, 1, one);
        stop(&slow);
        if (!fast.device)
            continue;
        digest_of(&fast, 2, 1, other);
        stop(&fast);
        assert_string_equal(one, other);
    }
}

/* --- in double precision ---------------------------------------------------------------------- */

enum { WIDTH = 64, INNER = 96, HEADS = 4, KV = 2, MOST_HEAD = 32, MOST_LAYERS = 46 };

/* What is read from the file are weights and nothing else. */
static struct {
    const ls_gguf *gguf;
    const char *name; /* of the family */
    int layers, head;
    double keys[MOST_LAYERS][TOKENS][KV * MOST_HEAD], values[MOST_LAYERS][TOKENS][KV * MOST_HEAD];
} truth;

static bool is(const char *name)
{
    return strncmp(truth.name, name, strlen(name)) == 0;
}

/* NULL: there is no such tensor. */
static const float *tensor(const char *name, int layer)
{
    char whole[64] = "", block[16] = "";
    if (layer >= 0)
        snprintf(block, sizeof block, "blk.%d.", layer);
    snprintf(whole, sizeof whole, "%s%s", block, name);
    const ls_gguf_tensor *found = ls_gguf_find_tensor(truth.gguf, whole);
    if (!found)
        return NULL;
    assert_int_equal(found->type, LS_GGUF_TYPE_F32);
    return found->data;
}

static void multiply(const char *name, int layer, int columns, int rows, const double *x, double *y)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s.weight", name);
    const float *w = tensor(whole, layer);
    snprintf(whole, sizeof whole, "%s.bias", name);
    const float *bias = tensor(whole, layer);
    assert_non_null(w);
    for (int r = 0; r < rows; r++) {
        y[r] = bias ? (double)bias[r] : 0;
        for (int k = 0; k < columns; k++)
            y[r] += (double)w[r * columns + k] * x[k];
    }
}

static void norm(const char *name, int layer, int count, const double *x, double *y)
{
    const float *w = tensor(name, layer);
    double sum = 0;
    assert_non_null(w);
    for (int k = 0; k < count; k++)
        sum += x[k] * x[k];
    for (int k = 0; k < count; k++)
        y[k] = x[k] / sqrt(sum / count + 1e-5) * (double)w[k];
}

static int window_of(int layer)
{
    static const bool listed[] = {true, false, false, true, true, false, true};
    if (is("gemma3_listed"))
        return listed[layer] ? 20 : TOKENS;
    if (is("gemma2_27b"))
        return layer % 3 == 2 ? TOKENS : 20;
    if (is("mistral"))
        return 30;
    if (is("gemma2"))
        return layer % 2 == 0 ? 20 : TOKENS;
    if (is("gemma3"))
        return layer % 6 == 5 ? TOKENS : 20;
    return TOKENS;
}

static void rotate(double *head, int layer, int position)
{
    bool neighbours = is("mistral") || is("llama3");
    int rotated = is("qwen3") ? 8 : truth.head, half = rotated / 2;
    for (int i = 0; i < half; i++) {
        double angle = position * pow(10000, -2.0 * i / rotated);
        if (is("gemma3") && window_of(layer) == TOKENS)
            angle = position / 8.0 * pow(1e6, -2.0 * i / rotated);
        if (is("llama3"))
            angle = angle / 2.5 / (double)tensor("rope_freqs.weight", -1)[i];
        double *a = head + (neighbours ? 2 * i : i), *b = neighbours ? a + 1 : a + half;
        double x = *a, y = *b;
        *a = x * cos(angle) - y * sin(angle);
        *b = x * sin(angle) + y * cos(angle);
    }
}

static double score_scale(void)
{
    if (is("mistral_scaled"))
        return (double)0.4f;
    return 1 / sqrt(is("gemma2_27b") ? (double)WIDTH / HEADS : truth.head);
}

static void attend(int layer, int position, const double *query, double *out)
{
    int head = truth.head, window = window_of(layer);
    int oldest = position - window + 1 > 0 ? position - window + 1 : 0;
    for (int h = 0; h < HEADS; h++) {
        double scores[TOKENS], top = -INFINITY, sum = 0;
        int at = h / (HEADS / KV) * head;
        for (int j = oldest; j <= position; j++) {
            scores[j] = 0;
            for (int k = 0; k < head; k++)
                scores[j] += query[h * head + k] * truth.keys[layer][j][at + k] * score_scale();
            if (is("gemma2"))
                scores[j] = 1.5 * tanh(scores[j] / 1.5);
            top = fmax(top, scores[j]);
        }
        for (int k = 0; k < head; k++)
            out[h * head + k] = 0;
        for (int j = oldest; j <= position; j++) {
            sum += scores[j] = exp(scores[j] - top);
            for (int k = 0; k < head; k++)
                out[h * head + k] += scores[j] * truth.values[layer][j][at + k];
        }
        for (int k = 0; k < head; k++)
            out[h * head + k] /= sum;
    }
}

static void attention_part(int layer, int position, double *x)
{
    double y[WIDTH], query[HEADS * MOST_HEAD], mixed[HEADS * MOST_HEAD];
    double *key = truth.keys[layer][position], *value = truth.values[layer][position];
    int head = truth.head;
    norm("attn_norm.weight", layer, WIDTH, x, y);
    multiply("attn_q", layer, WIDTH, HEADS * head, y, query);
    multiply("attn_k", layer, WIDTH, KV * head, y, key);
    multiply("attn_v", layer, WIDTH, KV * head, y, value);
    for (int h = 0; h < HEADS + KV; h++) {
        double *of = h < HEADS ? query + h * head : key + (h - HEADS) * head;
        if (is("qwen3") || is("gemma3"))
            norm(h < HEADS ? "attn_q_norm.weight" : "attn_k_norm.weight", layer, head, of, of);
        rotate(of, layer, position);
    }
    attend(layer, position, query, mixed);
    multiply("attn_output", layer, HEADS * head, WIDTH, mixed, y);
    if (is("gemma2") || is("gemma3"))
        norm("post_attention_norm.weight", layer, WIDTH, y, y);
    for (int k = 0; k < WIDTH; k++)
        x[k] += y[k];
}

static double gate_function(double x)
{
    if (is("gemma"))
        return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    return x / (1 + exp(-x));
}

static void inner_part(int layer, double *x)
{
    double y[WIDTH], gate[INNER], up[INNER];
    norm("ffn_norm.weight", layer, WIDTH, x, y);
    multiply("ffn_gate", layer, WIDTH, INNER, y, gate);
    multiply("ffn_up", layer, WIDTH, INNER, y, up);
    for (int k = 0; k < INNER; k++)
        gate[k] = gate_function(gate[k]) * up[k];
    multiply("ffn_down", layer, INNER, WIDTH, gate, y);
    if (is("gemma2") || is("gemma3"))
        norm("post_ffw_norm.weight", layer, WIDTH, y, y);
    for (int k = 0; k < WIDTH; k++)
        x[k] += y[k];
}

/* One token; logits. */
static void step(uint32_t token, int position, double *logits)
{
    double x[WIDTH], y[WIDTH];
    for (int k = 0; k < WIDTH; k++)
        x[k] = (double)tensor("token_embd.weight", -1)[token * WIDTH + (uint32_t)k] *
               (is("gemma") ? sqrt(WIDTH) : 1);
    for (int l = 0; l < truth.layers; l++) {
        attention_part(l, position, x);
        inner_part(l, x);
        for (int k = 0; is("llama3") && k < WIDTH; k++)
            x[k] *= (double)*tensor("layer_output_scale.weight", l);
    }
    norm("output_norm.weight", -1, WIDTH, x, y);
    multiply(is("gemma") ? "token_embd" : "output", -1, WIDTH, VOCABULARY, y, logits);
    for (int i = 0; is("gemma2") && i < VOCABULARY; i++)
        logits[i] = 2.5 * tanh(logits[i] / 2.5);
}

/* The largest difference, in standard deviations of all logits of a token. */
static double worst_of(const double *logits, const float *got)
{
    double mean = 0, variance = 0, worst = 0;
    for (int i = 0; i < VOCABULARY; i++)
        mean += logits[i] / VOCABULARY;
    for (int i = 0; i < VOCABULARY; i++) {
        variance += (logits[i] - mean) * (logits[i] - mean) / VOCABULARY;
        worst = fmax(worst, fabs((double)got[i] - logits[i]));
    }
    return worst / sqrt(variance);
}

static void floats_are_near_double_precision(void **state)
{
    for (int f = 0; f < FAMILIES + VARIANTS; f++) {
        double worst = 0;
        ls_gguf *gguf = NULL;
        const char *name = f < FAMILIES ? families[f].name : variants[f - FAMILIES];
        machine m = start_family(path_of(name, "_floats"), "cpu", 1, 1, 0, false, LS_CACHE_F32);
        if (!m.device)
            return;
        ls_model_info info = {.struct_size = sizeof info};
        ls_model_describe(m.model, &info);
        OK(ls_gguf_open(path_of(name, "_floats"), &gguf, error));
        truth.gguf = gguf;
        truth.name = name;
        truth.layers = is("gemma3") ? 7 : is("gemma2_27b") ? 46 : is("gemma2") ? 3 : 2;
        truth.head = is("gemma") ? 32 : is("qwen3") ? 24 : 16;
        assert_int_equal(info.layers, truth.layers);
        assert_int_equal(info.head_width, truth.head);
        for (int t = 0; t < (truth.layers < 46 ? 100 : 40); t++) {
            double logits[VOCABULARY];
            step(tokens[t], t, logits);
            OK(ls_session_feed(m.session, tokens + t, 1, error));
            worst = fmax(worst, worst_of(logits, ls_session_logits(m.session)));
        }
        printf("%s: at most %.1e standard deviations\n", name, worst);
        assert_true(worst < 1e-4);
        stop(&m);
        ls_gguf_destroy(&gguf);
    }
}

/* --- what is refused -------------------------------------------------------------------------- */

/* NAME_floats with the bytes `from` replaced by `to`, of the same length. */
static void assert_refused(const char *name, const char *from, const char *to, ls_status status,
                           const char *message)
{
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    ls_error error = {0};
    size_t size;
    uint8_t *bytes = read_bytes(path_of(name, "_floats"), &size);
    assert_int_equal(strlen(from), strlen(to));
    uint8_t *at = memmem(bytes, size, from, strlen(from));
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    OK(ls_gguf_open_memory(bytes, size, "changed", &gguf, error));
    ls_device *device = open_device("reference", 1);
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    params.device = device;
    params.gguf = gguf;
    ls_status got = ls_model_load(&params, &model, &error);
    if (got != status || !strstr(error.message, message))
        fail_msg("expected '%s', got %s: %s", message, ls_status_name(got), error.message);
    ls_gguf_destroy(&gguf);
    OK(ls_device_destroy(&device, error));
}

static void what_families_lack(void **state)
{
    assert_refused("qwen2", "qwen2", "qwen9", LS_E_UNSUPPORTED,
                   "the architecture is qwen9; those that are supported: llama, qwen2, qwen3, "
                   "gemma, gemma2, gemma3");
    assert_refused("qwen2", "tokenizer.ggml.pre", "qwen2.expert_count", LS_E_UNSUPPORTED,
                   "models with qwen2.expert_count are not supported");
    assert_refused("qwen2", "blk.1.attn_k.bias", "blk.1.attn_k.bios", LS_E_NOT_FOUND,
                   "no tensor blk.1.attn_k.bias");
    assert_refused("qwen2_window", "gpt-2", "gpt-2", LS_E_UNSUPPORTED,
                   "models with qwen2.attention.sliding_window are not supported");
    assert_refused("llama3", "linear", "yarned", LS_E_UNSUPPORTED,
                   "llama.rope.scaling.type is yarned; those that are supported: none, linear");
    assert_refused("llama3", "blk.1.layer_output_scale", "blk.1.layer_output_shift",
                   LS_E_UNSUPPORTED, "tensor blk.1.layer_output_shift.weight has no place");
    assert_refused("gemma2", "blk.2.post_ffw_norm", "blk.2.past_ffw_norm", LS_E_NOT_FOUND,
                   "no tensor blk.2.post_ffw_norm.weight");
    assert_refused("qwen3", "qwen3.attention.key_length", "qwen3.attention.kez_length",
                   LS_E_UNSUPPORTED, "qwen3.attention.value_length is not the 16");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_the_same),
        cmocka_unit_test(and_on_the_reference),
        cmocka_unit_test(floats_are_near_double_precision),
        cmocka_unit_test(what_families_lack),
    };
    if (argc < 2)
        return 2;
    without_vulkan = strcmp(argv[1], "--without-vulkan") == 0;
    folder = argv[argc - 1];
    for (uint32_t i = 0; i < TOKENS; i++)
        tokens[i] = i * i * 7 % VOCABULARY;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
