/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_text_random.c - texts of random device layouts and of the worked examples in tests/vectors.
 *
 * What a notation prints reads back as the same fields; what is said in XLA's notation is compared, element by element, with
 * the two oracles, which share no code with the library.
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

#include "device_oracle.h"
#include "support_seed.h"
#include "xla_oracle.h"

enum { TEXT = 8192, NOTATIONS = TESELA_DEVICE_STRIDE_MAP + 1 };

static uint64_t seed;

static int64_t draw(int64_t low, int64_t high) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return low + (int64_t)(seed % (uint64_t)(high - low + 1));
}

static tesela_status print_one(const tesela_device_layout *layout, int notation, char text[TEXT]) {
  tesela_buffer buffer = {text, TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_device_print(layout, (tesela_device_notation)notation, &to, NULL);
  assert_true(buffer.length < TEXT);
  return status;
}

static bool is_device(const char *text, size_t length) {
  const tesela_notation *notation;
  return tesela_notation_find(text, length, &notation, NULL, NULL) == TESELA_OK &&
         strcmp(notation->name, "device") == 0;
}

/* Every notation that says the layout reads back to it; the short form does always. Counts what was printed. */
static void check_texts(const tesela_device_layout *layout, int64_t printed[NOTATIONS]) {
  char text[TEXT];
  tesela_error err = {.message = ""};
  tesela_device_text_options options = {.host = &layout->host};
  for (int n = 0; n < NOTATIONS; n++) {
    tesela_device_layout again;
    tesela_status status = print_one(layout, n, text);
    if (n == TESELA_DEVICE_SHORT && layout->host.dtype != TESELA_DTYPE_NONE)
      assert_int_equal(status, TESELA_OK);
    if (status == TESELA_E_UNSUPPORTED) continue;
    assert_int_equal(status, TESELA_OK);
    bool alone = n == TESELA_DEVICE_SHORT; /* says the host */
    if (tesela_device_parse(&again, text, strlen(text), alone ? NULL : &options, &err) != TESELA_OK)
      fail_msg("%s: %s", text, err.message);
    if (!tesela_device_equal(layout, &again)) fail_msg("%s reads as another layout", text);
    assert_true(is_device(text, strlen(text)));
    printed[n]++;
  }
}

/* ---- random layouts ------------------------------------------------------------------------------------------ */

static const tesela_dtype types[] = {TESELA_F16,  TESELA_F32,  TESELA_S64, TESELA_S8,
                                     TESELA_BF16, TESELA_PRED, TESELA_U8};

static void draw_host(tesela_device_host *host, const tesela_target **target) {
  int64_t shape[6];
  tesela_error err = {.message = ""};
  do {
    int32_t rank = (int32_t)draw(0, 5);
    for (int32_t d = 0; d < rank; d++) shape[d] = draw(0, 3) ? draw(1, 6) : draw(0, 2) ? draw(1, 150) : 0;
    *target = tesela_target_at((int32_t)draw(0, 1));
    tesela_target own = **target;
    if (draw(0, 3) == 0) own.stick_bytes = (int64_t)8 << draw(0, 5);
    if (tesela_device_host_of(host, &own, types[draw(0, 6)], rank, shape, &err) == TESELA_OK) return;
  } while (true);
}

static bool draw_ordered(tesela_device_layout *layout) {
  tesela_device_host host;
  const tesela_target *target;
  tesela_device_padding padding = {{0}};
  int32_t order[7];
  draw_host(&host, &target);
  int32_t n = host.rank;
  for (int32_t d = 0; d < n; d++) order[d] = d;
  for (int32_t d = n - 1; d > 0; d--) {
    int32_t e = (int32_t)draw(0, d), kept = order[d];
    order[d] = order[e];
    order[e] = kept;
  }
  if (draw(0, 3) == 0) order[n++] = TESELA_STICK_SPARSE;
  for (int32_t d = 0; d < host.rank; d++)
    if (draw(0, 4) == 0) padding.to[d] = host.shape[d] + draw(0, 200);
  tesela_order arrangement =
      target->n_tiles > 0 && draw(0, 2) ? TESELA_ORDER_TILES : (tesela_order)draw(0, 3);
  return tesela_device_from_order(layout, &host, arrangement, target, n, order, &padding, NULL) == TESELA_OK;
}

/* Device dims drawn one by one: nested uneven tiles, synthetic and replicated dims, gaps, several stick dims. */
static bool draw_dims(tesela_device_layout *layout) {
  tesela_device_host host;
  const tesela_target *target;
  tesela_device_dim dim[16];
  int32_t n = 0;
  draw_host(&host, &target);
  int64_t lanes = host.stick_bytes * 8 / host.device_bits;
  for (int32_t d = 0; d < host.rank && n < 9; d++) {
    int64_t left = host.shape[d];
    while (left > 1 && n < 9 && draw(0, 1)) {
      int64_t step = draw(1, left);
      dim[n++] = (tesela_device_dim){(left + step - 1) / step, step, 0, d};
      left = step;
    }
    if (left > 1 || draw(0, 1)) dim[n++] = (tesela_device_dim){left + (draw(0, 5) == 0), 1, 0, d};
  }
  if (draw(0, 4) == 0)
    dim[n++] =
        (tesela_device_dim){draw(1, 3), 0, 0, draw(0, 1) ? TESELA_DIM_SYNTHETIC : TESELA_DIM_REPLICATED};
  for (int32_t j = n - 1; j > 0; j--) {
    int32_t k = (int32_t)draw(0, j);
    tesela_device_dim kept = dim[j];
    dim[j] = dim[k];
    dim[k] = kept;
  }
  int32_t sticks = 1;
  if (draw(0, 1) && host.rank > 0)
    dim[n++] = (tesela_device_dim){lanes, 1, 0, (int32_t)draw(0, host.rank - 1)};
  else if (draw(0, 1) && lanes % 4 == 0 && host.rank > 1) {
    dim[n++] = (tesela_device_dim){lanes / 4, 1, 0, 0};
    dim[n++] = (tesela_device_dim){4, 1, 0, 1};
    sticks = 2;
  } else
    dim[n++] = (tesela_device_dim){lanes, 0, 0, TESELA_DIM_SYNTHETIC};
  bool strided = draw(0, 3) == 0;
  int64_t stride = 1;
  for (int32_t j = n - 1; j >= 0; j--) {
    dim[j].stride = stride;
    stride = stride * dim[j].extent + (j < n - sticks ? draw(0, 3) : 0);
  }
  return tesela_device_from_dims(layout, &host, n, dim, strided, sticks, NULL) == TESELA_OK;
}

static void random_layouts_read_back(void **state) {
  (void)state;
  int64_t printed[NOTATIONS] = {0}, n[2] = {0};
  for (int i = 0; i < 3000; i++) {
    tesela_device_layout layout;
    bool ordered = draw(0, 1);
    if (!(ordered ? draw_ordered(&layout) : draw_dims(&layout))) continue;
    check_texts(&layout, printed);
    n[ordered]++;
  }
  for (int k = 0; k < NOTATIONS; k++) /* none of them is only ever refused */
    if (printed[k] < 100) fail_msg("notation %d said %" PRId64 " layouts", k, printed[k]);
  assert_true(n[0] > 200 && n[1] > 1000);
}

/* ---- as XLA says it -------------------------------------------------------------------------------------------- */

static void device_to_oracle(const tesela_device_layout *layout, struct oracle_device *d) {
  memset(d, 0, sizeof *d);
  d->rank = layout->host.rank;
  for (int k = 0; k < d->rank; k++) d->shape[k] = layout->host.shape[k];
  d->n = layout->n_dims;
  for (int j = 0; j < d->n; j++)
    d->dim[j] = (struct oracle_device_dim){layout->dim[j].dim, layout->dim[j].step, layout->dim[j].extent,
                                           layout->dim[j].stride};
}

static void xla_to_oracle(const tesela_device_layout *layout, const tesela_xla_layout *xla,
                          struct oracle_array *a) {
  int at = 0;
  memset(a, 0, sizeof *a);
  a->rank = xla->rank;
  for (int k = 0; k < a->rank; k++) {
    a->dim[k] = layout->host.shape[k];
    a->minor_to_major[k] = xla->minor_to_major[k];
  }
  a->n_tiles = xla->n_tiles;
  for (int t = 0; t < a->n_tiles; t++) {
    a->tile_rank[t] = xla->tile_rank[t];
    for (int k = 0; k < a->tile_rank[t]; k++) a->tile[t][k] = xla->tile[at++];
  }
  a->tail = 1;
  a->bits = layout->host.device_bits;
  a->type_bytes = layout->host.device_bits / 8;
}

static void check_xla(const tesela_device_layout *layout, const tesela_xla_layout *xla, const char *text) {
  struct oracle_device device;
  struct oracle_array array;
  int64_t index[ORACLE_DEVICE_RANK] = {0}, zero[ORACLE_DEVICE_RANK] = {0};
  device_to_oracle(layout, &device);
  xla_to_oracle(layout, xla, &array);
  assert_null(oracle_invalid(&array));
  if (oracle_elements(&array) != layout->places)
    fail_msg("%s: %" PRId64 " places", text, oracle_elements(&array));
  for (int d = 0; d < device.rank; d++)
    if (device.shape[d] == 0) return;
  do {
    int64_t want = oracle_device_place(&device, index, 0), got = oracle_place(&array, index);
    if (want != got) fail_msg("%s: XLA says place %" PRId64 ", not %" PRId64, text, got, want);
  } while (oracle_device_next(device.rank, zero, device.shape, index));
}

/* Every arrangement has a layout in XLA's notation; device dims of any sort seldom do, but never a wrong one. */
static void xla_places_are_those_of_the_device(void **state) {
  (void)state;
  int64_t said = 0, others = 0;
  for (int i = 0; i < 1500; i++) {
    tesela_device_layout layout;
    tesela_xla_layout xla;
    char text[TEXT];
    bool ordered = draw(0, 1);
    if (!(ordered ? draw_ordered(&layout) : draw_dims(&layout)) || layout.places > 200000) continue;
    assert_int_equal(print_one(&layout, TESELA_DEVICE_SHORT, text), TESELA_OK);
    tesela_status status = tesela_device_to_xla(&layout, &xla, NULL);
    bool empty = false; /* with padding beside nothing: XLA has no places then */
    for (int32_t d = 0; d < layout.host.rank; d++) empty = empty || layout.host.shape[d] == 0;
    if (ordered && !(empty && layout.places > 0) && status != TESELA_OK) fail_msg("%s: no XLA layout", text);
    if (status != TESELA_OK) continue;
    check_xla(&layout, &xla, text);
    said++;
    others += !ordered;
  }
  assert_true(said > 400 && others > 50);
}

/* ---- the worked examples ----------------------------------------------------------------------------------------- */

#ifdef TESELA_TEST_JANSSON
static int64_t number_at(const json_t *list, size_t i) { return json_integer_value(json_array_get(list, i)); }

static size_t put(char *text, size_t used, const char *format, ...) TESELA_PRINTF(3, 4);
static size_t put(char *text, size_t used, const char *format, ...) {
  va_list args;
  va_start(args, format);
  used += (size_t)vsnprintf(text + used, TEXT - used, format, args);
  va_end(args);
  assert_true(used < TEXT);
  return used;
}

static size_t put_list(char *text, size_t used, const char *name, const json_t *list) {
  used = put(text, used, "%s[", name);
  for (size_t i = 0; i < json_array_size(list); i++)
    used = put(text, used, "%s%" PRId64, i ? "," : "", number_at(list, i));
  return put(text, used, "]");
}

/* The short form of an example: types of its width, its sticks, and what its `layout` says. */
static void example_text(const json_t *example, char text[TEXT]) {
  const json_t *layout = json_object_get(example, "layout"), *pads = json_object_get(layout, "pad_to"),
               *value;
  const char *kind = json_string_value(json_object_get(layout, "kind")), *key;
  int64_t bytes = json_integer_value(json_object_get(example, "elem_bytes"));
  const char *type = bytes == 1 ? "s8" : bytes == 2 ? "f16" : bytes == 4 ? "f32" : "f64";
  size_t used = put_list(text, 0, type, json_object_get(json_object_get(example, "host"), "size"));
  used = put(text, used, " stick(device_dtype=%s, stick=%" PRId64, type,
             (int64_t)json_integer_value(json_object_get(example, "stick_bytes")));
  if (strcmp(kind, "dim_order") == 0) {
    used = put_list(text, used, ", dim_order=", json_object_get(layout, "dim_order"));
    used = put(text, used, ", order=%s", json_string_value(json_object_get(layout, "style")));
  } else if (strcmp(kind, "dims") == 0) {
    const json_t *dims = json_object_get(layout, "dims");
    used = put(text, used, ", stick_dims=%d, dims=[",
               (int)json_integer_value(json_object_get(layout, "stick_dims")));
    for (size_t j = 0; j < json_array_size(dims); j++) {
      const json_t *dim = json_array_get(dims, j);
      used = put(text, used, "%s(%" PRId64 ",%" PRId64 ",%" PRId64 ")", j ? "," : "", number_at(dim, 0),
                 number_at(dim, 1), number_at(dim, 2));
    }
    used = put(text, used, "]");
  } else {
    used = put_list(text, used, ", device_size=", json_object_get(layout, "device_size"));
    used = put_list(text, used, ", stride_map=", json_object_get(layout, "stride_map"));
  }
  bool any = false;
  json_object_foreach((json_t *)pads, key, value) {
    used =
        put(text, used, "%s%s:%" PRId64, any ? "," : ", pad_to={", key, (int64_t)json_integer_value(value));
    any = true;
  }
  put(text, used, "%s)", any ? "}" : "");
}

static void check_example(const json_t *example, int64_t printed[NOTATIONS]) {
  const json_t *want = json_object_get(example, "expect"), *dims = json_object_get(want, "dims");
  const char *id = json_string_value(json_object_get(example, "id"));
  char text[TEXT];
  tesela_device_layout layout;
  tesela_layout relation;
  tesela_error err = {.message = ""};
  example_text(example, text);
  if (tesela_device_parse(&layout, text, strlen(text), NULL, &err) != TESELA_OK)
    fail_msg("%s: %s: %s", id, text, err.message);
  assert_int_equal(layout.n_dims, json_array_size(dims));
  for (int32_t j = 0; j < layout.n_dims; j++) {
    const json_t *dim = json_array_get(dims, (size_t)j);
    if (layout.dim[j].dim != number_at(dim, 0) || layout.dim[j].extent != number_at(dim, 2) ||
        (layout.dim[j].dim >= 0 && layout.dim[j].step != number_at(dim, 1)) ||
        layout.dim[j].stride != number_at(json_object_get(want, "device_strides"), (size_t)j))
      fail_msg("%s: %s: device dim %d", id, text, (int)j);
  }
  assert_int_equal(tesela_device_to_layout(&layout, &relation, NULL), TESELA_OK);
  const json_t *samples = json_object_get(want, "samples");
  for (size_t i = 0; i < json_array_size(samples); i++) {
    const json_t *sample = json_array_get(samples, i);
    int64_t index[TESELA_MAX_RANK], place;
    for (int32_t d = 0; d < relation.rank; d++) index[d] = number_at(json_array_get(sample, 0), (size_t)d);
    assert_int_equal(tesela_layout_place_of(&relation, index, &place, NULL), TESELA_OK);
    if (place != number_at(sample, 2)) fail_msg("%s: sample %zu is at %" PRId64, id, i, place);
  }
  check_texts(&layout, printed);
}

static void worked_examples_are_read(void **state) {
  (void)state;
  const char *source = getenv("TESELA_SOURCE");
  char path[4096];
  json_error_t wrong;
  snprintf(path, sizeof path, "%s/tests/vectors/spyre_seed_examples.json", source ? source : ".");
  json_t *all = json_load_file(path, 0, &wrong);
  if (!all) fail_msg("%s: %s", path, wrong.text);
  const json_t *layouts = json_object_get(all, "layouts");
  int64_t printed[NOTATIONS] = {0};
  assert_true(json_array_size(layouts) >= 46);
  for (size_t i = 0; i < json_array_size(layouts); i++) check_example(json_array_get(layouts, i), printed);
  json_decref(all);
  assert_true(printed[TESELA_DEVICE_SHORT] >= 46 && printed[TESELA_DEVICE_PRINTED] > 20);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_layouts_read_back),
      cmocka_unit_test(xla_places_are_those_of_the_device),
#ifdef TESELA_TEST_JANSSON
      cmocka_unit_test(worked_examples_are_read),
#endif
  };
  seed = first_seed() | 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
