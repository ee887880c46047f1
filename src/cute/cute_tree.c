/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_tree.c - the modes of a CuTe layout: taken out, put together, coalesced, filtered, flattened.
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"

tesela_status tesela__cute_plain(const tesela_cute *cute, bool swizzle, const char *what, tesela_error *err) {
  tesela_status status = tesela__cute_check(cute, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < cute->n; i++)
    if (cute->n_path[i] > 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s has strides along coordinates; expected numbers",
                          what);
  if (cute->bits > 0 && !swizzle)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s has a swizzle; expected extents and strides",
                        what);
  return TESELA_OK;
}

int32_t tesela__cute_top_modes(const tesela_cute *cute, int32_t first[TESELA_CUTE_LEAVES + 1]) {
  int32_t n = 0, depth = 0;
  const int32_t top = tesela__cute_is_tuple(cute) ? 1 : 0;
  for (int32_t i = 0; i < cute->n; i++) {
    if (i == 0 || depth == top) first[n++] = i;
    depth += cute->open[i] - cute->close[i];
  }
  first[n] = cute->n;
  return n;
}

/* Leaves first .. last - 1 of a layout; `strip`: without the outermost brackets of the layout. */
static void cute_copy_leaves(const tesela_cute *cute, int32_t first, int32_t last, bool strip,
                             tesela_cute *out) {
  memset(out, 0, sizeof *out);
  for (int32_t i = first; i < last; i++, out->n++) {
    out->extent[out->n] = cute->extent[i];
    out->stride[out->n] = cute->stride[i];
    out->open[out->n] = (uint8_t)(cute->open[i] - (strip && i == 0));
    out->close[out->n] = (uint8_t)(cute->close[i] - (strip && i == cute->n - 1));
    out->n_path[out->n] = cute->n_path[i];
    memcpy(out->path[out->n], cute->path[i], sizeof out->path[0]);
  }
}

void tesela__cute_mode(const tesela_cute *cute, int32_t k, tesela_cute *out) {
  int32_t first[TESELA_CUTE_LEAVES + 1];
  (void)tesela__cute_top_modes(cute, first);
  cute_copy_leaves(cute, first[k], first[k + 1], tesela__cute_is_tuple(cute), out);
}

bool tesela__cute_append(tesela_cute *out, const tesela_cute *mode) {
  if (out->n + mode->n > TESELA_CUTE_LEAVES) return false;
  for (int32_t i = 0; i < mode->n; i++) {
    out->extent[out->n + i] = mode->extent[i];
    out->stride[out->n + i] = mode->stride[i];
    out->open[out->n + i] = mode->open[i];
    out->close[out->n + i] = mode->close[i];
    out->n_path[out->n + i] = mode->n_path[i];
    memcpy(out->path[out->n + i], mode->path[i], sizeof out->path[0]);
  }
  out->n += mode->n;
  return true;
}

bool tesela__cute_splice(tesela_cute *out, const tesela_cute *modes) {
  tesela_cute inner;
  cute_copy_leaves(modes, 0, modes->n, tesela__cute_is_tuple(modes) && modes->n > 0, &inner);
  return tesela__cute_append(out, &inner);
}

bool tesela__cute_close(tesela_cute *out) {
  if (out->n == 0) return true;
  int32_t depth = 0;
  for (int32_t i = 0; i < out->n; i++) {
    depth += out->open[i];
    if (depth >= TESELA_CUTE_LEAVES) return false;
    depth -= out->close[i];
  }
  out->open[0]++;
  out->close[out->n - 1]++;
  return true;
}

tesela_status tesela__cute_too_many(tesela_error *err) {
  return tesela__fail(err, TESELA_E_LIMIT, -1, "the result has more than %d leaves or open brackets",
                      TESELA_CUTE_LEAVES);
}

void tesela__cute_leaf(tesela_cute *out, int64_t extent, int64_t stride) {
  memset(out, 0, sizeof *out);
  out->n = 1;
  out->extent[0] = extent;
  out->stride[0] = extent == 1 ? 0 : stride;
}

bool tesela__cute_join_leaf(tesela_cute *out, int64_t extent, int64_t stride) {
  int64_t next;
  if (extent == 1) return true;
  if (out->n > 0 && tesela__mul(out->stride[out->n - 1], out->extent[out->n - 1], &next) && next == stride) {
    out->extent[out->n - 1] *= extent;
    return true;
  }
  if (out->n == TESELA_CUTE_LEAVES) return false;
  out->extent[out->n] = extent;
  out->stride[out->n++] = stride;
  return true;
}

void tesela__cute_close_leaves(tesela_cute *out) {
  if (out->n == 0) {
    out->n = 1;
    out->extent[0] = 1;
    out->stride[0] = 0;
  }
  if (out->n > 1) {
    out->open[0] = 1;
    out->close[out->n - 1] = 1;
  }
}

/* ---- functions of cute.h ---- */

/* The leaves merged; `filter`: without those of stride 0. */
static void cute_coalesce(const tesela_cute *cute, bool filter, tesela_cute *out) {
  tesela_cute made;
  memset(&made, 0, sizeof made);
  made.offset = cute->offset;
  made.bits = cute->bits;
  made.base = cute->base;
  made.shift = cute->shift;
  for (int32_t i = 0; i < cute->n; i++)
    if (!filter || cute->stride[i] != 0)
      (void)tesela__cute_join_leaf(&made, cute->extent[i], cute->stride[i]);
  tesela__cute_close_leaves(&made);
  *out = made;
}

/* The same for the first n modes; the others stay. */
static tesela_status cute_by_mode(const tesela_cute *cute, bool filter, int32_t n, tesela_cute *out,
                                  tesela_error *err) {
  int32_t first[TESELA_CUTE_LEAVES + 1];
  const int32_t rank = tesela__cute_top_modes(cute, first);
  tesela_cute made, mode;
  if (n < 0 || n > rank) return tesela_error_outside(err, -1, "the number of modes", -1, n, 0, rank);
  if (n == 0) {
    cute_coalesce(cute, filter, out);
    return TESELA_OK;
  }
  memset(&made, 0, sizeof made);
  made.offset = cute->offset;
  made.bits = cute->bits;
  made.base = cute->base;
  made.shift = cute->shift;
  for (int32_t k = 0; k < rank; k++) {
    cute_copy_leaves(cute, first[k], first[k + 1], tesela__cute_is_tuple(cute), &mode);
    if (k < n) cute_coalesce(&mode, filter, &mode);
    (void)tesela__cute_append(&made, &mode); /* no more leaves than before */
  }
  if (tesela__cute_is_tuple(cute)) (void)tesela__cute_close(&made);
  *out = made;
  return TESELA_OK;
}

tesela_status tesela_cute_coalesce(const tesela_cute *a, int32_t modes, tesela_cute *out, tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_status status = tesela__cute_plain(a, true, "the layout", err);
  return status == TESELA_OK ? cute_by_mode(a, false, modes, out, err) : status;
}

tesela_status tesela_cute_filter(const tesela_cute *a, int32_t modes, tesela_cute *out, tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_status status = tesela__cute_plain(a, true, "the layout", err);
  return status == TESELA_OK ? cute_by_mode(a, true, modes, out, err) : status;
}

tesela_status tesela_cute_flatten(const tesela_cute *a, tesela_cute *out, tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_status status = tesela__cute_check(a, err);
  if (status != TESELA_OK) return status;
  tesela_cute made = *a;
  memset(made.open, 0, sizeof made.open);
  memset(made.close, 0, sizeof made.close);
  if (tesela__cute_is_tuple(a)) (void)tesela__cute_close(&made);
  *out = made;
  return TESELA_OK;
}
