/* SPDX-License-Identifier: Apache-2.0 */
/* The runner's launches on the interpreter alone. */
#include "runner.h"

ls_status run_launch(ls__interp_launch *launch, ls__interp_result *result, ls_error *error)
{
    return ls__interp_run(launch, result, error);
}
