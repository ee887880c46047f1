/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - the elements of a tensor in logical order.
 */
#include "relayout/values.h"

#include <assert.h>

#include "layout/layout.h"

static bool has_value_width(int32_t bits) { return bits >= 1 && bits <= 128 && (bits & (bits - 1)) == 0; }

/* The stretch of one element at the current index of a swizzled layout. */
static void look_at_element(tesela__values *v) {
  v->stride = 0;
  v->left = 1;
  if (v->more) v->place = tesela__values_copy(v, 0);
}

static void look_at_run(tesela__values *v) {
  v->more = v->walk.more;
  v->place = v->walk.place;
  v->stride = v->walk.stride;
  v->left = v->walk.left + 1;
}

tesela_status tesela__values_begin(tesela__values *v, const tesela_layout *layout, tesela_error *err) {
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the layout has %" PRId32 " axes; a buffer of values has one", layout->n_axes);
  if (!has_value_width(layout->bits))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "elements of %" PRId32 " bits; expected 1, 2, 4, 8, 16, 32, 64 or 128", layout->bits);
  int32_t per_byte = layout->bits < 8 ? 8 / layout->bits : 1, width = layout->bits < 8 ? 1 : layout->bits / 8;
  if ((uint64_t)layout->axis[0].extent / (uint64_t)per_byte > (uint64_t)PTRDIFF_MAX / (uint64_t)width) {
    tesela__say_too_large(err);
    return TESELA_E_LIMIT;
  }
  v->layout = layout;
  v->swizzled = layout->swizzle.n > 0;
  if (v->swizzled) {
    v->more = !tesela__is_empty(layout);
    v->index = v->coordinate;
    memset(v->coordinate, 0, sizeof v->coordinate);
    look_at_element(v);
    return TESELA_OK;
  }
  v->index = v->walk.index;
  status = tesela_walk_begin(&v->walk, layout, err);
  if (status == TESELA_OK) look_at_run(v);
  return status;
}

void tesela__values_skip(tesela__values *v, int64_t n) {
  if (v->swizzled) {
    v->more = tesela_index_next(v->layout->rank, v->layout->shape, v->coordinate);
    look_at_element(v);
    return;
  }
  tesela_walk *walk = &v->walk; /* n-1 elements within the run, then a step that may end it */
  walk->place += (n - 1) * walk->stride;
  walk->left -= n - 1;
  if (n > 1) *walk->moving += n - 1;
  tesela_walk_next(walk);
  look_at_run(v);
}

int64_t tesela__values_copy(const tesela__values *v, int64_t k) {
  int64_t place[1] = {0};
  if (k == 0 && !v->swizzled) return v->place;
  tesela_status status = tesela_layout_copy_of(v->layout, v->index, k, place, NULL);
  assert(status == TESELA_OK);
  (void)status;
  return place[0];
}

tesela__values_watch tesela__values_watch_begin(const tesela_layout *layout,
                                                const tesela_run_options *options) {
  tesela_sizes sizes = {0};
  tesela__values_watch watch = {.options = options, .next = TESELA__VALUES_STEP};
  if (options && options->progress && tesela_layout_sizes(layout, &sizes, NULL) == TESELA_OK)
    watch.total = sizes.logical_elements;
  return watch;
}

bool tesela__values_stops(tesela__values_watch *watch, int64_t n) {
  const tesela_run_options *options = watch->options;
  watch->done += n;
  if (!options || !options->progress || watch->done < watch->next) return false;
  watch->next = watch->done + TESELA__VALUES_STEP;
  return options->progress(options->progress_user, watch->done, watch->total) != 0;
}
