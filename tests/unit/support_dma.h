/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_dma.h - for tests of dma.h: random cases, an interpreter of nests, and the elements to move by the
 * definition.
 */
#ifndef SUPPORT_DMA_H
#define SUPPORT_DMA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/device.h>

#include "device_oracle.h"

#define DMA_OK(call)                                                \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { DMA_CASE_RANK = 5, DMA_CASE_PLACES = 60000 };

typedef struct dma_case {
  uint64_t seed;
  tesela_device_layout layout;
  struct oracle_device oracle;                       /* the same */
  int64_t stride[DMA_CASE_RANK], offset;             /* host */
  int64_t start[DMA_CASE_RANK], size[DMA_CASE_RANK]; /* a box */
  bool nested; /* each device stride is above the reach of smaller ones */
} dma_case;

/* The elements that a transfer moves, by device place. */
typedef struct dma_map {
  int64_t places, named, *host;
  uint8_t *times; /* number of accesses to a place */
} dma_map;

int64_t dma_below(uint64_t *state, int64_t n);

/* Depends only on the seed. `interleave`: device strides are any small numbers, and elements can share places. */
void dma_case_random(dma_case *c, uint64_t seed, bool interleave);
/* Make the layout of a case from its oracle fields, filled by hand; places -1: row-major strides, set there too. */
void dma_case_layout(dma_case *c, int64_t places, int32_t bytes);

void dma_map_begin(dma_map *map, int64_t places);
void dma_map_end(dma_map *map);
/* By the definition; `boxed`: only the box; `first_copy`: of replicated dims. False if two elements share a place. */
bool dma_map_expected(dma_map *map, const dma_case *c, bool boxed, bool first_copy);
/* Run the nests; fails the test for a place outside [0, places). */
void dma_map_run(dma_map *map, const tesela_dma *dma, const char *what, uint64_t seed);
void dma_map_check_same(const dma_map *found, const dma_map *expected, const char *what, uint64_t seed);

#endif
