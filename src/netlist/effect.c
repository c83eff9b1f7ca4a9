/* SPDX-License-Identifier: Apache-2.0 */
/*
 * $print, $check, $assert and $assume. $check of flavor live, fair or cover says nothing about a
 * run of finite length and is left out, as are the cells $live, $fair and $cover.
 */
#include "netlist/reader.h"

#include <string.h>

static ls__nets port_of_width(ls__reader *reader, const char *port, const char *parameter)
{
    ls__raw_connection *connection = ls__raw_connected(&reader->raw, ls__str_from(port));
    uint32_t count = connection ? connection->count : 0;
    int64_t width = ls__raw_integer(reader, parameter, count);
    if (width < 0 || width > INT32_MAX)
        ls__reader_fail(reader, LS_E_FORMAT, "parameter %s is negative or too large", parameter);
    return ls__raw_port(reader, ls__str_from(port), (uint32_t)width, false);
}

static void take_triggers(ls__reader *reader, ls__effect *effect)
{
    ls__nets triggers = port_of_width(reader, "TRG", "TRG_WIDTH");
    if (!ls__raw_flag(reader, "TRG_ENABLE", false))
        return;
    ls__bits polarity = ls__raw_bits(reader, "TRG_POLARITY", triggers.count, LS__BIT_0);
    bool *rising = ls__pack_take(&reader->kept, triggers.count, sizeof *rising);
    for (uint32_t i = 0; i < triggers.count; i++)
        rising[i] = polarity.items[i] == LS__BIT_1;
    effect->triggers = triggers;
    effect->trigger_rising = rising;
    effect->initial = triggers.count == 0;
}

void ls__convert_effect(ls__reader *reader)
{
    const char *type = reader->raw.plan->name;
    ls__effect effect = {.name = reader->raw.name, .source = reader->raw.source, .format = ""};
    effect.enable = ls__raw_port(reader, ls__str_from("EN"), 1, false);
    if (strcmp(type, "$print") != 0)
        effect.condition = ls__raw_port(reader, ls__str_from("A"), 1, false);
    if (strcmp(type, "$assert") == 0 || strcmp(type, "$assume") == 0) {
        effect.kind = strcmp(type, "$assert") == 0 ? LS__EFFECT_ASSERT : LS__EFFECT_ASSUME;
    } else {
        effect.format = ls__raw_text(reader, "FORMAT");
        effect.priority = (int32_t)ls__raw_integer(reader, "PRIORITY", 0);
        effect.arguments = port_of_width(reader, "ARGS", "ARGS_WIDTH");
        take_triggers(reader, &effect);
    }
    if (strcmp(type, "$check") == 0) {
        const char *flavor = ls__raw_text(reader, "FLAVOR");
        if (strcmp(flavor, "live") == 0 || strcmp(flavor, "fair") == 0) {
            reader->ignored_liveness++;
            return;
        }
        if (strcmp(flavor, "cover") == 0)
            return;
        if (strcmp(flavor, "assert") != 0 && strcmp(flavor, "assume") != 0)
            ls__reader_fail(reader, LS_E_UNSUPPORTED, "parameter FLAVOR is '%s'", flavor);
        effect.kind = strcmp(flavor, "assert") == 0 ? LS__EFFECT_ASSERT : LS__EFFECT_ASSUME;
    }
    *(ls__effect *)ls__list_add(&reader->scratch, &reader->module->effects) = effect;
}
