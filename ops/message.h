/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - a message in a buffer of fixed size; as those of the library, one that is too long ends at a word, with "...".
 */
#ifndef TESELA_CLI_MESSAGE_H
#define TESELA_CLI_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>

#include <tesela/base.h>

void message_put(char *text, size_t room, const char *format, va_list args) TESELA_PRINTF(3, 0);

#endif
