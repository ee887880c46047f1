/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_info.c - the op info: all facts about a layout of any kind.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "also.h"
#include "device_put.h"
#include "expression.h"
#include "leaves.h"
#include "made_of.h"
#include "request.h"
#include "show_facts.h"

static void put_digit(tesela_sink *out, const tesela_layout *layout, const tesela_digit *digit) {
  const char *source = digit->source == TESELA_REPLICA ? "replica"
                       : digit->source == TESELA_HOLE  ? "hole"
                       : digit->source < layout->rank  ? "dim"
                                                       : "join";
  tesela_put_object(out);
  tesela_put_key_text(out, "source", source);
  if (digit->source >= 0)
    tesela_put_key_int(out, "index",
                       digit->source < layout->rank ? digit->source : digit->source - layout->rank);
  tesela_put_key_int(out, "step", digit->step);
  tesela_put_key_int(out, "extent", digit->extent);
  if (digit->join >= 0) {
    tesela_put_key_int(out, "join", digit->join);
    tesela_put_key_int(out, "weight", digit->stride);
  } else {
    tesela_put_key_int(out, "stride", digit->stride);
    tesela_put_key_text(out, "axis", layout->axis[digit->axis].name);
  }
  tesela_put_end(out);
}

/* A list of the bits that are set. */
static void put_dims(tesela_sink *out, uint32_t dims) {
  tesela_put_list(out);
  for (int d = 0; d < 32; d++)
    if (dims >> d & 1) tesela_put_int(out, d);
  tesela_put_end(out);
}

static void put_pad(tesela_sink *out, const tesela_xla_layout *layout, const tesela_xla_pad *pad) {
  static const char *const kinds[] = {
      [TESELA_XLA_PAD_TILE] = "tile", [TESELA_XLA_PAD_TAIL] = "tail", [TESELA_XLA_PAD_WIDTH] = "width"};
  tesela_put_object(out);
  tesela_put_key_text(out, "kind", kinds[pad->kind]);
  if (pad->kind == TESELA_XLA_PAD_TILE) {
    tesela_put_key_int(out, "level", pad->level);
    tesela_put_key_int(out, "entry", pad->entry);
    tesela_put_key_int(out, "from_end", pad->from_end);
    tesela_put_key(out, "dims");
    put_dims(out, pad->dims);
  }
  tesela_put_key_int(out, "tile", pad->tile);
  tesela_put_key_int(out, "extent", pad->extent);
  tesela_put_key_int(out, "padded", pad->padded);
  if (layout) {
    show_text words = {.length = 0};
    show_pad(layout, pad, &words);
    tesela_put_key_text(out, "words", words.text);
  }
  tesela_put_end(out);
}

static void put_sizes(tesela_sink *out, const tesela_xla_shape *shape, const tesela_xla_sizes *sizes) {
  tesela_put_key_ints(out, "shape", shape->rank, shape->dim);
  tesela_put_key_int(out, "rank", shape->rank);
  tesela_put_key_text(out, "dtype", tesela_dtype_name(shape->dtype));
  tesela_put_key_int(out, "bits", sizes->bits_per_element);
  tesela_put_key_int(out, "logical_elements", sizes->logical_elements);
  tesela_put_key_int(out, "logical_bytes", sizes->logical_bytes);
  tesela_put_key_int(out, "elements", sizes->elements);
  tesela_put_key_int(out, "bytes", sizes->bytes);
  tesela_put_key_int(out, "allocated_bytes", sizes->allocated_bytes);
  tesela_put_key_real(out, "expansion", sizes->expansion);
}

static void put_digits(tesela_sink *out, const tesela_layout *layout) {
  tesela_put_key_list(out, "digits");
  for (int32_t i = 0; i < layout->n_active; i++) put_digit(out, layout, &layout->digit[i]);
  tesela_put_end(out);
}

static tesela_status put_info(tesela_request *q, const tesela_xla_shape *shape, const tesela_layout *layout,
                              bool details) {
  enum { PADS = TESELA_XLA_MAX_TILE_NUMBERS + 2 };
  tesela_xla_sizes sizes;
  tesela_xla_pad pad[PADS];
  int64_t bounds[TESELA_MAX_DIGITS];
  int32_t n_bounds = 0, n_pads = 0;
  tesela_status status = tesela_xla_size(shape, &sizes, q->err);
  if (status == TESELA_OK)
    status = tesela_xla_bounds(shape, shape->layout.n_tiles, bounds, &n_bounds, q->err);
  if (status == TESELA_OK) status = tesela_xla_padding(shape, PADS, pad, &n_pads, q->err);
  if (status != TESELA_OK) return status;
  put_sizes(q->out, shape, &sizes);
  request_put_shape(q->out, "canonical", shape);
  put_digits(q->out, layout);
  tesela_put_key_ints(q->out, "bounds", n_bounds, bounds);
  tesela_put_key_list(q->out, "padding");
  for (int32_t i = 0; i < n_pads && i < PADS; i++) put_pad(q->out, details ? &shape->layout : NULL, &pad[i]);
  tesela_put_end(q->out);
  return TESELA_OK;
}

/* A tuple: "leaves", all facts about each of its arrays, and the bytes of all. */
static tesela_status put_tuple(tesela_request *q, const char *text, size_t length) {
  tuple t = {NULL, 0, NULL};
  leaf l;
  int64_t bytes, allocated;
  tesela_status status = tesela_xla_tree_create(&t.tree, text, length, q->flags, NULL, NULL, q->err);
  if (status != TESELA_OK) return status;
  if (!number_members(&t)) {
    status =
        tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory for a tuple of %" PRId32 " shapes", t.count);
  } else {
    tesela_put_key_list(q->out, "leaves");
    for (int32_t node = 0; next_leaf(&t, &node, &l) && !q->out->stopped;) {
      tesela_put_object(q->out);
      tesela_put_key_text(q->out, "member", l.path.text);
      l.sized ? show_json(q->out, &l.facts, false) : show_json_no_size(q->out, l.shape);
      tesela_put_end(q->out);
    }
    tesela_put_end(q->out);
    if (tesela_xla_tree_bytes(t.tree, &bytes, &allocated, NULL) == TESELA_OK) {
      tesela_put_key_int(q->out, "bytes", bytes);
      tesela_put_key_int(q->out, "allocated_bytes", allocated);
    }
  }
  free(t.member);
  tesela_xla_tree_destroy(t.tree);
  return status;
}

static tesela_status info_of_xla(tesela_request *q, const tesela_any_layout *any, bool details) {
  tesela_layout layout;
  show_facts facts;
  tesela_status status = details ? show_facts_of(&any->shape, &facts, q->err) : TESELA_OK;
  if (status == TESELA_E_UNSUPPORTED) { /* token[]: it has no size, and that is the answer */
    show_json_no_size(q->out, &any->shape);
    return TESELA_OK;
  }
  if (status == TESELA_OK) status = tesela_any_to_layout(any, &layout, q->err);
  if (status == TESELA_OK) status = put_info(q, &any->shape, &layout, details);
  if (status == TESELA_OK && details) show_json(q->out, &facts, true);
  return status;
}

/* The fragment that a register layout is, and those that it is made of. */
static tesela_status put_fragments(tesela_request *q, const tesela_register *layout) {
  const tesela_value *text = tesela_request_get(q, "layout");
  const tesela_fragment *entry = expression_fragment_entry(text->as.text, text->n);
  tesela_put_key_text(q->out, "fragment", entry ? entry->name : NULL);
  return made_of_json(q->out, layout, text->as.text, text->n)
             ? TESELA_OK
             : tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory to look for fragments");
}

/* "also": the other notations that express it. */
static tesela_status put_also(tesela_request *q, const tesela_any_layout *any) {
  int in = 0;
  tesela_put_key_list(q->out, "also");
  for (int32_t i = 0; in >= 0; i++) {
    if (also_in(any, i, &in, q->err) != TESELA_OK) return TESELA_E_MEMORY;
    if (in > 0) tesela_put_text(q->out, tesela_notation_at(i)->name);
  }
  tesela_put_end(q->out);
  *q->err = (tesela_error){.at = -1};
  return TESELA_OK;
}

/* Shape, type, axes and sizes: all that is known of a relation, with its digits. */
static tesela_status put_relation(tesela_request *q, const tesela_layout *layout) {
  tesela_sizes sizes;
  tesela_status status = tesela_layout_sizes(layout, &sizes, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_ints(q->out, "shape", layout->rank, layout->shape);
  tesela_put_key_text(q->out, "dtype", tesela_dtype_name(layout->dtype));
  tesela_put_key_int(q->out, "bits", layout->bits);
  tesela_put_key_int(q->out, "logical_elements", sizes.logical_elements);
  tesela_put_key_int(q->out, "elements", sizes.elements);
  tesela_put_key_int(q->out, "copies", tesela_layout_copies(layout));
  tesela_put_key_list(q->out, "axes");
  for (int32_t a = 0; a < layout->n_axes; a++) {
    tesela_put_object(q->out);
    tesela_put_key_text(q->out, "name", layout->axis[a].name);
    tesela_put_key_int(q->out, "extent", layout->axis[a].extent);
    tesela_put_key_int(q->out, "offset", layout->axis[a].offset);
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

/* The bits of places that the XOR stage changes: {"axis":"memory","bit":3,"becomes":[["memory",3],["memory",0]]} */
static void put_swizzle(tesela_sink *out, const tesela_layout *layout) {
  const tesela_bit_matrix *m = &layout->swizzle;
  tesela_axis_bit bit[64];
  int32_t n = 0;
  for (int32_t a = 0; a < layout->n_axes && n < m->n; a++)
    for (int32_t k = 0; k < m->width[a]; k++) bit[n++] = (tesela_axis_bit){(int16_t)a, (int16_t)k};
  tesela_put_key_list(out, "swizzle");
  for (int32_t i = 0; i < n; i++) {
    if (!(m->moved >> i & 1)) continue;
    tesela_put_object(out);
    tesela_put_key_text(out, "axis", layout->axis[bit[i].axis].name);
    tesela_put_key_int(out, "bit", bit[i].bit);
    tesela_put_key_list(out, "becomes");
    for (int32_t k = 0; k < n; k++) {
      if (!(m->image[i] >> k & 1)) continue;
      tesela_put_list(out);
      tesela_put_text(out, layout->axis[bit[k].axis].name);
      tesela_put_int(out, bit[k].bit);
      tesela_put_end(out);
    }
    tesela_put_end(out);
    tesela_put_end(out);
  }
  tesela_put_end(out);
}

static tesela_status info_of_any(tesela_request *q, const tesela_any_layout *any, bool details) {
  tesela_layout layout;
  tesela_status status = tesela_any_to_layout(any, &layout, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_text(q->out, "kind", tesela_kind_name(any->kind));
  tesela_put_key_int(q->out, "rank", layout.rank);
  if (any->kind == TESELA_KIND_DEVICE)
    status = device_put(q->out, &any->device, q->target, q->err);
  else if (any->kind == TESELA_KIND_REGISTER)
    expression_put_register(q->out, &any->registers, NULL);
  else if (any->kind == TESELA_KIND_RELATION)
    status = put_relation(q, &layout);
  else
    expression_put_memory(q->out, &any->memory);
  if (status == TESELA_OK && details && any->kind == TESELA_KIND_REGISTER)
    status = put_fragments(q, &any->registers);
  tesela_register registers;
  if (status == TESELA_OK && details && made_of_registers(any, &registers) &&
      !made_of_json(q->out, &registers, "", 0))
    status = tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory to look for fragments");
  if (status == TESELA_OK && details && any->kind == TESELA_KIND_RELATION) {
    tesela_writer to = tesela_put_key_begin(q->out, "text");
    status = tesela_any_print(any, &to, q->err);
    tesela_put_text_end(q->out);
  }
  if (status == TESELA_OK) put_digits(q->out, &layout);
  if (status == TESELA_OK && any->kind == TESELA_KIND_RELATION) put_swizzle(q->out, &layout);
  return status;
}

tesela_status op_info(tesela_request *q) {
  tesela_any_layout any;
  size_t used;
  bool details = tesela_request_flag(q, "details");
  if (details && request_is_tuple(q, "layout", &used)) {
    const tesela_value *text = tesela_request_get(q, "layout");
    tesela_status status = put_tuple(q, text->as.text + used, text->n - used);
    if (status != TESELA_OK && q->err->at >= 0) q->err->at += (int64_t)used;
    return status;
  }
  tesela_status status = request_any(q, "layout", &any, NULL);
  if (status != TESELA_OK) return status;
  status = any.kind == TESELA_KIND_XLA ? info_of_xla(q, &any, details) : info_of_any(q, &any, details);
  return status == TESELA_OK && details ? put_also(q, &any) : status;
}
