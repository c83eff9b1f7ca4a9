/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep tokenize`: the tokens of a text by the vocabulary of a model file, and back. */
#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "lockstep/tokenizer.h"

enum { KEY_NO_BOS = 256, KEY_NO_SPECIAL, KEY_LOSSY, KEY_IDS, KEY_JSON, KEY_COUNT, KEY_DECODE };

typedef struct request {
    const char *model, *file, *text;
    bool no_bos, no_special, lossy, decode;
    int form; /* KEY_IDS, KEY_JSON, KEY_COUNT; 0 = one line a token */
} request;

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 'm':
        r->model = text;
        return 0;
    case 'f':
        r->file = text;
        return 0;
    case KEY_NO_BOS:
        r->no_bos = true;
        return 0;
    case KEY_NO_SPECIAL:
        r->no_special = true;
        return 0;
    case KEY_LOSSY:
        r->lossy = true;
        return 0;
    case KEY_DECODE:
        r->decode = true;
        return 0;
    case KEY_IDS:
    case KEY_JSON:
    case KEY_COUNT:
        if (r->form && r->form != key)
            argp_error(state, "only one of --ids, --json and --count can be given");
        r->form = key;
        return 0;
    case ARGP_KEY_ARG:
        if (r->text)
            ls__cli_usage_error(state, "'%s' is not expected here: put the text in quotes", text);
        r->text = text;
        return 0;
    case ARGP_KEY_END:
        if (!r->model)
            argp_error(state, "a model file is needed: -m MODEL.gguf");
        if (r->text && r->file)
            argp_error(state, "the text is given twice, as an argument and by --file");
        if (r->decode && r->form)
            argp_error(state, "--decode prints text: --ids, --json and --count do not go with it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"model", 'm', "MODEL.gguf", 0, "The model file whose vocabulary is used", 0},
    {"file", 'f', "FILE", 0, "Read the text from a file; - is standard input", 0},
    {"no-bos", KEY_NO_BOS, NULL, 0, "Without the BOS and EOS tokens that the model file asks for",
     0},
    {"no-special", KEY_NO_SPECIAL, NULL, 0,
     "Names of control tokens in the text are text; with --decode control tokens give no text", 0},
    {"lossy", KEY_LOSSY, NULL, 0,
     "Leave out bytes that the vocabulary has no token for, instead of failing", 0},
    {"ids", KEY_IDS, NULL, 0, "Print the ids as a list: [1, 2, 3]", 0},
    {"json", KEY_JSON, NULL, 0, "Print ids, texts, bytes and kinds as JSON", 0},
    {"count", KEY_COUNT, NULL, 0, "Print how many tokens there are", 0},
    {"decode", KEY_DECODE, NULL, 0, "The text is a list of ids: print what they stand for", 0},
    {0},
};

static const struct argp arguments = {
    .options = options,
    .parser = parse_option,
    .args_doc = "-m MODEL.gguf [TEXT]",
    .doc = "Cuts a text into the tokens of a model, one line each: id, text and, of tokens that "
           "are not normal, kind."
           "\v"
           "Without TEXT and --file the text comes from standard input, to its end, and a line "
           "break at the end belongs to it. Any bytes are text. In what is printed control "
           "characters and bytes that are no whole character are shown as \\xNN.\n\n"
           "Examples:\n"
           "  lockstep tokenize -m model.gguf \"Hello world\"\n"
           "  lockstep tokenize -m model.gguf --ids \"Hello world\"\n"
           "  lockstep tokenize -m model.gguf --decode \"[0, 1, 2]\"\n",
};

/* --- input ------------------------------------------------------------------------------------ */

typedef struct input {
    char *bytes; /* ls__mem_free unless it is the argument */
    size_t size;
    bool owned;
} input;

static ls_status read_standard_input(input *in, ls_error *error)
{
    ls__strbuf all = {0};
    char piece[1 << 16];
    size_t count;
    while ((count = fread(piece, 1, sizeof piece, stdin)) > 0 && !all.failed &&
           all.length <= LS_TEXT_BYTES_MAX)
        ls__strbuf_append(&all, piece, count);
    *in = (input){all.text, all.length, true};
    if (all.failed)
        return ls__fail_oom(error, all.length);
    return ferror(stdin) ? ls__fail(error, LS_E_IO, "cannot read standard input") : LS_OK;
}

static ls_status read_input(const request *r, input *in, ls_error *error)
{
    if (r->text) {
        *in = (input){(char *)r->text, strlen(r->text), false};
        return LS_OK;
    }
    if (!r->file || strcmp(r->file, "-") == 0)
        return read_standard_input(in, error);
    void *bytes = NULL;
    ls_status status = ls__os_read_file(r->file, LS_TEXT_BYTES_MAX, &bytes, &in->size, error);
    in->bytes = bytes;
    in->owned = true;
    return status;
}

/* --- output ----------------------------------------------------------------------------------- */

static void print_lines(const ls_tokenizer *t, const uint32_t *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        ls_token token;
        ls__strbuf shown = {0};
        ls_tokenizer_token(t, ids[i], &token, NULL);
        ls__strbuf_visible(&shown, token.bytes, token.length);
        bool plain = token.kind == LS_TOKEN_NORMAL;
        printf("%8" PRIu32 "  \"%s\"%s%s\n", ids[i], shown.text ? shown.text : "",
               plain ? "" : "  ", plain ? "" : ls_token_kind_name(token.kind));
        ls__strbuf_finish(&shown);
    }
}

static void print_ids(const uint32_t *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        printf(i ? ", %" PRIu32 : "[%" PRIu32, ids[i]);
    printf(count ? "]\n" : "[]\n");
}

static ls_status print_json(const ls_tokenizer *t, const uint32_t *ids, uint64_t count,
                            ls_error *error)
{
    json_t *items = json_array();
    for (uint64_t i = 0; i < count; i++) {
        ls_token token;
        ls__strbuf hex = {0};
        ls_tokenizer_token(t, ids[i], &token, NULL);
        for (uint32_t b = 0; b < token.length; b++)
            ls__strbuf_printf(&hex, "%02x", (uint8_t)token.bytes[b]);
        /* NULL, printed as null, where it is no UTF-8. */
        json_t *text = json_stringn(token.bytes, token.length);
        json_array_append_new(items,
                              json_pack("{s:I, s:o, s:s, s:s}", "id", (json_int_t)ids[i], "text",
                                        text ? text : json_null(), "hex", hex.text ? hex.text : "",
                                        "kind", ls_token_kind_name(token.kind)));
        ls__strbuf_finish(&hex);
    }
    json_t *all = json_pack("{s:I, s:o}", "count", (json_int_t)count, "tokens", items);
    bool written = all && json_dumpf(all, stdout, JSON_INDENT(1)) == 0;
    json_decref(all);
    if (!written) /* what cannot be written is told at the end of the process */
        return ferror(stdout) ? LS_OK : ls__fail_oom(error, 0);
    printf("\n");
    return LS_OK;
}

static ls_status tokenize(const request *r, const ls_tokenizer *t, const input *in, ls_error *error)
{
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    params.text = in->bytes;
    params.length = in->size;
    params.special = !r->no_special;
    params.bare = r->no_bos;
    params.lossy = r->lossy;
    uint64_t capacity = 0, count;
    uint32_t *ids = NULL;
    ls_status status = ls_tokenizer_encode(t, &params, NULL, 0, &capacity, error);
    if (status == LS_OK && !(ids = ls__mem_alloc(capacity, sizeof *ids)))
        status = ls__fail_oom(error, capacity * sizeof *ids);
    if (status == LS_OK)
        status = ls_tokenizer_encode(t, &params, ids, capacity, &count, error);
    if (status == LS_OK && r->form == KEY_JSON)
        status = print_json(t, ids, count, error);
    else if (status == LS_OK && r->form == KEY_IDS)
        print_ids(ids, count);
    else if (status == LS_OK && r->form == KEY_COUNT)
        printf("%" PRIu64 "\n", count);
    else if (status == LS_OK)
        print_lines(t, ids, count);
    ls__mem_free(ids);
    return status;
}

/* --- decoding --------------------------------------------------------------------------------- */

/* Numbers between spaces, commas and brackets. */
static ls_status parse_ids(const input *in, uint32_t *ids, uint64_t *count, ls_error *error)
{
    *count = 0;
    for (size_t at = 0; at < in->size;) {
        uint64_t number = 0;
        size_t begin = at;
        while (at < in->size && isdigit((unsigned char)in->bytes[at]) && number <= UINT32_MAX)
            number = number * 10 + (uint64_t)(in->bytes[at++] - '0');
        if (number > UINT32_MAX)
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "an id is larger than any token's");
        if (at > begin)
            ids[(*count)++] = (uint32_t)number;
        else if (in->bytes[at] && strchr(" \t\r\n,[]", in->bytes[at]))
            at++;
        else
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "byte %zu of the list is no part of a number; ids are numbers between "
                            "spaces or commas",
                            at);
    }
    return LS_OK;
}

static ls_status decode(const request *r, const ls_tokenizer *t, const input *in, ls_error *error)
{
    ls_decode_params params = LS_DECODE_PARAMS_INIT;
    uint32_t *ids = ls__mem_alloc(in->size / 2 + 1, sizeof *ids);
    char *text = NULL;
    uint64_t length;
    if (!ids)
        return ls__fail_oom(error, in->size * 2);
    ls_status status = parse_ids(in, ids, &params.count, error);
    params.ids = ids;
    params.special = !r->no_special;
    if (status == LS_OK)
        status = ls_tokenizer_decode(t, &params, NULL, 0, &length, error);
    if (status == LS_OK && !(text = ls__mem_alloc(length + 1, 1)))
        status = ls__fail_oom(error, length);
    if (status == LS_OK)
        status = ls_tokenizer_decode(t, &params, text, length, &length, error);
    if (status == LS_OK)
        fwrite(text, 1, length, stdout);
    ls__mem_free(text);
    ls__mem_free(ids);
    return status;
}

int ls__cli_tokenize(int argc, char **argv)
{
    request r = {0};
    ls_error error;
    ls_gguf *gguf = NULL;
    ls_tokenizer *t = NULL;
    input in = {0};
    if (argp_parse(&arguments, argc, argv, 0, NULL, &r) != 0)
        return LS__EXIT_USAGE;
    ls_status status = ls_gguf_open(r.model, &gguf, &error);
    if (status == LS_OK) {
        status = ls_tokenizer_create(gguf, &t, &error);
        if (status != LS_OK)
            ls__cli_model_fail(&error, status, r.model);
    }
    ls_gguf_destroy(&gguf);
    if (status == LS_OK)
        status = read_input(&r, &in, &error);
    if (status == LS_OK)
        status = r.decode ? decode(&r, t, &in, &error) : tokenize(&r, t, &in, &error);
    if (in.owned)
        ls__mem_free(in.bytes);
    ls_tokenizer_destroy(&t);
    return ls__cli_end(status, &error);
}
