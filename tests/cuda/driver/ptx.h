/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX interpreter of the emulated CUDA driver: an independent reading of NVIDIA's PTX ISA,
 * which shares nothing with the compiler that it tests. Text becomes a module (parse.c), whose
 * instructions are decoded once (decode*.c): registers are numbered, immediates lie in a pool. An
 * entry with all functions it calls is linked into a program (link.c), and a grid of it runs
 * (grid.c) warp by warp (warp.c): each instruction for all active lanes before the next. What is
 * not known is an error that names the line; nothing is skipped.
 *
 * A register is an array over the lanes of a warp, of its own width; a predicate is one mask. Calls
 * cannot recurse, so that each function's registers and local memory have one place in a warp.
 */
#ifndef EMULATED_CUDA_PTX_H
#define EMULATED_CUDA_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LANES = 32 };

/* --- memory -------------------------------------------------------------------------------------
 */
/* What kernels may touch. `start` is what they call it, `bytes` where it lies. */
typedef struct ptx_range {
    uint64_t start, size;
    unsigned char *bytes;
} ptx_range;

/* State spaces. Their addresses begin at FIRST_ADDRESS, so that 0 is none; generic addresses of
 * them lie in windows no processor maps. */
typedef enum space {
    SPACE_NONE,
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_CONST,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM, /* of an entry */
    SPACE_FRAME  /* .param of functions and calls: of a lane, as local memory is */
} space;

#define FIRST_ADDRESS UINT64_C(0x400)
#define SHARED_WINDOW UINT64_C(0xa000000000000000)
#define LOCAL_WINDOW UINT64_C(0xa100000000000000)
#define PARAM_WINDOW UINT64_C(0xa200000000000000)
#define WINDOW_SIZE UINT64_C(0x100000000)

/* --- decoded instructions -----------------------------------------------------------------------
 */
typedef struct warp warp;
typedef struct instruction instruction;
typedef void (*executor)(warp *w, const instruction *in, uint32_t mask);

enum { BASE_REGISTERS, BASE_CONSTANTS, BASE_SPECIALS, BASE_COUNT };

typedef struct operand {
    uint32_t offset; /* bytes behind w->base[base] */
    uint8_t base;
    uint8_t width; /* bytes of a lane; 1: a predicate; 0: none */
    bool negated;  /* !p */
} operand;

/* What an instruction does to the order of execution; the warp's loop knows these. */
typedef enum flow {
    FLOW_NEXT,
    FLOW_BRANCH,
    FLOW_TABLE, /* brx.idx */
    FLOW_CALL,
    FLOW_RETURN,
    FLOW_EXIT,
    FLOW_BARRIER,
    FLOW_YIELD,     /* nanosleep: others first */
    FLOW_COLLECTIVE /* waits for the lanes of its mask, then runs */
} flow;

struct instruction {
    executor run;
    operand d, d2, a, b, c, e;
    operand *more; /* elements of a vector; targets' count in more_count for FLOW_TABLE */
    uint32_t more_count;
    operand guard;
    uint8_t flow;
    uint8_t space;       /* of a memory access */
    uint8_t size, count; /* bytes of an element, elements */
    uint8_t type_d, type_a;
    uint8_t rounding, compare, combine, operation;
    bool is_signed, saturate, flush, nan, acquire, release, aligned;
    uint32_t line;
    uint32_t slot; /* of the cache of ranges */
    int64_t immediate;
    uint32_t target;        /* FLOW_BRANCH */
    uint32_t *targets;      /* FLOW_TABLE */
    struct call_site *call; /* FLOW_CALL */
};

/* --- modules ------------------------------------------------------------------------------------
 */
typedef struct variable {
    char *name;
    space space;
    uint64_t size, align;
    uint64_t
        offset; /* in its bank: of the module, of the entry's parameters, of the function's frame */
    bool external;        /* .extern: dynamic shared memory, or a declaration */
    unsigned char *bytes; /* initial value, or NULL */
    struct fixup *fixups; /* addresses in the initial value */
    size_t fixup_count;
    uint32_t link_mark; /* link.c */
    uint64_t link_offset;
} variable;

typedef struct fixup {
    uint64_t offset;
    uint32_t size;
    bool generic;
    char *name;
    int64_t addend;
    variable *variable;
} fixup;

/* The value of a constant that is an address, known when the program is linked. */
typedef struct relocation {
    uint32_t constant;
    variable *variable;
    int64_t addend;
} relocation;

typedef struct constant {
    uint64_t value;
    uint32_t offset; /* in the pool */
    uint8_t width;
} constant;

typedef struct function {
    char *name;
    bool entry, defined;
    variable **parameters, **results;
    size_t parameter_count, result_count;
    uint64_t parameter_bytes; /* of an entry */
    variable **locals;        /* .local, .shared and .param of its own */
    size_t local_count;
    instruction *code;
    size_t code_count;
    constant *constants;
    size_t constant_count;
    uint32_t constant_bytes;
    relocation *relocations;
    size_t relocation_count;
    uint32_t register_bytes;
    uint32_t *register_widths; /* not used to run: how many registers there are */
    size_t register_count;
    uint64_t frame_bytes;
    uint32_t max_threads; /* .maxntid, .reqntid; 0: none */
    uint32_t required[3];
    uint32_t link_mark, link_first, link_registers, link_constants; /* link.c */
    uint64_t link_frame;
} function;

typedef struct call_site {
    char *name;
    function *callee;
    uint32_t line;
    variable **arguments, **results;
    size_t argument_count, result_count;
    uint32_t first;        /* link.c: the callee's first instruction */
    uint32_t callee_index; /* which function of the program */
    uint64_t *argument_from, *argument_to, *result_from, *result_to; /* offsets in the frame */
} call_site;

typedef struct ptx_module {
    uint32_t version; /* 78 is 7.8 */
    uint32_t target;  /* 90 is sm_90 */
    function **functions;
    size_t function_count;
    variable **variables;
    size_t variable_count;
    uint64_t global_bytes, const_bytes;
    /* Where the banks lie, set by who loads the module; the constants of its code follow from it.
     */
    uint64_t global_start, const_start;
    void **owned; /* all memory of the module */
    size_t owned_count, owned_capacity;
} ptx_module;

/* NULL, with a message as "ptxas ... line N; ..." in `message`. */
ptx_module *ptx_module_create(const char *text, size_t size, char *message, size_t message_size);
void ptx_module_destroy(ptx_module *module);
/* Writes the initial values; both places have the sizes above, and the starts must be set. False
 * when an address is of what has none. */
bool ptx_module_fill(ptx_module *module, unsigned char *global, unsigned char *constants);
const variable *ptx_module_variable(const ptx_module *module, const char *name);
void *ptx_own(ptx_module *module, size_t count, size_t size); /* zeroed; aborts without memory */

/* --- programs -----------------------------------------------------------------------------------
 */
typedef struct ptx_program {
    const ptx_module *module;
    const function *entry;
    instruction *code;
    uint32_t code_count, first;
    unsigned char *constants;
    uint32_t constant_bytes, register_bytes, function_count, slot_count;
    uint32_t registers_32; /* how many 32-bit registers, about, for occupancy */
    uint64_t frame_bytes, shared_bytes;
    call_site **sites;
    size_t site_count;
    operand *operands; /* of vectors */
} ptx_program;

ptx_program *ptx_program_create(ptx_module *module, function *entry, char *message,
                                size_t message_size);
void ptx_program_destroy(ptx_program *program);

/* --- grids --------------------------------------------------------------------------------------
 */
typedef enum ptx_outcome {
    PTX_DONE,
    PTX_ILLEGAL_ADDRESS,
    PTX_MISALIGNED,
    PTX_ILLEGAL_INSTRUCTION,
    PTX_FAILED /* a trap, or what PTX leaves undefined: the message tells */
} ptx_outcome;

typedef struct ptx_grid {
    const ptx_program *program;
    uint32_t blocks[3], threads[3];
    uint32_t dynamic_shared;
    const unsigned char *parameters; /* program->entry->parameter_bytes of them */
    const ptx_range *ranges;         /* ascending, apart */
    size_t range_count;
    bool cooperative; /* all blocks make progress */
    bool reverse;     /* lanes' atomics in descending order, blocks too */
    uint32_t host_threads;
    uint32_t processors;
    const int *stop; /* not 0: give up with PTX_FAILED */
} ptx_grid;

typedef struct ptx_result {
    ptx_outcome outcome;
    char message[512];
    uint64_t lane_instructions;
} ptx_result;

void ptx_grid_run(const ptx_grid *grid, ptx_result *result);

#endif
