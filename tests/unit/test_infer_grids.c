/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer_grids.c - a grid of warps that leads to a conflict is replaced, and a kernel that is refused has no grids that work.
 *
 * Random programs of two or three products are tried with all grids that warps= can say, and run by the definition
 * (support_infer.c): where one runs, the program without warps= has layouts. TESELA_SEED sets the seed.
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

#include "support_infer.h"
#include "support_seed.h"

enum { MOST_PRODUCTS = 3, MOST_GRIDS = 40 };

static uint64_t chance_state;

static int64_t chance(int64_t n) {
  chance_state ^= chance_state << 13;
  chance_state ^= chance_state >> 7;
  chance_state ^= chance_state << 17;
  return (int64_t)(chance_state >> 11) % n;
}

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

#define ATTENTION                        \
  "threads 128\n"                        \
  "register q: f16[64, 64]\n"            \
  "register k: f16[64, 128]\n"           \
  "register v: f16[128, 64]\n"           \
  "register s: f32[64, 128]\n"           \
  "register t: f32[64, 1]\n"             \
  "register e: f32[64, 128]\n"           \
  "register p: f16[64, 128]\n"           \
  "register o: f32[64, 64]\n"            \
  "dot s, q, k\n"                        \
  "reduce t, s dims=[1] keepdims=True\n" \
  "elementwise e, s, t\n"                \
  "cast p, e\n"                          \
  "dot o, p, v\n"

/* [2, 2] needs the fewest registers of s, but then half of each row of p is in other warps than those that need it. */
static void attention_has_its_layouts_without_warps(void **state) {
  (void)state;
  tesela_error err = {.message = ""};
  tesela_kernel_program *program = infer_program("attention", ATTENTION);
  if (tesela_kernel_program_infer(program, &err) != TESELA_OK) fail_msg("%s", err.message);
  assert_string_equal(infer_tensor(program, "s").rule,
                      "line 10, dot: grid of warps chosen, [4, 1] after a conflict");
  assert_string_equal(infer_tensor(program, "o").rule, "line 14, dot: from operand A");
  assert_false(tesela_kernel_program_conflict(program)->found);
  infer_run run = infer_simulate(program, ATTENTION);
  if (run.line != 0) fail_msg("line %" PRId64 ": %s", run.line, run.what);
  char first[4000], second[4000]; /* again: the same */
  tesela_buffer buffers[] = {{first, sizeof first, 0}, {second, sizeof second, 0}};
  for (int i = 0; i < 2; i++) {
    tesela_writer to = tesela_buffer_writer(&buffers[i]);
    assert_int_equal(tesela_kernel_program_print(program, &to, NULL), TESELA_OK);
    assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_OK);
  }
  assert_string_equal(first, second);
  tesela_kernel_program_destroy(program);
}

/* A contradiction that no product has a part in is not searched. */
static void a_contradiction_is_known_at_once(void **state) {
  (void)state;
  static const char before[] =
      "threads 128\nregister x: f32[128] = spatial(128)\nregister y: f32[128] = replicated(128, "
      "num_workers=128).spatial(1)\nregister z: f32[128] = replicated(128, num_workers=128)\n"
      "register a: f16[64, 64]\nregister b: f16[64, 64]\nregister c: f32[64, 64]\ndot c, a, b\ncopy z, x\n";
  tesela_kernel_program *program = infer_program("contradiction", before);
  assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_E_INVALID);
  const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
  assert_int_equal(conflict->line, 9);
  assert_int_equal(conflict->grids_tried, 1);
  assert_false(conflict->grids_left);
  tesela_kernel_program_destroy(program);
}

/* Of 12 products with 6 grids each the last one's sums are wanted in every thread, where no grid leaves them. */
static void the_search_ends_at_its_limit(void **state) {
  (void)state;
  static char text[20000];
  size_t n = (size_t)snprintf(text, sizeof text, "threads 128\n");
  for (int i = 0; i < 12; i++)
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "register a%d: f16[64, 64]\nregister b%d: f16[64, 64]\nregister c%d: f32[64, 64]\n"
                          "dot c%d, a%d, b%d\n",
                          i, i, i, i, i, i);
  snprintf(text + n, sizeof text - n,
           "register r: f32[64] = replicated(64, num_workers=128)\nreduce r, c11 dims=[1]\n");
  tesela_kernel_program *program = infer_program("limit", text);
  assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_E_INVALID);
  const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
  assert_int_equal(conflict->grids_tried, TESELA_KERNEL_GRIDS);
  assert_true(conflict->grids_left);
  static char table[40000];
  tesela_buffer buffer = {table, sizeof table, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_kernel_program_print(program, &to, NULL), TESELA_OK);
  assert_non_null(strstr(table, "  tried 256 choices of warps, each with a conflict; more remain untried\n"));
  tesela_kernel_program_destroy(program);
}

/* ---- all grids ------------------------------------------------------------------------------------------------------- */

typedef struct product {
  int64_t m, n; /* in tiles of 16 x 8 */
} product;

typedef struct kernel {
  char head[2500];               /* all lines before the products */
  char line[MOST_PRODUCTS][400]; /* each product and what follows it; " @" where warps= may stand */
  product product[MOST_PRODUCTS];
  int32_t n;
  int64_t warps;
} kernel;

/* Tiles dealt to the warps at random: some to warps, the others local. */
static void put_tiles(char *text, size_t room, int64_t m, int64_t n, int64_t warps, const char *fragment) {
  int64_t rows = 1, columns = 1;
  while (warps % (2 * rows) == 0 && m % (2 * rows) == 0 && chance(2)) rows *= 2;
  while (warps / rows % (2 * columns) == 0 && n % (2 * columns) == 0 && chance(2)) columns *= 2;
  snprintf(text, room,
           " = replicated(1, 1, num_workers=%" PRId64 ").spatial(%" PRId64 ", %" PRId64 ").local(%" PRId64
           ", %" PRId64 ") * mma.m16n8k16.f16.%s",
           warps / rows / columns, rows, columns, m / rows, n / columns, fragment);
}

/* c1 = x b1; c2 = (c1 in 16 bits) b2; perhaps once more, and perhaps by a sum of rows; some layouts given. */
static kernel random_kernel(void) {
  static const int64_t extents[] = {1, 2, 2, 4};
  kernel k = {.n = 2 + (int32_t)(chance(4) == 0), .warps = INT64_C(1) << (1 + chance(2))};
  int64_t m = extents[chance(4)], inner = extents[chance(3)]; /* in tiles of 16 */
  size_t at = 0;
  char given[300];
#define PUT(...) at += (size_t)snprintf(k.head + at, sizeof k.head - at, __VA_ARGS__)
  PUT("threads %" PRId64 "\nregister x: f16[%" PRId64 ", %" PRId64 "]\n", 32 * k.warps, 16 * m, 16 * inner);
  for (int32_t i = 0; i < k.n; i++) {
    int64_t n = 2 * extents[chance(3)]; /* in tiles of 8 */
    k.product[i] = (product){m, n};
    given[0] = '\0';
    if (chance(5) == 0) put_tiles(given, sizeof given, inner, n, k.warps, "B");
    PUT("register b%d: f16[%" PRId64 ", %" PRId64 "]%s\n", i, 16 * inner, 8 * n, given);
    given[0] = '\0';
    if (i > 0 && chance(5) == 0) put_tiles(given, sizeof given, m, n, k.warps, "C");
    PUT("register c%d: f32[%" PRId64 ", %" PRId64 "]%s\n", i, 16 * m, 8 * n, given);
    PUT("register h%d: f16[%" PRId64 ", %" PRId64 "]\n", i, 16 * m, 8 * n);
    PUT("register e%d: f32[%" PRId64 ", %" PRId64 "]\n", i, 16 * m, 8 * n);
    given[0] = '\0';
    if (chance(4) == 0) put_tiles(given, sizeof given, m, n, k.warps, "C");
    PUT("register t%d: f32[%" PRId64 ", 1]%s%s%s\n", i, 16 * m, given[0] ? " = reduce(" : "",
        given[0] ? given + strlen(" = ") : "", given[0] ? ", dims=[1], keepdims=True)" : "");
    char left[16] = "x";
    if (i > 0) snprintf(left, sizeof left, "h%d", i - 1);
    if (chance(2))
      snprintf(k.line[i], sizeof k.line[i],
               "dot c%d, %s, b%d @\nreduce t%d, c%d dims=[1] keepdims=True\nelementwise e%d, c%d, t%d\n"
               "cast h%d, e%d\n",
               i, left, i, i, i, i, i, i, i, i);
    else
      snprintf(k.line[i], sizeof k.line[i],
               "dot c%d, %s, b%d @\ncast h%d, c%d\nreduce t%d, c%d dims=[1] keepdims=True\n"
               "elementwise e%d, c%d, t%d\n",
               i, left, i, i, i, i, i, i, i, i);
    inner = n / 2;
  }
#undef PUT
  return k;
}

/* The text with these warps; NULL: none. */
static void put_text(const kernel *k, const int64_t (*warps)[2], char *text, size_t room) {
  size_t n = (size_t)snprintf(text, room, "%s", k->head);
  for (int32_t i = 0; i < k->n; i++) {
    const char *mark = strchr(k->line[i], '@');
    n += (size_t)snprintf(text + n, room - n, "%.*s", (int)(mark - k->line[i]), k->line[i]);
    if (warps)
      n += (size_t)snprintf(text + n, room - n, "warps=[%" PRId64 ", %" PRId64 "]", warps[i][0], warps[i][1]);
    n += (size_t)snprintf(text + n, room - n, "%s", mark + 1);
  }
}

/* All that warps= may say of a product. */
static int32_t grids_of(const kernel *k, int32_t i, int64_t (*grids)[2]) {
  int32_t n = 0;
  for (int64_t rows = 1; rows <= k->warps; rows++)
    for (int64_t columns = 1; rows * columns <= k->warps; columns++)
      if (k->warps % (rows * columns) == 0 && k->product[i].m % rows == 0 && k->product[i].n % columns == 0) {
        grids[n][0] = rows;
        grids[n++][1] = columns;
      }
  return n;
}

/* Does the program run with these layouts? */
static bool runs(const char *text, tesela_status *status) {
  tesela_kernel_program *program = infer_program(text, text);
  *status = tesela_kernel_program_infer(program, NULL);
  bool ok = *status != TESELA_E_UNSUPPORTED && infer_simulate(program, text).line == 0;
  tesela_kernel_program_destroy(program);
  return ok;
}

/* Does it run with any grids? The number that were tried in *n. */
static bool any_grids_run(const kernel *k, char *text, size_t room, int64_t *n) {
  int64_t grids[MOST_PRODUCTS][MOST_GRIDS][2], warps[MOST_PRODUCTS][2];
  int32_t count[MOST_PRODUCTS], at[MOST_PRODUCTS] = {0};
  for (int32_t i = 0; i < k->n; i++) count[i] = grids_of(k, i, grids[i]);
  for (;;) {
    int32_t i = 0;
    tesela_status status;
    for (int32_t j = 0; j < k->n; j++) memcpy(warps[j], grids[j][at[j]], sizeof warps[j]);
    put_text(k, (const int64_t(*)[2])warps, text, room);
    ++*n;
    if (runs(text, &status)) return true;
    while (i < k->n && ++at[i] == count[i]) at[i++] = 0;
    if (i == k->n) return false;
  }
}

static void what_is_refused_has_no_grids(void **state) {
  (void)state;
  int64_t n_ok = 0, n_changed = 0, n_conflict = 0, n_tried = 0;
  for (uint64_t i = 0; i < (slow_run() ? 25 : 100); i++) {
    static char text[8000], other[8000];
    chance_state = (first_seed() * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int j = 0; j < 4; j++) chance(2);
    kernel k = random_kernel();
    put_text(&k, NULL, text, sizeof text);
    tesela_kernel_program *program = infer_program(text, text);
    tesela_error err = {.message = ""};
    tesela_status status = tesela_kernel_program_infer(program, &err);
    infer_run run = infer_simulate(program, text);
    const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
    if ((status == TESELA_OK) != (run.line == 0))
      fail_msg("program %" PRIu64 ": %s, but %s\n%s", i, err.message, run.what, text);
    for (int32_t t = 0; t < tesela_kernel_program_count(program); t++)
      if (strstr(tesela_kernel_program_tensor(program, t).rule, "after a conflict")) {
        n_changed++;
        break;
      }
    if (status != TESELA_OK) {
      if (conflict->grids_left) fail_msg("program %" PRIu64 ": the search ended early\n%s", i, text);
      if (any_grids_run(&k, other, sizeof other, &n_tried))
        fail_msg("program %" PRIu64 ": %s\n%s\nbut this runs:\n%s", i, err.message, text, other);
      n_conflict++;
    }
    n_ok += status == TESELA_OK;
    tesela_kernel_program_destroy(program);
  }
  printf("%" PRId64 " run, %" PRId64 " of them with other grids than the first; %" PRId64
         " conflicts, which %" PRId64 " grids do not mend\n",
         n_ok, n_changed, n_conflict, n_tried);
  if (!slow_run()) assert_true(n_ok > 40 && n_changed > 10 && n_conflict > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attention_has_its_layouts_without_warps),
      cmocka_unit_test(a_contradiction_is_known_at_once),
      cmocka_unit_test(the_search_ends_at_its_limit),
      cmocka_unit_test(what_is_refused_has_no_grids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
