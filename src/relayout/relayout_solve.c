/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_solve.c - make pieces of a box.
 *
 * In:  a box in bits.
 * Out: a piece of the plan, by the cheapest solver that applies, or the requested one.
 *
 * First the box is made as coarse as possible: a run that is contiguous on both sides and 2, 4, 8 or 16 bytes long
 * becomes one element; elements below 8 bits become bytes if whole bytes stay together. Then each solver says whether
 * it applies and at what cost (relayout_cost.c).
 */
#include "relayout/solve.h"

/* ---- boxes in parts ---------------------------------------------------------------------------------------- */

/* Cut a sub-byte transpose with a loop that is not a multiple of the m elements per byte: the rest is its own box. */
static bool split_rest(const tesela_plan *plan, tesela__box *box, tesela__box *rest) {
  enum { LEAST = 128 }; /* short loops move in tiles in buffers */
  int32_t bits = plan->dst.bits, m = 8 / bits;
  if (plan->src.bits != bits || tesela__find_loop(box, bits, bits) >= 0) return false;
  int32_t both[2] = {tesela__find_loop(box, bits, -1), tesela__find_loop(box, -1, bits)};
  if (both[0] < 0 || both[1] < 0 || !tesela__is_bytewise(box, both[0], both[1])) return false;
  for (int32_t i = 0; i < 2; i++) {
    tesela__loop *loop = &box->loop[both[i]];
    int64_t whole = loop->n - loop->n % m;
    if (loop->n < LEAST || whole == loop->n) continue;
    *rest = *box;
    rest->loop[both[i]].n = loop->n - whole;
    rest->src += whole * loop->ss;
    rest->dst += whole * loop->ds;
    loop->n = whole;
    if (rest->loop[both[i]].n == 1) tesela__drop_loop(rest, both[i]);
    return true;
  }
  return false;
}

/* With a limit on memory, a transpose copies one square window after the other; src and dst of a window together fit
 * into the limit. Loops that are longer than a window are cut; the rest of one is its own box. */
static bool split_window(const tesela_plan *plan, tesela__box *box, tesela__box *rest, bool *has_rest) {
  int64_t bound = plan->options.memory_bytes, bits = tesela__max(plan->dst.bits, plan->src.bits);
  if (bound == 0 || plan->info.dst_bytes + plan->info.src_bytes <= bound) return false;
  int64_t window = 1024;
  while (window <= bound / bits / window)
    window *= 2; /* then both sides together have 2 * window^2 * bits/8 <= bound */
  int32_t sides[2] = {tesela__find_loop(box, plan->src.bits, -1), tesela__find_loop(box, -1, plan->dst.bits)};
  if (sides[0] < 0 || sides[1] < 0 || sides[0] == sides[1] || box->n_loops == TESELA__MAX_LOOPS) return false;
  for (int32_t i = 0; i < 2; i++) {
    tesela__loop *loop = &box->loop[sides[i]];
    int64_t n = loop->n / window, left = loop->n % window;
    if (n == 0 || (n == 1 && left == 0)) continue;
    *has_rest = left > 0;
    *rest = *box;
    rest->loop[sides[i]].n = left;
    rest->src += n * window * loop->ss;
    rest->dst += n * window * loop->ds;
    if (left == 1) tesela__drop_loop(rest, sides[i]);
    loop->n = window;
    return tesela__box_add(box, n, window * loop->ss, window * loop->ds);
  }
  return false;
}

/* Find padding after rows of bits, which tiles in buffers write, too: rows and padding that are short against these. Not where tiles of whole
 * rows would have so few elements of src in a run that padding on its own costs less:
 *
 *   u1[160,2320,720]{0,1,2} to {1,2,0:T(8,128)}   rows of 5760 with 384 of padding would leave room for 10 of the 160 that are a run of src */
static void find_bits_padding(tesela__job *job) {
  enum {
    MOST = TESELA__BITS_ELEMENTS / 4,
    APART = 4 * 8 * TESELA__LINE
  }; /* APART: lines of dst that are written twice */
  tesela__bits_fit fit;
  uint64_t loops;
  tesela__bits_fit_tile(&fit, job, TESELA__BITS_ELEMENTS);
  if (job->conversion || job->src_bits != job->dst_bits || fit.blocks) return;
  const int64_t row = tesela__bits_row(job->box, job->dst_bits, false, &loops) / job->dst_bits;
  const int64_t padding = tesela__padding_behind(job, loops, row * job->dst_bits) / job->dst_bits;
  if (padding == 0 || row + padding > MOST) return;
  const float apart = tesela__bits_verdict(job).cost + APART / (float)(row * job->dst_bits);
  job->row = row;
  job->padding = padding;
  if (job->random || tesela__bits_verdict(job).cost <= apart) return;
  job->row = job->padding = 0;
}

/* Values of a loop after which both sides are at the same bit of a byte again. */
static int64_t phases_of(const tesela__loop *loop) {
  const int64_t low = (loop->ss | loop->ds) & 7;
  return low ? 8 / (low & -low) : 1;
}

/* Elements of the shorter run of a tile. */
static int64_t shortest_run(const tesela__job *job) {
  tesela__bits_fit fit;
  tesela__bits_fit_tile(&fit, job, TESELA__BITS_ELEMENTS);
  return tesela__min(fit.in, fit.out);
}

float tesela__cost_of_bits(tesela_plan *plan, const tesela__box *box, int64_t *run) {
  tesela__box copy = *box;
  tesela__job job = {.plan = plan, .box = &copy};
  tesela__verdict verdict[TESELA__N_SOLVERS] = {{0}};
  tesela__set_units(&job);
  if (job.bitwise) find_bits_padding(&job);
  const tesela_solver best = tesela__choose_solver(&job, verdict);
  if (run) *run = job.bitwise && best == TESELA_SOLVER_BITS ? shortest_run(&job) : TESELA__BITS_ELEMENTS;
  return verdict[best].cost;
}

/* Rows that are not whole bytes begin at different bits of them: a loop of such, if each of its phases is better moved alone, or if
 * tiles are to be short in dst; or -1.
 *
 *   u1[17,1507910,7] to {2,1,0:T(32,8)}   the 17 begin 2 bits later each, so there are 4 phases */
static int32_t find_phases(tesela_plan *plan, const tesela__box *box, uint64_t *random) {
  enum { APART = 8 * TESELA__LINE, MOST_PIECES = 64 };
  const float BETTER = 0.8F; /* since pieces share lines of dst */
  if (plan->dst.bits >= 8 || plan->src.bits != plan->dst.bits || plan->n_pieces > MOST_PIECES) return -1;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    const int64_t phases = phases_of(l);
    if (phases == 1 || l->ds < APART || (l->ss < APART && l->ss > -APART)) continue;
    tesela__box one = *box;
    tesela__drop_loop(&one, i);
    if (random ? tesela__random(random) % 2
               : (plan->window > 0 && phases * l->ds > 8 * plan->reach) ||
                     tesela__cost_of_bits(plan, &one, NULL) < BETTER * tesela__cost_of_bits(plan, box, NULL))
      return i;
  }
  return -1;
}

static bool is_empty_box(const tesela__box *box) {
  for (int32_t i = 0; i < box->n_loops; i++)
    if (box->loop[i].n <= 0) return true;
  return false;
}

/* ---- padding that follows rows ----------------------------------------------------------------------------- */

enum { MOST_ROW = 32768 }; /* bytes of a row with its padding */

/* Where dst has padding after single elements: a loop of one of these, as the dst side of a transpose. False: it is of no use. */
static bool add_column(tesela__job *job) {
  tesela__box *box = job->box;
  if (job->bitwise || job->group > 1 || job->shared >= 0 || job->a < 0 || job->b >= 0) return false;
  if (box->n_loops == TESELA__MAX_LOOPS || tesela__padding_of_column(job, 0, job->wd) == 0) return false;
  memmove(box->loop + 1, box->loop, (size_t)box->n_loops++ * sizeof box->loop[0]);
  box->loop[0] = (tesela__loop){1, 0, job->wd};
  job->a++;
  job->b = 0;
  return true;
}

static void drop_column(tesela__job *job) {
  tesela__drop_loop(job->box, 0);
  job->a--;
  job->b = -1;
}

/* The loops within dense runs of `row` bytes of dst. */
static uint64_t loops_of_run(const tesela__box *box, int64_t row) {
  uint64_t loops = 0;
  for (int32_t i = 0; i < box->n_loops; i++)
    if (box->loop[i].ds > 0 && box->loop[i].ds < row) loops |= (uint64_t)1 << i;
  return loops;
}

/* Find padding after dense runs of less than a line, which permutes write, too. */
static void find_run_padding(tesela__job *job) {
  int64_t row = job->wd;
  for (int32_t left = job->box->n_loops; left > 0 && row < TESELA__LINE; left--) {
    const int32_t i = tesela__find_loop(job->box, -1, row);
    if (i < 0) break;
    row *= job->box->loop[i].n;
  }
  if (row >= TESELA__LINE) return;
  const int64_t padding = tesela__padding_behind(job, loops_of_run(job->box, row), row);
  if (padding % job->wd) return; /* elements would begin in one line and end in the next */
  job->row = row;
  job->padding = padding;
}

/* The same for blocks of bits, whose padding is packed rows. */
static tesela_status take_tail_of_blocks(tesela__job *job, tesela_error *err) {
  const int64_t row = job->box->loop[job->b].n / job->group;
  if (job->behind == 0 || row >= TESELA__LINE) return TESELA_OK;
  return tesela__take_padding(job, (uint64_t)1 << job->b, row, 1, TESELA__LINE, err);
}

/* Take the padding after the rows of the solver into job->tail, if it can write it. */
static tesela_status take_tail_of(tesela__job *job, tesela_solver solver, tesela_error *err) {
  const tesela__box *box = job->box;
  const uint64_t one = 1;
  if (solver == TESELA_SOLVER_PERMUTE && job->bitwise)
    return job->permute.padding
               ? tesela__take_bits(job, loops_of_run(box, job->row * job->wd), job->row * job->wd, err)
               : TESELA_OK;
  if (job->padding && job->bitwise && solver == TESELA_SOLVER_BITS) {
    uint64_t loops;
    const int64_t row = tesela__bits_row(box, job->dst_bits, false, &loops);
    return tesela__take_bits(job, loops, row, err);
  }
  if (job->bitwise) return TESELA_OK;
  if (job->group > 1) return solver == TESELA_SOLVER_BITS ? take_tail_of_blocks(job, err) : TESELA_OK;
  if (solver == TESELA_SOLVER_TRANSPOSE) {
    int64_t row = box->loop[job->b].n * job->wd;
    if (tesela__padding_of_column(job, one << job->b, row) == 0) return TESELA_OK;
    return tesela__take_padding(job, one << job->b, row, job->wd, tesela__most_of_column(job, row), err);
  }
  if (job->conversion) return TESELA_OK;
  if (solver == TESELA_SOLVER_PERMUTE)
    return job->permute.padding ? tesela__take_padding(job, loops_of_run(box, job->row), job->row, 1,
                                                       job->row + job->padding, err)
                                : TESELA_OK;
  if (solver == TESELA_SOLVER_INTERLEAVE)
    return tesela__take_padding(job, one << job->a | one << job->b,
                                job->wd * box->loop[job->a].n * box->loop[job->b].n, 1, MOST_ROW, err);
  if (solver != TESELA_SOLVER_ROWS) return TESELA_OK;
  if (job->shared < 0) return tesela__take_padding(job, 0, job->wd, 1, MOST_ROW, err);
  return tesela__take_padding(job, one << job->shared, job->wd * box->loop[job->shared].n, 1, MOST_ROW, err);
}

/* Keep the loops of `box` for plan --explain. If elements share bytes, steps of less than a byte are 0 in the job's box; they
 * are whole in bits. */
static void keep_shape(const tesela__job *job, const tesela__box *box) {
  tesela_plan *plan = job->plan;
  tesela__box *shape = &plan->shape;
  bool parts = job->group > 1 || job->ws == 0 || job->wd == 0;
  *shape = *box;
  plan->unit_bytes = parts || job->bitwise || job->permute.bits ? 0 : job->wd;
  if (!parts) return;
  tesela__box_count_bits(shape);
  int32_t a = job->shared >= 0 ? job->shared : job->a, b = job->shared >= 0 ? job->shared : job->b;
  if (a >= 0) shape->loop[a].ss = plan->src.bits;
  if (b >= 0) shape->loop[b].ds = plan->dst.bits;
}

/* Choose the block of PERMUTE; what no block has becomes pieces of its own. */
static tesela_status split_blocks(tesela__job *job, tesela_error *err) {
  tesela__box rest;
  tesela_status status = TESELA_OK;
  tesela__permute_fit_block(job, &job->permute);
  while (status == TESELA_OK && tesela__permute_rest(job, &rest))
    status = tesela__add_piece(job->plan, &rest, false, job->random, err);
  tesela__permute_split(job);
  return status;
}

static tesela_status add_phases(tesela_plan *plan, const tesela__box *box, int32_t i, uint64_t *random,
                                tesela_error *err) {
  const int64_t n = box->loop[i].n, phases = phases_of(&box->loop[i]);
  tesela_status status = tesela__split_fills(plan, box->loop[i].ds, phases, err);
  for (int64_t k = 0; k < n && k < phases && status == TESELA_OK; k++) {
    tesela__box one = *box;
    tesela__box_phase(&one, i, k, phases);
    status = tesela__add_piece(plan, &one, false, random, err);
  }
  return status;
}

/* The bands as a job, of rows that padding follows in dst, or other elements in src; `box`: its box. */
static tesela__job job_of_bands(tesela_plan *plan, const tesela__bits_bands *bands, uint64_t *random,
                                tesela__box *box) {
  const int32_t bits = bands->bits;
  const int64_t between = bands->step / bits - bands->row;
  tesela__bits_bands_box(bands, box);
  return (tesela__job){.plan = plan,
                       .box = box,
                       .random = random,
                       .bitwise = true,
                       .bands = bands,
                       .ws = bits,
                       .wd = bits,
                       .src_bits = bits,
                       .dst_bits = bits,
                       .group = 1,
                       .shared = -1,
                       .a = -1,
                       .b = -1,
                       .row = bands->row,
                       .padding = bands->long_src ? 0 : between,
                       .gap = bands->long_src ? between : 0,
                       .unread = bands->long_src ? (bands->step - bands->in) / bits : 0};
}

int64_t tesela__run_of_bands(tesela_plan *plan, const tesela__bits_bands *bands) {
  tesela__box box;
  const tesela__job job = job_of_bands(plan, bands, NULL, &box);
  return shortest_run(&job);
}

tesela_status tesela__add_bands(tesela_plan *plan, const tesela__bits_bands *bands, uint64_t *random,
                                tesela_error *err) {
  tesela__box box;
  const tesela__job job = job_of_bands(plan, bands, random, &box);
  tesela_status status = tesela__piece_build(&job, TESELA_SOLVER_BITS, err);
  if (status != TESELA_OK) return status;
  plan->largest = plan->n_pieces - 1;
  keep_shape(&job, &box);
  memset(plan->verdict, 0, sizeof plan->verdict);
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS; i++)
    plan->verdict[i].why = "partial tiles are moved with the others";
  plan->verdict[TESELA_SOLVER_BITS].applies = true;
  return TESELA_OK;
}

tesela_status tesela__add_piece(tesela_plan *plan, tesela__box *box, bool fill, uint64_t *random,
                                tesela_error *err) {
  tesela__box rest;
  if (is_empty_box(box)) return TESELA_OK;
  if (!fill && plan->dst.bits < 8 && split_rest(plan, box, &rest)) {
    tesela_status status = tesela__add_piece(plan, &rest, false, random, err);
    return status == TESELA_OK ? tesela__add_piece(plan, box, false, random, err) : status;
  }
  bool has_rest = false;
  while (!fill && split_window(plan, box, &rest, &has_rest)) {
    tesela_status status = has_rest ? tesela__add_piece(plan, &rest, false, random, err) : TESELA_OK;
    if (status != TESELA_OK) return status;
  }
  const int32_t phased = fill ? -1 : find_phases(plan, box, random);
  if (phased >= 0) return add_phases(plan, box, phased, random, err);
  tesela__job job = {.plan = plan, .box = box, .fill = fill, .random = random};
  tesela__set_units(&job);
  const double shared = job.bitwise ? 0 : tesela__parts_of_lines(&job);
  if (fill) plan->shared += shared;
  if (fill) return tesela__piece_build(&job, TESELA_SOLVER_ROWS, err);
  if (!job.bitwise && !tesela__permute_refuses(&job)) find_run_padding(&job);
  const bool column = add_column(&job);
  if (!job.bitwise && job.group == 1 && job.shared < 0 && job.b >= 0)
    job.behind = tesela__padding_of_column(&job, (uint64_t)1 << job.b, box->loop[job.b].n * job.wd);
  if (job.bitwise) find_bits_padding(&job);
  tesela__verdict verdict[TESELA__N_SOLVERS] = {{0}};
  tesela_solver solver = tesela__choose_solver(&job, verdict);
  tesela_status status = TESELA_OK;
  if (column && solver != TESELA_SOLVER_TRANSPOSE) drop_column(&job);
  if (solver == TESELA_SOLVER_PERMUTE) status = split_blocks(&job, err);
  if (status == TESELA_OK) status = take_tail_of(&job, solver, err);
  const int64_t largest = plan->largest < 0 ? -1 : plan->piece[plan->largest].bytes;
  const tesela__box shape = *box;
  if (solver == TESELA_SOLVER_PERMUTE) tesela__permute_count_bytes(&job);
  if (status == TESELA_OK && solver == TESELA_SOLVER_BITS && plan->dst.bits >= 8) {
    tesela__box box_of_bits;
    tesela__job bits;
    tesela__bits_of_bytes(&job, &bits, &box_of_bits);
    status = tesela__piece_build(&bits, solver, err);
  } else if (status == TESELA_OK) {
    status = tesela__piece_build(&job, solver, err);
  }
  if (status != TESELA_OK) return status;
  const tesela__piece *piece = &plan->piece[plan->n_pieces - 1];
  plan->cost += verdict[solver].cost * (double)piece->bytes;
  if (!piece->tail && !piece->padded && !piece->picks_padding) plan->shared += shared;
  if (piece->bytes <= largest) return status;
  plan->largest = plan->n_pieces - 1;
  keep_shape(&job, &shape);
  memcpy(plan->verdict, verdict, sizeof verdict);
  return TESELA_OK;
}
