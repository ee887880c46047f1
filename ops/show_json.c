/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_json.c - the facts of one array as JSON; the sentences are those of show.
 */
#include "show_facts.h"

static void put_dims(tesela_sink *j, uint32_t dims) {
  tesela_put_list(j);
  for (int32_t d = 0; d < TESELA_MAX_RANK; d++)
    if (dims >> d & 1) tesela_put_int(j, d);
  tesela_put_end(j);
}

static void put_array(tesela_sink *j, const tesela_xla_shape *shape) {
  int64_t order[TESELA_MAX_RANK];
  for (int32_t i = 0; i < shape->rank; i++) order[i] = shape->layout.minor_to_major[i];
  show_text words = {.length = 0};
  tesela_writer to = tesela_put_key_begin(j, "layout");
  tesela_xla_print(shape, true, &to, NULL);
  tesela_put_text_end(j);
  tesela_put_key_text(j, "type", tesela_dtype_name(shape->dtype));
  tesela_put_key(j, "dims"); /* null: unbounded */
  tesela_put_list(j);
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED)
      tesela_put_null(j);
    else
      tesela_put_int(j, shape->dim[d]);
  }
  tesela_put_end(j);
  tesela_put_key_ints(j, "minor_to_major", shape->rank, order);
  if (shape->kind != TESELA_XLA_TOKEN && shape->kind != TESELA_XLA_OPAQUE) show_order(shape, &words);
  tesela_put_key_text(j, "order", words.length > 0 ? words.text : NULL);
}

/* `facts` is NULL for what has no size. */
static void put_levels(tesela_sink *j, const tesela_xla_shape *shape, const show_facts *facts) {
  const tesela_xla_layout *layout = &shape->layout;
  const int64_t *entry = layout->tile;
  tesela_put_key_list(j, "levels");
  for (int32_t level = 0; level < layout->n_tiles; level++) {
    int64_t bound[TESELA_MAX_DIGITS];
    int32_t n = 0;
    show_text words = {.length = 0};
    tesela_put_object(j);
    tesela_put_key(j, "tile"); /* null: joined with the next */
    tesela_put_list(j);
    for (int32_t e = 0; e < layout->tile_rank[level]; e++) {
      if (entry[e] == TESELA_XLA_COMBINE)
        tesela_put_null(j);
      else
        tesela_put_int(j, entry[e]);
    }
    tesela_put_end(j);
    entry += layout->tile_rank[level];
    tesela_put_key(j, "bounds");
    if (facts && tesela_xla_bounds(shape, level + 1, bound, &n, NULL) == TESELA_OK)
      tesela_put_ints(j, n, bound);
    else
      tesela_put_null(j);
    if (facts) show_level(shape, level, &words);
    tesela_put_key_text(j, "words", facts ? words.text : NULL);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_sizes(tesela_sink *j, const tesela_xla_sizes *sizes) {
  tesela_put_key_int(j, "logical_elements", sizes->logical_elements);
  tesela_put_key_int(j, "logical_bytes", sizes->logical_bytes);
  tesela_put_key_int(j, "unpadded_bytes", sizes->unpadded_bytes);
  tesela_put_key_int(j, "elements", sizes->elements);
  tesela_put_key_int(j, "bits_per_element", sizes->bits_per_element);
  tesela_put_key_int(j, "bytes", sizes->bytes);
  tesela_put_key_int(j, "allocated_bytes", sizes->allocated_bytes);
  tesela_put_key_real(j, "expansion", sizes->expansion);
}

static void put_pads(tesela_sink *j, const show_facts *facts) {
  static const char *const kinds[] = {"tile", "tail", "width"};
  tesela_put_key_list(j, "padding");
  for (int32_t i = 0; i < facts->n_pads; i++) {
    const tesela_xla_pad *pad = &facts->pad[i];
    show_text words = {.length = 0};
    tesela_put_object(j);
    tesela_put_key_text(j, "kind", kinds[pad->kind]);
    if (pad->kind == TESELA_XLA_PAD_TILE) {
      tesela_put_key_int(j, "level", pad->level);
      tesela_put_key(j, "dims");
      put_dims(j, pad->dims);
    }
    tesela_put_key_int(j, "tile", pad->tile);
    tesela_put_key_int(j, "extent", pad->extent);
    tesela_put_key_int(j, "padded", pad->padded);
    show_pad(&facts->shape->layout, pad, &words);
    tesela_put_key_text(j, "words", words.text);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_kept(tesela_sink *j, const tesela_xla_shape *shape) {
  tesela_xla_shape bounded = *shape;
  bounded.dynamic = show_bounded(shape);
  uint32_t kept = tesela_xla_kept(&bounded);
  tesela_put_key_list(j, "kept");
  for (uint32_t bit = 1; bit != 0 && bit <= kept; bit <<= 1)
    if (kept & bit) tesela_put_text(j, tesela_xla_kept_text(bit));
  tesela_put_end(j);
}

void show_json_no_size(tesela_sink *j, const tesela_xla_shape *shape) {
  static const char *const none[] = {"bounds",    "logical_elements", "logical_bytes", "unpadded_bytes",
                                     "elements",  "bits_per_element", "bytes",         "allocated_bytes",
                                     "expansion", "padding"};
  show_text words = {.length = 0};
  put_array(j, shape);
  put_levels(j, shape, NULL);
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    tesela_put_key(j, none[i]);
    tesela_put_null(j);
  }
  put_kept(j, shape);
  show_no_size(shape, &words);
  tesela_put_key_text(j, "verdict", words.text);
}

void show_json(tesela_sink *j, const show_facts *facts, bool more) {
  show_text words = {.length = 0};
  put_array(j, facts->shape);
  put_levels(j, facts->shape, facts);
  if (more) {
    tesela_put_key_int(j, "unpadded_bytes", facts->sizes.unpadded_bytes);
    tesela_put_key_int(j, "bits_per_element", facts->sizes.bits_per_element);
  } else {
    tesela_put_key_ints(j, "bounds", facts->n_bounds, facts->bound);
    put_sizes(j, &facts->sizes);
    put_pads(j, facts);
  }
  put_kept(j, facts->shape);
  show_verdict(facts, &words);
  tesela_put_key_text(j, "verdict", words.text);
}
