/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line editing by libedit. It works in the character set of the locale; where that is not UTF-8,
 * the one of the locale C.UTF-8 is taken. Characters are read here, because libedit itself goes on
 * after a signal: Ctrl-C must end the line.
 */
#include "cli/editor.h"

#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/wait.h"

enum { MOST_HISTORY = 1000, POLL_MS = 500 };

struct ls__cli_editor {
    EditLine *edit; /* NULL: no terminal */
    History *history;
    HistEvent event;
    ls__strbuf history_path; /* empty: kept nowhere */
    const char *prompt;
    char *line; /* of getline */
    size_t capacity;
};

static char *prompt_of(EditLine *edit)
{
    ls__cli_editor *e = NULL;
    el_get(edit, EL_CLIENTDATA, &e);
    return (char *)(uintptr_t)e->prompt;
}

/* Waits for input. False after a signal that was noted; libedit's handlers let a read go on, so it
 * is not the read that waits. */
static bool wait_for_input(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = 0;
    while (ready <= 0 && !ls__cli_caught_signal()) {
        ready = poll(&input, 1, POLL_MS); /* a signal may come before it waits */
        if (ready < 0 && errno != EINTR)
            return false;
    }
    return ready > 0;
}

/* One character of the terminal: 1, 0 at the end, -1 after a signal. Bytes that are none are
 * dropped. */
static int read_character(EditLine *edit, wchar_t *character)
{
    mbstate_t state = {0};
    (void)edit;
    while (wait_for_input()) {
        char byte;
        ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return (int)got;
        size_t used = mbrtowc(character, &byte, 1, &state);
        if (used == (size_t)-1)
            memset(&state, 0, sizeof state);
        else if (used != (size_t)-2)
            return 1;
    }
    return -1;
}

static void open_history(ls__cli_editor *e, bool forgets)
{
    ls__dir *dir = NULL;
    e->history = history_init();
    if (!e->history)
        return;
    history(e->history, &e->event, H_SETSIZE, MOST_HISTORY);
    history(e->history, &e->event, H_SETUNIQUE, 1);
    el_set(e->edit, EL_HIST, history, e->history);
    if (forgets)
        return;
    ls__cli_default_state(&e->history_path);
    if (e->history_path.length && ls__dir_open(e->history_path.text, &dir, NULL) == LS_OK) {
        ls__strbuf_printf(&e->history_path, "/chat_history");
        history(e->history, &e->event, H_LOAD, e->history_path.text);
    } else {
        ls__strbuf_finish(&e->history_path);
    }
    ls__dir_close(&dir);
}

static ls_status open_terminal(ls__cli_editor *e, bool forgets, ls_error *error)
{
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C.UTF-8");
    e->edit = el_init("lockstep", stdin, isatty(STDOUT_FILENO) ? stdout : stderr, stderr);
    if (!e->edit)
        return ls__fail(error, LS_E_FAILED, "the terminal cannot be set up");
    el_set(e->edit, EL_CLIENTDATA, e);
    el_set(e->edit, EL_PROMPT, prompt_of);
    el_set(e->edit, EL_EDITOR, "emacs");
    el_set(e->edit, EL_SIGNAL, 1);
    el_set(e->edit, EL_GETCFN, read_character);
    el_set(e->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    open_history(e, forgets);
    el_source(e->edit, NULL); /* ~/.editrc */
    return LS_OK;
}

ls_status ls__cli_editor_open(bool forgets, ls__cli_editor **editor, ls_error *error)
{
    ls__cli_editor *e = *editor = ls__mem_alloc(1, sizeof *e);
    if (!e)
        return ls__fail_oom(error, sizeof *e);
    if (!isatty(STDIN_FILENO) || (!isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO)))
        return LS_OK;
    ls_status status = open_terminal(e, forgets, error);
    if (status != LS_OK)
        ls__cli_editor_close(editor);
    return status;
}

bool ls__cli_editor_is_terminal(const ls__cli_editor *e)
{
    return e->edit != NULL;
}

static ls__cli_line read_edited(ls__cli_editor *e, const char **text, size_t *length)
{
    int count = 0;
    /* Before the prompt is shown, or Ctrl-D right behind it is none: libedit does this after. */
    el_set(e->edit, EL_PREP_TERM, 1);
    const char *line = el_gets(e->edit, &count);
    if (!line || count <= 0) {
        fputc('\n', isatty(STDOUT_FILENO) ? stdout : stderr);
        fflush(stdout);
        return ls__cli_take_interrupt() ? LS__LINE_CANCELLED : LS__LINE_END;
    }
    *text = line;
    *length = (size_t)count - (line[count - 1] == '\n');
    if (*length && e->history)
        history(e->history, &e->event, H_ENTER, line);
    return LS__LINE_READ;
}

ls__cli_line ls__cli_editor_read(ls__cli_editor *e, bool continues, const char **text,
                                 size_t *length)
{
    e->prompt = continues ? "... " : "> ";
    if (e->edit)
        return read_edited(e, text, length);
    ssize_t count = getline(&e->line, &e->capacity, stdin);
    if (count < 0)
        return LS__LINE_END;
    *text = e->line;
    *length = (size_t)count - (count && e->line[count - 1] == '\n');
    e->line[*length] = 0;
    return LS__LINE_READ;
}

void ls__cli_editor_close(ls__cli_editor **editor)
{
    ls__cli_editor *e = *editor;
    if (!e)
        return;
    if (e->history && e->history_path.length) /* for its owner alone: libedit sees to that */
        history(e->history, &e->event, H_SAVE, e->history_path.text);
    if (e->history)
        history_end(e->history);
    if (e->edit)
        el_end(e->edit);
    ls__strbuf_finish(&e->history_path);
    free(e->line);
    ls__mem_free(e);
    *editor = NULL;
}
