/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/commands.h"

#include <setjmp.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "testbench/events.h"
#include "testbench/json_read.h"

typedef enum type { WAIT, ACTION, STOP } type;

typedef struct command {
    type type;
    uint32_t source, kind; /* wait: the event; action: the peripheral */
    uint64_t value;        /* wait: the event's a */
    const json_t *payload; /* wait */
    const char *reason;    /* stop */
} command;

/* Where an instance is: commands before `next` have been reached, actions before `taken` done. */
typedef struct position {
    uint32_t next, taken;
} position;

struct ls__commands {
    ls__arena arena;
    ls__json_reader reader;
    json_t *root;
    const ls__plan *plan;
    command *items;
    uint32_t count;
    position *positions; /* [instances] */
};

static const char *const command_keys[] = {"type",    "peripheral", "event",
                                           "payload", "reason",     NULL};

/* --- reading ---------------------------------------------------------------------------------- */

static void read_wait(ls__commands *c, const char *peripheral, const char *event,
                      const json_t *payload, command *made)
{
    bool exists = false;
    for (uint32_t i = 0; i < c->plan->peripheral_count; i++) {
        const ls__model *model = &c->plan->models[i];
        if (strcmp(model->name, peripheral) != 0)
            continue;
        exists = true;
        if (ls__event_find(model, event, payload, &made->kind, &made->value)) {
            made->type = WAIT;
            made->source = i;
            made->payload = payload;
            return;
        }
    }
    if (exists)
        ls__json_fail(&c->reader, "%s has no event %s", peripheral, event);
    else
        ls__json_fail(&c->reader, "there is no peripheral %s", peripheral);
}

/* An MSB-first text of bits, one for each pin. */
static uint64_t read_bits(ls__commands *c, const ls__model *model, const json_t *payload)
{
    uint64_t value = 0;
    const char *text = json_string_value(payload);
    if (!text || strlen(text) != model->pin_count || strspn(text, "01Zz") != model->pin_count) {
        ls__json_fail(&c->reader, "payload must be %u characters 0, 1 or Z", model->pin_count);
        return 0;
    }
    for (; *text; text++)
        value = value << 1 | (*text == '1');
    return value;
}

static void read_action(ls__commands *c, const char *peripheral, const char *event,
                        const json_t *payload, command *made)
{
    bool exists = false;
    for (uint32_t i = 0; i < c->plan->peripheral_count; i++) {
        const ls__model *model = &c->plan->models[i];
        if (strcmp(model->name, peripheral) != 0)
            continue;
        exists = true;
        bool is_tx = model->kind == LS__MODEL_UART_RX && strcmp(event, "tx") == 0;
        bool is_set = model->kind == LS__MODEL_GPIO && strcmp(event, "set") == 0;
        if (!is_tx && !is_set)
            continue;
        made->type = ACTION;
        made->source = i;
        if (is_set)
            made->value = read_bits(c, model, payload);
        else
            made->value = ls__json_value(&c->reader, payload, 511);
        return;
    }
    if (exists)
        ls__json_fail(&c->reader, "%s has no action %s", peripheral, event);
    else
        ls__json_fail(&c->reader, "there is no peripheral %s", peripheral);
}

static void read_command(ls__commands *c, const json_t *object, command *made)
{
    ls__json_reader *r = &c->reader;
    if (!json_is_object(object)) {
        ls__json_fail(r, "must be an object");
        return;
    }
    ls__json_check_keys(r, object, command_keys);
    const char *kind = ls__json_text(r, object, "type");
    bool is_wait = kind && strcmp(kind, "wait") == 0,
         is_action = kind && strcmp(kind, "action") == 0;
    if (kind && strcmp(kind, "stop") == 0) {
        made->type = STOP;
        made->reason = ls__json_text(r, object, "reason");
        if (!made->reason)
            made->reason = "";
        return;
    }
    if (!is_wait && !is_action) {
        ls__json_fail(r, "type must be wait, action or stop");
        return;
    }
    ls__json_get(r, object, "peripheral", true);
    ls__json_get(r, object, "event", true);
    const char *peripheral = ls__json_text(r, object, "peripheral");
    const char *event = ls__json_text(r, object, "event");
    const json_t *payload = ls__json_get(r, object, "payload", true);
    if (r->status != LS_OK)
        return;
    if (is_wait)
        read_wait(c, peripheral, event, payload, made);
    else
        read_action(c, peripheral, event, payload, made);
}

static void read_all(ls__commands *c)
{
    ls__json_reader *r = &c->reader;
    static const char *const keys[] = {"commands", NULL};
    ls__json_check_keys(r, c->root, keys);
    ls__json_get(r, c->root, "commands", true);
    const json_t *array = ls__json_array(r, c->root, "commands");
    size_t count = json_array_size(array), outer = ls__json_enter(r, "commands");
    if (count > UINT32_MAX / 2)
        count = 0;
    c->items = LS__NEW_ARRAY(&c->arena, command, count + 1);
    for (; c->count < count && r->status == LS_OK; c->count++) {
        size_t place = ls__json_enter_at(r, c->count);
        read_command(c, json_array_get(array, c->count), &c->items[c->count]);
        ls__json_leave(r, place);
    }
    ls__json_leave(r, outer);
}

static void reach(ls__commands *c, position *p)
{
    while (p->next < c->count && c->items[p->next].type == ACTION)
        p->next++;
}

ls_status ls__commands_read(const char *text, size_t length, const char *name, const ls__plan *plan,
                            uint32_t instances, ls__commands **commands, ls_error *error)
{
    ls__oom oom;
    ls_status status;
    *commands = NULL;
    ls__commands *c = ls__mem_alloc(1, sizeof *c);
    if (!c)
        return ls__fail_oom(error, sizeof *c);
    c->plan = plan;
    c->reader = (ls__json_reader){.name = name, .arena = &c->arena, .error = error};
    ls__arena_init(&c->arena, &oom, 0);
    if (setjmp(oom.jump)) {
        status = ls__oom_status(&oom, error);
    } else {
        c->root = ls__json_parse(&c->reader, text, length);
        if (c->root)
            read_all(c);
        c->positions = LS__NEW_ARRAY(&c->arena, position, instances);
        for (uint32_t i = 0; c->reader.status == LS_OK && i < instances; i++)
            reach(c, &c->positions[i]); /* actions before any wait are due at once */
        status = c->reader.status;
    }
    if (status != LS_OK)
        ls__commands_destroy(&c);
    *commands = c;
    return status;
}

void ls__commands_destroy(ls__commands **commands)
{
    ls__commands *c = *commands;
    *commands = NULL;
    if (!c)
        return;
    json_decref(c->root);
    ls__strbuf_finish(&c->reader.path);
    ls__arena_finish(&c->arena);
    ls__mem_free(c);
}

/* --- following -------------------------------------------------------------------------------- */

static const command *current(const ls__commands *c, uint32_t instance)
{
    uint32_t next = c->positions[instance].next;
    return next < c->count ? &c->items[next] : NULL;
}

bool ls__commands_waits(const ls__commands *c, uint32_t instance, uint32_t *source, uint32_t *kind,
                        uint64_t *a)
{
    const command *now = current(c, instance);
    if (!now || now->type != WAIT)
        return false;
    *source = now->source;
    *kind = now->kind;
    *a = now->value;
    return true;
}

bool ls__commands_event(ls__commands *c, const ls_cosim_event *event)
{
    const command *now = current(c, event->instance);
    if (!now || now->type != WAIT || now->source != event->source || now->kind != event->kind)
        return false;
    json_t *payload =
        ls__event_payload(&c->plan->models[event->source], event->kind, event->a, event->b);
    bool matches = payload && json_equal(payload, now->payload);
    json_decref(payload);
    if (!matches)
        return false;
    c->positions[event->instance].next++;
    reach(c, &c->positions[event->instance]);
    return true;
}

bool ls__commands_action(ls__commands *c, uint32_t instance, uint32_t *source, uint64_t *value)
{
    position *p = &c->positions[instance];
    for (; p->taken < p->next; p->taken++)
        if (c->items[p->taken].type == ACTION) {
            *source = c->items[p->taken].source;
            *value = c->items[p->taken++].value;
            return true;
        }
    return false;
}

const char *ls__commands_stopped(const ls__commands *c, uint32_t instance)
{
    const command *now = current(c, instance);
    return now && now->type == STOP ? now->reason : NULL;
}

uint32_t ls__commands_left(const ls__commands *c, uint32_t instance)
{
    return c->count - c->positions[instance].next;
}
