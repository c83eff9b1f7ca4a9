/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of backends, in order of preference. A new backend adds its line here. */
#include "core/backend.h"
#include "device/cpu/cpu.h"
#include "device/cuda/cuda.h"
#include "device/fault/fault.h"
#include "device/ref/ref.h"
#include "device/vulkan/vulkan.h"
#include "emit/llvm/emit.h"
#include "emit/ptx/emit.h"
#include "emit/spirv/emit.h"

#define SPIRV                                                                                      \
    ls__spirv_emit, LS__SPIRV_CODE_VERSION, NULL, ls__spirv_lowering, ls__spirv_target_suits,      \
        LS__SPIRV_TARGETS_AHEAD
#define OBJECT                                                                                     \
    ls__llvm_emit, LS__LLVM_CODE_VERSION, ls__llvm_version, ls__llvm_lowering,                     \
        ls__llvm_target_suits, LS__LLVM_TARGETS_AHEAD
#define PTX                                                                                        \
    ls__ptx_emit, LS__PTX_CODE_VERSION, ls__llvm_version, ls__ptx_lowering, ls__ptx_target_suits,  \
        LS__PTX_TARGETS_AHEAD
#define NONE NULL, 0, NULL, NULL, NULL, NULL /* takes the module */

const ls__registry_entry ls__registry[] = {
    {&ls__cuda_backend, PTX},   {&ls__vulkan_backend, SPIRV},
    {&ls__cpu_backend, OBJECT}, {&ls__vulkan_software_backend, SPIRV},
    {&ls__ref_backend, NONE},   {&ls__cuda_emulated_backend, PTX},
    {&ls__fault_backend, NONE},
};
const uint32_t ls__registry_count = sizeof ls__registry / sizeof *ls__registry;
