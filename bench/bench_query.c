/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_query.c - requests of `tesela query`, from the line to its answer: a tensor of 1 KB copied to other layouts, with plans kept.
 */
#include "timing.h"

#include <string.h>

#include <tesela/ops.h>
#include <tesela/relayout.h>

enum { REQUESTS = 50, BYTES = 1024, PLANS = 16 };

typedef struct query {
  char line[4 * BYTES];
  size_t length, answered;
  tesela_request how;
} query;

static void answer(void *data) {
  query *q = data;
  tesela_json_out out = TESELA_JSON_OUT;
  for (int r = 0; r < REQUESTS; r++) {
    out.length = 0;
    out.comma = false;
    tesela_json_answer(q->line, q->length, &q->how, &out);
  }
  q->answered = out.length;
  tesela_json_out_free(&out);
}

static void time_one(query *q, const char *from, const char *to, const char *figure) {
  int n = snprintf(q->line, sizeof q->line,
                   "{\"op\":\"relayout\",\"from\":\"%s\",\"to\":\"%s\",\"data_hex\":\"", from, to);
  for (int i = 0; i < BYTES; i++)
    n += snprintf(q->line + n, sizeof q->line - (size_t)n, "%02x", (i * 37 + 11) & 255);
  n += snprintf(q->line + n, sizeof q->line - (size_t)n, "\"}");
  q->length = (size_t)n;
  char title[128];
  snprintf(title, sizeof title, "%s to %s", from, to);
  bench_way way = {"a request", answer, REQUESTS, 0};
  bench_compare(title, &way, 1, q);
  if (q->answered < 2 * BYTES) {
    fprintf(stderr, "bench_query: %s failed\n", title);
    exit(1);
  }
  bench_figure(figure, way.ns / 1000);
}

int main(void) {
  static query q;
  if (tesela_plan_cache_create(&q.how.plans, PLANS, NULL, NULL) != TESELA_OK) return 1;
  time_one(&q, "f32[16,16]{1,0}", "{0,1}", "query.relayout_us");
  time_one(&q, "bf16[32,16]{1,0}", "{0,1:T(8,8)}", "query.relayout_us");
  time_one(&q, "u8[1024]{0}", "{0:T(128)}", "query.relayout_us");
  tesela_plan_cache_destroy(q.how.plans);
  return 0;
}
