/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's exp for numbers that are printed: the same on every machine. */
#ifndef LS_CLI_EXP_H
#define LS_CLI_EXP_H

double ls__cli_exp(double x); /* in f32 */

#endif
