/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_dnnl.c - oneDNN's reorder and tesela on the layouts that oneDNN has a tag for.
 *
 *   peer_dnnl [--only=TEXT] [--rounds=N]
 *
 * Built only if oneDNN is found (Debian: libdnnl-dev). Each pair runs with one thread and, if it is large, with two, in one process:
 * OpenMP's count of threads, which oneDNN follows, is set before a primitive is made. The two results, padding
 * included, are compared byte by byte before the race.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>

#include "race.h"
#include "timing.h"

enum { BUFFER_BYTES = 300 << 20, MOST_DIGITS = 8 };

/* The same layout for both libraries: a tag, and digits (dim, step) outermost first. */
typedef struct tagged {
  dnnl_format_tag_t tag;
  const char *name;
  int n;
  struct {
    int dim, step;
  } digit[MOST_DIGITS];
} tagged;

#define PLAIN2(a, b) \
  2, {               \
    {a, 1}, { b, 1 } \
  }
#define PLAIN3(a, b, c)      \
  3, {                       \
    {a, 1}, {b, 1}, { c, 1 } \
  }
#define PLAIN4(a, b, c, d)           \
  4, {                               \
    {a, 1}, {b, 1}, {c, 1}, { d, 1 } \
  }

static const tagged ab = {dnnl_ab, "ab", PLAIN2(0, 1)};
static const tagged ba = {dnnl_ba, "ba", PLAIN2(1, 0)};
static const tagged abc = {dnnl_abc, "abc", PLAIN3(0, 1, 2)};
static const tagged bac = {dnnl_bac, "bac", PLAIN3(1, 0, 2)};
static const tagged bca = {dnnl_bca, "bca", PLAIN3(1, 2, 0)};
static const tagged cba = {dnnl_cba, "cba", PLAIN3(2, 1, 0)};
static const tagged acb = {dnnl_acb, "acb", PLAIN3(0, 2, 1)};
static const tagged abcd = {dnnl_abcd, "abcd", PLAIN4(0, 1, 2, 3)};
static const tagged acdb = {dnnl_acdb, "acdb", PLAIN4(0, 2, 3, 1)};
static const tagged acbd = {dnnl_acbd, "acbd", PLAIN4(0, 2, 1, 3)};
static const tagged abdc = {dnnl_abdc, "abdc", PLAIN4(0, 1, 3, 2)};
static const tagged bcda = {dnnl_bcda, "bcda", PLAIN4(1, 2, 3, 0)};
static const tagged aBcd16b = {dnnl_aBcd16b, "aBcd16b", 5, {{0, 1}, {1, 16}, {2, 1}, {3, 1}, {1, 1}}};
static const tagged aBcd8b = {dnnl_aBcd8b, "aBcd8b", 5, {{0, 1}, {1, 8}, {2, 1}, {3, 1}, {1, 1}}};
static const tagged ABcd16a16b = {
    dnnl_ABcd16a16b, "ABcd16a16b", 6, {{0, 16}, {1, 16}, {2, 1}, {3, 1}, {0, 1}, {1, 1}}};
static const tagged ABcd16b16a = {
    dnnl_ABcd16b16a, "ABcd16b16a", 6, {{0, 16}, {1, 16}, {2, 1}, {3, 1}, {1, 1}, {0, 1}}};
static const tagged ABcd4b16a4b = {
    dnnl_ABcd4b16a4b, "ABcd4b16a4b", 7, {{0, 16}, {1, 16}, {2, 1}, {3, 1}, {1, 4}, {0, 1}, {1, 1}}};
static const tagged AB16b16a = {dnnl_AB16b16a, "AB16b16a", 4, {{0, 16}, {1, 16}, {1, 1}, {0, 1}}};
static const tagged BA16a16b = {dnnl_BA16a16b, "BA16a16b", 4, {{1, 16}, {0, 16}, {0, 1}, {1, 1}}};
static const tagged BA16a64b = {dnnl_BA16a64b, "BA16a64b", 4, {{1, 64}, {0, 16}, {0, 1}, {1, 1}}};

typedef struct pair {
  const tagged *from, *to;
  dnnl_data_type_t type;
  int rank;
  int64_t shape[DNNL_MAX_NDIMS]; /* as long as oneDNN says it reads */
} pair;

static const pair pairs[] = {
    {&ab, &ba, dnnl_f32, 2, {8192, 8192}},
    {&ab, &ba, dnnl_f32, 2, {7264, 7264}},
    {&ab, &ba, dnnl_f32, 2, {8189, 8197}},
    {&ab, &ba, dnnl_u8, 2, {16384, 16384}},
    {&ab, &ba, dnnl_bf16, 2, {11584, 11584}},
    {&ab, &ba, dnnl_f32, 2, {64, 1048576}},
    {&ab, &ba, dnnl_f32, 2, {22369620, 3}},
    {&ab, &ba, dnnl_f32, 2, {361, 477}},
    {&ab, &ba, dnnl_bf16, 2, {512, 448}},
    {&abc, &bac, dnnl_f32, 3, {384, 384, 368}},
    {&abc, &cba, dnnl_f32, 3, {384, 355, 384}},
    {&abc, &bca, dnnl_f32, 3, {400, 400, 400}},
    {&abc, &acb, dnnl_f32, 3, {101, 2003, 333}},
    {&abcd, &bcda, dnnl_f32, 4, {64, 224, 224, 3}},
    {&abcd, &acbd, dnnl_bf16, 4, {8, 4096, 32, 128}},
    {&abcd, &abdc, dnnl_bf16, 4, {8, 32, 4096, 128}},
    {&abcd, &acdb, dnnl_f32, 4, {64, 256, 56, 56}},
    {&acdb, &abcd, dnnl_u8, 4, {256, 3, 224, 224}},
    {&abcd, &aBcd16b, dnnl_f32, 4, {64, 256, 56, 56}},
    {&aBcd16b, &abcd, dnnl_f32, 4, {64, 256, 56, 56}},
    {&acdb, &aBcd16b, dnnl_f32, 4, {64, 256, 56, 56}},
    {&abcd, &aBcd8b, dnnl_f32, 4, {64, 256, 56, 56}},
    {&abcd, &aBcd16b, dnnl_f32, 4, {64, 250, 57, 57}},
    {&abcd, &aBcd16b, dnnl_f32, 4, {1, 64, 56, 56}},
    {&abcd, &ABcd16a16b, dnnl_f32, 4, {2048, 2048, 3, 3}},
    {&abcd, &ABcd16b16a, dnnl_f32, 4, {2048, 2048, 3, 3}},
    {&abcd, &ABcd4b16a4b, dnnl_s8, 4, {2048, 2048, 3, 3}},
    {&ab, &AB16b16a, dnnl_f32, 2, {8192, 8192}},
    {&ab, &BA16a16b, dnnl_f32, 2, {8192, 8192}},
    {&ab, &BA16a64b, dnnl_f32, 2, {8192, 8192}},
};

static unsigned char *dst_own, *dst_dnnl, *src_buffer;

static void must(dnnl_status_t status, const char *what) {
  if (status != dnnl_success) race_fail("oneDNN: %s gives status %d", what, (int)status);
}

/* ---- tesela's side ------------------------------------------------------------------------------------------------ */

static tesela_dtype dtype_of(dnnl_data_type_t type) {
  return type == dnnl_f32    ? TESELA_F32
         : type == dnnl_bf16 ? TESELA_BF16
         : type == dnnl_s8   ? TESELA_S8
                             : TESELA_U8;
}

/* A dim is split by its steps from the largest down, as its digits stand in the tag; then all are placed row-major. */
static void make_layout(const pair *p, const tagged *t, tesela_layout *layout) {
  tesela_error err;
  tesela_dtype dtype = dtype_of(p->type);
  int32_t digit[MOST_DIGITS], rest[4] = {0, 1, 2, 3}, axis;
  tesela_status status =
      tesela_layout_begin(layout, dtype, tesela_dtype_bits(dtype), p->rank, p->shape, &err);
  for (int i = 0; i < t->n && status == TESELA_OK; i++) {
    digit[i] = rest[t->digit[i].dim];
    if (t->digit[i].step > 1)
      status = tesela_layout_split(layout, digit[i], t->digit[i].step, &rest[t->digit[i].dim], &err);
  }
  if (status == TESELA_OK) status = tesela_layout_add_axis(layout, "memory", &axis, &err);
  if (status == TESELA_OK) status = tesela_layout_place_row_major(layout, t->n, digit, axis, 1, NULL, &err);
  if (status == TESELA_OK) status = tesela_layout_finish(layout, &err);
  if (status != TESELA_OK) race_fail("%s: %s", t->name, err.message);
}

/* ---- oneDNN's side ------------------------------------------------------------------------------------------------ */

typedef struct reorder {
  dnnl_primitive_t primitive;
  dnnl_stream_t stream;
  dnnl_memory_t dst, src;
  size_t dst_bytes;
} reorder;

static void run_reorder(void *data) {
  reorder *r = data;
  dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, r->src}, {DNNL_ARG_TO, r->dst}};
  must(dnnl_primitive_execute(r->primitive, r->stream, 2, args), "execute");
  must(dnnl_stream_wait(r->stream), "wait");
}

static void make_reorder(const pair *p, dnnl_engine_t engine, reorder *r) {
  dnnl_memory_desc_t dst, src;
  dnnl_primitive_desc_t desc;
  must(dnnl_memory_desc_init_by_tag(&src, p->rank, p->shape, p->type, p->from->tag), p->from->name);
  must(dnnl_memory_desc_init_by_tag(&dst, p->rank, p->shape, p->type, p->to->tag), p->to->name);
  r->dst_bytes = dnnl_memory_desc_get_size(&dst);
  if (r->dst_bytes > BUFFER_BYTES || dnnl_memory_desc_get_size(&src) > BUFFER_BYTES) race_fail("too large");
  must(dnnl_memory_create(&r->src, &src, engine, src_buffer), "memory");
  must(dnnl_memory_create(&r->dst, &dst, engine, dst_dnnl), "memory");
  must(dnnl_reorder_primitive_desc_create(&desc, &src, engine, &dst, engine, NULL), "reorder");
  must(dnnl_primitive_create(&r->primitive, desc), "primitive");
  must(dnnl_primitive_desc_destroy(desc), "destroy");
  must(dnnl_stream_create(&r->stream, engine, dnnl_stream_default_flags), "stream");
}

static void destroy_reorder(reorder *r) {
  dnnl_primitive_destroy(r->primitive);
  dnnl_stream_destroy(r->stream);
  dnnl_memory_destroy(r->src);
  dnnl_memory_destroy(r->dst);
}

/* ---- the race ----------------------------------------------------------------------------------------------------- */

/* Speed over oneDNN's. */
static double run_pair(const pair *p, const char *name, int threads, int rounds) {
  tesela_layout dst, src;
  tesela_plan_options options = {.threads = threads};
  tesela_plan *plan;
  tesela_error err;
  tesela_sizes sizes;
  dnnl_engine_t engine;
  reorder peer;
  omp_set_num_threads(threads);
  must(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine");
  make_reorder(p, engine, &peer);
  make_layout(p, p->from, &src);
  make_layout(p, p->to, &dst);
  if (tesela_plan_create(&plan, &dst, &src, &options, &err) != TESELA_OK)
    race_fail("%s: %s", name, err.message);
  tesela_layout_sizes(&dst, &sizes, NULL);
  if ((size_t)sizes.bytes != peer.dst_bytes) race_fail("%s: the sizes differ", name);
  memset(dst_own, 0xa5, peer.dst_bytes);
  memset(dst_dnnl, 0x5a, peer.dst_bytes);
  race_plan own = {plan, dst_own, src_buffer};
  race_run_plan(&own);
  run_reorder(&peer);
  if (memcmp(dst_own, dst_dnnl, peer.dst_bytes) != 0) race_fail("%s: the results differ", name);
  double bytes = (double)(sizes.logical_bytes + sizes.bytes);
  race_copy copy = {dst_own, src_buffer, (size_t)sizes.logical_bytes, threads};
  racer yard = {.run = race_memcpy, .data = &copy, .bytes = 2 * (double)sizes.logical_bytes};
  racer a = {.run = race_run_plan, .data = &own, .bytes = bytes};
  racer b = {.run = run_reorder, .data = &peer, .bytes = bytes};
  race((racer *[]){&yard, &a, &b}, 3, rounds);
  double ratio = race_ratio(&a, &b, rounds);
  printf("%-44s %2d %7.1f %8.2f %8.2f %8.2f  %-4s %s\n", name, threads, race_gbs(&a, rounds),
         race_ratio(&a, &yard, rounds), race_ratio(&b, &yard, rounds), ratio, ratio < 1.3 ? "MISS" : "ok",
         race_plan_line(plan));
  fflush(stdout);
  tesela_plan_destroy(plan);
  destroy_reorder(&peer);
  dnnl_engine_destroy(engine);
  return ratio;
}

/* Below 4 MiB tesela takes one thread, and a second of OpenMP's costs more than the copy. */
static bool is_small(const pair *p) {
  int64_t bytes = tesela_dtype_bytes(dtype_of(p->type));
  for (int d = 0; d < p->rank; d++) bytes *= p->shape[d];
  return bytes < 4 << 20;
}

static void name_of(const pair *p, char *name, size_t size) {
  int n = snprintf(name, size, "%s[", tesela_dtype_name(dtype_of(p->type)));
  for (int d = 0; d < p->rank; d++)
    n += snprintf(name + n, size - (size_t)n, "%s%d", d ? "," : "", (int)p->shape[d]);
  snprintf(name + n, size - (size_t)n, "] %s -> %s", p->from->name, p->to->name);
}

int main(int argc, char **argv) {
  const char *only = "";
  int rounds = 7;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "--only=", 7) == 0)
      only = argv[i] + 7;
    else if (strncmp(argv[i], "--rounds=", 9) == 0)
      rounds = atoi(argv[i] + 9);
    else
      race_fail("usage: peer_dnnl [--only=TEXT] [--rounds=N]");
  }
  dst_own = race_buffer(BUFFER_BYTES);
  dst_dnnl = race_buffer(BUFFER_BYTES);
  src_buffer = race_buffer(BUFFER_BYTES);
  const dnnl_version_t *v = dnnl_version();
  printf("oneDNN %d.%d.%d\n%-44s %2s %7s %8s %8s %8s  goal 1.30\n", v->major, v->minor, v->patch, "pair",
         "th", "GB/s", "x memcpy", "oneDNN", "ratio");
  /* Finite and not subnormal in every type: without AVX-512, oneDNN moves bf16 through f32, and flushes. */
  for (size_t i = 0; i < BUFFER_BYTES; i++)
    src_buffer[i] = (unsigned char)((i * 2654435761u >> 9 & 0x1f) | 0x20);
  for (int threads = 1; threads <= 2; threads++) {
    double sum = 0;
    int n = 0, low = 0;
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
      char name[96];
      name_of(&pairs[k], name, sizeof name);
      if (!strstr(name, only) || (threads > 1 && is_small(&pairs[k]))) continue;
      double ratio = run_pair(&pairs[k], name, threads, rounds);
      bench_figure(threads == 1 ? "dnnl.ratio_1" : "dnnl.ratio_2", ratio);
      sum += log(ratio);
      low += ratio < 1.3;
      n++;
    }
    if (n)
      printf("%d threads: geometric mean %.2f x oneDNN over %d pairs; %d below 1.3\n", threads, exp(sum / n),
             n, low);
  }
  return 0;
}
