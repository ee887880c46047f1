/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - names that match a pattern of the shell, the same on every system and in every locale. */
#ifndef TESELA_OPS_PATTERN_H
#define TESELA_OPS_PATTERN_H

#include <stdbool.h>

/* Does a name match a pattern? * is any text, ? one character of UTF-8, [a-z] one of a set, [!a-z] one outside it, \ before a
 * character that character itself. A [ without its ] is a character. Without classes such as [:digit:]. */
bool pattern_matches(const char *pattern, const char *name);

/* Has a pattern a class such as [[:digit:]]? */
bool pattern_has_class(const char *pattern);

#endif
