/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_oracle.c - the two formulations of tiled layouts, sizes, and random arrays.
 *
 * Part 1 is the index formula and the sizes, part 2 is pad-reshape-transpose, part 3 makes and prints random arrays,
 * part 4 compares. Parts 1 and 2 share nothing. Written to be read beside the description, not to be fast.
 */
#include "xla_oracle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* Product of the bounds; 0 if any of them is 0, else -1 if it does not fit. */
static int64_t product(int n, const int64_t *bound) {
  int64_t total = 1;
  for (int i = 0; i < n; i++)
    if (bound[i] == 0) return 0;
  for (int i = 0; i < n; i++) {
    if (total > INT64_MAX / bound[i]) return -1;
    total *= bound[i];
  }
  return total;
}

static int64_t ceil_div(int64_t n, int64_t t) { return n / t + (n % t != 0); }

static int64_t round_up(int64_t n, int64_t t) {
  int64_t count = ceil_div(n, t);
  return count > INT64_MAX / t ? -1 : count * t;
}

const char *oracle_invalid(const struct oracle_array *a) {
  if (a->rank < 0 || a->rank > ORACLE_MAX_RANK) return "rank";
  for (int d = 0; d < a->rank; d++) {
    if (a->dim[d] < 0) return "negative dim";
    int times = 0;
    for (int m = 0; m < a->rank; m++) times += a->minor_to_major[m] == d;
    if (times != 1) return "minor_to_major is no permutation";
  }
  if (a->n_tiles < 0 || a->n_tiles > ORACLE_MAX_TILES) return "number of tiles";
  for (int k = 0; k < a->n_tiles; k++) {
    if (a->tile_rank[k] < 1 || a->tile_rank[k] > ORACLE_MAX_TILE_RANK) return "tile rank";
    for (int i = 0; i < a->tile_rank[k]; i++)
      if (a->tile[k][i] < 1 && a->tile[k][i] != ORACLE_COMBINE) return "tile entry";
    if (a->tile[k][a->tile_rank[k] - 1] == ORACLE_COMBINE) return "last tile entry is *";
  }
  if (a->tail < 1) return "tail";
  if (a->type_bytes < 1) return "type bytes";
  if (a->e_bits < 0) return "element bits";
  if (a->bits != (a->e_bits != 0 ? a->e_bits : 8 * a->type_bytes)) return "bits";
  return NULL;
}

int64_t oracle_count(const struct oracle_array *a) { return product(a->rank, a->dim); }

int oracle_index(const struct oracle_array *a, int64_t number, int64_t *index) {
  if (number < 0 || number >= oracle_count(a)) return -1;
  for (int d = a->rank - 1; d >= 0; d--) {
    index[d] = number % a->dim[d];
    number /= a->dim[d];
  }
  return 0;
}

/* ---- 1. The index formula ---- */

/* An intermediate position of the formula: coordinate e[i] in a bound d[i], most major first. */
struct position {
  int n;
  int64_t d[ORACLE_MAX_BOUNDS];
  int64_t e[ORACLE_MAX_BOUNDS];
};

static void append(struct position *p, int64_t d, int64_t e) {
  p->d[p->n] = d;
  p->e[p->n] = e;
  p->n++;
}

/* One tile: (..., e, ...) becomes (untouched..., e div t ..., e mod t ...). */
static int tile_position(struct position *p, const int64_t *tile, int tile_rank) {
  struct position whole, joined, next;
  int64_t t[ORACLE_MAX_TILE_RANK];
  int n_t = 0;
  whole.n = joined.n = next.n = 0;

  /* Missing bounds count as leading ones. */
  for (int i = p->n; i < tile_rank; i++) append(&whole, 1, 0);
  for (int i = 0; i < p->n; i++) append(&whole, p->d[i], p->e[i]);

  /* A `*` joins its bound with the next more minor one: (e1, e2) becomes e1 * d2 + e2. */
  int untouched = whole.n - tile_rank;
  for (int i = 0; i < untouched; i++) append(&joined, whole.d[i], whole.e[i]);
  for (int i = 0; i < tile_rank; i++) {
    int64_t d = whole.d[untouched + i], e = whole.e[untouched + i];
    while (tile[i] == ORACLE_COMBINE) {
      i++;
      int64_t both[2] = {d, whole.d[untouched + i]};
      e = e * both[1] + whole.e[untouched + i];
      d = product(2, both);
      if (d < 0) return -1;
    }
    append(&joined, d, e);
    t[n_t++] = tile[i];
  }

  for (int i = 0; i < untouched; i++) append(&next, joined.d[i], joined.e[i]);
  for (int i = 0; i < n_t; i++)
    append(&next, ceil_div(joined.d[untouched + i], t[i]), joined.e[untouched + i] / t[i]);
  for (int i = 0; i < n_t; i++) append(&next, t[i], joined.e[untouched + i] % t[i]);
  p->n = 0;
  for (int i = 0; i < next.n; i++) append(p, next.d[i], next.e[i]);
  return 0;
}

/* The position after `level` tiles. Without an index: the bounds, with all coordinates 0. */
static int position_at(const struct oracle_array *a, const int64_t *index, int level, struct position *p) {
  if (oracle_invalid(a) || level < 0 || level > a->n_tiles) return -1;
  p->n = 0;
  for (int i = a->rank - 1; i >= 0; i--) {
    int d = a->minor_to_major[i];
    if (index && (index[d] < 0 || index[d] >= a->dim[d])) return -1;
    append(p, a->dim[d], index ? index[d] : 0);
  }
  for (int k = 0; k < level; k++)
    if (tile_position(p, a->tile[k], a->tile_rank[k]) != 0) return -1;
  return 0;
}

int oracle_bounds(const struct oracle_array *a, int level, int64_t out[ORACLE_MAX_BOUNDS]) {
  struct position p;
  if (position_at(a, NULL, level, &p) != 0) return -1;
  for (int i = 0; i < p.n; i++) out[i] = p.d[i];
  return p.n;
}

int oracle_coordinates(const struct oracle_array *a, const int64_t *index, int level,
                       int64_t out[ORACLE_MAX_BOUNDS]) {
  struct position p;
  if (position_at(a, index, level, &p) != 0) return -1;
  for (int i = 0; i < p.n; i++) out[i] = p.e[i];
  return p.n;
}

int64_t oracle_place(const struct oracle_array *a, const int64_t *index) {
  struct position p;
  int64_t number = 0;
  if (position_at(a, index, a->n_tiles, &p) != 0) return -1;
  if (product(p.n, p.d) < 0) return -1;
  for (int i = 0; i < p.n; i++) number = number * p.d[i] + p.e[i];
  return number;
}

/* Bytes of `elements` elements of `bits` bits. */
static int64_t whole_bytes(int64_t elements, int64_t bits) {
  if (elements < 0 || elements > INT64_MAX / bits) return -1;
  return ceil_div(elements * bits, 8);
}

int64_t oracle_elements(const struct oracle_array *a) {
  int64_t bound[ORACLE_MAX_BOUNDS];
  int n = oracle_bounds(a, a->n_tiles, bound);
  int64_t elements = n < 0 ? -1 : product(n, bound);
  return elements < 0 ? -1 : round_up(elements, a->tail);
}

int64_t oracle_bytes(const struct oracle_array *a) {
  int64_t elements = oracle_elements(a);
  return elements < 0 ? -1 : whole_bytes(elements, a->bits);
}

/* The largest part of a bound between cuts; the bound itself without cuts. */
static int64_t largest_part(int64_t bound, const struct oracle_split *split) {
  int64_t largest = 0, from = 0;
  for (int i = 0; i < split->n_cuts; i++) {
    if (split->cut[i] - from > largest) largest = split->cut[i] - from;
    from = split->cut[i];
  }
  return bound - from > largest ? bound - from : largest;
}

int64_t oracle_allocated_bytes(const struct oracle_array *a, const struct oracle_split *splits,
                               int n_splits) {
  if (oracle_invalid(a)) return -1;
  int64_t bits = a->e_bits != 0 ? a->e_bits : 8 * a->type_bytes;
  if (a->n_tiles == 0) return whole_bytes(oracle_count(a), bits);

  /* The largest parts between cuts, most major first, after ones up to the rank of the first tile. */
  int64_t bound[ORACLE_MAX_BOUNDS];
  int n = 0;
  for (int i = a->rank; i < a->tile_rank[0]; i++) bound[n++] = 1;
  for (int p = 0; p < a->rank; p++) {
    int64_t d = a->dim[a->minor_to_major[a->rank - 1 - p]];
    for (int s = 0; s < n_splits; s++)
      if (splits[s].dim == p) d = largest_part(d, &splits[s]);
    bound[n++] = d;
  }

  int64_t size[ORACLE_MAX_BOUNDS];
  int n_sizes = 0, untouched = n - a->tile_rank[0];
  for (int i = 0; i < untouched; i++) size[n_sizes++] = bound[i];
  int first = 0; /* first bound of the current run to join */
  for (int i = 0; i < a->tile_rank[0]; i++) {
    if (a->tile[0][i] == ORACLE_COMBINE) continue;
    int64_t joined = product(i - first + 1, &bound[untouched + first]);
    if (joined < 0) return -1;
    size[n_sizes] = round_up(joined, a->tile[0][i]);
    if (size[n_sizes++] < 0) return -1;
    first = i + 1;
  }
  int64_t elements = product(n_sizes, size);
  if (elements >= 0) elements = round_up(elements, a->tail);
  return whole_bytes(elements, bits);
}

/* ---- 2. Pad, reshape, transpose ---- */

/* The number of elements of a shape; the caller knows that it fits. */
static int64_t nd_count(int rank, const int64_t *dim) {
  int64_t count = 1;
  for (int i = 0; i < rank; i++)
    if (dim[i] == 0) return 0;
  for (int i = 0; i < rank; i++) count *= dim[i];
  return count;
}

static int64_t *nd_values(int64_t count) { return malloc((size_t)(count > 0 ? count : 1) * sizeof(int64_t)); }

/* Takes ownership of `value`, which must have the elements of the shape. */
static void nd_replace(struct oracle_nd *x, int rank, const int64_t *dim, int64_t *value) {
  x->rank = rank;
  memmove(x->dim, dim, (size_t)rank * sizeof dim[0]);
  free(x->value);
  x->value = value;
}

int oracle_iota(struct oracle_nd *x, int rank, const int64_t *dim) {
  int64_t count = nd_count(rank, dim);
  int64_t *value = nd_values(count);
  if (!value) return -1;
  for (int64_t i = 0; i < count; i++) value[i] = i;
  x->value = NULL;
  nd_replace(x, rank, dim, value);
  return 0;
}

void oracle_release(struct oracle_nd *x) {
  free(x->value);
  x->value = NULL;
}

int oracle_reshape(struct oracle_nd *x, int rank, const int64_t *dim) {
  if (nd_count(rank, dim) != nd_count(x->rank, x->dim)) return -1;
  x->rank = rank;
  memmove(x->dim, dim, (size_t)rank * sizeof dim[0]);
  return 0;
}

/* Advance to the next index of a shape in row-major order. */
static void next_index(int rank, const int64_t *dim, int64_t *index) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++index[i] < dim[i]) return;
    index[i] = 0;
  }
}

int oracle_transpose(struct oracle_nd *x, const int *axis) {
  int64_t stride[ORACLE_MAX_BOUNDS], dim[ORACLE_MAX_BOUNDS], index[ORACLE_MAX_BOUNDS] = {0};
  int64_t count = nd_count(x->rank, x->dim), step = 1;
  int64_t *value = nd_values(count);
  if (!value) return -1;
  for (int i = x->rank - 1; i >= 0 && count > 0; i--) {
    stride[i] = step;
    step *= x->dim[i];
  }
  for (int i = 0; i < x->rank; i++) dim[i] = x->dim[axis[i]];
  for (int64_t to = 0; to < count; to++) {
    int64_t from = 0;
    for (int i = 0; i < x->rank; i++) from += index[i] * stride[axis[i]];
    value[to] = x->value[from];
    next_index(x->rank, dim, index);
  }
  nd_replace(x, x->rank, dim, value);
  return 0;
}

int oracle_pad(struct oracle_nd *x, const int64_t *dim) {
  int64_t index[ORACLE_MAX_BOUNDS] = {0};
  int64_t count = nd_count(x->rank, dim), from = 0;
  int64_t *value = nd_values(count);
  if (!value) return -1;
  for (int64_t to = 0; to < count; to++) {
    int inside = 1;
    for (int i = 0; i < x->rank; i++)
      if (index[i] >= x->dim[i]) inside = 0;
    value[to] = inside ? x->value[from++] : -1; /* old values keep their order */
    next_index(x->rank, dim, index);
  }
  nd_replace(x, x->rank, dim, value);
  return 0;
}

/* Does an array with these dims have at most `capacity` elements, without overflow? */
static int nd_fits(int rank, const int64_t *dim, int64_t capacity) {
  int64_t count = 1;
  for (int i = 0; i < rank; i++)
    if (dim[i] == 0) return 1;
  for (int i = 0; i < rank; i++) {
    if (dim[i] > capacity / count) return 0;
    count *= dim[i];
  }
  return 1;
}

/* One tile, by moving data. */
static int tile_nd(struct oracle_nd *x, const int64_t *tile, int tile_rank, int64_t capacity) {
  int64_t dim[ORACLE_MAX_BOUNDS], t[ORACLE_MAX_TILE_RANK];
  int axis[ORACLE_MAX_BOUNDS];
  int n = 0, n_t = 0;

  /* Reshape: add leading ones until the tile has a dimension for each entry. */
  for (int i = x->rank; i < tile_rank; i++) dim[n++] = 1;
  for (int i = 0; i < x->rank; i++) dim[n++] = x->dim[i];
  if (oracle_reshape(x, n, dim) != 0) return -1;

  /* Reshape: from the minor end, a `*` multiplies its dimension into the next one. */
  int prefix = n - tile_rank;
  for (int i = tile_rank - 1; i >= 0; i--) {
    if (tile[i] != ORACLE_COMBINE) continue;
    if (dim[prefix + i + 1] > 0 && dim[prefix + i] > INT64_MAX / dim[prefix + i + 1]) return -1;
    dim[prefix + i] *= dim[prefix + i + 1];
    for (int j = prefix + i + 1; j + 1 < n; j++) dim[j] = dim[j + 1];
    n--;
  }
  if (oracle_reshape(x, n, dim) != 0) return -1;
  for (int i = 0; i < tile_rank; i++)
    if (tile[i] != ORACLE_COMBINE) t[n_t++] = tile[i];

  /* Pad: each tiled dimension up to a multiple of its tile. */
  for (int i = 0; i < n_t; i++) {
    int64_t over = dim[prefix + i] % t[i];
    if (over == 0) continue;
    if (t[i] - over > INT64_MAX - dim[prefix + i]) return -1;
    dim[prefix + i] += t[i] - over;
  }
  if (!nd_fits(n, dim, capacity)) return -1;
  if (oracle_pad(x, dim) != 0) return -1;

  /* Reshape: split each tiled dimension into (tiles, tile). */
  for (int i = n_t - 1; i >= 0; i--) {
    dim[prefix + 2 * i + 1] = t[i];
    dim[prefix + 2 * i] = x->dim[prefix + i] / t[i];
  }
  n = prefix + 2 * n_t;
  if (oracle_reshape(x, n, dim) != 0) return -1;

  /* Transpose: move the tile dimensions after all others, in order. */
  for (int i = 0; i < prefix; i++) axis[i] = i;
  for (int i = 0; i < n_t; i++) axis[prefix + i] = prefix + 2 * i;
  for (int i = 0; i < n_t; i++) axis[prefix + n_t + i] = prefix + 2 * i + 1;
  return oracle_transpose(x, axis);
}

int oracle_tiled(const struct oracle_array *a, int64_t capacity, struct oracle_nd *x) {
  int axis[ORACLE_MAX_RANK];
  if (oracle_invalid(a) || !nd_fits(a->rank, a->dim, capacity)) return -1;
  if (oracle_iota(x, a->rank, a->dim) != 0) return -1;
  for (int i = 0; i < a->rank; i++) axis[i] = a->minor_to_major[a->rank - 1 - i];
  if (oracle_transpose(x, axis) != 0) goto fail;
  for (int k = 0; k < a->n_tiles; k++)
    if (tile_nd(x, a->tile[k], a->tile_rank[k], capacity) != 0) goto fail;
  return 0;
fail:
  oracle_release(x);
  return -1;
}

int64_t oracle_image(const struct oracle_array *a, int64_t *image, int64_t capacity) {
  struct oracle_nd x;
  if (oracle_tiled(a, capacity, &x) != 0) return -1;
  int64_t length = nd_count(x.rank, x.dim);
  if (oracle_reshape(&x, 1, &length) != 0) goto fail;
  int64_t over = length % a->tail;
  if (over != 0) {
    if (a->tail - over > capacity - length) goto fail;
    length += a->tail - over;
  }
  if (oracle_pad(&x, &length) != 0) goto fail;
  if (length > 0) memcpy(image, x.value, (size_t)length * sizeof *image);
  oracle_release(&x);
  return length;
fail:
  oracle_release(&x);
  return -1;
}

/* ---- 3. Random arrays and their text ---- */

uint64_t oracle_next(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 to n-1; the slight bias of the remainder does not matter here. */
static int below(uint64_t *state, int n) { return (int)(oracle_next(state) % (uint64_t)n); }

static const struct {
  const char *word;
  int64_t bytes;
} random_types[] = {
    {"pred", 1}, {"s4", 1},       {"u2", 1},        {"f4e2m1fn", 1}, {"f6e3m2fn", 1},
    {"s8", 1},   {"f8e4m3fn", 1}, {"f8e8m0fnu", 1}, {"bf16", 2},     {"u16", 2},
    {"f32", 4},  {"s32", 4},      {"f64", 8},       {"c64", 8},      {"c128", 16},
};

/* Elements of the array so far, counting a zero as a one, so tiles of empty arrays are bounded too. */
static int64_t random_size(const struct oracle_array *a) {
  int64_t bound[ORACLE_MAX_BOUNDS];
  int n = oracle_bounds(a, a->n_tiles, bound);
  if (n < 0) return -1;
  for (int i = 0; i < n; i++)
    if (bound[i] == 0) bound[i] = 1;
  return product(n, bound);
}

static void random_dims(uint64_t *state, int64_t max_elements, struct oracle_array *a) {
  a->rank = below(state, 6);
  int64_t size = 1;
  for (int d = 0; d < a->rank; d++) {
    int kind = below(state, 24);
    int64_t extent = 1 + below(state, 12);
    if (kind == 0) extent = 0;
    if (kind >= 1 && kind <= 4) extent = 1;
    if (kind >= 21 && a->rank <= 2) extent = 13 + below(state, 200);
    while (extent > 1 && size * extent > max_elements) extent /= 2;
    a->dim[d] = extent;
    if (extent > 0) size *= extent;
  }
  for (int i = 0; i < a->rank; i++) a->minor_to_major[i] = a->rank - 1 - i;
  if (below(state, 3) == 0) return;
  for (int i = a->rank - 1; i > 0; i--) {
    int j = below(state, i + 1), held = a->minor_to_major[i];
    a->minor_to_major[i] = a->minor_to_major[j];
    a->minor_to_major[j] = held;
  }
}

/* Add one tile that keeps the array within max_elements; gives up after some tries. */
static void random_tile(uint64_t *state, int64_t max_elements, struct oracle_array *a) {
  static const int64_t large[] = {8, 16, 32, 128};
  int64_t bound[ORACLE_MAX_BOUNDS];
  int rank = oracle_bounds(a, a->n_tiles, bound);
  int k = a->n_tiles;
  for (int attempt = 0; attempt < 16; attempt++) {
    int n = 1 + below(state, rank + 2);
    if (below(state, 2) == 0 && n > 3) n = 1 + below(state, 3);
    if (n > ORACLE_MAX_TILE_RANK) n = ORACLE_MAX_TILE_RANK;
    memset(a->tile[k], 0, sizeof a->tile[k]);
    for (int i = 0; i < n; i++) {
      int kind = below(state, 12);
      int64_t t = 1 + below(state, 5);
      if (kind <= 2 || attempt >= 12) t = 1;
      if (kind == 3 && attempt < 8) t = large[below(state, 4)];
      if (kind >= 10 && i + 1 < n) t = ORACLE_COMBINE;
      a->tile[k][i] = t;
    }
    a->tile_rank[k] = n;
    a->n_tiles = k + 1;
    int64_t size = random_size(a);
    if (size >= 0 && size <= max_elements) return;
    a->n_tiles = k;
  }
}

void oracle_random(uint64_t seed, int64_t max_elements, struct oracle_array *a, const char **type_word) {
  static const int64_t tails[] = {2, 3, 7, 8, 16, 100, 128, 1024};
  static const int64_t widths[] = {1, 2, 3, 4, 5, 6, 8, 16, 32, 64};
  uint64_t state = seed;
  int type = below(&state, (int)(sizeof random_types / sizeof random_types[0]));
  memset(a, 0, sizeof *a);
  a->tail = 1;
  a->type_bytes = random_types[type].bytes;
  a->e_bits = below(&state, 4) == 0 ? widths[below(&state, 10)] : 0;
  a->bits = (int)(a->e_bits != 0 ? a->e_bits : 8 * a->type_bytes);
  if (type_word) *type_word = random_types[type].word;

  random_dims(&state, max_elements, a);
  int levels = below(&state, 4);
  for (int k = 0; k < levels; k++) random_tile(&state, max_elements, a);
  if (below(&state, 4) == 0) {
    a->tail = tails[below(&state, 8)];
    int64_t elements = oracle_elements(a);
    if (elements < 0 || elements > max_elements) a->tail = 1;
  }
}

/* Text with the length of snprintf: `length` includes the part that did not fit. */
struct text {
  char *at;
  size_t capacity, length;
};

static void add_text(struct text *to, const char *more) {
  for (; *more; more++) {
    if (to->length + 1 < to->capacity) to->at[to->length] = *more;
    to->length++;
  }
}

static void add_number(struct text *to, int64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, number);
  add_text(to, digits);
}

int oracle_print(const struct oracle_array *a, const char *type_word, char *text, size_t capacity) {
  struct text to = {text, capacity, 0};
  int properties = a->n_tiles > 0 || a->tail > 1 || a->e_bits != 0;
  add_text(&to, type_word);
  add_text(&to, "[");
  for (int d = 0; d < a->rank; d++) {
    if (d > 0) add_text(&to, ",");
    add_number(&to, a->dim[d]);
  }
  add_text(&to, "]");
  if (a->rank > 0 || properties) {
    add_text(&to, "{");
    for (int i = 0; i < a->rank; i++) {
      if (i > 0) add_text(&to, ",");
      add_number(&to, a->minor_to_major[i]);
    }
    if (properties) add_text(&to, ":");
    if (a->n_tiles > 0) add_text(&to, "T");
    for (int k = 0; k < a->n_tiles; k++) {
      add_text(&to, "(");
      for (int i = 0; i < a->tile_rank[k]; i++) {
        if (i > 0) add_text(&to, ",");
        if (a->tile[k][i] == ORACLE_COMBINE)
          add_text(&to, "*");
        else
          add_number(&to, a->tile[k][i]);
      }
      add_text(&to, ")");
    }
    if (a->tail > 1) {
      add_text(&to, "L(");
      add_number(&to, a->tail);
      add_text(&to, ")");
    }
    if (a->e_bits != 0) {
      add_text(&to, "E(");
      add_number(&to, a->e_bits);
      add_text(&to, ")");
    }
    add_text(&to, "}");
  }
  if (capacity > 0) text[to.length < capacity ? to.length : capacity - 1] = '\0';
  return (int)to.length;
}

/* ---- 4. One against the other ---- */

int64_t oracle_disagreements(const struct oracle_array *a, const int64_t *image, int64_t length) {
  int64_t wrong = 0, filled = 0, count = oracle_count(a);
  int64_t index[ORACLE_MAX_RANK];
  if (length != oracle_elements(a)) wrong++;
  for (int64_t number = 0; number < count; number++) {
    if (oracle_index(a, number, index) != 0) wrong++;
    int64_t at = oracle_place(a, index);
    if (at < 0 || at >= length || image[at] != number) wrong++;
  }
  for (int64_t at = 0; at < length; at++) filled += image[at] != -1;
  return wrong + (filled != count);
}

int64_t oracle_self_test(uint64_t first_seed, int64_t n_seeds, FILE *report) {
  static int64_t image[ORACLE_RANDOM_ELEMENTS];
  int64_t failed = 0;
  for (int64_t i = 0; i < n_seeds; i++) {
    struct oracle_array a;
    struct oracle_nd tiled;
    const char *type_word, *what = NULL;
    char text[512];
    int64_t bound[ORACLE_MAX_BOUNDS];
    uint64_t seed = first_seed + (uint64_t)i;
    oracle_random(seed, ORACLE_RANDOM_ELEMENTS, &a, &type_word);
    if (oracle_invalid(&a)) what = oracle_invalid(&a);

    if (!what && oracle_tiled(&a, ORACLE_RANDOM_ELEMENTS, &tiled) != 0) what = "no tiled array";
    if (!what) {
      int n = oracle_bounds(&a, a.n_tiles, bound);
      if (n != tiled.rank || memcmp(bound, tiled.dim, (size_t)n * sizeof bound[0]) != 0)
        what = "final bounds differ";
      oracle_release(&tiled);
    }
    if (!what) {
      int64_t length = oracle_image(&a, image, ORACLE_RANDOM_ELEMENTS);
      if (length < 0)
        what = "no image";
      else if (oracle_disagreements(&a, image, length) != 0)
        what = "place and image differ";
    }
    if (!what) continue;
    failed++;
    oracle_print(&a, type_word, text, sizeof text);
    fprintf(report, "seed %" PRIu64 " %s: %s\n", seed, text, what);
  }
  return failed;
}
