/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_codegen_register.c - the C code of a register layout says what its mode lists say.
 *
 * Layouts are written to one file with a main that prints thread and local id of every element and copy, and the element of
 * every thread and local id; numbers are compared with the definition.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_exchange.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { LAYOUTS = 60 };

static tesela_register layouts[LAYOUTS];
static int n_layouts;
static char folder[64];

static int to_file(void *user, const char *text, size_t length) {
  return fwrite(text, 1, length, user) != length;
}

static void parse(const char *text) {
  OK(tesela_register_parse(text, strlen(text), &layouts[n_layouts++], &e_));
}

static int64_t copies_of(const tesela_register *layout) {
  int64_t copies = 1;
  for (int32_t i = 0; i < layout->n_spatial; i++)
    if (layout->spatial_modes[i] < 0) copies *= -layout->spatial_modes[i];
  return copies;
}

/* The program prints, for each element in row-major order, its threads and its local id, then all elements. */
static void write_program(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/layouts.c", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  tesela_writer to = {to_file, file};
  for (int i = 0; i < n_layouts; i++) {
    char name[24];
    snprintf(name, sizeof name, "layout%d", i);
    OK(tesela_codegen_register_c(&layouts[i], name, &to, &e_));
  }
  fprintf(file, "#include <inttypes.h>\n#include <stdio.h>\nint main(void) {\n  int64_t x[33];\n");
  for (int i = 0; i < n_layouts; i++) {
    const tesela_register *r = &layouts[i];
    for (int32_t d = 0; d < r->rank; d++)
      fprintf(file, "  for (x[%d] = 0; x[%d] < %" PRId64 "; x[%d]++)\n", (int)d, (int)d, r->shape[d], (int)d);
    fprintf(file,
            "  {\n    for (int64_t k = 0; k < %" PRId64
            "; k++) printf(\"%%\" PRId64 \"\\n\", layout%d_thread(x, k));\n"
            "    printf(\"%%\" PRId64 \"\\n\", layout%d_local(x));\n  }\n"
            "  for (int64_t t = 0; t < %" PRId64 "; t++)\n    for (int64_t l = 0; l < %" PRId64
            "; l++) {\n      layout%d_index(t, l, x);\n",
            copies_of(r), i, i, r->spatial_size, r->local_size, i);
    for (int32_t d = 0; d < r->rank; d++)
      fprintf(file, "      printf(\"%%\" PRId64 \"\\n\", x[%d]);\n", (int)d);
    fprintf(file, "    }\n");
  }
  fprintf(file, "}\n");
  assert_int_equal(fclose(file), 0);
}

static int64_t next_number(FILE *numbers) {
  int64_t value;
  return fscanf(numbers, "%" SCNd64, &value) == 1 ? value : INT64_MIN;
}

/* Row-major number of the element to its index. */
static void index_of(const tesela_register *r, int64_t element, int64_t *index) {
  for (int32_t d = r->rank - 1; d >= 0; d--) {
    index[d] = element % r->shape[d];
    element /= r->shape[d];
  }
}

/* The copies of an element are the threads that hold it, by number of the replica digits: ascending here, as replicas of a
 * larger step come first. */
static void check_layout(FILE *numbers, const tesela_register *r, int number) {
  int64_t elements = 1;
  for (int32_t d = 0; d < r->rank; d++) elements *= r->shape[d];
  for (int64_t e = 0; e < elements; e++) {
    int64_t local = -1;
    for (int64_t t = 0; t < r->spatial_size; t++)
      for (int64_t l = 0; l < r->local_size; l++) {
        if (exchange_element(r, t, l) != e) continue;
        local = l;
        int64_t got = next_number(numbers);
        if (got != t)
          fail_msg("layout%d: element %" PRId64 " in thread %" PRId64 ", not %" PRId64, number, e, got, t);
      }
    int64_t got = next_number(numbers);
    if (got != local)
      fail_msg("layout%d: element %" PRId64 " at %" PRId64 ", not %" PRId64, number, e, got, local);
  }
  for (int64_t t = 0; t < r->spatial_size; t++)
    for (int64_t l = 0; l < r->local_size; l++) {
      int64_t index[TESELA_MAX_RANK];
      index_of(r, exchange_element(r, t, l), index);
      for (int32_t d = 0; d < r->rank; d++)
        if (next_number(numbers) != index[d])
          fail_msg("layout%d: index of thread %" PRId64 ", local id %" PRId64, number, t, l);
    }
}

static void code_says_what_the_lists_say(void **state) {
  (void)state;
  const char *cc = getenv("CC");
  char command[512];
  if (!cc || !*cc) cc = "cc";
  strcpy(folder, "/tmp/tesela-code-XXXXXX");
  assert_non_null(mkdtemp(folder));
  parse("spatial()");
  parse("local(2,3)");
  parse("local(3,4).spatial(2,3)");
  parse("column_local(2,2).spatial(8,4).local(1,2)");
  parse("reduce(spatial(3,4,2), [0,2])");
  parse("replicated(3, num_workers=4)");
  exchange_random r = {first_seed()};
  while (n_layouts < LAYOUTS) {
    exchange_pair(&r, 32, &layouts[n_layouts],
                  &layouts[n_layouts == LAYOUTS - 1 ? n_layouts : n_layouts + 1]);
    n_layouts++;
  }
  write_program();
  snprintf(command, sizeof command,
           "cd %s && %s -std=c99 -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror layouts.c -o "
           "program && ./program >numbers",
           folder, cc);
  if (system(command) != 0) fail_msg("the code does not compile: see %s", folder);
  snprintf(command, sizeof command, "%s/numbers", folder);
  FILE *numbers = fopen(command, "r");
  assert_non_null(numbers);
  for (int i = 0; i < n_layouts; i++) check_layout(numbers, &layouts[i], i);
  assert_int_equal(next_number(numbers), INT64_MIN);
  fclose(numbers);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* Ids beyond 32 bits are computed in 64. */
static void large_layouts_use_wide_numbers(void **state) {
  (void)state;
  static char text[8192];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_register large, small;
  OK(tesela_register_spatial(&large, 2, (const int64_t[]){INT64_C(1) << 20, INT64_C(1) << 20}, NULL, &e_));
  OK(tesela_codegen_register_c(&large, "large", &to, &e_));
  assert_non_null(strstr(text, "i0 * 1048576 + i1"));
  assert_non_null(strstr(text, "uint64_t"));
  assert_null(strstr(text, "uint32_t"));
  buffer.length = 0;
  OK(tesela_register_spatial(&small, 2, (const int64_t[]){2, 3}, NULL, &e_));
  OK(tesela_codegen_register_c(&small, "small", &to, &e_));
  assert_non_null(strstr(text, "i0 * 3u + i1"));
  assert_null(strstr(text, "uint64_t"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(code_says_what_the_lists_say),
      cmocka_unit_test(large_layouts_use_wide_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
