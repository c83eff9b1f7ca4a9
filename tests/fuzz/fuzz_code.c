/* SPDX-License-Identifier: Apache-2.0 */
/* Code made ahead (src/core/package.c). The first byte says how the others are taken: as they are,
 * or behind versions that are right, so that what follows is looked at. The digest is right. */
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "core/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void put_u32(ls__strbuf *out, uint32_t value)
{
    const char bytes[4] = {(char)value, (char)(value >> 8), (char)(value >> 16),
                           (char)(value >> 24)};
    ls__strbuf_append(out, bytes, sizeof bytes);
}

static void put_text(ls__strbuf *out, const char *text)
{
    put_u32(out, (uint32_t)strlen(text));
    ls__strbuf_append(out, text, strlen(text) + 1);
}

static void put_versions(ls__strbuf *out)
{
    const ls__registry_entry *entry = ls__registry;
    while (!entry->suits || !entry->suits("vulkan1.2", "vulkan1.2"))
        entry++;
    ls__strbuf_append(out, "LSAOT01", 8);
    put_u32(out, LS_CONTRACT_VERSION);
    put_u32(out, LS_IR_VERSION);
    put_u32(out, entry->code_version);
    put_text(out, LS_VERSION_STRING);
    put_text(out, entry->backend->family);
    put_text(out, "vulkan1.2");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    ls__strbuf whole = {0};
    ls_code_info info = {.struct_size = sizeof info};
    if (size > 1 << 16)
        return 0;
    if (size && bytes[0] & 1)
        put_versions(&whole);
    if (size > 1)
        ls__strbuf_append(&whole, (const char *)bytes + 1, size - 1);
    ls__digest digest = ls__digest_of(whole.text ? whole.text : "", whole.length);
    ls__strbuf_append(&whole, (const char *)digest.bytes, sizeof digest.bytes);
    ls_status status = ls_code_describe(whole.text, whole.length, &info, NULL);
    if (status == LS_OK)
        ls__hash64(info.code, info.code_size, 0); /* all of it can be read */
    ls__strbuf_finish(&whole);
    return 0;
}
