/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.h - the known word that a misspelt one is nearest to.
 */
#ifndef TESELA_CLI_NEAREST_H
#define TESELA_CLI_NEAREST_H

/* The candidate nearest to a word, NULL if none is near: one or two letters wrong, fewer in short words, or
 * only its beginning. `candidate` gives the i-th, NULL at the end. */
const char *nearest(const char *word, const char *(*candidate)(const void *user, int i), const void *user);

#endif
