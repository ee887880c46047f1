/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear.h - linear layouts over bits: every bit of an input flips some bits of the outputs.
 *
 *   register [[0,1],[8,0]], lane [[0,2],[0,4],[1,0],[2,0],[4,0]]     lane 5 = 1 + 4: (0,2) ^ (1,0) = (1,2)
 *
 * Source: Triton's LinearLayout (include/triton/Tools/LinearLayout.h) and "Linear Layouts", arXiv 2505.23819.
 */
#ifndef TESELA_LINEAR_H
#define TESELA_LINEAR_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_LINEAR_DIMS 32 ///< inputs, or outputs
#define TESELA_LINEAR_BITS 62 ///< bits of all inputs, or of all outputs
#define TESELA_LINEAR_NAME 16 ///< bytes of a name, the NUL included

/// An input or an output: a name and 2^bits values.
typedef struct tesela_linear_dim {
  char name[TESELA_LINEAR_NAME];
  int32_t bits;
} tesela_linear_dim;

/// A linear layout. A plain value of about 2 KiB.
typedef struct tesela_linear {
  int32_t n_ins, n_outs;
  tesela_linear_dim in[TESELA_LINEAR_DIMS], out[TESELA_LINEAR_DIMS];
  /// Of all input bits, those of in[0] first, each from bit 0 up: the output as one word, out[0] in the lowest bits.
  uint64_t basis[TESELA_LINEAR_BITS];
} tesela_linear;

#ifdef __cplusplus
}
#endif

#endif
