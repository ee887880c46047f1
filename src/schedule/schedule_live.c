/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_live.c - the bytes that are alive at each instant, and the most of each memory space.
 *
 * Arguments and results are in memory from the first instant to the last: the runtime allocates them before the program starts. While
 * the memory of a result is idle, temporaries use it, as XLA's allocator does: the largest first, of equal ones the first of
 * schedule_order.c, each in the smallest result with room at all its instants.
 */
#include "schedule/schedule.h"

enum {
  SCHEDULE_HOSTED = 1 << 16, /* bytes: smaller temporaries never use a result's memory */
  SCHEDULE_WORK = 1 << 26,   /* steps of looking for room */
};

typedef struct schedule_host { /* a result, and when it is in use */
  int32_t buffer;
  tesela__schedule_span *span; /* by time, disjoint */
  size_t n, capacity;
} schedule_host;

static bool schedule_is_temporary(const tesela__schedule_buffer *buffer) {
  return !buffer->argument && !buffer->output;
}

bool tesela__schedule_next_span(const tesela__schedule *s, const tesela__schedule_buffer *buffer, int32_t *i,
                                tesela__schedule_span *span) {
  if (*i >= buffer->n) return false;
  const tesela__schedule_value *value = &s->value[s->order[buffer->first + *i]];
  *span = (tesela__schedule_span){value->from, value->to};
  for (++*i; *i < buffer->n; ++*i) {
    value = &s->value[s->order[buffer->first + *i]];
    if (value->from > span->to) break;
    span->to = (int32_t)tesela__max(span->to, value->to);
  }
  if (!buffer->constant) return true;
  *span = (tesela__schedule_span){0, (int32_t)s->n_instants - 1}; /* it comes with the program */
  *i = buffer->n;
  return true;
}

bool tesela__schedule_alive(const tesela__schedule *s, const tesela__schedule_buffer *buffer, int32_t at) {
  tesela__schedule_span span;
  for (int32_t i = 0; tesela__schedule_next_span(s, buffer, &i, &span);)
    if (span.from <= at && at <= span.to) return true;
  return false;
}

/* ---- temporaries in the memory of results ----------------------------------------------------------------- */

/* The number of a host's spans that end before `from`. */
static size_t schedule_before(const schedule_host *host, int32_t from) {
  size_t low = 0, high = host->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (host->span[middle].to < from)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool schedule_has_room(const tesela__schedule *s, const schedule_host *host,
                              const tesela__schedule_buffer *buffer, int64_t *work) {
  tesela__schedule_span span;
  for (int32_t i = 0; tesela__schedule_next_span(s, buffer, &i, &span); ++*work) {
    size_t at = schedule_before(host, span.from);
    if (at < host->n && host->span[at].from <= span.to) return false;
  }
  return true;
}

static bool schedule_occupy(tesela__schedule *s, schedule_host *host, const tesela__schedule_buffer *buffer,
                            int64_t *work) {
  tesela__schedule_span span;
  for (int32_t i = 0; tesela__schedule_next_span(s, buffer, &i, &span);) {
    void *spans = host->span;
    if (!tesela__grow(&s->memory, &spans, sizeof *host->span, &host->capacity, host->n + 1)) return false;
    host->span = spans;
    size_t at = schedule_before(host, span.from);
    memmove(host->span + at + 1, host->span + at, (host->n - at) * sizeof *host->span);
    *work += (int64_t)(host->n - at) / 8;
    host->span[at] = span;
    host->n++;
  }
  return true;
}

/* Sort buffers by bytes, smallest first, then the last ranks first: a heap, in place. */
static bool schedule_smaller(const tesela__schedule *s, const int32_t *rank, int32_t a, int32_t b) {
  int64_t difference = s->buffer[a].bytes - s->buffer[b].bytes;
  if (difference == 0) difference = (int64_t)rank[b] - rank[a];
  return difference != 0 ? difference < 0 : a > b;
}

static void schedule_sink(const tesela__schedule *s, const int32_t *rank, int32_t *list, size_t n,
                          size_t at) {
  int32_t moved = list[at];
  for (size_t below; (below = 2 * at + 1) < n; at = below) {
    if (below + 1 < n && schedule_smaller(s, rank, list[below], list[below + 1])) below++;
    if (!schedule_smaller(s, rank, moved, list[below])) break;
    list[at] = list[below];
  }
  list[at] = moved;
}

static void schedule_sort(const tesela__schedule *s, const int32_t *rank, int32_t *list, size_t n) {
  for (size_t i = n / 2; i-- > 0;) schedule_sink(s, rank, list, n, i);
  for (size_t end = n; end-- > 1;) {
    int32_t largest = list[0];
    list[0] = list[end];
    list[end] = largest;
    schedule_sink(s, rank, list, end, 0);
  }
}

/* The first host that is not smaller than `bytes`. */
static size_t schedule_first_host(const tesela__schedule *s, const schedule_host *host, size_t n,
                                  int64_t bytes) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (s->buffer[host[middle].buffer].bytes < bytes)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool schedule_place_one(tesela__schedule *s, schedule_host *host, size_t n_hosts, int32_t number,
                               int64_t *work) {
  tesela__schedule_buffer *buffer = &s->buffer[number];
  for (size_t h = schedule_first_host(s, host, n_hosts, buffer->bytes); h < n_hosts && *work < SCHEDULE_WORK;
       h++) {
    ++*work;
    if (s->buffer[host[h].buffer].space != buffer->space || !schedule_has_room(s, &host[h], buffer, work))
      continue;
    buffer->inside = host[h].buffer;
    return schedule_occupy(s, &host[h], buffer, work);
  }
  return true;
}

/* list: the temporaries, then the results, both the smallest first. */
static bool schedule_place_all(tesela__schedule *s, const int32_t *list, size_t n, const int32_t *hosts,
                               size_t n_hosts) {
  int64_t work = 0;
  bool done = true;
  schedule_host *host = tesela__alloc(&s->memory, (n_hosts + 1) * sizeof *host, alignof(schedule_host));
  if (!host) return false;
  for (size_t h = 0; h < n_hosts; h++) {
    host[h] = (schedule_host){.buffer = hosts[h]};
    done = done && schedule_occupy(s, &host[h], &s->buffer[hosts[h]], &work);
  }
  for (size_t i = n; done && i-- > 0;) done = schedule_place_one(s, host, n_hosts, list[i], &work);
  for (size_t h = 0; h < n_hosts; h++) tesela__release(&s->memory, host[h].span);
  tesela__release(&s->memory, host);
  return done;
}

/* Of each buffer the place of its first instruction among all, each after its operands. */
static int32_t *schedule_ranks(const tesela__schedule *s) {
  int32_t *place = tesela__schedule_post_order(s);
  int32_t *rank =
      place ? tesela__alloc(&s->memory, (s->n_buffers + 1) * sizeof *rank, alignof(int32_t)) : NULL;
  for (size_t b = 0; rank && b < s->n_buffers; b++) {
    rank[b] = INT32_MAX;
    for (int32_t i = 0; i < s->buffer[b].n; i++) {
      int32_t at = place[s->value[s->order[s->buffer[b].first + i]].instruction];
      if (at < rank[b]) rank[b] = at;
    }
  }
  tesela__release(&s->memory, place);
  return rank;
}

static bool schedule_host_temporaries(tesela__schedule *s) {
  size_t n = 0, n_hosts = 0;
  int32_t *list = tesela__alloc(&s->memory, (s->n_buffers + 1) * sizeof *list, alignof(int32_t));
  if (!list) return false;
  for (size_t i = 0; i < s->n_buffers; i++) {
    const tesela__schedule_buffer *b = &s->buffer[i];
    if (schedule_is_temporary(b) && !b->constant && b->bytes >= SCHEDULE_HOSTED) list[n++] = (int32_t)i;
  }
  int32_t *hosts = list + n;
  for (size_t i = 0; i < s->n_buffers; i++)
    if (s->buffer[i].output && s->buffer[i].bytes >= SCHEDULE_HOSTED) hosts[n_hosts++] = (int32_t)i;
  if (n == 0 || n_hosts == 0) {
    tesela__release(&s->memory, list);
    return true;
  }
  int32_t *rank = schedule_ranks(s);
  bool done = rank != NULL;
  if (done) {
    schedule_sort(s, rank, list, n);
    schedule_sort(s, rank, hosts, n_hosts);
    done = schedule_place_all(s, list, n, hosts, n_hosts);
  }
  tesela__release(&s->memory, rank);
  tesela__release(&s->memory, list);
  return done;
}

/* ---- bytes by instant ------------------------------------------------------------------------------------- */

bool tesela__schedule_timeline(const tesela__schedule *s, int space, int64_t *bytes, int64_t *arguments,
                               int64_t *outputs) {
  tesela__schedule_span span;
  bool some = false;
  *arguments = *outputs = 0;
  memset(bytes, 0, s->n_instants * sizeof *bytes);
  for (size_t i = 0; i < s->n_buffers; i++) {
    const tesela__schedule_buffer *buffer = &s->buffer[i];
    if (buffer->space != space) continue;
    some = true;
    if (buffer->argument) *arguments += buffer->bytes;
    if (buffer->output && !buffer->argument) *outputs += buffer->bytes;
    if (!schedule_is_temporary(buffer) || buffer->inside >= 0) continue;
    for (int32_t k = 0; tesela__schedule_next_span(s, buffer, &k, &span);) {
      bytes[span.from] += buffer->bytes;
      if (span.to + 1 < (int32_t)s->n_instants) bytes[span.to + 1] -= buffer->bytes;
    }
  }
  int64_t alive = 0;
  for (size_t t = 0; t < s->n_instants; t++) {
    alive += bytes[t];
    bytes[t] = alive;
  }
  return some;
}

static bool schedule_add_peak(tesela__schedule *s, int space, int64_t *bytes) {
  tesela__schedule_peak peak = {.space = (int8_t)space};
  if (!tesela__schedule_timeline(s, space, bytes, &peak.arguments, &peak.outputs)) return true;
  for (size_t t = 0; t < s->n_instants; t++)
    if (bytes[t] > peak.temporaries) {
      peak.temporaries = bytes[t];
      peak.at = (int32_t)t;
    }
  peak.bytes = peak.arguments + peak.outputs + peak.temporaries;
  if (!tesela__schedule_room(s, &s->peak, sizeof *s->peak, &s->cap_peaks, s->n_peaks, 1,
                             TESELA__SCHEDULE_SPACES))
    return false;
  s->peak[s->n_peaks++] = peak;
  return true;
}

bool tesela__schedule_measure(tesela__schedule *s) {
  bool used[TESELA__SCHEDULE_SPACES] = {[128] = true}; /* the main memory comes first, always */
  int64_t sum = 0;
  if (!schedule_host_temporaries(s)) return false;
  for (size_t i = 0; i < s->n_buffers; i++) {
    used[s->buffer[i].space + 128] = true;
    if (!tesela__add(sum, s->buffer[i].bytes, &sum) || sum > INT64_MAX / 4)
      return tesela__schedule_break(s, 0, "its bytes do not fit in 64 bits");
  }
  int64_t *bytes = tesela__alloc(&s->memory, (s->n_instants + 1) * sizeof *bytes, alignof(int64_t));
  if (!bytes) return false;
  bool done = schedule_add_peak(s, 0, bytes);
  for (int space = -128; done && space < 128; space++)
    if (space != 0 && used[space + 128]) done = schedule_add_peak(s, space, bytes);
  tesela__release(&s->memory, bytes);
  return done;
}
