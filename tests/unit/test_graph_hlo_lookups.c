/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_lookups.c - gather, scatter, dynamic-slice and dynamic-update-slice in HLO text, drawn at random, against their
 * definitions: index vectors of any length, windows, batches, dims in any order.
 *
 * Values that a scatter adds are whole numbers; where it sets, all values are one number: the order of updates is not defined.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_hlo_run.h"
#include "support_seed.h"

enum { CASES = 300 };

static uint64_t seed;

/* A gather or scatter. Of each dim of x: the component of the index vector, the dim of the indices it goes along with, whether it stays
 * out of the window, its extent there. */
typedef struct lookup {
  int32_t rank, vector, n_batch, n_map, n_gone, n_window;
  int32_t component[HLO_RANK], batch[HLO_RANK];
  bool gone[HLO_RANK];
  int64_t size[HLO_RANK];
  int32_t map[HLO_RANK], gone_list[HLO_RANK], x_batch[HLO_RANK], index_batch[HLO_RANK], window[HLO_RANK];
  bool is_window[HLO_RANK]; /* of the result's (values') dims */
} lookup;

/* x and its indices; `parts`: windows may be parts of dims that are not looked up. The result's (values') shape in *shape. */
static void draw_lookup(hlo_case *c, lookup *l, bool parts, hlo_tensor *result) {
  hlo_tensor *x = &c->in[0], *i = &c->in[1];
  int32_t order[HLO_RANK], batch_extent_of[HLO_RANK], n_index;
  x->rank = l->rank = 1 + (int32_t)hlo_below(c, 4);
  hlo_shuffle(c, l->rank, order);
  for (int32_t d = 0; d < l->rank; d++) {
    x->shape[d] = 1 + hlo_below(c, 5);
    l->component[d] = l->batch[d] = -1;
  }
  l->n_batch = l->rank > 1 && hlo_below(c, 3) == 0 ? 1 + (int32_t)hlo_below(c, l->rank > 2 ? 2 : 1) : 0;
  l->n_map = 1 + (int32_t)hlo_below(c, l->rank - l->n_batch);
  for (int32_t k = 0; k < l->n_batch; k++) l->x_batch[k] = order[k];
  for (int32_t k = 0; k < l->n_map; k++) l->component[l->map[k] = order[l->n_batch + k]] = k;
  /* the indices: batches, other dims, the vector somewhere */
  n_index = l->n_batch + (int32_t)hlo_below(c, 3);
  i->rank = n_index + 1;
  l->vector = (int32_t)hlo_below(c, i->rank);
  for (int32_t d = 0; d < i->rank; d++) i->shape[d] = d == l->vector ? l->n_map : 1 + hlo_below(c, 3);
  hlo_shuffle(c, n_index, batch_extent_of);
  for (int32_t k = 0; k < l->n_batch; k++) {
    int32_t at = batch_extent_of[k] + (batch_extent_of[k] >= l->vector);
    l->index_batch[k] = at;
    l->batch[l->x_batch[k]] = batch_extent_of[k];
    i->shape[at] = x->shape[l->x_batch[k]];
  }
  if (l->n_map == 1 && hlo_below(c, 2)) { /* no vector dim */
    for (int32_t d = l->vector; d < n_index; d++) i->shape[d] = i->shape[d + 1];
    for (int32_t k = 0; k < l->n_batch; k++) l->index_batch[k] -= l->index_batch[k] > l->vector;
    i->rank = l->vector = n_index;
  }
  /* the window */
  for (int32_t d = 0; d < l->rank; d++) {
    bool looked = l->component[d] >= 0;
    l->size[d] = l->batch[d] >= 0 ? 1 : looked ? 1 + hlo_below(c, x->shape[d]) : x->shape[d];
    if (parts && !looked && l->batch[d] < 0 && hlo_below(c, 4) == 0)
      l->size[d] = 1 + hlo_below(c, x->shape[d]);
    if (looked && hlo_below(c, 2)) l->size[d] = 1;
    l->gone[d] = l->batch[d] >= 0 || (looked && l->size[d] == 1 && hlo_below(c, 2));
    if (l->gone[d] && l->batch[d] < 0) l->gone_list[l->n_gone++] = d;
    l->n_window += !l->gone[d];
  }
  /* where the window's dims stand */
  result->rank = l->n_window + n_index;
  for (int32_t left = l->n_window, d = 0; d < result->rank; d++)
    if (hlo_below(c, result->rank - d) < left) {
      l->is_window[d] = true;
      l->window[l->n_window - left--] = d;
    }
  for (int32_t d = 0, w = 0, n = 0; d < result->rank; d++) {
    if (l->is_window[d]) {
      while (l->gone[w]) w++;
      result->shape[d] = l->size[w++];
    } else {
      result->shape[d] = i->shape[n + (n >= l->vector)];
      n++;
    }
  }
  /* indices inside */
  int64_t at[HLO_RANK] = {0};
  do {
    int32_t k = l->vector < i->rank ? (int32_t)at[l->vector] : 0;
    *hlo_at(i, at) = hlo_below(c, x->shape[l->map[k]] - l->size[l->map[k]] + 1);
  } while (hlo_step(i->rank, i->shape, at));
  c->index[1] = true;
  hlo_fill(c, x, 1000);
}

/* The element of x that belongs to one of the result or the values. */
static void element_of(hlo_case *c, const lookup *l, const int64_t *of, int32_t rank, int64_t *at) {
  int64_t index[HLO_RANK], part[HLO_RANK], batch[HLO_RANK];
  int32_t n = 0, w = 0;
  for (int32_t d = 0; d < rank; d++) {
    if (l->is_window[d])
      part[w++] = of[d];
    else
      batch[n++] = of[d];
  }
  for (int32_t d = 0, b = 0; d < c->in[1].rank; d++) index[d] = d == l->vector ? 0 : batch[b++];
  w = 0;
  for (int32_t d = 0; d < l->rank; d++) {
    at[d] = l->gone[d] ? 0 : part[w++];
    if (l->batch[d] >= 0) at[d] += batch[l->batch[d]];
    if (l->component[d] < 0) continue;
    if (l->vector < c->in[1].rank) index[l->vector] = l->component[d];
    at[d] += *hlo_at(&c->in[1], index);
  }
}

static void draw_gather(hlo_case *c) {
  lookup l = {0};
  int64_t of[HLO_RANK] = {0}, at[HLO_RANK];
  draw_lookup(c, &l, true, &c->want);
  c->n = 2;
  hlo_put(c, "gather(p0, p1)");
  hlo_put_list(c, "offset_dims", l.n_window, l.window);
  hlo_put_list(c, "collapsed_slice_dims", l.n_gone, l.gone_list);
  hlo_put_list(c, "start_index_map", l.n_map, l.map);
  if (l.n_batch > 0) hlo_put_list(c, "operand_batching_dims", l.n_batch, l.x_batch);
  if (l.n_batch > 0) hlo_put_list(c, "start_indices_batching_dims", l.n_batch, l.index_batch);
  hlo_put(c, ", index_vector_dim=%d, slice_sizes={", (int)l.vector);
  for (int32_t d = 0; d < l.rank; d++) hlo_put(c, "%s%" PRId64, d ? "," : "", l.size[d]);
  hlo_put(c, "}");
  do {
    element_of(c, &l, of, c->want.rank, at);
    *hlo_at(&c->want, of) = *hlo_at(&c->in[0], at);
  } while (hlo_step(c->want.rank, c->want.shape, of));
}

static const char regions[] =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
    "set { a = f32[] parameter(0)\n ROOT b = f32[] parameter(1) }\n";

static void draw_scatter(hlo_case *c) {
  lookup l = {0};
  int64_t of[HLO_RANK] = {0}, at[HLO_RANK];
  bool add = hlo_below(c, 2);
  draw_lookup(c, &l, false, &c->in[2]);
  c->n = 3;
  c->in_front = regions;
  hlo_fill(c, &c->in[2], add ? 9 : 1);
  hlo_put(c, "scatter(p0, p1, p2)");
  hlo_put_list(c, "update_window_dims", l.n_window, l.window);
  hlo_put_list(c, "inserted_window_dims", l.n_gone, l.gone_list);
  hlo_put_list(c, "scatter_dims_to_operand_dims", l.n_map, l.map);
  if (l.n_batch > 0) hlo_put_list(c, "input_batching_dims", l.n_batch, l.x_batch);
  if (l.n_batch > 0) hlo_put_list(c, "scatter_indices_batching_dims", l.n_batch, l.index_batch);
  hlo_put(c, ", index_vector_dim=%d, to_apply=%s", (int)l.vector, add ? "add" : "set");
  c->want = c->in[0];
  do {
    element_of(c, &l, of, c->in[2].rank, at);
    *hlo_at(&c->want, at) = *hlo_at(&c->in[2], of) + (add ? *hlo_at(&c->want, at) : 0);
  } while (hlo_step(c->in[2].rank, c->in[2].shape, of));
}

/* ---- slices ------------------------------------------------------------------------------------------------------- */

/* x, starts (some beyond the ends: they are moved so far that the slice fits), and the slice's shape. */
static void draw_starts(hlo_case *c, int32_t first, const hlo_tensor *piece, int64_t *start) {
  hlo_tensor *x = &c->in[0];
  static char lines[1024];
  size_t n = 0;
  c->in[first].rank = 1;
  c->in[first].shape[0] = x->rank;
  c->index[first] = true;
  lines[0] = '\0';
  for (int32_t d = 0; d < x->rank; d++) {
    int64_t most = x->shape[d] - piece->shape[d], given = hlo_below(c, 2 * most + 5) - 2;
    c->in[first].at[d] = given;
    start[d] = given < 0 ? 0 : given > most ? most : given;
    n += (size_t)snprintf(lines + n, sizeof lines - n,
                          "  v%d = s32[1] slice(p%d), slice={[%d:%d]}\n  s%d = s32[] reshape(v%d)\n", (int)d,
                          (int)first, (int)d, (int)d + 1, (int)d, (int)d);
    hlo_put(c, ", s%d", (int)d);
  }
  c->lines = lines;
}

static void draw_piece(hlo_case *c, hlo_tensor *piece) {
  hlo_tensor *x = &c->in[0];
  x->rank = piece->rank = 1 + (int32_t)hlo_below(c, 4);
  for (int32_t d = 0; d < x->rank; d++) {
    x->shape[d] = 1 + hlo_below(c, 6);
    piece->shape[d] = hlo_below(c, 2) ? x->shape[d] : 1 + hlo_below(c, x->shape[d]);
  }
  hlo_fill(c, x, 1000);
}

static void draw_slice(hlo_case *c) {
  int64_t of[HLO_RANK] = {0}, at[HLO_RANK], start[HLO_RANK];
  draw_piece(c, &c->want);
  c->n = 2;
  hlo_put(c, "dynamic-slice(p0");
  draw_starts(c, 1, &c->want, start);
  hlo_put(c, "), dynamic_slice_sizes={");
  for (int32_t d = 0; d < c->want.rank; d++) hlo_put(c, "%s%" PRId64, d ? "," : "", c->want.shape[d]);
  hlo_put(c, "}");
  do {
    for (int32_t d = 0; d < c->want.rank; d++) at[d] = start[d] + of[d];
    *hlo_at(&c->want, of) = *hlo_at(&c->in[0], at);
  } while (hlo_step(c->want.rank, c->want.shape, of));
}

static void draw_update(hlo_case *c) {
  int64_t of[HLO_RANK] = {0}, at[HLO_RANK], start[HLO_RANK];
  hlo_tensor *piece = &c->in[1];
  draw_piece(c, piece);
  hlo_fill(c, piece, 1000);
  c->n = 3;
  hlo_put(c, "dynamic-update-slice(p0, p1");
  draw_starts(c, 2, piece, start);
  hlo_put(c, ")");
  c->want = c->in[0];
  do {
    for (int32_t d = 0; d < piece->rank; d++) at[d] = start[d] + of[d];
    *hlo_at(&c->want, at) = *hlo_at(piece, of);
  } while (hlo_step(piece->rank, piece->shape, of));
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

typedef void draw_case(hlo_case *c);

static void check(draw_case *draw, const char *name) {
  static hlo_case c;
  for (uint64_t k = 0; k < CASES; k++) {
    uint64_t number = seed + k;
    memset(&c, 0, sizeof c);
    c.state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    draw(&c);
    hlo_check(&c, name, number);
  }
}

static void gathers(void **unused) {
  (void)unused;
  check(draw_gather, "gather");
}

static void scatters(void **unused) {
  (void)unused;
  check(draw_scatter, "scatter");
}

static void slices(void **unused) {
  (void)unused;
  check(draw_slice, "dynamic-slice");
}

static void updates(void **unused) {
  (void)unused;
  check(draw_update, "dynamic-update-slice");
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gathers),
      cmocka_unit_test(scatters),
      cmocka_unit_test(slices),
      cmocka_unit_test(updates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
