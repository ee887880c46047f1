/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_draw.c - draw pairs of layouts: a shape of about the wanted size, then the digits of each side, outermost first.
 */
#include "sweep_draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "race.h"

typedef struct drawing {
  uint64_t state;
  double elements; /* about as many */
  int64_t room;    /* most bytes of a side */
  bench_pair *pair;
} drawing;

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static uint64_t next(drawing *d) { /* splitmix64 */
  uint64_t x = d->state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static int64_t below(drawing *d, int64_t n) { return (int64_t)(next(d) % (uint64_t)n); }
static int64_t between(drawing *d, int64_t low, int64_t high) { return low + below(d, high - low + 1); }
static double fraction(drawing *d) { return (double)(next(d) >> 11) / 9007199254740992.0; }
static bool chance(drawing *d, int per_cent) { return below(d, 100) < per_cent; }

#define PICK(d, list) ((list)[below((d), (int64_t)(sizeof(list) / sizeof((list)[0])))])

static void draw_width(drawing *d, double bytes) {
  static const int32_t widths[] = {8,  8,  8,  16, 16, 16, 16, 16, 32, 32,
                                   32, 32, 32, 32, 32, 32, 64, 64, 64, 128};
  d->pair->bits = PICK(d, widths);
  d->elements = bytes * 8 / d->pair->bits;
}

/* An extent of about x: a power of two, a multiple of 16, or any number. */
static int64_t round_extent(double x, int style) {
  if (x < 2) return x < 1.3 ? 1 : 2;
  if (style == 0) return (int64_t)1 << lrint(log2(x));
  if (style == 1 && x >= 16) return lrint(x / 16) * 16;
  return lrint(x);
}

/* `rank` extents from dim `first` on that multiply to about `elements`. */
static void draw_extents(drawing *d, int32_t first, int32_t rank, double elements) {
  double part[SIDE_RANK], sum = 0;
  const int64_t kind = below(d, 100);
  const int style = kind < 25 ? 0 : kind < 60 ? 1 : 2;
  for (int32_t i = 0; i < rank; i++) sum += part[i] = 0.15 - log(1 - 0.98 * fraction(d));
  double left = elements;
  for (int32_t i = 0; i < rank; i++) {
    int64_t *extent = &d->pair->shape[first + i];
    *extent = round_extent(i == rank - 1 ? left : pow(elements, part[i] / sum), style);
    left /= (double)*extent;
  }
  for (int32_t i = rank - 1; i > 0; i--) { /* the exact rest is anywhere */
    int32_t j = (int32_t)below(d, i + 1);
    int64_t x = d->pair->shape[first + i];
    d->pair->shape[first + i] = d->pair->shape[first + j];
    d->pair->shape[first + j] = x;
  }
}

static void round_up(int64_t *extent, int64_t multiple) {
  *extent = (*extent + multiple - 1) / multiple * multiple;
}

/* ---- digits ---------------------------------------------------------------------------------------------------- */

static void add(bench_side *side, int64_t dim, int64_t step) {
  side->digit[side->n++] = (side_digit){.dim = dim, .step = step};
}

/* Extents from steps: a digit reaches up to the next larger step of its dim, the largest one to the end. */
static void set_extents(const bench_pair *pair, bench_side *side) {
  for (int i = 0; i < side->n; i++) {
    side_digit *g = &side->digit[i];
    int64_t upper = INT64_MAX;
    for (int k = 0; k < side->n; k++)
      if (side->digit[k].dim == g->dim && side->digit[k].step > g->step && side->digit[k].step < upper)
        upper = side->digit[k].step;
    int64_t room = upper == INT64_MAX ? pair->shape[g->dim] : upper;
    g->extent = (room + g->step - 1) / g->step;
  }
  side_pack(side);
}

/* The dims in order, or in another one. */
static void add_dims(drawing *d, bench_side *side, bool ordered) {
  int64_t order[SIDE_RANK];
  for (int64_t i = 0; i < d->pair->rank; i++) order[i] = i;
  for (int64_t i = d->pair->rank - 1; i > 0 && !ordered; i--) {
    int64_t j = below(d, i + 1), x = order[i];
    order[i] = order[j];
    order[j] = x;
  }
  for (int32_t i = 0; i < d->pair->rank; i++) add(side, order[i], 1);
}

/* Tiles of a x b over two dims, a second level of (k,1) if k > 1, which divides a; the dims before them in order. */
typedef struct tile {
  int64_t a, b, k;
} tile;

static void add_tiles(bench_pair *pair, bench_side *side, bool swapped, tile t) {
  int64_t rows = pair->rank - 2, cols = pair->rank - 1;
  if (swapped) rows = pair->rank - 1, cols = pair->rank - 2;
  for (int32_t i = 0; i < pair->rank - 2; i++) add(side, i, 1);
  add(side, rows, t.a);
  add(side, cols, t.b);
  if (t.k < t.a) add(side, rows, t.k);
  if (t.b > 1) add(side, cols, 1);
  if (t.k > 1) add(side, rows, 1);
}

static tile draw_one_tile(drawing *d) {
  static const tile known[] = {{8, 128, 1}, {8, 128, 1}, {16, 128, 1}, {2, 128, 1}, {4, 128, 1}, {4, 4, 1},
                               {8, 8, 1},   {16, 16, 1}, {32, 32, 1},  {64, 64, 1}, {8, 16, 1},  {32, 8, 1},
                               {1, 64, 1},  {16, 64, 1}, {8, 128, 2},  {8, 128, 4}, {16, 128, 2}};
  tile t = PICK(d, known);
  if (chance(d, 20)) t = (tile){INT64_C(1) << between(d, 1, 7), INT64_C(1) << between(d, 1, 8), 1};
  if (chance(d, 15) && t.a % 4 == 0) t.k = d->pair->bits == 8 ? 4 : 2;
  return t;
}

static void draw_leading(drawing *d) { /* 0 to 2 dims before the tiled ones */
  static const int32_t ranks[] = {2, 2, 2, 3, 3, 4};
  d->pair->rank = PICK(d, ranks);
  draw_extents(d, 0, d->pair->rank, d->elements);
}

static void swap_sides(bench_pair *pair) {
  bench_side side = pair->dst;
  pair->dst = pair->src;
  pair->src = side;
}

/* ---- classes --------------------------------------------------------------------------------------------------- */

static void draw_permute(drawing *d) {
  static const int32_t ranks[] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8};
  d->pair->rank = PICK(d, ranks);
  draw_extents(d, 0, d->pair->rank, d->elements);
  add_dims(d, &d->pair->src, true);
  add_dims(d, &d->pair->dst, false);
}

static void draw_tiled(drawing *d, bool whole) {
  const tile t = draw_one_tile(d);
  const bool swapped = chance(d, 15);
  draw_leading(d);
  if (whole) {
    round_up(&d->pair->shape[d->pair->rank - 2], swapped ? t.b : t.a);
    round_up(&d->pair->shape[d->pair->rank - 1], swapped ? t.a : t.b);
  }
  add_tiles(d->pair, &d->pair->dst, swapped, t);
  add_dims(d, &d->pair->src, chance(d, 80));
  if (chance(d, 45)) swap_sides(d->pair);
}

static void draw_tile(drawing *d) { draw_tiled(d, true); }

static void draw_retile(drawing *d) {
  const tile from = draw_one_tile(d), to = draw_one_tile(d);
  const bool swapped = chance(d, 50);
  draw_leading(d);
  for (int32_t i = d->pair->rank - 2; i < d->pair->rank; i++) {
    bool first = i == d->pair->rank - 2;
    round_up(&d->pair->shape[i], first ? from.a : from.b);
    round_up(&d->pair->shape[i], first != swapped ? to.a : to.b);
  }
  add_tiles(d->pair, &d->pair->src, false, from);
  add_tiles(d->pair, &d->pair->dst, swapped, to);
}

static void draw_unnested(drawing *d) {
  static const int64_t rows[] = {3, 5, 6, 7, 9, 10, 12, 20}, cols[] = {20, 30, 48, 50, 96, 100, 120, 200};
  const tile odd = {PICK(d, rows), PICK(d, cols), 1};
  tile other = draw_one_tile(d);
  if (chance(d, 30)) other = (tile){PICK(d, rows), PICK(d, cols), 1};
  draw_leading(d);
  add_tiles(d->pair, &d->pair->src, false, odd);
  add_tiles(d->pair, &d->pair->dst, chance(d, 40), other);
  if (chance(d, 50)) swap_sides(d->pair);
}

/* Dim 1 (or dims 0 and 1) in blocks that are innermost; the other side in order, or with dim 1 last. */
static void draw_blocked(drawing *d, bool whole) {
  static const int64_t blocks[] = {4, 8, 8, 16, 16, 16, 32, 64};
  bench_pair *pair = d->pair;
  const int64_t block = PICK(d, blocks), second = chance(d, 30) ? PICK(d, blocks) : 1;
  pair->rank = (int32_t)between(d, 3, 5);
  draw_extents(d, 0, pair->rank, d->elements);
  if (whole) {
    round_up(&pair->shape[1], block);
    round_up(&pair->shape[0], second);
  }
  add(&pair->dst, 0, second);
  add(&pair->dst, 1, block);
  for (int32_t i = 2; i < pair->rank; i++) add(&pair->dst, i, 1);
  const bool flip = chance(d, 50);
  if (second > 1 && flip) add(&pair->dst, 0, 1);
  add(&pair->dst, 1, 1);
  if (second > 1 && !flip) add(&pair->dst, 0, 1);
  const bool last = chance(d, 30);
  for (int32_t i = 0; i < pair->rank; i++)
    if (i != 1 || !last) add(&pair->src, i, 1);
  if (last) add(&pair->src, 1, 1);
  if (chance(d, 45)) swap_sides(pair);
}

static void draw_block(drawing *d) { draw_blocked(d, true); }

static void draw_pad(drawing *d) {
  int64_t kind = below(d, 3);
  if (kind == 0) {
    draw_tiled(d, false);
  } else if (kind == 1) {
    draw_blocked(d, false);
  } else { /* sticks of 128 bytes */
    const int64_t lanes = 1024 / d->pair->bits;
    draw_leading(d);
    add(&d->pair->dst, d->pair->rank - 1, lanes);
    for (int32_t i = 0; i < d->pair->rank - 1; i++) add(&d->pair->dst, i, 1);
    add(&d->pair->dst, d->pair->rank - 1, 1);
    add_dims(d, &d->pair->src, chance(d, 80));
    if (chance(d, 45)) swap_sides(d->pair);
  }
}

static void draw_bits(drawing *d) {
  static const int32_t widths[] = {4, 4, 4, 2, 1};
  d->elements *= d->pair->bits;
  d->pair->bits = PICK(d, widths);
  d->elements /= d->pair->bits;
  if (chance(d, 40)) {
    draw_permute(d);
  } else {
    tile t = draw_one_tile(d);
    if (t.k > 1 && t.a % 8 == 0) t.k = 8;
    draw_leading(d);
    add_tiles(d->pair, &d->pair->dst, false, t);
    add_dims(d, &d->pair->src, chance(d, 80));
    if (chance(d, 45)) swap_sides(d->pair);
  }
}

static void draw_fields(drawing *d) {
  bench_pair *pair = d->pair;
  const int64_t n = chance(d, 70) ? between(d, 2, 8) : between(d, 9, 24);
  const bool batch = chance(d, 40);
  pair->rank = batch ? 3 : 2;
  draw_extents(d, 0, pair->rank - 1, d->elements / (double)n);
  pair->shape[pair->rank - 1] = n;
  add_dims(d, &pair->src, true);
  for (int32_t i = 0; i < pair->rank - 2; i++) add(&pair->dst, i, 1);
  add(&pair->dst, pair->rank - 1, 1);
  add(&pair->dst, pair->rank - 2, 1);
  if (chance(d, 50)) swap_sides(pair);
}

/* One field of structs, or an array with a step, from an end, repeated, or a box in a larger one. `of_dst`: only what gives each
 * element its own place. */
static void spread(drawing *d, bench_side *side, bool of_dst) {
  const int64_t elements = d->room / d->pair->bits * 8;
  int64_t stride = chance(d, 15) ? between(d, 2, 16) : 1, base = 0;
  const int sliced = (int)below(d, side->n), kind = (int)below(d, of_dst ? 2 : 4);
  const bool field = stride > 1;
  for (int i = side->n - 1; i >= 0; i--) {
    side_digit *g = &side->digit[i];
    const bool here = i == sliced && !field;
    int64_t step = here && kind == 0 ? between(d, 2, 5) : 1,
            margin = here && kind == 1 ? between(d, 1, 64) : 0;
    g->stride = stride * step;
    base += stride * (margin ? below(d, margin + 1) : 0);
    if (here && kind == 3) {
      g->stride = 0;
      continue;
    }
    stride *= step * g->extent + margin;
    if (here && kind == 2) g->stride = -g->stride;
  }
  side->offset = base;
  if (stride + base <= elements) return;
  side->offset = 0;
  side_pack(side);
}

static void draw_view(drawing *d) {
  bench_pair *pair = d->pair;
  const int64_t where = below(d, 100);
  pair->rank = (int32_t)between(d, 1, 4);
  draw_extents(d, 0, pair->rank, d->elements);
  add_dims(d, &pair->src, true);
  add_dims(d, &pair->dst, chance(d, 75));
  set_extents(pair, &pair->src);
  set_extents(pair, &pair->dst);
  if (where < 85) spread(d, &pair->src, false);
  if (where >= 75) spread(d, &pair->dst, true);
}

static void draw_in_place(drawing *d) {
  bench_pair *pair = d->pair;
  const int64_t kind = below(d, 4);
  if (kind == 3) { /* tiles that divide */
    draw_tiled(d, true);
    return;
  }
  pair->rank = kind == 2 ? 3 : 2;
  draw_extents(d, 0, pair->rank, d->elements);
  if (kind == 0) {
    pair->shape[0] = (int64_t)sqrt(d->elements) + 1;
    if (chance(d, 60)) round_up(&pair->shape[0], 16);
    pair->shape[1] = pair->shape[0];
  }
  add_dims(d, &pair->src, true);
  for (int32_t i = 0; i < pair->rank - 2; i++) add(&pair->dst, i, 1);
  add(&pair->dst, pair->rank - 1, 1);
  add(&pair->dst, pair->rank - 2, 1);
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  int weight;
  void (*draw)(drawing *d);
  const char *says;
} classes[SWEEP_N_CLASSES] = {
#define SWEEP_ROW(name, weight, draw, says) {#name, weight, draw, says},
    SWEEP_CLASSES(SWEEP_ROW)
#undef SWEEP_ROW
};

const char *sweep_class_name(sweep_class class) { return classes[class].name; }
const char *sweep_class_says(sweep_class class) { return classes[class].says; }
int sweep_class_weight(sweep_class class) { return classes[class].weight; }

static size_t put_side(char *text, size_t n, const bench_side *side) {
  int64_t packed = 1;
  bool row_major = true;
  for (int i = side->n - 1; i >= 0; i--) {
    row_major = row_major && side->digit[i].stride == packed;
    packed *= side->digit[i].extent;
  }
  for (int i = 0; i < side->n && n < SWEEP_TEXT; i++) {
    const side_digit *g = &side->digit[i];
    n += (size_t)snprintf(text + n, SWEEP_TEXT - n, " %" PRId64, g->dim);
    if (g->step > 1 && n < SWEEP_TEXT) n += (size_t)snprintf(text + n, SWEEP_TEXT - n, "/%" PRId64, g->step);
    if (!row_major && n < SWEEP_TEXT) n += (size_t)snprintf(text + n, SWEEP_TEXT - n, "@%" PRId64, g->stride);
  }
  if (side->offset && n < SWEEP_TEXT)
    n += (size_t)snprintf(text + n, SWEEP_TEXT - n, " +%" PRId64, side->offset);
  return n;
}

static void put_text(sweep_pair *p) {
  size_t n = (size_t)snprintf(p->text, SWEEP_TEXT, "%d [", (int)p->pair.bits);
  for (int32_t i = 0; i < p->pair.rank; i++)
    n += (size_t)snprintf(p->text + n, SWEEP_TEXT - n, "%s%" PRId64, i ? "," : "", p->pair.shape[i]);
  n += (size_t)snprintf(p->text + n, SWEEP_TEXT - n, "]");
  n = put_side(p->text, n, &p->pair.dst);
  if (n < SWEEP_TEXT) n += (size_t)snprintf(p->text + n, SWEEP_TEXT - n, " <-");
  if (n < SWEEP_TEXT) put_side(p->text, n, &p->pair.src);
}

static bool fits(const bench_pair *pair, int64_t room) {
  return pair->dst.bytes <= room && pair->src.bytes <= room && pair->dst.bytes > 0 && pair->src.bytes > 0;
}

void sweep_draw(uint64_t seed, sweep_class class, int64_t least, int64_t most, int64_t room,
                sweep_pair *out) {
  drawing d = {.state = seed, .room = room, .pair = &out->pair};
  for (int tries = 0; tries < 1000; tries++) {
    memset(out, 0, sizeof *out);
    int64_t left = below(&d, 100);
    out->class = class;
    for (int i = 0; i < SWEEP_N_CLASSES && class == SWEEP_N_CLASSES; i++)
      if ((left -= classes[i].weight) < 0) class = out->class = (sweep_class)i;
    const double bytes = (double)least * pow((double)most / (double)least, fraction(&d));
    draw_width(&d, bytes);
    classes[out->class].draw(&d);
    if (out->class != SWEEP_view) {
      set_extents(&out->pair, &out->pair.dst);
      set_extents(&out->pair, &out->pair.src);
    }
    side_finish(&out->pair, &out->pair.dst, TESELA_DTYPE_NONE, "dst");
    side_finish(&out->pair, &out->pair.src, TESELA_DTYPE_NONE, "src");
    put_text(out);
    if (fits(&out->pair, room)) return;
  }
  race_fail("no pair of about %" PRId64 " to %" PRId64 " bytes", least, most);
}
