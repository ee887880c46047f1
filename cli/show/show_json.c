/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_json.c - the facts of one array as JSON; the sentences are those of the words.
 */
#include "show/show.h"

static void put_dims(json_writer *j, uint32_t dims) {
  jw_list(j);
  for (int32_t d = 0; d < TESELA_MAX_RANK; d++)
    if (dims >> d & 1) jw_int(j, d);
  jw_end(j);
}

static void put_array(json_writer *j, const tesela_xla_shape *shape) {
  int64_t order[TESELA_MAX_RANK];
  for (int32_t i = 0; i < shape->rank; i++) order[i] = shape->layout.minor_to_major[i];
  show_text words = {.length = 0};
  jw_key(j, "layout");
  tesela_writer to = jw_text_begin(j);
  tesela_xla_print(shape, true, &to, NULL);
  jw_text_end(j);
  jw_put_str(j, "type", tesela_dtype_name(shape->dtype));
  jw_key(j, "dims"); /* null: unbounded */
  jw_list(j);
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED)
      jw_null(j);
    else
      jw_int(j, shape->dim[d]);
  }
  jw_end(j);
  jw_key(j, "minor_to_major");
  jw_ints(j, shape->rank, order);
  if (shape->kind != TESELA_XLA_TOKEN && shape->kind != TESELA_XLA_OPAQUE) show_order(shape, &words);
  jw_put_str(j, "order", words.length > 0 ? words.text : NULL);
}

/* `facts` is NULL for what has no size. */
static void put_levels(json_writer *j, const tesela_xla_shape *shape, const show_facts *facts) {
  const tesela_xla_layout *layout = &shape->layout;
  const int64_t *entry = layout->tile;
  jw_key(j, "levels");
  jw_list(j);
  for (int32_t level = 0; level < layout->n_tiles; level++) {
    int64_t bound[TESELA_MAX_DIGITS];
    int32_t n = 0;
    show_text words = {.length = 0};
    jw_object(j);
    jw_key(j, "tile"); /* null: joined with the next */
    jw_list(j);
    for (int32_t e = 0; e < layout->tile_rank[level]; e++) {
      if (entry[e] == TESELA_XLA_COMBINE)
        jw_null(j);
      else
        jw_int(j, entry[e]);
    }
    jw_end(j);
    entry += layout->tile_rank[level];
    jw_key(j, "bounds");
    if (facts && tesela_xla_bounds(shape, level + 1, bound, &n, NULL) == TESELA_OK)
      jw_ints(j, n, bound);
    else
      jw_null(j);
    if (facts) show_level(shape, level, &words);
    jw_put_str(j, "words", facts ? words.text : NULL);
    jw_end(j);
  }
  jw_end(j);
}

static void put_sizes(json_writer *j, const tesela_xla_sizes *sizes) {
  jw_put_int(j, "logical_elements", sizes->logical_elements);
  jw_put_int(j, "logical_bytes", sizes->logical_bytes);
  jw_put_int(j, "unpadded_bytes", sizes->unpadded_bytes);
  jw_put_int(j, "elements", sizes->elements);
  jw_put_int(j, "bits_per_element", sizes->bits_per_element);
  jw_put_int(j, "bytes", sizes->bytes);
  jw_put_int(j, "allocated_bytes", sizes->allocated_bytes);
  jw_key(j, "expansion");
  jw_real(j, sizes->expansion);
}

static void put_pads(json_writer *j, const show_facts *facts) {
  static const char *const kinds[] = {"tile", "tail", "width"};
  jw_key(j, "padding");
  jw_list(j);
  for (int32_t i = 0; i < facts->n_pads; i++) {
    const tesela_xla_pad *pad = &facts->pad[i];
    show_text words = {.length = 0};
    jw_object(j);
    jw_put_str(j, "kind", kinds[pad->kind]);
    if (pad->kind == TESELA_XLA_PAD_TILE) {
      jw_put_int(j, "level", pad->level);
      jw_key(j, "dims");
      put_dims(j, pad->dims);
    }
    jw_put_int(j, "tile", pad->tile);
    jw_put_int(j, "extent", pad->extent);
    jw_put_int(j, "padded", pad->padded);
    show_pad(&facts->shape->layout, pad, &words);
    jw_put_str(j, "words", words.text);
    jw_end(j);
  }
  jw_end(j);
}

static void put_kept(json_writer *j, const tesela_xla_shape *shape) {
  tesela_xla_shape bounded = *shape;
  bounded.dynamic = show_bounded(shape);
  uint32_t kept = tesela_xla_kept(&bounded);
  jw_key(j, "kept");
  jw_list(j);
  for (uint32_t bit = 1; bit != 0 && bit <= kept; bit <<= 1)
    if (kept & bit) jw_str(j, tesela_xla_kept_text(bit));
  jw_end(j);
}

void show_json_no_size(json_writer *j, const tesela_xla_shape *shape) {
  static const char *const none[] = {"bounds",    "logical_elements", "logical_bytes", "unpadded_bytes",
                                     "elements",  "bits_per_element", "bytes",         "allocated_bytes",
                                     "expansion", "padding"};
  show_text words = {.length = 0};
  put_array(j, shape);
  put_levels(j, shape, NULL);
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    jw_key(j, none[i]);
    jw_null(j);
  }
  put_kept(j, shape);
  show_no_size(shape, &words);
  jw_put_str(j, "verdict", words.text);
}

void show_json(json_writer *j, const show_facts *facts) {
  show_text words = {.length = 0};
  put_array(j, facts->shape);
  put_levels(j, facts->shape, facts);
  jw_key(j, "bounds");
  jw_ints(j, facts->n_bounds, facts->bound);
  put_sizes(j, &facts->sizes);
  put_pads(j, facts);
  put_kept(j, facts->shape);
  show_verdict(facts, &words);
  jw_put_str(j, "verdict", words.text);
}
