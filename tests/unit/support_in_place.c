/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_in_place.c - see support_in_place.h.
 */
#include "support_in_place.h"
#include "support_pages.h"

/* ---- random numbers --------------------------------------------------------------------------------------- */

static uint64_t random_state;

void in_place_begin(uint64_t seed) { random_state = seed; }

uint64_t in_place_bits(void) { /* splitmix64 */
  uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

int64_t in_place_below(int64_t n) { return (int64_t)(in_place_bits() % (uint64_t)n); }
bool in_place_one_in(int64_t n) { return in_place_below(n) == 0; }

int64_t in_place_product(int n, const int64_t *factor) {
  int64_t p = 1;
  for (int i = 0; i < n; i++) p *= factor[i];
  return p;
}

tesela_layout in_place_layout(const char *text) {
  tesela_xla_shape shape = shape_of(text);
  tesela_layout layout;
  OK(tesela_xla_to_layout(&shape, &layout, &e_));
  return layout;
}

/* ---- buffers ---------------------------------------------------------------------------------------------- */

typedef struct guarded {
  pages map;
  unsigned char *bytes;
} guarded;

/* `n` bytes that end at an inaccessible page, or start after one. */
static guarded new_guarded(size_t n, bool at_end) {
  guarded g = {.map = pages_new(n)};
  g.bytes = at_end ? g.map.data + g.map.bytes - n : g.map.data;
  return g;
}

static void drop_guarded(guarded g) { pages_drop(g.map); }

unsigned char in_place_byte(int64_t e, int b) {
  uint64_t x = ((uint64_t)e + 1) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)b * UINT64_C(0xc2b2ae3d27d4eb4f);
  return (unsigned char)((x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 40);
}

/* The expected contents of the buffer, from those before. */
static void expect(const in_place_job *j, const unsigned char *before, unsigned char *after, size_t bytes) {
  memcpy(after, before, bytes);
  for (int64_t p = 0; p < j->dst_places; p++) {
    unsigned char *to = after + p * j->width;
    for (int b = 0; b < j->width; b++) {
      bool swap = j->options.transform == TESELA_TRANSFORM_SWAP;
      if (j->dst[p] >= 0)
        to[b] = in_place_byte(j->dst[p], swap ? j->width - 1 - b : b);
      else if (j->dst[p] == PADDING && j->options.fill != TESELA_FILL_LEAVE)
        to[b] = j->options.fill == TESELA_FILL_ZERO ? 0 : j->options.fill_value[b];
    }
  }
}

static void check_bytes(const in_place_job *j, const unsigned char *got, const unsigned char *want,
                        size_t bytes, const char *how) {
  for (size_t b = 0; b < bytes; b++)
    if (got[b] != want[b]) {
      int64_t place = (int64_t)b / j->width, holds = place < j->dst_places ? j->dst[place] : GAP;
      fail_msg("%s, %s: byte %zu of place %" PRId64 " (%s %" PRId64 ") is %02x, not %02x", j->name, how,
               b % (size_t)j->width, place,
               holds >= 0         ? "element"
               : holds == PADDING ? "padding"
                                  : "none",
               holds, got[b], want[b]);
    }
}

void in_place_run(const in_place_job *j, const tesela_plan *plan) {
  int64_t places = j->dst_places > j->src_places ? j->dst_places : j->src_places;
  size_t bytes = (size_t)(places * j->width);
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  if (!info.in_place) fail_msg("%s: the plan says it cannot run in place", j->name);
  unsigned char *before = malloc(bytes + 1), *want = malloc(bytes + 1);
  assert_true(before && want);
  for (size_t b = 0; b < bytes; b++) before[b] = (unsigned char)in_place_bits();
  for (int64_t p = 0; p < j->src_places; p++)
    for (int b = 0; b < j->width && j->src[p] >= 0; b++)
      before[p * j->width + b] = in_place_byte(j->src[p], b);
  expect(j, before, want, bytes);
  for (int marks = 0; marks < 2; marks++) {
    guarded buffer = new_guarded(bytes, marks == 0),
            scratch = new_guarded((size_t)info.in_place_scratch_bytes, true);
    memcpy(buffer.bytes, before, bytes);
    memset(scratch.bytes, 0xff, (size_t)info.in_place_scratch_bytes);
    OK(tesela_plan_run_in_place(plan, buffer.bytes, marks ? scratch.bytes : NULL, NULL, &e_));
    check_bytes(j, buffer.bytes, want, bytes, marks ? "with marks" : "without marks");
    drop_guarded(buffer);
    drop_guarded(scratch);
  }
  free(before);
  free(want);
}

void in_place_draw_options(tesela_plan_options *options, int width) {
  *options = (tesela_plan_options){.fill = (tesela_fill)in_place_below(3)};
  for (int b = 0; b < 16; b++) options->fill_value[b] = (uint8_t)in_place_bits();
  if (width > 1 && in_place_one_in(3)) options->transform = TESELA_TRANSFORM_SWAP;
}
