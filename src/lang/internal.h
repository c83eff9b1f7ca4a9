/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the front end share: names, tokens, types, the syntax tree, symbols, and the
 * calls between stages.
 *
 * Everything lives in the arena of one `lang_context` and ends with it. Running out of memory, and
 * the 20th error, jump to ls__lang_compile; so no stage returns a status, and a stage that reported
 * errors is not followed by the next.
 *
 * A *unit* is a name space of its own: the user's file with what it includes, and the math library,
 * whose helper functions and macros must not meet the user's names.
 */
#ifndef LS_LANG_INTERNAL_H
#define LS_LANG_INTERNAL_H

#include "base/str.h"
#include "lang/lang.h"

enum {
    LANG_MAX_ERRORS = 20,
    LANG_MAX_TOKENS =
        4 << 20,              /* after the preprocessor; also macro and lowering steps, see there */
    LANG_MAX_INCLUDES = 1000, /* files opened in one compilation */
    LANG_MAX_INCLUDE_DEPTH = 32,
    LANG_MAX_MACRO_DEPTH = 64,
    LANG_MAX_NESTING = 768,    /* of the parser; a pair of parentheses counts 3, a statement 1 */
    LANG_MAX_TREE_DEPTH = 512, /* of one expression; a long chain a+a+... is deep on the left */
    LANG_MAX_TYPE_DEPTH = 32,
    LANG_MAX_MEMBERS = 4096,
    LANG_MAX_CALL_DEPTH = 64,
    LANG_MAX_REGION_DEPTH = 60, /* of the IR; passes may need some of the other half */
    LANG_MAX_VALUES = 4000000,  /* of one IR function, after inlining; the IR allows a few more */
    LANG_MAX_STEPS = 16 << 20,  /* tree nodes lowered, counting each inlined copy */
    LANG_MAX_FIELDS = 4096,     /* described to tools per parameter */
    LANG_SMALL_LEAVES =
        16 /* a struct of at most so many scalars, without arrays, is kept in variables */
};
#define LANG_MAX_OBJECT_BYTES                                                                      \
    0x40000000u /* of any type; the IR has tighter limits on each kind of memory */
#define LANG_MAX_ARENA_BYTES ((size_t)1 << 30)

/* --- positions and diagnostics (diag.c) ----------------------------------------------- */
typedef struct lang_pos {
    uint32_t line; /* 1-based; 0 = nowhere */
    uint16_t file; /* index into lang_context.files */
    uint16_t column;
    uint32_t length;
} lang_pos;

typedef enum lang_diag_id {
#define DIAG(number, name, severity, text, hint) D_##name,
#include "lang/diagnostics.def"
#undef DIAG
    D_COUNT
} lang_diag_id;
#define DIAG(number, name, severity, text, hint) static const char lang_text_D_##name[] = text;
#include "lang/diagnostics.def"
#undef DIAG

typedef struct lang_context lang_context;

/* Adds a diagnostic; the arguments belong to the text in diagnostics.def, and the compiler compares
 * them with it. The 20th error ends the compilation. */
#define ls__lang_report(context, pos, id, ...)                                                     \
    ls__lang_report_as((context), (pos), (id), lang_text_##id, ##__VA_ARGS__)
void ls__lang_report_as(lang_context *context, lang_pos pos, lang_diag_id id, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
/* The same for an id that is computed and whose text has one %s, or no argument. */
void ls__lang_report_one(lang_context *context, lang_pos pos, lang_diag_id id,
                         const char *argument);
/* Replaces the hint of the latest diagnostic. */
void ls__lang_hint(lang_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void ls__lang_stop(lang_context *context); /* after a report: nothing more can be done */

/* --- tokens (lex.c, preprocess.c) ----------------------------------------------------- */
typedef enum lang_token_kind {
    TOK_END,
    TOK_NAME,
    TOK_NUMBER,
    TOK_CHARACTER,
    TOK_STRING, /* the text of a static assertion; nothing else takes one */
#define TOKEN(name, text) TOK_##name,
#define KEYWORD(name, text) TOK_##name,
#define REFUSED(name, text) TOK_##name,
#include "lang/tokens.def"
#undef TOKEN
#undef KEYWORD
#undef REFUSED
    TOK_COUNT
} lang_token_kind;

typedef struct lang_name lang_name;
typedef struct lang_type lang_type;
typedef struct lang_symbol lang_symbol;
typedef struct lang_expr lang_expr;
typedef struct lang_stmt lang_stmt;
typedef struct lang_function lang_function;
typedef struct lang_declaration lang_declaration;

typedef struct lang_token {
    uint8_t kind;
    bool starts_line, after_space;
    lang_pos pos;
    union {
        ls__str text;    /* numbers and characters, as written */
        lang_name *name; /* names and words */
    } u;
} lang_token;

typedef LS__VEC(lang_token) lang_tokens;

typedef struct lang_macro {
    lang_pos pos;
    lang_tokens body;
    bool active; /* being expanded: not expanded again inside itself */
} lang_macro;

/* An interned identifier of a unit, with what it means at the current point. */
struct lang_name {
    ls__str text;
    uint64_t hash;
    lang_name *next;  /* in the hash chain */
    uint8_t token;    /* TOK_NAME or the keyword */
    bool is_type;     /* parser: a typedef name in the current scope */
    bool is_declared; /* parser: names something in the current scope */
    int16_t builtin;  /* lang_builtin, or -1 */
    lang_macro *macro;
    lang_symbol *symbol; /* checker: innermost visible */
    lang_symbol *tag;    /* checker: innermost visible struct or enum */
};

typedef struct lang_file {
    const char *path;
    const char *text;
    size_t length;
    char *owned; /* text from the include callback, freed at the end; else NULL */
    bool once;   /* #pragma once was seen */
} lang_file;

typedef struct lang_undo { /* what leaving a scope restores */
    lang_name *name;
    lang_symbol *symbol;
    bool is_tag, was_type;
} lang_undo;

typedef struct lang_unit {
    lang_context *context;
    bool is_library;
    lang_name **buckets;
    uint32_t bucket_count, name_count;
    lang_tokens tokens;
    uint32_t include_depth;
    LS__VEC(lang_undo) undo; /* of the checker's scopes */
} lang_unit;

void ls__lang_unit_init(lang_unit *unit, lang_context *context, bool is_library);
lang_name *ls__lang_intern(lang_unit *unit, ls__str text);
const char *ls__lang_token_text(lang_token_kind kind); /* spelling of punctuators and words */

/* Lexer over one file: tokens without preprocessing. */
typedef struct lang_lexer {
    lang_unit *unit;
    uint16_t file;
    const char *at, *end, *line_start;
    const char *token; /* start of the latest token */
    uint32_t line;
    bool starts_line;
} lang_lexer;
void ls__lang_lexer_init(lang_lexer *lexer, lang_unit *unit, uint16_t file);
lang_token ls__lang_lex(lang_lexer *lexer);
bool ls__lang_skip_space(lang_lexer *lexer); /* and comments; true when there was any */
void ls__lang_skip_line(lang_lexer *lexer);  /* to the end of the line, comments respected */

/* Preprocesses a file into unit->tokens (without a TOK_END). */
void ls__lang_preprocess(lang_unit *unit, uint16_t file);
uint16_t ls__lang_file_add(lang_context *context, lang_pos at, const char *path, const char *text,
                           size_t length, char *owned);

/* Values of literals; they report what is wrong and then give 0. */
uint64_t ls__lang_number(lang_context *context, const lang_token *token, lang_type **type);
int32_t ls__lang_character(lang_context *context, const lang_token *token);

/* --- types (type.c) ------------------------------------------------------------------- */
typedef enum lang_type_kind { /* integers in order of conversion rank, signed before unsigned */
                              TYPE_ERROR, /* of something already reported: silences what would
                                             follow */
                              TYPE_VOID,
                              TYPE_BOOL,
                              TYPE_I8,
                              TYPE_U8,
                              TYPE_I16,
                              TYPE_U16,
                              TYPE_I32,
                              TYPE_U32,
                              TYPE_I64,
                              TYPE_U64,
                              TYPE_F32,
                              TYPE_F64,
                              TYPE_STRUCT,
                              TYPE_ARRAY,
                              TYPE_POINTER
} lang_type_kind;

typedef struct lang_member {
    lang_name *name;
    lang_type *type;
    bool is_const;
    uint32_t offset;
    uint32_t first_leaf; /* scalars before this member */
} lang_member;

struct lang_type {
    uint8_t kind;
    uint8_t mem; /* ls_mem of scalars and of f16 and bf16, else LS_MEM_NONE */
    bool is_complete, has_f64, has_array, has_const_member;
    uint16_t depth;
    uint32_t size, alignment;
    uint32_t leaf_count; /* scalars inside, at most UINT32_MAX */
    lang_type *target;   /* of pointers and arrays */
    bool target_const;   /* of pointers */
    uint32_t count;      /* of arrays */
    const char *name;    /* "f32", "struct body" */
    lang_member *members;
    uint32_t member_count;
};

extern lang_type ls__lang_types[TYPE_F64 + 1]; /* the basic types, by kind; never written */
extern lang_type ls__lang_type_f16, ls__lang_type_bf16;
#define TY(name) (&ls__lang_types[TYPE_##name])

static inline bool lang_is_integer(const lang_type *type) /* bool included, as in C */
{
    return type->kind >= TYPE_BOOL && type->kind <= TYPE_U64;
}
static inline bool lang_is_float(const lang_type *type)
{
    return type->kind == TYPE_F32 || type->kind == TYPE_F64;
}
static inline bool lang_is_arithmetic(const lang_type *type)
{
    return type->kind >= TYPE_BOOL && type->kind <= TYPE_F64;
}
static inline bool lang_is_signed(const lang_type *type)
{
    return type->kind == TYPE_I8 || type->kind == TYPE_I16 || type->kind == TYPE_I32 ||
           type->kind == TYPE_I64;
}

lang_type *ls__lang_pointer_to(lang_context *context, lang_type *target, bool target_const);
/* NULL when the array would be too large. */
lang_type *ls__lang_array_of(lang_context *context, lang_type *element, uint32_t count);
void ls__lang_struct_layout(
    lang_type *type); /* offsets and sizes; size is UINT32_MAX when too large */
bool ls__lang_type_equal(const lang_type *a, const lang_type *b);
const char *ls__lang_type_text(lang_context *context, const lang_type *type,
                               bool is_const);      /* for messages */
ls_type ls__lang_value_type(const lang_type *type); /* of a scalar */
lang_type *ls__lang_promote(lang_type *type);
lang_type *ls__lang_common(lang_type *a, lang_type *b); /* usual arithmetic conversions */
const lang_member *ls__lang_member_find(const lang_type *type, const lang_name *name);
static inline bool lang_is_small(const lang_type *type) /* structs that are kept in variables */
{
    return type->kind == TYPE_STRUCT && !type->has_array && type->leaf_count <= LANG_SMALL_LEAVES;
}
/* The i-th scalar of a struct without arrays: its type and byte offset. */
const lang_type *ls__lang_leaf(const lang_type *type, uint32_t index, uint32_t *offset);

/* --- the syntax tree (made by parse*.c, annotated by check*.c) ------------------------ */
typedef struct lang_spec lang_spec;
typedef struct lang_declarator lang_declarator;

typedef enum lang_expr_kind {
    EXPR_NAME,     /* name; the checker makes it VAR or CONST */
    EXPR_CONST,    /* bits: value bits of a scalar as in LS_OP_CONST */
    EXPR_VAR,      /* symbol */
    EXPR_UNARY,    /* op: PLUS MINUS TILDE NOT STAR(dereference) AND(address) */
    EXPR_STEP,     /* op: INCREMENT DECREMENT; is_postfix */
    EXPR_BINARY,   /* op: the operator's token */
    EXPR_ASSIGN,   /* op: ASSIGN or the compound token; checked: `convert` is the type the operation
                      is done in */
    EXPR_CHOICE,   /* a ? b : c */
    EXPR_COMMA,    /* a, b */
    EXPR_CALL,     /* name, args; checked: function or builtin */
    EXPR_INDEX,    /* a[b] */
    EXPR_MEMBER,   /* a.name, or a->name with is_arrow; checked: member, never is_arrow */
    EXPR_CAST,     /* (type) a; also conversions the checker inserts */
    EXPR_DECAY,    /* array a as a pointer to its first element */
    EXPR_SIZEOF,   /* of a, or of spec and declarator */
    EXPR_COMPOUND, /* (type){...} */
    EXPR_LIST      /* {...} of an initialiser */
} lang_expr_kind;

typedef struct lang_item { /* of an initialiser list */
    lang_expr *value;
    lang_name *member; /* designator .member, or */
    lang_expr *index;  /* designator [index], or neither */
    lang_pos pos;
    bool is_checked; /* checker: value has its type */
} lang_item;

typedef struct lang_store { /* checked initialiser: a value for the bytes at `offset` */
    uint32_t offset;
    lang_type *type;
    lang_expr *value;
} lang_store;

typedef struct lang_init {
    lang_store *stores;
    uint32_t store_count;
    bool is_complete; /* every byte of every scalar is given a value */
} lang_init;

struct lang_expr {
    uint8_t kind, op;
    bool is_lvalue, is_const, is_postfix, is_arrow;
    bool is_constant;         /* bits hold the value */
    bool is_integer_constant; /* an integer constant expression, as C defines it */
    uint16_t depth;
    int16_t builtin;
    lang_pos pos;
    lang_type *type, *convert;
    uint64_t bits;
    lang_expr *a, *b, *c;
    lang_name *name;
    lang_symbol *symbol;
    const lang_member *member;
    lang_function *function;
    lang_spec *spec;
    lang_declarator *declarator;
    lang_init *init;
    lang_expr **args;
    uint32_t arg_count;
    LS__VEC(lang_item) items;
};

typedef struct lang_enumerator {
    lang_name *name;
    lang_pos pos;
    lang_expr *value;
} lang_enumerator;

typedef enum lang_spec_kind {
    SPEC_NONE,
    SPEC_BASIC,
    SPEC_NAME,
    SPEC_STRUCT,
    SPEC_ENUM
} lang_spec_kind;

struct lang_spec { /* declaration specifiers */
    uint8_t kind;
    bool is_const, is_static, is_inline, is_typedef, is_kernel, is_noinline, is_unordered,
        is_shared;
    bool has_workgroup, has_body;
    lang_pos pos, workgroup_pos;
    lang_type *basic;
    lang_name *name; /* typedef name or tag */
    LS__VEC(lang_declaration *) members;
    LS__VEC(lang_enumerator) enumerators;
    lang_expr *workgroup[3];
    lang_type *type; /* checker: set once */
};

typedef enum lang_part_kind { PART_POINTER, PART_ARRAY, PART_FUNCTION } lang_part_kind;

typedef struct lang_part { /* one derivation of a declarator, outermost (nearest the name) first */
    uint8_t kind;
    bool is_const; /* pointer: itself const */
    lang_pos pos;
    lang_expr *count; /* array; NULL = [] */
    bool is_minimum;  /* array: [static count] */
    LS__VEC(lang_declaration *) params;
} lang_part;

struct lang_declarator {
    lang_name *name; /* NULL in abstract declarators */
    lang_pos pos;
    LS__VEC(lang_part) parts;
    lang_expr *init;
    lang_symbol *symbol; /* checker */
    lang_init *checked;  /* checker: local variables */
};

typedef enum lang_declaration_kind {
    DECL_OBJECTS,
    DECL_FUNCTION,
    DECL_SPEC,
    DECL_ASSERT
} lang_declaration_kind;

struct lang_declaration {
    uint8_t kind;
    lang_pos pos;
    lang_spec *spec;
    LS__VEC(lang_declarator *) declarators;
    lang_stmt *body;  /* function */
    lang_expr *value; /* SPEC default, assertion */
    LS__VEC(lang_expr *) choices; /* SPEC: further values */
    lang_pos end;     /* closing brace of a function */
};

typedef enum lang_stmt_kind {
    STMT_EMPTY,
    STMT_EXPR,
    STMT_DECL,
    STMT_BLOCK,
    STMT_IF,
    STMT_FOR,
    STMT_WHILE,
    STMT_DO,
    STMT_SWITCH, /* groups */
    STMT_BREAK,
    STMT_CONTINUE,
    STMT_RETURN
} lang_stmt_kind;

typedef struct lang_group { /* labels and statements of a switch, up to the next label */
    LS__VEC(lang_expr *) values;
    bool has_default;
    lang_pos pos;
    LS__VEC(lang_stmt *) stmts;
} lang_group;

struct lang_stmt {
    uint8_t kind;
    lang_pos pos;
    lang_expr *value; /* expression, condition, returned value */
    lang_expr *step;
    lang_stmt *first, *body, *other; /* for: first; if: body, other */
    lang_declaration *declaration;
    LS__VEC(lang_stmt *) stmts;
    LS__VEC(lang_group) groups;
    bool has_return; /* checker: a return lies inside */
};

/* --- symbols and functions ------------------------------------------------------------ */
typedef enum lang_symbol_kind { SYM_VAR, SYM_CONST, SYM_TYPE, SYM_FUNCTION } lang_symbol_kind;
typedef enum lang_storage {
    STORAGE_LOCAL,
    STORAGE_PARAM,
    STORAGE_SHARED,
    STORAGE_TABLE
} lang_storage;

/* Where lowering keeps a variable at present; rewritten at each (inlined) declaration. */
typedef enum lang_home { HOME_NONE, HOME_VALUES, HOME_VARS, HOME_MEMORY, HOME_POINTER } lang_home;
typedef struct lang_offset { /* byte offset into a base */
    bool is_known;
    int64_t known;
    ls_value value; /* i64, when not known */
} lang_offset;
typedef struct lang_binding {
    uint8_t home;
    ls_base base;           /* memory, pointer (kind NONE until the first assignment) */
    lang_offset offset;     /* of a pointer that is never assigned again */
    const ls_value *values; /* VALUES: one a leaf */
    const ls_var *vars; /* VARS: one a leaf; POINTER: its offset, NULL when never assigned again */
} lang_binding;

struct lang_symbol {
    uint8_t kind, storage;
    bool is_const, is_tag, is_assigned, is_address_taken;
    uint16_t level; /* scope depth, 0 = file */
    lang_name *name;
    lang_pos pos;
    lang_type *type;
    uint32_t min_count; /* STORAGE_PARAM: elements that `[static N]` promises */
    uint64_t bits;      /* SYM_CONST: i32 value bits */
    lang_function *function;
    const uint8_t *bytes; /* STORAGE_TABLE: the contents */
    lang_binding binding;
};

typedef struct lang_call {
    lang_function *callee;
    lang_pos pos;
} lang_call;

struct lang_function {
    lang_symbol *symbol;
    lang_unit *unit;
    bool is_kernel, is_noinline, is_unordered, is_defined, declares_f64;
    uint8_t visit; /* call graph: 0 not seen, 1 on the path, 2 done */
    uint32_t call_depth;
    uint32_t workgroup[3];
    lang_type *result;
    LS__VEC(lang_symbol *) params;
    lang_stmt *body;
    lang_pos end;
    uint32_t return_count;
    LS__VEC(lang_call) calls;
    ls__ir_function *ir; /* kernels and noinline functions */
};

typedef enum lang_builtin_kind {
    BUILTIN_ID_DIM,
    BUILTIN_ID,
    BUILTIN_INT1,
    BUILTIN_INT_U32,
    BUILTIN_INT2,
    BUILTIN_ROTATE,
    BUILTIN_FLOAT1,
    BUILTIN_FLOAT2,
    BUILTIN_FLOAT3,
    BUILTIN_FTEST,
    BUILTIN_MATH1,
    BUILTIN_MATH2,
    BUILTIN_FIXED,
    BUILTIN_VALUE,
    BUILTIN_SG_NUM,
    BUILTIN_SG_INT,
    BUILTIN_SG_LANE,
    BUILTIN_ATOMIC,
    BUILTIN_CAS,
    BUILTIN_BOUNDED
} lang_builtin_kind;
typedef enum lang_builtin {
#define BUILTIN(text, name, args, kind) FN_##name,
#include "lang/builtins.def"
#undef BUILTIN
    FN_COUNT
} lang_builtin;
typedef struct lang_builtin_info {
    const char *name;
    uint8_t args, kind;
} lang_builtin_info;
extern const lang_builtin_info ls__lang_builtins[FN_COUNT];

/* --- the compilation ------------------------------------------------------------------ */
struct lang_context {
    ls__arena arena;
    ls__oom oom;  /* its jump also ends a compilation that has too many errors */
    bool stopped; /* the jump came from ls__lang_stop */
    const ls__lang_options *options;
    ls__lang_diagnostics *diagnostics;
    uint32_t error_count;
    LS__VEC(lang_file) files;
    uint32_t include_count;
    uint32_t macro_steps;
    void *locale; /* "C" locale for reading numbers */
    lang_unit user, library;
    uint64_t *define_used;              /* bit i: options->defines[i] named a SPEC constant */
    LS__VEC(lang_function *) functions; /* of the user's unit and of what was loaded, in order */
    LS__VEC(ls__ir_spec) specs;
    ls__ir_module *module;
};

/* --- stages --------------------------------------------------------------------------- */
typedef LS__VEC(lang_declaration *) lang_declarations;
/* parse.c: the tokens [first, count) of the unit. */
lang_declarations ls__lang_parse(lang_unit *unit, uint32_t first);
/* check.c: names, types, constants; conversions become EXPR_CAST nodes. */
void ls__lang_check(lang_unit *unit, const lang_declarations *declarations);
/* library.c: loads the library file that defines `name` (once) and gives the function; NULL after a
 * report. */
lang_function *ls__lang_library_function(lang_context *context, lang_pos pos, const char *name);
bool ls__lang_library_source(const lang_context *context, const char *name, size_t length,
                             const char **text, size_t *size);
/* lower.c: into context->module. */
void ls__lang_lower(lang_context *context);
/* lower_cooperate.c: barriers and subgroup operations of a lowered kernel stand in uniform control
 * flow. */
void ls__lang_check_uniform(lang_context *context, const lang_function *function);

/* --- constants and conversions (fold.c), shared by the checker and lowering ----------- */
typedef struct lang_conversion { /* up to three IR instructions; `to_bool` is instead "not equal to
                                    0" */
    bool to_bool;
    uint8_t count;
    struct {
        ls_op op;
        ls_type result;
        uint64_t imm;
    } steps[3];
} lang_conversion;
lang_conversion ls__lang_conversion(const lang_type *from, const lang_type *to);
/* The IR operation of an arithmetic, bitwise or comparison operator on operands of one type; *swap:
 * operands change places; comparisons give BOOL. */
ls_op ls__lang_binary_op(uint8_t op, const lang_type *operand, bool *swap);
/* Evaluates expr when its checked operands are constant; sets is_constant and bits. */
void ls__lang_fold(lang_expr *expr);
int64_t ls__lang_constant_value(const lang_expr *expr); /* integers: extended by the type's sign */
bool ls__lang_constant_truth(const lang_expr *expr);    /* not equal to 0 */
uint8_t ls__lang_plain_operator(uint8_t op);            /* the operator of a compound assignment */

#endif
