/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of JSON objects, with the place in messages: "config.json: .uarts[1].baud_rate: ...". */
#ifndef LS_TESTBENCH_JSON_READ_H
#define LS_TESTBENCH_JSON_READ_H

#include <jansson.h>

#include "base/arena.h"
#include "base/str.h"
#include "lockstep/base.h"

typedef struct ls__json_reader {
    const char *name; /* of the file */
    void (*warn)(void *context, const char *message);
    void *context;
    ls__arena *arena; /* of what is handed out */
    ls__strbuf path;
    ls_status status; /* of the first failure; all calls do nothing after it */
    ls_error *error;
} ls__json_reader;

/* The whole text; NULL after a failure, else json_decref. */
json_t *ls__json_parse(ls__json_reader *reader, const char *text, size_t length);

void ls__json_fail(ls__json_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Goes to a member or an element; answers where it came from, for `leave`. */
size_t ls__json_enter(ls__json_reader *reader, const char *key);
size_t ls__json_enter_at(ls__json_reader *reader, size_t index);
void ls__json_leave(ls__json_reader *reader, size_t place);

/* Keys that are not in the list, which NULL ends, and do not begin with '_' are warned of. */
void ls__json_check_keys(ls__json_reader *reader, const json_t *object, const char *const *keys);

/* Warns of a member that is read by nobody. */
void ls__json_ignore(ls__json_reader *reader, const json_t *object, const char *key);

/* The path that stands in messages, ".uarts[1]", in the arena. */
const char *ls__json_place(ls__json_reader *reader);

/* A member; NULL when it is not there or null, which is a failure where it is needed. */
const json_t *ls__json_get(ls__json_reader *reader, const json_t *object, const char *key,
                           bool is_needed);
/* Members of a type; when they are not there, `value` or NULL. */
uint64_t ls__json_number(ls__json_reader *reader, const json_t *object, const char *key,
                         uint64_t maximum, uint64_t value);
/* `value` need not be from the minimum on. */
uint64_t ls__json_number_from(ls__json_reader *reader, const json_t *object, const char *key,
                              uint64_t minimum, uint64_t maximum, uint64_t value);
bool ls__json_bool(ls__json_reader *reader, const json_t *object, const char *key, bool value);
const char *ls__json_text(ls__json_reader *reader, const json_t *object, const char *key);
const json_t *ls__json_array(ls__json_reader *reader, const json_t *object, const char *key);
const json_t *ls__json_object(ls__json_reader *reader, const json_t *object, const char *key);
/* The value itself: a number that is not negative, or true or false as 1 and 0, or text such as
 * "0x1f". */
uint64_t ls__json_value(ls__json_reader *reader, const json_t *value, uint64_t maximum);
/* The value itself as text, in the arena. */
const char *ls__json_string(ls__json_reader *reader, const json_t *value);

#endif
