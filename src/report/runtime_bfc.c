/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_bfc.c - the dump of a BFC allocator (TensorFlow, JAX), one line at a time, after any prefix of a log.
 *
 *   BFCAllocator dump for GPU_0_bfc
 *   Bin (256):  Total Chunks: 59, Chunks in use: 58. 14.8KiB allocated for chunks. 14.5KiB in use in bin. 10.1KiB client-requested ...
 *   Next region of size 8589934592
 *   InUse at 7f62824ab200 of size 9437184 next 246          "Chunk at 0x..." and no "next" in old ones
 *   Free  at 7bc2af4d3400 of size 3329024 next 18446744073709551615
 *        Summary of in-use Chunks by size:
 *   58 Chunks of size 256 totalling 14.5KiB
 *   Sum Total of in-use chunks: 7.25GiB
 *   Stats:
 *   Limit:                      8589934592
 */
#include "report/report_state.h"

enum { MOST_BINS = 32 };

/* Where a line of a dump is read: the open allocator's, or that of another dump which starts here. */
static bool bfc_open(tesela_report *report, bool another, tesela__pool **pool) {
  if (!tesela__pool_open(report,
                         another || (report->memory.pool && report->memory.pool->kind != TESELA__POOL_BFC),
                         (tesela__span){"", 0}, pool))
    return false;
  if (!*pool) return true;
  (*pool)->kind = TESELA__POOL_BFC;
  if (!(*pool)->noted) tesela__runtime_note(report, *pool, "the BFC allocator");
  (*pool)->dumped = true;
  return true;
}

static bool bfc_dumped(const tesela_report *report) {
  return report->memory.pool && report->memory.pool->dumped;
}

/* The figure that starts after a word; *line moves after it. */
static bool bfc_figure(tesela__span *line, const char *word, tesela_report_printed *printed) {
  const char *p = tesela__find(*line, word);
  *printed = (tesela_report_printed){.bytes = -1};
  if (!p) return false;
  *line = tesela__from(*line, p + strlen(word));
  return tesela__memory_figure(*line, printed);
}

static int64_t bfc_number(tesela__span line, const char *word) {
  const char *p = tesela__find(line, word), *end = line.text + line.n;
  int64_t number;
  return p && tesela__pool_number(tesela__skip_blanks(p + strlen(word), end), end, &number) ? number : -1;
}

/* ---- one function for each kind of line: *is_one if it is whole ------------------------------------------ */

static bool bfc_heading(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one) {
  const tesela__memory_text *memory = &report->memory;
  tesela__span name = tesela__between(rest.text, tesela__skip_name(rest.text, rest.text + rest.n));
  tesela__pool *pool;
  (void)line;
  if (name.n == 0) return true;
  bool other = memory->pool && memory->section >= 0 &&
               (strlen(report->section[memory->section].name) != name.n ||
                memcmp(report->section[memory->section].name, name.text, name.n) != 0);
  *is_one = true;
  if (!memory->pool || memory->pool->kind != TESELA__POOL_BFC || memory->pool->dumped || other) {
    if (!tesela__pool_open(report, true, name, &pool)) return false;
  }
  return bfc_open(report, false, &pool);
}

static bool bfc_bin(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one) {
  tesela_report_bin bin = {.from_bytes = bfc_number(line, "Bin ("),
                           .chunks = bfc_number(line, "Total Chunks:"),
                           .in_use = bfc_number(line, "Chunks in use:")};
  tesela__pool *pool = report->memory.pool;
  bool figures = bfc_figure(&rest, ". ", &bin.allocated) &&
                 bfc_figure(&rest, "allocated for chunks. ", &bin.used) &&
                 bfc_figure(&rest, "in use in bin. ", &bin.requested);
  if (bin.from_bytes < 0 || bin.in_use < 0 || bin.from_bytes > TESELA__LARGEST_BIN ||
      bin.chunks < bin.in_use || !figures)
    return true;
  *is_one = true;
  bool again = pool && (pool->last_bin >= bin.from_bytes || pool->public.free_chunks >= 0 || pool->summed);
  if (!bfc_open(report, again, &pool)) return false;
  if (!pool) return true;
  pool->bins_lost =
      pool->bins_lost || bin.from_bytes != (pool->last_bin < 0 ? TESELA__LEAST_BIN : 2 * pool->last_bin);
  pool->last_bin = bin.from_bytes;
  if (bin.chunks == 0 || pool->public.n_bins == MOST_BINS) return true;
  if (!pool->bin)
    pool->bin = tesela__arena_take(&report->text, &report->allocator, MOST_BINS * sizeof *pool->bin);
  if (!pool->bin) return tesela__report_no_memory(report);
  pool->public.bin = pool->bin;
  pool->bin[pool->public.n_bins++] = bin;
  return true;
}

static bool bfc_region(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one) {
  tesela__pool *pool;
  int64_t bytes;
  (void)line;
  if (!tesela__pool_number(rest.text, rest.text + rest.n, &bytes)) return true;
  *is_one = true;
  if (!bfc_open(report, bfc_dumped(report) && report->memory.pool->summed, &pool)) return false;
  if (!pool) return true;
  pool->public.regions = pool->public.regions < 0 ? 1 : pool->public.regions + 1;
  pool->region_free = 0;
  tesela__report_add(report, &pool->region_bytes, bytes);
  return true;
}

static void add_free_chunk(tesela_report *report, tesela__pool *pool, int64_t bytes, tesela__span tag) {
  tesela_report_pool *public = &pool->public;
  bool lower = tesela__looking_at(tag.text, tag.text + tag.n, "lower"),
       upper = tesela__looking_at(tag.text, tag.text + tag.n, "upper");
  public->free_chunks++;
  pool->tagged = pool->tagged || tag.n > 0;
  pool->central_gap += tesela__looking_at(tag.text, tag.text + tag.n, "central_gap");
  tesela__report_add(report, &public->free_bytes, bytes);
  tesela__report_add(report, &pool->region_free, bytes);
  public->region_free_bytes = tesela__max(public->region_free_bytes, pool->region_free);
  int64_t *largest = &pool->largest_free[lower ? 1 : upper ? 2 : 0];
  *largest = tesela__max(*largest, bytes);
}

/* What stands before " of size ": "InUse at 7f..", "Free  at 7f..", "Chunk at 0x..". */
static bool chunk_word(tesela__span before, bool *in_use) {
  const char *p = before.text + before.n;
  while (p > before.text && (tesela__is_name(p[-1]))) p--;
  if (p == before.text + before.n || p - before.text < 8 || memcmp(p - 4, " at ", 4) != 0) return false;
  p -= 4;
  while (p > before.text && p[-1] == ' ') p--;
  if (p - before.text < 4) return false;
  *in_use = memcmp(p - 4, "nUse", 4) == 0 || memcmp(p - 4, "hunk", 4) == 0;
  return *in_use || memcmp(p - 4, "Free", 4) == 0;
}

static bool bfc_chunk(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one) {
  tesela__pool *pool;
  bool in_use;
  int64_t bytes;
  const char *end = rest.text + rest.n, *p = tesela__pool_number(rest.text, end, &bytes);
  if (!p || !chunk_word(tesela__between(line.text, rest.text - 9), &in_use)) return true;
  *is_one = true;
  if (!bfc_open(report, bfc_dumped(report) && report->memory.pool->summed, &pool)) return false;
  if (!pool) return true;
  if (pool->public.free_chunks < 0) {
    pool->public.free_chunks = pool->public.free_bytes = pool->public.region_free_bytes = 0;
    pool->has_next = tesela__find(rest, " next ") != NULL;
  }
  const char *next = tesela__find(rest, " next "), *op = tesela__find(rest, " by op "),
             *tag = tesela__find(rest, " tag ");
  pool->cut = pool->cut || (pool->has_next && !next);
  tesela__span by = op ? tesela__from(rest, op + 7) : (tesela__span){"", 0};
  by.n = op ? (size_t)(tesela__skip_name(by.text, end) - by.text) : 0;
  if (in_use) return tesela__pool_add(report, pool, bytes, 1, 0, by);
  add_free_chunk(report, pool, bytes, tag ? tesela__from(rest, tag + 5) : (tesela__span){"", 0});
  return true;
}

static bool bfc_size(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one) {
  tesela_report_printed total;
  tesela__pool *pool = report->memory.pool;
  const char *end = rest.text + rest.n, *p = rest.text - strlen(" Chunks of size ");
  int64_t bytes, count, all;
  while (p > line.text && tesela__is_digit(p[-1])) p--;
  const char *after = tesela__pool_number(rest.text, end, &bytes);
  if (!after || !tesela__pool_number(p, end, &count) || !tesela__looking_at(after, end, " totalling ") ||
      !tesela__memory_figure(tesela__between(after + 11, end), &total))
    return true;
  *is_one = true;
  bool again = pool && pool->summed && bytes <= pool->size_at_last;
  if (!bfc_open(report, again, &pool)) return false;
  if (!pool) return true;
  pool->summed = true;
  pool->size_at_last = bytes;
  if (!tesela__mul(bytes, count, &all) || !tesela__prints_as(all, &total))
    tesela__memory_note_mixed(report,
                              "the bytes of chunks of one size are not the product of size and number");
  return tesela__pool_add(report, pool, bytes, 0, count, (tesela__span){"", 0});
}

static bool bfc_sum(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one) {
  tesela_report_printed printed;
  tesela__pool *pool = report->memory.pool;
  (void)line;
  if (!tesela__memory_figure(rest, &printed)) return true;
  *is_one = true;
  if (!bfc_open(report, pool && pool->sum.text[0], &pool)) return false;
  if (!pool) return true;
  pool->sum = printed;
  report->section[pool->section].figure[TESELA_REPORT_IN_USE] = printed;
  return true;
}

static bool bfc_summary(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one) {
  tesela_report_printed limit;
  tesela__pool *pool;
  (void)line;
  *is_one = true;
  if (!bfc_open(report, false, &pool)) return false;
  if (!pool) return true;
  pool->tagged = true;
  if (tesela__find(rest, "usable by lower ")) memcpy(pool->end, "lower", sizeof "lower");
  if (tesela__find(rest, "usable by upper ")) memcpy(pool->end, "upper", sizeof "upper");
  bfc_figure(&rest, "total free in pool ", &pool->summary_free);
  bfc_figure(&rest, " end ", &pool->summary_usable);
  if (bfc_figure(&rest, "pool limit ", &limit) && pool->public.limit_bytes < 0)
    pool->public.limit_bytes = limit.bytes;
  return true;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static const struct bfc_row {
  const char *word;
  bool starts; /* known also outside a dump */
  bool (*read)(tesela_report *report, tesela__span line, tesela__span rest, bool *is_one);
} bfc_rows[] = {
    {" of size ", true, bfc_chunk},
    {" Chunks of size ", true, bfc_size},
    {"Next region of size ", true, bfc_region},
    {"Total Chunks: ", true, bfc_bin},
    {"Allocator dump for ", true, bfc_heading},
    {"Sum Total of in-use chunks: ", true, bfc_sum},
    {"Allocator memory summary: ", false, bfc_summary},
};
enum { N_BFC_ROWS = sizeof bfc_rows / sizeof bfc_rows[0] };

static const char *const stat_words[] = {
#define TESELA__ROW(symbol, name, word) [symbol] = word,
    TESELA_REPORT_STAT_MAP(TESELA__ROW)
#undef TESELA__ROW
};

/* "MaxInUse:      7712841728", alone on its line. */
static bool bfc_stat(tesela_report *report, tesela__span line, bool inside, bool *is_one) {
  tesela__span text = tesela__trim(line);
  const char *end = text.text + text.n;
  tesela__pool *pool = report->memory.pool;
  for (int i = 0; i < TESELA_REPORT_N_STATS; i++) {
    int64_t number = 0;
    if (!tesela__looking_at(text.text, end, stat_words[i])) continue;
    const char *p = tesela__skip_blanks(text.text + strlen(stat_words[i]), end);
    if ((!inside && i != TESELA_REPORT_STAT_LARGEST) || tesela__pool_number(p, end, &number) != end)
      return true;
    *is_one = true;
    if (!bfc_open(report, pool && pool->public.stat[i] >= 0, &pool)) return false;
    if (pool) pool->public.stat[i] = number;
    return true;
  }
  return true;
}

bool tesela__bfc_line(tesela_report *report, tesela__span line, bool inside, bool *is_one) {
  for (int i = 0; i < N_BFC_ROWS; i++) {
    const char *p = inside || bfc_rows[i].starts ? tesela__find(line, bfc_rows[i].word) : NULL;
    if (!p) continue;
    tesela__span rest = tesela__from(line, p + strlen(bfc_rows[i].word));
    if (!bfc_rows[i].read(report, line, rest, is_one)) return false;
    if (*is_one) return true;
  }
  return bfc_stat(report, line, inside, is_one);
}

bool tesela__bfc_starts(tesela__span text) {
  static const char *const words[] = {"InUse at ",
                                      "Free  at ",
                                      "Chunk at ",
                                      "Bin (",
                                      "Next region of size ",
                                      "Summary of in-use Chunks",
                                      "Sum Total of",
                                      "Stats:",
                                      "BFCAllocator dump for "};
  const char *p = text.text, *end = text.text + text.n;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (tesela__looking_at(p, end, words[i])) return true;
  for (int i = 0; i < TESELA_REPORT_N_STATS; i++)
    if (tesela__looking_at(p, end, stat_words[i])) return true;
  while (p < end && tesela__is_digit(*p)) p++;
  return p > text.text && tesela__looking_at(p, end, " Chunks of size ");
}
