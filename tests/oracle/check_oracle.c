/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_oracle.c - checks of the oracle itself, and an interface for other programs.
 *
 *   check_oracle [FIRST [COUNT]]    known answers, planted faults, both formulations on COUNT random
 *                                   arrays (default: 20000 from seed 1); "N passed, 0 failed"
 *   check_oracle --random FIRST COUNT
 *                                   prints random arrays: "array TEXT", the answers, "end"
 *   check_oracle --stdin            reads one array per line, answers each
 *
 * A line contains only integers, -1 for `*`:
 *
 *   rank dim... minor_to_major... n_tiles (tile_rank entry...)... L type_bytes E
 *   n_splits (physical_dim n_cuts cut...)... n_points (coordinate...)...
 *
 * The answer has one fact per line: elements, bytes, allocated, "bounds LEVEL b..." for every level from 0, "point
 * INDEX -> OFFSET" for each point, "image n..." with -1 for padding (omitted above IMAGE_LIMIT elements), "end". An
 * invalid line ends the program with exit code 2.
 */
#include "xla_oracle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_LIMIT = 200000, MAX_SPLITS = ORACLE_MAX_RANK };

static int64_t n_passed, n_failed;

static void check(const char *name, int64_t got, int64_t want) {
  if (got == want) {
    n_passed++;
    return;
  }
  n_failed++;
  fprintf(stderr, "%s: %" PRId64 ", not %" PRId64 "\n", name, got, want);
}

/* ---- arrays as lines of numbers ---- */

/* The next integer of *at, from low to high; otherwise sets *at to NULL, for all later calls, too. */
static int64_t take(const char **at, int64_t low, int64_t high) {
  if (!*at) return low;
  char *end;
  errno = 0;
  long long number = strtoll(*at, &end, 10);
  if (end == *at || errno != 0 || number < low || number > high) {
    *at = NULL;
    return low;
  }
  *at = end;
  return number;
}

/* The fields up to E. */
static struct oracle_array take_array(const char **at) {
  struct oracle_array a = {0};
  a.rank = (int)take(at, 0, ORACLE_MAX_RANK);
  for (int d = 0; d < a.rank; d++) a.dim[d] = take(at, 0, INT64_MAX);
  for (int d = 0; d < a.rank; d++) a.minor_to_major[d] = (int)take(at, 0, a.rank - 1);
  a.n_tiles = (int)take(at, 0, ORACLE_MAX_TILES);
  for (int k = 0; k < a.n_tiles; k++) {
    a.tile_rank[k] = (int)take(at, 1, ORACLE_MAX_TILE_RANK);
    for (int i = 0; i < a.tile_rank[k]; i++) a.tile[k][i] = take(at, ORACLE_COMBINE, INT64_MAX);
  }
  a.tail = take(at, 1, INT64_MAX);
  a.type_bytes = take(at, 1, 16);
  a.e_bits = take(at, 0, 1 << 20);
  a.bits = (int)(a.e_bits != 0 ? a.e_bits : 8 * a.type_bytes);
  return a;
}

/* The splits; returns their number. */
static int take_splits(const char **at, int rank, struct oracle_split splits[MAX_SPLITS]) {
  int n_splits = (int)take(at, 0, MAX_SPLITS);
  for (int s = 0; s < n_splits; s++) {
    splits[s].dim = (int)take(at, 0, rank - 1);
    splits[s].n_cuts = (int)take(at, 1, ORACLE_MAX_CUTS);
    for (int i = 0; i < splits[s].n_cuts; i++) splits[s].cut[i] = take(at, 1, INT64_MAX);
  }
  return n_splits;
}

static struct oracle_array array_of(const char *numbers) { return take_array(&numbers); }

static const char figure_1[] = "2 3 5  1 0  1 2 2 2  1 4 0"; /* f32[3,5]{1,0:T(2,2)} */

/* ---- known answers: computed by hand from the description of the layouts ---- */

/* Not formatted: a wide row would widen the columns of all others. */
/* clang-format off */
static const struct {
  const char *text, *numbers;
  int64_t index[5], place, elements, bytes, allocated;
} known_rows[] = {
    {"f32[3,5]{1,0:T(2,2)}", figure_1, {2, 3}, 17, 24, 96, 96},
    {"f32[8,8]{1,0:T(2,4)(2,1,1,1)}", "2 8 8  1 0  2 2 2 4 4 2 1 1 1  1 4 0", {6, 5}, 51, 64, 256, 256},
    {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
     "5 2 7 8 11 10  4 3 2 1 0  1 5 -1 -1 2 -1 3  1 4 0", {1, 6, 7, 10, 9}, 12430, 12432, 49728, 49728},
    {"f32[2,3]{0,1}", "2 2 3  0 1  0  1 4 0", {0, 2}, 4, 6, 24, 24},
    {"u32[]{:T(128)}", "0  1 1 128  1 4 0", {0}, 0, 128, 512, 512},
    {"f32[8]{0:T(2,2)}", "1 8  0  1 2 2 2  1 4 0", {5}, 9, 16, 64, 64},
    {"f32[3]{0:T(8,128)}", "1 3  0  1 2 8 128  1 4 0", {2}, 2, 1024, 4096, 4096},
    {"f32[8,8]{1,0:T(4,4)(3,1)}", "2 8 8  1 0  2 2 4 4 2 3 1  1 4 0", {3, 0}, 12, 96, 384, 256},
    {"bf16[]{:T(512)(2,1)}", "0  2 1 512 2 2 1  1 2 0", {0}, 0, 1024, 2048, 1024},
    {"f32[3]{0:L(8)}", "1 3  0  0  8 4 0", {2}, 2, 8, 32, 12},
    {"f32[3]{0:L(2)}", "1 3  0  0  2 4 0", {2}, 2, 4, 16, 12},
    {"f32[200001,128]{1,0:T(8)L(1024)}", "2 200001 128  1 0  1 1 8  1024 4 0",
     {200000, 127}, 25600127, 25601024, 102404096, 102404096},
    {"s4[3,3]{1,0:T(2,2)E(4)}", "2 3 3  1 0  1 2 2 2  1 1 4", {2, 1}, 9, 16, 8, 8},
    {"s4[3]{0:E(3)}", "1 3  0  0  1 1 3", {2}, 2, 3, 2, 2},
    {"f32[4,0]{1,0:T(8,128)L(1024)}", "2 4 0  1 0  1 2 8 128  1024 4 0", {0, 0}, -1, 0, 0, 0},
};
/* clang-format on */

static void check_known(void) {
  for (size_t r = 0; r < sizeof known_rows / sizeof known_rows[0]; r++) {
    const char *name = known_rows[r].text;
    const struct oracle_array a = array_of(known_rows[r].numbers);
    char type_word[16] = "", text[256];
    memcpy(type_word, name, strcspn(name, "["));
    check(name, oracle_print(&a, type_word, text, sizeof text), (int64_t)strlen(name));
    check(name, strcmp(text, name), 0);
    check(name, oracle_place(&a, known_rows[r].index), known_rows[r].place);
    check(name, oracle_elements(&a), known_rows[r].elements);
    check(name, oracle_bytes(&a), known_rows[r].bytes);
    check(name, oracle_allocated_bytes(&a, NULL, 0), known_rows[r].allocated);
  }
  /* u8[150,200,100]{0,1,2:T(1)SC(0:30)(1:40,130)}: parts of 70 and 90, and the whole 150. */
  const char *numbers = "3 150 200 100  0 1 2  1 1 1  1 1 0  2 0 1 30 1 2 40 130";
  struct oracle_split splits[MAX_SPLITS];
  struct oracle_array a = take_array(&numbers);
  int n_splits = take_splits(&numbers, a.rank, splits);
  check("two splits", n_splits, 2);
  check("largest parts", oracle_allocated_bytes(&a, splits, n_splits), 945000);
  check("splits move nothing", oracle_bytes(&a), 3000000);
}

/* ---- planted faults: a wrong image must be detected ---- */

static void check_faults(void) {
  static int64_t image[64], other[64];
  const struct oracle_array a = array_of(figure_1);
  struct oracle_array b = a;
  int64_t length = oracle_image(&a, image, 64);
  check("the image is right", oracle_disagreements(&a, image, length), 0);
  check("one short of room", oracle_image(&a, other, length - 1), -1);
  for (int64_t i = 0; i < length; i++) { /* exchange any two different places */
    for (int64_t j = 0; j < i; j++) {
      if (image[i] == image[j]) continue;
      memcpy(other, image, sizeof image);
      other[i] = image[j];
      other[j] = image[i];
      check("an exchange is noticed", oracle_disagreements(&a, other, length) > 0, 1);
    }
  }
  memcpy(other, image, sizeof image);
  other[length - 1] = 0;
  check("a duplicate in padding is noticed", oracle_disagreements(&a, other, length) > 0, 1);
  check("a short image is noticed", oracle_disagreements(&a, image, length - 1) > 0, 1);
  b.minor_to_major[0] = 0;
  b.minor_to_major[1] = 1;
  check("another order is noticed", oracle_disagreements(&b, image, length) > 0, 1);
  b = a;
  b.tile[0][0] = 4;
  b.tile[0][1] = 1;
  check("another tile is noticed", oracle_disagreements(&b, image, length) > 0, 1);
  b = a;
  b.tail = 25;
  check("a forgotten tail is noticed", oracle_disagreements(&b, image, length) > 0, 1);
}

/* ---- invalid arrays --------------------- */

static void check_invalid(void) {
  const struct oracle_array good = array_of(figure_1);
  const int64_t outside[2][2] = {{3, 0}, {0, -1}}, inside[2] = {0, 0};
  struct oracle_array a[12];
  for (int i = 0; i < 12; i++) a[i] = good;
  a[0].rank = -1;
  a[1].dim[0] = -3;
  a[2].minor_to_major[0] = 0;
  a[3].minor_to_major[0] = 2;
  a[4].n_tiles = ORACLE_MAX_TILES + 1;
  a[5].tile_rank[0] = 0;
  a[6].tile[0][0] = 0;
  a[7].tile[0][1] = ORACLE_COMBINE;
  a[8].tail = 0;
  a[9].e_bits = 4;
  a[10].type_bytes = 0;
  a[11].rank = ORACLE_MAX_RANK + 1;
  for (int i = 0; i < 12; i++) {
    check("refused", oracle_invalid(&a[i]) != NULL, 1);
    check("no place", oracle_place(&a[i], inside), -1);
    check("no bytes", oracle_allocated_bytes(&a[i], NULL, 0), -1);
  }
  check("good", oracle_invalid(&good) == NULL, 1);
  check("past the end", oracle_place(&good, outside[0]), -1);
  check("before the start", oracle_place(&good, outside[1]), -1);
}

/* ---- the variety of random arrays ------ */

static void check_coverage(void) {
  enum { SCALAR, EMPTY, UNTILED, DEEP, WIDE, JOINED, PADDED, NO_PAD, TAIL, WIDTH, ORDER, KINDS };
  static const char *const names[KINDS] = {
      "rank 0",
      "a zero dim",
      "no tile",
      "three tiles",
      "tile above the rank",
      "a joined bound",
      "padding",
      "tiles without padding",
      "L",
      "E",
      "another order",
  };
  int64_t seen[KINDS] = {0};
  for (uint64_t seed = 1; seed <= 2000; seed++) {
    struct oracle_array a;
    oracle_random(seed, ORACLE_RANDOM_ELEMENTS, &a, NULL);
    int64_t bound[ORACLE_MAX_BOUNDS], padded = oracle_elements(&a), count = oracle_count(&a);
    seen[SCALAR] += a.rank == 0;
    seen[EMPTY] += count == 0;
    seen[UNTILED] += a.n_tiles == 0;
    seen[DEEP] += a.n_tiles == 3;
    seen[PADDED] += padded > count;
    seen[NO_PAD] += a.n_tiles > 0 && padded == count;
    seen[TAIL] += a.tail > 1;
    seen[WIDTH] += a.e_bits != 0;
    seen[ORDER] += a.rank > 1 && a.minor_to_major[0] != a.rank - 1;
    for (int k = 0; k < a.n_tiles; k++) {
      seen[WIDE] += a.tile_rank[k] > oracle_bounds(&a, k, bound);
      for (int i = 0; i < a.tile_rank[k]; i++) seen[JOINED] += a.tile[k][i] == ORACLE_COMBINE;
    }
  }
  for (int kind = 0; kind < KINDS; kind++) check(names[kind], seen[kind] >= 50, 1);
}

/* ---- answers for other programs ----- */

static void answer(const struct oracle_array *a, const struct oracle_split *splits, int n_splits) {
  int64_t bound[ORACLE_MAX_BOUNDS];
  printf("elements %" PRId64 "\nbytes %" PRId64 "\nallocated %" PRId64 "\n", oracle_elements(a),
         oracle_bytes(a), oracle_allocated_bytes(a, splits, n_splits));
  for (int level = 0; level <= a->n_tiles; level++) {
    int n = oracle_bounds(a, level, bound);
    printf("bounds %d", level);
    for (int i = 0; i < n; i++) printf(" %" PRId64, bound[i]);
    printf("\n");
  }
}

static void answer_point(const struct oracle_array *a, const int64_t *index) {
  printf("point");
  for (int d = 0; d < a->rank; d++) printf(" %" PRId64, index[d]);
  printf(" -> %" PRId64 "\n", oracle_place(a, index));
}

static void answer_image(const struct oracle_array *a) {
  static int64_t image[IMAGE_LIMIT];
  int64_t length = oracle_image(a, image, IMAGE_LIMIT);
  if (length >= 0) {
    printf("image");
    for (int64_t i = 0; i < length; i++) printf(" %" PRId64, image[i]);
    printf("\n");
  }
  printf("end\n");
}

static int print_random(uint64_t first, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    struct oracle_array a;
    const char *type_word;
    char text[512];
    int64_t index[ORACLE_MAX_RANK];
    oracle_random(first + (uint64_t)i, ORACLE_RANDOM_ELEMENTS, &a, &type_word);
    oracle_print(&a, type_word, text, sizeof text);
    printf("array %s\n", text);
    answer(&a, NULL, 0);
    for (int64_t number = 0; number < oracle_count(&a); number += 1 + number / 4)
      if (oracle_index(&a, number, index) == 0) answer_point(&a, index);
    answer_image(&a);
  }
  return 0;
}

static int answer_line(const char *at) {
  static struct oracle_split splits[MAX_SPLITS];
  int64_t index[ORACLE_MAX_RANK];
  struct oracle_array a = take_array(&at);
  int n_splits = take_splits(&at, a.rank, splits);
  int64_t n_points = take(&at, 0, INT64_MAX);
  if (!at || oracle_invalid(&a)) {
    fprintf(stderr, "not an array: %s\n", at ? oracle_invalid(&a) : "a number is missing or wrong");
    return -1;
  }
  answer(&a, splits, n_splits);
  for (int64_t p = 0; p < n_points && at; p++) {
    for (int d = 0; d < a.rank; d++) index[d] = take(&at, INT64_MIN, INT64_MAX);
    if (at) answer_point(&a, index);
  }
  if (!at || at[strspn(at, " \t\r\n")] != '\0') {
    fprintf(stderr, "the points are too few or too many\n");
    return -1;
  }
  answer_image(&a);
  return 0;
}

static int answer_stdin(void) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    if (answer_line(line) != 0) return 2;
    fflush(stdout);
  }
  return ferror(stdin) ? 2 : 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--stdin") == 0) return answer_stdin();
  if (argc == 4 && strcmp(argv[1], "--random") == 0)
    return print_random(strtoull(argv[2], NULL, 10), strtoll(argv[3], NULL, 10));
  if (argc > 3 || (argc > 1 && argv[1][0] == '-')) {
    fprintf(stderr, "usage: check_oracle [FIRST [COUNT]] | --random FIRST COUNT | --stdin\n");
    return 2;
  }
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 20000;
  check_known();
  check_faults();
  check_invalid();
  check_coverage();
  int64_t failed = oracle_self_test(first, count, stderr);
  n_passed += count - failed;
  n_failed += failed;
  printf("%" PRId64 " passed, %" PRId64 " failed\n", n_passed, n_failed);
  return n_failed != 0;
}
