/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_draw.h - pairs of layouts that people have, drawn from a seed, for bench_sweep.c.
 */
#ifndef TESELA_BENCH_SWEEP_DRAW_H
#define TESELA_BENCH_SWEEP_DRAW_H

#include "sides.h"

/* Classes with their weights, which add up to 100. Name, weight in per cent, function, what is drawn. */
#define SWEEP_CLASSES(X)                                                                                    \
  X(permute, 22, draw_permute, "dense arrays of rank 2 to 8, the dims in another order")                    \
  X(tile, 12, draw_tile, "an array to tiles of one or two levels, or back; whole tiles")                    \
  X(retile, 7, draw_retile, "tiles to other tiles whose steps nest, the dims in the same or another order") \
  X(unnested, 6, draw_unnested, "tiles to tiles whose steps do not nest, as T(6,100) to T(8,128)")          \
  X(block, 12, draw_block, "one or two dims in blocks of 4 to 64, as nChw16c, and back; whole blocks")      \
  X(pad, 12, draw_pad, "as tile and block, and sticks, with partial tiles")                                 \
  X(view, 12, draw_view,                                                                                    \
    "slices of step 2 to 5, boxes, reversed and repeated dims, single fields of structs")                   \
  X(bits, 7, draw_bits, "elements of 1, 2 and 4 bits: permuted, in tiles")                                  \
  X(fields, 5, draw_fields, "arrays of structs of 2 to 24 fields to structs of arrays, and back")           \
  X(in_place, 5, draw_in_place, "within one buffer: squares, rectangles, batches, tiles")

typedef enum sweep_class {
#define SWEEP_ROW(name, weight, draw, what) SWEEP_##name,
  SWEEP_CLASSES(SWEEP_ROW)
#undef SWEEP_ROW
      SWEEP_N_CLASSES
} sweep_class;

const char *sweep_class_name(sweep_class class);
const char *sweep_class_says(sweep_class class);
int sweep_class_weight(sweep_class class);

enum { SWEEP_TEXT = 512 };

typedef struct sweep_pair {
  sweep_class class;
  bench_pair pair;
  char text[SWEEP_TEXT]; /* "32 [30,100] 0/8 1/128 0 1 <- 0 1": bits, shape, digits as in the unit tests */
} sweep_pair;

/* Draw a pair of the class, or of any class if it is SWEEP_N_CLASSES, whose array has about least to most bytes, each power of two as
   often as the others. No side has more than `room` bytes. */
void sweep_draw(uint64_t seed, sweep_class class, int64_t least, int64_t most, int64_t room, sweep_pair *out);

#endif
