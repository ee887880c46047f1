/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_tile_known.c - see support_tile_known.h.
 */
#include "support_tile_known.h"

const char *tile_text(const tesela_tile_memory *t) {
  static char text[512];
  int n = snprintf(text, sizeof text, "shape");
  for (int32_t d = 0; d < t->rank; d++)
    n += snprintf(text + n, sizeof text - (size_t)n, " %" PRId64, t->shape[d]);
  for (int32_t m = 0; m < t->n_modes; m++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%" PRId64 ":%" PRId64, m ? " " : "; modes ",
                  t->mode_shape[m], t->mode_strides[m]);
  (void)snprintf(text + n, sizeof text - (size_t)n, "; offset %" PRId64 " size %" PRId64 " swizzle %d %d %d",
                 t->offset, t->size, (int)t->swizzle.base, (int)t->swizzle.bits, (int)t->swizzle.shift);
  return text;
}

void tile_know(known *k, const tile_words *w) {
  tesela_error err = {.message = ""};
  int64_t index[4] = {0};
  if (tesela_tile_memory_make(&k->tile, TESELA_TILE_SHARED, w->rank, w->shape, w->n_modes, w->mode_shape,
                              w->mode_strides, w->offset, &w->swizzle, &err) != TESELA_OK)
    fail_msg("%s", err.message);
  k->n = 0;
  do {
    k->place[k->n] = oracle_tile_place_of_words(w, index);
    k->plain[k->n] = oracle_tile_swizzle(w->swizzle, k->place[k->n]); /* its own inverse */
    k->n++;
  } while (oracle_tile_next(w->rank, w->shape, index));
}

int64_t tile_number(const tesela_tile_memory *t, const int64_t *index) {
  int64_t number = 0;
  for (int32_t d = 0; d < t->rank; d++) number = number * t->shape[d] + index[d];
  return number;
}

void tile_check_form(const tesela_tile_memory *t) {
  int64_t index[TESELA_MAX_RANK] = {0}, place, most = oracle_tile_size(t);
  int32_t m = 0;
  if (t->size < most) fail_msg("size below %" PRId64 ": %s", most, tile_text(t));
  for (int32_t d = 0; d < t->rank; d++)
    for (int64_t left = t->shape[d], k = 0; left > 1; left /= t->mode_shape[m++], k++) {
      if (t->mode_shape[m] < 2 || t->mode_strides[m] < 0) fail_msg("mode %d: %s", m, tile_text(t));
      if (k > 0 && t->mode_strides[m - 1] == t->mode_strides[m] * t->mode_shape[m])
        fail_msg("not joined: %s", tile_text(t));
    }
  assert_int_equal(m, t->n_modes);
  do {
    assert_int_equal(tesela_tile_memory_place(t, index, &place, NULL), TESELA_OK);
    if (place != oracle_tile_place(t, index)) fail_msg("place %" PRId64 ": %s", place, tile_text(t));
  } while (oracle_tile_next(t->rank, t->shape, index));
}
