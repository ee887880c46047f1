/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_place.c - the ops about elements and places: where, what, same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "place.h"
#include "request.h"
#include "same_tuple.h"

/* Exactly one of two fields is required; *one: the first. */
static tesela_status which(tesela_request *q, const char *op, const char *one_field, const char *many_field,
                           bool *one) {
  *one = tesela_value_get(q->value, one_field) != NULL;
  q->field = one_field;
  if (*one && tesela_value_get(q->value, many_field))
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "op %s: expected one of the fields %s and %s, found both", op, one_field,
                               many_field);
  q->field = many_field;
  if (!*one && !tesela_value_get(q->value, many_field))
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "op %s: missing field %s or %s", op, one_field,
                               many_field);
  return TESELA_OK;
}

/* ---- where ------------------------------------------------------------------------------------------------ */

enum { PLACE, BYTE, BIT };

/* What an answer has about one place: itself, its byte, its bit; null if that does not fit. */
static void put_one(tesela_request *q, int64_t place, int32_t bits, int what) {
  int64_t byte = 0;
  int bit = 0;
  if (what != PLACE && !place_to_byte(place, bits, &byte, &bit))
    tesela_put_null(q->out);
  else
    tesela_put_int(q->out, what == PLACE ? place : what == BYTE ? byte : bit);
}

/* {"register":3,"lane":5,"warp":0} */
static void put_axes(tesela_sink *out, const tesela_layout *layout, const int64_t *place) {
  tesela_put_object(out);
  for (int32_t a = 0; a < layout->n_axes; a++) tesela_put_key_int(out, layout->axis[a].name, place[a]);
  tesela_put_end(out);
}

/* An integer or, on several axes, an object; of several copies, a list of them. */
static tesela_status put_copies(tesela_request *q, const tesela_layout *layout, const int64_t *index,
                                int what) {
  int64_t copies = tesela_layout_copies(layout), place[TESELA_MAX_AXES];
  if (copies > 1) tesela_put_list(q->out);
  for (int64_t k = 0; k < copies; k++) {
    tesela_status status = tesela_layout_copy_of(layout, index, k, place, q->err);
    if (status != TESELA_OK) return status;
    if (layout->n_axes == 1)
      put_one(q, place[0], layout->bits, what);
    else
      put_axes(q->out, layout, place);
  }
  if (copies > 1) tesela_put_end(q->out);
  return TESELA_OK;
}

/* The places of one element: as above, in registers {"threads":[..],"local":n}. */
static tesela_status put_places(tesela_request *q, const tesela_any_layout *any, const tesela_layout *layout,
                                const int64_t *index) {
  if (any->kind != TESELA_KIND_REGISTER) return put_copies(q, layout, index, PLACE);
  tesela_put_object(q->out);
  tesela_status status = expression_put_place(q->out, &any->registers, index, q->err);
  tesela_put_end(q->out);
  return status;
}

/* {"index":[2,3],"place":17,"byte":68,"bit":0}; of a tile, whose elements have no width, without byte and bit; of registers
 * {"index":[9,3],"threads":[5],"local":3} */
static tesela_status where_one(tesela_request *q, const tesela_any_layout *any, const tesela_layout *layout) {
  static const char *const names[] = {"place", "byte", "bit"};
  int64_t index[TESELA_MAX_RANK];
  tesela_status status =
      request_index(q, layout->rank, layout->shape, tesela_request_get(q, "index"), -1, index);
  if (status != TESELA_OK) return status;
  tesela_put_key_ints(q->out, "index", layout->rank, index);
  if (any->kind == TESELA_KIND_REGISTER) return expression_put_place(q->out, &any->registers, index, q->err);
  for (int what = PLACE; what <= (any_has_bytes(any) ? BIT : PLACE) && status == TESELA_OK; what++) {
    tesela_put_key(q->out, names[what]);
    status = put_copies(q, layout, index, what);
  }
  return status;
}

tesela_status op_where(tesela_request *q) {
  tesela_any_layout any;
  tesela_layout layout;
  bool one;
  tesela_status status = which(q, "where", "index", "indices", &one);
  if (status == TESELA_OK) status = request_any(q, "layout", &any, &layout);
  if (status != TESELA_OK) return status;
  if (one) return where_one(q, &any, &layout);
  const tesela_value *indices = tesela_request_get(q, "indices");
  tesela_put_key_list(q->out, "places");
  for (size_t i = 0; i < tesela_value_size(indices); i++) {
    int64_t index[TESELA_MAX_RANK];
    status = request_index(q, layout.rank, layout.shape, tesela_value_at(indices, i), (int64_t)i, index);
    if (status == TESELA_OK) status = put_places(q, &any, &layout, index);
    if (status != TESELA_OK) return status;
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

/* ---- what ------------------------------------------------------------------------------------------------- */

/* "places[3]"; i < 0: "place", the field that has a single one. */
static const char *name_of(int64_t i, char text[40]) {
  snprintf(text, 40, i < 0 ? "place" : "places[%" PRId64 "]", i);
  return text;
}

/* What a number of a place counts, in messages. */
static const char *axis_words(const tesela_layout *layout, int32_t axis) {
  const char *name = layout->axis[axis].name;
  return strcmp(name, "local") == 0 ? "local id" : name;
}

/* A place: an integer or, on several axes, a list [thread, local]. */
static tesela_status take_place(tesela_request *q, const tesela_layout *layout, const tesela_value *value,
                                int64_t i, int64_t *place) {
  char name[40];
  const bool one = layout->n_axes == 1;
  if (one && !tesela_value_is(value, TESELA_VALUE_INT))
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "%s: expected an integer (pairs are for register layouts)", name_of(i, name));
  if (!one && tesela_value_size(value) != (size_t)layout->n_axes)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "%s: expected a list [%s, %s%s]", name_of(i, name),
                               layout->axis[0].name, layout->axis[1].name, layout->n_axes > 2 ? ", ..." : "");
  for (int32_t a = 0; a < layout->n_axes; a++) {
    const int64_t extent = layout->axis[a].extent;
    place[a] = tesela_value_int(one ? value : tesela_value_at(value, (size_t)a));
    if (place[a] >= 0 && place[a] < extent) continue;
    if (one)
      return tesela_request_fail(q, TESELA_E_RANGE, -1, "%s is %" PRId64 "; expected 0 to %" PRId64,
                                 name_of(i, name), place[a], extent - 1);
    return tesela_request_fail(q, TESELA_E_RANGE, -1,
                               "%s[%" PRId32 "] is %" PRId64 "; expected a %s from 0 to %" PRId64,
                               name_of(i, name), a, place[a], axis_words(layout, a), extent - 1);
  }
  return TESELA_OK;
}

/* The element at a place; null for padding. */
static tesela_status put_element(tesela_request *q, const tesela_layout *layout, const int64_t *place) {
  int64_t index[TESELA_MAX_RANK];
  bool padding;
  tesela_status status = tesela_layout_element_at(layout, place, index, &padding, q->err);
  if (status != TESELA_OK) return status;
  if (padding)
    tesela_put_null(q->out);
  else
    tesela_put_ints(q->out, layout->rank, index);
  return TESELA_OK;
}

/* "place" or the numbers by axis, and "index", into the object that is open: {"place":17,"index":[2,3]};
 * {"thread":5,"local":3,"index":[9,3]} */
static tesela_status put_place_and_element(tesela_request *q, const tesela_layout *layout,
                                           const int64_t *place) {
  for (int32_t a = 0; a < layout->n_axes; a++)
    tesela_put_key_int(q->out, layout->n_axes == 1 ? "place" : layout->axis[a].name, place[a]);
  tesela_put_key(q->out, "index");
  return put_element(q, layout, place);
}

/* Every element with a bit in a byte: {"byte":3,"elements":[{"place":6,"index":[0,6]},...]} */
static tesela_status what_byte(tesela_request *q, const tesela_any_layout *any, const tesela_layout *layout) {
  int64_t byte = tesela_value_int(tesela_request_get(q, "byte")), first, last,
          places = layout->axis[0].extent;
  tesela_sizes sizes;
  if (any->kind == TESELA_KIND_REGISTER || !any_has_bytes(any))
    return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1,
                               "cannot find the elements of a byte: the elements of %s have no width",
                               tesela_kind_words(any->kind));
  tesela_status status = tesela_layout_sizes(layout, &sizes, q->err);
  if (status != TESELA_OK) return status;
  if (byte < 0 || byte >= sizes.bytes)
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "byte is %" PRId64 "; the layout has %" PRId64 " bytes",
                               byte, sizes.bytes);
  places_in_byte(byte, layout->bits, &first, &last);
  if (last >= places) last = places - 1; /* the last byte may be filled up */
  tesela_put_key_int(q->out, "byte", byte);
  tesela_put_key_list(q->out, "elements");
  for (int64_t place = first; place <= last && status == TESELA_OK; place++) {
    tesela_put_object(q->out);
    status = put_place_and_element(q, layout, &place);
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  return status;
}

tesela_status op_what(tesela_request *q) {
  tesela_any_layout any;
  tesela_layout layout;
  bool byte = tesela_value_get(q->value, "byte") != NULL, one;
  tesela_status status = which(q, "what", byte ? "byte" : "place", "places", &one);
  if (status == TESELA_OK) status = request_any(q, "layout", &any, &layout);
  if (status != TESELA_OK) return status;
  int64_t at[TESELA_MAX_AXES];
  if (byte) return what_byte(q, &any, &layout);
  if (one) {
    status = take_place(q, &layout, tesela_request_get(q, "place"), -1, at);
    return status == TESELA_OK ? put_place_and_element(q, &layout, at) : status;
  }
  const tesela_value *places = tesela_request_get(q, "places");
  tesela_put_key_list(q->out, "indices");
  for (size_t i = 0; i < tesela_value_size(places) && status == TESELA_OK; i++) {
    status = take_place(q, &layout, tesela_value_at(places, i), (int64_t)i, at);
    if (status == TESELA_OK) status = put_element(q, &layout, at);
  }
  tesela_put_end(q->out);
  return status;
}

/* ---- same -------------------------------------------------------------------------------------------------
 */

static tesela_status read_tree(tesela_request *q, const char *field, tesela_xla_tree **tree) {
  const tesela_value *value = tesela_request_get(q, field);
  tesela_any_layout any;
  size_t used = 0;
  if (!request_is_tuple(q, field, &used)) { /* an array: its error is reported as elsewhere */
    tesela_status status = request_read(q, value, "xla", &any);
    if (status != TESELA_OK) return status;
  }
  tesela_status status =
      tesela_xla_tree_create(tree, value->as.text + used, value->n - used, q->flags, NULL, NULL, q->err);
  if (status != TESELA_OK && q->err->at >= 0) q->err->at += (int64_t)used;
  return status;
}

static tesela_status same_tuples(tesela_request *q) {
  same_comparison c = {.a = {.tree = NULL}};
  tesela_status status = read_tree(q, "a", &c.a.tree);
  if (status == TESELA_OK) status = read_tree(q, "b", &c.b.tree);
  if (status == TESELA_OK) {
    q->field = NULL;
    status = same_compare_trees(&c, q->err);
  }
  if (status == TESELA_OK) {
    tesela_put_key_bool(q->out, "same", c.d.same);
    tesela_put_key_bool(q->out, "same_size", c.d.same_extent);
  }
  if (status == TESELA_OK && !c.d.same) {
    tesela_put_key_text(q->out, "member", c.member);
    tesela_put_key(q->out, "first_difference");
    if (c.d.have_index) {
      tesela_put_object(q->out);
      tesela_put_key_ints(q->out, "index", c.a.layout.rank, c.d.index);
      tesela_put_key_int(q->out, "a", c.a.place);
      tesela_put_key_int(q->out, "b", c.b.place);
      tesela_put_end(q->out);
    } else {
      tesela_put_null(q->out);
    }
    tesela_put_key_text(q->out, "reason", c.d.reason);
  }
  tesela_xla_tree_destroy(c.a.tree);
  tesela_xla_tree_destroy(c.b.tree);
  return status;
}

tesela_status op_same(tesela_request *q) {
  tesela_any_layout a, b;
  tesela_layout left, right;
  tesela_difference difference;
  size_t used;
  if (request_is_tuple(q, "a", &used) || request_is_tuple(q, "b", &used)) return same_tuples(q);
  tesela_status status = request_any(q, "a", &a, &left);
  if (status == TESELA_OK) status = request_any(q, "b", &b, &right);
  if (status != TESELA_OK) return status;
  q->field = NULL;
  status = tesela_any_compare(&a, &b, &difference, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_bool(q->out, "same", difference.same);
  tesela_put_key_bool(q->out, "same_size", difference.same_extent);
  if (difference.same) return TESELA_OK;
  tesela_put_key(q->out, "first_difference");
  if (difference.have_index) {
    tesela_put_object(q->out);
    tesela_put_key_ints(q->out, "index", left.rank, difference.index);
    tesela_put_key(q->out, "a");
    status = put_places(q, &a, &left, difference.index);
    tesela_put_key(q->out, "b");
    if (status == TESELA_OK) status = put_places(q, &b, &right, difference.index);
    tesela_put_end(q->out);
  } else {
    tesela_put_null(q->out);
  }
  tesela_put_key_text(q->out, "reason", difference.reason);
  return status;
}
