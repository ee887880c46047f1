/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_index_code.c - the C and CUDA code of a layout is compiled, and run at every element and copy.
 *
 * Random recipes are written to one file per language with a main that prints all places; the table of the recipe has them
 * from its definition. CUDA is compiled as C++, with the words of CUDA from cuda_on_host.h.
 */
#include <unistd.h>

#include "support_recipe.h"
#include "support_seed.h"

enum { LAYOUTS = 120 };

static table tables[LAYOUTS];
static char folder[64], root[400];

static int to_file(void *user, const char *text, size_t length) {
  return fwrite(text, 1, length, user) != length;
}

static void write_layout(FILE *file, const table *t, int number, const char *notation) {
  static tesela_any_layout any;
  tesela_writer to = {to_file, file};
  tesela_translation answer;
  any.kind = TESELA_KIND_RELATION;
  any.relation = t->layout;
  for (int32_t i = 0; tesela_notation_at(i); i++)
    if (strcmp(tesela_notation_at(i)->name, "map") == 0) any.notation = tesela_notation_at(i);
  for (int a = 0; a < t->r.n_axes; a++) /* all functions of a file have different names */
    if (t->r.n_axes > 1)
      fprintf(file, "#define place_%c layout%d_%c\n", 'a' + a, number, 'a' + a);
    else
      fprintf(file, "#define place layout%d_a\n", number);
  OK(&t->r, tesela_translate(&any, notation, &to, &answer, &e_));
  AGREE(&t->r, "verdict", answer.verdict, TESELA_EXACT);
  for (int a = 0; a < t->r.n_axes; a++)
    fprintf(file, t->r.n_axes > 1 ? "#undef place_%c\n" : "#undef place\n", 'a' + a);
}

/* Loops over all elements and copies, which print the places on all axes. */
static void write_loops(FILE *file, const table *t, int number) {
  int64_t copies = tesela_layout_copies(&t->layout);
  for (int d = 0; d < t->r.rank; d++)
    fprintf(file, "  for (int64_t i%d = 0; i%d < %" PRId64 "; i%d++)\n", d, d, t->r.shape[d], d);
  fprintf(file, "  for (int64_t k = 0; k < %" PRId64 "; k++)\n    printf(\"", copies);
  for (int a = 0; a < t->r.n_axes; a++) fprintf(file, "%%lld%c", a + 1 < t->r.n_axes ? ' ' : '\\');
  fprintf(file, "n\"");
  for (int a = 0; a < t->r.n_axes; a++) {
    fprintf(file, ", (long long)layout%d_%c(", number, 'a' + a);
    for (int d = 0; d < t->r.rank; d++) fprintf(file, "%si%d", d ? ", " : "", d);
    if (copies > 1) fprintf(file, "%sk", t->r.rank ? ", " : "");
    fputc(')', file);
  }
  fprintf(file, ");\n");
}

static void write_program(const char *name, const char *notation) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "#include <stdio.h>\n");
  if (strcmp(notation, "cuda") == 0) fprintf(file, "#include \"%s/tests/structure/cuda_on_host.h\"\n", root);
  for (int i = 0; i < LAYOUTS; i++) write_layout(file, &tables[i], i, notation);
  for (int i = 0; i < LAYOUTS; i++) {
    fprintf(file, "static void run%d(void) {\n", i);
    write_loops(file, &tables[i], i);
    fprintf(file, "}\n");
  }
  fprintf(file, "int main(void) {\n");
  for (int i = 0; i < LAYOUTS; i++) fprintf(file, "  run%d();\n", i);
  fprintf(file, "  return 0;\n}\n");
  assert_int_equal(fclose(file), 0);
}

static void check_numbers(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/numbers", folder);
  FILE *numbers = fopen(path, "r");
  assert_non_null(numbers);
  for (int i = 0; i < LAYOUTS; i++) {
    const table *t = &tables[i];
    int64_t copies = tesela_layout_copies(&t->layout);
    for (int64_t e = 0; e < t->n_elements; e++) {
      int64_t found[MOST_COPIES];
      int n = 0;
      for (int64_t k = 0; k < copies; k++) {
        int64_t place[MOST_AXES] = {0};
        for (int a = 0; a < t->r.n_axes; a++)
          if (fscanf(numbers, "%" SCNd64, &place[a]) != 1) fail_msg("too few numbers%s", recipe_text(&t->r));
        table_add_key(found, &n, table_key(t->r.n_axes, place));
      }
      AGREE(&t->r, "places of an element", n, t->n_keys[e]);
      for (int k = 0; k < n; k++) AGREE(&t->r, "place", found[k], t->key[e][k]);
    }
  }
  assert_int_equal(fscanf(numbers, "%*s"), EOF);
  fclose(numbers);
}

static void compile_and_run(const char *command) {
  char line[1024];
  snprintf(line, sizeof line, "cd %s && %s && ./program >numbers", folder, command);
  if (system(line) != 0) fail_msg("%s: see %s", line, folder);
  check_numbers();
}

static void code_gives_the_places(void **state) {
  (void)state;
  static const taste *const tastes[] = {&recipe_small, &recipe_plain, &recipe_joined};
  const char *cc = getenv("CC"), *cxx = getenv("CXX"), *source = getenv("TESELA_SOURCE");
  char command[700];
  int copies = 0, axes = 0, swizzled = 0, sums = 0;
  if (!cc || !*cc) cc = "cc";
  if (!cxx || !*cxx) cxx = "c++";
  if (source)
    snprintf(root, sizeof root, "%s", source);
  else if (!getcwd(root, sizeof root))
    fail_msg("no working directory");
  strcpy(folder, "/tmp/tesela-index-XXXXXX");
  assert_non_null(mkdtemp(folder));
  for (int i = 0; i < LAYOUTS; i++) {
    table_draw(&tables[i], first_seed() + (uint64_t)i, tastes[i % 3]);
    copies += tesela_layout_copies(&tables[i].layout) > 1;
    axes += tables[i].r.n_axes > 1;
    swizzled += tables[i].swizzled;
    sums += tables[i].layout.n_joins > 0;
  }
  printf("%d with copies, %d of several axes, %d with XOR, %d with sums\n", copies, axes, swizzled, sums);
  assert_true(copies > 0 && axes > 0 && swizzled > 0 && sums > 0);
  write_program("layouts.c", "c");
  snprintf(command, sizeof command,
           "%s -std=c11 -Wall -Wextra -Wconversion -Wno-sign-conversion -Wno-type-limits -Werror layouts.c "
           "-o program",
           cc);
  compile_and_run(command);
  write_program("layouts.cc", "cuda");
  snprintf(command, sizeof command, "%s -std=c++14 -w layouts.cc -o program", cxx);
  compile_and_run(command);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* Numbers beyond 32 bits. */
static void large_numbers_are_64_bits(void **state) {
  (void)state;
  static const char text[] = "map(d0:1000000, d1:1000000) -> memory[1000000000000]: 1000000*d0 + d1";
  static tesela_any_layout any;
  static char code[4096];
  tesela_buffer buffer = {code, sizeof code, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_translation answer;
  assert_int_equal(tesela_layout_read(text, strlen(text), NULL, &any, NULL), TESELA_OK);
  assert_int_equal(tesela_translate(&any, "c", &to, &answer, NULL), TESELA_OK);
  assert_non_null(strstr(code, "static inline int64_t place(int64_t d0, int64_t d1) {\n"
                               "  const uint64_t x0 = (uint64_t)d0;\n"
                               "  const uint64_t x1 = (uint64_t)d1;\n"
                               "  return (int64_t)(1000000u * x0 + x1);\n}\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(code_gives_the_places),
                                     cmocka_unit_test(large_numbers_are_64_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
