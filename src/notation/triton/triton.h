/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton.h - shared by the files of Triton's encodings: an encoding as fields, then as bits, then as a linear layout.
 *
 *   text -> tesela__triton (fields) -> tesela__triton_bits (bases by input) -> tesela_linear -> relation
 */
#ifndef TESELA_NOTATION_TRITON_H
#define TESELA_NOTATION_TRITON_H

#include <tesela/linear.h>
#include <tesela/notation.h>

#include "notation/triton/attribute.h"

enum {
  TESELA__TRITON_RANK = 8,   /* dims of an encoding */
  TESELA__TRITON_PAIRS = 8,  /* intervals of a padded layout */
  TESELA__TRITON_NESTED = 16 /* slices around each other */
};

typedef enum tesela__triton_kind {
  TESELA__TRITON_BLOCKED,
  TESELA__TRITON_LINEAR,
  TESELA__TRITON_SLICE,
  TESELA__TRITON_DOT,
  TESELA__TRITON_MMA,
  TESELA__TRITON_MFMA,
  TESELA__TRITON_WMMA,
  TESELA__TRITON_SWIZZLED,
  TESELA__TRITON_NVMMA,
  TESELA__TRITON_ROTATING,
  TESELA__TRITON_PADDED,
  TESELA__TRITON_SHARED_LINEAR,
  TESELA__TRITON_TENSOR_MEMORY,
  TESELA__TRITON_SCALES,
  TESELA__TRITON_REFUSED, /* known by name, not read */
} tesela__triton_kind;

/* Fields that are numbers, lists of numbers, lists of bases. */
typedef enum tesela__triton_number {
  TESELA__TRITON_DIM,
  TESELA__TRITON_OPERAND,
  TESELA__TRITON_K_WIDTH,
  TESELA__TRITON_VERSION,
  TESELA__TRITON_VERSION_MINOR,
  TESELA__TRITON_TRANSPOSED,
  TESELA__TRITON_ELEMENT_BITS,
  TESELA__TRITON_VEC,
  TESELA__TRITON_PER_PHASE,
  TESELA__TRITON_MAX_PHASE,
  TESELA__TRITON_LEADING,
  TESELA__TRITON_SWIZZLE_BYTES,
  TESELA__TRITON_FP4,
  TESELA__TRITON_ALIGNMENT,
  TESELA__TRITON_BLOCK_M,
  TESELA__TRITON_BLOCK_N,
  TESELA__TRITON_COL_STRIDE,
  TESELA__TRITON_UNPACKED,
  TESELA__TRITON_TWO_CTAS,
  TESELA__TRITON_OF_RANK,
  TESELA__TRITON_NUMBERS
} tesela__triton_number;

typedef enum tesela__triton_list {
  TESELA__TRITON_SIZE_PER_THREAD,
  TESELA__TRITON_THREADS_PER_WARP,
  TESELA__TRITON_WARPS_PER_CTA,
  TESELA__TRITON_ORDER,
  TESELA__TRITON_INSTR_SHAPE,
  TESELA__TRITON_TILES_PER_WARP,
  TESELA__TRITON_SHAPE,
  TESELA__TRITON_CTAS,
  TESELA__TRITON_CTA_SPLIT,
  TESELA__TRITON_CTA_ORDER,
  TESELA__TRITON_VERSIONS,
  TESELA__TRITON_BLOCK_SHAPE,
  TESELA__TRITON_LISTS
} tesela__triton_list;

/* The inputs of a linear layout, in their order. */
typedef enum tesela__triton_in {
  TESELA__TRITON_REGISTER, /* offset in memory; row of tensor memory */
  TESELA__TRITON_LANE,     /* column of tensor memory */
  TESELA__TRITON_WARP,
  TESELA__TRITON_BLOCK,
  TESELA__TRITON_INS
} tesela__triton_in;

/* An encoding without the slices and the dot operand around it. */
typedef struct tesela__triton {
  tesela__triton_kind kind;
  int32_t rank;                             /* of this encoding */
  uint32_t has_number, has_list, has_bases; /* bit: that field is given */
  int64_t number[TESELA__TRITON_NUMBERS];
  int32_t n_list[TESELA__TRITON_LISTS], n_bases[TESELA__TRITON_INS];
  int64_t list[TESELA__TRITON_LISTS][TESELA__TRITON_RANK];
  int64_t bases[TESELA__TRITON_INS][TESELA_LINEAR_BITS][TESELA__TRITON_RANK]; /* bases[BLOCK]: CGALayout */
  int32_t n_pairs;
  int64_t interval[TESELA__TRITON_PAIRS], padding[TESELA__TRITON_PAIRS];
  /* around it */
  int32_t n_slices;
  int64_t slice[TESELA__TRITON_NESTED]; /* dims, outermost first */
  int32_t operand;                      /* of a dot; -1: not an operand */
  int64_t k_width;
} tesela__triton;

/* Bases under construction. */
typedef struct tesela__triton_bits {
  int32_t rank;
  bool full; /* a basis found no room */
  int32_t n[TESELA__TRITON_INS];
  int64_t basis[TESELA__TRITON_INS][TESELA_LINEAR_BITS][TESELA__TRITON_RANK];
  int64_t size[TESELA__TRITON_RANK]; /* covered by the bases so far */
} tesela__triton_bits;

/* ---- triton_text.c ---- */

/* A text and what it says beside the encoding. */
typedef struct tesela__triton_text {
  tesela__triton encoding;
  bool has_array; /* tensor<..> or !ttg.memdesc<..> */
  tesela_xla_shape array;
  int32_t bits;
} tesela__triton_text;

/* Read a text with aliases from it and from `definitions`. */
tesela_status tesela__triton_parse(const char *text, size_t length, const char *definitions,
                                   size_t definitions_length, tesela__triton_text *out, tesela_error *err);

/* ---- triton_keys.c ---- */

/* The kind of "blocked" in "#ttg.blocked", or of a class of Gluon, "BlockedLayout". */
tesela_status tesela__triton_kind_of(tesela__reader *r, size_t length, bool python,
                                     tesela__triton_kind *kind);
/* Read the fields of one encoding. The reader is at its opening bracket. *parent is set for slices and operands. */
tesela_status tesela__triton_fields(tesela__reader *r, bool python, tesela__triton *out,
                                    tesela__attribute_field *parent);

/* ---- triton_check.c ---- */

/* Lengths of lists, powers of two, values that exist. Sets out->rank. */
tesela_status tesela__triton_check(tesela__triton *out, tesela_error *err);

/* ---- triton_bits.c ---- */

static inline bool tesela__triton_is_power(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }
/* Add the bits of `count` values along a dim. */
void tesela__triton_push(tesela__triton_bits *bits, tesela__triton_in in, int32_t dim, int64_t count);
/* Add bits of `count` values that change nothing. */
void tesela__triton_zeros(tesela__triton_bits *bits, tesela__triton_in in, int64_t count);
/* Add a basis; its coordinates count in units[d]. */
void tesela__triton_basis(tesela__triton_bits *bits, tesela__triton_in in, const int64_t *basis,
                          const int64_t *units);
/* Remove the highest bits of a dim until the bases cover `extent`. */
void tesela__triton_cut(tesela__triton_bits *bits, int32_t dim, int64_t extent);
/* Remove bases of registers that change nothing, copies in one thread; not those that are set in `keep`. */
void tesela__triton_drop_copies(tesela__triton_bits *bits, uint64_t keep);
/* The extents that bases cover, each a power of two. */
void tesela__triton_extents(int32_t rank, int32_t n, const int64_t basis[][TESELA__TRITON_RANK],
                            int64_t *extent);
/* The shape of one block. `without`: a dim that blocks do not split; or -1. */
void tesela__triton_block_shape(const tesela__triton *of, const int64_t *shape, int32_t without,
                                int64_t *block);
/* Repeat along dims in `order` (registers; memory: offsets) up to the shape of a block, remove what is beyond it, add the blocks. */
void tesela__triton_finish(tesela__triton_bits *bits, const tesela__triton *of, const int64_t *shape,
                           const int64_t *order, int32_t without);

/* ---- triton_register.c, triton_matrix.c, triton_shared.c ---- */

/* The bits of encodings in registers, on the shape of the encoding's rank. */
void tesela__triton_blocked(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits);
void tesela__triton_matrix(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits);
/* And in memory. */
tesela_status tesela__triton_memory(const tesela__triton *of, const int64_t *shape, int32_t element_bits,
                                    tesela__triton_bits *bits, tesela_error *err);

/* ---- triton_layout.c ---- */

/* The relation of a padded layout, which is not linear: the offset, split at each interval. */
tesela_status tesela__triton_padded(const tesela__triton *of, const tesela__triton_bits *bits,
                                    tesela_layout *layout, tesela_error *err);

#endif
