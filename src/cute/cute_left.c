/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_left.c - left inverse: R(A(i)) = i.
 *
 * Where each stride of A divides the next and is above all that the smaller ones reach, the quotients are the extents of R. Other
 * injective layouts, (3,2):(2,3), are small, or refused: extents are tried, the fewest first. Two places in one block of an extent
 * decide its stride.
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"

enum { LEFT_SIZE = 1 << 9, LEFT_STEPS = 1 << 16, LEFT_LEVELS = 16 };

/* ---- strides that nest ---- */

/* False: they do not. */
static bool left_nested(const tesela_cute *a, tesela_cute *made) {
  tesela__cute_digit digit[TESELA_CUTE_LEAVES];
  const int32_t n = tesela__cute_sorted(a, true, digit);
  int64_t reach = 0;
  memset(made, 0, sizeof *made);
  if (n > 0) (void)tesela__cute_join_leaf(made, digit[0].stride, 0);
  for (int32_t k = 0; k < n; k++) {
    reach += (digit[k].extent - 1) * digit[k].stride;
    int64_t extent = digit[k].extent;
    if (k + 1 < n) {
      if (digit[k + 1].stride % digit[k].stride != 0 || digit[k + 1].stride <= reach) return false;
      extent = digit[k + 1].stride / digit[k].stride;
    }
    if (!tesela__cute_join_leaf(made, extent, digit[k].weight)) return false;
  }
  tesela__cute_close_leaves(made);
  return true;
}

/* ---- small layouts ---- */

typedef struct left_search {
  int32_t n;
  int64_t place[LEFT_SIZE], index[LEFT_SIZE]; /* by place */
  int32_t n_levels;
  int64_t extent[LEFT_LEVELS], stride[LEFT_LEVELS];
  int64_t steps;
} left_search;

/* What the levels leave of a place and its index. */
static void left_rest(const left_search *s, int32_t k, int64_t *place, int64_t *index) {
  *place = s->place[k];
  *index = s->index[k];
  for (int32_t l = 0; l < s->n_levels; *place /= s->extent[l++])
    *index -= *place % s->extent[l] * s->stride[l];
}

/* The stride for blocks of `extent` places; extent 0: one block. False: no stride is right. */
static bool left_stride(left_search *s, int64_t extent, int64_t *stride) {
  int64_t place, index, before = 0, index_before = 0;
  bool known = false;
  *stride = 0;
  s->steps -= s->n;
  for (int32_t k = 0; k < s->n; k++, before = place, index_before = index) {
    left_rest(s, k, &place, &index);
    if (k == 0 || (extent > 0 && place / extent != before / extent)) continue;
    const int64_t rise = index - index_before, run = place - before;
    if (run == 0 && rise == 0) continue;
    if (run == 0 || rise % run != 0 || (known && rise / run != *stride)) return false;
    *stride = rise / run;
    known = true;
  }
  return true;
}

/* Exactly `more` levels more; recursion is at most LEFT_LEVELS deep. */
static bool left_levels(left_search *s, int32_t more) {
  int64_t place, index, stride;
  left_rest(s, s->n - 1, &place, &index);
  const int64_t most = place;
  for (int64_t extent = more == 1 ? 0 : 2; extent <= most && s->steps > 0; extent++) {
    if (left_stride(s, extent, &stride)) {
      s->extent[s->n_levels] = extent > 0 ? extent : most + 1;
      s->stride[s->n_levels++] = stride;
      if (more == 1 || left_levels(s, more - 1)) return true;
      s->n_levels--;
    }
    if (more == 1) return false;
  }
  return false;
}

static bool left_small(const tesela_cute *a, int64_t size, tesela_cute *made) {
  left_search s;
  s.n = 0;
  s.n_levels = 0;
  s.steps = LEFT_STEPS * (int64_t)size;
  for (int64_t i = 0; i < size; i++) {
    const int64_t place = tesela__cute_sum_at(a, i);
    int32_t k = s.n++;
    for (; k > 0 && s.place[k - 1] > place; k--) {
      s.place[k] = s.place[k - 1];
      s.index[k] = s.index[k - 1];
    }
    s.place[k] = place;
    s.index[k] = i;
  }
  bool found = false;
  for (int32_t levels = 1; levels <= LEFT_LEVELS && !found && s.steps > 0; levels++)
    found = left_levels(&s, levels);
  memset(made, 0, sizeof *made);
  for (int32_t l = 0; l < s.n_levels; l++) (void)tesela__cute_join_leaf(made, s.extent[l], s.stride[l]);
  tesela__cute_close_leaves(made);
  return found;
}

tesela_status tesela_cute_left_inverse(const tesela_cute *a, tesela_cute *out, tesela_cute_counter *counter,
                                       tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_cute made;
  int64_t least, most;
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  *where = (tesela_cute_counter){.given = false};
  tesela_status status = tesela__cute_plain(a, false, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_no_offset(a, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_injective(a, where, err);
  if (status != TESELA_OK) return status;
  tesela__cute_reach(a, &least, &most);
  if (least < 0) return tesela__cute_below_zero(a, where, err);
  if (!left_nested(a, &made)) {
    const int64_t size = tesela_cute_size(a);
    if (size > LEFT_SIZE || !left_small(a, size, &made))
      return tesela__fail(err, TESELA_E_LIMIT, -1,
                          "undecided: the strides do not nest, and no left inverse was found in %d steps",
                          LEFT_STEPS);
  }
  *out = made;
  return TESELA_OK;
}
