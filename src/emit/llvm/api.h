/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libLLVM's C functions as a table filled by dlopen and dlsym: the build needs LLVM's headers, not its
 * library, and a program that compiles nothing never loads it. Types and enums are the headers'.
 */
#ifndef LS_EMIT_LLVM_API_H
#define LS_EMIT_LLVM_API_H

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "lockstep/base.h"

/* X(name without LLVM) */
#define LS__LLVM_FUNCTIONS(X)                                                                      \
    X(AddAttributeAtIndex) X(AddCase) X(AddFunction) X(AddGlobal) X(AddIncoming)                   \
    X(AppendBasicBlockInContext) X(ArrayType2) X(BuildAShr) X(BuildAdd) X(BuildAlloca)             \
    X(BuildAnd) X(BuildAtomicCmpXchg) X(BuildAtomicRMW) X(BuildBitCast) X(BuildBr) X(BuildCall2)   \
    X(BuildCondBr) X(BuildExtractElement) X(BuildExtractValue) X(BuildFAdd) X(BuildFCmp)           \
    X(BuildFDiv) X(BuildFMul) X(BuildFNeg) X(BuildFPExt) X(BuildFPToSI) X(BuildFPToUI)             \
    X(BuildFPTrunc) X(BuildFSub) X(BuildGEP2) X(BuildICmp) X(BuildInsertElement) X(BuildLShr)      \
    X(BuildLoad2) X(BuildMemSet) X(BuildMul) X(BuildNot) X(BuildOr) X(BuildPhi) X(BuildRet)        \
    X(BuildRetVoid) X(BuildSDiv) X(BuildSExt) X(BuildSIToFP) X(BuildSRem) X(BuildSelect)           \
    X(BuildShl) X(BuildShuffleVector) X(BuildStore) X(BuildSub) X(BuildSwitch) X(BuildTrunc)       \
    X(BuildUDiv) X(BuildUIToFP) X(BuildURem) X(BuildUnreachable) X(BuildXor) X(BuildZExt)          \
    X(ConstArray2) X(ConstInt) X(ConstNull) X(ConstStringInContext2) X(ConstVector)                \
    X(ContextCreate) X(ContextDispose) X(ContextSetDiagnosticHandler)                              \
    X(ContextSetDiscardValueNames) X(CreateBuilderInContext) X(CreateEnumAttribute)                \
    X(CreatePassBuilderOptions) X(CreateTargetDataLayout) X(CreateTargetMachineOptions)            \
    X(CreateTargetMachineWithOptions) X(DisposeBuilder) X(DisposeMemoryBuffer) X(DisposeMessage)   \
    X(DisposeModule) X(DisposePassBuilderOptions) X(DisposeTargetData) X(DisposeTargetMachine)     \
    X(DisposeTargetMachineOptions) X(DoubleTypeInContext) X(FloatTypeInContext) X(FunctionType)    \
    X(GetBasicBlockTerminator) X(GetBufferSize) X(GetBufferStart) X(GetDiagInfoDescription)        \
    X(GetDiagInfoSeverity) X(GetElementType) X(GetEnumAttributeKindForName) X(GetErrorMessage)     \
    X(GetFirstFunction) X(GetInsertBlock) X(GetIntTypeWidth) X(GetIntrinsicDeclaration)            \
    X(GetNextFunction) X(GetParam) X(GetTargetFromTriple) X(GetTypeKind) X(GetValueName2)          \
    X(GetVectorSize) X(GetVersion) X(GlobalGetValueType) X(HalfTypeInContext)                      \
    X(InstallFatalErrorHandler) X(IntTypeInContext) X(IsDeclaration) X(LookupIntrinsicID)          \
    X(ModuleCreateWithNameInContext) X(ParseCommandLineOptions)                                    \
    X(PassBuilderOptionsSetLoopVectorization) X(PassBuilderOptionsSetSLPVectorization)             \
    X(PointerTypeInContext) X(PositionBuilderAtEnd) X(PrintModuleToString) X(RunPasses)            \
    X(SetAlignment) X(SetGlobalConstant) X(SetInitializer) X(SetLinkage) X(SetModuleDataLayout)    \
    X(SetOrdering) X(SetTarget) X(SetTargetMachineFastISel) X(SetTargetMachineGlobalISel)          \
    X(SetTargetMachineGlobalISelAbort) X(SetVolatile) X(TargetMachineEmitToMemoryBuffer)           \
    X(TargetMachineOptionsSetCPU) X(TargetMachineOptionsSetCodeGenOptLevel)                        \
    X(TargetMachineOptionsSetCodeModel) X(TargetMachineOptionsSetFeatures)                         \
    X(TargetMachineOptionsSetRelocMode) X(TypeOf) X(VectorType) X(VerifyModule)                    \
    X(VoidTypeInContext)

/* Initialisers are macros of the headers over these names. */
#define LS__LLVM_TARGETS(X)                                                                        \
    X(InitializeX86TargetInfo) X(InitializeX86Target) X(InitializeX86TargetMC)                     \
    X(InitializeX86AsmPrinter) X(InitializeAArch64TargetInfo) X(InitializeAArch64Target)           \
    X(InitializeAArch64TargetMC) X(InitializeAArch64AsmPrinter)

typedef struct ls__llvm {
#define X(name) __typeof__(LLVM##name) *name;
    LS__LLVM_FUNCTIONS(X)
#undef X
} ls__llvm;

/* The loaded library; loads it on the first call. LS_E_UNSUPPORTED when it is not there or lacks a
 * function, remembered. Thread-safety: any. */
ls_status ls__llvm_load(const ls__llvm **llvm, ls_error *error);

#endif
