/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_draw_arena.c - pictures of memory plans, cell by cell against a count of every step and byte.
 */
#include "support_arena.h"
#include "support_fault.h"
#include "support_seed.h"

#include <tesela/draw.h>

enum { STEPS = 90, BYTES = 120, ROOM = 1 << 16 };

static char text[ROOM];

/* Draw into `text`; the picture must not be cut off. */
static tesela_status draw(int32_t n, const tesela_arena_buffer *b, const tesela_draw_arena_options *options,
                          char *marks, tesela_error *err) {
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  return tesela_draw_arena(n, b, options, marks, &to, err);
}

static tesela_arena_buffer placed(int64_t lower, int64_t upper, int64_t size, int64_t offset) {
  return (tesela_arena_buffer){.lower = lower, .upper = upper, .size = size, .offset = offset};
}

/* ---- by hand -------------------------------------------------------------------------------------------------- */

static void the_example_of_the_header(void **state) {
  (void)state;
  tesela_arena_buffer b[] = {placed(0, 3, 4, 0), placed(1, 5, 2, 4), placed(3, 6, 4, 0)};
  tesela_draw_arena_options options = {.width = 40};
  char marks[3];
  OK(draw(3, b, &options, marks, &e_));
  assert_string_equal(text, "5 │······bbbbbbbbbbbbbbbbbbbbbbbb······\n"
                            "4 │······bbbbbbbbbbbbbbbbbbbbbbbb······\n"
                            "3 │aaaaaaaaaaaaaaaaaacccccccccccccccccc\n"
                            "2 │aaaaaaaaaaaaaaaaaacccccccccccccccccc\n"
                            "1 │aaaaaaaaaaaaaaaaaacccccccccccccccccc\n"
                            "0 │aaaaaaaaaaaaaaaaaacccccccccccccccccc\n"
                            "  └┬───────────┬───────────┬───────────\n"
                            "   0           2           4\n"
                            "A row is 1 byte, a column 1 step; · is free.\n");
  assert_memory_equal(marks, "abc", 3);
  options.ascii = true;
  options.max_rows = 4; /* two bytes a row */
  OK(draw(3, b, &options, NULL, &e_));
  assert_string_equal(text, "4 |......bbbbbbbbbbbbbbbbbbbbbbbb......\n"
                            "2 |aaaaaaaaaaaaaaaaaacccccccccccccccccc\n"
                            "0 |aaaaaaaaaaaaaaaaaacccccccccccccccccc\n"
                            "  ++-----------+-----------+-----------\n"
                            "   0           2           4\n"
                            "A row is 2 bytes, a column 1 step; . is free.\n");
}

static void what_is_left_out(void **state) {
  (void)state;
  tesela_arena_buffer b[] = {placed(0, 4, 8, TESELA_ARENA_FREE), placed(2, 2, 8, 0), placed(0, 4, 0, 0),
                             placed(5, 9, 8, TESELA_ARENA_SPILLED)};
  char marks[] = "????";
  text[0] = '\0';
  OK(draw(4, b, NULL, marks, &e_));
  assert_string_equal(text, "");
  assert_memory_equal(marks, "    ", 4);
  OK(draw(0, NULL, NULL, NULL, &e_));
  assert_string_equal(text, "");
}

static void numbers_are_checked(void **state) {
  (void)state;
  tesela_error err;
  tesela_arena_buffer b = placed(0, 1, 1, 0);
  tesela_draw_arena_options wide = {.width = 1001}, high = {.max_rows = 1001}, minus = {.width = -1};
  assert_int_equal(draw(-1, &b, NULL, NULL, &err), TESELA_E_RANGE);
  assert_int_equal(draw((1 << 20) + 1, &b, NULL, NULL, &err), TESELA_E_RANGE);
  assert_int_equal(draw(1, &b, &wide, NULL, &err), TESELA_E_RANGE);
  assert_int_equal(draw(1, &b, &high, NULL, &err), TESELA_E_RANGE);
  assert_int_equal(draw(1, &b, &minus, NULL, NULL), TESELA_E_RANGE);
  b = placed(1, 0, 1, 0);
  assert_int_equal(draw(1, &b, NULL, NULL, &err), TESELA_E_RANGE);
  b = placed(0, 1, -1, 0);
  assert_int_equal(draw(1, &b, NULL, NULL, &err), TESELA_E_RANGE);
  b = placed(0, 1, INT64_MAX, 1);
  assert_int_equal(draw(1, &b, NULL, NULL, &err), TESELA_E_OVERFLOW);
  b = placed(INT64_MIN, INT64_MAX, 1, 0);
  assert_int_equal(draw(1, &b, NULL, NULL, &err), TESELA_E_OVERFLOW);
  b = placed(-(INT64_C(1) << 61), INT64_C(1) << 61, INT64_C(1) << 62, 0); /* as much as there may be */
  OK(draw(1, &b, NULL, NULL, &e_));
  assert_non_null(strstr(text, "aaaaaaaa"));
  b = placed(0, 1, 1, 0);
  OK(draw(1, &b, &(tesela_draw_arena_options){.width = 1, .max_rows = 1}, NULL, &e_));
  assert_non_null(strstr(text, "0 │a\n"));
}

/* More buffers than letters: the larger ones have them. */
static void most_cells_get_letters(void **state) {
  (void)state;
  enum { N = 60 };
  tesela_arena_buffer b[N];
  char marks[N];
  for (int k = 0; k < N; k++) b[k] = placed(k, k + 1, k < 8 ? 1 : 2, 0); /* the first 8 are smaller */
  OK(draw(N, b, &(tesela_draw_arena_options){.ascii = true}, marks, &e_));
  for (int k = 0; k < N; k++)
    assert_int_equal(marks[k], k < 8 ? '#' : k < 8 + 26 ? 'a' + k - 8 : 'A' + k - 8 - 26);
  assert_non_null(strstr(text, "\nA row is 1 byte, a column 1 step; . is free, # other buffers.\n"));
}

/* ---- at random ------------------------------------------------------------------------------------------------ */

static uint64_t random_state;
static int64_t below(int64_t n) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((random_state >> 33) % (uint64_t)n);
}

/* Rectangles that do not overlap, in a plane whose every step and byte says which of them is there. */
static int32_t random_plan(tesela_arena_buffer *b, int32_t most, int8_t owner[STEPS][BYTES]) {
  int32_t n = 0;
  memset(owner, -1, STEPS * BYTES);
  for (int32_t tries = 0; tries < 4 * most && n < most; tries++) {
    int64_t lower = below(STEPS), upper = lower + 1 + below(STEPS - lower), offset = below(BYTES);
    int64_t size = 1 + below(BYTES - offset);
    bool clear = true;
    for (int64_t t = lower; t < upper; t++)
      for (int64_t o = offset; o < offset + size; o++) clear = clear && owner[t][o] < 0;
    if (!clear) continue;
    for (int64_t t = lower; t < upper; t++) memset(&owner[t][offset], n, (size_t)size);
    b[n++] = placed(lower, upper, size, offset);
  }
  return n;
}

/* What a cell may show: the owner of most of it, if less than half is free. */
static bool cell_shows(int8_t owner[STEPS][BYTES], int64_t t, int64_t t_end, int64_t o, int64_t o_end,
                       const char *marks, char shown) {
  int64_t count[64] = {0}, used = 0, most = 0;
  for (int64_t i = t; i < t_end; i++)
    for (int64_t j = o; j < o_end; j++)
      if (owner[i][j] >= 0) {
        count[owner[i][j]]++;
        used++;
      }
  if (2 * used <= (t_end - t) * (o_end - o)) return shown == '.';
  for (int k = 0; k < 64; k++) most = count[k] > most ? count[k] : most;
  for (int k = 0; k < 64; k++)
    if (count[k] == most && marks[k] == shown) return true;
  return false;
}

static void check_picture(int32_t n, const tesela_arena_buffer *b, int8_t owner[STEPS][BYTES],
                          const char *marks) {
  int64_t first = INT64_MAX, last = 0, peak = 0, row = 0, column = 0, top = -1;
  for (int32_t k = 0; k < n; k++) {
    first = b[k].lower < first ? b[k].lower : first;
    last = b[k].upper > last ? b[k].upper : last;
    peak = b[k].offset + b[k].size > peak ? b[k].offset + b[k].size : peak;
  }
  const char *key = strstr(text, "A row is ");
  assert_non_null(key);
  assert_int_equal(sscanf(key, "A row is %" SCNd64 " byte%*[s,] a column %" SCNd64, &row, &column), 2);
  for (const char *line = text; strchr(line, '|'); line = strchr(line, '\n') + 1) {
    int64_t offset = strtoll(line, NULL, 10), cells = (last - first + column - 1) / column;
    const char *at = strchr(line, '|') + 1;
    int64_t wide = (strchr(at, '\n') - at) / cells;
    if (top >= 0) assert_int_equal(offset, top - row);
    if (top < 0) assert_true(offset < peak && offset + row >= peak);
    top = offset;
    for (int64_t c = 0; c < cells; c++)
      for (int64_t x = 0; x < wide; x++) {
        int64_t t = first + c * column, t_end = t + column < last ? t + column : last;
        int64_t o_end = offset + row < peak ? offset + row : peak;
        if (!cell_shows(owner, t, t_end, offset, o_end, marks, at[c * wide + x]))
          fail_msg("step %" PRId64 " offset %" PRId64 " shows %c\n%s", t, offset, at[c * wide + x], text);
      }
    if (offset == 0) break;
  }
  assert_int_equal(top, 0);
}

static void random_pictures(void **state) {
  (void)state;
  static int8_t owner[STEPS][BYTES];
  tesela_arena_buffer b[50];
  char marks[64], plain[ROOM];
  random_state = test_seed(20261121);
  for (int round = 0; round < 300; round++) {
    int32_t n = random_plan(b, (int32_t)below(50) + 1, owner);
    tesela_draw_arena_options o = {
        .width = (int32_t)below(120) + 1, .max_rows = (int32_t)below(40) + 1, .ascii = true};
    memset(marks, 0, sizeof marks);
    OK(draw(n, b, &o, marks, &e_));
    check_picture(n, b, owner, marks);
    strcpy(plain, text);
    o.color = true; /* without its escape sequences it is the same */
    OK(draw(n, b, &o, NULL, &e_));
    char *to = text;
    for (const char *at = text; *at; at++)
      if (*at == '\033')
        at = strchr(at, 'm');
      else
        *to++ = *at;
    *to = '\0';
    assert_string_equal(text, plain);
  }
}

/* ---- faults --------------------------------------------------------------------------------------------------- */

static int refuse(void *user, const char *piece, size_t length) {
  (void)user, (void)piece, (void)length;
  return 1;
}

static void faults_are_told(void **state) {
  (void)state;
  tesela_arena_buffer b = placed(0, 3, 4, 0);
  tesela_error err;
  tesela_writer to = {refuse, NULL};
  assert_int_equal(tesela_draw_arena(1, &b, NULL, NULL, &to, &err), TESELA_E_STOPPED);
  fault f = {.countdown = 0};
  tesela_allocator none = fault_allocator(&f);
  tesela_draw_arena_options options = {.allocator = &none};
  assert_int_equal(draw(1, &b, &options, NULL, &err), TESELA_E_MEMORY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example_of_the_header), cmocka_unit_test(what_is_left_out),
      cmocka_unit_test(numbers_are_checked),       cmocka_unit_test(most_cells_get_letters),
      cmocka_unit_test(random_pictures),           cmocka_unit_test(faults_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
