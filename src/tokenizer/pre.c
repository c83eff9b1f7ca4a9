/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of the pre-tokenisers, and cutting text by them. Sources of the patterns: the files
 * tokenizer.json of the models named at each (Hugging Face), as docs/tokenizers.md says.
 *
 * They were written for Oniguruma and for Rust's regex, where \s is exactly the property
 * White_Space. PCRE2's \s has U+180E in it, which is none, so white space is spelled out here.
 * \p{..} and matching regardless of case mean the same in all three, apart from the version of
 * Unicode.
 */
#include "tokenizer/pre.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <string.h>

#include "base/mem.h"
#include "base/status.h"

#define SPACES                                                                                     \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"    \
    "\\x{205f}\\x{3000}"
#define S "[" SPACES "]"
#define NOT_S "[^" SPACES "]"
#define CONTRACTION "'s|'t|'re|'ve|'m|'ll|'d"

/* A run of spaces, without the last one if a word follows, which takes that one. */
#define RUN_OF_SPACES S "+(?!" NOT_S ")|" S "+"

#define GPT2 CONTRACTION "| ?\\p{L}+| ?\\p{N}+| ?[^" SPACES "\\p{L}\\p{N}]+|" RUN_OF_SPACES

/* What llama-bpe and qwen2 share, but for how many digits are a word. */
#define WITH_DIGITS(digits)                                                                        \
    "(?i:" CONTRACTION ")|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^" SPACES                    \
    "\\p{L}\\p{N}]+[\\r\\n]*|" S "*[\\r\\n]+|" RUN_OF_SPACES

/* Letters that can begin or continue a word in capitals, and in small letters. */
#define LARGE "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define SMALL "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define TEKKEN                                                                                     \
    "[^\\r\\n\\p{L}\\p{N}]?" LARGE "*" SMALL "+|[^\\r\\n\\p{L}\\p{N}]?" LARGE "+" SMALL "*|"       \
    "\\p{N}| ?[^" SPACES "\\p{L}\\p{N}]+[\\r\\n/]*|" S "*[\\r\\n]+|" RUN_OF_SPACES

/* Letters with case, as the file of DeepSeek LLM lists them. */
#define CASED                                                                                      \
    "A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}"                 \
    "\\x{1c4}-\\x{293}\\x{295}-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}"         \
    "\\x{37f}\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}-\\x{3a1}\\x{3a3}-\\x{3f5}"                  \
    "\\x{3f7}-\\x{481}\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}"                       \
    "\\x{13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}"                 \
    "\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}"                 \
    "\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}"        \
    "\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}"         \
    "\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}"                 \
    "\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}"                  \
    "\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{2124}\\x{2126}\\x{2128}"                   \
    "\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}\\x{2145}-\\x{2149}"        \
    "\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}\\x{2ceb}-\\x{2cee}"         \
    "\\x{2cf2}\\x{2cf3}\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}"                  \
    "\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}\\x{ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}"                 \
    "\\x{fb13}-\\x{fb17}\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}"               \
    "\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}"         \
    "\\x{118a0}-\\x{118df}\\x{1e900}-\\x{1e943}"

/* The second class has the letters of ASCII, too: it cuts words that have others as well. White
 * space at the end is looked for from where it begins, not once more from each of its characters.
 */
#define DEEPSEEK_LLM                                                                               \
    "[\\r\\n]", S "?[" CASED "]+",                                                                 \
        S                                                                                          \
        "?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3000}-\\x{3002}]+",  \
        "(?<!" S ")" S "+\\z", "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+",      \
        "\\p{N}"

struct ls__pre_family {
    const char *name;
    bool whole_words, adds_bos;
    const char *patterns[LS__PRE_PATTERNS_MAX];
};

static const ls__pre_family families[] = {
    {"gpt-2", false, false, {GPT2}},                             /* GPT-2 */
    {"llama-bpe", true, true, {WITH_DIGITS("\\p{N}{1,3}")}},     /* Llama 3 */
    {"llama3", true, true, {WITH_DIGITS("\\p{N}{1,3}")}},        /* its older names */
    {"llama-v3", true, true, {WITH_DIGITS("\\p{N}{1,3}")}},      /* */
    {"qwen2", false, false, {WITH_DIGITS("\\p{N}")}},            /* Qwen 2, 2.5, 3 */
    {"deepseek-r1-qwen", false, false, {WITH_DIGITS("\\p{N}")}}, /* of DeepSeek R1 in Qwen */
    {"smollm", false, false, {"\\p{N}", GPT2}},                  /* SmolLM, SmolLM 2 */
    {"tekken", true, true, {TEKKEN}},                            /* Mistral NeMo */
    {"deepseek-llm", false, false, {DEEPSEEK_LLM}},              /* DeepSeek LLM, V2 */
};
enum { FAMILIES = sizeof families / sizeof *families };

#define NAMES                                                                                      \
    "gpt-2, llama-bpe, llama3, llama-v3, qwen2, deepseek-r1-qwen, smollm, tekken and deepseek-llm"

const ls__pre_family *ls__pre_find(const char *name, size_t length)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (strlen(families[i].name) == length && memcmp(families[i].name, name, length) == 0)
            return &families[i];
    return NULL;
}

const char *ls__pre_name(const ls__pre_family *family)
{
    return family->name;
}

bool ls__pre_whole_words(const ls__pre_family *family)
{
    return family->whole_words;
}

bool ls__pre_adds_bos(const ls__pre_family *family)
{
    return family->adds_bos;
}

const char *ls__pre_names(void)
{
    return NAMES;
}

/* --- compiling -------------------------------------------------------------------------------- */

static void *allocate(size_t bytes, void *unused)
{
    (void)unused;
    return ls__mem_alloc(bytes, 1);
}

static void release(void *memory, void *unused)
{
    (void)unused;
    ls__mem_free(memory);
}

static ls_status fail_pattern(ls_error *error, int code, size_t place, const char *pattern)
{
    char text[128] = "";
    if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)
        return ls__fail_oom(error, 0);
    pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text);
    return ls__fail(error, LS_E_INTERNAL, "PCRE2: %s, at %zu of %s", text, place, pattern);
}

ls_status ls__pre_init(ls__pre *pre, const ls__pre_family *family, ls_error *error)
{
    pre->general = pcre2_general_context_create(allocate, release, NULL);
    if (!pre->general)
        return ls__fail_oom(error, 0);
    pre->context = pcre2_match_context_create(pre->general);
    pcre2_compile_context *compile = pcre2_compile_context_create(pre->general);
    ls_status status = pre->context && compile ? LS_OK : ls__fail_oom(error, 0);
    /* No pattern takes more than linear time, so the limits against those that do are off. */
    if (status == LS_OK)
        pcre2_set_match_limit(pre->context, UINT32_MAX);
    for (uint32_t i = 0; status == LS_OK && i < LS__PRE_PATTERNS_MAX && family->patterns[i]; i++) {
        int code;
        PCRE2_SIZE place;
        pcre2_code *pattern = pcre2_compile((PCRE2_SPTR)family->patterns[i], PCRE2_ZERO_TERMINATED,
                                            PCRE2_UTF | PCRE2_UCP, &code, &place, compile);
        if (!pattern) {
            status = fail_pattern(error, code, place, family->patterns[i]);
            break;
        }
        pre->patterns[pre->pattern_count++] = pattern;
        /* Where machine code may not be made, patterns are interpreted: slower, the same result. */
        pcre2_jit_compile(pattern, PCRE2_JIT_COMPLETE);
    }
    pcre2_compile_context_free(compile);
    return status;
}

void ls__pre_finish(ls__pre *pre)
{
    for (uint32_t i = 0; i < pre->pattern_count; i++)
        pcre2_code_free(pre->patterns[i]);
    pcre2_match_context_free(pre->context);
    pcre2_general_context_free(pre->general);
    *pre = (ls__pre){0};
}

/* --- cutting ---------------------------------------------------------------------------------- */

pcre2_match_data *ls__pre_begin(const ls__pre *pre)
{
    return pcre2_match_data_create(1, pre->general);
}

void ls__pre_end(pcre2_match_data *match)
{
    pcre2_match_data_free(match);
}

typedef struct cutter {
    const ls__pre *pre;
    pcre2_match_data *match;
    ls_status (*word)(void *context, const uint8_t *bytes, size_t length);
    void *context;
    ls_error *error;
} cutter;

/* Where the next match of a pattern is; false when there is none. */
static ls_status find(const cutter *c, uint32_t pattern, const uint8_t *text, size_t length,
                      size_t from, bool *found, size_t *start, size_t *end)
{
    const pcre2_code *code = c->pre->patterns[pattern];
    int result =
        pcre2_match(code, text, length, from, PCRE2_NO_UTF_CHECK, c->match, c->pre->context);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
        result = pcre2_match(code, text, length, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, c->match,
                             c->pre->context);
    *found = result >= 0;
    if (result < 0)
        return result == PCRE2_ERROR_NOMATCH ? LS_OK : fail_pattern(c->error, result, from, "text");
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(c->match);
    *start = ends[0];
    *end = ends[1];
    return LS_OK;
}

static ls_status cut(const cutter *c, uint32_t pattern, const uint8_t *text, size_t length)
{
    if (!length)
        return LS_OK;
    if (pattern == c->pre->pattern_count)
        return c->word(c->context, text, length);
    ls_status status = LS_OK;
    size_t at = 0;
    while (status == LS_OK && at < length) {
        bool found;
        size_t start, end;
        status = find(c, pattern, text, length, at, &found, &start, &end);
        if (status != LS_OK)
            return status;
        if (!found)
            start = end = length;
        status = cut(c, pattern + 1, text + at, start - at);
        if (status == LS_OK)
            status = cut(c, pattern + 1, text + start, end - start);
        at = end;
    }
    return status;
}

ls_status ls__pre_split(const ls__pre *pre, pcre2_match_data *match, const uint8_t *text,
                        size_t length,
                        ls_status (*word)(void *context, const uint8_t *bytes, size_t length),
                        void *context, ls_error *error)
{
    cutter c = {.pre = pre, .match = match, .word = word, .context = context, .error = error};
    return cut(&c, 0, text, length);
}
