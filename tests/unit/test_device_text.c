/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_text.c - texts of device layouts, row by row: what is read, what is printed, what is refused and where.
 *
 * Printed texts are those of the RFC's prototype in its several states, and by hand from the formulas of device.h.
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

enum { TEXT = 4096, NOTATIONS = TESELA_DEVICE_STRIDE_MAP + 1 };

static tesela_device_layout read_one(const char *text, const tesela_device_text_options *options) {
  tesela_device_layout layout;
  tesela_error err = {.message = ""};
  if (tesela_device_parse(&layout, text, strlen(text), options, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  assert_true(tesela_device_text_is(text, strlen(text)));
  return layout;
}

static tesela_status print_one(const tesela_device_layout *layout, tesela_device_notation notation,
                               char text[TEXT]) {
  tesela_buffer buffer = {text, TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_device_print(layout, notation, &to, NULL);
  assert_true(buffer.length < TEXT);
  return status;
}

/* ---- what is printed ------------------------------------------------------------------------------------- */

static void layouts_print_byte_for_byte(void **state) {
  (void)state;
  /* text; then what it is in each notation, NULL where that cannot say it */
  static const char *const rows[][1 + NOTATIONS] = {
      {"f16[1024,256] stick()", "f16[1024,256] stick(dim_order=[0,1])",
       "((4, 1024, 64), (65536, 64, 1), (64, 256, 1))",
       "SpyreTensorLayout(device_size=[4, 1024, 64], device_strides=[65536, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[4, 1024, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[4, 1024, 64], stride_map =[64, 256, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[512,256] stick()", "f16[512,256] stick(dim_order=[0,1])",
       "((4, 512, 64), (32768, 64, 1), (64, 256, 1))",
       "SpyreTensorLayout(device_size=[4, 512, 64], device_strides=[32768, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[4, 512, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[4, 512, 64], stride_map =[64, 256, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[1000,200] stick(order=stick_outer)", "f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] ((4, 1000, 64), (64000, 64, 1), (64, 200, 1))",
       "SpyreTensorLayout(device_size=[4, 1000, 64], device_strides=[64000, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[4, 1000, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[4, 1000, 64], stride_map =[64, 200, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[5,100,150] stick()", "f16[5,100,150] stick(dim_order=[0,1,2])",
       "f16[5,100,150] ((100, 3, 5, 64), (960, 320, 64, 1), (150, 64, 15000, 1))",
       "SpyreTensorLayout(device_size=[100, 3, 5, 64], device_strides=[960, 320, 64, 1], dim_map =[1, 2, 0, "
       "2], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[100, 3, 5, 64], dim_map =[1, 2, 0, 2], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[100, 3, 5, 64], stride_map =[150, 64, 15000, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[512,256] stick(dim_order=[0,1,-1])", "f16[512,256] stick(dim_order=[0,1,-1])",
       "f16[512,256] ((256, 1, 512, 64), (32768, 32768, 64, 1), (1, -1, 256, -1))",
       "SpyreTensorLayout(device_size=[256, 1, 512, 64], device_strides=[32768, 32768, 64, 1], "
       "dim_map =[1, -1, 0, -1], num_stick_dims=1, format=\"Sparse\")",
       "SpyreTensorLayout(device_size=[256, 1, 512, 64], dim_map =[1, -1, 0, -1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[256, 1, 512, 64], stride_map =[1, -1, 256, -1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[] stick()", "f16[] stick(dim_order=[])", "f16[] ((1, 64), (64, 1), (-1, -1))",
       "SpyreTensorLayout(device_size=[1, 64], device_strides=[64, 1], dim_map =[-1, -1], num_stick_dims=1, "
       "format=\"Sparse\")",
       "SpyreTensorLayout(device_size=[1, 64], dim_map =[-1, -1], device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[1, 64], stride_map =[-1, -1], device_dtype=DataFormats.SEN169_FP16)"},
      {"s64[70] stick()", "s64[70] stick(dim_order=[0])", "s64[70] ((3, 32), (32, 1), (32, 1))",
       "SpyreTensorLayout(device_size=[3, 32], device_strides=[32, 1], dim_map =[0, 0], num_stick_dims=1, "
       "format=\"Dense\")",
       "SpyreTensorLayout(device_size=[3, 32], dim_map =[0, 0], device_dtype=DataFormats.IEEE_INT32)",
       "SpyreTensorLayout(device_size=[3, 32], stride_map =[32, 1], device_dtype=DataFormats.IEEE_INT32)"},
      /* a step more than dim_map tells */
      {"f32[64,48] stick(target=tiles)", "f32[64,48] stick(dim_order=[0,1], target=tiles)", NULL, NULL, NULL,
       "SpyreTensorLayout(device_size=[2, 2, 2, 2, 16, 16], stride_map =[1536, 32, 768, 16, 48, 1], "
       "device_dtype=DataFormats.IEEE_FP32)"},
      /* gaps: implicit strides do not tell them */
      {"f16[2,64] stick(dims=[(0,1,2),(1,1,64)], device_strides=[70,1])",
       "f16[2,64] stick(dims=[(0,1,2),(1,1,64)], device_strides=[70,1])",
       "f16[2,64] ((2, 64), (70, 1), (64, 1))",
       "SpyreTensorLayout(device_size=[2, 64], device_strides=[70, 1], dim_map =[0, 1], num_stick_dims=1, "
       "format=\"Dense\")",
       NULL, NULL},
      {"f32[33,40] stick(dims=[(1,2,20),(0,16,3),(1,1,2),(0,1,16)], stick_dims=2)",
       "f32[33,40] stick(dims=[(1,2,20),(0,16,3),(1,1,2),(0,1,16)], stick_dims=2)",
       "f32[33,40] ((20, 3, 2, 16), (96, 32, 16, 1), (2, 640, 1, 40))",
       "SpyreTensorLayout(device_size=[20, 3, 2, 16], device_strides=[96, 32, 16, 1], dim_map =[1, 0, 1, 0], "
       "num_stick_dims=2, format=\"Dense\")",
       NULL,
       "SpyreTensorLayout(device_size=[20, 3, 2, 16], stride_map =[2, 640, 1, 40], "
       "device_dtype=DataFormats.IEEE_FP32)"},
      /* types that no target stores so */
      {"f64[20] stick(device_dtype=f64, stick=64)",
       "f64[20] stick(dim_order=[0], stick=64, device_dtype=f64)", NULL,
       "SpyreTensorLayout(device_size=[3, 8], device_strides=[8, 1], dim_map =[0, 0], num_stick_dims=1, "
       "format=\"Dense\")",
       NULL, NULL},
      {"s8[40] stick(device_bits=32)", "s8[40] stick(dim_order=[0], device_dtype=s8, device_bits=32)", NULL,
       "SpyreTensorLayout(device_size=[2, 32], device_strides=[32, 1], dim_map =[0, 0], num_stick_dims=1, "
       "format=\"Dense\")",
       NULL, NULL},
      {"f16[40,60] stick(pad_to={0:512,1:70})", "f16[40,60] stick(dim_order=[0,1], pad_to={0:512,1:128})",
       "f16[40,60] ((2, 512, 64), (32768, 64, 1), (64, 60, 1))",
       "SpyreTensorLayout(device_size=[2, 512, 64], device_strides=[32768, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[2, 512, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[2, 512, 64], stride_map =[64, 60, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout = read_one(rows[i][0], NULL);
    for (int n = 0; n < NOTATIONS; n++) {
      char text[TEXT];
      const char *want = rows[i][1 + n];
      tesela_status status = print_one(&layout, (tesela_device_notation)n, text);
      if (!want && status != TESELA_E_UNSUPPORTED) fail_msg("%s: notation %d says %s", rows[i][0], n, text);
      if (!want) continue;
      if (status != TESELA_OK || strcmp(text, want) != 0)
        fail_msg("%s: notation %d says %s", rows[i][0], n, text);
      tesela_device_text_options host = {.host = &layout.host};
      tesela_device_layout again = read_one(text, &host);
      if (!tesela_device_equal(&layout, &again)) fail_msg("%s reads as another layout", text);
    }
  }
}

/* The example of device.h, its device dims one by one. */
static void fields_are_those_of_the_definition(void **state) {
  (void)state;
  static const tesela_device_dim want[] = {{4, 64, 64000, 1}, {1000, 1, 64, 0}, {64, 1, 1, 1}};
  tesela_device_layout layout = read_one("f16[1000,200] stick(dim_order=[0,1])", NULL);
  assert_int_equal(layout.n_dims, 3);
  assert_int_equal(layout.stick_dims, 1);
  assert_int_equal(layout.lanes, 64);
  assert_int_equal(layout.places, 256000);
  assert_int_equal(layout.format, TESELA_STICKS_DENSE);
  assert_int_equal(layout.host.rank, 2);
  assert_int_equal(layout.host.shape[1], 200);
  for (int j = 0; j < 3; j++) {
    assert_int_equal(layout.dim[j].extent, want[j].extent);
    assert_int_equal(layout.dim[j].step, want[j].step);
    assert_int_equal(layout.dim[j].stride, want[j].stride);
    assert_int_equal(layout.dim[j].dim, want[j].dim);
  }
}

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
      {"f16[90] stick(device_size=[2,3,64], stride_map=[45,15,1])",
       "f16[90] stick(dims=[(0,45,2),(0,15,3),(0,1,64)])"},
      {"f16[7] stick(dims=[(-1,0,3),(0,64,1),(0,1,64)])", "f16[7] stick(dims=[(-1,1,3),(0,64,1),(0,1,64)])"},
  };
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    tesela_device_layout a = read_one(same[i][0], NULL), b = read_one(same[i][1], NULL);
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
  tesela_device_layout a = read_one(base, NULL);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    tesela_device_layout b = read_one(others[i], NULL);
    if (tesela_device_equal(&a, &b)) fail_msg("%s is %s", others[i], base);
  }
}

/* ---- without the host shape -------------------------------------------------------------------------------- */

static void printed_forms_say_their_shape(void **state) {
  (void)state;
  tesela_device_layout layout = read_one("SpyreTensorLayout(device_size=[100, 3, 5, 64], dim_map =[1, 2, 0, "
                                         "2], device_dtype=DataFormats.SEN169_FP16)",
                                         NULL);
  static const int64_t shape[] = {5, 100, 192};
  assert_int_equal(layout.host.rank, 3);
  for (int d = 0; d < 3; d++) assert_int_equal(layout.host.shape[d], shape[d]);
  assert_int_equal(layout.host.dtype, TESELA_F16);
  /* No type either: its width is what fills the stick. */
  layout = read_one(
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
  tesela_device_layout layout = read_one("((4, 1024, 64), (65536, 64, 1), (64, 256, 1))", NULL);
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
  tesela_device_layout sticks = read_one("f16[1000,200] stick()", NULL), layout;
  tesela_device_text_options options = {.host = &sticks.host};
  layout = read_one("SpyreTensorLayout(device_size=[4, 1000, 64], stride_map =[64, 200, 1], "
                    "device_dtype=DataFormats.SEN169_FP16)",
                    &options);
  assert_true(tesela_device_equal(&layout, &sticks));
  layout = read_one("stick(dim_order=[0,1])", &options);
  assert_true(tesela_device_equal(&layout, &sticks));
  /* A transposed host: the strides are those of the dims. */
  static const int64_t strides[] = {1, 1000};
  options.host_strides = strides;
  layout = read_one("SpyreTensorLayout(device_size=[4, 1000, 64], stride_map =[64000, 1, 1000])", &options);
  assert_true(tesela_device_equal(&layout, &sticks));
  /* A text's own host counts more. */
  layout = read_one("f32[64] stick()", &options);
  assert_int_equal(layout.host.rank, 1);
  assert_int_equal(layout.lanes, 32);
  /* A target for texts that name none, and one they name. */
  tesela_device_text_options tiles = {.target = tesela_target_find("tiles")};
  layout = read_one("f32[100,100] stick()", &tiles);
  assert_int_equal(layout.n_dims, 6);
  assert_int_equal(layout.lanes, 16);
  layout = read_one("f32[100,100] stick(target=spyre)", &tiles);
  assert_int_equal(layout.n_dims, 3);
  layout = read_one("f32[100] stick(target=spyre, stick=64)", &tiles);
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
    if (!tesela_device_text_is(yes[i], strlen(yes[i]))) fail_msg("%s is no device layout", yes[i]);
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
    if (tesela_device_text_is(no[i], strlen(no[i]))) fail_msg("%s is a device layout", no[i]);
}

/* ---- refusals ------------------------------------------------------------------------------------------------ */

#define EIGHT "(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),"
#define TEN "(0,1,1),(0,1,1)," EIGHT

static void refusals_say_where_and_why(void **state) {
  (void)state;
  static const struct {
    const char *text; /* ^ marks the byte that is wrong */
    tesela_status status;
    const char *part; /* of the message */
  } rows[] = {
      {"^", TESELA_E_SYNTAX, "the end of the text"},
      {"f16[2]^", TESELA_E_SYNTAX, "expected stick(...)"},
      {"f16[1000,200] ^stik(dim_order=[0,1])", TESELA_E_SYNTAX, "did you mean stick?"},
      {"^SpyreTensorLayot(device_size=[1])", TESELA_E_SYNTAX, "did you mean SpyreTensorLayout?"},
      {"f16[2] ^x.stick()", TESELA_E_SYNTAX, "found 'x.stick'"},
      {"^f17[100] stick()", TESELA_E_SYNTAX, "did you mean f16?"},
      {"^token[] stick()", TESELA_E_INVALID, "no arrays of token"},
      {"f16[1,^x] stick()", TESELA_E_SYNTAX, "found 'x'"},
      {"f16[^99999999999999999999] stick()", TESELA_E_RANGE, "20 digits"},
      {"^f16[-1] stick()", TESELA_E_RANGE, "extent -1"},
      {"f16[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,^1] stick()", TESELA_E_LIMIT,
       "more than 32"},
      {"^f16[1,1,1,1,1,1,1] stick()", TESELA_E_LIMIT, "rank 7"},
      {"^c64[2] stick()", TESELA_E_UNSUPPORTED, "no type for c64"},
      {"f16[3] stick() ^x", TESELA_E_SYNTAX, "nothing behind"},
      {"f16[3] stick^", TESELA_E_SYNTAX, "'('"},
      {"f16[3] stick(^", TESELA_E_SYNTAX, "a field"},
      {"f16[3] stick(^3)", TESELA_E_SYNTAX, "a field"},
      {"f16[3] stick(order^)", TESELA_E_SYNTAX, "'='"},
      {"f16[3] stick(order=^)", TESELA_E_SYNTAX, "the name of an order"},
      {"f16[3] stick(order=generic,^)", TESELA_E_SYNTAX, "a field"},
      {"f16[1000,200] stick(^dim_ordr=[0,1])", TESELA_E_SYNTAX, "did you mean dim_order?"},
      {"f16[3] stick(^dim_map=[0])", TESELA_E_SYNTAX, "unknown field 'dim_map'"},
      {"f16[3] SpyreTensorLayout(^dim_order=[0])", TESELA_E_SYNTAX, "unknown field 'dim_order'"},
      {"f16[3] stick(^xyzzy=1)", TESELA_E_SYNTAX, "possible: dim_order"},
      {"f16[3] stick(stick=64, ^stick=64)", TESELA_E_INVALID, "stands twice"},
      {"f16[3] stick(order=^generik)", TESELA_E_SYNTAX, "did you mean generic?"},
      {"f16[3] stick(order=^zzzzzzz)", TESELA_E_SYNTAX, "possible: generic"},
      {"f16[3] stick(order=^tiles)", TESELA_E_INVALID, "needs a target"},
      {"f16[3] stick(target=^spire)", TESELA_E_SYNTAX, "did you mean spyre?"},
      {"f16[3] stick(target=^gpu)", TESELA_E_SYNTAX, "possible: spyre, tiles"},
      {"f16[3] stick(stick=^0)", TESELA_E_RANGE, "a stick of 0 bytes"},
      {"f16[3] stick(stick=^1048577)", TESELA_E_RANGE, "1048577"},
      {"^f16[3] stick(stick=101)", TESELA_E_UNSUPPORTED, "101 bytes"},
      {"f16[3] stick(device_bits=^24)", TESELA_E_INVALID, "3 bytes do not fill"},
      {"f16[3] stick(device_bits=^8)", TESELA_E_RANGE, "from 16"},
      {"f16[3] stick(device_bits=^20)", TESELA_E_RANGE, "multiples of 8"},
      {"f16[3] stick(device_bits=^2048)", TESELA_E_RANGE, "1024"},
      {"f16[3] stick(device_dtype=^f17)", TESELA_E_SYNTAX, "f16"},
      {"f16[3] stick(device_dtype=^SENINT4)", TESELA_E_UNSUPPORTED, "SENINT4"},
      {"f16[3] SpyreTensorLayout(device_size=[1,64], dim_map=[0,0], device_dtype=DataFormats.^SEN169_FP)",
       TESELA_E_SYNTAX, "did you mean SEN169_FP16?"},
      {"f16[1000,200] stick(dim_order=^[0,0])", TESELA_E_INVALID, "repeats"},
      {"f16[1000,200] stick(dim_order=[0,1^)", TESELA_E_SYNTAX, "',' or ']'"},
      {"f16[1000,200] stick(dim_order=^0)", TESELA_E_SYNTAX, "a list of host dims"},
      {"f16[1000,200] stick(dim_order=^[0])", TESELA_E_INVALID, "1 entries"},
      {"f16[1000,200] stick(dim_order=^[-1,0])", TESELA_E_RANGE, "dim_order[0]"},
      {"f16[1000,200] stick(dim_order=^[0,32])", TESELA_E_RANGE, "dim_order[1]"},
      {"f16[3] stick(pad_to=^{1:3})", TESELA_E_RANGE, "host dim 1"},
      {"f16[3] stick(pad_to={0:^0})", TESELA_E_RANGE, "1 or more"},
      {"f16[3] stick(pad_to={0:3,^0:4})", TESELA_E_INVALID, "stands twice"},
      {"f16[3] stick(pad_to={^32:3})", TESELA_E_RANGE, "0 to 31"},
      {"f16[3] stick(pad_to={0^=3})", TESELA_E_SYNTAX, "':'"},
      {"f16[3] stick(pad_to={0:3,^})", TESELA_E_SYNTAX, "a host dim"},
      {"f16[3] stick(pad_to=^[3])", TESELA_E_SYNTAX, "{0:96}"},
      {"f16[100] stick(dims=^[(0,1,64)])", TESELA_E_INVALID, "coordinate 64 has no place"},
      {"f16[100] stick(dims=[^(0,1)])", TESELA_E_INVALID, "2 numbers"},
      {"f16[100] stick(dims=[^(-3,1,1)])", TESELA_E_RANGE, "host dim -3"},
      {"f16[100] stick(dims=[^(32,1,1)])", TESELA_E_RANGE, "host dim 32"},
      {"f16[100] stick(dims=^[(1,1,64)])", TESELA_E_RANGE, "host dim 1"},
      {"f16[100] stick(dims=[(0,1,64)^", TESELA_E_SYNTAX, "the end of the text"},
      {"f16[1] stick(dims=[" TEN TEN TEN TEN EIGHT "^(0,1,1)])", TESELA_E_LIMIT, "48 device dims"},
      {"f16[100] stick(dims=[(0,64,2),(0,1,64)], stick_dims=^3)", TESELA_E_RANGE, "3 stick dims"},
      {"f16[100] stick(dims=[(0,64,2),(0,1,64)], stick_dims=^0)", TESELA_E_RANGE, "0 stick dims"},
      {"f16[100] stick(stick_dims=^1)", TESELA_E_INVALID, "dims, which is not there"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], dim_order=[0])", TESELA_E_INVALID, "dim_order"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], order=generic)", TESELA_E_INVALID, "order"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], pad_to={0:1})", TESELA_E_INVALID, "pad_to"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], device_size=[1], stride_map=[1])", TESELA_E_INVALID,
       "device_size"},
      {"f16[100] stick(dims=[(0,64,2),(0,1,64)], device_strides=^[1])", TESELA_E_INVALID,
       "1 entries, dims 2"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], device_strides=[32,1])", TESELA_E_INVALID, "could meet"},
      {"f16[100] stick(device_strides=^[1])", TESELA_E_INVALID, "needs dims"},
      {"f16[100] stick(device_size=^[2,64])", TESELA_E_INVALID, "stride_map"},
      {"f16[100] stick(stride_map=^[64,1])", TESELA_E_INVALID, "device_size"},
      {"f16[100] stick(device_size=^[2,64], stride_map=[64,1], dim_order=[0])", TESELA_E_INVALID,
       "dim_order"},
      {"f16[100] stick(device_size=^[2,64], stride_map=[64,1], order=generic)", TESELA_E_INVALID, "order"},
      {"f16[100] stick(device_size=^[2,64], stride_map=[64,1], pad_to={0:1})", TESELA_E_INVALID, "pad_to"},
      {"f16[100] stick(device_size=[2,64], stride_map=^[64])", TESELA_E_INVALID, "1 entries, device_size 2"},
      {"f16[100] stick(device_size=[2,64], stride_map=^[64,3])", TESELA_E_INVALID, ""},
      {"f16[2,64] stick(device_size=[2,64], stride_map=[64,1], device_strides=^[63,1])", TESELA_E_INVALID,
       "could meet"},
      {"f16[4,4] SpyreTensorLayout(device_size=^[4,64])", TESELA_E_INVALID, "dim_map or stride_map"},
      {"f16[4,4] SpyreTensorLayout(dim_map=^[0,1])", TESELA_E_INVALID, "device_size"},
      {"f16[4,4] ^SpyreTensorLayout()", TESELA_E_INVALID, "device_size is missing"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0,1], stride_map=[64,1])", TESELA_E_INVALID,
       "one of them"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], stride_map=[64,1], num_stick_dims=^1)",
       TESELA_E_INVALID, "dim_map"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0])", TESELA_E_INVALID,
       "1 entries, device_size 2"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], num_stick_dims=^3)", TESELA_E_RANGE,
       "3 stick dims"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0,-3])", TESELA_E_RANGE, "dim_map[1]"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0,2])", TESELA_E_RANGE, "host dim 2"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], format=^\"Sparse\")", TESELA_E_INVALID,
       "are Dense"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], format=\"Dense^)", TESELA_E_SYNTAX,
       ""},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], format=^Thick)", TESELA_E_SYNTAX,
       "\"Dense\""},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], "
       "element_arrangement=ElementArrangement.^EXX2)",
       TESELA_E_UNSUPPORTED, "EXX2"},
      {"f16[8,64] SpyreTensorLayout(device_size=[2,4,64], dim_map=^[0,0,1])", TESELA_E_UNSUPPORTED,
       "outside the stick"},
      {"f16[8,64] SpyreTensorLayout(device_size=[8,8,8], dim_map=^[0,1,1], num_stick_dims=2)",
       TESELA_E_UNSUPPORTED, "in the stick"},
      {"^stick(dim_order=[0,1])", TESELA_E_UNSUPPORTED, "f16[1000,200] stick(dim_order=[0,1])"},
      {"^SpyreTensorLayout(device_size=[4, 64], stride_map =[64, 1])", TESELA_E_UNSUPPORTED, "in front"},
      {"SpyreTensorLayout(device_size=[4,64], dim_map=^[2,2])", TESELA_E_UNSUPPORTED,
       "host dim 0 is not in dim_map"},
      {"SpyreTensorLayout(device_size=^[4,60], dim_map=[0,0])", TESELA_E_UNSUPPORTED, "60 lanes"},
      {"SpyreTensorLayout(device_size=^[-4,64], dim_map=[0,0])", TESELA_E_RANGE, "-4"},
      {"SpyreTensorLayout(device_size=^[4611686018427387904,64], dim_map=[0,0])", TESELA_E_OVERFLOW,
       "64 bits"},
      {"((4, 64), (64, 1)^)", TESELA_E_SYNTAX, "the next of three tuples"},
      {"((4, 1024, 64), ^(65536, 64), (64, 256, 1))", TESELA_E_INVALID, "2 device strides for 3 ranges"},
      {"((64,), (1,), (1,)^, (3,))", TESELA_E_SYNTAX, "more than three tuples"},
      {"((64,), (1,), (1,)^", TESELA_E_SYNTAX, "the end of the text"},
      {"((64,), ^1, (1,))", TESELA_E_SYNTAX, "device strides"},
      {"((1, 64), (64, 1), ^(-1, 1))", TESELA_E_UNSUPPORTED, "f16[1000,200]"},
      {"(^(0, 64), (64, 1), (64, 1))", TESELA_E_UNSUPPORTED, "a range of 0"},
      {"((3, 64), (64, 1), ^(9223372036854775807, 1))", TESELA_E_OVERFLOW, "2^63"},
      {"(^(2, 64), (64, 1), (32, 1))", TESELA_E_INVALID, ""},
      {"f16[^\xff"
       "] stick()",
       TESELA_E_SYNTAX, "not UTF-8"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout = {.n_dims = -7};
    tesela_error err = {.at = -5};
    char text[TEXT];
    int64_t at = (int64_t)strcspn(rows[i].text, "^");
    snprintf(text, sizeof text, "%.*s%s", (int)at, rows[i].text, rows[i].text + at + 1);
    tesela_status status = tesela_device_parse(&layout, text, strlen(text), NULL, &err);
    if (status != rows[i].status || err.status != status)
      fail_msg("%s: %s: %s", text, tesela_status_code(status), err.message);
    if (err.at != at) fail_msg("%s: byte %" PRId64 ": %s", text, err.at, err.message);
    if (!strstr(err.message, rows[i].part)) fail_msg("%s: %s", text, err.message);
    assert_int_equal(layout.n_dims, -7); /* only written on success */
    assert_int_equal(tesela_device_parse(&layout, text, strlen(text), NULL, NULL), status);
  }
}

/* A text that ends anywhere is refused or read, and nothing is looked at behind its end. */
static void texts_that_end_early(void **state) {
  (void)state;
  static const char *const whole[] = {
      "f16[5,7] stick(dim_order=[0,1], order=generic, target=spyre, stick=64, pad_to={0:6,1:80})",
      ("f16[5,64] SpyreTensorLayout(device_size=[5, 64], device_strides=[64, 1], dim_map =[0, 1], "
       "num_stick_dims=1, format=\"Dense\")"),
      "f32[3] ((1, 32), (32, 1), (32, 1))",
  };
  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    for (size_t n = 0; n <= strlen(whole[i]); n++) {
      char *cut = malloc(n ? n : 1); /* of just its size: a sanitizer sees a read past the end */
      tesela_device_layout layout;
      tesela_error err = {.at = -1};
      assert_non_null(cut);
      memcpy(cut, whole[i], n);
      tesela_device_text_is(cut, n);
      tesela_status status = tesela_device_parse(&layout, cut, n, NULL, &err);
      if ((status == TESELA_OK) != (n == strlen(whole[i])))
        fail_msg("%.*s: %s", (int)n, whole[i], err.message);
      if (status != TESELA_OK && (err.at < 0 || err.at > (int64_t)n))
        fail_msg("%.*s: byte %" PRId64, (int)n, whole[i], err.at);
      free(cut);
    }
}

/* ---- printing, refused ----------------------------------------------------------------------------------------- */

static int stop_after(void *user, const char *text, size_t length) {
  size_t *left = user;
  (void)text;
  if (length > *left) return 1;
  *left -= length;
  return 0;
}

static void writers_may_stop(void **state) {
  (void)state;
  tesela_device_layout layout = read_one("f16[1000,200] stick()", NULL);
  for (int n = 0; n < NOTATIONS; n++) {
    size_t left = 0;
    tesela_writer to = {stop_after, &left};
    tesela_error err = {.at = 0};
    assert_int_equal(tesela_device_print(&layout, (tesela_device_notation)n, &to, &err), TESELA_E_STOPPED);
    assert_int_equal(err.status, TESELA_E_STOPPED);
  }
  tesela_buffer buffer = {NULL, 0, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_device_print(&layout, (tesela_device_notation)NOTATIONS, &to, NULL),
                   TESELA_E_RANGE);
}

static void widths_alone_have_no_short_form(void **state) {
  (void)state;
  char text[TEXT];
  tesela_device_layout layout = read_one("SpyreTensorLayout(device_size=[4, 64], dim_map =[0, 0])", NULL);
  assert_int_equal(print_one(&layout, TESELA_DEVICE_SHORT, text), TESELA_E_UNSUPPORTED);
  assert_int_equal(print_one(&layout, TESELA_DEVICE_STRIDE_MAP, text), TESELA_E_UNSUPPORTED);
  assert_int_equal(print_one(&layout, TESELA_DEVICE_TUPLES, text), TESELA_OK);
  assert_string_equal(text, "((4, 64), (64, 1), (64, 1))");
  layout.host.shape[0] = 250; /* padding, which bare tuples do not tell */
  assert_int_equal(print_one(&layout, TESELA_DEVICE_TUPLES, text), TESELA_E_UNSUPPORTED);
}

/* ---- as XLA says it ------------------------------------------------------------------------------------------ */

static void xla_layouts_of_device_layouts(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"f16[1024,256] stick()", "{0,1:T(64,1)}"},
      {"f16[1000,200] stick()", "{0,1:T(64,1)}"},
      {"f16[256,128] stick(dim_order=[1,0])", "{1,0:T(64,1)}"},
      {"f16[1000,200] stick(dim_order=[0,1,-1])", "{0,1:T(64,1,1)}"},
      {"f16[1024] stick(dim_order=[0,-1])", "{0:T(64,1)}"},
      {"f16[1024] stick()", "{0:T(64)}"},
      {"f16[] stick()", "{:T(64)}"},
      {"s64[100,150] stick()", "{0,1:T(32,1)}"},
      {"f16[5,100,150] stick()", "{0,2,1:T(64,1)}"},
      {"f16[5,7,100,150] stick(order=stick_outer)", "{2,1,0,3:T(64,1,1,1)}"},
      {"f32[100,150] stick(target=tiles)", "{1,0:T(32,32)(16,16)}"},
      {"f16[2,64] stick(dims=[(0,1,2),(1,1,64)])", "{1,0}"},
      {"s8[100] stick(device_bits=32)", "{0:T(32)E(32)}"},
      {"f16[64,2] stick(dims=[(1,1,2),(0,1,64)])", "{0,1}"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout = read_one(rows[i][0], NULL);
    tesela_xla_layout xla;
    tesela_error err = {.message = ""};
    char text[TEXT];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    if (tesela_device_to_xla(&layout, &xla, &err) != TESELA_OK) fail_msg("%s: %s", rows[i][0], err.message);
    assert_int_equal(tesela_xla_print_layout(&xla, &to, NULL), TESELA_OK);
    if (strcmp(text, rows[i][1]) != 0) fail_msg("%s is %s", rows[i][0], text);
  }
  static const char *const none[] = {"f16[2,64] stick(dims=[(0,1,2),(1,1,64)], device_strides=[70,1])",
                                     "f16[64] stick(dims=[(-2,0,3),(0,1,64)])"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    tesela_device_layout layout = read_one(none[i], NULL);
    tesela_xla_layout xla = {.rank = -3};
    assert_int_equal(tesela_device_to_xla(&layout, &xla, NULL), TESELA_E_UNSUPPORTED);
    assert_int_equal(xla.rank, -3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_print_byte_for_byte),
      cmocka_unit_test(fields_are_those_of_the_definition),
      cmocka_unit_test(spellings_read_the_same),
      cmocka_unit_test(fields_count),
      cmocka_unit_test(printed_forms_say_their_shape),
      cmocka_unit_test(tuples_alone_are_the_storage),
      cmocka_unit_test(options_give_what_a_text_lacks),
      cmocka_unit_test(device_layouts_are_told_from_others),
      cmocka_unit_test(refusals_say_where_and_why),
      cmocka_unit_test(texts_that_end_early),
      cmocka_unit_test(writers_may_stop),
      cmocka_unit_test(widths_alone_have_no_short_form),
      cmocka_unit_test(xla_layouts_of_device_layouts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
