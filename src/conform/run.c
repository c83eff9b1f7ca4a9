/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: opens the device and the one to compare with, takes the groups as they are made, and
 * turns each case into a row, a row not run, or a failure. A row's digest is of bytes downloaded
 * from the device, whatever the comparison says.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "conform/conform.h"
#include "conform/find.h"

typedef struct session {
    const ls__conform_options *options;
    ls_device *device, *against; /* `against` NULL: nothing to compare with */
    json_t *certificate, *rows, *not_run, *failures;
    uint32_t done;
} session;

/* --- entries ---------------------------------------------------------------------------------- */
static ls_status append(json_t *list, json_t *entry, ls_error *error)
{
    if (!entry || json_array_append_new(list, entry) != 0)
        return ls__fail_oom(error, sizeof *entry);
    return LS_OK;
}

static ls_status add_row(session *s, const char *name, uint64_t vectors, bool sorted,
                         const void *bytes, uint64_t size, ls_error *error)
{
    char digest[65];
    ls__digest_hex(ls__digest_of(bytes, size), digest);
    json_t *row = json_pack("{s:s, s:I, s:s}", "name", name, "vectors", (json_int_t)vectors,
                            "digest", digest);
    if (row && sorted)
        json_object_set_new(row, "property", json_string("outputs compared as multisets"));
    s->done++;
    return append(s->rows, row, error);
}

static ls_status add_not_run(session *s, const char *name, const ls_error *why, ls_error *error)
{
    return append(s->not_run, json_pack("{s:s, s:s}", "name", name, "reason", why->message), error);
}

static ls_status add_error(session *s, const char *name, const char *what, const ls_error *why,
                           ls_error *error)
{
    return append(s->failures,
                  json_pack("{s:s, s:s, s:s}", "row", name, "what", what, "message", why->message),
                  error);
}

/* A row that could not be run at all: unsupported is no failure. A lost device ends the run. */
static ls_status add_trouble(session *s, const char *name, const ls_error *why, ls_error *error)
{
    if (why->code == LS_E_UNSUPPORTED)
        return add_not_run(s, name, why, error);
    ls_status status = add_error(s, name, "error", why, error);
    if (status == LS_OK && ls_device_is_lost(s->device)) {
        if (error)
            *error = *why;
        return why->code;
    }
    return status;
}

/* --- cases ------------------------------------------------------------------------------------ */
static bool wanted(void *context, const char *name)
{
    const session *s = context;
    const char *filter = s->options->filter;
    if (!filter)
        return true;
    return strpbrk(filter, "*?[") ? fnmatch(filter, name, 0) == 0 : strstr(name, filter) != NULL;
}

static ls_status next_row(session *s, const char *name, ls_error *error)
{
    const ls__conform_options *options = s->options;
    if (options->progress && !options->progress(options->context, name, s->done))
        return ls__fail(error, LS_E_CANCELLED, "cancelled by the caller");
    return LS_OK;
}

static ls_status run_case(session *s, const ls__pair *pair, const ls__group *group,
                          const ls__case *c, ls_error *error)
{
    ls__outputs got = {0}, expected = {0};
    ls_error why;
    ls_status status = next_row(s, c->name, error);
    if (status != LS_OK)
        return status;
    if (ls__launch_case(pair->device, pair->program, c, &got, &why) != LS_OK) {
        status = add_trouble(s, c->name, &why, error);
        ls__outputs_finish(&got);
        return status;
    }
    status = add_row(s, c->name, c->vectors, c->sorted, got.bytes, got.size, error);
    if (status == LS_OK && pair->against) {
        if (ls__launch_case(pair->against, pair->expected, c, &expected, &why) != LS_OK)
            status = add_error(s, c->name, "error of the device to compare with", &why, error);
        else if (!ls__outputs_equal(&got, &expected))
            status = append(s->failures, ls__find(pair, group, c, &got, &expected), error);
    }
    ls__outputs_finish(&got);
    ls__outputs_finish(&expected);
    return status;
}

static ls_program_params params_of(const ls__conform_options *options)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    params.lower = options->lower;
    params.tier = options->tier;
    return params;
}

static ls_status take_group(void *context, const ls__group *group, ls_error *error)
{
    session *s = context;
    ls__pair pair = {.device = s->device, .against = s->against, .params = params_of(s->options)};
    ls_error why;
    ls_status status = LS_OK;
    bool built =
        ls_program_create(s->device, group->module, &pair.params, &pair.program, &why) == LS_OK;
    if (built && s->against)
        status = ls_program_create(s->against, group->module, NULL, &pair.expected, error);
    for (uint32_t i = 0; i < group->count && status == LS_OK; i++)
        status = built ? run_case(s, &pair, group, &group->cases[i], error)
                       : add_trouble(s, group->cases[i].name, &why, error);
    ls_program_destroy(&pair.program);
    ls_program_destroy(&pair.expected);
    return status;
}

/* --- the contract ----------------------------------------------------------------------------- */
/* The first line in which two texts differ, without its end. */
static void first_difference(const char *got, const char *expected, ls__strbuf *out)
{
    while (*got && *expected) {
        size_t a = strcspn(got, "\n"), b = strcspn(expected, "\n");
        if (a != b || memcmp(got, expected, a) != 0)
            break;
        got += a + (got[a] != 0);
        expected += b + (expected[b] != 0);
    }
    ls__strbuf_printf(out, "expected \"%.*s\", got \"%.*s\"", (int)strcspn(expected, "\n"),
                      expected, (int)strcspn(got, "\n"), got);
}

static ls_status compare_contract(session *s, uint32_t index, const char *got, ls_error *error)
{
    ls__strbuf expected = {0}, line = {0};
    ls_error why = {0};
    ls_status status = ls__contract_run(index, s->against, NULL, &expected, error);
    if (status == LS_OK && strcmp(got, expected.text ? expected.text : "") != 0) {
        first_difference(got, expected.text ? expected.text : "", &line);
        ls__fail(&why, LS_E_FAILED, "%s", line.text ? line.text : "");
        status = add_error(s, ls__contract_name(index), "behaviour differs", &why, error);
    }
    ls__strbuf_finish(&expected);
    ls__strbuf_finish(&line);
    return status;
}

static ls_status run_contract(session *s, ls_error *error)
{
    ls_program_params params = params_of(s->options);
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < ls__contract_count && status == LS_OK; i++) {
        const char *name = ls__contract_name(i);
        ls__strbuf text = {0};
        ls_error why;
        if (!wanted(s, name))
            continue;
        status = next_row(s, name, error);
        if (status == LS_OK && ls__contract_run(i, s->device, &params, &text, &why) != LS_OK) {
            status = add_trouble(s, name, &why, error);
        } else if (status == LS_OK) {
            status = add_row(s, name, 1, false, text.text, text.length, error);
            if (status == LS_OK && s->against)
                status = compare_contract(s, i, text.text ? text.text : "", error);
        }
        ls__strbuf_finish(&text);
    }
    return status;
}

/* --- the run ---------------------------------------------------------------------------------- */
static ls_status begin_certificate(session *s, ls_error *error)
{
    const ls__conform_options *o = s->options;
    s->rows = json_array();
    s->not_run = json_array();
    s->failures = json_array();
    s->certificate = json_pack(
        "{s:i, s:s, s:i, s:i, s:s, s:I, s:b, s:b, s:b, s:o, s:o, s:o}", "schema", 1, "version",
        ls_version(), "contract", (int)ls_contract_version(), "ir", LS_IR_VERSION, "device",
        ls_device_name(s->device), "seed", (json_int_t)o->seed, "quick", o->quick, "unchecked", 0,
        "probed", !o->unprobed, "rows", s->rows, "not_run", s->not_run, "failures", s->failures);
    if (!s->certificate)
        return ls__fail_oom(error, sizeof *s->certificate);
    if (o->filter)
        json_object_set_new(s->certificate, "filter", json_string(o->filter));
    if (o->lower)
        json_object_set_new(s->certificate, "lower", json_string(o->lower));
    if (o->target)
        json_object_set_new(s->certificate, "target", json_string(o->target));
    if (o->tier == LS_TIER_QUICK)
        json_object_set_new(s->certificate, "tier", json_string("quick"));
    if (s->against)
        json_object_set_new(s->certificate, "against", json_string(ls_device_name(s->against)));
    return LS_OK;
}

static ls_status open_devices(session *s, ls_error *error)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = s->options->device;
    params.threads = s->options->threads;
    params.target = s->options->target;
    params.cache_path = s->options->cache;
    params.fault = s->options->fault;
    params.unprobed = s->options->unprobed;
    ls_status status = ls_device_open(&params, &s->device, error);
    if (status == LS_OK && s->options->against) {
        params = (ls_device_params)LS_DEVICE_PARAMS_INIT;
        params.name = s->options->against;
        status = ls_device_open(&params, &s->against, error);
    }
    return status;
}

ls_status ls__conform_run(const ls__conform_options *options, json_t **certificate, ls_error *error)
{
    session s = {.options = options};
    ls__conform_plan plan = {.seed = options->seed,
                             .quick = options->quick,
                             .wanted = wanted,
                             .take = take_group,
                             .context = &s};
    *certificate = NULL;
    ls_status status = open_devices(&s, error);
    if (status == LS_OK)
        status = begin_certificate(&s, error);
    if (status == LS_OK)
        status = ls__conform_ops(&plan, error);
    if (status == LS_OK)
        status = ls__conform_kernels(&plan, error);
    if (status == LS_OK)
        status = ls__conform_programs(&plan, error);
    if (status == LS_OK)
        status = run_contract(&s, error);
    if (status == LS_OK && !json_array_size(s.rows) && !json_array_size(s.not_run) &&
        !json_array_size(s.failures))
        status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                          "no row's name fits the filter '%s'; without a filter, --report FILE "
                          "writes down the names of all rows, and --help shows one of each kind",
                          options->filter ? options->filter : "");
    if (status == LS_OK)
        status = ls__certificate_seal(s.certificate, error);
    ls_device_destroy(&s.device, NULL);
    ls_device_destroy(&s.against, NULL);
    if (status == LS_OK)
        *certificate = s.certificate;
    else
        json_decref(s.certificate);
    return status;
}
