/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/program.h - from kernel text or IR to something a device can run.
 *
 *   Kernel C text --ls_module_compile--> ls_module --ls_program_create--> ls_program
 *                 --ls_program_kernel--> ls_kernel
 *
 * A module is portable IR, belongs to no device, and never changes. A program is a module built for
 * one device. The IR builder (lockstep/ir.h) makes modules by hand; ls_builder_link brings compiled
 * Kernel C functions into them.
 */
#ifndef LOCKSTEP_PROGRAM_H
#define LOCKSTEP_PROGRAM_H

#include "lockstep/base.h"
#include "lockstep/device.h"
#include "lockstep/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- diagnostics ------------------------------------------------------------------------------ */
/* Errors and warnings of one compilation, in order of position found. Owned by the caller.
 * Thread-safety: immutable. */
typedef struct ls_diagnostics ls_diagnostics;
typedef struct ls_diagnostic {
    const char *id;                /* stable: "LS0123" (docs/lang.md lists them) */
    const char *path;              /* file as given or included */
    uint32_t line, column, length; /* 1-based; bytes; length of the marked span */
    bool is_warning;
    const char *message;
    const char *source_line; /* the text of that line */
    const char *hint;        /* what was expected, what to do; may be empty */
} ls_diagnostic;
LS_API uint32_t ls_diagnostics_count(const ls_diagnostics *diagnostics); /* 0 for NULL */
LS_API void ls_diagnostics_get(const ls_diagnostics *diagnostics, uint32_t index,
                               ls_diagnostic *out);
/* All of them as text for a terminal: position, message, the line, a caret line. */
LS_API const char *ls_diagnostics_text(const ls_diagnostics *diagnostics);
LS_API void ls_diagnostics_destroy(ls_diagnostics **diagnostics);

/* --- modules ---------------------------------------------------------------------------------- */
/* Thread-safety: immutable, may be used from any thread. Declared in lockstep/ir.h. */

typedef struct ls_define {
    const char *name; /* of a SPEC constant; unknown names are an error */
    int64_t value;
} ls_define;

typedef struct ls_compile_params {
    size_t struct_size;
    const char *text; /* Kernel C (docs/lang.md) */
    size_t length;    /* bytes of text */
    const char *path; /* for messages and as the base of #include; NULL = "<kernel>" */
    const ls_define *defines;
    uint32_t define_count;
    /* Reads an included file into *text (malloc; freed by the library with free) or returns false
     * when there is none. NULL: files are read from disk, relative to `path`. */
    bool (*include)(void *context, const char *path, char **text, size_t *length);
    void *include_context;
    /* A folder as in ls_device_params, NULL = none. What was compiled before, of the same text,
     * path, constants and included files by the same library, is then described without being
     * compiled, warnings included; a device with this folder finds programs of it without lowering
     * them anew. Who asks for the IR itself waits for it to be compiled. */
    const char *cache_path;
} ls_compile_params;
#define LS_COMPILE_PARAMS_INIT LS_INIT(ls_compile_params)

/* Compiles Kernel C. On LS_E_COMPILE, *diagnostics (optional) holds every error found, and `error`
 * the first. Warnings come in *diagnostics on success too; it may be NULL when there are none.
 * Blocks: milliseconds; bounded on any input. */
LS_API ls_status ls_module_compile(const ls_compile_params *params, ls_module **module,
                                   ls_diagnostics **diagnostics, ls_error *error);

/* IR text (docs/ir.md) to module and back. Text from ls_module_print is released with
 * ls_text_destroy (lockstep/base.h). */
LS_API ls_status ls_module_read(const char *text, size_t length, ls_module **module,
                                ls_error *error);
LS_API ls_status ls_module_print(const ls_module *module, char **text, size_t *length,
                                 ls_error *error);

/* Binary form: versioned, with a digest; another version is refused by name (LS_E_VERSION), damage
 * is LS_E_FORMAT. */
LS_API ls_status ls_module_decode(const void *bytes, size_t size, ls_module **module,
                                  ls_error *error);
LS_API ls_status ls_module_encode(const ls_module *module, void **bytes, size_t *size,
                                  ls_error *error);
LS_API void ls_bytes_destroy(void **bytes);

/* SHA-256 of the binary form's body: equal for equal programs. */
LS_API ls_status ls_module_digest(const ls_module *module, uint8_t digest[32], ls_error *error);
LS_API void ls_module_destroy(ls_module **module); /* programs built from it stay valid */

/* Runs the IR passes up to and including the first run of `stop_after` (NULL = all), for looking at
 * them. `lower` names lower_* passes, separated by commas (NULL = none, "all"). The result is a new
 * module. */
LS_API ls_status ls_module_transform(const ls_module *module, const char *stop_after,
                                     const char *lower, ls_module **result, ls_error *error);

/* One kernel as a module of its own, with the functions and tables it uses. LS_E_NOT_FOUND lists
 * the kernels there are. */
LS_API ls_status ls_module_select(const ls_module *module, const char *kernel, ls_module **result,
                                  ls_error *error);

/* Code without a device, for looking at and for other tools. The module is optimised, and lowered
 * as the target needs; a kernel that is split at grid barriers is several, of which the others are
 * named "__kernel_1" and so on. `format`:
 *   "spirv"  one kernel as a module for Vulkan (docs/spirv.md). `target` NULL = "vulkan1.2", the
 *            least a device may be; `kernel` may be NULL when there is only one.
 *   "ptx"    a module for CUDA, as text without a 0 behind it (docs/ptx.md). `target` NULL =
 *            "sm_75", the oldest architecture; `kernel` NULL = all.
 * Bytes are released with ls_bytes_destroy. LS_E_UNSUPPORTED: this build cannot, or a library that
 * it needs is not there. */
LS_API ls_status ls_module_emit(const ls_module *module, const char *format, const char *target,
                                const char *kernel, void **bytes, size_t *size, ls_error *error);

typedef struct ls_param_info {
    const char *name;
    const char *type_name; /* element type of a pointer, type of a scalar, as written */
    ls_mem mem;            /* LS_MEM_NONE for a struct */
    bool is_pointer, is_const;
    uint32_t size, alignment; /* bytes of one element or of the scalar */
    uint32_t offset;          /* scalars: byte in the scalar block */
    uint32_t buffer;          /* pointers: index among the pointer parameters */
    uint64_t min_elements; /* pointers: the range bound must have so many; `static` in Kernel C */
} ls_param_info;

typedef struct ls_kernel_info {
    const char *name;
    uint32_t workgroup[3];
    uint32_t param_count, buffer_count, scalar_bytes, shared_bytes, local_bytes;
    bool unordered; /* outputs carry no promise */
} ls_kernel_info;

LS_API uint32_t ls_module_kernel_count(const ls_module *module);
LS_API ls_status ls_module_kernel(const ls_module *module, uint32_t index, ls_kernel_info *info,
                                  ls_error *error);
/* LS_E_NOT_FOUND lists the kernels there are */
LS_API ls_status ls_module_find_kernel(const ls_module *module, const char *name,
                                       ls_kernel_info *info, ls_error *error);
LS_API ls_status ls_module_param(const ls_module *module, const char *kernel, uint32_t index,
                                 ls_param_info *info, ls_error *error);

/* A SPEC constant of Kernel C, in order of declaration. `choices`: further values that it names for
 * tuners (lockstep/tune.h). */
typedef struct ls_spec_info {
    const char *name;
    ls_mem mem;
    int64_t value; /* that the module was compiled with */
    int64_t default_value;
    const int64_t *choices; /* all differ, from the default too */
    uint32_t choice_count;
} ls_spec_info;
LS_API uint32_t ls_module_spec_count(const ls_module *module);
LS_API ls_status ls_module_spec(const ls_module *module, uint32_t index, ls_spec_info *info,
                                ls_error *error);

/* --- programs --------------------------------------------------------------------------------- */
/* A module built for a device. Owned by the caller; kernels live as long as it. Batches that use it
 * keep it alive. Thread-safety: may be used from any thread. */
typedef struct ls_program ls_program;
typedef struct ls_kernel ls_kernel;

/* How much is spent on making code. The bits are the same. */
typedef enum ls_tier {
    LS_TIER_OPTIMIZED, /* compiled for speed */
    LS_TIER_QUICK      /* compiled fast; as LS_TIER_OPTIMIZED on a device without tiers */
} ls_tier;

typedef struct ls_program_params {
    size_t struct_size;
    bool unchecked;      /* no bounds checks; only for kernels the sanitizer has shown clean.
                            Receipts show it. */
    ls_device *fallback; /* runs the program when `device` cannot; decided here, never at dispatch;
                            NULL = refuse */
    const char *lower;   /* force lower_* passes: names separated by commas, or "all"; NULL = what
                            the device needs */
    ls_tier tier;        /* what the program starts with; ls_program_optimize goes on from quick */
    const struct ls_code *codes; /* made ahead, see below; not NULL: nothing is compiled */
    uint32_t code_count;
} ls_program_params;
#define LS_PROGRAM_PARAMS_INIT LS_INIT(ls_program_params)

/* Builds all kernels of the module, or none. LS_E_UNSUPPORTED names the first kernel, the limit,
 * what is needed and what there is. Blocks: compiles. */
LS_API ls_status ls_program_create(ls_device *device, const ls_module *module,
                                   const ls_program_params *params, ls_program **program,
                                   ls_error *error);
LS_API void ls_program_destroy(ls_program **program);
/* LS_E_NOT_FOUND lists the kernels there are. The kernel belongs to the program. */
LS_API ls_status ls_program_kernel(ls_program *program, const char *name, const ls_kernel **kernel,
                                   ls_error *error);
LS_API void ls_kernel_describe(const ls_kernel *kernel, ls_kernel_info *info);
/* index < param_count */
LS_API void ls_kernel_param(const ls_kernel *kernel, uint32_t index, ls_param_info *info);
/* NULL when the program runs on its own device, else why it runs on the fallback device. */
LS_API const char *ls_program_fallback_reason(const ls_program *program);

/* --- code made ahead -------------------------------------------------------------------------- */
/* Code of all kernels of a module for one target, as bytes to keep: a program is created from it
 * where there is no compiler (`lockstep bundle` and lockstep/bundle.h keep it in files). It is
 * bound to the module, the version of the bit contract and that of the library, and is refused by
 * name elsewhere.
 *
 * ls_program_params.codes: of those that are given the one for the device's own target is taken,
 * else the first that runs there; LS_E_UNSUPPORTED lists what there is when none does. The
 * device's operations are probed with it as with any code. The reference takes the module itself,
 * and needs none. `unchecked` must be as the code was made; `lower` and a device opened with
 * check_bounds do not go with it. Code runs as it is: take it from whom you trust. */
typedef struct ls_code {
    const void *bytes;
    size_t size;
} ls_code;

typedef struct ls_code_params {
    size_t struct_size;
    const char *target; /* "avx2", "vulkan1.2+i8", as ls_device_params.target spelled out */
    bool unchecked;     /* as in ls_program_params */
    const char *lower;  /* the same */
} ls_code_params;
#define LS_CODE_PARAMS_INIT LS_INIT(ls_code_params)
/* Released with ls_bytes_destroy. Equal modules and params give equal bytes. LS_E_UNSUPPORTED: the
 * compiler of the target is not there. Blocks: compiles. */
LS_API ls_status ls_code_make(const ls_module *module, const ls_code_params *params, void **bytes,
                              size_t *size, ls_error *error);

typedef struct ls_code_info { /* points into the bytes */
    size_t struct_size;
    const char *family, *target; /* "cpu", "avx2" */
    bool unchecked;
    uint8_t module_digest[32];
    const void *code; /* the emitter's own form */
    size_t code_size;
} ls_code_info;
/* Checks all of it; LS_E_FORMAT: damaged, LS_E_VERSION: of another version. */
LS_API ls_status ls_code_describe(const void *bytes, size_t size, ls_code_info *info,
                                  ls_error *error);

typedef struct ls_code_target_info {
    const char *family;
    char target[192];
} ls_code_target_info;
/* Targets that code is made for when nobody names any: those of a family best first. Returns their
 * full number. */
LS_API uint32_t ls_code_targets(ls_code_target_info *infos, uint32_t capacity);

typedef enum ls_tier_state {
    LS_TIER_STATE_OPTIMIZED, /* submissions made from now on use optimised code */
    LS_TIER_STATE_QUICK,     /* they use quick code */
    LS_TIER_STATE_BUILDING,  /* they use quick code, and optimised code is being made */
    LS_TIER_STATE_FAILED     /* they use quick code; making optimised code failed */
} ls_tier_state;

typedef struct ls_tier_info {
    size_t struct_size;
    ls_tier_state state;
    char reason[256]; /* why it failed, or why optimised code is not what it could be: of a program
                         with a very long function it is made as quick code is; else empty */
} ls_tier_info;

/* Begins to make optimised code of a quick program on a thread of the device, and returns at once;
 * does nothing when that has begun or is done, tries again where it failed. Code that is in the
 * device's cache is taken from there before the call returns. When it is ready, submissions made
 * afterwards use it, those of prepared batches too; pending ones end with the code they have. How
 * it ends, ls_program_tier says; to wait for it, create the program again with LS_TIER_OPTIMIZED.
 *
 * Programs of a device that are made of one module in one way share their code, so all of them are
 * optimised. Destroying the program waits for nothing: a build that has not begun is given up when
 * nobody has the program any more, one that has begun goes on. Destroying the device gives up what
 * has not begun and waits for what has. So does the end of the process, by exit() or by returning
 * from main, with the device still there; whatever asks for code after that is refused. */
LS_API ls_status ls_program_optimize(ls_program *program, ls_error *error);
LS_API void ls_program_tier(const ls_program *program, ls_tier_info *info);

#ifdef __cplusplus
}
#endif

#endif
