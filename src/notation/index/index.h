/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - shared by the index expressions of other languages.
 *
 *   index_results.c   results on the stack -> axes; the names of axes beside the text
 *   index_write.c     a layout -> results: affine_map, index_map, numpy
 *   index_affine.c    affine_map<(d0, d1) -> (d0 floordiv 8, d1)>
 *   index_lambda.c    lambda d0, d1: (d0 // 8, d1), T.index_map(..)
 *   index_einops.c    b (h w) c -> b h w c
 *   index_numpy.c     x.reshape(2, 3).transpose(1, 0)
 *   index_numpy_write.c   the same, written
 *   index_code.c      C and CUDA
 */
#ifndef TESELA_NOTATION_INDEX_H
#define TESELA_NOTATION_INDEX_H

#include "notation/any.h"
#include "notation/map/map.h"

/* ---- index_results.c ---- */

/* The relation that `read` reads from a text; `read` receives the options. */
tesela_status tesela__index_read(const char *text, size_t length, tesela__map_reading read,
                                 const tesela_layout_read_options *options, tesela_any_layout *out,
                                 tesela_error *err);
/* Begin a text over the array of the options: its shape, type and width. */
void tesela__index_array(tesela__map_text *m, const tesela_layout_read_options *options);
/* The values on the stack are coordinates of an array, the first of them slowest: its row-major order is the axis memory.
 * With `as`, "thread[32],local[4]", each is the place on an axis. Else the first value after each separator, of n, begins an
 * axis. extent[]: those of the array; NULL: as many as the values can have. */
tesela_status tesela__index_results(tesela__map_text *m, const char *as, int32_t n, const int32_t *separator,
                                    const int64_t *extent);

/* ---- index_write.c ---- */

typedef struct tesela__results {
  const char *open, *close; /* of several results */
  const char *separator;    /* between two axes */
  bool always;              /* also of one */
} tesela__results;

/* Can one expression per axis express the layout? If not, *answer says so. *form is canonical. */
tesela_status tesela__index_expressible(const tesela_layout *layout, tesela_layout *form,
                                        tesela_translation *answer, tesela_error *err);
/* Write the results: the digits if the places are their row-major order, else one sum per axis. */
void tesela__index_put_results(tesela__sink *sink, const tesela__spelling *sp, const tesela__results *around,
                               const tesela_layout *form);
/* "d0, d1" */
void tesela__index_put_dims(tesela__sink *sink, const tesela_layout *form);
/* The digits by decreasing stride, if their row-major order is the places; returns how many, -1: it is not. */
int32_t tesela__index_chain(const tesela_layout *form, int32_t *digit);

/* ---- index_pieces.c: the dims of an array whose elements are those of another one, in another order ---- */

/* Coordinate of the array: constant + term.factor * the term, below `extent`; a factor of 0: the constant alone. */
typedef struct tesela__index_piece {
  tesela__map_term term;
  int64_t constant, extent;
} tesela__index_piece;

typedef struct tesela__pieces {
  int32_t n;
  tesela__index_piece piece[TESELA_MAX_RANK];
} tesela__pieces;

/* The array itself: a piece for each dim. */
void tesela__pieces_begin(const tesela__map_text *m, tesela__pieces *p);
/* The same elements in row-major order, in another shape of as many elements. */
tesela_status tesela__pieces_reshape(tesela__map_text *m, tesela__pieces *p, int32_t n,
                                     const int64_t *extent);
/* Element x of the array is at the place that its row-major order has. */
tesela_status tesela__pieces_place(tesela__map_text *m, const tesela__pieces *p);

/* ---- index_lambda.c ---- */

extern const tesela__map_operator tesela__python_operators[];
extern const tesela__spelling tesela__python_spelling;
/* lambda d0, d1: (..): leaves the results on the stack; separator[0 .. *n - 1]: results that begin an axis. */
tesela_status tesela__read_lambda(tesela__map_text *m, int32_t *separator, int32_t *n);

#endif
