/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_tile_known.h - tiles whose places are known by definition, and assertions for every tile.
 */
#ifndef TESELA_TESTS_SUPPORT_TILE_KNOWN_H
#define TESELA_TESTS_SUPPORT_TILE_KNOWN_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_tile_memory.h"

enum { MOST = 64 };

/* A tile and its places by row-major element number, with and without the swizzle. */
typedef struct known {
  tesela_tile_memory tile;
  int64_t n, place[MOST], plain[MOST];
} known;

/* The counts of a test over a family. */
typedef struct count {
  int64_t done, refused, every, seen;
} count;

const char *tile_text(const tesela_tile_memory *t);
void tile_know(known *k, const tile_words *w);
int64_t tile_number(const tesela_tile_memory *t, const int64_t *index);

/* Assert that the modes are reduced, the size covers all places, and the library's places are right. */
void tile_check_form(const tesela_tile_memory *t);

#endif
