/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_tile.c - tiles that go through buffers, which bits_fit.c chooses: of elements below 8 bits that may begin at any bit, or of whole bytes.
 * Runs of src are moved to a buffer, a piece of its own moves the elements to a second buffer, and runs of these are moved to dst.
 *
 * In a tile of blocks elements stay as they are (bits_blocks.c); so do those of whole bytes. Else an element is in a byte of its own there, with
 * those of other tiles that are as large: of 1 bit 8 tiles are moved at a time (kernels/slices.h). Elements that are not in the box, but between
 * near ones of src, or after rows of it, are in the first buffer, too. Padding after rows of dst is in the second buffer.
 *
 * Runs of dst may share their first and last bytes with others, whose bits are kept; then one thread does all of these tiles.
 */
#include "relayout/solve.h"

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
 * steps of each loop in the buffer, in elements; the side counts them, too, or the bits of whole bytes. */
static void set_bits_side(const tesela__bits_fit *fit, bool src, tesela__bits_side *side, int64_t *step) {
  const int64_t unit = fit->bits < 8 ? 1 : fit->bits;
  tesela__bits_run run;
  uint64_t seen = 0;
  tesela__bits_find_run(fit, src, &run);
  *side = (tesela__bits_side){.unit = 1, .run = {1, 0, 0, -1}};
  for (int32_t k = 0; k < run.n; k++) {
    seen |= (uint64_t)1 << run.loop[k];
    step[run.loop[k]] = side->unit = run.unit[k];
    side->run = tesela__bits_loop_of(fit, run.loop[k], src, 0);
  }
  const int64_t whole = side->unit * side->run.n;
  side->less = whole - run.elements;
  int64_t elements = tesela__max(whole, run.elements);
  for (int32_t i; (i = next_row_loop(fit, src, seen)) >= 0; elements *= fit->chunk[i]) {
    seen |= (uint64_t)1 << i;
    step[i] = elements;
    side->loop[side->n_loops++] = tesela__bits_loop_of(fit, i, src, unit * elements);
  }
  side->unit *= unit;
  side->less *= unit;
}

/* The cut loops, those with the most tiles first: lines of which a tile has a part are in the cache for the next part. Where rows are
 * transposed at once, the loop of the run of src is the last one: the next tile reads next to this one, from the same pages. */
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
  for (int32_t k = 0; k + 1 < fit->n_cuts && fit->direct; k++) {
    const int32_t other = fit->cut[k + 1];
    if (!(fit->of[0] >> fit->cut[k] & 1)) continue;
    fit->cut[k + 1] = fit->cut[k];
    fit->cut[k] = other;
  }
}

void tesela__bits_set_tile(tesela__bits_fit *fit, tesela__bits_tile *tile, tesela__box *inner) {
  int64_t in[TESELA__MAX_LOOPS] = {0}, out[TESELA__MAX_LOOPS] = {0}; /* 0: of loops of one value */
  *inner = (tesela__box){.n_loops = 0};
  const bool whole = !fit->blocks && fit->bits >= 8;
  *tile = (tesela__bits_tile){
      .kinds = 1, .slices = fit->blocks || whole ? 1 : 8 / fit->bits, .blocks = whole, .whole_bytes = whole};
  find_cuts(fit);
  if (fit->blocks) {
    tesela__bits_set_blocks(fit, tile, inner);
    return;
  }
  if (fit->padding) tile->padded = fit->elements / fit->row * (fit->row + fit->padding);
  set_bits_side(fit, true, &tile->in, in);
  set_bits_side(fit, false, &tile->out, out);
  const int64_t bits = whole ? fit->bits : 8; /* of an element in the buffers */
  tesela__box_add(inner, bits / 8, 8, 8);
  for (int32_t i = 0; i < fit->box->n_loops; i++) {
    const int32_t axis = fit->bands ? tesela__bits_axis_of(fit->bands, &fit->box->loop[i]) : -1;
    if (axis >= 0) /* its boxes are passes of their own */
      fit->axis_step[axis] = fit->bands->long_src ? out[i] : in[i];
    else
      tesela__box_add(inner, fit->chunk[i], in[i] * bits, out[i] * bits);
  }
  tesela__box_simplify(inner);
}

void tesela__bits_of_bytes(const tesela__job *job, tesela__job *bits, tesela__box *box) {
  *box = *job->box;
  *bits = *job;
  tesela__box_count_bits(box);
  bits->box = box;
  bits->bitwise = true;
  bits->ws = bits->wd = bits->src_bits = bits->dst_bits = 8 * job->wd;
  bits->row = bits->padding = 0;
}

/* ---- bytes of dst ------------------------------------------------------------------------------------------ */

/* The steps of the last tile of a level, or `full` where no level is of this kind. */
static int64_t last_of(const tesela__piece *piece, tesela__level_kind kind, int64_t full) {
  for (int32_t i = 0; i < piece->n_levels; i++)
    if (piece->level[i].kind == kind) return piece->level[i].last;
  return full;
}

/* Where runs of a tile begin in dst, and their lengths, or-ed together. */
static int64_t bits_of_runs(const tesela_plan *plan, const tesela__piece *piece) {
  static const tesela__level_kind kinds[] = {TESELA__TILE_A, TESELA__TILE_B, TESELA__TILE_RUN};
  const tesela__bits_tile *tile = &plan->bits_tile[piece->bits_tile - 1];
  const tesela__bits_side *out = &tile->out;
  const int64_t unit = tile->blocks ? 1 : piece->dst_bits;
  const int64_t last = out->run.cut < 0 ? out->run.n : last_of(piece, kinds[out->run.cut], out->run.n);
  int64_t bits = (out->unit * out->run.n - out->less) * unit | (out->unit * last - out->less) * unit;
  for (int32_t i = 0; i < out->n_loops; i++) bits |= out->loop[i].memory;
  return bits;
}

bool tesela__bits_own_bytes(const tesela_plan *plan, const tesela__piece *piece) {
  int64_t bits = piece->dst;
  for (int32_t i = 0; i < piece->n_levels; i++) bits |= piece->level[i].ds;
  if (piece->bits_tile) return (bits | bits_of_runs(plan, piece)) % 8 == 0;
  if (piece->solver == TESELA_SOLVER_STRIDED || piece->convert_fn) return false;
  for (int32_t i = 0; i < piece->na; i++) bits |= plan->table[piece->da + i];
  for (int32_t i = 0; i < piece->nb; i++) bits |= plan->table[piece->db + i];
  return (bits | piece->run | last_of(piece, TESELA__TILE_RUN, 0)) % 8 == 0;
}
