/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute.c - blocks of some lines on both sides whose bytes are all moved alike, by permutes of 64 bytes.
 *
 * A block has the loops with the shortest steps of both sides, so that it consists of whole lines of dst and of stretches of
 * about a line of src:
 *
 *   u8 [5,n] to [n,5]       64 x 5 values: 5 lines of dst, each picked from 5 stretches of 64 bytes
 *   f32 records of 4 x 6    two records, 192 bytes: 3 lines of dst, each picked from 2 or 3 lines of src
 *
 * A cut loop is divided: blocks, and the rest in a piece of its own.
 */
#include "relayout/solve.h"

enum {
  MOST_BYTES = 4096, /* of a block */
  MOST_PICKS = 320,
  LEAST_BLOCKS = 16 /* of a loop that is cut with a rest */
};

/* ---- the block --------------------------------------------------------------------------------------------- */

static int64_t gcd_with_line(int64_t bytes) {
  int64_t g = TESELA__LINE;
  while (bytes % g) g /= 2;
  return g;
}

/* The loop with the shortest step from `extent` on, less than a line, of those with a positive step in dst; or -1. */
static int32_t next_near(const tesela__box *box, bool src, int64_t extent, uint64_t seen) {
  int32_t best = -1;
  int64_t least = TESELA__LINE;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const int64_t step = src ? box->loop[i].ss : box->loop[i].ds, size = step < 0 ? -step : step;
    if (seen >> i & 1 || size < extent || size >= least || box->loop[i].ds <= 0) continue;
    least = size;
    best = i;
  }
  return best;
}

static void take_src(tesela__permute_fit *fit, const tesela__job *job) {
  const tesela__box *box = job->box;
  int64_t extent = job->wd;
  uint64_t seen = 0;
  for (int32_t i; extent < TESELA__LINE && (i = next_near(box, true, extent, seen)) >= 0;) {
    const int64_t step = box->loop[i].ss < 0 ? -box->loop[i].ss : box->loop[i].ss;
    const int64_t n = tesela__min(box->loop[i].n, tesela__ceil_div(TESELA__LINE, step));
    fit->take[i] = tesela__max(fit->take[i], n);
    seen |= (uint64_t)1 << i;
    extent = n < box->loop[i].n ? TESELA__LINE : step * n;
  }
}

/* Take loops of dst until they cover whole lines; where that is too much, a line or a little more. */
static void take_dst(tesela__permute_fit *fit, const tesela__job *job) {
  const tesela__box *box = job->box;
  int64_t extent = job->wd;
  uint64_t seen = 0;
  while (extent < TESELA__LINE || extent % TESELA__LINE) {
    if (extent == job->row) extent += job->padding;
    int32_t i = tesela__find_loop(box, -1, extent);
    const bool dense = i >= 0 && !(seen >> i & 1);
    if (!dense && extent < TESELA__LINE) i = next_near(box, false, extent, seen);
    if (i < 0 || seen >> i & 1) return;
    const tesela__loop *loop = &box->loop[i];
    int64_t n = dense ? TESELA__LINE / gcd_with_line(extent) : tesela__ceil_div(TESELA__LINE, loop->ds);
    if (n * loop->ds > MOST_BYTES) n = tesela__ceil_div(TESELA__LINE, loop->ds);
    if (n == 1) return;
    fit->take[i] = tesela__max(fit->take[i], tesela__min(n, loop->n));
    if (n < loop->n) return;
    seen |= (uint64_t)1 << i;
    extent = loop->ds * loop->n;
  }
}

/* Steps of a loop in a block, at least `least`: all of them, a divisor, or at the last a part that leaves a rest. 0: none. */
static int64_t part_of_loop(const tesela__loop *loop, int64_t least) {
  if (loop->n < 2 * least) return loop->n;
  if (loop->n % least == 0) return least;
  for (int64_t n = least + 1; n <= 2 * least; n++)
    if (loop->n % n == 0 && n * loop->ds % TESELA__LINE == 0) return n;
  if (loop->n >= LEAST_BLOCKS * least) return least;
  for (int64_t n = least + 1; n <= 2 * least; n++)
    if (loop->n % n == 0) return n;
  return 0;
}

static const char *fit_block(tesela__permute_fit *fit, const tesela__job *job) {
  const tesela__box *box = job->box;
  int32_t cuts = 0, rests = 0;
  *fit = (tesela__permute_fit){.elements = 1};
  for (int32_t i = 0; i < box->n_loops; i++) fit->take[i] = 1;
  take_dst(fit, job);
  take_src(fit, job);
  for (int32_t i = 0; i < box->n_loops; i++) {
    if (fit->take[i] > 1) fit->take[i] = part_of_loop(&box->loop[i], fit->take[i]);
    if (fit->take[i] == 0) return "blocks of a few lines would leave too much of a loop";
    cuts += fit->take[i] > 1 && fit->take[i] < box->loop[i].n;
    rests += fit->take[i] > 1 && box->loop[i].n % fit->take[i] != 0;
    fit->elements *= fit->take[i];
    if (fit->elements * job->wd > MOST_BYTES) return "blocks have too many bytes";
  }
  if (rests > 1) return "blocks would leave a rest of two loops";
  if (box->n_loops + cuts > TESELA__MAX_LOOPS) return "too many loops";
  return fit->elements * job->wd < TESELA__LINE ? "no block has a line" : NULL;
}

/* ---- lines and picks --------------------------------------------------------------------------------------- */

/* The elements of a block, in the order of their places in dst. */
typedef struct walk {
  int32_t n, width;
  tesela__loop loop[TESELA__MAX_LOOPS]; /* shortest step in dst first */
  int64_t at[TESELA__MAX_LOOPS];
  int64_t src, dst, left;
} walk;

static void walk_start(walk *w, const tesela__job *job, const tesela__permute_fit *fit) {
  *w = (walk){.width = job->wd, .left = fit->elements};
  for (int32_t i = 0; i < job->box->n_loops; i++) {
    tesela__loop loop = job->box->loop[i];
    int32_t k = w->n;
    loop.n = fit->take[i];
    if (loop.n == 1) continue;
    for (; k > 0 && w->loop[k - 1].ds > loop.ds; k--) w->loop[k] = w->loop[k - 1];
    w->loop[k] = loop;
    w->n++;
  }
}

static void walk_next(walk *w) {
  w->left--;
  for (int32_t i = 0; i < w->n; i++) {
    w->src += w->loop[i].ss;
    w->dst += w->loop[i].ds;
    if (++w->at[i] < w->loop[i].n) return;
    w->at[i] = 0;
    w->src -= w->loop[i].n * w->loop[i].ss;
    w->dst -= w->loop[i].n * w->loop[i].ds;
  }
}

/* The elements of one line of dst, by their places in src. */
typedef struct line_elements {
  int32_t n;
  int64_t to; /* where the line begins in dst */
  struct {
    int64_t src, dst; /* dst: from `to` */
  } element[TESELA__LINE];
} line_elements;

static void take_line(walk *w, int64_t to, line_elements *line) {
  line->n = 0;
  line->to = to;
  while (w->left > 0 && w->dst >= line->to && w->dst + w->width <= line->to + TESELA__LINE) {
    int32_t k = line->n++;
    for (; k > 0 && line->element[k - 1].src > w->src; k--) line->element[k] = line->element[k - 1];
    line->element[k].src = w->src;
    line->element[k].dst = w->dst - line->to;
    walk_next(w);
  }
}

/* Set whether a block is dense in dst, and with which padding: that after rows, if it makes blocks dense. */
static void set_density(tesela__permute_fit *fit, const tesela__job *job) {
  int64_t span = job->wd, rows = 1;
  for (int32_t i = 0; i < job->box->n_loops; i++) {
    span += (fit->take[i] - 1) * job->box->loop[i].ds;
    if (job->padding && job->box->loop[i].ds >= job->row) rows *= fit->take[i];
  }
  fit->span = span;
  if (job->padding && span + job->padding == fit->elements * job->wd + rows * job->padding) {
    fit->padding = job->padding;
    fit->span += job->padding;
  }
  fit->dense = fit->padding || span == fit->elements * job->wd;
}

/* The pick of the elements of a line from number i on that are within a line of src; returns the number of the next. */
static int32_t pick_of(const line_elements *line, int32_t width, int32_t i, tesela__line_pick *pick) {
  memset(pick, 0, sizeof *pick);
  pick->from = line->element[i].src;
  for (; i < line->n && line->element[i].src + width <= pick->from + TESELA__LINE; i++)
    for (int32_t b = 0; b < width; b++) {
      const int64_t in = line->element[i].src - pick->from + b, out = line->element[i].dst + b;
      pick->read |= (uint64_t)1 << in;
      pick->write |= (uint64_t)1 << out;
      pick->index[out] = (uint8_t)in;
    }
  return i;
}

const char *tesela__permute_refuses(const tesela__job *job) {
  enum { LONG = 2 * TESELA__LINE };
  const tesela__box *box = job->box;
  if (job->bitwise || job->group > 1) return "elements share bytes";
  if (job->conversion || job->ws != job->wd) return "values are converted";
  if (job->inner) return "from one buffer in the cache to another";
  if (tesela__kernel_for(job, TESELA__K_PERMUTE, 0, 0)->isa == 0 && !job->random &&
      tesela__wanted(job->plan) != TESELA_SOLVER_PERMUTE)
    return "no permute of 64 bytes in this instruction set";
  if (job->shared >= 0 && box->loop[job->shared].n * job->wd >= LONG) return "runs are long";
  if (job->shared < 0 && job->b >= 0 && job->wd < 16) {
    const tesela__loop *b = &box->loop[job->b];
    if (b->n * job->wd >= TESELA__LINE && (b->ss >= TESELA__LINE || b->ss <= -TESELA__LINE))
      return "each element of a line would be picked alone";
  }
  return NULL;
}

const char *tesela__permute_fit_block(const tesela__job *job, tesela__permute_fit *fit) {
  const char *why = fit_block(fit, job);
  if (why) return why;
  walk w;
  line_elements line;
  set_density(fit, job);
  walk_start(&w, job, fit);
  take_line(&w, 0, &line);
  for (int32_t i = 0; i < line.n; fit->picks++) {
    const int64_t from = line.element[i].src;
    while (i < line.n && line.element[i].src + job->wd <= from + TESELA__LINE) i++;
  }
  const int64_t lines = fit->elements / line.n;
  return lines * fit->picks > MOST_PICKS ? "lines are picked from too many places" : NULL;
}

/* ---- the piece --------------------------------------------------------------------------------------------- */

/* Box in bits. */
static void to_bits(const tesela__job *job, tesela__box *box) {
  const int64_t bits = job->plan->dst.bits;
  box->src *= 8;
  box->dst *= 8;
  for (int32_t i = 0; i < box->n_loops; i++) {
    box->loop[i].ss *= 8;
    box->loop[i].ds *= 8;
  }
  tesela__box_add(box, 8 * job->wd / bits, bits, bits);
}

bool tesela__permute_split(tesela__job *job, tesela__box *rest) {
  tesela__box *box = job->box;
  bool has_rest = false;
  tesela__permute_fit_block(job, &job->permute);
  for (int32_t i = 0; i < box->n_loops; i++) {
    tesela__loop *loop = &box->loop[i];
    int64_t *take = &job->permute.take[i], n = loop->n / *take, left = loop->n % *take;
    if (*take == 1 || n == 1) continue;
    if (left) {
      has_rest = true;
      *rest = *box;
      rest->loop[i].n = left;
      rest->src += n * *take * loop->ss;
      rest->dst += n * *take * loop->ds;
      if (left == 1) tesela__drop_loop(rest, i);
    }
    memmove(loop + 1, loop, (size_t)(box->n_loops - i) * sizeof *loop);
    memmove(take + 1, take, (size_t)(box->n_loops - i) * sizeof *take);
    box->n_loops++;
    loop[0] = (tesela__loop){n, *take * loop->ss, *take * loop->ds};
    loop[1].n = *take;
    *take = 1;
    i++;
  }
  if (has_rest) to_bits(job, rest);
  return has_rest;
}

static bool grow_lists(tesela_plan *plan, int32_t lines, int32_t picks) {
  void *line = plan->picked_line, *pick = plan->pick;
  bool grown = tesela__grow(&plan->allocator, &line, sizeof *plan->picked_line, &plan->picked_line_capacity,
                            (uint64_t)(plan->n_picked_lines + lines)) &&
               tesela__grow(&plan->allocator, &pick, sizeof *plan->pick, &plan->pick_capacity,
                            (uint64_t)(plan->n_picks + picks));
  plan->picked_line = line;
  plan->pick = pick;
  return grown;
}

tesela_status tesela__permute_set(const tesela__builder *b, tesela_error *err) {
  const tesela__job *job = b->job;
  tesela_plan *plan = job->plan;
  tesela__piece *piece = b->piece;
  const tesela__permute_fit *fit = &job->permute;
  walk w;
  line_elements line;
  walk_start(&w, job, &job->permute);
  piece->first_line = plan->n_picked_lines;
  piece->whole_lines = true;
  for (int64_t at = 0; fit->dense ? at < fit->span : w.left > 0; at += TESELA__LINE) {
    take_line(&w, fit->dense ? at : w.dst, &line);
    if (!grow_lists(plan, 1, line.n))
      return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a permute");
    tesela__picked_line *to = &plan->picked_line[plan->n_picked_lines++];
    *to = (tesela__picked_line){.to = line.to, .first = plan->n_picks};
    for (int32_t i = 0; i < line.n; to->n++) {
      tesela__line_pick *pick = &plan->pick[plan->n_picks++];
      i = pick_of(&line, job->wd, i, pick);
      to->write |= pick->write;
    }
    if (fit->padding)
      to->write = fit->span - at < TESELA__LINE ? ((uint64_t)1 << (fit->span - at)) - 1 : ~(uint64_t)0;
    piece->whole_lines = piece->whole_lines && line.to % TESELA__LINE == 0 && ~to->write == 0;
  }
  piece->n_lines = plan->n_picked_lines - piece->first_line;
  piece->picks_padding = fit->padding > 0;
  return TESELA_OK;
}
