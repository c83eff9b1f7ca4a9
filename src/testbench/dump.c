/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/dump.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"

struct ls__dump {
    const ls_design *design;
    ls__os_appender *file;
    uint32_t *registers; /* signals */
    uint32_t count;
    uint64_t *words; /* of the widest */
    ls_error error;  /* of a write; code LS_OK: none */
};

static ls_status find_registers(ls__dump *d, ls_error *error)
{
    ls_design_info info = {.struct_size = sizeof info};
    uint32_t widest = 1;
    ls_design_describe(d->design, &info);
    d->registers = ls__mem_alloc(info.signal_count, sizeof *d->registers);
    if (!d->registers)
        return ls__fail_oom(error, info.signal_count * sizeof *d->registers);
    for (uint32_t i = 0; i < info.signal_count; i++) {
        ls_signal_info signal;
        ls_status status = ls_design_signal(d->design, i, &signal, error);
        if (status != LS_OK)
            return status;
        if (!signal.is_register || signal.is_alias || signal.width == 0)
            continue;
        d->registers[d->count++] = i;
        widest = signal.width > widest ? signal.width : widest;
    }
    d->words = ls__mem_alloc((widest + 63) / 64, sizeof *d->words);
    return d->words ? LS_OK : ls__fail_oom(error, widest / 8);
}

ls_status ls__dump_create(const ls_design *design, ls__dump **dump, ls_error *error)
{
    *dump = NULL;
    ls__dump *d = ls__mem_alloc(1, sizeof *d);
    if (!d)
        return ls__fail_oom(error, sizeof *d);
    d->design = design;
    ls_status status = find_registers(d, error);
    if (status != LS_OK)
        ls__dump_close(&d, NULL);
    *dump = d;
    return status;
}

ls_status ls__dump_open(ls__dump *dump, const char *path, ls_error *error)
{
    return ls__os_appender_open(path, 0, &dump->file, error);
}

static void append_value(ls__strbuf *out, const uint64_t *words, uint32_t width)
{
    ls__strbuf_printf(out, "%u'h", width);
    for (uint32_t digit = (width + 3) / 4; digit > 0; digit--)
        ls__strbuf_printf(out, "%x",
                          (unsigned)(words[(digit - 1) / 16] >> (digit - 1) % 16 * 4) & 15u);
}

ls_status ls__dump_edge(ls__dump *d, ls_cosim *cosim, uint64_t edge, uint64_t time_ps,
                        ls_error *error)
{
    ls__strbuf out = {0};
    ls_status status = LS_OK;
    if (d->error.code != LS_OK)
        return LS_OK;
    ls__strbuf_printf(&out, "edge %" PRIu64 " (%" PRIu64 " ps)\n", edge, time_ps);
    for (uint32_t i = 0; status == LS_OK && i < d->count; i++) {
        ls_signal_info info;
        status = ls_design_signal(d->design, d->registers[i], &info, error);
        if (status == LS_OK)
            status = ls_cosim_get(cosim, 0, (ls_signal_ref){d->registers[i], 0, info.width},
                                  d->words, error);
        ls__strbuf_printf(&out, "%s = ", info.name);
        append_value(&out, d->words, info.width);
        ls__strbuf_append(&out, "\n", 1);
    }
    if (status == LS_OK && out.failed)
        status = ls__fail_oom(error, out.capacity);
    if (status == LS_OK)
        ls__os_appender_write(d->file, out.text, out.length, &d->error);
    ls__strbuf_finish(&out);
    return status;
}

ls_status ls__dump_close(ls__dump **dump, ls_error *error)
{
    ls__dump *d = *dump;
    *dump = NULL;
    if (!d)
        return LS_OK;
    ls_status status = d->error.code;
    if (error && status != LS_OK)
        *error = d->error;
    ls_status closed = ls__os_appender_close(&d->file, status == LS_OK ? error : NULL);
    ls__mem_free(d->words);
    ls__mem_free(d->registers);
    ls__mem_free(d);
    return status == LS_OK ? closed : status;
}
