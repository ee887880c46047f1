/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.c - the validation of XLA shapes from any source.
 *
 *   numbers    validate_number.c
 *   kind       type and dims are valid for it
 *   layout     validate_layout.c
 *   sizes      the bytes of the data, and of the padded data, fit in 64 bits
 *
 * XLA checks these in three places, aborts in some of them, and never checks padded sizes.
 */
#include "xla/validate.h"

#include "base/base.h"
#include "xla/xla.h"

/* ---- dims and sizes ---- */

static tesela_status xla_check_dims(const tesela_xla_shape *shape, tesela__xla_fault *fault,
                                    tesela_error *err) {
  if (shape->rank < 0 || shape->rank > TESELA_MAX_RANK)
    return tesela__xla_refuse(fault, err, TESELA__XLA_DIM, TESELA__XLA_WHOLE, TESELA_E_LIMIT,
                              "%" PRId32 " dims; expected 0 to %d", shape->rank, TESELA_MAX_RANK);
  if (shape->rank < TESELA_MAX_RANK && shape->dynamic >> shape->rank != 0)
    return tesela__xla_refuse(fault, err, TESELA__XLA_DIM, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                              "dynamic marks for dims beyond the rank, %" PRId32, shape->rank);
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED && shape->dynamic >> d & 1) continue;
    tesela_status status = tesela__xla_check_item(TESELA__XLA_DIM, d, shape->dim[d], fault, err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* Do the bytes of `elements` fit in 64 bits? They are rounded up once. */
static bool xla_bytes_fit(int64_t elements, int64_t bits) {
  int64_t whole, rest, bytes;
  return tesela__mul(elements / 8, bits, &whole) && tesela__mul(elements % 8, bits, &rest) &&
         tesela__add(whole, tesela__ceil_div(rest, 8), &bytes);
}

static tesela_status xla_size_overflow(const tesela_xla_shape *shape, tesela__xla_field field,
                                       tesela__xla_fault *fault, tesela_error *err) {
  const char *how = field == TESELA__XLA_DIM    ? ""
                    : field == TESELA__XLA_TILE ? " padded by its tiles"
                    : field == TESELA__XLA_TAIL ? " padded to a multiple of L"
                                                : " with E bits per element";
  return tesela__xla_refuse(fault, err, field, TESELA__XLA_WHOLE, TESELA_E_OVERFLOW,
                            "dimensions overflow: the bytes of this %s array%s do not fit in 64 bits",
                            tesela_dtype_name(shape->dtype), how);
}

/* Unbounded dims count as 1, as in XLA; an array with one has no padded size. */
static tesela_status xla_check_sizes(const tesela_xla_shape *shape, tesela__xla_fault *fault,
                                     tesela_error *err) {
  const tesela_xla_layout *layout = &shape->layout;
  int64_t dim[TESELA_MAX_RANK], elements, bytes;
  bool unbounded = false;
  for (int32_t d = 0; d < shape->rank; d++) {
    dim[d] = shape->dim[d] == TESELA_XLA_UNBOUNDED ? 1 : shape->dim[d];
    unbounded |= shape->dim[d] == TESELA_XLA_UNBOUNDED;
  }
  if (!tesela__xla_product(shape->rank, dim, &elements) ||
      !tesela__mul(elements, tesela_dtype_bytes(shape->dtype), &bytes))
    return xla_size_overflow(shape, TESELA__XLA_DIM, fault, err);
  if (unbounded) return TESELA_OK;
  if (layout->n_tiles > 0) {
    tesela__xla_bounds bounds;
    if (tesela__xla_bounds_at(shape, layout->n_tiles, &bounds, NULL) != TESELA_OK ||
        !tesela__xla_product(bounds.n, bounds.extent, &elements))
      return xla_size_overflow(shape, TESELA__XLA_TILE, fault, err);
  }
  if (!tesela__round_up(elements, layout->tail, &elements))
    return xla_size_overflow(shape, TESELA__XLA_TAIL, fault, err);
  if (!xla_bytes_fit(elements, tesela__xla_bits(shape)))
    return xla_size_overflow(shape,
                             layout->element_bits != 0 ? TESELA__XLA_BITS
                             : layout->tail > 1        ? TESELA__XLA_TAIL
                                                       : TESELA__XLA_TILE,
                             fault, err);
  return TESELA_OK;
}

/* ---- the shape ---- */

/* Without a layout in the text, the struct must hold the default layout. */
static tesela_status xla_check_bare(const tesela_xla_layout *layout, int32_t rank, tesela__xla_fault *fault,
                                    tesela_error *err) {
  bool plain = layout->rank == rank && layout->n_tiles == 0 && layout->tail == 1 &&
               layout->element_bits == 0 && layout->memory_space == 0 && layout->n_splits == 0 &&
               layout->metadata_bytes == 0 && layout->index_type == TESELA_DTYPE_NONE &&
               layout->pointer_type == TESELA_DTYPE_NONE && layout->physical[0] == '\0';
  for (int32_t i = 0; plain && i < rank; i++) plain = layout->minor_to_major[i] == rank - 1 - i;
  if (plain) return TESELA_OK;
  return tesela__xla_refuse(fault, err, TESELA__XLA_ORDER, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                            "has_layout is false, but the layout is not the default order");
}

static tesela_status xla_check_array(const tesela_xla_shape *shape, tesela__xla_fault *fault,
                                     tesela_error *err) {
  const tesela_xla_layout *layout = &shape->layout;
  if (tesela_dtype_family_of(shape->dtype) == TESELA_FAMILY_NONE)
    return tesela__xla_refuse(fault, err, TESELA__XLA_SHAPE, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                              "an array needs a type with values; found %s",
                              tesela_dtype_name(shape->dtype) ? tesela_dtype_name(shape->dtype) : "no type");
  tesela_status status = xla_check_dims(shape, fault, err);
  if (status != TESELA_OK) return status;
  status = shape->has_layout ? tesela__xla_check_layout_of(layout, shape->rank, shape->dim, fault, err)
                             : xla_check_bare(layout, shape->rank, fault, err);
  return status == TESELA_OK ? xla_check_sizes(shape, fault, err) : status;
}

tesela_status tesela__xla_check_shape(const tesela_xla_shape *shape, tesela__xla_fault *fault,
                                      tesela_error *err) {
  switch (shape->kind) {
  case TESELA_XLA_ARRAY:
  case TESELA_XLA_BUFFER:
    return xla_check_array(shape, fault, err);
  case TESELA_XLA_TOKEN:
  case TESELA_XLA_OPAQUE:
    if (shape->rank == 0 && !shape->has_layout &&
        shape->dtype == (shape->kind == TESELA_XLA_TOKEN ? TESELA_TOKEN : TESELA_OPAQUE))
      return TESELA_OK;
    return tesela__xla_refuse(fault, err, TESELA__XLA_SHAPE, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                              "a token or opaque must have its own type, no dims and no layout");
  case TESELA_XLA_TUPLE:
    break;
  }
  return tesela__xla_refuse(fault, err, TESELA__XLA_SHAPE, TESELA__XLA_WHOLE, TESELA_E_INVALID,
                            "expected an array, buffer, token or opaque");
}

tesela_status tesela_xla_validate(const tesela_xla_shape *shape, tesela_error *err) {
  TESELA__NEED(err, shape);
  tesela__xla_fault fault;
  return tesela__xla_check_shape(shape, &fault, err);
}

tesela_status tesela__xla_check_sized(const tesela_xla_shape *shape, tesela_error *err) {
  static const char *const unsized[] = {
      [TESELA_XLA_TOKEN] = "a token", [TESELA_XLA_OPAQUE] = "an opaque", [TESELA_XLA_TUPLE] = "a tuple"};
  if (shape->kind >= TESELA_XLA_TOKEN && shape->kind <= TESELA_XLA_TUPLE)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s has no elements; expected an array",
                        unsized[shape->kind]);
  tesela_status status = tesela_xla_validate(shape, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED)
      return tesela__fail(
          err, TESELA_E_UNSUPPORTED, -1,
          "dim %" PRId32 " is ? (unbounded), so the array has no size; give it an extent or a bound", d);
  return TESELA_OK;
}
