/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_from_layout.c - the device layout of a relation, or why nothing expresses it.
 *
 * The digits of each dim (layout/factor.h), with copies as replicated dims, are the device dims in the order of their strides. If each
 * stride is a multiple of the next smaller one, device dims have that room and are row-major; the last ones make a stick, and
 * a dim is cut where the stick ends. Else the dims keep their strides, and the last one is padded to a stick.
 */
#include "device/device.h"
#include "layout/factor.h"

typedef struct undevice_state {
  const tesela_layout *layout;
  tesela_layout first; /* one copy of each element */
  tesela_device_host host;
  tesela_translation *answer;
  int64_t lanes;
  int32_t n;
  tesela_device_dim dim[TESELA_DEVICE_DIMS]; /* by decreasing stride */
} undevice_state;

/* ---- the device dims ----------------------------------------------------------------------------------------------- */

static tesela_status undevice_many(tesela_error *err) {
  return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d device dims", TESELA_DEVICE_DIMS);
}

static bool undevice_add(undevice_state *s, tesela_device_dim dim) {
  if (s->n == TESELA_DEVICE_DIMS) return false;
  int32_t at = s->n++;
  for (; at > 0 && s->dim[at - 1].stride < dim.stride; at--) s->dim[at] = s->dim[at - 1];
  s->dim[at] = dim;
  return true;
}

static tesela_status undevice_refuse(undevice_state *s, const int64_t *index, int64_t expected,
                                     const char *reason) {
  s->answer->contradiction = TESELA_CONTRADICTION_PLACE;
  s->answer->expected = expected;
  for (int32_t d = 0; d < s->layout->rank; d++) s->answer->index[d] = index[d];
  (void)tesela_layout_place_of(&s->first, index, &s->answer->place, NULL);
  return tesela__impossible(s->answer, "%s", reason);
}

/* Collect the digits of a dim. Sets a verdict if elements share a place. */
static tesela_status undevice_dim(undevice_state *s, int32_t d, tesela_error *err) {
  tesela__factors factors;
  tesela__no_factors why;
  int64_t at = 0;
  tesela_status status = tesela__factor_dims(&s->first, 1, &d, &factors, &why, &at, err);
  if (status != TESELA_OK) return status;
  if (why != TESELA__HAS_FACTORS) /* no place is before 0 */
    return tesela__impossible(s->answer, "more than %d digits in a dim", TESELA_DEVICE_DIMS);
  for (int32_t k = 0; k < factors.n; k++) {
    const tesela__factor *factor = &factors.factor[k];
    if (factor->stride == 0) {
      s->answer->contradiction = TESELA_CONTRADICTION_SHARED;
      s->answer->index[d] = factor->step;
      return tesela__impossible(s->answer, "two elements share a place");
    }
    if (!undevice_add(s, (tesela_device_dim){factor->extent, factor->step, factor->stride, d}))
      return undevice_many(err);
  }
  return TESELA_OK;
}

static tesela_status undevice_dims(undevice_state *s, tesela_error *err) {
  tesela_layout form;
  tesela_status status = tesela_layout_canonical(s->layout, &form, err);
  for (int32_t i = 0; i < form.n_digits && status == TESELA_OK; i++) {
    const tesela_digit *digit = &form.digit[i];
    tesela_device_dim copies = {digit->extent, 0, digit->stride, TESELA_DIM_REPLICATED};
    if (digit->source == TESELA_REPLICA && digit->extent > 1 && !undevice_add(s, copies))
      return undevice_many(err);
  }
  for (int32_t d = 0; d < s->layout->rank && status == TESELA_OK; d++) {
    if (s->layout->shape[d] > 1) status = undevice_dim(s, d, err);
    if (s->answer->verdict == TESELA_IMPOSSIBLE) return status;
  }
  return status;
}

/* ---- sticks ----------------------------------------------------------------------------------------------------------- */

/* Cut dim k, so that its last `low` values are a dim of their own. */
static bool undevice_cut(undevice_state *s, int32_t k, int64_t low) {
  if (s->n == TESELA_DEVICE_DIMS) return false;
  for (int32_t i = s->n++; i > k; i--) s->dim[i] = s->dim[i - 1];
  s->dim[k].extent = tesela__ceil_div(s->dim[k].extent, low);
  s->dim[k].step *= low;
  s->dim[k].stride *= low;
  s->dim[k + 1].extent = low;
  return true;
}

/* Row-major dims: room up to the next stride, a synthetic dim below the smallest one, whole sticks. false: not possible. */
static bool undevice_row_major(undevice_state *s, int32_t *stick_dims) {
  int64_t places = s->layout->axis[0].extent, room = 1, stride = s->n ? s->dim[s->n - 1].stride : 1;
  if (s->n == 0 || stride > 1) {
    tesela_device_dim below = {s->n ? stride : s->lanes, 0, 1, TESELA_DIM_SYNTHETIC};
    if (!undevice_add(s, below)) return false;
  }
  for (int32_t k = s->n - 1; k >= 0; k--) {
    tesela_device_dim *dim = &s->dim[k];
    int64_t above = k > 0 ? s->dim[k - 1].stride : tesela__max(places, dim->stride * dim->extent);
    if ((k > 0 && above % dim->stride != 0) || above / dim->stride < dim->extent) return false;
    if (above % dim->stride == 0) dim->extent = above / dim->stride;
  }
  int32_t k = s->n - 1;
  for (; k >= 0 && room < s->lanes; k--) {
    if (!tesela__mul(room, s->dim[k].extent, &room)) return false;
    if (room <= s->lanes && s->lanes % room != 0) return false;
    if (room < s->lanes && k == 0) { /* the first dim fills the stick */
      s->dim[0].extent *= s->lanes / room;
      room = s->lanes;
    }
    if (room <= s->lanes) continue;
    int64_t before = room / s->dim[k].extent, low = s->lanes / before;
    if (s->lanes % before != 0 || (k > 0 && s->dim[k].extent % low != 0) || !undevice_cut(s, k, low))
      return false;
    room = s->lanes;
    k++;
  }
  *stick_dims = s->n - 1 - k;
  return *stick_dims > 0;
}

/* Dims with their strides; the last one, or a synthetic one below it, is as wide as a stick. Elements reach less of it. */
static bool undevice_strided(undevice_state *s) {
  if (s->n == 0 || s->dim[s->n - 1].stride > 1)
    return undevice_add(s, (tesela_device_dim){s->lanes, 0, 1, TESELA_DIM_SYNTHETIC});
  if (s->dim[s->n - 1].extent > s->lanes) return undevice_cut(s, s->n - 1, s->lanes);
  s->dim[s->n - 1].extent = s->lanes;
  return true;
}

/* ---- the layout ---------------------------------------------------------------------------------------------------------- */

static tesela_status undevice_compare(const undevice_state *s, const tesela_device_layout *made,
                                      tesela_difference *difference, tesela_layout *back, tesela_error *err) {
  tesela_status status = tesela_device_to_layout(made, back, err);
  if (status != TESELA_OK) return status;
  memcpy(back->axis[0].name, s->layout->axis[0].name, sizeof back->axis[0].name);
  return tesela_layout_compare(s->layout, back, difference, err);
}

/* Row-major, else strided. */
static tesela_status undevice_make(undevice_state *s, tesela_device_layout *out, tesela_error *err) {
  tesela_device_layout made;
  tesela_layout back;
  tesela_difference difference = {.same = false};
  undevice_state other = *s;
  tesela_error why = {.message = ""};
  int32_t stick_dims;
  tesela_status status = TESELA_E_INVALID;
  if (undevice_row_major(s, &stick_dims))
    status = tesela_device_from_dims(&made, &s->host, s->n, s->dim, false, stick_dims, &why);
  if (status == TESELA_OK) status = undevice_compare(s, &made, &difference, &back, &why);
  if (status != TESELA_OK && undevice_strided(&other)) {
    status = tesela_device_from_dims(&made, &other.host, other.n, other.dim, true, 1, &why);
    if (status == TESELA_OK) status = undevice_compare(s, &made, &difference, &back, &why);
  }
  if (status == TESELA_E_INVALID)
    return tesela__impossible(s->answer, "device dims cannot have these strides%s%.100s",
                              why.message[0] ? ": " : "", why.message);
  if (status != TESELA_OK) return tesela__fail(err, status, -1, "%s", why.message);
  if (difference.same) {
    *out = made;
    s->answer->text_places = made.places;
    return TESELA_OK;
  }
  int64_t expected;
  (void)tesela_layout_place_of(&back, difference.index, &expected, NULL);
  return undevice_refuse(s, difference.index, expected, "the places are not a sum over the dims");
}

/* Type and width, as the target stores the type if that is the layout's. */
static tesela_status undevice_host(undevice_state *s, const tesela_target *target, tesela_error *err) {
  const tesela_layout *layout = s->layout;
  tesela_device_host *host = &s->host;
  if (layout->rank > target->max_rank)
    return tesela__impossible(s->answer, "the rank is %" PRId32 "; %s has up to %" PRId32, layout->rank,
                              target->name, target->max_rank);
  if (layout->bits % 8 != 0 || target->stick_bytes * 8 % layout->bits != 0)
    return tesela__impossible(s->answer,
                              "elements of %" PRId32 " bits do not fill sticks of %" PRId64 " bytes",
                              layout->bits, target->stick_bytes);
  s->lanes = target->stick_bytes * 8 / layout->bits;
  if (tesela_device_host_of(host, target, layout->dtype, layout->rank, layout->shape, NULL) == TESELA_OK &&
      host->device_dtype == layout->dtype && host->device_bits == layout->bits)
    return TESELA_OK;
  *host = (tesela_device_host){.dtype = layout->dtype,
                               .device_dtype = layout->dtype,
                               .bits = 8 * tesela_dtype_bytes(layout->dtype),
                               .device_bits = layout->bits,
                               .stick_bytes = target->stick_bytes,
                               .rank = layout->rank};
  for (int32_t d = 0; d < layout->rank; d++) host->shape[d] = layout->shape[d];
  (void)err;
  return TESELA_OK;
}

tesela_status tesela_device_from_layout(const tesela_layout *layout, const tesela_target *target,
                                        tesela_device_layout *out, tesela_translation *answer,
                                        tesela_error *err) {
  TESELA__NEED(err, layout, out, answer);
  const int64_t zero[TESELA_MAX_RANK] = {0};
  undevice_state s = {.layout = layout, .answer = answer};
  int64_t place;
  bool turned;
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__start_answer(layout, answer, err);
  if (status != TESELA_OK) return status;
  if (layout->dtype == TESELA_DTYPE_NONE)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a device layout needs an element type");
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "a device has one axis of places; the layout has %" PRId32,
                              layout->n_axes);
  if (tesela__is_empty(layout)) return tesela__impossible(answer, "the array has no elements");
  status = undevice_host(&s, target ? target : tesela_target_at(0), err);
  if (status == TESELA_OK) status = tesela__first_copies(layout, &s.first, &turned, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  (void)tesela_layout_place_of(&s.first, zero, &place, NULL);
  if (place != 0) return undevice_refuse(&s, zero, 0, "a device layout starts at place 0");
  status = undevice_dims(&s, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  status = undevice_make(&s, out, err);
  if (status == TESELA_OK && answer->verdict == TESELA_IMPOSSIBLE && turned)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "cannot decide: a swizzle turns the copies of an element");
  return status;
}
