/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_bitcast.c - free transposes and reshapes: worked cases, and random pairs against the oracle's
 * places.
 */
#include "support_seed.h"
#include "support_xla.h"

static const struct {
  const char *name, *in, *out;
  int32_t permutation[3];
  bool bitcast, order_only;
} transpose_rows[] = {
    {"the order turns with the dims", "f32[2,3]{1,0}", "f32[3,2]{0,1}", {1, 0}, true, true},
    {"the order stays", "f32[2,3]{1,0}", "f32[3,2]{1,0}", {1, 0}, false, false},
    {"the order turns alone", "f32[2,3]{1,0}", "f32[2,3]{0,1}", {0, 1}, false, false},
    {"tiles turn along", "f32[16,256]{1,0:T(8,128)}", "f32[256,16]{0,1:T(8,128)}", {1, 0}, true, true},
    {"tiles go", "f32[16,256]{1,0:T(8,128)}", "f32[256,16]{0,1}", {1, 0}, false, true},
    {"tiles without effect go", "f32[16,128]{1,0:T(8,128)}", "f32[128,16]{0,1}", {1, 0}, true, true},
    {"tiles that pad the end go", "f32[12,128]{1,0:T(8,128)}", "f32[128,12]{0,1}", {1, 0}, false, true},
    {"a one may stand anywhere", "f32[1,5]{1,0}", "f32[5,1]{1,0}", {1, 0}, true, false},
    {"but not in tiles", "f32[1,5]{1,0:T(2,128)}", "f32[5,1]{1,0:T(2,128)}", {1, 0}, false, false},
    {"three dims", "f32[2,3,5]{2,1,0}", "f32[3,5,2]{1,0,2}", {1, 2, 0}, true, true},
    {"another width", "pred[2,3]{1,0:E(32)}", "pred[3,2]{0,1}", {1, 0}, false, true},
    {"another tail", "f32[2,3]{1,0:L(8)}", "f32[3,2]{0,1}", {1, 0}, false, true},
    {"another type", "f32[2,3]{1,0}", "s32[3,2]{0,1}", {1, 0}, false, false},
    {"another share", "s32[6,2]{1,0:T(1,8)SC(0:3)}", "s32[2,6]{0,1:T(1,8)}", {1, 0}, false, true},
    {"no elements", "f32[0,3]{1,0}", "f32[3,0]{1,0}", {1, 0}, true, false},
};

static void test_transpose(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof transpose_rows / sizeof transpose_rows[0]; r++) {
    tesela_xla_shape in = shape_of(transpose_rows[r].in), out = shape_of(transpose_rows[r].out);
    const int32_t *permutation = transpose_rows[r].permutation;
    bool bitcast;
    OK(tesela_xla_transpose_is_bitcast(&in, &out, permutation, false, &bitcast, &e_));
    AGREE(transpose_rows[r].name, bitcast, transpose_rows[r].bitcast);
    OK(tesela_xla_transpose_is_bitcast(&in, &out, permutation, true, &bitcast, &e_));
    AGREE(transpose_rows[r].name, bitcast, transpose_rows[r].order_only);
  }
}

static const struct {
  const char *name, *in, *out;
  bool bitcast, order_only;
} reshape_rows[] = {
    {"rows of other lengths", "f32[6,4]{1,0}", "f32[3,8]{1,0}", true, true},
    {"rows to columns", "f32[6,4]{1,0}", "f32[3,8]{0,1}", false, false},
    {"columns of other lengths", "f32[6,4]{0,1}", "f32[3,8]{0,1}", false, false},
    {"a tile row becomes a dim", "f32[16,256]{1,0:T(8,128)}", "f32[2,8,256]{2,1,0:T(8,128)}", true, true},
    {"half a tile row does not", "f32[16,256]{1,0:T(8,128)}", "f32[4,4,256]{2,1,0:T(8,128)}", false, true},
    {"tiles written as dims", "f32[16,256]{1,0:T(8,128)}", "f32[2,8,2,128]{3,1,2,0}", true, false},
    {"and tiles of tiles", "bf16[16,16]{1,0:T(8,16)(2,1)}", "bf16[2,4,2,16]{2,3,1,0}", true, false},
    {"flat", "f32[1024]{0:T(1024)}", "f32[8,128]{1,0:T(8,128)}", true, true},
    {"flat, padded", "f32[1000]{0:T(1024)}", "f32[8,125]{1,0:T(8,128)}", false, true},
    {"tiled to flat", "f32[3,5]{1,0:T(2,2)}", "f32[15]{0}", false, true},
    {"a one in front is free", "f32[4,256]{1,0:T(4,128)}", "f32[1,4,256]{2,1,0:T(4,128)}", true, true},
    {"a one inside one tile", "f32[4,128]{1,0:T(4,128)}", "f32[4,1,128]{2,1,0:T(1,128)}", true, true},
    {"a one inside two tiles", "f32[4,256]{1,0:T(4,128)}", "f32[4,1,256]{2,1,0:T(1,128)}", false, true},
    {"a one out of the way", "f32[20,200]{1,0:T(8,128)}", "f32[20,1,200]{2,0,1:T(8,128)}", true, true},
    {"a scalar in a tile", "f32[1]{0:T(128)}", "f32[]{:T(128)}", true, true},
    {"ones to a scalar", "f32[1,1]{0,1}", "f32[]", true, true},
    {"a one in another tile", "f32[1,1]{1,0:T(2,128)}", "f32[]{:T(128)}", false, true},
    {"no elements", "f32[0,5]{1,0}", "f32[7,0]{0,1:T(8,128)}", true, true},
    {"another width", "s4[8]{0:E(4)}", "s4[4,2]{1,0}", false, true},
    {"another type", "f32[6]{0}", "s32[3,2]{1,0}", false, false},
    {"all rows are one dim", "f32[6,4,8]{2,1,0:T(4,8)}", "f32[24,8]{1,0:T(*,32)}", true, true},
    {"10^12 elements", "f32[2000000,500000]{1,0:T(8,9)}", "f32[250000,8,500000]{2,1,0:T(8,9)}", true, true},
    {"10^12, moved", "f32[2000000,500000]{1,0:T(8,9)}", "f32[500000,4,500000]{2,1,0:T(8,9)}", false, true},
};

static void test_reshape(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof reshape_rows / sizeof reshape_rows[0]; r++) {
    tesela_xla_shape in = shape_of(reshape_rows[r].in), out = shape_of(reshape_rows[r].out);
    for (int turn = 0; turn < 2; turn++) {
      bool bitcast;
      OK(tesela_xla_reshape_is_bitcast(turn ? &out : &in, turn ? &in : &out, false, &bitcast, &e_));
      AGREE(reshape_rows[r].name, bitcast, reshape_rows[r].bitcast);
      OK(tesela_xla_reshape_is_bitcast(turn ? &out : &in, turn ? &in : &out, true, &bitcast, &e_));
      AGREE(reshape_rows[r].name, bitcast, reshape_rows[r].order_only);
    }
  }
}

static void test_refused(void **state) {
  (void)state;
  tesela_xla_shape a = shape_of("f32[2,3]{1,0}"), b = shape_of("f32[3,3]{1,0}"), c = shape_of("f32[6]{0}");
  tesela_xla_shape token = shape_of("token[]"), unbounded = shape_of("f32[2,?]{1,0}");
  static const int32_t swap[] = {1, 0}, twice[] = {1, 1};
  bool bitcast = true;
  assert_int_equal(tesela_xla_transpose_is_bitcast(&a, &b, swap, false, &bitcast, NULL), TESELA_E_MISMATCH);
  assert_int_equal(tesela_xla_transpose_is_bitcast(&a, &c, swap, false, &bitcast, NULL), TESELA_E_MISMATCH);
  assert_int_equal(tesela_xla_transpose_is_bitcast(&a, &a, twice, false, &bitcast, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_xla_transpose_is_bitcast(&a, &unbounded, swap, false, &bitcast, NULL),
                   TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_xla_reshape_is_bitcast(&a, &b, false, &bitcast, NULL), TESELA_E_MISMATCH);
  assert_int_equal(tesela_xla_reshape_is_bitcast(&a, &token, false, &bitcast, NULL), TESELA_E_UNSUPPORTED);
  assert_true(bitcast);
}

/* ---- random pairs ---- */

typedef struct array_text {
  struct oracle_array array;
  char text[TEXT];
  tesela_xla_shape shape;
} array_text;

static int below(uint64_t *state, int n) { return (int)(oracle_next(state) % (uint64_t)n); }

/* Dims that multiply to `count`, most of them small. */
static void draw_dims(uint64_t *state, int64_t count, struct oracle_array *array) {
  array->rank = 0;
  for (int64_t prime = 2; count > 1;) {
    if (count % prime != 0) {
      prime++;
      continue;
    }
    count /= prime;
    if (array->rank == 0 || (array->rank < 4 && below(state, 2) == 0))
      array->dim[array->rank++] = prime;
    else
      array->dim[below(state, array->rank)] *= prime;
  }
  if (below(state, 3) == 0) array->dim[array->rank++] = 1;
  for (int i = array->rank - 1; i > 0; i--) {
    int j = below(state, i + 1);
    int64_t held = array->dim[i];
    array->dim[i] = array->dim[j];
    array->dim[j] = held;
  }
}

static void draw_layout(uint64_t *state, array_text *to) {
  static const int64_t entries[] = {1, 2, 4, 8, 3, ORACLE_COMBINE};
  struct oracle_array *array = &to->array;
  bool descending = below(state, 3) != 0;
  for (int i = 0; i < array->rank; i++) array->minor_to_major[i] = descending ? array->rank - 1 - i : i;
  array->tail = 1;
  array->bits = 8;
  array->type_bytes = 1;
  array->e_bits = 0;
  array->n_tiles = below(state, 3);
  for (int k = 0; k < array->n_tiles; k++) {
    array->tile_rank[k] = 1 + below(state, 2);
    for (int i = 0; i < array->tile_rank[k]; i++)
      array->tile[k][i] = entries[below(state, i + 1 < array->tile_rank[k] ? 6 : 4)];
  }
  oracle_print(array, "s8", to->text, sizeof to->text);
  to->shape = shape_of_array(array, "s8");
}

static bool stays(const array_text *in, const array_text *out, int64_t number) {
  int64_t index[2][ORACLE_MAX_RANK];
  oracle_index(&in->array, number, index[0]);
  oracle_index(&out->array, number, index[1]);
  return oracle_place(&in->array, index[0]) == oracle_place(&out->array, index[1]);
}

static void test_random_reshapes(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 8, 12, 16, 24, 32, 36, 48, 64, 96, 128};
  enum { PAIRS = 40000 };
  int free_ones = 0, undecided = 0, wrong_by_order = 0;
  uint64_t stream = first_seed();
  for (int pair = 0; pair < PAIRS; pair++) {
    static array_text in, out;
    int64_t count = counts[below(&stream, 11)];
    draw_dims(&stream, count, &in.array);
    draw_dims(&stream, count, &out.array);
    draw_layout(&stream, &in);
    draw_layout(&stream, &out);
    bool want = oracle_bytes(&in.array) == oracle_bytes(&out.array), got, by_order;
    want = want && oracle_allocated_bytes(&in.array, NULL, 0) == oracle_allocated_bytes(&out.array, NULL, 0);
    for (int64_t number = 0; number < count && want; number++) want = stays(&in, &out, number);
    tesela_status status = tesela_xla_reshape_is_bitcast(&in.shape, &out.shape, false, &got, NULL);
    undecided += status == TESELA_E_UNSUPPORTED;
    if (status == TESELA_E_UNSUPPORTED) continue;
    assert_int_equal(status, TESELA_OK);
    if (got != want) fail_msg("%s to %s: %d, not %d", in.text, out.text, got, want);
    OK(tesela_xla_reshape_is_bitcast(&in.shape, &out.shape, true, &by_order, &e_));
    if (in.array.n_tiles + out.array.n_tiles == 0) AGREE(in.text, by_order, want);
    wrong_by_order += by_order != want;
    free_ones += want;
  }
  assert_true(free_ones > 1000 && wrong_by_order > 1000);
  if (undecided > PAIRS / 100) fail_msg("%d of %d pairs are undecided", undecided, PAIRS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_transpose),
      cmocka_unit_test(test_reshape),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_random_reshapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
