/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_from_layout.c - the tile in memory of a relation: modes that cut the dims evenly, an offset, and one XOR stage; or why
 * nothing expresses it.
 *
 * Without the stage the digits of each dim (layout/factor.h) are its modes. A stage is its own inverse: a layout is a tile with stage S
 * exactly if S applied to its places gives one without a stage. All stages within the bits of the places are tried, the
 * layout's own first, then those of fewest bits; a few elements rule most of them out.
 */
#include "gpu/memory/tile_memory.h"
#include "layout/factor.h"

enum { UNTILE_SAMPLES = 8 };

typedef struct untile_state {
  const tesela_layout *layout;
  tesela_tile_space space;
  tesela_translation *answer; /* NULL: a refusal needs no reason */
  tesela_tile_memory tile;
  bool found;
  int32_t n_samples;
  int64_t first;                                  /* place of element 0 */
  int64_t sample[UNTILE_SAMPLES];                 /* places of some elements, */
  int64_t share[UNTILE_SAMPLES][TESELA_MAX_RANK]; /* and of those with one of their coordinates */
} untile_state;

/* ---- without a stage -------------------------------------------------------------------------------------------------- */

static tesela_status untile_refuse(untile_state *s, const int64_t *index, int64_t expected) {
  if (!s->answer) return TESELA_OK;
  s->answer->contradiction = TESELA_CONTRADICTION_PLACE;
  s->answer->expected = expected;
  for (int32_t d = 0; d < s->layout->rank; d++) s->answer->index[d] = index[d];
  (void)tesela_layout_place_of(s->layout, index, &s->answer->place, NULL);
  return tesela__impossible(s->answer, "no modes and one swizzle give these places");
}

/* The modes of a dim, outermost first, if its digits cut it evenly. */
static tesela_status untile_dim(untile_state *s, const tesela_layout *layout, int32_t d, bool *fits,
                                tesela_error *err) {
  tesela__factors factors;
  tesela__no_factors why;
  int64_t at = 0, index[TESELA_MAX_RANK] = {0};
  tesela_status status = tesela__factor_dims(layout, 1, &d, &factors, &why, &at, err);
  if (status != TESELA_OK) return status;
  *fits = why != TESELA__BACKWARDS;
  if (!*fits) {
    if (!s->answer) return TESELA_OK;
    s->answer->contradiction = TESELA_CONTRADICTION_NONE;
    return tesela__impossible(
        s->answer,
        "element %" PRId64 " of dim %" PRId32 " is before element 0; strides of a tile are 0 or more", at, d);
  }
  for (int32_t k = 1; k < factors.n; k++) {
    int64_t step = factors.factor[k].step, left = step, expected = s->first;
    if (step % factors.factor[k - 1].step == 0 && layout->shape[d] % step == 0) continue;
    for (int32_t j = k - 1; j >= 0; j--) {
      expected += left / factors.factor[j].step * factors.factor[j].stride;
      left %= factors.factor[j].step;
    }
    *fits = false;
    index[d] = step;
    return untile_refuse(s, index, expected);
  }
  if (s->tile.n_modes + factors.n > TESELA_REGISTER_MODES)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d modes", TESELA_REGISTER_MODES);
  for (int32_t k = factors.n - 1; k >= 0; k--) {
    s->tile.mode_shape[s->tile.n_modes] = factors.factor[k].extent;
    s->tile.mode_strides[s->tile.n_modes++] = factors.factor[k].stride;
  }
  return TESELA_OK;
}

/* Try the layout, to whose places a stage was applied, as a tile without one; then the tile has the stage. */
static tesela_status untile_plain(untile_state *s, const tesela_layout *layout, tesela_tile_swizzle swizzle,
                                  tesela_error *err) {
  const int64_t zero[TESELA_MAX_RANK] = {0};
  tesela_layout back;
  tesela_difference difference;
  bool fits = true;
  tesela_status status = TESELA_OK;
  s->tile = (tesela_tile_memory){.space = s->space, .rank = layout->rank};
  (void)tesela_layout_place_of(layout, zero, &s->first, NULL);
  for (int32_t d = 0; d < layout->rank && fits && status == TESELA_OK; d++)
    status = untile_dim(s, layout, d, &fits, err);
  if (status != TESELA_OK || !fits) return status;
  status = tesela_tile_memory_make(&s->tile, s->space, layout->rank, layout->shape, s->tile.n_modes,
                                   s->tile.mode_shape, s->tile.mode_strides, s->first, &swizzle, err);
  if (status == TESELA_OK && s->tile.size < s->layout->axis[0].extent)
    status = tesela_tile_memory_set_size(&s->tile, &s->tile, s->layout->axis[0].extent, err);
  if (status == TESELA_OK)
    status = tesela_tile_memory_to_layout(&s->tile, s->layout->dtype, s->layout->bits, &back, err);
  if (status != TESELA_OK) return status;
  memcpy(back.axis[0].name, s->layout->axis[0].name, sizeof back.axis[0].name);
  status = tesela_layout_compare(s->layout, &back, &difference, err);
  if (status != TESELA_OK) return status;
  s->found = difference.same;
  if (difference.same) return TESELA_OK;
  int64_t expected;
  (void)tesela_layout_place_of(&back, difference.index, &expected, NULL);
  return untile_refuse(s, difference.index, expected);
}

/* ---- with a stage ------------------------------------------------------------------------------------------------------- */

/* Elements of which each coordinate adds something if it can: corners, and others by fixed fractions. */
static void untile_sample(untile_state *s) {
  const tesela_layout *layout = s->layout;
  for (s->n_samples = 0; s->n_samples < UNTILE_SAMPLES; s->n_samples++) {
    int64_t index[TESELA_MAX_RANK], one[TESELA_MAX_RANK] = {0};
    int32_t k = s->n_samples;
    for (int32_t d = 0; d < layout->rank; d++) {
      int64_t last = layout->shape[d] - 1;
      index[d] = k == 0 ? last : k == 1 ? tesela__min(last, 1) : last - last / (k + d % 3);
    }
    (void)tesela_layout_place_of(layout, index, &s->sample[k], NULL);
    for (int32_t d = 0; d < layout->rank; d++) {
      one[d] = index[d];
      (void)tesela_layout_place_of(layout, one, &s->share[k][d], NULL);
      one[d] = 0;
    }
  }
}

/* Are the places of the samples, with the stage applied, sums over the dims? */
static bool untile_may_be(const untile_state *s, int64_t first, tesela_tile_swizzle swizzle) {
  int64_t start = tesela__tile_swizzled(swizzle, first);
  for (int32_t k = 0; k < s->n_samples; k++) {
    int64_t sum = start;
    for (int32_t d = 0; d < s->layout->rank; d++)
      sum += tesela__tile_swizzled(swizzle, s->share[k][d]) - start;
    if (sum != tesela__tile_swizzled(swizzle, s->sample[k])) return false;
  }
  return true;
}

static tesela_status untile_try(untile_state *s, int64_t first, tesela_tile_swizzle swizzle,
                                tesela_error *err) {
  tesela_layout turned = *s->layout;
  tesela_swizzle stage = {0, (int16_t)swizzle.bits, (int16_t)swizzle.base, (int16_t)swizzle.shift};
  if (!untile_may_be(s, first, swizzle)) return TESELA_OK;
  turned.finished = false;
  tesela_status status = tesela_layout_set_axis(&turned, 0, turned.axis[0].offset, -1, err);
  if (status == TESELA_OK) status = tesela_layout_add_swizzle(&turned, stage, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&turned, err);
  return status == TESELA_OK ? untile_plain(s, &turned, swizzle, err) : status;
}

/* The stage of the layout itself, if it is a shifted one. */
static bool untile_own(const tesela_layout *layout, tesela_tile_swizzle *own) {
  const tesela_bit_matrix *m = &layout->swizzle;
  *own = (tesela_tile_swizzle){0, 0, 0};
  for (int32_t k = 0; k < m->n; k++) {
    uint64_t flips = m->image[k] ^ UINT64_C(1) << k;
    int32_t to = 0;
    if (flips == 0) continue;
    if (flips & (flips - 1)) return false;
    while (flips >> to > 1) to++;
    if (own->bits > 0 && (k - to != own->shift || k != tesela__max(own->shift, 0) + own->base + own->bits))
      return false;
    if (own->bits == 0) own->base = k > to ? to : k;
    own->shift = k - to;
    own->bits++;
  }
  return own->bits > 0 && own->bits <= (own->shift < 0 ? -own->shift : own->shift);
}

/* All stages within the bits of the places, after the layout's own. */
static tesela_status untile_swizzles(untile_state *s, tesela_error *err) {
  const int64_t zero[TESELA_MAX_RANK] = {0};
  int64_t first;
  int32_t top = 0;
  bool undecided = false;
  tesela_status status = TESELA_OK;
  while ((s->layout->axis[0].extent - 1) >> top > 0) top++;
  (void)tesela_layout_place_of(s->layout, zero, &first, NULL);
  untile_sample(s);
  tesela_tile_swizzle own;
  if (untile_own(s->layout, &own)) status = untile_try(s, first, own, err);
  if (s->found || (status != TESELA_OK && status != TESELA_E_UNSUPPORTED)) return status;
  for (int32_t bits = 1; 2 * bits <= top; bits++)
    for (int32_t shift = bits; shift + bits <= top; shift++)
      for (int32_t base = 0; base + shift + bits <= top; base++)
        for (int sign = 1; sign >= -1; sign -= 2) {
          status = untile_try(s, first, (tesela_tile_swizzle){base, bits, sign * shift}, err);
          if (status == TESELA_E_UNSUPPORTED) undecided = true;
          if ((status != TESELA_OK && status != TESELA_E_UNSUPPORTED) || s->found) return status;
        }
  return undecided ? TESELA_E_UNSUPPORTED : TESELA_OK; /* the error of the last undecided one is in *err */
}

tesela_status tesela_tile_memory_from_layout(const tesela_layout *layout, tesela_tile_space space,
                                             tesela_tile_memory *out, tesela_translation *answer,
                                             tesela_error *err) {
  TESELA__NEED(err, layout, out, answer);
  untile_state s = {.layout = layout, .space = space, .answer = answer};
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = tesela__start_answer(layout, answer, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "a tile has one axis of places; the layout has %" PRId32,
                              layout->n_axes);
  if (tesela__is_empty(layout)) return tesela__impossible(answer, "a tile has an element or more");
  if (tesela_layout_copies(layout) != 1)
    return tesela__impossible(answer, "each element has %" PRId64 " places; a tile gives it one",
                              tesela_layout_copies(layout));
  status = untile_plain(&s, layout, (tesela_tile_swizzle){0, 0, 0}, err);
  if (status == TESELA_OK && !s.found) {
    s.answer = NULL; /* the reason is the one without a stage */
    status = untile_swizzles(&s, err);
  }
  if (status != TESELA_OK || !s.found) return status;
  *out = s.tile;
  status = tesela__start_answer(layout, answer, err);
  answer->text_places = s.tile.size;
  return status;
}
