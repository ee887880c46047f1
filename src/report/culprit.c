/* SPDX-License-Identifier: Apache-2.0 */
/*
 * culprit.c - the arrays that a change should be about: alike ones together, those of the peak if there is a schedule; and the peak with
 * other sizes.
 */
#include "report/report_state.h"

enum { CULPRIT_BUFFERS = 256 /* of those alive at the peak, the largest */ };

static int64_t culprit_padding(const tesela_report_culprit *culprit) {
  return culprit->bytes - culprit->data_bytes;
}

static bool culprit_before(const tesela_report_culprit *a, const tesela_report_culprit *b) {
  if (culprit_padding(a) != culprit_padding(b)) return culprit_padding(a) > culprit_padding(b);
  return a->bytes > b->bytes;
}

/* Put one in its place of the list. */
static void culprit_put(tesela_report_culprit *list, int64_t *n, int64_t capacity,
                        const tesela_report_culprit *culprit) {
  int64_t at = *n;
  while (at > 0 && culprit_before(culprit, &list[at - 1])) at--;
  if (at == capacity) return;
  if (*n < capacity) ++*n;
  memmove(list + at + 1, list + at, (size_t)(*n - 1 - at) * sizeof *list);
  list[at] = *culprit;
}

bool tesela__culprit_shape(const tesela_report_culprit *culprit, tesela_xla_shape *shape) {
  return tesela_xla_parse(culprit->shape, (size_t)culprit->shape_bytes, TESELA_XLA_STRICT, shape, NULL,
                          NULL) == TESELA_OK &&
         shape->kind == TESELA_XLA_ARRAY;
}

/* ---- of a schedule ---------------------------------------------------------------------------------------- */

bool tesela__culprit_is(const tesela_report_culprit *culprit, const tesela_report_buffer *buffer) {
  return culprit->role == buffer->role && culprit->space == buffer->space &&
         culprit->shape_bytes == buffer->shape_bytes &&
         memcmp(culprit->shape, buffer->shape, (size_t)buffer->shape_bytes) == 0;
}

/* Add a buffer to the group of its like; false: it is the first. */
static bool culprit_joins(tesela_report_culprit *group, int64_t n, const tesela_report_buffer *buffer) {
  for (int64_t i = 0; i < n; i++) {
    if (!tesela__culprit_is(&group[i], buffer)) continue;
    group[i].data_bytes += group[i].data_bytes / group[i].count;
    group[i].count++;
    group[i].bytes += buffer->bytes;
    return true;
  }
  return false;
}

static int64_t culprits_of_peak(const tesela_report *report, int32_t space, int64_t capacity,
                                tesela_report_culprit *list) {
  int64_t alive[CULPRIT_BUFFERS], n_alive = 0, n_groups = 0, n = 0;
  tesela_report_culprit group[CULPRIT_BUFFERS];
  (void)tesela_report_alive(report, space, CULPRIT_BUFFERS, alive, &n_alive, NULL);
  for (int64_t i = 0; i < n_alive; i++) {
    tesela_report_buffer buffer;
    tesela_xla_shape shape;
    tesela_xla_sizes sizes;
    if (tesela_report_buffer_at(report, alive[i], &buffer, NULL) != TESELA_OK ||
        culprit_joins(group, n_groups, &buffer))
      continue;
    tesela_report_culprit culprit = {.shape = buffer.shape,
                                     .shape_bytes = buffer.shape_bytes,
                                     .role = buffer.role,
                                     .name = buffer.instruction,
                                     .op_name = buffer.op_name,
                                     .location = buffer.location,
                                     .count = 1,
                                     .bytes = buffer.bytes,
                                     .lives = true,
                                     .space = space};
    if (!tesela__culprit_shape(&culprit, &shape) || tesela_xla_size(&shape, &sizes, NULL) != TESELA_OK)
      continue;
    culprit.data_bytes = tesela__min(sizes.logical_bytes, buffer.bytes);
    group[n_groups++] = culprit;
  }
  for (int64_t i = 0; i < n_groups; i++) culprit_put(list, &n, capacity, &group[i]);
  return n;
}

/* ---- of rows ---------------------------------------------------------------------------------------------- */

static int64_t culprits_of_rows(const tesela_report *report, tesela_report_source source, int64_t capacity,
                                tesela_report_culprit *list) {
  int64_t n = 0;
  for (size_t i = 0; i < report->n_arrays; i++) {
    const tesela_report_array *array = &report->array[i].public;
    int64_t bytes, data;
    if (array->source != source || array->memory_space != 0 || !array->sized || array->n_candidates > 0 ||
        !array->explained || !tesela__mul(array->stored_bytes, array->count, &bytes) ||
        !tesela__mul(array->data_bytes, array->count, &data))
      continue;
    const char *text = array->fitted[0] ? array->fitted : array->shape;
    const bool argument = array->role == TESELA_REPORT_ARGUMENT || strstr(array->allocation, "rgument");
    culprit_put(list, &n, capacity,
                &(tesela_report_culprit){.shape = text,
                                         .shape_bytes = (int64_t)strlen(text),
                                         .role = argument ? TESELA_REPORT_BUFFER_ARGUMENT
                                                          : TESELA_REPORT_BUFFER_TEMPORARY,
                                         .name = array->name,
                                         .op_name = array->op_name,
                                         .location = array->location,
                                         .count = array->count,
                                         .bytes = bytes,
                                         .data_bytes = data});
  }
  return n;
}

tesela_status tesela_report_culprits(const tesela_report *report, int32_t space, int64_t capacity,
                                     tesela_report_culprit *culprit, int64_t *n, tesela_error *err) {
  TESELA__NEED(err, report, n);
  TESELA__NEED_LIST(err, culprit, capacity);
  *n = 0;
  if (capacity <= 0) return TESELA_OK;
  if (report->lives) *n = culprits_of_peak(report, space, capacity, culprit);
  for (int source = TESELA_REPORT_N_SOURCES - 1; source >= 0 && *n == 0 && space == 0; source--)
    *n = culprits_of_rows(report, (tesela_report_source)source, capacity, culprit);
  return TESELA_OK;
}

/* ---- the peak with other sizes ---------------------------------------------------------------------------- */

static tesela_status replay_check(const tesela_report *report, int64_t n, const int64_t *buffer,
                                  const int64_t *bytes, tesela_error *err) {
  if (!report->lives) return tesela__fail(err, TESELA_E_INVALID, -1, "no module with a known schedule");
  for (int64_t i = 0; i < n; i++) {
    if (buffer[i] < 0 || buffer[i] >= (int64_t)report->lives->n_buffers ||
        (i > 0 && buffer[i] <= buffer[i - 1]))
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "buffer %" PRId64 "; expected ascending numbers from 0 to %zu", buffer[i],
                          report->lives->n_buffers - 1);
    if (bytes[i] < 0 || bytes[i] > INT64_MAX / 4 / n)
      return tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId64 " bytes", bytes[i]);
  }
  return TESELA_OK;
}

/* The most bytes of a memory at an instant; change[] is 0 at first, with room for one more than the instants. */
static int64_t replay_peak(const tesela__schedule *s, int32_t space, const int64_t *bytes, int64_t *change) {
  int64_t always = 0, alive = 0, most = 0;
  tesela__schedule_span span;
  for (size_t i = 0; i < s->n_buffers; i++) {
    const tesela__schedule_buffer *buffer = &s->buffer[i];
    const bool hosted = buffer->inside >= 0 && bytes[buffer->inside] >= s->buffer[buffer->inside].bytes &&
                        bytes[i] <= buffer->bytes;
    if (buffer->space != space || hosted) continue;
    if (buffer->argument || buffer->output) {
      always += bytes[i];
      continue;
    }
    for (int32_t k = 0; tesela__schedule_next_span(s, buffer, &k, &span);) {
      change[span.from] += bytes[i];
      change[span.to + 1] -= bytes[i];
    }
  }
  for (size_t t = 0; t < s->n_instants; t++) {
    alive += change[t];
    most = tesela__max(most, alive);
  }
  return always + most;
}

tesela_status tesela_report_replay(const tesela_report *report, int32_t space, int64_t n,
                                   const int64_t *buffer, const int64_t *bytes, int64_t *peak,
                                   tesela_error *err) {
  TESELA__NEED(err, report, peak);
  TESELA__NEED_LIST(err, buffer, n);
  TESELA__NEED_LIST(err, bytes, n);
  tesela_status status = replay_check(report, n, buffer, bytes, err);
  if (status != TESELA_OK) return status;
  const tesela__schedule *s = report->lives;
  const size_t room = s->n_buffers + s->n_instants + 1;
  int64_t *sizes = tesela__alloc(&report->allocator, room * sizeof *sizes, alignof(int64_t));
  if (!sizes) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %zu buffers and instants", room);
  memset(sizes, 0, room * sizeof *sizes);
  for (size_t i = 0; i < s->n_buffers; i++) sizes[i] = s->buffer[i].bytes;
  for (int64_t i = 0; i < n; i++) sizes[buffer[i]] = bytes[i];
  *peak = replay_peak(s, space, sizes, sizes + s->n_buffers);
  tesela__release(&report->allocator, sizes);
  return TESELA_OK;
}

bool tesela__culprit_is_torch(const tesela_report_culprit *culprit) {
  return strncmp(culprit->op_name, "aten__", 6) == 0 || strncmp(culprit->op_name, "xla__", 5) == 0 ||
         strstr(culprit->op_name, "/aten__") || strstr(culprit->op_name, "/xla__");
}
