/* SPDX-License-Identifier: Apache-2.0 */
/* register_oracle.c - see register_oracle.h. */
#include "register_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------------------ */

static void *get_memory(size_t size) {
  void *memory = malloc(size + 1);
  if (!memory) abort();
  return memory;
}

static int64_t product(int32_t n, const int64_t *factors) {
  int64_t p = 1;
  for (int32_t i = 0; i < n; i++) p *= factors[i];
  return p;
}

/* Row-major: number -> index and back. */
static void index_of(int32_t rank, const int64_t *shape, int64_t number, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    index[d] = number % shape[d];
    number /= shape[d];
  }
}

static int64_t number_of(int32_t rank, const int64_t *shape, const int64_t *index) {
  int64_t number = 0;
  for (int32_t d = 0; d < rank; d++) number = number * shape[d] + index[d];
  return number;
}

static void begin(relation *r, int32_t rank, const int64_t *shape, int64_t threads, int64_t locals,
                  int64_t copies) {
  *r = (relation){.rank = rank, .threads = threads, .locals = locals, .copies = copies};
  memcpy(r->shape, shape, (size_t)rank * sizeof *shape);
  r->elements = product(rank, shape);
  if (rank > TESELA_MAX_RANK || r->elements * copies > RELATION_MOST || threads > INT32_MAX ||
      locals > INT32_MAX) {
    fprintf(stderr, "register_oracle: too large\n");
    abort();
  }
  r->thread = get_memory((size_t)(r->elements * copies) * sizeof *r->thread);
  r->local = get_memory((size_t)r->elements * sizeof *r->local);
}

void relation_free(relation *r) {
  free(r->thread);
  free(r->local);
  *r = (relation){0};
}

bool relation_equal(const relation *a, const relation *b) {
  return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0 &&
         a->threads == b->threads && a->locals == b->locals && a->copies == b->copies &&
         memcmp(a->thread, b->thread, (size_t)(a->elements * a->copies) * sizeof *a->thread) == 0 &&
         memcmp(a->local, b->local, (size_t)a->elements * sizeof *a->local) == 0;
}

static const int32_t *threads_of(const relation *r, int64_t element) {
  return r->thread + element * r->copies;
}

static int ascending(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Sort a row and remove duplicates; returns its new length. */
static int64_t sort_set(int32_t *row, int64_t n) {
  int64_t kept = 0;
  if (n > 1) qsort(row, (size_t)n, sizeof *row, ascending);
  for (int64_t i = 0; i < n; i++)
    if (kept == 0 || row[kept - 1] != row[i]) row[kept++] = row[i];
  return kept;
}

/* ---- four lists -------------------------------------------------------------------------------------------- */

/* The modes above 1 by dim: place[first[d]] .. place[first[d+1] - 1] are the mode numbers. */
static bool group_modes(const register_lists *l, int32_t *place, int32_t *first) {
  int32_t m = 0, n = 0;
  for (int32_t d = 0; d < l->rank; d++) {
    int64_t have = 1;
    first[d] = n;
    while (have < l->shape[d]) {
      while (m < l->n_modes && l->mode_shape[m] == 1) m++;
      if (m == l->n_modes) return false;
      have *= l->mode_shape[m];
      place[n++] = m++;
    }
    if (have != l->shape[d]) return false;
  }
  first[l->rank] = n;
  while (m < l->n_modes && l->mode_shape[m] == 1) m++;
  return m == l->n_modes;
}

uint32_t register_lists_faults(const register_lists *l) {
  uint32_t faults = 0;
  int32_t used[LISTS_MOST] = {0}, place[LISTS_MOST], first[LISTS_MOST + 1];
  for (int32_t d = 0; d < l->rank; d++)
    if (l->shape[d] < 1) faults |= REFUSED(SHAPE_NOT_POSITIVE);
  for (int32_t m = 0; m < l->n_modes; m++)
    if (l->mode_shape[m] < 1) faults |= REFUSED(MODE_NOT_POSITIVE);
  if (!faults && !group_modes(l, place, first)) faults |= REFUSED(MODE_DOES_NOT_FIT_SHAPE);
  for (int32_t i = 0; i < l->n_spatial; i++) {
    if (l->spatial_modes[i] >= l->n_modes)
      faults |= REFUSED(SPATIAL_MODE_OUT_OF_RANGE);
    else if (l->spatial_modes[i] >= 0 && used[l->spatial_modes[i]]++)
      faults |= REFUSED(MODE_USED_TWICE);
  }
  for (int32_t i = 0; i < l->n_local; i++) {
    if (l->local_modes[i] < 0 || l->local_modes[i] >= l->n_modes)
      faults |= REFUSED(LOCAL_MODE_OUT_OF_RANGE);
    else if (used[l->local_modes[i]]++)
      faults |= REFUSED(MODE_USED_TWICE);
  }
  for (int32_t m = 0; m < l->n_modes; m++)
    if (!faults && !used[m] && l->mode_shape[m] > 1) return REFUSED(MODE_NOT_PLACED);
  return faults;
}

/* The thread number of digits and one choice of the replicas, numbered row-major. */
static int64_t thread_number(const register_lists *l, const int64_t *digit, int64_t choice) {
  int64_t values[LISTS_MOST], number = 0;
  for (int32_t i = l->n_spatial - 1; i >= 0; i--) {
    int64_t entry = l->spatial_modes[i];
    values[i] = entry >= 0 ? digit[entry] : choice % -entry;
    if (entry < 0) choice /= -entry;
  }
  for (int32_t i = 0; i < l->n_spatial; i++) {
    int64_t entry = l->spatial_modes[i];
    number = number * (entry >= 0 ? l->mode_shape[entry] : -entry) + values[i];
  }
  return number;
}

void relation_of_lists(relation *out, const register_lists *l) {
  int32_t place[LISTS_MOST], first[LISTS_MOST + 1];
  int64_t threads = 1, locals = 1, copies = 1, digit[LISTS_MOST] = {0}, index[LISTS_MOST];
  if (!group_modes(l, place, first)) abort();
  for (int32_t i = 0; i < l->n_spatial; i++) {
    int64_t entry = l->spatial_modes[i];
    threads *= entry >= 0 ? l->mode_shape[entry] : -entry;
    copies *= entry >= 0 ? 1 : -entry;
  }
  for (int32_t i = 0; i < l->n_local; i++) locals *= l->mode_shape[l->local_modes[i]];
  begin(out, l->rank, l->shape, threads, locals, copies);
  for (int64_t x = 0; x < out->elements; x++) {
    index_of(l->rank, l->shape, x, index);
    for (int32_t d = 0; d < l->rank; d++)
      for (int32_t m = first[d + 1] - 1; m >= first[d]; m--) {
        digit[place[m]] = index[d] % l->mode_shape[place[m]];
        index[d] /= l->mode_shape[place[m]];
      }
    for (int64_t k = 0; k < copies; k++) out->thread[x * copies + k] = (int32_t)thread_number(l, digit, k);
    if (sort_set(out->thread + x * copies, copies) != copies) abort();
    int64_t local = 0;
    for (int32_t i = 0; i < l->n_local; i++)
      local = local * l->mode_shape[l->local_modes[i]] + digit[l->local_modes[i]];
    out->local[x] = (int32_t)local;
  }
}

void lists_of_register(register_lists *lists, const tesela_register *layout) {
  *lists =
      (register_lists){layout->rank, layout->n_modes, layout->n_spatial, layout->n_local, {0}, {0}, {0}, {0}};
  for (int32_t i = 0; i < layout->rank; i++) lists->shape[i] = layout->shape[i];
  for (int32_t i = 0; i < layout->n_modes; i++) lists->mode_shape[i] = layout->mode_shape[i];
  for (int32_t i = 0; i < layout->n_spatial; i++) lists->spatial_modes[i] = layout->spatial_modes[i];
  for (int32_t i = 0; i < layout->n_local; i++) lists->local_modes[i] = layout->local_modes[i];
}

void relation_of_register(relation *out, const tesela_register *layout) {
  register_lists lists;
  lists_of_register(&lists, layout);
  relation_of_lists(out, &lists);
}

/* ---- creation ---------------------------------------------------------------------------------------------- */

static uint32_t bad_shape(const relation_op *op) {
  for (int32_t d = 0; d < op->n; d++)
    if (op->list[d] < 1) return REFUSED(SHAPE_NOT_POSITIVE);
  return 0;
}

/* All dims in one list: ids from the index, the dims in the order of `ranks`. */
static uint32_t make_ranked(relation *out, const relation_op *op, bool spatial, const int64_t *ranks) {
  uint32_t refused = bad_shape(op);
  int64_t order[LISTS_MOST], extents[LISTS_MOST], index[LISTS_MOST], moved[LISTS_MOST];
  for (int32_t d = 0; d < op->n; d++) {
    order[d] = ranks ? ranks[d] : d;
    if (order[d] < 0 || order[d] >= op->n) refused |= REFUSED(RANKS_OUT_OF_RANGE);
    for (int32_t e = 0; e < d; e++)
      if (order[e] == order[d]) refused |= REFUSED(RANKS_DUPLICATE);
  }
  if (refused) return refused;
  int64_t n = product(op->n, op->list);
  for (int32_t d = 0; d < op->n; d++) extents[order[d]] = op->list[d];
  begin(out, op->n, op->list, spatial ? n : 1, spatial ? 1 : n, 1);
  for (int64_t x = 0; x < n; x++) {
    index_of(op->n, op->list, x, index);
    for (int32_t d = 0; d < op->n; d++) moved[order[d]] = index[d];
    int32_t id = (int32_t)number_of(op->n, extents, moved);
    out->thread[x] = spatial ? id : 0;
    out->local[x] = spatial ? 0 : id;
  }
  return 0;
}

static uint32_t make_columns(relation *out, const relation_op *op, bool spatial) {
  int64_t ranks[LISTS_MOST];
  for (int32_t d = 0; d < op->n; d++) ranks[d] = op->n - 1 - d;
  return make_ranked(out, op, spatial, ranks);
}

static uint32_t make_replicated(relation *out, const relation_op *op) {
  uint32_t refused = bad_shape(op) | (op->number < 1 ? REFUSED(WORKERS_NOT_POSITIVE) : 0);
  if (refused) return refused;
  begin(out, op->n, op->list, op->number, product(op->n, op->list), op->number);
  for (int64_t x = 0; x < out->elements; x++) {
    for (int64_t k = 0; k < op->number; k++) out->thread[x * op->number + k] = (int32_t)k;
    out->local[x] = (int32_t)x;
  }
  return 0;
}

static int64_t common(int64_t a, int64_t b) {
  while (a % b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return b;
}

static uint32_t make_auto(relation *out, const relation_op *op) {
  uint32_t refused = bad_shape(op) | (op->number < 1 ? REFUSED(WORKERS_NOT_POSITIVE) : 0);
  if (refused) return refused;
  int64_t n = product(op->n, op->list), left = op->number, s[LISTS_MOST], rest[LISTS_MOST];
  if (n % op->number != 0 && op->number % n != 0) return REFUSED(THREADS_DO_NOT_FIT);
  for (int32_t d = op->n - 1; d >= 0; d--) {
    s[d] = common(left, op->list[d]);
    rest[d] = op->list[d] / s[d];
    left /= s[d];
  }
  begin(out, op->n, op->list, op->number, product(op->n, rest), left);
  for (int64_t x = 0; x < n; x++) {
    int64_t hi[LISTS_MOST], lo[LISTS_MOST];
    index_of(op->n, op->list, x, hi);
    for (int32_t d = 0; d < op->n; d++) {
      lo[d] = hi[d] % s[d];
      hi[d] /= s[d];
    }
    for (int64_t k = 0; k < left; k++)
      out->thread[x * left + k] = (int32_t)(k * product(op->n, s) + number_of(op->n, s, lo));
    out->local[x] = (int32_t)number_of(op->n, rest, hi);
  }
  return 0;
}

/* ---- shape -------------------------------------------------------------------------------------------------- */

/* Resolve negative dims; `named` marks the listed ones of 0 .. rank-1. */
static uint32_t read_dims(int32_t rank, const relation_op *op, bool *named, int64_t *resolved) {
  uint32_t refused = 0;
  memset(named, 0, LISTS_MOST * sizeof *named);
  for (int32_t i = 0; i < op->n; i++) {
    int64_t d = op->list[i] < 0 ? op->list[i] + rank : op->list[i];
    if (d < 0 || d >= rank) {
      refused |= REFUSED(DIM_OUT_OF_RANGE);
      continue;
    }
    if (named[d]) refused |= REFUSED(DIM_DUPLICATE);
    named[d] = true;
    resolved[i] = d;
  }
  return refused;
}

/* The same table with another shape. */
static void with_shape(relation *out, const relation *a, int32_t rank, const int64_t *shape) {
  begin(out, rank, shape, a->threads, a->locals, a->copies);
  if (out->elements != a->elements) abort();
  memcpy(out->thread, a->thread, (size_t)(a->elements * a->copies) * sizeof *a->thread);
  memcpy(out->local, a->local, (size_t)a->elements * sizeof *a->local);
}

static uint32_t squeeze(relation *out, const relation_op *op, const relation *a) {
  bool named[LISTS_MOST];
  int64_t dims[LISTS_MOST], shape[LISTS_MOST];
  uint32_t refused = read_dims(a->rank, op, named, dims);
  int32_t rank = 0;
  for (int32_t d = 0; d < a->rank; d++)
    if (!named[d])
      shape[rank++] = a->shape[d];
    else if (a->shape[d] != 1)
      refused |= REFUSED(DIM_NOT_ONE);
  if (!refused) with_shape(out, a, rank, shape);
  return refused;
}

static uint32_t unsqueeze(relation *out, const relation_op *op, const relation *a) {
  bool named[LISTS_MOST];
  int64_t dims[LISTS_MOST], shape[LISTS_MOST];
  int32_t rank = a->rank + op->n, from = 0;
  uint32_t refused = read_dims(rank, op, named, dims);
  if (refused) return refused;
  for (int32_t d = 0; d < rank; d++) shape[d] = named[d] ? 1 : a->shape[from++];
  with_shape(out, a, rank, shape);
  return 0;
}

static uint32_t permute(relation *out, const relation_op *op, const relation *a) {
  bool named[LISTS_MOST];
  int64_t dims[LISTS_MOST], shape[LISTS_MOST], x[LISTS_MOST], y[LISTS_MOST];
  uint32_t refused = read_dims(a->rank, op, named, dims);
  if (op->n != a->rank) refused |= REFUSED(DIMS_LENGTH);
  if (refused) return refused;
  for (int32_t k = 0; k < a->rank; k++) shape[k] = a->shape[dims[k]];
  begin(out, a->rank, shape, a->threads, a->locals, a->copies);
  for (int64_t i = 0; i < out->elements; i++) {
    index_of(a->rank, shape, i, y);
    for (int32_t k = 0; k < a->rank; k++) x[dims[k]] = y[k];
    int64_t from = number_of(a->rank, a->shape, x);
    memcpy(out->thread + i * a->copies, threads_of(a, from), (size_t)a->copies * sizeof *a->thread);
    out->local[i] = a->local[from];
  }
  return 0;
}

static uint32_t reshape(relation *out, const relation_op *op, const relation *a) {
  uint32_t refused = bad_shape(op);
  if (refused) return refused;
  if (product(op->n, op->list) != a->elements) return REFUSED(RESHAPE_SIZE_MISMATCH);
  with_shape(out, a, op->n, op->list);
  if (relation_has_modes(out)) return 0;
  relation_free(out);
  return REFUSED(RESHAPE_NOT_REPRESENTABLE);
}

static uint32_t flatten(relation *out, const relation_op *op, const relation *a) {
  int64_t shape[LISTS_MOST], first = op->list[0], last = op->list[1];
  int32_t rank = 0;
  if (a->rank == 0 && first == 0 && (last == 0 || last == -1)) {
    with_shape(out, a, 1, (const int64_t[]){1});
    return 0;
  }
  if (first < 0) first += a->rank;
  if (last < 0) last += a->rank;
  if (first < 0 || last < 0 || first >= a->rank || last >= a->rank || first > last)
    return REFUSED(DIM_OUT_OF_RANGE);
  for (int32_t d = 0; d < a->rank; d++)
    if (d > first && d <= last)
      shape[rank - 1] *= a->shape[d];
    else
      shape[rank++] = a->shape[d];
  with_shape(out, a, rank, shape);
  return 0;
}

/* ---- reduction ---------------------------------------------------------------------------------------------- */

/* Element y of the result has the threads of all x that agree with it in the remaining dims. */
static void unite(relation *out, const relation *a, const bool *drop) {
  int64_t shape[LISTS_MOST], index[LISTS_MOST], n_drop = 1;
  for (int32_t d = 0; d < a->rank; d++) {
    shape[d] = drop[d] ? 1 : a->shape[d];
    n_drop *= drop[d] ? a->shape[d] : 1;
  }
  relation all;
  begin(&all, a->rank, shape, a->threads, a->locals, n_drop * a->copies);
  int64_t *filled = get_memory((size_t)all.elements * sizeof *filled);
  memset(filled, 0, (size_t)all.elements * sizeof *filled);
  for (int64_t x = 0; x < a->elements; x++) {
    index_of(a->rank, a->shape, x, index);
    for (int32_t d = 0; d < a->rank; d++) index[d] = drop[d] ? 0 : index[d];
    int64_t y = number_of(a->rank, shape, index);
    if (filled[y] == 0 || a->local[x] < all.local[y]) all.local[y] = a->local[x];
    for (int64_t k = 0; k < a->copies; k++) all.thread[y * all.copies + filled[y]++] = threads_of(a, x)[k];
  }
  int64_t copies = 0;
  for (int64_t y = 0; y < all.elements; y++) {
    int64_t n = sort_set(all.thread + y * all.copies, all.copies);
    if (y > 0 && n != copies) abort();
    copies = n;
  }
  /* the smallest register of each, numbered densely */
  int32_t *used = get_memory((size_t)all.elements * sizeof *used);
  memcpy(used, all.local, (size_t)all.elements * sizeof *used);
  int64_t locals = sort_set(used, all.elements);
  begin(out, a->rank, shape, a->threads, locals, copies);
  for (int64_t y = 0; y < all.elements; y++) {
    memcpy(out->thread + y * copies, all.thread + y * all.copies, (size_t)copies * sizeof *out->thread);
    const int32_t *at = bsearch(&all.local[y], used, (size_t)locals, sizeof *used, ascending);
    out->local[y] = (int32_t)(at - used);
  }
  relation_free(&all);
  free(filled);
  free(used);
}

/* Remove the dims of 1 marked in `drop`; the table stays the same. */
static void drop_ones(relation *r, const bool *drop) {
  int32_t rank = 0;
  for (int32_t d = 0; d < r->rank; d++)
    if (!drop[d]) r->shape[rank++] = r->shape[d];
  r->rank = rank;
}

static uint32_t reduce(relation *out, const relation_op *op, const relation *a) {
  bool drop[LISTS_MOST];
  int64_t dims[LISTS_MOST];
  uint32_t refused = read_dims(a->rank, op, drop, dims);
  if (refused) return refused;
  unite(out, a, drop);
  if (!op->keepdims) drop_ones(out, drop);
  return 0;
}

static uint32_t reduce_to(relation *out, const relation_op *op, const relation *a) {
  bool drop[LISTS_MOST] = {false}, lead[LISTS_MOST] = {false};
  int32_t missing = a->rank - op->n;
  uint32_t refused = missing < 0 ? REFUSED(NOT_BROADCASTABLE) : 0;
  for (int32_t k = 0; k < op->n; k++) {
    int32_t d = k + missing;
    if (op->list[k] < 1)
      refused |= REFUSED(SHAPE_NOT_POSITIVE) | REFUSED(NOT_BROADCASTABLE);
    else if (d >= 0 && op->list[k] == 1)
      drop[d] = true;
    else if (d >= 0 && op->list[k] != a->shape[d])
      refused |= REFUSED(NOT_BROADCASTABLE);
  }
  if (refused) return refused;
  for (int32_t d = 0; d < missing; d++) drop[d] = lead[d] = true;
  unite(out, a, drop);
  drop_ones(out, lead);
  return 0;
}

/* ---- two layouts ---------------------------------------------------------------------------------------------- */

/* The shape of r with leading ones to `rank`, which is at least r's. */
static void padded_shape(const relation *r, int32_t rank, int64_t *shape) {
  int32_t more = rank - r->rank;
  if (more < 0) abort();
  for (int32_t d = 0; d < rank; d++) shape[d] = d < more ? 1 : r->shape[d - more];
}

static void compose(relation *out, const relation *outer, const relation *inner) {
  int32_t rank = outer->rank > inner->rank ? outer->rank : inner->rank;
  int64_t big[LISTS_MOST], small[LISTS_MOST], shape[LISTS_MOST], hi[LISTS_MOST], lo[LISTS_MOST];
  padded_shape(outer, rank, big);
  padded_shape(inner, rank, small);
  for (int32_t d = 0; d < rank; d++) shape[d] = big[d] * small[d];
  begin(out, rank, shape, outer->threads * inner->threads, outer->locals * inner->locals,
        outer->copies * inner->copies);
  for (int64_t x = 0; x < out->elements; x++) {
    index_of(rank, shape, x, hi);
    for (int32_t d = 0; d < rank; d++) {
      lo[d] = hi[d] % small[d];
      hi[d] /= small[d];
    }
    int64_t o = number_of(rank, big, hi), i = number_of(rank, small, lo), k = x * out->copies;
    for (int64_t p = 0; p < outer->copies; p++)
      for (int64_t q = 0; q < inner->copies; q++)
        out->thread[k++] = (int32_t)(threads_of(outer, o)[p] * inner->threads + threads_of(inner, i)[q]);
    (void)sort_set(out->thread + x * out->copies, out->copies);
    out->local[x] = (int32_t)(outer->local[o] * inner->locals + inner->local[i]);
  }
}

static void concat(relation *out, const relation *a, const relation *b) {
  relation longer; /* a with a dim of 1 for each dim of b: then composing appends the dims */
  int64_t shape[LISTS_MOST];
  for (int32_t d = 0; d < a->rank + b->rank; d++) shape[d] = d < a->rank ? a->shape[d] : 1;
  with_shape(&longer, a, a->rank + b->rank, shape);
  compose(out, &longer, b);
  relation_free(&longer);
}

static void repeat(relation *out, const relation *a, int32_t rank, const int64_t *times) {
  relation_op op = {.kind = RELATION_LOCAL, .n = rank};
  relation outer;
  memcpy(op.list, times, (size_t)rank * sizeof *times);
  if (make_ranked(&outer, &op, false, NULL) != 0) abort();
  compose(out, &outer, a);
  relation_free(&outer);
}

static uint32_t repeat_to(relation *out, const relation_op *op, const relation *a) {
  int64_t tile[LISTS_MOST], times[LISTS_MOST];
  uint32_t refused = bad_shape(op);
  if (refused) return refused | REFUSED(NOT_REPEATABLE);
  if (a->rank > op->n) return REFUSED(NOT_REPEATABLE);
  padded_shape(a, op->n, tile);
  for (int32_t d = 0; d < op->n; d++) {
    if (op->list[d] % tile[d] != 0) return REFUSED(NOT_REPEATABLE);
    times[d] = op->list[d] / tile[d];
  }
  repeat(out, a, op->n, times);
  return 0;
}

/* q follows from l at the elements whose part in r is element 0; composing checks all others. */
bool relation_quotient(relation *q, const relation *l, const relation *r, bool left) {
  int64_t divisor[LISTS_MOST], shape[LISTS_MOST], index[LISTS_MOST];
  if (r->rank > l->rank) return false; /* a product has the larger rank of its factors */
  padded_shape(r, l->rank, divisor);
  for (int32_t d = 0; d < l->rank; d++) {
    if (l->shape[d] % divisor[d] != 0) return false;
    shape[d] = l->shape[d] / divisor[d];
  }
  if (l->threads % r->threads || l->locals % r->locals || l->copies % r->copies) return false;
  begin(q, l->rank, shape, l->threads / r->threads, l->locals / r->locals, l->copies / r->copies);
  int32_t *row = get_memory((size_t)l->copies * sizeof *row);
  bool fits = true;
  for (int64_t x = 0; x < q->elements && fits; x++) {
    index_of(l->rank, shape, x, index);
    if (!left)
      for (int32_t d = 0; d < l->rank; d++) index[d] *= divisor[d];
    int64_t from = number_of(l->rank, l->shape, index);
    for (int64_t k = 0; k < l->copies; k++) {
      int64_t t = threads_of(l, from)[k];
      row[k] = (int32_t)(left ? t % q->threads : t / r->threads);
    }
    fits = sort_set(row, l->copies) == q->copies;
    if (fits) memcpy(q->thread + x * q->copies, row, (size_t)q->copies * sizeof *row);
    q->local[x] = (int32_t)(left ? l->local[from] % q->locals : l->local[from] / r->locals);
  }
  free(row);
  if (fits) {
    relation flat, back;
    with_shape(&flat, r, l->rank, divisor);
    if (left)
      compose(&back, &flat, q);
    else
      compose(&back, q, &flat);
    fits = relation_equal(&back, l);
    relation_free(&flat);
    relation_free(&back);
  }
  if (!fits) relation_free(q);
  return fits;
}

static bool quotient(relation *out, const relation *l, const relation *r, bool left) {
  if (!relation_quotient(out, l, r, left)) return false;
  if (relation_has_modes(out)) return true;
  relation_free(out);
  return false;
}

/* ---- the table of operations ---------------------------------------------------------------------------------- */

const char *relation_op_name(relation_kind kind) {
  static const char *const names[] = {
#define RELATION_OP(symbol, name, operands) #name,
      RELATION_OPS(RELATION_OP)
#undef RELATION_OP
  };
  return names[kind];
}

int relation_op_operands(relation_kind kind) {
  static const int operands_of[] = {
#define RELATION_OP(symbol, name, operands) operands,
      RELATION_OPS(RELATION_OP)
#undef RELATION_OP
  };
  return operands_of[kind];
}

uint32_t relation_apply(relation *out, const relation_op *op, const relation *a, const relation *b) {
  switch (op->kind) {
  case RELATION_SPATIAL:
    return make_ranked(out, op, true, op->ranked ? op->ranks : NULL);
  case RELATION_LOCAL:
    return make_ranked(out, op, false, op->ranked ? op->ranks : NULL);
  case RELATION_COLUMN_SPATIAL:
    return make_columns(out, op, true);
  case RELATION_COLUMN_LOCAL:
    return make_columns(out, op, false);
  case RELATION_REPLICATED:
    return make_replicated(out, op);
  case RELATION_AUTO_LOCAL_SPATIAL:
    return make_auto(out, op);
  case RELATION_SQUEEZE:
    return squeeze(out, op, a);
  case RELATION_UNSQUEEZE:
    return unsqueeze(out, op, a);
  case RELATION_PERMUTE:
    return permute(out, op, a);
  case RELATION_RESHAPE:
    return reshape(out, op, a);
  case RELATION_FLATTEN:
    return flatten(out, op, a);
  case RELATION_REDUCE:
    return reduce(out, op, a);
  case RELATION_REDUCE_TO:
    return reduce_to(out, op, a);
  case RELATION_REPEAT_TO:
    return repeat_to(out, op, a);
  case RELATION_COMPOSE:
    compose(out, a, b);
    return 0;
  case RELATION_CONCAT:
    concat(out, a, b);
    return 0;
  case RELATION_DIVIDE:
    return quotient(out, a, b, false) ? 0 : REFUSED(NOT_DIVISIBLE);
  case RELATION_LEFT_DIVIDE:
    return quotient(out, a, b, true) ? 0 : REFUSED(NOT_LEFT_DIVISIBLE);
  case RELATION_KINDS:
    break;
  }
  abort();
}
