/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF64 relocatable objects of x86-64 and AArch64. Sections that are allocated are laid out in one
 * mapping, in three groups of pages: code (with a stub for each outside function), constants, data;
 * then the pages get their protection. Sections keep their alignment up to a page.
 *
 * Outside functions are reached through stubs, since a call reaches 2 GiB (x86-64) or 128 MiB only.
 * A reference through the global offset table is served by a table of one entry for each symbol.
 */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/cpu/loader.h"

enum { MAX_SECTIONS = 4096, STUB_BYTES = 16 };
static const uint64_t max_image_bytes = UINT64_C(1) << 31; /* so that 32-bit distances reach */

typedef enum group { CODE, CONSTANTS, DATA, GROUP_COUNT } group;

struct ls__cpu_object {
    uint8_t *image;
    size_t image_bytes;
    uint64_t group_end[GROUP_COUNT]; /* in the image, multiples of the page */
    uint64_t *places; /* by section: offset in the image, UINT64_MAX when not loaded */
    uint64_t *section_bytes;
    uint32_t section_count;
    Elf64_Sym *symbols;
    uint32_t symbol_count;
    char *names;
    size_t names_bytes;
    uint64_t stubs, got; /* offsets in the image */
};

typedef struct loader {
    const uint8_t *bytes;
    size_t size;
    ls__cpu_object *object;
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    ls_error *error;
    bool failed;
} loader;

static bool fail(loader *l, const char *what)
{
    if (!l->failed)
        ls__fail(l->error, LS_E_FORMAT, "code object: %s", what);
    l->failed = true;
    return false;
}

static bool no_memory(loader *l, size_t bytes)
{
    if (!l->failed)
        ls__fail_oom(l->error, bytes);
    l->failed = true;
    return false;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool in_file(const loader *l, uint64_t offset, uint64_t bytes)
{
    return offset <= l->size && bytes <= l->size - offset;
}

static bool read_header(loader *l)
{
#if defined(__x86_64__)
    const unsigned machine = EM_X86_64;
#else
    const unsigned machine = EM_AARCH64;
#endif
    if (l->size < sizeof l->header)
        return fail(l, "too short");
    memcpy(&l->header, l->bytes, sizeof l->header);
    if (memcmp(l->header.e_ident, ELFMAG, SELFMAG) != 0 ||
        l->header.e_ident[EI_CLASS] != ELFCLASS64 || l->header.e_ident[EI_DATA] != ELFDATA2LSB ||
        l->header.e_type != ET_REL)
        return fail(l, "not a relocatable ELF64 file");
    if (l->header.e_machine != machine)
        return fail(l, "for another machine");
    uint32_t count = l->header.e_shnum;
    if (count == 0 || count > MAX_SECTIONS || l->header.e_shentsize != sizeof(Elf64_Shdr) ||
        !in_file(l, l->header.e_shoff, (uint64_t)count * sizeof(Elf64_Shdr)))
        return fail(l, "bad section table");
    l->sections = ls__mem_alloc(count, sizeof *l->sections);
    l->object->places = ls__mem_alloc(count, sizeof *l->object->places);
    l->object->section_bytes = ls__mem_alloc(count, sizeof *l->object->section_bytes);
    if (!l->sections || !l->object->places || !l->object->section_bytes)
        return no_memory(l, count * sizeof *l->sections);
    memcpy(l->sections, l->bytes + l->header.e_shoff, count * sizeof *l->sections);
    l->object->section_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        l->object->places[i] = UINT64_MAX;
        if (s->sh_type != SHT_NOBITS && !in_file(l, s->sh_offset, s->sh_size))
            return fail(l, "a section is not in the file");
        if (s->sh_size > max_image_bytes)
            return fail(l, "a section is too large");
    }
    return true;
}

static bool read_symbols(loader *l)
{
    ls__cpu_object *o = l->object;
    for (uint32_t i = 0; i < o->section_count; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_SYMTAB)
            continue;
        if (o->symbols || s->sh_entsize != sizeof(Elf64_Sym) || s->sh_link >= o->section_count)
            return fail(l, "bad symbol table");
        const Elf64_Shdr *names = &l->sections[s->sh_link];
        if (names->sh_type != SHT_STRTAB || names->sh_size == 0 ||
            l->bytes[names->sh_offset + names->sh_size - 1] != 0)
            return fail(l, "bad table of names");
        o->symbol_count = (uint32_t)(s->sh_size / sizeof(Elf64_Sym));
        o->names_bytes = names->sh_size;
        o->symbols = ls__mem_alloc(o->symbol_count, sizeof *o->symbols);
        o->names = ls__mem_alloc(o->names_bytes, 1);
        if (!o->symbols || !o->names)
            return no_memory(l, s->sh_size);
        memcpy(o->symbols, l->bytes + s->sh_offset, o->symbol_count * sizeof *o->symbols);
        memcpy(o->names, l->bytes + names->sh_offset, o->names_bytes);
    }
    for (uint32_t i = 0; i < o->symbol_count; i++) {
        if (o->symbols[i].st_name >= o->names_bytes)
            return fail(l, "a symbol without a name");
    }
    return o->symbols ? true : fail(l, "no symbols");
}

/* --- layout ----------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

static group group_of(const Elf64_Shdr *s)
{
    return s->sh_flags & SHF_EXECINSTR ? CODE : s->sh_flags & SHF_WRITE ? DATA : CONSTANTS;
}

static bool lay_out(loader *l)
{
    ls__cpu_object *o = l->object;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = 0;
    for (group g = CODE; g < GROUP_COUNT; g++) {
        for (uint32_t i = 0; i < o->section_count; i++) {
            const Elf64_Shdr *s = &l->sections[i];
            if (!(s->sh_flags & SHF_ALLOC) || group_of(s) != g)
                continue;
            uint64_t alignment = s->sh_addralign ? s->sh_addralign : 1;
            if (alignment > page || (alignment & (alignment - 1)) != 0)
                return fail(l, "bad alignment");
            end = round_up(end, alignment);
            o->places[i] = end;
            o->section_bytes[i] = s->sh_size;
            end += s->sh_size;
            if (end > max_image_bytes)
                return fail(l, "too large");
        }
        if (g == CODE) {
            o->stubs = end = round_up(end, STUB_BYTES);
            end += (uint64_t)o->symbol_count * STUB_BYTES;
        } else if (g == CONSTANTS) {
            o->got = end = round_up(end, 8);
            end += (uint64_t)o->symbol_count * 8;
        }
        if (end > max_image_bytes)
            return fail(l, "too large");
        o->group_end[g] = end = round_up(end, page);
    }
    o->image_bytes = end;
    void *image = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED)
        return no_memory(l, end);
    o->image = image;
    for (uint32_t i = 0; i < o->section_count; i++) {
        if (o->places[i] != UINT64_MAX && l->sections[i].sh_type != SHT_NOBITS)
            memcpy(o->image + o->places[i], l->bytes + l->sections[i].sh_offset,
                   l->sections[i].sh_size);
    }
    return true;
}

/* --- symbols ---------------------------------------------------------------------------------- */

static uint64_t outside(const char *name)
{
    if (strcmp(name, "memcpy") == 0)
        return (uint64_t)(uintptr_t)memcpy;
    if (strcmp(name, "memset") == 0)
        return (uint64_t)(uintptr_t)memset;
    if (strcmp(name, "memmove") == 0)
        return (uint64_t)(uintptr_t)memmove;
    return 0;
}

/* Writes the stub of symbol `index`, which jumps to `to`. */
static uint64_t make_stub(const ls__cpu_object *o, uint32_t index, uint64_t to)
{
    uint8_t *stub = o->image + o->stubs + (uint64_t)index * STUB_BYTES;
#if defined(__x86_64__)
    static const uint8_t jump[] = {0xff, 0x25, 2, 0, 0, 0, 0x90, 0x90}; /* jmp *2(%rip); nop; nop */
#else
    static const uint8_t jump[] = {0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6}; /* ldr x16, 8; br x16 */
#endif
    memcpy(stub, jump, sizeof jump);
    memcpy(stub + sizeof jump, &to, sizeof to);
    return (uint64_t)(uintptr_t)stub;
}

static bool symbol_address(loader *l, uint32_t index, uint64_t *address)
{
    const ls__cpu_object *o = l->object;
    if (index >= o->symbol_count)
        return fail(l, "a relocation names no symbol");
    const Elf64_Sym *s = &o->symbols[index];
    if (s->st_shndx == SHN_UNDEF) {
        uint64_t to = outside(o->names + s->st_name);
        if (to == 0)
            return fail(l, "it calls something that it may not");
        *address = make_stub(o, index, to);
        return true;
    }
    if (s->st_shndx >= o->section_count || o->places[s->st_shndx] == UINT64_MAX ||
        s->st_value > o->section_bytes[s->st_shndx])
        return fail(l, "a symbol is nowhere");
    *address = (uint64_t)(uintptr_t)(o->image + o->places[s->st_shndx]) + s->st_value;
    return true;
}

static uint64_t got_entry(const ls__cpu_object *o, uint32_t index, uint64_t address)
{
    uint8_t *entry = o->image + o->got + (uint64_t)index * 8;
    memcpy(entry, &address, 8);
    return (uint64_t)(uintptr_t)entry;
}

/* --- relocation ------------------------------------------------------------------------------- */

typedef struct fixup {
    uint8_t *at;
    uint64_t room;   /* bytes from `at` to the end of the section */
    uint64_t place;  /* address of `at` */
    uint64_t symbol; /* address */
    int64_t addend;
    uint32_t index;
} fixup;

static bool put64(loader *l, const fixup *f, uint64_t value)
{
    if (f->room < 8)
        return fail(l, "a relocation outside of its section");
    memcpy(f->at, &value, 8);
    return true;
}

static bool put32(loader *l, const fixup *f, uint64_t value, bool is_signed)
{
    int64_t as_signed = (int64_t)value;
    if (f->room < 4)
        return fail(l, "a relocation outside of its section");
    if (is_signed ? as_signed < INT32_MIN || as_signed > INT32_MAX : value > UINT32_MAX)
        return fail(l, "a distance is too large");
    uint32_t low = (uint32_t)value;
    memcpy(f->at, &low, 4);
    return true;
}

#if defined(__x86_64__)

static bool apply(loader *l, uint32_t type, const fixup *f)
{
    uint64_t value = f->symbol + (uint64_t)f->addend;
    switch (type) {
    case R_X86_64_NONE:
        return true;
    case R_X86_64_64:
        return put64(l, f, value);
    case R_X86_64_PC64:
        return put64(l, f, value - f->place);
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        return put32(l, f, value - f->place, true);
    case R_X86_64_32:
        return put32(l, f, value, false);
    case R_X86_64_32S:
        return put32(l, f, value, true);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        value = got_entry(l->object, f->index, f->symbol) + (uint64_t)f->addend;
        return put32(l, f, value - f->place, true);
    default:
        return fail(l, "a relocation of unknown type");
    }
}

#else

/* Replaces the bits of `mask` in the instruction. */
static bool patch(loader *l, const fixup *f, uint32_t mask, uint32_t bits)
{
    uint32_t word;
    if (f->room < 4)
        return fail(l, "a relocation outside of its section");
    memcpy(&word, f->at, 4);
    word = (word & ~mask) | (bits & mask);
    memcpy(f->at, &word, 4);
    return true;
}

static bool patch_page(loader *l, const fixup *f, uint64_t value)
{
    int64_t pages = (int64_t)((value & ~UINT64_C(0xfff)) - (f->place & ~UINT64_C(0xfff))) >> 12;
    if (pages < -(1 << 20) || pages >= 1 << 20)
        return fail(l, "a distance is too large");
    uint32_t bits = ((uint32_t)pages & 3) << 29 | ((uint32_t)pages >> 2 & 0x7ffff) << 5;
    return patch(l, f, 3u << 29 | 0x7ffffu << 5, bits);
}

static bool patch_low(loader *l, const fixup *f, uint64_t value, unsigned scale)
{
    if ((value & ((UINT64_C(1) << scale) - 1)) != 0)
        return fail(l, "an address is not aligned");
    return patch(l, f, 0xfffu << 10, (uint32_t)(value & 0xfff) >> scale << 10);
}

static bool apply(loader *l, uint32_t type, const fixup *f)
{
    uint64_t value = f->symbol + (uint64_t)f->addend;
    int64_t distance = (int64_t)(value - f->place);
    switch (type) {
    case R_AARCH64_NONE:
        return true;
    case R_AARCH64_ABS64:
        return put64(l, f, value);
    case R_AARCH64_PREL64:
        return put64(l, f, (uint64_t)distance);
    case R_AARCH64_PREL32:
        return put32(l, f, (uint64_t)distance, true);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        if (distance < -(1 << 27) || distance >= 1 << 27)
            return fail(l, "a distance is too large");
        return patch(l, f, 0x3ffffff, (uint32_t)(distance >> 2));
    case R_AARCH64_ADR_PREL_PG_HI21:
        return patch_page(l, f, value);
    case R_AARCH64_ADR_GOT_PAGE:
        return patch_page(l, f, got_entry(l->object, f->index, f->symbol));
    case R_AARCH64_LD64_GOT_LO12_NC:
        return patch_low(l, f, got_entry(l->object, f->index, f->symbol), 3);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        return patch_low(l, f, value, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC:
        return patch_low(l, f, value, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
        return patch_low(l, f, value, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
        return patch_low(l, f, value, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC:
        return patch_low(l, f, value, 4);
    default:
        return fail(l, "a relocation of unknown type");
    }
}

#endif

static bool relocate(loader *l, const Elf64_Shdr *section)
{
    const ls__cpu_object *o = l->object;
    uint32_t target = section->sh_info;
    if (target >= o->section_count || section->sh_entsize != sizeof(Elf64_Rela))
        return fail(l, "bad relocations");
    if (o->places[target] == UINT64_MAX) /* of debug information and the like */
        return true;
    for (uint64_t i = 0; i < section->sh_size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela r;
        memcpy(&r, l->bytes + section->sh_offset + i * sizeof r, sizeof r);
        if (r.r_offset > o->section_bytes[target])
            return fail(l, "a relocation outside of its section");
        fixup f = {.at = o->image + o->places[target] + r.r_offset,
                   .room = o->section_bytes[target] - r.r_offset,
                   .addend = r.r_addend,
                   .index = (uint32_t)ELF64_R_SYM(r.r_info)};
        f.place = (uint64_t)(uintptr_t)f.at;
        if (!symbol_address(l, f.index, &f.symbol) ||
            !apply(l, (uint32_t)ELF64_R_TYPE(r.r_info), &f))
            return false;
    }
    return true;
}

static bool relocate_all(loader *l)
{
    for (uint32_t i = 0; i < l->object->section_count; i++) {
        if (l->sections[i].sh_type == SHT_REL)
            return fail(l, "bad relocations");
        if (l->sections[i].sh_type == SHT_RELA && !relocate(l, &l->sections[i]))
            return false;
    }
    return true;
}

static bool protect(loader *l)
{
    static const int protection[GROUP_COUNT] = {PROT_READ | PROT_EXEC, PROT_READ,
                                                PROT_READ | PROT_WRITE};
    const ls__cpu_object *o = l->object;
    uint64_t begin = 0;
    for (group g = CODE; g < GROUP_COUNT; g++) {
        uint64_t bytes = o->group_end[g] - begin;
        if (bytes != 0 && mprotect(o->image + begin, bytes, protection[g]) != 0)
            return fail(l, "the system refuses executable memory");
        begin = o->group_end[g];
    }
    __builtin___clear_cache((char *)o->image, (char *)o->image + o->group_end[CODE]);
    return true;
}

/* --- the calls -------------------------------------------------------------------------------- */

ls_status ls__cpu_object_load(const void *bytes, size_t size, ls__cpu_object **object,
                              ls_error *error)
{
    ls_error own = {0};
    loader l = {.bytes = bytes, .size = size, .error = error ? error : &own};
    l.object = ls__mem_alloc(1, sizeof *l.object);
    *object = l.object;
    if (!l.object)
        return ls__fail_oom(error, sizeof *l.object);
    bool good =
        read_header(&l) && read_symbols(&l) && lay_out(&l) && relocate_all(&l) && protect(&l);
    ls__mem_free(l.sections);
    if (good)
        return LS_OK;
    ls__cpu_object_unload(object);
    return l.error->code;
}

void ls__cpu_object_unload(ls__cpu_object **object)
{
    ls__cpu_object *o = *object;
    if (!o)
        return;
    if (o->image)
        munmap(o->image, o->image_bytes);
    ls__mem_free(o->places);
    ls__mem_free(o->section_bytes);
    ls__mem_free(o->symbols);
    ls__mem_free(o->names);
    ls__mem_free(o);
    *object = NULL;
}

void *ls__cpu_object_symbol(const ls__cpu_object *object, const char *name, size_t bytes)
{
    for (uint32_t i = 1; i < object->symbol_count; i++) {
        const Elf64_Sym *s = &object->symbols[i];
        if (ELF64_ST_BIND(s->st_info) != STB_GLOBAL || s->st_shndx >= object->section_count ||
            s->st_shndx == SHN_UNDEF || strcmp(object->names + s->st_name, name) != 0)
            continue;
        uint64_t place = object->places[s->st_shndx], room = object->section_bytes[s->st_shndx];
        if (place == UINT64_MAX || s->st_value > room || bytes > room - s->st_value)
            return NULL;
        return object->image + place + s->st_value;
    }
    return NULL;
}
