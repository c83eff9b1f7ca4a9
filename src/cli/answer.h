/* SPDX-License-Identifier: Apache-2.0 */
/* Text that a model makes, shown while it comes: whole characters only, nothing that steers a
 * terminal, and never a part of what may become a stop text. */
#ifndef LS_CLI_ANSWER_H
#define LS_CLI_ANSWER_H

#include <argp.h>

#include "base/str.h"
#include "lockstep/tokenizer.h"

enum { LS__STOPS = 16 };

/* Begins as zeros and stops. */
typedef struct ls__cli_answer {
    const char *stops[LS__STOPS]; /* none is empty */
    uint32_t stop_count;
    bool keeps; /* what is shown is also appended to `kept`, as it came */
    ls__strbuf kept;
    ls__strbuf pending; /* not shown yet */
} ls__cli_answer;

/* A value of --stop; a wrong one ends the program. */
void ls__cli_stop_option(const struct argp_state *state, ls__cli_answer *answer, const char *text);

/* Shows a token more, as far as it can be shown. Control tokens have no text. *ended: a stop text
 * has come, which is not shown, or nobody can be shown anything any more; nothing follows. */
ls_status ls__cli_answer_add(ls__cli_answer *answer, const ls_token *token, bool *ended,
                             ls_error *error);
/* Shows what is left; another answer may follow. */
void ls__cli_answer_end(ls__cli_answer *answer);
void ls__cli_answer_finish(ls__cli_answer *answer);

#endif
