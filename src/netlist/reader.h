/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the reader share. A module of the file becomes a template (ls__template) whose
 * nets are numbered for itself; flatten.c instantiates templates into the netlist, from the top
 * down. A cell of the file is gathered into `raw`, which is reused, and then becomes what its type
 * (ls__cell_plan, from cells.def) says.
 *
 * Nearly everything is arena memory; a fault leaves by ls__reader_fail, a long jump like running
 * out of memory (base/arena.h). `scratch` holds templates and ends with the reading; `keep` is the
 * netlist's. Names, texts and constants do not change from instance to instance and are in `keep`
 * from the start.
 */
#ifndef LS_NETLIST_READER_H
#define LS_NETLIST_READER_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "netlist/json.h"
#include "netlist/netlist.h"

/* --- memory ----------------------------------------------------------------------------------- */
/* Small pieces without the 16 bytes that an arena gives each. */
typedef struct ls__pack {
    ls__arena *arena;
    char *at;
    size_t left;
} ls__pack;
void *ls__pack_take(ls__pack *pack, size_t count, size_t size); /* aligned to 4; not zeroed */

/* A long list in blocks: growing it copies nothing. */
typedef struct ls__list_block {
    struct ls__list_block *next;
    uint32_t count, capacity;
} ls__list_block;
typedef struct ls__list {
    ls__list_block *first, *last;
    uint32_t count, item_bytes;
} ls__list;
void *ls__list_add(ls__arena *arena, ls__list *list); /* a zeroed item */
void *ls__list_item(ls__list_block *block, uint32_t item_bytes, uint32_t index);
/* for (type *item in list) ...; no break */
#define LS__LIST_EACH(type, item, list)                                                            \
    for (ls__list_block *item##_block = (list)->first; item##_block;                               \
         item##_block = item##_block->next)                                                        \
        for (__typeof__(type) *item = ls__list_item(item##_block, 0, 0),                           \
                              *item##_end = item + item##_block->count;                            \
             item < item##_end; item++)

/* Texts, each once, with a value. */
typedef struct ls__name {
    uint64_t hash;
    void *value;
    uint32_t length;
    char text[];
} ls__name;
typedef struct ls__names {
    ls__name **slots;
    uint32_t count, capacity; /* capacity: 0 or a power of two */
} ls__names;
ls__name *ls__names_put(ls__arena *arena, ls__names *names, ls__str text, bool *added);
ls__name *ls__names_find(const ls__names *names, ls__str text); /* NULL: not there */

/* Texts of others, each once: smaller. */
typedef struct ls__text_set {
    struct {
        const char *text;
        uint32_t hash;
    } * slots;
    uint32_t count, capacity;
} ls__text_set;
bool ls__text_set_add(ls__arena *arena, ls__text_set *set, const char *text); /* false: is there */
void ls__text_set_clear(ls__text_set *set);

/* --- cells ------------------------------------------------------------------------------------ */
typedef enum ls__plan_kind {
    LS__PLAN_COMBINATIONAL,
    LS__PLAN_MACC_V2,
    LS__PLAN_REGISTER,
    LS__PLAN_MEMORY,      /* $mem, $mem_v2 */
    LS__PLAN_MEMORY_PORT, /* loose $memrd, $memwr, $meminit */
    LS__PLAN_EFFECT,
    LS__PLAN_CONNECT, /* two sides of one net */
    LS__PLAN_IGNORED,
    LS__PLAN_WARNED,  /* ignored, and the user is told */
    LS__PLAN_INSTANCE /* of a module, or unknown: known when the whole file is read */
} ls__plan_kind;

/* One port of a cell type: "A/a:A_WIDTH" in cells.def. */
typedef struct ls__plan_port {
    ls__str name, width; /* width: 1, a parameter, or two with '*' or '<' (shift) between */
    char slot;           /* which member of the ls__cell or ls__register */
    bool output;
} ls__plan_port;

enum { LS__PLAN_PORTS = 24 };
typedef struct ls__cell_plan {
    ls__plan_kind kind;
    const char *name; /* the type as written */
    uint32_t port_count;
    ls__plan_port ports[LS__PLAN_PORTS];
    ls__cell_type cell; /* COMBINATIONAL */
    ls__register_kind register_kind;
    char polarity[8];    /* REGISTER, gate-level: 'N' or 'P' of the controls `letters` */
    const char *letters; /* as in cells.def; NULL: word-level, parameters say it */
    /* INSTANCE, flatten.c: the module, and how many cells there are when it is not known. */
    struct ls__template *module;
    bool is_resolved;
    uint32_t cells;
} ls__cell_plan;

typedef enum ls__raw_kind { LS__RAW_BITS, LS__RAW_TEXT, LS__RAW_NUMBER } ls__raw_kind;

typedef struct ls__raw_value {
    ls__raw_kind kind;
    int64_t number;
    uint32_t offset, count; /* in `bytes`: characters, or ls__bit with bit 0 first */
    const uint8_t *kept;    /* a long value is in `keep` instead */
} ls__raw_value;

typedef struct ls__raw_parameter {
    uint32_t name_offset, name_length; /* in `bytes` */
    ls__raw_value value;
} ls__raw_parameter;

typedef struct ls__raw_connection {
    uint32_t name_offset, name_length; /* in `bytes` */
    uint32_t first, count;             /* in `nets` */
    bool used;
} ls__raw_connection;

typedef struct ls__raw_nets { /* of the heap */
    ls__net *items;
    uint32_t count, capacity;
} ls__raw_nets;

typedef struct ls__raw_cell {
    const char *name, *source, *hdlname; /* kept; hdlname NULL = none */
    ls__cell_plan *plan;
    LS__VEC(ls__raw_parameter) parameters;
    LS__VEC(ls__raw_connection) connections;
    ls__raw_nets nets; /* local numbers */
    LS__VEC(uint8_t) bytes;
} ls__raw_cell;

/* --- templates -------------------------------------------------------------------------------- */
typedef struct ls__template_port {
    const char *name;
    ls__direction direction;
    ls__nets nets;
    int32_t offset;
    bool upto, is_signed;
} ls__template_port;

typedef struct ls__instance_port {
    ls__name *name;
    ls__nets nets;
} ls__instance_port;

typedef struct ls__instance {
    const char *name;
    ls__cell_plan *plan;
    const ls__instance_port *ports;
    uint32_t port_count;
    bool has_parameters;
} ls__instance;

typedef struct ls__alias {
    ls__nets a, b; /* of equal length */
} ls__alias;

typedef struct ls__loose_memory {   /* the section "memories" */
    const char *id, *name, *source; /* id: as in MEMID */
    uint32_t width, depth, start;
    LS__VEC(struct ls__loose_port *) ports;
} ls__loose_memory;

typedef struct ls__totals {
    uint64_t cells, registers, memories, effects, signals, nets;
} ls__totals;

typedef struct ls__template {
    const char *name;
    bool is_top, is_black_box;
    uint32_t net_count; /* constants and all */
    /* flatten.c: */
    bool is_used, is_active, is_surveyed;
    ls__totals totals; /* with all that is below it */
    uint32_t *map;     /* to nets of the netlist + 1, of the instance being made; 0: none yet */
    /* of ls__cell, ls__register, ls__memory, ls__effect, ls__signal, ... */
    ls__list cells, registers, memories, effects, signals, ports, instances, aliases;
    ls__list loose_memories; /* of ls__loose_memory */
    ls__list loose_ports;
} ls__template;

typedef struct ls__net_map { /* numbers of the file to numbers of the template */
    struct {
        uint32_t key, value; /* value 0: free */
    } * entries;
    uint32_t count, capacity; /* capacity: 0 or a power of two */
} ls__net_map;

typedef struct ls__reader {
    ls__json json;
    ls__oom oom;
    ls__arena scratch;
    ls__arena *keep;
    ls__pack kept, scratched;
    const ls__netlist_params *params;
    ls__netlist *netlist;
    ls_error *error;
    ls_status status; /* of ls__reader_fail; LS_OK when memory ran out */
    const char *hint; /* for the next fault; NULL = none */

    ls__names modules;    /* value: ls__template */
    ls__list module_list; /* of ls__template *, in the order of the file */
    ls__names types;      /* value: ls__cell_plan */
    ls__names texts;      /* sources and port names, which repeat */
    ls__text_set used;    /* names of the section that is being read: none twice */
    ls__net_map net_map;
    ls__template *module;      /* being read */
    ls__raw_cell raw;          /* being read */
    uint32_t ignored_liveness; /* cells of PLAN_WARNED */
    bool has_paths;            /* a name is made of an attribute hdlname */
    bool is_read;              /* faults from now on have no place in the file */
} ls__reader;

/* Fills the error: the message, preceded by the module and cell being read, where = file and byte.
 */
__attribute__((noreturn, format(printf, 3, 4))) void
ls__reader_fail(ls__reader *reader, ls_status status, const char *format, ...);
__attribute__((format(printf, 2, 3))) void ls__reader_warn(ls__reader *reader, const char *format,
                                                           ...);

/* values.c: what stands in a raw cell */
const ls__raw_value *ls__raw_find(const ls__raw_cell *raw, const char *name);
int64_t ls__raw_integer(ls__reader *reader, const char *name, int64_t otherwise);
bool ls__raw_flag(ls__reader *reader, const char *name, bool otherwise);
/* Kept bits, exactly `width` of them: missing ones are `fill`. */
ls__bits ls__raw_bits(ls__reader *reader, const char *name, uint32_t width, ls__bit fill);
/* The bits as given; count 0 when the parameter is missing. */
ls__bits ls__raw_bits_given(ls__reader *reader, const char *name);
const char *ls__raw_text(ls__reader *reader, const char *name); /* "" when it is missing */
ls__raw_connection *ls__raw_connected(ls__raw_cell *raw, ls__str name);
/* The nets of a port, exactly `width`: of a port that is not connected, X for inputs and new nets
 * for outputs. Constant x and z at outputs become new nets. In `scratch`. */
ls__nets ls__raw_port(ls__reader *reader, ls__str name, uint32_t width, bool output);
void ls__raw_done(ls__reader *reader); /* refuses connections to ports that nobody asked for */
ls__net ls__new_net(ls__reader *reader);
const char *ls__keep_text(ls__reader *reader, ls__str text);
ls__bits ls__value_bits(ls__reader *reader, const ls__raw_value *value, uint32_t width);

/* cells.c */
ls__cell_plan *ls__plan_of(ls__reader *reader, ls__str type);
void ls__convert_cell(ls__reader *reader); /* the raw cell, into the template */
/* effect.c */
void ls__convert_effect(ls__reader *reader);
/* memory.c */
extern const uint32_t ls__loose_port_bytes;
void ls__convert_memory(ls__reader *reader);
void ls__convert_memory_port(ls__reader *reader);
void ls__collect_memories(ls__reader *reader); /* at the end of a module */
/* flatten.c */
void ls__flatten(ls__reader *reader);
/* drivers.c */
void ls__check_drivers(ls__reader *reader);

#endif
