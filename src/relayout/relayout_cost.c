/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_cost.c - what each solver says about a box: it does not apply, for a reason; or its cost. The cheapest is chosen.
 *
 * A cost is a multiple of the time of memcpy: a sum of a few terms, each with a weight of the way that the solver would take. Weights are
 * data, in costs.inc, which bench/fit_costs.py finds from a sweep over random pairs; they only need to rank the solvers.
 */
#include "relayout/solve.h"

enum {
  PADDING_APART = 4, /* padding within lines in a pass of its own, which other solvers write with the rows */
  THIN = 2           /* tiles of a few columns, whose rows share lines with others */
};
/* Times the cost of a permute: from one buffer to another, both in L2; of bits with shuffles of 16 bytes, in the cache and past it. */
static const float IN_BUFFERS = 1.3F, BITS_BY_SHUFFLES[] = {1.6F, 2.4F};

static tesela__verdict refuses(const char *why) { return (tesela__verdict){.why = why}; }

/* Not in windows, where padding is before rows are. */
static float padding_apart(const tesela__job *job) { return job->plan->window > 0 ? 0 : PADDING_APART; }

/* ---- costs ------------------------------------------------------------------------------------------------- */

/* Weights of the terms, a set after the other. */
static const float weight_of[TESELA__N_COST_WAYS][TESELA__COST_SETS * TESELA__COST_TERMS] = {
#define TESELA__COST(way, ...) {__VA_ARGS__},
#include "relayout/costs.inc"
#undef TESELA__COST
};

/* The contiguous bytes on one side around an element, forwards or backwards, by loop `from` (or -1) and others except `not`; stops at a line.
 * A side without width is one value, which has no places to be apart. */
static double stretch(const tesela__job *job, int32_t from, int32_t not, bool src) {
  const tesela__box *box = job->box;
  const int64_t byte = job->bitwise ? 8 : 1;
  int64_t n = from < 0 ? 1 : box->loop[from].n, width = src ? job->ws : job->wd;
  if (width == 0) return TESELA__LINE;
  for (int32_t i = 0; i < box->n_loops && n * width < TESELA__LINE * byte; i++) {
    const tesela__loop *l = &box->loop[i];
    const int64_t step = src ? l->ss : l->ds;
    if (i == from || i == not || l->n == 1 || (step < 0 ? -step : step) != n * width) continue;
    n *= l->n;
    i = -1;
  }
  return (double)(n * width) / (double)byte;
}

static double up_to_line(double bytes) { return bytes < TESELA__LINE ? bytes : TESELA__LINE; }

int32_t tesela__cost_set(const tesela_plan *plan) {
  const bool only_avx2 = plan->isa & TESELA__CPU_AVX2 && !(plan->isa & TESELA__CPU_AVX512);
  return plan->stream ? 1 : only_avx2 ? 2 : 0;
}

float tesela__cost_of(const tesela_plan *plan, const tesela__verdict *verdict) {
  const float *weight = weight_of[verdict->way] + tesela__cost_set(plan) * TESELA__COST_TERMS;
  float cost = 0;
  for (int32_t i = 0; i < TESELA__COST_TERMS; i++) cost += weight[i] * verdict->term[i];
  return cost;
}

/* `unit`: bytes that one step of the kernel's outer loop moves; `in`, `out`: bytes of the stretches that are read and written. */
static tesela__verdict costs(const tesela__job *job, tesela__cost_way way, double unit, double in, double out,
                             double special) {
  const double width = job->bitwise || job->wd == 0 ? job->dst_bits / 8.0 : job->wd;
  const double terms[TESELA__COST_TERMS] = {
      1, TESELA__LINE / unit, 8 / width, tesela__part_of_line(in), tesela__part_of_line(out), special};
  tesela__verdict verdict = {.applies = true, .way = way};
  for (int32_t i = 0; i < TESELA__COST_TERMS; i++) verdict.term[i] = (float)terms[i];
  verdict.cost = tesela__cost_of(job->plan, &verdict);
  return verdict;
}

/* ---- the verdict of each solver ---------------------------------------------------------------------------- */

static tesela__verdict rows_verdict(const tesela__job *job) {
  int64_t run = job->shared < 0 ? 1 : job->box->loop[job->shared].n;
  if (job->bitwise && (job->conversion || job->shared < 0))
    return refuses("elements share bytes with others that go to other places");
  if (job->conversion && job->shared < 0 && (job->ws == 0 || job->wd == 0))
    return refuses("no loop is contiguous on both sides");
  if (job->group > 1) return refuses("elements move within bytes");
  bool parts = job->conversion || job->bitwise;
  double bytes = (double)run * (parts ? job->dst_bits / 8.0 : job->wd);
  if (parts)
    return costs(job, job->bitwise ? TESELA__COST_ROWS_BITS : TESELA__COST_ROWS_CONVERTED, bytes, bytes,
                 bytes, 0);
  const bool whole = run * job->wd % 16 == 0;
  return costs(job, whole ? TESELA__COST_ROWS : TESELA__COST_ROWS_ODD, bytes,
               stretch(job, job->shared, -1, true), stretch(job, job->shared, -1, false), bytes <= 32);
}

static tesela__verdict memcpy_verdict(const tesela__job *job) {
  if (job->bitwise) return refuses("runs do not begin and end at bytes");
  if (job->shared < 0 && job->box->n_loops > 0) return refuses("no loop is contiguous on both sides");
  if (job->box->n_loops > 1) return refuses("more than one run");
  if (job->conversion) return refuses("values are converted");
  return rows_verdict(job); /* the same kernel; of equal costs the first one wins */
}

/* Why the loops a and b do not exist, or are the same; NULL if they exist and differ. */
static const char *not_two_sides(const tesela__job *job) {
  if (job->bitwise) return "elements share bytes";
  if (job->shared >= 0) return "one loop is contiguous on both sides; rows handles it";
  if (job->a < 0) return "no loop is contiguous in src";
  if (job->b < 0) return "no loop is contiguous in dst";
  return NULL;
}

/* The bytes of a row of a transpose's block on each side, up to a line: as in the tile, a loop that both sides could take is of one of them. */
static void block_sides(const tesela__job *job, double *in, double *out) {
  const tesela__box *box = job->box;
  int64_t src = box->loop[job->a].n * job->ws, dst = box->loop[job->b].n * job->wd;
  uint64_t used = UINT64_C(1) << job->a | UINT64_C(1) << job->b;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    const bool is_in = src < TESELA__LINE && l->ss == src, is_out = dst < TESELA__LINE && l->ds == dst;
    if (used >> i & 1 || l->n == 1 || (!is_in && !is_out)) continue;
    if (is_in && (!is_out || src < dst))
      src *= l->n;
    else
      dst *= l->n;
    used |= UINT64_C(1) << i;
    i = -1;
  }
  *in = job->ws ? (double)src : TESELA__LINE;
  *out = job->wd ? (double)dst : TESELA__LINE;
}

/* What blocks of few columns cost, whose kernel has little to do in each row: of two or three, or up to 15 bytes. */
static float of_few_columns(double columns, int32_t width) {
  const double few = width == 1 ? 16 : 4;
  return columns < few ? (float)(0.8 * (few / columns - 1)) : 0;
}

/* What tiles of a few elements cost that are converted or mixed, for their own work. */
static float of_small_tile(const tesela__job *job) {
  enum { SMALL = 256, OWN = 512 }; /* bytes; those that are moved in the time of that work */
  const double bytes = (double)(job->box->loop[job->a].n * job->box->loop[job->b].n) * job->wd;
  return bytes < SMALL ? (float)(OWN / bytes) : 0;
}

static tesela__verdict transpose_verdict(const tesela__job *job) {
  const char *why = not_two_sides(job);
  if (why) return refuses(why);
  if (job->group > 1) return refuses("elements share bytes; bits handles it");
  const tesela__loop *b = &job->box->loop[job->b];
  if (b->ss == 0 && b->n * job->wd >= 2 * TESELA__LINE && !job->conversion)
    return refuses("one element fills each run; strided repeats it");
  double in, out;
  block_sides(job, &in, &out);
  out += (double)job->behind;
  if (job->apart) in = (double)(job->box->loop[job->a].n * job->wd);
  tesela__cost_way way = job->apart        ? TESELA__COST_TRANSPOSE_PACKED
                         : job->conversion ? TESELA__COST_TRANSPOSE_CONVERTED
                                           : TESELA__COST_TRANSPOSE;
  double block = up_to_line(in) * up_to_line(out) / job->wd;
  tesela__verdict verdict =
      costs(job, way, block, in, out, tesela__part_of_line(in) * tesela__part_of_line(out));
  if ((job->plan->stream || job->inner) && way == TESELA__COST_TRANSPOSE)
    verdict.cost += of_few_columns(in / job->wd, job->wd);
  if (way == TESELA__COST_TRANSPOSE_CONVERTED) verdict.cost += of_small_tile(job);
  return verdict;
}

static bool has_few_streams(int64_t k, int32_t width) {
  return width <= 16 && ((k >= 2 && k <= 4) || (k == 8 && width <= 8));
}

static tesela__verdict weave_verdict(const tesela__job *job, const tesela__loop *run,
                                     const tesela__loop *stream, int64_t pitch, bool out) {
  if (pitch != stream->n * job->wd) return refuses("the k elements and the run are not dense on one side");
  if (stream->n > 64) return refuses("more than 64 streams");
  bool few = has_few_streams(stream->n, job->wd);
  double bytes = (double)(run->n * job->wd), all = bytes * (double)stream->n;
  tesela__cost_way way = out ? (few ? TESELA__COST_INTERLEAVE_FEW : TESELA__COST_INTERLEAVE_MANY)
                             : (few ? TESELA__COST_DEINTERLEAVE_FEW : TESELA__COST_DEINTERLEAVE_MANY);
  return costs(job, way, all, out ? bytes : all, out ? all : bytes, (double)stream->n / 8);
}

/* Why k rows cannot be interleaved into one, or one deinterleaved into k; NULL if they can. */
static const char *not_woven(const tesela__job *job) {
  if (job->group > 1) return "elements share bytes; bits handles it";
  if (job->apart) return "no loop is contiguous in src";
  return job->conversion ? "values are converted" : not_two_sides(job);
}

static tesela__verdict interleave_verdict(const tesela__job *job) {
  const char *why = not_woven(job);
  if (why) return refuses(why);
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  return weave_verdict(job, a, b, a->ds, true);
}

static tesela__verdict deinterleave_verdict(const tesela__job *job) {
  const char *why = not_woven(job);
  if (why) return refuses(why);
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  return weave_verdict(job, b, a, b->ss, false);
}

float tesela__quick_cost(const tesela__job *job) {
  const tesela__verdict others[] = {transpose_verdict(job), interleave_verdict(job),
                                    deinterleave_verdict(job)};
  float least = rows_verdict(job).cost;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (others[i].applies && others[i].cost < least) least = others[i].cost;
  return least;
}

/* What moving the bytes of a tile from one buffer to the other costs, for the bytes of dst. */
static double passes_cost(const tesela__job *job, tesela__bits_fit *fit) {
  tesela__bits_tile tile = {.n_passes = 0};
  tesela__box box;
  tesela__bits_passes passes;
  tesela__bits_set_tile(fit, &tile, &box);
  tesela__bits_find_passes(job, &box, &passes);
  return (double)passes.cost;
}

/* Tiles in buffers. */
static tesela__verdict bits_tile_verdict(const tesela__job *job) {
  tesela__bits_fit fit;
  if (job->conversion || job->src_bits != job->dst_bits) return refuses("values are converted");
  tesela__bits_fit_tile(&fit, job, TESELA__BITS_ELEMENTS);
  if (fit.in == 1 || fit.out == 1) return refuses("no elements are near in src, or none contiguous in dst");
  const double bytes = job->dst_bits / 8.0;
  return costs(job,
               fit.direct   ? TESELA__COST_BITS_TRANSPOSED
               : fit.blocks ? TESELA__COST_BITS_COPIED
                            : TESELA__COST_BITS_AS_BYTES,
               fit.blocks ? (double)fit.step : (double)fit.elements * bytes, (double)fit.in * bytes,
               (double)fit.out * bytes, fit.blocks ? 0 : passes_cost(job, &fit));
}

/* The longest row of dst that shares lines with others, and the steps in dst from which on lines are read again, not kept. */
enum { SHORT_ROW = 512, FAR = 64 << 10 };

static tesela__verdict permute_verdict(const tesela__job *job);

/* Does a permute of odd runs, or a transpose, move the elements where tiles do not? */
static bool permutes_runs(const tesela__job *job) {
  const tesela__verdict permute = permute_verdict(job);
  return job->shared >= 0 && job->box->loop[job->shared].n * job->wd % 16 != 0 && permute.applies &&
         permute.cost < rows_verdict(job).cost;
}
static bool transposes(const tesela__job *job) {
  const tesela__verdict transpose = transpose_verdict(job), interleave = interleave_verdict(job),
                        deinterleave = deinterleave_verdict(job);
  return transpose.applies && (!interleave.applies || interleave.cost > transpose.cost) &&
         (!deinterleave.applies || deinterleave.cost > transpose.cost);
}

/* What a line of src costs that is read again, because src goes on in it where dst is far: from the run of a permute, or from the columns
 * of a transpose, whose tile reads whole lines only before its rows follow. */
static double reads_again(const tesela__job *job) {
  enum { MOST_AGAIN = 3 };
  const tesela__box *box = job->box;
  bool ends = permutes_runs(job);
  int64_t bytes = job->wd;
  for (int32_t i; bytes < TESELA__LINE && (i = tesela__find_loop(box, bytes, -1)) >= 0;
       bytes *= box->loop[i].n) {
    const bool far = box->loop[i].ds >= FAR || box->loop[i].ds <= -FAR;
    if (far && ends) return bytes * MOST_AGAIN < TESELA__LINE ? MOST_AGAIN : TESELA__LINE / (double)bytes;
    ends = ends || i == job->b;
    if (box->loop[i].n == 1) break;
  }
  return 0;
}

/* Does a transpose have rows of dst that share their lines with rows far apart in its tile, where src goes on for less than a line? */
static bool is_thin(const tesela__job *job) {
  enum { STAGED = 256 }; /* bytes that a tile reads of a row at least */
  if (job->shared >= 0 || job->a < 0 || job->b < 0) return false;
  const tesela__loop *a = &job->box->loop[job->a];
  const int64_t row = job->box->loop[job->b].n * job->wd;
  /* Rows that are staged together do not share lines with others. */
  const int32_t next = tesela__find_loop(job->box, a->n * job->ws, row);
  if (next >= 0 && a->n * job->box->loop[next].n * job->wd >= STAGED) return false;
  return a->n * job->wd < TESELA__LINE && a->ds != row && row >= TESELA__LINE && row < SHORT_ROW &&
         row % TESELA__LINE != 0;
}

/* Are tiles of whole bytes of no use, whatever they would cost? */
static bool is_moved_well(const tesela__job *job) {
  enum { WELL = 4, WIDE = 8 };
  const bool reads_lines_once = tesela__may_stream(job) && job->wd < WIDE;
  if (job->random || tesela__wanted(job->plan) == TESELA_SOLVER_BITS) return false;
  if (reads_lines_once && (permutes_runs(job) || transposes(job))) return false;
  const tesela__verdict permute = permute_verdict(job);
  return tesela__quick_cost(job) < WELL || (permute.applies && permute.cost < WELL);
}

/* Has src, in the cache, no two elements that are neighbours? A run of it is mostly gaps: `u16 [3431,12]`, every 8th element, went through buffers
 * at a third of the speed of other ways. */
static bool is_sparse(const tesela__job *job) {
  if (job->random || tesela__wanted(job->plan) == TESELA_SOLVER_BITS || tesela__may_stream(job)) return false;
  for (int32_t i = 0; i < job->box->n_loops; i++)
    if (job->box->loop[i].ss == job->ws || job->box->loop[i].ss == -job->ws) return false;
  return true;
}

/* Tiles of whole bytes. Their cost is less what all others pay for lines that are read again, or written in parts. */
static tesela__verdict byte_tile_verdict(const tesela__job *job) {
  enum { LEAST = 32 }; /* bytes of a run */
  tesela__box box;
  tesela__job bits;
  tesela__bits_fit fit;
  if (job->inner) return refuses("from one buffer in the cache to another");
  if (job->direct) return refuses("blocks that are mixed inside move as elements");
  if (job->plan->reach > 0) return refuses("dst is written in windows");
  if (job->conversion || job->ws != job->wd) return refuses("values are converted");
  if (is_moved_well(job)) return refuses("other solvers move whole bytes well");
  if (is_sparse(job)) return refuses("no two elements of src are neighbours");
  tesela__bits_of_bytes(job, &bits, &box);
  tesela__bits_fit_tile(&fit, &bits, TESELA__BYTES_ELEMENTS);
  const double in = (double)(fit.in * job->wd), out = (double)(fit.out * job->wd);
  if (in < LEAST || out < LEAST) return refuses("runs of a side have less than 32 bytes");
  tesela__verdict verdict =
      costs(job, TESELA__COST_BYTES_COPIED, in * out / (in + out), in, out, passes_cost(&bits, &fit));
  verdict.cost -= (float)(reads_again(job) + (is_thin(job) ? THIN : 0));
  return verdict;
}

tesela__verdict tesela__bits_verdict(const tesela__job *job) {
  if (job->plan->dst.bits >= 8 && !job->bitwise) return byte_tile_verdict(job);
  if (job->bitwise) return bits_tile_verdict(job);
  if (job->group <= 1) return refuses("whole bytes can be moved");
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  const double in = (double)a->n * job->src_bits / 8, out = (double)b->n * job->dst_bits / 8;
  if (tesela__is_woven_bits(job))
    return costs(job, TESELA__COST_BITS_WOVEN, in * (double)b->n, in, out,
                 !has_few_streams(tesela__min(a->n, b->n), 1));
  return costs(job, TESELA__COST_BITS, in * (double)b->n, in, out, 0);
}

/* Do permutes of lines move the run? */
static bool is_near(const tesela__job *job, int64_t near, int64_t far) {
  enum { NEAR = 32 };
  return near == job->wd && job->wd <= 8 && far % job->wd == 0 && far >= -NEAR && far <= NEAR && far != 0;
}

static tesela__verdict strided_verdict(const tesela__job *job) {
  enum { SHORT_RUNS = 1 }; /* without AVX-512, which the weights are from */
  if (job->conversion != job->plan->conversion) return refuses("elements form blocks of 4 to 16 bytes");
  if (!job->bitwise && (job->group > 1 || job->ws == 0 || job->wd == 0))
    return refuses("elements share bytes, and whole bytes can be moved");
  const tesela__box *box = job->box;
  const tesela__loop run = box->n_loops > 0 ? box->loop[box->n_loops - 1] : (tesela__loop){1, 0, 0};
  if (job->bitwise)
    return costs(job, TESELA__COST_STRIDED_BITS, (double)run.n, TESELA__LINE, TESELA__LINE, 0);
  tesela__cost_way way = TESELA__COST_STRIDED;
  if (run.ss == 0 && run.ds == job->wd) way = TESELA__COST_STRIDED_REPEATED;
  double special = (double)tesela__min(run.ss < 0 ? -run.ss : run.ss, 4096) / 64;
  /* Shorter runs go element by element: their kernels need two vectors of dst. */
  const int64_t least = job->plan->isa & TESELA__CPU_AVX512 ? 32 : 64;
  if (run.n * job->wd >= least && (is_near(job, run.ds, run.ss) || is_near(job, run.ss, run.ds))) {
    const int64_t step = run.ds == job->wd ? run.ss : run.ds; /* a line is picked from so many */
    way = TESELA__COST_STRIDED_NEAR;
    special = (double)(step < 0 ? -step : step) / job->wd / 8;
  }
  tesela__verdict verdict = costs(job, way, (double)(run.n * job->wd), stretch(job, -1, -1, true),
                                  stretch(job, -1, -1, false), special);
  if (way == TESELA__COST_STRIDED && job->plan->stream && run.n * job->wd < least &&
      !(job->plan->isa & TESELA__CPU_AVX512))
    verdict.cost += SHORT_RUNS;
  if (job->padding > 0) verdict.cost += padding_apart(job);
  return verdict;
}

/* Are the lines of a block parts of runs that rows move as well? */
static bool cuts_runs(const tesela__job *job, const tesela__permute_fit *fit) {
  const int64_t run = job->shared < 0 ? 0 : job->box->loop[job->shared].n * job->wd;
  return fit->picks > 1 && run > 16 && run % 16 != 0;
}

static tesela__verdict permute_verdict(const tesela__job *job) {
  tesela__permute_fit fit;
  const char *why = tesela__permute_refuses(job);
  if (!why) why = tesela__permute_fit_block(job, &fit);
  if (why) return refuses(why);
  const double in = stretch(job, -1, -1, true), out = fit.dense ? TESELA__LINE : (double)fit.of_line;
  tesela__verdict verdict;
  if (fit.bits)
    verdict = costs(job, TESELA__COST_PERMUTE_BITS, fit.keeps ? TESELA__LINE / 4 : (double)fit.bytes, in, out,
                    (double)(fit.picks + fit.rounds) / 8);
  else
    verdict = costs(job, TESELA__COST_PERMUTE, (double)fit.bytes, in, out,
                    (double)fit.picks * (cuts_runs(job, &fit) ? 2 : 1) / 8);
  if (job->padding > 0 && fit.padding == 0) verdict.cost += padding_apart(job);
  if (job->inner) verdict.cost *= IN_BUFFERS;
  if (fit.bits && fit.stretch < TESELA__LINE)
    verdict.cost *= BITS_BY_SHUFFLES[job->plan->stream && !job->inner];
  return verdict;
}

bool tesela__permutes_bits(const tesela__job *job, float cost) {
  const tesela__verdict verdict = permute_verdict(job);
  return verdict.applies && verdict.cost < cost;
}

static tesela__verdict gather_verdict(const tesela__job *job) {
  (void)job;
  return refuses("regular loops describe the whole move");
}

static tesela__verdict (*const verdict_of[TESELA__N_SOLVERS])(const tesela__job *) = {
    [TESELA_SOLVER_MEMCPY] = memcpy_verdict,
    [TESELA_SOLVER_ROWS] = rows_verdict,
    [TESELA_SOLVER_TRANSPOSE] = transpose_verdict,
    [TESELA_SOLVER_INTERLEAVE] = interleave_verdict,
    [TESELA_SOLVER_DEINTERLEAVE] = deinterleave_verdict,
    [TESELA_SOLVER_BITS] = tesela__bits_verdict,
    [TESELA_SOLVER_STRIDED] = strided_verdict,
    [TESELA_SOLVER_GATHER] = gather_verdict,
    [TESELA_SOLVER_PERMUTE] = permute_verdict,
};

void tesela__solver_verdicts(const tesela__job *job, tesela__verdict verdict[TESELA__N_SOLVERS]) {
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS; i++) verdict[i] = verdict_of[i](job);
}

tesela_solver tesela__choose_solver(const tesela__job *job, tesela__verdict *verdict) {
  tesela_solver best = TESELA_SOLVER_STRIDED, wanted = tesela__wanted(job->plan);
  int32_t n = 0;
  tesela__solver_verdicts(job, verdict);
  for (int32_t i = TESELA_SOLVER_MEMCPY; i < TESELA__N_SOLVERS; i++) {
    if (!verdict[i].applies) continue;
    n++;
    bool better = verdict[i].cost < verdict[best].cost || !verdict[best].applies;
    if (job->random ? tesela__random(job->random) % (uint64_t)n == 0 : better) best = (tesela_solver)i;
  }
  return verdict[wanted].applies ? wanted : best;
}
