/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks_find.c - the blocks of a layout, or the first element that no blocks put where it is.
 *
 * Blocked memory is a number of mixed radix: its positions, innermost first, are parts of dims. Position by position:
 *
 *   the next part belongs to the dim whose next digit has the smallest stride; its extent is the place where that dim
 *   stops to be linear; the last part of a dim may be larger than needed (padding), so it fills a gap up to the next stride
 *
 * No step has a choice that matters, so a failure means that there are no blocks. Whether elements follow that differ
 * in several dims is a comparison. A prefix of the elements is a box of smaller extents, whose parts may all be inner blocks; the smallest
 * box without blocks has the smallest contradiction.
 */
#include <stdio.h>

#include "base/base.h"
#include "layout/layout.h"
#include "notation/any.h"
#include "notation/memory/blocks.h"
#include "notation/parts.h"

typedef struct blocks_search {
  const tesela_layout *layout;
  const char *words;
  int32_t rank;
  int64_t box[TESELA_MAX_RANK]; /* extents of the elements that count */
  int32_t n;
  tesela__inner_block position[TESELA__MAX_BLOCKS + TESELA_MAX_RANK]; /* innermost first */
  int64_t done[TESELA_MAX_RANK];                                      /* product of the parts of a dim */
  tesela_error *err;
} blocks_search;

static int64_t blocks_place(const blocks_search *s, int32_t dim, int64_t at) {
  int64_t index[TESELA_MAX_RANK] = {0}, place = 0;
  index[dim] = at;
  (void)tesela_layout_place_of(s->layout, index, &place, NULL); /* the index is in the shape */
  return place;
}

/* The first q with place(step * q) != stride * q along a dim, or the number of values. */
static tesela_status blocks_run(const blocks_search *s, int32_t dim, int64_t step, int64_t stride,
                                int64_t *q) {
  tesela_layout line = *s->layout, linear;
  tesela_difference difference;
  tesela_status status = TESELA_OK;
  int64_t strides[TESELA_MAX_RANK] = {0};
  for (int32_t d = 0; d < s->rank && status == TESELA_OK; d++)
    if (d != dim && line.shape[d] != 1) status = tesela_layout_slice(&line, d, 0, 1, 1, &line, s->err);
  int64_t n =
      tesela__min(tesela__ceil_div(s->box[dim], step), (INT64_MAX - 1) / stride + 1); /* no place is beyond */
  if (status == TESELA_OK) status = tesela_layout_slice(&line, dim, 0, n, step, &line, s->err);
  if (status != TESELA_OK) return status;
  strides[dim] = stride;
  *q = n;
  status = tesela_layout_strided(&linear, line.dtype, line.bits, s->rank, line.shape, strides, 0, s->err);
  if (status != TESELA_OK) return status;
  memcpy(linear.axis[0].name, line.axis[0].name, sizeof linear.axis[0].name);
  status = tesela_layout_compare(&line, &linear, &difference, s->err);
  if (status == TESELA_OK && !difference.same) *q = difference.index[dim];
  return status;
}

/* Fill a gap of `times` before the next part: by the last part, if it is the last of its dim and `needed` fits, or by a part
 * of padding. */
static bool blocks_fill(blocks_search *s, int64_t times) {
  int32_t with = -1;
  if (times == 1) return true;
  for (int32_t d = 0; d < s->rank; d++) /* dims without elements beyond, without parts first */
    if (s->done[d] >= s->box[d] && (with < 0 || (s->done[d] == 1 && s->done[with] > 1))) with = d;
  if (with < 0 || s->n == TESELA__MAX_BLOCKS) return false;
  s->position[s->n++] = (tesela__inner_block){with, times};
  return tesela__mul(s->done[with], times, &s->done[with]);
}

/* The dim whose next digit has the smallest place, or -1 when all are done. */
static int32_t blocks_next(const blocks_search *s, int64_t *place) {
  int32_t best = -1;
  for (int32_t d = s->rank - 1; d >= 0; d--) {
    if (s->done[d] >= s->box[d]) continue;
    int64_t at = blocks_place(s, d, s->done[d]);
    if (best < 0 || at < *place) {
      best = d;
      *place = at;
    }
  }
  return best;
}

/* Find the positions of the box; *found is false if a digit does not fit. */
static tesela_status blocks_decode(blocks_search *s, bool *found) {
  int64_t size = 1, open = 0, place = 0, q; /* open: the stride of the last position, if it may grow */
  s->n = 0;
  *found = false;
  for (int32_t d = 0; d < s->rank; d++) s->done[d] = 1;
  for (;;) {
    int32_t d = blocks_next(s, &place);
    if (d < 0) break;
    if (place < size || s->n == TESELA__MAX_BLOCKS) return TESELA_OK;
    if (open > 0) {
      if (place % open != 0) return TESELA_OK;
      s->position[s->n - 1].extent = place / open;
    } else if (place % size != 0 || !blocks_fill(s, place / size)) {
      return TESELA_OK;
    }
    tesela_status status = blocks_run(s, d, s->done[d], place, &q);
    if (status != TESELA_OK) return status;
    s->position[s->n++] = (tesela__inner_block){d, q};
    open = q >= tesela__ceil_div(s->box[d], s->done[d]) ? place : 0;
    if (!tesela__mul(place, q, &size)) return TESELA_OK;
    s->done[d] = open ? s->box[d] : s->done[d] * q;
  }
  *found = true;
  return TESELA_OK;
}

/* The positions as blocks: the outermost ones that are the last of their dim, and exact, become the order. A padded one after them
 * may be a usual block and its number: 144 for 130 elements is 9 blocks of 16. */
static void blocks_from_positions(const blocks_search *s, tesela__blocks *blocks) {
  int64_t usual = 0;
  bool ordered[TESELA_MAX_RANK] = {false};
  int32_t chain[TESELA_MAX_RANK], inner = s->n, n_chain = 0, free_dim = 0;
  *blocks = (tesela__blocks){.rank = s->rank};
  for (; inner > 0; inner--) {
    const tesela__inner_block *top = &s->position[inner - 1];
    if (ordered[top->dim]) break;
    int64_t outer = s->box[top->dim]; /* of the dim, after its positions so far */
    for (int32_t i = 0; i < inner - 1; i++)
      if (s->position[i].dim == top->dim) outer = tesela__ceil_div(outer, s->position[i].extent);
    if (outer != top->extent) usual = tesela__usual_tile(outer, top->extent);
    if (usual == top->extent) break;
    ordered[top->dim] = true;
    chain[n_chain++] = top->dim;
    if (usual > 0) break;
  }
  for (int32_t i = inner - 1; i >= 0; i--) blocks->inner[blocks->n++] = s->position[i];
  if (usual > 0) blocks->inner[0].extent = usual;
  for (int32_t k = 0, c = 0; k < s->rank; k++) { /* other dims have extent 1 there: any place */
    while (free_dim < s->rank && ordered[free_dim]) free_dim++;
    if (free_dim < s->rank && (c == n_chain || free_dim < chain[c]))
      blocks->order[k] = free_dim++;
    else
      blocks->order[k] = chain[c++];
  }
}

/* ---- contradictions ----------------------------------------------------------------------------------------- */

/* Blocks for the elements of the box? *difference is set where digits fit, but not all elements. */
static tesela_status blocks_try(blocks_search *s, tesela__blocks *blocks, tesela_layout *candidate,
                                bool *found, tesela_difference *difference) {
  tesela_layout part = *s->layout;
  tesela_status status = blocks_decode(s, found);
  *difference = (tesela_difference){.same = false};
  if (status != TESELA_OK || !*found) return status;
  blocks_from_positions(s, blocks);
  for (int32_t d = 0; d < s->rank && status == TESELA_OK; d++)
    if (s->box[d] != part.shape[d]) status = tesela_layout_slice(&part, d, 0, s->box[d], 1, &part, s->err);
  if (status == TESELA_OK && tesela__blocks_lower(blocks, part.dtype, part.bits, part.shape, NULL, 0,
                                                  candidate, NULL) != TESELA_OK) {
    *found = false; /* its padding does not fit in 64 bits */
    return TESELA_OK;
  }
  if (status == TESELA_OK) {
    memcpy(candidate->axis[0].name, part.axis[0].name, sizeof part.axis[0].name);
    status = tesela_layout_compare(&part, candidate, difference, s->err);
  }
  *found = status == TESELA_OK && difference->same;
  return status;
}

static tesela_status blocks_say(const blocks_search *s, tesela_translation *answer) {
  char text[64], other[64];
  tesela__index_words(answer->index, s->rank, text);
  if (answer->contradiction == TESELA_CONTRADICTION_PLACE)
    return tesela__impossible(answer,
                              "no %s: element %s is at %" PRId64 "; the elements before it give %" PRId64,
                              s->words, text, answer->place, answer->expected);
  if (answer->contradiction == TESELA_CONTRADICTION_SHARED)
    return tesela__impossible(answer, "no %s: elements %s and %s are both at %" PRId64, s->words,
                              tesela__index_words(answer->index2, s->rank, other), text, answer->place);
  return tesela__impossible(
      answer, "no %s: element %s is at %" PRId64 "; blocks cannot begin there after the elements before it",
      s->words, text, answer->place);
}

/* The element (0, .., x, 0, ..) of a dim contradicts, and no element before it. The box without it has blocks. */
static tesela_status blocks_contradict(blocks_search *s, int32_t dim, int64_t x, tesela_translation *answer) {
  tesela__blocks blocks;
  tesela_layout candidate;
  tesela_difference difference;
  bool found, padding = true;
  int64_t below = 1, place[TESELA_MAX_AXES] = {0}, index[TESELA_MAX_RANK] = {0};
  memset(answer->index, 0, sizeof answer->index);
  answer->index[dim] = x;
  answer->place = blocks_place(s, dim, x);
  s->box[dim] = x;
  tesela_status status = blocks_try(s, &blocks, &candidate, &found, &difference);
  if (status != TESELA_OK) return status;
  place[0] = answer->place;
  if (found && answer->place < candidate.axis[0].extent)
    status = tesela_layout_element_at(&candidate, place, index, &padding, s->err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < s->n; i++) /* the parts of the dim below its last one */
    if (s->position[i].dim == dim && s->position[i].extent < tesela__ceil_div(x, below))
      below *= s->position[i].extent;
    else if (s->position[i].dim == dim)
      break;
  if (!padding) {
    answer->contradiction = TESELA_CONTRADICTION_SHARED;
    memcpy(answer->index2, index, sizeof index);
  } else if (x % below == 0 && s->rank > 1) {
    answer->contradiction = TESELA_CONTRADICTION_ELEMENT;
  } else {
    answer->contradiction = TESELA_CONTRADICTION_PLACE;
    answer->expected =
        s->rank == 1 ? x : blocks_place(s, dim, x - x % below) + blocks_place(s, dim, x % below);
  }
  return TESELA_OK;
}

/* The smallest box without blocks: extents 1 for the first dims, all elements for the last ones. */
static tesela_status blocks_refute(blocks_search *s, tesela_translation *answer) {
  tesela__blocks blocks;
  tesela_layout candidate;
  tesela_difference difference;
  bool found = true;
  tesela_status status = TESELA_OK;
  int32_t d = s->rank;
  for (int32_t k = 0; k < s->rank; k++) s->box[k] = 1;
  while (status == TESELA_OK && found && d > 0) {
    d--;
    s->box[d] = s->layout->shape[d];
    status = blocks_try(s, &blocks, &candidate, &found, &difference);
  }
  int64_t good = 1, bad = status == TESELA_OK && !found ? s->box[d] : 1;
  while (status == TESELA_OK && bad - good > 1) {
    s->box[d] = good + (bad - good) / 2;
    status = blocks_try(s, &blocks, &candidate, &found, &difference);
    *(found ? &good : &bad) = s->box[d];
  }
  if (status != TESELA_OK) return status;
  s->box[d] = bad;
  status = blocks_try(s, &blocks, &candidate, &found, &difference);
  if (status != TESELA_OK) return status;
  if (!difference.have_index) {
    status = blocks_contradict(s, d, bad - 1, answer);
  } else {
    answer->contradiction = TESELA_CONTRADICTION_PLACE;
    memcpy(answer->index, difference.index, sizeof answer->index);
    (void)tesela_layout_place_of(s->layout, difference.index, &answer->place, NULL);
    (void)tesela_layout_place_of(&candidate, difference.index, &answer->expected, NULL);
  }
  return status == TESELA_OK ? blocks_say(s, answer) : status;
}

tesela_status tesela__blocks_find(const tesela_layout *layout, const char *words, tesela__blocks *blocks,
                                  tesela_translation *answer, tesela_error *err) {
  blocks_search s = {.layout = layout, .words = words, .rank = layout->rank, .err = err};
  tesela_layout candidate;
  tesela_difference difference;
  bool found;
  *blocks = (tesela__blocks){.rank = layout->rank};
  for (int32_t d = 0; d < layout->rank; d++) blocks->order[d] = d;
  for (int32_t d = 0; d < layout->rank; d++) s.box[d] = layout->shape[d];
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "a %s places elements on one axis; the layout has %" PRId32, words,
                              layout->n_axes);
  if (tesela__is_empty(layout)) return TESELA_OK;
  if (tesela_layout_copies(layout) != 1)
    return tesela__impossible(answer, "a %s gives each element one place; the layout gives it %" PRId64,
                              words, tesela_layout_copies(layout));
  int64_t origin[TESELA_MAX_RANK] = {0};
  tesela_status status = tesela_layout_place_of(layout, origin, &answer->place, err);
  if (status != TESELA_OK) return status;
  if (answer->place != 0) {
    answer->contradiction = TESELA_CONTRADICTION_PLACE;
    return blocks_say(&s, answer);
  }
  status = blocks_try(&s, blocks, &candidate, &found, &difference);
  return status != TESELA_OK || found ? status : blocks_refute(&s, answer);
}

tesela_status tesela__blocks_refuse(const tesela_layout *layout, const char *words, const char *reason,
                                    tesela_translation *answer, tesela_error *err) {
  tesela__blocks blocks;
  tesela_status status = tesela__start_answer(layout, answer, err);
  if (status == TESELA_OK) status = tesela__blocks_find(layout, words, &blocks, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  return tesela__impossible(answer, "%s", reason);
}
