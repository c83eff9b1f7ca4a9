/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's GPUs: "cuda:0", "cuda:1", ... Devices that only stand in for one, named "emulated...",
 * are a backend of their own, because everything else is preferred to them. */
#ifndef LS_DEVICE_CUDA_CUDA_H
#define LS_DEVICE_CUDA_CUDA_H

#include "core/backend.h"

extern const ls__backend ls__cuda_backend, ls__cuda_emulated_backend;

#endif
