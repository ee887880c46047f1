/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mosaic_gpu_write.c - threads and local ids as a TiledLayout of Mosaic GPU.
 *
 * Digits of dims are warps, lanes, the vector, or registers. Registers are numbered row-major, so those of a dim have to be from slow to
 * fast; the others are anywhere. From the fastest digits on, each tile has the next digit of each dim that may be there:
 *
 *   (2,)       the vector
 *   (8, 8)     8 lanes of the rows, 4 lanes of the columns
 *   (16, 8)    2 registers of the rows
 *   (64, 8)    4 warps of the rows
 */
#include "base/base.h"
#include "notation/memory/memory.h"

enum {
  GPU_WRITE_TILES = 16,
  GPU_WRITE_DIMS = 16,
  GPU_WRITE_DIGITS = 2 * TESELA__MAX_PARTS,
  GPU_WRITE_OUTER = -1
};

typedef struct gpu_digit {
  tesela__dim_part part;
  bool vector;
  int32_t level; /* the tile, from the fastest; GPU_WRITE_OUTER: an outer dim of the array */
} gpu_digit;

typedef struct gpu_writing {
  int32_t thread, rank; /* thread: the number of that axis */
  int32_t n, n_tiles;
  gpu_digit digit[GPU_WRITE_DIGITS]; /* by axis, threads first, and increasing stride */
  int64_t shape[TESELA_MAX_RANK], tile[GPU_WRITE_TILES][TESELA_MAX_RANK];
  int32_t size[GPU_WRITE_TILES]; /* dims of a tile */
  int64_t vector;
} gpu_writing;

static gpu_digit *gpu_add(gpu_writing *w, const tesela__dim_part *part) {
  w->digit[w->n] = (gpu_digit){.part = *part, .level = GPU_WRITE_OUTER};
  return &w->digit[w->n++];
}

/* The part of a gap: beyond all parts of its dim, so registers of that dim have to be below it. */
static bool gpu_add_gap(gpu_writing *w, const tesela__parts *parts, bool thread, int64_t stride,
                        int64_t gap) {
  for (int32_t d = w->rank - 1; d >= 0; d--) {
    bool free = true;
    for (int32_t i = 0; i < parts->n && !thread && stride > 1; i++)
      free = free && (parts->part[i].dim != d || (parts->part[i].axis == w->thread) ||
                      parts->part[i].stride < stride);
    if (!free) continue;
    (void)gpu_add(w, &(tesela__dim_part){d, thread ? w->thread : !w->thread, INT64_MAX, gap, stride, false});
    return true;
  }
  return false;
}

/* Split what is lanes and warps, with the places of 32 lanes. */
static bool gpu_add_thread(gpu_writing *w, const tesela__dim_part *part) {
  gpu_digit *low = gpu_add(w, part), *high;
  if (part->stride >= 32 || part->stride * part->extent <= 32) return true;
  low->part.extent = 32 / part->stride;
  if (32 % part->stride != 0 || part->extent % low->part.extent != 0) return false;
  high = gpu_add(w, part);
  high->part.extent /= low->part.extent;
  high->part.stride = 32;
  if (part->dim >= 0 && part->step < INT64_MAX) high->part.step *= low->part.extent; /* a step of the dim */
  return true;
}

/* The digits of an axis. */
static bool gpu_axis(gpu_writing *w, const tesela__parts *parts, bool thread) {
  tesela__parts chain = {.n = 0};
  int64_t size = 1, gap;
  int32_t first = w->n;
  for (int32_t i = 0; i < parts->n; i++) {
    const tesela__dim_part *part = &parts->part[i];
    tesela__dim_part *below = chain.n > 0 ? &chain.part[chain.n - 1] : NULL;
    if ((part->axis == w->thread) != thread) continue;
    if (!thread && part->dim < 0) return false;
    if (!tesela__close_gap(below, size, part->stride, &gap)) return false;
    if (chain.n + 2 > TESELA__MAX_PARTS) return false;
    if (gap > 1) chain.part[chain.n++] = (tesela__dim_part){TESELA_HOLE, 0, INT64_MAX, gap, size, false};
    chain.part[chain.n++] = *part;
    if (!tesela__mul(part->stride, part->extent, &size)) return false;
  }
  if (thread && size != 128) {
    if (!tesela__close_gap(chain.n > 0 ? &chain.part[chain.n - 1] : NULL, size, 128, &gap)) return false;
    if (gap > 1) chain.part[chain.n++] = (tesela__dim_part){TESELA_HOLE, 0, INT64_MAX, gap, size, false};
  }
  for (int32_t i = 0; i < chain.n; i++) {
    const tesela__dim_part *part = &chain.part[i];
    tesela__dim_part filled = *part;
    if (part->dim == TESELA_HOLE) {
      if (!gpu_add_gap(w, parts, thread, part->stride, part->extent)) return false;
      filled = w->digit[--w->n].part;
    }
    if (thread ? !gpu_add_thread(w, &filled) : !gpu_add(w, &filled)) return false;
  }
  if (!thread && w->n > first) w->digit[first].vector = true;
  return true;
}

/* ---- tiles ---------------------------------------------------------------------------------------------------- */

/* Is digit i of fewer elements than digit k of the same dim? */
static bool gpu_is_finer(const gpu_writing *w, int32_t i, int32_t k) {
  const tesela__dim_part *a = &w->digit[i].part, *b = &w->digit[k].part;
  return a->step != b->step ? a->step < b->step : i < k;
}

/* The slowest registers that are the top of their dims, in the order of the dims, are outside the tiles. */
static void gpu_outer(const gpu_writing *w, bool *outer) {
  int32_t last = -1;
  for (int32_t i = w->n - 1; i >= 0; i--) {
    const tesela__dim_part *part = &w->digit[i].part;
    bool top = part->axis != w->thread && !w->digit[i].vector && part->dim > last;
    outer[i] = false;
    for (int32_t k = 0; k < w->n && top; k++)
      top = w->digit[k].part.dim != part->dim || k == i || gpu_is_finer(w, k, i);
    if (!top) last = INT32_MAX;
    outer[i] = top;
    if (top) last = part->dim;
  }
}

/* May digit i be the next one? Of its dim the finest, and of registers the fastest, that is not placed. */
static bool gpu_is_next(const gpu_writing *w, const bool *placed, int32_t i) {
  bool threads = w->digit[i].part.axis == w->thread, next = true;
  for (int32_t k = 0; k < w->n && next; k++) {
    if (placed[k] || k == i) continue;
    if (w->digit[k].part.dim == w->digit[i].part.dim) next = gpu_is_finer(w, i, k);
    if (!threads && !w->digit[i].vector && !w->digit[k].vector && w->digit[k].part.axis != w->thread)
      next = next && w->digit[i].part.stride < w->digit[k].part.stride;
  }
  return next;
}

/* Give each digit its tile. */
static bool gpu_levels(gpu_writing *w) {
  bool placed[GPU_WRITE_DIGITS], outer[GPU_WRITE_DIGITS];
  int32_t left = 0, level = 1; /* tile 0: a vector alone, or (1,) */
  gpu_outer(w, outer);
  for (int32_t i = 0; i < w->n; i++) {
    placed[i] = w->digit[i].part.dim < 0;
    left += !placed[i] && !outer[i];
  }
  for (int32_t i = 0; i < w->n; i++)
    if (w->digit[i].vector && gpu_is_next(w, placed, i)) {
      placed[i] = true;
      w->digit[i].level = 0;
      left--;
    }
  for (; left > 0; level++) {
    int32_t before = left;
    if (level == GPU_WRITE_TILES) return false;
    for (int32_t d = w->rank - 1; d >= 0; d--) {
      int32_t next = -1;
      for (int32_t i = 0; i < w->n && next < 0; i++)
        if (w->digit[i].part.dim == d && !placed[i] && !outer[i] && gpu_is_next(w, placed, i)) next = i;
      if (next < 0) continue;
      placed[next] = true;
      w->digit[next].level = level;
      left--;
    }
    if (left == before) return false;
  }
  w->n_tiles = level;
  return true;
}

static bool gpu_tiles(gpu_writing *w) {
  bool vector = false;
  for (int32_t t = 0; t < w->n_tiles; t++) {
    for (int32_t d = 0; d < w->rank; d++) w->tile[t][d] = t > 0 ? w->tile[t - 1][d] : 1;
    for (int32_t i = 0; i < w->n; i++)
      if (w->digit[i].part.dim >= 0 && w->digit[i].level == t)
        w->tile[t][w->digit[i].part.dim] *= w->digit[i].part.extent;
    w->size[t] = w->rank;
    while (w->size[t] > 1 && w->tile[t][w->rank - w->size[t]] == 1) w->size[t]--;
    if (w->size[t] > GPU_WRITE_DIMS) return false;
  }
  for (int32_t i = 0; i < w->n; i++) vector = vector || w->digit[i].vector;
  bool drop = w->n_tiles > 1 && w->tile[0][w->rank - 1] == 1 && w->size[0] == 1 &&
              (vector || w->tile[1][w->rank - 1] == 1);
  if (!drop) return true;
  w->n_tiles--;
  memmove(w->tile, w->tile + 1, (size_t)w->n_tiles * sizeof w->tile[0]);
  memmove(w->size, w->size + 1, (size_t)w->n_tiles * sizeof w->size[0]);
  for (int32_t i = 0; i < w->n; i++)
    if (w->digit[i].level > 0) w->digit[i].level--;
  return true;
}

static bool gpu_fit(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  gpu_writing *w = user;
  w->n = 0;
  w->rank = rank;
  if (!gpu_axis(w, parts, true) || !gpu_axis(w, parts, false) || !gpu_levels(w) || !gpu_tiles(w))
    return false;
  bool empty = false;
  for (int32_t d = 0; d < rank; d++) {
    empty = empty || shape[d] == 0;
    w->shape[d] = 1;
  }
  for (int32_t i = 0; i < w->n; i++)
    if (w->digit[i].part.dim >= 0 && !tesela__mul(w->shape[w->digit[i].part.dim], w->digit[i].part.extent,
                                                  &w->shape[w->digit[i].part.dim]))
      return false;
  for (int32_t d = 0; d < rank && empty; d++)
    w->shape[d] = tesela__ceil_div(shape[d], w->shape[d]) * w->shape[d];
  return true;
}

/* ---- printing ------------------------------------------------------------------------------------------------- */

/* The tiled dim of a digit, from the end. */
static int64_t gpu_position(const gpu_writing *w, const gpu_digit *digit) {
  int64_t after = 0;
  for (int32_t t = 0; t < digit->level; t++) after += w->size[t];
  return -(after + w->rank - digit->part.dim);
}

/* "(-3, -2)": the digits of threads from `low` to below `high`, the slowest first. */
static void gpu_put_dims(tesela__sink *sink, const gpu_writing *w, const char *name, int64_t low,
                         int64_t high) {
  int32_t n = 0;
  tesela__putf(sink, ", %s=(", name);
  for (int32_t i = w->n - 1; i >= 0; i--) {
    const gpu_digit *digit = &w->digit[i];
    if (digit->part.axis != w->thread || digit->part.stride < low || digit->part.stride >= high) continue;
    if (n++ > 0) tesela__puts(sink, ", ");
    if (digit->part.dim < 0)
      tesela__putf(sink, "Replicated(times=%" PRId64 ")", digit->part.extent);
    else
      tesela__put_int(sink, gpu_position(w, digit));
  }
  tesela__puts(sink, n == 1 ? ",)" : ")");
}

static tesela_status gpu_print(const gpu_writing *w, const tesela_writer *to, tesela_error *err) {
  tesela__sink sink;
  int64_t vector = -1;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "TiledLayout(tiling=Tiling(tiles=(");
  for (int32_t t = w->n_tiles - 1; t >= 0; t--) {
    tesela__putc(&sink, '(');
    for (int32_t d = w->rank - w->size[t]; d < w->rank; d++)
      tesela__putf(&sink, "%" PRId64 "%s", w->tile[t][d], d + 1 < w->rank ? ", " : "");
    tesela__puts(&sink, w->size[t] == 1 ? ",)" : ")");
    if (t > 0 || w->n_tiles == 1) tesela__puts(&sink, t > 0 ? ", " : ",");
  }
  tesela__puts(&sink, "))");
  gpu_put_dims(&sink, w, "warp_dims", 32, 128);
  gpu_put_dims(&sink, w, "lane_dims", 1, 32);
  for (int32_t i = 0; i < w->n; i++)
    if (w->digit[i].vector) vector = gpu_position(w, &w->digit[i]);
  tesela__putf(&sink, ", vector_dim=%" PRId64 ")", vector);
  return tesela__sink_finish(&sink, err);
}

tesela_status tesela__mosaicgpu_write(const tesela_layout *layout, const tesela_writer *to,
                                      tesela_translation *answer, tesela_error *err) {
  gpu_writing w = {.n = 0};
  tesela_layout threads;
  tesela_status status = tesela__memory_threads(layout, &threads, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  if (layout->rank == 0) return tesela__impossible(answer, "tiles need a dim; the layout has none");
  w.thread = strcmp(threads.axis[0].name, "thread") == 0 ? 0 : 1;
  status = tesela__find_parts(&threads, "tiles", TESELA__PARTS_COPIES, gpu_fit, &w, w.shape, answer, err);
  return status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE ? status : gpu_print(&w, to, err);
}
