/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_check.c - does a plan meet the definition, and are buffers and options within their ranges?
 *
 * A walk through time keeps the live spans, ordered by offset: while all are disjoint, a new span can overlap only the one
 * before it or the one after.
 */
#include "solve/arena/arena.h"

/* "3 (conv)": the number and the id of a buffer, shortened if necessary. */
typedef struct arena_name {
  char text[48];
} arena_name;

static arena_name arena_name_of(const tesela_arena_buffer *buffers, int32_t i) {
  arena_name name;
  tesela_buffer out = {name.text, sizeof name.text, 0};
  tesela_writer to = tesela_buffer_writer(&out);
  tesela__sink sink;
  const char *end = memchr(buffers[i].id, '\0', TESELA_ARENA_ID);
  size_t length = end ? (size_t)(end - buffers[i].id) : TESELA_ARENA_ID, shown = length < 24 ? length : 24;
  while (shown > 0 && shown < length && ((unsigned char)buffers[i].id[shown] & 0xC0) == 0x80) shown--;
  name.text[0] = '\0';
  tesela__sink_init(&sink, &to);
  tesela__put_int(&sink, i);
  if (length > 0) {
    tesela__puts(&sink, " (");
    tesela__put(&sink, buffers[i].id, shown);
    tesela__puts(&sink, shown < length ? "...)" : ")");
  }
  tesela__sink_finish(&sink, NULL);
  return name;
}

static bool arena_check_occupies(const tesela_arena_buffer *b) {
  return b->offset >= 0 && b->size > 0 && b->upper > b->lower;
}

/* Check one buffer. */
static tesela_status arena_check_ranges(const tesela_arena_buffer *buffers, int32_t i, tesela_error *err) {
  const tesela_arena_buffer *b = &buffers[i];
  const char *what = b->size < 0 ? "size" : b->alignment < 0 ? "alignment" : b->weight < 0 ? "weight" : NULL;
  if (what)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%s of buffer %s is %" PRId64 "; expected 0 or more", what,
                        arena_name_of(buffers, i).text,
                        b->size < 0        ? b->size
                        : b->alignment < 0 ? b->alignment
                                           : b->weight);
  if (b->upper < b->lower)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "buffer %s lives from %" PRId64 " to %" PRId64 "; expected upper of at least lower",
                        arena_name_of(buffers, i).text, b->lower, b->upper);
  if (b->offset < TESELA_ARENA_SPILLED)
    return tesela__fail(err, TESELA_E_RANGE, -1, "offset of buffer %s is %" PRId64 "; expected -2 or more",
                        arena_name_of(buffers, i).text, b->offset);
  return TESELA_OK;
}

/* Check the place of a buffer that has one. */
static tesela_status arena_check_place(const tesela_arena_buffer *buffers, int32_t i, int64_t capacity,
                                       tesela_error *err) {
  const tesela_arena_buffer *b = &buffers[i];
  int64_t end;
  if (b->alignment > 1 && b->offset % b->alignment != 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "buffer %s is at %" PRId64 ", not a multiple of its alignment %" PRId64,
                        arena_name_of(buffers, i).text, b->offset, b->alignment);
  if (!arena_check_occupies(b)) return TESELA_OK;
  if (!tesela__add(b->offset, b->size, &end))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "buffer %s of %" PRId64 " at %" PRId64 " ends beyond 64 bits",
                        arena_name_of(buffers, i).text, b->size, b->offset);
  if (capacity > 0 && end > capacity)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "buffer %s at %" PRId64 " ends at %" PRId64 "; the capacity is %" PRId64,
                        arena_name_of(buffers, i).text, b->offset, end, capacity);
  return TESELA_OK;
}

static tesela_status arena_check_overlap(const tesela_arena_buffer *buffers, int32_t i, int32_t j,
                                         tesela_error *err) {
  const tesela_arena_buffer *a = &buffers[i], *b = &buffers[j];
  return tesela__fail(err, TESELA_E_INVALID, -1,
                      "buffers %s at %" PRId64 " of %" PRId64 " and %s at %" PRId64 " of %" PRId64
                      " overlap at step %" PRId64,
                      arena_name_of(buffers, i).text, a->offset, a->size, arena_name_of(buffers, j).text,
                      b->offset, b->size, tesela__max(a->lower, b->lower));
}

/* Check all buffers that have a place. `keys`: 2 n; `node`: n. */
static tesela_status arena_check_spans(int32_t n, const tesela_arena_buffer *buffers, tesela__arena_key *keys,
                                       int32_t *node, tesela__arena_tree *tree, tesela_error *err) {
  tesela__arena_key *starts = keys, *ends = keys + n;
  int32_t m = 0;
  for (int32_t i = 0; i < n; i++)
    if (arena_check_occupies(&buffers[i])) {
      starts[m] = (tesela__arena_key){buffers[i].lower, i};
      ends[m++] = (tesela__arena_key){buffers[i].upper, i};
    }
  tesela__arena_sort(starts, m);
  tesela__arena_sort(ends, m);
  for (int32_t s = 0, e = 0; s < m; s++) {
    const tesela_arena_buffer *b = &buffers[starts[s].item];
    for (; ends[e].key <= b->lower; e++) tesela__arena_tree_remove(tree, node[ends[e].item]);
    int32_t before = tesela__arena_tree_before(tree, b->offset),
            after = tesela__arena_tree_next(tree, before);
    if (before >= 0 && tree->node[before].end > b->offset)
      return arena_check_overlap(buffers, tree->node[before].item, starts[s].item, err);
    if (after >= 0 && tree->node[after].start < b->offset + b->size)
      return arena_check_overlap(buffers, tree->node[after].item, starts[s].item, err);
    node[starts[s].item] = tesela__arena_tree_insert(tree, b->offset, b->offset + b->size, starts[s].item);
  }
  return TESELA_OK;
}

static tesela_status arena_check_all_spans(int32_t n, const tesela_arena_buffer *buffers,
                                           const tesela_allocator *allocator, tesela_error *err) {
  tesela_allocator memory = tesela__allocator(allocator);
  uint64_t most = (uint64_t)n + 1;
  tesela__arena_tree tree = {.node = NULL};
  tesela_status status;
  tesela__arena_key *keys = tesela__alloc(&memory, 2 * most * sizeof *keys, alignof(tesela__arena_key));
  int32_t *node = tesela__alloc(&memory, most * sizeof *node, alignof(int32_t));
  if (keys && node && tesela__arena_tree_open(&tree, n + 1, &memory))
    status = arena_check_spans(n, buffers, keys, node, &tree, err);
  else
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to check %" PRId32 " buffers", n);
  tesela__release(&memory, tree.node);
  tesela__release(&memory, node);
  tesela__release(&memory, keys);
  return status;
}

static tesela_status arena_check_counts(int32_t n, int64_t capacity, tesela_error *err) {
  if (n < 0 || n > TESELA__ARENA_BUFFERS)
    return tesela__fail(err, TESELA_E_RANGE, -1, "n is %" PRId32 "; expected 0 to %d", n,
                        TESELA__ARENA_BUFFERS);
  if (capacity < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "capacity is %" PRId64 "; expected 0 or more", capacity);
  return TESELA_OK;
}

tesela_status tesela_arena_check(int32_t n, const tesela_arena_buffer *buffers, int64_t capacity,
                                 const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED_LIST(err, buffers, n);
  tesela_status status = arena_check_counts(n, capacity, err);
  for (int32_t i = 0; i < n && status == TESELA_OK; i++) {
    status = arena_check_ranges(buffers, i, err);
    if (status != TESELA_OK || buffers[i].offset == TESELA_ARENA_SPILLED) continue;
    if (buffers[i].offset < 0)
      return tesela__fail(err, TESELA_E_INVALID, -1, "buffer %s has no place",
                          arena_name_of(buffers, i).text);
    status = arena_check_place(buffers, i, capacity, err);
  }
  return status == TESELA_OK ? arena_check_all_spans(n, buffers, allocator, err) : status;
}

/* All sums of the planner stay below TESELA__ARENA_MOST, so it does not check them again. */
static tesela_status arena_check_sums(int32_t n, const tesela_arena_buffer *buffers, tesela_error *err) {
  int64_t bytes = 0, weight = 0, fixed = 0;
  for (int32_t i = 0; i < n; i++) {
    const tesela_arena_buffer *b = &buffers[i];
    bool good = tesela__add(weight, b->weight, &weight) && weight < TESELA__ARENA_MOST;
    if (good && b->size > 0 && b->upper > b->lower) {
      good = b->size < TESELA__ARENA_MOST && b->alignment < TESELA__ARENA_MOST &&
             tesela__add(bytes, b->size, &bytes) &&
             tesela__add(bytes, b->alignment > 1 ? b->alignment - 1 : 0, &bytes);
      if (b->offset > 0) fixed = tesela__max(fixed, b->offset);
      good = good && fixed < TESELA__ARENA_MOST && bytes < TESELA__ARENA_MOST - fixed;
    }
    if (!good)
      return tesela__fail(
          err, TESELA_E_OVERFLOW, -1,
          "up to buffer %s, sizes with alignments and the largest fixed offset, or weights, add up"
          " to 2^62 or more",
          arena_name_of(buffers, i).text);
  }
  return TESELA_OK;
}

tesela_status tesela__arena_validate(int32_t n, const tesela_arena_buffer *buffers,
                                     const tesela_arena_options *options, tesela_error *err) {
  tesela_status status = arena_check_counts(n, options->capacity, err);
  bool fixed = false;
  if (status == TESELA_OK && options->effort < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "effort is %" PRId64 "; expected 0 or more",
                        options->effort);
  for (int32_t i = 0; i < n && status == TESELA_OK; i++) {
    status = arena_check_ranges(buffers, i, err);
    if (status != TESELA_OK || buffers[i].offset < 0) continue;
    fixed = true;
    status = arena_check_place(buffers, i, options->capacity, err);
  }
  if (status == TESELA_OK) status = arena_check_sums(n, buffers, err);
  return status == TESELA_OK && fixed ? arena_check_all_spans(n, buffers, options->allocator, err) : status;
}

double tesela_arena_fragmentation(const tesela_arena_facts *facts) {
  return facts && facts->peak > 0 ? 1.0 - (double)facts->live / (double)facts->peak : 0.0;
}
