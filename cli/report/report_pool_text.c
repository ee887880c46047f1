/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_pool_text.c - an allocator at run time for people: why it refused, what it has, the sizes that take most, the table of PyTorch.
 */
#include <inttypes.h>

#include "report/report_print.h"

enum { SIZES = 5 };

static int64_t all_of(const tesela_report_chunks *size) {
  return size->bytes > INT64_MAX / (size->count > 0 ? size->count : 1) ? INT64_MAX
                                                                       : size->bytes * size->count;
}

static void print_why(const report_view *view, const tesela_report_pool *pool) {
  report_line line;
  if (!pool->words[0]) return;
  report_line_begin(&line, &view->cli->out);
  cli_styled(&line.term, "1", tesela_report_refusal_name(pool->why));
  fprintf(line.term.file, ": %s", pool->words);
  report_line_end(&line, 2);
  if (!pool->instead[0]) return;
  report_line_begin(&line, &view->cli->out);
  fprintf(line.term.file, "instead: %s", pool->instead);
  report_line_end(&line, 2);
}

/* "pool 7.00 GiB of 8.00 GiB in 2 regions, 6.20 GiB in use in 412 chunks, 0.80 GiB free in 17, the largest 310.00 MiB" */
static void print_parts(const report_view *view, const tesela_report_pool *pool) {
  char text[TESELA_UNITS_TEXT];
  const struct {
    const char *before;
    int64_t bytes;
    const char *between;
    int64_t count;
    const char *after;
  } rows[] = {
      {"limit ", pool->limit_bytes, "", -1, ""},
      {"pool ", pool->pool_bytes, " in ", pool->regions, pool->regions == 1 ? " region" : " regions"},
      {"in use ", pool->in_use_bytes, " in ", pool->in_use_chunks,
       pool->in_use_chunks == 1 ? " chunk" : " chunks"},
      {"in use at most ", pool->stat[TESELA_REPORT_STAT_MOST], "", -1, ""},
      {"free ", pool->free_bytes, " in ", pool->free_chunks, pool->free_chunks == 1 ? " chunk" : " chunks"},
      {pool->largest_known ? "the largest " : "the largest at most ", pool->largest_free_bytes, "", -1, ""}};
  const char *between = "  ";
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].bytes < 0) continue;
    printf("%s%s%s", between, rows[i].before, report_bytes(view, rows[i].bytes, text));
    if (rows[i].count >= 0) printf("%s%" PRId64 "%s", rows[i].between, rows[i].count, rows[i].after);
    between = ", ";
  }
  if (*between == ',') puts("");
}

static void print_sizes(const report_view *view, const tesela_report_pool *pool) {
  char each[TESELA_UNITS_TEXT], all[TESELA_UNITS_TEXT];
  for (int64_t i = 0; i < pool->n_sizes && i < SIZES; i++) {
    const tesela_report_chunks *size = &pool->size[i];
    printf("  %12s  %" PRId64 " x %s", report_bytes(view, all_of(size), all), size->count,
           report_bytes(view, size->bytes, each));
    if (size->op[0]) fputs(", ", stdout);
    report_put(&view->cli->out, size->op, 60);
    puts("");
  }
  if (pool->n_sizes > SIZES) printf("  ... and %" PRId64 " more sizes\n", pool->n_sizes - SIZES);
}

static void print_metrics(const tesela_report_pool *pool) {
  if (pool->n_metrics > 0) printf("  %-22s %12s %12s %12s %12s\n", "", "now", "peak", "allocated", "freed");
  for (int64_t i = 0; i < pool->n_metrics; i++) {
    const tesela_report_metric *m = &pool->metric[i];
    bool part = m->pool[0] != 'a';
    printf("  %-22s %12s %12s %12s %12s\n",
           part ? (m->pool[0] == 'l' ? "  large pool" : "  small pool") : m->name, m->now.text, m->peak.text,
           m->allocated.text, m->freed.text);
  }
}

void report_print_pool(const report_view *view, const tesela_report_pool *pool) {
  if (!pool) return;
  print_why(view, pool);
  if (pool->n_sizes > 0 || pool->n_bins > 0 || pool->stat[TESELA_REPORT_STAT_LIMIT] >= 0)
    print_parts(view, pool);
  print_sizes(view, pool);
  print_metrics(pool);
}
