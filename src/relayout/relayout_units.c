/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_units.c - make a box in bits as coarse as possible, and find its special loops.
 *
 *   bytes     if whole bytes stay together; else single bits
 *   widen     a run that is contiguous on both sides and 2, 4, 8 or 16 bytes long is one element
 *   blocks    two loops that fill 4, 8 or 16 bytes on both sides, in different order, are one element, mixed inside;
 *             below 8 bits, m rows of m elements become m bytes
 */
#include "relayout/solve.h"

bool tesela__is_bytewise(const tesela__box *box, int32_t i, int32_t j) {
  int64_t bits = box->src | box->dst;
  for (int32_t k = 0; k < box->n_loops; k++) {
    if (k != i) bits |= box->loop[k].ss;
    if (k != j) bits |= box->loop[k].ds;
  }
  return bits % 8 == 0;
}

static void to_bytes(tesela__box *box) {
  box->src /= 8;
  box->dst /= 8;
  for (int32_t i = 0; i < box->n_loops; i++) {
    box->loop[i].ss /= 8;
    box->loop[i].ds /= 8;
  }
}

/* Make elements of 2, 4, 8 or 16 bytes of a short run. */
static void widen(tesela__job *job) {
  for (;;) {
    int32_t i = tesela__find_loop(job->box, job->ws, job->wd);
    int64_t bytes = i < 0 ? 0 : job->box->loop[i].n * job->wd;
    if (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) return;
    if (job->fill || job->conversion) return;
    tesela__drop_loop(job->box, i);
    job->ws = job->wd = (int32_t)bytes;
  }
}

/* Go along src where a loop goes back there in steps of an element: then it goes back in dst, where offsets may be of any sign. */
static void turn_back(tesela__job *job) {
  for (int32_t i = 0; i < job->box->n_loops && !job->fill && job->ws > 0; i++) {
    tesela__loop *l = &job->box->loop[i];
    if (l->ss != -job->ws || l->ds <= job->wd) continue;
    job->box->src += (l->n - 1) * l->ss;
    job->box->dst += (l->n - 1) * l->ds;
    *l = (tesela__loop){l->n, -l->ss, -l->ds};
  }
}

static void find_loops(tesela__job *job) {
  tesela__box *box = job->box;
  job->shared = tesela__find_loop(box, job->fill ? 0 : job->ws, job->wd);
  job->a = tesela__find_loop(box, job->ws, -1);
  job->b = tesela__find_loop(box, -1, job->wd);
}

/* What the best solver of a job costs. */
static float least_cost(const tesela__job *job) {
  tesela__verdict verdict[TESELA__N_SOLVERS] = {{0}};
  return verdict[tesela__choose_solver(job, verdict)].cost;
}

/* Two loops that make a block of 4, 8 or 16 bytes on both sides, in different order: the block becomes an element, and
 * a conversion mixes its parts, where that is cheaper. */
static void take_block(tesela__job *job) {
  static const struct {
    int64_t rows, cols;
    int32_t width;
    tesela__conversion mix;
  } mixes[] = {
      {2, 2, 1, TESELA__MIX_2X2X8},  {2, 4, 1, TESELA__MIX_2X4X8},  {4, 2, 1, TESELA__MIX_4X2X8},
      {2, 8, 1, TESELA__MIX_2X8X8},  {8, 2, 1, TESELA__MIX_8X2X8},  {4, 4, 1, TESELA__MIX_4X4X8},
      {2, 2, 2, TESELA__MIX_2X2X16}, {2, 4, 2, TESELA__MIX_2X4X16}, {4, 2, 2, TESELA__MIX_4X2X16},
      {2, 2, 4, TESELA__MIX_2X2X32},
  };
  if (job->fill || job->conversion || job->shared >= 0 || job->a < 0 || job->b < 0) return;
  if (tesela__wanted(job->plan) != TESELA_SOLVER_ANY) return;
  tesela__loop a = job->box->loop[job->a], b = job->box->loop[job->b];
  if (a.ds != b.n * job->wd || b.ss != a.n * job->ws) return;
  for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
    if (mixes[i].rows != b.n || mixes[i].cols != a.n || mixes[i].width != job->wd) continue;
    tesela__box box = *job->box;
    tesela__job mixed = *job, apart = *job;
    mixed.box = &box;
    apart.direct = true;
    tesela__drop_loop(&box, job->a > job->b ? job->a : job->b);
    tesela__drop_loop(&box, job->a > job->b ? job->b : job->a);
    mixed.ws = mixed.wd = (int32_t)(a.n * b.n) * job->wd;
    mixed.src_bits = mixed.dst_bits = 8 * mixed.wd;
    mixed.conversion = mixes[i].mix;
    find_loops(&mixed);
    if (job->random ? tesela__random(job->random) % 2 : least_cost(&apart) < least_cost(&mixed)) return;
    *job->box = box;
    mixed.box = job->box;
    *job = mixed;
    return;
  }
}

/* Without a loop that is contiguous on src, one of short steps will do: the rows of a transpose are packed first. `32 [8,64,2,4096]` whose last dim
 * has steps of 40 bytes, transposed: from 3.5 to 14 GB/s. */
static void take_near(tesela__job *job) {
  enum { NEAR = 4 * TESELA__LINE, FEW = 4 };
  if (job->fill || job->conversion || job->shared >= 0 || job->a >= 0 || job->b < 0) return;
  for (int32_t i = 0; i < job->box->n_loops; i++) {
    const int64_t step = job->box->loop[i].ss, size = step < 0 ? -step : step;
    if (i == job->b || step == 0 || size > NEAR || step % job->ws || job->box->loop[i].n < FEW) continue;
    if (job->a >= 0 && job->box->loop[i].n < job->box->loop[job->a].n) continue;
    job->a = i;
    job->apart = true;
  }
}

/* For equal widths below 8 bits: bytes that stay together, or blocks of m rows of m elements. */
void tesela__set_units_of_bits(tesela__job *job) {
  tesela__box *box = job->box;
  int32_t bits = job->plan->dst.bits, m = 8 / bits;
  find_loops(job);
  if (job->shared >= 0 && box->loop[job->shared].n % m == 0 &&
      tesela__is_bytewise(box, job->shared, job->shared)) {
    tesela__loop *run = &box->loop[job->shared];
    *run = (tesela__loop){run->n / m, job->fill ? 0 : 8, 8};
    to_bytes(box);
    job->ws = job->wd = 1;
    job->bitwise = false;
    if (run->n == 1) tesela__drop_loop(box, job->shared);
  } else if (job->shared < 0 && job->a >= 0 && job->b >= 0 && !job->fill) {
    tesela__loop *a = &box->loop[job->a], *b = &box->loop[job->b];
    if (a->n % m || b->n % m || !tesela__is_bytewise(box, job->a, job->b)) return;
    job->group = m;
    job->bitwise = false;
    to_bytes(box); /* a->ss and b->ds become 0: they count elements from here on */
    job->ws = job->wd = 1;
  }
}

/* For different widths, one below 8 bits: rows that begin and end at bytes on both sides; or, for a transpose, rows on
 * src and whole bytes on dst. Steps of less than a byte become 0 and are not used from here on. */
static void set_units_of_conversion(tesela__job *job) {
  find_loops(job);
  bool rows = job->shared >= 0 && tesela__is_bytewise(job->box, job->shared, job->shared);
  bool blocks = job->shared < 0 && job->a >= 0 && job->b >= 0 && job->plan->dst.bits >= 8 &&
                tesela__is_bytewise(job->box, job->a, -1);
  if (!rows && !blocks) return;
  to_bytes(job->box);
  job->ws /= 8;
  job->wd /= 8;
  job->bitwise = false;
}

/* Blocks of whole bytes, where tiles in buffers and permutes are not better. Tiles whose elements are in bytes of their own are run by one
 * thread. */
static void choose_blocks(tesela__job *job) {
  const int64_t bytes = tesela__max(job->plan->info.src_bytes, job->plan->info.dst_bytes);
  tesela__box bits = *job->box;
  tesela__job tiles = *job;
  tesela__set_units_of_bits(job);
  if (job->group == 1) return;
  job->behind = tesela__padding_of_column(job, UINT64_C(1) << job->b, job->box->loop[job->b].n / job->group);
  tiles.box = &bits;
  find_loops(&tiles);
  const float cost = tesela__bits_verdict(job).cost;
  const tesela__verdict of_tiles = tesela__bits_verdict(&tiles);
  const float threads =
      of_tiles.way == TESELA__COST_BITS_AS_BYTES ? (float)tesela__threads_for_bytes(job->plan, bytes) : 1;
  const bool moves_tiles = cost > threads * of_tiles.cost || tesela__permutes_bits(&tiles, cost);
  if (job->random ? tesela__random(job->random) % 2 : !moves_tiles) return;
  *job->box = bits;
  tiles.box = job->box;
  *job = tiles;
}

/* Is a copy of single bits requested? */
static bool wants_bits(const tesela__job *job) {
  return tesela__wanted(job->plan) == TESELA_SOLVER_STRIDED ||
         (job->random && tesela__random(job->random) % 4 == 0);
}

/* Of whole bytes, without blocks and near elements. */
static void set_plain_units(tesela__job *job) {
  to_bytes(job->box);
  job->ws /= 8;
  job->wd /= 8;
  job->bitwise = false;
  widen(job);
  find_loops(job);
}

void tesela__set_units_of_bytes(tesela__job *job) {
  set_plain_units(job);
  turn_back(job);
  find_loops(job);
  take_block(job);
  take_near(job);
}

void tesela__set_units(tesela__job *job) {
  const tesela_plan *plan = job->plan;
  int32_t dst_bits = plan->dst.bits, src_bits = plan->src.bits;
  job->group = 1;
  job->conversion = job->fill ? TESELA__CONVERSION_NONE : plan->conversion;
  job->src_bits = src_bits;
  job->dst_bits = dst_bits;
  job->bitwise = true;
  job->ws = job->fill ? 0 : src_bits;
  job->wd = dst_bits;
  if (job->fill && dst_bits >= 8) src_bits = 8;
  if (dst_bits >= 8 && src_bits >= 8) {
    tesela__set_units_of_bytes(job);
  } else if (!job->fill && wants_bits(job)) {
    find_loops(job);
  } else if (job->fill || dst_bits == src_bits) {
    choose_blocks(job);
    if (!job->bitwise && job->group == 1) {
      widen(job);
      find_loops(job);
    }
  } else {
    set_units_of_conversion(job);
  }
}

/* ---- passes from one buffer in the cache to another --------------------------------------------------------- */

static tesela__job job_of_pass(tesela_plan *plan, const tesela__box *box, tesela__box *copy) {
  tesela__box_copy(copy, box);
  return (tesela__job){.plan = plan, .box = copy, .inner = true, .group = 1, .ws = 8, .wd = 8};
}

tesela_solver tesela__pass_solve(const tesela__box *box, tesela__box *copy, tesela__job *job, float *cost) {
  tesela__verdict verdict[TESELA__N_SOLVERS] = {{0}};
  uint64_t *random = job->random;
  *job = job_of_pass(job->plan, box, copy);
  job->random = random;
  tesela__set_units_of_bytes(job);
  const tesela_solver solver = tesela__choose_solver(job, verdict);
  *cost = verdict[solver].cost;
  return solver;
}

/* About what a pass costs. */
static float cost_of_pass(tesela_plan *plan, const tesela__box *box) {
  tesela__box copy;
  tesela__job job = job_of_pass(plan, box, &copy);
  tesela__box_simplify(&copy);
  set_plain_units(&job);
  return tesela__quick_cost(&job);
}

void tesela__bits_find_passes(const tesela__job *job, const tesela__box *box, tesela__bits_passes *passes) {
  enum { CHEAP = 3 }; /* such a pass is not divided */
  tesela_plan *plan = job->plan;
  const bool stream = plan->stream;
  tesela__box copy;
  tesela__job one = {.plan = plan};
  passes->n = 1;
  tesela__box_copy(&passes->box[0], box);
  plan->stream = false; /* the buffers are in the cache */
  tesela__pass_solve(box, &copy, &one, &passes->cost);
  if (job->random || passes->cost > CHEAP) tesela__bits_divide_pass(job, cost_of_pass, passes);
  plan->stream = stream;
}
