/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_mangled.c - texts that a terminal, a page or several processes have changed: whatever the chunks, one
 * answer; that of the clean text; and no memory is an error, not a crash and not another answer.
 *
 * Each text is made here from the clean one of support_report.h.
 */
#include "support_fault.h"
#include "support_report.h"

enum { ROOM = 1 << 16 };

typedef struct made_text {
  char text[ROOM];
  size_t n;
} made_text;

static void put(made_text *out, const char *text, size_t n) {
  assert_true(out->n + n < ROOM);
  memcpy(out->text + out->n, text, n);
  out->n += n;
}

static void put_word(made_text *out, const char *word) { put(out, word, strlen(word)); }

/* The next line of a text, with its newline if it has one. */
static size_t line_length(const char *text) {
  const char *newline = strchr(text, '\n');
  return newline ? (size_t)(newline + 1 - text) : strlen(text);
}

/* ---- what is done to it -------------------------------------------------------------------------------- */

static void make_coloured(made_text *out) {
  for (const char *p = mixed_text; *p; p++) {
    put(out, p, 1);
    if (*p == ' ') put_word(out, "\033[1;31m");
  }
}

static void make_entities(made_text *out) {
  for (const char *p = mixed_text; *p; p++) {
    if (*p == '"')
      put_word(out, "&quot;");
    else if (*p == '[')
      put_word(out, "&#91;");
    else
      put(out, p, 1);
  }
}

static void make_one_line(made_text *out) {
  put_word(out, "{\"message\": \"");
  for (const char *p = mixed_text; *p; p++) {
    if (*p == '"' || *p == '\\') put_word(out, "\\");
    if (*p == '\n')
      put_word(out, "\\n");
    else
      put(out, p, 1);
  }
  put_word(out, "\"}\n");
}

static void put_wrapped(made_text *out, const char *text, size_t n, size_t width) {
  for (size_t column = 0; n > 0; text++, n--) {
    if (*text != '\n' && column == width) {
      put_word(out, "\n");
      column = 0;
    }
    column = *text == '\n' ? 0 : column + 1;
    put(out, text, 1);
  }
}

static void make_wrapped(made_text *out) { put_wrapped(out, mixed_text, strlen(mixed_text), 90); }

/* Two processes, which take turns after every line. */
static void make_ranks(made_text *out) {
  for (const char *p = mixed_text; *p; p += line_length(p))
    for (int rank = 0; rank < 2; rank++) {
      put_word(out, rank ? "[rank1]: " : "[rank0]: ");
      put(out, p, line_length(p));
    }
}

static void make_wrapped_ranks(made_text *out) {
  static made_text ranks;
  ranks.n = 0;
  make_ranks(&ranks);
  put_wrapped(out, ranks.text, ranks.n, 90);
}

/* The source of a page, cut at a width. */
static void make_wrapped_entities(made_text *out) {
  static made_text page;
  page.n = 0;
  make_entities(&page);
  put_wrapped(out, page.text, page.n, 90);
}

static const struct {
  const char *name;
  void (*make)(made_text *out);
} ways[] = {
    {"colours", make_coloured},
    {"entities", make_entities},
    {"one line", make_one_line},
    {"wrapped", make_wrapped},
    {"ranks", make_ranks},
    {"wrapped ranks", make_wrapped_ranks},
    {"wrapped entities", make_wrapped_entities},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

/* ---- the tests ----------------------------------------------------------------------------------------- */

static void test_totals(void **state) {
  (void)state;
  static made_text made;
  tesela_report *clean = report_text(mixed_text);
  tesela_report_totals want = tesela_report_total(clean, NULL);
  assert_true(want.arrays > 5);
  for (int w = 0; w < N_WAYS; w++) {
    made.n = 0;
    ways[w].make(&made);
    tesela_report *report = report_of(made.text, made.n, 0, NULL);
    tesela_report_totals got = tesela_report_total(report, NULL);
    AGREE(ways[w].name, got.arrays, want.arrays);
    AGREE(ways[w].name, got.stored_bytes, want.stored_bytes);
    AGREE(ways[w].name, got.data_bytes, want.data_bytes);
    tesela_report_destroy(report);
  }
  tesela_report_destroy(clean);
}

/* A chunk may end inside a colour, an entity, a prefix; what a chunk has to clean must not change its other lines. */
static void test_chunks(void **state) {
  (void)state;
  static made_text made;
  for (int w = 0; w < N_WAYS; w++) {
    made.n = 0;
    ways[w].make(&made);
    tesela_report *whole = report_of(made.text, made.n, 0, NULL);
    char *want = report_dump(whole);
    for (size_t chunk = 1; chunk < 200; chunk += chunk < 20 ? 1 : 37) {
      tesela_report *report = report_of(made.text, made.n, chunk, NULL);
      char *got = report_dump(report);
      assert_string_equal(got, want);
      free(got);
      tesela_report_destroy(report);
    }
    free(want);
    tesela_report_destroy(whole);
  }
}

/* The status of a report whose allocator refuses; *dump of one that was finished. */
static tesela_status read_with(fault *f, const made_text *made, char **dump) {
  tesela_allocator allocator = fault_allocator(f);
  tesela_report *report = NULL;
  *dump = NULL;
  tesela_status status = tesela_report_create(&report, NULL, &allocator, NULL);
  for (size_t at = 0; at < made->n && status == TESELA_OK; at += 100)
    status = tesela_report_feed(report, made->text + at, made->n - at < 100 ? made->n - at : 100, NULL);
  if (status == TESELA_OK) status = tesela_report_begin_input(report, "more", NULL);
  if (status == TESELA_OK) status = tesela_report_finish(report, NULL);
  if (status == TESELA_OK)
    *dump = report_dump(report);
  else if (report)
    AGREE("and it stays so", tesela_report_feed(report, "x", 1, NULL), TESELA_E_MEMORY);
  tesela_report_destroy(report);
  AGREE("no leak", f->live, 0);
  return status;
}

static void test_no_memory(void **state) {
  (void)state;
  static made_text made;
  for (int w = 0; w < 2 * N_WAYS; w++) {
    made.n = 0;
    ways[w / 2].make(&made);
    fault all = {.countdown = -1};
    char *want, *got;
    AGREE(ways[w / 2].name, read_with(&all, &made, &want), TESELA_OK);
    for (long n = 0;; n++) {
      fault f = {.countdown = n, .once = w % 2};
      tesela_status status = read_with(&f, &made, &got);
      if (status == TESELA_OK) assert_string_equal(got, want);
      free(got);
      if (status == TESELA_OK) break;
      AGREE(ways[w / 2].name, status, TESELA_E_MEMORY);
      assert_true(n < 2000);
    }
    free(want);
  }
}

/* More processes than are kept apart: said, and the first ones are read as ever. */
static void test_many_processes(void **state) {
  (void)state;
  static char text[1 << 18];
  size_t n = 0;
  for (int rank = 0; rank < 1500; rank++)
    n += (size_t)snprintf(text + n, sizeof text - n, "[rank%d]: %%a.%d = f32[%d]{0} add(%%x)\n", rank, rank,
                          rank + 1);
  tesela_report *report = report_of(text, n, 0, NULL);
  assert_non_null(note_of(report, TESELA_REPORT_MIXED));
  tesela_report_destroy(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_totals),
      cmocka_unit_test(test_chunks),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_many_processes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
