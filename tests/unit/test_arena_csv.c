/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena_csv.c - buffers as CSV text: what is read, what is refused and at which byte, round trips. TESELA_SEED sets the
 * seed.
 */
#include "support_arena.h"
#include "support_fault.h"
#include "support_seed.h"

static tesela_arena_buffer *read_good(const char *text, int32_t *n) {
  tesela_arena_buffer *b = NULL;
  OK(tesela_arena_read_csv(text, strlen(text), &b, n, NULL, &e_));
  assert_non_null(b);
  return b;
}

/* The example of MiniMalloc's own description. */
static void the_published_form(void **state) {
  (void)state;
  static const int64_t rows[5][3] = {{0, 3, 4}, {3, 9, 4}, {0, 9, 4}, {9, 21, 4}, {0, 21, 4}};
  static const char *texts[] = {
      "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n",
      "\xEF\xBB\xBFid,lower,upper,size\r\nb1,0,3,4\r\n\r\nb2 , 3,9\t,4\r\n  "
      "\r\nb3,0,9,+4\r\nb4,9,21,004\r\nb5,0,21,4",
      "buffer,start,end,size\nb1,0,2,4\nb2,3,8,4\nb3,0,8,4\nb4,9,20,4\nb5,0,20,4\n",
      "size,end,begin,buffer_id\n4,2,0,b1\n4,8,3,b2\n4,8,0,b3\n4,20,9,b4\n4,20,0,b5",
      "id,lower,upper,size,hint,gaps\nb1,0,3,4,-1,\nb2,3,9,4,8,\nb3,0,9,4,0, "
      "\n\"b4\",9,21,\"4\",1,\"\"\nb5,0,21,4,1,",
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    int32_t n = 0;
    tesela_arena_buffer *b = read_good(texts[k], &n);
    AGREE(texts[k], n, 5);
    for (int32_t i = 0; i < 5; i++) {
      const char id[] = {'b', (char)('1' + i), '\0'};
      assert_string_equal(b[i].id, id);
      AGREE(texts[k], b[i].lower, rows[i][0]);
      AGREE(texts[k], b[i].upper, rows[i][1]);
      AGREE(texts[k], b[i].size, rows[i][2]);
      AGREE(texts[k], b[i].offset, TESELA_ARENA_FREE);
      AGREE(texts[k], b[i].alignment + b[i].weight, 0);
    }
    tesela_arena_facts facts;
    OK(tesela_arena_plan(n, b, NULL, &facts, &e_));
    AGREE("peak", facts.peak, 12);
    tesela_arena_free(b, NULL);
  }
  tesela_arena_free(NULL, NULL);
}

static void other_columns_and_limits(void **state) {
  (void)state;
  int32_t n;
  tesela_arena_buffer *b =
      read_good("weight,offset,alignment,size,upper,lower,id\n7,-2,64,0,9223372036854775807,"
                "-9223372036854775808,\"a \"\"b\"\", c\"\n0,128,0,9223372036854775807,0,0, \xC3\xA9 ",
                &n);
  AGREE("n", n, 2);
  assert_string_equal(b[0].id, "a \"b\", c");
  assert_string_equal(b[1].id, "\xC3\xA9");
  AGREE("weight", b[0].weight, 7);
  AGREE("offset", b[0].offset, TESELA_ARENA_SPILLED);
  AGREE("alignment", b[0].alignment, 64);
  AGREE("upper", b[0].upper, INT64_MAX);
  AGREE("lower", b[0].lower, INT64_MIN);
  AGREE("offset", b[1].offset, 128);
  AGREE("size", b[1].size, INT64_MAX);
  tesela_arena_free(b, NULL);
  b = read_good("id,lower,upper,size\n", &n); /* a header alone */
  AGREE("n", n, 0);
  tesela_arena_free(b, NULL);
  char text[200];
  snprintf(text, sizeof text, "id,lower,upper,size\n%063d,0,1,1", 7); /* 63 bytes are the most */
  b = read_good(text, &n);
  AGREE("length", strlen(b[0].id), 63);
  tesela_arena_free(b, NULL);
}

#define HEAD "id,lower,upper,size\n" /* 20 bytes */

static void refusals(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t at;
    const char *says;
  } rows[] = {
      {"", TESELA_E_SYNTAX, 0, "missing header line"},
      {"\n \n", TESELA_E_SYNTAX, 3, "missing header line"},
      {"id,lower,upper\n", TESELA_E_SYNTAX, 0, "no column 'size'"},
      {"lower,upper,size\n", TESELA_E_SYNTAX, 0, "no column 'id'"},
      {"id,lower,upper,size,colour\n", TESELA_E_SYNTAX, 20, "unknown column 'colour'"},
      {"id,lower,upper,size,\n", TESELA_E_SYNTAX, 20, "unknown column ''"},
      {"ID,lower,upper,size\n", TESELA_E_SYNTAX, 0, "unknown column 'ID'"},
      {"id,lower,upper,size,id\n", TESELA_E_SYNTAX, 20, "'id' is given twice"},
      {"id,lower,upper,size,end\n", TESELA_E_SYNTAX, 20, "'upper' is given twice"},
      {HEAD "a,0,1\n", TESELA_E_SYNTAX, 24, "line 2 has fewer fields"},
      {HEAD "a,0,1,1,1\n", TESELA_E_SYNTAX, 28, "line 2 has more fields"},
      {HEAD "a,0,1,1,\n", TESELA_E_SYNTAX, 28, "more fields"},
      {HEAD "a,0,1,1\nb,0,1,\n", TESELA_E_SYNTAX, 34, "size in line 3 is not a number"},
      {HEAD "a,0,x1,1\n", TESELA_E_SYNTAX, 24, "upper in line 2 is not a number: 'x1'"},
      {HEAD "a,0,1.5,1\n", TESELA_E_SYNTAX, 25, "is not a number"},
      {HEAD "a,-,1,1\n", TESELA_E_SYNTAX, 22, "is not a number"},
      {HEAD "a,0,9223372036854775808,1\n", TESELA_E_SYNTAX, 24, "does not fit in 64 bits"},
      {HEAD "a,-9223372036854775809,1,1\n", TESELA_E_SYNTAX, 22, "does not fit in 64 bits"},
      {"id,lower,end,size\na,0,9223372036854775807,1\n", TESELA_E_SYNTAX, 22, "does not fit in 64 bits"},
      {HEAD "a,0,99999999999999999999999999999999999999999999999999,1\n", TESELA_E_SYNTAX, 24, "64 bits"},
      {HEAD ",0,1,1\n", TESELA_E_SYNTAX, 20, "the id in line 2 is empty"},
      {HEAD "\"\",0,1,1\n", TESELA_E_SYNTAX, 21, "is empty"},
      {HEAD "\"a,0,1,1\n", TESELA_E_SYNTAX, 28, "ends inside quotes"},
      {HEAD "\"a\"b,0,1,1\n", TESELA_E_SYNTAX, 23, "expected a comma"},
      {HEAD "a\"b,0,1,1\n", TESELA_E_SYNTAX, 21, "expected a comma"},
      {HEAD "a\xFF,0,1,1\n", TESELA_E_SYNTAX, 21, "byte 0xFF in line 2 is not UTF-8"},
      {HEAD "a\xC3,0,1,1\n", TESELA_E_SYNTAX, 21, "not UTF-8"},
      {HEAD "\xED\xA0\x80,0,1,1\n", TESELA_E_SYNTAX, 20, "not UTF-8"},
      {HEAD "\xC0\x80,0,1,1\n", TESELA_E_SYNTAX, 20, "not UTF-8"},
      {HEAD "a\x01,0,1,1\n", TESELA_E_SYNTAX, 21, "a control character"},
      {HEAD "a,0,1,1\rb,0,1,1\n", TESELA_E_SYNTAX, 27, "a control character"},
      {HEAD "0123456789012345678901234567890123456789012345678901234567890123,0,1,1\n", TESELA_E_SYNTAX, 20,
       "has 64 bytes; expected at most 63"},
      {HEAD "a,0,1,-1\n", TESELA_E_RANGE, 26, "size in line 2 is -1"},
      {"id,lower,upper,size,alignment\na,0,1,1,-4\n", TESELA_E_RANGE, 38, "alignment in line 2 is -4"},
      {"id,lower,upper,size,weight\na,0,1,1,-4\n", TESELA_E_RANGE, 35, "weight in line 2 is -4"},
      {"id,lower,upper,size,offset\na,0,1,1,-3\n", TESELA_E_RANGE, 35, "offset in line 2 is -3"},
      {HEAD "a,2,1,1\n", TESELA_E_RANGE, 20, "alive from 2 to 1"},
      {HEAD "a,0,1,1\nb,0,1,1\na,5,6,1\n", TESELA_E_INVALID, 36, "id 'a' is given twice: at bytes 20 and 36"},
      {"id,lower,upper,size,gaps\na,0,9,1,2-4\n", TESELA_E_UNSUPPORTED, 33, "gaps '2-4'"},
      {"id,lower,upper,size,hint\na,0,9,1,x\n", TESELA_E_SYNTAX, 33, "hint in line 2 is not a number"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    tesela_arena_buffer *b = (tesela_arena_buffer *)&k;
    tesela_error err = {.message = ""};
    int32_t n = 77;
    tesela_status status = tesela_arena_read_csv(rows[k].text, strlen(rows[k].text), &b, &n, NULL, &err);
    AGREE(rows[k].text, status, rows[k].status);
    AGREE(rows[k].text, err.at, rows[k].at);
    if (!strstr(err.message, rows[k].says)) fail_msg("`%s`: %s", rows[k].text, err.message);
    AGREE("n", n, 77);
    assert_ptr_equal(b, &k);
    AGREE("NULL err", tesela_arena_read_csv(rows[k].text, strlen(rows[k].text), &b, &n, NULL, NULL), status);
  }
  tesela_arena_buffer *b;
  int32_t n;
  tesela_error err;
  AGREE("NUL", tesela_arena_read_csv(HEAD "a\0b,0,1,1", 29, &b, &n, NULL, &err), TESELA_E_SYNTAX);
  AGREE("NUL", err.at, 21);
}

static void long_lines_and_many(void **state) {
  (void)state;
  const int32_t most = 1 << 20;
  size_t room = (size_t)(most + 1) * 24 + 100, length;
  char *text = malloc(room);
  tesela_arena_buffer *b;
  tesela_error err;
  int32_t n;
  assert_non_null(text);
  memcpy(text, HEAD, 20);
  memset(text + 20, 'x', 1 << 20); /* a field of a megabyte */
  AGREE("long", tesela_arena_read_csv(text, 20 + (1 << 20), &b, &n, NULL, &err), TESELA_E_SYNTAX);
  AGREE("long", err.at, 20);
  memset(text + 20, ' ', 1 << 20);
  memcpy(text + 20 + (1 << 20), "a,0,1,1", 7);
  OK(tesela_arena_read_csv(text, 27 + (1 << 20), &b, &n, NULL, &e_));
  AGREE("n", n, 1);
  tesela_arena_free(b, NULL);
  length = 20;
  for (int32_t i = 0; i < most; i++)
    length += (size_t)snprintf(text + length, room - length, "%x,0,1,1\n", (unsigned)i);
  OK(tesela_arena_read_csv(text, length, &b, &n, NULL, &e_));
  AGREE("n", n, most);
  tesela_arena_free(b, NULL);
  memcpy(text + length, "one,0,1,1", 9);
  AGREE("more", tesela_arena_read_csv(text, length + 9, &b, &n, NULL, &err), TESELA_E_LIMIT);
  AGREE("more", err.at, (int64_t)length);
  free(text);
}

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void written_and_read(void **state) {
  (void)state;
  static const char *pieces[] = {"a", ",", "\"",          " ", "\t", "\xC3\xA9", "\xF0\x9F\x98\x80",
                                 "#", "z", "\xEF\xBB\xBF"};
  uint64_t seed = first_seed();
  for (uint64_t k = 0; k < 2000; k++) {
    tesela_arena_buffer made[20], *b = NULL;
    char text[8192];
    uint64_t random = seed + k;
    int32_t n = (int32_t)arena_random(&random, 20), got = 0;
    tesela_buffer out = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&out);
    arena_make(&random, n, 20, INT64_C(1) << 40, (int)(k % 8), made);
    for (int32_t i = 0; i < n; i++) {
      size_t used = strlen(made[i].id);
      while (arena_random(&random, 3) && used < 55)
        used += (size_t)snprintf(made[i].id + used, 8, "%s", pieces[arena_random(&random, 10)]);
      if (k % 2)
        memmove(made[i].id + 1, made[i].id, used + 1), made[i].id[0] = ' '; /* spaces stay in quotes */
      if (k % 3) made[i].weight = 0;
      if (arena_random(&random, 9) == 0) made[i].offset = TESELA_ARENA_SPILLED;
    }
    OK(tesela_arena_write_csv(n, made, &to, &e_));
    assert_true(out.length < sizeof text);
    OK(tesela_arena_read_csv(text, out.length, &b, &got, NULL, &e_));
    AGREE("n", got, n);
    for (int32_t i = 0; i < n; i++) {
      assert_string_equal(b[i].id, made[i].id);
      AGREE(text, b[i].lower, made[i].lower);
      AGREE(text, b[i].upper, made[i].upper);
      AGREE(text, b[i].size, made[i].size);
      AGREE(text, b[i].offset, made[i].offset);
      AGREE(text, b[i].weight, made[i].weight);
      AGREE(text, b[i].alignment > 1 ? b[i].alignment : 1, made[i].alignment > 1 ? made[i].alignment : 1);
    }
    tesela_arena_free(b, NULL);
  }
}

static void the_written_form(void **state) {
  (void)state;
  char text[256];
  tesela_arena_buffer b[2] = {{.id = "a", .upper = 3, .size = 4, .offset = 0},
                              {.id = "b,", .lower = 1, .upper = 5, .size = 2, .offset = 4}};
  tesela_buffer out = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&out), stops = {stop, NULL};
  OK(tesela_arena_write_csv(2, b, &to, &e_));
  assert_string_equal(text, "id,lower,upper,size,offset\na,0,3,4,0\n\"b,\",1,5,2,4\n");
  out.length = 0;
  b[1].alignment = 4;
  b[0].weight = 9;
  OK(tesela_arena_write_csv(2, b, &to, &e_));
  assert_string_equal(text,
                      "id,lower,upper,size,alignment,weight,offset\na,0,3,4,1,9,0\n\"b,\",1,5,2,4,0,4\n");
  AGREE("stopped", tesela_arena_write_csv(2, b, &stops, NULL), TESELA_E_STOPPED);
  static const char *bad[] = {"", "\x01", "\xFF", "a\nb", "a\rb", "\x7F"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    tesela_error err;
    out.length = 0;
    memset(b[1].id, 0, sizeof b[1].id);
    memcpy(b[1].id, bad[k], strlen(bad[k]));
    AGREE(bad[k], tesela_arena_write_csv(2, b, &to, &err), TESELA_E_INVALID);
    assert_non_null(strstr(err.message, "the id of buffer 1"));
    AGREE("nothing written", out.length, 0);
  }
  memset(b[1].id, 'x', sizeof b[1].id);
  AGREE("no NUL", tesela_arena_write_csv(2, b, &to, NULL), TESELA_E_INVALID);
}

static void every_allocation_fails_once(void **state) {
  (void)state;
  char text[2000] = HEAD;
  for (int i = 0; i < 50; i++) snprintf(text + strlen(text), 40, "b%d,0,%d,4\n", i, i);
  fault f = {.countdown = 0};
  tesela_allocator allocator = fault_allocator(&f);
  long count = 0;
  for (tesela_status status = TESELA_E_MEMORY; status != TESELA_OK; count++) {
    tesela_arena_buffer *b = NULL;
    int32_t n = 77;
    f.countdown = count;
    status = tesela_arena_read_csv(text, strlen(text), &b, &n, &allocator, NULL);
    if (status == TESELA_OK) tesela_arena_free(b, &allocator);
    if (status != TESELA_OK) assert_true(status == TESELA_E_MEMORY && !b && n == 77);
    AGREE("live", f.live, 0);
  }
  assert_true(count > 5);
  count = 0;
  for (tesela_status status = TESELA_E_MEMORY; status != TESELA_OK; count++) {
    tesela_arena_buffer *b = NULL;
    int32_t n;
    f.countdown = count;
    status = tesela_arena_read_csv(HEAD, 20, &b, &n, &allocator, NULL);
    if (status == TESELA_OK) tesela_arena_free(b, &allocator);
    AGREE("live", f.live, 0);
  }
  assert_true(count > 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_published_form),
      cmocka_unit_test(other_columns_and_limits),
      cmocka_unit_test(refusals),
      cmocka_unit_test(long_lines_and_many),
      cmocka_unit_test(written_and_read),
      cmocka_unit_test(the_written_form),
      cmocka_unit_test(every_allocation_fails_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
