/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVPTX ends the process on what it cannot do, and does some of what it cannot do well: frem
 * becomes operations that ptxas contracts, ordered atomics become relaxed ones, rounding modes are
 * dropped, mathematical functions are called from a library that is not there. So a module is read
 * once before LLVM works on it, and holds nothing but what this file names.
 */
#include <string.h>

#include "base/status.h"
#include "emit/llvm/session.h"
#include "emit/ptx/check.h"

static const char *const intrinsics[] = {
    "llvm.ctpop",
    "llvm.ctlz",
    "llvm.cttz",
    "llvm.fshl",
    "llvm.smin",
    "llvm.smax",
    "llvm.umin",
    "llvm.umax",
    "llvm.sadd.sat",
    "llvm.uadd.sat",
    "llvm.ssub.sat",
    "llvm.usub.sat",
    "llvm.sqrt",
    "llvm.fabs",
    "llvm.fptosi.sat",
    "llvm.fptoui.sat",
    "llvm.fma",
    "llvm.floor",
    "llvm.ceil",
    "llvm.trunc",
    "llvm.roundeven",
    "llvm.memset",
    "llvm.nvvm.barrier0",
    "llvm.nvvm.barrier0.or",
    "llvm.nvvm.membar.gl",
    "llvm.nvvm.shfl.sync.idx.i32",
    "llvm.nvvm.shfl.sync.bfly.i32",
    "llvm.nvvm.vote.ballot.sync",
    "llvm.nvvm.read.ptx.sreg.tid.x",
    "llvm.nvvm.read.ptx.sreg.ctaid.x",
    "llvm.nvvm.read.ptx.sreg.ctaid.y",
    "llvm.nvvm.read.ptx.sreg.ctaid.z",
    "llvm.nvvm.read.ptx.sreg.nctaid.x",
    "llvm.nvvm.read.ptx.sreg.nctaid.y",
    "llvm.nvvm.read.ptx.sreg.nctaid.z",
};

static const char *const assembly[] = {
    "dp4a.s32.s32 $0, $1, $2, $3;",
    "dp4a.u32.s32 $0, $1, $2, $3;",
    "min.f32 $0, $1, $2;",
    "max.f32 $0, $1, $2;",
    "min.f64 $0, $1, $2;",
    "max.f64 $0, $1, $2;",
    "mov.u32 $0, 0;",
    "exit;",
};

static const struct {
    LLVMOpcode opcode;
    const char *name; /* NULL: allowed */
} opcodes[] = {
    {LLVMRet, NULL},           {LLVMBr, NULL},
    {LLVMSwitch, NULL},        {LLVMUnreachable, NULL},
    {LLVMAdd, NULL},           {LLVMSub, NULL},
    {LLVMMul, NULL},           {LLVMUDiv, NULL},
    {LLVMSDiv, NULL},          {LLVMURem, NULL},
    {LLVMSRem, NULL},          {LLVMShl, NULL},
    {LLVMLShr, NULL},          {LLVMAShr, NULL},
    {LLVMAnd, NULL},           {LLVMOr, NULL},
    {LLVMXor, NULL},           {LLVMFNeg, NULL},
    {LLVMFAdd, NULL},          {LLVMFSub, NULL},
    {LLVMFMul, NULL},          {LLVMFDiv, NULL},
    {LLVMAlloca, NULL},        {LLVMLoad, NULL},
    {LLVMStore, NULL},         {LLVMGetElementPtr, NULL},
    {LLVMTrunc, NULL},         {LLVMZExt, NULL},
    {LLVMSExt, NULL},          {LLVMUIToFP, NULL},
    {LLVMSIToFP, NULL},        {LLVMFPTrunc, NULL},
    {LLVMFPExt, NULL},         {LLVMPtrToInt, NULL},
    {LLVMIntToPtr, NULL},      {LLVMBitCast, NULL},
    {LLVMICmp, NULL},          {LLVMFCmp, NULL},
    {LLVMPHI, NULL},           {LLVMCall, NULL},
    {LLVMSelect, NULL},        {LLVMExtractValue, NULL},
    {LLVMInsertValue, NULL},   {LLVMAtomicRMW, NULL},
    {LLVMAtomicCmpXchg, NULL}, {LLVMFRem, "frem"},
    {LLVMFence, "fence"},
};

static ls_status refuse(ls_error *error, const char *what, const char *name, size_t length)
{
    return ls__fail(error, LS_E_INTERNAL, "the code generator for PTX made %s '%.*s'", what,
                    (int)length, name);
}

static ls_status check_opcode(LLVMOpcode opcode, ls_error *error)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        const char *name = opcodes[i].name;
        if (opcodes[i].opcode == opcode)
            return name ? refuse(error, "an instruction", name, strlen(name)) : LS_OK;
    }
    return ls__fail(error, LS_E_INTERNAL, "the code generator for PTX made instruction %d",
                    (int)opcode);
}

static ls_status check_ordering(const emitter *e, lv inst, LLVMOpcode opcode, ls_error *error)
{
    LLVMAtomicOrdering order = LLVMAtomicOrderingMonotonic;
    if (opcode == LLVMLoad || opcode == LLVMStore || opcode == LLVMAtomicRMW)
        order = e->l->GetOrdering(inst);
    if (opcode == LLVMAtomicCmpXchg)
        order = e->l->GetCmpXchgSuccessOrdering(inst);
    if (order != LLVMAtomicOrderingNotAtomic && order != LLVMAtomicOrderingMonotonic)
        return ls__fail(error, LS_E_INTERNAL,
                        "the code generator for PTX made an ordered atomic access");
    return LS_OK;
}

static bool is_listed(const char *const *list, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == length && memcmp(list[i], text, length) == 0)
            return true;
    }
    return false;
}

static ls_status check_call(const emitter *e, lv inst, ls_error *error)
{
    size_t length;
    lv callee = e->l->GetCalledValue(inst);
    if (!e->l->IsAInlineAsm(callee))
        return LS_OK;
    const char *text = e->l->GetInlineAsmAsmString(callee, &length);
    if (is_listed(assembly, sizeof assembly / sizeof *assembly, text, length))
        return LS_OK;
    return refuse(error, "the instruction", text, length);
}

static ls_status check_function(const emitter *e, lv function, ls_error *error)
{
    const ls__llvm *l = e->l;
    for (lb b = l->GetFirstBasicBlock(function); b; b = l->GetNextBasicBlock(b)) {
        for (lv i = l->GetFirstInstruction(b); i; i = l->GetNextInstruction(i)) {
            LLVMOpcode opcode = l->GetInstructionOpcode(i);
            ls_status status = check_opcode(opcode, error);
            if (status == LS_OK)
                status = check_ordering(e, i, opcode, error);
            if (status == LS_OK && opcode == LLVMCall)
                status = check_call(e, i, error);
            if (status != LS_OK)
                return status;
        }
    }
    return LS_OK;
}

static bool is_intrinsic(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++) {
        bool is_general = strncmp(intrinsics[i], "llvm.nvvm.", 10) != 0;
        if (is_listed(&intrinsics[i], 1, name, length) ||
            (is_general && ls__llvm_names(intrinsics[i], name, length)))
            return true;
    }
    return false;
}

ls_status ls__ptx_check(const emitter *e, ls_error *error)
{
    const ls__llvm *l = e->l;
    for (lv f = l->GetFirstFunction(e->out); f; f = l->GetNextFunction(f)) {
        size_t length;
        const char *name = l->GetValueName2(f, &length);
        if (l->IsDeclaration(f) && !is_intrinsic(name, length))
            return refuse(error, "a call of", name, length);
        ls_status status = check_function(e, f, error);
        if (status != LS_OK)
            return status;
    }
    return ls__llvm_verify(e, error);
}
