/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline.c - how long a request may take: its deadline, and the flag that the caller sets.
 */
#include <inttypes.h>

#include "request.h"
#include "system.h"

static const int64_t ms = 1000000; /* of the clock, in ns */

const tesela_field request_deadline_field = {"deadline_ms", TESELA_FIELD_NUMBER, true, NULL};

static bool is_stopped(const tesela_request *q) { return q->stop && *q->stop; }

static bool is_over(const tesela_request *q) {
  return is_stopped(q) || (q->deadline < INT64_MAX && system_clock_ns() >= q->deadline);
}

int tesela_request_progress(void *request, int64_t done, int64_t total) {
  const tesela_request *q = request;
  return !q || is_over(q) || (q->progress && q->progress(q->progress_user, done, total) != 0);
}

tesela_status request_check_stop(tesela_request *q) {
  if (!is_over(q)) return TESELA_OK;
  if (is_stopped(q)) return tesela_request_fail(q, TESELA_E_STOPPED, -1, "the caller asked to stop");
  return tesela_request_fail(q, TESELA_E_STOPPED, -1, "the deadline of %" PRId64 " ms is past",
                             tesela_value_int(tesela_value_get(q->value, request_deadline_field.name)));
}

tesela_status request_begin_deadline(tesela_request *q) {
  const tesela_value *value = tesela_request_get(q, request_deadline_field.name);
  const int64_t given = tesela_value_int(value), from = system_clock_ns();
  q->deadline = INT64_MAX;
  if (value && given < 0)
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "deadline_ms is %" PRId64 "; expected 0 or more",
                               given);
  if (value && given <= (INT64_MAX - from) / ms) q->deadline = from + given * ms;
  q->field = NULL;
  return request_check_stop(q);
}
