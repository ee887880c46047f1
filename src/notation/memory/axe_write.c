/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axe_write.c - a layout as a text of Axe: the parts of the row-major number of an element, from the least on.
 *
 * A part begins where the one before ends, on the only axis on which that neighbour of element 0 is elsewhere, and ends at the first multiple
 * that is not linear; so there is one candidate. Whether all elements follow is a comparison.
 */
#include "base/base.h"
#include "layout/factor.h"
#include "layout/refute.h"
#include "notation/memory/axe.h"

typedef struct axe_search {
  const tesela_layout *line; /* the layout as an array of one dim, or its first elements */
  int64_t elements;          /* of all of it */
  int32_t name[TESELA_MAX_AXES];
  int64_t base[TESELA_MAX_AXES]; /* the places of element 0 */
  int32_t n;                     /* parts, the least first */
  int64_t extent[TESELA_MAX_RANK + 64], stride[TESELA_MAX_RANK + 64];
  int32_t axis[TESELA_MAX_RANK + 64];
} axe_search;

/* Axe's names of the axes; false: one has none. */
static bool axe_name_axes(const tesela_layout *layout, int32_t *name) {
  static const char *const known[][2] = {{"thread", "tx"},   {"local", "m"},     {"register", "m"},
                                         {"lane", "laneid"}, {"warp", "warpid"}, {"block", "cbx"},
                                         {"memory", "m"}};
  bool used[TESELA__AXE_NAMES] = {false};
  tesela__axe_order order;
  for (int32_t a = 0; a < layout->n_axes; a++) {
    const char *word = layout->axis[a].name;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
      if (strcmp(word, known[k][0]) == 0) word = known[k][1];
    for (name[a] = 0; name[a] < TESELA__AXE_NAMES && strcmp(word, tesela__axe_name(name[a])) != 0;) name[a]++;
    if (name[a] == TESELA__AXE_NAMES && layout->n_axes == 1) name[a] = TESELA__AXE_M;
    if (name[a] == TESELA__AXE_NAMES || used[name[a]]) return false;
    used[name[a]] = true;
  }
  tesela__axe_axes(used, &order);
  if (layout->n_axes == 1) return true;
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (order.n != layout->n_axes || order.axis[a] != name[a] ||
        strcmp(order.name[a], layout->axis[a].name) != 0)
      return false;
  return true;
}

/* An array with the axes and replicas of the layout and its first element; the caller places the dims. */
static tesela_status axe_frame(const axe_search *s, int32_t rank, const int64_t *shape, tesela_layout *out,
                               tesela_error *err) {
  const tesela_layout *of = s->line;
  int32_t digit, axis;
  tesela_status status = tesela_layout_begin(out, of->dtype, of->bits, rank, shape, err);
  for (int32_t a = 0; a < of->n_axes && status == TESELA_OK; a++) {
    status = tesela_layout_add_axis(out, of->axis[a].name, &axis, err);
    if (status == TESELA_OK) status = tesela_layout_set_axis(out, a, s->base[a], -1, err);
  }
  for (int32_t i = 0; i < of->n_active && status == TESELA_OK; i++) {
    if (of->digit[i].source != TESELA_REPLICA) continue;
    status = tesela_layout_add_digit(out, TESELA_REPLICA, of->digit[i].extent, &digit, err);
    if (status == TESELA_OK)
      status = tesela_layout_place(out, digit, of->digit[i].axis, of->digit[i].stride, err);
  }
  return status;
}

/* The values of the number, in steps of `step`, whose places are linear: `stride` on `axis`. */
static tesela_status axe_run(const axe_search *s, int64_t step, int32_t axis, int64_t stride, int64_t *q,
                             tesela_error *err) {
  tesela_layout steps, linear;
  tesela_difference difference;
  int64_t n = tesela__ceil_div(s->line->shape[0], step);
  if (stride > 0)
    n = tesela__min(n, (INT64_MAX - 1 - s->base[axis]) / stride + 1); /* further ones are outside the axis */
  if (stride < 0) n = tesela__min(n, s->base[axis] / -stride + 1);
  tesela_status status = tesela_layout_slice(s->line, 0, 0, n, step, &steps, err);
  if (status == TESELA_OK) status = axe_frame(s, 1, &n, &linear, err);
  if (status == TESELA_OK) status = tesela_layout_place(&linear, 0, axis, stride, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&linear, err);
  if (status == TESELA_OK) status = tesela_layout_compare(&steps, &linear, &difference, err);
  if (status == TESELA_OK) *q = difference.same ? n : difference.index[0];
  return status;
}

/* Find the parts. *found is false if an element moves on two axes, or a part does not divide the rest. */
static tesela_status axe_decode(axe_search *s, bool *found, tesela_error *err) {
  int64_t n = s->line->shape[0], done = 1, zero = 0, place[TESELA_MAX_AXES];
  tesela_status status = n > 0 ? tesela_layout_place_of(s->line, &zero, s->base, err) : TESELA_OK;
  *found = true;
  while (status == TESELA_OK && done < n) {
    int32_t axis = -1;
    int64_t q = 1;
    status = tesela_layout_place_of(s->line, &done, place, err);
    for (int32_t a = 0; a < s->line->n_axes; a++)
      if (place[a] != s->base[a]) {
        *found = *found && axis < 0;
        axis = a;
      }
    if (axis < 0) axis = 0;
    if (status == TESELA_OK && *found) status = axe_run(s, done, axis, place[axis] - s->base[axis], &q, err);
    bool cut = n < s->elements && q >= tesela__ceil_div(n, done); /* the part may be longer */
    *found = *found && q > 1 && s->elements % done == 0 && (cut || s->elements / done % q == 0) && s->n < 64;
    if (status != TESELA_OK || !*found) return status;
    s->extent[s->n] = q;
    s->stride[s->n] = place[axis] - s->base[axis];
    s->axis[s->n++] = axis;
    done *= q;
  }
  return status;
}

/* Cut a part in two where a dim of the array ends. */
static void axe_cut(axe_search *s, int64_t at) {
  int64_t done = 1;
  for (int32_t i = 0; i < s->n && s->n < TESELA_MAX_RANK; i++) {
    int64_t low = done > 0 && at % done == 0 ? at / done : 0;
    if (low > 1 && low < s->extent[i] && s->extent[i] % low == 0) {
      memmove(&s->extent[i + 1], &s->extent[i], (size_t)(s->n - i) * sizeof s->extent[0]);
      memmove(&s->stride[i + 1], &s->stride[i], (size_t)(s->n - i) * sizeof s->stride[0]);
      memmove(&s->axis[i + 1], &s->axis[i], (size_t)(s->n - i) * sizeof s->axis[0]);
      s->n++;
      s->extent[i] = low;
      s->extent[i + 1] /= low;
      s->stride[i + 1] *= low;
      return;
    }
    done *= s->extent[i];
  }
}

/* Do the first k + 1 parts, the last with `values` values, give the places from element `start` on? */
static tesela_status axe_same_from(const axe_search *s, int32_t k, int64_t values, int64_t start, bool *same,
                                   tesela_error *err) {
  tesela_layout all, line;
  tesela_difference difference;
  tesela__factors factors = {.n = k + 1};
  int64_t done = 1;
  *same = false;
  for (int32_t i = 0; i <= k; done *= i < k ? s->extent[i] : values, i++)
    factors.factor[i] = (tesela__factor){done, i < k ? s->extent[i] : values, s->stride[i], s->axis[i]};
  tesela_status status = tesela_layout_slice(s->line, 0, start, done, 1, &line, err);
  if (status != TESELA_OK) return status;
  if (axe_frame(s, 1, &done, &all, NULL) != TESELA_OK) return TESELA_OK; /* a place below 0 */
  status = tesela__place_factors(&all, 0, &factors, err);
  if (status != TESELA_OK) return status;
  if (tesela_layout_finish(&all, NULL) != TESELA_OK) return TESELA_OK;
  status = tesela_layout_compare(&line, &all, &difference, err);
  *same = status == TESELA_OK && difference.same;
  return status;
}

/* Do the parts give all places? First the values of the last part that are whole, then the rest in those of the part below. */
static tesela_status axe_same(const axe_search *s, bool *same, tesela_error *err) {
  axe_search rest = *s;
  int64_t start = 0, done = 1;
  tesela_status status = TESELA_OK;
  if (s->n == 0) return axe_same_from(s, -1, 1, 0, same, err);
  *same = true;
  for (int32_t i = 0; i < s->n - 1; i++) done *= s->extent[i];
  for (int32_t k = s->n - 1; k >= 0 && *same && status == TESELA_OK; k--) {
    int64_t values = (s->line->shape[0] - start) / done;
    if (values > 0) status = axe_same_from(&rest, k, values, start, same, err);
    start += values * done;
    rest.base[s->axis[k]] += values * s->stride[k];
    done /= k > 0 ? s->extent[k - 1] : 1;
  }
  return status;
}

static tesela_status axe_expresses(const void *search, const tesela_layout *line, bool *possible,
                                   tesela_error *err) {
  axe_search s = *(const axe_search *)search;
  s.line = line;
  s.n = 0;
  tesela_status status = axe_decode(&s, possible, err);
  return status == TESELA_OK && *possible ? axe_same(&s, possible, err) : status;
}

/* The first element that contradicts, of layouts without copies on one axis. */
static tesela_status axe_refute(const tesela_layout *layout, const axe_search *s, bool found,
                                tesela_translation *answer, tesela_error *err) {
  tesela_layout canonical;
  if (tesela_layout_copies(layout) > 1 && layout->swizzle.n > 0 &&
      tesela_layout_canonical(layout, &canonical, err) == TESELA_OK && canonical.swizzle.n > 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "cannot decide: a swizzle turns the copies of an element");
  if (layout->n_axes == 1 && tesela_layout_copies(layout) == 1) {
    tesela_status status = tesela__refute(s->line, axe_expresses, s, answer, err);
    if (status == TESELA_OK) tesela__refute_steps(s->line, true, answer);
    if (status == TESELA_OK)
      status =
          tesela_index_from_number(layout->rank, layout->shape, NULL, answer->index[0], answer->index, err);
    if (status != TESELA_OK && status != TESELA_E_UNSUPPORTED) return status;
  }
  return tesela__impossible(
      answer,
      found ? "no extents and strides of Axe give the places of all elements"
            : "no extents split the element number: a part is on two axes, or does not divide the rest");
}

static void axe_put_stride(tesela__sink *sink, int64_t stride, int32_t name) {
  tesela__put_int(sink, stride);
  if (name != TESELA__AXE_M) tesela__putf(sink, "@%s", tesela__axe_name(name));
}

/* "[(2, 4) : (8, 1@laneid)]", the most significant part first. */
static void axe_put(tesela__sink *sink, const axe_search *s, int32_t n, const int64_t *extent,
                    const int64_t *stride, const int32_t *axis) {
  tesela__puts(sink, n == 1 ? "[" : "[(");
  for (int32_t i = n - 1; i >= 0; i--) tesela__putf(sink, "%s%" PRId64, i < n - 1 ? ", " : "", extent[i]);
  tesela__puts(sink, n == 1 ? " : " : ") : (");
  for (int32_t i = n - 1; i >= 0; i--) {
    if (i < n - 1) tesela__puts(sink, ", ");
    axe_put_stride(sink, stride[i], s->name[axis[i]]);
  }
  tesela__puts(sink, n == 1 ? "]" : ")]");
}

static tesela_status axe_print(const axe_search *s, const tesela_writer *to, tesela_error *err) {
  tesela__sink sink;
  int64_t extent[TESELA_MAX_DIGITS], stride[TESELA_MAX_DIGITS];
  int32_t axis[TESELA_MAX_DIGITS], n = 0;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "S");
  axe_put(&sink, s, s->n, s->extent, s->stride, s->axis);
  for (int32_t i = s->line->n_active - 1; i >= 0; i--) {
    if (s->line->digit[i].source != TESELA_REPLICA) continue;
    extent[n] = s->line->digit[i].extent;
    stride[n] = s->line->digit[i].stride;
    axis[n++] = s->line->digit[i].axis;
  }
  if (n > 0) {
    tesela__puts(&sink, " + R");
    axe_put(&sink, s, n, extent, stride, axis);
  }
  for (int32_t a = 0; a < s->line->n_axes; a++) {
    bool used =
        s->name[a] == TESELA__AXE_M && strcmp(s->line->axis[a].name, "m") != 0; /* read even without a part */
    for (int32_t i = 0; i < s->n; i++) used = used || s->axis[i] == a;
    for (int32_t i = 0; i < n; i++) used = used || axis[i] == a;
    if (used && s->base[a] == 0) continue;
    tesela__puts(&sink, " + ");
    axe_put_stride(&sink, s->base[a], s->name[a]);
  }
  return tesela__sink_finish(&sink, err);
}

/* Parts for the writer: cut where a dim ends; one at least. */
static void axe_finish(const tesela_layout *layout, axe_search *s) {
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    int64_t at = 1;
    for (int32_t i = d; i < layout->rank; i++) at *= layout->shape[i];
    if (at > 0) axe_cut(s, at);
  }
  if (s->n > 0) return;
  s->extent[0] = s->elements;
  s->stride[0] = 1;
  s->axis[0] = 0;
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (s->name[a] == TESELA__AXE_M) s->axis[0] = a;
  s->n = 1;
}

tesela_status tesela__axe_write(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err) {
  tesela_layout form, line;
  bool found, same = true;
  axe_search s = {.line = &line, .elements = 1};
  if (!axe_name_axes(layout, s.name))
    return tesela__impossible(answer, "Axe has no axes of these names in this order");
  for (int32_t d = 0; d < layout->rank; d++) s.elements *= layout->shape[d]; /* begin checked it */
  tesela_status status =
      tesela_layout_canonical(layout, &form, err); /* strides of copies without a swizzle */
  if (status == TESELA_OK) status = tesela_layout_reshape(&form, 1, &s.elements, &line, err);
  if (status == TESELA_OK) status = axe_decode(&s, &found, err);
  if (status == TESELA_OK && found && s.elements > 0) status = axe_same(&s, &same, err);
  if (status != TESELA_OK) return status;
  if (s.elements > 0 && !(found && same)) return axe_refute(layout, &s, found, answer, err);
  if (s.n > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d extents", TESELA_MAX_RANK);
  axe_finish(layout, &s);
  return axe_print(&s, to, err);
}

tesela_status tesela__axe_print_any(const tesela_any_layout *any, const tesela_writer *to,
                                    tesela_error *err) {
  const tesela_layout *layout = &any->relation;
  const char *type = tesela_dtype_name(layout->dtype);
  tesela_translation answer;
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  if (type) tesela__puts(&sink, type);
  for (int32_t d = 0; d < layout->rank; d++)
    tesela__putf(&sink, "%c%" PRId64, d ? ',' : '[', layout->shape[d]);
  tesela__puts(&sink, layout->rank ? "] " : "[] ");
  tesela_status status = tesela__sink_finish(&sink, err);
  if (status == TESELA_OK) status = tesela__start_answer(layout, &answer, err);
  if (status == TESELA_OK) status = tesela__axe_write(layout, to, &answer, err);
  if (status == TESELA_OK && answer.verdict == TESELA_IMPOSSIBLE)
    status =
        tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "an Axe layout cannot express it: %s", answer.reason);
  return status;
}
