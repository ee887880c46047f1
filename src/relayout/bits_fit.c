/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_fit.c - choose a tile of elements below 8 bits that may begin at any bit, or of whole bytes; bits_tile.c says what is done with it.
 *
 * A tile consists of loops of the box, of some only a part. The run of a side is the loops that continue each other there, from an
 * element on. The tile starts with one element and doubles the loop that lengthens the shorter of both runs.
 *
 *   4 bits, [300,620979] to {0,1}      128 x 256 elements: 256 runs of 128 become 128 runs of 256
 *   1 bit, [5,5,1508,1828] to 3 0 2 1  runs of 512 along the last dim; 5 x 103 of the dims 1 and 2, which are a run of dst
 *
 * Tiles are of blocks, whose elements stay bits, if no loop is in the runs of both sides; else each element is in a byte of its own.
 * Elements of whole bytes stay as they are.
 */
#include "relayout/solve.h"

enum {
  ENOUGH_ELEMENTS = 8192, /* of a tile, so that its own costs are small against theirs */
  LITTLE = 4,
  LONG = 1024
};

/* ---- growth ------------------------------------------------------------------------------------------------ */

static int64_t elements_of(const tesela__bits_fit *fit) {
  int64_t elements = 1;
  for (int32_t i = 0; i < fit->box->n_loops; i++)
    if (!(fit->one >> i & 1)) elements *= fit->chunk[i];
  return elements;
}

/* Elements of the tile in a buffer: rows of blocks end at bytes. */
static int64_t room_of(const tesela__bits_fit *fit) {
  tesela__bits_run in, out;
  const int64_t elements = elements_of(fit);
  if (!fit->blocks) return elements;
  tesela__bits_find_run(fit, true, &in);
  tesela__bits_find_run(fit, false, &out);
  return elements / in.elements / out.elements * tesela__bits_whole(fit, in.elements) *
         tesela__bits_whole(fit, out.elements);
}

/* Do elements stay as they are in the buffers? */
static bool stays_as_it_is(const tesela__bits_fit *fit) { return fit->blocks || fit->bits >= 8; }

/* Set the part of a loop that is in the tile, if there is room and it grows. */
static bool take(tesela__bits_fit *fit, int32_t i, int64_t chunk) {
  const int64_t before = fit->chunk[i];
  if (chunk <= before) return false;
  fit->chunk[i] = chunk;
  if (room_of(fit) <= fit->most) return true;
  fit->chunk[i] = before;
  return false;
}

static bool is_whole_run(const tesela__bits_fit *fit, const tesela__bits_run *run) {
  return run->elements * fit->bits % 8 == 0;
}

/* Double the part of a loop that is in the tile, or take all of it, or as much as fits; false if it cannot grow. Of blocks it joins the run
 * that it continues; if both, none where these are whole bytes. */
static bool lengthen(tesela__bits_fit *fit, int32_t i, const tesela__bits_run *in,
                     const tesela__bits_run *out) {
  if (i < 0) return false;
  const uint64_t before[2] = {fit->of[0], fit->of[1]}, bit = (uint64_t)1 << i;
  const bool plane = in->next == out->next && is_whole_run(fit, in) && is_whole_run(fit, out);
  if (fit->blocks && i == in->next && !plane)
    fit->of[0] |= bit;
  else if (fit->blocks && i == out->next && !plane)
    fit->of[1] |= bit;
  const int64_t n = fit->box->loop[i].n, room = fit->most / (room_of(fit) / fit->chunk[i]);
  const int64_t much = stays_as_it_is(fit) && fit->chunk[i] * fit->bits >= LONG
                           ? LITTLE
                           : 2; /* then a little more is all of it */
  if (take(fit, i, n <= much * fit->chunk[i] ? n : 2 * fit->chunk[i]) || take(fit, i, tesela__min(n, room)))
    return true;
  fit->of[0] = before[0];
  fit->of[1] = before[1];
  return false;
}

/* The loop of the shortest steps that is not whole in the tile, or -1. */
static int32_t any_loop(const tesela__bits_fit *fit) {
  int32_t found = -1;
  int64_t least = INT64_MAX;
  for (int32_t i = 0; i < fit->box->n_loops; i++) {
    const tesela__loop *l = &fit->box->loop[i];
    if (l->ss <= 0 || l->ds <= 0 || fit->chunk[i] == l->n) continue;
    const int64_t step =
        fit->chunk[i] > 1 ? 0 : tesela__min(l->ss, l->ds); /* a loop that is begun is finished first */
    if (step < least) least = step, found = i;
  }
  return found;
}

/* The elements of a tile of blocks that are contiguous on a side, whichever run has their loops. *next: the loop that continues them,
 * or -1. */
static int64_t contiguous(const tesela__bits_fit *fit, bool src, int32_t *next) {
  uint64_t seen = fit->one;
  int64_t elements = 1;
  while ((*next = tesela__bits_continuing(fit->box, src, seen, elements * fit->bits)) >= 0) {
    elements *= fit->chunk[*next];
    if (fit->chunk[*next] < fit->box->loop[*next].n) break;
    seen |= (uint64_t)1 << *next;
  }
  return elements;
}

/* Lengthen what is contiguous on both sides, then take other loops. */
static void grow(tesela__bits_fit *fit) {
  enum {
    LONG_OUT = 4
  }; /* as those of src, where rows are transposed at once, since tiles go along src then */
  int32_t next[2] = {-1, -1};
  for (bool grows = true; grows;) {
    tesela__bits_run in, out;
    tesela__bits_find_run(fit, true, &in);
    tesela__bits_find_run(fit, false, &out);
    int64_t n[2] = {in.elements, out.elements};
    next[0] = in.next;
    next[1] = out.next;
    for (int32_t k = 0; k < 2 && fit->blocks; k++) n[k] = contiguous(fit, k == 0, &next[k]);
    const int64_t times = fit->direct ? LONG_OUT : 1;
    const int32_t first = times * n[0] <= n[1] ? 0 : 1; /* memory is read in longer runs than it is written */
    grows = lengthen(fit, next[first], &in, &out) || lengthen(fit, next[1 - first], &in, &out);
  }
  if (next[0] >= 0 || next[1] >= 0) return;
  for (bool grows = true; grows && room_of(fit) < ENOUGH_ELEMENTS;) {
    const int32_t i = any_loop(fit);
    grows = i >= 0 && (take(fit, i, tesela__min(fit->box->loop[i].n, 2 * fit->chunk[i])) ||
                       take(fit, i, fit->box->loop[i].n));
  }
}

/* A part of n elements, up to `chunk`, as whole bytes if they are: then no two tiles share a byte. */
static int64_t whole_part(const tesela__bits_fit *fit, int64_t n, int64_t chunk, int64_t part) {
  const int64_t m = fit->blocks && fit->bits < 8 ? 8 / fit->bits : 1, whole = tesela__ceil_div(part, m) * m;
  return n % m == 0 && whole <= chunk ? whole : part;
}

/* Divide loops into equal parts; the last one of a run into whole lines of memory (of slices: of the buffer) where these fit. */
static void even_out(tesela__bits_fit *fit) {
  tesela__bits_run run[2];
  tesela__bits_find_run(fit, true, &run[0]);
  tesela__bits_find_run(fit, false, &run[1]);
  for (int32_t i = 0; i < fit->box->n_loops; i++) {
    const int64_t n = fit->box->loop[i].n, chunk = fit->chunk[i],
                  part = tesela__ceil_div(n, tesela__ceil_div(n, chunk));
    int64_t line = stays_as_it_is(fit) ? tesela__max(1, 8 * TESELA__LINE / fit->bits) : TESELA__LINE;
    for (int k = 0; k < 2 && stays_as_it_is(fit); k++)
      if (run[k].n > 0 && run[k].loop[run[k].n - 1] == i)
        line = line % run[k].unit[run[k].n - 1] == 0 ? line / run[k].unit[run[k].n - 1] : 1;
    const int64_t lines = n >= 4 * chunk ? chunk / line * line : tesela__ceil_div(part, line) * line;
    fit->chunk[i] =
        chunk >= line && 2 * lines < n && lines <= chunk ? lines : whole_part(fit, n, chunk, part);
  }
}

/* ---- the tile ---------------------------------------------------------------------------------------------- */

/* Is there a loop of near elements, and room in a tile for all before it? Then runs of src have elements between those of the tile, and the
 * tile fewer. */
static void find_near(tesela__bits_fit *fit) {
  uint64_t seen = 0;
  int64_t step = fit->bits;
  for (int32_t i; (i = tesela__bits_continuing(fit->box, true, seen, step)) >= 0; step *= fit->box->loop[i].n)
    seen |= (uint64_t)1 << i;
  const int32_t near = tesela__bits_near(fit->box, seen, step, fit->bits);
  if (near < 0) return;
  const int64_t times = tesela__ceil_div(fit->box->loop[near].ss, step), most = fit->most / times;
  fit->near = step / fit->bits <= most / times;
  if (fit->near) fit->most = most;
}

/* The tile has whole rows before padding, or before gaps, and both buffers have room. */
static void begin_padded(tesela__bits_fit *fit) {
  uint64_t row;
  tesela__bits_row(fit->box, fit->bits, fit->gap > 0, &row);
  fit->most = tesela__max(fit->most * fit->row / (fit->row + fit->padding + fit->gap), fit->row);
  for (int32_t i = 0; i < fit->box->n_loops; i++)
    if (row >> i & 1) fit->chunk[i] = fit->box->loop[i].n;
}

/* Elements that are contiguous on both sides, if they are a part of a byte or some bytes, move as one. False: not as a block. */
static bool find_one(tesela__bits_fit *fit) {
  enum { MOST_ONE = 4096 };
  const int32_t i = tesela__find_loop(fit->box, fit->bits, fit->bits);
  const int64_t bits = i < 0 ? fit->bits : fit->box->loop[i].n * fit->bits;
  if (i < 0) return true;
  if (bits > MOST_ONE || (bits % 8 && bits != 2 && bits != 4)) return false;
  fit->one = (uint64_t)1 << i;
  fit->chunk[i] = fit->box->loop[i].n;
  fit->bits = (int32_t)bits;
  return true;
}

static int64_t bits_of_run(const tesela__bits_side *side) { return side->unit * side->run.n; }

/* Are rows that are transposed at once short parts of what a tile has contiguous in src? Others read it whole. */
static bool parts_rows(const tesela__bits_fit *fit) {
  enum { LONG_PART = 256 };
  tesela__bits_run in;
  int32_t next;
  tesela__bits_find_run(fit, true, &in);
  return in.elements * fit->bits < 8 * LONG_PART && contiguous(fit, true, &next) > in.elements;
}

/* Are runs of a block too short on a side, or the rows of src that become kinds at once, or is too much of it what fills last bytes? Or are
 * rows not such that they are transposed at once, as they should? */
static bool is_poor_block(tesela__bits_fit *fit) {
  enum { LEAST_IN = 256, LEAST_OUT = 256, LEAST_LINE = 32 };
  tesela__bits_tile tile;
  tesela__box box;
  tesela__bits_set_tile(fit, &tile, &box);
  if (tile.kinds > 1 && !tile.kind_bytes && tile.line < LEAST_LINE) return true;
  if (fit->direct && (tile.column == 0 || (!fit->random && parts_rows(fit)))) return true;
  return bits_of_run(&tile.in) < LEAST_IN || bits_of_run(&tile.out) < LEAST_OUT ||
         3 * room_of(fit) > 4 * elements_of(fit);
}

/* Elements of a tile where they stay as they are. */
static int64_t most_that_stay(const tesela__bits_fit *fit) {
  return fit->most * (TESELA__BITS_BYTES / TESELA__BITS_ELEMENTS) * 8 / fit->bits;
}

static bool grow_block(tesela__bits_fit *fit, bool direct) {
  fit->direct = direct;
  grow(fit);
  even_out(fit);
  return !is_poor_block(fit);
}

/* Is there a kernel that transposes rows at once, and past the cache? In it these tiles are as fast as others. */
static bool may_be_direct(const tesela__bits_fit *fit, const tesela__job *job) {
  if (fit->bits >= 8 || (job->random ? tesela__random(job->random) % 2 : !job->plan->stream)) return false;
  return tesela__kernel_for(job, TESELA__K_BIT_TRANSPOSE, fit->bits, 0) != NULL;
}

/* Runs of different loops make blocks. */
static bool fit_blocks(tesela__bits_fit *fit, const tesela__job *job) {
  enum { SPARE_LOOPS = 8 };
  const tesela__bits_fit before = *fit;
  if (fit->padding || fit->gap || fit->box->n_loops + SPARE_LOOPS > TESELA__MAX_LOOPS || !find_one(fit))
    return false;
  const int32_t a = tesela__bits_continuing(fit->box, true, fit->one, fit->bits),
                b = tesela__bits_continuing(fit->box, false, fit->one, fit->bits);
  if (fit->bits >= 8 || (a >= 0 && b >= 0 && a != b)) {
    fit->blocks = true;
    fit->most = most_that_stay(fit);
    const tesela__bits_fit begun = *fit;
    if (may_be_direct(fit, job) && grow_block(fit, true)) return true;
    *fit = begun;
    if (grow_block(fit, false)) return true;
  }
  *fit = before;
  return false;
}

/* So few elements in a tile that there are some tiles to be moved together, in dst or within its reach. */
static void limit_slices(tesela__bits_fit *fit, const tesela_plan *plan) {
  enum { TIMES = 2, LEAST = 1024 };
  int64_t bytes = fit->bits;
  for (int32_t i = 0; i < fit->box->n_loops; i++) bytes *= fit->box->loop[i].n;
  bytes /= 8 * TIMES;
  if (plan->reach > 0) bytes = tesela__min(bytes, plan->reach);
  fit->most = tesela__min(fit->most, tesela__max(bytes, LEAST));
}

/* Set the elements that are contiguous on both sides, those of the plan. */
static void set_contiguous(tesela__bits_fit *fit, int32_t bits) {
  tesela__bits_run run;
  fit->elements = elements_of(fit);
  tesela__bits_find_run(fit, true, &run);
  fit->in = run.elements;
  tesela__bits_find_run(fit, false, &run);
  fit->out = run.elements;
  if (!fit->blocks) return;
  tesela__bits_tile tile;
  tesela__box box;
  int32_t next;
  tesela__bits_set_tile(fit, &tile, &box);
  fit->step = tile.kinds == 1 ? TESELA__BITS_BYTES : tile.kind_bytes ? TESELA__LINE : tile.kinds * tile.line;
  fit->in = contiguous(fit, true, &next) * fit->bits / bits;
  fit->out = bits_of_run(&tile.out) / bits;
  fit->elements = fit->elements * fit->bits / bits;
}

void tesela__bits_fit_tile(tesela__bits_fit *fit, const tesela__job *job, int64_t most) {
  *fit = (tesela__bits_fit){.box = job->box,
                            .bits = job->dst_bits,
                            .most = most,
                            .row = job->row,
                            .padding = job->padding,
                            .gap = job->gap,
                            .unread = job->unread,
                            .random = job->random != NULL,
                            .bands = job->bands};
  for (int32_t i = 0; i < job->box->n_loops; i++) fit->chunk[i] = 1;
  const bool whole = fit->bits >= 8;
  if (whole || !fit_blocks(fit, job)) {
    if (whole)
      fit->most = most_that_stay(fit);
    else
      limit_slices(fit, job->plan);
    if (!fit->gap) find_near(fit);
    if (fit->padding || fit->gap) begin_padded(fit);
    grow(fit);
    even_out(fit);
  }
  set_contiguous(fit, job->dst_bits);
}
