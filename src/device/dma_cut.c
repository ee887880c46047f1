/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_cut.c - tile the digits of the coordinates [lo, hi) with few boxes.
 *
 * At one step m, [lo, hi) is a partial digit a from residue f on, whole digits, and a partial digit b below residue l.
 * The residues are coordinates for the smaller steps: the same problem again. There are several choices:
 *
 *   stacks     a x [f,m)    between x [0,m)      b x [0,l)
 *   segments   between the cuts f and l of [0,m) the digits are equal
 *   last       a x [f,m)    (between + b) x [0,c)    between x [c,m)    b x [c,l)     c: l without some small digits
 *   first      (a + between) x [c,m)    between x [0,c)    a x [f,c)    b x [0,l)     c: f with these digits rounded up
 *
 * Stacks are best for steps that divide each other; the others win if a short last block ends like the whole ones.
 * Dynamic programming on (step, lo, hi) finds the least count over all choices; then adjacent boxes are joined.
 */
#include "device/dma.h"

#include <stdlib.h>

enum {
  DMA_STACKS,
  DMA_SEGMENTS,
  DMA_LAST,
  DMA_FIRST,
  DMA_STATES = 1 << 18,
  DMA_MANY = 1 << 21,
  DMA_JOIN = 768
};

typedef struct dma_state {
  int64_t lo, hi, cut;
  int32_t level, count; /* count 0: free */
  int32_t way;
} dma_state;

typedef struct dma_cutter {
  int32_t n;
  const int64_t *step;
  const tesela_allocator *allocator;
  dma_state *table; /* open addressing, a power of two, at most half full */
  size_t used, capacity;
  tesela_status status;
  tesela__dma_boxes *boxes;
  int64_t start[TESELA__DMA_DIGITS], length[TESELA__DMA_DIGITS];
} dma_cutter;

/* A range of digits, each with the residues [lo, hi). */
typedef struct dma_part {
  int64_t first, count, lo, hi;
} dma_part;

static int32_t dma_part_add(dma_part *parts, int32_t n, int64_t first, int64_t count, int64_t lo,
                            int64_t hi) {
  if (count <= 0 || lo >= hi) return n;
  parts[n] = (dma_part){first, count, lo, hi};
  return n + 1;
}

/* The parts of [lo, hi) at step m, at most 4. */
static int32_t dma_parts(dma_part parts[4], int64_t m, int64_t lo, int64_t hi, int32_t way, int64_t cut) {
  int64_t a = lo / m, b = (hi - 1) / m, f = lo - a * m, l = hi - b * m;
  if (a == b) return dma_part_add(parts, 0, a, 1, f, l);
  int64_t first = a + (f > 0), count = b - (l < m) - first + 1; /* whole digits */
  int32_t n = 0;
  switch (way) {
  case DMA_SEGMENTS: {
    int64_t low = tesela__min(f, l), high = tesela__max(f, l);
    n = dma_part_add(parts, n, a + (f > 0), b - a + (f == 0), 0, low);
    if (f <= l)
      n = dma_part_add(parts, n, a, b - a + 1, low, high);
    else
      n = dma_part_add(parts, n, a + 1, b - a - 1, low, high);
    return dma_part_add(parts, n, a, b - a + (l == m), high, m);
  }
  case DMA_LAST:
    n = dma_part_add(parts, n, a, f > 0, f, m);
    n = dma_part_add(parts, n, first, count + 1, 0, cut);
    n = dma_part_add(parts, n, first, count, cut, m);
    return dma_part_add(parts, n, b, 1, cut, l);
  case DMA_FIRST:
    n = dma_part_add(parts, n, a, 1, f, cut);
    n = dma_part_add(parts, n, first - 1, count + 1, cut, m);
    n = dma_part_add(parts, n, first, count, 0, cut);
    return dma_part_add(parts, n, b, l < m, 0, l);
  default:
    n = dma_part_add(parts, n, a, f > 0, f, m);
    n = dma_part_add(parts, n, first, count, 0, m);
    return dma_part_add(parts, n, b, l < m, 0, l);
  }
}

static size_t dma_hash(int32_t level, int64_t lo, int64_t hi) {
  uint64_t h = ((uint64_t)lo * 0x9E3779B97F4A7C15u) ^ ((uint64_t)hi * 0xC2B2AE3D27D4EB4Fu) ^ (uint64_t)level;
  return (size_t)(h ^ (h >> 29) ^ (h >> 43));
}

/* The slot of a state; its count is 0 if the state is new. */
static dma_state *dma_slot(dma_state *table, size_t capacity, int32_t level, int64_t lo, int64_t hi) {
  for (size_t at = dma_hash(level, lo, hi);; at++) {
    dma_state *slot = &table[at & (capacity - 1)];
    if (slot->count == 0 || (slot->level == level && slot->lo == lo && slot->hi == hi)) return slot;
  }
}

static bool dma_remember(dma_cutter *c, const dma_state *state) {
  if (c->used * 2 >= c->capacity) {
    size_t more = c->capacity ? c->capacity * 4 : 64;
    if (more > 2 * (size_t)DMA_STATES) {
      c->status = TESELA_E_LIMIT;
      return false;
    }
    dma_state *table = tesela__alloc(c->allocator, more * sizeof *table, alignof(dma_state));
    if (!table) {
      c->status = TESELA_E_MEMORY;
      return false;
    }
    memset(table, 0, more * sizeof *table);
    for (size_t k = 0; k < c->capacity; k++)
      if (c->table[k].count)
        *dma_slot(table, more, c->table[k].level, c->table[k].lo, c->table[k].hi) = c->table[k];
    tesela__release(c->allocator, c->table);
    c->table = table, c->capacity = more;
  }
  *dma_slot(c->table, c->capacity, state->level, state->lo, state->hi) = *state;
  c->used++;
  return true;
}

static int32_t dma_count(dma_cutter *c, int32_t level, int64_t lo, int64_t hi);

static void dma_try(dma_cutter *c, dma_state *best, int32_t way, int64_t cut) {
  dma_part parts[4];
  int32_t n = dma_parts(parts, c->step[best->level], best->lo, best->hi, way, cut), sum = 0;
  for (int32_t k = 0; k < n && sum < best->count; k++)
    sum += dma_count(c, best->level + 1, parts[k].lo, parts[k].hi);
  if (sum < best->count) best->count = sum, best->way = way, best->cut = cut;
}

/* The number of boxes for [lo, hi) from this level on; 1 after a failure. Recursion depth: the digits of a chain. */
static int32_t dma_count(dma_cutter *c, int32_t level, int64_t lo, int64_t hi) {
  if (level >= c->n - 1 || c->status != TESELA_OK) return 1;
  int64_t m = c->step[level], a = lo / m, b = (hi - 1) / m, f = lo - a * m, l = hi - b * m;
  if (a == b) return dma_count(c, level + 1, f, l);
  if (c->table) {
    const dma_state *known = dma_slot(c->table, c->capacity, level, lo, hi);
    if (known->count) return known->count;
  }
  dma_state best = {.lo = lo, .hi = hi, .level = level, .count = DMA_MANY};
  dma_try(c, &best, DMA_STACKS, 0);
  if (f > 0 || l < m) dma_try(c, &best, DMA_SEGMENTS, 0);
  bool between = b - (l < m) >= a + (f > 0);
  int64_t cut = 0, rest = l;
  for (int32_t k = level + 1; k < c->n && l < m && between; k++, cut = l - rest) {
    if (cut > 0) dma_try(c, &best, DMA_LAST, cut);
    rest %= c->step[k];
  }
  if (l < m && between) dma_try(c, &best, DMA_LAST, l);
  rest = f;
  for (int32_t k = level + 1; k < c->n && f > 0 && between; k++) {
    rest %= c->step[k];
    cut = rest ? tesela__min(f - rest + c->step[k], m) : f;
    if (cut < m) dma_try(c, &best, DMA_FIRST, cut);
  }
  if (c->status != TESELA_OK || !dma_remember(c, &best)) return 1;
  return best.count;
}

bool tesela__dma_box_add(tesela__dma_boxes *boxes, const int64_t *start, const int64_t *count,
                         const tesela_allocator *allocator) {
  size_t width = (size_t)boxes->width;
  void *at = boxes->at;
  bool grown =
      tesela__grow(allocator, &at, 2 * (width ? width : 1) * sizeof(int64_t), &boxes->capacity, boxes->n + 1);
  boxes->at = at;
  if (!grown) return false;
  int64_t *box = tesela__dma_box(boxes, boxes->n++);
  if (width) memcpy(box, start, width * sizeof *box), memcpy(box + width, count, width * sizeof *box);
  return true;
}

/* Write the boxes that dma_count counted. */
static void dma_emit(dma_cutter *c, int32_t level, int64_t lo, int64_t hi) {
  if (c->status != TESELA_OK) return;
  if (level == c->n - 1) {
    c->start[level] = lo, c->length[level] = hi - lo;
    if (!tesela__dma_box_add(c->boxes, c->start, c->length, c->allocator)) c->status = TESELA_E_MEMORY;
    return;
  }
  int64_t m = c->step[level], cut = 0;
  int32_t way = DMA_STACKS;
  if (lo / m != (hi - 1) / m) {
    const dma_state *known = dma_slot(c->table, c->capacity, level, lo, hi);
    way = known->way, cut = known->cut;
  }
  dma_part parts[4];
  int32_t n = dma_parts(parts, m, lo, hi, way, cut);
  for (int32_t k = 0; k < n; k++) {
    c->start[level] = parts[k].first, c->length[level] = parts[k].count;
    dma_emit(c, level + 1, parts[k].lo, parts[k].hi);
  }
}

/* If two boxes are adjacent along one digit and equal in the others, extend the first by the second. */
static bool dma_join(int64_t *x, const int64_t *y, int32_t width) {
  int32_t along = -1;
  for (int32_t k = 0; k < width; k++) {
    if (x[k] == y[k] && x[width + k] == y[width + k]) continue;
    if (along >= 0) return false;
    along = k;
  }
  if (along < 0) return false;
  int64_t *start = &x[along], *count = &x[width + along];
  if (*start + *count == y[along])
    *count += y[width + along];
  else if (y[along] + y[width + along] == *start)
    *start = y[along], *count += y[width + along];
  else
    return false;
  return true;
}

void tesela__dma_join_boxes(tesela__dma_boxes *boxes) {
  if (boxes->n > DMA_JOIN) return; /* quadratic */
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < boxes->n; i++)
      for (size_t k = i + 1; k < boxes->n; k++) {
        if (!dma_join(tesela__dma_box(boxes, i), tesela__dma_box(boxes, k), boxes->width)) continue;
        boxes->n--;
        if (k < boxes->n)
          memmove(tesela__dma_box(boxes, k), tesela__dma_box(boxes, k + 1),
                  (boxes->n - k) * 2 * (size_t)boxes->width * sizeof(int64_t));
        again = true;
        k = i;
      }
  }
}

typedef struct dma_key {
  int64_t at;
  size_t box;
} dma_key;

static int dma_by_key(const void *x, const void *y) {
  int64_t a = ((const dma_key *)x)->at, b = ((const dma_key *)y)->at;
  return (a > b) - (a < b);
}

/* Sort by first coordinates, which differ. */
static bool dma_sort(tesela__dma_boxes *boxes, const int64_t *step, const tesela_allocator *allocator) {
  size_t bytes = 2 * (size_t)boxes->width * sizeof(int64_t);
  dma_key *key = tesela__alloc(allocator, boxes->n * sizeof *key, alignof(dma_key));
  int64_t *sorted = key ? tesela__alloc(allocator, boxes->n * bytes, alignof(int64_t)) : NULL;
  if (sorted) {
    for (size_t i = 0; i < boxes->n; i++) {
      key[i] = (dma_key){0, i};
      for (int32_t k = 0; k < boxes->width; k++) key[i].at += tesela__dma_box(boxes, i)[k] * step[k];
    }
    qsort(key, boxes->n, sizeof *key, dma_by_key);
    for (size_t i = 0; i < boxes->n; i++)
      memcpy((char *)sorted + i * bytes, tesela__dma_box(boxes, key[i].box), bytes);
    memcpy(boxes->at, sorted, boxes->n * bytes);
  }
  tesela__release(allocator, sorted);
  tesela__release(allocator, key);
  return sorted != NULL;
}

tesela_status tesela__dma_cut(tesela__dma_boxes *boxes, tesela__dma_bounds *bounds, int32_t n,
                              const int64_t *step, int64_t lo, int64_t hi, const tesela_allocator *allocator,
                              tesela_error *err) {
  dma_cutter c = {.n = n, .step = step, .allocator = allocator, .status = TESELA_OK, .boxes = boxes};
  boxes->width = n, boxes->n = 0;
  if (dma_count(&c, 0, lo, hi) > TESELA__DMA_NESTS && c.status == TESELA_OK) c.status = TESELA_E_LIMIT;
  dma_emit(&c, 0, lo, hi);
  tesela__release(allocator, c.table);
  if (c.status == TESELA_OK) tesela__dma_join_boxes(boxes);
  if (c.status == TESELA_E_LIMIT)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the digits of a host dim need more than %d nests",
                        TESELA__DMA_NESTS);
  if (c.status != TESELA_OK) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for nests");
  tesela__dma_space space = {n, step, lo, hi, NULL};
  tesela_status status = tesela__dma_bound(bounds, &space, boxes, allocator, err);
  if (status == TESELA_OK && !dma_sort(boxes, step, allocator))
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for nests");
  return status;
}
