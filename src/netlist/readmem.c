/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for $readmemh and $readmemb (IEEE 1364-2005, 17.2.9): words between blanks, underscores
 * within them, @ and a hexadecimal address, comments of both kinds. x, z and ? are digits.
 */
#include "netlist/image_file.h"

#include <string.h>

#include "base/status.h"

enum { DIGITS_MOST = 1 << 16 };

typedef struct scanner {
    const char *text, *path;
    size_t size, at;
    uint64_t line;
    ls_error *error;
} scanner;

static ls_status fail(scanner *scanner, const char *what)
{
    ls_status status = ls__fail(scanner->error, LS_E_FORMAT, "%s", what);
    return ls__fail_where(scanner->error, status, "%s:%llu", scanner->path,
                          (unsigned long long)scanner->line);
}

static char look(const scanner *scanner, size_t ahead)
{
    return ahead < scanner->size - scanner->at ? scanner->text[scanner->at + ahead] : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Blanks and comments. */
static ls_status skip(scanner *scanner)
{
    while (scanner->at < scanner->size) {
        if (is_blank(look(scanner, 0))) {
            scanner->line += look(scanner, 0) == '\n';
            scanner->at++;
        } else if (look(scanner, 0) == '/' && look(scanner, 1) == '/') {
            while (scanner->at < scanner->size && look(scanner, 0) != '\n')
                scanner->at++;
        } else if (look(scanner, 0) == '/' && look(scanner, 1) == '*') {
            scanner->at += 2;
            while (scanner->at < scanner->size &&
                   !(look(scanner, 0) == '*' && look(scanner, 1) == '/')) {
                scanner->line += look(scanner, 0) == '\n';
                scanner->at++;
            }
            if (scanner->at == scanner->size)
                return fail(scanner, "a comment does not end");
            scanner->at += 2;
        } else {
            return LS_OK;
        }
    }
    return LS_OK;
}

static bool is_digit(char c, unsigned digit_bits)
{
    if (c == 'x' || c == 'X' || c == 'z' || c == 'Z' || c == '?')
        return true;
    if (digit_bits == 1)
        return c == '0' || c == '1';
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Digits up to a blank or comment, without underscores. */
static ls_status take_digits(scanner *scanner, unsigned digit_bits, char *digits, size_t *count)
{
    *count = 0;
    for (;;) {
        char c = look(scanner, 0);
        if (scanner->at == scanner->size || is_blank(c) || c == '/')
            break;
        scanner->at++;
        if (c == '_' && *count > 0)
            continue;
        if (!is_digit(c, digit_bits))
            return fail(scanner, c == ':' && *count == 0
                                     ? "this looks like Intel HEX, not like text for $readmemh; "
                                       "objcopy -O verilog or -O binary converts it"
                                     : "a character that is no digit");
        if (*count == DIGITS_MOST)
            return fail(scanner, "a word is too long");
        digits[(*count)++] = c;
    }
    return *count ? LS_OK : fail(scanner, "a number is missing");
}

static ls_status take_address(scanner *scanner, char *digits, uint64_t *address)
{
    size_t count;
    scanner->at++;
    ls_status status = take_digits(scanner, 4, digits, &count);
    if (status != LS_OK)
        return status;
    *address = 0;
    for (size_t i = 0; i < count; i++) {
        char c = digits[i];
        uint64_t value = c <= '9' ? (uint64_t)(c - '0') : (uint64_t)((c | 32) - 'a' + 10);
        if (value > 15)
            return fail(scanner, "an address is undefined");
        if (*address >> 60)
            return fail(scanner, "an address is too large");
        *address = *address << 4 | value;
    }
    return LS_OK;
}

ls_status ls__readmem_visit(const char *text, size_t size, const char *path, unsigned digit_bits,
                            uint64_t first, ls__word_visitor visit, void *context, ls_error *error)
{
    scanner scanner = {.text = text, .path = path, .size = size, .line = 1, .error = error};
    char digits[DIGITS_MOST];
    uint64_t address = first;
    for (;;) {
        size_t count;
        ls_status status = skip(&scanner);
        if (status != LS_OK || scanner.at == size)
            return status;
        if (look(&scanner, 0) == '@') {
            status = take_address(&scanner, digits, &address);
        } else {
            status = take_digits(&scanner, digit_bits, digits, &count);
            if (status == LS_OK)
                status = visit(context, address++, digits, count, scanner.line, error);
        }
        if (status != LS_OK)
            return status;
    }
}
