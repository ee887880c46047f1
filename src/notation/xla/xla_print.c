/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_print.c - shapes and layouts as XLA prints them (Layout::Print, ShapeUtil::PrintHumanString).
 *
 *   f32[3,5]{1,0:T(2,2)}    no blanks, properties in the order T L # * E S SC P M, defaults left out
 *   f32[]                   no braces for a scalar without properties
 */
#include "notation/xla/xla_print.h"

#include "xla/validate.h"

/* ---- layouts ---- */

static void xla_put_list(tesela__sink *sink, int32_t n, const int64_t *number) {
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) tesela__putc(sink, ',');
    tesela__put_int(sink, number[i]);
  }
}

static void xla_put_tiles(tesela__sink *sink, const tesela_xla_layout *layout) {
  const int64_t *entry = layout->tile;
  if (layout->n_tiles > 0) tesela__putc(sink, 'T');
  for (int32_t k = 0; k < layout->n_tiles; k++) {
    tesela__putc(sink, '(');
    for (int32_t i = 0; i < layout->tile_rank[k]; i++, entry++) {
      if (i > 0) tesela__putc(sink, ',');
      if (*entry == TESELA_XLA_COMBINE)
        tesela__putc(sink, '*');
      else
        xla_put_list(sink, 1, entry);
    }
    tesela__putc(sink, ')');
  }
}

static void xla_put_number(tesela__sink *sink, const char *word, int64_t value, bool needed) {
  if (!needed) return;
  tesela__puts(sink, word);
  tesela__putc(sink, '(');
  tesela__put_int(sink, value);
  tesela__putc(sink, ')');
}

static void xla_put_text(tesela__sink *sink, const char *word, const char *text) {
  tesela__puts(sink, word);
  tesela__putc(sink, '(');
  tesela__puts(sink, text);
  tesela__putc(sink, ')');
}

static void xla_put_type(tesela__sink *sink, const char *word, tesela_dtype type) {
  if (type != TESELA_DTYPE_NONE) xla_put_text(sink, word, tesela_dtype_name(type));
}

static void xla_put_splits(tesela__sink *sink, const tesela_xla_layout *layout) {
  if (layout->n_splits > 0) tesela__puts(sink, "SC");
  for (int32_t s = 0; s < layout->n_splits; s++) {
    const tesela_xla_split *split = &layout->split[s];
    tesela__putc(sink, '(');
    tesela__put_int(sink, split->dim);
    tesela__putc(sink, ':');
    xla_put_list(sink, split->n_points, &layout->split_point[split->first]);
    tesela__putc(sink, ')');
  }
}

static bool xla_has_properties(const tesela_xla_layout *layout) {
  return layout->n_tiles > 0 || layout->tail != 1 || layout->index_type != TESELA_DTYPE_NONE ||
         layout->pointer_type != TESELA_DTYPE_NONE || layout->element_bits != 0 ||
         layout->memory_space != 0 || layout->n_splits > 0 || layout->physical[0] != '\0' ||
         layout->metadata_bytes != 0;
}

static void xla_put_layout(tesela__sink *sink, const tesela_xla_layout *layout) {
  tesela__putc(sink, '{');
  for (int32_t i = 0; i < layout->rank; i++) {
    if (i > 0) tesela__putc(sink, ',');
    tesela__put_int(sink, layout->minor_to_major[i]);
  }
  if (xla_has_properties(layout)) tesela__putc(sink, ':');
  xla_put_tiles(sink, layout);
  xla_put_number(sink, "L", layout->tail, layout->tail != 1);
  xla_put_type(sink, "#", layout->index_type);
  xla_put_type(sink, "*", layout->pointer_type);
  xla_put_number(sink, "E", layout->element_bits, layout->element_bits != 0);
  xla_put_number(sink, "S", layout->memory_space, layout->memory_space != 0);
  xla_put_splits(sink, layout);
  if (layout->physical[0] != '\0') xla_put_text(sink, "P", layout->physical);
  xla_put_number(sink, "M", layout->metadata_bytes, layout->metadata_bytes != 0);
  tesela__putc(sink, '}');
}

tesela_status tesela_xla_print_layout(const tesela_xla_layout *layout, const tesela_writer *to,
                                      tesela_error *err) {
  TESELA__NEED(err, layout, to);
  tesela__sink sink;
  tesela__xla_fault fault;
  tesela_status status = tesela__xla_check_layout_of(layout, layout->rank, NULL, &fault, err);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  xla_put_layout(&sink, layout);
  return tesela__sink_finish(&sink, err);
}

/* ---- shapes ---- */

static void xla_put_dims(tesela__sink *sink, const tesela_xla_shape *shape) {
  tesela__putc(sink, '[');
  for (int32_t d = 0; d < shape->rank; d++) {
    if (d > 0) tesela__putc(sink, ',');
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED) {
      tesela__putc(sink, '?');
      continue;
    }
    if (shape->dynamic >> d & 1) tesela__puts(sink, "<=");
    tesela__put_int(sink, shape->dim[d]);
  }
  tesela__putc(sink, ']');
}

void tesela__xla_put_shape(tesela__sink *sink, const tesela_xla_shape *shape, bool with_layout) {
  bool buffer = shape->kind == TESELA_XLA_BUFFER;
  if (buffer) tesela__puts(sink, "b(");
  tesela__puts(sink, tesela_dtype_name(shape->dtype));
  xla_put_dims(sink, shape);
  if (with_layout && shape->has_layout && (shape->rank > 0 || xla_has_properties(&shape->layout)))
    xla_put_layout(sink, &shape->layout);
  if (buffer) tesela__putc(sink, ')');
}

tesela_status tesela_xla_print(const tesela_xla_shape *shape, bool with_layout, const tesela_writer *to,
                               tesela_error *err) {
  TESELA__NEED(err, shape, to);
  tesela__sink sink;
  tesela_status status = tesela_xla_validate(shape, err);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  tesela__xla_put_shape(&sink, shape, with_layout);
  return tesela__sink_finish(&sink, err);
}

void tesela__xla_put_separator(tesela__sink *sink, int32_t k) {
  enum { INDEX_EVERY = 5 };
  if (k == 0) return;
  tesela__puts(sink, ", ");
  if (k % INDEX_EVERY == 0) tesela__putf(sink, "/*index=%" PRId32 "*/", k);
}

/* ---- properties that are kept but move no element ---- */

uint32_t tesela_xla_kept(const tesela_xla_shape *shape) {
  if (!shape) return 0;
  const tesela_xla_layout *layout = &shape->layout;
  uint32_t kept = shape->dynamic != 0 ? TESELA_XLA_KEPT_DYNAMIC : 0;
  if (!shape->has_layout) return kept;
  if (layout->index_type != TESELA_DTYPE_NONE) kept |= TESELA_XLA_KEPT_INDEX_TYPE;
  if (layout->pointer_type != TESELA_DTYPE_NONE) kept |= TESELA_XLA_KEPT_POINTER_TYPE;
  if (layout->memory_space != 0) kept |= TESELA_XLA_KEPT_SPACE;
  if (layout->n_splits > 0) kept |= TESELA_XLA_KEPT_SPLITS;
  if (layout->physical[0] != '\0') kept |= TESELA_XLA_KEPT_PHYSICAL;
  if (layout->metadata_bytes != 0) kept |= TESELA_XLA_KEPT_METADATA;
  return kept;
}

const char *tesela_xla_kept_text(uint32_t bit) {
  switch (bit) {
  case TESELA_XLA_KEPT_INDEX_TYPE:
    return "#: index type of a sparse array";
  case TESELA_XLA_KEPT_POINTER_TYPE:
    return "*: pointer type of a sparse array";
  case TESELA_XLA_KEPT_SPACE:
    return "S: memory space";
  case TESELA_XLA_KEPT_SPLITS:
    return "SC: cuts between memories";
  case TESELA_XLA_KEPT_PHYSICAL:
    return "P: physical shape";
  case TESELA_XLA_KEPT_METADATA:
    return "M: bytes of dynamic-shape metadata before the data";
  case TESELA_XLA_KEPT_DYNAMIC:
    return "<=: a dynamic dim counts with its bound";
  default:
    return NULL;
  }
}
