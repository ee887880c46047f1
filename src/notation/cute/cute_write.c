/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_write.c - the row cute: any layout as a CuTe layout, or the reason why no text has its places.
 */
#include <stdio.h>

#include "layout/layout.h"
#include "notation/cute/cute_row.h"

static tesela_status cute_conflict(const tesela_layout *layout, const tesela__cute_conflict *conflict,
                                   tesela_translation *answer) {
  char text[100] = "";
  size_t used = 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    answer->index[d] = conflict->index[d];
    if (used < sizeof text)
      used +=
          (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, d ? "," : "", conflict->index[d]);
  }
  (void)tesela_layout_place_of(layout, conflict->index, &answer->place, NULL); /* an element */
  if (!conflict->certain) {
    answer->contradiction = TESELA_CONTRADICTION_ELEMENT;
    return tesela__impossible(answer, "no extents, strides and swizzle give the places up to element (%s)",
                              text);
  }
  answer->contradiction = TESELA_CONTRADICTION_PLACE;
  answer->expected = conflict->expected;
  return tesela__impossible(answer,
                            "element (%s) is at place %" PRId64 "; the elements before it force %" PRId64,
                            text, answer->place, answer->expected);
}

/* The text's array is larger: do its further elements need other places? */
static tesela_status cute_larger(const tesela_layout *layout, const tesela__cute_modes *modes,
                                 const int64_t *cut, tesela_translation *answer, tesela_error *err) {
  tesela_layout text;
  bool larger = false;
  for (int32_t d = 0; d < layout->rank; d++) {
    larger = larger || cut[d] != answer->shape[d];
    answer->shape[d] = cut[d];
  }
  if (!larger) return TESELA_OK;
  tesela_status status = tesela__cute_modes_to_layout(modes, layout, cut, 0, &text, err);
  if (status == TESELA_E_RANGE)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the only text is of a larger array, with places below 0");
  if (status != TESELA_OK) return status;
  int64_t needed = text.axis[0].extent, places = layout->axis[0].extent;
  answer->verdict = needed > places ? TESELA_NEEDS_PADDING : TESELA_VALID_PART;
  if (needed > places)
    (void)snprintf(answer->reason, sizeof answer->reason,
                   "the text is of a larger array, which needs %" PRId64 " places instead of %" PRId64,
                   needed, places);
  else
    (void)snprintf(answer->reason, sizeof answer->reason,
                   "the text is of a larger array; its further elements are padding");
  return TESELA_OK;
}

static tesela_status cute_write_memory(const tesela_layout *layout, const tesela_writer *to,
                                       tesela_translation *answer, tesela_error *err) {
  tesela__cute_modes modes = {.n = 0};
  tesela__cute_conflict conflict = {.found = false};
  tesela_cute cute;
  int64_t shape[TESELA_MAX_RANK], cut[TESELA_MAX_RANK];
  tesela_status status = TESELA_OK;
  bool empty = tesela__is_empty(layout);
  if (!empty && tesela_layout_copies(layout) != 1)
    return tesela__impossible(answer, "every element has %" PRId64 " places; a CuTe layout gives it one",
                              tesela_layout_copies(layout));
  for (int32_t d = 0; d < layout->rank; d++) {
    shape[d] = tesela__max(layout->shape[d], 1);
    if (empty && shape[d] > 1) modes.leaf[modes.n++] = (tesela__mode_leaf){d, 1, 0};
  }
  if (!empty) status = tesela__cute_factor(layout, &modes, &conflict, err);
  if (status != TESELA_OK) return status;
  if (conflict.found) return cute_conflict(layout, &conflict, answer);
  status = tesela__cute_from_modes(&modes, layout->rank, shape, &cute, cut, err);
  if (status == TESELA_OK) status = cute_larger(layout, &modes, cut, answer, err);
  return status == TESELA_OK ? tesela_cute_print(&cute, to, err) : status;
}

/* ---- basis strides ---- */

/* "c1_0": the path 0@1; false for other names. */
static bool cute_path(const char *name, uint8_t *n, uint8_t *path) {
  uint32_t numbers[TESELA_CUTE_PATH] = {0};
  int32_t count = 0;
  while (*name == (count == 0 ? 'c' : '_') && count < TESELA_CUTE_PATH && name[1] >= '0' && name[1] <= '9') {
    for (name++; *name >= '0' && *name <= '9' && numbers[count] <= UINT8_MAX; name++)
      numbers[count] = numbers[count] * 10 + (uint32_t)(*name - '0');
    if (numbers[count++] > UINT8_MAX) return false;
  }
  for (int32_t k = 0; k < count; k++) path[k] = (uint8_t)numbers[count - 1 - k];
  *n = (uint8_t)count;
  return count > 0 && *name == '\0';
}

/* Several axes are coordinates: the digits of the canonical form as they are. */
static tesela_status cute_write_basis(const tesela_layout *layout, const tesela_writer *to,
                                      tesela_translation *answer, tesela_error *err) {
  tesela__cute_modes modes = {.n = 0};
  tesela_layout form;
  tesela_cute cute;
  int32_t axis[TESELA_CUTE_LEAVES], next = 0;
  int64_t cut[TESELA_MAX_RANK];
  bool direct = true;
  tesela_status status = tesela_layout_canonical(layout, &form, err);
  if (status != TESELA_OK) return status;
  direct = form.n_joins == 0 && form.swizzle.n == 0 && form.n_mapped <= TESELA_CUTE_LEAVES &&
           !tesela__is_empty(layout) && tesela_layout_copies(layout) == 1;
  for (int32_t a = 0; a < form.n_axes; a++) {
    uint8_t n, path[TESELA_CUTE_PATH];
    direct = direct && form.axis[a].offset == 0 && cute_path(form.axis[a].name, &n, path);
  }
  for (int32_t d = 0; d < form.rank && direct; d++) {
    tesela__chain chain = tesela__chain_of(&form, d);
    for (int32_t k = chain.n - 1; k >= 0; k--) {
      const tesela_digit *digit = &form.digit[chain.first + k];
      direct = direct && (k == chain.n - 1 || digit->step % form.digit[chain.first + k + 1].step == 0);
      axis[modes.n] = digit->axis;
      modes.leaf[modes.n++] = (tesela__mode_leaf){d, digit->step, digit->stride};
    }
  }
  if (!direct)
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, -1,
        "cannot write these axes as CuTe; expected memory, thread and local, or c0, c1, ... with "
        "steps that divide each other");
  status = tesela__cute_from_modes(&modes, form.rank, form.shape, &cute, cut, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < cute.n; i++) /* leaves without modes have stride 0 */
    if (cute.extent[i] > 1) (void)cute_path(form.axis[axis[next++]].name, &cute.n_path[i], cute.path[i]);
  for (int32_t d = 0; d < form.rank; d++) {
    if (cut[d] != answer->shape[d]) answer->verdict = TESELA_VALID_PART;
    answer->shape[d] = cut[d];
  }
  return tesela_cute_print(&cute, to, err);
}

tesela_status tesela__cute_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err) {
  uint8_t n, path[TESELA_CUTE_PATH];
  if (tesela__axes_are_threads(layout) || tesela__axes_are_lanes(layout))
    return tesela__tv_write(layout, to, answer, err);
  if (layout->n_axes == 1 && !cute_path(layout->axis[0].name, &n, path))
    return cute_write_memory(layout, to, answer, err);
  return cute_write_basis(layout, to, answer, err);
}
