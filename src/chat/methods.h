/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of values that only access.c asks for. */
#ifndef LS_CHAT_METHODS_H
#define LS_CHAT_METHODS_H

#include "chat/render.h"

/* Stands in the tables for what would change a list or a dict, which templates may not. */
chat_value ls__chat_unsafe(chat_render *render, chat_value self, chat_arguments *arguments);

extern const chat_callable ls__chat_number_methods[];
extern const chat_callable ls__chat_range_methods[];
extern const chat_callable ls__chat_macro_methods[];

#endif
