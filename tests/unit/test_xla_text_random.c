/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_text_random.c - XLA text cut anywhere, with bytes changed, and printed from random shapes:
 * always an answer, and the same value read again. TESELA_SEED sets the seed.
 */
#include "support_seed.h"
#include "support_xla_text.h"

static const char *const long_texts[] = {
    "bf16[4096,8192]{1,0:T(8,128)(2,1)S(1)}",
    "/* a */ s4[<=8 , 7,?,256] // b\n {3,1,0,2:D(D,C+~)T(8,*,128)(8,1)L(4)E(4)S(-1)SC(0:3)M(9)}",
    "b(f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)})",
    "F32[3,5,]{1,0,:S(1)(2,2,}",
    "token[]",
};

/* Whatever a reader is given, it answers, and an error names a byte of the text. */
static void check_answer(const char *text, size_t length) {
  static const int32_t flags[] = {0, TESELA_XLA_LENIENT, TESELA_XLA_KEEP_BARE | TESELA_XLA_LENIENT};
  char *copy = xla_text_exact(text, length);
  for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
    tesela_xla_shape shape, again;
    tesela_xla_layout layout;
    tesela_xla_repairs repairs;
    tesela_error err = {.status = TESELA_OK, .at = -7, .message = ""};
    char printed[LONG], reprinted[LONG];
    size_t used;
    tesela_status status = tesela_xla_parse(copy, length, flags[f], &shape, &repairs, &err);
    if (status == TESELA_OK) {
      xla_text_print(&shape, true, printed);
      OK(xla_text_read(printed, strlen(printed), flags[f], &again, NULL, &e_));
      xla_text_print(&again, true, reprinted);
      xla_text_same(text, reprinted, printed);
      assert_int_equal(tesela_xla_parse_prefix(copy, length, flags[f], &shape, &used, NULL, &err), TESELA_OK);
    } else if (err.at < 0 || err.at > (int64_t)length || err.status != status || err.message[0] == '\0') {
      fail_msg("%.*s: %s at %" PRId64 ": %s", (int)length, text, tesela_status_code(status), err.at,
               err.message);
    }
    tesela_xla_parse_layout(copy, length, flags[f], &layout, &repairs, &err);
  }
  free(copy);
}

static void texts_cut_anywhere_are_answered(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof long_texts / sizeof long_texts[0]; i++)
    for (size_t length = 0; length <= strlen(long_texts[i]); length++) check_answer(long_texts[i], length);
}

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005U + 1442695040888963407U;
  return *seed >> 33;
}

static void mutated_texts_are_answered(void **state) {
  (void)state;
  enum { TRIES = 60000 };
  static const char bytes[] = "0123456789,:()[]{}*#?<=-+~TLESCMPDb/ \nf3s\xE2\x88\x97\xC3\x97\0";
  uint64_t seed = first_seed();
  for (int i = 0; i < TRIES; i++) {
    char text[256];
    const char *from = long_texts[next_random(&seed) % (sizeof long_texts / sizeof long_texts[0])];
    size_t length = strlen(from);
    memcpy(text, from, length);
    for (uint64_t edits = 1 + next_random(&seed) % 4; edits > 0; edits--) {
      size_t at = next_random(&seed) % length;
      char byte = bytes[next_random(&seed) % (sizeof bytes - 1)];
      switch (next_random(&seed) % 3) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        memmove(text + at + 1, text + at, length - at), text[at] = byte, length++;
        break;
      default:
        memmove(text + at, text + at + 1, length - at - 1), length -= length > 1;
        break;
      }
    }
    check_answer(text, length);
  }
}

/* A valid shape with anything in it. */
static void random_shape(uint64_t *seed, tesela_xla_shape *shape) {
  static const tesela_dtype dtypes[] = {TESELA_F32, TESELA_BF16, TESELA_S4, TESELA_PRED, TESELA_C128};
  int32_t rank = (int32_t)(next_random(seed) % 6), order[8];
  int64_t dim[8], entries[5];
  tesela_xla_layout layout;
  for (int32_t d = 0; d < rank; d++) {
    order[d] = d;
    dim[d] = (int64_t)(next_random(seed) % 9);
    if (next_random(seed) % 8 == 0) dim[d] = TESELA_XLA_UNBOUNDED;
  }
  for (int32_t d = rank - 1; d > 0; d--) {
    int32_t other = (int32_t)(next_random(seed) % (uint64_t)(d + 1)), was = order[d];
    order[d] = order[other];
    order[other] = was;
  }
  OK(tesela_xla_layout_make(&layout, rank, order, &e_));
  for (uint64_t k = next_random(seed) % 4; k > 0; k--) {
    int32_t n = 1 + (int32_t)(next_random(seed) % 5);
    for (int32_t i = 0; i < n; i++)
      entries[i] =
          i < n - 1 && next_random(seed) % 4 == 0 ? TESELA_XLA_COMBINE : 1 + (int64_t)(next_random(seed) % 5);
    OK(tesela_xla_layout_add_tile(&layout, n, entries, &e_));
  }
  if (next_random(seed) % 3 == 0) layout.tail = 1 + (int64_t)(next_random(seed) % 9);
  if (next_random(seed) % 3 == 0) layout.element_bits = (int64_t)(next_random(seed) % 40);
  if (next_random(seed) % 3 == 0) layout.memory_space = (int32_t)(next_random(seed) % 256) - 128;
  if (next_random(seed) % 3 == 0) layout.metadata_bytes = (int64_t)(next_random(seed) % 99);
  OK(tesela_xla_shape_make(shape, dtypes[next_random(seed) % 5], rank, dim, &layout, &e_));
  if (rank > 0 && next_random(seed) % 3 == 0) shape->dynamic |= 1;
  if (next_random(seed) % 5 == 0) shape->kind = TESELA_XLA_BUFFER;
}

static void check_same_value(const char *text, const tesela_xla_shape *a, const tesela_xla_shape *b) {
  const tesela_xla_layout *x = &a->layout, *y = &b->layout;
  bool equal = a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank && a->dynamic == b->dynamic &&
               a->has_layout == b->has_layout && x->rank == y->rank && x->n_tiles == y->n_tiles &&
               x->n_tile_numbers == y->n_tile_numbers && x->tail == y->tail &&
               x->element_bits == y->element_bits && x->memory_space == y->memory_space &&
               x->metadata_bytes == y->metadata_bytes && x->n_splits == y->n_splits;
  for (int32_t d = 0; equal && d < a->rank; d++)
    equal = a->dim[d] == b->dim[d] && x->minor_to_major[d] == y->minor_to_major[d];
  for (int32_t k = 0; equal && k < x->n_tiles; k++) equal = x->tile_rank[k] == y->tile_rank[k];
  for (int32_t i = 0; equal && i < x->n_tile_numbers; i++) equal = x->tile[i] == y->tile[i];
  if (!equal) fail_msg("%s: another value after print and parse", text);
}

static void what_is_printed_reads_as_the_same_value(void **state) {
  (void)state;
  enum { TRIES = 20000 };
  uint64_t seed = first_seed();
  for (int i = 0; i < TRIES; i++) {
    tesela_xla_shape shape, again;
    char text[LONG];
    random_shape(&seed, &shape);
    xla_text_print(&shape, true, text);
    if (xla_text_read(text, strlen(text), 0, &again, NULL, NULL) != TESELA_OK) fail_msg("%s: refused", text);
    check_same_value(text, &shape, &again);
  }
}

static int stop_at_once(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void a_writer_can_stop_the_print(void **state) {
  (void)state;
  tesela_xla_shape shape = shape_of("f32[3,5]{1,0:T(2,2)}");
  tesela_writer to = {stop_at_once, NULL};
  assert_int_equal(tesela_xla_print(&shape, true, &to, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_xla_print_layout(&shape.layout, &to, NULL), TESELA_E_STOPPED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_cut_anywhere_are_answered),
      cmocka_unit_test(mutated_texts_are_answered),
      cmocka_unit_test(what_is_printed_reads_as_the_same_value),
      cmocka_unit_test(a_writer_can_stop_the_print),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
