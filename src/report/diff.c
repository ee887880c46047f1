/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - which arrays changed between two reports.
 *
 * Arrays have no identity that survives a recompilation: names are renumbered. What survives is the type
 * and dims, the role, and the operation of the user's program. So rows are paired in three passes, each on
 * what the one before left over:
 *
 *   1. equal shape text                       not a change; if the counts differ, the rest continues
 *   2. equal type and dims, other layout      pairs with the same operation or instruction first
 *   3. other dims, same operation or name     changed size
 *
 * and the rest is removed or new. Each pass is one sort and one walk over runs of equal keys.
 */
#include "report/heap.h"
#include "report/report_state.h"

/* A row of one of the reports, with the arrays that are not paired yet. */
typedef struct diff_item {
  const tesela_report_array *array;
  const tesela_report_array *twin; /* the same shape on the other side, if there is one */
  size_t n_dims_text;              /* bytes of "f32[2,3]" */
  int64_t left;
  bool after;
} diff_item;

struct tesela_report_diff {
  tesela_allocator allocator;
  tesela_report_change *change;
  const tesela_report_change **sorted;
  size_t n_changes, cap_changes;
  diff_item *item;
  const void **order;
  size_t n_items;
};

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* The shape of an array that the report only fitted a tile to counts with that tile. */
static const char *shape_text(const tesela_report_array *array) {
  return array->fitted[0] != '\0' ? array->fitted : array->shape;
}

static int compare_kind(const diff_item *a, const diff_item *b) {
  if (a->array->source != b->array->source) return a->array->source < b->array->source ? -1 : 1;
  if (a->array->role != b->array->role) return a->array->role < b->array->role ? -1 : 1;
  return 0;
}

static int compare_dims(const diff_item *a, const diff_item *b) {
  int order = compare_kind(a, b);
  if (order != 0) return order;
  size_t n = a->n_dims_text < b->n_dims_text ? a->n_dims_text : b->n_dims_text;
  order = memcmp(shape_text(a->array), shape_text(b->array), n);
  if (order != 0) return order;
  return a->n_dims_text < b->n_dims_text ? -1 : a->n_dims_text > b->n_dims_text;
}

/* Arrays without a shape are equal if their bytes, the shapes of their row and their names are. */
static int compare_shape(const diff_item *a, const diff_item *b) {
  int order = compare_kind(a, b);
  if (order == 0) order = strcmp(shape_text(a->array), shape_text(b->array));
  if (order != 0 || shape_text(a->array)[0] != '\0') return order;
  if (a->array->stored_bytes != b->array->stored_bytes)
    return a->array->stored_bytes < b->array->stored_bytes ? -1 : 1;
  order = strcmp(a->array->listed, b->array->listed);
  if (order == 0) order = strcmp(a->array->op_name, b->array->op_name);
  return order != 0 ? order : strcmp(a->array->name, b->array->name);
}

static int compare_operation(const diff_item *a, const diff_item *b) {
  int order = compare_kind(a, b);
  return order != 0 ? order : strcmp(a->array->op_name, b->array->op_name);
}

static int compare_name(const diff_item *a, const diff_item *b) {
  int order = compare_kind(a, b);
  return order != 0 ? order : strcmp(a->array->name, b->array->name);
}

/* Pairs need a name to be paired by. Instruction names are renumbered in every dump, so in HLO text they
 * are meaningful for arguments only. */
static bool has_operation(const diff_item *item) { return item->array->op_name[0] != '\0'; }
static bool has_name(const diff_item *item) {
  bool stable = item->array->source == TESELA_REPORT_MEMORY || item->array->role == TESELA_REPORT_ARGUMENT;
  return stable && item->array->name[0] != '\0';
}
static bool has_anything(const diff_item *item) {
  (void)item;
  return true;
}
static bool has_shape(const diff_item *item) { return shape_text(item->array)[0] != '\0'; }

static bool is_first(const void *a, const void *b, const void *compare) {
  int order = (*(int (*const *)(const diff_item *, const diff_item *))compare)(a, b);
  if (order != 0) return order < 0;
  return (const diff_item *)a < (const diff_item *)b;
}

/* ---- pairing ------------------------------------------------------------------------------------------- */

static int64_t bytes_times(int64_t bytes, int64_t count) {
  int64_t product;
  if (tesela__mul(bytes, count, &product)) return product;
  return bytes < 0 ? INT64_MIN : INT64_MAX;
}

static bool add_diff_change(tesela_report_diff *diff, tesela_report_change_kind kind, int64_t count,
                            const tesela_report_array *before, const tesela_report_array *after) {
  void *changes = diff->change;
  if (!tesela__grow(&diff->allocator, &changes, sizeof *diff->change, &diff->cap_changes,
                    diff->n_changes + 1))
    return false;
  diff->change = changes;
  int64_t delta = (after ? after->stored_bytes : 0) - (before ? before->stored_bytes : 0);
  diff->change[diff->n_changes++] =
      (tesela_report_change){kind, count, before, after, bytes_times(delta, count)};
  return true;
}

typedef struct diff_pass {
  int (*compare)(const diff_item *a, const diff_item *b); /* equal: may be paired */
  bool (*takes_part)(const diff_item *item);
  bool is_change;
  tesela_report_change_kind kind;
} diff_pass;

static bool pair_items(tesela_report_diff *diff, const diff_pass *pass, diff_item *a, diff_item *b) {
  diff_item *before = a->after ? b : a, *after = a->after ? a : b;
  int64_t count = tesela__min(before->left, after->left);
  before->left -= count;
  after->left -= count;
  if (!pass->is_change) {
    before->twin = after->array;
    after->twin = before->array;
    return true;
  }
  return add_diff_change(diff, pass->kind, count, before->array, after->array);
}

/* Pair the items first .. end-1, all equal for the pass. Both sides are walked in order, so a run of n costs
 * n. */
static bool pair_run(tesela_report_diff *diff, const diff_pass *pass, size_t first, size_t end) {
  size_t next[2] = {first, first}; /* before, after */
  for (;;) {
    for (int which = 0; which < 2; which++)
      for (; next[which] < end; next[which]++) {
        const diff_item *item = diff->order[next[which]];
        if (item->left > 0 && item->after == (which == 1)) break;
      }
    if (next[0] >= end || next[1] >= end) return true;
    diff_item *before = &diff->item[(const diff_item *)diff->order[next[0]] - diff->item];
    diff_item *after = &diff->item[(const diff_item *)diff->order[next[1]] - diff->item];
    if (!pair_items(diff, pass, before, after)) return false;
  }
}

static bool run_pass(tesela_report_diff *diff, const diff_pass *pass) {
  size_t n = 0;
  for (size_t i = 0; i < diff->n_items; i++)
    if (diff->item[i].left > 0 && pass->takes_part(&diff->item[i])) diff->order[n++] = &diff->item[i];
  tesela__heap_sort(diff->order, n, is_first, &pass->compare);
  for (size_t first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && pass->compare(diff->order[first], diff->order[end]) == 0;) end++;
    if (!pair_run(diff, pass, first, end)) return false;
  }
  return true;
}

static int compare_dims_operation(const diff_item *a, const diff_item *b) {
  int order = compare_dims(a, b);
  return order != 0 ? order : strcmp(a->array->op_name, b->array->op_name);
}

static int compare_dims_name(const diff_item *a, const diff_item *b) {
  int order = compare_dims(a, b);
  return order != 0 ? order : strcmp(a->array->name, b->array->name);
}

static bool has_shape_and_operation(const diff_item *item) { return has_shape(item) && has_operation(item); }
static bool has_shape_and_name(const diff_item *item) { return has_shape(item) && has_name(item); }

static const diff_pass diff_passes[] = {
    {compare_shape, has_anything, false, TESELA_REPORT_CHANGED_COUNT},
    {compare_dims_operation, has_shape_and_operation, true, TESELA_REPORT_CHANGED_LAYOUT},
    {compare_dims_name, has_shape_and_name, true, TESELA_REPORT_CHANGED_LAYOUT},
    {compare_dims, has_shape, true, TESELA_REPORT_CHANGED_LAYOUT},
    {compare_operation, has_operation, true, TESELA_REPORT_CHANGED_SIZE},
    {compare_name, has_name, true, TESELA_REPORT_CHANGED_SIZE},
};

/* What no pass paired: more or fewer of a shape that both have, gone, or new. */
static bool add_rest(tesela_report_diff *diff) {
  for (size_t i = 0; i < diff->n_items; i++) {
    const diff_item *item = &diff->item[i];
    const tesela_report_array *before = item->after ? NULL : item->array,
                              *after = item->after ? item->array : NULL;
    if (item->left == 0) continue;
    if (!add_diff_change(diff,
                         item->twin ? TESELA_REPORT_CHANGED_COUNT
                         : before   ? TESELA_REPORT_GONE
                                    : TESELA_REPORT_NEW,
                         item->left, before, after))
      return false;
    if (!item->twin) continue;
    tesela_report_change *change =
        &diff->change[diff->n_changes - 1]; /* its bytes are those of one which alone */
    if (before)
      change->after = item->twin;
    else
      change->before = item->twin;
  }
  return true;
}

/* ---- the diff ------------------------------------------------------------------------------------------ */

static int64_t change_magnitude(int64_t bytes) {
  return bytes < 0 ? (bytes == INT64_MIN ? INT64_MAX : -bytes) : bytes;
}

static bool larger_change(const void *a_change, const void *b_change, const void *user) {
  const tesela_report_change *a = a_change, *b = b_change;
  (void)user;
  if (change_magnitude(a->bytes) != change_magnitude(b->bytes))
    return change_magnitude(a->bytes) > change_magnitude(b->bytes);
  return a < b;
}

static void add_items(tesela_report_diff *diff, const tesela_report *report,
                      const tesela_report_filter *filter, bool after) {
  for (size_t i = 0; i < report->n_arrays; i++) {
    const tesela_report_array *array = &report->array[i].public;
    if (!tesela__report_matches(array, filter)) continue;
    const char *text = shape_text(array), *close = strchr(text, ']');
    diff->item[diff->n_items++] =
        (diff_item){.array = array,
                    .n_dims_text = close ? (size_t)(close - text) + 1 : strlen(text),
                    .left = array->count,
                    .after = after};
  }
}

static bool diff_build(tesela_report_diff *diff, const tesela_report *before, const tesela_report *after,
                       const tesela_report_filter *filter) {
  size_t most = before->n_arrays + after->n_arrays;
  diff->item = tesela__alloc(&diff->allocator, most * sizeof *diff->item, alignof(diff_item));
  diff->order = tesela__alloc(&diff->allocator, most * sizeof *diff->order, alignof(void *));
  if (!diff->item || !diff->order) return false;
  add_items(diff, before, filter, false);
  add_items(diff, after, filter, true);
  for (size_t i = 0; i < sizeof diff_passes / sizeof diff_passes[0]; i++)
    if (!run_pass(diff, &diff_passes[i])) return false;
  if (!add_rest(diff)) return false;
  diff->sorted = tesela__alloc(&diff->allocator, diff->n_changes * sizeof *diff->sorted, alignof(void *));
  if (!diff->sorted) return false;
  for (size_t i = 0; i < diff->n_changes; i++) diff->sorted[i] = &diff->change[i];
  tesela__heap_sort((const void **)(void *)diff->sorted, diff->n_changes, larger_change, NULL);
  return true;
}

tesela_status tesela_report_diff_create(tesela_report_diff **diff, const tesela_report *before,
                                        const tesela_report *after, const tesela_report_filter *filter,
                                        const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, diff, before, after);
  tesela_allocator memory = tesela__allocator(allocator);
  tesela_report_diff *made = tesela__alloc(&memory, sizeof *made, alignof(tesela_report_diff));
  if (made) *made = (tesela_report_diff){.allocator = memory};
  if (!made || !diff_build(made, before, after, filter)) {
    tesela_report_diff_destroy(made);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to compare two reports");
  }
  *diff = made;
  return TESELA_OK;
}

void tesela_report_diff_destroy(tesela_report_diff *diff) {
  if (!diff) return;
  tesela_allocator memory = diff->allocator;
  tesela__release(&memory, diff->change);
  tesela__release(&memory, diff->sorted);
  tesela__release(&memory, diff->item);
  tesela__release(&memory, diff->order);
  tesela__release(&memory, diff);
}

int64_t tesela_report_diff_count(const tesela_report_diff *diff) {
  return diff ? (int64_t)diff->n_changes : 0;
}

const tesela_report_change *tesela_report_diff_at(const tesela_report_diff *diff, int64_t i) {
  return diff && i >= 0 && i < (int64_t)diff->n_changes ? diff->sorted[i] : NULL;
}

const char *tesela_report_change_name(tesela_report_change_kind kind) {
  static const char *const names[] = {"layout", "size", "count", "gone", "new"};
  return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
}
