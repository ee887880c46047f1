/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_limits.c - cut a nest until an engine can run it.
 *
 * The first rule that applies cuts the top nest of a stack, until the stack is empty:
 *
 *   max_burst    a longer innermost run is split: a loop over the pieces, and a nest for the rest
 *   max_extent   a long loop becomes two, by a divisor if both fit; else as above
 *   max_dims     the shortest loop, except the innermost, is unrolled: a nest per iteration
 *
 * Then alignment and min_burst are checked: splits cannot repair those, so they are errors that name the limit and a
 * value that works.
 */
#include "device/dma.h"

enum { DMA_TRIES = 64 };

typedef struct dma_engine {
  tesela_dma_limits limit;
  int64_t bytes;     /* of an element */
  int64_t unit;      /* elements: pieces of the innermost loop are multiples of it, to stay aligned */
  int64_t burst;     /* elements of max_burst; 0: any */
  int64_t least;     /* elements of min_burst, rounded up */
  tesela_nest *todo; /* a stack */
  size_t n, capacity;
} dma_engine;

tesela_status tesela__dma_check_limits(const tesela_dma_limits *limits, tesela_error *err) {
  const struct {
    const char *name;
    int64_t value;
  } rows[] = {{"max_dims", limits->max_dims},   {"max_extent", limits->max_extent},
              {"alignment", limits->alignment}, {"min_burst", limits->min_burst},
              {"max_burst", limits->max_burst}, {"max_nests", limits->max_nests}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].value < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "%s is %" PRId64 "; expected 0 (no limit) or more",
                          rows[i].name, rows[i].value);
  return TESELA_OK;
}

int64_t tesela__dma_burst(const tesela_nest *nest, int64_t most) {
  int64_t run = 1;
  for (int32_t k = nest->n - 1; k >= 0; k--) {
    if (nest->range[k] == 1) continue;
    if (nest->device_stride[k] != run || (most && nest->range[k] > most / run)) break;
    run *= nest->range[k];
  }
  return run;
}

tesela_status tesela__dma_too_many(int64_t most, tesela_error *err) {
  if (most == TESELA__DMA_NESTS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %" PRId64 " nests", most);
  return tesela__refuse(err, TESELA_E_LIMIT, TESELA_REASON_MAX_NESTS,
                        "more than %" PRId64 " nests; max_nests is not given; it can be up to %d", most,
                        TESELA__DMA_NESTS);
}

tesela_status tesela__dma_add(tesela__dma_list *list, const tesela_nest *nest, tesela_error *err) {
  int64_t most = tesela__max(list->most, TESELA_DMA_NESTS); /* dma_push checks smaller limits */
  if ((int64_t)list->n >= most) return tesela__dma_too_many(most, err);
  void *at = list->nest;
  bool grown = tesela__grow(list->allocator, &at, sizeof *nest, &list->capacity, list->n + 1);
  list->nest = at;
  if (!grown) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %zu nests", list->n + 1);
  list->nest[list->n++] = *nest;
  return TESELA_OK;
}

static tesela_status dma_push(dma_engine *engine, const tesela__dma_list *list, const tesela_nest *nest,
                              tesela_error *err) {
  if ((int64_t)(list->n + engine->n) >= list->most) {
    if (engine->limit.max_nests && engine->limit.max_nests < TESELA__DMA_NESTS)
      return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_MAX_NESTS,
                            "max_nests is %" PRId64 "; the list found has more nests within the other limits",
                            engine->limit.max_nests);
    return tesela__dma_too_many(list->most, err);
  }
  void *at = engine->todo;
  bool grown = tesela__grow(list->allocator, &at, sizeof *nest, &engine->capacity, engine->n + 1);
  engine->todo = at;
  if (!grown) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %zu nests", engine->n + 1);
  engine->todo[engine->n++] = *nest;
  return TESELA_OK;
}

/* The last loop that runs more than once, or -1. */
static int32_t dma_innermost(const tesela_nest *nest) {
  int32_t k = nest->n - 1;
  while (k >= 0 && nest->range[k] == 1) k--;
  return k;
}

/* Remove loops of one iteration. Returns the new index of loop k. */
static int32_t dma_drop_ones(tesela_nest *nest, int32_t k) {
  for (int32_t i = nest->n - 1; i >= 0; i--) {
    if (nest->range[i] != 1) continue;
    tesela__dma_remove_loop(nest, i);
    k -= i < k;
  }
  return k;
}

/* The size of pieces of `range`: at most `most`, a multiple of `unit`, with a rest of 0 or at least `least`. Prefers
 * few pieces, with `even` rather a few more without a rest. 0: impossible. */
static int64_t dma_piece(int64_t range, int64_t most, int64_t unit, int64_t least, bool even) {
  int64_t found = 0, fewest = tesela__ceil_div(range, most), pieces = fewest;
  for (int32_t i = 0; i < DMA_TRIES && pieces <= 2 * fewest;
       i++, pieces++) { /* pieces at least half as long */
    int64_t size = tesela__ceil_div(range, pieces), left;
    if (!tesela__round_up(size, unit, &size) || size > most) continue;
    left = range % size;
    if (size < 2 || size < least || (left && left < least)) continue;
    if (left == 0 || !even) return size;
    if (!found) found = size;
  }
  int64_t whole = most / unit * unit;
  if (whole > 0 && whole >= least && (range % whole == 0 || range % whole >= least) &&
      (!found || range / whole < range / found))
    found = whole;
  return found;
}

/* Split loop k into pieces of `size`: a loop around it, and a nest for the rest. */
static tesela_status dma_split(dma_engine *engine, const tesela__dma_list *list, const tesela_nest *nest,
                               int32_t k, int64_t size, tesela_error *err) {
  int64_t pieces = nest->range[k] / size, left = nest->range[k] % size;
  tesela_nest part = *nest;
  if (left) {
    part.range[k] = left;
    part.device_offset += pieces * size * part.device_stride[k];
    part.host_offset += pieces * size * part.host_stride[k];
    tesela_status status = dma_push(engine, list, &part, err);
    if (status != TESELA_OK) return status;
    part = *nest;
  }
  if (pieces > 1) {
    if (part.n == TESELA_DEVICE_DIMS) k = dma_drop_ones(&part, k);
    if (part.n == TESELA_DEVICE_DIMS)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "cutting loops gives more than %d loops",
                          TESELA_DEVICE_DIMS);
    for (int32_t i = part.n++; i > k; i--) {
      part.range[i] = part.range[i - 1];
      part.device_stride[i] = part.device_stride[i - 1];
      part.host_stride[i] = part.host_stride[i - 1];
    }
    part.range[k] = pieces;
    part.device_stride[k] *= size;
    part.host_stride[k++] *= size;
  }
  part.range[k] = size;
  return dma_push(engine, list, &part, err);
}

/* A nest per iteration of loop `k`. */
static tesela_status dma_unroll(dma_engine *engine, const tesela__dma_list *list, const tesela_nest *nest,
                                int32_t k, tesela_error *err) {
  int64_t most = list->most;
  if (nest->range[k] > most)
    return tesela__refuse(
        err, engine->limit.max_nests ? TESELA_E_UNSUPPORTED : TESELA_E_LIMIT, TESELA_REASON_MAX_NESTS,
        "max_dims is %" PRId32 ", max_extent %" PRId64 ", max_burst %" PRId64 ": a loop of %" PRId64
        " is unrolled, but the limit is %" PRId64 " nests (max_nests)",
        engine->limit.max_dims, engine->limit.max_extent, engine->limit.max_burst, nest->range[k], most);
  for (int64_t i = nest->range[k] - 1; i >= 0; i--) {
    tesela_nest part = *nest;
    part.device_offset += i * part.device_stride[k];
    part.host_offset += i * part.host_stride[k];
    tesela__dma_remove_loop(&part, k);
    tesela_status status = dma_push(engine, list, &part, err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* The shortest loop, except the innermost. */
static int32_t dma_shortest(const tesela_nest *nest) {
  int32_t best = 0;
  for (int32_t k = 1; k + 1 < nest->n; k++)
    if (nest->range[k] < nest->range[best]) best = k;
  return best;
}

/* The largest divisor of `range` up to `most`, a multiple of `unit`, whose cofactor is also up to `most`; 0: not found
 * in 65536 tries. */
static int64_t dma_divisor(int64_t range, int64_t most, int64_t unit) {
  int64_t least = tesela__ceil_div(range, most);
  if (least > most) return 0;
  for (int64_t other = least, tries = 0; other <= most && other <= range && tries < 65536; other++, tries++)
    if (range % other == 0 && range / other % unit == 0) return range / other;
  return 0;
}

/* May the nest have one more loop? */
static bool dma_has_room(const dma_engine *engine, const tesela_nest *nest) {
  int32_t loops = 0;
  for (int32_t i = 0; i < nest->n; i++) loops += nest->range[i] > 1;
  return !engine->limit.max_dims || loops < engine->limit.max_dims;
}

static tesela_status dma_cut_extent(dma_engine *engine, const tesela__dma_list *list, const tesela_nest *nest,
                                    int32_t k, tesela_error *err) {
  if (engine->limit.max_extent == 1) return dma_unroll(engine, list, nest, k, err);
  bool inner = k == dma_innermost(nest) && nest->device_stride[k] == 1;
  int64_t most = engine->limit.max_extent, unit = inner ? engine->unit : 1, size = 0;
  if (dma_has_room(engine, nest)) size = dma_divisor(nest->range[k], most, unit);
  if (!size)
    size = dma_piece(nest->range[k], most, unit, inner ? tesela__min(engine->least, most) : 1, false);
  if (!size)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "max_extent is %" PRId64 "; a loop of %" PRId64
                        " cannot be cut into pieces of that size that respect alignment and min_burst",
                        most, nest->range[k]);
  return dma_split(engine, list, nest, k, size, err);
}

static tesela_status dma_cut_burst(dma_engine *engine, const tesela__dma_list *list, const tesela_nest *nest,
                                   int32_t k, tesela_error *err) {
  if (engine->burst == 1) return dma_unroll(engine, list, nest, k, err);
  int64_t size =
      dma_piece(nest->range[k], engine->burst, engine->unit, engine->least, dma_has_room(engine, nest));
  if (!size)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "max_burst is %" PRId64 " bytes; a run of %" PRId64 " elements of %" PRId64
                        " bytes cannot be cut into pieces that respect alignment %" PRId64
                        " and min_burst %" PRId64,
                        engine->limit.max_burst, nest->range[k], engine->bytes, engine->limit.alignment,
                        engine->limit.min_burst);
  return dma_split(engine, list, nest, k, size, err);
}

/* Check the limits that splits cannot repair. */
static tesela_status dma_check_nest(const dma_engine *engine, const tesela_nest *nest, tesela_error *err) {
  int64_t alignment = engine->limit.alignment, part, bytes = engine->bytes;
  int32_t inner = dma_innermost(nest);
  for (int32_t k = -1; (k < inner || k < 0) && alignment > 1; k++) { /* -1: the nest's start */
    if (k >= 0 && nest->range[k] == 1) continue;
    int64_t elements = k < 0 ? nest->device_offset : nest->device_stride[k];
    if (!tesela__mul(elements, bytes, &part))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "device offsets in bytes do not fit in 64 bits");
    if (part % alignment)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "alignment is %" PRId64 " bytes; a nest %s %" PRId64
                          " bytes: expected an alignment of at most %" PRId64,
                          alignment, k < 0 ? "starts at" : "has a loop in steps of", part,
                          tesela__gcd(alignment, part));
  }
  int64_t run = tesela__dma_burst(nest, engine->burst);
  if (run < engine->least)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "min_burst is %" PRId64 " bytes; a nest has %" PRId64
                        " contiguous elements of %" PRId64 " bytes: expected a min_burst of at most %" PRId64,
                        engine->limit.min_burst, run, bytes, run * bytes);
  return TESELA_OK;
}

/* Cut a nest once, or check and append it. */
static tesela_status dma_step(dma_engine *engine, tesela__dma_list *list, tesela_nest *nest,
                              tesela_error *err) {
  int32_t inner = dma_innermost(nest);
  if (engine->burst && inner >= 0 && nest->device_stride[inner] == 1 && nest->range[inner] > engine->burst)
    return dma_cut_burst(engine, list, nest, inner, err);
  for (int32_t k = 0; engine->limit.max_extent && k < nest->n; k++)
    if (nest->range[k] > engine->limit.max_extent) return dma_cut_extent(engine, list, nest, k, err);
  if (engine->limit.max_dims && nest->n > engine->limit.max_dims) {
    dma_drop_ones(nest, 0);
    if (nest->n > engine->limit.max_dims) return dma_unroll(engine, list, nest, dma_shortest(nest), err);
  }
  tesela_status status = dma_check_nest(engine, nest, err);
  if (status == TESELA_OK) status = tesela__dma_add(list, nest, err);
  return status;
}

static dma_engine dma_engine_of(const tesela_dma_limits *limits, int64_t bytes) {
  int64_t alignment = tesela__max(limits->alignment, 1);
  return (dma_engine){.limit = *limits,
                      .bytes = bytes,
                      .unit = alignment / tesela__gcd(alignment, bytes),
                      .burst = limits->max_burst / bytes,
                      .least = tesela__max(1, tesela__ceil_div(limits->min_burst, bytes))};
}

bool tesela__dma_keeps(const tesela_nest *nest, const tesela_dma_limits *limits, int64_t bytes) {
  dma_engine engine = dma_engine_of(limits, bytes);
  int32_t inner = dma_innermost(nest);
  if (limits->max_dims && nest->n > limits->max_dims) return false;
  for (int32_t k = 0; k < nest->n; k++)
    if (limits->max_extent && nest->range[k] > limits->max_extent) return false;
  if (engine.burst && inner >= 0 && nest->device_stride[inner] == 1 && nest->range[inner] > engine.burst)
    return false;
  return dma_check_nest(&engine, nest, NULL) == TESELA_OK;
}

tesela_status tesela__dma_legalise(tesela__dma_list *list, const tesela_nest *nest,
                                   const tesela_dma_limits *limits, int64_t bytes, tesela_error *err) {
  dma_engine engine = dma_engine_of(limits, bytes);
  if (limits->max_burst && engine.burst == 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "max_burst is %" PRId64 " bytes, but an element has %" PRId64, limits->max_burst,
                        bytes);
  if (engine.burst && engine.least > engine.burst)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "min_burst is %" PRId64 " bytes and max_burst %" PRId64
                        ": no burst of elements of %" PRId64 " bytes satisfies both",
                        limits->min_burst, limits->max_burst, bytes);
  tesela_status status = dma_push(&engine, list, nest, err);
  while (status == TESELA_OK && engine.n > 0) {
    tesela_nest next = engine.todo[--engine.n];
    status = dma_step(&engine, list, &next, err);
  }
  tesela__release(list->allocator, engine.todo);
  return status;
}
