/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute_lines.c - the lines of a block of PERMUTE (permute.c), and the stretches of src that each is picked from.
 *
 *   u8 [5,n] to [n,5]       a line of dst has 12 or 13 elements of each of 5 rows, so 5 picks
 *
 * The lines of elements below 8 bits have rounds besides (permute_bits.c).
 */
#include "relayout/solve.h"

/* ---- the elements of a line --------------------------------------------------------------------------------- */

/* The elements of a block, in the order of their places in dst. */
typedef struct walk {
  int32_t n, width, byte;               /* byte: units of one */
  tesela__loop loop[TESELA__MAX_LOOPS]; /* shortest step in dst first */
  int64_t at[TESELA__MAX_LOOPS];
  int64_t src, dst, left;
} walk;

static void walk_start(walk *w, const tesela__job *job, const tesela__permute_fit *fit) {
  *w = (walk){.width = fit->width,
              .byte = fit->bits ? 8 : 1,
              .src = fit->src_bit,
              .dst = fit->dst_bit,
              .left = fit->elements};
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

/* The next elements, those of the line at byte `to` of dst. */
static void take_line(walk *w, int64_t to, tesela__line_elements *line) {
  const int64_t first = to * w->byte;
  line->n = 0;
  line->to = to;
  while (w->left > 0 && w->dst >= first && w->dst + w->width <= first + TESELA__LINE * w->byte) {
    int32_t k = line->n++;
    for (; k > 0 && line->element[k - 1].src > w->src; k--) line->element[k] = line->element[k - 1];
    line->element[k].src = w->src;
    line->element[k].dst = w->dst - first;
    walk_next(w);
  }
}

void tesela__permute_first_line(const tesela__job *job, const tesela__permute_fit *fit,
                                tesela__line_elements *line) {
  walk w;
  walk_start(&w, job, fit);
  take_line(&w, 0, line);
}

/* ---- picks -------------------------------------------------------------------------------------------------- */

/* Where the stretch of src begins that element i of a line is picked from: at a line of src, if `aligned`. */
static int64_t pick_begins(const tesela__permute_fit *fit, const tesela__line_elements *line, int32_t i,
                           bool aligned) {
  const int64_t src = line->element[i].src;
  if (aligned) return src - ((src + fit->src_phase) & (TESELA__LINE - 1));
  return tesela__stretch_at(fit, src);
}

/* The number after the elements of a line from number i on that one pick has. */
static int32_t end_of_pick(const tesela__permute_fit *fit, const tesela__line_elements *line, int32_t i,
                           bool aligned) {
  const int64_t end = pick_begins(fit, line, i, aligned) + fit->stretch;
  for (i++; i < line->n && line->element[i].src + fit->width <= end;) i++;
  return i;
}

static int32_t count_picks(const tesela__permute_fit *fit, const tesela__line_elements *line, bool aligned) {
  int32_t n = 0;
  for (int32_t i = 0; i < line->n; n++) i = end_of_pick(fit, line, i, aligned);
  return n;
}

/* Are stretches read from lines of src? They are if these are known, no element is in two of them, and that takes no more stretches. */
static bool picks_lines(const tesela__permute_fit *fit, const tesela__line_elements *line) {
  for (int32_t i = 0; i < line->n; i++)
    if (line->element[i].src + fit->width > pick_begins(fit, line, i, true) + TESELA__LINE) return false;
  return fit->src_phase >= 0 && count_picks(fit, line, true) <= count_picks(fit, line, false);
}

int32_t tesela__count_picks(const tesela__permute_fit *fit, const tesela__line_elements *line) {
  return count_picks(fit, line, picks_lines(fit, line));
}

/* The pick of the elements of a line from number i to end - 1. */
static void set_pick(const tesela__permute_fit *fit, const tesela__line_elements *line, int64_t from,
                     int32_t i, int32_t end, tesela__line_pick *pick) {
  memset(pick, 0, sizeof *pick);
  memset(pick->index, TESELA__NO_BYTE, sizeof pick->index);
  pick->from = from;
  if (tesela__is_read_whole(fit, from)) pick->read = ((uint64_t)1 << fit->stretch) - 1;
  for (; i < end; i++)
    for (int32_t b = 0; b < fit->width; b++) {
      const int64_t in = line->element[i].src - from + b, out = line->element[i].dst + b;
      pick->read |= (uint64_t)1 << in;
      pick->write |= (uint64_t)1 << out;
      pick->index[out] = (uint8_t)in;
    }
}

/* ---- the lists of the plan ---------------------------------------------------------------------------------- */

static bool grow_lists(tesela_plan *plan, int32_t lines, int32_t picks, int32_t rounds) {
  void *line = plan->picked_line, *pick = plan->pick, *round = plan->bit_round;
  bool grown = tesela__grow(&plan->allocator, &line, sizeof *plan->picked_line, &plan->picked_line_capacity,
                            (uint64_t)(plan->n_picked_lines + lines)) &&
               tesela__grow(&plan->allocator, &pick, sizeof *plan->pick, &plan->pick_capacity,
                            (uint64_t)(plan->n_picks + picks)) &&
               tesela__grow(&plan->allocator, &round, sizeof *plan->bit_round, &plan->bit_round_capacity,
                            (uint64_t)(plan->n_bit_rounds + rounds));
  plan->picked_line = line;
  plan->pick = pick;
  plan->bit_round = round;
  return grown;
}

/* The picks of a line of bytes. */
static bool add_picks(tesela_plan *plan, const tesela__line_elements *line, const tesela__permute_fit *fit,
                      tesela__picked_line *to) {
  if (!grow_lists(plan, 1, line->n, 0)) return false;
  const bool aligned = picks_lines(fit, line);
  to->first = plan->n_picks;
  for (int32_t i = 0; i < line->n; to->n++) {
    tesela__line_pick *pick = &plan->pick[plan->n_picks++];
    const int32_t end = end_of_pick(fit, line, i, aligned);
    set_pick(fit, line, pick_begins(fit, line, i, aligned), i, end, pick);
    to->write |= pick->write;
    i = end;
  }
  return true;
}

/* The rounds of a line of bits, and one for the bits that it does not keep. */
static bool add_rounds(tesela_plan *plan, const tesela__line_elements *line, const tesela__permute_fit *fit,
                       tesela__picked_line *to) {
  tesela__bit_steps steps;
  if (!tesela__count_bit_steps(fit, line, &steps) || !grow_lists(plan, 1, steps.picks, steps.rounds + 1))
    return false;
  tesela__bit_round *round = &plan->bit_round[plan->n_bit_rounds], *own = round + steps.rounds;
  tesela__set_bit_steps(fit, line, plan->n_picks, round, plan->pick + plan->n_picks);
  memset(own, 0, sizeof *own);
  for (int32_t k = 0; k < steps.rounds; k++)
    for (int32_t i = 0; i < TESELA__LINE; i++) own->mask[i] |= round[k].mask[i];
  for (int32_t i = 0; i < TESELA__LINE; i++) {
    to->write |= (uint64_t)(own->mask[i] != 0) << i;
    to->keeps = to->keeps || (own->mask[i] != 0 && own->mask[i] != 0xff);
  }
  to->first = plan->n_bit_rounds;
  to->n = steps.rounds;
  plan->n_bit_rounds += steps.rounds + 1;
  plan->n_picks += steps.picks;
  return true;
}

tesela_status tesela__permute_set(const tesela__builder *b, tesela_error *err) {
  const tesela__job *job = b->job;
  tesela_plan *plan = job->plan;
  tesela__piece *piece = b->piece;
  const tesela__permute_fit *fit = &job->permute;
  walk w;
  tesela__line_elements line;
  walk_start(&w, job, &job->permute);
  piece->first_line = plan->n_picked_lines;
  piece->first_pick = plan->n_picks;
  piece->whole_lines = true;
  for (int64_t at = 0; fit->dense ? at < fit->span : w.left > 0; at += TESELA__LINE) {
    take_line(&w, fit->dense ? at : fit->bits ? w.dst >> 3 : w.dst, &line);
    tesela__picked_line to = {.to = line.to};
    if (!(fit->bits ? add_rounds : add_picks)(plan, &line, fit, &to))
      return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a permute");
    if (fit->padding) {
      to.write = fit->span - at < TESELA__LINE ? ((uint64_t)1 << (fit->span - at)) - 1 : ~(uint64_t)0;
      to.keeps = false;
    }
    plan->picked_line[plan->n_picked_lines++] = to;
    piece->whole_lines = piece->whole_lines && line.to % TESELA__LINE == 0 && ~to.write == 0 && !to.keeps;
    piece->keeps_bits = piece->keeps_bits || to.keeps;
  }
  piece->n_lines = plan->n_picked_lines - piece->first_line;
  piece->n_picks = plan->n_picks - piece->first_pick;
  piece->picks_padding = fit->padding > 0;
  return TESELA_OK;
}
