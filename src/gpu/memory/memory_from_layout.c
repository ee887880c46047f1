/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_from_layout.c - the tile in memory of a relation: modes that cut the dims evenly, an offset, and one XOR stage; or why
 * nothing expresses it.
 *
 * Without the stage the digits of each dim (layout/factor.h) are its modes. A stage is its own inverse: a layout is a tile with stage S
 * exactly if S applied to its places gives one without a stage. All stages within the bits of the places are tried, the
 * layout's own first, then those of fewest bits; a few elements rule most of them out (tile_stages.c).
 */
#include "gpu/memory/tile_stages.h"
#include "layout/factor.h"
#include "layout/refute.h"

enum { UNTILE_BITS = 12, UNTILE_UNDECIDED = 8 };

typedef struct untile_state {
  const tesela_layout *layout;
  tesela_tile_space space;
  tesela_tile_memory tile;
  bool found;
  tesela__stages *stages; /* NULL: none were tried */
} untile_state;

/* ---- without a stage -------------------------------------------------------------------------------------------------- */

/* Has dim d of a layout, or of a part of it, the digits of modes? `extent` is that of the whole dim. */
static tesela_status untile_digits(const tesela_layout *layout, int32_t d, int64_t extent,
                                   tesela__stages *stages, tesela__factors *factors, bool *fits,
                                   tesela_error *err) {
  tesela__no_factors why;
  int64_t index[TESELA_MAX_RANK] = {0};
  tesela_status status = tesela__factor_even(layout, d, extent, factors, &why, &index[d], err);
  if (status != TESELA_OK) return status;
  *fits = why == TESELA__HAS_FACTORS;
  if (!*fits && stages) tesela__stages_add(stages, index);
  return TESELA_OK;
}

/* The modes of a dim, outermost first, if its digits cut it evenly. */
static tesela_status untile_dim(untile_state *s, const tesela_layout *layout, int32_t d, bool *fits,
                                tesela_error *err) {
  tesela__factors factors;
  tesela_status status = untile_digits(layout, d, layout->shape[d], s->stages, &factors, fits, err);
  if (status != TESELA_OK || !*fits) return status;
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
  int64_t first = 0;
  tesela_layout back;
  tesela_difference difference;
  bool fits = true;
  tesela_status status = TESELA_OK;
  s->tile = (tesela_tile_memory){.space = s->space, .rank = layout->rank};
  (void)tesela_layout_place_of(layout, zero, &first, NULL);
  for (int32_t d = 0; d < layout->rank && fits && status == TESELA_OK; d++)
    status = untile_dim(s, layout, d, &fits, err);
  if (status != TESELA_OK || !fits) return status;
  status = tesela_tile_memory_make(&s->tile, s->space, layout->rank, layout->shape, s->tile.n_modes,
                                   s->tile.mode_shape, s->tile.mode_strides, first, &swizzle, err);
  if (status == TESELA_OK && s->tile.size < s->layout->axis[0].extent)
    status = tesela_tile_memory_set_size(&s->tile, &s->tile, s->layout->axis[0].extent, err);
  if (status == TESELA_OK)
    status = tesela_tile_memory_to_layout(&s->tile, s->layout->dtype, s->layout->bits, &back, err);
  if (status != TESELA_OK) return status;
  memcpy(back.axis[0].name, s->layout->axis[0].name, sizeof back.axis[0].name);
  status = tesela_layout_compare(s->layout, &back, &difference, err);
  if (status != TESELA_OK) return status;
  s->found = difference.same;
  if (!s->found && s->stages && difference.have_index) tesela__stages_add(s->stages, difference.index);
  return TESELA_OK;
}

/* ---- with a stage ------------------------------------------------------------------------------------------------------- */

/* The layout with a stage applied to its places. */
static tesela_status untile_turn(const tesela_layout *layout, tesela_tile_swizzle swizzle,
                                 tesela_layout *turned, tesela_error *err) {
  tesela_swizzle stage = {0, (int16_t)swizzle.bits, (int16_t)swizzle.base, (int16_t)swizzle.shift};
  *turned = *layout;
  if (swizzle.bits == 0) return TESELA_OK;
  turned->finished = false;
  tesela_status status = tesela_layout_set_axis(turned, 0, turned->axis[0].offset, -1, err);
  if (status == TESELA_OK) status = tesela_layout_add_swizzle(turned, stage, err);
  return status == TESELA_OK ? tesela_layout_finish(turned, err) : status;
}

static tesela_status untile_try(untile_state *s, tesela_tile_swizzle swizzle, tesela_error *err) {
  tesela_layout turned;
  tesela_status status = untile_turn(s->layout, swizzle, &turned, err);
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

/* Bits of the places. */
static int32_t untile_width(const tesela_layout *layout) {
  int32_t top = 0;
  while ((layout->axis[0].extent - 1) >> top > 0) top++;
  return top;
}

/* All stages within the bits of the places, after the layout's own. */
static tesela_status untile_swizzles(untile_state *s, tesela__stages *stages, tesela_error *err) {
  int32_t undecided = 0;
  tesela_status status = TESELA_OK;
  tesela_tile_swizzle own, stage = {0, 0, 0};
  if (untile_own(s->layout, &own)) status = untile_try(s, own, err);
  if (s->found || (status != TESELA_OK && status != TESELA_E_UNSUPPORTED)) return status;
  tesela__stages_begin(stages, s->layout);
  s->stages = stages;
  while (tesela__stages_next(&stage, untile_width(s->layout))) {
    if (!tesela__stages_may_be(stages, stage, 0, s->layout->shape[0], NULL)) continue;
    stages->exact++;
    status = untile_try(s, stage, err);
    if (status == TESELA_E_UNSUPPORTED && ++undecided == UNTILE_UNDECIDED)
      return status; /* others turn the same bits */
    if (status == TESELA_E_UNSUPPORTED) tesela__stages_scatter(stages);
    if ((status != TESELA_OK && status != TESELA_E_UNSUPPORTED) || s->found) return status;
  }
  return undecided > 0 ? TESELA_E_UNSUPPORTED
                       : TESELA_OK; /* the error of the last undecided one is in *err */
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------- */

/* What a part is compared with. */
typedef struct untile_form {
  const int64_t *shape; /* of the whole layout */
  tesela__stages *stages;
} untile_form;

/* Do modes that cut the dims of the shape evenly give the places of a part? */
static tesela_status untile_expresses(const void *context, const tesela_layout *part, bool *possible,
                                      tesela_error *err) {
  const untile_form *form = context;
  tesela_layout sum;
  tesela_difference difference = {.same = false};
  tesela_status status = TESELA_OK;
  *possible = true;
  for (int32_t d = 0; d < part->rank && status == TESELA_OK && *possible; d++) {
    tesela__factors factors;
    status = untile_digits(part, d, form->shape[d], form->stages, &factors, possible, err);
  }
  if (status == TESELA_OK && *possible) status = tesela__sum_of_dims(part, &sum, possible, err);
  if (status != TESELA_OK || !*possible) return status;
  status = tesela_layout_compare(part, &sum, &difference, err);
  *possible = status == TESELA_OK && difference.same;
  if (status == TESELA_OK && difference.have_index) tesela__stages_add(form->stages, difference.index);
  return status;
}

/* The contradiction of tiles with this stage. */
static tesela_status untile_refute(tesela__stages *stages, tesela_tile_swizzle stage,
                                   tesela_translation *answer, tesela_error *err) {
  const untile_form form = {stages->layout->shape, stages};
  tesela_layout turned;
  tesela_status status = untile_turn(stages->layout, stage, &turned, err);
  if (status == TESELA_OK) status = tesela__refute(&turned, untile_expresses, &form, answer, err);
  if (status != TESELA_OK) return status;
  tesela__refute_steps(&turned, true, answer);
  answer->expected = tesela__tile_swizzled(stage, answer->expected);
  (void)tesela_layout_place_of(stages->layout, answer->index, &answer->place, NULL);
  return TESELA_OK;
}

/* May tiles with this stage agree beyond the elements before the last index of a contradiction? */
static tesela_status untile_later(tesela__stages *stages, tesela_tile_swizzle stage,
                                  const tesela_translation *answer, bool *later, tesela_error *err) {
  const tesela_layout *layout = stages->layout;
  const untile_form form = {layout->shape, stages};
  tesela_layout part, turned;
  tesela__stage_sample last;
  int32_t dim = 0;
  *later = true;
  while (dim < layout->rank - 1 && answer->index[dim] == 0) dim++;
  if (answer->index[dim] == 0) return TESELA_OK;
  tesela__stages_sample(stages, answer->index, &last);
  bool any = answer->contradiction ==
             TESELA_CONTRADICTION_ELEMENT; /* as other stages with this index would have it */
  *later = tesela__stages_may_be(stages, stage, dim, answer->index[dim], any ? &last : NULL);
  if (!*later) return TESELA_OK;
  tesela_status status = tesela__first_part(layout, dim, answer->index[dim], &part, err);
  if (status == TESELA_OK) status = untile_turn(&part, stage, &turned, err);
  return status == TESELA_OK ? untile_expresses(&form, &turned, later, err) : status;
}

/* The contradiction of all tiles is the latest one of any stage; of up to 4096 places, which have some 300 stages. */
static tesela_status untile_refute_all(tesela__stages *stages, tesela_translation *answer,
                                       tesela_error *err) {
  const tesela_layout *layout = stages->layout;
  tesela_tile_swizzle stage = {0, 0, 0};
  tesela_translation other;
  bool later;
  if (untile_width(layout) > UNTILE_BITS) return TESELA_OK;
  tesela_status status = untile_refute(stages, stage, answer, err);
  while (status == TESELA_OK && tesela__stages_next(&stage, untile_width(layout))) {
    status = untile_later(stages, stage, answer, &later, err);
    if (status != TESELA_OK || !later) continue;
    status = tesela__start_answer(layout, &other, err);
    if (status == TESELA_OK) status = untile_refute(stages, stage, &other, err);
    if (status != TESELA_OK) break;
    int order = tesela_index_compare(layout->rank, other.index, answer->index);
    if (order > 0) *answer = other;
    if (order == 0 && (other.contradiction != answer->contradiction || other.expected != answer->expected))
      answer->contradiction = TESELA_CONTRADICTION_ELEMENT;
  }
  if (status == TESELA_E_UNSUPPORTED) answer->contradiction = TESELA_CONTRADICTION_NONE;
  return status == TESELA_E_UNSUPPORTED ? TESELA_OK : status;
}

tesela_status tesela__untile(const tesela_layout *layout, tesela_tile_space space, tesela_tile_memory *out,
                             tesela_translation *answer, int64_t *exact, tesela_error *err) {
  untile_state s = {.layout = layout, .space = space};
  tesela__stages stages;
  *exact = 0;
  tesela_status status = untile_plain(&s, layout, (tesela_tile_swizzle){0, 0, 0}, err);
  if (status != TESELA_OK) return status;
  if (!s.found) {
    stages.exact = 0;
    status = untile_swizzles(&s, &stages, err);
    if (status == TESELA_OK && !s.found) status = untile_refute_all(&stages, answer, err);
    *exact = stages.exact;
    if (status != TESELA_OK) return status;
  }
  if (!s.found) return tesela__impossible(answer, "no modes and one swizzle give these places");
  *out = s.tile;
  answer->text_places = s.tile.size;
  return TESELA_OK;
}

tesela_status tesela_tile_memory_from_layout(const tesela_layout *layout, tesela_tile_space space,
                                             tesela_tile_memory *out, tesela_translation *answer,
                                             tesela_error *err) {
  TESELA__NEED(err, layout, out, answer);
  int64_t exact;
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
  return tesela__untile(layout, space, out, answer, &exact, err);
}
