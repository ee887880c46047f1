/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_in_place.c - tesela_plan_run_in_place against the definition.
 *
 * A random *side* says how a layout places the elements: which dims are joined, how coordinates are split, in which
 * order the digits lie, what gaps, padding, holes, offset, tail and swizzle there are. It is followed twice: by the
 * builder functions, and by arithmetic of this file, which writes down for every place of the axis what it is: an
 * element, padding, or none of the layout's. From the tables of both sides comes every byte of the buffer afterwards.
 *
 * Buffers end at a page that cannot be touched. TESELA_SEED sets the first seed, TESELA_SEEDS their number.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#include <sys/mman.h>
#include <unistd.h>

#include "support_xla.h"

enum {
  SEEDS = 3000,
  MOST_DIMS = 4,
  MOST_DIGITS = 24,
  MOST_PLACES = 6000, /* of an axis */
  GAP = -1,           /* what a place is, if no number of an element */
  PADDING = -2
};

/* ---- random numbers --------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t random_bits(void) { /* splitmix64 */
  uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static int64_t below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }
static bool one_in(int64_t n) { return below(n) == 0; }

/* ---- sides ------------------------------------------------------------------------------------------------ */

/* A part of a coordinate: what is left of x above it, div step; or a hole. */
typedef struct part {
  int coordinate;   /* -1: a hole */
  int64_t above[2]; /* x mod the first, mod the second is left; 0: none */
  int64_t step, extent, stride;
  int32_t digit; /* in the library's layout */
} part;

/* Coordinates are one dim or two neighbours joined: dims first .. first + n - 1. */
typedef struct side {
  int rank, n_coordinates, n_parts;
  int first[MOST_DIMS], n[MOST_DIMS];
  int64_t shape[MOST_DIMS], extent[MOST_DIMS]; /* of dims, of coordinates */
  part part[MOST_DIGITS];
  int64_t offset, tail, end; /* `end`: one behind the last place the digits reach */
  tesela_swizzle swizzle;    /* bits 0: none */
  int32_t bits;
} side;

static void add_part(side *s, part added) { s->part[s->n_parts++] = added; }

/* Split a coordinate up to twice; the second step need not divide the first. */
static void split_coordinate(side *s, int c) {
  int64_t extent = s->extent[c], inner = one_in(2) ? 1 : 2 + below(5),
          outer = one_in(2) ? 1 : inner * (2 + below(3));
  if (outer > 1 && inner > 1 && one_in(4)) outer = inner + 1 + below(2 * inner);
  if (outer > 1) add_part(s, (part){c, {0, 0}, outer, (extent + outer - 1) / outer, 0, -1});
  int64_t left = outer > 1 ? outer : extent;
  if (inner > 1) add_part(s, (part){c, {outer > 1 ? outer : 0, 0}, inner, (left + inner - 1) / inner, 0, -1});
  add_part(s, (part){c, {outer > 1 ? outer : 0, inner > 1 ? inner : 0}, 1, inner > 1 ? inner : left, 0, -1});
}

/* Strides from the innermost part outwards, mostly without gaps; some lead backwards. */
static void place_parts(side *s, bool simple) {
  int64_t stride = 1, low = 0, high = 0;
  for (int i = s->n_parts - 1; i > 0; i--) { /* any order, sometimes as it is */
    int k = simple ? i : (int)below(i + 1);
    part swap = s->part[i];
    s->part[i] = s->part[k];
    s->part[k] = swap;
  }
  for (int i = s->n_parts - 1; i >= 0; i--) {
    part *p = &s->part[i];
    if (!simple && one_in(8)) stride += below(4);
    p->stride = stride;
    high += (p->extent - 1) * stride;
    stride *= p->extent;
    if (simple || !one_in(10)) continue;
    low -= (p->extent - 1) * p->stride;
    high -= (p->extent - 1) * p->stride;
    p->stride = -p->stride;
  }
  s->offset = -low + (!simple && one_in(4) ? below(20) : 0);
  s->end = s->offset + high + 1;
  s->tail = one_in(4) ? below(30) : 0;
}

static void split_all(side *s, int rank, const int64_t *shape) {
  s->rank = rank;
  memcpy(s->shape, shape, (size_t)rank * sizeof *shape);
  for (int d = 0; d < rank;) {
    int c = s->n_coordinates++;
    s->first[c] = d;
    s->n[c] = d + 1 < rank && one_in(6) ? 2 : 1;
    s->extent[c] = shape[d] * (s->n[c] == 2 ? shape[d + 1] : 1);
    d += s->n[c];
    split_coordinate(s, c);
  }
}

/* Split like another side, or NULL. Returns false if it would need too many places. */
static bool make_side(side *s, const side *like, int rank, const int64_t *shape, int32_t bits) {
  bool simple = one_in(3);
  memset(s, 0, sizeof *s);
  if (like)
    *s = *like;
  else
    split_all(s, rank, shape);
  s->bits = bits;
  s->swizzle = (tesela_swizzle){0, 0, 0, 0};
  if (one_in(8)) add_part(s, (part){-1, {0, 0}, 1, 2 + below(3), 0, -1});
  place_parts(s, simple);
  if (one_in(12)) { /* as many places as bits that may change */
    int64_t places = 32;
    while (places < s->end) places *= 2;
    s->tail = places - s->end;
    s->swizzle = (tesela_swizzle){0, (int16_t)(1 + below(2)), (int16_t)below(2), 2};
    if (one_in(3)) s->swizzle.shift = -2;
  }
  return s->end + s->tail <= MOST_PLACES;
}

/* By the library. */
static tesela_layout build(side *s) {
  tesela_layout layout;
  int32_t axis;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, s->bits, s->rank, s->shape, &e_));
  for (int c = 0; c < s->n_coordinates; c++) {
    int32_t digit = s->first[c], lo;
    const int32_t both[] = {digit, digit + 1};
    if (s->n[c] == 2) OK(tesela_layout_join(&layout, 2, both, &digit, &e_));
    for (int64_t before = INT64_MAX; digit >= 0;) { /* parts by decreasing step */
      part *next = NULL;
      for (int i = 0; i < s->n_parts; i++)
        if (s->part[i].coordinate == c && s->part[i].step < before && (!next || s->part[i].step > next->step))
          next = &s->part[i];
      before = next->step;
      next->digit = digit;
      lo = -1;
      if (next->step > 1) OK(tesela_layout_split(&layout, digit, next->step, &lo, &e_));
      digit = lo;
    }
  }
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  for (int i = 0; i < s->n_parts; i++) {
    part *p = &s->part[i];
    if (p->coordinate < 0) OK(tesela_layout_add_digit(&layout, TESELA_HOLE, p->extent, &p->digit, &e_));
    OK(tesela_layout_place(&layout, p->digit, axis, p->stride, &e_));
  }
  OK(tesela_layout_set_axis(&layout, axis, s->offset, s->end + s->tail, &e_));
  if (s->swizzle.bits) OK(tesela_layout_add_swizzle(&layout, s->swizzle, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

/* The bits that the swizzle says act on the others. */
static int64_t swizzled(const side *s, int64_t place) {
  int shift = s->swizzle.shift, from = s->swizzle.base + (shift > 0 ? shift : 0);
  int to = s->swizzle.base + (shift < 0 ? -shift : 0);
  for (int b = 0; b < s->swizzle.bits; b++)
    if (place >> (from + b) & 1) place ^= (int64_t)1 << (to + b);
  return place;
}

static int64_t product(int n, const int64_t *factor) {
  int64_t p = 1;
  for (int i = 0; i < n; i++) p *= factor[i];
  return p;
}

/* By arithmetic: what each place of the axis is. */
static void fill_table(const side *s, int64_t *table) {
  int64_t places = s->end + s->tail, combinations = 1, elements = product(s->rank, s->shape), last = -1;
  for (int64_t p = 0; p < places; p++) table[p] = GAP;
  for (int i = 0; i < s->n_parts; i++) combinations *= s->part[i].extent;
  for (int64_t k = 0; k < combinations; k++) {
    int64_t place = s->offset, rest = k;
    for (int i = 0; i < s->n_parts; i++) {
      place += rest % s->part[i].extent * s->part[i].stride;
      rest /= s->part[i].extent;
    }
    place = swizzled(s, place);
    assert_true(place >= 0 && place < places && table[place] == GAP);
    table[place] = PADDING;
    if (place > last) last = place;
  }
  for (int64_t p = last + 1; p < places; p++) table[p] = PADDING;
  for (int64_t e = 0; e < elements; e++) {
    int64_t index[MOST_DIMS], rest = e, place = s->offset;
    for (int d = s->rank - 1; d >= 0; d--) {
      index[d] = rest % s->shape[d];
      rest /= s->shape[d];
    }
    for (int i = 0; i < s->n_parts; i++) {
      const part *p = &s->part[i];
      if (p->coordinate < 0) continue;
      int d = s->first[p->coordinate];
      int64_t x = s->n[p->coordinate] == 2 ? index[d] * s->shape[d + 1] + index[d + 1] : index[d];
      for (int k = 0; k < 2; k++)
        if (p->above[k]) x %= p->above[k];
      place += x / p->step * p->stride;
    }
    table[swizzled(s, place)] = e;
  }
}

/* ---- buffers ---------------------------------------------------------------------------------------------- */

typedef struct guarded {
  unsigned char *map, *bytes;
  size_t mapped;
} guarded;

/* `n` bytes, the last one in front of a page that cannot be touched, or the first one behind one. */
static guarded new_guarded(size_t n, bool at_end) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (n + page) / page * page;
  guarded g = {.mapped = inner + 2 * page};
  g.map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(g.map != MAP_FAILED);
  assert_int_equal(mprotect(g.map, page, PROT_NONE), 0);
  assert_int_equal(mprotect(g.map + page + inner, page, PROT_NONE), 0);
  g.bytes = at_end ? g.map + page + inner - n : g.map + page;
  return g;
}

static void drop_guarded(guarded g) { assert_int_equal(munmap(g.map, g.mapped), 0); }

/* Byte b of element e; no two elements of a test are equal in all bytes but by chance. */
static unsigned char value_byte(int64_t e, int b) {
  uint64_t x = ((uint64_t)e + 1) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)b * UINT64_C(0xc2b2ae3d27d4eb4f);
  return (unsigned char)((x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 40);
}

/* One copy: tables of both sides, and what is asked for. */
typedef struct job {
  const char *name;
  int64_t dst_places, src_places;
  const int64_t *dst, *src; /* tables */
  int width;                /* bytes of an element */
  tesela_plan_options options;
} job;

/* What the buffer must hold afterwards, from what it holds before. */
static void expect(const job *j, const unsigned char *before, unsigned char *after, size_t bytes) {
  memcpy(after, before, bytes);
  for (int64_t p = 0; p < j->dst_places; p++) {
    unsigned char *to = after + p * j->width;
    for (int b = 0; b < j->width; b++) {
      bool swap = j->options.transform == TESELA_TRANSFORM_SWAP;
      if (j->dst[p] >= 0)
        to[b] = value_byte(j->dst[p], swap ? j->width - 1 - b : b);
      else if (j->dst[p] == PADDING && j->options.fill != TESELA_FILL_LEAVE)
        to[b] = j->options.fill == TESELA_FILL_ZERO ? 0 : j->options.fill_value[b];
    }
  }
}

static void check_bytes(const job *j, const unsigned char *got, const unsigned char *want, size_t bytes,
                        const char *how) {
  for (size_t b = 0; b < bytes; b++)
    if (got[b] != want[b]) {
      int64_t place = (int64_t)b / j->width, holds = place < j->dst_places ? j->dst[place] : GAP;
      fail_msg("%s, %s: byte %zu of place %" PRId64 " (%s %" PRId64 ") is %02x, not %02x", j->name, how,
               b % (size_t)j->width, place,
               holds >= 0         ? "element"
               : holds == PADDING ? "padding"
                                  : "none",
               holds, got[b], want[b]);
    }
}

/* Run a plan with marks (and a byte behind them that must stay) and without. */
static void run_both_ways(const job *j, const tesela_plan *plan) {
  int64_t places = j->dst_places > j->src_places ? j->dst_places : j->src_places;
  size_t bytes = (size_t)(places * j->width);
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  if (!info.in_place) fail_msg("%s: the plan says it cannot run in place", j->name);
  unsigned char *before = malloc(bytes + 1), *want = malloc(bytes + 1);
  assert_true(before && want);
  for (size_t b = 0; b < bytes; b++) before[b] = (unsigned char)random_bits();
  for (int64_t p = 0; p < j->src_places; p++)
    for (int b = 0; b < j->width && j->src[p] >= 0; b++) before[p * j->width + b] = value_byte(j->src[p], b);
  expect(j, before, want, bytes);
  for (int marks = 0; marks < 2; marks++) {
    guarded buffer = new_guarded(bytes, marks == 0),
            scratch = new_guarded((size_t)info.in_place_scratch_bytes, true);
    memcpy(buffer.bytes, before, bytes);
    memset(scratch.bytes, 0xff, (size_t)info.in_place_scratch_bytes);
    OK(tesela_plan_run_in_place(plan, buffer.bytes, marks ? scratch.bytes : NULL, NULL, &e_));
    check_bytes(j, buffer.bytes, want, bytes, marks ? "with marks" : "without marks");
    drop_guarded(buffer);
    drop_guarded(scratch);
  }
  free(before);
  free(want);
}

static void random_options(tesela_plan_options *options, int width) {
  *options = (tesela_plan_options){.fill = (tesela_fill)below(3)};
  for (int b = 0; b < 16; b++) options->fill_value[b] = (uint8_t)random_bits();
  if (width > 1 && one_in(3)) options->transform = TESELA_TRANSFORM_SWAP;
}

/* ---- random pairs ----------------------------------------------------------------------------------------- */

static tesela_dtype unsigned_of(int width) {
  static const tesela_dtype of[] = {[1] = TESELA_U8, [2] = TESELA_U16, [4] = TESELA_U32, [8] = TESELA_U64};
  return width == 16 ? TESELA_DTYPE_NONE : of[width];
}

static void random_pair(uint64_t seed) {
  static int64_t dst_table[MOST_PLACES], src_table[MOST_PLACES];
  char name[64];
  side dst, src;
  int64_t shape[MOST_DIMS];
  random_state = seed;
  int rank = (int)below(MOST_DIMS + 1), width = 1 << below(5);
  for (int d = 0; d < rank; d++) shape[d] = one_in(30) ? 0 : 1 + below(rank > 2 ? 7 : 23);
  while (!make_side(&dst, NULL, rank, shape, width * 8)) continue;
  bool alike = one_in(3);
  while (!make_side(&src, alike ? &dst : NULL, rank, shape, width * 8)) continue;
  snprintf(name, sizeof name, "seed %" PRIu64, seed);
  job j = {name, dst.end + dst.tail, src.end + src.tail, dst_table, src_table, width, {0}};
  if (product(rank, shape) == 0) return; /* a row has no elements */
  random_options(&j.options, width);
  tesela_layout to = build(&dst), from = build(&src);
  if (j.options.transform == TESELA_TRANSFORM_SWAP && width < 16) to.dtype = from.dtype = unsigned_of(width);
  if (width == 16) j.options.transform = TESELA_TRANSFORM_NONE;
  fill_table(&dst, dst_table);
  fill_table(&src, src_table);
  tesela_plan *plan = NULL;
  tesela_error err;
  if (tesela_plan_create(&plan, &to, &from, &j.options, &err) != TESELA_OK)
    fail_msg("%s: %s", name, err.message);
  run_both_ways(&j, plan);
  tesela_plan_destroy(plan);
}

static void random_pairs_agree_with_the_definition(void **state) {
  (void)state;
  const char *text = getenv("TESELA_SEEDS");
  uint64_t n = text ? strtoull(text, NULL, 10) : SEEDS;
  for (uint64_t k = 0; k < n; k++) random_pair(first_seed() + k);
}

/* ---- pairs in notation ------------------------------------------------------------------------------------ */

/* In these every place that holds no element is padding. */
static const struct {
  const char *name, *dst, *src;
  tesela_transform transform;
} rows[] = {
    {"one element", "f32[]", "f32[]", TESELA_TRANSFORM_NONE},
    {"nothing to move", "f32[5,7]{1,0}", "f32[5,7]{1,0}", TESELA_TRANSFORM_NONE},
    {"nothing to move, bytes swapped", "u32[5,7]{1,0}", "u32[5,7]{1,0}", TESELA_TRANSFORM_SWAP},
    {"no element", "f32[0,7]{1,0}", "f32[0,7]{0,1}", TESELA_TRANSFORM_NONE},
    {"square transpose", "u8[16,16]{0,1}", "u8[16,16]{1,0}", TESELA_TRANSFORM_NONE},
    {"oblong transpose", "u16[37,53]{0,1}", "u16[37,53]{1,0}", TESELA_TRANSFORM_NONE},
    {"tiles", "f32[24,256]{1,0:T(8,128)}", "f32[24,256]{1,0}", TESELA_TRANSFORM_NONE},
    {"tiles with padding in both dims", "f32[21,200]{1,0:T(8,128)}", "f32[21,200]{1,0}",
     TESELA_TRANSFORM_NONE},
    {"out of tiles with padding", "f32[21,200]{1,0}", "f32[21,200]{1,0:T(8,128)}", TESELA_TRANSFORM_NONE},
    {"packed tiles to tiles of columns", "bf16[20,130]{0,1:T(8,128)(2,1)}", "bf16[20,130]{1,0:T(8,128)(2,1)}",
     TESELA_TRANSFORM_NONE},
    {"tiles move as a whole", "s8[3,5,64,256]{3,2,0,1:T(32,128)(4,1)}",
     "s8[3,5,64,256]{3,2,1,0:T(32,128)(4,1)}", TESELA_TRANSFORM_NONE},
    {"rows of 8 KiB change places", "f32[5,3,2048]{2,0,1}", "f32[5,3,2048]{2,1,0}", TESELA_TRANSFORM_NONE},
    {"rows of 12000 bytes, bytes swapped", "u64[5,3,1500]{2,0,1}", "u64[5,3,1500]{2,1,0}",
     TESELA_TRANSFORM_SWAP},
    {"elements of 16 bytes", "c128[5,9]{0,1}", "c128[5,9]{1,0}", TESELA_TRANSFORM_NONE},
    {"joined dims, split by what does not divide", "f32[6,10]{1,0:T(*,7)}", "f32[6,10]{0,1}",
     TESELA_TRANSFORM_NONE},
};

static tesela_layout layout_of(const char *text) {
  tesela_xla_shape shape = shape_of(text);
  tesela_layout layout;
  OK(tesela_xla_to_layout(&shape, &layout, &e_));
  return layout;
}

static int64_t *table_of(const tesela_layout *layout) {
  int64_t index[TESELA_MAX_RANK] = {0}, place, e = 0;
  int64_t *table = malloc((size_t)(layout->axis[0].extent + 1) * sizeof *table);
  assert_non_null(table);
  for (int64_t p = 0; p < layout->axis[0].extent; p++) table[p] = PADDING;
  if (product(layout->rank, layout->shape) == 0) return table;
  do {
    OK(tesela_layout_place_of(layout, index, &place, &e_));
    table[place] = e++;
  } while (tesela_index_next(layout->rank, layout->shape, index));
  return table;
}

static void rows_agree_with_the_definition(void **state) {
  (void)state;
  random_state = first_seed();
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    for (int fill = TESELA_FILL_ZERO; fill <= TESELA_FILL_VALUE; fill++) {
      tesela_layout dst = layout_of(rows[r].dst), src = layout_of(rows[r].src);
      int64_t *dst_table = table_of(&dst), *src_table = table_of(&src);
      job j = {rows[r].name, dst.axis[0].extent, src.axis[0].extent, dst_table, src_table, dst.bits / 8, {0}};
      random_options(&j.options, 1);
      j.options.fill = (tesela_fill)fill;
      j.options.transform = rows[r].transform;
      tesela_plan *plan = NULL;
      OK(tesela_plan_create(&plan, &dst, &src, &j.options, &e_));
      run_both_ways(&j, plan);
      tesela_plan_destroy(plan);
      free(dst_table);
      free(src_table);
    }
}

/* 10 dims of 3 in tiles of 2: each makes a partial tile of every one before, 1023 boxes of padding. */
static void more_partial_tiles_than_a_plan_has_pieces(void **state) {
  (void)state;
  enum { RANK = 10 };
  tesela_layout dst, src;
  int64_t shape[RANK];
  int32_t digits[2 * RANK], axis;
  for (int d = 0; d < RANK; d++) shape[d] = 3;
  OK(tesela_layout_strided(&src, TESELA_U8, 8, RANK, shape, NULL, 0, &e_));
  OK(tesela_layout_begin(&dst, TESELA_U8, 8, RANK, shape, &e_));
  for (int d = 0; d < RANK; d++) {
    digits[d] = d;
    OK(tesela_layout_split(&dst, d, 2, &digits[RANK + d], &e_));
  }
  OK(tesela_layout_add_axis(&dst, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(&dst, 2 * RANK, digits, axis, 1, NULL, &e_));
  OK(tesela_layout_finish(&dst, &e_));
  int64_t *dst_table = table_of(&dst), *src_table = table_of(&src);
  job j = {"partial tiles", dst.axis[0].extent, src.axis[0].extent, dst_table, src_table, 1, {0}};
  tesela_plan *plan = NULL;
  OK(tesela_plan_create(&plan, &dst, &src, &j.options, &e_));
  run_both_ways(&j, plan);
  tesela_plan_destroy(plan);
  free(dst_table);
  free(src_table);
}

/* ---- scratch ---------------------------------------------------------------------------------------------- */

/* One bit for each unit of neighbours that stay together. */
static void scratch_is_a_bit_for_each_unit(void **state) {
  (void)state;
  static const struct {
    const char *name, *dst, *src;
    int64_t bytes;
  } sizes[] = {
      {"128 neighbours of 32768", "f32[128,256]{1,0:T(8,128)}", "f32[128,256]{1,0}", 32768 / 128 / 8},
      {"matrices of 4 whole tiles, 15 of them", "f32[5,3,32,128]{3,2,0,1:T(8,128)}",
       "f32[5,3,32,128]{3,2,1,0:T(8,128)}", 2},
      {"8 neighbours: what 200 and 128 have in common", "f32[8,200]{1,0:T(8,128)}", "f32[8,200]{1,0}",
       2048 / 8 / 8},
      {"single elements", "u8[100,100]{0,1}", "u8[100,100]{1,0}", 10000 / 8},
      {"everything", "f32[100,100]{1,0}", "f32[100,100]{1,0}", 1},
  };
  for (size_t r = 0; r < sizeof sizes / sizeof sizes[0]; r++) {
    tesela_layout dst = layout_of(sizes[r].dst), src = layout_of(sizes[r].src);
    tesela_plan *plan = NULL;
    tesela_plan_info info;
    OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
    tesela_plan_describe(plan, &info);
    AGREE(sizes[r].name, info.in_place_scratch_bytes, sizes[r].bytes);
    tesela_plan_destroy(plan);
  }
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

static tesela_layout vector(int32_t bits, int64_t n, int64_t stride, int64_t copies) {
  tesela_layout layout;
  int32_t axis, replica;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, bits, 1, &n, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place(&layout, 0, axis, stride, &e_));
  if (copies > 1) {
    OK(tesela_layout_add_digit(&layout, TESELA_REPLICA, copies, &replica, &e_));
    OK(tesela_layout_place(&layout, replica, axis, n * stride, &e_));
  }
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

static void what_is_no_permutation_is_refused(void **state) {
  (void)state;
  struct {
    const char *name;
    tesela_layout dst, src;
    tesela_transform transform;
  } refused[] = {
      {"replicas in dst", vector(32, 6, 1, 2), vector(32, 6, 1, 1), TESELA_TRANSFORM_NONE},
      {"replicas in src", vector(32, 6, 1, 1), vector(32, 6, 1, 2), TESELA_TRANSFORM_NONE},
      {"a broadcast in src", vector(32, 6, 1, 1), vector(32, 6, 0, 1), TESELA_TRANSFORM_NONE},
      {"4 bits", vector(4, 6, 1, 1), vector(4, 6, 2, 1), TESELA_TRANSFORM_NONE},
      {"1 bit", vector(1, 6, 1, 1), vector(1, 6, 1, 1), TESELA_TRANSFORM_NONE},
      {"wider", vector(32, 6, 1, 1), vector(16, 6, 1, 1), TESELA_TRANSFORM_CONVERT},
      {"narrower", vector(16, 6, 1, 1), vector(32, 6, 1, 1), TESELA_TRANSFORM_CONVERT},
  };
  refused[5].dst.dtype = refused[6].src.dtype = TESELA_F32;
  refused[5].src.dtype = refused[6].dst.dtype = TESELA_BF16;
  for (size_t r = 0; r < sizeof refused / sizeof refused[0]; r++) {
    unsigned char buffer[64], same[64];
    tesela_plan_options options = {.transform = refused[r].transform};
    tesela_plan *plan = NULL;
    tesela_plan_info info;
    tesela_error err;
    OK(tesela_plan_create(&plan, &refused[r].dst, &refused[r].src, &options, &e_));
    tesela_plan_describe(plan, &info);
    AGREE(refused[r].name, info.in_place, false);
    AGREE(refused[r].name, info.in_place_scratch_bytes, 0);
    memset(buffer, 0x5a, sizeof buffer);
    memset(same, 0x5a, sizeof same);
    AGREE(refused[r].name, tesela_plan_run_in_place(plan, buffer, NULL, NULL, &err), TESELA_E_UNSUPPORTED);
    assert_memory_equal(buffer, same, sizeof buffer);
    tesela_plan_destroy(plan);
  }
}

/* A dim of 6 split by 2, where the larger part adds nothing: elements 0, 2 and 4 share a place. */
static void a_partial_broadcast_in_src_is_refused(void **state) {
  (void)state;
  const int64_t n = 6;
  tesela_layout src, dst = vector(32, n, 1, 1);
  tesela_plan *plan = NULL;
  unsigned char buffer[64] = {0};
  int32_t lo, axis;
  OK(tesela_layout_begin(&src, TESELA_DTYPE_NONE, 32, 1, &n, &e_));
  OK(tesela_layout_split(&src, 0, 2, &lo, &e_));
  OK(tesela_layout_add_axis(&src, "memory", &axis, &e_));
  OK(tesela_layout_place(&src, 0, axis, 0, &e_));
  OK(tesela_layout_place(&src, lo, axis, 1, &e_));
  OK(tesela_layout_finish(&src, &e_));
  OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
  AGREE("shared", tesela_plan_run_in_place(plan, buffer, NULL, NULL, NULL), TESELA_E_UNSUPPORTED);
  tesela_plan_destroy(plan);
}

/* Windows of 3 that start one place apart. */
static void windows_in_src_are_refused(void **state) {
  (void)state;
  const int64_t shape[] = {4, 3}, overlapping[] = {1, 1};
  tesela_layout src, dst;
  tesela_plan *plan = NULL;
  unsigned char buffer[64] = {0};
  OK(tesela_layout_strided(&src, TESELA_DTYPE_NONE, 32, 2, shape, overlapping, 0, &e_));
  OK(tesela_layout_strided(&dst, TESELA_DTYPE_NONE, 32, 2, shape, NULL, 0, &e_));
  OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
  AGREE("windows", tesela_plan_run_in_place(plan, buffer, NULL, NULL, NULL), TESELA_E_UNSUPPORTED);
  tesela_plan_destroy(plan);
}

/* ---- progress --------------------------------------------------------------------------------------------- */

typedef struct watch {
  int calls, stop_at;
  int64_t last, total;
} watch;

static int watch_progress(void *user, int64_t done, int64_t total) {
  watch *w = user;
  assert_true(done >= w->last && done <= total);
  assert_int_equal(total, w->total);
  w->last = done;
  return ++w->calls == w->stop_at;
}

static void progress_is_told_and_may_stop(void **state) {
  (void)state;
  enum { ROWS = 300, COLS = 701 };
  tesela_layout dst = layout_of("u8[300,701]{0,1}"), src = layout_of("u8[300,701]{1,0}");
  unsigned char *buffer = malloc(ROWS * COLS), *scratch = malloc(ROWS * COLS);
  assert_true(buffer && scratch);
  tesela_plan *plan = NULL;
  OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
  for (int marks = 0; marks < 2; marks++)
    for (int stop_at = 0; stop_at < 3; stop_at++) {
      watch w = {.stop_at = stop_at, .total = ROWS * COLS};
      const tesela_run_options options = {.progress = watch_progress, .progress_user = &w};
      for (int p = 0; p < ROWS * COLS; p++) buffer[p] = value_byte(p, 0);
      tesela_status status = tesela_plan_run_in_place(plan, buffer, marks ? scratch : NULL, &options, NULL);
      AGREE("status", status, stop_at ? TESELA_E_STOPPED : TESELA_OK);
      if (stop_at)
        assert_int_equal(w.calls, stop_at);
      else
        assert_true(w.calls > 2);
      for (int p = 0; p < ROWS * COLS && !stop_at; p++)
        assert_int_equal(buffer[p], value_byte(p % ROWS * COLS + p / ROWS, 0));
    }
  tesela_plan_destroy(plan);
  free(buffer);
  free(scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_agree_with_the_definition),
      cmocka_unit_test(random_pairs_agree_with_the_definition),
      cmocka_unit_test(more_partial_tiles_than_a_plan_has_pieces),
      cmocka_unit_test(scratch_is_a_bit_for_each_unit),
      cmocka_unit_test(what_is_no_permutation_is_refused),
      cmocka_unit_test(a_partial_broadcast_in_src_is_refused),
      cmocka_unit_test(windows_in_src_are_refused),
      cmocka_unit_test(progress_is_told_and_may_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
