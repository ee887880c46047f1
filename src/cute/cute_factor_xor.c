/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_factor_xor.c - the modes of a layout after one shifted XOR, which is its own inverse: all of them are tried.
 *
 * Layouts of at most 4096 elements are factored from their values. Of others, their own XOR is the first, and the values up to the element that contradicts modes
 * without XOR refute nearly every XOR before a comparison.
 */
#include "cute/cute_factor.h"

enum { XOR_VALUES = 4096, XOR_LARGE = 16 };

typedef struct xor_search {
  const tesela_layout *layout; /* NULL: of values alone */
  tesela__cute_modes *modes;   /* the best so far, if `has` */
  bool has;
  int32_t large; /* tries with comparisons */
  tesela__cute_box box;
  bool whole;                  /* the box is the layout */
  tesela_status undecided;     /* of a try; TESELA_OK: all are decided */
  tesela__cute_conflict worst; /* the latest one: every XOR contradicts there, or before */
} xor_search;

/* Values of a part that begins at element 0 and is at most `end` long. */
static void xor_values(xor_search *s, const int64_t *end, int64_t *value) {
  int64_t n = 1, index[TESELA_MAX_RANK] = {0};
  s->box.rank = s->layout->rank;
  for (int32_t d = 0; d < s->box.rank; d++) s->box.extent[d] = tesela__min(end[d], s->layout->shape[d]);
  for (;;) {
    int32_t longest = 0, d = 0;
    for (n = 1; d < s->box.rank && tesela__mul(n, s->box.extent[d], &n) && n <= XOR_VALUES;) d++;
    if (d == s->box.rank) break;
    for (d = 1; d < s->box.rank; d++)
      if (s->box.extent[d] > s->box.extent[longest]) longest = d;
    s->box.extent[longest] = s->box.extent[longest] / 2;
  }
  s->whole = true;
  for (int32_t d = 0; d < s->box.rank; d++) s->whole = s->whole && s->box.extent[d] == s->layout->shape[d];
  for (int64_t i = 0; i < n; i++) {
    (void)tesela_layout_place_of(s->layout, index, &value[i], NULL); /* an element */
    (void)tesela_index_next(s->box.rank, s->box.extent, index);
  }
  s->box.value = value;
}

/* Keep the later conflict; of two at one element the place is forced only if it is the same. */
static void xor_keep(xor_search *s, const tesela__cute_conflict *conflict) {
  int order = !s->worst.found ? 1 : tesela_index_compare(s->box.rank, conflict->index, s->worst.index);
  if (order > 0)
    s->worst = *conflict;
  else if (order == 0 && (!conflict->certain || conflict->expected != s->worst.expected))
    s->worst.certain = false;
}

/* Do the modes divide the shape? Otherwise their text is of a larger array. */
static bool xor_is_exact(const xor_search *s, const tesela__cute_modes *modes) {
  const int64_t *shape = s->layout ? s->layout->shape : s->box.extent;
  for (int32_t i = 0; i < modes->n; i++)
    if (shape[modes->leaf[i].dim] % modes->leaf[i].step != 0) return false;
  return true;
}

/* The XOR of a layout with one axis, if it is a single shifted one. */
static bool xor_of(const tesela_layout *layout, tesela__cute_modes *modes) {
  const tesela_bit_matrix *m = &layout->swizzle;
  int32_t first = 0, n = 0, shift = 0;
  for (int32_t k = 0; k < m->n; k++) {
    uint64_t flipped = m->image[k] ^ (uint64_t)1 << k;
    int32_t to = 0;
    if (flipped == 0) continue;
    while (!(flipped >> to & 1)) to++;
    if (flipped != (uint64_t)1 << to || (n > 0 && (k != first + n || k - to != shift))) return false;
    if (n++ == 0) first = k;
    shift = k - to;
  }
  int32_t distance = shift < 0 ? -shift : shift;
  *modes = (tesela__cute_modes){.bits = n, .base = shift > 0 ? first - shift : first, .shift = shift};
  return n > 0 && distance >= n && modes->base + distance + n <= 62;
}

/* Try the XOR of the modes. True: they are exact, so the search ends. */
static bool xor_try(xor_search *s, tesela__cute_modes *modes, tesela_error *err) {
  tesela__cute_conflict conflict = {.found = false};
  tesela_status status = tesela__cute_factor_values(&s->box, modes, &conflict, err);
  if (status == TESELA_OK && !conflict.found && !s->whole)
    status = s->large++ < XOR_LARGE ? tesela__cute_factor_large(s->layout, modes, &conflict, err)
                                    : tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                                                   "cannot decide: too many swizzles agree so far");
  if (status != TESELA_OK) {
    s->undecided = status;
    return false;
  }
  if (conflict.found) {
    xor_keep(s, &conflict);
    return false;
  }
  bool exact = xor_is_exact(s, modes), forward = modes->offset == 0;
  for (int32_t i = 0; i < modes->n; i++) forward = forward && modes->leaf[i].stride >= 0;
  if (!s->layout && modes->bits > 0 && !(exact && forward)) return false;
  if (exact || !s->has) *s->modes = *modes;
  s->has = true;
  return exact;
}

/* All XORs that change places below 2^width. One that reads bits of places and writes above them may start at `width`. */
static void xor_search_all(xor_search *s, int32_t width, tesela_error *err) {
  tesela__cute_modes modes;
  for (int32_t bits = 1; bits <= width; bits++)
    for (int32_t distance = bits; distance <= width; distance++)
      for (int32_t base = 0; base < width; base++)
        for (int32_t sign = 1; sign >= -1; sign -= 2) {
          bool changes = sign > 0 ? base + distance + bits <= width : base + bits <= width;
          if (!changes || base + distance > width || base + distance + bits > 62) continue;
          modes.bits = bits;
          modes.base = base;
          modes.shift = sign * distance;
          if (xor_try(s, &modes, err)) return;
        }
}

tesela_status tesela__cute_factor(const tesela_layout *layout, tesela__cute_modes *modes,
                                  tesela__cute_conflict *conflict, tesela_error *err) {
  int64_t value[XOR_VALUES], end[TESELA_MAX_RANK];
  xor_search s = {.layout = layout, .modes = modes, .undecided = TESELA_OK, .worst = {.found = false}};
  tesela__cute_modes plain = {.bits = 0}, own;
  int32_t width = 0;
  conflict->found = false;
  for (int32_t d = 0; d < layout->rank; d++) end[d] = layout->shape[d];
  xor_values(&s, end, value);
  if (!s.whole && xor_of(layout, &own) && xor_try(&s, &own, err)) return TESELA_OK;
  if (xor_try(&s, &plain, err) || (s.has && layout->swizzle.n == 0)) return TESELA_OK;
  const tesela__cute_conflict first = s.worst;
  if (!s.whole && first.found) {
    for (int32_t d = 0; d < layout->rank; d++) end[d] = first.index[d] + 1;
    xor_values(&s, end, value);
  }
  while (width < 62 && (layout->axis[0].extent - 1) >> width > 0) width++;
  xor_search_all(&s, width, err);
  if (s.has) return TESELA_OK;
  *conflict = layout->swizzle.n == 0 ? first : s.worst;
  return s.undecided;
}

tesela_status tesela__cute_factor_map(const tesela__cute_box *box, int32_t width, tesela__cute_modes *modes,
                                      tesela__cute_conflict *conflict, tesela_error *err) {
  xor_search s = {
      .modes = modes, .box = *box, .whole = true, .undecided = TESELA_OK, .worst = {.found = false}};
  tesela__cute_modes plain = {.bits = 0};
  conflict->found = false;
  (void)xor_try(&s, &plain, err);
  if (s.undecided != TESELA_OK || s.has) return s.undecided;
  *conflict = s.worst;
  xor_search_all(&s, width, err);
  conflict->found = !s.has;
  return TESELA_OK;
}
