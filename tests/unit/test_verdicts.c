/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_verdicts.c - verdicts that follow from what a notation has no words for: several blocks, and elements that are stored in other
 * bits than their type's.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/notation.h>

static void check_verdict(const char *map, const char *notation, tesela_verdict expected) {
  char text[4096] = "";
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_any_layout any;
  tesela_translation answer;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(map, strlen(map), NULL, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", map, err.message);
  if (tesela_translate(&any, notation, &to, &answer, &err) != TESELA_OK)
    fail_msg("%s to %s: %s", map, notation, err.message);
  if (answer.verdict != expected)
    fail_msg("%s to %s: expected %s, found %s: %s %s", map, notation, tesela_verdict_name(expected),
             tesela_verdict_name(answer.verdict), text, answer.reason);
  assert_int_equal(answer.reason[0] != '\0', expected == TESELA_IMPOSSIBLE);
  assert_int_equal(text[0] != '\0', expected != TESELA_IMPOSSIBLE);
}

/* Register layouts, CuTe's maps of threads and values, and those of Mosaic and XeGPU are of one block. */
static void several_blocks_need_a_notation_that_has_blocks(void **state) {
  (void)state;
  static const char several[] =
      "map(d0:4, d1:4) of f16 -> register[4]: d1; lane[2]: d0%2; warp[1]: 0; block[2]: d0/2";
  static const char one[] = "map(d0:4, d1:4) of f16 -> register[4]: d1; lane[4]: d0; warp[1]: 0; block[1]: 0";
  static const char *const names[] = {"register", "cute", "mosaicgpu", "xegpu"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    check_verdict(several, names[i], TESELA_IMPOSSIBLE);
  check_verdict(several, "map", TESELA_EXACT);
  check_verdict(one, "register", TESELA_EXACT);
  check_verdict(one, "cute", TESELA_EXACT);
}

/* These store pred in bytes. XLA and JAX say other bits; packed storage of IREE is bits, row-major. */
static void bits_that_differ_from_the_types_are_impossible(void **state) {
  (void)state;
  static const char bits[] = "map(d0:8, d1:16) of pred in 1 bits -> memory[128]: 16*d0 + d1";
  static const char bytes[] = "map(d0:8, d1:16) of pred in 8 bits -> memory[128]: 16*d0 + d1";
  static const char columns[] = "map(d0:8, d1:16) of pred in 1 bits -> memory[128]: d0 + 8*d1";
  static const char *const names[] = {"torch", "mlir", "tvm"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    check_verdict(bytes, names[i], TESELA_EXACT);
    check_verdict(bits, names[i], TESELA_IMPOSSIBLE);
  }
  check_verdict(bits, "map", TESELA_EXACT);
  check_verdict(bits, "xla", TESELA_EXACT);
  check_verdict(bits, "jax", TESELA_EXACT);
  check_verdict(bits, "iree", TESELA_EXACT);
  check_verdict(columns, "iree", TESELA_IMPOSSIBLE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(several_blocks_need_a_notation_that_has_blocks),
                                     cmocka_unit_test(bits_that_differ_from_the_types_are_impossible)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
