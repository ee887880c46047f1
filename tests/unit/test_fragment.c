/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fragment.c - the catalogue of fragments: every layout against its formulas, names, what a layout consists of.
 *
 * The formulas are evaluated here, by a reader of C arithmetic that shares nothing with the library or the generator,
 * for every lane and element. tests/structure/test_fragments.py compares them with the vendors' documents.
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
#ifdef TESELA_TEST_JANSSON
#include <jansson.h>
#endif

#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* ---- formulas: + * / % ( ) numbers lane g t i ----------------------------------------------------------- */

typedef struct reader {
  const char *at;
  int64_t lane, i;
  int depth;
} reader;

static int64_t read_sum(reader *r);

static void blanks(reader *r) {
  while (*r->at == ' ') r->at++;
}

static int64_t read_atom(reader *r) {
  int64_t value = 0;
  blanks(r);
  if (*r->at == '(') {
    r->at++;
    assert_true(++r->depth < 8);
    value = read_sum(r);
    r->depth--;
    assert_int_equal(*r->at, ')');
    r->at++;
  } else if (*r->at >= '0' && *r->at <= '9') {
    while (*r->at >= '0' && *r->at <= '9') value = value * 10 + (*r->at++ - '0');
  } else if (strncmp(r->at, "lane", 4) == 0) {
    r->at += 4;
    value = r->lane;
  } else {
    const char c = *r->at++;
    if (c != 'g' && c != 't' && c != 'i') fail_msg("'%c' in a formula", c);
    value = c == 'g' ? r->lane / 4 : c == 't' ? r->lane % 4 : r->i;
  }
  blanks(r);
  return value;
}

static int64_t read_product(reader *r) {
  int64_t value = read_atom(r);
  while (*r->at == '*' || *r->at == '/' || *r->at == '%') {
    const char sign = *r->at++;
    const int64_t by = read_atom(r);
    value = sign == '*' ? value * by : sign == '/' ? value / by : value % by;
  }
  return value;
}

static int64_t read_sum(reader *r) {
  int64_t value = read_product(r);
  while (*r->at == '+') {
    r->at++;
    value += read_product(r);
  }
  return value;
}

static int64_t formula(const char *text, int64_t lane, int64_t i) {
  reader r = {text, lane, i, 0};
  const int64_t value = read_sum(&r);
  if (*r.at != '\0') fail_msg("\"%s\" goes on with \"%s\"", text, r.at);
  return value;
}

static void the_reader_of_formulas_reads_c(void **state) {
  (void)state;
  assert_int_equal(formula("g + 8*((i/2)%2)", 13, 7), 3 + 8);
  assert_int_equal(formula("2*t + i%2 + 8*(i/4)", 13, 7), 2 + 1 + 8);
  assert_int_equal(formula("lane%16/3*2", 23, 0), 4);
  assert_int_equal(formula("(lane/4)%4", 31, 0), 3);
}

/* ---- layouts -------------------------------------------------------------------------------------------- */

/* The name with a number for its N. */
static void name_of(const tesela_fragment *entry, int32_t n, char *name, size_t room) {
  const char *hole = entry->n_step ? strchr(entry->name, 'N') : NULL;
  if (hole)
    snprintf(name, room, "%.*s%" PRId32 "%s", (int)(hole - entry->name), entry->name, n, hole + 1);
  else
    snprintf(name, room, "%s", entry->name);
}

static void check_slots(const char *name, const tesela_fragment *entry, const tesela_register *layout) {
  int64_t index[3], elements = 1, want[3];
  assert_int_equal(layout->spatial_size, entry->threads);
  for (int32_t d = 0; d < layout->rank; d++) elements *= layout->shape[d];
  assert_int_equal(tesela_register_copies(layout) * elements, layout->spatial_size * layout->local_size);
  for (int64_t lane = 0; lane < layout->spatial_size; lane++)
    for (int64_t i = 0; i < layout->local_size; i++) {
      int32_t d = 0;
      if (entry->block[0]) want[d++] = formula(entry->block, lane, i);
      want[d++] = formula(entry->row, lane, i);
      want[d++] = formula(entry->col, lane, i);
      assert_int_equal(layout->rank, d);
      OK(tesela_register_get_global(layout, lane, i, index, &e_));
      if (memcmp(index, want, (size_t)d * sizeof index[0]) != 0)
        fail_msg("%s: lane %" PRId64 " element %" PRId64 " is (%" PRId64 ",%" PRId64
                 "), by the formula (%" PRId64 ",%" PRId64 ")",
                 name, lane, i, index[d - 2], index[d - 1], want[d - 2], want[d - 1]);
    }
}

static void every_layout_is_what_its_formulas_say(void **state) {
  (void)state;
  int32_t count;
  const tesela_fragment *entry = tesela_fragments(&count);
  assert_true(count > 300);
  for (int32_t e = 0; e < count; e++) {
    const int32_t last = entry[e].n_step ? entry[e].n_max : 1, step = entry[e].n_step ? entry[e].n_step : 1;
    for (int32_t n = step; n <= last; n += step) {
      char name[96];
      tesela_register layout, again;
      const tesela_fragment *found = NULL;
      name_of(&entry[e], n, name, sizeof name);
      OK(tesela_fragment_find(name, strlen(name), &layout, &found, &e_));
      if (found != &entry[e]) fail_msg("%s found %s", name, found->name);
      check_slots(name, &entry[e], &layout);
      OK(tesela_register_check(&layout, &e_));
      tesela_register_reduced(&again, &layout);
      assert_true(tesela_register_same(&layout, &again) && again.n_modes == layout.n_modes);
    }
  }
}

/* The layout that "expression" says; N/8 is a number there. */
static void every_expression_is_its_layout(void **state) {
  (void)state;
  int32_t count;
  const tesela_fragment *entry = tesela_fragments(&count);
  for (int32_t e = 0; e < count; e++) {
    char name[96], text[192];
    tesela_register layout, said;
    name_of(&entry[e], 24, name, sizeof name);
    const char *hole = strstr(entry[e].expression, "N/8");
    snprintf(text, sizeof text, "%s", entry[e].expression);
    if (hole)
      snprintf(text, sizeof text, "%.*s3%s", (int)(hole - entry[e].expression), entry[e].expression,
               hole + 3);
    OK(tesela_fragment_find(name, strlen(name), &layout, NULL, &e_));
    OK(tesela_register_parse(text, strlen(text), &said, &e_));
    if (!tesela_register_same(&layout, &said)) fail_msg("%s is not %s", name, text);
  }
}

/* ---- the cases of the seed: each lists every element of every lane -------------------------------------- */

#ifdef TESELA_TEST_JANSSON
static void check_case(const json_t *one) {
  const char *id = json_string_value(json_object_get(one, "id"));
  char name[64];
  snprintf(name, sizeof name, "mma.%s", id);
  for (char *c = name; *c; c++)
    if (*c == '-') *c = '.';
  tesela_register layout;
  OK(tesela_fragment_find(name, strlen(name), &layout, NULL, &e_));
  const json_t *lanes = json_object_get(one, "lane_elements"), *held, *element;
  assert_int_equal((int64_t)json_array_size(lanes), layout.spatial_size);
  size_t lane, i;
  json_array_foreach(lanes, lane, held) {
    assert_int_equal((int64_t)json_array_size(held), layout.local_size);
    json_array_foreach(held, i, element) {
      int64_t index[2];
      OK(tesela_register_get_global(&layout, (int64_t)lane, (int64_t)i, index, &e_));
      if (index[0] != json_integer_value(json_array_get(element, 0)) ||
          index[1] != json_integer_value(json_array_get(element, 1)))
        fail_msg("%s: lane %zu element %zu is (%" PRId64 ",%" PRId64 ")", name, lane, i, index[0], index[1]);
    }
  }
  uint64_t hash;
  OK(tesela_register_hash(&layout, &hash, &e_));
  assert_int_equal(hash, strtoull(json_string_value(json_object_get(one, "mapping_hash")), NULL, 16));
}
#endif

static void the_cases_of_the_seed_hold(void **state) {
  (void)state;
#ifdef TESELA_TEST_JANSSON
  json_error_t error;
  json_t *all = json_load_file("tests/vectors/tilus_seed_examples.json", 0, &error);
  if (!all) fail_msg("tests/vectors/tilus_seed_examples.json: %s", error.text);
  const json_t *cases = json_object_get(all, "fragments"), *one;
  assert_int_equal(json_array_size(cases), 18);
  size_t k;
  json_array_foreach(cases, k, one) check_case(one);
  json_decref(all);
#else
  skip();
#endif
}

/* ---- names ---------------------------------------------------------------------------------------------- */

static void names_find_entries(void **state) {
  (void)state;
  static const struct {
    const char *text, *name;
    int64_t threads, registers;
  } rows[] = {
      {"mma.m16n8k16.f16.A", "mma.m16n8k16.f16.A", 32, 8},
      {"mma.m16n8k16.bf16.A", "mma.m16n8k16.f16.A", 32, 8},
      {"mma.m16n8k16.BF16.a", "mma.m16n8k16.f16.A", 32, 8},
      {"MMA.M16N8K16.F16.B", "mma.m16n8k16.f16.B", 32, 4},
      {"mma.m16n8k16.bf16.D", "mma.m16n8k16.f16.C", 32, 4},
      {"mma.m16n8k16.u8.d", "mma.m16n8k16.s8.C", 32, 4},
      {"mma.m16n8k32.e2m1.A", "mma.m16n8k32.e4m3.A", 32, 16},
      {"mma.m16n8k64.e2m1.A", "mma.m16n8k64.e2m1.A", 32, 32},
      {"mma.m8n8k4.f16.D_f32", "mma.m8n8k4.f16.C_f32", 32, 8},
      {"mma.m8n8k4.f64.D", "mma.m8n8k4.f64.C", 32, 2},
      {"wgmma.m64n8k16.f16.D", "wgmma.m64nNk16.f16.D", 128, 4},
      {"wgmma.m64n256k16.bf16.C", "wgmma.m64nNk16.f16.D", 128, 128},
      {"wgmma.m64n0024k8.tf32.D", "wgmma.m64nNk8.tf32.D", 128, 12},
      {"wgmma.m64n128k16.f16.A", "wgmma.m64nNk16.f16.A", 128, 8},
      {"wmma.m16n16k16.bf16.A", "wmma.m16n16k16.f16.A", 32, 8},
      {"ldmatrix.x4", "ldmatrix.x4", 32, 8},
      {"ldmatrix.x4.trans", "ldmatrix.x4.trans", 32, 8},
      {"stmatrix.x1.b32", "stmatrix.x1.b32", 32, 1},
      {"tcgen05.16x32bx2", "tcgen05.16x32bx2", 32, 1},
      {"mfma.f32_32x32x8_f16.A", "mfma.f32_32x32x8_f16.A", 64, 4},
      {"mfma.f32_32x32x8f16.D", "mfma.f32_32x32x8_f16.C", 64, 16},
      {"mfma.f32_32x32x8bf16_1k.B", "mfma.f32_32x32x8_bf16.B", 64, 4},
      {"amd_wmma.gfx11.f32_16x16x16_f16.A", "amd_wmma.gfx11.f32_16x16x16_f16.A", 32, 16},
      {"amd_wmma.gfx12.f32_16x16x16_f16.A", "amd_wmma.gfx12.f32_16x16x16_f16.A", 32, 8},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_register layout;
    const tesela_fragment *entry = NULL;
    OK(tesela_fragment_find(rows[r].text, strlen(rows[r].text), &layout, &entry, &e_));
    assert_string_equal(entry->name, rows[r].name);
    if (layout.spatial_size != rows[r].threads || layout.local_size != rows[r].registers)
      fail_msg("%s: %" PRId64 " x %" PRId64, rows[r].text, layout.spatial_size, layout.local_size);
  }
  /* A length ends the name; layout, entry and err may be NULL. */
  assert_int_equal(tesela_fragment_find("ldmatrix.x4.transposed", 17, NULL, NULL, NULL), TESELA_OK);
}

static void other_names_are_refused_at_their_byte(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t at;
    const char *says;
  } rows[] = {
      {"", 0, "mma"},
      {".", 0, "mma"},
      {"mmma.m16n8k16.f16.A", 0, "did you mean mma?"},
      {"conv.m16n8k16.f16.A", 0, "expected one of: mma ldmatrix"},
      {"mma", 3, "continues with a dot and one of: m8n8k4"},
      {"mma.", 4, "m16n8k16"},
      {"mma.m16n8k17.f16.A", 4, "did you mean m16n8k16?"},
      {"mma.m16n8k16.f17.A", 13, "did you mean f16?"},
      {"mma.m16n8k16.tf32.A", 13, "f16 bf16 s8 u8 e4m3 e5m2 f64"},
      {"mma.m16n8k16.f16", 16, "continues with a dot and one of: A B C"},
      {"mma.m16n8k16.f16.E", 17, "A B C"},
      {"mma.m16n8k16.f16.", 17, "A B C"},
      {"mma.m16n8k16.f16.A.B", 19, "ends before 'B'"},
      {"mma.m16n8k16.f16 .A", 13, "f16"},
      {"wgmma.m64n20k16.f16.D", 6, "n in 'm64n20k16' must be 8, 16, ... 256"},
      {"wgmma.m64n0k16.f16.D", 6, "8, 16, ... 256"},
      {"wgmma.m64n264k16.f16.D", 6, "8, 16, ... 256"},
      {"wgmma.m64nNk16.f16.D", 6, "8, 16, ... 256"},
      {"wgmma.m64n4294967304k16.f16.D", 6, "m64nNk16"},
      {"wgmma.m64n-8k16.f16.D", 6, "m64nNk16"},
      {"wgmma.m64nk16.f16.D", 6, "m64nNk16"},
      {"wgmma.m64n16k16.f16.B", 20, "A D"},
      {"ldmatrix.x4.tranz", 12, "did you mean trans?"},
      {"ldmatrix.x4.i", 12, "or nothing"},
      {"mfma.f32_32x32x9_f16.A", 5, "did you mean f32_32x32x8_f16?"},
      {"amd_wmma.gfx10.f32_16x16x16_f16.A", 9, "gfx11 gfx12"},
      {"a very long word that is not the name of anything in the catalogue, longer than a message could "
       "hold; it is "
       "cut where it is quoted, and nothing else of the message is lost by that, whatever comes after it, as "
       "here",
       0, "mma ldmatrix"},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_register layout;
    const tesela_fragment *entry = (const tesela_fragment *)&layout;
    tesela_error err = {.status = TESELA_OK};
    memset(&layout, 0x5a, sizeof layout);
    assert_int_equal(tesela_fragment_find(rows[r].text, strlen(rows[r].text), &layout, &entry, &err),
                     TESELA_E_SYNTAX);
    if (err.at != rows[r].at || !strstr(err.message, rows[r].says) || err.status != TESELA_E_SYNTAX)
      fail_msg("%s: at %" PRId64 ": %s", rows[r].text, err.at, err.message);
    assert_true(strlen(err.message) < sizeof err.message - 1);
    for (size_t b = 0; b < sizeof layout; b++) assert_int_equal(((unsigned char *)&layout)[b], 0x5a);
    assert_ptr_equal(entry, &layout);
  }
  tesela_error err;
  assert_int_equal(tesela_fragment_find("mma.m16n8k16.f16.", 17, NULL, NULL, &err), TESELA_E_SYNTAX);
  assert_string_equal(err.message,
                      "unknown part ''; expected one of: A B C"); /* nothing is near to nothing */
  assert_int_equal(tesela_fragment_find(NULL, 0, NULL, NULL, &err), TESELA_E_SYNTAX);
  assert_int_equal(tesela_fragment_find("mma\0.m16", 8, NULL, NULL, &err), TESELA_E_SYNTAX);
  assert_non_null(strstr(err.message, "'mma?'"));
}

/* Names with bytes changed, dropped and added: found or refused, and what is said is a line of text. */
static void random_names_are_found_or_refused(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int32_t count, refused = 0;
  const tesela_fragment *entry = tesela_fragments(&count);
  for (int32_t round = 0; round < 4000; round++) {
    char text[128];
    name_of(&entry[(seed >> 33) % (uint64_t)count], 64, text, sizeof text);
    size_t length = strlen(text);
    for (int32_t k = 0; k < 2; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const size_t at = (seed >> 40) % (length + 1);
      const char byte = (seed >> 20) % 3 ? "abnx.0189_kAD"[(seed >> 24) % 13] : (char)(seed >> 24);
      if ((seed >> 36) % 2 && at < length)
        text[at] = byte;
      else if (at < length) {
        memmove(text + at, text + at + 1, length - at - 1);
        length--;
      }
    }
    char *exact = malloc(length ? length : 1); /* so that a sanitizer sees a byte too far */
    assert_non_null(exact);
    memcpy(exact, text, length);
    tesela_register layout;
    const tesela_fragment *found = NULL;
    tesela_error err = {.message = ""};
    if (tesela_fragment_find(exact, length, &layout, &found, &err) != TESELA_OK) {
      refused++;
      assert_int_equal(err.status, TESELA_E_SYNTAX);
      assert_true(err.at >= 0 && err.at <= (int64_t)length && err.message[0] != '\0');
      for (const char *c = err.message; *c; c++) assert_true(*c >= ' ' && *c <= '~');
    } else {
      assert_true(found >= entry && found < entry + count && layout.spatial_size == found->threads);
    }
    free(exact);
  }
  assert_true(refused > 1000);
}

/* ---- what a layout consists of -------------------------------------------------------------------------- */

static int32_t number_of(const char *name) {
  int32_t count;
  const tesela_fragment *entry = tesela_fragments(&count);
  for (int32_t e = 0; e < count; e++)
    if (strcmp(entry[e].name, name) == 0) return e;
  fail_msg("no entry %s", name);
  return -1;
}

static bool has(const int32_t *entries, int32_t n, const char *name) {
  const int32_t wanted = number_of(name);
  for (int32_t i = 0; i < n; i++)
    if (entries[i] == wanted) return true;
  return false;
}

static void layouts_show_their_fragments(void **state) {
  (void)state;
  int32_t count, entries[512];
  tesela_fragments(&count);
  assert_true(count <= 512);
  for (int32_t e = 0; e < count; e++) { /* each times spatial(2,1,...) and local(1,3,...) is recognized */
    char name[96];
    tesela_register layout, outer;
    const int64_t warps[3] = {2, 1, 1}, tiles[3] = {1, 3, 1};
    name_of(&tesela_fragments(NULL)[e], 24, name, sizeof name);
    OK(tesela_fragment_find(name, strlen(name), &layout, NULL, &e_));
    OK(tesela_register_local(&outer, layout.rank, tiles, NULL, &e_));
    OK(tesela_register_compose(&layout, &outer, &layout, &e_));
    OK(tesela_register_spatial(&outer, layout.rank, warps, NULL, &e_));
    OK(tesela_register_compose(&layout, &outer, &layout, &e_));
    const int32_t n = tesela_fragment_recognize(&layout, 512, entries);
    if (!has(entries, n, tesela_fragments(NULL)[e].name)) fail_msg("%s is not recognized", name);
  }
}

static void fragments_of_most_registers_come_first(void **state) {
  (void)state;
  int32_t entries[512], few[2] = {-1, -1};
  tesela_register layout;
  OK(tesela_fragment_find("mma.m16n8k16.f16.A", 18, &layout, NULL, &e_));
  const int32_t n = tesela_fragment_recognize(&layout, 512, entries);
  assert_int_equal(entries[0], number_of("mma.m16n8k16.f16.A"));
  assert_true(has(entries, n, "mma.m16n8k8.f16.A")); /* column_local(2,2) * spatial(8,4) * local(1,2) */
  assert_true(has(entries, n, "ldmatrix.x1"));
  assert_false(has(entries, n, "ldmatrix.x4")); /* this tile has no rows 16 and 24 */
  assert_false(has(entries, n, "ldmatrix.x1.trans"));
  assert_int_equal(tesela_fragment_recognize(&layout, 1, few), n);
  assert_int_equal(few[0], entries[0]);
  assert_int_equal(few[1], -1);
  assert_int_equal(tesela_fragment_recognize(&layout, 0, NULL), n);
  const tesela_fragment *entry = tesela_fragments(NULL);
  int64_t before = INT64_MAX;
  for (int32_t i = 0; i < n; i++) {
    tesela_register one;
    char name[96];
    name_of(&entry[entries[i]], 8, name, sizeof name);
    OK(tesela_fragment_find(name, strlen(name), &one, NULL, &e_));
    assert_true(one.local_size <= before);
    before = one.local_size;
  }
  /* What consists of none: one thread; a shape too small; rank 0. */
  OK(tesela_register_local(&layout, 2, (const int64_t[]){64, 64}, NULL, &e_));
  assert_int_equal(tesela_fragment_recognize(&layout, 512, entries), 0);
  OK(tesela_register_spatial(&layout, 0, NULL, NULL, &e_));
  assert_int_equal(tesela_fragment_recognize(&layout, 512, entries), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_reader_of_formulas_reads_c),
      cmocka_unit_test(every_layout_is_what_its_formulas_say),
      cmocka_unit_test(every_expression_is_its_layout),
      cmocka_unit_test(the_cases_of_the_seed_hold),
      cmocka_unit_test(names_find_entries),
      cmocka_unit_test(other_names_are_refused_at_their_byte),
      cmocka_unit_test(random_names_are_found_or_refused),
      cmocka_unit_test(layouts_show_their_fragments),
      cmocka_unit_test(fragments_of_most_registers_come_first),
  };
  return cmocka_run_group_tests_name("fragment", tests, NULL, NULL);
}
