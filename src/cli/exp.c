/* SPDX-License-Identifier: Apache-2.0 */
/* A file of its own, because of the plain names that are macros with Kernel C. */
#include "cli/exp.h"

#include "lockstep/kernel.h" /* last: see above */

double ls__cli_exp(double x)
{
    return (double)exp((float)x);
}
