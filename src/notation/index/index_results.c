/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_results.c - the results of an index expression become places on axes.
 */
#include "base/base.h"
#include "notation/index/index.h"

tesela_status tesela__index_read(const char *text, size_t length, tesela__map_reading read,
                                 const tesela_layout_read_options *options, tesela_any_layout *out,
                                 tesela_error *err) {
  const tesela__reader r = {.text = text,
                            .length = length,
                            .blanks = TESELA__BLANKS_TEXT,
                            .word = TESELA__BYTE_NAME,
                            .glue = TESELA__BYTE_LETTER | TESELA__BYTE_DOT};
  out->kind = TESELA_KIND_RELATION;
  return tesela__map_make(&r, read, options, &out->relation, err);
}

void tesela__index_array(tesela__map_text *m, const tesela_layout_read_options *options) {
  m->dtype = tesela__given_dtype(options, &m->bits);
  m->n_dims = options->array->rank;
  memcpy(m->shape, options->array->dim, (size_t)m->n_dims * sizeof *m->shape);
  m->tight_sign = true;
  m->grows = true;
}

/* "thread[32],local": names of axes and their places. */
static tesela_status results_names(tesela__map_text *m, const char *as) {
  tesela__reader r = {.text = as, .length = strlen(as), .word = TESELA__BYTE_NAME};
  do {
    size_t length = tesela__read_word(&r);
    int64_t places = 0;
    bool good = length > 0 && length < TESELA_AXIS_NAME && m->n_axes < TESELA_MAX_AXES;
    if (good) memcpy(m->axis_name[m->n_axes], as + r.at, length);
    r.at += length;
    if (good && tesela__read_take(&r, '['))
      good = tesela__read_integer(&r, "places", 0, INT64_MAX, &places) == TESELA_OK &&
             tesela__read_take(&r, ']');
    if (!good)
      return tesela__read_fail(&m->reader, TESELA_E_SYNTAX, 0,
                               "as '%.60s': expected axes such as thread[32],local[4]", as);
    m->axis_extent[m->n_axes++] = places;
  } while (tesela__read_take(&r, ','));
  if (tesela__read_peek(&r) < 0) return TESELA_OK;
  return tesela__read_fail(&m->reader, TESELA_E_SYNTAX, 0, "as '%.60s': expected ',' or the end", as);
}

/* Values first .. end - 1 are the row-major coordinates of an axis. */
static tesela_status results_axis(tesela__map_text *m, int32_t axis, int32_t first, int32_t end,
                                  const int64_t *extent) {
  int64_t stride = 1;
  for (int32_t v = end - 1; v >= first; v--) {
    const tesela__map_value *value = &m->value[v];
    if (value->low < 0 && end - first > 1) /* of one alone the digits know better */
      return tesela__read_fail(&m->reader, TESELA_E_RANGE, value->at,
                               "the result may be %" PRId64 "; expected 0 or more", value->low);
    tesela_status status = tesela__map_keep_on_axis(m, v, axis, stride);
    if (status != TESELA_OK) return status;
    if (end - first == 1 && !extent) break;
    if ((!extent && value->most == INT64_MAX) ||
        !tesela__mul(stride, extent ? extent[v] : value->most + 1, &stride))
      return tesela__read_fail(&m->reader, TESELA_E_OVERFLOW, value->at, "the places do not fit in 64 bits");
  }
  m->axis_at[axis] = first < end ? m->value[first].at : 0;
  m->axis_extent[axis] = tesela__max(m->axis_extent[axis], stride);
  return TESELA_OK;
}

tesela_status tesela__index_results(tesela__map_text *m, const char *as, int32_t n, const int32_t *separator,
                                    const int64_t *extent) {
  int32_t count = m->n_values;
  tesela_status status = TESELA_OK;
  if (as) status = results_names(m, as);
  if (status == TESELA_OK && as && n == 0 && m->n_axes != count)
    return tesela__read_fail(&m->reader, TESELA_E_MISMATCH, m->reader.at,
                             "%" PRId32 " results for %" PRId32 " axes", count, m->n_axes);
  if (status == TESELA_OK && as && n > 0 && m->n_axes != n + 1)
    return tesela__read_fail(&m->reader, TESELA_E_MISMATCH, m->reader.at,
                             "%" PRId32 " groups of results for %" PRId32 " axes", n + 1, m->n_axes);
  if (!as) {
    m->n_axes = n + 1;
    for (int32_t a = 0; a <= n && n > 0; a++) {
      memcpy(m->axis_name[a], "axis0", sizeof "axis0");
      m->axis_name[a][4] = (char)('0' + a); /* below TESELA_MAX_AXES */
    }
    if (n == 0) memcpy(m->axis_name[0], "memory", sizeof "memory");
  }
  for (int32_t a = 0; a < m->n_axes && status == TESELA_OK; a++) {
    bool alone = as && n == 0;
    int32_t first = alone    ? a
                    : a == 0 ? 0
                             : separator[a - 1],
            end = alone    ? a + 1
                  : a == n ? count
                           : separator[a];
    status = results_axis(m, a, first, end, extent);
  }
  m->n_values = 0;
  return status;
}
