/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the text of a failing program smaller by trial, without understanding its syntax. */
#ifndef LS_CONFORM_REDUCE_H
#define LS_CONFORM_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Whether the program still fails as it did. A text that is no program does not. */
typedef bool ls__reduce_test(void *context, const char *text);

/* Appends the smallest text found that still fails; `text` itself must. At most `limit` trials. */
void ls__reduce(const char *text, uint32_t limit, ls__reduce_test *test, void *context,
                ls__strbuf *out);

#endif
