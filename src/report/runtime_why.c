/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_why.c - why an allocator refused a request: what is free in pieces, in regions, outside, or not at all.
 */
#include <stdio.h>

#include "report/report_state.h"

enum { ANY_KIND = 7 };

/* What helps. */
static const struct {
  tesela_report_refusal why;
  int kinds; /* bits of tesela__pool_kind */
  const char *words;
} instead_rows[] = {
    {TESELA_REPORT_FRAGMENTED, 1 << TESELA__POOL_TORCH,
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True lets its pieces grow together"},
    {TESELA_REPORT_FRAGMENTED, 1 << TESELA__POOL_BFC,
     "TF_GPU_ALLOCATOR=cuda_malloc_async (TensorFlow, JAX) has no fixed pieces; or allocate the largest "
     "arrays first"},
    {TESELA_REPORT_FRAGMENTED, 1 << TESELA__POOL_OTHER,
     "delete or donate the arrays that lie between, or load the program before them"},
    {TESELA_REPORT_REGIONS, ANY_KIND,
     "one region from the start: XLA_PYTHON_CLIENT_PREALLOCATE=true in JAX, no memory growth in TensorFlow"},
    {TESELA_REPORT_OUTSIDE, ANY_KIND,
     "something else has the device's memory: nvidia-smi lists the processes"},
    {TESELA_REPORT_FULL, ANY_KIND,
     "less has to live at once: a smaller batch, sharding, recomputation, donated arguments"},
    {TESELA_REPORT_NEVER, ANY_KIND, "the array itself has to be smaller, or sharded over devices"},
};

static const char *print_iec(int64_t bytes, char text[TESELA_UNITS_TEXT]) {
  tesela_units_print(bytes, TESELA_UNITS_IEC, text);
  return text;
}

static int64_t sum_or_most(int64_t a, int64_t b) {
  int64_t sum;
  return tesela__add(a, b, &sum) ? sum : INT64_MAX;
}

/* ---- BFC and other pools ------------------------------------------------------------------------------- */

static tesela_report_refusal judge_pool(const tesela_report_pool *pool) {
  int64_t asked = pool->requested_bytes, room = pool->limit_bytes - pool->pool_bytes;
  if (asked < 0) return TESELA_REPORT_REFUSAL_UNKNOWN;
  if (pool->limit_bytes >= 0 && asked > pool->limit_bytes) return TESELA_REPORT_NEVER;
  if (pool->largest_known && pool->largest_free_bytes >= asked) return TESELA_REPORT_FITS;
  if (pool->free_bytes < 0) return TESELA_REPORT_REFUSAL_UNKNOWN;
  if (pool->free_bytes >= asked && pool->largest_free_bytes >= 0 && pool->largest_free_bytes < asked)
    return pool->region_free_bytes >= 0 && pool->region_free_bytes < asked ? TESELA_REPORT_REGIONS
                                                                           : TESELA_REPORT_FRAGMENTED;
  if (pool->free_bytes >= asked) /* of a dump the largest piece is not known; without one the refusal tells */
    return pool->largest_free_bytes >= 0 ? TESELA_REPORT_REFUSAL_UNKNOWN : TESELA_REPORT_FRAGMENTED;
  return pool->limit_bytes >= 0 && pool->pool_bytes >= 0 && room >= asked ? TESELA_REPORT_OUTSIDE
                                                                          : TESELA_REPORT_FULL;
}

static void pool_words(tesela_report_pool *pool) {
  char asked[TESELA_UNITS_TEXT], free[TESELA_UNITS_TEXT], largest[TESELA_UNITS_TEXT], used[TESELA_UNITS_TEXT],
      limit[TESELA_UNITS_TEXT], region[TESELA_UNITS_TEXT], chunks[48] = "", in_use[64] = "", most[64] = "";
  print_iec(pool->requested_bytes, asked);
  print_iec(tesela__max(pool->free_bytes, 0), free);
  print_iec(tesela__max(pool->largest_free_bytes, 0), largest);
  print_iec(tesela__max(pool->limit_bytes, 0), limit);
  print_iec(tesela__max(pool->region_free_bytes, 0), region);
  if (pool->free_chunks >= 0)
    snprintf(chunks, sizeof chunks, " in %" PRId64 " chunk%s", pool->free_chunks,
             pool->free_chunks == 1 ? "" : "s");
  if (pool->in_use_bytes >= 0)
    snprintf(in_use, sizeof in_use, ", %s in use", print_iec(pool->in_use_bytes, used));
  if (pool->largest_free_bytes >= 0 && pool->free_chunks != 0)
    snprintf(most, sizeof most, ", the largest %s%s", pool->largest_known ? "" : "at most ", largest);
  switch (pool->why) {
  case TESELA_REPORT_FRAGMENTED:
    snprintf(pool->words, sizeof pool->words, "%s do not fit though %s are free%s%s", asked, free, chunks,
             most);
    break;
  case TESELA_REPORT_REGIONS:
    snprintf(pool->words, sizeof pool->words,
             "%s do not fit though %s are free%s%s: they are in %" PRId64
             " regions, and none has more than %s free",
             asked, free, chunks, most, pool->regions, region);
    break;
  case TESELA_REPORT_OUTSIDE:
    snprintf(pool->words, sizeof pool->words,
             "%s do not fit: %s are free%s%s, and the device gives no more, though the limit of %s allows it",
             asked, free, chunks, most, limit);
    break;
  case TESELA_REPORT_FULL:
    snprintf(pool->words, sizeof pool->words, "%s do not fit: %s are free%s%s%s", asked, free, chunks, most,
             in_use);
    break;
  case TESELA_REPORT_NEVER:
    snprintf(pool->words, sizeof pool->words, "%s are more than the whole limit of %s", asked, limit);
    break;
  case TESELA_REPORT_FITS:
    snprintf(pool->words, sizeof pool->words,
             "%s fit into a free chunk of %s: the dump shows another instant", asked, largest);
    break;
  case TESELA_REPORT_REFUSAL_UNKNOWN:
  case TESELA_REPORT_N_REFUSALS:
    break;
  }
}

/* ---- PyTorch -------------------------------------------------------------------------------------------- */

/* Of the device: free, what the pool has unused, what others have. */
static void judge_torch(tesela_report_pool *pool, const tesela_report_printed *figure) {
  char asked[TESELA_UNITS_TEXT], free[TESELA_UNITS_TEXT], unused[TESELA_UNITS_TEXT], other[TESELA_UNITS_TEXT],
      limit[TESELA_UNITS_TEXT];
  int64_t request = pool->requested_bytes, on_device = tesela__max(figure[TESELA_REPORT_FREE].bytes, 0),
          in_pool = tesela__max(pool->free_bytes, 0), process = figure[TESELA_REPORT_PROCESS].bytes,
          capacity = figure[TESELA_REPORT_CAPACITY].bytes;
  int64_t others = process > 0 && capacity >= 0 ? tesela__max(capacity - on_device - process, 0) : 0;
  if (request < 0 || figure[TESELA_REPORT_FREE].bytes < 0) return;
  print_iec(request, asked);
  print_iec(on_device, free);
  print_iec(in_pool, unused);
  print_iec(others, other);
  print_iec(tesela__max(pool->limit_bytes, 0), limit);
  int64_t with_pool = sum_or_most(on_device, in_pool);
  if (pool->limit_bytes >= 0 && request > pool->limit_bytes)
    pool->why = TESELA_REPORT_NEVER;
  else if (request <= on_device && figure[TESELA_REPORT_ALLOWED].bytes < 0)
    pool->why = TESELA_REPORT_REFUSAL_UNKNOWN;
  else if (request <= with_pool && in_pool > 0)
    pool->why = TESELA_REPORT_FRAGMENTED;
  else if (request <= sum_or_most(with_pool, others) && others > 0)
    pool->why = TESELA_REPORT_OUTSIDE;
  else
    pool->why = TESELA_REPORT_FULL;
  if (pool->why == TESELA_REPORT_NEVER)
    snprintf(pool->words, sizeof pool->words, "%s are more than the whole limit of %s", asked, limit);
  else if (pool->why == TESELA_REPORT_FRAGMENTED)
    snprintf(pool->words, sizeof pool->words,
             "%s do not fit though %s are free on the device and %s are unused in PyTorch's pool, in pieces",
             asked, free, unused);
  else if (pool->why == TESELA_REPORT_OUTSIDE)
    snprintf(
        pool->words, sizeof pool->words,
        "%s do not fit: %s are free on the device, %s unused in PyTorch's pool; %s are not this process's",
        asked, free, unused, other);
  else if (pool->why == TESELA_REPORT_FULL)
    snprintf(pool->words, sizeof pool->words,
             "%s do not fit: %s are free on the device, %s unused in PyTorch's pool", asked, free, unused);
}

static int64_t metric_now(const tesela_report_pool *pool, const char *name) {
  for (int64_t i = 0; i < pool->n_metrics; i++)
    if (strcmp(pool->metric[i].name, name) == 0 && strcmp(pool->metric[i].pool, "all") == 0)
      return pool->metric[i].now.value;
  return -1;
}

/* What the message, else the summary, says about the pool. */
static void take_torch(tesela_report_pool *pool, const tesela_report_printed *figure) {
  int64_t reserved = metric_now(pool, "reserved_bytes"), allocated = metric_now(pool, "allocated_bytes");
  if (reserved < 0) reserved = figure[TESELA_REPORT_RESERVED].bytes;
  pool->in_use_bytes =
      figure[TESELA_REPORT_IN_USE].bytes >= 0 ? figure[TESELA_REPORT_IN_USE].bytes : allocated;
  pool->free_bytes = figure[TESELA_REPORT_UNUSED].bytes;
  if (pool->free_bytes < 0 && reserved >= 0 && pool->in_use_bytes >= 0)
    pool->free_bytes = tesela__max(reserved - pool->in_use_bytes, 0);
  pool->pool_bytes =
      pool->free_bytes >= 0 && pool->in_use_bytes >= 0 && figure[TESELA_REPORT_UNUSED].bytes >= 0
          ? sum_or_most(pool->in_use_bytes, pool->free_bytes)
          : reserved;
  pool->limit_bytes = figure[TESELA_REPORT_ALLOWED].bytes >= 0 ? figure[TESELA_REPORT_ALLOWED].bytes
                                                               : figure[TESELA_REPORT_CAPACITY].bytes;
}

void tesela__pool_judge(tesela__pool *pool, const tesela_report_printed *figure) {
  tesela_report_pool *public = &pool->public;
  if (public->requested_bytes < 0) public->requested_bytes = figure[TESELA_REPORT_REQUESTED].bytes;
  if (pool->kind == TESELA__POOL_TORCH) {
    take_torch(public, figure);
    judge_torch(public, figure);
  } else {
    if (!pool->dumped) {
      public->free_bytes = figure[TESELA_REPORT_FREE].bytes;
      if (figure[TESELA_REPORT_RESERVABLE].bytes >= 0) {
        public->largest_free_bytes = figure[TESELA_REPORT_RESERVABLE].bytes;
        public->largest_known = true;
      }
    }
    public->why = judge_pool(public);
    pool_words(public);
  }
  for (size_t i = 0; i < sizeof instead_rows / sizeof instead_rows[0] && !public->instead[0]; i++) {
    if (instead_rows[i].why != public->why || !(instead_rows[i].kinds >> pool->kind & 1)) continue;
    snprintf(public->instead, sizeof public->instead, "%s", instead_rows[i].words);
  }
}
