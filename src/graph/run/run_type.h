/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_type.h - the number formats of the types that runs compute with.
 *
 * Floats are of four kinds. With infinities: the highest exponent is infinity and NaN. Finite ones (fn): the highest code is
 * NaN, and larger numbers become NaN. With one zero (fnuz): the same, but NaN has the code of -0. f8e8m0fnu has only powers of
 * two: half way between two rounds up, smaller numbers become the least, 0 and negative numbers become NaN.
 */
#ifndef TESELA_SRC_GRAPH_RUN_TYPE_H
#define TESELA_SRC_GRAPH_RUN_TYPE_H

#include "graph/run/run.h"

enum { RUN_INTEGER, RUN_INFINITE, RUN_FINITE, RUN_ONE_ZERO, RUN_POWERS };

/* Bytes, kind; of floats: bits after the point, exponent of the least normal number, the greatest number, the NaN that is
 * written, and poison: another NaN if possible, signalling if possible. */
typedef struct tesela__run_type {
  int32_t bytes, kind, fraction, least;
  double greatest;
  uint64_t nan, poison;
} tesela__run_type;

/* NULL: cannot be computed with. */
const tesela__run_type *tesela__run_type_of(tesela_dtype dtype);

static inline double tesela__run_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t tesela__run_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#define RUN_EACH(...)               \
  for (int64_t j = 0; j < n; j++) { \
    __VA_ARGS__;                    \
  }

#endif
