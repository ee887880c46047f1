/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_ops.c - the table of ops, at the end, and those about elements and places and about tesela itself.
 */
#include <inttypes.h>
#include <string.h>

#include "query.h"

/* ---- where, what ------------------------------------------------------------------------------------------
 */

/* The places of one element, an integer or for several copies a list. */
static tesela_status put_places(query *q, const tesela_layout *layout, const int64_t *index) {
  int64_t copies = tesela_layout_copies(layout), place[TESELA_MAX_AXES];
  if (copies > 1) jw_list(q->out);
  for (int64_t k = 0; k < copies; k++) {
    tesela_status status = tesela_layout_copy_of(layout, index, k, place, q->err);
    if (status != TESELA_OK) return status;
    jw_int(q->out, place[0]);
  }
  if (copies > 1) jw_end(q->out);
  return TESELA_OK;
}

static tesela_status take_index(query *q, const tesela_layout *layout, const json_t *list, size_t i,
                                int64_t *index) {
  if (json_array_size(list) != (size_t)layout->rank)
    return query_fail(q, TESELA_E_INVALID, -1, "indices[%zu] has %zu coordinates; the rank is %" PRId32, i,
                      json_array_size(list), layout->rank);
  for (int32_t d = 0; d < layout->rank; d++) {
    index[d] = json_integer_value(json_array_get(list, (size_t)d));
    if (index[d] >= 0 && index[d] < layout->shape[d]) continue;
    if (layout->shape[d] == 0)
      return query_fail(q, TESELA_E_RANGE, -1, "indices[%zu][%" PRId32 "]: the extent is 0, nothing is there",
                        i, d);
    return query_fail(q, TESELA_E_RANGE, -1,
                      "indices[%zu][%" PRId32 "] is %" PRId64 "; the shape allows 0 to %" PRId64, i, d,
                      index[d], layout->shape[d] - 1);
  }
  return TESELA_OK;
}

static tesela_status op_where(query *q) {
  tesela_xla_shape shape;
  tesela_layout layout;
  tesela_status status = query_layout(q, "layout", &shape, &layout);
  if (status != TESELA_OK) return status;
  const json_t *indices = query_get(q, "indices");
  jw_key(q->out, "places");
  jw_list(q->out);
  for (size_t i = 0; i < json_array_size(indices); i++) {
    int64_t index[TESELA_MAX_RANK];
    status = take_index(q, &layout, json_array_get(indices, i), i, index);
    if (status == TESELA_OK) status = put_places(q, &layout, index);
    if (status != TESELA_OK) return status;
  }
  jw_end(q->out);
  return TESELA_OK;
}

static tesela_status op_what(query *q) {
  tesela_xla_shape shape;
  tesela_layout layout;
  tesela_status status = query_layout(q, "layout", &shape, &layout);
  if (status != TESELA_OK) return status;
  const json_t *places = query_get(q, "places");
  int64_t extent = layout.axis[0].extent;
  jw_key(q->out, "indices");
  jw_list(q->out);
  for (size_t i = 0; i < json_array_size(places); i++) {
    int64_t place = json_integer_value(json_array_get(places, i)), index[TESELA_MAX_RANK];
    bool padding;
    if (place < 0 || place >= extent)
      return query_fail(q, TESELA_E_RANGE, -1,
                        "places[%zu] is %" PRId64 "; the layout has %" PRId64 " places", i, place, extent);
    status = tesela_layout_element_at(&layout, &place, index, &padding, q->err);
    if (status != TESELA_OK) return status;
    if (padding)
      jw_null(q->out);
    else
      jw_ints(q->out, layout.rank, index);
  }
  jw_end(q->out);
  return TESELA_OK;
}

/* ---- same -------------------------------------------------------------------------------------------------
 */

static tesela_status op_same(query *q) {
  tesela_xla_shape shape;
  tesela_layout a, b;
  tesela_difference difference;
  tesela_status status = query_layout(q, "a", &shape, &a);
  if (status == TESELA_OK) status = query_layout(q, "b", &shape, &b);
  if (status != TESELA_OK) return status;
  q->field = NULL;
  status = tesela_layout_compare(&a, &b, &difference, q->err);
  if (status != TESELA_OK) return status;
  jw_put_bool(q->out, "same", difference.same);
  jw_put_bool(q->out, "same_size", difference.same_extent);
  if (difference.same) return TESELA_OK;
  jw_key(q->out, "first_difference");
  if (difference.have_index) {
    jw_object(q->out);
    jw_key(q->out, "index");
    jw_ints(q->out, a.rank, difference.index);
    jw_key(q->out, "a");
    status = put_places(q, &a, difference.index);
    jw_key(q->out, "b");
    if (status == TESELA_OK) status = put_places(q, &b, difference.index);
    jw_end(q->out);
  } else {
    jw_null(q->out);
  }
  jw_put_str(q->out, "reason", difference.reason);
  return status;
}

/* ---- formats, version, ops --------------------------------------------------------------------------------
 */

static tesela_status op_formats(query *q) {
  int32_t n;
  const tesela_xla_format *format = tesela_xla_formats(&n);
  jw_key(q->out, "formats");
  jw_list(q->out);
  for (int32_t i = 0; i < n; i++) {
    jw_object(q->out);
    jw_put_str(q->out, "name", format[i].name);
    jw_put_str(q->out, "example", format[i].example);
    jw_put_str(q->out, "tiles", format[i].tiles);
    jw_put_str(q->out, "use", format[i].use);
    jw_end(q->out);
  }
  jw_end(q->out);
  return TESELA_OK;
}

static tesela_status op_version(query *q) {
  jw_put_str(q->out, "version", tesela_version());
  return TESELA_OK;
}

static tesela_status op_ops(query *q) {
  jw_key(q->out, "ops");
  jw_list(q->out);
  for (int i = 0; i < query_n_ops; i++) {
    jw_object(q->out);
    jw_put_str(q->out, "op", query_ops[i].name);
    jw_put_str(q->out, "summary", query_ops[i].summary);
    jw_key(q->out, "fields");
    jw_list(q->out);
    for (const query_field *f = query_ops[i].field; f < query_ops[i].field + QUERY_FIELDS && f->name; f++) {
      jw_object(q->out);
      jw_put_str(q->out, "name", f->name);
      jw_put_str(q->out, "takes", f->words ? f->words : query_type_words(f->type));
      jw_put_bool(q->out, "optional", f->optional);
      jw_end(q->out);
    }
    jw_end(q->out);
    jw_end(q->out);
  }
  jw_end(q->out);
  return TESELA_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------
 */

#define REQUIRED(name, type) \
  { name, type, false, NULL }
#define OPTIONAL(name, type) \
  { name, type, true, NULL }

const query_op query_ops[] = {
    {"info", query_op_info, "sizes, digits and padding of a layout", {REQUIRED("layout", QUERY_LAYOUT)}},
    {"where",
     op_where,
     "the places of elements",
     {REQUIRED("layout", QUERY_LAYOUT), REQUIRED("indices", QUERY_INDICES)}},
    {"what",
     op_what,
     "the elements at places",
     {REQUIRED("layout", QUERY_LAYOUT), REQUIRED("places", QUERY_PLACES)}},
    {"same",
     op_same,
     "do two layouts put every element at the same place?",
     {REQUIRED("a", QUERY_LAYOUT), REQUIRED("b", QUERY_LAYOUT)}},
    {"parse",
     query_op_parse,
     "a text, read and printed in its canonical form",
     {REQUIRED("text", QUERY_TEXT), {"notation", QUERY_TEXT, true, "xla"}}},
    {"program",
     query_op_program,
     "a layout as pads, reshapes and transposes",
     {REQUIRED("layout", QUERY_LAYOUT)}},
    {"choose",
     query_op_choose,
     "the layout a compiler would give a shape",
     {REQUIRED("shape", QUERY_LAYOUT),
      {"target", QUERY_TEXT, true, "tpu"},
      OPTIONAL("alternative_16bit", QUERY_FLAG),
      OPTIONAL("large_tile", QUERY_FLAG),
      OPTIONAL("early_tpu", QUERY_FLAG),
      OPTIONAL("argument", QUERY_FLAG)}},
    {"plan",
     query_op_plan,
     "how a tensor is copied to another layout",
     {REQUIRED("from", QUERY_LAYOUT),
      REQUIRED("to", QUERY_TARGET),
      {"transform", QUERY_TEXT, true, "swap|convert|split|merge"}}},
    {"relayout",
     query_op_relayout,
     "a small tensor copied to another layout",
     {REQUIRED("from", QUERY_LAYOUT),
      REQUIRED("to", QUERY_TARGET),
      REQUIRED("data_hex", QUERY_TEXT),
      OPTIONAL("fill", QUERY_TEXT),
      {"transform", QUERY_TEXT, true, "swap|convert|split|merge"}}},
    {"formats", op_formats, "the formats of the tiled-layout document", {{0}}},
    {"version", op_version, "the version of the library", {{0}}},
    {"ops", op_ops, "this list", {{0}}},
};

const int query_n_ops = sizeof query_ops / sizeof query_ops[0];
