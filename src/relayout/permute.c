/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute.c - blocks of some lines on both sides whose bytes are all moved alike, by permutes of 64 bytes, or of 16 (AVX2).
 *
 * A block has the loops with the shortest steps of both sides, so that it consists of whole lines of dst and of stretches of
 * about a line of src:
 *
 *   u8 [5,n] to [n,5]       64 x 5 values: 5 lines of dst, each picked from 5 stretches of 64 bytes
 *   f32 records of 4 x 6    two records, 192 bytes: 3 lines of dst, each picked from 2 or 3 lines of src
 *
 * Elements below 8 bits are picked bit by bit (permute_bits.c): then blocks begin at bytes, or at the same bit of one.
 *
 * A cut loop is divided: blocks, and the rest in a piece of its own.
 *
 * permute_lines.c has the picks of the lines of a block.
 */
#include "relayout/solve.h"

enum {
  SHORT_STRETCH = 16, /* bytes, of kernels without masks */
  MOST_BYTES = 4096,  /* of a block */
  MOST_PICKS = 320,
  MOST_BIT_STEPS = 640, /* picks and rounds: their tables stay in the cache */
  LEAST_BLOCKS = 16     /* of a loop that is cut with a rest */
};

/* ---- the block --------------------------------------------------------------------------------------------- */

/* Units of a byte and of a line: bytes, or bits. */
static int64_t byte_of(const tesela__job *job) { return job->bitwise ? 8 : 1; }
static int64_t line_of(const tesela__job *job) { return TESELA__LINE * byte_of(job); }

/* A row with padding after it, in these units. */
static int64_t row_of(const tesela__job *job) { return job->bitwise ? job->row * job->wd : job->row; }
static int64_t padding_of(const tesela__job *job) {
  return job->bitwise ? job->padding * job->wd : job->padding;
}

static int64_t gcd_with_line(int64_t n, int64_t line) {
  int64_t g = line;
  while (n % g) g /= 2;
  return g;
}

/* The loop with the shortest step from `extent` on, less than a line, of those with a positive step in dst; or -1. */
static int32_t next_near(const tesela__box *box, bool src, int64_t extent, uint64_t seen, int64_t line) {
  int32_t best = -1;
  int64_t least = line;
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
  const int64_t line = line_of(job);
  uint64_t seen = 0;
  for (int32_t i; extent < line && (i = next_near(box, true, extent, seen, line)) >= 0;) {
    const int64_t step = box->loop[i].ss < 0 ? -box->loop[i].ss : box->loop[i].ss;
    const int64_t n = tesela__min(box->loop[i].n, tesela__ceil_div(line, step));
    fit->take[i] = tesela__max(fit->take[i], n);
    seen |= (uint64_t)1 << i;
    extent = n < box->loop[i].n ? line : step * n;
  }
}

/* Take loops of dst until they cover whole lines; where that is too much, a line or a little more. */
static void take_dst(tesela__permute_fit *fit, const tesela__job *job) {
  const tesela__box *box = job->box;
  int64_t extent = job->wd;
  const int64_t line = line_of(job), most = MOST_BYTES * byte_of(job);
  uint64_t seen = 0;
  while (extent < line || extent % line) {
    if (extent == row_of(job)) extent += padding_of(job);
    int32_t i = tesela__find_loop(box, -1, extent);
    const bool dense = i >= 0 && !(seen >> i & 1);
    if (!dense && extent < line) i = next_near(box, false, extent, seen, line);
    if (i < 0 || seen >> i & 1) return;
    const tesela__loop *loop = &box->loop[i];
    int64_t n = dense ? line / gcd_with_line(extent, line) : tesela__ceil_div(line, loop->ds);
    if (n * loop->ds > most) n = tesela__ceil_div(line, loop->ds);
    if (n == 1) return;
    fit->take[i] = tesela__max(fit->take[i], tesela__min(n, loop->n));
    if (n < loop->n) return;
    seen |= (uint64_t)1 << i;
    extent = loop->ds * loop->n;
  }
}

/* Values of a loop after which both sides are at the same bit of a byte again. */
static int64_t whole_steps(const tesela__job *job, const tesela__loop *loop) {
  const int64_t low = (loop->ss | loop->ds) & 7;
  return job->bitwise && low ? 8 / (low & -low) : 1;
}

/* Steps of a loop in a block, at least `least`: all of them, a divisor, or at the last a part that leaves a rest. 0: none. */
static int64_t part_of_loop(const tesela__job *job, const tesela__loop *loop, int64_t least) {
  const int64_t steps = whole_steps(job, loop);
  least = tesela__ceil_div(least, steps) * steps;
  if (least == 1) return 1;
  if (loop->n < 2 * least) return loop->n;
  if (loop->n % least == 0) return least;
  for (int64_t n = least + steps; n <= 2 * least; n += steps)
    if (loop->n % n == 0 && n * loop->ds % line_of(job) == 0) return n;
  if (job->bitwise || loop->n >= LEAST_BLOCKS * least) return least;
  for (int64_t n = least + 1; n <= 2 * least; n++)
    if (loop->n % n == 0) return n;
  return 0;
}

/* Several blocks at a time read each stretch of src for line after line of dst: do stretches meet in few sets of the caches? */
static bool stretches_meet(const tesela__permute_fit *fit, const tesela__job *job) {
  enum { PAGE = 4096, FEW_OF_BITS = 4, FEW = 7 };
  int64_t n = 1;
  for (int32_t i = 0; i < job->box->n_loops; i++)
    if (job->box->loop[i].ss && job->box->loop[i].ss % (PAGE * byte_of(job)) == 0) n *= fit->take[i];
  return n > (fit->bits ? FEW_OF_BITS : FEW);
}

/* Where blocks begin in a line of src, if that is the same for all; else -1. */
static int64_t src_phase(const tesela__permute_fit *fit, const tesela__job *job) {
  for (int32_t i = 0; i < job->box->n_loops; i++)
    if (fit->take[i] < job->box->loop[i].n && fit->take[i] * job->box->loop[i].ss % TESELA__LINE) return -1;
  return job->box->src & (TESELA__LINE - 1);
}

/* Which bytes of src a block has, and what is between them: a kernel may read all of these. */
static void set_reach(tesela__permute_fit *fit, const tesela__job *job) {
  fit->high = job->wd;
  for (int32_t i = 0; i < job->box->n_loops; i++) {
    const int64_t far = (fit->take[i] - 1) * job->box->loop[i].ss;
    *(far < 0 ? &fit->low : &fit->high) += far;
  }
  if (!fit->bits) return;
  fit->low = (fit->src_bit + fit->low) >> 3;
  fit->high = (fit->src_bit + fit->high + 7) >> 3;
}

static bool is_asked_for(const tesela__job *job) {
  return job->random || tesela__wanted(job->plan) == TESELA_SOLVER_PERMUTE;
}

/* The kernel, whose `block` is the bytes of a stretch. */
static const tesela__kernel *kernel_of(const tesela__job *job) {
  return tesela__kernel_for(job, job->bitwise ? TESELA__K_PERMUTE_BITS : TESELA__K_PERMUTE, 0, 0);
}

static const char *fit_block(tesela__permute_fit *fit, const tesela__job *job) {
  const tesela__box *box = job->box;
  int32_t cuts = 0, rests = 0;
  *fit = (tesela__permute_fit){.elements = 1, .bits = job->bitwise, .width = job->wd};
  fit->stretch = kernel_of(job)->block;
  if (fit->bits) fit->src_bit = box->src & 7, fit->dst_bit = box->dst & 7;
  for (int32_t i = 0; i < box->n_loops; i++) fit->take[i] = 1;
  take_dst(fit, job);
  take_src(fit, job);
  for (int32_t i = 0; i < box->n_loops; i++) {
    fit->take[i] = part_of_loop(job, &box->loop[i], fit->take[i]);
    if (fit->take[i] == 0) return "blocks of a few lines would leave too much of a loop";
    cuts += fit->take[i] > 1 && fit->take[i] < box->loop[i].n;
    rests += fit->take[i] > 1 && box->loop[i].n % fit->take[i] != 0;
    fit->elements *= fit->take[i];
    if (fit->elements * job->wd > MOST_BYTES * byte_of(job)) return "blocks have too many bytes";
  }
  set_reach(fit, job);
  fit->src_phase = fit->stretch == TESELA__LINE ? src_phase(fit, job) : -1;
  if (stretches_meet(fit, job)) return "stretches of src meet in few sets of the caches";
  if (rests > 0 && job->inner) return "blocks would leave a rest in the buffer";
  if (rests > 1 && !fit->bits) return "blocks would leave a rest of two loops";
  if (box->n_loops + cuts > TESELA__MAX_LOOPS) return "too many loops";
  return fit->elements * job->wd < line_of(job) ? "no block has a line" : NULL;
}

/* Set whether a block is dense in dst, and with which padding: that after rows, if it makes blocks dense. */
static void set_density(tesela__permute_fit *fit, const tesela__job *job) {
  const int64_t padding = padding_of(job), bytes = fit->elements * job->wd;
  int64_t span = job->wd, rows = 1, row = job->wd;
  for (int32_t i = 0; i < job->box->n_loops; i++) {
    span += (fit->take[i] - 1) * job->box->loop[i].ds;
    *(job->box->loop[i].ds >= row_of(job) ? &rows : &row) *= fit->take[i];
  }
  if (padding && row == row_of(job) && span + padding == bytes + rows * padding) {
    fit->padding = padding;
    span += padding;
  }
  fit->dense = (fit->padding || span == bytes) && fit->dst_bit == 0 && span % byte_of(job) == 0;
  if (!fit->dense) fit->padding = 0;
  fit->span = tesela__ceil_div(fit->dst_bit + span, byte_of(job));
  fit->bytes = fit->dense ? fit->span : tesela__ceil_div(bytes, byte_of(job));
}

const char *tesela__permute_refuses(const tesela__job *job) {
  const tesela__box *box = job->box;
  const int64_t line = line_of(job);
  if (job->group > 1) return "elements share bytes";
  if (job->conversion || job->ws != job->wd) return "values are converted";
  if (kernel_of(job)->isa == 0 && !is_asked_for(job)) return "no permute of bytes in this instruction set";
  if (job->shared >= 0 && box->loop[job->shared].n * job->wd >= (job->bitwise ? 2 : 1) * line)
    return "runs are long";
  if (job->shared < 0 && job->b >= 0 && (job->wd < 16 || job->bitwise)) {
    const tesela__loop *b = &box->loop[job->b];
    if (b->n * job->wd >= line && (b->ss >= line || b->ss <= -line))
      return "each element of a line would be picked alone";
  }
  return NULL;
}

/* Do bytes have bits that other blocks or pieces write? As far as the first line and the loops say. */
static bool keeps_bits(const tesela__permute_fit *fit, const tesela__job *job, bool first) {
  if (!fit->bits || fit->dense) return false;
  for (int32_t i = 0; i < job->box->n_loops; i++)
    if (fit->take[i] > 1 && job->box->loop[i].ds % 8 && job->box->loop[i].ds >= line_of(job)) return true;
  return first;
}

const char *tesela__permute_fit_block(const tesela__job *job, tesela__permute_fit *fit) {
  const char *why = fit_block(fit, job);
  if (why) return why;
  tesela__line_elements line;
  set_density(fit, job);
  tesela__permute_first_line(job, fit, &line);
  if (fit->bits) {
    tesela__bit_steps steps;
    if (!tesela__count_bit_steps(fit, &line, &steps)) return "lines have too many rounds";
    fit->picks = steps.picks;
    fit->rounds = steps.rounds;
    fit->keeps = keeps_bits(fit, job, steps.keeps);
  }
  fit->of_line = tesela__ceil_div((int64_t)line.n * fit->width, byte_of(job));
  if (fit->stretch == SHORT_STRETCH && !fit->dense && fit->of_line < TESELA__LINE && !is_asked_for(job))
    return "lines would be written in parts, which needs masks";
  if (!fit->bits) fit->picks = tesela__count_picks(fit, &line);
  const int64_t lines = fit->elements / line.n, most = fit->bits ? MOST_BIT_STEPS : MOST_PICKS;
  return lines * (fit->picks + fit->rounds) > most ? "lines are picked from too many places" : NULL;
}

/* ---- its loops --------------------------------------------------------------------------------------------- */

/* A box of bytes in bits, down to the elements of the plan. */
static void to_bits(const tesela__job *job, tesela__box *box) {
  const int64_t bits = job->plan->dst.bits;
  tesela__box_count_bits(box);
  tesela__box_add(box, 8 * job->wd / bits, bits, bits);
}

bool tesela__permute_rest(tesela__job *job, tesela__box *rest) {
  tesela__box *box = job->box;
  const tesela__permute_fit *fit = &job->permute;
  for (int32_t i = 0; i < box->n_loops; i++) {
    tesela__loop *loop = &box->loop[i];
    const int64_t left = loop->n % fit->take[i], whole = loop->n - left;
    if (left == 0) continue;
    *rest = *box;
    rest->loop[i].n = left;
    rest->src += whole * loop->ss;
    rest->dst += whole * loop->ds;
    loop->n = whole;
    if (left == 1) tesela__drop_loop(rest, i);
    if (!fit->bits) to_bits(job, rest);
    return true;
  }
  return false;
}

void tesela__permute_split(tesela__job *job) {
  tesela__box *box = job->box;
  for (int32_t i = 0; i < box->n_loops; i++) {
    tesela__loop *loop = &box->loop[i];
    int64_t *take = &job->permute.take[i], n = loop->n / *take;
    if (*take == 1 || n == 1) continue;
    memmove(loop + 1, loop, (size_t)(box->n_loops - i) * sizeof *loop);
    memmove(take + 1, take, (size_t)(box->n_loops - i) * sizeof *take);
    box->n_loops++;
    loop[0] = (tesela__loop){n, *take * loop->ss, *take * loop->ds};
    loop[1].n = *take;
    *take = 1;
    i++;
  }
}

void tesela__permute_count_bytes(tesela__job *job) {
  tesela__box *box = job->box;
  if (!job->bitwise) return;
  box->src >>= 3;
  box->dst >>= 3;
  for (int32_t i = 0; i < box->n_loops; i++) {
    if (job->permute.take[i] > 1) continue;
    box->loop[i].ss /= 8;
    box->loop[i].ds /= 8;
  }
  job->bitwise = false;
  job->ws = job->wd = 1;
}
