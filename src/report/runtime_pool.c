/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_pool.c - one allocator at run time: opened with its section, its chunks in use by size, compared and judged at the end.
 *
 * A dump says the same several times: bins (numbers exact, bytes rounded), a list of all chunks, a summary by size, and Stats. The
 * list is used where it agrees with the others; a log that lacks lines does not, and then the rounded figures stand.
 */
#include "report/heap.h"
#include "report/report_state.h"

const char *tesela__pool_number(const char *p, const char *end, int64_t *number) {
  const char *start = p;
  int64_t value = 0;
  for (; p < end && tesela__is_digit(*p); p++)
    if (!tesela__mul(value, 10, &value) || !tesela__add(value, *p - '0', &value)) return NULL;
  if (p == start) return NULL;
  *number = value;
  return p;
}

/* Were all lines of the bins read? */
static bool has_all_bins(const tesela__pool *pool) {
  return !pool->bins_lost && pool->last_bin == TESELA__LARGEST_BIN;
}

/* ---- open ---------------------------------------------------------------------------------------------- */

static bool new_pool(tesela_report *report, tesela__pool **made) {
  void *pools = report->pool;
  if (!tesela__grow(&report->allocator, &pools, sizeof(tesela__pool *), &report->cap_pools,
                    report->n_pools + 1))
    return tesela__report_no_memory(report);
  report->pool = pools;
  tesela__pool *pool = tesela__alloc(&report->allocator, sizeof *pool, alignof(tesela__pool));
  if (!pool) return tesela__report_no_memory(report);
  memset(pool, 0, sizeof *pool);
  tesela_report_pool *public = &pool->public;
  int64_t *const unknown[] = {&public->requested_bytes,
                              &public->limit_bytes,
                              &public->pool_bytes,
                              &public->in_use_bytes,
                              &public->in_use_chunks,
                              &public->free_bytes,
                              &public->free_chunks,
                              &public->regions,
                              &public->largest_free_bytes,
                              &public->region_free_bytes,
                              &public->device,
                              &public->ooms,
                              &public->retries};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) *unknown[i] = -1;
  for (int i = 0; i < TESELA_REPORT_N_STATS; i++) public->stat[i] = -1;
  pool->last_bin = -1;
  tesela_report_printed *const printed[] = {&pool->sum, &pool->summary_free, &pool->summary_usable};
  for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++) printed[i]->bytes = -1;
  report->pool[report->n_pools++] = pool;
  *made = pool;
  return true;
}

bool tesela__pool_open(tesela_report *report, bool another, tesela__span name, tesela__pool **pool) {
  tesela__memory_text *memory = &report->memory;
  *pool = memory->pool;
  if (*pool && !another) return true;
  if (!tesela__memory_need_section(report, true, name)) return false;
  memory->part = TESELA__PART_RUNTIME;
  tesela_report_section *section = &report->section[memory->section];
  if (section->pool) return true; /* too many sections */
  if (!new_pool(report, pool)) return false;
  (*pool)->section = memory->section;
  section->pool = &(*pool)->public;
  memory->pool = *pool;
  return true;
}

static const char get_dump[] =
    "for its arrays, run with XLA_FLAGS=--xla_dump_to=FOLDER, then tesela report FOLDER";
static const char get_snapshot[] =
    "for its tensors, record torch.cuda.memory._record_memory_history() and look at its snapshot";

void tesela__runtime_note(tesela_report *report, tesela__pool *pool, const char *whose) {
  bool torch = pool && pool->kind == TESELA__POOL_TORCH;
  if (pool) pool->noted = true;
  tesela__report_note(report, TESELA_REPORT_RUNTIME, report->line,
                      "a message of %s, which names no array; %s", whose, torch ? get_snapshot : get_dump);
}

/* ---- chunks by size ------------------------------------------------------------------------------------ */

static size_t pool_place(const tesela__pool *pool, int64_t bytes) {
  size_t mask = pool->index_size - 1, at = (size_t)tesela__text_hash((const char *)&bytes, sizeof bytes);
  for (at &= mask; pool->index[at] >= 0 && pool->size[pool->index[at]].bytes != bytes;) at = (at + 1) & mask;
  return at;
}

static bool grow_index(tesela_report *report, tesela__pool *pool) {
  if (pool->n_sizes * 2 < pool->index_size) return true;
  size_t size = pool->index_size ? pool->index_size * 2 : 64;
  int32_t *index = tesela__alloc(&report->allocator, size * sizeof *index, alignof(int32_t));
  if (!index) return tesela__report_no_memory(report);
  tesela__release(&report->allocator, pool->index);
  pool->index = index;
  pool->index_size = size;
  for (size_t i = 0; i < size; i++) index[i] = -1;
  for (size_t i = 0; i < pool->n_sizes; i++) index[pool_place(pool, pool->size[i].bytes)] = (int32_t)i;
  return true;
}

bool tesela__pool_add(tesela_report *report, tesela__pool *pool, int64_t bytes, int64_t listed,
                      int64_t summed, tesela__span op) {
  void *sizes = pool->size;
  if (!grow_index(report, pool)) return false;
  size_t at = pool_place(pool, bytes);
  if (pool->index[at] < 0) {
    if (pool->n_sizes >= (size_t)report->options.entries) {
      tesela__report_note(
          report, TESELA_REPORT_TOO_MANY, report->line,
          "an allocator has chunks of more sizes than the limit allows; the rest are not counted");
      pool->cut = true;
      return true;
    }
    const char *name = op.n > 0 ? tesela__arena_copy(&report->text, &report->allocator, op) : "";
    if (!name ||
        !tesela__grow(&report->allocator, &sizes, sizeof *pool->size, &pool->cap_sizes, pool->n_sizes + 1))
      return tesela__report_no_memory(report);
    pool->size = sizes;
    pool->index[at] = (int32_t)pool->n_sizes;
    pool->size[pool->n_sizes++] = (tesela__pool_size){.bytes = bytes, .op = name};
  }
  tesela__pool_size *size = &pool->size[pool->index[at]];
  tesela__report_add(report, &size->listed, listed);
  tesela__report_add(report, &size->summed, summed);
  return true;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static int64_t times_or_most(int64_t bytes, int64_t count) {
  int64_t product;
  return tesela__mul(bytes, count, &product) ? product : INT64_MAX;
}

/* Those that take most come first; of equal ones the larger. */
static bool size_before(const void *a_size, const void *b_size, const void *unused) {
  const tesela__pool_size *a = a_size, *b = b_size;
  (void)unused;
  int64_t all_a = times_or_most(a->bytes, tesela__max(a->listed, a->summed)),
          all_b = times_or_most(b->bytes, tesela__max(b->listed, b->summed));
  return all_a != all_b ? all_a > all_b : a->bytes > b->bytes;
}

static bool sort_sizes(tesela_report *report, tesela__pool *pool) {
  if (pool->n_sizes == 0) return true;
  const void **sorted = tesela__arena_take(&report->text, &report->allocator, pool->n_sizes * sizeof *sorted);
  tesela_report_chunks *chunks =
      tesela__arena_take(&report->text, &report->allocator, pool->n_sizes * sizeof *chunks);
  if (!sorted || !chunks) return tesela__report_no_memory(report);
  for (size_t i = 0; i < pool->n_sizes; i++) sorted[i] = &pool->size[i];
  tesela__heap_sort(sorted, pool->n_sizes, size_before, NULL);
  for (size_t i = 0; i < pool->n_sizes; i++) {
    const tesela__pool_size *size = sorted[i];
    chunks[i] = (tesela_report_chunks){size->bytes, tesela__max(size->listed, size->summed), size->op};
  }
  pool->public.size = chunks;
  pool->public.n_sizes = (int64_t)pool->n_sizes;
  return true;
}

/* What the bins, the summary by size and the list say about numbers and bytes. */
typedef struct pool_sums {
  int64_t bin_chunks, bin_in_use, bin_free_bytes;
  int64_t listed, listed_bytes, summed, summed_bytes;
  bool sizes_agree;
} pool_sums;

static pool_sums sum_up(tesela_report *report, const tesela__pool *pool) {
  pool_sums sums = {.sizes_agree = true};
  for (int64_t i = 0; i < pool->public.n_bins; i++) {
    const tesela_report_bin *bin = &pool->public.bin[i];
    tesela__report_add(report, &sums.bin_chunks, bin->chunks);
    tesela__report_add(report, &sums.bin_in_use, bin->in_use);
    if (bin->allocated.bytes > bin->used.bytes)
      tesela__report_add(report, &sums.bin_free_bytes, bin->allocated.bytes - bin->used.bytes);
  }
  for (size_t i = 0; i < pool->n_sizes; i++) {
    const tesela__pool_size *size = &pool->size[i];
    tesela__report_add(report, &sums.listed, size->listed);
    tesela__report_add(report, &sums.summed, size->summed);
    tesela__report_add(report, &sums.listed_bytes, times_or_most(size->bytes, size->listed));
    tesela__report_add(report, &sums.summed_bytes, times_or_most(size->bytes, size->summed));
    sums.sizes_agree = sums.sizes_agree && size->listed == size->summed;
  }
  return sums;
}

static const char *first_disagreement(const tesela__pool *pool, const pool_sums *sums) {
  const tesela_report_pool *public = &pool->public;
  const int64_t in_use = public->stat[TESELA_REPORT_STAT_IN_USE], free_chunks = public->free_chunks;
  const bool has_bins = has_all_bins(pool);
  int64_t bin_free = sums->bin_chunks - sums->bin_in_use + pool->central_gap;
  int64_t all;
  if (pool->cut) return "a line of the list of chunks is cut";
  if (free_chunks >= 0 && public->regions > 0 &&
      (!tesela__add(sums->listed_bytes, public->free_bytes, &all) || all != pool->region_bytes))
    return "the chunks are not the bytes of their regions";
  if (has_bins && free_chunks >= 0 && free_chunks != bin_free)
    return "the list of chunks and the bins have different numbers of free chunks";
  if (has_bins && sums->listed > 0 && sums->listed != sums->bin_in_use)
    return "the list of chunks and the bins have different numbers of chunks in use";
  if (pool->summed && sums->listed > 0 && !sums->sizes_agree)
    return "the list of chunks and the summary by size have different chunks";
  int64_t bytes = pool->summed ? sums->summed_bytes : sums->listed_bytes;
  if ((pool->summed || sums->listed > 0) && in_use >= 0 && in_use != bytes)
    return "the chunks in use are not the bytes of InUse";
  if (pool->summed && pool->sum.text[0] && !tesela__prints_as(bytes, &pool->sum))
    return "the summary by size is not the sum total of chunks in use";
  return NULL;
}

/* The largest free chunk, at most: from the highest bin that has one. */
static int64_t bound_largest(const tesela__pool *pool) {
  if (!has_all_bins(pool) || pool->tagged) return -1;
  for (int64_t i = pool->public.n_bins - 1; i >= 0; i--) {
    const tesela_report_bin *bin = &pool->public.bin[i];
    int64_t n = bin->chunks - bin->in_use, bytes = bin->allocated.bytes - bin->used.bytes;
    if (n > 0) return tesela__max(bytes - times_or_most(n - 1, bin->from_bytes), bin->from_bytes);
  }
  return 0;
}

/* The largest free chunk that the end which asks may use. */
static int64_t largest_usable(const tesela__pool *pool) {
  const int64_t *largest = pool->largest_free;
  int64_t lower = strcmp(pool->end, "upper") == 0 ? 0 : largest[1],
          upper = strcmp(pool->end, "lower") == 0 ? 0 : largest[2];
  return tesela__max(largest[0], tesela__max(lower, upper));
}

/* The figures of the allocator: from the list if it is whole, else from what is printed rounded. */
static void choose_figures(tesela__pool *pool, const pool_sums *sums, bool whole) {
  tesela_report_pool *public = &pool->public;
  const int64_t *stat = public->stat;
  public->exact = whole && has_all_bins(pool);
  public->largest_known = whole && (!pool->tagged || pool->end[0]); /* it depends on the end that asks */
  if (whole) {
    public->in_use_chunks = sums->listed;
    public->in_use_bytes = sums->listed_bytes;
    public->largest_free_bytes = largest_usable(pool);
    if (!tesela__add(sums->listed_bytes, public->free_bytes, &public->pool_bytes))
    public->pool_bytes = INT64_MAX;
    if (public->regions < 0) public->region_free_bytes = -1;
  } else {
    bool summed = pool->summed && sums->summed_bytes == stat[TESELA_REPORT_STAT_IN_USE];
    bool bins = has_all_bins(pool);
    public->regions = public->region_free_bytes = public->free_bytes = public->free_chunks = -1;
    public->in_use_chunks = summed ? sums->summed : bins ? sums->bin_in_use : -1;
    public->in_use_bytes =
        stat[TESELA_REPORT_STAT_IN_USE] >= 0 ? stat[TESELA_REPORT_STAT_IN_USE] : pool->sum.bytes;
    if (bins && !pool->tagged) public->free_chunks = sums->bin_chunks - sums->bin_in_use;
    if (bins && !pool->tagged) public->free_bytes = sums->bin_free_bytes;
    if (pool->summary_free.bytes >= 0) public->free_bytes = pool->summary_free.bytes;
    bool has_largest = pool->summary_usable.bytes >= 0 || stat[TESELA_REPORT_STAT_LARGEST_FREE] > 0;
    public->largest_known = has_largest;
    public->largest_free_bytes = pool->summary_usable.bytes >= 0 ? pool->summary_usable.bytes
                                 : has_largest                   ? stat[TESELA_REPORT_STAT_LARGEST_FREE]
                                                                 : bound_largest(pool);
  }
  if (stat[TESELA_REPORT_STAT_LIMIT] > 0) public->limit_bytes = stat[TESELA_REPORT_STAT_LIMIT];
}

static bool finish_pool(tesela_report *report, tesela__pool *pool) {
  pool_sums sums = sum_up(report, pool);
  bool listed = sums.listed > 0 || pool->public.free_chunks >= 0;
  bool told = has_all_bins(pool) || (pool->public.regions > 0 &&
                                     (pool->summed || pool->public.stat[TESELA_REPORT_STAT_IN_USE] >= 0));
  const char *differs = pool->dumped ? first_disagreement(pool, &sums) : NULL;
  if (listed && !told && !differs)
    differs = "the list of chunks lacks the bins before it, and its regions or the summary after it";
  if (differs) tesela__memory_note_mixed(report, differs);
  if (pool->dumped) choose_figures(pool, &sums, listed && !differs);
  return sort_sizes(report, pool);
}

bool tesela__pools_finish(tesela_report *report) {
  for (size_t i = 0; i < report->n_pools; i++) {
    tesela__pool *pool = report->pool[i];
    if (!finish_pool(report, pool)) return false;
    tesela__pool_judge(pool, report->section[pool->section].figure);
  }
  return true;
}

void tesela__pools_free(tesela_report *report) {
  for (size_t i = 0; i < report->n_pools; i++) {
    tesela__release(&report->allocator, report->pool[i]->size);
    tesela__release(&report->allocator, report->pool[i]->index);
    tesela__release(&report->allocator, report->pool[i]);
  }
  tesela__release(&report->allocator, report->pool);
}
