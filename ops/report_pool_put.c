/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_pool_put.c - an allocator at run time as the member `allocator` of its section. docs/report.md lists the fields.
 */
#include "report_ask.h"

static void put_bytes(tesela_sink *j, const char *name, int64_t bytes) {
  report_put_known(j, name, bytes >= 0, bytes);
}

static void put_bin_figure(tesela_sink *j, const char *name, const tesela_report_printed *printed) {
  tesela_put_key_text(j, name, printed->text[0] ? printed->text : NULL);
}

static void put_bins(tesela_sink *j, const tesela_report_pool *pool) {
  tesela_put_key_list(j, "bins");
  for (int64_t i = 0; i < pool->n_bins; i++) {
    const tesela_report_bin *bin = &pool->bin[i];
    tesela_put_object(j);
    tesela_put_key_int(j, "from_bytes", bin->from_bytes);
    tesela_put_key_int(j, "chunks", bin->chunks);
    tesela_put_key_int(j, "in_use", bin->in_use);
    put_bin_figure(j, "allocated", &bin->allocated);
    put_bin_figure(j, "used", &bin->used);
    put_bin_figure(j, "requested", &bin->requested);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_sizes(tesela_sink *j, const report_ask *ask, const tesela_report_pool *pool) {
  int64_t shown = pool->n_sizes < ask->top ? pool->n_sizes : ask->top;
  tesela_put_key_list(j, "sizes");
  for (int64_t i = 0; i < shown; i++) {
    tesela_put_object(j);
    tesela_put_key_int(j, "bytes", pool->size[i].bytes);
    tesela_put_key_int(j, "count", pool->size[i].count);
    tesela_put_key_text(j, "op", pool->size[i].op[0] ? pool->size[i].op : NULL);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_key_int(j, "sizes_left_out", pool->n_sizes - shown);
}

static void put_cell(tesela_sink *j, const char *name, const tesela_report_cell *cell) {
  tesela_put_key(j, name);
  if (cell->value < 0) {
    tesela_put_null(j);
    return;
  }
  tesela_put_object(j);
  tesela_put_key_text(j, "text", cell->text);
  tesela_put_key_int(j, "value", cell->value);
  tesela_put_key_int(j, "step", cell->step);
  tesela_put_end(j);
}

static void put_metrics(tesela_sink *j, const tesela_report_pool *pool) {
  tesela_put_key_list(j, "metrics");
  for (int64_t i = 0; i < pool->n_metrics; i++) {
    const tesela_report_metric *metric = &pool->metric[i];
    tesela_put_object(j);
    tesela_put_key_text(j, "name", metric->name);
    tesela_put_key_text(j, "pool", metric->pool);
    tesela_put_key_bool(j, "bytes", metric->bytes);
    put_cell(j, "now", &metric->now);
    put_cell(j, "peak", &metric->peak);
    put_cell(j, "allocated", &metric->allocated);
    put_cell(j, "freed", &metric->freed);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

void report_put_pool(tesela_sink *j, const report_ask *ask, const tesela_report_pool *pool) {
  if (!pool) return;
  tesela_put_key_object(j, "allocator");
  tesela_put_key_text(j, "why", tesela_report_refusal_name(pool->why));
  tesela_put_key_text(j, "words", pool->words[0] ? pool->words : NULL);
  tesela_put_key_text(j, "instead", pool->instead[0] ? pool->instead : NULL);
  const struct {
    const char *name;
    int64_t value;
  } rows[] = {{"requested_bytes", pool->requested_bytes},
              {"limit_bytes", pool->limit_bytes},
              {"pool_bytes", pool->pool_bytes},
              {"in_use_bytes", pool->in_use_bytes},
              {"in_use_chunks", pool->in_use_chunks},
              {"free_bytes", pool->free_bytes},
              {"free_chunks", pool->free_chunks},
              {"largest_free_bytes", pool->largest_free_bytes},
              {"region_free_bytes", pool->region_free_bytes},
              {"regions", pool->regions},
              {"device", pool->device},
              {"ooms", pool->ooms},
              {"retries", pool->retries}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) put_bytes(j, rows[i].name, rows[i].value);
  tesela_put_key_bool(j, "largest_known", pool->largest_known);
  tesela_put_key_bool(j, "exact", pool->exact);
  tesela_put_key_object(j, "stats");
  for (int i = 0; i < TESELA_REPORT_N_STATS; i++)
    if (pool->stat[i] >= 0)
      tesela_put_key_int(j, tesela_report_stat_name((tesela_report_stat)i), pool->stat[i]);
  tesela_put_end(j);
  put_bins(j, pool);
  put_sizes(j, ask, pool);
  put_metrics(j, pool);
  tesela_put_end(j);
}
