/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xegpu_text.c - the lanes of a vector in MLIR's XeGPU dialect.
 *
 *   #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>
 *
 * Lanes are an array, row-major or by `order` (its first dim is the fastest); each has lane_data elements, and again as often as the vector is
 * larger. Its own elements are numbered row-major as the vector that it keeps.
 */
#include "notation/memory/memory.h"

typedef struct xegpu_text {
  int64_t layout[TESELA_MAX_RANK], data[TESELA_MAX_RANK], order[TESELA_MAX_RANK];
  int32_t n_layout, n_data, n_order; /* -1: missing */
} xegpu_text;

static const char *xegpu_field_at(int32_t i) {
  static const char *const fields[] = {"lane_layout", "lane_data", "order", NULL};
  return fields[i];
}

static tesela_status xegpu_list(tesela__reader *r, int64_t *list, int32_t *n) {
  size_t begin = r->at;
  if (*n >= 0) return tesela__read_fail(r, TESELA_E_SYNTAX, begin, "the list is given twice");
  tesela_status status = tesela__read_expect(r, '=', "before the list");
  return status == TESELA_OK
             ? tesela__read_integers(r, '[', false, "a number", TESELA_E_OVERFLOW, TESELA_MAX_RANK, list, n)
             : status;
}

static tesela_status xegpu_parse(tesela__reader *r, xegpu_text *t) {
  bool more = true;
  tesela_status status = TESELA_OK;
  if (!tesela__read_take_text(r, "#xegpu.layout<"))
    return tesela__read_unexpected(r, "#xegpu.layout<lane_layout = [..], lane_data = [..]>", "");
  while (status == TESELA_OK && more) {
    size_t at = r->at, n;
    if (tesela__read_take_text(r, "lane_layout")) {
      status = xegpu_list(r, t->layout, &t->n_layout);
    } else if (tesela__read_take_text(r, "lane_data")) {
      status = xegpu_list(r, t->data, &t->n_data);
    } else if (tesela__read_take_text(r, "order")) {
      status = xegpu_list(r, t->order, &t->n_order);
    } else {
      n = tesela__read_word(r);
      at = r->at;
      if (tesela__read_take_text(r, "sg_layout") || tesela__read_take_text(r, "sg_data") ||
          tesela__read_take_text(r, "inst_data"))
        return tesela__read_fail(r, TESELA_E_UNSUPPORTED, at,
                                 "%.*s is not read: only the lanes of one subgroup are", (int)n,
                                 r->text + at);
      return tesela__read_unknown_of(r, at, n, "field", xegpu_field_at);
    }
    if (status == TESELA_OK) status = tesela__read_more(r, '>', false, &more);
  }
  if (status == TESELA_OK && (t->n_layout < 0 || t->n_data < 0))
    return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "%s is missing",
                             t->n_layout < 0 ? "lane_layout" : "lane_data");
  return status == TESELA_OK ? tesela__text_end(r) : status;
}

static tesela_status xegpu_check(const xegpu_text *t, const tesela_xla_shape *array, tesela_error *err) {
  bool seen[TESELA_MAX_RANK] = {false};
  int32_t n = t->n_layout;
  if (t->n_data != n || (t->n_order >= 0 && t->n_order != n) || array->rank != n)
    return tesela__fail(err, TESELA_E_MISMATCH, 0,
                        "the lists have %" PRId32 " and %" PRId32 " numbers; the array has %" PRId32 " dims",
                        n, t->n_data, array->rank);
  for (int32_t d = 0; d < n; d++) {
    int64_t unit;
    if (t->layout[d] < 1 || t->data[d] < 1 || !tesela__mul(t->layout[d], t->data[d], &unit))
      return tesela__fail(err, TESELA_E_RANGE, 0,
                          "dim %" PRId32 " has %" PRId64 " lanes of %" PRId64 " elements", d, t->layout[d],
                          t->data[d]);
    if (array->dim[d] % unit != 0)
      return tesela__fail(err, TESELA_E_INVALID, 0,
                          "%" PRId64 " lanes of %" PRId64 " elements do not divide dim %" PRId32
                          " of %" PRId64,
                          t->layout[d], t->data[d], d, array->dim[d]);
    if (t->n_order >= 0 && (t->order[d] < 0 || t->order[d] >= n || seen[t->order[d]]))
      return tesela__fail(err, TESELA_E_INVALID, 0, "the order is not a permutation of %" PRId32 " dims", n);
    if (t->n_order >= 0) seen[t->order[d]] = true;
  }
  return TESELA_OK;
}

tesela_status tesela__xegpu_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  xegpu_text t = {.n_layout = -1, .n_data = -1, .n_order = -1};
  int32_t bits, thread = 0, local = 0, lane[TESELA_MAX_RANK], own[2 * TESELA_MAX_RANK], n = 0;
  int64_t next = 1;
  const tesela_xla_shape *array = NULL;
  tesela_layout *layout = &out->relation;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = xegpu_parse(&r, &t);
  if (status == TESELA_OK) status = tesela__memory_array(options, -1, "the layout", &array, err);
  if (status == TESELA_OK) status = xegpu_check(&t, array, err);
  out->kind = TESELA_KIND_RELATION;
  if (status == TESELA_OK) status = tesela_layout_begin(layout, dtype, bits, array->rank, array->dim, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(layout, "thread", &thread, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(layout, "local", &local, err);
  for (int32_t d = 0; d < t.n_layout && status == TESELA_OK; d++) { /* dim = (again, lane, data) */
    status = tesela_layout_split(layout, d, t.layout[d] * t.data[d], &lane[d], err);
    own[n++] = d;
    if (status == TESELA_OK) status = tesela_layout_split(layout, lane[d], t.data[d], &own[n++], err);
  }
  if (status == TESELA_OK) status = tesela_layout_place_row_major(layout, n, own, local, 1, NULL, err);
  for (int32_t k = t.n_layout - 1; k >= 0 && status == TESELA_OK; k--) {
    int32_t d = t.n_order >= 0 ? (int32_t)t.order[t.n_layout - 1 - k] : k;
    status = tesela_layout_place_row_major(layout, 1, &lane[d], thread, next, &next, err);
  }
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}
