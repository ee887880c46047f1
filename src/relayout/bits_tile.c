/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_tile.c - tiles of elements below 8 bits that may begin at any bit: runs of src are unpacked to bytes in a buffer, a piece of its
 * own moves the bytes to a second buffer, and runs of these are packed into dst.
 *
 * A tile consists of loops of the box, of some only a part. The run of a side is the loops that continue each other there, from an
 * element on. The tile starts with one element and doubles the loop that lengthens the shorter of both runs.
 *
 *   4 bits, [300,620979] to {0,1}     256 x 100 elements: 256 runs of 100 become 100 runs of 256
 *   1 bit, [5,5,1508,1828] to 3 0 2 1  runs of 128 along the last dim; 5 x 51 of the dims 1 and 2, which are a run of dst
 *
 * Elements that are not in the box, but between near ones of src, are unpacked, too. Padding after rows of dst is in the second buffer.
 *
 * Runs of dst may share their first and last bytes with others, whose bits are kept; so one thread does all of these tiles.
 */
#include "relayout/solve.h"

/* ---- the tile ---------------------------------------------------------------------------------------------- */

enum { ENOUGH_ELEMENTS = 8192 }; /* of a tile, so that its own costs are small against theirs */

/* The loop of the longest values that continues `step` bits of a side and is not in `seen`; or -1. */
static int32_t continuing_loop(const tesela__box *box, bool src, uint64_t seen, int64_t step) {
  int32_t found = -1;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    if (seen >> i & 1 || (src ? l->ss : l->ds) != step) continue;
    if (found < 0 || l->n > box->loop[found].n) found = i;
  }
  return found;
}

enum { NEAR_TIMES = 4 }; /* so many times as many elements are unpacked, at most */

/* A loop whose elements are near each other in src, so that what is between them is unpacked, too; or -1. */
static int32_t near_loop(const tesela__box *box, uint64_t seen, int64_t step) {
  int32_t found = -1;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const int64_t ss = box->loop[i].ss;
    if (!(seen >> i & 1) && ss > step && ss <= NEAR_TIMES * step && (found < 0 || ss < box->loop[found].ss))
      found = i;
  }
  return found;
}

/* The run of a side: its loops in order, all but the last one whole. */
typedef struct bits_run {
  int32_t n, loop[TESELA__MAX_LOOPS];
  int64_t unit
      [TESELA__MAX_LOOPS]; /* elements from one value of a loop to the next, with those between near elements and padding */
  int32_t next; /* the loop that lengthens it: its last one, if that is cut, or another; or -1 */
  int64_t elements;
} bits_run;

static void find_run(const tesela__bits_fit *fit, bool src, bits_run *run) {
  uint64_t seen = 0;
  int64_t step = 1, between = 0;
  run->n = 0;
  run->elements = 1;
  for (;;) {
    if (!src && fit->padding && step == fit->row) run->elements = step += fit->padding;
    int32_t i = run->next = continuing_loop(fit->box, src, seen, step * fit->bits);
    if (i < 0 && src && fit->near && between == 0) {
      i = run->next = near_loop(fit->box, seen, step * fit->bits);
      if (i >= 0) between = fit->box->loop[i].ss / fit->bits - step;
      step += between;
    }
    if (i < 0) return;
    seen |= (uint64_t)1 << i;
    if (fit->chunk[i] > 1) {
      run->loop[run->n] = i;
      run->unit[run->n++] = step;
      run->elements = step * fit->chunk[i] - between;
    }
    if (fit->chunk[i] < fit->box->loop[i].n) return;
    step *= fit->box->loop[i].n;
  }
}

/* Is there a loop of near elements, and room in a tile for all before it? Then runs of src have elements between those of the tile, and the
 * tile fewer. */
static void find_near(tesela__bits_fit *fit) {
  uint64_t seen = 0;
  int64_t step = fit->bits;
  const int64_t most = fit->most / NEAR_TIMES;
  for (int32_t i; (i = continuing_loop(fit->box, true, seen, step)) >= 0; step *= fit->box->loop[i].n)
    seen |= (uint64_t)1 << i;
  fit->near = step / fit->bits <= most / NEAR_TIMES && near_loop(fit->box, seen, step) >= 0;
  if (fit->near) fit->most = most;
}

int64_t tesela__bits_row(const tesela__box *box, int32_t bits, uint64_t *loops) {
  int64_t step = bits;
  *loops = 0;
  for (int32_t i; (i = continuing_loop(box, false, *loops, step)) >= 0; step *= box->loop[i].n)
    *loops |= (uint64_t)1 << i;
  return step;
}

/* Double the part of a loop that is in the tile, or take all of it; false if that is too much. */
static bool lengthen(tesela__bits_fit *fit, int32_t i) {
  if (i < 0) return false;
  const int64_t n = fit->box->loop[i].n, room = fit->most / (fit->elements / fit->chunk[i]);
  const int64_t chunk = tesela__min(tesela__min(n, 2 * fit->chunk[i]), room);
  if (chunk <= fit->chunk[i]) return false;
  fit->elements = fit->elements / fit->chunk[i] * chunk;
  fit->chunk[i] = chunk;
  return true;
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

enum { LEAST_BITS = 64 }; /* elements of each side of a transpose of bits */

static int64_t whole_blocks(int64_t n) { return tesela__ceil_div(n, LEAST_BITS) * LEAST_BITS; }

/* Divide loops into equal parts, of whole blocks where these fit. */
static void even_out(tesela__bits_fit *fit) {
  fit->elements = 1;
  for (int32_t i = 0; i < fit->box->n_loops; i++) {
    const int64_t n = fit->box->loop[i].n, chunk = fit->chunk[i],
                  part = tesela__ceil_div(n, tesela__ceil_div(n, chunk));
    const int64_t blocks = n >= 4 * chunk ? chunk / LEAST_BITS * LEAST_BITS : whole_blocks(part);
    fit->chunk[i] = part >= LEAST_BITS && 2 * blocks < n && blocks <= chunk ? blocks : part;
    fit->elements *= fit->chunk[i];
  }
}

/* A transpose with long loops on both sides stays in bits. */
static bool fit_blocks(tesela__bits_fit *fit) {
  const int32_t a = continuing_loop(fit->box, true, 0, fit->bits),
                b = continuing_loop(fit->box, false, 0, fit->bits);
  if (a < 0 || b < 0 || a == b || fit->padding) return false;
  const int64_t na = fit->box->loop[a].n, nb = fit->box->loop[b].n, most = fit->most * 8 / fit->bits;
  if (na < LEAST_BITS || nb < LEAST_BITS || most < LEAST_BITS * LEAST_BITS ||
      fit->box->loop[a].ds == fit->bits)
    return false;
  int64_t side = LEAST_BITS;
  while (4 * side * side <= most) side *= 2;
  fit->chunk[a] = tesela__min(na, most / side / side * side);
  fit->chunk[b] = tesela__min(nb, most / whole_blocks(fit->chunk[a]));
  if (fit->chunk[b] < side)
    fit->chunk[a] = tesela__min(na, most / whole_blocks(fit->chunk[b]) / LEAST_BITS * LEAST_BITS);
  even_out(fit);
  fit->blocks = fit->elements >= ENOUGH_ELEMENTS;
  if (!fit->blocks) fit->chunk[a] = fit->chunk[b] = fit->elements = 1;
  fit->a = a;
  fit->b = b;
  fit->in = fit->chunk[a];
  fit->out = fit->chunk[b];
  return fit->blocks;
}

/* The tile has whole rows before padding, and both buffers have room. */
static void begin_padded(tesela__bits_fit *fit) {
  uint64_t row;
  tesela__bits_row(fit->box, fit->bits, &row);
  fit->most = tesela__max(fit->most * fit->row / (fit->row + fit->padding), fit->row);
  for (int32_t i = 0; i < fit->box->n_loops; i++)
    if (row >> i & 1) fit->chunk[i] = fit->box->loop[i].n;
  fit->elements = fit->row;
}

void tesela__bits_fit_tile(tesela__bits_fit *fit, const tesela__job *job, int64_t most) {
  const tesela__box *box = job->box;
  bits_run in, out;
  *fit = (tesela__bits_fit){.box = box,
                            .bits = job->dst_bits,
                            .most = most,
                            .elements = 1,
                            .row = job->row,
                            .padding = job->padding};
  for (int32_t i = 0; i < box->n_loops; i++) fit->chunk[i] = 1;
  if (fit_blocks(fit)) return;
  find_near(fit);
  if (fit->padding) begin_padded(fit);
  for (bool grows = true; grows;) {
    find_run(fit, true, &in);
    find_run(fit, false, &out);
    const bool first_in = in.elements < out.elements;
    grows = lengthen(fit, first_in ? in.next : out.next) || lengthen(fit, first_in ? out.next : in.next);
  }
  while (fit->elements < ENOUGH_ELEMENTS && in.next < 0 && out.next < 0 && lengthen(fit, any_loop(fit)))
    continue;
  even_out(fit);
  find_run(fit, true, &in);
  find_run(fit, false, &out);
  fit->in = in.elements;
  fit->out = out.elements;
}

/* ---- its sides --------------------------------------------------------------------------------------------- */

/* The loop `i` of a tile on one side. */
static tesela__bits_loop loop_of(const tesela__bits_fit *fit, int32_t i, bool src, int64_t buffer) {
  const tesela__loop *l = &fit->box->loop[i];
  tesela__bits_loop loop = {fit->chunk[i], src ? l->ss : l->ds, buffer, -1};
  for (int32_t c = 0; c < fit->n_cuts; c++)
    if (fit->cut[c] == i) loop.cut = c;
  return loop;
}

/* The loop of the shortest steps on a side that is in the tile and not in `seen`, or -1. */
static int32_t next_row_loop(const tesela__bits_fit *fit, bool src, uint64_t seen) {
  int32_t next = -1;
  for (int32_t i = 0; i < fit->box->n_loops; i++) {
    const tesela__loop *l = &fit->box->loop[i];
    if (fit->chunk[i] == 1 || seen >> i & 1) continue;
    if (next < 0 || (src ? l->ss < fit->box->loop[next].ss : l->ds < fit->box->loop[next].ds)) next = i;
  }
  return next;
}

/* Set the loops of a side, those of the run first, then by increasing steps; the buffer has the elements in this order. `step`: the
 * steps of each loop in the buffer. */
static void set_bits_side(const tesela__bits_fit *fit, bool src, tesela__bits_side *side, int64_t *step) {
  bits_run run;
  uint64_t seen = 0;
  find_run(fit, src, &run);
  *side = (tesela__bits_side){.unit = 1, .run = {1, 0, 0, -1}};
  for (int32_t k = 0; k < run.n; k++) {
    seen |= (uint64_t)1 << run.loop[k];
    step[run.loop[k]] = side->unit = run.unit[k];
    side->run = loop_of(fit, run.loop[k], src, 0);
  }
  const int64_t whole = side->unit * side->run.n;
  side->less = whole - run.elements;
  int64_t elements = tesela__max(whole, run.elements);
  for (int32_t i; (i = next_row_loop(fit, src, seen)) >= 0; elements *= fit->chunk[i]) {
    seen |= (uint64_t)1 << i;
    step[i] = elements;
    side->loop[side->n_loops++] = loop_of(fit, i, src, elements);
  }
}

/* Rows of bits that begin at bytes on both sides. */
static void set_blocks(const tesela__bits_fit *fit, tesela__bits_tile *tile, tesela__box *inner) {
  const int64_t bits = fit->bits, na = whole_blocks(fit->chunk[fit->a]),
                nb = whole_blocks(fit->chunk[fit->b]);
  tile->in =
      (tesela__bits_side){bits, 0, loop_of(fit, fit->a, true, 0), 1, {loop_of(fit, fit->b, true, na * bits)}};
  tile->out = (tesela__bits_side){
      bits, 0, loop_of(fit, fit->b, false, 0), 1, {loop_of(fit, fit->a, false, nb * bits)}};
  tesela__box_add(inner, na, bits, nb * bits);
  tesela__box_add(inner, nb, na * bits, bits);
}

/* The cut loops, those with the most tiles first: lines of which a tile has a part are in the cache for the next part. */
static void find_cuts(tesela__bits_fit *fit) {
  fit->n_cuts = 0;
  for (int32_t i = 0; i < fit->box->n_loops; i++) {
    const int64_t tiles = tesela__ceil_div(fit->box->loop[i].n, fit->chunk[i]);
    if (fit->chunk[i] == 1 || tiles == 1) continue;
    int32_t k = fit->n_cuts++;
    for (; k > 0; k--) {
      const int32_t other = fit->cut[k - 1];
      if (tesela__ceil_div(fit->box->loop[other].n, fit->chunk[other]) >= tiles) break;
      fit->cut[k] = other;
    }
    fit->cut[k] = i;
  }
}

void tesela__bits_set_tile(tesela__bits_fit *fit, tesela__bits_tile *tile, tesela__box *inner) {
  int64_t in[TESELA__MAX_LOOPS] = {0}, out[TESELA__MAX_LOOPS] = {0}; /* 0: of loops of one value */
  *inner = (tesela__box){.n_loops = 0};
  find_cuts(fit);
  if (fit->blocks) {
    set_blocks(fit, tile, inner);
    return;
  }
  if (fit->padding) tile->padded = fit->elements / fit->row * (fit->row + fit->padding);
  set_bits_side(fit, true, &tile->in, in);
  set_bits_side(fit, false, &tile->out, out);
  for (int32_t i = 0; i < fit->box->n_loops; i++)
    tesela__box_add(inner, fit->chunk[i], in[i] * 8, out[i] * 8);
  tesela__box_simplify(inner);
}
