/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_plain.h - the characters that mean themselves in a string of JSON and are printable ASCII.
 */
#ifndef TESELA_OPS_JSON_PLAIN_H
#define TESELA_OPS_JSON_PLAIN_H

#include <stddef.h>

/* How many a text begins with: 4 of 'good\n'. */
size_t json_plain(const char *text, size_t length);

#endif
