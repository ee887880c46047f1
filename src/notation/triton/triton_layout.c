/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_layout.c - an encoding and a shape -> a linear layout -> a relation. The row triton reads with it.
 */
#include <stdio.h>

#include "notation/any.h"
#include "notation/triton/triton.h"

/* ---- bits ---- */

static bool triton_in_memory(const tesela__triton *of) { return of->kind >= TESELA__TRITON_SWIZZLED; }

/* The dims that registers move, in the order of their bases; then the others, the last first. */
static void triton_order_of(const tesela__triton *of, int64_t *order) {
  uint32_t seen = 0;
  int32_t n = 0;
  for (int32_t k = 0; k < of->n_bases[TESELA__TRITON_REGISTER]; k++)
    for (int32_t d = 0; d < of->rank; d++)
      if (of->bases[TESELA__TRITON_REGISTER][k][d] != 0 && !(seen >> d & 1)) {
        seen |= UINT32_C(1) << d;
        order[n++] = d;
      }
  for (int32_t d = of->rank - 1; d >= 0; d--)
    if (!(seen >> d & 1)) order[n++] = d;
}

/* `#ttg.linear`: repeated in registers, and cut, as any other encoding. */
static void triton_bases_of(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits) {
  static const int64_t ones[TESELA__TRITON_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t extent[TESELA__TRITON_RANK], order[TESELA__TRITON_RANK];
  uint64_t copies = 0; /* in the text itself */
  for (int32_t d = 0; d < of->rank; d++) bits->size[d] = 1;
  for (int32_t in = 0; in < TESELA__TRITON_INS; in++) {
    for (int32_t k = 0; k < of->n_bases[in]; k++)
      tesela__triton_basis(bits, (tesela__triton_in)in, of->bases[in][k], ones);
    tesela__triton_extents(of->rank, of->n_bases[in], of->bases[in], extent);
    for (int32_t d = 0; d < of->rank; d++) bits->size[d] = tesela__max(bits->size[d], extent[d]);
  }
  for (int32_t k = 0; k < of->n_bases[TESELA__TRITON_REGISTER]; k++) {
    bool moves = false;
    for (int32_t d = 0; d < of->rank; d++) moves = moves || of->bases[TESELA__TRITON_REGISTER][k][d] != 0;
    if (!moves) copies |= UINT64_C(1) << k;
  }
  triton_order_of(of, order);
  for (int32_t i = 0; i < of->rank; i++) {
    int32_t d = (int32_t)order[i];
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, d, shape[d] / tesela__min(bits->size[d], shape[d]));
    tesela__triton_cut(bits, d, shape[d]);
  }
  tesela__triton_drop_copies(bits, copies);
}

/* Remove a dim of extent 1. */
static void triton_remove_dim(tesela__triton_bits *bits, int32_t dim) {
  bits->rank--;
  for (int32_t in = 0; in < TESELA__TRITON_INS; in++)
    for (int32_t k = 0; k < bits->n[in]; k++)
      for (int32_t d = dim; d < bits->rank; d++) bits->basis[in][k][d] = bits->basis[in][k][d + 1];
}

static tesela_status triton_check_shape(const tesela__triton *of, int32_t rank, const int64_t *shape,
                                        tesela_error *err) {
  if (of->rank - of->n_slices != rank || rank < 1)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "the encoding has %" PRId32 " dim%s; the array has %" PRId32, of->rank - of->n_slices,
                        of->rank - of->n_slices == 1 ? "" : "s", rank);
  for (int32_t d = 0; d < rank; d++)
    if (!tesela__triton_is_power(shape[d]))
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "dim %" PRId32 " has %" PRId64 " elements; encodings of Triton need powers of two",
                          d, shape[d]);
  return TESELA_OK;
}

static tesela_status triton_to_bits(tesela__triton *of, int32_t rank, const int64_t *shape,
                                    int32_t element_bits, tesela__triton_bits *bits, tesela_error *err) {
  int64_t full[TESELA__TRITON_RANK];
  bool bases = of->kind == TESELA__TRITON_LINEAR || of->kind == TESELA__TRITON_SHARED_LINEAR;
  if (of->rank == 0 && rank >= (bases ? 1 : 2) && rank + of->n_slices <= TESELA__TRITON_RANK)
    of->rank = rank + of->n_slices; /* amd_wmma of one warp has no bases that show its rank */
  tesela_status status = triton_check_shape(of, rank, shape, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < rank; d++) full[d] = shape[d];
  for (int32_t i = 0; i < of->n_slices; i++) { /* the dims that slices removed have one element */
    if (of->slice[i] > rank + i)
      return tesela__fail(err, TESELA_E_RANGE, -1, "dim of a slice is %" PRId64 "; expected 0 to %" PRId32,
                          of->slice[i], rank + i);
    for (int32_t d = rank + i; d > of->slice[i]; d--) full[d] = full[d - 1];
    full[of->slice[i]] = 1;
  }
  memset(bits, 0, sizeof *bits);
  bits->rank = of->rank;
  for (int32_t d = 0; d < of->rank; d++) bits->size[d] = 1;
  if (of->kind == TESELA__TRITON_BLOCKED)
    tesela__triton_blocked(of, full, bits);
  else if (of->kind == TESELA__TRITON_LINEAR)
    triton_bases_of(of, full, bits);
  else if (triton_in_memory(of))
    status = tesela__triton_memory(of, full, element_bits, bits, err);
  else
    tesela__triton_matrix(of, full, bits);
  if (status == TESELA_OK && bits->full)
    status = tesela__fail(err, TESELA_E_LIMIT, -1, "the encoding has more than %d bits", TESELA_LINEAR_BITS);
  for (int32_t i = of->n_slices - 1; status == TESELA_OK && i >= 0; i--)
    triton_remove_dim(bits, (int32_t)of->slice[i]);
  if (of->n_slices > 0) tesela__triton_drop_copies(bits, 0);
  return status;
}

/* ---- the linear layout ---- */

static int32_t triton_log2(int64_t n) {
  int32_t bits = 0;
  while (n > 1) {
    n /= 2;
    bits++;
  }
  return bits;
}

/* The names of the inputs; NULL: not an input of this encoding. */
static const char *triton_in_name(const tesela__triton *of, int32_t in) {
  static const char *const registers[] = {"register", "lane", "warp", "block"};
  static const char *const memory[] = {"offset", NULL, NULL, "block"};
  static const char *const tensor[] = {"row", "col", NULL, "block"};
  if (of->kind == TESELA__TRITON_TENSOR_MEMORY || of->kind == TESELA__TRITON_SCALES) return tensor[in];
  return triton_in_memory(of) ? memory[in] : registers[in];
}

/* Bases of 0 in memory with gaps move one more output, `hole`: their places hold nothing. */
static tesela_status triton_to_linear(const tesela__triton *of, const tesela__triton_bits *bits,
                                      const int64_t *shape, tesela_linear *out, tesela_error *err) {
  bool gaps = of->kind == TESELA__TRITON_NVMMA || of->kind == TESELA__TRITON_TENSOR_MEMORY;
  int32_t n = 0, at[TESELA__TRITON_RANK + 1] = {0}, hole = 0;
  memset(out, 0, sizeof *out);
  for (int32_t d = 0; d < bits->rank; d++) {
    snprintf(out->out[d].name, sizeof out->out[d].name, "dim%" PRId32, d);
    out->out[d].bits = triton_log2(shape[d]);
    at[d + 1] = at[d] + out->out[d].bits;
  }
  out->n_outs = bits->rank;
  for (int32_t in = 0; in < TESELA__TRITON_INS; in++) {
    const char *name = triton_in_name(of, in);
    if (!name) continue;
    snprintf(out->in[out->n_ins].name, sizeof out->in[0].name, "%s", name);
    out->in[out->n_ins++].bits = bits->n[in];
    for (int32_t k = 0; k < bits->n[in]; k++, n++) {
      if (n == TESELA_LINEAR_BITS || at[bits->rank] + hole >= TESELA_LINEAR_BITS)
        return tesela__fail(err, TESELA_E_LIMIT, -1, "the encoding has more than %d bits",
                            TESELA_LINEAR_BITS);
      uint64_t word = 0;
      for (int32_t d = 0; d < bits->rank; d++) {
        if (bits->basis[in][k][d] >= shape[d])
          return tesela__fail(err, TESELA_E_MISMATCH, -1,
                              "a basis moves dim %" PRId32 " by %" PRId64 "; the array has %" PRId64
                              " elements",
                              d, bits->basis[in][k][d], shape[d]);
        word |= (uint64_t)bits->basis[in][k][d] << at[d];
      }
      if (word == 0 && gaps && in != TESELA__TRITON_BLOCK) word = UINT64_C(1) << (at[bits->rank] + hole++);
      out->basis[n] = word;
    }
  }
  if (hole > 0) out->out[out->n_outs++] = (tesela_linear_dim){"hole", hole};
  return TESELA_OK;
}

/* ---- the relation ---- */

/* Take the elements whose index of the last dim is 0, and remove the dim. */
static tesela_status triton_without_holes(tesela_layout *layout, tesela_error *err) {
  tesela_status status = tesela_layout_slice(layout, layout->rank - 1, 0, 1, 1, layout, err);
  return status == TESELA_OK ? tesela_layout_squeeze(layout, layout->rank - 1, layout, err) : status;
}

/* The shape that an encoding is computed for: powers of two, and all that the bases of shared_linear cover. */
static void triton_whole_shape(const tesela__triton *of, const tesela_xla_shape *array, int64_t *whole) {
  int64_t extent[TESELA__TRITON_RANK], blocks[TESELA__TRITON_RANK];
  bool covers = of->kind == TESELA__TRITON_SHARED_LINEAR && of->rank == array->rank;
  if (covers) {
    tesela__triton_extents(of->rank, of->n_bases[TESELA__TRITON_REGISTER], of->bases[TESELA__TRITON_REGISTER],
                           extent);
    tesela__triton_extents(of->rank, of->n_bases[TESELA__TRITON_BLOCK], of->bases[TESELA__TRITON_BLOCK],
                           blocks);
  }
  for (int32_t d = 0; d < array->rank && d < TESELA__TRITON_RANK; d++) {
    for (whole[d] = 1; whole[d] < array->dim[d] && whole[d] < INT64_MAX / 2;) whole[d] *= 2;
    if (covers) whole[d] = tesela__max(whole[d], tesela__max(extent[d], blocks[d]));
  }
}

static tesela_status triton_padded_relation(const tesela__triton *of, const tesela__triton_bits *bits,
                                            const tesela_xla_shape *array, const int64_t *whole,
                                            int32_t width, tesela_layout *layout, tesela_error *err) {
  tesela_status status = tesela_layout_begin(layout, array->dtype, width, array->rank, whole, err);
  if (status == TESELA_OK) status = tesela__triton_padded(of, bits, layout, err);
  for (int32_t d = 0; status == TESELA_OK && d < array->rank; d++)
    if (array->dim[d] != whole[d]) status = tesela_layout_slice(layout, d, 0, array->dim[d], 1, layout, err);
  return status;
}

static tesela_status triton_relation(const tesela__triton *of, const tesela__triton_bits *bits,
                                     const tesela_xla_shape *array, const int64_t *whole, int32_t width,
                                     tesela_layout *layout, tesela_error *err) {
  tesela_linear linear;
  int64_t shape[TESELA__TRITON_RANK + 1];
  if (of->kind == TESELA__TRITON_PADDED)
    return triton_padded_relation(of, bits, array, whole, width, layout, err);
  tesela_status status = triton_to_linear(of, bits, whole, &linear, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < array->rank; d++) shape[d] = array->dim[d];
  bool holes = linear.n_outs > array->rank;
  if (holes) shape[array->rank] = INT64_C(1) << linear.out[array->rank].bits;
  status = tesela_linear_to_layout(&linear, array->dtype, width, linear.n_outs, shape, layout, err);
  return status == TESELA_OK && holes ? triton_without_holes(layout, err) : status;
}

/* Several buffers one after the other: a dim before the others, in steps of the memory of one. */
static tesela_status triton_buffers(int64_t count, tesela_layout *layout, tesela_error *err) {
  int64_t size = layout->axis[0].extent, extent;
  tesela_status status = tesela_layout_unsqueeze(layout, 0, layout, err);
  if (status == TESELA_OK) status = tesela_layout_expand(layout, 0, count, layout, err);
  if (status == TESELA_OK && layout->n_digits == TESELA_MAX_DIGITS)
    status = tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d digits", TESELA_MAX_DIGITS);
  if (status == TESELA_OK && !tesela__mul(size, count, &extent))
    status = tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of places does not fit in 64 bits");
  if (status != TESELA_OK) return status;
  layout->finished = false;
  layout->axis[0].extent = extent;
  layout->digit[layout->n_digits++] =
      (tesela_digit){.extent = count, .step = 1, .stride = size, .source = 0, .axis = 0, .join = -1};
  return tesela_layout_finish(layout, err);
}

static bool triton_has_buffers(const tesela__triton *of, const tesela_xla_shape *array) {
  return of->kind >= TESELA__TRITON_SWIZZLED && of->kind <= TESELA__TRITON_SHARED_LINEAR &&
         of->kind != TESELA__TRITON_PADDED && of->rank > 0 && array->rank == of->rank + 1;
}

/* Has the array that is given beside a text the dims and, if it has one, the type of the text? */
static bool triton_same_array(const tesela_xla_shape *own, const tesela_xla_shape *given) {
  return own->rank == given->rank &&
         memcmp(own->dim, given->dim, (size_t)own->rank * sizeof own->dim[0]) == 0 &&
         (own->dtype == given->dtype || own->dtype == TESELA_DTYPE_NONE || given->dtype == TESELA_DTYPE_NONE);
}

tesela_status tesela__triton_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err) {
  tesela__triton_text read;
  tesela__triton_bits bits;
  tesela_xla_shape one;
  int64_t whole[TESELA__TRITON_RANK];
  int32_t width = 8;
  tesela_status status =
      tesela__triton_parse(text, length, options->definitions, options->definitions_length, &read, err);
  if (status != TESELA_OK) return status;
  out->kind = TESELA_KIND_RELATION;
  if (read.has_array) {
    width = read.bits;
    if (options->array && !triton_same_array(&read.array, options->array))
      return tesela__fail(err, TESELA_E_MISMATCH, 0, "the text has another type or shape than the array");
  } else if (options->array) {
    read.array.rank = options->array->rank;
    memcpy(read.array.dim, options->array->dim, sizeof read.array.dim);
    read.array.dtype = tesela__given_dtype(options, &width);
  } else {
    return tesela__fail(err, TESELA_E_UNSUPPORTED, 0, "a Triton layout needs type and dims before it: %s",
                        "f32[32,16] #ttg.blocked<{sizePerThread = [1, 4], ..}>");
  }
  /* an array with one dim more than its encoding of shared memory: buffers of a pipeline */
  bool buffers = triton_has_buffers(&read.encoding, &read.array);
  one = read.array;
  if (buffers) {
    one.rank--;
    memmove(one.dim, one.dim + 1, sizeof one.dim - sizeof one.dim[0]);
  }
  if (read.has_array)
    memcpy(whole, one.dim, sizeof whole);
  else
    triton_whole_shape(&read.encoding, &one, whole);
  status = triton_to_bits(&read.encoding, one.rank, whole, width, &bits, err);
  if (status == TESELA_OK)
    status = triton_relation(&read.encoding, &bits, &one, whole, width, &out->relation, err);
  if (status == TESELA_OK && buffers) status = triton_buffers(read.array.dim[0], &out->relation, err);
  if (status != TESELA_OK && err && err->at < 0) err->at = 0;
  return status;
}
