/* SPDX-License-Identifier: Apache-2.0 */
/* The fault device: the reference with the portable minimum of capabilities, which fails on request
 * (ls_fault_plan). */
#ifndef LS_DEVICE_FAULT_FAULT_H
#define LS_DEVICE_FAULT_FAULT_H

#include "core/backend.h"

extern const ls__backend ls__fault_backend;

#endif
