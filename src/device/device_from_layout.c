/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_from_layout.c - the device layout of a relation, or why nothing expresses it.
 *
 * The digits of each dim (layout/factor.h), with copies as replicated dims, are the device dims in the order of their strides. If each
 * stride is a multiple of the next smaller one, device dims have that room and are row-major; the last ones make a stick, and
 * a dim is cut where the stick ends. Else the dims keep their strides, and the last one is padded to a stick.
 */
#include <stdio.h>

#include "device/device.h"
#include "layout/factor.h"
#include "layout/refute.h"

typedef struct undevice_state {
  const tesela_layout *layout;
  tesela_layout first; /* one copy of each element */
  tesela_device_host host;
  int64_t lanes;
  char reason[160]; /* if nothing is found */
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

/* Nothing is found, for this reason. */
static void undevice_say(undevice_state *s, const char *reason) {
  (void)snprintf(s->reason, sizeof s->reason, "%s", reason);
}

/* Collect the digits of a dim. */
static tesela_status undevice_dim(undevice_state *s, int32_t d, tesela_error *err) {
  tesela__factors factors;
  tesela__no_factors why;
  int64_t at = 0;
  tesela_status status = tesela__factor_dims(&s->first, 1, &d, &factors, &why, &at, err);
  if (status != TESELA_OK) return status;
  if (why == TESELA__BACKWARDS) undevice_say(s, "a device layout starts at place 0");
  if (why == TESELA__BACKWARDS) return TESELA_OK;
  if (why != TESELA__HAS_FACTORS) return undevice_many(err);
  for (int32_t k = 0; k < factors.n; k++) {
    const tesela__factor *factor = &factors.factor[k];
    if (factor->stride == 0) undevice_say(s, "two elements share a place");
    if (factor->stride == 0) return TESELA_OK;
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
  for (int32_t d = 0; d < s->layout->rank && status == TESELA_OK && !s->reason[0]; d++)
    if (s->layout->shape[d] > 1) status = undevice_dim(s, d, err);
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

/* Dims with their strides; the last one is as wide as a stick, elements reach less of it. `below`: a synthetic one below it is. */
static bool undevice_strided(undevice_state *s, bool below) {
  if (below) return undevice_add(s, (tesela_device_dim){s->lanes, 0, 1, TESELA_DIM_SYNTHETIC});
  tesela_device_dim *last = s->n ? &s->dim[s->n - 1] : NULL;
  if (!last || last->stride > 1 || last->dim == TESELA_DIM_REPLICATED) return false;
  if (last->extent > s->lanes) return undevice_cut(s, s->n - 1, s->lanes);
  last->extent = s->lanes;
  return true;
}

/* ---- the layout ---------------------------------------------------------------------------------------------------------- */

/* Is it the device layout of these dims? An invalid one leaves its message as the reason. */
static tesela_status undevice_try(undevice_state *s, const undevice_state *with, bool strided,
                                  int32_t stick_dims, tesela_device_layout *out, bool *found,
                                  tesela_error *err) {
  tesela_device_layout made;
  tesela_layout back;
  tesela_difference difference = {.same = false};
  tesela_error why = {.message = ""};
  tesela_status status =
      tesela_device_from_dims(&made, &with->host, with->n, with->dim, strided, stick_dims, &why);
  if (status == TESELA_E_INVALID || status == TESELA_E_OVERFLOW) {
    (void)snprintf(s->reason, sizeof s->reason, "device dims cannot have these strides: %.100s", why.message);
    return TESELA_OK;
  }
  if (status == TESELA_OK) status = tesela_device_to_layout(&made, &back, &why);
  if (status != TESELA_OK) return tesela__fail(err, status, -1, "%s", why.message);
  memcpy(back.axis[0].name, s->layout->axis[0].name, sizeof back.axis[0].name);
  status = tesela_layout_compare(s->layout, &back, &difference, err);
  *found = status == TESELA_OK && difference.same;
  undevice_say(s, *found ? "" : "the places are not a sum over the dims");
  if (*found) *out = made;
  return status;
}

/* Row-major, else strided. The last try decides: any dims with room for each other can be above a synthetic one. */
static tesela_status undevice_make(undevice_state *s, tesela_device_layout *out, bool *found,
                                   tesela_error *err) {
  undevice_state other = *s;
  int32_t stick_dims;
  tesela_status status = TESELA_OK;
  if (undevice_row_major(&other, &stick_dims))
    status = undevice_try(s, &other, false, stick_dims, out, found, err);
  for (int below = 0; below < 2 && status == TESELA_OK && !*found; below++) {
    other = *s;
    if (undevice_strided(&other, below == 1))
      status = undevice_try(s, &other, true, 1, out, found, err);
    else if (below == 1)
      return undevice_many(err);
  }
  return status;
}

/* Type and width, as the target stores the type if that is the layout's. */
static void undevice_host(undevice_state *s, const tesela_target *target) {
  const tesela_layout *layout = s->layout;
  tesela_device_host *host = &s->host;
  s->lanes = target->stick_bytes * 8 / layout->bits;
  if (tesela_device_host_of(host, target, layout->dtype, layout->rank, layout->shape, NULL) == TESELA_OK &&
      host->device_dtype == layout->dtype && host->device_bits == layout->bits)
    return;
  *host = (tesela_device_host){.dtype = layout->dtype,
                               .device_dtype = layout->dtype,
                               .bits = 8 * tesela_dtype_bytes(layout->dtype),
                               .device_bits = layout->bits,
                               .stick_bytes = target->stick_bytes,
                               .rank = layout->rank};
  for (int32_t d = 0; d < layout->rank; d++) host->shape[d] = layout->shape[d];
}

/* The device layout, or *found is false and `reason` says why. */
static tesela_status undevice_find(undevice_state *s, const tesela_target *target, tesela_device_layout *out,
                                   bool *found, tesela_error *err) {
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int64_t place;
  bool turned;
  *found = false;
  undevice_host(s, target);
  tesela_status status = tesela__first_copies(s->layout, &s->first, &turned, err);
  if (status != TESELA_OK) return status;
  (void)tesela_layout_place_of(&s->first, zero, &place, NULL);
  if (place != 0)
    undevice_say(s, "a device layout starts at place 0");
  else
    status = undevice_dims(s, err);
  if (status == TESELA_OK && !s->reason[0]) status = undevice_make(s, out, found, err);
  if (status == TESELA_OK && !*found && turned)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "cannot decide: a swizzle turns the copies of an element");
  return status;
}

static tesela_status undevice_expresses(const void *target, const tesela_layout *layout, bool *possible,
                                        tesela_error *err) {
  undevice_state s = {.layout = layout};
  tesela_device_layout made;
  return undevice_find(&s, target, &made, possible, err);
}

tesela_status tesela_device_from_layout(const tesela_layout *layout, const tesela_target *target,
                                        tesela_device_layout *out, tesela_translation *answer,
                                        tesela_error *err) {
  TESELA__NEED(err, layout, out, answer);
  undevice_state s = {.layout = layout};
  bool found;
  if (!target) target = tesela_target_at(0);
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__start_answer(layout, answer, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "a device has one axis of places; the layout has %" PRId32,
                              layout->n_axes);
  if (layout->dtype == TESELA_DTYPE_NONE)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a device layout needs an element type");
  if (tesela__is_empty(layout)) return tesela__impossible(answer, "the array has no elements");
  if (layout->rank > target->max_rank)
    return tesela__impossible(answer, "the rank is %" PRId32 "; %s has up to %" PRId32, layout->rank,
                              target->name, target->max_rank);
  if (layout->bits % 8 != 0 || target->stick_bytes * 8 % layout->bits != 0)
    return tesela__impossible(answer, "elements of %" PRId32 " bits do not fill sticks of %" PRId64 " bytes",
                              layout->bits, target->stick_bytes);
  status = undevice_find(&s, target, out, &found, err);
  if (status != TESELA_OK) return status;
  if (found) answer->text_places = out->places;
  if (found) return TESELA_OK;
  status = tesela__refute(layout, undevice_expresses, target, answer, err);
  return status == TESELA_OK || status == TESELA_E_UNSUPPORTED ? tesela__impossible(answer, "%s", s.reason)
                                                               : status;
}
