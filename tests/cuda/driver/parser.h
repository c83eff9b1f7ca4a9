/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of PTX text shares between its files: lex.c, parse.c, decode.c, decode_memory.c.
 */
#ifndef EMULATED_CUDA_PARSER_H
#define EMULATED_CUDA_PARSER_H

#include <setjmp.h>
#include <string.h>
#include "ptx.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* names, mnemonics, directives: letters, digits, _ $ % . */
    TOKEN_NUMBER, /* begins with a digit */
    TOKEN_STRING,
    TOKEN_MARK /* one character */
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text;
    size_t length;
    uint32_t line;
} token;

typedef enum symbol_kind { SYMBOL_REGISTER, SYMBOL_VARIABLE, SYMBOL_FUNCTION } symbol_kind;

typedef struct symbol {
    const char *name;
    size_t length;
    symbol_kind kind;
    operand place;
    variable *variable;
    function *function;
    uint32_t next; /* in its bucket, from 1 */
} symbol;

typedef struct label {
    const char *name;
    uint32_t index, line;
} label;

typedef struct branch_table { /* name: .branchtargets labels */
    const char *name, **labels;
    uint32_t count;
} branch_table;

enum { BUCKETS = 8192 };

typedef struct parser {
    ptx_module *module;
    const char *cursor, *end;
    uint32_t line;
    token t;                 /* the next one */
    uint32_t statement_line; /* of the instruction at hand; 0: none */
    jmp_buf out;
    char *message;
    size_t message_size;
    uint32_t buckets[BUCKETS];
    symbol *symbols;
    size_t symbol_count, symbol_capacity;
    /* Of the function at hand, copied into the module at its end. */
    function *function;
    instruction *code;
    size_t code_count, code_capacity;
    constant *constants;
    size_t constant_count, constant_capacity;
    relocation *relocations;
    size_t relocation_count, relocation_capacity;
    label *labels, *uses;
    size_t label_count, label_capacity, use_count, use_capacity;
    branch_table *tables;
    size_t table_count, table_capacity;
    variable **locals;
    size_t local_count, local_capacity;
} parser;

/* --- lex.c --------------------------------------------------------------------------------------
 */
_Noreturn void parser_fail(parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void parser_next(parser *p);
bool token_is(const token *t, const char *text);
bool parser_accept(parser *p, const char *text);
void parser_expect(parser *p, const char *text);
char *parser_name(parser *p); /* the word at hand, copied, and on to the next token */

typedef enum number_kind { NUMBER_INTEGER, NUMBER_F32, NUMBER_F64 } number_kind;
typedef struct number {
    number_kind kind;
    uint64_t bits; /* of an integer in two's complement, of a float as its kind says */
} number;
number parser_number(parser *p); /* with signs, parentheses and WARP_SZ */
uint64_t number_value(number n, unsigned width, bool is_float);
uint64_t parser_integer(parser *p);

symbol *parser_find(parser *p, const char *name, size_t length);
symbol *parser_define(parser *p, const char *name, symbol_kind kind);
void parser_forget(parser *p, size_t count); /* symbols beyond the first `count` */

/* Makes room for one more element and returns it zeroed. */
void *parser_push(void **items, size_t *count, size_t *capacity, size_t size);
#define PUSH(p, items, count, capacity)                                                            \
    parser_push((void **)&(p)->items, &(p)->count, &(p)->capacity, sizeof *(p)->items)

/* --- types --------------------------------------------------------------------------------------
 */
typedef enum type_kind {
    TYPE_NONE,
    TYPE_B8,
    TYPE_B16,
    TYPE_B32,
    TYPE_B64,
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_S8,
    TYPE_S16,
    TYPE_S32,
    TYPE_S64,
    TYPE_F16,
    TYPE_BF16,
    TYPE_F32,
    TYPE_F64,
    TYPE_PRED
} type_kind;

/* The type that `text` names ("u32"), or TYPE_NONE. */
type_kind type_named(const char *text, size_t length);
unsigned type_size(type_kind type); /* bytes; 0 of a predicate */
bool type_signed(type_kind type);
bool type_float(type_kind type);

/* --- parse.c ------------------------------------------------------------------------------------
 */
variable *parser_variable(parser *p, space where); /* after the space's word */

/* --- decode.c -----------------------------------------------------------------------------------
 */
typedef enum argument_kind {
    ARGUMENT_REGISTER,
    ARGUMENT_NUMBER,
    ARGUMENT_VARIABLE, /* or a function's or label's name: `variable` is NULL */
    ARGUMENT_ADDRESS,  /* `inner` is what stands before the addend */
    ARGUMENT_VECTOR,
    ARGUMENT_SINK /* _ */
} argument_kind;

typedef struct argument {
    argument_kind kind, inner;
    operand place;
    number number;
    variable *variable;
    const char *name;
    size_t name_length;
    int64_t addend;
    operand second; /* d|p */
    operand items[8];
    uint32_t item_count;
} argument;

enum { MAX_ARGUMENTS = 6, MAX_PARTS = 12 };

typedef struct statement {
    char mnemonic[96];
    char parts[MAX_PARTS][20]; /* the mnemonic between its dots */
    unsigned part_count, part; /* `part` is the next to look at */
    argument arguments[MAX_ARGUMENTS];
    unsigned argument_count;
    instruction *in;
} statement;

void parser_instruction(parser *p); /* the mnemonic, or the guard before it, is at hand */
operand parser_constant(parser *p, unsigned width, uint64_t value);
operand parser_address(parser *p, unsigned width, variable *v, int64_t addend);
operand argument_operand(parser *p, const argument *a, unsigned width, bool is_float);
void statement_count(parser *p, const statement *s, unsigned least, unsigned most);
bool statement_part(statement *s, const char *text); /* takes it if it is next */
type_kind statement_type(parser *p, statement *s);
void statement_end(parser *p, const statement *s); /* no parts are left over */
unsigned register_class(type_kind type);           /* width of a register, 1 for a predicate */

/* decode_memory.c, decode_flow.c: false when the mnemonic is not theirs. */
bool decode_memory(parser *p, statement *s);
bool decode_flow(parser *p, statement *s);
bool decode_convert(parser *p, statement *s);

#endif
