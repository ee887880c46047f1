/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_ops.c - the table of ops, at the end, and those about elements and places and about tesela itself.
 */
#include <inttypes.h>
#include <string.h>

#include "expression.h"
#include "query.h"
#include "verbs/same_expression.h"

/* ---- where, what ------------------------------------------------------------------------------------------
 */

/* The places of one element: an integer, for several copies a list, in registers {"threads":[..],"local":n}. */
static tesela_status put_places(query *q, const tesela_any_layout *any, const tesela_layout *layout,
                                const int64_t *index) {
  int64_t copies = tesela_layout_copies(layout), place[TESELA_MAX_AXES];
  if (any->kind == TESELA_KIND_REGISTER) {
    jw_object(q->out);
    tesela_status status = expression_put_place(q->out, &any->registers, index, q->err);
    jw_end(q->out);
    return status;
  }
  if (copies > 1) jw_list(q->out);
  for (int64_t k = 0; k < copies; k++) {
    tesela_status status = tesela_layout_copy_of(layout, index, k, place, q->err);
    if (status != TESELA_OK) return status;
    jw_int(q->out, place[0]);
  }
  if (copies > 1) jw_end(q->out);
  return TESELA_OK;
}

static tesela_status op_where(query *q) {
  tesela_any_layout any;
  tesela_layout layout;
  tesela_status status = query_any(q, "layout", &any, &layout);
  if (status != TESELA_OK) return status;
  const json_t *indices = query_get(q, "indices");
  jw_key(q->out, "places");
  jw_list(q->out);
  for (size_t i = 0; i < json_array_size(indices); i++) {
    int64_t index[TESELA_MAX_RANK];
    status = query_index(q, layout.rank, layout.shape, json_array_get(indices, i), i, index);
    if (status == TESELA_OK) status = put_places(q, &any, &layout, index);
    if (status != TESELA_OK) return status;
  }
  jw_end(q->out);
  return TESELA_OK;
}

/* The element in a register: places[i] is [thread, local]. */
static tesela_status put_held(query *q, const tesela_register *layout, const json_t *pair, size_t i) {
  static const char *const names[] = {"thread", "local id"};
  const int64_t extent[] = {layout->spatial_size, layout->local_size};
  int64_t place[2], index[TESELA_MAX_RANK];
  if (json_array_size(pair) != 2)
    return query_fail(q, TESELA_E_INVALID, -1, "places[%zu] is no list [thread, local]", i);
  for (size_t k = 0; k < 2; k++) {
    place[k] = json_integer_value(json_array_get(pair, k));
    if (place[k] < 0 || place[k] >= extent[k])
      return query_fail(q, TESELA_E_RANGE, -1, "places[%zu][%zu] is %" PRId64 "; a %s is 0 to %" PRId64, i, k,
                        place[k], names[k], extent[k] - 1);
  }
  tesela_status status = tesela_register_get_global(layout, place[0], place[1], index, q->err);
  if (status == TESELA_OK) jw_ints(q->out, layout->rank, index);
  return status;
}

/* The element at a place in memory. */
static tesela_status put_element(query *q, const tesela_layout *layout, const json_t *number, size_t i) {
  int64_t place = json_integer_value(number), extent = layout->axis[0].extent, index[TESELA_MAX_RANK];
  bool padding;
  if (!json_is_integer(number))
    return query_fail(q, TESELA_E_INVALID, -1, "places[%zu] is no integer; pairs are for register layouts",
                      i);
  if (place < 0 || place >= extent)
    return query_fail(q, TESELA_E_RANGE, -1, "places[%zu] is %" PRId64 "; the layout has %" PRId64 " places",
                      i, place, extent);
  tesela_status status = tesela_layout_element_at(layout, &place, index, &padding, q->err);
  if (status != TESELA_OK) return status;
  if (padding)
    jw_null(q->out);
  else
    jw_ints(q->out, layout->rank, index);
  return TESELA_OK;
}

static tesela_status op_what(query *q) {
  tesela_any_layout any;
  tesela_layout layout;
  tesela_status status = query_any(q, "layout", &any, &layout);
  if (status != TESELA_OK) return status;
  const json_t *places = query_get(q, "places");
  jw_key(q->out, "indices");
  jw_list(q->out);
  for (size_t i = 0; i < json_array_size(places); i++) {
    const json_t *place = json_array_get(places, i);
    status = any.kind == TESELA_KIND_REGISTER ? put_held(q, &any.registers, place, i)
                                              : put_element(q, &layout, place, i);
    if (status != TESELA_OK) return status;
  }
  jw_end(q->out);
  return TESELA_OK;
}

/* ---- same -------------------------------------------------------------------------------------------------
 */

static tesela_status op_same(query *q) {
  tesela_any_layout a, b;
  tesela_layout left, right;
  tesela_difference difference;
  tesela_status status = query_any(q, "a", &a, &left);
  if (status == TESELA_OK) status = query_any(q, "b", &b, &right);
  if (status != TESELA_OK) return status;
  q->field = NULL;
  status = same_compare(&a, &b, &difference, q->err);
  if (status != TESELA_OK) return status;
  jw_put_bool(q->out, "same", difference.same);
  jw_put_bool(q->out, "same_size", difference.same_extent);
  if (difference.same) return TESELA_OK;
  jw_key(q->out, "first_difference");
  if (difference.have_index) {
    jw_object(q->out);
    jw_key(q->out, "index");
    jw_ints(q->out, left.rank, difference.index);
    jw_key(q->out, "a");
    status = put_places(q, &a, &left, difference.index);
    jw_key(q->out, "b");
    if (status == TESELA_OK) status = put_places(q, &b, &right, difference.index);
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

#define MACHINE \
  OPTIONAL("warp", QUERY_NUMBER), OPTIONAL("banks", QUERY_NUMBER), OPTIONAL("bank_bytes", QUERY_NUMBER)

#define DEVICE_TYPES                                                           \
  OPTIONAL("elem_bytes", QUERY_NUMBER), OPTIONAL("stick_bytes", QUERY_NUMBER), \
      OPTIONAL("dtype", QUERY_TEXT), OPTIONAL("target", QUERY_TEXT)

const query_op query_ops[] = {
    {"info", query_op_info, "sizes, digits and padding of a layout", {REQUIRED("layout", QUERY_ANY)}},
    {"where",
     op_where,
     "the places of elements",
     {REQUIRED("layout", QUERY_ANY), REQUIRED("indices", QUERY_INDICES)}},
    {"what",
     op_what,
     "the elements at places",
     {REQUIRED("layout", QUERY_ANY), REQUIRED("places", QUERY_PLACES)}},
    {"same",
     op_same,
     "do two layouts put every element at the same place?",
     {REQUIRED("a", QUERY_ANY), REQUIRED("b", QUERY_ANY)}},
    {"parse",
     query_op_parse,
     "a text, read and printed in its canonical form",
     {REQUIRED("text", QUERY_TEXT),
      {"notation", QUERY_TEXT, true, "xla|register|shared|global|device"},
      OPTIONAL("max_arrays", QUERY_NUMBER)}},
    {"show",
     query_op_show,
     "a picture of a layout",
     {REQUIRED("layout", QUERY_ANY),
      OPTIONAL("format", QUERY_TEXT),
      {"by", QUERY_TEXT, true, "element|thread"}}},
    {"register",
     query_op_register,
     "a register layout and who holds each element",
     {REQUIRED("expr", QUERY_TEXT), OPTIONAL("table", QUERY_FLAG)}},
    {"locate_at",
     query_op_locate_at,
     "does a thread hold an element?",
     {REQUIRED("expr", QUERY_TEXT), REQUIRED("index", QUERY_NUMBERS), REQUIRED("thread", QUERY_NUMBER)}},
    {"shared",
     query_op_shared,
     "a tile in shared or global memory and its places",
     {REQUIRED("expr", QUERY_TEXT), OPTIONAL("indices", QUERY_INDICES)}},
    {"fragment",
     query_op_fragment,
     "an operand of a matrix instruction in registers",
     {REQUIRED("name", QUERY_TEXT), OPTIONAL("table", QUERY_FLAG)}},
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
    {"vector_width",
     query_op_vector_width,
     "the widest vector of a register tile to or from memory",
     {REQUIRED("register", QUERY_TEXT), REQUIRED("memory", QUERY_TEXT), REQUIRED("dtype", QUERY_TEXT),
      MACHINE}},
    {"bank_conflicts",
     query_op_bank_conflicts,
     "what moving a register tile to or from memory costs",
     {REQUIRED("register", QUERY_TEXT), REQUIRED("memory", QUERY_TEXT), REQUIRED("dtype", QUERY_TEXT),
      OPTIONAL("vector", QUERY_NUMBER), MACHINE}},
    {"ldmatrix",
     query_op_ldmatrix,
     "does ldmatrix or stmatrix move this tile?",
     {REQUIRED("register", QUERY_TEXT), REQUIRED("memory", QUERY_TEXT), REQUIRED("dtype", QUERY_TEXT)}},
    {"swizzle",
     query_op_swizzle,
     "the layout in shared memory with the fewest conflicts",
     {OPTIONAL("writes", QUERY_TEXTS), OPTIONAL("reads", QUERY_TEXTS), REQUIRED("dtype", QUERY_TEXT),
      OPTIONAL("ldmatrix", QUERY_FLAG), MACHINE, OPTIONAL("max_steps", QUERY_NUMBER)}},
    {"convert",
     query_op_convert,
     "how one register layout becomes another",
     {REQUIRED("from", QUERY_TEXT),
      REQUIRED("to", QUERY_TEXT),
      REQUIRED("dtype", QUERY_TEXT),
      {"through", QUERY_TEXT, true, "any|shuffle|shared"},
      OPTIONAL("cuda", QUERY_TEXT),
      OPTIONAL("warp", QUERY_NUMBER),
      OPTIONAL("max_steps", QUERY_NUMBER)}},
    {"infer",
     query_op_infer,
     "layouts for all tensors of a kernel program",
     {REQUIRED("program", QUERY_TEXT)}},
    {"device_layout",
     query_op_device_layout,
     "a device layout: its dims, sizes and nests",
     {REQUIRED("host", QUERY_OBJECT), REQUIRED("layout", QUERY_DEVICE), DEVICE_TYPES,
      OPTIONAL("indices", QUERY_INDICES)}},
    {"dma",
     query_op_dma,
     "a transfer between host and device as loop nests",
     {REQUIRED("host", QUERY_OBJECT),
      REQUIRED("layout", QUERY_DEVICE),
      DEVICE_TYPES,
      {"direction", QUERY_TEXT, true, "to_device|to_host"},
      {"form", QUERY_TEXT, true, "merged|plain"},
      OPTIONAL("padding", QUERY_FLAG),
      OPTIONAL("limits", QUERY_OBJECT),
      OPTIONAL("box", QUERY_OBJECT)}},
    {"view",
     query_op_view,
     "where a strided view lies on the device",
     {REQUIRED("base", QUERY_OBJECT), REQUIRED("view", QUERY_OBJECT), DEVICE_TYPES}},
    {"restickify",
     query_op_restickify,
     "the same sort of layout with another dim in the sticks",
     {REQUIRED("host", QUERY_OBJECT), REQUIRED("layout", QUERY_DEVICE), REQUIRED("to_stick", QUERY_NUMBER),
      DEVICE_TYPES}},
    {"propagate",
     query_op_propagate,
     "device layouts for a program, and the moves it needs",
     {REQUIRED("graph", QUERY_OBJECT),
      {"mode", QUERY_TEXT, true, "strict|auto"},
      OPTIONAL("target", QUERY_TEXT),
      OPTIONAL("share", QUERY_FLAG),
      OPTIONAL("spread", QUERY_FLAG),
      OPTIONAL("compact", QUERY_FLAG),
      OPTIONAL("copies", QUERY_FLAG)}},
    {"plan_memory",
     query_op_plan_memory,
     "offsets for buffers that live for a while",
     {REQUIRED("buffers", QUERY_OBJECTS), OPTIONAL("capacity", QUERY_NUMBER), OPTIONAL("spill", QUERY_FLAG)}},
    {"formats", op_formats, "the formats of the tiled-layout document", {{0}}},
    {"version", op_version, "the version of the library", {{0}}},
    {"ops", op_ops, "this list", {{0}}},
};

const int query_n_ops = sizeof query_ops / sizeof query_ops[0];
