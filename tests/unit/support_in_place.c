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

static int get_bit(const unsigned char *from, int64_t bit) { return from[bit / 8] >> bit % 8 & 1; }

static void put_bit(unsigned char *to, int64_t bit, int value) {
  to[bit / 8] = (unsigned char)((to[bit / 8] & ~(1 << bit % 8)) | value << bit % 8);
}

/* Write an element of j->bits bits. */
static void put_element(const in_place_job *j, unsigned char *to, int64_t place,
                        const unsigned char *element) {
  for (int b = 0; b < j->bits; b++) put_bit(to, place * j->bits + b, get_bit(element, b));
}

/* The bytes of element e, or of its image. */
static void element_bytes(const in_place_job *j, int64_t e, bool after, unsigned char element[16]) {
  int width = (j->bits + 7) / 8;
  bool swap = after && j->options.transform == TESELA_TRANSFORM_SWAP;
  for (int b = 0; b < width; b++) element[b] = in_place_byte(e, swap ? width - 1 - b : b);
}

/* The expected contents of the buffer, from those before. */
static void expect(const in_place_job *j, const unsigned char *before, unsigned char *after, size_t bytes) {
  static const unsigned char zeros[16];
  unsigned char element[16];
  memcpy(after, before, bytes);
  for (int64_t p = 0; p < j->dst_places; p++) {
    if (j->dst[p] >= 0) element_bytes(j, j->dst[p], true, element);
    if (j->dst[p] >= 0) put_element(j, after, p, element);
    if (j->dst[p] == PADDING && j->options.fill != TESELA_FILL_LEAVE)
      put_element(j, after, p, j->options.fill == TESELA_FILL_ZERO ? zeros : j->options.fill_value);
  }
}

static void check_bytes(const in_place_job *j, const unsigned char *got, const unsigned char *want,
                        size_t bytes, const char *how) {
  for (size_t b = 0; b < bytes; b++)
    if (got[b] != want[b]) {
      int64_t place = (int64_t)b * 8 / j->bits, holds = place < j->dst_places ? j->dst[place] : GAP;
      fail_msg("%s, %s: byte %zu, of place %" PRId64 " (%s %" PRId64 "), is %02x, not %02x", j->name, how, b,
               place,
               holds >= 0         ? "element"
               : holds == PADDING ? "padding"
                                  : "none",
               holds, got[b], want[b]);
    }
}

void in_place_run(const in_place_job *j, const tesela_plan *plan) {
  int64_t places = j->dst_places > j->src_places ? j->dst_places : j->src_places;
  size_t bytes = (size_t)(places * j->bits + 7) / 8;
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  if (!info.in_place) fail_msg("%s: the plan says it cannot run in place", j->name);
  unsigned char *before = malloc(bytes + 1), *want = malloc(bytes + 1), element[16];
  assert_true(before && want);
  for (size_t b = 0; b < bytes; b++) before[b] = (unsigned char)in_place_bits();
  for (int64_t p = 0; p < j->src_places; p++) {
    if (j->src[p] < 0) continue;
    element_bytes(j, j->src[p], false, element);
    put_element(j, before, p, element);
  }
  expect(j, before, want, bytes);
  for (int with = 0; with < 2; with++) {
    guarded buffer = new_guarded(bytes, with == 0),
            scratch = new_guarded((size_t)info.in_place_scratch_bytes, true);
    memcpy(buffer.bytes, before, bytes);
    memset(scratch.bytes, 0xff, (size_t)info.in_place_scratch_bytes);
    OK(tesela_plan_run_in_place(plan, buffer.bytes, with ? scratch.bytes : NULL, NULL, &e_));
    check_bytes(j, buffer.bytes, want, bytes, with ? "with scratch" : "without scratch");
    drop_guarded(buffer);
    drop_guarded(scratch);
  }
  free(before);
  free(want);
}

/* ---- every way ---------------------------------------------------------------------------------------------- */

static struct {
  const char *words;
  int n;
} counts[] = {{"nothing moves", 0},
              {"everything through the scratch", 0},
              {"strips through the scratch", 0},
              {"pairs of blocks change places", 0},
              {"blocks move along cycles", 0},
              {"the last rows to the scratch", 0},
              {"units of elements move along cycles", 0}};

static void count_plan(const tesela_plan *plan) {
  static char text[1 << 16];
  tesela_buffer words = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&words);
  OK(tesela_plan_explain(plan, &to, &e_));
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    counts[i].n += strstr(text, counts[i].words) != NULL;
}

int in_place_count(const char *words) {
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    if (strcmp(counts[i].words, words) == 0) return counts[i].n;
  fail_msg("no count of plans with: %s", words);
  return 0;
}

void in_place_run_all(const in_place_job *j, const tesela_layout *dst, const tesela_layout *src,
                      int n_random) {
  tesela_error err;
  for (int k = 0; k < 2 + n_random; k++) {
    tesela_plan_options options = j->options;
    tesela_plan *plan = NULL;
    options.isa = (tesela_isa)in_place_below(5);
    if (!tesela_isa_available(options.isa)) options.isa = TESELA_ISA_BEST;
    options.threads = k < 2 ? 0 : 1 + (int32_t)in_place_below(4);
    options.shuffle = k < 2 ? 0 : in_place_bits() | 1;
    if (tesela_plan_create(&plan, dst, src, &options, &err) != TESELA_OK)
      fail_msg("%s: %s", j->name, err.message);
    count_plan(plan);
    in_place_run(j, plan);
    tesela_plan_destroy(plan);
  }
}

void in_place_draw_options(tesela_plan_options *options, int bits) {
  *options = (tesela_plan_options){.fill = (tesela_fill)in_place_below(3)};
  for (int b = 0; b < 16; b++) options->fill_value[b] = (uint8_t)in_place_bits();
  if (bits > 8 && in_place_one_in(3)) options->transform = TESELA_TRANSFORM_SWAP;
}
