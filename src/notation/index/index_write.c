/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_write.c - a layout as one expression per axis, or as coordinates whose row-major order is its places.
 */
#include <stdio.h>
#include <string.h>

#include "layout/layout.h"
#include "notation/index/index.h"

enum { INDEX_TERMS = 4096, INDEX_RESULTS = 64, INDEX_COPIES = 64 };

static tesela_status index_copies(const tesela_layout *layout, tesela_translation *answer) {
  int64_t first[TESELA_MAX_AXES] = {0}, second[TESELA_MAX_AXES], copies = tesela_layout_copies(layout);
  answer->contradiction = TESELA_CONTRADICTION_PLACE; /* of element 0 */
  (void)tesela_layout_copy_of(layout, answer->index, 0, first, NULL);
  memcpy(second, first, sizeof second);
  for (int64_t k = 1; k < copies && k < INDEX_COPIES && memcmp(first, second, sizeof first) == 0; k++)
    (void)tesela_layout_copy_of(layout, answer->index, k, second, NULL);
  while (answer->axis + 1 < layout->n_axes && first[answer->axis] == second[answer->axis]) answer->axis++;
  answer->place = second[answer->axis];
  answer->expected = first[answer->axis];
  return tesela__impossible(
      answer, "an index expression has one place for an element; this layout has %" PRId64, copies);
}

/* "thread[32],local[4]" */
static tesela_status index_as(const tesela_layout *form, tesela_translation *answer, tesela_error *err) {
  size_t n = 0;
  if (form->n_axes == 1) return TESELA_OK;
  for (int32_t a = 0; a < form->n_axes && n < sizeof answer->as; a++)
    n += (size_t)snprintf(answer->as + n, sizeof answer->as - n, "%s%s[%" PRId64 "]", a ? "," : "",
                          form->axis[a].name, form->axis[a].extent);
  if (n < sizeof answer->as) return TESELA_OK;
  return tesela__fail(err, TESELA_E_LIMIT, -1, "the names of the axes need more than %zu bytes",
                      sizeof answer->as - 1);
}

tesela_status tesela__index_expressible(const tesela_layout *layout, tesela_layout *form,
                                        tesela_translation *answer, tesela_error *err) {
  tesela_status status = tesela_layout_canonical(layout, form, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes == 0) return tesela__impossible(answer, "the layout has no axis");
  if (tesela__is_empty(form)) { /* any expression will do */
    form->n_active = form->n_mapped = 0;
    memset(&form->swizzle, 0, sizeof form->swizzle);
    for (int32_t a = 0; a < form->n_axes; a++) form->axis[a].offset = 0;
  } else if (tesela_layout_copies(form) != 1) {
    return index_copies(layout, answer);
  }
  if (form->n_axes > 1) status = tesela__check_axis_names(form, err);
  for (int32_t a = 0; a < form->n_axes && status == TESELA_OK; a++)
    if (tesela__sum_terms(form, a) > INDEX_TERMS)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "an expression of more than %d terms", INDEX_TERMS);
  return status == TESELA_OK ? index_as(form, answer, err) : status;
}

int32_t tesela__index_chain(const tesela_layout *form, int32_t *digit) {
  int32_t n = 0;
  int64_t stride = 1;
  if (form->n_axes != 1 || form->n_joins > 0 || form->swizzle.n > 0 || form->axis[0].offset != 0 ||
      form->n_mapped < form->n_active || tesela__is_empty(form))
    return -1;
  for (int32_t k = 0; k < form->n_active; k++) /* only of one axis: by decreasing |stride| */
    if (form->digit[form->by_place[k]].stride != 0) digit[n++] = form->by_place[k];
  for (int32_t k = n - 1; k >= 0; k--) {
    const tesela_digit *d = &form->digit[digit[k]];
    bool top =
        tesela__chain_of(form, d->source).first == digit[k]; /* others are remainders by the step before */
    int64_t high = (top ? form->shape[d->source] : form->digit[digit[k] - 1].step) - 1;
    if (d->stride != stride || !tesela__mul(stride, high / d->step + 1, &stride)) return -1;
  }
  return n <= INDEX_RESULTS ? n : -1;
}

void tesela__index_put_dims(tesela__sink *sink, const tesela_layout *form) {
  for (int32_t d = 0; d < form->rank; d++) tesela__putf(sink, "%sd%" PRId32, d ? ", " : "", d);
}

void tesela__index_put_results(tesela__sink *sink, const tesela__spelling *sp, const tesela__results *around,
                               const tesela_layout *form) {
  int32_t digit[TESELA_MAX_DIGITS], n = tesela__index_chain(form, digit), count = n > 0 ? n : form->n_axes;
  if (count > 1 || around->always) tesela__puts(sink, around->open);
  for (int32_t k = 0; k < count; k++) {
    if (k > 0) tesela__puts(sink, n > 0 ? ", " : around->separator);
    if (n > 0)
      tesela__put_digit(sink, sp, form, digit[k]);
    else
      tesela__put_place_on(sink, sp, form, k);
  }
  if (count > 1 || around->always) tesela__puts(sink, around->close);
}
