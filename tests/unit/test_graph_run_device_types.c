/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_device_types.c - elements on plain memory in the device types of a target.
 *
 * By the definition: a result is rounded to its own type and then to that of the device; an integer that the latter lacks is refused.
 * And by comparison: random programs on plain memory so, and on tiled memory, give the same bits or the same refusal.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { PROGRAMS = 250, MOST = 64 };
typedef enum place { TILED, PLAIN, PLAIN_DEVICE } place;

/* ---- one operator ------------------------------------------------------------------------------------------------- */

/* fn of inputs of these shapes, all of the same data or the second of `other`. */
static tesela_status compute(const tesela_target *target, place memory, tesela_fn fn, tesela_dtype result,
                             const char *shapes, const void *x, const void *other, void *out,
                             tesela_error *err) {
  tesela_graph *graph;
  int32_t input[3], o;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t n = build_inputs(graph, shapes, input);
  OK(tesela_graph_add(
      graph,
      &(tesela_node_spec){
          .op = TESELA_OP_POINTWISE, .fn = fn, .dtype = result, .n_operands = n, .operand = input},
      &o, &e_));
  OK(tesela_graph_add_output(graph, o, &e_));
  if (memory == TILED) build_lay_out_all(graph, target);
  const tesela_graph_run_options options = {.plain = memory != TILED, .device_types = memory == PLAIN_DEVICE};
  tesela_status status = tesela_graph_run(graph, target, (const void *const[]){x, other},
                                          (void *const[]){out}, &options, NULL, err);
  tesela_graph_destroy(graph);
  return status;
}

/* bf16 is f16 on spyre, which has nothing below 2^-25 but 0. */
static void small_floats_vanish(void **unused) {
  (void)unused;
  /* 1e-30 is 1.2677 * 2^-100; 2^-25 lies half way between 0 and the least f16; then 1.5 times that; 2^17 is beyond f16 */
  const uint16_t x[5] = {(27 << 7) | 34, 102 << 7, (102 << 7) | 64, (127 + 17) << 7, 0x3f80};
  const uint16_t plain[5] = {0x8000 | x[0], 0x8000 | x[1], 0x8000 | x[2], 0x8000 | x[3], 0xbf80};
  const uint16_t device[5] = {0x8000, 0x8000, 0x8000 | (103 << 7), 0xff80, 0xbf80};
  const tesela_target *spyre = tesela_target_find("spyre");
  uint16_t out[5];
  for (int32_t m = TILED; m <= PLAIN_DEVICE; m++) {
    OK(compute(spyre, (place)m, TESELA_FN_NEG, TESELA_DTYPE_NONE, "bf16[5]", x, NULL, out, &e_));
    assert_memory_equal(out, m == PLAIN ? plain : device, sizeof out);
  }
  /* without a target there are no device types */
  OK(compute(NULL, PLAIN_DEVICE, TESELA_FN_NEG, TESELA_DTYPE_NONE, "bf16[5]", x, NULL, out, &e_));
  assert_memory_equal(out, plain, sizeof out);
}

/* A type that the target lacks is stored as it is; pred of any byte but 0 is 1 in another type, and u8 stays u8 in 32 bits. */
static void other_types(void **unused) {
  (void)unused;
  const tesela_target *spyre = tesela_target_find("spyre");
  const double x[2] = {1e-300, -0.1};
  double out[2];
  OK(compute(spyre, PLAIN_DEVICE, TESELA_FN_NEG, TESELA_DTYPE_NONE, "f64[2]", x, NULL, out, &e_));
  assert_true(out[0] == -1e-300 && out[1] == 0.1);
  const uint8_t truth[3] = {0, 2, 255}, bytes[3] = {200, 255, 1}, more[3] = {100, 255, 1};
  uint8_t bits[3];
  for (int32_t m = TILED; m <= PLAIN_DEVICE; m++) {
    OK(compute(spyre, (place)m, TESELA_FN_NOT, TESELA_DTYPE_NONE, "pred[3]", truth, NULL, bits, &e_));
    assert_memory_equal(bits, ((const uint8_t[]){1, 0, 0}), 3);
    OK(compute(spyre, (place)m, TESELA_FN_ADD, TESELA_DTYPE_NONE, "u8[3] u8[3]", bytes, more, bits, &e_));
    assert_memory_equal(bits, ((const uint8_t[]){44, 254, 2}), 3);
  }
}

/* ---- integers that do not fit ------------------------------------------------------------------------------------- */

static void refused(const tesela_target *target, place memory, const char *shapes, const void *x,
                    const void *other) {
  tesela_error err = {.message = ""};
  uint8_t out[MOST], before[MOST];
  memset(out, 0x5a, sizeof out);
  memcpy(before, out, sizeof out);
  assert_int_equal(compute(target, memory, TESELA_FN_ADD, TESELA_DTYPE_NONE, shapes, x, other, out, &err),
                   TESELA_E_RANGE);
  assert_non_null(strstr(err.message, "does not fit"));
  assert_memory_equal(out, before, sizeof out);
}

static void wide_integers_are_refused(void **unused) {
  (void)unused;
  const tesela_target *spyre = tesela_target_find("spyre");
  const int64_t zero[2] = {0, 0}, ends[2] = {INT32_MAX, INT32_MIN}, one[2] = {0, 1}, less[2] = {0, -1};
  const int64_t beyond[2][2] = {{(int64_t)INT32_MAX + 1, 0}, {0, (int64_t)INT32_MIN - 1}};
  int64_t out[2];
  for (int32_t m = TILED; m <= PLAIN_DEVICE; m++) {
    OK(compute(spyre, (place)m, TESELA_FN_ADD, TESELA_DTYPE_NONE, "s64[2] s64[2]", ends, zero, out, &e_));
    assert_memory_equal(out, ends, sizeof out);
    OK(compute(spyre, (place)m, TESELA_FN_ADD, TESELA_DTYPE_NONE, "s64[2] s64[2]", ends, one, out, &e_));
    assert_int_equal(out[1], (int64_t)INT32_MIN + 1);
    if (m == PLAIN) continue;
    refused(spyre, (place)m, "s64[2] s64[2]", beyond[0], zero); /* an input */
    refused(spyre, (place)m, "s64[2] s64[2]", beyond[1], zero);
    refused(spyre, (place)m, "s64[2] s64[2]", ends, less); /* a result */
  }
  OK(compute(spyre, PLAIN, TESELA_FN_ADD, TESELA_DTYPE_NONE, "s64[2] s64[2]", ends, less, out, &e_));
  assert_int_equal(out[1], (int64_t)INT32_MIN - 1);
}

static void store(tesela_target *target, tesela_dtype host, tesela_dtype device, int32_t bits) {
  OK(tesela_target_plain(target, 128, &e_));
  target->n_types = 1;
  target->type[0] = (tesela_target_type){host, device, bits};
}

/* An integer fits a float that is exactly it. */
static void integers_in_floats(void **unused) {
  (void)unused;
  tesela_target target;
  const int16_t zero[2] = {0, 0}, fit[2] = {256, -258}, odd[2] = {0, 257};
  int16_t out[2];
  store(&target, TESELA_S16, TESELA_BF16, 16); /* 8 bits of mantissa */
  for (int32_t m = TILED; m <= PLAIN_DEVICE; m += 2) {
    OK(compute(&target, (place)m, TESELA_FN_ADD, TESELA_DTYPE_NONE, "s16[2] s16[2]", fit, zero, out, &e_));
    assert_memory_equal(out, fit, sizeof out);
    refused(&target, (place)m, "s16[2] s16[2]", odd, zero);
  }
  const int64_t none[2] = {0, 0}, least[2] = {INT64_MIN, INT64_C(1) << 53}, most[2] = {0, INT64_MAX};
  int64_t wide[2];
  store(&target, TESELA_S64, TESELA_F64, 64);
  for (int32_t m = TILED; m <= PLAIN_DEVICE; m += 2) {
    OK(compute(&target, (place)m, TESELA_FN_ADD, TESELA_DTYPE_NONE, "s64[2] s64[2]", least, none, wide, &e_));
    assert_memory_equal(wide, least, sizeof wide);
    refused(&target, (place)m, "s64[2] s64[2]", most, none); /* would be 2^63 */
    refused(&target, (place)m, "s64[2] s64[2]", (const int64_t[]){(INT64_C(1) << 53) + 1, 0}, none);
  }
  const uint64_t all[2] = {UINT64_MAX, 1}, half[2] = {UINT64_C(1) << 63, 1}, nothing[2] = {0, 0};
  store(&target, TESELA_U64, TESELA_F64, 64);
  refused(&target, PLAIN_DEVICE, "u64[2] u64[2]", all, nothing);
  OK(compute(&target, PLAIN_DEVICE, TESELA_FN_ADD, TESELA_DTYPE_NONE, "u64[2] u64[2]", half, nothing, wide,
             &e_));
  assert_memory_equal(wide, half, sizeof wide);
}

/* bitcast takes the bits of its operand's type. f16 has neither 2^100 nor 2^-30: infinity and 0, not powers of two. */
static void bits_of_what_was_stored(void **unused) {
  (void)unused;
  tesela_target target;
  const uint8_t x[4] = {127, 127 + 15, 127 + 100, 127 - 30}, want[4] = {127, 127 + 15, 255, 255};
  uint8_t out[4];
  store(&target, TESELA_F8E8M0FNU, TESELA_F16, 16);
  target.n_types = 2;
  target.type[1] = (tesela_target_type){TESELA_U8, TESELA_U8, 8};
  for (int32_t m = TILED; m <= PLAIN_DEVICE; m += 2) {
    OK(compute(&target, (place)m, TESELA_FN_BITCAST, TESELA_U8, "f8e8m0fnu[4]", x, NULL, out, &e_));
    assert_memory_equal(out, want, sizeof out);
  }
  OK(compute(&target, PLAIN, TESELA_FN_BITCAST, TESELA_U8, "f8e8m0fnu[4]", x, NULL, out, &e_));
  assert_memory_equal(out, x, sizeof out);
}

/* A clone is copied by bytes where it can be: those of the device's type. */
static void clones_of_other_widths(void **unused) {
  (void)unused;
  enum { N = 100 };
  static const char *const shapes[] = {"u8[100]", "s64[100]", "pred[100]"};
  const tesela_target *spyre = tesela_target_find("spyre");
  for (int32_t s = 0; s < 3; s++) {
    int64_t x[N], out[N + 8], want[N + 8];
    size_t width = s == 1 ? 8 : 1;
    memset(x, 0, sizeof x);
    memset(want, 0x5a, sizeof want);
    memset(out, 0x5a, sizeof out);
    for (int32_t k = 0; k < N; k++) {
      uint8_t small = (uint8_t)(s == 2 ? k % 3 == 0 : k + 100);
      memcpy((uint8_t *)x + (size_t)k * width, &small, 1);
    }
    memcpy(want, x, N * width);
    tesela_graph *graph;
    int32_t o;
    OK(tesela_graph_create(&graph, NULL, &e_));
    build_inputs(graph, shapes[s], &o);
    for (int32_t k = 0; k < 2; k++)
      OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_CLONE, NODES(o)}, &o, &e_));
    OK(tesela_graph_add_output(graph, o, &e_));
    OK(tesela_graph_run(graph, spyre, (const void *const[]){x}, (void *const[]){out},
                        &(tesela_graph_run_options){.plain = true, .device_types = true}, NULL, &e_));
    assert_memory_equal(out, want, sizeof want);
    tesela_graph_destroy(graph);
  }
}

/* ---- random programs ---------------------------------------------------------------------------------------------- */

/* Some types as others, as spyre and others have them. */
static void change_types(tesela_target *target) {
  static const tesela_target_type changed[] = {
      {TESELA_BF16, TESELA_F16, 16}, {TESELA_S64, TESELA_S32, 32}, {TESELA_PRED, TESELA_F16, 16},
      {TESELA_U8, TESELA_U32, 32},   {TESELA_F64, TESELA_F32, 32}, {TESELA_S16, TESELA_S32, 64},
  };
  for (size_t c = 0; c < sizeof changed / sizeof changed[0]; c++)
    for (int32_t k = 0; k < target->n_types; k++)
      if (target->type[k].host == changed[c].host) target->type[k] = changed[c];
}

/* No layouts that are like an operand's but of another type. */
static void of_the_target(random_program *p, uint64_t *state) {
  for (int32_t k = 0; k < tesela_graph_count(p->graph); k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    tesela_target_type type;
    tesela_device_layout layout;
    if (node->buffer != k) continue;
    OK(tesela_target_type_of(&p->target, node->dtype, &type, NULL, &e_));
    if (node->layout->host.device_dtype == type.device) continue;
    random_layout(&layout, &p->target, node->dtype, node->rank, node->shape, state);
    OK(tesela_graph_set_layout(p->graph, k, &layout, &e_));
  }
}

static void same_bits_as_tiled(void **unused) {
  (void)unused;
  uint64_t seed = first_seed();
  int64_t same = 0, other = 0, ran = 0;
  for (uint64_t number = seed; number < seed + PROGRAMS; number++) {
    random_program p;
    uint8_t *tiled[RANDOM_OUTPUTS];
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    random_program_make(&p, &state, 1 + (int32_t)random_below(&state, 6));
    change_types(&p.target);
    random_program_layouts(&p, &state);
    of_the_target(&p, &state);
    random_program_clear(&p, 0);
    tesela_status status = tesela_graph_run(p.graph, &p.target, p.inputs, p.outputs, NULL, NULL, NULL);
    for (int32_t k = 0; k < p.n_outputs; k++) {
      tiled[k] = malloc((size_t)p.bytes[k] + 1);
      assert_non_null(tiled[k]);
      memcpy(tiled[k], p.outputs[k], (size_t)p.bytes[k]);
    }
    for (int32_t device = 1; device >= 0; device--) {
      bool differs = false;
      random_program_clear(&p, 0);
      tesela_status plain =
          tesela_graph_run(p.graph, &p.target, p.inputs, p.outputs,
                           &(tesela_graph_run_options){.plain = true, .device_types = device}, NULL, NULL);
      for (int32_t k = 0; k < p.n_outputs; k++)
        differs = differs || memcmp(tiled[k], p.outputs[k], (size_t)p.bytes[k]) != 0;
      if (device && (plain != status || differs))
        fail_msg("program %" PRIu64 ": plain %s, tiled %s%s", number, tesela_status_text(plain),
                 tesela_status_text(status), differs ? ", other bits" : "");
      same += device && plain == TESELA_OK;
      other += !device && (plain != status || differs);
    }
    for (int32_t k = 0; k < p.n_outputs; k++) free(tiled[k]);
    random_program_free(&p);
    ran++;
  }
  print_message("%" PRId64 " programs, %" PRId64 " ran, %" PRId64 " otherwise without device types\n", ran,
                same, other);
  assert_true(same > PROGRAMS / 2 && other > PROGRAMS / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_floats_vanish),       cmocka_unit_test(other_types),
      cmocka_unit_test(wide_integers_are_refused), cmocka_unit_test(integers_in_floats),
      cmocka_unit_test(bits_of_what_was_stored),   cmocka_unit_test(clones_of_other_widths),
      cmocka_unit_test(same_bits_as_tiled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
