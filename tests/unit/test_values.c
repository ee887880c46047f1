/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_values.c - comparing and fingerprinting values, against a reading element by element, bit by bit.
 *
 * A random recipe gives two layouts over one shape: strides of any sign with gaps, broadcasts, splits that pad, joins,
 * replicas, holes, swizzles. What is expected comes from the places that tesela_layout_copy_of names, one element
 * after the other. Buffers end (or begin) at a page that may not be touched.
 *
 * TESELA_SEED sets the first seed; a failure prints the seed.
 */
#include "support_pages.h"
#include "support_seed.h"
#include "support_xla.h"

enum { SEEDS = 3000 };

/* ---- random numbers --------------------------------------------------------------------------------------- */

static uint64_t random_state, seed;
static int64_t below(int64_t n) { return (int64_t)(oracle_next(&random_state) % (uint64_t)n); }
static bool one_in(int64_t n) { return below(n) == 0; }

/* ---- buffers with guard pages ----------------------------------------------------------------------------- */

typedef struct buffer {
  pages map;
  uint8_t *data;
  size_t bytes;
} buffer;

static buffer buffer_of(size_t bytes) {
  buffer b = {.map = pages_new(bytes), .bytes = bytes};
  b.data = b.map.data + (one_in(3) ? 0 : b.map.bytes - bytes);
  for (size_t i = 0; i < bytes; i++) b.data[i] = (uint8_t)below(256);
  return b;
}

static void drop(buffer *b) { pages_drop(b->map); }

/* ---- the definition --------------------------------------------------------------------------------------- */

static unsigned get_bit(const uint8_t *data, int64_t bit) { return data[bit / 8] >> bit % 8 & 1; }
static void put_bit(uint8_t *data, int64_t bit, unsigned value) {
  data[bit / 8] = (uint8_t)((data[bit / 8] & ~(1u << bit % 8)) | value << bit % 8);
}

static int64_t place_of(const tesela_layout *layout, const int64_t *index, int64_t copy) {
  int64_t place[TESELA_MAX_AXES];
  OK(tesela_layout_copy_of(layout, index, copy, place, &e_));
  return place[0];
}

static void get_value(const uint8_t *data, int64_t place, int32_t bits, uint8_t value[16]) {
  memset(value, 0, 16);
  for (int32_t i = 0; i < bits; i++) put_bit(value, i, get_bit(data, place * bits + i));
}

static void put_value(uint8_t *data, int64_t place, int32_t bits, const uint8_t *value) {
  for (int32_t i = 0; i < bits; i++) put_bit(data, place * bits + i, get_bit(value, i));
}

static int64_t count_of(const tesela_layout *layout) {
  int64_t n = 1;
  for (int32_t d = 0; d < layout->rank; d++) n *= layout->shape[d];
  return n;
}

/* Do all copies on both sides hold the bits of A's first one? */
static bool element_same(const tesela_layout *a, const uint8_t *data_a, const tesela_layout *b,
                         const uint8_t *data_b, const int64_t *index) {
  uint8_t first[16], other[16];
  get_value(data_a, place_of(a, index, 0), a->bits, first);
  for (int64_t k = 0; k < tesela_layout_copies(a); k++) {
    get_value(data_a, place_of(a, index, k), a->bits, other);
    if (memcmp(first, other, 16) != 0) return false;
  }
  for (int64_t k = 0; k < tesela_layout_copies(b); k++) {
    get_value(data_b, place_of(b, index, k), b->bits, other);
    if (memcmp(first, other, 16) != 0) return false;
  }
  return true;
}

static uint64_t rotl(uint64_t x, int k) { return x << k | x >> (64 - k); }

static uint64_t mix(uint64_t x) {
  x ^= x >> 32, x *= UINT64_C(0xAD15B292E10D296B);
  x ^= x >> 29, x *= UINT64_C(0x951AEF020BC35CAD);
  return x ^ x >> 32;
}

/* The digest as values_digest.c defines it: the whole stream in memory, then its words. */
static void digest_of(const tesela_layout *layout, const uint8_t *data, uint8_t digest[16]) {
  const uint64_t A = UINT64_C(0xAD15B292E10D296B), B = UINT64_C(0x951AEF020BC35CAD),
                 C = UINT64_C(0xED5BEC778AE84E07);
  uint64_t s[4] = {UINT64_C(0xD71C40603D31DF33), UINT64_C(0xA72059E2683E8565), UINT64_C(0xF5860F4B4A5D30CD),
                   UINT64_C(0xCC348B0ADED44CDD)};
  int64_t header = (3 + layout->rank + 3) / 4 * 32, values = (count_of(layout) * layout->bits + 7) / 8;
  int64_t length = header + (values + 31) / 32 * 32, index[TESELA_MAX_RANK] = {0};
  uint8_t *stream = calloc((size_t)length, 1), value[16];
  uint64_t head[3 + TESELA_MAX_RANK] = {(uint64_t)layout->dtype, (uint64_t)layout->bits,
                                        (uint64_t)layout->rank};
  for (int32_t d = 0; d < layout->rank; d++) head[3 + d] = (uint64_t)layout->shape[d];
  for (int64_t i = 0; i < 8 * (3 + layout->rank); i++) stream[i] = (uint8_t)(head[i / 8] >> i % 8 * 8);
  for (int64_t n = 0; n < count_of(layout); n++, tesela_index_next(layout->rank, layout->shape, index)) {
    get_value(data, place_of(layout, index, 0), layout->bits, value);
    put_value(stream + header, n, layout->bits, value);
  }
  for (int64_t at = 0; at < length; at += 32) {
    uint64_t w[4] = {0};
    for (int i = 0; i < 32; i++) w[i / 8] |= (uint64_t)stream[at + i] << i % 8 * 8;
    for (int i = 0; i < 4; i += 2) {
      uint64_t t = w[i] + rotl(w[i + 1] * A, 32), u = w[i + 1] + rotl(t * B, 32);
      s[i] = rotl(s[i] + t, 27) * C;
      s[i + 1] = rotl(s[i + 1] + u, 27) * C;
    }
  }
  uint64_t lo = mix(mix(mix(mix(s[0]) ^ s[1]) ^ s[2]) ^ s[3]);
  uint64_t hi = mix(mix(mix(mix(s[3]) + s[2]) + s[1]) + s[0]);
  for (int i = 0; i < 8; i++) digest[i] = (uint8_t)(lo >> 8 * i), digest[8 + i] = (uint8_t)(hi >> 8 * i);
  free(stream);
}

/* ---- random layouts --------------------------------------------------------------------------------------- */

static void shuffle(int32_t n, int32_t *items) {
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t j = (int32_t)below(i + 1), kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
}

/* Strides of any order and sign, with gaps and now and then a broadcast. */
static void strided(tesela_layout *layout, int32_t bits, int32_t rank, const int64_t *shape, bool broadcast) {
  int32_t order[4] = {0, 1, 2, 3};
  int64_t strides[4], offset = below(5), step = 1 + (one_in(4) ? below(3) : 0);
  shuffle(rank, order);
  for (int32_t i = rank - 1; i >= 0; i--) {
    int32_t d = order[i];
    strides[d] = broadcast && one_in(3) ? 0 : one_in(4) ? -step : step;
    if (strides[d] < 0 && shape[d] > 0) offset += (shape[d] - 1) * step;
    if (strides[d] != 0) step = step * (shape[d] > 0 ? shape[d] : 1) + (one_in(3) ? below(9) : 0);
  }
  OK(tesela_layout_strided(layout, TESELA_DTYPE_NONE, bits, rank, shape, strides, offset, &e_));
}

/* Splits that pad, joins, replicas, holes, placed row-major in any order; swizzled or not. */
static void built(tesela_layout *layout, int32_t bits, int32_t rank, const int64_t *shape) {
  int32_t digit[32], n = 0, axis, added, lo;
  OK(tesela_layout_begin(layout, TESELA_DTYPE_NONE, bits, rank, shape, &e_));
  for (int32_t d = 0; d < rank; d++) digit[n++] = d;
  if (n >= 2 && one_in(4)) {
    int32_t parts[2] = {digit[n - 2], digit[n - 1]};
    OK(tesela_layout_join(layout, 2, parts, &digit[n - 2], &e_));
    n--;
  }
  for (int32_t splits = (int32_t)below(4); splits > 0 && n > 0; splits--) {
    OK(tesela_layout_split(layout, digit[below(n)], 1 + below(7), &lo, &e_));
    digit[n++] = lo;
  }
  for (int kind = TESELA_HOLE; kind <= TESELA_REPLICA; kind++) {
    if (!one_in(4)) continue;
    OK(tesela_layout_add_digit(layout, kind, 1 + below(3), &added, &e_));
    digit[n++] = added;
  }
  if (one_in(2)) shuffle(n, digit);
  OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(layout, n, digit, axis, 1 + (one_in(5) ? below(3) : 0), NULL, &e_));
  if (one_in(5)) OK(tesela_layout_add_swizzle(layout, (tesela_swizzle){(int16_t)axis, 1, 0, 2}, &e_));
}

static void random_layout(tesela_layout *layout, int32_t bits, int32_t rank, const int64_t *shape,
                          bool broadcast) {
  if (one_in(3)) {
    strided(layout, bits, rank, shape, broadcast);
    return;
  }
  built(layout, bits, rank, shape);
  OK(tesela_layout_finish(layout, &e_));
}

static int32_t random_shape(int64_t *shape) {
  int32_t rank = (int32_t)below(5);
  for (int32_t d = 0; d < rank; d++)
    shape[d] = one_in(30) ? 0 : one_in(5) ? 1 : one_in(8) && rank < 3 ? 1 + below(150) : 1 + below(9);
  return rank;
}

static size_t bytes_of(const tesela_layout *layout) {
  tesela_sizes sizes;
  OK(tesela_layout_sizes(layout, &sizes, &e_));
  return (size_t)sizes.bytes;
}

/* ---- random cases ----------------------------------------------------------------------------------------- */

static void check_digest(const tesela_layout *layout, const uint8_t *data) {
  uint8_t got[16], want[16];
  OK(tesela_values_digest(layout, data, got, NULL, &e_));
  digest_of(layout, data, want);
  if (memcmp(got, want, 16) != 0) fail_msg("seed %" PRIu64 ": the digest is wrong", seed);
}

static void check_compare(const tesela_layout *a, const uint8_t *data_a, const tesela_layout *b,
                          const uint8_t *data_b) {
  tesela_values_difference d;
  char name[40];
  int64_t index[TESELA_MAX_RANK] = {0}, different = 0;
  snprintf(name, sizeof name, "seed %" PRIu64, seed);
  OK(tesela_values_compare(a, data_a, b, data_b, &d, NULL, &e_));
  for (int64_t n = 0; n < count_of(a); n++, tesela_index_next(a->rank, a->shape, index)) {
    if (element_same(a, data_a, b, data_b, index)) continue;
    for (int32_t i = 0; different == 0 && i < a->rank; i++) AGREE(name, d.index[i], index[i]);
    different++;
  }
  AGREE(name, d.n_different, different);
  AGREE(name, d.same, different == 0);
  if (different == 0) return;
  uint8_t value[16];
  bool a_there = false, b_there = false;
  for (int64_t k = 0; k < tesela_layout_copies(a); k++) a_there |= place_of(a, d.index, k) == d.place_a;
  for (int64_t k = 0; k < tesela_layout_copies(b); k++) b_there |= place_of(b, d.index, k) == d.place_b;
  AGREE(name, a_there && b_there, true);
  get_value(data_a, d.place_a, a->bits, value);
  AGREE(name, memcmp(value, d.a, 16), 0);
  get_value(data_b, d.place_b, b->bits, value);
  AGREE(name, memcmp(value, d.b, 16), 0);
  AGREE(name, memcmp(d.a, d.b, 16) != 0, true);
}

/* Write the first copy of each element of A to every place it has in A and B; then a few bits are turned. */
static void make_alike(const tesela_layout *a, uint8_t *data_a, const tesela_layout *b, uint8_t *data_b) {
  int64_t index[TESELA_MAX_RANK] = {0}, count = count_of(a);
  uint8_t value[16];
  for (int64_t n = 0; n < count; n++, tesela_index_next(a->rank, a->shape, index)) {
    get_value(data_a, place_of(a, index, 0), a->bits, value);
    for (int64_t k = 0; k < tesela_layout_copies(a); k++)
      put_value(data_a, place_of(a, index, k), a->bits, value);
    for (int64_t k = 0; k < tesela_layout_copies(b); k++)
      put_value(data_b, place_of(b, index, k), b->bits, value);
  }
  for (int64_t wrong = count == 0 || one_in(3) ? 0 : 1 + below(3); wrong > 0; wrong--) {
    const tesela_layout *side = one_in(2) ? a : b;
    uint8_t *data = side == a ? data_a : data_b;
    for (int32_t d = 0; d < a->rank; d++) index[d] = below(a->shape[d]);
    int64_t bit = place_of(side, index, below(tesela_layout_copies(side))) * side->bits + below(side->bits);
    put_bit(data, bit, !get_bit(data, bit));
  }
}

static void test_random_pairs(void **state) {
  (void)state;
  int64_t same = 0, different = 0;
  for (seed = first_seed(); seed < first_seed() + SEEDS; seed++) {
    tesela_layout a, b;
    tesela_values_difference d;
    int64_t shape[4];
    random_state = seed;
    int32_t rank = random_shape(shape), bits = 1 << below(8);
    bool broadcast = one_in(6);
    random_layout(&a, bits, rank, shape, broadcast);
    random_layout(&b, bits, rank, shape, broadcast);
    buffer in_a = buffer_of(bytes_of(&a)), in_b = buffer_of(bytes_of(&b));
    if (!one_in(10)) make_alike(&a, in_a.data, &b, in_b.data);
    check_compare(&a, in_a.data, &b, in_b.data);
    check_digest(&a, in_a.data);
    check_digest(&b, in_b.data);
    OK(tesela_values_compare(&a, in_a.data, &b, in_b.data, &d, NULL, &e_));
    d.same ? same++ : different++;
    drop(&in_a);
    drop(&in_b);
  }
  assert_true(same > SEEDS / 10 && different > SEEDS / 10); /* both answers were looked for */
}

/* Layouts from XLA's texts, whose type counts in the digest. */
static void test_random_xla(void **state) {
  (void)state;
  for (seed = first_seed(); seed < first_seed() + SEEDS / 3; seed++) {
    struct oracle_array array;
    const char *type;
    tesela_layout tiled, rows;
    tesela_values_difference d;
    random_state = seed;
    oracle_random(seed, ORACLE_RANDOM_ELEMENTS, &array, &type);
    tesela_xla_shape shape = shape_of_array(&array, type);
    OK(tesela_xla_to_layout(&shape, &tiled, &e_));
    bool known = array.bits <= 128 && (array.bits & (array.bits - 1)) == 0;
    OK(tesela_layout_strided(&rows, tiled.dtype, tiled.bits, tiled.rank, tiled.shape, NULL, 0, &e_));
    buffer in_tiled = buffer_of(bytes_of(&tiled)), in_rows = buffer_of(bytes_of(&rows));
    if (known) {
      uint8_t digest[2][16];
      make_alike(&tiled, in_tiled.data, &rows, in_rows.data);
      check_compare(&tiled, in_tiled.data, &rows, in_rows.data);
      check_digest(&tiled, in_tiled.data);
      OK(tesela_values_compare(&tiled, in_tiled.data, &rows, in_rows.data, &d, NULL, &e_));
      OK(tesela_values_digest(&tiled, in_tiled.data, digest[0], NULL, &e_));
      OK(tesela_values_digest(&rows, in_rows.data, digest[1], NULL, &e_));
      assert_int_equal(memcmp(digest[0], digest[1], 16) == 0, d.same);
    } else {
      assert_int_equal(tesela_values_compare(&tiled, in_tiled.data, &rows, in_rows.data, &d, NULL, NULL),
                       TESELA_E_UNSUPPORTED);
    }
    drop(&in_tiled);
    drop(&in_rows);
  }
}

/* Runs of zeros that begin anywhere in a byte: one bit is turned, and it alone must be seen. */
static void test_parts_of_bytes(void **state) {
  (void)state;
  for (int32_t bits = 1; bits < 8; bits *= 2)
    for (int64_t offset_a = 0; offset_a < 8; offset_a++)
      for (int64_t offset_b = 0; offset_b < 8; offset_b++)
        for (int64_t turned = 0; turned < 40; turned++) {
          tesela_layout a, b;
          tesela_values_difference d;
          const int64_t shape[1] = {40};
          uint8_t data_a[32] = {0}, data_b[32] = {0};
          OK(tesela_layout_strided(&a, TESELA_DTYPE_NONE, bits, 1, shape, NULL, offset_a, &e_));
          OK(tesela_layout_strided(&b, TESELA_DTYPE_NONE, bits, 1, shape, NULL, offset_b, &e_));
          put_bit(data_b, (offset_b + turned) * bits, 1);
          OK(tesela_values_compare(&a, data_a, &b, data_b, &d, NULL, &e_));
          AGREE("zeros", d.n_different, 1);
          AGREE("zeros", d.index[0], turned);
        }
}

/* ---- progress --------------------------------------------------------------------------------------------- */

typedef struct asking {
  int64_t calls, last_done, total, stop_at; /* the call that says stop; 0: none */
} asking;

static int ask(void *user, int64_t done, int64_t total) {
  asking *a = user;
  assert_true(done > a->last_done && done <= total);
  a->last_done = done;
  a->total = total;
  return ++a->calls == a->stop_at;
}

/* Long tensors, contiguous and in short rows: it is asked about every 2^20 elements, changes nothing, and stops. */
static void test_progress(void **state) {
  (void)state;
  static uint8_t data[5 << 20];
  for (int64_t i = 0; i < (int64_t)sizeof data; i++) data[i] = (uint8_t)(i * 7 ^ i >> 8);
  const int32_t bits[] = {8, 4, 8};
  const int64_t shapes[][2] = {{1, 5 << 20}, {1, 5 << 20}, {5 << 16, 16}};
  for (int k = 0; k < 3; k++) {
    tesela_layout layout;
    uint8_t plain[16], watched[16];
    tesela_values_difference d;
    OK(tesela_layout_strided(&layout, TESELA_DTYPE_NONE, bits[k], 2, shapes[k], NULL, 0, &e_));
    asking a = {.calls = 0};
    tesela_run_options options = {.progress = ask, .progress_user = &a};
    OK(tesela_values_digest(&layout, data, plain, NULL, &e_));
    OK(tesela_values_digest(&layout, data, watched, &options, &e_));
    assert_memory_equal(plain, watched, 16);
    AGREE("calls", a.calls, 5);
    AGREE("total", a.total, 5 << 20);
    a = (asking){.calls = 0};
    OK(tesela_values_compare(&layout, data, &layout, data, &d, &options, &e_));
    AGREE("same", d.same, true);
    AGREE("calls", a.calls, 5);
    for (int64_t stop = 1; stop <= 5; stop++) {
      a = (asking){.stop_at = stop};
      AGREE("digest", tesela_values_digest(&layout, data, watched, &options, NULL), TESELA_E_STOPPED);
      AGREE("calls", a.calls, stop);
      a = (asking){.stop_at = stop};
      AGREE("compare", tesela_values_compare(&layout, data, &layout, data, &d, &options, NULL),
            TESELA_E_STOPPED);
      AGREE("calls", a.calls, stop);
    }
  }
}

/* ---- what the digest covers ------------------------------------------------------------------------------- */

static void digest_row_major(tesela_dtype dtype, int32_t bits, int32_t rank, const int64_t *shape,
                             const uint8_t *data, uint8_t digest[16]) {
  tesela_layout layout;
  OK(tesela_layout_strided(&layout, dtype, bits, rank, shape, NULL, 0, &e_));
  OK(tesela_values_digest(&layout, data, digest, NULL, &e_));
}

static void test_type_width_and_shape_count(void **state) {
  (void)state;
  static const struct {
    const char *name;
    tesela_dtype dtype;
    int32_t bits, rank;
    int64_t shape[3];
  } rows[] = {
      {"f32[2,4]", TESELA_F32, 32, 2, {2, 4}},
      {"another type", TESELA_S32, 32, 2, {2, 4}},
      {"no type", TESELA_DTYPE_NONE, 32, 2, {2, 4}},
      {"another shape", TESELA_F32, 32, 2, {4, 2}},
      {"another rank", TESELA_F32, 32, 3, {1, 2, 4}},
      {"another width", TESELA_DTYPE_NONE, 16, 2, {2, 8}},
      {"bytes", TESELA_DTYPE_NONE, 8, 1, {32}},
      {"nothing", TESELA_F32, 32, 2, {0, 4}},
      {"nothing of another shape", TESELA_F32, 32, 2, {4, 0}},
      {"a scalar", TESELA_F32, 32, 0, {0}},
  };
  enum { N = sizeof rows / sizeof rows[0] };
  uint8_t data[32] = {0}, digest[N][16];
  for (size_t i = 0; i < N; i++) {
    digest_row_major(rows[i].dtype, rows[i].bits, rows[i].rank, rows[i].shape, data, digest[i]);
    for (size_t j = 0; j < i; j++)
      if (memcmp(digest[i], digest[j], 16) == 0) fail_msg("%s = %s", rows[i].name, rows[j].name);
  }
}

/* Each bit of a tensor changes about half of the digest, and no two single bits give one digest. */
static void test_each_bit_counts(void **state) {
  (void)state;
  enum { BITS = 1024 };
  static uint8_t data[BITS / 8], digest[BITS + 1][16];
  const int64_t shape[1] = {BITS / 32};
  digest_row_major(TESELA_F32, 32, 1, shape, data, digest[BITS]);
  for (int i = 0; i < BITS; i++) {
    int turned = 0;
    data[i / 8] ^= (uint8_t)(1 << i % 8);
    digest_row_major(TESELA_F32, 32, 1, shape, data, digest[i]);
    data[i / 8] ^= (uint8_t)(1 << i % 8);
    for (int64_t b = 0; b < 128; b++) turned += get_bit(digest[i], b) != get_bit(digest[BITS], b);
    if (turned < 32 || turned > 96) fail_msg("bit %d turns %d of 128 bits", i, turned);
    for (int j = 0; j < i; j++) assert_int_not_equal(memcmp(digest[i], digest[j], 16), 0);
  }
}

/* Numbers that a program in another language made from the definition. */
static void test_digests_that_never_change(void **state) {
  (void)state;
  static const struct {
    const char *name;
    tesela_dtype dtype;
    int32_t bits, rank;
    int64_t shape[2];
    const char *digest;
  } rows[] = {
      {"f32[3,5]", TESELA_F32, 32, 2, {3, 5}, "de93fc915b32ec4ad8c9799358d4df15"},
      {"s4[7], packed", TESELA_S4, 4, 1, {7}, "deaf4c6f8c35faaf95f9f60a47c06b15"},
      {"pred[2,33], a bit each", TESELA_PRED, 1, 2, {2, 33}, "a4a6353a2a34154baff0b05a719d77fa"},
      {"c128[4]", TESELA_C128, 128, 1, {4}, "bc3c133b937e4e4f6f7dbc7b72b42605"},
      {"u8[]", TESELA_U8, 8, 0, {0}, "86d3813d500b7f430ab8bcaa0dad7f8c"},
      {"f32[0,4]", TESELA_F32, 32, 2, {0, 4}, "06c1fc833a1ac4c44e42ef04da378792"},
      {"no type, 16 bits", TESELA_DTYPE_NONE, 16, 1, {32}, "39d0ddab8f3bf1fab852ce3f9eb35637"},
  };
  uint8_t data[64], digest[16];
  for (int i = 0; i < 64; i++) data[i] = (uint8_t)(7 * i + 1);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[33];
    digest_row_major(rows[i].dtype, rows[i].bits, rows[i].rank, rows[i].shape, data, digest);
    for (int b = 0; b < 16; b++) snprintf(text + 2 * b, 3, "%02x", digest[b]);
    if (strcmp(text, rows[i].digest) != 0) fail_msg("%s: %s", rows[i].name, text);
  }
}

/* ---- what is refused -------------------------------------------------------------------------------------- */

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    const char *name;
    tesela_dtype dtype_a, dtype_b;
    int32_t bits_a, bits_b, rank_b;
    int64_t shape_b[3];
    tesela_status status;
  } rows[] = {
      {"the same", TESELA_F32, TESELA_F32, 32, 32, 2, {2, 3}, TESELA_OK},
      {"a type on one side only", TESELA_F32, TESELA_DTYPE_NONE, 32, 32, 2, {2, 3}, TESELA_OK},
      {"another type", TESELA_F32, TESELA_S32, 32, 32, 2, {2, 3}, TESELA_E_MISMATCH},
      {"another width", TESELA_DTYPE_NONE, TESELA_DTYPE_NONE, 32, 16, 2, {2, 3}, TESELA_E_MISMATCH},
      {"another extent", TESELA_F32, TESELA_F32, 32, 32, 2, {3, 2}, TESELA_E_MISMATCH},
      {"another rank", TESELA_F32, TESELA_F32, 32, 32, 3, {2, 3, 1}, TESELA_E_MISMATCH},
      {"a width that is no power of two",
       TESELA_DTYPE_NONE,
       TESELA_DTYPE_NONE,
       6,
       6,
       2,
       {2, 3},
       TESELA_E_UNSUPPORTED},
      {"a width above 128", TESELA_DTYPE_NONE, TESELA_DTYPE_NONE, 256, 256, 2, {2, 3}, TESELA_E_UNSUPPORTED},
  };
  const int64_t shape_a[2] = {2, 3};
  static const uint8_t data[256];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_layout a, b;
    tesela_values_difference d = {.n_different = -1};
    uint8_t digest[16] = {99};
    tesela_error err = {.message = ""};
    OK(tesela_layout_strided(&a, rows[i].dtype_a, rows[i].bits_a, 2, shape_a, NULL, 0, &e_));
    OK(tesela_layout_strided(&b, rows[i].dtype_b, rows[i].bits_b, rows[i].rank_b, rows[i].shape_b, NULL, 0,
                             &e_));
    AGREE(rows[i].name, tesela_values_compare(&a, data, &b, data, &d, NULL, &err), rows[i].status);
    AGREE(rows[i].name, d.n_different, rows[i].status == TESELA_OK ? 0 : -1);
    AGREE(rows[i].name, err.message[0] != '\0', rows[i].status != TESELA_OK);
    bool known = rows[i].status != TESELA_E_UNSUPPORTED;
    AGREE(rows[i].name, tesela_values_digest(&a, data, digest, NULL, NULL),
          known ? TESELA_OK : TESELA_E_UNSUPPORTED);
    AGREE(rows[i].name, digest[0] == 99 && digest[1] == 0, !known);
  }
}

static void test_axes_and_unfinished_layouts(void **state) {
  (void)state;
  const int64_t shape[2] = {2, 3};
  static const uint8_t data[24];
  uint8_t digest[16];
  int32_t thread, local;
  tesela_layout layout;
  tesela_values_difference d;
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, shape, &e_));
  assert_int_equal(tesela_values_digest(&layout, data, digest, NULL, NULL), TESELA_E_INVALID);
  OK(tesela_layout_add_axis(&layout, "thread", &thread, &e_));
  OK(tesela_layout_add_axis(&layout, "local", &local, &e_));
  OK(tesela_layout_place(&layout, 0, thread, 1, &e_));
  OK(tesela_layout_place(&layout, 1, local, 1, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_int_equal(tesela_values_digest(&layout, data, digest, NULL, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_values_compare(&layout, data, &layout, data, &d, NULL, NULL), TESELA_E_UNSUPPORTED);
}

/* NULL is data without elements, and of nothing else. */
static void test_data_is_needed(void **state) {
  (void)state;
  static const uint8_t data[24];
  for (int64_t n = 0; n < 2; n++) {
    const int64_t shape[2] = {n, 3};
    tesela_status refused = n == 0 ? TESELA_OK : TESELA_E_INVALID;
    uint8_t digest[16];
    tesela_layout layout;
    tesela_values_difference d;
    OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, shape, NULL, 0, &e_));
    assert_int_equal(tesela_values_digest(&layout, NULL, digest, NULL, NULL), refused);
    assert_int_equal(tesela_values_compare(&layout, NULL, &layout, data, &d, NULL, NULL), refused);
    assert_int_equal(tesela_values_compare(&layout, data, &layout, NULL, &d, NULL, NULL), refused);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_pairs),    cmocka_unit_test(test_random_xla),
      cmocka_unit_test(test_parts_of_bytes),  cmocka_unit_test(test_type_width_and_shape_count),
      cmocka_unit_test(test_each_bit_counts), cmocka_unit_test(test_digests_that_never_change),
      cmocka_unit_test(test_refusals),        cmocka_unit_test(test_axes_and_unfinished_layouts),
      cmocka_unit_test(test_data_is_needed),  cmocka_unit_test(test_progress),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
