/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a configuration cannot be meant together: inputs that two parts of it drive, names that
 * two have. An error names both places; where both may be meant, as memories that share a bus, it
 * is a note at most.
 */
#include <stdlib.h>
#include <string.h>

#include "testbench/plan_private.h"

static bool overlaps(ls_signal_ref a, ls_signal_ref b)
{
    return a.width && b.width && a.signal == b.signal && a.bit < b.bit + b.width &&
           b.bit < a.bit + a.width;
}

static bool is_same(ls_signal_ref a, ls_signal_ref b)
{
    return a.signal == b.signal && a.bit == b.bit && a.width == b.width;
}

typedef enum severity { QUIET, NOTE, ERROR } severity;

/* `a` was claimed before `b`. */
static severity judge(const ls__claim *a, const ls__claim *b)
{
    bool both_pins = a->kind == LS__CLAIM_PIN && b->kind == LS__CLAIM_PIN;
    if (both_pins && a->model == LS__MODEL_FLASH && b->model == LS__MODEL_FLASH &&
        a->owner != b->owner) /* a shared bus, unless both are selected at once */
        return is_same(a->select, b->select) ? NOTE : QUIET;
    /* What a user's source leaves alone stays: they may drive an input in turn. */
    if (a->is_users || b->is_users)
        return NOTE;
    if (b->kind != LS__CLAIM_PIN || both_pins)
        return ERROR;
    /* A pin on a clock, a constant or the reset. */
    if (a->kind == LS__CLAIM_CLOCK && b->model == LS__MODEL_JTAG)
        return QUIET; /* TCK: then the schedule leaves it alone */
    return a->kind == LS__CLAIM_CLOCK ? ERROR : NOTE;
}

void ls__planner_claim(ls__planner *p, ls__claim claim)
{
    ls_signal_info info = {.name = "?"};
    if (p->status != LS_OK || claim.signal.width == 0)
        return;
    for (uint32_t i = 0; i < p->claims.count; i++) {
        const ls__claim *other = &p->claims.items[i];
        severity found = overlaps(other->signal, claim.signal) ? judge(other, &claim) : QUIET;
        ls_design_signal(p->params.design, claim.signal.signal, &info, NULL);
        if (found == ERROR)
            ls__planner_fail(p, LS_E_FORMAT, "%s and %s are both the input %s", other->place,
                             claim.place, info.name);
        else if (found == NOTE)
            ls__planner_warn(p, "%s: %s and %s both drive %s", p->params.config_path, other->place,
                             claim.place, info.name);
    }
    ls__vec_push(&p->arena, &p->claims, claim);
}

void ls__planner_name(ls__planner *p, const ls__model *model, const char *place)
{
    for (uint32_t i = 0; i < p->models.count; i++) {
        const ls__model *other = &p->models.items[i];
        bool are_halves = (other->kind == LS__MODEL_UART_TX && model->kind == LS__MODEL_UART_RX) ||
                          (other->kind == LS__MODEL_UART_RX && model->kind == LS__MODEL_UART_TX);
        if (strcmp(other->name, model->name) != 0)
            continue;
        /* Both halves of an entry have its name; in `peripherals` they are two entries. */
        if (are_halves &&
            (strcmp(p->places.items[i], place) == 0 || strncmp(place, ".peripherals", 12) == 0))
            continue;
        ls__planner_fail(p, LS_E_FORMAT, "%s and %s have the same name, %s", p->places.items[i],
                         place, model->name);
    }
    ls__vec_push(&p->arena, &p->places, place);
}
