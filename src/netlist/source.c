/* SPDX-License-Identifier: Apache-2.0 */
#include "netlist/source.h"

#include <string.h>

ls_status ls__source_open(ls__source *source, const ls__netlist_params *params, ls_error *error)
{
    *source = (ls__source){.text = params->text, .length = params->length};
    ls__digester_init(&source->digester);
    return params->text ? LS_OK : ls__os_reader_open(params->path, &source->file, error);
}

ls_status ls__source_read(void *context, void *bytes, size_t capacity, size_t *size,
                          ls_error *error)
{
    ls__source *source = context;
    if (source->file) {
        ls_status status = ls__os_reader_read(source->file, bytes, capacity, size, error);
        if (status != LS_OK)
            return status;
    } else {
        *size = source->length < capacity ? source->length : capacity;
        if (*size)
            memcpy(bytes, source->text, *size);
        source->text += *size;
        source->length -= *size;
    }
    ls__digester_add(&source->digester, bytes, *size);
    return LS_OK;
}

ls__digest ls__source_close(ls__source *source)
{
    ls__os_reader_close(&source->file);
    return ls__digester_finish(&source->digester);
}
