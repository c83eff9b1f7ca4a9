/* SPDX-License-Identifier: Apache-2.0 */
/* The look-ups of the kernels of language models are seen as such, after all our passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/source_text.h"
#include "emit/llvm/api.h"
#include "emit/llvm/emit.h"
#include "emit/llvm/lookup.h"
#include "harness.h"
#include "llm/matrix.h"
#include "pass/pass.h"

static const int8_t curve[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113};

typedef struct count {
    const ls__ir_function *function;
    uint32_t products, low, high;
} count;

static bool look(ls__ir_inst *inst, void *context)
{
    count *c = context;
    look_up found;
    if (inst->op != LS_OP_DOT4_SS && inst->op != LS_OP_DOT4_US)
        return true;
    c->products++;
    if (!ls__llvm_find_look_up(c->function, inst->args[0], &found))
        return true;
    assert_memory_equal(found.table, curve, sizeof curve);
    c->low += !found.is_high;
    c->high += found.is_high;
    assert_int_equal(ls__ir_def(c->function, found.root)->op, LS_OP_LOAD);
    return true;
}

static ls__ir_module *make_product(ls_gguf_type type, uint32_t tile, const char *target)
{
    ls__strbuf text = {0};
    ls__pass_options options = {.lower = ls__llvm_lowering(target), .optimize = true};
    ls_error error = {0};
    for (uint32_t i = 0; i < ls__llm_kernels_count; i++)
        ls__strbuf_append(&text, ls__llm_kernels[i].text, ls__llm_kernels[i].length);
    ls__matrix_kernel(&text, ls__matrix_form_of(type), "product", tile);
    ls__ir_module *module = ls__compile_text(text.text, "product.kc");
    ls__strbuf_finish(&text);
    assert_non_null(module);
    assert_int_equal(ls__pass_run(module, &options, &error), LS_OK);
    return module;
}

static count count_in(ls_gguf_type type, uint32_t tile)
{
    ls__ir_module *module = make_product(type, tile, "avx2");
    count c = {0};
    for (uint32_t i = 1; i < module->functions.count; i++) {
        c.function = module->functions.items[i];
        ls__ir_walk(c.function->body, look, &c);
    }
    ls__ir_module_destroy(&module);
    return c;
}

static void test_look_ups(void **state)
{
    static const ls_gguf_type looked_up[] = {LS_GGUF_TYPE_IQ4_NL, LS_GGUF_TYPE_IQ4_XS};
    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t tile = 1; tile <= 4; tile += 3) {
            count c = count_in(looked_up[i], tile);
            assert_int_equal(c.products, 8 * tile);
            assert_int_equal(c.low, 4 * tile);
            assert_int_equal(c.high, 4 * tile);
        }
}

/* Bits that a mask takes are not worth a table. */
static void test_masks(void **state)
{
    static const ls_gguf_type masked[] = {LS_GGUF_TYPE_Q4_0, LS_GGUF_TYPE_Q5_0, LS_GGUF_TYPE_Q8_0,
                                          LS_GGUF_TYPE_Q3_K, LS_GGUF_TYPE_Q6_K};
    (void)state;
    for (uint32_t i = 0; i < sizeof masked / sizeof *masked; i++) {
        count c = count_in(masked[i], 1);
        assert_int_not_equal(c.products, 0);
        assert_int_equal(c.low + c.high, 0);
    }
}

/* The code is there for all levels that have the instruction, whatever this machine has. */
static void test_targets(void **state)
{
    static const char *const targets[] = {"avx2+quick", "avx2+avxvnni+quick", "avx512+quick",
                                          "avx512+avx512vnni+quick"};
    const ls__llvm *llvm;
    ls_error error = {0};
    (void)state;
    if (ls__llvm_load(&llvm, &error) != LS_OK)
        skip();
    for (uint32_t i = 0; i < 4; i++) {
        ls__ir_module *module = make_product(LS_GGUF_TYPE_IQ4_XS, 1, targets[i]);
        char *text = NULL;
        assert_int_equal(ls__llvm_print(module, targets[i], true, &text, &error), LS_OK);
        assert_non_null(strstr(text, "call <32 x i8> @llvm.x86.avx2.pshuf.b("));
        ls__mem_free(text);
        ls__ir_module_destroy(&module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_look_ups),
                                       cmocka_unit_test(test_masks),
                                       cmocka_unit_test(test_targets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
