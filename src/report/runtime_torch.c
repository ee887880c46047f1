/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_torch.c - the table of torch.cuda.memory_summary(), one line at a time.
 *
 *   |                  PyTorch CUDA memory summary, device ID 0                 |
 *   |            CUDA OOMs: 1            |        cudaMalloc retries: 2         |
 *   |        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
 *   | Allocated memory      |  12345 MiB |  23456 MiB |  34567 MiB |  22222 MiB |
 *   |       from large pool |  12000 MiB |  23000 MiB |  34000 MiB |  22000 MiB |
 *
 * Cells are rounded down to their unit, which a column takes from the row of all pools.
 */
#include "report/report_state.h"

enum { MOST_METRICS = 40, CELLS = 4 };

static const struct torch_row {
  const char *word, *name; /* in the table; of memory_stats() */
  bool bytes;
} torch_rows[] = {
    {"Allocated memory", "allocated_bytes", true},
    {"Active memory", "active_bytes", true},
    {"Requested memory", "requested_bytes", true},
    {"GPU reserved memory", "reserved_bytes", true},
    {"Non-releasable memory", "inactive_split_bytes", true},
    {"Allocations", "allocation", false},
    {"Active allocs", "active", false},
    {"GPU reserved segments", "segment", false},
    {"Non-releasable allocs", "inactive_split", false},
    {"Oversize allocations", "oversize_allocations", false},
    {"Oversize GPU segments", "oversize_segments", false},
};
static const struct {
  const char *word, *pool;
} torch_pools[] = {{"from large pool", "large_pool"}, {"from small pool", "small_pool"}};

/* What rows are also figures of their section. */
static const struct {
  const char *name;
  tesela_report_figure now, peak;
} torch_figures[] = {
    {"allocated_bytes", TESELA_REPORT_IN_USE, TESELA_REPORT_MOST_IN_USE},
    {"reserved_bytes", TESELA_REPORT_RESERVED, TESELA_REPORT_N_FIGURES},
};

/* ---- cells --------------------------------------------------------------------------------------------- */

/* "12345 MiB", "12345 B", "  85 K": its number and unit. */
static bool read_cell(tesela__span text, bool bytes, tesela_report_cell *cell) {
  static const struct {
    const char *unit;
    int64_t step;
  } byte_units[] = {{"KiB", INT64_C(1) << 10}, {"MiB", INT64_C(1) << 20}, {"GiB", INT64_C(1) << 30},
                    {"TiB", INT64_C(1) << 40}, {"PiB", INT64_C(1) << 50}, {"B", 1}},
    counts[] = {{"K", 1000}, {"M", 1000000}};
  text = tesela__trim(text);
  const char *end = text.text + text.n, *p = tesela__pool_number(text.text, end, &cell->value);
  tesela__span unit = tesela__trim(tesela__between(p ? p : end, end));
  cell->step = bytes ? 0 : unit.n == 0;
  for (size_t i = 0; bytes && i < sizeof byte_units / sizeof byte_units[0]; i++)
    if (unit.n == strlen(byte_units[i].unit) && memcmp(unit.text, byte_units[i].unit, unit.n) == 0)
      cell->step = byte_units[i].step;
  for (size_t i = 0; !bytes && i < sizeof counts / sizeof counts[0]; i++)
    if (unit.n == 1 && *unit.text == *counts[i].unit) cell->step = counts[i].step;
  if (!p || cell->step == 0 || text.n >= sizeof cell->text ||
      !tesela__mul(cell->value, cell->step, &cell->value)) {
    *cell = (tesela_report_cell){.value = -1};
    return false;
  }
  memcpy(cell->text, text.text, text.n);
  cell->text[text.n] = '\0';
  return true;
}

/* "| name | cell | cell | cell | cell |": its parts; false for any other line. */
static bool cut_row(tesela__span line, tesela__span part[1 + CELLS]) {
  const char *p = memchr(line.text, '|', line.n), *end = line.text + line.n;
  for (int i = 0; i <= CELLS; i++) {
    const char *next = p ? memchr(p + 1, '|', (size_t)(end - p - 1)) : NULL;
    if (!next) return false;
    part[i] = tesela__trim(tesela__between(p + 1, next));
    p = next;
  }
  return true;
}

static bool span_is(tesela__span span, const char *word) {
  return span.n == strlen(word) && memcmp(span.text, word, span.n) == 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static bool torch_open(tesela_report *report, bool another, tesela__pool **pool) {
  const tesela__pool *open = report->memory.pool;
  if (!tesela__pool_open(report, another || (open && open->kind != TESELA__POOL_TORCH), (tesela__span){"", 0},
                         pool))
    return false;
  if (!*pool) return true;
  (*pool)->kind = TESELA__POOL_TORCH;
  if (!(*pool)->noted) tesela__runtime_note(report, *pool, "PyTorch's allocator");
  return true;
}

static void keep_figure(tesela_report *report, const tesela__pool *pool, tesela_report_figure figure,
                        const tesela_report_cell *cell) {
  if (figure == TESELA_REPORT_N_FIGURES || cell->value < 0) return;
  tesela_report_printed *printed = &report->section[pool->section].figure[figure];
  if (printed->text[0]) return; /* the message has it */
  memcpy(printed->text, cell->text, sizeof printed->text);
  printed->bytes = cell->value;
}

static bool add_metric(tesela_report *report, tesela__pool *pool, const char *name, const char *pool_name,
                       bool bytes, const tesela__span cell[CELLS]) {
  if (pool->public.n_metrics == MOST_METRICS) return true;
  if (!pool->metric)
    pool->metric = tesela__arena_take(&report->text, &report->allocator, MOST_METRICS * sizeof *pool->metric);
  if (!pool->metric) return tesela__report_no_memory(report);
  pool->public.metric = pool->metric;
  tesela_report_metric *metric = &pool->metric[pool->public.n_metrics++];
  *metric = (tesela_report_metric){.name = name, .pool = pool_name, .bytes = bytes};
  tesela_report_cell *const to[CELLS] = {&metric->now, &metric->peak, &metric->allocated, &metric->freed};
  for (int i = 0; i < CELLS; i++) read_cell(cell[i], bytes, to[i]);
  for (size_t i = 0; i < sizeof torch_figures / sizeof torch_figures[0]; i++) {
    if (strcmp(name, torch_figures[i].name) != 0 || strcmp(pool_name, "all") != 0) continue;
    keep_figure(report, pool, torch_figures[i].now, &metric->now);
    keep_figure(report, pool, torch_figures[i].peak, &metric->peak);
  }
  return true;
}

static bool has_metric(const tesela__pool *pool, const char *name, const char *pool_name) {
  for (int64_t i = 0; pool && i < pool->public.n_metrics; i++)
    if (strcmp(pool->metric[i].name, name) == 0 && strcmp(pool->metric[i].pool, pool_name) == 0) return true;
  return false;
}

static bool torch_metric(tesela_report *report, const tesela__span part[1 + CELLS], bool *is_one) {
  tesela__pool *pool = report->memory.pool;
  tesela_report_cell cell;
  const tesela_report_metric *last =
      pool && pool->public.n_metrics > 0 ? &pool->metric[pool->public.n_metrics - 1] : NULL;
  for (size_t i = 0; i < sizeof torch_rows / sizeof torch_rows[0]; i++) {
    if (!span_is(part[0], torch_rows[i].word) || !read_cell(part[1], torch_rows[i].bytes, &cell)) continue;
    *is_one = true;
    if (!torch_open(report, has_metric(pool, torch_rows[i].name, "all"), &pool)) return false;
    return !pool || add_metric(report, pool, torch_rows[i].name, "all", torch_rows[i].bytes, part + 1);
  }
  for (size_t i = 0; last && i < sizeof torch_pools / sizeof torch_pools[0]; i++) {
    if (!span_is(part[0], torch_pools[i].word) || !read_cell(part[1], last->bytes, &cell) ||
        has_metric(pool, last->name, torch_pools[i].pool))
      continue;
    *is_one = true;
    return add_metric(report, pool, last->name, torch_pools[i].pool, last->bytes, part + 1);
  }
  return true;
}

/* The lines above the table: device, failures, retries. */
static bool torch_head(tesela_report *report, tesela__span line, bool *is_one) {
  static const char device[] = "memory summary, device ID ", ooms[] = "OOMs: ", retries[] = " retries: ";
  const char *p = tesela__find(line, device), *end = line.text + line.n;
  tesela__pool *pool = report->memory.pool;
  int64_t number;
  if (p && tesela__find(line, "PyTorch ") && tesela__pool_number(p + sizeof device - 1, end, &number)) {
    *is_one = true;
    if (!torch_open(report, pool && (pool->public.n_metrics > 0 || pool->public.device >= 0), &pool))
      return false;
    if (pool) pool->public.device = number;
    return true;
  }
  const char *q = tesela__find(line, retries);
  if (!pool || pool->kind != TESELA__POOL_TORCH || !(p = tesela__find(line, ooms)) || !q) return true;
  if (!tesela__pool_number(p + sizeof ooms - 1, end, &pool->public.ooms)) return true;
  *is_one = true;
  tesela__pool_number(q + sizeof retries - 1, end, &pool->public.retries);
  return true;
}

bool tesela__torch_line(tesela_report *report, tesela__span line, bool *is_one) {
  tesela__span part[1 + CELLS];
  if (!memchr(line.text, '|', line.n)) return true;
  if (cut_row(line, part)) return torch_metric(report, part, is_one);
  return torch_head(report, line, is_one);
}
