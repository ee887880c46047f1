/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_relayout_draw.c - pairs of layouts of every kind, drawn from bytes.
 *
 * A side starts as the list of its dims, outermost first. Operations change the list: another order, tiles (of one or
 * several levels, with joined dims), blocks, sticks, replicas and holes. Then each entry of the list gets a stride:
 * row-major, with gaps, negative, windows (not for dst), and for src also 0. Shared by tests and fuzzer.
 */
#include "support_relayout.h"

uint64_t mixed(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

int64_t draw(draws *d, int64_t n) {
  uint64_t x = 0;
  for (int64_t room = 1; room < n; room *= 256) x = x << 8 | (d->at < d->n ? d->data[d->at++] : 0);
  return (int64_t)(x % (uint64_t)n);
}

/* ---- one side ------------------------------------------------------------------------------------------ */

enum { MOST_ENTRIES = 48 };

typedef struct side {
  tesela_layout layout;
  draws *d;
  bool is_dst;
  int64_t most; /* places */
  int n;
  struct {
    int32_t digit;
    int64_t extent;
    bool replica;
  } entry[MOST_ENTRIES];
} side;

static int64_t places_of(const side *s) {
  int64_t n = 1;
  for (int i = 0; i < s->n; i++) n *= s->entry[i].extent > 0 ? s->entry[i].extent : 1;
  return n;
}

static void insert_entry(side *s, int at, int32_t digit, int64_t extent, bool replica) {
  for (int i = s->n++; i > at; i--) s->entry[i] = s->entry[i - 1];
  s->entry[at].digit = digit;
  s->entry[at].extent = extent;
  s->entry[at].replica = replica;
}

static void move_entry(side *s, int from, int to) {
  int32_t digit = s->entry[from].digit;
  int64_t extent = s->entry[from].extent;
  bool replica = s->entry[from].replica;
  for (int i = from; i + 1 < s->n; i++) s->entry[i] = s->entry[i + 1];
  s->n--;
  insert_entry(s, to, digit, extent, replica);
}

/* Split entry `at` by t; the low part becomes entry `to` of the new list. False without room. */
static bool split_entry(side *s, int at, int64_t t, int to) {
  int32_t low;
  int64_t extent = s->entry[at].extent, high = (extent + t - 1) / t;
  if (s->n == MOST_ENTRIES || s->entry[at].replica) return false;
  if (places_of(s) / (extent > 0 ? extent : 1) > s->most / (high > 0 ? high * t : t)) return false;
  if (tesela_layout_split(&s->layout, s->entry[at].digit, t, &low, NULL) != TESELA_OK) return false;
  s->entry[at].extent = high;
  insert_entry(s, to, low, t, false);
  return true;
}

static void shuffle_entries(side *s) {
  for (int i = s->n - 1; i > 0; i--) move_entry(s, (int)draw(s->d, i + 1), i);
}

static void join_entries(side *s, int first, int n) {
  int32_t digits[MOST_ENTRIES], joined;
  int64_t extent = 1;
  for (int i = 0; i < n; i++) {
    if (s->entry[first + i].replica) return;
    digits[i] = s->entry[first + i].digit;
    extent *= s->entry[first + i].extent;
  }
  if (tesela_layout_join(&s->layout, n, digits, &joined, NULL) != TESELA_OK) return;
  for (int i = 1; i < n; i++) { /* the others leave the list */
    move_entry(s, first + 1, s->n - 1);
    s->n--;
  }
  s->entry[first].digit = joined;
  s->entry[first].extent = extent;
}

static int64_t draw_factor(side *s) {
  static const int64_t factor[] = {2, 3, 4, 8, 16, 7, 64, 5, 128, 1, 6, 32, 12, 65, 24, 17};
  return factor[draw(s->d, sizeof factor / sizeof factor[0])];
}

/* XLA's: the last dims of the list are split, and their low parts appended. Sometimes also the packing level (k,1). */
static void add_tile(side *s) {
  static const int64_t known[][2] = {{8, 128}, {2, 2},  {4, 8},   {16, 16},
                                     {2, 128}, {1, 64}, {32, 32}, {8, 16}};
  int rank = 1 + (int)draw(s->d, s->n < 3 ? s->n : 3), which = (int)draw(s->d, 12), at = s->n - rank;
  if (rank == 2 && which < 8) {
    if (!split_entry(s, at, known[which][0], s->n)) return;
    (void)split_entry(s, at + 1, known[which][1], s->n);
  } else {
    for (int i = 0; i < rank; i++)
      if (!split_entry(s, at + i, draw_factor(s), s->n)) return;
  }
  if (s->n >= 2 && draw(s->d, 3) == 1) { /* (k,1): the 1 appends nothing visible */
    static const int64_t pack[] = {2, 4, 8, 3};
    (void)split_entry(s, s->n - 2, pack[draw(s->d, 4)], s->n);
  }
}

static void change_list(side *s) {
  int32_t digit;
  int at = s->n > 0 ? (int)draw(s->d, s->n) : 0;
  int64_t extent;
  switch (s->n > 0 ? draw(s->d, 12) : 8) {
  case 0:
  case 1:
  case 2:
    add_tile(s);
    break;
  case 3:
    (void)split_entry(s, at, draw_factor(s), s->n);
    break; /* a block */
  case 4:  /* a stick: the high part moves too */
    if (split_entry(s, at, draw_factor(s), s->n)) move_entry(s, at, (int)draw(s->d, s->n - 1));
    break;
  case 5:
    (void)split_entry(s, at, draw_factor(s), at + 1);
    break; /* no effect, unless something follows */
  case 6:
    if (at + 1 < s->n) join_entries(s, at, 2 + (int)draw(s->d, s->n - at - 1 < 3 ? s->n - at - 1 : 3));
    break;
  case 7:
    if (at + 1 >= s->n) break;
    join_entries(s, at, 2);
    (void)split_entry(s, at, draw_factor(s), (int)draw(s->d, 2) ? s->n : at + 1);
    break;
  case 8: /* a hole or a replica */
    extent = 2 + draw(s->d, 3);
    if (s->n == MOST_ENTRIES || places_of(s) > s->most / extent) break;
    bool replica = draw(s->d, 2) == 1;
    if (tesela_layout_add_digit(&s->layout, replica ? TESELA_REPLICA : TESELA_HOLE, extent, &digit, NULL) ==
        TESELA_OK)
      insert_entry(s, s->n ? (int)draw(s->d, s->n + 1) : 0, digit, extent, replica);
    break;
  default:
    shuffle_entries(s);
    break;
  }
}

/* Strides from the last entry to the first. */
static int64_t place_entries(side *s, int32_t axis) {
  int64_t stride = 1, offset = 0;
  bool gaps = draw(s->d, 5) == 1, odd = draw(s->d, 5) == 1; /* odd: 0, windows, negative */
  if (gaps) stride += draw(s->d, 3);
  for (int i = s->n - 1; i >= 0; i--) {
    int64_t extent = s->entry[i].extent > 0 ? s->entry[i].extent : 1, here = stride;
    int64_t choice = odd ? draw(s->d, 8) : 0;
    stride *= extent;
    if (gaps) stride += draw(s->d, 6);
    if (!s->is_dst && !s->entry[i].replica && choice == 1) here = 0;
    if (choice == 2 && (!s->is_dst || draw(s->d, 4) == 1)) here = 1 + draw(s->d, 9);
    if (choice >= 5 && (choice == 5 || !s->is_dst)) {
      offset += here * (extent - 1);
      here = -here;
    }
    if (tesela_layout_place(&s->layout, s->entry[i].digit, axis, here, NULL) != TESELA_OK) abort();
  }
  return offset;
}

static void add_swizzle(side *s, int32_t axis) {
  tesela_swizzle x = {.axis = (int16_t)axis};
  x.bits = (int16_t)(1 + draw(s->d, 3));
  x.base = (int16_t)draw(s->d, 4);
  x.shift = (int16_t)(x.bits + draw(s->d, 3));
  if (draw(s->d, 2)) x.shift = (int16_t)-x.shift;
  if (tesela_layout_add_swizzle(&s->layout, x, NULL) != TESELA_OK) abort();
}

static void change_some(side *s, draws *d) {
  static const int changes[] = {0, 1, 2, 0, 1, 3, 2, 4, 1, 6};
  s->d = d;
  for (int left = changes[draw(d, 10)]; left > 0; left--) change_list(s);
}

/* dst; or src, which sometimes starts with the draws that changed dst's list. False if it cannot be finished. */
static bool draw_side(draws *d, const draws *of_dst, int64_t most, tesela_dtype dtype, int32_t bits,
                      int32_t rank, const int64_t *shape, tesela_layout *out) {
  side s = {.is_dst = !of_dst, .most = most};
  int32_t axis;
  if (tesela_layout_begin(&s.layout, dtype, bits, rank, shape, NULL) != TESELA_OK) return false;
  for (int32_t i = 0; i < rank; i++) insert_entry(&s, s.n, i, shape[i], false);
  bool alike = of_dst && draw(d, 5) == 1;
  if (alike) {
    draws again = *of_dst;
    change_some(&s, &again);
  }
  if (!alike || draw(d, 3) == 1) change_some(&s, d);
  s.d = d;
  if (tesela_layout_add_axis(&s.layout, "memory", &axis, NULL) != TESELA_OK) return false;
  int64_t offset = place_entries(&s, axis);
  if (draw(d, 5) == 1) offset += draw(d, 40);
  if (draw(d, 14) == 1) add_swizzle(&s, axis);
  if (tesela_layout_set_axis(&s.layout, axis, offset, -1, NULL) != TESELA_OK) return false;
  *out = s.layout;
  if (tesela_layout_finish(out, NULL) != TESELA_OK) return false;
  if (draw(d, 6) != 1) return true;
  int64_t extent = out->axis[axis].extent + draw(d, 200); /* with places after the elements */
  *out = s.layout;
  return tesela_layout_set_axis(out, axis, offset, extent, NULL) == TESELA_OK &&
         tesela_layout_finish(out, NULL) == TESELA_OK;
}

/* ---- both ---------------------------------------------------------------------------------------------- */

static int64_t draw_extent(draws *d, int64_t room) {
  static const int64_t extent[] = {1,  2,  3,  4,  5,  7,  8,   9,   13,  15,  16,  17,  31,  32,   33,
                                   63, 64, 65, 67, 96, 97, 127, 128, 129, 200, 255, 256, 257, 1000, 1021};
  int64_t n = sizeof extent / sizeof extent[0];
  if (draw(d, 80) == 79) return 0;
  while (n > 1 && extent[n - 1] > room) n--;
  return extent[draw(d, n)];
}

static int32_t draw_shape(draws *d, int64_t most, int64_t *shape) {
  static const int32_t ranks[] = {2, 1, 3, 2, 4, 3, 2, 5, 0, 3, 6, 2, 7, 8, 2, 3};
  int32_t rank = ranks[draw(d, 16)];
  for (int32_t i = 0; i < rank; i++) {
    int64_t room = most;
    while (i + 1 < rank && room * room > most && draw(d, 2)) room /= 4; /* leave some for the others */
    shape[i] = draw_extent(d, room < 2 ? 2 : room);
    if (shape[i] > 1) most /= shape[i];
  }
  for (int32_t i = rank - 1; i > 0; i--) { /* so that the large ones are anywhere */
    int32_t other = (int32_t)draw(d, i + 1);
    int64_t x = shape[i];
    shape[i] = shape[other];
    shape[other] = x;
  }
  return rank;
}

static const struct {
  tesela_transform transform;
  tesela_dtype dst;
  int32_t dst_bits;
  tesela_dtype src;
  int32_t src_bits;
} transform_rows[] = {
    {TESELA_TRANSFORM_CONVERT, TESELA_BF16, 16, TESELA_F32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_BF16, 16},
    {TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_F32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F16, 16},
    {TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S8, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_S8, 8, TESELA_S4, 4},
    {TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_F64, 64},
    {TESELA_TRANSFORM_CONVERT, TESELA_F64, 64, TESELA_F32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_S4, 4, TESELA_S4, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_S4, 8, TESELA_S4, 4},
    {TESELA_TRANSFORM_CONVERT, TESELA_U4, 4, TESELA_U4, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_U4, 8, TESELA_U4, 4},
    {TESELA_TRANSFORM_CONVERT, TESELA_S2, 2, TESELA_S2, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_S2, 8, TESELA_S2, 2},
    {TESELA_TRANSFORM_CONVERT, TESELA_U2, 2, TESELA_U2, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_U2, 8, TESELA_U2, 2},
    {TESELA_TRANSFORM_CONVERT, TESELA_S1, 1, TESELA_S1, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_S1, 8, TESELA_S1, 1},
    {TESELA_TRANSFORM_CONVERT, TESELA_U1, 1, TESELA_U1, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_U1, 8, TESELA_U1, 1},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 1, TESELA_PRED, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_PRED, 1},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 32, TESELA_PRED, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_PRED, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 32, TESELA_PRED, 1},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 1, TESELA_PRED, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_S32, 32, TESELA_S32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_BF16, 16, TESELA_F16, 16},
    {TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_BF16, 16},
    {TESELA_TRANSFORM_CONVERT, TESELA_F16, 16, TESELA_PRED, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_F16, 16},
    {TESELA_TRANSFORM_CONVERT, TESELA_BF16, 16, TESELA_PRED, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_BF16, 16},
    {TESELA_TRANSFORM_CONVERT, TESELA_F32, 32, TESELA_PRED, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_PRED, 8, TESELA_F32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_S32, 32, TESELA_S64, 64},
    {TESELA_TRANSFORM_CONVERT, TESELA_S64, 64, TESELA_S32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_S8, 8, TESELA_S32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_S32, 32, TESELA_S8, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_S16, 16, TESELA_S32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_S32, 32, TESELA_S16, 16},
    {TESELA_TRANSFORM_CONVERT, TESELA_U32, 32, TESELA_U64, 64},
    {TESELA_TRANSFORM_CONVERT, TESELA_U64, 64, TESELA_U32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_U8, 8, TESELA_U32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_U32, 32, TESELA_U8, 8},
    {TESELA_TRANSFORM_CONVERT, TESELA_U16, 16, TESELA_U32, 32},
    {TESELA_TRANSFORM_CONVERT, TESELA_U32, 32, TESELA_U16, 16},
    {TESELA_TRANSFORM_SWAP, TESELA_F16, 16, TESELA_F16, 16},
    {TESELA_TRANSFORM_SWAP, TESELA_S32, 32, TESELA_S32, 32},
    {TESELA_TRANSFORM_SWAP, TESELA_F64, 64, TESELA_F64, 64},
    {TESELA_TRANSFORM_SWAP, TESELA_C64, 64, TESELA_C64, 64},
    {TESELA_TRANSFORM_SWAP, TESELA_C128, 128, TESELA_C128, 128},
    {TESELA_TRANSFORM_SWAP, TESELA_DTYPE_NONE, 128, TESELA_DTYPE_NONE, 128},
    {TESELA_TRANSFORM_SPLIT, TESELA_F64, 64, TESELA_F64, 64},
    {TESELA_TRANSFORM_MERGE, TESELA_F64, 64, TESELA_F64, 64},
};

void draw_pair(draws *d, int64_t most, bool transforms, pair *out) {
  static const int32_t widths[] = {8, 32, 16, 64, 4, 128, 1, 2};
  static const int64_t sizes[] = {64, 600, 200, 5000, 5000, 600, 60000, 64, MOST_ELEMENTS};
  static const tesela_fill fills[] = {TESELA_FILL_ZERO, TESELA_FILL_VALUE, TESELA_FILL_LEAVE};
  int64_t shape[TESELA_MAX_RANK], size = sizes[draw(d, draw(d, 8) == 1 ? 9 : 6)];
  memset(out, 0, sizeof *out);
  if (size > most) size = most;
  tesela_dtype dst = TESELA_DTYPE_NONE, src = TESELA_DTYPE_NONE;
  int32_t dst_bits = widths[draw(d, 8)], src_bits = dst_bits;
  if (transforms && draw(d, 4) == 1) {
    int64_t row = draw(d, sizeof transform_rows / sizeof transform_rows[0]);
    out->transform = transform_rows[row].transform;
    dst = transform_rows[row].dst;
    src = transform_rows[row].src;
    dst_bits = transform_rows[row].dst_bits;
    src_bits = transform_rows[row].src_bits;
    if (size > 20000) size = 20000; /* the oracle converts slowly */
  }
  int32_t rank = draw_shape(d, size, shape);
  int64_t places = 8 * size + 4096;
  draws of_dst = *d;
  if (!draw_side(d, NULL, places, dst, dst_bits, rank, shape, &out->dst) ||
      !draw_side(d, &of_dst, places, src, src_bits, rank, shape, &out->src))
    abort(); /* a fault in the drawing */
  out->fill = fills[draw(d, 3)];
  for (int i = 0; i < 16; i++) out->fill_value[i] = (uint8_t)(0xa1 + 7 * i);
}
