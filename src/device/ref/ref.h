/* SPDX-License-Identifier: Apache-2.0 */
/* The reference device: the interpreter behind the executor of device/host. */
#ifndef LS_DEVICE_REF_REF_H
#define LS_DEVICE_REF_REF_H

#include "device/host/host.h"

extern const ls__backend ls__ref_backend;

/* Opens a reference device with the hooks of another one that stands in front of it
 * (device/fault). */
ls_status ls__ref_open(const ls_device_params *params, const ls__host_device *hooks,
                       ls__backend_device **device, ls_error *error);

#endif
