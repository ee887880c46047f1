/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.c - the passes of a group of the gather.
 *
 * Where both sides have long runs of one coordinate, one pass copies them. Else each side has a pass of its own between its places and a
 * buffer with long rows, and another one transposes from one buffer to the other:
 *
 *   bf16 T(8,8) transposed -> T(10,200)    runs of 8 to rows; transposed; rows of 200
 *   u8 T(16,128)(4,1) -> T(20,50)          4 rows deinterleaved; runs of 50
 *   u8 T(4,4) -> T(6,100)                  elements of 4 bytes, of which 4 rows are deinterleaved; runs of 100
 */
#include "relayout/gather.h"

enum {
  PASS_RUN = 16,    /* bytes of a run that is copied at good speed */
  PASS_BLOCK = 48,  /* of a run that is transposed so */
  PASS_WOVEN = 32,  /* bytes of each stream, if runs are interleaved, */
  PASS_APART = 128, /* and if that is a pass of its own */
  PASS_STREAMS = 8, /* most that are interleaved */
  PASS_WIDE = 16    /* bytes of a run that can be one element, most */
};

/* How a pass moves the runs of a side. */
typedef enum pass_way {
  PASS_ROWS,  /* as they are */
  PASS_WEAVE, /* interleaved with each other, in rows of the next coordinate */
  PASS_WIDEN  /* as elements, which are transposed */
} pass_way;

/* A side: runs of `near`, and if they follow each other for values of another coordinate, that. */
typedef struct pass_side {
  const tesela__sum_digits *digits;
  int32_t near, next; /* next: or -1 */
  int64_t run, next_run;
  bool widens;
  pass_way way;
  int32_t minor; /* of the buffer at this side */
} pass_side;

static int64_t pass_run(const tesela__sums *sums, tesela__sum_digits digits, int32_t c) {
  const int64_t n = digits.n > 1 ? sums->digit[digits.first + digits.n - 2].step : sums->extent[c];
  return tesela__min(n, sums->extent[c]);
}

/* Have all digits but the last one whole runs? */
static bool pass_has_whole_runs(const tesela__sums *sums, const pass_side *side) {
  const tesela__sum_digits digits = side->digits[side->near];
  for (int32_t i = 0; i < digits.n - 1; i++)
    if (sums->digit[digits.first + i].step % side->run != 0) return false;
  return true;
}

static pass_side find_pass_side(const tesela_plan *plan, const tesela__sums *sums, bool dst) {
  const int64_t bits = plan->dst.bits;
  pass_side side = {.digits = dst ? sums->dst : sums->src, .next = -1};
  side.near = tesela__gather_nearest(sums, side.digits);
  side.run = pass_run(sums, side.digits[side.near], side.near);
  for (int32_t c = 0; c < sums->n; c++) {
    const tesela__sum_digits digits = side.digits[c];
    const int64_t run = pass_run(sums, digits, c);
    if (c == side.near || sums->digit[digits.first + digits.n - 1].stride != side.run * bits) continue;
    if (run <= side.next_run) continue;
    side.next = c;
    side.next_run = run;
  }
  const int64_t bytes = side.run * bits / 8;
  if (sums->digit[side.digits[side.near].first + side.digits[side.near].n - 1].stride != bits) side.next = -1;
  side.widens = side.next >= 0 && side.run > 1 && bytes <= PASS_WIDE && (bytes & (bytes - 1)) == 0 &&
                pass_has_whole_runs(sums, &side);
  if (dst && !plan->stretches.staged) side.widens = side.widens && sums->extent[side.near] % side.run == 0;
  const bool weaves = side.next >= 0 && side.run > 1 && side.run <= PASS_STREAMS;
  if (weaves && side.next_run * bits / 8 >= PASS_WOVEN)
    side.way = PASS_WEAVE;
  else if (bytes < PASS_RUN && side.widens)
    side.way = PASS_WIDEN;
  side.minor = side.way == PASS_WEAVE ? side.next : side.near;
  return side;
}

/* Do not interleave the runs of a side if other ways save the transpose. */
static void suit_pass_side(pass_side *side, const pass_side *other, int64_t bits) {
  const bool whole = side->run * bits / 8 >= PASS_RUN;
  if (side->minor == other->minor || side->way != PASS_WEAVE || side->near != other->minor) return;
  if (!whole && !side->widens) return;
  side->way = whole ? PASS_ROWS : PASS_WIDEN;
  side->minor = side->near;
}

static void add_pass(tesela__stretches *s, int32_t p, int32_t q, int32_t minor, int32_t second) {
  s->pass[s->n_passes++] =
      (tesela__stretch_pass){.p = p, .q = q, .wide = -1, .unit = 1, .minor = minor, .second = second};
}

/* Add the pass between a side and its buffer. */
static void add_side_pass(tesela__stretches *s, const pass_side *side, bool dst, int32_t second) {
  const bool widens = side->way == PASS_WIDEN;
  int32_t p = side->minor, q = side->way == PASS_ROWS ? p : widens ? side->next : side->near;
  if (dst) {
    const int32_t other = p;
    p = q;
    q = other;
  }
  add_pass(s, p, q, side->minor, second);
  if (!widens) return;
  s->pass[s->n_passes - 1].wide = side->near;
  s->pass[s->n_passes - 1].unit = side->run;
}

static bool is_short_in_pass(const pass_side *side, int64_t extent, int64_t bits) {
  return side->way != PASS_ROWS || (side->run < extent && side->run * bits / 8 < PASS_BLOCK);
}

/* Are runs interleaved so that this is not worth a pass of its own? */
static bool is_woven_shortly(const pass_side *side, int64_t bits) {
  return side->way == PASS_WEAVE && side->next_run * bits / 8 < PASS_APART;
}

static void set_one_pass(tesela__stretches *s, int32_t p, int32_t q) {
  s->n_passes = 0;
  s->aligned = -1;
  s->align = 1;
  add_pass(s, p, q, p, q);
}

void tesela__passes_set(tesela__stretches *s, const tesela_plan *plan, const tesela__sums *sums, bool one) {
  const int32_t p = tesela__gather_nearest(sums, sums->dst);
  set_one_pass(s, p, p);
  if (!tesela__gather_transposes(plan, sums)) return;
  pass_side src = find_pass_side(plan, sums, false), dst = find_pass_side(plan, sums, true);
  suit_pass_side(&src, &dst, plan->dst.bits);
  suit_pass_side(&dst, &src, plan->dst.bits);
  const bool same = src.minor == dst.minor;
  const bool rows = src.way == PASS_ROWS && dst.way == PASS_ROWS;
  const bool shortly = is_woven_shortly(&src, plan->dst.bits) || is_woven_shortly(&dst, plan->dst.bits);
  if (one || (same && (rows || shortly))) {
    set_one_pass(s, dst.near, src.near);
    return;
  }
  s->n_passes = 0;
  if (same || is_short_in_pass(&src, sums->extent[src.near], plan->dst.bits)) {
    add_side_pass(s, &src, false, same ? (src.minor == src.near ? src.next : src.near) : dst.minor);
    s->aligned = src.way == PASS_ROWS ? -1 : src.near;
    s->align = src.way == PASS_ROWS ? 1 : src.run;
  }
  if (!same) add_pass(s, dst.minor, src.minor, dst.minor, src.minor);
  if (same || is_short_in_pass(&dst, sums->extent[dst.near], plan->dst.bits))
    add_side_pass(s, &dst, true, -1);
}

bool tesela__passes_suit(const tesela__stretches *s, const tesela__sums *sums) {
  const tesela__stretch_pass *last = &s->pass[s->n_passes - 1];
  if (last->unit == 1 || s->n_passes == 1) return true;
  if (s->block[last->wide] % last->unit != 0) return false;
  if (s->aligned != last->wide) return true;
  /* what the first pass reads for `align` is not padding of dst, and begins with a whole element of the last pass */
  return sums->extent[last->wide] % last->unit == 0 &&
         (s->align % last->unit == 0 || last->unit % s->align == 0);
}

/* ---- buffers ----------------------------------------------------------------------------------------------- */

int64_t tesela__passes_room(const tesela__stretches *s, const tesela__sums *sums, int32_t c, int64_t values) {
  int64_t most = 1;
  for (int32_t k = 0; k < s->n_passes; k++)
    if (s->pass[k].wide == c) most = tesela__max(most, s->pass[k].unit);
  if (s->aligned == c) most = tesela__max(most, s->align);
  return tesela__min(sums->extent[c], values) + 2 * (most - 1);
}

/* Bytes from row to row: lines; if they are several an odd number, so that rows are in different sets of the cache. */
static int64_t pass_pitch(int64_t bytes) {
  const int64_t lines = tesela__ceil_div(bytes, TESELA__LINE);
  if (bytes <= TESELA__LINE / 2) return tesela__ceil_div(bytes, 16) * 16;
  return (lines < 8 ? lines : lines | 1) * TESELA__LINE;
}

int64_t tesela__passes_buffer(const tesela__stretch_pass *pass, int32_t n, int64_t width, const int64_t *room,
                              int64_t *stride) {
  int64_t bytes = pass_pitch(room[pass->minor] * width);
  stride[pass->minor] = width;
  if (pass->second >= 0 && pass->second != pass->minor) {
    stride[pass->second] = bytes;
    bytes *= room[pass->second];
  }
  for (int32_t c = 0; c < n; c++) {
    if (c == pass->minor || c == pass->second) continue;
    stride[c] = bytes;
    if (!tesela__mul(bytes, room[c], &bytes)) return INT64_MAX;
  }
  return bytes;
}
