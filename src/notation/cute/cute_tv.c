/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_tv.c - CuTe layouts that map (thread, value) to the elements of a tile <-> register layouts.
 *
 *   tv:4x4   ((2,2),(2,2)):((1,8),(2,4))     thread 1 + 2*1, value 1: element number 1 + 8 + 2 = 11 = (3,2), first dim fastest
 *
 * A stride of 0 makes copies. Read, the strides of the others, sorted, have to count the elements without a gap.
 */
#include <stdio.h>

#include "base/reader.h"
#include "notation/cute/cute_row.h"

/* ---- reading ---- */

tesela_status tesela__tv_read_tile(const char *as, int32_t *rank, int64_t *tile, tesela_error *err) {
  tesela__reader r = {.text = as, .length = strlen(as), .word = TESELA__BYTE_NAME};
  tesela_status status = TESELA_OK;
  *rank = 0;
  if (tesela__read_take_text(&r, "tv") && tesela__read_take(&r, ':')) do
      status = *rank == TESELA_MAX_RANK
                   ? TESELA_E_LIMIT
                   : tesela__read_integer(&r, "an extent", 1, INT64_MAX, &tile[(*rank)++]);
    while (status == TESELA_OK && tesela__read_take(&r, 'x'));
  if (status == TESELA_OK && *rank > 0 && tesela__read_peek(&r) < 0) return TESELA_OK;
  return tesela__fail(err, TESELA_E_SYNTAX, -1, "expected a tile, \"tv:16x8\", found \"%.40s\"", as);
}

/* A leaf of the map. */
typedef struct tv_leaf {
  int32_t axis;           /* 0 thread, 1 value */
  int64_t extent, stride; /* in element numbers */
  int64_t weight;         /* in threads or values */
} tv_leaf;

/* The leaves that count elements, by increasing stride, then those that copy. A negative stride counts from the last thread or
 * value of its leaf: *start[axis], *offset are those of element 0. */
static int32_t tv_leaves(const tesela_cute *cute, const int32_t *first, tv_leaf *leaf, int32_t *counting,
                         int64_t *size, int64_t *start, int64_t *offset) {
  int32_t n = 0;
  *counting = 0;
  *offset = cute->offset;
  for (int32_t a = 0; a < 2; a++) {
    size[a] = 1;
    start[a] = 0;
    for (int32_t i = first[a]; i < first[a + 1]; i++) {
      tv_leaf next = {a, cute->extent[i], cute->stride[i], size[a]};
      size[a] *= cute->extent[i]; /* the parser checked the size */
      if (next.extent == 1) continue;
      if (next.stride < 0) { /* the parser checked the sums */
        *offset += next.stride * (next.extent - 1);
        start[a] += next.weight * (next.extent - 1);
        next.stride = -next.stride;
        next.weight = -next.weight;
      }
      int32_t at = next.stride == 0 ? n : *counting;
      while (at > 0 && next.stride != 0 && leaf[at - 1].stride > next.stride) at--;
      memmove(&leaf[at + 1], &leaf[at], (size_t)(n - at) * sizeof leaf[0]);
      leaf[at] = next;
      *counting += next.stride != 0;
      n++;
    }
  }
  return n;
}

static tesela_status tv_nowhere(int32_t rank, const int64_t *tile, int64_t number, tesela_error *err) {
  char text[160] = "";
  size_t used = 0;
  for (int32_t d = 0; d < rank && used < sizeof text - 24; d++, number /= tile[d - 1])
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, d ? "," : "", number % tile[d]);
  return tesela__fail(err, TESELA_E_INVALID, -1, "element (%s) of the tile is in no thread", text);
}

/* Do the strides count the elements 0 .. elements-1, each once? */
static tesela_status tv_check(const tv_leaf *leaf, int32_t n, int32_t rank, const int64_t *tile,
                              tesela_error *err) {
  int64_t count = 1, elements = 1;
  for (int32_t d = 0; d < rank; d++)
    if (!tesela__mul(elements, tile[d], &elements))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the size of the tile does not fit in 64 bits");
  for (int32_t i = 0; i < n; i++) {
    if (leaf[i].stride < count)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "stride %" PRId64
                          " reaches elements that smaller strides reach: copies that differ "
                          "between elements",
                          leaf[i].stride);
    if (leaf[i].stride > count && count < elements) return tv_nowhere(rank, tile, count, err);
    if (!tesela__mul(count, leaf[i].extent, &count)) count = INT64_MAX;
    if (count > elements)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "the map reaches element number %" PRId64 "; the tile has %" PRId64 " elements",
                          (leaf[i].extent - 1) * leaf[i].stride, elements);
  }
  return count < elements ? tv_nowhere(rank, tile, count, err) : TESELA_OK;
}

static int32_t tv_log2(int64_t n) {
  int32_t bits = 0;
  while (bits < 62 && INT64_C(1) << bits < n) bits++;
  return INT64_C(1) << bits == n ? bits : -1;
}

/* The place of bit `bit` of an element's number. */
static bool tv_bit(const tv_leaf *leaf, int32_t n, int32_t bit, tesela_axis_bit *out) {
  for (int32_t i = 0; i < n; i++) {
    int32_t first = tv_log2(leaf[i].stride), bits = tv_log2(leaf[i].extent), at = tv_log2(leaf[i].weight);
    if (first < 0 || bits < 0 || at < 0) return false;
    *out = (tesela_axis_bit){(int16_t)leaf[i].axis, (int16_t)(at + bit - first)};
    if (bit >= first && bit < first + bits) return true;
  }
  return false;
}

/* An XOR of bits of the elements' numbers flips the bits of threads and values that count them. */
static tesela_status tv_swizzle(const tesela_cute *cute, const tv_leaf *leaf, int32_t n, tesela_layout *out,
                                tesela_error *err) {
  tesela_axis_bit bit[64];
  uint64_t image[64];
  int32_t used = 0, source, target, total = 0;
  for (int32_t i = 0; i < n; i++) {
    if (tv_log2(leaf[i].extent) < 0 || tv_log2(leaf[i].weight) < 0)
      return tesela__fail(
          err, TESELA_E_UNSUPPORTED, 0,
          "a swizzle in a map of threads and values whose leaves are not forward powers of two");
    total += tv_log2(leaf[i].extent);
  }
  for (int32_t k = 0; k < cute->bits; k++) {
    source = cute->base + (cute->shift > 0 ? cute->shift : 0) + k;
    target = cute->base - (cute->shift < 0 ? cute->shift : 0) + k;
    if (source >= total) continue;
    if (target >= total)
      return tesela__fail(err, TESELA_E_RANGE, 0, "the swizzle moves elements out of the tile");
    (void)tv_bit(leaf, n, target, &bit[used]); /* below the total, so it has a leaf */
    (void)tv_bit(leaf, n, source, &bit[used + 1]);
    image[used] = (uint64_t)1 << used;
    image[used + 1] = (uint64_t)3 << used;
    used += 2;
  }
  return tesela_layout_add_bit_matrix(out, used, bit, image, err);
}

tesela_status tesela__tv_read(const tesela_cute *cute, const tesela_layout_read_options *options,
                              tesela_layout *out, tesela_error *err) {
  int64_t tile[TESELA_MAX_RANK], size[2], start[2], offset;
  int32_t first[TESELA_CUTE_LEAVES + 1], dims[TESELA_MAX_RANK] = {0}, rank, n, counting, axis, digit, low,
                                         bits;
  tv_leaf leaf[TESELA_CUTE_LEAVES + 1];
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = tesela__tv_read_tile(options->as, &rank, tile, err);
  if (status != TESELA_OK) return status;
  if (tesela__cute_tops(cute, first) != 2)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "expected two modes, thread and value");
  n = tv_leaves(cute, first, leaf, &counting, size, start, &offset);
  for (int32_t i = 0; i < cute->n; i++)
    if (cute->n_path[i] > 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, 0, "a basis stride in a map of threads and values");
  if (offset != 0)
    return tesela__fail(err, offset < 0 ? TESELA_E_RANGE : TESELA_E_INVALID, -1,
                        "the map begins at element number %" PRId64 "; expected 0", offset);
  status = tv_check(leaf, counting, rank, tile, err);
  if (status == TESELA_OK) status = tesela_layout_begin(out, dtype, bits, rank, tile, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, "thread", &axis, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, "local", &axis, err);
  for (int32_t d = 0; d < rank; d++) dims[d] = rank - 1 - d;
  digit = dims[0];
  if (status == TESELA_OK && rank > 1) status = tesela_layout_join(out, rank, dims, &digit, err);
  for (int32_t i = counting - 1; i >= 0 && status == TESELA_OK; i--, digit = low) {
    low = digit;
    if (i > 0) status = tesela_layout_split(out, digit, leaf[i].stride, &low, err);
    if (status == TESELA_OK) status = tesela_layout_place(out, digit, leaf[i].axis, leaf[i].weight, err);
  }
  if (status == TESELA_OK && counting == 0) status = tesela_layout_place(out, digit, 0, 0, err);
  for (int32_t i = counting; i < n && status == TESELA_OK; i++) {
    status = tesela_layout_add_digit(out, TESELA_REPLICA, leaf[i].extent, &digit, err);
    if (status == TESELA_OK) status = tesela_layout_place(out, digit, leaf[i].axis, leaf[i].weight, err);
  }
  for (int32_t a = 0; a < 2 && status == TESELA_OK; a++)
    status = tesela_layout_set_axis(out, a, start[a], size[a], err);
  if (status == TESELA_OK && cute->bits > 0) status = tv_swizzle(cute, leaf, counting, out, err);
  if (status == TESELA_OK) status = tesela_layout_finish(out, err);
  return status == TESELA_OK ? tesela_layout_canonical(out, out, err) : status;
}

/* ---- writing ---- */

/* The number of values of a digit until the next greater stride of its axis. */
static int64_t tv_room(const tesela_layout *layout, const tesela_digit *digit) {
  int64_t next = layout->axis[digit->axis].extent;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *other = &layout->digit[i];
    if (other->axis == digit->axis && other->stride > digit->stride) next = tesela__min(next, other->stride);
  }
  return digit->stride > 0 && next % digit->stride == 0 ? next / digit->stride : digit->extent;
}

/* The layout over a whole tile: each dim as long as its digits; `fill`: and its first digit as long as its axis allows. */
static bool tv_tile(const tesela_layout *layout, bool fill, tesela_layout *tile) {
  int64_t count = tesela_layout_copies(layout), places = layout->axis[0].extent * layout->axis[1].extent;
  *tile = *layout;
  if (layout->n_joins > 0) return !fill;
  for (int32_t i = 0; i < tile->n_mapped && fill; i++)
    if (i == 0 || layout->digit[i].source != layout->digit[i - 1].source)
      tile->digit[i].extent = tesela__max(tile->digit[i].extent, tv_room(layout, &layout->digit[i]));
  for (int32_t d = 0; d < tile->rank; d++)
    if (tesela_layout_padded_extent(tile, d, &tile->shape[d], NULL) != TESELA_OK ||
        !tesela__mul(count, tile->shape[d], &count) || count > places) {
      *tile = *layout;
      return !fill;
    }
  tile->finished = false;
  return tesela_layout_finish(tile, NULL) == TESELA_OK;
}

/* The numbers of the elements, first dim fastest, at all places, -1: padding. False: two elements share a place. */
static bool tv_values(const tesela_layout *tile, int64_t *value, int64_t places, tesela_translation *answer) {
  int64_t index[TESELA_MAX_RANK] = {0}, place[2], copies = tesela_layout_copies(tile),
          axis = tile->axis[1].extent;
  for (int64_t i = 0; i < places; i++) value[i] = -1;
  do {
    int64_t number = 0;
    for (int32_t d = tile->rank - 1; d >= 0; d--) number = number * tile->shape[d] + index[d];
    for (int64_t k = 0; k < copies; k++) {
      (void)tesela_layout_copy_of(tile, index, k, place, NULL); /* an element */
      int64_t *at = &value[place[0] * axis + place[1]];
      if (*at >= 0 && *at != number) {
        answer->contradiction = TESELA_CONTRADICTION_SHARED;
        answer->place = place[0];
        for (int32_t d = 0; d < tile->rank; d++) {
          answer->index[d] = index[d];
          answer->index2[d] = *at % tile->shape[d];
          *at /= tile->shape[d];
        }
        return false;
      }
      *at = number;
    }
  } while (tesela_index_next(tile->rank, tile->shape, index));
  return true;
}

/* A tile whose elements are at all places, and their numbers; or what contradicts. */
static bool tv_fill(const tesela_layout *layout, int64_t *value, int64_t places, tesela_layout *tile,
                    tesela_translation *answer) {
  int64_t hole = -1;
  for (int32_t fill = 0; fill < 2; fill++) {
    if (!tv_tile(layout, fill, tile)) continue;
    if (!tv_values(tile, value, places, answer)) {
      if (fill) continue;
      (void)tesela__impossible(answer, "two elements share a place; a map of threads and values gives one");
      return false;
    }
    int64_t i = 0;
    while (i < places && value[i] >= 0) i++;
    if (i == places) return true;
    if (hole < 0) hole = i;
  }
  answer->contradiction = TESELA_CONTRADICTION_NONE;
  (void)tesela__impossible(answer,
                           "thread %" PRId64 ", local id %" PRId64
                           " has no element; a CuTe layout gives every thread and value one",
                           hole < 0 ? 0 : hole / layout->axis[1].extent,
                           hole < 0 ? 0 : hole % layout->axis[1].extent);
  return false;
}

/* "tv:16x8", and the shape of the tile. */
static bool tv_name(const tesela_layout *tile, tesela_translation *answer) {
  size_t used = (size_t)snprintf(answer->as, sizeof answer->as, "tv:");
  for (int32_t d = 0; d < tile->rank && used < sizeof answer->as; d++) {
    used += (size_t)snprintf(answer->as + used, sizeof answer->as - used, d ? "x%" PRId64 : "%" PRId64,
                             tile->shape[d]);
    if (tile->shape[d] != answer->shape[d]) answer->verdict = TESELA_VALID_PART;
    answer->shape[d] = tile->shape[d];
  }
  return used < sizeof answer->as;
}

static tesela_status tv_text(const tesela_layout *tile, const int64_t *value, const tesela_writer *to,
                             tesela_translation *answer, tesela_error *err) {
  tesela__cute_box box = {.rank = 2, .extent = {tile->axis[0].extent, tile->axis[1].extent}, .value = value};
  tesela__cute_modes modes = {.bits = 0};
  tesela__cute_conflict conflict;
  tesela_cute cute;
  int64_t cut[2];
  int32_t width =
      tv_log2(box.extent[0]) < 0 || tv_log2(box.extent[1]) < 0 ? 0 : tv_log2(box.extent[0] * box.extent[1]);
  tesela_status status = tesela__cute_factor_map(&box, width, &modes, &conflict, err);
  if (status != TESELA_OK) return status;
  if (conflict.found)
    return tesela__impossible(answer,
                              "thread %" PRId64 ", local id %" PRId64 " has element number %" PRId64
                              "; modes that agree before have %" PRId64,
                              conflict.index[0], conflict.index[1],
                              value[conflict.index[0] * box.extent[1] + conflict.index[1]],
                              conflict.expected);
  status = tesela__cute_from_modes(&modes, 2, box.extent, &cute, cut, err);
  if (status != TESELA_OK) return status;
  if (cut[0] != box.extent[0] || cut[1] != box.extent[1])
    return tesela__impossible(answer, "the threads or local ids are not a product of the modes");
  if (!tv_name(tile, answer))
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the shape of the tile is too long for its name");
  return tesela_cute_print(&cute, to, err);
}

/* The axes as thread, local. */
static tesela_status tv_swap(tesela_layout *layout, tesela_error *err) {
  tesela_axis axis = layout->axis[0];
  if (layout->swizzle.n > 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a swizzle of local ids and threads, in this order");
  layout->axis[0] = layout->axis[1];
  layout->axis[1] = axis;
  for (int32_t i = 0; i < layout->n_digits; i++)
    if (layout->digit[i].axis >= 0) layout->digit[i].axis = (int16_t)(1 - layout->digit[i].axis);
  layout->finished = false;
  return tesela_layout_finish(layout, err);
}

tesela_status tesela__tv_write(const tesela_layout *layout, const tesela_writer *to,
                               tesela_translation *answer, tesela_error *err) {
  const tesela_allocator memory = tesela__allocator(NULL);
  tesela_layout threads, tile;
  int64_t places;
  tesela_error why;
  tesela_status status = tesela__axes_to_threads(layout, &threads, &why);
  if (status == TESELA_E_UNSUPPORTED) return tesela__impossible(answer, "%s", why.message);
  if (status != TESELA_OK && err) *err = why;
  if (status == TESELA_OK) status = tesela_layout_canonical(&threads, &threads, err);
  if (status != TESELA_OK) return status;
  if (strcmp(threads.axis[0].name, "thread") != 0) status = tv_swap(&threads, err);
  if (status != TESELA_OK) return status;
  if (!tesela__mul(threads.axis[0].extent, threads.axis[1].extent, &places) || places > TESELA__TV_PLACES)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d threads times local ids", TESELA__TV_PLACES);
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] == 0) return tesela__impossible(answer, "the layout has no elements");
  if (places == 0) return tesela__impossible(answer, "the layout has no places");
  int64_t *value = tesela__alloc(&memory, (uint64_t)places * sizeof *value, alignof(int64_t));
  if (!value) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
  if (tv_fill(&threads, value, places, &tile, answer)) status = tv_text(&tile, value, to, answer, err);
  tesela__release(&memory, value);
  return status;
}
