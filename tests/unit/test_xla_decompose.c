/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_decompose.c - what a bitcast means, aligned layouts, dims that a reshape leaves alone: worked cases, and
 * random pairs where every element is followed through the chain.
 */
#include "support_seed.h"
#include "support_xla.h"

static int below(uint64_t *state, int n) { return (int)(oracle_next(state) % (uint64_t)n); }

/* ---- rows ---- */

static const struct {
  const char *name, *in, *out;
  tesela_xla_bitcast_kind kind, order_only;
  const char *from, *to; /* of a chain */
  int32_t in_order[3], out_order[3];
} chain_rows[] = {
    {.name = "nothing happens",
     .in = "f32[2,3]{0,1}",
     .out = "f32[2,3]{0,1}",
     .kind = TESELA_XLA_BITCAST_RESHAPE,
     .order_only = TESELA_XLA_BITCAST_RESHAPE},
    {.name = "a reshape",
     .in = "f32[6,4]{1,0}",
     .out = "f32[3,8]{1,0}",
     .kind = TESELA_XLA_BITCAST_RESHAPE,
     .order_only = TESELA_XLA_BITCAST_RESHAPE},
    {.name = "a transpose",
     .in = "f32[2,3,5]{2,1,0}",
     .out = "f32[3,5,2]{1,0,2}",
     .kind = TESELA_XLA_BITCAST_TRANSPOSE,
     .order_only = TESELA_XLA_BITCAST_TRANSPOSE,
     .in_order = {1, 2, 0}},
    {.name = "a transpose of tiles",
     .in = "f32[16,256]{1,0:T(8,128)}",
     .out = "f32[256,16]{0,1:T(8,128)}",
     .kind = TESELA_XLA_BITCAST_TRANSPOSE,
     .order_only = TESELA_XLA_BITCAST_TRANSPOSE,
     .in_order = {1, 0}},
    {.name = "columns cut otherwise",
     .in = "f32[6,4]{0,1}",
     .out = "f32[2,12]{0,1}",
     .kind = TESELA_XLA_BITCAST_CHAIN,
     .order_only = TESELA_XLA_BITCAST_CHAIN,
     .from = "f32[4,6]{1,0}",
     .to = "f32[12,2]{1,0}",
     .in_order = {1, 0},
     .out_order = {1, 0}},
    {.name = "tile rows of a turned array become a dim",
     .in = "f32[256,16]{0,1:T(8,128)}",
     .out = "f32[8,2,256]{2,0,1:T(8,128)}",
     .kind = TESELA_XLA_BITCAST_CHAIN,
     .order_only = TESELA_XLA_BITCAST_CHAIN,
     .from = "f32[16,256]{1,0:T(8,128)}",
     .to = "f32[2,8,256]{2,1,0:T(8,128)}",
     .in_order = {1, 0},
     .out_order = {1, 0, 2}},
    {.name = "half a tile row does not",
     .in = "f32[16,256]{1,0:T(8,128)}",
     .out = "f32[4,4,256]{2,1,0:T(8,128)}",
     .kind = TESELA_XLA_BITCAST_NONE,
     .order_only = TESELA_XLA_BITCAST_RESHAPE},
    {.name = "tiles that vanish",
     .in = "f32[16,256]{1,0:T(8,128)}",
     .out = "f32[256,16]{0,1}",
     .kind = TESELA_XLA_BITCAST_NONE,
     .order_only = TESELA_XLA_BITCAST_TRANSPOSE,
     .in_order = {1, 0}},
    {.name = "another type",
     .in = "f32[6]{0}",
     .out = "s32[6]{0}",
     .kind = TESELA_XLA_BITCAST_NONE,
     .order_only = TESELA_XLA_BITCAST_NONE},
};

static void check_chain(const char *name, const tesela_xla_bitcast *got, size_t r, const tesela_xla_shape *in,
                        const tesela_xla_shape *out) {
  bool chain = got->kind == TESELA_XLA_BITCAST_CHAIN, transpose = got->kind == TESELA_XLA_BITCAST_TRANSPOSE;
  for (int32_t d = 0; d < in->rank; d++)
    AGREE(name, got->in_order[d], chain || transpose ? chain_rows[r].in_order[d] : d);
  for (int32_t d = 0; d < out->rank; d++)
    AGREE(name, got->out_order[d], chain ? chain_rows[r].out_order[d] : d);
  if (chain) {
    check_text(name, &got->from, chain_rows[r].from);
    check_text(name, &got->to, chain_rows[r].to);
  } else {
    AGREE(name, tesela_xla_shape_equal(&got->from, transpose ? out : in, 0), true);
    AGREE(name, tesela_xla_shape_equal(&got->to, out, 0), true);
  }
}

static void bitcasts_are_decomposed(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof chain_rows / sizeof chain_rows[0]; r++) {
    const char *name = chain_rows[r].name;
    tesela_xla_shape in = shape_of(chain_rows[r].in), out = shape_of(chain_rows[r].out);
    tesela_xla_bitcast got;
    OK(tesela_xla_decompose_bitcast(&in, &out, false, &got, &e_));
    AGREE(name, got.kind, chain_rows[r].kind);
    if (got.kind != TESELA_XLA_BITCAST_NONE) check_chain(name, &got, r, &in, &out);
    OK(tesela_xla_decompose_bitcast(&in, &out, true, &got, &e_));
    AGREE(name, got.kind, chain_rows[r].order_only);
  }
}

static const struct {
  const char *name, *in, *out, *aligned, *order_only; /* NULL: no */
} align_rows[] = {
    {"stretches stand as the input's do", "f32[3,8,5,7,11]{3,2,1,0,4}", "f32[4,3,2,7,5,11]",
     "f32[4,3,2,7,5,11]{4,3,2,1,0,5}", "f32[4,3,2,7,5,11]{4,3,2,1,0,5}"},
    {"dims that merge", "f32[3,8,5,7,11]{3,2,1,0,4}", "f32[3,2,4,35,11]", "f32[3,2,4,35,11]{3,2,1,0,4}",
     "f32[3,2,4,35,11]{3,2,1,0,4}"},
    {"dims that are apart do not merge", "f32[2,3,5]{2,0,1}", "f32[6,5]", NULL, NULL},
    {"nor do those in the wrong order", "f32[2,3,5]{2,0,1}", "f32[3,2,5]", NULL, NULL},
    {"a one out of the way", "f32[20,200]{1,0:T(8,128)}", "f32[20,1,200]", "f32[20,1,200]{2,0,1:T(8,128)}",
     "f32[20,1,200]{2,1,0}"},
    {"a one that tiles reach", "f32[20,1,200]{2,1,0:T(8,128)}", "f32[5,4,1,200]",
     "f32[5,4,1,200]{3,2,1,0:T(8,128)}", "f32[5,4,1,200]{3,2,1,0}"},
    {"no one left to pad", "f32[20,1,200]{2,1,0:T(8,128)}", "f32[20,200]", NULL, "f32[20,200]{1,0}"},
    {"a tile row becomes a dim", "f32[16,256]{0,1:T(8,128)S(1)}", "f32[16,2,128]",
     "f32[16,2,128]{0,2,1:T(8,128)S(1)}", "f32[16,2,128]{0,2,1}"},
    {"half a tile row does not", "f32[16,256]{1,0:T(8,128)}", "f32[4,4,256]", NULL, "f32[4,4,256]{2,1,0}"},
    {"ones alone", "f32[1,1]{0,1}", "f32[1,1,1]", "f32[1,1,1]{2,1,0}", "f32[1,1,1]{2,1,0}"},
    {"to a scalar", "f32[1]{0:T(128)}", "f32[]", "f32[]{:T(128)}", "f32[]"},
    {"no elements", "f32[0,3]{0,1}", "f32[5,0]", "f32[5,0]{1,0}", "f32[5,0]{1,0}"},
    {"split configs stay behind", "f32[6,4]{1,0:SC(0:2)}", "f32[24]", "f32[24]{0}", "f32[24]{0}"},
};

static void layouts_are_aligned(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof align_rows / sizeof align_rows[0]; r++)
    for (int order_only = 0; order_only < 2; order_only++) {
      const char *want = order_only ? align_rows[r].order_only : align_rows[r].aligned;
      tesela_xla_shape in = shape_of(align_rows[r].in), out = shape_of(align_rows[r].out);
      bool aligned = !want;
      if (order_only)
        OK(tesela_xla_align(&in, &out, true, &aligned, &e_));
      else
        OK(tesela_xla_align(&in, &out, false, &aligned, &e_));
      AGREE(align_rows[r].name, aligned, want != NULL);
      tesela_xla_shape unchanged = shape_of(align_rows[r].out);
      if (want)
        check_text(align_rows[r].name, &out, want);
      else
        AGREE(align_rows[r].name, tesela_xla_shape_equal(&out, &unchanged, 0), true);
    }
}

static const struct {
  const char *name, *in, *out;
  int32_t out_dim[5];
} unmodified_rows[] = {
    {"between others", "f32[2,3,5,7,12]", "f32[6,5,1,7,3,4]", {-1, -1, 1, 3, -1}},
    {"all", "f32[2,1,3]", "f32[2,1,3]", {0, 1, 2}},
    {"none", "f32[6,4]", "f32[4,6]", {-1, -1}},
    {"the same extent elsewhere", "f32[2,6,2]", "f32[4,3,2]", {-1, -1, 2}},
    {"ones go and come", "f32[1,5,1]", "f32[5,1,1]", {-1, 0, 1}},
    {"no elements, equal", "f32[0,3]", "f32[0,3]", {0, 1}},
    {"no elements", "f32[0,3]", "f32[0,5]", {-1, -1}},
};

static void unmodified_dims_are_found(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof unmodified_rows / sizeof unmodified_rows[0]; r++) {
    tesela_xla_shape in = shape_of(unmodified_rows[r].in), out = shape_of(unmodified_rows[r].out);
    int32_t got[TESELA_MAX_RANK];
    OK(tesela_xla_reshape_unmodified(&in, &out, got, &e_));
    for (int32_t d = 0; d < in.rank; d++)
      AGREE(unmodified_rows[r].name, got[d], unmodified_rows[r].out_dim[d]);
  }
}

static void what_cannot_be_compared_is_refused(void **state) {
  (void)state;
  tesela_xla_shape a = shape_of("f32[2,3]{1,0}"), b = shape_of("f32[7]{0}"), token = shape_of("token[]");
  tesela_xla_bitcast bitcast = {.kind = TESELA_XLA_BITCAST_CHAIN};
  bool aligned = true;
  int32_t out_dim[2] = {-7, -7};
  assert_int_equal(tesela_xla_decompose_bitcast(&a, &b, false, &bitcast, NULL), TESELA_E_MISMATCH);
  assert_int_equal(tesela_xla_decompose_bitcast(&a, &b, true, &bitcast, NULL), TESELA_E_MISMATCH);
  assert_int_equal(tesela_xla_decompose_bitcast(&token, &a, false, &bitcast, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_xla_align(&a, &b, false, &aligned, NULL), TESELA_E_MISMATCH);
  assert_int_equal(tesela_xla_align(&a, &token, true, &aligned, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_xla_reshape_unmodified(&a, &b, out_dim, NULL), TESELA_E_MISMATCH);
  assert_int_equal(bitcast.kind, TESELA_XLA_BITCAST_CHAIN);
  assert_true(aligned && out_dim[0] == -7);
}

/* ---- random pairs ---- */

/* `count` elements in up to four dims and some ones, any order of them. */
static void draw_dims(uint64_t *state, int64_t count, struct oracle_array *array) {
  array->rank = 0;
  while (count > 1 && array->rank < 3) {
    int64_t dim = 2 + below(state, 7);
    if (count % dim != 0) continue;
    array->dim[array->rank++] = dim;
    count /= dim;
  }
  if (count > 1) array->dim[array->rank++] = count;
  if (below(state, 3) == 0) array->dim[array->rank++] = 1;
  for (int i = 0; i < array->rank; i++) {
    int j = below(state, i + 1);
    array->minor_to_major[i] = array->minor_to_major[j];
    array->minor_to_major[j] = i;
    int64_t held = array->dim[i];
    array->dim[i] = array->dim[j];
    array->dim[j] = held;
  }
}

static void draw_pair(uint64_t *state, struct oracle_array *in, struct oracle_array *out) {
  static const int64_t counts[] = {1, 8, 12, 16, 24, 36, 64};
  int64_t count = counts[below(state, 7)];
  *in = *out = (struct oracle_array){.tail = 1, .bits = 32, .type_bytes = 4};
  draw_dims(state, count, in);
  draw_dims(state, count, out);
  if (below(state, 2) == 0) return;
  in->n_tiles = out->n_tiles = 1;
  in->tile_rank[0] = out->tile_rank[0] = 1 + below(state, 2);
  for (int i = 0; i < in->tile_rank[0]; i++) in->tile[0][i] = out->tile[0][i] = (int64_t)1 << below(state, 4);
}

/* Where the chain takes an index of the input. */
static void follow(const tesela_xla_bitcast *chain, const tesela_xla_shape *in, const tesela_xla_shape *out,
                   const int64_t *index, int64_t *result) {
  int64_t from[TESELA_MAX_RANK], to[TESELA_MAX_RANK], number;
  for (int32_t k = 0; k < in->rank; k++) from[k] = index[chain->in_order[k]];
  OK(tesela_index_to_number(chain->from.rank, chain->from.dim, NULL, from, &number, &e_));
  OK(tesela_index_from_number(chain->to.rank, chain->to.dim, NULL, number, to, &e_));
  for (int32_t k = 0; k < out->rank; k++) result[k] = to[chain->out_order[k]];
}

/* Elements that the chain finds elsewhere. */
static int64_t moved(const tesela_xla_bitcast *chain, const struct oracle_array *a,
                     const struct oracle_array *b, const tesela_xla_shape *in, const tesela_xla_shape *out) {
  int64_t n = 0, index[TESELA_MAX_RANK], result[TESELA_MAX_RANK];
  for (int64_t number = 0; number < oracle_count(a); number++) {
    oracle_index(a, number, index);
    follow(chain, in, out, index, result);
    n += oracle_place(a, index) != oracle_place(b, result);
  }
  return n;
}

static void chains_move_nothing(void **state) {
  (void)state;
  enum { PAIRS = 20000 };
  uint64_t stream = first_seed();
  int kinds[4] = {0};
  for (int pair = 0; pair < PAIRS; pair++) {
    struct oracle_array a, b;
    char text[TEXT];
    draw_pair(&stream, &a, &b);
    oracle_print(&a, "f32", text, sizeof text);
    tesela_xla_shape in = shape_of_array(&a, "f32"), out = shape_of_array(&b, "f32");
    tesela_xla_bitcast chain;
    OK(tesela_xla_decompose_bitcast(&in, &out, false, &chain, &e_));
    kinds[chain.kind]++;
    if (chain.kind != TESELA_XLA_BITCAST_NONE) AGREE(text, moved(&chain, &a, &b, &in, &out), 0);
    bool untiled = a.n_tiles == 0;
    if (untiled) AGREE(text, chain.kind != TESELA_XLA_BITCAST_NONE, true);
    OK(tesela_xla_decompose_bitcast(&in, &out, true, &chain, &e_));
    AGREE(text, chain.kind != TESELA_XLA_BITCAST_NONE, true);
    a.n_tiles = b.n_tiles = 0;
    AGREE(text, moved(&chain, &a, &b, &in, &out), 0);
  }
  for (int k = 0; k < 4; k++) assert_true(kinds[k] > PAIRS / 100);
}

/* All orders of the output, for one that is free by the order. */
static bool some_order_is_free(const tesela_xla_shape *in, tesela_xla_shape *out, int32_t placed,
                               uint32_t used) {
  bool free_of_moves = false;
  if (placed == out->rank) {
    OK(tesela_xla_reshape_is_bitcast(in, out, true, &free_of_moves, &e_));
    return free_of_moves;
  }
  for (int32_t d = 0; d < out->rank && !free_of_moves; d++) {
    if (used >> d & 1) continue;
    out->layout.minor_to_major[placed] = d;
    free_of_moves = some_order_is_free(in, out, placed + 1, used | (uint32_t)1 << d);
  }
  return free_of_moves;
}

static void alignment_is_found_where_there_is_one(void **state) {
  (void)state;
  enum { PAIRS = 4000 };
  uint64_t stream = first_seed();
  int found = 0;
  for (int pair = 0; pair < PAIRS; pair++) {
    struct oracle_array a, b;
    char text[TEXT];
    bool aligned, stays;
    draw_pair(&stream, &a, &b);
    oracle_print(&a, "f32", text, sizeof text);
    b.n_tiles = 0;
    tesela_xla_shape in = shape_of_array(&a, "f32"), out = shape_of_array(&b, "f32"), other = out;
    OK(tesela_xla_align(&in, &out, true, &aligned, &e_));
    AGREE(text, aligned, some_order_is_free(&in, &other, 0, 0));
    found += aligned;
    OK(tesela_xla_align(&in, &out, false, &aligned, &e_));
    if (!aligned) continue;
    OK(tesela_xla_reshape_is_bitcast(&in, &out, false, &stays, &e_));
    AGREE(text, stays, true);
    AGREE(text, out.layout.n_tiles, in.layout.n_tiles);
  }
  assert_true(found > PAIRS / 10 && found < PAIRS - PAIRS / 10);
}

static void unmodified_dims_keep_their_coordinate(void **state) {
  (void)state;
  uint64_t stream = first_seed();
  int kept = 0;
  for (int pair = 0; pair < 4000; pair++) {
    struct oracle_array a, b;
    char text[TEXT];
    int32_t out_dim[TESELA_MAX_RANK];
    draw_pair(&stream, &a, &b);
    oracle_print(&a, "f32", text, sizeof text);
    tesela_xla_shape in = shape_of_array(&a, "f32"), out = shape_of_array(&b, "f32");
    OK(tesela_xla_reshape_unmodified(&in, &out, out_dim, &e_));
    for (int32_t i = 0; i < in.rank; i++) {
      uint32_t equal = ((uint32_t)1 << out.rank) - 1; /* dims of the output that agree so far */
      if (in.dim[i] == 1) continue;
      for (int64_t number = 0; number < oracle_count(&a); number++) {
        int64_t x[ORACLE_MAX_RANK], y[ORACLE_MAX_RANK];
        oracle_index(&a, number, x);
        oracle_index(&b, number, y);
        for (int32_t o = 0; o < out.rank; o++)
          if (x[i] != y[o]) equal &= ~((uint32_t)1 << o);
      }
      AGREE(text, equal, out_dim[i] < 0 ? 0 : (uint32_t)1 << out_dim[i]);
      kept += equal != 0;
    }
  }
  assert_true(kept > 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bitcasts_are_decomposed),
      cmocka_unit_test(layouts_are_aligned),
      cmocka_unit_test(unmodified_dims_are_found),
      cmocka_unit_test(what_cannot_be_compared_is_refused),
      cmocka_unit_test(chains_move_nothing),
      cmocka_unit_test(alignment_is_found_where_there_is_one),
      cmocka_unit_test(unmodified_dims_keep_their_coordinate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
