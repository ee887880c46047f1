/* SPDX-License-Identifier: Apache-2.0 */
/*
 * padding.c - padding that follows the rows of a piece is written by that piece, so that no line of dst is written twice.
 *
 * The boxes of padding wait until the pieces of elements are made. A piece whose rows end where such a box begins, for
 * all values of its loops, takes the padding after its rows; what it does not take, as the box has more values of a
 * loop, stays as boxes. Those that are left at the end become fills.
 *
 *   f32[64,35,112,112] to nChw16c     the block of channels 32 to 34: 13 of 16 channels are padding, in the same line
 *   f32[4095,4093] to T(4,4)          rows of 4 bytes after 12; three rows of 16 bytes after one
 */
#include "relayout/solve.h"

static tesela_status reserve_fills(tesela_plan *plan, int32_t more, tesela_error *err) {
  void *kept = plan->fill_box;
  bool grown = tesela__grow(&plan->allocator, &kept, sizeof *plan->fill_box, &plan->fill_box_capacity,
                            (uint64_t)plan->n_fill_boxes + (uint64_t)more);
  plan->fill_box = kept;
  return grown ? TESELA_OK : tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a box of the plan");
}

/* A box without src, whose loops go forward in dst. */
static void go_forward(tesela__box *box) {
  for (int32_t i = 0; i < box->n_loops; i++) {
    tesela__loop *l = &box->loop[i];
    if (l->ds >= 0) continue;
    box->dst += (l->n - 1) * l->ds;
    l->ds = -l->ds;
  }
}

/* Does b have the next values of one loop of a, and is otherwise as a? Then a gets them: a tile and the part of one after it. */
static bool continues_fill(tesela__box *a, const tesela__box *b) {
  for (int32_t i = 0; i < a->n_loops; i++) {
    int64_t more = 1;
    int32_t k = 0, same = 0;
    for (; k < b->n_loops; k++) {
      const int32_t other = same + (same >= i);
      if (b->loop[k].ds == a->loop[i].ds && more == 1)
        more = b->loop[k].n;
      else if (other < a->n_loops && b->loop[k].ds == a->loop[other].ds && b->loop[k].n == a->loop[other].n)
        same++;
      else
        break;
    }
    if (k < b->n_loops || same != a->n_loops - 1 || b->dst != a->dst + a->loop[i].n * a->loop[i].ds) continue;
    a->loop[i].n += more;
    tesela__box_simplify(a);
    return true;
  }
  return false;
}

tesela_status tesela__keep_fill(tesela_plan *plan, const tesela__box *box, tesela_error *err) {
  for (int32_t i = 0; i < plan->n_fill_boxes; i++)
    if (continues_fill(&plan->fill_box[i], box)) return TESELA_OK;
  tesela_status status = reserve_fills(plan, 1, err);
  if (status != TESELA_OK) return status;
  plan->fill_box[plan->n_fill_boxes] = *box;
  go_forward(&plan->fill_box[plan->n_fill_boxes++]);
  return TESELA_OK;
}

tesela_status tesela__split_fills(tesela_plan *plan, int64_t ds, int64_t phases, tesela_error *err) {
  for (int32_t f = plan->n_fill_boxes - 1; f >= 0; f--) {
    const int32_t i = tesela__find_loop(&plan->fill_box[f], -1, ds);
    if (i < 0) continue;
    tesela_status status = reserve_fills(plan, (int32_t)phases, err);
    if (status != TESELA_OK) return status;
    const tesela__box box = plan->fill_box[f];
    plan->fill_box[f] = plan->fill_box[--plan->n_fill_boxes];
    for (int64_t k = 0; k < phases && k < box.loop[i].n; k++) {
      tesela__box *one = &plan->fill_box[plan->n_fill_boxes++];
      *one = box;
      tesela__box_phase(one, i, k, phases);
    }
  }
  return TESELA_OK;
}

/* A box of padding after rows: the loop of its bytes, and the values of each loop that follow rows, from `first` on. */
typedef struct padding_match {
  int32_t fill, run; /* run: -1 for a single element */
  int64_t bytes;     /* bits, if the job is bitwise */
  int64_t first[TESELA__MAX_LOOPS], n[TESELA__MAX_LOOPS];
} padding_match;

static int64_t padding_unit(const tesela__job *job) { return job->bitwise ? 1 : 8; }

/* The places directly after each row of the job, `row` bytes after its start: in bits, without src and the loops of the
 * row. */
static void box_behind(const tesela__job *job, uint64_t row_loops, int64_t row, tesela__box *after) {
  after->src = 0;
  after->dst = (job->box->dst + row) * padding_unit(job);
  after->n_loops = 0;
  for (int32_t i = 0; i < job->box->n_loops; i++)
    if (!(row_loops >> i & 1))
      tesela__box_add(after, job->box->loop[i].n, 0, job->box->loop[i].ds * padding_unit(job));
  go_forward(after);
  tesela__box_simplify(after);
}

/* Does a box of padding have all values of the loops of `after`, and whole bytes (`unit` 8)? */
static bool is_behind(const tesela__box *fill, const tesela__box *after, int32_t bits, int64_t unit,
                      padding_match *match) {
  int64_t left = after->dst - fill->dst;
  if (left < 0 || after->dst % unit) return false;
  match->run = tesela__find_loop(fill, -1, bits);
  int64_t run = match->run < 0 ? bits : fill->loop[match->run].n * bits;
  match->bytes = run / unit;
  for (int32_t i = 0; i < fill->n_loops; i++) { /* those of the largest steps first */
    const tesela__loop *l = &fill->loop[i];
    match->n[i] = i == match->run ? l->n : 1;
    match->first[i] = i == match->run || l->ds <= 0 ? 0 : tesela__min(left / l->ds, l->n - 1);
    left -= match->first[i] * l->ds;
    if (i != match->run && l->ds % unit) return false;
  }
  if (left != 0) return false;
  for (int32_t k = 0; k < after->n_loops; k++) {
    int32_t i = 0;
    while (i < fill->n_loops && (i == match->run || fill->loop[i].ds != after->loop[k].ds)) i++;
    if (i == fill->n_loops || fill->loop[i].n - match->first[i] < after->loop[k].n) return false;
    match->n[i] = after->loop[k].n;
  }
  return run % unit == 0;
}

void tesela__split_as(tesela__box *fill, const tesela__box *after, int32_t bits) {
  for (int32_t k = 0; k < after->n_loops && fill->n_loops < TESELA__MAX_LOOPS; k++) {
    const tesela__loop *want = &after->loop[k];
    if (tesela__find_loop(fill, -1, want->ds) >= 0) continue;
    for (int32_t i = 0; i < fill->n_loops; i++) {
      tesela__loop *l = &fill->loop[i];
      const int64_t times = l->ds > bits && want->ds % l->ds == 0 ? want->ds / l->ds : 0;
      if (times < 2 || l->n % times || l->n / times < want->n) continue;
      fill->loop[fill->n_loops++] = (tesela__loop){l->n / times, 0, want->ds};
      l->n = times;
      break;
    }
  }
}

static bool find_padding(const tesela__job *job, uint64_t row_loops, int64_t row, padding_match *match) {
  const tesela_plan *plan = job->plan;
  tesela__box after;
  if (plan->n_fill_boxes == 0) return false;
  box_behind(job, row_loops, row, &after);
  for (match->fill = 0; match->fill < plan->n_fill_boxes; match->fill++) {
    tesela__box *fill = &plan->fill_box[match->fill];
    if (job->bitwise && fill->dst <= after.dst) tesela__split_as(fill, &after, plan->dst.bits);
    if (is_behind(fill, &after, plan->dst.bits, padding_unit(job), match)) return true;
  }
  return false;
}

int64_t tesela__padding_behind(const tesela__job *job, uint64_t row_loops, int64_t row) {
  padding_match match;
  return find_padding(job, row_loops, row, &match) ? match.bytes : 0;
}

int64_t tesela__most_of_column(const tesela__job *job, int64_t row) {
  enum { MOST_COLUMN = 512 };
  if (!tesela__may_stream(job)) return tesela__ceil_div(row, TESELA__LINE) * TESELA__LINE;
  if (job->conversion || job->apart) return 64 * job->wd;
  return job->wd == 1 ? MOST_COLUMN / 2 : MOST_COLUMN;
}

int64_t tesela__padding_of_column(const tesela__job *job, uint64_t row_loops, int64_t row) {
  int64_t bytes = tesela__padding_behind(job, row_loops, row);
  if (!tesela__may_stream(job) && row + bytes > tesela__most_of_column(job, row)) return 0;
  for (int32_t i = 0; i < job->box->n_loops; i++)
    if (!(row_loops >> i & 1) && job->box->loop[i].ds == row + bytes) return bytes;
  return 0;
}

/* Keep n values of loop i, from `first` on, of a box of padding. */
static void keep_rest(tesela_plan *plan, const tesela__box *box, int32_t i, int64_t first, int64_t n) {
  if (n <= 0) return;
  tesela__box *rest = &plan->fill_box[plan->n_fill_boxes++];
  *rest = *box;
  rest->dst += first * box->loop[i].ds;
  rest->loop[i].n = n;
  if (n == 1) tesela__drop_loop(rest, i);
  tesela__box_simplify(rest);
}

/* Remove a box of padding, except the values of its loops that do not follow rows: up to two boxes for each loop. */
static void take_match(tesela_plan *plan, const padding_match *match) {
  tesela__box box = plan->fill_box[match->fill];
  plan->fill_box[match->fill] = plan->fill_box[--plan->n_fill_boxes];
  for (int32_t i = 0; i < box.n_loops; i++) {
    const int64_t first = match->first[i], end = first + match->n[i];
    keep_rest(plan, &box, i, 0, first);
    keep_rest(plan, &box, i, end, box.loop[i].n - end);
    box.dst += first * box.loop[i].ds;
    box.loop[i].n = match->n[i];
  }
}

tesela_status tesela__take_padding(tesela__job *job, uint64_t row_loops, int64_t row, int64_t unit,
                                   int64_t most, tesela_error *err) {
  padding_match match;
  while (find_padding(job, row_loops, row + job->tail, &match)) {
    int64_t bytes = match.bytes, room = most - row - job->tail, element = job->plan->dst.bits;
    if (bytes > room && match.run >= 0 && element >= 8 &&
        tesela__may_stream(job)) { /* up to the end of the line */
      bytes = -(row + job->tail) & (TESELA__LINE - 1);
      match.n[match.run] = bytes * 8 / element;
    }
    if (bytes == 0 || bytes > room || bytes % unit) break;
    tesela_status status = reserve_fills(job->plan, 2 * TESELA__MAX_LOOPS, err);
    if (status != TESELA_OK) return status;
    take_match(job->plan, &match);
    job->tail += bytes;
  }
  return TESELA_OK;
}

tesela_status tesela__take_bits(const tesela__job *job, uint64_t row_loops, int64_t row, tesela_error *err) {
  padding_match match;
  if (!find_padding(job, row_loops, row, &match)) return TESELA_OK;
  tesela_status status = reserve_fills(job->plan, 2 * TESELA__MAX_LOOPS, err);
  if (status == TESELA_OK) take_match(job->plan, &match);
  return status;
}
