/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_peak.c - how many bytes of each memory space are in use at the fullest instant.
 *
 * In an allocation of temporaries several values may use one place at the same time (a loop's initial value and its result), so
 * the bytes in use are the union of the places [offset, offset + bytes) of the values that live. A tree over the sorted ends of
 * all places counts for each piece how many values cover it: O(log values) for each birth and death.
 *
 * What cannot be followed counts as in use: all of an allocation without values or with one outside it, and the place of a
 * value without a life from the first instant to the last. Then the peak is an upper bound.
 */
#include "records/records.h"

#include <stdlib.h>

typedef struct cover_event {
  int64_t at; /* births at an instant come before deaths after it: 2 * instant, 2 * instant + 1 */
  int32_t change;
  size_t first, end; /* pieces */
} cover_event;

/* How an allocation of temporaries is counted. */
typedef struct cover_part {
  int64_t base;    /* where its values start: several allocations stand side by side */
  bool valued;     /* has values */
  bool whole;      /* is always in use, all of it */
  bool followed;   /* has its values, each with a life */
  bool alive;      /* has a value that lives at the peak */
  int64_t largest; /* bytes of its largest value */
} cover_part;

typedef struct cover_tree {
  const int64_t *edge; /* of the pieces, ascending */
  int64_t *used;       /* bytes covered below a node */
  int32_t *count;      /* values that cover all of a node */
} cover_tree;

/* The tree has fewer than 64 levels, so recursion is shallow. */
static void cover(const cover_tree *tree, size_t node, size_t low, size_t high, const cover_event *event) {
  if (event->end <= low || high <= event->first) return;
  if (event->first <= low && high <= event->end) {
    tree->count[node] += event->change;
  } else {
    size_t middle = low + (high - low) / 2;
    cover(tree, 2 * node, low, middle, event);
    cover(tree, 2 * node + 1, middle, high, event);
  }
  if (tree->count[node] > 0)
    tree->used[node] = tree->edge[high] - tree->edge[low];
  else
    tree->used[node] = high - low == 1 ? 0 : tree->used[2 * node] + tree->used[2 * node + 1];
}

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int by_time(const void *a, const void *b) {
  const cover_event *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static size_t piece_of(const int64_t *edge, size_t n, int64_t at) {
  size_t low = 0;
  for (size_t high = n; low < high;) {
    size_t middle = low + (high - low) / 2;
    if (edge[middle] < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The most bytes of `n` events in use, and the first instant. */
static void sweep(const cover_tree *tree, size_t pieces, const cover_event *event, size_t n,
                  tesela_record_space *space, int64_t always) {
  for (size_t i = 0; i < n;) {
    int64_t at = event[i].at;
    for (; i < n && event[i].at == at; i++) cover(tree, 1, 0, pieces, &event[i]);
    if (space->at >= 0 && always + tree->used[1] <= space->peak_bytes) continue;
    space->peak_bytes = always + tree->used[1];
    space->at = at / 2;
  }
}

static size_t read_events(const tesela__record_program *program, int32_t space, const cover_part *part,
                          cover_event *event, int64_t *edge) {
  const tesela_record_buffer *buffer = program->buffer.items;
  const tesela_record_allocation *allocation = program->allocation.items;
  size_t n = 0;
  for (size_t i = 0; i < program->buffer.n; i++) {
    const tesela_record_allocation *in = &allocation[buffer[i].allocation];
    if (in->space != space || part[buffer[i].allocation].whole || buffer[i].bytes == 0) continue;
    int64_t start = part[buffer[i].allocation].base + buffer[i].offset;
    bool lives = buffer[i].from >= 0;
    int64_t last = (int64_t)program->instant.n;
    edge[n] = start;
    event[n++] = (cover_event){.at = lives ? 2 * buffer[i].from : 0, .change = 1};
    edge[n] = start + buffer[i].bytes;
    event[n++] = (cover_event){.at = 2 * (lives ? buffer[i].to : last) + 1, .change = -1};
  }
  return n;
}

static void place_events(cover_event *event, size_t n, const int64_t *place, const int64_t *edge,
                         size_t edges) {
  for (size_t i = 0; i < n; i += 2) {
    event[i].first = event[i + 1].first = piece_of(edge, edges, place[i]);
    event[i].end = event[i + 1].end = piece_of(edge, edges, place[i + 1]);
  }
}

static bool peak_of(tesela_records *records, tesela__record_program *program, tesela_record_space *space,
                    const cover_part *part, int64_t always) {
  size_t most = 2 * program->buffer.n + 2;
  const tesela_allocator *memory = &records->allocator;
  cover_event *event = tesela__alloc(memory, (uint64_t)most * sizeof *event, alignof(cover_event));
  int64_t *numbers = tesela__alloc(memory, (uint64_t)most * 6 * sizeof *numbers, alignof(int64_t));
  int32_t *count = tesela__alloc(memory, (uint64_t)most * 4 * sizeof *count, alignof(int32_t));
  bool fits = event && numbers && count;
  if (fits) {
    int64_t *place = numbers, *edge = numbers + most, *used = numbers + 2 * most;
    size_t n = read_events(program, space->space, part, event, place), edges = 0;
    memcpy(edge, place, n * sizeof *edge);
    qsort(edge, n, sizeof *edge, by_number);
    for (size_t i = 0; i < n; i++)
      if (i == 0 || edge[i] != edge[edges - 1]) edge[edges++] = edge[i];
    place_events(event, n, place, edge, edges);
    qsort(event, n, sizeof *event, by_time);
    memset(used, 0, 4 * most * sizeof *used);
    memset(count, 0, 4 * most * sizeof *count);
    space->peak_bytes = always;
    space->at = -1;
    if (edges > 1) sweep(&(cover_tree){edge, used, count}, edges - 1, event, n, space, always);
  }
  tesela__release(memory, event);
  tesela__release(memory, numbers);
  tesela__release(memory, count);
  return fits;
}

static int64_t add_bytes(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

static tesela_record_space *space_of(tesela_records *records, tesela__record_program *program, int32_t n) {
  tesela_record_space *list = program->space.items;
  for (size_t i = 0; i < program->space.n; i++)
    if (list[i].space == n) return &list[i];
  tesela_record_space *to = tesela__record_more(records, &program->space, sizeof *to);
  if (to)
    *to = (tesela_record_space){.space = n,
                                .printed_bytes = -1,
                                .peak_bytes = -1,
                                .at = -1,
                                .instruction = "",
                                .planned_bytes = -1,
                                .bound_bytes = -1};
  return to;
}

static int by_space(const void *a, const void *b) {
  return ((const tesela_record_space *)a)->space - ((const tesela_record_space *)b)->space;
}

/* The sums of all spaces; `part` receives where the temporaries of each allocation start. */
static bool sum_spaces(tesela_records *records, tesela__record_program *program, cover_part *part) {
  const tesela_record_allocation *allocation = program->allocation.items;
  const tesela__record_total *total = program->total.items;
  for (size_t i = 0; i < program->allocation.n; i++) {
    tesela_record_space *space = space_of(records, program, allocation[i].space);
    if (!space) return false;
    part[i] = (cover_part){.base = space->needs_bytes, .followed = true};
    space->needs_bytes = add_bytes(space->needs_bytes, allocation[i].bytes);
    program->told.sum_bytes = add_bytes(program->told.sum_bytes, allocation[i].bytes);
  }
  for (size_t i = 0; i < program->total.n; i++) {
    tesela_record_space *space = total[i].space < 0 ? NULL : space_of(records, program, total[i].space);
    if (space) space->printed_bytes = total[i].bytes;
    if (space && program->allocation.n == 0) space->needs_bytes = total[i].bytes;
    if (!space && total[i].space >= 0) return false;
  }
  if (program->space.n > 0)
    qsort(program->space.items, program->space.n, sizeof(tesela_record_space), by_space);
  return true;
}

static void follow(const tesela__record_program *program, cover_part *part) {
  const tesela_record_allocation *allocation = program->allocation.items;
  const tesela_record_buffer *buffer = program->buffer.items;
  for (size_t i = 0; i < program->buffer.n; i++) {
    const tesela_record_allocation *in = &allocation[buffer[i].allocation];
    cover_part *of = &part[buffer[i].allocation];
    if (buffer[i].bytes == 0) continue;
    if (buffer[i].bytes > of->largest) of->largest = buffer[i].bytes;
    of->valued = true;
    of->followed = of->followed && buffer[i].from >= 0;
    of->whole = of->whole || buffer[i].offset > in->bytes || buffer[i].bytes > in->bytes - buffer[i].offset;
  }
  for (size_t i = 0; i < program->allocation.n; i++) {
    bool temporary = allocation[i].use == TESELA_RECORD_TEMPORARY;
    part[i].whole = part[i].whole || !part[i].valued;
    part[i].followed = !temporary || allocation[i].bytes == 0 || (part[i].followed && !part[i].whole);
    part[i].whole = part[i].whole || !temporary;
  }
}

/* Which buffers are in use at the peaks. */
static void mark_buffers(tesela_records *records, tesela__record_program *program, cover_part *part) {
  const tesela_record_allocation *allocation = program->allocation.items;
  tesela_record_buffer *buffer = program->buffer.items;
  for (size_t i = 0; i < program->buffer.n; i++) {
    const tesela_record_space *space = space_of(records, program, buffer[i].space);
    bool temporary = allocation[buffer[i].allocation].use == TESELA_RECORD_TEMPORARY;
    bool lives = buffer[i].from < 0 ? temporary : buffer[i].from <= space->at && space->at <= buffer[i].to;
    buffer[i].at_peak = space->peak_bytes < 0 ? -1 : lives;
    if (buffer[i].at_peak == 1 || temporary) part[buffer[i].allocation].alive = true;
  }
  for (size_t i = 0; i < program->buffer.n; i++) {
    cover_part *of = &part[buffer[i].allocation];
    if (of->alive || buffer[i].at_peak < 0) continue;
    if (buffer[i].bytes == of->largest) buffer[i].at_peak = of->alive = true;
  }
}

bool tesela__record_peaks(tesela_records *records, tesela__record_program *program) {
  const tesela_record_allocation *allocation = program->allocation.items;
  cover_part *part = tesela__alloc(&records->allocator, ((uint64_t)program->allocation.n + 1) * sizeof *part,
                                   alignof(cover_part));
  bool fits = part && sum_spaces(records, program, part);
  if (fits) follow(program, part);
  tesela_record_space *space = program->space.items;
  for (size_t i = 0; fits && i < program->space.n; i++) {
    int64_t always = 0;
    if (program->range.n == 0 || program->allocation.n == 0 || space[i].needs_bytes == INT64_MAX) continue;
    space[i].followed = true;
    for (size_t k = 0; k < program->allocation.n; k++) {
      if (allocation[k].space != space[i].space) continue;
      if (part[k].whole) always += allocation[k].bytes;
      if (!part[k].followed) space[i].followed = false;
    }
    fits = peak_of(records, program, &space[i], part, always);
    if (space[i].at >= 0 && (size_t)space[i].at < program->instant.n)
      space[i].instruction = ((const char **)program->instant.items)[space[i].at];
  }
  if (fits) mark_buffers(records, program, part);
  tesela__release(&records->allocator, part);
  return fits;
}
