/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_from_layout.c - the register layout of a relation, or why nothing expresses it.
 *
 * The digits of each dim (layout/factor.h) are its modes; they have to cut the dim evenly. By stride they are the lists, slowest
 * first; a gap between two strides of threads can only be a replica. What is found is compared with the layout.
 */
#include "gpu/register/register.h"
#include "layout/factor.h"

enum { BACK_THREAD, BACK_LOCAL };

typedef struct back_mode {
  int64_t stride, extent, step;
  int32_t dim;
  int64_t mode;
} back_mode;

typedef struct back_state {
  const tesela_layout *layout;
  tesela_layout first; /* one copy of each element */
  int32_t axis[2];     /* of thread and local */
  tesela_register result;
  int32_t n[2];
  back_mode list[2][TESELA_REGISTER_MODES]; /* by increasing stride */
  tesela_translation *answer;
} back_state;

/* ---- refusals ----------------------------------------------------------------------------------------------------- */

static const char *back_name(const back_state *s, int32_t axis) { return s->layout->axis[axis].name; }

/* Is there a bit of a place that moves several dims? */
static bool back_mixed_bit(back_state *s) {
  for (int a = 0; a < 2; a++)
    for (int64_t bit = 1; bit < s->layout->axis[s->axis[a]].extent && bit <= INT64_MAX / 2; bit *= 2) {
      int64_t place[2] = {0}, index[TESELA_MAX_RANK];
      bool padding;
      int32_t moved = 0;
      place[s->axis[a]] = bit;
      if (tesela_layout_element_at(s->layout, place, index, &padding, NULL) != TESELA_OK || padding) continue;
      for (int32_t d = 0; d < s->layout->rank; d++) moved += index[d] != 0;
      if (moved < 2) continue;
      s->answer->contradiction = TESELA_CONTRADICTION_BIT;
      s->answer->axis = s->axis[a];
      s->answer->place = bit;
      for (int32_t d = 0; d < s->layout->rank; d++) s->answer->index[d] = index[d];
      return true;
    }
  return false;
}

static tesela_status back_refuse_mixed(back_state *s) {
  return tesela__impossible(
      s->answer, "%s %" PRId64 " moves several dims (XOR); each digit of a register layout moves one",
      back_name(s, s->answer->axis), s->answer->place);
}

/* An element that is not where the elements before it put it; `expected` on both axes. */
static tesela_status back_refuse_place(back_state *s, const int64_t *index, const int64_t *expected) {
  int64_t place[TESELA_MAX_AXES];
  (void)tesela_layout_place_of(&s->first, index, place, NULL);
  if (back_mixed_bit(s)) return back_refuse_mixed(s);
  int32_t a = place[0] == expected[0];
  s->answer->contradiction = TESELA_CONTRADICTION_PLACE;
  s->answer->axis = a;
  s->answer->place = place[a];
  s->answer->expected = expected[a];
  for (int32_t d = 0; d < s->layout->rank; d++) s->answer->index[d] = index[d];
  return tesela__impossible(s->answer, "no modes give these threads and local ids");
}

/* ---- digits --------------------------------------------------------------------------------------------------------- */

static tesela_status back_refuse_factors(back_state *s, int32_t d, int64_t at) {
  if (back_mixed_bit(s)) return back_refuse_mixed(s);
  return tesela__impossible(s->answer,
                            "step %" PRId64 " of dim %" PRId32
                            " moves thread and local; each digit of a register layout moves one",
                            at, d);
}

/* The first digit that does not cut a dim evenly; 0: none. */
static int32_t back_uneven(int64_t extent, const tesela__factors *factors) {
  for (int32_t k = 1; k < factors->n; k++) {
    int64_t step = factors->factor[k].step;
    if (step % factors->factor[k - 1].step != 0 || extent % step != 0) return k;
  }
  return 0;
}

/* Digit k does not cut the dim evenly. */
static tesela_status back_refuse_cut(back_state *s, int32_t d, const tesela__factors *factors, int32_t k) {
  int64_t index[TESELA_MAX_RANK] = {0}, expected[2] = {0}, left = factors->factor[k].step;
  for (int32_t j = k - 1; j >= 0; j--) {
    expected[factors->factor[j].axis] += left / factors->factor[j].step * factors->factor[j].stride;
    left %= factors->factor[j].step;
  }
  index[d] = factors->factor[k].step;
  return back_refuse_place(s, index, expected);
}

/* Add the digits of a dim as modes, outermost first. Sets a verdict if two elements share a place. */
static tesela_status back_dim(back_state *s, int32_t d, const tesela__factors *factors) {
  tesela_register *result = &s->result;
  for (int32_t k = factors->n - 1; k >= 0; k--) {
    const tesela__factor *factor = &factors->factor[k];
    if (factor->stride == 0) {
      s->answer->contradiction = TESELA_CONTRADICTION_SHARED;
      s->answer->index[d] = factor->step;
      return tesela__impossible(s->answer, "two elements share a thread and a local id");
    }
    int list = factor->axis == s->axis[BACK_LOCAL];
    int32_t at = s->n[list]++;
    for (; at > 0 && s->list[list][at - 1].stride > factor->stride; at--)
      s->list[list][at] = s->list[list][at - 1];
    s->list[list][at] = (back_mode){factor->stride, factor->extent, factor->step, d, result->n_modes};
    result->mode_shape[result->n_modes++] = factor->extent;
  }
  result->shape[result->rank++] = s->layout->shape[d];
  return TESELA_OK;
}

static tesela_status back_modes(back_state *s, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t d = 0; d < s->layout->rank; d++) {
    tesela__factors factors;
    tesela__no_factors why;
    int64_t at = 0;
    status = tesela__factor_dims(&s->first, 1, &d, &factors, &why, &at, err);
    if (status != TESELA_OK) return status;
    if (why == TESELA__TWO_AXES || why == TESELA__BACKWARDS) return back_refuse_factors(s, d, at);
    int32_t uneven = back_uneven(s->layout->shape[d], &factors);
    if (uneven > 0) return back_refuse_cut(s, d, &factors, uneven);
    if (s->result.n_modes + factors.n > TESELA_REGISTER_MODES)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d modes", TESELA_REGISTER_MODES);
    status = back_dim(s, d, &factors);
    if (status != TESELA_OK || s->answer->verdict == TESELA_IMPOSSIBLE) return status;
  }
  return status;
}

/* ---- lists ---------------------------------------------------------------------------------------------------------- */

/* The k-th digit of a list does not follow the ones below it, which fill `room` places. */
static tesela_status back_refuse_gap(back_state *s, int list, int32_t k, int64_t room) {
  int64_t index[TESELA_MAX_RANK] = {0}, expected[2] = {0};
  index[s->list[list][k].dim] = s->list[list][k].step;
  expected[s->axis[list]] = room;
  tesela_status status = back_refuse_place(s, index, expected);
  if (s->answer->contradiction != TESELA_CONTRADICTION_PLACE) return status;
  return tesela__impossible(s->answer, "%s on %s", s->answer->place < room ? "digits overlap" : "a gap",
                            back_name(s, s->axis[list]));
}

/* Fill a list. A gap between threads becomes a replica, if elements have that many copies. */
static tesela_status back_list(back_state *s, int list, int64_t *copies, tesela_error *err) {
  int64_t room = 1, entry[TESELA_REGISTER_MODES + 1];
  int32_t n = 0;
  for (int32_t k = 0; k <= s->n[list]; k++) {
    bool more = k < s->n[list];
    int64_t stride = more ? s->list[list][k].stride : 0, gap = more ? 1 : list ? 1 : *copies;
    if (more && stride != room) {
      gap = stride > room && stride % room == 0 ? stride / room : 0;
      if (gap == 0 || list || *copies % gap != 0) return back_refuse_gap(s, list, k, room);
    }
    if (gap > 1) entry[n++] = -gap;
    *copies /= gap;
    room = more ? stride : room;
    if (more) entry[n++] = s->list[list][k].mode;
    if (n > TESELA_REGISTER_MODES)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d modes", TESELA_REGISTER_MODES);
    if (more && !tesela__mul(room, s->list[list][k].extent, &room))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the places of an axis do not fit in 64 bits");
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    if (list)
      s->result.local_modes[s->result.n_local++] = (int32_t)entry[k];
    else
      s->result.spatial_modes[s->result.n_spatial++] = entry[k];
  }
  return TESELA_OK;
}

/* Are these the places of the layout? */
static tesela_status back_compare(back_state *s, tesela_error *err) {
  tesela_layout back;
  tesela_difference difference;
  int64_t expected[TESELA_MAX_AXES];
  tesela_status status = tesela_register_to_layout(&s->result, s->layout->dtype, s->layout->bits, &back, err);
  if (status == TESELA_OK && s->axis[BACK_THREAD] == 1) {
    tesela_axis thread = back.axis[0];
    back.axis[0] = back.axis[1];
    back.axis[1] = thread;
    for (int32_t i = 0; i < back.n_digits; i++)
      if (back.digit[i].axis >= 0) back.digit[i].axis = (int16_t)(1 - back.digit[i].axis);
    back.finished = false;
    status = tesela_layout_finish(&back, err);
  }
  if (status == TESELA_OK) status = tesela_layout_compare(s->layout, &back, &difference, err);
  if (status != TESELA_OK || difference.same) return status;
  (void)tesela_layout_place_of(&back, difference.index, expected, NULL);
  int64_t place[TESELA_MAX_AXES];
  (void)tesela_layout_place_of(&s->first, difference.index, place, NULL);
  if (place[0] == expected[0] && place[1] == expected[1])
    return tesela__impossible(s->answer, "the copies of an element are in other threads than replicas reach");
  return back_refuse_place(s, difference.index, expected);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------- */

static tesela_status back_find_axes(back_state *s) {
  const tesela_layout *layout = s->layout;
  s->axis[0] = s->axis[1] = -1;
  for (int32_t a = 0; a < layout->n_axes; a++) {
    if (strcmp(layout->axis[a].name, "thread") == 0) s->axis[BACK_THREAD] = a;
    if (strcmp(layout->axis[a].name, "local") == 0) s->axis[BACK_LOCAL] = a;
  }
  if (layout->n_axes == 2 && s->axis[0] >= 0 && s->axis[1] >= 0) return TESELA_OK;
  return tesela__impossible(s->answer, "a register layout has the axes thread and local; the layout has %s%s",
                            layout->n_axes ? layout->axis[0].name : "none",
                            layout->n_axes > 1 ? ", ..." : "");
}

/* Modes, lists, comparison; up to the first verdict. */
static tesela_status back_find(back_state *s, tesela_error *err) {
  int64_t copies = tesela_layout_copies(s->layout);
  tesela_status status = back_modes(s, err);
  for (int list = 0; list < 2 && status == TESELA_OK && s->answer->verdict != TESELA_IMPOSSIBLE; list++)
    status = back_list(s, list, &copies, err);
  if (status != TESELA_OK || s->answer->verdict == TESELA_IMPOSSIBLE) return status;
  status = tesela__register_accept(&s->result, err);
  return status == TESELA_OK ? back_compare(s, err) : status;
}

tesela_status tesela_register_from_layout(const tesela_layout *layout, tesela_register *out,
                                          tesela_translation *answer, tesela_error *err) {
  TESELA__NEED(err, layout, out, answer);
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int64_t start[TESELA_MAX_AXES];
  bool turned;
  back_state s = {.layout = layout, .answer = answer};
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__start_answer(layout, answer, err);
  if (status == TESELA_OK) status = back_find_axes(&s);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  if (tesela__is_empty(layout)) return tesela__impossible(answer, "a register layout has an element or more");
  status = tesela__first_copies(layout, &s.first, &turned, err);
  if (status != TESELA_OK) return status;
  (void)tesela_layout_place_of(&s.first, zero, start, NULL);
  if (start[0] != 0 || start[1] != 0) return back_refuse_place(&s, zero, zero);
  tesela__register_clear(&s.result);
  status = back_find(&s, err);
  if (status != TESELA_OK) return status;
  if (answer->verdict == TESELA_IMPOSSIBLE && turned)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "cannot decide: a swizzle turns the copies of an element");
  if (answer->verdict == TESELA_IMPOSSIBLE) return TESELA_OK;
  tesela_register_reduced(out, &s.result);
  answer->text_places = out->spatial_size * out->local_size;
  return TESELA_OK;
}
