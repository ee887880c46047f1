/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_trial.c - the ops check and bench: a problem with data, checked against the definition, and timed next to memcpy.
 */
#include "bench_run.h"
#include "request.h"

tesela_status op_check(tesela_request *q) {
  problem p;
  trial t;
  bool right;
  tesela_status status = problem_read_field(q, &p);
  if (status != TESELA_OK) return status;
  status = trial_begin(q, &p, &t);
  if (status == TESELA_OK) status = trial_find_ways(q, true, &t);
  if (status == TESELA_OK) status = trial_check(q, &t, &right);
  if (status == TESELA_OK) {
    problem_put(&p, q->out);
    tesela_put_key_bool(q->out, "all_ok", right);
    tesela_put_key_bool(q->out, "values_checked", t.defined);
    tesela_put_key(q->out, "ways");
    tesela_put_list(q->out);
    for (int i = 0; i < t.n_ways; i++) {
      tesela_put_object(q->out);
      trial_put_way(q->out, &t.way[i]);
      tesela_put_end(q->out);
    }
    tesela_put_end(q->out);
  }
  trial_end(&t);
  return status;
}

static void put_key_real(tesela_sink *out, const char *name, double value) {
  tesela_put_key(out, name);
  tesela_put_real(out, value);
}

static void put_timing(tesela_sink *out, const bench *b, const timing *t) {
  put_key_real(out, "best_ns", t->best);
  put_key_real(out, "median_ns", t->median);
  put_key_real(out, "gb_per_s", bench_rate(b, t->median));
}

static void put_way(tesela_sink *out, const bench *b, int i) {
  tesela_plan_info info;
  tesela_plan_describe(b->t.way[i].plan, &info);
  tesela_put_object(out);
  trial_put_way(out, &b->t.way[i]);
  if (b->right) {
    tesela_put_key_int(out, "threads", info.threads);
    put_timing(out, b, &b->way[i]);
    put_key_real(out, "ratio_to_memcpy", b->way[i].ratio);
    put_key_real(out, "create_ns", b->way[i].create);
  }
  tesela_put_end(out);
}

static void put_bench(tesela_sink *out, const bench *b) {
  problem_put(b->t.p, out);
  tesela_put_key_bool(out, "all_ok", b->right);
  tesela_put_key_int(out, "rounds", b->right ? b->rounds : 0);
  if (b->right) {
    tesela_put_key_int(out, "bytes_read", b->info.bytes_read);
    tesela_put_key_int(out, "bytes_written", b->info.bytes_written);
    tesela_put_key(out, "memcpy");
    tesela_put_object(out);
    tesela_put_key_int(out, "bytes", b->moved / 2);
    put_timing(out, b, &b->copy);
    tesela_put_end(out);
  }
  tesela_put_key(out, "ways");
  tesela_put_list(out);
  for (int i = 0; i < b->t.n_ways; i++) put_way(out, b, i);
  tesela_put_end(out);
}

tesela_status op_bench(tesela_request *q) {
  problem p;
  bench *b;
  tesela_status status = problem_read_field(q, &p);
  if (status != TESELA_OK) return status;
  status = bench_run(q, &p, &b);
  if (status == TESELA_OK) put_bench(q->out, b);
  bench_free(b);
  return status;
}
