/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_fit.c - extents and strides for the function i -> A(B(i)), or the first coordinate that contradicts.
 *
 * The values at 0, 1, 2, ... leave no choice. Let levels U[0] = 1 | U[1] | ... be known, with the strides f(U[l]); they predict the
 * value of every coordinate. At the first coordinate i whose value differs, i is the next level if it is a multiple of the last one
 * and divides the size of its outer mode. Otherwise no extents and strides agree with the values up to i. Each outer mode begins
 * with a level.
 *
 * The first difference is found without enumeration. Both sides are linear in the digits of i, which are the coordinates of B's
 * leaves, plus multiples of floor(linear / period). On a box of digits where no floor jumps, the difference is linear; other boxes
 * are cut where a floor jumps, or in the middle. Boxes that end in the first leaf come first, then those that end in the second, and so
 * on: a difference is mostly early. Leaves are cut at the levels, so that most floors of the prediction and of A become linear, or cancel.
 */
#include "cute/cute_algebra.h"

/* Every leaf has an extent of 2 or more and the size is at most 2^60, so 60 leaves and 60 floors on each side are enough, and boxes are
 * halved less than 2 * FIT_LEAVES times on the way to one coordinate. At most FIT_JUMPS cuts at jumps are open, FIT_STEPS boxes are seen. */
enum { FIT_LEAVES = 64, FIT_FLOORS = 128, FIT_STEPS = 1 << 18, FIT_EVENTS = 8, FIT_JUMPS = 64 };

/* floor((start + sum of digit[j] * part[j]) / period), part[j] in (-period/2, period/2], times jump. */
typedef struct fit_floor {
  int64_t period, start;
  uint64_t jump; /* differences are computed modulo 2^64: the first one that is not 0 is below 2^63 */
  int64_t part[FIT_LEAVES];
} fit_floor;

typedef struct fit {
  const tesela__cute_function *a;
  int64_t start; /* B(0) */
  int32_t n;     /* leaves of B, cut at levels */
  int64_t extent[FIT_LEAVES], stride[FIT_LEAVES],
      weight[FIT_LEAVES]; /* x = start + digits * stride; i = digits * weight */
  int32_t n_modes;
  int64_t mode[TESELA_CUTE_LEAVES + 1]; /* sizes of the outer modes before each one; the size of B */
  int32_t n_levels;
  int64_t level[FIT_FLOORS], value[FIT_FLOORS]; /* U[l]; f(U[l]) - f(0) */
  int64_t origin;                               /* f(0) */
  int32_t n_floors;
  fit_floor floor[FIT_FLOORS];
  uint64_t slope[FIT_LEAVES], constant; /* the linear part of the difference */
  int64_t steps;
} fit;

static int64_t cute_floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* ---- the difference of both sides ---- */

/* Add jump * floor((start + digits * parts) / period). */
static void cute_add_floor(fit *f, int64_t period, int64_t start, const int64_t *parts, uint64_t jump) {
  fit_floor *made = &f->floor[f->n_floors];
  int64_t gcd = period;
  bool moves = false;
  for (int32_t j = 0; j < f->n && gcd > 1; j++) gcd = tesela__gcd(gcd, parts[j] < 0 ? -parts[j] : parts[j]);
  period /= gcd;
  start = cute_floor_quotient(start, gcd);
  f->constant += jump * (uint64_t)cute_floor_quotient(start, period);
  start -= cute_floor_quotient(start, period) * period;
  for (int32_t j = 0; j < f->n; j++) {
    int64_t part = parts[j] / gcd, whole = cute_floor_quotient(part, period);
    part -= whole * period;
    if (part > period / 2) {
      part -= period;
      whole++;
    }
    f->slope[j] += jump * (uint64_t)whole;
    made->part[j] = part;
    moves = moves || part != 0;
  }
  if (!moves) return;
  made->period = period;
  made->start = start;
  made->jump = jump;
  for (int32_t k = 0; k < f->n_floors; k++) {
    fit_floor *old = &f->floor[k];
    if (old->period == period && old->start == start &&
        memcmp(old->part, made->part, (size_t)f->n * sizeof made->part[0]) == 0) {
      old->jump += jump;
      return;
    }
  }
  f->n_floors++;
}

/* The values less the prediction. */
static void cute_make_difference(fit *f) {
  const tesela__cute_function *a = f->a;
  f->n_floors = 0;
  f->constant = (uint64_t)a->offset + (uint64_t)a->slope * (uint64_t)f->start - (uint64_t)f->origin;
  for (int32_t j = 0; j < f->n; j++)
    f->slope[j] =
        (uint64_t)a->slope * (uint64_t)f->stride[j] - (uint64_t)f->value[0] * (uint64_t)f->weight[j];
  for (int32_t k = 0; k < a->n; k++)
    cute_add_floor(f, a->period[k], f->start, f->stride, (uint64_t)a->jump[k]);
  for (int32_t l = 1; l < f->n_levels; l++) {
    const int64_t extent = f->level[l] / f->level[l - 1];
    const uint64_t jump = (uint64_t)f->value[l] - (uint64_t)extent * (uint64_t)f->value[l - 1];
    if (jump != 0) cute_add_floor(f, f->level[l], 0, f->weight, 0 - jump);
  }
  int32_t kept = 0;
  for (int32_t k = 0; k < f->n_floors; k++)
    if (f->floor[k].jump != 0) {
      if (kept != k) f->floor[kept] = f->floor[k];
      kept++;
    }
  f->n_floors = kept;
}

/* ---- boxes ---- */

/* A box with all floors linear: the first coordinate in it with a difference, or `none`. */
static int64_t cute_first_in_linear(const fit *f, const int64_t *low, const int64_t *high, uint64_t floors,
                                    int64_t corner, int64_t none) {
  uint64_t value = f->constant + floors;
  for (int32_t j = 0; j < f->n; j++) value += f->slope[j] * (uint64_t)low[j];
  if (value != 0) return corner;
  for (int32_t j = 0; j < f->n; j++)
    if (f->slope[j] != 0 && high[j] > low[j]) return corner + f->weight[j];
  return none;
}

static int64_t cute_middle(int64_t low, int64_t high) { return low + (high - low) / 2; }

/* Where to cut digit j of a box, in which it moves this floor most. If the other digits do not make it jump at the low end: before the
 * first jump. If they make it jump once: where all of them have jumped. Else, or if that is not in the box: in the middle. */
static int64_t cute_cut_at(const fit *f, const fit_floor *term, const int64_t *low, const int64_t *high,
                           int32_t j) {
  const int64_t part = term->part[j], period = term->period;
  int64_t least = term->start, highest, steps = INT64_MAX;
  for (int32_t k = 0; k < f->n; k++) least += term->part[k] * low[k];
  least -= cute_floor_quotient(least, period) * period;
  highest = least;
  for (int32_t k = 0; k < f->n; k++)
    if (k != j) *(term->part[k] < 0 ? &least : &highest) += term->part[k] * (high[k] - low[k]);
  const int64_t base = cute_floor_quotient(least, period) * period;
  least -= base;
  highest -= base;
  if (highest < period)
    steps = part > 0 ? (period - 1 - highest) / part : least / -part;
  else if (highest < 2 * period)
    steps = part > 0 ? (period - 1 - least) / part : (highest - period) / -part;
  return steps < high[j] - low[j] ? low[j] + steps : cute_middle(low[j], high[j]);
}

/* Are all floors constant on a box? *floors receives their sum. Otherwise digit *leaf is to be cut after *middle. */
static bool cute_is_linear(const fit *f, const int64_t *low, const int64_t *high, uint64_t *floors,
                           int32_t *leaf, int64_t *middle) {
  const fit_floor *widest = NULL;
  double most = 0;
  *floors = 0;
  for (int32_t k = 0; k < f->n_floors; k++) {
    const fit_floor *term = &f->floor[k];
    int64_t least = term->start, highest;
    for (int32_t j = 0; j < f->n; j++) least += term->part[j] * low[j];
    highest = least;
    for (int32_t j = 0; j < f->n; j++)
      *(term->part[j] < 0 ? &least : &highest) += term->part[j] * (high[j] - low[j]);
    const int64_t quotient = cute_floor_quotient(least, term->period);
    *floors += term->jump * (uint64_t)quotient;
    if (quotient == cute_floor_quotient(highest, term->period)) continue;
    for (int32_t j = 0; j < f->n; j++) {
      const double width = (double)(term->part[j] < 0 ? -term->part[j] : term->part[j]) *
                           (double)(high[j] - low[j]) / (double)term->period;
      if (width > most) {
        most = width;
        widest = term;
        *leaf = j;
      }
    }
  }
  if (widest) *middle = cute_cut_at(f, widest, low, high, *leaf);
  return !widest;
}

/* The first coordinate with a difference among those of the first leaf, from one jump of a floor to the next, or -1 if there is no
 * difference up to some jump. Most contradictions are there, and boxes find them late. */
static int64_t cute_first_in_leaf(const fit *f) {
  for (int64_t i = 0, events = 0; i < f->extent[0] && events < FIT_EVENTS; events++) {
    int64_t next = f->extent[0];
    uint64_t value = f->constant + f->slope[0] * (uint64_t)i;
    for (int32_t k = 0; k < f->n_floors; k++) {
      const fit_floor *term = &f->floor[k];
      const int64_t part = term->part[0], at = term->start + part * i;
      const int64_t quotient = cute_floor_quotient(at, term->period), rest = at - quotient * term->period;
      value += term->jump * (uint64_t)quotient;
      if (part == 0) continue;
      const int64_t steps = part > 0 ? (term->period - rest + part - 1) / part : rest / -part + 1;
      if (steps < next - i) next = i + steps;
    }
    if (value != 0) return i;
    if (f->slope[0] != 0 && next > i + 1) return i + 1;
    i = next;
  }
  return -1;
}

/* The same among those whose highest digit is of leaf `top`; the size of B if both sides are equal there; -1: undecided. */
static int64_t cute_first_up_to(fit *f, int32_t top) {
  struct {
    int32_t leaf;
    int64_t low, middle, high; /* low and high before the cut, which is after middle */
  } cut[2 * FIT_LEAVES + FIT_JUMPS];
  int64_t low[FIT_LEAVES], high[FIT_LEAVES], best = f->mode[f->n_modes], middle = 0;
  int32_t depth = 0, leaf = 0;
  for (int32_t j = 0; j < f->n; j++) {
    low[j] = j == top;
    high[j] = j <= top ? f->extent[j] - 1 : 0;
  }
  for (;;) {
    int64_t corner = 0;
    uint64_t floors;
    if (f->steps-- == 0) return -1;
    for (int32_t j = 0; j <= top; j++) corner += low[j] * f->weight[j];
    if (corner < best) {
      if (!cute_is_linear(f, low, high, &floors, &leaf, &middle)) {
        if (depth >= FIT_JUMPS) middle = cute_middle(low[leaf], high[leaf]);
        if (depth == 0 || cut[depth - 1].leaf != leaf || cut[depth - 1].middle >= low[leaf]) {
          cut[depth].leaf = leaf;
          cut[depth].low = low[leaf];
          cut[depth++].high = high[leaf];
        } /* else the upper part of a cut is cut again: the part below is done */
        cut[depth - 1].middle = high[leaf] = middle;
        continue;
      }
      best = tesela__min(best, cute_first_in_linear(f, low, high, floors, corner, best));
    }
    for (; depth > 0; depth--) { /* up to a box whose upper part is left */
      leaf = cut[depth - 1].leaf;
      if (low[leaf] <= cut[depth - 1].middle) {
        low[leaf] = cut[depth - 1].middle + 1;
        high[leaf] = cut[depth - 1].high;
        break;
      }
      low[leaf] = cut[depth - 1].low;
    }
    if (depth == 0) return best;
  }
}

/* The first coordinate with a difference; the size of B if both sides are equal; -1: undecided after FIT_STEPS. */
static int64_t cute_first_difference(fit *f) {
  int64_t first = f->n > 0 ? cute_first_in_leaf(f) : -1;
  if (first >= 0) return first;
  first = f->mode[f->n_modes];
  for (int32_t top = 0; top < f->n && first == f->mode[f->n_modes]; top++) first = cute_first_up_to(f, top);
  return first;
}

/* ---- levels ---- */

static int64_t cute_true_value(const fit *f, int64_t i) {
  const tesela__cute_function *a = f->a;
  int64_t x = f->start;
  for (int32_t j = 0; j < f->n; j++) x += i / f->weight[j] % f->extent[j] * f->stride[j];
  int64_t value = a->offset + a->slope * x;
  for (int32_t k = 0; k < a->n; k++) value += a->jump[k] * cute_floor_quotient(x, a->period[k]);
  return value;
}

static int64_t cute_predicted(const fit *f, int64_t i) {
  uint64_t value = (uint64_t)f->origin;
  for (int32_t l = 0; l < f->n_levels; l++) {
    const int64_t digit = i / f->level[l];
    value += (uint64_t)f->value[l] *
             (uint64_t)(l + 1 < f->n_levels ? digit % (f->level[l + 1] / f->level[l]) : digit);
  }
  return (int64_t)value;
}

/* Cut the leaf that a level divides. */
static void cute_cut_leaf(fit *f, int64_t level) {
  for (int32_t j = 0; j < f->n; j++) {
    const int64_t extent = level / f->weight[j];
    if (level % f->weight[j] != 0 || extent < 2 || extent >= f->extent[j] || f->extent[j] % extent != 0)
      continue;
    for (int32_t k = f->n; k > j; k--) {
      f->extent[k] = f->extent[k - 1];
      f->stride[k] = f->stride[k - 1];
      f->weight[k] = f->weight[k - 1];
    }
    f->n++;
    f->extent[j] = extent;
    f->extent[j + 1] /= extent;
    f->stride[j + 1] *= extent;
    f->weight[j + 1] = level;
    return;
  }
}

static void cute_add_level(fit *f, int64_t level) {
  int32_t l = f->n_levels++;
  for (; l > 0 && f->level[l - 1] > level; l--) {
    f->level[l] = f->level[l - 1];
    f->value[l] = f->value[l - 1];
  }
  f->level[l] = level;
  f->value[l] = cute_true_value(f, level) - f->origin;
  cute_cut_leaf(f, level);
}

/* Make the difference at i a level; false if it contradicts. */
static bool cute_accept_level(fit *f, int64_t i) {
  int32_t m = 0, l = 0;
  while (f->mode[m + 1] <= i) m++;
  while (l + 1 < f->n_levels && f->level[l + 1] <= i) l++;
  if (i % f->level[l] != 0 || f->mode[m + 1] % i != 0) return false;
  cute_add_level(f, i);
  return true;
}

static void cute_start_fit(fit *f, const tesela_cute *b) {
  int32_t first[TESELA_CUTE_LEAVES + 1];
  int64_t size = 1;
  f->start = b->offset;
  f->n = 0;
  f->n_levels = 0;
  f->steps = FIT_STEPS;
  f->n_modes = tesela__cute_top_modes(b, first);
  for (int32_t i = 0, m = 0; i < b->n; i++) {
    if (first[m] == i) f->mode[m++] = size;
    if (b->extent[i] == 1) continue;
    if (f->n > 0 && f->stride[f->n - 1] * f->extent[f->n - 1] == b->stride[i]) {
      f->extent[f->n - 1] *= b->extent[i];
    } else {
      f->extent[f->n] = b->extent[i];
      f->stride[f->n] = b->stride[i];
      f->weight[f->n++] = size;
    }
    size *= b->extent[i];
  }
  f->mode[f->n_modes] = size;
  f->origin = cute_true_value(f, 0);
  for (int32_t m = 0; m < f->n_modes; m++)
    if (f->mode[m + 1] > f->mode[m]) cute_add_level(f, f->mode[m]);
}

/* ---- the result ---- */

/* Put the levels between two sizes after the leaves of *out: false if there are too many. */
static bool cute_put_levels(const fit *f, int64_t from, int64_t to, int32_t opened, int32_t closed,
                            tesela_cute *out) {
  const int32_t begun = out->n;
  const int64_t size = f->mode[f->n_modes];
  for (int32_t l = 0; l < f->n_levels; l++) {
    const int64_t low = tesela__max(f->level[l], from);
    const int64_t high = tesela__min(l + 1 < f->n_levels ? f->level[l + 1] : size, to);
    if (low >= high) continue;
    if (out->n == TESELA_CUTE_LEAVES) return false;
    out->extent[out->n] = high / low;
    out->stride[out->n++] = f->value[l] * (low / f->level[l]);
  }
  if (out->n == begun) {
    if (out->n == TESELA_CUTE_LEAVES) return false;
    out->extent[out->n] = 1;
    out->stride[out->n++] = 0;
  }
  const bool several = out->n > begun + 1;
  out->open[begun] = (uint8_t)(opened + several);
  out->close[out->n - 1] = (uint8_t)(closed + several);
  return true;
}

/* Does a cut between leaves of B fit the levels? */
static bool cute_fits_levels(const fit *f, int64_t cut) {
  const int64_t size = f->mode[f->n_modes];
  for (int32_t l = 0; l < f->n_levels; l++) {
    const int64_t next = l + 1 < f->n_levels ? f->level[l + 1] : size;
    if (cut >= f->level[l] && cut <= next) return cut % f->level[l] == 0 && next % cut == 0;
  }
  return true;
}

/* The levels in the brackets of B. Where leaves of B cannot be told apart, their innermost common bracket becomes a list. */
static bool cute_make_result(const fit *f, const tesela_cute *b, tesela_cute *out) {
  int32_t before[TESELA_CUTE_LEAVES + 1]; /* brackets open before a leaf */
  int64_t size[TESELA_CUTE_LEAVES + 1];
  uint8_t joined[TESELA_CUTE_LEAVES + 1] = {
      0}; /* the number of brackets outside of the list that holds the cut before a leaf; 0: none */
  before[0] = 0;
  size[0] = 1;
  for (int32_t i = 0; i < b->n; i++) {
    before[i + 1] = before[i] + b->open[i] - b->close[i];
    size[i + 1] = size[i] * b->extent[i];
  }
  for (int32_t i = 1; i < b->n; i++)
    if (!cute_fits_levels(f, size[i])) {
      const int32_t depth = before[i]; /* of the bracket that holds leaves i-1 and i */
      for (int32_t k = i; k > 0 && before[k] >= depth; k--)
        if (joined[k] == 0 || joined[k] > depth) joined[k] = (uint8_t)depth;
      for (int32_t k = i; k < b->n && before[k] >= depth; k++)
        if (joined[k] == 0 || joined[k] > depth) joined[k] = (uint8_t)depth;
    }
  memset(out, 0, sizeof *out);
  for (int32_t i = 0; i < b->n;) {
    int32_t end = i + 1, opened = b->open[i], closed;
    while (end < b->n && joined[end] > 0) end++;
    closed = b->close[end - 1];
    if (end > i + 1) {
      const int32_t outside = joined[i + 1] - 1; /* brackets around the list */
      opened = outside - before[i];
      closed = outside - before[end];
    }
    if (!cute_put_levels(f, size[i], size[end], opened, closed, out)) return false;
    i = end;
  }
  return true;
}

tesela_status tesela__cute_fit(const tesela__cute_function *a, const tesela_cute *b, tesela_cute *out,
                               tesela_cute_counter *counter, tesela_error *err) {
  fit f;
  f.a = a;
  cute_start_fit(&f, b);
  const int64_t size = f.mode[f.n_modes];
  for (;;) {
    cute_make_difference(&f);
    const int64_t i = f.n_levels > 0 ? cute_first_difference(&f) : size;
    if (i < 0)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "undecided after %d steps: long irregular runs",
                          FIT_STEPS);
    if (i == size) break;
    if (cute_accept_level(&f, i)) continue;
    *counter = (tesela_cute_counter){.given = true, .index = i, .index2 = -1};
    counter->value = cute_true_value(&f, i);
    counter->expected = cute_predicted(&f, i);
    return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_EXPRESSIBLE,
                          "no extents and strides: the value at coordinate %" PRId64 " is %" PRId64
                          "; the values before it give %" PRId64,
                          i, counter->value, counter->expected);
  }
  if (!cute_make_result(&f, b, out)) return tesela__cute_too_many(err);
  out->offset = f.origin;
  return TESELA_OK;
}
