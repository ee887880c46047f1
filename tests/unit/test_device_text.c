/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_text.c - texts of device layouts, row by row: their spelling, the default of the
 * host shape, what is a device layout at all.
 */
#include "support_device_text.h"

/* ---- spellings ------------------------------------------------------------------------------------------- */

static void spellings_read_the_same(void **state) {
  (void)state;
  static const char *const same[][2] = {
      {"f16[1000,200] stick(dim_order=[0,1])", "f16[1000,200]stick()"},
      {"f16[1000,200] stick(dim_order=[0,1])", "  f16 [ 1000 , 200 ]  stick ( dim_order = [ 0 , 1 ] ) "},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] stick(target=spyre, order=generic, dim_order=[0,1])"},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] stick(stick=128, device_dtype=f16, device_bits=16)"},
      {"f16[1000,200] stick(dim_order=[0,1])", "f16[1000,200] stick(dims=[(1,64,4),(0,1,1000),(1,1,64)])"},
      {"f16[1000,200] stick(dim_order=[0,1])", "f16[1000,200] stick(dims=[[1,64,4],(0, 1, 1000,),(1,1,64)], "
                                               "stick_dims=1, device_strides=[64000,64,1])"},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] stick(device_size=[4,1000,64], stride_map=[64,200,1])"},
      {"f16[1000,200] stick(dim_order=[0,1])", "f16[1000,200] ((4,1000,64),(64000,64,1),(64,200,1))"},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] ((4, 1000, 64,), (64000, 64, 1), (64, 200, 1),)"},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] SpyreTensorLayout(device_size=[4,1000,64],dim_map=[1,0,1])"},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] torch.spyre.SpyreTensorLayout(dim_map =[1, 0, 1], device_size=[4, 1000, 64], "
       "device_dtype=SEN169_FP16, element_arrangement=ElementArrangement.STANDARD)"},
      {"f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] torch_spyre._C.SpyreTensorLayout(device_size=[4, 1000, 64], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=StickFormat.Dense, device_dtype=torch_spyre._C.DataFormats.SEN169_FP16)"},
      {"f16[1000,200] stick(dim_order=[0,1])", "f16[1000,200] SpyreTensorLayout(device_size=[4, 1000, 64], "
                                               "stride_map\n=[64, 200, 1], format='Dense')"},
      {"f16[1000,200] stick(dim_order=[0,1])", "f16[1000,200] SpyreTensorLayout(device_size=[4, 1000, 64], "
                                               "dim_map=[1, 0, 1], device_dtype=DataFormats.IEEE_FP16)"},
      {"s8[40] stick(device_bits=32)", "s8[40] stick(device_dtype=s8, device_bits=32)"},
      {"s8[40] stick(device_dtype=bf16)", "s8[40] stick(device_dtype=torch.bfloat16)"},
      {"s8[40] stick(device_dtype=f8e4m3fn)", "s8[40] stick(device_dtype=float8_e4m3fn)"},
      {"f16[90] stick(device_size=[2,3,64], stride_map=[45,15,1])",
       "f16[90] stick(dims=[(0,45,2),(0,15,3),(0,1,64)])"},
      {"f16[7] stick(dims=[(-1,0,3),(0,64,1),(0,1,64)])", "f16[7] stick(dims=[(-1,1,3),(0,64,1),(0,1,64)])"},
  };
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    tesela_device_layout a = device_text_read(same[i][0], NULL), b = device_text_read(same[i][1], NULL);
    if (!tesela_device_equal(&a, &b)) fail_msg("%s is not %s", same[i][1], same[i][0]);
  }
}

/* Other orders than the default one, and another target, say something else: fields are not dropped. */
static void fields_count(void **state) {
  (void)state;
  static const char *const base = "f16[5,7,100] stick()";
  static const char *const others[] = {
      "f16[5,7,100] stick(order=stick_outer)", "f16[5,7,100] stick(dim_order=[1,0,2])",
      "f16[5,7,100] stick(target=tiles)",      "f16[5,7,100] stick(stick=64)",
      "f16[5,7,100] stick(pad_to={0:6})",      "f16[5,7,101] stick()",
      "f16[5,7,100] stick(device_dtype=f32)",  "bf16[5,7,100] stick()",
      "f16[5,7,100] stick(device_bits=32)",    "f16[5,7,100] stick(order=inner_pair)",
  };
  tesela_device_layout a = device_text_read(base, NULL);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    tesela_device_layout b = device_text_read(others[i], NULL);
    if (tesela_device_equal(&a, &b)) fail_msg("%s is %s", others[i], base);
  }
}

/* ---- without the host shape -------------------------------------------------------------------------------- */

static void printed_forms_say_their_shape(void **state) {
  (void)state;
  tesela_device_layout layout =
      device_text_read("SpyreTensorLayout(device_size=[100, 3, 5, 64], dim_map =[1, 2, 0, "
                       "2], device_dtype=DataFormats.SEN169_FP16)",
                       NULL);
  static const int64_t shape[] = {5, 100, 192};
  assert_int_equal(layout.host.rank, 3);
  for (int d = 0; d < 3; d++) assert_int_equal(layout.host.shape[d], shape[d]);
  assert_int_equal(layout.host.dtype, TESELA_F16);
  /* No type either: its width is what fills the stick. */
  layout = device_text_read(
      "SpyreTensorLayout(device_size=[4, 1000, 32], device_strides=[32000, 32, 1], dim_map =[1, 0, 1], "
      "num_stick_dims=1, format=\"Dense\")",
      NULL);
  assert_int_equal(layout.host.dtype, TESELA_DTYPE_NONE);
  assert_int_equal(layout.host.bits, 32);
  assert_int_equal(layout.lanes, 32);
  assert_int_equal(layout.host.shape[1], 128);
}

static void tuples_alone_are_the_storage(void **state) {
  (void)state;
  tesela_device_layout layout = device_text_read("((4, 1024, 64), (65536, 64, 1), (64, 256, 1))", NULL);
  tesela_layout relation;
  assert_int_equal(layout.host.rank, 1);
  assert_int_equal(layout.host.shape[0], 262144);
  assert_int_equal(tesela_device_to_layout(&layout, &relation, NULL), TESELA_OK);
  static const int64_t pairs[][2] = {
      {0, 0}, {64, 65536}, {256, 64}, {262143, 262143}, {4485, 132165}}; /* the RFC's nest */
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    int64_t place;
    assert_int_equal(tesela_layout_place_of(&relation, &pairs[i][0], &place, NULL), TESELA_OK);
    assert_int_equal(place, pairs[i][1]);
  }
}

static void options_give_what_a_text_lacks(void **state) {
  (void)state;
  tesela_device_layout sticks = device_text_read("f16[1000,200] stick()", NULL), layout;
  tesela_device_text_options options = {.host = &sticks.host};
  layout = device_text_read("SpyreTensorLayout(device_size=[4, 1000, 64], stride_map =[64, 200, 1], "
                            "device_dtype=DataFormats.SEN169_FP16)",
                            &options);
  assert_true(tesela_device_equal(&layout, &sticks));
  layout = device_text_read("stick(dim_order=[0,1])", &options);
  assert_true(tesela_device_equal(&layout, &sticks));
  /* A transposed host: the strides are those of the dims. */
  static const int64_t strides[] = {1, 1000};
  options.host_strides = strides;
  layout = device_text_read("SpyreTensorLayout(device_size=[4, 1000, 64], stride_map =[64000, 1, 1000])",
                            &options);
  assert_true(tesela_device_equal(&layout, &sticks));
  /* A text's own host counts more. */
  layout = device_text_read("f32[64] stick()", &options);
  assert_int_equal(layout.host.rank, 1);
  assert_int_equal(layout.lanes, 32);
  /* A target for texts that name none, and one they name. */
  tesela_device_text_options tiles = {.target = tesela_target_find("tiles")};
  layout = device_text_read("f32[100,100] stick()", &tiles);
  assert_int_equal(layout.n_dims, 6);
  assert_int_equal(layout.lanes, 16);
  layout = device_text_read("f32[100,100] stick(target=spyre)", &tiles);
  assert_int_equal(layout.n_dims, 3);
  layout = device_text_read("f32[100] stick(target=spyre, stick=64)", &tiles);
  assert_int_equal(layout.lanes, 16);
}

/* ---- is it one? -------------------------------------------------------------------------------------------- */

static void device_layouts_are_told_from_others(void **state) {
  (void)state;
  static const char *const yes[] = {"f16[2] stick()",
                                    "stick(dim_order=[0])",
                                    "SpyreTensorLayout(device_size=[1])",
                                    "((1,), (1,), (1,))",
                                    "f16[2] ((1,),(1,),(1,))",
                                    "f16[2] stik()",
                                    "torch.spyre.SpyreTensorLayout(",
                                    " SpyreTensorLayot(x",
                                    "f16[2]spyre()"};
  static const char *const no[] = {"f16[2]",
                                   "f16[2]{0}",
                                   "(f32[2], f32[3])",
                                   "((f32[2]), f32[3])",
                                   "local(2).spatial(4)",
                                   "f16[2]{0:T(2)}",
                                   "",
                                   "(",
                                   "f16",
                                   "mma.m16n8k16.f16.A",
                                   "shared_row_major(8, 64)",
                                   "f16[2] ",
                                   "f16[2] stick",
                                   "f16[<=2]",
                                   "reduce(spatial(8, 4), dims=[1])",
                                   "sticks[3]",
                                   "spatial(2)"};
  for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
    if (!is_device(yes[i], strlen(yes[i]))) fail_msg("%s is no device layout", yes[i]);
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
    if (is_device(no[i], strlen(no[i]))) fail_msg("%s is a device layout", no[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings_read_the_same),        cmocka_unit_test(fields_count),
      cmocka_unit_test(printed_forms_say_their_shape),  cmocka_unit_test(tuples_alone_are_the_storage),
      cmocka_unit_test(options_give_what_a_text_lacks), cmocka_unit_test(device_layouts_are_told_from_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
