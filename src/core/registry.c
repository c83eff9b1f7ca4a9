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

const ls__registry_entry ls__registry[] = {
    {&ls__cuda_backend, ls__ptx_emit, LS__PTX_CODE_VERSION, ls__llvm_version},
    {&ls__vulkan_backend, ls__spirv_emit, LS__SPIRV_CODE_VERSION, NULL},
    {&ls__cpu_backend, ls__llvm_emit, LS__LLVM_CODE_VERSION, ls__llvm_version},
    {&ls__vulkan_software_backend, ls__spirv_emit, LS__SPIRV_CODE_VERSION, NULL},
    {&ls__ref_backend, NULL, 0, NULL},
    {&ls__cuda_emulated_backend, ls__ptx_emit, LS__PTX_CODE_VERSION, ls__llvm_version},
    {&ls__fault_backend, NULL, 0, NULL},
};
const uint32_t ls__registry_count = sizeof ls__registry / sizeof *ls__registry;
