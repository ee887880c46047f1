/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - the manual page and the shell completions, made from the table of verbs.
 */
#ifndef TESELA_CLI_PAGES_H
#define TESELA_CLI_PAGES_H

#include "main/options.h"

void pages_man(const cli_verb *verbs);                           /* tesela.1 in mdoc, to stdout */
void pages_completion(const cli_verb *verbs, const char *shell); /* "bash", "zsh" or "fish" */

/* Paragraphs that the help and the manual page share. */
extern const char pages_layout_text[];
extern const char pages_exit_text[];

#endif
