/* SPDX-License-Identifier: Apache-2.0 */
/* support_forms.c - see support_forms.h. */
#include "support_forms.h"

#include "support_blocks.h"
#include "support_vpad.h"

#include <string.h>

enum { CHAIN = 64 };

typedef struct search {
  const form *f;
  const form_table *t;
  int count;
  form_next *next; /* collect the places of element `count`; NULL: only decide */
  /* the numbers of an element */
  int n;
  int64_t extent[FORM_DIMS], number[FORM_ELEMENTS][FORM_DIMS];
  int64_t value[FORM_ELEMENTS]; /* places, after the XOR */
  int bits, base, shift;
  /* digits */
  int n_steps[FORM_DIMS];
  int64_t step[FORM_DIMS][CHAIN], stride[FORM_DIMS][CHAIN];
  bool known[FORM_DIMS][CHAIN];
  /* parts, innermost first */
  int depth, of[CHAIN];
  int64_t part[CHAIN];
} search;

bool form_tabulate(const tesela_layout *layout, form_table *t) {
  int64_t index[TESELA_MAX_RANK] = {0}, elements = 1;
  *t = (form_table){.rank = layout->rank, .copies = (int)tesela_layout_copies(layout)};
  if (t->rank > FORM_DIMS || layout->n_axes != 1 || t->copies > 4) return false;
  for (int d = 0; d < t->rank; d++) elements *= t->shape[d] = layout->shape[d];
  if (elements > FORM_ELEMENTS || elements == 0) return false;
  while ((layout->axis[0].extent - 1) >> t->bits > 0) t->bits++;
  do {
    int64_t *copy = t->copy[t->n];
    for (int d = 0; d < t->rank; d++) t->index[t->n][d] = index[d];
    for (int k = 0; k < t->copies; k++) {
      int64_t place;
      int at = k;
      if (tesela_layout_copy_of(layout, index, k, &place, NULL) != TESELA_OK) return false;
      for (; at > 0 && copy[at - 1] > place; at--) copy[at] = copy[at - 1];
      copy[at] = place;
      if (place > t->most) t->most = place;
    }
    t->place[t->n++] = copy[0];
  } while (tesela_index_next(t->rank, t->shape, index));
  return true;
}

int form_number(const form_table *t, const int64_t *index) {
  int64_t n = 0;
  for (int d = 0; d < t->rank; d++) n = n * t->shape[d] + index[d];
  return (int)n;
}

static void collect(search *s, int64_t place) {
  if (s->next->n == 1 && s->next->place == place) return;
  s->next->place = place;
  if (s->next->n < 2) s->next->n++;
}

static void collect_any(search *s) { s->next->n = 2; }

/* ---- digits ------------------------------------------------------------------------------------------------- */

static int64_t flip(const search *s, int64_t x) {
  int64_t mask = ((int64_t)1 << s->bits) - 1;
  return s->shift >= 0 ? x ^ ((x >> (s->base + s->shift) & mask) << s->base)
                       : x ^ ((x >> s->base & mask) << (s->base - s->shift));
}

static int64_t digit_of(const search *s, int e, int g, int k) {
  int64_t x = s->number[e][g];
  for (int i = s->n_steps[g] - 1; i > k; i--) x %= s->step[g][i];
  return x / s->step[g][k];
}

/* Replicas as two digits of 2, or one of all copies; with a stride of 0 where they do not give the copies. */
static int add_replicas(const form_table *t, int64_t *stride, int64_t *extent) {
  const int64_t first = t->copy[0][1] - t->copy[0][0], second = t->copy[0][2] - t->copy[0][0];
  if (t->copies == 1) return 0;
  stride[0] = t->copies == 3 && second != 2 * first ? 0 : first;
  extent[0] = t->copies == 3 ? 3 : 2;
  if (t->copies < 4) return 1;
  stride[1] = t->copy[0][3] - t->copy[0][0] == first + second ? second : 0;
  extent[1] = 2;
  return 2;
}

/* Each stride is a multiple of the next smaller one (STRIDES_MULTIPLE), with room for the digits below. */
static bool strides_fit(const search *s) {
  int64_t all[2 * CHAIN], extent[2 * CHAIN], room = 1;
  bool last[2 * CHAIN] = {false};
  int n = add_replicas(s->t, all, extent); /* by stride */
  if (s->f->strides < STRIDES_APART) return true;
  for (int g = 0; g < s->n; g++)
    for (int k = 0; k < s->n_steps[g]; k++) {
      if (!s->known[g][k]) continue;
      int64_t above = k + 1 < s->n_steps[g] ? s->step[g][k + 1] : s->extent[g];
      int at = n++;
      for (; at > 0 && all[at - 1] > s->stride[g][k]; at--) {
        all[at] = all[at - 1];
        extent[at] = extent[at - 1];
        last[at] = last[at - 1];
      }
      last[at] = k + 1 == s->n_steps[g];
      all[at] = s->stride[g][k];
      extent[at] = (above + s->step[g][k] - 1) / s->step[g][k];
    }
  for (int i = 0; i < n; i++) {
    if (all[i] < room) return false;
    if (s->f->strides >= STRIDES_MULTIPLE && i > 0 && all[i] % all[i - 1] != 0) return false;
    if (s->f->strides == STRIDES_FILLED && i > 0 && !last[i - 1] && all[i] % room != 0) return false;
    if (s->f->strides == STRIDES_FILLED && s->t->rank == 0 && all[i] != room)
      return false; /* a gap is of a dim */
    room = s->f->strides >= STRIDES_MULTIPLE ? all[i] * extent[i] : room + (extent[i] - 1) * all[i];
  }
  return true;
}

/* Elements from e on: one with a digit whose stride is unknown sets it; of several unknown ones all values of one are tried. */
static bool digits_agree(search *s, int e) {
  for (; e < s->count + (s->next != NULL); e++) {
    int64_t left = e < s->t->n ? s->value[e] - s->value[0] : 0, digit = 0;
    int unknown = 0, ug = 0, uk = 0;
    for (int g = 0; g < s->n; g++)
      for (int k = 0; k < s->n_steps[g]; k++) {
        int64_t x = digit_of(s, e, g, k);
        if (x > 0 && !s->known[g][k]) {
          unknown++;
          ug = g;
          uk = k;
          digit = x;
        } else if (x > 0) {
          left -= x * s->stride[g][k];
        }
      }
    if (e == s->count) {
      if (!strides_fit(s)) return false;
      if (unknown > 0)
        collect_any(s);
      else
        collect(s, flip(s, s->value[e] - left));
      return true;
    }
    if (unknown == 0 && left != 0) return false;
    if (unknown == 0) continue;
    s->known[ug][uk] = true;
    bool found = false;
    int64_t first = unknown == 1 ? left / digit : 1, last = unknown == 1 ? first : left / digit;
    for (s->stride[ug][uk] = first; s->stride[ug][uk] <= last && !found; s->stride[ug][uk]++) {
      if (unknown == 1 && first * digit != left) break;
      if (s->f->strides != STRIDES_ANY && s->stride[ug][uk] < (s->f->strides >= STRIDES_APART)) break;
      found = digits_agree(s, unknown == 1 ? e + 1 : e);
      if (found) break;
    }
    s->known[ug][uk] = false;
    return found;
  }
  return strides_fit(s);
}

/* The element with number g alone, if it is one of the first; else -1. */
static int alone(const search *s, int g, int64_t x) {
  for (int e = 0; e < s->count; e++) {
    bool is = s->number[e][g] == x;
    for (int h = 0; h < s->n && is; h++) is = h == g || s->number[e][h] == 0;
    if (is) return e;
  }
  return -1;
}

/* Are the values of number g below `limit`, as far as they and their digits are known, the sums of their digits? */
static bool line_fits(const search *s, int g, int64_t limit) {
  for (int64_t x = 1; x < limit; x++) {
    int e = alone(s, g, x), unit = 0;
    if (e < 0) continue;
    int64_t sum = s->value[0];
    for (int k = 0; k < s->n_steps[g] && unit >= 0; k++) {
      int64_t digit = digit_of(s, e, g, k);
      unit = digit > 0 ? alone(s, g, s->step[g][k]) : 0;
      if (digit > 0 && unit >= 0) sum += digit * (s->value[unit] - s->value[0]);
    }
    if (unit >= 0 && sum != s->value[e]) return false;
  }
  return true;
}

/* A digit at a multiple of the last step, with that multiple of its stride: the same places as without it. */
static bool is_redundant(const search *s, int g, int64_t last, int64_t step) {
  int low = alone(s, g, last), high = alone(s, g, step);
  if (s->f->steps != STEPS_ANY || last == 0 || step % last != 0 || low < 0 || high < 0) return false;
  return s->value[high] - s->value[0] == step / last * (s->value[low] - s->value[0]);
}

/* All lists of steps of number g and the later ones. True: one agrees; all are tried to collect. */
static bool digits_exist(search *s, int g) {
  if (g == s->n) {
    memset(s->known, 0, sizeof s->known);
    return digits_agree(s, 0) && !s->next;
  }
  int64_t last = s->n_steps[g] > 0 ? s->step[g][s->n_steps[g] - 1] : 0;
  if ((last > 0 || s->extent[g] == 1) && line_fits(s, g, s->extent[g]) && digits_exist(s, g + 1)) return true;
  if (s->next && s->next->n == 2) return false;
  int64_t first = last == 0 ? 1 : last + 1, end = last == 0 ? 2 : s->f->steps == STEPS_ONE ? 0 : s->extent[g];
  for (int64_t step = first; step < end && s->extent[g] > 1; step++) {
    bool fits = s->f->steps == STEPS_ANY || last == 0 || step % last == 0;
    if (!line_fits(s, g, step)) break; /* with the steps so far */
    if (!fits || (s->f->steps == STEPS_DIVIDE && s->extent[g] % step != 0)) continue;
    if (is_redundant(s, g, last, step)) continue;
    s->step[g][s->n_steps[g]++] = step;
    bool found = digits_exist(s, g);
    s->n_steps[g]--;
    if (found) return true;
  }
  return false;
}

static bool flips_exist(search *s) {
  for (int bits = 0; bits <= (s->f->flips ? s->t->bits / 2 : 0); bits++)
    for (int base = 0; base + 2 * bits <= s->t->bits; base++)
      for (int shift = -s->t->bits; shift <= s->t->bits; shift++) {
        int distance = shift < 0 ? -shift : shift;
        if (bits == 0 ? base > 0 || shift != 0 : distance < bits || base + distance + bits > s->t->bits)
          continue;
        s->bits = bits;
        s->base = base;
        s->shift = shift;
        for (int e = 0; e < s->t->n; e++) s->value[e] = flip(s, s->t->place[e]);
        if (digits_exist(s, 0)) return true;
      }
  return false;
}

/* ---- parts without gaps -------------------------------------------------------------------------------------- */

/* The place of an element by the parts so far; its `rest` of each number. */
static int64_t parts_place(const search *s, int e, int64_t *rest, bool *whole) {
  int64_t place = 0, stride = 1;
  *whole = true;
  for (int g = 0; g < s->n; g++) rest[g] = s->number[e][g];
  for (int i = 0; i < s->depth; i++) {
    place += rest[s->of[i]] % s->part[i] * stride;
    rest[s->of[i]] /= s->part[i];
    stride *= s->part[i];
  }
  for (int g = 0; g < s->n; g++) *whole = *whole && rest[g] == 0;
  return place;
}

/* Are the parts tiles, one of each dim at most, and then whole dims? */
static bool is_pack(const search *s) {
  for (int tiles = 0; tiles <= s->depth; tiles++) {
    bool tiled[FORM_DIMS] = {false}, outer[FORM_DIMS] = {false}, good = true;
    int64_t left[FORM_DIMS];
    for (int g = 0; g < s->n; g++) left[g] = s->extent[g];
    for (int i = 0; i < s->depth && good; i++) {
      int g = s->of[i];
      bool *used = i < tiles ? tiled : outer;
      good = !used[g] && (i < tiles || left[g] == s->part[i]);
      used[g] = true;
      left[g] = (left[g] + s->part[i] - 1) / s->part[i];
    }
    if (good) return true;
  }
  return false;
}

/* The rest of each dim has a stride, a multiple of `size`; that of an element with a rest of 1 alone. */
static bool rests_agree(search *s, int64_t size) {
  int64_t stride[FORM_DIMS] = {0}, rest[FORM_DIMS];
  bool known[FORM_DIMS] = {false}, whole;
  for (int e = 0; e < s->count + (s->next != NULL); e++) {
    int64_t place = parts_place(s, e, rest, &whole), unknown = -1;
    for (int g = 0; g < s->n; g++) {
      place += known[g] ? rest[g] * stride[g] : 0;
      if (rest[g] > 0 && !known[g]) unknown = g;
    }
    if (e == s->count) {
      if (unknown >= 0)
        collect_any(s);
      else
        collect(s, place);
      return true;
    }
    if (unknown >= 0) { /* the first with this rest, so it is 1, and all others are known */
      stride[unknown] = s->value[e] - place;
      known[unknown] = true;
      if (rest[unknown] != 1 || stride[unknown] < 0 || stride[unknown] % size != 0) return false;
      continue;
    }
    if (place != s->value[e]) return false;
  }
  return true;
}

static bool parts_agree(search *s, int64_t size, bool *all) {
  int64_t rest[FORM_DIMS];
  bool whole;
  *all = true;
  for (int e = 0; e < s->count; e++) {
    int64_t place = parts_place(s, e, rest, &whole);
    if (whole ? place != s->value[e] : s->value[e] % size != place) return false;
    *all = *all && whole;
  }
  return true;
}

static bool parts_exist(search *s, int64_t size) {
  int64_t rest[FORM_DIMS], limit = s->t->most;
  bool all, whole;
  if (!parts_agree(s, size, &all)) return false;
  if (s->f->kind == FORM_TILED) {
    if (rests_agree(s, size) && !s->next) return true;
  } else if (all && s->next) {
    int64_t place = parts_place(s, s->count, rest, &whole);
    if (whole) {
      collect(s, place);
      return false;
    }
  } else if (all && (!s->f->pack || is_pack(s))) {
    return true;
  }
  if (s->next && s->next->n == 2) return false;
  for (int g = 0; g < s->n && size <= limit; g++)
    for (int64_t b = 2; b * size <= 2 * limit + 2 * FORM_ELEMENTS; b++) {
      s->of[s->depth] = g;
      s->part[s->depth++] = b;
      bool found = parts_exist(s, size * b);
      s->depth--;
      if (found) return true;
    }
  return false;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

/* Groups of the dims in this order: a bit of `joins` joins a dim with the next one. */
static bool numbers_exist(search *s, const int *order, unsigned joins) {
  const form_table *t = s->t;
  for (int e = 0; e < t->n; e++) {
    s->n = 0;
    for (int k = 0; k < t->rank; k++) {
      bool more = k > 0 && (joins >> (k - 1) & 1);
      if (!more) s->number[e][s->n] = 0, s->extent[s->n++] = 1;
      s->number[e][s->n - 1] = s->number[e][s->n - 1] * t->shape[order[k]] + t->index[e][order[k]];
      s->extent[s->n - 1] *= t->shape[order[k]];
    }
    s->value[e] = t->place[e];
  }
  s->depth = 0;
  return s->f->kind == FORM_DIGITS ? flips_exist(s) : parts_exist(s, 1);
}

static bool orders_exist(search *s, int *order, int chosen) {
  const int rank = s->t->rank;
  if (chosen < rank && chosen < FORM_DIMS) {
    for (int d = 0; d < rank; d++) {
      bool used = false;
      for (int k = 0; k < chosen; k++) used = used || order[k] == d;
      order[chosen] = d;
      if (!used && orders_exist(s, order, chosen + 1)) return true;
    }
    return false;
  }
  for (unsigned joins = 0; joins < 1u << (rank > 0 ? rank - 1 : 0); joins++)
    if (numbers_exist(s, order, joins)) return true;
  return false;
}

/* Do replicas give the copies, and each element the same? */
static bool copies_agree(const form *f, const form_table *t, int count) {
  if (t->copies == 1) return true;
  if (!f->replicas) return count == 0;
  for (int e = 0; e < count; e++)
    for (int k = 0; k < t->copies; k++)
      if (t->copy[e][k] - t->copy[e][0] != t->copy[0][k] - t->copy[0][0]) return false;
  return true;
}

static bool run(search *s) {
  int order[FORM_DIMS] = {0, 1, 2, 3};
  int64_t stride[2] = {1, 1}, extent[2];
  (void)add_replicas(s->t, stride, extent);
  if (stride[0] == 0 || stride[1] == 0) return s->count == 0;
  if (!copies_agree(s->f, s->t, s->count)) return false;
  if (s->count > 0 && s->f->at_zero && s->t->place[0] != 0) return false;
  if (s->count == 0) {
    if (s->next && s->f->at_zero) collect(s, 0);
    if (s->next && !s->f->at_zero) collect_any(s);
    return true;
  }
  if (s->f->numbers == NUMBERS_JOINED) return orders_exist(s, order, 0);
  return numbers_exist(s, order, s->f->numbers == NUMBERS_ALL ? ~0u : 0);
}

bool form_exists(const form *f, const form_table *t, int count) {
  if (f->kind == FORM_STRING)
    return blocks_exist(t, (blocks_rules){.blocks = true, .after = true, .ordered = true});
  if (f->kind == FORM_IREE)
    return blocks_exist(t, (blocks_rules){.blocks = true}) ||
           blocks_exist(t, (blocks_rules){.ordered = true, .larger = true});
  search s = {.f = f, .t = t, .count = count};
  return run(&s) || (f->registers && vpad_exists(t, count, NULL));
}

form_next form_expected(const form *f, const form_table *t, int count) {
  form_next next = {0, 0};
  search s = {.f = f, .t = t, .count = count, .next = &next};
  (void)run(&s);
  if (f->registers && next.n < 2) (void)vpad_exists(t, count, &next);
  return next;
}
