/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/gguf.h - read model files in the GGUF format: metadata and tensors.
 *
 * Source: the GGUF specification (ggml, docs/gguf.md), versions 2 and 3, little-endian, and the
 * block layouts of its quantised types. docs/gguf.md lists them.
 *
 * A file is mapped into memory, not read: opening a file of many gigabytes takes milliseconds, and
 * the bytes of a tensor come from the disk when they are looked at. Everything that the file says
 * of itself is checked before it is believed: counts against the bytes that are left, names for
 * duplicates, shapes for overflow and whole blocks, places for alignment, bounds and overlaps. The
 * data of tensors has no invalid bytes.
 *
 * A model may be split into files NAME-00001-of-0000N.gguf; the first one stands for all of them.
 */
#ifndef LOCKSTEP_GGUF_H
#define LOCKSTEP_GGUF_H

#include "lockstep/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- files ------------------------------------------------------------------------------------ */
/* An open model file, all parts of it. Thread-safety: immutable. The files must not become shorter
 * while it is open: the operating system ends a process that looks at bytes that are gone. */
typedef struct ls_gguf ls_gguf;

/* LS_E_NOT_FOUND (the file, or a part of a split one), LS_E_FORMAT (what is wrong, and the byte),
 * LS_E_VERSION (version 1, later than 3, big-endian), LS_E_UNSUPPORTED (a tensor of a type that is
 * not read, by name), LS_E_LIMIT. */
LS_API ls_status ls_gguf_open(const char *path, ls_gguf **gguf, ls_error *error);
/* The same of bytes in memory, which must stay until destroy; `name` is for messages. A part of a
 * split file is LS_E_FORMAT. */
LS_API ls_status ls_gguf_open_memory(const void *bytes, uint64_t size, const char *name,
                                     ls_gguf **gguf, ls_error *error);
LS_API void ls_gguf_destroy(ls_gguf **gguf);

typedef struct ls_gguf_info {
    size_t struct_size;
    uint32_t version;    /* of the format: 2 or 3 */
    uint32_t alignment;  /* bytes; of the places of tensors */
    uint32_t file_count; /* 1, or the parts of a split file */
    uint32_t value_count, tensor_count;
    uint64_t file_bytes;   /* of all files */
    uint64_t tensor_bytes; /* of all tensors, without padding */
} ls_gguf_info;
LS_API void ls_gguf_describe(const ls_gguf *gguf, ls_gguf_info *info);

/* --- metadata --------------------------------------------------------------------------------- */
/* X(name, number in files, name in texts, bytes of one; 0 = variable) */
#define LS_GGUF_KIND_TABLE(X)                                                                      \
    X(U8, 0, "u8", 1)                                                                              \
    X(I8, 1, "i8", 1)                                                                              \
    X(U16, 2, "u16", 2)                                                                            \
    X(I16, 3, "i16", 2)                                                                            \
    X(U32, 4, "u32", 4)                                                                            \
    X(I32, 5, "i32", 4)                                                                            \
    X(F32, 6, "f32", 4)                                                                            \
    X(BOOL, 7, "bool", 1)                                                                          \
    X(STRING, 8, "string", 0)                                                                      \
    X(ARRAY, 9, "array", 0)                                                                        \
    X(U64, 10, "u64", 8)                                                                           \
    X(I64, 11, "i64", 8)                                                                           \
    X(F64, 12, "f64", 8)
typedef enum ls_gguf_kind {
#define X(name, number, text, bytes) LS_GGUF_##name = (number),
    LS_GGUF_KIND_TABLE(X)
#undef X
} ls_gguf_kind;
/* "u32", "string", ... Static. */
LS_API const char *ls_gguf_kind_name(ls_gguf_kind kind);

/* A value, or a list of values of one kind. */
typedef struct ls_gguf_value {
    const char *key;   /* "general.architecture" */
    ls_gguf_kind kind; /* of the value, or of each item of a list; never ARRAY */
    bool is_list;
    uint64_t count; /* items; 1 if it is no list */
    /* The items as they lie in the file, not aligned; for strings see ls_gguf_text. */
    const void *bytes;
    const uint64_t *places; /* of strings: private */
} ls_gguf_value;

/* NULL when `index` is too large. Of a split file the values of the first part. */
LS_API const ls_gguf_value *ls_gguf_value_at(const ls_gguf *gguf, uint32_t index);
/* NULL when there is none of that name. */
LS_API const ls_gguf_value *ls_gguf_find_value(const ls_gguf *gguf, const char *key);

/* Item `index` as a number; false when there is no such item, it is of another kind (texts; numbers
 * that are no integer, for the first two), or the number does not fit. A bool is 0 or 1. */
LS_API bool ls_gguf_unsigned(const ls_gguf_value *value, uint64_t index, uint64_t *number);
LS_API bool ls_gguf_signed(const ls_gguf_value *value, uint64_t index, int64_t *number);
LS_API bool ls_gguf_float(const ls_gguf_value *value, uint64_t index, double *number);
/* Item `index` as text of `length` bytes, which is not zero-terminated and may hold any bytes. It
 * lives as long as the ls_gguf. */
LS_API bool ls_gguf_text(const ls_gguf_value *value, uint64_t index, const char **text,
                         uint64_t *length);

/* --- tensors ---------------------------------------------------------------------------------- */
/* X(name, number in files, elements of a block, name of its C struct in src/gguf/blocks.h) */
#define LS_GGUF_TYPE_TABLE(X)                                                                      \
    X(F32, 0, 1, f32)                                                                              \
    X(F16, 1, 1, f16)                                                                              \
    X(Q4_0, 2, 32, q4_0)                                                                           \
    X(Q4_1, 3, 32, q4_1)                                                                           \
    X(Q5_0, 6, 32, q5_0)                                                                           \
    X(Q5_1, 7, 32, q5_1)                                                                           \
    X(Q8_0, 8, 32, q8_0)                                                                           \
    X(Q2_K, 10, 256, q2_k)                                                                         \
    X(Q3_K, 11, 256, q3_k)                                                                         \
    X(Q4_K, 12, 256, q4_k)                                                                         \
    X(Q5_K, 13, 256, q5_k)                                                                         \
    X(Q6_K, 14, 256, q6_k)                                                                         \
    X(IQ4_NL, 20, 32, iq4_nl)                                                                      \
    X(IQ4_XS, 23, 256, iq4_xs)                                                                     \
    X(BF16, 30, 1, bf16)
typedef enum ls_gguf_type {
#define X(name, number, elements, block) LS_GGUF_TYPE_##name = (number),
    LS_GGUF_TYPE_TABLE(X)
#undef X
} ls_gguf_type;
/* "Q4_K", ... as the specification writes it. Static. */
LS_API const char *ls_gguf_type_name(ls_gguf_type type);
/* Elements and bytes of one block; 1 element for the types without blocks. */
LS_API void ls_gguf_type_block(ls_gguf_type type, uint32_t *elements, uint32_t *bytes);

enum { LS_GGUF_DIMENSIONS = 4 };

typedef struct ls_gguf_tensor {
    const char *name; /* "blk.0.attn_q.weight" */
    ls_gguf_type type;
    uint32_t dimension_count; /* 1 to 4 */
    /* Elements along each, the fastest first; 1 beyond dimension_count. A matrix that maps n inputs
     * to m outputs is [n, m]: m rows of n elements. */
    uint64_t dimensions[LS_GGUF_DIMENSIONS];
    uint64_t elements;
    uint64_t bytes;
    const void *data;   /* [bytes]; aligned to the alignment of the file, if it was mapped */
    uint32_t file;      /* part of a split file, from 0 */
    uint64_t file_byte; /* where in that file */
} ls_gguf_tensor;

/* In the order of the file. NULL when `index` is too large. */
LS_API const ls_gguf_tensor *ls_gguf_tensor_at(const ls_gguf *gguf, uint32_t index);
/* NULL when there is none of that name. */
LS_API const ls_gguf_tensor *ls_gguf_find_tensor(const ls_gguf *gguf, const char *name);

/* The tensor's bytes are not looked at for a while: a mapped file lets go of the memory that they
 * take. They can be read as before. */
LS_API void ls_gguf_forget(const ls_gguf *gguf, const ls_gguf_tensor *tensor);

/* Elements [first, first + count) as f32, in the arithmetic of docs/gguf.md, so the same bits
 * everywhere. Both must be multiples of the elements of a block and lie in the tensor
 * (LS_E_INVALID_ARGUMENT). F16, BF16 and F32 are converted without loss; a NaN may change its
 * payload. */
LS_API ls_status ls_gguf_dequantize(const ls_gguf_tensor *tensor, uint64_t first, uint64_t count,
                                    float *values, ls_error *error);

#ifdef __cplusplus
}
#endif

#endif
