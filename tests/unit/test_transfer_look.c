/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transfer_look.c - the look through integers before they are stored in fewer bits, by itself: random layouts of hosts (permuted,
 * gapped, reversed, broadcast, shifted) and of devices (digits of any steps, padding), any number of threads, an executor of
 * the program's, memory that ends where the last element does. All places without an element hold a value that would not fit.
 *
 * Expected is what a walk over the indices in row-major order finds first.
 */
#include "device/transfer.h"
#include "support_dma.h"
#include "support_fault.h"
#include "support_seed.h"

enum { CASES = 6000, MOST_PLACES = 1 << 19 };

static const struct {
  tesela_dtype from, to;
  int32_t bits;
  int64_t low, high; /* fit */
} narrow[] = {
    {TESELA_S64, TESELA_S32, 64, INT32_MIN, INT32_MAX},
    {TESELA_S32, TESELA_S8, 32, -128, 127},
    {TESELA_S32, TESELA_S16, 32, -32768, 32767},
    {TESELA_U64, TESELA_U32, 64, 0, UINT32_MAX},
    {TESELA_U32, TESELA_U8, 32, 0, 255},
    {TESELA_U32, TESELA_U16, 32, 0, 65535},
};
enum { N_NARROW = sizeof narrow / sizeof narrow[0] };

static uint64_t state;
static int64_t draw(int64_t n) { return dma_below(&state, n); }

/* A layout, and where by definition its elements are; both from the same numbers. */
typedef struct look_case {
  tesela_layout layout;
  struct oracle_device device; /* n 0: a host tensor */
  int64_t rank, shape[ORACLE_DEVICE_RANK], stride[ORACLE_DEVICE_RANK], offset, places;
} look_case;

static int64_t place_of(const look_case *c, const int64_t *index) {
  int64_t place = c->offset;
  if (c->device.n > 0) return oracle_device_place(&c->device, index, 0);
  for (int64_t d = 0; d < c->rank; d++) place += index[d] * c->stride[d];
  return place;
}

/* Offset 0 is the lowest place that is reached, or a few places after the memory's start. */
static void draw_host(look_case *c, int t, bool large) {
  int64_t pitch = 1, order[4];
  c->device.n = 0;
  c->offset = draw(3) ? 0 : draw(9);
  c->rank = large ? 1 + draw(3) : draw(5);
  for (int64_t d = 0; d < c->rank; d++) order[d] = d;
  for (int64_t d = c->rank - 1; d > 0; d--) {
    int64_t other = draw(3) ? d : draw(d + 1), x = order[d];
    order[d] = order[other], order[other] = x;
  }
  c->places = 1 + c->offset;
  for (int64_t d = c->rank - 1; d >= 0; d--) {
    int64_t at = order[d], most = large ? (int64_t)1 << (18 / c->rank) : 9;
    int64_t n = c->shape[at] = draw(40) ? 1 + draw(most) : 0;
    if (draw(10) == 0) n = c->shape[at] = large ? n : 1 + draw(150);
    c->stride[at] = draw(12) ? pitch : draw(3);
    pitch = pitch * (n ? n : 1) + (draw(4) ? 0 : draw(5));
    if (n > 0) c->places += (n - 1) * c->stride[at];
    if (draw(5) == 0 && n > 0) c->offset += (n - 1) * c->stride[at], c->stride[at] = -c->stride[at];
  }
  DMA_OK(tesela_layout_strided(&c->layout, narrow[t].from, narrow[t].bits, (int32_t)c->rank, c->shape,
                               c->stride, c->offset, &e_));
}

static void take_device(look_case *c, int t, dma_case *made) {
  made->layout.host.dtype = made->layout.host.device_dtype = narrow[t].from;
  made->layout.host.bits = made->layout.host.device_bits = narrow[t].bits;
  DMA_OK(tesela_device_to_layout(&made->layout, &c->layout, &e_));
  c->device = made->oracle;
  c->rank = made->oracle.rank;
  memcpy(c->shape, made->oracle.shape, sizeof c->shape);
  c->places = made->layout.places;
}

static void draw_device(look_case *c, int t) {
  dma_case made;
  do dma_case_random(&made, (uint64_t)draw(INT64_MAX), false);
  while (made.oracle.n == 0);
  take_device(c, t, &made);
}

/* 3 x 3 x .. in blocks of 2 each way: a whole block and a half one of each dim, 2^rank boxes. */
static void blocks_of_two(look_case *c, int t, int rank) {
  dma_case made = {.oracle = {.rank = rank, .n = 2 * rank}};
  for (int d = 0; d < rank; d++) {
    made.oracle.shape[d] = 3;
    made.oracle.dim[d] = (struct oracle_device_dim){d, 2, 2, 0};
    made.oracle.dim[rank + d] = (struct oracle_device_dim){d, 1, 2, 0};
  }
  dma_case_layout(&made, -1, narrow[t].bits / 8);
  take_device(c, t, &made);
}

/* ---- data --------------------------------------------------------------------------------------------------- */

static void put(unsigned char *data, int t, int64_t place, int64_t x) {
  size_t bytes = (size_t)narrow[t].bits / 8;
  memcpy(data + (size_t)place * bytes, &x, bytes);
}

static int64_t draw_outside(int t) {
  int64_t over = narrow[t].bits == 64 ? INT64_MAX - narrow[t].high : (1 << 30) - narrow[t].high;
  if (narrow[t].low < 0 && draw(2)) return narrow[t].low - 1 - (draw(2) ? 0 : draw(over));
  return narrow[t].high + 1 + (draw(2) ? 0 : draw(over));
}

static int64_t draw_inside(int t) {
  return draw(2) ? narrow[t].low + draw(narrow[t].high - narrow[t].low + 1)
                 : (draw(2) ? narrow[t].low : narrow[t].high);
}

/* All elements fit but up to two. */
static void fill(const look_case *c, int t, unsigned char *data) {
  int64_t zero[ORACLE_DEVICE_RANK] = {0}, index[ORACLE_DEVICE_RANK] = {0}, elements = 1;
  for (int64_t i = 0; i < c->places; i++) put(data, t, i, draw_outside(t));
  for (int64_t d = 0; d < c->rank; d++) elements *= c->shape[d];
  if (elements == 0) return;
  do put(data, t, place_of(c, index), draw_inside(t));
  while (oracle_device_next((int)c->rank, zero, c->shape, index));
  for (int64_t k = draw(3); k > 0; k--) {
    for (int64_t d = 0; d < c->rank; d++) index[d] = draw(c->shape[d]);
    put(data, t, place_of(c, index), draw_outside(t));
  }
}

/* What the error has to say; "" if all fit. */
static void expect(const look_case *c, int t, const unsigned char *data, char says[400]) {
  int64_t zero[ORACLE_DEVICE_RANK] = {0}, index[ORACLE_DEVICE_RANK] = {0};
  size_t bytes = (size_t)narrow[t].bits / 8, at = 0;
  says[0] = '\0';
  for (int64_t d = 0; d < c->rank; d++)
    if (c->shape[d] == 0) return;
  do {
    uint64_t code = 0;
    memcpy(&code, data + (size_t)place_of(c, index) * bytes, bytes);
    int64_t x = (int64_t)code;
    if (narrow[t].low < 0 && bytes == 4) x = code >> 31 ? (int64_t)code - ((int64_t)1 << 32) : x;
    if (x >= narrow[t].low && x <= narrow[t].high) continue;
    at += (size_t)snprintf(says, 400, "element (");
    for (int64_t d = 0; d < c->rank; d++)
      at += (size_t)snprintf(says + at, 400 - at, "%s%" PRId64, d ? "," : "", index[d]);
    snprintf(says + at, 400 - at, ") is %" PRId64 ";", x);
    return;
  } while (oracle_device_next((int)c->rank, zero, c->shape, index));
}

/* ---- memory and threads that run out -------------------------------------------------------------------------- */

static void run_backwards(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  (void)user;
  for (int32_t i = n - 1; i >= 0; i--) chunk(data, i);
}

/* The same answer with every number of threads; without memory none, and none is kept. */
static void look_at(const look_case *c, int t, const unsigned char *data, uint64_t which) {
  static const tesela_executor backwards = {run_backwards, NULL};
  fault f = {.countdown = 0};
  const tesela_allocator scarce = fault_allocator(&f);
  tesela__look look = {.src = &c->layout, .to = narrow[t].to};
  char says[400];
  assert_true(tesela__transfer_narrows(narrow[t].from, narrow[t].to, &look.low, &look.high));
  assert_int_equal(look.low, narrow[t].low);
  assert_int_equal(look.high, narrow[t].high);
  int64_t most = 0;
  tesela_status status;
  do {
    f.countdown = most;
    status = tesela__look_make(&look, &scarce, NULL);
    assert_true(status == TESELA_OK || (status == TESELA_E_MEMORY && f.live == 0 && !look.box));
  } while (status != TESELA_OK && ++most < 40);
  assert_int_equal(status, TESELA_OK);
  expect(c, t, data, says);
  const int32_t threads[] = {1, 2, 3, 7, 64};
  for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
    tesela_error err = {.message = ""};
    look.threads = threads[k];
    status = tesela__look_run(&look, data, threads[k] > 3 || draw(2) ? &backwards : NULL, &err);
    if (status != (says[0] ? TESELA_E_RANGE : TESELA_OK) || !strstr(err.message, says))
      fail_msg("case %" PRIu64 ", %s, %d threads: \"%s\", not \"%s\"", which,
               tesela_dtype_name(narrow[t].from), threads[k], err.message, says);
  }
  tesela__release(&scarce, look.box);
  assert_int_equal(f.live, 0);
}

static void run_case(const look_case *c, int t, uint64_t which) {
  size_t bytes = (size_t)(c->places * narrow[t].bits / 8), shift = (size_t)draw(3) * (size_t)draw(64);
  unsigned char *memory = malloc(bytes + shift);
  assert_non_null(memory);
  fill(c, t, memory + shift);
  look_at(c, t, memory + shift, which);
  free(memory);
}

static void draw_case(uint64_t seed, bool large) {
  look_case c;
  state = seed;
  int t = (int)draw(N_NARROW);
  bool device = !large && draw(3) == 0;
  if (device)
    draw_device(&c, t);
  else
    do draw_host(&c, t, large);
    while (c.places > MOST_PLACES);
  run_case(&c, t, seed);
}

static uint64_t first;

static void test_small(void **unused) {
  (void)unused;
  for (uint64_t i = 0; i < CASES; i++) draw_case(first + i, false);
}

/* More than one piece for a thread. */
static void test_large(void **unused) {
  (void)unused;
  for (uint64_t i = 0; i < CASES / 100; i++) draw_case(first + CASES + i, true);
}

/* More boxes than the first room for them; more than a look keeps. */
static void test_many_boxes(void **unused) {
  (void)unused;
  for (int rank = 6; rank <= 10; rank++)
    for (int t = 0; t < N_NARROW; t++) {
      look_case c = {.offset = 0};
      state = first + (uint64_t)rank;
      blocks_of_two(&c, t, rank);
      run_case(&c, t, (uint64_t)rank);
    }
}

int main(void) {
  first = test_seed(1121);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_large),
                                     cmocka_unit_test(test_many_boxes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
