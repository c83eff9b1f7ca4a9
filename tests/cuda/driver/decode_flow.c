/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that change the order of execution or need other lanes. */
#include "parser.h"
#include "warp.h"

static void use_label(parser *p, const char *name)
{
    label *use = PUSH(p, uses, use_count, use_capacity);
    *use = (label){name, (uint32_t)p->code_count, p->statement_line};
}

static bool decode_branch(parser *p, statement *s)
{
    instruction *in = s->in;
    bool table = strcmp(s->parts[0], "brx") == 0;
    if (!table && strcmp(s->parts[0], "bra") != 0)
        return false;
    if (table && !statement_part(s, "idx"))
        parser_fail(p, "'%s' is not emulated", s->mnemonic);
    statement_part(s, "uni");
    statement_end(p, s);
    statement_count(p, s, 1 + table, 1 + table);
    const argument *to = &s->arguments[table];
    if (to->kind != ARGUMENT_VARIABLE)
        parser_fail(p, "'%s' needs a label", s->mnemonic);
    if (!table) {
        in->flow = FLOW_BRANCH;
        use_label(p, to->name);
        return true;
    }
    in->flow = FLOW_TABLE;
    in->a = argument_operand(p, &s->arguments[0], 4, false);
    for (size_t i = 0; i < p->table_count; i++) {
        const branch_table *t = &p->tables[i];
        if (strcmp(t->name, to->name) != 0)
            continue;
        in->more_count = t->count;
        in->targets = ptx_own(p->module, t->count, sizeof *in->targets);
        for (uint32_t k = 0; k < t->count; k++)
            use_label(p, t->labels[k]);
        return true;
    }
    parser_fail(p, "there are no .branchtargets %s before this", to->name);
}

static void call_list(parser *p, variable ***list, size_t *count)
{
    parser_expect(p, "(");
    *list = ptx_own(p->module, 64, sizeof **list);
    while (!token_is(&p->t, ")")) {
        char *name = parser_name(p);
        symbol *found = parser_find(p, name, strlen(name));
        if (!found || found->kind != SYMBOL_VARIABLE || found->variable->space != SPACE_FRAME)
            parser_fail(p, "%s is no .param of this function", name);
        if (*count == 64)
            parser_fail(p, "a call with more than 64 arguments");
        (*list)[(*count)++] = found->variable;
        if (!parser_accept(p, ","))
            break;
    }
    parser_expect(p, ")");
}

/* call[.uni] [(result),] name [, (arguments)] */
static bool decode_call(parser *p, statement *s)
{
    if (strcmp(s->parts[0], "call") != 0)
        return false;
    call_site *call = ptx_own(p->module, 1, sizeof *call);
    statement_part(s, "uni");
    statement_end(p, s);
    call->line = s->in->line;
    if (token_is(&p->t, "(")) {
        call_list(p, &call->results, &call->result_count);
        parser_expect(p, ",");
    }
    call->name = parser_name(p);
    symbol *found = parser_find(p, call->name, strlen(call->name));
    if (!found || found->kind != SYMBOL_FUNCTION)
        parser_fail(p, "there is no function %s, or the call is indirect, which is not emulated",
                    call->name);
    call->callee = found->function;
    if (parser_accept(p, ","))
        call_list(p, &call->arguments, &call->argument_count);
    if (!token_is(&p->t, ";"))
        parser_fail(p, "indirect calls are not emulated");
    const function *f = call->callee;
    bool same = f->parameter_count == call->argument_count && f->result_count == call->result_count;
    for (size_t i = 0; same && i < call->argument_count; i++)
        same = f->parameters[i]->size == call->arguments[i]->size;
    for (size_t i = 0; same && i < call->result_count; i++)
        same = f->results[i]->size == call->results[i]->size;
    if (!same)
        parser_fail(p, "the call does not fit %s", call->name);
    s->in->call = call;
    s->in->flow = FLOW_CALL;
    return true;
}

static bool decode_end(parser *p, statement *s)
{
    instruction *in = s->in;
    bool returns = strcmp(s->parts[0], "ret") == 0, exits = strcmp(s->parts[0], "exit") == 0;
    if (!returns && !exits && strcmp(s->parts[0], "trap") != 0)
        return false;
    if (returns)
        statement_part(s, "uni");
    statement_end(p, s);
    statement_count(p, s, 0, 0);
    if (returns || exits)
        in->flow = returns && !p->function->entry ? FLOW_RETURN : FLOW_EXIT;
    else
        in->run = run_trap;
    return true;
}

static operand member_mask(parser *p, const statement *s, unsigned index)
{
    return argument_operand(p, &s->arguments[index], 4, false);
}

static bool decode_barrier(parser *p, statement *s)
{
    instruction *in = s->in;
    bool bar = strcmp(s->parts[0], "bar") == 0;
    if (!bar && strcmp(s->parts[0], "barrier") != 0)
        return false;
    if (bar && statement_part(s, "warp")) {
        if (!statement_part(s, "sync"))
            parser_fail(p, "'%s' is not emulated", s->mnemonic);
        statement_end(p, s);
        statement_count(p, s, 1, 1);
        in->e = member_mask(p, s, 0);
        in->run = run_warp_barrier;
        in->flow = FLOW_COLLECTIVE;
        return true;
    }
    statement_part(s, "cta");
    bool reduces = statement_part(s, "red");
    if (reduces)
        in->operation = statement_part(s, "popc")  ? BARRIER_POPC
                        : statement_part(s, "and") ? BARRIER_AND
                        : statement_part(s, "or")  ? BARRIER_OR
                                                   : BARRIER_SYNC;
    in->aligned = bar;
    in->aligned |= statement_part(s, "aligned");
    if (reduces ? !in->operation || !in->aligned : !statement_part(s, "sync"))
        parser_fail(p, "'%s' is not emulated", s->mnemonic);
    in->aligned |= statement_part(s, "aligned");
    const argument *a = s->arguments;
    if (reduces) {
        type_kind type = statement_type(p, s);
        if (type != (in->operation == BARRIER_POPC ? TYPE_U32 : TYPE_PRED))
            parser_fail(p, "there is no '%s'", s->mnemonic);
        statement_count(p, s, 3, 4);
        in->d = argument_operand(p, a++, register_class(type), false);
        in->c = argument_operand(p, &s->arguments[s->argument_count - 1], 1, false);
    } else {
        statement_count(p, s, 1, 2);
    }
    statement_end(p, s);
    in->a = argument_operand(p, a++, 4, false);
    if (s->argument_count == (reduces ? 4u : 2u))
        in->b = argument_operand(p, a, 4, false);
    in->flow = FLOW_BARRIER;
    return true;
}

/* What lanes of a warp do together: is it `name`, and in which of its modes? */
static bool is_collective(parser *p, statement *s, const char *name, const char *const *modes,
                          unsigned mode_count)
{
    instruction *in = s->in;
    if (strcmp(s->parts[0], name) != 0)
        return false;
    if (!statement_part(s, "sync"))
        parser_fail(p, "'%s' without sync is gone since sm_70", s->mnemonic);
    for (in->operation = 0; in->operation < mode_count; in->operation++)
        if (statement_part(s, modes[in->operation]))
            break;
    in->flow = FLOW_COLLECTIVE;
    return true;
}

/* The type is one there is; behind it come `count` operands, the last of them who takes part. */
static void end_collective(parser *p, statement *s, bool is_there, unsigned count)
{
    if (!is_there)
        parser_fail(p, "there is no '%s'", s->mnemonic);
    statement_end(p, s);
    statement_count(p, s, count, count);
    s->in->e = member_mask(p, s, count - 1);
}

static bool decode_shuffle(parser *p, statement *s)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    instruction *in = s->in;
    if (!is_collective(p, s, "shfl", modes, 4))
        return false;
    end_collective(p, s, statement_type(p, s) == TYPE_B32 && in->operation < 4, 5);
    const argument *a = s->arguments;
    if (a[0].kind == ARGUMENT_REGISTER)
        in->d = argument_operand(p, &a[0], 4, false);
    in->d2 = a[0].second;
    in->a = argument_operand(p, &a[1], 4, false);
    in->b = argument_operand(p, &a[2], 4, false);
    in->c = argument_operand(p, &a[3], 4, false);
    in->run = run_shuffle;
    return true;
}

static bool decode_vote(parser *p, statement *s)
{
    static const char *const modes[] = {"all", "any", "uni", "ballot"};
    instruction *in = s->in;
    if (!is_collective(p, s, "vote", modes, 4))
        return false;
    bool ballot = in->operation == 3;
    type_kind type = statement_type(p, s);
    end_collective(p, s, type == (ballot ? TYPE_B32 : TYPE_PRED) && in->operation < 4, 3);
    in->d = argument_operand(p, &s->arguments[0], ballot ? 4 : 1, false);
    in->a = argument_operand(p, &s->arguments[1], 1, false);
    in->run = run_vote;
    return true;
}

static bool decode_match(parser *p, statement *s)
{
    instruction *in = s->in;
    if (strcmp(s->parts[0], "match") != 0)
        return false;
    in->operation = statement_part(s, "all");
    bool is_there = (in->operation || statement_part(s, "any")) && statement_part(s, "sync");
    type_kind type = statement_type(p, s);
    end_collective(p, s, is_there && (type == TYPE_B32 || type == TYPE_B64), 3);
    in->d = argument_operand(p, &s->arguments[0], 4, false);
    in->d2 = s->arguments[0].second;
    in->a = argument_operand(p, &s->arguments[1], type_size(type), false);
    in->run = run_match;
    in->flow = FLOW_COLLECTIVE;
    return true;
}

static bool decode_reduce(parser *p, statement *s)
{
    static const char *const modes[] = {"add", "min", "max", "and", "or", "xor"};
    instruction *in = s->in;
    if (!is_collective(p, s, "redux", modes, 6))
        return false;
    type_kind type = statement_type(p, s);
    in->is_signed = type_signed(type);
    bool is_there = in->operation < 3 ? type == TYPE_U32 || type == TYPE_S32
                                      : type == TYPE_B32 && in->operation < 6;
    if (is_there && p->module->target < 80)
        parser_fail(p, "'%s' needs sm_80", s->mnemonic);
    end_collective(p, s, is_there, 3);
    in->d = argument_operand(p, &s->arguments[0], 4, false);
    in->a = argument_operand(p, &s->arguments[1], 4, false);
    in->run = run_reduce;
    return true;
}

static bool decode_other(parser *p, statement *s)
{
    instruction *in = s->in;
    if (strcmp(s->mnemonic, "activemask.b32") == 0) {
        statement_count(p, s, 1, 1);
        in->d = argument_operand(p, &s->arguments[0], 4, false);
        in->run = run_active_mask;
        return true;
    }
    if (strcmp(s->mnemonic, "nanosleep.u32") == 0) {
        statement_count(p, s, 1, 1);
        in->a = argument_operand(p, &s->arguments[0], 4, false);
        in->flow = FLOW_YIELD;
        return true;
    }
    return false;
}

bool decode_flow(parser *p, statement *s)
{
    return decode_branch(p, s) || decode_call(p, s) || decode_end(p, s) || decode_barrier(p, s) ||
           decode_shuffle(p, s) || decode_vote(p, s) || decode_match(p, s) || decode_reduce(p, s) ||
           decode_other(p, s);
}
