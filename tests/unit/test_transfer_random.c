/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transfer_random.c - transfers of random layouts, host tensors, types and padding against the definition, byte by byte:
 * to the device and back, between layouts, in overlapping buffers, and dumps with one element changed.
 *
 * Values are quarters of small integers, which every type here says exactly; rounding is the kernels' test.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_device_view.h"
#include "support_seed.h"

enum { GUARD = 96, MOST = 1 << 20 };

static drawn_base base;
static uint64_t seed;
static unsigned char host[MOST], host_want[MOST], device[MOST], device_want[MOST], other[MOST],
    other_want[MOST], both[2 * MOST];
static int64_t value[1 << 16], host_offset;
static const tesela_host_view no_view;
static int64_t counts[6];

#define CHECK(condition, ...)           \
  do {                                  \
    if (!(condition)) {                 \
      view_print_case(&base, &no_view); \
      fail_msg(__VA_ARGS__);            \
    }                                   \
  } while (0)

#define OK(call)                                             \
  do {                                                       \
    tesela_error e_ = {.message = ""};                       \
    CHECK((call) == TESELA_OK, "%s: %s", #call, e_.message); \
  } while (0)

/* ---- values ---------------------------------------------------------------------------------------------------- */

static const struct {
  tesela_dtype host, device;
  int32_t bits, device_bits;
} types[] = {
    {TESELA_F16, TESELA_F16, 16, 16},
    {TESELA_BF16, TESELA_F16, 16, 16},
    {TESELA_PRED, TESELA_F16, 8, 16},
    {TESELA_F32, TESELA_F32, 32, 32},
    {TESELA_S64, TESELA_S32, 64, 32},
    {TESELA_S32, TESELA_S32, 32, 32},
    {TESELA_S8, TESELA_S8, 8, 8},
    {TESELA_U8, TESELA_U32, 8, 32},
    {TESELA_F16, TESELA_F32, 16, 32},
    {TESELA_BF16, TESELA_F32, 16, 32},
    {TESELA_PRED, TESELA_F32, 8, 32},
    {TESELA_S8, TESELA_S32, 8, 32},
    {TESELA_F64, TESELA_F64, 64, 64},
    {TESELA_C128, TESELA_C128, 128, 128},
    {TESELA_DTYPE_NONE, TESELA_DTYPE_NONE, 32, 32},
};

/* A quarter of a number in a type; integers and pred take whole ones. */
static void put(unsigned char *at, tesela_dtype dtype, int32_t bits, int64_t quarters) {
  double x = (double)quarters / 4;
  float narrow = (float)x;
  int64_t whole = quarters / 4;
  uint32_t code;
  memcpy(&code, &narrow, 4);
  switch (dtype) {
  case TESELA_F64:
    memcpy(at, &x, 8);
    break;
  case TESELA_C128:
    memcpy(at, &x, 8);
    x = -x;
    memcpy(at + 8, &x, 8);
    break;
  case TESELA_F32:
  case TESELA_DTYPE_NONE:
    memcpy(at, &code, 4);
    break;
  case TESELA_BF16:
    code >>= 16;
    memcpy(at, &code, 2);
    break;
  case TESELA_F16:
    if (narrow != 0) code = (code >> 16 & 0x8000) | (((code >> 23 & 255) - 112) << 10) | (code >> 13 & 0x3ff);
    memcpy(at, &code, 2);
    break;
  case TESELA_PRED:
    at[0] = quarters != 0;
    break;
  default: /* two's complement, little-endian as the host is */
    memcpy(at, &whole, (size_t)bits / 8);
  }
}

static int64_t draw_value(tesela_dtype dtype) {
  if (dtype == TESELA_PRED) return 4 * (int64_t)view_draw(&seed, 2);
  if (dtype == TESELA_U8) return 4 * (int64_t)view_draw(&seed, 100);
  int64_t x = (int64_t)view_draw(&seed, 200) - 100;
  return dtype == TESELA_S8 || dtype == TESELA_S32 || dtype == TESELA_S64 ? 4 * x : x;
}

/* ---- images ----------------------------------------------------------------------------------------------------- */

static int64_t elements_of(const tesela_device_layout *layout) {
  int64_t n = 1;
  for (int32_t d = 0; d < layout->host.rank; d++) n *= layout->host.shape[d];
  return n;
}

static void index_of(const tesela_device_layout *layout, int64_t number, int64_t *index) {
  for (int32_t d = layout->host.rank - 1; d >= 0; d--) {
    index[d] = number % layout->host.shape[d];
    number /= layout->host.shape[d];
  }
}

/* All digits of all device dims: the places that are padding or elements. */
static void pad_image(const tesela_device_layout *layout, unsigned char *image, const uint8_t *fill) {
  int64_t digit[TESELA_DEVICE_DIMS] = {0}, bytes = layout->host.device_bits / 8;
  if (layout->places == 0) return;
  for (;;) {
    int64_t place = 0;
    for (int32_t j = 0; j < layout->n_dims; j++) place += digit[j] * layout->dim[j].stride;
    memcpy(image + place * bytes, fill, (size_t)bytes);
    int32_t j = layout->n_dims - 1;
    for (; j >= 0; j--) {
      if (++digit[j] < layout->dim[j].extent) break;
      digit[j] = 0;
    }
    if (j < 0) return;
  }
}

/* Every copy of an element; there is one replicated dim at most. */
static int32_t copies_of(const tesela_device_layout *layout, int64_t place, int64_t *places) {
  int32_t n = 1;
  places[0] = place;
  for (int32_t j = 0; j < layout->n_dims; j++)
    for (int64_t k = 1; layout->dim[j].dim == TESELA_DIM_REPLICATED && k < layout->dim[j].extent; k++)
      places[n++] = place + k * layout->dim[j].stride;
  return n;
}

static void put_elements(const tesela_device_layout *layout, unsigned char *image) {
  int64_t n = elements_of(layout), index[TESELA_MAX_RANK], lane, places[4],
          bytes = layout->host.device_bits / 8;
  for (int64_t e = 0; e < n; e++) {
    index_of(layout, e, index);
    int32_t copies = copies_of(layout, view_place_by_definition(layout, index, &lane), places);
    for (int32_t k = 0; k < copies; k++)
      put(image + places[k] * bytes, layout->host.device_dtype, layout->host.device_bits, value[e]);
  }
}

static int64_t host_place(int64_t e) {
  int64_t index[TESELA_MAX_RANK], at = host_offset;
  index_of(&base.layout, e, index);
  for (int32_t d = 0; d < base.layout.host.rank; d++) at += index[d] * base.stride[d];
  return at;
}

static void put_host(unsigned char *image) {
  int64_t n = elements_of(&base.layout), bytes = base.layout.host.bits / 8;
  for (int64_t e = 0; e < n; e++)
    put(image + GUARD + host_place(e) * bytes, base.layout.host.dtype, base.layout.host.bits, value[e]);
}

static void check_same(const unsigned char *got, const unsigned char *want, int64_t bytes, const char *what) {
  for (int64_t i = 0; i < bytes; i++)
    CHECK(got[i] == want[i], "%s: byte %" PRId64 " (guard of %d) is %02x, not %02x", what, i - GUARD,
          (int)GUARD, got[i], want[i]);
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

static void set_types(tesela_device_layout *layout, size_t type) {
  layout->host.dtype = types[type].host;
  layout->host.device_dtype = types[type].device;
  layout->host.bits = types[type].bits;
  layout->host.device_bits = types[type].device_bits;
  layout->host.stick_bytes = layout->lanes * layout->host.device_bits / 8;
}

static int64_t device_bytes(const tesela_device_layout *layout) {
  return layout->places * layout->host.device_bits / 8;
}

/* 7.25, or what a type without fractions and signs has for it; infinities and least and greatest numbers have rows of their own. */
static tesela_transfer_options draw_options(const tesela_device_layout *layout, uint8_t fill[16]) {
  static const tesela_pad pads[] = {TESELA_PAD_LEAVE, TESELA_PAD_ZERO, TESELA_PAD_VALUE};
  tesela_transfer_options options = {.pad = pads[view_draw(&seed, 3)],
                                     .threads = 1 + (int32_t)view_draw(&seed, 2)};
  bool number = layout->host.device_dtype != TESELA_DTYPE_NONE && layout->host.device_dtype != TESELA_C128;
  if (options.pad == TESELA_PAD_VALUE && !number) options.pad = TESELA_PAD_ZERO;
  memset(fill, 0, 16);
  if (options.pad != TESELA_PAD_VALUE) return options;
  options.value = 28;
  put(fill, layout->host.device_dtype, layout->host.device_bits, 4 * 28);
  return options;
}

static void check_to_device(void) {
  uint8_t fill[16];
  tesela_transfer_options options = draw_options(&base.layout, fill);
  tesela_transfer *transfer = NULL;
  int64_t bytes = device_bytes(&base.layout) + 2 * GUARD;
  memset(device, 0x5c, (size_t)bytes);
  memset(device_want, 0x5c, (size_t)bytes);
  if (options.pad != TESELA_PAD_LEAVE) pad_image(&base.layout, device_want + GUARD, fill);
  put_elements(&base.layout, device_want + GUARD);
  OK(tesela_transfer_to_device(&transfer, &base.layout, base.stride, host_offset, &options, &e_));
  OK(tesela_transfer_run(transfer, device + GUARD, host + GUARD, NULL, &e_));
  check_same(device, device_want, bytes, "to device");
  tesela_transfer_facts facts = tesela_transfer_facts_of(transfer);
  CHECK(facts.elements == elements_of(&base.layout), "%" PRId64 " elements", facts.elements);
  CHECK(facts.bytes_read == facts.elements * base.layout.host.bits / 8, "%" PRId64 " bytes read",
        facts.bytes_read);
  tesela_transfer_destroy(transfer);
  counts[0]++;
}

static void check_to_host(void) {
  int64_t bytes = (host_offset + base.span) * base.layout.host.bits / 8 + 2 * GUARD;
  tesela_transfer *transfer = NULL;
  memset(other, 0x33, (size_t)bytes);
  memset(host_want, 0x33, (size_t)bytes);
  put_host(host_want);
  OK(tesela_transfer_to_host(&transfer, &base.layout, base.stride, host_offset, NULL, &e_));
  OK(tesela_transfer_run(transfer, other + GUARD, device + GUARD, NULL, &e_));
  check_same(other, host_want, bytes, "to host");
  tesela_transfer_destroy(transfer);
  counts[1]++;
}

static void check_verify(void) {
  tesela_misplaced m;
  int64_t n = elements_of(&base.layout), bytes = base.layout.host.device_bits / 8, lane,
          index[TESELA_MAX_RANK];
  OK(tesela_transfer_verify(&base.layout, device + GUARD, device_bytes(&base.layout), base.stride,
                            host_offset, host + GUARD, &m, NULL, NULL, &e_));
  CHECK(m.same && m.n_different == 0, "a good dump has %" PRId64 " differences", m.n_different);
  if (n == 0) return;
  int64_t e = (int64_t)view_draw(&seed, (uint64_t)n), wrong = draw_value(base.layout.host.dtype), first = 0;
  if (wrong == value[e]) return;
  index_of(&base.layout, e, index);
  int64_t place = view_place_by_definition(&base.layout, index, &lane);
  put(device + GUARD + place * bytes, base.layout.host.device_dtype, base.layout.host.device_bits, wrong);
  OK(tesela_transfer_verify(&base.layout, device + GUARD, device_bytes(&base.layout), base.stride,
                            host_offset, host + GUARD, &m, NULL, NULL, &e_));
  CHECK(!m.same && m.n_different == 1 && m.place == place,
        "%" PRId64 " differences, place %" PRId64 ", not %" PRId64, m.n_different, m.place, place);
  CHECK(memcmp(m.index, index, sizeof index[0] * (size_t)base.layout.host.rank) == 0, "another element");
  CHECK(memcmp(m.found, device + GUARD + place * bytes, (size_t)bytes) == 0, "found");
  CHECK(memcmp(m.expected, device_want + GUARD + place * bytes, (size_t)bytes) == 0, "expected");
  CHECK(m.is_padding_value == (wrong == 0 && base.layout.host.dtype != TESELA_C128), "is_padding_value");
  while (first < n && value[first] != wrong) first++;
  CHECK(m.have_source == (first < n), "have_source");
  index_of(&base.layout, first < n ? first : 0, index);
  if (first < n)
    CHECK(memcmp(m.source, index, sizeof index[0] * (size_t)base.layout.host.rank) == 0, "another source");
  put(device + GUARD + place * bytes, base.layout.host.device_dtype, base.layout.host.device_bits, value[e]);
  counts[2]++;
}

/* device holds base.layout; to another layout, beside it and over it. */
static void check_between(void) {
  tesela_device_layout to = {.host = base.layout.host};
  uint8_t fill[16];
  view_draw_layout(&seed, &to);
  if (to.places > 30000) return;
  to.host = base.layout.host;
  to.host.stick_bytes = to.lanes * to.host.device_bits / 8;
  if (to.host.device_dtype == TESELA_F16 && view_draw(&seed, 2)) {
    to.host.device_dtype = view_draw(&seed, 2) ? TESELA_BF16 : TESELA_F32;
    to.host.device_bits = to.host.device_dtype == TESELA_F32 ? 32 : 16;
  }
  tesela_transfer_options options = draw_options(&to, fill);
  tesela_transfer *transfer = NULL;
  int64_t bytes = device_bytes(&to) + 2 * GUARD, src_bytes = device_bytes(&base.layout);
  memset(other, 0x71, (size_t)bytes);
  memset(other_want, 0x71, (size_t)bytes);
  if (options.pad != TESELA_PAD_LEAVE) pad_image(&to, other_want + GUARD, fill);
  put_elements(&to, other_want + GUARD);
  OK(tesela_transfer_between(&transfer, &to, &base.layout, &options, &e_));
  OK(tesela_transfer_run(transfer, other + GUARD, device + GUARD, NULL, &e_));
  check_same(other, other_want, bytes, "between");
  int64_t unit = 16,
          gap = (src_bytes + device_bytes(&to)) / unit; /* src at 0, dst anywhere that touches it */
  int64_t at = view_draw(&seed, 3) ? unit * ((int64_t)view_draw(&seed, (uint64_t)(gap + 1)))
                                   : device_bytes(&to) / unit * unit;
  memset(both, 0x71, (size_t)(src_bytes + 2 * device_bytes(&to) + 2 * GUARD + 64));
  unsigned char *src = both + GUARD + device_bytes(&to) / unit * unit, *dst = both + GUARD + at;
  memcpy(src, device + GUARD, (size_t)src_bytes);
  int64_t whole = src_bytes + 2 * device_bytes(&to) + 2 * GUARD + 64;
  static unsigned char want[2 * MOST];
  memcpy(want, both, (size_t)whole);
  if (options.pad != TESELA_PAD_LEAVE) pad_image(&to, want + (dst - both), fill);
  put_elements(&to, want + (dst - both));
  OK(tesela_transfer_run(transfer, dst, src, NULL, &e_));
  check_same(both, want, whole, "overlapping");
  tesela_transfer_destroy(transfer);
  counts[3]++;
}

static void random_transfers(void **state) {
  (void)state;
  seed = first_seed();
  for (int t = 0; t < 700; t++) {
    do view_draw_base(&seed, &base);
    while (base.layout.places > 30000 || base.span > 20000);
    size_t type = (size_t)view_draw(&seed, sizeof types / sizeof types[0]);
    set_types(&base.layout, type);
    host_offset = (int64_t)view_draw(&seed, 6);
    int64_t n = elements_of(&base.layout);
    for (int64_t e = 0; e < n; e++) value[e] = draw_value(types[type].host);
    memset(host, 0xa5, (size_t)((host_offset + base.span) * base.layout.host.bits / 8 + 2 * GUARD));
    put_host(host);
    check_to_device();
    check_to_host();
    check_verify();
    check_between();
  }
  printf("to device %" PRId64 ", to host %" PRId64 ", verified %" PRId64 ", between %" PRId64 "\n", counts[0],
         counts[1], counts[2], counts[3]);
  assert_true(counts[2] > 100 && counts[3] > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_transfers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
