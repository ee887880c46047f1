/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.h - texts from outside in messages.
 */
#ifndef TESELA_OPS_QUOTE_H
#define TESELA_OPS_QUOTE_H

/* A text from outside, escaped and cut to what fits: for "%s" in a message. Returns `into`. */
#define SAY_QUOTE 96
const char *say_quote(const char *text, char into[SAY_QUOTE]);

#endif
