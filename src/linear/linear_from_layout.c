/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_from_layout.c - a relation as a linear layout, with a verdict.
 *
 * The places of the elements 2^k of each dim, and the copies of element 0, leave one candidate; a comparison decides about all other
 * elements. Places without an element become elements of larger dims, so that the candidate has an inverse.
 */
#include <stdio.h>

#include "layout/layout.h"
#include "linear/linear.h"

/* An element 2^k along one dim. */
typedef struct linear_unit {
  int32_t dim, bit;
  uint64_t word; /* its place, relative to that of element 0 */
} linear_unit;

/* The candidate: words have the bits of all axes, axis 0 lowest. */
typedef struct linear_candidate {
  const tesela_layout *layout;
  int32_t width[TESELA_MAX_AXES], base[TESELA_MAX_AXES];
  int32_t n, n_units, n_copies;
  uint64_t start;       /* the first place of element 0 */
  linear_unit unit[96]; /* in row-major order of their elements; a rank of 32 has at most 95 */
  uint64_t copy[64];    /* of element 0, as differences from the first */
} linear_candidate;

/* ---- answers -------------------------------------------------------------------------------------------------- */

static tesela_status linear_impossible(tesela_translation *answer, const char *reason) {
  answer->verdict = TESELA_IMPOSSIBLE;
  snprintf(answer->reason, sizeof answer->reason, "%s", reason);
  return TESELA_OK;
}

/* The element at `index` is at other places than its bits say. */
static tesela_status linear_not_linear(const linear_candidate *c, const int64_t *index,
                                       tesela_translation *answer) {
  const tesela_layout *layout = c->layout;
  int64_t place[TESELA_MAX_AXES];
  uint64_t word = 0;
  for (int32_t i = 0; i < c->n_units; i++)
    if (index[c->unit[i].dim] >> c->unit[i].bit & 1) word ^= c->unit[i].word;
  (void)tesela_layout_place_of(layout, index, place, NULL); /* it is an element */
  memcpy(answer->index, index, (size_t)layout->rank * sizeof *index);
  for (int32_t a = 0; a < layout->n_axes; a++) {
    int64_t expected = (int64_t)(word >> c->base[a] & tesela__low_bits(c->width[a]));
    if (place[a] == expected) continue;
    answer->contradiction = TESELA_CONTRADICTION_PLACE;
    answer->axis = a;
    answer->place = place[a];
    answer->expected = expected;
    return linear_impossible(answer, "the place of an element is not the XOR of the places of its bits");
  }
  return linear_impossible(answer, "the copies of an element are not XORs of places");
}

/* Unit u is at the place of the element whose units `others` tell. */
static tesela_status linear_not_alone(const linear_candidate *c, int32_t u, uint64_t others,
                                      tesela_translation *answer) {
  const tesela_layout *layout = c->layout;
  int64_t place[TESELA_MAX_AXES];
  bool inside = true;
  answer->index[c->unit[u].dim] = (int64_t)1 << c->unit[u].bit;
  for (int32_t i = 0; i < u; i++)
    if (others >> i & 1) answer->index2[c->unit[i].dim] |= (int64_t)1 << c->unit[i].bit;
  for (int32_t d = 0; d < layout->rank; d++) inside = inside && answer->index2[d] < layout->shape[d];
  (void)tesela_layout_place_of(layout, answer->index, place, NULL);
  answer->contradiction = inside ? TESELA_CONTRADICTION_SHARED : TESELA_CONTRADICTION_ELEMENT;
  answer->place = place[0];
  return linear_impossible(answer, inside ? "two elements share a place"
                                          : "an element is at a place of the padding to powers of two");
}

/* ---- the candidate -------------------------------------------------------------------------------------------- */

static uint64_t linear_join_place(const linear_candidate *c, const int64_t *place) {
  uint64_t word = 0;
  for (int32_t a = 0; a < c->layout->n_axes; a++) word |= (uint64_t)place[a] << c->base[a];
  return word;
}

static tesela_status linear_size_axes(linear_candidate *c, tesela_error *err) {
  const tesela_layout *layout = c->layout;
  int32_t units = 0;
  c->n = 0;
  for (int32_t d = 0; d < layout->rank; d++) units += tesela__index_bits(layout->shape[d]);
  for (int32_t a = 0; a < layout->n_axes; a++) {
    c->base[a] = c->n;
    c->width[a] = tesela__index_bits(layout->axis[a].extent);
    if (a == 0 && tesela__is_empty(layout)) c->width[a] = (int32_t)tesela__max(c->width[a], units);
    c->n += c->width[a];
  }
  if (c->n > TESELA_LINEAR_BITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "places of %" PRId32 " bits; linear layouts have at most %d",
                        c->n, TESELA_LINEAR_BITS);
  return TESELA_OK;
}

/* Without elements any places will do. */
static void linear_probe(linear_candidate *c) {
  int64_t index[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES];
  const tesela_layout *layout = c->layout;
  c->n_units = c->n_copies = 0;
  c->start = 0;
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    for (int32_t k = 0; k < tesela__index_bits(layout->shape[d]); k++) {
      index[d] = (int64_t)1 << k;
      uint64_t word = (uint64_t)1 << (c->n_units < 63 ? c->n_units : 63);
      if (tesela_layout_place_of(layout, index, place, NULL) == TESELA_OK) word = linear_join_place(c, place);
      c->unit[c->n_units++] = (linear_unit){d, k, word};
    }
    index[d] = 0;
  }
  if (tesela__is_empty(layout)) return;
  (void)tesela_layout_place_of(layout, index, place, NULL);
  c->start = linear_join_place(c, place);
  for (int64_t k = 1; k < tesela_layout_copies(layout); k *= 2) {
    (void)tesela_layout_copy_of(layout, index, k, place, NULL);
    c->copy[c->n_copies++] = linear_join_place(c, place) ^ c->start;
  }
}

/* Fewest bits: memory ends at its highest place, other axes at a power of two within them. */
static void linear_trim_axes(linear_candidate *c) {
  linear_candidate old = *c;
  uint64_t used = 0;
  for (int32_t i = 0; i < c->n_units; i++) used |= c->unit[i].word;
  for (int32_t i = 0; i < c->n_copies; i++) used |= c->copy[i];
  c->n = 0;
  for (int32_t a = 0; a < c->layout->n_axes; a++) {
    const tesela_axis *axis = &c->layout->axis[a];
    uint64_t own = used >> old.base[a] & tesela__low_bits(old.width[a]);
    int32_t width = own == 0 ? 0 : 64 - __builtin_clzll(own);
    if (strcmp(axis->name, "memory") != 0)
      while (width < 62 && (int64_t)2 << width <= axis->extent) width++;
    c->base[a] = c->n;
    c->width[a] = width;
    c->n += width;
  }
  for (int32_t i = 0; i < c->n_units + c->n_copies; i++) {
    uint64_t *word = i < c->n_units ? &c->unit[i].word : &c->copy[i - c->n_units], moved = 0;
    for (int32_t a = 0; a < c->layout->n_axes; a++)
      moved |= (*word >> old.base[a] & tesela__low_bits(c->width[a])) << c->base[a];
    *word = moved;
  }
}

/* Of copies and then units the first that is a XOR of words before it: *word is its number, and *others are units in the XOR. false: the
 * words are independent. Words have at most 62 bits, so 63 of them are not. */
static bool linear_find_shared(const linear_candidate *c, tesela__echelon *e, int32_t *word,
                               uint64_t *others) {
  uint64_t column[TESELA__COLUMNS];
  int32_t n = 0;
  for (int32_t i = 0; i < c->n_copies; i++) column[n++] = c->copy[i];
  for (int32_t i = 0; i < c->n_units && n <= TESELA_LINEAR_BITS; i++) column[n++] = c->unit[i].word;
  tesela__eliminate(n, column, e);
  if (e->n_kernel == 0) return false;
  *word = e->kernel_column[0];
  *others = (e->kernel[0] ^ (uint64_t)1 << *word) >> c->n_copies;
  return true;
}

/* Is the first place of element 0 that of a copy at 0? */
static bool linear_is_copy(const linear_candidate *c) {
  tesela__echelon e;
  uint64_t combo;
  tesela__eliminate(c->n_copies, c->copy, &e);
  return tesela__reduce(&e, c->start, &combo) == 0;
}

/* ---- padding -------------------------------------------------------------------------------------------------- */

/* The dim that a place bit without an element extends: the one with the highest bit below it, else the last. */
static int32_t linear_padded_dim(const linear_candidate *c, const int32_t *top, int32_t bit) {
  int32_t best = c->layout->rank - 1, high = -1;
  for (int32_t d = 0; d < c->layout->rank; d++)
    if (top[d] < bit && top[d] > high) {
      high = top[d];
      best = d;
    }
  return best;
}

/* Bits of the dims and of the axes. The places that hold no element become elements: *added receives the new element bit of each
 * place bit that is not a pivot. false: no dim can be extended. */
static bool linear_extend(const linear_candidate *c, uint64_t pivots, tesela_linear *out, int32_t *added_dim,
                          int32_t *added_bit) {
  int32_t top[TESELA_MAX_RANK];
  for (int32_t d = 0; d < c->layout->rank; d++) top[d] = -1;
  for (int32_t i = 0; i < c->n_units; i++) {
    const linear_unit *unit = &c->unit[i];
    out->out[unit->dim].bits = (int32_t)tesela__max(out->out[unit->dim].bits, unit->bit + 1);
    if (unit->word != 0)
      top[unit->dim] = (int32_t)tesela__max(top[unit->dim], 63 - __builtin_clzll(unit->word));
  }
  for (int32_t k = 0; k < c->n; k++) {
    if (pivots >> k & 1) continue;
    if (c->layout->rank == 0) return false;
    int32_t d = linear_padded_dim(c, top, k);
    added_dim[k] = d;
    added_bit[k] = out->out[d].bits++;
    top[d] = k;
  }
  return true;
}

static void linear_name(const linear_candidate *c, tesela_linear *out) {
  *out = (tesela_linear){.n_ins = c->layout->n_axes, .n_outs = c->layout->rank};
  for (int32_t d = 0; d < out->n_outs; d++)
    snprintf(out->out[d].name, sizeof out->out[d].name, "dim%" PRId32, d);
  for (int32_t a = 0; a < out->n_ins; a++) {
    const char *name = c->layout->axis[a].name;
    out->in[a].bits = c->width[a];
    snprintf(out->in[a].name, sizeof out->in[a].name, "%s", strcmp(name, "memory") == 0 ? "offset" : name);
  }
}

/* The linear layout of a candidate whose words are independent: copies give 0, units their elements. A place bit that is not a pivot is a
 * new element; a pivot is its row less the new elements in it. */
static bool linear_build(const linear_candidate *c, tesela_linear *out) {
  tesela__echelon e;
  int32_t word, first[TESELA_MAX_RANK], added_dim[TESELA_LINEAR_BITS], added_bit[TESELA_LINEAR_BITS];
  uint64_t others, pivots = 0, element[TESELA__COLUMNS] = {0}, image[TESELA__COLUMNS] = {0};
  (void)linear_find_shared(c, &e, &word, &others);
  linear_name(c, out);
  for (int32_t i = 0; i < e.n; i++) pivots |= (uint64_t)1 << e.bit[i];
  if (!linear_extend(c, pivots, out, added_dim, added_bit)) return false;
  for (int32_t d = 0; d < out->n_outs; d++) first[d] = tesela__bits_of(out->out, d);
  for (int32_t i = 0; i < c->n_units; i++)
    element[c->n_copies + i] = (uint64_t)1 << (first[c->unit[i].dim] + c->unit[i].bit);
  for (int32_t k = 0; k < c->n; k++)
    if (!(pivots >> k & 1)) out->basis[k] = image[k] = (uint64_t)1 << (first[added_dim[k]] + added_bit[k]);
  for (int32_t i = 0; i < e.n; i++)
    out->basis[e.bit[i]] =
        tesela__linear_word(element, e.combo[i]) ^ tesela__linear_word(image, e.word[i] & ~pivots);
  return true;
}

/* ---- comparing ------------------------------------------------------------------------------------------------ */

/* The elements before unit u, in row-major order, as a layout. */
static tesela_status linear_before(const linear_candidate *c, int32_t u, tesela_layout *out,
                                   tesela_error *err) {
  tesela_status status = TESELA_OK;
  *out = *c->layout;
  for (int32_t d = 0; d <= c->unit[u].dim && status == TESELA_OK; d++)
    status =
        tesela_layout_slice(out, d, 0, d < c->unit[u].dim ? 1 : (int64_t)1 << c->unit[u].bit, 1, out, err);
  return status;
}

/* The candidate as a linear layout, compared with the layout on the elements of c->layout. */
static tesela_status linear_compare(const linear_candidate *c, tesela_linear *out, bool *possible,
                                    tesela_difference *difference, tesela_error *err) {
  const tesela_layout *layout = c->layout;
  linear_candidate trimmed = *c;
  tesela_layout back;
  linear_trim_axes(&trimmed);
  *possible = linear_build(&trimmed, out);
  if (!*possible) return TESELA_OK;
  tesela_status status = tesela__linear_check(out, "the linear layout", err);
  if (status == TESELA_OK)
    status =
        tesela__linear_lower(out, true, layout->dtype, layout->bits, layout->rank, layout->shape, &back, err);
  if (status != TESELA_OK) return status;
  for (int32_t a = 0; a < layout->n_axes; a++)
    memcpy(back.axis[a].name, layout->axis[a].name, sizeof back.axis[a].name);
  return tesela_layout_compare(layout, &back, difference, err);
}

/* Where comparing is too much: two units whose sum is not at the XOR of their places. */
static bool linear_find_pair(const linear_candidate *c, int64_t *index) {
  int64_t place[TESELA_MAX_AXES];
  for (int32_t i = 0; i < c->n_units; i++)
    for (int32_t k = 0; k < i; k++) {
      const linear_unit *a = &c->unit[i], *b = &c->unit[k];
      memset(index, 0, TESELA_MAX_RANK * sizeof *index);
      index[a->dim] = (int64_t)1 << a->bit;
      index[b->dim] += (int64_t)1 << b->bit;
      if (index[a->dim] >= c->layout->shape[a->dim]) continue;
      (void)tesela_layout_place_of(c->layout, index, place, NULL);
      if (linear_join_place(c, place) != (a->word ^ b->word)) return true;
    }
  return false;
}

/* The verdict of a layout that is linear on its elements. */
static tesela_status linear_fits(const tesela_layout *layout, const tesela_linear *out,
                                 tesela_translation *answer) {
  bool padded = false;
  for (int32_t d = 0; d < layout->rank; d++) {
    answer->shape[d] = (int64_t)1 << out->out[d].bits;
    padded = padded || answer->shape[d] != layout->shape[d];
  }
  answer->verdict = padded ? TESELA_VALID_PART : TESELA_EXACT;
  for (int32_t a = 0; a < layout->n_axes; a++)
    if ((int64_t)1 << out->in[a].bits > layout->axis[a].extent) answer->verdict = TESELA_NEEDS_PADDING;
  if (answer->verdict != TESELA_EXACT)
    snprintf(answer->reason, sizeof answer->reason, "%s",
             answer->verdict == TESELA_VALID_PART ? "the text is of a larger array: extents are powers of two"
                                                  : "powers of two need more places than the layout has");
  return TESELA_OK;
}

/* Compare; if word number `word` is a XOR of words before it, only the elements before that unit, as the others are in conflict. */
static tesela_status linear_decide(const linear_candidate *c, int32_t shared, uint64_t others,
                                   tesela_linear *out, tesela_translation *answer, tesela_error *err) {
  linear_candidate part = *c;
  tesela_layout before;
  tesela_difference difference = {.same = true};
  bool possible = true;
  int64_t index[TESELA_MAX_RANK];
  tesela_status status = TESELA_OK;
  if (shared >= 0) {
    status = linear_before(c, shared, &before, err);
    part.layout = &before;
    part.n_units = shared;
  }
  if (status == TESELA_OK) status = linear_compare(&part, out, &possible, &difference, err);
  if (status == TESELA_E_UNSUPPORTED && linear_find_pair(c, index))
    return linear_not_linear(c, index, answer);
  if (status != TESELA_OK) return status;
  if (!possible)
    return linear_impossible(answer,
                             "some places hold no element, and an array without dims cannot be padded");
  if (!difference.same) return linear_not_linear(c, difference.index, answer);
  return shared >= 0 ? linear_not_alone(c, shared, others, answer) : linear_fits(c->layout, out, answer);
}

tesela_status tesela_linear_from_layout(const tesela_layout *layout, tesela_linear *out,
                                        tesela_translation *answer, tesela_error *err) {
  TESELA__NEED(err, layout, out, answer);
  linear_candidate c = {.layout = layout};
  tesela__echelon e;
  uint64_t others = 0;
  int32_t word = -1;
  tesela_linear found;
  tesela_translation result = {.verdict = TESELA_EXACT, .rank = layout->rank, .places = 1};
  tesela_status status = tesela__check_finished(layout, err);
  if (status == TESELA_OK) status = linear_size_axes(&c, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < layout->rank; d++) result.shape[d] = layout->shape[d];
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (!tesela__mul(result.places, layout->axis[a].extent, &result.places))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of places does not fit in 64 bits");
  int64_t copies = tesela_layout_copies(layout), zero[TESELA_MAX_RANK] = {0};
  linear_probe(&c);
  bool shared = linear_find_shared(&c, &e, &word, &others);
  bool copied = shared && word < c.n_copies;
  if (!tesela__is_empty(layout) && (copies & (copies - 1)) != 0) {
    char text[64];
    snprintf(text, sizeof text, "each element has %" PRId64 " copies, not a power of two", copies);
    status = linear_impossible(&result, text);
  } else if (copied) {
    status = linear_impossible(&result, "copies of an element share a place");
  } else if (c.start != 0 && !linear_is_copy(&c)) {
    status = linear_not_linear(&c, zero, &result);
  } else {
    status = linear_decide(&c, shared ? word - c.n_copies : -1, others, &found, &result, err);
    if (status == TESELA_OK && result.verdict != TESELA_IMPOSSIBLE) *out = found;
  }
  if (status == TESELA_OK) *answer = result;
  return status;
}
