/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_dumps.c - dumps of real compilers read as graphs; the notes of a reading, and sticks
 * from tiles.
 */
#include <dirent.h>
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

#include "support_graph_text.h"

static void facts_are_counted(void **state) {
  (void)state;
  static const char text[] = "HloModule m\nf { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }\n"
                             "ENTRY e { x = f32[2] parameter(0)\n y = f32[2] fusion(x), calls=f\n ROOT z = "
                             "f32[2] select-and-scatter(y) }";
  tesela_graph *graph = NULL;
  tesela_graph_read_facts facts;
  assert_int_equal(tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, &facts, NULL), TESELA_OK);
  assert_int_equal(facts.instructions, 5);
  assert_int_equal(facts.fallbacks, 1);
  assert_int_equal(facts.inlined, 1);
  tesela_graph_destroy(graph);
}

static void inputs_take_the_stick_their_tiles_say(void **state) {
  (void)state;
  static const char text[] = "HloModule m\nENTRY e { a = f16[1000,200]{0,1:T(64,1)} parameter(0)\n b = "
                             "f16[1000,200]{1,0:T(64,1)} parameter(1)\n"
                             " c = f16[1000,200]{1,0:T(8,128)} parameter(2)\n d = f16[1000,200]{1,0} "
                             "parameter(3)\n e = f16[256]{0:T(64,1)} parameter(4) }";
  const tesela_target *spyre = tesela_target_find("spyre");
  static const struct {
    const char *name;
    int32_t stick; /* {0,1:T(64,1)}: blocks of 64 columns outside, rows, lanes; {1,0:T(64,1)}: of 64 rows */
  } want[] = {
      {"a", 1}, {"b", 0}, {"c", TESELA_STICK_FREE}, {"d", TESELA_STICK_FREE}, {"e", TESELA_STICK_SPARSE}};
  tesela_graph *graph = NULL;
  assert_int_equal(tesela_graph_read_hlo(&graph, text, strlen(text), spyre, NULL, NULL, NULL), TESELA_OK);
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    const tesela_node *node = tesela_graph_node(graph, tesela_graph_find(graph, want[i].name));
    if (node->stick != want[i].stick) fail_msg("%s: stick %d", want[i].name, (int)node->stick);
  }
  tesela_graph_destroy(graph);
}

/* ---- real programs ---- */

static char *file_text(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  long n = ftell(file);
  rewind(file);
  char *text = malloc((size_t)n + 1);
  assert_non_null(text);
  *length = fread(text, 1, (size_t)n, file);
  fclose(file);
  return text;
}

/* Read every dump of a folder, print it and read that. */
static void read_folder(const char *folder, int32_t *modules, int64_t *fallbacks, int64_t *nodes) {
  DIR *dir = opendir(folder);
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    char path[512];
    size_t length = 0;
    if (!strstr(entry->d_name, ".hlo")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    char *text = file_text(path, &length);
    assert_non_null(text);
    tesela_graph *graph = NULL;
    tesela_graph_read_facts facts;
    tesela_error err = {.message = ""};
    bool module = length > 10 && memcmp(text, "HloModule ", 10) == 0;
    tesela_status status =
        tesela_graph_read_hlo(&graph, text, length, tesela_target_find("spyre"), NULL, &facts, &err);
    if (module && status != TESELA_OK) fail_msg("%s: %s at %" PRId64, path, err.message, err.at);
    if (!module) assert_int_equal(status, TESELA_E_SYNTAX);
    free(text);
    if (status != TESELA_OK) continue;
    graph_round_trip(graph, path);
    ++*modules;
    *fallbacks += facts.fallbacks;
    *nodes += tesela_graph_count(graph);
    tesela_graph_destroy(graph);
  }
  closedir(dir);
}

static void dumps_of_compilers_are_read(void **state) {
  (void)state;
  int32_t modules = 0;
  int64_t fallbacks = 0, nodes = 0;
  read_folder("tests/data/hlo/cpu", &modules, &fallbacks, &nodes);
  read_folder("tests/data/hlo/tpu", &modules, &fallbacks, &nodes);
  print_message("%d modules: %" PRId64 " nodes, %" PRId64 " of them fallbacks\n", (int)modules, nodes,
                fallbacks);
  assert_int_equal(modules, 34);
  assert_true(fallbacks * 20 < nodes); /* most of it is what classes say */
  read_folder("../shared/real_hlo", &modules, &fallbacks, &nodes);
  modules = 0;
  fallbacks = 0;
  read_folder("examples", &modules, &fallbacks, &nodes);
  assert_int_equal(modules, 7);
  assert_int_equal(fallbacks, 6); /* of both steps: a gather whose rows are not said, a loop and its result */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(facts_are_counted),
      cmocka_unit_test(inputs_take_the_stick_their_tiles_say),
      cmocka_unit_test(dumps_of_compilers_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
