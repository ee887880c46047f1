/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_copy.c - copies between a CuTe layout of threads and values and shared memory: bank conflicts, and the swizzle that
 * leaves the fewest.
 *
 * The oracle places every value by its own formula and counts the words of each bank. "Fewest" is tried to be refuted by all
 * Sw<B,M,S> over the tile in both orders of its dims, S of either sign, whose places stay in the tile.
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

#include "support_seed.h"

enum { MOST_PLACES = 4096, LEAVES = 12 };

static uint64_t state;
static int below(int n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)((state * 0x9e3779b97f4a7c15u >> 20) % (uint64_t)n);
}

/* ---- the oracle ---- */

typedef struct stage {
  int bits, base, shift;
} stage;

static int xor_of(int place, stage s) {
  const int mask = (1 << s.bits) - 1;
  if (s.shift >= 0) return place ^ ((place >> (s.base + s.shift) & mask) << s.base);
  return place ^ ((place >> s.base & mask) << (s.base - s.shift));
}

/* A copy: the element of the tile, first dim fastest, of each thread and value. */
typedef struct copy {
  int threads, values, element[MOST_PLACES];
} copy;

/* Wavefronts of a copy by vectors of `vector` values, or -1 if a vector is not at consecutive places from a multiple of it on. */
static int count_wavefronts(const copy *c, const int *place, int vector, int bytes) {
  int total = 0, at_once = 128 / (vector * bytes) > 32 ? 32 : 128 / (vector * bytes);
  if (at_once == 0) at_once = 1;
  for (int warp = 0; warp < c->threads; warp += 32)
    for (int v = 0; v < c->values; v += vector)
      for (int first = warp; first < warp + 32 && first < c->threads; first += at_once) {
        int word[512], n = 0, in_bank[32] = {0}, worst = 0;
        for (int t = first; t < first + at_once && t < c->threads && t < warp + 32; t++) {
          const int from = place[c->element[t * c->values + v]];
          if (from % vector != 0) return -1;
          for (int k = 0; k < vector; k++)
            if (place[c->element[t * c->values + v + k]] != from + k) return -1;
          for (int w = from * bytes / 4; w <= ((from + vector) * bytes - 1) / 4; w++) {
            int k = 0;
            while (k < n && word[k] != w) k++;
            if (k == n) word[n++] = w;
          }
        }
        for (int k = 0; k < n; k++) in_bank[word[k] % 32]++;
        for (int b = 0; b < 32; b++) worst = in_bank[b] > worst ? in_bank[b] : worst;
        total += worst;
      }
  return total;
}

static int count_all(const copy *c, int copies, const int *place, int vector, int bytes) {
  int sum = 0;
  for (int k = 0; k < copies; k++) {
    const int n = count_wavefronts(&c[k], place, vector, bytes);
    if (n < 0) return -1;
    sum += n;
  }
  return sum;
}

/* Places of the elements by a text "Sw<B,M,S> o offset o (extents):(strides)" over the coordinates of the tile. */
static void places_of_text(const char *text, int rows, int cols, int *place) {
  tesela_cute c;
  assert_int_equal(tesela_cute_parse(&c, text, strlen(text), NULL), TESELA_OK);
  for (int i = 0; i < rows * cols; i++) {
    int64_t at = c.offset, rest = i, size = 1; /* flat coordinates go on from mode to mode */
    for (int k = 0; k < c.n; k++) {
      at += rest % c.extent[k] * c.stride[k];
      rest /= c.extent[k];
      size *= c.extent[k];
    }
    assert_int_equal(size, rows * cols);
    place[i] = xor_of((int)at, (stage){c.bits, c.base, c.shift});
  }
}

typedef struct search {
  int fewest, positive, plain, members;
} search;

static void try_all(const copy *c, int copies, int rows, int cols, int vector, int bytes, search *found) {
  static int place[MOST_PLACES];
  *found = (search){INT32_MAX, INT32_MAX, -1, 0};
  for (int order = 0; order < 2; order++)
    for (int bits = 0; bits <= 12; bits++)
      for (int base = 0; base <= 12 && (bits > 0 || base == 0); base++)
        for (int shift = -12; shift <= 12; shift++) {
          bool inside = true;
          if (abs(shift) < bits || (bits == 0 && shift != 0)) continue;
          for (int i = 0; i < rows * cols && inside; i++) {
            const int r = i % rows, k = i / rows;
            place[i] = xor_of(order ? r + k * rows : r * cols + k, (stage){bits, base, shift});
            inside = place[i] < rows * cols;
          }
          if (!inside) continue;
          const int n = count_all(c, copies, place, vector, bytes);
          found->members++;
          if (bits == 0 && !order) found->plain = n;
          if (n < 0) continue;
          if (n < found->fewest) found->fewest = n;
          if (shift >= 0 && n < found->positive) found->positive = n;
        }
}

/* ---- random copies ---- */

static void shuffle(int *list, int n) {
  for (int k = n - 1; k > 0; k--) {
    const int j = below(k + 1), swap = list[k];
    list[k] = list[j];
    list[j] = swap;
  }
}

/* The tile's digits in random order, the first ones to threads: a CuTe text, and its values by the definition. */
static void random_copy(int rows, int cols, int vector, copy *c, char *text, size_t room) {
  int extent[LEAVES], stride[LEAVES], order[LEAVES], n = 0, threads = 0, size = 1;
  const int dim[2] = {rows, cols}, step[2] = {1, rows};
  const int fast = below(2); /* the dim of the vector */
  int first = -1;
  for (int d = 0; d < 2; d++) {
    int left = dim[d], unit = step[d];
    if (d == fast && vector > 1) {
      extent[n] = vector;
      stride[n] = unit;
      first = n++;
      unit *= vector;
      left /= vector;
    }
    while (left > 1) {
      const int factor = left % 2 == 0 ? (left % 4 == 0 && below(2) ? 4 : 2) : left % 3 == 0 ? 3 : left;
      extent[n] = factor;
      stride[n++] = unit;
      unit *= factor;
      left /= factor;
    }
  }
  for (int k = 0; k < n; k++) order[k] = k;
  shuffle(order, n);
  for (int k = 0; k < n && first >= 0; k++) /* the vector is the fastest value */
    if (order[k] == first) {
      for (int j = k; j + 1 < n; j++) order[j] = order[j + 1];
      order[n - 1] = first;
    }
  const int wanted = 16 << below(3), most = first >= 0 ? n - 1 : n;
  while (threads < most && size < wanted) size *= extent[order[threads++]];
  c->threads = size;
  c->values = rows * cols / size;
  char shapes[2][120] = {"", ""}, strides[2][120] = {"", ""};
  int part[2][LEAVES], parts[2] = {0, 0};
  for (int k = 0; k < threads; k++) part[0][parts[0]++] = order[k];
  if (first >= 0) part[1][parts[1]++] = first;
  for (int k = threads; k < most; k++) part[1][parts[1]++] = order[k];
  for (int p = 0; p < 2; p++)
    for (int k = 0; k < parts[p]; k++) {
      const size_t a = strlen(shapes[p]), b = strlen(strides[p]);
      snprintf(shapes[p] + a, sizeof shapes[p] - a, "%s%d", k ? "," : "", extent[part[p][k]]);
      snprintf(strides[p] + b, sizeof strides[p] - b, "%s%d", k ? "," : "", stride[part[p][k]]);
    }
  for (int p = 0; p < 2; p++)
    if (parts[p] == 0) {
      strcpy(shapes[p], "1");
      strcpy(strides[p], "0");
    }
  snprintf(text, room, "((%s),(%s)):((%s),(%s))", shapes[0], shapes[1], strides[0], strides[1]);
  for (int t = 0; t < c->threads; t++)
    for (int v = 0; v < c->values; v++) {
      int at = 0, rest = t;
      for (int k = 0; k < parts[0]; k++) {
        at += rest % extent[part[0][k]] * stride[part[0][k]];
        rest /= extent[part[0][k]];
      }
      rest = v;
      for (int k = 0; k < parts[1]; k++) {
        at += rest % extent[part[1][k]] * stride[part[1][k]];
        rest /= extent[part[1][k]];
      }
      c->element[t * c->values + v] = at;
    }
}

static tesela_any_layout read_any(const char *text, const char *notation, const char *as) {
  const tesela_layout_read_options options = {.notation = notation, .as = as};
  tesela_any_layout any;
  tesela_error err;
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return any;
}

static void test_copies(void **unused) {
  (void)unused;
  static const struct {
    int rows, cols;
  } tiles[] = {{32, 32}, {16, 64}, {64, 16}, {8, 64}, {64, 64}, {24, 32}, {48, 16}, {32, 12}};
  int improved = 0, conflicts = 0, found_none = 0, vectors = 0, better_negative = 0, compared = 0;
  const char *wanted = getenv("TESELA_CASES");
  const int cases = wanted ? atoi(wanted) : slow_run() ? 10 : 60;
  state = first_seed() | 1;
  for (int i = 0; i < cases; i++) {
    static copy c[2];
    static int place[MOST_PLACES];
    const int tile = below(8), bytes = 1 << below(3), vector = 1 << below(3);
    const int rows = tiles[tile].rows, cols = tiles[tile].cols;
    char text[2][512], as[32], cute[512];
    tesela_register registers[2];
    tesela_access_use uses[2];
    tesela_synthesis s;
    tesela_error err;
    search all;
    snprintf(as, sizeof as, "tv:%dx%d", rows, cols);
    for (int k = 0; k < 2; k++) {
      random_copy(rows, cols, vector, &c[k], text[k], sizeof text[k]);
      registers[k] = read_any(text[k], "register", as).registers;
      uses[k] = (tesela_access_use){.registers = &registers[k], .vector = vector};
    }
    try_all(c, 2, rows, cols, vector, bytes, &all);
    compared += all.members;
    const tesela_status status = tesela_synthesize(
        2, uses, bytes * 8, &(tesela_synthesis_options){.max_bytes = rows * cols * bytes}, NULL, &s, &err);
    if (status == TESELA_E_INVALID) {
      if (all.fewest != INT32_MAX) fail_msg("%s, %s: %s", text[0], text[1], err.message);
      found_none++;
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s, %s: %s", text[0], text[1], err.message);
    /* the answer as CuTe text, counted by the oracle */
    tesela_any_layout answer = {.kind = TESELA_KIND_SHARED, .memory = s.memory};
    tesela_translation t;
    tesela_buffer buffer = {cute, sizeof cute, 0};
    const tesela_writer to = tesela_buffer_writer(&buffer);
    assert_int_equal(tesela_translate(&answer, "cute", &to, &t, &err), TESELA_OK);
    assert_int_equal(t.verdict, TESELA_EXACT);
    places_of_text(cute, rows, cols, place);
    const int counted = count_all(c, 2, place, vector, bytes);
    if (counted != s.wavefronts || s.plain != all.plain)
      fail_msg("%s, %s in %s: %" PRId64 " wavefronts, row-major %" PRId64 "; the oracle counts %d, %d",
               text[0], text[1], cute, s.wavefronts, s.plain, counted, all.plain);
    if (all.fewest < s.wavefronts)
      fail_msg("%s, %s, %d bytes by %d: %s has %" PRId64 " wavefronts; some Sw has %d", text[0], text[1],
               bytes, vector, cute, s.wavefronts, all.fewest);
    better_negative += all.fewest < all.positive;
    /* the cost of each copy, the layout read from its CuTe text */
    const tesela_tile_memory memory = read_any(cute, "shared", NULL).memory;
    int64_t sum = 0, phases = 0;
    for (int k = 0; k < 2; k++) {
      tesela_access_cost cost;
      assert_int_equal(tesela_access_cost_of(&registers[k], &memory, bytes * 8, vector, NULL, &cost, &err),
                       TESELA_OK);
      assert_int_equal(cost.wavefronts, count_wavefronts(&c[k], place, vector, bytes));
      sum += cost.wavefronts;
      phases += cost.phases;
    }
    assert_int_equal(sum, s.wavefronts);
    improved += s.plain < 0 || s.wavefronts < s.plain;
    conflicts += sum > phases;
    vectors += vector > 1;
  }
  print_message("%d pairs of copies, %d with vectors; %d better than row-major, %d with conflicts left, %d "
                "impossible; %d layouts tried\n",
                cases, vectors, improved, conflicts, found_none, compared);
  print_message("in %d pairs only a negative shift has the fewest\n", better_negative);
  if (cases >= 60) assert_true(improved * 4 > cases && conflicts > 0 && vectors > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
