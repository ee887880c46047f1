/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.c - cut partial tiles into boxes: products of full loops, without tests inside.
 *
 * A coordinate of 1000 with digits of steps 128 and 1 is two boxes: values 0..6 of the first digit with all 128 of the
 * second, and value 7 with 104. Several coordinates make the products of their boxes.
 *
 * Padding of dst is cut in the same way: all values of a digit after the last one with elements; and for that last
 * value, the padding of the digits below. Padding at the largest strides is cut first, with all that is within it, so that it is long:
 *
 *   u16[2,n] to {1,0:T(8,128)(4,1)}   the rows 4 to 7 of a tile are 1 KiB; then, in the first 1 KiB, 4 bytes after each 4
 */
#include "relayout/plan.h"

bool tesela__box_add(tesela__box *box, int64_t n, int64_t ss, int64_t ds) {
  if (n == 1) return true;
  if (box->n_loops == TESELA__MAX_LOOPS) return false;
  box->loop[box->n_loops++] = (tesela__loop){n, ss, ds};
  return true;
}

int64_t tesela__box_elements(const tesela__box *box) {
  int64_t n = 1;
  for (int32_t i = 0; i < box->n_loops; i++) n *= box->loop[i].n; /* fits, as places do */
  return n;
}

void tesela__box_count_bits(tesela__box *box) {
  box->src *= 8;
  box->dst *= 8;
  for (int32_t i = 0; i < box->n_loops; i++) {
    box->loop[i].ss *= 8;
    box->loop[i].ds *= 8;
  }
}

static int64_t step_size(int64_t x) { return x < 0 ? -x : x; }

static bool stands_before(const tesela__loop *a, const tesela__loop *b) {
  if (step_size(a->ds) != step_size(b->ds)) return step_size(a->ds) > step_size(b->ds);
  return step_size(a->ss) > step_size(b->ss);
}

static bool merge_one(tesela__box *box) {
  for (int32_t j = 0; j < box->n_loops; j++) {
    tesela__loop *inner = &box->loop[j];
    const int64_t ss = inner->n * inner->ss, ds = inner->n * inner->ds;
    for (int32_t i = 0; i < box->n_loops; i++) {
      if (box->loop[i].ss != ss || box->loop[i].ds != ds || i == j) continue;
      inner->n *= box->loop[i].n;
      box->loop[i] = box->loop[--box->n_loops];
      return true;
    }
  }
  return false;
}

int32_t tesela__find_loop(const tesela__box *box, int64_t ss, int64_t ds) {
  int32_t found = -1;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    if ((ss >= 0 && l->ss != ss) || (ds >= 0 && l->ds != ds)) continue;
    if (found < 0 || l->n > box->loop[found].n) found = i;
  }
  return found;
}

void tesela__drop_loop(tesela__box *box, int32_t i) {
  box->n_loops--;
  for (; i < box->n_loops; i++) box->loop[i] = box->loop[i + 1];
}

void tesela__box_phase(tesela__box *box, int32_t i, int64_t k, int64_t phases) {
  tesela__loop *loop = &box->loop[i];
  box->src += k * loop->ss;
  box->dst += k * loop->ds;
  *loop = (tesela__loop){tesela__ceil_div(loop->n - k, phases), phases * loop->ss, phases * loop->ds};
  if (loop->n == 1) tesela__drop_loop(box, i);
}

void tesela__box_simplify(tesela__box *box) {
  while (merge_one(box)) continue;
  for (int32_t i = 1; i < box->n_loops; i++) {
    tesela__loop loop = box->loop[i];
    int32_t j = i;
    for (; j > 0 && stands_before(&loop, &box->loop[j - 1]); j--) box->loop[j] = box->loop[j - 1];
    box->loop[j] = loop;
  }
}

/* ---- boxes of one coordinate ------------------------------------------------------------------------------- */

/* Digits of one coordinate, by decreasing step. `room` is the number of values, needed only for padding. */
typedef struct cut_digit {
  int64_t step, room, ss, ds;
} cut_digit;

typedef struct cut {
  const cut_digit *digit;
  int32_t n;
  tesela__box *box; /* the box so far */
  bool (*take)(void *data);
  void *data;
} cut;

static bool with_loop(const cut *c, int32_t i, int64_t n, bool (*then)(const cut *, int32_t, int64_t),
                      int64_t limit) {
  int32_t mark = c->box->n_loops;
  bool go_on = tesela__box_add(c->box, n, c->digit[i].ss, c->digit[i].ds) && then(c, i + 1, limit);
  c->box->n_loops = mark;
  return go_on;
}

static bool at_value(const cut *c, int32_t i, int64_t value, bool (*then)(const cut *, int32_t, int64_t),
                     int64_t limit) {
  c->box->src += value * c->digit[i].ss;
  c->box->dst += value * c->digit[i].ds;
  bool go_on = then(c, i + 1, limit);
  c->box->src -= value * c->digit[i].ss;
  c->box->dst -= value * c->digit[i].ds;
  return go_on;
}

/* All combinations of the digits from i on that make a number below `limit`. */
static bool cut_elements(const cut *c, int32_t i, int64_t limit) {
  if (i == c->n) return c->take(c->data);
  int64_t step = c->digit[i].step, whole = limit / step, rest = limit % step;
  if (whole > 0 && !with_loop(c, i, whole, cut_elements, step)) return false;
  return rest == 0 || at_value(c, i, whole, cut_elements, rest);
}

static bool cut_all(const cut *c, int32_t i, int64_t limit) {
  (void)limit;
  return i == c->n ? c->take(c->data) : with_loop(c, i, c->digit[i].room, cut_all, 0);
}

/* All other combinations of the digits from i on, within their room. */
static bool cut_padding(const cut *c, int32_t i, int64_t limit) {
  if (i == c->n) return true;
  int64_t step = c->digit[i].step, whole = limit / step, rest = limit % step;
  int64_t used = whole + (rest > 0);
  if (whole > 0 && !with_loop(c, i, whole, cut_padding, step)) return false;
  if (rest > 0 && !at_value(c, i, whole, cut_padding, rest)) return false;
  if (used >= c->digit[i].room) return true;
  c->box->src += used * c->digit[i].ss;
  c->box->dst += used * c->digit[i].ds;
  bool go_on = with_loop(c, i, c->digit[i].room - used, cut_all, 0);
  c->box->src -= used * c->digit[i].ss;
  c->box->dst -= used * c->digit[i].ds;
  return go_on;
}

/* ---- boxes of the elements --------------------------------------------------------------------------------- */

typedef struct element_boxes {
  const tesela__problem *problem;
  tesela__box *box;
  cut_digit digit[2 * TESELA_MAX_DIGITS];
  int32_t coordinate; /* the next one to cut */
  int32_t n_taken;
  bool (*take)(void *data, tesela__box *box);
  void *data;
} element_boxes;

static bool take_copy(bool (*take)(void *data, tesela__box *box), void *data, const tesela__box *box) {
  tesela__box copy;
  copy.src = box->src;
  copy.dst = box->dst;
  copy.n_loops = box->n_loops;
  memcpy(copy.loop, box->loop, (size_t)box->n_loops * sizeof box->loop[0]);
  tesela__box_simplify(&copy);
  return take(data, &copy);
}

static bool next_coordinate(void *data) {
  element_boxes *boxes = data;
  const tesela__problem *problem = boxes->problem;
  if (boxes->coordinate == problem->n_coordinates)
    return ++boxes->n_taken <= TESELA__MAX_PIECES && take_copy(boxes->take, boxes->data, boxes->box);
  const tesela__coordinate *c = &problem->coordinate[boxes->coordinate++];
  bool go_on =
      cut_elements(&(cut){&boxes->digit[c->first], c->n, boxes->box, next_coordinate, boxes}, 0, c->extent);
  boxes->coordinate--;
  return go_on;
}

bool tesela__problem_boxes(const tesela__problem *problem, bool (*take)(void *data, tesela__box *box),
                           void *data) {
  tesela__box box;
  box.src = problem->src_offset;
  box.dst = problem->dst_offset;
  box.n_loops = 0;
  for (int32_t i = 0; i < problem->n_replicas; i++)
    if (!tesela__box_add(&box, problem->replica[i].n, 0, problem->replica[i].ds)) return false;
  element_boxes boxes = {.problem = problem, .box = &box, .take = take, .data = data};
  for (int32_t i = 0; i < problem->n_digits; i++)
    boxes.digit[i] = (cut_digit){problem->digit[i].step, 0, problem->digit[i].ss, problem->digit[i].ds};
  return next_coordinate(&boxes);
}

/* ---- boxes of the padding ---------------------------------------------------------------------------------- */

/* Digits of dst that belong together: those of a dim, or one hole or replica. */
typedef struct padding_group {
  int32_t first, n;
  int64_t limit; /* numbers below it are elements; -1: all are */
} padding_group;

typedef struct padding_boxes {
  int32_t n_groups, group, padded; /* the next group to cut; the one whose padding is wanted */
  padding_group groups[TESELA_MAX_DIGITS];
  cut_digit digit[TESELA_MAX_DIGITS];
  tesela__box *box;
  int32_t n_taken;
  bool (*take)(void *data, tesela__box *box);
  void *data;
} padding_boxes;

/* Groups before the padded one: elements; the padded one: its padding; groups after it: everything. */
static bool next_group(void *data) {
  padding_boxes *boxes = data;
  if (boxes->group == boxes->n_groups)
    return ++boxes->n_taken <= TESELA__MAX_PIECES && take_copy(boxes->take, boxes->data, boxes->box);
  int32_t number = boxes->group++;
  const padding_group *g = &boxes->groups[number];
  cut c = {&boxes->digit[g->first], g->n, boxes->box, next_group, boxes};
  bool go_on;
  if (number > boxes->padded || g->limit < 0)
    go_on = cut_all(&c, 0, 0);
  else
    go_on = number == boxes->padded ? cut_padding(&c, 0, g->limit) : cut_elements(&c, 0, g->limit);
  boxes->group--;
  return go_on;
}

static void add_group(padding_boxes *boxes, const tesela_layout *dst, int32_t first, int32_t n,
                      int64_t limit) {
  padding_group *g = &boxes->groups[boxes->n_groups++];
  *g = (padding_group){boxes->n_groups == 1 ? 0 : g[-1].first + g[-1].n, n, limit};
  for (int32_t i = 0; i < n; i++) {
    const tesela_digit *digit = &dst->digit[first + i];
    boxes->digit[g->first + i] = (cut_digit){digit->step, digit->extent, 0, digit->stride * dst->bits};
  }
}

/* Is this part of a join a whole dim, so without padding inside? */
static bool is_whole_dim(const tesela_layout *dst, const tesela_digit *digit) {
  return digit->source >= 0 && digit->source < dst->rank && digit->step == 1 &&
         tesela__chain_of(dst, digit->source).n == 1 && digit->extent == dst->shape[digit->source];
}

static bool chain_is_on_axis(const tesela_layout *dst, tesela__chain chain) {
  for (int32_t k = 0; k < chain.n; k++)
    if (dst->digit[chain.first + k].axis < 0) return false;
  return true;
}

/* The largest stride of the digits of a group whose values have padding. */
static int64_t padding_stride(const padding_boxes *boxes, const padding_group *g) {
  int64_t limit = g->limit, stride = 0;
  for (int32_t i = g->first; i < g->first + g->n && limit >= 0; i++) {
    const cut_digit *digit = &boxes->digit[i];
    if (digit->room > tesela__ceil_div(limit, digit->step))
      stride = tesela__max(stride, step_size(digit->ds));
    limit = limit % digit->step ? limit % digit->step : digit->step;
  }
  return stride;
}

/* Padding at larger strides first. */
static void sort_groups(padding_boxes *boxes) {
  for (int32_t i = 1; i < boxes->n_groups; i++) {
    const padding_group group = boxes->groups[i];
    int32_t k = i;
    for (; k > 0 && padding_stride(boxes, &boxes->groups[k - 1]) < padding_stride(boxes, &group); k--)
      boxes->groups[k] = boxes->groups[k - 1];
    boxes->groups[k] = group;
  }
}

/* Make a group for each coordinate on the axis. False: groups cannot separate padding from elements. */
static bool set_groups(padding_boxes *boxes, const tesela_layout *dst) {
  bool simple = dst->swizzle.n == 0 && !tesela__is_empty(dst);
  for (int32_t i = 0; i < dst->n_active; i++) {
    const tesela_digit *digit = &dst->digit[i];
    tesela__chain chain = digit->source < 0 ? (tesela__chain){i, 1} : tesela__chain_of(dst, digit->source);
    if (digit->axis < 0) {
      simple = simple && is_whole_dim(dst, digit);
    } else if (digit->source < 0) {
      add_group(boxes, dst, i, 1, digit->source == TESELA_HOLE ? 1 : -1);
    } else if (!chain_is_on_axis(dst, chain)) {
      simple = false;
      add_group(boxes, dst, i, 1, -1);
    } else if (chain.first == i) {
      add_group(boxes, dst, i, chain.n, tesela__coordinate_extent(dst, digit->source));
    }
  }
  for (int32_t j = 0; j < dst->n_joins; j++)
    simple = simple && !dst->join[j].overlap && !dst->join[j].interleaved && dst->join[j].offset == 0;
  sort_groups(boxes);
  return simple;
}

bool tesela__tail_box(const tesela_layout *dst, bool (*take)(void *data, tesela__box *box), void *data) {
  int64_t end = dst->axis[0].offset + 1;
  bool reached = true;
  for (int32_t i = 0; i < dst->n_active; i++) {
    const tesela_digit *digit = &dst->digit[i];
    if (digit->axis < 0) continue;
    reached = reached && digit->extent > 0;
    if (digit->stride > 0) end += (digit->extent - 1) * digit->stride;
  }
  if (!reached) end = dst->axis[0].offset;
  if (end >= dst->axis[0].extent || dst->swizzle.n) return true;
  tesela__box tail = {.src = 0, .dst = end * dst->bits, .n_loops = 1};
  tail.loop[0] = (tesela__loop){dst->axis[0].extent - end, 0, dst->bits};
  return take(data, &tail);
}

bool tesela__padding_boxes(const tesela_layout *dst, bool everything, bool *all,
                           bool (*take)(void *data, tesela__box *box), void *data) {
  tesela__box box;
  box.src = 0;
  box.dst = dst->axis[0].offset * dst->bits;
  box.n_loops = 0;
  padding_boxes boxes = {.box = &box, .take = take, .data = data};
  *all = !set_groups(&boxes, dst) || everything;
  bool go_on = true;
  if (*all) {
    boxes.padded = -1;
    go_on = next_group(&boxes);
  }
  for (boxes.padded = 0; !*all && go_on && boxes.padded < boxes.n_groups; boxes.padded++)
    if (boxes.groups[boxes.padded].limit >= 0) go_on = next_group(&boxes);
  return go_on && tesela__tail_box(dst, take, data);
}
