/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU as a device: runs the objects that src/emit/llvm makes. */
#ifndef LS_DEVICE_CPU_CPU_H
#define LS_DEVICE_CPU_CPU_H

#include "core/backend.h"

extern const ls__backend ls__cpu_backend;

#endif
