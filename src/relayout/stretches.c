/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretches.c - cut dst into stretches: bytes that follow each other, with all elements and all padding among them.
 *
 *   f32[8192,8192]{1,0:T(6,100)} -> {1,0:T(8,128)}   a stretch is a tile of 4 KiB, a group 3 x 5 of these: 24 rows of 640 elements,
 *                                                    which are 4 rows of tiles of src
 *
 * The gather assembles a group of stretches in the cache and writes whole lines of dst, once. So dst must be dense from the smallest
 * strides on; digits above may have any strides if there is no padding. Groups are as long in src as there is room.
 */
#include "relayout/gather.h"
#include "relayout/solve.h"

enum {
  STRETCH_BYTES = 2 << 10,  /* as long as they are worth it */
  STRETCH_WHOLE = 16 << 10, /* most, if a digit is whole then */
  STRETCH_LEAST = 256,
  STRETCH_SPANS = 4 /* how often a group has a digit of src, if not all of its periods fit */
};

/* Bytes of stretches and groups. */
typedef struct stretch_sizes {
  int64_t bytes, whole, least, group;
} stretch_sizes;

typedef struct stretch_cut {
  tesela__stretches *s;
  const tesela__sums *sums;
  stretch_sizes sizes;
  int32_t left[TESELA_MAX_RANK];  /* digits of a coordinate that are not in a stretch */
  int64_t group[TESELA_MAX_RANK]; /* steps of its innermost loop in a group */
  int64_t width, bits;            /* bytes of an element; bits of a stretch so far */
  bool pads;                      /* what is between the digits is padding */
} stretch_cut;

/* Values of digit k of a coordinate in dst; of the first digit with its padding, up to the next larger stride. */
static int64_t stretch_room(const stretch_cut *cut, int32_t c, int32_t k) {
  const tesela__sums *sums = cut->sums;
  const struct tesela__sum_digit *digit = &sums->digit[sums->dst[c].first + k];
  const int64_t room = tesela__ceil_div(k > 0 ? digit[-1].step : sums->extent[c], digit->step);
  int64_t next = 0;
  if (k > 0 || !cut->pads) return room;
  for (int32_t i = 0; i < sums->n; i++)
    for (int32_t j = 0; j < sums->dst[i].n; j++) {
      const int64_t stride = sums->digit[sums->dst[i].first + j].stride;
      if (stride > digit->stride && (next == 0 || stride < next)) next = stride;
    }
  return next % digit->stride == 0 ? tesela__max(room, next / digit->stride) : room;
}

/* Have the tables and the buffer of a pass room for the values of a group? */
static bool pass_fits(const stretch_cut *cut, const tesela__stretch_pass *pass, const int64_t *room) {
  int64_t others = 1, stride[TESELA_MAX_RANK];
  for (int32_t c = 0; c < cut->sums->n; c++) {
    const int64_t n = c == pass->wide ? tesela__ceil_div(room[c], pass->unit) : room[c];
    const int64_t stretches = n / cut->s->block[c] + 1; /* at whose ends runs end, too */
    const int64_t runs = pass->p == pass->q ? tesela__gather_most_runs(cut->sums, c, n) + stretches : n;
    if ((c == pass->p || c == pass->q) && runs > TESELA__GATHER_VALUES) return false;
    if (c != pass->p && c != pass->q) others *= tesela__min(n, TESELA__GATHER_OTHERS + 1);
    if (others > TESELA__GATHER_OTHERS) return false;
  }
  return pass + 1 == &cut->s->pass[cut->s->n_passes] ||
         tesela__passes_buffer(pass, cut->sums->n, cut->width, room, stride) <= TESELA__GATHER_BUFFER;
}

/* Stretches of src in a group, about. */
static int64_t group_reads(const stretch_cut *cut, const int64_t *room) {
  int64_t step[TESELA_MAX_RANK] = {0}, n = 1;
  for (int32_t i = 0; i < cut->s->src.n; i++)
    if (!cut->s->src.digit[i].near) step[cut->s->src.digit[i].c] = cut->s->src.digit[i].step;
  for (int32_t c = 0; c < cut->sums->n; c++)
    if (step[c] > 0) n *= tesela__min(tesela__ceil_div(room[c], step[c]), TESELA__GATHER_AHEAD + 1);
  return n;
}

static bool group_fits(const stretch_cut *cut) {
  const tesela__stretches *s = cut->s;
  int64_t room[TESELA_MAX_RANK];
  bool fits = true;
  for (int32_t c = 0; c < cut->sums->n; c++)
    room[c] = tesela__passes_room(s, cut->sums, c, s->block[c] * cut->group[c]);
  for (int32_t k = 0; k < s->n_passes && fits; k++) fits = pass_fits(cut, &s->pass[k], room);
  return fits && group_reads(cut, room) <= TESELA__GATHER_AHEAD;
}

/* ---- a stretch --------------------------------------------------------------------------------------------- */

/* The coordinate of the digit that continues a stretch, or -1. */
static int32_t next_of_stretch(const stretch_cut *cut) {
  for (int32_t c = 0; c < cut->sums->n; c++) {
    if (cut->left[c] == 0) continue;
    const struct tesela__sum_digit *digit = &cut->sums->digit[cut->sums->dst[c].first + cut->left[c] - 1];
    if (digit->stride == cut->bits && digit->step == cut->s->block[c]) return c;
  }
  return -1;
}

/* Take the next digit of a coordinate into the stretch, or some of its values; false: then it ends. */
static bool take_digit(stretch_cut *cut, int32_t c) {
  tesela__stretches *s = cut->s;
  const int32_t k = cut->left[c] - 1;
  const int64_t step = s->block[c], room = stretch_room(cut, c, k);
  const bool whole = cut->bits < cut->sizes.bytes * 8 && room <= cut->sizes.whole * 8 / cut->bits;
  int64_t m = whole ? room : tesela__min(room, cut->sizes.bytes * 8 / cut->bits);
  for (;; m /= 2) {
    s->block[c] = m == room && k > 0 ? cut->sums->digit[cut->sums->dst[c].first + k - 1].step : m * step;
    if (m <= 1 || group_fits(cut)) break;
  }
  if (m == room) {
    cut->bits *= room;
    cut->left[c]--;
    return true;
  }
  s->block[c] = step;
  if (m < 2) return false;
  const int64_t n = tesela__ceil_div(room, m);
  m = tesela__ceil_div(room, n);
  s->block[c] = m * step;
  s->part_bytes = (room - (n - 1) * m) * cut->bits / 8;
  cut->bits *= m;
  return false;
}

/* The loops around a stretch. `part`: the coordinate whose next digit is cut, or -1. */
static void set_loops(stretch_cut *cut, int32_t part) {
  tesela__stretches *s = cut->s;
  const tesela__sums *sums = cut->sums;
  s->part = -1;
  for (int32_t c = 0; c < sums->n; c++)
    for (int32_t k = 0; k < cut->left[c]; k++) {
      const struct tesela__sum_digit *digit = &sums->digit[sums->dst[c].first + k];
      const bool is_part = c == part && k == cut->left[c] - 1;
      const int64_t times = is_part ? s->block[c] / digit->step : 1;
      const int64_t n = tesela__ceil_div(stretch_room(cut, c, k), times);
      if (is_part) s->part = s->n_loops;
      if (n > 1)
        s->loop[s->n_loops++] =
            (struct tesela__stretch_loop){c, n, digit->step * times, digit->stride / 8 * times, 1, 0};
    }
}

/* ---- groups ------------------------------------------------------------------------------------------------ */

/* The loop of a coordinate with the smallest step, or -1. */
static int32_t inner_loop(const tesela__stretches *s, int32_t c) {
  for (int32_t i = s->n_loops - 1; i >= 0; i--)
    if (s->loop[i].c == c) return i;
  return -1;
}

/* Bytes between stretches in the buffer: lines, an odd number, so that stretches do not share few sets of the cache. */
static int64_t stretch_pitch(const tesela__stretches *s) {
  return (tesela__ceil_div(s->bytes, TESELA__LINE) | 1) * TESELA__LINE;
}

/* The values of a coordinate that a digit of src with `span` values wants: all of its periods, or some. */
static int64_t wanted_values(int64_t block, int64_t span, int64_t most) {
  const int64_t all = block / tesela__gcd(block, span) * span;
  return all <= most ? all : tesela__min(most, span * STRETCH_SPANS);
}

/* Stretches that read from the same places of src make a group, and those that read next to them: from the smallest strides on each
 * digit of src has its values in a group as far as there is room. */
static void set_stretch_groups(stretch_cut *cut) {
  tesela__stretches *s = cut->s;
  for (int32_t i = s->src.n - 1; i >= 0; i--) {
    const struct tesela__src_digit *d = &s->src.digit[i];
    const int32_t k = inner_loop(s, d->c);
    int64_t room = cut->sizes.group / stretch_pitch(s);
    for (int32_t c = 0; c < cut->sums->n; c++) room /= cut->group[c];
    if (k < 0 || room < 2) continue;
    const int64_t now = cut->group[d->c], block = s->block[d->c];
    int64_t most = tesela__min(s->loop[k].n, now * room),
            n = wanted_values(block, d->span, block * most) / block;
    for (cut->group[d->c] = tesela__min(n, most); cut->group[d->c] > now && !group_fits(cut);)
      cut->group[d->c] -= tesela__max(1, cut->group[d->c] / 8);
    cut->group[d->c] = tesela__max(now, cut->group[d->c]);
    s->loop[k].group = cut->group[d->c];
  }
}

static void sort_loops(const int64_t *distance, int32_t n, int32_t *order) {
  for (int32_t i = 0; i < n; i++) {
    int32_t k = i;
    for (; k > 0 && distance[order[k - 1]] < distance[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
}

/* Stretches of a group follow each other in dst, groups in src. */
static void set_orders(tesela__stretches *s, const tesela__sums *sums) {
  int64_t dst[TESELA_MAX_DIGITS + 1], src[TESELA_MAX_DIGITS + 1], stride, left, pitch = stretch_pitch(s);
  s->n = s->n_groups = 1;
  for (int32_t i = 0; i < s->n_loops; i++) {
    const struct tesela__stretch_loop *l = &s->loop[i];
    dst[i] = l->stride;
    src[i] = tesela__sum_at(sums, sums->src[l->c], l->step * l->group, &stride, &left);
    if (src[i] < 0) src[i] = -src[i];
    s->n *= l->group;
    s->n_groups *= tesela__ceil_div(l->n, l->group);
  }
  sort_loops(dst, s->n_loops, s->order);
  sort_loops(src, s->n_loops, s->src_order);
  for (int32_t i = s->n_loops - 1; i >= 0; i--) {
    s->loop[s->order[i]].pitch = pitch;
    pitch *= s->loop[s->order[i]].group;
  }
}

/* The function of a coordinate in the buffer: its digits in a stretch, and the stretches. */
static void set_stage_side(tesela__stretches *s, const tesela__sums *sums, int32_t c) {
  tesela__sums *to = &s->stage;
  const int32_t k = inner_loop(s, c);
  to->extent[c] = sums->extent[c];
  to->dst[c].first = to->n_digits;
  if (k >= 0 || s->block[c] == 1)
    to->digit[to->n_digits++] = (struct tesela__sum_digit){s->block[c], k >= 0 ? s->loop[k].pitch * 8 : 0};
  for (int32_t i = 0; i < sums->dst[c].n; i++) {
    const struct tesela__sum_digit digit = sums->digit[sums->dst[c].first + i];
    if (digit.step < s->block[c]) to->digit[to->n_digits++] = digit;
  }
  to->dst[c].n = to->n_digits - to->dst[c].first;
  to->src[c] = (tesela__sum_digits){to->n_digits, sums->src[c].n};
  for (int32_t i = 0; i < sums->src[c].n; i++)
    to->digit[to->n_digits++] = sums->digit[sums->src[c].first + i];
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

/* Places of all digits of dst less the elements; -1: too many, or digits that stretches cannot have. */
static int64_t stretch_padding(const stretch_cut *cut) {
  const tesela__sums *sums = cut->sums;
  int64_t places = 1, elements = 1;
  for (int32_t c = 0; c < sums->n; c++) {
    elements *= sums->extent[c];
    for (int32_t k = 0; k < sums->dst[c].n; k++) {
      const int64_t stride = sums->digit[sums->dst[c].first + k].stride;
      if (stride < cut->bits || !tesela__mul(places, stretch_room(cut, c, k), &places)) return -1;
    }
  }
  return places - elements;
}

/* With padding, is all that the digits of dst reach one block without a gap? Else rooms up to the next stride may not be those of the
 * digits, though they are as many. */
static bool is_one_block(const stretch_cut *cut, const tesela_layout *dst) {
  const tesela__sums *sums = cut->sums;
  int64_t reach = 1, block = cut->bits;
  bool grows = true;
  uint64_t seen[TESELA_MAX_RANK] = {0}; /* digits of each coordinate */
  for (int32_t c = 0; c < sums->n; c++)
    if (sums->dst[c].n >= 64) return false;
  for (int32_t i = 0; i < dst->n_active; i++) {
    if (dst->digit[i].axis < 0 || dst->digit[i].extent == 1) continue;
    if (dst->digit[i].stride <= 0) return false;
    reach += (dst->digit[i].extent - 1) * dst->digit[i].stride;
  }
  while (grows) {
    grows = false;
    for (int32_t c = 0; c < sums->n; c++)
      for (int32_t k = 0; k < sums->dst[c].n; k++) {
        if (seen[c] >> k & 1 || sums->digit[sums->dst[c].first + k].stride != block) continue;
        seen[c] |= (uint64_t)1 << k;
        block *= stretch_room(cut, c, k);
        grows = true;
      }
  }
  for (int32_t c = 0; c < sums->n; c++)
    if (seen[c] != ((uint64_t)1 << sums->dst[c].n) - 1) return false;
  return block == reach * cut->bits;
}

static stretch_sizes sizes_of_stretches(uint64_t *random) {
  if (!random) return (stretch_sizes){STRETCH_BYTES, STRETCH_WHOLE, STRETCH_LEAST, TESELA__GATHER_STAGE};
  const int64_t bytes = 16 << tesela__random(random) % 8, whole = bytes << tesela__random(random) % 4;
  return (stretch_sizes){bytes, whole, 1, TESELA__GATHER_STAGE >> tesela__random(random) % 8};
}

/* Cut into stretches for the passes that are set. False: they do not suit. */
static bool cut_stretches(stretch_cut cut) {
  tesela__stretches *s = cut.s;
  const tesela__sums *sums = cut.sums;
  int32_t c;
  s->n_loops = 0;
  for (c = 0; c < sums->n; c++) {
    s->block[c] = cut.group[c] = 1;
    cut.left[c] = sums->dst[c].n;
  }
  do c = next_of_stretch(&cut);
  while (c >= 0 && take_digit(&cut, c));
  s->bytes = cut.bits / 8;
  if (s->bytes < cut.sizes.least || !tesela__passes_suit(s, sums)) return false;
  set_loops(&cut, c >= 0 && s->block[c] > sums->digit[sums->dst[c].first + cut.left[c] - 1].step ? c : -1);
  set_stretch_groups(&cut);
  set_orders(s, sums);
  s->stage.n = sums->n;
  s->stage.n_digits = 0;
  for (c = 0; c < sums->n; c++) {
    set_stage_side(s, sums, c);
    s->most[c] = s->block[c] * cut.group[c];
  }
  return true;
}

bool tesela__stretches_set(tesela__stretches *s, const tesela_plan *plan, const tesela__sums *sums,
                           int64_t padding, uint64_t *random) {
  stretch_cut cut = {.s = s, .sums = sums, .sizes = sizes_of_stretches(random), .bits = plan->dst.bits};
  s->n_groups = 0;
  if (plan->conversion || cut.bits < 8 || sums->n_digits == 2 * TESELA_MAX_DIGITS) return false;
  cut.width = cut.bits / 8;
  cut.pads = padding > 0;
  if (padding < 0 || stretch_padding(&cut) != padding) return false;
  if (cut.pads && !is_one_block(&cut, &plan->dst)) return false;
  if (!tesela__src_order_set(&s->src, sums, plan->dst.bits)) s->src.n = 0;
  for (int one = 0; one < 2; one++) {
    tesela__passes_set(s, plan, sums, one);
    if (cut_stretches(cut)) return true;
  }
  s->n_groups = 0;
  return false;
}
