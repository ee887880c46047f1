/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xegpu_write.c - threads and local ids as the lanes of an XeGPU vector.
 *
 * A dim is (again, lane, data): its own elements, again * data, are one stride of the local ids, which are row-major. What a lane
 * has to be larger for is padding: a gap of local ids makes the dim below it larger, a gap of lanes the lanes below it, or those of a
 * dim that has none.
 */
#include "base/base.h"
#include "notation/memory/memory.h"

typedef struct xegpu_dim {
  int64_t data, lanes, own;        /* own: all elements of a lane */
  int64_t lane_stride, own_stride; /* 0: only one lane, one element */
  bool more_lanes;                 /* the lanes are the last part of the dim */
} xegpu_dim;

typedef struct xegpu_writing {
  int32_t thread, rank, n_order; /* thread: the number of that axis */
  xegpu_dim dim[TESELA_MAX_RANK];
  int32_t order[TESELA_MAX_RANK]; /* dims with lanes, the fastest first */
  int64_t shape[TESELA_MAX_RANK];
} xegpu_writing;

/* data, lanes, again: each at most once, from the finest to the coarsest. */
static bool xegpu_parts(xegpu_writing *w, const tesela__parts *parts) {
  for (int32_t d = 0; d < w->rank; d++) {
    xegpu_dim *dim = &w->dim[d];
    *dim = (xegpu_dim){.data = 1, .lanes = 1, .own = 1};
    for (int64_t step = 1; step > 0;) {
      const tesela__dim_part *part = NULL;
      for (int32_t i = 0; i < parts->n && !part; i++)
        if (parts->part[i].dim == d && parts->part[i].step == step) part = &parts->part[i];
      if (!part) break;
      if (part->axis == w->thread) {
        if (dim->lanes > 1) return false;
        dim->data = dim->own;
        dim->lanes = part->extent;
        dim->lane_stride = part->stride;
        dim->more_lanes = part->top;
      } else {
        if (dim->own > 1 && part->stride != dim->own_stride * dim->own) return false;
        if (dim->own == 1) dim->own_stride = part->stride;
        dim->own *= part->extent; /* both are parts of one dim */
      }
      step = part->top ? 0 : part->step * part->extent;
    }
  }
  return true;
}

/* The local ids are row-major. */
static bool xegpu_own(xegpu_writing *w) {
  xegpu_dim *below = NULL;
  for (int32_t d = w->rank - 1; d >= 0; d--) {
    xegpu_dim *dim = &w->dim[d];
    if (dim->own == 1) continue;
    if (below) {
      int64_t own = dim->own_stride / below->own_stride;
      if (dim->own_stride % below->own_stride != 0 || own < below->own || own % below->data != 0)
        return false;
      below->own = own;
    } else if (dim->own_stride > 1) {
      if (d + 1 == w->rank) return false;
      w->dim[w->rank - 1].own = dim->own_stride;
      w->dim[w->rank - 1].own_stride = 1;
    }
    below = dim;
  }
  return true;
}

/* The lanes are all lanes up to their number. */
static bool xegpu_lanes(xegpu_writing *w, const tesela__parts *parts) {
  int64_t size = 1;
  w->n_order = 0;
  for (int32_t i = 0; i < parts->n; i++) {
    const tesela__dim_part *part = &parts->part[i];
    xegpu_dim *below = w->n_order > 0 ? &w->dim[w->order[w->n_order - 1]] : NULL;
    if (part->dim < 0) return false;
    if (part->axis != w->thread) continue;
    if (below && below->more_lanes) {
      int64_t lanes = part->stride / below->lane_stride;
      if (part->stride % below->lane_stride != 0 || lanes < below->lanes) return false;
      below->lanes = lanes;
    } else if (part->stride % size != 0) {
      return false;
    } else if (part->stride > size) { /* a dim whose elements are all of one lane */
      int32_t k = w->rank - 1;
      while (k >= 0 && w->dim[k].lanes > 1) k--;
      if (k < 0) return false;
      w->dim[k].data = w->dim[k].own;
      w->dim[k].lanes = part->stride / size;
      w->order[w->n_order++] = k;
    }
    w->order[w->n_order++] = part->dim;
    if (!tesela__mul(part->stride, part->extent, &size)) return false;
  }
  return true;
}

static bool xegpu_fit(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  xegpu_writing *w = user;
  w->rank = rank;
  if (!xegpu_parts(w, parts) || !xegpu_own(w) || !xegpu_lanes(w, parts)) return false;
  for (int32_t d = 0; d < rank; d++) {
    if (!tesela__mul(w->dim[d].own, w->dim[d].lanes, &w->shape[d])) return false;
    if (parts->n == 0) w->shape[d] = shape[d]; /* one element, or none */
  }
  return true;
}

/* Are the lanes row-major? Else `order` becomes the order of all dims. */
static bool xegpu_is_row_major(xegpu_writing *w) {
  bool seen[TESELA_MAX_RANK] = {false}, usual = true;
  int32_t last = w->rank, n = w->n_order;
  for (int32_t k = 0; k < n; k++) {
    int32_t d = w->order[k];
    usual = usual && d < last;
    last = d;
    seen[d] = true;
  }
  for (int32_t d = w->rank - 1; d >= 0; d--)
    if (!seen[d]) w->order[w->n_order++] = d;
  return usual;
}

tesela_status tesela__xegpu_write(const tesela_layout *layout, const tesela_writer *to,
                                  tesela_translation *answer, tesela_error *err) {
  xegpu_writing w = {.rank = 0};
  tesela_layout threads;
  tesela__sink sink;
  tesela_status status = tesela__memory_threads(layout, &threads, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  if (layout->rank == 0) return tesela__impossible(answer, "lanes need a dim; the layout has none");
  w.thread = strcmp(threads.axis[0].name, "thread") == 0 ? 0 : 1;
  status = tesela__find_parts(&threads, "lanes", 0, xegpu_fit, &w, w.shape, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "#xegpu.layout<lane_layout = [");
  for (int32_t d = 0; d < w.rank; d++) tesela__putf(&sink, "%s%" PRId64, d ? ", " : "", w.dim[d].lanes);
  tesela__puts(&sink, "], lane_data = [");
  for (int32_t d = 0; d < w.rank; d++) tesela__putf(&sink, "%s%" PRId64, d ? ", " : "", w.dim[d].data);
  if (!xegpu_is_row_major(&w)) {
    tesela__puts(&sink, "], order = [");
    for (int32_t d = 0; d < w.rank; d++) tesela__putf(&sink, "%s%" PRId32, d ? ", " : "", w.order[d]);
  }
  tesela__puts(&sink, "]>");
  return tesela__sink_finish(&sink, err);
}
