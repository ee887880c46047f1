/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_digits.c - passes for permutations of whole digits: both sides fill the same bytes, with the same digits in another
 * order.
 *
 *   swaps    two digits of one extent change places                            f32[8192,8192]{0,1} -> {1,0}: 64 x 64 blocks
 *   blocks   all digits stay together with neighbours of 2 KiB or more         cycles of blocks
 *   three    (or two) a digit that must go far goes in two parts. S is as many of the innermost digits of src as the scratch has room for
 *            (the last one split), D the same of dst; I = those in both make a block.
 *              1 strips of S     S becomes  S without I, I
 *              2 blocks of I     all digits outside I get the order of dst, then D without I
 *              3 strips of D     D without I, I  becomes  the order of dst
 *
 *   f32[8192,4096]{0,1} -> {1,0}, j j j = i split as 64 x 128, k = 64 x 64, 2 MiB of scratch
 *              i64 i128 k64 k64   1   i64 k64  i128 k64   2   k64 i64  i128 k64   3   k64 k64 i64 i128
 *                                     blocks of 128 x 64 x 4 bytes: 32 KiB
 *
 * Every pass reads and writes the tensor once. One of strips is left out if I is large with only the innermost digit of the other
 * side in S or D.
 */
#include "relayout/in_place.h"
#include "relayout/solve.h"

enum {
  UNIT = 2048,             /* bytes that are a block without any strips */
  LEAST_BLOCK = 64,        /* bytes of a block after strips; below, cycles of elements do it */
  WANTED_BLOCK = 16 << 10, /* strips are as large as this needs */
  LEAST_STRIP = 256 << 10,
  MOST_STRIP = 1 << 30,
  MOST_PIECE = 64 << 10 /* of a block that moves at a time */
};

/* ---- the digits ------------------------------------------------------------------------------------------- */

typedef struct digits_found {
  tesela__box box; /* outermost in dst first */
  int32_t n_boxes;
} digits_found;

static bool take_box(void *data, tesela__box *box) {
  digits_found *found = data;
  found->box = *box;
  return ++found->n_boxes == 1;
}

/* Do the loops fill one stretch of bits without gaps on a side? */
static bool fills_stretch(const tesela__box *box, bool src, int32_t bits) {
  int64_t reach = bits;
  for (int32_t found = 0; found < box->n_loops; found++) {
    int32_t i = tesela__find_loop(box, src ? reach : -1, src ? -1 : reach);
    if (i < 0) return false;
    reach *= box->loop[i].n;
  }
  return true;
}

/* ---- swaps ------------------------------------------------------------------------------------------------ */

static bool swaps_of(tesela__pass *pass, const tesela__box *box, int32_t bits, int64_t room) {
  int32_t moved[2], n_moved = 0;
  pass->kind = TESELA__PASS_SWAPS;
  pass->unit = bits;
  pass->n_loops = 0;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *loop = &box->loop[i];
    if (loop->ss == loop->ds && loop->ss == bits)
      pass->unit = loop->n * bits;
    else if (loop->ss == loop->ds)
      pass->loop[pass->n_loops++] = *loop;
    else if (n_moved == 2)
      return false;
    else
      moved[n_moved++] = i;
  }
  if (n_moved != 2) return false;
  const tesela__loop *a = &box->loop[moved[0]], *b = &box->loop[moved[1]];
  if (a->n != b->n || a->ss != b->ds || a->ds != b->ss || pass->unit > UNIT * 8) return false;
  pass->n = a->n;
  pass->x = tesela__max(a->ss, b->ss);
  pass->y = tesela__min(a->ss, b->ss);
  /* blocks of 256 bytes and more a row, which begin and end at bytes */
  pass->side = tesela__max(1, 256 * 8 / pass->unit);
  if (pass->unit == 8) pass->side = 128;
  const int64_t least = bits < 8 ? 8 : 1; /* so that rows of a block begin and end at bytes */
  while (pass->side > least && pass->side * pass->side * pass->unit > room * 8) pass->side /= 2;
  pass->side = tesela__max(least, pass->side / least * least);
  if (pass->n * pass->unit % 8 || pass->x % 8) return false;
  for (int32_t i = 0; i < pass->n_loops; i++)
    if (pass->loop[i].ss % 8) return false;
  pass->side = tesela__min(pass->side, pass->n);
  pass->scratch_bytes = tesela__ceil_div(pass->side * pass->side * pass->unit, 512) * 64;
  return true;
}

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/* The pass that moves blocks: the loops outside them, with strides in bits; both sides have the blocks densely. */
static bool blocks_of(tesela__pass *pass, const tesela__loop *loop, int32_t n_loops, int64_t block,
                      int64_t limit, int32_t threads) {
  int64_t n = 1, batch = 1;
  if (block % 8) return false;
  pass->kind = TESELA__PASS_BLOCKS;
  pass->block_bytes = block / 8;
  pass->n_digits = 0;
  tesela__box rest = {.n_loops = n_loops};
  memcpy(rest.loop, loop, (size_t)n_loops * sizeof *loop);
  tesela__box_simplify(&rest); /* by decreasing ds */
  for (int32_t i = 0; i < rest.n_loops; i++) n *= rest.loop[i].n;
  for (int32_t i = 0; i < rest.n_loops; i++) {
    const tesela__loop *l = &rest.loop[i];
    if (pass->n_digits == 0 && l->ss == l->ds) { /* outermost on both sides */
      batch *= l->n;
      continue;
    }
    pass->digit[pass->n_digits].n = l->n;
    pass->digit[pass->n_digits++].weight = l->ss / block;
  }
  pass->batch = batch;
  const int64_t marks = (n / batch + 511) / 512 * 64;
  pass->piece_bytes = tesela__min(pass->block_bytes, MOST_PIECE);
  if (pass->block_bytes / threads < pass->piece_bytes &&
      batch < threads) /* a thread does a part of each block */
    pass->piece_bytes = tesela__ceil_div(tesela__ceil_div(pass->block_bytes, threads), 64) * 64;
  pass->scratch_bytes = marks + (pass->piece_bytes + 63) / 64 * 64;
  pass->threads = threads;
  return pass->scratch_bytes * threads <= limit;
}

/* ---- strips and blocks ------------------------------------------------------------------------------------ */

/* A digit, whether S and D have it, and its strides on both sides and between the passes. */
typedef struct part {
  int64_t n, ss, ds, first, second; /* strides: of src, of dst, after pass 1, after pass 2 */
  bool in_s, in_d;
} part;

typedef struct parts {
  int32_t n;
  part part[TESELA_MAX_RANK];
} parts;

/* The largest divisor of n up to `most`. */
static int64_t divisor_up_to(int64_t n, int64_t most) {
  enum { TRIES = 1 << 16 };
  int64_t best = 1;
  if (n <= most) return n;
  for (int64_t d = 1; d <= TRIES && d <= n / d; d++) {
    if (n % d) continue;
    if (d <= most) best = tesela__max(best, d);
    if (n / d <= most) best = tesela__max(best, n / d);
  }
  return best;
}

/* Values of each loop that fit among the innermost `room` elements of a side, of at most `loops` loops besides a unit that is
 * contiguous on both sides. */
static void take_inner(const tesela__box *box, bool src, int64_t room, int32_t loops, int32_t bits,
                       int64_t *taken) {
  int64_t reach = bits;
  for (int32_t i = 0; i < box->n_loops; i++) taken[i] = 1;
  if (tesela__find_loop(box, bits, bits) >= 0) loops++;
  for (int32_t found = 0; found < box->n_loops && found < loops; found++) {
    const int32_t i = tesela__find_loop(box, src ? reach : -1, src ? -1 : reach);
    taken[i] = divisor_up_to(box->loop[i].n, room);
    if (taken[i] < box->loop[i].n) return;
    room /= taken[i];
    reach *= box->loop[i].n;
  }
}

/* Loops that S and D may have. */
typedef struct side_loops {
  int32_t s, d;
} side_loops;

/* Split the loops at the edges of S and D. */
static bool split_parts(parts *p, const tesela__box *box, int64_t room, side_loops most, int32_t bits) {
  int64_t s[TESELA__MAX_LOOPS], d[TESELA__MAX_LOOPS];
  take_inner(box, true, room, most.s, bits, s);
  take_inner(box, false, room, most.d, bits, d);
  p->n = 0;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *loop = &box->loop[i];
    const bool s_part = s[i] > 1 && s[i]<loop->n, d_part = d[i]> 1 && d[i] < loop->n;
    const int64_t cut = s_part && d_part ? tesela__min(s[i], d[i]) : s_part ? s[i] : d_part ? d[i] : loop->n;
    if (p->n + 2 > TESELA_MAX_RANK) return false;
    p->part[p->n++] = (part){cut, loop->ss, loop->ds, 0, 0, s[i] > 1, d[i] > 1};
    if (cut < loop->n)
      p->part[p->n++] =
          (part){loop->n / cut, loop->ss * cut, loop->ds * cut, 0, 0, s[i] == loop->n, d[i] == loop->n};
  }
  return true;
}

/* Bits of a block: the parts in both S and D. */
static int64_t block_bits(const parts *p, int32_t bits) {
  int64_t block = bits;
  for (int32_t i = 0; i < p->n; i++) block *= p->part[i].in_s && p->part[i].in_d ? p->part[i].n : 1;
  return block;
}

/* Split them so that one pass of strips is enough, if blocks are then large enough; else for two. */
static bool find_parts(parts *p, const tesela__box *box, int64_t room, int32_t bits, int64_t least) {
  static const side_loops one[] = {{1, INT32_MAX - 1}, {INT32_MAX - 1, 1}};
  for (int i = 0; i < 2; i++)
    if (split_parts(p, box, room, one[i], bits) && block_bits(p, bits) >= UNIT * 8) return true;
  if (!split_parts(p, box, room, (side_loops){INT32_MAX - 1, INT32_MAX - 1}, bits)) return false;
  return block_bits(p, bits) >= least * 8 && block_bits(p, bits) > bits;
}

/* Give the parts with these flags strides from *reach on, the smallest of src or dst first. */
static void order_parts(parts *p, int in_s, int in_d, bool by_src, bool second, int64_t *reach) {
  int64_t last = 0;
  for (;;) {
    part *next = NULL;
    for (int32_t i = 0; i < p->n; i++) {
      part *x = &p->part[i];
      const int64_t key = by_src ? x->ss : x->ds, best = !next ? INT64_MAX : by_src ? next->ss : next->ds;
      if ((in_s < 0 || x->in_s == in_s) && (in_d < 0 || x->in_d == in_d) && key > last && key < best)
        next = x;
    }
    if (!next) return;
    last = by_src ? next->ss : next->ds;
    *(second ? &next->second : &next->first) = *reach;
    *reach *= next->n;
  }
}

/* A pass of strips over the parts, `before` and `after` strides; all parts, of which the outer ones only count strips. */
static bool strips_of(tesela__pass *pass, const parts *p, bool first, int32_t bits, int32_t threads) {
  static tesela__sums const none = {0};
  tesela__sums sums = none;
  int64_t reach = bits;
  for (int32_t i = 0; i < p->n; i++) {
    const part *x = &p->part[i];
    if (!(first ? x->in_s : x->in_d)) continue;
    if (!tesela__sums_add_loop(&sums, x->n, first ? x->first : x->ds, first ? x->ss : x->second))
      return false;
    reach *= x->n;
  }
  pass->kind = TESELA__PASS_STRIPS;
  pass->sums = sums;
  pass->strip_bytes = reach / 8;
  pass->scratch_bytes = (reach / 8 + 63) / 64 * 64;
  pass->backwards = false;
  pass->independent = true;
  pass->threads = threads;
  return reach % 8 == 0;
}

/* The strips follow each other; those of a pass are `total` bits together. */
static bool count_strips(tesela__pass *pass, int64_t total, int64_t offset) {
  const int64_t bits = pass->strip_bytes * 8;
  if (pass->sums.n == TESELA_MAX_RANK) return false;
  const int32_t c = pass->sums.n;
  if (!tesela__sums_add_loop(&pass->sums, 1, bits, bits)) return false;
  pass->n_levels = 1;
  pass->level[0] = (tesela__strip_level){c, 1, 1, total / bits, bits, bits};
  pass->dst = pass->src = offset;
  return true;
}

/* Do parts stay where they are in a pass? */
static bool stays(const parts *p, bool first) {
  for (int32_t i = 0; i < p->n; i++) {
    const part *x = &p->part[i];
    if (first ? x->in_s && x->first != x->ss : x->in_d && x->second != x->ds) return false;
  }
  return true;
}

/* The number of passes; 0: impossible. */
static int32_t three_passes(tesela__pass *first, const tesela__box *box, int32_t bits, int64_t least,
                            int64_t limit, int32_t threads) {
  int64_t total = bits, reach = bits;
  parts p;
  for (int32_t i = 0; i < box->n_loops; i++)
    if (!tesela__mul(total, box->loop[i].n, &total)) return 0;
  int64_t strip = LEAST_STRIP;
  while (strip < limit / threads && strip < MOST_STRIP && strip * strip / WANTED_BLOCK < total / 8)
    strip *= 2;
  strip = tesela__min(strip, limit / threads);
  if (!find_parts(&p, box, strip * 8 / bits, bits, least)) return 0;
  const int64_t block = block_bits(&p, bits);
  order_parts(&p, 1, 1, false, false, &reach); /* I in the order of dst, after pass 1 and after pass 2 */
  order_parts(&p, 1, 0, true, false, &reach);
  order_parts(&p, 0, -1, true, false, &reach);
  reach = bits;
  order_parts(&p, 1, 1, false, true, &reach);
  order_parts(&p, 0, 1, false, true, &reach);
  order_parts(&p, -1, 0, false, true, &reach);
  tesela__loop outside[TESELA_MAX_RANK];
  int32_t n_outside = 0;
  for (int32_t i = 0; i < p.n; i++)
    if (!(p.part[i].in_s && p.part[i].in_d))
      outside[n_outside++] = (tesela__loop){p.part[i].n, p.part[i].first, p.part[i].second};
  tesela__pass *pass = first;
  if (!stays(&p, true) && !(strips_of(pass, &p, true, bits, threads) && count_strips(pass, total, box->dst)))
    return 0;
  pass += !stays(&p, true);
  if (!blocks_of(pass, outside, n_outside, block, limit, threads)) return 0;
  pass->dst = box->dst;
  pass += pass->n_digits > 0;
  if (!stays(&p, false) &&
      !(strips_of(pass, &p, false, bits, threads) && count_strips(pass, total, box->dst)))
    return 0;
  pass += !stays(&p, false);
  return (int32_t)(pass - first);
}

/* ---- choice ----------------------------------------------------------------------------------------------- */

static bool unit_blocks(tesela__pass *pass, const tesela__box *box, int32_t bits, int64_t limit,
                        int32_t threads) {
  const int32_t i = tesela__find_loop(box, bits, bits);
  if (i < 0 || box->loop[i].n * bits < UNIT * 8) return false;
  tesela__box rest = *box;
  tesela__drop_loop(&rest, i);
  pass->dst = box->dst;
  return blocks_of(pass, rest.loop, rest.n_loops, box->loop[i].n * bits, limit, threads) &&
         pass->n_digits > 0;
}

bool tesela__digits_box(const tesela_plan *plan, const tesela__problem *problem, tesela__box *box) {
  digits_found found;
  const int32_t bits = plan->dst.bits;
  found.n_boxes = 0;
  if (problem->irregular || !tesela__problem_boxes(problem, take_box, &found) || found.n_boxes != 1)
    return false;
  tesela__box_copy(box, &found.box);
  return box->src == box->dst && box->dst % 8 == 0 && fills_stretch(box, true, bits) &&
         fills_stretch(box, false, bits);
}

int32_t tesela__digits_find(tesela__pass *pass, const tesela_plan *plan, const tesela__box *box,
                            int64_t limit, int32_t threads) {
  const int32_t bits = plan->dst.bits;
  if (unit_blocks(pass, box, bits, limit, threads)) return 1;
  if (swaps_of(pass, box, bits, limit / threads) && pass->scratch_bytes * threads <= limit) {
    pass->dst = box->dst;
    pass->threads = threads;
    return 1;
  }
  const int64_t least = plan->options.shuffle ? 1 : LEAST_BLOCK;
  int32_t n_passes = 0;
  for (int32_t n = threads; n >= 1 && n_passes == 0; n /= 2)
    n_passes = three_passes(pass, box, bits, least, limit, n);
  return n_passes;
}
