/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axe_text.c - layouts of Axe, TVM's TileLayout, read: the row-major number of an element, split by extents, each part on an axis.
 *
 *   S[(128, 256) : (1@TLane, 1@TCol)] + R[2 : 4@warpid] + 5@m
 *
 * A stride without an axis is on m, memory or registers. Beside threads m is their registers: tx and m are read as thread and local, laneid,
 * warpid and m as lane, warp and register; m alone is memory.
 */
#include "notation/memory/axe.h"

static const char *const axe_names[] = {"bx", "by",     "bz",     "cbx",  "cby",       "cbz",
                                        "tx", "warpid", "laneid", "wgid", "tid_in_wg", "wid_in_wg",
                                        "m",  "P",      "F",      "Bank", "TCol",      "TLane"};

const char *tesela__axe_name(int32_t i) { return i >= 0 && i < TESELA__AXE_NAMES ? axe_names[i] : NULL; }

typedef struct axe_part {
  int64_t extent, stride;
  int32_t axis; /* of axe_names */
} axe_part;

typedef struct axe_text {
  axe_part part[TESELA_MAX_DIGITS];
  int32_t n, n_shard; /* the replicas follow the shard */
  int64_t offset[TESELA__AXE_NAMES];
  bool used[TESELA__AXE_NAMES];
} axe_text;

/* "@warpid" or "@ Axis.warpid" after a number; m without it. */
static tesela_status axe_axis(tesela__reader *r, axe_text *t, int32_t *axis) {
  *axis = TESELA__AXE_M;
  if (tesela__read_take(r, '@')) {
    if (tesela__read_take_text(r, "Axis")) {
      tesela_status status = tesela__read_expect(r, '.', "after Axis");
      if (status != TESELA_OK) return status;
    }
    size_t n = tesela__read_word(r);
    if (n == 0) return tesela__read_unexpected(r, "an axis, such as laneid", "");
    for (*axis = 0; *axis < TESELA__AXE_NAMES; ++*axis)
      if (tesela__same_word(r->text + r->at, n, axe_names[*axis])) break;
    if (*axis == TESELA__AXE_NAMES) return tesela__read_unknown_of(r, r->at, n, "axis", tesela__axe_name);
    r->at += n;
  }
  t->used[*axis] = true;
  return TESELA_OK;
}

/* The extents, or the strides, of parts from `first` on: one number, or a tuple. */
static tesela_status axe_list(tesela__reader *r, axe_text *t, bool strides, int32_t first, int32_t *n) {
  bool tuple = tesela__read_take(r, '('), more = true;
  tesela_status status = TESELA_OK;
  *n = 0;
  while (status == TESELA_OK && more) {
    if (first + *n == TESELA_MAX_DIGITS / 2)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d parts", TESELA_MAX_DIGITS / 2);
    axe_part *part = &t->part[first + (*n)++];
    if (strides) {
      status = tesela__read_any_integer(r, "a stride", TESELA_E_OVERFLOW, &part->stride);
      if (status == TESELA_OK) status = axe_axis(r, t, &part->axis);
    } else {
      status = tesela__read_integer(r, "extent", 0, INT64_MAX, &part->extent);
    }
    more = false;
    if (status == TESELA_OK && tuple) status = tesela__read_more(r, ')', true, &more);
  }
  return status;
}

/* "[extents : strides]" after S or R. */
static tesela_status axe_parts(tesela__reader *r, axe_text *t) {
  int32_t extents, strides = 0;
  size_t begin = r->at;
  tesela_status status = tesela__read_expect(r, '[', "after S or R");
  if (status == TESELA_OK) status = axe_list(r, t, false, t->n, &extents);
  if (status == TESELA_OK) status = tesela__read_expect(r, ':', "between extents and strides");
  if (status == TESELA_OK) status = axe_list(r, t, true, t->n, &strides);
  if (status == TESELA_OK) status = tesela__read_expect(r, ']', "after the strides");
  if (status != TESELA_OK) return status;
  if (extents != strides)
    return tesela__read_fail(r, TESELA_E_SYNTAX, begin, "%" PRId32 " strides of %" PRId32 " extents", strides,
                             extents);
  t->n += extents;
  return TESELA_OK;
}

static tesela_status axe_offset(tesela__reader *r, axe_text *t) {
  int64_t value;
  int32_t axis = 0;
  size_t begin = r->at;
  tesela_status status = tesela__read_any_integer(r, "S[..], R[..] or an offset", TESELA_E_OVERFLOW, &value);
  if (status == TESELA_OK) status = axe_axis(r, t, &axis);
  if (status == TESELA_OK && !tesela__add(t->offset[axis], value, &t->offset[axis]))
    status = tesela__read_fail(r, TESELA_E_OVERFLOW, begin, "the offset does not fit in 64 bits");
  return status;
}

static tesela_status axe_sum(tesela__reader *r, axe_text *t) {
  int32_t open = 0; /* brackets around offsets */
  bool replicas = false;
  tesela_status status = TESELA_OK;
  if (tesela__read_take_text(r, "ComposeLayout") || tesela__read_take_text(r, "SwizzleLayout") ||
      tesela__read_take_text(r, "T.ComposeLayout") || tesela__read_take_text(r, "T.SwizzleLayout"))
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, 0,
                             "swizzles of Axe are not read; expected S[..] + R[..] + offset");
  bool wrapped = tesela__read_take_text(r, "T.TileLayout") || tesela__read_take_text(r, "TileLayout");
  if (wrapped) status = tesela__read_expect(r, '(', "after TileLayout");
  if (status == TESELA_OK && !tesela__read_take_text(r, "T.S") && !tesela__read_take_text(r, "S"))
    return tesela__read_unexpected(r, "S[extents : strides]", "");
  if (status == TESELA_OK) status = axe_parts(r, t);
  t->n_shard = t->n;
  while (status == TESELA_OK && tesela__read_take(r, '+')) {
    while (tesela__read_take(r, '(')) open++;
    if (tesela__read_take_text(r, "T.R") || tesela__read_take_text(r, "R")) {
      if (replicas) return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "R is given twice");
      replicas = true;
      status = axe_parts(r, t);
    } else {
      status = axe_offset(r, t);
    }
    while (status == TESELA_OK && open > 0 && tesela__read_take(r, ')')) open--;
  }
  if (status == TESELA_OK && open > 0) status = tesela__read_expect(r, ')', "after the offsets");
  if (status == TESELA_OK && wrapped) status = tesela__read_expect(r, ')', "after TileLayout(");
  return status == TESELA_OK ? tesela__text_end(r) : status;
}

/* ---- axes --------------------------------------------------------------------------------------------------- */

void tesela__axe_axes(const bool *used, tesela__axe_order *order) {
  static const tesela__axe_order memory = {1, {TESELA__AXE_M}, {"memory"}};
  static const int32_t threads[] = {TESELA__AXE_TX, TESELA__AXE_TID, TESELA__AXE_LANE};
  bool others = false;
  int32_t thread = -1, n_threads = 0;
  *order = (tesela__axe_order){.n = 0};
  for (int32_t i = 0; i < TESELA__AXE_NAMES; i++)
    others = others || (used[i] && i != TESELA__AXE_M && i != TESELA__AXE_TX && i != TESELA__AXE_TID &&
                        i != TESELA__AXE_LANE && i != TESELA__AXE_WARP && i != TESELA__AXE_CLUSTER);
  for (int32_t i = 0; i < 3; i++)
    if (used[threads[i]]) {
      thread = threads[i];
      n_threads++;
    }
  if (!others && used[TESELA__AXE_LANE] && used[TESELA__AXE_WARP] && n_threads == 1) {
    *order = (tesela__axe_order){3 + used[TESELA__AXE_CLUSTER],
                                 {TESELA__AXE_M, TESELA__AXE_LANE, TESELA__AXE_WARP, TESELA__AXE_CLUSTER},
                                 {"register", "lane", "warp", "block"}};
  } else if (!others && n_threads == 1 && !used[TESELA__AXE_WARP] && !used[TESELA__AXE_CLUSTER]) {
    *order = (tesela__axe_order){2, {thread, TESELA__AXE_M}, {"thread", "local"}};
  } else {
    for (int32_t i = 0; i < TESELA__AXE_NAMES && order->n < TESELA_MAX_AXES; i++)
      if (used[i]) {
        order->axis[order->n] = i;
        order->name[order->n++] = axe_names[i];
      }
    if (order->n == 0 || (order->n == 1 && used[TESELA__AXE_M])) *order = memory;
  }
}

static tesela_status axe_build(const axe_text *t, tesela_dtype dtype, int32_t bits, tesela_layout *out,
                               tesela_error *err) {
  int64_t shape[TESELA_MAX_RANK];
  tesela__axe_order order;
  int32_t number[TESELA__AXE_NAMES] = {0}, digit;
  if (t->n_shard > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, 0, "more than %d extents", TESELA_MAX_RANK);
  for (int32_t i = 0; i < t->n_shard; i++) shape[i] = t->part[i].extent;
  tesela_status status = tesela_layout_begin(out, dtype, bits, t->n_shard, shape, err);
  tesela__axe_axes(t->used, &order);
  for (int32_t i = 0; i < order.n && status == TESELA_OK; i++) {
    int32_t axis = 0;
    status = tesela_layout_add_axis(out, order.name[i], &axis, err);
    number[order.axis[i]] = axis;
    if (status == TESELA_OK) status = tesela_layout_set_axis(out, axis, t->offset[order.axis[i]], -1, err);
  }
  for (int32_t i = 0; i < t->n && status == TESELA_OK; i++) {
    digit = i;
    if (i >= t->n_shard && t->part[i].extent > 1 && t->part[i].stride == 0)
      continue; /* the same place again */
    if (i >= t->n_shard && t->part[i].extent < 2) continue;
    if (i >= t->n_shard)
      status = tesela_layout_add_digit(out, TESELA_REPLICA, t->part[i].extent, &digit, err);
    if (status == TESELA_OK)
      status = tesela_layout_place(out, digit, number[t->part[i].axis], t->part[i].stride, err);
  }
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

tesela_status tesela__axe_read(const char *text, size_t length, const tesela_layout_read_options *options,
                               tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  axe_text t = {.n = 0};
  int32_t bits;
  const tesela_xla_shape *array = options->array;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = axe_sum(&r, &t);
  out->kind = TESELA_KIND_RELATION;
  if (status == TESELA_OK) status = axe_build(&t, dtype, bits, &out->relation, err);
  if (status != TESELA_OK || !array) return status;
  return tesela_layout_reshape(&out->relation, array->rank, array->dim, &out->relation, err);
}
