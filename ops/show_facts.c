/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_facts.c - the facts about one XLA array, and sentences about them.
 */
#include "show_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <tesela/report.h>

/* ---- text -------------------------------------------------------------------------------------------- */

void show_add(show_text *to, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(to->text + to->length, SHOW_TEXT - to->length, format, args);
  va_end(args);
  size_t room = SHOW_TEXT - 1 - to->length;
  if (n > 0) to->length += (size_t)n < room ? (size_t)n : room;
}

void show_add_dims(show_text *to, int32_t n, const int32_t *dims) {
  for (int32_t k = 0; k < n; k++) show_add(to, "%s%" PRId32, k > 0 ? "*" : n > 1 ? "dims " : "dim ", dims[k]);
}

void show_add_joined(show_text *to, const tesela_xla_layout *layout, uint32_t dims) {
  int32_t list[TESELA_MAX_RANK], n = 0;
  for (int32_t p = 0; p < layout->rank; p++) {
    int32_t dim = tesela_xla_major(layout, p);
    if (dims >> dim & 1) list[n++] = dim;
  }
  show_add_dims(to, n, list);
}

void show_add_bytes(show_text *to, int64_t bytes) {
  char text[TESELA_UNITS_TEXT];
  tesela_units_print(bytes, TESELA_UNITS_IEC, text);
  show_add(to, "%s", text);
  if (bytes >= 1024) show_add(to, " (%" PRId64 " B)", bytes);
}

void show_add_width(show_text *to, int64_t bits) {
  const int64_t count = bits % 8 == 0 ? bits / 8 : bits;
  show_add(to, "%" PRId64 " %s%s", count, bits % 8 == 0 ? "byte" : "bit", count == 1 ? "" : "s");
}

void show_add_size(show_text *to, int64_t data_bytes, int64_t bytes) {
  show_add_bytes(to, data_bytes);
  show_add(to, " of data");
  if (bytes == data_bytes) return;
  show_add(to, " take ");
  show_add_bytes(to, bytes);
  if (data_bytes > 0) show_add(to, ": %.2f times", (double)bytes / (double)data_bytes);
}

void show_add_percent(show_text *to, double part, double whole) {
  double percent = 100 * (1 - part / whole);
  if (percent > 0 && percent < 1)
    show_add(to, "under 1%%");
  else if (percent < 100 && percent > 99)
    show_add(to, "over 99%%");
  else
    show_add(to, "%.0f%%", percent);
}

/* ---- facts and sentences ----------------------------------------------------------------------------- */

tesela_status show_facts_of(const tesela_xla_shape *shape, show_facts *facts, tesela_error *err) {
  facts->shape = shape;
  facts->n_pads = 0;
  tesela_status status = tesela_xla_size(shape, &facts->sizes, err);
  if (status == TESELA_OK) status = tesela_xla_padding(shape, SHOW_MAX_PADS, facts->pad, &facts->n_pads, err);
  if (status == TESELA_OK)
    status = tesela_xla_bounds(shape, shape->layout.n_tiles, facts->bound, &facts->n_bounds, err);
  if (facts->n_pads > SHOW_MAX_PADS) facts->n_pads = SHOW_MAX_PADS;
  return status;
}

void show_order(const tesela_xla_shape *shape, show_text *out) {
  const tesela_xla_layout *layout = &shape->layout;
  if (shape->rank == 0) {
    show_add(out, "a scalar");
    return;
  }
  if (shape->rank > 1 && tesela_xla_is_descending(layout)) show_add(out, "row-major: ");
  if (shape->rank > 1 && tesela_xla_is_ascending(layout)) show_add(out, "column-major: ");
  show_add(out, "dim %" PRId32 " varies fastest", layout->minor_to_major[0]);
  for (int32_t i = 1; i < layout->rank; i++)
    show_add(out, "%s%" PRId32, i == 1 ? ", then " : ", ", layout->minor_to_major[i]);
}

/* What was padded: "dim 1", "dim 1 in level 2", "a leading one", "the number of elements". */
static void add_cause(show_text *out, const tesela_xla_layout *layout, const tesela_xla_pad *pad) {
  if (pad->kind == TESELA_XLA_PAD_TAIL)
    show_add(out, "L(%" PRId64 ")", pad->tile);
  else if (pad->kind == TESELA_XLA_PAD_WIDTH)
    show_add(out, "each element");
  else if (pad->dims)
    show_add_joined(out, layout, pad->dims);
  else
    show_add(out, "a leading one");
  if (pad->kind == TESELA_XLA_PAD_TILE && pad->level > 0) show_add(out, " in level %" PRId32, pad->level + 1);
}

void show_pad(const tesela_xla_layout *layout, const tesela_xla_pad *pad, show_text *out) {
  add_cause(out, layout, pad);
  const char *unit = pad->kind == TESELA_XLA_PAD_TAIL    ? " elements"
                     : pad->kind == TESELA_XLA_PAD_WIDTH ? " bits"
                                                         : "";
  show_add(out, ": %" PRId64 " of %" PRId64 "%s used (", pad->extent, pad->padded, unit);
  show_add_percent(out, (double)pad->extent, (double)pad->padded);
  show_add(out, " padding)");
}

static const tesela_xla_pad *largest_pad(const show_facts *facts) {
  const tesela_xla_pad *largest = NULL;
  for (int32_t i = 0; i < facts->n_pads; i++) {
    const tesela_xla_pad *pad = &facts->pad[i];
    if (!largest ||
        (double)pad->padded / (double)pad->extent > (double)largest->padded / (double)largest->extent)
      largest = pad;
  }
  return largest;
}

void show_verdict(const show_facts *facts, show_text *out) {
  const tesela_xla_sizes *sizes = &facts->sizes;
  const tesela_xla_pad *largest = largest_pad(facts);
  if (sizes->logical_elements == 0) {
    show_add(out, "no elements and no memory");
  } else if (sizes->bytes < sizes->logical_bytes) {
    show_add(out, "smaller than the ordinary width of the type");
  } else if (sizes->bytes == sizes->logical_bytes || !largest) {
    show_add(out, "no padding");
  } else {
    show_add_percent(out, (double)sizes->logical_bytes, (double)sizes->bytes);
    show_add(out, " of the memory is padding, %s ", facts->n_pads == 1 ? "all from" : "most from");
    add_cause(out, &facts->shape->layout, largest);
  }
}

uint32_t show_bounded(const tesela_xla_shape *shape) {
  uint32_t bounded = shape->dynamic;
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED) bounded &= ~((uint32_t)1 << d);
  return bounded;
}

void show_no_size(const tesela_xla_shape *shape, show_text *out) {
  if (shape->kind == TESELA_XLA_TOKEN || shape->kind == TESELA_XLA_OPAQUE) {
    show_add(out, "%s: it has no elements and no size",
             shape->kind == TESELA_XLA_TOKEN ? "a token, which puts operations in order" : "an opaque value");
    return;
  }
  int32_t n = 0;
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED) show_add(out, "%s%" PRId32, n++ > 0 ? ", " : "dim ", d);
  show_add(out, " %s ? (unbounded), so the array has no size; give %s an extent or a bound",
           n == 1 ? "is" : "are", n == 1 ? "it" : "each");
}
