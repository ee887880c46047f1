/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_cute.c - the op cute: the algebra of CuTe layouts.
 *
 * One row for each name in `do`; a row has a function that fills in the result from the texts in `args`.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/cute.h>

#include "request.h"

/* What an operation of the algebra has to say: a layout, a tuple, a number or the text of a relation. */
typedef struct cute_answer {
  const tesela_value *args;
  tesela_cute layout;
  tesela_cute_tuple tuple;
  tesela_layout relation;
  int64_t number;
  bool offset; /* number is the offset beside a layout */
  enum { ANSWER_LAYOUT, ANSWER_TUPLE, ANSWER_NUMBER, ANSWER_RELATION } kind;
  tesela_cute_counter counter;
} cute_answer;

typedef struct cute_do {
  const char *name;
  size_t least, most; /* texts in args */
  tesela_status (*answer)(tesela_request *q, const struct cute_do *how, cute_answer *r);
  int variant;
} cute_do;

/* ---- texts ---- */

static const tesela_value *arg(const cute_answer *r, size_t i) { return tesela_value_at(r->args, i); }

/* A failure in a text: "args[1]: ...". */
static tesela_status in_text(tesela_request *q, const tesela_value *text, tesela_status status) {
  const tesela_error err = *q->err;
  if (status == TESELA_OK) return status;
  const size_t i = (size_t)(text - tesela_value_at(tesela_value_get(q->value, "args"), 0));
  q->text = tesela_value_text(text);
  (void)tesela_request_fail(q, status, err.at, "args[%zu]: %s", i, err.message);
  q->err->reason = err.reason;
  return status;
}

/* The number of bytes of "cute:" before a text. */
static size_t prefix(const tesela_value *text) {
  return strncmp(tesela_value_text(text), "cute:", 5) == 0 ? 5 : 0;
}

static tesela_status read_layout(tesela_request *q, const tesela_value *text, tesela_cute *layout) {
  const size_t used = prefix(text);
  tesela_status status =
      tesela_cute_parse(layout, tesela_value_text(text) + used, tesela_value_length(text) - used, q->err);
  if (status != TESELA_OK && q->err->at >= 0) q->err->at += (int64_t)used;
  return in_text(q, text, status);
}

static tesela_status read_tiler(tesela_request *q, const tesela_value *text, tesela_cute_tiler *tiler) {
  const size_t used = prefix(text);
  tesela_status status = tesela_cute_tiler_parse(tiler, tesela_value_text(text) + used,
                                                 tesela_value_length(text) - used, q->err);
  if (status != TESELA_OK && q->err->at >= 0) q->err->at += (int64_t)used;
  return in_text(q, text, status);
}

/* A layout, then a layout or tiler. */
static tesela_status read_operands(tesela_request *q, const cute_answer *r, tesela_cute *a,
                                   tesela_cute_tiler *tiler) {
  tesela_status status = read_layout(q, arg(r, 0), a);
  return status == TESELA_OK ? read_tiler(q, arg(r, 1), tiler) : status;
}

static tesela_status read_tuple(tesela_request *q, const tesela_value *text, tesela_cute_tuple *tuple) {
  return in_text(q, text,
                 tesela_cute_tuple_parse(tuple, tesela_value_text(text), tesela_value_length(text), q->err));
}

/* One number, or the size of a layout. */
static tesela_status read_size(tesela_request *q, const tesela_value *text, int64_t *size) {
  tesela_cute layout;
  tesela_status status = read_layout(q, text, &layout);
  if (status == TESELA_OK) *size = tesela_cute_size(&layout);
  return status;
}

/* A layout and a coordinate in either order: a layout has strides after ':', or is `layout`-th. */
static tesela_status read_at(tesela_request *q, const cute_answer *r, size_t layout, tesela_cute *a,
                             tesela_cute_tuple *at) {
  if (strchr(tesela_value_text(arg(r, layout)), ':') == NULL &&
      strchr(tesela_value_text(arg(r, 1 - layout)), ':'))
    layout = 1 - layout;
  tesela_status status = read_layout(q, arg(r, layout), a);
  return status == TESELA_OK ? read_tuple(q, arg(r, 1 - layout), at) : status;
}

/* ---- relations ---- */

/* The flat coordinate 0 .. size-1 to the place, as a layout of one dim. */
static tesela_status flat_relation(const tesela_cute *a, int64_t size, tesela_layout *out) {
  int32_t digit = 0, low, axis;
  tesela_status status = tesela_layout_begin(out, TESELA_DTYPE_NONE, 8, 1, &size, NULL);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, "memory", &axis, NULL);
  for (int32_t k = 0; k + 1 < a->n && status == TESELA_OK; k++) {
    if (a->extent[k] == 1) continue;
    status = tesela_layout_split(out, digit, a->extent[k], &low, NULL);
    if (status == TESELA_OK) status = tesela_layout_place(out, low, axis, a->stride[k], NULL);
  }
  if (status == TESELA_OK)
    status = tesela_layout_place(out, digit, axis, a->n > 0 ? a->stride[a->n - 1] : 0, NULL);
  if (status == TESELA_OK) status = tesela_layout_set_axis(out, axis, a->offset, -1, NULL);
  const tesela_swizzle xor = {.bits = (int16_t)a->bits, .base = (int16_t)a->base, .shift = (int16_t)a->shift};
  if (status == TESELA_OK && a->bits > 0) status = tesela_layout_add_swizzle(out, xor, NULL);
  return status == TESELA_OK ? tesela_layout_finish(out, NULL) : status;
}

/* The coordinates of the outer modes to the place. */
static tesela_status modes_relation(const tesela_cute *b, tesela_layout *out) {
  int64_t shape[TESELA_CUTE_LEAVES];
  int32_t depth = 0, rank = 0, mode[TESELA_CUTE_LEAVES], axis, low;
  const int32_t outer = b->n > 0 && b->open[0] > 0;
  for (int32_t i = 0; i < b->n; i++) {
    if (i == 0 || depth == outer) shape[rank++] = 1;
    depth += b->open[i] - b->close[i];
    shape[rank - 1] *= b->extent[i];
    mode[i] = rank - 1;
  }
  tesela_status status = tesela_layout_begin(out, TESELA_DTYPE_NONE, 8, rank, shape, NULL);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, "memory", &axis, NULL);
  for (int32_t i = 0; i < b->n && status == TESELA_OK; i++) {
    const bool last = i + 1 == b->n || mode[i + 1] != mode[i];
    low = mode[i];
    if (!last) status = tesela_layout_split(out, mode[i], b->extent[i], &low, NULL);
    if (status == TESELA_OK) status = tesela_layout_place(out, low, axis, b->stride[i], NULL);
  }
  if (status == TESELA_OK) status = tesela_layout_set_axis(out, axis, b->offset, -1, NULL);
  return status == TESELA_OK ? tesela_layout_finish(out, NULL) : status;
}

/* After a refusal, with "as": "any": the relation A(B) itself. Other statuses stay, and so does this one if places are below 0. */
static tesela_status as_relation(tesela_request *q, const tesela_cute *a, const tesela_cute *b,
                                 tesela_status status, cute_answer *r) {
  tesela_layout left, right;
  if (status != TESELA_E_UNSUPPORTED || q->err->reason != TESELA_REASON_NOT_EXPRESSIBLE ||
      !tesela_value_get(q->value, "as") || modes_relation(b, &right) != TESELA_OK ||
      flat_relation(a, right.axis[0].extent, &left) != TESELA_OK ||
      tesela_layout_compose(&left, &right, &r->relation, NULL) != TESELA_OK)
    return status;
  *q->err = (tesela_error){.at = -1};
  r->kind = ANSWER_RELATION;
  return TESELA_OK;
}

/* ---- the operations ---- */

static tesela_status do_simple(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  tesela_cute_tuple profile = {.n = 0};
  int32_t modes = 0, depth = 0;
  tesela_status status = read_layout(q, arg(r, 0), &a);
  if (status == TESELA_OK && arg(r, 1)) status = read_tuple(q, arg(r, 1), &profile);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < profile.n; i++) {
    modes += depth == (profile.open[0] > 0) || i == 0;
    depth += profile.open[i] - profile.close[i];
  }
  if (profile.n > 0 && profile.open[0] == 0) modes = 0; /* 1: the whole layout */
  switch (how->variant) {
  case 0:
    return tesela_cute_coalesce(&a, modes, &r->layout, q->err);
  case 1:
    return tesela_cute_filter(&a, modes, &r->layout, q->err);
  case 2:
    return tesela_cute_flatten(&a, &r->layout, q->err);
  case 3:
    return tesela_cute_right_inverse(&a, &r->layout, q->err);
  case 4:
    return tesela_cute_left_inverse(&a, &r->layout, &r->counter, q->err);
  default:
    r->layout = a;
    return TESELA_OK;
  }
}

static tesela_status do_number(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  tesela_status status = read_layout(q, arg(r, 0), &a);
  if (status != TESELA_OK) return status;
  r->kind = ANSWER_NUMBER;
  r->number = how->variant ? tesela_cute_cosize(&a) : tesela_cute_size(&a);
  if (r->number > 0) return TESELA_OK;
  return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1,
                             "strides are along coordinates, or the places exceed 64 bits; expected places");
}

static tesela_status do_composition(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  tesela_cute_tiler tiler;
  (void)how;
  tesela_status status = read_operands(q, r, &a, &tiler);
  if (status != TESELA_OK) return status;
  status = tesela_cute_compose_tiler(&a, &tiler, &r->layout, &r->counter, q->err);
  return tiler.by_mode ? status : as_relation(q, &a, &tiler.mode[0], status, r);
}

static tesela_status do_complement(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  (void)how;
  tesela_status status = read_layout(q, arg(r, 0), &a);
  int64_t size = status == TESELA_OK ? tesela_cute_cosize(&a) : 0;
  if (status == TESELA_OK && arg(r, 1)) status = read_size(q, arg(r, 1), &size);
  return status == TESELA_OK
             ? tesela_cute_complement(&a, size > 0 ? size : 1, &r->layout, &r->counter, q->err)
             : status;
}

/* (B, complement of B in the size of A). */
static bool with_rest(const tesela_cute *b, int64_t size, tesela_cute *both) {
  tesela_cute rest;
  if (tesela_cute_complement(b, size, &rest, NULL, NULL) != TESELA_OK || b->n == 0 ||
      b->n + rest.n > TESELA_CUTE_LEAVES || b->open[0] >= TESELA_CUTE_LEAVES - 1)
    return false;
  *both = *b;
  for (int32_t i = 0; i < rest.n; i++, both->n++) {
    both->extent[both->n] = rest.extent[i];
    both->stride[both->n] = rest.stride[i];
    both->open[both->n] = rest.open[i];
    both->close[both->n] = rest.close[i];
    both->n_path[both->n] = 0;
  }
  both->open[0]++;
  both->close[both->n - 1]++;
  return true;
}

static tesela_status do_divide(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a, both;
  tesela_cute_tiler tiler;
  tesela_status status = read_operands(q, r, &a, &tiler);
  if (status != TESELA_OK) return status;
  status = tesela_cute_divide((tesela_cute_form)how->variant, &a, &tiler, &r->layout, &r->counter, q->err);
  if (status == TESELA_OK || tiler.by_mode || how->variant > TESELA_CUTE_ZIPPED ||
      !with_rest(&tiler.mode[0], tesela_cute_size(&a), &both))
    return status;
  return as_relation(q, &a, &both, status, r);
}

static tesela_status do_product(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  tesela_cute_tiler tiler;
  tesela_status status = read_operands(q, r, &a, &tiler);
  if (status != TESELA_OK) return status;
  return tesela_cute_product((tesela_cute_form)how->variant, &a, &tiler, &r->layout, &r->counter, q->err);
}

static tesela_status do_tile_to_shape(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute block;
  tesela_cute_tuple shape, order = {.n = 0};
  (void)how;
  tesela_status status = read_layout(q, arg(r, 0), &block);
  if (status == TESELA_OK) status = read_tuple(q, arg(r, 1), &shape);
  if (status == TESELA_OK && arg(r, 2)) status = read_tuple(q, arg(r, 2), &order);
  if (status != TESELA_OK) return status;
  if (arg(r, 2) && order.n != shape.n)
    return tesela_request_fail(q, TESELA_E_MISMATCH, -1,
                               "the order has %" PRId32 " numbers; the shape has %" PRId32, order.n, shape.n);
  return tesela_cute_tile_to_shape(&block, shape.n, shape.value, arg(r, 2) ? order.value : NULL, &r->layout,
                                   &r->counter, q->err);
}

static tesela_status do_slice(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  tesela_cute_tuple at;
  (void)how;
  tesela_status status = read_at(q, r, 0, &a, &at);
  r->offset = true;
  return status == TESELA_OK ? tesela_cute_slice(&a, &at, &r->layout, &r->number, q->err) : status;
}

/* eval, crd2idx: the layout is the first or the second text. */
static tesela_status do_eval(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  tesela_cute_tuple at;
  tesela_status status = read_at(q, r, (size_t)how->variant, &a, &at);
  r->kind = ANSWER_NUMBER;
  return status == TESELA_OK ? tesela_cute_index(&a, &at, &r->number, q->err) : status;
}

static tesela_status do_idx2crd(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute a;
  tesela_cute_tuple at;
  (void)how;
  tesela_status status = read_at(q, r, 1, &a, &at);
  r->kind = ANSWER_TUPLE;
  if (status == TESELA_OK && (at.n != 1 || at.any != 0))
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "expected one integer and a shape or layout");
  return status == TESELA_OK ? tesela_cute_coordinate(&a, at.value[0], &r->tuple, q->err) : status;
}

static tesela_status do_shape_div(tesela_request *q, const cute_do *how, cute_answer *r) {
  tesela_cute_tuple a, b;
  (void)how;
  tesela_status status = read_tuple(q, arg(r, 0), &a);
  if (status == TESELA_OK) status = read_tuple(q, arg(r, 1), &b);
  r->kind = ANSWER_TUPLE;
  return status == TESELA_OK ? tesela_cute_shape_div(&a, &b, &r->tuple, q->err) : status;
}

static const cute_do names[] = {
    {"coalesce", 1, 2, do_simple, 0},
    {"filter", 1, 2, do_simple, 1},
    {"flatten", 1, 1, do_simple, 2},
    {"right_inverse", 1, 1, do_simple, 3},
    {"left_inverse", 1, 1, do_simple, 4},
    {"table", 1, 1, do_simple, 5},
    {"size", 1, 1, do_number, 0},
    {"cosize", 1, 1, do_number, 1},
    {"composition", 2, 2, do_composition, 0},
    {"complement", 1, 2, do_complement, 0},
    {"logical_divide", 2, 2, do_divide, TESELA_CUTE_LOGICAL},
    {"zipped_divide", 2, 2, do_divide, TESELA_CUTE_ZIPPED},
    {"tiled_divide", 2, 2, do_divide, TESELA_CUTE_TILED},
    {"flat_divide", 2, 2, do_divide, TESELA_CUTE_FLAT},
    {"logical_product", 2, 2, do_product, TESELA_CUTE_LOGICAL},
    {"zipped_product", 2, 2, do_product, TESELA_CUTE_ZIPPED},
    {"tiled_product", 2, 2, do_product, TESELA_CUTE_TILED},
    {"flat_product", 2, 2, do_product, TESELA_CUTE_FLAT},
    {"blocked_product", 2, 2, do_product, TESELA_CUTE_BLOCKED},
    {"raked_product", 2, 2, do_product, TESELA_CUTE_RAKED},
    {"tile_to_shape", 2, 3, do_tile_to_shape, 0},
    {"slice_and_offset", 2, 2, do_slice, 0},
    {"eval", 2, 2, do_eval, 0},
    {"crd2idx", 2, 2, do_eval, 1},
    {"idx2crd", 2, 2, do_idx2crd, 0},
    {"shape_div", 2, 2, do_shape_div, 0},
};

/* ---- the answer ---- */

enum { TABLE = 4096 };

static tesela_status put_table(tesela_request *q, const tesela_cute *layout, int64_t size) {
  int64_t place;
  tesela_put_key_list(q->out, "table");
  for (int64_t i = 0; i < size && i < TABLE; i++) {
    tesela_status status = tesela_cute_at(layout, i, &place, q->err);
    if (status != TESELA_OK) return status;
    tesela_put_int(q->out, place);
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

static tesela_status put_layout(tesela_request *q, const cute_answer *r, bool table) {
  const int64_t size = tesela_cute_size(&r->layout), cosize = tesela_cute_cosize(&r->layout);
  tesela_writer to = tesela_put_key_begin(q->out, "result");
  tesela_status status = tesela_cute_print(&r->layout, &to, q->err);
  tesela_put_text_end(q->out);
  tesela_put_key_int(q->out, "size", size);
  tesela_put_key(q->out, "cosize");
  cosize > 0 ? tesela_put_int(q->out, cosize) : tesela_put_null(q->out);
  if (r->offset) tesela_put_key_int(q->out, "offset", r->number);
  return status == TESELA_OK && table ? put_table(q, &r->layout, size) : status;
}

static tesela_status put_relation(tesela_request *q, const tesela_layout *relation) {
  int64_t size = 1;
  for (int32_t d = 0; d < relation->rank; d++) size *= relation->shape[d];
  tesela_writer to = tesela_put_key_begin(q->out, "result");
  tesela_status status = tesela_map_print(relation, &to, q->err);
  tesela_put_text_end(q->out);
  tesela_put_key_int(q->out, "size", size);
  tesela_put_key_int(q->out, "cosize", relation->axis[0].extent);
  return status;
}

/* {"index":3,"value":8,"expected":13}, {"index":1,"index2":2,"place":2}. */
static void show_counter(tesela_request *q, const tesela_cute_counter *counter) {
  tesela_value member[4];
  size_t n = 0;
  if (!counter->given) return;
  const bool shared = q->err->reason == TESELA_REASON_NOT_INJECTIVE;
  member[n++] = tesela_value_of_int("index", counter->index);
  if (shared) member[n++] = tesela_value_of_int("index2", counter->index2);
  member[n++] = tesela_value_of_int(shared ? "place" : "value", counter->value);
  if (!shared) member[n++] = tesela_value_of_int("expected", counter->expected);
  const tesela_value object = tesela_value_of_object(NULL, n, member);
  request_counter_example(q, &object);
}

static tesela_status answer_cute(tesela_request *q, const cute_do *how, cute_answer *r) {
  const size_t n = tesela_value_size(r->args);
  const bool table = tesela_request_flag(q, "table") || strcmp(how->name, "table") == 0;
  q->field = "args";
  if (n < how->least || n > how->most)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "%s: expected %zu%s in args, found %zu", how->name,
                               how->least,
                               how->most > how->least ? " or more texts"
                               : how->least == 1      ? " text"
                                                      : " texts",
                               n);
  tesela_status status = how->answer(q, how, r);
  if (status != TESELA_OK) {
    show_counter(q, &r->counter);
    return status;
  }
  switch (r->kind) {
  case ANSWER_LAYOUT:
    return put_layout(q, r, table);
  case ANSWER_RELATION:
    return put_relation(q, &r->relation);
  case ANSWER_NUMBER:
    tesela_put_key_int(q->out, "result", r->number);
    return TESELA_OK;
  case ANSWER_TUPLE:
    break;
  }
  tesela_writer to = tesela_put_key_begin(q->out, "result");
  status = tesela_cute_tuple_print(&r->tuple, &to, q->err);
  tesela_put_text_end(q->out);
  return status;
}

tesela_status op_cute(tesela_request *q) {
  const char *name = tesela_value_text(tesela_request_get(q, "do"));
  const tesela_value *args = tesela_request_get(q, "args");
  const cute_do *how = names;
  while (strcmp(how->name, name) != 0) how++; /* one of the words of the field */
  cute_answer *r = calloc(1, sizeof *r);
  if (!r) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  r->args = args;
  tesela_status status = answer_cute(q, how, r);
  free(r);
  return status;
}
