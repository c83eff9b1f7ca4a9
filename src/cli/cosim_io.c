/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes in and out while a co-simulation runs: text of UARTs, messages of the design, progress,
 * standard input and its record.
 */
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/cosim.h"
#include "cli/wait.h"

enum { MAX_LINE = 256 };

uint32_t ls__cli_cosim_find(const ls__cli_cosim_job *c, const char *name, ls__model_kind kind)
{
    for (uint32_t i = 0; i < c->plan->peripheral_count; i++)
        if (c->plan->models[i].kind == kind && strcmp(c->plan->models[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

ls_status ls__cli_cosim_open_io(ls__cli_cosim_job *c, ls_error *error)
{
    c->console_source = UINT32_MAX;
    if (c->instances > 1)
        c->console_count = 0; /* nobody could tell whose text it is */
    else if (!c->console)
        for (uint32_t i = 0; i < c->plan->peripheral_count; i++)
            c->console_count += c->plan->models[i].kind == LS__MODEL_UART_TX;
    else if (strcmp(c->console, "none") != 0) {
        c->console_source = ls__cli_cosim_find(c, c->console, LS__MODEL_UART_TX);
        c->console_count = 1;
        if (c->console_source == UINT32_MAX)
            return ls__fail(error, LS_E_NOT_FOUND, "--console: there is no UART '%s' with a tx",
                            c->console);
    }
    c->lines = ls__mem_alloc(c->plan->peripheral_count, sizeof *c->lines);
    if (!c->lines)
        return ls__fail_oom(error, c->plan->peripheral_count * sizeof *c->lines);
    return LS_OK;
}

/* --- out -------------------------------------------------------------------------------------- */

static void hide_progress(ls__cli_cosim_job *c)
{
    if (c->progress_shown)
        ls__cli_clear_progress();
    c->progress_shown = false;
}

static void show_line(ls__cli_cosim_job *c, uint32_t source)
{
    ls__strbuf *line = &c->lines[source];
    if (line->length == 0)
        return;
    hide_progress(c);
    ls__cli_print_line(stdout, "%s: %.*s", c->plan->models[source].name, (int)line->length,
                       line->text);
    line->length = 0;
}

/* One UART: its bytes as they are, but nothing that steers a terminal; several: lines with names.
 */
void ls__cli_cosim_byte(void *context, uint32_t source, uint8_t byte)
{
    ls__cli_cosim_job *c = context;
    char letter = (char)byte;
    if (c->console_count == 0 || (c->console_source != UINT32_MAX && source != c->console_source))
        return;
    if (c->console_count > 1) {
        if (byte == '\n' || c->lines[source].length >= MAX_LINE)
            show_line(c, source);
        if (byte != '\n' && byte != '\r')
            ls__strbuf_append(&c->lines[source], &letter, 1);
        return;
    }
    hide_progress(c);
    if (isatty(STDOUT_FILENO) && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\b' &&
        (byte < ' ' || byte == 127))
        printf("\\x%02x", byte);
    else
        putchar(byte);
    c->mid_line = byte != '\n' && byte != '\r';
}

static void end_line(ls__cli_cosim_job *c)
{
    if (c->mid_line && isatty(STDOUT_FILENO))
        putchar('\n');
    c->mid_line = false;
}

void ls__cli_cosim_message(void *context, const ls_cosim_event *event, uint64_t time_ps)
{
    ls__cli_cosim_job *c = context;
    char who[32] = "";
    const char *what = event->type == LS_EVENT_FINISH   ? "$finish"
                       : event->type == LS_EVENT_ASSERT ? "failed"
                                                        : "broken";
    hide_progress(c);
    end_line(c);
    if (c->instances > 1)
        snprintf(who, sizeof who, "instance %u: ", event->instance);
    if (event->type == LS_EVENT_PRINT) {
        fflush(stderr);
        ls__cli_print_message(who, event->text);
    } else if (event->type != LS_EVENT_FINISH || !c->bench.quiet) {
        fflush(stdout);
        ls__cli_print_line(stderr, "lockstep: %sedge %llu (%llu ps): %s%s%s", who,
                           (unsigned long long)event->edge, (unsigned long long)time_ps, what,
                           event->text[0] ? ": " : "", event->text);
    }
}

void ls__cli_cosim_transfer(void *context, const ls_cosim_event *event, uint64_t time_ps)
{
    ls__cli_cosim_job *c = context;
    char who[32] = "";
    hide_progress(c);
    end_line(c);
    fflush(stdout);
    if (c->instances > 1)
        snprintf(who, sizeof who, "instance %u: ", event->instance);
    ls__cli_print_line(stderr,
                       "lockstep: %sedge %llu (%llu ps): %s: command 0x%02llX, address 0x%06llX, "
                       "%llu bytes",
                       who, (unsigned long long)event->edge, (unsigned long long)time_ps,
                       c->plan->models[event->source].name, (unsigned long long)(event->a & 255),
                       (unsigned long long)(event->a >> 8), (unsigned long long)event->b);
}

void ls__cli_cosim_progress(void *context, uint64_t edge)
{
    ls__cli_cosim_job *c = context;
    ls_error error;
    uint64_t now = ls__os_now_ns();
    ls__cli_check_output();
    if (!c->waves_failed && ls__waves_failed(c->waves, &error) != LS_OK) {
        c->waves_failed = true;
        hide_progress(c);
        ls__cli_print_error(&error);
    }
    if (c->bench.quiet || c->mid_line || !isatty(STDERR_FILENO) ||
        now - c->begun_ns < UINT64_C(500000000) || now - c->shown_ns < UINT64_C(200000000))
        return;
    double seconds = (double)(now - c->begun_ns) / 1e9;
    c->shown_ns = now;
    c->progress_shown = true;
    fprintf(stderr, "\r\033[K%llu edges, %.0f edges/s", (unsigned long long)edge,
            (double)edge * c->instances / seconds);
    if (c->bench.max_edges != UINT64_MAX)
        fprintf(stderr, ", %.0f %%", 100 * (double)edge / (double)c->bench.max_edges);
    fputs(" (Ctrl-C to stop)", stderr);
}

void ls__cli_cosim_close_io(ls__cli_cosim_job *c)
{
    hide_progress(c);
    for (uint32_t i = 0; c->lines && i < c->plan->peripheral_count; i++) {
        show_line(c, i);
        ls__strbuf_finish(&c->lines[i]);
    }
    end_line(c);
    ls__cli_check_output();
    ls__mem_free(c->lines);
    c->lines = NULL;
    ls__os_appender_close(&c->record_file, NULL);
}

/* --- in --------------------------------------------------------------------------------------- */

bool ls__cli_cosim_live(void *context, uint8_t *bytes, uint32_t capacity, uint32_t *count)
{
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    (void)context;
    *count = 0;
    if (poll(&wait, 1, 0) <= 0)
        return true;
    ssize_t got = read(STDIN_FILENO, bytes, capacity);
    *count = got > 0 ? (uint32_t)got : 0;
    return got > 0;
}

ls_status ls__cli_cosim_record(void *context, uint64_t edge, const uint8_t *bytes, uint32_t count,
                               ls_error *error)
{
    ls__cli_cosim_job *c = context;
    ls__strbuf out = {0};
    for (uint32_t i = 0; i < count; i++) {
        json_t *line = json_pack("{s:I, s:s, s:i}", "edge", (json_int_t)edge, "peripheral",
                                 c->input, "payload", bytes[i]);
        char *text = line ? json_dumps(line, 0) : NULL;
        if (text)
            ls__strbuf_printf(&out, "%s\n", text);
        free(text);
        json_decref(line);
    }
    ls_status status = out.failed
                           ? ls__fail_oom(error, count)
                           : ls__os_appender_write(c->record_file, out.text, out.length, error);
    ls__strbuf_finish(&out);
    return status;
}

static ls_status replay_line(ls__cli_cosim_job *c, const json_t *line, size_t number,
                             uint64_t *last, ls_error *error)
{
    const json_t *edge = json_object_get(line, "edge"), *byte = json_object_get(line, "payload");
    const char *name = json_string_value(json_object_get(line, "peripheral"));
    if (!json_is_integer(edge) || !json_is_integer(byte) || !name || json_integer_value(edge) < 0 ||
        json_integer_value(byte) < 0 || json_integer_value(byte) > 255)
        return ls__fail(error, LS_E_FORMAT,
                        "%s: line %zu must be {\"edge\": N, \"peripheral\": NAME, \"payload\": N}",
                        c->replay, number);
    if ((uint64_t)json_integer_value(edge) < *last)
        return ls__fail(error, LS_E_FORMAT, "%s: line %zu: edges must ascend", c->replay, number);
    *last = (uint64_t)json_integer_value(edge);
    uint32_t source = ls__cli_cosim_find(c, name, LS__MODEL_UART_RX);
    if (source == UINT32_MAX)
        return ls__fail(error, LS_E_NOT_FOUND, "%s: line %zu: there is no UART '%s' with an rx",
                        c->replay, number, name);
    return ls__run_replay(c->run, source, *last, (uint8_t)json_integer_value(byte), error);
}

ls_status ls__cli_cosim_replay(ls__cli_cosim_job *c, ls_error *error)
{
    void *text;
    size_t size, number = 1;
    uint64_t last = 0;
    ls_status status = ls__os_read_file(c->replay, UINT64_C(1) << 30, &text, &size, error);
    if (status != LS_OK)
        return status;
    const char *next = text, *end = next + size;
    for (; status == LS_OK && next < end; number++) {
        const char *stop = memchr(next, '\n', (size_t)(end - next));
        size_t length = stop ? (size_t)(stop - next) : (size_t)(end - next);
        json_t *line = json_loadb(next, length, 0, NULL);
        if (length)
            status = replay_line(c, line, number, &last, error);
        json_decref(line);
        next += length + (stop != NULL);
    }
    ls__mem_free(text);
    return status;
}
